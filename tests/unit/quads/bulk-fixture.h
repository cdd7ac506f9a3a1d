/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loads of numbered quads into a store, and what has to hold of it afterwards.
 *
 * Place: tests of both passes of daemon/quads/bulk-load.h, over the store fixture.
 */
#pragma once

#include "daemon/quads/bulk-load.h"
#include "daemon/rdf/term.h"
#include "tests/unit/store/store-fixture.h"

#define BULK_EX "http://example.org/"

QdTerm bulk_make_iri(const char *iri);

/* Quad number @i of a set with all kinds of terms, some in common; each is another quad. */
void bulk_add_quad(QdBulkLoad *load, guint i);

QdBulkLoad *bulk_new_load(StoreFixture *fixture, QdConnection *reader, const char *graph);

/* In a transaction of its own. The second must succeed. */
gboolean bulk_try_commit(StoreFixture *fixture, QdBulkLoad *load, QdBulkReplace replace, guint64 *ret_n_inserted, GError **error);
guint64 bulk_commit(StoreFixture *fixture, QdBulkLoad *load, QdBulkReplace replace);

/* The whole load in one step; from @start to before @end. */
guint64 bulk_load_range(StoreFixture *fixture, guint start, guint end);

/* All that has to hold of a store after any load. */
void bulk_assert_sound(StoreFixture *fixture);
