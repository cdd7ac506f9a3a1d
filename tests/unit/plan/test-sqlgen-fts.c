/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Full-text patterns wherever triples may stand, against counts that are known.
 */
#include "daemon/quads/fts.h"
#include "tests/unit/sparql/sparql-fixture.h"

#define FTS "<http://queryd.org/fts#match>"
#define N_TEXTS 20

/* :d0 … with "common" and a word of their own; every other one also in the graph :g. */
static void
set_up(SparqlFixture *self, gconstpointer data)
{
    static char title[] = SPARQL_EX "title";
    static char *add[] = { title, NULL };
    const QdFtsChange change = { .add = add };
    g_autofree char *texts = sparql_repeat(":d{i} :title 'common own{i}' ; :other 'common' .", " ", 0, N_TEXTS);
    g_autofree char *named = sparql_repeat(":d{i} :title 'common own{i}' .", " ", 0, N_TEXTS / 2);
    g_autofree char *text = g_strdup_printf("INSERT DATA { %s GRAPH :g { %s } }", texts, named);
    g_autoptr(GError) error = NULL;

    sparql_fixture_set_up(self, data);
    (void) qd_fts_change(self->store.writer, &change, &error);
    g_assert_no_error(error);
    (void) sparql_update(self, text);
}

static void
test_places(SparqlFixture *self, gconstpointer data)
{
    static const struct {
        const char *pattern;
        gint64 n;
    } cases[] = {
        { "?s " FTS " 'common'", N_TEXTS },
        { "?s " FTS " (:title 'common')", N_TEXTS },
        { "?s " FTS " 'own3'", 1 },
        { "?s " FTS " 'own'", 0 },
        { "?s " FTS " 'own*'", N_TEXTS },
        { ":d3 " FTS " 'own3'", 1 },
        { ":d3 " FTS " 'own4'", 0 },
        { "GRAPH :g { ?s " FTS " 'common' }", N_TEXTS / 2 },
        { "GRAPH ?g { ?s " FTS " 'common' }", N_TEXTS / 2 },
        { "GRAPH :none { ?s " FTS " 'common' }", 0 },
        { "?s " FTS " ('common' 1)", 1 },
        { "?s " FTS " ('common' 19)", 19 },
        { "?s " FTS " ('common' 20)", N_TEXTS },
        { "?s " FTS " ('common' 21)", N_TEXTS },
        { "?s :other 'common' MINUS { ?s " FTS " 'own3 OR own4' }", N_TEXTS - 2 },
        { "?s :other 'common' OPTIONAL { ?s " FTS " 'own3' . ?s :title ?t }", N_TEXTS },
        { "?s :other 'common' FILTER EXISTS { ?s " FTS " 'own3' }", 1 },
        { "?s :other 'common' FILTER NOT EXISTS { ?s " FTS " 'own3' }", N_TEXTS - 1 },
        { "{ ?s " FTS " 'own3' } UNION { ?s " FTS " 'own4' }", 2 },
        { "VALUES ?q { 'own3' 'own4' 'none' 5 } ?s " FTS " ?q", 2 },
        { "BIND(CONCAT('own', '7') AS ?q) ?s " FTS " ?q", 1 },
        { "VALUES ?q { 'common' 'own1' } ?s " FTS " (?q 2)", 3 },
        { "?s :other ?q . ?s " FTS " ?q", N_TEXTS },
        { "(?s ?r ?l ?p) " FTS " 'common'", N_TEXTS },
        { "(:d3 ?r ?l ?p) " FTS " 'common' FILTER(?p = :title && CONTAINS(?l, 'own3'))", 1 },
        { "{ SELECT ?s { ?s " FTS " 'common' } LIMIT 3 }", 3 },
        { "?s " FTS " 'common' . ?s " FTS " 'own5'", 1 },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        gint64 n = sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?c) { %s }", cases[i].pattern));

        if (n != cases[i].n)
            g_error("%s: %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT, cases[i].pattern, n, cases[i].n);
    }
}

/* Joined with more patterns than one SELECT takes. */
static void
test_sizes(SparqlFixture *self, gconstpointer data)
{
    for (guint n = 1; n <= 30; n++) {
        g_autofree char *others = sparql_repeat("?s :title ?t{i}", " . ", 0, n);

        g_assert_cmpint(
            sparql_take_number(self, g_strdup_printf("SELECT (COUNT(*) AS ?c) { %s . ?s " FTS " 'own3 OR own4' }", others)), ==, 2);
    }
}

static void
assert_failed(SparqlFixture *self, const char *pattern, QwError code, const char *words)
{
    g_autofree char *text = g_strdup_printf("SELECT * { %s }", pattern);
    g_autoptr(GError) error = NULL;

    g_assert_null(sparql_try_query(self, text, &error));
    store_assert_error(error, code, words);
}

static void
test_errors(SparqlFixture *self, gconstpointer data)
{
    g_autofree char *words = g_strnfill((gsize) qd_limits_get(&self->store.limits, QD_LIMIT_FULLTEXT_QUERY_BYTES) + 1, 'x');
    g_autofree char *text = g_strdup_printf("?s " FTS " '%s'", words);

    assert_failed(self, "?s " FTS " '\"'", QW_ERROR_SYNTAX, "");
    assert_failed(self, "?s " FTS " 'a AND'", QW_ERROR_SYNTAX, "");
    assert_failed(self, text, QW_ERROR_TOO_COMPLEX, "fulltext_query_bytes");
    assert_failed(self, "?s " FTS " (:other 'common')", QW_ERROR_UNSUPPORTED, "other");
    assert_failed(self, "?s " FTS " ?q", QW_ERROR_SYNTAX, "the query text has no value there");
    assert_failed(self, "?s " FTS " 5", QW_ERROR_SYNTAX, "");
    assert_failed(self, "?s " FTS "* 'x'", QW_ERROR_SYNTAX, "fts:match stands in no path");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/plan/sqlgen-fts/" path, SparqlFixture, NULL, set_up, func, sparql_fixture_tear_down)
    ADD("places", test_places);
    ADD("sizes", test_sizes);
    ADD("errors", test_errors);
    return g_test_run();
}
