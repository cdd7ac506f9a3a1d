/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One thread at a time, of the least priority, that gives way to any request; a suspicion does not.
 */
#include "daemon/engine/maintenance.h"

#include <pthread.h>
#include <sched.h>

#include "daemon/base/error.h"
#include "daemon/base/log.h"
#include "daemon/base/mailbox.h"
#include "daemon/base/thread.h"
#include "daemon/engine/engine-private.h"
#include "daemon/engine/engine.h"
#include "daemon/read/pool.h"
#include "daemon/recover/health.h"
#include "daemon/recover/integrity.h"
#include "daemon/runtime/registry.h"
#include "daemon/store/database.h"

/* After a check that found nothing suspicions rest for so long. */
#define SUSPICION_USEC (60 * G_USEC_PER_SEC)
#define HOUR_SEC 3600

struct QdMaintenance {
    QdEngine *engine;
    QdHealth health;
    gboolean unclean; /* it was not closed last time, and has not been checked since */
    QdIntegrity integrity;
    gint stopped;        /* atomic */
    gint suspected;      /* atomic: one suspicion is enough */
    gint running;        /* atomic */
    gboolean urgent;     /* the check that runs */
    gint64 checked_usec; /* monotonic: the last one that ended */
    GError *error;       /* of the check's thread */
};

QdMaintenance *
qd_maintenance_new(QdEngine *engine)
{
    QdMaintenance *self = g_new0(QdMaintenance, 1);

    self->engine = engine;
    qd_health_init(&self->health, engine->context.directory);
    qd_integrity_init(&self->integrity);
    return self;
}

QdMaintenance *
qd_maintenance_free(QdMaintenance *self)
{
    if (self == NULL)
        return NULL;

    qd_integrity_clear(&self->integrity);
    qd_health_clear(&self->health);
    g_clear_error(&self->error);
    g_free(self);
    return NULL;
}

gboolean
qd_maintenance_begin(QdMaintenance *self)
{
    qd_health_clear(&self->health);
    qd_health_init(&self->health, self->engine->context.directory);
    return self->health.damage != NULL;
}

static gint64
get_now_sec(void)
{
    return g_get_real_time() / G_USEC_PER_SEC;
}

static void
note_salvaged(QdMaintenance *self, const QdRecoveryResult *recovery)
{
    qd_log(LOG_WARNING, &(QdLogFields){ .message_id = QD_LOG_ID_STORE },
           "the database was damaged: %" G_GUINT64_FORMAT " rows are salvaged, %" G_GUINT64_FORMAT
           " of them doubtful, %" G_GUINT64_FORMAT " known to be lost, %" G_GUINT64_FORMAT
           " pages unusable, %u definitions not as they were; report in '%s'",
           recovery->n_rows, recovery->n_doubtful_rows, recovery->n_lost_rows, recovery->n_lost_pages, recovery->n_left_out,
           recovery->report);
    qd_health_set_text(&self->health.damage, NULL);
    qd_health_set_text(&self->health.report, recovery->report);
    self->health.salvaged_sec = self->health.checked_sec = get_now_sec();
    self->unclean = FALSE;
}

void
qd_maintenance_note_open(QdMaintenance *self, const QdDatabaseRepair *repair, gboolean is_new)
{
    self->unclean = self->health.unclean;
    self->health.unclean = TRUE;
    if (is_new)
        self->health.checked_sec = get_now_sec();
    if (repair->result.aside != NULL)
        note_salvaged(self, &repair->result);
    if (repair->n_kept_payloads > 0)
        qd_log(LOG_WARNING, &(QdLogFields){ .message_id = QD_LOG_ID_STORE },
               "the database in '%s' is new, and %u payload files of an older one are kept in '%s'",
               self->engine->context.directory, repair->n_kept_payloads, repair->kept_folder);
    for (char **aside = repair->foreign; aside != NULL && *aside != NULL; aside++)
        qd_log(LOG_WARNING, &(QdLogFields){ .message_id = QD_LOG_ID_STORE },
               "a file beside the database was of another one, and is kept as '%s'", *aside);
    qd_health_save(&self->health);
}

void
qd_maintenance_note_closed(QdMaintenance *self)
{
    self->health.unclean = self->unclean; /* what was not checked yet still has to be */
    qd_health_save(&self->health);
}

const QdHealth *
qd_maintenance_get_health(const QdMaintenance *self)
{
    return &self->health;
}

/* Damage --------------------------------------------------------------------------------------------------------------- */

static void
note_damage(QdMaintenance *self, const char *message)
{
    QdEngine *engine = self->engine;

    if (self->health.damage != NULL)
        return;
    qd_health_set_text(&self->health.damage, message);
    qd_health_save(&self->health);
    qd_log(LOG_ERR, &(QdLogFields){ .message_id = QD_LOG_ID_STORE }, "the database is damaged: %s", message);
    if (engine->config.damaged != NULL && !qd_engine_is_read_only(engine))
        engine->config.damaged(engine->config.user_data);
}

typedef struct Finding {
    QdMaintenance *maintenance;
    char *message;
} Finding;

static void
report_on_main(void *data)
{
    Finding *finding = data;

    note_damage(finding->maintenance, finding->message);
    g_free(finding->message);
    g_free(finding);
}

void
qd_maintenance_report(QdMaintenance *self, const char *message)
{
    Finding *finding = g_new0(Finding, 1);

    *finding = (Finding){ self, g_strdup(message) };
    qd_mailbox_post(self->engine->context.mailbox, report_on_main, finding);
}

/* Checks --------------------------------------------------------------------------------------------------------------- */

static gboolean
should_stop(gpointer data)
{
    QdMaintenance *self = data;

    return g_atomic_int_get(&self->stopped) != 0 || (!self->urgent && qd_registry_get_n(self->engine->context.registry) > 0);
}

static void
finish_check(void *data)
{
    QdMaintenance *self = data;
    QdEngine *engine = self->engine;

    engine->context.n_calls--;
    g_atomic_int_set(&self->running, FALSE);
    if (self->error != NULL) {
        qd_log(LOG_WARNING, &(QdLogFields){ .message_id = QD_LOG_ID_STORE }, "cannot check the database: %s, trying again later",
               self->error->message);
        g_clear_error(&self->error);
    }
    if (self->integrity.finished) {
        self->checked_usec = g_get_monotonic_time();
        self->health.checked_sec = get_now_sec();
        self->unclean = FALSE;
        qd_health_save(&self->health);
        if (self->integrity.messages->len > 0)
            note_damage(self, self->integrity.messages->pdata[0]);
        qd_integrity_clear(&self->integrity);
        qd_integrity_init(&self->integrity);
        g_atomic_int_set(&self->suspected, FALSE);
    }
    engine->config.activity(engine->config.user_data);
}

static void *
check_main(void *data)
{
    QdMaintenance *self = data;
    const struct sched_param parameters = { 0 };
    g_autoptr(QdConnection) connection = NULL;

    (void) pthread_setname_np(pthread_self(), "queryd-check");
    if (!self->urgent)
        (void) pthread_setschedparam(pthread_self(), SCHED_IDLE, &parameters);
    connection = qd_pool_open_connection(self->engine->context.pool, QD_CONNECTION_READER, &self->error);
    if (connection != NULL)
        (void) qd_integrity_run(&self->integrity, connection, !self->urgent, should_stop, self, &self->error);
    else if (qd_error_get_code(self->error) == QW_ERROR_CORRUPT) {
        g_ptr_array_add(self->integrity.messages, g_strdup(self->error->message));
        self->integrity.finished = TRUE;
        g_clear_error(&self->error);
    }
    connection = qd_connection_free(connection);
    qd_mailbox_post(self->engine->context.mailbox, finish_check, self);
    return NULL;
}

static gboolean
start_check(QdMaintenance *self, gboolean urgent)
{
    if (self->engine->context.pool == NULL || self->engine->draining || g_atomic_int_get(&self->stopped) != 0)
        return FALSE;
    self->urgent = urgent;
    if (urgent) { /* all of it once more, and in depth */
        qd_integrity_clear(&self->integrity);
        qd_integrity_init(&self->integrity);
    }
    g_atomic_int_set(&self->running, TRUE);
    self->engine->context.n_calls++;
    if (qd_thread_start(check_main, self) == 0)
        return TRUE;
    self->engine->context.n_calls--;
    g_atomic_int_set(&self->running, FALSE);
    return FALSE;
}

static gboolean
is_due(const QdMaintenance *self)
{
    uint64_t hours = qd_limits_get(&self->engine->context.limits, QD_LIMIT_CHECK_INTERVAL_HOURS);
    gint64 age_sec = get_now_sec() - self->health.checked_sec;

    return hours > 0 && self->health.damage == NULL && (self->unclean || age_sec < 0 || age_sec > (gint64) hours * HOUR_SEC);
}

gboolean
qd_maintenance_start_if_due(QdMaintenance *self)
{
    if (g_atomic_int_get(&self->running))
        return TRUE;
    if (self->engine->context.database == NULL || qd_database_is_read_only(self->engine->context.database) || !is_due(self))
        return FALSE;
    return start_check(self, FALSE);
}

void
qd_maintenance_stop(QdMaintenance *self)
{
    g_atomic_int_set(&self->stopped, TRUE);
}

static void
suspect_on_main(void *data)
{
    QdMaintenance *self = data;

    if (g_atomic_int_get(&self->running) && !self->urgent) {
        /* it gives way; the client that met the error will come again, or the next check finds it */
        self->unclean = TRUE;
        g_atomic_int_set(&self->suspected, FALSE);
        return;
    }
    if (self->checked_usec != 0 && g_get_monotonic_time() - self->checked_usec < SUSPICION_USEC) {
        g_atomic_int_set(&self->suspected, FALSE);
        return;
    }
    if (g_atomic_int_get(&self->running) || !start_check(self, TRUE))
        g_atomic_int_set(&self->suspected, FALSE);
}

void
qd_maintenance_suspect(QdMaintenance *self)
{
    if (g_atomic_int_compare_and_exchange(&self->suspected, FALSE, TRUE))
        qd_mailbox_post(self->engine->context.mailbox, suspect_on_main, self);
}
