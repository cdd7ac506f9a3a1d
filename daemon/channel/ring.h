/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon's side of a ring (wire-ring.h): memory in which pages wait for a client that maps it too.
 *
 * Place: room channel. A ring belongs to one large result. It is made when the result has turned out large and goes with it, so
 * idle channels hold none.
 * Invariant: a slot is written only while the client's index says that it has taken what was there. A client that writes
 * nonsense into the index at worst reads its own result wrongly. The index is used only as a count, read once and bounded.
 */
#pragma once

#include <glib.h>

#include "client-lib/wire/wire-ring.h"

typedef struct QdRing QdRing;

/**
 * qd_ring_new:
 * @shape: number and size of the slots
 * @ret_fds: (out) (transfer full): slots and index, sealed: sizes are fixed, the slots can be written through the daemon's own
 *   mapping only
 *
 * Returns: (transfer full) (nullable): a ring, or NULL where the system gives none; @ret_fds is untouched then
 */
QdRing *qd_ring_new(const QwRing *shape, int ret_fds[2]);
/* Unmaps it. What the client has mapped stays as it is. */
QdRing *qd_ring_free(QdRing *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdRing, qd_ring_free)

const QwRing *qd_ring_get_shape(const QdRing *self);

/**
 * qd_ring_get_slot:
 * @ret_slot: (out): where the next page goes, of the slot size
 *
 * Returns: 0; -EAGAIN when the client has taken none of the pages yet that are there; -EBADMSG when its index is nonsense
 */
int qd_ring_get_slot(const QdRing *self, uint8_t **ret_slot);
/* The slot that qd_ring_get_slot() gave holds a page now. */
void qd_ring_commit(QdRing *self);
