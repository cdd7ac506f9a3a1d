/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether each row of a query's result is one row of one table, and which columns of the result have the table's key.
 *
 * Place: room notify. A list then knows which of its rows a commit has changed, without running the whole query.
 * Invariant: it says so only of a program that it knows in full. That has one cursor on one table, and instructions for the row
 * under it. No aggregate, join, sorter, LIMIT or subquery has such a program.
 */
#pragma once

#include "daemon/sqlite/connection.h"

typedef struct QdKeySource {
    char *table;
    char **columns; /* of the result, in the order of the table's key */
} QdKeySource;

/* Returns: (transfer full) (nullable): NULL: it is not known to be so, or the key is not in the result */
QdKeySource *qd_key_source_find(QdConnection *connection, const char *text, const QdLimits *limits);
/* Takes NULL. Returns: NULL */
QdKeySource *qd_key_source_free(QdKeySource *self);
