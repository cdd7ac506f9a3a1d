/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of a join: greedy, always the part next that multiplies the rows least, by the catalog's statistics and counts
 * that stop at a cap. SQLite gets it as CROSS JOIN and keeps it.
 */
#include "daemon/sparql/sqlgen-private.h"

#define PROBE_CAP 1024        /* rows counted for a pattern with a constant */
#define GUESSED_QUADS 1e6     /* without a catalog */
#define GUESSED_PREDICATES 50 /* without a catalog */
#define GUESSED_ROWS 1e3      /* of a part that is no triple */
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

/* Rows of a triple for each row that is there; the true number where all that is bound are constants. */
static double
estimate_triple(QdGenerator *self, const QdTriple *triple, const QdVariableSet *bound)
{
    gboolean s = is_bound(self, &triple->s, bound);
    gboolean p = is_bound(self, &triple->p, bound);
    gboolean o = is_bound(self, &triple->o, bound);
    const QdTerm *constants[] = { triple->s.kind == QD_NODE_TERM ? triple->s.term : NULL,
                                  triple->p.kind == QD_NODE_TERM ? triple->p.term : NULL,
                                  triple->o.kind == QD_NODE_TERM ? triple->o.term : NULL };
    Counts counts = get_counts(self, triple, p);
    double rows = counts.n_quads;

    if (s)
        rows /= counts.n_subjects;
    if (o)
        rows /= counts.n_objects;
    if (self->catalog != NULL && (constants[0] != NULL || constants[2] != NULL)) {
        guint64 n = self->catalog->count_quads(self->catalog->data, constants[0], constants[1], constants[2], PROBE_CAP);

        if (n < PROBE_CAP || rows < (double) n)
            rows = (double) n;
        if (s && constants[0] == NULL)
            rows /= counts.n_subjects;
        if (o && constants[2] == NULL)
            rows /= counts.n_objects;
    }
    return rows;
}

static double
estimate_path(QdGenerator *self, const QdTriple *triple, const QdVariableSet *bound)
{
    gboolean ends = is_bound(self, &triple->s, bound) || is_bound(self, &triple->o, bound);

    if (triple->path->kind == QD_PATH_ALTERNATIVE || triple->path->kind == QD_PATH_NEGATED)
        return ends ? 10 : (self->catalog != NULL ? (double) self->catalog->n_quads : GUESSED_QUADS);
    return ends ? 20 : UNSEEDED_PATH;
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

static double
estimate(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    switch (node->kind) {
    case QD_ALGEBRA_TRIPLE:
        return estimate_triple(self, node->triple, bound);
    case QD_ALGEBRA_PATH:
        return estimate_path(self, node->triple, bound);
    case QD_ALGEBRA_VALUES:
        return node->values->n_rows;
    case QD_ALGEBRA_UNIT:
        return 1;
    default: /* no number is known of the others */
        return shares(&node->possible, bound) ? GUESSED_ROWS / 10 : GUESSED_ROWS;
    }
}

void
qd_join_order(QdGenerator *self, const QdAlgebra **children, guint n, const QdVariableSet *bound)
{
    QdVariableSet known = { 0 };

    if (bound != NULL)
        qd_variable_set_add_all(&known, self->arena, bound);
    for (guint i = 0; i < n; i++) {
        const QdAlgebra *chosen;
        double best = 0;
        guint best_index = i;

        for (guint j = i; j < n; j++) {
            double rows = estimate(self, children[j], &known);

            /* a part that shares nothing multiplies everything: it waits unless it is tiny */
            if (i > 0 && rows > 1 && !shares(&children[j]->possible, &known))
                rows *= 1000;
            if (j == i || rows < best) {
                best = rows;
                best_index = j;
            }
        }
        chosen = children[best_index];
        children[best_index] = children[i];
        children[i] = chosen;
        qd_variable_set_add_all(&known, self->arena, &chosen->possible);
        g_string_append_printf(self->notes, "%s%.4g", i == 0 ? "join" : " ⋈ ", best);
    }
    g_string_append_c(self->notes, '\n');
}
