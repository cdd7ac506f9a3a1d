/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The canonical text of a JSON value (RFC 8785): no white space, members in the order of UTF-16, numbers as ECMAScript writes them.
 *
 * Place: room jsonld; it is the lexical form of literals of rdf:JSON.
 */
#pragma once

#include "daemon/jsonld/json-value.h"

void qd_json_append_canonical(GString *out, const QdJson *value);

/* In quotes. */
void qd_json_append_string(GString *out, const char *text, gsize n_bytes);
