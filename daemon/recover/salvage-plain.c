/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables whose definition cannot be made: it calls a function, or names a collation, that is not ours. Such a table is made without
 * CHECK constraints, and generated columns that are stored become ordinary ones, so that its rows can be kept. Columns that are
 * computed where they are read have no values to keep; SQLite does not tell their expressions. Where the definition cannot even be
 * read, the table has as many columns as its rows.
 *
 * What the columns are says SQLite, which takes a definition from a schema as it stands: functions are looked up by statements
 * only.
 */

#include "daemon/base/error.h"
#include "daemon/recover/salvage-private.h"

#define MODEL_ROW "UPDATE sqlite_schema SET name=%Q, tbl_name=%Q, sql=%Q"

/* (transfer full) (nullable): a database with the definition alone */
static sqlite3 *
open_model(const QdSalvageEntry *entry)
{
    char *row = sqlite3_mprintf("CREATE TABLE t(x); PRAGMA writable_schema=ON; " MODEL_ROW "; PRAGMA writable_schema=RESET",
                                entry->name, entry->name, entry->sql);
    sqlite3 *db = NULL;
    gboolean ok = sqlite3_open(":memory:", &db) == SQLITE_OK && row != NULL && sqlite3_exec(db, row, NULL, NULL, NULL) == SQLITE_OK;

    sqlite3_free(row);
    if (ok)
        return db;
    (void) sqlite3_close(db);
    return NULL;
}

static gboolean
is_known_collation(const char *name)
{
    static const char *const known[] = { "BINARY", "NOCASE", "RTRIM" };

    for (guint i = 0; i < G_N_ELEMENTS(known) && name != NULL; i++)
        if (g_ascii_strcasecmp(name, known[i]) == 0)
            return TRUE;
    return FALSE;
}

/* AUTOINCREMENT can only be said with the column. */
static gboolean
append_autoincrement(GString *out, sqlite3 *model, const char *table, const char *column)
{
    int is_so = 0;

    (void) sqlite3_table_column_metadata(model, NULL, table, column, NULL, NULL, NULL, NULL, &is_so);
    if (is_so != 0)
        g_string_append(out, " PRIMARY KEY AUTOINCREMENT");
    return is_so != 0;
}

/*
 * SQLite keeps the text of a default without its parentheses. They are put back, but for a name: that is a string there, and no
 * constant within parentheses. A comment at the end of the text is ended by a new line.
 */
static void
append_default(GString *out, sqlite3 *model, const char *text)
{
    static const char *const ways[][2] = { { "(", ")" }, { "", "" }, { "(", "\n)" } };

    for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
        g_autofree char *clause = g_strconcat(" DEFAULT ", ways[i][0], text, ways[i][1], NULL);
        g_autofree char *trial = g_strconcat("CREATE TEMP TABLE x(x", clause, ")", NULL);
        sqlite3_stmt *stmt = NULL;
        int r = sqlite3_prepare_v2(model, trial, -1, &stmt, NULL);

        (void) sqlite3_finalize(stmt);
        if (r == SQLITE_OK) {
            g_string_append(out, clause);
            return;
        }
    }
}

/* @stmt: name, type, whether it is generated, whether it must not be NULL, default (nullable) */
static void
append_column(GString *out, sqlite3 *model, const char *table, sqlite3_stmt *stmt, gboolean *ret_counts)
{
    const char *name = (const char *) sqlite3_column_text(stmt, 0);
    const char *default_value = (const char *) sqlite3_column_text(stmt, 4);
    const char *collation = NULL;
    char *quoted = sqlite3_mprintf("\"%w\" %s", name, sqlite3_column_text(stmt, 1));

    g_string_append_printf(out, "%s%s", out->len > 0 ? ", " : "", quoted);
    sqlite3_free(quoted);
    (void) sqlite3_table_column_metadata(model, NULL, table, name, NULL, &collation, NULL, NULL, NULL);
    if (is_known_collation(collation))
        g_string_append_printf(out, " COLLATE %s", collation);
    if (sqlite3_column_int(stmt, 2) != 0)
        return;
    if (append_autoincrement(out, model, table, name))
        *ret_counts = TRUE;
    if (sqlite3_column_int(stmt, 3) != 0)
        g_string_append(out, " NOT NULL");
    if (default_value != NULL)
        append_default(out, model, default_value);
}

/* @ret_counts: the key is among them, with AUTOINCREMENT */
static gboolean
append_columns(GString *out, sqlite3 *model, const char *table, gboolean *ret_counts)
{
    sqlite3_stmt *stmt = NULL;

    (void) sqlite3_prepare_v2(model,
                              "SELECT name, type, hidden<>0, \"notnull\", dflt_value FROM temp.pragma_table_xinfo(?)"
                              " WHERE hidden<>2 ORDER BY cid",
                              -1, &stmt, NULL);
    (void) sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        append_column(out, model, table, stmt, ret_counts);
    (void) sqlite3_finalize(stmt);
    return out->len > 0;
}

/* What @sql, of one parameter, gives for @table: one text in each row. */
static void
append_texts(GString *out, sqlite3 *model, const char *table, const char *sql)
{
    sqlite3_stmt *stmt = NULL;

    (void) sqlite3_prepare_v2(model, sql, -1, &stmt, NULL);
    (void) sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        if (sqlite3_column_type(stmt, 0) != SQLITE_NULL)
            g_string_append(out, (const char *) sqlite3_column_text(stmt, 0));
    (void) sqlite3_finalize(stmt);
}

/* A key of one INTEGER column that is not the rowid (INTEGER PRIMARY KEY DESC) would become it. */
static const char primary_key[] =
    "SELECT CASE WHEN count(*)=1 AND upper(max(type))='INTEGER' AND"
    " EXISTS(SELECT 1 FROM temp.pragma_index_list(?1) WHERE origin='pk') AND NOT (SELECT wr FROM temp.pragma_table_list(?1))"
    " THEN ', UNIQUE(' ELSE ', PRIMARY KEY(' END || group_concat(printf('\"%w\"', name), ', ') || ')'"
    " FROM (SELECT name, type FROM temp.pragma_table_xinfo(?1) WHERE pk>0 ORDER BY pk)";
static const char unique_keys[] =
    "SELECT ', UNIQUE(' || (SELECT group_concat(printf('\"%w\" COLLATE %s', name,"
    " CASE WHEN upper(coll) IN ('NOCASE', 'RTRIM') THEN coll ELSE 'BINARY' END), ', ')"
    " FROM temp.pragma_index_xinfo(l.name) WHERE key) || ')'"
    " FROM temp.pragma_index_list(?1) l WHERE origin='u' AND NOT EXISTS(SELECT 1 FROM temp.pragma_index_info(l.name) i,"
    " temp.pragma_table_xinfo(?1) c WHERE c.cid=i.cid AND c.hidden=2)";
static const char foreign_keys[] =
    "SELECT ', FOREIGN KEY(' || group_concat(printf('\"%w\"', \"from\"), ', ') || printf(') REFERENCES \"%w\"', \"table\")"
    " || coalesce('(' || group_concat(printf('\"%w\"', nullif(\"to\", '')), ', ') || ')', '')"
    " || ' ON UPDATE ' || on_update || ' ON DELETE ' || on_delete FROM temp.pragma_foreign_key_list(?1) GROUP BY id"
    " HAVING NOT max(\"from\" IN (SELECT name FROM temp.pragma_table_xinfo(?1) WHERE hidden=2))";
static const char options[] = "SELECT CASE WHEN wr THEN ' WITHOUT ROWID' || CASE WHEN strict THEN ', STRICT' ELSE '' END"
                              " WHEN strict THEN ' STRICT' END FROM temp.pragma_table_list(?1)";

static void
note_computed_columns(QdSalvage *self, sqlite3 *model, const char *table)
{
    sqlite3_stmt *stmt = NULL;

    (void) sqlite3_prepare_v2(model, "SELECT name FROM temp.pragma_table_xinfo(?) WHERE hidden=2 ORDER BY cid", -1, &stmt, NULL);
    (void) sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        qd_salvage_report_note(self->report, "column '%s' of table '%s', computed where it is read, is lost",
                               (const char *) sqlite3_column_text(stmt, 0), table);
        self->report->n_left_out++;
    }
    (void) sqlite3_finalize(stmt);
}

/* (transfer full) (nullable) */
static char *
format(QdSalvage *self, const QdSalvageEntry *entry)
{
    sqlite3 *model = open_model(entry);
    g_autoptr(GString) parts = g_string_new(NULL);
    g_autoptr(GString) end = g_string_new(NULL);
    char *start = sqlite3_mprintf("CREATE TABLE \"%w\"(", entry->name);
    gboolean counts = FALSE;
    char *sql = NULL;

    if (model != NULL && append_columns(parts, model, entry->name, &counts)) {
        if (!counts)
            append_texts(parts, model, entry->name, primary_key);
        append_texts(parts, model, entry->name, unique_keys);
        append_texts(parts, model, entry->name, foreign_keys);
        append_texts(end, model, entry->name, options);
        note_computed_columns(self, model, entry->name);
        sql = g_strconcat(start, parts->str, ")", end->str, NULL);
    }
    sqlite3_free(start);
    (void) sqlite3_close(model);
    return sql;
}

static gboolean
note_width(const QdTreeRow *row, gboolean *ret_good, gpointer data, GError **error)
{
    g_autoptr(GArray) fields = g_array_new(FALSE, FALSE, sizeof(QdField));
    guint *n_columns = data;

    *ret_good = qd_record_parse(row->data, row->n_bytes, fields);
    if (*ret_good)
        *n_columns = MAX(*n_columns, fields->len);
    return TRUE;
}

/* (transfer full) (nullable): of a definition that SQLite cannot read, by its rows; NULL without an error: it has none with rowids
 */
static char *
format_by_rows(QdSalvage *self, const QdSalvageEntry *entry, GError **error)
{
    g_autoptr(QdTreeScan) trial = qd_tree_scan_new(self->file, qd_limits_get(self->options->limits, QD_LIMIT_VALUE_BYTES));
    g_autoptr(GString) columns = g_string_new(NULL);
    char *start = sqlite3_mprintf("CREATE TABLE \"%w\"(", entry->name);
    QdTreeResult result;
    guint n_columns = 0;
    char *sql = NULL;

    qd_tree_result_init(&result);
    if (qd_tree_scan_run(trial, entry->root, TRUE, &result, note_width, &n_columns, error) && n_columns > 0) {
        for (guint i = 1; i <= n_columns; i++)
            g_string_append_printf(columns, "%sc%u", i > 1 ? ", " : "", i);
        sql = g_strconcat(start, columns->str, ")", NULL);
        qd_salvage_report_note(self->report, "the columns of table '%s' are not known, they are c1 to c%u", entry->name, n_columns);
    }
    qd_tree_result_clear(&result);
    sqlite3_free(start);
    return sql;
}

gboolean
qd_salvage_make_plain(QdSalvage *self, const QdSalvageEntry *entry, GError **error)
{
    g_autofree char *known = format(self, entry);
    g_autofree char *found = known == NULL ? format_by_rows(self, entry, error) : NULL;
    const char *sql = known != NULL ? known : found;
    char *drop = sqlite3_mprintf("DROP TABLE IF EXISTS \"%w\"", entry->name);
    gboolean ok = sql != NULL && qd_connection_execute(self->connection, drop, error);

    sqlite3_free(drop);
    if (sql == NULL && *error == NULL)
        qd_error_set(error, QW_ERROR_CORRUPT, "its definition cannot be read");
    return ok && qd_connection_execute(self->connection, sql, error);
}
