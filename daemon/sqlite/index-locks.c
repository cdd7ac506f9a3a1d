/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite opens the index once in a process, however many connections it has, and takes its locks by that descriptor (unixShmNode in
 * os_unix.c). So a lock of its open file description is the same to it as one of the process. The database itself is opened by each
 * connection: its locks stay as they are, and qd_database_guard() stands beside them.
 */
#include "daemon/sqlite/index-locks.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>

#include "daemon/base/error.h"

/* Of the file format: the locks of the index are the bytes 120 to 128, those of a database begin at 1 GiB. */
#define INDEX_LOCKS_START 120
#define INDEX_LOCKS_END 129

static gboolean
is_of_index(const struct flock *lock)
{
    return lock->l_whence == SEEK_SET && lock->l_start >= INDEX_LOCKS_START && lock->l_start + lock->l_len <= INDEX_LOCKS_END;
}

/* fcntl() as os_unix.c calls it: the third argument is missing, a number or the lock. */
static int
control(int fd, int command, ...)
{
    struct flock *lock = NULL;
    va_list arguments;
    long argument;

    va_start(arguments, command);
    argument = va_arg(arguments, long);
    va_end(arguments);
    if (command == F_SETLK || command == F_SETLKW || command == F_GETLK)
        lock = (struct flock *) argument;
    if (lock == NULL || !is_of_index(lock))
        return fcntl(fd, command, argument);

    lock->l_pid = 0; /* these want it so */
    return fcntl(fd, command == F_SETLK ? F_OFD_SETLK : command == F_SETLKW ? F_OFD_SETLKW : F_OFD_GETLK, lock);
}

gboolean
qd_index_locks_init(GError **error)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find("unix");

    if (vfs != NULL && vfs->iVersion >= 3 && vfs->xSetSystemCall(vfs, "fcntl", (sqlite3_syscall_ptr) control) == SQLITE_OK)
        return TRUE;

    qd_error_set(error, QW_ERROR_INTERNAL, "cannot override fcntl() in SQLite's unix VFS");
    return FALSE;
}
