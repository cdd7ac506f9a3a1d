/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions run statements of ours within a client's, on the same connection and so in its transaction.
 */
#include "daemon/read/payload-functions.h"

#include <errno.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/payload/payload.h"
#include "daemon/sqlite/sqlite-error.h"

typedef struct Functions {
    QdConnection *connection;
    const QdLimits *limits;
} Functions;

static void
fail(sqlite3_context *context, const GError *error)
{
    sqlite3_result_error(context, error->message, -1);
    sqlite3_result_error_code(context, qd_sqlite_from_code(qd_error_get_code(error)));
}

static gboolean
any_is_null(int n, sqlite3_value **values)
{
    for (int i = 0; i < n; i++)
        if (sqlite3_value_type(values[i]) == SQLITE_NULL)
            return TRUE;
    return FALSE;
}

/* (transfer full) (nullable): lives no longer than @value */
static QdPayloadDraft *
make_draft(const Functions *self, sqlite3_value *value, GError **error)
{
    QdPayloads *payloads = qd_payloads_get(self->connection);
    const void *data;

    if (payloads == NULL) {
        qd_error_set(error, QW_ERROR_READ_ONLY, "payloads are written by updates only");
        return NULL;
    }
    data = sqlite3_value_blob(value);
    return qd_payload_draft_new_static(qd_payloads_get_files(payloads), self->limits, data, (gsize) sqlite3_value_bytes(value),
                                       error);
}

static const char *
get_media_type(int n, sqlite3_value **values, int index)
{
    return n > index ? (const char *) sqlite3_value_text(values[index]) : NULL;
}

static void
function_store(sqlite3_context *context, int n, sqlite3_value **values)
{
    const Functions *self = sqlite3_user_data(context);
    g_autoptr(GError) error = NULL;
    g_autoptr(QdPayloadDraft) draft = NULL;
    int64_t id;

    if (any_is_null(1, values))
        return;
    draft = make_draft(self, values[0], &error);
    if (draft != NULL && qd_payload_store(self->connection, draft, get_media_type(n, values, 1), &id, &error))
        sqlite3_result_int64(context, id);
    else
        fail(context, error);
}

static void
function_replace(sqlite3_context *context, int n, sqlite3_value **values)
{
    const Functions *self = sqlite3_user_data(context);
    g_autoptr(GError) error = NULL;
    g_autoptr(QdPayloadDraft) draft = NULL;
    int64_t id = sqlite3_value_int64(values[0]);

    if (any_is_null(2, values))
        return;
    draft = make_draft(self, values[1], &error);
    if (draft != NULL && qd_payload_replace(self->connection, id, draft, get_media_type(n, values, 2), &error))
        sqlite3_result_int64(context, id);
    else
        fail(context, error);
}

static void
function_delete(sqlite3_context *context, int n, sqlite3_value **values)
{
    const Functions *self = sqlite3_user_data(context);
    g_autoptr(GError) error = NULL;
    gboolean deleted;

    if (any_is_null(1, values))
        return;
    if (qd_payload_delete(self->connection, sqlite3_value_int64(values[0]), &deleted, &error))
        sqlite3_result_int(context, deleted);
    else
        fail(context, error);
}

static void
give_file(sqlite3_context *context, const Functions *self, int fd, uint64_t size)
{
    uint8_t *data;
    uint64_t done = 0;
    ssize_t n = 1;

    if (size > qd_limits_get(self->limits, QD_LIMIT_VALUE_BYTES)) {
        sqlite3_result_error_toobig(context);
        return;
    }
    data = sqlite3_malloc64(size);
    while (data != NULL && done < size && n > 0) {
        n = pread(fd, data + done, size - done, (off_t) done);
        done += n > 0 ? (uint64_t) n : 0;
    }
    if (data != NULL && done == size) {
        sqlite3_result_blob64(context, data, size, sqlite3_free);
        return;
    }
    sqlite3_free(data);
    if (data == NULL)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_error(context, "cannot read the file of a payload", -1);
}

static void
function_get(sqlite3_context *context, int n, sqlite3_value **values)
{
    const Functions *self = sqlite3_user_data(context);
    int64_t id = sqlite3_value_int64(values[0]);
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) content = NULL;
    g_auto(QdFd) fd = -1;
    QdPayloadInfo info;

    if (any_is_null(1, values))
        return;
    if (!qd_payload_read(self->connection, id, &info, &content, &fd, &error)) {
        if (error != NULL)
            fail(context, error);
    } else if (content != NULL) {
        gsize size;
        const void *data = g_bytes_get_data(content, &size);

        sqlite3_result_blob64(context, data != NULL ? data : "", size, SQLITE_TRANSIENT);
    } else {
        give_file(context, self, fd, info.size);
    }
}

gboolean
qd_payload_functions_register(QdConnection *connection, const QdLimits *limits, GError **error)
{
    static const struct {
        const char *name;
        int n_args;
        int flags; /* what writes is not called by the schema of a foreign file */
        void (*func)(sqlite3_context *context, int n, sqlite3_value **values);
    } functions[] = {
        { "queryd_payload", 1, SQLITE_INNOCUOUS, function_get }, { "queryd_store_payload", 1, 0, function_store },
        { "queryd_store_payload", 2, 0, function_store },        { "queryd_replace_payload", 2, 0, function_replace },
        { "queryd_replace_payload", 3, 0, function_replace },    { "queryd_delete_payload", 1, 0, function_delete },
    };

    for (guint i = 0; i < G_N_ELEMENTS(functions); i++) {
        Functions *self = g_new0(Functions, 1);
        int r;

        *self = (Functions){ .connection = connection, .limits = limits };
        r = sqlite3_create_function_v2(qd_connection_get_db(connection), functions[i].name, functions[i].n_args,
                                       SQLITE_UTF8 | functions[i].flags, self, functions[i].func, NULL, NULL, g_free);
        if (r != SQLITE_OK) {
            qd_sqlite_set_call_error(error, qd_connection_get_db(connection), r, "cannot register function '%s'",
                                     functions[i].name);
            return FALSE;
        }
    }
    return TRUE;
}
