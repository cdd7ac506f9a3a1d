/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One request to the endpoint by HTTP, up to the body of its answer.
 *
 * Place: internal to the module. It waits in the calling thread.
 * Invariant: credentials go to the origin that they were given for, and nowhere else.
 */
#pragma once

#include "client-lib/remote-module/remote-private.h"

typedef struct RemoteRequest {
    const char *text;    /* of the query or update */
    const char *dataset; /* (nullable): FROM clauses, as a command has them */
    const char *accept;  /* media types */
    gsize n_before;      /* bytes that stand before the first line of the caller's text */
    gboolean is_update;
} RemoteRequest;

typedef struct RemoteAnswer {
    SoupMessage *message;
    GInputStream *body;
    char *media_type;       /* lower case, without parameters; "" when none is given */
    gboolean is_end_marked; /* a body that was cut is noticed */
    gboolean was_read;      /* to its end: the connection serves the next request */
    guint64 bytes_max;      /* of the body; 0: any number */
    const RemoteNames *names;
    GError *refusal; /* (nullable): of the guard, for the address of the host */
    const RemoteGuard *guard;
    GSocket *socket; /* (nullable): of the connection */
} RemoteAnswer;

/**
 * remote_http_send:
 * @ret_answer: (out caller-allocates): with the status of success
 * @error: (nullable): location for an error
 *
 * Errors: UNAVAILABLE, DISCONNECTED, PROTOCOL, those of the statement as far as the answer's status and text tell them,
 * G_IO_ERROR_CANCELLED.
 *
 * Returns: FALSE on error
 */
gboolean remote_http_send(QueryDirect *self, const RemoteRequest *request, GCancellable *cancellable, RemoteAnswer *ret_answer,
                          GError **error);

/**
 * remote_answer_is_cut:
 *
 * libsoup takes a connection that is closed between two chunks for the end of the body. A server that has sent all keeps it open,
 * unless it has said otherwise.
 *
 * Returns: whether a body without an end mark of its own, which was read to its end, is not whole
 */
gboolean remote_answer_is_cut(const RemoteAnswer *self);

/* Closes the connection unless the body was read to its end. */
void remote_answer_clear(RemoteAnswer *self);

/* @failure: (transfer full): of libsoup or GIO, while the body was read. Sets @error. */
void remote_http_take_error(GError **error, GError *failure, SoupMessage *message);

/**
 * remote_problem_set:
 * @status: of HTTP, none of success
 * @body: (nullable): the begin of the answer, of @n_bytes
 * @n_before: as in RemoteRequest
 *
 * Sets the error that an answer tells, with the text of the server.
 */
void remote_problem_set(GError **error, guint status, const char *phrase, const char *media_type, const char *body, gsize n_bytes,
                        gsize n_before);
