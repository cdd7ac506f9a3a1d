/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Many clients: how much they get together, how evenly, and how long one row takes beside those who want much.
 */
#include "tests/bench/bench.h"
#include "tests/bench/crew.h"
#include "tests/demo/founding-table.h"
#include "tests/demo/helper.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define READERS_MAX 64u
#define READERS_SMOKE 16u /* each a process: 64 of them in each case took most of the time of a short run */
#define READERS_WARM_UP 2u
#define CREW_MSEC 250
#define CREW_MSEC_SMOKE 20

#define N_LOOKUPS 2000
#define N_PACED 500
#define N_SMOKE 50
#define PACE_USEC 1000
#define N_SCANNERS 31
#define N_STOPPED 32

/* Readers ------------------------------------------------------------------------------------------------------------------ */

typedef struct Readers {
    const char *sql;
    gboolean has_writer;
} Readers;

static const Readers look_ups = { "SELECT * FROM " BENCH_TABLE " WHERE id = ?" };
static const Readers look_ups_with_writer = { "SELECT * FROM " BENCH_TABLE " WHERE id = ?", TRUE };
static const Readers scans = { "SELECT * FROM " BENCH_TABLE " WHERE ? > 0 LIMIT 30000" };
static const Readers scans_with_writer = { "SELECT * FROM " BENCH_TABLE " WHERE ? > 0 LIMIT 30000", TRUE };

static void
run_readers(Bench *bench, gconstpointer argument)
{
    const Readers *readers = argument;
    guint msec = bench_is_smoke(bench) ? CREW_MSEC_SMOKE : CREW_MSEC;
    GPtrArray *writer = readers->has_writer ? crew_start_writer() : NULL;
    guint n_max = bench_is_warm_up(bench) ? READERS_WARM_UP : bench_is_smoke(bench) ? READERS_SMOKE : READERS_MAX;

    for (guint n = 1; n <= n_max; n *= 2) {
        CrewResult result = crew_measure(bench, n, readers->sql, msec);

        bench_record_at(bench, "throughput", n, "rows/s", result.per_second);
        bench_record_at(bench, "fairness", n, "1", result.fairness);
        bench_record_at(bench, "p99", n, "ms", result.p99_msec);
        bench_record_at(bench, "p99_worst", n, "ms", result.p99_worst_msec);
    }
    if (writer != NULL)
        helpers_stop(writer);
}

/* One row beside others ---------------------------------------------------------------------------------------------------- */

/* What the daemon works on all the time: rows, two aggregates that give none for long, a sort. */
static const char *const long_roles[][3] = {
    { "repeat", "SELECT * FROM " BENCH_TABLE, NULL },
    { "long", "SELECT count(*) FROM " BENCH_TABLE " a, " BENCH_TABLE " b WHERE a.t1 < b.t2", NULL },
    { "long", "SELECT max(a.t3 || b.t4) FROM " BENCH_TABLE " a, " BENCH_TABLE " b", NULL },
    { "long",
      "SELECT count(*) FROM (SELECT a.t5 FROM " BENCH_TABLE
      " a, (SELECT 1 UNION SELECT 2 UNION SELECT 3) ORDER BY a.t5 || a.t6 LIMIT -1 OFFSET 1)",
      NULL },
};

static void
look_up(const Bench *bench, QueryStatement *statement, gint64 id)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = NULL;

    (void) query_statement_bind_int64(statement, "1", id, NULL);
    cursor = query_statement_execute(statement, NULL, &error);
    die_on_error(error, "look-up");
    if (!query_cursor_next(cursor, NULL, &error) || query_cursor_get_int64(cursor, 0) != id)
        bench_fail(bench, "the row is not there");
    (void) query_cursor_next(cursor, NULL, &error);
    die_on_error(error, "look-up");
}

static void
measure_look_ups(const Bench *bench, QueryStatement *statement, const char *prefix, guint n_lookups, gulong pause_usec)
{
    g_autofree char *median = g_strdup_printf("%s.p50", prefix);
    g_autofree char *tail = g_strdup_printf("%s.p99", prefix);
    g_auto(Samples) msec = { 0 };

    samples_init(&msec);
    for (guint i = 0; i < n_lookups; i++) {
        double start_msec = get_now_msec();

        look_up(bench, statement, (gint64) (i * 7919u % bench->n_rows) + 1);
        samples_add(&msec, get_now_msec() - start_msec);
        if (pause_usec > 0)
            g_usleep(pause_usec);
    }
    bench_record(bench, median, "ms", samples_get_quantile(&msec, 0.5));
    bench_record(bench, tail, "ms", samples_get_quantile(&msec, 0.99));
}

/*
 * Without a pause many look-ups fit into the time between two of the scheduler's decisions, and few meet one. With one each
 * millisecond the client has to be woken, as for a program that a user waits for.
 */
static void
measure_one_row(const Bench *bench)
{
    g_autoptr(QueryConnection) connection = open_connection();
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryStatement) statement = query_connection_prepare(connection, QUERY_LANGUAGE_SQL,
                                                                   "SELECT * FROM " BENCH_TABLE " WHERE id = ?", NULL, &error);

    die_on_error(error, "look-up");
    measure_look_ups(bench, statement, "dense", bench_is_smoke(bench) ? N_SMOKE : N_LOOKUPS, 0);
    measure_look_ups(bench, statement, "paced", bench_is_smoke(bench) ? N_SMOKE : N_PACED, PACE_USEC);
}

static void
run_quiet(Bench *bench, gconstpointer argument)
{
    measure_one_row(bench);
}

static void
run_beside_stopped(Bench *bench, gconstpointer argument)
{
    GPtrArray *stopped = helpers_start(N_STOPPED, (const char *[]){ "hold", BENCH_TABLE, "1", "1", NULL });

    measure_one_row(bench);
    helpers_stop(stopped);
}

static void
run_beside_long(Bench *bench, gconstpointer argument)
{
    g_autoptr(QueryConnection) connection = open_connection();
    GPtrArray *helpers[G_N_ELEMENTS(long_roles)];

    for (gsize i = 0; i < G_N_ELEMENTS(long_roles); i++)
        helpers[i] = helpers_start(1, long_roles[i]);
    wait_until_running(connection, G_N_ELEMENTS(long_roles) - 1);
    measure_one_row(bench);
    for (gsize i = 0; i < G_N_ELEMENTS(long_roles); i++)
        helpers_stop(helpers[i]);
}

static void
run_beside_scanners(Bench *bench, gconstpointer argument)
{
    GPtrArray *scanners = helpers_start(N_SCANNERS, (const char *[]){ "repeat", "SELECT * FROM " BENCH_TABLE, NULL });

    measure_one_row(bench);
    helpers_stop(scanners);
}

static const BenchCase cases[] = {
    { "one row, quiet", run_quiet },
    { "one row, 32 stopped readers", run_beside_stopped },
    { "one row, 4 long queries", run_beside_long },
    { "one row, 31 scanning clients", run_beside_scanners },
    { "look-ups", run_readers, &look_ups, .reference = "look-ups" },
    { "look-ups beside a writer", run_readers, &look_ups_with_writer, .reference = "look-ups" },
    { "scans", run_readers, &scans, .reference = "scans" },
    { "scans beside a writer", run_readers, &scans_with_writer, .reference = "scans" },
};

const BenchGroup bench_concurrency = {
    .name = "concurrency",
    .title = "1 to 64 clients, and one row beside others",
    .reference = "one row, quiet",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
