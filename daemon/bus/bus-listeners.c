/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A filter sees each call before sd-bus answers it. For a caller that is known and not sandboxed, sd-bus reads the properties. For
 * others they are read here, from the same table, once the caller is known. So one that has read a property hears of all commits
 * that follow.
 */
#include "daemon/bus/bus-listeners.h"

#include <errno.h>

#include "daemon/base/access.h"
#include "daemon/base/error.h"
#include "daemon/bus/bus-call.h"
#include "daemon/bus/bus-error.h"
#include "daemon/bus/bus-peer.h"
#include "daemon/bus/bus-private.h"
#include "daemon/read/client.h"

#define PROPERTIES_INTERFACE "org.freedesktop.DBus.Properties"

/* They change with what anyone writes. */
static const char *const guarded[] = { "Generation", "Prefixes", NULL };

struct QdBusListeners {
    QdBusService *service;
    sd_bus_slot *slot;
};

static gboolean
may_read(const QdPeer *peer)
{
    const QdAccess *access = qd_client_get_access(qd_peer_get_client(peer));

    return access == NULL || qd_access_has_any(access, QD_ACCESS_READ);
}

static const sd_bus_vtable *
find_property(const char *name)
{
    for (const sd_bus_vtable *entry = qd_bus_query_vtable; entry->type != _SD_BUS_VTABLE_END; entry++)
        if (entry->type == _SD_BUS_VTABLE_PROPERTY && g_str_equal(entry->x.property.member, name))
            return entry;
    return NULL;
}

static int
append_value(QdBusService *service, const sd_bus_vtable *entry, sd_bus_message *reply)
{
    int r = sd_bus_message_open_container(reply, 'v', entry->x.property.signature);

    if (r >= 0)
        r = entry->x.property.get(service->bus, QD_BUS_PATH, QD_BUS_INTERFACE, entry->x.property.member, reply, service, NULL);
    return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int
append_all(QdBusService *service, const QdPeer *peer, const sd_bus_vtable *entry, sd_bus_message *reply)
{
    int r = 0;

    for (; r >= 0 && entry->type != _SD_BUS_VTABLE_END; entry++) {
        if (entry->type != _SD_BUS_VTABLE_PROPERTY || (!may_read(peer) && g_strv_contains(guarded, entry->x.property.member)))
            continue;
        r = sd_bus_message_open_container(reply, 'e', "sv");
        if (r >= 0)
            r = sd_bus_message_append_basic(reply, 's', entry->x.property.member);
        if (r >= 0)
            r = append_value(service, entry, reply);
        if (r >= 0)
            r = sd_bus_message_close_container(reply);
    }
    return r;
}

static void
answer(sd_bus_message *message, sd_bus_message *reply, int r)
{
    g_autoptr(GError) error = NULL;

    if (r >= 0) {
        (void) qd_bus_note_sent(message, sd_bus_send(NULL, reply, NULL));
    } else {
        qd_error_set_errno(&error, -r, "cannot build the answer");
        qd_bus_reply_error(message, error);
    }
    sd_bus_message_unref(reply);
}

static void
act_get(QdBusService *service, sd_bus_message *message, const QdPeer *peer)
{
    g_autoptr(GError) error = NULL;
    sd_bus_message *reply = NULL;
    const char *name = NULL;
    int r;

    r = sd_bus_message_rewind(message, TRUE);
    if (r >= 0)
        r = sd_bus_message_read(message, "ss", NULL, &name);
    if (r >= 0 && !may_read(peer) && g_strv_contains(guarded, name)) {
        (void) qd_peer_deny(peer, &error);
        qd_bus_reply_error(message, error);
        return;
    }
    if (r >= 0)
        r = sd_bus_message_new_method_return(message, &reply);
    answer(message, reply, r < 0 ? r : append_value(service, find_property(name), reply));
}

static void
act_get_all(QdBusService *service, sd_bus_message *message, const QdPeer *peer)
{
    const char *interface = QD_BUS_INTERFACE;
    sd_bus_message *reply = NULL;
    int r;

    r = sd_bus_message_rewind(message, TRUE);
    if (r >= 0)
        r = sd_bus_message_read(message, "s", &interface);
    if (r >= 0)
        r = sd_bus_message_new_method_return(message, &reply);
    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'a', "{sv}");
    if (r >= 0)
        r = append_all(service, peer, qd_bus_query_vtable, reply);
    if (r >= 0 && interface[0] == '\0')
        r = append_all(service, peer, qd_bus_manager_vtable, reply);
    answer(message, reply, r < 0 ? r : sd_bus_message_close_container(reply));
}

/* Returns: (nullable): the property of ours that the message gets; what is wrong with a call sd-bus says better */
static const sd_bus_vtable *
find_wanted(sd_bus_message *message)
{
    const sd_bus_vtable *property = NULL;
    const char *interface;
    const char *name;

    if (sd_bus_message_is_method_call(message, PROPERTIES_INTERFACE, "Get") && sd_bus_message_has_signature(message, "ss") &&
        sd_bus_message_read(message, "ss", &interface, &name) > 0 && g_str_equal(interface, QD_BUS_INTERFACE))
        property = find_property(name);
    (void) sd_bus_message_rewind(message, TRUE);
    return property;
}

/* Each connection of the library calls both, whether it listens or not. It would wake up with each commit of others. */
static gboolean
is_of_any_client(sd_bus_message *message, const sd_bus_vtable *wanted)
{
    return sd_bus_message_is_method_call(message, QD_BUS_INTERFACE, "Prepare") ||
           (wanted != NULL && g_str_equal(wanted->x.property.member, "ProtocolVersion"));
}

static QdBusActFunc
find_act(sd_bus_message *message, const sd_bus_vtable *wanted)
{
    const char *interface;
    QdBusActFunc act = NULL;

    if (wanted != NULL)
        act = act_get;
    else if (sd_bus_message_is_method_call(message, NULL, "GetAll") && sd_bus_message_has_signature(message, "s") &&
             sd_bus_message_read(message, "s", &interface) > 0 &&
             (interface[0] == '\0' || g_str_equal(interface, QD_BUS_INTERFACE)))
        act = act_get_all;
    (void) sd_bus_message_rewind(message, TRUE);
    return act;
}

static int
on_message(sd_bus_message *message, void *user_data, sd_bus_error *ret_error)
{
    const QdBusListeners *self = user_data;
    const char *sender = sd_bus_message_get_sender(message);
    const char *path = sd_bus_message_get_path(message);
    const sd_bus_vtable *wanted;
    const QdPeer *peer;
    QdBusActFunc act;

    if (!sd_bus_message_is_method_call(message, NULL, NULL) || path == NULL)
        return 0;
    if (g_str_equal(path, QD_BUS_TRACKER_PATH))
        qd_peers_listen(self->service->peers, sender, QD_PEER_GRAPHS);
    if (!g_str_equal(path, QD_BUS_PATH))
        return 0;
    wanted = find_wanted(message);
    if (is_of_any_client(message, wanted))
        return 0;

    qd_peers_listen(self->service->peers, sender, QD_PEER_CHANGES);
    if (!sd_bus_message_is_method_call(message, PROPERTIES_INTERFACE, NULL))
        return 0;
    act = find_act(message, wanted);
    peer = qd_peers_find(self->service->peers, sender);
    if (act == NULL || (peer != NULL && !qd_peer_is_sandboxed(peer)))
        return 0;
    return qd_bus_call_act_for_all(self->service, message, act);
}

QdBusListeners *
qd_bus_listeners_new(QdBusService *service, GError **error)
{
    QdBusListeners *self = g_new0(QdBusListeners, 1);
    int r = sd_bus_add_filter(service->bus, &self->slot, on_message, self);

    self->service = service;
    if (r < 0) {
        qd_error_set_errno(error, -r, "cannot see who calls");
        return qd_bus_listeners_free(self);
    }
    return self;
}

QdBusListeners *
qd_bus_listeners_free(QdBusListeners *self)
{
    if (self == NULL)
        return NULL;

    sd_bus_slot_unref(self->slot);
    g_free(self);
    return NULL;
}
