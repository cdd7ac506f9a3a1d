/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One call of the engine at a time; a change that comes meanwhile makes another one follow.
 */
#include "daemon/bus/bus-prefixes.h"

#include "daemon/base/access.h"
#include "daemon/bus/bus-error.h"
#include "daemon/bus/bus-peer.h"
#include "daemon/bus/bus-private.h"
#include "daemon/call/call-classes.h"

struct QdBusPrefixes {
    QdBusService *service;
    QdClient *client;
    QdCall *call;     /* (nullable) under way */
    gboolean again;   /* there was a change since it began */
    GPtrArray *pairs; /* of char*: prefix, IRI, … */
};

static gboolean
are_equal(const GPtrArray *a, const GPtrArray *b)
{
    if (a->len != b->len)
        return FALSE;
    for (guint i = 0; i < a->len; i++)
        if (!g_str_equal(a->pdata[i], b->pdata[i]))
            return FALSE;
    return TRUE;
}

/* As sd_bus_emit_properties_changed() writes it, which sends to all. */
static void
send_changed(const char *name, const QdAccess *access, void *user_data)
{
    const QdBusPrefixes *self = user_data;
    sd_bus_message *signal = NULL;
    int r;

    if (access != NULL && !qd_access_has_any(access, QD_ACCESS_READ))
        return;

    r = sd_bus_message_new_signal(self->service->bus, &signal, QD_BUS_PATH, "org.freedesktop.DBus.Properties", "PropertiesChanged");
    if (r >= 0 && name != NULL)
        r = sd_bus_message_set_destination(signal, name);
    if (r >= 0)
        r = sd_bus_message_append(signal, "s", QD_BUS_INTERFACE);
    if (r >= 0)
        r = sd_bus_message_open_container(signal, 'a', "{sv}");
    if (r >= 0)
        r = sd_bus_message_open_container(signal, 'e', "sv");
    if (r >= 0)
        r = sd_bus_message_append(signal, "s", "Prefixes");
    if (r >= 0)
        r = sd_bus_message_open_container(signal, 'v', "a{ss}");
    if (r >= 0)
        r = qd_bus_prefixes_append(self, signal);
    for (guint i = 0; r >= 0 && i < 3; i++)
        r = sd_bus_message_close_container(signal);
    if (r >= 0)
        r = sd_bus_message_append(signal, "as", 0);
    /* Fails when the connection is gone; then there are no listeners. */
    if (r >= 0)
        (void) sd_bus_send(self->service->bus, signal, NULL);
    sd_bus_message_unref(signal);
}

/* What cannot be read stays as it was. */
static void
on_done(QdCall *call, void *user_data)
{
    QdBusPrefixes *self = user_data;

    if (call->result.error == NULL && !are_equal(self->pairs, call->result.messages)) {
        g_ptr_array_unref(self->pairs);
        self->pairs = g_ptr_array_ref(call->result.messages);
        qd_peers_tell(self->service->peers, QD_PEER_CHANGES, send_changed, self);
    }
    self->call = qd_call_free(self->call);
    if (self->again)
        qd_bus_prefixes_refresh(self);
}

void
qd_bus_prefixes_refresh(QdBusPrefixes *self)
{
    self->again = self->call != NULL;
    if (self->again)
        return;

    self->call = qd_call_new(&qd_prefixes_call, self->client);
    self->call->done = on_done;
    self->call->user_data = self;
    qd_engine_submit(self->service->engine, self->call);
}

QdBusPrefixes *
qd_bus_prefixes_new(QdBusService *service)
{
    QdBusPrefixes *self = g_new0(QdBusPrefixes, 1);

    self->service = service;
    self->client = qd_client_new("queryd");
    self->pairs = g_ptr_array_new_with_free_func(g_free);
    qd_bus_prefixes_refresh(self);
    return self;
}

QdBusPrefixes *
qd_bus_prefixes_free(QdBusPrefixes *self)
{
    if (self == NULL)
        return NULL;

    g_assert(self->call == NULL);
    g_ptr_array_unref(self->pairs);
    qd_client_unref(self->client);
    g_free(self);
    return NULL;
}

int
qd_bus_prefixes_append(const QdBusPrefixes *self, sd_bus_message *reply)
{
    int r;

    r = sd_bus_message_open_container(reply, 'a', "{ss}");
    for (guint i = 0; r >= 0 && i + 1 < self->pairs->len; i += 2) {
        r = sd_bus_message_open_container(reply, 'e', "ss");
        if (r >= 0)
            r = qd_bus_append_text(reply, self->pairs->pdata[i]);
        if (r >= 0)
            r = qd_bus_append_text(reply, self->pairs->pdata[i + 1]);
        if (r >= 0)
            r = sd_bus_message_close_container(reply);
    }
    if (r < 0)
        return r;

    return sd_bus_message_close_container(reply);
}
