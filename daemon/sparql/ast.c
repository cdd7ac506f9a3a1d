/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Variables, sets of them, and what expressions with the patterns in them name and call. Everything else of the AST is plain data.
 */
#include "daemon/sparql/ast.h"

#include <string.h>

QdAst *
qd_ast_free(QdAst *self)
{
    if (self == NULL)
        return NULL;

    g_array_unref(self->variables);
    g_array_unref(self->holes);
    g_hash_table_unref(self->hole_terms);
    g_array_unref(self->stored_prefixes);
    g_ptr_array_unref(self->warnings);
    (void) qd_arena_free(self->arena);
    g_free(self);
    return NULL;
}

QdArena *
qd_ast_get_arena(const QdAst *self)
{
    return self->arena;
}

const char *
qd_ast_get_base(const QdAst *self)
{
    return self->base;
}

guint
qd_ast_add_variable(QdAst *self, const char *name)
{
    QdVariable variable = { name, FALSE };

    g_array_append_val(self->variables, variable);
    return self->variables->len - 1;
}

const char *
qd_ast_get_variable_name(const QdAst *self, guint variable)
{
    return g_array_index(self->variables, QdVariable, variable).name;
}

void
qd_ast_add_hole(QdAst *self, const QdFingerprintHole *hole)
{
    g_array_append_vals(self->holes, hole, 1);
    g_hash_table_insert(self->hole_terms, hole->term, GUINT_TO_POINTER(self->holes->len));
}

const QdFingerprintHole *
qd_ast_find_hole(const QdAst *self, const QdTerm *term)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(self->hole_terms, term));

    return number > 0 ? &g_array_index(self->holes, QdFingerprintHole, number - 1) : NULL;
}

gboolean
qd_ast_has_service(const QdAst *self)
{
    return self->has_service;
}

gboolean
qd_ast_is_update(const QdAst *self)
{
    return self->is_update;
}

void
qd_ast_pin_term(QdAst *self, const QdTerm *term)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(self->hole_terms, term));

    if (number > 0)
        g_array_index(self->holes, QdFingerprintHole, number - 1).pinned = TRUE;
}

void
qd_variable_set_add(QdVariableSet *self, QdArena *arena, guint variable)
{
    guint word = variable / 64;

    if (word >= self->n_words) {
        guint n_words = MAX(word + 1, self->n_words * 2);
        guint64 *words = qd_arena_array0(arena, guint64, n_words);

        if (self->n_words > 0)
            memcpy(words, self->words, self->n_words * sizeof(guint64));
        self->words = words;
        self->n_words = n_words;
    }
    self->words[word] |= G_GUINT64_CONSTANT(1) << variable % 64;
}

gboolean
qd_variable_set_has(const QdVariableSet *self, guint variable)
{
    return variable / 64 < self->n_words && (self->words[variable / 64] >> variable % 64 & 1) != 0;
}

void
qd_variable_set_add_all(QdVariableSet *self, QdArena *arena, const QdVariableSet *other)
{
    for (guint word = other->n_words; word-- > 0;) {
        if (other->words[word] == 0)
            continue;
        qd_variable_set_add(self, arena, word * 64 + (guint) __builtin_ctzll(other->words[word]));
        self->words[word] |= other->words[word];
    }
}

gboolean
qd_variable_set_is_empty(const QdVariableSet *self)
{
    for (guint word = 0; word < self->n_words; word++) {
        if (self->words[word] != 0)
            return FALSE;
    }
    return TRUE;
}

gboolean
qd_variable_set_shares(const QdVariableSet *self, const QdVariableSet *other)
{
    for (guint i = 0; i < MIN(self->n_words, other->n_words); i++) {
        if ((self->words[i] & other->words[i]) != 0)
            return TRUE;
    }
    return FALSE;
}

void
qd_expression_add_variables(const QdExpression *expression, QdArena *arena, gboolean with_exists, QdVariableSet *set)
{
    if (expression->kind == QD_EXPRESSION_KIND_VARIABLE)
        qd_variable_set_add(set, arena, expression->variable);
    if (expression->kind == QD_EXPRESSION_KIND_EXISTS && with_exists)
        qd_variable_set_add_all(set, arena, &expression->pattern->visible);
    for (guint i = 0; i < expression->n_children; i++)
        qd_expression_add_variables(expression->children[i], arena, with_exists, set);
}

void
qd_expression_add_all_variables(const QdExpression *expression, QdArena *arena, QdVariableSet *set)
{
    if (expression->kind == QD_EXPRESSION_KIND_VARIABLE)
        qd_variable_set_add(set, arena, expression->variable);
    if (expression->kind == QD_EXPRESSION_KIND_EXISTS)
        qd_pattern_add_variables(expression->pattern, arena, set);
    for (guint i = 0; i < expression->n_children; i++)
        qd_expression_add_all_variables(expression->children[i], arena, set);
}

void
qd_pattern_add_variables(const QdPattern *pattern, QdArena *arena, QdVariableSet *set)
{
    qd_variable_set_add_all(set, arena, &pattern->visible);
    if (pattern->node.kind == QD_NODE_VARIABLE)
        qd_variable_set_add(set, arena, pattern->node.variable);
    if (pattern->expression != NULL)
        qd_expression_add_all_variables(pattern->expression, arena, set);
    for (guint i = 0; i < pattern->n_children; i++)
        qd_pattern_add_variables(pattern->children[i], arena, set);
}

static gboolean pattern_is_volatile(const QdPattern *pattern);

static gboolean
bindings_are_volatile(const QdBinding *bindings, guint n_bindings)
{
    for (guint i = 0; i < n_bindings; i++) {
        if (bindings[i].expression != NULL && qd_expression_is_volatile(bindings[i].expression))
            return TRUE;
    }
    return FALSE;
}

static gboolean
select_is_volatile(const QdSelect *select)
{
    if (bindings_are_volatile(select->items, select->n_items) || bindings_are_volatile(select->groups, select->n_groups))
        return TRUE;
    for (guint i = 0; i < select->n_having; i++) {
        if (qd_expression_is_volatile(select->having[i]))
            return TRUE;
    }
    for (guint i = 0; i < select->n_orders; i++) {
        if (qd_expression_is_volatile(select->orders[i].expression))
            return TRUE;
    }
    return pattern_is_volatile(select->where);
}

static gboolean
pattern_is_volatile(const QdPattern *pattern)
{
    if (pattern->kind == QD_PATTERN_SERVICE || (pattern->expression != NULL && qd_expression_is_volatile(pattern->expression)) ||
        (pattern->select != NULL && select_is_volatile(pattern->select)))
        return TRUE;
    for (guint i = 0; i < pattern->n_children; i++) {
        if (pattern_is_volatile(pattern->children[i]))
            return TRUE;
    }
    return FALSE;
}

gboolean
qd_expression_is_volatile(const QdExpression *expression)
{
    if (expression->kind == QD_EXPRESSION_KIND_CALL && qd_expression_op_get_info(expression->op)->volatile_)
        return TRUE;
    if (expression->kind == QD_EXPRESSION_KIND_EXISTS)
        return pattern_is_volatile(expression->pattern);
    for (guint i = 0; i < expression->n_children; i++) {
        if (qd_expression_is_volatile(expression->children[i]))
            return TRUE;
    }
    return FALSE;
}
