/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records of one tree as rows of a table of the new file.
 *
 * A record has the columns in their order, in a WITHOUT ROWID table those of the primary key first. It has no virtual columns,
 * and is shorter when columns were added after it: then the table's defaults fill in. A column that is the rowid is NULL in it.
 */
#include <string.h>

#include "daemon/recover/salvage-private.h"
#include "daemon/sqlite/sqlite-error.h"

typedef struct Column {
    char *name;        /* (owned) */
    gboolean computed; /* stored, but not to be given */
} Column;

struct QdRowWriter {
    QdSalvage *salvage;
    char *table;
    GArray *columns;        /* of Column, as they stand in a record */
    guint rowid_column;     /* that is the rowid; n columns: none */
    const char *rowid_name; /* (nullable) how the rowid is called, if no column is it */
    gboolean of_rowids;
    guint n_keys;          /* the first columns, which no record lacks */
    GPtrArray *statements; /* sqlite3_stmt or NULL, by number of fields */
    GArray *fields;
    guint64 n_refused;
    gboolean ignores_checks; /* a CHECK constraint could not be computed */
};

static void
column_clear(gpointer data)
{
    g_free(((Column *) data)->name);
}

void
qd_row_writer_free(gpointer data)
{
    QdRowWriter *self = data;

    for (guint i = 0; i < self->statements->len; i++)
        (void) sqlite3_finalize(self->statements->pdata[i]);
    g_ptr_array_unref(self->statements);
    g_array_unref(self->columns);
    g_array_unref(self->fields);
    g_free(self->table);
    g_free(self);
}

/* Steps a query of ours over the schema; @func gets each row. */
static gboolean
foreach_row(QdSalvage *salvage, const char *sql, const char *parameter, void (*func)(QdRowWriter *self, sqlite3_stmt *stmt),
            QdRowWriter *self, GError **error)
{
    sqlite3 *db = qd_connection_get_db(salvage->connection);
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

    (void) sqlite3_bind_text(stmt, 1, parameter, -1, SQLITE_STATIC);
    while (r == SQLITE_OK || r == SQLITE_ROW) {
        r = sqlite3_step(stmt);
        if (r == SQLITE_ROW)
            func(self, stmt);
    }
    (void) sqlite3_finalize(stmt);
    if (r != SQLITE_DONE)
        qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
    return r == SQLITE_DONE;
}

static void
add_column(QdRowWriter *self, sqlite3_stmt *stmt)
{
    Column column = { g_strdup((const char *) sqlite3_column_text(stmt, 0)), sqlite3_column_int(stmt, 1) != 0 };

    g_array_append_val(self->columns, column);
    self->n_keys += sqlite3_column_int(stmt, 2) != 0;
}

static void
note_rowid_column(QdRowWriter *self, sqlite3_stmt *stmt)
{
    const char *name = (const char *) sqlite3_column_text(stmt, 0);

    for (guint i = 0; i < self->columns->len; i++)
        if (g_strcmp0(g_array_index(self->columns, Column, i).name, name) == 0)
            self->rowid_column = i;
}

static void
note_without_rowid(QdRowWriter *self, sqlite3_stmt *stmt)
{
    self->of_rowids = FALSE;
}

gboolean
qd_row_writer_look_for_rowids(QdSalvage *salvage, const char *table, gboolean *ret_has_rowids, GError **error)
{
    QdRowWriter seen = { .of_rowids = TRUE };
    gboolean ok = foreach_row(salvage, "SELECT 1 FROM temp.pragma_table_list(?) WHERE schema='main' AND wr", table,
                              note_without_rowid, &seen, error);

    *ret_has_rowids = seen.of_rowids;
    return ok;
}

static void
choose_rowid_name(QdRowWriter *self)
{
    static const char *const names[] = { "rowid", "_rowid_", "oid" };

    for (guint i = 0; i < G_N_ELEMENTS(names) && self->rowid_name == NULL; i++) {
        gboolean used = FALSE;

        for (guint k = 0; k < self->columns->len; k++)
            used = used || g_ascii_strcasecmp(g_array_index(self->columns, Column, k).name, names[i]) == 0;
        if (!used)
            self->rowid_name = names[i];
    }
}

static gboolean
read_columns(QdRowWriter *self, GError **error)
{
    QdSalvage *salvage = self->salvage;

    if (!qd_row_writer_look_for_rowids(salvage, self->table, &self->of_rowids, error))
        return FALSE;
    if (!self->of_rowids)
        return foreach_row(salvage,
                           "SELECT t.name, t.hidden<>0, x.key FROM temp.pragma_index_list(?1) l, temp.pragma_index_xinfo(l.name) x,"
                           " temp.pragma_table_xinfo(?1) t WHERE l.origin='pk' AND t.cid=x.cid ORDER BY x.seqno",
                           self->table, add_column, self, error);

    if (!foreach_row(salvage, "SELECT name, hidden<>0, 0 FROM temp.pragma_table_xinfo(?) WHERE hidden<>2 ORDER BY cid", self->table,
                     add_column, self, error))
        return FALSE;
    self->rowid_column = self->columns->len;
    if (!foreach_row(salvage,
                     "SELECT name FROM temp.pragma_table_xinfo(?1) WHERE pk=1 AND NOT EXISTS"
                     " (SELECT 1 FROM temp.pragma_index_list(?1) WHERE origin='pk')",
                     self->table, note_rowid_column, self, error))
        return FALSE;
    if (self->rowid_column == self->columns->len)
        choose_rowid_name(self);
    return TRUE;
}

QdRowWriter *
qd_row_writer_new(QdSalvage *salvage, const char *table, GError **error)
{
    QdRowWriter *self = g_new0(QdRowWriter, 1);
    gboolean ok;

    self->salvage = salvage;
    self->table = g_strdup(table);
    self->columns = g_array_new(FALSE, FALSE, sizeof(Column));
    g_array_set_clear_func(self->columns, column_clear);
    self->fields = g_array_new(FALSE, FALSE, sizeof(QdField));
    self->statements = g_ptr_array_new();
    self->of_rowids = TRUE;
    ok = read_columns(self, error);
    if (!self->of_rowids)
        self->rowid_column = self->columns->len;
    if (!ok || self->columns->len == 0) {
        qd_row_writer_free(self);
        return NULL;
    }
    g_ptr_array_set_size(self->statements, (gint) self->columns->len + 1);
    return self;
}

const char *
qd_row_writer_get_table(const QdRowWriter *self)
{
    return self->table;
}

gboolean
qd_row_writer_is_of_rowids(const QdRowWriter *self)
{
    return self->of_rowids;
}

guint
qd_row_writer_get_n_columns(const QdRowWriter *self)
{
    return self->columns->len;
}

guint64
qd_row_writer_get_n_refused(const QdRowWriter *self)
{
    return self->n_refused;
}

static void
append_quoted(GString *out, const char *name)
{
    g_string_append_c(out, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"')
            g_string_append_c(out, '"');
        g_string_append_c(out, *name);
    }
    g_string_append_c(out, '"');
}

/* Parameter i + 1 is the record's field i; the one after all columns is the rowid. */
static sqlite3_stmt *
get_statement(QdRowWriter *self, guint n_fields, GError **error)
{
    sqlite3 *db = qd_connection_get_db(self->salvage->connection);
    g_autoptr(GString) names = g_string_new("INSERT OR IGNORE INTO ");
    g_autoptr(GString) values = g_string_new(") VALUES(");
    sqlite3_stmt *stmt = self->statements->pdata[n_fields];
    const char *comma = "";
    int r;

    if (stmt != NULL)
        return stmt;

    append_quoted(names, self->table);
    g_string_append_c(names, '(');
    for (guint i = 0; i < n_fields; i++) {
        const Column *column = &g_array_index(self->columns, Column, i);

        if (column->computed)
            continue;
        g_string_append(names, comma);
        append_quoted(names, column->name);
        g_string_append_printf(values, "%s?%u", comma, i + 1);
        comma = ", ";
    }
    if (self->rowid_name != NULL) {
        g_string_append_printf(names, "%s%s", comma, self->rowid_name);
        g_string_append_printf(values, "%s?%u", comma, self->columns->len + 1);
    }
    g_string_append_printf(names, "%s)", values->str);
    r = sqlite3_prepare_v2(db, names->str, -1, &stmt, NULL);
    if (r != SQLITE_OK) {
        qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
        return NULL;
    }
    self->statements->pdata[n_fields] = stmt;
    return stmt;
}

gboolean
qd_row_writer_is_usable(QdRowWriter *self, GError **error)
{
    return get_statement(self, self->columns->len, error) != NULL;
}

/* Whether the record can be a row of this table. */
static gboolean
fits(const QdRowWriter *self, const QdTreeRow *row)
{
    guint n;

    g_array_set_size(self->fields, 0);
    if (!qd_record_parse(row->data, row->n_bytes, self->fields))
        return FALSE;
    n = self->fields->len;
    if (n == 0 || n > self->columns->len || n < self->n_keys)
        return FALSE;
    return self->rowid_column == self->columns->len ||
           (n > self->rowid_column && g_array_index(self->fields, QdField, self->rowid_column).type == 0);
}

static void
bind_row(const QdRowWriter *self, sqlite3_stmt *stmt, const QdTreeRow *row)
{
    for (guint i = 0; i < self->fields->len; i++)
        if (!g_array_index(self->columns, Column, i).computed)
            qd_salvage_bind_field(self->salvage, stmt, (int) i + 1, &g_array_index(self->fields, QdField, i));
    if (self->rowid_column < self->columns->len)
        (void) sqlite3_bind_int64(stmt, (int) self->rowid_column + 1, row->rowid);
    else if (self->rowid_name != NULL)
        (void) sqlite3_bind_int64(stmt, (int) self->columns->len + 1, row->rowid);
}

/* SQLite recompiles @self's statements when this has changed. */
static gboolean
set_checks(QdRowWriter *self, GError **error)
{
    if (self->salvage->checks_ignored == self->ignores_checks)
        return TRUE;
    self->salvage->checks_ignored = self->ignores_checks;
    return qd_connection_execute(self->salvage->connection,
                                 self->ignores_checks ? "PRAGMA ignore_check_constraints=1" : "PRAGMA ignore_check_constraints=0",
                                 error);
}

static int
execute(sqlite3_stmt *stmt)
{
    int r = sqlite3_step(stmt);

    (void) sqlite3_reset(stmt);
    return r;
}

/* What a function says that a definition calls. */
static gboolean
is_failed_call(int r)
{
    return r == SQLITE_ERROR || r == SQLITE_RANGE || r == SQLITE_TOOBIG || (r & 0xff) == SQLITE_CORRUPT;
}

static gboolean
is_refused(sqlite3 *db, int r)
{
    return r == SQLITE_DONE ? sqlite3_changes(db) == 0
                            : (r & 0xff) == SQLITE_CONSTRAINT || (r & 0xff) == SQLITE_MISMATCH || is_failed_call(r);
}

/* The row did not get in since a call failed: the rest of the table gets in without that. */
static gboolean
give_up_checks(QdRowWriter *self, GError **error)
{
    qd_salvage_report_note(self->salvage->report,
                           "table '%s': its CHECK constraints cannot be computed for all rows, which are kept without that: %s",
                           self->table, sqlite3_errmsg(qd_connection_get_db(self->salvage->connection)));
    self->ignores_checks = TRUE;
    return set_checks(self, error);
}

gboolean
qd_row_writer_put(const QdTreeRow *row, gboolean *ret_good, gpointer data, GError **error)
{
    QdRowWriter *self = data;
    sqlite3 *db = qd_connection_get_db(self->salvage->connection);
    sqlite3_stmt *stmt;
    int r;

    if (qd_salvage_is_cancelled(self->salvage, error))
        return FALSE;
    *ret_good = fits(self, row);
    if (!*ret_good)
        return TRUE;
    stmt = get_statement(self, self->fields->len, error);
    if (stmt == NULL || !set_checks(self, error))
        return FALSE;

    bind_row(self, stmt, row);
    r = execute(stmt);
    if (is_failed_call(r) && !self->ignores_checks) {
        if (!give_up_checks(self, error))
            return FALSE;
        r = execute(stmt);
    }
    (void) sqlite3_clear_bindings(stmt);
    if (is_refused(db, r)) {
        self->n_refused++;
        *ret_good = FALSE;
    } else if (r != SQLITE_DONE) {
        qd_sqlite_set_error(error, db, r, NULL, 0, self->salvage->options->limits);
        return FALSE;
    }
    return TRUE;
}
