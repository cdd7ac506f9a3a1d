/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a token is called in a message, and whether it is a keyword.
 */
#include <string.h>

#include "daemon/rdfio/lexer.h"

#define DESCRIBED_BYTES 40 /* of a token in a message */

char *
qd_token_describe(const QdToken *token)
{
    gsize n = token->n_text;

    if (token->kind == QD_TOKEN_END)
        return g_strdup("end of the text");
    if (token->local != NULL)
        return g_strdup_printf("'%.*s:%.*s'", (int) MIN(n, DESCRIBED_BYTES), token->text,
                               (int) MIN(token->n_local, DESCRIBED_BYTES), token->local);
    if (n > DESCRIBED_BYTES) {
        n = DESCRIBED_BYTES;
        while (n > 0 && ((guchar) token->text[n] & 0xc0) == 0x80)
            n--;
    }
    switch (token->kind) {
    case QD_TOKEN_IRIREF:
        return g_strdup_printf("<%.*s>", (int) n, token->text);
    case QD_TOKEN_STRING:
        return g_strdup_printf("the string \"%.*s\"", (int) n, token->text);
    case QD_TOKEN_VAR:
        return g_strdup_printf("'?%.*s'", (int) n, token->text);
    case QD_TOKEN_BLANK_NODE_LABEL:
        return g_strdup_printf("'_:%.*s'", (int) n, token->text);
    case QD_TOKEN_LANGTAG:
        return g_strdup_printf("'@%.*s'", (int) n, token->text);
    default: /* punctuation and words stand for themselves */
        return g_strdup_printf("'%.*s'", (int) n, token->text);
    }
}

gboolean
qd_token_is_word(const QdToken *token, const char *keyword)
{
    return token->kind == QD_TOKEN_WORD && strlen(keyword) == token->n_text &&
           g_ascii_strncasecmp(token->text, keyword, token->n_text) == 0;
}
