/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first connection to a database cuts its index to 3 bytes, and makes it grow again. On a disk that others keep full it does
 * not get its blocks back. So the bytes are overwritten by zeros here instead.
 *
 * An index that has no blocks, and gets none, is a file of memory. Other programs would take the file on the disk. To use it they
 * need a shared lock of its byte 128, the "dead man switch" of os_unix.c. This process has an exclusive one as long as the index is
 * in memory, so they find the database busy. It gets no such lock while another program uses the file.
 */
#include "daemon/sqlite/vfs/index-file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/base/fd.h"
#include "daemon/sqlite/vfs/index-blocks.h"
#include "daemon/sqlite/vfs/log-index.h"

#define SUFFIX "-shm"
/* To these bytes os_unix.c cuts an index that no connection has open. */
#define CUT_BYTES 3
#define SWITCH_BYTE 128
/* Of the log's header. */
#define AT_PAGE_SIZE 8
#define MIN_PAGE_BYTES 512
#define MAX_PAGE_BYTES 65536
/* A daemon has one index, and others for moments. */
#define MAX_FILES 4

typedef struct IndexFile {
    int fd;         /* SQLite's; -1: none */
    int disk_fd;    /* -1: SQLite's is the file on the disk */
    off_t n_needed; /* bytes for the frames that the log has */
} IndexFile;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static IndexFile files[MAX_FILES] = { { -1, -1, 0 }, { -1, -1, 0 }, { -1, -1, 0 }, { -1, -1, 0 } };

/* Under the mutex. (nullable) */
static IndexFile *
find_file(int fd)
{
    for (guint i = 0; i < MAX_FILES; i++)
        if (files[i].fd == fd)
            return &files[i];
    return NULL;
}

/* An old log may have more frames than are valid. */
static off_t
find_needed_bytes(const char *path)
{
    g_autofree char *log = g_strndup(path, strlen(path) - strlen(SUFFIX));
    g_autofree char *log_path = g_strconcat(log, "-wal", NULL);
    g_auto(QdFd) fd = open(log_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    guint32 page_bytes = 0;
    off_t n_frames;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || pread(fd, &page_bytes, sizeof page_bytes, AT_PAGE_SIZE) != sizeof page_bytes)
        return QD_LOG_INDEX_BLOCK_BYTES;
    page_bytes = GUINT32_FROM_BE(page_bytes);
    if (page_bytes < MIN_PAGE_BYTES || page_bytes > MAX_PAGE_BYTES)
        return QD_LOG_INDEX_BLOCK_BYTES;
    n_frames = MAX(st.st_size - QD_LOG_HEADER_BYTES, 0) / (QD_LOG_FRAME_HEADER_BYTES + (off_t) page_bytes);
    return QD_LOG_INDEX_BLOCK_BYTES * (1 + (n_frames + (off_t) (QD_LOG_INDEX_BLOCK_FRAMES - QD_LOG_INDEX_FIRST_BLOCK_FRAMES) - 1) /
                                               (off_t) QD_LOG_INDEX_BLOCK_FRAMES);
}

/* Makes the pages writable, also where a file system takes new blocks for them. FALSE with EFAULT: there are none. */
static gboolean
write_mapped(int fd, off_t n_bytes, gboolean with_zeros)
{
    void *map = mmap(NULL, (size_t) n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int saved_errno;

    if (map == MAP_FAILED)
        return FALSE;
    saved_errno = qd_index_blocks_populate(map, (gsize) n_bytes);
    if (saved_errno == 0 && with_zeros)
        memset(map, 0, (size_t) n_bytes);
    (void) munmap(map, (size_t) n_bytes);
    errno = saved_errno;
    return saved_errno == 0;
}

/* FALSE: the disk has not that much. A file system that cannot say has it, since the C library's way would write beside others. */
static gboolean
has_blocks(int fd, off_t n_bytes)
{
    struct stat st;

    if (fstat(fd, &st) == 0)
        n_bytes = MAX(n_bytes, st.st_size);
    if (TEMP_FAILURE_RETRY(fallocate(fd, 0, 0, n_bytes)) < 0)
        return errno != ENOSPC && errno != EDQUOT && errno != EFBIG;
    return write_mapped(fd, n_bytes, FALSE) || errno != EFAULT;
}

/* Where blocks are copied on write, the index alone is written in place: as long as the file is empty it can be asked for. */
static void
keep_in_place(int fd)
{
    struct statfs fs;
    struct stat st;
    int flags;

    if (fstatfs(fd, &fs) < 0 || fs.f_type != BTRFS_SUPER_MAGIC || fstat(fd, &st) < 0 || st.st_size > 0 ||
        ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
        return;
    flags |= FS_NOCOW_FL;
    (void) ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

/* -1: another program uses the file, or there is no memory. */
static int
make_in_memory(int disk_fd)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = SWITCH_BYTE, .l_len = 1 };
    int fd;

    if (fcntl(disk_fd, F_OFD_SETLK, &lock) < 0)
        return -1;
    fd = memfd_create("queryd-log-index", MFD_CLOEXEC);
    if (fd >= 0)
        return fd;
    lock.l_type = F_UNLCK;
    (void) fcntl(disk_fd, F_OFD_SETLK, &lock);
    return -1;
}

int
qd_index_file_adopt(int fd, const char *path)
{
    IndexFile *file;
    off_t n_needed;
    int memory_fd = -1;

    if (fd < 0 || !g_str_has_suffix(path, SUFFIX))
        return fd;

    keep_in_place(fd);
    n_needed = find_needed_bytes(path);
    pthread_mutex_lock(&mutex);
    file = find_file(-1);
    if (file != NULL) {
        if (!has_blocks(fd, n_needed))
            memory_fd = make_in_memory(fd);
        *file = (IndexFile){ .fd = memory_fd >= 0 ? memory_fd : fd, .disk_fd = memory_fd >= 0 ? fd : -1, .n_needed = n_needed };
        fd = file->fd;
    }
    pthread_mutex_unlock(&mutex);
    return fd;
}

void
qd_index_file_forget(int fd)
{
    IndexFile *file;

    pthread_mutex_lock(&mutex);
    file = fd >= 0 ? find_file(fd) : NULL;
    if (file != NULL) {
        if (file->disk_fd >= 0)
            (void) close(file->disk_fd);
        *file = (IndexFile){ -1, -1, 0 };
    }
    pthread_mutex_unlock(&mutex);
}

gboolean
qd_index_file_is_in_memory(void)
{
    gboolean found = FALSE;

    pthread_mutex_lock(&mutex);
    for (guint i = 0; i < MAX_FILES; i++)
        found = found || files[i].disk_fd >= 0;
    pthread_mutex_unlock(&mutex);
    return found;
}

/* -1: @fd is no index that is on the disk. */
static off_t
get_needed_bytes(int fd)
{
    off_t n_needed = -1;
    IndexFile *file;

    pthread_mutex_lock(&mutex);
    file = find_file(fd);
    if (file != NULL && file->disk_fd < 0)
        n_needed = file->n_needed;
    pthread_mutex_unlock(&mutex);
    return n_needed;
}

/* What is longer than the log needs is given back. */
static gboolean
overwrite(int fd, off_t n_needed)
{
    static const char zeros[QD_LOG_INDEX_BLOCK_BYTES];
    struct stat st;
    off_t n_bytes;

    if (fstat(fd, &st) < 0 || (st.st_size > n_needed && TEMP_FAILURE_RETRY(ftruncate(fd, n_needed)) < 0))
        return FALSE;
    n_bytes = MIN(st.st_size, n_needed);
    if (n_bytes == 0 || write_mapped(fd, n_bytes, TRUE))
        return TRUE;
    for (off_t i = 0; i < n_bytes; i += QD_LOG_INDEX_BLOCK_BYTES) { /* Linux before 5.14 */
        size_t n = (size_t) MIN(n_bytes - i, QD_LOG_INDEX_BLOCK_BYTES);

        if (TEMP_FAILURE_RETRY(pwrite(fd, zeros, n, i)) != (ssize_t) n)
            return FALSE;
    }
    return TRUE;
}

/* ftruncate() as os_unix.c calls it. An index of zeros is none to SQLite, as one of 3 bytes is. */
static int
truncate_file(int fd, off_t n_bytes)
{
    off_t n_needed = n_bytes == CUT_BYTES ? get_needed_bytes(fd) : -1;

    if (n_needed >= 0 && overwrite(fd, n_needed))
        return 0;
    return ftruncate(fd, n_bytes);
}

gboolean
qd_index_file_init(GError **error)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find("unix");

    if (vfs != NULL && vfs->iVersion >= 3 &&
        vfs->xSetSystemCall(vfs, "ftruncate", (sqlite3_syscall_ptr) truncate_file) == SQLITE_OK)
        return TRUE;

    qd_error_set(error, QW_ERROR_INTERNAL, "cannot override ftruncate() in SQLite's unix VFS");
    return FALSE;
}
