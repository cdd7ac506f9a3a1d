/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The same look-ups by clients of queryd, whose connections share one process. Two limits of its configuration say what the
 * others say by PRAGMA; the daemon is restarted with them. Beside eight clients a ninth updates all the time.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/cache.h"
#include "tests/bench/crew.h"
#include "tests/demo/helper.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define MAP_LIMIT "map_bytes"
#define CACHE_LIMIT "reader_cache_bytes"
#define MSEC 250
#define MSEC_SMOKE 20

static gboolean
has_limit(QueryConnection *connection, const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GVariant) limits = query_connection_get_limits(connection, NULL, &error);
    GVariantIter iter;
    const char *found;

    die_on_error(error, "limits");
    g_variant_iter_init(&iter, limits);
    while (g_variant_iter_loop(&iter, "(&sttsss)", &found, NULL, NULL, NULL, NULL, NULL))
        if (g_str_equal(found, name))
            return TRUE;
    return FALSE;
}

/* Beside the bench's own configuration; the case takes it away again. */
static char *
get_config_path(void)
{
    return g_build_filename(g_get_user_config_dir(), "queryd", "queryd.conf.d", "cache.conf", NULL);
}

static void
configure(const Bench *bench, const CacheCase *one)
{
    g_autoptr(QueryConnection) connection = open_connection();
    g_autofree char *path = get_config_path();
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *store = get_database_path();
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    guint64 part_bytes;
    GStatBuf status;

    if (!has_limit(connection, MAP_LIMIT) || !has_limit(connection, CACHE_LIMIT))
        bench_skip(bench, "the daemon has no limits '" MAP_LIMIT "' and '" CACHE_LIMIT "'");
    if (g_mkdir_with_parents(folder, 0700) != 0 || g_stat(store, &status) != 0)
        bench_fail(bench, "configuration: %s", g_strerror(errno));
    part_bytes = (guint64) status.st_size / CACHE_TABLE_PART;
    text = g_strdup_printf("[Limits]\n" CACHE_LIMIT "=%" G_GUINT64_FORMAT "\n" MAP_LIMIT "=%" G_GUINT64_FORMAT "\n",
                           cache_get_share(one->cache, part_bytes), cache_get_share(one->map, part_bytes));
    (void) g_file_set_contents(path, text, -1, &error);
    die_on_error(error, path);
}

static void
measure(const Bench *bench, const CacheCase *one, GPid daemon)
{
    /* the keys of the other cases' file, which is a part of the table */
    const Bench part = { .group = bench->group,
                         .case_name = bench->case_name,
                         .round = bench->round,
                         .n_rows = bench->n_rows / CACHE_TABLE_PART,
                         .daemon = daemon };
    GPtrArray *writer = one->n_processes > 1 ? crew_start_writer() : NULL;
    double cpu_msec = get_cpu_msec(daemon);
    guint msec = bench_is_smoke(bench) ? MSEC_SMOKE : MSEC;
    CrewResult result = crew_measure(&part, one->n_processes, "SELECT * FROM " BENCH_TABLE " WHERE id = ?", msec);
    double rounds = CACHE_N_ROUNDS * CACHE_N_LOOKUPS * (double) one->n_processes / result.per_second;

    bench_record(bench, "time", "ms", rounds * 1000);
    bench_record(bench, "cpu", "ms", (get_cpu_msec(daemon) - cpu_msec) * rounds * 1000 / msec);
    bench_record(bench, "memory", "MiB", (double) cache_get_pss_kib(daemon) / 1024);
    bench_record(bench, "anon", "MiB", (double) get_status_kib(daemon, "RssAnon") / 1024);
    if (writer != NULL)
        helpers_stop(writer);
}

void
cache_run_pool(Bench *bench, gconstpointer argument)
{
    const CacheCase *one = argument;
    g_autofree char *path = get_config_path();
    double cpu_msec;

    if (one->cache != CACHE_AS_CONFIGURED)
        configure(bench, one);
    cpu_msec = get_cpu_msec(bench->daemon);
    measure(bench, one, restart_daemon());
    bench_retire_daemon(bench, cpu_msec);
    (void) g_unlink(path);
}
