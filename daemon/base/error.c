/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The GError domain of the engine. The place in a text travels at the front of the message, as "line:column: ".
 */
#include "daemon/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/* What an error has beside its message. */
typedef struct Extra {
    char **details; /* (nullable): keys and values in turn */
} Extra;

static Extra *
get_extra(const GError *error)
{
    const gsize unit = 2 * sizeof(gsize); /* as G_DEFINE_EXTENDED_ERROR has it */

    return (Extra *) (void *) ((guint8 *) error - ((sizeof(Extra) + unit - 1) & ~(unit - 1)));
}

static void
extra_init(GError *error)
{
    get_extra(error)->details = NULL;
}

static void
extra_copy(const GError *error, GError *copy)
{
    get_extra(copy)->details = g_strdupv(get_extra(error)->details);
}

static void
extra_clear(GError *error)
{
    g_clear_pointer(&get_extra(error)->details, g_strfreev);
}

/* Not G_DEFINE_EXTENDED_ERROR: it would choose the domain's name. */
GQuark
qd_error_quark(void)
{
    static gsize quark;

    if (g_once_init_enter(&quark))
        g_once_init_leave(&quark,
                          g_error_domain_register_static("qd-error-quark", sizeof(Extra), extra_init, extra_copy, extra_clear));
    return (GQuark) quark;
}

void
qd_error_set(GError **error, QwError code, const char *format, ...)
{
    va_list args;

    if (error == NULL)
        return;

    va_start(args, format);
    g_clear_error(error);
    *error = g_error_new_valist(QD_ERROR, (int) code, format, args);
    va_end(args);
}

static QwError
code_from_errno(int errno_value)
{
    switch (errno_value) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: /* a limit on the size of files */
        return QW_ERROR_DISK_FULL;
    case ENOMEM:
        return QW_ERROR_NO_MEMORY;
    case EMFILE:
    case ENFILE:
        return QW_ERROR_LIMIT_EXCEEDED;
    case EACCES:
    case EPERM:
        return QW_ERROR_ACCESS_DENIED;
    case EROFS:
        return QW_ERROR_READ_ONLY;
    case EPIPE: /* the other end of what we were given */
    case ECONNRESET:
        return QW_ERROR_CLOSED;
    default: /* the kernel's numbers, not our enum */
        return QW_ERROR_INTERNAL;
    }
}

void
qd_error_set_errno(GError **error, int errno_value, const char *format, ...)
{
    g_autofree char *what = NULL;
    va_list args;

    va_start(args, format);
    what = g_strdup_vprintf(format, args);
    va_end(args);

    qd_error_set(error, code_from_errno(errno_value), "%s: %s", what, g_strerror(errno_value));
}

void
qd_error_set_at(GError **error, QwError code, const char *text, size_t n_bytes, size_t offset, const char *format, ...)
{
    g_autofree char *what = NULL;
    guint line = 1;
    guint column = 1;
    va_list args;

    va_start(args, format);
    what = g_strdup_vprintf(format, args);
    va_end(args);

    for (size_t i = 0; i < MIN(offset, n_bytes); i++) {
        if (text[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char) text[i] & 0xc0) != 0x80) {
            column++;
        }
    }
    qd_error_set(error, code, "%u:%u: %s", line, column, what);
}

void
qd_error_add_detail(GError *error, const char *key, const char *value)
{
    Extra *extra = error->domain == QD_ERROR ? get_extra(error) : NULL;
    guint n = extra != NULL && extra->details != NULL ? g_strv_length(extra->details) : 0;

    if (extra == NULL)
        return;
    extra->details = g_renew(char *, extra->details, n + 3);
    extra->details[n] = g_strdup(key);
    extra->details[n + 1] = g_strdup(value);
    extra->details[n + 2] = NULL;
}

char **
qd_error_get_details(const GError *error)
{
    return error->domain == QD_ERROR ? get_extra(error)->details : NULL;
}

QwError
qd_error_get_code(const GError *error)
{
    if (error->domain != QD_ERROR || error->code < QW_ERROR_FIRST || error->code > QW_ERROR_LAST)
        return QW_ERROR_INTERNAL;

    return (QwError) error->code;
}

void
qd_error_get_place(const GError *error, guint *ret_line, guint *ret_column)
{
    guint line = 0;
    guint column = 0;
    char separator = 0;

    if (sscanf(error->message, "%9u:%9u%c", &line, &column, &separator) != 3 || separator != ':')
        line = column = 0;

    *ret_line = line;
    *ret_column = column;
}
