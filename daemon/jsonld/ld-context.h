/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Active contexts of JSON-LD 1.1 (JSON-LD 1.1 Processing Algorithms and API, §4 and §5.2): terms and what they stand for.
 *
 * Place: room jsonld. A context is a layer of terms over the context that it was made of, so that making one costs what it adds.
 * Invariant: a context is not changed once it is made. It lives as long as the arena it was made in.
 */
#pragma once

#include "daemon/jsonld/json-value.h"
#include "daemon/jsonld/jsonld-reader.h"

typedef enum QdLdContainer {
    QD_LD_GRAPH = 1 << 0,
    QD_LD_ID = 1 << 1,
    QD_LD_INDEX = 1 << 2,
    QD_LD_LANGUAGE = 1 << 3,
    QD_LD_LIST = 1 << 4,
    QD_LD_SET = 1 << 5,
    QD_LD_TYPE = 1 << 6,
} QdLdContainer;

/* A term's definition. */
typedef struct QdLdTerm {
    const char *iri;       /* (nullable) IRI, blank node or keyword */
    const char *type;      /* (nullable) */
    const char *language;  /* (nullable) when has_language */
    const char *direction; /* (nullable) when has_direction */
    const char *index;     /* (nullable) */
    const char *nest;      /* (nullable) */
    const QdJson *context; /* (nullable) its local context */
    const char *base;      /* (nullable) what IRIs in that are relative to */
    guint container;       /* of QdLdContainer */
    gboolean is_prefix : 1;
    gboolean is_protected : 1;
    gboolean is_reverse : 1;
    gboolean is_removed : 1; /* in this layer; as if it were never defined */
    gboolean has_language : 1;
    gboolean has_direction : 1;
} QdLdTerm;

typedef struct QdLdContext QdLdContext;
struct QdLdContext {
    const QdLdContext *parent; /* (nullable) */
    guint n_layers;
    QdJsonArena *arena;
    GHashTable *terms;  /* (nullable) name to QdLdTerm, of this layer */
    GHashTable *scoped; /* (nullable) QdLdTerm to the context made of this one by it */
    const char *base;   /* (nullable) */
    const char *original_base;
    const char *vocab;           /* (nullable) */
    const char *language;        /* (nullable) */
    const char *direction;       /* (nullable) */
    const QdLdContext *previous; /* (nullable) where the context does not propagate to */
};

/* What the algorithms share while a document is read. */
typedef struct QdLd {
    const QdLimits *limits;
    const QdRdfReading *reading;
    const QdJsonLdReading *options;
    QdJsonArena *document; /* what lives as long as the reading */
    QdJsonArena *record;   /* what lives as long as a record */
    guint64 n_terms;       /* definitions made: work */
    guint depth;           /* of definitions that need others, and of contexts */
    GString *scratch;
} QdLd;

/* Flags of qd_ld_context_process(). */
#define QD_LD_OVERRIDE 1u     /* protected terms may be redefined */
#define QD_LD_NO_PROPAGATE 2u /* unless the context says otherwise */
#define QD_LD_NO_VALIDATE 4u  /* a context that is included already is not looked into again */

/* Asked for each piece of work: FALSE when the caller wants no more, or when @arena has more than a record may have. */
gboolean qd_ld_check(const QdLd *ld, const QdJsonArena *arena, GError **error);

QdLdContext *qd_ld_context_new(QdLd *ld, const char *base);

/**
 * qd_ld_context_process:
 * @active: the context that @local changes; stays as it is
 * @local: value of a @context
 * @base: (nullable): what IRIs of remote contexts are relative to
 * @remote: (nullable): IRIs of remote contexts that lead here
 *
 * Context Processing (§4.1). Work and nesting are bounded by the limits jsonld_terms and rdf_depth.
 */
gboolean qd_ld_context_process(QdLd *ld, const QdLdContext *active, const QdJson *local, const char *base, GPtrArray *remote,
                               guint flags, const QdLdContext **ret_context, GError **error);

/* The context inside of @term, a term of @active that has a context of its own; kept for the next time. */
gboolean qd_ld_context_scope(QdLd *ld, const QdLdContext *active, const QdLdTerm *term, guint flags,
                             const QdLdContext **ret_context, GError **error);

/* (nullable): the definition of @name. */
const QdLdTerm *qd_ld_context_find(const QdLdContext *self, const char *name);

/* "@id" and its kind. */
gboolean qd_ld_is_keyword(const char *text);
/* What looks like a keyword, and is none or one of a later version. */
gboolean qd_ld_has_keyword_form(const char *text);

/* Absolute and without characters that no IRI has. */
gboolean qd_ld_is_iri(const char *text);
gboolean qd_ld_is_bnode(const char *text);

#define QD_LD_VOCAB 1u    /* by terms and @vocab */
#define QD_LD_DOCUMENT 2u /* relative to the base */

/* What makes terms while IRIs are expanded in a context that is being made. */
typedef struct QdLdMaking QdLdMaking;

/* IRI Expansion (§5.2). @making: (nullable). @ret_iri: (nullable) is NULL where the text stands for nothing. */
gboolean qd_ld_expand_iri(QdLd *ld, const QdLdContext *context, const char *text, guint flags, QdLdMaking *making,
                          const char **ret_iri, GError **error);

/* Create Term Definition (§4.2): of all members of @local but keywords of the context, into @context, which is being made. */
gboolean qd_ld_define_terms(QdLd *ld, QdLdContext *context, const QdJson *local, const char *base, GPtrArray *remote, guint flags,
                            GError **error);
/* For IRI Expansion: the term @name, if it has a definition in @making that is not made yet. */
gboolean qd_ld_define_term(QdLdMaking *making, const char *name, GError **error);

/* An error "line:column: code: …" at @place; @code is one of the specification's. Returns FALSE. */
gboolean qd_ld_fail(GError **error, const QdJson *place, const char *code, const char *format, ...) G_GNUC_PRINTF(4, 5);
