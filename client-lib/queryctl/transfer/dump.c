/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The schema is read first. From it comes one statement for the rows of all tables: a UNION ALL, which begins with the schema
 * again. When that is not what was read before, the dump begins again.
 */
#include "client-lib/queryctl/transfer/dump.h"

#include <string.h>

#include "client-lib/queryctl/transfer/dump-private.h"

#define SCHEMA_COLUMNS 5u
#define MAX_TRIES 5u
#define MAX_ARMS 400u /* of a UNION; SQLite compiles 500 */

static const char *
get_text(QueryCursor *cursor, guint column)
{
    const char *text = query_cursor_get_string(cursor, column, NULL);

    return text != NULL ? text : "";
}

/* @cursor: at its first row of the schema */
static QctlDumpObject *
object_new(QueryCursor *cursor)
{
    QctlDumpObject *self = g_new0(QctlDumpObject, 1);

    self->type = g_strdup(get_text(cursor, 0));
    self->name = g_strdup(get_text(cursor, 1));
    self->sql = g_strdup(get_text(cursor, 2));
    self->columns = g_ptr_array_new_with_free_func(g_free);
    self->virtual = qctl_virtual_new(self->sql);
    self->is_sequence = g_str_equal(self->name, "sqlite_sequence");
    return self;
}

static void
object_free(gpointer data)
{
    QctlDumpObject *self = data;

    g_free(self->type);
    g_free(self->name);
    g_free(self->sql);
    g_ptr_array_unref(self->columns);
    qctl_virtual_free(self->virtual);
    g_free(self);
}

/* (transfer full) (nullable): NULL with @error set */
static QueryCursor *
query(QctlDump *self, const char *text, GError **error)
{
    QueryConnection *connection = qctl_session_connect(self->session, error);
    QueryTransaction *transaction = qctl_session_get_transaction(self->session);
    GCancellable *cancellable = qctl_session_get_cancellable(self->session);

    if (connection == NULL)
        return NULL;
    if (transaction != NULL)
        return query_transaction_query(transaction, QUERY_LANGUAGE_SQL, text, NULL, cancellable, error);
    return query_connection_query(connection, QUERY_LANGUAGE_SQL, text, NULL, cancellable, error);
}

/* The schema ---------------------------------------------------------------------------------------------------------- */

/*
 * Two queries read it. Columns are those of tables with pages: of a view, or of a virtual table, SQLite cannot always say them.
 */
static void
put_schema_query(GString *out, const QctlDump *self)
{
    g_string_append(out, "SELECT m.type, m.name, m.sql, p.name, p.hidden FROM sqlite_schema AS m "
                         "LEFT JOIN pragma_table_xinfo(iif(m.type='table' AND m.rootpage>0, m.name, NULL)) AS p "
                         "WHERE m.name='sqlite_sequence' OR (m.sql IS NOT NULL AND m.tbl_name NOT GLOB 'queryd_*' "
                         "AND m.tbl_name NOT GLOB 'sqlite_*'");
    if (self->pattern != NULL) {
        g_string_append(out, " AND m.type<>'view' AND m.tbl_name GLOB ");
        qctl_dump_put_quoted(out, self->pattern, strlen(self->pattern), '\'');
    }
    g_string_append_c(out, ')');
}

static void
add_column(QctlDumpObject *self, const char *name, gint64 hidden)
{
    if (hidden == 0)
        g_ptr_array_add(self->columns, g_strdup(name));
    else
        self->has_others = true;
}

static void
put_fingerprint(GString *out, QueryCursor *cursor, guint first)
{
    for (guint i = 0; i < SCHEMA_COLUMNS; i++) {
        const char *text = get_text(cursor, first + i);

        qctl_dump_put_quoted(out, text, strlen(text), '\'');
    }
}

static bool
read_schema(QctlDump *self, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(QueryCursor) cursor = NULL;
    QctlDumpObject *object = NULL;
    GError *failure = NULL;

    put_schema_query(text, self);
    cursor = query(self, text->str, error);
    while (cursor != NULL && query_cursor_next(cursor, qctl_session_get_cancellable(self->session), &failure)) {
        if (object == NULL || !g_str_equal(object->name, get_text(cursor, 1)) || !g_str_equal(object->type, get_text(cursor, 0))) {
            object = object_new(cursor);
            g_ptr_array_add(self->objects, object);
        }
        if (query_cursor_get_string(cursor, 3, NULL) != NULL)
            add_column(object, get_text(cursor, 3), query_cursor_get_int64(cursor, 4));
        put_fingerprint(self->fingerprint, cursor, 0);
    }
    if (failure != NULL)
        g_propagate_error(error, failure);
    return cursor != NULL && failure == NULL;
}

static bool
is_table(const QctlDumpObject *self)
{
    return g_str_equal(self->type, "table");
}

static bool
is_left_out(const QctlDump *self, const QctlDumpObject *object)
{
    return g_hash_table_contains(self->left_out, object->name);
}

static void
mark_shadows(const QctlDump *self, const QctlDumpObject *owner)
{
    for (guint i = 0; i < self->objects->len; i++) {
        QctlDumpObject *object = self->objects->pdata[i];

        object->is_shadow = object->is_shadow || (is_table(object) && qctl_virtual_owns(owner->virtual, owner->name, object->name));
    }
}

/* Those whose rows are read, of one kind. */
static void
add_tables(QctlDump *self, bool are_virtual)
{
    for (guint i = 0; i < self->objects->len; i++) {
        QctlDumpObject *object = self->objects->pdata[i];

        if (is_table(object) && !object->is_shadow && (object->virtual != NULL) == are_virtual && !is_left_out(self, object))
            g_ptr_array_add(self->tables, object);
    }
}

static bool
find_tables(QctlDump *self, GError **error)
{
    bool is_found = self->pattern == NULL;
    guint n_settings = 0;

    for (guint i = 0; i < self->objects->len; i++) {
        QctlDumpObject *object = self->objects->pdata[i];

        is_found = is_found || !object->is_sequence;
        if (object->virtual == NULL || is_left_out(self, object))
            continue;
        mark_shadows(self, object);
        n_settings += qctl_virtual_get_settings(object->virtual) != NULL ? 1 : 0;
    }
    add_tables(self, false);
    add_tables(self, true);
    if (!is_found)
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "no table has a name like '%s'", self->pattern);
    else if (self->tables->len + n_settings > MAX_ARMS)
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG, "there are %u tables, a dump has at most %u: give a pattern",
                    self->tables->len + n_settings, MAX_ARMS);
    else
        return true;
    return false;
}

/* Virtual tables ------------------------------------------------------------------------------------------------------- */

static bool
has_own_rows(const QctlDumpObject *table)
{
    return table->virtual == NULL || qctl_virtual_get_rows(table->virtual) == QCTL_VIRTUAL_ROWS_OWN;
}

static void
put_columns(GString *out, const QctlDumpObject *table)
{
    for (guint i = 0; i < table->columns->len; i++) {
        g_string_append_c(out, ',');
        qctl_dump_put_name(out, table->columns->pdata[i]);
    }
}

/*
 * (transfer full) (nullable): NULL with @error set: why no statement can read @table, such as a key by the collation of another
 * program. Of a virtual table a row is tried, since another table may be asked for it.
 */
static QueryCursor *
open_table(QctlDump *self, const QctlDumpObject *table, GError **error)
{
    bool is_row_tried = table->virtual != NULL && (has_own_rows(table) || qctl_virtual_get_content(table->virtual) != NULL);
    g_autoptr(GString) text = g_string_new(table->virtual != NULL ? "SELECT *" : "SELECT 0");
    g_autoptr(QueryCursor) cursor = NULL;
    GError *failure = NULL;

    if (table->virtual == NULL)
        put_columns(text, table);
    g_string_append(text, " FROM ");
    qctl_dump_put_name(text, table->name);
    g_string_append_printf(text, " LIMIT %d", is_row_tried ? 1 : 0);
    cursor = query(self, text->str, error);
    if (cursor == NULL)
        return NULL;
    (void) query_cursor_next(cursor, qctl_session_get_cancellable(self->session), &failure);
    if (failure == NULL)
        return g_steal_pointer(&cursor);
    g_propagate_error(error, failure);
    return NULL;
}

static bool
has_content(const QctlDump *self, const char *name)
{
    for (guint i = 0; i < self->objects->len; i++) {
        const QctlDumpObject *object = self->objects->pdata[i];

        if ((is_table(object) || g_str_equal(object->type, "view")) && g_ascii_strcasecmp(object->name, name) == 0)
            return !is_left_out(self, object);
    }
    return false;
}

/* An index without its texts has lost nothing while it is empty. */
static bool
find_lost(QctlDump *self, QctlDumpObject *table, GError **error)
{
    const char *content = qctl_virtual_get_content(table->virtual);
    g_autofree char *name = g_strconcat(table->name, qctl_virtual_get_index(table->virtual), NULL);
    g_autoptr(GString) text = g_string_new("SELECT 1 FROM ");
    g_autoptr(QueryCursor) cursor = NULL;
    GError *failure = NULL;

    if (content != NULL)
        table->is_lost = !has_content(self, content);
    if (qctl_virtual_get_rows(table->virtual) != QCTL_VIRTUAL_ROWS_LOST)
        return true;
    qctl_dump_put_name(text, name);
    g_string_append(text, " LIMIT 1");
    cursor = query(self, text->str, error);
    if (cursor == NULL)
        return false;
    table->is_lost = query_cursor_next(cursor, qctl_session_get_cancellable(self->session), &failure);
    if (failure != NULL)
        g_propagate_error(error, failure);
    return failure == NULL;
}

/* (transfer full) (nullable): a name of the row's number that no column has */
static char *
find_rowid(QueryCursor *cursor)
{
    static const char *const names[] = { "rowid", "_rowid_", "oid" };

    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        bool is_free = true;

        for (guint k = 0; k < query_cursor_get_n_columns(cursor); k++)
            is_free = is_free && g_ascii_strcasecmp(query_cursor_get_column_name(cursor, k), names[i]) != 0;
        if (is_free)
            return g_strdup(names[i]);
    }
    return NULL;
}

/* Its columns are asked of itself, one by one: SQLite fails for the one whose module or tokenizer is not there. */
static bool
read_virtual_table(QctlDump *self, QctlDumpObject *table, GError **error)
{
    g_autoptr(GError) failure = NULL;
    g_autoptr(QueryCursor) cursor = open_table(self, table, &failure);
    char *rowid = NULL;

    if (failure != NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return false;
    }
    rowid = qctl_virtual_has_rowid(table->virtual) ? find_rowid(cursor) : NULL;
    if (rowid != NULL)
        g_ptr_array_add(table->columns, rowid);
    for (guint i = 0; i < query_cursor_get_n_columns(cursor); i++)
        add_column(table, query_cursor_get_column_name(cursor, i), 0);
    if (qctl_virtual_get_hidden(table->virtual) != NULL)
        add_column(table, qctl_virtual_get_hidden(table->virtual), 0);
    table->has_others = true;
    return find_lost(self, table, error);
}

static bool
read_virtual_tables(QctlDump *self, GError **error)
{
    for (guint i = 0; i < self->tables->len; i++) {
        QctlDumpObject *table = self->tables->pdata[i];

        if (table->virtual != NULL && !read_virtual_table(self, table, error))
            return false;
    }
    return true;
}

/* The statement ------------------------------------------------------------------------------------------------------- */

static void
put_padding(GString *out, guint n)
{
    for (guint i = 0; i < n; i++)
        g_string_append(out, ",NULL");
}

static void
put_table_arms(GString *out, const QctlDump *self, const QctlDumpObject *table, guint arm)
{
    const char *settings = table->virtual != NULL ? qctl_virtual_get_settings(table->virtual) : NULL;

    if (settings != NULL) {
        g_autofree char *name = g_strconcat(table->name, settings, NULL);

        g_string_append_printf(out, " UNION ALL SELECT %u, k, v", arm + 1);
        put_padding(out, self->n_columns - 2);
        g_string_append(out, " FROM ");
        qctl_dump_put_name(out, name);
        g_string_append(out, " WHERE k<>'version'"); /* SQLite's own, of the format */
    }
    if (!has_own_rows(table))
        return;
    g_string_append_printf(out, " UNION ALL SELECT %u", arm);
    put_columns(out, table);
    put_padding(out, self->n_columns - table->columns->len);
    g_string_append(out, " FROM ");
    qctl_dump_put_name(out, table->name);
}

static char *
create_rows_query(QctlDump *self)
{
    GString *out = g_string_new(NULL);

    self->n_columns = SCHEMA_COLUMNS;
    for (guint i = 0; i < self->tables->len; i++)
        self->n_columns = MAX(self->n_columns, ((const QctlDumpObject *) self->tables->pdata[i])->columns->len);
    g_string_append_printf(out, "SELECT %d, *", QCTL_DUMP_ARM_SCHEMA);
    put_padding(out, self->n_columns - SCHEMA_COLUMNS);
    g_string_append(out, " FROM (");
    put_schema_query(out, self);
    g_string_append(out, ")");
    if (self->pattern == NULL) {
        g_string_append_printf(out, " UNION ALL SELECT %d, user_version, application_id", QCTL_DUMP_ARM_VERSION);
        put_padding(out, self->n_columns - 2);
        g_string_append(out, " FROM pragma_user_version, pragma_application_id");
    }
    for (guint i = 0; i < self->tables->len; i++)
        put_table_arms(out, self, self->tables->pdata[i], QCTL_DUMP_ARM_TABLES + 2 * i);
    return g_string_free(out, FALSE);
}

/* @ret_fits: (out): false: nothing was written, since the schema has changed after it was read */
static bool
write_rows(const QctlDump *self, QueryCursor *cursor, bool *ret_fits, GError **error)
{
    GCancellable *cancellable = qctl_session_get_cancellable(self->session);
    g_autoptr(GString) fingerprint = g_string_new(NULL);
    GError *failure = NULL;
    bool is_more = query_cursor_next(cursor, cancellable, &failure);

    for (; is_more && query_cursor_get_int64(cursor, 0) == QCTL_DUMP_ARM_SCHEMA;
         is_more = query_cursor_next(cursor, cancellable, &failure))
        put_fingerprint(fingerprint, cursor, 1);
    *ret_fits = failure == NULL && g_string_equal(fingerprint, self->fingerprint);
    if (*ret_fits)
        qctl_dump_put_start(self);
    for (; *ret_fits && is_more; is_more = query_cursor_next(cursor, cancellable, &failure))
        if (!qctl_dump_write_row(self, query_cursor_get_int64(cursor, 0), cursor, error))
            return false;
    if (failure != NULL) {
        g_propagate_error(error, failure);
        return false;
    }
    if (*ret_fits)
        qctl_dump_put_end(self);
    return true;
}

/* What is left out ---------------------------------------------------------------------------------------------------- */

/* Returns: whether there are such tables among those that are to be read; each has been reported */
static bool
leave_out_tables(QctlDump *self)
{
    guint n_before = g_hash_table_size(self->left_out);

    for (guint i = 0; i < self->tables->len; i++) {
        const QctlDumpObject *table = self->tables->pdata[i];
        g_autofree char *what = g_strdup_printf(
            table->virtual != NULL ? "table '%s' is left out" : "the rows of table '%s' are left out", table->name);
        g_autoptr(GError) failure = NULL;
        g_autoptr(QueryCursor) cursor = open_table(self, table, &failure);

        if (!g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_SYNTAX))
            continue;
        (void) qctl_session_report(self->session, g_steal_pointer(&failure), what);
        g_hash_table_add(self->left_out, g_strdup(table->name));
    }
    return g_hash_table_size(self->left_out) > n_before;
}

/* The rows could not be read. Returns: whether another try can: the schema may have changed, or tables are left out from now on */
static bool
can_try_again(QctlDump *self, const GError *failure)
{
    if (!g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_SYNTAX))
        return false;
    if (g_string_equal(self->fingerprint, self->failed))
        return leave_out_tables(self);
    g_string_assign(self->failed, self->fingerprint->str);
    return true;
}

/* One try. Without an error, and with false in @ret_fits, another one follows. */
static bool
dump(const QctlDump *whole, bool *ret_fits, GError **error)
{
    g_autoptr(GPtrArray) objects = g_ptr_array_new_with_free_func(object_free);
    g_autoptr(GPtrArray) tables = g_ptr_array_new();
    g_autoptr(GString) fingerprint = g_string_new(NULL);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autofree char *text = NULL;
    g_autoptr(GError) failure = NULL;
    QctlDumpInsert insert = { 0 };
    QctlDump self = *whole;

    self.objects = objects;
    self.tables = tables;
    self.insert = &insert;
    self.fingerprint = fingerprint;
    if (!read_schema(&self, error) || !find_tables(&self, error))
        return false;
    if (read_virtual_tables(&self, &failure)) {
        text = create_rows_query(&self);
        cursor = query(&self, text, &failure);
    }
    if ((cursor != NULL && write_rows(&self, cursor, ret_fits, &failure)) || (!*ret_fits && can_try_again(&self, failure)))
        return true;
    g_propagate_error(error, g_steal_pointer(&failure));
    return false;
}

static bool
dump_whole(QctlSession *session, QctlSink *sink, const char *pattern, bool *ret_is_whole, GError **error)
{
    g_autoptr(GHashTable) left_out = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GString) failed = g_string_new(NULL);
    bool is_whole = true;
    const QctlDump self = {
        .session = session,
        .sink = sink,
        .pattern = pattern,
        .left_out = left_out,
        .failed = failed,
        .is_whole = &is_whole,
    };
    bool fits = false;

    for (guint i = 0; !fits && i < MAX_TRIES; i++)
        if (!dump(&self, &fits, error))
            return false;
    *ret_is_whole = is_whole && g_hash_table_size(left_out) == 0;
    if (!fits)
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BUSY, "the schema has changed during each of %u tries", MAX_TRIES);
    return fits && qctl_sink_flush(sink, error);
}

/* All rows, for as long as it takes, unless the command line bounds it. */
bool
qctl_dump(QctlSession *session, QctlSink *sink, const char *pattern, bool *ret_is_whole, GError **error)
{
    QueryConnection *connection = qctl_session_connect(session, error);
    guint timeout_msec = 0;
    guint64 max_rows = 0;
    bool ok = false;

    if (connection == NULL)
        return false;
    timeout_msec = query_connection_get_timeout_msec(connection);
    max_rows = query_connection_get_max_rows(connection);
    if (timeout_msec == 0)
        query_connection_set_timeout_msec(connection, QUERY_TIMEOUT_NONE);
    query_connection_set_max_rows(connection, 0);
    ok = dump_whole(session, sink, pattern, ret_is_whole, error);
    query_connection_set_timeout_msec(connection, timeout_msec);
    query_connection_set_max_rows(connection, max_rows);
    return ok;
}
