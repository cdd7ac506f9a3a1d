/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Terms on their way to an endpoint and from it.
 *
 * Place: room service, internal to it.
 */
#pragma once

#include "client-lib/wire/wire-value.h"
#include "daemon/rdf/term-id.h"
#include "daemon/service/service-keys.h"

/* The term of @key; @buffer outlives it. FALSE: it is unbound, or with @error. */
gboolean qd_service_key_get_term(const QdServiceKey *key, const QdResolver *resolver, QdTermBuffer *buffer, QdTerm *ret_term,
                                 GError **error);

/* Writes @term as SPARQL has it. FALSE: it is a blank node, or has bytes that no term of SPARQL can have: nothing is written. */
gboolean qd_service_append_term(GString *out, const QdTerm *term);

/* The term of @value, of the request @serial, whose blank nodes are its own. @ret_owned: (out): what it needs beside @value. FALSE:
 * unbound. */
gboolean qd_service_make_term(const QwValue *value, guint serial, QdTerm *ret_term, char **ret_owned);
