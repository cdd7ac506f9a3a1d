/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/base/disk.h"

#include <glib.h>

static void
test_known(void)
{
    uint64_t free_bytes = 0;
    uint64_t total_bytes = 0;

    g_assert_true(qd_disk_find_free_bytes("/tmp", &free_bytes, &total_bytes));
    g_assert_cmpuint(total_bytes, >, 0);
    g_assert_cmpuint(total_bytes, >=, free_bytes);
    g_assert_true(qd_disk_find_free_bytes("/tmp", &free_bytes, NULL));
}

/* /proc says, as ramfs does, that it has no blocks. */
static void
test_unknown(void)
{
    uint64_t free_bytes = 7;

    g_assert_false(qd_disk_find_free_bytes("/proc/self", &free_bytes, NULL));
    g_assert_false(qd_disk_find_free_bytes("/nosuch/folder", &free_bytes, NULL));
    g_assert_cmpuint(free_bytes, ==, 7);
}

static void
test_files(void)
{
    g_assert_true(qd_disk_has_free_files("/tmp", 1));
    g_assert_true(qd_disk_has_free_files("/proc/self", 1));
    g_assert_true(qd_disk_has_free_files("/nosuch/folder", 1));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/disk/known", test_known);
    g_test_add_func("/base/disk/unknown", test_unknown);
    g_test_add_func("/base/disk/files", test_files);
    return g_test_run();
}
