/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of five columns in Python: a million is read by fetchall(), some are written by executemany(). The package queryd and
 * Python's own module sqlite3 read the same file.
 */
#include "tests/bench/bench.h"
#include "tests/demo/helper.h"
#include "tests/demo/store-control.h"

#define ROWS_READ "1000000"
#define ROWS_WRITTEN "200000"
#define ROWS_SMOKE "10000"
#define ROUNDS_MAX 5

/* @argument: the module. The script says metric, unit and value in lines. */
static void
run_script(Bench *bench, gconstpointer argument)
{
    g_autofree char *database = get_database_path();
    g_autofree char *script = g_build_filename(g_getenv("QUERYD_SOURCE_ROOT"), "tests/bench/python_rows.py", NULL);
    const char *n_read = bench_is_smoke(bench) ? ROWS_SMOKE : ROWS_READ;
    const char *n_written = bench_is_smoke(bench) ? ROWS_SMOKE : ROWS_WRITTEN;
    const char *const argv[] = { "/usr/bin/python3", script, argument, database, n_read, n_written, NULL };
    g_autoptr(GError) error = NULL;
    g_autofree char *output = NULL;
    g_autofree char *errors = NULL;
    g_auto(GStrv) lines = NULL;
    int status = 0;

    if (!g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, &errors, &status, &error))
        bench_skip(bench, "%s", error->message);
    if (status != 0)
        bench_skip(bench, "%s", g_strdelimit(g_strstrip(errors), "\t\n", ' '));
    lines = g_strsplit(g_strchomp(output), "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++) {
        g_auto(GStrv) fields = g_strsplit(lines[i], "\t", -1);

        if (g_strv_length(fields) != 3)
            bench_fail(bench, "'%s' says '%s'", script, lines[i]);
        if (g_str_equal(fields[1], "checksum"))
            bench_check(bench, fields[0], g_ascii_strtoull(fields[2], NULL, 10));
        else
            bench_record(bench, fields[0], fields[1], g_ascii_strtod(fields[2], NULL));
    }
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
