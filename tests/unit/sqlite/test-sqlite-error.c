/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's result codes as ours, and real failures with their place and limit.
 */
#include "daemon/sqlite/sqlite-error.h"

#include <string.h>

#include "daemon/sqlite/memory.h"
#include "tests/unit/store/store-fixture.h"

static void
test_codes(void)
{
    static const struct {
        int result;
        QwError code;
    } table[] = {
        { SQLITE_ERROR, QW_ERROR_SYNTAX },        { SQLITE_INTERNAL, QW_ERROR_INTERNAL },
        { SQLITE_PERM, QW_ERROR_ACCESS_DENIED },  { SQLITE_ABORT, QW_ERROR_CANCELLED },
        { SQLITE_BUSY, QW_ERROR_BUSY },           { SQLITE_LOCKED, QW_ERROR_BUSY },
        { SQLITE_NOMEM, QW_ERROR_NO_MEMORY },     { SQLITE_READONLY, QW_ERROR_READ_ONLY },
        { SQLITE_INTERRUPT, QW_ERROR_CANCELLED }, { SQLITE_IOERR, QW_ERROR_INTERNAL },
        { SQLITE_CORRUPT, QW_ERROR_CORRUPT },     { SQLITE_FULL, QW_ERROR_DISK_FULL },
        { SQLITE_CANTOPEN, QW_ERROR_INTERNAL },   { SQLITE_PROTOCOL, QW_ERROR_BUSY },
        { SQLITE_TOOBIG, QW_ERROR_TOO_BIG },      { SQLITE_CONSTRAINT, QW_ERROR_CONSTRAINT },
        { SQLITE_MISMATCH, QW_ERROR_CONSTRAINT }, { SQLITE_MISUSE, QW_ERROR_INTERNAL },
        { SQLITE_AUTH, QW_ERROR_ACCESS_DENIED },  { SQLITE_RANGE, QW_ERROR_BAD_PARAMETER },
        { SQLITE_NOTADB, QW_ERROR_CORRUPT },      { SQLITE_CONSTRAINT_UNIQUE, QW_ERROR_CONSTRAINT },
        { SQLITE_BUSY_SNAPSHOT, QW_ERROR_BUSY },  { SQLITE_CORRUPT_VTAB, QW_ERROR_CONSTRAINT },
        { SQLITE_IOERR_READ, QW_ERROR_INTERNAL },
    };

    for (guint i = 0; i < G_N_ELEMENTS(table); i++)
        g_assert_cmpint(qd_sqlite_get_code(table[i].result), ==, table[i].code);
}

/* Fails to compile or run @text for real, and checks what is made of it. */
static void
assert_error(sqlite3 *db, const char *text, QwError code, const char *words)
{
    g_autoptr(GError) error = NULL;
    sqlite3_stmt *stmt = NULL;
    QdLimits limits;
    int r = sqlite3_prepare_v2(db, text, -1, &stmt, NULL);

    qd_limits_init(&limits);
    while (r == SQLITE_OK || r == SQLITE_ROW)
        r = sqlite3_step(stmt);
    g_assert_cmpint(r, !=, SQLITE_DONE);
    qd_sqlite_set_error(&error, db, r, text, strlen(text), &limits);
    store_assert_error(error, code, words);
    (void) sqlite3_finalize(stmt);
}

static void
speak_as_sql(sqlite3_context *context, int n, sqlite3_value **values)
{
    sqlite3_result_error(context, "no such column: dc", -1);
}

/* The words are those of SQLite's compiler, which speaks in a step, too; only a statement that asks a virtual table is meant. */
static void
test_full_text(void)
{
    g_autoptr(GError) error = NULL;
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_create_function(db, "speak", 0, SQLITE_UTF8, NULL, speak_as_sql, NULL, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, "CREATE VIRTUAL TABLE w USING fts5(x)", NULL, NULL, NULL), ==, SQLITE_OK);
    assert_error(db, "SELECT * FROM w WHERE w MATCH 'dc:title'", QW_ERROR_SYNTAX, "full-text query: no such column: dc (a word");
    g_assert_cmpint(sqlite3_exec(db, "SELECT speak()", NULL, NULL, NULL), ==, SQLITE_ERROR);
    qd_sqlite_set_error(&error, db, SQLITE_ERROR, NULL, 0, NULL);
    g_assert_cmpstr(error->message, ==, "no such column: dc");
    g_clear_error(&error);
    g_assert_cmpint(sqlite3_exec(db, "SELECT speak()", NULL, NULL, NULL), ==, SQLITE_ERROR);
    qd_sqlite_set_error(&error, db, SQLITE_ERROR, "SELECT speak()", strlen("SELECT speak()"), NULL);
    g_assert_cmpstr(error->message, ==, "no such column: dc");
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

static void
test_real_failures(void)
{
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    (void) sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 100000);
    (void) sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 10);
    g_assert_cmpint(sqlite3_exec(db, "CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES(1)", NULL, NULL, NULL), ==, SQLITE_OK);
    assert_error(db, "SELECT 1\nFROM t WHERE nosuch", QW_ERROR_SYNTAX, "2:14: no such column: nosuch");
    assert_error(db, "SELECT 'äöü', nosuch", QW_ERROR_SYNTAX, "1:15: no such column: nosuch");
    assert_error(db, "SELECT * FROM nosuch", QW_ERROR_SYNTAX, "no such table: nosuch");
    assert_error(db, "INSERT INTO t VALUES(1)", QW_ERROR_CONSTRAINT, "UNIQUE constraint failed: t.a");
    assert_error(db, "SELECT zeroblob(200000) || ''", QW_ERROR_TOO_BIG, "the limit 'value_bytes' is");
    assert_error(db, "SELECT 'x' LIKE '%a%b%c%d%e%f'", QW_ERROR_TOO_COMPLEX, "the limit 'like_pattern_bytes' is");
    (void) sqlite3_limit(db, SQLITE_LIMIT_COLUMN, 3);
    assert_error(db, "SELECT 1, 2, 3, 4", QW_ERROR_TOO_COMPLEX, "the limit 'columns' is");
    assert_error(db, "SELECT abs(-9223372036854775808)", QW_ERROR_SYNTAX, "integer overflow");
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

/* Most callers know no limits: those in force are named, as the allocator and the connection have them. */
static void
test_limits_in_force(void)
{
    g_autoptr(GError) memory = NULL;
    g_autoptr(GError) unlimited = NULL;
    g_autoptr(GError) size = NULL;
    g_autoptr(GError) call = NULL;
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    (void) sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 100000);
    qd_memory_set_limits(0, 64 << 20);
    qd_sqlite_set_error(&memory, NULL, SQLITE_NOMEM, NULL, 0, NULL);
    store_assert_error(
        memory, QW_ERROR_NO_MEMORY,
        "out of memory, of which a client gets three times what stays free: the limit 'heap_hard_bytes' is 67108864 bytes");
    qd_sqlite_set_call_error(&call, db, SQLITE_NOMEM, "cannot open '%s'", "x");
    store_assert_error(call, QW_ERROR_NO_MEMORY,
                       "cannot open 'x': out of memory, of which a client gets three times what stays free: the limit "
                       "'heap_hard_bytes' is 67108864 bytes");
    qd_memory_set_limits(0, 0);
    qd_sqlite_set_error(&unlimited, NULL, SQLITE_NOMEM, NULL, 0, NULL);
    store_assert_error(unlimited, QW_ERROR_NO_MEMORY, "out of memory");
    qd_sqlite_set_error(&size, db, SQLITE_TOOBIG, NULL, 0, NULL);
    store_assert_error(size, QW_ERROR_TOO_BIG, "value is too big: the limit 'value_bytes' is 100000 bytes");
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

/* The client has written no SQL that could be wrong. */
static void
test_own_statements(void)
{
    g_autoptr(GError) own = NULL;
    g_autoptr(GError) call = NULL;
    g_autoptr(GError) busy = NULL;
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, "BEGIN; BEGIN", NULL, NULL, NULL), ==, SQLITE_ERROR);
    qd_sqlite_set_own_error(&own, db, SQLITE_ERROR);
    store_assert_error(own, QW_ERROR_INTERNAL, "cannot start a transaction within a transaction");
    qd_sqlite_set_call_error(&call, NULL, SQLITE_ERROR, "cannot register '%s'", "x");
    store_assert_error(call, QW_ERROR_INTERNAL, "cannot register 'x': SQL logic error");
    qd_sqlite_set_own_error(&busy, NULL, SQLITE_BUSY);
    store_assert_error(busy, QW_ERROR_BUSY, "locked");
    qd_sqlite_set_own_error(NULL, db, SQLITE_ERROR);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

static void
test_without_a_connection(void)
{
    g_autoptr(GError) error = NULL;

    qd_sqlite_set_error(&error, NULL, SQLITE_FULL, NULL, 0, NULL);
    store_assert_error(error, QW_ERROR_DISK_FULL, "full");
    qd_sqlite_set_error(NULL, NULL, SQLITE_FULL, NULL, 0, NULL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sqlite/sqlite-error/codes", test_codes);
    g_test_add_func("/sqlite/sqlite-error/real-failures", test_real_failures);
    g_test_add_func("/sqlite/sqlite-error/full-text", test_full_text);
    g_test_add_func("/sqlite/sqlite-error/limits-in-force", test_limits_in_force);
    g_test_add_func("/sqlite/sqlite-error/own-statements", test_own_statements);
    g_test_add_func("/sqlite/sqlite-error/without-a-connection", test_without_a_connection);
    return g_test_run();
}
