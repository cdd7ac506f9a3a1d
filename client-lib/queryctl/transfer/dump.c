/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The schema is read first. From it comes one statement for the rows of all tables: a UNION ALL, which begins with the schema
 * again. When that is not what was read before, the dump begins again.
 *
 * A virtual table is put into the schema as it is, since its rows are those of its shadow tables.
 */
#include "client-lib/queryctl/transfer/dump.h"

#include <string.h>

#include "client-lib/queryctl/cell.h"
#include "client-lib/text/text-value.h"

#define SCHEMA_COLUMNS 5u
#define MAX_TRIES 5u
#define MAX_ARMS 400u /* of a UNION; SQLite compiles 500 */

typedef struct Object {
    char *type;
    char *name;
    char *sql;
    GPtrArray *columns; /* of char*: those that are stored, of a table */
    bool has_others;    /* generated columns: an INSERT must name the others */
    bool is_virtual;
    bool is_sequence; /* SQLite's own table of the last ids */
} Object;

/* What a row of the statement is of; tables are the numbers from ARM_TABLES on. */
enum {
    ARM_SCHEMA,
    ARM_VERSION,
    ARM_TABLES,
};

typedef struct Dump {
    QctlSession *session;
    QctlSink *sink;
    const char *pattern;  /* (nullable) */
    GPtrArray *objects;   /* of Object*, in the order of the schema */
    GPtrArray *tables;    /* of Object*, borrowed: those with rows */
    GString *fingerprint; /* of the schema */
    guint n_columns;      /* of the widest table */
    GHashTable *left_out; /* borrowed, as the next one: names of tables that cannot be read */
    GString *failed;      /* fingerprint of a schema whose tables could not all be read */
} Dump;

static const char *
get_text(QueryCursor *cursor, guint column)
{
    const char *text = query_cursor_get_string(cursor, column, NULL);

    return text != NULL ? text : "";
}

/* @cursor: at its first row of the schema */
static Object *
object_new(QueryCursor *cursor)
{
    static const char virtual[] = "CREATE VIRTUAL TABLE"; /* SQLite writes the text so, however it was typed */
    Object *self = g_new0(Object, 1);

    self->type = g_strdup(get_text(cursor, 0));
    self->name = g_strdup(get_text(cursor, 1));
    self->sql = g_strdup(get_text(cursor, 2));
    self->columns = g_ptr_array_new_with_free_func(g_free);
    self->is_virtual = g_ascii_strncasecmp(self->sql, virtual, sizeof virtual - 1) == 0;
    self->is_sequence = g_str_equal(self->name, "sqlite_sequence");
    return self;
}

static void
object_free(gpointer data)
{
    Object *self = data;

    g_free(self->type);
    g_free(self->name);
    g_free(self->sql);
    g_ptr_array_unref(self->columns);
    g_free(self);
}

/* (transfer full) (nullable): NULL with @error set */
static QueryCursor *
query(Dump *self, const char *text, GError **error)
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

/* SQL text ------------------------------------------------------------------------------------------------------------ */

static void
put_quoted(GString *out, const char *text, gsize n_bytes, char quote)
{
    g_string_append_c(out, quote);
    for (gsize i = 0; i < n_bytes; i++) {
        if (text[i] == quote)
            g_string_append_c(out, quote);
        g_string_append_c(out, text[i]);
    }
    g_string_append_c(out, quote);
}

static void
put_name(GString *out, const char *name)
{
    put_quoted(out, name, strlen(name), '"');
}

static void
put_literal(GString *out, const QwValue *cell)
{
    bool is_text = cell->type == QW_TYPE_TEXT;

    if (cell->type == QW_TYPE_NULL)
        g_string_append(out, "NULL");
    else if (is_text && g_utf8_validate(cell->data, cell->n_bytes, NULL)) /* a NUL is not valid */
        put_quoted(out, cell->data, cell->n_bytes, '\'');
    else
        qw_text_put_csv(out, cell); /* numbers, X'…' and CAST(X'…' AS TEXT) are expressions of SQL */
    g_string_truncate(out, out->len);
}

/* The schema ---------------------------------------------------------------------------------------------------------- */

/*
 * Two queries read it. Columns are those of tables with pages: of a view, or of a virtual table, SQLite cannot always say them.
 */
static void
put_schema_query(GString *out, const Dump *self)
{
    g_string_append(out, "SELECT m.type, m.name, m.sql, p.name, p.hidden FROM sqlite_schema AS m "
                         "LEFT JOIN pragma_table_xinfo(iif(m.type='table' AND m.rootpage>0, m.name, NULL)) AS p "
                         "WHERE m.name='sqlite_sequence' OR (m.sql IS NOT NULL AND m.tbl_name NOT GLOB 'queryd_*' "
                         "AND m.tbl_name NOT GLOB 'sqlite_*'");
    if (self->pattern != NULL) {
        g_string_append(out, " AND m.type<>'view' AND m.tbl_name GLOB ");
        put_quoted(out, self->pattern, strlen(self->pattern), '\'');
    }
    g_string_append_c(out, ')');
}

static void
add_column(Object *self, const char *name, gint64 hidden)
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

        put_quoted(out, text, strlen(text), '\'');
    }
}

static bool
read_schema(Dump *self, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(QueryCursor) cursor = NULL;
    Object *object = NULL;
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
is_table(const Object *self)
{
    return g_str_equal(self->type, "table");
}

static bool
find_tables(Dump *self, GError **error)
{
    bool is_found = self->pattern == NULL;

    self->n_columns = SCHEMA_COLUMNS;
    for (guint i = 0; i < self->objects->len; i++) {
        Object *object = self->objects->pdata[i];

        is_found = is_found || !object->is_sequence;
        if (!is_table(object) || object->is_virtual || g_hash_table_contains(self->left_out, object->name))
            continue;
        g_ptr_array_add(self->tables, object);
        self->n_columns = MAX(self->n_columns, object->columns->len);
    }
    if (!is_found)
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "no table has a name like '%s'", self->pattern);
    else if (self->tables->len > MAX_ARMS)
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG, "there are %u tables, a dump has at most %u: give a pattern",
                    self->tables->len, MAX_ARMS);
    else
        return true;
    return false;
}

/* The statement ------------------------------------------------------------------------------------------------------- */

static void
put_padding(GString *out, guint n)
{
    for (guint i = 0; i < n; i++)
        g_string_append(out, ",NULL");
}

static void
put_columns(GString *out, const Object *table)
{
    for (guint i = 0; i < table->columns->len; i++) {
        g_string_append_c(out, ',');
        put_name(out, table->columns->pdata[i]);
    }
}

static char *
create_rows_query(const Dump *self)
{
    GString *out = g_string_new(NULL);

    g_string_append_printf(out, "SELECT %d, *", ARM_SCHEMA);
    put_padding(out, self->n_columns - SCHEMA_COLUMNS);
    g_string_append(out, " FROM (");
    put_schema_query(out, self);
    g_string_append(out, ")");
    if (self->pattern == NULL) {
        g_string_append_printf(out, " UNION ALL SELECT %d, user_version, application_id", ARM_VERSION);
        put_padding(out, self->n_columns - 2);
        g_string_append(out, " FROM pragma_user_version, pragma_application_id");
    }
    for (guint i = 0; i < self->tables->len; i++) {
        const Object *table = self->tables->pdata[i];

        g_string_append_printf(out, " UNION ALL SELECT %u", ARM_TABLES + i);
        put_columns(out, table);
        put_padding(out, self->n_columns - table->columns->len);
        g_string_append(out, " FROM ");
        put_name(out, table->name);
    }
    return g_string_free(out, FALSE);
}

/* What is written ----------------------------------------------------------------------------------------------------- */

static void
put_object(GString *out, const Object *object)
{
    if (object->is_sequence)
        return;
    if (!object->is_virtual) {
        g_string_append_printf(out, "%s;\n", object->sql);
        return;
    }
    g_string_append(out, "INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql) VALUES('table',");
    put_quoted(out, object->name, strlen(object->name), '\'');
    g_string_append_c(out, ',');
    put_quoted(out, object->name, strlen(object->name), '\'');
    g_string_append(out, ",0,");
    put_quoted(out, object->sql, strlen(object->sql), '\'');
    g_string_append(out, ");\n");
}

/* The tables, or all else. */
static void
put_objects(const Dump *self, bool tables)
{
    for (guint i = 0; i < self->objects->len; i++)
        if (is_table(self->objects->pdata[i]) == tables)
            put_object(qctl_sink_get_buffer(self->sink), self->objects->pdata[i]);
}

static bool
has_virtual(const Dump *self)
{
    bool found = false;

    for (guint i = 0; i < self->objects->len; i++)
        found = found || ((const Object *) self->objects->pdata[i])->is_virtual;
    return found;
}

static void
put_start(const Dump *self)
{
    g_string_append(qctl_sink_get_buffer(self->sink), "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n");
    if (has_virtual(self))
        g_string_append(qctl_sink_get_buffer(self->sink), "PRAGMA writable_schema=ON;\n");
    put_objects(self, true);
}

static void
put_end(const Dump *self)
{
    put_objects(self, false);
    if (has_virtual(self))
        g_string_append(qctl_sink_get_buffer(self->sink), "PRAGMA writable_schema=OFF;\n");
    g_string_append(qctl_sink_get_buffer(self->sink), "COMMIT;\n");
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
put_sequence(const Dump *self, GString *out, QueryCursor *cursor)
{
    const char *name = get_text(cursor, 1);

    for (guint i = 0; i < self->tables->len; i++) {
        if (!g_str_equal(((const Object *) self->tables->pdata[i])->name, name))
            continue;
        g_string_append(out, "DELETE FROM sqlite_sequence WHERE name=");
        put_quoted(out, name, strlen(name), '\'');
        g_string_append(out, ";\nINSERT INTO sqlite_sequence VALUES(");
        put_quoted(out, name, strlen(name), '\'');
        g_string_append_printf(out, ",%" G_GINT64_FORMAT ");\n", query_cursor_get_int64(cursor, 2));
    }
}

static void
put_row(GString *out, const Object *table, QueryCursor *cursor)
{
    g_string_append(out, "INSERT INTO ");
    put_name(out, table->name);
    for (guint i = 0; table->has_others && i < table->columns->len; i++) {
        g_string_append_c(out, i == 0 ? '(' : ',');
        put_name(out, table->columns->pdata[i]);
    }
    g_string_append(out, table->has_others ? ") VALUES(" : " VALUES(");
    for (guint i = 0; i < table->columns->len; i++) {
        QwValue cell;

        qctl_cell_init(&cell, cursor, i + 1);
        if (i > 0)
            g_string_append_c(out, ',');
        put_literal(out, &cell);
    }
    g_string_append(out, ");\n");
}

/* A row of any arm but the schema's. */
static bool
write_row(const Dump *self, gint64 arm, QueryCursor *cursor, GError **error)
{
    GString *out = qctl_sink_get_buffer(self->sink);
    const Object *table = arm >= ARM_TABLES ? self->tables->pdata[arm - ARM_TABLES] : NULL;

    if (table == NULL)
        put_version(out, cursor);
    else if (table->is_sequence)
        put_sequence(self, out, cursor);
    else
        put_row(out, table, cursor);
    return qctl_sink_end_row(self->sink, error);
}

/* @ret_fits: (out): false: nothing was written, since the schema has changed after it was read */
static bool
write_rows(const Dump *self, QueryCursor *cursor, bool *ret_fits, GError **error)
{
    GCancellable *cancellable = qctl_session_get_cancellable(self->session);
    g_autoptr(GString) fingerprint = g_string_new(NULL);
    GError *failure = NULL;
    bool is_more = query_cursor_next(cursor, cancellable, &failure);

    for (; is_more && query_cursor_get_int64(cursor, 0) == ARM_SCHEMA; is_more = query_cursor_next(cursor, cancellable, &failure))
        put_fingerprint(fingerprint, cursor, 1);
    *ret_fits = failure == NULL && g_string_equal(fingerprint, self->fingerprint);
    if (*ret_fits)
        put_start(self);
    for (; *ret_fits && is_more; is_more = query_cursor_next(cursor, cancellable, &failure))
        if (!write_row(self, query_cursor_get_int64(cursor, 0), cursor, error))
            return false;
    if (failure != NULL) {
        g_propagate_error(error, failure);
        return false;
    }
    if (*ret_fits)
        put_end(self);
    return true;
}

/* What is left out ---------------------------------------------------------------------------------------------------- */

/* (transfer full) (nullable): why no statement can read @table, such as a key by the collation of another program. */
static GError *
try_table(Dump *self, const Object *table)
{
    g_autoptr(GString) text = g_string_new("SELECT 0");
    g_autoptr(QueryCursor) cursor = NULL;
    GError *failure = NULL;

    put_columns(text, table);
    g_string_append(text, " FROM ");
    put_name(text, table->name);
    g_string_append(text, " LIMIT 0");
    cursor = query(self, text->str, &failure);
    if (cursor != NULL)
        (void) query_cursor_next(cursor, qctl_session_get_cancellable(self->session), &failure);
    return failure;
}

/* Returns: whether there are such tables among those that are to be read; each has been reported */
static bool
leave_out_tables(Dump *self)
{
    guint n_before = g_hash_table_size(self->left_out);

    for (guint i = 0; i < self->tables->len; i++) {
        const Object *table = self->tables->pdata[i];
        g_autofree char *what = g_strdup_printf("the rows of table '%s' are left out", table->name);
        g_autoptr(GError) failure = try_table(self, table);

        if (!g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_SYNTAX))
            continue;
        (void) qctl_session_report(self->session, g_steal_pointer(&failure), what);
        g_hash_table_add(self->left_out, g_strdup(table->name));
    }
    return g_hash_table_size(self->left_out) > n_before;
}

/* The rows could not be read. Returns: whether another try can: the schema may have changed, or tables are left out from now on */
static bool
can_try_again(Dump *self, const GError *failure)
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
dump(const Dump *whole, bool *ret_fits, GError **error)
{
    g_autoptr(GPtrArray) objects = g_ptr_array_new_with_free_func(object_free);
    g_autoptr(GPtrArray) tables = g_ptr_array_new();
    g_autoptr(GString) fingerprint = g_string_new(NULL);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autofree char *text = NULL;
    g_autoptr(GError) failure = NULL;
    Dump self = *whole;

    self.objects = objects;
    self.tables = tables;
    self.fingerprint = fingerprint;
    if (!read_schema(&self, error) || !find_tables(&self, error))
        return false;
    text = create_rows_query(&self);
    cursor = query(&self, text, &failure);
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
    const Dump self = { .session = session, .sink = sink, .pattern = pattern, .left_out = left_out, .failed = failed };
    bool fits = false;

    for (guint i = 0; !fits && i < MAX_TRIES; i++)
        if (!dump(&self, &fits, error))
            return false;
    *ret_is_whole = g_hash_table_size(left_out) == 0;
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
