/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The internal schema: tables with the prefix queryd_, made and changed by numbered steps.
 *
 * Place: room sqlite. Invariant: a step that was released never changes; a file is at a whole step, whatever happened.
 */
#pragma once

#include "daemon/sqlite/connection.h"

/* The newest step, and so the version of a file that this queryd writes. */
#define QD_SCHEMA_VERSION 5

/* The steps that the file lacks, each in a transaction. The connection is the writer's and in no transaction. Errors: as below. */
gboolean qd_schema_migrate(QdConnection *connection, GError **error);

/**
 * qd_schema_check:
 * @connection: of a file that has the newest step
 * @limits: for a database in memory, to compare with
 * @error: (nullable): location for an error
 *
 * Whether the internal tables are as the steps made them, and hold what queryd cannot do without. SQLite knows no owner of a table:
 * any other program can change ours. Reads the schema and a few rows, whatever the size of the file.
 *
 * Errors: SYNTAX names what is not ours any more; others, if the file cannot be read
 */
gboolean qd_schema_check(QdConnection *connection, const QdLimits *limits, GError **error);
/* Of the definitions of the internal tables; those of the newest step have: */
#define QD_SCHEMA_FINGERPRINT UINT64_C(0x23965460cb486609)
uint64_t qd_schema_get_fingerprint(QdConnection *connection);

/* Tables, views, indexes and triggers whose names begin as ours do, as the transaction sees them. -1: they cannot be read */
gint64 qd_schema_count_reserved_names(QdConnection *connection);

/* The file's version; 0 when it is no store yet. */
gboolean qd_schema_get_version(QdConnection *connection, gint64 *ret_version, GError **error);
