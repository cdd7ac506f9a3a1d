/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The laboratory: groups of cases that are measured in rounds, each sample by a process of its own.
 *
 * Place: tests/bench; everything else there is a group, a reference that it compares with, or a tool.
 * Invariant: a case writes nothing to standard output but by these functions; its samples reach the first process that way.
 *
 * To add a case, add a line to the table of its group. To add a group, add a file with a BenchGroup and a line to bench-main.c.
 * A metric may end in "@X", a number: then it is one point of a curve, which the report draws over X.
 */
#pragma once

#include <query-client.h>

#define BENCH_TABLE "founding"
#define BENCH_ROWS_DEFAULT 300000u

/* One sample under way. */
typedef struct Bench {
    const char *group;
    const char *case_name;
    guint round;  /* 0: the warm-up, whose samples are dropped; from 1 on they count */
    guint n_rows; /* of BENCH_TABLE */
    GPid daemon;
    GPid bus;
} Bench;

typedef struct BenchCase {
    const char *name;
    void (*run)(Bench *bench, gconstpointer argument);
    gconstpointer argument;
    const char *reference; /* the case that its metrics are divided by; NULL: the group's */
    guint n_rounds_max;    /* for what takes long; 0: as many as all */
} BenchCase;

typedef struct BenchGroup {
    const char *name;
    const char *title;
    const char *reference;
    const BenchCase *cases;
    gsize n_cases;
    gboolean wants_fresh_daemon; /* for each sample; else for the group */
} BenchGroup;

extern const BenchGroup bench_fetch;
extern const BenchGroup bench_buffers;
extern const BenchGroup bench_latency;
extern const BenchGroup bench_concurrency;
extern const BenchGroup bench_memory;
extern const BenchGroup bench_ipc;
extern const BenchGroup bench_cache;
extern const BenchGroup bench_sparql;
extern const BenchGroup bench_items;
extern const BenchGroup bench_notify;
extern const BenchGroup bench_remembered;
extern const BenchGroup bench_scale;
extern const BenchGroup bench_inserts;
extern const BenchGroup bench_hostile;
extern const BenchGroup bench_python;
extern const BenchGroup bench_tpch;
extern const BenchGroup bench_arrow;
extern const BenchGroup bench_http;
extern const BenchGroup bench_bibliography;

/* What a case may say ------------------------------------------------------------------------------------------------------ */

/* A sample; dropped in the warm-up. */
void bench_record(const Bench *self, const char *metric, const char *unit, double value);

/* A point of a curve: @metric at @x. */
void bench_record_at(const Bench *self, const char *metric, guint64 x, const char *unit, double value);

/* What needs no rounds and would disturb them, such as memory that is looked at all the time: call it in the warm-up. */
void bench_record_once(const Bench *self, const char *metric, const char *unit, double value);

/* All cases of a group must say the same for one @what: a checksum of what they have read. */
void bench_check(const Bench *self, const char *what, guint64 checksum);

/* A daemon that the case has ended had used so much processor time: it counts as ours, not as that of other programs. */
void bench_retire_daemon(const Bench *self, double cpu_msec);

/* Ends the process: the case cannot run here, and @format says why. */
G_NORETURN void bench_skip(const Bench *self, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Ends the process, and the whole run with a failure. */
G_NORETURN void bench_fail(const Bench *self, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Is this the round in which checksums and memory are looked at? */
static inline gboolean
bench_is_warm_up(const Bench *self)
{
    return self->round == 0;
}

/* Is the table smaller than the founding report's? Then durations may be shorter, too: only that all works is of interest. */
static inline gboolean
bench_is_smoke(const Bench *self)
{
    return self->n_rows < BENCH_ROWS_DEFAULT;
}
