/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is joined with a sealed table that states its size has an index; without that it is scanned.
 */
#include "daemon/functions/many.h"

#include <string.h>

static sqlite3 *
open_tables(void)
{
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    g_assert_true(qd_many_register(db, NULL));
    g_assert_cmpint(sqlite3_exec(db, "CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 2), (2, 3), (NULL, 4)", NULL, NULL, NULL), ==,
                    SQLITE_OK);
    return db;
}

/* The values of a column, each after a blank. */
static char *
query(sqlite3 *db, const char *sql, int column)
{
    g_autoptr(GString) out = g_string_new(NULL);
    sqlite3_stmt *stmt = NULL;

    g_test_message("%s", sql);
    g_assert_cmpint(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), ==, SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        g_string_append_printf(out, " %s", (const char *) sqlite3_column_text(stmt, column));
    (void) sqlite3_finalize(stmt);
    return g_string_free(g_steal_pointer(&out), FALSE);
}

#define TABLE "WITH c(v) AS MATERIALIZED (SELECT 2%s) "

static void
check(const char *arm, const char *select, gboolean has_index, const char *expected)
{
    sqlite3 *db = open_tables();
    g_autofree char *table = g_strdup_printf(TABLE, arm);
    g_autofree char *sql = g_strconcat(table, select, NULL);
    g_autofree char *explain = g_strconcat("EXPLAIN QUERY PLAN ", sql, NULL);
    g_autofree char *plan = query(db, explain, 3);
    g_autofree char *rows = query(db, sql, 0);

    g_assert_cmpint(strstr(plan, "c USING AUTOMATIC") != NULL, ==, has_index);
    g_assert_cmpstr(rows, ==, expected);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

static void
test_index(void)
{
    static const char arm[] = " UNION ALL SELECT NULL FROM queryd_many WHERE 0";

    check("", "SELECT t.b FROM t CROSS JOIN c WHERE c.v=t.a", FALSE, " 3");
    check(arm, "SELECT t.b FROM t CROSS JOIN c WHERE c.v=t.a", TRUE, " 3");
    check(arm, "SELECT t.b FROM t WHERE EXISTS(SELECT 1 FROM queryd_many CROSS JOIN c WHERE c.v=t.a)", TRUE, " 3");
}

static void
test_row(void)
{
    sqlite3 *db = open_tables();
    g_autofree char *rows = query(db, "SELECT n + rowid FROM queryd_many", 0);

    g_assert_cmpstr(rows, ==, " 2");
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

int
main(int argc, char *argv[])
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/many/index", test_index);
    g_test_add_func("/functions/many/row", test_row);
    return g_test_run();
}
