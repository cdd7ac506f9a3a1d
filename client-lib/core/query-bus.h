/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls to one queryd over the session bus: find it, start it, call it.
 *
 * Place: internal to libquery-client. The connection to the bus is private to this object. So it neither ends the application
 * when the bus goes away nor depends on the application's main loop. It is made again when it was closed.
 * Invariant: a daemon that cannot be started is reported after at most QUERY_BUS_START_TIMEOUT_MSEC.
 */
#pragma once

#include <gio/gio.h>
#include <gio/gunixfdlist.h>

#define QUERY_BUS_START_TIMEOUT_MSEC 5000
#define QUERY_BUS_CALL_TIMEOUT_MSEC 30000
#define QUERY_BUS_OBJECT_PATH "/org/queryd/Query1"
#define QUERY_BUS_INTERFACE "org.queryd.Query1"
#define QUERY_BUS_MANAGER_INTERFACE "org.queryd.Query1.Manager"
#define QUERY_BUS_JOB_INTERFACE "org.queryd.Query1.Job"
#define QUERY_BUS_SUBSCRIPTION_INTERFACE "org.queryd.Query1.Subscription"
#define QUERY_BUS_PROPERTIES_INTERFACE "org.freedesktop.DBus.Properties"

typedef struct QueryBus QueryBus;

/* What becomes of a call that is cancelled. */
typedef enum QueryBusEnd {
    QUERY_BUS_END_FORGET, /* its reply is not waited for: it changes nothing, or a descriptor that hangs up ends it */
    QUERY_BUS_END_CALL,   /* the daemon ends it, which is waited for */
    QUERY_BUS_END_OBJECT, /* the same, but the reply is returned: the caller ends what the call has made */
} QueryBusEnd;

typedef struct QueryBusCall {
    const char *path; /* NULL: the main object */
    const char *interface;
    const char *method;
    GVariant *arguments;    /* (nullable): floating is consumed */
    const char *reply_type; /* a tuple */
    int timeout_msec;       /* G_MAXINT: none */
    gboolean has_deadline;  /* of the daemon's own, before the timeout: with no answer it is stopped, or hangs */
    int fd;                 /* borrowed, sent as handle 0; -1: none */
    QueryBusEnd end;
} QueryBusCall;

/**
 * query_bus_new:
 * @store: (nullable): name of a store; NULL is the default one
 *
 * Does not connect yet.
 *
 * Returns: (transfer full): a new object; usable from any thread
 */
QueryBus *query_bus_new(const char *store);
void query_bus_free(QueryBus *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryBus, query_bus_free)

const char *query_bus_get_name(const QueryBus *self);

/* Calls made so far; for tests of what goes without the bus. */
guint query_bus_get_n_calls(QueryBus *self);

/**
 * query_bus_get_connection:
 * @self: (nullable): NULL on a direct connection
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Errors: UNAVAILABLE, G_IO_ERROR_CANCELLED; UNSUPPORTED without @self, which so fails every call.
 *
 * Returns: (transfer full) (nullable): an open connection to the session bus
 */
GDBusConnection *query_bus_get_connection(QueryBus *self, GCancellable *cancellable, GError **error);

/**
 * query_bus_ask:
 * @connection: a connection to a bus
 * @method: of the interface org.freedesktop.DBus, which the bus itself has
 * @arguments: (nullable): floating is consumed
 * @reply_type: a tuple
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Calls and waits, for QUERY_BUS_START_TIMEOUT_MSEC at most.
 *
 * Returns: (transfer full) (nullable): the reply
 */
GVariant *query_bus_ask(GDBusConnection *connection, const char *method, GVariant *arguments, const char *reply_type,
                        GCancellable *cancellable, GError **error);

/**
 * query_bus_call:
 * @call: what to call
 * @ret_fds: (out) (optional) (nullable) (transfer full): descriptors of the reply
 * @cancellable: (nullable): a #GCancellable
 * @error: (nullable): location for an error
 *
 * Calls and waits, in the calling thread and without a main loop. Starts the daemon first when it does not run. Nothing is sent
 * if @cancellable is cancelled already. With QUERY_BUS_END_OBJECT, a reply that comes although it was cancelled is returned. A
 * reply that does not come in time ends the connection to the bus, and so all that the daemon does for it.
 *
 * Errors: those of the method, UNAVAILABLE, DISCONNECTED, TIMEOUT, G_IO_ERROR_CANCELLED.
 *
 * Returns: (transfer full) (nullable): the reply
 */
GVariant *query_bus_call(QueryBus *self, const QueryBusCall *call, GUnixFDList **ret_fds, GCancellable *cancellable,
                         GError **error);

/**
 * query_bus_check_descriptors:
 * @fds: (nullable): the descriptors of a reply
 * @n: how many there should be
 * @method: the reply's method, for the message
 * @error: (nullable): location for an error
 *
 * Errors: LIMIT_EXCEEDED where this process has no free descriptor, since the kernel drops those of a message then; PROTOCOL.
 *
 * Returns: whether there are so many
 */
gboolean query_bus_check_descriptors(GUnixFDList *fds, guint n, const char *method, GError **error);

/**
 * query_bus_take_descriptor:
 * @fds: (nullable): the descriptors of a reply
 * @handle: which of them, as the reply says; the daemon may have said anything
 * @method: the reply's method, for the message
 * @error: (nullable): location for an error
 *
 * Errors: as query_bus_check_descriptors().
 *
 * Returns: (transfer full): a descriptor, close-on-exec; or -1
 */
int query_bus_take_descriptor(GUnixFDList *fds, gint32 handle, const char *method, GError **error);
