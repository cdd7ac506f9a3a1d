/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A bar compares medians of one run. Those of the demo are in demo.c.
 */
#include "tests/bench/bars.h"

typedef struct Place {
    const char *case_name;
    const char *metric;
} Place;

typedef struct Bar {
    const char *name;
    const char *group;
    Place value;
    Place reference; /* no case: the value itself counts */
    double limit;
    const char *other_reference; /* (nullable) case; the smaller one of the two counts */
    gboolean is_least;           /* the value must not be below */
    gboolean is_best;            /* of all cases whose names begin with that of the value, the one with the least */
} Bar;

#define AT_LEAST .is_least = TRUE
#define BEST .is_best = TRUE
#define SERVER "socketpair + SQLite"
#define SPARQL(metric)     \
    { "queryd", metric },  \
    {                      \
        "Oxigraph", metric \
    }
#define TO_VIRTUOSO(metric) \
    { "queryd", metric },   \
    {                       \
        "Virtuoso", metric  \
    }
#define KEPT "queryd, kept channel"

#define INSERTS(n)           \
    {                        \
        "queryd", "rate@" #n \
    }
#define PIPELINED(n)                       \
    {                                      \
        "queryd, 16 in flight", "rate@" #n \
    }
#define SQLITE_INSERTS     \
    {                      \
        "SQLite", "rate@1" \
    }

#define TPCH(name, limit)                                                                           \
    {                                                                                               \
        "SQL: " name " to SQLite", "tpch", { "queryd and sqlite3", name ".ratio" }, { NULL }, limit \
    }
#define TPCH_QUERY(name) TPCH("q" name, 1.1)

#define HOSTILE(metric)                      \
    {                                        \
        "beside 64 hostile channels", metric \
    }

#define ITEMS_FIGURE(metric, limit, relaxed)                                                                                  \
    {                                                                                                                         \
        "items: " metric ", to row or file" relaxed, "items", { "queryd" relaxed, metric }, { "row" relaxed, metric }, limit, \
            "file" relaxed                                                                                                    \
    }
#define ITEMS_OF_SIZE(size, relaxed)                                                                                               \
    ITEMS_FIGURE("create@" size, 1, relaxed), ITEMS_FIGURE("modify@" size, 1, relaxed), ITEMS_FIGURE("fetch@" size, 1.3, relaxed), \
        ITEMS_FIGURE("delete@" size, 1.15, relaxed)
#define ITEMS(relaxed)                                                                              \
    ITEMS_OF_SIZE("256", relaxed), ITEMS_OF_SIZE("4096", relaxed), ITEMS_OF_SIZE("16384", relaxed), \
        ITEMS_OF_SIZE("65536", relaxed), ITEMS_OF_SIZE("262144", relaxed), ITEMS_OF_SIZE("1048576", relaxed)

static const Bar bars[] = {
    { "fetch: default transport to direct", "fetch", { "queryd", "time" }, { "direct", "time" }, 0.42 },
    { "fetch: best transport to direct", "fetch", { "queryd", "time" }, { "direct", "time" }, 0.35, BEST },
    { "fetch: first row, ms", "fetch", { "queryd", "first_row" }, { NULL }, 1.5 },
    { "fetch: daemon's own memory, MiB", "fetch", { "queryd", "server_anon" }, { NULL }, 10 },
    { "fetch: client's growth, MiB", "fetch", { "queryd", "client_growth" }, { NULL }, 1 },
    { "fetch: to PostgreSQL, single rows", "fetch", { "queryd", "time_kept" }, { "PostgreSQL, single rows", "time_kept" }, 1 },
    { "fetch: to MariaDB, prepared, streamed",
      "fetch",
      { "queryd", "time_kept" },
      { "MariaDB, prepared, streamed", "time_kept" },
      1 },
    { "one row, same core, to a bare server", "latency", { KEPT, "same.p50" }, { SERVER, "same.p50" }, 1.25 },
    { "one row, cross core, to a bare server", "latency", { KEPT, "cross.p50" }, { SERVER, "cross.p50" }, 0.4 },
    { "one row, cross core, 30 us apart", "latency", { KEPT, "cross-paced.p50" }, { SERVER, "cross-paced.p50" }, 0.4 },
    { "one row, busy processors, to a bare server", "latency", { KEPT, "busy.mean" }, { SERVER, "busy.mean" }, 1.25 },
    { "idle client after look-ups, us/s", "latency", { KEPT, "idle.client" }, { NULL }, 500 },
    { "idle daemon after look-ups, us/s", "latency", { KEPT, "idle.daemon" }, { NULL }, 500 },
    { "ad-hoc text to prepared, same core", "latency", { "queryd, ad-hoc text", "same.p50" }, { KEPT, "same.p50" }, 1.5 },
    { "ad-hoc text to prepared, cross core", "latency", { "queryd, ad-hoc text", "cross.p50" }, { KEPT, "cross.p50" }, 1.5 },
    { "direct mode to direct", "latency", { "direct mode", "same.p50" }, { "direct", "same.p50" }, 1.3 },
    { "Prepare on a kept bus, cross core, us", "latency", { "queryd, Prepare anew", "cross.p50" }, { NULL }, 500 },
    { "Query by value to an empty call, same",
      "latency",
      { "queryd, Query by value", "same.p50" },
      { "sd-bus Ping", "same.p50" },
      1.5 },
    { "Query by value to an empty call, cross",
      "latency",
      { "queryd, Query by value", "cross.p50" },
      { "sd-bus Ping", "cross.p50" },
      1.5 },
    { "Query by value to its messages alone, same",
      "latency",
      { "queryd, Query by value", "same.p50" },
      { "sd-bus, Query's messages alone", "same.p50" },
      1.5 },
    { "Query by value to its messages alone, cross",
      "latency",
      { "queryd, Query by value", "cross.p50" },
      { "sd-bus, Query's messages alone", "cross.p50" },
      1.5 },
    { "8 scanning readers to 2", "concurrency", { "scans", "throughput@8" }, { "scans", "throughput@2" }, 0.95, AT_LEAST },
    { "8 looking up to 2", "concurrency", { "look-ups", "throughput@8" }, { "look-ups", "throughput@2" }, 0.95, AT_LEAST },
    { "beside 4 long queries, p99 ms", "concurrency", { "one row, 4 long queries", "dense.p99" }, { NULL }, 5 },
    { "beside 4 long queries, p99 ms, one each ms", "concurrency", { "one row, 4 long queries", "paced.p99" }, { NULL }, 5 },
    { "beside 31 scanning clients, p99 ms", "concurrency", { "one row, 31 scanning clients", "dense.p99" }, { NULL }, 20 },
    { "beside 31 scanning clients, p99 ms, one each ms",
      "concurrency",
      { "one row, 31 scanning clients", "paced.p99" },
      { NULL },
      20 },
    { "beside 32 stopped readers, p99 to quiet",
      "concurrency",
      { "one row, 32 stopped readers", "dense.p99" },
      { "one row, quiet", "dense.p99" },
      2 },
    { "beside 32 stopped readers, p99 to quiet, one each ms",
      "concurrency",
      { "one row, 32 stopped readers", "paced.p99" },
      { "one row, quiet", "paced.p99" },
      2 },
    { "daemon with one stream, MiB", "memory", { "open streams", "daemon_anon_one" }, { NULL }, 10 },
    { "each further stream, KiB", "memory", { "open streams", "each_further" }, { NULL }, 320 },
    { "BSBM explore, geometric mean to Oxigraph", "sparql", SPARQL("explore.mean"), 0.5 },
    { "BSBM explore, geometric mean to Virtuoso", "sparql", TO_VIRTUOSO("explore.mean"), 0.35 },
    { "BSBM explore, p95 of 4 clients to Virtuoso", "sparql", TO_VIRTUOSO("crew.p95@4"), 1 },
    { "BSBM business intelligence, geometric mean to Virtuoso", "sparql", TO_VIRTUOSO("bi.mean"), 0.7 },
    { "Sparqloscope, geometric mean to Virtuoso",
      "sparql",
      { "queryd, questions", "question.mean" },
      { "Virtuoso, questions", "question.mean" },
      0.8 },
    { "BSBM explore 1 to Oxigraph", "sparql", SPARQL("explore.q01"), 1 },
    { "BSBM explore 2 to Oxigraph", "sparql", SPARQL("explore.q02"), 1 },
    { "BSBM explore 3 to Oxigraph", "sparql", SPARQL("explore.q03"), 1 },
    { "BSBM explore 4 to Oxigraph", "sparql", SPARQL("explore.q04"), 1 },
    { "BSBM explore 5 to Oxigraph", "sparql", SPARQL("explore.q05"), 1 },
    { "BSBM explore 6 to Oxigraph", "sparql", SPARQL("explore.q06"), 1 },
    { "BSBM explore 7 to Oxigraph", "sparql", SPARQL("explore.q07"), 1 },
    { "BSBM explore 8 to Oxigraph", "sparql", SPARQL("explore.q08"), 1 },
    { "BSBM explore 9 to Oxigraph", "sparql", SPARQL("explore.q09"), 1 },
    { "BSBM explore 10 to Oxigraph", "sparql", SPARQL("explore.q10"), 1 },
    { "BSBM explore 11 to Oxigraph", "sparql", SPARQL("explore.q11"), 1 },
    { "BSBM explore 12 to Oxigraph", "sparql", SPARQL("explore.q12"), 1 },
    { "BSBM business intelligence 1 to Oxigraph", "sparql", SPARQL("bi.q01"), 1 },
    { "BSBM business intelligence 2 to Oxigraph", "sparql", SPARQL("bi.q02"), 1 },
    { "BSBM business intelligence 3 to Oxigraph", "sparql", SPARQL("bi.q03"), 1 },
    { "BSBM business intelligence 4 to Oxigraph", "sparql", SPARQL("bi.q04"), 1 },
    { "BSBM business intelligence 5 to Oxigraph", "sparql", SPARQL("bi.q05"), 1 },
    { "BSBM business intelligence 6 to Oxigraph", "sparql", SPARQL("bi.q06"), 1 },
    { "BSBM business intelligence 7 to Oxigraph", "sparql", SPARQL("bi.q07"), 1 },
    { "BSBM business intelligence 8 to Oxigraph", "sparql", SPARQL("bi.q08"), 1 },
    { "BSBM business intelligence, time-outs", "sparql", { "queryd", "bi.timeouts" }, { NULL }, 0 },
    { "load of triples to Oxigraph", "sparql", { "queryd, load", "load.rate" }, { "Oxigraph, load", "load.rate" }, 1.5, AT_LEAST },
    { "load of triples, MiB", "sparql", { "queryd, load", "load.memory" }, { NULL }, 500 },
    { "all triples, rows/s", "sparql", { "queryd, all triples", "stream" }, { NULL }, 500000, AT_LEAST },
    { "all triples to Oxigraph", "sparql", { "queryd, all triples", "stream" }, { "Oxigraph", "stream" }, 3, AT_LEAST },
    { "a write with 1000 subscriptions to none", "notify", { "1000 subscriptions", "write" }, { "no subscription", "write" }, 1.1 },
    { "a change to its subscriber, p99 ms", "notify", { "1000 subscriptions", "busy.p99" }, { NULL }, 50 },
    { "a change after a quiet time, p99 ms", "notify", { "1000 subscriptions", "quiet.p99" }, { NULL }, 50 },
    { "remembered: whole result to direct", "remembered", { "remembered", "whole" }, { "direct", "whole" }, 0.25 },
    { "remembered: first row, ms", "remembered", { "remembered", "first-row.p50" }, { NULL }, 0.1 },
    { "remembered: ten rows of SPARQL, us", "remembered", { "remembered", "ten-rows.p50" }, { NULL }, 25 },
    { "remembered: a write that touches 1000 to none",
      "remembered",
      { "remembered", "write-1000.p50" },
      { "remembered", "write-none.p50" },
      1.1 },
    { "remembered: look-up beside what is kept, p99",
      "remembered",
      { "remembered", "look-up.p99" },
      { "executed", "look-up.p99" },
      1.2 },
    { "inserts: 1 client waiting, to SQLite", "inserts", INSERTS(1), SQLITE_INSERTS, 0.7, AT_LEAST },
    { "inserts: 1 client pipelined, to SQLite", "inserts", PIPELINED(1), SQLITE_INSERTS, 2, AT_LEAST },
    { "inserts: 8 clients to SQLite", "inserts", INSERTS(8), SQLITE_INSERTS, 4, AT_LEAST },
    { "inserts: 64 clients to SQLite", "inserts", INSERTS(64), SQLITE_INSERTS, 9, AT_LEAST },
    { "inserts: 8 clients pipelined, to SQLite", "inserts", PIPELINED(8), SQLITE_INSERTS, 25, AT_LEAST },
    { "inserts: p99 of 8 clients to a sync", "inserts", { "queryd", "p99@8" }, { "disk", "sync" }, 10 },
    { "inserts: slowest of 8 clients to the fastest", "inserts", { "queryd", "fairness@8" }, { NULL }, 0.8, AT_LEAST },
    { "inserts: batch to SQLite's transaction", "inserts", { "queryd", "batch" }, { "SQLite", "batch" }, 1.25 },
    { "inserts: 1 client to PostgreSQL", "inserts", INSERTS(1), { "PostgreSQL", "rate@1" }, 1, AT_LEAST },
    { "inserts: 8 clients to PostgreSQL", "inserts", INSERTS(8), { "PostgreSQL", "rate@8" }, 1, AT_LEAST },
    { "inserts: 64 clients to PostgreSQL", "inserts", INSERTS(64), { "PostgreSQL", "rate@64" }, 1, AT_LEAST },
    { "Python: fetchall to sqlite3", "python", { "queryd", "fetchall" }, { "sqlite3", "fetchall" }, 1 },
    TPCH("mean", 0.75),
    TPCH_QUERY("01"),
    TPCH_QUERY("02"),
    TPCH_QUERY("03"),
    TPCH_QUERY("04"),
    TPCH_QUERY("05"),
    TPCH_QUERY("06"),
    TPCH_QUERY("07"),
    TPCH_QUERY("08"),
    TPCH_QUERY("09"),
    TPCH_QUERY("10"),
    TPCH_QUERY("11"),
    TPCH_QUERY("12"),
    TPCH_QUERY("13"),
    TPCH_QUERY("14"),
    TPCH_QUERY("15"),
    TPCH_QUERY("16"),
    TPCH_QUERY("17"),
    TPCH_QUERY("18"),
    TPCH_QUERY("19"),
    TPCH_QUERY("20"),
    TPCH_QUERY("21"),
    TPCH_QUERY("22"),
    TPCH("star-mean", 1.1),
    TPCH("star1", 1.1),
    TPCH("star2", 1.1),
    TPCH("star3", 1.1),
    TPCH("star4", 1.1),
    { "HTTP: look-up to Oxigraph", "http", { "queryd-http", "look-up.p50" }, { "Oxigraph", "look-up.p50" }, 0.5 },
    { "HTTP: look-up to Virtuoso", "http", { "queryd-http", "look-up.p50" }, { "Virtuoso", "look-up.p50" }, 0.5 },
    { "HTTP: all triples as TSV, rows/s", "http", { "queryd-http", "stream" }, { NULL }, 600000, AT_LEAST },
    { "ADBC: pandas frame to sqlite3", "arrow", { "ADBC", "pandas" }, { "sqlite3", "pandas" }, 0.5 },
    { "ADBC: polars frame to sqlite3", "arrow", { "ADBC", "polars" }, { "sqlite3", "polars" }, 0.5 },
    { "ADBC: Arrow to DuckDB's own file", "arrow", { "ADBC", "arrow" }, { "DuckDB", "arrow" }, 1 },
    { "ADBC: ingest to queryctl import", "arrow", { "ADBC", "ingest" }, { "queryctl", "ingest" }, 1 },
    { "hostile: look-up, p99 ms", "hostile", HOSTILE("look-up.p99"), { NULL }, 20 },
    { "hostile: an update, ms (1 s and transaction_ms)", "hostile", HOSTILE("update.max"), { NULL }, 4000 },
    { "hostile: a statement beyond its deadline, ms", "hostile", HOSTILE("beyond-deadline.max"), { NULL }, 250 },
    { "hostile: daemon's memory, MiB", "hostile", HOSTILE("memory"), { NULL }, 512 },
    { "hostile: look-up beside compiles, p99 ms", "hostile", { "beside 64 threads that compile", "look-up.p99" }, { NULL }, 20 },
    { "hostile: memory beside compiles, MiB", "hostile", { "beside 64 threads that compile", "memory" }, { NULL }, 512 },
    { "hostile: SIGTERM, ms", "hostile", HOSTILE("sigterm"), { NULL }, 10000 },
    ITEMS(""),
    ITEMS(", relaxed"),
};

static gboolean
place_get_median(Figures *figures, const char *group, Place place, gboolean is_best, double *ret_median)
{
    Figure *figure = is_best ? figures_find_least(figures, group, place.case_name, place.metric)
                             : figures_find(figures, group, place.case_name, place.metric);

    if (figure == NULL)
        return FALSE;

    *ret_median = samples_get_quantile(&figure->samples, 0.5);
    return TRUE;
}

/* The median of the reference, or of the better one of two. FALSE: it was not measured. */
static gboolean
bar_get_reference(const Bar *bar, Figures *figures, double *ret_reference)
{
    const Place other = { bar->other_reference, bar->reference.metric };
    double second;

    if (!place_get_median(figures, bar->group, bar->reference, FALSE, ret_reference))
        return FALSE;
    if (bar->other_reference != NULL && !place_get_median(figures, bar->group, other, FALSE, &second))
        return FALSE;
    if (bar->other_reference != NULL)
        *ret_reference = MIN(*ret_reference, second);
    return TRUE;
}

gboolean
bars_judge(Figures *figures, GString *text)
{
    gboolean ok = TRUE;

    for (gsize i = 0; i < G_N_ELEMENTS(bars); i++) {
        const Bar *bar = &bars[i];
        double reference = 1;
        double value;
        gboolean met;

        if (figures_find(figures, bar->group, "machine", "stolen") == NULL)
            continue; /* not asked for */
        if (!place_get_median(figures, bar->group, bar->value, bar->is_best, &value) ||
            (bar->reference.case_name != NULL && !bar_get_reference(bar, figures, &reference))) {
            g_string_append_printf(text, "bar %-54s was not measured\n", bar->name);
            continue;
        }
        value /= reference;
        met = bar->is_least ? value >= bar->limit : value <= bar->limit;
        g_string_append_printf(text, "bar %-54s %8.3f %s %8.3f %s\n", bar->name, value, bar->is_least ? "at least" : "at most ",
                               bar->limit, met ? "met" : "MISSED");
        ok = ok && met;
    }
    return ok;
}
