/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SELECTs in parts: joins, what is sealed and why, and how deep texts nest.
 */
#include <string.h>

#include "daemon/plan/sqlgen-private.h"
#include "daemon/sparql/parser.h"

typedef struct Fixture {
    QdAst *ast;
    QdLimits limits;
    QdGenerator *generator;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    static const QdDataset dataset = { 0 };

    const QdParseOptions options = { .limits = &self->limits };

    qd_limits_init(&self->limits);
    self->ast = qd_parser_parse("ASK {}", 6, FALSE, &options, NULL);
    g_assert_nonnull(self->ast);
    self->generator = qd_generator_new(self->ast, &dataset, NULL, &self->limits);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    (void) qd_generator_free(self->generator);
    (void) qd_ast_free(self->ast);
}

/* A table "tN" with a column for each of @variables; those below @n_certain are never NULL. */
static QdRelation *
new_table(Fixture *self, guint first, guint end, guint n_certain)
{
    QdRelation *relation = qd_relation_new(self->generator);
    const char *name = qd_arena_printf(self->ast->arena, "t%u", qd_generator_make_name(self->generator));
    const QdTable table = { .text = name, .name = name };

    qd_relation_add_table(self->generator, relation, &table);
    for (guint variable = first; variable < end; variable++) {
        QdColumn *column = qd_relation_add(self->generator, relation, variable,
                                           qd_arena_printf(self->ast->arena, "%s.v%u", name, variable));

        column->certain = variable < n_certain;
        column->interned = column->plain = TRUE;
    }
    return relation;
}

static void
check_text(Fixture *self, const QdRelation *relation, const char *expected)
{
    g_assert_cmpstr(qd_relation_write(self->generator, relation, "SELECT", NULL), ==, expected);
}

static void
test_join(Fixture *self, gconstpointer data)
{
    const QdRelation *left = new_table(self, 0, 2, 9);
    const QdRelation *right = new_table(self, 1, 3, 9);

    check_text(self, qd_relation_join(self->generator, left, right),
               "SELECT t0.v0,t0.v1,t1.v2 FROM t0 CROSS JOIN t1 WHERE t1.v1=+t0.v1");
}

static void
test_join_maybe_unbound(Fixture *self, gconstpointer data)
{
    QdRelation *joined = new_table(self, 0, 1, 0);

    for (guint i = 0; i < 2; i++)
        joined = qd_relation_merge(self->generator, joined, new_table(self, 0, 1, 0));
    check_text(self, joined,
               "SELECT coalesce(t0.v0,t1.v0,t2.v0) FROM t0 CROSS JOIN t1 CROSS JOIN t2 WHERE "
               "(t1.v0=+t0.v0 OR t0.v0 IS NULL OR t1.v0 IS NULL) AND "
               "(t2.v0=+coalesce(t0.v0,t1.v0) OR coalesce(t0.v0,t1.v0) IS NULL OR t2.v0 IS NULL)");
}

static void
test_join_is_split_by_what_is_bound(Fixture *self, gconstpointer data)
{
    const QdRelation *left = new_table(self, 0, 1, 0);
    const QdRelation *right = new_table(self, 0, 1, 9);

    check_text(self, qd_relation_join(self->generator, left, right), "SELECT c4.v0 FROM c4");
    g_assert_nonnull(strstr(self->generator->with->str,
                            "c4(v0) AS NOT MATERIALIZED (SELECT c2.v0 FROM c2 CROSS JOIN c3 WHERE c2.v0 IS NOT NULL AND "
                            "c3.v0=+c2.v0 UNION ALL SELECT c3.v0 FROM c2 CROSS JOIN c3 WHERE c2.v0 IS NULL)"));
}

static void
test_computed_column_is_interned(Fixture *self, gconstpointer data)
{
    QdRelation *left = new_table(self, 0, 1, 9);

    left->columns[0].interned = FALSE;
    check_text(self, qd_relation_join(self->generator, left, new_table(self, 0, 1, 9)),
               "SELECT t1.v0 FROM t0 CROSS JOIN t1 WHERE t1.v0=+queryd_to_term(t0.v0)");
}

static void
test_long_joins_are_cut(Fixture *self, gconstpointer data)
{
    QdRelation *joined = new_table(self, 0, 1, 999);

    for (guint i = 0; i < 200; i++) {
        joined = qd_relation_join(self->generator, joined, new_table(self, i, i + 2, 999));
        g_assert_cmpuint(joined->n_tables, <=, QD_TABLES_MAX);
    }
    g_assert_cmpuint(joined->n_columns, ==, 201);
    g_assert_nonnull(strstr(self->generator->with->str, " LIMIT -1)"));
}

static void
test_many_arms_are_cut(Fixture *self, gconstpointer data)
{
    QdRelation *joined = new_table(self, 0, 1, 9);

    for (guint i = 0; i < 10; i++) {
        QdRelation *next = new_table(self, 0, 1, 9);

        next->tables[0].n_arms = 3;
        joined = qd_relation_join(self->generator, joined, next);
        g_assert_cmpuint(qd_relation_get_n_arms(joined), <=, QD_MERGED_ARMS_MAX);
    }
}

static void
test_long_columns_are_cut(Fixture *self, gconstpointer data)
{
    QdRelation *joined = new_table(self, 0, 1, 0);

    for (guint i = 0; i < 300; i++) {
        joined = qd_relation_join(self->generator, joined, new_table(self, 0, 1, 0));
        g_assert_cmpuint(strlen(joined->columns[0].sql), <, 600);
    }
}

static void
test_depth(Fixture *self, gconstpointer data)
{
    guint flat = qd_sql_get_depth("a=b AND c=d");
    guint one = qd_sql_get_depth("EXISTS(SELECT 1 FROM a WHERE b=c)");
    g_autoptr(GString) deep = g_string_new(NULL);

    g_assert_cmpuint(flat, ==, 0);
    g_assert_cmpuint(one, >, 8);
    g_assert_cmpuint(qd_sql_get_depth("EXISTS(x) AND EXISTS(y) OR (z)"), ==, one);
    g_assert_cmpuint(qd_sql_get_depth("EXISTS(SELECT 1 WHERE EXISTS(x))"), ==, 2 * one);
    g_assert_cmpuint(qd_sql_get_depth("EXISTS(WITH RECURSIVE x)"), >, one);
    g_assert_cmpuint(qd_sql_get_depth("))((x))"), ==, 2 * qd_sql_get_depth("(x)"));
    for (guint i = 0; i < 1000; i++)
        g_string_append_c(deep, '(');
    g_assert_cmpuint(qd_sql_get_depth(deep->str), ==, G_MAXUINT);
}

static void
test_seal(Fixture *self, gconstpointer data)
{
    static const struct {
        QdSeal seal;
        const char *text;
    } cases[] = {
        { QD_SEAL_PLAIN, "c1(v0,v1) AS (SELECT t0.v0,t0.v1 FROM t0)" },
        { QD_SEAL_MATERIALIZED,
          "c3(v0,v1) AS MATERIALIZED (SELECT t2.v0,t2.v1 FROM t2 UNION ALL SELECT NULL,NULL FROM queryd_many WHERE 0)" },
        { QD_SEAL_VIEW, "c5(v0,v1) AS NOT MATERIALIZED (SELECT t4.v0,t4.v1 FROM t4)" },
        { QD_SEAL_STREAM,
          "c7(v0,v1) AS (SELECT t6.v0,t6.v1 FROM t6 UNION ALL SELECT NULL,NULL FROM queryd_many WHERE 0 LIMIT -1)" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        QdRelation *sealed = qd_relation_seal(self->generator, new_table(self, 0, 2, 1), cases[i].seal);

        g_assert_true(g_str_has_suffix(self->generator->with->str, cases[i].text));
        g_assert_cmpuint(sealed->n_tables, ==, 1);
        g_assert_true(sealed->columns[0].certain && !sealed->columns[1].certain);
    }
}

#define ADD(name, func) g_test_add("/plan/relation/" name, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("join", test_join);
    ADD("join-maybe-unbound", test_join_maybe_unbound);
    ADD("join-is-split-by-what-is-bound", test_join_is_split_by_what_is_bound);
    ADD("computed-column-is-interned", test_computed_column_is_interned);
    ADD("long-joins-are-cut", test_long_joins_are_cut);
    ADD("many-arms-are-cut", test_many_arms_are_cut);
    ADD("long-columns-are-cut", test_long_columns_are_cut);
    ADD("depth", test_depth);
    ADD("seal", test_seal);
    return g_test_run();
}
