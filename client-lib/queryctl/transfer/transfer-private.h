/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What import, export, dump, backup and restore share.
 *
 * Place: layer B, within client-lib/queryctl/transfer.
 */
#pragma once

#include "client-lib/queryctl/verbs.h"

/* Shown on standard error while the daemon works. */
typedef struct QctlProgress {
    bool shown;
    gint64 last_usec;
    const char *what;
} QctlProgress;

/* A QueryProgressFunc; @user_data is a QctlProgress. */
void qctl_progress_show(guint64 rows_done, guint64 bytes_done, guint64 bytes_total, gpointer user_data);
void qctl_progress_clear(const QctlProgress *self);

/* Sets the error of errno: "WHAT 'NAME': …" */
void qctl_transfer_fail_errno(GError **error, const char *what, const char *name);

/* (nullable): the format that the arguments say, or else the end of @name (nullable) */
const char *qctl_transfer_guess_format(const QctlArguments *arguments, const char *name);

/* Sets the error that @names are the formats of @verb. Returns: false */
bool qctl_transfer_refuse_format(const QctlVerb *verb, const char *names, GError **error);
