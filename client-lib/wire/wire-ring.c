/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The two records of a ring.
 */
#include "client-lib/wire/wire-ring.h"

#include <errno.h>

void
qw_ring_encode(const QwRing *ring, uint8_t *ret_body)
{
    qw_store_u32(ret_body, ring->slot_size);
    qw_store_u32(ret_body + 4, 0);
}

int
qw_ring_decode(const QwHeader *header, const uint8_t *body, size_t page_size, QwRing *ret_ring)
{
    QwRing ring = { .n_slots = header->count };

    if (header->size != QW_HEADER_SIZE + QW_RING_BODY_SIZE || qw_load_u32(body + 4) != 0)
        return -EBADMSG;

    ring.slot_size = qw_load_u32(body);
    if (ring.n_slots < 1 || ring.n_slots > QW_RING_SLOTS_MAX || !qw_page_size_is_valid(ring.slot_size) ||
        ring.slot_size > page_size)
        return -EBADMSG;

    *ret_ring = ring;
    return 0;
}

int
qw_ring_decode_page(const QwRing *ring, const QwHeader *header, size_t *ret_size)
{
    if (ring == NULL || header->size != QW_HEADER_SIZE)
        return -EBADMSG;
    if (header->count < QW_HEADER_SIZE || header->count > ring->slot_size || header->count % 8 != 0)
        return -EBADMSG;

    *ret_size = header->count;
    return 0;
}
