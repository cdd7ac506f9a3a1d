/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two statements, and a number.
 */
#include "daemon/sqlite/schema-watch.h"

#define GENERATION_UNKNOWN G_MAXUINT64

void
qd_schema_watch_init(QdSchemaWatch *self, sqlite3 *db, QdGuard *guard, const guint64 *generation)
{
    *self = (QdSchemaWatch){ .db = db, .guard = guard, .generation = generation };
}

void
qd_schema_watch_clear(QdSchemaWatch *self)
{
    (void) sqlite3_finalize(g_steal_pointer(&self->ask));
    (void) sqlite3_finalize(g_steal_pointer(&self->look));
}

/* Returns: false when there is no memory for it */
static gboolean
prepare(const QdSchemaWatch *self, sqlite3_stmt **stmt, const char *text)
{
    if (*stmt == NULL)
        (void) sqlite3_prepare_v3(self->db, text, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    return *stmt != NULL;
}

gint64
qd_schema_watch_get_version(QdSchemaWatch *self)
{
    QdPolicy policy = self->guard->policy;
    gint64 version = -1;

    self->guard->policy = QD_POLICY_INTERNAL;
    if (prepare(self, &self->ask, "PRAGMA schema_version") && sqlite3_step(self->ask) == SQLITE_ROW)
        version = sqlite3_column_int64(self->ask, 0);
    (void) sqlite3_reset(self->ask);
    self->guard->policy = policy;
    return version;
}

void
qd_schema_watch_forget(QdSchemaWatch *self)
{
    self->seen_generation = GENERATION_UNKNOWN;
}

/*
 * This one reads nothing. When the schema is another one than it was compiled by, SQLite reads the schema and compiles it again. A
 * failure shows when the client's statement itself is compiled or run.
 */
static void
look(QdSchemaWatch *self)
{
    QdPolicy policy = self->guard->policy;

    self->guard->policy = QD_POLICY_INTERNAL;
    self->clock += self->look == NULL ? 1 : 0;
    if (prepare(self, &self->look, "SELECT 1 FROM sqlite_schema LIMIT 0")) {
        (void) sqlite3_step(self->look);
        (void) sqlite3_reset(self->look);
        self->clock += (guint64) sqlite3_stmt_status(self->look, SQLITE_STMTSTATUS_REPREPARE, 1);
    }
    self->guard->policy = policy;
}

void
qd_schema_watch_follow(QdSchemaWatch *self, gboolean always)
{
    guint64 generation = self->generation != NULL ? __atomic_load_n(self->generation, __ATOMIC_ACQUIRE) : 0;

    if (!always && generation == self->seen_generation)
        return;
    look(self);
    self->seen_generation = generation;
}

gboolean
qd_schema_watch_was_old(QdSchemaWatch *self)
{
    guint64 clock = self->clock;

    look(self);
    return self->clock != clock;
}
