/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A computed term that nothing stores, as a BLOB in SQL and as a constant in programs:
 *
 *     u8 kind · u32 (little-endian) size of the qualifier · datatype IRI or language tag in lower case · lexical form
 *
 * Place: room rdf, pure. Invariant: equal terms have equal blobs. A blob may come from outside: parsing trusts nothing.
 */
#pragma once

#include "daemon/rdf/term.h"

/* qd_term_blob_get_size: bytes of the blob of @term. */
gsize qd_term_blob_get_size(const QdTerm *term);

/* qd_term_blob_write: @out: of that size, at whose end the lexical form of @term may be already */
void qd_term_blob_write(const QdTerm *term, guint8 *out);

/* qd_term_blob_append: appends @term. */
void qd_term_blob_append(GByteArray *out, const QdTerm *term);

/**
 * qd_term_blob_parse:
 * @blob: (nullable): bytes, also hostile ones
 * @ret_term: (out): a view into @blob; its texts are valid UTF-8
 *
 * Returns: FALSE when @blob is no term
 */
gboolean qd_term_blob_parse(const void *blob, gsize n_bytes, QdTerm *ret_term);
