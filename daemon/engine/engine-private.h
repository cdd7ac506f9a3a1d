/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine as its own files see it.
 *
 * Place: private to the room engine.
 */
#pragma once

#include <pthread.h>

#include "daemon/engine/engine.h"
#include "daemon/runtime/context.h"

typedef struct QdInterrupter QdInterrupter;
typedef struct QdPayloadPool QdPayloadPool;
typedef struct QdMaintenance QdMaintenance;
typedef struct QdRenewal QdRenewal;

/* What commits have changed since the main thread last took the changes. */
typedef struct QdNews {
    pthread_mutex_t mutex;
    uint64_t generation;
    QdChanges *changes;
    gboolean is_posted; /* the main thread will look */
    gboolean is_held;   /* it looks when it wants to */
} QdNews;

struct QdEngine {
    QdContext context;
    QdEngineConfig config;

    QdPayloadPool *payload_pool;

    QdInterrupter *interrupter;
    QdMaintenance *maintenance;
    QdRenewal *renewal;
    QdNews news;
    gint ending;         /* atomic: a salvage is to stop */
    gint wants_memory;   /* atomic: what is remembered goes at the next sweep */
    guint64 n_pressures; /* atomic: so often there was too little memory */

    /* main thread only */
    gint state; /* QdEngineState, atomic for the statistics */
    GError *open_error;
    gint64 rights_usec;   /* when qd_engine_can_write_again() has looked last */
    uint64_t reopen_usec; /* from then on a call tries to open what could not be opened */
    GPtrArray *held;      /* of QdCall, until the database is open */
    gboolean draining;
    gboolean stopped; /* the workers are gone */
};

typedef enum QdEngineState {
    QD_ENGINE_OPENING,
    QD_ENGINE_RECOVERING, /* opening, by a salvage */
    QD_ENGINE_OPEN,
    QD_ENGINE_BROKEN,
} QdEngineState;
