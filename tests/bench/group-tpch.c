/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQL of decision support: the 22 queries of TPC-H, and star joins. queryd and SQLite with its defaults read the same tables.
 */
#include "tests/bench/bench.h"
#include "tests/bench/python-script.h"

#define SCALE "0.1"
#define SCALE_SMOKE "0.001"
#define ROUNDS_MAX 5

/* @argument: the module */
static void
run_script(Bench *bench, gconstpointer argument)
{
    const char *const arguments[] = { bench_is_smoke(bench) ? SCALE_SMOKE : SCALE, NULL };

    python_script_run(bench, "/usr/bin/python3", "tpch.py", argument, arguments);
}

static const BenchCase cases[] = {
    { "queryd", run_script, .argument = "queryd", .n_rounds_max = ROUNDS_MAX },
    { "sqlite3", run_script, .argument = "sqlite3", .n_rounds_max = ROUNDS_MAX },
};

const BenchGroup bench_tpch = {
    .name = "tpch",
    .title = "SQL of decision support: the queries of TPC-H and star joins, queryd and SQLite with its defaults",
    .reference = "sqlite3",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
