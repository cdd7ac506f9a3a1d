/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows as cursors of libtracker-sparql read them: docs/tinysparql.md describes the bytes.
 *
 * Place: room format, pure: a row of a page in, bytes out, in the byte order of the machine. The count of columns that stands
 * before each row is not written here: channel/cursor-output.h decides when it goes.
 * Invariant: values hold no NUL byte, regardless of the data; one in a value becomes U+001A.
 */
#pragma once

#include <glib.h>

#include "client-lib/wire/wire-page-reader.h"

/* The columns of a row as written: a single one would let a truncated row look whole. */
#define QD_CURSOR_ROW_COLUMNS_MIN 2

/**
 * qd_cursor_row_get_n_columns:
 * @n_columns: of the result
 *
 * Returns: of each row; those beyond the result's are unbound
 */
static inline guint32
qd_cursor_row_get_n_columns(guint32 n_columns)
{
    return MAX(n_columns, QD_CURSOR_ROW_COLUMNS_MIN);
}

/**
 * qd_cursor_row_get_bound:
 * @row: a reader on the current row
 *
 * Thread: any.
 *
 * Returns: the most bytes that the row may take
 */
gsize qd_cursor_row_get_bound(const QwPageReader *row);

/**
 * qd_cursor_row_write:
 * @row: a reader on the current row
 * @out: room for qd_cursor_row_get_bound()
 *
 * Thread: any.
 *
 * Returns: the bytes written
 */
gsize qd_cursor_row_write(const QwPageReader *row, guint8 *out);
