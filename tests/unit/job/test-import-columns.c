/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which type a column gets from its values.
 */
#include "daemon/job/import-columns.h"

#include <string.h>

#include "daemon/base/error.h"

/* @text: NULL, a number, x and hex digits of a BLOB, or 'text */
static QwValue
make_value(const char *text)
{
    QwValue value = { .type = QW_TYPE_NULL };

    if (text[0] == '\'')
        value = (QwValue){ .type = QW_TYPE_TEXT, .data = text + 1, .n_bytes = (uint32_t) strlen(text + 1) };
    else if (text[0] == 'x')
        value = (QwValue){ .type = QW_TYPE_BLOB, .data = text + 1, .n_bytes = (uint32_t) strlen(text + 1) };
    else if (strchr(text, '.') != NULL)
        value = (QwValue){ .type = QW_TYPE_FLOAT, .real = g_ascii_strtod(text, NULL) };
    else if (text[0] != 'N')
        value = (QwValue){ .type = QW_TYPE_INTEGER, .integer = g_ascii_strtoll(text, NULL, 10) };
    return value;
}

/* @rows: values of one column, blanks between them; "column type" is @expected. */
static void
assert_type(gboolean is_text, const char *rows, const char *expected)
{
    static const char *const names[] = { "a", NULL };
    g_autoptr(QdImportColumns) columns = qd_import_columns_new(NULL, is_text);
    g_autoptr(GString) out = g_string_new(NULL);
    g_auto(GStrv) texts = g_strsplit(rows, " ", -1);

    for (guint i = 0; texts[i] != NULL; i++) {
        QwValue value = make_value(texts[i]);

        qd_import_columns_take(columns, names, &value, 1);
    }
    qd_import_columns_put(columns, out, "a");
    g_assert_cmpstr(out->str, ==, expected);
    g_assert_cmpstr(qd_import_columns_get_names(columns)[0], ==, "a");
    g_assert_null(qd_import_columns_get_names(columns)[1]);
}

static void
test_types(void)
{
    assert_type(TRUE, "N N", "\"a\"");
    assert_type(TRUE, "1 N 9223372036854775807", "\"a\" INTEGER");
    assert_type(TRUE, "1 0.5", "\"a\" REAL");
    assert_type(TRUE, "9007199254740993 0.5", "\"a\"");
    assert_type(TRUE, "'1.50 '-0.25 2", "\"a\" REAL");
    assert_type(TRUE, "'1.50 '01.5", "\"a\" TEXT");
    assert_type(TRUE, "'1234567890.123456", "\"a\" TEXT");
    assert_type(TRUE, "'1.2.3", "\"a\" TEXT");
    assert_type(TRUE, "'007 1", "\"a\" TEXT");
    assert_type(TRUE, "x00 x", "\"a\" BLOB");
    assert_type(TRUE, "x00 1", "\"a\"");
    assert_type(FALSE, "'1.50", "\"a\" TEXT");
    assert_type(FALSE, "'x 1", "\"a\"");
}

static void
test_times(void)
{
    assert_type(FALSE, "'2024-01-02 N", "\"a\" DATE");
    assert_type(FALSE, "'2024-01-02 '2024-01-02T10:11", "\"a\" DATETIME");
    assert_type(FALSE, "'2024-01-02T10:11:12.345+01:00", "\"a\" DATETIME");
    assert_type(FALSE, "'2024-01-02T10:11Z", "\"a\" DATETIME");
    assert_type(FALSE, "'2024-01-02T10:11:12.Z", "\"a\" TEXT");
    assert_type(FALSE, "'2024-01-02T10", "\"a\" TEXT");
    assert_type(FALSE, "'2024-1-2", "\"a\" TEXT");
    assert_type(TRUE, "'2024-01-02 '2024", "\"a\" TEXT");
}

static void
test_said(void)
{
    static const char *const names[] = { "a\"b", "c", NULL };
    static const char *const good[] = { "a\"b=NUMERIC(10, 2) NOT NULL", NULL };
    static const char *const wrong[][2] = {
        { "c=TEXT)", NULL }, { "c=TEXT, d", NULL }, { "c=(", NULL }, { "d=TEXT", NULL }, { "c", NULL }
    };
    g_autoptr(QdImportColumns) columns = qd_import_columns_new((char *const *) good, TRUE);
    g_autoptr(GString) out = g_string_new(NULL);

    g_assert_true(qd_import_columns_check(columns, names, 2, NULL));
    qd_import_columns_put(columns, out, names[0]);
    g_assert_cmpstr(out->str, ==, "\"a\"\"b\" NUMERIC(10, 2) NOT NULL");
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(QdImportColumns) other = qd_import_columns_new((char *const *) wrong[i], TRUE);
        g_autoptr(GError) error = NULL;

        g_assert_false(qd_import_columns_check(other, names, 2, &error));
        g_assert_error(error, QD_ERROR, QW_ERROR_BAD_PARAMETER);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/job/import-columns/types", test_types);
    g_test_add_func("/job/import-columns/times", test_times);
    g_test_add_func("/job/import-columns/said", test_said);
    return g_test_run();
}
