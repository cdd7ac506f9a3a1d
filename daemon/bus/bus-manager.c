/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface org.queryd.Query1.Manager: what an administrator asks and orders.
 *
 * Place: room bus. Limits are for all callers. What shows or touches the work of others is refused to sandboxed callers, but for
 * an application in the store of its own.
 */
#include "daemon/base/error.h"
#include "daemon/bus/bus-args.h"
#include "daemon/bus/bus-call.h"
#include "daemon/bus/bus-error.h"
#include "daemon/bus/bus-job.h"
#include "daemon/bus/bus-peer.h"
#include "daemon/bus/bus-private.h"
#include "daemon/bus/bus-subscribe.h"
#include "daemon/job/job-classes.h"

/* A message being built by a foreach function: the first failure stays. */
typedef struct Building {
    sd_bus_message *reply;
    int r;
} Building;

static void
append_stat(const char *name, uint64_t value, void *user_data)
{
    Building *self = user_data;

    if (self->r >= 0)
        self->r = sd_bus_message_append(self->reply, "{sv}", name, "t", value);
}

static void
append_fact(const char *name, const char *value, void *user_data)
{
    Building *self = user_data;
    g_autofree char *text = qd_bus_make_text(value, strlen(value));

    if (self->r >= 0)
        self->r = sd_bus_message_append(self->reply, "{sv}", name, "s", text);
}

/* Sends what was built, or an error reply instead. */
static int
finish_reply(Building *self, sd_bus_error *ret_error)
{
    g_autoptr(GError) error = NULL;
    int r = self->r;

    if (r >= 0)
        r = sd_bus_message_close_container(self->reply);
    if (r >= 0)
        r = sd_bus_send(NULL, self->reply, NULL);
    sd_bus_message_unref(self->reply);
    if (r >= 0)
        return 1;

    qd_error_set_errno(&error, -r, "cannot build the answer");
    return qd_bus_return_error(ret_error, error);
}

/* For an act, which has no error to return. */
static void
finish_act(Building *self, sd_bus_message *message)
{
    sd_bus_error error = SD_BUS_ERROR_NULL;

    if (finish_reply(self, &error) < 0)
        (void) sd_bus_reply_method_error(message, &error);
    sd_bus_error_free(&error);
}

static void
act_get_stats(QdBusService *service, sd_bus_message *message, const QdPeer *peer)
{
    Building building = { 0 };

    building.r = sd_bus_message_new_method_return(message, &building.reply);
    if (building.r >= 0)
        building.r = sd_bus_message_open_container(building.reply, 'a', "{sv}");
    qd_engine_foreach_stat(service->engine, append_stat, &building);
    append_stat("bus_calls", service->calls.length, &building);
    append_stat("bus_clients", qd_peers_get_n_clients(service->peers), &building);
    append_stat("jobs_kept", qd_bus_jobs_get_n(service->jobs), &building);
    append_stat("subscriptions", qd_bus_subscriptions_get_n(service->subscriptions), &building);
    append_fact("version", QUERYD_VERSION, &building);
    qd_engine_foreach_fact(service->engine, append_fact, &building);
    finish_act(&building, message);
}

static int
handle_get_stats(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    return qd_bus_call_act(userdata, message, act_get_stats);
}

static int
handle_get_limits(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    const QdBusService *service = userdata;
    const QdLimits *limits = qd_engine_get_limits(service->engine);
    Building building = { 0 };

    building.r = sd_bus_message_new_method_return(message, &building.reply);
    if (building.r >= 0)
        building.r = sd_bus_message_open_container(building.reply, 'a', "(sttsss)");
    for (guint i = 0; building.r >= 0 && i < QD_N_LIMITS; i++) {
        const QdLimitInfo *info = qd_limit_get_info(i);

        building.r = sd_bus_message_append(building.reply, "(sttsss)", info->name, qd_limits_get(limits, i), info->value,
                                           info->unit, qw_error_get_name(info->error), info->description);
    }
    return finish_reply(&building, ret_error);
}

static void
append_query(const QdQueryInfo *info, void *user_data)
{
    Building *self = user_data;
    g_autofree char *text = qd_bus_make_text(info->text, strlen(info->text));
    g_autofree char *client = qd_bus_make_text(info->client, strlen(info->client));

    if (self->r >= 0)
        self->r = sd_bus_message_append(self->reply, "a{sv}", 8, "id", "t", info->id, "language", "s", info->language, "text", "s",
                                        text, "state", "s", info->state, "client", "s", client, "elapsed_usec", "t",
                                        info->elapsed_usec, "rows", "t", info->n_rows, "bytes", "t", info->n_bytes);
}

static void
act_list_queries(QdBusService *service, sd_bus_message *message, const QdPeer *peer)
{
    Building building = { 0 };

    building.r = sd_bus_message_new_method_return(message, &building.reply);
    if (building.r >= 0)
        building.r = sd_bus_message_open_container(building.reply, 'a', "a{sv}");
    qd_engine_foreach_query(service->engine, append_query, &building);
    finish_act(&building, message);
}

static int
handle_list_queries(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    return qd_bus_call_act(userdata, message, act_list_queries);
}

static void
act_cancel_query(QdBusService *service, sd_bus_message *message, const QdPeer *peer)
{
    g_autoptr(GError) error = NULL;
    uint64_t id = 0;

    if (sd_bus_message_read_basic(message, 't', &id) > 0 && qd_engine_cancel_query(service->engine, id)) {
        (void) qd_bus_note_sent(message, sd_bus_reply_method_return(message, NULL));
        return;
    }

    qd_error_set(&error, QW_ERROR_BAD_PARAMETER, "no query has the id %" G_GUINT64_FORMAT, id);
    qd_bus_reply_error(message, error);
}

static int
handle_cancel_query(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    return qd_bus_call_act(userdata, message, act_cancel_query);
}

static void
act_reload(QdBusService *service, sd_bus_message *message, const QdPeer *peer)
{
    g_autoptr(GError) error = NULL;

    if (service->hooks.reload == NULL || service->hooks.reload(&error, service->hooks.user_data))
        (void) qd_bus_note_sent(message, sd_bus_reply_method_return(message, NULL));
    else
        qd_bus_reply_error(message, error);
}

static int
handle_reload(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    return qd_bus_call_act(userdata, message, act_reload);
}

static int
fill_check(sd_bus_message *reply, QdCall *call)
{
    int r;

    r = sd_bus_message_append(reply, "b", call->result.ok);
    if (r >= 0)
        r = sd_bus_message_open_container(reply, 'a', "s");
    for (guint i = 0; r >= 0 && call->result.messages != NULL && i < call->result.messages->len; i++)
        r = qd_bus_append_text(reply, call->result.messages->pdata[i]);
    if (r < 0)
        return r;

    return sd_bus_message_close_container(reply);
}

static int
handle_check(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMethod method = { &qd_check_call, { qd_bus_read_options }, fill_check };

    return qd_bus_method_serve(&method, message, userdata, ret_error);
}

static int
fill_nothing(sd_bus_message *reply, QdCall *call)
{
    return 0;
}

static int
handle_optimize(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMethod method = { &qd_optimize_call, { qd_bus_read_options }, fill_nothing };

    return qd_bus_method_serve(&method, message, userdata, ret_error);
}

static int
handle_set_full_text(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMethod method = { &qd_full_text_call, { qd_bus_read_options }, fill_nothing };

    return qd_bus_method_serve(&method, message, userdata, ret_error);
}

static int
handle_backup(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMethod method = { &qd_backup_call, { qd_bus_read_fd, qd_bus_read_options }, NULL };

    return qd_bus_method_serve(&method, message, userdata, ret_error);
}

static int
handle_restore(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    static const QdBusMethod method = { &qd_restore_call, { qd_bus_read_fd, qd_bus_read_options }, NULL };

    return qd_bus_method_serve(&method, message, userdata, ret_error);
}

static int
get_health(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply, void *userdata,
           sd_bus_error *ret_error)
{
    const QdBusService *service = userdata;

    return sd_bus_message_append(reply, "s", qd_engine_get_health(service->engine));
}

const sd_bus_vtable qd_bus_manager_vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD_WITH_ARGS("GetStats", SD_BUS_NO_ARGS, SD_BUS_RESULT("a{sv}", stats), handle_get_stats,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("GetLimits", SD_BUS_NO_ARGS, SD_BUS_RESULT("a(sttsss)", limits), handle_get_limits,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("ListQueries", SD_BUS_NO_ARGS, SD_BUS_RESULT("aa{sv}", queries), handle_list_queries,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("CancelQuery", SD_BUS_ARGS("t", id), SD_BUS_NO_RESULT, handle_cancel_query, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Check", SD_BUS_ARGS("a{sv}", options), SD_BUS_RESULT("b", ok, "as", messages), handle_check,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Optimize", SD_BUS_ARGS("a{sv}", options), SD_BUS_NO_RESULT, handle_optimize,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("SetFullText", SD_BUS_ARGS("a{sv}", options), SD_BUS_NO_RESULT, handle_set_full_text,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Backup", SD_BUS_ARGS("h", target, "a{sv}", options), SD_BUS_RESULT("o", job), handle_backup,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Restore", SD_BUS_ARGS("h", source, "a{sv}", options), SD_BUS_RESULT("o", job), handle_restore,
                            SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD_WITH_ARGS("Reload", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, handle_reload, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_PROPERTY("Health", "s", get_health, 0, 0),
    SD_BUS_VTABLE_END,
};
