/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program of a pattern (daemon/tally/tally-program.h), which is a tree: its parts share one variable each with those before
 * them.
 *
 * At each variable the numbers of the parts that have it are multiplied. OPTIONAL, MINUS and EXISTS that share one variable change
 * the numbers of its values. So does a UNION, whose arms are added.
 */
#include "daemon/plan/sqlgen-tally.h"

#define LEVELS_MAX 20 /* of the parts of a program */
#define KEY_BYTES 12  /* of a column for each key, as the next for each pair */
#define PAIR_BYTES 8

typedef enum PartKind { PART_JOINED = '*', PART_OPTIONAL = '?', PART_MINUS = '-', PART_EXISTS = '&' } PartKind;

typedef struct Part {
    PartKind kind;
    const QdAlgebra *node;
    guint at;                       /* the one variable that it shares; G_MAXUINT: a triple, or not known yet */
    const QdExpression *comparison; /* (nullable): of a triple's subject and object, or those of each arm of a UNION */
    QdVariableSet named;
    gboolean is_used;
} Part;

/* A group of the pattern, with what is joined in it and what changes it. */
typedef struct Scope {
    QdTallyDraft *tally;
    GArray *parts;         /* Part */
    QdVariableSet outside; /* that what is around it names */
    QdVariableSet visited; /* that have their part of the program */
    GPtrArray *conditions; /* (nullable): of QdExpression; NULL: it may have none */
    gboolean is_way;       /* two variables of it are asked for */
} Scope;

static gboolean write_variable(Scope *self, guint variable, const QdTriple *link, gboolean to_object);

/* --- parts ------------------------------------------------------------------------------------------------------------- */

/* All variables of @node, also those that only its conditions name. */
static void
add_named(QdGenerator *generator, const QdAlgebra *node, QdVariableSet *named)
{
    qd_variable_set_add_all(named, generator->arena, &node->possible);
    for (guint i = 0; i < node->n_expressions; i++)
        qd_expression_add_all_variables(node->expressions[i], generator->arena, named);
    for (guint i = 0; i < node->n_children; i++)
        add_named(generator, node->children[i], named);
}

static guint
count_shared(const QdVariableSet *a, const QdVariableSet *b, guint *ret_last)
{
    guint n = 0;

    QD_VARIABLE_SET_FOREACH(a, variable)
    {
        if (qd_variable_set_has(b, variable)) {
            *ret_last = variable;
            n++;
        }
    }
    return n;
}

static void
add_part(Scope *self, PartKind kind, const QdAlgebra *node, guint at, const QdExpression *comparison)
{
    Part part = { .kind = kind, .node = node, .at = at, .comparison = comparison };

    add_named(self->tally->generator, node, &part.named);
    g_array_append_val(self->parts, part);
}

/* OPTIONAL, MINUS or EXISTS of @node after @left. */
static gboolean
add_modifier(Scope *self, PartKind kind, const QdAlgebra *left, const QdAlgebra *node)
{
    guint at = G_MAXUINT;

    if (count_shared(&left->possible, &node->possible, &at) != 1 || !qd_algebra_binds(left, at))
        return FALSE;
    add_part(self, kind, node, at, NULL);
    return TRUE;
}

/* A subject is equal to itself alone. */
gboolean
qd_tally_compares_ends(const QdExpression *expression, const QdAlgebra *node)
{
    const QdNode *s, *o;
    guint a, b;

    if (expression->kind != QD_EXPRESSION_KIND_CALL || (expression->op != QD_EXPRESSION_EQ && expression->op != QD_EXPRESSION_NE) ||
        expression->children[0]->kind != QD_EXPRESSION_KIND_VARIABLE ||
        expression->children[1]->kind != QD_EXPRESSION_KIND_VARIABLE)
        return FALSE;
    for (guint i = 0; node->kind == QD_ALGEBRA_UNION && i < node->n_children; i++) {
        if (node->children[i]->kind == QD_ALGEBRA_UNION || !qd_tally_compares_ends(expression, node->children[i]))
            return FALSE;
    }
    if (node->kind != QD_ALGEBRA_TRIPLE)
        return node->kind == QD_ALGEBRA_UNION;
    s = &node->triple->s;
    o = &node->triple->o;
    a = expression->children[0]->variable;
    b = expression->children[1]->variable;
    return s->kind == QD_NODE_VARIABLE && o->kind == QD_NODE_VARIABLE && s->variable != o->variable &&
           ((s->variable == a && o->variable == b) || (s->variable == b && o->variable == a));
}

static gboolean
add_condition(Scope *self, const QdAlgebra *left, QdExpression *expression)
{
    if (expression->kind == QD_EXPRESSION_KIND_EXISTS)
        return add_modifier(self, expression->negated ? PART_MINUS : PART_EXISTS, left,
                            qd_rewrite_get_exists(self->tally->generator, expression));
    if (self->conditions != NULL)
        g_ptr_array_add(self->conditions, expression);
    return self->conditions != NULL;
}

static gboolean add_parts(Scope *self, const QdAlgebra *node);

gboolean
qd_tally_is_absence(const QdAlgebra *node)
{
    const QdAlgebra *left = node->children[0];
    const QdExpression *not = node->n_expressions == 1 ? node->expressions[0] : NULL;
    const QdExpression *bound;

    if (node->kind != QD_ALGEBRA_FILTER || left->kind != QD_ALGEBRA_LEFT_JOIN || left->n_expressions > 0 || not == NULL ||
        not ->kind != QD_EXPRESSION_KIND_CALL || not ->op != QD_EXPRESSION_NOT)
        return FALSE;
    bound = not ->children[0];
    return bound->kind == QD_EXPRESSION_KIND_CALL && bound->op == QD_EXPRESSION_BOUND &&
           bound->children[0]->kind == QD_EXPRESSION_KIND_VARIABLE &&
           qd_algebra_binds(left->children[1], bound->children[0]->variable) &&
           !qd_variable_set_has(&left->children[0]->possible, bound->children[0]->variable);
}

static gboolean
add_parts(Scope *self, const QdAlgebra *node)
{
    switch (node->kind) {
    case QD_ALGEBRA_TRIPLE:
    case QD_ALGEBRA_UNION:
        add_part(self, PART_JOINED, node, G_MAXUINT, NULL);
        return TRUE;
    case QD_ALGEBRA_JOIN:
        for (guint i = 0; i < node->n_children; i++) {
            if (!add_parts(self, node->children[i]))
                return FALSE;
        }
        return TRUE;
    case QD_ALGEBRA_LEFT_JOIN:
        return node->n_expressions == 0 && add_parts(self, node->children[0]) &&
               add_modifier(self, PART_OPTIONAL, node->children[0], node->children[1]);
    case QD_ALGEBRA_MINUS:
        return add_parts(self, node->children[0]) && add_modifier(self, PART_MINUS, node->children[0], node->children[1]);
    case QD_ALGEBRA_FILTER:
        if (node->n_expressions == 1 && qd_tally_compares_ends(node->expressions[0], node->children[0])) {
            add_part(self, PART_JOINED, node->children[0], G_MAXUINT, node->expressions[0]);
            return TRUE;
        }
        if (qd_tally_is_absence(node))
            return add_parts(self, node->children[0]->children[0]) &&
                   add_modifier(self, PART_MINUS, node->children[0]->children[0], node->children[0]->children[1]);
        if (!add_parts(self, node->children[0]))
            return FALSE;
        for (guint i = 0; i < node->n_expressions; i++) {
            if (!add_condition(self, node->children[0], node->expressions[i]))
                return FALSE;
        }
        return TRUE;
    default:
        return FALSE;
    }
}

/* What all parts but @index name, and what is around the group. */
static QdVariableSet
list_others(const Scope *self, guint index)
{
    QdVariableSet others = { 0 };

    qd_variable_set_add_all(&others, self->tally->generator->arena, &self->outside);
    for (guint i = 0; i < self->parts->len; i++) {
        if (i != index)
            qd_variable_set_add_all(&others, self->tally->generator->arena, &g_array_index(self->parts, Part, i).named);
    }
    return others;
}

/* Whether each part but a triple shares one variable with the others, and no triple one with what is around the group but @root.
 * Around the whole pattern there is nothing but what is asked for. */
static gboolean
check_parts(Scope *self, guint root)
{
    for (guint i = 0; i < self->parts->len; i++) {
        Part *part = &g_array_index(self->parts, Part, i);
        QdVariableSet others = part->node->kind == QD_ALGEBRA_TRIPLE && part->kind == PART_JOINED ? self->outside
                                                                                                  : list_others(self, i);
        guint shared = part->at;
        guint n_shared = count_shared(&part->named, &others, &shared);

        if (part->node->kind == QD_ALGEBRA_TRIPLE && part->kind == PART_JOINED) {
            if (!self->is_way && (n_shared > 1 || (n_shared == 1 && shared != root)))
                return FALSE;
            continue;
        }
        if (part->at == G_MAXUINT)
            part->at = n_shared == 0 ? root : shared;
        if (n_shared > 1 || shared != part->at)
            return FALSE;
    }
    return TRUE;
}

/* --- the program ------------------------------------------------------------------------------------------------------ */

static gboolean
put_id(QdTallyDraft *self, const QdNode *node)
{
    guint i = 0;

    if (node->kind != QD_NODE_TERM)
        return FALSE;
    while (i < self->n_terms && self->terms[i] != node->term)
        i++;
    if (i == QD_TALLY_IDS_MAX)
        return FALSE;
    self->terms[i] = node->term;
    self->n_terms = MAX(self->n_terms, i + 1);
    g_string_append_printf(self->program, "%02u", i);
    return TRUE;
}

/* What of the column of the triple's predicate is to be read: "s00". */
static gboolean
put_column(QdTallyDraft *self, char what, const QdTriple *triple)
{
    const QdCatalog *catalog = self->generator->catalog;
    QdPredicateStatistics statistics;

    g_string_append_c(self->program, what);
    if (!put_id(self, &triple->p))
        return FALSE;
    if (catalog->get_predicate(catalog->data, triple->p.term, &statistics)) {
        self->n_pairs += (double) statistics.n_quads;
        self->n_bytes += (double) statistics.n_quads * PAIR_BYTES +
                         (double) MAX(statistics.n_subjects, statistics.n_objects) * KEY_BYTES;
    }
    return TRUE;
}

gboolean
qd_node_is_variable(const QdNode *node, guint variable)
{
    return node->kind == QD_NODE_VARIABLE && node->variable == variable;
}

static gboolean
has_more(const Scope *self, guint variable)
{
    for (guint i = 0; i < self->parts->len; i++) {
        const Part *part = &g_array_index(self->parts, Part, i);

        if (!part->is_used && qd_variable_set_has(&part->named, variable))
            return TRUE;
    }
    return FALSE;
}

/* A triple whose ends are compared is one at its subject. */
static gboolean
put_comparison(QdTallyDraft *self, const QdTriple *triple, guint variable, const QdExpression *comparison)
{
    return qd_node_is_variable(&triple->s, variable) && put_column(self, comparison->op == QD_EXPRESSION_EQ ? 'e' : 'n', triple);
}

static gboolean
write_triple(Scope *self, const QdTriple *triple, guint variable, const QdExpression *comparison)
{
    gboolean is_subject = qd_node_is_variable(&triple->s, variable);
    const QdNode *other = is_subject ? &triple->o : &triple->s;

    if (other->kind == QD_NODE_TERM) {
        g_string_append_c(self->tally->program, is_subject ? 'c' : 'd');
        return put_id(self->tally, &triple->p) && put_id(self->tally, other);
    }
    if (other->variable == variable)
        return put_column(self->tally, 'e', triple);
    if (qd_variable_set_has(&self->visited, other->variable))
        return FALSE;
    qd_variable_set_add(&self->visited, self->tally->generator->arena, other->variable);
    if (comparison != NULL)
        return !has_more(self, other->variable) && put_comparison(self->tally, triple, variable, comparison);
    if (!has_more(self, other->variable))
        return put_column(self->tally, is_subject ? 's' : 'o', triple);
    return put_column(self->tally, is_subject ? 'S' : 'O', triple) && write_variable(self, other->variable, triple, is_subject);
}

/* @node as a group of its own, of which @root is asked. */
static gboolean
write_group(QdTallyDraft *tally, const QdAlgebra *node, guint root, const QdVariableSet *outside, GPtrArray *conditions)
{
    g_autoptr(GArray) parts = g_array_new(FALSE, TRUE, sizeof(Part));
    Scope scope = { .tally = tally, .parts = parts, .outside = *outside, .conditions = conditions };
    gboolean ok = tally->n_levels < LEVELS_MAX;

    tally->n_levels++;
    ok = ok && add_parts(&scope, node) && check_parts(&scope, root) && write_variable(&scope, root, NULL, FALSE);
    tally->n_levels--;
    for (guint i = 0; i < parts->len && ok; i++)
        ok = g_array_index(parts, Part, i).is_used;
    return ok;
}

static gboolean
write_inner(Scope *self, const Part *part, guint index)
{
    QdVariableSet outside = list_others(self, index);

    if (part->kind == PART_JOINED && part->node->kind == QD_ALGEBRA_TRIPLE)
        return write_triple(self, part->node->triple, part->at, part->comparison);
    qd_variable_set_add(&outside, self->tally->generator->arena, part->at);
    if (part->node->kind != QD_ALGEBRA_UNION)
        return write_group(self->tally, part->node, part->at, &outside, NULL);
    for (guint i = 1; i < part->node->n_children; i++)
        g_string_append_c(self->tally->program, '+');
    for (guint i = 0; i < part->node->n_children; i++) {
        const QdAlgebra *arm = part->node->children[i];

        if (part->comparison != NULL ? !put_comparison(self->tally, arm->triple, part->at, part->comparison)
                                     : !write_group(self->tally, arm, part->at, &outside, NULL))
            return FALSE;
    }
    return TRUE;
}

/* The parts at @variable are used. Returns: how many of them are joined */
static guint
take_parts(Scope *self, guint variable, GArray *taken)
{
    guint n_joined = 0;

    for (guint i = 0; i < self->parts->len; i++) {
        Part *part = &g_array_index(self->parts, Part, i);
        gboolean is_link = part->kind == PART_JOINED && part->node->kind == QD_ALGEBRA_TRIPLE;

        if (part->is_used || (is_link ? !qd_variable_set_has(&part->named, variable) : part->at != variable))
            continue;
        part->is_used = TRUE;
        part->at = variable;
        n_joined += part->kind == PART_JOINED ? 1 : 0;
        g_array_append_val(taken, i);
    }
    return n_joined;
}

/* All that is at @variable. Where nothing is joined there, the values come from @link (nullable), which leads to it. */
static gboolean
write_variable(Scope *self, guint variable, const QdTriple *link, gboolean to_object)
{
    g_autoptr(GArray) taken = g_array_new(FALSE, FALSE, sizeof(guint));
    guint n_joined = take_parts(self, variable, taken);
    gboolean ok = (n_joined > 0 || link != NULL) && self->tally->n_levels < LEVELS_MAX;

    self->tally->n_levels++;
    qd_variable_set_add(&self->visited, self->tally->generator->arena, variable);
    for (guint i = taken->len; i > 0; i--) {
        const Part *part = &g_array_index(self->parts, Part, g_array_index(taken, guint, i - 1));

        if (part->kind != PART_JOINED)
            g_string_append_c(self->tally->program, (char) part->kind);
    }
    for (guint i = 1; i < n_joined; i++)
        g_string_append_c(self->tally->program, PART_JOINED);
    if (n_joined == 0 && ok)
        ok = put_column(self->tally, to_object ? 'v' : 'u', link);
    for (guint pass = 0; pass < 2; pass++) /* what is joined, then what changes it */
        for (guint i = 0; i < taken->len && ok; i++) {
            guint index = g_array_index(taken, guint, i);
            const Part *part = &g_array_index(self->parts, Part, index);

            if ((part->kind == PART_JOINED) == (pass == 0))
                ok = write_inner(self, part, index);
        }
    self->tally->n_levels--;
    return ok;
}

/* --- two variables ---------------------------------------------------------------------------------------------------- */

#define WAY_MAX 8 /* steps: QD_TALLY_STEPS_MAX of daemon/tally */

/* A triple between two variables, which is not compared. */
static gboolean
is_link(const Part *part)
{
    const QdTriple *triple = part->node->kind == QD_ALGEBRA_TRIPLE ? part->node->triple : NULL;

    return part->kind == PART_JOINED && triple != NULL && part->comparison == NULL && !part->is_used &&
           triple->s.kind == QD_NODE_VARIABLE && triple->p.kind == QD_NODE_TERM && triple->o.kind == QD_NODE_VARIABLE &&
           triple->s.variable != triple->o.variable;
}

/* The parts that lead from @from to @to are used, and @way has their numbers. */
static gboolean
find_way(Scope *self, guint from, guint to, guint *way, guint *n_steps)
{
    if (from == to)
        return TRUE;
    for (guint i = 0; i < self->parts->len && *n_steps < WAY_MAX; i++) {
        Part *part = &g_array_index(self->parts, Part, i);
        guint next;

        if (!is_link(part) || !qd_variable_set_has(&part->named, from))
            continue;
        next = qd_node_is_variable(&part->node->triple->s, from) ? part->node->triple->o.variable : part->node->triple->s.variable;
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
write_weights(Scope *self, guint variable, const QdTriple *link)
{
    if (has_more(self, variable))
        return write_variable(self, variable, link, qd_node_is_variable(&link->o, variable));
    g_string_append_c(self->tally->program, '.');
    return TRUE;
}

static gboolean
write_way(Scope *self, guint from, const guint *way, guint n_steps)
{
    guint variable = from;
    gboolean ok;

    for (guint i = 0; i < n_steps; i++) {
        const QdTriple *triple = g_array_index(self->parts, Part, way[i]).node->triple;

        qd_variable_set_add(&self->visited, self->tally->generator->arena, triple->s.variable);
        qd_variable_set_add(&self->visited, self->tally->generator->arena, triple->o.variable);
    }
    ok = write_weights(self, from, g_array_index(self->parts, Part, way[0]).node->triple);
    for (guint i = 0; i < n_steps && ok; i++) {
        const QdTriple *triple = g_array_index(self->parts, Part, way[i]).node->triple;
        gboolean is_subject = qd_node_is_variable(&triple->s, variable);

        variable = is_subject ? triple->o.variable : triple->s.variable;
        ok = put_column(self->tally, is_subject ? 's' : 'o', triple) && write_weights(self, variable, triple);
    }
    return ok;
}

gboolean
qd_tally_write_pairs(QdTallyDraft *self, const QdAlgebra *node, const guint *roots, GPtrArray *conditions)
{
    g_autoptr(GArray) parts = g_array_new(FALSE, TRUE, sizeof(Part));
    Scope scope = { .tally = self, .parts = parts, .conditions = conditions, .is_way = TRUE };
    guint way[WAY_MAX];
    guint n_steps = 0;
    gboolean ok;

    qd_variable_set_add(&scope.outside, self->generator->arena, roots[0]);
    qd_variable_set_add(&scope.outside, self->generator->arena, roots[1]);
    ok = add_parts(&scope, node) && check_parts(&scope, roots[0]) && find_way(&scope, roots[0], roots[1], way, &n_steps) &&
         write_way(&scope, roots[0], way, n_steps);
    for (guint i = 0; i < parts->len && ok; i++)
        ok = g_array_index(parts, Part, i).is_used;
    return ok;
}

gboolean
qd_tally_write(QdTallyDraft *self, const QdAlgebra *node, guint root, GPtrArray *conditions)
{
    QdVariableSet outside = { 0 };

    qd_variable_set_add(&outside, self->generator->arena, root);
    return write_group(self, node, root, &outside, conditions);
}

/* --- patterns of what is bound ---------------------------------------------------------------------------------------- */

/* @node with child @index as its solutions with @variable are. */
static QdAlgebra *
require_of_child(QdGenerator *self, const QdAlgebra *node, guint index, guint variable)
{
    QdAlgebra *child = qd_tally_require(self, node->children[index], variable);
    QdAlgebra *copy;

    if (child == NULL)
        return NULL;
    copy = qd_algebra_put_on(self, node, node->children[0]);
    copy->children[index] = child;
    return copy;
}

QdAlgebra *
qd_tally_require(QdGenerator *self, const QdAlgebra *node, guint variable)
{
    guint found = G_MAXUINT;
    QdAlgebra *whole;

    if (qd_algebra_binds(node, variable))
        return (QdAlgebra *) node;
    for (guint i = 0; i < node->n_children; i++) {
        if (qd_variable_set_has(&node->children[i]->possible, variable)) {
            if (found != G_MAXUINT)
                return NULL;
            found = i;
        }
    }
    if (found == G_MAXUINT)
        return NULL;
    if (node->kind == QD_ALGEBRA_JOIN || ((node->kind == QD_ALGEBRA_LEFT_JOIN || node->kind == QD_ALGEBRA_MINUS) && found == 0))
        return require_of_child(self, node, found, variable);
    if (node->kind != QD_ALGEBRA_LEFT_JOIN || node->n_expressions > 0)
        return NULL;
    whole = require_of_child(self, node, found, variable);
    if (whole != NULL)
        whole->kind = QD_ALGEBRA_JOIN;
    return whole;
}
