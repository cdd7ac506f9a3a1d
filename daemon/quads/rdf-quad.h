/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table rdf_quad: the RDF data for users of SQL, terms as texts.
 *
 *     rdf_quad(graph, subject, predicate, object, datatype, language,
 *              graph_id HIDDEN, subject_id HIDDEN, predicate_id HIDDEN, object_id HIDDEN)
 *
 * Place: room quads, over the dictionary. A virtual table that is always there, and cannot be written. Equalities in WHERE and in
 * joins become look-ups of ids and use the indexes of queryd_quad. docs/rdf-store.md describes it.
 */
#pragma once

#include "daemon/sqlite/connection.h"

/* Once for each connection. */
gboolean qd_rdf_quad_register(QdConnection *connection, GError **error);
