/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * StorePayload, ReplacePayload, DeletePayload, OpenPayload: content comes and goes by descriptors.
 *
 * Content is read, and if it is large synced, before its row waits for the writer. So a slow disk or a stalled pipe delays no
 * other client.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/call/call-classes.h"
#include "daemon/call/call-descriptor.h"
#include "daemon/call/call-private.h"
#include "daemon/notify/changes.h"
#include "daemon/payload/payload-draft.h"
#include "daemon/payload/payload.h"
#include "daemon/read/pool.h"
#include "daemon/runtime/context.h"
#include "daemon/runtime/registry.h"
#include "daemon/store/database.h"

#define BUFFER_BYTES (256 * 1024)
/* A larger one is synced before it takes its turn; smaller ones together with their group, which costs fewer waits for the disk. */
#define GROUP_SYNC_BYTES (1024 * 1024)
/* Between two looks at the free space of the disk. */
#define SPACE_CHECK_BYTES (16 * 1024 * 1024)

/* Reading --------------------------------------------------------------------------------------------------------------- */

static gboolean
check_source(QdCall *call, struct stat *ret_st, GError **error)
{
    int flags = fcntl(call->fd, F_GETFL);

    if (!qd_call_check_descriptor(call, error))
        return FALSE;
    if (flags >= 0 && (flags & O_ACCMODE) != O_WRONLY && (flags & O_PATH) == 0 && fstat(call->fd, ret_st) == 0)
        return TRUE;

    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "source is not a descriptor that is open for reading");
    return FALSE;
}

/* A file is read from its start, and the caller's offset stays; what cannot be sought, from where it is. */
static gssize
read_piece(QdCall *call, gboolean regular, char *buffer, uint64_t offset, GError **error)
{
    ssize_t n;

    if (!regular)
        return qd_call_read_descriptor(call, buffer, BUFFER_BYTES, error);
    if (qd_call_is_cancelled(call, error))
        return -1;
    do
        n = pread(call->fd, buffer, BUFFER_BYTES, (off_t) offset);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        qd_error_set_errno(error, errno, "cannot read from the descriptor");
    return n;
}

static void
read_payload(QdCall *call, GError **error)
{
    QdContext *context = call->private->context;
    g_autoptr(QdPayloadDraft) draft = NULL;
    g_autofree char *buffer = NULL;
    struct stat st;
    gssize n = 1;

    if (!check_source(call, &st, error))
        return;
    if (qd_database_is_read_only(context->database)) {
        qd_error_set(error, QW_ERROR_READ_ONLY, "store '%s' cannot be written%s", context->directory,
                     qd_database_get_read_only_hint(context->database));
        return;
    }

    draft = qd_payload_draft_new(qd_payloads_get_files(context->payloads), &context->limits);
    draft->relaxed = call->options.execution.relaxed_durability;
    if (S_ISREG(st.st_mode))
        qd_payload_draft_adopt(draft, call->fd, (uint64_t) st.st_size);
    buffer = g_malloc(BUFFER_BYTES);
    while (n > 0) {
        if (draft->size % SPACE_CHECK_BYTES < BUFFER_BYTES &&
            !qd_database_check_free_space(context->database, &context->limits, error))
            return;
        n = read_piece(call, S_ISREG(st.st_mode), buffer, draft->size, error);
        if (n < 0 || !qd_payload_draft_append(draft, buffer, (gsize) n, error))
            return;
    }
    qd_payload_draft_finish(draft);
    if (!call->options.execution.relaxed_durability && draft->size > GROUP_SYNC_BYTES && !qd_payload_draft_sync(draft, error))
        return;

    call->result.n_bytes = draft->size;
    call->private->draft = g_steal_pointer(&draft);
}

/* Writing --------------------------------------------------------------------------------------------------------------- */

static void
set_missing(int64_t id, GError **error)
{
    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "there is no payload %" G_GINT64_FORMAT, id);
}

static gboolean
note_row(QdWriteItem *item)
{
    item->outcome.changes = 1;
    qd_changes_add_table(item->outcome.changed, QD_PAYLOAD_TABLE);
    return TRUE;
}

static gboolean
store_row(QdConnection *connection, QdWriteItem *item, void *user_data, GError **error)
{
    QdCall *call = user_data;

    return qd_payload_store(connection, call->private->draft, call->options.media_type, &call->payload_id, error) && note_row(item);
}

static gboolean
replace_row(QdConnection *connection, QdWriteItem *item, void *user_data, GError **error)
{
    QdCall *call = user_data;

    return qd_payload_replace(connection, call->payload_id, call->private->draft, call->options.media_type, error) &&
           note_row(item);
}

static gboolean
delete_row(QdConnection *connection, QdWriteItem *item, void *user_data, GError **error)
{
    QdCall *call = user_data;
    gboolean deleted = FALSE;

    if (!qd_payload_delete(connection, call->payload_id, &deleted, error))
        return FALSE;
    if (!deleted) {
        set_missing(call->payload_id, error);
        return FALSE;
    }
    qd_changes_add_payload_delete(item->outcome.changed, connection, &call->private->context->limits);
    return note_row(item);
}

static void
on_written(QdWriteItem *item, QdWriterLinger *linger)
{
    QdCall *call = item->data;

    call->result.error = g_steal_pointer(&item->outcome.error);
    call->result.generation = item->outcome.generation;
    qd_call_finish(call);
}

static void
submit(QdCall *call, QdWriterFunc func)
{
    QdContext *context = call->private->context;
    QdWriteItem *item = &call->private->item;

    if (!qd_call_init_write(call, on_written, &call->result.error)) {
        qd_call_finish(call);
        return;
    }
    item->func = func;
    item->func_data = call;
    qd_registry_set_state(context->registry, &call->private->entry, "writing", FALSE);
    qd_writer_submit(context->writer, item);
}

static void
write_store(QdCall *call)
{
    submit(call, store_row);
}

static void
write_replace(QdCall *call)
{
    submit(call, replace_row);
}

static void
write_delete(QdCall *call)
{
    submit(call, delete_row);
}

#define OPTIONS (QD_TAKES(TIMEOUT) | QD_TAKES(DURABILITY))

const QdCallClass qd_store_payload_call = {
    .name = "StorePayload",
    .place = QD_CALL_ON_CREW,
    .options = OPTIONS | QD_TAKES(MEDIA_TYPE),
    .run = read_payload,
    .write = write_store,
};

const QdCallClass qd_replace_payload_call = {
    .name = "ReplacePayload",
    .place = QD_CALL_ON_CREW,
    .options = OPTIONS | QD_TAKES(MEDIA_TYPE),
    .run = read_payload,
    .write = write_replace,
};

const QdCallClass qd_delete_payload_call = { .name = "DeletePayload", .options = OPTIONS, .write = write_delete };

/* Opening --------------------------------------------------------------------------------------------------------------- */

/* Sealed: the caller can map it without fear. */
static int
make_memory_file(const void *data, gsize n_bytes, GError **error)
{
    g_auto(QdFd) fd = memfd_create("queryd-payload", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0 || !qd_fd_write_all(fd, data, n_bytes) || lseek(fd, 0, SEEK_SET) < 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0) {
        qd_error_set_errno(error, errno, "cannot make a memory file for a payload");
        return -1;
    }
    return g_steal_fd(&fd);
}

/* A sandboxed caller owns the file as much as we do, and could make it writable: it gets a copy. */
static int
copy_file(QdCall *call, int fd, uint64_t size, GError **error)
{
    const QdLimits *limits = &call->private->context->limits;
    g_autofree char *data = NULL;

    if (size > qd_limits_get(limits, QD_LIMIT_VALUE_BYTES)) {
        qd_limit_set_error(error, limits, QD_LIMIT_VALUE_BYTES, "payload is too big for a sandboxed application");
        return -1;
    }
    data = g_malloc(MAX(size, 1));
    if (pread(fd, data, size, 0) != (ssize_t) size) {
        qd_error_set(error, QW_ERROR_CORRUPT, "cannot read the file of a payload");
        return -1;
    }
    return make_memory_file(data, size, error);
}

static int
open_payload(QdCall *call, QdConnection *connection, int64_t id, GError **error)
{
    g_autoptr(GError) failure = NULL;
    g_autoptr(GBytes) content = NULL;
    g_auto(QdFd) fd = -1;
    QdPayloadInfo info;

    if (!qd_payload_read(connection, id, &info, &content, &fd, &failure)) {
        if (failure != NULL)
            g_propagate_error(error, g_steal_pointer(&failure));
        else
            set_missing(id, error);
        return -1;
    }
    if (content != NULL)
        return make_memory_file(g_bytes_get_data(content, NULL), g_bytes_get_size(content), error);
    if (qd_client_is_sandboxed(call->client))
        return copy_file(call, fd, info.size, error);
    return g_steal_fd(&fd);
}

static void
fd_clear(gpointer data)
{
    (void) qd_fd_close(*(int *) data);
}

static void
open_payloads(QdCall *call, GError **error)
{
    QdContext *context = call->private->context;
    QdReader *reader = qd_pool_lease(context->pool, call->client, NULL, error);

    if (reader == NULL)
        return;
    call->result.payload_fds = g_array_new(FALSE, FALSE, sizeof(int));
    g_array_set_clear_func(call->result.payload_fds, fd_clear);
    for (guint i = 0; i < call->payload_ids->len; i++) {
        int fd = open_payload(call, reader->connection, g_array_index(call->payload_ids, int64_t, i), error);

        if (fd < 0)
            break;
        g_array_append_val(call->result.payload_fds, fd);
    }
    qd_pool_release(context->pool, reader);
}

const QdCallClass qd_open_payloads_call = { .name = "OpenPayload", .reads = TRUE, .run = open_payloads };
