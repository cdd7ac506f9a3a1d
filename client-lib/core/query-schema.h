/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a prepared statement looks like: its columns and its parameters.
 *
 * Place: internal to libquery-client. Made from a SCHEMA record, from the reply of Prepare, or by the module that compiles
 * itself; all give the same object.
 * Invariant: immutable once made, shared by reference between channel, statement, cursor and cache, from any thread.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct QuerySchemaColumn {
    const char *name; /* always UTF-8 */
    const char *type; /* "" when none is declared */
} QuerySchemaColumn;

typedef struct QuerySchema {
    gint ref_count; /* atomic */
    gboolean writes;
    gboolean is_sparql; /* a parameter without a value is an ordinary variable */
    gboolean is_stable; /* its result depends on the data and the parameters alone; not known of older daemons: FALSE */
    guint n_columns;
    guint n_parameters;           /* columns of a FETCH row */
    QuerySchemaColumn *columns;   /* of n_columns */
    const char **parameter_names; /* of n_parameters, by index - 1; NULL for a plain "?" */
    guint64 signature;            /* of the columns, where the library has compiled the statement itself; else 0 */
    GStringChunk *strings;
} QuerySchema;

#pragma GCC visibility push(default) /* for the library's module, as query-client.map says */
/* To be filled before it is shared: names are copied, NULL is "" for a column and a plain "?" for a parameter. Indexes from 0. */
QuerySchema *query_schema_new(guint n_columns, guint n_parameters);
void query_schema_set_column(QuerySchema *self, guint index, const char *name, const char *type);
void query_schema_set_parameter(QuerySchema *self, guint index, const char *name);

QuerySchema *query_schema_ref(QuerySchema *self);
void query_schema_unref(QuerySchema *self);
#pragma GCC visibility pop
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QuerySchema, query_schema_unref)

/**
 * query_schema_new_from_wire:
 * @body: the body of a SCHEMA record
 * @n_bytes: its size
 * @n_columns: the count of its header
 * @error: (nullable): location for an error
 *
 * Errors: PROTOCOL.
 *
 * Returns: (transfer full) (nullable): a new schema
 */
QuerySchema *query_schema_new_from_wire(const uint8_t *body, gsize n_bytes, guint32 n_columns, GError **error);

/**
 * query_schema_new_from_dbus:
 * @columns: a(ss) of the reply of Prepare
 * @info: a{sv} of the reply of Prepare
 * @error: (nullable): location for an error
 *
 * Errors: PROTOCOL.
 *
 * Returns: (transfer full) (nullable): a new schema
 */
QuerySchema *query_schema_new_from_dbus(GVariant *columns, GVariant *info, GError **error);

/**
 * query_schema_find_parameter:
 * @key: a decimal index from 1, a full name with its sigil, or a bare name that matches exactly one
 * @ret_index: (out): index from 0
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER.
 *
 * Returns: TRUE when there is exactly one such parameter
 */
gboolean query_schema_find_parameter(const QuerySchema *self, const char *key, guint *ret_index, GError **error);
