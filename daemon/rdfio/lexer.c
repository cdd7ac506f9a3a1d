/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From bytes to tokens. A function scans from @start by moving @pos; a token's text is cut out at its end, when the buffer
 * does not move any more. Escapes are decoded into the lexer's own memory, everything else is borrowed from the buffer.
 */
#include "daemon/rdfio/lexer.h"

#include <string.h>

#include "daemon/rdf/code-point.h"
#include "daemon/rdfio/lexer-private.h"

static gboolean
fail(QdLexer *self, GError **error, gsize at, const char *what)
{
    qd_lexer_set_error(self, error, QW_ERROR_SYNTAX, self->base + at, "%s", what);
    return FALSE;
}

static gboolean
fail_unexpected(QdLexer *self, GError **error)
{
    gunichar c = 0;
    guint n = qd_lexer_peek_code_point(self, 0, &c);

    if (self->error != NULL)
        return FALSE;
    if (qd_lexer_peek(self, 0) < 0)
        return fail(self, error, self->pos, "unexpected end of the text");
    if (n == 0)
        return fail(self, error, self->pos, "the text is no UTF-8");
    if (c <= 0x20 || c == 0x7f) {
        qd_lexer_set_error(self, error, QW_ERROR_SYNTAX, self->base + self->pos, "unexpected character U+%04X", c);
        return FALSE;
    }
    qd_lexer_set_error(self, error, QW_ERROR_SYNTAX, self->base + self->pos, "unexpected character '%.*s'", (int) n,
                       self->data + self->pos);
    return FALSE;
}

/* Bytes that need no second look. */
enum {
    IRI_BYTE = 1,  /* in an IRI, also as a part of a longer character */
    NAME_BYTE = 2, /* ASCII of PN_CHARS */
};

/* No IRI has a control, a space or one of <>"{}|^`\ */
static const guint8 byte_classes[256] = {
    [0x21] = IRI_BYTE,
    [0x23 ... 0x2c] = IRI_BYTE,
    ['-'] = IRI_BYTE | NAME_BYTE,
    [0x2e ... 0x2f] = IRI_BYTE,
    ['0' ... '9'] = IRI_BYTE | NAME_BYTE,
    [0x3a ... 0x3b] = IRI_BYTE,
    [0x3d] = IRI_BYTE,
    [0x3f ... 0x40] = IRI_BYTE,
    ['A' ... 'Z'] = IRI_BYTE | NAME_BYTE,
    [0x5b] = IRI_BYTE,
    [0x5d] = IRI_BYTE,
    ['_'] = IRI_BYTE | NAME_BYTE,
    ['a' ... 'z'] = IRI_BYTE | NAME_BYTE,
    [0x7e ... 0xff] = IRI_BYTE,
};

static gboolean
is_iri_byte(int c)
{
    return c >= 0 && (byte_classes[c] & IRI_BYTE) != 0;
}

/* The position moves over bytes of @class that are there already. Returns: whether one was not ASCII */
static gboolean
skip_bytes(QdLexer *self, guint class)
{
    const guchar *data = (const guchar *) self->data;
    gsize pos = self->pos;
    guchar all = 0;

    while (pos < self->n_data && (byte_classes[data[pos]] & class) != 0)
        all |= data[pos++];
    self->pos = pos;
    return all >= 0x80;
}

static void
skip_space(QdLexer *self)
{
    for (;;) {
        int c = qd_lexer_peek(self, 0);

        if (c == '#') {
            while (c >= 0 && c != '\n' && c != '\r') {
                self->start = ++self->pos;
                c = qd_lexer_peek(self, 0);
            }
        } else if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
            break;
        } else {
            self->pos++;
        }
        self->start = self->pos;
    }
}

/* @from … @pos without its escapes, each of which @decode appends and passes over. */
typedef gboolean (*DecodeFunc)(QdLexer *self, GString *out, gsize *i, GError **error);

static gboolean
cut_decoded(QdLexer *self, gsize from, gsize to, DecodeFunc decode, const char **ret_text, gsize *ret_n, GError **error)
{
    g_autoptr(GString) own = self->chunk != NULL ? g_string_sized_new(to - from) : NULL;
    GString *out = own != NULL ? own : self->scratch;
    gsize i = from;

    g_string_truncate(out, 0);
    while (i < to) {
        const char *escape = memchr(self->data + i, '\\', to - i);
        gsize n = escape != NULL ? (gsize) (escape - self->data) - i : to - i;

        g_string_append_len(out, self->data + i, (gssize) n);
        i += n;
        if (i < to && !decode(self, out, &i, error))
            return FALSE;
    }
    *ret_text = own != NULL ? g_string_chunk_insert_len(self->chunk, out->str, (gssize) out->len) : out->str;
    *ret_n = out->len;
    return TRUE;
}

/* \uXXXX or \UXXXXXXXX at *i. The caller has seen that the token goes on far enough, if only with its closing quote. */
static gboolean
decode_code_point(QdLexer *self, GString *out, gsize *i, GError **error)
{
    guint n_digits = self->data[*i + 1] == 'u' ? 4 : 8;
    gunichar c;

    if (self->n_data - *i < n_digits + 2 || !qd_code_point_parse_hex(self->data + *i + 2, n_digits, &c))
        return fail(self, error, *i, "an escape without the hexadecimal digits of a character");
    g_string_append_unichar(out, c);
    *i += n_digits + 2;
    return TRUE;
}

static gboolean
decode_string_escape(QdLexer *self, GString *out, gsize *i, GError **error)
{
    static const char names[] = "tbnrf\"'\\";
    static const char values[] = "\t\b\n\r\f\"'\\";
    char name = self->data[*i + 1];
    const char *found = name != '\0' ? strchr(names, name) : NULL;

    if (found == NULL && (name == 'u' || name == 'U') && self->mode != QD_LEXER_SPARQL)
        return decode_code_point(self, out, i, error);
    if (found == NULL)
        return fail(self, error, *i, "a backslash that begins no escape");
    g_string_append_c(out, values[found - names]);
    *i += 2;
    return TRUE;
}

static gboolean
decode_iri_escape(QdLexer *self, GString *out, gsize *i, GError **error)
{
    gsize before = out->len;
    gsize at = *i;
    char name = self->data[at + 1];

    if (name != 'u' && name != 'U')
        return fail(self, error, at, "a backslash in an IRI that begins no escape");
    if (!decode_code_point(self, out, i, error))
        return FALSE;
    if (!is_iri_byte((guchar) out->str[before]))
        return fail(self, error, at, "an escape for a character that an IRI must not have");
    return TRUE;
}

static gboolean
decode_local_escape(QdLexer *self, GString *out, gsize *i, GError **error)
{
    g_string_append_c(out, self->data[*i + 1]);
    *i += 2;
    return TRUE;
}

/* A token whose text begins @n_before bytes after its start and ends @n_after bytes before the position. */
static gboolean
finish(QdLexer *self, QdToken *token, guint kind, gsize n_before, gsize n_after)
{
    token->kind = kind;
    token->text = self->data + self->start + n_before;
    token->n_text = self->pos - self->start - n_before - n_after;
    return TRUE;
}

static gboolean
finish_decoded(QdLexer *self, QdToken *token, guint kind, gsize n_before, gsize n_after, DecodeFunc decode, GError **error)
{
    token->kind = kind;
    return cut_decoded(self, self->start + n_before, self->pos - n_after, decode, &token->text, &token->n_text, error);
}

static gboolean
scan_iri(QdLexer *self, QdToken *token, GError **error)
{
    gboolean escaped = FALSE;
    gboolean wide = FALSE;
    gsize bad;
    int c;

    self->pos++;
    if (self->mode == QD_LEXER_TURTLE && qd_lexer_peek(self, 0) == '<')
        return fail(self, error, self->start, "triple terms and reified triples ('<<')" QD_RDF12);
    for (;;) {
        wide |= skip_bytes(self, IRI_BYTE);
        c = qd_lexer_peek(self, 0);
        if (c == '>')
            break;
        if (c == '\\' && self->mode != QD_LEXER_SPARQL) {
            escaped = TRUE;
            self->pos++;
        } else if (!is_iri_byte(c)) { /* else the buffer has been refilled */
            if (self->mode != QD_LEXER_TURTLE) {
                self->pos = self->start;
                return FALSE; /* an operator */
            }
            return c < 0 || c == '\n' ? fail(self, error, self->start, "an IRI without its '>'") : fail_unexpected(self, error);
        }
    }
    if (wide && !qd_code_point_check(self->data + self->start, self->pos - self->start, &bad))
        return fail(self, error, self->start + bad, "the text is no UTF-8");
    self->pos++;
    if (escaped)
        return finish_decoded(self, token, QD_TOKEN_IRIREF, 1, 1, decode_iri_escape, error);
    return finish(self, token, QD_TOKEN_IRIREF, 1, 1);
}

/* Moves to the closing quotes of a string. */
static gboolean
find_closing_quote(QdLexer *self, int quote, gboolean is_long, gboolean *ret_escaped, GError **error)
{
    for (;;) {
        int c = qd_lexer_peek(self, 0);

        if (c < 0 || (!is_long && (c == '\n' || c == '\r')))
            return self->error == NULL && fail(self, error, self->start, "a string without its closing quote");
        if (c == '\\') {
            *ret_escaped = TRUE;
            self->pos++;
            if (qd_lexer_peek(self, 0) < 0)
                continue;
        } else if (c == quote && (!is_long || (qd_lexer_peek(self, 1) == quote && qd_lexer_peek(self, 2) == quote))) {
            return TRUE;
        }
        self->pos++;
    }
}

static gboolean
scan_string(QdLexer *self, QdToken *token, int quote, GError **error)
{
    gboolean is_long = qd_lexer_peek(self, 1) == quote && qd_lexer_peek(self, 2) == quote;
    gsize n_quotes = is_long ? 3 : 1;
    gboolean escaped = FALSE;
    gsize bad;

    self->pos += n_quotes;
    if (!find_closing_quote(self, quote, is_long, &escaped, error))
        return FALSE;
    if (!qd_code_point_check(self->data + self->start, self->pos - self->start, &bad))
        return fail(self, error, self->start + bad, "the text is no UTF-8");
    self->pos += n_quotes;
    if (escaped)
        return finish_decoded(self, token, QD_TOKEN_STRING, n_quotes, n_quotes, decode_string_escape, error);
    return finish(self, token, QD_TOKEN_STRING, n_quotes, n_quotes);
}

/* PN_CHARS and dots, but no dot at the end. */
static void
scan_name(QdLexer *self)
{
    gsize end = self->pos - self->start; /* relative to the token: the buffer may move */
    gunichar c;
    guint n;

    for (;;) {
        gsize before = self->pos;

        (void) skip_bytes(self, NAME_BYTE);
        if (self->pos > before)
            end = self->pos - self->start;
        n = qd_lexer_peek_code_point(self, 0, &c);
        if (n == 0 || (c != '.' && !qd_code_point_is_pn(c)))
            break;
        self->pos += n;
        if (c != '.')
            end = self->pos - self->start;
    }
    self->pos = self->start + end;
}

/* PN_LOCAL at the position, which may be empty; FALSE for a bad escape. */
static gboolean
scan_local(QdLexer *self, gboolean *ret_escaped, GError **error)
{
    gsize start = self->pos - self->start;
    gsize end = start; /* relative to the token: the buffer may move */

    for (;;) {
        gboolean first = self->pos - self->start == start;
        gunichar c;
        guint n;

        if (!first) {
            gsize before = self->pos;

            (void) skip_bytes(self, NAME_BYTE);
            if (self->pos > before)
                end = self->pos - self->start;
        }
        n = qd_lexer_peek_code_point(self, 0, &c);
        if (n == 0)
            break;
        if (c == '\\') {
            int escaped = qd_lexer_peek(self, 1);

            if (escaped <= 0 || strchr("_~.-!$&'()*+,;=/?#@%", escaped) == NULL)
                return fail(self, error, self->pos, "a backslash in a name that begins no escape");
            *ret_escaped = TRUE;
            n = 2;
        } else if (c == '%') {
            if (!g_ascii_isxdigit(MAX(qd_lexer_peek(self, 1), 0)) || !g_ascii_isxdigit(MAX(qd_lexer_peek(self, 2), 0)))
                return fail(self, error, self->pos, "a '%' in a name without two hexadecimal digits");
            n = 3;
        } else if (!(c == ':' || (first ? qd_code_point_is_name_start(c) : c == '.' || qd_code_point_is_pn(c)))) {
            break;
        }
        self->pos += n;
        if (c != '.')
            end = self->pos - self->start;
    }
    self->pos = self->start + end;
    return TRUE;
}

static gboolean
scan_prefixed_name(QdLexer *self, QdToken *token, GError **error)
{
    gsize n_prefix = self->pos - self->start;
    gboolean escaped = FALSE;

    self->pos++;
    if (!scan_local(self, &escaped, error))
        return FALSE;
    (void) finish(self, token, QD_TOKEN_PNAME_LN, 0, self->pos - self->start - n_prefix);
    token->local = self->data + self->start + n_prefix + 1;
    token->n_local = self->pos - self->start - n_prefix - 1;
    if (token->n_local == 0)
        token->kind = QD_TOKEN_PNAME_NS;
    if (escaped)
        return cut_decoded(self, self->start + n_prefix + 1, self->pos, decode_local_escape, &token->local, &token->n_local, error);
    return TRUE;
}

/* A prefixed name or a word. Text that was searched for a ':' in vain is not searched again: "a-a-a…" stays linear. */
static gboolean
scan_word(QdLexer *self, QdToken *token, GError **error)
{
    if (self->base + self->start >= self->plain_until) {
        scan_name(self);
        if (qd_lexer_peek(self, 0) == ':')
            return scan_prefixed_name(self, token, error);
        self->plain_until = self->base + self->pos;
        self->pos = self->start;
    }
    while (g_ascii_isalnum(MAX(qd_lexer_peek(self, 0), 0)) || qd_lexer_peek(self, 0) == '_')
        self->pos++;
    if (self->pos == self->start)
        return fail_unexpected(self, error);
    return finish(self, token, QD_TOKEN_WORD, 0, 0);
}

static gboolean
scan_blank_node_label(QdLexer *self, QdToken *token, GError **error)
{
    gunichar c;
    guint n;

    self->pos += 2;
    n = qd_lexer_peek_code_point(self, 0, &c);
    if (n == 0 || !qd_code_point_is_name_start(c))
        return fail_unexpected(self, error);
    scan_name(self);
    return finish(self, token, QD_TOKEN_BLANK_NODE_LABEL, 2, 0);
}

/* ?name or $name; FALSE without an error: a '?' alone. */
static gboolean
scan_sigil_name(QdLexer *self, QdToken *token, QdTokenKind kind)
{
    gunichar c;
    guint n = qd_lexer_peek_code_point(self, 1, &c);

    if (n == 0 || !qd_code_point_is_name_start(c))
        return FALSE;
    self->pos++;
    while ((n = qd_lexer_peek_code_point(self, 0, &c)) > 0 && qd_code_point_is_pn(c) && c != '-')
        self->pos += n;
    return finish(self, token, kind, 1, 0);
}

static gboolean
scan_language_tag(QdLexer *self, QdToken *token, GError **error)
{
    self->pos++;
    if (!g_ascii_isalpha(MAX(qd_lexer_peek(self, 0), 0)))
        return fail_unexpected(self, error);
    while (g_ascii_isalpha(MAX(qd_lexer_peek(self, 0), 0)))
        self->pos++;
    while (qd_lexer_peek(self, 0) == '-' && g_ascii_isalnum(MAX(qd_lexer_peek(self, 1), 0))) {
        self->pos++;
        while (g_ascii_isalnum(MAX(qd_lexer_peek(self, 0), 0)))
            self->pos++;
    }
    if (qd_lexer_peek(self, 0) == '-' && qd_lexer_peek(self, 1) == '-' && g_ascii_isalpha(MAX(qd_lexer_peek(self, 2), 0)))
        return fail(self, error, self->pos, "base directions ('--ltr' and '--rtl')" QD_RDF12);
    return finish(self, token, QD_TOKEN_LANGTAG, 1, 0);
}

static gsize
skip_digits(QdLexer *self)
{
    gsize n = 0;

    while (g_ascii_isdigit(MAX(qd_lexer_peek(self, 0), 0))) {
        self->pos++;
        n++;
    }
    return n;
}

/* Length of an exponent @ahead of the position without its digits' rest; 0: there is none. */
static gsize
exponent_length(QdLexer *self, gsize ahead)
{
    int c = qd_lexer_peek(self, ahead);
    gsize n = 1;

    if (c != 'e' && c != 'E')
        return 0;
    c = qd_lexer_peek(self, ahead + 1);
    if (c == '+' || c == '-')
        n++;
    return g_ascii_isdigit(MAX(qd_lexer_peek(self, ahead + n), 0)) ? n : 0;
}

/* At a digit, or at a sign or '.' before one. "1." is an integer and a dot, "1.e0" a double. */
static gboolean
scan_number(QdLexer *self, QdToken *token)
{
    guint kind = QD_TOKEN_INTEGER;
    gsize n_integer, n_exponent;

    if (qd_lexer_peek(self, 0) == '+' || qd_lexer_peek(self, 0) == '-')
        self->pos++;
    n_integer = skip_digits(self);
    if (qd_lexer_peek(self, 0) == '.' && g_ascii_isdigit(MAX(qd_lexer_peek(self, 1), 0))) {
        self->pos++;
        (void) skip_digits(self);
        kind = QD_TOKEN_DECIMAL;
    } else if (n_integer > 0 && qd_lexer_peek(self, 0) == '.' && exponent_length(self, 1) > 0) {
        self->pos++;
    }
    n_exponent = exponent_length(self, 0);
    if (n_exponent > 0) {
        self->pos += n_exponent;
        (void) skip_digits(self);
        kind = QD_TOKEN_DOUBLE;
    }
    return finish(self, token, kind, 0, 0);
}

static gboolean
begins_number(QdLexer *self, int c)
{
    int next = qd_lexer_peek(self, 1);

    if (g_ascii_isdigit(c))
        return TRUE;
    if (c == '.')
        return next >= 0 && g_ascii_isdigit(next);
    if (c != '+' && c != '-')
        return FALSE;
    if (next == '.')
        next = qd_lexer_peek(self, 2);
    return next >= 0 && g_ascii_isdigit(next);
}

static gboolean
scan_punctuation(QdLexer *self, QdToken *token, int c, GError **error)
{
    static const struct {
        char first, second;
        guint kind;
    } pairs[] = {
        { '^', '^', QD_TOKEN_DATATYPE },      { '!', '=', QD_TOKEN_NOT_EQUAL }, { '<', '=', QD_TOKEN_LESS_EQUAL },
        { '>', '=', QD_TOKEN_GREATER_EQUAL }, { '&', '&', QD_TOKEN_AND },       { '|', '|', QD_TOKEN_OR },
    };
    int next = qd_lexer_peek(self, 1);

    for (gsize i = 0; i < G_N_ELEMENTS(pairs); i++) {
        if (pairs[i].first == c && pairs[i].second == next) {
            self->pos += 2;
            return finish(self, token, pairs[i].kind, 0, 0);
        }
    }
    if (c == '~')
        return fail(self, error, self->pos, "reifiers ('~')" QD_RDF12);
    if (c == '{' && next == '|') /* in SPARQL, too, no pattern begins with '|' */
        return fail(self, error, self->pos, "annotations ('{|')" QD_RDF12);
    if (c == 0 || c >= 0x80 || strchr("{}()[].,;*/|^+-!?=<>", c) == NULL)
        return fail_unexpected(self, error);
    self->pos++;
    return finish(self, token, (guint) c, 0, 0);
}

static gboolean
scan_token(QdLexer *self, QdToken *token, GError **error)
{
    int c = qd_lexer_peek(self, 0);
    gunichar letter;

    if (c < 0)
        return finish(self, token, QD_TOKEN_END, 0, 0);
    if (c == '<' && scan_iri(self, token, error))
        return TRUE;
    if (c == '<' && (self->mode == QD_LEXER_TURTLE || self->error != NULL))
        return FALSE;
    if (c == '"' || c == '\'')
        return scan_string(self, token, c, error);
    if (begins_number(self, c))
        return scan_number(self, token);
    if (c == '_' && qd_lexer_peek(self, 1) == ':')
        return scan_blank_node_label(self, token, error);
    if ((c == '?' || c == '$') && self->mode != QD_LEXER_TURTLE && scan_sigil_name(self, token, QD_TOKEN_VAR))
        return TRUE;
    if (c == '~' && self->mode == QD_LEXER_TRACKER && scan_sigil_name(self, token, QD_TOKEN_PARAMETER))
        return TRUE;
    if (c == '@')
        return scan_language_tag(self, token, error);
    if (c == ':')
        return scan_prefixed_name(self, token, error);
    if (qd_lexer_peek_code_point(self, 0, &letter) > 0 && qd_code_point_is_pn_base(letter))
        return scan_word(self, token, error);
    return scan_punctuation(self, token, c, error);
}

gboolean
qd_lexer_next(QdLexer *self, QdToken *ret_token, GError **error)
{
    QdToken token = { 0 };

    self->start = self->pos;
    skip_space(self);
    if (!scan_token(self, &token, error) && self->error == NULL) {
        self->pos = self->start; /* asked again, it fails again */
        return FALSE;
    }
    if (self->error != NULL) {
        if (error != NULL && *error == NULL)
            *error = g_error_copy(self->error);
        return FALSE;
    }
    token.offset = self->base + self->start;
    token.n_source = self->pos - self->start;
    *ret_token = token;
    return TRUE;
}
