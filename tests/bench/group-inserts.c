/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Durable inserts of one row, and a batch. How many a second 1 to 64 clients get acknowledged, through queryd, into SQLite by
 * themselves and by other servers. Everything on the file system of the store.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/crew.h"
#include "tests/bench/insert-crew.h"
#include "tests/bench/machine.h"
#include "tests/bench/peers.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define CLIENTS_MAX 64u
#define CLIENTS_WARM_UP 2u
#define CREW_MSEC 500
#define CREW_MSEC_SMOKE 20
#define BATCH_ROWS 10000
#define BATCH_ROWS_SMOKE 100
#define N_BATCHES 9
#define N_SYNCS 500
#define N_SYNCS_SMOKE 5
#define SYNC_BYTES 8192

static guint
get_msec(const Bench *bench)
{
    return bench_is_smoke(bench) ? CREW_MSEC_SMOKE : CREW_MSEC;
}

static guint
get_n_batch_rows(const Bench *bench)
{
    return bench_is_smoke(bench) ? BATCH_ROWS_SMOKE : BATCH_ROWS;
}

static void
record_crew(const Bench *bench, guint n, const CrewResult *result)
{
    bench_record_at(bench, "rate", n, "rows/s", result->per_second);
    bench_record_at(bench, "fairness", n, "1", result->fairness);
    bench_record_at(bench, "p99", n, "ms", result->p99_msec);
}

/* The disk ----------------------------------------------------------------------------------------------------------------- */

/* A file beside the store's. */
static char *
build_path(const char *name)
{
    g_autofree char *database = get_database_path();
    g_autofree char *folder = g_path_get_dirname(database);

    return g_build_filename(folder, name, NULL);
}

/* What a commit cannot do without: two pages written and synchronised, over what the file has had before. */
static void
run_disk(Bench *bench, gconstpointer argument)
{
    g_autofree char *path = build_path("bench-sync");
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    g_auto(Samples) msec = { 0 };
    char data[SYNC_BYTES] = "";

    samples_init(&msec);
    for (guint i = 0; i < (bench_is_smoke(bench) ? N_SYNCS_SMOKE : N_SYNCS); i++) {
        double start_msec = get_now_msec();

        if (pwrite(fd, data, sizeof data, 0) != sizeof data || fdatasync(fd) < 0)
            bench_fail(bench, "cannot write to '%s'", path);
        samples_add(&msec, get_now_msec() - start_msec);
    }
    (void) close(fd);
    (void) g_unlink(path);
    bench_record(bench, "sync", "ms", samples_get_quantile(&msec, 0.5));
    bench_record(bench, "sync_p99", "ms", samples_get_quantile(&msec, 0.99));
}

/* SQLite ------------------------------------------------------------------------------------------------------------------- */

static void
remove_database(const char *path)
{
    g_autofree char *log = g_strconcat(path, "-wal", NULL);
    g_autofree char *memory = g_strconcat(path, "-shm", NULL);

    (void) g_unlink(path);
    (void) g_unlink(log);
    (void) g_unlink(memory);
}

static sqlite3 *
create_database(const Bench *bench, const char *path)
{
    sqlite3 *db = NULL;

    remove_database(path);
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; " INSERT_SQL_TABLE, NULL, NULL, NULL) != SQLITE_OK)
        bench_fail(bench, "cannot make '%s'", path);
    return db;
}

/* The median of a few: a checkpoint follows some of them, of SQLite in its time, of queryd beside the next one. */
static void
record_batches(Bench *bench, void (*run)(const Bench *bench, gpointer data), gpointer data)
{
    g_auto(Samples) msec = { 0 };

    samples_init(&msec);
    for (guint i = 0; i < (bench_is_smoke(bench) ? 1 : N_BATCHES); i++) {
        double start_msec = get_now_msec();

        run(bench, data);
        samples_add(&msec, get_now_msec() - start_msec);
    }
    bench_record(bench, "batch", "ms", samples_get_quantile(&msec, 0.5));
}

static void
run_sqlite_batch(const Bench *bench, gpointer db)
{
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(db, INSERT_SQL, -1, &stmt, NULL) != SQLITE_OK)
        bench_fail(bench, "%s", sqlite3_errmsg(db));
    (void) sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    for (guint i = 0; i < get_n_batch_rows(bench); i++) {
        (void) sqlite3_bind_text(stmt, 1, INSERT_TEXT, -1, SQLITE_STATIC);
        if (sqlite3_step(stmt) != SQLITE_DONE)
            bench_fail(bench, "%s", sqlite3_errmsg(db));
        (void) sqlite3_reset(stmt);
    }
    if (sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        bench_fail(bench, "%s", sqlite3_errmsg(db));
    (void) sqlite3_finalize(stmt);
}

static void
run_sqlite(Bench *bench, gconstpointer argument)
{
    static const guint n_connections[] = { 1, 8 };
    g_autofree char *path = build_path("bench-inserts.db");
    g_autofree char *duration = g_strdup_printf("%u", get_msec(bench));
    sqlite3 *db = create_database(bench, path);

    for (gsize i = 0; i < G_N_ELEMENTS(n_connections); i++) {
        const char *argv[] = { INSERT_CREW_SQLITE_ROLE, duration, path, NULL };
        CrewResult result = crew_run(bench, n_connections[i], argv, get_msec(bench));

        record_crew(bench, n_connections[i], &result);
    }
    record_batches(bench, run_sqlite_batch, db);
    (void) sqlite3_close(db);
    remove_database(path);
}

/* queryd ------------------------------------------------------------------------------------------------------------------- */

static void
run_batch(const Bench *bench, gpointer data)
{
    g_autoptr(GError) error = NULL;
    QueryStatement *statement = data;
    guint n = get_n_batch_rows(bench);

    for (guint i = 0; i < n; i++) {
        (void) query_statement_bind_string(statement, "1", INSERT_TEXT, -1, NULL);
        (void) query_statement_add_row(statement, NULL);
    }
    if (query_statement_update(statement, NULL, &error) != (gint64) n)
        bench_fail(bench, "the batch: %s", error != NULL ? error->message : "not all rows");
}

static void
run_batches(Bench *bench, QueryConnection *connection)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryStatement) statement = query_connection_prepare_update(connection, QUERY_LANGUAGE_SQL, INSERT_SQL, NULL, &error);

    die_on_error(error, INSERT_SQL);
    record_batches(bench, run_batch, statement);
}

/* @argument: how many each client has in flight; "0": it waits for each. */
static void
run_queryd(Bench *bench, gconstpointer argument)
{
    g_autoptr(QueryConnection) connection = open_connection();
    g_autofree char *duration = g_strdup_printf("%u", get_msec(bench));
    guint n_max = bench_is_warm_up(bench) ? CLIENTS_WARM_UP : CLIENTS_MAX;

    execute(connection, "DROP TABLE IF EXISTS inserted");
    execute(connection, INSERT_SQL_TABLE);
    for (guint n = 1; n <= n_max; n *= 2) {
        const char *argv[] = { INSERT_CREW_ROLE, duration, argument, NULL };
        CrewResult result = crew_run(bench, n, argv, get_msec(bench));

        record_crew(bench, n, &result);
    }
    run_batches(bench, connection);
}

static const BenchCase cases[] = {
    { "disk", run_disk, .reference = "disk" },
    { "SQLite", run_sqlite },
    { "queryd", run_queryd, "0" },
    { "queryd, 16 in flight", run_queryd, "16" },
    { "PostgreSQL", peers_run_inserts, "ins pg" },
    { "MariaDB", peers_run_inserts, "ins my" },
};

const BenchGroup bench_inserts = {
    .name = "inserts",
    .title = "durable inserts of one row, 1 to 64 clients",
    .reference = "SQLite",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
