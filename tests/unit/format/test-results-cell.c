/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Wire values as terms.
 */
#include "daemon/format/results-cell.h"

#include <string.h>

static void
check(const QwValue *value, QdTermKind kind, const char *lexical, const char *qualifier)
{
    g_autoptr(GString) scratch = g_string_new(NULL);
    QdResultsCell cell = { .scratch = scratch };

    qd_results_cell_set(&cell, value);
    g_assert_true(cell.bound);
    g_assert_cmpint(cell.term.kind, ==, kind);
    g_assert_cmpmem(cell.term.lexical, cell.term.n_lexical, lexical, strlen(lexical));
    g_assert_cmpmem(cell.term.qualifier, cell.term.n_qualifier, qualifier, qualifier != NULL ? strlen(qualifier) : 0);
}

static void
test_values(void)
{
    g_autoptr(GString) scratch = g_string_new("left over");
    QdResultsCell cell = { .scratch = scratch };

    check(&(QwValue){ .type = QW_TYPE_INTEGER, .integer = -5 }, QD_TERM_TYPED, "-5", QD_XSD_NAMESPACE "integer");
    check(&(QwValue){ .type = QW_TYPE_FLOAT, .real = 1.5 }, QD_TERM_TYPED, "1.5E0", QD_XSD_NAMESPACE "double");
    check(&(QwValue){ .type = QW_TYPE_BLOB, .data = "\xff", .n_bytes = 1 }, QD_TERM_TYPED, "/w==", QD_XSD_NAMESPACE "base64Binary");
    check(&(QwValue){ .type = QW_TYPE_TEXT, .data = "a", .n_bytes = 1 }, QD_TERM_STRING, "a", NULL);
    check(&(QwValue){ .type = QW_TYPE_TEXT, .data = "a\xff", .n_bytes = 2 }, QD_TERM_STRING, "a\xef\xbf\xbd", NULL);
    check(&(QwValue){ .type = QW_TYPE_IRI, .data = "a:b", .n_bytes = 3 }, QD_TERM_IRI, "a:b", NULL);
    check(&(QwValue){ .type = QW_TYPE_BNODE, .data = "b1", .n_bytes = 2 }, QD_TERM_BNODE, "b1", NULL);
    check(&(QwValue){ .type = QW_TYPE_LITERAL_LANG, .data = "a", .n_bytes = 1, .tag = "en", .n_tag_bytes = 2 }, QD_TERM_LANG_STRING,
          "a", "en");
    check(&(QwValue){ .type = QW_TYPE_LITERAL_TYPED, .data = "a", .n_bytes = 1, .tag = "t:t", .n_tag_bytes = 3 }, QD_TERM_TYPED,
          "a", "t:t");
    qd_results_cell_set(&cell, &(QwValue){ .type = QW_TYPE_NULL });
    g_assert_false(cell.bound);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/format/results-cell/values", test_values);
    return g_test_run();
}
