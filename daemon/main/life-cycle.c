/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A small state machine over the loop: running → releasing the name → answering → draining → exit.
 *
 * While it stops, a tick looks at the state of bus queue, calls and channels. A stop is rare and short, and none of the three
 * can forget to trigger a tick.
 */
#include "daemon/main/life-cycle.h"

#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/main/service-private.h"

#define TICK_USEC (20 * UINT64_C(1000))
/* After SIGTERM: time to finish, and time for what was cancelled to tell its reader. systemd's patience is 90 s. */
#define GRACE_USEC (5 * UINT64_C(1000000))
#define LAST_USEC (3 * UINT64_C(1000000))
/* And for the threads to end. */
#define LATEST_USEC (2 * G_USEC_PER_SEC)
/* For what others have asked, where a statement does not end. */
#define WITHOUT_USEC (500 * UINT64_C(1000))
/* A daemon that never exits is idle enough for a check of its database after this time. */
#define CHECK_IDLE_MSEC 60000
/* Above the second after which the engine tells again that it is used. And before the read connections are closed: then what they
 * have read is gone (read/pool.c). */
#define RENEW_IDLE_MSEC 1500

typedef enum LifeState {
    LIFE_RUNNING,
    LIFE_RELEASING,
    LIFE_ANSWERING,
    LIFE_DRAINING,
    LIFE_ENDED,
} LifeState;

struct QdLifeCycle {
    QdService *service;
    LifeState state;
    int exit_code;
    gboolean cancelled;
    gboolean is_without;           /* a statement that does not end is waited for no longer */
    guint64 active_usec;           /* monotonic: when something last began or ended */
    guint64 idle_msec;             /* for which idle_source was started */
    sd_event_source *check_source; /* one look before the loop sleeps */
    sd_event_source *idle_source;  /* (nullable): none waits */
    sd_event_source *renew_source; /* (nullable): the same */
    sd_event_source *tick_source;
    sd_event_source *grace_source;
    sd_bus_slot *release_slot;
};

static gboolean
is_idle(const QdLifeCycle *self)
{
    return self->service->name_owned && qd_engine_is_idle(self->service->engine) &&
           qd_bus_service_is_idle(self->service->bus_service);
}

static gboolean
may_drain(const QdLifeCycle *self)
{
    return self->cancelled || self->is_without || qd_bus_service_get_n_calls(self->service->bus_service) == 0;
}

/* No thread can be ended from outside. What the writer has answered is in the log; the next call starts another daemon. */
static void
end_without(void)
{
    qd_log(LOG_ERR, NULL, "a statement does not end, since SQLite asks nothing within one of its operations: ending without it");
    _exit(EXIT_FAILURE);
}

static void
advance(QdLifeCycle *self)
{
    QdService *service = self->service;

    if (self->state == LIFE_ANSWERING && may_drain(self)) {
        self->state = LIFE_DRAINING;
        qd_engine_drain(service->engine);
    }
    if (self->state == LIFE_DRAINING && self->is_without && qd_engine_is_drained_but_for_told(service->engine))
        end_without();
    if (self->state == LIFE_DRAINING && qd_engine_is_drained(service->engine) && qd_bus_service_is_answered(service->bus_service)) {
        self->state = LIFE_ENDED;
        (void) sd_event_exit(service->event, self->exit_code);
    }
}

static int
on_tick(sd_event_source *source, uint64_t usec, void *user_data)
{
    QdLifeCycle *self = user_data;

    advance(self);
    (void) sd_event_source_set_time_relative(source, TICK_USEC);
    return 0;
}

static void
become_answering(QdLifeCycle *self)
{
    self->state = LIFE_ANSWERING;
    if (sd_event_add_time_relative(self->service->event, &self->tick_source, CLOCK_MONOTONIC, TICK_USEC, 0, on_tick, self) < 0)
        (void) sd_event_exit(self->service->event, self->exit_code);
    else
        (void) sd_event_source_set_enabled(self->tick_source, SD_EVENT_ON);
    advance(self);
}

static int
on_name_released(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    QdLifeCycle *self = user_data;

    /* The bus keeps the order: all messages that were sent to the name have been read before this reply. */
    if (self->state == LIFE_RELEASING)
        become_answering(self);
    return 1;
}

static void
begin_stop(QdLifeCycle *self, const char *reason)
{
    QdService *service = self->service;

    self->state = LIFE_RELEASING;
    self->idle_source = sd_event_source_disable_unref(self->idle_source);
    qd_log(LOG_INFO, &(QdLogFields){ .message_id = QD_LOG_ID_STOPPING }, "stopping: %s", reason);
    (void) sd_notifyf(0, "STOPPING=1\nSTATUS=Stopping: %s", reason);

    qd_bus_service_tell_changes(service->bus_service);
    if (!service->name_owned ||
        sd_bus_release_name_async(service->bus, &self->release_slot, service->options->bus_name, on_name_released, self) < 0)
        become_answering(self);
}

static guint64
get_idle_exit_msec(const QdLifeCycle *self)
{
    return qd_limits_get(qd_engine_get_limits(self->service->engine), QD_LIMIT_IDLE_EXIT_MSEC);
}

static guint64
get_idle_msec(const QdLifeCycle *self)
{
    guint64 msec = get_idle_exit_msec(self);

    return msec > 0 ? msec : CHECK_IDLE_MSEC;
}

/* Activity does not move the timers: one that comes too early waits for the rest. */
static gboolean
wait_for_rest(const QdLifeCycle *self, sd_event_source *source, guint64 msec)
{
    guint64 end_usec = self->active_usec + msec * 1000;

    return (guint64) g_get_monotonic_time() < end_usec && sd_event_source_set_time(source, end_usec) >= 0 &&
           sd_event_source_set_enabled(source, SD_EVENT_ONESHOT) >= 0;
}

static void restart_idle_timer(QdLifeCycle *self);

static void restart_renew_timer(QdLifeCycle *self);

static int
on_quiet(sd_event_source *source, uint64_t usec, void *user_data)
{
    QdLifeCycle *self = user_data;

    if (self->state == LIFE_RUNNING && wait_for_rest(self, source, RENEW_IDLE_MSEC))
        return 0;
    if (self->state != LIFE_RUNNING || !qd_engine_is_idle(self->service->engine)) {
        restart_renew_timer(self);
        return 0;
    }
    self->renew_source = sd_event_source_disable_unref(self->renew_source);
    qd_engine_renew(self->service->engine);
    return 0;
}

static void
restart_renew_timer(QdLifeCycle *self)
{
    self->renew_source = sd_event_source_disable_unref(self->renew_source);
    if (self->state == LIFE_RUNNING)
        (void) sd_event_add_time_relative(self->service->event, &self->renew_source, CLOCK_MONOTONIC, RENEW_IDLE_MSEC * 1000, 0,
                                          on_quiet, self);
}

static int
on_idle(sd_event_source *source, uint64_t usec, void *user_data)
{
    QdLifeCycle *self = user_data;

    if (self->state == LIFE_RUNNING && wait_for_rest(self, source, get_idle_msec(self)))
        return 0;
    /* The engine tells that channels are used, but only once a second: hence the second look here. */
    if (self->state != LIFE_RUNNING || !is_idle(self)) {
        restart_idle_timer(self);
        return 0;
    }
    self->idle_source = sd_event_source_disable_unref(self->idle_source);
    if (!qd_engine_check_if_due(self->service->engine) && get_idle_exit_msec(self) > 0) /* a check's end wakes us again */
        begin_stop(self, "idle");
    return 0;
}

static void
restart_idle_timer(QdLifeCycle *self)
{
    self->idle_source = sd_event_source_disable_unref(self->idle_source);
    self->idle_msec = get_idle_msec(self);
    if (self->state == LIFE_RUNNING)
        (void) sd_event_add_time_relative(self->service->event, &self->idle_source, CLOCK_MONOTONIC, self->idle_msec * 1000, 0,
                                          on_idle, self);
}

static int
on_check(sd_event_source *source, void *user_data)
{
    QdLifeCycle *self = user_data;

    if (self->state == LIFE_RUNNING) {
        restart_idle_timer(self);
        restart_renew_timer(self);
    } else {
        advance(self);
    }
    return 0;
}

QdLifeCycle *
qd_life_cycle_new(QdService *service)
{
    QdLifeCycle *self = g_new0(QdLifeCycle, 1);

    self->service = service;
    self->state = LIFE_RUNNING;
    if (sd_event_add_defer(service->event, &self->check_source, on_check, self) >= 0) {
        /* After the bus and the mailbox: one look for many events. */
        (void) sd_event_source_set_priority(self->check_source, SD_EVENT_PRIORITY_IDLE);
        (void) sd_event_source_set_enabled(self->check_source, SD_EVENT_ONESHOT);
    }
    return self;
}

QdLifeCycle *
qd_life_cycle_free(QdLifeCycle *self)
{
    if (self == NULL)
        return NULL;

    sd_event_source_disable_unref(self->check_source);
    sd_event_source_disable_unref(self->idle_source);
    sd_event_source_disable_unref(self->renew_source);
    sd_event_source_disable_unref(self->tick_source);
    sd_event_source_disable_unref(self->grace_source);
    sd_bus_slot_unref(self->release_slot);
    g_free(self);
    return NULL;
}

void
qd_life_cycle_note_activity(QdLifeCycle *self)
{
    if (self == NULL || self->state == LIFE_ENDED)
        return;

    self->active_usec = (guint64) g_get_monotonic_time();
    /* Each call notes two activities. A look after each would be a turn of the loop, which makes both timers again. */
    if (self->state == LIFE_RUNNING && self->idle_source != NULL && self->renew_source != NULL &&
        self->idle_msec == get_idle_msec(self))
        return;
    (void) sd_event_source_set_enabled(self->check_source, SD_EVENT_ONESHOT);
}

static void
collect_id(const QdQueryInfo *info, void *user_data)
{
    GArray *ids = user_data;

    g_array_append_val(ids, info->id);
}

static gpointer
end_later(gpointer data)
{
    g_usleep(LATEST_USEC);
    end_without();
    return NULL;
}

/* A statement may be in one operation of SQLite that nothing ends. What the writer has answered is in the log. */
static void
bound_end(void)
{
    GThread *thread = g_thread_try_new("queryd-end", end_later, NULL, NULL);

    g_clear_pointer(&thread, g_thread_unref);
}

static int
on_last_patience(sd_event_source *source, uint64_t usec, void *user_data)
{
    QdLifeCycle *self = user_data;

    /* A reader that takes nothing: its channel ends without END, which it will see as an error. */
    qd_log(LOG_NOTICE, NULL, "some results are unfinished: leaving them so");
    self->state = LIFE_ENDED;
    bound_end();
    (void) sd_event_exit(self->service->event, self->exit_code);
    return 0;
}

static void
cancel_all(QdLifeCycle *self)
{
    QdService *service = self->service;
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(uint64_t));

    if (self->cancelled)
        return;

    self->cancelled = TRUE;
    qd_bus_service_cancel_calls(service->bus_service);
    qd_engine_foreach_query(service->engine, collect_id, ids);
    for (guint i = 0; i < ids->len; i++)
        (void) qd_engine_cancel_query(service->engine, g_array_index(ids, uint64_t, i));

    self->grace_source = sd_event_source_disable_unref(self->grace_source);
    (void) sd_event_add_time_relative(service->event, &self->grace_source, CLOCK_MONOTONIC, LAST_USEC, 0, on_last_patience, self);
    if (self->state == LIFE_RELEASING)
        become_answering(self); /* the bus does not answer */
}

static int
on_grace_over(sd_event_source *source, uint64_t usec, void *user_data)
{
    cancel_all(user_data);
    return 0;
}

void
qd_life_cycle_stop(QdLifeCycle *self, const char *reason, int exit_code)
{
    self->exit_code = MAX(self->exit_code, exit_code);
    if (self->grace_source != NULL) {
        cancel_all(self);
        return;
    }

    (void) sd_event_add_time_relative(self->service->event, &self->grace_source, CLOCK_MONOTONIC, GRACE_USEC, 0, on_grace_over,
                                      self);
    if (self->state == LIFE_RUNNING)
        begin_stop(self, reason);
}

static int
on_without_over(sd_event_source *source, uint64_t usec, void *user_data)
{
    end_without();
    return 0;
}

void
qd_life_cycle_end_without(QdLifeCycle *self)
{
    if (self->is_without)
        return;
    self->is_without = TRUE;
    if (sd_event_add_time_relative(self->service->event, NULL, CLOCK_MONOTONIC, WITHOUT_USEC, 0, on_without_over, self) < 0)
        end_without();
    if (self->state == LIFE_RUNNING)
        begin_stop(self, "a statement does not end");
}

gboolean
qd_life_cycle_is_stopping(const QdLifeCycle *self)
{
    return self->state != LIFE_RUNNING;
}
