/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bound of memory is found among folders that look like control groups.
 */
#include "daemon/base/cgroup.h"

#include <glib.h>
#include <glib/gstdio.h>

#define MIB (UINT64_C(1) << 20)

typedef struct Group {
    const char *path;
    const char *text; /* of memory.max; NULL: there is none */
} Group;

static const Group groups[] = {
    { "", NULL },         { "/user", "max\n" },       { "/user/manager", "209715200\n" }, { "/user/manager/large", "419430400\n" },
    { "/user/sick", "" }, { "/user/sick/one", "x1" }, { "/user/free", "max\n" },
};

static void
write_group(const char *root, const Group *group)
{
    g_autofree char *folder = g_strconcat(root, group->path, NULL);
    g_autofree char *file = g_build_filename(folder, "memory.max", NULL);

    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
    if (group->text != NULL)
        g_assert_true(g_file_set_contents(file, group->text, -1, NULL));
}

static void
remove_group(const char *root, const Group *group)
{
    g_autofree char *folder = g_strconcat(root, group->path, NULL);
    g_autofree char *file = g_build_filename(folder, "memory.max", NULL);

    if (group->text != NULL)
        g_assert_cmpint(g_unlink(file), ==, 0);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

static void
test_memory_max(void)
{
    g_autofree char *root = g_dir_make_tmp("queryd-cgroup-XXXXXX", NULL);

    for (guint i = 0; i < G_N_ELEMENTS(groups); i++)
        write_group(root, &groups[i]);

    g_assert_cmpuint(qd_cgroup_find_memory_max(root, "0::/user/manager\n"), ==, 200 * MIB);
    g_assert_cmpuint(qd_cgroup_find_memory_max(root, "0::/user/manager/large\n"), ==, 200 * MIB);
    g_assert_cmpuint(qd_cgroup_find_memory_max(root, "4:memory:/user/free\n0::/user/manager/gone/deeper\n"), ==, 200 * MIB);
    g_assert_cmpuint(qd_cgroup_find_memory_max(root, "0::/user/free\n"), ==, UINT64_MAX);
    g_assert_cmpuint(qd_cgroup_find_memory_max(root, "0::/user/sick/one\n"), ==, UINT64_MAX);
    g_assert_cmpuint(qd_cgroup_find_memory_max(root, "4:memory:/user/manager\n"), ==, UINT64_MAX);
    g_assert_cmpuint(qd_cgroup_find_memory_max(root, "0::/../user/manager\n"), ==, UINT64_MAX);
    g_assert_cmpuint(qd_cgroup_find_memory_max(root, "0::/\n"), ==, UINT64_MAX);
    g_assert_cmpuint(qd_cgroup_find_memory_max(root, ""), ==, UINT64_MAX);

    for (guint i = G_N_ELEMENTS(groups); i > 0; i--)
        remove_group(root, &groups[i - 1]);
}

/* In a container the root is a group itself. */
static void
test_root(void)
{
    static const Group group = { "", "67108864\n" };
    g_autofree char *root = g_dir_make_tmp("queryd-cgroup-XXXXXX", NULL);

    write_group(root, &group);
    g_assert_cmpuint(qd_cgroup_find_memory_max(root, "0::/\n"), ==, 64 * MIB);
    g_assert_cmpuint(qd_cgroup_find_memory_max(root, "0::/some\n"), ==, 64 * MIB);
    remove_group(root, &group);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/cgroup/memory-max", test_memory_max);
    g_test_add_func("/base/cgroup/root", test_root);
    return g_test_run();
}
