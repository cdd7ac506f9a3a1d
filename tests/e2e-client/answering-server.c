/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table of answers by path, and a thread for each connection.
 */
#include "tests/e2e-client/answering-server.h"

#include <gio/gio.h>
#include <pthread.h>
#include <string.h>

#define JSON "application/sparql-results+json"
#define ONE_ROW "{\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[{\"a\":{\"type\":\"literal\",\"value\":\"x\"}}]}}"
#define CHUNKED(type) "HTTP/1.1 200 OK\r\nContent-Type: " type "\r\nTransfer-Encoding: chunked\r\n\r\n"
#define TSV_CHUNK "f\r\n?a\n\"x\"\n\"y\"\n\"z\"\n\r\n"

typedef enum Manner {
    CLOSES, /* after the answer */
    KEEPS,  /* the connection, for the next request */
    HANGS,  /* until the client goes */
    ENDLESS_BODY,
    ENDLESS_HEADERS,
} Manner;

typedef struct Answer {
    const char *path;
    const char *text; /* as it is sent */
    Manner manner;
} Answer;

static const Answer answers[] = {
    { "/one", "HTTP/1.1 200 OK\r\nContent-Type: " JSON "; charset=utf-8\r\nContent-Length: LENGTH\r\n\r\n" ONE_ROW, KEEPS },
    { "/eof-json", "HTTP/1.1 200 OK\r\nContent-Type: " JSON "\r\nConnection: close\r\n\r\n" ONE_ROW, CLOSES },
    { "/eof-tsv", "HTTP/1.1 200 OK\r\nContent-Type: text/tab-separated-values\r\nConnection: close\r\n\r\n?a\n\"x\"\n", CLOSES },
    { "/cut-length", "HTTP/1.1 200 OK\r\nContent-Type: text/tab-separated-values\r\nContent-Length: 100\r\n\r\n?a\n\"x\"\n",
      CLOSES },
    { "/cut-chunk", CHUNKED("text/tab-separated-values") "20\r\n?a\n\"x\"\n", CLOSES },
    { "/closes", CHUNKED("text/tab-separated-values") TSV_CHUNK "0\r\n\r\n", KEEPS },
    { "/closes-said",
      "HTTP/1.1 200 OK\r\nContent-Type: text/tab-separated-values\r\nConnection: close\r\n"
      "Transfer-Encoding: chunked\r\n\r\n" TSV_CHUNK "0\r\n\r\n",
      CLOSES },
    { "/cut-between", CHUNKED("text/tab-separated-values") TSV_CHUNK, CLOSES },
    { "/cut-json",
      "HTTP/1.1 200 OK\r\nContent-Type: " JSON "\r\nConnection: close\r\n\r\n{\"head\":{\"vars\":[\"a\"]},\"results\":"
      "{\"bindings\":[{\"a\":{\"type\":\"literal\",\"value\":\"x\"}},",
      CLOSES },
    { "/cut-headers", "HTTP/1.1 200 OK\r\nContent-Type: ", CLOSES },
    { "/nothing", "", CLOSES },
    { "/hangs", "", HANGS },
    { "/hangs-later", CHUNKED("text/tab-separated-values") TSV_CHUNK, HANGS },
    { "/endless", CHUNKED("text/tab-separated-values") TSV_CHUNK, ENDLESS_BODY },
    { "/endless-headers", "HTTP/1.1 200 OK\r\n", ENDLESS_HEADERS },
    { "/html", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: LENGTH\r\n\r\n<html>", KEEPS },
    { "/no-type", "HTTP/1.1 200 OK\r\nContent-Length: LENGTH\r\n\r\n{}", KEEPS },
    { "/not-json", "HTTP/1.1 200 OK\r\nContent-Type: " JSON "\r\nContent-Length: LENGTH\r\n\r\n{head}", KEEPS },
    { "/not-utf8", "HTTP/1.1 200 OK\r\nContent-Type: text/tab-separated-values\r\nContent-Length: LENGTH\r\n\r\n?a\n\"\xff\"\n\n",
      KEEPS },
    { "/gzip", "HTTP/1.1 200 OK\r\nContent-Type: " JSON "\r\nContent-Encoding: gzip\r\nContent-Length: LENGTH\r\n\r\nabc", KEEPS },
    { "/not-http", "SSH-2.0-OpenSSH_9.2\r\n", CLOSES },
    { "/wrong",
      "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: LENGTH\r\n\r\nerror at 3:17: expected\r\none of "
      "\x01\xff \"a\"",
      KEEPS },
    { "/problem",
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nContent-Length: LENGTH\r\n\r\n"
      "{\"status\":503,\"detail\":\"too \\\"large\\\"\",\"error\":\"too-big\",\"line\":2,\"column\":5}\n",
      KEEPS },
    { "/denied", "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n", KEEPS },
    { "/busy", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", KEEPS },
    { "/same-origin", "HTTP/1.1 307 Temporary Redirect\r\nLocation: /one\r\nContent-Length: 0\r\n\r\n", KEEPS },
    { "/other-origin", "HTTP/1.1 308 Permanent Redirect\r\nLocation: http://localhost:PORT/one\r\nContent-Length: 0\r\n\r\n",
      KEEPS },
    { "/see-other", "HTTP/1.1 302 Found\r\nLocation: /one\r\nContent-Length: 0\r\n\r\n", KEEPS },
    { "/to-file", "HTTP/1.1 307 Temporary Redirect\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n", KEEPS },
    { "/loop", "HTTP/1.1 307 Temporary Redirect\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n", KEEPS },
    { "/done", "HTTP/1.1 204 No Content\r\n\r\n", KEEPS },
};

static guint16 port;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* GMutex is not seen by ThreadSanitizer */
static char *last_request;                                /* guarded by mutex: head and body */
static guint n_connections;

static gboolean
send_text(GOutputStream *stream, const char *text)
{
    return g_output_stream_write_all(stream, text, strlen(text), NULL, NULL, NULL);
}

/* (transfer full) (nullable): a request with its body, which a length announces */
static char *
read_request(GDataInputStream *stream)
{
    g_autoptr(GString) request = g_string_new(NULL);
    gsize n_body = 0;

    for (;;) {
        g_autofree char *line = g_data_input_stream_read_line(stream, NULL, NULL, NULL);

        if (line == NULL)
            return NULL;
        g_string_append_printf(request, "%s\n", line);
        if (g_ascii_strncasecmp(line, "content-length:", 15) == 0)
            n_body = g_ascii_strtoull(line + 15, NULL, 10);
        if (line[0] == '\0' || g_str_equal(line, "\r"))
            break;
    }
    if (n_body > 0) {
        g_autofree char *body = g_malloc0(n_body + 1);

        if (!g_input_stream_read_all(G_INPUT_STREAM(stream), body, n_body, NULL, NULL, NULL))
            return NULL;
        g_string_append(request, body);
    }
    return g_string_free(g_steal_pointer(&request), FALSE);
}

static const Answer *
find_answer(const char *request)
{
    for (guint i = 0; i < G_N_ELEMENTS(answers); i++) {
        g_autofree char *line = g_strdup_printf("POST %s HTTP/1.1", answers[i].path);

        if (g_str_has_prefix(request, line))
            return &answers[i];
    }
    g_error("no answer for '%s'", request);
}

static gboolean
respond(const Answer *answer, GIOStream *stream)
{
    GOutputStream *output = g_io_stream_get_output_stream(stream);
    const char *body = strstr(answer->text, "\r\n\r\n");
    g_autoptr(GString) text = g_string_new(answer->text);
    g_autofree char *number = g_strdup_printf("%u", port);
    g_autofree char *length = g_strdup_printf("%" G_GSIZE_FORMAT, body != NULL ? strlen(body + 4) : 0);
    g_autoptr(GString) chunk = g_string_new("1000\r\n"); /* 4,096 bytes of rows */
    char byte;

    for (guint i = 0; i < 256; i++)
        g_string_append(chunk, "\"some text row\"\n");
    g_string_append(chunk, "\r\n");
    (void) g_string_replace(text, "PORT", number, 1);
    (void) g_string_replace(text, "LENGTH", length, 1);
    (void) send_text(output, text->str);
    while (answer->manner == ENDLESS_BODY && send_text(output, chunk->str))
        continue;
    while (answer->manner == ENDLESS_HEADERS && send_text(output, "X-More: some text that is of no use\r\n"))
        continue;
    if (answer->manner == HANGS)
        (void) g_input_stream_read(g_io_stream_get_input_stream(stream), &byte, 1, NULL, NULL);
    return answer->manner == KEEPS;
}

static gpointer
serve(gpointer data)
{
    g_autoptr(GIOStream) stream = data;
    g_autoptr(GDataInputStream) input = g_data_input_stream_new(g_io_stream_get_input_stream(stream));
    gboolean goes_on = TRUE;

    g_data_input_stream_set_newline_type(input, G_DATA_STREAM_NEWLINE_TYPE_CR_LF);
    (void) g_atomic_int_add(&n_connections, 1);
    while (goes_on) {
        char *request = read_request(input);

        if (request == NULL)
            break;
        (void) pthread_mutex_lock(&mutex);
        g_free(last_request);
        last_request = g_strdup(request);
        (void) pthread_mutex_unlock(&mutex);
        goes_on = respond(find_answer(request), stream);
        g_free(request);
    }
    return NULL;
}

static gpointer
accept_connections(gpointer data)
{
    for (;;) {
        GSocketConnection *connection = g_socket_listener_accept(data, NULL, NULL, NULL);

        g_thread_unref(g_thread_new("serve", serve, connection));
    }
    return NULL;
}

gboolean
answering_server_was_asked(const char *text)
{
    gboolean found;

    (void) pthread_mutex_lock(&mutex);
    found = last_request != NULL && strstr(last_request, text) != NULL;
    (void) pthread_mutex_unlock(&mutex);
    return found;
}

void
answering_server_forget(void)
{
    (void) pthread_mutex_lock(&mutex);
    g_clear_pointer(&last_request, g_free);
    (void) pthread_mutex_unlock(&mutex);
}

guint
answering_server_count_connections(void)
{
    return (guint) g_atomic_int_get(&n_connections);
}

guint16
answering_server_start(void)
{
    GSocketListener *listener = g_socket_listener_new();

    port = g_socket_listener_add_any_inet_port(listener, NULL, NULL);
    g_thread_unref(g_thread_new("accept", accept_connections, listener));
    return port;
}
