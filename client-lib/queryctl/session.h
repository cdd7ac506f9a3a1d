/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What all verbs share: the connection, the interrupt key, the style of output, and how an error becomes an exit code.
 *
 * Place: layer B. Invariant: SIGINT is blocked in every thread but taken by one, which cancels what is running.
 */
#pragma once

#include <query-client.h>
#include <stdbool.h>

#include "client-lib/queryctl/arguments.h"
#include "client-lib/queryctl/output.h"
#include "client-lib/queryctl/sink.h"

typedef struct QctlSession QctlSession;

/**
 * qctl_session_new:
 * @arguments: borrowed
 *
 * Starts the thread that waits for SIGINT. A second SIGINT ends the process at once.
 *
 * Returns: (transfer full): a session that is not connected
 */
QctlSession *qctl_session_new(const QctlArguments *arguments);
QctlSession *qctl_session_free(QctlSession *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QctlSession, qctl_session_free)

const QctlArguments *qctl_session_get_arguments(const QctlSession *self);
/* For a verb that is run within the shell: @arguments, borrowed, count from now on. Returns: those before */
const QctlArguments *qctl_session_exchange_arguments(QctlSession *self, const QctlArguments *arguments);

/* Connects to the store of the arguments, with their limits. (transfer none) (nullable): NULL with @error set */
QueryConnection *qctl_session_connect(QctlSession *self, GError **error);

/* (transfer none) (nullable): the open transaction; see transaction.h */
QueryTransaction *qctl_session_get_transaction(const QctlSession *self);
/* @transaction: (transfer full) (nullable): the open one from now on; the one before is dropped, which rolls it back unless it has
 * ended */
void qctl_session_take_transaction(QctlSession *self, QueryTransaction *transaction);

/* The texts of pragmas that were typed outside of a transaction, each valid until it is typed with another value: (transfer none)
 * of char* */
GPtrArray *qctl_session_get_settings(const QctlSession *self);

/* Of what runs now. (transfer none): until qctl_session_resume() */
GCancellable *qctl_session_get_cancellable(QctlSession *self);
bool qctl_session_is_interrupted(const QctlSession *self);

/* qctl_session_resume: after an interrupt the shell goes on. */
void qctl_session_resume(QctlSession *self);

/* A sink on the session's output, with a pager when that is wanted and sensible. (transfer full) */
QctlSink *qctl_session_create_sink(QctlSession *self);

/* Where results go. It is borrowed. */
int qctl_session_get_output(const QctlSession *self);
/* @fd: consumed; -1: standard output from now on. @format: of what goes there; AUTO: the session's */
void qctl_session_set_output(QctlSession *self, int fd, QctlFormat format);

/* Of the statements that are run: as the arguments say, until another one is set. */
QueryLanguage qctl_session_get_language(const QctlSession *self);
void qctl_session_set_language(QctlSession *self, QueryLanguage language);

/* The format in force: that of the output, else on a terminal table, else tsv, unless the arguments say something else. */
QctlFormat qctl_session_get_format(const QctlSession *self);
void qctl_session_set_format(QctlSession *self, QctlFormat format);
/* By the arguments, for the output, or by qctl_session_set_format(). */
bool qctl_session_is_format_chosen(const QctlSession *self);
bool qctl_session_get_timing(const QctlSession *self);
void qctl_session_set_timing(QctlSession *self, bool timing);

/* An output of one result in the session's style. (transfer full) */
QctlOutput *qctl_session_create_output(QctlSession *self, QctlSink *sink, const char *const *names, guint n_columns);

/**
 * qctl_session_report:
 * @error: (transfer full): what went wrong
 * @what: (nullable): put before the message
 *
 * Prints the error to standard error; not for an interrupt, nor when the reader of standard output went away.
 *
 * Returns: the exit code for it
 */
int qctl_session_report(QctlSession *self, GError *error, const char *what);
