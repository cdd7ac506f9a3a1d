/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's own functions as SQLite keeps them in its memory.
 *
 * Place: room sqlite, internal to it. SQLite has no call for what is done with them (docs/decisions/long-steps.md). Only versions
 * whose source has been read are looked at, and a caller does without where nothing is found.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

/* Called as SQLite calls it. */
typedef void QdSqlCall(sqlite3_context *context, int n_args, sqlite3_value **args);

/* SQLite's FuncDef up to the name. */
typedef struct QdDefinition {
    gint16 n_args; /* a byte in older versions */
    guint32 flags;
    void *user_data;
    struct QdDefinition *next;
    QdSqlCall *call;
    void (*finalize)(sqlite3_context *context);
    void (*value)(sqlite3_context *context);
    QdSqlCall *inverse;
    const char *name;
} QdDefinition;

/* qd_builtin_is_known: whether QdDefinition is that of the SQLite of this process. */
gboolean qd_builtin_is_known(void);

/**
 * qd_builtin_find:
 * @name: of a plain function of SQLite that takes any number of arguments
 *
 * Searches what SQLite has as variables. What is returned may be called from within a function of ours, with its context. It
 * then has that statement's time, and refuses to be called where SQLite refuses that.
 *
 * Thread: any.
 *
 * Returns: (nullable): NULL when it is not found once
 */
QdSqlCall *qd_builtin_find(const char *name);

/**
 * qd_builtin_trust_json:
 * @db: has not read its schema yet
 *
 * SQLite marks its functions of JSON unsafe for definitions of a schema that is not trusted, by a mistake (3.38 to 3.40 at
 * least). A table with a column AS (json_extract(...)) could not be read then. Where they are found, @db gets them unmarked.
 */
void qd_builtin_trust_json(sqlite3 *db);

/* qd_builtin_learn: asks @db, which has all functions, which of them are volatile, and which are aggregates. Once in a process:
 * later calls return at once. Thread: that of @db, whose guard lets all pass. */
void qd_builtin_learn(sqlite3 *db);

/* qd_builtin_is_volatile: whether the function of this name may give another result of the same arguments and data. TRUE if that
 * is not known. Thread: any. */
gboolean qd_builtin_is_volatile(const char *name);

/* qd_builtin_is_aggregate: whether there is an aggregate or window function of this name. FALSE if that is not known. */
gboolean qd_builtin_is_aggregate(const char *name);
