/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A store whose database is damaged becomes one whose database is whole: salvage, report, replacement.
 *
 * Place: room recover. No process has the database open, and the caller holds the store's lock.
 * Invariant: a recovery that fails has changed nothing.
 */
#pragma once

#include "daemon/base/limits.h"
#include "daemon/sqlite/connection.h"

typedef struct QdRecoveryOptions {
    const char *directory;
    const QdLimits *limits;
    QdConnectionSetup setup; /* (nullable) */
    const gint *cancelled;   /* (nullable) atomic */
    guint64 start_counter;   /* at least so many starts the store has counted, as far as is known */
} QdRecoveryOptions;

typedef struct QdRecoveryResult {
    char *aside;  /* path of the damaged file */
    char *report; /* path */
    guint64 n_rows;
    guint64 n_doubtful_rows; /* of them: they may be of another table */
    guint64 n_lost_rows;
    guint64 n_lost_pages;
    guint n_left_out; /* definitions that could not be made as they were */
} QdRecoveryResult;

void qd_recovery_result_clear(QdRecoveryResult *self);

/* Errors: as of qd_salvage_run(). DISK_FULL before anything is written, if the space is not there. */
gboolean qd_recovery_run(const QdRecoveryOptions *options, QdRecoveryResult *ret_result, GError **error);
