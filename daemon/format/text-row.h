/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The row that a text reader is building: decoded bytes in one buffer, values that point into it.
 *
 * Place: room format, used by text-reader.c and text-json.c.
 * Invariant: while a row grows a value's @data is an offset into the buffer; qd_text_row_seal() turns it into a pointer.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "client-lib/wire/wire-value.h"

typedef struct QdTextRow {
    GString *bytes;
    GArray *values;     /* of QwValue */
    size_t field_start; /* csv, tsv: where the bytes of the field begin that is being read */
} QdTextRow;

void qd_text_row_init(QdTextRow *self);
void qd_text_row_clear(QdTextRow *self);

/* Makes it empty; gives the memory of a large row back. */
void qd_text_row_reset(QdTextRow *self);

/* The bytes from @start to the buffer's end are the value of @type; a NUL is put after them. */
void qd_text_row_set_bytes(QdTextRow *self, QwValue *value, QwType type, size_t start);

/**
 * qd_text_row_end_csv:
 * @quoted: the field stood in quotes, which have been removed
 * @name: the field is a column's name, which is always a text
 * @ret_offset: (out): place of the error in the field's bytes
 *
 * Turns the field's bytes into the next value.
 *
 * Returns: (transfer none) (nullable): NULL, or what is wrong
 */
const char *qd_text_row_end_csv(QdTextRow *self, bool quoted, bool name, size_t *ret_offset);

/* qd_text_row_end_tsv: the same for a field of tsv, which is still escaped. */
const char *qd_text_row_end_tsv(QdTextRow *self, bool name, size_t *ret_offset);

/* Offsets become pointers. The row is then not changed until it is reset. */
void qd_text_row_seal(QdTextRow *self);
