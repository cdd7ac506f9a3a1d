/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the parts of exec share: the engine's own parts and counters.
 *
 * Place: layer 4, private to exec.
 */
#pragma once

#include <pthread.h>

#include "daemon/exec/engine.h"
#include "daemon/exec/payload-crew.h"
#include "daemon/exec/pool.h"
#include "daemon/exec/registry.h"
#include "daemon/exec/run.h"
#include "daemon/exec/text-format.h"
#include "daemon/exec/workers.h"
#include "daemon/exec/writer.h"

typedef struct QdChannels QdChannels;
typedef struct QdJobs QdJobs;
typedef struct QdUpkeep QdUpkeep;

typedef struct QdCounters {
    uint64_t n_rows;     /* atomic: sent to readers */
    uint64_t n_bytes;    /* atomic */
    uint64_t n_errors;   /* atomic */
    uint64_t n_timeouts; /* atomic */
} QdCounters;

/* What commits have changed since the main thread was told last. */
typedef struct QdNews {
    pthread_mutex_t mutex;
    uint64_t generation;
    QdChanges *changes;
    gboolean is_posted; /* the main thread will look */
    gboolean is_held;   /* it looks when it wants to */
} QdNews;

struct QdEngine {
    QdEngineConfig config;
    char *directory;
    QdLimits limits;
    QdMailbox *mailbox;

    /* made when the database is open; never changed after */
    QdDatabase *database;
    QdPool *pool;
    QdWriter *writer;
    QdPayloads *payloads;
    QdPayloadCrew *crew;

    QdInterrupter *interrupter;
    QdWorkers *workers;
    QdChannels *channels;
    QdJobs *jobs;
    QdRegistry *registry;
    QdUpkeep *upkeep;
    QdCounters counters;
    QdNews news;
    gint ending;            /* atomic: a salvage is to stop */
    gint n_restores;        /* atomic: so often another database has come in place of this one */
    uint64_t activity_usec; /* atomic: when the main thread was told last */

    /* main thread only */
    gint state; /* QdEngineState, atomic for the statistics */
    GError *open_error;
    uint64_t reopen_usec; /* from then on a call tries to open what could not be opened */
    GPtrArray *held;      /* of QdCall, until the database is open */
    guint n_calls;
    gboolean draining;
    gboolean stopped; /* the workers are gone */
};

typedef enum QdEngineState {
    QD_ENGINE_OPENING,
    QD_ENGINE_RECOVERING, /* opening, by a salvage */
    QD_ENGINE_OPEN,
    QD_ENGINE_BROKEN,
} QdEngineState;

/* What a call carries besides its public half. */
struct QdCallPrivate {
    QdEngine *engine;
    QdTask task;
    QdEntry entry;
    QdWriteItem item;
    GArray *write_statements; /* of QdWriteStatement */
    gboolean deferred;        /* by may_be_long(): it goes back into the queue */
    QdPayloadDraft *draft;    /* (nullable) of a payload that is stored */
};

/* From any thread: the call is over; `done` will run on the main thread. */
void qd_call_finish(QdCall *call);

/* The default or the caller's time limit, within the cap. 0: none. */
uint64_t qd_engine_get_timeout_msec(QdEngine *self, QdLimit limit, gboolean has_timeout, uint64_t timeout_msec);

/* Any thread: what follows the class's `run`: its `write`, or the end. */
void qd_call_end(QdCall *call);
/* A task of the workers. */
void qd_call_run_on_worker(QdTask *task, QdWorkers *workers);

/* Makes the call's item one that writes for the call's client. ACCESS_DENIED when that may only read. */
gboolean qd_call_init_write(QdCall *call, void (*done)(QdWriteItem *item, gboolean own), GError **error);

/* The call's statement, leased, compiled and bound. */
QdRun *qd_call_start_bound_run(QdCall *call, GError **error);

/* Gets each page's body; it may end the run by returning FALSE. */
typedef gboolean (*QdPageFunc)(QdCall *call, const uint8_t *body, gsize n_bytes, uint32_t n_rows, uint32_t n_columns, void *data,
                               GError **error);
/* Pulls the whole result of @run, with counts in the call. */
gboolean qd_call_pull_pages(QdCall *call, QdRun *run, QdPageFunc func, void *data, GError **error);

/* What to do with text that has come in; it may leave it for later. */
typedef gboolean (*QdTextFlushFunc)(QdCall *call, GString *out, GError **error);

/* Pulls the whole result of @run and appends it to @out in the format that the call names. @flush: (nullable): after each page */
gboolean qd_call_pull_text(QdCall *call, QdRun *run, QdTextFlushFunc flush, GString *out, GError **error);
/* BAD_PARAMETER when no format has the name that the call has. */
gboolean qd_call_check_format(const QdCall *call, GError **error);

/* From any thread: the answer that a client gets; of CORRUPT a check follows. */
void qd_engine_note_error(QdEngine *self, const GError *error);
/* Main thread: a database that could not be opened is tried again. */
void qd_engine_reopen(QdEngine *self);

/* From any thread: something was done, so the time of idleness starts anew. Tells the main thread at most once a second. */
void qd_engine_note_activity(QdEngine *self);
