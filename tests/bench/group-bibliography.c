/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Questions to a made-up bibliography (bibliography.py, tests/bench/bibliography): counts, groups, joins, cycles, paths, texts and
 * dates that nothing was tuned to. Virtuoso and Oxigraph have the same triples, and their answers are compared with queryd's.
 */
#include <fcntl.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/sparql-peers.h"
#include "tests/bench/sparql-questions.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define TRIPLES "1000000"
#define TRIPLES_SMOKE "3000"

/* It goes with the bus's folder. */
static char *
get_data_path(void)
{
    return g_build_filename(g_get_user_data_dir(), "bibliography.nt", NULL);
}

static char *
get_folder(void)
{
    return g_build_filename(g_getenv("QUERYD_SOURCE_ROOT"), "tests", "bench", "bibliography", NULL);
}

static void
make_data(const Bench *bench, const char *data)
{
    g_autofree char *script = g_build_filename(g_getenv("QUERYD_SOURCE_ROOT"), "tests", "bench", "bibliography.py", NULL);
    const char *const argv[] = {
        "sh", "-c", "exec /usr/bin/python3 \"$0\" \"$1\" >\"$2\"", script, bench_is_smoke(bench) ? TRIPLES_SMOKE : TRIPLES,
        data, NULL
    };
    g_autoptr(GError) error = NULL;
    int status = 0;

    (void) g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, &status, &error);
    die_on_error(error, script);
    if (status != 0)
        bench_fail(bench, "'%s' failed", script);
}

static void
run_load(Bench *bench, gconstpointer argument)
{
    g_autofree char *data = get_data_path();
    g_autoptr(QueryConnection) connection = NULL;
    g_autoptr(GError) error = NULL;
    double start_msec;
    guint64 n_triples = 0;
    int fd;

    if (bench_is_warm_up(bench))
        make_data(bench, data);
    bench_retire_daemon(bench, get_cpu_msec(bench->daemon));
    bench->daemon = restart_daemon_anew();
    connection = open_connection();
    fd = open(data, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        bench_fail(bench, "cannot read '%s'", data);
    start_msec = get_now_msec();
    (void) query_connection_import(connection, fd, "ntriples", NULL, NULL, NULL, &n_triples, NULL, &error);
    (void) close(fd);
    die_on_error(error, data);
    bench_record(bench, "load.rate", "triples/s", (double) n_triples / (get_now_msec() - start_msec) * 1000);
    (void) query_connection_optimize(connection, FALSE, NULL, &error);
    die_on_error(error, "optimize");
}

static void
run_questions(Bench *bench, gconstpointer argument)
{
    g_autofree char *data = get_data_path();
    g_autofree char *folder = get_folder();

    sparql_questions_run(bench, folder, data);
}

/* @argument: the engine */
static void
run_peer_load(Bench *bench, gconstpointer argument)
{
    g_autofree char *data = get_data_path();
    g_autofree char *folder = get_folder();

    sparql_peers_run(bench, argument, "load", folder, data);
}

static void
run_peer(Bench *bench, gconstpointer argument)
{
    g_autofree char *data = get_data_path();
    g_autofree char *folder = get_folder();

    sparql_peers_run(bench, argument, "questions", folder, data);
}

static const BenchCase cases[] = {
    { "queryd, load", run_load, .reference = "Virtuoso, load", .n_rounds_max = 1 },
    { "Virtuoso, load", run_peer_load, .argument = "Virtuoso", .reference = "Virtuoso, load", .n_rounds_max = 1 },
    { "Oxigraph, load", run_peer_load, .argument = "Oxigraph", .reference = "Virtuoso, load", .n_rounds_max = 1 },
    { "queryd", run_questions },
    { "Virtuoso", run_peer, .argument = "Virtuoso" },
    { "Oxigraph", run_peer, .argument = "Oxigraph", .n_rounds_max = 1 },
};

const BenchGroup bench_bibliography = {
    .name = "bibliography",
    .title = "questions to a made-up bibliography of a million triples, beside two servers that have the same",
    .reference = "Virtuoso",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
