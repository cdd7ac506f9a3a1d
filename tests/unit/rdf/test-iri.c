/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * References against bases: RFC 3986 §5.4's examples and bases with dot segments, without authority, without hierarchy.
 */
#include "daemon/rdf/iri.h"

#include <string.h>

typedef struct Case {
    const char *base;
    const char *reference;
    const char *expected;
} Case;

static void
check(const Case *cases, gsize n_cases)
{
    for (gsize i = 0; i < n_cases; i++) {
        g_autoptr(GString) out = g_string_new("x");

        g_assert_true(qd_iri_resolve(cases[i].base, strlen(cases[i].base), cases[i].reference, strlen(cases[i].reference), out));
        g_assert_cmpstr(out->str + 1, ==, cases[i].expected);
    }
}

static void
test_rfc_examples(void)
{
    static const char base[] = "http://a/b/c/d;p?q";
    static const Case cases[] = {
        { base, "g:h", "g:h" },
        { base, "g", "http://a/b/c/g" },
        { base, "./g", "http://a/b/c/g" },
        { base, "g/", "http://a/b/c/g/" },
        { base, "/g", "http://a/g" },
        { base, "//g", "http://g" },
        { base, "?y", "http://a/b/c/d;p?y" },
        { base, "g?y", "http://a/b/c/g?y" },
        { base, "#s", "http://a/b/c/d;p?q#s" },
        { base, "g#s", "http://a/b/c/g#s" },
        { base, "g?y#s", "http://a/b/c/g?y#s" },
        { base, ";x", "http://a/b/c/;x" },
        { base, "", "http://a/b/c/d;p?q" },
        { base, ".", "http://a/b/c/" },
        { base, "./", "http://a/b/c/" },
        { base, "..", "http://a/b/" },
        { base, "../g", "http://a/b/g" },
        { base, "../..", "http://a/" },
        { base, "../../g", "http://a/g" },
        { base, "../../../g", "http://a/g" },
        { base, "/./g", "http://a/g" },
        { base, "/../g", "http://a/g" },
        { base, "g.", "http://a/b/c/g." },
        { base, "..g", "http://a/b/c/..g" },
        { base, "./../g", "http://a/b/g" },
        { base, "./g/.", "http://a/b/c/g/" },
        { base, "g/./h", "http://a/b/c/g/h" },
        { base, "g/../h", "http://a/b/c/h" },
        { base, "g;x=1/../y", "http://a/b/c/y" },
        { base, "g?y/../x", "http://a/b/c/g?y/../x" },
        { base, "http:g", "http:g" },
    };

    check(cases, G_N_ELEMENTS(cases));
}

static void
test_odd_bases(void)
{
    static const Case cases[] = {
        { "http://a", "g", "http://a/g" },
        { "http://a?q", "?y", "http://a?y" },
        { "http://a/bb/ccc/../d;p?q", "", "http://a/bb/ccc/../d;p?q" },
        { "http://a/bb/ccc/../d;p?q", "g", "http://a/bb/g" },
        { "http://a/bb/ccc/.", "..", "http://a/bb/" },
        { "file:///a/bb/ccc/d;p?q", "../g", "file:///a/bb/g" },
        { "file:///a", "//g/../h", "file://g/h" },
        { "tag:example.org,2026:x", "g", "tag:g" },
        { "urn:a/b", "../../c", "urn:/c" },
        { "http://a/b", "eXAMPLE://a/./b/../b/%63", "eXAMPLE://a/./b/../b/%63" },
    };

    check(cases, G_N_ELEMENTS(cases));
}

/* Tens of thousands of segments, up and down again. */
static void
test_long_paths(void)
{
    g_autoptr(GString) base = g_string_new("http://a/");
    g_autoptr(GString) up = g_string_new(NULL);
    g_autoptr(GString) out = g_string_new(NULL);

    for (guint i = 0; i < 30000; i++)
        g_string_append(base, "b/");
    for (guint i = 0; i < 29999; i++)
        g_string_append(up, i % 2 == 0 ? "../" : "./../");
    g_string_append(up, "c");
    g_assert_true(qd_iri_resolve(base->str, base->len, up->str, up->len, out));
    g_assert_cmpstr(out->str, ==, "http://a/b/c");
    g_string_truncate(out, 0);
    g_assert_true(qd_iri_resolve(base->str, base->len, "c", 1, out));
    g_assert_cmpuint(out->len, ==, base->len + 1);
    g_assert_true(g_str_has_prefix(out->str, base->str));
}

static void
test_no_base(void)
{
    g_autoptr(GString) out = g_string_new(NULL);

    g_assert_false(qd_iri_resolve(NULL, 0, "g", 1, out));
    g_assert_true(qd_iri_resolve(NULL, 0, "a:g", 3, out));
    g_assert_cmpstr(out->str, ==, "ga:g");
}

static void
test_characters(void)
{
    g_assert_true(qd_iri_check("http://\xc3\xa9/%20", 13));
    g_assert_false(qd_iri_check("a b", 3));
    g_assert_false(qd_iri_check("a\\b", 3));
    g_assert_false(qd_iri_check("a\0b", 3));
    g_assert_false(qd_iri_check("a\xff", 2));
    g_assert_true(qd_iri_is_absolute("a+.-1:", 6));
    g_assert_false(qd_iri_is_absolute("1a:", 3));
    g_assert_false(qd_iri_is_absolute(":", 1));
    g_assert_false(qd_iri_is_absolute("a/b:c", 5));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rdf/iri/rfc-examples", test_rfc_examples);
    g_test_add_func("/rdf/iri/odd-bases", test_odd_bases);
    g_test_add_func("/rdf/iri/long-paths", test_long_paths);
    g_test_add_func("/rdf/iri/no-base", test_no_base);
    g_test_add_func("/rdf/iri/characters", test_characters);
    return g_test_run();
}
