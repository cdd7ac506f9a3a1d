/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The D-Bus side of the library: a private connection, activation with a time-out of our own, calls.
 *
 * Place: internal to libquery-client. Calls are made without auto-start. Only when the name has no owner is the service
 * started, by a call that ends after five seconds. An auto-started call would wait for as long as the bus allows, 25 seconds by
 * default, or its own time-out.
 * Invariant: the mutex guards `connection` and is never held while a call waits.
 */
#include "client-lib/core/query-bus.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>

#include "client-lib/core/query-error.h"
#include "client-lib/core/query-mutex.h"
#include "client-lib/core/query-process.h"
#include "client-lib/core/query-store-name.h"

#define POLL_USEC 10000          /* while the own store's daemon takes its name */
#define CANCEL_TIMEOUT_MSEC 5000 /* then the daemon is stuck */

struct QueryBus {
    char *name;
    gboolean is_own; /* the store of this sandboxed application, which has no activation file */
    pthread_mutex_t mutex;
    GDBusConnection *connection; /* guarded by mutex */
    gint n_calls;                /* atomic */
};

QueryBus *
query_bus_new(const char *store)
{
    QueryBus *self = g_new0(QueryBus, 1);
    g_autofree char *own = store == NULL ? query_store_name_find_own() : NULL;

    self->is_own = own != NULL;
    store = store != NULL ? store : own;
    self->name = store != NULL && !g_str_equal(store, "default") ? g_strdup_printf("%s.%s", QUERY_BUS_INTERFACE, store)
                                                                 : g_strdup(QUERY_BUS_INTERFACE);
    (void) pthread_mutex_init(&self->mutex, NULL);
    return self;
}

void
query_bus_free(QueryBus *self)
{
    if (self == NULL)
        return;

    g_clear_object(&self->connection);
    (void) pthread_mutex_destroy(&self->mutex);
    g_free(self->name);
    g_free(self);
}

const char *
query_bus_get_name(const QueryBus *self)
{
    return self->name;
}

guint
query_bus_get_n_calls(QueryBus *self)
{
    return (guint) g_atomic_int_get(&self->n_calls);
}

static GDBusConnection *
get_open_connection(QueryBus *self)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);

    if (self->connection != NULL && g_dbus_connection_is_closed(self->connection))
        g_clear_object(&self->connection);

    return self->connection != NULL ? g_object_ref(self->connection) : NULL;
}

/* Two threads may connect at once: the first one to finish wins, the other one's connection is dropped. */
static GDBusConnection *
keep_connection(QueryBus *self, GDBusConnection *connection)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);

    if (self->connection == NULL)
        self->connection = g_object_ref(connection);

    return g_object_ref(self->connection);
}

/* GDBus has one thread for all connections of a process, which a child of fork() has not: calls would wait for ever. */
static gboolean
check_process(GError **error)
{
    static gint first_n_forks = -1; /* atomic */

    (void) g_atomic_int_compare_and_exchange(&first_n_forks, -1, (gint) query_process_get_n_forks());
    return query_process_check((guint) g_atomic_int_get(&first_n_forks), error);
}

GDBusConnection *
query_bus_get_connection(QueryBus *self, GCancellable *cancellable, GError **error)
{
    g_autoptr(GDBusConnection) connection = self != NULL ? get_open_connection(self) : NULL;
    g_autoptr(GError) local_error = NULL;
    g_autofree char *address = NULL;

    if (!check_process(error))
        return NULL;
    if (connection != NULL)
        return g_steal_pointer(&connection);
    if (self == NULL) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_UNSUPPORTED,
                            "a direct or remote connection has no daemon to ask: use one of query_connection_new()");
        return NULL;
    }

    address = g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SESSION, cancellable, &local_error);
    if (address == NULL) {
        query_error_take_dbus(error, g_steal_pointer(&local_error), "cannot find the session bus");
        return NULL;
    }

    connection = g_dbus_connection_new_for_address_sync(
        address, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION, NULL, cancellable,
        &local_error);
    if (connection == NULL) {
        query_error_take_dbus(error, g_steal_pointer(&local_error), "cannot connect to the session bus");
        return NULL;
    }

    return keep_connection(self, connection);
}

/* What shows the messages of the daemon's unit. */
static char *
describe_journal(const QueryBus *self)
{
    const char *store = self->name + strlen(QUERY_BUS_INTERFACE); /* "" or ".STORE" */

    return g_strdup_printf("'journalctl --user -u queryd%s%s'", store[0] == '.' ? "@" : "", store[0] == '.' ? store + 1 : "");
}

/* A call that waits, and can be cancelled. */
typedef struct Wait {
    GDBusConnection *connection;
    const char *name;
    const QueryBusCall *call;
    GMainContext *context;
    GCancellable *cancel; /* the call's own */
    GAsyncResult *result; /* (nullable) */
    guint32 serial;
    gboolean is_asking; /* the daemon, to end the call */
} Wait;

static void
on_reply(GObject *source, GAsyncResult *result, gpointer user_data)
{
    ((Wait *) user_data)->result = g_object_ref(result);
}

/* The end of the call is waited for, unless the daemon does not answer. An older one does not know CancelCall. */
static void
on_cancel_call(GObject *source, GAsyncResult *result, gpointer user_data)
{
    Wait *self = user_data;
    g_autoptr(GError) error = NULL;
    g_autoptr(GVariant) reply = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, &error);

    self->is_asking = FALSE;
    if (reply == NULL && (self->call->end == QUERY_BUS_END_CALL || !g_dbus_error_is_remote_error(error)))
        g_cancellable_cancel(self->cancel);
}

static gboolean
cancel_call(gpointer data)
{
    Wait *self = data;

    if (self->result != NULL || self->is_asking)
        return G_SOURCE_REMOVE;
    if (self->call->end == QUERY_BUS_END_FORGET) {
        g_cancellable_cancel(self->cancel);
        return G_SOURCE_REMOVE;
    }
    self->is_asking = TRUE;
    g_dbus_connection_call(self->connection, self->name, QUERY_BUS_OBJECT_PATH, QUERY_BUS_INTERFACE, "CancelCall",
                           g_variant_new("(u)", self->serial), G_VARIANT_TYPE("()"), G_DBUS_CALL_FLAGS_NO_AUTO_START,
                           CANCEL_TIMEOUT_MSEC, NULL, on_cancel_call, self);
    return G_SOURCE_REMOVE;
}

/* In the thread that cancels. */
static void
on_cancelled(GCancellable *cancellable, gpointer data)
{
    Wait *self = data;
    g_autoptr(GSource) source = g_idle_source_new();

    g_source_set_priority(source, G_PRIORITY_DEFAULT);
    g_source_set_callback(source, cancel_call, self, NULL);
    (void) g_source_attach(source, self->context);
}

/* What the call makes, now or later, ends with the connection; the next call has another. */
static void
leave_bus(GDBusConnection *connection, const QueryBusCall *call, const GError *error)
{
    if (call->end == QUERY_BUS_END_OBJECT &&
        (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED) || g_error_matches(error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT)))
        (void) g_dbus_connection_close_sync(connection, NULL, NULL);
}

/*
 * A call of GLib's that is cancelled by another thread beside its reply leaves its context, with a descriptor. The context holds
 * the cancel's source, which holds the call, which holds the context. So a call is cancelled by the thread that waits for it, and
 * what comes of that is dispatched before the end.
 */
static GVariant *
wait_for_call(GDBusConnection *connection, const char *name, const QueryBusCall *call, GVariant *arguments, GDBusCallFlags flags,
              GUnixFDList *fds, GUnixFDList **ret_fds, GCancellable *cancellable, GError **error)
{
    g_autoptr(GMainContext) context = g_main_context_new();
    g_autoptr(GCancellable) cancel = cancellable != NULL ? g_cancellable_new() : NULL;
    Wait wait = { .connection = connection, .name = name, .call = call, .context = context, .cancel = cancel };
    g_autoptr(GError) failure = NULL;
    GVariant *reply;
    gulong handler;

    g_main_context_push_thread_default(context);
    g_dbus_connection_call_with_unix_fd_list(connection, name, call->path, call->interface, call->method, arguments,
                                             G_VARIANT_TYPE(call->reply_type), flags, call->timeout_msec, fds, cancel, on_reply,
                                             &wait);
    wait.serial = g_dbus_connection_get_last_serial(connection);
    handler = cancellable != NULL ? g_cancellable_connect(cancellable, G_CALLBACK(on_cancelled), &wait, NULL) : 0;
    while (wait.result == NULL || wait.is_asking)
        (void) g_main_context_iteration(context, TRUE);
    reply = g_dbus_connection_call_with_unix_fd_list_finish(connection, ret_fds, wait.result, &failure);
    g_cancellable_disconnect(cancellable, handler); /* waits for on_cancelled() */
    while (g_main_context_iteration(context, FALSE))
        ;
    g_object_unref(wait.result);
    g_main_context_pop_thread_default(context);
    if (reply != NULL)
        return reply;

    leave_bus(connection, call, failure);
    if (call->end == QUERY_BUS_END_FORGET || !g_cancellable_set_error_if_cancelled(cancellable, error))
        g_propagate_error(error, g_steal_pointer(&failure));
    return NULL;
}

GVariant *
query_bus_ask(GDBusConnection *connection, const char *method, GVariant *arguments, const char *reply_type,
              GCancellable *cancellable, GError **error)
{
    const QueryBusCall call = { .path = "/org/freedesktop/DBus",
                                .interface = "org.freedesktop.DBus",
                                .method = method,
                                .reply_type = reply_type,
                                .timeout_msec = QUERY_BUS_START_TIMEOUT_MSEC };

    return wait_for_call(connection, "org.freedesktop.DBus", &call, arguments, G_DBUS_CALL_FLAGS_NONE, NULL, NULL, cancellable,
                         error);
}

static gboolean
has_owner(QueryBus *self, GDBusConnection *connection, GCancellable *cancellable)
{
    g_autoptr(GVariant) reply = NULL;
    gboolean has_owner = FALSE;

    reply = query_bus_ask(connection, "NameHasOwner", g_variant_new("(s)", self->name), "(b)", cancellable, NULL);
    if (reply != NULL)
        g_variant_get(reply, "(b)", &has_owner);
    return has_owner;
}

/* By the daemon of the default store, which may do what nothing in a sandbox may: it starts the other one. */
static gboolean
open_own_store(QueryBus *self, GDBusConnection *connection, GCancellable *cancellable, GError **error)
{
    const QueryBusCall call = { .path = QUERY_BUS_OBJECT_PATH,
                                .interface = QUERY_BUS_INTERFACE,
                                .method = "OpenStore",
                                .reply_type = "(s)",
                                .timeout_msec = QUERY_BUS_START_TIMEOUT_MSEC };
    gint64 end_usec = g_get_monotonic_time() + QUERY_BUS_START_TIMEOUT_MSEC * (gint64) 1000;
    g_autoptr(GError) local_error = NULL;
    g_autoptr(GVariant) reply = NULL;

    reply = wait_for_call(connection, QUERY_BUS_INTERFACE, &call, NULL, G_DBUS_CALL_FLAGS_NONE, NULL, NULL, cancellable,
                          &local_error);
    if (reply == NULL) {
        query_error_take_dbus(error, g_steal_pointer(&local_error), "cannot open the store of this application");
        return FALSE;
    }
    while (!has_owner(self, connection, cancellable)) {
        if (g_cancellable_set_error_if_cancelled(cancellable, error))
            return FALSE;
        if (g_get_monotonic_time() > end_usec) {
            g_set_error(error, QUERY_ERROR, QUERY_ERROR_UNAVAILABLE, "'%s' did not start within %d s", self->name,
                        QUERY_BUS_START_TIMEOUT_MSEC / 1000);
            return FALSE;
        }
        g_usleep(POLL_USEC);
    }
    return TRUE;
}

static gboolean
start_service(QueryBus *self, GDBusConnection *connection, GCancellable *cancellable, GError **error)
{
    g_autoptr(GError) local_error = NULL;
    g_autoptr(GVariant) reply = NULL;
    g_autofree char *journal = describe_journal(self);
    gboolean is_known;

    reply = query_bus_ask(connection, "StartServiceByName", g_variant_new("(su)", self->name, 0), "(u)", cancellable, &local_error);
    if (reply != NULL)
        return TRUE;

    if (g_error_matches(local_error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
        g_propagate_error(error, g_steal_pointer(&local_error));
        return FALSE;
    }
    if (g_error_matches(local_error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT)) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_UNAVAILABLE, "'%s' did not start within %d s; %s may say why", self->name,
                    QUERY_BUS_START_TIMEOUT_MSEC / 1000, journal);
        return FALSE;
    }

    if (self->is_own)
        return open_own_store(self, connection, cancellable, error);

    /* Each such reason means that there is no daemon. A service that is not installed has no messages. */
    is_known = !g_error_matches(local_error, G_DBUS_ERROR, G_DBUS_ERROR_SERVICE_UNKNOWN);
    g_dbus_error_strip_remote_error(local_error);
    g_set_error(error, QUERY_ERROR, QUERY_ERROR_UNAVAILABLE, "cannot start '%s': %s%s%s%s", self->name, local_error->message,
                is_known ? "; " : "", is_known ? journal : "", is_known ? " may say why" : "");
    return FALSE;
}

static GVariant *
call_once(QueryBus *self, GDBusConnection *connection, const QueryBusCall *call, GVariant *arguments, GUnixFDList **ret_fds,
          GCancellable *cancellable, GError **error)
{
    g_autoptr(GUnixFDList) fds = NULL;
    QueryBusCall full = *call;

    if (call->fd >= 0) {
        fds = g_unix_fd_list_new();
        if (g_unix_fd_list_append(fds, call->fd, error) < 0)
            return NULL;
    }

    g_atomic_int_inc(&self->n_calls);
    if (full.path == NULL)
        full.path = QUERY_BUS_OBJECT_PATH;
    return wait_for_call(connection, self->name, &full, arguments, G_DBUS_CALL_FLAGS_NO_AUTO_START, fds, ret_fds, cancellable,
                         error);
}

static void
set_unanswered(const QueryBusCall *call, GError **error)
{
    if (call->has_deadline)
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED,
                    "the daemon has not answered %s within %.1f s: it may be stopped, or hang at its disk", call->method,
                    call->timeout_msec / 1000.0);
    else
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_TIMEOUT, "%s: no answer within %d s", call->method, call->timeout_msec / 1000);
}

GVariant *
query_bus_call(QueryBus *self, const QueryBusCall *call, GUnixFDList **ret_fds, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant) arguments = call->arguments != NULL ? g_variant_ref_sink(call->arguments) : NULL;
    g_autoptr(GDBusConnection) connection = query_bus_get_connection(self, cancellable, error);
    g_autoptr(GError) local_error = NULL;
    GVariant *reply;

    if (connection == NULL || g_cancellable_set_error_if_cancelled(cancellable, error))
        return NULL;

    reply = call_once(self, connection, call, arguments, ret_fds, cancellable, &local_error);
    if (reply == NULL && query_error_is_absent_service(local_error)) {
        g_clear_error(&local_error);
        if (!start_service(self, connection, cancellable, error))
            return NULL;
        reply = call_once(self, connection, call, arguments, ret_fds, cancellable, &local_error);
    }
    if (reply == NULL && g_error_matches(local_error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
        set_unanswered(call, error);
    else if (reply == NULL)
        query_error_take_dbus(error, g_steal_pointer(&local_error), call->method);

    return reply;
}

static gboolean
has_free_descriptor(void)
{
    int fd = open("/", O_PATH | O_CLOEXEC);
    int failure = errno;

    if (fd >= 0)
        (void) g_close(fd, NULL);
    return fd >= 0 || (failure != EMFILE && failure != ENFILE);
}

static void
set_no_descriptor(const char *method, GError **error)
{
    if (has_free_descriptor())
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "the daemon's answer to %s has no descriptor", method);
    else
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_LIMIT_EXCEEDED,
                    "this process has no free descriptor for the answer to %s: close some, or raise its limit (RLIMIT_NOFILE)",
                    method);
}

static guint
count_descriptors(GUnixFDList *fds)
{
    return fds != NULL ? (guint) g_unix_fd_list_get_length(fds) : 0;
}

gboolean
query_bus_check_descriptors(GUnixFDList *fds, guint n, const char *method, GError **error)
{
    if (count_descriptors(fds) == n)
        return TRUE;

    set_no_descriptor(method, error);
    return FALSE;
}

int
query_bus_take_descriptor(GUnixFDList *fds, gint32 handle, const char *method, GError **error)
{
    int fd = (guint) handle < count_descriptors(fds) ? g_unix_fd_list_get(fds, handle, NULL) : -1;

    if (fd < 0)
        set_no_descriptor(method, error);
    return fd;
}
