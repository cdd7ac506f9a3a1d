/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The life of a request inside libsoup: pausing, chunks, the client's end.
 */
#include "client-lib/http/http-exchange.h"

#include <string.h>
#include <unistd.h>

#include "client-lib/http/http-listen.h"
#include "client-lib/http/http-quick.h"

/* Of most responses' headers beside those that all have. */
#define RESPONSE_LINES_BYTES 256

void
qhttp_exchange_note_sent(QhttpExchange *self)
{
    qhttp_peer_note_turn(self->peer, self->sent_func != NULL);
    if (self->sent_func != NULL)
        self->sent_func(self->sent_data, NULL);
}

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
    self->quick = NULL;
    g_clear_object(&self->message);
    if (!self->is_whole) /* GDBus keeps the context of a call that is cancelled after its end */
        g_cancellable_cancel(self->cancellable);
    if (sent_func != NULL)
        sent_func(self->sent_data, NULL); /* it may wait for the client */
    qhttp_exchange_unref(self);
}

static void
on_finished(SoupServerMessage *message, gpointer user_data)
{
    qhttp_exchange_finish(user_data);
}

static QhttpExchange *
exchange_new(QhttpService *service, QhttpPeer *peer, const char *method, const char *path)
{
    QhttpExchange *self = g_new0(QhttpExchange, 1);

    self->n_refs = 2; /* the caller's, and that of qhttp_exchange_finish() */
    self->service = service;
    self->peer = peer;
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
qhttp_exchange_new(QhttpService *service, SoupServerMessage *message, QhttpPeer *peer)
{
    QhttpExchange *self = exchange_new(service, peer, soup_server_message_get_method(message),
                                       g_uri_get_path(soup_server_message_get_uri(message)));

    self->message = g_object_ref(message);
    self->request_headers = soup_message_headers_ref(soup_server_message_get_request_headers(message));
    self->response_headers = soup_message_headers_ref(soup_server_message_get_response_headers(message));
    self->has_chunks = soup_server_message_get_http_version(message) != SOUP_HTTP_1_0;
    g_signal_connect(message, "wrote-chunk", G_CALLBACK(on_wrote_chunk), self);
    g_signal_connect(message, "wrote-body", G_CALLBACK(on_wrote_body), self);
    g_signal_connect(message, "finished", G_CALLBACK(on_finished), self);
    soup_message_body_set_accumulate(soup_server_message_get_request_body(message), FALSE);
    soup_message_body_set_accumulate(soup_server_message_get_response_body(message), FALSE);
    return self;
}

QhttpExchange *
qhttp_exchange_new_quick(QhttpService *service, QhttpQuick *quick, QhttpPeer *peer, const char *method, const char *path,
                         SoupMessageHeaders *request_headers)
{
    QhttpExchange *self = exchange_new(service, peer, method, path);

    self->quick = quick;
    self->request_headers = soup_message_headers_ref(request_headers);
    self->response_lines = g_string_sized_new(RESPONSE_LINES_BYTES);
    self->has_chunks = true;
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

    (void) qhttp_form_free(self->form);
    soup_message_headers_unref(self->request_headers);
    g_clear_pointer(&self->response_headers, soup_message_headers_unref);
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
    if (self->message != NULL) {
        self->is_paused = true;
        soup_server_message_pause(self->message);
    }
    qhttp_peer_watch(self->peer, on_gone, self);
    qhttp_peer_note_turn(self->peer, true);
}

bool
qhttp_exchange_is_gone(const QhttpExchange *self)
{
    return self->message == NULL && self->quick == NULL;
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

/* A line that has @name is taken out. */
static void
remove_line(GString *lines, const char *name)
{
    gsize n_name = strlen(name);
    const char *end;

    for (const char *line = lines->str; *line != '\0'; line = end + 2) {
        end = strstr(line, "\r\n");
        if (g_ascii_strncasecmp(line, name, n_name) != 0 || line[n_name] != ':')
            continue;
        g_string_erase(lines, line - lines->str, end + 2 - line);
        return;
    }
}

void
qhttp_exchange_set_header(QhttpExchange *self, const char *name, const char *value)
{
    if (self->response_lines == NULL) {
        soup_message_headers_replace(self->response_headers, name, value);
        return;
    }
    g_return_if_fail(strpbrk(value, "\r\n") == NULL); /* as libsoup: it would be a header of its own */
    remove_line(self->response_lines, name);
    g_string_append(self->response_lines, name);
    g_string_append_len(self->response_lines, ": ", 2);
    g_string_append(self->response_lines, value);
    g_string_append_len(self->response_lines, "\r\n", 2);
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
    if (self->quick != NULL) {
        self->is_whole = true;
        qhttp_quick_respond(self->quick, status, self->response_lines, body);
        return;
    }
    soup_server_message_set_status(self->message, status, NULL);
    if (status == SOUP_STATUS_NO_CONTENT || status == SOUP_STATUS_NOT_MODIFIED)
        soup_message_headers_set_encoding(self->response_headers, SOUP_ENCODING_NONE);
    else
        soup_message_headers_set_content_length(self->response_headers, body != NULL ? (goffset) body->len : 0);
    if (body != NULL && body->len > 0 && !qhttp_exchange_has_method(self, "HEAD"))
        append(self, body);
    else if (body != NULL)
        g_string_free(body, TRUE);
    soup_message_body_complete(soup_server_message_get_response_body(self->message));
    qhttp_peer_hold_output(self->peer, true);
    resume(self);
}

void
qhttp_exchange_start_stream(QhttpExchange *self, guint status, const char *content_type)
{
    if (qhttp_exchange_is_gone(self))
        return;

    self->is_streamed = true;
    qhttp_exchange_set_header(self, "Content-Type", content_type);
    if (self->quick != NULL) {
        qhttp_quick_start(self->quick, status, self->response_lines);
        return;
    }
    soup_server_message_set_status(self->message, status, NULL);
    soup_message_headers_set_encoding(self->response_headers, SOUP_ENCODING_CHUNKED);
}

void
qhttp_exchange_send_chunk(QhttpExchange *self, GString *chunk)
{
    if (self->quick != NULL) {
        qhttp_quick_send_chunk(self->quick, chunk);
        return;
    }
    if (self->message == NULL) {
        g_string_free(chunk, TRUE);
        return;
    }

    append(self, chunk);
    self->is_paused = true; /* as libsoup does when there is no chunk */
    resume(self);
}

void
qhttp_exchange_end_stream(QhttpExchange *self)
{
    if (qhttp_exchange_is_gone(self))
        return;

    self->sent_func = NULL;
    if (self->quick != NULL) {
        self->is_whole = true;
        qhttp_quick_end_chunks(self->quick);
        return;
    }
    soup_message_body_complete(soup_server_message_get_response_body(self->message));
    self->is_paused = true;
    resume(self);
}

void
qhttp_exchange_break(QhttpExchange *self)
{
    g_autoptr(SoupServerMessage) message = NULL;
    g_autoptr(GIOStream) stream = NULL;

    if (self->quick != NULL) {
        qhttp_quick_break(self->quick); /* @self may be gone then */
        return;
    }
    if (self->message == NULL)
        return;

    /* First: libsoup ends the body of a message that it gives up with a last chunk, as if it were whole. */
    qhttp_peer_shut_down(self->peer);
    message = g_object_ref(self->message);
    stream = soup_server_message_steal_connection(message);
    if (stream != NULL)
        (void) g_io_stream_close(stream, NULL, NULL);
    if (self->message != NULL) /* a stolen connection finishes no message */
        on_finished(message, self);
}
