/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * IRIs as text: which characters they may have, and the resolution of relative references (RFC 3986 §5).
 *
 * Place: room rdf. Nothing is normalised: an absolute IRI stays as it is written, dots and percent signs included. Dot segments
 * go only where a reference is merged with a base.
 */
#pragma once

#include <glib.h>

/* A base may have so many bytes: each relative reference is resolved by reading all of it. */
#define QD_IRI_BASE_BYTES_MAX 65536

/* True when @iri begins with a scheme and ":". */
gboolean qd_iri_is_absolute(const char *iri, gsize n_bytes);

/* True when @iri has none of the characters that IRIREF excludes (space and below, <>"{}|^`\) and is UTF-8. */
gboolean qd_iri_check(const char *iri, gsize n_bytes);

/**
 * qd_iri_check_base:
 * @n_bytes: of an IRI that others are going to be resolved against
 * @error: (nullable): location for an error
 *
 * Returns: FALSE with TOO_BIG when it is longer than QD_IRI_BASE_BYTES_MAX
 */
gboolean qd_iri_check_base(gsize n_bytes, GError **error);

/**
 * qd_iri_resolve:
 * @base: (nullable): an absolute IRI; NULL leaves relative references unresolved
 * @reference: an IRI or a relative reference, already checked
 * @out: where the result is appended
 *
 * Resolves by RFC 3986 §5.2.2, strictly (a scheme in @reference makes it absolute).
 *
 * Returns: TRUE when the result is absolute; FALSE, with @reference appended as it is, when there is no base to make it so
 */
gboolean qd_iri_resolve(const char *base, gsize n_base, const char *reference, gsize n_reference, GString *out);
