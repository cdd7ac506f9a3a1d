/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a connection, for the two files that make it up.
 *
 * Place: private to connection.c and connection-compile.c.
 */
#pragma once

#include "daemon/sqlite/connection.h"

typedef enum QdCommand {
    BEGIN_READ,
    BEGIN_WRITE,
    COMMIT,
    SAVEPOINT,
    RELEASE,
    QD_N_COMMANDS,
} QdCommand;

struct QdConnection {
    sqlite3 *db;
    uint64_t cache_bytes;
    QdGuard guard;
    QdSettings settings;
    GPtrArray *statements; /* of QdCompiled, few: searched from the newest */
    guint64 clock;
    sqlite3_stmt *transaction[QD_N_COMMANDS]; /* from the first use on */
    QdSchemaWatch schema;
    gint64 schema_version; /* of the file, when the next was read; -1: it was not */
    gint64 incarnation;
    struct {
        gpointer object;
        GDestroyNotify destroy;
    } attachments[QD_N_ATTACHMENTS];
};

/* A GDestroyNotify of a QdCompiled. */
void qd_compiled_free(gpointer data);
