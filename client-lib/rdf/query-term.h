/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parts of RDF terms: what they may be, and how they are written in SPARQL and Turtle, which agree there.
 *
 * Place: internal to libquery-client, room rdf. No I/O.
 */
#pragma once

#include <glib.h>

/* An absolute one, of characters that "<…>" can hold. */
gboolean query_term_is_iri(const char *text);
gboolean query_term_is_language(const char *text);
gboolean query_term_is_prefix(const char *text);
/* Whether it can stand after a prefix without escapes. */
gboolean query_term_is_local(const char *text);

/* @text: UTF-8. With its quotes. */
void query_term_append_string(GString *out, const char *text);
