/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Handlers of the interface, and the one table at the end. Names and types are those that libtracker-sparql calls.
 */
#include "daemon/bus/bus-tracker.h"

#include <string.h>

#include "daemon/base/access.h"
#include "daemon/base/error.h"
#include "daemon/base/log.h"
#include "daemon/bus/bus-args.h"
#include "daemon/bus/bus-call.h"
#include "daemon/bus/bus-error.h"
#include "daemon/bus/bus-peer.h"
#include "daemon/bus/bus-private.h"
#include "daemon/bus/bus-reply.h"
#include "daemon/bus/bus-tracker-input.h"
#include "daemon/job/job-classes.h"
#include "daemon/notify/changes.h"
#include "daemon/tracker/tracker-classes.h"
#include "daemon/tracker/tracker-text.h"

struct QdBusTracker {
    QdBusService *service;
    QdTrackerInputs *inputs;
    QdTrackerMode mode;
    sd_bus_slot *slot; /* (nullable): NULL: off */
};

static int
refuse(sd_bus_message *message, const GError *error)
{
    qd_bus_reply_error(message, error);
    return 1;
}

static QdCall *
new_call(const QdCallClass *class, const QdBusService *service)
{
    QdCall *call = qd_call_new(class, NULL);

    call->options.union_default_graph = service->tracker->mode == QD_TRACKER_UNION;
    return call;
}

/* --- arguments -------------------------------------------------------------------------------------------------------- */

static gboolean
read_bytes(sd_bus_message *message, QwValue *ret_value)
{
    const void *data;
    size_t n_bytes;

    if (sd_bus_message_read_array(message, 'y', &data, &n_bytes) < 0)
        return FALSE;
    qd_tracker_set_tagged(ret_value, data, n_bytes);
    return TRUE;
}

static gboolean
read_basic(sd_bus_message *message, char type, QwValue *ret_value)
{
    union {
        const char *text;
        int64_t integer;
        int32_t small;
        double real;
        int is_true;
    } value;

    if (strchr("sxidb", type) == NULL || sd_bus_message_read_basic(message, type, &value) <= 0)
        return FALSE;
    if (type == 's')
        *ret_value = (QwValue){ .type = QW_TYPE_TEXT, .data = value.text, .n_bytes = (uint32_t) strlen(value.text) };
    else if (type == 'd')
        *ret_value = (QwValue){ .type = QW_TYPE_FLOAT, .real = value.real };
    else if (type == 'b')
        qd_parameters_set_boolean(ret_value, value.is_true);
    else
        *ret_value = (QwValue){ .type = QW_TYPE_INTEGER, .integer = type == 'x' ? value.integer : value.small };
    return TRUE;
}

static gboolean
read_argument(sd_bus_message *message, QdParameters *parameters, GError **error)
{
    QwValue value = { .type = QW_TYPE_NULL };
    const char *type;
    const char *key;

    if (!qd_bus_read_text(message, "arguments", &key, error))
        return FALSE;
    if (sd_bus_message_peek_type(message, NULL, &type) > 0 && sd_bus_message_enter_container(message, 'v', type) > 0 &&
        (g_str_equal(type, "ay") ? read_bytes(message, &value) : type[1] == '\0' && read_basic(message, type[0], &value)) &&
        sd_bus_message_exit_container(message) >= 0) {
        qd_parameters_add(parameters, key, &value);
        return TRUE;
    }

    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "the argument '%s' has none of the types s, x, i, d, b and ay", key);
    return FALSE;
}

static QdParameters *
read_arguments(sd_bus_message *message, GError **error)
{
    g_autoptr(QdParameters) parameters = qd_parameters_new();
    int r;

    r = sd_bus_message_enter_container(message, 'a', "{sv}");
    while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
        if (!read_argument(message, parameters, error))
            return NULL;
        r = sd_bus_message_exit_container(message);
    }
    if (r >= 0)
        r = sd_bus_message_exit_container(message);
    if (r < 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "arguments: malformed argument");
        return NULL;
    }
    return g_steal_pointer(&parameters);
}

static gboolean
read_format(sd_bus_message *message, QdCall *call, GError **error)
{
    static const char *const formats[] = { "turtle", "trig", "jsonld" };
    int32_t flags;
    int32_t format;

    if (sd_bus_message_read(message, "ii", &flags, &format) <= 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "flags, format: malformed argument");
        return FALSE;
    }
    if (format < 0 || (guint) format >= G_N_ELEMENTS(formats)) {
        qd_error_set(error, QW_ERROR_UNSUPPORTED, "the RDF format %d is not supported; 0 is Turtle, 1 is TriG, 2 is JSON-LD",
                     format);
        return FALSE;
    }
    call->format = g_strdup(formats[format]);
    return TRUE;
}

/* --- queries ---------------------------------------------------------------------------------------------------------- */

static int
fill_columns(sd_bus_message *reply, QdCall *call)
{
    return qd_bus_append_column_names(reply, call->result.columns);
}

static int
fill_nothing(sd_bus_message *reply, QdCall *call)
{
    return 0;
}

static int
handle_query(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    g_autoptr(QdCall) call = new_call(&qd_tracker_query_call, userdata);
    g_autoptr(QdParameters) parameters = NULL;
    g_autoptr(GError) error = NULL;
    const char *text;

    if (!qd_bus_read_text(message, "query", &text, &error) || !qd_bus_read_fd(message, call, &error))
        return refuse(message, error);
    parameters = read_arguments(message, &error);
    if (parameters == NULL)
        return refuse(message, error);

    qd_call_add_statement(call, QD_LANGUAGE_SPARQL, text, g_steal_pointer(&parameters));
    return qd_bus_call_start(userdata, message, g_steal_pointer(&call), fill_columns);
}

static int
handle_serialize(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    g_autoptr(QdCall) call = new_call(&qd_tracker_serialize_call, userdata);
    g_autoptr(QdParameters) parameters = NULL;
    g_autoptr(GError) error = NULL;
    const char *text;

    if (!qd_bus_read_text(message, "query", &text, &error) || !qd_bus_read_fd(message, call, &error) ||
        !read_format(message, call, &error))
        return refuse(message, error);
    parameters = read_arguments(message, &error);
    if (parameters == NULL)
        return refuse(message, error);

    qd_call_add_statement(call, QD_LANGUAGE_SPARQL, text, g_steal_pointer(&parameters));
    return qd_bus_call_start(userdata, message, g_steal_pointer(&call), fill_nothing);
}

/* --- updates ---------------------------------------------------------------------------------------------------------- */

/* One statement, and one solution of it: aaa{ss}. */
static int
fill_blank_nodes(sd_bus_message *reply, QdCall *call)
{
    const GPtrArray *pairs = call->result.messages;
    int r;

    r = sd_bus_message_open_container(reply, 'a', "aa{ss}");
    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'a', "a{ss}");
    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'a', "{ss}");
    for (guint i = 0; r >= 0 && i + 1 < pairs->len; i += 2)
        r = sd_bus_message_append(reply, "{ss}", pairs->pdata[i], pairs->pdata[i + 1]);
    for (guint i = 0; r >= 0 && i < 3; i++)
        r = sd_bus_message_close_container(reply);
    return r;
}

static void
start_update(const QdCallClass *class, QdBusService *service, sd_bus_message *message, GBytes *bytes, QdBusFillFunc fill)
{
    QdCall *call = new_call(class, service);

    call->input = g_bytes_ref(bytes);
    (void) qd_bus_call_start(service, message, call, fill);
}

static void
on_update(QdBusService *service, sd_bus_message *message, GBytes *bytes)
{
    start_update(&qd_tracker_update_call, service, message, bytes, fill_nothing);
}

static void
on_update_array(QdBusService *service, sd_bus_message *message, GBytes *bytes)
{
    start_update(&qd_tracker_update_array_call, service, message, bytes, fill_nothing);
}

static void
on_update_blank(QdBusService *service, sd_bus_message *message, GBytes *bytes)
{
    start_update(&qd_tracker_update_blank_call, service, message, bytes, fill_blank_nodes);
}

/* The peer is known, and may write. */
static void
read_update(QdBusService *service, sd_bus_message *message, const QdPeer *peer)
{
    qd_tracker_inputs_start(service->tracker->inputs, message, qd_peer_get_client(peer), FALSE, on_update);
}

static void
read_update_array(QdBusService *service, sd_bus_message *message, const QdPeer *peer)
{
    qd_tracker_inputs_start(service->tracker->inputs, message, qd_peer_get_client(peer), TRUE, on_update_array);
}

static void
read_update_blank(QdBusService *service, sd_bus_message *message, const QdPeer *peer)
{
    qd_tracker_inputs_start(service->tracker->inputs, message, qd_peer_get_client(peer), FALSE, on_update_blank);
}

static int
handle_update(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    return qd_bus_call_act(userdata, message, read_update);
}

static int
handle_update_array(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    return qd_bus_call_act(userdata, message, read_update_array);
}

static int
handle_update_blank(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    return qd_bus_call_act(userdata, message, read_update_blank);
}

static int
handle_deserialize(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    g_autoptr(QdCall) call = new_call(&qd_import_call, userdata);
    g_autoptr(QdParameters) parameters = NULL;
    g_autoptr(GError) error = NULL;
    const char *graph;

    if (!qd_bus_read_fd(message, call, &error) || !read_format(message, call, &error) ||
        !qd_bus_read_text(message, "default_graph", &graph, &error))
        return refuse(message, error);
    parameters = read_arguments(message, &error);
    if (parameters == NULL)
        return refuse(message, error);

    call->options.transfer.graph = graph[0] != '\0' ? g_strdup(graph) : NULL;
    return qd_bus_call_start(userdata, message, g_steal_pointer(&call), fill_nothing);
}

/* --- the object ------------------------------------------------------------------------------------------------------- */

QdBusTracker *
qd_bus_tracker_new(QdBusService *service)
{
    QdBusTracker *self = g_new0(QdBusTracker, 1);

    self->service = service;
    self->inputs = qd_tracker_inputs_new(service);
    return self;
}

QdBusTracker *
qd_bus_tracker_free(QdBusTracker *self)
{
    if (self == NULL)
        return NULL;

    sd_bus_slot_unref(self->slot);
    (void) qd_tracker_inputs_free(self->inputs);
    g_free(self);
    return NULL;
}

void
qd_bus_tracker_set_mode(QdBusTracker *self, QdTrackerMode mode)
{
    int r;

    self->mode = mode;
    if (mode == QD_TRACKER_OFF)
        self->slot = sd_bus_slot_unref(self->slot);
    if (mode == QD_TRACKER_OFF || self->slot != NULL)
        return;

    r = sd_bus_add_object_vtable(self->service->bus, &self->slot, QD_BUS_TRACKER_PATH, QD_BUS_TRACKER_INTERFACE,
                                 qd_bus_tracker_vtable, self->service);
    if (r < 0)
        qd_log(LOG_ERR, &(QdLogFields){ .message_id = QD_LOG_ID_BUS }, "cannot put the object of TinySPARQL on the bus: %s",
               g_strerror(-r));
}

/* What happened in one graph. */
typedef struct Update {
    sd_bus *bus;
    const char *graph;
    const gint32 *ids;
    const gint32 *events;
    guint n_events;
} Update;

static void
send_updated(const char *name, const QdAccess *access, void *user_data)
{
    const Update *update = user_data;
    sd_bus_message *signal = NULL;
    int r;

    if (access != NULL && !qd_access_has_graph(access, QD_ACCESS_READ, update->graph))
        return;

    r = sd_bus_message_new_signal(update->bus, &signal, QD_BUS_TRACKER_PATH, QD_BUS_TRACKER_INTERFACE, "GraphUpdated");
    if (r >= 0 && name != NULL)
        r = sd_bus_message_set_destination(signal, name);
    if (r >= 0)
        r = qd_bus_append_text(signal, update->graph);
    if (r >= 0)
        r = sd_bus_message_open_container(signal, 'a', "{ii}");
    for (guint i = 0; r >= 0 && i < update->n_events; i++)
        r = sd_bus_message_append(signal, "{ii}", update->events[i], update->ids[i]);
    if (r >= 0)
        r = sd_bus_message_close_container(signal);
    /* Fails when the connection is gone; then there are no listeners. */
    if (r >= 0)
        (void) sd_bus_send(update->bus, signal, NULL);
    sd_bus_message_unref(signal);
}

static void
tell_graph(const char *graph, const gint32 *ids, const gint32 *events, guint n_events, void *user_data)
{
    const QdBusTracker *self = user_data;
    Update update = { self->service->bus, graph, ids, events, n_events };

    qd_peers_tell(self->service->peers, QD_PEER_GRAPHS, send_updated, &update);
}

void
qd_bus_tracker_tell(QdBusTracker *self, const QdChanges *changes)
{
    if (self->slot != NULL && changes->resources != NULL)
        qd_resource_events_foreach(changes->resources, tell_graph, self);
}

void
qd_bus_tracker_cancel(QdBusTracker *self, const char *sender)
{
    qd_tracker_inputs_cancel(self->inputs, sender);
}

guint
qd_bus_tracker_get_n_inputs(const QdBusTracker *self)
{
    return qd_tracker_inputs_get_n(self->inputs);
}

const sd_bus_vtable qd_bus_tracker_vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD_WITH_ARGS("Query", SD_BUS_ARGS("s", query, "h", output_stream, "a{sv}", arguments), SD_BUS_RESULT("as", result),
                            handle_query, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Serialize", SD_BUS_ARGS("s", query, "h", output_stream, "i", flags, "i", format, "a{sv}", arguments),
                            SD_BUS_NO_RESULT, handle_serialize, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Update", SD_BUS_ARGS("h", input_stream), SD_BUS_NO_RESULT, handle_update, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("UpdateArray", SD_BUS_ARGS("h", input_stream), SD_BUS_NO_RESULT, handle_update_array,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("UpdateBlank", SD_BUS_ARGS("h", input_stream), SD_BUS_RESULT("aaa{ss}", result), handle_update_blank,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Deserialize",
                            SD_BUS_ARGS("h", input_stream, "i", flags, "i", format, "s", default_graph, "a{sv}", arguments),
                            SD_BUS_NO_RESULT, handle_deserialize, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_SIGNAL_WITH_ARGS("GraphUpdated", SD_BUS_ARGS("s", graph, "a{ii}", updates), 0),
    SD_BUS_VTABLE_END,
};
