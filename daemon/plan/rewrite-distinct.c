/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patterns under DISTINCT. A part of which only some ends are named elsewhere is a condition on these: that it has a solution. A
 * path that repeats has one where its first step has, and one of no length has one at each node. Several parts that lead nowhere
 * together are an EXISTS.
 */
#include <string.h>

#include "daemon/plan/sqlgen-private.h"

#define HANGING_PARTS_MAX 20   /* of a join that is looked through: each is compared with all others, for each variable */
#define HANGING_ROWS_MIN 1000  /* solutions of a join, below which repeated ones do no harm */
#define HANGING_FACTOR_MIN 2.0 /* by which parts that lead nowhere multiply the solutions of the others */

/* Variables that are of interest beside a part: those that are projected, and those of all other parts. */
static QdVariableSet
list_named(QdGenerator *self, const QdAlgebra *join, guint without, const QdVariableSet *projected)
{
    QdVariableSet named = { 0 };

    qd_variable_set_add_all(&named, self->arena, projected);
    for (guint i = 0; i < join->n_children; i++) {
        if (i != without)
            qd_variable_set_add_all(&named, self->arena, &join->children[i]->possible);
    }
    return named;
}

/* Whether @node is a variable that nothing else names. */
static gboolean
is_own(QdGenerator *self, const QdNode *node, const QdVariableSet *named)
{
    return node->kind == QD_NODE_VARIABLE && !qd_variable_set_has(named, node->variable) &&
           qd_generator_find_value(self, node->variable).text == NULL;
}

/* Whether @triple, a path, leads from what is named to a variable of its own, or from one. */
static gboolean
leads_nowhere(QdGenerator *self, const QdTriple *triple, const QdVariableSet *named)
{
    return is_own(self, &triple->s, named) != is_own(self, &triple->o, named);
}

/* @node with one step for each path that repeats and leads nowhere; @node itself where there is none. */
static QdAlgebra *
shorten(QdGenerator *self, QdAlgebra *node, const QdVariableSet *named)
{
    g_autoptr(GPtrArray) arms = NULL;
    gboolean changed = FALSE;

    if (node->kind == QD_ALGEBRA_PATH && node->triple->path->kind == QD_PATH_ONE_OR_MORE &&
        leads_nowhere(self, node->triple, named))
        return qd_algebra_from_path(self->ast, &node->triple->s, node->triple->path->children[0], &node->triple->o);
    if (node->kind != QD_ALGEBRA_UNION)
        return node;
    arms = g_ptr_array_new();
    for (guint i = 0; i < node->n_children; i++) {
        QdAlgebra *arm = shorten(self, node->children[i], named);

        changed = changed || arm != node->children[i];
        g_ptr_array_add(arms, arm);
    }
    return changed ? qd_algebra_new_parent(self->ast, QD_ALGEBRA_UNION, (QdAlgebra **) arms->pdata, arms->len) : node;
}

static gboolean
is_variable(const QdNode *node, guint variable)
{
    return node->kind == QD_NODE_VARIABLE && node->variable == variable;
}

/* Whether another part of @join, not @dropped, binds @variable to nodes of the graph alone. A predicate need not be one. */
static gboolean
is_node(const QdAlgebra *join, guint without, const gboolean *dropped, guint variable)
{
    for (guint i = 0; i < join->n_children; i++) {
        const QdTriple *triple = i != without && !dropped[i] ? join->children[i]->triple : NULL;

        if (triple == NULL || !(is_variable(&triple->s, variable) || is_variable(&triple->o, variable)))
            continue;
        if (triple->path == NULL || (triple->s.kind == QD_NODE_VARIABLE && triple->o.kind == QD_NODE_VARIABLE))
            return TRUE;
    }
    return FALSE;
}

/* Whether the part @index of @join, a path that may have no length, has a solution wherever those not @dropped have one. */
static gboolean
is_superfluous(QdGenerator *self, const QdAlgebra *join, guint index, const gboolean *dropped, const QdVariableSet *named)
{
    const QdTriple *triple = join->children[index]->triple;
    const QdNode *end;

    if (join->children[index]->kind != QD_ALGEBRA_PATH || !leads_nowhere(self, triple, named) ||
        (triple->path->kind != QD_PATH_ZERO_OR_MORE && triple->path->kind != QD_PATH_ZERO_OR_ONE))
        return FALSE;
    end = is_own(self, &triple->s, named) ? &triple->o : &triple->s;
    return end->kind == QD_NODE_VARIABLE && qd_generator_find_value(self, end->variable).text == NULL &&
           is_node(join, index, dropped, end->variable);
}

/* What @part, which was shortened, is as a condition: each combination of the variables that are @named, if it has no path. */
static QdAlgebra *
list_ends(QdGenerator *self, QdAlgebra *part, const QdVariableSet *named)
{
    QdAlgebra *listed = qd_algebra_has_path(part) ? NULL : qd_rewrite_list_shared(self, named, named, part);

    return listed != NULL ? listed : part;
}

/* --- parts that lead nowhere ------------------------------------------------------------------------------------------- */

/* Parts that are joined with the others by the variables of @cut alone. */
typedef struct Hanging {
    guint64 parts; /* a bit for each */
    QdVariableSet cut;
} Hanging;

static gboolean
shares_beside(const QdAlgebra *a, const QdAlgebra *b, const QdVariableSet *cut)
{
    QD_VARIABLE_SET_FOREACH(&a->possible, variable)
    {
        if (qd_variable_set_has(&b->possible, variable) && !qd_variable_set_has(cut, variable))
            return TRUE;
    }
    return FALSE;
}

/* The part @first and all that it reaches by variables that are not in @cut. */
static guint64
find_connected(const GPtrArray *parts, guint first, const QdVariableSet *cut)
{
    guint64 found = G_GUINT64_CONSTANT(1) << first;
    guint64 done = 0;

    while (found != done) {
        guint i = (guint) __builtin_ctzll(found & ~done);

        done |= G_GUINT64_CONSTANT(1) << i;
        for (guint j = 0; j < parts->len; j++) {
            if (shares_beside(parts->pdata[i], parts->pdata[j], cut))
                found |= G_GUINT64_CONSTANT(1) << j;
        }
    }
    return found;
}

/* Whether @set, which share @cut with the others, lead to variables of their own alone, and by a path. The others bind what they
 * share. */
static gboolean
hangs(const GPtrArray *parts, guint64 set, const QdVariableSet *cut, const QdVariableSet *projected)
{
    gboolean has_path = FALSE;
    gboolean has_own = FALSE;
    gboolean shares = FALSE;

    for (guint i = 0; i < parts->len; i++) {
        const QdAlgebra *part = parts->pdata[i];

        if ((set >> i & 1) == 0)
            continue;
        has_path = has_path || qd_algebra_has_path(part);
        QD_VARIABLE_SET_FOREACH(&part->possible, variable)
        {
            gboolean is_bound = FALSE;

            if (!qd_variable_set_has(cut, variable)) {
                if (qd_variable_set_has(projected, variable) || !qd_algebra_binds(part, variable))
                    return FALSE;
                has_own = TRUE;
                continue;
            }
            for (guint j = 0; j < parts->len && !is_bound; j++)
                is_bound = (set >> j & 1) == 0 && qd_algebra_binds(parts->pdata[j], variable);
            if (!is_bound)
                return FALSE;
            shares = TRUE;
        }
    }
    return has_path && has_own && shares;
}

/* Makes @best the largest set of parts that hangs at @cut, if it is larger. */
static void
find_hanging_at(const GPtrArray *parts, const QdVariableSet *cut, const QdVariableSet *projected, Hanging *best)
{
    guint64 done = 0;

    for (guint i = 0; i < parts->len; i++) {
        guint64 set;

        if ((done >> i & 1) != 0)
            continue;
        set = find_connected(parts, i, cut);
        done |= set;
        if (__builtin_popcountll(set) > __builtin_popcountll(best->parts) && hangs(parts, set, cut, projected))
            *best = (Hanging){ set, *cut };
    }
}

/* The largest set of parts that hangs at what is projected, or at one variable. No part: there is none. */
static Hanging
find_hanging(QdGenerator *self, const GPtrArray *parts, const QdVariableSet *projected)
{
    Hanging best = { .parts = 0 };
    QdVariableSet all = { 0 };

    for (guint i = 0; i < parts->len; i++)
        qd_variable_set_add_all(&all, self->arena, &((const QdAlgebra *) parts->pdata[i])->possible);
    find_hanging_at(parts, projected, projected, &best);
    QD_VARIABLE_SET_FOREACH(&all, variable)
    {
        QdVariableSet cut = { 0 };

        qd_variable_set_add(&cut, self->arena, variable);
        find_hanging_at(parts, &cut, projected, &best);
    }
    return best;
}

/* The parts of @parts in @set, in order. */
static GPtrArray *
take_set(const GPtrArray *parts, guint64 set)
{
    GPtrArray *taken = g_ptr_array_new();

    for (guint i = 0; i < parts->len; i++) {
        if ((set >> i & 1) != 0)
            g_ptr_array_add(taken, parts->pdata[i]);
    }
    return taken;
}

static QdAlgebra *
join_parts(QdGenerator *self, const GPtrArray *parts)
{
    return parts->len == 1 ? parts->pdata[0]
                           : qd_algebra_new_parent(self->ast, QD_ALGEBRA_JOIN, (QdAlgebra **) parts->pdata, parts->len);
}

/* Whether @whole has many times the solutions of @kept, by a sample. */
static gboolean
multiplies(QdGenerator *self, const GPtrArray *whole, const GPtrArray *kept)
{
    double n_whole, n_kept;

    (void) qd_estimate_cost_of(self, (const QdAlgebra *const *) whole->pdata, whole->len, &n_whole);
    if (n_whole < HANGING_ROWS_MIN)
        return FALSE;
    (void) qd_estimate_cost_of(self, (const QdAlgebra *const *) kept->pdata, kept->len, &n_kept);
    return n_whole >= n_kept * HANGING_FACTOR_MIN;
}

/* Takes from @parts, of a join, those that lead nowhere and multiply the solutions of the others. Returns (transfer container) the
 * EXISTS that they are. */
static GPtrArray *
take_hanging(QdGenerator *self, GPtrArray **parts, const QdVariableSet *projected)
{
    GPtrArray *conditions = g_ptr_array_new();

    while (self->catalog != NULL && self->catalog->list_quads != NULL && (*parts)->len > 1 && (*parts)->len <= HANGING_PARTS_MAX) {
        Hanging hanging = find_hanging(self, *parts, projected);
        g_autoptr(GPtrArray) kept = take_set(*parts, ~hanging.parts);
        g_autoptr(GPtrArray) taken = take_set(*parts, hanging.parts);
        QdAlgebra *inside;

        if (hanging.parts == 0 || !multiplies(self, *parts, kept))
            break;
        inside = qd_rewrite_hide(self, join_parts(self, taken), &hanging.cut);
        g_ptr_array_add(conditions, qd_algebra_make_exists(self->ast, inside));
        g_ptr_array_unref(*parts);
        *parts = g_steal_pointer(&kept);
    }
    return conditions;
}

/* --- DISTINCT --------------------------------------------------------------------------------------------------------- */

/* @node, of one child, with another, which binds what is of interest to it. */
static QdAlgebra *
put_on(QdGenerator *self, const QdAlgebra *node, QdAlgebra *child)
{
    QdAlgebra *copy = qd_algebra_put_on(self, node, child);

    copy->possible = node->possible;
    return copy;
}

/* Whether no solution of @node comes twice: its parts are sets in one graph, and nothing may be unbound. */
static gboolean
is_set(const QdAlgebra *node)
{
    switch (node->kind) {
    case QD_ALGEBRA_TRIPLE:
    case QD_ALGEBRA_DISTINCT:
        return TRUE;
    case QD_ALGEBRA_PATH:
        return qd_path_is_modified(node->triple->path);
    case QD_ALGEBRA_JOIN:
        for (guint i = 0; i < node->n_children; i++) {
            if (!is_set(node->children[i]))
                return FALSE;
        }
        return TRUE;
    case QD_ALGEBRA_FILTER:
        return is_set(node->children[0]);
    default:
        return FALSE;
    }
}

/* Whether @node is distinct rows of what has no row twice: its DISTINCT does nothing. */
static gboolean
is_distinct(const QdGenerator *self, const QdAlgebra *node)
{
    const QdAlgebra *project = node->kind == QD_ALGEBRA_DISTINCT ? node->children[0] : NULL;

    if (project == NULL || project->kind != QD_ALGEBRA_PROJECT || self->graph.kind == QD_NODE_VARIABLE ||
        self->dataset->clause != NULL || !is_set(project->children[0]))
        return FALSE;
    QD_VARIABLE_SET_FOREACH(&project->children[0]->possible, variable)
    {
        if (!qd_variable_set_has(&project->possible, variable))
            return FALSE;
    }
    return TRUE;
}

/*
 * @link, p, and @repeated, p*, as p+ where nothing else names the variable between them. So no pair of ends comes twice, as it
 * would for each node between them. NULL: they are others.
 */
static QdAlgebra *
add_step(QdGenerator *self, const QdTriple *link, const QdTriple *repeated, const QdVariableSet *named)
{
    const QdPath *step = repeated->path->children[0];
    gboolean is_inverse = step->kind == QD_PATH_INVERSE;
    const QdPath *plain = is_inverse ? step->children[0] : step;
    const QdNode *begin = is_inverse ? &link->o : &link->s;
    const QdNode *end = is_inverse ? &link->s : &link->o;
    QdPath *path;

    if (repeated->path->kind != QD_PATH_ZERO_OR_MORE || plain->kind != QD_PATH_LINK || link->p.kind != QD_NODE_TERM ||
        !qd_term_equal(plain->iri, link->p.term))
        return NULL;
    path = qd_arena_new0(self->arena, QdPath);
    *path = *repeated->path;
    path->kind = QD_PATH_ONE_OR_MORE;
    if (is_own(self, end, named) && is_variable(&repeated->s, end->variable))
        return qd_algebra_from_path(self->ast, begin, path, &repeated->o);
    if (is_own(self, begin, named) && is_variable(&repeated->o, begin->variable))
        return qd_algebra_from_path(self->ast, &repeated->s, path, end);
    return NULL;
}

/* Variables that are of interest beside two parts. */
static QdVariableSet
list_named_beside(QdGenerator *self, const QdAlgebra *join, guint a, guint b, const QdVariableSet *projected)
{
    QdVariableSet named = { 0 };

    qd_variable_set_add_all(&named, self->arena, projected);
    for (guint i = 0; i < join->n_children; i++) {
        if (i != a && i != b)
            qd_variable_set_add_all(&named, self->arena, &join->children[i]->possible);
    }
    return named;
}

/* @join with such steps and repetitions as one. */
static QdAlgebra *
add_steps(QdGenerator *self, QdAlgebra *join, const QdVariableSet *projected)
{
    for (guint i = 0; i < join->n_children; i++) {
        for (guint j = 0; j < join->n_children && join->n_children <= HANGING_PARTS_MAX; j++) {
            QdVariableSet named;
            QdAlgebra *path;

            if (join->children[i]->kind != QD_ALGEBRA_TRIPLE || join->children[j]->kind != QD_ALGEBRA_PATH ||
                !qd_path_is_modified(join->children[j]->triple->path))
                continue;
            named = list_named_beside(self, join, i, j, projected);
            path = add_step(self, join->children[i]->triple, join->children[j]->triple, &named);
            if (path == NULL)
                continue;
            join = qd_algebra_new_parent(self->ast, QD_ALGEBRA_JOIN, join->children, join->n_children);
            join->children[i] = path;
            join->children[j] = join->children[join->n_children - 1];
            return add_steps(self, qd_algebra_new_parent(self->ast, QD_ALGEBRA_JOIN, join->children, join->n_children - 1),
                             projected);
        }
    }
    return join;
}

/* The parts of @join, under @project, without what only repeats solutions. */
static GPtrArray *
simplify_parts(QdGenerator *self, const QdAlgebra *join, const QdAlgebra *project)
{
    GPtrArray *parts = g_ptr_array_new();
    g_autofree gboolean *dropped = g_new0(gboolean, join->n_children);

    for (guint i = 0; i < join->n_children; i++) {
        QdVariableSet named = list_named(self, join, i, &project->possible);
        QdAlgebra *part = shorten(self, join->children[i], &named);

        dropped[i] = part == join->children[i] && is_superfluous(self, join, i, dropped, &named);
        if (!dropped[i])
            g_ptr_array_add(parts, part != join->children[i] ? list_ends(self, part, &named) : part);
    }
    return parts;
}

static gboolean
is_same(const GPtrArray *parts, const QdAlgebra *join)
{
    return parts->len == join->n_children && memcmp(parts->pdata, join->children, parts->len * sizeof(QdAlgebra *)) == 0;
}

QdAlgebra *
qd_rewrite_distinct(QdGenerator *self, QdAlgebra *node)
{
    const QdAlgebra *project = node->kind == QD_ALGEBRA_DISTINCT ? node->children[0] : NULL;
    QdAlgebra *join, *rest;
    GPtrArray *parts;
    g_autoptr(GPtrArray) conditions = NULL;

    if (project == NULL || project->kind != QD_ALGEBRA_PROJECT || self->graph.kind == QD_NODE_VARIABLE)
        return node;
    if (is_distinct(self, node))
        return node->children[0];
    join = project->children[0];
    if (join->kind == QD_ALGEBRA_PATH)
        join = qd_algebra_new_parent(self->ast, QD_ALGEBRA_JOIN, &join, 1);
    if (join->kind != QD_ALGEBRA_JOIN || !qd_algebra_consists_of_links(join) || !qd_algebra_has_path(join))
        return node;
    parts = simplify_parts(self, add_steps(self, join, &project->possible), project);
    conditions = take_hanging(self, &parts, &project->possible);
    rest = parts->len > 0 && (conditions->len > 0 || !is_same(parts, join)) ? join_parts(self, parts) : NULL;
    g_ptr_array_unref(parts);
    if (rest == NULL)
        return node;
    if (conditions->len > 0) {
        rest = qd_algebra_new_parent(self->ast, QD_ALGEBRA_FILTER, &rest, 1);
        rest->expressions = qd_arena_array0(self->arena, QdExpression *, conditions->len);
        memcpy(rest->expressions, conditions->pdata, conditions->len * sizeof(QdExpression *));
        rest->n_expressions = conditions->len;
    }
    rest = put_on(self, node, put_on(self, project, rest));
    return is_distinct(self, rest) ? rest->children[0] : rest;
}
