/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The role: its holder, the next in turn, and how it is passed on.
 */
#include "daemon/write/writer.h"

#include <pthread.h>
#include <time.h>

#include "daemon/base/error.h"
#include "daemon/base/thread.h"
#include "daemon/notify/changes.h"
#include "daemon/read/pool.h"
#include "daemon/runtime/registry.h"
#include "daemon/runtime/workers.h"
#include "daemon/store/database.h"
#include "daemon/write/checkpointer.h"
#include "daemon/write/write-group.h"
#include "daemon/write/write-item.h"
#include "daemon/write/write-queue.h"
#include "daemon/write/write-transaction.h"
#include "daemon/write/write-watch.h"
#include "daemon/write/writer-private.h"

/* Between two looks at all files and for writes of others; each sweep reads what the kernel reports of the folder. */
#define LOOK_USEC 1000000
/* So long after the last commit a burst is over. */
#define SETTLED_USEC 2000000
/* So long an update may run although others have waited for long. */
#define HOLD_MIN_USEC 250000

static void run_lead_task(QdTask *task, QdWorkers *workers);

QdWriter *
qd_writer_new(const QdWriterConfig *config, QdConnection *connection)
{
    QdWriter *self = g_new0(QdWriter, 1);

    self->config = *config;
    self->copied_schema = -1;
    self->generation = qd_database_get_start_counter(config->database) << 40;
    self->checkpointer = qd_checkpointer_new(config->database, config->limits);
    qd_write_queue_init(&self->queue);
    self->begin_ends = qd_write_watch_begin_ends;
    self->lead_task = (QdTask){ .watch_fd = -1, .run = run_lead_task };
    pthread_mutex_init(&self->mutex, NULL);
    qd_cond_init(&self->cond);
    if (connection != NULL && qd_pool_equip(config->pool, connection, NULL)) {
        self->connection = g_steal_pointer(&connection);
        qd_write_watch_log(self);
    }
    qd_connection_free(connection);
    return self;
}

QdWriter *
qd_writer_free(QdWriter *self)
{
    if (self == NULL)
        return NULL;

    /* The last connection that closes copies the log. One that closed before, at a rest, say, did not: the database had a guard. */
    if (self->connection == NULL && self->config.pool != NULL)
        (void) qd_write_ensure_connection(self, NULL);
    self->checkpointer = qd_checkpointer_free(self->checkpointer);
    if (self->connection != NULL && !qd_database_can_make_log(self->config.database, self->config.limits))
        qd_connection_keep_log(self->connection);
    qd_connection_free(self->connection);
    pthread_cond_destroy(&self->cond);
    pthread_mutex_destroy(&self->mutex);
    g_free(self);
    return NULL;
}

/* Under no lock, by the holder of the role, after the answers are out. */
static void
checkpoint(QdWriter *self)
{
    guint n_pages = (guint) self->wal_pages;

    self->wal_pages = 0;
    self->log_pages = MAX(self->log_pages, n_pages);
    if (self->connection == NULL || n_pages == 0 || !qd_checkpointer_note(self->checkpointer, n_pages))
        return;

    qd_write_end_linger(self);
    if (qd_checkpointer_finish(self->checkpointer, self->connection) > qd_limits_get(self->config.limits, QD_LIMIT_WAL_BYTES) &&
        qd_registry_evict_oldest(self->config.registry))
        (void) qd_checkpointer_empty_log(self->checkpointer, self->connection);
}

/* Gives the role to the next that waits, or back. */
static void
pass_role(QdWriter *self)
{
    gboolean push = FALSE;

    pthread_mutex_lock(&self->mutex);
    self->is_held = FALSE;
    if (self->n_exclusive_waiting > 0 || self->queue.n == 0) {
        self->taken = FALSE;
        pthread_cond_signal(&self->cond);
    } else {
        push = TRUE;
    }
    pthread_mutex_unlock(&self->mutex);
    if (push)
        qd_workers_push_always(self->config.workers, &self->lead_task, TRUE);
}

/* The next one whose turn it is, for the leader. NULL: there is none; if @last, the role is given back, or to a job. */
static QdWriteItem *
pop_first(QdWriter *self, gboolean last, gboolean *ret_relaxed)
{
    QdWriteItem *item = NULL;

    pthread_mutex_lock(&self->mutex);
    if (self->n_exclusive_waiting == 0)
        item = qd_write_queue_pop(&self->queue);
    if (item == NULL && last) {
        self->taken = self->is_held = FALSE;
        pthread_cond_signal(&self->cond);
    } else if (item != NULL) {
        *ret_relaxed = item->relaxed && self->queue.n_durable == 0;
        self->is_held = item->takes_role;
    }
    pthread_mutex_unlock(&self->mutex);
    return item;
}

/* The same, after waiting for it as it pays. */
static QdWriteItem *
await_first(QdWriter *self, gboolean *ret_relaxed)
{
    QdWriteItem *item;
    gboolean last; /* then the role is gone, and everything that belongs to it */

    do {
        last = !qd_write_is_lingering(self);
        item = pop_first(self, last, ret_relaxed);
    } while (item == NULL && !last && qd_write_linger(self));
    return item;
}

static gboolean
begin_transaction(QdWriter *self, QdWriteItem *item)
{
    if (!qd_write_ensure_connection(self, &item->outcome.error) || !qd_write_check_space(self, &item->outcome.error))
        return FALSE;

    return qd_write_set_durability(self, item->relaxed, &item->outcome.error) && qd_write_begin(self, item, &item->outcome.error);
}

void
qd_writer_lead(QdWriter *self)
{
    QdWriteItem *items[QD_WRITE_GROUP_MAX];
    QdWriteItem *first;
    gboolean relaxed;

    while ((first = await_first(self, &relaxed)) != NULL) {
        guint n = 1;

        if (first->takes_role) {
            qd_write_end_linger(self);
            if (begin_transaction(self, first)) {
                first->done(first, NULL);
                return;
            }
            items[0] = first;
        } else {
            n = qd_write_group_run(self, first, items, relaxed);
            __atomic_add_fetch(&self->n_items, n, __ATOMIC_RELAXED);
        }
        qd_write_end_linger(self);
        for (guint i = 0; i < n; i++)
            items[i]->done(items[i], self->config.linger);
        qd_write_begin_linger(self);
        checkpoint(self);
    }
}

static void
run_lead_task(QdTask *task, QdWorkers *workers)
{
    qd_writer_lead((QdWriter *) ((char *) task - offsetof(QdWriter, lead_task)));
}

/* Under the mutex. */
static gboolean
push_item(QdWriter *self, QdWriteItem *item)
{
    const QdLimits *limits = self->config.limits;

    if (self->queue.n >= qd_limits_get(limits, QD_LIMIT_WRITE_QUEUE)) {
        qd_limit_set_error(&item->outcome.error, limits, QD_LIMIT_WRITE_QUEUE, "too many updates wait for the writer");
        return FALSE;
    }
    if (item->client != NULL && item->client->write_lane.n >= qd_limits_get(limits, QD_LIMIT_WRITE_QUEUE_PER_CLIENT)) {
        qd_limit_set_error(&item->outcome.error, limits, QD_LIMIT_WRITE_QUEUE_PER_CLIENT,
                           "too many updates of client '%s' wait for the writer", item->client->label);
        return FALSE;
    }
    qd_write_queue_push(&self->queue, item);
    return TRUE;
}

/* Under the mutex. Returns: (nullable): those that were refused, linked by `next` */
static QdWriteItem *
push_items(QdWriter *self, QdWriteItem *items, uint64_t now, guint *ret_n_taken)
{
    QdWriteItem *refused = NULL;
    QdWriteItem **end = &refused;
    guint n = 0;

    while (items != NULL) {
        QdWriteItem *item = items;

        items = item->next;
        item->times.submitted_usec = now - item->times.waited_usec;
        if (push_item(self, item)) {
            n++;
        } else {
            *end = item;
            end = &item->next;
        }
    }
    *end = NULL;
    *ret_n_taken = n;
    return refused;
}

guint
qd_writer_enqueue(QdWriter *self, QdWriteItem *items, gboolean *ret_leads)
{
    uint64_t now = (uint64_t) g_get_monotonic_time();
    gboolean leads;
    gboolean is_held;
    guint n_taken;

    pthread_mutex_lock(&self->mutex);
    (void) push_items(self, items, now, &n_taken);
    is_held = self->is_held;
    leads = n_taken > 0 && !self->taken && self->n_exclusive_waiting == 0;
    self->taken = self->taken || leads;
    pthread_mutex_unlock(&self->mutex);
    if (leads)
        *ret_leads = TRUE;
    if (n_taken > 0 && is_held)
        qd_workers_request_sweep(self->config.workers);
    return n_taken;
}

void
qd_write_take_items(QdWriter *self, QdWriteItem *items)
{
    QdWriteItem *refused;
    guint n_taken;

    if (items == NULL)
        return;

    pthread_mutex_lock(&self->mutex);
    refused = push_items(self, items, (uint64_t) g_get_monotonic_time(), &n_taken);
    pthread_mutex_unlock(&self->mutex);
    while (refused != NULL) {
        QdWriteItem *item = refused;

        refused = item->next;
        item->done(item, self->config.linger);
    }
}

void
qd_writer_submit(QdWriter *self, QdWriteItem *item)
{
    gboolean leads = FALSE;

    if (qd_writer_enqueue(self, item, &leads) == 0)
        item->done(item, NULL);
    if (leads)
        qd_writer_lead(self);
}

gboolean
qd_writer_sweep(QdWriter *self)
{
    uint64_t now = (uint64_t) g_get_monotonic_time();
    QdWriteItem *item;
    gboolean again;

    pthread_mutex_lock(&self->mutex);
    qd_write_queue_look_for_cancels(&self->queue, now);
    pthread_mutex_unlock(&self->mutex);
    do {
        pthread_mutex_lock(&self->mutex);
        item = qd_write_queue_pop_late(&self->queue, now);
        again = self->taken && self->queue.n > 0;
        pthread_mutex_unlock(&self->mutex);
        if (item != NULL)
            item->done(item, NULL);
    } while (item != NULL);
    return again;
}

/* Transactions of a client ------------------------------------------------------------------------------------------------ */

gboolean
qd_writer_is_awaited(QdWriter *self)
{
    uint64_t wait_usec = 1000 * qd_limits_get(self->config.limits, QD_LIMIT_TRANSACTION_MSEC);
    uint64_t now = (uint64_t) g_get_monotonic_time();
    gboolean awaited;

    pthread_mutex_lock(&self->mutex);
    awaited = self->taken && now > self->queue.holder_usec + HOLD_MIN_USEC && now > wait_usec &&
              qd_write_queue_has_waited(&self->queue, now - wait_usec);
    pthread_mutex_unlock(&self->mutex);
    return awaited;
}

QdConnection *
qd_writer_get_connection(QdWriter *self)
{
    return self->connection;
}

gboolean
qd_writer_in_transaction(QdWriter *self)
{
    return qd_write_in_transaction(self);
}

/* SAVEPOINT and its like: in a savepoint of ours they would be undone with it, or undo it. */
static void
execute_bare(QdWriter *self, QdWriteItem *item)
{
    g_clear_error(&item->outcome.error);
    item->is_bare = TRUE;
    (void) qd_write_item_execute(item, self->connection, self->config.limits, &item->outcome.error);
}

void
qd_writer_execute_part(QdWriter *self, QdWriteItem *item)
{
    g_clear_error(&item->outcome.error);
    item->is_part = TRUE;
    if (qd_write_execute_in_savepoint(self, item) == QD_MEMBER_ENDED_TRANSACTION)
        qd_write_rollback(self);
    else if (item->runs_alone && item->told == NULL)
        execute_bare(self, item);
    __atomic_add_fetch(&self->n_items, 1, __ATOMIC_RELAXED);
}

gboolean
qd_writer_end_transaction(QdWriter *self, QdWriteItem *item, gboolean keep, GError **error)
{
    gboolean ok = !keep || (qd_write_item_check_keys(item, self->connection, error) && qd_write_commit(self, item, error));

    if (!ok || !keep) {
        qd_write_rollback(self);
    } else if (!qd_changes_is_empty(item->outcome.changed)) {
        item->outcome.generation = qd_write_publish(self);
        qd_write_tell(self, item->outcome.generation, &item, 1);
    } else {
        qd_write_note_results(self, item->outcome.changed);
    }
    qd_settings_reset(self->connection);
    checkpoint(self);
    pass_role(self);
    return ok;
}

/* Jobs -------------------------------------------------------------------------------------------------------------------- */

static gboolean
take_role_exclusively(QdWriter *self, const QdWriteItem *item, GError **error)
{
    struct timespec until;
    int r = 0;

    (void) clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += item->times.timeout_msec > 0 ? (time_t) (item->times.timeout_msec / 1000) + 1 : 86400;

    pthread_mutex_lock(&self->mutex);
    self->n_exclusive_waiting++;
    while (self->taken && r == 0)
        r = pthread_cond_timedwait(&self->cond, &self->mutex, &until);
    self->n_exclusive_waiting--;
    if (!self->taken) {
        self->taken = self->is_held = TRUE;
        r = 0;
    }
    pthread_mutex_unlock(&self->mutex);
    if (r != 0)
        qd_error_set(error, QW_ERROR_TIMEOUT, "the writer was busy for %" G_GUINT64_FORMAT " ms", item->times.timeout_msec);
    return r == 0;
}

/* SQLite only says that a statement was interrupted. A caller that cancelled needs no explanation. */
static void
explain_stop(QdWriter *self, GError **error)
{
    g_autoptr(GError) stop = NULL;

    if (!qd_write_watch_get_stop(&self->watch, TRUE, &stop) || g_error_matches(stop, QD_ERROR, QW_ERROR_CANCELLED))
        return;
    g_clear_error(error);
    g_propagate_error(error, g_steal_pointer(&stop));
}

static gboolean
execute_exclusively(QdWriter *self, QdWriteItem *item, gboolean in_transaction, QdWriterFunc func, void *user_data, GError **error)
{
    gboolean ok;

    if (!qd_write_set_durability(self, item->relaxed, error))
        return FALSE;
    if (in_transaction && (!qd_write_check_space(self, error) || !qd_write_begin(self, item, error)))
        return FALSE;

    if (!in_transaction)
        qd_checkpointer_wait(self->checkpointer);
    qd_write_watch_begin(self, item, TRUE);
    ok = func(self->connection, item, user_data, error) && qd_write_watch_check(self, error);
    if (!ok)
        explain_stop(self, error);
    qd_write_watch_end(self);
    if (!in_transaction)
        qd_write_note_own_version(self);
    if (!in_transaction)
        self->wal_pages = 0; /* it may have made a checkpoint after its commits */
    if (ok && in_transaction)
        ok = qd_write_commit(self, item, error);
    if (!ok) {
        qd_write_rollback(self);
        return FALSE;
    }
    if (in_transaction && item->is_upkeep) {
        qd_write_note_results(self, item->outcome.changed);
    } else if (in_transaction) {
        item->outcome.generation = qd_write_publish(self);
        qd_write_tell(self, item->outcome.generation, &item, 1);
    } else {
        qd_write_copy_schema(self, qd_connection_get_schema_version(self->connection));
    }
    checkpoint(self);
    return TRUE;
}

gboolean
qd_writer_run_exclusive(QdWriter *self, QdWriteItem *item, gboolean in_transaction, QdWriterFunc func, void *user_data,
                        GError **error)
{
    gboolean ok;

    if (!take_role_exclusively(self, item, error))
        return FALSE;

    ok = qd_write_ensure_connection(self, error) && execute_exclusively(self, item, in_transaction, func, user_data, error);
    pass_role(self);
    return ok;
}

gboolean
qd_writer_replace(QdWriter *self, QdWriteItem *item, QdWriterFunc func, void *user_data, GError **error)
{
    gboolean ok;

    if (!take_role_exclusively(self, item, error))
        return FALSE;

    qd_checkpointer_rest(self->checkpointer);
    ok = qd_write_ensure_connection(self, error) && qd_write_check_space(self, error) &&
         qd_write_set_durability(self, FALSE, error) && func(self->connection, item, user_data, error);
    self->copied_schema = -1; /* another database may have the same version */
    if (ok) {
        qd_write_copy_schema(self, qd_connection_get_schema_version(self->connection));
        qd_changes_make_all(item->outcome.changed);
        item->outcome.generation = qd_write_publish(self);
        qd_write_tell(self, item->outcome.generation, &item, 1);
        qd_write_close_connection(self);
    }
    self->wal_pages = 0;
    pass_role(self);
    return ok;
}

/* FALSE: the role is taken. */
static gboolean
try_role(QdWriter *self)
{
    gboolean free;

    pthread_mutex_lock(&self->mutex);
    free = !self->taken && self->n_exclusive_waiting == 0;
    if (free)
        self->taken = TRUE;
    pthread_mutex_unlock(&self->mutex);
    return free;
}

/* A burst has left a long log, all of which is copied: its file gives the space back. */
static void
shrink_log(QdWriter *self)
{
    if (self->connection != NULL && qd_checkpointer_shrink_log(self->checkpointer, self->connection, self->log_pages))
        self->log_pages = 0;
}

void
qd_writer_look(QdWriter *self)
{
    gint64 now = g_get_monotonic_time();
    gboolean thoroughly;

    if (qd_database_is_read_only(self->config.database) || !try_role(self))
        return;

    thoroughly = now - self->files.look_usec >= LOOK_USEC;
    if (qd_write_check_files(self, thoroughly ? QD_WRITE_LOOK_THOROUGH : QD_WRITE_LOOK_QUICK, NULL) && thoroughly) {
        self->files.look_usec = now;
        qd_write_look_for_others(self);
        if (now - self->commit_time_usec >= SETTLED_USEC)
            shrink_log(self);
    }
    pass_role(self);
}

gboolean
qd_writer_rest(QdWriter *self)
{
    if (!try_role(self))
        return FALSE;

    if (self->connection != NULL) {
        qd_checkpointer_rest(self->checkpointer);
        qd_write_look_for_others(self);
        shrink_log(self);
        qd_connection_keep_log(self->connection);
        qd_write_close_connection(self);
    }
    pass_role(self);
    return TRUE;
}

uint64_t
qd_writer_get_generation(QdWriter *self)
{
    return __atomic_load_n(&self->generation, __ATOMIC_SEQ_CST);
}

uint64_t
qd_writer_get_n_commits(QdWriter *self)
{
    return __atomic_load_n(&self->n_commits, __ATOMIC_RELAXED);
}

uint64_t
qd_writer_get_n_items(QdWriter *self)
{
    return __atomic_load_n(&self->n_items, __ATOMIC_RELAXED);
}

uint64_t
qd_writer_get_n_passes(QdWriter *self)
{
    return qd_checkpointer_get_n_passes(self->checkpointer);
}

guint
qd_writer_get_n_queued(QdWriter *self)
{
    guint n;

    pthread_mutex_lock(&self->mutex);
    n = self->queue.n;
    pthread_mutex_unlock(&self->mutex);
    return n;
}
