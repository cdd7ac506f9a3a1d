/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names that are never NULL, of statements and plans; parameters in the order and number that clients see.
 */
#include "daemon/read/shape.h"

#include <string.h>

#include "daemon/plan/compile.h"
#include "tests/unit/store/store-fixture.h"

static void
test_language(void)
{
    static const char *const bad[] = { "", "SQL", "sql ", "sparql1.1" };
    QdLanguage language = (QdLanguage) 77;
    g_autoptr(GError) error = NULL;
    g_autofree char *huge = g_strnfill(100000, 'x');

    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_assert_false(qd_language_from_name(bad[i], &language, NULL));
        g_assert_cmpint(language, ==, 77);
    }
    g_assert_false(qd_language_from_name(huge, &language, &error));
    store_assert_error(error, QW_ERROR_BAD_PARAMETER, "'sql' and 'sparql' are known");
    g_assert_cmpuint(strlen(error->message), <, 200);
    g_assert_true(qd_language_from_name("sparql", &language, NULL));
    g_assert_cmpstr(qd_language_get_name(language), ==, "sparql");
    g_assert_true(qd_language_from_name("sql", &language, NULL));
    g_assert_cmpstr(qd_language_get_name(language), ==, "sql");
}

static void
assert_parameters(const QdShape *shape, guint n, const char *const *names)
{
    for (guint i = 0; i < n; i++)
        g_assert_cmpstr(qd_shape_get_parameter_name(shape, i), ==, names[i]);
}

/* Numbers that are left out are parameters without a name. */
static void
test_sql(void)
{
    static const char *const names[] = { "", "", "?3", ":a", "@b", "$c" };
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    QdShape shape;

    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, "CREATE TABLE t(a VARCHAR(7), \"\" INT, c)", NULL, NULL, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_prepare_v2(db, "SELECT *, a||c, a AS \"\" FROM t WHERE c IN (?, ?3, :a, @b, $c, :a)", -1, &stmt, NULL),
                    ==, SQLITE_OK);
    shape = qd_shape_from_stmt(stmt);
    g_assert_cmpuint(shape.n_columns, ==, 5);
    g_assert_cmpstr(qd_shape_get_column_name(&shape, 0), ==, "a");
    g_assert_cmpstr(qd_shape_get_column_type(&shape, 0), ==, "VARCHAR(7)");
    g_assert_cmpstr(qd_shape_get_column_name(&shape, 1), ==, "");
    g_assert_cmpstr(qd_shape_get_column_type(&shape, 2), ==, "");
    g_assert_cmpstr(qd_shape_get_column_name(&shape, 3), ==, "a||c");
    g_assert_cmpstr(qd_shape_get_column_type(&shape, 3), ==, "");
    g_assert_cmpuint(shape.n_parameters, ==, G_N_ELEMENTS(names));
    g_assert_cmpuint(qd_shape_get_n_names(&shape), ==, G_N_ELEMENTS(names));
    assert_parameters(&shape, G_N_ELEMENTS(names), names);
    (void) sqlite3_finalize(stmt);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

/* What the query gives, by its form. */
static const char *
get_type(const QdSparqlPlan *plan, guint i)
{
    static const char *const triple[] = { "rdf:subject", "rdf:predicate", "rdf:object" };

    if (plan->form == QD_FORM_SELECT)
        return "";
    return plan->form == QD_FORM_ASK ? "xsd:boolean" : triple[i];
}

static void
check_plan(const char *text, guint n_parameters, guint n_names, const char *const *names, const char *columns)
{
    QdLimits limits;
    const QdSparqlOptions options = { .base = "http://e/", .limits = &limits };
    g_autoptr(GString) found = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(QdSparqlPlan) plan = NULL;
    QdShape shape;

    qd_limits_init(&limits);
    plan = qd_sparql_compile(text, strlen(text), qd_sparql_is_update(text, strlen(text), FALSE), &options, NULL, &error);
    g_assert_no_error(error);
    shape = qd_shape_from_plan(plan);
    g_assert_cmpuint(shape.n_parameters, ==, n_parameters);
    g_assert_cmpuint(qd_shape_get_n_names(&shape), ==, n_names);
    assert_parameters(&shape, n_names, names);
    for (guint i = 0; i < shape.n_columns; i++) {
        g_string_append_printf(found, "%s%s", i > 0 ? " " : "", qd_shape_get_column_name(&shape, i));
        g_assert_cmpstr(qd_shape_get_column_type(&shape, i), ==, get_type(plan, i));
    }
    g_assert_cmpstr(found->str, ==, columns);
    g_assert_cmpint(shape.writes, ==, plan->is_update);
}

/* First those with '$', each once; then all other variables, which can be given, too. */
static void
test_sparql(void)
{
    check_plan("SELECT ?a { ?a <p> $b , $c , ?d , $b }", 2, 4, (const char *const[]){ "$b", "$c", "$a", "$d" }, "a");
    check_plan("SELECT * { ?s ?p ?o }", 0, 3, (const char *const[]){ "$s", "$p", "$o" }, "s p o");
    check_plan("ASK { <a> <p> [] , _:x }", 0, 0, NULL, "result");
    check_plan("CONSTRUCT WHERE { $s <p> ?o }", 1, 2, (const char *const[]){ "$s", "$o" }, "subject predicate object");
    check_plan("INSERT { <a> <p> $x } WHERE { <a> <q> ?y }", 1, 2, (const char *const[]){ "$x", "$y" }, "");
    check_plan("INSERT DATA { <a> <p> 1 }", 0, 0, NULL, "");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/read/shape/language", test_language);
    g_test_add_func("/read/shape/sql", test_sql);
    g_test_add_func("/read/shape/sparql", test_sparql);
    return g_test_run();
}
