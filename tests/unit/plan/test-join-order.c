/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of a join by statistics: the rarest first, what shares a variable next, nothing multiplied that need not be.
 */
#include <string.h>

#include "daemon/plan/compile.h"
#include "daemon/sqlite/catalog.h"

/* <e:rare> has 10 quads, <e:common> 100,000 of 1,000 subjects, <e:unique> 100,000 of as many; <e:no> none. */
static gboolean
get_predicate(gpointer data G_GNUC_UNUSED, const QdTerm *predicate, QdPredicateStatistics *ret)
{
    static const struct {
        const char *iri;
        QdPredicateStatistics statistics;
    } table[] = {
        { "e:rare", { 10, 10, 10, 0 } },
        { "e:common", { 100000, 1000, 50000, 0 } },
        { "e:unique", { 100000, 100000, 100000, 0 } },
    };

    for (guint i = 0; i < G_N_ELEMENTS(table); i++) {
        if (g_str_equal(table[i].iri, predicate->lexical)) {
            *ret = table[i].statistics;
            return TRUE;
        }
    }
    return FALSE;
}

/* "few" matches 2 as an object, anything else as many as the cap. */
static guint64
count_quads(gpointer data G_GNUC_UNUSED, const QdTerm *s G_GNUC_UNUSED, const QdTerm *p G_GNUC_UNUSED, const QdTerm *o, guint64 cap)
{
    return o != NULL && g_str_equal(o->lexical, "few") ? 2 : cap;
}

static gboolean
find_prefix(gpointer data G_GNUC_UNUSED, const char *prefix G_GNUC_UNUSED, GString *ret_iri G_GNUC_UNUSED)
{
    return FALSE;
}

/* @order: the predicates of the tables from left to right. */
static void
check(const char *pattern, const char *order)
{
    const QdCatalog catalog = { 200010, 3, get_predicate, count_quads, find_prefix, NULL };
    QdLimits limits;
    const QdSparqlOptions options = { .limits = &limits };
    g_autofree char *text = g_strdup_printf("SELECT * { %s }", pattern);
    g_autoptr(GError) error = NULL;
    g_autoptr(QdSparqlPlan) plan = NULL;
    g_autoptr(GString) found = g_string_new(NULL);

    qd_limits_init(&limits);
    plan = qd_sparql_compile(text, strlen(text), FALSE, &options, &catalog, &error);
    g_assert_no_error(error);
    for (const char *p = strstr(plan->query.sql, "queryd_quad AS q"); p != NULL; p = strstr(p + 1, "queryd_quad AS q")) {
        guint64 table = g_ascii_strtoull(p + strlen("queryd_quad AS q"), NULL, 10);
        g_autofree char *condition = g_strdup_printf("q%" G_GUINT64_FORMAT ".p=?", table);
        const char *number = strstr(plan->query.sql, condition);
        guint64 constant;

        g_assert_nonnull(number);
        constant = g_ascii_strtoull(number + strlen(condition), NULL, 10);
        g_string_append_printf(found, "%s%s", found->len > 0 ? " " : "", plan->query.constants[constant - 1].term->lexical + 2);
    }
    g_assert_cmpstr(found->str, ==, order);
}

static void
test_rarest_first(void)
{
    check("?s <e:unique> ?a . ?s <e:common> ?b . ?s <e:rare> ?c", "rare unique common");
    check("?s <e:common> ?b . ?s <e:no> ?c", "no common");
}

static void
test_constants_are_counted(void)
{
    check("?s <e:rare> ?c . ?s <e:common> \"few\"", "common rare");
    check("?s <e:rare> ?c . ?s <e:common> \"many\"", "rare common");
}

static void
test_shared_variables_first(void)
{
    check("?a <e:rare> ?b . ?c <e:rare> ?d . ?b <e:common> ?c", "rare common rare");
    check("?x <e:rare> ?y . ?p <e:unique> ?q . ?y <e:unique> ?p", "rare unique unique");
}

static void
test_values_seed(void)
{
    check("?s <e:common> ?b . VALUES ?s { <e:a> <e:b> } ?s <e:unique> ?c", "unique common");
}

static guint n_lists;

static gboolean
find_id(gpointer data G_GNUC_UNUSED, const QdTerm *term G_GNUC_UNUSED, gint64 *ret_id)
{
    *ret_id = 4;
    return TRUE;
}

/* Each node leads to as many others as are asked for. */
static guint
list_quads(gpointer data G_GNUC_UNUSED, const QdQuadIds *pattern, guint stride G_GNUC_UNUSED, guint n_max, QdQuadIds *ret_quads)
{
    for (guint i = 0; i < n_max; i++) {
        gint64 other = 4 * (gint64) (n_lists * n_max + i + 2);

        ret_quads[i] = (QdQuadIds){ pattern->s != 0 ? pattern->s : other, 4, pattern->o != 0 ? pattern->o : other };
    }
    n_lists++;
    return n_max;
}

/* However much there is to look at, a statement is compiled after so many looks. */
static void
test_samples_are_bounded(void)
{
    const QdCatalog catalog = {
        .n_quads = 200010,
        .n_predicates = 3,
        .get_predicate = get_predicate,
        .count_quads = count_quads,
        .find_prefix = find_prefix,
        .find_id = find_id,
        .list_quads = list_quads,
    };
    g_autoptr(GString)
        text = g_string_new("SELECT * { ?s <e:rare> ?o . ?o (((<e:rare>/<e:common>?)*/<e:unique>?)*/<e:rare>?)+ ?v . ");
    QdLimits limits;
    const QdSparqlOptions options = { .limits = &limits };
    g_autoptr(GError) error = NULL;
    g_autoptr(QdSparqlPlan) plan = NULL;

    for (guint i = 0; i < 300; i++)
        g_string_append_printf(text, "%s{ ?o <e:rare>+ ?a%u }", i > 0 ? " UNION " : "", i);
    g_string_append(text, " }");
    qd_limits_init(&limits);
    plan = qd_sparql_compile(text->str, text->len, FALSE, &options, &catalog, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(n_lists, >, 1000);
    g_assert_cmpuint(n_lists, <=, 50000);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/plan/join-order/rarest-first", test_rarest_first);
    g_test_add_func("/plan/join-order/constants-are-counted", test_constants_are_counted);
    g_test_add_func("/plan/join-order/shared-variables-first", test_shared_variables_first);
    g_test_add_func("/plan/join-order/values-seed", test_values_seed);
    g_test_add_func("/plan/join-order/samples-are-bounded", test_samples_are_bounded);
    return g_test_run();
}
