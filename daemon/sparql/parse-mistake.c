/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors for a token that does not fit. Some such tokens are known mistakes: an IRI that is not closed, or a function that SPARQL
 * does not have. Others are parts of SPARQL 1.2.
 */
#include <string.h>

#include "daemon/sparql/parser-private.h"

#define SHOWN_BYTES 40 /* of an IRI */
#define ALIKE_MIN 3    /* characters that two names begin with */

/* What the token is in SPARQL 1.2, where it is nothing in 1.1; NULL: nothing there either. */
static const char *
find_newer_meaning(QdParser *self)
{
    static const char *const functions[] = { "TRIPLE",  "isTRIPLE",   "SUBJECT", "PREDICATE", "OBJECT",
                                             "LANGDIR", "STRLANGDIR", "hasLANG", "hasLANGDIR" };

    if (qd_parser_is_word(self, "VERSION"))
        return "version directives" QD_RDF12;
    for (guint i = 0; i < G_N_ELEMENTS(functions); i++) {
        if (qd_parser_is_word(self, functions[i]) && qd_parser_next_is(self, '('))
            return "functions of triple terms and base directions" QD_RDF12;
    }
    if (qd_parser_is(self, '<') && (qd_parser_next_is(self, '<') || qd_parser_next_is(self, QD_TOKEN_IRIREF)) &&
        self->next.offset == self->token.offset + 1)
        return "triple terms and reified triples ('<<')" QD_RDF12;
    return NULL;
}

/* Whether the token, an operator, was meant to begin an IRI; if so, the error says what is wrong with it. */
static gboolean
fail_iri(QdParser *self)
{
    const char *text = self->service.text;
    guint64 start = self->token.offset;
    gboolean is_iri = FALSE;
    guint64 end = start + 1;
    int n_shown;

    if (!qd_parser_is(self, '<') || start >= self->service.n_text || text[start] != '<')
        return FALSE;
    for (; end < self->service.n_text && (guchar) text[end] > ' ' && strchr("<>\"{}|^`\\", text[end]) == NULL; end++)
        is_iri = is_iri || strchr(":/#", text[end]) != NULL;
    if (!is_iri || (end < self->service.n_text && text[end] == '>'))
        return FALSE;

    n_shown = (int) MIN(end - start, SHOWN_BYTES);
    while ((guint64) n_shown < end - start && ((guchar) text[start + (guint) n_shown] & 0xc0) == 0x80)
        n_shown--;
    if (end < self->service.n_text && text[end] != '\0' && strchr("{}|^`\\", text[end]) != NULL)
        (void) qd_parser_fail(self, start, "the IRI '%.*s' goes on with '%c', which no IRI has: write %%%02X", n_shown,
                              text + start, text[end], (guint) text[end]);
    else
        (void) qd_parser_fail(self, start, "the IRI '%.*s' is not closed: '>' is missing", n_shown, text + start);
    return TRUE;
}

gboolean
qd_parser_fail_expected(QdParser *self, const char *what)
{
    g_autofree char *token = NULL;
    const char *newer;

    if (self->error != NULL)
        return FALSE;
    newer = find_newer_meaning(self);
    if (newer != NULL)
        return qd_parser_fail(self, self->token.offset, "%s", newer);
    if (fail_iri(self))
        return FALSE;
    token = qd_token_describe(&self->token);
    return qd_parser_fail(self, self->token.offset, "unexpected %s, expected %s", token, what);
}

static guint
count_alike(const char *name, const QdToken *token)
{
    guint n = 0;

    while (n < token->n_text && name[n] != '\0' && g_ascii_toupper(token->text[n]) == name[n])
        n++;
    return n;
}

/* (nullable): the function whose name begins as the token does. */
static const char *
find_alike(const QdToken *token)
{
    static const char *const aggregates[] = { QD_AGGREGATE_NAMES };
    const char *found = NULL;
    guint best = ALIKE_MIN - 1;

    for (guint i = QD_EXPRESSION_ARG; i < QD_N_EXPRESSION_OPS + G_N_ELEMENTS(aggregates); i++) {
        const QdExpressionOpInfo *info = i < QD_N_EXPRESSION_OPS ? qd_expression_op_get_info((QdExpressionOp) i) : NULL;
        const char *name = info == NULL ? aggregates[i - QD_N_EXPRESSION_OPS] : info->cast ? NULL : info->name;
        guint n = name != NULL ? count_alike(name, token) : 0;

        if (n <= best)
            continue;
        best = n;
        found = name;
    }
    return found;
}

gboolean
qd_parser_fail_call(QdParser *self, const char *what)
{
    g_autofree char *token = NULL;
    const char *alike;

    if (self->error != NULL || !qd_parser_is(self, QD_TOKEN_WORD) || !qd_parser_next_is(self, '(') ||
        find_newer_meaning(self) != NULL)
        return qd_parser_fail_expected(self, what);

    token = qd_token_describe(&self->token);
    alike = find_alike(&self->token);
    if (alike != NULL)
        return qd_parser_fail(self, self->token.offset, "SPARQL has no function %s; did you mean %s?", token, alike);
    return qd_parser_fail(self, self->token.offset, "SPARQL has no function %s; one that is not SPARQL's is called by its IRI",
                          token);
}
