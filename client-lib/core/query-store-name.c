/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Elements of the names of applications are those of bus names.
 */
#include "client-lib/core/query-store-name.h"

#include <pwd.h>
#include <unistd.h>

#define RECORD_BYTES 16384

#include <gio/gio.h>
#include <string.h>

#define INFO_PATH "/.flatpak-info"
#define OWN_PREFIX "app."
#define NAME_BYTES_MAX 64
#define APPLICATION_BYTES_MAX 200

static gboolean
is_application(const char *name)
{
    return strlen(name) <= APPLICATION_BYTES_MAX && g_dbus_is_name(name) && !g_dbus_is_unique_name(name);
}

gboolean
query_store_name_is_valid(const char *name)
{
    gboolean is_good = name[0] != '\0' && !g_ascii_isdigit(name[0]) && strlen(name) <= NAME_BYTES_MAX;

    if (g_str_has_prefix(name, OWN_PREFIX))
        return is_application(name + strlen(OWN_PREFIX));
    for (const char *p = name; is_good && *p != '\0'; p++)
        is_good = g_ascii_isalnum(*p) || *p == '_';
    return is_good;
}

char *
query_store_name_find_own(void)
{
    g_autoptr(GKeyFile) info = g_key_file_new();
    g_autofree char *application = NULL;

    if (!g_key_file_load_from_file(info, INFO_PATH, G_KEY_FILE_NONE, NULL))
        return NULL;
    application = g_key_file_get_string(info, "Application", "name", NULL);
    return application != NULL && is_application(application) ? g_strconcat(OWN_PREFIX, application, NULL) : NULL;
}

/* GLib takes relative paths as they are; https://specifications.freedesktop.org/basedir-spec says that they are ignored. */
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
