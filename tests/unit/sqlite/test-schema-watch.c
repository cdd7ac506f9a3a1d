/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection reads a schema that others have changed: in time, and in one snapshot.
 */
#include "daemon/sqlite/schema-watch.h"

#include "daemon/sqlite/memory.h"
#include "tests/unit/store/store-fixture.h"

#define N_TABLES 300

static QdConnection *
open_reader(StoreFixture *self, const guint64 *generation)
{
    QdConnectionInfo info = qd_database_get_info(self->database);
    g_autoptr(GError) error = NULL;
    QdConnection *reader;

    info.schema_generation = generation;
    reader = qd_connection_open(&info, QD_CONNECTION_READER, &self->limits, &error);
    g_assert_no_error(error);
    return reader;
}

static void
make_tables(StoreFixture *self)
{
    g_autoptr(GString) text = g_string_new("BEGIN;");

    for (guint i = 0; i < N_TABLES; i++)
        g_string_append_printf(text, "CREATE TABLE t%u(a TEXT NOT NULL, b INTEGER DEFAULT 1, c COLLATE NOCASE);", i);
    g_string_append(text, "COMMIT");
    store_execute(self->writer, text->str);
}

/* It was read regardless of the caller's deadline, for as long as it took. */
static void
test_deadline(StoreFixture *self, gconstpointer data)
{
    guint64 generation = 1;
    g_autoptr(QdConnection) reader = NULL;
    g_autoptr(GError) error = NULL;
    int used = 0;
    int high;

    store_execute(self->writer, "CREATE TABLE first(a)");
    reader = open_reader(self, &generation);
    g_assert_nonnull(store_compile(self, reader, "SELECT a FROM first", QD_POLICY_READ, &error));
    make_tables(self);
    generation++;
    g_assert_true(qd_schema_watch_is_behind(qd_connection_get_schema(reader)));
    qd_connection_set_compile_end(reader, (uint64_t) g_get_monotonic_time() - 1, 7);
    g_assert_null(store_compile(self, reader, "SELECT a FROM first", QD_POLICY_READ, &error));
    store_assert_error(error, QW_ERROR_TIMEOUT, "longer to compile than its 7 ms");
    g_clear_error(&error);
    (void) sqlite3_db_status(qd_connection_get_db(reader), SQLITE_DBSTATUS_SCHEMA_USED, &used, &high, 0);
    g_assert_cmpint(used, <, N_TABLES * 300);
    g_assert_true(qd_schema_watch_is_behind(qd_connection_get_schema(reader)));
    g_assert_true(sqlite3_get_autocommit(qd_connection_get_db(reader)));

    qd_connection_set_compile_end(reader, 0, 0);
    g_assert_nonnull(store_compile(self, reader, "SELECT a FROM t299", QD_POLICY_READ, &error));
    g_assert_no_error(error);
    g_assert_false(qd_schema_watch_is_behind(qd_connection_get_schema(reader)));
}

/* Where the caller asks for it the snapshot stays open, so that the statement does not have the schema read again. */
static void
test_keeps(StoreFixture *self, gconstpointer data)
{
    guint64 generation = 1;
    g_autoptr(QdConnection) reader = open_reader(self, &generation);
    QdSchemaWatch *schema = qd_connection_get_schema(reader);
    sqlite3 *db = qd_connection_get_db(reader);
    QdCompiled *compiled;

    g_assert_nonnull(store_compile(self, reader, "SELECT 1", QD_POLICY_READ, NULL));
    for (guint i = 0; i < 2; i++) {
        g_autofree char *change = g_strdup_printf("CREATE TABLE t%u(a)", i);

        store_execute(self->writer, change);
        generation++;
        schema->keeps = i == 1;
        g_assert_nonnull(store_compile(self, reader, "SELECT count(*) FROM t0", QD_POLICY_READ, NULL));
        schema->keeps = FALSE;
        g_assert_cmpint(sqlite3_get_autocommit(db), ==, i == 0);
    }
    store_execute(self->writer, "DROP TABLE t0");
    generation++;
    compiled = store_compile(self, reader, "SELECT count(*) FROM t1", QD_POLICY_READ, NULL);
    g_assert_nonnull(compiled);
    g_assert_cmpint(sqlite3_step(compiled->stmt), ==, SQLITE_ROW);
    g_assert_cmpint(sqlite3_stmt_status(compiled->stmt, SQLITE_STMTSTATUS_REPREPARE, 0), ==, 0);
    (void) sqlite3_reset(compiled->stmt);
    g_assert_nonnull(
        store_compile(self, reader, "SELECT count(*) FROM t0", QD_POLICY_READ, NULL)); /* it is there, in the snapshot */
    g_assert_true(qd_connection_end(reader, NULL));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_assert_true(qd_memory_init(NULL)); /* before SQLite is used */
#define ADD(path, func) \
    g_test_add("/sqlite/schema-watch/" path, StoreFixture, NULL, store_fixture_set_up, func, store_fixture_tear_down)
    ADD("deadline", test_deadline);
    ADD("keeps", test_keeps);
    return g_test_run();
}
