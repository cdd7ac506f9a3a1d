/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sqlite/parameter-names.h"

#include <sqlite3.h>
#include <string.h>

#include "daemon/base/error.h"

#define N 1200

static char *
repeat(const char *before, const char *start, const char *end, const char *after)
{
    GString *text = g_string_new(before);

    for (int i = 1; i <= N; i++) {
        g_string_append_printf(text, "%s%s%d%s", i > 1 ? "," : "", start, i, end);
    }
    g_string_append(text, after);
    return g_string_free(text, FALSE);
}

static sqlite3_stmt *
compile(sqlite3 *db, const char *text)
{
    g_autofree char *simpler = NULL;
    g_autoptr(GError) error = NULL;
    sqlite3_stmt *stmt = NULL;

    g_assert_true(qd_parameter_names_drop_numbers(text, strlen(text), &simpler, &error));
    g_assert_no_error(error);
    if (simpler != NULL)
        g_assert_cmpuint(strlen(simpler), ==, strlen(text));
    g_assert_cmpint(sqlite3_prepare_v2(db, simpler != NULL ? simpler : text, -1, &stmt, NULL), ==, SQLITE_OK);
    return stmt;
}

/* @n_named: parameters that still have a name. Each has the number that it had in @text. */
static void
check(const char *text, int n_named)
{
    sqlite3_stmt *stmt;
    sqlite3_stmt *plain = NULL;
    sqlite3 *db;
    int n = 0;
    int r;

    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    stmt = compile(db, text);
    g_assert_cmpint(sqlite3_prepare_v2(db, text, -1, &plain, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_bind_parameter_count(stmt), ==, sqlite3_bind_parameter_count(plain));
    for (int i = 1; i <= sqlite3_bind_parameter_count(stmt); i++) {
        n += sqlite3_bind_parameter_name(stmt, i) != NULL;
        g_assert_cmpint(sqlite3_bind_int(stmt, i, 7 * i), ==, SQLITE_OK);
        g_assert_cmpint(sqlite3_bind_int(plain, i, 7 * i), ==, SQLITE_OK);
    }
    g_assert_cmpint(n, ==, n_named);
    do {
        r = sqlite3_step(plain);
        g_assert_cmpint(sqlite3_step(stmt), ==, r);
        for (int i = 0; r == SQLITE_ROW && i < sqlite3_column_count(plain); i++)
            g_assert_cmpstr((const char *) sqlite3_column_text(stmt, i), ==, (const char *) sqlite3_column_text(plain, i));
    } while (r == SQLITE_ROW);
    sqlite3_finalize(plain);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

static void
test_numbers(void)
{
    g_autofree char *rows = repeat("VALUES ", "(?", ")", "");
    g_autofree char *mixed = repeat("SELECT '?2', \"?3\", [?4], `?5` /* ?6 */, 'it''s ?7', x'00', -- ?8\n ", "?", "",
                                    ", ?7, :a, ?, $b FROM "
                                    "(SELECT 1 AS '?3', 2 AS [?4], 3 AS '?5')");

    check(rows, 0);
    check(mixed, 3); /* ?7, :a and $b */
}

static void
test_order(void)
{
    g_autofree char *gaps = repeat("SELECT ?2, ?1, a$1, ", "?", "", " FROM (SELECT 1 AS a$1)");
    g_autofree char *names = repeat("SELECT ", ":n", "", ", ?, @c");

    check(gaps, 2);
    check(names, N + 1);
}

/* Of each the one name is one parameter. */
static void
test_variables_of_tcl(void)
{
    static const char *const names[] = { "$a::b", "@a::b::c", "$::a", ":a(b,?7)", "#a", "$a::b(c)" };

    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *start = g_strdup_printf("SELECT %s, ?3, ", names[i]);
        g_autofree char *text = repeat(start, "?", "", "");

        check(text, 3); /* the name, ?3, and ?1; ?2 has no name at all */
    }
}

static void
test_few(void)
{
    g_autofree char *simpler = NULL;

    g_assert_true(qd_parameter_names_drop_numbers("SELECT ?1, ?2", 13, &simpler, NULL));
    g_assert_null(simpler);
}

/* No end of a literal, of a comment, or of a name is one that the text has. */
static void
test_ends(void)
{
    static const char *const ends[] = { "'", "\"", "[", "`", "/*", "--", "?", ":", "$", "/", "-", "?1", "a" };
    g_autofree char *many = repeat("", "?", "", "");

    for (guint i = 0; i < G_N_ELEMENTS(ends); i++) {
        g_autofree char *text = g_strconcat(many, ",", ends[i], NULL);
        g_autofree char *exact = g_memdup2(text, strlen(text)); /* no NUL: a sanitizer sees each read after its end */
        g_autofree char *simpler = NULL;

        g_assert_true(qd_parameter_names_drop_numbers(exact, strlen(text), &simpler, NULL));
        g_assert_nonnull(simpler);
    }
}

static void
test_too_many_names(void)
{
    g_autoptr(GString) text = g_string_new("SELECT 0");
    g_autoptr(GError) error = NULL;
    char *simpler = NULL;

    for (int i = 0; i < 9000; i++)
        g_string_append_printf(text, ",:n%d", i);
    g_assert_false(qd_parameter_names_drop_numbers(text->str, text->len, &simpler, &error));
    g_assert_null(simpler);
    g_assert_error(error, QD_ERROR, (gint) QW_ERROR_TOO_COMPLEX);
    g_assert_nonnull(strstr(error->message, "9000 parameters have names"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sqlite/parameter-names/numbers", test_numbers);
    g_test_add_func("/sqlite/parameter-names/order", test_order);
    g_test_add_func("/sqlite/parameter-names/variables-of-tcl", test_variables_of_tcl);
    g_test_add_func("/sqlite/parameter-names/few", test_few);
    g_test_add_func("/sqlite/parameter-names/ends", test_ends);
    g_test_add_func("/sqlite/parameter-names/too-many-names", test_too_many_names);
    return g_test_run();
}
