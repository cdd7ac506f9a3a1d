/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that take payloads in and sweep their files: reading a caller's file, hashing and syncing, for several at once.
 *
 * Place: room job. What may stall, such as a pipe, is handed on to a job thread (jobs.h), which counts against the caller.
 * Invariant: a thread that has had nothing to do for a while is gone.
 */
#pragma once

#include "daemon/payload/payload-sweep.h"

typedef struct QdCall QdCall;
typedef struct QdContext QdContext;
typedef struct QdPayloadPool QdPayloadPool;

/* qd_payload_pool_new: starts no thread yet. */
QdPayloadPool *qd_payload_pool_new(QdContext *context);
/* qd_payload_pool_free: waits for what is under way. */
QdPayloadPool *qd_payload_pool_free(QdPayloadPool *self);

/* qd_payload_pool_push: @call stores or replaces a payload; it finishes with BUSY when too many wait. Thread: any. */
void qd_payload_pool_push(QdPayloadPool *self, QdCall *call);
/* qd_payload_pool_sweep: files that no row needs are deleted soon; when all are looked at, in a tenth of the time. Thread: any. */
void qd_payload_pool_sweep(QdPayloadPool *self, QdPayloadSweep what);
