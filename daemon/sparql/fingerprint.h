/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QdFingerprint: the tokens of a text with numbers in place of its constants. Texts that differ in white space and constants only
 * have one skeleton, so that one plan can serve them all.
 *
 * Place: room sparql, before the parser, which says which constants may really change: it makes a hole of each.
 * Invariant: equal skeletons mean that the texts become each other when the values of one are written over those of the other.
 * Values that are equal in one are equal in the other.
 */
#pragma once

#include "daemon/rdf/term.h"
#include "daemon/rdfio/lexer.h"

/* A constant of the text, however often it stands there. */
typedef struct QdFingerprintValue {
    guint kind;       /* of its tokens: an IRI, a prefixed name, a string, a number */
    const char *text; /* of a prefixed name the part after ':' */
    gsize n_text;
    guint n_tokens;
} QdFingerprintValue;

/* A term that the parser made of one of those tokens. */
typedef struct QdFingerprintHole {
    QdTerm *term;
    guint value;      /* its number */
    const char *head; /* (nullable): of a prefixed name, what stands for the prefix */
    const char *base; /* (nullable): what an IRI is resolved against */
    gboolean pinned;  /* something was decided by its value */
} QdFingerprintHole;

typedef struct QdFingerprint QdFingerprint;

/* A longer text has no fingerprint. */
#define QD_FINGERPRINT_TEXT_MAX 65536

/**
 * qd_fingerprint_new:
 * @text: of at most QD_FINGERPRINT_TEXT_MAX bytes; copied
 *
 * Returns: (transfer full) (nullable): NULL where the text cannot be cut into tokens; the parser says why
 */
QdFingerprint *qd_fingerprint_new(const char *text, gsize n_bytes);
/* Returns NULL; takes NULL. */
QdFingerprint *qd_fingerprint_free(QdFingerprint *self);

/* (transfer none): the text that it was made of. */
const char *qd_fingerprint_get_text(const QdFingerprint *self, gsize *ret_n_bytes);
/* (transfer none): bytes that are equal for texts of one fingerprint. */
const guint8 *qd_fingerprint_get_skeleton(const QdFingerprint *self, gsize *ret_n_bytes);
guint qd_fingerprint_get_n_values(const QdFingerprint *self);
const QdFingerprintValue *qd_fingerprint_get_value(const QdFingerprint *self, guint i);
/* (transfer none): that cut the text, for places in it. */
const QdLexer *qd_fingerprint_get_lexer(const QdFingerprint *self);
/* Token @i, or the end; the number of its value, or QD_FINGERPRINT_NO_VALUE. Not after qd_fingerprint_forget_tokens(). */
guint qd_fingerprint_get_token(const QdFingerprint *self, guint i, QdToken *ret_token);
#define QD_FINGERPRINT_NO_VALUE G_MAXUINT
/* Frees the tokens, which only the parser asks for. */
void qd_fingerprint_forget_tokens(QdFingerprint *self);
/* Whether value @i is the same in both, which have one skeleton. */
gboolean qd_fingerprint_value_is_equal(const QdFingerprint *self, const QdFingerprint *other, guint i);

/**
 * qd_fingerprint_fill:
 * @holes: of the plan of another text with the same skeleton
 *
 * Writes this text's values into the holes' terms, whose texts then live as long as @self.
 *
 * Returns: FALSE when an IRI is relative and has no base: parse the text for the error
 */
gboolean qd_fingerprint_fill(QdFingerprint *self, const QdFingerprintHole *holes, guint n_holes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdFingerprint, qd_fingerprint_free)
