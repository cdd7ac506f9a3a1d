/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a connection, for the two files that make it up.
 *
 * Place: private to connection.c and connection-compile.c.
 */
#pragma once

#include "client-lib/wire/wire-recent.h"
#include "daemon/base/thread.h"
#include "daemon/sqlite/connection.h"

#define QD_CONNECTION_MAX_STATEMENTS 128 /* docs/decisions/sqlite-settings.md */

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
    const void *compile_owner; /* (nullable) */
    struct {
        uint64_t since_usec;
        gboolean (*ends)(void *data); /* (nullable) */
        void *data;
    } lock_wait;
    QdSettings settings;
    QwRecent statements; /* of QdCompiled */
    void *statement_items[QD_CONNECTION_MAX_STATEMENTS];
    gsize n_statement_bytes;
    int optimizations_off;                    /* a mask of SQLite's planner */
    gboolean runs_generated;                  /* the statement that was asked for last is made from SPARQL */
    sqlite3_stmt *transaction[QD_N_COMMANDS]; /* from the first use on */
    QdSchemaWatch schema;
    gint64 schema_version; /* of the file, when the next was read; -1: it was not */
    gint64 incarnation;
    gboolean is_spoilt;
    gboolean has_lost; /* memory, by that */
    const QdThread *spoilt_thread;
    int64_t spoilt_balance;
    struct {
        gpointer object;
        GDestroyNotify destroy;
    } attachments[QD_N_ATTACHMENTS];
};

void qd_connection_drop_statements(QdConnection *self);
/* For what is compiled from now on, within a step, too: the statement that runs next, as the policy and @runs_generated tell it. */
void qd_connection_choose_optimizations(QdConnection *self);
