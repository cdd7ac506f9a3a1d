/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets the parts up in the one order that works: signals, loop, bus, engine, objects, name, READY=1.
 *
 * The objects are on the bus before the name is requested. The bus delivers the calls that activated the daemon ahead of its
 * reply to RequestName. The engine opens the database in the background, so that READY=1 does not wait for it.
 */
#include "daemon/main/service.h"

#include <signal.h>
#include <sys/epoll.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/cgroup.h"
#include "daemon/base/error.h"
#include "daemon/base/fd.h"
#include "daemon/base/interrupt.h"
#include "daemon/base/log.h"
#include "daemon/main/service-private.h"

#define BUS_NAME "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"
#define NAME_IS_PRIMARY_OWNER 1u /* the reply of RequestName */
#define NAME_EXISTS 3u
#define EXIT_NAME_TAKEN 3 /* the unit does not try that again: the owner serves all callers */
/* For the main thread to end the daemon without a statement. */
#define MAIN_USEC (2 * G_USEC_PER_SEC)

static void fail_start(QdService *self, int exit_code, const char *format, ...) G_GNUC_PRINTF(3, 4);

static void
fail_start(QdService *self, int exit_code, const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list args;

    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);

    qd_log(LOG_ERR, &(QdLogFields){ .message_id = QD_LOG_ID_BUS }, "%s", message);
    (void) sd_notifyf(0, "STATUS=%s", message);
    (void) sd_event_exit(self->event, exit_code);
}

/* The limit `descriptors` is of the files that there are, so that some stay free where the system allows fewer. */
static void
apply_open_files(QdLimits *limits)
{
    uint64_t n_wanted = qd_limits_get(limits, QD_LIMIT_DESCRIPTORS);
    gint64 n = qd_fd_raise_limit(n_wanted);

    if (n < 0) {
        qd_log(LOG_WARNING, NULL, "cannot find out how many files may be open: %s", g_strerror((int) -n));
    } else if ((uint64_t) n < n_wanted) {
        qd_log(LOG_WARNING, NULL, "the system allows %" G_GINT64_FORMAT " open files, fewer than the limit 'descriptors'", n);
        limits->values[QD_LIMIT_DESCRIPTORS] = (uint64_t) n;
    }
}

/* Else the kernel kills the daemon, with the queries of all, before one of them reaches a limit. */
static void
apply_memory_max(QdLimits *limits)
{
    uint64_t n_bytes = qd_cgroup_get_memory_max();

    if (qd_limits_fit_memory(limits, n_bytes))
        qd_log(LOG_INFO, &(QdLogFields){ .message_id = QD_LOG_ID_CONFIG },
               "MemoryMax= is %" G_GUINT64_FORMAT " bytes: limits of memory are lowered, 'heap_hard_bytes' is %" G_GUINT64_FORMAT,
               n_bytes, qd_limits_get(limits, QD_LIMIT_HEAP_HARD_BYTES));
}

static void
apply_config(QdService *self)
{
    const QdServiceOptions *options = self->options;

    for (guint i = 0; i < self->config->warnings->len; i++)
        qd_log(LOG_WARNING, &(QdLogFields){ .message_id = QD_LOG_ID_CONFIG }, "%s", (char *) self->config->warnings->pdata[i]);
    qd_log_set_level(options->debug ? LOG_DEBUG : self->config->log_level);
    if (options->idle_exit_msec >= 0)
        self->config->limits.values[QD_LIMIT_IDLE_EXIT_MSEC] = (uint64_t) options->idle_exit_msec;
    if (self->config->tracker == QD_TRACKER_OFF)
        self->config->limits.values[QD_LIMIT_RESOURCE_EVENTS] = 0; /* there are no listeners, and they cost time */
    apply_open_files(&self->config->limits);
    apply_memory_max(&self->config->limits);
}

static gboolean
reload(GError **error, void *user_data)
{
    QdService *self = user_data;

    QdConfig *before = self->config;

    self->config = qd_config_load(self->options->config_path);
    apply_config(self);
    if (self->engine != NULL)
        qd_engine_set_limits(self->engine, &self->config->limits);
    if (self->bus_service != NULL) {
        qd_bus_service_set_tracker(self->bus_service, self->config->tracker);
        qd_bus_service_set_access(self->bus_service, self->config, self->options->store);
    }
    (void) qd_config_free(before);
    qd_life_cycle_note_activity(self->life);
    qd_log(LOG_INFO, &(QdLogFields){ .message_id = QD_LOG_ID_CONFIG }, "configuration read again");
    return TRUE;
}

static void
on_changed(uint64_t generation, const QdChanges *changes, void *user_data)
{
    QdService *self = user_data;

    if (self->bus_service != NULL)
        qd_bus_service_notify_change(self->bus_service, generation, changes);
}

static void
on_activity(void *user_data)
{
    QdService *self = user_data;

    qd_life_cycle_note_activity(self->life);
    if (self->life == NULL || self->engine == NULL || self->bus_service == NULL || qd_life_cycle_is_stopping(self->life))
        return;
    if (qd_engine_has_lost_memory(self->engine))
        qd_life_cycle_stop(self->life, "memory of calls that were made to return is lost", EXIT_SUCCESS);
    else if (qd_engine_is_read_only(self->engine) && qd_engine_is_idle(self->engine) && qd_bus_service_is_idle(self->bus_service) &&
             qd_engine_can_write_again(self->engine))
        qd_life_cycle_stop(self->life, "the store can be written again, and is opened for that at the next start", EXIT_SUCCESS);
}

/* No client sees a damaged file being mended under it: the next call starts a daemon that salvages first. */
static void
on_damaged(void *user_data)
{
    QdService *self = user_data;

    if (self->life != NULL)
        qd_life_cycle_stop(self->life, "the database is damaged, and is salvaged at the next start", EXIT_SUCCESS);
}

static void
end_without(void *user_data)
{
    QdService *self = user_data;

    if (self->life != NULL)
        qd_life_cycle_end_without(self->life);
}

/* In the thread of deadlines, as long as there is such a statement. */
static void
on_stuck(void *user_data)
{
    QdService *self = user_data;
    gint64 now_usec = g_get_monotonic_time();

    if (self->stuck_usec == 0) {
        self->stuck_usec = now_usec;
        qd_mailbox_post(self->mailbox, end_without, self);
    } else if (now_usec > self->stuck_usec + MAIN_USEC) {
        qd_log(LOG_ERR, NULL, "a statement does not end, and the main thread does not answer: ending without both");
        _exit(EXIT_FAILURE);
    }
}

static void
on_pressure(void *user_data)
{
    qd_engine_give_memory_back(((QdService *) user_data)->engine);
}

static gboolean
start_engine(QdService *self, GError **error)
{
    const QdEngineConfig engine_config = {
        .directory = self->options->directory,
        .limits = self->config->limits,
        .changed = on_changed,
        .activity = on_activity,
        .damaged = on_damaged,
        .stuck = on_stuck,
        .user_data = self,
    };
    const QdBusServiceHooks hooks = { .reload = reload, .activity = on_activity, .user_data = self };

    self->engine = qd_engine_new(&engine_config, self->mailbox, error);
    if (self->engine == NULL)
        return FALSE;
    self->bus_service = qd_bus_service_new(self->bus, self->event, self->engine, &hooks, error);
    if (self->bus_service == NULL)
        return FALSE;
    qd_bus_service_set_tracker(self->bus_service, self->config->tracker);
    qd_bus_service_set_access(self->bus_service, self->config, self->options->store);

    self->life = qd_life_cycle_new(self);
    self->pressure = qd_memory_pressure_new(self->event, on_pressure, self);
    return TRUE;
}

static int
on_name_requested(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    QdService *self = user_data;
    uint32_t answer = 0;

    if (sd_bus_message_is_method_error(message, NULL)) {
        fail_start(self, EXIT_FAILURE, "cannot own the name '%s' on the bus: %s", self->options->bus_name,
                   sd_bus_message_get_error(message)->message);
        return 1;
    }
    if (sd_bus_message_read_basic(message, 'u', &answer) <= 0 || answer != NAME_IS_PRIMARY_OWNER) {
        fail_start(self, answer == NAME_EXISTS ? EXIT_NAME_TAKEN : EXIT_FAILURE, "the name '%s' is %s: is another queryd running?",
                   self->options->bus_name, answer == NAME_EXISTS ? "taken" : "not to be had");
        return 1;
    }
    /* sd-bus gives that up without a word when it cannot look at its socket */
    if (sd_bus_can_send(self->bus, SD_BUS_TYPE_UNIX_FD) <= 0) {
        fail_start(self, EXIT_FAILURE, "the connection to the bus passes no descriptors");
        return 1;
    }

    self->name_owned = TRUE;
    (void) sd_notify(0, "READY=1\nSTATUS=Serving");
    qd_log(LOG_INFO, &(QdLogFields){ .message_id = QD_LOG_ID_STARTED }, "serving '%s' as '%s'", self->options->directory,
           self->options->bus_name);
    return 1;
}

static int
on_name_lost(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    QdService *self = user_data;
    const char *name;

    if (!self->name_owned || sd_bus_message_read_basic(message, 's', &name) <= 0 || !g_str_equal(name, self->options->bus_name))
        return 0;

    self->name_owned = FALSE;
    if (self->life != NULL && !qd_life_cycle_is_stopping(self->life)) {
        qd_log(LOG_ERR, &(QdLogFields){ .message_id = QD_LOG_ID_BUS }, "lost the name '%s' on the bus", name);
        qd_life_cycle_stop(self->life, "lost the bus name", EXIT_FAILURE);
    }
    return 0;
}

static int
on_disconnected(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    QdService *self = user_data;
    gboolean served = self->name_owned || qd_life_cycle_is_stopping(self->life);

    self->name_owned = FALSE;
    if (served)
        qd_life_cycle_stop(self->life, "lost the connection to the bus", EXIT_SUCCESS);
    else
        fail_start(self, EXIT_FAILURE, "lost the connection to the bus");
    return 0;
}

static int
open_bus(QdService *self)
{
    const char *address = self->options->bus_address;
    int r;

    if (address == NULL)
        return sd_bus_open_user(&self->bus);

    r = sd_bus_new(&self->bus);
    if (r >= 0)
        r = sd_bus_set_address(self->bus, address);
    if (r >= 0)
        r = sd_bus_set_bus_client(self->bus, TRUE);
    if (r >= 0)
        r = sd_bus_negotiate_fds(self->bus, TRUE);
    if (r < 0)
        return r;

    return sd_bus_start(self->bus);
}

static int
connect_bus(QdService *self)
{
    g_autoptr(GError) error = NULL;
    int r;

    r = open_bus(self);
    if (r >= 0)
        r = sd_bus_attach_event(self->bus, self->event, SD_EVENT_PRIORITY_NORMAL);
    if (r < 0)
        return r;

    /* Before the name: the bus delivers the calls that activated us ahead of its reply to RequestName. */
    if (!start_engine(self, &error)) {
        qd_log(LOG_ERR, NULL, "cannot start: %s", error->message);
        return -ECANCELED;
    }
    r = sd_bus_match_signal_async(self->bus, &self->disconnected_slot, "org.freedesktop.DBus.Local", "/org/freedesktop/DBus/Local",
                                  "org.freedesktop.DBus.Local", "Disconnected", on_disconnected, NULL, self);
    if (r >= 0)
        r = sd_bus_match_signal_async(self->bus, &self->name_lost_slot, BUS_NAME, BUS_PATH, BUS_NAME, "NameLost", on_name_lost,
                                      NULL, self);
    if (r >= 0)
        r = sd_bus_request_name_async(self->bus, &self->name_slot, self->options->bus_name, 0, on_name_requested, self);
    return r;
}

static int
on_mail(sd_event_source *source, int fd, uint32_t events, void *user_data)
{
    qd_mailbox_dispatch(user_data);
    return 0;
}

static int
on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *user_data)
{
    QdService *self = user_data;
    g_autoptr(GError) error = NULL;

    if (info->ssi_signo == SIGHUP) {
        (void) sd_notify(0, "RELOADING=1");
        (void) reload(&error, self);
        (void) sd_notify(0, "READY=1");
    } else if (self->life != NULL) {
        qd_life_cycle_stop(self->life, info->ssi_signo == SIGINT ? "interrupted" : "asked to stop", EXIT_SUCCESS);
    } else {
        (void) sd_event_exit(self->event, EXIT_SUCCESS);
    }
    return 0;
}

static int
on_watchdog(sd_event_source *source, uint64_t usec, void *user_data)
{
    QdService *self = user_data;

    if (self->engine == NULL || qd_engine_is_alive(self->engine, self->watchdog_usec))
        (void) sd_notify(0, "WATCHDOG=1");
    else
        qd_log(LOG_ERR, &(QdLogFields){ .message_id = QD_LOG_ID_WATCHDOG },
               "a worker hangs: not telling the watchdog that all is well");

    return sd_event_source_set_time_relative(source, self->watchdog_usec / 2);
}

/* Not sd_event_set_watchdog(): the loop's being alive says nothing about the workers. */
static int
start_watchdog(QdService *self)
{
    int r;

    r = sd_watchdog_enabled(FALSE, &self->watchdog_usec);
    if (r <= 0)
        return r;

    r = sd_event_add_time_relative(self->event, &self->watchdog_source, CLOCK_MONOTONIC, self->watchdog_usec / 2, 0, on_watchdog,
                                   self);
    if (r < 0)
        return r;

    return sd_event_source_set_enabled(self->watchdog_source, SD_EVENT_ON);
}

static int
add_signals(QdService *self)
{
    static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };
    int r = 0;

    for (guint i = 0; r >= 0 && i < G_N_ELEMENTS(numbers); i++)
        r = sd_event_add_signal(self->event, NULL, numbers[i], on_signal, self);
    return r;
}

/* Before any thread is made: threads inherit the mask. A write beyond a limit on the size of files is an error as any other. The
 * interrupter's signal comes also where a parent has blocked it. */
static void
set_signals(void)
{
    sigset_t mask;

    sigemptyset(&mask);
    sigaddset(&mask, QD_INTERRUPT_SIGNAL);
    (void) sigprocmask(SIG_UNBLOCK, &mask, NULL);

    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGINT);
    sigaddset(&mask, SIGHUP);
    (void) sigprocmask(SIG_BLOCK, &mask, NULL);
    (void) signal(SIGPIPE, SIG_IGN);
    (void) signal(SIGXFSZ, SIG_IGN);
}

static gboolean
service_set_up(QdService *self)
{
    g_autoptr(GError) error = NULL;
    int r;

    self->mailbox = qd_mailbox_new(&error);
    if (self->mailbox == NULL) {
        qd_log(LOG_ERR, NULL, "%s", error->message);
        return FALSE;
    }

    r = sd_event_default(&self->event);
    if (r >= 0)
        r = add_signals(self);
    if (r >= 0)
        r = sd_event_add_io(self->event, &self->mailbox_source, qd_mailbox_get_fd(self->mailbox), EPOLLIN, on_mail, self->mailbox);
    if (r >= 0)
        r = start_watchdog(self);
    if (r < 0) {
        qd_log(LOG_ERR, NULL, "cannot set up the event loop: %s", g_strerror(-r));
        return FALSE;
    }

    r = connect_bus(self);
    if (r < 0) {
        qd_log(LOG_ERR, &(QdLogFields){ .message_id = QD_LOG_ID_BUS }, "cannot connect to the bus%s%s: %s",
               self->options->bus_address != NULL ? " at " : "",
               self->options->bus_address != NULL ? self->options->bus_address : "", g_strerror(-r));
        return FALSE;
    }
    return TRUE;
}

/* The engine first: it answers what it still has through the bus service. */
static void
service_clear(QdService *self)
{
    self->pressure = qd_memory_pressure_free(self->pressure);
    self->life = qd_life_cycle_free(self->life);
    self->engine = qd_engine_free(self->engine);
    self->bus_service = qd_bus_service_free(self->bus_service);
    sd_bus_slot_unref(self->name_slot);
    sd_bus_slot_unref(self->name_lost_slot);
    sd_bus_slot_unref(self->disconnected_slot);
    sd_event_source_disable_unref(self->mailbox_source);
    sd_event_source_disable_unref(self->watchdog_source);
    self->bus = sd_bus_flush_close_unref(self->bus);
    self->mailbox = qd_mailbox_free(self->mailbox);
    self->config = qd_config_free(self->config);
    self->event = sd_event_unref(self->event);
}

int
qd_service_run(const QdServiceOptions *options)
{
    QdService self = { .options = options };
    int r = EXIT_FAILURE;

    set_signals();
    self.config = qd_config_load(options->config_path);
    apply_config(&self);

    if (service_set_up(&self)) {
        r = sd_event_loop(self.event);
        if (r < 0) {
            qd_log(LOG_ERR, NULL, "the event loop failed: %s", g_strerror(-r));
            r = EXIT_FAILURE;
        }
    }

    service_clear(&self);
    return r;
}
