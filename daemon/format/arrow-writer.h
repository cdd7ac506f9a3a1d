/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows as Arrow's IPC stream, or as its file, whose batches are found from its end. Docs: docs/arrow.md.
 *
 * Place: room format, pure: pages in, bytes at the end of the caller's GString; the columns are made in room arrow.
 * Invariant: the first batch is complete before the schema is written, which says its types; no batch has others. At most one
 * batch, of QD_ARROW_BATCH_BYTES and a page, is in memory.
 */
#pragma once

#include <glib.h>

#include "client-lib/wire/wire-page-reader.h"

/* A batch has so many bytes of pages, and what is left of the last one. */
#define QD_ARROW_BATCH_BYTES ((gsize) 4 * 1024 * 1024)

typedef enum QdArrowFormat {
    QD_ARROW_STREAM,
    QD_ARROW_FILE,
} QdArrowFormat;

typedef struct QdArrowWriter QdArrowWriter;

/* qd_arrow_format_from_name: "arrow", "arrow-file", or a media type; FALSE when no format has this name. */
gboolean qd_arrow_format_from_name(const char *name, QdArrowFormat *ret_format);
const char *qd_arrow_format_get_media_type(QdArrowFormat format);

/**
 * qd_arrow_writer_new:
 * @names, @types: of @n_columns, copied; a declared type, or ""
 * @terms: RDF terms are structs, not text
 *
 * Returns: (transfer full): a writer for one result
 */
QdArrowWriter *qd_arrow_writer_new(QdArrowFormat format, const char *const *names, const char *const *types, guint n_columns,
                                   gboolean terms);
QdArrowWriter *qd_arrow_writer_free(QdArrowWriter *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdArrowWriter, qd_arrow_writer_free)

/**
 * qd_arrow_writer_put_page:
 * @page: a reader before its first row
 *
 * Errors: UNSUPPORTED: a value does not fit the type that the first batch gave its column, or is TEXT but not UTF-8
 */
gboolean qd_arrow_writer_put_page(QdArrowWriter *self, QwPageReader *page, GString *out, GError **error);

/* qd_arrow_writer_end: what is left, and the end of the stream. A result that failed must not get it. */
gboolean qd_arrow_writer_end(QdArrowWriter *self, GString *out, GError **error);
