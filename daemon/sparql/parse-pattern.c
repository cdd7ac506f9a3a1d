/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Group graph patterns, and which variables each part makes visible (§18.2.1).
 */
#include "daemon/sparql/parser-private.h"

QdPattern *
qd_parser_new_pattern(QdParser *self, QdPatternKind kind)
{
    QdPattern *pattern = qd_arena_new0(self->arena, QdPattern);

    pattern->kind = kind;
    pattern->offset = self->token.offset;
    return pattern;
}

static void
add_node(QdParser *self, const QdNode *node, QdVariableSet *set)
{
    if (node->kind == QD_NODE_VARIABLE)
        qd_variable_set_add(set, self->arena, node->variable);
}

void
qd_parser_add_triple_variables(QdParser *self, const QdTriple *triples, guint n_triples, QdVariableSet *set)
{
    for (guint i = 0; i < n_triples; i++) {
        add_node(self, &triples[i].s, set);
        add_node(self, &triples[i].p, set);
        add_node(self, &triples[i].o, set);
        add_node(self, &triples[i].g, set);
    }
}

static QdPattern *
parse_triples_block(QdParser *self)
{
    g_autoptr(GArray) triples = g_array_sized_new(FALSE, TRUE, sizeof(QdTriple), QD_FEW);
    QdPattern *pattern = qd_parser_new_pattern(self, QD_PATTERN_TRIPLES);

    if (!qd_parser_parse_triples(self, triples, TRUE) || !qd_parser_count_parts(self, triples->len))
        return NULL;
    qd_parser_add_triple_variables(self, (const QdTriple *) (gpointer) triples->data, triples->len, &pattern->visible);
    if (!qd_parser_take_matches(self, triples, pattern))
        return NULL;
    pattern->triples = qd_parser_take_array(self, triples);
    pattern->n_triples = triples->len;
    return pattern;
}

static gboolean
set_only_child(QdParser *self, QdPattern *pattern)
{
    QdPattern *child = qd_parser_parse_group(self);

    if (child == NULL)
        return FALSE;
    pattern->children = qd_arena_new0(self->arena, QdPattern *);
    pattern->children[0] = child;
    pattern->n_children = 1;
    if (pattern->kind != QD_PATTERN_MINUS)
        qd_variable_set_add_all(&pattern->visible, self->arena, &child->visible);
    return TRUE;
}

/* OPTIONAL, MINUS: after the keyword; GRAPH: also after the node. */
static QdPattern *
parse_wrapper(QdParser *self, QdPatternKind kind)
{
    QdPattern *pattern = qd_parser_new_pattern(self, kind);

    if (self->error != NULL)
        return NULL;
    if (kind == QD_PATTERN_GRAPH) {
        if (!qd_parser_parse_variable_or_iri(self, &pattern->node))
            return NULL;
        add_node(self, &pattern->node, &pattern->visible);
    }
    return set_only_child(self, pattern) ? pattern : NULL;
}

static QdPattern *
parse_union(QdParser *self)
{
    g_autoptr(GArray) arms = g_array_new(FALSE, FALSE, sizeof(QdPattern *));
    QdPattern *pattern = qd_parser_new_pattern(self, QD_PATTERN_UNION);

    do {
        QdPattern *arm = qd_parser_parse_group(self);

        if (arm == NULL)
            return NULL;
        g_array_append_val(arms, arm);
        qd_variable_set_add_all(&pattern->visible, self->arena, &arm->visible);
        self->counts.n_patterns++;
    } while (qd_parser_accept_word(self, "UNION"));
    pattern->children = qd_parser_take_array(self, arms);
    pattern->n_children = arms->len;
    if (arms->len == 1)
        return pattern->children[0];
    return pattern;
}

static QdPattern *
parse_bind(QdParser *self, const QdVariableSet *used)
{
    QdPattern *pattern = qd_parser_new_pattern(self, QD_PATTERN_BIND);
    guint64 offset;

    if (!qd_parser_expect(self, '(', "'('"))
        return NULL;
    pattern->expression = qd_parser_parse_expression(self);
    if (pattern->expression == NULL || !qd_parser_expect_word(self, "AS"))
        return NULL;
    offset = self->token.offset;
    if (!qd_parser_parse_variable(self, &pattern->variable) || !qd_parser_expect(self, ')', "')'"))
        return NULL;
    if (qd_variable_set_has(used, pattern->variable)) {
        (void) qd_parser_fail(self, offset, "BIND to ?%s, which the group has already",
                              qd_ast_get_variable_name(self->ast, pattern->variable));
        return NULL;
    }
    qd_variable_set_add(&pattern->visible, self->arena, pattern->variable);
    return pattern;
}

static gboolean
parse_cell(QdParser *self, GArray *cells)
{
    const QdTerm *term = NULL;

    if (qd_parser_is_word(self, "UNDEF")) {
        if (!qd_parser_advance(self))
            return FALSE;
    } else if (qd_parser_starts_iri(self)) {
        if (!qd_parser_parse_iri(self, &term))
            return FALSE;
    } else if (!qd_parser_starts_literal(self)) {
        return qd_parser_fail_expected(self, "an IRI, a literal or UNDEF");
    } else if (!qd_parser_parse_literal(self, &term)) {
        return FALSE;
    }
    qd_parser_lift_term(self, term);
    g_array_append_val(cells, term);
    return TRUE;
}

static gboolean
parse_row(QdParser *self, GArray *cells, guint n_variables)
{
    guint64 offset = self->token.offset;
    guint n_before = cells->len;

    if (!qd_parser_expect(self, '(', "'('"))
        return FALSE;
    while (!qd_parser_is(self, ')')) {
        if (!parse_cell(self, cells))
            return FALSE;
    }
    if (cells->len - n_before != n_variables)
        return qd_parser_fail(self, offset, "a row of %u values for %u variables", cells->len - n_before, n_variables);
    return qd_parser_advance(self);
}

static gboolean
parse_values_variables(QdParser *self, GArray *variables, gboolean *ret_single)
{
    *ret_single = qd_parser_is(self, QD_TOKEN_VAR);
    if (!*ret_single && !qd_parser_expect(self, '(', "a variable or '('"))
        return FALSE;
    while (qd_parser_is(self, QD_TOKEN_VAR)) {
        guint variable;

        if (!qd_parser_parse_variable(self, &variable))
            return FALSE;
        g_array_append_val(variables, variable);
        if (*ret_single)
            return TRUE;
    }
    return qd_parser_expect(self, ')', "a variable or ')'");
}

QdValues *
qd_parser_parse_values(QdParser *self)
{
    g_autoptr(GArray) variables = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(GArray) cells = g_array_new(FALSE, FALSE, sizeof(const QdTerm *));
    QdValues *values = qd_arena_new0(self->arena, QdValues);
    gboolean single;

    if (!parse_values_variables(self, variables, &single) || !qd_parser_expect(self, '{', "'{'"))
        return NULL;
    while (!qd_parser_is(self, '}')) {
        if (!(single ? parse_cell(self, cells) : parse_row(self, cells, variables->len)))
            return NULL;
        values->n_rows++;
    }
    values->variables = qd_parser_take_array(self, variables);
    values->n_variables = variables->len;
    values->cells = qd_parser_take_array(self, cells);
    return qd_parser_advance(self) ? values : NULL;
}

static QdPattern *
parse_values(QdParser *self)
{
    QdPattern *pattern = qd_parser_new_pattern(self, QD_PATTERN_VALUES);

    pattern->values = qd_parser_parse_values(self);
    if (pattern->values == NULL)
        return NULL;
    for (guint i = 0; i < pattern->values->n_variables; i++)
        qd_variable_set_add(&pattern->visible, self->arena, pattern->values->variables[i]);
    return pattern;
}

static QdPattern *
parse_filter(QdParser *self)
{
    QdPattern *pattern = qd_parser_new_pattern(self, QD_PATTERN_FILTER);
    guint n_patterns = self->counts.n_patterns;

    pattern->expression = qd_parser_parse_constraint(self);
    self->counts.n_patterns = n_patterns; /* a filter does not end a basic graph pattern; its EXISTS has others */
    return pattern->expression != NULL ? pattern : NULL;
}

/* One part of a group that is no triples; NULL without an error: none begins here. */
static QdPattern *
parse_part(QdParser *self, const QdVariableSet *used)
{
    QdPattern *pattern = NULL;

    if (!qd_parser_count_parts(self, 1))
        return NULL;
    if (qd_parser_accept_word(self, "FILTER"))
        return self->error == NULL ? parse_filter(self) : NULL;

    self->counts.n_patterns++; /* the others end the basic graph pattern, before and after */
    if (qd_parser_is(self, '{'))
        pattern = parse_union(self);
    else if (qd_parser_accept_word(self, "OPTIONAL"))
        pattern = parse_wrapper(self, QD_PATTERN_OPTIONAL);
    else if (qd_parser_accept_word(self, "MINUS"))
        pattern = parse_wrapper(self, QD_PATTERN_MINUS);
    else if (qd_parser_accept_word(self, "GRAPH"))
        pattern = parse_wrapper(self, QD_PATTERN_GRAPH);
    else if (qd_parser_accept_word(self, "SERVICE"))
        pattern = qd_parser_parse_service(self);
    else if (qd_parser_accept_word(self, "BIND"))
        pattern = parse_bind(self, used);
    else if (qd_parser_accept_word(self, "VALUES"))
        pattern = parse_values(self);
    self->counts.n_patterns++;
    return pattern;
}

static gboolean
parse_parts(QdParser *self, QdPattern *group)
{
    g_autoptr(GArray) parts = g_array_sized_new(FALSE, FALSE, sizeof(QdPattern *), QD_FEW);

    while (!qd_parser_is(self, '}')) {
        gboolean triples = qd_parser_starts_triples(self);
        QdPattern *part = triples ? parse_triples_block(self) : parse_part(self, &group->visible);

        if (part == NULL)
            return qd_parser_fail_expected(self, "a graph pattern or '}'");
        g_array_append_val(parts, part);
        qd_variable_set_add_all(&group->visible, self->arena, &part->visible);
        if (!triples && qd_parser_is(self, '.') && !qd_parser_advance(self))
            return FALSE;
        if (triples && qd_parser_starts_triples(self))
            return qd_parser_fail_expected(self, "'.' or '}'");
    }
    group->children = qd_parser_take_array(self, parts);
    group->n_children = parts->len;
    return TRUE;
}

QdPattern *
qd_parser_parse_group(QdParser *self)
{
    QdPattern *group = qd_parser_new_pattern(self, QD_PATTERN_GROUP);
    gboolean parsed;

    if (!qd_parser_enter(self) || !qd_parser_count_parts(self, 1) || !qd_parser_expect(self, '{', "'{'"))
        return NULL;
    self->counts.n_patterns++;
    if (qd_parser_is_word(self, "SELECT")) {
        group->kind = QD_PATTERN_SELECT;
        qd_parser_leave(self); /* the braces around a subselect and those of its WHERE are one level */
        group->select = qd_parser_parse_subselect(self, &group->visible);
        parsed = group->select != NULL && qd_parser_enter(self);
    } else {
        parsed = parse_parts(self, group);
    }
    self->counts.n_patterns++;
    qd_parser_leave(self);
    self->service.group_end = self->token.offset + 1;
    return parsed && qd_parser_expect(self, '}', "'}'") ? group : NULL;
}
