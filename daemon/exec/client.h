/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a client is charged for: the counts behind the limits "… of one client".
 *
 * Place: layer 4; private to exec, engine.h has the public part. Counts are atomics: workers charge and discharge them.
 * Invariant: every charge is held by exactly one object (channel, lease, run slot, job), which gives it back when it ends.
 */
#pragma once

#include "daemon/exec/engine.h"

typedef enum QdCharge {
    QD_CHARGE_CHANNEL,
    QD_CHARGE_SNAPSHOT,
    QD_CHARGE_RUNNING,
    QD_CHARGE_LONG, /* of those running, the ones that take long */
    QD_CHARGE_JOB,
    QD_CHARGE_RING, /* in bytes */
    QD_CHARGE_SUBSCRIPTION,
    QD_CHARGE_SUBSCRIPTION_BYTES,
    QD_N_CHARGES,
} QdCharge;

/* Its updates that wait: write-queue.h. */
typedef struct QdWriteLane {
    struct QdWriteLane *next;
    struct QdWriteItem *first;
    struct QdWriteItem **end;
    guint n;
} QdWriteLane;

struct QdClient {
    gint ref_count;
    char *label;
    gint read_only; /* atomic */
    QdWriteLane write_lane;
    gint charges[QD_N_CHARGES];
};

/* Takes one unit of @charge when the client has fewer than @limit; false when it has not. */
gboolean qd_client_charge(QdClient *self, QdCharge charge, uint64_t limit);
void qd_client_discharge(QdClient *self, QdCharge charge);
/* The same for @n units at once. */
gboolean qd_client_charge_many(QdClient *self, QdCharge charge, guint n, uint64_t limit);
void qd_client_discharge_many(QdClient *self, QdCharge charge, guint n);
