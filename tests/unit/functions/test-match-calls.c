/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Query texts from terms, and where words stand, against FTS5 itself.
 */
#include "daemon/functions/match-calls.h"

#include "tests/unit/functions/expression-fixture.h"

static void
check(const char *sql, const char *expected)
{
    g_autoptr(Expressions) self = expressions_new();
    g_autofree char *result = expressions_query(self, sql);

    g_test_message("%s", sql);
    g_assert_cmpstr(result, ==, expected);
}

static void
test_text(void)
{
    check("SELECT queryd_match_text({\"a b\"}) || '.'", "a b.");
    check("SELECT queryd_match_text({\"a\"@en}) || '.'", "a.");
    check("SELECT queryd_match_text({5}) || '.'", "\"\".");
    check("SELECT queryd_match_text({<a:b>}) || '.'", "\"\".");
    check("SELECT queryd_match_text(0) || '.'", "\"\".");
}

/* The offsets of @query in @text. */
static void
check_offsets(const char *tokenizer, const char *text, const char *query, const char *expected)
{
    g_autoptr(Expressions) self = expressions_new();
    g_autofree char *create = g_strdup_printf("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='%s')", tokenizer);
    g_autofree char *insert = g_strdup_printf("INSERT INTO t VALUES('%s')", text);
    g_autofree char *select = g_strdup_printf("SELECT queryd_match_offsets(t) FROM t WHERE t MATCH '%s'", query);
    g_autofree char *result = NULL;

    g_assert_cmpint(sqlite3_exec(self->db, create, NULL, NULL, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(self->db, insert, NULL, NULL, NULL), ==, SQLITE_OK);
    result = expressions_query(self, select);
    g_assert_cmpstr(result, ==, expected);
}

static void
test_offsets(void)
{
    check_offsets("unicode61", "one two one", "one", "1,3 9,3");
    check_offsets("unicode61", "one two one", "\"two one\"", "5,7");
    check_offsets("unicode61", "one two one", "one OR \"one two\" OR two", "1,3 1,7 5,3 9,3");
    check_offsets("unicode61", "a a a a", "\"a a\"", "1,3 3,3 5,3");
    check_offsets("unicode61", "\303\244\303\266 caf\303\251, \303\244\303\266", "caf* OR ao", "1,2 4,4 10,2");
    check_offsets("trigram", "\303\244bcdef", "\"bcde\"", "2,4");
}

static int
stop(gpointer data)
{
    return TRUE;
}

/* A value's limit bounds what is listed, and it can be ended. */
static void
test_offsets_of_a_long_text(void)
{
    static const char *const sql = "SELECT queryd_match_offsets(t) FROM t WHERE t MATCH 'a'";
    g_autoptr(Expressions) self = expressions_new_limited(400000);
    g_autofree char *result = NULL;
    g_autofree char *too_big = NULL;
    g_autofree char *interrupted = NULL;

    g_assert_cmpint(sqlite3_exec(self->db,
                                 "CREATE VIRTUAL TABLE t USING fts5(x);"
                                 "INSERT INTO t VALUES(replace(hex(zeroblob(10000)), '00', 'a b '))",
                                 NULL, NULL, NULL),
                    ==, SQLITE_OK);
    result = expressions_query(self, sql);
    g_assert_true(g_str_has_suffix(result, " 39993,1 39997,1"));
    self->context.interrupted = stop;
    interrupted = expressions_query(self, sql);
    g_assert_cmpstr(interrupted, ==, "error: interrupted");
    self->context.interrupted = NULL;
    g_assert_cmpint(sqlite3_exec(self->db, "UPDATE t SET x = x || x || x", NULL, NULL, NULL), ==, SQLITE_OK);
    too_big = expressions_query(self, sql);
    g_assert_cmpstr(too_big, ==, "error: string or blob too big");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/match-calls/text", test_text);
    g_test_add_func("/functions/match-calls/offsets", test_offsets);
    g_test_add_func("/functions/match-calls/offsets-of-a-long-text", test_offsets_of_a_long_text);
    return g_test_run();
}
