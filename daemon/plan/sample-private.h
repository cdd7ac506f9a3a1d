/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of samples share: rows of ids, and how triples and paths extend them.
 *
 * Place: room plan, of sample.c and sample-quads.c, and of join-search.c for what is kept. All ids are of the store. Used by the
 * thread that compiles.
 */
#pragma once

#include "daemon/plan/sqlgen-private.h"

#define POOL_MAX 256    /* rows of a sample */
#define ROWS_MAX 24     /* of these for which a part is counted */
#define FOUND_MAX 64    /* solutions for one of its rows, nodes of a path */
#define KEPT_MAX 1024   /* solutions at once, before some of them are chosen: 0.5 MiB */
#define SLOTS_MAX 64    /* variables of a sample */
#define LISTS_MAX 50000 /* look-ups for one statement: 0.2 s */
#define COMPUTED G_MININT64
#define UNKNOWN (-1.0)

/* What the samples of a statement have in common. */
struct QdSamples {
    guint n_lists;      /* look-ups */
    GHashTable *ids;    /* QdTerm → gint64, 0: no quad has it */
    GHashTable *pairs;  /* QdTriple → double */
    GHashTable *walks;  /* Walk → itself */
    GHashTable *scans;  /* Scan → itself */
    GHashTable *lists;  /* List → itself */
    GHashTable *orders; /* (nullable): of join-search.c */
    QdSample *context;  /* (nullable) (not owned): solutions before a join that is made for each of them */
};

struct QdSample {
    QdGenerator *generator;
    QdSamples *samples;
    guint variables[SLOTS_MAX];
    guint n_slots;
    GArray *rows;   /* QdSampleRow */
    double n_found; /* solutions of triples and paths that were looked at */
    gboolean may_scan;
    gboolean is_first; /* there are no solutions yet: those of a pattern with constants are from all over it */
    gboolean is_full;  /* there were more variables, or look-ups: nothing is known any more */
};

/* The ids of the variables; 0: unbound, COMPUTED: a number that no quad has, or few. */
typedef struct QdSampleRow {
    gint64 ids[SLOTS_MAX];
} QdSampleRow;

QdSamples *qd_samples_new(void);

/* The place of @variable in the rows of @self, which is full without one for it. */
guint qd_sample_find_slot(QdSample *self, guint variable);
/* Adds a copy of @row to @rows unless these are many. */
void qd_sample_keep(GArray *rows, const QdSampleRow *row);
/* At most @n_max rows of @rows, from all over it. */
void qd_sample_thin(GArray *rows, guint n_max);
/* What @node is in @row; 0: unbound. FALSE: no quad has this term. */
gboolean qd_sample_read_node(QdSample *self, const QdNode *node, const QdSampleRow *row, gint64 *ret_id);
/* FALSE: the row binds the variable to another. */
gboolean qd_sample_bind(QdSample *self, const QdNode *node, gint64 id, QdSampleRow *row);

/* Add to @out solutions that extend @row. Return about how many there are; UNKNOWN. */
double qd_sample_extend_triple(QdSample *self, const QdTriple *triple, const QdSampleRow *row, GArray *out);
double qd_sample_extend_path(QdSample *self, const QdTriple *triple, const QdSampleRow *row, GArray *out);
/* A path with both ends free from some of the nodes where its first step begins. @ret_n: about how many pairs it leads between. */
double qd_sample_scan_path(QdSample *self, const QdTriple *triple, const QdSampleRow *row, GArray *out, double *ret_n);
