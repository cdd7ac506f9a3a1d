/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * EXISTS by a tally: the values of the one variable that it shares with the solutions around it are counted at once, as a set. Each
 * solution is looked for in it. So nothing is searched for each solution.
 */
#include "daemon/plan/tally/sqlgen-tally.h"

#define SET_MAX 1000000 /* values, of 8 bytes each */

/* The variable that both have; G_MAXUINT: none or several, or it may be unbound in one of them. */
static guint
find_shared(const QdAlgebra *left, const QdAlgebra *inner)
{
    guint shared = G_MAXUINT;

    QD_VARIABLE_SET_FOREACH(&left->possible, variable)
    {
        if (!qd_variable_set_has(&inner->possible, variable))
            continue;
        if (shared != G_MAXUINT)
            return G_MAXUINT;
        shared = variable;
    }
    return shared != G_MAXUINT && qd_algebra_binds(left, shared) && qd_algebra_binds(inner, shared) ? shared : G_MAXUINT;
}

/* How many values the triple of @inner that has @shared has there. @ret_n_quads: of its predicate */
static double
count_values(QdGenerator *self, const QdAlgebra *inner, guint shared, double *ret_n_quads)
{
    const QdTriple *triple = qd_tally_find_triple(inner, shared);
    QdPredicateStatistics statistics = { 0 };

    if (triple != NULL)
        (void) self->catalog->get_predicate(self->catalog->data, triple->p.term, &statistics);
    *ret_n_quads = (double) statistics.n_quads;
    return triple != NULL && qd_node_is_variable(&triple->s, shared) ? (double) statistics.n_subjects
                                                                     : (double) statistics.n_objects;
}

/* How many quads are looked at where @inner is searched for each solution of @left: of one triple the first that is found is
 * enough. */
static double
estimate_effort(QdGenerator *self, const QdAlgebra *left, const QdAlgebra *inner, double n_quads, double n_values)
{
    const guint n_triples = qd_tally_count_triples(self, inner);

    return qd_estimate_rows(self, left) * n_triples * (n_triples > 1 ? MAX(n_quads / MAX(n_values, 1), 1) : 1);
}

static QdSql
write_membership(const QdTallyDraft *self, const QdColumn *column, gboolean negated)
{
    QdGenerator *generator = self->generator;
    QdTable table = qd_generator_make_table(generator, 't');
    const char *program = qd_arena_printf(generator->arena, "'=%s'", self->program->str);
    QdSql set = qd_sql_make(generator->arena, "(SELECT queryd_tally_set(@) FROM queryd_tally(@,@) AS @)",
                            qd_sql_column(generator->arena, &table.name, "value", QD_SQL_COLUMN), qd_sql_text(program),
                            qd_tally_write_ids(self), table.from);

    return qd_sql_make(generator->arena, negated ? "(NOT queryd_tally_has(@,@))" : "queryd_tally_has(@,@)", set,
                       qd_column_intern(generator, column));
}

/* The condition @expression of the solutions of @left, which are @relation, by a set. None: it is no EXISTS for a tally. */
static QdSql
write_condition(QdGenerator *self, const QdAlgebra *left, const QdRelation *relation, QdExpression *expression)
{
    g_autoptr(GString) program = g_string_new(NULL);
    QdTallyDraft tally = { .generator = self, .program = program };
    const QdColumn *column;
    QdAlgebra *inner;
    guint shared;
    double effort, n_quads, n_values;

    if (!qd_tally_is_possible(self) || expression->kind != QD_EXPRESSION_KIND_EXISTS)
        return QD_SQL_NONE;
    inner = qd_rewrite_get_exists(self, expression);
    shared = find_shared(left, inner);
    column = shared != G_MAXUINT ? qd_relation_find(relation, shared) : NULL;
    if (column == NULL || !column->certain || qd_exists_needs_values(self, inner, &left->possible) ||
        !qd_tally_write_exists(&tally, inner, shared, &left->possible))
        return QD_SQL_NONE;
    n_values = count_values(self, inner, shared, &n_quads);
    effort = estimate_effort(self, left, inner, n_quads, n_values);
    if (n_values > SET_MAX || !qd_tally_is_worth_while(&tally, effort))
        return QD_SQL_NONE;
    qd_tally_add_note(&tally, effort);
    return write_membership(&tally, column, expression->negated);
}

QdRelation *
qd_generate_tally_filter(QdGenerator *self, const QdAlgebra *node, const QdRelation *relation, const QdAlgebra **ret_rest)
{
    QdRelation *filtered = qd_relation_copy(self, relation);
    QdExpression **expressions = qd_arena_array0(self->arena, QdExpression *, node->n_expressions);
    QdAlgebra *rest;
    guint n = 0;

    for (guint i = 0; i < node->n_expressions; i++) {
        QdSql condition = write_condition(self, node->children[0], relation, node->expressions[i]);

        qd_relation_add_where(self, filtered, condition);
        if (condition.text == NULL)
            expressions[n++] = node->expressions[i];
    }
    *ret_rest = n == node->n_expressions ? node : NULL;
    if (n == 0 || n == node->n_expressions)
        return filtered;
    rest = qd_algebra_put_on(self, node, node->children[0]);
    rest->expressions = expressions;
    rest->n_expressions = n;
    *ret_rest = rest;
    return filtered;
}
