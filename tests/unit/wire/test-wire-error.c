/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The error table: numbers are the contract, so they stand here once more.
 */
#include "client-lib/wire/wire-error.h"

#include <glib.h>

static const struct {
    uint32_t code;
    const char *name;
} contract[] = {
    { 1, "Syntax" },         { 2, "Unsupported" }, { 3, "BadParameter" }, { 4, "Constraint" },  { 5, "ReadOnly" },
    { 6, "Busy" },           { 7, "TooBig" },      { 8, "TooComplex" },   { 9, "Timeout" },     { 10, "Cancelled" },
    { 11, "DiskFull" },      { 12, "NoMemory" },   { 13, "Corrupt" },     { 14, "Recovering" }, { 15, "AccessDenied" },
    { 16, "LimitExceeded" }, { 17, "Closed" },     { 18, "Internal" },
};

static void
test_numbers(void)
{
    g_assert_cmpuint(G_N_ELEMENTS(contract), ==, QW_ERROR_LAST);

    for (size_t i = 0; i < G_N_ELEMENTS(contract); i++) {
        g_autofree char *dbus_name = g_strconcat("org.queryd.Query1.Error.", contract[i].name, NULL);

        g_assert_cmpstr(qw_error_get_name(contract[i].code), ==, contract[i].name);
        g_assert_cmpstr(qw_error_get_dbus_name(contract[i].code), ==, dbus_name);
        g_assert_cmpuint(qw_error_from_dbus_name(dbus_name), ==, contract[i].code);
    }
}

static void
test_unknown_code(void)
{
    g_assert_cmpstr(qw_error_get_name(0), ==, "Internal");
    g_assert_cmpstr(qw_error_get_name(QW_ERROR_LAST + 1), ==, "Internal");
    g_assert_cmpstr(qw_error_get_dbus_name(UINT32_MAX), ==, "org.queryd.Query1.Error.Internal");
}

static void
test_foreign_name(void)
{
    g_assert_cmpuint(qw_error_from_dbus_name(NULL), ==, 0);
    g_assert_cmpuint(qw_error_from_dbus_name(""), ==, 0);
    g_assert_cmpuint(qw_error_from_dbus_name("Syntax"), ==, 0);
    g_assert_cmpuint(qw_error_from_dbus_name("org.queryd.Query1.Error.syntax"), ==, 0);
    g_assert_cmpuint(qw_error_from_dbus_name("org.freedesktop.DBus.Error.Failed"), ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wire/error/numbers", test_numbers);
    g_test_add_func("/wire/error/unknown-code", test_unknown_code);
    g_test_add_func("/wire/error/foreign-name", test_foreign_name);
    return g_test_run();
}
