/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc/self/cgroup has one line for version 2: "0::PATH".
 */
#include "daemon/base/cgroup.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>

#include "daemon/base/small-file.h"

#define LIST "/proc/self/cgroup"
#define LIST_BYTES_MAX (64 << 10)
#define NUMBER_BYTES_MAX 64
#define ROOT "/sys/fs/cgroup"
#define UNIFIED "0::"

/* (nullable) (transfer full): of the group in the hierarchy of version 2, "/" alone for its root. */
static char *
find_path(const char *list)
{
    g_auto(GStrv) lines = g_strsplit(list, "\n", -1);

    for (char **line = lines; *line != NULL; line++)
        if (g_str_has_prefix(*line, UNIFIED "/"))
            return g_strdup(*line + strlen(UNIFIED));
    return NULL;
}

int
qd_cgroup_open(const char *name, int flags)
{
    g_autofree char *list = qd_small_file_read(LIST, LIST_BYTES_MAX, NULL);
    g_autofree char *group = list != NULL ? find_path(list) : NULL;
    g_autofree char *path = NULL;

    if (group == NULL)
        return -1;
    path = g_strconcat(ROOT, group, "/", name, NULL);
    return open(path, flags | O_CLOEXEC);
}

/* The file has "max", or a number. The root of the machine has no such file. */
static uint64_t
read_memory_max(const char *root, const char *group)
{
    g_autofree char *path = g_strconcat(root, group, "/memory.max", NULL);
    g_autofree char *text = qd_small_file_read(path, NUMBER_BYTES_MAX, NULL);
    uint64_t n_bytes;

    if (text == NULL || !g_ascii_string_to_unsigned(g_strchomp(text), 10, 0, UINT64_MAX, &n_bytes, NULL))
        return UINT64_MAX;
    return n_bytes;
}

uint64_t
qd_cgroup_find_memory_max(const char *root, const char *list)
{
    g_autofree char *group = find_path(list);
    uint64_t n_bytes = UINT64_MAX;

    if (group == NULL || g_str_has_prefix(group, "/..")) /* it is outside of the groups that are visible here */
        return UINT64_MAX;
    for (char *end = group + strlen(group); end != NULL; end = strrchr(group, '/')) {
        *end = '\0';
        n_bytes = MIN(n_bytes, read_memory_max(root, group));
    }
    return n_bytes;
}

uint64_t
qd_cgroup_get_memory_max(void)
{
    g_autofree char *list = qd_small_file_read(LIST, LIST_BYTES_MAX, NULL);

    return list != NULL ? qd_cgroup_find_memory_max(ROOT, list) : UINT64_MAX;
}
