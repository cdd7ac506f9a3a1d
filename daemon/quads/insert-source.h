/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of the program's own as the source of one INSERT … SELECT: a virtual table that exists while that statement runs.
 *
 * Place: room quads. One statement with its cursor kept open appends rows in order in a third of the time of a statement for
 * each row (docs/decisions/bulk-load.md).
 */
#pragma once

#include "daemon/sqlite/connection.h"

/* Columns of the virtual table: a, b, c, d. */
#define QD_INSERT_SOURCE_MAX_COLUMNS 4

/* Where rows come from. A function that fails sets its error, which is what the insertion then fails with. */
typedef struct QdInsertSource {
    /* The next row becomes the current one. @ret_more: (out): FALSE when there is none */
    gboolean (*next)(gpointer data, gboolean *ret_more, GError **error);
    /* The value of a column of the current row, which stays valid until the next one. */
    void (*get)(gpointer data, sqlite3_context *context, int column);
    gpointer data;
} QdInsertSource;

/**
 * qd_insert_source_run:
 * @sql: "INSERT … SELECT … FROM queryd_source"
 * @ret_n_inserted: (out) (optional): rows that were not ignored
 *
 * The connection is the writer's, in a transaction, with its guard at QD_POLICY_INTERNAL. It can be interrupted between rows.
 */
gboolean qd_insert_source_run(QdConnection *connection, const char *sql, const QdInsertSource *insert_source,
                              guint64 *ret_n_inserted, GError **error);
