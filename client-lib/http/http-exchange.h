/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An exchange: one request and its response, from the request's headers to the response's last byte.
 *
 * Place: room http, between libsoup and the handlers of the routes. Handlers answer later: the exchange keeps what they need, and
 * cancels it when the client has gone.
 * Invariant: exactly one response is begun for each exchange whose client is still there. A streamed response that was not ended
 * is broken, so that no client can take it for a whole one.
 */
#pragma once

#include <libsoup/soup.h>
#include <stdbool.h>

#include "client-lib/http/http-accept.h"
#include "client-lib/http/http-form.h"

typedef struct QhttpExchange QhttpExchange;
typedef struct QhttpQuick QhttpQuick;
typedef struct QhttpService QhttpService;
typedef struct QhttpPeer QhttpPeer;

typedef void (*QhttpHandler)(QhttpExchange *exchange);

/* A place of the server. */
typedef struct QhttpRoute {
    const char *path;
    bool has_children;   /* what lies below it is its own, too */
    bool takes_document; /* a body goes into a file, up to another limit */
    bool is_open;        /* without a token */
    bool is_quick;       /* its simple requests are read without libsoup */
    const char *methods; /* for Allow */
    QhttpHandler handler;
} QhttpRoute;

/* Of each response. */
#define QHTTP_COMMON_HEADERS(X)                                                                 \
    X("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'") \
    X("X-Content-Type-Options", "nosniff")                                                      \
    X("Referrer-Policy", "no-referrer")                                                         \
    X("Cross-Origin-Resource-Policy", "same-origin")                                            \
    X("Cache-Control", "private, no-cache")                                                     \
    X("Vary", "Accept, Authorization, Cookie, Origin")

/* How the response of an exchange is sent: by libsoup (http-soup.c), or without it (http-quick.c). Called while the client is
 * there. */
typedef struct QhttpWay {
    void (*pause)(QhttpExchange *exchange); /* (nullable): the response comes later */
    void (*set_header)(QhttpExchange *exchange, const char *name, const char *value);
    void (*respond)(QhttpExchange *exchange, guint status, GString *body); /* @body: (transfer full) (nullable) */
    void (*start_stream)(QhttpExchange *exchange, guint status);
    void (*send_chunk)(QhttpExchange *exchange, GString *chunk); /* @chunk: (transfer full) */
    void (*end_stream)(QhttpExchange *exchange);
    void (*cut)(QhttpExchange *exchange); /* the connection, too; @exchange may be gone then */
} QhttpWay;

struct QhttpExchange {
    gint n_refs;
    QhttpService *service;
    const QhttpWay *way;        /* NULL: the client has gone, or has its response */
    SoupServerMessage *message; /* (nullable): libsoup's */
    QhttpQuick *quick;          /* (nullable): without libsoup */
    QhttpPeer *peer;
    char *method;
    char *path;
    SoupMessageHeaders *request_headers;
    GString *response_lines; /* (nullable): headers as they are sent, without libsoup */
    const QhttpRoute *route;
    GCancellable *cancellable; /* of what the request has started: the client has gone */
    QhttpForm *form;           /* of the URL, and of the body if it is a form */
    GByteArray *body;
    int body_fd; /* -1: the body is in memory */
    guint64 n_body_bytes;
    gint64 start_usec;
    GQueue *updates; /* (nullable) (not owned): of an update, which may have been executed although it fails: it stands in here */
    GList update_link;
    bool is_refused; /* has its response before its body was read */
    bool is_streamed;
    bool is_paused;
    bool has_chunks; /* the client speaks HTTP/1.1 */
    bool is_whole;   /* the response was sent to its end */
    GFunc sent_func; /* (nullable): called with sent_data when a chunk was sent, and when the client has gone */
    gpointer sent_data;
    gpointer handler_data; /* what a handler keeps while the exchange waits for its turn */
};

/* (transfer full) */
QhttpExchange *qhttp_exchange_new(QhttpService *service, QhttpPeer *peer, const QhttpWay *way, const char *method, const char *path,
                                  SoupMessageHeaders *request_headers);
/* http-soup.c. @message: borrowed until it is finished. (transfer full) */
QhttpExchange *qhttp_exchange_new_soup(QhttpService *service, SoupServerMessage *message, QhttpPeer *peer);
/* A chunk was sent; the response was sent to its end, or the connection is gone. */
void qhttp_exchange_note_sent(QhttpExchange *self);
void qhttp_exchange_finish(QhttpExchange *self);
QhttpExchange *qhttp_exchange_ref(QhttpExchange *self);
void qhttp_exchange_unref(QhttpExchange *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QhttpExchange, qhttp_exchange_unref)

/* Begins to watch for the client's end, and lets the handler answer later. */
void qhttp_exchange_begin(QhttpExchange *self);

bool qhttp_exchange_is_gone(const QhttpExchange *self);
/* "GET", …; (transfer none) */
const char *qhttp_exchange_get_method(const QhttpExchange *self);
bool qhttp_exchange_has_method(const QhttpExchange *self, const char *method);
/* (nullable) */
const char *qhttp_exchange_get_header(const QhttpExchange *self, const char *name);
/* (nullable): the media types that the client takes: the parameter "accept" of the URL or the form, or the header */
const char *qhttp_exchange_get_accept(const QhttpExchange *self);
/* (transfer full): of the request, without its query */
char *qhttp_exchange_get_url(const QhttpExchange *self);
void qhttp_exchange_set_header(QhttpExchange *self, const char *name, const char *value);
/* (transfer full) (nullable): of the request, without parameters; @ret_charset (transfer full) (nullable) */
char *qhttp_exchange_get_content_type(const QhttpExchange *self, char **ret_charset);

/* The whole response. @body: (transfer full) (nullable). */
void qhttp_exchange_respond(QhttpExchange *self, guint status, const char *content_type, GString *body);

/* A response in chunks. */
void qhttp_exchange_start_stream(QhttpExchange *self, guint status, const char *content_type);
/* @chunk: (transfer full). sent_func is called when the next one may follow. */
void qhttp_exchange_send_chunk(QhttpExchange *self, GString *chunk);
void qhttp_exchange_end_stream(QhttpExchange *self);
/* Ends the connection: what was sent is not the whole response. */
void qhttp_exchange_break(QhttpExchange *self);

/* http-problem.c: a response that says what is wrong (RFC 9457). */
void qhttp_exchange_fail(QhttpExchange *self, guint status, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* @error: (transfer none): of the library */
void qhttp_exchange_fail_with(QhttpExchange *self, const GError *error);
void qhttp_exchange_fail_method(QhttpExchange *self);
