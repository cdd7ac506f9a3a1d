/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The same questions to a shop of 1 and of 5 million triples, each load through a pipe into an emptied store. Does the size of
 * the store show in a question that finds as much as before?
 */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/shop-data.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define N_INSTANCES 20
#define REPETITIONS 5

typedef struct Size {
    guint64 n_triples;
    guint64 n_triples_smoke;
} Size;

static const Size one_million = { 1000000, 5000 };
static const Size five_millions = { 5000000, 25000 };

static void
load(const Bench *bench, QueryConnection *connection, const Shop *shop)
{
    GVariantDict options;
    g_autofree char *database = get_database_path();
    g_autoptr(GError) error = NULL;
    guint64 n_triples = 0;
    AnonSampler *sampler = anon_sampler_start(bench->daemon);
    int fd = shop_start_writing(shop);
    double start_msec = get_now_msec();
    struct stat status = { 0 };
    double msec;

    g_variant_dict_init(&options, NULL);
    g_variant_dict_insert(&options, "replace", "b", TRUE);
    (void) query_connection_import(connection, fd, "ntriples", g_variant_dict_end(&options), NULL, NULL, &n_triples, NULL, &error);
    msec = get_now_msec() - start_msec;
    die_on_error(error, "import");
    (void) close(fd);
    bench_record_once(bench, "load.memory", "MiB", (double) anon_sampler_stop(sampler) / 1024);
    bench_record_once(bench, "load.triples", "", (double) n_triples);
    bench_record_once(bench, "load.rate", "triples/s", (double) n_triples / msec * 1000);
    (void) query_connection_optimize(connection, FALSE, NULL, &error);
    die_on_error(error, "optimize");
    (void) stat(database, &status);
    bench_record_once(bench, "load.file", "MiB", (double) status.st_size / (1024 * 1024));
}

/* From the text to the last row, every cell looked at, in ms. */
static double
time_query(QueryConnection *connection, const char *text, guint64 *n_rows)
{
    double start_msec = get_now_msec();
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, QUERY_LANGUAGE_SPARQL, text, NULL, NULL, &error);

    for (; cursor != NULL && query_cursor_next(cursor, NULL, &error); (*n_rows)++)
        for (guint i = 0; i < query_cursor_get_n_columns(cursor); i++)
            (void) query_cursor_get_string(cursor, i, NULL);
    die_on_error(error, text);
    return get_now_msec() - start_msec;
}

static void
ask(const Bench *bench, QueryConnection *connection, const Shop *shop)
{
    g_auto(Samples) all = { NULL };
    double sum_of_logs = 0;

    samples_init(&all);
    for (guint number = 0; number < SHOP_N_QUERIES; number++) {
        g_autofree char *rows_metric = g_strconcat(shop_get_query_name(number), ".rows", NULL);
        g_auto(Samples) times = { NULL };
        guint64 n_rows = 0;

        samples_init(&times);
        for (guint i = 0; i < N_INSTANCES * REPETITIONS; i++) {
            g_autofree char *text = shop_make_query(shop, number, i % N_INSTANCES);
            double msec = time_query(connection, text, &n_rows);

            samples_add(&times, msec);
            samples_add(&all, msec);
        }
        if (n_rows == 0)
            bench_fail(bench, "%s finds nothing in a shop of %u products", shop_get_query_name(number), shop->n_products);
        bench_record_once(bench, shop_get_query_name(number), "ms", samples_get_quantile(&times, 0.5));
        bench_record_once(bench, rows_metric, "", (double) n_rows / (N_INSTANCES * REPETITIONS));
        sum_of_logs += log(samples_get_quantile(&times, 0.5));
    }
    bench_record_once(bench, "p50", "ms", samples_get_quantile(&all, 0.5));
    bench_record_once(bench, "p95", "ms", samples_get_quantile(&all, 0.95));
    bench_record_once(bench, "mean", "ms", exp(sum_of_logs / SHOP_N_QUERIES));
}

/* Loading takes long: one round, which has its repetitions in itself. */
static void
run_size(Bench *bench, gconstpointer argument)
{
    const Size *size = argument;
    const Shop shop = shop_of_size(bench_is_smoke(bench) ? size->n_triples_smoke : size->n_triples);
    g_autoptr(QueryConnection) connection = NULL;

    if (!bench_is_warm_up(bench))
        return;
    connection = open_connection();
    load(bench, connection, &shop);
    ask(bench, connection, &shop);
}

static const BenchCase cases[] = {
    { "1 million", run_size, .argument = &one_million, .n_rounds_max = 1 },
    { "5 millions", run_size, .argument = &five_millions, .n_rounds_max = 1 },
};

const BenchGroup bench_scale = {
    .name = "scale",
    .title = "the same questions to a store of one and of five million triples",
    .reference = "1 million",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
