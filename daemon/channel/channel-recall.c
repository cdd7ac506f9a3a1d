/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A query and the result memory: asked before the query runs, filled while its pages go out.
 *
 * A statement that was executed quickly does not ask for it before it is prepared again, or takes long.
 * Invariant: a page is copied only where it is a part of a result that becomes whole.
 */
#include <string.h>
#include <sys/socket.h>

#include "client-lib/wire/wire-whole.h"
#include "daemon/channel/channel-private.h"
#include "daemon/notify/read-set.h"
#include "daemon/read/client.h"
#include "daemon/read/pool.h"
#include "daemon/read/run.h"
#include "daemon/results/result-memory.h"
#include "daemon/runtime/context.h"

/* Longer texts and parameters are not looked for. */
#define KEY_BYTES_MAX (64 * 1024)
/* Such a result goes out at once, as one piece; a larger one is shared. */
#define RESULT_BYTES_MAX (64 * 1024)

static void
put_part(GByteArray *key, const void *data, gsize n_bytes)
{
    g_byte_array_append(key, (const guint8 *) &n_bytes, sizeof n_bytes);
    if (n_bytes > 0)
        g_byte_array_append(key, data, (guint) n_bytes);
}

static void
put_text(GByteArray *key, const char *text)
{
    put_part(key, text, text != NULL ? strlen(text) + 1 : 0);
}

static GBytes *
make_key(const QdChannel *self)
{
    const QdStatement *statement = &self->statement;
    const QdRequest *request = self->work.request;
    const uint64_t numbers[] = { statement->language, statement->execution.max_rows, statement->execution.max_bytes,
                                 self->page_size, request->count };
    GByteArray *key = g_byte_array_sized_new((guint) (sizeof numbers + statement->n_text_bytes + request->n_bytes + 64));

    put_part(key, numbers, sizeof numbers);
    put_part(key, statement->text, statement->n_text_bytes);
    put_text(key, statement->base);
    put_text(key, statement->dataset);
    put_part(key, request->body, request->n_bytes);
    return g_byte_array_free_to_bytes(key);
}

/* In a transaction the result may be another one; TinySPARQL's cursors have a form of their own. */
static gboolean
may_be_shared(const QdChannel *self)
{
    const QdStatement *statement = &self->statement;

    return !statement->execution.access_write && !statement->execution.fresh && self->transaction == NULL &&
           self->output.cursor == NULL && qd_client_shares_results(self->client) &&
           statement->n_text_bytes + self->work.request->n_bytes <= KEY_BYTES_MAX;
}

void
qd_channel_drop_fill(QdChannel *self)
{
    g_clear_pointer(&self->work.fill.key, g_bytes_unref);
    g_clear_pointer(&self->work.fill.pages, g_byte_array_unref);
    if (self->work.fill.file != NULL)
        qd_result_memory_give_shared(self->context->results, qd_sealed_pages_get_size(self->work.fill.file));
    g_clear_pointer(&self->work.fill.file, qd_sealed_pages_unref);
}

/* WHOLE with its descriptor, and END. FALSE: nothing was sent. */
static gboolean
send_whole(const QdChannel *self, const QdRememberedResult *result, const QwEnd *end)
{
    const QwWhole whole = { .n_bytes = qd_sealed_pages_get_size(result->file), .n_rows = result->n_rows };
    int fd = qd_sealed_pages_get_fd(result->file);
    uint8_t whole_body[QW_WHOLE_BODY_SIZE];
    uint8_t end_body[QW_END_BODY_SIZE];
    uint8_t records[2 * QW_HEADER_SIZE + QW_WHOLE_BODY_SIZE + QW_END_BODY_SIZE];
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    struct iovec iov = { .iov_base = records };
    struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control };
    struct cmsghdr *cmsg = CMSG_FIRSTHDR(&message);

    qw_whole_encode(&whole, whole_body);
    qw_end_encode(end, end_body);
    iov.iov_len = qw_record_encode(records, QW_KIND_WHOLE, 0, self->work.request->serial, whole_body, sizeof whole_body);
    iov.iov_len += qw_record_encode(records + iov.iov_len, QW_KIND_END, 0, self->work.request->serial, end_body, sizeof end_body);
    *cmsg = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd) };
    memcpy(CMSG_DATA(cmsg), &fd, sizeof fd);
    return sendmsg(self->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t) iov.iov_len;
}

static void
put_pages(QdChannel *self, const QdRememberedResult *result, const QwEnd *end)
{
    gsize n_bytes;
    const uint8_t *data = g_bytes_get_data(result->pages, &n_bytes);
    const uint32_t serial = self->work.request->serial;

    for (gsize at = 0; at < n_bytes;) {
        QwHeader header;

        if (qw_header_decode(data + at, self->page_size, QW_TO_CLIENT, &header) < 0)
            g_assert_not_reached(); /* our own page, of this size */
        qd_channel_put_record(self, QW_KIND_ROWS, header.count, serial, data + at + QW_HEADER_SIZE, header.size - QW_HEADER_SIZE);
        at += header.size;
    }
    qd_channel_put_end(self, end, serial);
}

/* FALSE: it cannot be sent so. */
static gboolean
answer(QdChannel *self, const QdRememberedResult *result, uint64_t generation)
{
    QwEnd end = { .n_rows = result->n_rows,
                  .generation = generation,
                  .elapsed_usec = (uint64_t) g_get_monotonic_time() - self->work.request->received_usec };

    /* a SCHEMA may wait in the buffer, which send_whole() goes around */
    if (result->file != NULL && (!self->whole_results || qd_channel_flush(self) != 1 || !send_whole(self, result, &end)))
        return FALSE;
    __atomic_add_fetch(&self->context->counters.n_rows, result->n_rows, __ATOMIC_RELAXED);
    qd_channel_discharge_whole_request(self, self->work.request);
    if (result->file == NULL)
        put_pages(self, result, &end);
    qd_registry_remove(self->context->registry, &self->entry);
    if (qd_channel_flush(self) < 0)
        qd_channel_note_peer(self, QD_PEER_GONE);
    qd_channel_end_request(self);
    return TRUE;
}

/* NULL: what it reads is not known, or it is everything. */
static QdReadSet *
find_reads(const QdChannel *self)
{
    const QdStatement *statement = &self->statement;
    const QdLimits *limits = &self->context->limits;
    QdReader *reader = qd_pool_lease(self->context->pool, self->client, self->work.last_reader, NULL);
    g_autoptr(QdReadSet) reads = NULL;
    g_autofree char *text = NULL;

    if (reader == NULL)
        return NULL;
    text = g_strndup(statement->text, statement->n_text_bytes);
    if (statement->language == QD_LANGUAGE_SPARQL)
        reads = qd_read_set_new_for_sparql(reader->connection, text, statement->base, NULL, limits, NULL);
    else
        reads = qd_read_set_new_for_sql(reader->connection, text, limits, NULL);
    qd_pool_release(self->context->pool, reader);
    if (reads != NULL && !reads->is_sparql && qd_name_set_is_all(reads->tables))
        return NULL;
    return g_steal_pointer(&reads);
}

/* While others wait it is no time for that. */
static gboolean
may_keep(const QdChannel *self, QdRecall recall)
{
    guint64 number = qd_result_memory_get_number(self->context->results);
    g_autoptr(QdReadSet) reads = NULL;

    if (qd_workers_has_waiting(self->context->workers))
        return FALSE;
    if (recall == QD_RECALL_NOTED) {
        reads = find_reads(self);
        return qd_result_memory_watch(self->context->results, self->work.fill.key, number, reads);
    }
    return recall == QD_RECALL_WORTHY;
}

gboolean
qd_channel_recall(QdChannel *self)
{
    QdResultMemory *memory = self->context->results;
    uint64_t generation = qd_writer_get_generation(self->context->writer);
    g_auto(QdRememberedResult) result = { 0 };
    QdResultKey key = { .signature = self->statement.signature };
    QdRecall recall;

    qd_channel_drop_fill(self);
    if (!may_be_shared(self) || (self->statement.pace == QD_PACE_UNKNOWN && !qd_result_memory_may_have(memory)))
        return FALSE;

    key.bytes = self->work.fill.key = make_key(self);
    recall = qd_result_memory_recall(memory, &key, &result);
    if (recall == QD_RECALL_FOUND) {
        qd_channel_drop_fill(self);
        return answer(self, &result, generation);
    }
    if (recall != QD_RECALL_NOTHING) /* what is kept has begun after the number was read */
        self->work.prepared = qd_run_free(self->work.prepared);
    if (may_keep(self, recall))
        self->work.fill.pages = g_byte_array_new();
    self->work.fill.number = qd_result_memory_get_number(memory);
    return FALSE;
}

/* In shared memory, which takes time from others: not while they wait. Returns: whether it was */
static gboolean
fill_file(QdChannel *self, const uint8_t *data, gsize n_bytes)
{
    QdResultMemory *memory = self->context->results;
    QdChannelFill *fill = &self->work.fill;

    if (fill->file == NULL)
        fill->file = qd_sealed_pages_new();
    if (fill->file == NULL || qd_workers_has_waiting(self->context->workers))
        return FALSE;
    if (!qd_result_memory_take_shared(memory, n_bytes)) { /* it is too large */
        (void) qd_result_memory_watch(memory, fill->key, 0, NULL);
        return FALSE;
    }
    if (qd_sealed_pages_append(fill->file, data, n_bytes))
        return TRUE;
    qd_result_memory_give_shared(memory, n_bytes);
    return FALSE;
}

void
qd_channel_fill_page(QdChannel *self, const uint8_t *record, gsize size)
{
    GByteArray *pages = self->work.fill.pages;
    gboolean is_small = pages->len + size <= MIN(RESULT_BYTES_MAX, qd_result_memory_get_room(self->context->results));

    if (self->work.fill.file == NULL && is_small) {
        g_byte_array_append(pages, record, (guint) size);
        return;
    }
    if (!self->whole_results || (pages->len > 0 && !fill_file(self, pages->data, pages->len)) || !fill_file(self, record, size))
        qd_channel_drop_fill(self);
    else
        g_byte_array_set_size(pages, 0);
}

void
qd_channel_remember(QdChannel *self, uint64_t cost_usec)
{
    QdResultMemory *memory = self->context->results;
    const QdShape shape = qd_run_get_shape(self->work.run);
    gboolean is_dear = cost_usec >= qd_limits_get(&self->context->limits, QD_LIMIT_RESULT_MEMORY_COST_USEC);
    QdRememberedResult result = { .n_rows = qd_run_get_n_rows(self->work.run),
                                  .signature = self->statement.signature,
                                  .cost_usec = cost_usec };

    self->statement.pace = !is_dear || !shape.is_stable ? QD_PACE_QUICK : QD_PACE_LONG;
    if (self->statement.pace == QD_PACE_QUICK || !may_be_shared(self))
        return;
    if (self->work.fill.pages == NULL) {
        if (self->work.fill.key == NULL)
            self->work.fill.key = make_key(self);
        qd_result_memory_note(memory, self->work.fill.key);
        return;
    }
    if (self->work.fill.file != NULL && !qd_sealed_pages_seal(self->work.fill.file))
        return;
    result.file = g_steal_pointer(&self->work.fill.file);
    if (result.file == NULL)
        result.pages = g_byte_array_free_to_bytes(g_steal_pointer(&self->work.fill.pages));
    qd_result_memory_keep(memory, self->client, self->work.fill.key, self->work.fill.number, &result);
    qd_remembered_result_clear(&result);
}
