/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The environment that a program finds at its start: its standard streams, and the user's folders.
 *
 * Place: room wire, for the main files of the daemon and of the programs on the library. The library itself leaves the environment
 * of its application alone: client-lib/core/query-store-name.h.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * A standard stream that is closed stays an error to use. Else the next file that is opened gets its number: GLib's wake-ups, the
 * bus or a database get what is printed. First of all in main().
 */
static inline void
qw_environment_fill_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void) open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY); /* for children, too: not CLOEXEC */
}

/*
 * A relative one is to be ignored: https://specifications.freedesktop.org/basedir-spec. GLib does not, so that a store would be
 * where the program happens to be started. Without HOME it asks the system's list of users. Before the first thread and the first
 * call of GLib that reads one.
 */
static inline void
qw_environment_forget_relative_folders(void)
{
    static const char *const names[] = {
        "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);

        if (value != NULL && value[0] != '/')
            (void) unsetenv(names[i]);
    }
}
