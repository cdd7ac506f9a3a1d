/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connections: hardening, limits, and the cache of statements.
 */
#include "daemon/sqlite/connection.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/store/store-fixture.h"

static void
assert_fails(StoreFixture *self, const char *text, QwError code, const char *words)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(store_compile(self, self->writer, text, QD_POLICY_WRITE, &error));
    store_assert_error(error, code, words);
}

/* Runs a client's update; SQLite's result code. */
static int
run(StoreFixture *self, QdConnection *connection, const char *text)
{
    g_autoptr(GError) error = NULL;
    QdCompiled *compiled = store_compile(self, connection, text, QD_POLICY_WRITE, &error);
    int r;

    g_assert_no_error(error);
    while ((r = sqlite3_step(compiled->stmt)) == SQLITE_ROW)
        continue;
    (void) sqlite3_reset(compiled->stmt);
    return r & 0xff;
}

static int
refuse(void *data)
{
    ++*(guint *) data;
    return 1;
}

/* A COMMIT is done or has failed: what ends statements does not say that it was interrupted when it is done. */
static void
test_end_is_true(StoreFixture *self, gconstpointer data)
{
    sqlite3 *db = qd_connection_get_db(self->writer);
    g_autoptr(GError) error = NULL;
    guint n_asked = 0;

    g_assert_cmpint(sqlite3_exec(db, "CREATE TABLE ended(a)", NULL, NULL, NULL), ==, SQLITE_OK);
    for (guint i = 0; i < 200; i++) {
        g_assert_true(qd_connection_begin_write(self->writer, &error));
        g_assert_cmpint(run(self, self->writer, "INSERT INTO ended VALUES(1)"), ==, SQLITE_DONE);
        sqlite3_progress_handler(db, 100, refuse, &n_asked);
        g_assert_true(qd_connection_end(self->writer, &error));
        sqlite3_progress_handler(db, 0, NULL, NULL);
        g_assert_no_error(error);
    }
    g_assert_cmpuint(n_asked, ==, 0);
    g_assert_cmpint(store_get_int64(self->writer, "SELECT count(*) FROM ended"), ==, 200);
}

/* One that the last rollback, for want of memory, has left open. */
static void
test_begin_after_a_rollback_that_failed(StoreFixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    store_execute(self->writer, "CREATE TABLE t(a)");
    store_execute(self->writer, "BEGIN; INSERT INTO t VALUES(1)");
    g_assert_true(qd_connection_begin_write(self->writer, &error));
    g_assert_no_error(error);
    g_assert_true(qd_connection_end(self->writer, &error));
    g_assert_cmpint(store_get_int64(self->writer, "SELECT count(*) FROM t"), ==, 0);
}

static void
test_settings(StoreFixture *self, gconstpointer data)
{
    static const int on[] = { SQLITE_DBCONFIG_DEFENSIVE, SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_FKEY };
    static const int off[] = { SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER };
    g_autoptr(QdConnection) reader = store_fixture_open_reader(self);
    sqlite3 *dbs[] = { qd_connection_get_db(self->writer), qd_connection_get_db(reader) };

    for (guint i = 0; i < G_N_ELEMENTS(dbs); i++) {
        for (guint k = 0; k < G_N_ELEMENTS(on); k++) {
            int value = -1;

            g_assert_cmpint(sqlite3_db_config(dbs[i], on[k], -1, &value), ==, SQLITE_OK);
            g_assert_cmpint(value, ==, 1);
        }
        for (guint k = 0; k < G_N_ELEMENTS(off); k++) {
            int value = -1;

            g_assert_cmpint(sqlite3_db_config(dbs[i], off[k], -1, &value), ==, SQLITE_OK);
            g_assert_cmpint(value, ==, 0);
        }
    }
    g_assert_cmpint(store_get_int64(self->writer, "PRAGMA query_only"), ==, 0);
    g_assert_cmpint(store_get_int64(reader, "PRAGMA query_only"), ==, 1);
    g_assert_cmpint(store_get_int64(self->writer, "PRAGMA synchronous"), ==, 2);
    g_assert_cmpint(store_get_int64(self->writer, "PRAGMA cell_size_check"), ==, 1);
    g_assert_cmpint(store_get_int64(reader, "PRAGMA mmap_size"), >, 0);
    g_assert_cmpint(store_get_int64(reader, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"), ==, 1);
}

static void
assert_memory(const QdConnectionInfo *info, const QdLimits *limits, gboolean mapped, gint64 cache_kib)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdConnection) reader = qd_connection_open(info, QD_CONNECTION_READER, limits, &error);

    g_assert_no_error(error);
    g_assert_cmpint(store_get_int64(reader, "PRAGMA mmap_size") > 0, ==, mapped);
    g_assert_cmpint(store_get_int64(reader, "PRAGMA cache_size"), ==, -cache_kib);
}

/* What is mapped needs no cache; in an application nothing is mapped; a file larger than the mapping has a cache for the rest. */
static void
test_mapping_and_cache(StoreFixture *self, gconstpointer data)
{
    QdConnectionInfo info = qd_database_get_info(self->database);
    QdConnectionInfo in_application = info;

    in_application.in_application = TRUE;
    assert_memory(&info, &self->limits, TRUE, 128);
    assert_memory(&in_application, &self->limits, FALSE, 2048);
    g_assert_cmpint(truncate(info.path, INT64_C(3) << 30), ==, 0); /* SQLite goes by the number of pages in its header */
    assert_memory(&info, &self->limits, TRUE, 2048);
    self->limits.values[QD_LIMIT_MAP_BYTES] = 0;
    self->limits.values[QD_LIMIT_READER_CACHE_BYTES] = 65536;
    assert_memory(&info, &self->limits, FALSE, 64);
}

static void
test_hardened_in_effect(StoreFixture *self, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(self);
    g_autoptr(GError) error = NULL;

    store_execute(self->writer, "CREATE TABLE p(a PRIMARY KEY); CREATE TABLE c(a REFERENCES p)");
    g_assert_cmpint(run(self, self->writer, "INSERT INTO c VALUES(1)"), ==, SQLITE_CONSTRAINT);
    assert_fails(self, "UPDATE sqlite_schema SET sql = ''", QW_ERROR_SYNTAX, "may not be modified");
    /* even our own mistakes do not write through a reader */
    g_assert_false(qd_connection_execute(reader, "INSERT INTO p VALUES(1)", &error));
    g_assert_error(error, QD_ERROR, (gint) QW_ERROR_READ_ONLY);
}

static void
test_limits(StoreFixture *self, gconstpointer data)
{
    g_autofree char *long_text = g_strnfill(70000, ' ');
    g_autoptr(GString) deep = g_string_new("SELECT 1");
    g_autoptr(GString) nested = g_string_new("SELECT 1");
    g_autoptr(GString) compound = g_string_new("SELECT 1");

    store_fixture_close(self);
    self->limits.values[QD_LIMIT_STATEMENT_TEXT_BYTES] = 65536;
    self->limits.values[QD_LIMIT_SQL_DEPTH] = 50;
    self->limits.values[QD_LIMIT_COMPOUND_SELECTS] = 20;
    self->limits.values[QD_LIMIT_VARIABLES] = 100;
    self->limits.values[QD_LIMIT_COLUMNS] = 100;
    store_fixture_open(self);

    memcpy(long_text, "SELECT 1", 8);
    for (guint i = 0; i < 100; i++)
        g_string_append(deep, " + 1");
    for (guint i = 0; i < 100; i++)
        g_string_append(nested, " + (1");
    for (guint i = 0; i < 100; i++)
        g_string_append_c(nested, ')');
    for (guint i = 0; i < 30; i++)
        g_string_append(compound, " UNION ALL SELECT 1");
    assert_fails(self, long_text, QW_ERROR_TOO_BIG, "the limit 'statement_text_bytes' is 65536 bytes");
    assert_fails(self, deep->str, QW_ERROR_TOO_COMPLEX, "the limit 'sql_depth' is 50");
    assert_fails(self, nested->str, QW_ERROR_TOO_COMPLEX, "the limit 'sql_parser_depth' is 100");
    assert_fails(self, compound->str, QW_ERROR_TOO_COMPLEX, "the limit 'compound_selects' is 20");
    assert_fails(self, "SELECT ?101", QW_ERROR_TOO_COMPLEX, "the limit 'variables' is 100");
}

static void
test_texts(StoreFixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    QdCompiled *compiled;

    assert_fails(self, "", QW_ERROR_SYNTAX, "1:1: the text has no statement");
    assert_fails(self, " ; -- nothing\n /* at all */", QW_ERROR_SYNTAX, "1:1: the text has no statement");
    assert_fails(self, "SELECT 1;\n SELECT 2", QW_ERROR_SYNTAX, "2:2: more than one statement in a call");
    assert_fails(self, "SELECT 'ä' FORM t", QW_ERROR_SYNTAX, "1:17: ");
    assert_fails(self, "SELECT '\xff'", QW_ERROR_SYNTAX, "1:9: statement is not UTF-8");
    g_assert_null(qd_connection_compile(self->writer, "SELECT\0 1", 9, QD_POLICY_READ, &self->limits, &error));
    store_assert_error(error, QW_ERROR_SYNTAX, "1:7: statement contains a NUL");
    g_clear_error(&error);

    compiled = store_compile(self, self->writer, "SELECT 1; -- that is all ;\n ; /* ; */ ", QD_POLICY_READ, &error);
    g_assert_no_error(error);
    g_assert_cmpint(compiled->n_columns, ==, 1);
    /* not NUL-terminated at its end */
    compiled = qd_connection_compile(self->writer, "SELECT 12", 8, QD_POLICY_READ, &self->limits, &error);
    g_assert_no_error(error);
    g_assert_cmpint(sqlite3_step(compiled->stmt), ==, SQLITE_ROW);
    g_assert_cmpint(sqlite3_column_int(compiled->stmt, 0), ==, 1);
}

static void
test_cache(StoreFixture *self, gconstpointer data)
{
    QdCompiled *first = store_compile(self, self->writer, "SELECT 1", QD_POLICY_READ, NULL);
    sqlite3_stmt *stmt = first->stmt;

    for (guint i = 0; i < 20; i++) {
        g_autofree char *text = g_strdup_printf("SELECT %u, 'other'", i);

        g_assert_nonnull(store_compile(self, self->writer, text, QD_POLICY_READ, NULL));
    }
    g_assert_true(store_compile(self, self->writer, "SELECT 1", QD_POLICY_READ, NULL)->stmt == stmt);
    g_assert_true(store_compile(self, self->writer, "SELECT 1 ", QD_POLICY_READ, NULL)->stmt != stmt);
    g_assert_true(store_compile(self, self->writer, "SELECT 1", QD_POLICY_WRITE, NULL)->stmt != stmt);
}

/* What was compiled for an update must not serve a query, whichever came first. */
static void
test_cache_is_by_policy(StoreFixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    store_execute(self->writer, "CREATE TABLE t(a)");
    for (guint i = 0; i < 2; i++) {
        g_assert_nonnull(store_compile(self, self->writer, "DELETE FROM t", QD_POLICY_WRITE, &error));
        g_assert_no_error(error);
        g_assert_null(store_compile(self, self->writer, "DELETE FROM t", QD_POLICY_READ, &error));
        g_assert_error(error, QD_ERROR, (gint) QW_ERROR_READ_ONLY);
        g_clear_error(&error);
    }
}

/* Old ones go in each case: the number of open statements is bounded. */
static void
test_cache_is_bounded(StoreFixture *self, gconstpointer data)
{
    sqlite3 *db = qd_connection_get_db(self->writer);
    guint n = 0;

    for (guint i = 0; i < 500; i++) {
        g_autofree char *text = g_strdup_printf("SELECT %u", i);

        g_assert_nonnull(store_compile(self, self->writer, text, QD_POLICY_READ, NULL));
    }
    for (sqlite3_stmt *stmt = sqlite3_next_stmt(db, NULL); stmt != NULL; stmt = sqlite3_next_stmt(db, stmt))
        n++;
    g_assert_cmpuint(n, >, 1);
    g_assert_cmpuint(n, <=, 129); /* with the one that looks at the schema */
    qd_connection_trim(self->writer);
    g_assert_null(sqlite3_next_stmt(db, NULL));
}

/* The authorizer is not asked for a statement in the cache, but when SQLite recompiles it, it is: under the right policy. */
static void
test_recompiled_by_sqlite(StoreFixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    QdCompiled *compiled;
    uint64_t signature;

    store_execute(self->writer, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
    compiled = store_compile(self, self->writer, "SELECT * FROM t", QD_POLICY_READ, &error);
    g_assert_no_error(error);
    g_assert_cmpint(sqlite3_step(compiled->stmt), ==, SQLITE_ROW);
    g_assert_false(qd_compiled_refresh(compiled));
    (void) sqlite3_reset(compiled->stmt);
    signature = compiled->schema_signature;
    g_assert_cmpint(run(self, self->writer, "ALTER TABLE t ADD COLUMN b"), ==, SQLITE_DONE);

    compiled = store_compile(self, self->writer, "SELECT * FROM t", QD_POLICY_READ, &error);
    g_assert_no_error(error);
    g_assert_cmpint(sqlite3_step(compiled->stmt), ==, SQLITE_ROW);
    g_assert_true(qd_compiled_refresh(compiled));
    g_assert_cmpint(compiled->n_columns, ==, 2);
    g_assert_cmpuint(compiled->schema_signature, !=, signature);
    g_assert_false(qd_compiled_refresh(compiled));
    (void) sqlite3_reset(compiled->stmt);
}

static int
count_filter_looks(sqlite3_stmt *stmt)
{
    return sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_FILTER_HIT, 1) + sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_FILTER_MISS, 1);
}

#define JOIN "SELECT count(*) FROM many JOIN few ON few.a = many.a WHERE few.b > 1"

/* How often a row was looked for in a Bloom filter. */
static int
join(StoreFixture *self, gboolean is_generated)
{
    g_autoptr(GError) error = NULL;
    QdCompiled *compiled = is_generated ? qd_connection_compile_generated(self->writer, JOIN, &self->limits, &error)
                                        : store_compile(self, self->writer, JOIN, QD_POLICY_READ, &error);
    int n;

    g_assert_no_error(error);
    g_assert_cmpint(sqlite3_step(compiled->stmt), ==, SQLITE_ROW);
    n = count_filter_looks(compiled->stmt);
    (void) sqlite3_reset(compiled->stmt);
    return n;
}

static void
assert_bloom_filter(StoreFixture *self, gboolean is_generated)
{
    g_assert_cmpint(join(self, is_generated) > 0, ==, !is_generated);
    store_execute(self->writer, "DROP TABLE IF EXISTS another; CREATE TABLE another(a)");
    (void) store_get_int64(self->writer, "SELECT value FROM queryd_meta"); /* one of ours in between */
    g_assert_cmpint(join(self, is_generated) > 0, ==, !is_generated);
    g_assert_cmpint(join(self, is_generated) > 0, ==, !is_generated);
}

/* Whichever statement ran before it: a client's SQL has what SQLite's planner gives, SQL that is made from SPARQL has no filter. */
static void
test_recompiled_with_its_optimizations(StoreFixture *self, gconstpointer data)
{
    store_execute(self->writer,
                  "CREATE TABLE few(a INTEGER PRIMARY KEY, b); CREATE TABLE many(a);"
                  "WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<100) INSERT INTO few SELECT i, i FROM n;"
                  "WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<9000) INSERT INTO many SELECT i%150 FROM n; ANALYZE");
    for (int i = 0; i < 2; i++) {
        assert_bloom_filter(self, FALSE);
        assert_bloom_filter(self, TRUE);
    }
}

/* SQLite's own EXPLAIN shows the program that it has, and looks at no schema. */
static void
test_shown_program_is_of_the_schema(StoreFixture *self, gconstpointer data)
{
    QdConnectionInfo info = qd_database_get_info(self->database);
    g_autoptr(QdConnection) reader = NULL;
    g_autoptr(GError) error = NULL;
    static const char *const details[] = { "SCAN t", "SEARCH t USING COVERING INDEX i (a=?)" };

    info.schema_generation = NULL;
    reader = qd_connection_open(&info, QD_CONNECTION_READER, &self->limits, &error);
    g_assert_no_error(error);
    store_execute(self->writer, "CREATE TABLE t(a)");
    for (guint i = 0; i < G_N_ELEMENTS(details); i++) {
        QdCompiled *compiled = store_compile(self, reader, "EXPLAIN QUERY PLAN SELECT a FROM t WHERE a=1", QD_POLICY_READ, &error);

        g_assert_no_error(error);
        g_assert_cmpint(sqlite3_step(compiled->stmt), ==, SQLITE_ROW);
        g_assert_cmpstr((const char *) sqlite3_column_text(compiled->stmt, 3), ==, details[i]);
        (void) sqlite3_reset(compiled->stmt);
        if (i == 0)
            store_execute(self->writer, "CREATE INDEX i ON t(a)");
    }
}

/* A trigger that comes after a cached statement is found when SQLite recompiles it. */
static void
test_recompiled_is_guarded(StoreFixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    QdCompiled *compiled;

    store_execute(self->writer, "CREATE TABLE t(a)");
    g_assert_cmpint(run(self, self->writer, "INSERT INTO t VALUES(1)"), ==, SQLITE_DONE);
    store_execute(self->writer, "CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE queryd_meta SET value = 0; END");
    compiled = store_compile(self, self->writer, "INSERT INTO t VALUES(1)", QD_POLICY_WRITE, &error);
    g_assert_no_error(error);
    g_assert_cmpint(sqlite3_step(compiled->stmt) & 0xff, ==, SQLITE_AUTH);
    g_assert_true(qd_guard_get_denial(qd_connection_get_guard(self->writer), &error));
    store_assert_error(error, QW_ERROR_ACCESS_DENIED, "are reserved");
    (void) sqlite3_reset(compiled->stmt);
    g_assert_cmpint(store_get_int64(self->writer, "SELECT count(*) FROM t"), ==, 1);
}

/* SQLite gives SQLITE_SCHEMA and not SQLITE_ERROR for it, again and again, until something else makes it read the schema. */
static void
test_syntax_error_beside_a_stale_schema(StoreFixture *self, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(self);

    store_execute(self->writer, "CREATE TABLE t(a)");
    (void) store_get_int64(reader, "SELECT count(*) FROM t");
    store_execute(self->writer, "DROP TABLE t; CREATE TABLE t(a, b)");
    for (guint i = 0; i < 2; i++) {
        g_autoptr(GError) error = NULL;

        g_assert_null(store_compile(self, reader, "SELECT 'x',\n wrong wrong wrong FROM t", QD_POLICY_READ, &error));
        store_assert_error(error, QW_ERROR_SYNTAX, "2:14: near \"wrong\"");
    }
}

static void
test_odd_path(StoreFixture *self, gconstpointer data)
{
    g_autofree char *path = g_build_filename(self->dir, "what? 100% #1 &x=ä", NULL);
    QdConnectionInfo info = { .path = path };
    g_autoptr(GError) error = NULL;
    g_autoptr(QdConnection) connection = qd_connection_open(&info, QD_CONNECTION_WRITER, &self->limits, &error);

    g_assert_no_error(error);
    store_execute(connection, "CREATE TABLE t(a)");
    g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
}

/* Not "read-only": that would make a user look for a wrong permission. */
static void
test_too_many_files(StoreFixture *self, gconstpointer data)
{
    g_autofree char *path = g_build_filename(self->dir, "another.db", NULL);
    QdConnectionInfo info = { .path = path };
    g_autoptr(GError) error = NULL;
    struct rlimit limit;
    struct rlimit low;
    int fd = dup(STDIN_FILENO);

    g_assert_cmpint(fd, >=, 0);
    (void) close(fd);
    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &limit), ==, 0);
    low = (struct rlimit){ .rlim_cur = (rlim_t) fd, .rlim_max = limit.rlim_max };
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &low), ==, 0);
    g_assert_null(qd_connection_open(&info, QD_CONNECTION_WRITER, &self->limits, &error));
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &limit), ==, 0);
    store_assert_error(error, QW_ERROR_LIMIT_EXCEEDED, "Too many open files");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/sqlite/connection/" path, StoreFixture, NULL, store_fixture_set_up, func, store_fixture_tear_down)
    ADD("end-is-true", test_end_is_true);
    ADD("begin-after-a-rollback-that-failed", test_begin_after_a_rollback_that_failed);
    ADD("settings", test_settings);
    ADD("mapping-and-cache", test_mapping_and_cache);
    ADD("hardened-in-effect", test_hardened_in_effect);
    ADD("limits", test_limits);
    ADD("texts", test_texts);
    ADD("cache", test_cache);
    ADD("cache-is-by-policy", test_cache_is_by_policy);
    ADD("cache-is-bounded", test_cache_is_bounded);
    ADD("recompiled-by-sqlite", test_recompiled_by_sqlite);
    ADD("recompiled-with-its-optimizations", test_recompiled_with_its_optimizations);
    ADD("shown-program-is-of-the-schema", test_shown_program_is_of_the_schema);
    ADD("recompiled-is-guarded", test_recompiled_is_guarded);
    ADD("syntax-error-beside-a-stale-schema", test_syntax_error_beside_a_stale_schema);
    ADD("odd-path", test_odd_path);
    ADD("too-many-files", test_too_many_files);
    return g_test_run();
}
