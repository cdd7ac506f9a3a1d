/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface org.queryd.Query1: handlers, answers, properties, and the one table at the end.
 *
 * Place: room bus. Invariant: no logic here: a handler reads arguments into a QdCall and starts it; a fill function writes a
 * finished call's results.
 */
#include "client-lib/wire/wire-record.h"
#include "daemon/bus/bus-args.h"
#include "daemon/bus/bus-call.h"
#include "daemon/bus/bus-error.h"
#include "daemon/bus/bus-prefixes.h"
#include "daemon/bus/bus-private.h"
#include "daemon/bus/bus-reply.h"
#include "daemon/bus/bus-store.h"
#include "daemon/bus/bus-subscribe.h"
#include "daemon/call/call-classes.h"
#include "daemon/job/job-classes.h"

static int
append_parameters(sd_bus_message *reply, const QdCall *call)
{
    int r;

    r = sd_bus_message_open_container(reply, 'v', "a(us)");
    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'a', "(us)");
    for (guint i = 0; r >= 0 && call->result.parameters != NULL && i < call->result.parameters->len; i++) {
        const QdCallParameter *parameter = &g_array_index(call->result.parameters, QdCallParameter, i);

        r = sd_bus_message_open_container(reply, 'r', "us");
        if (r >= 0)
            r = sd_bus_message_append(reply, "u", parameter->index);
        if (r >= 0)
            r = qd_bus_append_text(reply, parameter->name);
        if (r >= 0)
            r = sd_bus_message_close_container(reply);
    }
    if (r >= 0)
        r = sd_bus_message_close_container(reply);
    if (r < 0)
        return r;

    return sd_bus_message_close_container(reply);
}

static int
append_info(sd_bus_message *reply, const QdCall *call)
{
    const char *transport = qd_transport_get_name(call->options.channel.transport);
    int r;

    r = sd_bus_message_open_container(reply, 'a', "{sv}");
    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'e', "sv");
    if (r >= 0)
        r = sd_bus_message_append(reply, "s", "parameters");
    if (r >= 0)
        r = append_parameters(reply, call);
    if (r >= 0)
        r = sd_bus_message_close_container(reply);
    if (r >= 0)
        r = sd_bus_message_append(reply, "{sv}{sv}{sv}{sv}{sv}{sv}", "writes", "b", call->result.writes, "stable", "b",
                                  call->result.is_stable, "rdf", "b", FALSE, "version", "u", QW_PROTOCOL_VERSION, "page_size", "u",
                                  call->result.page_size, "transport", "s", transport);
    if (r >= 0 && call->options.channel.fetches && !qd_transport_is_pipe(call->options.channel.transport))
        r = sd_bus_message_append(reply, "{sv}", "fetch_serial", "u", QW_PREPARE_FETCH_SERIAL);
    if (r < 0)
        return r;

    return sd_bus_message_close_container(reply);
}

static int
fill_prepare(sd_bus_message *reply, QdCall *call)
{
    int r;

    /* sd-bus keeps a duplicate of its own; ours is closed with the call. */
    r = sd_bus_message_append(reply, "h", call->result.channel_fd);
    if (r >= 0)
        r = qd_bus_append_columns(reply, call->result.columns);
    if (r < 0)
        return r;

    return append_info(reply, call);
}

static int
handle_prepare(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMethod method = { &qd_prepare_call, { qd_bus_read_query, qd_bus_read_options }, fill_prepare };

    return qd_bus_method_serve(&method, message, userdata, ret_error);
}

static int
fill_query(sd_bus_message *reply, QdCall *call)
{
    int r;

    r = qd_bus_append_column_names(reply, call->result.columns);
    if (r >= 0)
        r = qd_bus_append_rows(reply, call);
    if (r < 0)
        return r;

    return sd_bus_message_append(reply, "b", call->result.truncated);
}

static int
handle_query(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMethod method = { &qd_query_call, { qd_bus_read_query, qd_bus_read_options }, fill_query };

    return qd_bus_method_serve(&method, message, userdata, ret_error);
}

static int
fill_query_text(sd_bus_message *reply, QdCall *call)
{
    int r;

    r = sd_bus_message_append(reply, "s", call->result.content_type);
    if (r >= 0)
        r = qd_bus_append_text(reply, call->result.text->str);
    if (r < 0)
        return r;

    return sd_bus_message_append(reply, "b", call->result.truncated);
}

static int
handle_query_text(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMethod method = { &qd_query_text_call,
                                        { qd_bus_read_statement, qd_bus_read_format, qd_bus_read_options },
                                        fill_query_text };

    return qd_bus_method_serve(&method, message, userdata, ret_error);
}

static int
fill_export(sd_bus_message *reply, QdCall *call)
{
    return sd_bus_message_append(reply, "tt", call->result.n_rows, call->result.n_bytes);
}

static int
handle_export(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMethod method = { &qd_export_call,
                                        { qd_bus_read_statement, qd_bus_read_format, qd_bus_read_fd, qd_bus_read_options },
                                        fill_export };

    return qd_bus_method_serve(&method, message, userdata, ret_error);
}

static int
fill_update(sd_bus_message *reply, QdCall *call)
{
    return sd_bus_message_append(reply, "txt", call->result.changes, call->result.last_insert_rowid, call->result.generation);
}

static int
handle_update(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMethod method = { &qd_update_call, { qd_bus_read_query, qd_bus_read_options }, fill_update };

    return qd_bus_method_serve(&method, message, userdata, ret_error);
}

static int
fill_batch(sd_bus_message *reply, QdCall *call)
{
    int r;

    r = sd_bus_message_open_container(reply, 'a', "t");
    for (guint i = 0; r >= 0 && i < call->statements->len; i++)
        r = sd_bus_message_append(reply, "t", g_array_index(call->statements, QdCallStatement, i).changes);
    if (r >= 0)
        r = sd_bus_message_close_container(reply);
    if (r < 0)
        return r;

    return sd_bus_message_append(reply, "t", call->result.generation);
}

static int
handle_batch(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    const QdBusService *service = userdata;
    g_autoptr(QdCall) call = qd_call_new(&qd_batch_call, NULL);
    g_autoptr(GError) error = NULL;

    if (!qd_bus_read_statements(message, call, qd_engine_get_limits(service->engine), &error) ||
        !qd_bus_read_options(message, call, &error))
        return qd_bus_return_error(ret_error, error);

    return qd_bus_call_start(userdata, message, g_steal_pointer(&call), fill_batch);
}

static int
fill_explain(sd_bus_message *reply, QdCall *call)
{
    int r;

    r = qd_bus_append_text(reply, call->result.sql);
    if (r < 0)
        return r;

    return qd_bus_append_text(reply, call->result.text != NULL ? call->result.text->str : NULL);
}

static int
handle_explain(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMethod method = { &qd_explain_call, { qd_bus_read_statement, qd_bus_read_options }, fill_explain };

    return qd_bus_method_serve(&method, message, userdata, ret_error);
}

static int
handle_subscribe(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMaker maker = { qd_bus_subscriptions_reserve, qd_bus_subscriptions_release, qd_bus_subscriptions_add };
    g_autoptr(QdCall) call = qd_call_new(&qd_subscribe_call, NULL);
    g_autoptr(GError) error = NULL;

    if (!qd_bus_read_statement(message, call, &error) || !qd_bus_read_options(message, call, &error))
        return qd_bus_return_error(ret_error, error);

    return qd_bus_call_start_object(userdata, message, g_steal_pointer(&call), &maker);
}

static int
handle_import(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMethod method = { &qd_import_call, { qd_bus_read_fd, qd_bus_read_format, qd_bus_read_options }, NULL };

    return qd_bus_method_serve(&method, message, userdata, ret_error);
}

static int
handle_dump(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMethod method = { &qd_dump_call, { qd_bus_read_fd, qd_bus_read_format, qd_bus_read_options }, NULL };

    return qd_bus_method_serve(&method, message, userdata, ret_error);
}

static int
fill_payload_id(sd_bus_message *reply, QdCall *call)
{
    return sd_bus_message_append(reply, "x", call->payload_id);
}

static int
fill_nothing(sd_bus_message *reply, QdCall *call)
{
    return 0;
}

static int
handle_store_payload(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMethod method = { &qd_store_payload_call, { qd_bus_read_fd, qd_bus_read_options }, fill_payload_id };

    return qd_bus_method_serve(&method, message, userdata, ret_error);
}

static gboolean
read_payload_id(sd_bus_message *message, QdCall *call, GError **error)
{
    return qd_bus_read_payload_id(message, &call->payload_id, error);
}

static int
handle_replace_payload(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMethod method = { &qd_replace_payload_call,
                                        { read_payload_id, qd_bus_read_fd, qd_bus_read_options },
                                        fill_nothing };

    return qd_bus_method_serve(&method, message, userdata, ret_error);
}

static int
handle_delete_payload(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMethod method = { &qd_delete_payload_call, { read_payload_id, qd_bus_read_options }, fill_nothing };

    return qd_bus_method_serve(&method, message, userdata, ret_error);
}

static int
fill_payload(sd_bus_message *reply, QdCall *call)
{
    return sd_bus_message_append(reply, "h", g_array_index(call->result.payload_fds, int, 0));
}

static int
handle_open_payload(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    g_autoptr(QdCall) call = qd_call_new(&qd_open_payloads_call, NULL);
    g_autoptr(GError) error = NULL;
    int64_t id;

    if (!qd_bus_read_payload_id(message, &id, &error))
        return qd_bus_return_error(ret_error, error);

    call->payload_ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
    g_array_append_val(call->payload_ids, id);
    return qd_bus_call_start(userdata, message, g_steal_pointer(&call), fill_payload);
}

static int
fill_payloads(sd_bus_message *reply, QdCall *call)
{
    int r;

    r = sd_bus_message_open_container(reply, 'a', "h");
    for (guint i = 0; r >= 0 && i < call->result.payload_fds->len; i++)
        r = sd_bus_message_append(reply, "h", g_array_index(call->result.payload_fds, int, i));
    if (r < 0)
        return r;

    return sd_bus_message_close_container(reply);
}

static int
handle_open_payloads(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    const QdBusService *service = userdata;
    g_autoptr(QdCall) call = qd_call_new(&qd_open_payloads_call, NULL);
    g_autoptr(GError) error = NULL;

    if (!qd_bus_read_payload_ids(message, call, qd_engine_get_limits(service->engine), &error))
        return qd_bus_return_error(ret_error, error);

    return qd_bus_call_start(userdata, message, g_steal_pointer(&call), fill_payloads);
}

/* The caller's calls came before this one, so they are submitted. */
static void
act_cancel_call(QdBusService *service, sd_bus_message *message, const QdPeer *peer)
{
    uint32_t serial = 0;

    if (sd_bus_message_read_basic(message, 'u', &serial) > 0)
        qd_bus_calls_cancel_one(service, sd_bus_message_get_sender(message), serial);
    (void) qd_bus_note_sent(message, sd_bus_reply_method_return(message, NULL));
}

static int
handle_cancel_call(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    return qd_bus_call_act_for_all(userdata, message, act_cancel_call);
}

static int
get_version(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply, void *userdata,
            sd_bus_error *ret_error)
{
    if (g_str_equal(property, "ProtocolVersion"))
        return sd_bus_message_append(reply, "u", QW_PROTOCOL_VERSION);

    return sd_bus_message_append(reply, "s", QUERYD_VERSION);
}

static int
get_list(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply, void *userdata,
         sd_bus_error *ret_error)
{
    if (g_str_equal(property, "Languages"))
        return sd_bus_message_append(reply, "as", 2, "sql", "sparql");
    if (g_str_equal(property, "Formats"))
        return sd_bus_message_append(reply, "as", 16, "csv", "tsv", "json", "jsonl", "sparql-json", "sparql-xml", "sparql-csv",
                                     "sparql-tsv", "turtle", "trig", "ntriples", "nquads", "rdfxml", "jsonld", "arrow",
                                     "arrow-file");
    if (g_str_equal(property, "Features"))
        return sd_bus_message_append(reply, "as", 9, "socketpair", "ring", "pipe", "vmsplice", "fts5", "error-details", "fetch",
                                     "requested-usec", "session");

    return qd_bus_prefixes_append(((const QdBusService *) userdata)->prefixes, reply);
}

static int
get_state(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply, void *userdata,
          sd_bus_error *ret_error)
{
    const QdBusService *service = userdata;

    if (g_str_equal(property, "ReadOnly"))
        return sd_bus_message_append(reply, "b", qd_engine_is_read_only(service->engine));

    return sd_bus_message_append(reply, "t", qd_engine_get_generation(service->engine));
}

const sd_bus_vtable qd_bus_query_vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD_WITH_ARGS("Prepare", SD_BUS_ARGS("s", language, "s", text, "a{sv}", parameters, "a{sv}", options),
                            SD_BUS_RESULT("h", channel, "a(ss)", columns, "a{sv}", info), handle_prepare,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Query", SD_BUS_ARGS("s", language, "s", text, "a{sv}", parameters, "a{sv}", options),
                            SD_BUS_RESULT("as", columns, "aav", rows, "b", truncated), handle_query, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("QueryText", SD_BUS_ARGS("s", language, "s", text, "s", format, "a{sv}", options),
                            SD_BUS_RESULT("s", content_type, "s", result, "b", truncated), handle_query_text,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Export", SD_BUS_ARGS("s", language, "s", text, "s", format, "h", output, "a{sv}", options),
                            SD_BUS_RESULT("t", rows, "t", bytes), handle_export, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Update", SD_BUS_ARGS("s", language, "s", text, "a{sv}", parameters, "a{sv}", options),
                            SD_BUS_RESULT("t", changes, "x", last_insert_rowid, "t", generation), handle_update,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Batch", SD_BUS_ARGS("a(ssa{sv})", statements, "a{sv}", options),
                            SD_BUS_RESULT("at", changes, "t", generation), handle_batch, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Explain", SD_BUS_ARGS("s", language, "s", text, "a{sv}", options), SD_BUS_RESULT("s", sql, "s", plan),
                            handle_explain, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Import", SD_BUS_ARGS("h", source, "s", format, "a{sv}", options), SD_BUS_RESULT("o", job),
                            handle_import, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Dump", SD_BUS_ARGS("h", target, "s", format, "a{sv}", options), SD_BUS_RESULT("o", job), handle_dump,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Subscribe", SD_BUS_ARGS("s", language, "s", text, "a{sv}", options), SD_BUS_RESULT("o", subscription),
                            handle_subscribe, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("CancelCall", SD_BUS_ARGS("u", serial), SD_BUS_NO_RESULT, handle_cancel_call,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("OpenStore", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", name), qd_bus_store_handle_open,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_SIGNAL_WITH_ARGS("RowsChanged", SD_BUS_ARGS("t", generation, "a(oa(sbasasa(sav)))", subscriptions), 0),
    SD_BUS_SIGNAL_WITH_ARGS("Stale", SD_BUS_ARGS("t", generation, "ao", subscriptions), 0),
    SD_BUS_METHOD_WITH_ARGS("StorePayload", SD_BUS_ARGS("h", source, "a{sv}", options), SD_BUS_RESULT("x", id),
                            handle_store_payload, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("ReplacePayload", SD_BUS_ARGS("x", id, "h", source, "a{sv}", options), SD_BUS_NO_RESULT,
                            handle_replace_payload, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("DeletePayload", SD_BUS_ARGS("x", id, "a{sv}", options), SD_BUS_NO_RESULT, handle_delete_payload,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("OpenPayload", SD_BUS_ARGS("x", id), SD_BUS_RESULT("h", payload), handle_open_payload,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("OpenPayloads", SD_BUS_ARGS("ax", ids), SD_BUS_RESULT("ah", payloads), handle_open_payloads,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_SIGNAL_WITH_ARGS("Changed", SD_BUS_ARGS("t", generation, "as", tables, "as", graphs), 0),
    SD_BUS_PROPERTY("Version", "s", get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("ProtocolVersion", "u", get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("Languages", "as", get_list, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("Formats", "as", get_list, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("Features", "as", get_list, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("ReadOnly", "b", get_state, 0, 0),
    SD_BUS_PROPERTY("Generation", "t", get_state, 0, 0),
    SD_BUS_PROPERTY("Prefixes", "a{ss}", get_list, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    SD_BUS_VTABLE_END,
};
