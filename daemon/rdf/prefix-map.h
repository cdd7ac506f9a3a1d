/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prefixes and the namespaces that they stand for, for writing: the longest namespace that an IRI begins with.
 *
 * Place: room rdf, for the writers of formats. Invariant: a prefix and a namespace are in the map once.
 */
#pragma once

#include <glib.h>

typedef struct QdPrefixMap QdPrefixMap;

QdPrefixMap *qd_prefix_map_new(void);
QdPrefixMap *qd_prefix_map_free(QdPrefixMap *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdPrefixMap, qd_prefix_map_free)

/* Copies both; FALSE, and nothing done, when the prefix or the namespace is there already. */
gboolean qd_prefix_map_add(QdPrefixMap *self, const char *prefix, const char *iri);
guint qd_prefix_map_get_n(const QdPrefixMap *self);
/* In the order of their adding. */
void qd_prefix_map_get(const QdPrefixMap *self, guint index, const char **ret_prefix, const char **ret_iri);

/* How many times qd_prefix_map_find() may be asked for one IRI: each answer is a shorter namespace. Start with *@state = 0.
 * @ret_n_iri: bytes of the namespace. Returns: (nullable): the prefix. */
const char *qd_prefix_map_find(const QdPrefixMap *self, const char *iri, gsize n_iri, guint *state, gsize *ret_n_iri);
