/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a list does with the rows that the application holds.
 *
 * Place: internal to libquery-client, room list.
 */
#pragma once

#include "client-lib/list/query-list-row.h"

/* When the last reference of a row that is in a list goes. */
typedef void (*QueryRowGone)(gpointer list, QueryRow *row);

/* @data: (nullable). Returns: (transfer full): a row of @list, which outlives it or detaches it */
QueryRow *query_row_new(gpointer list, QueryRowGone gone, guint position, QueryListRow *data);
/* It is no longer in the list; its values stay. */
void query_row_detach(QueryRow *self);
void query_row_set_position(QueryRow *self, guint position);
/* (nullable) (transfer none): NULL before it is loaded */
QueryListRow *query_row_get_data(QueryRow *self);
/* Notifies when the values are others than before. */
void query_row_set_data(QueryRow *self, QueryListRow *data);
