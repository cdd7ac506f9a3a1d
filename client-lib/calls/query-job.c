/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Jobs: import, backup and restore, waited for.
 *
 * Place: methods of QueryConnection. The signal Finished only wakes; what happened is read from the job's properties, which
 * a finished job keeps for a minute. So an end that came before we listened is not missed, and a forged signal means nothing.
 * The wait runs in a main context of its own: no main loop is needed, and no source of the caller is dispatched.
 * Invariant: when the call returns, the job has ended, or the daemon is gone. A daemon that does not answer ends it when it
 * hears of the closed connection.
 */
#include "client-lib/core/query-cancel-source.h"
#include "client-lib/core/query-error.h"
#include "client-lib/query-connection-private.h"

#define PROGRESS_INTERVAL_MSEC 100
/* Without progress: only to notice that the bus itself is gone. */
#define ALIVE_INTERVAL_MSEC 1000

typedef struct Job {
    QueryBus *bus;
    GDBusConnection *connection;
    GMainContext *context;
    char *path;
    gboolean is_woken; /* something happened: look at the properties */
    gboolean is_orphaned;
    guint finished_subscription;
    guint owner_subscription;
    GSource *timer;
    QueryProgressFunc progress;
    gpointer user_data;
} Job;

static void
on_finished(GDBusConnection *connection, const char *sender, const char *path, const char *interface, const char *signal,
            GVariant *parameters, gpointer user_data)
{
    ((Job *) user_data)->is_woken = TRUE;
}

static void
on_owner_changed(GDBusConnection *connection, const char *sender, const char *path, const char *interface, const char *signal,
                 GVariant *parameters, gpointer user_data)
{
    Job *self = user_data;
    const char *old_owner;

    g_variant_get(parameters, "(&s&s&s)", NULL, &old_owner, NULL);
    if (old_owner[0] != '\0')
        self->is_orphaned = TRUE; /* jobs live and die with their daemon */
}

static gboolean
on_timer(gpointer user_data)
{
    Job *self = user_data;

    self->is_woken = self->progress != NULL || g_dbus_connection_is_closed(self->connection);
    return G_SOURCE_CONTINUE;
}

static Job *
job_new(QueryBus *bus, QueryProgressFunc progress, gpointer user_data, GCancellable *cancellable, GError **error)
{
    g_autoptr(GDBusConnection) connection = query_bus_get_connection(bus, cancellable, error);
    Job *self;

    if (connection == NULL)
        return NULL;

    self = g_new0(Job, 1);
    self->bus = bus;
    self->connection = g_steal_pointer(&connection);
    self->progress = progress;
    self->user_data = user_data;
    self->context = g_main_context_new();
    g_main_context_push_thread_default(self->context);
    self->finished_subscription = g_dbus_connection_signal_subscribe(self->connection, query_bus_get_name(bus),
                                                                     QUERY_BUS_JOB_INTERFACE, "Finished", NULL, NULL,
                                                                     G_DBUS_SIGNAL_FLAGS_NONE, on_finished, self, NULL);
    self->owner_subscription = g_dbus_connection_signal_subscribe(
        self->connection, "org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged", "/org/freedesktop/DBus",
        query_bus_get_name(bus), G_DBUS_SIGNAL_FLAGS_NONE, on_owner_changed, self, NULL);
    self->timer = g_timeout_source_new(progress != NULL ? PROGRESS_INTERVAL_MSEC : ALIVE_INTERVAL_MSEC);
    g_source_set_callback(self->timer, on_timer, self, NULL);
    g_source_attach(self->timer, self->context);
    return self;
}

/* Same thread as job_new(). */
static void
job_free(Job *self)
{
    if (self == NULL)
        return;

    g_dbus_connection_signal_unsubscribe(self->connection, self->finished_subscription);
    g_dbus_connection_signal_unsubscribe(self->connection, self->owner_subscription);
    g_source_destroy(self->timer);
    g_source_unref(self->timer);
    while (g_main_context_iteration(self->context, FALSE))
        ; /* GDBus frees subscriptions from here */
    g_main_context_pop_thread_default(self->context);
    g_main_context_unref(self->context);
    g_object_unref(self->connection);
    g_free(self->path);
    g_free(self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Job, job_free)

/* A cancelled start has a path, too: job_wait() then cancels the job. */
static gboolean
job_start(Job *self, const QueryBusCall *call, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant) reply = query_bus_call(self->bus, call, NULL, cancellable, error);

    if (reply == NULL)
        return FALSE;

    g_variant_get(reply, "(o)", &self->path);
    while (g_main_context_iteration(self->context, FALSE))
        ; /* what came before the answer is about an earlier daemon */
    self->is_orphaned = FALSE;
    self->is_woken = TRUE;
    return TRUE;
}

static GVariant *
job_read(Job *self, GError **error)
{
    g_autoptr(GVariant) reply = NULL;

    reply = query_bus_call(self->bus,
                           &(QueryBusCall){ .path = self->path,
                                            .interface = QUERY_BUS_PROPERTIES_INTERFACE,
                                            .method = "GetAll",
                                            .arguments = g_variant_new("(s)", QUERY_BUS_JOB_INTERFACE),
                                            .reply_type = "(a{sv})",
                                            .timeout_msec = QUERY_BUS_CALL_TIMEOUT_MSEC,
                                            .fd = -1 },
                           NULL, NULL, error);
    return reply != NULL ? g_variant_get_child_value(reply, 0) : NULL;
}

static void
job_cancel(Job *self)
{
    g_autoptr(GVariant) reply G_GNUC_UNUSED = query_bus_call(self->bus,
                                                             &(QueryBusCall){ .path = self->path,
                                                                              .interface = QUERY_BUS_JOB_INTERFACE,
                                                                              .method = "Cancel",
                                                                              .reply_type = "()",
                                                                              .timeout_msec = QUERY_BUS_CALL_TIMEOUT_MSEC,
                                                                              .fd = -1 },
                                                             NULL, NULL, NULL);
    self->is_woken = TRUE;
}

static void
job_report(Job *self, GVariant *properties)
{
    guint64 rows_done = 0;
    guint64 bytes_done = 0;
    guint64 bytes_total = 0;

    if (self->progress == NULL)
        return;

    g_variant_lookup(properties, "RowsDone", "t", &rows_done);
    g_variant_lookup(properties, "BytesDone", "t", &bytes_done);
    g_variant_lookup(properties, "BytesTotal", "t", &bytes_total);
    self->progress(rows_done, bytes_done, bytes_total, self->user_data);
}

/* TRUE when the job has ended, well or not; *ret_ok and @error say how. */
static gboolean
judge(GVariant *properties, gboolean *ret_ok, GError **error)
{
    const char *state = "";
    const char *name = "";
    const char *message = "";

    g_variant_lookup(properties, "State", "&s", &state);
    *ret_ok = g_str_equal(state, "finished");
    if (*ret_ok)
        return TRUE;
    if (!g_str_equal(state, "failed") && !g_str_equal(state, "cancelled"))
        return FALSE;

    g_variant_lookup(properties, "ErrorName", "&s", &name);
    g_variant_lookup(properties, "ErrorMessage", "&s", &message);
    if (g_str_equal(state, "cancelled"))
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_CANCELLED, "%s", message[0] != '\0' ? message : "the job was cancelled");
    else
        query_error_set_named(error, name, message);
    return TRUE;
}

/* Returns: (transfer full): the properties of the finished job; NULL when it failed, or they are not known */
static GVariant *
job_wait(Job *self, GCancellable *cancellable, GError **error)
{
    g_autoptr(GSource) cancel_source = query_cancel_source_new(cancellable);
    g_autoptr(GVariant) properties = NULL;
    gboolean is_cancelling = FALSE;
    gboolean ok = FALSE;

    g_source_attach(cancel_source, self->context);
    for (;;) {
        if (self->is_orphaned) {
            g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED, "the daemon went away before the job had ended");
            break;
        }
        if (self->is_woken) {
            self->is_woken = FALSE;
            g_clear_pointer(&properties, g_variant_unref);
            properties = job_read(self, error);
            if (properties == NULL)
                break;
            job_report(self, properties);
            if (judge(properties, &ok, is_cancelling ? NULL : error)) {
                if (!ok && is_cancelling)
                    (void) g_cancellable_set_error_if_cancelled(cancellable, error);
                break;
            }
        }
        if (!is_cancelling && g_cancellable_is_cancelled(cancellable)) {
            is_cancelling = TRUE;
            g_source_destroy(cancel_source);
            job_cancel(self);
            continue;
        }
        g_main_context_iteration(self->context, TRUE);
    }
    g_source_destroy(cancel_source);
    return ok ? g_steal_pointer(&properties) : NULL;
}

/* Returns: (transfer full): as job_wait() */
static GVariant *
run_job(QueryConnection *self, const QueryBusCall *call, QueryProgressFunc progress, gpointer user_data, GCancellable *cancellable,
        GError **error)
{
    g_autoptr(GVariant) arguments G_GNUC_UNUSED = g_variant_ref_sink(call->arguments);
    g_autoptr(Job) job = job_new(query_connection_get_bus(self), progress, user_data, cancellable, error);

    if (job == NULL || !job_start(job, call, cancellable, error))
        return NULL;

    return job_wait(job, cancellable, error);
}

/* Import and Dump: a descriptor, a format, options. */
static gboolean
transfer(QueryConnection *self, const char *method, int fd, const char *format, GVariant *options, QueryProgressFunc progress,
         gpointer user_data, guint64 *n_done, GCancellable *cancellable, GError **error)
{
    QueryBusCall call = { .interface = QUERY_BUS_INTERFACE,
                          .method = method,
                          .reply_type = "(o)",
                          .timeout_msec = QUERY_BUS_CALL_TIMEOUT_MSEC,
                          .fd = fd,
                          .end = QUERY_BUS_END_OBJECT };
    g_autoptr(GVariant) properties = NULL;

    if (options == NULL)
        options = g_variant_new("a{sv}", NULL);
    call.arguments = g_variant_new("(hs@a{sv})", 0, format, options);
    properties = run_job(self, &call, progress, user_data, cancellable, error);
    if (properties != NULL && n_done != NULL)
        g_variant_lookup(properties, "RowsDone", "t", n_done);
    return properties != NULL;
}

gboolean
query_connection_import(QueryConnection *self, int fd, const char *format, GVariant *options, QueryProgressFunc progress,
                        gpointer user_data, guint64 *n_rows, GCancellable *cancellable, GError **error)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);
    g_return_val_if_fail(fd >= 0, FALSE);
    g_return_val_if_fail(format != NULL, FALSE);
    g_return_val_if_fail(options == NULL || g_variant_is_of_type(options, G_VARIANT_TYPE_VARDICT), FALSE);

    if (transfer(self, "Import", fd, format, options, progress, user_data, n_rows, cancellable, error))
        return TRUE;
    query_error_tell_unknown(error);
    return FALSE;
}

gboolean
query_connection_dump(QueryConnection *self, int fd, const char *format, GVariant *options, QueryProgressFunc progress,
                      gpointer user_data, guint64 *n_quads, GCancellable *cancellable, GError **error)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);
    g_return_val_if_fail(fd >= 0, FALSE);
    g_return_val_if_fail(format != NULL, FALSE);
    g_return_val_if_fail(options == NULL || g_variant_is_of_type(options, G_VARIANT_TYPE_VARDICT), FALSE);

    return transfer(self, "Dump", fd, format, options, progress, user_data, n_quads, cancellable, error);
}

gboolean
query_connection_backup(QueryConnection *self, int fd, QueryProgressFunc progress, gpointer user_data, GCancellable *cancellable,
                        GError **error)
{
    QueryBusCall call = { .interface = QUERY_BUS_MANAGER_INTERFACE,
                          .method = "Backup",
                          .reply_type = "(o)",
                          .timeout_msec = QUERY_BUS_CALL_TIMEOUT_MSEC,
                          .fd = fd,
                          .end = QUERY_BUS_END_OBJECT };
    g_autoptr(GVariant) properties = NULL;

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);
    g_return_val_if_fail(fd >= 0, FALSE);

    call.arguments = g_variant_new("(ha{sv})", 0, NULL);
    properties = run_job(self, &call, progress, user_data, cancellable, error);
    return properties != NULL;
}

gboolean
query_connection_restore(QueryConnection *self, int fd, gboolean check_only, QueryProgressFunc progress, gpointer user_data,
                         GCancellable *cancellable, GError **error)
{
    return query_connection_restore_full(self, fd, check_only, progress, user_data, NULL, cancellable, error);
}

gboolean
query_connection_restore_full(QueryConnection *self, int fd, gboolean check_only, QueryProgressFunc progress, gpointer user_data,
                              char ***messages, GCancellable *cancellable, GError **error)
{
    GVariantBuilder options = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);
    QueryBusCall call = { .interface = QUERY_BUS_MANAGER_INTERFACE,
                          .method = "Restore",
                          .reply_type = "(o)",
                          .timeout_msec = QUERY_BUS_CALL_TIMEOUT_MSEC,
                          .fd = fd,
                          .end = QUERY_BUS_END_OBJECT };
    g_autoptr(GVariant) properties = NULL;

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);
    g_return_val_if_fail(fd >= 0, FALSE);

    if (check_only)
        g_variant_builder_add(&options, "{sv}", "check_only", g_variant_new_boolean(TRUE));
    call.arguments = g_variant_new("(ha{sv})", 0, &options);
    properties = run_job(self, &call, progress, user_data, cancellable, error);
    if (properties == NULL)
        return FALSE;

    if (messages != NULL && !g_variant_lookup(properties, "Messages", "^as", messages))
        *messages = g_new0(char *, 1); /* a daemon that has none */
    return TRUE;
}
