/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which cells a write concerns. The order of events around a commit: what is seen before it is said, and what others write
 * before, between and after.
 */
#include "daemon/results/result-watch.h"

#include "tests/unit/results/results-fixture.h"

typedef struct Fixture {
    StoreFixture store;
    sqlite3 *other;
    QdResultWatch *watch;
    GPtrArray *t; /* cells of a query that reads it */
    GPtrArray *u;
} Fixture;

static GPtrArray *
take(Fixture *self, gboolean is_sparql, const char *names)
{
    g_autoptr(QdReadSet) reads = make_reads(is_sparql, names);

    return qd_result_watch_take_cells(self->watch, reads);
}

static void
set_up(Fixture *self, gconstpointer data)
{
    store_fixture_set_up(&self->store, NULL);
    store_execute(self->store.writer, "CREATE TABLE t(a); CREATE TABLE u(a)");
    self->other = open_elsewhere(&self->store);
    self->watch = qd_result_watch_new(qd_database_get_path(self->store.database));
    self->t = take(self, FALSE, "t");
    self->u = take(self, FALSE, "u");
    g_assert_true(qd_result_watch_catch_up(self->watch));
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    qd_result_watch_release(self->watch, self->t);
    qd_result_watch_release(self->watch, self->u);
    (void) qd_result_watch_free(self->watch);
    (void) sqlite3_close(self->other);
    store_fixture_tear_down(&self->store, NULL);
}

static void
begin(Fixture *self)
{
    store_execute(self->store.writer, "BEGIN IMMEDIATE");
    qd_result_watch_begin_write(self->watch);
}

static void
commit(Fixture *self)
{
    store_execute(self->store.writer, "INSERT INTO t VALUES(1); COMMIT");
}

static void
end(Fixture *self, const char *tables, const char *predicates)
{
    g_autoptr(QdChanges) changes = make_changes(tables, predicates);

    qd_result_watch_end_write(self->watch, changes, TRUE);
}

static void
write_own(Fixture *self, const char *tables, const char *predicates)
{
    begin(self);
    commit(self);
    end(self, tables, predicates);
}

static void
write_elsewhere(Fixture *self)
{
    execute_elsewhere(self->other, "INSERT INTO u VALUES(1)");
}

static gboolean
is_right(const Fixture *self, const GPtrArray *cells, guint64 number)
{
    return qd_result_watch_is_unchanged(self->watch, cells, number);
}

/* Own writes --------------------------------------------------------------------------------------------------------------- */

static void
test_own_write(Fixture *self, gconstpointer data)
{
    guint64 number = qd_result_watch_get_number(self->watch);

    write_own(self, "T", "");
    g_assert_cmpuint(qd_result_watch_get_number(self->watch), ==, number + 1);
    g_assert_true(qd_result_watch_catch_up(self->watch));
    g_assert_false(is_right(self, self->t, number));
    g_assert_true(is_right(self, self->t, number + 1));
    g_assert_true(is_right(self, self->u, number));
    g_assert_false(qd_result_watch_all_changed(self->watch, number));
}

static void
test_predicates(Fixture *self, gconstpointer data)
{
    GPtrArray *p = take(self, TRUE, "p");
    GPtrArray *any = take(self, TRUE, "*");
    GPtrArray *none = take(self, TRUE, "");
    GPtrArray *rdf = take(self, FALSE, QD_READ_SET_RDF);
    guint64 number = qd_result_watch_get_number(self->watch);

    write_own(self, "", "q");
    g_assert_true(is_right(self, p, number));
    g_assert_false(is_right(self, any, number));
    g_assert_false(is_right(self, none, number));
    g_assert_false(is_right(self, rdf, number));
    g_assert_true(is_right(self, self->t, number));
    write_own(self, "", "p");
    g_assert_false(is_right(self, p, number));
    number = qd_result_watch_get_number(self->watch);
    write_own(self, "t", "");
    g_assert_true(is_right(self, p, number) && is_right(self, any, number) && is_right(self, rdf, number));
    write_own(self, "", "*");
    g_assert_false(is_right(self, p, number) || is_right(self, self->u, number));
    qd_result_watch_release(self->watch, p);
    qd_result_watch_release(self->watch, any);
    qd_result_watch_release(self->watch, none);
    qd_result_watch_release(self->watch, rdf);
}

/* The schema, prefixes, all tables, and a commit that does not say what it has changed. */
static void
test_everything(Fixture *self, gconstpointer data)
{
    for (guint i = 0; i < 4; i++) {
        g_autoptr(QdChanges) changes = make_changes(i == 2 ? "*" : "", "");
        guint64 number = qd_result_watch_get_number(self->watch);

        changes->schema = i == 0;
        changes->prefixes = i == 1;
        begin(self);
        commit(self);
        qd_result_watch_end_write(self->watch, changes, TRUE);
        g_assert_true(qd_result_watch_catch_up(self->watch));
        g_assert_true(qd_result_watch_all_changed(self->watch, number));
        g_assert_false(is_right(self, self->u, number));
        g_assert_true(is_right(self, self->u, number + 1));
    }
}

static void
test_nothing_written(Fixture *self, gconstpointer data)
{
    guint64 number = qd_result_watch_get_number(self->watch);
    g_autoptr(QdChanges) changes = make_changes("t", "");

    begin(self);
    store_execute(self->store.writer, "ROLLBACK");
    qd_result_watch_end_write(self->watch, NULL, FALSE);
    begin(self);
    store_execute(self->store.writer, "COMMIT");
    qd_result_watch_end_write(self->watch, changes, FALSE);
    qd_result_watch_end_write(self->watch, changes, TRUE); /* without a begin */
    g_assert_true(qd_result_watch_catch_up(self->watch));
    g_assert_true(is_right(self, self->t, number));
    g_assert_cmpuint(qd_result_watch_get_number(self->watch), ==, number);
}

/* Order -------------------------------------------------------------------------------------------------------------------- */

/* Readers see the commit already: no remembered result is right, and none is forgotten. */
static void
test_seen_before_it_is_said(Fixture *self, gconstpointer data)
{
    guint64 number = qd_result_watch_get_number(self->watch);

    begin(self);
    g_assert_true(qd_result_watch_catch_up(self->watch));
    commit(self);
    g_assert_false(qd_result_watch_catch_up(self->watch));
    end(self, "t", "");
    g_assert_true(qd_result_watch_catch_up(self->watch));
    g_assert_true(is_right(self, self->u, number));
    g_assert_false(is_right(self, self->t, number));
}

static void
test_another_program(Fixture *self, gconstpointer data)
{
    guint64 number = qd_result_watch_get_number(self->watch);

    write_elsewhere(self);
    g_assert_true(qd_result_watch_catch_up(self->watch));
    g_assert_false(is_right(self, self->u, number));
    g_assert_true(qd_result_watch_all_changed(self->watch, number));
    number = qd_result_watch_get_number(self->watch);
    g_assert_true(qd_result_watch_catch_up(self->watch));
    g_assert_true(is_right(self, self->u, number));
}

static void
test_another_program_before_ours(Fixture *self, gconstpointer data)
{
    guint64 number = qd_result_watch_get_number(self->watch);

    write_elsewhere(self);
    write_own(self, "t", "");
    g_assert_true(qd_result_watch_catch_up(self->watch));
    g_assert_false(is_right(self, self->u, number));
}

static void
test_another_program_after_ours(Fixture *self, gconstpointer data)
{
    guint64 number = qd_result_watch_get_number(self->watch);

    begin(self);
    commit(self);
    write_elsewhere(self);
    g_assert_true(qd_result_watch_catch_up(self->watch)); /* two commits: it cannot be ours alone */
    g_assert_false(is_right(self, self->u, number));
    end(self, "t", "");
    g_assert_true(qd_result_watch_catch_up(self->watch));
    g_assert_false(is_right(self, self->u, number));
}

/* Ours has not written; the one commit that there is then is of the other. */
static void
test_another_program_in_place_of_ours(Fixture *self, gconstpointer data)
{
    guint64 number = qd_result_watch_get_number(self->watch);
    g_autoptr(QdChanges) changes = make_changes("t", "");

    begin(self);
    store_execute(self->store.writer, "COMMIT");
    write_elsewhere(self);
    qd_result_watch_end_write(self->watch, changes, FALSE);
    g_assert_true(qd_result_watch_catch_up(self->watch));
    g_assert_false(is_right(self, self->u, number));
}

/* A commit of ours that begins without begin_write(), as VACUUM's: as one of another program. */
static void
test_without_begin(Fixture *self, gconstpointer data)
{
    guint64 number = qd_result_watch_get_number(self->watch);

    store_execute(self->store.writer, "VACUUM");
    end(self, "t", "");
    g_assert_true(qd_result_watch_catch_up(self->watch));
    g_assert_false(is_right(self, self->u, number));
}

/* Without a cell nothing is said of a write: the first cell knows nothing of what was before. */
static void
test_first_cell(Fixture *self, gconstpointer data)
{
    guint64 number;

    qd_result_watch_release(self->watch, g_steal_pointer(&self->t));
    qd_result_watch_release(self->watch, g_steal_pointer(&self->u));
    begin(self);
    commit(self);
    g_assert_true(qd_result_watch_catch_up(self->watch));
    number = qd_result_watch_get_number(self->watch);
    self->t = take(self, FALSE, "t");
    self->u = take(self, FALSE, "u");
    end(self, "t", "");
    g_assert_true(qd_result_watch_catch_up(self->watch));
    g_assert_true(qd_result_watch_all_changed(self->watch, number));
}

static void
test_forgotten(Fixture *self, gconstpointer data)
{
    guint64 number = qd_result_watch_get_number(self->watch);

    qd_result_watch_forget(self->watch);
    g_assert_false(is_right(self, self->t, number));
    g_assert_true(qd_result_watch_catch_up(self->watch));
    number = qd_result_watch_get_number(self->watch);
    write_own(self, "u", "");
    g_assert_true(qd_result_watch_catch_up(self->watch));
    g_assert_true(is_right(self, self->t, number));
}

/* Another database in place of this one: its index is another file. */
static void
test_another_database(Fixture *self, gconstpointer data)
{
    guint64 number = qd_result_watch_get_number(self->watch);

    (void) sqlite3_close(g_steal_pointer(&self->other));
    store_fixture_close(&self->store);
    g_assert_false(qd_result_watch_catch_up(self->watch));
    store_fixture_open(&self->store);
    store_execute(self->store.writer, "INSERT INTO t VALUES(1)");
    g_assert_true(qd_result_watch_catch_up(self->watch));
    g_assert_false(is_right(self, self->t, number));
}

/* Cells have as many users as queries read them. */
static void
test_users(Fixture *self, gconstpointer data)
{
    guint64 number = qd_result_watch_get_number(self->watch);
    GPtrArray *both = take(self, FALSE, "t u");

    write_own(self, "t", "");
    g_assert_false(is_right(self, both, number));
    qd_result_watch_release(self->watch, both);
    g_assert_false(is_right(self, self->t, number));
    g_assert_true(is_right(self, self->u, number));
    both = take(self, FALSE, "t v");
    g_assert_false(is_right(self, both, number));
    g_assert_true(is_right(self, both, number + 1));
    qd_result_watch_release(self->watch, both);
}

#define ADD(path, func) g_test_add("/results/result-watch/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("own-write", test_own_write);
    ADD("predicates", test_predicates);
    ADD("everything", test_everything);
    ADD("nothing-written", test_nothing_written);
    ADD("seen-before-it-is-said", test_seen_before_it_is_said);
    ADD("another-program", test_another_program);
    ADD("another-program-before-ours", test_another_program_before_ours);
    ADD("another-program-after-ours", test_another_program_after_ours);
    ADD("another-program-in-place-of-ours", test_another_program_in_place_of_ours);
    ADD("without-begin", test_without_begin);
    ADD("first-cell", test_first_cell);
    ADD("forgotten", test_forgotten);
    ADD("another-database", test_another_database);
    ADD("users", test_users);
    return g_test_run();
}
