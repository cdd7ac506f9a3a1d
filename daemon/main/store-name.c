/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of stores. They become parts of bus names, unit names and paths, so the alphabet is the smallest of the three.
 */
#include "daemon/main/store-name.h"

#include <string.h>

#include "daemon/base/access.h"

#define DEFAULT_BUS_NAME "org.queryd.Query1"
#define NAME_BYTES_MAX 64

gboolean
qd_store_name_is_valid(const char *name)
{
    if (g_str_has_prefix(name, QD_ACCESS_OWN_STORE_PREFIX))
        return qd_access_is_application(name + strlen(QD_ACCESS_OWN_STORE_PREFIX));
    if (name[0] == '\0' || g_ascii_isdigit(name[0]) || strlen(name) > NAME_BYTES_MAX)
        return FALSE;

    for (const char *p = name; *p != '\0'; p++)
        if (!g_ascii_isalnum(*p) && *p != '_')
            return FALSE;

    return TRUE;
}

static gboolean
is_default(const char *name)
{
    return name == NULL || g_str_equal(name, QD_STORE_DEFAULT);
}

char *
qd_store_name_make_bus_name(const char *name)
{
    return is_default(name) ? g_strdup(DEFAULT_BUS_NAME) : g_strconcat(DEFAULT_BUS_NAME ".", name, NULL);
}

char *
qd_store_name_make_directory(const char *name)
{
    return is_default(name) ? g_build_filename(g_get_user_data_dir(), "queryd", NULL)
                            : g_build_filename(g_get_user_data_dir(), "queryd", "stores", name, NULL);
}
