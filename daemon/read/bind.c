/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names to indexes, values to SQLite.
 */
#include "daemon/read/bind.h"

#include "daemon/base/error.h"
#include "daemon/base/hot.h"
#include "daemon/sqlite/sqlite-error.h"

static QD_HOT gboolean
bind_value(sqlite3_stmt *stmt, int index, const QwValue *value, GError **error)
{
    int r = SQLITE_OK;

    switch (value->type) {
    case QW_TYPE_NULL:
        r = sqlite3_bind_null(stmt, index);
        break;
    case QW_TYPE_INTEGER:
        r = sqlite3_bind_int64(stmt, index, value->integer);
        break;
    case QW_TYPE_FLOAT:
        r = sqlite3_bind_double(stmt, index, value->real);
        break;
    case QW_TYPE_TEXT:
        r = sqlite3_bind_text64(stmt, index, value->data, value->n_bytes, SQLITE_STATIC, SQLITE_UTF8);
        break;
    case QW_TYPE_BLOB:
        r = sqlite3_bind_blob64(stmt, index, value->n_bytes > 0 ? value->data : "", value->n_bytes, SQLITE_STATIC);
        break;
    case QW_TYPE_IRI:
    case QW_TYPE_BNODE:
    case QW_TYPE_LITERAL_LANG:
    case QW_TYPE_LITERAL_TYPED:
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameter %d is an RDF term, which SQL does not take", index);
        return FALSE;
    }
    if (r == SQLITE_TOOBIG) {
        qd_error_set(error, QW_ERROR_TOO_BIG, "parameter %d has %u bytes, more than a value may have", index, value->n_bytes);
        return FALSE;
    }
    if (r != SQLITE_OK) {
        qd_sqlite_set_call_error(error, sqlite3_db_handle(stmt), r, "cannot bind parameter %d", index);
        return FALSE;
    }
    return TRUE;
}

static gboolean
check_count(sqlite3_stmt *stmt, guint n_given, GError **error)
{
    int n_wanted = sqlite3_bind_parameter_count(stmt);

    if (n_given == (guint) n_wanted)
        return TRUE;

    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "statement has %d parameter%s, %u given", n_wanted, n_wanted == 1 ? "" : "s",
                 n_given);
    return FALSE;
}

QD_HOT gboolean
qd_bind_first(sqlite3_stmt *stmt, const QwPageReader *row, GError **error)
{
    for (uint32_t i = 0; i < row->n_columns; i++) {
        QwValue value;

        qw_page_reader_get(row, i, &value);
        if (!bind_value(stmt, (int) i + 1, &value, error))
            return FALSE;
    }
    return TRUE;
}

gboolean
qd_bind_row(sqlite3_stmt *stmt, const QwPageReader *row, GError **error)
{
    return check_count(stmt, row->n_columns, error) && qd_bind_first(stmt, row, error);
}

static int
find_bare_name(const QdShape *shape, const char *key, GError **error)
{
    int found = 0;
    guint n = qd_shape_get_n_names(shape);

    for (guint i = 0; i < n; i++) {
        const char *name = qd_shape_get_parameter_name(shape, i);

        if (name[0] == '\0' || name[0] == '?' || !g_str_equal(name + 1, key))
            continue;
        if (found > 0) {
            qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameter name '%s' is ambiguous: '%s' and '%s'", key,
                         qd_shape_get_parameter_name(shape, (guint) found - 1), name);
            return 0;
        }
        found = (int) i + 1;
    }
    if (found == 0)
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "statement has no parameter '%s'", key);
    return found;
}

static int
find_whole_name(const QdShape *shape, const char *key, GError **error)
{
    guint n = qd_shape_get_n_names(shape);

    for (guint i = 0; i < n; i++) {
        if (g_str_equal(qd_shape_get_parameter_name(shape, i), key))
            return (int) i + 1;
    }
    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "statement has no parameter '%s'", key);
    return 0;
}

/* Returns an index from 1, 0 with @error set. In SPARQL ?x and $x are one variable. */
static int
find_parameter(const QdShape *shape, const char *key, GError **error)
{
    if (g_ascii_isdigit(key[0])) {
        guint64 number = 0;

        if (!g_ascii_string_to_unsigned(key, 10, 1, G_MAXINT, &number, NULL) || number > shape->n_parameters) {
            qd_error_set(error, QW_ERROR_BAD_PARAMETER, "statement has no parameter '%s', it has %u", key, shape->n_parameters);
            return 0;
        }
        return (int) number;
    }
    if (shape->plan != NULL && (key[0] == '?' || key[0] == '$'))
        return find_bare_name(shape, key + 1, error);
    if (key[0] != ':' && key[0] != '@' && key[0] != '$' && key[0] != '?')
        return find_bare_name(shape, key, error);
    return find_whole_name(shape, key, error);
}

/* SQL's parameters need a value each; a variable of SPARQL without one is just a variable. */
static gboolean
check_complete(const QdShape *shape, const QwValue *const *values, GError **error)
{
    for (guint i = 0; shape->plan == NULL && i < shape->n_parameters; i++) {
        const char *name = qd_shape_get_parameter_name(shape, i);
        gboolean named = name[0] != '\0';

        if (values[i] == NULL) {
            qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameter %u%s%s%s has no value", i + 1, named ? " ('" : "", name,
                         named ? "')" : "");
            return FALSE;
        }
    }
    return TRUE;
}

const QwValue **
qd_bind_resolve(const QdShape *shape, const QdParameters *parameters, GError **error)
{
    guint n_given = parameters != NULL ? qd_parameters_get_n(parameters) : 0;
    g_autofree const QwValue **values = g_new0(const QwValue *, (gsize) qd_shape_get_n_names(shape) + 1);

    for (guint i = 0; i < n_given; i++) {
        const char *key = qd_parameters_get_key(parameters, i);
        int index = find_parameter(shape, key, error);

        if (index == 0)
            return NULL;
        if (values[index - 1] != NULL) {
            qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameter %d is given twice, the second time as '%s'", index, key);
            return NULL;
        }
        values[index - 1] = qd_parameters_get_value(parameters, i);
    }
    return check_complete(shape, values, error) ? g_steal_pointer(&values) : NULL;
}

gboolean
qd_bind_parameters(sqlite3_stmt *stmt, const QdParameters *parameters, GError **error)
{
    const QdShape shape = qd_shape_from_stmt(stmt);
    g_autofree const QwValue **values = qd_bind_resolve(&shape, parameters, error);
    int n = (int) shape.n_parameters;

    if (values == NULL)
        return FALSE;

    for (int i = 0; i < n; i++)
        if (!bind_value(stmt, i + 1, values[i], error))
            return FALSE;
    return TRUE;
}

/* A row has a column for each announced parameter. */
static gboolean
check_announced(const QdShape *shape, const QwValue *const *values, GError **error)
{
    for (guint i = shape->n_parameters; i < qd_shape_get_n_names(shape); i++) {
        const char *name = qd_shape_get_parameter_name(shape, i);

        if (values[i] == NULL)
            continue;
        qd_error_set(error, QW_ERROR_BAD_PARAMETER,
                     "variable '%s' is no parameter: where values come in rows, parameters are written with '$', as '$%s'", name,
                     name + 1);
        return FALSE;
    }
    return TRUE;
}

GBytes *
qd_bind_encode_row(const QdShape *shape, const QdParameters *parameters, GError **error)
{
    static const QwValue null = { .type = QW_TYPE_NULL };
    g_autofree const QwValue **values = qd_bind_resolve(shape, parameters, error);
    g_autofree uint8_t *data = NULL;
    guint n = shape->n_parameters;
    gsize size = QW_HEADER_SIZE + qw_align8(4 + 4 * (gsize) n) + 8;
    QwPageWriter writer;

    if (values == NULL || !check_announced(shape, values, error))
        return NULL;

    for (guint i = 0; i < n; i++) {
        if (values[i] == NULL)
            values[i] = &null;
        size += 24 + (qw_type_is_word(values[i]->type) || values[i]->type == QW_TYPE_NULL
                          ? 0
                          : values[i]->n_bytes + values[i]->n_tag_bytes);
    }
    data = g_malloc(size);
    qw_page_writer_init(&writer, data, size, n);
    (void) qw_row_begin(&writer);
    for (guint i = 0; i < n; i++)
        (void) qw_row_put_value(&writer, values[i]);
    if (qw_row_end(&writer) < 0) {
        qd_error_set(error, QW_ERROR_TOO_BIG, "parameters are too big");
        return NULL;
    }
    return g_bytes_new(data + QW_HEADER_SIZE, writer.used - QW_HEADER_SIZE);
}
