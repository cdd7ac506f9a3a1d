/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon's end of a channel, played by the test. It waits for requests, keeps them, and answers byte by byte what the test
 * wrote down.
 *
 * Place: tests of libquery-client. The socket is real, the other side is a thread.
 */
#pragma once

#include "client-lib/channel/query-channel.h"
#include "client-lib/core/query-error.h"
#include "client-lib/query-connection-private.h"
#include "client-lib/wire/wire-message.h"
#include "client-lib/wire/wire-page-writer.h"

typedef struct FakeDaemon FakeDaemon;

/* What the fake daemon does after it has answered. */
typedef enum FakeEnd {
    FAKE_STAYS,
    FAKE_HANGS_UP,
} FakeEnd;

FakeDaemon *fake_daemon_new(void);
/* Waits for its thread. */
void fake_daemon_free(FakeDaemon *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FakeDaemon, fake_daemon_free)

/* The client's end, once. */
int fake_daemon_take_fd(FakeDaemon *self);

/* A connection that has the client's end as an idle channel, and no bus to get another one. */
QueryConnection *fake_daemon_connect(FakeDaemon *self);

/* Starts a thread that reads @n_requests whole requests and then writes @answer (consumed). Joins an earlier one first. */
void fake_daemon_serve(FakeDaemon *self, guint n_requests, GByteArray *answer, FakeEnd end);

/* Joins the thread. */
void fake_daemon_join(FakeDaemon *self);

/* The kinds of all requests read so far, as a string like "PF". Joins. */
const char *fake_daemon_get_kinds(FakeDaemon *self);

/* The body of the last FETCH, put together from its pieces. Joins. */
GBytes *fake_daemon_get_last_row(FakeDaemon *self);

/* Hangs up at once. */
void fake_daemon_hang_up(FakeDaemon *self);

/* Answers. A record above @page_size is cut into CHUNKs. */
void answer_put(GByteArray *answer, QwKind kind, guint32 count, guint32 serial, const void *body, gsize n_bytes);
/* @names: column names and then parameter names, each list ended by NULL; @types may be NULL. */
void answer_put_schema(GByteArray *answer, guint32 serial, const char *const *columns, const char *const *parameters);
void answer_put_rows(GByteArray *answer, guint32 serial, guint n_columns, guint n_rows, const QwValue *values);
void answer_put_end(GByteArray *answer, guint32 serial, const QwEnd *end);
void answer_put_error(GByteArray *answer, guint32 serial, QwError code, guint line, guint column, const char *message);

/* PREPARE and FETCH answered: columns "a", @n_rows rows of one integer from 0, END. */
GByteArray *answer_new_integers(guint32 prepare_serial, guint32 fetch_serial, guint n_rows);

#define TEXT_VALUE(string)                                                    \
    {                                                                         \
        .type = QW_TYPE_TEXT, .data = (string), .n_bytes = sizeof(string) - 1 \
    }
#define INTEGER_VALUE(number)                        \
    {                                                \
        .type = QW_TYPE_INTEGER, .integer = (number) \
    }
