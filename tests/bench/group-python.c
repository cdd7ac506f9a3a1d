/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of five columns in Python: a million is read by fetchall(), some are written by executemany(). The package queryd and
 * Python's own module sqlite3 read the same file.
 */
#include "tests/bench/bench.h"
#include "tests/bench/python-script.h"

#define ROWS_READ "1000000"
#define ROWS_WRITTEN "200000"
#define ROWS_SMOKE "10000"
#define ROUNDS_MAX 5

/* @argument: the module */
static void
run_script(Bench *bench, gconstpointer argument)
{
    const char *n_read = bench_is_smoke(bench) ? ROWS_SMOKE : ROWS_READ;
    const char *n_written = bench_is_smoke(bench) ? ROWS_SMOKE : ROWS_WRITTEN;
    const char *const arguments[] = { n_read, n_written, NULL };

    python_script_run(bench, "/usr/bin/python3", "python_rows.py", argument, arguments);
}

static const BenchCase cases[] = {
    { "queryd", run_script, .argument = "queryd", .n_rounds_max = ROUNDS_MAX },
    { "sqlite3", run_script, .argument = "sqlite3", .n_rounds_max = ROUNDS_MAX },
};

const BenchGroup bench_python = {
    .name = "python",
    .title = "rows in Python: the package queryd and the module sqlite3",
    .reference = "sqlite3",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
