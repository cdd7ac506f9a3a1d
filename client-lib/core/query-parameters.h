/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values for the parameters of a statement, until they become the body of a FETCH record.
 *
 * Place: internal to libquery-client. Filled either by key (a{sv} of a call) or by index (bindings of a statement).
 * Invariant: each value's bytes live as long as its entry; nothing is copied that can be referenced.
 */
#pragma once

#include <glib.h>

#include "client-lib/core/query-schema.h"
#include "client-lib/wire/wire-value.h"

typedef struct QueryParameters QueryParameters;

QueryParameters *query_parameters_new(void);
void query_parameters_free(QueryParameters *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryParameters, query_parameters_free)

/**
 * query_parameters_new_from_variant:
 * @dictionary: (nullable): a{sv}; its values are referenced
 * @is_sparql: of their statement: a boolean is xsd:boolean
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER for a type that the interface does not know.
 *
 * Returns: (transfer full) (nullable): the values by key
 */
QueryParameters *query_parameters_new_from_variant(GVariant *dictionary, gboolean is_sparql, GError **error);

/**
 * query_parameters_set:
 * @index: from 0
 * @value: its pointers live as long as @owner
 * @owner: (transfer full) (nullable): what keeps the bytes of @value
 * @destroy: (nullable): frees @owner
 *
 * Binds a parameter by index, in place of what was bound there.
 */
void query_parameters_set(QueryParameters *self, guint index, const QwValue *value, gpointer owner, GDestroyNotify destroy);

/**
 * query_parameters_set_variant:
 * @schema: of the statement
 * @dictionary: a{sv}; its values are referenced
 * @error: (nullable): location for an error
 * Binds each value to the parameter with its key, by index.
 * Errors: BAD_PARAMETER; what came before it is bound then.
 * Returns: FALSE on error
 */
gboolean query_parameters_set_variant(QueryParameters *self, const QuerySchema *schema, GVariant *dictionary, GError **error);

void query_parameters_clear(QueryParameters *self);

/**
 * query_parameters_to_variant:
 * @max_bytes: of the values together
 *
 * Returns: (transfer floating) (nullable): a{sv} of the values; NULL if there are more bytes, or values without a key
 */
GVariant *query_parameters_to_variant(const QueryParameters *self, gsize max_bytes);

#pragma GCC visibility push(default) /* for the library's module, as query-client.map says */
/* The number of values that were given. */
guint query_parameters_get_n(const QueryParameters *self);
#pragma GCC visibility pop

/* (transfer none): of a value given by key, in the order in which they were given. */
const char *query_parameters_get_key(const QueryParameters *self, guint index);

/**
 * query_parameters_encode_given:
 * @error: (nullable): location for an error
 *
 * Errors: TOO_BIG, NO_MEMORY.
 *
 * Returns: (transfer full) (nullable): one row of the values in the order in which they were given; empty without values
 */
GBytes *query_parameters_encode_given(const QueryParameters *self, GError **error);

#pragma GCC visibility push(default) /* for the library's module, as query-client.map says */
/**
 * query_parameters_encode:
 * @schema: (nullable): the statement's; NULL only when there are no values
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER for a missing, surplus or doubled value; TOO_BIG.
 *
 * Returns: (transfer full) (nullable): the body of a FETCH of one row, or an empty one for a statement without parameters
 */
GBytes *query_parameters_encode(const QueryParameters *self, const QuerySchema *schema, GError **error);
#pragma GCC visibility pop

/**
 * query_parameters_append:
 * @schema: of a statement that has parameters
 * @rows: begins with QW_HEADER_SIZE unused bytes; then the rows so far
 * @n_max_bytes: that @rows may have, below 4 GiB
 * @error: (nullable): location for an error
 *
 * Encodes one more row.
 *
 * Errors: as query_parameters_encode().
 *
 * Returns: %FALSE on error; @rows is as before
 */
gboolean query_parameters_append(const QueryParameters *self, const QuerySchema *schema, GByteArray *rows, gsize n_max_bytes,
                                 GError **error);
