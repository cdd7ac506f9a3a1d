/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Statements on the new file, values for them, and what is known of a definition before it is executed: for all files of a
 * salvage.
 */
#include <stdarg.h>
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/recover/salvage-private.h"

gboolean
qd_salvage_is_cancelled(const QdSalvage *self, GError **error)
{
    if (self->options->cancelled == NULL || g_atomic_int_get(self->options->cancelled) == 0)
        return FALSE;

    qd_error_set(error, QW_ERROR_CANCELLED, "the salvage was interrupted");
    return TRUE;
}

gboolean
qd_salvage_execute(QdSalvage *self, GError **error, const char *format, ...)
{
    g_autofree char *sql = NULL;
    va_list args;

    va_start(args, format);
    sql = g_strdup_vprintf(format, args);
    va_end(args);
    return !qd_salvage_is_cancelled(self, error) && qd_connection_execute(self->connection, sql, error);
}

gboolean
qd_salvage_can_go_on(GError **failure, GError **error)
{
    QwError code = qd_error_get_code(*failure);

    if (code != QW_ERROR_DISK_FULL && code != QW_ERROR_NO_MEMORY && code != QW_ERROR_INTERNAL)
        return TRUE;
    g_propagate_error(error, g_steal_pointer(failure));
    return FALSE;
}

gboolean
qd_salvage_try(QdSalvage *self, const char *what, const char *sql, GError **error)
{
    g_autoptr(GError) failure = NULL;

    if (qd_salvage_is_cancelled(self, error))
        return FALSE;
    if (qd_connection_execute(self->connection, sql, &failure))
        return TRUE;
    if (!qd_salvage_can_go_on(&failure, error))
        return FALSE;
    qd_salvage_report_note(self->report, "%s: %s", what, failure->message);
    self->report->n_left_out++;
    return TRUE;
}

gboolean
qd_salvage_is_virtual(const QdSalvageEntry *entry)
{
    return g_str_equal(entry->type, "table") && entry->root == 0 && entry->sql != NULL &&
           g_ascii_strncasecmp(entry->sql, "CREATE VIRTUAL", strlen("CREATE VIRTUAL")) == 0;
}

gboolean
qd_salvage_is_one_create(QdSalvage *self, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    const char *rest = "";
    gboolean alone;

    if (g_ascii_strncasecmp(sql, "CREATE ", strlen("CREATE ")) != 0)
        return FALSE;
    if (sqlite3_prepare_v2(qd_connection_get_db(self->connection), sql, -1, &stmt, &rest) != SQLITE_OK)
        return TRUE; /* it will say what is wrong with it */
    alone = rest[strspn(rest, " \t\r\n;")] == '\0';
    (void) sqlite3_finalize(stmt);
    return alone;
}

void
qd_salvage_bind_field(const QdSalvage *self, sqlite3_stmt *stmt, int number, const QdField *field)
{
    static const unsigned char encodings[] = { SQLITE_UTF8, SQLITE_UTF8, SQLITE_UTF16LE, SQLITE_UTF16BE };
    const void *data = field->n_bytes > 0 ? (const void *) field->data : "";
    gint64 bits;
    double number_value;

    if (field->type == 0) {
        (void) sqlite3_bind_null(stmt, number);
    } else if (qd_field_is_integer(field)) {
        (void) sqlite3_bind_int64(stmt, number, qd_field_get_int64(field));
    } else if (field->type == 7) {
        bits = qd_field_get_int64(field);
        memcpy(&number_value, &bits, sizeof bits);
        (void) sqlite3_bind_double(stmt, number, number_value);
    } else if (qd_field_is_text(field)) {
        (void) sqlite3_bind_text64(stmt, number, data, field->n_bytes, SQLITE_STATIC, encodings[self->encoding]);
    } else {
        (void) sqlite3_bind_blob64(stmt, number, data, field->n_bytes, SQLITE_STATIC);
    }
}
