/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names first, for an error that says which one; then the program, by EXPLAIN and the pages where tables and indices begin.
 */
#include "daemon/sqlite/guard/grants.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/base/name-set.h"
#include "daemon/sqlite/guard/opened-tables.h"
#include "daemon/sqlite/operation.h"
#include "daemon/sqlite/sqlite-error.h"

#define RESERVED_PREFIX "queryd_"
#define PACKING_FUNCTION "queryd_pack" /* the guard knows when it may be called */
#define SCHEMA_TABLE "sqlite_master"
#define SEQUENCE_TABLE "sqlite_sequence"
#define MAIN_DATABASE 0

/* They have no data of the store. */
static const char *const free_modules[] = { "json_each", "json_tree" };
/* Of the connection alone. */
static const char *const free_pragmas[] = { "data_version", "defer_foreign_keys", "encoding", "foreign_keys",
                                            "recursive_triggers" };
/* Of the table that is their argument. */
static const char *const table_pragmas[] = { "foreign_key_list", "index_list", "table_info", "table_xinfo" };
/* Beside those that the authorizer has denied by then. */
static const char *const denied_opcodes[] = { "Vacuum",   "CreateBtree", "Destroy",   "ParseSchema", "SetCookie",
                                              "SqlExec",  "IntegrityCk", "DropTable", "DropIndex",   "DropTrigger",
                                              "VDestroy", "VCreate",     "VRename" };

void
qd_grants_set(QdGrants *self, const QdAccess *access)
{
    if (access != NULL && qd_access_has_all(access, QD_ACCESS_WRITE))
        access = NULL;
    self->access = access;
    self->id = access != NULL ? qd_access_get_id(access) : 0;
}

static gboolean
is_equal(const char *one, const char *other)
{
    return g_ascii_strcasecmp(one, other) == 0;
}

static char *refuse(const QdGrants *self, const char *format, ...) G_GNUC_PRINTF(2, 3);

static char *
refuse(const QdGrants *self, const char *format, ...)
{
    g_autofree char *what = NULL;
    va_list args;

    va_start(args, format);
    what = g_strdup_vprintf(format, args);
    va_end(args);
    return g_strdup_printf("application '%s' may not %s: [Access %s] in queryd.conf does not grant it",
                           qd_access_get_application(self->access), what, qd_access_get_application(self->access));
}

/* Names -------------------------------------------------------------------------------------------------------------------- */

/* Without a column it may be the name of a WITH, too, of which the authorizer says no more: the program shows what it is. */
static char *
check_read(QdGrants *self, const char *table, const char *column, const char *source)
{
    if (qd_access_has_all(self->access, QD_ACCESS_READ) || qd_names_have(free_modules, G_N_ELEMENTS(free_modules), table))
        return NULL;
    if (qd_access_has_table(self->access, QD_ACCESS_READ, table)) {
        self->is_unsure = self->is_unsure || source != NULL;
        return NULL;
    }
    if (is_equal(table, SCHEMA_TABLE) && is_equal(column, "ROWID")) /* a virtual table is connected */
        return NULL;
    if (column[0] != '\0')
        return refuse(self, "read the table '%s'", table);
    self->is_unsure = TRUE;
    return NULL;
}

static char *
check_write(const QdGrants *self, int action, const char *table)
{
    if (qd_access_has_table(self->access, QD_ACCESS_WRITE, table))
        return NULL;
    if (action == SQLITE_UPDATE && is_equal(table, SCHEMA_TABLE)) /* so a virtual table declares its columns */
        return NULL;
    return refuse(self, "write into the table '%s'", table);
}

static char *
check_function(const QdGrants *self, const char *name)
{
    gboolean is_ours = g_ascii_strncasecmp(name, RESERVED_PREFIX, strlen(RESERVED_PREFIX)) == 0;
    gboolean writes = g_str_has_suffix(name, "_payload"); /* but for queryd_payload(), which reads */

    if (!is_ours || is_equal(name, PACKING_FUNCTION))
        return NULL;
    if (qd_access_has_all(self->access, QD_ACCESS_READ) && (!writes || is_equal(name, "queryd_payload")))
        return NULL;
    return refuse(self, "call the function %s()", name);
}

static char *
check_pragma(const QdGrants *self, const char *name, const char *argument)
{
    if (qd_names_have(free_pragmas, G_N_ELEMENTS(free_pragmas), name))
        return NULL;
    if (qd_names_have(table_pragmas, G_N_ELEMENTS(table_pragmas), name) && argument != NULL &&
        qd_access_has_table(self->access, QD_ACCESS_READ, argument))
        return NULL;
    if (qd_access_has_all(self->access, QD_ACCESS_READ) &&
        (argument == NULL || qd_names_have(table_pragmas, G_N_ELEMENTS(table_pragmas), name)))
        return NULL;
    return refuse(self, "ask PRAGMA %s", name);
}

char *
qd_grants_check_action(QdGrants *self, int action, const char *a, const char *b, const char *source)
{
    a = a != NULL ? a : "";
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
        return NULL;
    case SQLITE_READ:
        return check_read(self, a, b != NULL ? b : "", source);
    case SQLITE_FUNCTION:
        return check_function(self, b != NULL ? b : "");
    case SQLITE_PRAGMA:
        return check_pragma(self, a, b);
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
        return check_write(self, action, a);
    default: /* SQLite's numbers: the schema, statistics, other databases */
        return refuse(self, "change the schema or its statistics");
    }
}

/* Programs ----------------------------------------------------------------------------------------------------------------- */

/* An opened tree: of a granted table, or of the numbers of AUTOINCREMENT, which INSERT alone opens where none names them. */
static char *
check_tree(const QdGrants *self, GHashTable *roots, int database, int root, QdAccessKind kind)
{
    const char *table = database == MAIN_DATABASE ? g_hash_table_lookup(roots, GINT_TO_POINTER(root)) : NULL;

    if (kind == QD_ACCESS_READ && qd_access_has_all(self->access, kind))
        return NULL;
    if (table != NULL && (is_equal(table, SEQUENCE_TABLE) || qd_access_has_table(self->access, kind, table)))
        return NULL;
    return refuse(self, kind == QD_ACCESS_READ ? "read the table '%s'" : "write into the table '%s'",
                  table != NULL ? table : "sqlite_schema");
}

static char *
check_operation(const QdGrants *self, GHashTable *roots, const QdOperation *op)
{
    if (qd_names_have(denied_opcodes, G_N_ELEMENTS(denied_opcodes), op->name))
        return refuse(self, "run such a statement (%s)", op->name);
    if (qd_operation_is(op, "OpenRead") || qd_operation_is(op, "ReopenIdx"))
        return check_tree(self, roots, op->p3, op->p2, QD_ACCESS_READ);
    if (qd_operation_is(op, "OpenWrite"))
        return check_tree(self, roots, op->p3, op->p2, QD_ACCESS_WRITE);
    if (qd_operation_is(op, "Clear"))
        return check_tree(self, roots, op->p2, op->p1, QD_ACCESS_WRITE);
    if (qd_operation_is(op, "VOpen") && self->is_unsure && !qd_access_has_all(self->access, QD_ACCESS_READ))
        return refuse(self, "read virtual tables beside views, USING, NATURAL or FULL JOIN, or a table without a column");
    return NULL;
}

gboolean
qd_grants_check_program(const QdGrants *self, sqlite3 *db, const char *text, GError **error)
{
    QdGrants grants = *self;
    g_autofree char *explain = g_strconcat("EXPLAIN ", text, NULL);
    g_autofree char *reason = NULL;
    g_autoptr(GHashTable) roots = qd_opened_tables_list_roots(db);
    sqlite3_stmt *stmt = NULL;
    QdOperation op;
    int r = roots != NULL ? sqlite3_prepare_v2(db, explain, -1, &stmt, NULL) : SQLITE_ERROR;

    grants.is_unsure = grants.is_unsure || qd_opened_tables_are_hidden(text);
    if (r == SQLITE_OK)
        while (reason == NULL && (r = qd_operation_next(&op, stmt)) == SQLITE_ROW)
            reason = check_operation(&grants, roots, &op);
    if (reason == NULL && r != SQLITE_DONE)
        qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
    (void) sqlite3_finalize(stmt);
    if (reason != NULL)
        qd_error_set(error, QW_ERROR_ACCESS_DENIED, "%s", reason);
    return reason == NULL && r == SQLITE_DONE;
}
