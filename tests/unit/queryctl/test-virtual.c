/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the rows of a virtual table are, by its definition.
 */
#include "client-lib/queryctl/transfer/virtual.h"

static const struct {
    const char *sql;
    QctlVirtualRows rows;
    const char *content;
    const char *hidden;
} cases[] = {
    { "CREATE VIRTUAL TABLE f USING fts5(a, b)", QCTL_VIRTUAL_ROWS_OWN, NULL, NULL },
    { "CREATE VIRTUAL TABLE f USING FTS5(content, b UNINDEXED)", QCTL_VIRTUAL_ROWS_OWN, NULL, NULL },
    { "CREATE VIRTUAL TABLE \"a (\"\"b\" USING \"fts5\"(a, content='it''s')", QCTL_VIRTUAL_ROWS_OTHER, "it's", NULL },
    { "CREATE VIRTUAL TABLE [a (b] USING fts5(a, content = \"a,\"\"b)\" )", QCTL_VIRTUAL_ROWS_OTHER, "a,\"b)", NULL },
    { "CREATE VIRTUAL TABLE f USING fts5(a, CONTENT=[t (x])", QCTL_VIRTUAL_ROWS_OTHER, "t (x", NULL },
    { "CREATE VIRTUAL TABLE f USING fts5(a, con=t, content_rowid=id)", QCTL_VIRTUAL_ROWS_OTHER, "t", NULL },
    { "CREATE VIRTUAL TABLE f USING fts5(content_rowid=id, tokenize=\"unicode61 tokenchars 'content=(x'\", a)",
      QCTL_VIRTUAL_ROWS_OWN, NULL, NULL },
    { "CREATE VIRTUAL TABLE f USING fts5(a, content='')", QCTL_VIRTUAL_ROWS_LOST, NULL, NULL },
    { "CREATE VIRTUAL TABLE f USING /* fts4(content=t) */ fts5 -- x(\n(a,content=``)", QCTL_VIRTUAL_ROWS_LOST, NULL, NULL },
    { "CREATE VIRTUAL TABLE f USING fts4(a, languageid=\"l\", tokenize=x (y, content=t))", QCTL_VIRTUAL_ROWS_OWN, NULL, "l" },
    { "CREATE VIRTUAL TABLE f USING fts4(content=t, languageid=l)", QCTL_VIRTUAL_ROWS_OTHER, "t", "l" },
    { "CREATE VIRTUAL TABLE f USING fts3(content=t)", QCTL_VIRTUAL_ROWS_OWN, NULL, NULL },
    { "CREATE VIRTUAL TABLE f USING fts3", QCTL_VIRTUAL_ROWS_OWN, NULL, NULL },
    { "create virtual table f using rtree(id, a, b, +content=t)", QCTL_VIRTUAL_ROWS_OWN, NULL, NULL },
    { "CREATE VIRTUAL TABLE f USING fts5vocab(x, row)", QCTL_VIRTUAL_ROWS_NONE, NULL, NULL },
    { "CREATE VIRTUAL TABLE f USING theirs(content='')", QCTL_VIRTUAL_ROWS_NONE, NULL, NULL },
    { "CREATE VIRTUAL TABLE", QCTL_VIRTUAL_ROWS_NONE, NULL, NULL },
    { "CREATE VIRTUAL TABLE f USING fts5(a, content='t", QCTL_VIRTUAL_ROWS_OTHER, "t", NULL },
    { "CREATE VIRTUAL TABLE f USING fts5('", QCTL_VIRTUAL_ROWS_OWN, NULL, NULL },
};

static void
test_rows(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(QctlVirtual) table = qctl_virtual_new(cases[i].sql);

        g_test_message("%s", cases[i].sql);
        g_assert_nonnull(table);
        g_assert_cmpint(qctl_virtual_get_rows(table), ==, cases[i].rows);
        g_assert_cmpstr(qctl_virtual_get_content(table), ==, cases[i].content);
        g_assert_cmpstr(qctl_virtual_get_hidden(table), ==, cases[i].hidden);
    }
    g_assert_null(qctl_virtual_new("CREATE TABLE f(a)"));
    g_assert_null(qctl_virtual_new(""));
}

static void
test_shadows(void)
{
    g_autoptr(QctlVirtual) words = qctl_virtual_new("CREATE VIRTUAL TABLE a_b USING fts5(x)");
    g_autoptr(QctlVirtual) boxes = qctl_virtual_new("CREATE VIRTUAL TABLE a_b USING rtree(id, x, y)");
    g_autoptr(QctlVirtual) theirs = qctl_virtual_new("CREATE VIRTUAL TABLE a_b USING theirs");

    g_assert_true(qctl_virtual_owns(words, "a_b", "A_b_Data"));
    g_assert_true(qctl_virtual_owns(words, "a_b", "a_b_docsize"));
    g_assert_false(qctl_virtual_owns(words, "a_b", "a_b"));
    g_assert_false(qctl_virtual_owns(words, "a_b", "a_b_doc"));
    g_assert_false(qctl_virtual_owns(words, "a_b", "a_b_"));
    g_assert_false(qctl_virtual_owns(words, "a_b", "a_data"));
    g_assert_false(qctl_virtual_owns(words, "a_b", "a_b_node"));
    g_assert_true(qctl_virtual_owns(boxes, "a_b", "a_b_node"));
    g_assert_false(qctl_virtual_owns(boxes, "a_b", "a_b_data"));
    g_assert_false(qctl_virtual_owns(theirs, "a_b", "a_b_data"));
    g_assert_true(qctl_virtual_has_rowid(words));
    g_assert_false(qctl_virtual_has_rowid(boxes));
    g_assert_cmpstr(qctl_virtual_get_settings(words), ==, "_config");
    g_assert_cmpstr(qctl_virtual_get_index(boxes), ==, NULL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/queryctl/virtual/rows", test_rows);
    g_test_add_func("/queryctl/virtual/shadows", test_shadows);
    return g_test_run();
}
