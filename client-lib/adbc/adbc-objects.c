/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GetObjects: catalogs, schemas, tables, columns and constraints as one nested batch.
 *
 * There is one catalog, "main", with one schema without a name. A transaction has one open cursor, so each list is read whole
 * before what is in its elements.
 */

#include "client-lib/adbc/adbc-build.h"
#include "client-lib/adbc/adbc-driver.h"

#define END                     \
    {                           \
        NULL, NULL, FALSE, NULL \
    }

static const QadField usage_fields[] = {
    { "u", "fk_catalog", FALSE, NULL },
    { "u", "fk_db_schema", FALSE, NULL },
    { "u", "fk_table", TRUE, NULL },
    { "u", "fk_column_name", TRUE, NULL },
    END,
};
static const QadField usage_items[] = { { "+s", "item", FALSE, usage_fields }, END };
static const QadField name_items[] = { { "u", "item", FALSE, NULL }, END };

enum { CONSTRAINT_NAME, CONSTRAINT_TYPE, CONSTRAINT_COLUMNS, CONSTRAINT_USAGE };

static const QadField constraint_fields[] = {
    { "u", "constraint_name", FALSE, NULL },
    { "u", "constraint_type", TRUE, NULL },
    { "+l", "constraint_column_names", TRUE, name_items },
    { "+l", "constraint_column_usage", FALSE, usage_items },
    END,
};
static const QadField constraint_items[] = { { "+s", "item", FALSE, constraint_fields }, END };

enum {
    COLUMN_NAME,
    COLUMN_POSITION,
    COLUMN_REMARKS,
    COLUMN_DATA_TYPE,
    COLUMN_TYPE_NAME,
    COLUMN_SIZE,
    COLUMN_DECIMAL_DIGITS,
    COLUMN_RADIX,
    COLUMN_NULLABLE,
    COLUMN_DEFAULT,
    COLUMN_SQL_DATA_TYPE,
    COLUMN_DATETIME_SUB,
    COLUMN_OCTET_LENGTH,
    COLUMN_IS_NULLABLE,
    COLUMN_SCOPE_CATALOG,
    COLUMN_SCOPE_SCHEMA,
    COLUMN_SCOPE_TABLE,
    COLUMN_AUTOINCREMENT,
    COLUMN_GENERATED,
    N_COLUMN_FIELDS,
};

static const QadField column_fields[] = {
    { "u", "column_name", TRUE, NULL },
    { "i", "ordinal_position", FALSE, NULL },
    { "u", "remarks", FALSE, NULL },
    { "s", "xdbc_data_type", FALSE, NULL },
    { "u", "xdbc_type_name", FALSE, NULL },
    { "i", "xdbc_column_size", FALSE, NULL },
    { "s", "xdbc_decimal_digits", FALSE, NULL },
    { "s", "xdbc_num_prec_radix", FALSE, NULL },
    { "s", "xdbc_nullable", FALSE, NULL },
    { "u", "xdbc_column_def", FALSE, NULL },
    { "s", "xdbc_sql_data_type", FALSE, NULL },
    { "s", "xdbc_datetime_sub", FALSE, NULL },
    { "i", "xdbc_char_octet_length", FALSE, NULL },
    { "u", "xdbc_is_nullable", FALSE, NULL },
    { "u", "xdbc_scope_catalog", FALSE, NULL },
    { "u", "xdbc_scope_schema", FALSE, NULL },
    { "u", "xdbc_scope_table", FALSE, NULL },
    { "b", "xdbc_is_autoincrement", FALSE, NULL },
    { "b", "xdbc_is_generatedcolumn", FALSE, NULL },
    END,
};
G_STATIC_ASSERT(G_N_ELEMENTS(column_fields) == N_COLUMN_FIELDS + 1);
static const QadField column_items[] = { { "+s", "item", FALSE, column_fields }, END };

enum { TABLE_NAME, TABLE_TYPE, TABLE_COLUMNS, TABLE_CONSTRAINTS };

static const QadField table_fields[] = {
    { "u", "table_name", TRUE, NULL },
    { "u", "table_type", TRUE, NULL },
    { "+l", "table_columns", FALSE, column_items },
    { "+l", "table_constraints", FALSE, constraint_items },
    END,
};
static const QadField table_items[] = { { "+s", "item", FALSE, table_fields }, END };

static const QadField schema_fields[] = {
    { "u", "db_schema_name", FALSE, NULL },
    { "+l", "db_schema_tables", FALSE, table_items },
    END,
};
static const QadField schema_items[] = { { "+s", "item", FALSE, schema_fields }, END };

static const QadField catalog_fields[] = {
    { "u", "catalog_name", FALSE, NULL },
    { "+l", "catalog_db_schemas", FALSE, schema_items },
    END,
};
static const QadField root = { "+s", "", FALSE, catalog_fields };

/* What was asked for. */
typedef struct Request {
    int depth;
    const char *table, *column; /* (nullable): patterns */
    const char **types;         /* (nullable) */
} Request;

/* As LIKE: '%' and '_'; letters as they are. */
static gboolean
matches(const char *pattern, const char *text)
{
    if (pattern == NULL)
        return TRUE;
    for (; *pattern != '\0' && *pattern != '%'; pattern = g_utf8_next_char(pattern), text = g_utf8_next_char(text))
        if (*text == '\0' || (*pattern != '_' && g_utf8_get_char(pattern) != g_utf8_get_char(text)))
            return FALSE;
    if (*pattern == '\0')
        return *text == '\0';
    while (*pattern == '%')
        pattern++;
    for (;; text = g_utf8_next_char(text)) {
        if (matches(pattern, text))
            return TRUE;
        if (*text == '\0')
            return FALSE;
    }
}

static gboolean
has_type(const Request *request, const char *type)
{
    return request->types == NULL || g_strv_contains(request->types, type);
}

static const char *
get_text(QueryCursor *cursor, guint column)
{
    return query_cursor_get_string(cursor, column, NULL);
}

/* Each call: the next row, or the end. FALSE with an error when there is no cursor, too. */
static gboolean
next_row(QueryCursor *cursor, GError **error)
{
    return cursor != NULL && query_cursor_next(cursor, NULL, error);
}

/* Columns -------------------------------------------------------------------------------------------------------------- */

static void
add_column(QadNode *node, QueryCursor *row)
{
    gboolean is_required = query_cursor_get_boolean(row, 3);
    gint64 hidden = query_cursor_get_int64(row, 5);
    gboolean filled[N_COLUMN_FIELDS] = { FALSE };

    qad_node_add_text(qad_node_get_child(node, COLUMN_NAME), get_text(row, 0));
    qad_node_add_int(qad_node_get_child(node, COLUMN_POSITION), query_cursor_get_int64(row, 1) + 1);
    qad_node_add_text(qad_node_get_child(node, COLUMN_TYPE_NAME), get_text(row, 2));
    qad_node_add_int(qad_node_get_child(node, COLUMN_NULLABLE), !is_required);
    qad_node_add_text(qad_node_get_child(node, COLUMN_DEFAULT), get_text(row, 4));
    qad_node_add_text(qad_node_get_child(node, COLUMN_IS_NULLABLE), is_required ? "NO" : "YES");
    qad_node_add_int(qad_node_get_child(node, COLUMN_GENERATED), hidden == 2 || hidden == 3);
    filled[COLUMN_NAME] = filled[COLUMN_POSITION] = filled[COLUMN_TYPE_NAME] = filled[COLUMN_NULLABLE] = TRUE;
    filled[COLUMN_DEFAULT] = filled[COLUMN_IS_NULLABLE] = filled[COLUMN_GENERATED] = TRUE;
    for (guint i = 0; i < N_COLUMN_FIELDS; i++)
        if (!filled[i])
            qad_node_add_null(qad_node_get_child(node, i));
    qad_node_end(node);
}

/* @keys: gets the columns of the primary key, in their order */
static gboolean
add_columns(QadConnection *self, QadNode *list, const Request *request, const char *table, GPtrArray *keys, GError **error)
{
    g_autoptr(QueryCursor) cursor = qad_connection_query(
        self, "SELECT name, cid, type, \"notnull\", dflt_value, hidden, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1", table,
        error);
    GError *failure = NULL;

    while (next_row(cursor, &failure)) {
        gint64 key = query_cursor_get_int64(cursor, 6);

        if (key > 0 && (guint) key > keys->len)
            g_ptr_array_set_size(keys, (gint) key);
        if (key > 0)
            keys->pdata[key - 1] = g_strdup(get_text(cursor, 0));
        if (matches(request->column, get_text(cursor, 0)))
            add_column(qad_node_get_child(list, 0), cursor);
    }
    qad_node_end(list);
    if (failure != NULL)
        g_propagate_error(error, failure);
    return cursor != NULL && failure == NULL;
}

/* Constraints ---------------------------------------------------------------------------------------------------------- */

static void
begin_constraint(QadNode *node, const char *name, const char *type)
{
    qad_node_add_text(qad_node_get_child(node, CONSTRAINT_NAME), name);
    qad_node_add_text(qad_node_get_child(node, CONSTRAINT_TYPE), type);
}

static void
add_constraint_column(QadNode *node, const char *column)
{
    qad_node_add_text(qad_node_get_child(qad_node_get_child(node, CONSTRAINT_COLUMNS), 0), column);
}

/* A column of another table, which the last one refers to. */
static void
add_usage(QadNode *node, const char *table, const char *column)
{
    QadNode *usage = qad_node_get_child(qad_node_get_child(node, CONSTRAINT_USAGE), 0);

    qad_node_add_text(qad_node_get_child(usage, 0), "main");
    qad_node_add_text(qad_node_get_child(usage, 1), "");
    qad_node_add_text(qad_node_get_child(usage, 2), table);
    qad_node_add_text(qad_node_get_child(usage, 3), column != NULL ? column : "");
    qad_node_end(usage);
}

static void
end_constraint(QadNode *node)
{
    qad_node_end(qad_node_get_child(node, CONSTRAINT_COLUMNS));
    qad_node_end(qad_node_get_child(node, CONSTRAINT_USAGE));
    qad_node_end(node);
}

/* @text: rows of a constraint's name (nullable), one of its columns, and what the column refers to, in the order of constraints. */
static gboolean
add_constraints(QadConnection *self, QadNode *node, const char *type, const char *text, const char *table, GError **error)
{
    g_autoptr(QueryCursor) cursor = qad_connection_query(self, text, table, error);
    g_autofree char *last = NULL;
    GError *failure = NULL;

    while (next_row(cursor, &failure)) {
        if (g_strcmp0(last, get_text(cursor, 0)) != 0) {
            if (last != NULL)
                end_constraint(node);
            g_free(last);
            last = g_strdup(get_text(cursor, 0));
            begin_constraint(node, get_text(cursor, 4), type);
        }
        add_constraint_column(node, get_text(cursor, 1));
        if (get_text(cursor, 2) != NULL)
            add_usage(node, get_text(cursor, 2), get_text(cursor, 3));
    }
    if (last != NULL)
        end_constraint(node);
    if (failure != NULL)
        g_propagate_error(error, failure);
    return cursor != NULL && failure == NULL;
}

static gboolean
add_all_constraints(QadConnection *self, QadNode *list, const char *table, const GPtrArray *keys, GError **error)
{
    QadNode *node = qad_node_get_child(list, 0);
    gboolean ok;

    if (keys->len > 0) {
        begin_constraint(node, NULL, "PRIMARY KEY");
        for (guint i = 0; i < keys->len; i++)
            add_constraint_column(node, keys->pdata[i]);
        end_constraint(node);
    }
    ok = add_constraints(self, node, "UNIQUE",
                         "SELECT l.seq, i.name, NULL, NULL, l.name FROM pragma_index_list(?) AS l, pragma_index_info(l.name) AS i "
                         "WHERE l.origin = 'u' AND i.name IS NOT NULL ORDER BY l.seq, i.seqno",
                         table, error) &&
         add_constraints(self, node, "FOREIGN KEY",
                         "SELECT id, \"from\", \"table\", \"to\", NULL FROM pragma_foreign_key_list(?) ORDER BY id, seq", table,
                         error);
    qad_node_end(list);
    return ok;
}

/* Tables --------------------------------------------------------------------------------------------------------------- */

static gboolean
add_table(QadConnection *self, QadNode *node, const Request *request, const char *table, const char *type, GError **error)
{
    g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
    QadNode *columns = qad_node_get_child(node, TABLE_COLUMNS);
    QadNode *constraints = qad_node_get_child(node, TABLE_CONSTRAINTS);

    qad_node_add_text(qad_node_get_child(node, TABLE_NAME), table);
    qad_node_add_text(qad_node_get_child(node, TABLE_TYPE), type);
    if (request->depth == ADBC_OBJECT_DEPTH_TABLES) {
        qad_node_add_null(columns);
        qad_node_add_null(constraints);
    } else if (!add_columns(self, columns, request, table, keys, error) ||
               !add_all_constraints(self, constraints, table, keys, error)) {
        return FALSE;
    }
    qad_node_end(node);
    return TRUE;
}

static gboolean
add_tables(QadConnection *self, QadNode *list, const Request *request, GError **error)
{
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free); /* name and type in turn */
    g_autoptr(QueryCursor) cursor = qad_connection_query(
        self,
        "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
        "AND name NOT LIKE 'queryd\\_%' ESCAPE '\\' ORDER BY name",
        NULL, error);
    GError *failure = NULL;

    while (next_row(cursor, &failure)) {
        if (!matches(request->table, get_text(cursor, 0)) || !has_type(request, get_text(cursor, 1)))
            continue;
        g_ptr_array_add(found, g_strdup(get_text(cursor, 0)));
        g_ptr_array_add(found, g_strdup(get_text(cursor, 1)));
    }
    if (failure != NULL)
        g_propagate_error(error, failure);
    if (cursor == NULL || failure != NULL)
        return FALSE;
    for (guint i = 0; i < found->len; i += 2)
        if (!add_table(self, qad_node_get_child(list, 0), request, found->pdata[i], found->pdata[i + 1], error))
            return FALSE;
    qad_node_end(list);
    return TRUE;
}

static gboolean
add_schemas(QadConnection *self, QadNode *list, const Request *request, const char *schema, GError **error)
{
    QadNode *node = qad_node_get_child(list, 0);
    QadNode *tables = qad_node_get_child(node, 1);

    if (matches(schema, "")) {
        qad_node_add_text(qad_node_get_child(node, 0), "");
        if (request->depth == ADBC_OBJECT_DEPTH_DB_SCHEMAS)
            qad_node_add_null(tables);
        else if (!add_tables(self, tables, request, error))
            return FALSE;
        qad_node_end(node);
    }
    qad_node_end(list);
    return TRUE;
}

static gboolean
add_catalog(QadConnection *self, QadNode *node, const Request *request, const char *schema, GError **error)
{
    QadNode *schemas = qad_node_get_child(node, 1);

    qad_node_add_text(qad_node_get_child(node, 0), "main");
    if (request->depth == ADBC_OBJECT_DEPTH_CATALOGS)
        qad_node_add_null(schemas);
    else if (!add_schemas(self, schemas, request, schema, error))
        return FALSE;
    qad_node_end(node);
    return TRUE;
}

AdbcStatusCode
qad_get_objects(struct AdbcConnection *connection, int depth, const char *catalog, const char *schema, const char *table,
                const char **types, const char *column, struct ArrowArrayStream *stream, struct AdbcError *error)
{
    const Request request = { depth, table, column, types };
    QadConnection *self = connection->private_data;
    g_autoptr(QadNode) node = NULL;
    GError *failure = NULL;
    struct ArrowSchema given;
    struct ArrowArray batch;

    if (!qad_connection_check(self, &failure))
        return qad_report(error, failure);
    node = qad_node_new(&root);
    g_rec_mutex_lock(&self->mutex);
    if (matches(catalog, "main"))
        (void) add_catalog(self, node, &request, schema, &failure);
    g_rec_mutex_unlock(&self->mutex);
    if (failure != NULL)
        return qad_report(error, failure);
    qad_node_give(g_steal_pointer(&node), &given, &batch);
    qad_stream_init_once(stream, &given, &batch);
    return ADBC_STATUS_OK;
}
