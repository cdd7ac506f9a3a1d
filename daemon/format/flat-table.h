/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes the tables of FlatBuffers, in which Arrow's messages have their metadata, from the first byte to the last.
 *
 * Place: room format, pure: bytes at the end of a GByteArray, which begins at a multiple of 8 where it will lie. A table is written
 * before what its offsets point to: first qd_flat_put_table(), then qd_flat_point() and what is pointed to.
 * Invariant: numbers are little-endian and lie at multiples of their sizes.
 */
#pragma once

#include <glib.h>

/* A field of a table. */
typedef struct QdFlatField {
    guint8 size;  /* bytes: 1, 2, 4 or 8; 0: absent, which is its default */
    gint64 value; /* an offset (4 bytes) has 0 until qd_flat_point() */
} QdFlatField;

/**
 * qd_flat_put_table:
 * @fields: @n_fields, in the order of the schema
 * @ret_places: (out) (nullable): of each field, for qd_flat_point()
 *
 * Returns: the place of the table
 */
guint qd_flat_put_table(GByteArray *out, const QdFlatField *fields, guint n_fields, guint *ret_places);

/* The offset at @place points to @target, both places; @target comes later. */
void qd_flat_point(GByteArray *out, guint place, guint target);

/* Each returns the place of what it writes. */
guint qd_flat_put_string(GByteArray *out, const char *text);
/* @n offsets; that of item i is at the place + 4 + 4 * i */
guint qd_flat_put_offsets(GByteArray *out, guint n);
/* @n structs of @n_words numbers of 8 bytes each, one after the other */
guint qd_flat_put_structs(GByteArray *out, const gint64 *words, guint n, guint n_words);
