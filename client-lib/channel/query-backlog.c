/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A queue of records, each in memory or at a place of the file.
 */
#include "client-lib/channel/query-backlog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "client-lib/core/query-error.h"

typedef struct Item {
    QueryRecord record; /* its body is `data`, or NULL while it is in the file */
    guint8 *data;       /* (owned) (nullable) */
    guint64 offset;     /* in the file */
} Item;

struct QueryBacklog {
    GQueue items;  /* of Item */
    Item *current; /* (owned) (nullable): what was taken last */
    GError *failure;
    int fd; /* -1: no file yet */
    guint64 file_bytes;
};

/* Of all backlogs of the process. */
static gsize memory_in_use; /* atomic */
static gsize file_in_use;   /* atomic */

QueryBacklog *
query_backlog_new(void)
{
    QueryBacklog *self = g_new0(QueryBacklog, 1);

    g_queue_init(&self->items);
    self->fd = -1;
    return self;
}

static void
item_free(gpointer data)
{
    Item *item = data;

    if (item == NULL)
        return;
    if (item->data != NULL && item->record.body == item->data) /* not what was read back from the file */
        (void) __atomic_sub_fetch(&memory_in_use, item->record.n_bytes, __ATOMIC_RELAXED);
    g_free(item->data);
    g_free(item);
}

void
query_backlog_free(QueryBacklog *self)
{
    if (self == NULL)
        return;

    g_queue_clear_full(&self->items, item_free);
    item_free(self->current);
    g_clear_error(&self->failure);
    if (self->fd >= 0)
        (void) close(self->fd);
    (void) __atomic_sub_fetch(&file_in_use, self->file_bytes, __ATOMIC_RELAXED);
    g_free(self);
}

/* FALSE: it would be more than @max. */
static gboolean
reserve(gsize *in_use, gsize n_bytes, guint64 max)
{
    if (__atomic_add_fetch(in_use, n_bytes, __ATOMIC_RELAXED) <= max)
        return TRUE;

    (void) __atomic_sub_fetch(in_use, n_bytes, __ATOMIC_RELAXED);
    return FALSE;
}

static gboolean
fail_file(const char *what, GError **error)
{
    int number = errno;
    gboolean is_full = number == ENOSPC || number == EDQUOT || number == EFBIG;

    g_set_error(error, QUERY_ERROR, is_full ? QUERY_ERROR_DISK_FULL : QUERY_ERROR_INTERNAL,
                "cannot %s a temporary file in '%s' for the rest of a result that waits while others are read: %s", what,
                g_get_tmp_dir(), g_strerror(number));
    return FALSE;
}

static gboolean
open_file(QueryBacklog *self, GError **error)
{
    g_autofree char *name = NULL;

    if (self->fd >= 0)
        return TRUE;
    self->fd = open(g_get_tmp_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (self->fd < 0) { /* a file system without them */
        name = g_build_filename(g_get_tmp_dir(), "query-client-XXXXXX", NULL);
        self->fd = g_mkstemp_full(name, O_RDWR | O_CLOEXEC, 0600);
        if (self->fd >= 0)
            (void) unlink(name);
    }
    return self->fd >= 0 || fail_file("open", error);
}

static gboolean
write_item(QueryBacklog *self, Item *item, const QueryRecord *record, GError **error)
{
    if (!reserve(&file_in_use, record->n_bytes, QUERY_BACKLOG_FILE_BYTES)) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_LIMIT_EXCEEDED,
                    "results that wait while others are read take more than %" G_GUINT64_FORMAT
                    " bytes: read them to their end, close cursors, or open fewer at once",
                    QUERY_BACKLOG_FILE_BYTES);
        return FALSE;
    }
    item->offset = self->file_bytes;
    self->file_bytes += record->n_bytes;
    if (!open_file(self, error))
        return FALSE;
    for (gsize done = 0; done < record->n_bytes;) {
        ssize_t n = pwrite(self->fd, record->body + done, record->n_bytes - done, (off_t) (item->offset + done));

        if (n < 0 && errno != EINTR)
            return fail_file("write", error);
        done += n > 0 ? (gsize) n : 0;
    }
    return TRUE;
}

gboolean
query_backlog_put(QueryBacklog *self, const QueryRecord *record, GError **error)
{
    Item *item = g_new0(Item, 1);

    item->record = *record;
    item->record.body = NULL;
    /* records in memory go before those in the file, so that a reader frees memory first; the order stays */
    if (self->fd < 0 && reserve(&memory_in_use, record->n_bytes, QUERY_BACKLOG_MEMORY_BYTES)) {
        item->data = g_memdup2(record->body, record->n_bytes);
        item->record.body = item->data;
    } else if (!write_item(self, item, record, error)) {
        item_free(item);
        return FALSE;
    }
    g_queue_push_tail(&self->items, item);
    return TRUE;
}

void
query_backlog_put_failure(QueryBacklog *self, GError *failure)
{
    g_clear_error(&self->failure);
    self->failure = failure;
}

static gboolean
read_item(QueryBacklog *self, Item *item, GError **error)
{
    item->data = g_try_malloc(item->record.n_bytes);
    if (item->data == NULL) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_NO_MEMORY, "no memory for %" G_GSIZE_FORMAT " bytes of rows",
                    item->record.n_bytes);
        return FALSE;
    }
    for (gsize done = 0; done < item->record.n_bytes;) {
        ssize_t n = pread(self->fd, item->data + done, item->record.n_bytes - done, (off_t) (item->offset + done));

        if (n == 0)
            errno = EIO;
        if (n == 0 || (n < 0 && errno != EINTR))
            return fail_file("read", error);
        done += n > 0 ? (gsize) n : 0;
    }
    return TRUE;
}

QueryBacklogResult
query_backlog_take(QueryBacklog *self, QueryRecord *ret_record, GError **error)
{
    item_free(self->current);
    self->current = g_queue_pop_head(&self->items);
    if (self->current == NULL && self->failure != NULL) {
        g_propagate_error(error, g_error_copy(self->failure));
        return QUERY_BACKLOG_FAILED;
    }
    if (self->current == NULL)
        return QUERY_BACKLOG_EMPTY;

    *ret_record = self->current->record;
    if (self->current->data == NULL && ret_record->n_bytes > 0 && !read_item(self, self->current, error))
        return QUERY_BACKLOG_FAILED;
    ret_record->body = self->current->data;
    return QUERY_BACKLOG_RECORD;
}
