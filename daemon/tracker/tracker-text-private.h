/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A text on its way through the translator. tracker-text.c walks over it. tracker-clauses.c knows what is declared before the
 * patterns, tracker-select.c the expressions of SELECT, tracker-value.c writes values of parameters.
 *
 * Place: room tracker, private to these.
 */
#pragma once

#include "daemon/rdfio/lexer.h"
#include "daemon/read/parameters.h"
#include "daemon/tracker/tracker-graphs.h"
#include "daemon/tracker/tracker-text.h"

typedef enum QdTrackerScopeKind {
    QD_TRACKER_PATTERN,     /* '{' of a group */
    QD_TRACKER_TEMPLATE,    /* '{' of quads that are written, or of CONSTRUCT */
    QD_TRACKER_DATA,        /* '{' after VALUES */
    QD_TRACKER_PARENTHESES, /* '(' of an expression, a collection or a path */
    QD_TRACKER_BRACKETS,    /* '[' */
} QdTrackerScopeKind;

typedef struct QdTrackerScope {
    QdTrackerScopeKind kind;
    gboolean is_statement; /* '(' of FILTER and its kin: a triple may follow the ')' */
    const char *word;      /* TEMPLATE: that came before it: "INSERT", "DELETE", "DATA", or "CONSTRUCT" */
    GString *values;       /* (nullable) (owned) PATTERN: what stands before its '}' */
} QdTrackerScope;

/* Where a term stands. */
typedef enum QdTrackerPlace {
    QD_TRACKER_RESOURCE, /* subject, predicate, graph: a string means the resource of that name */
    QD_TRACKER_OBJECT,   /* of a pattern: it may mean either */
    QD_TRACKER_LITERAL,
} QdTrackerPlace;

typedef struct QdTranslator {
    const QdTrackerProfile *profile;
    QdTrackerText *result;
    const char *text;
    QdLexer *lexer;
    QdToken token;
    QdToken next;
    gsize copied;         /* bytes of @text that were dealt with */
    GString *out;         /* not owned */
    QdToken before[2];    /* the tokens before it: the last one, and the one before that */
    gsize start[2];       /* where each of these begins in @out */
    GArray *scopes;       /* of QdTrackerScope */
    GHashTable *prefixes; /* declared: prefix → IRI */
    GHashTable *labels;   /* of blank nodes: label → IRI */
    QdTrackerGraphs *graphs;
    guint n_made;          /* variables of ours */
    gboolean names_graphs; /* an update has WITH or USING */
    GError *error;
} QdTranslator;

/* What fails has set @error; callers only return. */
gboolean qd_translator_fail(QdTranslator *self, QwError code, const char *format, ...) G_GNUC_PRINTF(3, 4);
gboolean qd_translator_is_word(const QdTranslator *self, const char *word);
gboolean qd_translator_is_iri(const QdTranslator *self);
/* Returns: (transfer full) (nullable): NULL if @token is no IRI, or its prefix is not known here; it may be one of the store's */
char *qd_translator_expand_iri(const QdTranslator *self, const QdToken *token);
/* The next token is the token. */
gboolean qd_translator_advance(QdTranslator *self);
/* The same, and the token is left out. */
gboolean qd_translator_skip(QdTranslator *self);
/* The token as it stands, which stays the token. */
void qd_translator_put_source(QdTranslator *self);
/* White space and comments before the token. */
void qd_translator_put_gap(QdTranslator *self);
/* The token, or what stands for it, and all scopes that it opens or closes; then the next one is the token. */
gboolean qd_translator_put(QdTranslator *self);
/* The same with all up to the end of the scope that it opens. @ret_names: (nullable): whether AS stands in it, not deeper */
gboolean qd_translator_put_scope(QdTranslator *self, gboolean *ret_names);

/* tracker-clauses.c: the token is PREFIX, FROM or CONSTRAINT. */
gboolean qd_translator_put_prefix(QdTranslator *self);
gboolean qd_translator_put_from(QdTranslator *self);
gboolean qd_translator_skip_constraint(QdTranslator *self);
/* tracker-select.c: the token is SELECT. */
gboolean qd_translator_put_select(QdTranslator *self);
/* tracker-value.c: the token is a parameter. */
gboolean qd_translator_put_parameter(QdTranslator *self, QdTrackerPlace place);
