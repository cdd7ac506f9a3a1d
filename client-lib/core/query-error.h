/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How failures become a GError of the domain QUERY_ERROR.
 *
 * Place: internal to libquery-client. The one place where D-Bus error names, wire codes and errno are translated.
 * Invariant: what leaves the library is QUERY_ERROR, or G_IO_ERROR_CANCELLED when the caller's GCancellable did it.
 */
#pragma once

#include "client-lib/query-client.h"
#include "client-lib/wire/wire-error.h"
#include "client-lib/wire/wire-message.h"

#pragma GCC visibility push(default) /* for the library's module, as query-client.map says */
/**
 * query_error_set_from_wire:
 * @error: (nullable): location for the error
 * @body: a decoded ERROR record
 *
 * Translates what the daemon sent; a code of a later version becomes INTERNAL, bytes that are not UTF-8 become U+FFFD.
 */
void query_error_set_from_wire(GError **error, const QwErrorBody *body);

/**
 * query_constraint_add:
 * @self: (transfer full) (nullable): a constraint that is not shared yet; NULL makes one
 * @key: what @value is, as on the wire; an unknown key is ignored
 *
 * Returns: (transfer full): @self
 */
QueryConstraint *query_constraint_add(QueryConstraint *self, const char *key, const char *value);

/**
 * query_error_take_constraint:
 * @error: a new error of the domain QUERY_ERROR
 * @constraint: (transfer full) (nullable): what it is about
 */
void query_error_take_constraint(GError *error, QueryConstraint *constraint);
#pragma GCC visibility pop

/**
 * query_error_take_dbus:
 * @error: (nullable): location for the error
 * @dbus_error: (transfer full): an error of a GDBus call
 * @what: what was called, for the message
 *
 * Translates an error of a call. Cancellation stays G_IO_ERROR_CANCELLED.
 */
void query_error_take_dbus(GError **error, GError *dbus_error, const char *what);

/**
 * query_error_set_named:
 * @error: (nullable): location for the error
 * @dbus_name: an error name of the interface
 * @message: (nullable): its message
 *
 * Sets the error that a failed job tells; an unknown name is INTERNAL.
 */
void query_error_set_named(GError **error, const char *dbus_name, const char *message);

/**
 * query_error_tell_unknown:
 * @error: (inout) (nullable): of an update that the daemon may have all of
 *
 * One that says DISCONNECTED says, too, that the update may have been executed.
 */
void query_error_tell_unknown(GError **error);

/**
 * query_error_is_absent_service:
 * @dbus_error: an error of a GDBus call without auto-start
 *
 * Returns: TRUE when the name has no owner: start the service and call again
 */
gboolean query_error_is_absent_service(const GError *dbus_error);
