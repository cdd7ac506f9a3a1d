/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the grammar takes, and what it says about what it does not take.
 */
#include "daemon/sparql/parser.h"

#include <string.h>

#include "daemon/base/error.h"

static void
check(const char *text, gboolean is_update, const char *expected_error)
{
    QdLimits limits;
    const QdParseOptions options = { .base = "http://example.org/", .limits = &limits };
    g_autoptr(GError) error = NULL;
    g_autoptr(QdAst) ast = NULL;

    qd_limits_init(&limits);
    ast = qd_parser_parse(text, strlen(text), is_update, &options, &error);
    g_assert_cmpstr(error != NULL ? error->message : NULL, ==, expected_error);
    g_assert_true((ast == NULL) == (error != NULL));
}

static void
test_queries(void)
{
    check("SELECT * { ?s a <x> ; <p> 1, \"a\"@en, 'b'^^<t> ; . [] <q> (1 [ <r> true ]) }", FALSE, NULL);
    check("SELECT (COUNT(*) AS ?n) ?g { ?s ?p ?g } GROUP BY ?g HAVING(COUNT(?s) > 1) ORDER BY DESC(?n) LIMIT 3 OFFSET 1", FALSE,
          NULL);
    check("PREFIX : <http://e/> ASK { :a (^:p/(:q|!(:r|^a))*)+ ?x OPTIONAL { ?x :y ?z FILTER(?z -1 > 2 && NOT EXISTS { ?z :w ?x }) "
          "} }",
          FALSE, NULL);
    check("CONSTRUCT WHERE { ?s ?p ?o } LIMIT 1", FALSE, NULL);
    check("DESCRIBE ?x <y> FROM <g> { VALUES (?x ?y) { (UNDEF 1) (<a> \"b\") } }", FALSE, NULL);
    check("SELECT ?x { { SELECT ?x { ?x ?p ?o } VALUES ?x { <a> } } MINUS { ?x a <b> } } VALUES ?x { <c> }", FALSE, NULL);
}

static void
test_query_errors(void)
{
    check(
        "SELEC", FALSE,
        "1:1: unexpected 'SELEC', expected BASE, PREFIX, SELECT, CONSTRUCT, DESCRIBE or ASK, or in an update INSERT, DELETE, WITH, "
        "LOAD, CLEAR, DROP, CREATE, ADD, MOVE or COPY");
    check("SELECT * {\n ?s ?p }", FALSE, "2:8: unexpected '}', expected a variable or a term");
    check("ASK { ?s x:y ?o }", FALSE, "1:10: the prefix 'x:' is not declared");
    check("ASK { BIND(1 AS ?x) BIND(2 AS ?x) }", FALSE, "1:31: BIND to ?x, which the group has already");
    check("SELECT ?x (COUNT(?y) AS ?z) { ?x ?y ?q }", FALSE, "1:8: ?x is neither in GROUP BY nor in an aggregate");
    check("SELECT * { ?x ?y ?q } GROUP BY ?x", FALSE, "1:1: SELECT * with GROUP BY or aggregates");
    check("SELECT (1 AS ?x) { ?x ?y ?z }", FALSE, "1:8: AS ?x, which is there already");
    check("SELECT ?x (1 AS ?x) {}", FALSE, "1:11: AS ?x, which is there already");
    check("ASK { VALUES (?a ?b) { (1) } }", FALSE, "1:24: a row of 1 values for 2 variables");
    check("ASK { { _:a <p> 1 } UNION { _:a <p> 2 } }", FALSE, "1:29: the blank node '_:a' stands in two basic graph patterns");
    check("ASK { FILTER(COUNT(?x)) }", FALSE, "1:14: an aggregate outside SELECT, HAVING and ORDER BY, or inside another");
    check("ASK { ?x ?y ?z } x", FALSE, "1:18: unexpected 'x', expected the end of the query");
}

/* Those that are known say what to do. */
static void
test_mistakes(void)
{
    check("ASK { <http://a ?b ?c }", FALSE, "1:7: the IRI '<http://a' is not closed: '>' is missing");
    check("ASK {\n ?s ?p <http://a", FALSE, "2:8: the IRI '<http://a' is not closed: '>' is missing");
    check("PREFIX e: <http://\xc3\xa9/\nASK {}", FALSE, "1:11: the IRI '<http://\xc3\xa9/' is not closed: '>' is missing");
    check("ASK { ?s <http://a{b> ?o }", FALSE, "1:10: the IRI '<http://a' goes on with '{', which no IRI has: write %7B");
    check("ASK { ?s ?p ?o FILTER(?o <3 || ?o <?p) }", FALSE, NULL);
    check("ASK { ?s < ?o }", FALSE, "1:10: unexpected '<', expected a predicate or a path");
    check("ASK { FILTER(Foo(?x)) }", FALSE, "1:14: SPARQL has no function 'Foo'; one that is not SPARQL's is called by its IRI");
    check("ASK { FILTER substring(?x, 1) }", FALSE, "1:14: SPARQL has no function 'substring'; did you mean SUBSTR?");
    check("SELECT (COUNTS(?x) AS ?n) {}", FALSE, "1:9: SPARQL has no function 'COUNTS'; did you mean COUNT?");
    check("SELECT * {} ORDER BY Foo(?x)", FALSE,
          "1:22: SPARQL has no function 'Foo'; one that is not SPARQL's is called by its IRI");
    check("SELECT * {} GROUP BY Foo(?x)", FALSE,
          "1:22: SPARQL has no function 'Foo'; one that is not SPARQL's is called by its IRI");
    check("ASK { FILTER(Foo) }", FALSE, "1:14: unexpected 'Foo', expected an expression");
    check("SELECT * WHERE ?s", FALSE, "1:16: unexpected '?s', expected '{'");
    check("SELECT * ?s", FALSE, "1:10: unexpected '?s', expected WHERE or '{'");
}

static void
test_updates(void)
{
    check("", TRUE, NULL);
    check("INSERT DATA { <a> <p> _:b . GRAPH <g> { _:b <p> 1 } } ; DELETE WHERE { ?s ?p ?o } ;", TRUE, NULL);
    check("WITH <g> DELETE { ?s ?p ?o } INSERT { ?s ?p [] } USING NAMED <h> WHERE { ?s ?p ?o }", TRUE, NULL);
    check("LOAD SILENT <x> INTO GRAPH <g> ; CLEAR ALL ; DROP SILENT NAMED ; CREATE GRAPH <g> ; COPY DEFAULT TO <g>", TRUE, NULL);
    check("DELETE DATA { <a> <p> _:b }", TRUE, "1:23: a blank node where something is deleted");
    check("INSERT DATA { <a> <p> ?x }", TRUE, "1:23: unexpected '?x', expected a term");
    check("INSERT DATA { _:a <p> 1 } ; INSERT DATA { _:a <p> 2 }", TRUE,
          "1:43: the blank node '_:a' stands in two INSERT DATA operations");
    check("SELECT * {}", TRUE,
          "1:1: unexpected 'SELECT', expected BASE, PREFIX, SELECT, CONSTRUCT, DESCRIBE or ASK, or in an update INSERT, DELETE, "
          "WITH, "
          "LOAD, CLEAR, DROP, CREATE, ADD, MOVE or COPY");
    check("CLEAR ALL ; CLAER ALL", TRUE,
          "1:13: unexpected 'CLAER', expected BASE, PREFIX, INSERT, DELETE, WITH, LOAD, CLEAR, DROP, CREATE, ADD, MOVE or COPY");
}

static void
test_rdf12(void)
{
    check("VERSION '1.2' ASK {}", FALSE, "1:1: version directives are RDF 1.2, which is not supported");
    check("ASK { << ?s ?p ?o >> ?q ?z }", FALSE,
          "1:7: triple terms and reified triples ('<<') are RDF 1.2, which is not supported");
    check("ASK { ?s ?p <<(<a> <b> <c>)>> }", FALSE,
          "1:13: triple terms and reified triples ('<<') are RDF 1.2, which is not supported");
    check("ASK { <<<a> <b> <c>>> ?p ?o }", FALSE,
          "1:7: triple terms and reified triples ('<<') are RDF 1.2, which is not supported");
    check("ASK { BIND(<<( ?s ?p ?o )>> AS ?t) }", FALSE,
          "1:12: triple terms and reified triples ('<<') are RDF 1.2, which is not supported");
    check("ASK { VALUES ?t { <<( <a> <b> 1 )>> } }", FALSE,
          "1:19: triple terms and reified triples ('<<') are RDF 1.2, which is not supported");
    check("INSERT DATA { << <a> <b> 1 >> <c> 1 }", TRUE,
          "1:15: triple terms and reified triples ('<<') are RDF 1.2, which is not supported");
    check("ASK { ?s ?p ?o ~ ?r }", FALSE, "1:16: reifiers ('~') are RDF 1.2, which is not supported");
    check("ASK { ?s ?p ?o {| ?q 1 |} }", FALSE, "1:16: annotations ('{|') are RDF 1.2, which is not supported");
    check("ASK { ?s ?p 'x'@en--ltr }", FALSE, "1:19: base directions ('--ltr' and '--rtl') are RDF 1.2, which is not supported");
    check("ASK { FILTER(isTRIPLE(?x)) }", FALSE,
          "1:14: functions of triple terms and base directions are RDF 1.2, which is not supported");
    check("ASK { FILTER(?a <<http://e/x>) }", FALSE, NULL); /* an operator and an IRI */
    check("ASK { ?s ?p 'x'@en FILTER('x'@en--1 = 1) }", FALSE, NULL);
}

static void
test_depth(void)
{
    g_autoptr(GString) text = g_string_new("ASK ");

    for (guint i = 0; i < 101; i++)
        g_string_append_c(text, '{');
    check(text->str, FALSE, "1:105: nested too deep: the limit 'sparql_depth' is 100");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sparql/parser/queries", test_queries);
    g_test_add_func("/sparql/parser/query-errors", test_query_errors);
    g_test_add_func("/sparql/parser/mistakes", test_mistakes);
    g_test_add_func("/sparql/parser/updates", test_updates);
    g_test_add_func("/sparql/parser/rdf12", test_rdf12);
    g_test_add_func("/sparql/parser/depth", test_depth);
    return g_test_run();
}
