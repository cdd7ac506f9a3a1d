/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every part of the engine may ask for: limits, counters, the other parts, the way to the main thread.
 *
 * Place: below all rooms that serve calls, which get a pointer to it; the engine owns and fills it. The rooms above are named by
 * opaque pointers only.
 * Invariant: what the database brings (database, pool, writer, payloads) is set once, before the first call runs.
 */
#pragma once

#include "client-lib/wire/wire-record.h"
#include "daemon/base/limits.h"
#include "daemon/base/mailbox.h"

typedef struct QdClient QdClient;
typedef struct QdRegistry QdRegistry;
typedef struct QdWorkers QdWorkers;

typedef struct QdCounters {
    uint64_t n_rows;          /* atomic: sent to readers */
    uint64_t n_bytes;         /* atomic */
    uint64_t n_errors;        /* atomic */
    uint64_t n_timeouts;      /* atomic */
    uint64_t n_helped_ranges; /* atomic: of scans, that a second thread has executed */
} QdCounters;

/* What the parts tell the engine. */
typedef struct QdContextHooks {
    void (*activity)(void *user_data);                     /* main thread: it may have become idle */
    void (*suspect)(void *user_data);                      /* any thread: an error that only damage explains */
    void (*damaged)(const char *message, void *user_data); /* any thread: a check has found damage */
    void (*reopen)(void *user_data);                       /* main thread: a database that could not be opened may be there now */
    void *user_data;
} QdContextHooks;

typedef struct QdContext {
    QdLimits limits;
    char *directory;
    QdMailbox *mailbox;
    QdContextHooks hooks;

    /* made when the database is open; never changed after */
    struct QdDatabase *database;
    struct QdPool *pool;
    struct QdWriter *writer;
    struct QdPayloads *payloads;
    struct QdResultMemory *results;

    QdWorkers *workers;
    struct QdChannels *channels;
    struct QdJobs *jobs;
    QdRegistry *registry;
    QdCounters counters;
    gint wants_keys;        /* atomic: a subscription asks for keys of rows */
    gint n_request_bytes;   /* atomic: that are charged, of all clients */
    gint n_restores;        /* atomic: so often another database has come in place of this one */
    uint64_t activity_usec; /* atomic: when the main thread last heard of activity */
    guint n_calls;          /* main thread */
    gint n_told;            /* atomic: calls and channels that were answered before their thread has come back */
} QdContext;

/* The default or the caller's time limit, within the cap. 0: none. */
uint64_t qd_context_get_timeout_msec(const QdContext *self, QdLimit limit, gboolean has_timeout, uint64_t timeout_msec);

/* Of each channel and call, and not charged: the default page, so that each channel may always have one of it. */
#define QD_REQUEST_FREE_BYTES ((gsize) QW_PAGE_SIZE_DEFAULT)

/* Any thread: bytes of a request of @client (nullable: not known yet) that has no answer yet. FALSE with LIMIT_EXCEEDED: too many
 * of the client, or in all. */
gboolean qd_context_charge_request(QdContext *self, QdClient *client, gsize n_bytes, GError **error);
void qd_context_discharge_request(QdContext *self, QdClient *client, gsize n_bytes);

/* From any thread: the answer that a client gets; of CORRUPT a check follows. */
void qd_context_note_error(QdContext *self, const GError *error);
/* From any thread: something was done, so the idle time restarts. Tells the main thread at most once a second. */
void qd_context_note_activity(QdContext *self);
