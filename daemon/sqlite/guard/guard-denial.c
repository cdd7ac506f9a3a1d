/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why a statement was denied: the first reason counts, since SQLite may go on asking.
 */
#include "daemon/sqlite/guard/guard-private.h"

int
qd_guard_deny(QdGuard *self, QwError code, const char *format, ...)
{
    va_list args;

    if (self->denial_code != 0)
        return SQLITE_DENY;

    va_start(args, format);
    self->denial_code = code;
    self->denial = g_strdup_vprintf(format, args);
    va_end(args);
    return SQLITE_DENY;
}

void
qd_guard_set_time_error(const QdGuard *self, GError **error)
{
    if (self->compile_deadline_usec == self->caller_end_usec)
        qd_error_set(error, QW_ERROR_TIMEOUT,
                     "statement took longer to compile than its %" G_GUINT64_FORMAT
                     " ms ('timeout_ms' of the caller or the daemon)",
                     self->caller_msec);
    else
        qd_error_set(error, QW_ERROR_TOO_COMPLEX,
                     "statement is too complex: it takes too long to compile: the limit 'compile_ms' is %" G_GUINT64_FORMAT " ms",
                     self->compile_msec);
}

int
qd_guard_deny_for_time(QdGuard *self)
{
    g_autoptr(GError) error = NULL;

    qd_guard_set_time_error(self, &error);
    return qd_guard_deny(self, qd_error_get_code(error), "%s", error->message);
}

void
qd_guard_forget_denial(QdGuard *self)
{
    self->denial_code = 0;
    g_clear_pointer(&self->denial, g_free);
}

gboolean
qd_guard_get_denial(const QdGuard *self, GError **error)
{
    if (self->denial_code == 0)
        return FALSE;

    qd_error_set(error, self->denial_code, "%s", self->denial);
    return TRUE;
}
