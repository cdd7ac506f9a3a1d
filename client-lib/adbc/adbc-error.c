/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors: a GError becomes an AdbcError with a status, an SQLSTATE and details.
 */
#include "client-lib/adbc/adbc-driver.h"

#include <stdarg.h>
#include <string.h>

G_DEFINE_QUARK(qad - error - quark, qad_error)

typedef struct Kind {
    AdbcStatusCode status;
    char sqlstate[6];
    const char *name;
} Kind;

static const Kind unknown_kind = { ADBC_STATUS_INTERNAL, "XX000", "INTERNAL" };

static const Kind kinds[] = {
    [QUERY_ERROR_SYNTAX] = { ADBC_STATUS_INVALID_ARGUMENT, "42601", "SYNTAX" },
    [QUERY_ERROR_UNSUPPORTED] = { ADBC_STATUS_NOT_IMPLEMENTED, "0A000", "UNSUPPORTED" },
    [QUERY_ERROR_BAD_PARAMETER] = { ADBC_STATUS_INVALID_ARGUMENT, "07001", "BAD_PARAMETER" },
    [QUERY_ERROR_CONSTRAINT] = { ADBC_STATUS_INTEGRITY, "23000", "CONSTRAINT" },
    [QUERY_ERROR_READ_ONLY] = { ADBC_STATUS_UNAUTHORIZED, "25006", "READ_ONLY" },
    [QUERY_ERROR_BUSY] = { ADBC_STATUS_IO, "55P03", "BUSY" },
    [QUERY_ERROR_TOO_BIG] = { ADBC_STATUS_INVALID_DATA, "54000", "TOO_BIG" },
    [QUERY_ERROR_TOO_COMPLEX] = { ADBC_STATUS_INVALID_ARGUMENT, "54001", "TOO_COMPLEX" },
    [QUERY_ERROR_TIMEOUT] = { ADBC_STATUS_TIMEOUT, "57014", "TIMEOUT" },
    [QUERY_ERROR_CANCELLED] = { ADBC_STATUS_CANCELLED, "57014", "CANCELLED" },
    [QUERY_ERROR_DISK_FULL] = { ADBC_STATUS_IO, "53100", "DISK_FULL" },
    [QUERY_ERROR_NO_MEMORY] = { ADBC_STATUS_INTERNAL, "53200", "NO_MEMORY" },
    [QUERY_ERROR_CORRUPT] = { ADBC_STATUS_IO, "XX001", "CORRUPT" },
    [QUERY_ERROR_RECOVERING] = { ADBC_STATUS_IO, "57P03", "RECOVERING" },
    [QUERY_ERROR_ACCESS_DENIED] = { ADBC_STATUS_UNAUTHORIZED, "42501", "ACCESS_DENIED" },
    [QUERY_ERROR_LIMIT_EXCEEDED] = { ADBC_STATUS_IO, "53000", "LIMIT_EXCEEDED" },
    [QUERY_ERROR_CLOSED] = { ADBC_STATUS_INVALID_STATE, "25P02", "CLOSED" },
    [QUERY_ERROR_INTERNAL] = { ADBC_STATUS_INTERNAL, "XX000", "INTERNAL" },
    [QUERY_ERROR_DISCONNECTED] = { ADBC_STATUS_IO, "08006", "DISCONNECTED" },
    [QUERY_ERROR_PROTOCOL] = { ADBC_STATUS_INTERNAL, "08P01", "PROTOCOL" },
    [QUERY_ERROR_UNAVAILABLE] = { ADBC_STATUS_IO, "08001", "UNAVAILABLE" },
};

static const struct {
    const char *name;
    char sqlstate[6];
} constraints[] = {
    [QUERY_CONSTRAINT_OTHER] = { "OTHER", "23000" },
    [QUERY_CONSTRAINT_UNIQUE] = { "UNIQUE", "23505" },
    [QUERY_CONSTRAINT_PRIMARY_KEY] = { "PRIMARY_KEY", "23505" },
    [QUERY_CONSTRAINT_ROWID] = { "ROWID", "23505" },
    [QUERY_CONSTRAINT_NOT_NULL] = { "NOT_NULL", "23502" },
    [QUERY_CONSTRAINT_CHECK] = { "CHECK", "23514" },
    [QUERY_CONSTRAINT_FOREIGN_KEY] = { "FOREIGN_KEY", "23503" },
    [QUERY_CONSTRAINT_DATATYPE] = { "DATATYPE", "23000" },
    [QUERY_CONSTRAINT_TRIGGER] = { "TRIGGER", "23000" },
    [QUERY_CONSTRAINT_VIRTUAL_TABLE] = { "VIRTUAL_TABLE", "23000" },
    [QUERY_CONSTRAINT_GRAPH] = { "GRAPH", "23000" },
};

gboolean
qad_set_error(GError **error, AdbcStatusCode status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (error != NULL)
        *error = g_error_new_valist(QAD_ERROR, status, format, arguments);
    va_end(arguments);
    return FALSE;
}

gboolean
qad_error_is_write(const GError *failure)
{
    return g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_READ_ONLY) ||
           g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_ACCESS_DENIED);
}

/* Details: keys and values in turn. */

static void
add(GPtrArray *details, const char *key, char *value)
{
    g_ptr_array_add(details, g_strdup(key));
    g_ptr_array_add(details, value);
}

static void
add_constraint(GPtrArray *details, const QueryConstraint *constraint)
{
    const char *table = query_constraint_get_table(constraint);
    const char *name = query_constraint_get_name(constraint);
    const char *const *columns = query_constraint_get_columns(constraint);

    add(details, "queryd.constraint", g_strdup(constraints[query_constraint_get_kind(constraint)].name));
    if (table != NULL)
        add(details, "queryd.constraint.table", g_strdup(table));
    if (name != NULL)
        add(details, "queryd.constraint.name", g_strdup(name));
    for (guint i = 0; columns != NULL && columns[i] != NULL; i++)
        add(details, "queryd.constraint.column", g_strdup(columns[i]));
}

static GPtrArray *
details_new(const GError *failure, const Kind *kind, const QueryConstraint *constraint)
{
    GPtrArray *details = g_ptr_array_new_with_free_func(g_free);
    guint line, column;

    add(details, "queryd.code", g_strdup(kind->name));
    if (query_error_get_place(failure, &line, &column)) {
        add(details, "queryd.line", g_strdup_printf("%u", line));
        add(details, "queryd.column", g_strdup_printf("%u", column));
    }
    if (constraint != NULL)
        add_constraint(details, constraint);
    return details;
}

static void
release_error(struct AdbcError *error)
{
    g_free(error->message);
    if (error->vendor_code == ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA)
        g_clear_pointer((GPtrArray **) &error->private_data, g_ptr_array_unref);
    error->message = NULL;
    error->release = NULL;
}

static Kind
kind_of(const GError *failure)
{
    Kind kind = unknown_kind;

    if (failure->domain == QAD_ERROR) {
        kind = (Kind){ (AdbcStatusCode) failure->code, "HY000", "DRIVER" };
    } else if (g_error_matches(failure, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
        kind = kinds[QUERY_ERROR_CANCELLED];
    } else if (failure->domain == QUERY_ERROR && failure->code < (int) G_N_ELEMENTS(kinds) && kinds[failure->code].name != NULL) {
        kind = kinds[failure->code];
    }
    return kind;
}

AdbcStatusCode
qad_report(struct AdbcError *error, GError *failure)
{
    g_autoptr(GError) owned = failure;
    g_autoptr(QueryConstraint) constraint = NULL;
    gboolean is_newer = error != NULL && error->vendor_code == ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA;
    Kind kind;

    if (failure == NULL)
        return ADBC_STATUS_OK;
    kind = kind_of(failure);
    if (error == NULL)
        return kind.status;

    if (error->release != NULL)
        error->release(error);
    constraint = query_error_get_constraint(failure);
    if (constraint != NULL)
        memcpy(kind.sqlstate, constraints[query_constraint_get_kind(constraint)].sqlstate, sizeof kind.sqlstate);
    error->message = g_strdup_printf("[queryd] %s", failure->message);
    memcpy(error->sqlstate, kind.sqlstate, sizeof error->sqlstate);
    error->release = release_error;
    if (is_newer)
        error->private_data = details_new(failure, &kind, constraint);
    else
        error->vendor_code = failure->code;
    return kind.status;
}

int
qad_error_get_detail_count(const struct AdbcError *error)
{
    const GPtrArray *details = error->private_data;

    return error->vendor_code == ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA && details != NULL ? (int) details->len / 2 : 0;
}

struct AdbcErrorDetail
qad_error_get_detail(const struct AdbcError *error, int index)
{
    const GPtrArray *details = error->private_data;
    const char *value;

    if (index < 0 || index >= qad_error_get_detail_count(error))
        return (struct AdbcErrorDetail){ NULL, NULL, 0 };
    value = details->pdata[2 * index + 1];
    return (struct AdbcErrorDetail){ details->pdata[2 * index], (const uint8_t *) value, strlen(value) };
}
