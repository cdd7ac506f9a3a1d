/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Within triggers SQLite saves and restores its number of changes, so only SQLite itself can report it. Before a statement that
 * asks for it, it is set to the session's number by deleting as many rows of a table that has none.
 */
#include "daemon/read/counting.h"

#include "daemon/read/session-counts.h"
#include "daemon/sqlite/connection.h"
#include "daemon/sqlite/sqlite-error.h"
#include "daemon/sqlite/virtual-table.h"

#define MODULE "queryd_count"

typedef struct Counting {
    sqlite3 *db;
    gboolean is_live; /* an update is being run, the numbers are SQLite's; else they are these: */
    QdCounts counters;
    gint64 total_before;
    gint64 n_rows;       /* of the table */
    sqlite3_stmt *count; /* from the first use on */
} Counting;

/* The table --------------------------------------------------------------------------------------------------------------- */

static int
connect_table(sqlite3 *db, void *data, int argc, const char *const *argv, sqlite3_vtab **ret_table, char **ret_error)
{
    return qd_virtual_table_connect(db, "CREATE TABLE x(a)", data, ret_table);
}

static int
begin_scan(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc, sqlite3_value **argv)
{
    ((QdVirtualCursor *) cursor)->row = 0;
    return SQLITE_OK;
}

static int
go_on(sqlite3_vtab_cursor *cursor)
{
    ((QdVirtualCursor *) cursor)->row++;
    return SQLITE_OK;
}

static int
is_at_end(sqlite3_vtab_cursor *cursor)
{
    const Counting *counting = qd_virtual_cursor_get_data(cursor);

    return ((QdVirtualCursor *) cursor)->row >= counting->n_rows;
}

static int
get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    return SQLITE_OK;
}

static int
update_row(sqlite3_vtab *table, int argc, sqlite3_value **argv, sqlite3_int64 *ret_rowid)
{
    return SQLITE_OK;
}

/* Without xCreate it is there by its name, and cannot be made by others. */
static const sqlite3_module count_module = {
    .xConnect = connect_table,
    .xDisconnect = qd_virtual_table_disconnect,
    .xBestIndex = qd_virtual_table_plan,
    .xOpen = qd_virtual_cursor_open,
    .xClose = qd_virtual_cursor_close,
    .xFilter = begin_scan,
    .xNext = go_on,
    .xEof = is_at_end,
    .xColumn = get_column,
    .xRowid = qd_virtual_cursor_get_rowid,
    .xUpdate = update_row,
};

/* The functions ----------------------------------------------------------------------------------------------------------- */

static void
call_changes(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const Counting *self = sqlite3_user_data(context);

    sqlite3_result_int64(context, self->is_live ? sqlite3_changes64(self->db) : self->counters.changes);
}

static void
call_total_changes(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const Counting *self = sqlite3_user_data(context);
    gint64 since = self->is_live ? sqlite3_total_changes64(self->db) - self->total_before : 0;

    sqlite3_result_int64(context, self->counters.total_changes + since);
}

static void
call_last_insert_rowid(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const Counting *self = sqlite3_user_data(context);

    sqlite3_result_int64(context, self->is_live ? sqlite3_last_insert_rowid(self->db) : self->counters.last_insert_rowid);
}

static void
counting_free(gpointer data)
{
    Counting *self = data;

    (void) sqlite3_finalize(self->count);
    g_free(self);
}

gboolean
qd_counting_register(QdConnection *connection, GError **error)
{
    static const struct {
        const char *name;
        void (*func)(sqlite3_context *context, int argc, sqlite3_value **argv);
    } functions[] = {
        { "changes", call_changes },
        { "total_changes", call_total_changes },
        { "last_insert_rowid", call_last_insert_rowid },
    };
    Counting *self = g_new0(Counting, 1);
    int r = SQLITE_OK;

    self->db = qd_connection_get_db(connection);
    qd_connection_set_attachment(connection, QD_ATTACHMENT_COUNTING, self, counting_free);
    for (guint i = 0; i < G_N_ELEMENTS(functions) && r == SQLITE_OK; i++)
        r = sqlite3_create_function_v2(self->db, functions[i].name, 0, SQLITE_UTF8 | SQLITE_INNOCUOUS, self, functions[i].func,
                                       NULL, NULL, NULL);
    if (r == SQLITE_OK && sqlite3_db_readonly(self->db, "main") == 0)
        r = sqlite3_create_module_v2(self->db, MODULE, &count_module, self, NULL);
    if (r != SQLITE_OK)
        qd_sqlite_set_call_error(error, self->db, r, "cannot register the functions that count");
    return r == SQLITE_OK;
}

void
qd_counting_show(QdConnection *connection, QdSession *session)
{
    Counting *self = qd_connection_get_attachment(connection, QD_ATTACHMENT_COUNTING);

    if (self == NULL)
        return;
    self->is_live = FALSE;
    self->counters = session != NULL ? qd_session_get_counts(session) : (QdCounts){ 0 };
}

/* SQLite's number of changes becomes that of the session. What the session has changed took longer than this takes. When it fails,
 * the statement that comes next will, too. */
static void
count_again(Counting *self, QdConnection *connection, gint64 n_rows)
{
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);

    self->n_rows = n_rows;
    if (self->count == NULL)
        (void) sqlite3_prepare_v3(self->db, "DELETE FROM " MODULE, -1, SQLITE_PREPARE_PERSISTENT, &self->count, NULL);
    if (self->count != NULL) {
        (void) sqlite3_step(self->count);
        (void) sqlite3_reset(self->count);
    }
    self->n_rows = 0;
    (void) qd_connection_set_policy(connection, policy);
}

/* DROP TABLE of a table with deferred foreign keys deletes its rows first, and counts them; other definitions leave the count as it
 * is. SQLite shows which it was by the count alone: when it was not 0 before and is 0 afterwards, no row was there to delete. */
static gboolean
may_reset(const QdCounts *counters, const QdCompiled *compiled)
{
    return compiled->effects.defines && counters->changes != 0;
}

void
qd_counting_begin(QdConnection *connection, const QdCounts *counters, const QdCompiled *compiled)
{
    Counting *self = qd_connection_get_attachment(connection, QD_ATTACHMENT_COUNTING);

    self->is_live = TRUE;
    self->counters = *counters;
    if (compiled->effects.calls_changes && sqlite3_changes64(self->db) != counters->changes)
        count_again(self, connection, counters->changes);
    else if (may_reset(counters, compiled) && sqlite3_changes64(self->db) == 0)
        count_again(self, connection, 1);
    sqlite3_set_last_insert_rowid(self->db, counters->last_insert_rowid);
    self->total_before = sqlite3_total_changes64(self->db);
}

void
qd_counting_end(QdConnection *connection, QdCounts *counters, const QdCompiled *compiled)
{
    Counting *self = qd_connection_get_attachment(connection, QD_ATTACHMENT_COUNTING);

    gint64 total = sqlite3_total_changes64(self->db) - self->total_before;

    counters->last_insert_rowid = sqlite3_last_insert_rowid(self->db);
    counters->total_changes += total;
    if (compiled->counts_rows || total > 0) /* CREATE VIRTUAL TABLE has statements of its own, which count, too */
        counters->changes = sqlite3_changes64(self->db);
    else if (may_reset(counters, compiled) && sqlite3_changes64(self->db) == 0)
        counters->changes = 0;
    self->is_live = FALSE;
    self->counters = (QdCounts){ 0 };
}
