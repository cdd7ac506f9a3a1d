/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Equality and hash of terms.
 */
#include "daemon/rdf/term.h"

#include <string.h>

static gboolean
text_equal(const char *a, gsize n_a, const char *b, gsize n_b)
{
    return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a) == 0);
}

gboolean
qd_term_equal(const QdTerm *a, const QdTerm *b)
{
    if (a->kind != b->kind || !text_equal(a->lexical, a->n_lexical, b->lexical, b->n_lexical))
        return FALSE;

    switch (a->kind) {
    case QD_TERM_LANG_STRING:
        return a->n_qualifier == b->n_qualifier && g_ascii_strncasecmp(a->qualifier, b->qualifier, a->n_qualifier) == 0;
    case QD_TERM_TYPED:
        return text_equal(a->qualifier, a->n_qualifier, b->qualifier, b->n_qualifier);
    case QD_TERM_IRI:
    case QD_TERM_STRING:
    case QD_TERM_BNODE:
        return TRUE;
    }
    g_assert_not_reached();
}

/* Eight bytes a step: multiply by an odd constant, fold the high half into the low. */
#define HASH_FACTOR G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)

static inline guint64
mix(guint64 hash, guint64 word)
{
    unsigned __int128 product = (unsigned __int128) (hash ^ word) * HASH_FACTOR;

    return (guint64) product ^ (guint64) (product >> 64) ^ (hash << 1);
}

static guint64
hash_bytes(guint64 hash, const char *p, gsize n)
{
    guint64 word;

    hash = mix(hash, n);
    for (; n >= 8; p += 8, n -= 8) {
        memcpy(&word, p, sizeof word);
        hash = mix(hash, GUINT64_FROM_LE(word));
    }
    word = 0;
    if (n > 0)
        memcpy(&word, p, n);
    return mix(hash, GUINT64_FROM_LE(word));
}

guint64
qd_term_hash(const QdTerm *term)
{
    guint64 hash = hash_bytes(HASH_FACTOR + term->kind, term->lexical, term->n_lexical);

    if (term->kind == QD_TERM_TYPED)
        hash = hash_bytes(hash, term->qualifier, term->n_qualifier);
    if (term->kind == QD_TERM_LANG_STRING)
        for (gsize i = 0; i < term->n_qualifier; i++)
            hash = mix(hash, (guint64) (guchar) g_ascii_tolower(term->qualifier[i]));
    return hash ^ (hash >> 32);
}

void
qd_term_init_literal(QdTerm *ret, const char *lexical, gsize n_lexical, const char *datatype, gsize n_datatype)
{
    *ret = (QdTerm){
        .kind = QD_TERM_TYPED, .lexical = lexical, .n_lexical = n_lexical, .qualifier = datatype, .n_qualifier = n_datatype
    };
    if (text_equal(datatype, n_datatype, QD_XSD_NAMESPACE "string", strlen(QD_XSD_NAMESPACE "string"))) {
        ret->kind = QD_TERM_STRING;
        ret->qualifier = NULL;
        ret->n_qualifier = 0;
    }
}
