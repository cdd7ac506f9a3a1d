/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The schema once more, in a small file beside the database ("queryd.db-schema"). A salvage uses it when the pages with the
 * schema are lost, since no other place says which page belongs to which table.
 *
 * Place: room recover. The writer keeps it up to date; a copy that cannot be is deleted, for none is better than an old one.
 */
#pragma once

#include "daemon/sqlite/connection.h"

#define QD_SCHEMA_COPY_SUFFIX "-schema"
/* Of its file. A larger schema has no copy; a schema up to the second size is copied after each change while the store is in
 * use.
 */
#define QD_SCHEMA_COPY_MAX_BYTES (64u * 1024 * 1024)
#define QD_SCHEMA_COPY_QUICK_BYTES (256u * 1024)

/* A row of sqlite_schema. */
typedef struct QdSchemaCopyRow {
    char *type; /* (owned), as the next three */
    char *name;
    char *table;
    char *sql; /* (nullable) */
    guint32 root;
} QdSchemaCopyRow;

typedef struct QdSchemaCopy {
    guint32 cookie;   /* the header's: it grows with each change of the schema */
    guint32 encoding; /* as the header's: 1 UTF-8, 2 UTF-16LE, 3 UTF-16BE */
    gint32 user_version;
    gint32 application_id;
    GPtrArray *rows; /* of QdSchemaCopyRow */
} QdSchemaCopy;

/**
 * qd_schema_copy_refresh:
 * @connection: of the file; no other connection changes its schema meanwhile
 * @max_bytes: of the copy
 *
 * Writes the copy if it is not what it should be. A failure is not reported.
 */
void qd_schema_copy_refresh(QdConnection *connection, gsize max_bytes);

/* Returns: (transfer full) (nullable): what is beside the database @path, if it is whole */
QdSchemaCopy *qd_schema_copy_read(const char *path);
QdSchemaCopy *qd_schema_copy_free(QdSchemaCopy *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdSchemaCopy, qd_schema_copy_free)
