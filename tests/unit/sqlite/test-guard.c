/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The authorizer: what queries and updates may do, rule by rule, and what is recorded of a write.
 */
#include "daemon/sqlite/guard/guard.h"

#include <string.h>

#include "tests/unit/store/store-fixture.h"

#define SCHEMA                                                                                                                   \
    "CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE TABLE u(a) ; CREATE VIEW v AS SELECT * FROM t; CREATE INDEX i ON t(b);"    \
    "CREATE TABLE w(k PRIMARY KEY, x) WITHOUT ROWID; CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO u VALUES(new.a); END;" \
    "CREATE VIRTUAL TABLE f USING fts5(body); CREATE VIRTUAL TABLE r USING rtree(id, x0, x1)"

/* A code of 0: allowed. */
typedef struct Rule {
    const char *text;
    QwError read;
    QwError write;
    const char *words; /* of the message for writing, or else for reading */
} Rule;

#define DENIED QW_ERROR_ACCESS_DENIED
#define READ_ONLY QW_ERROR_READ_ONLY

static const Rule statement_rules[] = {
    { "SELECT * FROM t, v WHERE t.b = v.b", 0, 0, NULL },
    { "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 3) SELECT * FROM c", 0, 0, NULL },
    { "SELECT body FROM f WHERE f MATCH 'x'", 0, 0, NULL },
    { "SELECT * FROM sqlite_schema", 0, 0, NULL },
    { "SELECT * FROM queryd_meta", 0, 0, NULL },
    { "SELECT * FROM queryd_term_key", DENIED, DENIED, "reading 'queryd_term_key' is not allowed" },
    { "SELECT count(*) FROM Queryd_Term_Key", DENIED, DENIED, "reading 'queryd_term_key' is not allowed" },
    { "SELECT rowid FROM main.\"queryd_term_key\"", DENIED, DENIED, "reading 'queryd_term_key' is not allowed" },
    { "SELECT sql FROM sqlite_stmt", QW_ERROR_SYNTAX, QW_ERROR_SYNTAX, "no such table: sqlite_stmt" },
    { "SELECT sql FROM sqlite_schema NATURAL FULL JOIN sqlite_stmt", QW_ERROR_SYNTAX, QW_ERROR_SYNTAX, "no such table" },
    { "SELECT * FROM json_each('[1]'), json_tree('[2]')", 0, 0, NULL },
    { "SELECT * FROM dbstat", 0, 0, NULL },
    { "SELECT rowid FROM r WHERE x0 > 1", 0, 0, NULL },
    { "EXPLAIN QUERY PLAN SELECT * FROM t", 0, 0, NULL },
    { "INSERT INTO t VALUES(1, 2)", READ_ONLY, 0, "'t' in a query that was opened for reading" },
    { "UPDATE t SET b = 1", READ_ONLY, 0, "updating 't'" },
    { "DELETE FROM t", READ_ONLY, 0, "deleting from 't'" },
    { "INSERT INTO f VALUES('x')", READ_ONLY, 0, "inserting into 'f'" },
    { "INSERT INTO r VALUES(1, 2, 3)", READ_ONLY, 0, "inserting into 'r'" },
    { "INSERT INTO r_node VALUES(1, 2)", QW_ERROR_SYNTAX, QW_ERROR_SYNTAX, "may not be modified" },
    { "WITH c AS (SELECT rowid AS a FROM r) DELETE FROM t WHERE a IN c", READ_ONLY, 0, "" },
    { "CREATE TABLE n(a)", READ_ONLY, 0, "changing 'n'" },
    { "CREATE TABLE n AS SELECT * FROM t", READ_ONLY, 0, "" },
    { "DROP TABLE u", READ_ONLY, 0, "" },
    { "CREATE VIEW n AS SELECT 1", READ_ONLY, 0, "" },
    { "DROP VIEW v", READ_ONLY, 0, "" },
    { "CREATE INDEX n ON t(b)", READ_ONLY, 0, "" },
    { "DROP INDEX i", READ_ONLY, 0, "" },
    { "CREATE TRIGGER n AFTER DELETE ON t BEGIN DELETE FROM u; END", READ_ONLY, 0, "" },
    { "DROP TRIGGER g", READ_ONLY, 0, "" },
    { "ALTER TABLE t RENAME COLUMN b TO c", READ_ONLY, 0, "" },
    { "ALTER TABLE t RENAME TO n", READ_ONLY, 0, "" },
    { "ALTER TABLE t ADD COLUMN n", READ_ONLY, 0, "" },
    { "ALTER TABLE w DROP COLUMN x", READ_ONLY, 0, "" },
    { "ALTER TABLE queryd_meta RENAME TO n", DENIED, DENIED, "are reserved" },
    { "ALTER TABLE t RENAME TO queryd_n", READ_ONLY, 0, "" },
    { "UPDATE sqlite_temp_master SET sql = NULL", QW_ERROR_SYNTAX, QW_ERROR_SYNTAX, "may not be modified" },
    { "CREATE VIRTUAL TABLE n USING fts5(x)", READ_ONLY, 0, "" },
    { "CREATE VIRTUAL TABLE n USING rtree(id, x0, x1)", READ_ONLY, 0, "" },
    { "DROP TABLE f", READ_ONLY, 0, "" },
    { "ANALYZE", READ_ONLY, 0, "" },
    { "ANALYZE t", READ_ONLY, 0, "" },
    { "REINDEX i", READ_ONLY, 0, "" },
    { "REINDEX", READ_ONLY, 0, "" },
    { "CREATE VIRTUAL TABLE n USING dbstat", DENIED, DENIED, "module 'dbstat' is not allowed" },
    { "BEGIN", DENIED, 0, "BEGIN is not allowed" },
    { "COMMIT", DENIED, 0, "COMMIT is not allowed" },
    { "ROLLBACK", DENIED, 0, "ROLLBACK is not allowed" },
    { "SAVEPOINT s", DENIED, 0, "SAVEPOINT is not allowed" },
    { "RELEASE s", DENIED, 0, "SAVEPOINT is not allowed" },
    { "ATTACH ':memory:' AS m", DENIED, DENIED, "ATTACH is not allowed" },
    { "DETACH m", DENIED, DENIED, "DETACH is not allowed" },
    { "CREATE TEMP TABLE n(a)", DENIED, DENIED, "temporary objects are not allowed" },
    { "CREATE TEMP VIEW n AS SELECT 1", DENIED, DENIED, "temporary objects are not allowed" },
    { "CREATE TEMP TRIGGER n AFTER DELETE ON t BEGIN DELETE FROM u; END", DENIED, DENIED, "temporary objects are not allowed" },
    { "SELECT load_extension('x')", DENIED, DENIED, "load_extension() is not allowed" },
    { "SELECT LOAD_EXTENSION('x')", DENIED, DENIED, "is not allowed" },
    { "SELECT fts3_tokenizer('simple')", DENIED, DENIED, "fts3_tokenizer() is not allowed" },
    { "UPDATE queryd_meta SET value = 0", DENIED, DENIED, "names that begin with 'queryd_' are reserved" },
    { "INSERT INTO QUERYD_META VALUES('x', 1)", DENIED, DENIED, "are reserved" },
    { "DROP TABLE queryd_meta", DENIED, DENIED, "are reserved" },
    { "CREATE TABLE queryd_x(a)", DENIED, DENIED, "are reserved" },
    { "CREATE INDEX queryd_x ON t(b)", DENIED, DENIED, "are reserved" },
    { "CREATE INDEX n ON queryd_meta(value)", READ_ONLY, DENIED, "are reserved" },
    { "CREATE TRIGGER queryd_x AFTER DELETE ON t BEGIN DELETE FROM u; END", DENIED, DENIED, "are reserved" },
    { "CREATE VIRTUAL TABLE queryd_x USING fts5(x)", DENIED, DENIED, "are reserved" },
};

static const Rule pragma_rules[] = {
    { "PRAGMA table_info(t)", 0, 0, NULL },
    { "PRAGMA index_list('t')", 0, 0, NULL },
    { "PRAGMA foreign_key_list(t)", 0, 0, NULL },
    { "PRAGMA user_version", 0, 0, NULL },
    { "PRAGMA journal_mode", 0, 0, NULL },
    { "PRAGMA data_version", 0, 0, NULL },
    { "PRAGMA quick_check(1)", 0, 0, NULL },
    { "SELECT name FROM pragma_table_info('t')", 0, 0, NULL },
    { "PRAGMA user_version = 7", READ_ONLY, 0, "PRAGMA user_version with a value in a query that was opened for reading" },
    { "PRAGMA application_id(7)", READ_ONLY, 0, "PRAGMA application_id with a value" },
    { "PRAGMA journal_mode = DELETE", DENIED, DENIED,
      "PRAGMA journal_mode=DELETE is not allowed: a store is kept in the journal mode" },
    { "PRAGMA journal_mode = wal", 0, 0, NULL },
    { "PRAGMA foreign_keys = 0", READ_ONLY, 0, "it holds for a batch, a transaction or a channel" },
    { "PRAGMA foreign_keys = ON", 0, 0, NULL },
    { "PRAGMA legacy_alter_table = yes", READ_ONLY, 0, "" },
    { "PRAGMA encoding('UTF-16')", DENIED, DENIED, "a store keeps the encoding that it was made with" },
    { "PRAGMA encoding = 'UTF-8'", 0, 0, NULL },
    { "PRAGMA synchronous = FULL", 0, 0, NULL },
    { "PRAGMA synchronous = 1", 0, 0, NULL },
    { "PRAGMA busy_timeout = 5000", 0, 0, NULL },
    { "PRAGMA cache_size = -2000", 0, 0, NULL },
    { "PRAGMA page_count = 5", DENIED, DENIED, "PRAGMA page_count with a value is not allowed: it only tells" },
    { "PRAGMA optimize", DENIED, DENIED, "PRAGMA optimize is not allowed: say ANALYZE" },
    { "PRAGMA nonsense = 5", DENIED, DENIED, "docs/transactions.md lists the pragmas" },
    { "PRAGMA writable_schema = 1", DENIED, DENIED, "PRAGMA writable_schema" },
    { "PRAGMA query_only = 0", DENIED, DENIED, "PRAGMA query_only" },
    { "PRAGMA trusted_schema = 1", DENIED, DENIED, "PRAGMA trusted_schema" },
    { "PRAGMA wal_checkpoint", DENIED, DENIED, "PRAGMA wal_checkpoint is not allowed" },
    { "PRAGMA temp_store_directory", DENIED, DENIED, "PRAGMA temp_store_directory" },
    { "PRAGMA locking_mode", DENIED, DENIED, "PRAGMA locking_mode" },
    { "PRAGMA synchronous = OFF", DENIED, DENIED, "unless the option 'durability' is 'relaxed'" },
    { "PRAGMA mmap_size", DENIED, DENIED, "PRAGMA mmap_size" },
    { "PRAGMA main.table_info(t)", 0, 0, NULL },
    { "EXPLAIN PRAGMA journal_mode = DELETE", DENIED, DENIED, "PRAGMA journal_mode=DELETE" },
};

static void
check_rule(StoreFixture *self, const Rule *rule, QdPolicy policy)
{
    QwError expected = policy == QD_POLICY_READ ? rule->read : rule->write;
    g_autoptr(GError) error = NULL;
    QdCompiled *compiled = store_compile(self, self->writer, rule->text, policy, &error);

    if (expected == 0) {
        if (compiled == NULL)
            g_error("%s: %s", rule->text, error->message);
        return;
    }
    if (compiled != NULL)
        g_error("%s: is allowed under policy %d", rule->text, policy);
    store_assert_error(error, expected,
                       rule->read == rule->write || policy == QD_POLICY_WRITE || rule->write == 0 ? rule->words : "");
}

static void
check_rules(StoreFixture *self, const Rule *rules, gsize n)
{
    store_execute(self->writer, SCHEMA);
    for (gsize i = 0; i < n; i++) {
        check_rule(self, &rules[i], QD_POLICY_READ);
        check_rule(self, &rules[i], QD_POLICY_WRITE);
    }
}

static void
test_statements(StoreFixture *self, gconstpointer data)
{
    check_rules(self, statement_rules, G_N_ELEMENTS(statement_rules));
}

static void
test_pragmas(StoreFixture *self, gconstpointer data)
{
    check_rules(self, pragma_rules, G_N_ELEMENTS(pragma_rules));
}

/* The text may be innocent: what a view or a trigger does counts. */
static void
test_behind_names(StoreFixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    store_execute(self->writer, SCHEMA);
    store_execute(self->writer, "CREATE VIEW x AS SELECT load_extension('y') AS a;"
                                "CREATE TRIGGER h AFTER DELETE ON u BEGIN UPDATE queryd_meta SET value = 0; END");
    g_assert_null(store_compile(self, self->writer, "SELECT a FROM x", QD_POLICY_READ, &error));
    store_assert_error(error, QW_ERROR_SYNTAX, "unsafe use of load_extension()"); /* says SQLite's own mark */
    g_clear_error(&error);
    g_assert_null(store_compile(self, self->writer, "DELETE FROM u", QD_POLICY_WRITE, &error));
    store_assert_error(error, QW_ERROR_ACCESS_DENIED, "are reserved");
}

static void
assert_writes(StoreFixture *self, const char *text, const char *expected)
{
    g_autoptr(GError) error = NULL;
    QdCompiled *compiled = store_compile(self, self->writer, text, QD_POLICY_WRITE, &error);
    g_autofree char *tables = NULL;

    g_assert_no_error(error);
    tables = g_strjoinv(" ", compiled->write_tables);
    g_assert_cmpstr(tables, ==, expected);
    g_assert_cmpint(compiled->writes, ==, TRUE);
}

/* The update hook is silent for WITHOUT ROWID tables and for DELETE without WHERE: the record is not. */
static void
test_record(StoreFixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    QdCompiled *compiled;

    store_execute(self->writer, SCHEMA);
    assert_writes(self, "DELETE FROM t", "t");
    assert_writes(self, "INSERT INTO w VALUES(1, 2)", "w");
    assert_writes(self, "INSERT INTO t VALUES(1, 2)", "t u");
    assert_writes(self, "UPDATE t SET b = (SELECT max(a) FROM u)", "t");
    assert_writes(self, "INSERT INTO t SELECT a, a FROM u WHERE true ON CONFLICT DO UPDATE SET b = 3", "t u");
    assert_writes(self, "ANALYZE", "sqlite_stat1");
    assert_writes(self, "REINDEX", "");
    assert_writes(self, "ALTER TABLE t RENAME COLUMN b TO c", "t");
    assert_writes(self, "DROP TABLE w", "w");
    compiled = store_compile(self, self->writer, "SELECT * FROM t", QD_POLICY_WRITE, &error);
    g_assert_no_error(error);
    g_assert_false(compiled->writes);
    g_assert_null(compiled->write_tables[0]);
    compiled = store_compile(self, self->writer, "EXPLAIN DELETE FROM t", QD_POLICY_WRITE, &error);
    g_assert_no_error(error);
    g_assert_false(compiled->writes);
}

/* An R-tree compiles writes of its own when a statement connects it: neither a query nor what it writes. */
static void
test_connecting(StoreFixture *self, gconstpointer data)
{
    const char *texts[] = { "SELECT id FROM r", "SELECT id FROM r, pragma_table_info('t')" };
    g_autoptr(GError) error = NULL;

    store_execute(self->writer, SCHEMA);
    for (guint i = 0; i < 2 * G_N_ELEMENTS(texts); i++) {
        QdConnection *reader = store_fixture_open_reader(self);
        QdCompiled *compiled = store_compile(self, reader, texts[i / 2], i % 2 == 0 ? QD_POLICY_READ : QD_POLICY_WRITE, &error);

        g_assert_no_error(error);
        g_assert_false(compiled->writes);
        qd_connection_free(reader);
    }
}

static gint64
count_found(QdConnection *connection, const char *view)
{
    g_autofree char *sql = g_strdup_printf("SELECT count(*) FROM %s", view);

    return store_get_int64(connection, sql);
}

/* Triggers fill full-text tables, views show them. */
static void
test_full_text_in_schema(StoreFixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdConnection) reader = NULL;
    QdCompiled *compiled;

    store_execute(self->writer, SCHEMA);
    store_execute(self->writer, "CREATE TRIGGER h AFTER INSERT ON u BEGIN INSERT INTO f VALUES(new.a); END;"
                                "CREATE VIEW found AS SELECT rowid FROM f WHERE f MATCH 'word';"
                                "CREATE VIRTUAL TABLE voc USING fts5vocab(f, 'row'); CREATE VIEW words AS SELECT term FROM voc");
    store_fixture_close(self);
    store_fixture_open(self);
    compiled = store_compile(self, self->writer, "INSERT INTO u VALUES('a word')", QD_POLICY_WRITE, &error);
    g_assert_no_error(error);
    g_assert_cmpint(sqlite3_step(compiled->stmt), ==, SQLITE_DONE);
    (void) sqlite3_reset(compiled->stmt);
    reader = store_fixture_open_reader(self);
    (void) store_compile(self, reader, "SELECT * FROM found, words", QD_POLICY_READ, &error);
    g_assert_no_error(error);
    g_assert_cmpint(count_found(reader, "found"), ==, 1);
    g_assert_cmpint(count_found(reader, "words"), ==, 2);
}

static void
test_too_many_names(StoreFixture *self, gconstpointer data)
{
    g_autoptr(GString) text = g_string_new("SELECT 1 FROM t WHERE 1 IN (a");
    g_autoptr(GError) error = NULL;

    store_execute(self->writer, SCHEMA);
    self->limits.values[QD_LIMIT_AUTHORIZER_CALLS] = 1000;
    for (guint i = 0; i < 2000; i++)
        g_string_append(text, ", b");
    g_string_append_c(text, ')');
    g_assert_null(store_compile(self, self->writer, text->str, QD_POLICY_READ, &error));
    store_assert_error(error, QW_ERROR_TOO_COMPLEX, "the limit 'authorizer_calls' is 1000");
    g_clear_error(&error);
    /* the next statement starts from nothing */
    g_assert_nonnull(store_compile(self, self->writer, "SELECT b FROM t", QD_POLICY_READ, &error));
    g_assert_no_error(error);
}

/* Nested CTEs double at each level: some hundred bytes would compile for seconds. */
static void
test_compile_time(StoreFixture *self, gconstpointer data)
{
    g_autoptr(GString) text = g_string_new("WITH c0(x) AS (SELECT 1)");
    g_autoptr(GError) error = NULL;
    gint64 start_usec;

    self->limits.values[QD_LIMIT_COMPILE_MSEC] = 20;
    self->limits.values[QD_LIMIT_AUTHORIZER_CALLS] = 100000000;
    for (guint i = 1; i < 16; i++)
        g_string_append_printf(text, ", c%u(x) AS (SELECT a.x FROM c%u AS a, c%u AS b)", i, i - 1, i - 1);
    g_string_append(text, " SELECT * FROM c15");
    start_usec = g_get_monotonic_time();
    g_assert_null(store_compile(self, self->writer, text->str, QD_POLICY_READ, &error));
    g_assert_error(error, QD_ERROR, (gint) QW_ERROR_TOO_COMPLEX);
    if (g_getenv("QUERYD_SANITIZER") == NULL)
        g_assert_cmpint(g_get_monotonic_time() - start_usec, <, 5 * G_USEC_PER_SEC);
}

/* However long it may compile: its caller has waited long enough. */
static void
test_compile_end(StoreFixture *self, gconstpointer data)
{
    g_autoptr(GString) text = g_string_new("SELECT 1 IN (1");
    g_autoptr(GError) error = NULL;

    store_execute(self->writer, SCHEMA);
    self->limits.values[QD_LIMIT_COMPILE_MSEC] = 3600000;
    for (guint i = 0; i < 100; i++)
        g_string_append(text, ", (SELECT b FROM t)");
    g_string_append_c(text, ')');
    qd_connection_set_compile_end(self->writer, (uint64_t) g_get_monotonic_time() - 1, 7);
    g_assert_null(store_compile(self, self->writer, text->str, QD_POLICY_READ, &error));
    store_assert_error(error, QW_ERROR_TIMEOUT, "longer to compile than its 7 ms");
    g_clear_error(&error);
    qd_connection_set_compile_end(self->writer, 0, 0);
    g_assert_nonnull(store_compile(self, self->writer, text->str, QD_POLICY_READ, &error));
    g_assert_no_error(error);
}

static void
test_vacuum(StoreFixture *self, gconstpointer data)
{
    g_autofree char *into = g_strdup_printf("VACUUM INTO '%s/copy'", self->dir);
    g_autofree char *path = g_build_filename(self->dir, "copy", NULL);
    g_autoptr(GError) error = NULL;
    QdGuard *guard = qd_connection_get_guard(self->writer);
    QdCompiled *compiled = store_compile(self, self->writer, "/* to */ VACUUM", QD_POLICY_WRITE, &error);

    g_assert_no_error(error);
    g_assert_true(compiled->runs_alone);
    g_assert_null(store_compile(self, self->writer, "VACUUM", QD_POLICY_READ, &error));
    g_assert_error(error, QD_ERROR, (gint) QW_ERROR_READ_ONLY);
    g_clear_error(&error);

    /* it attaches when it runs, and then also what it writes into: only the plain one may */
    compiled = store_compile(self, self->writer, into, QD_POLICY_WRITE, &error);
    g_assert_no_error(error);
    g_assert_true(compiled->runs_alone);
    guard->vacuuming = TRUE;
    g_assert_cmpint(sqlite3_step(compiled->stmt), !=, SQLITE_DONE);
    g_assert_true(qd_guard_get_denial(guard, &error));
    store_assert_error(error, QW_ERROR_ACCESS_DENIED, "VACUUM INTO is not allowed");
    (void) sqlite3_reset(compiled->stmt);
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));

    compiled = store_compile(self, self->writer, "VACUUM", QD_POLICY_WRITE, NULL);
    g_assert_cmpint(sqlite3_step(compiled->stmt), ==, SQLITE_DONE);
    guard->vacuuming = FALSE;
    (void) sqlite3_reset(compiled->stmt);
}

/* What a text looks like decides nothing: only the program that SQLite makes of it. */
static void
test_like_vacuum(StoreFixture *self, gconstpointer data)
{
    static const struct {
        const char *text;
        gboolean alone;
    } rows[] = {
        { "/*/ VACUUM */ INSERT INTO t VALUES(1, 2)", FALSE },
        { "/**/VACUUM", TRUE },
        { "-- VACUUM\nREINDEX", FALSE },
        { ";;\n -- x\n/* y */ vacuum main;", TRUE },
        { "EXPLAIN VACUUM", FALSE },
        { "CREATE INDEX IF NOT EXISTS i ON t(b) /* VACUUM */", FALSE },
        { "DELETE FROM u", FALSE },
    };

    store_execute(self->writer, SCHEMA);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        QdCompiled *compiled = store_compile(self, self->writer, rows[i].text, QD_POLICY_WRITE, &error);

        g_assert_no_error(error);
        if (compiled->runs_alone != rows[i].alone)
            g_error("'%s': runs alone: %d", rows[i].text, compiled->runs_alone);
    }
}

/* Even if something else were taken for a VACUUM: it may do no more than that. */
static void
test_within_vacuum(StoreFixture *self, gconstpointer data)
{
    static const char *const texts[] = {
        "INSERT INTO t VALUES(1, 2)", "UPDATE queryd_meta SET value=0", "DROP TABLE t",
        "PRAGMA writable_schema=1",   "ATTACH 'x' AS vacuum_db",        "SELECT load_extension('x')"
    };
    QdGuard *guard = qd_connection_get_guard(self->writer);

    store_execute(self->writer, SCHEMA);
    guard->vacuuming = TRUE;
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_null(store_compile(self, self->writer, texts[i], QD_POLICY_WRITE, &error));
        g_assert_error(error, QD_ERROR, (gint) QW_ERROR_ACCESS_DENIED);
    }
    guard->vacuuming = FALSE;
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/sqlite/guard/" path, StoreFixture, NULL, store_fixture_set_up, func, store_fixture_tear_down)
    ADD("statements", test_statements);
    ADD("pragmas", test_pragmas);
    ADD("behind-names", test_behind_names);
    ADD("record", test_record);
    ADD("connecting", test_connecting);
    ADD("full-text-in-schema", test_full_text_in_schema);
    ADD("too-many-names", test_too_many_names);
    ADD("compile-time", test_compile_time);
    ADD("compile-end", test_compile_end);
    ADD("vacuum", test_vacuum);
    ADD("like-vacuum", test_like_vacuum);
    ADD("within-vacuum", test_within_vacuum);
    return g_test_run();
}
