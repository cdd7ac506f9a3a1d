/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors of the engine: code, place in a text, and codes made from errno.
 */
#include "daemon/base/error.h"

#include <errno.h>

static void
assert_place(const char *text, gsize offset, guint line, guint column)
{
    g_autoptr(GError) error = NULL;
    guint got_line;
    guint got_column;

    qd_error_set_at(&error, QW_ERROR_SYNTAX, text, strlen(text), offset, "unexpected");
    qd_error_get_place(error, &got_line, &got_column);
    g_assert_cmpuint(got_line, ==, line);
    g_assert_cmpuint(got_column, ==, column);
    g_assert_true(g_str_has_suffix(error->message, ": unexpected"));
}

static void
test_place(void)
{
    g_autoptr(GError) error = NULL;
    guint line = 9;
    guint column = 9;

    assert_place("SELECT", 0, 1, 1);
    assert_place("SELECT", 3, 1, 4);
    assert_place("SELECT\n  x", 9, 2, 3);
    assert_place("'\xc3\xa9' x", 5, 1, 5); /* columns are code points */
    assert_place("abc", 100, 1, 4);

    qd_error_set(&error, QW_ERROR_BUSY, "the time is 12:30: come back");
    qd_error_get_place(error, &line, &column);
    g_assert_cmpuint(line, ==, 0);
    g_assert_cmpuint(column, ==, 0);
}

static void
test_errno(void)
{
    static const struct {
        int number;
        QwError code;
    } cases[] = {
        { ENOSPC, QW_ERROR_DISK_FULL },      { EDQUOT, QW_ERROR_DISK_FULL },     { ENOMEM, QW_ERROR_NO_MEMORY },
        { EMFILE, QW_ERROR_LIMIT_EXCEEDED }, { EACCES, QW_ERROR_ACCESS_DENIED }, { EROFS, QW_ERROR_READ_ONLY },
        { EIO, QW_ERROR_INTERNAL },          { EPIPE, QW_ERROR_CLOSED },         { ECONNRESET, QW_ERROR_CLOSED },
        { EFBIG, QW_ERROR_DISK_FULL },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *expected = g_strdup_printf("cannot open 'x': %s", g_strerror(cases[i].number));

        qd_error_set_errno(&error, cases[i].number, "cannot open '%s'", "x");
        g_assert_cmpint(qd_error_get_code(error), ==, cases[i].code);
        g_assert_cmpstr(error->message, ==, expected);
    }
}

static void
test_foreign_domain(void)
{
    g_autoptr(GError) error = g_error_new_literal(G_FILE_ERROR, QW_ERROR_BUSY, "x");

    g_assert_cmpint(qd_error_get_code(error), ==, QW_ERROR_INTERNAL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/error/place", test_place);
    g_test_add_func("/base/error/errno", test_errno);
    g_test_add_func("/base/error/foreign-domain", test_foreign_domain);
    return g_test_run();
}
