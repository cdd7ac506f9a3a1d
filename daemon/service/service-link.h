/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The connection to queryd-service: a request, and the records of its answer. wire-service.h has what is said.
 *
 * Place: room service, internal to it. While it waits it asks whether the statement shall end. Closing the connection ends the
 * request there. Invariant: nothing that comes is believed before it is checked, and no record is larger than value_bytes allows.
 * An error that comes says nothing about the store: it has no code that would.
 */
#pragma once

#include "client-lib/wire/wire-page-reader.h"
#include "daemon/base/limits.h"

typedef struct QdServiceLink {
    int fd;      /* -1: none */
    char *place; /* (nullable): the endpoint that is asked, as errors name it */
} QdServiceLink;

/* A record of rows. All of it is of SQLite's memory, which counts for the query: an endpoint may send each row by itself. */
typedef struct QdServiceRows {
    guint8 *body;
    QwPageReader reader;
} QdServiceRows;

typedef enum QdServiceNews {
    QD_SERVICE_ROWS,
    QD_SERVICE_END,
    QD_SERVICE_FAILED,  /* at the endpoint, or on the way to it */
    QD_SERVICE_STOPPED, /* the statement shall end */
} QdServiceNews;

QdServiceRows *qd_service_rows_free(QdServiceRows *self);

void qd_service_link_close(QdServiceLink *self);
void qd_service_link_clear(QdServiceLink *self);

/**
 * qd_service_link_ask:
 * @self: without an answer under way
 * @ret_news: (out): FAILED or STOPPED when it returns FALSE
 * @error: (nullable): location for an error: set with FAILED
 *
 * Connects if that is not done, and sends the request.
 */
gboolean qd_service_link_ask(QdServiceLink *self, const char *endpoint, const char *text, gsize n_text, const QdLimits *limits,
                             QdServiceNews *ret_news, GError **error);

/**
 * qd_service_link_begin:
 * @map: (out): for each of @names the column of the answer, or -1
 *
 * Waits for the columns of the answer. Returns: ROWS when it has begun, else FAILED or STOPPED
 */
QdServiceNews qd_service_link_begin(QdServiceLink *self, const char *const *names, gint16 *map, guint *ret_n_columns,
                                    GError **error);

/* Waits for rows. @n_columns: as qd_service_link_begin() gave. @ret_rows: (out): with ROWS */
QdServiceNews qd_service_link_read(QdServiceLink *self, guint n_columns, const QdLimits *limits, QdServiceRows **ret_rows,
                                   GError **error);
