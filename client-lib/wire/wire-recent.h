/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which entries of a small cache were used last: the one longest unused makes room for the next.
 *
 * Place: the caches of daemon and library. The owner gives the room for the pointers, finds entries itself, best from the last one
 * on, and frees what comes out. No allocation, no lock.
 * Invariant: items[0] is the one longest unused, items[n - 1] the one used last.
 */
#pragma once

#include <stdint.h>

typedef struct QwRecent {
    void **items;
    uint32_t n;
    uint32_t max; /* so many there is room for */
} QwRecent;

/* Returns: the entry with this index, which is out */
void *qw_recent_remove(QwRecent *self, uint32_t index);
/* Returns: (nullable): the entry longest unused, which had to make room */
void *qw_recent_add(QwRecent *self, void *item);
/* The entry with this index is used; its index is another one then. */
void qw_recent_use(QwRecent *self, uint32_t index);
/* Returns: (nullable): the one longest unused, which is out; NULL: there is none */
void *qw_recent_pop(QwRecent *self);
