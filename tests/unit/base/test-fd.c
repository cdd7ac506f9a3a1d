/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Descriptors: closed once, duplicated CLOEXEC, their limit raised and never lowered.
 */
#include "daemon/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
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
    g_test_add_func("/base/fd/raise-limit", test_raise_limit);
    return g_test_run();
}
