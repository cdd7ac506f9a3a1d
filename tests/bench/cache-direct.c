/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes that begin each round together. Memory is the sum of their proportional shares (PSS). A page that several have
 * mapped counts once, a page that each has copied counts for each.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/cache.h"
#include "tests/demo/founding-table.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define PROCESSES_MAX 8u
#define N_LOOKUPS_SMOKE 50u
#define PART 4

typedef struct Shared {
    pthread_barrier_t barrier;
    double cpu_msec[PROCESSES_MAX];
    guint64 memory_kib[PROCESSES_MAX];
    guint64 anon_kib[PROCESSES_MAX];
} Shared;

typedef struct CacheRun {
    Bench *bench;
    const CacheCase *one;
    char *path;
    guint n_rows;
    guint n_lookups;
    Shared *shared;
} CacheRun;

guint64
cache_get_share(CacheShare share, guint64 n_bytes)
{
    switch (share) {
    case CACHE_NONE:
        return 0;
    case CACHE_PART:
        return n_bytes / PART;
    case CACHE_FULL:
        return 2 * n_bytes;
    case CACHE_AS_CONFIGURED:
        break;
    }
    return 0;
}

static void
run_sql(CacheRun *run, sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        bench_fail(run->bench, "%s: %s", sql, sqlite3_errmsg(db));
}

static sqlite3 *
open_database(CacheRun *run, const char *path)
{
    sqlite3 *db = NULL;

    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK)
        bench_fail(run->bench, "'%s': %s", path, sqlite3_errmsg(db));
    (void) sqlite3_busy_timeout(db, 5000);
    run_sql(run, db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
    return db;
}

/* A part of the table in a file of its own, which may be written. */
static void
make_file(CacheRun *run, const char *from)
{
    g_autofree char *attach = g_strdup_printf("ATTACH 'file:%s?mode=ro' AS store", from);
    g_autofree char *copy = g_strdup_printf("INSERT INTO t SELECT * FROM store." BENCH_TABLE " WHERE id <= %u", run->n_rows);
    g_autoptr(GString) create = g_string_new("CREATE TABLE t(id INTEGER PRIMARY KEY");
    sqlite3 *db;

    (void) sqlite3_config(SQLITE_CONFIG_URI, 1);
    db = open_database(run, run->path);
    for (guint i = 1; i <= FOUNDING_TEXTS; i++)
        g_string_append_printf(create, ", t%u TEXT", i);
    g_string_append(create, ")");
    run_sql(run, db, attach);
    run_sql(run, db, create->str);
    run_sql(run, db, copy);
    (void) sqlite3_close(db);
}

static sqlite3 *
open_configured(CacheRun *run)
{
    g_autofree char *pragmas = NULL;
    GStatBuf status;
    sqlite3 *db = open_database(run, run->path);

    if (g_stat(run->path, &status) != 0)
        bench_fail(run->bench, "'%s': %s", run->path, g_strerror(errno));
    pragmas = g_strdup_printf("PRAGMA cache_size=-%" G_GUINT64_FORMAT "; PRAGMA mmap_size=%" G_GUINT64_FORMAT,
                              cache_get_share(run->one->cache, (guint64) status.st_size) / 1024,
                              cache_get_share(run->one->map, (guint64) status.st_size));
    run_sql(run, db, pragmas);
    return db;
}

static void
look_up_many(CacheRun *run, sqlite3_stmt *stmt, guint n, guint64 *key)
{
    CellSink sink;

    cell_sink_init(&sink, READ_COPY);
    for (guint i = 0; i < n; i++) {
        *key = (*key + 7919) % run->n_rows;
        (void) sqlite3_bind_int64(stmt, 1, (gint64) *key + 1);
        if (sqlite3_step(stmt) != SQLITE_ROW)
            bench_fail(run->bench, "row %" G_GUINT64_FORMAT " is not there", *key + 1);
        cell_sink_put_int64(&sink, sqlite3_column_int64(stmt, 0));
        for (int k = 1; k <= FOUNDING_TEXTS; k++) {
            const unsigned char *text = sqlite3_column_text(stmt, k);

            cell_sink_put(&sink, text, (gsize) sqlite3_column_bytes(stmt, k));
        }
        cell_sink_end_row(&sink);
        (void) sqlite3_reset(stmt);
    }
    (void) cell_sink_finish(&sink);
}

guint64
cache_get_pss_kib(GPid pid)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/smaps_rollup", (int) pid);
    g_autofree char *text = NULL;
    const char *place;

    if (!g_file_get_contents(path, &text, NULL, NULL))
        return 0;

    place = strstr(text, "\nPss:");
    return place != NULL ? g_ascii_strtoull(place + strlen("\nPss:"), NULL, 10) : 0;
}

static G_GNUC_NORETURN void
be_member(CacheRun *run, guint index)
{
    sqlite3 *db = open_configured(run);
    guint64 key = (guint64) index * run->n_rows / PROCESSES_MAX;
    sqlite3_stmt *stmt = NULL;
    double cpu_msec;

    if (sqlite3_prepare_v2(db, "SELECT * FROM t WHERE id = ?", -1, &stmt, NULL) != SQLITE_OK)
        bench_fail(run->bench, "%s", sqlite3_errmsg(db));
    run_sql(run, db, "SELECT max(t30) FROM t"); /* fills the cache */
    (void) pthread_barrier_wait(&run->shared->barrier);
    cpu_msec = get_cpu_msec(getpid());
    for (guint round = 0; round < CACHE_N_ROUNDS; round++) {
        if (index == 0 && run->one->n_processes > 1)
            run_sql(run, db, "UPDATE t SET t1 = t2 WHERE id = 1");
        (void) pthread_barrier_wait(&run->shared->barrier);
        look_up_many(run, stmt, run->n_lookups, &key);
        (void) pthread_barrier_wait(&run->shared->barrier);
    }
    run->shared->cpu_msec[index] = get_cpu_msec(getpid()) - cpu_msec;
    run->shared->memory_kib[index] = cache_get_pss_kib(getpid());
    run->shared->anon_kib[index] = get_status_kib(getpid(), "RssAnon");
    (void) pthread_barrier_wait(&run->shared->barrier);
    _exit(0);
}

static Shared *
make_shared(CacheRun *run)
{
    pthread_barrierattr_t attributes;
    Shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED)
        bench_fail(run->bench, "mmap: %s", g_strerror(errno));
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &attributes, run->one->n_processes + 1);
    return shared;
}

/* Returns the time from the first round to the last. */
static double
run_members(CacheRun *run)
{
    double start_msec;
    double msec;

    for (guint i = 0; i < run->one->n_processes; i++) {
        pid_t pid = fork();

        if (pid < 0)
            bench_fail(run->bench, "fork: %s", g_strerror(errno));
        if (pid == 0)
            be_member(run, i);
    }
    (void) pthread_barrier_wait(&run->shared->barrier);
    start_msec = get_now_msec();
    for (guint round = 0; round < CACHE_N_ROUNDS; round++) {
        (void) pthread_barrier_wait(&run->shared->barrier);
        (void) pthread_barrier_wait(&run->shared->barrier);
    }
    msec = get_now_msec() - start_msec;
    (void) pthread_barrier_wait(&run->shared->barrier);
    while (wait(NULL) > 0)
        ;
    return msec;
}

void
cache_run_direct(Bench *bench, gconstpointer argument)
{
    g_autofree char *store = get_database_path();
    g_autofree char *path = g_strdup_printf("%s.cache", store);
    CacheRun run = { .bench = bench,
                     .one = argument,
                     .path = path,
                     .n_rows = bench->n_rows / CACHE_TABLE_PART,
                     .n_lookups = bench_is_smoke(bench) ? N_LOOKUPS_SMOKE : CACHE_N_LOOKUPS };
    double cpu_msec = 0;
    guint64 memory_kib = 0;
    guint64 anon_kib = 0;
    double msec;

    if (g_access(path, F_OK) != 0)
        make_file(&run, store);
    run.shared = make_shared(&run);
    msec = run_members(&run);
    for (guint i = 0; i < run.one->n_processes; i++) {
        cpu_msec += run.shared->cpu_msec[i];
        memory_kib += run.shared->memory_kib[i];
        anon_kib += run.shared->anon_kib[i];
    }
    bench_record(bench, "time", "ms", msec);
    bench_record(bench, "cpu", "ms", cpu_msec);
    bench_record(bench, "memory", "MiB", (double) memory_kib / 1024);
    bench_record(bench, "anon", "MiB", (double) anon_kib / 1024);
}
