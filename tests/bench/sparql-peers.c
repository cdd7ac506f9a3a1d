/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/bench/sparql-peers.h"

typedef void (*Record)(const Bench *bench, const char *metric, const char *unit, double value);

static void
run_script(const Bench *bench, Record record, const char *engine, const char *verb, const char *folder, const char *data)
{
    g_autofree char *script = g_build_filename(g_getenv("QUERYD_SOURCE_ROOT"), "tests/bench/sparql_http.py", NULL);
    const char *const argv[] = { "/usr/bin/python3", script, engine, verb, folder, data, NULL };
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
        record(bench, fields[0], fields[1], g_ascii_strtod(fields[2], NULL));
    }
}

void
sparql_peers_run(Bench *bench, const char *engine, const char *verb, const char *folder, const char *data)
{
    run_script(bench, bench_record, engine, verb, folder, data);
}

void
sparql_peers_run_once(Bench *bench, const char *engine, const char *verb, const char *folder, const char *data)
{
    if (bench_is_warm_up(bench))
        run_script(bench, bench_record_once, engine, verb, folder, data);
}
