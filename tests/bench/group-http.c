/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A look-up and all triples by HTTP: queryd-http and the servers of Oxigraph and Virtuoso have the same triples.
 */
#include "tests/bench/bench.h"
#include "tests/bench/python-script.h"

#define RESOURCES "100000"
#define RESOURCES_SMOKE "1000"
#define LOOK_UPS "4000"
#define LOOK_UPS_SMOKE "100"
#define ROUNDS_MAX 5

/* @argument: the server */
static void
run_script(Bench *bench, gconstpointer argument)
{
    const char *n_resources = bench_is_smoke(bench) ? RESOURCES_SMOKE : RESOURCES;
    const char *n_look_ups = bench_is_smoke(bench) ? LOOK_UPS_SMOKE : LOOK_UPS;
    const char *const arguments[] = { n_resources, n_look_ups, NULL };

    python_script_run(bench, "/usr/bin/python3", "http_rates.py", argument, arguments);
}

static const BenchCase cases[] = {
    { "queryd-http", run_script, .argument = "queryd-http", .n_rounds_max = ROUNDS_MAX },
    { "Oxigraph", run_script, .argument = "Oxigraph", .n_rounds_max = ROUNDS_MAX },
    { "Virtuoso", run_script, .argument = "Virtuoso", .n_rounds_max = ROUNDS_MAX },
};

const BenchGroup bench_http = {
    .name = "http",
    .title = "a look-up and all triples by HTTP: queryd-http and the servers of Oxigraph and Virtuoso",
    .reference = "Oxigraph",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
