/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Starting and joining job threads.
 */
#include "daemon/job/jobs.h"

#include <pthread.h>

#include "daemon/base/error.h"
#include "daemon/base/thread.h"
#include "daemon/call/call-descriptor.h"
#include "daemon/call/call-private.h"
#include "daemon/read/client.h"
#include "daemon/read/run.h"
#include "daemon/runtime/context.h"

struct QdJobs {
    QdContext *context;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    guint n;         /* threads that run */
    guint n_limited; /* of them, those that count against the limit */
    guint n_waiting; /* those that would count, but wait for their descriptor */
};

typedef struct Job {
    QdJobs *jobs;
    QdCall *call;
    gboolean limited;
} Job;

static void
uncharge_job(QdJobs *self, QdClient *client)
{
    qd_client_discharge(client, QD_CHARGE_JOB);
    pthread_mutex_lock(&self->mutex);
    self->n_limited--;
    pthread_mutex_unlock(&self->mutex);
}

/*
 * A job that waits for its descriptor gives its place to another one, as long as there are not too many that do. It goes on as
 * soon as it can, also when all places are taken meanwhile. So there are never more than 'jobs' and 'jobs_waiting' together,
 * and none waits for a place while others wait for what it holds.
 */
static void
on_wait(QdCall *call, gboolean waits)
{
    QdContext *context = call->private->context;
    QdJobs *self = context->jobs;

    if (waits == call->private->is_waiting)
        return;

    pthread_mutex_lock(&self->mutex);
    if (!waits || self->n_waiting < qd_limits_get(&context->limits, QD_LIMIT_JOBS_WAITING)) {
        self->n_waiting = waits ? self->n_waiting + 1 : self->n_waiting - 1;
        self->n_limited = waits ? self->n_limited - 1 : self->n_limited + 1;
        call->private->is_waiting = waits;
    }
    pthread_mutex_unlock(&self->mutex);
}

static void *
job_main(void *data)
{
    Job *job = data;
    QdJobs *jobs = job->jobs;
    QdClient *client = qd_client_ref(job->call->client);

    (void) pthread_setname_np(pthread_self(), "queryd-job");
    if (!qd_call_is_cancelled(job->call, &job->call->result.error)) /* a short one might end before it looks */
        job->call->class->run(job->call, &job->call->result.error);
    /* uncharged first: the owner may start the next job when it hears of the end */
    if (job->limited)
        uncharge_job(jobs, client);
    qd_call_end(job->call);

    qd_client_unref(client);
    pthread_mutex_lock(&jobs->mutex);
    jobs->n--;
    pthread_cond_broadcast(&jobs->cond);
    pthread_mutex_unlock(&jobs->mutex);
    g_free(job);
    return NULL;
}

QdJobs *
qd_jobs_new(QdContext *context)
{
    QdJobs *self = g_new0(QdJobs, 1);

    self->context = context;
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->cond, NULL);
    return self;
}

QdJobs *
qd_jobs_free(QdJobs *self)
{
    if (self == NULL)
        return NULL;

    pthread_mutex_lock(&self->mutex);
    while (self->n > 0)
        pthread_cond_wait(&self->cond, &self->mutex);
    pthread_mutex_unlock(&self->mutex);
    pthread_cond_destroy(&self->cond);
    pthread_mutex_destroy(&self->mutex);
    g_free(self);
    return NULL;
}

static gboolean
charge_job(QdJobs *self, QdCall *call, GError **error)
{
    const QdLimits *limits = &self->context->limits;
    gboolean full;

    if (!qd_client_charge(call->client, QD_CHARGE_JOB, qd_limits_get(limits, QD_LIMIT_JOBS_PER_CLIENT))) {
        qd_limit_set_error(error, limits, QD_LIMIT_JOBS_PER_CLIENT, "too many jobs of client '%s'",
                           qd_client_get_label(call->client));
        return FALSE;
    }
    pthread_mutex_lock(&self->mutex);
    full = self->n_limited >= qd_limits_get(limits, QD_LIMIT_JOBS);
    self->n_limited += full ? 0 : 1;
    pthread_mutex_unlock(&self->mutex);
    if (full) {
        qd_client_discharge(call->client, QD_CHARGE_JOB);
        qd_limit_set_error(error, limits, QD_LIMIT_JOBS, "too many jobs");
    }
    return !full;
}

void
qd_jobs_start(QdJobs *self, QdCall *call)
{
    gboolean limited = !call->class->is_uncharged;
    Job *job;
    int r;

    if (limited && !charge_job(self, call, &call->result.error)) {
        qd_call_finish(call);
        return;
    }

    call->private->on_wait = limited ? on_wait : NULL;
    job = g_new0(Job, 1);
    *job = (Job){ .jobs = self, .call = call, .limited = limited };
    pthread_mutex_lock(&self->mutex);
    self->n++;
    pthread_mutex_unlock(&self->mutex);
    r = qd_thread_start(job_main, job);
    if (r == 0)
        return;

    qd_error_set_errno(&call->result.error, r, "cannot start a job thread");
    pthread_mutex_lock(&self->mutex);
    self->n--;
    pthread_mutex_unlock(&self->mutex);
    if (limited)
        uncharge_job(self, call->client);
    g_free(job);
    qd_call_finish(call);
}

guint
qd_jobs_get_n(QdJobs *self)
{
    guint n;

    pthread_mutex_lock(&self->mutex);
    n = self->n;
    pthread_mutex_unlock(&self->mutex);
    return n;
}
