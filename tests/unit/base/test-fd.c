/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Descriptors: closed once, duplicated CLOEXEC, written in as many calls as it takes, their limit raised and never lowered.
 */
#include "daemon/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void
test_close(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    g_assert_cmpint(fd, >=, 0);
    errno = ENOENT;
    g_assert_cmpint(qd_fd_close(fd), ==, -1);
    g_assert_cmpint(fcntl(fd, F_GETFD), ==, -1);
    errno = ENOENT;
    g_assert_cmpint(qd_fd_close(-1), ==, -1);
    g_assert_cmpint(errno, ==, ENOENT);
}

static void
test_auto(void)
{
    int fd;
    int kept;

    {
        g_auto(QdFd) closed = open("/dev/null", O_RDONLY | O_CLOEXEC);
        g_auto(QdFd) stolen = open("/dev/null", O_RDONLY | O_CLOEXEC);

        fd = closed;
        kept = g_steal_fd(&stolen);
    }
    g_assert_cmpint(fcntl(fd, F_GETFD), ==, -1);
    g_assert_cmpint(fcntl(kept, F_GETFD), ==, FD_CLOEXEC);
    (void) qd_fd_close(kept);
}

static void
test_dup(void)
{
    g_auto(QdFd) fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    g_auto(QdFd) copy = qd_fd_dup(fd);

    g_assert_cmpint(copy, >, STDERR_FILENO);
    g_assert_cmpint(copy, !=, fd);
    g_assert_cmpint(fcntl(copy, F_GETFD), ==, FD_CLOEXEC);
    g_assert_cmpint(qd_fd_dup(-1), ==, -EBADF);
}

/* A file that may have 1000 bytes takes a part of the first write, and none of the second. */
static void
test_write_all(void)
{
    g_auto(QdFd) fd = memfd_create("test", MFD_CLOEXEC);
    struct rlimit before;
    struct rlimit limit;
    char data[700] = { 'x', 0 };
    struct stat st;

    (void) signal(SIGXFSZ, SIG_IGN);
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
    limit = (struct rlimit){ 1000, before.rlim_max };
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &limit), ==, 0);
    g_assert_true(qd_fd_write_all(fd, data, sizeof data));
    g_assert_false(qd_fd_write_all(fd, data, sizeof data));
    g_assert_cmpint(errno, ==, EFBIG);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
    g_assert_cmpint(fstat(fd, &st), ==, 0);
    g_assert_cmpint(st.st_size, ==, 1000);
}

static void
test_write_all_fails(void)
{
    g_auto(QdFd) full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    g_auto(QdFd) unwritable = open("/dev/null", O_RDONLY | O_CLOEXEC);

    g_assert_false(qd_fd_write_all(full, "data", 4));
    g_assert_cmpint(errno, ==, ENOSPC);
    g_assert_false(qd_fd_write_all(unwritable, "data", 4));
    g_assert_cmpint(errno, ==, EBADF);
    g_assert_true(qd_fd_write_all(unwritable, NULL, 0));
}

static void
test_count_rest(void)
{
    g_auto(QdFd) file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    int ends[2];

    g_assert_cmpint(ftruncate(file, 10), ==, 0);
    g_assert_cmpuint(qd_fd_count_rest(file), ==, 10);
    g_assert_cmpint(lseek(file, 7, SEEK_SET), ==, 7);
    g_assert_cmpuint(qd_fd_count_rest(file), ==, 3);
    g_assert_cmpint(lseek(file, 70, SEEK_SET), ==, 70);
    g_assert_cmpuint(qd_fd_count_rest(file), ==, 0);
    g_assert_cmpint(pipe2(ends, O_CLOEXEC), ==, 0);
    g_assert_cmpuint(qd_fd_count_rest(ends[0]), ==, 0);
    (void) qd_fd_close(ends[0]);
    (void) qd_fd_close(ends[1]);
}

static void
test_raise_limit(void)
{
    struct rlimit before;
    struct rlimit after;

    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &before), ==, 0);
    before.rlim_cur = MIN(before.rlim_max, 128);
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);

    g_assert_cmpint(qd_fd_raise_limit(64), ==, (gint64) before.rlim_cur);
    g_assert_cmpint(qd_fd_raise_limit(200), ==, (gint64) MIN(before.rlim_max, 200));
    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &after), ==, 0);
    g_assert_cmpuint(after.rlim_max, ==, before.rlim_max);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/fd/close", test_close);
    g_test_add_func("/base/fd/auto", test_auto);
    g_test_add_func("/base/fd/dup", test_dup);
    g_test_add_func("/base/fd/write-all", test_write_all);
    g_test_add_func("/base/fd/write-all-fails", test_write_all_fails);
    g_test_add_func("/base/fd/count-rest", test_count_rest);
    g_test_add_func("/base/fd/raise-limit", test_raise_limit);
    return g_test_run();
}
