/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sqlite-faults [--points N]: the k-th operation on a file, or the k-th allocation of SQLite, fails; once, or from then on. Or the
 * disk has room for k more pages, and is full then.
 *
 * Each point has a store of its own on a memory disk. It is opened, each client of the workload calls once, the fault ends,
 * each calls once more. Then nothing acknowledged may be lost or there in part, and no call may hang. What fails after the end
 * of the fault is a failure of the test. If k runs over all there are, the steps between are larger for fewer points.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/sqlite/memory.h"
#include "tests/crash/payload-recorder.h"
#include "tests/crash/store-probe.h"
#include "tests/unit/store/store-fixture.h"

static gint arg_points = 2000;
static gboolean arg_verbose = FALSE;
static gint arg_allocation = 0;
static gboolean arg_once = FALSE;

typedef enum Target {
    TARGET_FILE,
    TARGET_MEMORY,
    TARGET_SPACE,
} Target;

static const char *const target_names[] = { [TARGET_FILE] = "file", [TARGET_MEMORY] = "memory", [TARGET_SPACE] = "space" };

typedef struct Counts {
    guint n_points;
    guint n_full_points; /* of these: of a full disk */
    guint n_missed;      /* fewer calls than in the run without faults */
    guint n_acknowledged;
    guint n_errors;
    guint n_wrong_errors;
    guint n_corrupt;
    guint n_lost;
    guint n_half;
    guint n_payload_faults;
    guint n_orphans;
    guint n_not_recovered;
} Counts;

/* Allocations ----------------------------------------------------------------------------------------------------------- */

static sqlite3_mem_methods real_methods;
static atomic_uint n_allocations;
static atomic_uint n_failed_allocations;
static atomic_uint fault_nth; /* 0: none */
static atomic_bool fault_sticky;

static gboolean
allocation_fails(void)
{
    guint n = atomic_fetch_add(&n_allocations, 1) + 1;
    guint nth = atomic_load(&fault_nth);

    if (nth == 0 || n < nth || (n > nth && !atomic_load(&fault_sticky)))
        return FALSE;
    atomic_fetch_add(&n_failed_allocations, 1);
    return TRUE;
}

static void *
fault_malloc(int n_bytes)
{
    return allocation_fails() ? NULL : real_methods.xMalloc(n_bytes);
}

static void *
fault_realloc(void *p, int n_bytes)
{
    return allocation_fails() ? NULL : real_methods.xRealloc(p, n_bytes);
}

/* Around the daemon's own allocator, which stays below. */
static void
insert_allocator(void)
{
    g_autoptr(GError) error = NULL;
    sqlite3_mem_methods methods;

    if (!qd_memory_init(&error))
        g_error("%s", error->message);
    g_assert_cmpint(sqlite3_shutdown(), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_methods), ==, SQLITE_OK);
    methods = real_methods;
    methods.xMalloc = fault_malloc;
    methods.xRealloc = fault_realloc;
    g_assert_cmpint(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_initialize(), ==, SQLITE_OK);
}

static void
set_fault(MemoryDisk *disk, Target target, guint nth, gboolean sticky)
{
    memory_disk_set_fault(disk, target == TARGET_FILE ? nth : 0, sticky);
    atomic_store(&n_allocations, 0);
    atomic_store(&n_failed_allocations, 0);
    atomic_store(&fault_sticky, sticky);
    atomic_store(&fault_nth, target == TARGET_MEMORY ? nth : 0);
}

/* Points ---------------------------------------------------------------------------------------------------------------- */

/* Opens, works, and works again when the fault is over. Returns: the calls that failed then */
static guint
work(Workload *workload, MemoryDisk *disk, const char *directory, Target target, guint nth, gboolean sticky, guint *ret_n_calls,
     guint *ret_n_failed)
{
    g_autoptr(EngineDriver) driver = NULL;
    guint n_failed = 0;

    set_fault(disk, target, nth, sticky);
    driver = engine_driver_new(directory);
    workload_connect(workload, driver);
    if (workload_set_up(workload))
        (void) workload_run_each(workload);
    *ret_n_calls = target == TARGET_FILE ? memory_disk_get_n_counted(disk) : atomic_load(&n_allocations);
    *ret_n_failed = target == TARGET_FILE ? memory_disk_get_n_failed(disk) : atomic_load(&n_failed_allocations);

    set_fault(disk, target, 0, FALSE);
    if (engine_driver_is_open(driver) && workload_set_up(workload))
        n_failed = workload_run_each(workload);
    workload_connect(workload, NULL);
    return n_failed;
}

/* The store is open when only @n_pages are left; then room is made. Returns: as above */
static guint
work_on_full_disk(Workload *workload, MemoryDisk *disk, const char *directory, guint n_pages, guint *ret_n_full)
{
    g_autoptr(EngineDriver) driver = NULL;
    guint n_failed;

    driver = engine_driver_new(directory);
    workload_connect(workload, driver);
    (void) workload_set_up(workload);
    memory_disk_set_space(disk, n_pages);
    (void) workload_run_each(workload);
    (void) workload_run_each(workload);
    *ret_n_full = memory_disk_get_n_full(disk);

    memory_disk_set_space(disk, -1);
    n_failed = workload_run_each(workload);
    workload_connect(workload, NULL);
    return n_failed;
}

static void
try_point(Counts *counts, const char *directory, Target target, guint nth, gboolean sticky, guint *ret_n_calls)
{
    g_autoptr(MemoryDisk) disk = memory_disk_new();
    WorkloadConfig config = {
        .directory = directory, .disk = disk, .may_fail = TRUE, .is_disk_full = target == TARGET_SPACE, .n_import_quads = 40
    };
    g_autoptr(Workload) workload = workload_new(&config);
    ProbeResult result;
    guint n_failed;
    guint n_not_recovered;

    memory_vfs_insert(disk);
    payload_recorder_restore(disk, directory);
    payload_recorder_set_disk(disk, PAYLOAD_RECORDER_OMIT_NOTHING);
    if (target == TARGET_SPACE)
        n_not_recovered = work_on_full_disk(workload, disk, directory, nth, &n_failed);
    else
        n_not_recovered = work(workload, disk, directory, target, nth, sticky, ret_n_calls, &n_failed);
    store_probe_run(directory, workload, G_MAXUINT - 1, &result);
    counts->n_points += n_failed > 0 ? 1 : 0;
    counts->n_full_points += n_failed > 0 && target == TARGET_SPACE ? 1 : 0;
    counts->n_missed += n_failed == 0 ? 1 : 0;
    counts->n_acknowledged += workload_get_n_acknowledged(workload);
    counts->n_errors += workload_get_n_failed(workload);
    counts->n_wrong_errors += workload_get_n_wrong_errors(workload);
    counts->n_corrupt += result.corrupt ? 1 : 0;
    counts->n_lost += result.report.n_lost > 0 ? 1 : 0;
    counts->n_half += result.report.n_half > 0 ? 1 : 0;
    counts->n_payload_faults += result.report.n_payload_faults > 0 || result.check_is_wrong ? 1 : 0;
    counts->n_orphans += result.n_orphans;
    counts->n_not_recovered += n_not_recovered > 0 ? 1 : 0;
    if (n_not_recovered > 0)
        fprintf(stderr, "%s %u%s: still failing without the fault: %s\n", target_names[target], nth, sticky ? " and on" : "",
                workload_get_last_error(workload));
    if (result.report.first_problem != NULL || arg_verbose)
        fprintf(stderr, "%s %u%s: %s; last error: %s\n", target_names[target], nth, sticky ? " and on" : "",
                result.report.first_problem, workload_get_last_error(workload));
    store_probe_clear(&result);
}

static void
sweep(Counts *counts, const char *directory, Target target, guint n_points)
{
    Counts ignored = { 0 };
    guint n_calls;
    guint n;
    double step;

    try_point(&ignored, directory, target, 0, FALSE, &n_calls);
    if (ignored.n_errors > 0)
        g_error("calls fail without a fault");
    n = n_calls;
    step = MAX(1.0, 2.0 * n / n_points);
    for (double k = 1; k < n + 1; k += step)
        for (guint sticky = 0; sticky < 2; sticky++)
            try_point(counts, directory, target, (guint) k, sticky == 1, &n_calls);
    fprintf(stderr, "%s: %u calls without a fault\n", target_names[target], n);
}

/* From a full disk on, page by page, up to one that has room enough. */
static void
sweep_space(Counts *counts, const char *directory, guint n_points)
{
    Counts ignored = { 0 };
    guint n_calls = 0;
    guint n_pages = 1;
    double step;

    while (ignored.n_missed == 0)
        try_point(&ignored, directory, TARGET_SPACE, n_pages *= 2, FALSE, &n_calls);
    step = MAX(1.0, (double) n_pages / n_points);
    for (double k = 0; k < n_pages; k += step)
        try_point(counts, directory, TARGET_SPACE, (guint) k, FALSE, &n_calls);
    fprintf(stderr, "space: %u pages are enough\n", n_pages);
}

static int
report(const Counts *counts)
{
    const struct {
        guint n;
        const char *text;
    } problems[] = {
        { counts->n_wrong_errors, "errors that are not the disk's, on a full disk" },
        { counts->n_corrupt, "corrupt" },
        { counts->n_lost, "points with acknowledged updates lost" },
        { counts->n_half, "points with updates in part" },
        { counts->n_payload_faults, "points with payloads without their content" },
        { counts->n_orphans, "payload files without a row" },
        { counts->n_not_recovered, "points after which calls still failed" },
        { counts->n_points == counts->n_full_points ? 1 : 0, "no point was hit" },
        { counts->n_full_points == 0 && arg_allocation == 0 ? 1 : 0, "no disk was full" },
    };
    gboolean ok = TRUE;

    printf("{\"points\": %u, \"on_a_full_disk\": %u, \"not_hit_and_not_counted\": %u, \"acknowledged\": %u, \"errors\": %u, "
           "\"corrupt\": %u, \"lost\": %u, "
           "\"in_part\": %u, \"payloads_missing\": %u, \"orphans\": %u, \"not_recovered\": %u, \"problems\": [",
           counts->n_points, counts->n_full_points, counts->n_missed, counts->n_acknowledged, counts->n_errors, counts->n_corrupt,
           counts->n_lost, counts->n_half, counts->n_payload_faults, counts->n_orphans, counts->n_not_recovered);
    for (gsize i = 0; i < G_N_ELEMENTS(problems); i++) {
        if (problems[i].n == 0)
            continue;
        printf("%s\"%s: %u\"", ok ? "" : ", ", problems[i].text, problems[i].n);
        ok = FALSE;
    }
    printf("]}\n");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

int
main(int argc, char **argv)
{
    const GOptionEntry entries[] = {
        { "points", 0, 0, G_OPTION_ARG_INT, &arg_points, "Points", "N" },
        { "allocation", 0, 0, G_OPTION_ARG_INT, &arg_allocation, "Only: this allocation and all after it fail", "K" },
        { "once", 0, 0, G_OPTION_ARG_NONE, &arg_once, "With --allocation: those after it succeed", NULL },
        { "verbose", 'v', 0, G_OPTION_ARG_NONE, &arg_verbose, "Say the last error of each point", NULL },
        { NULL },
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) error = NULL;
    g_autofree char *directory = NULL;
    Counts counts = { 0 };
    guint n_calls;

    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error))
        g_error("%s", error->message);
    insert_allocator();
    directory = g_dir_make_tmp("queryd-crash-XXXXXX", NULL);
    if (arg_allocation > 0) {
        try_point(&counts, directory, TARGET_MEMORY, (guint) arg_allocation, !arg_once, &n_calls);
    } else {
        sweep_space(&counts, directory, (guint) arg_points / 10);
        sweep(&counts, directory, TARGET_FILE, (guint) arg_points / 2);
        sweep(&counts, directory, TARGET_MEMORY, (guint) arg_points - counts.n_points);
    }
    store_remove_folder(directory);
    return report(&counts);
}
