/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filters of products. Parts of a join that share no variable with the others are filtered by themselves. So a condition that names
 * no other variables is tested for each solution of its parts, not for each pair. Where values of two such parts are to be equal,
 * one is a table that is looked up by a key of its value.
 */
#include "daemon/plan/sqlgen-private.h"

#define FEW_ROWS 4 /* for each of which the other part is read */

/* Parts of the join that are connected by variables, and what is asked of these alone. */
typedef struct Component {
    QdVariableSet variables;
    GPtrArray *parts;      /* QdAlgebra */
    GPtrArray *conditions; /* QdExpression */
    double n_rows;         /* about how many solutions they have; negative: not estimated yet */
} Component;

static void
component_free(gpointer data)
{
    Component *self = data;

    g_ptr_array_unref(self->parts);
    g_ptr_array_unref(self->conditions);
    g_free(self);
}

static Component *
component_new(void)
{
    Component *self = g_new0(Component, 1);

    self->parts = g_ptr_array_new();
    self->conditions = g_ptr_array_new();
    self->n_rows = -1;
    return self;
}

/* Adds @part to those of @components with which it shares a variable, which become one; else it is one by itself. */
static void
add_part(QdGenerator *self, GPtrArray *components, QdAlgebra *part)
{
    Component *whole = component_new();

    g_ptr_array_add(whole->parts, part);
    qd_variable_set_add_all(&whole->variables, self->arena, &part->possible);
    for (guint i = 0; i < components->len;) {
        const Component *other = components->pdata[i];

        if (!qd_variable_set_shares(&other->variables, &part->possible)) {
            i++;
            continue;
        }
        g_ptr_array_extend(whole->parts, other->parts, NULL, NULL);
        qd_variable_set_add_all(&whole->variables, self->arena, &other->variables);
        g_ptr_array_remove_index(components, i);
    }
    g_ptr_array_add(components, whole);
}

static GPtrArray *
list_conditions(const QdAlgebra *node)
{
    return qd_expressions_split(node->expressions, node->n_expressions);
}

/* What an EXISTS looks for depends on all that is bound where it stands. */
static gboolean
may_move(const QdExpression *condition)
{
    return condition->kind != QD_EXPRESSION_KIND_EXISTS && !qd_expression_is_volatile(condition);
}

static gboolean
has_exists(const QdExpression *expression)
{
    if (expression->kind == QD_EXPRESSION_KIND_EXISTS)
        return TRUE;
    for (guint i = 0; i < expression->n_children; i++) {
        if (has_exists(expression->children[i]))
            return TRUE;
    }
    return FALSE;
}

/* The only one of @components whose variables @condition names. NULL: there are none or several. */
static Component *
find_component(QdGenerator *self, const GPtrArray *components, const QdExpression *condition)
{
    QdVariableSet named = { 0 };
    Component *found = NULL;

    qd_expression_add_all_variables(condition, self->arena, &named);
    for (guint i = 0; i < components->len; i++) {
        Component *component = components->pdata[i];

        if (!qd_variable_set_shares(&component->variables, &named))
            continue;
        if (found != NULL)
            return NULL;
        found = component;
    }
    return found;
}

static QdAlgebra *
make_filter(QdGenerator *self, QdAlgebra *child, const GPtrArray *conditions)
{
    QdAlgebra *filter;

    if (conditions->len == 0)
        return child;
    filter = qd_algebra_new_parent(self->ast, QD_ALGEBRA_FILTER, &child, 1);
    filter->expressions = qd_arena_array0(self->arena, QdExpression *, conditions->len);
    filter->n_expressions = conditions->len;
    for (guint i = 0; i < conditions->len; i++)
        filter->expressions[i] = conditions->pdata[i];
    return filter;
}

static QdAlgebra *
make_extend(QdGenerator *self, QdAlgebra *child, const QdBinding *bindings, guint n)
{
    QdAlgebra *extend = qd_algebra_new_parent(self->ast, QD_ALGEBRA_EXTEND, &child, 1);

    extend->bindings = qd_arena_array0(self->arena, QdBinding, n);
    extend->n_bindings = n;
    for (guint i = 0; i < n; i++) {
        extend->bindings[i] = bindings[i];
        qd_variable_set_add(&extend->possible, self->arena, bindings[i].variable);
    }
    return extend;
}

static QdAlgebra *
make_join(QdGenerator *self, const GPtrArray *parts)
{
    return parts->len == 1 ? parts->pdata[0]
                           : qd_algebra_new_parent(self->ast, QD_ALGEBRA_JOIN, (QdAlgebra **) parts->pdata, parts->len);
}

static GPtrArray *
list_components(QdGenerator *self, const QdAlgebra *join)
{
    GPtrArray *components = g_ptr_array_new_with_free_func(component_free);

    for (guint i = 0; i < join->n_children; i++)
        add_part(self, components, join->children[i]);
    return components;
}

/* --- conditions of one part ------------------------------------------------------------------------------------------- */

/* The join of @node, a filter, with its parts filtered by themselves. NULL: nothing is gained. */
static QdAlgebra *
filter_parts(QdGenerator *self, const QdAlgebra *node)
{
    g_autoptr(GPtrArray) components = list_components(self, node->children[0]);
    g_autoptr(GPtrArray) conditions = list_conditions(node);
    g_autoptr(GPtrArray) rest = g_ptr_array_new();
    g_autoptr(GPtrArray) children = g_ptr_array_new();

    if (components->len < 2)
        return NULL;
    for (guint i = 0; i < conditions->len; i++) {
        QdExpression *condition = conditions->pdata[i];
        Component *component = may_move(condition) ? find_component(self, components, condition) : NULL;

        g_ptr_array_add(component != NULL ? component->conditions : rest, condition);
    }
    for (guint i = 0; i < components->len; i++) {
        const Component *component = components->pdata[i];

        if (component->conditions->len > 0)
            g_ptr_array_add(children, make_filter(self, make_join(self, component->parts), component->conditions));
        else
            g_ptr_array_extend(children, component->parts, NULL, NULL);
    }
    return rest->len < conditions->len ? make_filter(self, make_join(self, children), rest) : NULL;
}

/* --- values of two parts ---------------------------------------------------------------------------------------------- */

/* Values of two components that are to be equal. */
typedef struct Equality {
    QdExpression *values[2];
    Component *components[2];
    guint key; /* variable of the column by which the second that is joined is looked up */
} Equality;

static double
count_rows(QdGenerator *self, Component *component)
{
    if (component->n_rows < 0)
        component->n_rows = qd_estimate_rows(self, make_join(self, component->parts));
    return component->n_rows;
}

/* Whether it is a variable of triples, not a computed value. */
static gboolean
is_of_links(const Component *component, const QdExpression *value)
{
    for (guint i = 0; i < component->parts->len && value->kind == QD_EXPRESSION_KIND_VARIABLE; i++) {
        const QdAlgebra *part = component->parts->pdata[i];

        if (qd_algebra_consists_of_links(part) && qd_variable_set_has(&part->possible, value->variable))
            return TRUE;
    }
    return FALSE;
}

/*
 * Whether the components of @equality are better joined by keys. Not so where one has few solutions, as the pairs are few. Nor
 * where its variable has terms that are equal to themselves alone: an index of the quads finds these (make_range()).
 */
static gboolean
is_worth(QdGenerator *self, const Equality *equality)
{
    guint few = count_rows(self, equality->components[0]) <= count_rows(self, equality->components[1]) ? 0 : 1;

    if (count_rows(self, equality->components[few]) <= FEW_ROWS)
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(equality->values); i++) {
        if (!is_of_links(equality->components[i], equality->values[i]))
            return TRUE;
    }
    return qd_sample_meets_values(self, make_join(self, equality->components[few]->parts), equality->values[few]->variable);
}

static GArray *
list_equalities(QdGenerator *self, const GPtrArray *components, const GPtrArray *conditions)
{
    GArray *equalities = g_array_new(FALSE, TRUE, sizeof(Equality));

    for (guint i = 0; i < conditions->len; i++) {
        const QdExpression *condition = conditions->pdata[i];
        Equality equality = { { NULL } };

        if (condition->kind != QD_EXPRESSION_KIND_CALL || condition->op != QD_EXPRESSION_EQ || !may_move(condition))
            continue;
        for (guint j = 0; j < G_N_ELEMENTS(equality.values); j++) {
            equality.values[j] = condition->children[j];
            equality.components[j] = find_component(self, components, equality.values[j]);
        }
        if (equality.components[0] != NULL && equality.components[1] != NULL && equality.components[0] != equality.components[1] &&
            is_worth(self, &equality))
            g_array_append_val(equalities, equality);
    }
    return equalities;
}

/* Whether @node, a filter, asks for equal values of two components of a join. */
static gboolean
compares_values(QdGenerator *self, const QdAlgebra *node)
{
    g_autoptr(GPtrArray) components = NULL;
    g_autoptr(GPtrArray) conditions = NULL;
    g_autoptr(GArray) equalities = NULL;

    if (node->children[0]->kind != QD_ALGEBRA_JOIN)
        return FALSE;
    components = list_components(self, node->children[0]);
    conditions = list_conditions(node);
    equalities = list_equalities(self, components, conditions);
    return equalities->len > 0;
}

static QdSql
write_key(QdGenerator *self, const QdExpression *value, const QdRelation *relation)
{
    return qd_sql_make(self->arena, "queryd_equality_key(@)", qd_expression_make_value(self, value, relation).sql);
}

/* The index of the side of @equality that @component has, where @joined has the other; -1: it does not connect them. */
static int
find_side(const Equality *equality, const Component *component, GPtrArray *joined)
{
    for (guint i = 0; i < G_N_ELEMENTS(equality->components); i++) {
        if (equality->components[i] == component && g_ptr_array_find(joined, equality->components[1 - i], NULL))
            return (int) i;
    }
    return -1;
}

/* @right, the solutions of @component, as a table with the keys of its values for those that are @joined. */
static QdRelation *
seal_with_keys(QdGenerator *self, const QdRelation *right, const Component *component, GArray *equalities, GPtrArray *joined)
{
    QdRelation *keyed = qd_relation_copy(self, right);

    for (guint i = 0; i < equalities->len; i++) {
        Equality *equality = &g_array_index(equalities, Equality, i);
        int side = find_side(equality, component, joined);
        QdSql key;

        if (side < 0)
            continue;
        key = write_key(self, equality->values[side], right);
        equality->key = qd_ast_add_variable(self->ast, NULL);
        (void) qd_relation_add(self, keyed, equality->key, key);
        qd_relation_add_where(self, keyed, qd_sql_is_bound(self->arena, key));
    }
    return qd_relation_seal(self, keyed, QD_SEAL_MATERIALIZED);
}

/* @relation, which has these keys, where they are those of the values of @left. They are of no interest then. */
static QdRelation *
match_keys(QdGenerator *self, QdRelation *relation, const QdRelation *left, const Component *component, const GArray *equalities,
           GPtrArray *joined)
{
    for (guint i = 0; i < equalities->len && self->error == NULL; i++) {
        const Equality *equality = &g_array_index(equalities, Equality, i);
        int side = find_side(equality, component, joined);

        if (side < 0)
            continue;
        qd_relation_add_where(self, relation,
                              qd_sql_equate(self->arena, qd_relation_find(relation, equality->key)->sql, "=+",
                                            write_key(self, equality->values[1 - side], left)));
        relation = qd_relation_drop_column(self, relation, equality->key);
    }
    return relation;
}

/* @left with the solutions of @component that have equal values: a table, in which they are found by the keys of these. */
static QdRelation *
join_component(QdGenerator *self, QdRelation *left, const Component *component, GArray *equalities, GPtrArray *joined)
{
    const QdRelation *right = qd_generator_generate(self, make_join(self, component->parts), NULL);

    left = qd_relation_join_to(self, left, seal_with_keys(self, right, component, equalities, joined));
    return match_keys(self, left, left, component, equalities, joined);
}

/* That of @components which comes after those that are @joined: one with a value for theirs, if there is one. */
static Component *
find_next(const GPtrArray *components, const GArray *equalities, GPtrArray *joined)
{
    Component *found = NULL;

    for (guint i = 0; i < components->len; i++) {
        Component *component = components->pdata[i];

        if (g_ptr_array_find(joined, component, NULL))
            continue;
        for (guint j = 0; j < equalities->len; j++) {
            if (find_side(&g_array_index(equalities, Equality, j), component, joined) >= 0)
                return component;
        }
        found = component;
    }
    return found;
}

/* The largest of those whose values are compared: it is not kept. */
static Component *
find_first(QdGenerator *self, const GArray *equalities)
{
    Component *found = NULL;

    for (guint i = 0; i < 2 * equalities->len; i++) {
        Component *component = g_array_index(equalities, Equality, i / 2).components[i % 2];

        if (found == NULL || count_rows(self, component) > count_rows(self, found))
            found = component;
    }
    return found;
}

/* @node, a filter of a join, by the equalities of its components. NULL: there are none. */
static QdRelation *
join_by_values(QdGenerator *self, const QdAlgebra *node)
{
    g_autoptr(GPtrArray) components = list_components(self, node->children[0]);
    g_autoptr(GPtrArray) conditions = list_conditions(node);
    g_autoptr(GArray) equalities = list_equalities(self, components, conditions);
    g_autoptr(GPtrArray) joined = g_ptr_array_new();
    Component *next;
    QdRelation *left;

    if (equalities->len == 0)
        return NULL;
    next = find_first(self, equalities);
    left = qd_generator_generate(self, make_join(self, next->parts), NULL);
    for (g_ptr_array_add(joined, next); joined->len < components->len && self->error == NULL; g_ptr_array_add(joined, next)) {
        next = find_next(components, equalities, joined);
        left = join_component(self, left, next, equalities, joined);
    }
    return self->error != NULL ? qd_relation_new(self) : qd_generate_filter_of(self, left, node);
}

/* --- what is on a product --------------------------------------------------------------------------------------------- */

/* Whether @condition, of a filter of @node, may be tested before the right of @node is added, or its values. */
static gboolean
is_about_left(QdGenerator *self, const QdAlgebra *node, const QdExpression *condition)
{
    QdVariableSet named = { 0 };

    qd_expression_add_all_variables(condition, self->arena, &named);
    QD_VARIABLE_SET_FOREACH(&named, variable)
    {
        if (node->kind == QD_ALGEBRA_LEFT_JOIN && qd_variable_set_has(&node->children[1]->possible, variable) &&
            !qd_algebra_binds(node->children[0], variable))
            return FALSE;
        for (guint i = 0; i < node->n_bindings; i++) {
            if (node->bindings[i].variable == variable)
                return FALSE;
        }
    }
    return TRUE;
}

/* @component, whose solutions bind what @binding computes of them. */
static void
add_binding(QdGenerator *self, Component *component, const QdBinding *binding)
{
    QdAlgebra *extend = make_extend(self, make_join(self, component->parts), binding, 1);

    g_ptr_array_set_size(component->parts, 0);
    g_ptr_array_add(component->parts, extend);
    qd_variable_set_add(&component->variables, self->arena, binding->variable);
}

/* @node, values added to a join, with each that is computed of one component's variables added to that component. NULL: there is
 * none. A volatile one is another for each pair. */
static QdAlgebra *
bind_in_parts(QdGenerator *self, const QdAlgebra *node)
{
    g_autoptr(GPtrArray) components = list_components(self, node->children[0]);
    g_autoptr(GArray) rest = g_array_new(FALSE, FALSE, sizeof(QdBinding));
    g_autoptr(GPtrArray) children = g_ptr_array_new();
    QdVariableSet later = { 0 };
    QdAlgebra *join;

    for (guint i = 0; i < node->n_bindings; i++) {
        const QdBinding *binding = &node->bindings[i];
        QdVariableSet named = { 0 };
        Component *component = NULL;

        qd_expression_add_all_variables(binding->expression, self->arena, &named);
        if (!qd_variable_set_shares(&named, &later) && may_move(binding->expression) && !has_exists(binding->expression))
            component = find_component(self, components, binding->expression);
        if (component != NULL) {
            add_binding(self, component, binding);
            continue;
        }
        g_array_append_val(rest, *binding);
        qd_variable_set_add(&later, self->arena, binding->variable);
    }
    if (components->len < 2 || rest->len == node->n_bindings)
        return NULL;
    for (guint i = 0; i < components->len; i++)
        g_ptr_array_extend(children, ((Component *) components->pdata[i])->parts, NULL, NULL);
    join = make_join(self, children);
    return rest->len > 0 ? make_extend(self, join, (const QdBinding *) (void *) rest->data, rest->len) : join;
}

static QdAlgebra *rewrite(QdGenerator *self, const QdAlgebra *node);

/* @node, a filter, or what gains by its conditions. NULL: nothing does. */
static QdAlgebra *
rewrite_or_compare(QdGenerator *self, QdAlgebra *node)
{
    QdAlgebra *rewritten = rewrite(self, node);

    return rewritten == NULL && compares_values(self, node) ? node : rewritten;
}

/* The same where the product is on the left of an OPTIONAL or MINUS, or values are added to it. */
static QdAlgebra *
filter_left(QdGenerator *self, const QdAlgebra *node)
{
    const QdAlgebra *child = node->children[0];
    g_autoptr(GPtrArray) conditions = list_conditions(node);
    g_autoptr(GPtrArray) moved = g_ptr_array_new();
    g_autoptr(GPtrArray) rest = g_ptr_array_new();
    QdAlgebra *left;

    for (guint i = 0; i < conditions->len; i++) {
        QdExpression *condition = conditions->pdata[i];

        g_ptr_array_add(may_move(condition) && is_about_left(self, child, condition) ? moved : rest, condition);
    }
    if (moved->len == 0)
        return NULL;
    left = rewrite_or_compare(self, make_filter(self, child->children[0], moved));
    return left != NULL ? make_filter(self, qd_algebra_put_on(self, child, left), rest) : NULL;
}

/* The same for a filter of values that are added to a product. */
static QdAlgebra *
filter_values(QdGenerator *self, const QdAlgebra *node)
{
    const QdAlgebra *extend = node->children[0];
    QdAlgebra *bound = extend->children[0]->kind == QD_ALGEBRA_JOIN ? bind_in_parts(self, extend) : NULL;
    g_autoptr(GPtrArray) conditions = bound != NULL ? list_conditions(node) : NULL;
    QdAlgebra *rewritten = bound != NULL ? rewrite_or_compare(self, make_filter(self, bound, conditions)) : NULL;

    return rewritten != NULL ? rewritten : filter_left(self, node);
}

/* What has the solutions of @node, a filter of a product, whose parts are filtered by themselves. NULL: nothing is gained. */
static QdAlgebra *
rewrite(QdGenerator *self, const QdAlgebra *node)
{
    const QdAlgebra *child = node->children[0];

    switch (child->kind) {
    case QD_ALGEBRA_JOIN:
        return filter_parts(self, node);
    case QD_ALGEBRA_LEFT_JOIN:
    case QD_ALGEBRA_MINUS:
        return filter_left(self, node);
    case QD_ALGEBRA_EXTEND:
        return filter_values(self, node);
    default:
        return NULL;
    }
}

QdRelation *
qd_generate_product(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    const QdAlgebra *child = node->children[0];
    const QdAlgebra *rewritten;

    /* what begins from seeds is known by its node; an endpoint, which is volatile, is asked with what the other parts bind */
    if (self->outer != NULL || child == self->seeded.node || qd_algebra_is_volatile(child))
        return NULL;
    rewritten = rewrite(self, node);
    if (rewritten != NULL)
        return qd_generator_generate(self, rewritten, bound);
    return child->kind == QD_ALGEBRA_JOIN ? join_by_values(self, node) : NULL;
}

QdRelation *
qd_generate_keyed_right(QdGenerator *self, const QdRelation *left, const QdAlgebra *node)
{
    g_autoptr(GPtrArray) sides = NULL;
    g_autoptr(GPtrArray) conditions = NULL;
    g_autoptr(GArray) equalities = NULL;
    g_autoptr(GPtrArray) joined = NULL;
    QdRelation *right;

    if (node->n_expressions == 0 || self->outer != NULL || qd_algebra_is_volatile(node) ||
        qd_variable_set_shares(&node->children[0]->possible, &node->children[1]->possible))
        return NULL;
    sides = g_ptr_array_new_with_free_func(component_free);
    for (guint i = 0; i < node->n_children; i++)
        add_part(self, sides, node->children[i]);
    conditions = list_conditions(node);
    equalities = list_equalities(self, sides, conditions);
    if (equalities->len == 0)
        return NULL;
    joined = g_ptr_array_new();
    g_ptr_array_add(joined, sides->pdata[0]);
    right = seal_with_keys(self, qd_generator_generate(self, node->children[1], NULL), sides->pdata[1], equalities, joined);
    return match_keys(self, right, left, sides->pdata[1], equalities, joined);
}

/* @exists as an OPTIONAL after the left of @node, a filter. NULL: it is not links with conditions, or one looks for more. */
static QdAlgebra *
make_optional(QdGenerator *self, const QdAlgebra *node, QdExpression *exists)
{
    const QdAlgebra *inner = qd_rewrite_get_exists(self, exists);
    QdAlgebra *sides[2];
    QdAlgebra *optional;

    if (inner->kind != QD_ALGEBRA_FILTER || !qd_algebra_consists_of_links(inner->children[0]))
        return NULL;
    for (guint i = 0; i < inner->n_expressions; i++) {
        if (has_exists(inner->expressions[i]))
            return NULL;
    }
    sides[0] = node->children[0];
    sides[1] = inner->children[0];
    optional = qd_algebra_new_parent(self->ast, QD_ALGEBRA_LEFT_JOIN, sides, G_N_ELEMENTS(sides));
    optional->expressions = inner->expressions;
    optional->n_expressions = inner->n_expressions;
    return optional;
}

QdSql
qd_generate_keyed_exists(QdGenerator *self, const QdRelation *left, const QdAlgebra *node, QdExpression *exists)
{
    const QdAlgebra *optional = exists->kind == QD_EXPRESSION_KIND_EXISTS ? make_optional(self, node, exists) : NULL;
    QdRelation *right = optional != NULL ? qd_generate_keyed_right(self, left, optional) : NULL;
    const QdRelation *seen;

    if (right == NULL)
        return QD_SQL_NONE;
    seen = qd_left_join_see(self, left, right, optional);
    right->conditions = seen->conditions;
    right->n_conditions = seen->n_conditions;
    return qd_sql_make(self->arena, exists->negated ? "NOT @" : "@",
                       qd_sql_exists(self->arena, QD_SQL_NONE, qd_relation_write_probe(self, right)));
}
