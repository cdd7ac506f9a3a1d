/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An RDF term as a borrowed view of its texts.
 *
 * Place: room rdf; readers make terms, the store interns them, functions compute them.
 * Invariant: a view owns nothing. Two terms are the same term when kind, lexical form and qualifier are equal, the language
 * tag without regard to case.
 */
#pragma once

#include <glib.h>

#define QD_XSD_NAMESPACE "http://www.w3.org/2001/XMLSchema#"
#define QD_RDF_NAMESPACE "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

typedef enum QdTermKind {
    QD_TERM_IRI = 0,
    QD_TERM_STRING = 1, /* xsd:string */
    QD_TERM_LANG_STRING = 2,
    QD_TERM_TYPED = 3,
    QD_TERM_BNODE = 4,
} QdTermKind;

typedef struct QdTerm {
    QdTermKind kind;
    const char *lexical; /* IRI without <>, lexical form, or a blank node's label without _: ; UTF-8, NUL not needed */
    gsize n_lexical;
    const char *qualifier; /* datatype IRI (TYPED) or language tag (LANG_STRING), else NULL */
    gsize n_qualifier;
} QdTerm;

/* A quad from a reader; @g is NULL in the default graph. FALSE with an error ends the reading. */
typedef gboolean (*QdQuadFunc)(const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, gpointer data, GError **error);

/* qd_term_equal: the same term. */
gboolean qd_term_equal(const QdTerm *a, const QdTerm *b);

/* qd_term_hash: 64 bits; the same for equal terms, in every process and version: the store keeps it. */
guint64 qd_term_hash(const QdTerm *term);

/**
 * qd_term_init_literal:
 * @ret: (out): the term
 * @lexical: its lexical form; borrowed, like @datatype
 * @datatype: an IRI
 *
 * A literal with a datatype: STRING when that is xsd:string, else TYPED.
 */
void qd_term_init_literal(QdTerm *ret, const char *lexical, gsize n_lexical, const char *datatype, gsize n_datatype);

/* [a-zA-Z]+ ("-" [a-zA-Z0-9]+)*, as LANGTAG of SPARQL's grammar. */
gboolean qd_term_is_language_tag(const char *tag, gsize n_bytes);

/* What keeps @term, which a client has put together, from being one: (nullable): a predicate, as "is no absolute IRI". Dumps with
 * such a term could not be read. */
const char *qd_term_find_fault(const QdTerm *term);
