/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A match on the bus, and a weak reference to whom it tells.
 */
#include "client-lib/query-notifier.h"

#include "client-lib/query-bus.h"

struct QueryNotifier {
    GDBusConnection *bus;
    guint subscription;
};

typedef struct Target {
    GWeakRef object;
    guint signal_id;
} Target;

static void
target_free(gpointer data)
{
    Target *target = data;

    g_weak_ref_clear(&target->object);
    g_free(target);
}

static void
on_changed(GDBusConnection *bus, const char *sender, const char *path, const char *interface, const char *signal,
           GVariant *arguments, gpointer user_data)
{
    Target *target = user_data;
    g_autoptr(GObject) object = g_weak_ref_get(&target->object);
    g_auto(GStrv) tables = NULL;
    guint64 generation = 0;

    if (object == NULL || !g_variant_is_of_type(arguments, G_VARIANT_TYPE("(tasas)")))
        return;

    g_variant_get(arguments, "(t^asas)", &generation, &tables, NULL);
    g_signal_emit(object, target->signal_id, 0, generation, tables);
}

QueryNotifier *
query_notifier_new(GDBusConnection *bus, const char *name, GObject *target, guint signal_id)
{
    QueryNotifier *self = g_new0(QueryNotifier, 1);
    Target *weak = g_new0(Target, 1);

    g_weak_ref_init(&weak->object, target);
    weak->signal_id = signal_id;
    self->bus = g_object_ref(bus);
    self->subscription = g_dbus_connection_signal_subscribe(bus, name, QUERY_BUS_INTERFACE, "Changed", QUERY_BUS_OBJECT_PATH, NULL,
                                                            G_DBUS_SIGNAL_FLAGS_NONE, on_changed, weak, target_free);
    return self;
}

void
query_notifier_free(QueryNotifier *self)
{
    if (self == NULL)
        return;

    g_dbus_connection_signal_unsubscribe(self->bus, self->subscription);
    g_object_unref(self->bus);
    g_free(self);
}

gboolean
query_notifier_listens(const QueryNotifier *self)
{
    return !g_dbus_connection_is_closed(self->bus);
}
