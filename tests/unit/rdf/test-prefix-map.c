/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The map against a search through a list; and that its size is no matter.
 */
#include "daemon/rdf/prefix-map.h"

#include <string.h>

static void
test_find(void)
{
    static const char *const iris[] = { "a", "ab", "abc", "abd", "b", "http://a/", "http://a/b", "http://a/bc#", "http://b/" };
    static const char *const names[] = { "abcd", "abd", "ab", "ac", "", "http://a/bc#x", "http://a/bcd", "http://a", "z", "0" };
    g_autoptr(QdPrefixMap) map = qd_prefix_map_new();

    for (guint i = 0; i < G_N_ELEMENTS(iris); i++) {
        g_autofree char *prefix = g_strdup_printf("p%u", i);

        g_assert_true(qd_prefix_map_add(map, prefix, iris[i]));
        g_assert_false(qd_prefix_map_add(map, prefix, "other"));
        g_assert_false(qd_prefix_map_add(map, "other", iris[i]));
    }
    g_assert_false(qd_prefix_map_add(map, "none", ""));
    g_assert_cmpuint(qd_prefix_map_get_n(map), ==, G_N_ELEMENTS(iris));
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        guint state = 0;

        for (gsize n = strlen(names[i]); n > 0; n--) {
            for (guint k = 0; k < G_N_ELEMENTS(iris); k++) {
                g_autofree char *expected = g_strdup_printf("p%u", k);
                gsize n_iri = 0;

                if (strlen(iris[k]) != n || strncmp(iris[k], names[i], n) != 0)
                    continue;
                g_assert_cmpstr(qd_prefix_map_find(map, names[i], strlen(names[i]), &state, &n_iri), ==, expected);
                g_assert_cmpuint(n_iri, ==, n);
            }
        }
        g_assert_null(qd_prefix_map_find(map, names[i], strlen(names[i]), &state, NULL));
    }
}

static void
test_many(void)
{
    g_autoptr(QdPrefixMap) map = qd_prefix_map_new();
    const guint n = 100000; /* a list takes minutes */

    for (guint i = 0; i < n; i++) {
        g_autofree char *prefix = g_strdup_printf("p%u", i);
        g_autofree char *iri = g_strdup_printf("http://example.org/%u/", i);

        g_assert_true(qd_prefix_map_add(map, prefix, iri));
    }
    for (guint i = 0; i < n; i++) {
        g_autofree char *prefix = g_strdup_printf("p%u", i);
        g_autofree char *iri = g_strdup_printf("http://example.org/%u/x", i);
        guint state = 0;
        gsize n_iri;

        g_assert_cmpstr(qd_prefix_map_find(map, iri, strlen(iri), &state, &n_iri), ==, prefix);
        g_assert_cmpuint(n_iri, ==, strlen(iri) - 1);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rdf/prefix-map/find", test_find);
    g_test_add_func("/rdf/prefix-map/many", test_many);
    return g_test_run();
}
