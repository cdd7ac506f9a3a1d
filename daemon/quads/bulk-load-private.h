/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the two passes of a bulk load share.
 *
 * Provisional ids are the ids of the k-th new term, or the k-th blank node, of this load, above all real ones. An addition
 * makes a real one of them, which keeps the order of the sorted runs.
 */
#pragma once

#include "daemon/quads/bulk-load.h"
#include "daemon/quads/quad-trees.h"
#include "daemon/quads/sorter.h"
#include "daemon/quads/spool.h"
#include "daemon/quads/term-key.h"

typedef struct QdDictionary QdDictionary;
typedef struct QdTermTable QdTermTable;

#define QD_BULK_PROVISIONAL_SEQUENCE (G_GUINT64_CONSTANT(1) << 59)
#define QD_BULK_PROVISIONAL_BNODE (G_GUINT64_CONSTANT(1) << 56)
/* Rows of quads or hashes that are sorted at once. */
#define QD_BULK_SORTED_ROWS (512 * 1024)

/* A new term in the spool, followed by the lexical form and the language tag. */
typedef struct QdBulkTerm {
    guint64 hash;
    gint64 datatype_id;
    double number;
    guint32 n_lexical;
    guint32 n_tag;
    guint8 kind;
    guint8 has_number;
} QdBulkTerm;

typedef struct QdBulkPosition {
    QdTermKind kind;
    GString *text;
    gint64 id; /* 0: nothing here yet */
} QdBulkPosition;

struct QdBulkLoad {
    QdDictionary *dictionary; /* of the reader */
    const QdLimits *limits;
    QdTermKey secret; /* of this load */
    QdTermTable *terms;
    QdTermTable *labels;
    gboolean has_forgotten; /* the table of terms was full */
    gint64 start_sequence;  /* the store's counter when pass 1 began */
    QdSpool *spool;
    guint64 n_terms;
    guint64 n_labels;
    guint64 n_bnodes; /* the greatest serial in use */
    QdSorter *quads;
    gint64 graph;
    QdBulkPosition subject; /* the one before */
    QdBulkPosition predicate;
    GPtrArray *prefixes;    /* of declarations, each once: prefix, NUL, IRI, NUL */
    GHashTable *prefix_set; /* the same, which it owns */
    gsize n_prefix_bytes;   /* of both, about */

    /* pass 2 */
    char *directory;
    guint64 first_sequence;
    guint64 first_bnode;
    GHashTable *aliases; /* provisional number → id; NULL: none */
};
