/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The transaction of a session: begun and ended by the statements that are typed, or around all of a text.
 *
 * Place: layer B, between run-statement and the verbs. A session has at most one; while it is open every statement runs in it.
 */
#pragma once

#include "client-lib/queryctl/session.h"
#include "client-lib/queryctl/splitter.h"

/**
 * qctl_transaction_control:
 * @control: BEGIN, COMMIT or ROLLBACK
 * @statement: its text
 * @error: (nullable): location for an error
 *
 * Runs such a statement. After COMMIT and ROLLBACK no transaction is open, also when they fail.
 *
 * Returns: false on error
 */
bool qctl_transaction_control(QctlSession *session, QctlControl control, const char *statement, GError **error);

/* qctl_transaction_set_savepoint: runs SAVEPOINT, RELEASE or ROLLBACK TO; false on error. */
bool qctl_transaction_set_savepoint(QctlSession *session, const char *statement, GError **error);

/* qctl_transaction_keep_setting: @statement, a pragma, is repeated at each BEGIN from now on. */
void qctl_transaction_keep_setting(QctlSession *session, const char *statement);

/* qctl_transaction_begin, qctl_transaction_commit: the same for a whole text; false on error. */
bool qctl_transaction_begin(QctlSession *session, GError **error);
bool qctl_transaction_commit(QctlSession *session, GError **error);

/* qctl_transaction_check: after @error of a statement: one that has ended its transaction, or has lost the channel, closes it here,
 * too. */
void qctl_transaction_check(QctlSession *session, const GError *error);

/**
 * qctl_transaction_leave:
 * @code: how the statements have ended
 *
 * Rolls back a transaction that is still open, and says so.
 *
 * Returns: @code; QCTL_EXIT_QUERY instead of QCTL_EXIT_OK when something was rolled back
 */
int qctl_transaction_leave(QctlSession *session, int code);
