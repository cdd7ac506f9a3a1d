/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patterns of which several variables are asked for. A way leads from one to another. Patterns with circles, with more such
 * variables, or with one that an OPTIONAL may leave unbound, are walks.
 *
 * A walk goes to variables that are asked for, to those between them, and along circles. What else is at a variable is a number for
 * each of its values, as in other tallies. The variables get an order in which few values are looked at.
 */
#include "daemon/plan/tally/sqlgen-tally.h"

/* --- two variables ---------------------------------------------------------------------------------------------------- */

#define WAY_MAX 8 /* steps: QD_TALLY_STEPS_MAX of daemon/tally */

static gboolean
is_on_way(const QdTallyScope *self, guint variable, const guint *way, guint n_steps)
{
    for (guint i = 0; i < n_steps; i++) {
        if (qd_variable_set_has(&g_array_index(self->parts, QdTallyPart, way[i]).named, variable))
            return TRUE;
    }
    return FALSE;
}

/* The parts that lead from @from to @to are used, and @way has their numbers. No variable comes twice. */
static gboolean
find_way(QdTallyScope *self, guint from, guint to, guint *way, guint *n_steps)
{
    if (from == to)
        return TRUE;
    for (guint i = 0; i < self->parts->len && *n_steps < WAY_MAX; i++) {
        QdTallyPart *part = &g_array_index(self->parts, QdTallyPart, i);
        guint next;

        if (!qd_tally_part_is_link(part) || !qd_variable_set_has(&part->named, from))
            continue;
        next = qd_node_is_variable(&part->triple->s, from) ? part->triple->o.variable : part->triple->s.variable;
        if (is_on_way(self, next, way, *n_steps))
            continue;
        part->is_used = TRUE;
        way[(*n_steps)++] = i;
        if (find_way(self, next, to, way, n_steps))
            return TRUE;
        (*n_steps)--;
        part->is_used = FALSE;
    }
    return FALSE;
}

/* What else is at @variable, to which @link leads or which it begins at. */
static gboolean
write_weights(QdTallyScope *self, guint variable, const QdTriple *link)
{
    if (qd_tally_has_more(self, variable))
        return qd_tally_write_variable(self, variable, link, qd_node_is_variable(&link->o, variable));
    g_string_append_c(self->tally->program, '.');
    return TRUE;
}

static gboolean
write_way(QdTallyScope *self, guint from, const guint *way, guint n_steps)
{
    guint variable = from;
    gboolean ok;

    for (guint i = 0; i < n_steps; i++) {
        const QdTriple *triple = g_array_index(self->parts, QdTallyPart, way[i]).triple;

        qd_variable_set_add(&self->visited, self->tally->generator->arena, triple->s.variable);
        qd_variable_set_add(&self->visited, self->tally->generator->arena, triple->o.variable);
    }
    ok = write_weights(self, from, g_array_index(self->parts, QdTallyPart, way[0]).triple);
    for (guint i = 0; i < n_steps && ok; i++) {
        const QdTriple *triple = g_array_index(self->parts, QdTallyPart, way[i]).triple;
        gboolean is_subject = qd_node_is_variable(&triple->s, variable);

        variable = is_subject ? triple->o.variable : triple->s.variable;
        ok = qd_tally_put_column(self->tally, is_subject ? 's' : 'o', triple) && write_weights(self, variable, triple);
    }
    return ok;
}

gboolean
qd_tally_write_pairs(QdTallyDraft *self, const QdAlgebra *node, const guint *roots, GPtrArray *conditions)
{
    g_autoptr(GArray) parts = g_array_new(FALSE, TRUE, sizeof(QdTallyPart));
    QdTallyScope scope = { .tally = self, .parts = parts, .conditions = conditions, .is_way = TRUE };
    guint way[WAY_MAX];
    guint n_steps = 0;
    gboolean ok;

    qd_variable_set_add(&scope.outside, self->generator->arena, roots[0]);
    qd_variable_set_add(&scope.outside, self->generator->arena, roots[1]);
    ok = qd_tally_add_parts(&scope, node) && qd_tally_check_parts(&scope, roots[0]) &&
         find_way(&scope, roots[0], roots[1], way, &n_steps) && write_way(&scope, roots[0], way, n_steps);
    for (guint i = 0; i < parts->len && ok; i++)
        ok = g_array_index(parts, QdTallyPart, i).is_used;
    return ok;
}

/* --- walks ------------------------------------------------------------------------------------------------------------ */

#define LEVELS_MAX 16      /* QD_TALLY_LEVELS_MAX, QD_TALLY_LINKS_MAX and QD_TALLY_ASKED_MAX of daemon/tally */
#define LINKS_MAX 4        /* of one variable */
#define ROW_EFFORT 8       /* a row for SQLite takes as long as so many values */
#define SMALL_SHARE 0.0625 /* few */
#define SELECTIVE_SHARE 0.5
#define STEPS_A_QUAD 16 /* values are looked at while a join looks at a quad */

typedef struct Link {
    const QdTriple *triple;
    double n_quads, n_subjects, n_objects;
    guint open; /* the variable that it may leave unbound; G_MAXUINT: none */
    gboolean is_pruned;
} Link;

typedef struct Walk {
    QdTallyScope *scope;
    const QdAlgebra *pattern;
    const guint *roots;
    guint n_roots;
    GArray *links;            /* Link */
    guint levels[LEVELS_MAX]; /* variables, in their order */
    guint n_levels;
} Walk;

static Link *
get_link(const Walk *self, guint i)
{
    return &g_array_index(self->links, Link, i);
}

static gboolean
is_root(const Walk *self, guint variable)
{
    return qd_tally_has_variable(self->roots, self->n_roots, variable);
}

/* The end of @triple that is not @variable; G_MAXUINT: @variable is no end of it. */
static guint
get_other(const QdTriple *triple, guint variable)
{
    if (qd_node_is_variable(&triple->s, variable))
        return triple->o.variable;
    return qd_node_is_variable(&triple->o, variable) ? triple->s.variable : G_MAXUINT;
}

/* --- what is walked --------------------------------------------------------------------------------------------------- */

static gboolean
add_link(Walk *self, const QdTriple *triple, guint open)
{
    const QdCatalog *catalog = self->scope->tally->generator->catalog;
    Link link = { .triple = triple, .open = open };
    QdPredicateStatistics statistics = { 0 };

    if (triple->p.kind != QD_NODE_TERM)
        return FALSE;
    (void) catalog->get_predicate(catalog->data, triple->p.term, &statistics);
    link.n_quads = (double) MAX(statistics.n_quads, 1);
    link.n_subjects = (double) MAX(statistics.n_subjects, 1);
    link.n_objects = (double) MAX(statistics.n_objects, 1);
    g_array_append_val(self->links, link);
    return TRUE;
}

/* Whether no part but @index names @variable. */
static gboolean
is_alone(const QdTallyScope *scope, guint index, guint variable)
{
    for (guint i = 0; i < scope->parts->len; i++) {
        if (i != index && qd_variable_set_has(&g_array_index(scope->parts, QdTallyPart, i).named, variable))
            return FALSE;
    }
    return TRUE;
}

/* An OPTIONAL of one triple whose other variable is asked for. */
static gboolean
add_optional(Walk *self, guint index)
{
    QdTallyPart *part = &g_array_index(self->scope->parts, QdTallyPart, index);
    const QdTriple *triple = part->node->kind == QD_ALGEBRA_TRIPLE ? part->node->triple : NULL;
    guint other = triple != NULL ? get_other(triple, part->at) : G_MAXUINT;

    if (triple == NULL || triple->s.kind != QD_NODE_VARIABLE || triple->o.kind != QD_NODE_VARIABLE || other == part->at ||
        !is_root(self, other))
        return TRUE;
    part->is_used = part->is_level = TRUE;
    return is_alone(self->scope, index, other) && add_link(self, triple, other);
}

/* How many links are left at @variable. */
static guint
count_links(const Walk *self, guint variable, guint *ret_last)
{
    guint n = 0;

    for (guint i = 0; i < self->links->len; i++) {
        if (!get_link(self, i)->is_pruned && get_other(get_link(self, i)->triple, variable) != G_MAXUINT) {
            *ret_last = i;
            n++;
        }
    }
    return n;
}

/* Which part of the values of @variable triples with constants leave; most count as all. */
static double
get_share(const Walk *self, guint variable)
{
    double n_left = qd_tally_estimate_values(self->scope->tally->generator, self->pattern, variable);
    double n_all = G_MAXDOUBLE;

    for (guint i = 0; i < self->links->len; i++) {
        const Link *link = get_link(self, i);

        if (link->open == G_MAXUINT && get_other(link->triple, variable) != G_MAXUINT)
            n_all = MIN(n_all, qd_node_is_variable(&link->triple->o, variable) ? link->n_objects : link->n_subjects);
    }
    return n_left < SELECTIVE_SHARE * n_all ? n_left / n_all : 1;
}

/* Links to variables that nothing else needs are left to the numbers of the variable where they begin. The walk may rather begin
 * with few values. */
static void
prune(Walk *self)
{
    gboolean is_changed;

    do {
        is_changed = FALSE;
        for (guint i = 0; i < self->links->len; i++) {
            Link *link = get_link(self, i);
            const guint ends[] = { link->triple->s.variable, link->triple->o.variable };
            guint last;

            for (guint k = 0; k < G_N_ELEMENTS(ends) && !link->is_pruned && link->open == G_MAXUINT; k++) {
                if (!is_root(self, ends[k]) && count_links(self, ends[k], &last) == 1 && get_share(self, ends[k]) > SMALL_SHARE)
                    is_changed = link->is_pruned = TRUE;
            }
        }
    } while (is_changed);
    for (guint i = self->links->len; i > 0; i--) {
        if (get_link(self, i - 1)->is_pruned)
            g_array_remove_index(self->links, i - 1);
    }
}

static gboolean
find_links(Walk *self)
{
    QdTallyScope *scope = self->scope;

    for (guint i = 0; i < scope->parts->len; i++) {
        const QdTallyPart *part = &g_array_index(scope->parts, QdTallyPart, i);

        if (part->kind == QD_TALLY_PART_OPTIONAL && !add_optional(self, i))
            return FALSE;
        if (qd_tally_part_is_link(part) && !add_link(self, part->triple, G_MAXUINT))
            return FALSE;
    }
    prune(self);
    for (guint i = 0; i < scope->parts->len; i++) {
        QdTallyPart *part = &g_array_index(scope->parts, QdTallyPart, i);

        for (guint k = 0; k < self->links->len && qd_tally_part_is_link(part); k++)
            part->is_used = part->triple == get_link(self, k)->triple;
    }
    return self->links->len > 0;
}

/* --- their order ------------------------------------------------------------------------------------------------------ */

static gboolean
has_level(const Walk *self, guint variable)
{
    return qd_tally_has_variable(self->levels, self->n_levels, variable);
}

/* How many values of @variable there are for each combination of those that have a level. FALSE: nothing leads to it. */
static gboolean
estimate_level(const Walk *self, guint variable, double *ret_n)
{
    double n = 0;
    guint n_links = 0;

    for (guint i = 0; i < self->links->len; i++) {
        const Link *link = get_link(self, i);
        gboolean to_object = qd_node_is_variable(&link->triple->o, variable);
        guint from = get_other(link->triple, variable);
        double n_values = to_object ? link->n_quads / link->n_subjects : link->n_quads / link->n_objects;
        double n_all = to_object ? link->n_objects : link->n_subjects;

        if (from == G_MAXUINT || !has_level(self, from))
            continue;
        if (link->open != G_MAXUINT)
            n_values = MAX(n_values, 1);
        n = n_links == 0 ? n_values : MIN(n, n_values) * MIN(1, MAX(n, n_values) / n_all);
        n_links++;
    }
    *ret_n = n * get_share(self, variable);
    return n_links > 0 && n_links <= LINKS_MAX;
}

/* The next level: the variable with the fewest values. FALSE: nothing leads to any. */
static gboolean
add_level(Walk *self, double *n)
{
    guint best = G_MAXUINT;
    double best_n = 0;

    for (guint i = 0; i < self->links->len && self->n_levels < LEVELS_MAX; i++) {
        const QdTriple *triple = get_link(self, i)->triple;
        const guint ends[] = { triple->s.variable, triple->o.variable };

        for (guint k = 0; k < G_N_ELEMENTS(ends); k++) {
            double own;

            if (has_level(self, ends[k]) || !estimate_level(self, ends[k], &own))
                continue;
            if (best == G_MAXUINT || own < best_n || (own == best_n && is_root(self, ends[k]) && !is_root(self, best))) {
                best = ends[k];
                best_n = own;
            }
        }
    }
    if (best == G_MAXUINT)
        return FALSE;
    self->levels[self->n_levels++] = best;
    *n *= best_n;
    return TRUE;
}

static gboolean
is_open(const Walk *self, guint variable)
{
    for (guint i = 0; i < self->links->len; i++) {
        if (get_link(self, i)->open == variable)
            return TRUE;
    }
    return FALSE;
}

static guint
count_variables(const Walk *self)
{
    QdVariableSet all = { 0 };
    guint n = 0;

    for (guint i = 0; i < self->links->len; i++) {
        qd_variable_set_add(&all, self->scope->tally->generator->arena, get_link(self, i)->triple->s.variable);
        qd_variable_set_add(&all, self->scope->tally->generator->arena, get_link(self, i)->triple->o.variable);
    }
    QD_VARIABLE_SET_FOREACH(&all, variable)
    {
        n += variable != G_MAXUINT ? 1 : 0;
    }
    return n;
}

/* All levels from @first on. Returns: how many values are looked at; -1: not all variables can have a level */
static double
order_from(Walk *self, guint first, double n_first)
{
    double n = n_first;
    double effort = n;
    double n_rows = n;

    self->n_levels = 0;
    self->levels[self->n_levels++] = first;
    while (add_level(self, &n)) {
        effort += n;
        if (is_root(self, self->levels[self->n_levels - 1]))
            n_rows = n;
    }
    return self->n_levels == count_variables(self) ? effort + (self->n_roots > 0 ? ROW_EFFORT * n_rows : 0) : -1;
}

/* Whether a link that is no OPTIONAL has @variable. */
static gboolean
has_sure_link(const Walk *self, guint variable)
{
    for (guint i = 0; i < self->links->len; i++) {
        if (get_link(self, i)->open == G_MAXUINT && get_other(get_link(self, i)->triple, variable) != G_MAXUINT)
            return TRUE;
    }
    return FALSE;
}

/* The best of all orders that begin at a variable each. */
static gboolean
find_order(Walk *self)
{
    guint best = G_MAXUINT;
    double best_n = 0;
    double least = 0;

    for (guint i = 0; i < 2 * self->links->len; i++) {
        const Link *link = get_link(self, i / 2);
        guint first = i % 2 == 0 ? link->triple->s.variable : link->triple->o.variable;
        double n = i % 2 == 0 ? link->n_subjects : link->n_objects;
        gboolean is_begin = !is_open(self, first) && (link->open == G_MAXUINT || !has_sure_link(self, first));
        double effort;

        n *= get_share(self, first);
        effort = is_begin ? order_from(self, first, n) : -1;
        if (effort >= 0 && (best == G_MAXUINT || effort < least)) {
            best = first;
            best_n = n;
            least = effort;
        }
    }
    if (best == G_MAXUINT)
        return FALSE;
    (void) order_from(self, best, best_n);
    self->scope->tally->begins_with_few = get_share(self, best) <= SMALL_SHARE;
    self->scope->tally->n_pairs += least / STEPS_A_QUAD;
    return TRUE;
}

/* --- the program ------------------------------------------------------------------------------------------------------ */

/* The number of the level of @variable, if it is below @end; else G_MAXUINT. */
static guint
find_level(const Walk *self, guint variable, guint end)
{
    for (guint i = 0; i < end; i++) {
        if (self->levels[i] == variable)
            return i;
    }
    return G_MAXUINT;
}

static gboolean
write_level(Walk *self, guint index)
{
    QdTallyDraft *tally = self->scope->tally;
    guint variable = self->levels[index];
    const QdTriple *last = NULL;

    for (guint i = 0; i < self->links->len; i++) {
        const Link *link = get_link(self, i);
        guint from = find_level(self, get_other(link->triple, variable), index);

        if (from == G_MAXUINT)
            continue;
        if (link->open != G_MAXUINT)
            g_string_append_c(tally->program, '~');
        g_string_append_printf(tally->program, "%c%c", qd_node_is_variable(&link->triple->o, variable) ? 's' : 'o',
                               'A' + (int) from);
        if (!qd_tally_put_predicate(tally, link->triple))
            return FALSE;
        last = link->triple;
    }
    if (qd_tally_has_more(self->scope, variable))
        return qd_tally_write_variable(self->scope, variable, last, qd_node_is_variable(&last->o, variable));
    g_string_append_c(tally->program, '.');
    return TRUE;
}

/* The values of the first variable come from one of its links where nothing else has them. */
static gboolean
write_levels(Walk *self)
{
    QdTallyScope *scope = self->scope;
    const QdTriple *link = NULL;
    gboolean ok;

    for (guint i = 0; i < self->n_levels; i++)
        qd_variable_set_add(&scope->visited, scope->tally->generator->arena, self->levels[i]);
    for (guint i = 0; i < self->links->len; i++) {
        if (get_link(self, i)->open == G_MAXUINT && get_other(get_link(self, i)->triple, self->levels[0]) != G_MAXUINT)
            link = get_link(self, i)->triple;
    }
    ok = qd_tally_write_variable(scope, self->levels[0], link, link != NULL && qd_node_is_variable(&link->o, self->levels[0]));
    for (guint i = 1; i < self->n_levels && ok; i++)
        ok = write_level(self, i);
    return ok;
}

/* What is asked for, after its levels. */
static gboolean
write_asked(Walk *self, const char **ret_columns, gboolean *ret_open)
{
    static const char *const columns[] = { "other", "third", "fourth", "fifth", "sixth" };
    guint n_asked = 0;

    g_string_append_c(self->scope->tally->program, '=');
    for (guint i = 0; i < self->n_roots; i++) {
        guint level = find_level(self, self->roots[i], self->n_levels);

        if (level == G_MAXUINT || (level > 0 && n_asked == G_N_ELEMENTS(columns)))
            return FALSE;
        ret_open[i] = is_open(self, self->roots[i]);
        ret_columns[i] = level == 0 ? "value" : columns[n_asked++];
        if (level > 0)
            g_string_append_c(self->scope->tally->program, (char) ('A' + level));
    }
    return TRUE;
}

gboolean
qd_tally_write_walk(QdTallyDraft *self, const QdAlgebra *node, const guint *roots, guint n_roots, GPtrArray *conditions,
                    const char **ret_columns, gboolean *ret_open)
{
    g_autoptr(GArray) parts = g_array_new(FALSE, TRUE, sizeof(QdTallyPart));
    g_autoptr(GArray) links = g_array_new(FALSE, TRUE, sizeof(Link));
    QdTallyScope scope = { .tally = self, .parts = parts, .conditions = conditions, .is_way = TRUE };
    Walk walk = { .scope = &scope, .pattern = node, .roots = roots, .n_roots = n_roots, .links = links };
    gboolean ok;

    for (guint i = 0; i < n_roots; i++)
        qd_variable_set_add(&scope.outside, self->generator->arena, roots[i]);
    ok = qd_tally_add_parts(&scope, node) && find_links(&walk) && find_order(&walk) &&
         qd_tally_check_parts(&scope, n_roots > 0 ? roots[0] : walk.levels[0]) && write_levels(&walk) &&
         write_asked(&walk, ret_columns, ret_open);
    for (guint i = 0; i < parts->len && ok; i++)
        ok = g_array_index(parts, QdTallyPart, i).is_used;
    return ok;
}
