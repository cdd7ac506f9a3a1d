/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whole tables as data frames of Python. The driver for ADBC is beside the module sqlite3 with a frame of its rows, and beside
 * DuckDB with a file of its own. A million rows by ADBC's bulk ingest and by queryctl's import. QUERYD_ARROW_PYTHON is the
 * interpreter.
 */
#include "tests/bench/bench.h"
#include "tests/bench/python-script.h"

#define ROWS_INGESTED "1000000"
#define ROWS_SMOKE "10000"
#define ROUNDS_MAX 5

static void
run_case(Bench *bench, gconstpointer argument)
{
    const char *python = g_getenv("QUERYD_ARROW_PYTHON");
    const char *const arguments[] = { bench_is_smoke(bench) ? ROWS_SMOKE : ROWS_INGESTED, NULL };

    if (python == NULL || *python == '\0')
        bench_skip(bench, "QUERYD_ARROW_PYTHON names no interpreter with pyarrow, pandas, polars and duckdb");
    python_script_run(bench, python, "arrow_rows.py", argument, arguments);
}

static const BenchCase cases[] = {
    { "ADBC", run_case, .argument = "ADBC", .n_rounds_max = ROUNDS_MAX },
    { "sqlite3", run_case, .argument = "sqlite3", .n_rounds_max = ROUNDS_MAX },
    { "DuckDB", run_case, .argument = "DuckDB", .n_rounds_max = ROUNDS_MAX },
    { "queryctl", run_case, .argument = "queryctl", .n_rounds_max = ROUNDS_MAX },
};

const BenchGroup bench_arrow = {
    .name = "arrow",
    .title = "data frames: the driver for ADBC, the module sqlite3, DuckDB, and queryctl import",
    .reference = "sqlite3",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
