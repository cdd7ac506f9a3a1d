/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs one statement, or all of a script, and prints the rows.
 *
 * Place: layer B, used by the verbs and by the shell. Returns are exit codes; errors have been reported.
 */
#pragma once

#include "client-lib/queryctl/session.h"

typedef enum QctlAccess {
    QCTL_ACCESS_READ,
    QCTL_ACCESS_WRITE,
    QCTL_ACCESS_EITHER, /* the shell: reads, unless the daemon says that it writes */
} QctlAccess;

/**
 * qctl_run_statement:
 * @sink: where rows go
 * @text: one statement
 * @what: (nullable): put before an error's message
 *
 * Returns: an exit code
 */
int qctl_run_statement(QctlSession *session, QctlSink *sink, const char *text, QctlAccess access, const char *what);

/* qctl_run_sql: a query of our own: SQL, also where the session's language is SPARQL. Returns: an exit code */
int qctl_run_sql(QctlSession *session, QctlSink *sink, const char *text);

/**
 * qctl_run_query:
 * @sink: where rows go
 * @text: one statement that reads
 * @ret_generation: (nullable): of the database that was read
 * @error: (nullable): location for an error
 *
 * As qctl_run_statement(), but the error is the caller's.
 */
bool qctl_run_query(QctlSession *session, QctlSink *sink, const char *text, guint64 *ret_generation, GError **error);

/**
 * qctl_report_statement:
 * @what: (nullable): put before the message
 * @text: of the statement that has failed
 *
 * As qctl_session_report(), with the place in @text under it, and with the verb that would do it.
 *
 * Returns: the exit code
 */
int qctl_report_statement(QctlSession *session, const GError *error, const char *what, const char *text);

/* qctl_run_script: all statements of @text, up to the first that fails. */
int qctl_run_script(QctlSession *session, QctlSink *sink, const char *text, QctlAccess access);

/**
 * qctl_read_statements:
 * @error: (nullable): location for an error
 *
 * The text that the arguments name: a word, a file, or standard input.
 *
 * Returns: (transfer full) (nullable): the text
 */
char *qctl_read_statements(const QctlArguments *arguments, GError **error);
