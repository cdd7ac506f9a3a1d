/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deadline, cancel, hang-up, grants that are taken back, memory, temporary files, snapshot age, slices, and the right to be long.
 */
#include "daemon/read/run-end.h"

#include "daemon/base/error.h"
#include "daemon/base/thread.h"
#include "daemon/read/client.h"
#include "daemon/read/evaluation.h"
#include "daemon/read/run.h"
#include "daemon/sqlite/vfs/temp-files.h"

#define PEER_CHECK_USEC 10000
#define TRIAL_ROOM_USEC 1000000 /* before its end, for another plan */
/* The first look is made after one or two ticks. */
#define LONG_USEC (QD_INTERRUPTER_TICK_USEC - 500)
/* Of the processor, since the first tick. What waits for a core or for a disk is not long by that. */
#define LONG_CPU_USEC (QD_INTERRUPTER_TICK_USEC / 2)
#define LONG_WAIT_USEC 200000

void
qd_run_end_init(QdRunEnd *self, const QdRunOptions *options, const QdLimits *limits)
{
    self->options = options;
    self->limits = limits;
    self->start_usec = (uint64_t) g_get_monotonic_time();
}

void
qd_run_end_begin(QdRunEnd *self, uint64_t begun_usec)
{
    self->spent_usec = begun_usec > 0 ? (uint64_t) g_get_monotonic_time() - begun_usec : 0;
    self->produced_usec = self->spent_usec;
}

void
qd_run_end_set_client(QdRunEnd *self, QdClient *client)
{
    self->memory.account = qd_client_get_memory(client);
    if (client == NULL || qd_client_get_access(client) == NULL)
        return;
    self->n_revocations = qd_client_get_n_revocations(client);
    self->client = client;
}

void
qd_run_end_clear(QdRunEnd *self)
{
    g_clear_error(&self->stop);
    qd_memory_release_use(&self->memory);
}

/* Checks ---------------------------------------------------------------------------------------------------------------- */

static uint64_t
get_transaction_end(const QdRunEnd *self)
{
    const uint64_t *end_usec = self->options->transaction_end_usec;

    return end_usec != NULL ? __atomic_load_n(end_usec, __ATOMIC_RELAXED) : UINT64_MAX;
}

static gboolean
check_times(const QdRunEnd *self, uint64_t now, GError **error)
{
    uint64_t age_msec = qd_limits_get(self->limits, QD_LIMIT_SNAPSHOT_AGE_MSEC);

    if (self->options->timeout_msec > 0 && self->produced_usec + now - self->fill_start_usec > 1000 * self->options->timeout_msec) {
        qd_error_set(error, QW_ERROR_TIMEOUT,
                     "query took longer than its %" G_GUINT64_FORMAT " ms ('query_timeout_ms' or the caller's 'timeout_ms')",
                     self->options->timeout_msec);
        return FALSE;
    }
    if (now > get_transaction_end(self)) {
        qd_limit_set_error(error, self->limits, QD_LIMIT_TRANSACTION_MSEC, "query took longer than its transaction may");
        return FALSE;
    }
    if (now > self->start_usec + 1000 * age_msec) {
        qd_limit_set_error(error, self->limits, QD_LIMIT_SNAPSHOT_AGE_MSEC, "result is too old");
        return FALSE;
    }
    return TRUE;
}

static gboolean
check_grants(const QdRunEnd *self, GError **error)
{
    return self->client == NULL || qd_client_check_kept(self->client, self->n_revocations, error);
}

static gboolean
check_cancelled(const QdRunEnd *self, gboolean gone, GError **error)
{
    gint cancelled = self->options->cancelled != NULL ? g_atomic_int_get(self->options->cancelled) : 0;

    if (cancelled == QD_CANCEL_EVICT) {
        qd_limit_set_error(error, self->limits, QD_LIMIT_WAL_BYTES,
                           "result ended, since it was the oldest and the write-ahead log is too big");
        return FALSE;
    }
    if (gone || cancelled != 0) {
        qd_error_set(error, QW_ERROR_CANCELLED, "query was cancelled");
        return FALSE;
    }
    return TRUE;
}

static gboolean
check_peer(QdRunEnd *self, uint64_t now, GError **error)
{
    gboolean gone = FALSE;

    if (self->options->peer_func != NULL && now >= self->peer_check_usec) {
        self->peer_check_usec = now + PEER_CHECK_USEC;
        gone = !self->options->peer_func(self->options->func_data);
    }
    return check_cancelled(self, gone, error);
}

static gboolean
check_memory(QdRunEnd *self, GError **error)
{
    int64_t used = qd_memory_get_use(&self->memory);

    if (used <= (int64_t) qd_limits_get(self->limits, QD_LIMIT_QUERY_MEMORY_BYTES))
        return TRUE;

    qd_limit_set_error(error, self->limits, QD_LIMIT_QUERY_MEMORY_BYTES, "query needs %" G_GINT64_FORMAT " bytes of memory", used);
    return FALSE;
}

static uint64_t
get_thread_usec(void)
{
    return qd_thread_get_cpu_usec(qd_thread_get_self());
}

/* Whether the run may begin again: nothing has come out of it, and nothing was asked outside. */
static gboolean
can_begin_again(const QdRunEnd *self)
{
    return !self->has_given_rows && !qd_evaluation_has_asked(self->connection);
}

/* TRUE: the plan has had its time without a row, and another has time enough. */
static gboolean
is_trial_over(QdRunEnd *self, uint64_t now)
{
    if (self->trial_usec == 0 || self->row_waits || !can_begin_again(self) ||
        now + TRIAL_ROOM_USEC > MIN(self->end_usec, get_transaction_end(self)))
        return FALSE;
    self->trial_over = get_thread_usec() >= self->trial_end_usec;
    return self->trial_over;
}

static gboolean
is_long(const QdRunEnd *self, uint64_t now)
{
    if (now <= self->fill_start_usec + LONG_USEC)
        return FALSE;
    return now > self->fill_start_usec + LONG_WAIT_USEC ||
           get_thread_usec() >= __atomic_load_n(&self->watch.tick_cpu_usec, __ATOMIC_RELAXED) + LONG_CPU_USEC;
}

/* TRUE: it may not go on, @self->deferred or @self->stop says how it ends. */
static gboolean
is_refused_to_be_long(QdRunEnd *self)
{
    gboolean can_defer = can_begin_again(self);

    self->noted_long = TRUE;
    switch (self->options->long_func(self->options->func_data, can_defer)) {
    case QD_LONG_GRANTED:
        return FALSE;
    case QD_LONG_DENIED:
        self->deferred = can_defer;
        return can_defer;
    case QD_LONG_REFUSED:
        self->deferred = can_defer;
        if (!can_defer)
            qd_limit_set_error(&self->stop, self->limits, QD_LIMIT_RUNNING_BESIDE,
                               "too many queries run long that cannot begin again");
        return TRUE;
    }
    g_assert_not_reached();
}

/* Not beyond its end: a thread that has slept gets a core at once, and can end in time. */
static void
rest(const QdRunEnd *self, uint64_t now)
{
    uint64_t usec = self->options->rest_func(self->options->func_data);
    uint64_t end = MIN(self->end_usec, get_transaction_end(self));

    if (usec > 0 && now < end)
        g_usleep(MIN(usec, end - now));
}

static gboolean
look(void *data)
{
    QdRunEnd *self = data;
    uint64_t now = (uint64_t) g_get_monotonic_time();

    if (self->stop != NULL || self->deferred || self->trial_over)
        return TRUE;
    if (!check_times(self, now, &self->stop) || !check_peer(self, now, &self->stop) || !check_grants(self, &self->stop) ||
        !check_memory(self, &self->stop) || !qd_temp_files_check(self->limits, &self->memory, &self->stop))
        return TRUE;

    if (now >= self->slice_end_usec)
        self->slice_over = TRUE;
    if (is_trial_over(self, now))
        return TRUE;
    /* the statements that look terms up come here, too, amid a row, when the page must stay where it is */
    if (self->options->long_func == NULL || self->row_waits)
        return FALSE;
    if (!self->noted_long)
        return is_long(self, now) && is_refused_to_be_long(self);
    if (self->options->rest_func != NULL)
        rest(self, now);
    return FALSE;
}

/* On the thread that ticks. What is said here look() finds, too, when the step has come back. */
static gboolean
is_over(void *data, uint64_t now)
{
    QdRunEnd *self = data;

    if (now > self->end_usec || now > get_transaction_end(self) ||
        (self->options->cancelled != NULL && g_atomic_int_get(self->options->cancelled) != 0) || !check_grants(self, NULL))
        return TRUE;
    if (self->options->gone_func == NULL || now < self->gone_check_usec)
        return FALSE;

    self->gone_check_usec = now + PEER_CHECK_USEC;
    return self->options->gone_func(self->options->func_data);
}

/* On the thread that ticks. A caller that has gone hears nothing. */
static void
tell(void *data, uint64_t now)
{
    QdRunEnd *self = data;
    g_autoptr(GError) error = NULL;

    if (!check_times(self, now, &error) || !check_cancelled(self, FALSE, &error) || !check_grants(self, &error))
        self->is_told = self->options->tell_func(self->options->func_data, error) || self->is_told;
}

/* Fills ----------------------------------------------------------------------------------------------------------------- */

void
qd_run_end_find(QdRunEnd *self)
{
    uint64_t now = (uint64_t) g_get_monotonic_time();

    self->peer_check_usec = 0;
    if (self->stop == NULL && !self->deferred && check_times(self, now, &self->stop) && check_peer(self, now, &self->stop))
        (void) check_grants(self, &self->stop);
}

/* When this fill has to be over, but for the transaction. */
static uint64_t
get_end_usec(const QdRunEnd *self)
{
    uint64_t end = self->start_usec + 1000 * qd_limits_get(self->limits, QD_LIMIT_SNAPSHOT_AGE_MSEC);

    if (self->options->timeout_msec > 0)
        end = MIN(end, self->fill_start_usec + 1000 * self->options->timeout_msec - self->produced_usec);
    return end;
}

gboolean
qd_run_end_begin_fill(QdRunEnd *self, uint64_t slice_usec, gboolean stepped, gboolean has_given_rows, GError **error)
{
    self->fill_start_usec = (uint64_t) g_get_monotonic_time();
    self->slice_end_usec = self->fill_start_usec + slice_usec;
    self->slice_over = FALSE;
    self->noted_long = FALSE;
    self->has_given_rows = has_given_rows;
    self->trial_end_usec = self->trial_usec > 0 ? get_thread_usec() + self->trial_usec : 0;
    /* many short fills for a reader that takes all at once: the interrupter would see none of them */
    return check_times(self, self->fill_start_usec, error) && check_grants(self, error) &&
           (!stepped || check_peer(self, self->fill_start_usec, error));
}

void
qd_run_end_begin_again(QdRunEnd *self, uint64_t trial_usec)
{
    self->trial_over = FALSE;
    self->trial_usec = trial_usec;
    self->trial_end_usec = trial_usec > 0 ? get_thread_usec() + trial_usec : 0;
    self->fill_start_usec = (uint64_t) g_get_monotonic_time();
    qd_memory_release_use(&self->memory);
}

void
qd_run_end_begin_watch(QdRunEnd *self, QdConnection *connection)
{
    self->connection = connection;
    self->end_usec = get_end_usec(self);
    self->watch = (QdWatch){ .interrupt = { .look = look, .data = self },
                             .may_help = TRUE,
                             .is_over = is_over,
                             .memory = &self->memory,
                             .tell = self->options->tell_func != NULL ? tell : NULL };
    qd_evaluation_begin_watch(connection, &self->watch);
}

void
qd_run_end_end_watch(QdRunEnd *self, QdConnection *connection)
{
    qd_evaluation_end_watch(connection, &self->watch);
    self->produced_usec += (uint64_t) g_get_monotonic_time() - self->fill_start_usec;
}
