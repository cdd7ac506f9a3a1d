/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A look before open() would be too early, so the file is looked at when it is open. O_NONBLOCK means nothing for regular files.
 * SQLite also opens folders, to sync them, and the kernel's random numbers.
 */
#include "daemon/sqlite/vfs/open-files.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/sqlite/vfs/index-file.h"

static int
open_at_once(const char *path, int flags, int mode)
{
    int fd = open(path, flags | O_NONBLOCK, mode);
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode)) {
        (void) close(fd);
        errno = ENXIO;
        return -1;
    }
    return (flags & O_ACCMODE) == O_RDWR ? qd_index_file_adopt(fd, path) : fd;
}

gboolean
qd_open_files_init(GError **error)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find("unix");

    if (!qd_index_file_init(error))
        return FALSE;
    if (vfs != NULL && vfs->iVersion >= 3 && vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr) open_at_once) == SQLITE_OK)
        return TRUE;

    qd_error_set(error, QW_ERROR_INTERNAL, "cannot override open() in SQLite's unix VFS");
    return FALSE;
}
