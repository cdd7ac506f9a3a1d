/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What all exchanges have, in whichever way their responses are sent.
 */
#include "client-lib/http/http-exchange.h"

#include <unistd.h>

#include "client-lib/http/http-listen.h"

void
qhttp_exchange_note_sent(QhttpExchange *self)
{
    qhttp_peer_note_turn(self->peer, self->sent_func != NULL);
    if (self->sent_func != NULL)
        self->sent_func(self->sent_data, NULL);
}

/* Also when the client goes away before its response is whole. */
void
qhttp_exchange_finish(QhttpExchange *self)
{
    GFunc sent_func = self->sent_func;

    qhttp_peer_watch(self->peer, NULL, NULL);
    qhttp_peer_note_turn(self->peer, false);
    if (self->message != NULL)
        g_signal_handlers_disconnect_by_data(self->message, self);
    self->sent_func = NULL;
    self->way = NULL;
    g_clear_object(&self->message);
    if (!self->is_whole) /* GDBus keeps the context of a call that is cancelled after its end */
        g_cancellable_cancel(self->cancellable);
    if (sent_func != NULL)
        sent_func(self->sent_data, NULL); /* it may wait for the client */
    qhttp_exchange_unref(self);
}

QhttpExchange *
qhttp_exchange_new(QhttpService *service, QhttpPeer *peer, const QhttpWay *way, const char *method, const char *path,
                   SoupMessageHeaders *request_headers)
{
    QhttpExchange *self = g_new0(QhttpExchange, 1);

    self->n_refs = 2; /* the caller's, and that of qhttp_exchange_finish() */
    self->service = service;
    self->peer = peer;
    self->way = way;
    self->request_headers = soup_message_headers_ref(request_headers);
    self->method = g_strdup(method);
    self->path = g_strdup(path);
    self->cancellable = g_cancellable_new();
    self->form = qhttp_form_new();
    self->body = g_byte_array_new();
    self->body_fd = -1;
    self->start_usec = g_get_monotonic_time();
    return self;
}

QhttpExchange *
qhttp_exchange_ref(QhttpExchange *self)
{
    self->n_refs++;
    return self;
}

void
qhttp_exchange_unref(QhttpExchange *self)
{
    if (--self->n_refs > 0)
        return;

    if (self->updates != NULL)
        g_queue_unlink(self->updates, &self->update_link);
    (void) qhttp_form_free(self->form);
    soup_message_headers_unref(self->request_headers);
    if (self->response_lines != NULL)
        g_string_free(self->response_lines, TRUE);
    g_free(self->method);
    g_free(self->path);
    g_byte_array_unref(self->body);
    if (self->body_fd >= 0)
        (void) close(self->body_fd);
    g_object_unref(self->cancellable);
    g_free(self);
}

static void
on_gone(gpointer user_data)
{
    qhttp_exchange_break(user_data);
}

void
qhttp_exchange_begin(QhttpExchange *self)
{
    if (self->way->pause != NULL)
        self->way->pause(self);
    qhttp_peer_watch(self->peer, on_gone, self);
    qhttp_peer_note_turn(self->peer, true);
}

bool
qhttp_exchange_is_gone(const QhttpExchange *self)
{
    return self->way == NULL;
}

const char *
qhttp_exchange_get_method(const QhttpExchange *self)
{
    return self->method;
}

bool
qhttp_exchange_has_method(const QhttpExchange *self, const char *method)
{
    return g_str_equal(qhttp_exchange_get_method(self), method);
}

const char *
qhttp_exchange_get_header(const QhttpExchange *self, const char *name)
{
    return soup_message_headers_get_list(self->request_headers, name);
}

const char *
qhttp_exchange_get_accept(const QhttpExchange *self)
{
    const char *accept = qhttp_form_get(self->form, "accept");

    return accept != NULL ? accept : qhttp_exchange_get_header(self, "Accept");
}

char *
qhttp_exchange_get_url(const QhttpExchange *self)
{
    const char *host = qhttp_exchange_get_header(self, "Host");

    return g_strconcat("http://", host != NULL ? host : "localhost", self->path, NULL);
}

char *
qhttp_exchange_get_content_type(const QhttpExchange *self, char **ret_charset)
{
    g_autoptr(GHashTable) parameters = NULL;
    const char *type;

    if (ret_charset != NULL)
        *ret_charset = NULL;
    type = soup_message_headers_get_content_type(self->request_headers, &parameters);
    if (type != NULL && ret_charset != NULL)
        *ret_charset = g_strdup(g_hash_table_lookup(parameters, "charset"));
    return type != NULL ? g_ascii_strdown(type, -1) : NULL;
}

void
qhttp_exchange_set_header(QhttpExchange *self, const char *name, const char *value)
{
    if (!qhttp_exchange_is_gone(self))
        self->way->set_header(self, name, value);
}

void
qhttp_exchange_respond(QhttpExchange *self, guint status, const char *content_type, GString *body)
{
    if (qhttp_exchange_is_gone(self)) {
        if (body != NULL)
            g_string_free(body, TRUE);
        return;
    }

    if (content_type != NULL)
        qhttp_exchange_set_header(self, "Content-Type", content_type);
    self->way->respond(self, status, body);
}

void
qhttp_exchange_start_stream(QhttpExchange *self, guint status, const char *content_type)
{
    if (qhttp_exchange_is_gone(self))
        return;

    self->is_streamed = true;
    qhttp_exchange_set_header(self, "Content-Type", content_type);
    self->way->start_stream(self, status);
}

void
qhttp_exchange_send_chunk(QhttpExchange *self, GString *chunk)
{
    if (qhttp_exchange_is_gone(self))
        g_string_free(chunk, TRUE);
    else
        self->way->send_chunk(self, chunk);
}

void
qhttp_exchange_end_stream(QhttpExchange *self)
{
    if (qhttp_exchange_is_gone(self))
        return;

    self->sent_func = NULL;
    self->way->end_stream(self);
}

void
qhttp_exchange_break(QhttpExchange *self)
{
    if (!qhttp_exchange_is_gone(self))
        self->way->cut(self);
}
