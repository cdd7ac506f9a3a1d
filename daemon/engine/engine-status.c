/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the engine says of itself: counters, facts, and the list of what runs.
 */
#include <malloc.h>

#include "daemon/call/call.h"
#include "daemon/channel/channel.h"
#include "daemon/engine/engine-private.h"
#include "daemon/engine/maintenance.h"
#include "daemon/job/jobs.h"
#include "daemon/read/evaluation.h"
#include "daemon/read/plans.h"
#include "daemon/read/pool.h"
#include "daemon/recover/health.h"
#include "daemon/results/result-memory.h"
#include "daemon/runtime/workers.h"
#include "daemon/sqlite/memory.h"
#include "daemon/store/database.h"
#include "daemon/write/writer.h"

/* Of what SQLite may hold: a daemon that has lost so much is to be followed by another. */
#define LOST_SHARE 4

void
qd_engine_foreach_stat(QdEngine *self, QdStatFunc func, void *user_data)
{
    struct mallinfo2 heap = mallinfo2();

    func("queries_total", qd_registry_get_n_total(self->context.registry), user_data);
    func("queries_in_work", qd_registry_get_n(self->context.registry), user_data);
    func("queries_running", qd_workers_get_n_running(self->context.workers), user_data);
    func("queries_queued", qd_workers_get_n_queued(self->context.workers), user_data);
    func("rows_total", __atomic_load_n(&self->context.counters.n_rows, __ATOMIC_RELAXED), user_data);
    func("errors_total", __atomic_load_n(&self->context.counters.n_errors, __ATOMIC_RELAXED), user_data);
    func("timeouts_total", __atomic_load_n(&self->context.counters.n_timeouts, __ATOMIC_RELAXED), user_data);
    func("scan_ranges_helped_total", __atomic_load_n(&self->context.counters.n_helped_ranges, __ATOMIC_RELAXED), user_data);
    func("channels", qd_channels_get_n(self->context.channels), user_data);
    func("jobs", qd_jobs_get_n(self->context.jobs), user_data);
    func("sqlite_memory_bytes", qd_memory_get_used(), user_data);
    func("sqlite_memory_lost_bytes", qd_memory_get_lost(), user_data);
    func("heap_used_bytes", heap.uordblks, user_data);
    func("memory_pressures_total", __atomic_load_n(&self->n_pressures, __ATOMIC_RELAXED), user_data);
    if (self->context.writer != NULL) {
        const QdPlanCounters *plans = qd_pool_get_plan_counters(self->context.pool);
        const QdResultCounters results = qd_result_memory_get_counters(self->context.results);

        func("sparql_plans_found_total", __atomic_load_n(&plans->n_found, __ATOMIC_RELAXED), user_data);
        func("sparql_plans_made_total", __atomic_load_n(&plans->n_made, __ATOMIC_RELAXED), user_data);
        func("sparql_plans_made_usec_total", __atomic_load_n(&plans->made_usec, __ATOMIC_RELAXED), user_data);
        func("results_recalled_total", results.n_hits, user_data);
        func("results_missed_total", results.n_misses, user_data);
        func("results_saved_usec_total", results.saved_usec, user_data);
        func("results_remembered", results.n_results, user_data);
        func("result_memory_bytes", results.n_bytes, user_data);
        func("result_shared_bytes", results.n_shared_bytes, user_data);
        func("columns_indexed_total", qd_evaluation_get_n_columns(FALSE), user_data);
        func("columns_stored_total", qd_evaluation_get_n_columns(TRUE), user_data);
        func("snapshots", qd_pool_get_n_leased(self->context.pool), user_data);
        func("connections", qd_pool_get_n_open(self->context.pool), user_data);
        func("commits_total", qd_writer_get_n_commits(self->context.writer), user_data);
        func("checkpoint_passes_total", qd_writer_get_n_passes(self->context.writer), user_data);
        func("updates_total", qd_writer_get_n_items(self->context.writer), user_data);
        func("updates_queued", qd_writer_get_n_queued(self->context.writer), user_data);
        func("generation", qd_writer_get_generation(self->context.writer), user_data);
        func("checked_unix_sec", (uint64_t) qd_maintenance_get_health(self->maintenance)->checked_sec, user_data);
    }
}

void
qd_engine_foreach_fact(QdEngine *self, QdFactFunc func, void *user_data)
{
    static const char *const states[] = {
        [QD_ENGINE_OPENING] = "opening",
        [QD_ENGINE_RECOVERING] = "recovering",
        [QD_ENGINE_OPEN] = "open",
        [QD_ENGINE_BROKEN] = "broken",
    };
    const QdHealth *health = qd_maintenance_get_health(self->maintenance);

    func("sqlite_version", sqlite3_libversion(), user_data);
    func("state", states[self->state], user_data);
    func("directory", self->context.directory, user_data);
    if (self->context.database != NULL)
        func("database_path", qd_database_get_path(self->context.database), user_data);
    if (self->state == QD_ENGINE_BROKEN)
        func("error", self->open_error->message, user_data);
    func("health", qd_health_get_word(health), user_data);
    if (health->damage != NULL)
        func("damage", health->damage, user_data);
    if (health->report != NULL)
        func("salvage_report", health->report, user_data);
}

void
qd_engine_foreach_query(QdEngine *self, QdQueryFunc func, void *user_data)
{
    qd_registry_foreach(self->context.registry, func, user_data);
}

gboolean
qd_engine_cancel_query(QdEngine *self, uint64_t id)
{
    return qd_registry_cancel(self->context.registry, id);
}

gboolean
qd_engine_has_lost_memory(const QdEngine *self)
{
    return qd_memory_get_lost() > qd_limits_get(&self->context.limits, QD_LIMIT_HEAP_HARD_BYTES) / LOST_SHARE;
}

gboolean
qd_engine_can_write_again(QdEngine *self)
{
    gint64 now = g_get_monotonic_time();

    if (!qd_engine_is_read_only(self) || now - self->rights_usec < G_USEC_PER_SEC)
        return FALSE;
    self->rights_usec = now;
    return qd_database_can_be_written(self->context.database);
}
