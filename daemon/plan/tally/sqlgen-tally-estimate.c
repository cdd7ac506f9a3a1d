/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Estimates that say whether a tally is worth while: how many values it begins with, and what a join would look at instead.
 */
#include "daemon/plan/tally/sqlgen-tally.h"

/* --- values ------------------------------------------------------------------------------------------------------------ */

/* Of @node alone. */
static double
estimate_values_of_triple(QdGenerator *self, const QdAlgebra *node, guint variable)
{
    const QdTriple *triple = node->triple;
    const QdNode *other = qd_node_is_variable(&triple->s, variable)   ? &triple->o
                          : qd_node_is_variable(&triple->o, variable) ? &triple->s
                                                                      : NULL;

    return other != NULL && other->kind == QD_NODE_TERM ? qd_estimate_rows(self, node) : G_MAXDOUBLE;
}

double
qd_tally_estimate_values(QdGenerator *self, const QdAlgebra *node, guint variable)
{
    double n = G_MAXDOUBLE;

    switch (node->kind) {
    case QD_ALGEBRA_TRIPLE:
        return estimate_values_of_triple(self, node, variable);
    case QD_ALGEBRA_JOIN:
        for (guint i = 0; i < node->n_children; i++)
            n = MIN(n, qd_tally_estimate_values(self, node->children[i], variable));
        return n;
    case QD_ALGEBRA_FILTER:
    case QD_ALGEBRA_LEFT_JOIN:
    case QD_ALGEBRA_MINUS:
        return qd_tally_estimate_values(self, node->children[0], variable);
    default:
        return n;
    }
}

/* --- the join instead ------------------------------------------------------------------------------------------------- */

static gboolean
consists_of_triples(const QdAlgebra *join)
{
    for (guint i = 0; i < join->n_children; i++) {
        if (join->children[i]->kind != QD_ALGEBRA_TRIPLE)
            return FALSE;
    }
    return TRUE;
}

guint
qd_tally_count_triples(QdGenerator *self, const QdAlgebra *node)
{
    guint n = node->kind == QD_ALGEBRA_TRIPLE ? 1 : 0;

    for (guint i = 0; i < node->n_children; i++)
        n += qd_tally_count_triples(self, node->children[i]);
    for (guint i = 0; i < node->n_expressions; i++) {
        if (node->expressions[i]->kind == QD_EXPRESSION_KIND_EXISTS)
            n += qd_tally_count_triples(self, qd_rewrite_get_exists(self, node->expressions[i]));
    }
    return n;
}

double
qd_tally_estimate_effort(QdGenerator *self, const QdAlgebra *node)
{
    double effort = 0;

    switch (node->kind) {
    case QD_ALGEBRA_UNION:
        for (guint i = 0; i < node->n_children; i++)
            effort += qd_tally_estimate_effort(self, node->children[i]);
        return effort;
    case QD_ALGEBRA_JOIN:
        if (consists_of_triples(node))
            return MAX(qd_estimate_cost(self, node), qd_estimate_rows(self, node));
        effort = qd_tally_estimate_effort(self, node->children[0]);
        for (guint i = 1; i < node->n_children; i++)
            effort = MIN(effort, qd_tally_estimate_effort(self, node->children[i]));
        return effort * node->n_children;
    case QD_ALGEBRA_LEFT_JOIN:
    case QD_ALGEBRA_MINUS:
    case QD_ALGEBRA_FILTER:
        return qd_tally_estimate_effort(self, node->children[0]) *
               (1 + qd_tally_count_triples(self, node) - qd_tally_count_triples(self, node->children[0]));
    default:
        return qd_estimate_rows(self, node);
    }
}
