/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Subselects that begin from a few solutions on their left. A join with the values that these bind, each once, leaves of the
 * pattern inside what the join outside would leave of the subselect's rows.
 */
#include "daemon/plan/sqlgen-private.h"

#define COUNTED_LEFT_MIN 2000 /* solutions for which a path is counted by itself rather than from each */
#define GAIN_MIN 1000.0       /* solutions of a pattern that is worth it */
#define SEEDED_MAX 1e7        /* solutions that begin from them */
#define PATH_LEVELS_MAX 2     /* of paths of which one gives another the values */
#define LEFT_GAIN 10          /* a left that has so many times less solutions than a part has values is kept */

/* @variables without those that @node, a subselect's modifier or group, makes of its own. */
static void
keep_listed(QdGenerator *self, const QdAlgebra *node, QdVariableSet *variables)
{
    QdVariableSet kept = { 0 };

    for (guint i = 0; i < node->n_variables; i++) {
        if (qd_variable_set_has(variables, node->variables[i]))
            qd_variable_set_add(&kept, self->arena, node->variables[i]);
    }
    *variables = kept;
}

static gboolean
makes_none(const QdAlgebra *extend, const QdVariableSet *variables)
{
    for (guint i = 0; i < extend->n_bindings; i++) {
        if (qd_variable_set_has(variables, extend->bindings[i].variable))
            return FALSE;
    }
    return TRUE;
}

/* The pattern inside @node, and in @variables those that are the same there as outside. NULL: a slice, or something else. */
static const QdAlgebra *
find_pattern(QdGenerator *self, const QdAlgebra *node, QdVariableSet *variables)
{
    for (;;) {
        switch (node->kind) {
        case QD_ALGEBRA_GROUP:
        case QD_ALGEBRA_PROJECT:
            keep_listed(self, node, variables);
            break;
        case QD_ALGEBRA_EXTEND:
            if (!makes_none(node, variables))
                return NULL;
            break;
        case QD_ALGEBRA_DISTINCT:
        case QD_ALGEBRA_ORDER:
        case QD_ALGEBRA_FILTER:
        case QD_ALGEBRA_LEFT_JOIN:
        case QD_ALGEBRA_MINUS:
            break;
        case QD_ALGEBRA_TRIPLE:
        case QD_ALGEBRA_PATH:
        case QD_ALGEBRA_JOIN:
        case QD_ALGEBRA_UNION:
            return node;
        case QD_ALGEBRA_UNIT:
        case QD_ALGEBRA_MATCH:
        case QD_ALGEBRA_GRAPH:
        case QD_ALGEBRA_SERVICE:
        case QD_ALGEBRA_VALUES:
        case QD_ALGEBRA_SLICE:
            return NULL;
        }
        node = node->children[0];
    }
}

/* Whether @node has a pattern of its own, which nothing around it reaches into. */
static gboolean
is_subselect(const QdAlgebra *node)
{
    return node->kind == QD_ALGEBRA_PROJECT || node->kind == QD_ALGEBRA_DISTINCT || node->kind == QD_ALGEBRA_ORDER;
}

/* --- domains ---------------------------------------------------------------------------------------------------------- */

/* A join, of which each solution takes a variable's value from each part that binds it. */
typedef struct Parts {
    const QdAlgebra *const *nodes;
    guint n;
    guint n_levels; /* of paths that give an end what the other has */
} Parts;

static QdAlgebra *
make_link(QdGenerator *self, const QdTerm *iri, guint variable, gboolean at_object)
{
    QdTriple *triple = qd_arena_new0(self->arena, QdTriple);
    QdNode *other = at_object ? &triple->s : &triple->o;

    triple->p = (QdNode){ .kind = QD_NODE_TERM, .term = iri };
    *(at_object ? &triple->o : &triple->s) = (QdNode){ .kind = QD_NODE_VARIABLE, .variable = variable };
    *other = (QdNode){ .kind = QD_NODE_VARIABLE, .variable = qd_ast_add_variable(self->ast, NULL) };
    return qd_algebra_from_triple(self->ast, triple);
}

/* Adds the links of which one ends a way along @path that is not of no length. FALSE: any node may be such an end. */
static gboolean
add_links(QdGenerator *self, const QdPath *path, guint variable, gboolean at_object, GPtrArray *arms)
{
    switch (path->kind) {
    case QD_PATH_LINK:
        g_ptr_array_add(arms, make_link(self, path->iri, variable, at_object));
        return TRUE;
    case QD_PATH_INVERSE:
        return add_links(self, path->children[0], variable, !at_object, arms);
    case QD_PATH_ALTERNATIVE:
        for (guint i = 0; i < path->n_children; i++) {
            if (!add_links(self, path->children[i], variable, at_object, arms))
                return FALSE;
        }
        return TRUE;
    case QD_PATH_SEQUENCE:
        return add_links(self, path->children[at_object ? path->n_children - 1 : 0], variable, at_object, arms);
    case QD_PATH_ONE_OR_MORE:
        return add_links(self, path->children[0], variable, at_object, arms);
    case QD_PATH_ZERO_OR_MORE:
    case QD_PATH_ZERO_OR_ONE:
    case QD_PATH_NEGATED:
        return FALSE;
    }
    g_assert_not_reached();
}

static const QdAlgebra *find_domain(QdGenerator *self, const Parts *parts, guint variable, const QdAlgebra *without);

static const QdAlgebra *
unite(QdGenerator *self, const GPtrArray *arms)
{
    return arms->len == 1 ? arms->pdata[0]
                          : qd_algebra_new_parent(self->ast, QD_ALGEBRA_UNION, (QdAlgebra **) arms->pdata, arms->len);
}

QdAlgebra *
qd_rewrite_list_ends(QdGenerator *self, const QdTriple *triple, guint variable)
{
    gboolean at_object = triple->o.kind == QD_NODE_VARIABLE && triple->o.variable == variable;
    g_autoptr(GPtrArray) arms = g_ptr_array_new();
    QdVariableSet only = { 0 };

    if (!add_links(self, triple->path, variable, at_object, arms))
        return NULL;
    qd_variable_set_add(&only, self->arena, variable);
    return qd_rewrite_list_shared(self, &only, &only, (QdAlgebra *) unite(self, arms));
}

/* A path of no length has the other end's values. */
static const QdAlgebra *
find_domain_of_path(QdGenerator *self, const Parts *parts, const QdAlgebra *node, guint variable)
{
    const QdTriple *triple = node->triple;
    gboolean at_object = triple->o.kind == QD_NODE_VARIABLE && triple->o.variable == variable;
    const QdNode *other = at_object ? &triple->s : &triple->o;
    gboolean is_empty = triple->path->kind == QD_PATH_ZERO_OR_MORE || triple->path->kind == QD_PATH_ZERO_OR_ONE;
    g_autoptr(GPtrArray) arms = g_ptr_array_new();

    if (other->kind != QD_NODE_VARIABLE)
        return node;
    if (other->variable == variable || (is_empty && parts->n_levels == 0) ||
        !add_links(self, is_empty ? triple->path->children[0] : triple->path, variable, at_object, arms))
        return NULL;
    if (is_empty) {
        const Parts below = { parts->nodes, parts->n, parts->n_levels - 1 };
        const QdAlgebra *start = find_domain(self, &below, other->variable, node);

        if (start == NULL)
            return NULL;
        g_ptr_array_add(arms, qd_rewrite_rename(self, start, other->variable, variable));
    }
    return unite(self, arms);
}

/* A pattern of links that binds @variable to each value that a solution of @node, of a join of @parts, has. NULL: none is known. */
static const QdAlgebra *
find_domain_in(QdGenerator *self, const Parts *parts, const QdAlgebra *node, guint variable)
{
    const Parts own = { (const QdAlgebra *const *) node->children, node->n_children, parts->n_levels };
    g_autoptr(GPtrArray) arms = NULL;

    if (!qd_algebra_binds(node, variable))
        return NULL;
    switch (node->kind) {
    case QD_ALGEBRA_TRIPLE:
        return node;
    case QD_ALGEBRA_PATH:
        return find_domain_of_path(self, parts, node, variable);
    case QD_ALGEBRA_JOIN:
        return find_domain(self, &own, variable, NULL);
    case QD_ALGEBRA_UNION:
        arms = g_ptr_array_new();
        for (guint i = 0; i < node->n_children; i++) {
            const QdAlgebra *arm = find_domain_in(self, parts, node->children[i], variable);

            if (arm == NULL)
                return NULL;
            g_ptr_array_add(arms, (gpointer) arm);
        }
        return unite(self, arms);
    case QD_ALGEBRA_LEFT_JOIN:
    case QD_ALGEBRA_MINUS:
    case QD_ALGEBRA_FILTER:
    case QD_ALGEBRA_EXTEND:
    case QD_ALGEBRA_PROJECT:
    case QD_ALGEBRA_DISTINCT:
    case QD_ALGEBRA_GROUP:
    case QD_ALGEBRA_ORDER:
    case QD_ALGEBRA_SLICE:
        return find_domain_in(self, parts, node->children[0], variable);
    case QD_ALGEBRA_UNIT:
    case QD_ALGEBRA_MATCH:
    case QD_ALGEBRA_GRAPH:
    case QD_ALGEBRA_SERVICE:
    case QD_ALGEBRA_VALUES:
        return NULL;
    }
    g_assert_not_reached();
}

/* The smallest of all @parts but @without. */
static const QdAlgebra *
find_domain(QdGenerator *self, const Parts *parts, guint variable, const QdAlgebra *without)
{
    const QdAlgebra *found = NULL;
    double least = QD_SEEDS_MAX;

    for (guint i = 0; i < parts->n; i++) {
        const QdAlgebra *domain = parts->nodes[i] != without ? find_domain_in(self, parts, parts->nodes[i], variable) : NULL;
        double n = domain != NULL ? qd_estimate_rows(self, domain) : 0;

        if (domain != NULL && n <= least) {
            found = domain;
            least = n;
        }
    }
    return found;
}

/* Adds @known (nullable) to @seeds if it is always bound. */
static void
add_values(QdGenerator *self, QdRelation *seeds, const QdColumn *known)
{
    QdColumn *column;

    if (known == NULL || !known->certain)
        return;
    column = qd_relation_add_column(self, seeds, known);
    column->sql = qd_column_intern(self, known);
    column->interned = TRUE;
}

/* The values of @variables in @relation, as far as each solution of @pattern binds them, each combination once. In GRAPH ?g these
 * are of one graph each. */
static QdRelation *
take_values(QdGenerator *self, const QdRelation *relation, const QdAlgebra *pattern, const QdVariableSet *variables)
{
    QdRelation *seeds = qd_relation_new(self);

    qd_relation_take_rows(self, seeds, relation);
    QD_VARIABLE_SET_FOREACH(variables, variable)
    {
        if (qd_algebra_binds(pattern, variable))
            add_values(self, seeds, qd_relation_find(relation, variable));
    }
    if (seeds->n_columns == 0)
        return NULL;
    if (self->graph.kind == QD_NODE_VARIABLE && !qd_variable_set_has(variables, self->graph.variable))
        add_values(self, seeds, qd_relation_find(relation, self->graph.variable));
    return qd_relation_seal_text(self, seeds, qd_relation_write(self, seeds, "SELECT DISTINCT", QD_SQL_NONE), QD_SEAL_MATERIALIZED);
}

QdRelation *
qd_generate_seeds_of(QdGenerator *self, const QdAlgebra *const *parts, guint n_parts, const QdVariableSet *variables,
                     const QdAlgebra *pattern, double n_max)
{
    const Parts join = { parts, n_parts, PATH_LEVELS_MAX };
    const QdAlgebra *found = NULL;
    double least = n_max;

    QD_VARIABLE_SET_FOREACH(variables, variable)
    {
        const QdAlgebra *domain = find_domain(self, &join, variable, NULL);
        double n = domain != NULL ? qd_estimate_rows(self, domain) : 0;

        if (domain != NULL && n <= least) {
            found = domain;
            least = n;
        }
    }
    if (found == NULL || qd_sample_estimate(self, found, pattern) > SEEDED_MAX)
        return NULL;
    return take_values(self, qd_generator_generate(self, found, NULL), found, variables);
}

QdRelation *
qd_generate_seeds(QdGenerator *self, QdRelation *left, const QdAlgebra **order, guint index, double n_left)
{
    const QdAlgebra *node = order[index];
    QdVariableSet shared = { 0 };
    QdVariableSet bound = { 0 };
    const QdAlgebra *pattern;
    gboolean may_keep = n_left <= QD_KEPT_LEFT_MAX;

    if (!is_subselect(node) || self->outer != NULL || left->n_tables == 0 || qd_algebra_is_volatile(node))
        return left;
    if (n_left >= COUNTED_LEFT_MIN && qd_rewrite_may_count(self, node))
        return left;
    for (guint i = 0; i < left->n_columns; i++) {
        if (left->columns[i].certain)
            qd_variable_set_add(&shared, self->arena, left->columns[i].variable);
    }
    pattern = find_pattern(self, node, &shared);
    if (pattern == NULL || !qd_algebra_begins_from_left(pattern) || qd_estimate_rows(self, pattern) < GAIN_MIN)
        return left;
    QD_VARIABLE_SET_FOREACH(&shared, variable)
    {
        if (qd_algebra_binds(pattern, variable))
            qd_variable_set_add(&bound, self->arena, variable);
    }
    if (qd_variable_set_is_empty(&bound))
        return left;
    self->seeded.values = qd_generate_seeds_of(self, order, index, &bound, pattern,
                                               may_keep ? CLAMP(n_left * LEFT_GAIN, LEFT_GAIN, QD_SEEDS_MAX) : QD_SEEDS_MAX);
    if (self->seeded.values == NULL && may_keep) {
        left = qd_relation_seal(self, left, QD_SEAL_MATERIALIZED);
        self->seeded.values = take_values(self, left, pattern, &bound);
    }
    self->seeded.node = self->seeded.values != NULL ? pattern : NULL;
    return left;
}
