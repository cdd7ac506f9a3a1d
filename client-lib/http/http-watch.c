/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Changes of a result as server-sent events: "ready" once, then "stale" after each commit that may have changed it.
 *
 * A watch is an exchange whose response does not end, over a subscription of the library. It holds at most one event in memory:
 * while that is on its way, further changes become one.
 */
#include "client-lib/http/http-result.h"
#include "client-lib/http/http-routes.h"
#include "client-lib/http/http-service.h"

typedef struct Watch {
    QhttpExchange *exchange;
    QuerySubscription *subscription; /* (nullable): before it is made */
    guint64 generation;              /* of the last change */
    bool is_sending;
    bool is_stale; /* since the event that is being sent */
} Watch;

static void
watch_free(Watch *self)
{
    self->exchange->sent_func = NULL;
    qhttp_service_end_watch(self->exchange->service);
    if (self->subscription != NULL)
        g_signal_handlers_disconnect_by_data(self->subscription, self);
    g_clear_object(&self->subscription);
    qhttp_exchange_unref(self->exchange);
    g_free(self);
}

static void
send_event(Watch *self, const char *name)
{
    GString *event = g_string_new(NULL);

    g_string_append_printf(event, "event: %s\ndata: {\"generation\":%" G_GUINT64_FORMAT "}\n\n", name, self->generation);
    self->is_sending = true;
    self->is_stale = false;
    qhttp_exchange_send_chunk(self->exchange, event);
}

static void
on_stale(QuerySubscription *subscription, guint64 generation, gpointer user_data)
{
    Watch *self = user_data;

    self->generation = generation;
    qhttp_service_note_generation(self->exchange->service, generation);
    if (self->is_sending)
        self->is_stale = true;
    else
        send_event(self, "stale");
}

/* Also when the client has gone. */
static void
on_sent(gpointer data, gpointer unused)
{
    Watch *self = data;

    self->is_sending = false;
    if (qhttp_exchange_is_gone(self->exchange))
        watch_free(self);
    else if (self->is_stale)
        send_event(self, "stale");
}

static void
on_subscribed(GObject *source, GAsyncResult *result, gpointer user_data)
{
    Watch *self = user_data;
    g_autoptr(GError) error = NULL;

    self->subscription = query_connection_subscribe_finish(QUERY_CONNECTION(source), result, &error);
    if (self->subscription == NULL || qhttp_exchange_is_gone(self->exchange)) {
        if (error != NULL && !qhttp_exchange_is_gone(self->exchange))
            qhttp_exchange_fail_with(self->exchange, error);
        watch_free(self);
        return;
    }

    self->generation = query_subscription_get_generation(self->subscription);
    (void) g_signal_connect(self->subscription, "stale", G_CALLBACK(on_stale), self);
    self->exchange->sent_func = on_sent;
    self->exchange->sent_data = self;
    qhttp_exchange_start_stream(self->exchange, 200, "text/event-stream; charset=utf-8");
    send_event(self, "ready");
}

/* false: answered */
static bool
can_watch(QhttpExchange *exchange)
{
    if (!qhttp_exchange_has_method(exchange, "GET")) {
        qhttp_exchange_fail_method(exchange);
        return false;
    }
    if (!exchange->has_chunks) {
        qhttp_exchange_fail(exchange, 505, "events need HTTP/1.1");
        return false;
    }
    if (!qhttp_service_begin_watch(exchange->service)) {
        qhttp_service_refuse(exchange, 503, QHTTP_LIMIT_WATCHES, "too many results are watched");
        return false;
    }
    return true;
}

void
qhttp_handle_watch(QhttpExchange *exchange)
{
    QueryLanguage language;
    const char *text = qhttp_get_statement(exchange, &language);
    QueryConnection *connection = text != NULL ? qhttp_service_connect(exchange) : NULL;
    Watch *self;

    if (connection == NULL)
        return;
    if (!qhttp_set_scope(exchange, connection, NULL, NULL) || !can_watch(exchange))
        return;

    self = g_new0(Watch, 1);
    self->exchange = qhttp_exchange_ref(exchange);
    query_connection_subscribe_async(connection, language, text, exchange->cancellable, on_subscribed, self);
}
