/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc as texts, and the real one about this process and one that is gone.
 */
#include "daemon/bus/bus-process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "tests/unit/bus/bus-fixture.h"
#include "tests/unit/valgrind.h"

#define UNTRUE_UNDER_VALGRIND "valgrind knows no pidfd_open(), has another name, and descriptors of its own"

static void
assert_scope(const char *cgroup, const char *expected)
{
    g_autofree char *scope = qd_bus_process_find_scope(cgroup);

    g_assert_cmpstr(scope, ==, expected);
}

static void
test_scope(void)
{
    assert_scope("0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-flatpak-org.gnome.Maps-2345.scope\n",
                 "app-flatpak-org.gnome.Maps-2345.scope");
    assert_scope("0::/user.slice/user@1000.service/app.slice/app-flatpak-org.x.Y-1.scope/sub\n", "app-flatpak-org.x.Y-1.scope");
    assert_scope("12:pids:/a\n1:name=systemd:/app.slice/app-flatpak-org.x.Y-1.scope\n", "app-flatpak-org.x.Y-1.scope");
    assert_scope("0::/user.slice/user@1000.service/app.slice/app-gnome-org.gnome.Maps-2345.scope\n", NULL);
    assert_scope("0::/app.slice/x-app-flatpak-a.scope\n", NULL);
    assert_scope("0::/app.slice/app-flatpak-a.service\n", NULL);
    assert_scope("", NULL);
}

static void
assert_application(const char *scope, const char *expected)
{
    g_autofree char *application = qd_bus_process_parse_scope(scope);

    g_assert_cmpstr(application, ==, expected);
}

static void
test_application(void)
{
    assert_application("app-flatpak-org.gnome.Maps-2345.scope", "org.gnome.Maps");
    assert_application("app-flatpak-org.x.Y\\x2d2-1.scope", "org.x.Y-2");
    assert_application("app-flatpak-org.x.Y-2-1.scope", "org.x.Y-2");
    assert_application("app-flatpak-org.x.Y.scope", NULL);
    assert_application("app-flatpak-org.x.Y-.scope", NULL);
    assert_application("app-flatpak-org.x.Y-1a.scope", NULL);
    assert_application("app-flatpak--1.scope", NULL);
    assert_application("app-flatpak-.scope", NULL);
    assert_application("app-flatpak-music-1.scope", NULL);
    assert_application("app-flatpak-org.x.Y\\x2-1.scope", NULL);
    assert_application("app-flatpak-org.x.Y\\x2f-1.scope", NULL);
    assert_application("app-flatpak-org.x.Y\\x00-1.scope", NULL);
    assert_application("app-flatpak-org.x.Y\\-1.scope", NULL);
}

/* @text: of /.flatpak-info, NULL: it is made by the caller */
static int
read_info(const char *root, const char *text, char **ret_application)
{
    g_autofree char *path = g_build_filename(root, ".flatpak-info", NULL);
    g_autofree char *instance = NULL;
    g_auto(QdFd) fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (text != NULL)
        g_assert_true(g_file_set_contents(path, text, -1, NULL));
    return qd_bus_process_read_info(fd, ret_application, &instance);
}

static void
assert_no_info(const char *root, const char *text)
{
    g_autofree char *application = NULL;

    g_assert_cmpint(read_info(root, text, &application), ==, -EBADMSG);
    g_assert_null(application);
}

static void
test_info(void)
{
    g_autofree char *root = g_dir_make_tmp("queryd-info-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(root, ".flatpak-info", NULL);
    g_autofree char *other = g_build_filename(root, "other", NULL);
    g_autofree char *filler = g_strnfill(64 << 10, '#');
    g_autofree char *large = g_strconcat("[Application]\nname=org.x.Y\n", filler, "\n", NULL);
    g_autofree char *application = NULL;

    g_assert_cmpint(read_info(root, NULL, &application), ==, 0);
    g_assert_cmpint(read_info(root, "[Runtime]\nname=org.x.Platform\n", &application), ==, 1);
    g_assert_null(application);
    assert_no_info(root, "[Application]\nname=\n");
    assert_no_info(root, "[Application]\nname=music\n");
    assert_no_info(root, "name=org.x.Y\n");
    assert_no_info(root, "\x01\x02");
    assert_no_info(root, large);
    g_assert_cmpint(read_info(root, "[Application]\nname=org.x.Y\n[Instance]\ninstance-id=7\n", &application), ==, 1);
    g_assert_cmpstr(application, ==, "org.x.Y");

    /* a link is not followed, which would be in our own root; and a fifo is not waited for */
    g_assert_cmpint(rename(path, other), ==, 0);
    g_assert_cmpint(symlink(other, path), ==, 0);
    assert_no_info(root, NULL);
    g_assert_cmpint(unlink(path), ==, 0);
    g_assert_cmpint(mkfifo(path, 0600), ==, 0);
    assert_no_info(root, NULL);
    g_assert_cmpint(unlink(path), ==, 0);
    g_assert_cmpint(mkdir(path, 0700), ==, 0);
    assert_no_info(root, NULL);
    g_assert_cmpint(rmdir(path), ==, 0);
    g_assert_cmpint(unlink(other), ==, 0);
    g_assert_cmpint(rmdir(root), ==, 0);
}

static void
assert_unit(const char *cgroup, const char *expected)
{
    g_autofree char *unit = qd_bus_process_find_unit(cgroup);

    g_assert_cmpstr(unit, ==, expected);
}

static void
test_unit(void)
{
#define MANAGER "0::/user.slice/user-1000.slice/user@1000.service/"
    assert_unit(MANAGER "app.slice/app-gnome-org.gnome.Maps-2345.scope\n", "app-gnome-org.gnome.Maps-2345.scope");
    assert_unit(MANAGER "app.slice/app-mail@autostart.service\n", "app-mail@autostart.service");
    assert_unit(MANAGER "app.slice/indexer.service/worker\n", "indexer.service");
    assert_unit("12:pids:/a\n1:name=systemd:/user@1000.service/app-x-1.scope\n0::/\n", "app-x-1.scope");
    assert_unit(MANAGER "app.slice/app-org.gnome.Terminal.slice/vte-spawn-1.scope\n", NULL);
    assert_unit(MANAGER "init.scope\n", NULL);
    assert_unit("0::/user.slice/user-1000.slice/session-3.scope\n", NULL);
    assert_unit("0::/system.slice/ssh.service\n", NULL);
    assert_unit("", NULL);
}

static void
test_stat(void)
{
    g_autofree char *comm = NULL;
    guint64 ticks = 0;

    g_assert_cmpint(
        qd_bus_process_parse_stat("12 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20\n", &comm, &ticks), ==, 0);
    g_assert_cmpstr(comm, ==, "a) b (c");
    g_assert_cmpuint(ticks, ==, 4711);

    g_assert_cmpint(qd_bus_process_parse_stat("", &comm, &ticks), ==, -EINVAL);
    g_assert_cmpint(qd_bus_process_parse_stat("12 (a", &comm, &ticks), ==, -EINVAL);
    g_assert_cmpint(qd_bus_process_parse_stat("12 )a(", &comm, &ticks), ==, -EINVAL);
    g_assert_cmpint(qd_bus_process_parse_stat("12 (a) S 1 2 3", &comm, &ticks), ==, -EINVAL);
    g_assert_cmpint(qd_bus_process_parse_stat("12 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x", &comm, &ticks), ==,
                    -EINVAL);
}

static void
test_self(void)
{
    g_autoptr(QdBusProcess) one = qd_bus_process_new(getpid(), -1);
    g_autoptr(QdBusProcess) two = qd_bus_process_new(getpid(), -1);

    if (skips_under_valgrind(UNTRUE_UNDER_VALGRIND))
        return;
    g_assert_true(qd_bus_process_is_alive(one));
    g_assert_cmpint(one->sandbox, ==, QD_SANDBOX_NONE);
    g_assert_cmpuint(one->start_ticks, >, 0);
    g_assert_cmpuint(one->start_ticks, ==, two->start_ticks);
    g_assert_true(g_str_has_prefix(one->comm, "test-bus-proces"));
}

static void
test_gone(void)
{
    pid_t pid = fork();
    g_autoptr(QdBusProcess) before = NULL;
    g_autoptr(QdBusProcess) after = NULL;

    if (pid == 0)
        _exit(0);
    before = qd_bus_process_new(pid, -1);
    g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
    after = qd_bus_process_new(pid, -1);
    g_assert_false(qd_bus_process_is_alive(before));
    g_assert_false(qd_bus_process_is_alive(after));
    g_assert_cmpint(after->pid_fd, ==, -1);
}

/* What cannot be opened now is neither a sandbox nor the lack of one. */
static void
test_no_descriptors(void)
{
    QdBusProcess *process = NULL;
    guint n_left = 0;

    if (skips_under_valgrind(UNTRUE_UNDER_VALGRIND))
        return;
    do {
        rlim_t before;

        g_assert_cmpuint(n_left, <, 10);
        process = qd_bus_process_free(process);
        before = bus_fixture_leave_descriptors(n_left++);
        process = qd_bus_process_new(getpid(), -1);
        bus_fixture_free_descriptors(before);
    } while (process->error == EMFILE);
    g_assert_cmpint(process->error, ==, 0);
    g_assert_cmpint(process->sandbox, ==, QD_SANDBOX_NONE);
    g_assert_cmpuint(n_left, ==, 4); /* the pidfd, the root folder, and the file in it */
    process = qd_bus_process_free(process);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bus/process/scope", test_scope);
    g_test_add_func("/bus/process/application", test_application);
    g_test_add_func("/bus/process/info", test_info);
    g_test_add_func("/bus/process/unit", test_unit);
    g_test_add_func("/bus/process/stat", test_stat);
    g_test_add_func("/bus/process/self", test_self);
    g_test_add_func("/bus/process/gone", test_gone);
    g_test_add_func("/bus/process/no-descriptors", test_no_descriptors);
    return g_test_run();
}
