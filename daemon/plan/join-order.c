/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of a join: greedy, always the part next that multiplies the rows least. It goes by the catalog's statistics and
 * counts that stop at a cap. SQLite gets it as CROSS JOIN and keeps it.
 */
#include <math.h>
#include <string.h>

#include "daemon/plan/sqlgen-private.h"

#define GUESSED_QUADS 1e6     /* without a catalog */
#define GUESSED_PREDICATES 50 /* without a catalog */
#define GUESSED_ROWS 1e3      /* of a part that is no triple */
#define WINDOW 300            /* parts compared for each place: a text has at most so much order to lose */
#define GUESSED_MATCHES 1e3   /* of a full-text query that is not known, or one with more matches than are counted */
#define WHOLE_LEVELS_MAX 3    /* of subselects that an estimate looks into */
#define WHOLE_PARTS_MAX 20    /* of a join there */
#define UNSEEDED_PATH 1e12    /* a path with both ends free: as late as can be */

typedef struct Counts {
    double n_quads, n_subjects, n_objects;
} Counts;

/* What is bound before a part: maybe, as OPTIONAL and UNION leave it, and in each solution. */
typedef struct Known {
    QdVariableSet possible, sure;
} Known;

/* Whether a node has one value by then. */
static gboolean
is_bound(QdGenerator *self, const QdNode *node, const QdVariableSet *bound)
{
    return node->kind == QD_NODE_TERM ||
           (node->kind == QD_NODE_VARIABLE &&
            (qd_variable_set_has(bound, node->variable) || qd_generator_find_parameter(self, node->variable).text != NULL));
}

static Counts
get_counts(QdGenerator *self, const QdTriple *triple, gboolean predicate_bound)
{
    double n_quads = self->catalog != NULL ? (double) self->catalog->n_quads : GUESSED_QUADS;
    double n_predicates = self->catalog != NULL ? MAX(1.0, (double) self->catalog->n_predicates) : GUESSED_PREDICATES;
    Counts counts = { n_quads, n_quads / 10 + 1, n_quads / 5 + 1 };

    if (triple->p.kind == QD_NODE_TERM && self->catalog != NULL) {
        QdPredicateStatistics statistics = { 0 };

        if (!self->catalog->get_predicate(self->catalog->data, triple->p.term, &statistics))
            return (Counts){ 0, 1, 1 };
        return (Counts){ (double) statistics.n_quads, MAX(1.0, (double) statistics.n_subjects),
                         MAX(1.0, (double) statistics.n_objects) };
    }
    if (predicate_bound) {
        counts.n_quads /= n_predicates;
        counts.n_subjects = MAX(1.0, counts.n_subjects / n_predicates);
        counts.n_objects = MAX(1.0, counts.n_objects / n_predicates);
    }
    return counts;
}

/* What is known of a part before anything is bound; asked of the catalog once. */
typedef struct Item {
    const QdAlgebra *node;
    Counts counts;
    double n_probed;  /* rows that match the constants; negative: not counted */
    double n_whole;   /* of a part that is evaluated by itself */
    double n_sampled; /* rows for each of the sample's; negative: not known */
    gboolean is_sampled;
} Item;

/* How far an estimate looks into what is evaluated by itself, and whether it counts there. */
typedef struct Depth {
    guint n_levels;
    gboolean counts;
} Depth;

static double estimate_join(QdGenerator *self, const QdAlgebra *node, const Known *before, Depth depth);

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
    g_array_append_val(self->probes, probe);
    return (double) probe.n_quads;
}

/* Rows of a triple for each row that is there. What reaches the cap has at least so many rows, or what is usual. */
static double
estimate_triple(QdGenerator *self, const Item *item, const QdVariableSet *bound)
{
    const QdTriple *triple = item->node->triple;
    gboolean s_counted = item->n_probed >= 0 && triple->s.kind == QD_NODE_TERM;
    gboolean o_counted = item->n_probed >= 0 && triple->o.kind == QD_NODE_TERM;
    double rows = item->n_probed >= 0 ? item->n_probed : item->counts.n_quads;

    if (item->n_probed >= QD_PLAN_PROBE_CAP)
        rows = MAX(rows,
                   item->counts.n_quads / (s_counted ? item->counts.n_subjects : 1) / (o_counted ? item->counts.n_objects : 1));
    if (!s_counted && is_bound(self, &triple->s, bound))
        rows /= item->counts.n_subjects;
    if (!o_counted && is_bound(self, &triple->o, bound))
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
estimate_path(QdGenerator *self, const QdTriple *triple, const Known *known)
{
    gboolean s = is_bound(self, &triple->s, &known->sure);
    gboolean o = is_bound(self, &triple->o, &known->sure);
    gboolean ends = s || o;

    if (triple->path->kind == QD_PATH_ALTERNATIVE || triple->path->kind == QD_PATH_NEGATED)
        return ends ? 10 : (self->catalog != NULL ? (double) self->catalog->n_quads : GUESSED_QUADS);
    if (!ends && triple->path->kind == QD_PATH_ONE_OR_MORE && triple->s.variable == triple->o.variable)
        return GUESSED_ROWS; /* a circle */
    if (!ends && (is_bound(self, &triple->s, &known->possible) || is_bound(self, &triple->o, &known->possible)))
        return GUESSED_ROWS; /* for some solutions */
    if (!ends)
        return UNSEEDED_PATH * (1 + estimate_share(self, triple->path));
    return s && o ? 1 : 20;
}

/* Solutions of a full-text pattern. It cannot run before its query is there. */
static double
estimate_match(QdGenerator *self, const Item *item, const Known *known)
{
    const QdMatch *match = item->node->match;
    double rows = item->n_probed >= 0 ? item->n_probed : GUESSED_MATCHES;

    if (!is_bound(self, &match->text, &known->possible))
        return UNSEEDED_PATH;
    return is_bound(self, &match->subject, &known->possible) ? rows / GUESSED_MATCHES : rows;
}

static Counts
get_arm_counts(QdGenerator *self, const QdAlgebra *arm, const Known *known)
{
    if (arm->kind != QD_ALGEBRA_TRIPLE)
        return (Counts){ 0 };
    return get_counts(self, arm->triple, is_bound(self, &arm->triple->p, &known->possible));
}

static double estimate(QdGenerator *self, const Item *item, const Known *known);

/* Whether @node has one solution at most for each of those @known: distinct ones, or groups by keys that are. */
static gboolean
has_key(const QdAlgebra *node, const Known *known)
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
guess(const Item *item, const Known *known)
{
    if (has_key(item->node, known))
        return 1;
    if (qd_variable_set_shares(&item->node->possible, &known->possible))
        return GUESSED_ROWS / 10;
    return item->n_whole > GUESSED_ROWS && qd_algebra_has_path(item->node) ? MIN(item->n_whole, UNSEEDED_PATH * 1.5) : GUESSED_ROWS;
}

/* The sum of the arms, as far as these are triples and paths. */
static double
estimate_union(QdGenerator *self, const Item *whole, const Known *known)
{
    const QdAlgebra *node = whole->node;
    double most = guess(whole, known);
    double rows = 0;

    if (most > GUESSED_ROWS)
        return most;
    for (guint i = 0; i < node->n_children && rows < most; i++) {
        const Item item = { .node = node->children[i],
                            .counts = get_arm_counts(self, node->children[i], known),
                            .n_probed = -1,
                            .n_whole = GUESSED_ROWS };

        rows += item.node->kind == QD_ALGEBRA_JOIN && qd_algebra_has_path(item.node)
                    ? estimate_join(self, item.node, known, (Depth){ 0, FALSE })
                    : estimate(self, &item, known);
    }
    return MIN(rows, most);
}

static double
estimate(QdGenerator *self, const Item *item, const Known *known)
{
    const QdAlgebra *node = item->node;

    switch (node->kind) {
    case QD_ALGEBRA_TRIPLE:
        return estimate_triple(self, item, &known->possible);
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

static double estimate_whole(QdGenerator *self, const QdAlgebra *node, Depth depth);

static Item
make_item(QdGenerator *self, const QdAlgebra *node, const Known *known, Depth depth)
{
    Item item = { .node = node, .n_probed = -1, .n_whole = GUESSED_ROWS };

    if (node->kind == QD_ALGEBRA_TRIPLE) {
        item.counts = get_counts(self, node->triple, is_bound(self, &node->triple->p, &known->possible));
        item.n_probed = depth.counts ? count(self, node->triple) : -1;
    } else if (node->kind == QD_ALGEBRA_MATCH && node->match->text.kind == QD_NODE_TERM && self->catalog != NULL &&
               self->catalog->count_matches != NULL && depth.counts) {
        item.n_probed = (double) self->catalog->count_matches(self->catalog->data, node->match->text.term, QD_PLAN_PROBE_CAP);
    } else if (depth.n_levels > 0) {
        item.n_whole = estimate_whole(self, node, (Depth){ depth.n_levels - 1, FALSE });
    }
    return item;
}

static void
add_known(QdGenerator *self, Known *known, const QdAlgebra *node)
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

/* Whether estimates may be far off: of a join with a path, before which nothing is bound. */
static gboolean
needs_sample(const QdAlgebra **children, guint n, const Known *before, Depth depth)
{
    if (n < 2 || n > WHOLE_PARTS_MAX || !depth.counts || (before != NULL && !qd_variable_set_is_empty(&before->possible)))
        return FALSE;
    for (guint i = 0; i < n; i++) {
        if (qd_algebra_has_path(children[i]))
            return TRUE;
    }
    return FALSE;
}

/* Rows of @item for each that is there, by those of @sample (nullable) if it can tell. */
static double
estimate_next(QdGenerator *self, QdSample *sample, Item *item, const Known *known)
{
    if (sample != NULL && !item->is_sampled) {
        item->n_sampled = qd_sample_count(sample, item->node);
        item->is_sampled = TRUE;
    }
    return item->is_sampled && item->n_sampled >= 0 ? item->n_sampled : estimate(self, item, known);
}

/* Sorts @children. Sets how many rows each multiplies those before it by; returns how many rows there are in the end. */
static double
order(QdGenerator *self, const QdAlgebra **children, guint n, const Known *before, Depth depth, double *rows)
{
    Item *items = qd_arena_array0(self->arena, Item, n);
    g_autoptr(QdSample) sample = needs_sample(children, n, before, depth) ? qd_sample_new(self) : NULL;
    Known known = { 0 };
    double product = 1;

    if (before != NULL) {
        qd_variable_set_add_all(&known.possible, self->arena, &before->possible);
        qd_variable_set_add_all(&known.sure, self->arena, &before->sure);
    }
    for (guint i = 0; i < n; i++)
        items[i] = make_item(self, children[i], &known, depth);
    for (guint i = 0; i < n; i++) {
        double best = 0;
        guint best_index = i;
        Item chosen;

        for (guint j = i; j < MIN(n, i + WINDOW); j++) {
            double n_rows = estimate_next(self, i > 0 ? sample : NULL, &items[j], &known);

            /* a part that shares nothing multiplies everything: it waits unless it is tiny */
            if (i > 0 && n_rows > 1 && !qd_variable_set_shares(&items[j].node->possible, &known.possible))
                n_rows *= 1000;
            if (j == i || n_rows < best) {
                best = n_rows;
                best_index = j;
            }
        }
        chosen = items[best_index];
        items[best_index] = items[i];
        items[i] = chosen;
        children[i] = chosen.node;
        add_known(self, &known, chosen.node);
        if (sample != NULL)
            qd_sample_extend(sample, chosen.node, i == 0);
        for (guint j = i + 1; j < n && sample != NULL; j++)
            items[j].is_sampled = items[j].is_sampled && !qd_variable_set_shares(&items[j].node->possible, &chosen.node->possible);
        rows[i] = best;
        product *= best;
    }
    return product;
}

/* Solutions of @node, a join, for each of those @before (nullable). */
static double
estimate_join(QdGenerator *self, const QdAlgebra *node, const Known *before, Depth depth)
{
    const QdAlgebra **children = qd_arena_array0(self->arena, const QdAlgebra *, node->n_children);

    if (node->n_children > WHOLE_PARTS_MAX)
        return GUESSED_ROWS;
    memcpy(children, node->children, node->n_children * sizeof(const QdAlgebra *));
    return order(self, children, node->n_children, before, depth, qd_arena_array0(self->arena, double, node->n_children));
}

/* Solutions of @node by itself, as far as @depth allows to look. */
static double
estimate_whole(QdGenerator *self, const QdAlgebra *node, Depth depth)
{
    const Known none = { 0 };
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
        const Item item = make_item(self, node, &none, (Depth){ 0, depth.counts });

        return estimate(self, &item, &none);
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
    return estimate_whole(self, node, (Depth){ WHOLE_LEVELS_MAX, TRUE });
}

void
qd_join_order(QdGenerator *self, const QdAlgebra **children, guint n, const QdVariableSet *bound, const QdVariableSet *sure)
{
    double *rows = qd_arena_array0(self->arena, double, n + 1);
    Known before = { 0 };

    if (bound != NULL)
        before.possible = *bound;
    if (sure != NULL)
        before.sure = *sure;
    (void) order(self, children, n, &before, (Depth){ WHOLE_LEVELS_MAX, TRUE }, rows);
    rows[n] = NAN;
    g_array_append_vals(self->estimates, rows, n + 1);
}
