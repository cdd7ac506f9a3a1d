/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QdCatalog: what the SPARQL compiler asks the store: figures to order joins by, and prefixes. The store implements it on a
 * connection.
 *
 * Place: room sqlite, an interface only: the compiler includes it and nothing else of the store. All figures are estimates;
 * a wrong one costs time, never rows.
 */
#pragma once

#include "daemon/rdf/term.h"

typedef struct QdPredicateStatistics {
    guint64 n_quads;
    guint64 n_subjects; /* distinct */
    guint64 n_objects;  /* distinct */
    guint64 tags; /* of its objects: bit 0–31: an in-line value of that tag (QdTermTag), bit 32–35: a dictionary id of that kind */
} QdPredicateStatistics;

/* Ids of terms; 0: any. */
typedef struct QdQuadIds {
    gint64 s, p, o;
} QdQuadIds;

typedef struct QdCatalog {
    guint64 n_quads; /* in all graphs */
    guint64 n_predicates;
    /* FALSE: no quad has this predicate. */
    gboolean (*get_predicate)(gpointer data, const QdTerm *predicate, QdPredicateStatistics *ret_statistics);
    /* Quads of any graph that match, where a NULL term matches all, counted up to @cap. */
    guint64 (*count_quads)(gpointer data, const QdTerm *s, const QdTerm *p, const QdTerm *o, guint64 cap);
    /* The namespace of a prefix that the store keeps is appended to @ret_iri; FALSE: it keeps none. */
    gboolean (*find_prefix)(gpointer data, const char *prefix, GString *ret_iri);
    gpointer data;
    /* (nullable), as the next: the id of a term. FALSE: no quad has it. */
    gboolean (*find_id)(gpointer data, const QdTerm *term, gint64 *ret_id);
    /* Each @stride-th of the quads of any graph that match, up to @n_max of them. */
    guint (*list_quads)(gpointer data, const QdQuadIds *pattern, guint stride, guint n_max, QdQuadIds *ret_quads);
    /* (nullable) Literals that match a full-text query, counted up to @cap; 0 also when it is no query. */
    guint64 (*count_matches)(gpointer data, const QdTerm *text, guint64 cap);
    /* (nullable) Whether the objects of @predicate (NULL: of any predicate) are in the full-text index. */
    gboolean (*is_indexed)(gpointer data, const QdTerm *predicate);
    /* (nullable) Quads of a named graph. @graph: (nullable): of the one that a quad is in, on the average. */
    guint64 (*count_graph)(gpointer data, const QdTerm *graph);
} QdCatalog;
