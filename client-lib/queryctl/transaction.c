/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One QueryTransaction for the statements between BEGIN and COMMIT.
 */
#include "client-lib/queryctl/transaction.h"

#include <stdio.h>

/* The library's transactions have channels of their own, which know nothing of those before. */
static bool
repeat_settings(QctlSession *session, QueryTransaction *transaction, GError **error)
{
    const GPtrArray *settings = qctl_session_get_settings(session);

    for (guint i = 0; i < settings->len; i++)
        if (query_transaction_update(transaction, QUERY_LANGUAGE_SQL, settings->pdata[i], NULL,
                                     qctl_session_get_cancellable(session), error) < 0)
            return false;
    return true;
}

bool
qctl_transaction_begin(QctlSession *session, GError **error)
{
    QueryConnection *connection = qctl_session_connect(session, error);
    g_autoptr(QueryTransaction) transaction = NULL;

    if (connection != NULL)
        transaction = query_connection_begin(connection, qctl_session_get_cancellable(session), error);
    if (transaction == NULL || !repeat_settings(session, transaction, error))
        return false;
    qctl_session_take_transaction(session, g_steal_pointer(&transaction));
    return true;
}

void
qctl_transaction_keep_setting(QctlSession *session, const char *statement)
{
    g_ptr_array_add(qctl_session_get_settings(session), g_strdup(statement));
}

/* As in SQLite. */
static void
forget_deferring(QctlSession *session)
{
    GPtrArray *settings = qctl_session_get_settings(session);

    for (guint i = settings->len; i > 0; i--)
        if (qctl_control_find(settings->pdata[i - 1]) == QCTL_CONTROL_DEFERRING)
            g_ptr_array_remove_index(settings, i - 1);
}

bool
qctl_transaction_commit(QctlSession *session, GError **error)
{
    QueryTransaction *transaction = qctl_session_get_transaction(session);
    bool ok = query_transaction_commit(transaction, qctl_session_get_cancellable(session), error);

    forget_deferring(session);
    qctl_session_take_transaction(session, NULL);
    return ok;
}

static bool
roll_back(QctlSession *session, GError **error)
{
    QueryTransaction *transaction = qctl_session_get_transaction(session);
    bool ok = query_transaction_rollback(transaction, qctl_session_get_cancellable(session), error);

    forget_deferring(session);
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
    QueryTransaction *transaction = qctl_session_get_transaction(session);

    if (transaction == NULL)
        return;
    if (query_transaction_is_open(transaction) && !qctl_session_is_interrupted(session) &&
        !g_error_matches(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED) &&
        !g_error_matches(error, QUERY_ERROR, QUERY_ERROR_CLOSED) && !g_error_matches(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL))
        return;

    forget_deferring(session);
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
