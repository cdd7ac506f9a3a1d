/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Nothing is waited for. The bus is asked whether the store's daemon is there, then systemd is asked to start its unit. Where
 * systemd does not run the session, the daemon is started from here. The answer is its bus name, which it takes a moment later.
 */
#include "daemon/bus/bus-store.h"

#include <errno.h>

#include "daemon/base/access.h"
#include "daemon/base/error.h"
#include "daemon/base/log.h"
#include "daemon/bus/bus-call.h"
#include "daemon/bus/bus-error.h"
#include "daemon/bus/bus-private.h"

#define SYSTEMD "org.freedesktop.systemd1"
#define SELF "/proc/self/exe"

typedef struct Opening {
    sd_bus *bus;
    sd_bus_message *message;
    char *store; /* "app.ID" */
} Opening;

static void
opening_free(Opening *self)
{
    sd_bus_message_unref(self->message);
    sd_bus_unref(self->bus);
    g_free(self->store);
    g_free(self);
}

static void
opening_end(Opening *self)
{
    g_autofree char *name = g_strconcat(QD_BUS_INTERFACE ".", self->store, NULL);

    (void) qd_bus_note_sent(self->message, sd_bus_reply_method_return(self->message, "s", name));
    opening_free(self);
}

static void
opening_fail(Opening *self, const char *reason)
{
    g_autoptr(GError) error = NULL;

    qd_error_set(&error, QW_ERROR_INTERNAL, "cannot start the daemon of the store '%s': %s", self->store, reason);
    qd_log(LOG_WARNING, NULL, "%s", error->message);
    qd_bus_reply_error(self->message, error);
    opening_free(self);
}

/* A second one for the same store leaves by itself: the name is taken. */
static void
start_here(Opening *self)
{
    char *const arguments[] = { (char *) SELF, (char *) "queryd", (char *) "--store", self->store, NULL };
    g_auto(GStrv) environment = g_environ_unsetenv(g_get_environ(), "NOTIFY_SOCKET");
    g_autoptr(GError) error = NULL;

    if (g_spawn_async(NULL, (char **) arguments, environment,
                      G_SPAWN_FILE_AND_ARGV_ZERO | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_LEAVE_DESCRIPTORS_OPEN, NULL, NULL, NULL,
                      &error))
        opening_end(self);
    else
        opening_fail(self, error->message);
}

static int
on_started(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    const sd_bus_error *failure = sd_bus_message_get_error(message);

    if (failure == NULL)
        opening_end(user_data);
    else if (g_str_has_prefix(failure->name, SYSTEMD "."))
        opening_fail(user_data, failure->message);
    else
        start_here(user_data);
    return 1;
}

static int
ask_systemd(Opening *self)
{
    g_autofree char *unit = g_strdup_printf("queryd@%s.service", self->store);
    sd_bus_message *call = NULL;
    int r;

    r = sd_bus_message_new_method_call(self->bus, &call, SYSTEMD, "/org/freedesktop/systemd1", SYSTEMD ".Manager", "StartUnit");
    if (r >= 0)
        r = sd_bus_message_set_auto_start(call, FALSE);
    if (r >= 0)
        r = sd_bus_message_append(call, "ss", unit, "replace");
    if (r >= 0)
        r = sd_bus_call_async(self->bus, NULL, call, on_started, self, 0);
    sd_bus_message_unref(call);
    return r;
}

static int
on_has_owner(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    Opening *self = user_data;
    int has_owner = FALSE;

    if (!sd_bus_message_is_method_error(message, NULL) && sd_bus_message_read_basic(message, 'b', &has_owner) > 0 && has_owner)
        opening_end(self);
    else if (ask_systemd(self) < 0)
        opening_fail(self, "the bus takes no call");
    return 1;
}

static void
act_open(QdBusService *service, sd_bus_message *message, const QdPeer *peer)
{
    const char *application = qd_peer_get_application(peer);
    Opening *self = g_new0(Opening, 1);
    g_autofree char *name = NULL;

    self->bus = sd_bus_ref(service->bus);
    self->message = sd_bus_message_ref(message);
    self->store = g_strconcat(QD_ACCESS_OWN_STORE_PREFIX, application, NULL);
    name = g_strconcat(QD_BUS_INTERFACE ".", self->store, NULL);
    if (sd_bus_call_method_async(self->bus, NULL, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                 "NameHasOwner", on_has_owner, self, "s", name) < 0)
        opening_fail(self, "the bus takes no call");
}

int
qd_bus_store_handle_open(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    return qd_bus_call_act_for_application(userdata, message, act_open);
}
