/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long one row by its key takes, alone and beside others: each a process of its own, as on a desktop.
 */
#include <stdio.h>

#include "tests/demo/bench.h"
#include "tests/demo/founding-table.h"
#include "tests/demo/helper.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define TABLE "latency"
#define N_ROWS 60000
#define N_LOOKUPS 5000
#define N_PACED 1000
#define REPEATS 3
#define PACE_USEC 1000
#define N_SCANNERS 31
#define N_STOPPED 32

#define STOPPED_RATIO_MAX 2.0
#define LONG_P99_MSEC_MAX 5.0
#define SCANNERS_P99_MSEC_MAX 20.0

/* Four queries that the daemon works on all the time: rows, two aggregates that give none for long, a sort. */
static const char *const long_roles[][3] = {
    { "repeat", "SELECT * FROM " TABLE, NULL },
    { "long", "SELECT count(*) FROM " TABLE " a, " TABLE " b WHERE a.t1 < b.t2", NULL },
    { "long", "SELECT max(a.t3 || b.t4) FROM " TABLE " a, " TABLE " b", NULL },
    { "long",
      "SELECT count(*) FROM (SELECT a.t5 FROM " TABLE
      " a, (SELECT 1 UNION SELECT 2 UNION SELECT 3) ORDER BY a.t5 || a.t6 LIMIT -1 OFFSET 1)",
      NULL },
};

/* 99th percentiles. */
typedef struct Latency {
    double dense_msec; /* one look-up behind the other */
    double paced_msec; /* with a pause between */
} Latency;

static void
look_up(QueryStatement *statement, guint64 id)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = NULL;

    (void) query_statement_bind_int64(statement, "1", (gint64) id, NULL);
    cursor = query_statement_execute(statement, NULL, &error);
    die_on_error(error, "look-up");
    if (!query_cursor_next(cursor, NULL, &error) || query_cursor_get_int64(cursor, 0) != (gint64) id)
        die_on_error(error != NULL ? error : &(GError){ .message = (char *) "the row is not there" }, "look-up");
    (void) query_cursor_next(cursor, NULL, &error);
    die_on_error(error, "look-up");
}

/* The least 99th percentile of some repetitions: what others do on the machine only adds to it. */
static double
measure_paced(QueryStatement *statement, const char *what, guint n_lookups, gulong pause_usec)
{
    double best_msec = G_MAXDOUBLE;
    double median_msec = G_MAXDOUBLE;
    double max_msec = 0;

    for (guint repeat = 0; repeat < REPEATS; repeat++) {
        g_auto(Samples) samples = { 0 };

        samples_init(&samples);
        for (guint i = 0; i < n_lookups; i++) {
            double start_msec = get_now_msec();

            look_up(statement, (i * 7919u) % N_ROWS + 1);
            samples_add(&samples, get_now_msec() - start_msec);
            if (pause_usec > 0)
                g_usleep(pause_usec);
        }
        median_msec = MIN(median_msec, samples_get_quantile(&samples, 0.5));
        best_msec = MIN(best_msec, samples_get_quantile(&samples, 0.99));
        max_msec = MAX(max_msec, samples_get_quantile(&samples, 1));
    }
    (void) printf("  %-28s %-13s %8.3f %8.3f %8.3f   ", what, pause_usec > 0 ? "one each ms" : "without pause", median_msec,
                  best_msec, max_msec);
    return best_msec;
}

/*
 * Without a pause many look-ups fit into the time between two of the scheduler's decisions, and few meet one; each millisecond one
 * has to be woken, as for a program that a user waits for.
 */
static Latency
measure(QueryConnection *connection, const char *what)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryStatement) statement = NULL;
    Latency latency;

    statement = query_connection_prepare(connection, QUERY_LANGUAGE_SQL, "SELECT * FROM " TABLE " WHERE id = ?", NULL, &error);
    die_on_error(error, "look-up");
    latency.dense_msec = measure_paced(statement, what, N_LOOKUPS, 0);
    (void) printf("\n");
    latency.paced_msec = measure_paced(statement, what, N_PACED, PACE_USEC);
    return latency;
}

static gboolean
measure_beside_stopped(QueryConnection *connection, Latency quiet)
{
    GPtrArray *stopped = helpers_start(N_STOPPED, (const char *[]){ "hold", TABLE, "1", "1", NULL });
    Latency latency = measure(connection, "with 32 stopped readers");
    double ratio = MAX(latency.dense_msec / quiet.dense_msec, latency.paced_msec / quiet.paced_msec);

    (void) printf("bar: p99 below %.0f times quiet, %.2f, ", STOPPED_RATIO_MAX, ratio);
    helpers_stop(stopped);
    return bench_judge(ratio < STOPPED_RATIO_MAX);
}

static gboolean
measure_beside_long(QueryConnection *connection)
{
    GPtrArray *helpers[G_N_ELEMENTS(long_roles)];
    Latency latency;

    for (gsize i = 0; i < G_N_ELEMENTS(long_roles); i++)
        helpers[i] = helpers_start(1, long_roles[i]);
    wait_until_running(connection, G_N_ELEMENTS(long_roles) - 1);
    latency = measure(connection, "beside 4 long queries");
    for (gsize i = 0; i < G_N_ELEMENTS(long_roles); i++)
        helpers_stop(helpers[i]);
    (void) printf("bar: p99 at most %.0f ms, ", LONG_P99_MSEC_MAX);
    return bench_judge(MAX(latency.dense_msec, latency.paced_msec) <= LONG_P99_MSEC_MAX);
}

static gboolean
measure_beside_scanners(QueryConnection *connection)
{
    GPtrArray *scanners = helpers_start(N_SCANNERS, (const char *[]){ "repeat", "SELECT * FROM " TABLE, NULL });
    Latency latency = measure(connection, "with 31 scanning clients");

    helpers_stop(scanners);
    (void) printf("bar: p99 at most %.0f ms, ", SCANNERS_P99_MSEC_MAX);
    return bench_judge(MAX(latency.dense_msec, latency.paced_msec) <= SCANNERS_P99_MSEC_MAX);
}

gboolean
bench_latency(void)
{
    g_autoptr(QueryConnection) connection = open_connection();
    Latency quiet;
    gboolean ok;

    (void) founding_table_create(connection, TABLE, N_ROWS);
    (void) printf("\nlatency: one row of %d columns by its key           p50      p99      max ms   (best of %d)\n",
                  FOUNDING_TEXTS + 1, REPEATS);
    (void) measure(connection, "quiet, first time");
    (void) printf("\n");
    quiet = measure(connection, "quiet");
    (void) printf("\n");
    ok = measure_beside_stopped(connection, quiet);
    ok = measure_beside_long(connection) && ok;
    ok = measure_beside_scanners(connection) && ok;
    execute(connection, "DROP TABLE " TABLE);
    return ok;
}
