/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A socket that does not block, and waits in slices, after each of which it is asked whether the statement shall end.
 */
#include "daemon/service/service-link.h"

#include <errno.h>
#include <poll.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client-lib/wire/wire-service.h"
#include "daemon/base/error.h"
#include "daemon/base/interrupt.h"
#include "daemon/service/service-columns.h"

#define SLICE_MSEC 10
#define PLACE_BYTES 200
#define SMALL_RECORD_BYTES (1024u * 1024u) /* of columns and of an error */

QdServiceRows *
qd_service_rows_free(QdServiceRows *self)
{
    if (self != NULL)
        sqlite3_free(self->body);
    sqlite3_free(self);
    return NULL;
}

void
qd_service_link_close(QdServiceLink *self)
{
    if (self->fd >= 0)
        (void) close(self->fd);
    self->fd = -1;
}

void
qd_service_link_clear(QdServiceLink *self)
{
    qd_service_link_close(self);
    g_clear_pointer(&self->place, g_free);
}

/* --- errors ----------------------------------------------------------------------------------------------------------- */

/* Without user, password, query and fragment, which may be secrets. */
static char *
make_place(const char *endpoint)
{
    const char *authority = strstr(endpoint, "://");
    gsize n_scheme = authority != NULL ? (gsize) (authority + 3 - endpoint) : 0;
    const char *rest = endpoint + n_scheme;
    const char *at = memrchr(rest, '@', strcspn(rest, "/?#"));
    g_autofree char *text = NULL;

    if (at != NULL)
        rest = at + 1;
    text = g_strdup_printf("%.*s%.*s", (int) MIN(n_scheme, PLACE_BYTES), endpoint, (int) MIN(strcspn(rest, "?#"), PLACE_BYTES),
                           rest);
    return g_utf8_make_valid(text, -1);
}

static QdServiceNews fail(const QdServiceLink *self, GError **error, QwError code, const char *format, ...) G_GNUC_PRINTF(4, 5);

static QdServiceNews
fail(const QdServiceLink *self, GError **error, QwError code, const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    qd_error_set(error, code, "SERVICE <%s>: %s", self->place, text);
    return QD_SERVICE_FAILED;
}

static QdServiceNews
fail_broken(const QdServiceLink *self, GError **error)
{
    return fail(self, error, QW_ERROR_BUSY,
                "queryd-service has ended amid the request, or has too many: try again; its log may say why");
}

static QdServiceNews
fail_malformed(const QdServiceLink *self, GError **error)
{
    return fail(self, error, QW_ERROR_UNSUPPORTED, "queryd-service says what is no answer: is it of another version?");
}

/* Of the codes that come, those that are not about this daemon: an endpoint that has no memory, or a damaged store, has failed. */
static QwError
take_code(guint32 code)
{
    switch ((QwError) code) {
    case QW_ERROR_SYNTAX:
    case QW_ERROR_UNSUPPORTED:
    case QW_ERROR_BAD_PARAMETER:
    case QW_ERROR_BUSY:
    case QW_ERROR_TOO_BIG:
    case QW_ERROR_TOO_COMPLEX:
    case QW_ERROR_TIMEOUT:
    case QW_ERROR_ACCESS_DENIED:
    case QW_ERROR_LIMIT_EXCEEDED:
        return (QwError) code;
    case QW_ERROR_CONSTRAINT:
    case QW_ERROR_READ_ONLY:
    case QW_ERROR_CANCELLED:
    case QW_ERROR_DISK_FULL:
    case QW_ERROR_NO_MEMORY:
    case QW_ERROR_CORRUPT:
    case QW_ERROR_RECOVERING:
    case QW_ERROR_CLOSED:
    case QW_ERROR_INTERNAL:
        break;
    }
    return QW_ERROR_UNSUPPORTED;
}

/* --- bytes ------------------------------------------------------------------------------------------------------------ */

/* FALSE: the statement shall end. */
static gboolean
wait(const QdServiceLink *self, short events)
{
    struct pollfd poll_fd = { .fd = self->fd, .events = events };

    while (!qd_interrupt_poll())
        if (poll(&poll_fd, 1, SLICE_MSEC) != 0)
            return TRUE;
    return FALSE;
}

static QdServiceNews
transmit(QdServiceLink *self, const guint8 *data, gsize n_bytes, GError **error)
{
    for (gsize done = 0; done < n_bytes;) {
        ssize_t n = send(self->fd, data + done, n_bytes - done, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n >= 0)
            done += (gsize) n;
        else if (errno != EAGAIN && errno != EINTR)
            return fail_broken(self, error);
        else if (!wait(self, POLLOUT))
            return QD_SERVICE_STOPPED;
    }
    return QD_SERVICE_ROWS;
}

static QdServiceNews
receive(QdServiceLink *self, guint8 *data, gsize n_bytes, GError **error)
{
    for (gsize done = 0; done < n_bytes;) {
        ssize_t n = recv(self->fd, data + done, n_bytes - done, MSG_DONTWAIT);

        if (n > 0)
            done += (gsize) n;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            return fail_broken(self, error);
        else if (!wait(self, POLLIN))
            return QD_SERVICE_STOPPED;
    }
    return QD_SERVICE_ROWS;
}

/* --- requests --------------------------------------------------------------------------------------------------------- */

static gboolean
connect_to_helper(QdServiceLink *self, GError **error)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    g_autofree char *path = g_build_filename(g_get_user_runtime_dir(), QW_SERVICE_SOCKET, NULL);

    if (strlen(path) < sizeof address.sun_path) {
        (void) strcpy(address.sun_path, path);
        self->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    }
    if (self->fd >= 0 && connect(self->fd, (struct sockaddr *) &address, sizeof address) == 0)
        return TRUE;
    if (self->fd >= 0 && errno == EAGAIN)
        (void) fail(self, error, QW_ERROR_BUSY, "queryd-service has too many connections: try again");
    else
        (void) fail(self, error, QW_ERROR_UNSUPPORTED,
                    "queryd-service, which asks, does not run: systemctl --user enable --now queryd-service.socket; what "
                    "it may ask is in queryd.conf, group [Service], key 'allow'");
    qd_service_link_close(self);
    return FALSE;
}

static void
put_option(QwBodyWriter *writer, const char *key, const char *value)
{
    qw_body_put_string(writer, key, strlen(key));
    qw_body_put_string(writer, value, strlen(value));
}

static void
put_number(QwBodyWriter *writer, const char *key, guint64 value)
{
    char text[24];

    (void) g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT, value);
    put_option(writer, key, text);
}

static void
put_request(QwBodyWriter *writer, const char *endpoint, const char *text, gsize n_text, const QdLimits *limits)
{
    qw_prepare_put_head(writer, "sparql", text, n_text);
    put_option(writer, QW_SERVICE_ENDPOINT, endpoint);
    put_number(writer, QW_SERVICE_TIMEOUT_MSEC, qd_limits_get(limits, QD_LIMIT_SERVICE_MSEC));
    put_number(writer, QW_SERVICE_ANSWER_BYTES, qd_limits_get(limits, QD_LIMIT_SERVICE_BYTES));
}

gboolean
qd_service_link_ask(QdServiceLink *self, const char *endpoint, const char *text, gsize n_text, const QdLimits *limits,
                    QdServiceNews *ret_news, GError **error)
{
    QwBodyWriter writer = { 0 };
    g_autofree guint8 *body = NULL;
    g_autofree guint8 *record = NULL;
    gsize n_bytes;

    *ret_news = QD_SERVICE_FAILED;
    g_free(self->place);
    self->place = make_place(endpoint);
    if (self->fd < 0 && !connect_to_helper(self, error))
        return FALSE;
    put_request(&writer, endpoint, text, n_text, limits);
    body = g_malloc(writer.used);
    writer = (QwBodyWriter){ .data = body, .capacity = writer.used };
    put_request(&writer, endpoint, text, n_text, limits);
    record = g_malloc0(qw_align8(QW_HEADER_SIZE + writer.used));
    n_bytes = qw_record_encode(record, QW_KIND_PREPARE, QW_SERVICE_N_OPTIONS, 0, body, writer.used);
    *ret_news = transmit(self, record, n_bytes, error);
    return *ret_news == QD_SERVICE_ROWS;
}

/* --- answers ---------------------------------------------------------------------------------------------------------- */

static QdServiceNews
read_header(QdServiceLink *self, QwHeader *header, GError **error)
{
    guint8 head[QW_HEADER_SIZE];
    QdServiceNews news = receive(self, head, sizeof head, error);

    if (news != QD_SERVICE_ROWS)
        return news;
    if (qw_header_decode(head, QW_SERVICE_RECORD_MAX, QW_TO_CLIENT, header) < 0)
        return fail_malformed(self, error);
    return QD_SERVICE_ROWS;
}

/* @ret_body: (out) (transfer full): for sqlite3_free(). */
static QdServiceNews
read_body(QdServiceLink *self, const QwHeader *header, guint64 bytes_max, guint8 **ret_body, GError **error)
{
    gsize n_bytes = header->size - QW_HEADER_SIZE;
    QdServiceNews news;

    *ret_body = NULL;
    if (n_bytes > bytes_max)
        return fail(self, error, QW_ERROR_TOO_BIG, "a row of the answer has more bytes than the limit 'value_bytes' allows");
    *ret_body = sqlite3_malloc64(n_bytes + 1);
    if (*ret_body == NULL)
        return fail(self, error, QW_ERROR_NO_MEMORY, "no memory for the answer");
    news = receive(self, *ret_body, n_bytes, error);
    if (news != QD_SERVICE_ROWS)
        g_clear_pointer(ret_body, sqlite3_free);
    return news;
}

/* The ERROR record that @header begins. */
static QdServiceNews
take_error(QdServiceLink *self, const QwHeader *header, GError **error)
{
    guint8 *body;
    QwErrorBody failure;
    QdServiceNews news = read_body(self, header, SMALL_RECORD_BYTES, &body, error);

    if (news != QD_SERVICE_ROWS)
        return news;
    if (qw_error_decode(body, header->size - QW_HEADER_SIZE, &failure) < 0)
        (void) fail_malformed(self, error);
    else
        (void) fail(self, error, take_code(failure.code), "%s", failure.message);
    sqlite3_free(body);
    return QD_SERVICE_FAILED;
}

/* Puts the column @index of the answer into @map. FALSE: it is none of @names. */
static gboolean
map_column(const char *name, gint16 index, const char *const *names, gint16 *map)
{
    for (guint i = 0; names[i] != NULL; i++) {
        if (g_str_equal(names[i], name)) {
            map[i] = index;
            return TRUE;
        }
    }
    return g_str_equal(name, QD_SERVICE_NO_COLUMN);
}

static QdServiceNews
map_columns(const QdServiceLink *self, const guint8 *body, gsize n_bytes, guint32 n_columns, const char *const *names, gint16 *map,
            GError **error)
{
    QwBodyReader reader = { .data = body, .n_bytes = n_bytes };
    QwSchemaHead head;

    if (n_columns > G_MAXINT16 || qw_schema_get_head(&reader, &head) < 0 || head.n_parameters > 0)
        return fail_malformed(self, error);
    for (guint i = 0; names[i] != NULL; i++)
        map[i] = -1;
    for (guint32 i = 0; i < n_columns; i++) {
        const char *name, *type;
        guint32 n_name, n_type;

        if (qw_body_get_string(&reader, &name, &n_name) < 0 || qw_body_get_string(&reader, &type, &n_type) < 0)
            return fail_malformed(self, error);
        if (!map_column(name, (gint16) i, names, map))
            return fail(self, error, QW_ERROR_UNSUPPORTED,
                        "the endpoint answers with a column '%.100s', which was not asked for: it gives no solutions", name);
    }
    return qw_body_finish(&reader) == 0 ? QD_SERVICE_ROWS : fail_malformed(self, error);
}

QdServiceNews
qd_service_link_begin(QdServiceLink *self, const char *const *names, gint16 *map, guint *ret_n_columns, GError **error)
{
    QwHeader header;
    guint8 *body;
    QdServiceNews news = read_header(self, &header, error);

    if (news != QD_SERVICE_ROWS)
        return news;
    if (header.kind == QW_KIND_ERROR)
        return take_error(self, &header, error);
    if (header.kind != QW_KIND_SCHEMA)
        return fail_malformed(self, error);
    news = read_body(self, &header, SMALL_RECORD_BYTES, &body, error);
    if (news == QD_SERVICE_ROWS)
        news = map_columns(self, body, header.size - QW_HEADER_SIZE, header.count, names, map, error);
    *ret_n_columns = header.count;
    sqlite3_free(body);
    return news;
}

QdServiceNews
qd_service_link_read(QdServiceLink *self, guint n_columns, const QdLimits *limits, QdServiceRows **ret_rows, GError **error)
{
    guint64 bytes_max = 2 * qd_limits_get(limits, QD_LIMIT_VALUE_BYTES);
    QwHeader header;
    QdServiceRows *rows;
    guint8 *body;
    QdServiceNews news = read_header(self, &header, error);

    if (news != QD_SERVICE_ROWS)
        return news;
    if (header.kind == QW_KIND_ERROR)
        return take_error(self, &header, error);
    if (header.kind != QW_KIND_ROWS && header.kind != QW_KIND_END)
        return fail_malformed(self, error);
    news = read_body(self, &header, bytes_max, &body, error);
    if (news != QD_SERVICE_ROWS)
        return news;
    if (header.kind == QW_KIND_END) {
        sqlite3_free(body);
        return QD_SERVICE_END;
    }
    rows = sqlite3_malloc64(sizeof *rows);
    if (rows == NULL) {
        sqlite3_free(body);
        return fail(self, error, QW_ERROR_NO_MEMORY, "no memory for the answer");
    }
    *rows = (QdServiceRows){ .body = body };
    *ret_rows = rows;
    if (qw_page_reader_init(&rows->reader, body, header.size - QW_HEADER_SIZE, header.count, n_columns) == 0)
        return QD_SERVICE_ROWS;
    *ret_rows = qd_service_rows_free(rows);
    return fail_malformed(self, error);
}
