/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One QueryTransaction for the statements between BEGIN and COMMIT.
 */
#include "client-lib/queryctl/transaction.h"

#include <stdio.h>

bool
qctl_transaction_begin(QctlSession *session, GError **error)
{
    QueryConnection *connection = qctl_session_connect(session, error);
    QueryTransaction *transaction = NULL;

    if (connection != NULL)
        transaction = query_connection_begin(connection, qctl_session_get_cancellable(session), error);
    if (transaction != NULL)
        qctl_session_take_transaction(session, transaction);
    return transaction != NULL;
}

bool
qctl_transaction_commit(QctlSession *session, GError **error)
{
    QueryTransaction *transaction = qctl_session_get_transaction(session);
    bool ok = query_transaction_commit(transaction, qctl_session_get_cancellable(session), error);

    qctl_session_take_transaction(session, NULL);
    return ok;
}

static bool
roll_back(QctlSession *session, GError **error)
{
    QueryTransaction *transaction = qctl_session_get_transaction(session);
    bool ok = query_transaction_rollback(transaction, qctl_session_get_cancellable(session), error);

    qctl_session_take_transaction(session, NULL);
    return ok;
}

bool
qctl_transaction_control(QctlSession *session, QctlControl control, const char *statement, GError **error)
{
    bool is_open = qctl_session_get_transaction(session) != NULL;

    if (qctl_session_get_arguments(session)->transaction) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER,
                    "with --transaction the whole text is one transaction: '%s' cannot stand in it", statement);
        return false;
    }
    if (is_open != (control != QCTL_CONTROL_BEGIN)) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER,
                            is_open ? "a transaction is open already" : "no transaction is open");
        return false;
    }
    if (control == QCTL_CONTROL_BEGIN)
        return qctl_transaction_begin(session, error);
    return control == QCTL_CONTROL_COMMIT ? qctl_transaction_commit(session, error) : roll_back(session, error);
}

bool
qctl_transaction_set_savepoint(QctlSession *session, const char *statement, GError **error)
{
    QueryTransaction *transaction = qctl_session_get_transaction(session);

    if (transaction == NULL) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "no transaction is open: '%s' works after BEGIN", statement);
        return false;
    }
    return query_transaction_update(transaction, QUERY_LANGUAGE_SQL, statement, NULL, qctl_session_get_cancellable(session),
                                    error) >= 0;
}

void
qctl_transaction_check(QctlSession *session, const GError *error)
{
    if (qctl_session_get_transaction(session) == NULL)
        return;
    if (!qctl_session_is_interrupted(session) && !g_error_matches(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED) &&
        !g_error_matches(error, QUERY_ERROR, QUERY_ERROR_CLOSED) && !g_error_matches(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL))
        return;

    qctl_session_take_transaction(session, NULL);
    (void) fputs("queryctl: the transaction was rolled back\n", stderr);
}

int
qctl_transaction_leave(QctlSession *session, int code)
{
    if (qctl_session_get_transaction(session) == NULL)
        return code;

    qctl_session_take_transaction(session, NULL); /* rolls back */
    (void) fprintf(stderr, "queryctl: %sthe transaction was rolled back\n", code == QCTL_EXIT_OK ? "there was no COMMIT: " : "");
    return code == QCTL_EXIT_OK ? QCTL_EXIT_QUERY : code;
}
