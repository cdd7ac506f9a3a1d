/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Progress, errors and formats of what is moved in and out.
 */
#include <errno.h>
#include <stdio.h>

#include "client-lib/queryctl/transfer/transfer-private.h"

#define PROGRESS_USEC (100 * G_TIME_SPAN_MILLISECOND)

void
qctl_transfer_fail_errno(GError **error, const char *what, const char *name)
{
    int saved = errno;

    g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(saved), "%s '%s': %s", what, name, g_strerror(saved));
}

void
qctl_progress_show(guint64 rows_done, guint64 bytes_done, guint64 bytes_total, gpointer user_data)
{
    QctlProgress *progress = user_data;
    gint64 now = g_get_monotonic_time();
    g_autofree char *done = NULL;
    g_autofree char *total = NULL;

    if (now - progress->last_usec < PROGRESS_USEC)
        return;

    progress->last_usec = now;
    progress->shown = true;
    done = g_format_size(bytes_done);
    total = g_format_size(bytes_total);
    if (bytes_total > 0)
        (void) fprintf(stderr, "\r%s: %3u %% of %s\033[K", progress->what,
                       (guint) (100.0 * (double) bytes_done / (double) bytes_total), total);
    else
        (void) fprintf(stderr, "\r%s: %s\033[K", progress->what, done);
    (void) fflush(stderr);
}

void
qctl_progress_clear(const QctlProgress *self)
{
    if (self->shown)
        (void) fputs("\r\033[K", stderr);
}

const char *
qctl_transfer_guess_format(const QctlArguments *arguments, const char *name)
{
    if (arguments->output.format == QCTL_FORMAT_REMOTE)
        return arguments->output.remote_format;
    if (arguments->output.format != QCTL_FORMAT_AUTO)
        return qctl_format_get_name(arguments->output.format);
    return name != NULL ? qctl_format_guess(name) : NULL;
}

bool
qctl_transfer_refuse_format(const QctlVerb *verb, const char *names, GError **error)
{
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s: the format is one of %s", verb->name, names);
    return false;
}
