/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The life of an exchange inside libsoup: pausing, chunks, the client's end.
 */
#include "client-lib/http/http-exchange.h"
#include "client-lib/http/http-listen.h"

static void
on_wrote_chunk(SoupServerMessage *message, gpointer user_data)
{
    qhttp_exchange_note_sent(user_data);
}

/* libsoup takes a response without a length for one that ends with the connection, also where it cannot have a body. */
static void
on_wrote_body(SoupServerMessage *message, gpointer user_data)
{
    QhttpExchange *self = user_data;
    guint status = soup_server_message_get_status(message);

    self->is_whole = true;
    if (!self->is_streamed)
        qhttp_peer_hold_output(self->peer, false);
    if (status == SOUP_STATUS_NO_CONTENT || status == SOUP_STATUS_NOT_MODIFIED)
        soup_message_headers_set_encoding(soup_server_message_get_response_headers(message), SOUP_ENCODING_NONE);
}

static void
on_finished(SoupServerMessage *message, gpointer user_data)
{
    qhttp_exchange_finish(user_data);
}

static void
resume(QhttpExchange *self)
{
    if (self->is_paused)
        soup_server_message_unpause(self->message);
    self->is_paused = false;
    qhttp_peer_note_turn(self->peer, false);
}

static void
append(QhttpExchange *self, GString *text)
{
    g_autoptr(GBytes) bytes = g_string_free_to_bytes(text);

    soup_message_body_append_bytes(soup_server_message_get_response_body(self->message), bytes);
}

static void
soup_pause(QhttpExchange *self)
{
    self->is_paused = true;
    soup_server_message_pause(self->message);
}

static void
soup_set_header(QhttpExchange *self, const char *name, const char *value)
{
    soup_message_headers_replace(soup_server_message_get_response_headers(self->message), name, value);
}

static void
soup_respond(QhttpExchange *self, guint status, GString *body)
{
    SoupMessageHeaders *headers = soup_server_message_get_response_headers(self->message);

    soup_server_message_set_status(self->message, status, NULL);
    if (status == SOUP_STATUS_NO_CONTENT || status == SOUP_STATUS_NOT_MODIFIED)
        soup_message_headers_set_encoding(headers, SOUP_ENCODING_NONE);
    else
        soup_message_headers_set_content_length(headers, body != NULL ? (goffset) body->len : 0);
    if (body != NULL && body->len > 0 && !qhttp_exchange_has_method(self, "HEAD"))
        append(self, body);
    else if (body != NULL)
        g_string_free(body, TRUE);
    soup_message_body_complete(soup_server_message_get_response_body(self->message));
    qhttp_peer_hold_output(self->peer, true);
    resume(self);
}

static void
soup_start_stream(QhttpExchange *self, guint status)
{
    soup_server_message_set_status(self->message, status, NULL);
    soup_message_headers_set_encoding(soup_server_message_get_response_headers(self->message), SOUP_ENCODING_CHUNKED);
}

static void
soup_send_chunk(QhttpExchange *self, GString *chunk)
{
    append(self, chunk);
    self->is_paused = true; /* as libsoup does when there is no chunk */
    resume(self);
}

static void
soup_end_stream(QhttpExchange *self)
{
    soup_message_body_complete(soup_server_message_get_response_body(self->message));
    self->is_paused = true;
    resume(self);
}

static void
soup_cut(QhttpExchange *self)
{
    g_autoptr(SoupServerMessage) message = g_object_ref(self->message);
    g_autoptr(GIOStream) stream = NULL;

    /* First: libsoup ends the body of a message that it gives up with a last chunk, as if it were whole. */
    qhttp_peer_shut_down(self->peer);
    stream = soup_server_message_steal_connection(message);
    if (stream != NULL)
        (void) g_io_stream_close(stream, NULL, NULL);
    if (self->message != NULL) /* a stolen connection finishes no message */
        qhttp_exchange_finish(self);
}

static const QhttpWay soup_way = {
    soup_pause, soup_set_header, soup_respond, soup_start_stream, soup_send_chunk, soup_end_stream, soup_cut,
};

QhttpExchange *
qhttp_exchange_new_soup(QhttpService *service, SoupServerMessage *message, QhttpPeer *peer)
{
    QhttpExchange *self = qhttp_exchange_new(service, peer, &soup_way, soup_server_message_get_method(message),
                                             g_uri_get_path(soup_server_message_get_uri(message)),
                                             soup_server_message_get_request_headers(message));

    self->message = g_object_ref(message);
    self->has_chunks = soup_server_message_get_http_version(message) != SOUP_HTTP_1_0;
    g_signal_connect(message, "wrote-chunk", G_CALLBACK(on_wrote_chunk), self);
    g_signal_connect(message, "wrote-body", G_CALLBACK(on_wrote_body), self);
    g_signal_connect(message, "finished", G_CALLBACK(on_finished), self);
    soup_message_body_set_accumulate(soup_server_message_get_request_body(message), FALSE);
    soup_message_body_set_accumulate(soup_server_message_get_response_body(message), FALSE);
    return self;
}
