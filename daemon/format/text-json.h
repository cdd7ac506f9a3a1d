/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One row of JSON, an object or an array, becomes values.
 *
 * Place: room format, used by text-reader.c, which finds where a row ends.
 * Invariant: strict RFC 8259; recursion is bounded by @max_depth.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "client-lib/wire/wire-error.h"
#include "daemon/format/text-row.h"

typedef struct QdTextJsonError {
    QwError code;
    size_t offset; /* in the row's bytes */
    char *message; /* (owned by the receiver) without a place */
} QdTextJsonError;

typedef struct QdTextJsonRow {
    const char *text; /* NUL-terminated */
    size_t n_bytes;
    guint max_depth; /* levels of objects and arrays, the row's own included; not 0 */
    guint max_columns;
    bool may_add; /* the first row: keys are added to the names instead of refused */
} QdTextJsonRow;

/**
 * qd_text_json_parse_row:
 * @source: the row's bytes and bounds
 * @names: the columns; an object's keys are looked up here, missing ones are NULL
 * @row: (inout): empty; gets the values
 * @ret_error: (out): what is wrong, when something is
 *
 * Returns: false when something is wrong
 */
bool qd_text_json_parse_row(const QdTextJsonRow *source, GPtrArray *names, QdTextRow *row, QdTextJsonError *ret_error);
