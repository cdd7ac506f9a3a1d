/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The position of the log moves with each commit of any connection, and with nothing else that leaves the data as they are.
 */
#include "daemon/results/log-view.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/results/results-fixture.h"

typedef struct Fixture {
    StoreFixture store;
    sqlite3 *other;
    QdLogView *view;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    store_fixture_set_up(&self->store, NULL);
    store_execute(self->store.writer, "CREATE TABLE t(a)");
    self->other = open_elsewhere(&self->store);
    self->view = qd_log_view_new(qd_database_get_path(self->store.database));
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    (void) qd_log_view_free(self->view);
    (void) sqlite3_close(self->other);
    store_fixture_tear_down(&self->store, NULL);
}

static QdLogPosition
read_position(Fixture *self)
{
    QdLogPosition position;

    g_assert_true(qd_log_view_read(self->view, &position));
    return position;
}

static void
test_commits(Fixture *self, gconstpointer data)
{
    QdLogPosition before = read_position(self);
    QdLogPosition after = read_position(self);

    g_assert_true(qd_log_position_equals(&before, &after));
    store_execute(self->store.writer, "INSERT INTO t VALUES(1)");
    after = read_position(self);
    g_assert_cmpuint(after.n_commits, ==, before.n_commits + 1);
    g_assert_false(qd_log_position_equals(&before, &after));

    before = after;
    execute_elsewhere(self->other, "INSERT INTO t VALUES(2)");
    after = read_position(self);
    g_assert_cmpuint(after.n_commits, ==, before.n_commits + 1);
    execute_elsewhere(self->other, "VACUUM");
    before = after;
    after = read_position(self);
    g_assert_false(qd_log_position_equals(&before, &after));
}

static void
test_no_commit(Fixture *self, gconstpointer data)
{
    QdLogPosition before;
    QdLogPosition after;

    execute_elsewhere(self->other, "INSERT INTO t VALUES(1)");
    before = read_position(self);
    execute_elsewhere(self->other, "BEGIN IMMEDIATE; INSERT INTO t VALUES(2); ROLLBACK; SELECT * FROM t");
    after = read_position(self);
    g_assert_true(qd_log_position_equals(&before, &after));
    execute_elsewhere(self->other, "PRAGMA wal_checkpoint(PASSIVE)");
    after = read_position(self);
    g_assert_true(qd_log_position_equals(&before, &after));
}

/* The log begins again: the number of frames may become an old one, the salt does not. */
static void
test_new_log(Fixture *self, gconstpointer data)
{
    QdLogPosition before;
    QdLogPosition after;

    execute_elsewhere(self->other, "PRAGMA wal_checkpoint(TRUNCATE); UPDATE t SET a = 1");
    before = read_position(self);
    execute_elsewhere(self->other, "PRAGMA wal_checkpoint(TRUNCATE); UPDATE t SET a = 2");
    after = read_position(self);
    g_assert_false(qd_log_position_equals(&before, &after));
}

/* Without a connection there is no index; the one that comes then is another file. */
static void
test_another_index(Fixture *self, gconstpointer data)
{
    QdLogPosition position;

    (void) read_position(self);
    (void) sqlite3_close(g_steal_pointer(&self->other));
    store_fixture_close(&self->store);
    g_assert_false(qd_log_view_read(self->view, &position));
    g_assert_false(qd_log_view_read(self->view, &position));
    store_fixture_open(&self->store);
    store_execute(self->store.writer, "INSERT INTO t VALUES(1)");
    (void) read_position(self);
    qd_log_view_close(self->view);
    (void) read_position(self);
}

static void
test_no_index(Fixture *self, gconstpointer data)
{
    g_autofree char *path = g_build_filename(self->store.dir, "other", NULL);
    g_autofree char *index = g_strconcat(path, "-shm", NULL);
    g_autofree char *real = g_strconcat(qd_database_get_path(self->store.database), "-shm", NULL);
    QdLogView *view = qd_log_view_new(path);
    QdLogPosition position;

    g_assert_false(qd_log_view_read(view, &position));
    g_assert_true(g_file_set_contents(index, "", 0, NULL));
    g_assert_false(qd_log_view_read(view, &position));
    g_assert_cmpint(unlink(index), ==, 0);
    g_assert_cmpint(symlink(real, index), ==, 0);
    g_assert_false(qd_log_view_read(view, &position));
    (void) qd_log_view_free(view);
}

/* SQLite has made the file, and has not written a header yet. */
static void
test_no_header(Fixture *self, gconstpointer data)
{
    g_autofree char *path = g_build_filename(self->store.dir, "other", NULL);
    g_autofree char *index = g_strconcat(path, "-shm", NULL);
    const char zeros[4096] = { 0 };
    QdLogView *view = qd_log_view_new(path);
    QdLogPosition position;

    g_assert_true(g_file_set_contents(index, zeros, 3, NULL));
    g_assert_false(qd_log_view_read(view, &position));
    g_assert_true(g_file_set_contents(index, zeros, sizeof zeros, NULL));
    g_assert_false(qd_log_view_read(view, &position));
    (void) qd_log_view_free(view);
}

#define ADD(path, func) g_test_add("/results/log-view/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("commits", test_commits);
    ADD("no-commit", test_no_commit);
    ADD("new-log", test_new_log);
    ADD("another-index", test_another_index);
    ADD("no-index", test_no_index);
    ADD("no-header", test_no_header);
    return g_test_run();
}
