/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two matches on the bus, and a hash table of paths. Objects are reached through weak references, since any thread may drop one.
 */
#include "client-lib/core/query-hub.h"

#include "client-lib/core/query-bus-watch.h"
#include "client-lib/core/query-mutex.h"

struct QueryHubEntry {
    GWeakRef subscription;
    char *path; /* (nullable) */
};

struct QueryHub {
    char *name;           /* the daemon's */
    GDBusConnection *bus; /* guarded by mutex */
    QueryBusWatch *watch;
    gboolean is_new_bus; /* and it is not yet known whether the daemon is on it; only in the context */
    GMainContext *context;
    QueryHubFuncs funcs;
    guint stale_subscription;
    guint rows_subscription;
    guint owner_subscription;
    pthread_mutex_t mutex;
    GHashTable *entries; /* set of QueryHubEntry, owned */
    GHashTable *paths;   /* path → QueryHubEntry */
    guint n_users;       /* guarded by its owner */
};

static void
entry_free(gpointer data)
{
    QueryHubEntry *entry = data;

    g_weak_ref_clear(&entry->subscription);
    g_free(entry->path);
    g_free(entry);
}

/* (transfer full) (nullable) */
static GObject *
find(QueryHub *self, const char *path)
{
    QueryHubEntry *entry = g_hash_table_lookup(self->paths, path);

    return entry != NULL ? g_weak_ref_get(&entry->subscription) : NULL;
}

static void
on_rows(GDBusConnection *bus, const char *sender, const char *path, const char *interface, const char *signal, GVariant *arguments,
        gpointer user_data)
{
    QueryHub *self = user_data;
    g_autoptr(GVariantIter) iter = NULL;
    guint64 generation = 0;
    GVariant *tables;
    const char *name;

    if (!g_variant_is_of_type(arguments, G_VARIANT_TYPE("(ta(oa(sbasasa(sav))))")))
        return;

    g_variant_get(arguments, "(ta(oa(sbasasa(sav))))", &generation, &iter);
    while (g_variant_iter_next(iter, "(&o@a(sbasasa(sav)))", &name, &tables)) {
        g_autoptr(GVariant) owned = tables;
        g_autoptr(GObject) subscription = NULL;

        (void) pthread_mutex_lock(&self->mutex);
        subscription = find(self, name);
        (void) pthread_mutex_unlock(&self->mutex);
        if (subscription != NULL)
            self->funcs.tell_rows(subscription, generation, owned);
    }
}

static void
on_stale(GDBusConnection *bus, const char *sender, const char *path, const char *interface, const char *signal, GVariant *arguments,
         gpointer user_data)
{
    QueryHub *self = user_data;
    g_autoptr(GPtrArray) told = g_ptr_array_new_with_free_func(g_object_unref);
    g_autoptr(GVariantIter) iter = NULL;
    const char *name;
    guint64 generation = 0;

    if (!g_variant_is_of_type(arguments, G_VARIANT_TYPE("(tao)")))
        return;

    g_variant_get(arguments, "(tao)", &generation, &iter);
    (void) pthread_mutex_lock(&self->mutex);
    while (g_variant_iter_next(iter, "&o", &name)) {
        GObject *subscription = find(self, name);

        if (subscription != NULL)
            g_ptr_array_add(told, subscription);
    }
    (void) pthread_mutex_unlock(&self->mutex);
    for (guint i = 0; i < told->len; i++)
        self->funcs.tell(told->pdata[i], generation);
}

/* Paths mean nothing to the next daemon. Returns: (transfer full): the objects without one */
static GPtrArray *
list_lost(QueryHub *self, gboolean forget_paths)
{
    GPtrArray *lost = g_ptr_array_new_with_free_func(g_object_unref);
    GHashTableIter iter;
    gpointer key;

    (void) pthread_mutex_lock(&self->mutex);
    if (forget_paths)
        g_hash_table_remove_all(self->paths);
    g_hash_table_iter_init(&iter, self->entries);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        QueryHubEntry *entry = key;
        GObject *subscription;

        if (forget_paths)
            g_clear_pointer(&entry->path, g_free);
        subscription = entry->path == NULL ? g_weak_ref_get(&entry->subscription) : NULL;
        if (subscription != NULL)
            g_ptr_array_add(lost, subscription);
    }
    (void) pthread_mutex_unlock(&self->mutex);
    return lost;
}

static void
renew_lost(QueryHub *self, gboolean forget_paths, gboolean has_owner)
{
    g_autoptr(GPtrArray) lost = list_lost(self, forget_paths);

    for (guint i = 0; has_owner && i < lost->len; i++)
        self->funcs.renew(lost->pdata[i]);
}

static void
on_owner_changed(GDBusConnection *bus, const char *sender, const char *path, const char *interface, const char *signal,
                 GVariant *arguments, gpointer user_data)
{
    QueryHub *self = user_data;
    const char *old_owner;
    const char *new_owner;

    g_variant_get(arguments, "(&s&s&s)", NULL, &old_owner, &new_owner);
    self->is_new_bus = FALSE;
    renew_lost(self, old_owner[0] != '\0', new_owner[0] != '\0');
}

/* A new bus ------------------------------------------------------------------------------------------------------------- */

/* In the thread-default main context, which is the hub's. */
static void
listen_to(QueryHub *self, GDBusConnection *bus)
{
    self->stale_subscription = g_dbus_connection_signal_subscribe(
        bus, self->name, QUERY_BUS_INTERFACE, "Stale", QUERY_BUS_OBJECT_PATH, NULL, G_DBUS_SIGNAL_FLAGS_NONE, on_stale, self, NULL);
    self->rows_subscription = g_dbus_connection_signal_subscribe(bus, self->name, QUERY_BUS_INTERFACE, "RowsChanged",
                                                                 QUERY_BUS_OBJECT_PATH, NULL, G_DBUS_SIGNAL_FLAGS_NONE, on_rows,
                                                                 self, NULL);
    self->owner_subscription = g_dbus_connection_signal_subscribe(bus, "org.freedesktop.DBus", "org.freedesktop.DBus",
                                                                  "NameOwnerChanged", "/org/freedesktop/DBus", self->name,
                                                                  G_DBUS_SIGNAL_FLAGS_NONE, on_owner_changed, self, NULL);
}

static void
leave_bus(QueryHub *self)
{
    g_dbus_connection_signal_unsubscribe(self->bus, self->stale_subscription);
    g_dbus_connection_signal_unsubscribe(self->bus, self->rows_subscription);
    g_dbus_connection_signal_unsubscribe(self->bus, self->owner_subscription);
    g_clear_object(&self->bus);
}

/* What the daemon of the last bus knew is forgotten; a daemon is not started for it. */
static void
on_bus_come(GDBusConnection *bus, gpointer user_data)
{
    QueryHub *self = user_data;

    (void) pthread_mutex_lock(&self->mutex);
    if (self->bus != NULL) { /* else another thread frees it now */
        leave_bus(self);
        self->bus = g_object_ref(bus);
        listen_to(self, bus);
    }
    (void) pthread_mutex_unlock(&self->mutex);
    self->is_new_bus = TRUE;
    renew_lost(self, TRUE, FALSE);
}

static void
on_daemon_there(gpointer user_data)
{
    QueryHub *self = user_data;

    if (self->is_new_bus)
        renew_lost(self, FALSE, TRUE);
    self->is_new_bus = FALSE;
}

QueryHub *
query_hub_new(GObject *owner, QueryBus *bus, GDBusConnection *dbus, const QueryHubFuncs *funcs)
{
    const QueryBusWatchFuncs watch_funcs = { .come = on_bus_come, .owned = on_daemon_there };
    QueryHub *self = g_new0(QueryHub, 1);

    self->name = g_strdup(query_bus_get_name(bus));
    self->bus = g_object_ref(dbus);
    self->context = g_main_context_ref_thread_default();
    self->funcs = *funcs;
    (void) pthread_mutex_init(&self->mutex, NULL);
    self->entries = g_hash_table_new_full(NULL, NULL, entry_free, NULL);
    self->paths = g_hash_table_new(g_str_hash, g_str_equal);
    listen_to(self, dbus);
    self->watch = query_bus_watch_new(owner, bus, dbus, &watch_funcs, self, NULL);
    return self;
}

static void
hub_destroy(gpointer data)
{
    QueryHub *self = data;

    g_hash_table_unref(self->paths);
    g_hash_table_unref(self->entries);
    (void) pthread_mutex_destroy(&self->mutex);
    g_free(self->name);
    g_free(self);
}

static gboolean
on_idle(gpointer user_data)
{
    return G_SOURCE_REMOVE;
}

/*
 * A signal that is being given to it in its own context right now still finds it: it goes from there. It holds the context no
 * more, so that it goes, too, with a context which has gone: their descriptors stayed.
 */
void
query_hub_free(QueryHub *self)
{
    g_autoptr(GMainContext) context = g_steal_pointer(&self->context);
    g_autoptr(GSource) source = g_idle_source_new();

    query_bus_watch_end(g_steal_pointer(&self->watch));
    (void) pthread_mutex_lock(&self->mutex);
    leave_bus(self);
    (void) pthread_mutex_unlock(&self->mutex);
    g_source_set_callback(source, on_idle, self, hub_destroy);
    g_source_attach(source, context);
}

void
query_hub_use(QueryHub *self)
{
    self->n_users++;
}

gboolean
query_hub_release(QueryHub *self)
{
    return --self->n_users == 0;
}

gboolean
query_hub_is_here(QueryHub *self, GDBusConnection *bus)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);
    g_autoptr(GMainContext) context = g_main_context_ref_thread_default();

    return self->bus == bus && self->context == context;
}

GDBusConnection *
query_hub_get_bus(QueryHub *self)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);

    return g_object_ref(self->bus);
}

static void
forget_path(QueryHub *self, QueryHubEntry *entry)
{
    if (entry->path != NULL && g_hash_table_lookup(self->paths, entry->path) == entry)
        (void) g_hash_table_remove(self->paths, entry->path);
}

static void
keep_path(QueryHub *self, QueryHubEntry *entry, const char *path)
{
    forget_path(self, entry);
    g_free(entry->path);
    entry->path = g_strdup(path);
    g_hash_table_replace(self->paths, entry->path, entry);
}

QueryHubEntry *
query_hub_add(QueryHub *self, GObject *subscription, const char *path)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);
    QueryHubEntry *entry = g_new0(QueryHubEntry, 1);

    g_weak_ref_init(&entry->subscription, subscription);
    g_hash_table_add(self->entries, entry);
    keep_path(self, entry, path);
    return entry;
}

void
query_hub_set_path(QueryHub *self, QueryHubEntry *entry, const char *path)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);

    keep_path(self, entry, path);
}

char *
query_hub_remove(QueryHub *self, QueryHubEntry *entry)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);
    char *path;

    forget_path(self, entry);
    path = g_steal_pointer(&entry->path);
    (void) g_hash_table_remove(self->entries, entry);
    return path;
}
