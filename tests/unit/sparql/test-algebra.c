/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patterns to algebra: what §18.2.2 says of groups, filters, OPTIONAL, MINUS, BIND, paths, and §18.2.4 of aggregates.
 */
#include "daemon/sparql/algebra.h"

#include <string.h>

#include "daemon/sparql/ast.h"
#include "daemon/sparql/parser.h"

static void
check(const char *text, const char *expected)
{
    QdLimits limits;
    const QdParseOptions options = { .base = "e:", .limits = &limits };
    g_autoptr(GError) error = NULL;
    g_autoptr(QdAst) ast = NULL;
    g_autofree char *printed = NULL;

    qd_limits_init(&limits);
    ast = qd_parser_parse(text, strlen(text), FALSE, &options, &error);
    g_assert_no_error(error);
    printed = qd_algebra_print(ast, qd_algebra_from_select(ast, ast->select));
    g_assert_cmpstr(printed, ==, expected);
}

static void
test_joins_are_flat(void)
{
    check("SELECT ?x { ?x <e:p> 1 { ?x <e:q> ?y { ?y <e:r> ?z } } }", "project ?x\n"
                                                                      "  join\n"
                                                                      "    triple ?x <e:p> \"1\"^^<http://www.w3.org/2001/"
                                                                      "XMLSchema#integer>\n"
                                                                      "    triple ?x <e:q> ?y\n"
                                                                      "    triple ?y <e:r> ?z\n");
    check("SELECT ?x {}", "project ?x\n  unit\n");
}

static void
test_filters_hold_for_the_group(void)
{
    check("SELECT ?x { FILTER(?y > ?x) ?x <e:p> ?y }", "project ?x\n"
                                                       "  filter (> ?y ?x)\n"
                                                       "    triple ?x <e:p> ?y\n");
    check("SELECT ?x { ?x <e:p> ?y { FILTER(?x = ?y) } }", "project ?x\n"
                                                           "  join\n"
                                                           "    triple ?x <e:p> ?y\n"
                                                           "    filter (= ?x ?y)\n"
                                                           "      unit\n");
}

static void
test_optional_takes_its_filter(void)
{
    check("SELECT ?x { ?x <e:p> ?y OPTIONAL { ?y <e:q> ?z FILTER(?z = ?x) } ?x <e:r> ?w }", "project ?x\n"
                                                                                            "  join\n"
                                                                                            "    left-join (= ?z ?x)\n"
                                                                                            "      triple ?x <e:p> ?y\n"
                                                                                            "      triple ?y <e:q> ?z\n"
                                                                                            "    triple ?x <e:r> ?w\n");
}

static void
test_bindings_run_together(void)
{
    check("SELECT ?x { ?x <e:p> ?y BIND(?y AS ?a) BIND(?a AS ?b) MINUS { ?x <e:q> ?b } }", "project ?x\n"
                                                                                           "  minus\n"
                                                                                           "    extend (?a ?y) (?b ?a)\n"
                                                                                           "      triple ?x <e:p> ?y\n"
                                                                                           "    triple ?x <e:q> ?b\n");
}

static void
test_paths(void)
{
    check("SELECT ?x { ?x <e:p>/^<e:q> ?y }", "project ?x\n"
                                              "  join\n"
                                              "    triple ?x <e:p> ?2\n"
                                              "    triple ?y <e:q> ?2\n");
    check("SELECT ?x { ?x <e:p>|<e:q> ?y }", "project ?x\n  path ?x (alternative <e:p> <e:q>) ?y\n");
    check("SELECT ?x { ?x <e:p>|(<e:q>/<e:r>)* ?y }", "project ?x\n"
                                                      "  union\n"
                                                      "    triple ?x <e:p> ?y\n"
                                                      "    path ?x (zero-or-more (sequence <e:q> <e:r>)) ?y\n");
}

static void
test_aggregates_become_variables(void)
{
    check("SELECT ?g (SUM(?v) + 1 AS ?s) { ?x <e:g> ?g ; <e:v> ?v } GROUP BY ?g HAVING(COUNT(*) > 2) ORDER BY MAX(?v) LIMIT 3",
          "slice limit 3\n"
          "  project ?g ?s\n"
          "    order ?6\n"
          "      extend (?s (+ ?5 \"1\"^^<http://www.w3.org/2001/XMLSchema#integer>))\n"
          "        filter (> ?4 \"2\"^^<http://www.w3.org/2001/XMLSchema#integer>)\n"
          "          group ?g (?4 (count)) (?5 (sum ?v)) (?6 (max ?v))\n"
          "            join\n"
          "              triple ?x <e:g> ?g\n"
          "              triple ?x <e:v> ?v\n");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sparql/algebra/joins-are-flat", test_joins_are_flat);
    g_test_add_func("/sparql/algebra/filters-hold-for-the-group", test_filters_hold_for_the_group);
    g_test_add_func("/sparql/algebra/optional-takes-its-filter", test_optional_takes_its_filter);
    g_test_add_func("/sparql/algebra/bindings-run-together", test_bindings_run_together);
    g_test_add_func("/sparql/algebra/paths", test_paths);
    g_test_add_func("/sparql/algebra/aggregates-become-variables", test_aggregates_become_variables);
    return g_test_run();
}
