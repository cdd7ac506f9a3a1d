/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ways to look up one row by its key; group-latency.c measures each of them.
 *
 * Place: tests/bench. Same core: client, server and bus share one processor; cross core: the client has another one.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "tests/bench/bench.h"
#include "tests/demo/founding-table.h"
#include "tests/demo/measure.h"

#define LATENCY_SERVER_CPU 1
#define LATENCY_CLIENT_CPU 0
#define LATENCY_SQL "SELECT * FROM " BENCH_TABLE " WHERE id = ?"

typedef struct LatencyProbe LatencyProbe;

typedef struct LatencyRun {
    Bench *bench;
    const LatencyProbe *probe;
    char *path;     /* the database file */
    gpointer state; /* the probe's own */
    CellSink sink;
} LatencyRun;

struct LatencyProbe {
    /* Before the clock; the process is bound to the server's processor meanwhile, and what it starts stays there. */
    void (*open)(LatencyRun *run);
    void (*call)(LatencyRun *run, gint64 id);
    const char *variant;
    gboolean has_no_server; /* placement has no meaning */
    gboolean has_no_row;    /* an empty call */
    gboolean uses_ring;     /* the library's transport */
    gboolean is_watched;    /* idle, and beside others who compute */
};

void latency_direct_open(LatencyRun *run);
void latency_direct_call(LatencyRun *run, gint64 id);
void latency_socket_open(LatencyRun *run); /* variant "echo": without SQLite */
void latency_echo_call(LatencyRun *run, gint64 id);
void latency_socket_call(LatencyRun *run, gint64 id);

void latency_direct_mode_open(LatencyRun *run);
void latency_prepared_open(LatencyRun *run);
void latency_prepared_call(LatencyRun *run, gint64 id);
void latency_ad_hoc_open(LatencyRun *run);
void latency_ad_hoc_call(LatencyRun *run, gint64 id);
void latency_anew_open(LatencyRun *run); /* keeps the connection to the bus */
void latency_anew_call(LatencyRun *run, gint64 id);
void latency_two_steps_call(LatencyRun *run, gint64 id);
void latency_value_open(LatencyRun *run);
void latency_value_call(LatencyRun *run, gint64 id);

void latency_sd_bus_open(LatencyRun *run);
void latency_sd_bus_call(LatencyRun *run, gint64 id); /* variant: "Ping" or "Lookup" */
void latency_gdbus_open(LatencyRun *run);
void latency_gdbus_call(LatencyRun *run, gint64 id);

/* GetInteger(n): argument is a LatencyRoute. */
typedef enum LatencyRoute {
    LATENCY_ROUTE_DBUS_DAEMON,
    LATENCY_ROUTE_DBUS_BROKER,
    LATENCY_ROUTE_PEER,
} LatencyRoute;

void latency_run_integers(Bench *bench, gconstpointer argument);
void latency_run_parts(Bench *bench, gconstpointer argument);

/* Samples of one quantity as p50, p90, p99 and p99.9 with a prefix: "cross" gives "cross.p50". */
void latency_record(const Bench *bench, const char *prefix, Samples *usec);

/* Copies what sd-bus has of a row as text. */
void latency_copy_sd_row(LatencyRun *run, sd_bus_message *reply);
