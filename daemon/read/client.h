/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a client is charged for: the counts of the limits "… of one client".
 *
 * Place: the lowest that charges; the bus layer makes a client for each process or sandbox that calls. Counts are atomics: workers
 * charge and discharge them. Invariant: every charge is held by exactly one object (channel, lease, run slot, job), which gives it
 * back when it ends.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct QdAccess QdAccess;
typedef struct QdClient QdClient;
typedef struct QdLimits QdLimits;
typedef struct QdMemoryAccount QdMemoryAccount;

typedef enum QdCharge {
    QD_CHARGE_CHANNEL,
    QD_CHARGE_SNAPSHOT,
    QD_CHARGE_RUNNING,
    QD_CHARGE_LONG,   /* of those running, the ones that take long */
    QD_CHARGE_BESIDE, /* run beside these, and are none of them */
    QD_CHARGE_JOB,
    QD_CHARGE_RING,          /* in bytes */
    QD_CHARGE_REQUEST_BYTES, /* of requests, but for few of each channel */
    QD_CHARGE_LARGE_PAGES,   /* in bytes */
    QD_CHARGE_SUBSCRIPTION,
    QD_CHARGE_SUBSCRIPTION_BYTES,
    QD_CHARGE_RESULTS,        /* in bytes: that are remembered for it */
    QD_CHARGE_SHARED_RESULTS, /* in bytes: the same in shared memory */
    QD_CHARGE_SERVICE,        /* requests to endpoints */
    QD_N_CHARGES,
} QdCharge;

/* Its updates that wait: write-queue.h. */
typedef struct QdWriteLane {
    struct QdWriteLane *next;
    struct QdWriteItem *first;
    struct QdWriteItem **end;
    guint n;
} QdWriteLane;

/* Its tasks that wait for a slot: task-list.h. */
typedef struct QdTaskLane {
    struct QdTaskLane *next;
    struct QdTask *first;
    struct QdTask **end;
    guint n;
} QdTaskLane;

/* What the processes of one application have together. */
typedef struct QdApplication {
    gint ref_count;
    gint n_channels;         /* atomic */
    QdMemoryAccount *memory; /* (owned) */
} QdApplication;

struct QdClient {
    gint ref_count;
    QdApplication *application; /* (nullable): a process by itself */
    char *label;
    gboolean is_sandboxed;
    QdAccess *access;    /* atomic; (nullable): it may do everything */
    GPtrArray *accesses; /* (nullable) of QdAccess: this one and earlier ones, which a run may still look at */
    guint n_revocations; /* atomic */
    QdWriteLane write_lane;
    QdTaskLane task_lanes[2];
    QdMemoryAccount *memory; /* (owned): unless the application's is meant */
    gint charges[QD_N_CHARGES];
};

/* Takes one unit of @charge when the client has fewer than @limit; false when it has not. */
gboolean qd_client_charge(QdClient *self, QdCharge charge, uint64_t limit);
void qd_client_discharge(QdClient *self, QdCharge charge);
/* The same for @n units at once. */
gboolean qd_client_charge_many(QdClient *self, QdCharge charge, guint n, uint64_t limit);
void qd_client_discharge_many(QdClient *self, QdCharge charge, guint n);
guint qd_client_get_n_charged(const QdClient *self, QdCharge charge);

/* Clients: what is charged to each process. One object for each process (or sandbox) that calls; kept by the bus layer while
 * the peer lives. */
QdClient *qd_client_new(const char *label);
QdClient *qd_client_ref(QdClient *client);
void qd_client_unref(QdClient *client);
const char *qd_client_get_label(const QdClient *client);
/* Before it is charged: it is a process of the same application as @other (nullable: the first one that is known of it). */
void qd_client_join(QdClient *self, QdClient *other);
/* What the statements of its application hold, or its own; there as long as the client. NULL for NULL, who is no client. */
QdMemoryAccount *qd_client_get_memory(QdClient *self);
/* Open channels of its application, or its own. */
guint qd_client_count_channels(const QdClient *self);
/* A sandboxed client, from now on with @access (transfer full) (nullable: to everything in this store). Thread: main. */
void qd_client_set_access(QdClient *client, QdAccess *access);
/* (transfer none): as long as the client. NULL: it may do everything. */
const QdAccess *qd_client_get_access(const QdClient *client);
gboolean qd_client_is_sandboxed(const QdClient *client);
/* How often a grant was taken back from it. Read it before the access that it is kept beside. */
guint qd_client_get_n_revocations(const QdClient *client);
/* ACCESS_DENIED when a grant was taken back since that was @n_revocations: what began before does not go on. */
gboolean qd_client_check_kept(const QdClient *client, guint n_revocations, GError **error);
/* Whether it may be given what others have asked for, and they what it has: a sandboxed one may not see everything. */
gboolean qd_client_shares_results(const QdClient *client);
/* ACCESS_DENIED for one that may write nothing at all. */
gboolean qd_client_check_write(const QdClient *client, GError **error);
/* The same for one that may not write everything. */
gboolean qd_client_check_write_all(const QdClient *client, GError **error);
/* Whether it may ask endpoints by SERVICE: ACCESS_DENIED for one in a sandbox, which would reach a network that is not its own. */
gboolean qd_client_check_service(const QdClient *client, GError **error);
/* Charges a subscription with a text of so many bytes; LIMIT_EXCEEDED. */
gboolean qd_client_take_subscription(QdClient *client, gsize n_text_bytes, const QdLimits *limits, GError **error);
void qd_client_give_subscription(QdClient *client, gsize n_text_bytes);
/* Whether there are references besides the caller's: a channel, a job, a waiting call. */
gboolean qd_client_is_charged(const QdClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdClient, qd_client_unref)
