/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A query of an exchange, and its result as the response.
 *
 * Place: room http, below the handlers that read.
 * Invariant: at most two chunks of a result are in memory. While the client takes none, no row is read.
 */
#pragma once

#include <query-client.h>

#include "client-lib/http/http-exchange.h"
#include "client-lib/wire/wire-value.h"

typedef struct QhttpResult QhttpResult;

/* Rows to text. */
typedef struct QhttpEncoder {
    gboolean (*put)(gpointer data, const QwValue *values, GString *out, GError **error);
    void (*end)(gpointer data, QueryCursor *cursor, GString *out);
    GDestroyNotify free;
    gpointer data;
    const char *content_type;
} QhttpEncoder;

/* Makes the encoder when the columns are known, and writes what stands before the rows. FALSE: it has answered the exchange. */
typedef gboolean (*QhttpEncoderFunc)(QhttpExchange *exchange, QueryCursor *cursor, GString *out, QhttpEncoder *ret_encoder);

typedef struct QhttpQuery {
    QueryLanguage language;
    const char *text;
    GVariant *parameters;              /* (nullable) */
    const char *const *default_graphs; /* (nullable) */
    const char *const *named_graphs;   /* (nullable) */
    QhttpEncoderFunc encoder_func;
    const char *empty_problem; /* (nullable): detail of a 404 for a result without rows */
    bool is_tagged;            /* a GET: the response has an ETag, and an unchanged one is not sent again */
} QhttpQuery;

/* Runs the query and answers the exchange. */
void qhttp_result_run(QhttpExchange *exchange, const QhttpQuery *query);

/* Dataset, and the request's URL as base, of what is called next on the connection; FALSE: the exchange has been answered. */
gboolean qhttp_set_scope(QhttpExchange *exchange, QueryConnection *connection, const char *const *default_graphs,
                         const char *const *named_graphs);

/* The encoder of the format that the client accepts, by the form of the query. */
gboolean qhttp_encode_accepted(QhttpExchange *exchange, QueryCursor *cursor, GString *out, QhttpEncoder *ret_encoder);
/* Of rows that are triples: the graph store's. */
gboolean qhttp_encode_graph(QhttpExchange *exchange, QueryCursor *cursor, GString *out, QhttpEncoder *ret_encoder);
/* Rows of SQL, in the format that the client accepts; JSON has columns, rows as arrays, the number of rows. */
gboolean qhttp_encode_rows(QhttpExchange *exchange, QueryCursor *cursor, GString *out, QhttpEncoder *ret_encoder);

/* Sets Server-Timing: @query_usec in the daemon, and all since the request. */
void qhttp_set_timing(QhttpExchange *exchange, guint64 query_usec);
