/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Setting a cursor aside: what is left of its result is read into a backlog, and its channel or snapshot becomes free.
 *
 * Place: internal to libquery-client; the part of a cursor that another thread than its own may run.
 * Invariant: the thread has claimed the cursor, which is not pinned then, as it is during each of its own calls. The current row
 * stays where it is: its page is taken out of the channel, and belongs to the cursor until it moves on.
 */
#include <poll.h>

#include "client-lib/core/query-error.h"
#include "client-lib/direct/query-direct.h"
#include "client-lib/query-connection-private.h"
#include "client-lib/query-cursor-private.h"

/* A result of which nothing comes for so long is one that is being computed: others are faster to have. */
#define PATIENCE_MSEC 10

static gboolean
is_readable_soon(int fd)
{
    struct pollfd fds = { .fd = fd, .events = POLLIN };

    return poll(&fds, 1, PATIENCE_MSEC) > 0;
}

/* Its END or ERROR has come: the channel is idle. */
static gboolean
is_last(const QueryRecord *record)
{
    return record->kind == QW_KIND_END || record->kind == QW_KIND_ERROR;
}

/* DONE: the result is whole, and the channel idle. WANT_READ: some of it is still to come. */
static QueryIo
read_rest(QueryCursor *self, gint64 deadline_usec)
{
    GError *failure = NULL;
    QueryIo io = QUERY_IO_DONE;

    while (io == QUERY_IO_DONE) {
        QueryRecord record;

        io = query_channel_receive(self->channel, &record, &failure);
        if (io == QUERY_IO_WANT_READ && g_get_monotonic_time() < deadline_usec &&
            is_readable_soon(query_channel_get_fd(self->channel))) {
            io = QUERY_IO_DONE;
            continue;
        }
        if (io == QUERY_IO_DONE && !query_backlog_put(self->backlog, &record, &failure))
            io = QUERY_IO_FAILED;
        if (io == QUERY_IO_DONE && record.kind != QW_KIND_ROWS) /* the cursor judges it */
            return is_last(&record) ? QUERY_IO_DONE : QUERY_IO_FAILED;
        if (io == QUERY_IO_DONE && g_get_monotonic_time() >= deadline_usec)
            return QUERY_IO_WANT_READ;
    }
    if (failure != NULL)
        query_backlog_put_failure(self->backlog, failure);
    return io;
}

static void
detach_page(QueryCursor *self)
{
    if (self->page_in_source)
        query_channel_detach_page(self->channel, self->kept, &self->kept_whole);
    self->page_in_source = FALSE;
}

static gboolean
set_aside_channel(QueryCursor *self, gint64 deadline_usec)
{
    QueryPool *pool = query_connection_get_pool(self->connection);
    g_autoptr(QueryChannel) channel = NULL;
    QueryIo io;

    detach_page(self);
    io = read_rest(self, deadline_usec);
    if (io == QUERY_IO_WANT_READ)
        return FALSE;

    channel = g_steal_pointer(&self->channel);
    if (io == QUERY_IO_DONE && self->opener.object != NULL)
        query_pool_give_wanted(pool, g_steal_pointer(&channel));
    else if (io == QUERY_IO_DONE)
        query_pool_give(pool, g_steal_pointer(&channel));
    return TRUE;
}

static gboolean
set_aside_direct(QueryCursor *self, gint64 deadline_usec)
{
    QueryDirectResult result = QUERY_DIRECT_WORK;
    guint8 body[QW_END_BODY_SIZE];
    GError *failure = NULL;

    if (self->page_in_source)
        self->kept[0] = query_direct_run_detach_page(self->direct);
    self->page_in_source = FALSE;
    while (result == QUERY_DIRECT_WORK || result == QUERY_DIRECT_ROWS) {
        QwPageReader reader;
        QwEnd end;

        result = query_direct_run_take(self->direct, &reader, &end, &failure);
        if (result == QUERY_DIRECT_ROWS) {
            const QueryRecord rows = { QW_KIND_ROWS, reader.n_rows_left, self->serial, reader.data, reader.n_bytes };

            result = query_backlog_put(self->backlog, &rows, &failure) ? QUERY_DIRECT_ROWS : QUERY_DIRECT_FAILED;
        } else if (result == QUERY_DIRECT_END) {
            const QueryRecord last = { QW_KIND_END, 0, self->serial, body, sizeof body };

            qw_end_encode(&end, body);
            result = query_backlog_put(self->backlog, &last, &failure) ? QUERY_DIRECT_END : QUERY_DIRECT_FAILED;
        } else if (result == QUERY_DIRECT_WORK) {
            if (g_get_monotonic_time() >= deadline_usec)
                return FALSE;
            query_direct_run_work(self->direct, NULL);
        }
    }
    if (result == QUERY_DIRECT_FAILED)
        query_backlog_put_failure(self->backlog, failure);
    g_clear_pointer(&self->direct, query_direct_run_unref);
    return TRUE;
}

gboolean
query_cursor_set_aside(gpointer owner, gint64 deadline_usec)
{
    QueryCursor *self = owner;
    gboolean done;

    if (self->channel == NULL && self->direct == NULL)
        return FALSE;

    if (self->backlog == NULL)
        self->backlog = query_backlog_new();
    done = self->direct != NULL ? set_aside_direct(self, deadline_usec) : set_aside_channel(self, deadline_usec);
    if (done)
        query_held_remove(&self->held);
    return done;
}

/* Of a transaction's time. By default the daemon ends one that makes no request for 5 s (transaction_idle_ms). */
#define KEEP_MAX_USEC (3 * G_USEC_PER_SEC)

/* An update has been executed: its rows are there, and come. */
static gboolean
keep_record(QueryCursor *self, const QueryRecord *record, gint64 deadline_usec, GError **failure)
{
    if (is_last(record) || self->opener.is_update || g_get_monotonic_time() < deadline_usec)
        return query_backlog_put(self->backlog, record, failure);
    g_set_error(failure, QUERY_ERROR, QUERY_ERROR_LIMIT_EXCEEDED,
                "the rest of this result took more than %d s to read before the next call of its transaction: read results to "
                "their end, or close their cursors",
                (int) (KEEP_MAX_USEC / G_USEC_PER_SEC));
    return FALSE;
}

/* FALSE with @error: the wait has ended. TRUE: *@ret_last is the last record, of ROWS if the channel is of no more use. */
static gboolean
read_all(QueryCursor *self, QueryRecord *ret_last, GCancellable *cancellable, GError **error)
{
    GError *failure = NULL;
    gboolean is_kept = TRUE; /* while there is room and time for it */
    gint64 deadline_usec = g_get_monotonic_time() + KEEP_MAX_USEC;
    QueryIo io = QUERY_IO_DONE;

    *ret_last = (QueryRecord){ .kind = QW_KIND_ROWS };
    while (io != QUERY_IO_FAILED && ret_last->kind == QW_KIND_ROWS) {
        QueryRecord record;

        io = query_channel_receive(self->channel, &record, is_kept ? &failure : NULL);
        if (io == QUERY_IO_WANT_READ && !query_channel_wait(self->channel, io, cancellable, error))
            return FALSE;
        if (io != QUERY_IO_DONE)
            continue;
        *ret_last = record;
        if (is_kept && !keep_record(self, &record, deadline_usec, &failure)) {
            is_kept = FALSE;
            io = self->opener.is_update || query_cursor_send_cancel(self) ? QUERY_IO_DONE : QUERY_IO_FAILED;
        }
    }
    if (failure != NULL)
        query_backlog_put_failure(self->backlog, failure);
    return TRUE;
}

gboolean
query_cursor_leave_transaction(QueryCursor *self, gint64 *last_insert_rowid, GCancellable *cancellable, GError **error)
{
    g_autoptr(GObject) transaction = NULL;
    QueryRecord last;
    QwEnd end;

    if (self->backlog == NULL)
        self->backlog = query_backlog_new();
    detach_page(self);
    if (!read_all(self, &last, cancellable, error))
        return FALSE;

    if (last.kind == QW_KIND_END && self->opener.is_update && qw_end_decode(last.body, last.n_bytes, &end) == 0)
        *last_insert_rowid = end.last_insert_rowid;
    if (!is_last(&last))
        g_clear_pointer(&self->channel, query_channel_free);
    transaction = g_steal_pointer(&self->opener.object);
    self->opener.is_transaction = FALSE;
    self->opener.take_back(transaction, self, g_steal_pointer(&self->channel));
    return TRUE;
}
