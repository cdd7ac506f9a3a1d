/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names to indexes, values to SQLite.
 */
#include "daemon/exec/bind.h"

#include <string.h>

#include "daemon/base/error.h"

static gboolean
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
        qd_error_set(error, QW_ERROR_INTERNAL, "cannot bind parameter %d: %s", index, sqlite3_errstr(r));
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

gboolean
qd_bind_row(sqlite3_stmt *stmt, const QwPageReader *row, GError **error)
{
    if (!check_count(stmt, row->n_columns, error))
        return FALSE;

    for (uint32_t i = 0; i < row->n_columns; i++) {
        QwValue value;

        qw_page_reader_get(row, i, &value);
        if (!bind_value(stmt, (int) i + 1, &value, error))
            return FALSE;
    }
    return TRUE;
}

static int
find_bare_name(sqlite3_stmt *stmt, const char *key, GError **error)
{
    int found = 0;
    int n = sqlite3_bind_parameter_count(stmt);

    for (int i = 1; i <= n; i++) {
        const char *name = sqlite3_bind_parameter_name(stmt, i);

        if (name == NULL || name[0] == '?' || !g_str_equal(name + 1, key))
            continue;
        if (found > 0) {
            qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameter name '%s' is ambiguous: '%s' and '%s'", key,
                         sqlite3_bind_parameter_name(stmt, found), name);
            return 0;
        }
        found = i;
    }
    if (found == 0)
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "statement has no parameter '%s'", key);
    return found;
}

/* Returns an index from 1, 0 with @error set. */
static int
find_parameter(sqlite3_stmt *stmt, const char *key, GError **error)
{
    int n = sqlite3_bind_parameter_count(stmt);
    int index;

    if (g_ascii_isdigit(key[0])) {
        guint64 number = 0;

        if (!g_ascii_string_to_unsigned(key, 10, 1, G_MAXINT, &number, NULL) || number > (guint64) n) {
            qd_error_set(error, QW_ERROR_BAD_PARAMETER, "statement has no parameter '%s', it has %d", key, n);
            return 0;
        }
        return (int) number;
    }
    if (key[0] != ':' && key[0] != '@' && key[0] != '$' && key[0] != '?')
        return find_bare_name(stmt, key, error);

    index = sqlite3_bind_parameter_index(stmt, key);
    if (index == 0)
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "statement has no parameter '%s'", key);
    return index;
}

/* values[i] is the value of parameter i + 1. Returns: (transfer container), NULL on error */
static const QwValue **
resolve(sqlite3_stmt *stmt, const QdParameters *parameters, GError **error)
{
    int n = sqlite3_bind_parameter_count(stmt);
    guint n_given = parameters != NULL ? qd_parameters_get_n(parameters) : 0;
    g_autofree const QwValue **values = g_new0(const QwValue *, (gsize) n + 1);

    for (guint i = 0; i < n_given; i++) {
        const char *key = qd_parameters_get_key(parameters, i);
        int index = find_parameter(stmt, key, error);

        if (index == 0)
            return NULL;
        if (values[index - 1] != NULL) {
            qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameter %d is given twice, the second time as '%s'", index, key);
            return NULL;
        }
        values[index - 1] = qd_parameters_get_value(parameters, i);
    }
    for (int i = 0; i < n; i++) {
        const char *name = sqlite3_bind_parameter_name(stmt, i + 1);

        if (values[i] == NULL) {
            qd_error_set(error, QW_ERROR_BAD_PARAMETER, "parameter %d%s%s%s has no value", i + 1, name != NULL ? " ('" : "",
                         name != NULL ? name : "", name != NULL ? "')" : "");
            return NULL;
        }
    }
    return g_steal_pointer(&values);
}

gboolean
qd_bind_parameters(sqlite3_stmt *stmt, const QdParameters *parameters, GError **error)
{
    g_autofree const QwValue **values = resolve(stmt, parameters, error);
    int n = sqlite3_bind_parameter_count(stmt);

    if (values == NULL)
        return FALSE;

    for (int i = 0; i < n; i++)
        if (!bind_value(stmt, i + 1, values[i], error))
            return FALSE;
    return TRUE;
}

GBytes *
qd_bind_encode_row(sqlite3_stmt *stmt, const QdParameters *parameters, GError **error)
{
    g_autofree const QwValue **values = resolve(stmt, parameters, error);
    g_autofree uint8_t *data = NULL;
    int n = sqlite3_bind_parameter_count(stmt);
    gsize size = QW_HEADER_SIZE + qw_align8(4 + 4 * (gsize) n) + 8;
    QwPageWriter writer;

    if (values == NULL)
        return NULL;

    for (int i = 0; i < n; i++)
        size += 24 + (qw_type_is_word(values[i]->type) || values[i]->type == QW_TYPE_NULL
                          ? 0
                          : values[i]->n_bytes + values[i]->n_tag_bytes);
    data = g_malloc(size);
    qw_page_writer_init(&writer, data, size, (uint32_t) n);
    (void) qw_row_begin(&writer);
    for (int i = 0; i < n; i++)
        (void) qw_row_put_value(&writer, values[i]);
    if (qw_row_end(&writer) < 0) {
        qd_error_set(error, QW_ERROR_TOO_BIG, "parameters are too big");
        return NULL;
    }
    return g_bytes_new(data + QW_HEADER_SIZE, writer.used - QW_HEADER_SIZE);
}
