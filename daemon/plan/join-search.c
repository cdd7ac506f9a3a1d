/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of a join: greedy, always the part next that multiplies the rows least. Where a sample tells that even so there are
 * many rows, orders that begin otherwise are tried. What follows other parts keeps to those that it needs.
 */
#include "daemon/plan/join-private.h"

#include <math.h>
#include <string.h>

#include "daemon/plan/sample-private.h"

#define APART_MIN 1000        /* rows of a path that shares nothing with what is there, at least */
#define WINDOW 300            /* parts compared for each place: a text has at most so much order to lose */
#define CHEAP 20000.0         /* rows that an order may make before another is looked for: 30 ms */
#define TRIED_LISTS_MAX 20000 /* look-ups with which another is looked for: 0.1 s */
#define TRIED_LISTS_MIN 1000
#define TRIED_SHARE 0.04 /* look-ups for each row of an order: a tenth of the time that it takes */
#define LAST 1e15
#define UNKNOWN_WORK 20.0 /* solutions that a part looks at, if nothing is known */

/* Whether estimates may be far off: of a join with a path, before which nothing is bound, or what a sample tells. */
static gboolean
needs_sample(const QdGenerator *self, const QdAlgebra **children, guint n, gboolean is_first, QdJoinDepth depth)
{
    if (n < 2 || n > WHOLE_PARTS_MAX || !depth.counts || (!is_first && (self->samples == NULL || self->samples->context == NULL)))
        return FALSE;
    for (guint i = 0; i < n; i++) {
        if (children[i]->follows || qd_algebra_has_path(children[i]))
            return TRUE;
    }
    return FALSE;
}

/*
 * Whether the item @candidate may come before all others of @items (of @n) from @first on, when all solutions bind @certain. What
 * follows others needs what they all bound where it was written; with parts that name its other variables it keeps its order.
 */
static gboolean
may_come_next(const QdJoinItem *items, guint first, guint n, guint candidate, const QdVariableSet *certain)
{
    const QdJoinItem *item = &items[candidate];

    QD_VARIABLE_SET_FOREACH(&item->needed, variable)
    {
        if (!qd_variable_set_has(certain, variable))
            return FALSE;
    }
    for (guint i = first; i < n; i++) {
        if (items[i].index < item->index &&
            (qd_variable_set_shares(&items[i].fixed, &item->named) || qd_variable_set_shares(&item->fixed, &items[i].named)))
            return FALSE;
    }
    return TRUE;
}

/* Sets what each item that follows others needs of them. */
static void
set_needs(QdGenerator *self, QdJoinItem *items, guint n)
{
    QdJoinKnown known = { 0 };

    for (guint i = 0; i < n; i++) {
        QdJoinItem *item = &items[i];

        QD_VARIABLE_SET_FOREACH(&item->named, variable)
        {
            if (item->node->follows)
                qd_variable_set_add(qd_variable_set_has(&known.sure, variable) ? &item->needed : &item->fixed, self->arena,
                                    variable);
        }
        qd_join_known_add(self, &known, item->node);
    }
}

/* A join to be ordered. */
typedef struct Join {
    QdGenerator *generator;
    QdJoinItem *items; /* as they are written */
    guint n;
    QdJoinKnown before;
    gboolean has_steps; /* parts that follow others */
    gboolean is_sampled;
    gboolean is_first;  /* nothing is bound before */
    GHashTable *counts; /* (nullable): a set of parts → double, the most rows that an order found them to have */
} Join;

/* An order of a join, as far as it is made. */
typedef struct Order {
    QdJoinItem *items;
    double *rows;      /* how many each multiplies those before it by */
    double *looked_at; /* solutions of its own parts for each of those */
    QdJoinKnown known;
    QdJoinKnown own; /* without what is before the join */
    QdSample *sample;
    guint64 set;   /* all so far, by their indexes; with `counts` */
    double n_rows; /* of these */
    double cost;   /* of that after each part the sum, without the last, which all orders have; and of what was looked at in vain */
} Order;

/* Whether @node is a path from a constant, of which statistics tell nothing. */
static gboolean
begins_by_itself(const QdAlgebra *node)
{
    return node->kind == QD_ALGEBRA_PATH && (node->triple->s.kind == QD_NODE_TERM || node->triple->o.kind == QD_NODE_TERM);
}

/* Whether @node is searched for each row before it, though it may share nothing with them. */
static gboolean
is_searched_by_row(const QdAlgebra *node)
{
    return node->kind == QD_ALGEBRA_PATH ? !begins_by_itself(node) : node->kind == QD_ALGEBRA_UNION && qd_algebra_has_path(node);
}

/* Rows of the item @index for each that is there, by those of the sample if it can tell. */
static double
estimate_next(const Join *join, Order *self, guint first, guint index)
{
    QdJoinItem *item = &self->items[index];
    double n_rows;

    if (self->sample != NULL && !item->is_sampled && (first > 0 || !join->is_first || begins_by_itself(item->node))) {
        item->is_known = qd_sample_count(self->sample, item->node, &item->sampled);
        item->is_sampled = TRUE;
    }
    if (item->is_known)
        return item->sampled.n_usual;
    n_rows = qd_join_item_estimate(join->generator, item, &self->known);
    return self->sample != NULL && first == 0 && join->is_first && item->node->n_children > 0 && !item->node->follows
               ? MAX(n_rows, item->n_whole)
               : n_rows;
}

/* The item that comes at the place @first, and in @ret_rows what it multiplies by. */
static guint
choose_next(const Join *join, Order *self, guint first, double *ret_rows)
{
    guint n = join->has_steps ? join->n : MIN(join->n, first + WINDOW);
    guint found = G_MAXUINT;
    double best = 0;

    *ret_rows = 0;
    for (guint i = first; i < n; i++) {
        const QdJoinItem *item = &self->items[i];
        double n_multiplied, n_rows;

        if (join->has_steps && !may_come_next(self->items, first, join->n, i, &self->own.sure))
            continue;
        n_rows = n_multiplied = estimate_next(join, self, first, i);
        /* a part that shares nothing multiplies everything: it waits unless it is tiny. What is searched never is: a path has
         * every node, and what an empty store says of it does not hold for long */
        if (first > 0 && !qd_variable_set_shares(&item->named, &self->known.possible)) {
            n_rows *= n_rows > 1 ? 1000 : 1;
            if (is_searched_by_row(item->node))
                n_rows = MAX(n_rows, APART_MIN);
        }
        if (first == 0 && item->node->follows)
            n_rows *= LAST; /* only if it must */
        if (found == G_MAXUINT || n_rows < best) {
            best = n_rows;
            *ret_rows = n_multiplied;
            found = i;
        }
    }
    return found;
}

/*
 * @factor, by which the part just taken multiplies the rows, or more: where another order found more rows of the same parts. Of
 * two samples the one that has not met what has many is wrong.
 */
static double
correct(const Join *join, const Order *self, double factor)
{
    double *most;

    if (join->counts == NULL || self->n_rows <= 0)
        return factor;
    most = g_hash_table_lookup(join->counts, &self->set);
    if (most == NULL) {
        guint64 *set = g_new(guint64, 1);

        *set = self->set;
        most = g_new0(double, 1);
        g_hash_table_insert(join->counts, set, most);
    }
    *most = MAX(*most, self->n_rows * factor);
    return *most / self->n_rows;
}

/* Puts the item @index at the place @first. */
static void
take(const Join *join, Order *self, guint first, guint index, double n_rows)
{
    QdJoinItem chosen = self->items[index];
    double n_mean = -1;

    self->items[index] = self->items[first];
    self->items[first] = chosen;
    qd_join_known_add(join->generator, &self->known, chosen.node);
    if (join->has_steps)
        qd_join_known_add(join->generator, &self->own, chosen.node);
    if (self->sample != NULL)
        n_mean = qd_sample_extend(self->sample, chosen.node, first == 0 && join->is_first);
    for (guint i = first + 1; i < join->n && self->sample != NULL; i++) {
        if (qd_variable_set_shares(&self->items[i].named, &chosen.named))
            self->items[i].is_sampled = self->items[i].is_known = FALSE;
    }
    if (chosen.is_known)
        self->cost += self->n_rows * MAX(0, chosen.sampled.n_looked_at - chosen.sampled.n_mean);
    self->rows[first] = chosen.is_known && n_mean >= 0 ? n_mean : n_rows;
    if (join->counts != NULL)
        self->set |= G_GUINT64_CONSTANT(1) << chosen.index;
    self->looked_at[first] = chosen.is_known ? chosen.sampled.n_looked_at : UNKNOWN_WORK;
    self->rows[first] = correct(join, self, self->rows[first]);
    self->n_rows *= self->rows[first];
    if (first + 1 < join->n)
        self->cost += self->n_rows;
}

/* An order without parts, or a copy of @from (nullable). Its sample is freed by the caller. */
static Order
make_order(const Join *join, const Order *from)
{
    QdGenerator *generator = join->generator;
    Order self = { .items = qd_arena_array0(generator->arena, QdJoinItem, join->n),
                   .rows = qd_arena_array0(generator->arena, double, join->n),
                   .looked_at = qd_arena_array0(generator->arena, double, join->n),
                   .n_rows = 1 };

    if (join->n > 0)
        memcpy(self.items, from != NULL ? from->items : join->items, join->n * sizeof(QdJoinItem));
    qd_variable_set_add_all(&self.known.possible, generator->arena, &(from != NULL ? &from->known : &join->before)->possible);
    qd_variable_set_add_all(&self.known.sure, generator->arena, &(from != NULL ? &from->known : &join->before)->sure);
    self.known.is_careful = join->before.is_careful;
    if (from == NULL) {
        if (join->is_sampled)
            self.sample = join->is_first ? qd_sample_new(generator)
                                         : qd_sample_copy_known(generator->samples->context, &join->before.possible);
        return self;
    }
    if (join->n > 0) {
        memcpy(self.rows, from->rows, join->n * sizeof(double));
        memcpy(self.looked_at, from->looked_at, join->n * sizeof(double));
    }
    qd_variable_set_add_all(&self.own.possible, generator->arena, &from->own.possible);
    qd_variable_set_add_all(&self.own.sure, generator->arena, &from->own.sure);
    self.sample = from->sample != NULL ? qd_sample_copy(from->sample) : NULL;
    self.set = from->set;
    self.n_rows = from->n_rows;
    self.cost = from->cost;
    return self;
}

/* Takes the items from @first on as they come next. FALSE: the order costs @cost_max or more. */
static gboolean
complete(const Join *join, Order *self, guint first, double cost_max)
{
    for (guint i = first; i < join->n; i++) {
        double n_rows;
        guint index = choose_next(join, self, i, &n_rows);

        take(join, self, i, index, n_rows);
        if (self->cost >= cost_max)
            return FALSE;
    }
    return TRUE;
}

/* Whether the item @index of @self may come at the place @first instead of the one that has the fewest rows. */
static gboolean
may_try(const Join *join, const Order *self, guint first, guint index)
{
    if (!may_come_next(self->items, first, join->n, index, &self->own.sure))
        return FALSE;
    return first == 0 ? !self->items[index].node->follows
                      : qd_variable_set_shares(&self->items[index].named, &self->known.possible);
}

/* Makes @best the order that goes on after @start with its item @index, if that costs less. */
static gboolean
try_next(const Join *join, Order *start, guint first, guint index, Order *best)
{
    double cost_max = best->cost * QD_JOIN_GAIN;
    double n_rows = estimate_next(join, start, first, index);
    gboolean is_better;
    Order order;

    if (start->cost + start->n_rows * n_rows >= cost_max)
        return FALSE;
    order = make_order(join, start);
    take(join, &order, first, index, n_rows);
    is_better = order.cost < cost_max && complete(join, &order, first + 1, cost_max);
    g_clear_pointer(&order.sample, qd_sample_free);
    if (is_better)
        *best = order;
    return is_better;
}

/* Makes @best a cheaper order if one is found that differs from it at a place and goes on with what has the fewest rows. */
static void
improve(const Join *join, Order *best)
{
    guint n_lists_max = qd_samples_get_n_lists(join->generator) +
                        (guint) CLAMP(best->cost * TRIED_SHARE, TRIED_LISTS_MIN, TRIED_LISTS_MAX);
    Order start = make_order(join, NULL);

    for (guint first = 0; first + 1 < join->n && best->cost > CHEAP; first++) {
        guint index = G_MAXUINT;
        double n_rows;

        for (guint i = first; i < join->n && best->cost > CHEAP; i++) {
            if (qd_samples_get_n_lists(join->generator) >= n_lists_max)
                break;
            if (start.items[i].index != best->items[first].index && may_try(join, &start, first, i))
                (void) try_next(join, &start, first, i, best);
        }
        for (guint i = first; i < join->n; i++)
            index = start.items[i].index == best->items[first].index ? i : index;
        n_rows = estimate_next(join, &start, first, index);
        take(join, &start, first, index, n_rows);
    }
    g_clear_pointer(&start.sample, qd_sample_free);
}

/* An order that was found for parts before which nothing is bound. */
typedef struct QdJoinFound {
    const QdAlgebra **children; /* as they were given */
    guint n;
    QdJoinDepth depth;
    const QdAlgebra **order;
    QdJoinResult result; /* with all of it */
    double n_rows;
} QdJoinFound;

static guint
found_hash(gconstpointer data)
{
    const QdJoinFound *found = data;
    guint hash = found->depth.n_levels + (found->depth.counts ? 1000 : 0);

    for (guint i = 0; i < found->n; i++)
        hash = hash * 31 + g_direct_hash(found->children[i]);
    return hash;
}

static gboolean
found_equal(gconstpointer a, gconstpointer b)
{
    const QdJoinFound *x = a;
    const QdJoinFound *y = b;

    return x->n == y->n && x->depth.n_levels == y->depth.n_levels && x->depth.counts == y->depth.counts &&
           memcmp(x->children, y->children, x->n * sizeof(const QdAlgebra *)) == 0;
}

/* Searches for the order of @children. */
static QdJoinFound *
search(QdGenerator *self, const QdAlgebra **children, guint n, const QdJoinKnown *before, QdJoinDepth depth)
{
    g_autoptr(GHashTable) counts = NULL;
    QdJoinFound *found = qd_arena_new0(self->arena, QdJoinFound);
    Join join = { .generator = self, .items = qd_arena_array0(self->arena, QdJoinItem, n), .n = n };
    Order best;

    join.is_first = before == NULL || qd_variable_set_is_empty(&before->possible);
    if (before != NULL)
        join.before = *before;
    join.is_sampled = needs_sample(self, children, n, join.is_first, depth);
    for (guint i = 0; i < n; i++) {
        join.items[i] = qd_join_item_make(self, children[i], &join.before, depth);
        join.items[i].index = i;
        if (join.is_sampled && children[i]->kind == QD_ALGEBRA_TRIPLE && join.items[i].n_probed >= QD_PLAN_PROBE_CAP)
            join.items[i].n_probed = qd_sample_count_quads(self, children[i]->triple);
        qd_part_add_named(self, children[i], &join.items[i].named);
        join.has_steps = join.has_steps || children[i]->follows;
        join.before.is_careful = join.before.is_careful || qd_algebra_has_path(children[i]);
    }
    if (join.has_steps)
        set_needs(self, join.items, n);
    if (join.is_sampled) /* of WHOLE_PARTS_MAX parts at most */
        join.counts = counts = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    best = make_order(&join, NULL);
    (void) complete(&join, &best, 0, INFINITY);
    g_clear_pointer(&best.sample, qd_sample_free);
    if (join.is_sampled && best.cost > CHEAP)
        improve(&join, &best);
    *found = (QdJoinFound){ .n = n, .depth = depth, .n_rows = best.n_rows };
    found->children = qd_arena_array0(self->arena, const QdAlgebra *, n);
    found->order = qd_arena_array0(self->arena, const QdAlgebra *, n);
    for (guint i = 0; i < n; i++) {
        found->children[i] = children[i];
        found->order[i] = best.items[i].node;
    }
    found->result = (QdJoinResult){ best.rows, best.looked_at, best.cost + (n > 0 ? best.n_rows : 0) };
    return found;
}

double
qd_join_search(QdGenerator *self, const QdAlgebra **children, guint n, const QdJoinKnown *before, QdJoinDepth depth,
               QdJoinResult *result)
{
    const QdJoinFound key = { .children = children, .n = n, .depth = depth };
    gboolean is_first = before == NULL || qd_variable_set_is_empty(&before->possible);
    GHashTable *orders = is_first && self->samples != NULL ? self->samples->orders : NULL;
    QdJoinFound *found = orders != NULL ? g_hash_table_lookup(orders, &key) : NULL;

    if (found == NULL) {
        found = search(self, children, n, before, depth);
        if (is_first && self->samples != NULL) {
            if (self->samples->orders == NULL)
                self->samples->orders = g_hash_table_new(found_hash, found_equal);
            g_hash_table_add(self->samples->orders, found);
        }
    }
    for (guint i = 0; i < n; i++) {
        children[i] = found->order[i];
        if (result->rows != NULL)
            result->rows[i] = found->result.rows[i];
        if (result->looked_at != NULL)
            result->looked_at[i] = found->result.looked_at[i];
    }
    result->cost = found->result.cost;
    return found->n_rows;
}
