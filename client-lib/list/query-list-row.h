/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The values of one row of a list, as they came from the daemon.
 *
 * Place: internal to libquery-client, room list. Shared by a window and by the QueryRow that the application holds.
 * Invariant: immutable; its bytes are a row of a page that the cursor has validated.
 */
#pragma once

#include "client-lib/core/query-schema.h"
#include "client-lib/query-client.h"
#include "client-lib/wire/wire-value.h"

typedef struct QueryListRow QueryListRow;

/* @n_extra: columns at the end that are not the application's. Returns: (transfer full): the current row of @cursor */
QueryListRow *query_list_row_new(QueryCursor *cursor, guint n_extra);
QueryListRow *query_list_row_ref(QueryListRow *self);
/* NULL is allowed, as for a place of a window that no row has come for. */
void query_list_row_unref(gpointer self);

/* Without the extra columns. */
guint query_list_row_get_n_columns(const QueryListRow *self);
/* Of the application's columns, and after them the extra ones. */
const char *query_list_row_get_column_name(const QueryListRow *self, guint column);
/* -1: none; of the application's columns */
int query_list_row_find_column(const QueryListRow *self, const char *name);
/* @column: also an extra one. */
void query_list_row_get(const QueryListRow *self, guint column, QwValue *ret_value);
gsize query_list_row_get_n_bytes(const QueryListRow *self);

/* What tells a row from others: the value of @key, or without one (NULL, or no such column) all values. */
guint query_list_row_hash(const QueryListRow *self, const char *key);
gboolean query_list_row_is_same(const QueryListRow *self, const QueryListRow *other, const char *key);
