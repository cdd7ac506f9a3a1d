/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The authorizer: allow lists for pragmas and modules, a deny list for functions, and the record of what is written.
 *
 * Why not sqlite3_stmt_readonly(): it says 1 for BEGIN, ATTACH and load_extension().
 */
#include "daemon/store/guard.h"

#include <string.h>

#include "daemon/base/error.h"

/* Pragmas that only tell. Those marked take an argument; the others are refused with one, since then they set. */
static const struct {
    const char *name;
    gboolean takes_argument;
} allowed_pragmas[] = {
    { "application_id", FALSE },  { "collation_list", FALSE }, { "compile_options", FALSE },
    { "data_version", FALSE }, /* FTS5 asks for it */
    { "database_list", FALSE },   { "encoding", FALSE },       { "foreign_key_check", TRUE },
    { "foreign_key_list", TRUE }, { "foreign_keys", FALSE },   { "freelist_count", FALSE },
    { "function_list", FALSE },   { "index_info", TRUE },      { "index_list", TRUE },
    { "index_xinfo", TRUE },      { "integrity_check", TRUE }, { "journal_mode", FALSE },
    { "module_list", FALSE },     { "page_count", FALSE },     { "page_size", FALSE },
    { "pragma_list", FALSE },     { "quick_check", TRUE },     { "schema_version", FALSE },
    { "table_info", TRUE },       { "table_list", TRUE },      { "table_xinfo", TRUE },
    { "user_version", FALSE },
};

static const char *const allowed_modules[] = { "fts3", "fts4", "fts4aux", "fts5", "fts5vocab", "geopoly", "rtree", "rtree_i32" };
/* All other modules are dropped: the authorizer hears nothing of a column that only FULL JOIN … USING names, so that a rule on
 * reading would not do. sqlite_stmt shows what others have had compiled on this connection. */
static const char *kept_modules[] = { "dbstat",  "fts3",      "fts3tokenize", "fts4",  "fts4aux",   "fts5", "fts5vocab",
                                      "geopoly", "json_each", "json_tree",    "rtree", "rtree_i32", NULL };
static const char *const denied_functions[] = { "load_extension", "fts3_tokenizer", "edit", "readfile", "writefile" };

#define RESERVED_PREFIX "queryd_"
/* It writes into a page (exec/packing.h): not for statements of a client. */
#define PACKING_FUNCTION "queryd_pack"
#define DELETE_FUNCTION "queryd_delete_payload"
/* These write (exec/payload-functions.h). */
static const char *const payload_functions[] = { "queryd_store_payload", "queryd_replace_payload", DELETE_FUNCTION };
#define PAYLOAD_TABLE "queryd_payload"

#define STATISTICS_TABLE "sqlite_stat1"
#define FOR_READING " in a query that was opened for reading"

static int deny(QdGuard *self, QwError code, const char *format, ...) G_GNUC_PRINTF(3, 4);

static int
deny(QdGuard *self, QwError code, const char *format, ...)
{
    va_list args;

    if (self->denial_code != 0)
        return SQLITE_DENY;

    va_start(args, format);
    self->denial_code = code;
    self->denial = g_strdup_vprintf(format, args);
    va_end(args);
    return SQLITE_DENY;
}

static gboolean
list_has(const char *const *list, gsize n, const char *name)
{
    for (gsize i = 0; i < n; i++)
        if (g_ascii_strcasecmp(list[i], name) == 0)
            return TRUE;

    return FALSE;
}

static int
check_pragma(QdGuard *self, const char *name, const char *argument)
{
    for (gsize i = 0; i < G_N_ELEMENTS(allowed_pragmas); i++)
        if (g_ascii_strcasecmp(allowed_pragmas[i].name, name) == 0 && (argument == NULL || allowed_pragmas[i].takes_argument)) {
            self->tells = TRUE;
            return SQLITE_OK;
        }

    return deny(self, QW_ERROR_ACCESS_DENIED, "PRAGMA %s%s is not allowed: only pragmas that read are", name,
                argument != NULL ? " with a value" : "");
}

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
    return deny(self, QW_ERROR_ACCESS_DENIED, "%s '%s' is not allowed: names that begin with '" RESERVED_PREFIX "' are reserved",
                what, name);
}

/* A part of the schema. */
static int
check_change(QdGuard *self, const char *name)
{
    if (is_reserved(name))
        return deny_reserved(self, "changing", name);
    if (self->policy == QD_POLICY_READ)
        return deny(self, QW_ERROR_READ_ONLY, "changing '%s'" FOR_READING, name);

    self->writes = self->defines = TRUE;
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
 * A virtual table compiles writes of its own when a statement that only reads connects it (R-trees), and declares its columns by
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

static int
check_function(QdGuard *self, const char *name)
{
    if (list_has(denied_functions, G_N_ELEMENTS(denied_functions), name) ||
        (!self->packing && g_ascii_strcasecmp(name, PACKING_FUNCTION) == 0))
        return deny(self, QW_ERROR_ACCESS_DENIED, "function %s() is not allowed", name);
    if (self->read_tables != NULL && g_ascii_strcasecmp(name, PAYLOAD_TABLE) == 0)
        record_name(self->read_tables, PAYLOAD_TABLE); /* the function of this name reads it */
    if (g_ascii_strcasecmp(name, "changes") == 0)
        self->calls_changes = TRUE;
    if (!list_has(payload_functions, G_N_ELEMENTS(payload_functions), name))
        return SQLITE_OK;
    if (self->policy == QD_POLICY_READ)
        return deny(self, QW_ERROR_READ_ONLY, "function %s()" FOR_READING, name);

    if (g_ascii_strcasecmp(name, DELETE_FUNCTION) == 0)
        self->calls_delete = TRUE;
    note_write(self, PAYLOAD_TABLE);
    return SQLITE_OK;
}

/* The only thing that a statement may do to a table of ours: whoever deletes rows deletes their files. */
static int
check_payload_delete(QdGuard *self)
{
    if (self->policy == QD_POLICY_READ)
        return deny(self, QW_ERROR_READ_ONLY, "deleting from '" PAYLOAD_TABLE "'" FOR_READING);

    self->deletes_payloads = TRUE;
    note_write(self, PAYLOAD_TABLE);
    return SQLITE_OK;
}

/* ANALYZE and REINDEX, without a name also of our tables: nobody's rows change. */
static int
check_upkeep(QdGuard *self, int action, const char *name)
{
    if (self->policy == QD_POLICY_READ)
        return deny(self, QW_ERROR_READ_ONLY, "work on '%s'" FOR_READING, name);

    self->writes = self->defines = TRUE;
    if (action == SQLITE_ANALYZE)
        note_write(self, STATISTICS_TABLE);
    return SQLITE_OK;
}

static int
check_module(QdGuard *self, const char *table, const char *module)
{
    if (module == NULL || !list_has(allowed_modules, G_N_ELEMENTS(allowed_modules), module))
        return deny(self, QW_ERROR_ACCESS_DENIED, "virtual table module '%s' is not allowed", module != NULL ? module : "");

    return check_table_change(self, table);
}

/* The meaning of @a and @b by action: sqlite3.h, "Authorizer Action Codes". */
static int
check_action(QdGuard *self, int action, const char *a, const char *b)
{
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_READ:
        if (self->read_tables != NULL)
            record_name(self->read_tables, a);
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return check_function(self, b);
    case SQLITE_PRAGMA:
        return check_pragma(self, a, b);
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
        self->changes_schema = TRUE;
        return check_table_change(self, a);
    case SQLITE_ANALYZE:
    case SQLITE_REINDEX:
        return check_upkeep(self, action, a);
    case SQLITE_CREATE_INDEX:
    case SQLITE_DROP_INDEX:
    case SQLITE_CREATE_TRIGGER:
    case SQLITE_DROP_TRIGGER:
        return check_change(self, a) == SQLITE_OK ? check_table_change(self, b) : SQLITE_DENY;
    case SQLITE_ALTER_TABLE:
        self->changes_schema = TRUE;
        return check_table_change(self, b);
    case SQLITE_CREATE_VTABLE:
    case SQLITE_DROP_VTABLE:
        self->changes_schema = TRUE;
        return check_module(self, a, b);
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
        return deny(self, QW_ERROR_ACCESS_DENIED,
                    "%s is not allowed: every update is a transaction of its own; use a batch for several",
                    action == SQLITE_SAVEPOINT ? "SAVEPOINT" : a);
    case SQLITE_ATTACH:
        if (self->vacuuming && (a == NULL || a[0] == '\0'))
            return SQLITE_OK;
        return deny(self, QW_ERROR_ACCESS_DENIED, "%s is not allowed", self->vacuuming ? "VACUUM INTO" : "ATTACH");
    case SQLITE_DETACH:
        return deny(self, QW_ERROR_ACCESS_DENIED, "DETACH is not allowed");
    default: /* SQLite's numbers, not our enum: temporary objects, and whatever a later version adds */
        return deny(self, QW_ERROR_ACCESS_DENIED, "temporary objects are not allowed");
    }
}

static int
authorize(void *data, int action, const char *a, const char *b, const char *database, const char *trigger)
{
    QdGuard *self = data;

    if (self->policy == QD_POLICY_INTERNAL)
        return SQLITE_OK;
    /* what VACUUM does by SQL of its own: a transaction, inserts into a database that it attaches under an empty name */
    if (self->vacuuming && action != SQLITE_ATTACH)
        return SQLITE_OK;

    if (self->compiling) {
        self->n_calls++;
        if (self->n_calls > self->max_calls)
            return deny(self, QW_ERROR_TOO_COMPLEX,
                        "statement looks up too many names: the limit 'authorizer_calls' is %" G_GUINT64_FORMAT, self->max_calls);
        if (self->n_calls % 16 == 0 && (uint64_t) g_get_monotonic_time() > self->compile_deadline_usec)
            return deny(self, QW_ERROR_TOO_COMPLEX,
                        "statement takes too long to compile: the limit 'compile_ms' is %" G_GUINT64_FORMAT " ms",
                        self->compile_msec);
    }

    /* ALTER TABLE looks for the name in temporary triggers and views, too, by an UPDATE; DEFENSIVE keeps the client's own off */
    if (database != NULL && g_str_equal(database, "temp") && action != SQLITE_READ && action != SQLITE_SELECT &&
        action != SQLITE_FUNCTION && !(action == SQLITE_UPDATE && g_strcmp0(a, "sqlite_temp_master") == 0))
        return deny(self, QW_ERROR_ACCESS_DENIED, "temporary objects are not allowed");

    return check_action(self, action, a != NULL ? a : "", b);
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
    self->compile_msec = qd_limits_get(limits, QD_LIMIT_COMPILE_MSEC);
    self->compile_deadline_usec = (uint64_t) g_get_monotonic_time() + 1000 * self->compile_msec;
    self->writes = FALSE;
    self->tells = FALSE;
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
        return deny(self, QW_ERROR_READ_ONLY, "%s" FOR_READING, self->rows_written);

    self->writes = TRUE;
    return SQLITE_OK;
}

void
qd_guard_forget_writes(QdGuard *self)
{
    self->changes_schema = self->defines = self->calls_changes = FALSE;
    self->deletes_payloads = FALSE;
    self->calls_delete = FALSE;
    if (self->write_tables->len > 0)
        g_ptr_array_set_size(self->write_tables, 0);
}

void
qd_guard_forget_denial(QdGuard *self)
{
    self->denial_code = 0;
    g_clear_pointer(&self->denial, g_free);
}

gboolean
qd_guard_get_denial(const QdGuard *self, GError **error)
{
    if (self->denial_code == 0)
        return FALSE;

    qd_error_set(error, self->denial_code, "%s", self->denial);
    return TRUE;
}
