/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The execution of one member of a write group on the writer's connection, inside the open transaction.
 *
 * Place: room write, private to writer.c.
 */
#pragma once

#include "daemon/base/limits.h"

typedef struct QdCompiled QdCompiled;
typedef struct QdConnection QdConnection;
typedef struct QdWriteItem QdWriteItem;

/* Runs all statements; the results go into @item. false with @error set when one failed. */
gboolean qd_write_item_execute(QdWriteItem *item, QdConnection *connection, const QdLimits *limits, GError **error);

/* At the end of an update or a transaction: FALSE with CONSTRAINT, and the table if it is known, when a deferred key is broken.
 */
gboolean qd_write_item_check_keys(QdWriteItem *item, QdConnection *connection, GError **error);

/* After @compiled has run, with qd_guard_forget_writes() before: what it has changed is what @item has, also when it failed. */
void qd_write_item_note_run(QdWriteItem *item, QdConnection *connection, QdCompiled *compiled, const QdLimits *limits);

/* Whether it is one execution of one statement, which SQLite itself undoes when it fails in an ordinary way. */
gboolean qd_write_item_is_atomic(const QdWriteItem *item);
/* Whether such an item has failed in that way: by a constraint, or before it began. */
gboolean qd_write_item_failed_cleanly(const QdWriteItem *item, QdConnection *connection);
