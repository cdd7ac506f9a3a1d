/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The authorizer: an allow list for modules, a deny list for functions, and the record of what is written. Pragmas are in
 * guard-pragma.c.
 *
 * Why not sqlite3_stmt_readonly(): it says 1 for BEGIN, ATTACH and load_extension().
 */
#include "daemon/sqlite/guard/guard.h"

#include <string.h>

#include "daemon/base/name-set.h"
#include "daemon/sqlite/builtin/builtin.h"
#include "daemon/sqlite/guard/grants.h"
#include "daemon/sqlite/guard/guard-private.h"

static const char *const allowed_modules[] = { "fts3", "fts4", "fts4aux", "fts5", "fts5vocab", "geopoly", "rtree", "rtree_i32" };
/* All other modules are dropped. The authorizer hears nothing of a column that only FULL JOIN … USING names, so a rule on
 * reading would not do. sqlite_stmt shows what others have had compiled on this connection. */
static const char *kept_modules[] = { "dbstat",  "fts3",      "fts3tokenize", "fts4",  "fts4aux",   "fts5", "fts5vocab",
                                      "geopoly", "json_each", "json_tree",    "rtree", "rtree_i32", NULL };
static const char *const denied_functions[] = { "load_extension", "fts3_tokenizer", "edit", "readfile", "writefile" };

#define RESERVED_PREFIX "queryd_"
/* It writes into a page (read/packing.h): not for statements of a client. */
#define PACKING_FUNCTION "queryd_pack"
#define DELETE_FUNCTION "queryd_delete_payload"
/* These write (read/payload-functions.h). */
static const char *const payload_functions[] = { "queryd_store_payload", "queryd_replace_payload", DELETE_FUNCTION };
#define PAYLOAD_TABLE "queryd_payload"
#define KEY_TABLE "queryd_term_key"
#define COLUMN_TABLE "queryd_column"
/* A pragma as a table: what it gives is not of the data alone. */
#define PRAGMA_PREFIX "pragma_"

#define STATISTICS_TABLE "sqlite_stat1"
#define STATISTICS_PREFIX "sqlite_stat"
/* SQLite's name for the database that VACUUM attaches; later versions add digits. */
#define VACUUM_PREFIX "vacuum_"

static void
record_name(GPtrArray *names, const char *name)
{
    if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
        g_ptr_array_add(names, g_strdup(name));
}

static void
note_write(QdGuard *self, const char *table)
{
    self->writes = TRUE;
    record_name(self->write_tables, table);
}

static gboolean
is_reserved(const char *name)
{
    return g_ascii_strncasecmp(name, RESERVED_PREFIX, strlen(RESERVED_PREFIX)) == 0;
}

static int
deny_reserved(QdGuard *self, const char *what, const char *name)
{
    return qd_guard_deny(self, QW_ERROR_ACCESS_DENIED,
                         "%s '%s' is not allowed: names that begin with '" RESERVED_PREFIX "' are reserved", what, name);
}

/* A part of the schema. */
static int
check_change(QdGuard *self, const char *name)
{
    if (is_reserved(name))
        return deny_reserved(self, "changing", name);
    if (self->policy == QD_POLICY_READ)
        return qd_guard_deny(self, QW_ERROR_READ_ONLY, "changing '%s'" QD_GUARD_FOR_READING, name);

    self->writes = self->effects.defines = TRUE;
    return SQLITE_OK;
}

static int
check_table_change(QdGuard *self, const char *table)
{
    if (check_change(self, table) != SQLITE_OK)
        return SQLITE_DENY;
    if (g_ascii_strncasecmp(table, "sqlite_", 7) != 0)
        note_write(self, table);
    return SQLITE_OK;
}

/*
 * A virtual table compiles writes of its own when a statement that only reads connects it (R-trees). It declares its columns by
 * what looks like an UPDATE. So whether the statement itself writes rows is judged when it is compiled: qd_guard_check_rows().
 */
static int
check_rows(QdGuard *self, const char *what, const char *table)
{
    if (is_reserved(table))
        return deny_reserved(self, what, table);

    if (self->rows_written == NULL)
        self->rows_written = g_strdup_printf("%s '%s'", what, table);
    if (g_ascii_strncasecmp(table, "sqlite_", 7) != 0)
        record_name(self->write_tables, table);
    return SQLITE_OK;
}

/* @table: as the statement spells it, where it takes no column */
static int
check_read(QdGuard *self, const char *table)
{
    if (g_ascii_strcasecmp(table, KEY_TABLE) == 0)
        return qd_guard_deny(self, QW_ERROR_ACCESS_DENIED, "reading '" KEY_TABLE "' is not allowed: it holds the daemon's key");
    /* tallies compile their own statements while that of the client runs */
    if (self->compiling && g_ascii_strcasecmp(table, COLUMN_TABLE) == 0)
        return qd_guard_deny(self, QW_ERROR_ACCESS_DENIED,
                             "reading '" COLUMN_TABLE "' is not allowed: it holds what is made of queryd_quad, which may be read");

    if (self->read_tables != NULL)
        record_name(self->read_tables, table);
    if (g_ascii_strncasecmp(table, PRAGMA_PREFIX, strlen(PRAGMA_PREFIX)) == 0)
        self->effects.is_volatile = TRUE;
    return SQLITE_OK;
}

static int
check_function(QdGuard *self, const char *name)
{
    if (qd_names_have(denied_functions, G_N_ELEMENTS(denied_functions), name) ||
        (!self->packing && g_ascii_strcasecmp(name, PACKING_FUNCTION) == 0))
        return qd_guard_deny(self, QW_ERROR_ACCESS_DENIED, "function %s() is not allowed", name);
    if (self->read_tables != NULL && is_reserved(name))
        record_name(self->read_tables, name); /* that of payloads reads the table of this name, others our tables of terms */
    if (g_ascii_strcasecmp(name, "changes") == 0)
        self->effects.calls_changes = TRUE;
    self->effects.is_volatile = self->effects.is_volatile || qd_builtin_is_volatile(name);
    if (self->compiling && qd_builtin_is_aggregate(name) && ++self->n_aggregates > self->max_aggregates)
        return qd_guard_deny(self, QW_ERROR_TOO_COMPLEX,
                             "statement calls too many aggregate functions: the limit 'aggregates' is %" G_GUINT64_FORMAT,
                             self->max_aggregates);
    if (!qd_names_have(payload_functions, G_N_ELEMENTS(payload_functions), name))
        return SQLITE_OK;
    if (self->policy == QD_POLICY_READ)
        return qd_guard_deny(self, QW_ERROR_READ_ONLY, "function %s()" QD_GUARD_FOR_READING, name);

    if (g_ascii_strcasecmp(name, DELETE_FUNCTION) == 0)
        self->effects.calls_delete = TRUE;
    note_write(self, PAYLOAD_TABLE);
    return SQLITE_OK;
}

/* The only thing that a statement may do to a table of ours: deleting rows deletes their files. */
static int
check_payload_delete(QdGuard *self)
{
    if (self->policy == QD_POLICY_READ)
        return qd_guard_deny(self, QW_ERROR_READ_ONLY, "deleting from '" PAYLOAD_TABLE "'" QD_GUARD_FOR_READING);

    self->effects.deletes_payloads = TRUE;
    note_write(self, PAYLOAD_TABLE);
    return SQLITE_OK;
}

/* ANALYZE and REINDEX, without a name also of our tables: no rows change. */
static int
check_maintenance(QdGuard *self, int action, const char *name)
{
    if (self->policy == QD_POLICY_READ)
        return qd_guard_deny(self, QW_ERROR_READ_ONLY, "work on '%s'" QD_GUARD_FOR_READING, name);

    self->writes = self->effects.defines = TRUE;
    if (action == SQLITE_ANALYZE) {
        self->effects.analyzes = self->effects.grows = TRUE;
        note_write(self, STATISTICS_TABLE);
    }
    return SQLITE_OK;
}

/* Readers have their own snapshots. A writer's are for the channel (channel/channel-transaction.c); SQLite is not to be asked. */
static int
check_control(QdGuard *self, int action, const char *operation)
{
    if (self->policy == QD_POLICY_READ)
        return qd_guard_deny(self, QW_ERROR_ACCESS_DENIED, "%s is not allowed in a query that was opened for reading",
                             action == SQLITE_SAVEPOINT ? "SAVEPOINT" : operation);

    if (action == SQLITE_SAVEPOINT)
        self->control = QD_CONTROL_SAVEPOINT;
    else if (g_str_equal(operation, "BEGIN"))
        self->control = QD_CONTROL_BEGIN;
    else
        self->control = g_str_equal(operation, "COMMIT") ? QD_CONTROL_COMMIT : QD_CONTROL_ROLLBACK;
    self->writes = TRUE;
    return SQLITE_OK;
}

static int
check_module(QdGuard *self, const char *table, const char *module)
{
    if (module == NULL || !qd_names_have(allowed_modules, G_N_ELEMENTS(allowed_modules), module))
        return qd_guard_deny(self, QW_ERROR_ACCESS_DENIED, "virtual table module '%s' is not allowed",
                             module != NULL ? module : "");

    return check_table_change(self, table);
}

static gboolean
makes_grow(int action, const char *table)
{
    switch (action) {
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_VIEW:
    case SQLITE_CREATE_INDEX:
    case SQLITE_CREATE_TRIGGER:
    case SQLITE_CREATE_VTABLE:
    case SQLITE_ALTER_TABLE:
        return TRUE;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
        return g_ascii_strncasecmp(table, STATISTICS_PREFIX, strlen(STATISTICS_PREFIX)) == 0;
    default: /* SQLite's numbers, not our enum */
        return FALSE;
    }
}

/* The meaning of @a and @b by action: sqlite3.h, "Authorizer Action Codes". */
static int
check_action(QdGuard *self, int action, const char *a, const char *b, const char *database)
{
    self->effects.grows = self->effects.grows || makes_grow(action, a);
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_READ:
        return check_read(self, a);
    case SQLITE_FUNCTION:
        return check_function(self, b);
    case SQLITE_PRAGMA:
        return qd_guard_check_pragma(self, a, b, database);
    case SQLITE_INSERT:
        return check_rows(self, "inserting into", a);
    case SQLITE_UPDATE:
        return check_rows(self, "updating", a);
    case SQLITE_DELETE:
        return g_str_equal(a, PAYLOAD_TABLE) ? check_payload_delete(self) : check_rows(self, "deleting from", a);
    case SQLITE_CREATE_TABLE:
    case SQLITE_DROP_TABLE:
    case SQLITE_CREATE_VIEW:
    case SQLITE_DROP_VIEW:
        self->effects.changes_schema = TRUE;
        return check_table_change(self, a);
    case SQLITE_ANALYZE:
    case SQLITE_REINDEX:
        return check_maintenance(self, action, a);
    case SQLITE_CREATE_INDEX:
    case SQLITE_DROP_INDEX:
    case SQLITE_CREATE_TRIGGER:
    case SQLITE_DROP_TRIGGER:
        return check_change(self, a) == SQLITE_OK ? check_table_change(self, b) : SQLITE_DENY;
    case SQLITE_ALTER_TABLE:
        self->effects.alters = self->effects.changes_schema = TRUE;
        return check_table_change(self, b);
    case SQLITE_CREATE_VTABLE:
    case SQLITE_DROP_VTABLE:
        self->effects.changes_schema = TRUE;
        return check_module(self, a, b);
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
        return check_control(self, action, a);
    case SQLITE_ATTACH:
        return qd_guard_deny(self, QW_ERROR_ACCESS_DENIED, "ATTACH is not allowed");
    case SQLITE_DETACH:
        return qd_guard_deny(self, QW_ERROR_ACCESS_DENIED, "DETACH is not allowed");
    default: /* SQLite's numbers, not our enum: temporary objects, and those of later versions */
        return qd_guard_deny(self, QW_ERROR_ACCESS_DENIED, QD_GUARD_NO_TEMPORARY);
    }
}

/*
 * VACUUM copies by SQL of its own. It attaches a database without a file, begins a transaction, reads the schema and the
 * tables, and writes only into what it has attached.
 */
static int
check_vacuum(QdGuard *self, int action, const char *a, const char *b, const char *database)
{
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_TRANSACTION:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return check_function(self, b);
    case SQLITE_ATTACH:
        if (a[0] == '\0')
            return SQLITE_OK;
        return qd_guard_deny(self, QW_ERROR_ACCESS_DENIED, "VACUUM INTO is not allowed: a backup is another way to a copy");
    default:
        if (database != NULL && g_str_has_prefix(database, VACUUM_PREFIX))
            return SQLITE_OK;
        return qd_guard_deny(self, QW_ERROR_ACCESS_DENIED, "VACUUM may not write into '%s'", database != NULL ? database : "");
    }
}

/*
 * A statement of ours may set off a trigger of a client's table, by a foreign key that a file brought along. Such a trigger has the
 * client's rights only. No trigger is ours.
 */
static int
check_foreign_trigger(int action, const char *a, const char *b)
{
    switch (action) {
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
        return is_reserved(a) ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_READ:
        return g_ascii_strcasecmp(a, KEY_TABLE) == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_FUNCTION:
        return qd_names_have(payload_functions, G_N_ELEMENTS(payload_functions), b) ? SQLITE_DENY : SQLITE_OK;
    default: /* SQLite's numbers, not our enum: a trigger does nothing else */
        return SQLITE_OK;
    }
}

/* What asks for temporary objects finds none. */
static gboolean
may_be_temporary(int action, const char *a)
{
    switch (action) {
    case SQLITE_READ:
    case SQLITE_SELECT:
    case SQLITE_FUNCTION:
    case SQLITE_PRAGMA:
        return TRUE;
    case SQLITE_UPDATE: /* of ALTER TABLE, which looks for the name there; DEFENSIVE keeps the client's own off */
        return g_strcmp0(a, "sqlite_temp_master") == 0;
    default: /* SQLite's numbers, not our enum */
        return FALSE;
    }
}

static int
authorize(void *data, int action, const char *a, const char *b, const char *database, const char *trigger)
{
    QdGuard *self = data;
    g_autofree char *reason = NULL;

    if (self->policy == QD_POLICY_INTERNAL)
        return trigger == NULL || is_reserved(trigger) ? SQLITE_OK : check_foreign_trigger(action, a != NULL ? a : "", b);
    if (self->vacuuming)
        return check_vacuum(self, action, a != NULL ? a : "", b, database);

    if (self->compiling) {
        self->n_calls++;
        if (self->n_calls > self->max_calls)
            return qd_guard_deny(self, QW_ERROR_TOO_COMPLEX,
                                 "statement looks up too many names: the limit 'authorizer_calls' is %" G_GUINT64_FORMAT,
                                 self->max_calls);
        if (self->n_calls % 16 == 0 && (uint64_t) g_get_monotonic_time() > self->compile_deadline_usec)
            return qd_guard_deny_for_time(self);
    }

    if (g_strcmp0(database, "temp") == 0 && !may_be_temporary(action, a))
        return qd_guard_deny(self, QW_ERROR_ACCESS_DENIED, QD_GUARD_NO_TEMPORARY);

    if (self->grants.access != NULL)
        reason = qd_grants_check_action(&self->grants, action, a, b, trigger);
    return reason != NULL ? qd_guard_deny(self, QW_ERROR_ACCESS_DENIED, "%s", reason)
                          : check_action(self, action, a != NULL ? a : "", b, database);
}

void
qd_guard_install(QdGuard *self, sqlite3 *db)
{
    *self = (QdGuard){ .policy = QD_POLICY_INTERNAL, .write_tables = g_ptr_array_new_with_free_func(g_free) };
    (void) sqlite3_drop_modules(db, kept_modules);
    sqlite3_set_authorizer(db, authorize, self);
}

void
qd_guard_clear(QdGuard *self)
{
    g_clear_pointer(&self->write_tables, g_ptr_array_unref);
    g_clear_pointer(&self->denial, g_free);
    g_clear_pointer(&self->rows_written, g_free);
}

void
qd_guard_begin(QdGuard *self, QdPolicy policy, const QdLimits *limits)
{
    self->policy = policy;
    self->compiling = TRUE;
    self->n_calls = 0;
    self->max_calls = qd_limits_get(limits, QD_LIMIT_AUTHORIZER_CALLS);
    self->n_aggregates = 0;
    self->max_aggregates = qd_limits_get(limits, QD_LIMIT_AGGREGATES);
    self->compile_msec = qd_limits_get(limits, QD_LIMIT_COMPILE_MSEC);
    self->compile_deadline_usec = (uint64_t) g_get_monotonic_time() + 1000 * self->compile_msec;
    if (self->caller_end_usec > 0)
        self->compile_deadline_usec = MIN(self->compile_deadline_usec, self->caller_end_usec);
    self->writes = FALSE;
    self->grants.is_unsure = FALSE;
    self->tells = FALSE;
    self->control = QD_CONTROL_NONE;
    self->asks = FALSE;
    self->setting = QD_SETTING_NONE;
    g_clear_pointer(&self->rows_written, g_free);
    qd_guard_forget_writes(self);
    qd_guard_forget_denial(self);
}

void
qd_guard_end(QdGuard *self)
{
    self->compiling = FALSE;
}

int
qd_guard_check_rows(QdGuard *self, sqlite3_stmt *stmt)
{
    if (self->rows_written == NULL || sqlite3_stmt_readonly(stmt))
        return SQLITE_OK;
    if (self->policy == QD_POLICY_READ)
        return qd_guard_deny(self, QW_ERROR_READ_ONLY, "%s" QD_GUARD_FOR_READING, self->rows_written);

    self->writes = TRUE;
    return SQLITE_OK;
}

void
qd_guard_forget_writes(QdGuard *self)
{
    self->effects = (QdEffects){ 0 };
    if (self->write_tables->len > 0)
        g_ptr_array_set_size(self->write_tables, 0);
}
