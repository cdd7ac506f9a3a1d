/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The way of every call: handler → sender known → engine → `done` → reply.
 *
 * A reply whose building failed is dropped and an error sent instead: a half-built message gets the daemon thrown off the
 * bus.
 */
#include "daemon/bus/bus-call.h"

#include <errno.h>

#include "daemon/base/access.h"
#include "daemon/base/error.h"
#include "daemon/base/log.h"
#include "daemon/bus/bus-error.h"
#include "daemon/bus/bus-job.h"
#include "daemon/bus/bus-private.h"
#include "daemon/call/call-classes.h"

typedef struct QdBusCall {
    GList link; /* in the service's queue; data is the QdBusCall */
    QdBusService *service;
    sd_bus_message *message;
    QdCall *call;       /* (nullable) owned until submitted, then borrowed until `done` */
    QdBusFillFunc fill; /* NULL for a job */
    QdBusActFunc act;
    gboolean is_for_applications; /* the act is */
    gboolean is_for_all;          /* the act looks itself at who asks */
    const QdBusMaker *maker;      /* (nullable) (static) */
    gboolean is_reserved;
    const char *path; /* of the object made */
    gint64 started_usec;
    guint n_revocations; /* of its client's grants, when it was submitted */
    gboolean submitted;
    gboolean is_answered; /* before its call is done */
} QdBusCall;

static void
bus_call_free(QdBusCall *self)
{
    QdBusService *service = self->service;

    g_queue_unlink(&service->calls, &self->link);
    if (self->is_reserved && self->path == NULL)
        self->maker->release(self->call);
    (void) qd_call_free(self->call);
    sd_bus_message_unref(self->message);
    g_free(self);
    if (service->hooks.activity != NULL)
        service->hooks.activity(service->hooks.user_data);
}

/* Our own failures, as opposed to what a caller did wrong. */
static gboolean
is_our_failure(QwError code)
{
    return code == QW_ERROR_INTERNAL || code == QW_ERROR_CORRUPT || code == QW_ERROR_DISK_FULL || code == QW_ERROR_NO_MEMORY;
}

void
qd_bus_call_log(const QdCall *call, const char *sender, gint64 started_usec)
{
    gboolean failed = call->result.error != NULL;
    int level = failed && is_our_failure(qd_error_get_code(call->result.error)) ? LOG_WARNING : LOG_DEBUG;
    QdLogFields fields = {
        .message_id = failed ? QD_LOG_ID_CALL_FAILED : QD_LOG_ID_CALL_DONE,
        .sender = sender,
        .n_rows = call->result.n_rows,
    };

    if (!qd_log_is_enabled(level))
        return;

    fields.elapsed_usec = (guint64) MAX(g_get_monotonic_time() - started_usec, 1);
    if (!failed) {
        qd_log(level, &fields, "%s: done", call->class->name);
        return;
    }

    /* Messages of callers' errors may quote their statements; ours are logged above debug level, so without the text. */
    qd_log(level, &fields, "%s: failed: %s", call->class->name, call->result.error->message);
    if (qd_log_is_enabled(LOG_DEBUG) && call->statements->len > 0)
        qd_log(LOG_DEBUG, &fields, "failed statement: %s", g_array_index(call->statements, QdCallStatement, 0).text);
}

static int
send_reply(QdBusCall *self)
{
    sd_bus_message *reply = NULL;
    int r;

    r = sd_bus_message_new_method_return(self->message, &reply);
    if (r >= 0)
        r = self->maker != NULL ? sd_bus_message_append(reply, "o", self->path) : self->fill(reply, self->call);
    if (r >= 0)
        r = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return r;
}

static void
reply_error(const QdBusCall *self, const GError *error)
{
    /* GDBus takes errors with one argument only: that of Prepare, whose option is for the channel, stays as it is */
    if (self->call != NULL && self->call->options.error_details && self->call->class != &qd_prepare_call)
        qd_bus_reply_error_details(self->message, error);
    else
        qd_bus_reply_error(self->message, error);
}

static void
bus_call_fail(QdBusCall *self, const GError *error)
{
    if (!self->is_answered)
        reply_error(self, error);
    bus_call_free(self);
}

static void
on_told(void *user_data, const GError *error)
{
    QdBusCall *self = user_data;

    reply_error(self, error);
    self->is_answered = TRUE;
}

/* Consumes @self. */
static void
answer(QdBusCall *self)
{
    QdCall *call = self->call;
    g_autoptr(GError) error = NULL;
    int r;

    if (call->result.error == NULL && qd_call_is_reading(call)) /* a write that is done is answered */
        (void) qd_client_check_kept(call->client, self->n_revocations, &call->result.error);
    if (call->result.error == NULL && self->maker != NULL)
        self->path = self->maker->make(self->service, sd_bus_message_get_sender(self->message), call, &call->result.error);
    qd_bus_call_log(call, sd_bus_message_get_sender(self->message), self->started_usec);
    if (call->result.error != NULL || self->is_answered) {
        bus_call_fail(self, call->result.error);
        return;
    }

    r = send_reply(self);
    if (r >= 0) {
        bus_call_free(self);
        return;
    }
    if (r == -EMSGSIZE)
        qd_error_set(&error, QW_ERROR_TOO_BIG, "the answer does not fit into a D-Bus message; Prepare has no such bound");
    else
        qd_error_set_errno(&error, -r, "cannot build the answer");
    bus_call_fail(self, error);
}

static gboolean
is_bus_busy(const QdBusService *service)
{
    uint64_t n = 0;

    return sd_bus_get_n_queued_write(service->bus, &n) >= 0 && n > 0;
}

void
qd_bus_calls_answer_late(QdBusService *service, gboolean even_if_busy)
{
    while (!g_queue_is_empty(&service->late) && (even_if_busy || !is_bus_busy(service)))
        answer(g_queue_pop_head(&service->late));
    if (g_queue_is_empty(&service->late))
        service->late_source = sd_event_source_disable_unref(service->late_source);
}

static int
on_loop(sd_event_source *source, void *userdata)
{
    qd_bus_calls_answer_late(userdata, FALSE);
    return 0;
}

/*
 * A large answer is a message of up to 120 MiB, which no limit counts while it waits to be sent. So there is one at a time; the
 * results of the others are charged meanwhile.
 */
static void
on_done(QdCall *call, void *user_data)
{
    QdBusCall *self = user_data;
    QdBusService *service = self->service;
    gboolean waits = qd_call_has_large_result(call) && (is_bus_busy(service) || !g_queue_is_empty(&service->late));

    if (waits && service->late_source == NULL)
        waits = sd_event_add_post(service->event, &service->late_source, on_loop, service) >= 0;
    if (waits)
        g_queue_push_tail(&service->late, self);
    else
        answer(self);
}

/* An act (no call) shows or touches what several clients do. It is for the user, and for an application in its own store. */
static gboolean
may_call(const QdBusCall *self, const QdAccess *access)
{
    if (self->call != NULL && self->call->class->is_not_for_sandbox)
        return FALSE;
    if (access == NULL)
        return TRUE;
    if (self->call == NULL)
        return FALSE;
    if (self->call->class->obeys_access && qd_access_has_any(access, QD_ACCESS_READ))
        return TRUE;
    return qd_access_has_all(access, qd_call_is_reading(self->call) ? QD_ACCESS_READ : QD_ACCESS_WRITE);
}

static gboolean
check_sandbox(const QdBusCall *self, const QdPeer *peer, GError **error)
{
    if (self->is_for_all || (self->is_for_applications && qd_peer_get_application(peer) != NULL))
        return TRUE;
    if (self->is_for_applications && !qd_peer_is_sandboxed(peer)) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "the caller is no application in a sandbox: it has no store of its own");
        return FALSE;
    }
    if (!qd_peer_is_sandboxed(peer) || may_call(self, qd_client_get_access(qd_peer_get_client(peer))))
        return TRUE;

    return qd_peer_deny(peer, error);
}

static void
start_job(QdBusCall *self, const QdPeer *peer)
{
    qd_bus_jobs_start(self->service->jobs, self->message, qd_peer_get_client(peer), g_steal_pointer(&self->call),
                      self->started_usec);
    bus_call_free(self);
}

static void
submit(QdBusCall *self, const QdPeer *peer)
{
    g_autoptr(GError) error = NULL;

    self->call->client = qd_client_ref(qd_peer_get_client(peer));
    if (self->maker != NULL && !self->maker->reserve(self->service, self->call, &error)) {
        bus_call_fail(self, error);
        return;
    }
    self->is_reserved = self->maker != NULL;
    self->n_revocations = qd_client_get_n_revocations(self->call->client);
    self->call->done = on_done;
    self->call->told = on_told;
    self->call->user_data = self;
    self->submitted = TRUE;
    qd_engine_submit(self->service->engine, self->call);
}

/* A caller that has left hears no error: the journal says why nothing was done. */
static void
log_unknown(const QdBusCall *self, const GError *error)
{
    const QdLogFields fields = { .message_id = QD_LOG_ID_CALL_FAILED, .sender = sd_bus_message_get_sender(self->message) };

    if (qd_error_get_code(error) == QW_ERROR_CLOSED)
        qd_log(LOG_NOTICE, &fields, "%s was refused: %s", sd_bus_message_get_member(self->message), error->message);
}

/* The message is kept until it is answered. @client: (nullable): not known yet */
static gboolean
charge(QdBusCall *self, QdClient *client, GError **error)
{
    return self->call == NULL || qd_engine_charge_call(self->service->engine, self->call, client, error);
}

static void
on_peer(const QdPeer *peer, const GError *peer_error, void *user_data)
{
    QdBusCall *self = user_data;
    g_autoptr(GError) error = NULL;

    if (peer == NULL) {
        log_unknown(self, peer_error);
        bus_call_fail(self, peer_error);
    } else if (!check_sandbox(self, peer, &error) || !charge(self, qd_peer_get_client(peer), &error)) {
        bus_call_fail(self, error);
    } else if (self->act != NULL) {
        self->act(self->service, self->message, peer);
        bus_call_free(self);
    } else if (self->fill == NULL && self->maker == NULL) {
        start_job(self, peer);
    } else {
        submit(self, peer);
    }
}

static int
bus_call_run(QdBusService *service, sd_bus_message *message, const QdBusCall *initial)
{
    QdBusCall *self = g_memdup2(initial, sizeof *initial);
    g_autoptr(GError) error = NULL;

    self->service = service;
    self->message = sd_bus_message_ref(message);
    self->started_usec = g_get_monotonic_time();
    self->link.data = self;
    g_queue_push_tail_link(&service->calls, &self->link);
    if (service->hooks.activity != NULL)
        service->hooks.activity(service->hooks.user_data);
    if (!charge(self, NULL, &error)) {
        bus_call_fail(self, error);
        return 1;
    }
    qd_peers_resolve(service->peers, sd_bus_message_get_sender(message), on_peer, self);
    return 1;
}

int
qd_bus_call_start(QdBusService *service, sd_bus_message *message, QdCall *call, QdBusFillFunc fill)
{
    return bus_call_run(service, message, &(QdBusCall){ .call = call, .fill = fill });
}

int
qd_bus_method_serve(const QdBusMethod *method, sd_bus_message *message, QdBusService *service, sd_bus_error *ret_error)
{
    g_autoptr(QdCall) call = qd_call_new(method->class, NULL);
    g_autoptr(GError) error = NULL;

    for (guint i = 0; i < G_N_ELEMENTS(method->arguments) && method->arguments[i] != NULL; i++)
        if (!method->arguments[i](message, call, &error))
            return qd_bus_return_error(ret_error, error);
    return qd_bus_call_start(service, message, g_steal_pointer(&call), method->fill);
}

int
qd_bus_call_start_object(QdBusService *service, sd_bus_message *message, QdCall *call, const QdBusMaker *maker)
{
    return bus_call_run(service, message, &(QdBusCall){ .call = call, .maker = maker });
}

int
qd_bus_call_act(QdBusService *service, sd_bus_message *message, QdBusActFunc act)
{
    return bus_call_run(service, message, &(QdBusCall){ .act = act });
}

int
qd_bus_call_act_for_all(QdBusService *service, sd_bus_message *message, QdBusActFunc act)
{
    return bus_call_run(service, message, &(QdBusCall){ .act = act, .is_for_all = TRUE });
}

int
qd_bus_call_act_for_application(QdBusService *service, sd_bus_message *message, QdBusActFunc act)
{
    return bus_call_run(service, message, &(QdBusCall){ .act = act, .is_for_applications = TRUE });
}

void
qd_bus_calls_cancel_one(QdBusService *service, const char *sender, uint64_t serial)
{
    for (GList *link = service->calls.head; link != NULL; link = link->next) {
        const QdBusCall *self = link->data;
        uint64_t cookie;

        if (self->submitted && sd_bus_message_get_cookie(self->message, &cookie) >= 0 && cookie == serial &&
            g_strcmp0(sd_bus_message_get_sender(self->message), sender) == 0)
            qd_engine_cancel(service->engine, self->call);
    }
}

void
qd_bus_calls_cancel(QdBusService *service, const char *sender)
{
    for (GList *link = service->calls.head; link != NULL; link = link->next) {
        const QdBusCall *self = link->data;

        if (!self->submitted)
            continue;
        if (sender == NULL || (qd_call_is_reading(self->call) &&
                               g_strcmp0(sd_bus_message_get_sender(self->message), sender[0] != '\0' ? sender : NULL) == 0))
            qd_engine_cancel(service->engine, self->call);
    }
}
