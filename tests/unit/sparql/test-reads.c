/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Predicates and graphs that queries read, as text: "predicates | graphs".
 */
#include "daemon/sparql/reads.h"

#include <string.h>

#include "daemon/base/limits.h"
#include "daemon/sparql/parser.h"

static char *
write_set(const QdNameSet *set)
{
    g_autoptr(GPtrArray) names = qd_name_set_list(set);
    g_autoptr(GString) text = g_string_new(qd_name_set_is_all(set) ? "all" : NULL);

    for (guint i = 0; i < names->len; i++)
        g_string_append_printf(text, "%s%s", i > 0 ? " " : "", *(char *) names->pdata[i] != '\0' ? (char *) names->pdata[i] : "-");
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
check(const char *query, const char *expected)
{
    g_autofree char *text = g_strconcat("BASE <x:> ", query, NULL);
    g_autoptr(QdNameSet) predicates = qd_name_set_new(0);
    g_autoptr(QdNameSet) graphs = qd_name_set_new(0);
    g_autoptr(GError) error = NULL;
    QdLimits limits;
    const QdParseOptions options = { .limits = &limits };
    g_autoptr(QdAst) ast = NULL;
    g_autofree char *predicate_names = NULL;
    g_autofree char *graph_names = NULL;
    g_autofree char *told = NULL;

    qd_limits_init(&limits);
    ast = qd_parser_parse(text, strlen(text), FALSE, &options, &error);
    g_assert_no_error(error);
    qd_sparql_reads_collect(ast, predicates, graphs);
    predicate_names = write_set(predicates);
    graph_names = write_set(graphs);
    told = g_strdup_printf("%s | %s", predicate_names, graph_names);
    if (!g_str_equal(told, expected))
        g_error("%s: '%s' instead of '%s'", query, told, expected);
}

static void
test_predicates(void)
{
    check("SELECT * { ?s <p> ?o . ?o <q> 1 }", "x:p x:q | -");
    check("SELECT * { ?s ?p ?o }", "all | -");
    check("SELECT * { }", " | ");
    check("SELECT * { ?s <p>/^<q>|<r>+ ?o }", "x:p x:q x:r | -");
    check("SELECT * { ?s <p>* ?o }", "all | -");
    check("SELECT * { ?s <p>? ?o }", "all | -");
    check("SELECT * { ?s !<p> ?o }", "all | -");
    check("SELECT * { ?s <p> $o OPTIONAL { ?s <q> ?q } MINUS { ?s <r> 1 } { ?s <t> 1 } UNION { ?s <u> 1 } }",
          "x:p x:q x:r x:t x:u | -");
    check("SELECT * { SELECT ?s { ?s <p> 1 } VALUES ?s { <a> } }", "x:p | -");
}

static void
test_full_text(void)
{
    check("PREFIX fts: <http://queryd.org/fts#> SELECT * { ?s fts:match 'a' ; <p> ?o }", "all | -");
    check("PREFIX fts: <http://queryd.org/fts#> SELECT * { ?s fts:match (<q> 'a') ; <p> ?o }", "x:p x:q | -");
    check("PREFIX fts: <http://queryd.org/fts#> SELECT * { GRAPH ?g { ?s fts:match (<q> 'a') } }", "x:q | all");
}

static void
test_expressions(void)
{
    check("SELECT * { ?s <p> ?o FILTER EXISTS { ?o <q> 1 FILTER NOT EXISTS { ?o <r> 1 } } }", "x:p x:q x:r | -");
    check("SELECT (EXISTS { ?s <q> 1 } AS ?e) { ?s <p> ?o BIND(EXISTS { ?o <r> 1 } AS ?b) }", "x:p x:q x:r | -");
    check("SELECT (COUNT(EXISTS { ?s <q> 1 }) AS ?n) { ?s <p> ?o } GROUP BY (EXISTS { ?s <g> 1 }) HAVING (EXISTS { ?s <h> 1 })",
          "x:g x:h x:p x:q | -");
    check("SELECT * { ?s <p> ?o } ORDER BY (EXISTS { ?s <q> 1 })", "x:p x:q | -");
}

static void
test_graphs(void)
{
    check("SELECT * { ?s <p> 1 GRAPH <g> { ?s <q> 1 } }", "x:p x:q | - x:g");
    check("SELECT * { GRAPH ?g { ?s <q> 1 FILTER EXISTS { ?s <r> 1 } } }", "x:q x:r | all");
    check("SELECT * FROM <d> FROM NAMED <n> { ?s <p> 1 GRAPH ?g { ?s <q> 1 } }", "x:p x:q | x:d x:n");
    check("SELECT * FROM NAMED <n> { ?s <p> 1 }", "x:p | ");
    /* which graphs there are */
    check("SELECT * { GRAPH ?g { } }", "all | all");
    check("SELECT * { GRAPH ?g { OPTIONAL { ?s <p> 1 } } }", "all | all");
    check("SELECT * { GRAPH <g> { { } UNION { ?s <p> 1 } } }", "all | x:g");
    check("SELECT * { GRAPH ?g { { ?s <p> 1 } OPTIONAL { ?s <q> 1 } } }", "x:p x:q | all");
}

static void
test_forms(void)
{
    check("ASK { ?s <p> 1 }", "x:p | -");
    check("CONSTRUCT { ?s <q> ?o } WHERE { ?s <p> ?o }", "x:p | -");
    check("DESCRIBE <a>", "all | -");
    check("DESCRIBE ?s FROM <d> { ?s <p> 1 }", "all | x:d");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sparql/reads/predicates", test_predicates);
    g_test_add_func("/sparql/reads/full-text", test_full_text);
    g_test_add_func("/sparql/reads/expressions", test_expressions);
    g_test_add_func("/sparql/reads/graphs", test_graphs);
    g_test_add_func("/sparql/reads/forms", test_forms);
    return g_test_run();
}
