/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which constraint an update has broken: its kind, table, columns and name, as details of the error.
 *
 * Place: room sqlite. SQLite tells the kind by its extended result code and the rest in its message only. The message is not
 * parsed. It is compared with the texts that SQLite writes for the constraints of the statement's tables. So names with dots,
 * commas and quotes are found as well.
 * Invariant: a detail is right or absent; where several constraints are possible, what differs between them is absent.
 */
#pragma once

#include <glib.h>

#include "daemon/sqlite/connection.h"

/* Keys of the details; docs/wire-format.md has their meaning. */
#define QD_CONSTRAINT_TABLE "table"
#define QD_CONSTRAINT_COLUMN "column"
#define QD_CONSTRAINT_NAME "name"

/**
 * qd_constraint_describe:
 * @connection: the connection whose statement has failed just now; its last error is that of the statement
 * @tables: NULL-terminated: names of the tables that the statement writes
 * @error: the error of the statement; gets details
 *
 * Adds table, columns and name of the constraint where they can be known. Reads the schema only. The connection's last error is
 * another one then.
 *
 * Thread: the one that uses @connection.
 */
void qd_constraint_describe(QdConnection *connection, char *const *tables, GError *error);

/**
 * qd_constraint_describe_key:
 * @connection: the connection whose foreign keys are broken
 * @tables: NULL-terminated: names of the tables that were written
 * @error: the error; gets details
 *
 * The same for a foreign key, also one that is checked at the end of a transaction. SQLite does not report which one it is. So
 * the table is named when the keys of one table only are possible, the columns when one key only is.
 */
void qd_constraint_describe_key(QdConnection *connection, char *const *tables, GError *error);
