/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The clients take turns on the engine's main thread: what one submits waits beside the others', so that groups form.
 */
#include "tests/crash/workload.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/call/call.h"
#include "tests/crash/workload-private.h"

static void
client_free(gpointer data)
{
    WorkloadClient *client = data;

    g_array_unref(client->positions);
    g_free(client);
}

static void
add_clients(Workload *self, WorkloadKind kind, guint n, guint pause)
{
    for (guint i = 0; i < n; i++) {
        WorkloadClient *client = g_new0(WorkloadClient, 1);

        *client = (WorkloadClient){ .workload = self, .kind = kind, .index = self->clients->len, .pause = pause };
        client->next = pause / 2 + (pause > 0 ? (guint) g_rand_int_range(self->rand, 0, (gint32) pause) : 0);
        client->positions = g_array_new(FALSE, FALSE, sizeof(guint));
        g_ptr_array_add(self->clients, client);
    }
}

Workload *
workload_new(const WorkloadConfig *config)
{
    Workload *self = g_new0(Workload, 1);

    self->config = *config;
    self->rand = g_rand_new_with_seed(config->seed);
    self->set_up_position = WORKLOAD_NOT_ACKNOWLEDGED;
    self->clients = g_ptr_array_new_with_free_func(client_free);
    add_clients(self, WORKLOAD_ROWS, 8, 0);
    add_clients(self, WORKLOAD_SPARQL, 3, 0);
    add_clients(self, WORKLOAD_PAYLOAD, 2, 16);
    add_clients(self, WORKLOAD_REPLACE_PAYLOAD, 2, 16);
    add_clients(self, WORKLOAD_QUERY, 1, 3);
    add_clients(self, WORKLOAD_SPARQL_QUERY, 1, 3);
    add_clients(self, WORKLOAD_FAILURE, 1, 20);
    add_clients(self, WORKLOAD_IMPORT_ROWS, 1, 60);
    add_clients(self, WORKLOAD_IMPORT_QUADS, 1, 100);
    add_clients(self, WORKLOAD_SCHEMA, 1, 150);
    add_clients(self, WORKLOAD_MAINTENANCE, 1, 250);
    return self;
}

Workload *
workload_free(Workload *self)
{
    if (self == NULL)
        return NULL;

    workload_connect(self, NULL);
    g_ptr_array_unref(self->clients);
    g_rand_free(self->rand);
    g_free(self->last_error);
    g_free(self);
    return NULL;
}

void
workload_connect(Workload *self, EngineDriver *driver)
{
    for (guint i = 0; i < self->clients->len; i++) {
        WorkloadClient *client = self->clients->pdata[i];
        g_autofree char *label = g_strdup_printf("client %u", i);

        g_clear_pointer(&client->client, qd_client_unref);
        if (driver != NULL)
            client->client = engine_driver_make_client(driver, label);
    }
    self->driver = driver;
}

static guint
get_position(const Workload *self)
{
    return memory_disk_get_n_ops(self->config.disk);
}

static void
note_error(Workload *self, const QdCall *call)
{
    gboolean writes = !qd_call_is_reading(call);

    if (call->result.error->message == NULL || call->result.error->message[0] == '\0' || call->result.error->domain != QD_ERROR)
        g_error("a failure without an error of ours");
    if (!self->config.may_fail)
        g_error("a call has failed: %s", call->result.error->message);
    if (self->config.is_disk_full && (!writes || qd_error_get_code(call->result.error) != QW_ERROR_DISK_FULL))
        self->n_wrong_errors++;
    g_free(self->last_error);
    self->last_error = g_strdup(call->result.error->message);
    self->n_failed++;
}

/* A result is whole, or an error. */
static void
check_result(const WorkloadClient *client, const QdCall *call)
{
    guint n_lines = 0;

    for (const char *p = call->result.text->str; *p != '\0'; p++)
        n_lines += *p == '\n' ? 1 : 0;
    if (n_lines != (client->kind == WORKLOAD_QUERY ? 101 : 6))
        g_error("a result of %u lines looks whole: %s", n_lines, call->result.text->str);
}

static void
on_done(QdCall *call, void *user_data)
{
    WorkloadClient *client = user_data;
    Workload *self = client->workload;

    client->busy = FALSE;
    client->next = self->n_acknowledged + client->pause;
    if (client->kind == WORKLOAD_FAILURE) {
        if (call->result.error == NULL)
            g_error("an update that breaks a constraint was acknowledged");
    } else if (call->result.error != NULL) {
        note_error(self, call);
    } else if (client->kind == WORKLOAD_QUERY || client->kind == WORKLOAD_SPARQL_QUERY) {
        check_result(client, call);
    } else {
        g_array_index(client->positions, guint, client->positions->len - 1) = get_position(self);
        self->n_acknowledged++;
        client->payload_id = call->payload_id;
    }
    qd_call_free(call);
}

static void
submit(WorkloadClient *client)
{
    const guint none = WORKLOAD_NOT_ACKNOWLEDGED;
    QdCall *call;

    g_array_append_val(client->positions, none);
    call = workload_make_call(client, client->positions->len);
    call->done = on_done;
    call->user_data = client;
    client->busy = TRUE;
    engine_driver_submit(client->workload->driver, call);
}

static void
on_set_up(QdCall *call, void *user_data)
{
    Workload *self = user_data;

    if (call->result.error != NULL)
        note_error(self, call);
    else
        self->set_up_position = get_position(self);
    self->set_up_busy = FALSE;
    qd_call_free(call);
}

gboolean
workload_set_up(Workload *self)
{
    QdCall *call;

    if (self->set_up_position != WORKLOAD_NOT_ACKNOWLEDGED)
        return TRUE;
    call = workload_make_set_up_call(self, ((WorkloadClient *) self->clients->pdata[0])->client);
    call->done = on_set_up;
    call->user_data = self;
    self->set_up_busy = TRUE;
    engine_driver_submit(self->driver, call);
    while (self->set_up_busy)
        engine_driver_iterate(self->driver);
    return self->set_up_position != WORKLOAD_NOT_ACKNOWLEDGED;
}

void
workload_run(Workload *self, guint n_ops)
{
    guint n_busy;

    do {
        gboolean over = get_position(self) >= n_ops;

        n_busy = 0;
        for (guint i = 0; i < self->clients->len; i++) {
            WorkloadClient *client = self->clients->pdata[i];

            if (!client->busy && !over && self->n_acknowledged >= client->next)
                submit(client);
            n_busy += client->busy ? 1 : 0;
        }
        if (n_busy > 0)
            engine_driver_iterate(self->driver);
    } while (n_busy > 0);
}

guint
workload_run_each(Workload *self)
{
    guint n_failed = self->n_failed;

    for (guint i = 0; i < self->clients->len; i++) {
        WorkloadClient *client = self->clients->pdata[i];

        submit(client);
        while (client->busy)
            engine_driver_iterate(self->driver);
    }
    return self->n_failed - n_failed;
}

guint
workload_get_n_acknowledged(const Workload *self)
{
    return self->n_acknowledged;
}

guint
workload_get_n_failed(const Workload *self)
{
    return self->n_failed;
}

guint
workload_get_n_wrong_errors(const Workload *self)
{
    return self->n_wrong_errors;
}

const char *
workload_get_last_error(const Workload *self)
{
    return self->last_error;
}
