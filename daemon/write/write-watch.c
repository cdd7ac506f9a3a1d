/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What may end a statement on the writer's connection; the role has one user at a time.
 */
#include "daemon/write/write-watch.h"

#include "daemon/base/error.h"
#include "daemon/base/interrupt.h"
#include "daemon/read/client.h"
#include "daemon/read/evaluation.h"
#include "daemon/runtime/workers.h"
#include "daemon/sqlite/connection.h"
#include "daemon/sqlite/vfs/temp-files.h"
#include "daemon/write/write-group.h"
#include "daemon/write/writer-private.h"
#include "daemon/write/writer.h"

#define PEER_CHECK_USEC 10000
/* After so many times as many operations, 0.1-1 ms, an item takes its time. */
#define SLOW_ASKED 50
/* A member that takes longer than this is put off if others wait for its end to be committed. It comes again, as the first
 * one. */
#define PUT_OFF_USEC 20000

static gboolean
is_cancelled(const QdWriteItem *item)
{
    return (item->cancelled != NULL && g_atomic_int_get(item->cancelled)) || g_atomic_int_get(&item->is_cancelled);
}

static uint64_t
get_transaction_end(const QdWriteItem *item)
{
    return item->transaction_end_usec != NULL ? __atomic_load_n(item->transaction_end_usec, __ATOMIC_RELAXED) : UINT64_MAX;
}

static uint64_t
get_deadline(const QdWriteItem *item)
{
    uint64_t begin_usec = item->times.submitted_usec > 0 ? item->times.submitted_usec
                                                         : item->times.begun_usec - item->times.waited_usec;

    return item->times.timeout_msec > 0 ? begin_usec + 1000 * item->times.timeout_msec : 0;
}

/* Deadline and cancelling. TRUE: *@ret_end says which. Any thread. */
static gboolean
find_item_end(const QdWriter *self, const QdWriteItem *item, uint64_t deadline_usec, uint64_t now, GError **ret_end)
{
    if (is_cancelled(item))
        qd_error_set(ret_end, QW_ERROR_CANCELLED, "update was cancelled");
    else if (now > get_transaction_end(item))
        qd_limit_set_error(ret_end, self->config.limits, QD_LIMIT_TRANSACTION_MSEC, "update took longer than its transaction may");
    else if (deadline_usec > 0 && now > deadline_usec)
        qd_error_set(ret_end, QW_ERROR_TIMEOUT,
                     "update took longer than its %" G_GUINT64_FORMAT " ms ('update_timeout_ms' or the caller's 'timeout_ms')",
                     item->times.timeout_msec);
    else
        return FALSE;
    return TRUE;
}

static gboolean
find_end(const QdWriteWatch *self, uint64_t now, GError **ret_end)
{
    return find_item_end(self->writer, self->item, self->deadline_usec, now, ret_end);
}

static void
find_stop(QdWriteWatch *self, uint64_t now)
{
    if (self->stop == NULL)
        (void) find_end(self, now, &self->stop);
}

/* The item takes its time: those whose answers are out are left to others, and an item that waits hears of its own deadline.
 * Returns: true when it has to make way. */
static gboolean
note_slow(const QdWriteWatch *self)
{
    QdWriter *writer = self->writer;

    qd_write_end_linger(writer);
    (void) qd_writer_sweep(writer);
    if (writer->group.n_ahead > 0 && (uint64_t) g_get_monotonic_time() > self->item->times.begun_usec + PUT_OFF_USEC)
        writer->group.put_off = self->item;
    return writer->group.put_off == self->item || qd_writer_is_awaited(writer);
}

static gboolean
look(void *data)
{
    QdWriteWatch *self = data;
    uint64_t now = (uint64_t) g_get_monotonic_time();

    if (self->stop != NULL)
        return TRUE;
    if (self->item->peer_func != NULL && now >= self->peer_check_usec) {
        self->peer_check_usec = now + PEER_CHECK_USEC;
        self->item->peer_func(self->item);
    }
    find_stop(self, now);
    if (self->is_job)
        return self->stop != NULL;
    if (self->stop == NULL && note_slow(self))
        qd_limit_set_error(&self->stop, self->writer->config.limits, QD_LIMIT_TRANSACTION_MSEC,
                           "update took longer than it may while others wait to write");
    if (self->stop == NULL)
        (void) qd_temp_files_check(self->writer->config.limits, &self->memory, &self->stop);
    return self->stop != NULL;
}

static int
on_progress(void *data)
{
    QdWriteWatch *self = data;

    if (++self->n_asked == SLOW_ASKED && !self->is_job)
        (void) note_slow(self);
    return qd_interrupt_poll();
}

/* On the thread that ticks. */
static gboolean
item_is_over(void *data, uint64_t now)
{
    QdWriteWatch *self = data;

    if (self->item->finds_cancel != NULL && now >= self->cancel_check_usec) {
        self->cancel_check_usec = now + PEER_CHECK_USEC;
        if (self->item->finds_cancel(self->item))
            g_atomic_int_set(&self->item->is_cancelled, TRUE);
    }
    return now > get_transaction_end(self->item) || (self->deadline_usec > 0 && now > self->deadline_usec) ||
           is_cancelled(self->item);
}

/* On the thread that ticks: qd_write_watch_end() comes before or after all of it. */
static void
tell(void *data, uint64_t now)
{
    QdWriteWatch *self = data;
    QdWriteItem *item = self->item;
    g_autoptr(GError) error = NULL;

    qd_workers_request_sweep(self->writer->config.workers); /* others' updates wait, and may be late, too */
    if (item->tell != NULL && find_end(self, now, &error) && item->tell(item, error) && item->told == NULL)
        item->told = g_steal_pointer(&error);
}

/* @tells: the caller may be answered before it comes back. */
static void
begin(QdWriter *self, QdWriteItem *item, gboolean is_job, gboolean tells)
{
    QdWriteWatch *watch = &self->watch;

    if (item->times.begun_usec == 0)
        item->times.begun_usec = (uint64_t) g_get_monotonic_time();
    *watch = (QdWriteWatch){
        .watch = { .interrupt = { .look = look, .data = watch },
                   .is_over = item_is_over,
                   .progress = on_progress,
                   .memory = &watch->memory },
        .memory = { .account = is_job ? NULL : qd_client_get_memory(item->client) },
        .writer = self,
        .item = item,
        .is_job = is_job,
        .deadline_usec = get_deadline(item),
    };
    watch->watch.tell = tells ? tell : NULL;
    item->watch = watch;
    qd_evaluation_begin_watch(self->connection, &watch->watch);
    qd_connection_set_compile_end(self->connection, watch->deadline_usec, item->times.timeout_msec);
}

gboolean
qd_write_watch_begin_ends(QdWriter *self, GError **error)
{
    QdWriteItem *item = self->begins;
    /* a job has no time before it has begun */
    uint64_t deadline_usec = item->times.submitted_usec > 0 ? get_deadline(item) : 0;

    qd_write_end_linger(self);
    (void) qd_writer_sweep(self);
    if (item->finds_cancel != NULL && item->finds_cancel(item))
        g_atomic_int_set(&item->is_cancelled, TRUE);
    return find_item_end(self, item, deadline_usec, (uint64_t) g_get_monotonic_time(), error);
}

void
qd_write_watch_begin(QdWriter *self, QdWriteItem *item, gboolean is_job)
{
    begin(self, item, is_job, !item->runs_alone); /* as VACUUM, which commits by itself */
}

void
qd_write_watch_begin_commit(QdWriter *self, QdWriteItem *item)
{
    begin(self, item, TRUE, FALSE);
}

void
qd_write_watch_end(QdWriter *self)
{
    QdWriteWatch *watch = &self->watch;

    qd_connection_set_compile_end(self->connection, 0, 0);
    qd_evaluation_end_watch(self->connection, &watch->watch);
    qd_memory_release_use(&watch->memory);
    g_clear_error(&watch->stop);
    watch->item->watch = NULL;
    watch->item = NULL;
}

gboolean
qd_write_watch_get_stop(QdWriteWatch *self, gboolean interrupted, GError **error)
{
    if (self == NULL)
        return FALSE;
    if (interrupted)
        find_stop(self, (uint64_t) g_get_monotonic_time());
    if (self->stop == NULL)
        return FALSE;
    g_propagate_error(error, g_error_copy(self->stop));
    return TRUE;
}

gboolean
qd_write_watch_check(QdWriter *self, GError **error)
{
    if (!self->watch.watch.interrupt.was_forced)
        return TRUE;
    if (!qd_write_watch_get_stop(&self->watch, TRUE, error))
        qd_error_set(error, QW_ERROR_CANCELLED, "update was cancelled");
    return FALSE;
}
