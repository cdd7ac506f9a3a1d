/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Expressions by precedence. Chains of && and || become balanced trees, chains of + and * lean to the left, as they must.
 */
#include <string.h>

#include "daemon/sparql/parser-private.h"

#define GROUP_MAX 64 /* arguments of a call, before it becomes calls of calls */

static QdExpression *
new_expression(QdParser *self, QdExpressionKind kind)
{
    QdExpression *expression = qd_arena_new0(self->arena, QdExpression);

    expression->kind = kind;
    return expression;
}

static QdExpression *
new_call(QdParser *self, QdExpressionOp op, QdExpression **children, guint n_children)
{
    QdExpression *call = new_expression(self, QD_EXPRESSION_KIND_CALL);

    call->op = op;
    self->ast->is_volatile = self->ast->is_volatile || !qd_expression_op_is_stable(op);
    call->n_children = n_children;
    call->children = qd_arena_array0(self->arena, QdExpression *, n_children);
    if (n_children > 0)
        memcpy(call->children, children, n_children * sizeof(QdExpression *));
    return call;
}

static QdExpression *
new_binary(QdParser *self, QdExpressionOp op, QdExpression *left, QdExpression *right)
{
    QdExpression *children[] = { left, right };

    return left != NULL && right != NULL ? new_call(self, op, children, 2) : NULL;
}

static QdExpression *
new_term(QdParser *self, const QdTerm *term)
{
    QdExpression *expression = new_expression(self, QD_EXPRESSION_KIND_TERM);

    expression->term = term;
    qd_parser_lift_term(self, term);
    return expression;
}

/* --- calls ------------------------------------------------------------------------------------------------------------ */

/* '(' … ')' with expressions between commas, none included; appends to @arguments. @ret_distinct: (nullable): DISTINCT may come
 * first. */
static gboolean
parse_arguments(QdParser *self, GArray *arguments, gboolean *ret_distinct)
{
    if (!qd_parser_expect(self, '(', "'('"))
        return FALSE;
    if (qd_parser_accept(self, ')'))
        return self->error == NULL;
    if (ret_distinct != NULL)
        *ret_distinct = qd_parser_accept_word(self, "DISTINCT");
    do {
        QdExpression *argument = self->error == NULL ? qd_parser_parse_expression(self) : NULL;

        if (argument == NULL)
            return FALSE;
        g_array_append_val(arguments, argument);
    } while (qd_parser_accept(self, ','));
    return qd_parser_expect(self, ')', "',' or ')'");
}

static QdExpression *
parse_exists(QdParser *self, gboolean negated)
{
    QdExpression *exists = new_expression(self, QD_EXPRESSION_KIND_EXISTS);
    gboolean takes_aggregate = self->takes_aggregate;

    self->takes_aggregate = FALSE;
    self->counts.n_patterns++;
    exists->negated = negated;
    exists->pattern = qd_parser_parse_group(self);
    self->counts.n_patterns++;
    self->takes_aggregate = takes_aggregate;
    return exists->pattern != NULL ? exists : NULL;
}

static gboolean
check_arity(QdParser *self, guint64 offset, const char *name, guint n, guint min, guint max)
{
    if (n < min && max >= QD_EXPRESSION_CHILDREN_MAX)
        return qd_parser_fail(self, offset, "%s takes at least %u arguments, not %u", name, min, n);
    if ((n < min || n > max) && min == max)
        return qd_parser_fail(self, offset, "%s takes %u arguments, not %u", name, min, n);
    if (n < min || (n > max && max < QD_EXPRESSION_CHILDREN_MAX))
        return qd_parser_fail(self, offset, "%s takes %u to %u arguments, not %u", name, min, max, n);
    return TRUE;
}

/* CONCAT and COALESCE of very many: calls of calls, since a node and SQLite's functions take so many only. */
static QdExpression *
new_grouped_call(QdParser *self, QdExpressionOp op, QdExpression **arguments, guint n_arguments)
{
    gboolean any_number = op == QD_EXPRESSION_CONCAT || op == QD_EXPRESSION_COALESCE;

    while (any_number && n_arguments > GROUP_MAX) {
        guint n_groups = 0;

        for (guint i = 0; i < n_arguments; i += GROUP_MAX)
            arguments[n_groups++] = new_call(self, op, arguments + i, MIN(GROUP_MAX, n_arguments - i));
        n_arguments = n_groups;
    }
    return new_call(self, op, arguments, n_arguments);
}

static QdExpression *
parse_built_in(QdParser *self, QdExpressionOp op)
{
    const QdExpressionOpInfo *info = qd_expression_op_get_info(op);
    g_autoptr(GArray) arguments = g_array_new(FALSE, FALSE, sizeof(QdExpression *));
    guint64 offset = self->token.offset;
    guint max = op == QD_EXPRESSION_BNODE || op == QD_EXPRESSION_IRI ? 1 : info->max; /* programs add arguments of their own */

    if (!qd_parser_advance(self) || !parse_arguments(self, arguments, NULL) ||
        !check_arity(self, offset, info->name, arguments->len, info->min, max))
        return NULL;
    if (op == QD_EXPRESSION_BOUND && g_array_index(arguments, QdExpression *, 0)->kind != QD_EXPRESSION_KIND_VARIABLE) {
        (void) qd_parser_fail(self, offset, "BOUND takes a variable");
        return NULL;
    }
    return new_grouped_call(self, op, (QdExpression **) (gpointer) arguments->data, arguments->len);
}

/* §17.6: to call it is an error for each solution, not for the query. */
static QdExpression *
call_unknown(QdParser *self, guint64 offset, const QdTerm *iri)
{
    guint line, column;

    if (self->service.depth > 0) /* the endpoint may know it */
        return new_expression(self, QD_EXPRESSION_KIND_UNKNOWN);
    qd_lexer_get_place(self->lexer, offset, &line, &column);
    g_ptr_array_add(self->ast->warnings,
                    qd_arena_printf(self->arena, "%u:%u: the function <%s> is not known: each call of it is an error", line, column,
                                    iri->lexical));
    return new_expression(self, QD_EXPRESSION_KIND_UNKNOWN);
}

static QdExpression *
parse_function(QdParser *self)
{
    g_autoptr(GArray) arguments = g_array_new(FALSE, FALSE, sizeof(QdExpression *));
    guint64 offset = self->token.offset;
    gboolean distinct = FALSE;
    const QdTerm *iri;
    QdExpressionOp cast;

    if (!qd_parser_parse_iri(self, &iri))
        return NULL;
    if (!qd_parser_is(self, '('))
        return new_term(self, iri);
    if (!parse_arguments(self, arguments, &distinct))
        return NULL;
    if (g_str_has_prefix(iri->lexical, QD_FTS_NAMESPACE))
        return qd_parser_make_match_call(self, offset, iri, arguments, new_expression(self, QD_EXPRESSION_KIND_UNKNOWN));
    cast = qd_expression_op_from_iri(iri->lexical, iri->n_lexical);
    if (cast == 0)
        return call_unknown(self, offset, iri);
    if (distinct) {
        (void) qd_parser_fail(self, offset, "DISTINCT in a call of <%s>, which is no aggregate", iri->lexical);
        return NULL;
    }
    if (!check_arity(self, offset, iri->lexical, arguments->len, 1, 1))
        return NULL;
    return new_call(self, cast, (QdExpression **) (gpointer) arguments->data, 1);
}

static gboolean
find_aggregate(const QdToken *token, QdAggregateKind *ret_kind)
{
    static const char *const names[] = { QD_AGGREGATE_NAMES };

    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        if (qd_token_is_word(token, names[i])) {
            *ret_kind = (QdAggregateKind) i;
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean
parse_separator(QdParser *self, QdExpression *aggregate)
{
    if (!qd_parser_accept(self, ';'))
        return self->error == NULL;
    if (!qd_parser_expect_word(self, "SEPARATOR") || !qd_parser_expect(self, '=', "'='"))
        return FALSE;
    if (!qd_parser_is(self, QD_TOKEN_STRING))
        return qd_parser_fail_expected(self, "a string");
    aggregate->separator = qd_parser_make_term(self, QD_TERM_STRING, self->token.text, self->token.n_text);
    return qd_parser_advance(self);
}

static QdExpression *
parse_aggregate(QdParser *self, QdAggregateKind kind)
{
    QdExpression *aggregate = new_expression(self, QD_EXPRESSION_KIND_AGGREGATE);
    QdExpression *argument;

    if (!self->takes_aggregate) {
        (void) qd_parser_fail(self, self->token.offset, "an aggregate outside SELECT, HAVING and ORDER BY, or inside another");
        return NULL;
    }
    self->has_aggregate = TRUE;
    aggregate->aggregate = kind;
    if (!qd_parser_advance(self) || !qd_parser_expect(self, '(', "'('"))
        return NULL;
    aggregate->distinct = qd_parser_accept_word(self, "DISTINCT");
    if (kind == QD_AGGREGATE_COUNT && qd_parser_accept(self, '*'))
        return qd_parser_expect(self, ')', "')'") ? aggregate : NULL;

    self->takes_aggregate = FALSE;
    argument = self->error == NULL ? qd_parser_parse_expression(self) : NULL;
    self->takes_aggregate = TRUE;
    if (argument == NULL || (kind == QD_AGGREGATE_GROUP_CONCAT && !parse_separator(self, aggregate)) ||
        !qd_parser_expect(self, ')', "')'"))
        return NULL;
    aggregate->children = qd_arena_new0(self->arena, QdExpression *);
    aggregate->children[0] = argument;
    aggregate->n_children = 1;
    return aggregate;
}

/* A word that begins a call; NULL without an error: none of ours. */
static QdExpression *
parse_named_call(QdParser *self)
{
    QdAggregateKind aggregate;
    QdExpressionOp op;

    if (qd_parser_accept_word(self, "EXISTS"))
        return parse_exists(self, FALSE);
    if (qd_parser_accept_word(self, "NOT"))
        return qd_parser_expect_word(self, "EXISTS") ? parse_exists(self, TRUE) : NULL;
    if (find_aggregate(&self->token, &aggregate))
        return parse_aggregate(self, aggregate);
    op = self->error == NULL ? qd_expression_op_from_keyword(self->token.text, self->token.n_text) : 0;
    return op != 0 ? parse_built_in(self, op) : NULL;
}

/* --- operators -------------------------------------------------------------------------------------------------------- */

static QdExpression *
parse_primary(QdParser *self)
{
    QdExpression *expression = NULL;
    const QdTerm *literal;
    guint variable;

    if (qd_parser_accept(self, '(')) {
        expression = self->error == NULL ? qd_parser_parse_expression(self) : NULL;
        return expression != NULL && qd_parser_expect(self, ')', "an operator or ')'") ? expression : NULL;
    }
    if (qd_parser_is(self, QD_TOKEN_VAR)) {
        if (!qd_parser_parse_variable(self, &variable))
            return NULL;
        expression = new_expression(self, QD_EXPRESSION_KIND_VARIABLE);
        expression->variable = variable;
        return expression;
    }
    if (qd_parser_starts_iri(self))
        return parse_function(self);
    if (qd_parser_starts_literal(self))
        return qd_parser_parse_literal(self, &literal) ? new_term(self, literal) : NULL;
    if (qd_parser_is(self, QD_TOKEN_WORD))
        expression = parse_named_call(self);
    if (expression == NULL)
        (void) qd_parser_fail_call(self, "an expression");
    return expression;
}

static QdExpression *
parse_unary(QdParser *self)
{
    QdExpressionOp op = 0;
    QdExpression *operand;

    if (qd_parser_is(self, '!'))
        op = QD_EXPRESSION_NOT;
    else if (qd_parser_is(self, '-'))
        op = QD_EXPRESSION_NEG;
    else if (qd_parser_is(self, '+'))
        op = QD_EXPRESSION_PLUS;
    if (op == 0)
        return parse_primary(self);
    if (!qd_parser_advance(self))
        return NULL;
    operand = parse_primary(self);
    return operand != NULL ? new_call(self, op, &operand, 1) : NULL;
}

static gboolean
count_link(QdParser *self, guint *n)
{
    if (++*n <= qd_limits_get(self->options->limits, QD_LIMIT_SPARQL_CHAIN))
        return TRUE;
    return qd_parser_fail_limit(self, QD_LIMIT_SPARQL_CHAIN, "too many operators in a chain");
}

/* What follows a first factor. */
static QdExpression *
parse_factors(QdParser *self, QdExpression *left)
{
    guint n = 0;

    while (left != NULL && self->error == NULL && (qd_parser_is(self, '*') || qd_parser_is(self, '/'))) {
        QdExpressionOp op = qd_parser_is(self, '*') ? QD_EXPRESSION_MUL : QD_EXPRESSION_DIV;

        if (!count_link(self, &n) || !qd_parser_advance(self))
            return NULL;
        left = new_binary(self, op, left, parse_unary(self));
    }
    return left;
}

static gboolean
is_signed_number(const QdParser *self)
{
    return (qd_parser_is(self, QD_TOKEN_INTEGER) || qd_parser_is(self, QD_TOKEN_DECIMAL) || qd_parser_is(self, QD_TOKEN_DOUBLE)) &&
           !g_ascii_isdigit(self->token.text[0]) && self->token.text[0] != '.';
}

static QdExpression *
parse_additive(QdParser *self)
{
    QdExpression *left = parse_factors(self, parse_unary(self));
    guint n = 0;

    while (left != NULL && self->error == NULL) {
        QdExpressionOp op = qd_parser_is(self, '-') ? QD_EXPRESSION_SUB : QD_EXPRESSION_ADD;

        if (!qd_parser_is(self, '+') && !qd_parser_is(self, '-') && !is_signed_number(self))
            break;
        /* "?x -1": the lexer took the sign along, so the number is added */
        if (!count_link(self, &n) || (!is_signed_number(self) && !qd_parser_advance(self)))
            return NULL;
        left = new_binary(self, op, left, parse_factors(self, parse_unary(self)));
    }
    return left;
}

/* A balanced tree, so that a long chain is not a deep one. */
static QdExpression *
balance(QdParser *self, QdExpressionOp op, QdExpression **members, guint n_members)
{
    if (n_members == 1)
        return members[0];
    return new_binary(self, op, balance(self, op, members, n_members / 2),
                      balance(self, op, members + n_members / 2, n_members - n_members / 2));
}

static gboolean
all_are_terms(QdExpression *const *expressions, guint n)
{
    for (guint i = 0; i < n; i++) {
        if (expressions[i]->kind != QD_EXPRESSION_KIND_TERM)
            return FALSE;
    }
    return TRUE;
}

/* A long list that is computed: IN of one part or IN of the next, since SQLite's functions take so many arguments only. */
static QdExpression *
new_membership(QdParser *self, QdExpressionOp op, QdExpression *value, QdExpression **list, guint n_list)
{
    guint n_each = all_are_terms(list, n_list) ? MAX(1, n_list) : GROUP_MAX;
    guint n_parts = MAX(1, (n_list + n_each - 1) / n_each);
    g_autofree QdExpression **parts = g_new0(QdExpression *, n_parts);
    g_autofree QdExpression **arguments = g_new0(QdExpression *, n_each + 1);

    arguments[0] = value;
    for (guint i = 0; i < n_parts; i++) {
        guint n = MIN(n_each, n_list - i * n_each);

        if (n > 0)
            memcpy(arguments + 1, list + i * n_each, n * sizeof(QdExpression *));
        parts[i] = new_call(self, op, arguments, n + 1);
    }
    return balance(self, op == QD_EXPRESSION_IN ? QD_EXPRESSION_OR : QD_EXPRESSION_AND, parts, n_parts);
}

static QdExpression *
parse_in(QdParser *self, QdExpression *left, QdExpressionOp op)
{
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(QdExpression *));

    if (!parse_arguments(self, list, NULL))
        return NULL;
    return new_membership(self, op, left, (QdExpression **) (gpointer) list->data, list->len);
}

static QdExpression *
parse_relational(QdParser *self)
{
    static const struct {
        guint token;
        QdExpressionOp op;
    } operators[] = {
        { '=', QD_EXPRESSION_EQ }, { QD_TOKEN_NOT_EQUAL, QD_EXPRESSION_NE },  { '<', QD_EXPRESSION_LT },
        { '>', QD_EXPRESSION_GT }, { QD_TOKEN_LESS_EQUAL, QD_EXPRESSION_LE }, { QD_TOKEN_GREATER_EQUAL, QD_EXPRESSION_GE },
    };
    QdExpression *left = parse_additive(self);

    if (left == NULL)
        return NULL;
    for (guint i = 0; i < G_N_ELEMENTS(operators); i++) {
        if (qd_parser_accept(self, operators[i].token))
            return self->error == NULL ? new_binary(self, operators[i].op, left, parse_additive(self)) : NULL;
    }
    if (qd_parser_accept_word(self, "IN"))
        return parse_in(self, left, QD_EXPRESSION_IN);
    if (qd_parser_is_word(self, "NOT") && qd_parser_next_is_word(self, "IN")) {
        if (!qd_parser_advance(self) || !qd_parser_advance(self))
            return NULL;
        return parse_in(self, left, QD_EXPRESSION_NOT_IN);
    }
    return self->error == NULL ? left : NULL;
}

static QdExpression *
parse_chain(QdParser *self, QdExpressionOp op, guint token, QdExpression *(*parse_member)(QdParser *) )
{
    g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(QdExpression *));

    do {
        QdExpression *member = self->error == NULL ? parse_member(self) : NULL;

        if (member == NULL)
            return NULL;
        g_array_append_val(members, member);
    } while (qd_parser_accept(self, token));
    return self->error == NULL ? balance(self, op, (QdExpression **) (gpointer) members->data, members->len) : NULL;
}

static QdExpression *
parse_and(QdParser *self)
{
    return parse_chain(self, QD_EXPRESSION_AND, QD_TOKEN_AND, parse_relational);
}

QdExpression *
qd_parser_parse_expression(QdParser *self)
{
    QdExpression *expression;

    if (!qd_parser_enter(self))
        return NULL;
    expression = parse_chain(self, QD_EXPRESSION_OR, QD_TOKEN_OR, parse_and);
    qd_parser_leave(self);
    return expression;
}

gboolean
qd_parser_starts_constraint(const QdParser *self)
{
    QdAggregateKind aggregate;

    return qd_parser_is(self, '(') || qd_parser_starts_iri(self) || qd_parser_is_word(self, "EXISTS") ||
           qd_parser_is_word(self, "NOT") ||
           (qd_parser_is(self, QD_TOKEN_WORD) &&
            (find_aggregate(&self->token, &aggregate) || qd_expression_op_from_keyword(self->token.text, self->token.n_text) != 0));
}

QdExpression *
qd_parser_parse_constraint(QdParser *self)
{
    guint64 offset = self->token.offset;
    gboolean is_iri = qd_parser_starts_iri(self);
    QdExpression *expression;

    if (!qd_parser_starts_constraint(self)) {
        (void) qd_parser_fail_call(self, "'(' or a call");
        return NULL;
    }
    expression = parse_primary(self);
    if (expression != NULL && is_iri && expression->kind == QD_EXPRESSION_KIND_TERM) {
        (void) qd_parser_fail(self, offset, "an IRI alone, expected a call of it");
        return NULL;
    }
    return expression;
}
