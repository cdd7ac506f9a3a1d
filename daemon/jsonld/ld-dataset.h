/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Quads as nodes of graphs (§8.4 of the algorithms), with their lists folded.
 *
 * Place: room jsonld, for the writer. Each quad is in it once. Terms are copied.
 */
#pragma once

#include "daemon/jsonld/json-value.h"
#include "daemon/rdf/term.h"

typedef struct QdLdNode QdLdNode;
typedef struct QdLdEntry QdLdEntry;

/* A property of a node with one value. */
struct QdLdEntry {
    QdLdEntry *next;
    QdLdNode *node;
    QdTerm p;
    QdTerm o;
    GPtrArray *list;       /* (nullable) of QdLdEntry: what the value, which is its head, has as a list */
    const QdLdEntry *text; /* (nullable) of a compound literal: its rdf:value, language, direction */
    const QdLdEntry *language;
    const QdLdEntry *direction;
};

struct QdLdNode {
    QdTerm id;
    QdLdEntry *first; /* (nullable) */
    QdLdEntry *last;
    gboolean is_folded; /* it is part of a list, or of a compound literal */
};

typedef struct QdLdGraph {
    QdTerm name; /* without a lexical form: the default graph */
    GHashTable *nodes;
    GPtrArray *order; /* of QdLdNode, as they came */
} QdLdGraph;

typedef struct QdLdDataset QdLdDataset;

QdLdDataset *qd_ld_dataset_new(void);
QdLdDataset *qd_ld_dataset_free(QdLdDataset *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdLdDataset, qd_ld_dataset_free)

void qd_ld_dataset_add(QdLdDataset *self, const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g);
gsize qd_ld_dataset_get_bytes(const QdLdDataset *self);

/* Finds what is a list, and nothing else. */
void qd_ld_dataset_fold_lists(QdLdDataset *self);
/* Compound literals for texts with a direction. */
void qd_ld_dataset_fold_compounds(QdLdDataset *self);

guint qd_ld_dataset_get_n_graphs(const QdLdDataset *self);
/* 0 is the default graph. */
QdLdGraph *qd_ld_dataset_get_graph(const QdLdDataset *self, guint index);
/* (nullable): the named graph @name. */
QdLdGraph *qd_ld_dataset_find_graph(const QdLdDataset *self, const QdTerm *name);
/* Of the default graph, made if it is missing. */
QdLdNode *qd_ld_dataset_get_node(QdLdDataset *self, const QdTerm *id);

gboolean qd_ld_term_is(const QdTerm *term, const char *iri);
