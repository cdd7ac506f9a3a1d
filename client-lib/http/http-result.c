/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows to chunks: reads as long as rows are there and the client takes them.
 */
#include "client-lib/http/http-result.h"

#include <math.h>
#include <string.h>

#include "client-lib/http/http-service.h"
#include "client-lib/request/query-try.h"
#include "daemon/base/sha256.h"

/* The size of a chunk. A result up to this size is sent whole, with its length. */
#define CHUNK_BYTES (64 * 1024)
/* So long rows are held back that might be the whole of a small result. */
#define FIRST_ROWS_MSEC 50
/* Of the name that a download gets. */
#define DOWNLOAD_NAME_BYTES 100

struct QhttpResult {
    QhttpExchange *exchange;
    QueryCursor *cursor; /* (nullable): before the query has begun */
    QhttpEncoder encoder;
    QhttpEncoderFunc encoder_func;
    char *empty_problem; /* (nullable) */
    char *etag_tail;     /* (nullable): what of the ETag does not depend on the store; computed when there is time */
    QwValue *values;     /* of the current row */
    guint n_columns;
    guint64 n_rows;
    GString *out;
    bool is_prompt;  /* it was there at once: within the hook of a quick request, unless it has waited for rows */
    bool is_started; /* the response has begun */
    bool is_sending; /* a chunk is on its way */
    bool is_waiting; /* for rows */
    guint first_rows_source;
    /* What runs, kept while the store's generation is asked for. */
    QhttpQuery query;
    char *text;
    char **default_graphs, **named_graphs; /* (nullable) */
};

static void pump(QhttpResult *self);

static void
result_free(gpointer data)
{
    QhttpResult *self = data;

    if (self->first_rows_source != 0)
        g_source_remove(self->first_rows_source);
    self->exchange->sent_func = NULL;
    qhttp_exchange_unref(self->exchange);
    g_clear_object(&self->cursor); /* cancels what is not at its end */
    if (self->encoder.free != NULL)
        self->encoder.free(self->encoder.data);
    g_string_free(self->out, TRUE);
    g_clear_pointer(&self->query.parameters, g_variant_unref);
    g_free(self->empty_problem);
    g_free(self->etag_tail);
    g_free(self->values);
    g_strfreev(self->default_graphs);
    g_strfreev(self->named_graphs);
    g_free(self->text);
    g_free(self);
}

/* --- values ----------------------------------------------------------------------------------------------------------------- */

static void
take_text(QwValue *value, QueryCursor *cursor, guint column, const char *tag)
{
    gsize n_bytes = 0;

    value->data = query_cursor_get_string(cursor, column, &n_bytes);
    value->n_bytes = (uint32_t) n_bytes;
    value->tag = tag;
    value->n_tag_bytes = tag != NULL ? (uint32_t) strlen(tag) : 0;
}

static void
take_value(QwValue *value, QueryCursor *cursor, guint column)
{
    gsize n_bytes = 0;

    *value = (QwValue){ .type = (QwType) query_cursor_get_value_type(cursor, column) };
    switch (value->type) {
    case QW_TYPE_NULL:
        break;
    case QW_TYPE_INTEGER:
        value->integer = query_cursor_get_int64(cursor, column);
        break;
    case QW_TYPE_FLOAT:
        value->real = query_cursor_get_double(cursor, column);
        break;
    case QW_TYPE_BLOB:
        value->data = (const char *) query_cursor_get_data(cursor, column, &n_bytes);
        value->n_bytes = (uint32_t) n_bytes;
        break;
    case QW_TYPE_LITERAL_LANG:
        take_text(value, cursor, column, query_cursor_get_language(cursor, column));
        break;
    case QW_TYPE_LITERAL_TYPED:
        take_text(value, cursor, column, query_cursor_get_datatype(cursor, column));
        break;
    case QW_TYPE_TEXT:
    case QW_TYPE_IRI:
    case QW_TYPE_BNODE:
        take_text(value, cursor, column, NULL);
        break;
    }
}

static gboolean
put_row(QhttpResult *self, GError **error)
{
    for (guint i = 0; i < self->n_columns; i++)
        take_value(&self->values[i], self->cursor, i);
    self->n_rows++;
    return self->encoder.put(self->encoder.data, self->values, self->out, error);
}

/* --- the response -------------------------------------------------------------------------------------------------------- */

/* Milliseconds with three digits after the point. Returns: its beginning, before @end */
static char *
put_msec(char *end, guint64 usec)
{
    for (guint i = 0; i < 4 || usec > 0; i++) {
        if (i == 3)
            *--end = '.';
        *--end = (char) ('0' + usec % 10);
        usec /= 10;
    }
    return end;
}

static char *
put_before(char *end, const char *text)
{
    gsize n = strlen(text);

    return memcpy(end - n, text, n);
}

/* Written from its end: printf() for it was a twentieth of a look-up's time here. */
void
qhttp_set_timing(QhttpExchange *exchange, guint64 query_usec)
{
    char timing[96];
    char *start = timing + sizeof timing - 1;

    *start = '\0';
    start = put_msec(start, (guint64) (g_get_monotonic_time() - exchange->start_usec));
    start = put_before(start, ", total;dur=");
    start = put_msec(start, query_usec);
    start = put_before(start, "query;dur=");
    qhttp_exchange_set_header(exchange, "Server-Timing", start);
}

static char *
make_etag(guint64 generation, const char *tail)
{
    return g_strdup_printf("\"%" G_GINT64_MODIFIER "x-%s\"", generation, tail);
}

static void
set_etag(QhttpResult *self, guint64 generation)
{
    g_autofree char *etag = NULL;

    if (self->etag_tail == NULL || generation == 0 || !query_cursor_is_stable(self->cursor))
        return;

    etag = make_etag(generation, self->etag_tail);
    qhttp_exchange_set_header(self->exchange, "ETag", etag);
}

static void
fail(QhttpResult *self, const GError *error)
{
    self->exchange->sent_func = NULL;
    if (self->is_started)
        qhttp_exchange_break(self->exchange);
    else if (!qhttp_exchange_is_gone(self->exchange))
        qhttp_exchange_fail_with(self->exchange, error);
    result_free(self);
}

static void
on_sent(gpointer data, gpointer unused)
{
    QhttpResult *self = data;

    self->is_sending = false;
    if (!qhttp_exchange_is_gone(self->exchange))
        pump(self);
    else if (!self->is_waiting) /* else on_next() sees it */
        result_free(self);
}

/* The generation that was known before: the result is not older. */
static void
start(QhttpResult *self)
{
    set_etag(self, qhttp_service_get_generation(self->exchange->service));
    qhttp_set_timing(self->exchange, 0);
    self->is_started = true;
    self->exchange->sent_func = on_sent;
    self->exchange->sent_data = self;
    qhttp_exchange_start_stream(self->exchange, 200, self->encoder.content_type);
}

/* (transfer full): what the encoder has written. Its string stays the same, which a writer of graphs keeps. */
static GString *
take_out(QhttpResult *self)
{
    GString *text = g_string_new_len(self->out->str, (gssize) self->out->len);

    g_string_truncate(self->out, 0);
    return text;
}

/* Without chunks a cut result would look whole. */
static bool
can_stream(const QhttpResult *self)
{
    return qhttp_exchange_is_gone(self->exchange) || self->exchange->has_chunks;
}

static void
send_out(QhttpResult *self)
{
    if (!self->is_started)
        start(self);
    self->is_sending = true;
    qhttp_exchange_send_chunk(self->exchange, take_out(self));
}

static void
finish(QhttpResult *self)
{
    guint64 generation = query_cursor_get_generation(self->cursor);

    qhttp_service_note_generation(self->exchange->service, generation);
    if (self->n_rows == 0 && self->empty_problem != NULL) {
        qhttp_exchange_fail(self->exchange, 404, "%s", self->empty_problem);
    } else if (self->is_started) {
        self->encoder.end(self->encoder.data, self->cursor, self->out);
        if (self->out->len > 0)
            qhttp_exchange_send_chunk(self->exchange, take_out(self));
        qhttp_exchange_end_stream(self->exchange);
    } else {
        self->encoder.end(self->encoder.data, self->cursor, self->out);
        set_etag(self, generation);
        qhttp_set_timing(self->exchange, query_cursor_get_elapsed_usec(self->cursor));
        qhttp_exchange_respond(self->exchange, 200, self->encoder.content_type, take_out(self));
    }
    if (self->is_prompt && self->exchange->response_lines != NULL)
        qhttp_service_discard(self->exchange->service, self, result_free);
    else
        result_free(self);
}

static gboolean
on_first_rows(gpointer user_data)
{
    QhttpResult *self = user_data;

    self->first_rows_source = 0;
    if (!self->is_started && self->out->len > 0 && can_stream(self) && !qhttp_exchange_is_gone(self->exchange))
        send_out(self);
    return G_SOURCE_REMOVE;
}

static void
on_next(GObject *source, GAsyncResult *result, gpointer user_data)
{
    QhttpResult *self = user_data;
    g_autoptr(GError) error = NULL;
    gboolean has_row = query_cursor_next_finish(self->cursor, result, &error);

    self->is_waiting = false;
    if (error == NULL && has_row)
        (void) put_row(self, &error);
    if (error != NULL || qhttp_exchange_is_gone(self->exchange))
        fail(self, error);
    else if (has_row)
        pump(self);
    else
        finish(self);
}

/* A HEAD that would get a long result has seen its headers. */
static bool
is_enough(const QhttpResult *self)
{
    return self->out->len >= CHUNK_BYTES && qhttp_exchange_has_method(self->exchange, "HEAD");
}

static void
end_head(QhttpResult *self)
{
    start(self);
    qhttp_exchange_end_stream(self->exchange);
    result_free(self);
}

/* What has come does not wait for long for what follows it. */
static void
await_rows(QhttpResult *self)
{
    if (!self->is_started && self->first_rows_source == 0 && self->empty_problem == NULL &&
        !qhttp_exchange_has_method(self->exchange, "HEAD"))
        self->first_rows_source = g_timeout_add(FIRST_ROWS_MSEC, on_first_rows, self);
    self->is_waiting = true;
    self->is_prompt = false;
    query_cursor_next_async(self->cursor, self->exchange->cancellable, on_next, self);
}

static void
pump(QhttpResult *self)
{
    g_autoptr(GError) error = NULL;
    gboolean has_row = TRUE;

    if (self->is_waiting)
        return;
    while (self->out->len < CHUNK_BYTES && has_row && error == NULL && query_cursor_try_next(self->cursor, &has_row, &error))
        if (has_row)
            (void) put_row(self, &error);
    if (error != NULL) {
        fail(self, error);
        return;
    }
    if (!has_row) {
        finish(self);
        return;
    }
    if (is_enough(self)) {
        end_head(self);
        return;
    }
    if (self->out->len >= CHUNK_BYTES && !can_stream(self)) {
        qhttp_exchange_fail(self->exchange, 505, "a result of more than %d bytes needs HTTP/1.1", CHUNK_BYTES);
        result_free(self);
        return;
    }
    if (self->out->len >= CHUNK_BYTES) {
        if (!self->is_sending)
            send_out(self);
        else
            return; /* until on_sent() */
    } else if (self->is_started && !self->is_sending && self->out->len > 0) {
        send_out(self);
    }
    if (query_cursor_get_n_ready(self->cursor) > 0)
        return; /* until on_sent() */

    await_rows(self);
}

/* What a browser is to keep as a file: the parameter "download" is its name. */
static void
set_disposition(QhttpExchange *exchange)
{
    const char *wanted = qhttp_form_get(exchange->form, "download");
    g_autofree char *name = wanted != NULL ? g_strndup(wanted, DOWNLOAD_NAME_BYTES) : NULL;
    g_autofree char *disposition = NULL;

    if (name == NULL)
        return;
    g_strcanon(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-", '_');
    disposition = g_strdup_printf("attachment; filename=\"%s\"", name);
    qhttp_exchange_set_header(exchange, "Content-Disposition", disposition);
}

/* @cursor: (transfer full) */
static void
begin_rows(QhttpResult *self, QueryCursor *cursor)
{
    self->cursor = cursor;
    if (qhttp_exchange_is_gone(self->exchange) || !self->encoder_func(self->exchange, self->cursor, self->out, &self->encoder)) {
        result_free(self);
        return;
    }

    set_disposition(self->exchange);
    self->n_columns = query_cursor_get_n_columns(self->cursor);
    self->values = g_new0(QwValue, self->n_columns + 1);
    pump(self);
}

/* NULL: the request has been answered with the error, and @self is gone. */
static QueryCursor *
finish_query(QhttpResult *self, GObject *source, GAsyncResult *result)
{
    g_autoptr(GError) error = NULL;
    QueryCursor *cursor = query_connection_query_finish(QUERY_CONNECTION(source), result, &error);

    if (cursor == NULL)
        fail(self, error);
    return cursor;
}

static void
on_query(GObject *source, GAsyncResult *result, gpointer user_data)
{
    QueryCursor *cursor = finish_query(user_data, source, result);

    if (cursor != NULL)
        begin_rows(user_data, cursor);
}

gboolean
qhttp_set_scope(QhttpExchange *exchange, QueryConnection *connection, const char *const *default_graphs,
                const char *const *named_graphs)
{
    g_autofree char *base = qhttp_exchange_get_url(exchange);
    g_autoptr(GError) error = NULL;

    query_connection_set_base(connection, base);
    if (query_connection_set_dataset(connection, default_graphs, named_graphs, &error))
        return TRUE;

    qhttp_exchange_fail_with(exchange, error);
    return FALSE;
}

/* --- running ------------------------------------------------------------------------------------------------------------ */

static void
put_checksum(QdSha256 *checksum, const char *text)
{
    if (text != NULL)
        qd_sha256_update(checksum, text, strlen(text));
    qd_sha256_update(checksum, "", 1);
}

static void
put_checksums(QdSha256 *checksum, const char *const *texts)
{
    for (; texts != NULL && *texts != NULL; texts++)
        put_checksum(checksum, *texts);
    put_checksum(checksum, NULL);
}

/* (transfer full): of all that the response depends on besides the store */
static char *
make_etag_tail(QhttpExchange *exchange, const QhttpQuery *query)
{
    g_autofree char *parameters = query->parameters != NULL ? g_variant_print(query->parameters, TRUE) : NULL;
    char hex[2 * QD_SHA256_BYTES + 1];
    uint8_t hash[QD_SHA256_BYTES];
    QdSha256 checksum;

    qd_sha256_init(&checksum);
    put_checksum(&checksum, query->language == QUERY_LANGUAGE_SQL ? "sql" : "sparql");
    put_checksum(&checksum, query->text);
    put_checksum(&checksum, parameters);
    put_checksums(&checksum, query->default_graphs);
    put_checksums(&checksum, query->named_graphs);
    put_checksum(&checksum, qhttp_exchange_get_accept(exchange));
    qd_sha256_finish(&checksum, hash);
    qd_sha256_to_hex(hash, hex);
    return g_strndup(hex, 32);
}

static void
find_etag_tail(QhttpResult *self)
{
    if (self->query.is_tagged && self->etag_tail == NULL)
        self->etag_tail = make_etag_tail(self->exchange, &self->query);
}

static void
work_meanwhile(gpointer user_data)
{
    QhttpResult *self = user_data;

    find_etag_tail(self);
    qhttp_service_empty_bin(self->exchange->service);
}

static void
run(QhttpResult *self)
{
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = qhttp_service_get_connection(self->exchange->service, &error);
    const QhttpQuery *query = &self->query;
    QueryCursor *cursor;

    if (connection == NULL) {
        fail(self, error);
        return;
    }
    if (!qhttp_set_scope(self->exchange, connection, query->default_graphs, query->named_graphs)) {
        result_free(self);
        return;
    }
    cursor = query_connection_try_query(connection, query->language, query->text, query->parameters, self->exchange->cancellable,
                                        on_query, self, work_meanwhile, &error);
    if (error != NULL) {
        fail(self, error);
        return;
    }
    self->is_prompt = cursor != NULL;
    if (cursor != NULL)
        begin_rows(self, cursor);
}

/* --- unchanged results -------------------------------------------------------------------------------------------------- */

static void on_probe_row(GObject *source, GAsyncResult *result, gpointer user_data);

/* The answer to any query says which generation it has read. */
static void
on_probe_row(GObject *source, GAsyncResult *result, gpointer user_data)
{
    QhttpResult *self = user_data;
    QueryCursor *cursor = QUERY_CURSOR(source);
    g_autoptr(GError) error = NULL;
    const char *known = qhttp_exchange_get_header(self->exchange, "If-None-Match");
    g_autofree char *etag = NULL;

    if (query_cursor_next_finish(cursor, result, &error)) {
        query_cursor_next_async(cursor, self->exchange->cancellable, on_probe_row, self);
        return;
    }

    qhttp_service_note_generation(self->exchange->service, query_cursor_get_generation(cursor));
    etag = make_etag(query_cursor_get_generation(cursor), self->etag_tail);
    g_object_unref(cursor);
    if (error != NULL) {
        fail(self, error);
    } else if (known != NULL && strstr(known, etag) != NULL) {
        qhttp_exchange_set_header(self->exchange, "ETag", etag);
        qhttp_exchange_respond(self->exchange, 304, NULL, NULL);
        result_free(self);
    } else {
        run(self);
    }
}

static void
on_probe(GObject *source, GAsyncResult *result, gpointer user_data)
{
    QhttpResult *self = user_data;
    QueryCursor *cursor = finish_query(self, source, result);

    if (cursor != NULL)
        query_cursor_next_async(cursor, self->exchange->cancellable, on_probe_row, self);
}

static void
probe(QhttpResult *self)
{
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = qhttp_service_get_connection(self->exchange->service, &error);

    if (connection == NULL)
        fail(self, error);
    else
        query_connection_query_async(connection, QUERY_LANGUAGE_SQL, "SELECT 1", NULL, self->exchange->cancellable, on_probe, self);
}

void
qhttp_result_run(QhttpExchange *exchange, const QhttpQuery *query)
{
    QhttpResult *self = g_new0(QhttpResult, 1);
    bool is_conditional = query->is_tagged && qhttp_exchange_get_header(exchange, "If-None-Match") != NULL;

    self->exchange = qhttp_exchange_ref(exchange);
    self->encoder_func = query->encoder_func;
    self->empty_problem = g_strdup(query->empty_problem);
    self->out = g_string_sized_new(1024);
    self->query = *query;
    self->query.parameters = query->parameters != NULL ? g_variant_ref_sink(query->parameters) : NULL;
    self->text = g_strdup(query->text);
    self->query.text = self->text;
    self->query.default_graphs = (const char *const *) (self->default_graphs = g_strdupv((char **) query->default_graphs));
    self->query.named_graphs = (const char *const *) (self->named_graphs = g_strdupv((char **) query->named_graphs));
    if (is_conditional)
        find_etag_tail(self);
    if (is_conditional)
        probe(self);
    else
        run(self);
}
