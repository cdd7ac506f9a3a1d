/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checkpoints on a thread beside a writer, which is the test itself. What was copied is read from the index of the log, as
 * SQLite's documentation lays it out.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/write/checkpointer.h"
#include "tests/unit/store/store-fixture.h"

#define STEP_PAGES 64u
#define PAGE_BYTES 4096
#define MAX_FRAME_OFFSET 16
#define BACKFILL_OFFSET 96
#define N_COMMITS 3000
#define WAL_PAGES (32 * STEP_PAGES)
#define READ_USEC 20000

typedef struct Fixture {
    StoreFixture store;
    QdCheckpointer *checkpointer;
    QdConnection *reader;
    guint n_pages; /* in the log, by the last commit */
} Fixture;

static int
on_wal(void *data, sqlite3 *db, const char *name, int n_pages)
{
    ((Fixture *) data)->n_pages = (guint) n_pages;
    return SQLITE_OK;
}

static void
set_up(Fixture *self, gconstpointer data)
{
    store_fixture_set_up(&self->store, NULL);
    self->store.limits.values[QD_LIMIT_CHECKPOINT_BYTES] = STEP_PAGES * PAGE_BYTES;
    self->store.limits.values[QD_LIMIT_CHECKPOINT_HOLD_MSEC] = 0;
    store_execute(self->store.writer, "CREATE TABLE t(a INTEGER PRIMARY KEY, b); PRAGMA wal_checkpoint(TRUNCATE)");
    (void) sqlite3_wal_hook(qd_connection_get_db(self->store.writer), on_wal, self);
    self->reader = store_fixture_open_reader(&self->store);
    self->checkpointer = qd_checkpointer_new(self->store.database, &self->store.limits);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    qd_checkpointer_free(self->checkpointer);
    qd_connection_free(self->reader);
    store_fixture_tear_down(&self->store, NULL);
}

static void
insert(Fixture *self, guint n_bytes)
{
    g_autofree char *sql = g_strdup_printf("INSERT INTO t(b) VALUES(zeroblob(%u))", n_bytes);

    store_execute(self->store.writer, sql);
}

/* Commits until the log has more than @n pages. */
static void
fill_log(Fixture *self, guint n)
{
    do
        insert(self, 2 * PAGE_BYTES);
    while (self->n_pages <= n);
}

static guint
read_index(const Fixture *self, off_t offset)
{
    g_autofree char *path = g_strconcat(qd_database_get_path(self->store.database), "-shm", NULL);
    guint32 value = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    g_assert_cmpint(pread(fd, &value, sizeof value, offset), ==, sizeof value);
    g_assert_cmpint(close(fd), ==, 0);
    return value;
}

static void
checkpoint(Fixture *self)
{
    (void) qd_checkpointer_finish(self->checkpointer, self->store.writer);
}

static void
test_short_log(Fixture *self, gconstpointer data)
{
    insert(self, 10);
    g_assert_cmpuint(self->n_pages, <, STEP_PAGES);
    g_assert_false(qd_checkpointer_note(self->checkpointer, self->n_pages));
    qd_checkpointer_wait(self->checkpointer);
    g_assert_cmpuint(qd_checkpointer_get_n_passes(self->checkpointer), ==, 0);
}

static void
test_passes(Fixture *self, gconstpointer data)
{
    fill_log(self, STEP_PAGES);
    g_assert_false(qd_checkpointer_note(self->checkpointer, self->n_pages));
    qd_checkpointer_wait(self->checkpointer);
    g_assert_cmpuint(qd_checkpointer_get_n_passes(self->checkpointer), ==, 1);
    g_assert_cmpuint(read_index(self, BACKFILL_OFFSET), ==, self->n_pages);

    insert(self, 10); /* into a new log */
    g_assert_cmpuint(self->n_pages, <, STEP_PAGES);
    g_assert_cmpuint(read_index(self, MAX_FRAME_OFFSET), ==, self->n_pages);
    g_assert_false(qd_checkpointer_note(self->checkpointer, self->n_pages));
    fill_log(self, STEP_PAGES);
    g_assert_false(
        qd_checkpointer_note(self->checkpointer, self->n_pages)); /* passes ended since the last commit that was looked at */
    insert(self, 10);
    g_assert_false(qd_checkpointer_note(self->checkpointer, self->n_pages));
    qd_checkpointer_wait(self->checkpointer);
    g_assert_cmpuint(qd_checkpointer_get_n_passes(self->checkpointer), ==, 2);
    g_assert_cmpuint(read_index(self, BACKFILL_OFFSET), ==, self->n_pages);
}

/* The first is made beside commits; when that was quick, the writer makes the others. */
static void
test_quick(Fixture *self, gconstpointer data)
{
    self->store.limits.values[QD_LIMIT_CHECKPOINT_HOLD_MSEC] = 3600000;
    fill_log(self, STEP_PAGES);
    g_assert_false(qd_checkpointer_note(self->checkpointer, self->n_pages));
    qd_checkpointer_wait(self->checkpointer);
    for (guint i = 0; i < 3; i++) {
        insert(self, 10);
        g_assert_false(qd_checkpointer_note(self->checkpointer, self->n_pages));
        fill_log(self, STEP_PAGES);
        if (i == 0)
            g_assert_false(qd_checkpointer_note(self->checkpointer, self->n_pages)); /* as in test_passes() */
        g_assert_true(qd_checkpointer_note(self->checkpointer, self->n_pages));
        checkpoint(self);
        g_assert_cmpuint(read_index(self, BACKFILL_OFFSET), ==, self->n_pages);
    }
    g_assert_cmpuint(qd_checkpointer_get_n_passes(self->checkpointer), ==, 1);
}

/* The writer tries again and again, but not after each commit; if the log has grown by much meanwhile, it leaves it to the
 * thread. */
static void
test_old_snapshot(Fixture *self, gconstpointer data)
{
    insert(self, 10);
    store_execute(self->reader, "BEGIN; SELECT count(*) FROM t");
    fill_log(self, STEP_PAGES);
    g_assert_false(qd_checkpointer_note(self->checkpointer, self->n_pages));
    qd_checkpointer_wait(self->checkpointer);
    g_assert_cmpuint(read_index(self, BACKFILL_OFFSET), <, self->n_pages);

    insert(self, 10);
    g_assert_true(qd_checkpointer_note(self->checkpointer, self->n_pages));
    checkpoint(self);
    insert(self, 10);
    g_assert_false(qd_checkpointer_note(self->checkpointer, self->n_pages));
    fill_log(self, self->n_pages + STEP_PAGES / 2);
    g_assert_true(qd_checkpointer_note(self->checkpointer, self->n_pages));
    checkpoint(self);
    fill_log(self, self->n_pages + STEP_PAGES);
    g_assert_false(qd_checkpointer_note(self->checkpointer, self->n_pages));
    qd_checkpointer_wait(self->checkpointer);
    g_assert_cmpuint(qd_checkpointer_get_n_passes(self->checkpointer), ==, 2);

    store_execute(self->reader, "COMMIT");
    insert(self, 10);
    g_assert_true(qd_checkpointer_note(self->checkpointer, self->n_pages));
    checkpoint(self);
    g_assert_cmpuint(read_index(self, BACKFILL_OFFSET), ==, self->n_pages);
}

/* Passes may have ended by then or not: it is the writer's turn in both cases. */
static void
test_growth(Fixture *self, gconstpointer data)
{
    fill_log(self, STEP_PAGES);
    g_assert_false(qd_checkpointer_note(self->checkpointer, self->n_pages));
    insert(self, 10 * STEP_PAGES * PAGE_BYTES);
    g_assert_cmpuint(self->n_pages, >, 5 * STEP_PAGES);
    g_assert_true(qd_checkpointer_note(self->checkpointer, self->n_pages));
    checkpoint(self);
    g_assert_cmpuint(read_index(self, BACKFILL_OFFSET), ==, self->n_pages);
}

static void
test_rest(Fixture *self, gconstpointer data)
{
    qd_checkpointer_rest(self->checkpointer);
    for (guint i = 1; i <= 3; i++) {
        fill_log(self, STEP_PAGES);
        (void) qd_checkpointer_note(self->checkpointer, self->n_pages);
        insert(self, 10);
        (void) qd_checkpointer_note(self->checkpointer, self->n_pages);
        if (i == 1)
            qd_checkpointer_wait(self->checkpointer);
        qd_checkpointer_rest(self->checkpointer);
        checkpoint(self);
        g_assert_cmpuint(read_index(self, BACKFILL_OFFSET), ==, self->n_pages);
    }
    g_assert_cmpuint(qd_checkpointer_get_n_passes(self->checkpointer), >, 0);
}

/* Commits, passes and snapshots at once: each commit is there, for the reader at once, and in the file that is left. */
static void
test_beside_commits(Fixture *self, gconstpointer data)
{
    guint n_max = 0;

    for (guint i = 1; i <= N_COMMITS; i++) {
        insert(self, i % 5 * 3000);
        n_max = MAX(n_max, self->n_pages);
        if (qd_checkpointer_note(self->checkpointer, self->n_pages))
            checkpoint(self);
        if (i % 7 == 0)
            store_execute(self->reader, "BEGIN; SELECT count(*) FROM t");
        if (i % 7 == 3 && i > 7) {
            g_assert_cmpint(store_get_int64(self->reader, "SELECT count(*) FROM t"), ==, i - 3);
            store_execute(self->reader, "COMMIT");
        }
    }
    g_assert_cmpuint(qd_checkpointer_get_n_passes(self->checkpointer), >, 1);
    g_assert_cmpuint(n_max, <, 10 * STEP_PAGES);
    self->checkpointer = qd_checkpointer_free(self->checkpointer);
    self->reader = qd_connection_free(self->reader);
    self->store.writer = qd_connection_free(self->store.writer);
    self->reader = store_fixture_open_reader(&self->store);
    g_assert_cmpint(store_get_int64(self->reader, "SELECT count(*) FROM t"), ==, N_COMMITS);
    g_assert_cmpint(store_get_int64(self->reader, "SELECT count(*) FROM t WHERE length(b) <> a % 5 * 3000"), ==, 0);
    g_assert_cmpint(store_get_int64(self->reader, "SELECT count(*) FROM pragma_quick_check WHERE quick_check <> 'ok'"), ==, 0);
}

static gint64
get_log_bytes(const Fixture *self)
{
    g_autofree char *path = g_strconcat(qd_database_get_path(self->store.database), "-wal", NULL);
    struct stat st;

    g_assert_cmpint(stat(path, &st), ==, 0);
    return st.st_size;
}

/* Cut to nothing, but not beside a reader, and without waiting for that. */
static void
test_shrink(Fixture *self, gconstpointer data)
{
    gint64 start_usec;

    fill_log(self, 10 * STEP_PAGES);
    g_assert_false(qd_checkpointer_shrink_log(self->checkpointer, self->store.writer, STEP_PAGES));
    g_assert_cmpint(get_log_bytes(self), >, 10 * STEP_PAGES * PAGE_BYTES);
    store_execute(self->reader, "BEGIN; SELECT count(*) FROM t");
    insert(self, 1);
    start_usec = g_get_monotonic_time();
    g_assert_false(qd_checkpointer_shrink_log(self->checkpointer, self->store.writer, self->n_pages));
    g_assert_cmpint(g_get_monotonic_time() - start_usec, <, 4 * G_USEC_PER_SEC);
    store_execute(self->reader, "COMMIT");
    g_assert_true(qd_checkpointer_shrink_log(self->checkpointer, self->store.writer, self->n_pages));
    g_assert_cmpint(get_log_bytes(self), ==, 0);
    insert(self, 1);
    g_assert_cmpint(store_get_int64(self->reader, "SELECT max(length(b))=2*4096 AND min(length(b))=1 FROM t"), ==, 1);
}

/* One that restarts after a burst is cut to what is between checkpoints. */
static void
test_bounded(Fixture *self, gconstpointer data)
{
    qd_checkpointer_bound_log(self->checkpointer, self->store.writer);
    fill_log(self, 10 * STEP_PAGES);
    store_execute(self->store.writer, "PRAGMA wal_checkpoint(PASSIVE)");
    insert(self, 1);
    g_assert_cmpint(get_log_bytes(self), <=, 4 * STEP_PAGES * PAGE_BYTES);
}

/* Two readers, of which one has a snapshot at each moment. */
typedef struct Readers {
    QdConnection *connections[2];
    gint is_over; /* atomic */
} Readers;

static gpointer
read_without_a_gap(gpointer data)
{
    Readers *self = data;
    guint i = 0;

    store_execute(self->connections[0], "BEGIN; SELECT count(*) FROM t");
    for (; !g_atomic_int_get(&self->is_over); i++) {
        g_usleep(READ_USEC);
        store_execute(self->connections[(i + 1) % 2], "BEGIN; SELECT count(*) FROM t");
        store_execute(self->connections[i % 2], "COMMIT");
    }
    store_execute(self->connections[i % 2], "COMMIT");
    return NULL;
}

static void
test_readers_without_a_gap(Fixture *self, gconstpointer data)
{
    Readers readers = { .connections = { self->reader, store_fixture_open_reader(&self->store) } };
    GThread *thread;
    guint n_max = 0;
    guint n_written = 0;

    self->store.limits.values[QD_LIMIT_WAL_BYTES] = WAL_PAGES * PAGE_BYTES;
    thread = g_thread_new("readers", read_without_a_gap, &readers);
    while (n_written < 4 * WAL_PAGES) {
        guint n_before = self->n_pages;

        insert(self, 2 * PAGE_BYTES);
        n_written += self->n_pages > n_before ? self->n_pages - n_before : self->n_pages;
        n_max = MAX(n_max, self->n_pages);
        if (qd_checkpointer_note(self->checkpointer, self->n_pages))
            checkpoint(self);
    }
    g_atomic_int_set(&readers.is_over, TRUE);
    (void) g_thread_join(thread);
    qd_connection_free(readers.connections[1]);
    g_assert_cmpuint(n_max, <, WAL_PAGES);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/write/checkpointer/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("short-log", test_short_log);
    ADD("passes", test_passes);
    ADD("quick", test_quick);
    ADD("old-snapshot", test_old_snapshot);
    ADD("growth", test_growth);
    ADD("rest", test_rest);
    ADD("shrink", test_shrink);
    ADD("bounded", test_bounded);
    ADD("readers-without-a-gap", test_readers_without_a_gap);
    ADD("beside-commits", test_beside_commits);
    return g_test_run();
}
