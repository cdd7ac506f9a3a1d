/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A list under a mutex that is held for a few instructions, and for the questions of a tick.
 */
#include "daemon/sqlite/interrupter.h"

#include <pthread.h>
#include <time.h>

#include "daemon/base/error.h"
#include "daemon/base/thread.h"
#include "daemon/sqlite/memory.h"

/* Ticks without a statement until the thread sleeps: waking it costs what ten look-ups of a row spend on being watched. */
#define REST_TICKS 5

/* So long others are to wait for the end of a statement. */
#define OVER_TICKS 50

struct QdInterrupter {
    QdInterrupterTickFunc tick;
    void *data;
    void (*force)(const QdThread *thread); /* (nullable) */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    QdWatch *first;
    guint n_quiet; /* ticks since the last statement */
    gboolean is_asleep;
    gboolean stopping;
};

/* A wait for a disk does not count. */
static gboolean
is_stuck(QdWatch *watch)
{
    uint64_t cpu_usec;

    if (watch->n_ticks_over % OVER_TICKS > 0)
        return FALSE;
    cpu_usec = qd_thread_get_cpu_usec(watch->thread);
    if (watch->n_ticks_over == 0)
        watch->over_cpu_usec = cpu_usec;
    return cpu_usec > watch->over_cpu_usec + QD_INTERRUPTER_STUCK_USEC;
}

/* Returns: whether it is over since a short time */
static gboolean
look_at(const QdInterrupter *self, QdWatch *watch, uint64_t now_usec, gboolean *is_any_stuck)
{
    if (watch->n_ticks++ == 0) { /* it may have begun just now */
        __atomic_store_n(&watch->tick_cpu_usec, qd_thread_get_cpu_usec(watch->thread), __ATOMIC_RELAXED);
        return FALSE;
    }

    g_atomic_int_set(&watch->interrupt.is_due, TRUE);
    if (watch->is_over == NULL || !watch->is_over(watch->interrupt.data, now_usec))
        return FALSE;
    qd_thread_set_batch(watch->thread, FALSE); /* among many that run long it would be its turn late */
    sqlite3_interrupt(watch->db);
    *is_any_stuck = is_stuck(watch) || *is_any_stuck;
    if (watch->n_ticks_over == 0)
        watch->over_usec = now_usec;
    else if (watch->tell != NULL && now_usec >= watch->over_usec + QD_INTERRUPTER_TELL_USEC)
        watch->tell(watch->interrupt.data, now_usec);
    if (self->force != NULL && now_usec >= watch->over_usec + QD_INTERRUPTER_FORCE_USEC)
        self->force(watch->thread);
    return watch->n_ticks_over++ < OVER_TICKS;
}

/* Under the mutex. */
static void
wait_for_tick(QdInterrupter *self)
{
    struct timespec until;

    if (self->first == NULL && self->n_quiet >= REST_TICKS) {
        self->is_asleep = TRUE;
        while (self->is_asleep && !self->stopping)
            pthread_cond_wait(&self->cond, &self->mutex);
        self->n_quiet = 0;
    }
    (void) clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += QD_INTERRUPTER_TICK_USEC * 1000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (!self->stopping && pthread_cond_timedwait(&self->cond, &self->mutex, &until) == 0)
        ;
}

static void *
interrupter_main(void *data)
{
    QdInterrupter *self = data;

    (void) pthread_setname_np(pthread_self(), "queryd-timer");
    pthread_mutex_lock(&self->mutex);
    for (;;) {
        uint64_t now_usec;
        guint n_over = 0;
        gboolean is_any_stuck = FALSE;

        wait_for_tick(self);
        if (self->stopping)
            break;
        now_usec = (uint64_t) g_get_monotonic_time();
        self->n_quiet = self->first != NULL ? 0 : self->n_quiet + 1;
        for (QdWatch *watch = self->first; watch != NULL; watch = watch->next)
            n_over += look_at(self, watch, now_usec, &is_any_stuck) ? 1 : 0;
        if (self->tick == NULL || self->n_quiet > 0)
            continue;
        pthread_mutex_unlock(&self->mutex);
        self->tick(self->data, n_over, is_any_stuck);
        pthread_mutex_lock(&self->mutex);
    }
    pthread_mutex_unlock(&self->mutex);
    return NULL;
}

QdInterrupter *
qd_interrupter_new(QdInterrupterTickFunc tick, void *data, GError **error)
{
    QdInterrupter *self = g_new0(QdInterrupter, 1);
    int r;

    self->tick = tick;
    self->data = data;
    self->n_quiet = REST_TICKS;
    pthread_mutex_init(&self->mutex, NULL);
    qd_cond_init(&self->cond);
    r = qd_thread_create(&self->thread, interrupter_main, self);
    if (r == 0)
        return self;

    qd_error_set_errno(error, r, "cannot start the thread of deadlines");
    pthread_cond_destroy(&self->cond);
    pthread_mutex_destroy(&self->mutex);
    g_free(self);
    return NULL;
}

void
qd_interrupter_set_force(QdInterrupter *self, void (*force)(const QdThread *thread))
{
    self->force = force;
}

QdInterrupter *
qd_interrupter_free(QdInterrupter *self)
{
    if (self == NULL)
        return NULL;

    g_assert(self->first == NULL);
    pthread_mutex_lock(&self->mutex);
    self->stopping = TRUE;
    pthread_cond_signal(&self->cond);
    pthread_mutex_unlock(&self->mutex);
    (void) pthread_join(self->thread, NULL);
    pthread_cond_destroy(&self->cond);
    pthread_mutex_destroy(&self->mutex);
    g_free(self);
    return NULL;
}

void
qd_interrupter_begin(QdInterrupter *self, QdWatch *watch)
{
    gboolean wake;

    watch->interrupt.is_due = FALSE;
    watch->interrupt.is_always_due = self == NULL;
    watch->thread = qd_thread_get_self();
    watch->n_ticks = watch->n_ticks_over = 0;
    watch->tick_cpu_usec = 0;
    watch->balance = qd_memory_get_thread_balance();
    if (watch->memory != NULL)
        qd_memory_begin_use(watch->memory);
    qd_interrupt_begin(&watch->interrupt);
    if (self == NULL)
        return;

    pthread_mutex_lock(&self->mutex);
    wake = self->is_asleep;
    self->is_asleep = FALSE;
    watch->previous = NULL;
    watch->next = self->first;
    if (self->first != NULL)
        self->first->previous = watch;
    self->first = watch;
    pthread_mutex_unlock(&self->mutex);
    if (wake)
        pthread_cond_signal(&self->cond);
}

void
qd_interrupter_end(QdInterrupter *self, QdWatch *watch)
{
    qd_interrupt_end(&watch->interrupt);
    if (watch->memory != NULL)
        qd_memory_end_use(watch->memory);
    if (self == NULL)
        return;

    pthread_mutex_lock(&self->mutex);
    if (watch->previous != NULL)
        watch->previous->next = watch->next;
    else
        self->first = watch->next;
    if (watch->next != NULL)
        watch->next->previous = watch->previous;
    pthread_mutex_unlock(&self->mutex);
}
