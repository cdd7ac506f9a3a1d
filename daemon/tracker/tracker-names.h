/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names that queries of TinySPARQL's clients take for granted: prefixes, and functions that SPARQL 1.1 has under other names.
 *
 * Place: room tracker, tables for tracker-text.c.
 */
#pragma once

#include <glib.h>

#define QD_TRACKER_NRL "http://tracker.api.gnome.org/ontology/v3/nrl#"
#define QD_TRACKER_FTS "http://tracker.api.gnome.org/ontology/v3/fts#"
#define QD_TRACKER_TRACKER "http://tracker.api.gnome.org/ontology/v3/tracker#"

/* qd_tracker_find_prefix: (nullable) (transfer none): the namespace that a prefix stands for without a declaration. */
const char *qd_tracker_find_prefix(const char *prefix, gsize n_bytes);

/* qd_tracker_find_function: (nullable) (transfer none): the name of the function in SPARQL 1.1. */
const char *qd_tracker_find_function(const char *iri);
