/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of a join: greedy, always the part next that multiplies the rows least, by the catalog's statistics and counts
 * that stop at a cap. SQLite gets it as CROSS JOIN and keeps it.
 */
#include <math.h>

#include "daemon/sparql/sqlgen-private.h"

#define GUESSED_QUADS 1e6     /* without a catalog */
#define GUESSED_PREDICATES 50 /* without a catalog */
#define GUESSED_ROWS 1e3      /* of a part that is no triple */
#define WINDOW 300            /* parts compared for each place: a text has at most so much order to lose */
#define GUESSED_MATCHES 1e3   /* of a full-text query that is not known, or one with more matches than are counted */
#define UNSEEDED_PATH 1e12    /* a path with both ends free: as late as can be */

typedef struct Counts {
    double n_quads, n_subjects, n_objects;
} Counts;

/* Whether a node has one value by then. */
static gboolean
is_bound(QdGenerator *self, const QdNode *node, const QdVariableSet *bound)
{
    return node->kind == QD_NODE_TERM ||
           (node->kind == QD_NODE_VARIABLE &&
            (qd_variable_set_has(bound, node->variable) || qd_generator_find_parameter(self, node->variable) != NULL));
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
    double n_probed; /* rows that match the constants; negative: not counted */
} Item;

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

static double
estimate_path(QdGenerator *self, const QdTriple *triple, const QdVariableSet *bound)
{
    gboolean s = is_bound(self, &triple->s, bound);
    gboolean o = is_bound(self, &triple->o, bound);
    gboolean ends = s || o;

    if (triple->path->kind == QD_PATH_ALTERNATIVE || triple->path->kind == QD_PATH_NEGATED)
        return ends ? 10 : (self->catalog != NULL ? (double) self->catalog->n_quads : GUESSED_QUADS);
    return s && o ? 1 : ends ? 20 : UNSEEDED_PATH;
}

/* Solutions of a full-text pattern. It cannot run before its query is there. */
static double
estimate_match(QdGenerator *self, const Item *item, const QdVariableSet *bound)
{
    const QdMatch *match = item->node->match;
    double rows = item->n_probed >= 0 ? item->n_probed : GUESSED_MATCHES;

    if (!is_bound(self, &match->text, bound))
        return UNSEEDED_PATH;
    return is_bound(self, &match->subject, bound) ? rows / GUESSED_MATCHES : rows;
}

static gboolean
shares(const QdVariableSet *a, const QdVariableSet *b)
{
    for (guint i = 0; i < MIN(a->n_words, b->n_words); i++) {
        if ((a->words[i] & b->words[i]) != 0)
            return TRUE;
    }
    return FALSE;
}

static Counts
get_arm_counts(QdGenerator *self, const QdAlgebra *arm, const QdVariableSet *bound)
{
    if (arm->kind != QD_ALGEBRA_TRIPLE)
        return (Counts){ 0 };
    return get_counts(self, arm->triple, is_bound(self, &arm->triple->p, bound));
}

static double estimate(QdGenerator *self, const Item *item, const QdVariableSet *bound);

/* The sum of the arms: a path with a free end in one of them has as many rows as any part of which no number is known. */
static double
estimate_union(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    double most = shares(&node->possible, bound) ? GUESSED_ROWS / 10 : GUESSED_ROWS;
    double rows = 0;

    for (guint i = 0; i < node->n_children && rows < most; i++) {
        const Item item = { .node = node->children[i], .counts = get_arm_counts(self, node->children[i], bound), .n_probed = -1 };

        rows += estimate(self, &item, bound);
    }
    return MIN(rows, most);
}

static double
estimate(QdGenerator *self, const Item *item, const QdVariableSet *bound)
{
    const QdAlgebra *node = item->node;

    switch (node->kind) {
    case QD_ALGEBRA_TRIPLE:
        return estimate_triple(self, item, bound);
    case QD_ALGEBRA_PATH:
        return estimate_path(self, node->triple, bound);
    case QD_ALGEBRA_MATCH:
        return estimate_match(self, item, bound);
    case QD_ALGEBRA_VALUES:
        return node->values->n_rows;
    case QD_ALGEBRA_UNIT:
        return 1;
    case QD_ALGEBRA_UNION:
        return estimate_union(self, node, bound);
    default: /* no number is known of the others */
        return shares(&node->possible, bound) ? GUESSED_ROWS / 10 : GUESSED_ROWS;
    }
}

static Item
make_item(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    Item item = { .node = node, .n_probed = -1 };

    if (node->kind == QD_ALGEBRA_TRIPLE) {
        item.counts = get_counts(self, node->triple, is_bound(self, &node->triple->p, bound));
        item.n_probed = count(self, node->triple);
    } else if (node->kind == QD_ALGEBRA_MATCH && node->match->text.kind == QD_NODE_TERM && self->catalog != NULL &&
               self->catalog->count_matches != NULL) {
        item.n_probed = (double) self->catalog->count_matches(self->catalog->data, node->match->text.term, QD_PLAN_PROBE_CAP);
    }
    return item;
}

void
qd_join_order(QdGenerator *self, const QdAlgebra **children, guint n, const QdVariableSet *bound)
{
    Item *items = qd_arena_array0(self->arena, Item, n);
    QdVariableSet known = { 0 };
    const double end = NAN;

    if (bound != NULL)
        qd_variable_set_add_all(&known, self->arena, bound);
    for (guint i = 0; i < n; i++)
        items[i] = make_item(self, children[i], &known);
    for (guint i = 0; i < n; i++) {
        double best = 0;
        guint best_index = i;
        Item chosen;

        for (guint j = i; j < MIN(n, i + WINDOW); j++) {
            double rows = estimate(self, &items[j], &known);

            /* a part that shares nothing multiplies everything: it waits unless it is tiny */
            if (i > 0 && rows > 1 && !shares(&items[j].node->possible, &known))
                rows *= 1000;
            if (j == i || rows < best) {
                best = rows;
                best_index = j;
            }
        }
        chosen = items[best_index];
        items[best_index] = items[i];
        items[i] = chosen;
        children[i] = chosen.node;
        qd_variable_set_add_all(&known, self->arena, &chosen.node->possible);
        g_array_append_val(self->estimates, best);
    }
    g_array_append_val(self->estimates, end);
}
