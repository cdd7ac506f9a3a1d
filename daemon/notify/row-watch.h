/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fills QdRowChanges while statements run, by SQLite's preupdate hook. Unlike the update hook it also hears of WITHOUT ROWID
 * tables, of rows that REPLACE removes, and of DELETE without WHERE.
 *
 * Place: room notify; an attachment of the writer's connection, for the holder of its role. It exists while a subscription asks for
 * keys, so that others pay nothing.
 * Invariant: a statement that is compiled without the hook is not run with it: SQLite then deletes all rows of a table unheard.
 */
#pragma once

#include "daemon/notify/changes.h"

/* Before a transaction. Returns: whether it is on */
gboolean qd_row_watch_set(QdConnection *connection, gboolean is_on);

/* An update begins, and its rows go to @changes. Nothing when it is off. @limits: outlive @changes */
void qd_row_watch_begin(QdConnection *connection, QdChanges *changes, const QdLimits *limits);
void qd_row_watch_end(QdConnection *connection);
/* Before and after a statement is run that writes these tables: the keys of those that were not looked at yet. */
void qd_row_watch_note_tables(QdConnection *connection, char *const *tables);
