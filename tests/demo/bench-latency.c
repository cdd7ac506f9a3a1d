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

/* Prints one line and returns the 99th percentile in ms. */
static double
measure(QueryConnection *connection, const char *what)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryStatement) statement = NULL;
    g_auto(Samples) samples = { 0 };

    samples_init(&samples);
    statement = query_connection_prepare(connection, QUERY_LANGUAGE_SQL, "SELECT * FROM " TABLE " WHERE id = ?", NULL, &error);
    die_on_error(error, "look-up");
    for (guint i = 0; i < N_LOOKUPS; i++) {
        double start_msec = get_now_msec();

        look_up(statement, (i * 7919u) % N_ROWS + 1);
        samples_add(&samples, get_now_msec() - start_msec);
    }
    (void) printf("  %-42s %8.3f %8.3f %8.3f   ", what, samples_get_quantile(&samples, 0.5), samples_get_quantile(&samples, 0.99),
                  samples_get_quantile(&samples, 1));
    return samples_get_quantile(&samples, 0.99);
}

static gboolean
measure_beside_stopped(QueryConnection *connection, double quiet_msec)
{
    GPtrArray *stopped = helpers_start(N_STOPPED, (const char *[]){ "hold", TABLE, "1", "1", NULL });
    double p99_msec = measure(connection, "with 32 stopped readers");

    (void) printf("bar: p99 below %.0f times quiet, %.2f, ", STOPPED_RATIO_MAX, p99_msec / quiet_msec);
    helpers_stop(stopped);
    return bench_judge(p99_msec < STOPPED_RATIO_MAX * quiet_msec);
}

static gboolean
measure_beside_long(QueryConnection *connection)
{
    GPtrArray *helpers[G_N_ELEMENTS(long_roles)];
    double p99_msec;

    for (gsize i = 0; i < G_N_ELEMENTS(long_roles); i++)
        helpers[i] = helpers_start(1, long_roles[i]);
    wait_until_running(connection, G_N_ELEMENTS(long_roles) - 1);
    p99_msec = measure(connection, "beside 4 long queries");
    for (gsize i = 0; i < G_N_ELEMENTS(long_roles); i++)
        helpers_stop(helpers[i]);
    (void) printf("bar: p99 at most %.0f ms, ", LONG_P99_MSEC_MAX);
    return bench_judge(p99_msec <= LONG_P99_MSEC_MAX);
}

static gboolean
measure_beside_scanners(QueryConnection *connection)
{
    GPtrArray *scanners = helpers_start(N_SCANNERS, (const char *[]){ "repeat", "SELECT * FROM " TABLE, NULL });
    double p99_msec = measure(connection, "with 31 scanning clients");

    helpers_stop(scanners);
    (void) printf("bar: p99 at most %.0f ms, ", SCANNERS_P99_MSEC_MAX);
    return bench_judge(p99_msec <= SCANNERS_P99_MSEC_MAX);
}

gboolean
bench_latency(void)
{
    g_autoptr(QueryConnection) connection = open_connection();
    double quiet_msec;
    gboolean ok;

    (void) founding_table_create(connection, TABLE, N_ROWS);
    (void) printf("\nlatency: one row of %d columns by its key, %d times        p50      p99      max ms\n", FOUNDING_TEXTS + 1,
                  N_LOOKUPS);
    (void) measure(connection, "quiet, first time");
    (void) printf("\n");
    quiet_msec = measure(connection, "quiet");
    (void) printf("\n");
    ok = measure_beside_stopped(connection, quiet_msec);
    ok = measure_beside_long(connection) && ok;
    ok = measure_beside_scanners(connection) && ok;
    execute(connection, "DROP TABLE " TABLE);
    return ok;
}
