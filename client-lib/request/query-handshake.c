/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The handshake: Prepare over D-Bus, which answers with a descriptor.
 *
 * Place: internal to libquery-client; happens once in the life of a channel. What it learns is the same as what a SCHEMA
 * record on the channel would have said. A query runs meanwhile, where its values can go with it: so it costs no second way.
 */
#include <unistd.h>

#include "client-lib/core/query-error.h"
#include "client-lib/core/query-held.h"
#include "client-lib/request/query-request-private.h"

/* Half the wake-ups of the default size; still larger pages gave nothing (docs/decisions/pages.md). */
#define PAGE_SIZE (128u * 1024u)
/* Of values that go with Prepare. */
#define VALUES_BYTES_MAX (32u * 1024u)

static const char *
get_transport_name(QueryTransport transport)
{
    switch (transport) {
    case QUERY_TRANSPORT_AUTO:
        return "auto";
    case QUERY_TRANSPORT_SOCKETPAIR:
        return "socketpair";
    case QUERY_TRANSPORT_RING:
        return "ring";
    }
    return "auto"; /* a number from the application */
}

/* What an older daemon does not know: its answer to the first is BadParameter. */
typedef enum Extent {
    WITH_SESSION,
    WITH_TIME,
    WITH_FETCH,
    WITH_WHOLE_RESULTS,
    WITH_DETAILS,
    WITH_NOTHING_NEW,
} Extent;

/* What is only prepared may be executed much later. */
static gboolean
tells_time(const QueryRequest *self)
{
    return self->kind != QUERY_REQUEST_PREPARE;
}

/* What is left out next; without @values there is no FETCH. */
static Extent
get_less(const QueryRequest *self, Extent extent, GVariant *values)
{
    extent++;
    if (extent == WITH_TIME && !tells_time(self))
        extent++;
    return extent == WITH_FETCH && values == NULL ? WITH_WHOLE_RESULTS : extent;
}

/* (nullable): a{sv} of the values with which the statement may run at once. */
static GVariant *
get_values(const QueryRequest *self)
{
    gboolean is_query = self->kind == QUERY_REQUEST_ROWS && !self->command->writes && self->row == NULL;

    return is_query ? query_parameters_to_variant(self->parameters, VALUES_BYTES_MAX) : NULL;
}

/* @values: (nullable) */
static GVariant *
build_prepare_arguments(const QueryRequest *self, QueryTransport transport, Extent extent, GVariant *values)
{
    const QueryCommand *command = self->command;
    guint64 session = query_pool_get_session(self->endpoint.pool);
    GVariantBuilder options = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);

    g_variant_builder_add(&options, "{sv}", "transport", g_variant_new_string(get_transport_name(transport)));
    g_variant_builder_add(&options, "{sv}", "page_size", g_variant_new_uint32(PAGE_SIZE));
    if (extent <= WITH_WHOLE_RESULTS && transport != QUERY_TRANSPORT_SOCKETPAIR)
        g_variant_builder_add(&options, "{sv}", "whole_results", g_variant_new_boolean(TRUE));
    if (extent <= WITH_DETAILS) {
        g_variant_builder_add(&options, "{sv}", "error_details", g_variant_new_boolean(TRUE));
        g_variant_builder_add(&options, "{sv}", "schema_details", g_variant_new_boolean(TRUE));
        /* a channel is shared by all requests of its connection: a text must not leave a transaction open on it */
        g_variant_builder_add(&options, "{sv}", "text_transactions", g_variant_new_boolean(FALSE));
    }
    if (extent <= WITH_FETCH && values != NULL)
        g_variant_builder_add(&options, "{sv}", "fetch", g_variant_new_boolean(TRUE));
    if (extent <= WITH_SESSION && session != 0)
        g_variant_builder_add(&options, "{sv}", "session", g_variant_new_uint64(session));
    if (extent <= WITH_TIME && tells_time(self))
        g_variant_builder_add(&options, "{sv}", "requested_usec", g_variant_new_uint64((guint64) self->requested_usec));
    if (command->writes)
        g_variant_builder_add(&options, "{sv}", "access", g_variant_new_string("write"));
    if (command->relaxed)
        g_variant_builder_add(&options, "{sv}", "durability", g_variant_new_string("relaxed"));
    if (command->fresh)
        g_variant_builder_add(&options, "{sv}", "results", g_variant_new_string("fresh"));
    if (command->timeout_msec >= 0)
        g_variant_builder_add(&options, "{sv}", "timeout_ms", g_variant_new_uint32((guint32) command->timeout_msec));
    if (command->max_rows > 0)
        g_variant_builder_add(&options, "{sv}", "max_rows", g_variant_new_uint32((guint32) command->max_rows));
    if (command->base != NULL)
        g_variant_builder_add(&options, "{sv}", "base", g_variant_new_string(command->base));
    if (command->dataset != NULL)
        g_variant_builder_add(&options, "{sv}", "dataset", g_variant_new_string(command->dataset));

    if (extent > WITH_FETCH || values == NULL)
        return g_variant_new("(ssa{sv}a{sv})", command->language, command->text, NULL, &options);
    return g_variant_new("(ss@a{sv}a{sv})", command->language, command->text, values, &options);
}

static QueryChannel *
channel_from_reply(GUnixFDList *fds, gint32 handle, GVariant *info, GError **error)
{
    guint32 page_size = QW_PAGE_SIZE_DEFAULT;
    guint32 version = QW_PROTOCOL_VERSION;
    guint32 fetch_serial = 0;
    int fd;

    g_variant_lookup(info, "page_size", "u", &page_size);
    g_variant_lookup(info, "version", "u", &version);
    g_variant_lookup(info, "fetch_serial", "u", &fetch_serial);
    if (version != QW_PROTOCOL_VERSION || page_size < QW_PAGE_SIZE_MIN || page_size > QW_PAGE_SIZE_MAX || page_size % 8 != 0) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "the daemon speaks version %u with pages of %u bytes", version,
                    page_size);
        return NULL;
    }

    fd = query_bus_take_descriptor(fds, handle, "Prepare", error);
    return fd >= 0 ? query_channel_new(fd, page_size, fetch_serial) : NULL;
}

static GVariant *
call_prepare(QueryRequest *self, QueryTransport transport, Extent extent, GVariant *values, GUnixFDList **ret_fds,
             GCancellable *cancellable, GError **error)
{
    gint64 patience_msec = query_command_get_patience_msec(self->command);
    gint64 timeout_msec = patience_msec > 0 ? MIN(patience_msec, QUERY_BUS_CALL_TIMEOUT_MSEC) : QUERY_BUS_CALL_TIMEOUT_MSEC;

    return query_bus_call(self->endpoint.bus,
                          &(QueryBusCall){ .interface = QUERY_BUS_INTERFACE,
                                           .method = "Prepare",
                                           .arguments = build_prepare_arguments(self, transport, extent, values),
                                           .reply_type = "(ha(ss)a{sv})",
                                           .timeout_msec = (int) timeout_msec,
                                           .has_deadline = patience_msec > 0,
                                           .fd = -1 },
                          ret_fds, cancellable, error);
}

static gboolean
connect_by_bus(QueryRequest *self, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant) reply = NULL;
    g_autoptr(GVariant) columns = NULL;
    g_autoptr(GVariant) info = NULL;
    g_autoptr(GUnixFDList) fds = NULL;
    g_autoptr(QueryChannel) channel = NULL;
    g_autoptr(QuerySchema) schema = NULL;
    g_autoptr(GError) failure = NULL;
    QueryTransport transport = query_pool_get_transport(self->endpoint.pool);
    g_autoptr(GVariant) values = get_values(self);
    Extent extent = WITH_SESSION;
    gint32 handle;

    if (values != NULL)
        (void) g_variant_ref_sink(values);
    reply = call_prepare(self, transport, extent, values, &fds, cancellable, &failure);
    while (extent < WITH_NOTHING_NEW && g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER)) {
        g_clear_error(&failure); /* perhaps an older daemon */
        extent = get_less(self, extent, values);
        reply = call_prepare(self, transport, extent, values, &fds, cancellable, &failure);
    }
    if (reply == NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return FALSE;
    }

    g_variant_get(reply, "(h@a(ss)@a{sv})", &handle, &columns, &info);
    channel = channel_from_reply(fds, handle, info, error);
    if (channel == NULL)
        return FALSE;
    schema = query_schema_new_from_dbus(columns, info, error);
    if (schema == NULL)
        return FALSE;

    query_channel_set_transport(channel, transport);
    self->channel = g_steal_pointer(&channel);
    query_request_set_patience(self);
    query_request_learn_schema(self, schema);
    self->state = g_variant_lookup(info, "fetch_serial", "u", &self->fetch_serial) ? QUERY_STATE_FIRST : QUERY_STATE_ACQUIRE;
    return TRUE;
}

static gboolean
is_about_room(const GError *error)
{
    return g_error_matches(error, QUERY_ERROR, QUERY_ERROR_LIMIT_EXCEEDED) || g_error_matches(error, QUERY_ERROR, QUERY_ERROR_BUSY);
}

/* An idle channel, of a cursor that was set aside or of another request that is done. */
static gboolean
take_idle(QueryRequest *self)
{
    if (!self->was_resent)
        self->channel = query_pool_take(self->endpoint.pool, self->command->key);
    if (self->channel != NULL)
        self->state = QUERY_STATE_ACQUIRE;
    return self->channel != NULL;
}

gboolean
query_request_connect(QueryRequest *self, GCancellable *cancellable, GError **error)
{
    g_autoptr(GError) failure = g_steal_pointer(&self->room_error);

    if (query_held_get_n() >= QUERY_HELD_MAX && query_held_reduce(QUERY_HELD_MAX - 1, QUERY_HELD_EARLY_MSEC) && take_idle(self))
        return TRUE;
    while (failure == NULL || (is_about_room(failure) && query_request_make_room(self, failure, cancellable))) {
        if (failure != NULL && take_idle(self))
            return TRUE;
        g_clear_error(&failure);
        if (connect_by_bus(self, cancellable, &failure))
            return TRUE;
    }
    if (!g_cancellable_set_error_if_cancelled(cancellable, error))
        g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}
