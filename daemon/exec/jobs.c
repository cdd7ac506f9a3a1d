/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Starting and joining job threads; careful I/O on what they were given.
 */
#include "daemon/exec/jobs.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/thread.h"
#include "daemon/exec/run.h"

#define POLL_MSEC 100
/* A write of so much to a pipe that poll() calls writable does not wait. */
#define PIPE_PIECE_BYTES 4096

struct QdJobs {
    QdEngine *engine;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    guint n;         /* threads that run */
    guint n_limited; /* of them, those that count against the limit */
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

static void *
job_main(void *data)
{
    Job *job = data;
    QdJobs *jobs = job->jobs;
    QdClient *client = qd_client_ref(job->call->client);

    (void) pthread_setname_np(pthread_self(), "queryd-job");
    job->call->class->run(job->call, &job->call->error);
    /* uncharged first: who hears of the end may start the next */
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
qd_jobs_new(QdEngine *engine)
{
    QdJobs *self = g_new0(QdJobs, 1);

    self->engine = engine;
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
    const QdLimits *limits = &self->engine->limits;
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

    if (limited && !charge_job(self, call, &call->error)) {
        qd_call_finish(call);
        return;
    }

    job = g_new0(Job, 1);
    *job = (Job){ .jobs = self, .call = call, .limited = limited };
    pthread_mutex_lock(&self->mutex);
    self->n++;
    pthread_mutex_unlock(&self->mutex);
    r = qd_thread_start(job_main, job);
    if (r == 0)
        return;

    qd_error_set_errno(&call->error, r, "cannot start a job thread");
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

gboolean
qd_job_is_cancelled(QdCall *call, GError **error)
{
    if (!g_atomic_int_get(&call->cancelled) && !g_atomic_int_get(&call->private->entry.cancelled))
        return FALSE;

    qd_error_set(error, QW_ERROR_CANCELLED, "job was cancelled");
    return TRUE;
}

gboolean
qd_job_check_descriptor(QdCall *call, GError **error)
{
    const QdEngine *engine = call->private->engine;
    g_autofree char *own = NULL;
    struct stat st;

    if (fstat(call->fd, &st) < 0) {
        qd_error_set_errno(error, errno, "cannot look at the descriptor");
        return FALSE;
    }
    if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode) && !S_ISCHR(st.st_mode)) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "the descriptor is neither file, pipe, socket nor character device");
        return FALSE;
    }
    own = engine->database != NULL ? qd_database_find_own_file(engine->database, &st) : NULL;
    if (own != NULL)
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "the descriptor is of the store's own file '%s'", own);
    return own == NULL;
}

/* Waits until @fd is ready; false with @error when the job is cancelled, or the other side does nothing for too long. */
static gboolean
wait_for(QdCall *call, short events, GError **error)
{
    const QdLimits *limits = &call->private->engine->limits;
    gint64 start = g_get_monotonic_time();

    for (;;) {
        struct pollfd pfd = { .fd = call->fd, .events = events };
        int r;

        if (qd_job_is_cancelled(call, error))
            return FALSE;
        if ((uint64_t) (g_get_monotonic_time() - start) > 1000 * qd_limits_get(limits, QD_LIMIT_READER_IDLE_MSEC)) {
            qd_limit_set_error(error, limits, QD_LIMIT_READER_IDLE_MSEC, "the other side of the descriptor does nothing");
            return FALSE;
        }
        r = poll(&pfd, 1, POLL_MSEC);
        if (r > 0 || (r < 0 && errno != EINTR))
            return TRUE;
    }
}

gboolean
qd_job_write(QdCall *call, const void *data, gsize n_bytes, GError **error)
{
    const char *p = data;
    struct stat st;

    if (fstat(call->fd, &st) < 0) {
        qd_error_set_errno(error, errno, "cannot look at the descriptor");
        return FALSE;
    }
    while (n_bytes > 0) {
        ssize_t n;

        if (!wait_for(call, POLLOUT, error))
            return FALSE;
        if (S_ISSOCK(st.st_mode))
            n = send(call->fd, p, n_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        else
            n = write(call->fd, p, S_ISREG(st.st_mode) ? n_bytes : MIN(n_bytes, PIPE_PIECE_BYTES));
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n < 0) {
            qd_error_set_errno(error, errno, "cannot write to the descriptor");
            return FALSE;
        }
        p += n;
        n_bytes -= (gsize) n;
        __atomic_add_fetch(&call->progress.bytes_done, (uint64_t) n, __ATOMIC_RELAXED);
    }
    return TRUE;
}

gssize
qd_job_read(QdCall *call, void *data, gsize n_bytes, GError **error)
{
    for (;;) {
        ssize_t n;

        if (!wait_for(call, POLLIN, error))
            return -1;
        n = read(call->fd, data, n_bytes);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n < 0)
            qd_error_set_errno(error, errno, "cannot read from the descriptor");
        return n;
    }
}
