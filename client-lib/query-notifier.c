/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon's signal Changed as a GObject signal.
 *
 * Place: public object. The match follows the bus name. The last signals of a daemon that went away may be missing: when the
 * next one comes, all tables and graphs are reported as changed.
 */
#include "client-lib/query-notifier.h"

#include "client-lib/core/query-bus-watch.h"
#include "client-lib/core/query-mutex.h"
#include "client-lib/query-connection-private.h"

/* In a signal: all tables, all graphs. */
#define ALL_NAMES "*"

struct _QueryNotifier {
    GObject parent_instance;
    QueryConnection *connection;
    GStrv tables;         /* (nullable) */
    GStrv graphs;         /* (nullable) */
    GDBusConnection *bus; /* guarded by mutex, as the next two */
    guint changed_subscription;
    guint owner_subscription;
    QueryBusWatch *watch;
    gint daemon_left; /* only in the context of the signals */
    pthread_mutex_t mutex;
    guint64 generation; /* guarded by mutex */
};

enum { PROP_CONNECTION = 1, PROP_TABLES, PROP_GRAPHS, PROP_GENERATION, N_PROPS };

static GParamSpec *properties[N_PROPS];
static guint changed_signal;

G_DEFINE_TYPE(QueryNotifier, query_notifier, G_TYPE_OBJECT)

/* Under the mutex. */
static void
leave_bus(QueryNotifier *self)
{
    if (self->bus == NULL)
        return;
    g_dbus_connection_signal_unsubscribe(self->bus, self->changed_subscription);
    g_dbus_connection_signal_unsubscribe(self->bus, self->owner_subscription);
    g_clear_object(&self->bus);
}

static void
query_notifier_dispose(GObject *object)
{
    QueryNotifier *self = QUERY_NOTIFIER(object);

    query_bus_watch_end(g_steal_pointer(&self->watch));
    (void) pthread_mutex_lock(&self->mutex);
    leave_bus(self);
    (void) pthread_mutex_unlock(&self->mutex);
    g_clear_object(&self->connection);
    G_OBJECT_CLASS(query_notifier_parent_class)->dispose(object);
}

static void
query_notifier_finalize(GObject *object)
{
    QueryNotifier *self = QUERY_NOTIFIER(object);

    g_strfreev(self->tables);
    g_strfreev(self->graphs);
    (void) pthread_mutex_destroy(&self->mutex);
    G_OBJECT_CLASS(query_notifier_parent_class)->finalize(object);
}

static void
query_notifier_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    QueryNotifier *self = QUERY_NOTIFIER(object);

    if (id == PROP_CONNECTION)
        g_value_set_object(value, self->connection);
    else if (id == PROP_TABLES)
        g_value_set_boxed(value, self->tables);
    else if (id == PROP_GRAPHS)
        g_value_set_boxed(value, self->graphs);
    else if (id == PROP_GENERATION)
        g_value_set_uint64(value, query_notifier_get_generation(self));
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void
query_notifier_set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    if (id == PROP_GENERATION)
        query_notifier_set_generation(QUERY_NOTIFIER(object), g_value_get_uint64(value));
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void
query_notifier_class_init(QueryNotifierClass *klass)
{
    GObjectClass *object_class = G_OBJECT_CLASS(klass);
    const GParamFlags read_only = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

    object_class->dispose = query_notifier_dispose;
    object_class->finalize = query_notifier_finalize;
    object_class->get_property = query_notifier_get_property;
    object_class->set_property = query_notifier_set_property;

    /**
     * QueryNotifier:connection:
     *
     * Whose store it listens to.
     */
    properties[PROP_CONNECTION] = g_param_spec_object("connection", NULL, NULL, QUERY_TYPE_CONNECTION, read_only);
    /**
     * QueryNotifier:tables:
     *
     * The tables of interest.
     */
    properties[PROP_TABLES] = g_param_spec_boxed("tables", NULL, NULL, G_TYPE_STRV, read_only);
    /**
     * QueryNotifier:graphs:
     *
     * The graphs of interest.
     */
    properties[PROP_GRAPHS] = g_param_spec_boxed("graphs", NULL, NULL, G_TYPE_STRV, read_only);
    /**
     * QueryNotifier:generation:
     *
     * Changes up to it are not reported: query_notifier_set_generation().
     */
    properties[PROP_GENERATION] = g_param_spec_uint64("generation", NULL, NULL, 0, G_MAXUINT64, 0,
                                                      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY);
    g_object_class_install_properties(object_class, N_PROPS, properties);

    /**
     * QueryNotifier::changed:
     * @self: the notifier
     * @generation: of the last commit that is reported; 0 when the daemon was restarted and may have changed anything before
     * @tables: (array zero-terminated=1): that commits since the last signal have changed; "*" is all
     * @graphs: (array zero-terminated=1): IRIs, "" is the default graph, "*" is all
     *
     * A commit has changed a table or graph of interest; the names are all that were changed.
     */
    changed_signal = g_signal_new("changed", QUERY_TYPE_NOTIFIER, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 3,
                                  G_TYPE_UINT64, G_TYPE_STRV, G_TYPE_STRV);
}

static void
query_notifier_init(QueryNotifier *self)
{
    (void) pthread_mutex_init(&self->mutex, NULL);
}

/* Signals -------------------------------------------------------------------------------------------------------------- */

/* SQL does not tell the case of names apart; IRIs are compared as they are. */
static gboolean
meets(const char *const *interest, const char *const *changed, gboolean fold)
{
    for (; interest != NULL && *changed != NULL; changed++) {
        if (g_str_equal(*changed, ALL_NAMES))
            return interest[0] != NULL;
        for (const char *const *name = interest; *name != NULL; name++)
            if (fold ? g_ascii_strcasecmp(*name, *changed) == 0 : g_str_equal(*name, *changed))
                return TRUE;
    }
    return FALSE;
}

static gboolean
is_of_interest(QueryNotifier *self, guint64 generation, const char *const *tables, const char *const *graphs)
{
    if (generation != 0 && generation <= query_notifier_get_generation(self))
        return FALSE;

    return (self->tables == NULL && self->graphs == NULL) || meets((const char *const *) self->tables, tables, TRUE) ||
           meets((const char *const *) self->graphs, graphs, FALSE);
}

static void
on_changed(GDBusConnection *bus, const char *sender, const char *path, const char *interface, const char *signal,
           GVariant *arguments, gpointer user_data)
{
    g_autoptr(QueryNotifier) self = g_weak_ref_get(user_data);
    g_auto(GStrv) tables = NULL;
    g_auto(GStrv) graphs = NULL;
    guint64 generation = 0;

    if (self == NULL || !g_variant_is_of_type(arguments, G_VARIANT_TYPE("(tasas)")))
        return;

    g_variant_get(arguments, "(t^as^as)", &generation, &tables, &graphs);
    if (is_of_interest(self, generation, (const char *const *) tables, (const char *const *) graphs))
        g_signal_emit(self, changed_signal, 0, generation, tables, graphs);
}

/* Of the daemon that left the last signals may be missing. */
static void
tell_all(QueryNotifier *self)
{
    static const char *const all[] = { ALL_NAMES, NULL };

    if (!self->daemon_left)
        return;
    self->daemon_left = FALSE;
    if (is_of_interest(self, 0, all, all))
        g_signal_emit(self, changed_signal, 0, (guint64) 0, all, all);
}

static void
weak_ref_free(gpointer data)
{
    g_weak_ref_clear(data);
    g_free(data);
}

static GWeakRef *
weak_ref_new(QueryNotifier *self)
{
    GWeakRef *ref = g_new0(GWeakRef, 1);

    g_weak_ref_init(ref, self);
    return ref;
}

/* A daemon that cannot be asked has left again. */
static void
on_heard(GObject *bus, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(QueryNotifier) self = g_weak_ref_get(user_data);
    g_autoptr(GVariant) answer = g_dbus_connection_call_finish(G_DBUS_CONNECTION(bus), result, NULL);

    weak_ref_free(user_data);
    if (self != NULL)
        tell_all(self);
}

/* The daemon sends Changed to those that have asked it something; a new one has not been asked. */
static void
ask_to_hear(QueryNotifier *self, GDBusConnection *bus)
{
    g_dbus_connection_call(bus, query_bus_get_name(query_connection_get_bus(self->connection)), QUERY_BUS_OBJECT_PATH,
                           "org.freedesktop.DBus.Properties", "Get", g_variant_new("(ss)", QUERY_BUS_INTERFACE, "Generation"), NULL,
                           G_DBUS_CALL_FLAGS_NO_AUTO_START, -1, NULL, on_heard, weak_ref_new(self));
}

static void
on_owner_changed(GDBusConnection *bus, const char *sender, const char *path, const char *interface, const char *signal,
                 GVariant *arguments, gpointer user_data)
{
    g_autoptr(QueryNotifier) self = g_weak_ref_get(user_data);
    const char *old_owner;
    const char *new_owner;

    if (self == NULL)
        return;

    g_variant_get(arguments, "(&s&s&s)", NULL, &old_owner, &new_owner);
    if (old_owner[0] != '\0')
        self->daemon_left = TRUE;
    if (new_owner[0] != '\0')
        ask_to_hear(self, bus);
}

/* Under the mutex, in the context of the signals. */
static void
listen_to(QueryNotifier *self, GDBusConnection *bus)
{
    const char *name = query_bus_get_name(query_connection_get_bus(self->connection));

    self->bus = g_object_ref(bus);
    self->changed_subscription = g_dbus_connection_signal_subscribe(bus, name, QUERY_BUS_INTERFACE, "Changed",
                                                                    QUERY_BUS_OBJECT_PATH, NULL, G_DBUS_SIGNAL_FLAGS_NONE,
                                                                    on_changed, weak_ref_new(self), weak_ref_free);
    self->owner_subscription = g_dbus_connection_signal_subscribe(
        bus, "org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged", "/org/freedesktop/DBus", name,
        G_DBUS_SIGNAL_FLAGS_NONE, on_owner_changed, weak_ref_new(self), weak_ref_free);
}

static void
on_bus_come(GDBusConnection *bus, gpointer user_data)
{
    g_autoptr(QueryNotifier) self = g_weak_ref_get(user_data);

    if (self == NULL)
        return;
    self->daemon_left = TRUE;
    (void) pthread_mutex_lock(&self->mutex);
    leave_bus(self);
    listen_to(self, bus);
    (void) pthread_mutex_unlock(&self->mutex);
}

static void
on_daemon_there(gpointer user_data)
{
    g_autoptr(QueryNotifier) self = g_weak_ref_get(user_data);
    g_autoptr(GDBusConnection) bus = NULL;

    if (self == NULL)
        return;
    (void) pthread_mutex_lock(&self->mutex);
    g_set_object(&bus, self->bus);
    (void) pthread_mutex_unlock(&self->mutex);
    if (bus != NULL)
        ask_to_hear(self, bus);
}

/* Construction --------------------------------------------------------------------------------------------------------- */

/* In the thread of the caller: its main context is where signals come. */
static QueryNotifier *
listen_for(QueryConnection *connection, const char *const *tables, const char *const *graphs, GCancellable *cancellable,
           GError **error)
{
    const QueryBusWatchFuncs watch_funcs = { .come = on_bus_come, .owned = on_daemon_there };
    QueryBus *bus = query_connection_get_bus(connection);
    g_autoptr(GDBusConnection) dbus = query_bus_get_connection(bus, cancellable, error);
    QueryNotifier *self;

    if (dbus == NULL)
        return NULL;

    self = g_object_new(QUERY_TYPE_NOTIFIER, NULL);
    self->connection = g_object_ref(connection);
    self->tables = g_strdupv((GStrv) tables);
    self->graphs = g_strdupv((GStrv) graphs);
    listen_to(self, dbus);
    self->watch = query_bus_watch_new(G_OBJECT(connection), bus, dbus, &watch_funcs, weak_ref_new(self), weak_ref_free);
    return self;
}

/* The answer comes after the bus has taken the matches. */
static gboolean
confirm(QueryNotifier *self, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant) generation = query_connection_get_daemon_property(self->connection, "Generation", cancellable, error);

    return generation != NULL;
}

QueryNotifier *
query_connection_create_notifier(QueryConnection *self, const char *const *tables, const char *const *graphs,
                                 GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryNotifier) notifier = NULL;

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), NULL);

    notifier = listen_for(self, tables, graphs, cancellable, error);
    return notifier != NULL && confirm(notifier, cancellable, error) ? g_steal_pointer(&notifier) : NULL;
}

static void
confirm_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    GError *error = NULL;

    if (confirm(task_data, cancellable, &error))
        g_task_return_pointer(task, g_object_ref(task_data), g_object_unref);
    else
        g_task_return_error(task, error);
}

void
query_connection_create_notifier_async(QueryConnection *self, const char *const *tables, const char *const *graphs,
                                       GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = NULL;
    GError *error = NULL;
    QueryNotifier *notifier;

    g_return_if_fail(QUERY_IS_CONNECTION(self));

    task = g_task_new(self, cancellable, callback, user_data);
    g_task_set_source_tag(task, query_connection_create_notifier_async);
    notifier = listen_for(self, tables, graphs, cancellable, &error);
    if (notifier == NULL) {
        g_task_return_error(task, error);
        return;
    }
    g_task_set_task_data(task, notifier, g_object_unref);
    g_task_run_in_thread(task, confirm_in_thread);
}

QueryNotifier *
query_connection_create_notifier_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}

guint64
query_notifier_get_generation(QueryNotifier *self)
{
    guint64 generation;

    g_return_val_if_fail(QUERY_IS_NOTIFIER(self), 0);

    (void) pthread_mutex_lock(&self->mutex);
    generation = self->generation;
    (void) pthread_mutex_unlock(&self->mutex);
    return generation;
}

void
query_notifier_set_generation(QueryNotifier *self, guint64 generation)
{
    g_return_if_fail(QUERY_IS_NOTIFIER(self));

    (void) pthread_mutex_lock(&self->mutex);
    self->generation = generation;
    (void) pthread_mutex_unlock(&self->mutex);
    g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_GENERATION]);
}
