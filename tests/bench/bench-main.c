/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * "tests/run bench": measures the groups that were asked for, judges the bars, writes JSON and the report.
 *
 * Place: on the bus of tests/demo/demo.sh, which activates queryd. The same program is started again for each sample ("--case")
 * and for each process that a sample needs beside it (a role).
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "tests/bench/bars.h"
#include "tests/bench/bench.h"
#include "tests/bench/roles.h"
#include "tests/bench/rounds.h"
#include "tests/demo/founding-table.h"
#include "tests/demo/store-control.h"

#define ROUNDS_DEFAULT 5
#define ROWS_MIN 300

static const BenchGroup *const groups[] = { &bench_fetch,        &bench_buffers, &bench_latency,    &bench_concurrency,
                                            &bench_memory,       &bench_ipc,     &bench_cache,      &bench_inserts,
                                            &bench_items,        &bench_notify,  &bench_remembered, &bench_scale,
                                            &bench_hostile,      &bench_python,  &bench_tpch,       &bench_http,
                                            &bench_bibliography, &bench_arrow,   &bench_sparql,     NULL };

static int arg_rounds = ROUNDS_DEFAULT;
static int arg_rows = (int) BENCH_ROWS_DEFAULT;
static char *arg_json;
static char *arg_report;

static const BenchGroup *
find_group(const char *name)
{
    for (gsize i = 0; groups[i] != NULL; i++)
        if (g_str_equal(groups[i]->name, name))
            return groups[i];
    return NULL;
}

/* Every name is checked before anything is measured. */
static gboolean
check_names(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (find_group(argv[i]) != NULL)
            continue;
        (void) fprintf(stderr, "bench: no group is named '%s'; there are:", argv[i]);
        for (gsize k = 0; groups[k] != NULL; k++)
            (void) fprintf(stderr, " %s", groups[k]->name);
        (void) fprintf(stderr, "\n");
        return FALSE;
    }
    return TRUE;
}

static gboolean
run_groups(int argc, char **argv, Figures *figures)
{
    g_autoptr(QueryConnection) connection = NULL;
    const RoundsOptions options = {
        .n_rounds = (guint) arg_rounds,
        .n_rows = (guint) arg_rows,
    };
    gboolean ok = TRUE;

    (void) prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    connection = open_connection();
    (void) printf("bench: %u rows of id and %d texts of 20 letters ...", options.n_rows, FOUNDING_TEXTS);
    (void) fflush(stdout);
    (void) printf(" imported in %.1f s\n", founding_table_create(connection, BENCH_TABLE, options.n_rows) / 1000);
    for (gsize i = 0; argc < 2 && groups[i] != NULL; i++)
        ok = rounds_run(groups[i], &options, figures) && ok;
    for (int i = 1; i < argc; i++)
        ok = rounds_run(find_group(argv[i]), &options, figures) && ok;
    return ok;
}

static void
write_file(const char *path, const char *text)
{
    g_autoptr(GError) error = NULL;

    (void) g_file_set_contents(path, text, -1, &error);
    die_on_error(error, path);
}

/* What the script reads stays beside what it makes. */
static gboolean
write_report(const char *json, const char *bars)
{
    g_autofree char *json_path = g_build_filename(arg_report, "figures.json", NULL);
    g_autofree char *bars_path = g_build_filename(arg_report, "bars.log", NULL);
    g_autofree char *script = g_build_filename(g_getenv("QUERYD_SOURCE_ROOT"), "tests/bench/report.py", NULL);
    const char *const argv[] = { "/usr/bin/python3", script, arg_report, NULL };
    g_autoptr(GError) error = NULL;
    int status = 0;

    (void) g_mkdir_with_parents(arg_report, 0755);
    write_file(json_path, json);
    write_file(bars_path, bars);
    (void) g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, &error);
    die_on_error(error, script);
    return status == 0;
}

static int
run(int argc, char **argv)
{
    g_autoptr(Figures) figures = figures_new();
    g_autoptr(GString) bars = g_string_new(NULL);
    gboolean has_worked = run_groups(argc, argv, figures);
    gboolean ok = TRUE;
    g_autofree char *json = figures_to_json(figures);

    if ((guint) arg_rows < BENCH_ROWS_DEFAULT)
        g_string_printf(bars, "bench: no bar is judged with less than %u rows\n", BENCH_ROWS_DEFAULT);
    else
        ok = bars_judge(figures, bars);
    (void) printf("\n%s", bars->str);
    (void) fflush(stdout);
    if (arg_json != NULL)
        write_file(arg_json, json);
    if (arg_report != NULL)
        has_worked = write_report(json, bars->str) && has_worked;
    (void) printf("bench: %s\n", !has_worked ? "FAILED" : ok ? "all is well" : "bars MISSED");
    return !has_worked ? 2 : ok ? 0 : 1;
}

int
main(int argc, char **argv)
{
    const GOptionEntry entries[] = {
        { "rounds", 0, 0, G_OPTION_ARG_INT, &arg_rounds, "Rounds of each group, without the warm-up (5)", "N" },
        { "rows", 0, 0, G_OPTION_ARG_INT, &arg_rows, "Rows of the table (300000); with less no bar is judged", "N" },
        { "json", 0, 0, G_OPTION_ARG_FILENAME, &arg_json, "Write all figures there", "FILE" },
        { "report", 0, 0, G_OPTION_ARG_FILENAME, &arg_report, "Write a report with pictures there", "DIR" },
        { 0 },
    };
    g_autoptr(GOptionContext) context = NULL;
    g_autoptr(GError) error = NULL;

    if (argc > 1 && g_str_equal(argv[1], "--case"))
        return rounds_sample_main(groups, argc, argv);
    if (argc > 1 && role_is_known(argv[1]))
        return role_main(argc, argv);

    context = g_option_context_new("[GROUP…] - measurements of queryd and of what it is compared with");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error) || arg_rounds < 1 || arg_rows < ROWS_MIN) {
        (void) fprintf(stderr, "bench: %s\n", error != NULL ? error->message : "there must be at least 1 round and 300 rows");
        return 2;
    }
    return check_names(argc, argv) ? run(argc, argv) : 2;
}
