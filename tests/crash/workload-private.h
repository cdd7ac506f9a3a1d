/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the parts of the workload share.
 */
#pragma once

#include "tests/crash/workload.h"

typedef enum WorkloadKind {
    WORKLOAD_ROWS,
    WORKLOAD_SPARQL,
    WORKLOAD_SCHEMA,
    WORKLOAD_IMPORT_ROWS,
    WORKLOAD_IMPORT_QUADS,
    WORKLOAD_PAYLOAD,         /* by SQL, which stores one and deletes an older one */
    WORKLOAD_REPLACE_PAYLOAD, /* by descriptor, mostly of a file to be taken over: one that is replaced again and again */
    WORKLOAD_FAILURE,
    WORKLOAD_MAINTENANCE,
    WORKLOAD_QUERY,
    WORKLOAD_SPARQL_QUERY,
} WorkloadKind;

#define WORKLOAD_IMPORT_N_ROWS 50
/* A unit of PAYLOAD stores one, and deletes that of the unit so many before it. */
#define WORKLOAD_N_PAYLOADS 4
/* Fewer than units: names are given up and needed again all the time. */
#define WORKLOAD_N_CONTENTS 7
#define WORKLOAD_NOT_ACKNOWLEDGED G_MAXUINT

typedef struct WorkloadClient {
    Workload *workload;
    WorkloadKind kind;
    guint index;
    guint pause; /* acknowledgements of all clients between two of its calls */
    guint next;  /* when to call again */
    gboolean busy;
    QdClient *client;
    GArray *positions;  /* of guint: where unit k, from 1, was acknowledged */
    int64_t payload_id; /* REPLACE_PAYLOAD; 0: none yet */
} WorkloadClient;

struct Workload {
    WorkloadConfig config;
    EngineDriver *driver;
    GPtrArray *clients; /* of WorkloadClient */
    GRand *rand;
    guint set_up_position;
    gboolean set_up_busy;
    guint n_acknowledged;
    guint n_failed;
    guint n_wrong_errors;
    char *last_error;
};

gboolean workload_is_relaxed(const WorkloadClient *client, guint k);
/* Of a row: the same for each (client, k), from 20 bytes to some pages. */
char *workload_make_text(guint client, guint k);
gboolean workload_text_is(guint client, guint k, const char *text, gsize n_bytes);
/* Of a payload: half of all units share few with all clients. Some go into their row, others have files of some pages. */
GBytes *workload_make_payload(guint client, guint k);
/* workload-calls.c: the call for unit @k. */
QdCall *workload_make_call(const WorkloadClient *client, guint k);
QdCall *workload_make_set_up_call(const Workload *self, QdClient *client);
