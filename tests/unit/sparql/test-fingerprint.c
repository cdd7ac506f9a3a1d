/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Skeletons, values, and which constants a plan takes.
 */
#include "daemon/sparql/fingerprint.h"

#include <string.h>

#include "daemon/plan/compile.h"

static gboolean
same_skeleton(const char *a, const char *b)
{
    g_autoptr(QdFingerprint) one = qd_fingerprint_new(a, strlen(a));
    g_autoptr(QdFingerprint) two = qd_fingerprint_new(b, strlen(b));
    gsize n_one, n_two;
    const guint8 *skeleton_one = qd_fingerprint_get_skeleton(one, &n_one);
    const guint8 *skeleton_two = qd_fingerprint_get_skeleton(two, &n_two);

    return n_one == n_two && memcmp(skeleton_one, skeleton_two, n_one) == 0;
}

static void
test_skeleton(void)
{
    g_assert_true(same_skeleton("ASK{<a> <p> 1}", "ASK { <b>\t<p> 22 } # other space"));
    g_assert_true(same_skeleton("ASK{?s <p> \"a\"@en}", "ASK{?s <p> 'b\\n'@en}"));
    g_assert_true(same_skeleton("ASK{e:a e:p e:b}", "ASK{e:x e:p e:y}"));
    g_assert_false(same_skeleton("ASK{<a> <p> <a>}", "ASK{<a> <p> <b>}")); /* equal values stay equal */
    g_assert_false(same_skeleton("ASK{?s <p> \"a\"@en}", "ASK{?s <p> \"a\"@de}"));
    g_assert_false(same_skeleton("ASK{?s <p> 1}", "ASK{?s <p> 1.0}"));
    g_assert_false(same_skeleton("ASK{FILTER(?s +1)}", "ASK{FILTER(?s 1)}"));
    g_assert_false(same_skeleton("ASK{$s <p> 1}", "ASK{?s <p> 1}"));
    g_assert_false(same_skeleton("ASK{e:a e:p 1}", "ASK{f:a e:p 1}"));
    g_assert_null(qd_fingerprint_new("ASK{ \"", 6));
}

static QdSparqlPlan *
compile(const char *text, QdFingerprint **ret_template)
{
    QdLimits limits;
    QdSparqlOptions options = { .base = "http://e/", .limits = &limits };
    g_autoptr(GError) error = NULL;
    QdSparqlPlan *plan;

    qd_limits_init(&limits);
    options.fingerprint = *ret_template = qd_fingerprint_new(text, strlen(text));
    plan = qd_sparql_compile(text, strlen(text), FALSE, &options, NULL, &error);
    g_assert_no_error(error);
    return plan;
}

/* How many of the values of @text its plan takes others for. */
static void
check_n_taken(const char *text, guint n_expected)
{
    g_autoptr(QdFingerprint) fingerprint = NULL;
    g_autoptr(QdSparqlPlan) plan = compile(text, &fingerprint);
    guint n = 0;

    for (guint i = 0; i < qd_fingerprint_get_n_values(fingerprint); i++)
        n += qd_sparql_plan_takes_value(plan, fingerprint, i) ? 1 : 0;
    g_assert_cmpuint(n, ==, n_expected);
}

static void
test_taken(void)
{
    check_n_taken("SELECT * { <s> <p> <o> }", 2);                                           /* not the predicate */
    check_n_taken("SELECT * { <s> <p> <p> }", 1);                                           /* nor what is one elsewhere */
    check_n_taken("SELECT * { ?s <p> \"a\"^^<t> FILTER(?s != 5 && regex(?s, \"x\")) }", 3); /* not the datatype */
    check_n_taken("SELECT * { ?s <p> ?o } LIMIT 5", 0);
    check_n_taken("SELECT * FROM <g> { GRAPH <h> { ?s <p> ?o } VALUES ?s { <a> <b> } }", 2);
    check_n_taken("PREFIX e: <http://x/> SELECT (<http://www.w3.org/2001/XMLSchema#double>(\"1\") AS ?v) { e:a e:p+ ?o }", 2);
}

static void
test_fill(void)
{
    static const char other[] = "PREFIX e: <http://x/>\nSELECT * { <c> <p> e:d , 'y'^^<t> FILTER(?q + 7 > 8) }";
    g_autoptr(QdFingerprint) fingerprint = NULL;
    g_autoptr(QdFingerprint) filled = qd_fingerprint_new(other, strlen(other));
    g_autoptr(QdSparqlPlan)
        plan = compile("PREFIX e: <http://x/> SELECT * { <a> <p> e:b , 'x'^^<t> FILTER(?q + 1 > 2) }", &fingerprint);
    const QdSqlConstant *constants = plan->query.constants;
    guint n_holes = 0;

    g_assert_true(qd_sparql_plan_fill(plan, filled));
    g_assert_cmpmem(constants[0].term->lexical, constants[0].term->n_lexical, "http://e/c", 10);
    g_assert_cmpmem(constants[2].term->lexical, constants[2].term->n_lexical, "http://x/d", 10);
    g_assert_cmpmem(constants[3].term->lexical, constants[3].term->n_lexical, "y", 1);
    g_assert_cmpstr(constants[3].term->qualifier, ==, "http://e/t");
    for (guint i = 0; i < plan->query.n_constants; i++)
        n_holes += constants[i].n_holes;
    g_assert_cmpuint(n_holes, ==, 2); /* the 7 and the 8 of one program */
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sparql/fingerprint/skeleton", test_skeleton);
    g_test_add_func("/sparql/fingerprint/taken", test_taken);
    g_test_add_func("/sparql/fingerprint/fill", test_fill);
    return g_test_run();
}
