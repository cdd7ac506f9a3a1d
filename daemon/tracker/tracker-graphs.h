/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which graphs a query may see: its own FROM clauses, and those that CONSTRAINT clauses leave.
 *
 * Place: room tracker, used by tracker-text.c.
 */
#pragma once

#include <glib.h>

typedef struct QdTrackerGraphs QdTrackerGraphs;

QdTrackerGraphs *qd_tracker_graphs_new(void);
QdTrackerGraphs *qd_tracker_graphs_free(QdTrackerGraphs *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdTrackerGraphs, qd_tracker_graphs_free)

/* A clause FROM or FROM NAMED of the text. */
void qd_tracker_graphs_add_from(QdTrackerGraphs *self, gboolean is_named, const char *iri);

/* A clause CONSTRAINT GRAPH begins: of what the clauses before it leave, what it names remains. */
void qd_tracker_graphs_begin_constraint(QdTrackerGraphs *self);
/* @iri: "": the default graph; NULL: all graphs */
void qd_tracker_graphs_allow(QdTrackerGraphs *self, const char *iri);
void qd_tracker_graphs_end_constraint(QdTrackerGraphs *self);
gboolean qd_tracker_graphs_is_constrained(const QdTrackerGraphs *self);

/* qd_tracker_graphs_make_dataset: (transfer full) (nullable): the option `dataset`; NULL: the text says it all. */
char *qd_tracker_graphs_make_dataset(const QdTrackerGraphs *self, gboolean union_default_graph);
