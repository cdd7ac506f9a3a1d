/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text of a dump. Rows come between what makes the tables and what is made of their rows: indexes and triggers.
 *
 * A virtual table is written as any other: its definition, then its rows, without the shadow tables. The daemon lets no client
 * write those, nor the schema. They are written, as ordinary tables, when the virtual table itself cannot be read.
 */
#include <string.h>

#include "client-lib/queryctl/cell.h"
#include "client-lib/queryctl/transfer/dump-private.h"
#include "client-lib/text/text-value.h"

/* Of one INSERT, whose text has a limit in the daemon; a row that is longer is alone. */
#define MAX_INSERT_ROWS 250u
#define MAX_INSERT_BYTES 32768u

void
qctl_dump_put_quoted(GString *out, const char *text, gsize n_bytes, char quote)
{
    g_string_append_c(out, quote);
    for (gsize i = 0; i < n_bytes; i++) {
        if (text[i] == quote)
            g_string_append_c(out, quote);
        g_string_append_c(out, text[i]);
    }
    g_string_append_c(out, quote);
}

void
qctl_dump_put_name(GString *out, const char *name)
{
    qctl_dump_put_quoted(out, name, strlen(name), '"');
}

static void
put_literal(GString *out, const QwValue *cell)
{
    bool is_text = cell->type == QW_TYPE_TEXT;

    if (cell->type == QW_TYPE_NULL)
        g_string_append(out, "NULL");
    else if (is_text && g_utf8_validate(cell->data, cell->n_bytes, NULL)) /* a NUL is not valid */
        qctl_dump_put_quoted(out, cell->data, cell->n_bytes, '\'');
    else
        qw_text_put_csv(out, cell); /* numbers, X'…' and CAST(X'…' AS TEXT) are expressions of SQL */
    g_string_truncate(out, out->len);
}

static void
put_comment(GString *out, const char *text)
{
    g_string_append(out, "-- ");
    for (; *text != '\0'; text++) {
        g_string_append_c(out, *text);
        if (*text == '\n')
            g_string_append(out, "-- ");
    }
    g_string_append_c(out, '\n');
}

/* Says so here and there. */
static void
report_lost(const QctlDump *self, GString *out, const QctlDumpObject *table)
{
    const char *content = qctl_virtual_get_content(table->virtual);
    g_autofree char *what = g_strdup_printf("the index of table '%s' is left out", table->name);
    g_autofree char *why = content != NULL ? g_strdup_printf("it is of '%s', which the dump has not", content)
                                           : g_strdup("the texts that it was made from are not kept; a backup has it");
    g_autofree char *both = g_strdup_printf("%s: %s", what, why);

    put_comment(out, both);
    *self->is_whole = false;
    (void) qctl_session_report(self->session, g_error_new_literal(QUERY_ERROR, QUERY_ERROR_UNSUPPORTED, why), what);
}

static void
put_object(const QctlDump *self, const QctlDumpObject *object)
{
    GString *out = qctl_sink_get_buffer(self->sink);

    if (object->is_sequence || object->is_shadow)
        return;
    if (object->virtual != NULL && g_hash_table_contains(self->left_out, object->name)) {
        g_autofree char *text = g_strdup_printf("left out, since it cannot be read: %s;", object->sql);

        put_comment(out, text);
        return;
    }
    g_string_append_printf(out, "%s;\n", object->sql);
    if (object->is_lost)
        report_lost(self, out, object);
}

static void
put_objects(const QctlDump *self, const char *type, bool are_virtual)
{
    for (guint i = 0; i < self->objects->len; i++) {
        const QctlDumpObject *object = self->objects->pdata[i];

        if (g_str_equal(object->type, type) && (object->virtual != NULL) == are_virtual)
            put_object(self, object);
    }
}

/* Views are there before an index of their rows is built, and FTS4 takes its columns from a table or view. */
void
qctl_dump_put_start(const QctlDump *self)
{
    g_string_append(qctl_sink_get_buffer(self->sink), "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n");
    put_objects(self, "table", false);
    put_objects(self, "view", false);
    put_objects(self, "table", true);
}

/* Between the statements of one table, and before any other. */
static void
end_insert(const QctlDump *self, GString *out)
{
    if (self->insert->n_rows > 0)
        g_string_append(out, ";\n");
    self->insert->n_rows = 0;
}

void
qctl_dump_put_end(const QctlDump *self)
{
    GString *out = qctl_sink_get_buffer(self->sink);

    end_insert(self, out);
    for (guint i = 0; i < self->tables->len; i++) {
        const QctlDumpObject *table = self->tables->pdata[i];

        if (table->virtual == NULL || table->is_lost || qctl_virtual_get_content(table->virtual) == NULL)
            continue;
        g_string_append(out, "INSERT INTO ");
        qctl_dump_put_name(out, table->name);
        g_string_append_c(out, '(');
        qctl_dump_put_name(out, table->name);
        g_string_append(out, ") VALUES('rebuild');\n");
    }
    put_objects(self, "index", false);
    put_objects(self, "trigger", false);
    g_string_append(out, "COMMIT;\n");
}

static void
put_version(GString *out, QueryCursor *cursor)
{
    static const char *const names[] = { "user_version", "application_id" };

    for (guint i = 0; i < G_N_ELEMENTS(names); i++)
        if (query_cursor_get_int64(cursor, i + 1) != 0)
            g_string_append_printf(out, "PRAGMA %s=%" G_GINT64_FORMAT ";\n", names[i], query_cursor_get_int64(cursor, i + 1));
}

/* The last ids of the tables that are written. */
static void
put_sequence(const QctlDump *self, GString *out, QueryCursor *cursor)
{
    const char *name = query_cursor_get_string(cursor, 1, NULL);

    for (guint i = 0; i < self->tables->len; i++) {
        if (!g_str_equal(((const QctlDumpObject *) self->tables->pdata[i])->name, name))
            continue;
        g_string_append(out, "DELETE FROM sqlite_sequence WHERE name=");
        qctl_dump_put_quoted(out, name, strlen(name), '\'');
        g_string_append(out, ";\nINSERT INTO sqlite_sequence VALUES(");
        qctl_dump_put_quoted(out, name, strlen(name), '\'');
        g_string_append_printf(out, ",%" G_GINT64_FORMAT ");\n", query_cursor_get_int64(cursor, 2));
    }
}

/* The first @n of the row. */
static void
put_values(GString *out, guint n, QueryCursor *cursor)
{
    g_string_append_c(out, '(');
    for (guint i = 0; i < n; i++) {
        QwValue cell;

        qctl_cell_init(&cell, cursor, i + 1);
        if (i > 0)
            g_string_append_c(out, ',');
        put_literal(out, &cell);
    }
    g_string_append_c(out, ')');
}

/* (transfer full) */
static char *
create_insert(const QctlDumpObject *table)
{
    GString *out = g_string_new("INSERT INTO ");

    qctl_dump_put_name(out, table->name);
    for (guint i = 0; table->has_others && i < table->columns->len; i++) {
        g_string_append_c(out, i == 0 ? '(' : ',');
        qctl_dump_put_name(out, table->columns->pdata[i]);
    }
    if (table->has_others)
        g_string_append_c(out, ')');
    g_string_append(out, " VALUES");
    return g_string_free(out, FALSE);
}

/* A call to the daemon for each row is most of the time that a dump takes to read, and a transaction has 30 s. */
static void
put_row(const QctlDump *self, GString *out, const QctlDumpObject *table, QueryCursor *cursor)
{
    g_autoptr(GString) row = g_string_new(NULL);
    g_autofree char *start = NULL;
    QctlDumpInsert *insert = self->insert;

    put_values(row, table->columns->len, cursor);
    if (insert->n_rows > 0 && insert->table == table && insert->n_rows < MAX_INSERT_ROWS &&
        insert->n_bytes + row->len <= MAX_INSERT_BYTES) {
        g_string_append(out, ",\n");
    } else {
        end_insert(self, out);
        start = create_insert(table);
        g_string_append(out, start);
        insert->table = table;
        insert->n_bytes = 0;
    }
    g_string_append_len(out, row->str, (gssize) row->len);
    insert->n_bytes += row->len;
    insert->n_rows++;
}

/* Of FTS5: a command, whose name is in the column of the table's name. */
static void
put_setting(GString *out, const QctlDumpObject *table, QueryCursor *cursor)
{
    g_string_append(out, "INSERT INTO ");
    qctl_dump_put_name(out, table->name);
    g_string_append_c(out, '(');
    qctl_dump_put_name(out, table->name);
    g_string_append(out, ",rank) VALUES");
    put_values(out, 2, cursor);
    g_string_append(out, ";\n");
}

bool
qctl_dump_write_row(const QctlDump *self, gint64 arm, QueryCursor *cursor, GError **error)
{
    GString *out = qctl_sink_get_buffer(self->sink);
    const QctlDumpObject *table = arm >= QCTL_DUMP_ARM_TABLES ? self->tables->pdata[(arm - QCTL_DUMP_ARM_TABLES) / 2] : NULL;

    if (table != NULL && !table->is_sequence && (arm - QCTL_DUMP_ARM_TABLES) % 2 == 0) {
        put_row(self, out, table, cursor);
        return qctl_sink_end_row(self->sink, error);
    }
    end_insert(self, out);
    if (table == NULL)
        put_version(out, cursor);
    else if (table->is_sequence)
        put_sequence(self, out, cursor);
    else
        put_setting(out, table, cursor);
    return qctl_sink_end_row(self->sink, error);
}
