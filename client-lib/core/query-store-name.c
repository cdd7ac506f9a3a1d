/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Elements of the names of applications are those of bus names.
 */
#include "client-lib/core/query-store-name.h"

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
