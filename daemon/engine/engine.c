/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine: puts the parts together, opens the database in the background, hands calls to workers and jobs.
 */
#include "daemon/engine/engine.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/base/log.h"
#include "daemon/base/thread.h"
#include "daemon/call/call-private.h"
#include "daemon/call/call.h"
#include "daemon/channel/channel.h"
#include "daemon/engine/engine-private.h"
#include "daemon/engine/free-memory.h"
#include "daemon/engine/maintenance.h"
#include "daemon/engine/renewal.h"
#include "daemon/job/jobs.h"
#include "daemon/job/payload-pool.h"
#include "daemon/notify/changes.h"
#include "daemon/payload/payload-files.h"
#include "daemon/payload/payload.h"
#include "daemon/read/evaluation.h"
#include "daemon/read/pool.h"
#include "daemon/recover/health.h"
#include "daemon/recover/recovery.h"
#include "daemon/results/result-memory.h"
#include "daemon/runtime/workers.h"
#include "daemon/sqlite/builtin/forced-return.h"
#include "daemon/sqlite/interrupter.h"
#include "daemon/sqlite/memory.h"
#include "daemon/sqlite/vfs/index-file.h"
#include "daemon/sqlite/vfs/index-locks.h"
#include "daemon/sqlite/vfs/open-files.h"
#include "daemon/store/database.h"
#include "daemon/write/writer.h"

/* A database that could not be opened is tried again by the first call after this time. */
#define RETRY_OPEN_USEC 500000
#define RETRY_SALVAGE_USEC 5000000 /* the same, when it was read as a whole in vain */

typedef struct Opening {
    QdEngine *engine;
    QdDatabase *database;
    QdDatabaseRepair repair;
    gboolean salvaged; /* tried, at least */
    GError *error;
} Opening;

/* Commits --------------------------------------------------------------------------------------------------------------- */

void
qd_engine_tell_changes(QdEngine *self)
{
    QdNews *news = &self->news;
    g_autoptr(QdChanges) changes = NULL;
    uint64_t generation;

    pthread_mutex_lock(&news->mutex);
    news->is_posted = FALSE;
    generation = news->generation;
    changes = g_steal_pointer(&news->changes);
    news->changes = qd_changes_new();
    pthread_mutex_unlock(&news->mutex);
    if (!qd_changes_is_empty(changes) && self->config.changed != NULL)
        self->config.changed(generation, changes, self->config.user_data);
}

static void
on_news(void *data)
{
    qd_engine_tell_changes(data);
}

/* Waking the main thread costs as much as an update: once for all that comes until it has looked. */
static void
on_commit(uint64_t generation, const QdChanges *changes, void *user_data)
{
    QdEngine *self = user_data;
    QdNews *news = &self->news;
    gboolean post;

    if (qd_changes_is_empty(changes))
        return;

    pthread_mutex_lock(&news->mutex);
    news->generation = MAX(news->generation, generation);
    qd_changes_add_all(news->changes, changes);
    post = !news->is_posted && !news->is_held;
    news->is_posted = news->is_posted || post;
    pthread_mutex_unlock(&news->mutex);
    if (post)
        qd_mailbox_post(self->context.mailbox, on_news, self);
}

void
qd_engine_hold_changes(QdEngine *self, gboolean hold)
{
    pthread_mutex_lock(&self->news.mutex);
    self->news.is_held = hold;
    pthread_mutex_unlock(&self->news.mutex);
}

void
qd_engine_set_wants_keys(QdEngine *self, gboolean wants_keys)
{
    __atomic_store_n(&self->context.wants_keys, wants_keys, __ATOMIC_RELAXED);
}

static void
on_payloads_given_up(QdPayloadSweep what, void *user_data)
{
    qd_payload_pool_sweep(((QdEngine *) user_data)->payload_pool, what);
}

/* Opening --------------------------------------------------------------------------------------------------------------- */

static void start_call(QdEngine *self, QdCall *call);

static void
take_database(QdEngine *self, QdDatabase *database)
{
    QdConnectionInfo info = qd_database_get_info(database);
    QdWriterConfig config = {
        .database = database,
        .limits = &self->context.limits,
        .pool = qd_pool_new(&info, &self->context.limits),
        .workers = self->context.workers,
        .commit_func = on_commit,
        .registry = self->context.registry,
        .linger = qd_channels_get_linger(self->context.channels),
        .wants_keys = &self->context.wants_keys,
        .payloads = qd_payloads_new(self->context.directory, &self->context.limits),
        .sweep_func = on_payloads_given_up,
        .results = qd_result_memory_new(info.path, &self->context.limits),
        .user_data = self,
    };

    qd_pool_set_interrupter(config.pool, self->interrupter);
    self->context.database = database;
    qd_database_guard(database);
    self->context.pool = config.pool;
    self->context.payloads = config.payloads;
    self->context.results = config.results;
    self->payload_pool = qd_payload_pool_new(&self->context);
    self->context.writer = qd_writer_new(&config, qd_database_steal_writer(database));
    if (!qd_database_is_read_only(database) && qd_payload_files_exist(qd_payloads_get_files(self->context.payloads)))
        qd_payload_pool_sweep(self->payload_pool, QD_PAYLOAD_SWEEP_ALL);
}

/* Calls that have waited for the database. */
static void
start_held(QdEngine *self)
{
    g_autoptr(GPtrArray) held = g_steal_pointer(&self->held);

    self->held = g_ptr_array_new();
    for (guint i = 0; i < held->len; i++)
        start_call(self, held->pdata[i]);
}

static void
begin_recovering(void *data)
{
    QdEngine *self = data;

    g_atomic_int_set(&self->state, QD_ENGINE_RECOVERING);
    start_held(self);
}

static void
on_salvage_begins(gpointer data)
{
    Opening *opening = data;

    opening->salvaged = TRUE;
    qd_log(LOG_WARNING, &(QdLogFields){ .message_id = QD_LOG_ID_STORE }, "the database in '%s' is damaged: salvaging it",
           opening->engine->context.directory);
    qd_mailbox_post(opening->engine->context.mailbox, begin_recovering, opening->engine);
}

static void
finish_opening(void *data)
{
    Opening *opening = data;
    QdEngine *self = opening->engine;

    self->context.n_calls--;
    if (opening->database != NULL) {
        take_database(self, opening->database);
        if (!qd_database_is_read_only(self->context.database))
            qd_maintenance_note_open(self->maintenance, &opening->repair,
                                     qd_database_get_start_counter(self->context.database) == 1);
        g_atomic_int_set(&self->state, QD_ENGINE_OPEN);
        qd_workers_request_look(self->context.workers);
    } else {
        g_clear_error(&self->open_error);
        self->open_error = opening->error;
        self->reopen_usec = (uint64_t) g_get_monotonic_time() + (opening->salvaged ? RETRY_SALVAGE_USEC : RETRY_OPEN_USEC);
        g_atomic_int_set(&self->state, QD_ENGINE_BROKEN);
    }
    qd_recovery_result_clear(&opening->repair.result);
    g_free(opening->repair.kept_folder);
    g_strfreev(opening->repair.foreign);
    g_free(opening);
    start_held(self);
}

static void *
open_main(void *data)
{
    Opening *opening = data;

    opening->database = qd_database_open_repaired(opening->engine->context.directory, &opening->engine->context.limits,
                                                  qd_evaluation_register, &opening->repair, &opening->error);
    qd_mailbox_post(opening->engine->context.mailbox, finish_opening, opening);
    return NULL;
}

static void
start_opening(QdEngine *self)
{
    Opening *opening = g_new0(Opening, 1);
    int r;

    opening->engine = self;
    opening->repair = (QdDatabaseRepair){
        .damaged = qd_maintenance_begin(self->maintenance), .cancelled = &self->ending, .begins = on_salvage_begins, .data = opening
    };
    g_atomic_int_set(&self->state, QD_ENGINE_OPENING);
    self->context.n_calls++;
    r = qd_thread_start(open_main, opening);
    if (r == 0)
        return;
    qd_error_set_errno(&opening->error, r, "cannot start a thread");
    qd_mailbox_post(self->context.mailbox, finish_opening, opening);
}

/* Calls ----------------------------------------------------------------------------------------------------------------- */

static gboolean
push_call(QdEngine *self, QdCall *call)
{
    switch (call->class->place) {
    case QD_CALL_ON_JOB:
        qd_registry_set_state(self->context.registry, &call->private->entry, "job", FALSE);
        qd_jobs_start(self->context.jobs, call);
        return TRUE;
    case QD_CALL_ON_CREW:
        qd_payload_pool_push(self->payload_pool, call);
        return TRUE;
    case QD_CALL_ON_WORKER:
        qd_call_begin_wait(call);
        return qd_workers_push(self->context.workers, &call->private->task, TRUE);
    }
    return FALSE;
}

static void
start_call(QdEngine *self, QdCall *call)
{
    if (self->stopped) {
        qd_error_set(&call->result.error, QW_ERROR_CLOSED, "the daemon is shutting down");
        qd_call_finish(call);
    } else if (self->state == QD_ENGINE_RECOVERING) {
        qd_error_set(&call->result.error, QW_ERROR_RECOVERING, "the database of store '%s' was damaged and is being salvaged",
                     self->context.directory);
        qd_call_finish(call);
    } else if (self->state == QD_ENGINE_BROKEN && !call->class->works_when_broken) {
        call->result.error = g_error_copy(self->open_error);
        qd_call_finish(call);
    } else if (!push_call(self, call)) {
        qd_task_set_full_error(&self->context.limits, &call->result.error);
        qd_call_finish(call);
    }
}

static void
describe_entry(QdCall *call, QdEntry *entry)
{
    const QdCallStatement *first = call->statements->len > 0 ? &g_array_index(call->statements, QdCallStatement, 0) : NULL;

    *entry = (QdEntry){ .client = call->client, .owner = call, .language = "sql" };
    if (first != NULL) {
        entry->language = qd_language_get_name(first->language);
        entry->text = first->text;
        entry->n_text_bytes = strlen(first->text);
    }
}

void
qd_engine_submit(QdEngine *self, QdCall *call)
{
    struct QdCallPrivate *private = call->private;

    private->context = &self->context;
    qd_call_init_task(call);
    describe_entry(call, &private->entry);
    self->context.n_calls++;
    if (!call->class->is_internal)
        qd_registry_add(self->context.registry, &private->entry, "queued");

    if (!self->stopped && self->state == QD_ENGINE_BROKEN && (uint64_t) g_get_monotonic_time() > self->reopen_usec)
        start_opening(self);
    if (self->state == QD_ENGINE_OPENING)
        g_ptr_array_add(self->held, call);
    else
        start_call(self, call);
}

void
qd_engine_cancel(QdEngine *self, QdCall *call)
{
    g_atomic_int_set(&call->cancelled, TRUE);
    g_atomic_int_set(&call->private->entry.cancelled, 1);
}

/* Life ------------------------------------------------------------------------------------------------------------------ */

static void
on_event(void *user_data, uint64_t token, uint32_t events)
{
    qd_channels_handle_event(((QdEngine *) user_data)->context.channels, token, events);
    qd_interrupter_help(((QdEngine *) user_data)->interrupter); /* afterwards: a tick may cost the core */
}

static void
on_sweep(void *user_data)
{
    QdEngine *self = user_data;
    QdPoolState state;
    gboolean at_rest;

    qd_index_locks_release();
    qd_free_memory_look();
    qd_channels_sweep(self->context.channels);
    if (g_atomic_int_get(&self->state) != QD_ENGINE_OPEN) /* what this thread would look at is not published before */
        return;
    if (qd_writer_sweep(self->context.writer))
        qd_workers_request_sweep(self->context.workers);
    qd_writer_look(self->context.writer);
    state = qd_pool_trim(self->context.pool, qd_index_file_is_in_memory());
    at_rest = state == QD_POOL_AT_REST && qd_writer_rest(self->context.writer);
    if (at_rest)
        qd_pool_rest(self->context.pool);
    else if (state != QD_POOL_QUIET)
        qd_workers_request_sweep(self->context.workers);
    if (g_atomic_int_compare_and_exchange(&self->wants_memory, TRUE, FALSE) || at_rest) {
        qd_result_memory_clear(self->context.results);
        qd_channels_give_memory_back(self->context.channels);
        qd_free_memory_give_back();
    }
    qd_workers_request_look(self->context.workers);
}

/* A worker does it: to give a large file back takes longer than the main thread may. */
void
qd_engine_give_memory_back(QdEngine *self)
{
    __atomic_add_fetch(&self->n_pressures, 1, __ATOMIC_RELAXED);
    g_atomic_int_set(&self->wants_memory, TRUE);
    qd_workers_request_sweep(self->context.workers);
}

static void
on_tick(void *data, guint n_over, gboolean is_stuck)
{
    QdEngine *self = data;

    qd_workers_look(self->context.workers, n_over);
    if (is_stuck && self->config.stuck != NULL)
        self->config.stuck(self->config.user_data);
}

static void
on_activity(void *user_data)
{
    ((QdEngine *) user_data)->config.activity(((QdEngine *) user_data)->config.user_data);
}

static void
on_suspicion(void *user_data)
{
    qd_maintenance_suspect(((QdEngine *) user_data)->maintenance);
}

static void
on_damage(const char *message, void *user_data)
{
    qd_maintenance_report(((QdEngine *) user_data)->maintenance, message);
}

static void
on_lock_kept(void *data)
{
    qd_workers_request_sweep(data);
}

/* A database that could not be opened is tried again. */
static void
on_reopen(void *user_data)
{
    if (((QdEngine *) user_data)->state == QD_ENGINE_BROKEN)
        start_opening(user_data);
}

QdEngine *
qd_engine_new(const QdEngineConfig *config, QdMailbox *mailbox, GError **error)
{
    QdEngine *self;

    if (!qd_memory_init(error) || !qd_index_locks_init(error) || !qd_open_files_init(error))
        return NULL;

    self = g_new0(QdEngine, 1);
    self->config = *config;
    self->context.hooks = (QdContextHooks){
        .activity = on_activity, .suspect = on_suspicion, .damaged = on_damage, .reopen = on_reopen, .user_data = self
    };
    self->context.directory = g_strdup(config->directory);
    self->context.limits = config->limits;
    self->context.mailbox = mailbox;
    self->news.changes = qd_changes_new();
    pthread_mutex_init(&self->news.mutex, NULL);
    self->held = g_ptr_array_new();
    self->context.registry = qd_registry_new();
    self->context.channels = qd_channels_new(&self->context);
    self->context.jobs = qd_jobs_new(&self->context);
    self->maintenance = qd_maintenance_new(self);
    self->renewal = qd_renewal_new(self);
    qd_memory_set_limits(qd_limits_get(&self->context.limits, QD_LIMIT_HEAP_SOFT_BYTES),
                         qd_limits_get(&self->context.limits, QD_LIMIT_HEAP_HARD_BYTES));
    self->context.workers = qd_workers_new(&self->context.limits, on_event, on_sweep, self, error);
    if (self->context.workers != NULL)
        self->interrupter = qd_interrupter_new(on_tick, self, error);
    if (self->interrupter == NULL)
        return qd_engine_free(self);
    qd_interrupter_set_force(self->interrupter, qd_forced_return_request);
    qd_index_locks_keep(on_lock_kept, self->context.workers);

    start_opening(self);
    return self;
}

QdEngine *
qd_engine_free(QdEngine *self)
{
    if (self == NULL)
        return NULL;

    g_atomic_int_set(&self->ending, TRUE);
    qd_index_locks_keep(NULL, NULL);
    qd_maintenance_stop(self->maintenance);
    qd_renewal_stop(self->renewal);
    qd_registry_cancel_all(self->context.registry);
    while (self->context.n_calls > 0) {
        struct pollfd pfd = { .fd = qd_mailbox_get_fd(self->context.mailbox), .events = POLLIN };

        (void) poll(&pfd, 1, -1);
        qd_mailbox_dispatch(self->context.mailbox);
    }
    self->context.jobs = qd_jobs_free(self->context.jobs);
    if (self->context.workers != NULL)
        qd_workers_stop(self->context.workers);
    self->payload_pool = qd_payload_pool_free(self->payload_pool); /* one of its threads may lead the writer, and answer channels */
    self->context.channels = qd_channels_free(self->context.channels);
    self->stopped = TRUE;
    if (self->context.database != NULL)
        qd_database_lift_guard(self->context.database);
    if (self->context.pool != NULL) /* the last connection copies the log into the database, and a reader cannot */
        qd_pool_rest(self->context.pool);
    self->context.writer = qd_writer_free(self->context.writer);
    qd_engine_tell_changes(self); /* the writer has looked for those of others, too */
    do                            /* the report of the last commits may lead to calls, which fail */
        qd_mailbox_dispatch(self->context.mailbox);
    while (self->context.n_calls > 0);
    self->context.results = qd_result_memory_free(self->context.results);
    self->context.payloads = qd_payloads_free(self->context.payloads);
    self->context.pool = qd_pool_free(self->context.pool);
    if (self->context.database != NULL && !qd_database_is_read_only(self->context.database))
        qd_maintenance_note_closed(self->maintenance);
    self->context.database = qd_database_free(self->context.database);
    self->maintenance = qd_maintenance_free(self->maintenance);
    self->renewal = qd_renewal_free(self->renewal);
    self->interrupter = qd_interrupter_free(self->interrupter);
    qd_workers_free(self->context.workers);
    qd_registry_free(self->context.registry);
    g_ptr_array_unref(self->held);
    g_clear_error(&self->open_error);
    (void) qd_changes_free(self->news.changes);
    pthread_mutex_destroy(&self->news.mutex);
    g_free(self->context.directory);
    g_free(self);
    return NULL;
}

gboolean
qd_engine_is_idle(QdEngine *self)
{
    return self->context.n_calls == 0 && qd_registry_get_n(self->context.registry) == 0 && qd_jobs_get_n(self->context.jobs) == 0;
}

gboolean
qd_engine_check_if_due(QdEngine *self)
{
    return qd_renewal_start_if_due(self->renewal, TRUE) || qd_maintenance_start_if_due(self->maintenance);
}

void
qd_engine_renew(QdEngine *self)
{
    (void) qd_renewal_start_if_due(self->renewal, FALSE);
}

const char *
qd_engine_get_health(QdEngine *self)
{
    return qd_health_get_word(qd_maintenance_get_health(self->maintenance));
}

void
qd_engine_drain(QdEngine *self)
{
    self->draining = TRUE;
    g_atomic_int_set(&self->ending, TRUE);
    qd_maintenance_stop(self->maintenance);
    qd_renewal_stop(self->renewal);
    qd_channels_drain(self->context.channels);
}

gboolean
qd_engine_is_drained(QdEngine *self)
{
    return self->context.n_calls == 0 && qd_channels_get_n(self->context.channels) == 0 && qd_jobs_get_n(self->context.jobs) == 0;
}

gboolean
qd_engine_is_drained_but_for_told(QdEngine *self)
{
    guint n = self->context.n_calls + qd_channels_get_n(self->context.channels);

    return n <= (guint) g_atomic_int_get(&self->context.n_told);
}

gboolean
qd_engine_is_alive(QdEngine *self, uint64_t max_usec)
{
    return qd_workers_is_alive(self->context.workers, max_usec);
}

void
qd_engine_set_limits(QdEngine *self, const QdLimits *limits)
{
    for (guint i = 0; i < QD_N_LIMITS; i++)
        __atomic_store_n(&self->context.limits.values[i], limits->values[i], __ATOMIC_RELAXED);
    qd_memory_set_limits(qd_limits_get(limits, QD_LIMIT_HEAP_SOFT_BYTES), qd_limits_get(limits, QD_LIMIT_HEAP_HARD_BYTES));
}

gboolean
qd_engine_charge_call(QdEngine *self, QdCall *call, QdClient *client, GError **error)
{
    return qd_call_charge(call, &self->context, client, error);
}

gboolean
qd_engine_charge_request(QdEngine *self, QdClient *client, gsize n_bytes, GError **error)
{
    return qd_context_charge_request(&self->context, client, n_bytes, error);
}

void
qd_engine_discharge_request(QdEngine *self, QdClient *client, gsize n_bytes)
{
    qd_context_discharge_request(&self->context, client, n_bytes);
}

const QdLimits *
qd_engine_get_limits(QdEngine *self)
{
    return &self->context.limits;
}

uint64_t
qd_engine_get_generation(QdEngine *self)
{
    return self->context.writer != NULL ? qd_writer_get_generation(self->context.writer) : 0;
}

gboolean
qd_engine_is_read_only(QdEngine *self)
{
    return self->context.database != NULL && qd_database_is_read_only(self->context.database);
}
