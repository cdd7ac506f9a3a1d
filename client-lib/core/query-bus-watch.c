/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GDBusConnection::closed comes in the main context in which the connection was made. The thread of that context may not run
 * it. So the socket itself is watched for its hang-up, by a descriptor of our own: GDBus closes its own when it sees it.
 */
#include "client-lib/core/query-bus-watch.h"

#include <fcntl.h>
#include <glib-unix.h>
#include <unistd.h>

#include "client-lib/core/query-mutex.h"

#define RETRY_MSEC 500
#define RETRY_MAX_MSEC 32000

struct QueryBusWatch {
    gatomicrefcount refs;
    GWeakRef owner;
    QueryBus *bus; /* as long as the owner */
    char *name;    /* the daemon's */
    QueryBusWatchFuncs funcs;
    gpointer user_data;
    GDestroyNotify destroy;
    GMainContext *context;
    pthread_mutex_t mutex;
    GSource *source; /* (nullable): the socket, or the next try; guarded by mutex */
    gboolean ended;  /* guarded by mutex */
    guint retry_msec;
};

static void
watch_unref(gpointer data)
{
    QueryBusWatch *self = data;

    if (!g_atomic_ref_count_dec(&self->refs))
        return;
    if (self->destroy != NULL)
        self->destroy(self->user_data);
    g_weak_ref_clear(&self->owner);
    g_main_context_unref(self->context);
    (void) pthread_mutex_destroy(&self->mutex);
    g_free(self->name);
    g_free(self);
}

static QueryBusWatch *
watch_ref(QueryBusWatch *self)
{
    g_atomic_ref_count_inc(&self->refs);
    return self;
}

/* @source: (transfer full): in the place of the last one. */
static void
wait_for_source(QueryBusWatch *self, GSource *source)
{
    g_autoptr(GSource) last = NULL;

    (void) pthread_mutex_lock(&self->mutex);
    last = g_steal_pointer(&self->source);
    if (!self->ended) {
        self->source = g_source_ref(source);
        g_source_attach(source, self->context);
    }
    (void) pthread_mutex_unlock(&self->mutex);
    if (last != NULL)
        g_source_destroy(last);
    g_source_unref(source);
}

static gboolean
has_ended(QueryBusWatch *self)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);

    return self->ended;
}

/* The next bus ---------------------------------------------------------------------------------------------------------- */

static void connect_again(QueryBusWatch *self);
static void watch_socket(QueryBusWatch *self, GDBusConnection *bus);

static gboolean
on_retry(gpointer data)
{
    connect_again(data);
    return G_SOURCE_REMOVE;
}

static void
retry_later(QueryBusWatch *self)
{
    GSource *source = g_timeout_source_new(self->retry_msec);

    g_source_set_callback(source, on_retry, watch_ref(self), watch_unref);
    wait_for_source(self, source);
    self->retry_msec = MIN(2 * self->retry_msec, RETRY_MAX_MSEC);
}

static void
on_has_owner(GObject *source, GAsyncResult *result, gpointer user_data)
{
    QueryBusWatch *self = user_data;
    g_autoptr(GVariant) reply = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, NULL);
    gboolean has_owner = FALSE;

    if (reply != NULL)
        g_variant_get(reply, "(b)", &has_owner);
    if (has_owner && !has_ended(self))
        self->funcs.owned(self->user_data);
    watch_unref(self);
}

static void
on_connected(GObject *source, GAsyncResult *result, gpointer user_data)
{
    QueryBusWatch *self = user_data;
    g_autoptr(GDBusConnection) bus = g_task_propagate_pointer(G_TASK(result), NULL);

    if (bus == NULL && !has_ended(self)) {
        retry_later(self);
    } else if (bus != NULL && !has_ended(self)) {
        self->retry_msec = RETRY_MSEC;
        watch_socket(self, bus);
        g_main_context_push_thread_default(self->context);
        self->funcs.come(bus, self->user_data);
        g_dbus_connection_call(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
                               g_variant_new("(s)", self->name), G_VARIANT_TYPE("(b)"), G_DBUS_CALL_FLAGS_NONE, -1, NULL,
                               on_has_owner, watch_ref(self));
        g_main_context_pop_thread_default(self->context);
    }
    watch_unref(self);
}

static void
connect_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    GError *error = NULL;
    GDBusConnection *bus = query_bus_get_connection(task_data, cancellable, &error);

    if (bus != NULL)
        g_task_return_pointer(task, bus, g_object_unref);
    else
        g_task_return_error(task, error);
}

/* In the watch's context, and answered there. */
static void
connect_again(QueryBusWatch *self)
{
    g_autoptr(GObject) owner = g_weak_ref_get(&self->owner);
    g_autoptr(GTask) task = NULL;

    if (owner == NULL)
        return;
    g_main_context_push_thread_default(self->context);
    task = g_task_new(owner, NULL, on_connected, watch_ref(self)); /* keeps the owner, which keeps the bus */
    g_main_context_pop_thread_default(self->context);
    g_task_set_task_data(task, self->bus, NULL);
    g_task_run_in_thread(task, connect_in_thread);
}

/* The bus that is there ------------------------------------------------------------------------------------------------- */

typedef struct Socket {
    QueryBusWatch *watch; /* a reference */
    int fd;
} Socket;

static void
socket_free(gpointer data)
{
    Socket *self = data;

    (void) close(self->fd);
    watch_unref(self->watch);
    g_free(self);
}

static gboolean
on_hang_up(int fd, GIOCondition condition, gpointer data)
{
    connect_again(((Socket *) data)->watch);
    return G_SOURCE_REMOVE;
}

static void
watch_socket(QueryBusWatch *self, GDBusConnection *bus)
{
    GIOStream *stream = g_dbus_connection_get_stream(bus);
    int fd = -1;
    GSource *source;
    Socket *socket;

    if (G_IS_SOCKET_CONNECTION(stream))
        fd = fcntl(g_socket_get_fd(g_socket_connection_get_socket(G_SOCKET_CONNECTION(stream))), F_DUPFD_CLOEXEC, 0);
    if (fd < 0) { /* it is closed already */
        retry_later(self);
        return;
    }
    socket = g_new0(Socket, 1);
    *socket = (Socket){ .watch = watch_ref(self), .fd = fd };
    source = g_unix_fd_source_new(fd, G_IO_HUP);
    g_source_set_callback(source, G_SOURCE_FUNC(on_hang_up), socket, socket_free);
    wait_for_source(self, source);
}

QueryBusWatch *
query_bus_watch_new(GObject *owner, QueryBus *bus, GDBusConnection *dbus, const QueryBusWatchFuncs *funcs, gpointer user_data,
                    GDestroyNotify destroy)
{
    QueryBusWatch *self = g_new0(QueryBusWatch, 1);

    g_atomic_ref_count_init(&self->refs);
    g_weak_ref_init(&self->owner, owner);
    self->bus = bus;
    self->name = g_strdup(query_bus_get_name(bus));
    self->funcs = *funcs;
    self->user_data = user_data;
    self->destroy = destroy;
    self->context = g_main_context_ref_thread_default();
    self->retry_msec = RETRY_MSEC;
    (void) pthread_mutex_init(&self->mutex, NULL);
    watch_socket(self, dbus);
    return self;
}

void
query_bus_watch_end(QueryBusWatch *self)
{
    g_autoptr(GSource) source = NULL;

    if (self == NULL)
        return;
    (void) pthread_mutex_lock(&self->mutex);
    self->ended = TRUE;
    source = g_steal_pointer(&self->source);
    (void) pthread_mutex_unlock(&self->mutex);
    if (source != NULL)
        g_source_destroy(source);
    watch_unref(self);
}
