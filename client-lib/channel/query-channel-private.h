/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a channel.
 *
 * Place: private to query-channel.c, query-channel-end.c and query-channel-wait.c.
 */
#pragma once

#include "client-lib/channel/query-channel.h"
#include "client-lib/channel/query-ring.h"
#include "client-lib/channel/query-whole.h"
#include "client-lib/wire/wire-spin.h"

struct QueryChannel {
    int fd;
    guint n_forks; /* of the process that has opened it */
    gsize page_size;
    QueryTransport transport;
    guint32 last_serial;
    GBytes *key;
    QuerySchema *schema;
    gboolean is_wanted;             /* `key`, by a statement object */
    gboolean was_ended;             /* the last error was a deadline or a CANCEL */
    gboolean transaction_has_ended; /* the last record was an error that says so */

    GQueue outgoing; /* of Outgoing */
    GByteArray *out; /* encoded, not yet sent from out_sent on */
    gsize out_sent;

    guint8 *buffer; /* of capacity bytes; NULL until the first receive */
    gsize capacity;
    gsize start;
    gsize end;
    QwChunks chunks;
    guint8 *assembled; /* the body of a chain, chunks.total_bytes long */
    QwSpin spin;
    gint64 awake_until_usec; /* 0: not waiting awake */
    gint64 tried_usec;       /* the last try of it; 0: the core was offered to others since */
    gint64 loop_since_usec;
    gint64 patience_usec;      /* 0: without end */
    gint64 waiting_since_usec; /* monotonic: nothing has come or gone since; 0: it does not wait */

    int passed_fds[2]; /* that came with bytes, until their RING or WHOLE is read; -1 */
    QueryRing *ring;   /* (nullable): of the result that comes */
    QueryWhole *whole; /* (nullable): the same */
    guint32 whole_serial;
};

/* query-channel-end.c: a record of the daemon, which may end an answer */
void query_channel_note_end(QueryChannel *self, const QueryRecord *record);

/* query-channel-wait.c: bytes have come; whether waiting awake for them has paid */
void query_channel_note_awake(QueryChannel *self);
