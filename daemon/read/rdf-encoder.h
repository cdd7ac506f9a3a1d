/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of terms straight from SQLite into a page: ids become texts here and nowhere before.
 *
 * Place: room read, beside row-encoder.h. One of a connection: an id stands for the same term for ever, so what it has encoded
 * stays right. Bounded: a direct-mapped cache of QD_RDF_ENCODER_N_ENTRIES ids and QD_RDF_ENCODER_BYTES of texts.
 */
#pragma once

#include <sqlite3.h>

#include "client-lib/wire/wire-page-writer.h"
#include "daemon/functions/resolver.h"

#define QD_RDF_ENCODER_N_ENTRIES 65536
#define QD_RDF_ENCODER_BYTES (4 * 1024 * 1024)

typedef struct QdRdfEncoder QdRdfEncoder;

/* qd_rdf_encoder_new: (transfer full): @resolver is copied. */
QdRdfEncoder *qd_rdf_encoder_new(const QdResolver *resolver);
QdRdfEncoder *qd_rdf_encoder_free(QdRdfEncoder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdRdfEncoder, qd_rdf_encoder_free)

/**
 * qd_rdf_encoder_put_row:
 * @writer: the page; @writer->n_columns is the statement's number of columns
 * @stmt: a statement that stands on a row. INTEGER is an id, BLOB a computed term, NULL unbound; others stay what they are
 * @error: set only with -EIO
 *
 * Appends the row. On failure the page holds what it held before.
 *
 * Returns: 0; -ENOBUFS when the page is full; -ENOMEM when SQLite could not give a value; -EIO when an id has no term
 */
int qd_rdf_encoder_put_row(QdRdfEncoder *self, QwPageWriter *writer, sqlite3_stmt *stmt, GError **error);

/* qd_rdf_encoder_get_row_size: the bytes that the row needs in an empty page; more than it needs when a term cannot be read. */
size_t qd_rdf_encoder_get_row_size(QdRdfEncoder *self, sqlite3_stmt *stmt, uint32_t n_columns);
