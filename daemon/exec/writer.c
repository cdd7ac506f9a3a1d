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
#include "daemon/exec/write-item.h"
#include "daemon/store/sqlite-error.h"

#define GROUP_MAX 512
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

    pthread_mutex_t mutex;
    pthread_cond_t cond;
    QdWriteItem *first;
    QdWriteItem **end;
    guint n_queued;
    gboolean taken;
    guint n_exclusive_waiting;
};

static _Thread_local QdWriteItem *own_item;

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

/* For the holder of the role. */
static gboolean
ensure_connection(QdWriter *self, GError **error)
{
    if (self->connection != NULL)
        return TRUE;
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
    self->end = &self->first;
    self->lead_task = (QdTask){ .watch_fd = -1, .run = run_lead_task };
    pthread_mutex_init(&self->mutex, NULL);
    pthread_condattr_init(&attributes);
    (void) pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self->cond, &attributes);
    pthread_condattr_destroy(&attributes);
    if (connection != NULL && qd_evaluation_register(connection, config->limits, NULL)) {
        self->connection = g_steal_pointer(&connection);
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

static void
set_durability(QdWriter *self, gboolean relaxed)
{
    if (self->synchronous_normal == relaxed)
        return;

    if (qd_connection_execute(self->connection, relaxed ? "PRAGMA synchronous=NORMAL" : "PRAGMA synchronous=FULL", NULL))
        self->synchronous_normal = relaxed;
}

/* Payloads that the transaction has stored get their files first. */
static gboolean
commit(QdWriter *self, GError **error)
{
    QdPayloads *payloads = self->config.payloads;

    if (payloads != NULL && !qd_payloads_before_commit(payloads, self->connection, !self->synchronous_normal, error))
        return FALSE;
    if (!qd_connection_execute(self->connection, "COMMIT", error))
        return FALSE;
    if (payloads != NULL && qd_payloads_after_commit(payloads, !self->synchronous_normal))
        self->config.sweep_func(self->config.user_data);
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
    gboolean ok = TRUE;

    set_durability(self, item->relaxed);
    if (in_transaction)
        ok = qd_connection_execute(self->connection, "BEGIN IMMEDIATE", &error);
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
    MEMBER_ENDED_TRANSACTION,
} MemberResult;

static MemberResult
execute_member(QdWriter *self, QdWriteItem *item)
{
    g_clear_error(&item->error);
    if (!qd_connection_execute(self->connection, "SAVEPOINT member", &item->error))
        return is_in_transaction(self) ? MEMBER_FAILED : MEMBER_ENDED_TRANSACTION;

    qd_write_item_watch(self->connection, item);
    if (qd_write_item_execute(item, self->connection, self->config.limits, &item->error)) {
        qd_write_item_watch(self->connection, NULL);
        if (is_in_transaction(self) && qd_connection_execute(self->connection, "RELEASE member", &item->error))
            return MEMBER_OK;
    }
    qd_write_item_watch(self->connection, NULL);
    if (!is_in_transaction(self) || !qd_connection_execute(self->connection, "ROLLBACK TO member; RELEASE member", NULL))
        return MEMBER_ENDED_TRANSACTION;
    return MEMBER_FAILED;
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

/* Runs items in one transaction. Returns: n when it was committed or failed as a whole; else the index of the offender. */
static guint
execute_together(QdWriter *self, QdWriteItem **items, guint n)
{
    g_autoptr(GError) error = NULL;
    gboolean relaxed = TRUE;
    guint n_ok = 0;
    uint64_t generation;

    for (guint i = 0; i < n; i++)
        relaxed = relaxed && items[i]->relaxed;
    set_durability(self, relaxed);
    if (!check_free_space(self, &error) || !qd_connection_execute(self->connection, "BEGIN IMMEDIATE", &error)) {
        for (guint i = 0; i < n; i++)
            fail_item(items[i], error);
        return n;
    }

    for (guint i = 0; i < n; i++) {
        MemberResult result = execute_member(self, items[i]);

        if (result == MEMBER_ENDED_TRANSACTION) {
            rollback(self);
            return i;
        }
        n_ok += result == MEMBER_OK ? 1 : 0;
    }
    if (n_ok == 0) {
        rollback(self);
        return n;
    }
    if (!commit(self, &error)) {
        rollback(self);
        for (guint i = 0; i < n; i++)
            fail_item(items[i], error);
        return n;
    }

    generation = publish_commit(self);
    for (guint i = 0; i < n; i++)
        items[i]->generation = generation;
    tell_commit(self, generation, items, n);
    return n;
}

static void
execute_group(QdWriter *self, QdWriteItem **items, guint n)
{
    while (n > 0) {
        guint offender = execute_together(self, items, n);

        if (offender == n)
            return;
        /* without the offender the members before it cannot fail in the same way; each round is shorter */
        if (offender > 0)
            execute_group(self, items, offender);
        g_clear_error(&items[offender]->error);
        execute_alone(self, items[offender], TRUE);
        items += offender + 1;
        n -= offender + 1;
    }
}

static guint
take_items(QdWriter *self, QdWriteItem **ret_items)
{
    guint n = 0;

    pthread_mutex_lock(&self->mutex);
    while (self->first != NULL && n < GROUP_MAX) {
        ret_items[n++] = self->first;
        self->first = self->first->next;
    }
    if (self->first == NULL)
        self->end = &self->first;
    self->n_queued -= n;
    pthread_mutex_unlock(&self->mutex);
    return n;
}

static void
execute_items(QdWriter *self, QdWriteItem **items, guint n)
{
    g_autoptr(GError) error = NULL;
    guint start = 0;

    if (!ensure_connection(self, &error)) {
        for (guint i = 0; i < n; i++)
            fail_item(items[i], error);
        return;
    }
    for (guint i = 0; i < n; i++) {
        if (!qd_write_item_runs_alone(items[i], self->connection, self->config.limits))
            continue;
        execute_group(self, items + start, i - start);
        execute_alone(self, items[i], FALSE);
        start = i + 1;
    }
    execute_group(self, items + start, n - start);
}

/* Under no lock, by the holder of the role, after the answers are out. */
static void
checkpoint(QdWriter *self)
{
    uint64_t limit = qd_limits_get(self->config.limits, QD_LIMIT_WAL_BYTES);
    int n_log = 0;
    int n_done = 0;

    if (self->wal_pages < CHECKPOINT_PAGES)
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
    if (self->n_exclusive_waiting > 0 || self->first == NULL) {
        self->taken = FALSE;
        pthread_cond_signal(&self->cond);
    } else {
        push = TRUE;
    }
    pthread_mutex_unlock(&self->mutex);
    if (push)
        qd_workers_push_always(self->config.workers, &self->lead_task, TRUE);
}

static void
lead(QdWriter *self)
{
    QdWriteItem *items[GROUP_MAX];
    guint n = take_items(self, items);

    execute_items(self, items, n);
    for (guint i = 0; i < n; i++) {
        QdWriteItem *item = items[i];

        __atomic_add_fetch(&self->n_items, 1, __ATOMIC_RELAXED);
        item->done(item, item == own_item);
    }
    if (self->connection != NULL)
        checkpoint(self);
    pass_role(self);
}

static void
run_lead_task(QdTask *task, QdWorkers *workers)
{
    lead((QdWriter *) ((char *) task - offsetof(QdWriter, lead_task)));
}

void
qd_writer_submit(QdWriter *self, QdWriteItem *item)
{
    gboolean full;
    gboolean leads = FALSE;

    item->next = NULL;
    pthread_mutex_lock(&self->mutex);
    full = self->n_queued >= qd_limits_get(self->config.limits, QD_LIMIT_WRITE_QUEUE);
    if (!full) {
        *self->end = item;
        self->end = &item->next;
        self->n_queued++;
        leads = !self->taken && self->n_exclusive_waiting == 0;
        if (leads)
            self->taken = TRUE;
    }
    pthread_mutex_unlock(&self->mutex);

    if (full) {
        qd_limit_set_error(&item->error, self->config.limits, QD_LIMIT_WRITE_QUEUE, "too many updates wait for the writer");
        item->done(item, TRUE);
        return;
    }
    if (leads) {
        own_item = item;
        lead(self);
        own_item = NULL;
    }
}

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
        self->taken = TRUE;
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

    set_durability(self, item->relaxed);
    if (in_transaction && (!check_free_space(self, error) || !qd_connection_execute(self->connection, "BEGIN IMMEDIATE", error)))
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

    ok = ensure_connection(self, error) && check_free_space(self, error);
    if (ok) {
        set_durability(self, FALSE);
        ok = func(self->connection, item, user_data, error);
    }
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
    n = self->n_queued;
    pthread_mutex_unlock(&self->mutex);
    return n;
}
