/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A request is a run of the remote module; its pages are the records of the answer.
 */
#include "client-lib/service/service-request.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "client-lib/core/query-command.h"
#include "client-lib/core/query-error.h"
#include "client-lib/remote-module/remote-private.h"
#include "client-lib/service/service-allow.h"
#include "client-lib/wire/wire-page-writer.h"
#include "client-lib/wire/wire-service.h"

#define TEXT_BYTES_MAX (64u * 1024u * 1024u)

typedef struct Connection {
    int fd;
    GCancellable *cancellable;
    ServiceAllow *allow;
    RemoteGuard guard;
    char *endpoint;       /* (nullable): that `direct` asks */
    guint64 answer_bytes; /* so that it has */
    QueryDirect *direct;  /* kept for the next request, with its connections */
} Connection;

typedef struct Request {
    char *text;
    char *endpoint;
    guint64 timeout_msec;
    guint64 answer_bytes;
} Request;

static void
request_clear(Request *self)
{
    g_free(self->text);
    g_free(self->endpoint);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Request, request_clear)

/* Bytes ----------------------------------------------------------------------------------------------------------------- */

static gboolean
receive(const Connection *self, void *data, gsize n_bytes)
{
    for (gsize done = 0; done < n_bytes;) {
        ssize_t n = recv(self->fd, (char *) data + done, n_bytes - done, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return FALSE;
        done += (gsize) n;
    }
    return TRUE;
}

static gboolean
transmit(const Connection *self, const void *data, gsize n_bytes)
{
    for (gsize done = 0; done < n_bytes;) {
        ssize_t n = send(self->fd, (const char *) data + done, n_bytes - done, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return FALSE;
        done += (gsize) n;
    }
    return TRUE;
}

/* @write is called twice: to measure, and to write. */
static gboolean
transmit_body(const Connection *self, QwKind kind, guint32 count, void (*write)(QwBodyWriter *, gconstpointer), gconstpointer data)
{
    QwBodyWriter writer = { 0 };
    g_autofree guint8 *body = NULL;
    g_autofree guint8 *record = NULL;
    gsize n_bytes;

    write(&writer, data);
    body = g_malloc(writer.used + 1);
    writer = (QwBodyWriter){ .data = body, .capacity = writer.used };
    write(&writer, data);
    record = g_malloc0(qw_align8(QW_HEADER_SIZE + writer.used));
    n_bytes = qw_record_encode(record, kind, count, 0, body, writer.used);
    return transmit(self, record, n_bytes);
}

/* Requests -------------------------------------------------------------------------------------------------------------- */

static gboolean
take_option(Request *request, const char *key, const char *value)
{
    if (g_str_equal(key, QW_SERVICE_TIMEOUT_MSEC))
        return g_ascii_string_to_unsigned(value, 10, 1, G_MAXINT64 / 1000, &request->timeout_msec, NULL);
    if (g_str_equal(key, QW_SERVICE_ANSWER_BYTES))
        return g_ascii_string_to_unsigned(value, 10, 1, G_MAXINT64, &request->answer_bytes, NULL);
    if (!g_str_equal(key, QW_SERVICE_ENDPOINT) || request->endpoint != NULL)
        return FALSE;
    request->endpoint = g_strdup(value);
    return TRUE;
}

static gboolean
decode(Request *request, const guint8 *body, gsize n_bytes, guint32 n_options)
{
    QwBodyReader reader = { .data = body, .n_bytes = n_bytes };
    const char *language, *text;
    guint32 n_text;

    if (qw_prepare_get_head(&reader, &language, &text, &n_text) < 0 || !g_str_equal(language, "sparql") || strlen(text) != n_text ||
        !g_utf8_validate(text, n_text, NULL))
        return FALSE;
    for (guint32 i = 0; i < n_options; i++) {
        const char *key, *value;
        guint32 n_key, n_value;

        if (qw_body_get_string(&reader, &key, &n_key) < 0 || qw_body_get_string(&reader, &value, &n_value) < 0 ||
            strlen(key) != n_key || strlen(value) != n_value || !take_option(request, key, value))
            return FALSE;
    }
    request->text = g_strdup(text);
    return request->endpoint != NULL && request->timeout_msec > 0 && request->answer_bytes > 0 && qw_body_finish(&reader) == 0;
}

static gboolean
read_request(const Connection *self, Request *request)
{
    guint8 head[QW_HEADER_SIZE];
    g_autofree guint8 *body = NULL;
    QwHeader header;

    if (!receive(self, head, sizeof head) || qw_header_decode(head, TEXT_BYTES_MAX, QW_TO_DAEMON, &header) < 0 ||
        header.kind != QW_KIND_PREPARE || header.count != QW_SERVICE_N_OPTIONS)
        return FALSE;
    body = g_try_malloc(header.size - QW_HEADER_SIZE + 1);
    return body != NULL && receive(self, body, header.size - QW_HEADER_SIZE) &&
           decode(request, body, header.size - QW_HEADER_SIZE, header.count);
}

/* Answers --------------------------------------------------------------------------------------------------------------- */

static void
write_error(QwBodyWriter *writer, gconstpointer data)
{
    const GError *error = data;
    const QwErrorBody body = { .code = error->domain == QUERY_ERROR && error->code <= QW_ERROR_LAST ? (guint32) error->code
                                                                                                    : QW_ERROR_UNSUPPORTED,
                               .message = error->message,
                               .n_message_bytes = (guint32) strlen(error->message) };

    qw_error_put(writer, &body);
}

static void
write_schema(QwBodyWriter *writer, gconstpointer data)
{
    const QuerySchema *schema = data;
    const QwSchemaHead head = { .version = QW_PROTOCOL_VERSION, .page_size = QW_PAGE_SIZE_DEFAULT, .flags = QW_SCHEMA_RDF };

    qw_schema_put_head(writer, &head);
    for (guint i = 0; i < schema->n_columns; i++) {
        qw_body_put_string(writer, schema->columns[i].name, strlen(schema->columns[i].name));
        qw_body_put_string(writer, "", 0);
    }
}

static void
write_end(QwBodyWriter *writer, gconstpointer data)
{
    const QwEnd *end = data;

    qw_body_put_u64(writer, end->n_rows);
    for (guint i = 0; i < 4; i++)
        qw_body_put_u64(writer, 0);
}

static gboolean
transmit_rows(const Connection *self, const QwPageReader *rows)
{
    const QwHeader header = { .size = (guint32) (QW_HEADER_SIZE + rows->n_bytes),
                              .kind = QW_KIND_ROWS,
                              .count = rows->n_rows_left };
    guint8 head[QW_HEADER_SIZE];

    qw_header_encode(&header, head);
    return transmit(self, head, sizeof head) && transmit(self, rows->data, rows->n_bytes);
}

/* The rest of @run. FALSE: the daemon has hung up. */
static gboolean
transmit_run(const Connection *self, QueryDirectRun *run)
{
    gboolean has_schema = FALSE;

    for (;;) {
        g_autoptr(GError) error = NULL;
        QwPageReader rows;
        QwEnd end;
        QueryDirectResult result = remote_run_take(run, &rows, &end, &error);

        if (result == QUERY_DIRECT_WORK) {
            remote_run_work(run, self->cancellable);
            if (g_cancellable_is_cancelled(self->cancellable))
                return FALSE;
            continue;
        }
        if (result == QUERY_DIRECT_FAILED)
            return transmit_body(self, QW_KIND_ERROR, 0, write_error, error);
        if (!has_schema) {
            const QuerySchema *schema = remote_run_get_schema(run);

            has_schema = TRUE;
            if (!transmit_body(self, QW_KIND_SCHEMA, schema->n_columns, write_schema, schema))
                return FALSE;
        }
        if (result == QUERY_DIRECT_END)
            return transmit_body(self, QW_KIND_END, 0, write_end, &end);
        if (!transmit_rows(self, &rows))
            return FALSE;
    }
}

static gboolean
check_url(gpointer data, GUri *uri, GError **error)
{
    return service_allow_check_url(data, uri, error);
}

static gboolean
check_address(gpointer data, GUri *uri, GInetAddress *address, GError **error)
{
    return service_allow_check_address(data, uri, address, error);
}

/* The endpoint as the request asks for it, with the connections of the last request if it was the same. */
static gboolean
open_endpoint(Connection *self, const Request *request, GError **error)
{
    static const RemoteNames names = { .answer_bytes = "'service_bytes'", .deadline = "service_ms" };
    GVariantBuilder options;

    if (self->direct != NULL && g_str_equal(self->endpoint, request->endpoint) && self->answer_bytes == request->answer_bytes)
        return TRUE;
    g_clear_pointer(&self->direct, remote_unref);
    g_variant_builder_init(&options, G_VARIANT_TYPE_VARDICT);
    g_variant_builder_add(&options, "{sv}", "row_bytes",
                          g_variant_new_uint64(CLAMP(request->answer_bytes, REMOTE_ROW_BYTES_MIN, REMOTE_ROW_BYTES)));
    g_variant_builder_add(&options, "{sv}", "answer_bytes", g_variant_new_uint64(request->answer_bytes));
    self->direct = remote_open(request->endpoint, g_variant_builder_end(&options), error);
    if (self->direct == NULL)
        return FALSE;
    self->direct->guard = &self->guard;
    self->direct->names = &names;
    soup_session_set_proxy_resolver(self->direct->session, NULL); /* the address is to be the endpoint's own */
    soup_session_set_idle_timeout(self->direct->session, 0);      /* its timer would wake the main thread at each request */
    self->answer_bytes = request->answer_bytes;
    g_free(self->endpoint);
    self->endpoint = g_strdup(request->endpoint);
    return TRUE;
}

/* FALSE: the daemon has hung up. */
static gboolean
answer(Connection *self, const Request *request)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCommand)
        command = query_command_new("sparql", request->text, QUERY_COMMAND_READS, (gint64) request->timeout_msec, 0, NULL, NULL);
    g_autoptr(QueryDirectRun) run = NULL;

    if (open_endpoint(self, request, &error))
        run = remote_start(self->direct, command, NULL, NULL, NULL, self->cancellable, &error);
    if (g_cancellable_is_cancelled(self->cancellable))
        return FALSE;
    return run != NULL ? transmit_run(self, run) : transmit_body(self, QW_KIND_ERROR, 0, write_error, error);
}

void
service_serve(int fd, const char *config_path, GCancellable *cancellable)
{
    g_autoptr(ServiceAllow) allow = service_allow_load(config_path);
    Connection self = { .fd = fd, .cancellable = cancellable, .allow = allow, .guard = { check_url, check_address, allow } };
    gboolean goes_on = TRUE;

    while (goes_on) {
        g_auto(Request) request = { 0 };

        goes_on = read_request(&self, &request) && answer(&self, &request);
    }
    g_clear_pointer(&self.direct, remote_unref);
    g_free(self.endpoint);
}
