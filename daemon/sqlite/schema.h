/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The internal schema: tables with the prefix queryd_, made and changed by numbered steps.
 *
 * Place: room sqlite. Invariant: a step that was released never changes; a file is always at a whole step.
 */
#pragma once

#include "daemon/sqlite/connection.h"

/* The newest step, and so the version of a file that this queryd writes. */
#define QD_SCHEMA_VERSION 8

/*
 * The key of the hash of terms (term-key.h) is two rowids of queryd_term_key. A value that no column holds is in no join by
 * USING and in no transfer from table to table. About these SQLite 3.40 does not ask the authorizer. Every other reading of the
 * table is refused (guard/guard.c). The index keeps VACUUM from numbering the rows again. The tag says which half a row is, and
 * holds 16 bits of the sum of its rowid. So a table that was written by other means (a dump of SQL) is known.
 */
#define QD_TERM_KEY_TAG(half, rowid) \
    "(2*(((" rowid "&65535)+(" rowid ">>16&65535)+(" rowid ">>32&65535)+(" rowid ">>48&65535))&65535)+" half ")"
/* A value of SQL: eight bytes of the key, the first ones highest; NULL: the store has no such half. @half: "0", "1" */
#define QD_TERM_KEY_HALF(half) "(SELECT rowid FROM queryd_term_key WHERE tag=" QD_TERM_KEY_TAG(half, "rowid") ")"
/* Statements: the blob of the row term_secret of queryd_meta becomes the rows of queryd_term_key, which is empty; the row goes. */
#define QD_TERM_KEY_MOVE                                                                                                        \
    "WITH RECURSIVE secret(digits) AS (SELECT hex(value) FROM queryd_meta WHERE key='term_secret' AND typeof(value)='blob' AND" \
    " length(value)=16), part(half, i, v) AS (SELECT column1, 0, 0 FROM (VALUES(0), (1)), secret UNION ALL SELECT half, i+1,"   \
    " (v<<4)|(instr('0123456789ABCDEF', substr(digits, 16*half+i+1, 1))-1) FROM part, secret WHERE i<16)"                       \
    " INSERT INTO queryd_term_key(rowid, tag) SELECT v, " QD_TERM_KEY_TAG("half",                                               \
                                                                          "v") " FROM part WHERE i=16;"                         \
                                                                               "DELETE FROM queryd_meta WHERE key='term_secret';"

/* The steps that the file lacks, each in a transaction. The connection is the writer's and in no transaction. Errors: as below. */
gboolean qd_schema_migrate(QdConnection *connection, GError **error);

/**
 * qd_schema_check:
 * @connection: of a file that has the newest step
 * @limits: for a database in memory, to compare with
 * @error: (nullable): location for an error
 *
 * Whether the internal tables are as the steps made them, and hold what queryd cannot do without. SQLite knows no owner of a
 * table: any other program can change ours. Reads the schema and a few rows, regardless of the size of the file.
 *
 * Errors: SYNTAX names what is not ours any more; others, if the file cannot be read
 */
gboolean qd_schema_check(QdConnection *connection, const QdLimits *limits, GError **error);
/* Of the definitions of the internal tables; those of the newest step have: */
#define QD_SCHEMA_FINGERPRINT UINT64_C(0x174548f697dbf7e2)
uint64_t qd_schema_get_fingerprint(QdConnection *connection);

/* As the transaction sees them: tables, views, indexes and triggers whose names begin as ours do. The others are foreign keys of
 * clients' tables that refer to such a name. The id of a payload is for clients to refer to, and does not count. */
gboolean qd_schema_count_reserved_names(QdConnection *connection, gint64 *ret_n, GError **error);
gboolean qd_schema_count_reserved_parents(QdConnection *connection, gint64 *ret_n, GError **error);

/* The file's version; 0 when it is no store yet. */
gboolean qd_schema_get_version(QdConnection *connection, gint64 *ret_version, GError **error);
