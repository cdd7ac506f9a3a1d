/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A list under a mutex that is held for a few instructions. A system call may cost a thread its core for a tenth of a second, so
 * a tick looks at no statement under the mutex. One that is looked at is busy meanwhile, and stays in the list.
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
/* A tick that is not there after so many is done by another thread. */
#define LATE_TICKS 3

struct QdInterrupter {
    QdInterruptTimer timer;
    QdInterrupterTickFunc tick;
    void *data;
    void (*force)(const QdThread *thread); /* (nullable) */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    pthread_cond_t looked; /* a watch whose end waits is not busy any more */
    QdWatch *first;
    uint64_t ticked_usec;  /* monotonic: when the last tick began */
    guint n_quiet;         /* ticks since the last statement */
    gboolean is_any_stuck; /* since the thread has said so */
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

/* Of a busy watch, without the mutex. Returns: whether it is over since a short time */
static gboolean
look_at(const QdInterrupter *self, QdWatch *watch, uint64_t now_usec, gboolean *ret_is_stuck)
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
    *ret_is_stuck = is_stuck(watch);
    if (watch->n_ticks_over == 0)
        watch->over_usec = now_usec;
    else if (watch->tell != NULL && now_usec >= watch->over_usec + QD_INTERRUPTER_TELL_USEC)
        watch->tell(watch->interrupt.data, now_usec);
    if (self->force != NULL && now_usec >= watch->over_usec + QD_INTERRUPTER_FORCE_USEC)
        self->force(watch->thread);
    return watch->n_ticks_over++ < OVER_TICKS;
}

static void
note_tick(QdInterrupter *self, uint64_t now_usec)
{
    self->ticked_usec = now_usec;
    __atomic_store_n(&self->timer.late_usec, now_usec + (uint64_t) LATE_TICKS * QD_INTERRUPTER_TICK_USEC, __ATOMIC_RELAXED);
}

/*
 * Under the mutex, which is free now and then. @helper: (nullable): the thread of a statement, in place of the timer's. It looks
 * at its own ones by itself, at once. Returns: how many are over since a short time
 */
static guint
do_tick(QdInterrupter *self, const QdThread *helper, uint64_t now_usec)
{
    guint n_over = 0;

    note_tick(self, now_usec); /* first: no other thread begins */
    for (QdWatch *watch = self->first; watch != NULL; watch = watch->next) {
        gboolean stuck = FALSE;

        if (watch->is_busy)
            continue;
        if (watch->thread == helper) {
            if (watch->n_ticks > 0)
                g_atomic_int_set(&watch->interrupt.is_due, TRUE);
            continue;
        }
        watch->is_busy = TRUE;
        pthread_mutex_unlock(&self->mutex);
        n_over += look_at(self, watch, now_usec, &stuck) ? 1 : 0;
        pthread_mutex_lock(&self->mutex);
        watch->is_busy = FALSE;
        self->is_any_stuck = self->is_any_stuck || stuck;
        pthread_cond_broadcast(&self->looked); /* no system call where no end waits */
    }
    return n_over;
}

/* The timer's own thread may hold the mutex, and be at it. */
static void
help(QdInterruptTimer *timer)
{
    QdInterrupter *self = (QdInterrupter *) timer;
    uint64_t now_usec;
    gboolean is_late;
    guint n_over = 0;

    if (pthread_mutex_trylock(&self->mutex) != 0)
        return;
    now_usec = (uint64_t) g_get_monotonic_time();
    is_late = now_usec > timer->late_usec;
    if (is_late)
        n_over = do_tick(self, qd_thread_get_self(), now_usec);
    pthread_mutex_unlock(&self->mutex);
    if (is_late && self->tick != NULL)
        self->tick(self->data, n_over, FALSE);
}

void
qd_interrupter_help(QdInterrupter *self)
{
    qd_interrupt_timer_help(&self->timer);
}

/* Under the mutex. */
static void
wait_for_tick(QdInterrupter *self)
{
    struct timespec until;

    if (self->first == NULL && self->n_quiet >= REST_TICKS) {
        self->is_asleep = TRUE;
        __atomic_store_n(&self->timer.late_usec, UINT64_MAX, __ATOMIC_RELAXED);
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
        gboolean is_any_stuck;
        uint64_t now_usec;
        guint n_over;

        wait_for_tick(self);
        if (self->stopping)
            break;
        self->n_quiet = self->first != NULL ? 0 : self->n_quiet + 1;
        now_usec = (uint64_t) g_get_monotonic_time();
        if (now_usec < self->ticked_usec + QD_INTERRUPTER_TICK_USEC / 2) /* another thread has done this one */
            continue;
        n_over = do_tick(self, NULL, now_usec);
        if (self->tick == NULL || self->n_quiet > 0)
            continue;
        is_any_stuck = self->is_any_stuck;
        self->is_any_stuck = FALSE;
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

    self->timer = (QdInterruptTimer){ .late_usec = UINT64_MAX, .help = help };
    self->tick = tick;
    self->data = data;
    self->n_quiet = REST_TICKS;
    pthread_mutex_init(&self->mutex, NULL);
    qd_cond_init(&self->cond);
    qd_cond_init(&self->looked);
    r = qd_thread_create(&self->thread, interrupter_main, self);
    if (r == 0)
        return self;

    qd_error_set_errno(error, r, "cannot start the thread of deadlines");
    pthread_cond_destroy(&self->looked);
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
    pthread_cond_destroy(&self->looked);
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
    watch->interrupt.connection = watch->db;
    watch->interrupt.is_always_due = self == NULL;
    watch->interrupt.timer = self != NULL && watch->may_help ? &self->timer : NULL;
    watch->thread = qd_thread_get_self();
    watch->n_ticks = watch->n_ticks_over = 0;
    watch->is_busy = FALSE;
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
    if (wake)
        note_tick(self, (uint64_t) g_get_monotonic_time());
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
    while (watch->is_busy)
        pthread_cond_wait(&self->looked, &self->mutex);
    if (watch->previous != NULL)
        watch->previous->next = watch->next;
    else
        self->first = watch->next;
    if (watch->next != NULL)
        watch->next->previous = watch->previous;
    pthread_mutex_unlock(&self->mutex);
}
