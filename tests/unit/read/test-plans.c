/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which texts share a plan, and when another one is made.
 */
#include "daemon/read/plans.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/notify/changes.h"
#include "daemon/plan/compile.h"
#include "daemon/read/evaluation.h"
#include "daemon/write/sparql-update.h"
#include "tests/unit/store/store-fixture.h"

typedef struct Fixture {
    StoreFixture store;
    QdPlanCounters counters;
} Fixture;

static const QdSparqlPlan *
get(Fixture *self, const char *text)
{
    const QdPlanText what = { text, strlen(text), "http://e/", NULL, g_str_has_prefix(text, "INSERT") };
    g_autoptr(GError) error = NULL;
    const QdSparqlPlan *plan = qd_plans_get(self->store.writer, &what, NULL, &self->store.limits, &error);

    g_assert_no_error(error);
    return plan;
}

/* <s0> … each have <few>, and all of @n have <many>. */
static void
fill(Fixture *self, guint n)
{
    g_autoptr(GString) text = g_string_new("INSERT DATA {");
    g_autoptr(QdChanges) changes = qd_changes_new();
    g_autoptr(GError) error = NULL;
    guint64 n_changes;

    for (guint i = 0; i < n; i++)
        g_string_append_printf(text, " <s%u> <p> <few%u> , <few%u> , <many> .", i, i, i + 1);
    g_string_append_c(text, '}');
    (void) qd_sparql_update_run(self->store.writer, get(self, text->str), &self->store.limits, NULL, changes, &n_changes, &error);
    g_assert_no_error(error);
}

static void
set_up(Fixture *self, gconstpointer data)
{
    store_fixture_set_up(&self->store, NULL);
    g_assert_true(qd_evaluation_register(self->store.writer, &self->store.limits, NULL));
    qd_plans_set_counters(self->store.writer, &self->counters);
    store_execute(self->store.writer, "BEGIN");
    fill(self, 400);
    self->counters = (QdPlanCounters){ 0 };
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    store_execute(self->store.writer, "COMMIT");
    store_fixture_tear_down(&self->store, NULL);
}

static void
check_counts(const Fixture *self, guint n_found, guint n_made)
{
    g_assert_cmpuint(self->counters.n_found, ==, n_found);
    g_assert_cmpuint(self->counters.n_made, ==, n_made);
}

static void
test_constants(Fixture *self, gconstpointer data)
{
    const QdSparqlPlan *plan = get(self, "SELECT ?s { ?s <p> <few1> FILTER(?s != 5) }");

    g_assert_true(get(self, "SELECT ?s { ?s <p> <few1> FILTER(?s != 5) }") == plan);
    g_assert_true(get(self, "SELECT ?s {\n?s <p> <few2>\nFILTER(?s != 6) } # another") == plan);
    g_assert_cmpmem(plan->query.constants[1].term->lexical, plan->query.constants[1].term->n_lexical, "http://e/few2", 13);
    check_counts(self, 2, 1);
    g_assert_true(get(self, "SELECT ?s { ?s <q> <few1> FILTER(?s != 5) }") != plan);
    g_assert_true(get(self, "SELECT ?t { ?t <p> <few1> FILTER(?t != 5) }") != plan);
    check_counts(self, 2, 3);
}

static void
test_limit(Fixture *self, gconstpointer data)
{
    const QdSparqlPlan *five = get(self, "SELECT ?s { ?s <p> <few1> } LIMIT 5");
    const QdSparqlPlan *six = get(self, "SELECT ?s { ?s <p> <few1> } LIMIT 6");

    g_assert_nonnull(strstr(five->query.sql, "LIMIT 5"));
    g_assert_nonnull(strstr(six->query.sql, "LIMIT 6"));
    g_assert_true(get(self, "SELECT ?s { ?s <p> <few2> } LIMIT 5") == five);
    g_assert_true(get(self, "SELECT ?s { ?s <p> <few2> } LIMIT 6") == six);
}

/* The join begins with what is rare: two plans, and each text finds its own. */
static void
test_selectivity(Fixture *self, gconstpointer data)
{
    const QdSparqlPlan *few = get(self, "SELECT ?s { ?s <p> <few1> . ?s <p> ?o . <s7> <p> ?o }");
    const QdSparqlPlan *many = get(self, "SELECT ?s { ?s <p> <many> . ?s <p> ?o . <s7> <p> ?o }");

    g_assert_true(few != many);
    g_assert_cmpstr(few->query.sql, !=, many->query.sql);
    check_counts(self, 0, 2);
    g_assert_true(get(self, "SELECT ?s { ?s <p> <few2> . ?s <p> ?o . <s8> <p> ?o }") == few);
    g_assert_true(get(self, "SELECT ?s { ?s <p> <many> . ?s <p> ?o . <s8> <p> ?o }") == many);
    check_counts(self, 2, 2);
}

/* A bad text says why, though another of its template had a plan. */
static void
test_bad_constant(Fixture *self, gconstpointer data)
{
    static const char good[] = "SELECT ?s { ?s <http://e/p> <http://e/few1> }";
    static const char bad[] = "SELECT ?s { ?s <http://e/p> <few1> }";
    const QdPlanText what_good = { good, strlen(good), NULL, NULL, FALSE };
    const QdPlanText what_bad = { bad, strlen(bad), NULL, NULL, FALSE };
    g_autoptr(GError) error = NULL;

    g_assert_nonnull(qd_plans_get(self->store.writer, &what_good, NULL, &self->store.limits, &error));
    g_assert_no_error(error);
    g_assert_null(qd_plans_get(self->store.writer, &what_bad, NULL, &self->store.limits, &error));
    store_assert_error(error, QW_ERROR_SYNTAX, "1:29: the relative IRI <few1> without a base");
    g_clear_error(&error);
    g_assert_nonnull(qd_plans_get(self->store.writer, &what_good, NULL, &self->store.limits, &error));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/read/plans/constants", Fixture, NULL, set_up, test_constants, tear_down);
    g_test_add("/read/plans/limit", Fixture, NULL, set_up, test_limit, tear_down);
    g_test_add("/read/plans/selectivity", Fixture, NULL, set_up, test_selectivity, tear_down);
    g_test_add("/read/plans/bad-constant", Fixture, NULL, set_up, test_bad_constant, tear_down);
    return g_test_run();
}
