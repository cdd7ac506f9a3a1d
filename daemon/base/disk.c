/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * statvfs() with one meaning for all callers.
 */
#include "daemon/base/disk.h"

#include <stddef.h>
#include <sys/statvfs.h>

bool
qd_disk_find_free_bytes(const char *directory, uint64_t *ret_free_bytes, uint64_t *ret_total_bytes)
{
    struct statvfs fs;

    if (statvfs(directory, &fs) < 0 || fs.f_blocks == 0)
        return false;
    *ret_free_bytes = (uint64_t) fs.f_bavail * fs.f_frsize;
    if (ret_total_bytes != NULL)
        *ret_total_bytes = (uint64_t) fs.f_blocks * fs.f_frsize;
    return true;
}

bool
qd_disk_has_free_files(const char *directory, uint64_t n)
{
    struct statvfs fs;

    return statvfs(directory, &fs) < 0 || fs.f_files == 0 || fs.f_favail >= n;
}
