/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sizes of the files in /proc/self/fd.
 */
#include "daemon/sqlite/temp-files.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How SQLite's unix VFS names them, in any directory. */
#define TEMP_FILE_PREFIX "/etilqs_"
#define PAUSE_USEC 100000

static uint64_t
get_bytes(void)
{
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *entry;
    uint64_t n_bytes = 0;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char target[PATH_MAX];
        ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1);
        struct stat st;

        if (n < 0)
            continue;
        target[n] = '\0';
        if (strstr(target, TEMP_FILE_PREFIX) != NULL && fstatat(dirfd(dir), entry->d_name, &st, 0) == 0)
            n_bytes += (uint64_t) st.st_blocks * 512;
    }
    if (dir != NULL)
        (void) closedir(dir);
    return n_bytes;
}

gboolean
qd_temp_files_check(const QdLimits *limits, uint64_t now_usec, uint64_t *next_usec, GError **error)
{
    gboolean look = *next_usec > 0 && now_usec >= *next_usec;

    if (look || *next_usec == 0)
        *next_usec = now_usec + PAUSE_USEC;
    if (!look || get_bytes() <= qd_limits_get(limits, QD_LIMIT_TEMP_FILE_BYTES))
        return TRUE;

    qd_limit_set_error(error, limits, QD_LIMIT_TEMP_FILE_BYTES, "temporary files, as for sorting, are too big");
    return FALSE;
}
