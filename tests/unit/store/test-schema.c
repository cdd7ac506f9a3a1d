/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbered steps: a new file gets all, an older one the rest, and what it held stays.
 */
#include "daemon/store/schema.h"

#include "tests/unit/store/store-fixture.h"

static void
test_new(StoreFixture *fixture, gconstpointer data)
{
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT value FROM queryd_meta WHERE key='schema_version'"), ==,
                    QD_SCHEMA_VERSION);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad, queryd_term"), ==, 0);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT length(value) FROM queryd_meta WHERE key='term_secret'"), ==, 16);
}

/* As version 1 left it: without the tables of RDF. */
static void
test_older(StoreFixture *fixture, gconstpointer data)
{
    gint64 start = store_get_int64(fixture->writer, "SELECT value FROM queryd_meta WHERE key='start_counter'");

    store_execute(fixture->writer, "DROP TABLE queryd_term; DROP TABLE queryd_term_hash; DROP TABLE queryd_quad;"
                                   "DROP TABLE queryd_graph; DROP TABLE queryd_predicate; DROP TABLE queryd_prefix;"
                                   "DROP TABLE queryd_payload;"
                                   "DELETE FROM queryd_meta WHERE key NOT IN ('schema_version', 'start_counter');"
                                   "UPDATE queryd_meta SET value=1 WHERE key='schema_version';"
                                   "CREATE TABLE mine(x); INSERT INTO mine VALUES(7)");
    store_fixture_close(fixture);
    store_fixture_open(fixture);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT value FROM queryd_meta WHERE key='schema_version'"), ==,
                    QD_SCHEMA_VERSION);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT value FROM queryd_meta WHERE key='start_counter'"), ==, start + 1);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad"), ==, 0);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT x FROM mine"), ==, 7);
}

/* A step that fails leaves the file at the step before. */
static void
test_failed(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    store_execute(fixture->writer, "DROP TABLE queryd_term; DROP TABLE queryd_term_hash; DROP TABLE queryd_quad;"
                                   "UPDATE queryd_meta SET value=1 WHERE key='schema_version'");
    g_assert_false(qd_schema_migrate(fixture->writer, &error));
    store_assert_error(error, QW_ERROR_SYNTAX, "cannot bring the schema to version 2: ");
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT value FROM queryd_meta WHERE key='schema_version'"), ==, 1);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM sqlite_schema WHERE name='queryd_term'"), ==, 0);
    g_assert_true(sqlite3_get_autocommit(qd_connection_get_db(fixture->writer)));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/store/schema/new", StoreFixture, NULL, store_fixture_set_up, test_new, store_fixture_tear_down);
    g_test_add("/store/schema/older", StoreFixture, NULL, store_fixture_set_up, test_older, store_fixture_tear_down);
    g_test_add("/store/schema/failed", StoreFixture, NULL, store_fixture_set_up, test_failed, store_fixture_tear_down);
    return g_test_run();
}
