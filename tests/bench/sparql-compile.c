/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each time is of one call; the clock itself costs 30 ns.
 */
#include "tests/bench/sparql-compile.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/plan/compile.h"
#include "daemon/quads/store-catalog.h"
#include "daemon/read/evaluation.h"
#include "daemon/read/plans.h"
#include "daemon/sparql/fingerprint.h"

struct SparqlCompiler {
    QdLimits limits;
    QdConnection *connection;
    QdCatalog catalog;
};

static void
check(const GError *error, const char *what)
{
    if (error == NULL)
        return;
    g_printerr("%s: %s\n", what, error->message);
    exit(1);
}

SparqlCompiler *
sparql_compiler_new(const char *path)
{
    SparqlCompiler *self = g_new0(SparqlCompiler, 1);
    const QdConnectionInfo info = { .path = path };
    g_autoptr(GError) error = NULL;

    qd_limits_init(&self->limits);
    self->connection = qd_connection_open(&info, QD_CONNECTION_READER, &self->limits, &error);
    check(error, path);
    (void) qd_evaluation_register(self->connection, &self->limits, &error);
    check(error, path);
    (void) qd_store_catalog_load(self->connection, &self->catalog, &error);
    check(error, path);
    return self;
}

SparqlCompiler *
sparql_compiler_free(SparqlCompiler *self)
{
    (void) qd_connection_free(self->connection);
    g_free(self);
    return NULL;
}

static double
get_now_usec(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec * 1e6 + (double) now.tv_nsec / 1e3;
}

static int
compare_doubles(const void *a, const void *b)
{
    return (*(const double *) a > *(const double *) b) - (*(const double *) a < *(const double *) b);
}

static double
get_median(double *times, guint n)
{
    qsort(times, n, sizeof *times, compare_doubles);
    return times[n / 2];
}

static double
time_compile(SparqlCompiler *self, const char *text, QdSparqlPlan **ret_plan)
{
    g_autoptr(QdFingerprint) template = NULL;
    QdSparqlOptions options = { .limits = &self->limits };
    g_autoptr(GError) error = NULL;
    double start = get_now_usec();

    (void) qd_connection_begin(self->connection, NULL);
    options.fingerprint = template = qd_fingerprint_new(text, strlen(text));
    *ret_plan = qd_sparql_compile(text, strlen(text), FALSE, &options, &self->catalog, &error);
    check(error, text);
    (void) qd_connection_end(self->connection, NULL);
    return get_now_usec() - start;
}

static double
time_prepare(SparqlCompiler *self, const char *sql)
{
    double start = get_now_usec();
    sqlite3_stmt *stmt = qd_connection_prepare(self->connection, sql, QD_POLICY_READ, TRUE, &self->limits);
    double usec = get_now_usec() - start;

    (void) sqlite3_finalize(stmt);
    return usec;
}

static double
time_find(SparqlCompiler *self, const char *text)
{
    const QdPlanText what = { text, strlen(text), NULL, FALSE };
    g_autoptr(GError) error = NULL;
    double start = get_now_usec();

    (void) qd_plans_get(self->connection, &what, NULL, &self->limits, &error);
    check(error, text);
    return get_now_usec() - start;
}

void
sparql_compiler_measure(SparqlCompiler *self, const char *text, const char *other, guint n, SparqlCompileTimes *ret_times)
{
    g_autofree double *times = g_new0(double, 4 * n);

    for (guint i = 0; i < n; i++) {
        g_autoptr(QdSparqlPlan) plan = NULL;

        times[i] = time_compile(self, text, &plan);
        times[n + i] = time_prepare(self, plan->query.sql);
        (void) time_find(self, other);
        times[2 * n + i] = time_find(self, text);
        times[3 * n + i] = time_find(self, text);
    }
    *ret_times = (SparqlCompileTimes){ get_median(times, n), get_median(times + n, n), get_median(times + 2 * n, n),
                                       get_median(times + 3 * n, n) };
}
