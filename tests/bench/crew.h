/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Many clients at once, each a process of its own: they begin together, and each says what it has done.
 *
 * Place: tests/bench. A member waits for a byte on its standard input, works for so long and writes one line.
 */
#pragma once

#include "tests/bench/bench.h"

#define CREW_ROLE "crew"
#define CREW_WRITER_ROLE "crew-writer"

typedef struct CrewResult {
    double per_second;     /* rows of all members */
    double fairness;       /* the slowest member's by the fastest one's */
    double p99_msec;       /* of one execution: the median of the members' 99th percentiles */
    double p99_worst_msec; /* and the worst of them */
} CrewResult;

/*
 * @n members of a role, which work for @msec when they get a byte, and then say "ROWS P99_MSEC".
 */
CrewResult crew_run(const Bench *bench, guint n, const char *const *argv, guint msec);

/* @n members execute @sql, whose only parameter is a random key, for @msec. */
CrewResult crew_measure(const Bench *bench, guint n, const char *sql, guint msec);

/* A client that inserts rows durably, one after the other, until helpers_stop(). */
GPtrArray *crew_start_writer(void);

/* The roles. */
int crew_serve(int argc, char **argv);
int crew_serve_writer(int argc, char **argv);
