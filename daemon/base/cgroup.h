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
/* In bytes; UINT64_MAX: no limit that is known. */
uint64_t qd_cgroup_get_memory_max(void);
