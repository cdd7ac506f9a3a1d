/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many rows the parts of a join have, by the catalog's statistics and by counts that stop at a cap. SQLite gets the order that
 * is found as CROSS JOIN and keeps it.
 */
#include "daemon/plan/join-private.h"

#include <math.h>
#include <string.h>

#define GUESSED_QUADS 1e6     /* without a catalog */
#define GUESSED_PREDICATES 50 /* without a catalog */
#define GUESSED_ROWS 1e3      /* of a part that is no triple */
#define GUESSED_MATCHES 1e3   /* of a full-text query that is not known, or one with more matches than are counted */
#define WHOLE_LEVELS_MAX 3    /* of subselects that an estimate looks into */
#define KEPT_SHARE 0.5        /* of what a condition is tested for */
#define UNSEEDED_PATH 1e12    /* a path with both ends free: as late as can be */

gboolean
qd_node_is_bound(QdGenerator *self, const QdNode *node, const QdVariableSet *bound)
{
    return node->kind == QD_NODE_TERM ||
           (node->kind == QD_NODE_VARIABLE && ((bound != NULL && qd_variable_set_has(bound, node->variable)) ||
                                               qd_generator_find_value(self, node->variable).text != NULL));
}

static QdJoinCounts
get_counts(QdGenerator *self, const QdTriple *triple, gboolean predicate_bound)
{
    double n_quads = self->catalog != NULL ? (double) self->catalog->n_quads : GUESSED_QUADS;
    double n_predicates = self->catalog != NULL ? MAX(1.0, (double) self->catalog->n_predicates) : GUESSED_PREDICATES;
    QdJoinCounts counts = { n_quads, n_quads / 10 + 1, n_quads / 5 + 1 };

    if (triple->p.kind == QD_NODE_TERM && self->catalog != NULL) {
        QdPredicateStatistics statistics = { 0 };

        if (!self->catalog->get_predicate(self->catalog->data, triple->p.term, &statistics))
            return (QdJoinCounts){ 0, 1, 1 };
        return (QdJoinCounts){ (double) statistics.n_quads, MAX(1.0, (double) statistics.n_subjects),
                               MAX(1.0, (double) statistics.n_objects) };
    }
    if (predicate_bound) {
        counts.n_quads /= n_predicates;
        counts.n_subjects = MAX(1.0, counts.n_subjects / n_predicates);
        counts.n_objects = MAX(1.0, counts.n_objects / n_predicates);
    }
    return counts;
}

static double estimate_join(QdGenerator *self, const QdAlgebra *node, const QdJoinKnown *before, QdJoinDepth depth);

/* A count is asked for where the averages of the predicate say little: a constant object, or no predicate. */
static double
count(QdGenerator *self, const QdTriple *triple)
{
    const QdTerm *s = triple->s.kind == QD_NODE_TERM ? triple->s.term : NULL;
    const QdTerm *p = triple->p.kind == QD_NODE_TERM ? triple->p.term : NULL;
    const QdTerm *o = triple->o.kind == QD_NODE_TERM ? triple->o.term : NULL;
    QdPlanProbe probe = { s, p, o, 0 };

    if (self->catalog == NULL || (o == NULL && (s == NULL || p != NULL)))
        return -1;
    probe.n_quads = self->catalog->count_quads(self->catalog->data, s, p, o, QD_PLAN_PROBE_CAP);
    g_array_append_val(self->plan.probes, probe);
    return (double) probe.n_quads;
}

/* Rows of a triple for each row that is there. What reaches the cap has at least so many rows, or what is usual. */
static double
estimate_triple(QdGenerator *self, const QdJoinItem *item, const QdVariableSet *bound)
{
    const QdTriple *triple = item->node->triple;
    gboolean s_counted = item->n_probed >= 0 && triple->s.kind == QD_NODE_TERM;
    gboolean o_counted = item->n_probed >= 0 && triple->o.kind == QD_NODE_TERM;
    double rows = item->n_probed >= 0 ? item->n_probed : item->counts.n_quads;

    if (item->n_probed >= QD_PLAN_PROBE_CAP)
        rows = MAX(rows,
                   item->counts.n_quads / (s_counted ? item->counts.n_subjects : 1) / (o_counted ? item->counts.n_objects : 1));
    if (!s_counted && qd_node_is_bound(self, &triple->s, bound))
        rows /= item->counts.n_subjects;
    if (!o_counted && qd_node_is_bound(self, &triple->o, bound))
        rows /= item->counts.n_objects;
    return rows;
}

/* The share of all quads that a step of @path may take. */
static double
estimate_share(QdGenerator *self, const QdPath *path)
{
    QdPredicateStatistics statistics = { 0 };
    double share = 0;

    if (path->kind == QD_PATH_LINK && self->catalog != NULL &&
        self->catalog->get_predicate(self->catalog->data, path->iri, &statistics))
        return (double) statistics.n_quads / MAX(1.0, (double) self->catalog->n_quads);
    if (path->kind == QD_PATH_ZERO_OR_MORE || path->kind == QD_PATH_ZERO_OR_ONE || path->kind == QD_PATH_NEGATED)
        return 1;
    for (guint i = 0; i < path->n_children; i++)
        share += estimate_share(self, path->children[i]);
    return MIN(share, 1);
}

static double
estimate_path(QdGenerator *self, const QdTriple *triple, const QdJoinKnown *known)
{
    gboolean s = qd_node_is_bound(self, &triple->s, &known->sure);
    gboolean o = qd_node_is_bound(self, &triple->o, &known->sure);
    gboolean ends = s || o;

    if (triple->path->kind == QD_PATH_ALTERNATIVE || triple->path->kind == QD_PATH_NEGATED)
        return ends ? 10 : (self->catalog != NULL ? (double) self->catalog->n_quads : GUESSED_QUADS);
    if (!ends && triple->path->kind == QD_PATH_ONE_OR_MORE && triple->s.variable == triple->o.variable)
        return GUESSED_ROWS; /* a circle */
    if (!ends && (qd_node_is_bound(self, &triple->s, &known->possible) || qd_node_is_bound(self, &triple->o, &known->possible)))
        return GUESSED_ROWS; /* for some solutions */
    if (!ends) {
        double n_pairs = qd_sample_count_pairs(self, triple);

        return n_pairs >= 0 ? n_pairs : UNSEEDED_PATH * (1 + estimate_share(self, triple->path));
    }
    return s && o ? 1 : 20;
}

/* Solutions of a full-text pattern. It cannot run before its query is there. */
static double
estimate_match(QdGenerator *self, const QdJoinItem *item, const QdJoinKnown *known)
{
    const QdMatch *match = item->node->match;
    double rows = item->n_probed >= 0 ? item->n_probed : GUESSED_MATCHES;

    if (!qd_node_is_bound(self, &match->text, &known->possible))
        return UNSEEDED_PATH;
    return qd_node_is_bound(self, &match->subject, &known->possible) ? rows / GUESSED_MATCHES : rows;
}

static QdJoinCounts
get_arm_counts(QdGenerator *self, const QdAlgebra *arm, const QdJoinKnown *known)
{
    if (arm->kind != QD_ALGEBRA_TRIPLE)
        return (QdJoinCounts){ 0 };
    return get_counts(self, arm->triple, qd_node_is_bound(self, &arm->triple->p, &known->possible));
}

/* Whether @node has one solution at most for each of those @known: distinct ones, or groups by keys that are. */
static gboolean
has_key(const QdAlgebra *node, const QdJoinKnown *known)
{
    if (node->kind == QD_ALGEBRA_DISTINCT && node->children[0]->kind == QD_ALGEBRA_PROJECT) {
        QD_VARIABLE_SET_FOREACH(&node->possible, variable)
        {
            if (!qd_variable_set_has(&known->possible, variable))
                return FALSE;
        }
        return TRUE;
    }
    while (node->kind == QD_ALGEBRA_PROJECT || node->kind == QD_ALGEBRA_EXTEND || node->kind == QD_ALGEBRA_FILTER)
        node = node->children[0];
    if (node->kind != QD_ALGEBRA_GROUP)
        return FALSE;
    for (guint i = 0; i < node->n_variables; i++) {
        if (!qd_variable_set_has(&known->possible, node->variables[i]))
            return FALSE;
    }
    return TRUE;
}

/* Of a part of which little is known. One with a path whose ends are both free comes after all that may give it an end. */
static double
guess(const QdJoinItem *item, const QdJoinKnown *known)
{
    if (has_key(item->node, known))
        return 1;
    if (qd_variable_set_shares(&item->node->possible, &known->possible))
        return GUESSED_ROWS / 10;
    return item->n_whole > GUESSED_ROWS && qd_algebra_has_path(item->node) ? MIN(item->n_whole, UNSEEDED_PATH * 1.5) : GUESSED_ROWS;
}

/* The sum of the arms, as far as these are triples and paths. */
static double
estimate_union(QdGenerator *self, const QdJoinItem *whole, const QdJoinKnown *known)
{
    const QdAlgebra *node = whole->node;
    double most = guess(whole, known);
    double rows = 0;

    if (most > GUESSED_ROWS)
        return most;
    for (guint i = 0; i < node->n_children && rows < most; i++) {
        const QdJoinItem item = { .node = node->children[i],
                                  .counts = get_arm_counts(self, node->children[i], known),
                                  .n_probed = -1,
                                  .n_whole = GUESSED_ROWS };

        rows += item.node->kind == QD_ALGEBRA_JOIN && qd_algebra_has_path(item.node)
                    ? estimate_join(self, item.node, known, (QdJoinDepth){ 0, FALSE })
                    : qd_join_item_estimate(self, &item, known);
    }
    return MIN(rows, most);
}

double
qd_join_item_estimate(QdGenerator *self, const QdJoinItem *item, const QdJoinKnown *known)
{
    const QdAlgebra *node = item->node;

    if (node->follows)
        return node->kind == QD_ALGEBRA_LEFT_JOIN ? 1 : KEPT_SHARE;
    switch (node->kind) {
    case QD_ALGEBRA_TRIPLE:
        return estimate_triple(self, item, known->is_careful ? &known->sure : &known->possible);
    case QD_ALGEBRA_PATH:
        return estimate_path(self, node->triple, known);
    case QD_ALGEBRA_MATCH:
        return estimate_match(self, item, known);
    case QD_ALGEBRA_VALUES:
        return node->values->n_rows;
    case QD_ALGEBRA_UNIT:
        return 1;
    case QD_ALGEBRA_UNION:
        return estimate_union(self, item, known);
    case QD_ALGEBRA_GROUP:
    case QD_ALGEBRA_ORDER:
    case QD_ALGEBRA_PROJECT:
    case QD_ALGEBRA_DISTINCT:
    case QD_ALGEBRA_SLICE:
        return MIN(item->n_whole, guess(item, known));
    default:
        return guess(item, known);
    }
}

static double estimate_whole(QdGenerator *self, const QdAlgebra *node, QdJoinDepth depth);

QdJoinItem
qd_join_item_make(QdGenerator *self, const QdAlgebra *node, const QdJoinKnown *known, QdJoinDepth depth)
{
    QdJoinItem item = { .node = node, .n_probed = -1, .n_whole = GUESSED_ROWS };

    if (node->kind == QD_ALGEBRA_TRIPLE) {
        item.counts = get_counts(self, node->triple, qd_node_is_bound(self, &node->triple->p, &known->possible));
        item.n_probed = depth.counts ? count(self, node->triple) : -1;
    } else if (node->kind == QD_ALGEBRA_MATCH && node->match->text.kind == QD_NODE_TERM && self->catalog != NULL &&
               self->catalog->count_matches != NULL && depth.counts) {
        item.n_probed = (double) self->catalog->count_matches(self->catalog->data, node->match->text.term, QD_PLAN_PROBE_CAP);
    } else if (depth.n_levels > 0) {
        item.n_whole = estimate_whole(self, node, (QdJoinDepth){ depth.n_levels - 1, depth.counts && qd_algebra_has_path(node) });
    }
    return item;
}

void
qd_join_known_add(QdGenerator *self, QdJoinKnown *known, const QdAlgebra *node)
{
    qd_variable_set_add_all(&known->possible, self->arena, &node->possible);
    if (node->kind == QD_ALGEBRA_TRIPLE || node->kind == QD_ALGEBRA_PATH) {
        qd_variable_set_add_all(&known->sure, self->arena, &node->possible);
        return;
    }
    QD_VARIABLE_SET_FOREACH(&node->possible, variable)
    {
        if (qd_algebra_binds(node, variable))
            qd_variable_set_add(&known->sure, self->arena, variable);
    }
}

/* Solutions of @node, a join, for each of those @before (nullable). */
static double
estimate_join(QdGenerator *self, const QdAlgebra *node, const QdJoinKnown *before, QdJoinDepth depth)
{
    const QdAlgebra **children = qd_arena_array0(self->arena, const QdAlgebra *, node->n_children);
    QdJoinResult result = { 0 };

    if (node->n_children > WHOLE_PARTS_MAX)
        return GUESSED_ROWS;
    memcpy(children, node->children, node->n_children * sizeof(const QdAlgebra *));
    return qd_join_search(self, children, node->n_children, before, depth, &result);
}

/* Solutions of @node by itself, as far as @depth allows to look. */
static double
estimate_whole(QdGenerator *self, const QdAlgebra *node, QdJoinDepth depth)
{
    const QdJoinKnown none = { 0 };
    double rows;

    switch (node->kind) {
    case QD_ALGEBRA_JOIN:
        return estimate_join(self, node, NULL, depth);
    case QD_ALGEBRA_UNION:
        rows = 0;
        for (guint i = 0; i < node->n_children; i++)
            rows += estimate_whole(self, node->children[i], depth);
        return rows;
    case QD_ALGEBRA_LEFT_JOIN:
    case QD_ALGEBRA_MINUS:
    case QD_ALGEBRA_FILTER:
    case QD_ALGEBRA_EXTEND:
    case QD_ALGEBRA_ORDER:
    case QD_ALGEBRA_PROJECT:
    case QD_ALGEBRA_DISTINCT:
        return estimate_whole(self, node->children[0], depth);
    case QD_ALGEBRA_GROUP:
        rows = estimate_whole(self, node->children[0], depth);
        return node->n_variables > 0 ? rows : 1;
    case QD_ALGEBRA_SLICE:
        rows = estimate_whole(self, node->children[0], depth);
        return node->limit != QD_NO_LIMIT ? MIN(rows, (double) node->limit) : rows;
    case QD_ALGEBRA_TRIPLE:
    case QD_ALGEBRA_PATH:
    case QD_ALGEBRA_MATCH:
    case QD_ALGEBRA_VALUES:
    case QD_ALGEBRA_UNIT: {
        const QdJoinItem item = qd_join_item_make(self, node, &none, (QdJoinDepth){ 0, depth.counts });

        return qd_join_item_estimate(self, &item, &none);
    }
    case QD_ALGEBRA_GRAPH:
    case QD_ALGEBRA_SERVICE:
        return GUESSED_ROWS;
    }
    g_assert_not_reached();
}

double
qd_estimate_rows(QdGenerator *self, const QdAlgebra *node)
{
    return estimate_whole(self, node, (QdJoinDepth){ WHOLE_LEVELS_MAX, TRUE });
}

double
qd_estimate_cost_of(QdGenerator *self, const QdAlgebra *const *parts, guint n, double *ret_rows)
{
    const QdAlgebra **children = qd_arena_array0(self->arena, const QdAlgebra *, n);
    QdJoinResult result = { 0 };

    memcpy(children, parts, n * sizeof(const QdAlgebra *));
    *ret_rows = qd_join_search(self, children, n, NULL, (QdJoinDepth){ WHOLE_LEVELS_MAX, TRUE }, &result);
    return result.cost;
}

double
qd_estimate_cost(QdGenerator *self, const QdAlgebra *node)
{
    double n_rows;

    if (node->kind != QD_ALGEBRA_JOIN || node->n_children > WHOLE_PARTS_MAX)
        return qd_estimate_rows(self, node);
    return qd_estimate_cost_of(self, (const QdAlgebra *const *) node->children, node->n_children, &n_rows);
}

void
qd_join_order(QdGenerator *self, const QdAlgebra **children, guint n, const QdVariableSet *bound, const QdVariableSet *sure,
              double *ret_looked_at)
{
    QdJoinResult result = { .rows = qd_arena_array0(self->arena, double, n + 1), .looked_at = ret_looked_at };
    QdJoinKnown before = { 0 };

    if (bound != NULL)
        before.possible = *bound;
    if (sure != NULL)
        before.sure = *sure;
    (void) qd_join_search(self, children, n, &before, (QdJoinDepth){ WHOLE_LEVELS_MAX, TRUE }, &result);
    result.rows[n] = NAN;
    g_array_append_vals(self->plan.estimates, result.rows, n + 1);
}
