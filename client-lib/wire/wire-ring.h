/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ring: memory that daemon and client share, in which pages of a large result wait.
 *
 * Place: room wire. Two memory files, made and sealed by the daemon and passed with a RING record. The client can only read the
 * slots; in the index it counts the pages that it has taken. A PAGE record on the socket stands for the record in the next
 * slot, so that records keep their order whichever way they go.
 * Invariant: what is in shared memory is a peer's: each side copies it out before it looks at it.
 *
 *     RING: count = slots · body: u32 slot size · u32 zero               PAGE: count = bytes of the record in the slot · no body
 *     index: u64 pages taken since the RING record, in the machine's byte order, then zeros up to QW_RING_INDEX_BYTES
 */
#pragma once

#include "client-lib/wire/wire-record.h"

#define QW_RING_INDEX_BYTES 4096u
#define QW_RING_BODY_SIZE 8u
#define QW_RING_SLOTS_MAX 16u

typedef struct QwRing {
    uint32_t n_slots;
    uint32_t slot_size; /* a page size, at most the channel's */
} QwRing;

static inline size_t
qw_ring_get_size(const QwRing *ring)
{
    return (size_t) ring->n_slots * ring->slot_size;
}

/* Page number @n of the ring's life lies here. */
static inline size_t
qw_ring_get_offset(const QwRing *ring, uint64_t n)
{
    return (size_t) (n % ring->n_slots) * ring->slot_size;
}

/* The number of pages taken, read once; the peer may have written any number there. */
static inline uint64_t
qw_ring_load_taken(const void *index)
{
    return __atomic_load_n((const uint64_t *) index, __ATOMIC_ACQUIRE);
}

static inline void
qw_ring_store_taken(void *index, uint64_t n_taken)
{
    __atomic_store_n((uint64_t *) index, n_taken, __ATOMIC_RELEASE);
}

/* @ret_body: (out caller-allocates): QW_RING_BODY_SIZE bytes. The record's count is @ring->n_slots. */
void qw_ring_encode(const QwRing *ring, uint8_t *ret_body);

/**
 * qw_ring_decode:
 * @header: of a RING record
 * @body: the bytes after it
 * @page_size: the channel's
 *
 * Returns: 0, or -EBADMSG
 */
int qw_ring_decode(const QwHeader *header, const uint8_t *body, size_t page_size, QwRing *ret_ring);

/**
 * qw_ring_decode_page:
 * @ring: (nullable): what the last RING record said; NULL: there was none
 * @header: of a PAGE record
 * @ret_size: (out): the size in bytes of the record in the slot
 *
 * Returns: 0, or -EBADMSG
 */
int qw_ring_decode_page(const QwRing *ring, const QwHeader *header, size_t *ret_size);
