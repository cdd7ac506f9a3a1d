/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filters of products. Parts of a join that share no variable with the others are filtered by themselves. So a condition that names
 * no other variables is tested for each solution of its parts, not for each pair.
 */
#include "daemon/plan/sqlgen-private.h"

/* Parts of the join that are connected by variables, and what is asked of these alone. */
typedef struct Component {
    QdVariableSet variables;
    GPtrArray *parts;      /* QdAlgebra */
    GPtrArray *conditions; /* QdExpression */
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

/* The conditions of @node, a filter, one by one: a && b holds when both do. */
static void
split(QdExpression *condition, GPtrArray *conditions)
{
    if (condition->kind == QD_EXPRESSION_KIND_CALL && condition->op == QD_EXPRESSION_AND) {
        split(condition->children[0], conditions);
        split(condition->children[1], conditions);
    } else {
        g_ptr_array_add(conditions, condition);
    }
}

static GPtrArray *
list_conditions(const QdAlgebra *node)
{
    GPtrArray *conditions = g_ptr_array_new();

    for (guint i = 0; i < node->n_expressions; i++)
        split(node->expressions[i], conditions);
    return conditions;
}

/* What an EXISTS looks for depends on all that is bound where it stands. */
static gboolean
may_move(const QdExpression *condition)
{
    return condition->kind != QD_EXPRESSION_KIND_EXISTS && !qd_expression_is_volatile(condition);
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
make_join(QdGenerator *self, const GPtrArray *parts)
{
    return parts->len == 1 ? parts->pdata[0]
                           : qd_algebra_new_parent(self->ast, QD_ALGEBRA_JOIN, (QdAlgebra **) parts->pdata, parts->len);
}

/* The join of @node, a filter, with its parts filtered by themselves. */
static QdAlgebra *
filter_parts(QdGenerator *self, const QdAlgebra *node)
{
    const QdAlgebra *join = node->children[0];
    g_autoptr(GPtrArray) components = g_ptr_array_new_with_free_func(component_free);
    g_autoptr(GPtrArray) conditions = list_conditions(node);
    g_autoptr(GPtrArray) rest = g_ptr_array_new();
    g_autoptr(GPtrArray) children = g_ptr_array_new();

    for (guint i = 0; i < join->n_children; i++)
        add_part(self, components, join->children[i]);
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
    left = moved->len > 0 ? qd_rewrite_product(self, make_filter(self, child->children[0], moved)) : NULL;
    return left != NULL ? make_filter(self, qd_algebra_put_on(self, child, left), rest) : NULL;
}

QdAlgebra *
qd_rewrite_product(QdGenerator *self, const QdAlgebra *node)
{
    const QdAlgebra *child = node->children[0];

    /* what begins from seeds is known by its node; an endpoint is asked with what the other parts bind */
    if (child == self->seeded.node || qd_algebra_has_service(self, child) || qd_algebra_is_volatile(child))
        return NULL;
    switch (child->kind) {
    case QD_ALGEBRA_JOIN:
        return filter_parts(self, node);
    case QD_ALGEBRA_LEFT_JOIN:
    case QD_ALGEBRA_MINUS:
    case QD_ALGEBRA_EXTEND:
        return filter_left(self, node);
    default:
        return NULL;
    }
}
