/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's passive checkpoints. The writer does a short one by itself: beside it a thread would slow down more commits than the
 * writer holds up. Else one pass follows the other until little is left. The writer makes the last one, between two commits,
 * since only a log that is copied as a whole restarts. Each pass syncs the log before it copies. SQLite syncs the database in
 * the last pass only. The copies of earlier passes are synced here, so that the last has little to sync. A pass that fails
 * changes nothing: what it should have copied is in the log, and the writer tries next. Where readers follow each other without a
 * gap the log would never restart: the writer waits for them once it is long. docs/decisions/checkpoints.md
 */
#include "daemon/write/checkpointer.h"

#include <pthread.h>
#include <sqlite3.h>
#include <time.h>

#include "daemon/base/limits.h"
#include "daemon/base/thread.h"
#include "daemon/sqlite/connection.h"
#include "daemon/store/database.h"

#define PAGE_BYTES 4096
/* Of the size from which the log is copied, so little is left to the writer. It also grows by so much until the writer tries
 * again, when readers have kept it from restarting. Each try is a chance that there are none just then. */
#define REST_PART 10
/* A writer that is faster than the disk would keep it going for ever. */
#define PASSES_MAX 4
/* So many times that size a log may grow while it is copied. */
#define GROWTH_MAX 3
#define LINGER_SEC 1
/* From this part of wal_bytes on, and whenever the log is twice as long, the writer waits for those that read. New readers need
 * nothing of the log then. */
#define WAIT_PART 4
#define WAIT_USEC 250000
#define LOOK_USEC 1000

struct QdCheckpointer {
    const QdDatabase *database;
    const QdLimits *limits;

    /* of the holder of the writer's role */
    guint tried_pages; /* how long the log was when the writer made a checkpoint; 0: it has restarted since */
    guint begun_pages; /* and when passes began; 0: the writer has made a checkpoint since, or it has restarted */
    guint n_waits;     /* for readers in vain, since it has restarted */
    uint64_t n_seen;   /* passes, when the last commit was noted */
    gboolean is_whole; /* what the writer is to copy, not a rest */

    guint n_pages;      /* atomic: in the log, by the last commit */
    uint64_t n_passes;  /* atomic */
    uint64_t copy_usec; /* atomic: how long it took to copy the last log, or most of it */

    pthread_mutex_t mutex;
    pthread_cond_t cond;
    gboolean has_thread;
    gboolean is_busy; /* the thread is to make passes, or makes them */
    gint stopping;    /* atomic, written under the mutex */

    QdConnection *connection; /* the thread's */
};

QdCheckpointer *
qd_checkpointer_new(const QdDatabase *database, const QdLimits *limits)
{
    QdCheckpointer *self = g_new0(QdCheckpointer, 1);

    self->database = database;
    self->limits = limits;
    self->copy_usec = UINT64_MAX; /* not known */
    pthread_mutex_init(&self->mutex, NULL);
    qd_cond_init(&self->cond);
    return self;
}

QdCheckpointer *
qd_checkpointer_free(QdCheckpointer *self)
{
    if (self == NULL)
        return NULL;

    qd_checkpointer_rest(self);
    pthread_cond_destroy(&self->cond);
    pthread_mutex_destroy(&self->mutex);
    g_free(self);
    return NULL;
}

/* The thread --------------------------------------------------------------------------------------------------------------- */

/* Its synchronous=FULL is what the syncs of a checkpoint go by, not the writer's. */
static gboolean
ensure_connection(QdCheckpointer *self)
{
    const QdConnectionInfo info = qd_database_get_info(self->database);

    if (self->connection == NULL)
        self->connection = qd_connection_open(&info, QD_CONNECTION_WRITER, self->limits, NULL);
    return self->connection != NULL;
}

static void
close_connection(QdCheckpointer *self)
{
    if (self->connection == NULL)
        return;
    qd_connection_keep_log(self->connection);
    self->connection = qd_connection_free(self->connection);
}

/* Returns: SQLite's code, with the pages in the log and those of them that are copied. @is_whole: nothing of the log was copied yet
 */
static int
copy_log(QdCheckpointer *self, QdConnection *connection, gboolean is_whole, int *ret_n_log, int *ret_n_done)
{
    gint64 start_usec = g_get_monotonic_time();
    int r = sqlite3_wal_checkpoint_v2(qd_connection_get_db(connection), NULL, SQLITE_CHECKPOINT_PASSIVE, ret_n_log, ret_n_done);

    if (is_whole)
        __atomic_store_n(&self->copy_usec, (uint64_t) (g_get_monotonic_time() - start_usec), __ATOMIC_RELAXED);
    return r;
}

/* TRUE: all was copied that was in the log when it began, @ret_n_done pages. A snapshot of a reader may forbid that. */
static gboolean
make_pass(QdCheckpointer *self, gboolean is_first, guint *ret_n_done)
{
    int n_log = 0;
    int n_done = 0;
    int r = copy_log(self, self->connection, is_first, &n_log, &n_done);

    __atomic_add_fetch(&self->n_passes, 1, __ATOMIC_RELAXED);
    *ret_n_done = (guint) MAX(n_done, 0);
    return r == SQLITE_OK && n_done == n_log;
}

static gboolean
sync_database(QdCheckpointer *self)
{
    sqlite3_file *file = NULL;
    int r = sqlite3_file_control(qd_connection_get_db(self->connection), "main", SQLITE_FCNTL_FILE_POINTER, &file);

    return r == SQLITE_OK && file->pMethods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY) == SQLITE_OK;
}

/* What commits have added since a pass that has copied @n_done pages. */
static guint
count_left(const QdCheckpointer *self, guint n_done)
{
    guint n_pages = __atomic_load_n(&self->n_pages, __ATOMIC_ACQUIRE);

    return n_pages > n_done ? n_pages - n_done : 0;
}

static guint
get_step(const QdCheckpointer *self)
{
    return (guint) (qd_limits_get(self->limits, QD_LIMIT_CHECKPOINT_BYTES) / PAGE_BYTES);
}

static void
make_passes(QdCheckpointer *self)
{
    guint n_done;

    if (!ensure_connection(self))
        return;
    for (guint i = 0; i < PASSES_MAX && !g_atomic_int_get(&self->stopping); i++) {
        if (!make_pass(self, i == 0, &n_done) || count_left(self, n_done) == 0 || !sync_database(self) ||
            count_left(self, n_done) <= get_step(self) / REST_PART)
            return;
    }
}

/* Under the mutex. FALSE: the thread has been idle for long, or is to end. */
static gboolean
await_work(QdCheckpointer *self)
{
    struct timespec until;
    int r = 0;

    (void) clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LINGER_SEC;
    while (!self->is_busy && !self->stopping && r == 0)
        r = pthread_cond_timedwait(&self->cond, &self->mutex, &until);
    return self->is_busy;
}

static void *
checkpointer_main(void *data)
{
    QdCheckpointer *self = data;

    (void) pthread_setname_np(pthread_self(), "queryd-checkpt");
    pthread_mutex_lock(&self->mutex);
    while (await_work(self)) {
        pthread_mutex_unlock(&self->mutex);
        make_passes(self);
        pthread_mutex_lock(&self->mutex);
        self->is_busy = FALSE;
        pthread_cond_broadcast(&self->cond);
    }
    close_connection(self);
    self->has_thread = FALSE;
    pthread_cond_broadcast(&self->cond);
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

/* The writer --------------------------------------------------------------------------------------------------------------- */

/* Under the mutex. */
static gboolean
begin_passes(QdCheckpointer *self)
{
    if (!self->has_thread)
        self->has_thread = qd_thread_start(checkpointer_main, self) == 0;
    self->is_busy = self->has_thread;
    pthread_cond_broadcast(&self->cond);
    return self->is_busy;
}

static gboolean
is_quick(const QdCheckpointer *self)
{
    return __atomic_load_n(&self->copy_usec, __ATOMIC_RELAXED) < 1000 * qd_limits_get(self->limits, QD_LIMIT_CHECKPOINT_HOLD_MSEC);
}

/* Under the mutex: whose turn it is. A pass that ended just now may have copied this commit, too: then the next one decides. */
static gboolean
decide(QdCheckpointer *self, guint n_pages)
{
    uint64_t n_seen = self->n_seen;

    if (self->is_busy)
        return n_pages > self->begun_pages + GROWTH_MAX * get_step(self);
    self->n_seen = qd_checkpointer_get_n_passes(self);
    if (self->begun_pages > 0 || (self->tried_pages > 0 && n_pages < self->tried_pages + get_step(self)))
        return TRUE;
    if (self->n_seen != n_seen)
        return FALSE;
    self->is_whole = is_quick(self) || !begin_passes(self);
    if (self->is_whole)
        return TRUE;
    self->begun_pages = n_pages;
    return FALSE;
}

static void
note_restart(QdCheckpointer *self)
{
    self->tried_pages = self->begun_pages = self->n_waits = 0;
}

gboolean
qd_checkpointer_note(QdCheckpointer *self, guint n_pages)
{
    guint step = get_step(self);
    gboolean is_mine;

    if (n_pages < self->n_pages)
        note_restart(self);
    __atomic_store_n(&self->n_pages, n_pages, __ATOMIC_RELEASE);
    if (n_pages < (self->tried_pages > 0 ? self->tried_pages + step / REST_PART : step))
        return FALSE;

    pthread_mutex_lock(&self->mutex);
    is_mine = decide(self, n_pages);
    pthread_mutex_unlock(&self->mutex);
    if (is_mine) {
        self->tried_pages = n_pages;
        self->begun_pages = 0;
    }
    return is_mine;
}

/* A busy handler. */
static int
wait_for_readers(void *data, G_GNUC_UNUSED int n_tries)
{
    if (g_get_monotonic_time() >= *(const gint64 *) data)
        return 0;

    g_usleep(LOOK_USEC);
    return 1;
}

/* Returns: whether all was copied, and no connection reads the log any more */
static gboolean
empty_log(QdCheckpointer *self, QdConnection *connection, gint64 wait_usec)
{
    sqlite3 *db = qd_connection_get_db(connection);
    gint64 end_usec = g_get_monotonic_time() + wait_usec;
    int r;

    qd_checkpointer_wait(self);
    (void) sqlite3_busy_handler(db, wait_for_readers, &end_usec);
    r = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    qd_connection_restore_lock_wait(connection);
    if (r != SQLITE_OK)
        return FALSE;
    __atomic_store_n(&self->n_pages, 0, __ATOMIC_RELEASE);
    note_restart(self);
    return TRUE;
}

static uint64_t
get_wait_bytes(const QdCheckpointer *self)
{
    return (qd_limits_get(self->limits, QD_LIMIT_WAL_BYTES) / WAIT_PART) << self->n_waits;
}

uint64_t
qd_checkpointer_finish(QdCheckpointer *self, QdConnection *connection)
{
    int n_log = 0;
    int n_done = 0;

    qd_checkpointer_wait(self);
    (void) copy_log(self, connection, self->is_whole, &n_log, &n_done);
    self->is_whole = FALSE;
    if ((uint64_t) MAX(n_log, 0) * PAGE_BYTES >= get_wait_bytes(self)) {
        self->n_waits++;
        if (qd_checkpointer_empty_log(self, connection))
            return 0;
    }
    return n_log > n_done ? (uint64_t) n_log * PAGE_BYTES : 0;
}

gboolean
qd_checkpointer_empty_log(QdCheckpointer *self, QdConnection *connection)
{
    return empty_log(self, connection, WAIT_USEC);
}

void
qd_checkpointer_wait(QdCheckpointer *self)
{
    pthread_mutex_lock(&self->mutex);
    while (self->is_busy)
        pthread_cond_wait(&self->cond, &self->mutex);
    pthread_mutex_unlock(&self->mutex);
}

void
qd_checkpointer_bound_log(const QdCheckpointer *self, QdConnection *connection)
{
    g_autofree char *sql = g_strdup_printf("PRAGMA journal_size_limit=%" G_GUINT64_FORMAT,
                                           (guint64) (GROWTH_MAX + 1) * get_step(self) * PAGE_BYTES);

    (void) qd_connection_execute(connection, sql, NULL);
}

gboolean
qd_checkpointer_shrink_log(QdCheckpointer *self, QdConnection *connection, guint n_pages)
{
    return n_pages > get_step(self) && empty_log(self, connection, 0);
}

void
qd_checkpointer_rest(QdCheckpointer *self)
{
    pthread_mutex_lock(&self->mutex);
    g_atomic_int_set(&self->stopping, TRUE);
    pthread_cond_broadcast(&self->cond);
    while (self->has_thread)
        pthread_cond_wait(&self->cond, &self->mutex);
    g_atomic_int_set(&self->stopping, FALSE);
    pthread_mutex_unlock(&self->mutex);
}

uint64_t
qd_checkpointer_get_n_passes(const QdCheckpointer *self)
{
    return __atomic_load_n(&self->n_passes, __ATOMIC_RELAXED);
}
