/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An index keeps its blocks when SQLite begins it again, and is in memory where the disk has none. RLIMIT_FSIZE is the full disk.
 */
#include "daemon/sqlite/vfs/index-file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/sqlite/vfs/index-blocks.h"
#include "tests/unit/store/store-fixture.h"

#define BLOCK_BYTES 32768
#define CUT_BYTES 3
#define SWITCH_BYTE 128

typedef struct Fixture {
    char *dir;
    char *path;
    int fd; /* -1: SQLite's, which the test closes */
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    self->dir = g_dir_make_tmp("queryd-index-XXXXXX", NULL);
    self->path = g_build_filename(self->dir, "a.db-shm", NULL);
    self->fd = open(self->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    g_assert_cmpint(self->fd, >=, 0);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    store_remove_folder(self->dir);
    g_free(self->dir);
    g_free(self->path);
}

static int
truncate_as_sqlite(int fd, off_t n_bytes)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find("unix");
    int (*func)(int, off_t) = (int (*)(int, off_t)) vfs->xGetSystemCall(vfs, "ftruncate");

    return func(fd, n_bytes);
}

static off_t
get_size(int fd)
{
    struct stat st;

    g_assert_cmpint(fstat(fd, &st), ==, 0);
    return st.st_size;
}

static void
close_as_sqlite(Fixture *self)
{
    qd_index_file_forget(self->fd);
    g_assert_cmpint(close(self->fd), ==, 0);
}

/* Of another open file description. */
static short
get_lock(const Fixture *self)
{
    g_auto(QdFd) fd = open(self->path, O_RDWR | O_CLOEXEC);
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = SWITCH_BYTE, .l_len = 1 };

    g_assert_cmpint(fcntl(fd, F_OFD_GETLK, &lock), ==, 0);
    return lock.l_type;
}

static void
adopt_on_full_disk(Fixture *self)
{
    struct rlimit before;
    struct rlimit full;

    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
    full = (struct rlimit){ .rlim_cur = 4096, .rlim_max = before.rlim_max };
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &full), ==, 0);
    self->fd = qd_index_file_adopt(self->fd, self->path);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
}

static void
test_keeps_blocks(Fixture *self, gconstpointer data)
{
    g_autofree char *bytes = g_strnfill(2 * BLOCK_BYTES, 'x');
    struct stat st;

    g_assert_cmpint(write(self->fd, bytes, 2 * BLOCK_BYTES), ==, 2 * BLOCK_BYTES);
    g_assert_cmpint(truncate_as_sqlite(self->fd, BLOCK_BYTES + CUT_BYTES), ==, 0);
    g_assert_cmpint(get_size(self->fd), ==, BLOCK_BYTES + CUT_BYTES);
    g_assert_cmpint(qd_index_file_adopt(self->fd, self->path), ==, self->fd);
    g_assert_false(qd_index_file_is_in_memory());

    g_assert_cmpint(truncate_as_sqlite(self->fd, CUT_BYTES), ==, 0);
    g_assert_cmpint(fstat(self->fd, &st), ==, 0);
    g_assert_cmpint(st.st_size, ==, BLOCK_BYTES); /* there is no log that needs more */
    g_assert_cmpint(st.st_blocks, >=, BLOCK_BYTES / 512);
    g_assert_cmpint(pread(self->fd, bytes, BLOCK_BYTES, 0), ==, BLOCK_BYTES);
    for (guint i = 0; i < BLOCK_BYTES; i++)
        g_assert_cmpint(bytes[i], ==, 0);
    qd_index_file_forget(self->fd);
    g_assert_cmpint(truncate_as_sqlite(self->fd, CUT_BYTES), ==, 0);
    g_assert_cmpint(get_size(self->fd), ==, CUT_BYTES);
    g_assert_cmpint(close(self->fd), ==, 0);
}

/* 5,000 pages need a second block. */
static void
test_long_log(Fixture *self, gconstpointer data)
{
    g_autofree char *path = g_build_filename(self->dir, "a.db-wal", NULL);
    g_auto(QdFd) log = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const guint32 page_bytes = GUINT32_TO_BE(4096);

    g_assert_cmpint(pwrite(log, &page_bytes, sizeof page_bytes, 8), ==, sizeof page_bytes);
    g_assert_cmpint(ftruncate(log, 32 + 5000 * (24 + 4096)), ==, 0);
    g_assert_cmpint(qd_index_file_adopt(self->fd, self->path), ==, self->fd);
    g_assert_cmpint(get_size(self->fd), ==, 2 * BLOCK_BYTES);
    g_assert_cmpint(truncate_as_sqlite(self->fd, CUT_BYTES), ==, 0);
    g_assert_cmpint(get_size(self->fd), ==, 2 * BLOCK_BYTES);
    close_as_sqlite(self);
}

static void
test_in_memory(Fixture *self, gconstpointer data)
{
    int disk_fd = self->fd;

    adopt_on_full_disk(self);
    g_assert_cmpint(self->fd, !=, disk_fd);
    g_assert_true(qd_index_file_is_in_memory());
    g_assert_cmpint(get_lock(self), ==, F_WRLCK);
    g_assert_cmpint(truncate_as_sqlite(self->fd, CUT_BYTES), ==, 0);
    g_assert_cmpint(get_size(self->fd), ==, CUT_BYTES);
    close_as_sqlite(self);
    g_assert_false(qd_index_file_is_in_memory());
    g_assert_cmpint(get_lock(self), ==, F_UNLCK);
}

/* Two programs with an index each would destroy the log. */
static void
test_in_use(Fixture *self, gconstpointer data)
{
    struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = SWITCH_BYTE, .l_len = 1 };
    g_auto(QdFd) other = open(self->path, O_RDWR | O_CLOEXEC);
    int disk_fd = self->fd;

    g_assert_cmpint(fcntl(other, F_OFD_SETLK, &lock), ==, 0);
    adopt_on_full_disk(self);
    g_assert_cmpint(self->fd, ==, disk_fd);
    g_assert_false(qd_index_file_is_in_memory());
    close_as_sqlite(self);
}

static void *lost_page; /* of a mapping, after the file's end: as SIGBUS as one without a block */

static int
map_lost_page(sqlite3_file *file, int i, int n_bytes, int extends, void volatile **ret_block)
{
    *ret_block = lost_page;
    return SQLITE_OK;
}

static int
unmap_nothing(sqlite3_file *file, int deletes)
{
    return SQLITE_OK;
}

static int
map_nothing(sqlite3_file *file, int i, int n_bytes, int extends, void volatile **ret_block)
{
    errno = i;
    return SQLITE_IOERR_SHMSIZE;
}

static void
test_page_without_block(Fixture *self, gconstpointer data)
{
    const sqlite3_io_methods lost = { .iVersion = 2, .xShmMap = map_lost_page, .xShmUnmap = unmap_nothing };
    const sqlite3_io_methods none = { .iVersion = 2, .xShmMap = map_nothing };
    sqlite3_file file = { 0 };
    void volatile *block = NULL;

    g_assert_cmpint(qd_index_blocks_map(&none, &file, ENOSPC, BLOCK_BYTES, 1, &block), ==, SQLITE_FULL);
    g_assert_cmpint(qd_index_blocks_map(&none, &file, EIO, BLOCK_BYTES, 1, &block), ==, SQLITE_IOERR_SHMSIZE);
    lost_page = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);
    g_assert_true(lost_page != MAP_FAILED);
    if (madvise(lost_page, BLOCK_BYTES, 23) < 0 && errno == EINVAL) {
        g_test_skip("needs MADV_POPULATE_WRITE of Linux 5.14");
    } else {
        g_assert_cmpint(qd_index_blocks_map(&lost, &file, 0, BLOCK_BYTES, 1, &block), ==, SQLITE_FULL);
        g_assert_null((void *) block);
        g_assert_cmpint(ftruncate(self->fd, BLOCK_BYTES), ==, 0);
        g_assert_cmpint(qd_index_blocks_map(&lost, &file, 0, BLOCK_BYTES, 1, &block), ==, SQLITE_OK);
        g_assert_nonnull((void *) block);
        /* of one mapping it is not asked again */
        g_assert_cmpint(ftruncate(self->fd, 0), ==, 0);
        g_assert_cmpint(qd_index_blocks_map(&lost, &file, 0, BLOCK_BYTES, 0, &block), ==, SQLITE_OK);
        g_assert_cmpint(qd_index_blocks_unmap(&lost, &file, 0), ==, SQLITE_OK);
        g_assert_cmpint(qd_index_blocks_map(&lost, &file, 0, BLOCK_BYTES, 0, &block), ==, SQLITE_FULL);
    }
    g_assert_cmpint(munmap(lost_page, BLOCK_BYTES), ==, 0);
    g_assert_cmpint(close(self->fd), ==, 0);
}

int
main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;

    g_test_init(&argc, &argv, NULL);
    (void) signal(SIGXFSZ, SIG_IGN);
    g_assert_true(qd_index_file_init(&error));
    g_assert_true(qd_index_file_init(&error));
#define ADD(path, func) g_test_add("/sqlite/index-file/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("keeps-blocks", test_keeps_blocks);
    ADD("long-log", test_long_log);
    ADD("in-memory", test_in_memory);
    ADD("in-use", test_in_use);
    ADD("page-without-block", test_page_without_block);
    return g_test_run();
}
