/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The user's folders, without relative paths: GLib takes them as they are (https://specifications.freedesktop.org/basedir-spec).
 */
#include "client-lib/core/query-folders.h"

#include <pwd.h>
#include <unistd.h>

#define RECORD_BYTES 16384

/* (transfer full): without HOME it is that of the system's list of users */
static char *
get_home(void)
{
    g_autofree char *record = NULL;
    struct passwd *found = NULL;
    struct passwd entry;

    if (g_path_is_absolute(g_get_home_dir()))
        return g_strdup(g_get_home_dir());
    record = g_malloc(RECORD_BYTES);
    if (getpwuid_r(getuid(), &entry, record, RECORD_BYTES, &found) != 0 || found == NULL)
        return g_strdup("/");
    return g_strdup(found->pw_dir);
}

char *
query_folders_get_data(void)
{
    g_autofree char *home = NULL;

    if (g_path_is_absolute(g_get_user_data_dir()))
        return g_strdup(g_get_user_data_dir());
    home = get_home();
    return g_build_filename(home, ".local", "share", NULL);
}
