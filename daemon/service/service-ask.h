/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a SERVICE asks: rows of keys in batches, one endpoint after the other.
 *
 * Place: room service, internal to it, between the table and the link. A group is the rows of keys that name one endpoint; where
 * the text names it there is one group. Invariant: each row of keys is sent once at most.
 */
#pragma once

#include "daemon/service/service-access.h"
#include "daemon/service/service-keys.h"
#include "daemon/service/service-link.h"

/* What rows of an answer need beside themselves. */
typedef struct QdServiceHead {
    gint16 map[QD_SERVICE_COLUMNS_MAX + 1]; /* for each column of the table that of the answer, or -1 */
    guint serial;                           /* of the request: blank nodes are its own */
    QdServiceKey endpoint;                  /* where keys name it */
} QdServiceHead;

typedef struct QdServiceAsk {
    QdServiceAccess *access;
    QdServiceKey constant;   /* the endpoint, unless the first of each row of keys is it: */
    gboolean names_endpoint; /* that is so */
    const char *text;        /* the query, without VALUES */
    char **names;            /* of the table's columns, those of keys first */
    guint n_keys;
    const guint8 *keys; /* (nullable): there are none, and the query is asked once */
    gsize n_key_bytes;
    gsize offset;       /* of the next row of keys */
    gsize group_offset; /* where those of the endpoint begin */
    char *endpoint;     /* (nullable): that is asked */
    gboolean was_asked; /* without keys */
    gboolean has_begun; /* with its one group, unless keys name endpoints */
    gboolean is_taken;  /* the client is charged */
    gboolean is_ours;   /* what has failed is not the endpoint: SILENT does not hide it */
    QdServiceLink link;
    QdServiceHead head; /* of the answer under way */
    guint n_columns;    /* of the answer under way */
} QdServiceAsk;

/* Begins with another endpoint. FALSE: there is none, or an error. */
gboolean qd_service_ask_begin_group(QdServiceAsk *self, GError **error);
/* Sends the next batch of the endpoint, and waits for the columns of its answer. END: it has no more. */
QdServiceNews qd_service_ask_next(QdServiceAsk *self, GError **error);
/* Waits for rows of the answer under way. */
QdServiceNews qd_service_ask_read(QdServiceAsk *self, QdServiceRows **ret_rows, GError **error);

/* The endpoint has failed: no more of its rows of keys are sent. */
void qd_service_ask_drop_group(QdServiceAsk *self);
/* After that: its rows of keys, one after the other. FALSE: there is no more. */
gboolean qd_service_ask_take_keys(QdServiceAsk *self, QdServiceKey *row);

/* Hangs up, and gives back what the client is charged with. */
void qd_service_ask_release(QdServiceAsk *self);
void qd_service_ask_clear(QdServiceAsk *self);
