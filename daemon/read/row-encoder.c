/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One call for a value's type, one for its bytes, one for their number: the fewest that SQLite allows.
 */
#include "daemon/read/row-encoder.h"

static inline __attribute__((always_inline)) int
encode_text(QwPageWriter *writer, sqlite3_value *value)
{
    const void *text = sqlite3_value_text(value);

    if (text == NULL)
        return -ENOMEM;

    return qw_row_put_string(writer, QW_TYPE_TEXT, text, (size_t) sqlite3_value_bytes(value));
}

static inline __attribute__((always_inline)) int
encode_blob(QwPageWriter *writer, sqlite3_value *value)
{
    const void *blob = sqlite3_value_blob(value);
    int n_bytes = sqlite3_value_bytes(value);

    if (blob == NULL && n_bytes > 0)
        return -ENOMEM;

    return qw_row_put_blob(writer, blob, (size_t) n_bytes);
}

static inline __attribute__((always_inline)) int
encode_value(QwPageWriter *writer, sqlite3_value *value)
{
    switch (sqlite3_value_type(value)) {
    case SQLITE_TEXT:
        return encode_text(writer, value);
    case SQLITE_INTEGER:
        return qw_row_put_int64(writer, sqlite3_value_int64(value));
    case SQLITE_FLOAT:
        return qw_row_put_double(writer, sqlite3_value_double(value));
    case SQLITE_BLOB:
        return encode_blob(writer, value);
    default: /* SQLITE_NULL; SQLite's numbers, not our enum */
        qw_row_put_null(writer);
        return 0;
    }
}

/* Constant arguments: each caller gets a loop of its own. */
static inline sqlite3_value *
get_value(sqlite3_value *const *values, sqlite3_stmt *stmt, uint32_t i)
{
    return values != NULL ? values[i] : sqlite3_column_value(stmt, (int) i);
}

/* Works on a copy of the writer: fields that no other code can see stay in registers. */
static inline __attribute__((always_inline)) int
encode_row(QwPageWriter *writer, sqlite3_value *const *values, sqlite3_stmt *stmt)
{
    QwPageWriter local = *writer;
    int r = qw_row_begin(&local);

    if (r < 0)
        return r;

    for (uint32_t i = 0; i < local.n_columns; i++) {
        r = encode_value(&local, get_value(values, stmt, i));
        if (r < 0)
            return r;
    }
    r = qw_row_end(&local);
    if (r < 0)
        return r;

    *writer = local;
    return 0;
}

int
qd_row_encode(QwPageWriter *writer, sqlite3_stmt *stmt)
{
    return encode_row(writer, NULL, stmt);
}

int
qd_row_encode_values(QwPageWriter *writer, sqlite3_value *const *values)
{
    return encode_row(writer, values, NULL);
}

static inline size_t
get_row_size(sqlite3_value *const *values, sqlite3_stmt *stmt, uint32_t n_columns)
{
    size_t size = QW_HEADER_SIZE + qw_align8(4 + 4 * (size_t) n_columns);

    for (uint32_t i = 0; i < n_columns; i++) {
        sqlite3_value *value = get_value(values, stmt, i);
        int type = sqlite3_value_type(value);

        if (type == SQLITE_TEXT)
            (void) sqlite3_value_text(value); /* a UTF-16 value is converted first */
        if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
            size = qw_align8(size) + 8;
        else if (type != SQLITE_NULL)
            size += (size_t) sqlite3_value_bytes(value) + 1;
    }
    return qw_align8(size);
}

size_t
qd_row_get_size(sqlite3_stmt *stmt, uint32_t n_columns)
{
    return get_row_size(NULL, stmt, n_columns);
}

size_t
qd_row_get_values_size(sqlite3_value *const *values, uint32_t n_columns)
{
    return get_row_size(values, NULL, n_columns);
}
