/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A column as bytes, in parts: keys, numbers of values, and values as differences, 7 bits a byte.
 *
 * Place: room tally. No I/O. A part begins where the pairs themselves say so. So a column with some other pairs has the same parts
 * everywhere else, and only those that differ have to be written.
 * Invariant: bytes from a file are believed only as far as they are pairs in order and fit into the column.
 */
#pragma once

#include "daemon/tally/tally-column.h"

/* A way through the parts of a column; it may be copied to go on from there again. */
typedef struct QdTallyPacker {
    const QdTallyColumn *column; /* (not owned) */
    gsize key;                   /* of the next pair */
    gsize pair;
} QdTallyPacker;

/* The next part in @body, which is emptied first. Returns: FALSE after the last one */
gboolean qd_tally_pack_next(QdTallyPacker *self, GByteArray *body);

/* Adds the pairs of a part to @column, which has room for what @room says. Returns: FALSE: it is damaged, or goes on from another
 */
gboolean qd_tally_unpack(const guint8 *body, gsize n_bytes, const QdTallyColumnRoom *room, QdTallyColumn *column);

/* Tells bytes from others; not against an attacker. @seed: what they are of, so that those of another place have another sum */
guint64 qd_tally_pack_sum(const guint8 *body, gsize n_bytes, guint64 seed);
