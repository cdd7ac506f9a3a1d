/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a lexer's bytes come from, and which line and column they have.
 */
#include "daemon/rdfio/lexer-private.h"

#include <stdarg.h>
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/rdf/code-point.h"

#define READ_BYTES 65536 /* a refill asks for at least so much */

static void
advance_place(guint *line, guint *column, const char *text, gsize n_bytes)
{
    for (gsize i = 0; i < n_bytes; i++) {
        if (text[i] == '\n') {
            (*line)++;
            *column = 1;
        } else if (((guchar) text[i] & 0xc0) != 0x80) {
            (*column)++;
        }
    }
}

/* Value of the \u or \U at @text, whose bytes are *ret_n_source; FALSE: it is none. */
static gboolean
parse_escape(const char *text, gsize n_bytes, gunichar *ret_code_point, gsize *ret_n_source)
{
    guint n_digits = text[1] == 'u' ? 4 : 8;

    if (n_bytes < n_digits + 2 || !qd_code_point_parse_hex(text + 2, n_digits, ret_code_point))
        return FALSE;
    *ret_n_source = n_digits + 2;
    return TRUE;
}

/*
 * One step of §19.2: the bytes at @text that belong together, and what they stand for in @ret_bytes (6 bytes). A backslash
 * takes the next character along, so that "\\u0041" is no escape. Returns source bytes, 0 for a bad escape.
 */
static gsize
decode_step(const char *text, gsize n_bytes, char *ret_bytes, gsize *ret_n)
{
    gunichar c;
    gsize n_source;

    ret_bytes[0] = text[0];
    *ret_n = 1;
    if (text[0] != '\\' || n_bytes == 1)
        return 1;
    if (text[1] != 'u' && text[1] != 'U') {
        ret_bytes[1] = text[1];
        *ret_n = 2;
        return 2;
    }
    if (!parse_escape(text, n_bytes, &c, &n_source))
        return 0;
    *ret_n = (gsize) g_unichar_to_utf8(c, ret_bytes);
    return n_source;
}

static void
decode_text(QdLexer *self, const char *text, gsize n_bytes)
{
    gsize i = 0;
    gsize n_out = 0;

    self->original = text;
    self->n_original = n_bytes;
    self->decoded = g_malloc(n_bytes + 1); /* an escape never grows */
    while (i < n_bytes) {
        char bytes[6];
        gsize n;
        gsize n_source = decode_step(text + i, n_bytes - i, bytes, &n);

        if (n_source == 0) {
            qd_error_set_at(&self->error, QW_ERROR_SYNTAX, text, n_bytes, i, "'\\%c' without the hexadecimal digits of a character",
                            text[i + 1]);
            break;
        }
        memcpy(self->decoded + n_out, bytes, n);
        n_out += n;
        i += n_source;
    }
    self->data = self->decoded;
    self->n_data = self->error == NULL ? n_out : 0;
}

static QdLexer *
lexer_new(QdLexerMode mode)
{
    QdLexer *self = g_new0(QdLexer, 1);

    self->mode = mode;
    self->data = ""; /* until there is a text: NULL has no offset, not even 0 */
    self->anchor_line = self->anchor_column = 1;
    return self;
}

QdLexer *
qd_lexer_new_for_text(QdLexerMode mode, const char *text, gsize n_bytes)
{
    QdLexer *self = lexer_new(mode);
    gsize bad;

    if (mode != QD_LEXER_TURTLE && n_bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a file's byte order mark */
        text += 3;
        n_bytes -= 3;
    }
    self->at_end = TRUE;
    self->chunk = g_string_chunk_new(512);
    if (!qd_code_point_check(text, n_bytes, &bad)) {
        qd_error_set_at(&self->error, QW_ERROR_SYNTAX, text, n_bytes, bad, "the text is no UTF-8");
        return self;
    }
    self->data = text;
    self->n_data = n_bytes;
    if (mode == QD_LEXER_SPARQL && memchr(text, '\\', n_bytes) != NULL &&
        (memmem(text, n_bytes, "\\u", 2) != NULL || memmem(text, n_bytes, "\\U", 2) != NULL))
        decode_text(self, text, n_bytes);
    return self;
}

QdLexer *
qd_lexer_new_for_stream(QdLexerMode mode, QdLexerRead read_func, gpointer data, const QdLimits *limits)
{
    QdLexer *self = lexer_new(mode);

    self->read_func = read_func;
    self->read_data = data;
    self->limits = limits;
    self->scratch = g_string_new(NULL);
    if (qd_lexer_peek(self, 0) == 0xef && qd_lexer_peek(self, 1) == 0xbb && qd_lexer_peek(self, 2) == 0xbf)
        self->start = self->pos = 3;
    return self;
}

QdLexer *
qd_lexer_free(QdLexer *self)
{
    if (self == NULL)
        return NULL;

    g_clear_error(&self->error);
    if (self->scratch != NULL)
        g_string_free(self->scratch, TRUE);
    if (self->chunk != NULL)
        g_string_chunk_free(self->chunk);
    g_free(self->decoded);
    g_free(self->buffer);
    g_free(self);
    return NULL;
}

/* What is before the token goes; room for one more read after the rest. */
static void
make_room(QdLexer *self)
{
    if (self->start > 0) {
        advance_place(&self->anchor_line, &self->anchor_column, self->data, self->start);
        memmove(self->buffer, self->buffer + self->start, self->n_data - self->start);
        self->base += self->start;
        self->n_data -= self->start;
        self->pos -= self->start;
        self->start = 0;
    }
    if (self->n_allocated - self->n_data < READ_BYTES) {
        self->n_allocated = MAX(self->n_allocated * 2, 2 * READ_BYTES);
        self->buffer = g_realloc(self->buffer, self->n_allocated);
    }
    self->data = self->buffer;
}

gboolean
qd_lexer_refill(QdLexer *self)
{
    gssize n;

    if (self->at_end || self->error != NULL)
        return FALSE;
    if (self->n_data - self->start > qd_limits_get(self->limits, QD_LIMIT_VALUE_BYTES)) {
        guint line, column;

        qd_lexer_get_place(self, self->base + self->start, &line, &column);
        qd_limit_set_error(&self->error, self->limits, QD_LIMIT_VALUE_BYTES, "%u:%u: a token is too long", line, column);
        return FALSE;
    }

    make_room(self);
    n = self->read_func(self->buffer + self->n_data, self->n_allocated - self->n_data, self->read_data, &self->error);
    if (n <= 0) {
        self->at_end = TRUE;
        return FALSE;
    }
    self->n_data += (gsize) n;
    return TRUE;
}

guint
qd_lexer_peek_code_point(QdLexer *self, gsize ahead, gunichar *ret_code_point)
{
    int first = qd_lexer_peek(self, ahead);

    if (first < 0)
        return 0;
    if (first < 0x80) {
        *ret_code_point = (gunichar) first;
        return 1;
    }
    (void) qd_lexer_peek(self, ahead + 3);
    return qd_code_point_decode(self->data + self->pos + ahead, self->n_data - self->pos - ahead, ret_code_point);
}

/* Where the byte @offset of the decoded text stands in the original. */
static gsize
original_offset(const QdLexer *self, guint64 offset)
{
    gsize i = 0;
    guint64 n_out = 0;

    while (i < self->n_original && n_out < offset) {
        char bytes[6];
        gsize n;
        gsize n_source = decode_step(self->original + i, self->n_original - i, bytes, &n);

        if (n_source == 0)
            break;
        if (n_source == n)
            n_source = n = 1;
        n_out += n;
        i += n_source;
    }
    return i;
}

void
qd_lexer_get_place(const QdLexer *self, guint64 offset, guint *ret_line, guint *ret_column)
{
    *ret_line = self->anchor_line;
    *ret_column = self->anchor_column;
    if (self->original != NULL)
        advance_place(ret_line, ret_column, self->original, original_offset(self, offset));
    else if (offset > self->base)
        advance_place(ret_line, ret_column, self->data, MIN(offset - self->base, self->n_data));
}

void
qd_lexer_set_error(const QdLexer *self, GError **error, QwError code, guint64 offset, const char *format, ...)
{
    g_autofree char *what = NULL;
    guint line, column;
    va_list args;

    va_start(args, format);
    what = g_strdup_vprintf(format, args);
    va_end(args);

    qd_lexer_get_place(self, offset, &line, &column);
    qd_error_set(error, code, "%u:%u: %s", line, column, what);
}
