/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The control group in which systemd has put this process.
 *
 * Place: room base. Without control groups of version 2 there is none, and that is no error.
 */
#pragma once

#include <stdint.h>

/* The file @name of the group, such as "memory.max", opened with @flags and O_CLOEXEC. -1: it cannot be. */
int qd_cgroup_open(const char *name, int flags);
/* The least of the group and of all groups around it, since each of them bounds it. In bytes; UINT64_MAX: no limit is known. */
uint64_t qd_cgroup_get_memory_max(void);
/* The same where the groups are folders below @root, and @list is the text of /proc/self/cgroup. */
uint64_t qd_cgroup_find_memory_max(const char *root, const char *list);
