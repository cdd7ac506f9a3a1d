/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists of grants, good and bad, and what they give.
 */
#include "daemon/base/access.h"

#include <string.h>

#include "daemon/base/error.h"

static void
test_nothing(void)
{
    g_autoptr(QdAccess) access = qd_access_new("org.example.Music");

    for (guint kind = QD_ACCESS_READ; kind <= QD_ACCESS_WRITE; kind++) {
        g_assert_false(qd_access_has_all(access, kind));
        g_assert_false(qd_access_has_any(access, kind));
        g_assert_false(qd_access_has_table(access, kind, ""));
        g_assert_false(qd_access_has_table(access, kind, "t"));
        g_assert_false(qd_access_has_graph(access, kind, QD_ACCESS_DEFAULT_GRAPH));
    }
}

static void
test_lists(void)
{
    g_autoptr(QdAccess) access = qd_access_new("org.example.Music");
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) graphs = NULL;

    g_assert_true(qd_access_grant(access, QD_ACCESS_READ, "table:Albums; table:a\\;b ;graph:urn:b;graph:urn:a;", &error));
    g_assert_true(qd_access_grant(access, QD_ACCESS_WRITE, "graph:default;table:plays", &error));
    g_assert_no_error(error);
    g_assert_true(qd_access_has_table(access, QD_ACCESS_READ, "ALBUMS"));
    g_assert_false(qd_access_has_table(access, QD_ACCESS_WRITE, "albums"));
    g_assert_true(qd_access_has_table(access, QD_ACCESS_READ, "a;b"));
    g_assert_true(qd_access_has_table(access, QD_ACCESS_READ, "plays"));
    g_assert_true(qd_access_has_table(access, QD_ACCESS_WRITE, "plays"));
    g_assert_true(qd_access_has_graph(access, QD_ACCESS_READ, QD_ACCESS_DEFAULT_GRAPH));
    g_assert_true(qd_access_has_graph(access, QD_ACCESS_WRITE, QD_ACCESS_DEFAULT_GRAPH));
    g_assert_true(qd_access_has_graph(access, QD_ACCESS_READ, "urn:a"));
    g_assert_false(qd_access_has_graph(access, QD_ACCESS_READ, "URN:A"));
    g_assert_false(qd_access_has_graph(access, QD_ACCESS_WRITE, "urn:a"));
    g_assert_false(qd_access_has_all(access, QD_ACCESS_READ));
    graphs = qd_access_list_graphs(access, QD_ACCESS_READ);
    g_assert_cmpuint(graphs->len, ==, 2);
    g_assert_cmpstr(graphs->pdata[0], ==, "urn:a");
}

static void
test_all(void)
{
    g_autoptr(QdAccess) access = qd_access_new("org.example.Music");

    g_assert_true(qd_access_grant(access, QD_ACCESS_READ, "*", NULL));
    g_assert_true(qd_access_has_table(access, QD_ACCESS_READ, "any"));
    g_assert_true(qd_access_has_graph(access, QD_ACCESS_READ, "urn:any"));
    g_assert_false(qd_access_has_any(access, QD_ACCESS_WRITE));
    g_assert_true(qd_access_grant(access, QD_ACCESS_WRITE, "*", NULL));
    g_assert_true(qd_access_has_all(access, QD_ACCESS_WRITE));
}

static void
test_mistakes(void)
{
    static const struct {
        const char *list;
        const char *words;
    } cases[] = {
        { "", "'' is none of table:NAME" },
        { ";", "'' is none of" },
        { "albums", "'albums' is none of" },
        { "table:", "names no table" },
        { "table:a;;table:b", "'' is none of" },
        { "table:a;*", "'*' is none of" },
        { "Table:a", "'Table:a' is none of" },
        { "table:queryd_quad", "holds the data of all" },
        { "table:QUERYD_payload", "holds the data of all" },
        { "table:sqlite_schema", "holds the data of all" },
        { "table:pragma_table_list", "holds the data of all" },
        { "table:rdf_quad", "holds the data of all" },
        { "graph:", "names no graph" },
        { "graph:music", "names no graph" },
        { "graph:http://x/a b", "names no graph" },
        { "graph:<http://x/>", "names no graph" },
        { "graph:urn:\xff", "names no graph" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        for (guint kind = QD_ACCESS_READ; kind <= QD_ACCESS_WRITE; kind++) {
            g_autoptr(QdAccess) access = qd_access_new("org.example.Music");
            g_autoptr(GError) error = NULL;

            g_assert_false(qd_access_grant(access, kind, cases[i].list, &error));
            g_assert_error(error, QD_ERROR, (gint) QW_ERROR_BAD_PARAMETER);
            g_assert_nonnull(strstr(error->message, cases[i].words));
        }
    }
}

static void
test_applications(void)
{
    static const char *const good[] = { "org.example.Music", "a.b", "org.example.Music-2", "_a.B9" };
    static const char *const bad[] = { "",     "music", ".a.b",  "a.b.",  "a..b",  "a.9b",
                                       "9a.b", "a.-b",  "a b.c", "a/b.c", "a.b\n", "org.example.Músic",
                                       "a.*" };
    g_autofree char *filler = g_strnfill(199, 'x');
    g_autofree char *too_long = g_strconcat("a.", filler, NULL);

    for (guint i = 0; i < G_N_ELEMENTS(good); i++)
        g_assert_true(qd_access_is_application(good[i]));
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++)
        g_assert_false(qd_access_is_application(bad[i]));
    g_assert_false(qd_access_is_application(too_long));
}

static void
test_equal(void)
{
    g_autoptr(QdAccess) one = qd_access_new("a.b");
    g_autoptr(QdAccess) two = qd_access_new("a.b");

    g_assert_cmpuint(qd_access_get_id(one), !=, qd_access_get_id(two));
    g_assert_true(qd_access_is_equal(one, two));
    g_assert_true(qd_access_grant(one, QD_ACCESS_READ, "table:a;table:b", NULL));
    g_assert_false(qd_access_is_equal(one, two));
    g_assert_true(qd_access_grant(two, QD_ACCESS_READ, "table:b;table:a", NULL));
    g_assert_true(qd_access_is_equal(one, two));
    g_assert_true(qd_access_grant(two, QD_ACCESS_WRITE, "table:b", NULL));
    g_assert_false(qd_access_is_equal(one, two));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/access/nothing", test_nothing);
    g_test_add_func("/base/access/lists", test_lists);
    g_test_add_func("/base/access/all", test_all);
    g_test_add_func("/base/access/mistakes", test_mistakes);
    g_test_add_func("/base/access/applications", test_applications);
    g_test_add_func("/base/access/equal", test_equal);
    return g_test_run();
}
