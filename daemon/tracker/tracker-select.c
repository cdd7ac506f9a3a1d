/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SELECT ?a + 1 AS ?b: expressions without parentheses, and without a name.
 *
 * An expression ends where an operator would have to follow an operand. Its own grammar is the parser's matter.
 */
#include "daemon/tracker/tracker-text-private.h"

static gboolean
is_signed_number(const QdTranslator *self)
{
    return self->token.kind >= QD_TOKEN_INTEGER && self->token.kind <= QD_TOKEN_DOUBLE &&
           (self->token.text[0] == '+' || self->token.text[0] == '-');
}

static gboolean
is_operator(const QdTranslator *self)
{
    static const guint kinds[] = {
        QD_TOKEN_OR, QD_TOKEN_AND, QD_TOKEN_NOT_EQUAL, QD_TOKEN_LESS_EQUAL, '=', '<', '>', QD_TOKEN_GREATER_EQUAL, '+', '-',
        '*',         '/'
    };

    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (self->token.kind == kinds[i])
            return TRUE;
    }
    return qd_translator_is_word(self, "IN") || qd_translator_is_word(self, "NOT");
}

/* After a name: its arguments; after EXISTS its group. */
static gboolean
put_arguments(QdTranslator *self)
{
    return (self->token.kind != '(' && self->token.kind != '{') || qd_translator_put_scope(self, NULL);
}

static gboolean
put_string(QdTranslator *self)
{
    if (!qd_translator_put(self))
        return FALSE;
    if (self->token.kind == QD_TOKEN_LANGTAG)
        return qd_translator_put(self);
    return self->token.kind != QD_TOKEN_DATATYPE || (qd_translator_put(self) && qd_translator_put(self));
}

static gboolean
put_operand(QdTranslator *self)
{
    while (self->token.kind == '!' || self->token.kind == '-' || self->token.kind == '+' || qd_translator_is_word(self, "NOT"))
        if (!qd_translator_put(self))
            return FALSE;

    switch (self->token.kind) {
    case '(':
        return qd_translator_put_scope(self, NULL);
    case QD_TOKEN_STRING:
        return put_string(self);
    case QD_TOKEN_WORD:
    case QD_TOKEN_IRIREF:
    case QD_TOKEN_PNAME_LN:
    case QD_TOKEN_PNAME_NS:
        return qd_translator_put(self) && put_arguments(self);
    case QD_TOKEN_VAR:
    case QD_TOKEN_PARAMETER:
    case QD_TOKEN_INTEGER:
    case QD_TOKEN_DECIMAL:
    case QD_TOKEN_DOUBLE:
        return qd_translator_put(self);
    default: /* tokens, which are no enum of ours alone */
        return qd_translator_fail(self, QW_ERROR_SYNTAX, "unexpected token in an expression of SELECT");
    }
}

static gboolean
put_operations(QdTranslator *self)
{
    while (is_operator(self) || is_signed_number(self)) {
        gboolean is_list = qd_translator_is_word(self, "IN") || qd_translator_is_word(self, "NOT");

        if (is_signed_number(self)) {
            if (!qd_translator_put(self))
                return FALSE;
            continue;
        }
        if (qd_translator_is_word(self, "NOT") && !qd_translator_put(self))
            return FALSE;
        if (!qd_translator_put(self) || !(is_list ? put_arguments(self) : put_operand(self)))
            return FALSE;
    }
    return TRUE;
}

/* The expression is put, from @start on. */
static gboolean
put_name(QdTranslator *self, gsize start)
{
    g_string_insert_c(self->out, (gssize) start, '(');
    if (qd_translator_is_word(self, "AS")) {
        if (!qd_translator_put(self))
            return FALSE;
        if (self->token.kind != QD_TOKEN_VAR)
            return qd_translator_fail(self, QW_ERROR_SYNTAX, "expected a variable after AS");
        if (!qd_translator_put(self))
            return FALSE;
    } else {
        g_string_append_printf(self->out, " AS ?queryd_%u", self->n_made++);
    }
    g_string_append_c(self->out, ')');
    return TRUE;
}

static gboolean
put_item(QdTranslator *self)
{
    gboolean is_variable = self->token.kind == QD_TOKEN_VAR;
    gboolean is_named = FALSE;
    gsize start;

    qd_translator_put_gap(self);
    start = self->out->len;
    if (!(self->token.kind == '(' ? qd_translator_put_scope(self, &is_named) : put_operand(self)))
        return FALSE;
    if (is_named || (is_variable && !is_operator(self) && !is_signed_number(self) && !qd_translator_is_word(self, "AS")))
        return TRUE;
    return put_operations(self) && put_name(self, start);
}

gboolean
qd_translator_put_select(QdTranslator *self)
{
    if (!qd_translator_put(self))
        return FALSE;
    if ((qd_translator_is_word(self, "DISTINCT") || qd_translator_is_word(self, "REDUCED")) && !qd_translator_put(self))
        return FALSE;
    if (self->token.kind == '*')
        return qd_translator_put(self);
    while (self->token.kind != '{' && self->token.kind != QD_TOKEN_END && !qd_translator_is_word(self, "WHERE") &&
           !qd_translator_is_word(self, "FROM"))
        if (!put_item(self))
            return FALSE;
    return TRUE;
}
