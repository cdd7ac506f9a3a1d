/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading payloads, and checking that their files are there and what they were.
 */
#include <string.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/base/fd.h"
#include "daemon/base/sha256.h"
#include "daemon/payload/payload-files.h"
#include "daemon/payload/payload-rows.h"

#define CHECK_BYTES (256 * 1024)

/* Reading --------------------------------------------------------------------------------------------------------------- */

static gboolean
read_info(sqlite3_stmt *stmt, int64_t id, QdPayloadInfo *ret_info, GError **error)
{
    *ret_info = (QdPayloadInfo){ .id = id,
                                 .size = (uint64_t) sqlite3_column_int64(stmt, 0),
                                 .in_file = sqlite3_column_int(stmt, 2) != 0 };
    if (!ret_info->in_file)
        return TRUE;
    if (sqlite3_column_bytes(stmt, 1) != QD_SHA256_BYTES) {
        qd_error_set(error, QW_ERROR_CORRUPT, "payload %" G_GINT64_FORMAT " has no valid hash", id);
        return FALSE;
    }
    memcpy(ret_info->hash, sqlite3_column_blob(stmt, 1), QD_SHA256_BYTES);
    return TRUE;
}

/* @ret_content: (nullable). FALSE without an error: there is none. */
static gboolean
find_row(QdPayloadRows *self, int64_t id, QdPayloadInfo *ret_info, GBytes **ret_content, GError **error)
{
    QdPolicy policy = qd_connection_set_policy(self->connection, QD_POLICY_INTERNAL);
    sqlite3_stmt *stmt = qd_payload_rows_get_statement(
        self, ret_content != NULL ? QD_PAYLOAD_STATEMENT_GET : QD_PAYLOAD_STATEMENT_FIND, error);
    gboolean found = FALSE;
    int r;

    if (stmt != NULL) {
        (void) sqlite3_bind_int64(stmt, 1, id);
        r = sqlite3_step(stmt);
        if (r == SQLITE_ROW) {
            found = read_info(stmt, id, ret_info, error);
            if (found && ret_content != NULL && !ret_info->in_file)
                *ret_content = g_bytes_new(sqlite3_column_blob(stmt, 3), (gsize) sqlite3_column_bytes(stmt, 3));
        } else if (r != SQLITE_DONE) {
            (void) qd_payload_rows_fail(self, r, error);
        }
        (void) sqlite3_reset(stmt);
    }
    (void) qd_connection_set_policy(self->connection, policy);
    return found;
}

gboolean
qd_payload_find(QdConnection *connection, int64_t id, QdPayloadInfo *ret_info, GError **error)
{
    return find_row(qd_payload_rows_get(connection), id, ret_info, NULL, error);
}

gboolean
qd_payload_read(QdConnection *connection, int64_t id, QdPayloadInfo *ret_info, GBytes **ret_content, int *ret_fd, GError **error)
{
    QdPayloadRows *rows = qd_payload_rows_get(connection);
    g_autoptr(GError) failure = NULL;
    QdPayloadInfo before = { 0 };

    /* a payload that was replaced or deleted since we looked has lost its file: look again */
    for (;;) {
        gboolean missing = FALSE;

        *ret_content = NULL;
        *ret_fd = -1;
        g_clear_error(&failure);
        if (!find_row(rows, id, ret_info, ret_content, &failure))
            break;
        if (!ret_info->in_file || qd_payload_rows_open_pending(rows, ret_info, ret_fd))
            return TRUE;
        *ret_fd = qd_payload_files_open_content(rows->files, ret_info->hash, ret_info->size, &missing, &failure);
        if (*ret_fd >= 0)
            return TRUE;
        if (!missing || (before.in_file && memcmp(before.hash, ret_info->hash, sizeof before.hash) == 0))
            break;
        before = *ret_info;
    }
    if (failure != NULL)
        g_propagate_prefixed_error(error, g_steal_pointer(&failure), "payload %" G_GINT64_FORMAT ": ", id);
    return FALSE;
}

/* Checking -------------------------------------------------------------------------------------------------------------- */

static gboolean
has_hash(int fd, const uint8_t expected[QD_SHA256_BYTES])
{
    g_autofree uint8_t *buffer = g_malloc(CHECK_BYTES);
    uint8_t hash[QD_SHA256_BYTES];
    QdSha256 sha;
    ssize_t n;

    qd_sha256_init(&sha);
    while ((n = read(fd, buffer, CHECK_BYTES)) > 0)
        qd_sha256_update(&sha, buffer, (size_t) n);
    qd_sha256_finish(&sha, hash);
    return n == 0 && memcmp(hash, expected, sizeof hash) == 0;
}

static gboolean
check_file(QdPayloadRows *rows, const QdPayloadInfo *info, gboolean contents, QdPayloadFaultFunc func, void *data)
{
    g_autoptr(GError) fault = NULL;
    g_auto(QdFd) fd = qd_payload_files_open_content(rows->files, info->hash, info->size, NULL, &fault);

    if (fd >= 0 && contents && !has_hash(fd, info->hash))
        qd_error_set(&fault, QW_ERROR_CORRUPT, "the content of its file is damaged");
    if (fault != NULL)
        g_prefix_error(&fault, "payload %" G_GINT64_FORMAT ": ", info->id);
    return func(fault != NULL ? fault->message : NULL, data);
}

gboolean
qd_payloads_check(QdConnection *reader, gboolean contents, QdPayloadFaultFunc func, void *data, GError **error)
{
    static const char text[] = "SELECT size, hash, 1, id FROM " QD_PAYLOAD_TABLE " WHERE " QD_PAYLOAD_IN_FILE " ORDER BY id";
    QdPayloadRows *rows = qd_payload_rows_get(reader);
    sqlite3 *db = qd_connection_get_db(reader);
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_prepare_v2(db, text, -1, &stmt, NULL);

    while (r == SQLITE_OK || r == SQLITE_ROW) {
        g_autoptr(GError) fault = NULL;
        QdPayloadInfo info;

        r = sqlite3_step(stmt);
        if (r != SQLITE_ROW)
            break;
        if (read_info(stmt, sqlite3_column_int64(stmt, 3), &info, &fault) ? !check_file(rows, &info, contents, func, data)
                                                                          : !func(fault->message, data))
            r = SQLITE_DONE;
    }
    (void) sqlite3_finalize(stmt);
    return r == SQLITE_DONE || qd_payload_rows_fail(rows, r, error);
}
