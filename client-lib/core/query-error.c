/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors: wire codes and D-Bus error names become QUERY_ERROR.
 *
 * Place: internal to libquery-client, but for query_error_get_place(). The domain is in query-constraint.c.
 * Invariant: the public numbers are those of the wire; the assertions below hold them together.
 */
#include "client-lib/core/query-error.h"

G_STATIC_ASSERT((int) QUERY_ERROR_SYNTAX == (int) QW_ERROR_SYNTAX);
G_STATIC_ASSERT((int) QUERY_ERROR_UNSUPPORTED == (int) QW_ERROR_UNSUPPORTED);
G_STATIC_ASSERT((int) QUERY_ERROR_BAD_PARAMETER == (int) QW_ERROR_BAD_PARAMETER);
G_STATIC_ASSERT((int) QUERY_ERROR_CONSTRAINT == (int) QW_ERROR_CONSTRAINT);
G_STATIC_ASSERT((int) QUERY_ERROR_READ_ONLY == (int) QW_ERROR_READ_ONLY);
G_STATIC_ASSERT((int) QUERY_ERROR_BUSY == (int) QW_ERROR_BUSY);
G_STATIC_ASSERT((int) QUERY_ERROR_TOO_BIG == (int) QW_ERROR_TOO_BIG);
G_STATIC_ASSERT((int) QUERY_ERROR_TOO_COMPLEX == (int) QW_ERROR_TOO_COMPLEX);
G_STATIC_ASSERT((int) QUERY_ERROR_TIMEOUT == (int) QW_ERROR_TIMEOUT);
G_STATIC_ASSERT((int) QUERY_ERROR_CANCELLED == (int) QW_ERROR_CANCELLED);
G_STATIC_ASSERT((int) QUERY_ERROR_DISK_FULL == (int) QW_ERROR_DISK_FULL);
G_STATIC_ASSERT((int) QUERY_ERROR_NO_MEMORY == (int) QW_ERROR_NO_MEMORY);
G_STATIC_ASSERT((int) QUERY_ERROR_CORRUPT == (int) QW_ERROR_CORRUPT);
G_STATIC_ASSERT((int) QUERY_ERROR_RECOVERING == (int) QW_ERROR_RECOVERING);
G_STATIC_ASSERT((int) QUERY_ERROR_ACCESS_DENIED == (int) QW_ERROR_ACCESS_DENIED);
G_STATIC_ASSERT((int) QUERY_ERROR_LIMIT_EXCEEDED == (int) QW_ERROR_LIMIT_EXCEEDED);
G_STATIC_ASSERT((int) QUERY_ERROR_CLOSED == (int) QW_ERROR_CLOSED);
G_STATIC_ASSERT((int) QUERY_ERROR_INTERNAL == (int) QW_ERROR_INTERNAL);
G_STATIC_ASSERT((int) QUERY_ERROR_INTERNAL == (int) QW_ERROR_LAST);

gboolean
query_error_get_place(const GError *error, guint *line, guint *column)
{
    const char *p;
    char *end;
    guint64 numbers[2];

    g_return_val_if_fail(error != NULL, FALSE);

    if (error->domain != QUERY_ERROR)
        return FALSE;

    p = error->message;
    for (int i = 0; i < 2; i++) {
        if (!g_ascii_isdigit(*p))
            return FALSE;
        numbers[i] = g_ascii_strtoull(p, &end, 10);
        if (numbers[i] == 0 || numbers[i] > G_MAXUINT || *end != ':')
            return FALSE;
        p = end + 1;
    }
    if (*p != ' ')
        return FALSE;

    if (line != NULL)
        *line = (guint) numbers[0];
    if (column != NULL)
        *column = (guint) numbers[1];
    return TRUE;
}

static QueryError
code_from_wire(uint32_t code)
{
    return code >= QW_ERROR_FIRST && code <= QW_ERROR_LAST ? (QueryError) code : QUERY_ERROR_INTERNAL;
}

void
query_error_set_from_wire(GError **error, const QwErrorBody *body)
{
    g_autofree char *message = g_utf8_make_valid(body->message, (gssize) body->n_message_bytes);
    GError *failure = g_error_new_literal(QUERY_ERROR, (int) code_from_wire(body->code), message);
    QueryConstraint *constraint = NULL;
    QwErrorBody details = *body;
    const char *key;
    const char *value;

    while (failure->code == QUERY_ERROR_CONSTRAINT && qw_error_next_detail(&details, &key, &value))
        constraint = query_constraint_add(constraint, key, value);
    query_error_take_constraint(failure, constraint);
    g_propagate_error(error, failure);
}

void
query_error_set_named(GError **error, const char *dbus_name, const char *message)
{
    uint32_t code = qw_error_from_dbus_name(dbus_name);

    g_set_error_literal(error, QUERY_ERROR, (int) code_from_wire(code),
                        message != NULL && message[0] != '\0' ? message : "the daemon gave no reason");
}

void
query_error_tell_unknown(GError **error)
{
    if (error != NULL && g_error_matches(*error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED))
        g_prefix_error(error, "it is not known whether the update was executed: ");
}

/* Errors of the bus itself, by the last part of their name. Activation by systemd adds names of its own. */
static QueryError
code_from_bus_name(const char *name)
{
    static const struct {
        const char *name;
        QueryError code;
    } table[] = {
        { "org.freedesktop.DBus.Error.NoReply", QUERY_ERROR_DISCONNECTED },
        { "org.freedesktop.DBus.Error.Disconnected", QUERY_ERROR_DISCONNECTED },
        { "org.freedesktop.DBus.Error.AccessDenied", QUERY_ERROR_ACCESS_DENIED },
        { "org.freedesktop.DBus.Error.InvalidArgs", QUERY_ERROR_BAD_PARAMETER },
        { "org.freedesktop.DBus.Error.UnknownMethod", QUERY_ERROR_UNSUPPORTED },
        { "org.freedesktop.DBus.Error.UnknownInterface", QUERY_ERROR_UNSUPPORTED },
        { "org.freedesktop.DBus.Error.UnknownProperty", QUERY_ERROR_UNSUPPORTED },
        { "org.freedesktop.DBus.Error.UnknownObject", QUERY_ERROR_CLOSED },
        { "org.freedesktop.DBus.Error.NotSupported", QUERY_ERROR_UNSUPPORTED },
        { "org.freedesktop.DBus.Error.NoMemory", QUERY_ERROR_NO_MEMORY },
        { "org.freedesktop.DBus.Error.LimitsExceeded", QUERY_ERROR_LIMIT_EXCEEDED },
        { "org.freedesktop.DBus.Error.ServiceUnknown", QUERY_ERROR_UNAVAILABLE },
        { "org.freedesktop.DBus.Error.NameHasNoOwner", QUERY_ERROR_UNAVAILABLE },
        { "org.freedesktop.DBus.Error.NoServer", QUERY_ERROR_UNAVAILABLE },
        { "org.freedesktop.DBus.Error.TimedOut", QUERY_ERROR_UNAVAILABLE },
        { "org.freedesktop.DBus.Error.Timeout", QUERY_ERROR_UNAVAILABLE },
        { "org.freedesktop.DBus.Error.FileNotFound", QUERY_ERROR_UNAVAILABLE },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(table); i++)
        if (g_str_equal(table[i].name, name))
            return table[i].code;

    if (g_str_has_prefix(name, "org.freedesktop.DBus.Error.Spawn.") || g_str_has_prefix(name, "org.freedesktop.systemd1."))
        return QUERY_ERROR_UNAVAILABLE;

    return QUERY_ERROR_INTERNAL;
}

static QueryError
code_from_io(const GError *io_error)
{
    if (g_error_matches(io_error, G_IO_ERROR, G_IO_ERROR_CLOSED) || g_error_matches(io_error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE))
        return QUERY_ERROR_DISCONNECTED;
    if (g_error_matches(io_error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT))
        return QUERY_ERROR_PROTOCOL; /* GDBus: the reply has an unexpected type */

    return QUERY_ERROR_UNAVAILABLE;
}

void
query_error_take_dbus(GError **error, GError *dbus_error, const char *what)
{
    g_autoptr(GError) owned = dbus_error;
    g_autofree char *name = g_dbus_error_get_remote_error(owned);
    uint32_t code;

    if (g_error_matches(owned, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
        g_propagate_error(error, g_steal_pointer(&owned));
        return;
    }
    if (name == NULL) {
        g_set_error(error, QUERY_ERROR, (int) code_from_io(owned), "%s: %s", what, owned->message);
        return;
    }

    g_dbus_error_strip_remote_error(owned);
    code = qw_error_from_dbus_name(name);
    if (code != 0 || g_str_has_prefix(name, QW_ERROR_DBUS_PREFIX))
        g_set_error_literal(error, QUERY_ERROR, (int) code_from_wire(code), owned->message);
    else
        g_set_error(error, QUERY_ERROR, (int) code_from_bus_name(name), "%s: %s", what, owned->message);
}

gboolean
query_error_is_absent_service(const GError *dbus_error)
{
    g_autofree char *name = g_dbus_error_get_remote_error(dbus_error);

    return g_strcmp0(name, "org.freedesktop.DBus.Error.ServiceUnknown") == 0 ||
           g_strcmp0(name, "org.freedesktop.DBus.Error.NameHasNoOwner") == 0;
}
