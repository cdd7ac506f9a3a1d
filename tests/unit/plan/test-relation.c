/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SELECTs in parts: joins, what is sealed and why, and how deep texts nest.
 */
#include <string.h>

#include "daemon/plan/sqlgen-private.h"
#include "daemon/sparql/ast.h"
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
    QdTable table = qd_generator_make_table(self->generator, 't');

    table.is_sealed = TRUE;
    qd_relation_add_table(self->generator, relation, &table);
    for (guint variable = first; variable < end; variable++) {
        const char *name = qd_arena_printf(self->ast->arena, "v%u", variable);

        qd_relation_add_stored(self->generator, relation, variable,
                               qd_sql_column(self->ast->arena, &table.name, name, QD_SQL_COLUMN))
            ->certain = variable < n_certain;
    }
    return relation;
}

static void
check_text(Fixture *self, const QdRelation *relation, const char *expected)
{
    g_assert_cmpstr(qd_relation_write(self->generator, relation, "SELECT", QD_SQL_NONE).text, ==, expected);
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
    g_assert_nonnull(strstr(self->generator->with->text->str,
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
    g_assert_nonnull(strstr(self->generator->with->text->str, " LIMIT -1)"));
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
        g_assert_cmpuint(joined->columns[0].sql.n_bytes, <, 600);
    }
}

static void
test_depth(Fixture *self, gconstpointer data)
{
    QdRelation *relation = new_table(self, 0, 1, 9);
    QdSql call = qd_sql_make(self->ast->arena, "f(@)", relation->columns[0].sql);

    g_assert_cmpuint(qd_relation_get_depth(relation), ==, 0);
    qd_relation_add_where(self->generator, relation, call);
    qd_relation_add_pruning(self->generator, relation, qd_sql_make(self->ast->arena, "(@)", call));
    g_assert_cmpuint(qd_relation_get_depth(relation), ==, QD_DEPTH_CALL + QD_DEPTH_GROUP);
    relation->tables[0].on = qd_sql_exists(self->ast->arena, QD_SQL_NONE, call);
    g_assert_cmpuint(qd_relation_get_depth(relation), ==, QD_DEPTH_EXISTS + QD_DEPTH_CALL);
}

/* Where the conditions of an OPTIONAL go, and how the predicate of a join's first table is found. */
static void
test_tables(Fixture *self, gconstpointer data)
{
    QdRelation *left = new_table(self, 0, 1, 9);
    QdRelation *joined = qd_relation_join(self->generator, left, new_table(self, 0, 2, 9));
    QdSql both = qd_sql_make(self->ast->arena, "@<@", joined->columns[1].sql, joined->columns[0].sql);
    QdSql first = qd_sql_make(self->ast->arena, "f(@,'t1.v1')", joined->columns[0].sql);
    const QdSql none = qd_sql_text("?1");

    g_assert_cmpint(qd_relation_find_last_table(joined, &joined->conditions[0]), ==, 1);
    g_assert_cmpint(qd_relation_find_last_table(joined, &both), ==, 1);
    g_assert_cmpint(qd_relation_find_last_table(joined, &first), ==, 0);
    g_assert_cmpint(qd_relation_find_last_table(joined, &none), ==, -1);
    g_assert_cmpint(qd_relation_find_last_table(left, &both), ==, 0);
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

        g_assert_true(g_str_has_suffix(self->generator->with->text->str, cases[i].text));
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
    ADD("tables", test_tables);
    ADD("seal", test_seal);
    return g_test_run();
}
