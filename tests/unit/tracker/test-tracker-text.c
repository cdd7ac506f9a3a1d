/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts of TinySPARQL's clients, and what the parser gets instead.
 */
#include "daemon/tracker/tracker-text.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/read/parameters.h"

#define SAME NULL

static QdParameters *
make_parameters(void)
{
    QdParameters *parameters = qd_parameters_new();
    QwValue value = { .type = QW_TYPE_TEXT, .data = "a \"b\\\n", .n_bytes = 6 };

    qd_parameters_add(parameters, "text", &value);
    value = (QwValue){ .type = QW_TYPE_TEXT, .data = "urn:x", .n_bytes = 5 };
    qd_parameters_add(parameters, "iri", &value);
    value = (QwValue){ .type = QW_TYPE_INTEGER, .integer = -7 };
    qd_parameters_add(parameters, "int", &value);
    value = (QwValue){ .type = QW_TYPE_FLOAT, .real = 0.1 };
    qd_parameters_add(parameters, "double", &value);
    qd_parameters_set_boolean(&value, TRUE);
    qd_parameters_add(parameters, "bool", &value);
    qd_tracker_set_tagged(&value, "hi\0en-GB", 9);
    qd_parameters_add(parameters, "tagged", &value);
    qd_tracker_set_tagged(&value, "hi\0e> .", 8);
    qd_parameters_add(parameters, "bad_tag", &value);
    return parameters;
}

static gboolean
list_prefixes(GString *out, void *data, GError **error)
{
    g_string_append(out, " (\"urn:n#\" \"n\")");
    return TRUE;
}

static gboolean
translate(const char *text, gboolean is_update, QdTrackerText *ret, GError **error)
{
    g_autoptr(QdParameters) parameters = make_parameters();
    const QdTrackerProfile profile = {
        .parameters = parameters, .is_update = is_update, .names_blank_nodes = is_update, .list_prefixes = list_prefixes
    };

    return qd_tracker_text_init(ret, text, &profile, error);
}

static void
check(const char *text, const char *expected)
{
    g_auto(QdTrackerText) result = { 0 };
    g_autoptr(GError) error = NULL;

    (void) translate(text, FALSE, &result, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(result.text->str, ==, expected != SAME ? expected : text);
    g_assert_null(result.dataset);
}

static void
check_update(const char *text, const char *expected)
{
    g_auto(QdTrackerText) result = { 0 };
    g_autoptr(GError) error = NULL;

    (void) translate(text, TRUE, &result, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(result.text->str, ==, expected != SAME ? expected : text);
}

static void
check_fails(const char *text, int code)
{
    g_auto(QdTrackerText) result = { 0 };
    g_autoptr(GError) error = NULL;

    g_assert_false(translate(text, FALSE, &result, &error));
    g_assert_error(error, QD_ERROR, code);
}

static void
check_dataset(const char *text, gboolean is_union, const char *expected)
{
    const QdTrackerProfile profile = { .union_default_graph = is_union };
    g_auto(QdTrackerText) result = { 0 };
    g_autoptr(GError) error = NULL;

    (void) qd_tracker_text_init(&result, text, &profile, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(result.dataset, ==, expected);
}

static void
test_same(void)
{
    check("SELECT * { ?s ?p ?o }", SAME);
    check("PREFIX a: <b:c>\n# a comment\nSELECT DISTINCT ?s (COUNT(*) AS ?n) FROM <b:c> { ?s a:d/a:e* 'x'@en ; ^a:f [ a a:g ] }"
          "\nGROUP BY ?s HAVING (COUNT(*) > 1) ORDER BY DESC(?n) LIMIT 3",
          SAME);
    check("SELECT ?a (?b AS ?c) { ?a ?b ?c { SELECT ?b { ?b ?c ?d } } FILTER NOT EXISTS { ?a <b:c> ?d } }", SAME);
    check("ASK { ?a unknown:name '\\u00e9\\n' }", SAME);
    check("", SAME);
    check_update("INSERT DATA { <a:b> <c:d> 1 } ; DELETE WHERE { ?a ?b ?c } ; CLEAR ALL", SAME);
    check_update("DELETE { ?a ?b ?c } INSERT { ?a ?b 1 } WHERE { ?a ?b ?c }", SAME);
}

static void
test_select(void)
{
    check("SELECT COUNT(?a) AS ?n { ?a ?b ?c }", "SELECT (COUNT(?a) AS ?n) { ?a ?b ?c }");
    check("SELECT ?a ?b + 1 AS ?c ?d WHERE { ?a ?b ?d }", "SELECT ?a (?b + 1 AS ?c) ?d WHERE { ?a ?b ?d }");
    check("SELECT ?a + ?b * -2 ?c { }", "SELECT (?a + ?b * -2 AS ?queryd_0) ?c { }");
    check("SELECT ?a -1 AS ?b { }", "SELECT (?a -1 AS ?b) { }");
    check("SELECT (?a + 1) * 2 AS ?b (1 AS ?c) { }", "SELECT ((?a + 1) * 2 AS ?b) (1 AS ?c) { }");
    check("SELECT ?a AS ?b { }", "SELECT (?a AS ?b) { }");
    check("SELECT 'x'@en AS ?b !BOUND(?a) ?a IN (1, 2) AS ?c { }",
          "SELECT ('x'@en AS ?b) (!BOUND(?a) AS ?queryd_0) (?a IN (1, 2) AS ?c) { }");
    check("SELECT EXISTS { ?a ?b ?c } AS ?d { }", "SELECT (EXISTS { ?a ?b ?c } AS ?d) { }");
}

static void
test_names(void)
{
    check("SELECT fn:lower-case(?a) { ?a nie:title ?b }",
          "SELECT (LCASE(?a) AS ?queryd_0) { ?a <http://tracker.api.gnome.org/ontology/v3/nie#title> ?b }");
    check("PREFIX f: <http://www.w3.org/2005/xpath-functions#> ASK { FILTER f:contains(?a, 'b') }",
          "PREFIX f: <http://www.w3.org/2005/xpath-functions#> ASK { FILTER CONTAINS(?a, 'b') }");
    check("SELECT ?a { ?a fts:match 'b' } ORDER BY fts:rank(?a)",
          "SELECT ?a { ?a <http://queryd.org/fts#match> 'b' } ORDER BY <http://queryd.org/fts#rank>(?a)");
    check("SELECT ?p ?n { ?n nrl:prefix ?p }", "SELECT ?p ?n { VALUES (?n ?p) { (\"urn:n#\" \"n\")}  }");
    check("ASK { ?a a rdfs:Resource ; ?b ?c }", "ASK { ?a    ?b ?c }");
    check("ASK { ?a a rdfs:Resource }", "ASK { {SELECT DISTINCT ?a {?a ?queryd_0 ?queryd_1}} }");
    check_fails("SELECT nie:title(?a) { }", QW_ERROR_UNSUPPORTED);
    check_fails("ASK { FILTER (unknown:f(1)) }", QW_ERROR_UNSUPPORTED);
    check_fails("ASK { FILTER (tracker:unaccent('a')) }", QW_ERROR_UNSUPPORTED);
}

static void
test_parameters(void)
{
    check("ASK { ?a ?b ~int . FILTER (?b = ~text && ~bool) } LIMIT ~int",
          "ASK { ?a ?b -7 . FILTER (?b = \"a \\\"b\\\\\\n\" && true) } LIMIT -7");
    check("ASK { ~iri ~iri ~text , ~tagged ; ~iri ~double }",
          "ASK { <urn:x> <urn:x> \"a \\\"b\\\\\\n\" , \"hi\"@en-GB ; <urn:x> \"0.1\"^^<http://www.w3.org/2001/XMLSchema#double> }");
    check("ASK { GRAPH ~iri { ?a ?b ~iri } }", "ASK { GRAPH <urn:x> { ?a ?b ?queryd_0  VALUES ?queryd_0 {\"urn:x\" <urn:x>} } }");
    check("ASK { FILTER (?a = ~iri) ~iri ?b ?c VALUES ?b { ~iri 1 } }",
          "ASK { FILTER (?a = \"urn:x\") <urn:x> ?b ?c VALUES ?b { \"urn:x\" 1 } }");
    check_update("INSERT DATA { ~iri ?b ~iri }", "INSERT DATA { <urn:x> ?b \"urn:x\" }");
    check_fails("ASK { ~text ?b ?c }", QW_ERROR_BAD_PARAMETER);
    check_fails("ASK { ?a ?b ~none }", QW_ERROR_BAD_PARAMETER);
    check_fails("ASK { ?a ?b ~bad_tag }", QW_ERROR_BAD_PARAMETER);
    check_fails("ASK { ?a ?b ~ }", QW_ERROR_SYNTAX);
}

static void
test_updates(void)
{
    check_update("INSERT { <a:b> <c:d> 1 }", "INSERT { <a:b> <c:d> 1 } WHERE {}");
    check_update("DELETE { <a:b> <c:d> 1 } INSERT { GRAPH <a:g> { <a:b> <c:d> 2 } }",
                 "DELETE { <a:b> <c:d> 1 } INSERT { GRAPH <a:g> { <a:b> <c:d> 2 } } WHERE {}");
    check_update("INSERT DATA { <a:b> <c:d> 1 } INSERT { <a:b> <c:d> 2 } DELETE WHERE { ?a ?b ?c } CLEAR ALL",
                 "INSERT DATA { <a:b> <c:d> 1 } ; INSERT { <a:b> <c:d> 2 } WHERE {} ; DELETE WHERE { ?a ?b ?c } ; CLEAR ALL");
    check_update("DELETE { <a:b> <c:d> 1 } INSERT DATA { <a:b> <c:d> 1 }",
                 "DELETE { <a:b> <c:d> 1 } WHERE {} ; INSERT DATA { <a:b> <c:d> 1 }");
}

static void
test_blank_nodes(void)
{
    g_auto(QdTrackerText) result = { 0 };
    g_autoptr(GError) error = NULL;
    g_autofree char *expected = NULL;

    g_assert_true(translate("INSERT { _:x <c:d> _:x } WHERE { _:y ?p ?o }", TRUE, &result, &error));
    g_assert_cmpuint(result.blank_nodes->len, ==, 2);
    g_assert_cmpstr(result.blank_nodes->pdata[0], ==, "x");
    expected = g_strdup_printf("INSERT { <%s> <c:d> <%s> } WHERE { _:y ?p ?o }", (char *) result.blank_nodes->pdata[1],
                               (char *) result.blank_nodes->pdata[1]);
    g_assert_cmpstr(result.text->str, ==, expected);
}

static void
test_graphs(void)
{
    check_dataset("ASK {}", FALSE, NULL);
    check_dataset("ASK {}", TRUE, "FROM ALL FROM NAMED ALL");
    check_dataset("ASK FROM <a:b> {}", TRUE, NULL);
    check_dataset("CONSTRAINT GRAPH ALL ASK {}", FALSE, NULL);
    check_dataset("CONSTRAINT SERVICE ASK {}", FALSE, NULL);
    check_dataset("CONSTRAINT GRAPH ASK {}", TRUE, "FROM NAMED <urn:queryd:no-graph>");
    check_dataset("CONSTRAINT GRAPH <a:b> ASK {}", FALSE, "FROM NAMED <a:b> ");
    check_dataset("CONSTRAINT GRAPH <a:b> ASK {}", TRUE, "FROM <a:b> FROM NAMED <a:b> ");
    check_dataset("CONSTRAINT GRAPH DEFAULT ASK {}", FALSE, "FROM DEFAULT ");
    check_dataset("PREFIX a: <a:> CONSTRAINT GRAPH a:b, a:c CONSTRAINT GRAPH a:c, a:d ASK {}", FALSE, "FROM NAMED <a:c> ");
    check_dataset("CONSTRAINT GRAPH <a:b> ASK FROM <a:c> FROM NAMED <a:b> {}", FALSE, "FROM NAMED <a:b> ");
    check_dataset("CONSTRAINT GRAPH <a:b> ASK FROM <a:c> {}", TRUE, "FROM NAMED <urn:queryd:no-graph>");
    check_fails("CONSTRAINT GRAPH unknown:x ASK {}", QW_ERROR_SYNTAX);
    check_fails("CONSTRAINT SERVICE <a:b> ASK { SERVICE <a:b> { ?s ?p ?o } }", QW_ERROR_UNSUPPORTED);
    check_fails("ASK { ?s ?p ?o FILTER EXISTS { service silent <a:b> { ?s ?p ?o } } }", QW_ERROR_UNSUPPORTED);
    check_fails("SELECT (EXISTS { SERVICE <a:b> { ?s ?p ?o } } AS ?x) {}", QW_ERROR_UNSUPPORTED);
    check_fails("CONSTRAINT ASK {}", QW_ERROR_SYNTAX);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tracker/tracker-text/same", test_same);
    g_test_add_func("/tracker/tracker-text/select", test_select);
    g_test_add_func("/tracker/tracker-text/names", test_names);
    g_test_add_func("/tracker/tracker-text/parameters", test_parameters);
    g_test_add_func("/tracker/tracker-text/updates", test_updates);
    g_test_add_func("/tracker/tracker-text/blank-nodes", test_blank_nodes);
    g_test_add_func("/tracker/tracker-text/graphs", test_graphs);
    return g_test_run();
}
