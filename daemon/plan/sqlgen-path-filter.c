/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a join asks of the nodes that a path leads to. A search that knows it tests each node once for all seeds; SQLite would look
 * each pair up.
 */
#include "daemon/plan/sqlgen-private.h"

#define CONDITIONS_MAX 4

typedef struct Conditions {
    QdGenerator *generator;
    guint variable;
    QdSqlBuilder *out;
    guint n;
} Conditions;

static gboolean
is_variable(const QdNode *node, guint variable)
{
    return node->kind == QD_NODE_VARIABLE && node->variable == variable;
}

/* The value of @node before anything runs; none: any will do. */
static QdSql
get_constant(QdGenerator *self, const QdNode *node)
{
    switch (node->kind) {
    case QD_NODE_TERM:
        return qd_generator_put_term(self, node->term);
    case QD_NODE_VARIABLE:
        return qd_generator_find_parameter(self, node->variable);
    case QD_NODE_NONE:
        return QD_SQL_NONE;
    }
    g_assert_not_reached();
}

/* That a link of @predicate begins (@sign 1) or ends (-1) at the node, with @other at its other end, if that is known. */
static void
append(Conditions *self, int sign, const QdTerm *predicate, const QdNode *other, gboolean negated)
{
    QdArena *arena = self->generator->arena;
    QdSql constant = get_constant(self->generator, other);

    if (self->n == CONDITIONS_MAX)
        return;
    self->n++;
    qd_sql_append(self->out, qd_sql_make(arena, ",@,@", qd_sql_text(qd_arena_printf(arena, "%d", sign * (negated ? 4 : 3))),
                                         qd_generator_put_term(self->generator, predicate)));
    if (constant.text != NULL)
        qd_sql_append(self->out, qd_sql_make(arena, ",5,@", constant));
}

/* The same of @triple, one link or more of one predicate. */
static void
append_triple(Conditions *self, const QdTriple *triple, gboolean negated)
{
    const QdTerm *predicate = triple->path == NULL && triple->p.kind == QD_NODE_TERM ? triple->p.term : NULL;
    gboolean begins = is_variable(&triple->s, self->variable);
    const QdNode any = { .kind = QD_NODE_NONE };

    if (begins == is_variable(&triple->o, self->variable))
        return;
    if (predicate != NULL)
        append(self, begins ? 1 : -1, predicate, begins ? &triple->o : &triple->s, negated);
    else if (triple->path != NULL && triple->path->kind == QD_PATH_ONE_OR_MORE && triple->path->children[0]->kind == QD_PATH_LINK &&
             !negated)
        append(self, begins ? 1 : -1, triple->path->children[0]->iri, &any, FALSE);
}

/* Whether no other part binds a variable of @triple but the one that is asked for. */
static gboolean
is_own(const Conditions *self, const QdSiblings *siblings, const QdAlgebra *triple)
{
    QD_VARIABLE_SET_FOREACH(&triple->possible, variable)
    {
        if (variable == self->variable)
            continue;
        if ((siblings->bound != NULL && qd_variable_set_has(siblings->bound, variable)) ||
            (siblings->given != NULL && qd_relation_find(siblings->given, variable) != NULL))
            return FALSE;
        for (guint i = 0; i < siblings->n_parts; i++) {
            if (qd_variable_set_has(&siblings->parts[i]->possible, variable))
                return FALSE;
        }
    }
    return TRUE;
}

/* What @part, which follows the path, asks by MINUS or EXISTS. */
static void
append_following(Conditions *self, const QdSiblings *siblings, const QdAlgebra *part)
{
    if (part->kind == QD_ALGEBRA_MINUS && part->children[1]->kind == QD_ALGEBRA_TRIPLE && is_own(self, siblings, part->children[1]))
        append_triple(self, part->children[1]->triple, TRUE);
    for (guint i = 0; part->kind == QD_ALGEBRA_FILTER && i < part->n_expressions; i++) {
        QdExpression *expression = part->expressions[i];
        const QdAlgebra *inner = expression->kind == QD_EXPRESSION_KIND_EXISTS ? qd_rewrite_get_exists(self->generator, expression)
                                                                               : NULL;

        if (inner != NULL && inner->kind == QD_ALGEBRA_TRIPLE && (!expression->negated || is_own(self, siblings, inner)))
            append_triple(self, inner->triple, expression->negated);
    }
}

void
qd_path_append_conditions(QdGenerator *self, guint variable, QdSqlBuilder *out)
{
    Conditions conditions = { self, variable, out, 0 };
    const QdSiblings *siblings = self->siblings;

    for (guint i = 0; siblings != NULL && i < siblings->n_parts; i++) {
        const QdAlgebra *part = siblings->parts[i];

        if (i == siblings->index || (part->follows && i < siblings->index))
            continue;
        if (part->follows) {
            append_following(&conditions, siblings, part);
            continue;
        }
        while ((part->kind == QD_ALGEBRA_DISTINCT || part->kind == QD_ALGEBRA_PROJECT) &&
               qd_variable_set_has(&part->possible, variable))
            part = part->children[0];
        if (part->kind == QD_ALGEBRA_TRIPLE || part->kind == QD_ALGEBRA_PATH)
            append_triple(&conditions, part->triple, FALSE);
    }
}
