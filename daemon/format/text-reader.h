/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads rows from csv, tsv, json or jsonl that comes in pieces of any size.
 *
 * Place: room format, pure: bytes in, rows out; untrusted input. What text-writer.h wrote comes back value for value.
 * Invariant: an error names line and column (from 1, in code points) and is final. Memory is bounded by the limit on one row
 * ('value_bytes'), regardless of the input.
 */
#pragma once

#include <glib.h>

#include "client-lib/wire/wire-value.h"
#include "daemon/base/limits.h"
#include "daemon/format/text-format.h"

typedef struct QdTextReader QdTextReader;

typedef enum QdTextReadResult {
    QD_TEXT_READ_ERROR,
    QD_TEXT_READ_MORE, /* all that was fed is used up */
    QD_TEXT_READ_ROW,
    QD_TEXT_READ_END,
} QdTextReadResult;

/**
 * qd_text_reader_new:
 * @format: the format
 * @header: csv, tsv: the first line names the columns
 * @column_names: (nullable): json, jsonl: the names that an object may have; NULL: those of the first object. Copied
 * @limits: for value_bytes (a value, and a row), columns, and sql_depth (nesting of JSON); copied
 *
 * Returns: (transfer full): a reader of one input
 */
QdTextReader *qd_text_reader_new(QdTextFormat format, gboolean header, const char *const *column_names, const QdLimits *limits);
QdTextReader *qd_text_reader_free(QdTextReader *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdTextReader, qd_text_reader_free)

/* A key that the first object lacks is one column more from its row on, instead of an error; before the first piece. */
void qd_text_reader_set_growing(QdTextReader *self);

/* Another delimiter than the comma between the fields of csv; before the first piece. Not a quote, CR or LF. */
void qd_text_reader_set_delimiter(QdTextReader *self, char delimiter);

/**
 * qd_text_reader_feed:
 * @data: (nullable): the next bytes of the input; borrowed until qd_text_reader_next() says MORE
 *
 * Gives the next piece; only when the one before is used up. Zero bytes are the end of the input.
 */
void qd_text_reader_feed(QdTextReader *self, const char *data, size_t n_bytes);

/**
 * qd_text_reader_next:
 * @ret_values: (out): the row's values; valid until the next call. Texts are NUL-terminated
 * @ret_n_values: (out): as many as the first row (or the header) has, or, where it grows, more
 *
 * Errors: SYNTAX, TOO_BIG, TOO_COMPLEX; each starts with "line:column: "
 *
 * Returns: what came; ERROR again after an error, then without setting one
 */
QdTextReadResult qd_text_reader_next(QdTextReader *self, const QwValue **ret_values, guint *ret_n_values, GError **error);

/**
 * qd_text_reader_get_column_names:
 *
 * Returns: (transfer none) (nullable): a NULL-terminated vector; known at the first ROW or at END. NULL without a header,
 * and for arrays
 */
const char *const *qd_text_reader_get_column_names(const QdTextReader *self);

/* qd_text_reader_get_line: the line that the reader is in, from 1, for errors of the callers that use the rows. */
guint64 qd_text_reader_get_line(const QdTextReader *self);
