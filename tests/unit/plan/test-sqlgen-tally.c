/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups by counts of their pattern: which are, by which program, and that their rows are those of a join. Random patterns over a
 * store that changes are asked with it forced and forbidden.
 */
#include <string.h>

#include "tests/unit/sparql/sparql-fixture.h"

#define N_ROUNDS 60
#define N_PATTERNS 25 /* of a round */
#define FORBIDDEN 1000000000000

/* The program of @text; NULL: it has none. */
static void
check(const char *text, const char *program)
{
    g_autofree char *sql = sparql_get_sql(text);
    const char *found = strstr(sql, "queryd_tally('");
    const char *begin = found != NULL ? found + strlen("queryd_tally('") : NULL;
    g_autofree char *own = begin != NULL ? g_strndup(begin, strcspn(begin, "'")) : NULL;

    if (g_strcmp0(own, program) != 0)
        g_error("%s: %s instead of %s: %s", text, own, program, sql);
}

static void
test_programs(void)
{
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o }", "#s00");
    check("SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s :p ?o }", "$o00");
    check("SELECT ?o (COUNT(?s) AS ?n) { ?s :p ?o } GROUP BY ?o", "=o00");
    check("SELECT (SUM(?o) AS ?n) (AVG(?o) AS ?m) { ?s :p ?o }", "=o00");
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o . ?s :q ?x }", "#*s00s01");
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o . ?o :q ?x . ?x :r ?y }", "#S00S01s02");
    check("SELECT ?x (COUNT(*) AS ?n) { ?s :p ?o . ?o :q ?x . ?x :r ?y } GROUP BY ?x", "=*O00o01s02");
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o OPTIONAL { ?o :q ?x . ?x :r :a } }", "#S00?v00S01c0203");
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o MINUS { ?s :q ?x } FILTER EXISTS { ?o :r ?y } }", "#-S00&v00s01s02");
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o FILTER NOT EXISTS { ?s :q ?x } }", "#-s00s01");
    check("SELECT (COUNT(*) AS ?n) { { ?s :p ?o } UNION { ?s :q ?o } ?s :r ?x }", "#*+s00s01s02");
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?s }", "#e00");
    check("SELECT (COUNT(?o) AS ?n) { ?s :p ?o FILTER(?s != ?o) }", "#n00");
    check("SELECT (COUNT(*) AS ?n) { { ?s :p ?o } UNION { ?s :q ?o } FILTER(?o = ?s) }", "#+e00e01");
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o FILTER(?o > 5) }", "=o00");
    check("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "#p0");
    check("SELECT (COUNT(DISTINCT ?p) AS ?n) { ?s ?p ?o }", "$p0");
    check("SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p", "=p0");
    check("SELECT (COUNT(?o) AS ?n) { ?s ?p ?o FILTER(isLiteral(?o)) }", "#p1");
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o OPTIONAL { ?s :q ?x } FILTER(!BOUND(?x)) }", "#-s00s01");
    check("SELECT ?t (COUNT(*) AS ?n) { ?s :p ?o BIND(STR(?o) AS ?t) } GROUP BY ?t", "=o00");
}

static void
test_pairs(void)
{
    check("SELECT ?o (SUM(?x) AS ?n) { ?s :p ?o . ?s :q ?x } GROUP BY ?o", ":.o00.s01.");
    check("SELECT ?a ?b (COUNT(*) AS ?n) { ?s :p ?a ; :q ?b } GROUP BY ?a ?b", ":.o00.s01.");
    check("SELECT ?s ?a (COUNT(*) AS ?n) { ?s :p ?a ; :q ?b } GROUP BY ?s ?a", ":s00s01.");
    check("SELECT ?a ?b { ?s :p ?a ; :q ?b ; :r ?c } GROUP BY ?a ?b", ":.o00s01s02.");
    check("SELECT ?a ?b (COUNT(*) AS ?n) { ?s :p ?a ; :q ?x . ?x :r ?b MINUS { ?b :p ?y } } GROUP BY ?a ?b",
          ":.o00.s01.s02-v02s03");
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?a ; :q ?b FILTER(?a > 3 && ?b > 4) }", "=O00S01f02");
    check("SELECT ?a (COUNT(*) AS ?n) { ?s :p ?a ; :q ?b FILTER(STR(?a) < STR(?b)) } GROUP BY ?a", ":.o00.s01.");
    check("SELECT ?y (MAX(?a) AS ?n) { ?s :p ?a ; :q ?b BIND(YEAR(?b) AS ?y) } GROUP BY ?y", ":.o00.s01.");
    /* a way in a UNION, two that nothing leads between */
    check("SELECT ?a ?b (COUNT(*) AS ?n) { { ?s :p ?a ; :q ?b } UNION { ?s :r ?a ; :r ?b } } GROUP BY ?a ?b", NULL);
    check("SELECT ?a ?b (COUNT(*) AS ?n) { ?s :p ?a . ?x :q ?b } GROUP BY ?a ?b", NULL);
    check("SELECT ?a ?t (COUNT(*) AS ?n) { ?s :p ?a BIND(RAND() AS ?t) } GROUP BY ?a ?t", NULL);
}

/* A program that begins with the few values that a constant leaves, and keys that nothing binds. */
static void
test_few(void)
{
    check("SELECT ?a ?b (COUNT(*) AS ?n) { ?s :p ?a ; :q ?b . ?b :few :a } GROUP BY ?a ?b", ":c0001o02.s03.");
    check("SELECT ?a ?b (COUNT(*) AS ?n) { ?a :few :a . ?s :p ?a ; :q ?b } GROUP BY ?a ?b", ":c0001o02.s03.");
    check("SELECT ?a ?b (COUNT(*) AS ?n) { ?s :few :a ; :p ?a ; :q ?b } GROUP BY ?a ?b", "@c0001sA02.sA03.=BC");
    check("SELECT ?b (COUNT(*) AS ?n) { ?s :few :a ; :p ?a . ?a :q ?b } GROUP BY ?b", "@c0001sA02.sB03.=C");
    check("SELECT ?z ?o (COUNT(*) AS ?n) { ?s :p ?o } GROUP BY ?z ?o", "=o00");
    check("SELECT ?z ?a (COUNT(*) AS ?n) { ?s :p ?a ; :q ?b FILTER(STR(?a) < STR(?b)) } GROUP BY ?z ?a", ":.o00.s01.");
    check("SELECT ?z ?t (COUNT(*) AS ?n) { ?s :p ?o BIND(STR(?o) AS ?t) } GROUP BY ?z ?t", "=o00");
    check("SELECT ?z (COUNT(*) AS ?n) { ?s :p ?o } GROUP BY ?z", NULL);
}

/* What an EXISTS looks for is a set of the one variable that it shares. */
static void
test_exists(void)
{
    check("SELECT ?s { ?s :p ?o FILTER NOT EXISTS { ?s :q ?x . ?x :r ?y } }", "=S00s01");
    check("SELECT ?s { ?s :p ?o FILTER EXISTS { ?x :q ?o FILTER(?x != :a) } }", "=O00f01");
    check("SELECT ?s { ?s :p ?o FILTER(?o > 3) FILTER NOT EXISTS { ?s :q ?x } }", "=s00");
    /* few, two variables, one that may be unbound, a condition on another, another graph */
    check("SELECT ?s { ?s :few ?o FILTER NOT EXISTS { ?s :q ?x } }", NULL);
    check("SELECT ?s { ?s :p ?o FILTER NOT EXISTS { ?s :q ?o } }", NULL);
    check("SELECT ?s { ?s :p ?o OPTIONAL { ?s :r ?z } FILTER NOT EXISTS { ?z :q ?x } }", NULL);
    check("SELECT ?s { ?s :p ?o FILTER NOT EXISTS { ?s :q ?x FILTER(?x > ?o) } }", NULL);
    check("SELECT ?s { ?s :p ?o FILTER NOT EXISTS { GRAPH ?g { ?s :q ?x } } }", NULL);
    check("SELECT ?s { GRAPH :g { ?s :p ?o FILTER NOT EXISTS { ?s :q ?x } } }", NULL);
}

/* Conditions of variables that are not asked for. */
static void
test_sets(void)
{
    check("SELECT ?o (COUNT(*) AS ?n) { ?s :p ?o ; :q ?x FILTER(?x > 3) } GROUP BY ?o", "=O00S01f02");
    check("SELECT (SUM(?o) AS ?n) { ?s :p ?o ; :q ?x ; :r ?y FILTER(?x > 3) FILTER(?y < 9 && ?o > 2) }", "=O00*S01f02S03f04");
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o FILTER NOT EXISTS { ?s :q ?x FILTER(?x > 3) } }", "#-s00S01f02");
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o . ?o :q ?x MINUS { ?o :r ?y FILTER(STRLEN(?y) > 3 && ?y != 4) } }",
          "#S00-s01S02*f03f04");
    check("SELECT ?o (COUNT(*) AS ?n) { ?s :p ?o ; :q ?x FILTER(RAND() > 0.5 && ?x > 3) } GROUP BY ?o", NULL);
    check("SELECT ?o (COUNT(*) AS ?n) { ?s :p ?o OPTIONAL { ?s :q ?x } FILTER(?x > 3) } GROUP BY ?o", "@u00sA00.~sA01.=BC");
}

/* Three variables and more, circles, and what an OPTIONAL may leave unbound. */
static void
test_walks(void)
{
    check("SELECT ?a ?b (SUM(?c) AS ?n) { ?s :p ?a ; :q ?b ; :r ?c } GROUP BY ?a ?b", "@u00sA01.sA02.sA00.=BCD");
    check("SELECT ?a ?b (COUNT(*) AS ?n) { ?s :p ?a ; :q ?b . ?a :r ?b } GROUP BY ?a ?b", "@u00sA01.sA00sB02.=BC");
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o . ?o :q ?x . ?x :r ?s }", "%v00sA01.sB02oA00.=");
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o . ?s :q ?o }", "%u00sA01sA00.=");
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o . ?s :q ?o . ?o :r ?x MINUS { ?s :r ?y } }", "%-u00s01sA02sA00s03=");
    check("SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s :p ?o . ?s :q ?o }", "@v00oA01oA00.=B");
    check("SELECT ?x (COUNT(*) AS ?n) { ?s :p ?o OPTIONAL { ?o :q ?x } } GROUP BY ?x", "@o00~sA01.=B");
    check("SELECT ?o (SUM(?x) AS ?n) (COUNT(?x) AS ?m) { ?s :p ?o OPTIONAL { ?s :q ?x } } GROUP BY ?o", "@u00sA00.~sA01.=BC");
    check("SELECT DISTINCT ?a ?b ?s { ?s :p ?a ; :q ?b ; :r ?c }", "@s00sA01.sA02.=BC");
    /* a circle before the way from one to the other is no part of it */
    check("SELECT ?s ?x (COUNT(?o) AS ?n) { ?s :p ?o . ?o :q ?s . ?s :r ?x } GROUP BY ?s ?x", "@u00sA01oA02.sA00.=C");
    /* more than a triple in the OPTIONAL, what is joined to it, a product, and six others */
    check("SELECT ?x (COUNT(*) AS ?n) { ?s :p ?o OPTIONAL { ?o :q ?x . ?x :r ?y } } GROUP BY ?x", NULL);
    check("SELECT ?x (COUNT(*) AS ?n) { ?s :p ?o OPTIONAL { ?o :q ?x } ?y :r ?x } GROUP BY ?x", NULL);
    check("SELECT ?x ?y ?s { ?s :p ?o . ?x :q ?y } GROUP BY ?x ?y ?s", NULL);
    check("SELECT DISTINCT ?a ?b ?c ?d ?e ?f ?g { ?s :p ?a , ?b , ?c , ?d , ?e , ?f , ?g }", NULL);
}

static void
test_distinct(void)
{
    check("SELECT DISTINCT ?a ?b { ?s :p ?a ; :q ?b }", ":.o00.s01.");
    check("SELECT DISTINCT ?o { ?s :p ?o } ORDER BY ?o LIMIT 5", "=o00");
    check("SELECT (COUNT(*) AS ?n) { SELECT DISTINCT ?a ?b { ?s :p ?a ; :q ?b } }", ":.o00.s01.");
    check("SELECT DISTINCT ?o { ?s :p ?o } LIMIT 5", NULL);
    check("SELECT DISTINCT ?a { ?s :p ?o OPTIONAL { ?o :q ?a . ?a :r ?b } }", NULL);
}

/* Several COUNTs, and those of what may be unbound, have a program each. */
static void
test_numbers(void)
{
    g_autofree char *sql = sparql_get_sql(
        "SELECT (COUNT(*) AS ?n) (COUNT(?x) AS ?m) (COUNT(DISTINCT ?x) AS ?k) { ?s :p ?o OPTIONAL "
        "{ ?s :q ?x } }");

    g_assert_nonnull(strstr(sql, "queryd_tally('#?s00s01'"));
    g_assert_nonnull(strstr(sql, "queryd_tally('#*s00s01'"));
    g_assert_nonnull(strstr(sql, "queryd_tally('$O00s01'"));
    check("SELECT (COUNT(?x) AS ?n) { ?s :p ?o OPTIONAL { ?o :q ?x } }", "#S00s01");
    check("SELECT (COUNT(?y) AS ?n) { ?s :p ?o OPTIONAL { ?s :q ?x OPTIONAL { ?x :r ?y } } }", "#*s00S01s02");
    check("SELECT (COUNT(DISTINCT ?o) AS ?n) (COUNT(DISTINCT ?x) AS ?m) { ?s :p ?o ; :q ?x }", "$O00s01");
    check("SELECT (COUNT(?x) AS ?n) { ?s :p ?o OPTIONAL { ?o :q ?x FILTER(?x > 3) } }", NULL);
    check("SELECT (COUNT(?x) AS ?n) { { ?s :p ?x } UNION { ?s :p ?y } }", NULL);
}

/* The program of the pattern that is joined with a subselect, which may have one of its own. */
static void
check_beside(const char *text, const char *program)
{
    g_autofree char *sql = sparql_get_sql(text);
    g_autofree char *call = g_strdup_printf("queryd_tally('%s'", program);

    if (strstr(sql, call) == NULL)
        g_error("%s: no %s: %s", text, program, sql);
}

/* A UNION that binds what is asked for: a program for each arm. */
static void
test_arms(void)
{
    static const char query[] = "SELECT ?a (SUM(?x) AS ?n) { ?s :p ?a { ?s :q ?x } UNION { ?s :r ?x } } GROUP BY ?a";

    check_beside(query, ":.o00.s01.");
    check_beside(query, ":.o00.s02.");
    check_beside("SELECT (MAX(?x) AS ?n) { ?s :p ?a { ?s :q ?x } UNION { ?s :r ?x } FILTER(?x > 3) }", "=O02s01");
    /* an arm that does not bind it, one that is no tree */
    check("SELECT ?a (SUM(?x) AS ?n) { ?s :p ?a { ?s :q ?x } UNION { ?s :r ?y } } GROUP BY ?a", NULL);
    check("SELECT ?a (SUM(?x) AS ?n) { ?s :p ?a { ?s :q ?x } UNION { ?y :r ?x } } GROUP BY ?a", NULL);
}

static void
test_tables(void)
{
    check_beside("SELECT ?o (COUNT(*) AS ?n) { ?s :p ?o ; :q ?x { SELECT ?s (AVG(?y) AS ?m) { ?s :r ?y } GROUP BY ?s } "
                 "FILTER(?x < ?m) } GROUP BY ?o",
                 "@u00sA01.sA00.=CB");
    check_beside("SELECT ?o (COUNT(*) AS ?n) { ?s :p ?o ; :q ?x FILTER(?x > 3) "
                 "{ SELECT ?o (COUNT(*) AS ?m) { ?o :r ?y } GROUP BY ?o } } GROUP BY ?o ?m",
                 "=O00S01f02");
    check_beside("SELECT (COUNT(*) AS ?n) { ?s :p ?o { SELECT (MAX(?y) AS ?m) { ?s :r ?y } } FILTER(?o < ?m) }", "=o00");
    check_beside("SELECT ?m (COUNT(*) AS ?n) { ?s :p ?o . ?o :q ?s { SELECT DISTINCT ?m { ?x :r ?m } } } GROUP BY ?m",
                 "@u00oA01sA00.=B");
    check_beside("SELECT ?t (COUNT(*) AS ?n) { ?s :p ?o . ?o :q* ?t } GROUP BY ?t", "=o00");
    check_beside("SELECT ?t (SUM(?x) AS ?n) { ?s :p ?o ; :r ?x . ?o :q+ ?t FILTER(?x < ?t) } GROUP BY ?t", ":.o00.s01.");
    /* other rewrites know more of paths, one from a constant, one that nothing leads to */
    check("SELECT ?o (COUNT(*) AS ?n) { ?s :p ?o . ?o :q* ?t } GROUP BY ?o", NULL);
    check("SELECT DISTINCT ?t { ?s :p ?o . ?o :q* ?t }", NULL);
    check("SELECT ?o (COUNT(*) AS ?n) { ?s :p ?o . :a :q* ?o } GROUP BY ?o", NULL);
    check("SELECT ?t (COUNT(*) AS ?n) { ?s :p ?o . ?x :q* ?t } GROUP BY ?t", NULL);
    /* few rows to begin from, a condition with a pattern */
    check("SELECT ?o (COUNT(*) AS ?n) { ?s :p ?o VALUES ?s { :a :b } } GROUP BY ?o", NULL);
    check("SELECT ?o (COUNT(*) AS ?n) { ?s :p ?o { SELECT (MAX(?y) AS ?m) { ?s :few ?y } } FILTER NOT EXISTS { ?s :q ?m } } "
          "GROUP BY ?o",
          NULL);
}

static void
test_refused(void)
{
    /* few */
    check("SELECT (COUNT(*) AS ?n) { ?s :few ?o }", NULL);
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o . ?o :few ?x }", NULL);
    check("SELECT (COUNT(*) AS ?n) { :a :p ?o . ?o :q ?x }", NULL);
    /* a product, and what shares two variables */
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o . ?x :q ?y }", NULL);
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o OPTIONAL { ?s :q ?o } }", NULL);
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o MINUS { ?s :q ?x FILTER(?x > ?s) } }", NULL);
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o OPTIONAL { ?s :q ?x } OPTIONAL { ?x :r ?y } }", NULL);
    check("SELECT (COUNT(*) AS ?n) { ?s :p ?o OPTIONAL { ?o :q ?x FILTER(?s != ?x) } }", NULL);
    /* a group that needs other values */
    check("SELECT (SAMPLE(?o) AS ?n) { ?s :p ?o }", NULL);
    check("SELECT (SUM(RAND()) AS ?n) { ?s :p ?o }", NULL);
    /* other graphs */
    check("SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s :p ?o } }", NULL);
    check("SELECT (COUNT(*) AS ?n) FROM :g { ?s :p ?o }", NULL);
    check("SELECT (COUNT(*) AS ?n) { ?s :p+ ?o }", NULL);
}

/* --- random patterns ---------------------------------------------------------------------------------------------------- */

static const char *
pick(GRand *rand, const char *const *texts, guint n)
{
    return texts[g_rand_int_range(rand, 0, (gint) n)];
}

#define PICK(rand, ...) pick((rand), (const char *const[]){ __VA_ARGS__ }, G_N_ELEMENTS(((const char *const[]){ __VA_ARGS__ })))

static char *
make_triple(GRand *rand, const char *variable, guint *n_variables, char *ret_other)
{
    gboolean has_constant = g_rand_int_range(rand, 0, 8) == 0;
    gboolean is_subject = g_rand_boolean(rand);
    const char *predicate = PICK(rand, ":p", ":q", ":r");
    const char *constant = PICK(rand, ":n1", ":n2", ":n3");

    g_snprintf(ret_other, 8, "?v%u", (*n_variables)++);
    if (g_rand_int_range(rand, 0, 15) == 0)
        return g_strdup_printf("%s %s %s . ", variable, predicate, variable);
    if (has_constant)
        g_strlcpy(ret_other, variable, 8);
    if (is_subject)
        return g_strdup_printf("%s %s %s . ", variable, predicate, has_constant ? constant : ret_other);
    return g_strdup_printf("%s %s %s . ", has_constant ? constant : ret_other, predicate, variable);
}

/* A tree of a few parts at @variable. */
static void
add_group(GRand *rand, GString *out, const char *variable, guint *n_variables, guint depth)
{
    char other[8];
    guint n = (guint) g_rand_int_range(rand, 1, 4);
    const char *at = variable;
    g_autofree char *first = make_triple(rand, variable, n_variables, other);

    g_string_append(out, first);
    for (guint i = 1; i < n; i++) {
        g_autofree char *triple = NULL;

        if (g_rand_boolean(rand))
            at = variable;
        else
            at = other;
        switch (depth < 2 ? g_rand_int_range(rand, 0, 8) : 0) {
        case 0:
        case 1:
        case 2: {
            char next[8];

            triple = make_triple(rand, at, n_variables, next);
            g_string_append(out, triple);
            g_strlcpy(other, next, sizeof other);
            break;
        }
        case 3:
            g_string_append(out, "{ ");
            add_group(rand, out, at, n_variables, depth + 1);
            g_string_append(out, "} UNION { ");
            add_group(rand, out, at, n_variables, depth + 1);
            g_string_append(out, "} ");
            break;
        default:
            g_string_append(out, PICK(rand, "OPTIONAL { ", "MINUS { ", "FILTER EXISTS { ", "FILTER NOT EXISTS { "));
            add_group(rand, out, at, n_variables, depth + 1);
            g_string_append(out, "} ");
        }
    }
    if (g_rand_int_range(rand, 0, 5) == 0)
        g_string_append(out,
                        PICK(rand, "?v1 :q ?v0 . ", "?v2 :p ?v0 . ", "?v1 :p ?v2 . ", "?v3 :r ?v0 . ", "OPTIONAL { ?v0 :q ?v4 } "));
    if (g_rand_int_range(rand, 0, 8) == 0)
        g_string_append(out, PICK(rand, "{ ?v0 :q ?v1 } UNION { ?v0 :r ?v1 } ", "{ ?v0 :q ?v2 } UNION { ?x :r ?v2 . ?v0 :p ?x } ",
                                  "?v0 :p :n1 . ", "{ ?v1 :q ?v3 } UNION { ?v1 :r :n1 } "));
    if (g_rand_int_range(rand, 0, 6) == 0)
        g_string_append(out,
                        PICK(rand, "FILTER(?v0 != ?v1) ", "FILTER(?v0 = ?v1) ", "FILTER(isIRI(?v0)) ", "FILTER(?v1 > 3) ",
                             "FILTER(isLiteral(?v1)) ", "FILTER(?v2 > 2) ", "FILTER(?v2 > 2 && isIRI(?v3)) ",
                             "FILTER(STR(?v3) > \"a\") ", "FILTER(?v0 != :n2) ", "FILTER(?v1 != ?v2) ", "FILTER(!BOUND(?v2)) "));
}

/* What is joined with the rows of a tally. */
static void
add_table(GRand *rand, GString *out)
{
    g_string_append(out, PICK(rand, "{ SELECT ?v0 (MAX(?w1) AS ?w) { ?v0 :p ?w1 } GROUP BY ?v0 } ",
                              "{ SELECT ?v1 (COUNT(?w1) AS ?w) { ?w1 :q ?v1 } GROUP BY ?v1 } ",
                              "{ SELECT DISTINCT ?v2 ?v0 { ?v2 :r ?v0 } } ", "{ SELECT DISTINCT ?w { ?x :p ?w } } ",
                              "{ SELECT (SUM(?w1) AS ?w) { ?w2 :p ?w1 } } ",
                              "{ SELECT ?v3 (COUNT(?w1) AS ?w) { ?v3 :r ?w2 OPTIONAL { ?w2 :p ?w1 } } GROUP BY ?v3 } ",
                              "VALUES (?v0 ?w) { (:n1 1) (:n1 2) (UNDEF 3) (:n3 UNDEF) } ",
                              "{ SELECT ?v1 ?w { ?v1 :p ?w } ORDER BY ?w ?v1 LIMIT 5 } ", "?v1 :q* ?w ", "?w :p+ ?v0 ",
                              "?v2 (:p|:q)* ?v3 ", "?v0 :r? ?v1 ", "?v1 (:p|^:q) ?w ", "?v1 !:p ?w "));
    g_string_append(out, PICK(rand, "", "", "FILTER(?w > 1) ", "FILTER(?w != ?v1) ", "FILTER(?w <= ?v2 && ?v0 != :n2) ",
                              "FILTER NOT EXISTS { ?v0 :q ?w } ", "FILTER NOT EXISTS { ?v0 :q :n1 } ",
                              "FILTER EXISTS { ?v0 :p ?x FILTER(?x > 1) } ", "FILTER NOT EXISTS { ?w :q ?x . ?x :p ?y } "));
}

/* The order of rows is part of what is compared. */
static const char *
get_tail(const char *head)
{
    static const struct {
        const char *head, *tail;
    } tails[] = {
        { "SELECT ?v0 {", " ORDER BY ?v0" },
        { "SELECT ?v0 (COUNT", " GROUP BY ?v0 ORDER BY ?v0" },
        { "SELECT DISTINCT ?v0 ?v1 ?v2", " ORDER BY ?v2 ?v1 ?v0" },
        { "SELECT DISTINCT ?v0", " ORDER BY ?v0" },
        { "SELECT DISTINCT ?v1", " ORDER BY ?v1 ?v2" },
        { "SELECT ?v0 (SUM", " GROUP BY ?v0 ORDER BY ?v0" },
        { "SELECT ?v1 (", " GROUP BY ?v1 ORDER BY DESC(?n) ?v1" },
        { "SELECT ?v0 ?v1", " GROUP BY ?v0 ?v1 ORDER BY ?v0 ?v1" },
        { "SELECT ?v0 ?v2", " GROUP BY ?v0 ?v2 ORDER BY ?v0 ?v2" },
        { "SELECT ?v2 ?v1", " GROUP BY ?v2 ?v1 ORDER BY ?v2 ?v1" },
        { "SELECT ?v2 (", " GROUP BY ?v2 ORDER BY ?v2" },
        { "SELECT ?v3 ?v1 ?v0 (", " GROUP BY ?v3 ?v1 ?v0 ORDER BY ?v0 ?v1 ?v3" },
        { "SELECT ?v4 ?v1 (", " GROUP BY ?v4 ?v1 ORDER BY ?v1 ?v4" },
        { "SELECT ?w (", " GROUP BY ?w ORDER BY ?w" },
        { "SELECT ?z ?v1 (", " GROUP BY ?z ?v1 ORDER BY ?v1" },
        { "SELECT ?t (", " GROUP BY (STR(?v1) AS ?t) ORDER BY ?t" },
        { "SELECT ?t ?v0", " GROUP BY ?v0 (STR(?v1) AS ?t) ORDER BY ?t ?v0" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(tails); i++) {
        if (g_str_has_prefix(head, tails[i].head))
            return tails[i].tail;
    }
    return "";
}

static char *
make_query(GRand *rand)
{
    g_autoptr(GString) pattern = g_string_new(NULL);
    guint n_variables = 1;
    const char *head = PICK(
        rand, "SELECT ?v0 {", "SELECT (COUNT(*) AS ?n) {", "SELECT ?v0 (COUNT(*) AS ?n) {", "SELECT ?v1 (COUNT(?v0) AS ?n) {",
        "SELECT (COUNT(DISTINCT ?v0) AS ?n) {", "SELECT (SUM(?v1) AS ?n) (AVG(?v1) AS ?m) {",
        "SELECT (MIN(?v0) AS ?n) (COUNT(?v1) AS ?m) {", "SELECT (MAX(?v1) AS ?n) (COUNT(*) AS ?m) {",
        "SELECT (COUNT(?v1 + 1) AS ?n) (SUM(DISTINCT ?v1) AS ?m) {", "SELECT ?v0 ?v1 (COUNT(*) AS ?n) {",
        "SELECT ?v0 ?v2 (COUNT(?v1) AS ?n) {", "SELECT ?v2 ?v1 {", "SELECT DISTINCT ?v0 {", "SELECT DISTINCT ?v1 ?v2 {",
        "SELECT (COUNT(*) AS ?n) (COUNT(?v1) AS ?m) (COUNT(?v2) AS ?k) {",
        "SELECT (COUNT(DISTINCT ?v1) AS ?n) (COUNT(DISTINCT ?v3) AS ?m) {", "SELECT ?v0 (SUM(?v1) AS ?n) (COUNT(*) AS ?m) {",
        "SELECT ?v2 (MAX(?v1) AS ?n) (AVG(?v1) AS ?m) {", "SELECT (COUNT(DISTINCT ?v2) AS ?n) (SUM(?v1 * 2) AS ?m) {",
        "SELECT ?t (COUNT(*) AS ?n) {", "SELECT ?t ?v0 (COUNT(DISTINCT ?v2) AS ?n) {", "SELECT ?v3 ?v1 ?v0 (COUNT(*) AS ?n) {",
        "SELECT ?v4 ?v1 (COUNT(?v4) AS ?n) (COUNT(*) AS ?m) {", "SELECT DISTINCT ?v0 ?v1 ?v2 {",
        "SELECT (SUM(?v1) AS ?n) (COUNT(?v4) AS ?m) (MAX(?v2) AS ?k) {", "SELECT ?w (COUNT(?v1) AS ?n) {",
        "SELECT ?z ?v1 (COUNT(?v0) AS ?n) {", "SELECT ?v0 (SUM(?w) AS ?n) (COUNT(?w) AS ?m) {",
        "SELECT (COUNT(DISTINCT ?w) AS ?n) (AVG(?w) AS ?m) {");

    if (g_rand_int_range(rand, 0, 10) == 0)
        g_string_append(pattern, PICK(rand, "?v0 ?v1 ?v2 . ", "?v0 ?v1 ?v2 FILTER isLiteral(?v2) ",
                                      "?v0 ?v1 ?v2 FILTER isIRI(?v2) ", "?v0 ?v1 ?v2 FILTER isBlank(?v2) "));
    else
        add_group(rand, pattern, "?v0", &n_variables, 0);
    if (g_rand_int_range(rand, 0, 3) == 0)
        add_table(rand, pattern);
    return g_strdup_printf("%s %s}%s", head, pattern->str, get_tail(head));
}

static char *
ask(SparqlFixture *self, const char *query, guint64 n_rows)
{
    g_autoptr(GError) error = NULL;
    char *rows;

    g_assert_true(qd_limits_set(&self->store.limits, "tally_rows", n_rows, NULL));
    rows = sparql_try_query(self, query, &error);
    if (error != NULL)
        g_error("%s: %s", query, error->message);
    return rows;
}

static void
change(SparqlFixture *self, GRand *rand)
{
    for (guint i = 0; i < 8; i++) {
        g_autofree char *object = g_rand_boolean(rand) ? g_strdup_printf(":n%d", g_rand_int_range(rand, 0, 9))
                                                       : g_strdup(PICK(rand, "1", "2.5", "7", "\"a\"", "_:b", "5e0", "\"x\"@en"));
        g_autofree char *triple = g_strdup_printf(":n%d %s %s", g_rand_int_range(rand, 0, 9), PICK(rand, ":p", ":q", ":r"), object);
        gboolean is_named = g_rand_int_range(rand, 0, 12) == 0;
        gboolean is_deleted = strstr(triple, "_:") == NULL && g_rand_int_range(rand, 0, 3) == 0;
        g_autofree char *text = g_strdup_printf("%s DATA { %s%s%s }", is_deleted ? "DELETE" : "INSERT",
                                                is_named ? "GRAPH :g {" : "", triple, is_named ? "}" : "");

        (void) sparql_update(self, text);
    }
    if (g_rand_int_range(rand, 0, 10) == 0)
        (void) sparql_update(self, PICK(rand, "DELETE WHERE { ?s :p ?o }", "CLEAR DEFAULT", "CLEAR ALL", "DROP SILENT GRAPH :g"));
}

static void
test_random(SparqlFixture *self, gconstpointer data)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(14);
    guint n_tallied = 0;

    for (guint round = 0; round < N_ROUNDS; round++) {
        change(self, rand);
        for (guint i = 0; i < N_PATTERNS; i++) {
            g_autofree char *query = make_query(rand);
            g_autofree char *forced = ask(self, query, 0);
            g_autofree char *sql = sparql_get_sql_of(self, query);
            g_autofree char *forbidden = ask(self, query, FORBIDDEN);

            n_tallied += strstr(sql, "queryd_tally(") != NULL ? 1 : 0;
            if (strcmp(forced, forbidden) != 0)
                g_error("%s: %s instead of %s by %s", query, forced, forbidden, sql);
        }
    }
    g_test_message("%u of %u are tallied", n_tallied, N_ROUNDS * N_PATTERNS);
    g_assert_cmpuint(n_tallied, >, N_ROUNDS * N_PATTERNS / 4);
}

/* A change within a transaction that is undone leaves no column. */
static void
test_rollback(SparqlFixture *self, gconstpointer data)
{
    static const char query[] = "SELECT (COUNT(*) AS ?n) { ?s :p ?o . ?s :q ?x }";
    sqlite3 *db = qd_connection_get_db(self->store.writer);

    g_assert_true(qd_limits_set(&self->store.limits, "tally_rows", 0, NULL));
    (void) sparql_update(self, "INSERT DATA { :a :p 1, 2 ; :q 3 }");
    sparql_assert_rows(self, query, "2\n");
    g_assert_cmpint(sqlite3_exec(db, "SAVEPOINT s", NULL, NULL, NULL), ==, SQLITE_OK);
    (void) sparql_update(self, "INSERT DATA { :a :p 3 }");
    sparql_assert_rows(self, query, "3\n");
    g_assert_cmpint(sqlite3_exec(db, "ROLLBACK TO s; RELEASE s", NULL, NULL, NULL), ==, SQLITE_OK);
    sparql_assert_rows(self, query, "2\n");
}

/* 2^16 values at each of five links: 2^80 solutions are more than a number holds. */
static void
test_overflow(SparqlFixture *self, gconstpointer data)
{
    g_autoptr(GString) text = g_string_new("INSERT DATA { :a :p 0");
    g_autoptr(GError) error = NULL;
    g_autofree char *rows = NULL;

    for (guint i = 1; i < 256; i++)
        g_string_append_printf(text, ", %u", i);
    g_string_append(text, " }");
    (void) sparql_update(self, text->str);
    g_assert_true(qd_limits_set(&self->store.limits, "tally_rows", 0, NULL));
    rows = sparql_try_query(self,
                            "SELECT (COUNT(*) AS ?n) { ?s :p ?a . ?s :p ?b . ?s :p ?c . ?s :p ?d . ?s :p ?e . ?s :p ?f . ?s :p ?g ."
                            " ?s :p ?h . ?s :p ?i }",
                            &error);
    g_assert_null(rows);
    g_assert_nonnull(strstr(error->message, "9223372036854775807"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/plan/sqlgen-tally/programs", test_programs);
    g_test_add_func("/plan/sqlgen-tally/pairs", test_pairs);
    g_test_add_func("/plan/sqlgen-tally/few", test_few);
    g_test_add_func("/plan/sqlgen-tally/exists", test_exists);
    g_test_add_func("/plan/sqlgen-tally/arms", test_arms);
    g_test_add_func("/plan/sqlgen-tally/sets", test_sets);
    g_test_add_func("/plan/sqlgen-tally/walks", test_walks);
    g_test_add_func("/plan/sqlgen-tally/distinct", test_distinct);
    g_test_add_func("/plan/sqlgen-tally/numbers", test_numbers);
    g_test_add_func("/plan/sqlgen-tally/tables", test_tables);
    g_test_add_func("/plan/sqlgen-tally/refused", test_refused);
    g_test_add("/plan/sqlgen-tally/random", SparqlFixture, NULL, sparql_fixture_set_up, test_random, sparql_fixture_tear_down);
    g_test_add("/plan/sqlgen-tally/rollback", SparqlFixture, NULL, sparql_fixture_set_up, test_rollback, sparql_fixture_tear_down);
    g_test_add("/plan/sqlgen-tally/overflow", SparqlFixture, NULL, sparql_fixture_set_up, test_overflow, sparql_fixture_tear_down);
    return g_test_run();
}
