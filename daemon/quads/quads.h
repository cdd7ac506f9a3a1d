/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing quads: the rows of queryd_quad, and with each the statistics of its predicate, the count of its graph, and the full-text
 * index.
 *
 * Place: room quads, over the dictionary. One for each connection, made at first use.
 * Invariant: between begin and finish in one transaction (or savepoint) the statistics are exact when finish has succeeded.
 * They are counts and distinct subjects and objects of each predicate. Only the bitmap of object tags may say too much after a
 * deletion. The default graph is 0. A named graph is in queryd_graph while it has quads or was made explicitly.
 */
#pragma once

#include "daemon/quads/dictionary.h"
#include "daemon/quads/quad-trees.h"
#include "daemon/rdf/prefix-map.h"

typedef struct QdQuads QdQuads;

/* The connection's own: (transfer none). */
QdQuads *qd_quads_get(QdConnection *connection, GError **error);
QdDictionary *qd_quads_get_dictionary(QdQuads *self);

/* Starts a change: counters are read, nothing is pending. The connection is the writer's, in a transaction. */
gboolean qd_quads_begin(QdQuads *self, GError **error);
/* Before finish: appends the ids (gint64) of predicates and graphs whose quads changed, or that came or went. */
void qd_quads_list_touched(QdQuads *self, GArray *predicates, GArray *graphs);
/* Writes what is pending: statistics and counters. */
gboolean qd_quads_finish(QdQuads *self, GError **error);

/* @ret_changed: (out) (optional): FALSE when the quad was there already, or was not there. */
gboolean qd_quads_insert(QdQuads *self, gint64 s, gint64 p, gint64 o, gint64 g, gboolean *ret_changed, GError **error);
gboolean qd_quads_delete(QdQuads *self, gint64 s, gint64 p, gint64 o, gint64 g, gboolean *ret_changed, GError **error);

/* All quads of a graph. @forget: a named graph that was made explicitly goes, too (DROP; without it CLEAR). */
gboolean qd_quads_delete_graph(QdQuads *self, gint64 g, gboolean forget, guint64 *ret_n_quads, GError **error);
/* Everything: quads, graphs, statistics; terms stay. */
gboolean qd_quads_delete_all(QdQuads *self, guint64 *ret_n_quads, GError **error);

/* @ret_exists: TRUE when the graph has quads or was made explicitly. */
gboolean qd_quads_has_graph(QdQuads *self, gint64 g, gboolean *ret_exists, GError **error);
/* Makes a named graph, which may stay empty. */
gboolean qd_quads_create_graph(QdQuads *self, gint64 g, GError **error);

/* For bulk-load, which fills the trees by itself (quad-trees.h): what @quad (s, p, o, g) adds to the statistics of a store that was
 * empty. Called for each quad of each tree, in the tree's order. @last: the one before, zeros at first */
void qd_quads_count_loaded(QdQuads *self, QdQuadTree tree, const gint64 *quad, const gint64 *last);
/* When all trees are filled. @counted: there are only the quads that qd_quads_count_loaded() has counted */
gboolean qd_quads_finish_load(QdQuads *self, gboolean counted, GError **error);

/* Statistics and graphs from the quads themselves. */
gboolean qd_quads_recount(QdQuads *self, GError **error);

/* The bit of an object in the column tags: in line by its tag, of the dictionary by its kind. */
guint64 qd_quads_get_tag_bit(gint64 o);

/* Adds the stored prefixes to @prefixes, in their order. */
gboolean qd_quads_list_prefixes(QdConnection *connection, QdPrefixMap *prefixes, GError **error);
