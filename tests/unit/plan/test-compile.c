/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text to plan: SQL, constants, columns, parameters, templates.
 */
#include "daemon/plan/compile.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/sqlite/catalog.h"

static QdSparqlPlan *
compile(const char *text, gboolean is_update, const char *const *parameters, GError **error)
{
    QdLimits limits;
    const QdSparqlOptions options = { .base = "http://e/", .limits = &limits, .parameters = parameters };

    qd_limits_init(&limits);
    return qd_sparql_compile(text, strlen(text), is_update, &options, NULL, error);
}

static void
check_sql(const char *text, const char *expected)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdSparqlPlan) plan = compile(text, FALSE, NULL, &error);

    g_assert_no_error(error);
    g_assert_cmpstr(plan->query.sql, ==, expected);
}

static void
test_select(void)
{
    check_sql("SELECT ?o { <a> <p> ?o }", "SELECT q0.o AS v0 FROM queryd_quad AS q0 WHERE q0.s=?1 AND q0.p=?2 AND q0.g=0");
    check_sql("SELECT ?s { ?s <p> ?o OPTIONAL { ?s <q> ?x } }",
              "SELECT q0.s AS v0 FROM queryd_quad AS q0 LEFT JOIN queryd_quad AS q1 ON q1.p=?2 AND q1.g=0 AND q1.s=+q0.s "
              "WHERE likelihood(q0.p=?1,0.0625) AND q0.g=0");
    check_sql("SELECT ?s { ?s <p> ?o FILTER(?o = <x> && ?s != <y>) }",
              "SELECT q0.s AS v0 FROM queryd_quad AS q0 WHERE q0.p=?1 AND q0.g=0 AND (q0.o=?2) AND (q0.s<>?3)");
    check_sql("SELECT ?g { GRAPH ?g { ?s <p> <o> } }",
              "SELECT q0.g AS v0 FROM queryd_quad AS q0 WHERE q0.p=?1 AND q0.o=?2 AND +q0.g<>0");
}

#define FTS "<http://queryd.org/fts#match>"
#define INDEXED "(q.p IN (SELECT id FROM queryd_fulltext) OR EXISTS(SELECT 1 FROM queryd_fulltext WHERE id=0))"

static void
test_matches(void)
{
    check_sql("SELECT ?s { ?s " FTS " \"a\" }",
              "WITH RECURSIVE c0(v0) AS (SELECT m.s FROM (SELECT DISTINCT q.s AS s,q.g AS g FROM queryd_fts AS f CROSS JOIN "
              "queryd_quad AS q WHERE f.queryd_fts MATCH queryd_match_text(?1) AND q.o=f.rowid AND " INDEXED
              " AND q.g=0) AS m UNION ALL SELECT NULL FROM queryd_many WHERE 0 LIMIT -1)\nSELECT c0.v0 AS v0 FROM c0");
    check_sql(
        "SELECT ?l { (<s> ?r ?l) " FTS " (<p> \"a\" 3) }",
        "WITH RECURSIVE c0(v0,v3) AS (SELECT m.o,queryd_to_term(-m.r) FROM (SELECT * FROM (SELECT *,row_number() OVER "
        "(PARTITION BY g ORDER BY r) AS k FROM (SELECT q.s AS s,q.g AS g,q.p AS p,q.o AS o,f.rank AS r FROM queryd_quad AS q "
        "CROSS JOIN queryd_fts AS f WHERE q.s=?2 AND f.queryd_fts MATCH queryd_match_text(?1) AND q.o>0 AND f.rowid=q.o AND "
        "q.p IN (?3) AND " INDEXED
        " AND q.g=0)) WHERE k<=3) AS m UNION ALL SELECT NULL,NULL FROM queryd_many WHERE 0 LIMIT -1)\nSELECT c0.v0 AS v0 FROM c0");
}

static void
test_constants(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdSparqlPlan) plan = compile("SELECT ?X ?x { ?X <p> ?x . ?x <p> \"a\"@en }", FALSE, NULL, &error);

    g_assert_no_error(error);
    g_assert_cmpuint(plan->query.n_constants, ==, 2);
    g_assert_cmpstr(plan->query.constants[0].term->lexical, ==, "http://e/p");
    g_assert_cmpstr(plan->query.constants[1].term->qualifier, ==, "en");
    g_assert_cmpuint(plan->n_columns, ==, 2);
    g_assert_cmpstr(plan->columns[0], ==, "X");
    g_assert_cmpstr(plan->columns[1], ==, "x");
}

static void
test_parameters(void)
{
    static const char *const given[] = { "x", NULL };
    g_autoptr(GError) error = NULL;
    g_autoptr(QdSparqlPlan) plan = compile("SELECT * { ?s ?p $x }", FALSE, given, &error);

    g_assert_no_error(error);
    g_assert_cmpuint(plan->n_parameters, ==, 1);
    g_assert_cmpuint(plan->n_names, ==, 3);
    g_assert_cmpstr(plan->parameters[0], ==, "$x");
    g_assert_cmpstr(plan->query.constants[0].parameter, ==, "x");
    g_assert_cmpstr(plan->query.sql, ==, "SELECT q0.s AS v0,q0.p AS v1,?1 AS v2 FROM queryd_quad AS q0 WHERE q0.o=?1 AND q0.g=0");
}

static void
test_update(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdSparqlPlan)
        plan = compile("WITH <g> DELETE { ?s <p> ?o } INSERT { ?s <q> _:b } WHERE { ?s <p> ?o }", TRUE, NULL, &error);
    const QdSparqlOperation *operation;

    g_assert_no_error(error);
    g_assert_cmpuint(plan->n_operations, ==, 1);
    operation = &plan->operations[0];
    g_assert_cmpuint(operation->n_columns, ==, 2);
    g_assert_cmpuint(operation->n_blank_nodes, ==, 1);
    g_assert_cmpint(operation->deletes[0].g.kind, ==, QD_TEMPLATE_TERM);
    g_assert_cmpint(operation->inserts[0].o.kind, ==, QD_TEMPLATE_BLANK_NODE);
    g_assert_cmpstr(operation->where.sql, ==,
                    "SELECT q0.s AS v0,q0.o AS v1 FROM queryd_quad AS q0 WHERE likelihood(q0.p=?1,0.0625) AND q0.g=?2");
}

static void
test_errors(void)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(compile("SELECT * { SERVICE ?x { ?s ?p ?o } }", FALSE, NULL, &error));
    g_assert_error(error, QD_ERROR, QW_ERROR_UNSUPPORTED);
    g_assert_cmpstr(error->message, ==, "SERVICE ?x: nothing beside it in its group binds ?x to an endpoint");
}

/* Prefixes in pairs of name and namespace, NULL at the end. */
static gboolean
find_prefix(gpointer data, const char *prefix, GString *ret_iri)
{
    for (const char *const *pair = data; pair[0] != NULL; pair += 2) {
        if (g_str_equal(pair[0], prefix)) {
            g_string_append(ret_iri, pair[1]);
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean
get_predicate(gpointer data G_GNUC_UNUSED, const QdTerm *predicate G_GNUC_UNUSED, QdPredicateStatistics *ret G_GNUC_UNUSED)
{
    return FALSE;
}

static guint64
count_quads(gpointer data G_GNUC_UNUSED, const QdTerm *s G_GNUC_UNUSED, const QdTerm *p G_GNUC_UNUSED,
            const QdTerm *o G_GNUC_UNUSED, guint64 cap G_GNUC_UNUSED)
{
    return 0;
}

static void
test_stored_prefixes(void)
{
    static const char text[] = "PREFIX b: <http://text/> SELECT * { ?s a:x b:x }";
    const char *prefixes[] = { "a", "http://store/a#", "b", "http://store/b#", NULL };
    const QdCatalog catalog = { 0, 0, get_predicate, count_quads, find_prefix, prefixes };
    QdLimits limits;
    const QdSparqlOptions options = { .limits = &limits };
    g_autoptr(GError) error = NULL;
    g_autoptr(QdSparqlPlan) plan = NULL;
    g_autoptr(QdSparqlPlan) other = NULL;

    qd_limits_init(&limits);
    plan = qd_sparql_compile(text, strlen(text), FALSE, &options, &catalog, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(plan->query.constants[0].term->lexical, ==, "http://store/a#x");
    g_assert_cmpstr(plan->query.constants[1].term->lexical, ==, "http://text/x");
    g_assert_true(qd_sparql_plan_has_prefixes(plan, &catalog));
    prefixes[3] = "http://other/"; /* which the text declares itself */
    g_assert_true(qd_sparql_plan_has_prefixes(plan, &catalog));
    prefixes[1] = "http://other/";
    g_assert_false(qd_sparql_plan_has_prefixes(plan, &catalog));
    prefixes[0] = NULL;
    g_assert_false(qd_sparql_plan_has_prefixes(plan, &catalog));
    other = qd_sparql_compile(text, strlen(text), FALSE, &options, &catalog, &error);
    g_assert_null(other);
    g_assert_error(error, QD_ERROR, QW_ERROR_SYNTAX);
    g_assert_cmpstr(error->message, ==, "1:40: the prefix 'a:' is not declared");
}

static void
check_warning(const char *text, const char *expected)
{
    QdLimits limits;
    const QdSparqlOptions options = { .limits = &limits };
    g_autoptr(GError) error = NULL;
    g_autoptr(QdSparqlPlan) plan = NULL;
    g_autofree char *printed = NULL;

    qd_limits_init(&limits);
    plan = qd_sparql_compile(text, strlen(text), FALSE, &options, NULL, &error);
    g_assert_no_error(error);
    printed = qd_sparql_plan_print(plan);
    g_assert_true(g_str_has_prefix(printed, expected));
    g_assert_null(strstr(printed + 10, "warning"));
}

/* A function that is none of ours ends no query, and is reported. */
static void
test_unknown_function(void)
{
    check_warning("SELECT * {\n FILTER(<http://e/f>(1) || true) BIND(<http://www.w3.org/2001/XMLSchema#integer>('1') AS ?x) }",
                  "warning: 2:9: the function <http://e/f> is not known: each call of it is an error\n");
}

/* It may be stored as any other predicate. */
static void
test_unknown_match(void)
{
    check_warning("SELECT * {\n ?s <http://queryd.org/fts#mach> 'x' SERVICE <http://e/> { ?s <http://queryd.org/fts#mach> 'x' } }",
                  "warning: 2:2: the predicate <http://queryd.org/fts#mach> is not fts:match: it finds stored triples only\n");
}

static void
test_is_update(void)
{
    g_assert_true(qd_sparql_is_update("PREFIX a: <b> INSERT DATA {}", 28, FALSE));
    g_assert_false(qd_sparql_is_update("BASE <b> select * {}", 20, TRUE));
    g_assert_true(qd_sparql_is_update("# nothing", 9, TRUE));
    g_assert_false(qd_sparql_is_update("", 0, FALSE));
    g_assert_false(qd_sparql_is_update("SELEC * {}", 10, FALSE));
    g_assert_true(qd_sparql_is_update("SELEC * {}", 10, TRUE));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/plan/compile/select", test_select);
    g_test_add_func("/plan/compile/matches", test_matches);
    g_test_add_func("/plan/compile/constants", test_constants);
    g_test_add_func("/plan/compile/parameters", test_parameters);
    g_test_add_func("/plan/compile/update", test_update);
    g_test_add_func("/plan/compile/errors", test_errors);
    g_test_add_func("/plan/compile/stored-prefixes", test_stored_prefixes);
    g_test_add_func("/plan/compile/unknown-function", test_unknown_function);
    g_test_add_func("/plan/compile/unknown-match", test_unknown_match);
    g_test_add_func("/plan/compile/is-update", test_is_update);
    return g_test_run();
}
