/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The four forms of a query, subselects, solution modifiers, and the rules on what may be projected (§18.2.4, §19.8 notes).
 */

#include "daemon/sparql/parser-private.h"

static QdSelect *
new_select(QdParser *self)
{
    QdSelect *select = qd_arena_new0(self->arena, QdSelect);

    select->limit = QD_NO_LIMIT;
    return select;
}

/* --- what is selected ------------------------------------------------------------------------------------------------- */

/* "expression AS ?variable" after '(' up to ')'; the name is optional in GROUP BY. */
static gboolean
parse_named_expression(QdParser *self, QdBinding *ret_binding, gboolean name_optional)
{
    if (!qd_parser_expect(self, '(', "'('"))
        return FALSE;
    ret_binding->variable = G_MAXUINT;
    ret_binding->expression = qd_parser_parse_expression(self);
    if (ret_binding->expression == NULL)
        return FALSE;
    if (!name_optional || qd_parser_is_word(self, "AS")) {
        if (!qd_parser_expect_word(self, "AS") || !qd_parser_parse_variable(self, &ret_binding->variable))
            return FALSE;
    }
    return qd_parser_expect(self, ')', name_optional ? "AS or ')'" : "')'");
}

static gboolean
parse_items(QdParser *self, GArray *items, GArray *offsets)
{
    self->takes_aggregate = TRUE;
    while (qd_parser_is(self, QD_TOKEN_VAR) || qd_parser_is(self, '(')) {
        QdBinding item = { 0 };

        g_array_append_val(offsets, self->token.offset);
        if (qd_parser_is(self, '(') ? !parse_named_expression(self, &item, FALSE) : !qd_parser_parse_variable(self, &item.variable))
            return FALSE;
        g_array_append_val(items, item);
    }
    self->takes_aggregate = FALSE;
    return items->len > 0 || qd_parser_fail_expected(self, "a variable, '(' or '*'");
}

/* SELECT *: all that is visible and has a name. */
static void
add_all_visible(QdParser *self, GArray *items, const QdVariableSet *visible)
{
    QD_VARIABLE_SET_FOREACH(visible, variable)
    {
        QdBinding item = { NULL, variable };

        if (qd_ast_get_variable_name(self->ast, variable) != NULL)
            g_array_append_val(items, item);
    }
}

/* A variable that @expression uses outside aggregates, that the pattern has, and that @allowed has not. */
static gboolean
find_ungrouped(const QdExpression *expression, const QdVariableSet *visible, const QdVariableSet *allowed, guint *ret_variable)
{
    if (expression->kind == QD_EXPRESSION_KIND_VARIABLE) {
        *ret_variable = expression->variable;
        return qd_variable_set_has(visible, expression->variable) && !qd_variable_set_has(allowed, expression->variable);
    }
    if (expression->kind == QD_EXPRESSION_KIND_AGGREGATE)
        return FALSE;
    for (guint i = 0; i < expression->n_children; i++) {
        if (find_ungrouped(expression->children[i], visible, allowed, ret_variable))
            return TRUE;
    }
    return FALSE;
}

static gboolean
check_items(QdParser *self, const QdSelect *select, const GArray *offsets, const QdVariableSet *visible)
{
    QdVariableSet grouped = { 0 };
    QdVariableSet named = { 0 };

    for (guint i = 0; i < select->n_groups; i++) {
        const QdBinding *group = &select->groups[i];

        if (group->variable != G_MAXUINT)
            qd_variable_set_add(&grouped, self->arena, group->variable);
    }
    for (guint i = 0; i < select->n_items; i++) {
        const QdBinding *item = &select->items[i];
        guint64 offset = i < offsets->len ? g_array_index(offsets, guint64, i) : 0;
        QdExpression plain = { .kind = QD_EXPRESSION_KIND_VARIABLE, .variable = item->variable };
        const char *name = qd_ast_get_variable_name(self->ast, item->variable);
        guint variable;

        if (select->grouped && find_ungrouped(item->expression != NULL ? item->expression : &plain, visible, &grouped, &variable))
            return qd_parser_fail(self, offset, "?%s is neither in GROUP BY nor in an aggregate",
                                  qd_ast_get_variable_name(self->ast, variable));
        if (item->expression != NULL &&
            (qd_variable_set_has(visible, item->variable) || qd_variable_set_has(&named, item->variable)))
            return qd_parser_fail(self, offset, "AS ?%s, which is there already", name);
        qd_variable_set_add(&named, self->arena, item->variable);
    }
    return TRUE;
}

/* --- solution modifiers ----------------------------------------------------------------------------------------------- */

static gboolean
parse_group_by(QdParser *self, QdSelect *select)
{
    g_autoptr(GArray) groups = g_array_new(FALSE, TRUE, sizeof(QdBinding));

    if (!qd_parser_expect_word(self, "BY"))
        return FALSE;
    while (qd_parser_is(self, QD_TOKEN_VAR) || qd_parser_starts_constraint(self)) {
        QdBinding group = { NULL, G_MAXUINT };

        if (qd_parser_is(self, QD_TOKEN_VAR)) {
            if (!qd_parser_parse_variable(self, &group.variable))
                return FALSE;
        } else if (qd_parser_is(self, '(')) {
            if (!parse_named_expression(self, &group, TRUE))
                return FALSE;
        } else {
            group.expression = qd_parser_parse_constraint(self);
            if (group.expression == NULL)
                return FALSE;
        }
        if (group.expression != NULL && group.variable == G_MAXUINT && group.expression->kind == QD_EXPRESSION_KIND_VARIABLE) {
            group.variable = group.expression->variable; /* "(?x)" */
            group.expression = NULL;
        }
        g_array_append_val(groups, group);
    }
    select->grouped = TRUE;
    select->groups = qd_parser_take_array(self, groups);
    select->n_groups = groups->len;
    return groups->len > 0 ? qd_parser_count_parts(self, groups->len) : qd_parser_fail_call(self, "a variable, '(' or a call");
}

static gboolean
parse_having(QdParser *self, QdSelect *select)
{
    g_autoptr(GArray) having = g_array_new(FALSE, TRUE, sizeof(QdExpression *));

    do {
        QdExpression *expression = qd_parser_parse_constraint(self);

        if (expression == NULL)
            return FALSE;
        g_array_append_val(having, expression);
    } while (qd_parser_starts_constraint(self));
    select->having = qd_parser_take_array(self, having);
    select->n_having = having->len;
    return qd_parser_count_parts(self, having->len);
}

static gboolean
parse_order_by(QdParser *self, QdSelect *select)
{
    g_autoptr(GArray) orders = g_array_new(FALSE, TRUE, sizeof(QdOrder));

    if (!qd_parser_expect_word(self, "BY"))
        return FALSE;
    for (;;) {
        gboolean descending = qd_parser_is_word(self, "DESC");
        QdOrder order = { .descending = descending };

        if (descending || qd_parser_is_word(self, "ASC")) {
            if (!qd_parser_advance(self))
                return FALSE;
            if (!qd_parser_is(self, '('))
                return qd_parser_fail_expected(self, "'('");
            order.expression = qd_parser_parse_constraint(self);
        } else if (qd_parser_is(self, QD_TOKEN_VAR)) {
            order.expression = qd_arena_new0(self->arena, QdExpression);
            order.expression->kind = QD_EXPRESSION_KIND_VARIABLE;
            if (!qd_parser_parse_variable(self, &order.expression->variable))
                return FALSE;
        } else if (qd_parser_starts_constraint(self)) {
            order.expression = qd_parser_parse_constraint(self);
        } else {
            break;
        }
        if (order.expression == NULL)
            return FALSE;
        g_array_append_val(orders, order);
    }
    select->orders = qd_parser_take_array(self, orders);
    select->n_orders = orders->len;
    return orders->len > 0 ? qd_parser_count_parts(self, orders->len)
                           : qd_parser_fail_call(self, "ASC, DESC, a variable, '(' or a call");
}

static gboolean
parse_limits(QdParser *self, QdSelect *select)
{
    for (guint i = 0; i < 2; i++) {
        if (select->limit == QD_NO_LIMIT && qd_parser_accept_word(self, "LIMIT")) {
            if (!qd_parser_parse_integer(self, &select->limit))
                return FALSE;
        } else if (select->offset == 0 && qd_parser_accept_word(self, "OFFSET")) {
            if (!qd_parser_parse_integer(self, &select->offset))
                return FALSE;
        }
    }
    return self->error == NULL;
}

static gboolean
parse_modifiers(QdParser *self, QdSelect *select)
{
    gboolean parsed = TRUE;

    if (qd_parser_accept_word(self, "GROUP"))
        parsed = parse_group_by(self, select);
    self->takes_aggregate = TRUE;
    if (parsed && qd_parser_accept_word(self, "HAVING"))
        parsed = parse_having(self, select);
    if (parsed && qd_parser_accept_word(self, "ORDER"))
        parsed = parse_order_by(self, select);
    self->takes_aggregate = FALSE;
    return parsed && parse_limits(self, select);
}

/* The VALUES clause at the end of a query or subselect; its variables count as visible. */
static gboolean
parse_values_clause(QdParser *self, QdSelect *select, QdVariableSet *visible)
{
    if (!qd_parser_accept_word(self, "VALUES"))
        return self->error == NULL;
    select->values = qd_parser_parse_values(self);
    if (select->values == NULL)
        return FALSE;
    for (guint i = 0; i < select->values->n_variables; i++)
        qd_variable_set_add(visible, self->arena, select->values->variables[i]);
    return TRUE;
}

/* --- forms ------------------------------------------------------------------------------------------------------------ */

static gboolean
parse_query_dataset(QdParser *self)
{
    QdDatasetClause *clause = qd_parser_parse_dataset(self, "FROM");

    if (clause == NULL)
        return FALSE;
    if (clause->n_graphs + clause->n_named > 0)
        self->ast->dataset = clause;
    return TRUE;
}

static gboolean
parse_where(QdParser *self, QdSelect *select)
{
    gboolean has_word = qd_parser_accept_word(self, "WHERE");

    if (!qd_parser_is(self, '{'))
        return qd_parser_fail_expected(self, has_word ? "'{'" : "WHERE or '{'");
    select->where = qd_parser_parse_group(self);
    return select->where != NULL;
}

/* SELECT up to VALUES, of a query (@with_dataset) or a subselect; @ret_visible (nullable) gets what it projects. */
static QdSelect *
parse_select(QdParser *self, gboolean with_dataset, QdVariableSet *ret_visible)
{
    g_autoptr(GArray) items = g_array_sized_new(FALSE, TRUE, sizeof(QdBinding), QD_FEW);
    g_autoptr(GArray) offsets = g_array_sized_new(FALSE, TRUE, sizeof(guint64), QD_FEW);
    QdSelect *select = new_select(self);
    QdVariableSet visible = { 0 };
    guint64 offset = self->token.offset;
    gboolean outer_aggregate = self->has_aggregate;
    gboolean all;

    self->has_aggregate = FALSE;
    if (!qd_parser_expect_word(self, "SELECT"))
        return NULL;
    select->distinct = qd_parser_accept_word(self, "DISTINCT");
    if (!select->distinct)
        (void) qd_parser_accept_word(self, "REDUCED"); /* may leave rows out, and leaves out none */
    all = qd_parser_accept(self, '*');
    if (self->error != NULL || (!all && !parse_items(self, items, offsets)))
        return NULL;
    if ((with_dataset && !parse_query_dataset(self)) || !parse_where(self, select) || !parse_modifiers(self, select))
        return NULL;
    qd_variable_set_add_all(&visible, self->arena, &select->where->visible);
    if (!parse_values_clause(self, select, &visible))
        return NULL;

    select->grouped = select->grouped || self->has_aggregate;
    self->has_aggregate = outer_aggregate;
    if (all && select->grouped) {
        (void) qd_parser_fail(self, offset, "SELECT * with GROUP BY or aggregates");
        return NULL;
    }
    if (all)
        add_all_visible(self, items, &visible);
    select->items = qd_parser_take_array(self, items);
    select->n_items = items->len;
    if (!check_items(self, select, offsets, &select->where->visible))
        return NULL;
    for (guint i = 0; ret_visible != NULL && i < select->n_items; i++)
        qd_variable_set_add(ret_visible, self->arena, select->items[i].variable);
    return select;
}

QdSelect *
qd_parser_parse_subselect(QdParser *self, QdVariableSet *visible)
{
    gboolean takes_aggregate = self->takes_aggregate;
    QdSelect *select;

    self->takes_aggregate = FALSE;
    select = parse_select(self, FALSE, visible);
    self->takes_aggregate = takes_aggregate;
    return select;
}

/* Modifiers and VALUES of CONSTRUCT, DESCRIBE and ASK, whose solutions have every variable. */
static gboolean
parse_tail(QdParser *self, QdSelect *select)
{
    g_autoptr(GArray) items = g_array_sized_new(FALSE, TRUE, sizeof(QdBinding), QD_FEW);
    QdVariableSet visible = { 0 };

    self->has_aggregate = FALSE;
    if (!parse_modifiers(self, select))
        return FALSE;
    if (select->where != NULL)
        qd_variable_set_add_all(&visible, self->arena, &select->where->visible);
    if (!parse_values_clause(self, select, &visible))
        return FALSE;
    select->grouped = select->grouped || self->has_aggregate;
    if (!select->grouped)
        add_all_visible(self, items, &visible);
    for (guint i = 0; select->grouped && i < select->n_groups; i++) {
        QdBinding item = { NULL, select->groups[i].variable };

        if (item.variable != G_MAXUINT)
            g_array_append_val(items, item);
    }
    select->items = qd_parser_take_array(self, items);
    select->n_items = items->len;
    return TRUE;
}

static gboolean
parse_construct(QdParser *self, QdSelect *select)
{
    g_autoptr(GArray) triples = g_array_new(FALSE, TRUE, sizeof(QdTriple));
    gboolean has_template = qd_parser_is(self, '{');

    self->blank_nodes = QD_BLANK_NODES_FRESH;
    if (has_template && !qd_parser_parse_template(self, triples))
        return FALSE;
    self->blank_nodes = QD_BLANK_NODES_VARIABLES;
    if (!parse_query_dataset(self))
        return FALSE;
    if (has_template) {
        if (!parse_where(self, select))
            return FALSE;
    } else {
        QdPattern *pattern;

        if (!qd_parser_expect_word(self, "WHERE"))
            return FALSE;
        select->where = qd_parser_new_pattern(self, QD_PATTERN_GROUP);
        pattern = qd_parser_new_pattern(self, QD_PATTERN_TRIPLES);
        if (!qd_parser_parse_template(self, triples) || !qd_parser_count_parts(self, triples->len))
            return FALSE;
        pattern->triples = qd_parser_take_array(self, triples);
        pattern->n_triples = triples->len;
        qd_parser_add_triple_variables(self, pattern->triples, pattern->n_triples, &select->where->visible);
        select->where->children = qd_arena_new0(self->arena, QdPattern *);
        select->where->children[0] = pattern;
        select->where->n_children = 1;
    }
    self->ast->template = qd_parser_take_array(self, triples);
    self->ast->n_template = triples->len;
    return parse_tail(self, select);
}

static gboolean
parse_describe(QdParser *self, QdSelect *select)
{
    g_autoptr(GArray) nodes = g_array_new(FALSE, TRUE, sizeof(QdNode));
    gboolean all = qd_parser_accept(self, '*');

    while (!all && (qd_parser_is(self, QD_TOKEN_VAR) || qd_parser_starts_iri(self))) {
        QdNode node = { 0 };

        if (!qd_parser_parse_variable_or_iri(self, &node))
            return FALSE;
        g_array_append_val(nodes, node);
    }
    if (!all && nodes->len == 0)
        return qd_parser_fail_expected(self, "a variable, an IRI or '*'");
    if (!parse_query_dataset(self))
        return FALSE;
    if ((qd_parser_is_word(self, "WHERE") || qd_parser_is(self, '{')) && !parse_where(self, select))
        return FALSE;
    if (!parse_tail(self, select))
        return FALSE;
    for (guint i = 0; all && i < select->n_items; i++) {
        QdNode node = { .kind = QD_NODE_VARIABLE, .variable = select->items[i].variable };

        g_array_append_val(nodes, node);
    }
    self->ast->described = qd_parser_take_array(self, nodes);
    self->ast->n_described = nodes->len;
    return TRUE;
}

gboolean
qd_parser_parse_query(QdParser *self)
{
    QdSelect *select = new_select(self);
    gboolean parsed;

    if (!qd_parser_parse_prologue(self))
        return FALSE;
    if (qd_parser_is_word(self, "SELECT")) {
        self->ast->form = QD_FORM_SELECT;
        select = parse_select(self, TRUE, NULL);
        parsed = select != NULL;
    } else if (qd_parser_accept_word(self, "CONSTRUCT")) {
        self->ast->form = QD_FORM_CONSTRUCT;
        parsed = parse_construct(self, select);
    } else if (qd_parser_accept_word(self, "DESCRIBE")) {
        self->ast->form = QD_FORM_DESCRIBE;
        parsed = parse_describe(self, select);
    } else if (qd_parser_accept_word(self, "ASK")) {
        self->ast->form = QD_FORM_ASK;
        parsed = parse_query_dataset(self) && parse_where(self, select) && parse_tail(self, select);
    } else {
        return qd_parser_fail_expected(self, QD_PARSER_FIRST_WORDS);
    }
    self->ast->select = select;
    if (!parsed)
        return FALSE;
    return qd_parser_is(self, QD_TOKEN_END) || qd_parser_fail_expected(self, "the end of the query");
}
