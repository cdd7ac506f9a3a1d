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
    WORKLOAD_FAILURE,
    WORKLOAD_MAINTENANCE,
    WORKLOAD_QUERY,
    WORKLOAD_SPARQL_QUERY,
} WorkloadKind;

#define WORKLOAD_IMPORT_N_ROWS 50
#define WORKLOAD_NOT_ACKNOWLEDGED G_MAXUINT

typedef struct WorkloadClient {
    Workload *workload;
    WorkloadKind kind;
    guint index;
    guint pause; /* acknowledgements of all clients between two of its calls */
    guint next;  /* when to call again */
    gboolean busy;
    QdClient *client;
    GArray *positions; /* of guint: where unit k, from 1, was acknowledged */
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
    char *last_error;
};

/* Of a row: the same for each (client, k), from 20 bytes to some pages. */
char *workload_make_text(guint client, guint k);
gboolean workload_text_is(guint client, guint k, const char *text, gsize n_bytes);
/* workload-calls.c: the call for unit @k. */
QdCall *workload_make_call(const WorkloadClient *client, guint k);
QdCall *workload_make_set_up_call(const Workload *self, QdClient *client);
