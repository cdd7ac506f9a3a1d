/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon's end of a channel, played by a thread.
 */
#include "tests/unit/client/fake-daemon.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct FakeDaemon {
    int fds[2]; /* the client's, ours */
    GThread *thread;
    guint n_requests;
    GByteArray *answer;
    FakeEnd end;
    GString *kinds;
    GByteArray *last_row;
};

FakeDaemon *
fake_daemon_new(void)
{
    FakeDaemon *self = g_new0(FakeDaemon, 1);

    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, self->fds), ==, 0);
    self->kinds = g_string_new(NULL);
    self->last_row = g_byte_array_new();
    return self;
}

void
fake_daemon_join(FakeDaemon *self)
{
    if (self->thread != NULL)
        g_thread_join(g_steal_pointer(&self->thread));
}

void
fake_daemon_hang_up(FakeDaemon *self)
{
    fake_daemon_join(self);
    if (self->fds[1] >= 0)
        (void) close(self->fds[1]);
    self->fds[1] = -1;
}

void
fake_daemon_free(FakeDaemon *self)
{
    if (self == NULL)
        return;

    if (self->fds[1] >= 0)
        (void) shutdown(self->fds[1], SHUT_RDWR); /* wakes a thread that still waits */
    fake_daemon_hang_up(self);
    if (self->fds[0] >= 0)
        (void) close(self->fds[0]);
    g_clear_pointer(&self->answer, g_byte_array_unref);
    g_byte_array_unref(self->last_row);
    g_string_free(self->kinds, TRUE);
    g_free(self);
}

int
fake_daemon_take_fd(FakeDaemon *self)
{
    int fd = self->fds[0];

    g_assert_cmpint(fd, >=, 0);
    self->fds[0] = -1;
    return fd;
}

QueryConnection *
fake_daemon_connect(FakeDaemon *self)
{
    QueryConnection *connection;

    connection = query_connection_new_offline(NULL);
    query_pool_give(query_connection_get_pool(connection), query_channel_new(fake_daemon_take_fd(self), QW_PAGE_SIZE_DEFAULT, 0));
    return connection;
}

static gboolean
read_all(int fd, guint8 *data, gsize n_bytes)
{
    while (n_bytes > 0) {
        ssize_t n = read(fd, data, n_bytes);

        if (n <= 0)
            return FALSE;
        data += n;
        n_bytes -= (gsize) n;
    }
    return TRUE;
}

static void
write_all(int fd, const guint8 *data, gsize n_bytes)
{
    while (n_bytes > 0) {
        ssize_t n = send(fd, data, n_bytes, MSG_NOSIGNAL);

        if (n <= 0)
            return; /* the client has closed: its right */
        data += n;
        n_bytes -= (gsize) n;
    }
}

/* One whole request of any size. */
static gboolean
read_request(FakeDaemon *self)
{
    g_autofree guint8 *page = g_malloc(QW_PAGE_SIZE_DEFAULT);
    QwChunks chunks = { 0 };
    guint8 kind = 0;

    do {
        const uint8_t *data = page + QW_HEADER_SIZE;
        size_t n_bytes;
        QwHeader header;

        if (!read_all(self->fds[1], page, QW_HEADER_SIZE))
            return FALSE;
        g_assert_cmpint(qw_header_decode(page, QW_PAGE_SIZE_DEFAULT, QW_TO_DAEMON, &header), ==, 0);
        if (!read_all(self->fds[1], page + QW_HEADER_SIZE, header.size - QW_HEADER_SIZE))
            return FALSE;

        n_bytes = header.size - QW_HEADER_SIZE;
        kind = header.kind;
        if (header.kind == QW_KIND_CHUNK) {
            g_assert_cmpint(qw_chunks_accept(&chunks, &header, page + QW_HEADER_SIZE, QW_TO_DAEMON, G_MAXUINT32, &data, &n_bytes),
                            ==, 0);
            kind = chunks.inner_kind;
        }
        if (header.kind != QW_KIND_CHUNK || (header.flags & QW_CHUNK_FIRST) != 0)
            g_byte_array_set_size(self->last_row, 0);
        g_byte_array_append(self->last_row, data, (guint) n_bytes);
    } while (chunks.active);

    g_string_append_c(self->kinds, (char) kind);
    return TRUE;
}

static gpointer
run(gpointer data)
{
    FakeDaemon *self = data;

    for (guint i = 0; i < self->n_requests; i++)
        if (!read_request(self))
            return NULL;

    if (self->answer != NULL)
        write_all(self->fds[1], self->answer->data, self->answer->len);
    if (self->end == FAKE_HANGS_UP)
        (void) shutdown(self->fds[1], SHUT_RDWR);
    return NULL;
}

void
fake_daemon_serve(FakeDaemon *self, guint n_requests, GByteArray *answer, FakeEnd end)
{
    fake_daemon_join(self);
    g_clear_pointer(&self->answer, g_byte_array_unref);
    self->n_requests = n_requests;
    self->answer = answer;
    self->end = end;
    self->thread = g_thread_new("fake-daemon", run, self);
}

const char *
fake_daemon_get_kinds(FakeDaemon *self)
{
    fake_daemon_join(self);
    return self->kinds->str;
}

GBytes *
fake_daemon_get_last_row(FakeDaemon *self)
{
    fake_daemon_join(self);
    return g_bytes_new(self->last_row->data, self->last_row->len);
}

void
answer_put(GByteArray *answer, QwKind kind, guint32 count, guint32 serial, const void *body, gsize n_bytes)
{
    g_autofree guint8 *page = g_malloc(QW_PAGE_SIZE_DEFAULT);
    QwHeader inner = { .kind = (guint8) kind, .count = count, .serial = serial };
    size_t offset = 0;

    if (qw_align8(QW_HEADER_SIZE + n_bytes) <= QW_PAGE_SIZE_DEFAULT) {
        g_byte_array_append(answer, page, (guint) qw_record_encode(page, kind, count, serial, body, n_bytes));
        return;
    }
    while (offset < n_bytes) {
        size_t size = qw_chunk_encode(page, QW_PAGE_SIZE_DEFAULT, &inner, body, n_bytes, &offset);

        g_byte_array_append(answer, page, (guint) size);
    }
}

static void
write_schema(QwBodyWriter *writer, const char *const *columns, const char *const *parameters)
{
    guint n_parameters = parameters != NULL ? g_strv_length((char **) parameters) : 0;

    qw_schema_put_head(
        writer, &(QwSchemaHead){ .version = QW_PROTOCOL_VERSION, .page_size = QW_PAGE_SIZE_DEFAULT, .n_parameters = n_parameters });
    for (guint i = 0; columns[i] != NULL; i++) {
        qw_body_put_string(writer, columns[i], strlen(columns[i]));
        qw_body_put_string(writer, "TEXT", 4);
    }
    for (guint i = 0; i < n_parameters; i++) {
        qw_body_put_u32(writer, i + 1);
        qw_body_put_string(writer, parameters[i], strlen(parameters[i]));
    }
}

void
answer_put_schema(GByteArray *answer, guint32 serial, const char *const *columns, const char *const *parameters)
{
    QwBodyWriter writer = { 0 };
    g_autofree guint8 *body = NULL;

    write_schema(&writer, columns, parameters);
    body = g_malloc(writer.used);
    writer = (QwBodyWriter){ .data = body, .capacity = writer.used };
    write_schema(&writer, columns, parameters);
    answer_put(answer, QW_KIND_SCHEMA, g_strv_length((char **) columns), serial, body, writer.used);
}

void
answer_put_rows(GByteArray *answer, guint32 serial, guint n_columns, guint n_rows, const QwValue *values)
{
    gsize capacity = 64;
    g_autofree guint8 *buffer = NULL;
    QwPageWriter writer;

    for (guint i = 0; i < n_columns * n_rows; i++)
        capacity += 64 + (qw_type_has_nul(values[i].type) || values[i].type == QW_TYPE_BLOB
                              ? values[i].n_bytes + values[i].n_tag_bytes
                              : 0);
    capacity += n_rows * 16;
    buffer = g_malloc(capacity);
    qw_page_writer_init(&writer, buffer, capacity, n_columns);
    for (guint row = 0; row < n_rows; row++) {
        g_assert_cmpint(qw_row_begin(&writer), ==, 0);
        for (guint i = 0; i < n_columns; i++)
            g_assert_cmpint(qw_row_put_value(&writer, &values[row * n_columns + i]), ==, 0);
        g_assert_cmpint(qw_row_end(&writer), ==, 0);
    }
    answer_put(answer, QW_KIND_ROWS, n_rows, serial, buffer + QW_HEADER_SIZE, writer.used - QW_HEADER_SIZE);
}

void
answer_put_end(GByteArray *answer, guint32 serial, const QwEnd *end)
{
    guint8 body[QW_END_BODY_SIZE];

    qw_end_encode(end, body);
    answer_put(answer, QW_KIND_END, 0, serial, body, sizeof body);
}

void
answer_put_error(GByteArray *answer, guint32 serial, QwError code, guint line, guint column, const char *message)
{
    guint8 body[1024];
    QwBodyWriter writer = { .data = body, .capacity = sizeof body };

    qw_error_put(
        &writer,
        &(QwErrorBody){
            .code = code, .line = line, .column = column, .message = message, .n_message_bytes = (guint32) strlen(message) });
    answer_put(answer, QW_KIND_ERROR, 0, serial, body, writer.used);
}

GByteArray *
answer_new_integers(guint32 prepare_serial, guint32 fetch_serial, guint n_rows)
{
    GByteArray *answer = g_byte_array_new();

    if (prepare_serial != 0)
        answer_put_schema(answer, prepare_serial, (const char *const[]){ "a", NULL }, NULL);
    for (guint i = 0; i < n_rows; i++)
        answer_put_rows(answer, fetch_serial, 1, 1, &(QwValue) INTEGER_VALUE(i));
    answer_put_end(answer, fetch_serial, &(QwEnd){ .n_rows = n_rows, .generation = 7, .elapsed_usec = 9 });
    return answer;
}
