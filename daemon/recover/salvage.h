/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A damaged database file into a new, whole one: everything that can be read, and a report of the rest.
 *
 * Place: room recover. The damaged file is read page by page without SQLite (tree-scan.h) and not changed. Rows go into the new
 * file by SQL, so its constraints judge them once more.
 * Invariant: after a failure there is no new file.
 */
#pragma once

#include "daemon/base/limits.h"
#include "daemon/recover/salvage-report.h"
#include "daemon/sqlite/connection.h"

typedef struct QdSalvageOptions {
    const char *source; /* path; its log is beside it */
    const char *target; /* path: made or replaced */
    const QdLimits *limits;
    QdConnectionSetup setup; /* (nullable): without it what calls our functions is made without that */
    const gint *cancelled;   /* (nullable) atomic: non-zero ends it */
    guint64 start_counter;   /* at least so many starts the new store has counted */
} QdSalvageOptions;

/**
 * qd_salvage_run:
 * @report: filled, also by a run that fails
 *
 * Blocks for as long as it takes to read and write the whole file. The new file is durable when this returns.
 *
 * Errors: CORRUPT (no schema can be read), DISK_FULL, NO_MEMORY, CANCELLED
 */
gboolean qd_salvage_run(const QdSalvageOptions *options, QdSalvageReport *report, GError **error);
