/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The user's folders in the environment of a program.
 *
 * Place: room wire, for the main files of the daemon and of the programs on the library. The library itself leaves the environment
 * of its application alone: client-lib/core/query-store-name.h.
 */
#pragma once

#include <stddef.h>
#include <stdlib.h>

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
