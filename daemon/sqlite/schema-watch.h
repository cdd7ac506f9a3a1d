/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeps the schema that SQLite has in memory that of the file. SQLite 3.40 compares the two when a statement begins to run, and
 * for some errors of its compiler. Other errors it decides by the schema in memory.
 *
 * Place: room sqlite; part of a connection, used by its thread.
 * Invariant: a statement that was compiled when `clock` was what it is now describes the schema as it was last looked at.
 */
#pragma once

#include "daemon/sqlite/guard/guard.h"

typedef struct QdSchemaWatch {
    sqlite3 *db;
    QdGuard *guard;
    const guint64 *generation; /* (nullable) an atomic that grows with each change of the schema */
    guint64 seen_generation;
    int64_t held_bytes; /* of memory: by what was read again since the connection was opened */
    gboolean keeps;     /* the transaction of a look stays open: what is compiled then runs in it */
    guint64 clock;      /* ticks when the schema is another one */
    sqlite3_stmt *ask;  /* from the first use on */
    sqlite3_stmt *look; /* from the first use on */
} QdSchemaWatch;

/* Nothing of @db, @guard and @generation becomes its own. */
void qd_schema_watch_init(QdSchemaWatch *self, sqlite3 *db, QdGuard *guard, const guint64 *generation);
/* Gives its statements back. */
void qd_schema_watch_clear(QdSchemaWatch *self);
/* The header's count of changes of the schema; -1: it cannot be read. */
gint64 qd_schema_watch_get_version(QdSchemaWatch *self);
/* The next qd_schema_watch_follow() looks at the file regardless of the generation. */
void qd_schema_watch_forget(QdSchemaWatch *self);
/* Whether the schema has been changed since it was followed last. SQLite reads it again when a statement begins to run. */
gboolean qd_schema_watch_is_behind(const QdSchemaWatch *self);
/* Makes the schema in memory that of the file. If the guard's caller has waited long enough, qd_schema_watch_is_behind() stays
 * true.
 * @always: also when the generation is the one of the last time. */
void qd_schema_watch_follow(QdSchemaWatch *self, gboolean always);
/* After a statement did not compile: makes it that of the file. Returns: whether it was another one, and the error says nothing */
gboolean qd_schema_watch_was_old(QdSchemaWatch *self);
