/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The aggregate queryd_service_keys(). Its memory is SQLite's, which counts for the query.
 */
#include "daemon/service/service-keys.h"

#include <string.h>

#include "daemon/functions/sql-call.h"

typedef struct Keys {
    sqlite3_str *out; /* NULL before the first row */
} Keys;

static void
append(sqlite3_str *out, sqlite3_value *value)
{
    char kind = (char) sqlite3_value_type(value);
    gint64 id;
    guint32 n_bytes;

    if (kind == SQLITE_TEXT || kind == SQLITE_FLOAT) /* no term */
        kind = SQLITE_NULL;
    sqlite3_str_append(out, &kind, 1);
    if (kind == SQLITE_INTEGER) {
        id = sqlite3_value_int64(value);
        sqlite3_str_append(out, (const char *) &id, sizeof id);
    } else if (kind == SQLITE_BLOB) {
        const void *blob = sqlite3_value_blob(value);

        n_bytes = (guint32) sqlite3_value_bytes(value);
        sqlite3_str_append(out, (const char *) &n_bytes, sizeof n_bytes);
        sqlite3_str_append(out, blob, (int) n_bytes);
    }
}

static void
step(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    Keys *self = sqlite3_aggregate_context(context, sizeof *self);

    if (self == NULL)
        return;
    if (self->out == NULL)
        self->out = sqlite3_str_new(sqlite3_context_db_handle(context));
    for (int i = 0; i < n_args; i++)
        append(self->out, args[i]);
}

static void
finish(sqlite3_context *context)
{
    Keys *self = sqlite3_aggregate_context(context, 0);
    int failure = self != NULL && self->out != NULL ? sqlite3_str_errcode(self->out) : SQLITE_OK;
    int n_bytes = self != NULL && self->out != NULL ? sqlite3_str_length(self->out) : 0;
    char *bytes = self != NULL && self->out != NULL ? sqlite3_str_finish(self->out) : NULL;

    if (failure == SQLITE_OK && bytes != NULL) {
        sqlite3_result_blob(context, bytes, n_bytes, sqlite3_free);
        return;
    }
    sqlite3_free(bytes);
    if (failure == SQLITE_TOOBIG)
        sqlite3_result_error_toobig(context);
    else if (failure != SQLITE_OK)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_zeroblob(context, 0);
}

gboolean
qd_service_keys_read(const guint8 *keys, gsize n_bytes, gsize *offset, QdServiceKey *ret_key)
{
    gsize left = n_bytes - *offset;

    if (left < 1)
        return FALSE;
    *ret_key = (QdServiceKey){ .type = keys[*offset] };
    *offset += 1;
    left -= 1;
    if (ret_key->type == SQLITE_NULL)
        return TRUE;
    if (ret_key->type == SQLITE_INTEGER && left >= sizeof ret_key->id) {
        memcpy(&ret_key->id, keys + *offset, sizeof ret_key->id);
        *offset += sizeof ret_key->id;
        return TRUE;
    }
    if (ret_key->type != SQLITE_BLOB || left < sizeof ret_key->n_bytes)
        return FALSE;
    memcpy(&ret_key->n_bytes, keys + *offset, sizeof ret_key->n_bytes);
    *offset += sizeof ret_key->n_bytes;
    ret_key->blob = keys + *offset;
    *offset += ret_key->n_bytes;
    return ret_key->n_bytes <= left - sizeof ret_key->n_bytes;
}

gboolean
qd_service_key_equal(const QdServiceKey *a, const QdServiceKey *b)
{
    if (a->type != b->type)
        return FALSE;
    if (a->type == SQLITE_INTEGER)
        return a->id == b->id;
    return a->type == SQLITE_NULL || (a->n_bytes == b->n_bytes && memcmp(a->blob, b->blob, a->n_bytes) == 0);
}

QdServiceKey
qd_service_key_from_value(sqlite3_value *value)
{
    QdServiceKey key = { .type = sqlite3_value_type(value) };

    if (key.type == SQLITE_INTEGER)
        key.id = sqlite3_value_int64(value);
    if (key.type == SQLITE_BLOB) {
        key.blob = sqlite3_value_blob(value);
        key.n_bytes = (guint32) sqlite3_value_bytes(value);
    }
    return key;
}

gboolean
qd_service_keys_register(sqlite3 *db, GError **error)
{
    int r = sqlite3_create_function_v2(db, "queryd_service_keys", -1, SQLITE_UTF8, NULL, NULL, step, finish, NULL);

    if (r != SQLITE_OK)
        qd_sql_create_error(error, "queryd_service_keys", r);
    return r == SQLITE_OK;
}
