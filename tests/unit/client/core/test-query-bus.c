/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The descriptors of a reply.
 */
#include "client-lib/core/query-bus.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "client-lib/core/query-error.h"

static GUnixFDList *
make_list(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    g_assert_cmpint(fd, >=, 0);
    return g_unix_fd_list_new_from_array(&fd, 1);
}

static void
test_taken(void)
{
    g_autoptr(GUnixFDList) fds = make_list();
    g_autoptr(GError) error = NULL;
    int fd = query_bus_take_descriptor(fds, 0, "Prepare", &error);

    g_assert_no_error(error);
    g_assert_cmpint(fcntl(fd, F_GETFD), ==, FD_CLOEXEC);
    g_assert_cmpint(close(fd), ==, 0);
    g_assert_true(query_bus_check_descriptors(fds, 1, "OpenPayloads", &error));
}

/* As a daemon may say that is none. */
static void
test_handles(void)
{
    static const gint32 handles[] = { -1, 1, G_MAXINT32, G_MININT32 };
    g_autoptr(GUnixFDList) fds = make_list();

    for (gsize i = 0; i <= G_N_ELEMENTS(handles); i++) {
        gboolean has_list = i < G_N_ELEMENTS(handles);
        g_autoptr(GError) error = NULL;

        g_assert_cmpint(query_bus_take_descriptor(has_list ? fds : NULL, has_list ? handles[i] : 0, "Prepare", &error), ==, -1);
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL);
    }
}

static void
test_no_free_one(void)
{
    g_autoptr(GUnixFDList) fds = make_list();
    g_autoptr(GError) error = NULL;
    struct rlimit before;
    struct rlimit none;

    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &before), ==, 0);
    none = (struct rlimit){ 0, before.rlim_max };
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &none), ==, 0);
    g_assert_cmpint(query_bus_take_descriptor(fds, 0, "Prepare", &error), ==, -1);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_LIMIT_EXCEEDED);
    g_clear_error(&error);
    g_assert_false(query_bus_check_descriptors(NULL, 1, "OpenPayloads", &error));
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_LIMIT_EXCEEDED);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/query-bus/descriptors/taken", test_taken);
    g_test_add_func("/query-bus/descriptors/handles", test_handles);
    g_test_add_func("/query-bus/descriptors/no-free-one", test_no_free_one);
    return g_test_run();
}
