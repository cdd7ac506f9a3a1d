/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Group commit.
 *
 * A member that ends the whole transaction (OR ROLLBACK, an interrupted INSERT, a full disk) takes the others' work with it.
 * After each member sqlite3_get_autocommit() tells; then nothing is acknowledged: the members before it are run again
 * without it, it runs alone, and the members behind it follow.
 */
#include "daemon/exec/writer.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "daemon/base/error.h"
#include "daemon/exec/evaluation.h"
#include "daemon/exec/plans.h"
#include "daemon/exec/write-item.h"
#include "daemon/exec/write-queue.h"
#include "daemon/store/sqlite-error.h"

#define GROUP_MAX 512
/* A group grows for so long: who comes later would make those wait who are in it. */
#define GROUP_USEC 5000
#define CHECKPOINT_PAGES 1000

struct QdWriter {
    QdWriterConfig config;
    QdConnection *connection;
    uint64_t generation; /* atomic */
    uint64_t n_commits;  /* atomic */
    uint64_t n_items;    /* atomic */
    QdTask lead_task;
    gboolean synchronous_normal;
    int wal_pages;
    uint64_t commit_usec; /* of the last group */

    pthread_mutex_t mutex;
    pthread_cond_t cond;
    QdWriteQueue queue;
    gboolean taken;
    gboolean is_held; /* taken by a client's transaction or a job, and by that perhaps for long */
    guint n_exclusive_waiting;
};

static _Thread_local const QdWriter *leading;

static void run_lead_task(QdTask *task, QdWorkers *workers);

static int
on_wal(void *data, sqlite3 *db, const char *name, int n_pages)
{
    ((QdWriter *) data)->wal_pages = n_pages;
    return SQLITE_OK;
}

static void
watch_log(QdWriter *self)
{
    self->synchronous_normal = FALSE;
    (void) sqlite3_wal_hook(qd_connection_get_db(self->connection), on_wal, self);
    if (self->config.payloads != NULL)
        qd_payloads_attach(self->config.payloads, self->connection);
}

static void
set_read_only_error(const QdWriter *self, GError **error)
{
    const QdDatabase *database = self->config.database;

    qd_error_set(error, QW_ERROR_READ_ONLY, "store '%s' cannot be written%s", qd_database_get_directory(database),
                 qd_database_get_read_only_hint(database));
}

static gboolean
is_in_transaction(QdWriter *self)
{
    return !sqlite3_get_autocommit(qd_connection_get_db(self->connection));
}

static void
rollback(QdWriter *self)
{
    if (is_in_transaction(self))
        (void) qd_connection_execute(self->connection, "ROLLBACK", NULL);
}

/* For the holder of the role: the connection is there and in no transaction. */
static gboolean
ensure_connection(QdWriter *self, GError **error)
{
    if (self->connection != NULL) {
        rollback(self); /* the last time there may have been no memory for it */
        return TRUE;
    }
    if (qd_database_is_read_only(self->config.database)) {
        set_read_only_error(self, error);
        return FALSE;
    }

    self->connection = qd_pool_open_connection(self->config.pool, QD_CONNECTION_WRITER, error);
    if (self->connection == NULL)
        return FALSE;

    watch_log(self);
    return TRUE;
}

QdWriter *
qd_writer_new(const QdWriterConfig *config, QdConnection *connection)
{
    QdWriter *self = g_new0(QdWriter, 1);
    pthread_condattr_t attributes;

    self->config = *config;
    self->generation = qd_database_get_start_counter(config->database) << 40;
    qd_write_queue_init(&self->queue);
    self->lead_task = (QdTask){ .watch_fd = -1, .run = run_lead_task };
    pthread_mutex_init(&self->mutex, NULL);
    pthread_condattr_init(&attributes);
    (void) pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self->cond, &attributes);
    pthread_condattr_destroy(&attributes);
    if (connection != NULL && qd_evaluation_register(connection, config->limits, NULL)) {
        self->connection = g_steal_pointer(&connection);
        qd_plans_set_counters(self->connection, qd_pool_get_plan_counters(config->pool));
        watch_log(self);
    }
    qd_connection_free(connection);
    return self;
}

QdWriter *
qd_writer_free(QdWriter *self)
{
    if (self == NULL)
        return NULL;

    qd_connection_free(self->connection);
    pthread_cond_destroy(&self->cond);
    pthread_mutex_destroy(&self->mutex);
    g_free(self);
    return NULL;
}

/* false when what has to be durable would not be. */
static gboolean
set_durability(QdWriter *self, gboolean relaxed, GError **error)
{
    if (self->synchronous_normal == relaxed)
        return TRUE;

    if (relaxed)
        self->synchronous_normal = qd_connection_execute(self->connection, "PRAGMA synchronous=NORMAL", NULL);
    else
        self->synchronous_normal = !qd_connection_execute(self->connection, "PRAGMA synchronous=FULL", error);
    return relaxed || !self->synchronous_normal;
}

/* Payloads that the transaction has stored get their files first. */
static gboolean
commit(QdWriter *self, GError **error)
{
    QdPayloads *payloads = self->config.payloads;
    QdPayloadSweep sweep = QD_PAYLOAD_SWEEP_NONE;

    if (payloads != NULL && !qd_payloads_before_commit(payloads, self->connection, !self->synchronous_normal, error))
        return FALSE;
    if (!qd_connection_end(self->connection, error))
        return FALSE;
    if (payloads != NULL)
        sweep = qd_payloads_after_commit(payloads, !self->synchronous_normal);
    if (sweep != QD_PAYLOAD_SWEEP_NONE)
        self->config.sweep_func(sweep, self->config.user_data);
    return TRUE;
}

/* Everything after the commit that does not hold up the answers: publish first. */
static uint64_t
publish_commit(QdWriter *self)
{
    __atomic_add_fetch(&self->n_commits, 1, __ATOMIC_RELAXED);
    return __atomic_add_fetch(&self->generation, 1, __ATOMIC_SEQ_CST);
}

static void
tell_commit(QdWriter *self, uint64_t generation, QdWriteItem *const *items, guint n)
{
    g_autoptr(QdChanges) changes = qd_changes_new();

    for (guint i = 0; i < n; i++)
        if (items[i]->error == NULL)
            qd_changes_add_all(changes, items[i]->changed);
    self->config.commit_func(generation, g_steal_pointer(&changes), self->config.user_data);
}

static void
fail_item(QdWriteItem *item, const GError *error)
{
    if (item->error == NULL)
        item->error = g_error_copy(error);
}

/* One item without a group: in a transaction of its own, or in none when it is a VACUUM. */
static void
execute_alone(QdWriter *self, QdWriteItem *item, gboolean in_transaction)
{
    g_autoptr(GError) error = NULL;
    gboolean ok = set_durability(self, item->relaxed, &error);

    if (ok && in_transaction)
        ok = qd_connection_begin_write(self->connection, &error);
    qd_write_item_watch(self->connection, item);
    ok = ok && qd_write_item_execute(item, self->connection, self->config.limits, &error);
    qd_write_item_watch(self->connection, NULL);
    if (ok && in_transaction)
        ok = commit(self, &error);
    if (!ok) {
        rollback(self);
        item->error = g_steal_pointer(&error);
        return;
    }
    item->generation = publish_commit(self);
    tell_commit(self, item->generation, &item, 1);
}

typedef enum MemberResult {
    MEMBER_OK,
    MEMBER_FAILED,
    MEMBER_ENDED_TRANSACTION, /* or has left something behind that only its end can undo */
} MemberResult;

static MemberResult
execute_in_savepoint(QdWriter *self, QdWriteItem *item)
{
    gboolean ok;

    if (!qd_connection_begin_savepoint(self->connection, &item->error))
        return is_in_transaction(self) ? MEMBER_FAILED : MEMBER_ENDED_TRANSACTION;

    qd_write_item_watch(self->connection, item);
    ok = qd_write_item_execute(item, self->connection, self->config.limits, &item->error);
    qd_write_item_watch(self->connection, NULL);
    if (ok && is_in_transaction(self) && qd_connection_end_savepoint(self->connection, &item->error))
        return MEMBER_OK;
    if (!is_in_transaction(self) || !qd_connection_execute(self->connection, "ROLLBACK TO member; RELEASE member", NULL))
        return MEMBER_ENDED_TRANSACTION;
    return MEMBER_FAILED;
}

/*
 * A statement that runs once is all or nothing by itself, but for OR FAIL, deferred keys and what goes wrong below it: then the
 * transaction ends, and it runs alone.
 */
static MemberResult
execute_without_savepoint(QdWriter *self, QdWriteItem *item)
{
    sqlite3 *db = qd_connection_get_db(self->connection);
    gint64 before = sqlite3_total_changes64(db);
    gboolean ok;

    qd_write_item_watch(self->connection, item);
    ok = qd_write_item_execute(item, self->connection, self->config.limits, &item->error);
    qd_write_item_watch(self->connection, NULL);
    if (!is_in_transaction(self))
        return MEMBER_ENDED_TRANSACTION;
    if (ok)
        return MEMBER_OK;
    return sqlite3_total_changes64(db) == before && qd_write_item_failed_cleanly(item, self->connection) ? MEMBER_FAILED
                                                                                                         : MEMBER_ENDED_TRANSACTION;
}

static MemberResult
execute_member(QdWriter *self, QdWriteItem *item)
{
    g_clear_error(&item->error);
    return qd_write_item_is_atomic(item) ? execute_without_savepoint(self, item) : execute_in_savepoint(self, item);
}

/* Near the end of the disk the write-ahead log gives its space back first. For the holder of the role. */
static gboolean
check_free_space(QdWriter *self, GError **error)
{
    const QdDatabase *database = self->config.database;

    if (qd_database_check_free_space(database, self->config.limits, NULL))
        return TRUE;

    (void) sqlite3_wal_checkpoint_v2(qd_connection_get_db(self->connection), NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return qd_database_check_free_space(database, self->config.limits, error);
}

/* Those who run in one transaction, in the order in which they came. */
typedef struct Group {
    QdWriteItem **items;
    guint n;
    gboolean grows; /* from the queue, while it runs */
    gboolean relaxed;
    uint64_t end_usec; /* it grows no more */
} Group;

/* One that can be in @group. NULL: there is none, or its turn comes when the group is over. */
static QdWriteItem *
pop_member(QdWriter *self, const Group *group)
{
    QdWriteItem *item;

    if (group->n == GROUP_MAX || (uint64_t) g_get_monotonic_time() > group->end_usec)
        return NULL;

    pthread_mutex_lock(&self->mutex);
    item = qd_write_queue_peek(&self->queue);
    if (item != NULL && (item->takes_role || (group->relaxed && !item->relaxed) || qd_write_item_runs_alone(item)))
        item = NULL;
    if (item != NULL)
        (void) qd_write_queue_pop(&self->queue);
    pthread_mutex_unlock(&self->mutex);
    return item;
}

static void
fail_group(const Group *group, const GError *error)
{
    for (guint i = 0; i < group->n; i++)
        fail_item(group->items[i], error);
}

static gboolean
begin_group(QdWriter *self, Group *group)
{
    g_autoptr(GError) error = NULL;

    if (set_durability(self, group->relaxed, &error) && check_free_space(self, &error) &&
        qd_connection_begin_write(self->connection, &error))
        return TRUE;

    fail_group(group, error);
    return FALSE;
}

static void
commit_group(QdWriter *self, const Group *group)
{
    uint64_t start_usec = (uint64_t) g_get_monotonic_time();
    g_autoptr(GError) error = NULL;
    uint64_t generation;

    if (!commit(self, &error)) {
        rollback(self);
        fail_group(group, error);
        return;
    }

    self->commit_usec = (uint64_t) g_get_monotonic_time() - start_usec;
    generation = publish_commit(self);
    for (guint i = 0; i < group->n; i++)
        group->items[i]->generation = generation;
    tell_commit(self, generation, group->items, group->n);
}

/* Runs items in one transaction. Returns: n when it was committed or failed as a whole; else the index of the offender. */
static guint
execute_together(QdWriter *self, Group *group)
{
    guint n_ok = 0;

    if (!begin_group(self, group))
        return group->n;

    for (guint i = 0; i < group->n; i++) {
        MemberResult result = execute_member(self, group->items[i]);
        QdWriteItem *next;

        if (result == MEMBER_ENDED_TRANSACTION) {
            rollback(self);
            return i;
        }
        n_ok += result == MEMBER_OK ? 1 : 0;
        if (group->grows && i + 1 == group->n && (next = pop_member(self, group)) != NULL)
            group->items[group->n++] = next;
    }
    if (n_ok > 0)
        commit_group(self, group);
    else
        rollback(self);
    return group->n;
}

/* By its deadline or its caller: it would be stopped again, after as long again. */
static gboolean
was_stopped(const QdWriteItem *item)
{
    return g_error_matches(item->error, QD_ERROR, QW_ERROR_TIMEOUT) || g_error_matches(item->error, QD_ERROR, QW_ERROR_CANCELLED);
}

/* Without the offender the members before it cannot fail in the same way; each round is shorter. */
static void
execute_group(QdWriter *self, Group *group)
{
    guint offender = execute_together(self, group);

    if (offender == group->n)
        return;
    if (offender > 0) {
        Group before = { .items = group->items, .n = offender, .relaxed = group->relaxed };

        execute_group(self, &before);
    }
    if (!was_stopped(group->items[offender])) {
        g_clear_error(&group->items[offender]->error);
        execute_alone(self, group->items[offender], TRUE);
    }
    if (offender + 1 < group->n) {
        Group behind = { .items = group->items + offender + 1, .n = group->n - offender - 1, .relaxed = group->relaxed };

        execute_group(self, &behind);
    }
}

/* What waits now, if it can: a group is for those who came in time, and for a while those who come while it runs. */
static guint
run_group(QdWriter *self, QdWriteItem *first, QdWriteItem **items, gboolean relaxed)
{
    uint64_t group_usec = self->config.group_usec > 0 ? self->config.group_usec : GROUP_USEC;
    Group group = {
        .items = items, .n = 1, .grows = TRUE, .relaxed = relaxed, .end_usec = (uint64_t) g_get_monotonic_time() + group_usec
    };
    g_autoptr(GError) error = NULL;

    items[0] = first;
    if (!ensure_connection(self, &error))
        fail_item(first, error);
    else if (qd_write_item_runs_alone(first))
        execute_alone(self, first, FALSE);
    else
        execute_group(self, &group);
    return group.n;
}

/* Under no lock, by the holder of the role, after the answers are out. */
static void
checkpoint(QdWriter *self)
{
    uint64_t limit = qd_limits_get(self->config.limits, QD_LIMIT_WAL_BYTES);
    int n_log = 0;
    int n_done = 0;

    if (self->connection == NULL || self->wal_pages < CHECKPOINT_PAGES)
        return;

    (void) sqlite3_wal_checkpoint_v2(qd_connection_get_db(self->connection), NULL, SQLITE_CHECKPOINT_PASSIVE, &n_log, &n_done);
    if (n_log > n_done && (uint64_t) n_log * 4096 > limit)
        self->config.log_func(self->config.user_data);
    self->wal_pages = 0;
}

/* Gives the role to whoever waits, or back. */
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

/* The next one whose turn it is, for the leader. NULL: the role is given back, or to a job. */
static QdWriteItem *
pop_first(QdWriter *self, gboolean *ret_relaxed)
{
    QdWriteItem *item = NULL;

    pthread_mutex_lock(&self->mutex);
    if (self->n_exclusive_waiting == 0)
        item = qd_write_queue_pop(&self->queue);
    if (item == NULL) {
        self->taken = self->is_held = FALSE;
        pthread_cond_signal(&self->cond);
    } else {
        *ret_relaxed = item->relaxed && self->queue.n_durable == 0;
        self->is_held = item->takes_role;
    }
    pthread_mutex_unlock(&self->mutex);
    return item;
}

static gboolean
begin_transaction(QdWriter *self, QdWriteItem *item)
{
    if (!ensure_connection(self, &item->error) || !check_free_space(self, &item->error))
        return FALSE;

    return set_durability(self, item->relaxed, &item->error) && qd_connection_begin_write(self->connection, &item->error);
}

void
qd_writer_lead(QdWriter *self)
{
    QdWriteItem *items[GROUP_MAX];
    QdWriteItem *first;
    gboolean relaxed;

    leading = self;
    while ((first = pop_first(self, &relaxed)) != NULL) {
        guint n = 1;

        if (first->takes_role) {
            if (begin_transaction(self, first)) {
                leading = NULL;
                first->done(first, FALSE);
                return;
            }
            items[0] = first;
        } else {
            n = run_group(self, first, items, relaxed);
            __atomic_add_fetch(&self->n_items, n, __ATOMIC_RELAXED);
        }
        for (guint i = 0; i < n; i++)
            items[i]->done(items[i], FALSE);
        if (self->config.linger_func != NULL)
            self->config.linger_func(self->commit_usec, self->config.user_data);
        checkpoint(self);
    }
    leading = NULL;
}

gboolean
qd_writer_is_leading(const QdWriter *self)
{
    return leading == self;
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
        qd_limit_set_error(&item->error, limits, QD_LIMIT_WRITE_QUEUE, "too many updates wait for the writer");
        return FALSE;
    }
    if (item->client != NULL && item->client->write_lane.n >= qd_limits_get(limits, QD_LIMIT_WRITE_QUEUE_PER_CLIENT)) {
        qd_limit_set_error(&item->error, limits, QD_LIMIT_WRITE_QUEUE_PER_CLIENT,
                           "too many updates of client '%s' wait for the writer", item->client->label);
        return FALSE;
    }
    qd_write_queue_push(&self->queue, item);
    return TRUE;
}

gboolean
qd_writer_enqueue(QdWriter *self, QdWriteItem *item)
{
    gboolean leads = FALSE;
    gboolean ok;
    gboolean is_held;

    item->submitted_usec = (uint64_t) g_get_monotonic_time();
    pthread_mutex_lock(&self->mutex);
    ok = push_item(self, item);
    is_held = self->is_held;
    if (ok && !self->taken && self->n_exclusive_waiting == 0)
        leads = self->taken = TRUE;
    pthread_mutex_unlock(&self->mutex);

    if (!ok)
        item->done(item, TRUE);
    else if (is_held)
        qd_workers_request_sweep(self->config.workers);
    return leads;
}

void
qd_writer_submit(QdWriter *self, QdWriteItem *item)
{
    if (qd_writer_enqueue(self, item))
        qd_writer_lead(self);
}

gboolean
qd_writer_sweep(QdWriter *self)
{
    uint64_t now = (uint64_t) g_get_monotonic_time();
    QdWriteItem *item;
    gboolean again;

    do {
        pthread_mutex_lock(&self->mutex);
        item = self->is_held ? qd_write_queue_pop_late(&self->queue, now) : NULL;
        again = self->is_held && self->queue.n > 0;
        pthread_mutex_unlock(&self->mutex);
        if (item != NULL)
            item->done(item, FALSE);
    } while (item != NULL);
    return again;
}

/* Transactions of a client ------------------------------------------------------------------------------------------------ */

QdConnection *
qd_writer_get_connection(QdWriter *self)
{
    return self->connection;
}

gboolean
qd_writer_in_transaction(QdWriter *self)
{
    return is_in_transaction(self);
}

void
qd_writer_execute_part(QdWriter *self, QdWriteItem *item)
{
    g_clear_error(&item->error);
    if (execute_in_savepoint(self, item) == MEMBER_ENDED_TRANSACTION)
        rollback(self);
    __atomic_add_fetch(&self->n_items, 1, __ATOMIC_RELAXED);
}

gboolean
qd_writer_end_transaction(QdWriter *self, QdWriteItem *item, gboolean keep, GError **error)
{
    gboolean ok = !keep || commit(self, error);

    if (!ok || !keep) {
        rollback(self);
    } else if (!qd_changes_is_empty(item->changed)) {
        item->generation = publish_commit(self);
        tell_commit(self, item->generation, &item, 1);
    }
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
    until.tv_sec += item->timeout_msec > 0 ? (time_t) (item->timeout_msec / 1000) + 1 : 86400;

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
        qd_error_set(error, QW_ERROR_TIMEOUT, "the writer was busy for %" G_GUINT64_FORMAT " ms", item->timeout_msec);
    return r == 0;
}

static gboolean
execute_exclusively(QdWriter *self, QdWriteItem *item, gboolean in_transaction, QdWriterFunc func, void *user_data, GError **error)
{
    gboolean ok;

    if (!set_durability(self, item->relaxed, error))
        return FALSE;
    if (in_transaction && (!check_free_space(self, error) || !qd_connection_begin_write(self->connection, error)))
        return FALSE;

    qd_write_item_watch(self->connection, item);
    ok = func(self->connection, item, user_data, error);
    qd_write_item_watch(self->connection, NULL);
    if (ok && in_transaction)
        ok = commit(self, error);
    if (!ok) {
        rollback(self);
        return FALSE;
    }
    if (in_transaction) {
        item->generation = publish_commit(self);
        tell_commit(self, item->generation, &item, 1);
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

    ok = ensure_connection(self, error) && execute_exclusively(self, item, in_transaction, func, user_data, error);
    pass_role(self);
    return ok;
}

gboolean
qd_writer_replace(QdWriter *self, QdWriteItem *item, QdWriterFunc func, void *user_data, GError **error)
{
    gboolean ok;

    if (!take_role_exclusively(self, item, error))
        return FALSE;

    ok = ensure_connection(self, error) && check_free_space(self, error) && set_durability(self, FALSE, error) &&
         func(self->connection, item, user_data, error);
    if (ok) {
        qd_changes_make_all(item->changed);
        item->generation = publish_commit(self);
        tell_commit(self, item->generation, &item, 1);
        self->connection = qd_connection_free(self->connection);
    }
    pass_role(self);
    return ok;
}

gboolean
qd_writer_rest(QdWriter *self)
{
    gboolean free;

    pthread_mutex_lock(&self->mutex);
    free = !self->taken && self->n_exclusive_waiting == 0;
    if (free)
        self->taken = TRUE;
    pthread_mutex_unlock(&self->mutex);
    if (!free)
        return FALSE;

    if (self->connection != NULL) {
        int persist = 1;

        /* the log's file stays: on a full disk it could not be made again, and then nobody could read */
        (void) sqlite3_file_control(qd_connection_get_db(self->connection), "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
        self->connection = qd_connection_free(self->connection);
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

guint
qd_writer_get_n_queued(QdWriter *self)
{
    guint n;

    pthread_mutex_lock(&self->mutex);
    n = self->queue.n;
    pthread_mutex_unlock(&self->mutex);
    return n;
}
