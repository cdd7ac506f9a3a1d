/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Equality and hash of terms, and what a term may be made of.
 */
#include "daemon/rdf/term.h"

#include <string.h>

#include "daemon/rdf/code-point.h"
#include "daemon/rdf/iri.h"

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

gboolean
qd_term_is_language_tag(const char *tag, gsize n_bytes)
{
    gboolean first = TRUE;
    gboolean empty = TRUE;

    for (gsize i = 0; i < n_bytes; i++) {
        if (tag[i] == '-' && !empty) {
            first = FALSE;
            empty = TRUE;
        } else if (g_ascii_isalpha(tag[i]) || (!first && g_ascii_isdigit(tag[i]))) {
            empty = FALSE;
        } else {
            return FALSE;
        }
    }
    return !empty;
}

/* Of an IRI, which may be a datatype. */
static const char *
find_iri_fault(const char *iri, gsize n_bytes)
{
    if (!qd_iri_is_absolute(iri, n_bytes))
        return "is no absolute IRI";
    return qd_iri_check(iri, n_bytes) ? NULL : "has a character that no IRI has";
}

const char *
qd_term_find_fault(const QdTerm *term)
{
    if (!qd_code_point_check(term->lexical, term->n_lexical, NULL))
        return "is not UTF-8";
    switch (term->kind) {
    case QD_TERM_IRI:
        return find_iri_fault(term->lexical, term->n_lexical);
    case QD_TERM_LANG_STRING:
        return qd_term_is_language_tag(term->qualifier, term->n_qualifier) ? NULL : "has no language tag, as 'en' or 'de-AT'";
    case QD_TERM_TYPED:
        return find_iri_fault(term->qualifier, term->n_qualifier) == NULL ? NULL : "has a datatype that is no absolute IRI";
    case QD_TERM_BNODE: /* its label is looked up */
    case QD_TERM_STRING:
        break;
    }
    return NULL;
}
