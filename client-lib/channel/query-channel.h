/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One descriptor of the daemon: requests go out, records come in.
 *
 * Place: internal to libquery-client; the only file that reads or writes such a descriptor. Nothing here waits but
 * query_channel_wait(): the same steps serve sync and async callers.
 * Invariant: a record is handed out whole; its bytes are valid until the next receive.
 */
#pragma once

#include "client-lib/core/query-schema.h"
#include "client-lib/query-client.h"
#include "client-lib/wire/wire-record.h"

/* A daemon that works answers a CANCEL at once; of one that does not for so long it is not known how it has ended. */
#define QUERY_CHANNEL_END_USEC (5 * G_USEC_PER_SEC)

typedef struct QueryChannel QueryChannel;
typedef struct QueryWhole QueryWhole;

typedef enum QueryIo {
    QUERY_IO_DONE,
    QUERY_IO_WANT_READ,
    QUERY_IO_WANT_WRITE,
    QUERY_IO_FAILED, /* error set; the channel is of no more use */
} QueryIo;

typedef struct QueryRecord {
    QwKind kind; /* never CHUNK: chains are put together */
    guint32 count;
    guint32 serial;
    const guint8 *body; /* 8-aligned */
    gsize n_bytes;
    guint32 n_bytes_ahead; /* as in QwPageReader */
} QueryRecord;

/**
 * query_channel_new:
 * @fd: (transfer full): a stream socket; closed with the channel
 * @page_size: the largest record in bytes, 4096 to 1048576
 * @last_serial: of a request that is under way although it was not sent on the channel; 0: none
 *
 * Returns: (transfer full): a new channel
 */
QueryChannel *query_channel_new(int fd, gsize page_size, guint32 last_serial);
void query_channel_free(QueryChannel *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryChannel, query_channel_free)

int query_channel_get_fd(const QueryChannel *self);
/* What it was opened for; nothing in the channel depends on it. */
void query_channel_set_transport(QueryChannel *self, QueryTransport transport);
QueryTransport query_channel_get_transport(const QueryChannel *self);

/**
 * query_channel_steal_fd:
 *
 * Takes the descriptor away if no byte beyond what was handed out has been read from it.
 *
 * Returns: the descriptor, or -1 and nothing changes
 */
int query_channel_steal_fd(QueryChannel *self);

/* What is prepared on it: the body of its last PREPARE and the answer. NULL when there is none. */
void query_channel_set_prepared(QueryChannel *self, GBytes *key, QuerySchema *schema);
gboolean query_channel_is_prepared(const QueryChannel *self, GBytes *key);
QuerySchema *query_channel_get_schema(const QueryChannel *self);

/* Whether a statement object is likely to run again what is prepared on it. Preparing something else ends that. */
void query_channel_set_wanted(QueryChannel *self, gboolean is_wanted);
gboolean query_channel_is_wanted(const QueryChannel *self);

/**
 * query_channel_queue:
 * @kind: of the request
 * @count: of its header
 * @body: referenced until it is sent
 *
 * Queues a request; query_channel_flush() sends.
 *
 * Returns: the request's serial
 */
guint32 query_channel_queue(QueryChannel *self, QwKind kind, guint32 count, GBytes *body);

/**
 * query_channel_flush:
 * @ret_never_received: (out): set to TRUE when the daemon had hung up before it could take the request (EPIPE)
 *
 * Sends what is queued, as far as the socket takes it.
 *
 * Errors: DISCONNECTED.
 *
 * Returns: DONE, WANT_WRITE or FAILED
 */
QueryIo query_channel_flush(QueryChannel *self, gboolean *ret_never_received, GError **error);

/**
 * query_channel_peek:
 * @ret_kind: (out): kind of the next record, looking through a first CHUNK
 *
 * Looks at the next record without taking a byte of it from the descriptor, if nothing is buffered.
 *
 * Errors: DISCONNECTED, PROTOCOL.
 *
 * Returns: DONE, WANT_READ or FAILED
 */
QueryIo query_channel_peek(QueryChannel *self, QwKind *ret_kind, GError **error);

/**
 * query_channel_receive:
 * @ret_record: (out caller-allocates): the record
 *
 * Takes the next record, reading ahead.
 *
 * Errors: DISCONNECTED at EOF, PROTOCOL, TOO_BIG, NO_MEMORY.
 *
 * Returns: DONE, WANT_READ or FAILED
 */
QueryIo query_channel_receive(QueryChannel *self, QueryRecord *ret_record, GError **error);

/* After a failed flush: the daemon refuses a request that is too large by an ERROR, and closes without reading the rest. FALSE: it
 * has not. Reads and drops what came before. */
gboolean query_channel_take_refusal(QueryChannel *self, GError **error);

/**
 * query_channel_receive_exactly:
 *
 * As query_channel_receive(), but takes no byte beyond the record.
 */
QueryIo query_channel_receive_exactly(QueryChannel *self, QueryRecord *ret_record, GError **error);

/**
 * query_channel_detach_page:
 * @ret_blocks: (out caller-allocates): memory that the caller frees, or NULLs
 * @ret_whole: (out) (transfer full) (nullable): the same, of a whole result in shared memory
 *
 * The record taken last stays good for as long as the caller keeps the memory, also when more is received.
 */
void query_channel_detach_page(QueryChannel *self, gpointer ret_blocks[3], QueryWhole **ret_whole);
/* The pages of a whole result in shared memory that are left are not taken. Returns: whether there is one */
gboolean query_channel_drop_whole(QueryChannel *self);

/**
 * query_channel_wait:
 * @want: WANT_READ or WANT_WRITE
 * @cancellable: (nullable): ends the wait
 *
 * Waits in the calling thread; needs no main loop. May return before there is anything to read: the caller tries again anyway.
 *
 * Errors: G_IO_ERROR_CANCELLED, INTERNAL; DISCONNECTED when its patience is over.
 *
 * Returns: FALSE on error
 */
gboolean query_channel_wait(QueryChannel *self, QueryIo want, GCancellable *cancellable, GError **error);

/* For how long it waits with nothing that comes; 0: for ever. Of a stopped daemon nothing comes, nor a hang-up. */
void query_channel_set_patience(QueryChannel *self, gint64 patience_usec);

/* A wait begins or goes on. Returns: for how long it may take, in milliseconds as for poll(); -1: without end */
int query_channel_begin_wait(QueryChannel *self);

/**
 * query_channel_check_patience:
 *
 * For a call that waits by a main loop, when it has tried in vain.
 *
 * Errors: DISCONNECTED.
 *
 * Returns: FALSE when it has waited for too long
 */
gboolean query_channel_check_patience(const QueryChannel *self, GError **error);

/* Of a call that waits by a main loop: TRUE: it should try again at once. */
gboolean query_channel_stay_awake(QueryChannel *self);
void query_channel_note_loop(QueryChannel *self, gboolean begins);

/**
 * query_channel_create_source:
 *
 * Returns: (transfer full): a source with a #GUnixFDSourceFunc that is ready when @want is, @cancellable cancelled, or its patience
 * over
 */
GSource *query_channel_create_source(QueryChannel *self, QueryIo want, GCancellable *cancellable);

/* Every answer has been read, every request sent. Looks at the channel only: the next send tells whether the daemon is there. */
gboolean query_channel_is_idle(const QueryChannel *self);

/* A deadline or a CANCEL has ended its last request. The daemon's thread may not have come back from it: a later request waits. */
gboolean query_channel_was_ended(const QueryChannel *self);

/* The last answer was an error, which has ended the channel's transaction. A daemon of before does not say so. */
gboolean query_channel_has_ended_transaction(const QueryChannel *self);

/* Is it idle? And asks the socket: FALSE when the daemon hung up or sent something unasked; no request can use the channel then. */
gboolean query_channel_is_quiet(QueryChannel *self);
