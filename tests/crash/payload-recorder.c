/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which descriptor is which file is known from its creation, or its being opened again, to its close. A file without a name is in
 * the log from its first name on: how a payload comes whose file the store takes over (qd_payload_files_adopt()).
 */
#include "tests/crash/payload-recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FDS 1024
/* Relaxed durability syncs it before payloads are deleted; it is on the memory disk only. */
#define LOG_NAME "queryd.db-wal"

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_openat64(int dir_fd, const char *name, int flags, ...);
int __wrap_openat64(int dir_fd, const char *name, int flags, ...);
int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
ssize_t __real_write(int fd, const void *data, size_t n_bytes);
ssize_t __wrap_write(int fd, const void *data, size_t n_bytes);
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_linkat(int from_fd, const char *from, int to_fd, const char *to, int flags);
int __wrap_linkat(int from_fd, const char *from, int to_fd, const char *to, int flags);
int __real_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
int __real_unlinkat(int dir_fd, const char *name, int flags);
int __wrap_unlinkat(int dir_fd, const char *name, int flags);
int __real_close(int fd);
int __wrap_close(int fd);

static MemoryDisk *_Atomic recorded;
static atomic_uint omitted; /* PayloadRecorderOmit */
static atomic_uint n_adopted;
static atomic_bool adopted_waits;  /* for the sync of the folder */
static atomic_uint files[MAX_FDS]; /* of a descriptor: the file + 1, and this: */
#define ADOPTED 0x80000000u

void
payload_recorder_set_disk(MemoryDisk *disk, PayloadRecorderOmit omit)
{
    atomic_store(&omitted, omit);
    atomic_store(&recorded, disk);
}

guint
payload_recorder_get_n_adopted(void)
{
    return atomic_load(&n_adopted);
}

static char *
make_name(const char *name)
{
    return g_strconcat(PAYLOAD_RECORDER_FOLDER "/", name, NULL);
}

static int
remember(int fd, guint file)
{
    g_assert(fd < MAX_FDS);
    if (fd >= 0)
        atomic_store(&files[fd], file + 1);
    return fd;
}

/* Returns: the disk, when @fd is one of its files */
static MemoryDisk *
find_file(int fd, guint *ret_file)
{
    guint file = fd >= 0 && fd < MAX_FDS ? atomic_load(&files[fd]) & ~ADOPTED : 0;

    *ret_file = file - 1;
    return file > 0 ? atomic_load(&recorded) : NULL;
}

/* As above, for a descriptor's path in /proc. */
static MemoryDisk *
find_file_by_path(const char *path, int *ret_fd, guint *ret_file)
{
    return sscanf(path, "/proc/self/fd/%d", ret_fd) == 1 ? find_file(*ret_fd, ret_file) : NULL;
}

static gboolean
fails(MemoryDisk *disk, int errno_value)
{
    if (!memory_disk_takes_fault(disk))
        return FALSE;
    errno = errno_value;
    return TRUE;
}

/* Calls ----------------------------------------------------------------------------------------------------------------- */

static mode_t
get_mode(int flags, va_list arguments)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? (mode_t) va_arg(arguments, int) : 0;
}

/* As a client makes it for the store to take over. The daemon's own files without a name never get one. */
static gboolean
makes_nameless(const char *path, int flags)
{
    return (flags & O_TMPFILE) == O_TMPFILE && g_str_has_suffix(path, "/" PAYLOAD_RECORDER_FOLDER);
}

int
__wrap_open64(const char *path, int flags, ...)
{
    MemoryDisk *disk = atomic_load(&recorded);
    va_list arguments;
    mode_t mode;
    guint file;
    int fd;

    va_start(arguments, flags);
    mode = get_mode(flags, arguments);
    va_end(arguments);
    if (disk != NULL && g_str_has_suffix(path, "/" LOG_NAME) && memory_disk_find(disk, LOG_NAME, &file))
        return remember(memfd_create(LOG_NAME, MFD_CLOEXEC), file);
    if (find_file_by_path(path, &fd, &file) != NULL)
        return remember(__real_open64(path, flags, mode), file);
    fd = __real_open64(path, flags, mode);
    if (disk != NULL && fd >= 0 && makes_nameless(path, flags))
        return remember(fd, memory_disk_create(disk, NULL));
    return fd;
}

int
__wrap_openat64(int dir_fd, const char *name, int flags, ...)
{
    MemoryDisk *disk = (flags & O_CREAT) != 0 ? atomic_load(&recorded) : NULL;
    va_list arguments;
    mode_t mode;
    int fd;

    va_start(arguments, flags);
    mode = get_mode(flags, arguments);
    va_end(arguments);
    if (disk != NULL && fails(disk, ENOSPC))
        return -1;
    fd = __real_openat64(dir_fd, name, flags, mode);
    if (disk != NULL && fd >= 0) {
        g_autofree char *recorded_name = make_name(name);

        (void) remember(fd, memory_disk_create(disk, recorded_name));
    }
    return fd;
}

int
__wrap_mkdir(const char *path, mode_t mode)
{
    MemoryDisk *disk = g_str_has_suffix(path, "/" PAYLOAD_RECORDER_FOLDER) ? atomic_load(&recorded) : NULL;
    int r;

    if (disk != NULL && fails(disk, ENOSPC))
        return -1;
    r = __real_mkdir(path, mode);
    if (disk != NULL && r == 0)
        (void) memory_disk_create(disk, PAYLOAD_RECORDER_FOLDER);
    return r;
}

/* A fault leaves the first half, as in memory-vfs.c. */
ssize_t
__wrap_write(int fd, const void *data, size_t n_bytes)
{
    guint file;
    MemoryDisk *disk = find_file(fd, &file);
    gboolean is_full = disk != NULL && fails(disk, ENOSPC);

    if (is_full)
        n_bytes /= 2;
    is_full |= disk != NULL && !memory_disk_write(disk, file, data, n_bytes, memory_disk_get_size(disk, file));
    if (!is_full)
        return __real_write(fd, data, n_bytes);
    errno = ENOSPC;
    return -1;
}

int
__wrap_fdatasync(int fd)
{
    guint file;
    MemoryDisk *disk = find_file(fd, &file);
    guint omit;

    if (disk == NULL)
        return __real_fdatasync(fd);
    if (fails(disk, EIO))
        return -1;
    omit = (atomic_load(&files[fd]) & ADOPTED) != 0 ? PAYLOAD_RECORDER_OMIT_ADOPTED : PAYLOAD_RECORDER_OMIT_CREATED;
    if ((atomic_load(&omitted) & omit) == 0)
        memory_disk_sync(disk, file);
    return 0;
}

static gboolean
is_payload_folder(int fd)
{
    g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", fd);
    g_autofree char *path = g_file_read_link(link, NULL);

    return path != NULL && g_str_has_suffix(path, "/" PAYLOAD_RECORDER_FOLDER);
}

int
__wrap_fsync(int fd)
{
    MemoryDisk *disk = atomic_load(&recorded);
    struct stat st;

    if (disk == NULL || fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode))
        return __real_fsync(fd);
    if (fails(disk, EIO))
        return -1;
    if (!is_payload_folder(fd))
        memory_disk_sync_directory(disk, "");
    else if (!atomic_exchange(&adopted_waits, FALSE) || (atomic_load(&omitted) & PAYLOAD_RECORDER_OMIT_NAMES) == 0)
        memory_disk_sync_directory(disk, PAYLOAD_RECORDER_FOLDER);
    return 0;
}

/* Only a file without a name that is one of the disk's: links of files that have names are the salvage's. */
int
__wrap_linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    guint file;
    int linked_fd;
    MemoryDisk *disk = find_file_by_path(from, &linked_fd, &file);
    g_autofree char *recorded_to = make_name(to);
    int r;

    if (disk != NULL && fails(disk, ENOSPC))
        return -1;
    r = __real_linkat(from_fd, from, to_fd, to, flags);
    if (disk == NULL || r < 0)
        return r;
    memory_disk_link(disk, file, recorded_to);
    (void) atomic_fetch_or(&files[linked_fd], ADOPTED);
    atomic_store(&adopted_waits, TRUE);
    (void) atomic_fetch_add(&n_adopted, 1);
    return r;
}

int
__wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    MemoryDisk *disk = atomic_load(&recorded);
    g_autofree char *recorded_from = make_name(from);
    g_autofree char *recorded_to = make_name(to);
    int r;

    if (disk != NULL && fails(disk, ENOSPC))
        return -1;
    r = __real_renameat2(from_fd, from, to_fd, to, flags);
    if (disk != NULL && r == 0)
        (void) memory_disk_rename(disk, recorded_from, recorded_to);
    return r;
}

int
__wrap_unlinkat(int dir_fd, const char *name, int flags)
{
    MemoryDisk *disk = atomic_load(&recorded);
    g_autofree char *recorded_name = make_name(name);
    int r;

    if (disk != NULL && fails(disk, EIO))
        return -1;
    r = __real_unlinkat(dir_fd, name, flags);
    if (disk != NULL && r == 0)
        (void) memory_disk_delete(disk, recorded_name);
    return r;
}

static gboolean
is_open(guint file)
{
    for (gsize i = 0; i < MAX_FDS; i++)
        if ((atomic_load(&files[i]) & ~ADOPTED) == file + 1)
            return TRUE;
    return FALSE;
}

int
__wrap_close(int fd)
{
    guint file;
    MemoryDisk *disk = find_file(fd, &file);

    if (fd >= 0 && fd < MAX_FDS)
        atomic_store(&files[fd], 0);
    if (disk != NULL && !is_open(file))
        memory_disk_drop_nameless(disk, file);
    return __real_close(fd);
}

/* Images ---------------------------------------------------------------------------------------------------------------- */

typedef struct Restore {
    MemoryDisk *disk;
    const char *directory;
} Restore;

static void
restore_file(const char *name, guint file, void *user_data)
{
    const Restore *self = user_data;
    gsize n_bytes = (gsize) memory_disk_get_size(self->disk, file);
    g_autofree char *content = NULL;
    g_autofree char *path = NULL;
    int fd;

    if (!g_str_has_prefix(name, PAYLOAD_RECORDER_FOLDER "/"))
        return;
    content = g_malloc(n_bytes + 1);
    path = g_build_filename(self->directory, name, NULL);
    fd = __real_open64(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpuint(memory_disk_read(self->disk, file, content, n_bytes, 0), ==, n_bytes);
    g_assert_cmpint(__real_write(fd, content, n_bytes), ==, (gssize) n_bytes);
    (void) __real_close(fd);
}

static void
clear_folder(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;

    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);

        g_assert_cmpint(unlink(path), ==, 0);
    }
}

void
payload_recorder_restore(MemoryDisk *disk, const char *directory)
{
    g_autofree char *folder = g_build_filename(directory, PAYLOAD_RECORDER_FOLDER, NULL);
    Restore restore = { disk, directory };
    guint file;

    clear_folder(folder);
    if (!memory_disk_find(disk, PAYLOAD_RECORDER_FOLDER, &file)) {
        (void) rmdir(folder); /* its name was not durable: what is in it has gone with it */
        return;
    }
    if (__real_mkdir(folder, 0700) < 0)
        g_assert_cmpint(errno, ==, EEXIST);
    memory_disk_foreach_name(disk, restore_file, &restore);
}
