/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes rows as csv, tsv, json or jsonl, so that the reader of text-reader.h gives back the very values.
 *
 * Place: room format, pure: rows in, bytes at the end of the caller's GString. The caller flushes it when it is large.
 * Invariant: what is written is valid UTF-8 without NUL, regardless of the values. docs/formats.md describes it.
 */
#pragma once

#include <glib.h>

#include "client-lib/wire/wire-page-reader.h"
#include "daemon/format/text-format.h"

typedef struct QdTextWriter QdTextWriter;

/**
 * qd_text_writer_new:
 * @format: the format
 * @column_names: @n_columns names; copied. Bytes that are not UTF-8 become U+FFFD
 * @header: csv, tsv: write the names first
 *
 * Returns: (transfer full): a writer for one result
 */
QdTextWriter *qd_text_writer_new(QdTextFormat format, const char *const *column_names, guint n_columns, gboolean header);
QdTextWriter *qd_text_writer_free(QdTextWriter *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdTextWriter, qd_text_writer_free)

/* qd_text_writer_begin: what stands before the first row: the header line, or "[". Once. */
void qd_text_writer_begin(QdTextWriter *self, GString *out);

/**
 * qd_text_writer_put_row:
 * @row: a reader on the current row, with as many columns as @self
 * @out: the row is appended whole
 */
void qd_text_writer_put_row(QdTextWriter *self, const QwPageReader *row, GString *out);

/* qd_text_writer_put_values: the same for @values, as many as there are columns. A FLOAT that is a NaN is NULL. */
void qd_text_writer_put_values(QdTextWriter *self, const QwValue *values, GString *out);

/* qd_text_writer_end: what follows the last row: "]". A result that failed must not get it. */
void qd_text_writer_end(QdTextWriter *self, GString *out);
