/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two statements, and a number.
 */
#include "daemon/sqlite/schema-watch.h"

#include "daemon/sqlite/memory.h"

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
static gboolean
look(QdSchemaWatch *self)
{
    QdPolicy policy = self->guard->policy;
    int r = SQLITE_NOMEM;

    self->guard->policy = QD_POLICY_INTERNAL;
    self->clock += self->look == NULL ? 1 : 0;
    if (prepare(self, &self->look, "SELECT 1 FROM sqlite_schema LIMIT 0")) {
        r = sqlite3_step(self->look);
        (void) sqlite3_reset(self->look);
        self->clock += (guint64) sqlite3_stmt_status(self->look, SQLITE_STMTSTATUS_REPREPARE, 1);
    }
    self->guard->policy = policy;
    return r == SQLITE_DONE;
}

static void
execute(QdSchemaWatch *self, const char *text)
{
    QdPolicy policy = self->guard->policy;

    self->guard->policy = QD_POLICY_INTERNAL;
    (void) sqlite3_exec(self->db, text, NULL, NULL, NULL);
    self->guard->policy = policy;
}

/*
 * In one snapshot: without it SQLite reads the schema up to 50 times while others change it. Allocations fail after the deadline,
 * which ends the reading. Beside a client that changed a schema of 5,000 tables in a loop, a look took 0.4 s, and takes 0.02 s.
 */
static gboolean
look_once(QdSchemaWatch *self)
{
    uint64_t end_usec = self->guard->caller_end_usec;
    gboolean begins = sqlite3_get_autocommit(self->db);
    int64_t balance = qd_memory_get_thread_balance();
    gboolean ok;

    if (begins)
        execute(self, "BEGIN");
    if (end_usec > 0)
        qd_memory_begin_budget(G_MAXINT64 / 2, end_usec);
    ok = look(self);
    if (end_usec > 0 && qd_memory_end_budget() == QD_BUDGET_TIME_EXCEEDED)
        ok = FALSE;
    self->held_bytes += qd_memory_get_thread_balance() - balance;
    if (begins && !sqlite3_get_autocommit(self->db) && !(ok && self->keeps))
        execute(self, "COMMIT");
    return ok;
}

static guint64
get_generation(const QdSchemaWatch *self)
{
    return self->generation != NULL ? __atomic_load_n(self->generation, __ATOMIC_ACQUIRE) : 0;
}

gboolean
qd_schema_watch_is_behind(const QdSchemaWatch *self)
{
    return get_generation(self) != self->seen_generation;
}

void
qd_schema_watch_follow(QdSchemaWatch *self, gboolean always)
{
    guint64 generation = get_generation(self);

    if (generation != self->seen_generation)
        self->seen_generation = look_once(self) ? generation : GENERATION_UNKNOWN;
    else if (always)
        (void) look(self);
}

gboolean
qd_schema_watch_was_old(QdSchemaWatch *self)
{
    guint64 clock = self->clock;

    (void) look_once(self);
    return self->clock != clock;
}
