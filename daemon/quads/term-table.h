/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ids by the key of their term, in memory: open addressing, 24 bytes an entry.
 *
 * Place: room quads, for bulk-load. A key counts as its term: 128 bits, under a secret that only this process knows.
 */
#pragma once

#include "daemon/quads/term-key.h"

typedef struct QdTermTable QdTermTable;

/* @max_bytes: what it may grow to */
QdTermTable *qd_term_table_new(guint64 max_bytes);
QdTermTable *qd_term_table_free(QdTermTable *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdTermTable, qd_term_table_free)

/* @key's place, whose id is 0 when it is new: then write one there. NULL when the table is full. Valid until the next call. */
gint64 *qd_term_table_find(QdTermTable *self, const QdTermKey *key);

/* Forgets all, and keeps the memory. */
void qd_term_table_clear(QdTermTable *self);
