/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQL of decision support: the 22 queries of TPC-H, and star joins. queryd and SQLite with its defaults read the same tables, each
 * query in turns.
 */
#include "tests/bench/bench.h"
#include "tests/bench/python-script.h"

#define SCALE "0.1"
#define SCALE_SMOKE "0.001"
#define ROUNDS_MAX 5

static void
run_script(Bench *bench, G_GNUC_UNUSED gconstpointer argument)
{
    const char *const arguments[] = { bench_is_smoke(bench) ? SCALE_SMOKE : SCALE, NULL };

    python_script_run(bench, "/usr/bin/python3", "tpch.py", "both", arguments);
}

static const BenchCase cases[] = {
    { "queryd and sqlite3", run_script, .n_rounds_max = ROUNDS_MAX },
};

const BenchGroup bench_tpch = {
    .name = "tpch",
    .title = "SQL of decision support: the queries of TPC-H and star joins, queryd and SQLite with its defaults in turns",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
