/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a part of a list became another one, in few steps.
 *
 * Place: internal to libquery-client, room list.
 */
#pragma once

#include "client-lib/list/query-list-row.h"

/* At @position of the part as the steps before have left it. */
typedef struct QueryListStep {
    guint position;
    guint n_removed;
    guint n_added;
    guint new_index; /* of the first of those that came */
} QueryListStep;

/* @key: (nullable): see query_list_row_hash(). Returns: (transfer full): of QueryListStep. A row of both that did not move is in
 * none of them. */
GArray *query_list_diff(const GPtrArray *old_rows, const GPtrArray *new_rows, const char *key);
