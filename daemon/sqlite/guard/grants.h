/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQL of a client to which single tables are granted: what its statements may name, and what their programs may open.
 *
 * Place: room sqlite, beside the guard, which asks here only for such a client.
 * Invariant: the program decides. SQLite's authorizer does not hear of a table that INSERT … SELECT copies as a whole. Nor does it
 * hear of a column that only USING of a FULL JOIN names. docs/sandboxes.md has the cases.
 */
#pragma once

#include "daemon/base/access.h"
#include "daemon/sqlite/guard/guard.h"

/* @access: (nullable): it and the grants end together. One that may write everything is as good as none. */
void qd_grants_set(QdGrants *self, const QdAccess *access);

/**
 * qd_grants_check_action:
 * @action: and what follows, as SQLite's authorizer has it; @source: the view or trigger that asks
 *
 * Returns: (transfer full) (nullable): why it is denied
 */
char *qd_grants_check_action(QdGrants *self, int action, const char *a, const char *b, const char *source);

/**
 * qd_grants_check_program:
 * @self: after @text was compiled by @db; the authorizer allows everything meanwhile
 * @text: one statement
 *
 * Looks at the tables that the program opens, by the numbers of their pages.
 *
 * Errors: ACCESS_DENIED.
 *
 * Returns: whether all of them are granted
 */
gboolean qd_grants_check_program(const QdGrants *self, sqlite3 *db, const char *text, GError **error);
