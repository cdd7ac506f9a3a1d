/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contents of one size: a job that creates each, a job that modifies each, one fetch of all, one delete of all. In rows or files by
 * SQLite alone, as payloads of queryd, and in rows of PostgreSQL and MariaDB; durable and relaxed.
 *
 * 2,500 items, but of the larger sizes so many as hold 128 MiB. Times and the space on the disk are per item, memory is the
 * server's own at most, of PostgreSQL that of one process. What queryd deletes in files goes after its answer.
 */
#include <dirent.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/bench/items.h"
#include "tests/bench/machine.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define N_ITEMS 2500u
#define N_ITEMS_SMOKE 20u
#define TOTAL_BYTES_MAX (128 * 1024 * 1024u)

static const gsize sizes[] = { 256, 4096, 16384, 65536, 262144, 1048576 };

/* All bytes differ between versions: SQLite does not write pages of a row that stay as they were. */
void
items_fill(ItemsRun *run, guint number, guint version)
{
    const guint64 stamp = (guint64) version << 32 | number;
    gsize shift = sizeof stamp * ((number * 509u + version * 1021u) % (run->size / sizeof stamp));

    run->content = run->pool + 2 * run->size * (number % ITEMS_IN_FLIGHT) + shift;
    memcpy(run->content, &stamp, sizeof stamp);
}

void
items_read(ItemsRun *run, const void *data, gsize n_bytes)
{
    const char *p = data;
    guint64 sum = 0;

    for (gsize i = 0; i + sizeof sum <= n_bytes; i += sizeof sum) {
        guint64 word;

        memcpy(&word, p + i, sizeof word);
        sum += word;
    }
    run->checksum += sum;
}

guint64
items_get_folder_bytes(const char *path)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    guint64 n_bytes = 0;

    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *file = g_build_filename(path, name, NULL);
        struct stat st;

        if (lstat(file, &st) == 0)
            n_bytes += (guint64) st.st_blocks * 512;
    }
    return n_bytes;
}

guint64
items_get_table_bytes(ItemsRun *run, sqlite3 *db, const char *prefix)
{
    sqlite3_stmt *stmt = NULL;
    guint64 n_bytes = 0;

    if (sqlite3_prepare_v2(db, "SELECT sum(pgsize) FROM dbstat WHERE name LIKE ?1||'%'", -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_bind_text(stmt, 1, prefix, -1, SQLITE_STATIC) != SQLITE_OK || sqlite3_step(stmt) != SQLITE_ROW)
        bench_fail(run->bench, "pages of '%s': %s", prefix, sqlite3_errmsg(db));
    n_bytes = (guint64) sqlite3_column_int64(stmt, 0);
    (void) sqlite3_finalize(stmt);
    return n_bytes;
}

static void
record_once_at(ItemsRun *run, const char *metric, const char *unit, double value)
{
    g_autofree char *name = g_strdup_printf("%s@%" G_GSIZE_FORMAT, metric, run->size);

    bench_record_once(run->bench, name, unit, value);
}

static void
measure(ItemsRun *run, const char *metric, void (*func)(ItemsRun *run))
{
    guint64 start_nsec = machine_get_now_nsec();

    func(run);
    bench_record_at(run->bench, metric, run->size, "us", (double) (machine_get_now_nsec() - start_nsec) / 1e3 / run->n);
}

static void
remove_folder(const char *path)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;

    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *file = g_build_filename(path, name, NULL);

        (void) g_unlink(file);
    }
    (void) g_rmdir(path);
}

static void
run_size(ItemsRun *run)
{
    g_autofree char *what = g_strdup_printf("checksum of %u x %" G_GSIZE_FORMAT " bytes", run->n, run->size);
    gboolean samples_memory = run->way->get_server != NULL && bench_is_warm_up(run->bench);
    AnonSampler *memory;

    (void) g_mkdir(run->folder, 0700);
    run->checksum = 0;
    run->way->open(run);
    memory = samples_memory ? anon_sampler_start(run->way->get_server(run)) : NULL;
    measure(run, "create", run->way->create);
    measure(run, "modify", run->way->modify);
    measure(run, "fetch", run->way->fetch);
    if (memory != NULL)
        record_once_at(run, "server_anon", "MiB", (double) anon_sampler_stop(memory) / 1024);
    if (bench_is_warm_up(run->bench))
        record_once_at(run, "disk", "KiB", (double) run->way->get_disk_bytes(run) / 1024 / run->n);
    bench_check(run->bench, what, run->checksum);
    measure(run, "delete", run->way->remove);
    run->way->close(run);
    remove_folder(run->folder);
}

static void
run_items(Bench *bench, gconstpointer argument, gboolean relaxed)
{
    g_autofree char *path = get_database_path();
    g_autofree char *store = g_path_get_dirname(path);
    g_autofree char *folder = g_build_filename(store, "items", NULL);
    g_autofree guint8 *pool = g_malloc(2 * ITEMS_IN_FLIGHT * sizes[G_N_ELEMENTS(sizes) - 1]);
    ItemsRun run = { .bench = bench, .way = argument, .relaxed = relaxed, .folder = folder, .pool = pool };

    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        run.size = sizes[i];
        for (gsize k = 0; k < 2 * ITEMS_IN_FLIGHT * run.size; k++)
            pool[k] = (guint8) (k * 2654435761u >> 13);
        run.n = bench_is_smoke(bench) || bench_is_warm_up(bench) ? N_ITEMS_SMOKE : (guint) MIN(N_ITEMS, TOTAL_BYTES_MAX / run.size);
        run_size(&run);
    }
}

static void
run_durable(Bench *bench, gconstpointer argument)
{
    run_items(bench, argument, FALSE);
}

static void
run_relaxed(Bench *bench, gconstpointer argument)
{
    run_items(bench, argument, TRUE);
}

static const BenchCase cases[] = {
    { "row", run_durable, &items_row },
    { "file", run_durable, &items_file },
    { "queryd", run_durable, &items_queryd },
    { "queryd, fetched directly", run_durable, &items_queryd_direct },
    { "PostgreSQL, pipelined", run_durable, &items_postgresql },
    { "MariaDB", run_durable, &items_mariadb },
    { "row, relaxed", run_relaxed, &items_row, .reference = "row, relaxed" },
    { "file, relaxed", run_relaxed, &items_file, .reference = "row, relaxed" },
    { "queryd, relaxed", run_relaxed, &items_queryd, .reference = "row, relaxed" },
    { "PostgreSQL, pipelined, relaxed", run_relaxed, &items_postgresql, .reference = "row, relaxed" },
    { "MariaDB, relaxed", run_relaxed, &items_mariadb, .reference = "row, relaxed" },
};

const BenchGroup bench_items = {
    .name = "items",
    .title = "contents of one size: a job each to create and modify, one fetch, one delete",
    .reference = "row",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
