/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite opens the index once in a process, however many connections it has, and takes its locks by that descriptor (unixShmNode in
 * os_unix.c). So a lock of its open file description is the same to it as one of the process. The database itself is opened by each
 * connection: its locks stay as they are, and qd_database_guard() stands beside them.
 *
 * A look-up takes a mark's lock and gives it back: two system calls of the five that it takes. Between connections of this process
 * SQLite counts the locks itself, so the kernel's lock matters to other programs only, and may stay for a while.
 */
#include "daemon/sqlite/vfs/index-locks.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/sqlite/vfs/index-file.h"

/* Of the file format: the locks of the index are the bytes 120 to 128, those of a database begin at 1 GiB. */
#define INDEX_LOCKS_START 120
#define INDEX_LOCKS_END 129

/* Of these: one for each mark up to which a connection reads. */
#define MARKS_START 123
#define MARKS_END 128
/* A daemon has one index, and others for moments. */
#define MAX_INDEXES 4

/* Bits: byte 123 is the lowest. */
typedef struct Index {
    int fd; /* -1: none */
    guint shared;
    guint kept; /* of these: SQLite has given them back */
} Index;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static QdIndexLocksKeptFunc kept_func; /* (nullable): NULL: none is kept */
static void *kept_data;
static Index indexes[MAX_INDEXES] = { { -1, 0, 0 }, { -1, 0, 0 }, { -1, 0, 0 }, { -1, 0, 0 } };

static gboolean
is_of_index(const struct flock *lock)
{
    return lock->l_whence == SEEK_SET && lock->l_start >= INDEX_LOCKS_START && lock->l_start + lock->l_len <= INDEX_LOCKS_END;
}

static int
set_lock(int fd, int command, struct flock *lock)
{
    lock->l_pid = 0; /* these want it so */
    return fcntl(fd, command == F_SETLK ? F_OFD_SETLK : command == F_SETLKW ? F_OFD_SETLKW : F_OFD_GETLK, lock);
}

/* Under the mutex. (nullable) */
static Index *
find_index(int fd)
{
    Index *spare = NULL;

    for (guint i = 0; i < MAX_INDEXES; i++) {
        if (indexes[i].fd == fd)
            return &indexes[i];
        if (indexes[i].fd < 0)
            spare = &indexes[i];
    }
    if (spare != NULL)
        *spare = (Index){ .fd = fd };
    return spare;
}

/* Under the mutex: the marks of @lock. */
static guint
get_marks(const struct flock *lock)
{
    guint marks = 0;

    for (off_t byte = MAX(lock->l_start, MARKS_START); byte < MIN(lock->l_start + lock->l_len, MARKS_END); byte++)
        marks |= 1u << (byte - MARKS_START);
    return marks;
}

/* Under the mutex. */
static int
set_mark(Index *index, int fd, int command, struct flock *lock)
{
    guint marks = get_marks(lock);
    int r;

    if (lock->l_len == 1 && lock->l_type == F_UNLCK && (index->shared & marks) != 0 && kept_func != NULL) {
        index->kept |= marks;
        kept_func(kept_data);
        return 0;
    }
    if (lock->l_len == 1 && lock->l_type == F_RDLCK && (index->kept & marks) != 0) {
        index->kept &= ~marks;
        return 0;
    }
    r = set_lock(fd, command, lock);
    if (r < 0)
        return r;
    index->kept &= ~marks;
    index->shared = lock->l_type == F_RDLCK ? index->shared | marks : index->shared & ~marks;
    return 0;
}

/* fcntl() as os_unix.c calls it: the third argument is missing, a number or the lock. */
static int
control(int fd, int command, ...)
{
    struct flock *lock = NULL;
    Index *index = NULL;
    va_list arguments;
    long argument;
    int r;

    va_start(arguments, command);
    argument = va_arg(arguments, long);
    va_end(arguments);
    if (command == F_SETLK || command == F_SETLKW || command == F_GETLK)
        lock = (struct flock *) argument;
    if (lock == NULL || !is_of_index(lock))
        return fcntl(fd, command, argument);
    if (command == F_GETLK || get_marks(lock) == 0)
        return set_lock(fd, command, lock);

    pthread_mutex_lock(&mutex);
    index = find_index(fd);
    r = index != NULL ? set_mark(index, fd, command, lock) : set_lock(fd, command, lock);
    pthread_mutex_unlock(&mutex);
    return r;
}

static int
forget_and_close(int fd)
{
    pthread_mutex_lock(&mutex);
    for (guint i = 0; i < MAX_INDEXES; i++)
        if (indexes[i].fd == fd)
            indexes[i] = (Index){ .fd = -1 };
    pthread_mutex_unlock(&mutex);
    qd_index_file_forget(fd);
    return close(fd);
}

/* Under the mutex. */
static void
release(void)
{
    for (guint i = 0; i < MAX_INDEXES; i++) {
        for (guint mark = 0; indexes[i].fd >= 0 && mark < MARKS_END - MARKS_START; mark++) {
            struct flock lock = { .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = MARKS_START + (off_t) mark, .l_len = 1 };

            if ((indexes[i].kept & (1u << mark)) != 0)
                (void) set_lock(indexes[i].fd, F_SETLK, &lock);
        }
        indexes[i].shared &= ~indexes[i].kept;
        indexes[i].kept = 0;
    }
}

void
qd_index_locks_release(void)
{
    pthread_mutex_lock(&mutex);
    release();
    pthread_mutex_unlock(&mutex);
}

void
qd_index_locks_keep(QdIndexLocksKeptFunc func, void *data)
{
    pthread_mutex_lock(&mutex);
    kept_func = func;
    kept_data = data;
    release();
    pthread_mutex_unlock(&mutex);
}

gboolean
qd_index_locks_init(GError **error)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find("unix");

    if (vfs != NULL && vfs->iVersion >= 3 && vfs->xSetSystemCall(vfs, "fcntl", (sqlite3_syscall_ptr) control) == SQLITE_OK &&
        vfs->xSetSystemCall(vfs, "close", (sqlite3_syscall_ptr) forget_and_close) == SQLITE_OK)
        return TRUE;

    qd_error_set(error, QW_ERROR_INTERNAL, "cannot override fcntl() in SQLite's unix VFS");
    return FALSE;
}
