/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests of the SPARQL 1.1 Protocol, as forms by POST, which every server takes at any length.
 */
#include "client-lib/remote-module/remote-http.h"

#include <string.h>
#include <sys/socket.h>

#define FORM_TYPE "application/x-www-form-urlencoded"

/* The graphs of "FROM <iri>" and "FROM NAMED <iri>", a line each. */
static void
append_dataset(GString *form, const RemoteRequest *request)
{
    g_auto(GStrv) lines = g_strsplit(request->dataset, "\n", -1);

    for (guint i = 0; lines[i] != NULL; i++) {
        const char *open = strchr(lines[i], '<');
        gboolean is_named = g_str_has_prefix(lines[i], "FROM NAMED ");
        g_autofree char *iri = NULL;

        if (open == NULL)
            continue;
        iri = g_strndup(open + 1, strcspn(open + 1, ">"));
        g_string_append_printf(form, "&%s%s=", request->is_update ? "using-" : "",
                               is_named             ? "named-graph-uri"
                               : request->is_update ? "graph-uri"
                                                    : "default-graph-uri");
        g_string_append_uri_escaped(form, iri, NULL, FALSE);
    }
}

static GBytes *
create_form(const RemoteRequest *request)
{
    GString *form = g_string_new(request->is_update ? "update=" : "query=");

    g_string_append_uri_escaped(form, request->text, NULL, FALSE);
    if (request->dataset != NULL)
        append_dataset(form, request);
    return g_string_free_to_bytes(form);
}

/* An update is never sent a second time, so it does not meet a kept connection that the server has just closed. */
static SoupMessage *
create_message(const RemoteTarget *target, GUri *uri, const RemoteRequest *request, GBytes *form)
{
    SoupMessage *message = soup_message_new_from_uri(SOUP_METHOD_POST, uri);
    SoupMessageHeaders *headers = soup_message_get_request_headers(message);

    soup_message_add_flags(message, SOUP_MESSAGE_NO_REDIRECT | SOUP_MESSAGE_DO_NOT_USE_AUTH_CACHE |
                                        (request->is_update ? SOUP_MESSAGE_NEW_CONNECTION : SOUP_MESSAGE_IDEMPOTENT));
    soup_message_headers_replace(headers, "Accept", request->accept);
    soup_message_headers_replace(headers, "Accept-Encoding", "identity");
    if (target->authorization != NULL)
        soup_message_headers_replace(headers, "Authorization", target->authorization);
    soup_message_set_request_body_from_bytes(message, FORM_TYPE, form);
    return message;
}

/* Errors of the transport ----------------------------------------------------------------------------------------------- */

static char *
describe_certificate(SoupMessage *message)
{
    static const struct {
        GTlsCertificateFlags flag;
        const char *text;
    } texts[] = {
        { G_TLS_CERTIFICATE_UNKNOWN_CA, "its issuer is not known" },
        { G_TLS_CERTIFICATE_BAD_IDENTITY, "it is of another host" },
        { G_TLS_CERTIFICATE_NOT_ACTIVATED, "it is not yet valid" },
        { G_TLS_CERTIFICATE_EXPIRED, "it has expired" },
        { G_TLS_CERTIFICATE_REVOKED, "it was revoked" },
        { G_TLS_CERTIFICATE_INSECURE, "it is insecure" },
    };
    GTlsCertificateFlags flags = soup_message_get_tls_peer_certificate_errors(message);
    g_autoptr(GString) out = g_string_new(NULL);

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        if ((flags & texts[i].flag) != 0)
            g_string_append_printf(out, "%s%s", out->len > 0 ? ", " : "", texts[i].text);
    return out->len > 0 ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}

/* Whether the request cannot have reached the endpoint. */
static gboolean
is_unreached(const GError *failure)
{
    static const GIOErrorEnum codes[] = { G_IO_ERROR_CONNECTION_REFUSED,  G_IO_ERROR_HOST_NOT_FOUND, G_IO_ERROR_HOST_UNREACHABLE,
                                          G_IO_ERROR_NETWORK_UNREACHABLE, G_IO_ERROR_PROXY_FAILED,   G_IO_ERROR_NOT_FOUND };

    for (guint i = 0; i < G_N_ELEMENTS(codes); i++)
        if (g_error_matches(failure, G_IO_ERROR, (int) codes[i]))
            return TRUE;
    return failure->domain == G_RESOLVER_ERROR || failure->domain == G_TLS_ERROR;
}

void
remote_http_take_error(GError **error, GError *failure, SoupMessage *message)
{
    g_autoptr(GError) owned = failure;
    g_autofree char *certificate = NULL;
    const char *host = g_uri_get_host(soup_message_get_uri(message));

    if (g_error_matches(owned, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
        g_propagate_error(error, g_steal_pointer(&owned));
        return;
    }
    if (owned->domain == G_TLS_ERROR)
        certificate = describe_certificate(message);
    if (is_unreached(owned))
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_UNAVAILABLE, "cannot reach the endpoint at '%s': %s%s%s%s", host,
                    owned->message, certificate != NULL ? " (" : "", certificate != NULL ? certificate : "",
                    certificate != NULL ? ")" : "");
    else
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED, "the connection to the endpoint at '%s' was lost: %s", host,
                    owned->message);
}

/* Answers --------------------------------------------------------------------------------------------------------------- */

gboolean
remote_answer_is_cut(const RemoteAnswer *self)
{
    SoupMessageHeaders *headers = soup_message_get_response_headers(self->message);
    char byte;

    if (soup_message_headers_get_encoding(headers) != SOUP_ENCODING_CHUNKED || self->socket == NULL)
        return FALSE;
    return g_socket_is_closed(self->socket) || recv(g_socket_get_fd(self->socket), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* To close a body that was not read whole would read it to its end, were it not cancelled. */
void
remote_answer_clear(RemoteAnswer *self)
{
    g_autoptr(GCancellable) cancelled = g_cancellable_new();

    g_cancellable_cancel(cancelled);
    if (self->body != NULL)
        (void) g_input_stream_close(self->body, self->was_read ? NULL : cancelled, NULL);
    g_clear_error(&self->refusal);
    g_clear_object(&self->socket);
    g_clear_object(&self->body);
    g_clear_object(&self->message);
    g_clear_pointer(&self->media_type, g_free);
}

static void
take_type(RemoteAnswer *answer)
{
    SoupMessageHeaders *headers = soup_message_get_response_headers(answer->message);
    const char *type = soup_message_headers_get_content_type(headers, NULL);

    answer->media_type = g_ascii_strdown(type != NULL ? type : "", -1);
    answer->is_end_marked = soup_message_get_http_version(answer->message) == SOUP_HTTP_2_0 ||
                            (soup_message_headers_get_encoding(headers) == SOUP_ENCODING_CHUNKED &&
                             soup_message_get_http_version(answer->message) == SOUP_HTTP_1_1 &&
                             !soup_message_headers_header_contains(headers, "Connection", "close")) ||
                            soup_message_headers_get_encoding(headers) == SOUP_ENCODING_CONTENT_LENGTH;
}

/* With what the body says of it. */
static void
fail_with_status(RemoteAnswer *answer, const RemoteRequest *request, GCancellable *cancellable, GError **error)
{
    g_autofree char *body = g_malloc(REMOTE_ERROR_BYTES);
    gsize n_bytes = 0;

    (void) g_input_stream_read_all(answer->body, body, REMOTE_ERROR_BYTES, &n_bytes, cancellable, NULL);
    remote_problem_set(error, soup_message_get_status(answer->message), soup_message_get_reason_phrase(answer->message),
                       answer->media_type, body, n_bytes, request->n_before);
}

static gboolean
check_encoding(const RemoteAnswer *answer, GError **error)
{
    const char *encoding = soup_message_headers_get_one(soup_message_get_response_headers(answer->message), "Content-Encoding");

    if (encoding == NULL || g_ascii_strcasecmp(encoding, "identity") == 0)
        return TRUE;
    g_set_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL,
                "the endpoint has compressed its answer ('%.40s'), which was not asked for", encoding);
    return FALSE;
}

static gboolean
is_same_origin(GUri *a, GUri *b)
{
    return g_str_equal(g_uri_get_scheme(a), g_uri_get_scheme(b)) && g_ascii_strcasecmp(g_uri_get_host(a), g_uri_get_host(b)) == 0 &&
           g_uri_get_port(a) == g_uri_get_port(b);
}

/* Where the answer leads. (transfer full) (nullable): NULL with @error set */
static GUri *
follow_redirect(const RemoteTarget *target, const RemoteAnswer *answer, const RemoteRequest *request, GError **error)
{
    const char *location = soup_message_headers_get_one(soup_message_get_response_headers(answer->message), "Location");
    GUri *from = soup_message_get_uri(answer->message);
    g_autoptr(GUri) to = location != NULL ? g_uri_parse_relative(from, location, SOUP_HTTP_URI_FLAGS, NULL) : NULL;
    guint status = soup_message_get_status(answer->message);

    if (to == NULL || g_uri_get_host(to) == NULL || g_uri_get_host(to)[0] == '\0' || /* libsoup takes none without a host */
        (g_strcmp0(g_uri_get_scheme(to), "http") != 0 && g_strcmp0(g_uri_get_scheme(to), "https") != 0)) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "the endpoint redirects with status %u to no URL of http", status);
        return NULL;
    }
    if (g_uri_get_userinfo(to) != NULL) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_ACCESS_DENIED,
                    "the endpoint redirects with status %u to a URL with user and password, which are not sent", status);
        return NULL;
    }
    if (status != 307 && status != 308) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL,
                    "the endpoint redirects with status %u, which a POST does not survive, to '%.200s': use that URL", status,
                    location);
        return NULL;
    }
    if (!is_same_origin(target->uri, to) &&
        (target->authorization != NULL || request->is_update ||
         (g_str_equal(g_uri_get_scheme(from), "https") && g_str_equal(g_uri_get_scheme(to), "http")))) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_ACCESS_DENIED,
                    "the endpoint redirects to another origin, '%s://%s': credentials and updates do not go there; use its URL if "
                    "it is trusted",
                    g_uri_get_scheme(to), g_uri_get_host(to));
        return NULL;
    }
    return g_steal_pointer(&to);
}

/* A socket that is closed before it is connected sends nothing. */
static void
check_address(RemoteAnswer *answer, SoupMessage *message, GSocketConnection *connection)
{
    g_autoptr(GSocketAddress) address = g_socket_connection_get_remote_address(connection, NULL);
    GInetAddress *internet = G_IS_INET_SOCKET_ADDRESS(address) ? g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(address))
                                                               : NULL;
    g_autoptr(GError) refusal = NULL;

    if (internet != NULL && answer->guard->check_address(answer->guard->data, soup_message_get_uri(message), internet, &refusal))
        return;
    (void) g_socket_close(g_socket_connection_get_socket(connection), NULL);
    if (answer->refusal == NULL)
        answer->refusal = g_steal_pointer(&refusal);
}

/* Of a connection that is made for @message. */
static void
on_network_event(SoupMessage *message, GSocketClientEvent event, GIOStream *stream, gpointer data)
{
    RemoteAnswer *answer = data;

    if (event == G_SOCKET_CLIENT_CONNECTING && G_IS_SOCKET_CONNECTION(stream) && answer->guard != NULL)
        check_address(answer, message, G_SOCKET_CONNECTION(stream));
    if (event == G_SOCKET_CLIENT_CONNECTED && G_IS_SOCKET_CONNECTION(stream))
        g_set_object(&answer->socket, g_socket_connection_get_socket(G_SOCKET_CONNECTION(stream)));
}

static gboolean
is_closed(gpointer key, gpointer value, gpointer data)
{
    return g_socket_is_closed(value);
}

/* Finds the socket of a connection that was kept, and remembers that of a new one. */
static void
find_socket(QueryDirect *self, RemoteAnswer *answer)
{
    gint64 id = (gint64) soup_message_get_connection_id(answer->message);

    (void) pthread_mutex_lock(&self->sockets_mutex);
    if (answer->socket != NULL) {
        (void) g_hash_table_foreach_remove(self->sockets, is_closed, NULL);
        (void) g_hash_table_replace(self->sockets, g_memdup2(&id, sizeof id), g_object_ref(answer->socket));
    } else {
        g_set_object(&answer->socket, g_hash_table_lookup(self->sockets, &id));
    }
    (void) pthread_mutex_unlock(&self->sockets_mutex);
}

static gboolean
send_once(QueryDirect *self, SoupMessage *message, GCancellable *cancellable, RemoteAnswer *answer, GError **error)
{
    GError *failure = NULL;

    answer->message = message;
    answer->guard = self->guard;
    answer->bytes_max = self->answer_bytes;
    answer->names = self->names;
    if (self->guard != NULL && !self->guard->check_url(self->guard->data, soup_message_get_uri(message), error))
        return FALSE;
    (void) g_signal_connect(message, "network-event", G_CALLBACK(on_network_event), answer);
    answer->body = soup_session_send(self->session, message, cancellable, &failure);
    (void) g_signal_handlers_disconnect_by_func(message, (gpointer) on_network_event, answer);
    if (answer->body == NULL && answer->refusal != NULL) {
        g_error_free(failure);
        g_propagate_error(error, g_steal_pointer(&answer->refusal));
        return FALSE;
    }
    if (answer->body == NULL) {
        remote_http_take_error(error, failure, message);
        return FALSE;
    }
    find_socket(self, answer);
    take_type(answer);
    return TRUE;
}

static gboolean
send_until_answered(QueryDirect *self, const RemoteRequest *request, GCancellable *cancellable, RemoteAnswer *answer,
                    GError **error)
{
    const RemoteTarget *target = request->is_update ? &self->update : &self->query;
    g_autoptr(GBytes) form = create_form(request);
    g_autoptr(GUri) uri = g_uri_ref(target->uri);

    for (guint i = 0; i <= REMOTE_REDIRECTS; i++) {
        guint status;
        GUri *next;

        if (!send_once(self, create_message(target, uri, request, form), cancellable, answer, error))
            return FALSE;
        status = soup_message_get_status(answer->message);
        if (status >= 200 && status < 300)
            return check_encoding(answer, error);
        if (status < 301 || status > 308 || status == 304) {
            fail_with_status(answer, request, cancellable, error);
            return FALSE;
        }
        next = follow_redirect(target, answer, request, error);
        if (next == NULL)
            return FALSE;
        g_uri_unref(uri);
        uri = next;
        remote_answer_clear(answer);
    }
    g_set_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "the endpoint redirects more than %u times", REMOTE_REDIRECTS);
    return FALSE;
}

gboolean
remote_http_send(QueryDirect *self, const RemoteRequest *request, GCancellable *cancellable, RemoteAnswer *ret_answer,
                 GError **error)
{
    RemoteAnswer answer = { 0 };
    gboolean ok = send_until_answered(self, request, cancellable, &answer, error);

    if (ok)
        *ret_answer = answer;
    else
        remote_answer_clear(&answer);
    return ok;
}
