/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a group: all of its cases in turns, round by round, so that what the machine does meanwhile meets all of them.
 *
 * Place: the first process of the laboratory.
 */
#pragma once

#include "tests/bench/bench.h"
#include "tests/bench/figures.h"

typedef struct RoundsOptions {
    guint n_rounds;
    guint n_rows;
} RoundsOptions;

/* A warm-up and then the rounds. Prints a table. FALSE when a case failed or two differ in what they have read. */
gboolean rounds_run(const BenchGroup *group, const RoundsOptions *options, Figures *figures);

/* The process that rounds_run() starts for each sample, after "--case". Returns its exit status. */
int rounds_sample_main(const BenchGroup *const *groups, int argc, char **argv);
