/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon's signal Changed, as a GObject signal.
 *
 * Place: internal to libquery-client. A restarted daemon is heard too: the match follows the bus name.
 */
#pragma once

#include <gio/gio.h>

typedef struct QueryNotifier QueryNotifier;

/**
 * query_notifier_new:
 * @bus: the connection to listen on
 * @name: the daemon's bus name
 * @target: (not owned): may go away at any time
 * @signal_id: its signal, with a guint64 and a GStrv; emitted in the thread-default context of the caller
 *
 * Returns: (transfer full): listens until it is freed
 */
QueryNotifier *query_notifier_new(GDBusConnection *bus, const char *name, GObject *target, guint signal_id);
void query_notifier_free(QueryNotifier *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryNotifier, query_notifier_free)

/* FALSE when the bus has gone away. */
gboolean query_notifier_listens(const QueryNotifier *self);
