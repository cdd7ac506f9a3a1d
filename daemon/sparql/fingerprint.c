/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One pass of the lexer. The skeleton has, for each token, its kind, and after it the number of its value, or its text where
 * that is no constant.
 */
#include "daemon/sparql/fingerprint.h"

#include <string.h>

#include "daemon/rdf/iri.h"

#define N_VALUES_MAX 256 /* each is compared with those before; further constants stand in the skeleton as they are */

typedef struct Token {
    QdToken token;
    guint value; /* QD_FINGERPRINT_NO_VALUE: no constant */
} Token;

struct QdFingerprint {
    char *text; /* (owned) */
    gsize n_text;
    QdLexer *lexer; /* has the decoded texts of tokens */
    guint8 *skeleton;
    gsize n_skeleton;
    gsize skeleton_room;
    GArray *values; /* QdFingerprintValue */
    Token *tokens;  /* (nullable): to the last, which is the end */
    gsize n_tokens;
    gsize tokens_room;
    GPtrArray *filled; /* (nullable): texts of terms that stand in no token */
};

/* Makes room for @n_more elements of @size bytes after @n. */
static inline void
reserve(gpointer array, gsize n, gsize n_more, gsize *room, gsize size)
{
    void **data = array;

    if (G_LIKELY(*room - n >= n_more))
        return;
    *room = 2 * (n + n_more);
    *data = g_realloc_n(*data, *room, size);
}

static void
put_bytes(QdFingerprint *self, gconstpointer bytes, gsize n_bytes)
{
    if (n_bytes == 0)
        return;
    reserve(&self->skeleton, self->n_skeleton, n_bytes, &self->skeleton_room, 1);
    memcpy(self->skeleton + self->n_skeleton, bytes, n_bytes);
    self->n_skeleton += n_bytes;
}

static void
put_number(QdFingerprint *self, guint number)
{
    guint16 bytes = (guint16) number; /* kinds and values both fit */

    put_bytes(self, &bytes, sizeof bytes);
}

static void
put_text(QdFingerprint *self, const char *text, gsize n_text)
{
    guint32 n = (guint32) n_text;

    put_bytes(self, &n, sizeof n);
    put_bytes(self, text, n);
}

static gboolean
is_constant(const QdToken *token)
{
    return token->kind == QD_TOKEN_IRIREF || token->kind == QD_TOKEN_PNAME_LN || token->kind == QD_TOKEN_STRING ||
           token->kind == QD_TOKEN_INTEGER || token->kind == QD_TOKEN_DECIMAL || token->kind == QD_TOKEN_DOUBLE;
}

/* The value's number; N_VALUES_MAX: there is no room for another. */
static guint
find_value(QdFingerprint *self, guint kind, const char *text, gsize n_text)
{
    QdFingerprintValue value = { kind, text, n_text, 0 };
    guint i;

    for (i = 0; i < self->values->len; i++) {
        const QdFingerprintValue *other = &g_array_index(self->values, QdFingerprintValue, i);

        if (other->n_text == n_text && other->kind == kind && memcmp(other->text, text, n_text) == 0)
            break;
    }
    if (i == self->values->len && i < N_VALUES_MAX)
        g_array_append_val(self->values, value);
    return i;
}

/* A sign takes part in the grammar: "?x -1" is a sum. Returns: the value's number. */
static guint
put_constant(QdFingerprint *self, const QdToken *token)
{
    gboolean is_name = token->kind == QD_TOKEN_PNAME_LN;
    const char *text = is_name ? token->local : token->text;
    gsize n_text = is_name ? token->n_local : token->n_text;
    guint value = find_value(self, token->kind, text, n_text);

    if (is_name)
        put_text(self, token->text, token->n_text);
    else if (token->kind != QD_TOKEN_IRIREF && token->kind != QD_TOKEN_STRING)
        put_number(self, text[0] == '-' || text[0] == '+');
    put_number(self, value);
    if (value == N_VALUES_MAX) {
        put_text(self, text, n_text);
        return QD_FINGERPRINT_NO_VALUE;
    }
    g_array_index(self->values, QdFingerprintValue, value).n_tokens++;
    return value;
}

QdFingerprint *
qd_fingerprint_new(const char *text, gsize n_bytes)
{
    g_autoptr(QdFingerprint) self = g_new0(QdFingerprint, 1);
    Token *next;

    g_assert(n_bytes <= QD_FINGERPRINT_TEXT_MAX);
    self->text = g_malloc(n_bytes + 1);
    memcpy(self->text, text, n_bytes);
    self->text[n_bytes] = '\0';
    self->n_text = n_bytes;
    self->lexer = qd_lexer_new_for_text(QD_LEXER_SPARQL, self->text, n_bytes);
    self->values = g_array_sized_new(FALSE, FALSE, sizeof(QdFingerprintValue), 32);
    reserve(&self->skeleton, 0, n_bytes, &self->skeleton_room, 1);
    reserve(&self->tokens, 0, n_bytes / 10, &self->tokens_room, sizeof(Token));
    do {
        reserve(&self->tokens, self->n_tokens, 1, &self->tokens_room, sizeof(Token));
        next = &self->tokens[self->n_tokens];
        if (!qd_lexer_next(self->lexer, &next->token, NULL))
            return NULL;
        put_number(self, next->token.kind);
        next->value = QD_FINGERPRINT_NO_VALUE;
        if (is_constant(&next->token))
            next->value = put_constant(self, &next->token);
        else if (next->token.kind == QD_TOKEN_VAR)
            put_text(self, next->token.text - 1, next->token.n_text + 1); /* with its sigil */
        else if (next->token.kind >= 256)
            put_text(self, next->token.text, next->token.n_text);
        self->n_tokens++;
    } while (next->token.kind != QD_TOKEN_END);
    return g_steal_pointer(&self);
}

QdFingerprint *
qd_fingerprint_free(QdFingerprint *self)
{
    if (self == NULL)
        return NULL;

    g_free(self->skeleton);
    g_free(self->tokens);
    g_clear_pointer(&self->values, g_array_unref);
    g_clear_pointer(&self->filled, g_ptr_array_unref);
    (void) qd_lexer_free(self->lexer);
    g_free(self->text);
    g_free(self);
    return NULL;
}

const char *
qd_fingerprint_get_text(const QdFingerprint *self, gsize *ret_n_bytes)
{
    *ret_n_bytes = self->n_text;
    return self->text;
}

const guint8 *
qd_fingerprint_get_skeleton(const QdFingerprint *self, gsize *ret_n_bytes)
{
    *ret_n_bytes = self->n_skeleton;
    return self->skeleton;
}

guint
qd_fingerprint_get_n_values(const QdFingerprint *self)
{
    return self->values->len;
}

const QdFingerprintValue *
qd_fingerprint_get_value(const QdFingerprint *self, guint i)
{
    return &g_array_index(self->values, QdFingerprintValue, i);
}

const QdLexer *
qd_fingerprint_get_lexer(const QdFingerprint *self)
{
    return self->lexer;
}

guint
qd_fingerprint_get_token(const QdFingerprint *self, guint i, QdToken *ret_token)
{
    const Token *token = &self->tokens[MIN(i, self->n_tokens - 1)];

    *ret_token = token->token;
    return token->value;
}

void
qd_fingerprint_forget_tokens(QdFingerprint *self)
{
    g_clear_pointer(&self->tokens, g_free);
}

gboolean
qd_fingerprint_value_is_equal(const QdFingerprint *self, const QdFingerprint *other, guint i)
{
    const QdFingerprintValue *a = qd_fingerprint_get_value(self, i);
    const QdFingerprintValue *b = qd_fingerprint_get_value(other, i);

    return a->n_text == b->n_text && memcmp(a->text, b->text, a->n_text) == 0;
}

/* --- holes ------------------------------------------------------------------------------------------------------------ */

static void
keep_text(QdFingerprint *self, GString *text, QdTerm *term)
{
    if (self->filled == NULL)
        self->filled = g_ptr_array_new_with_free_func(g_free);
    term->n_lexical = text->len;
    term->lexical = g_string_free(text, FALSE);
    g_ptr_array_add(self->filled, (gpointer) term->lexical);
}

static gboolean
fill_hole(QdFingerprint *self, const QdFingerprintHole *hole)
{
    const QdFingerprintValue *value = qd_fingerprint_get_value(self, hole->value);
    GString *text;

    if (hole->head != NULL) {
        text = g_string_new(hole->head);
        g_string_append_len(text, value->text, (gssize) value->n_text);
        keep_text(self, text, hole->term);
    } else if (value->kind != QD_TOKEN_IRIREF || qd_iri_is_absolute(value->text, value->n_text)) {
        hole->term->lexical = value->text;
        hole->term->n_lexical = value->n_text;
    } else {
        text = g_string_new(NULL);
        if (!qd_iri_resolve(hole->base, hole->base != NULL ? strlen(hole->base) : 0, value->text, value->n_text, text)) {
            g_string_free(text, TRUE);
            return FALSE;
        }
        keep_text(self, text, hole->term);
    }
    return TRUE;
}

gboolean
qd_fingerprint_fill(QdFingerprint *self, const QdFingerprintHole *holes, guint n_holes)
{
    for (guint i = 0; i < n_holes; i++) {
        if (!fill_hole(self, &holes[i]))
            return FALSE;
    }
    return TRUE;
}
