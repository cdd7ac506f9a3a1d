/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets of names: what was added is found, also when there was too much of it.
 */
#include "daemon/base/name-set.h"

static void
test_names(void)
{
    g_autoptr(QdNameSet) set = qd_name_set_new(0);
    g_autoptr(GPtrArray) names = NULL;

    g_assert_true(qd_name_set_is_empty(set));
    qd_name_set_add(set, "bc", 1);
    qd_name_set_add(set, "a", 1);
    qd_name_set_add(set, "b", 1);
    qd_name_set_add(set, "", 0);
    g_assert_true(qd_name_set_has(set, "b"));
    g_assert_true(qd_name_set_has(set, ""));
    g_assert_false(qd_name_set_has(set, "bc"));
    names = qd_name_set_list(set);
    g_assert_cmpuint(names->len, ==, 3);
    g_assert_cmpstr(names->pdata[0], ==, "");
    g_assert_cmpstr(names->pdata[1], ==, "a");
    g_assert_cmpstr(names->pdata[2], ==, "b");

    qd_name_set_clear(set);
    g_assert_true(qd_name_set_is_empty(set));
    g_assert_false(qd_name_set_has(set, "a"));
}

static void
test_too_many(void)
{
    g_autoptr(QdNameSet) set = qd_name_set_new(2);
    g_autoptr(QdNameSet) other = qd_name_set_new(0);
    g_autoptr(GPtrArray) names = NULL;

    qd_name_set_add(set, "a", 1);
    qd_name_set_add(set, "b", 1);
    qd_name_set_add(set, "a", 1);
    g_assert_false(qd_name_set_is_all(set));
    qd_name_set_add(set, "c", 1);
    g_assert_true(qd_name_set_is_all(set));
    g_assert_true(qd_name_set_has(set, "z"));
    names = qd_name_set_list(set);
    g_assert_cmpuint(names->len, ==, 0);

    qd_name_set_add_all(other, set);
    g_assert_true(qd_name_set_is_all(other));
    qd_name_set_clear(set);
    g_assert_false(qd_name_set_is_all(set));
}

static void
test_many(void)
{
    g_autoptr(QdNameSet) set = qd_name_set_new(0);
    g_autoptr(QdNameSet) copy = qd_name_set_new(0);
    g_autoptr(GPtrArray) names = NULL;

    for (guint round = 0; round < 2; round++)
        for (char name[] = "a"; name[0] <= 'z'; name[0]++)
            qd_name_set_add(set, name, 1);
    qd_name_set_add_all(copy, set);
    names = qd_name_set_list(copy);
    g_assert_cmpuint(names->len, ==, 26);
    for (guint i = 0; i < names->len; i++)
        g_assert_cmpint(*(char *) names->pdata[i], ==, 'a' + (char) i);
    g_assert_true(qd_name_set_has(copy, "q"));
    g_assert_false(qd_name_set_has(copy, "qq"));
    qd_name_set_clear(copy);
    g_assert_false(qd_name_set_has(copy, "q"));
    qd_name_set_add(copy, "q", 1);
    g_assert_true(qd_name_set_meets(copy, set));
}

static void
test_meets(void)
{
    g_autoptr(QdNameSet) one = qd_name_set_new(0);
    g_autoptr(QdNameSet) other = qd_name_set_new(0);

    g_assert_false(qd_name_set_meets(one, other));
    qd_name_set_add(one, "a", 1);
    qd_name_set_add(one, "b", 1);
    g_assert_false(qd_name_set_meets(one, other));
    qd_name_set_add(other, "c", 1);
    g_assert_false(qd_name_set_meets(one, other));
    qd_name_set_add(other, "b", 1);
    g_assert_true(qd_name_set_meets(one, other));
    g_assert_true(qd_name_set_meets(other, one));

    qd_name_set_clear(other);
    qd_name_set_make_all(one);
    g_assert_false(qd_name_set_meets(one, other));
    qd_name_set_add(other, "z", 1);
    g_assert_true(qd_name_set_meets(one, other));
    qd_name_set_make_all(other);
    g_assert_true(qd_name_set_meets(one, other));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/name-set/names", test_names);
    g_test_add_func("/base/name-set/too-many", test_too_many);
    g_test_add_func("/base/name-set/many", test_many);
    g_test_add_func("/base/name-set/meets", test_meets);
    return g_test_run();
}
