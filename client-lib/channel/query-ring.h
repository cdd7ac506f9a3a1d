/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The client's side of a ring (wire-ring.h).
 *
 * Place: internal to libquery-client; a channel has one while a large result comes.
 * Invariant: a page is copied out of shared memory before its content is read, so what has been validated stays as it is. The
 * files are sealed, so no access to the mapping can fail.
 */
#pragma once

#include "client-lib/query-client.h"
#include "client-lib/wire/wire-ring.h"

typedef struct QueryRing QueryRing;

/**
 * query_ring_new:
 * @shape: what the RING record said
 * @fds: (transfer full): slots and index
 *
 * Checks sizes and seals, then maps both.
 *
 * Errors: PROTOCOL for files that are not as the daemon makes them; INTERNAL where they cannot be mapped.
 *
 * Returns: (transfer full): the ring; NULL with @error
 */
QueryRing *query_ring_new(const QwRing *shape, int fds[2], GError **error);
void query_ring_free(QueryRing *self);

const QwRing *query_ring_get_shape(const QueryRing *self);

/**
 * query_ring_take:
 * @n_bytes: of the page, at most the slot size
 *
 * Copies the next page, and tells the daemon that its slot is free.
 *
 * Returns: (transfer none): the page, 8-aligned, until the next call
 */
const guint8 *query_ring_take(QueryRing *self, gsize n_bytes);

/* (transfer full): the memory of the page taken last; free with g_free(). */
gpointer query_ring_detach_page(QueryRing *self);
