/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a path's links lead to, as a plain directed graph that is read as it is needed.
 *
 * A vertex is a node and a state. State 0 is between steps. In state i the next link is link i of the path, which goes on from
 * another. Vertices have numbers, so that a search needs one bit for each and follows a link in a few nanoseconds. Memory is
 * SQLite's, which counts for the query.
 *
 * Place: internal to closure.
 */
#pragma once

#include "daemon/functions/closure/closure-search.h"

/* Open addressing from an id, which is never 0, to a vertex. */
typedef struct QdClosureTable {
    gint64 *keys;
    guint32 *numbers;
    gsize n;
    gsize capacity; /* a power of two, or 0 */
} QdClosureTable;

typedef struct QdClosureVertex {
    gint64 node;
    guint16 state;
    guint8 is_tested; /* the conditions were */
    guint8 is_row;    /* they hold */
    guint32 place;    /* in the list of links; 0: they have not been read */
} QdClosureVertex;

typedef struct QdClosureGraph {
    QdClosureStatements *statements; /* not owned */
    guint8 steps[QD_CLOSURE_PATH_BYTES];
    gsize n_steps;      /* bytes of @steps */
    guint n_path_links; /* of @steps; conditions follow */
    gint64 graph;
    QdClosureTable numbers[QD_CLOSURE_LINKS_MAX]; /* of each state */
    QdClosureVertex *vertices;                    /* the first one is none */
    gsize n_vertices;
    gsize vertices_capacity;
    guint32 *links; /* runs of vertices, each ended by 0 */
    gsize n_links;
    gsize links_capacity;
} QdClosureGraph;

/* More vertices, or links: what is known is forgotten when a search begins, or another vertex is read: some 26 and 8 MiB. */
#define QD_CLOSURE_VERTICES_MAX (1 << 19)
#define QD_CLOSURE_LINKS_KEPT_MAX (1 << 21)

/* All functions return codes of SQLite. */

/* @array has room for @n elements of @size bytes. */
int qd_closure_reserve(void *array, gsize *capacity, gsize n, gsize size);
/* The numbers of vertices, too, are other ones after it. */
void qd_closure_graph_clear(QdClosureGraph *self);
int qd_closure_graph_add(QdClosureGraph *self, gint64 node, guint state, guint32 *ret_vertex);
/* Sets the place of @vertex. */
int qd_closure_graph_read(QdClosureGraph *self, guint32 vertex);
/* Tests the conditions for @vertex, between steps. */
int qd_closure_graph_test(QdClosureGraph *self, guint32 vertex);
/* Whether @steps (nullable when there are none) is one, packed as closure-search.h says. */
gboolean qd_closure_is_path(const guint8 *steps, gsize n_steps, guint *ret_n_links);

/* The links of @vertex until the next call, ended by 0. */
static inline int
qd_closure_graph_get_links(QdClosureGraph *self, guint32 vertex, const guint32 **ret_links)
{
    if (self->vertices[vertex].place == 0) {
        int r = qd_closure_graph_read(self, vertex);

        if (r != SQLITE_OK)
            return r;
    }
    *ret_links = self->links + self->vertices[vertex].place;
    return SQLITE_OK;
}

/* Whether @vertex is a row: between steps, and the conditions hold. */
static inline int
qd_closure_graph_is_row(QdClosureGraph *self, guint32 vertex, gboolean *ret_is_row)
{
    QdClosureVertex *found = &self->vertices[vertex];
    int r = found->state == 0 && !found->is_tested ? qd_closure_graph_test(self, vertex) : SQLITE_OK;

    *ret_is_row = found->is_row;
    return r;
}
