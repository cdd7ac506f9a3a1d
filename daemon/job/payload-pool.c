/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A queue and a few threads, which start when there is work and linger for a moment after it.
 */
#include "daemon/job/payload-pool.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

#include "daemon/base/error.h"
#include "daemon/base/thread.h"
#include "daemon/call/call-private.h"
#include "daemon/job/jobs.h"
#include "daemon/payload/payload.h"
#include "daemon/read/pool.h"
#include "daemon/runtime/context.h"

#define LINGER_SEC 1
/* Of the time that searching the folder took, until it is searched again. */
#define SWEEP_PAUSE_FACTOR 10

struct QdPayloadPool {
    QdContext *context;
    QdClient *client; /* ours, for leases of connections */
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    GQueue calls;
    guint n_threads;
    guint n_idle;
    gboolean stopping;
    QdPayloadSweep sweep;
    gboolean sweeping;
    gint64 next_all_usec; /* monotonic: not before that another search of the whole folder */
};

static gboolean
is_regular(const QdCall *call)
{
    struct stat st;

    return fstat(call->fd, &st) == 0 && S_ISREG(st.st_mode);
}

static void
serve(QdPayloadPool *self, QdCall *call)
{
    if (!is_regular(call)) {
        qd_jobs_start(self->context->jobs, call);
        return;
    }
    call->class->run(call, &call->result.error);
    qd_call_end(call);
}

static void
sweep(QdPayloadPool *self, QdPayloadSweep what)
{
    QdReader *reader = qd_pool_lease(self->context->pool, self->client, NULL, NULL);

    if (reader == NULL) /* the next start looks again */
        return;
    qd_payloads_sweep(self->context->payloads, reader->connection, what);
    qd_pool_release(self->context->pool, reader);
}

/* Under the mutex: takes what is to be swept now. @is_late: nothing else has come for a while. */
static QdPayloadSweep
take_sweep(QdPayloadPool *self, gboolean is_late)
{
    QdPayloadSweep what = self->sweeping || self->stopping ? QD_PAYLOAD_SWEEP_NONE : self->sweep;

    if (what == QD_PAYLOAD_SWEEP_ALL && g_get_monotonic_time() < self->next_all_usec)
        return QD_PAYLOAD_SWEEP_NONE;
    if (what == QD_PAYLOAD_SWEEP_LATER && !is_late)
        return QD_PAYLOAD_SWEEP_NONE;
    if (what != QD_PAYLOAD_SWEEP_NONE)
        self->sweep = QD_PAYLOAD_SWEEP_NONE;
    return what;
}

/* Under the mutex, which is released meanwhile. FALSE: there is nothing to do. */
static gboolean
work(QdPayloadPool *self, gboolean is_late)
{
    QdCall *call = g_queue_pop_head(&self->calls);
    QdPayloadSweep what;
    gint64 start_usec;

    if (call != NULL) {
        pthread_mutex_unlock(&self->mutex);
        serve(self, call);
        pthread_mutex_lock(&self->mutex);
        return TRUE;
    }
    what = take_sweep(self, is_late);
    if (what == QD_PAYLOAD_SWEEP_NONE)
        return FALSE;

    self->sweeping = TRUE;
    pthread_mutex_unlock(&self->mutex);
    start_usec = g_get_monotonic_time();
    sweep(self, what);
    pthread_mutex_lock(&self->mutex);
    if (what == QD_PAYLOAD_SWEEP_ALL)
        self->next_all_usec = g_get_monotonic_time() + SWEEP_PAUSE_FACTOR * (g_get_monotonic_time() - start_usec);
    self->sweeping = FALSE;
    return TRUE;
}

/* Under the mutex. FALSE: nothing came. */
static gboolean
linger(QdPayloadPool *self, gboolean *ret_is_late)
{
    struct timespec until;
    int r;

    if (self->stopping)
        return FALSE;
    (void) clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LINGER_SEC;
    self->n_idle++;
    r = pthread_cond_timedwait(&self->cond, &self->mutex, &until);
    self->n_idle--;
    *ret_is_late = r != 0;
    return r == 0 || self->sweep != QD_PAYLOAD_SWEEP_NONE;
}

static void *
crew_main(void *data)
{
    QdPayloadPool *self = data;
    gboolean is_late = FALSE;

    (void) pthread_setname_np(pthread_self(), "queryd-payload");
    pthread_mutex_lock(&self->mutex);
    while (work(self, is_late) || linger(self, &is_late))
        ;
    self->n_threads--;
    pthread_cond_broadcast(&self->cond);
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

/* Under the mutex. FALSE with errno: there is no thread for the queue. */
static gboolean
wake(QdPayloadPool *self)
{
    int r;

    if (self->n_idle > 0) {
        pthread_cond_signal(&self->cond);
        return TRUE;
    }
    if (self->n_threads >= qd_limits_get(&self->context->limits, QD_LIMIT_JOBS))
        return TRUE;
    r = qd_thread_start(crew_main, self);
    self->n_threads += r == 0 ? 1 : 0;
    errno = r;
    return self->n_threads > 0;
}

QdPayloadPool *
qd_payload_pool_new(QdContext *context)
{
    QdPayloadPool *self = g_new0(QdPayloadPool, 1);

    self->context = context;
    self->client = qd_client_new("queryd");
    pthread_mutex_init(&self->mutex, NULL);
    qd_cond_init(&self->cond);
    return self;
}

QdPayloadPool *
qd_payload_pool_free(QdPayloadPool *self)
{
    if (self == NULL)
        return NULL;

    pthread_mutex_lock(&self->mutex);
    self->stopping = TRUE;
    pthread_cond_broadcast(&self->cond);
    while (self->n_threads > 0)
        pthread_cond_wait(&self->cond, &self->mutex);
    pthread_mutex_unlock(&self->mutex);
    pthread_cond_destroy(&self->cond);
    pthread_mutex_destroy(&self->mutex);
    qd_client_unref(self->client);
    g_free(self);
    return NULL;
}

void
qd_payload_pool_push(QdPayloadPool *self, QdCall *call)
{
    const QdLimits *limits = &self->context->limits;
    gboolean pushed = FALSE;

    pthread_mutex_lock(&self->mutex);
    if (self->calls.length >= qd_limits_get(limits, QD_LIMIT_RUN_QUEUE)) {
        qd_limit_set_error(&call->result.error, limits, QD_LIMIT_RUN_QUEUE, "too many payloads wait to be stored");
    } else {
        g_queue_push_tail(&self->calls, call);
        pushed = wake(self);
        if (!pushed) {
            (void) g_queue_pop_tail(&self->calls);
            qd_error_set_errno(&call->result.error, errno, "cannot start a thread");
        }
    }
    pthread_mutex_unlock(&self->mutex);
    if (!pushed)
        qd_call_finish(call);
}

void
qd_payload_pool_sweep(QdPayloadPool *self, QdPayloadSweep what)
{
    pthread_mutex_lock(&self->mutex);
    self->sweep = MAX(self->sweep, what);
    if (what != QD_PAYLOAD_SWEEP_LATER || self->n_threads == 0) /* a thread looks again before it goes */
        (void) wake(self);
    pthread_mutex_unlock(&self->mutex);
}
