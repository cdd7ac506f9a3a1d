/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who may use the server: the name it is called by, the page that calls, the token, cookies.
 *
 * Place: room http. Invariant: a browser's page of another origin is refused, also with a token or a cookie: the
 * browser may send them for it. Over TCP any user of the machine can connect, so a token is needed there.
 */
#pragma once

#include <libsoup/soup.h>
#include <stdbool.h>

typedef struct QhttpAccess QhttpAccess;

typedef struct QhttpAccessOptions {
    const char *token_file;             /* (nullable): NULL is below the runtime directory */
    bool no_token;                      /* over TCP, too */
    const char *const *allowed_origins; /* (nullable) */
    const char *const *allowed_hosts;   /* (nullable): besides the local ones */
    guint n_sessions_max;
} QhttpAccessOptions;

/* What a request says about its sender. */
typedef struct QhttpCaller {
    SoupMessageHeaders *headers;
    const char *target_host; /* (nullable): of an absolute request target */
    bool is_unix; /* it has come by the UNIX socket, whose permissions protect it: neither token nor name are asked for */
} QhttpCaller;

typedef enum QhttpVerdict {
    QHTTP_VERDICT_ALLOWED,
    QHTTP_VERDICT_FOREIGN_HOST,
    QHTTP_VERDICT_FOREIGN_ORIGIN,
    QHTTP_VERDICT_NO_TOKEN,
} QhttpVerdict;

/**
 * qhttp_access_new:
 * @options: what they refer to outlives the object
 * @error: (nullable): location for an error of G_FILE_ERROR
 *
 * Reads the token, or makes one in a file of mode 0600.
 *
 * Errors: the file cannot be read or made, belongs to another user, or others may read it.
 *
 * Returns: (transfer full) (nullable): NULL on error
 */
QhttpAccess *qhttp_access_new(const QhttpAccessOptions *options, GError **error);
QhttpAccess *qhttp_access_free(QhttpAccess *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QhttpAccess, qhttp_access_free)

/* Everything that is asked for. */
QhttpVerdict qhttp_access_check(QhttpAccess *self, const QhttpCaller *caller);

/* Name and origin only: for what asks before it has a token. */
QhttpVerdict qhttp_access_check_caller(const QhttpAccess *self, const QhttpCaller *caller);

/* (nullable): the request's origin, if it is one of those that are allowed by name. */
const char *qhttp_access_get_allowed_origin(const QhttpAccess *self, SoupMessageHeaders *headers);

/* (transfer full): a secret that opens one session, within a minute */
char *qhttp_access_create_ticket(QhttpAccess *self);

/* (transfer full) (nullable): the cookie of a new session; NULL: the ticket is none, or not any more */
char *qhttp_access_redeem_ticket(QhttpAccess *self, const char *ticket);
