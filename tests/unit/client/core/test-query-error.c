/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors: places in a text, names of the bus, codes of the wire.
 */
#include "client-lib/core/query-error.h"

static void
test_place(void)
{
    static const struct {
        const char *message;
        gboolean has_place;
        guint line;
        guint column;
    } cases[] = {
        { "1:8: near \"x\"", TRUE, 1, 8 },
        { "12:345: y", TRUE, 12, 345 },
        { "near 1:8: x", FALSE, 0, 0 },
        { "1:8 x", FALSE, 0, 0 },
        { "0:1: x", FALSE, 0, 0 },
        { "1: x", FALSE, 0, 0 },
        { "", FALSE, 0, 0 },
        { "1:8:x", FALSE, 0, 0 },
        { "99999999999:1: x", FALSE, 0, 0 },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = g_error_new_literal(QUERY_ERROR, QUERY_ERROR_SYNTAX, cases[i].message);
        guint line = 0;
        guint column = 0;

        g_assert_cmpint(query_error_get_place(error, &line, &column), ==, cases[i].has_place);
        g_assert_cmpuint(line, ==, cases[i].line);
        g_assert_cmpuint(column, ==, cases[i].column);
    }
}

static void
test_bus_names(void)
{
    static const struct {
        const char *name;
        QueryError code;
        const char *message;
    } cases[] = {
        { "org.queryd.Query1.Error.Constraint", QUERY_ERROR_CONSTRAINT, "m" },
        { "org.queryd.Query1.Error.OfTheFuture", QUERY_ERROR_INTERNAL, "m" },
        { "org.freedesktop.DBus.Error.NoReply", QUERY_ERROR_DISCONNECTED, "Prepare: m" },
        { "org.freedesktop.DBus.Error.ServiceUnknown", QUERY_ERROR_UNAVAILABLE, "Prepare: m" },
        { "org.freedesktop.DBus.Error.Spawn.ExecFailed", QUERY_ERROR_UNAVAILABLE, "Prepare: m" },
        { "org.freedesktop.systemd1.UnitMasked", QUERY_ERROR_UNAVAILABLE, "Prepare: m" },
        { "org.freedesktop.DBus.Error.UnknownMethod", QUERY_ERROR_UNSUPPORTED, "Prepare: m" },
        { "com.example.Other", QUERY_ERROR_INTERNAL, "Prepare: m" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;

        query_error_take_dbus(&error, g_dbus_error_new_for_dbus_error(cases[i].name, "m"), "Prepare");
        g_assert_error(error, QUERY_ERROR, (int) cases[i].code);
        g_assert_cmpstr(error->message, ==, cases[i].message);
    }
}

static void
test_cancelled(void)
{
    g_autoptr(GError) error = NULL;

    query_error_take_dbus(&error, g_error_new_literal(G_IO_ERROR, G_IO_ERROR_CANCELLED, "m"), "Prepare");
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_wire(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GError) unknown = NULL;

    query_error_set_from_wire(&error, &(QwErrorBody){ .code = QW_ERROR_BUSY, .message = "a\xff", .n_message_bytes = 2 });
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BUSY);
    g_assert_true(g_utf8_validate(error->message, -1, NULL));
    query_error_set_from_wire(&unknown, &(QwErrorBody){ .code = 4711, .message = "m", .n_message_bytes = 1 });
    g_assert_error(unknown, QUERY_ERROR, QUERY_ERROR_INTERNAL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client/error/place", test_place);
    g_test_add_func("/client/error/bus-names", test_bus_names);
    g_test_add_func("/client/error/cancelled", test_cancelled);
    g_test_add_func("/client/error/wire", test_wire);
    return g_test_run();
}
