/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of stores, and what follows from them.
 */
#include "daemon/main/store-name.h"

static void
test_valid(void)
{
    g_autofree char *long_name = g_strnfill(65, 'a');

    g_assert_true(qd_store_name_is_valid("default"));
    g_assert_true(qd_store_name_is_valid("_"));
    g_assert_true(qd_store_name_is_valid("Mail_2"));
    g_assert_false(qd_store_name_is_valid(""));
    g_assert_false(qd_store_name_is_valid("2mail"));
    g_assert_false(qd_store_name_is_valid("a-b"));
    g_assert_false(qd_store_name_is_valid("a.b"));
    g_assert_false(qd_store_name_is_valid("../a"));
    g_assert_false(qd_store_name_is_valid("\xc3\xa9"));
    g_assert_false(qd_store_name_is_valid(long_name));
    g_assert_true(qd_store_name_is_valid(long_name + 1));
    g_assert_true(qd_store_name_is_valid("app.org.example.Music"));
    g_assert_true(qd_store_name_is_valid("app.org.example.Music-2"));
    g_assert_false(qd_store_name_is_valid("app."));
    g_assert_false(qd_store_name_is_valid("app.music"));
    g_assert_false(qd_store_name_is_valid("app.../x"));
    g_assert_false(qd_store_name_is_valid("app.a/b.c"));
    g_assert_false(qd_store_name_is_valid("apps.org.example.Music"));
}

static void
assert_names(const char *name, const char *bus_name, const char *directory)
{
    g_autofree char *got_bus_name = qd_store_name_make_bus_name(name);
    g_autofree char *got_directory = qd_store_name_make_directory(name);
    g_autofree char *expected = g_build_filename(g_get_user_data_dir(), directory, NULL);

    g_assert_cmpstr(got_bus_name, ==, bus_name);
    g_assert_cmpstr(got_directory, ==, expected);
}

static void
test_names(void)
{
    assert_names(NULL, "org.queryd.Query1", "queryd");
    assert_names("default", "org.queryd.Query1", "queryd");
    assert_names("mail", "org.queryd.Query1.mail", "queryd/stores/mail");
    assert_names("app.a.b", "org.queryd.Query1.app.a.b", "queryd/stores/app.a.b");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/main/store-name/valid", test_valid);
    g_test_add_func("/main/store-name/names", test_names);
    return g_test_run();
}
