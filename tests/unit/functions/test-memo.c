/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A condition that is remembered is evaluated once for each combination of values, and is the same as without.
 */
#include "daemon/functions/many.h"

/* Counts its calls, and returns its argument. */
static void
function_count(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    ++*(guint *) sqlite3_user_data(context);
    sqlite3_result_value(context, args[0]);
}

static sqlite3 *
open_tables(guint *n_calls)
{
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    g_assert_true(qd_memo_register(db, NULL));
    g_assert_cmpint(sqlite3_create_function(db, "counted", 1, SQLITE_UTF8, n_calls, function_count, NULL, NULL), ==, SQLITE_OK);
    return db;
}

static gint64
query(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    gint64 n = -1;

    g_test_message("%s", sql);
    g_assert_cmpint(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), ==, SQLITE_OK);
    if (sqlite3_step(stmt) == SQLITE_ROW)
        n = sqlite3_column_int64(stmt, 0);
    g_assert_cmpint(sqlite3_finalize(stmt), ==, SQLITE_OK);
    return n;
}

#define NUMBERS "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n LIMIT %d) "
#define COUNT "SELECT count(*) FROM n CROSS JOIN queryd_memo(%s) AS m WHERE ifnull(m.value,queryd_memo_put(m.entry,counted(%s)))"

static void
check(int n, const char *keys, const char *condition, gint64 n_rows, guint n_calls)
{
    guint n_called = 0;
    sqlite3 *db = open_tables(&n_called);
    g_autofree char *sql = g_strdup_printf(NUMBERS COUNT, n, keys, condition);

    g_assert_cmpint(query(db, sql), ==, n_rows);
    g_assert_cmpuint(n_called, ==, n_calls);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

static void
test_once_for_each_combination(void)
{
    check(1000, "i%10", "i%10<3", 300, 10);
    check(1000, "i%10,i%4", "i%10<3 AND i%4=1", 50, 20); /* of 40: the parity agrees */
    check(1000, "i%2,i%3,i%5,i%7", "i%7=0", 143, 210);
    check(1000, "nullif(i%10,0)", "nullif(i%10,0) IS NULL", 100, 10);
    check(1000, "nullif(i%2,0),nullif(i%2,1)", "i%2", 500, 2); /* (NULL, 0) is not (1, NULL) */
}

/* What is no id, and an unknown result, are evaluated again. */
static void
test_what_is_not_kept(void)
{
    check(100, "'t'", "1", 100, 100);
    check(100, "i%2", "NULL", 0, 100);
}

/* More values than are kept. */
static void
test_begins_again(void)
{
    check(300000, "i", "i%3=0", 100000, 300000);
    check(400000, "i%100000", "i%3=0", 133336, 100000);
}

/* An entry is no value for anyone else. */
static void
test_entries_are_opaque(void)
{
    guint n_called = 0;
    sqlite3 *db = open_tables(&n_called);

    g_assert_cmpint(query(db, "SELECT entry IS NULL FROM queryd_memo(1)"), ==, 1);
    g_assert_cmpint(query(db, "SELECT queryd_memo_put(NULL, 7)"), ==, 7);
    g_assert_cmpint(query(db, "SELECT queryd_memo_put((SELECT entry FROM queryd_memo(1)), 7)"), ==, 7);
    g_assert_cmpint(query(db, "SELECT count(*) FROM (SELECT entry AS e FROM queryd_memo(1) ORDER BY 1), queryd_memo(2) "
                              "WHERE queryd_memo_put(e, 1)"),
                    ==, 1);
    g_assert_cmpint(query(db, "SELECT count(*) FROM queryd_memo"), ==, 1);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/memo/once-for-each-combination", test_once_for_each_combination);
    g_test_add_func("/functions/memo/what-is-not-kept", test_what_is_not_kept);
    g_test_add_func("/functions/memo/begins-again", test_begins_again);
    g_test_add_func("/functions/memo/entries-are-opaque", test_entries_are_opaque);
    return g_test_run();
}
