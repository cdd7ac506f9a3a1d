/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What lexer.c (tokens) and lexer-input.c (bytes, places, errors) share.
 *
 * Place: room rdfio. Positions inside the buffer are relative to @data, which moves when a stream is refilled: keep offsets from
 * @start across a qd_lexer_peek(), never pointers.
 */
#pragma once

#include "daemon/rdfio/lexer.h"

struct QdLexer {
    QdLexerMode mode;
    const char *data;
    gsize n_data;
    gsize start; /* of the token */
    gsize pos;
    guint64 base;        /* offset of data[0] in the input */
    guint anchor_line;   /* place of data[0] */
    guint anchor_column; /* place of data[0] */

    QdLexerRead read_func; /* NULL: one text */
    gpointer read_data;
    const QdLimits *limits;
    char *buffer;
    gsize n_allocated;
    gboolean at_end;
    GError *error; /* what stopped the input; reported at the next token */

    guint64 plain_until;  /* no ':' ends a name that begins before this offset */
    GString *scratch;     /* of a stream's decoded token */
    GStringChunk *chunk;  /* of a text's decoded tokens */
    const char *original; /* the text before §19.2's decoding, NULL when there was nothing to decode */
    gsize n_original;
    char *decoded;
};

/* More bytes after the last; FALSE at the end or after an error. */
gboolean qd_lexer_refill(QdLexer *self);

/* The byte @ahead of the position, -1 at the end. */
static inline int
qd_lexer_peek(QdLexer *self, gsize ahead)
{
    while (self->pos + ahead >= self->n_data) {
        if (!qd_lexer_refill(self))
            return -1;
    }
    return (guchar) self->data[self->pos + ahead];
}

/* The code point @ahead of the position and its bytes; 0 at the end or where the bytes are no UTF-8. */
guint qd_lexer_peek_code_point(QdLexer *self, gsize ahead, gunichar *ret_code_point);
