/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * json_patch() beside SQLite's own, and at its limit.
 */
#include "daemon/functions/json-patch.h"

#include "tests/unit/functions/expression-fixture.h"
#include "tests/unit/functions/plain-fixture.h"

static void
test_same(void)
{
    static const char *const values[] = { "NULL",
                                          "''",
                                          "1",
                                          "'x'",
                                          "'null'",
                                          "'[1,{\"a\":null}]'",
                                          "'{\"a\":1,\"b\":{\"c\":[2],\"d\":null}}'",
                                          "'{\"b\":{\"c\":null,\"e\":\"\\\"x:\"},\"f\":{\"g\":null}}'",
                                          "'{\"a\":1,\"a\":2}'",
                                          "'{\"a\":'",
                                          "json('{\"a\" : 1}')",
                                          "x'7b7d'" };
    static const char *const calls[] = { "SELECT json_patch(%s, %s)", "SELECT typeof(json_patch(%s, %s))",
                                         "SELECT json_array(json_patch(%s, %s))" };
    g_autoptr(Expressions) self = expressions_new();
    sqlite3 *plain = NULL;

    g_assert_cmpint(sqlite3_open(":memory:", &plain), ==, SQLITE_OK);
    for (guint i = 0; i < G_N_ELEMENTS(values) * G_N_ELEMENTS(values) * G_N_ELEMENTS(calls); i++) {
        char *sql = sqlite3_mprintf(calls[i % G_N_ELEMENTS(calls)], values[i / G_N_ELEMENTS(calls) % G_N_ELEMENTS(values)],
                                    values[i / G_N_ELEMENTS(calls) / G_N_ELEMENTS(values)]);
        g_autofree char *ours = plain_run(self->db, sql);
        g_autofree char *theirs = plain_run(plain, sql);

        if (!g_str_equal(ours, theirs))
            g_error("%s: %s, but SQLite says %s", sql, ours, theirs);
        sqlite3_free(sql);
    }
    g_assert_cmpint(sqlite3_close(plain), ==, SQLITE_OK);
}

/* Colons in strings are no members. */
static void
test_limit(void)
{
    static const char members[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT %d), o(j) AS (SELECT"
                                  " json_group_object('k'||i, '::::::::::::::::::::::::\"') FROM n)"
                                  " SELECT length(json_patch(j, j))>9 FROM o";
    g_autoptr(Expressions) self = expressions_new();
    char *sql = sqlite3_mprintf(members, 1000);
    g_autofree char *few = expressions_query(self, sql);
    g_autofree char *many = NULL;

    sqlite3_free(sql);
    g_assert_cmpstr(few, ==, "id 1"); /* as the fixture shows numbers */
    sql = sqlite3_mprintf(members, 6000);
    many = plain_run(self->db, sql);
    sqlite3_free(sql);
    g_assert_cmpstr(many, ==,
                    "error 1: json_patch() of two objects with too many members: the limit 'json_patch_steps' is 50000000");
}

static void
test_ends(void)
{
    QdInterrupt interrupt = { .look = plain_end_it, .is_always_due = TRUE };
    g_autoptr(Expressions) self = expressions_new();
    g_autofree char *result = NULL;

    qd_interrupt_begin(&interrupt);
    result = plain_run(self->db, "SELECT json_patch('{}', '{}')");
    qd_interrupt_end(&interrupt);
    g_assert_cmpstr(result, ==, "error 9: interrupted");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/json-patch/same", test_same);
    g_test_add_func("/functions/json-patch/limit", test_limit);
    g_test_add_func("/functions/json-patch/ends", test_ends);
    return g_test_run();
}
