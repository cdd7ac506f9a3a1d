/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is done to a store while it is in danger, and what has to be in it afterwards.
 *
 * Clients, each with one call at a time. They have rows in several tables and SPARQL updates that keep a counter right, and
 * updates that fail in each way. Also schema changes, imports of CSV and RDF, VACUUM, ANALYZE, checkpoints and queries. Each
 * update is a unit: it has to be there whole when it was acknowledged. It may be there, but only whole, when it was not.
 */
#pragma once

#include "daemon/sqlite/connection.h"
#include "tests/crash/engine-driver.h"
#include "tests/crash/memory-disk.h"

typedef struct Workload Workload;

typedef enum WorkloadDurability {
    WORKLOAD_DURABLE,
    WORKLOAD_RELAXED,
    WORKLOAD_MIXED, /* each client's: two relaxed ones, then one that is durable */
} WorkloadDurability;

typedef struct WorkloadConfig {
    const char *directory; /* of the store; as long as the workload runs */
    MemoryDisk *disk;      /* an acknowledgement is noted with the number of operations of the disk at that time */
    guint32 seed;
    WorkloadDurability durability;
    gboolean may_fail;     /* errors are part of the plan, or else the end of the program */
    gboolean is_disk_full; /* the only error that may come, and to updates only, is DISK_FULL */
    guint n_import_quads;  /* of each import of RDF */
} WorkloadConfig;

typedef struct WorkloadReport {
    guint n_lost;           /* durable units acknowledged and not there */
    guint n_lost_relaxed;   /* relaxed ones, which may be */
    guint n_half;           /* units there in part, counters that are wrong, and units lost before one that is there */
    guint n_payload_faults; /* payloads whose content is not there, or is another */
    guint n_payload_faults_relaxed;
    guint n_found;
    char *first_problem; /* (owned) (nullable) */
} WorkloadReport;

Workload *workload_new(const WorkloadConfig *config);
Workload *workload_free(Workload *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Workload, workload_free)

/* From here on calls go to @driver; NULL before it is freed. */
void workload_connect(Workload *self, EngineDriver *driver);
/* Makes the tables, once. Returns: false when they are not there. */
gboolean workload_set_up(Workload *self);
/* All clients at once, until the disk has done @n_ops operations. */
void workload_run(Workload *self, guint n_ops);
/* Each client once, one after the other. Returns: how many failed that should not */
guint workload_run_each(Workload *self);

guint workload_get_n_acknowledged(const Workload *self);
guint workload_get_n_failed(const Workload *self);
/* Of them, those that are of another kind than they may be. */
guint workload_get_n_wrong_errors(const Workload *self);
/* (nullable): of the last call that failed unexpectedly */
const char *workload_get_last_error(const Workload *self);

/* @position: only what was acknowledged up to this operation has to be there. @connection: of the store, opened again. */
void workload_check(const Workload *self, QdConnection *connection, guint position, WorkloadReport *report);
