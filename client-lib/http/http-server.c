/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests from libsoup to the routes.
 */
#include "client-lib/http/http-server.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client-lib/http/http-listen.h"
#include "client-lib/http/http-routes.h"

#define EXCHANGE_KEY "queryd-exchange"

struct QhttpServer {
    SoupServer *soup;
    GMainLoop *loop;
    QhttpListeners *listeners;
    QhttpService *service;
    QhttpQuickHooks quick;
};

static const QhttpRoute routes[] = {
    { QHTTP_SPARQL_PATH, false, false, false, true, "GET, HEAD, POST, OPTIONS", qhttp_handle_sparql },
    { QHTTP_SPARQL_PATH "/", false, false, false, true, "GET, HEAD, POST, OPTIONS", qhttp_handle_sparql },
    { QHTTP_GRAPHS_PATH, true, true, false, false, "GET, HEAD, PUT, POST, DELETE, OPTIONS", qhttp_handle_graphs },
    { "/sql", false, false, false, true, "GET, HEAD, POST, OPTIONS", qhttp_handle_sql },
    { "/explain", false, false, false, false, "GET, POST, OPTIONS", qhttp_handle_explain },
    { "/watch", false, false, false, false, "GET, OPTIONS", qhttp_handle_watch },
    { "/status", false, false, false, false, "GET, HEAD, OPTIONS", qhttp_handle_status },
    { QHTTP_PAGE_PATH, true, false, false, false, "GET, HEAD, OPTIONS", qhttp_handle_page },
    { "/ticket", false, false, false, false, "POST, OPTIONS", qhttp_handle_ticket },
    { "/login", false, false, true, false, "GET, OPTIONS", qhttp_handle_login },
    { "/", false, false, false, false, "GET, HEAD, OPTIONS", qhttp_handle_index },
};

static const QhttpRoute *
find_route(const char *path)
{
    for (guint i = 0; i < G_N_ELEMENTS(routes); i++) {
        gsize n = strlen(routes[i].path);

        if (g_str_equal(path, routes[i].path) ||
            (routes[i].has_children && g_str_has_prefix(path, routes[i].path) && path[n] == '/'))
            return &routes[i];
    }
    return NULL;
}

/* --- before the body ---------------------------------------------------------------------------------------------------- */

static void
set_common_headers(QhttpExchange *exchange)
{
#define SET_HEADER(name, value) qhttp_exchange_set_header(exchange, name, value);
    QHTTP_COMMON_HEADERS(SET_HEADER)
#undef SET_HEADER
}

static void
allow_origin(QhttpServer *self, QhttpExchange *exchange)
{
    const char *origin = qhttp_access_get_allowed_origin(qhttp_service_get_access(self->service), exchange->request_headers);

    if (origin == NULL)
        return;

    qhttp_exchange_set_header(exchange, "Access-Control-Allow-Origin", origin);
    qhttp_exchange_set_header(exchange, "Access-Control-Allow-Methods", exchange->route->methods);
    qhttp_exchange_set_header(exchange, "Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, If-None-Match");
    qhttp_exchange_set_header(exchange, "Access-Control-Expose-Headers", "ETag, Location, Server-Timing");
    qhttp_exchange_set_header(exchange, "Cross-Origin-Resource-Policy", "cross-origin");
}

static void
add_bytes(const char *name, const char *value, gpointer user_data)
{
    *(gsize *) user_data += strlen(name) + strlen(value) + strlen(": \r\n");
}

static gsize
count_header_bytes(const QhttpExchange *exchange)
{
    GUri *uri = soup_server_message_get_uri(exchange->message);
    const char *query = g_uri_get_query(uri);
    gsize n = strlen(g_uri_get_path(uri)) + (query != NULL ? strlen(query) : 0);

    soup_message_headers_foreach(soup_server_message_get_request_headers(exchange->message), add_bytes, &n);
    return n;
}

static QhttpLimit
get_body_limit(const QhttpExchange *exchange)
{
    return exchange->route->takes_document ? QHTTP_LIMIT_GRAPH_BYTES : QHTTP_LIMIT_BODY_BYTES;
}

/* A browser would ask its user for a password, for a request that a page makes by itself. */
static bool
is_script(const QhttpExchange *exchange)
{
    const char *mode = qhttp_exchange_get_header(exchange, "Sec-Fetch-Mode");

    return mode != NULL && !g_str_equal(mode, "navigate");
}

static void
fail_verdict(QhttpExchange *exchange, QhttpVerdict verdict)
{
    switch (verdict) {
    case QHTTP_VERDICT_ALLOWED:
        return;
    case QHTTP_VERDICT_FOREIGN_HOST:
        qhttp_exchange_fail(exchange, 403, "this server is not called by this name: use localhost, or see the option --host");
        return;
    case QHTTP_VERDICT_FOREIGN_ORIGIN:
        qhttp_exchange_fail(exchange, 403, "a page of another origin has asked: see the option --allow-origin");
        return;
    case QHTTP_VERDICT_NO_TOKEN:
        qhttp_exchange_set_header(exchange, "WWW-Authenticate",
                                  is_script(exchange) ? "Bearer realm=\"queryd\""
                                                      : "Bearer realm=\"queryd\", Basic realm=\"queryd\"");
        qhttp_exchange_fail(exchange, 401, "a token is needed: send that of the token file as Bearer, or as password of Basic");
        return;
    }
}

/* Answers what can be answered without the body. */
static bool
answer_early(QhttpServer *self, QhttpExchange *exchange, const QhttpPeer *peer, const char *path)
{
    SoupMessageHeaders *headers = exchange->request_headers;
    const QhttpCaller caller = { headers, g_uri_get_host(soup_server_message_get_uri(exchange->message)),
                                 qhttp_peer_is_unix(peer) };
    bool is_preflight = qhttp_exchange_has_method(exchange, "OPTIONS");
    QhttpVerdict verdict;
    QhttpLimit limit;

    if (qhttp_peer_is_surplus(peer)) {
        qhttp_service_refuse(exchange, 503, QHTTP_LIMIT_CONNECTIONS, "too many connections");
        return true;
    }
    if (count_header_bytes(exchange) > qhttp_service_get_limit(self->service, QHTTP_LIMIT_HEADER_BYTES)) {
        qhttp_service_refuse(exchange, 431, QHTTP_LIMIT_HEADER_BYTES, "the request's headers are too long");
        return true;
    }
    exchange->route = find_route(path);
    if (exchange->route == NULL || exchange->route->is_open || is_preflight)
        verdict = qhttp_access_check_caller(qhttp_service_get_access(self->service), &caller);
    else
        verdict = qhttp_access_check(qhttp_service_get_access(self->service), &caller);
    if (verdict != QHTTP_VERDICT_ALLOWED) {
        fail_verdict(exchange, verdict);
        return true;
    }
    if (exchange->route == NULL) {
        qhttp_exchange_fail(exchange, 404, "there is nothing at this path");
        return true;
    }
    allow_origin(self, exchange);
    if (is_preflight) {
        qhttp_exchange_set_header(exchange, "Allow", exchange->route->methods);
        qhttp_exchange_respond(exchange, 204, NULL, NULL);
        return true;
    }
    limit = get_body_limit(exchange);
    if (soup_message_headers_get_encoding(headers) == SOUP_ENCODING_CONTENT_LENGTH &&
        (guint64) soup_message_headers_get_content_length(headers) > qhttp_service_get_limit(self->service, limit)) {
        qhttp_service_refuse(exchange, 413, limit, "the request's body is too long");
        return true;
    }
    return false;
}

static bool
write_to_file(QhttpExchange *exchange, const char *data, gsize n_bytes)
{
    if (exchange->body_fd < 0)
        exchange->body_fd = open(g_get_tmp_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (exchange->body_fd < 0)
        return false;
    while (n_bytes > 0) {
        ssize_t n = write(exchange->body_fd, data, n_bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        data += n;
        n_bytes -= (gsize) n;
    }
    return true;
}

static void
on_chunk(SoupServerMessage *message, GBytes *chunk, gpointer user_data)
{
    QhttpExchange *exchange = user_data;
    gsize n_bytes = 0;
    const char *data = g_bytes_get_data(chunk, &n_bytes);

    if (exchange->is_refused)
        return;
    qhttp_peer_note_turn(exchange->peer, false);
    exchange->n_body_bytes += n_bytes;
    if (exchange->n_body_bytes > qhttp_service_get_limit(exchange->service, get_body_limit(exchange))) {
        exchange->is_refused = true;
        qhttp_service_refuse(exchange, 413, get_body_limit(exchange), "the request's body is too long");
    } else if (!exchange->route->takes_document) {
        g_byte_array_append(exchange->body, (const guint8 *) data, (guint) n_bytes);
    } else if (!write_to_file(exchange, data, n_bytes)) {
        exchange->is_refused = true;
        qhttp_exchange_fail(exchange, 507, "cannot keep the document in '%s': %s", g_get_tmp_dir(), g_strerror(errno));
    }
}

static void
on_headers(SoupServer *soup, SoupServerMessage *message, const char *path, GHashTable *query, gpointer user_data)
{
    QhttpServer *self = user_data;
    QhttpPeer *peer = qhttp_peer_find(message);
    QhttpExchange *exchange = qhttp_exchange_new_soup(self->service, message, peer);

    g_object_set_data_full(G_OBJECT(message), EXCHANGE_KEY, exchange, (GDestroyNotify) qhttp_exchange_unref);
    set_common_headers(exchange);
    exchange->is_refused = answer_early(self, exchange, peer, path);
    g_signal_connect(message, "got-chunk", G_CALLBACK(on_chunk), exchange);
}

/* --- with the body ---------------------------------------------------------------------------------------------------------- */

/* @query: (nullable): of the URL */
static void
serve(QhttpExchange *exchange, const char *query)
{
    if (query != NULL && !qhttp_form_parse(exchange->form, query, strlen(query)))
        qhttp_exchange_fail(exchange, 400, "the query of the URL is not encoded as a form");
    else
        exchange->route->handler(exchange);
}

static void
on_request(SoupServer *soup, SoupServerMessage *message, const char *path, GHashTable *query, gpointer user_data)
{
    QhttpExchange *exchange = g_object_get_data(G_OBJECT(message), EXCHANGE_KEY);
    const char *text = g_uri_get_query(soup_server_message_get_uri(message));

    if (exchange == NULL || exchange->is_refused)
        return;

    qhttp_peer_note_request(exchange->peer, false);
    qhttp_exchange_begin(exchange);
    serve(exchange, text);
}

/* --- without libsoup's machine ---------------------------------------------------------------------------------------------- */

static QhttpExchange *
accept_quick(QhttpQuick *quick, QhttpPeer *peer, const QhttpQuickRequest *request, gpointer user_data)
{
    QhttpServer *self = user_data;
    const QhttpRoute *route = find_route(request->path);
    const QhttpCaller caller = { request->headers, NULL, qhttp_peer_is_unix(peer) };
    gsize n_header_bytes = strlen(request->path) + (request->query != NULL ? strlen(request->query) : 0);
    QhttpExchange *exchange;

    soup_message_headers_foreach(request->headers, add_bytes, &n_header_bytes);
    if (route == NULL || !route->is_quick ||
        qhttp_access_get_allowed_origin(qhttp_service_get_access(self->service), request->headers) != NULL ||
        n_header_bytes > qhttp_service_get_limit(self->service, QHTTP_LIMIT_HEADER_BYTES) ||
        request->n_body_bytes > qhttp_service_get_limit(self->service, QHTTP_LIMIT_BODY_BYTES) ||
        qhttp_access_check(qhttp_service_get_access(self->service), &caller) != QHTTP_VERDICT_ALLOWED)
        return NULL;

    exchange = qhttp_quick_new_exchange(quick, self->service, request);
    exchange->route = route;
    exchange->n_body_bytes = request->n_body_bytes;
    g_byte_array_append(exchange->body, (const guint8 *) request->body, (guint) request->n_body_bytes);
    return exchange;
}

static void
rest_quick(gpointer user_data)
{
    qhttp_service_empty_bin(((QhttpServer *) user_data)->service);
}

static void
on_request_started(SoupServer *soup, SoupServerMessage *message, gpointer user_data)
{
    QhttpPeer *peer = qhttp_peer_find(message);

    if (peer != NULL)
        qhttp_peer_note_request(peer, true);
}

static gboolean
on_signal(gpointer user_data)
{
    QhttpServer *self = user_data;

    g_main_loop_quit(self->loop);
    return G_SOURCE_CONTINUE;
}

static void
on_idle(gpointer user_data)
{
    QhttpServer *self = user_data;

    if (qhttp_service_get_options(self->service)->is_activated)
        g_main_loop_quit(self->loop);
}

QhttpServer *
qhttp_server_new(const QhttpServiceOptions *options, GError **error)
{
    g_autoptr(QhttpServer) self = g_new0(QhttpServer, 1);

    self->loop = g_main_loop_new(NULL, FALSE);
    (void) g_unix_signal_add(SIGTERM, on_signal, self); /* before anyone can know that the server is there */
    (void) g_unix_signal_add(SIGINT, on_signal, self);
    self->service = qhttp_service_new(options, error);
    if (self->service == NULL)
        return NULL;

    self->soup = soup_server_new("server-header", "queryd-http", "raw-paths", TRUE, NULL);
    self->quick = (QhttpQuickHooks){ accept_quick, serve, rest_quick, self };
    self->listeners = qhttp_listeners_new(self->soup, &options->limits, &self->quick, on_idle, self);
    soup_server_add_early_handler(self->soup, NULL, on_headers, self, NULL);
    soup_server_add_handler(self->soup, NULL, on_request, self, NULL);
    g_signal_connect(self->soup, "request-started", G_CALLBACK(on_request_started), self);
    return g_steal_pointer(&self);
}

QhttpServer *
qhttp_server_free(QhttpServer *self)
{
    if (self == NULL)
        return NULL;

    (void) qhttp_listeners_free(self->listeners);
    if (self->soup != NULL)
        soup_server_disconnect(self->soup);
    g_clear_object(&self->soup);
    (void) qhttp_service_free(self->service);
    g_clear_pointer(&self->loop, g_main_loop_unref);
    g_free(self);
    return NULL;
}

/* The first port's is the URL for browsers of this machine. */
static void
note_url(QhttpServer *self, int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } address = { 0 };
    socklen_t n_bytes = sizeof address;
    g_autofree char *url = NULL;

    if (qhttp_service_get_url(self->service) != NULL || getsockname(fd, &address.any, &n_bytes) < 0)
        return;
    if (address.any.sa_family == AF_INET)
        url = g_strdup_printf("http://127.0.0.1:%u", (unsigned) ntohs(address.in.sin_port));
    else if (address.any.sa_family == AF_INET6)
        url = g_strdup_printf("http://[::1]:%u", (unsigned) ntohs(address.in6.sin6_port));
    qhttp_service_set_url(self->service, url);
}

bool
qhttp_server_listen(QhttpServer *self, int fd, GError **error)
{
    note_url(self, fd);
    return qhttp_listeners_add(self->listeners, fd, error);
}

void
qhttp_server_run(QhttpServer *self)
{
    g_main_loop_run(self->loop);
    qhttp_service_stop(self->service);
}
