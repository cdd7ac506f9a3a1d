/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The Berlin SPARQL Benchmark, of a folder that is no part of this project: load, each query, four clients, all triples. Virtuoso
 * and Oxigraph are beside it. A second folder has questions to the same data (Sparqloscope's), each after an update and again.
 *
 * The folder has NAME.nt.xz, and explore/ and bi/ with queries qNN-MM.rq (MM: the instances of a template). EXPECTED.tsv says
 * how many rows each instance has. An instance that it leaves out is run for its time-out alone.
 */
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/sparql-compile.h"
#include "tests/bench/sparql-peers.h"
#include "tests/bench/sparql-questions.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define REPETITIONS_EXPLORE 9
#define REPETITIONS_BI 1
#define REPETITIONS_COMPILE 101
#define ROUNDS_MAX 3
#define N_EXPLORE_QUERIES 12
#define FAMILY_LETTERS 3 /* "q01" of "q01-07.rq" */
#define ALL_TRIPLES "SELECT ?s ?p ?o { ?s ?p ?o }"

/* One folder of queries under way. */
typedef struct Mix {
    const Bench *bench;
    QueryConnection *connection;
    const char *name;
    char *folder;
    guint n_repetitions;
    GHashTable *expected; /* file name → number of rows, as text */
    double sum_of_logs;
    guint n_families;
} Mix;

static char *
get_folder(const Bench *bench)
{
    const char *given = g_getenv("QUERYD_BSBM");
    char *folder = given != NULL ? g_strdup(given) : g_build_filename(g_getenv("QUERYD_SOURCE_ROOT"), "..", "shared", "bsbm", NULL);

    if (!g_file_test(folder, G_FILE_TEST_IS_DIR))
        bench_skip(bench, "no folder '%s'; QUERYD_BSBM names one with the benchmark's data and queries", folder);
    return folder;
}

/* The data as text; it goes with the bus's folder. */
static char *
get_data_path(void)
{
    return g_build_filename(g_get_user_data_dir(), "bsbm.nt", NULL);
}

/* Output of a program; skips the case when it cannot run. */
static char *
run_program(const Bench *bench, const char *const *argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *errors = NULL;
    char *output = NULL;
    int status = 0;

    if (!g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, &errors, &status, &error))
        bench_skip(bench, "%s", error->message);
    if (status != 0)
        bench_skip(bench, "'%s' failed: %s", argv[0], g_strdelimit(g_strstrip(errors), "\t\n", ' '));
    return output;
}

/* Load ------------------------------------------------------------------------------------------------------------------ */

static void
unpack(const Bench *bench, const char *folder, const char *data)
{
    const char *const argv[] = { "sh", "-c", "exec xz -dc \"$0\"/*.nt.xz >\"$1\"", folder, data, NULL };
    g_autofree char *output = run_program(bench, argv);
}

/* Into an empty store each time; the queries ask the last one. */
static void
run_load(Bench *bench, gconstpointer argument)
{
    g_autofree char *folder = get_folder(bench);
    g_autofree char *data = get_data_path();
    g_autofree char *database = get_database_path();
    g_autoptr(QueryConnection) connection = NULL;
    g_autoptr(GError) error = NULL;
    AnonSampler *sampler;
    double start_msec;
    double msec;
    guint64 n_triples = 0;
    struct stat status = { 0 };
    int fd;

    if (bench_is_warm_up(bench))
        unpack(bench, folder, data);
    bench_retire_daemon(bench, get_cpu_msec(bench->daemon));
    bench->daemon = restart_daemon_anew();
    connection = open_connection();
    fd = open(data, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        bench_fail(bench, "cannot read '%s'", data);
    sampler = anon_sampler_start(bench->daemon);
    start_msec = get_now_msec();
    (void) query_connection_import(connection, fd, "ntriples", NULL, NULL, NULL, &n_triples, NULL, &error);
    msec = get_now_msec() - start_msec;
    die_on_error(error, data);
    (void) close(fd);
    bench_record(bench, "load.memory", "MiB", (double) anon_sampler_stop(sampler) / 1024);
    bench_record(bench, "load.rate", "triples/s", (double) n_triples / msec * 1000);
    (void) query_connection_optimize(connection, FALSE, NULL, &error);
    die_on_error(error, "optimize");
    (void) stat(database, &status);
    bench_record(bench, "load.file", "MiB", (double) status.st_size / (1024 * 1024));
}

/* Queries --------------------------------------------------------------------------------------------------------------- */

static void
record_family(const Bench *bench, guint number, const char *what, double usec)
{
    g_autofree char *metric = g_strdup_printf("q%02u.%s", number, what);

    bench_record(bench, metric, "µs", usec);
}

static double
time_instance(const Mix *mix, const char *name, const char *text)
{
    const char *expected = g_hash_table_lookup(mix->expected, name);
    g_autoptr(GError) error = NULL;
    guint64 n_rows;
    double msec = sparql_questions_time(mix->connection, text, &n_rows, NULL, &error);

    if (error != NULL)
        bench_fail(mix->bench, "%s/%s: %s", mix->name, name, error->message);
    if (n_rows != g_ascii_strtoull(expected, NULL, 10))
        bench_fail(mix->bench, "%s/%s: %" G_GUINT64_FORMAT " rows instead of %s", mix->name, name, n_rows, expected);
    return msec;
}

/* The first time that the daemon sees a text, and the median of the next times, each the median of the instances. */
static void
measure_family(Mix *mix, GPtrArray *names, guint first, guint end)
{
    g_autofree char *metric = g_strdup_printf("%s.%.*s", mix->name, FAMILY_LETTERS, (const char *) names->pdata[first]);
    g_autofree char *cold_metric = g_strconcat(metric, ".cold", NULL);
    g_auto(Samples) cold = { NULL };
    g_auto(Samples) warm = { NULL };

    samples_init(&cold);
    samples_init(&warm);
    for (guint i = first; i < end; i++) {
        g_autofree char *path = g_build_filename(mix->folder, names->pdata[i], NULL);
        g_autofree char *text = NULL;
        g_autoptr(GError) error = NULL;
        g_auto(Samples) times = { NULL };

        samples_init(&times);
        (void) g_file_get_contents(path, &text, NULL, &error);
        die_on_error(error, path);
        samples_add(&cold, time_instance(mix, names->pdata[i], text));
        for (guint n = 0; n < mix->n_repetitions; n++)
            samples_add(&times, time_instance(mix, names->pdata[i], text));
        samples_add(&warm, samples_get_quantile(&times, 0.5));
    }
    bench_record_once(mix->bench, cold_metric, "ms", samples_get_quantile(&cold, 0.5));
    bench_record(mix->bench, metric, "ms", samples_get_quantile(&warm, 0.5));
    mix->sum_of_logs += log(samples_get_quantile(&warm, 0.5));
    mix->n_families++;
}

/* Time-outs of what no number of rows is known of. */
static void
count_timeouts(const Mix *mix)
{
    g_autoptr(GDir) dir = g_dir_open(mix->folder, 0, NULL);
    const char *name;
    guint n_timeouts = 0;

    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(mix->folder, name, NULL);
        g_autofree char *text = NULL;
        g_autoptr(GError) error = NULL;
        guint64 n_rows;

        if (!g_str_has_suffix(name, ".rq") || g_hash_table_contains(mix->expected, name) ||
            !g_file_get_contents(path, &text, NULL, NULL))
            continue;
        (void) sparql_questions_time(mix->connection, text, &n_rows, NULL, &error);
        if (g_error_matches(error, QUERY_ERROR, QUERY_ERROR_TIMEOUT))
            n_timeouts++;
        else if (error != NULL)
            bench_fail(mix->bench, "%s/%s: %s", mix->name, name, error->message);
    }
    {
        g_autofree char *metric = g_strconcat(mix->name, ".timeouts", NULL);

        bench_record_once(mix->bench, metric, "", n_timeouts);
    }
}

static GPtrArray *
read_expected(Mix *mix)
{
    g_autofree char *path = g_build_filename(mix->folder, "EXPECTED.tsv", NULL);
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;

    (void) g_file_get_contents(path, &text, NULL, &error);
    die_on_error(error, path);
    lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++) {
        g_auto(GStrv) fields = g_strsplit(lines[i], "\t", 2);

        if (g_strv_length(fields) != 2)
            continue;
        g_ptr_array_add(names, g_strdup(fields[0]));
        g_hash_table_insert(mix->expected, g_strdup(fields[0]), g_strdup(fields[1]));
    }
    return names;
}

static void
run_mix(const Bench *bench, QueryConnection *connection, const char *folder, const char *name, guint n_repetitions)
{
    g_autoptr(GHashTable) expected = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autofree char *mix_folder = g_build_filename(folder, name, NULL);
    g_autofree char *metric = g_strconcat(name, ".mean", NULL);
    Mix mix = { bench, connection, name, mix_folder, n_repetitions, expected, 0, 0 };
    g_autoptr(GPtrArray) names = read_expected(&mix);

    for (guint first = 0, end; first < names->len; first = end) {
        for (end = first; end < names->len && strncmp(names->pdata[first], names->pdata[end], FAMILY_LETTERS) == 0; end++)
            ;
        measure_family(&mix, names, first, end);
    }
    if (mix.n_families > 0)
        bench_record(bench, metric, "ms", exp(mix.sum_of_logs / mix.n_families));
    if (bench_is_warm_up(bench))
        count_timeouts(&mix);
}

/* The instances of explore by one client and by four. */
static void
run_crews(const Bench *bench, const char *folder)
{
    static const guint crews[] = { 1, 4 };
    g_autoptr(GHashTable) expected = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autofree char *mix_folder = g_build_filename(folder, "explore", NULL);
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    Mix mix = { .folder = mix_folder, .expected = expected };
    g_autoptr(GPtrArray) names = read_expected(&mix);

    for (guint i = 0; i < names->len; i++) {
        g_autofree char *path = g_build_filename(mix_folder, names->pdata[i], NULL);
        g_autoptr(GError) error = NULL;
        char *text = NULL;

        (void) g_file_get_contents(path, &text, NULL, &error);
        die_on_error(error, path);
        g_ptr_array_add(texts, text);
    }
    for (guint i = 0; i < G_N_ELEMENTS(crews); i++)
        sparql_questions_run_crew(bench, texts, crews[i]);
}

static void
run_queryd(Bench *bench, gconstpointer argument)
{
    g_autofree char *folder = get_folder(bench);
    g_autoptr(QueryConnection) connection = open_connection();

    run_mix(bench, connection, folder, "explore", REPETITIONS_EXPLORE);
    run_mix(bench, connection, folder, "bi", REPETITIONS_BI);
    run_crews(bench, folder);
}

/* What a text costs before its first row; the first instance of a template, and the second where its plan is there. */
static void
run_compile(Bench *bench, gconstpointer argument)
{
    g_autofree char *folder = get_folder(bench);
    g_autofree char *database = get_database_path();
    SparqlCompiler *compiler = sparql_compiler_new(database);

    for (guint i = 1; i <= N_EXPLORE_QUERIES; i++) {
        g_autofree char *name = g_strdup_printf("explore/q%02u-01.rq", i);
        g_autofree char *other_name = g_strdup_printf("explore/q%02u-02.rq", i);
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_autofree char *other_path = g_build_filename(folder, other_name, NULL);
        g_autofree char *text = NULL;
        g_autofree char *other = NULL;
        SparqlCompileTimes times;

        if (!g_file_get_contents(path, &text, NULL, NULL) || !g_file_get_contents(other_path, &other, NULL, NULL))
            continue;
        sparql_compiler_measure(compiler, text, other, REPETITIONS_COMPILE, &times);
        record_family(bench, i, "compile", times.compile_usec);
        record_family(bench, i, "prepare", times.prepare_usec);
        record_family(bench, i, "plan_found", times.found_usec);
        record_family(bench, i, "plan_again", times.again_usec);
    }
    (void) sparql_compiler_free(compiler);
}

/* On what the other case has loaded. */
static void
run_stream(Bench *bench, gconstpointer argument)
{
    g_autofree char *folder = get_folder(bench);
    g_autoptr(QueryConnection) connection = open_connection();
    g_autoptr(GError) error = NULL;
    guint64 n_rows;
    double msec;

    msec = sparql_questions_time(connection, ALL_TRIPLES, &n_rows, NULL, &error);
    die_on_error(error, ALL_TRIPLES);
    bench_record(bench, "stream", "rows/s", (double) n_rows / msec * 1000);
}

/* Others ---------------------------------------------------------------------------------------------------------------- */

/* @argument of all: the engine */
static void
run_peer_load(Bench *bench, gconstpointer argument)
{
    g_autofree char *folder = get_folder(bench);
    g_autofree char *data = get_data_path();

    sparql_peers_run(bench, argument, "load", folder, data);
}

static void
run_peer(Bench *bench, gconstpointer argument)
{
    g_autofree char *folder = get_folder(bench);
    g_autofree char *data = get_data_path();

    sparql_peers_run_once(bench, argument, "mixes", folder, data);
}

/* Questions ------------------------------------------------------------------------------------------------------------- */

static char *
get_questions(const Bench *bench)
{
    const char *given = g_getenv("QUERYD_SPARQLOSCOPE");
    char *folder = given != NULL ? g_strdup(given)
                                 : g_build_filename(g_getenv("QUERYD_SOURCE_ROOT"), "..", "shared", "sparqloscope", NULL);

    if (!g_file_test(folder, G_FILE_TEST_IS_DIR))
        bench_skip(bench, "no folder '%s'; QUERYD_SPARQLOSCOPE names one with questions", folder);
    return folder;
}

static void
run_questions(Bench *bench, gconstpointer argument)
{
    g_autofree char *folder = get_questions(bench);
    g_autofree char *data = get_data_path();

    sparql_questions_run(bench, folder, data);
}

static void
run_peer_questions(Bench *bench, gconstpointer argument)
{
    g_autofree char *folder = get_questions(bench);
    g_autofree char *data = get_data_path();

    sparql_peers_run(bench, argument, "questions", folder, data);
}

/* Some of them take it half a minute. */
static void
run_peer_questions_once(Bench *bench, gconstpointer argument)
{
    g_autofree char *folder = get_questions(bench);
    g_autofree char *data = get_data_path();

    sparql_peers_run_once(bench, argument, "questions", folder, data);
}

/* Loads and questions take turns. */
static const BenchCase cases[] = {
    { "queryd, load", run_load, .reference = "Oxigraph, load", .n_rounds_max = ROUNDS_MAX },
    { "Oxigraph, load", run_peer_load, .argument = "Oxigraph", .reference = "Oxigraph, load", .n_rounds_max = ROUNDS_MAX },
    { "Virtuoso, load", run_peer_load, .argument = "Virtuoso", .reference = "Oxigraph, load", .n_rounds_max = 1 },
    { "queryd", run_queryd, .n_rounds_max = ROUNDS_MAX },
    { "queryd, before the first row", run_compile, .n_rounds_max = ROUNDS_MAX },
    { "queryd, all triples", run_stream, .n_rounds_max = ROUNDS_MAX },
    { "Oxigraph", run_peer, .argument = "Oxigraph", .n_rounds_max = 1 },
    { "Virtuoso", run_peer, .argument = "Virtuoso", .n_rounds_max = 1 },
    { "queryd, questions", run_questions, .reference = "Virtuoso, questions" },
    { "Virtuoso, questions", run_peer_questions, .argument = "Virtuoso", .reference = "Virtuoso, questions" },
    { "Oxigraph, questions", run_peer_questions_once, .argument = "Oxigraph", .reference = "Virtuoso, questions",
      .n_rounds_max = 1 },
};

const BenchGroup bench_sparql = {
    .name = "sparql",
    .title = "the Berlin SPARQL Benchmark and Sparqloscope's questions: load, queries to their last row, all triples",
    .reference = "Oxigraph",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
