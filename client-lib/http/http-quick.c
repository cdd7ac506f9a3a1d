/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading simple requests, and writing responses as the socket takes them.
 */
#include "client-lib/http/http-quick.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>

#include "client-lib/http/http-exchange.h"
#include "client-lib/http/http-listen.h"
#include "client-lib/wire/wire-spin.h"

/* A longer request is not simple. */
#define REQUEST_BYTES_MAX (16 * 1024)
/* So many requests of one connection are answered before others are looked at. */
#define IN_A_ROW_MAX 16
/* Of most responses' headers beside those that all have. */
#define RESPONSE_LINES_BYTES 256

typedef struct QuickSource {
    GSource source;
    QhttpQuick *quick;
} QuickSource;

struct QhttpQuick {
    QhttpPeer *peer;
    int fd;
    const QhttpQuickHooks *hooks;
    GSource *source;
    gpointer tag;            /* of the descriptor in the source */
    GIOCondition condition;  /* that the source waits for */
    QhttpExchange *exchange; /* (nullable): that is being answered; its reference is given up by qhttp_exchange_finish() */
    GString *out;            /* not yet sent from n_sent on */
    gsize n_sent;
    bool is_ending;   /* `out` has the response's last byte */
    bool is_chunking; /* `out` has a chunk that the exchange waits for */
    QwSpin spin;
    gint64 answered_usec; /* 0: the gap to the next request is not counted */
    bool may_linger;
};

static void
wait_for(QhttpQuick *self, GIOCondition condition)
{
    if (self->condition != condition)
        g_source_modify_unix_fd(self->source, self->tag, condition);
    self->condition = condition;
}

/* --- responses -------------------------------------------------------------------------------------------------------------- */

/* What all responses of a status have, for a second. */
static const GString *
get_head(guint status)
{
#define HEADER_LINE(name, value) name ": " value "\r\n"
    static GString *head;
    static guint head_status;
    static gint64 head_second;
    gint64 second = g_get_real_time() / G_USEC_PER_SEC;
    g_autoptr(GDateTime) time = NULL;
    g_autofree char *date = NULL;

    if (head != NULL && status == head_status && second == head_second)
        return head;
    if (head == NULL)
        head = g_string_new(NULL);
    time = g_date_time_new_from_unix_utc(second);
    date = soup_date_time_to_string(time, SOUP_DATE_HTTP);
    g_string_printf(head, "HTTP/1.1 %u %s\r\nServer: queryd-http\r\n" QHTTP_COMMON_HEADERS(HEADER_LINE) "Date: %s\r\n", status,
                    soup_status_get_phrase(status), date);
    head_status = status;
    head_second = second;
    return head;
#undef HEADER_LINE
}

static void
put_head(QhttpQuick *self, guint status, const GString *headers)
{
    const GString *head = get_head(status);

    g_string_append_len(self->out, head->str, (gssize) head->len);
    g_string_append_len(self->out, headers->str, (gssize) headers->len);
}

static void
put_length(GString *out, gsize n)
{
    char text[32];
    char *start = text + sizeof text;

    do
        *--start = (char) ('0' + n % 10);
    while ((n /= 10) > 0);
    g_string_append(out, "Content-Length: ");
    g_string_append_len(out, start, text + sizeof text - start);
    g_string_append_len(out, "\r\n", 2);
}

static void
end_exchange(QhttpQuick *self)
{
    QhttpExchange *exchange = g_steal_pointer(&self->exchange);

    self->is_ending = false;
    self->answered_usec = g_get_monotonic_time();
    self->may_linger = qw_spin_pays(&self->spin);
    wait_for(self, G_IO_IN);
    qhttp_exchange_finish(exchange);
}

/* Sends what the socket takes. A client that has gone is seen by http-listen. */
static void
flush(QhttpQuick *self)
{
    while (self->n_sent < self->out->len) {
        ssize_t n = send(self->fd, self->out->str + self->n_sent, self->out->len - self->n_sent, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            qhttp_peer_shut_down(self->peer);
        if (n < 0) {
            wait_for(self, errno == EAGAIN ? G_IO_OUT : 0);
            return;
        }
        self->n_sent += (gsize) n;
        qhttp_peer_note_turn(self->peer, false); /* the client's: it takes what is sent, or not */
    }
    self->n_sent = 0;
    g_string_truncate(self->out, 0);
    if (self->is_ending)
        end_exchange(self);
    else if (self->is_chunking)
        wait_for(self, G_IO_OUT); /* the exchange hears of it from the main loop: its next chunk may be there already */
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

static void
quick_set_header(QhttpExchange *exchange, const char *name, const char *value)
{
    GString *lines = exchange->response_lines;

    g_return_if_fail(strpbrk(value, "\r\n") == NULL); /* as libsoup: it would be a header of its own */
    remove_line(lines, name);
    g_string_append(lines, name);
    g_string_append_len(lines, ": ", 2);
    g_string_append(lines, value);
    g_string_append_len(lines, "\r\n", 2);
}

static void
quick_respond(QhttpExchange *exchange, guint status, GString *body)
{
    QhttpQuick *self = exchange->quick;

    exchange->is_whole = true;
    put_head(self, status, exchange->response_lines);
    if (status != SOUP_STATUS_NO_CONTENT && status != SOUP_STATUS_NOT_MODIFIED)
        put_length(self->out, body != NULL ? body->len : 0);
    g_string_append(self->out, "\r\n");
    if (body != NULL) {
        g_string_append_len(self->out, body->str, (gssize) body->len);
        g_string_free(body, TRUE);
    }
    self->is_ending = true;
    flush(self);
}

static void
quick_start_stream(QhttpExchange *exchange, guint status)
{
    put_head(exchange->quick, status, exchange->response_lines);
    g_string_append(exchange->quick->out, "Transfer-Encoding: chunked\r\n\r\n");
}

static void
quick_send_chunk(QhttpExchange *exchange, GString *chunk)
{
    QhttpQuick *self = exchange->quick;

    if (chunk->len > 0) { /* an empty one would be the last */
        g_string_append_printf(self->out, "%" G_GSIZE_MODIFIER "x\r\n", chunk->len);
        g_string_append_len(self->out, chunk->str, (gssize) chunk->len);
        g_string_append(self->out, "\r\n");
    }
    g_string_free(chunk, TRUE);
    self->is_chunking = true;
    flush(self);
}

static void
quick_end_stream(QhttpExchange *exchange)
{
    QhttpQuick *self = exchange->quick;

    exchange->is_whole = true;
    g_string_append(self->out, "0\r\n\r\n");
    self->is_ending = true;
    self->is_chunking = false;
    flush(self);
}

static void
quick_cut(QhttpExchange *exchange)
{
    QhttpQuick *self = exchange->quick;

    exchange = g_steal_pointer(&self->exchange);
    qhttp_peer_shut_down(self->peer);
    wait_for(self, 0);
    if (exchange != NULL)
        qhttp_exchange_finish(exchange);
}

static const QhttpWay quick_way = {
    NULL, quick_set_header, quick_respond, quick_start_stream, quick_send_chunk, quick_end_stream, quick_cut,
};

QhttpExchange *
qhttp_quick_new_exchange(QhttpQuick *self, QhttpService *service, const QhttpQuickRequest *request)
{
    QhttpExchange *exchange = qhttp_exchange_new(service, self->peer, &quick_way, request->method, request->path, request->headers);

    exchange->quick = self;
    exchange->response_lines = g_string_sized_new(RESPONSE_LINES_BYTES);
    exchange->has_chunks = true;
    return exchange;
}

/* --- requests --------------------------------------------------------------------------------------------------------------- */

/* A path, and perhaps a query, that need no more thought: what else a URL may have is libsoup's. */
static bool
is_simple_target(const char *target)
{
    static const char others[] = "-._~!$&'()*+,;=:@/?%";

    if (target[0] != '/' || target[1] == '/')
        return false;
    for (const char *p = target; *p != '\0'; p++)
        if (!g_ascii_isalnum(*p) && strchr(others, *p) == NULL)
            return false;
    return true;
}

/* How the body comes and how the connection goes on are as ever. */
static bool
has_simple_headers(SoupMessageHeaders *headers)
{
    static const char *const others[] = { "Transfer-Encoding", "Expect", "Upgrade", "Trailer", "TE" };
    const char *connection = soup_message_headers_get_list(headers, "Connection");

    for (guint i = 0; i < G_N_ELEMENTS(others); i++)
        if (soup_message_headers_get_list(headers, others[i]) != NULL)
            return false;
    return connection == NULL || g_ascii_strcasecmp(connection, "keep-alive") == 0;
}

/* false: the length is malformed, or more than has come */
static bool
find_body(SoupMessageHeaders *headers, gsize n_left, gsize *ret_n_bytes)
{
    const char *length = soup_message_headers_get_list(headers, "Content-Length");
    guint64 n = 0;

    if (length != NULL && !g_ascii_string_to_unsigned(length, 10, 0, n_left, &n, NULL))
        return false;
    *ret_n_bytes = (gsize) n;
    return true;
}

typedef struct Parsed {
    char *method;
    char *target;
    gsize n_bytes; /* of the whole request */
    QhttpQuickRequest request;
} Parsed;

static void
parsed_clear(Parsed *self)
{
    g_clear_pointer(&self->request.headers, soup_message_headers_unref);
    g_free(self->method);
    g_free(self->target);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Parsed, parsed_clear)

/* false: it is not simple, or not whole */
static bool
parse(Parsed *self, const char *data, gsize n_bytes)
{
    const char *end = memmem(data, n_bytes, "\r\n\r\n", 4);
    SoupHTTPVersion version;
    gsize n_head;
    char *sign;

    if (end == NULL || (strncmp(data, "GET ", 4) != 0 && strncmp(data, "POST ", 5) != 0))
        return false;

    n_head = (gsize) (end - data) + 4;
    self->request.headers = soup_message_headers_new(SOUP_MESSAGE_HEADERS_REQUEST);
    if (soup_headers_parse_request(data, (int) n_head - 2, self->request.headers, &self->method, &self->target, &version) !=
            SOUP_STATUS_OK ||
        version != SOUP_HTTP_1_1 || !is_simple_target(self->target) || !has_simple_headers(self->request.headers) ||
        !find_body(self->request.headers, n_bytes - n_head, &self->request.n_body_bytes) ||
        (self->request.n_body_bytes > 0 && data[0] == 'G'))
        return false;

    sign = strchr(self->target, '?');
    if (sign != NULL)
        *sign = '\0';
    self->request.method = self->method;
    self->request.path = self->target;
    self->request.query = sign != NULL ? sign + 1 : NULL;
    self->request.body = data + n_head;
    self->n_bytes = n_head + self->request.n_body_bytes;
    return true;
}

static void
note_gap(QhttpQuick *self)
{
    if (self->answered_usec != 0)
        qw_spin_note_asleep(&self->spin, (guint64) (g_get_monotonic_time() - self->answered_usec));
    self->answered_usec = 0;
}

/* Looks at what has come, without taking it. Returns: as recv() */
static ssize_t
peek(const QhttpQuick *self, char data[static REQUEST_BYTES_MAX + 1])
{
    ssize_t n = recv(self->fd, data, REQUEST_BYTES_MAX, MSG_PEEK | MSG_DONTWAIT);

    data[MAX(n, 0)] = '\0';
    return n;
}

/* @data: of @n_bytes, from peek(). Returns: whether it was answered at once; if not, @self may be gone */
static bool
serve_request(QhttpQuick *self, char *data, gsize n_bytes)
{
    g_auto(Parsed) parsed = { 0 };
    QhttpExchange *exchange = NULL;

    if (parse(&parsed, data, n_bytes))
        exchange = self->hooks->accept(self, self->peer, &parsed.request, self->hooks->user_data);
    if (exchange == NULL) {
        qhttp_peer_hand_over(self->peer);
        return false;
    }

    (void) recv(self->fd, data, parsed.n_bytes, MSG_DONTWAIT);
    self->exchange = exchange;
    qhttp_exchange_begin(exchange);
    self->hooks->serve(exchange, parsed.request.query);
    qhttp_exchange_unref(exchange);
    return self->exchange == NULL && self->condition == G_IO_IN;
}

/* Waits awake for the next request, for a moment: see wire-spin.h. Returns: as peek() */
static ssize_t
linger(QhttpQuick *self, char data[static REQUEST_BYTES_MAX + 1])
{
    gint64 end_usec = g_get_monotonic_time() + (gint64) qw_spin_get_usec(&self->spin);
    gint64 now_usec;
    ssize_t n;

    self->may_linger = false;
    do {
        (void) sched_yield();
        n = peek(self, data);
        now_usec = g_get_monotonic_time();
    } while (n < 0 && now_usec < end_usec);
    qw_spin_note_awake(&self->spin, n > 0 && qw_spin_is_caught((guint64) end_usec, (guint64) now_usec));
    if (n > 0)
        self->answered_usec = 0;
    return n;
}

/* A turn of the main loop takes as long as a part of a look-up: it comes after some of them. @self may be gone after it. */
static void
serve_requests(QhttpQuick *self)
{
    const QhttpQuickHooks *hooks = self->hooks;
    char data[REQUEST_BYTES_MAX + 1];
    ssize_t n = peek(self, data);

    if (n == 0) /* an end is seen by http-listen */
        wait_for(self, 0);
    if (n > 0)
        note_gap(self);
    for (guint i = 0; i < IN_A_ROW_MAX && n > 0 && serve_request(self, data, (gsize) n); i++)
        n = self->may_linger ? linger(self, data) : -1;
    hooks->rest(hooks->user_data);
}

/* --- the main loop ---------------------------------------------------------------------------------------------------------- */

static gboolean
source_check(GSource *source)
{
    QhttpQuick *self = ((QuickSource *) source)->quick;

    return g_source_query_unix_fd(source, self->tag) != 0;
}

/* Only what is waited for: an end of the connection is seen by http-listen. */
static gboolean
source_dispatch(GSource *source, GSourceFunc callback, gpointer user_data)
{
    QhttpQuick *self = ((QuickSource *) source)->quick;

    if (self->condition == G_IO_IN && self->exchange == NULL) {
        serve_requests(self);
    } else if (self->condition != G_IO_OUT) {
        wait_for(self, 0);
    } else if (self->is_chunking && self->out->len == 0) {
        self->is_chunking = false;
        wait_for(self, 0);
        qhttp_exchange_note_sent(self->exchange);
    } else {
        flush(self);
    }
    return G_SOURCE_CONTINUE;
}

static GSourceFuncs source_funcs = { NULL, source_check, source_dispatch, NULL, NULL, NULL };

QhttpQuick *
qhttp_quick_new(QhttpPeer *peer, GSocket *socket, const QhttpQuickHooks *hooks)
{
    QhttpQuick *self = g_new0(QhttpQuick, 1);

    self->peer = peer;
    self->fd = g_socket_get_fd(socket);
    self->hooks = hooks;
    self->out = g_string_new(NULL);
    self->condition = G_IO_IN;
    self->source = g_source_new(&source_funcs, sizeof(QuickSource));
    ((QuickSource *) self->source)->quick = self;
    self->tag = g_source_add_unix_fd(self->source, self->fd, G_IO_IN);
    g_source_set_can_recurse(self->source, TRUE); /* else GLib wakes its own loop twice for each request, by write() */
    g_source_attach(self->source, NULL);
    return self;
}

QhttpQuick *
qhttp_quick_free(QhttpQuick *self)
{
    if (self == NULL)
        return NULL;

    g_source_destroy(self->source);
    g_source_unref(self->source);
    g_string_free(self->out, TRUE);
    g_free(self);
    return NULL;
}
