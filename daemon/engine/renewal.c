/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread that gives way to any request within a millisecond, and has a hundredth of the time. Not of the least priority, as a
 * check: it leads the writer for moments, and on a busy machine an update would wait for it.
 */
#include "daemon/engine/renewal.h"

#include <pthread.h>

#include "daemon/base/log.h"
#include "daemon/base/mailbox.h"
#include "daemon/base/thread.h"
#include "daemon/engine/engine-private.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/free-memory.h"
#include "daemon/runtime/registry.h"
#include "daemon/store/database.h"
#include "daemon/write/write-columns.h"
#include "daemon/write/writer.h"

#define TIME_SHARE 100

struct QdRenewal {
    QdEngine *engine;
    gint stopped;     /* atomic */
    gboolean running; /* main thread */
    gint64 begun_usec;
    gint64 next_usec; /* not before, unless it is wanted at once */
    GError *error;    /* of the thread */
};

QdRenewal *
qd_renewal_new(QdEngine *engine)
{
    QdRenewal *self = g_new0(QdRenewal, 1);

    self->engine = engine;
    qd_write_columns_begin(&engine->context.limits);
    return self;
}

QdRenewal *
qd_renewal_free(QdRenewal *self)
{
    if (self == NULL)
        return NULL;
    g_clear_error(&self->error);
    g_free(self);
    return NULL;
}

static gboolean
should_stop(void *data)
{
    QdRenewal *self = data;

    return g_atomic_int_get(&self->stopped) != 0 || qd_registry_get_n(self->engine->context.registry) > 0;
}

static void
finish(void *data)
{
    QdRenewal *self = data;
    QdEngine *engine = self->engine;
    const gint64 now_usec = g_get_monotonic_time();

    engine->context.n_calls--;
    self->running = FALSE;
    self->next_usec = now_usec + TIME_SHARE * (now_usec - self->begun_usec);
    if (self->error != NULL)
        qd_log(LOG_NOTICE, &(QdLogFields){ .message_id = QD_LOG_ID_STORE },
               "cannot store columns of predicates: %s, queries go on without them", self->error->message);
    g_clear_error(&self->error);
    engine->config.activity(engine->config.user_data);
}

static void *
renew_main(void *data)
{
    QdRenewal *self = data;
    const QdContext *context = &self->engine->context;
    const QdColumnWork work = {
        .writer = context->writer,
        .pool = context->pool,
        .limits = &context->limits,
        .stop = should_stop,
        .data = self,
        .cancelled = &self->stopped,
    };

    (void) pthread_setname_np(pthread_self(), "queryd-columns");
    (void) qd_write_columns(&work, &self->error);
    if (!should_stop(self)) { /* the engine may be at rest already: it stays so */
        (void) qd_writer_rest(context->writer);
        qd_free_memory_give_back();
    }
    qd_mailbox_post(context->mailbox, finish, self);
    return NULL;
}

gboolean
qd_renewal_start_if_due(QdRenewal *self, gboolean at_once)
{
    QdContext *context = &self->engine->context;

    if (self->running)
        return TRUE;
    if (context->pool == NULL || self->engine->draining || g_atomic_int_get(&self->stopped) != 0 ||
        qd_database_is_read_only(context->database) || !qd_write_columns_are_wanted() ||
        (!at_once && g_get_monotonic_time() < self->next_usec))
        return FALSE;
    self->begun_usec = g_get_monotonic_time();
    self->running = TRUE;
    context->n_calls++;
    if (qd_thread_start(renew_main, self) == 0)
        return TRUE;
    context->n_calls--;
    self->running = FALSE;
    return FALSE;
}

void
qd_renewal_stop(QdRenewal *self)
{
    g_atomic_int_set(&self->stopped, TRUE);
}
