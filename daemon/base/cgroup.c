/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc/self/cgroup has one line for version 2: "0::PATH".
 */
#include "daemon/base/cgroup.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/base/small-file.h"

#define LIST "/proc/self/cgroup"
#define LIST_BYTES_MAX (64 << 10)
#define ROOT "/sys/fs/cgroup"
#define UNIFIED "0::"

int
qd_cgroup_open(const char *name, int flags)
{
    g_autofree char *list = qd_small_file_read(LIST, LIST_BYTES_MAX, NULL);
    g_auto(GStrv) lines = NULL;

    if (list == NULL)
        return -1;
    lines = g_strsplit(list, "\n", -1);
    for (char **line = lines; *line != NULL; line++) {
        g_autofree char *path = NULL;

        if (!g_str_has_prefix(*line, UNIFIED))
            continue;
        path = g_strconcat(ROOT, *line + strlen(UNIFIED), "/", name, NULL);
        return open(path, flags | O_CLOEXEC);
    }
    return -1;
}

uint64_t
qd_cgroup_get_memory_max(void)
{
    g_auto(QdFd) fd = qd_cgroup_open("memory.max", O_RDONLY);
    char text[32] = "";
    uint64_t n_bytes;

    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0) /* "max", or a number */
        return UINT64_MAX;
    return g_ascii_string_to_unsigned(g_strchomp(text), 10, 0, UINT64_MAX, &n_bytes, NULL) ? n_bytes : UINT64_MAX;
}
