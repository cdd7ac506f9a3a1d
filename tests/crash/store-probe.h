/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opens a store as the daemon does after a crash, and looks at it.
 */
#pragma once

#include "tests/crash/workload.h"

typedef struct ProbeResult {
    gint64 n_columns;        /* stored ones that would be read */
    guint n_orphans;         /* payload files that are left after a sweep and that no row has */
    guint n_check_faults;    /* payloads that are missing or damaged, says the check of them */
    gboolean check_is_wrong; /* the workload has found more of them, or fewer */
    gboolean corrupt;        /* it cannot be opened, or integrity_check has found something */
    WorkloadReport report;
} ProbeResult;

/* The store in @directory, on the disk that is inserted. @position: see workload_check(). Clear the result. */
void store_probe_run(const char *directory, const Workload *workload, guint position, ProbeResult *ret_result);
void store_probe_clear(ProbeResult *result);
