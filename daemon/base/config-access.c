/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups [Access APPLICATION] and [Access APPLICATION STORE] of queryd.conf.
 *
 * Place: room base, part of the configuration. Invariant: a mistake never grants more. A group with one grants nothing, and takes
 * back what an earlier file granted by a group of the same name.
 */
#include "daemon/base/config.h"

#include <string.h>

#include "daemon/base/access.h"
#include "daemon/base/error.h"

#define GROUP_NAME "Access"
#define DEFAULT_STORE "default"

gboolean
qd_config_is_access_group(const char *group)
{
    return g_str_has_prefix(group, GROUP_NAME) && (group[strlen(GROUP_NAME)] == '\0' || group[strlen(GROUP_NAME)] == ' ');
}

/* The line of @key in the group, or of the group itself (@key NULL). Of several of one name the last one counts. */
static guint
find_line(const char *text, const char *group, const char *key)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_autofree char *header = g_strconcat("[", group, "]", NULL);
    gboolean is_inside = FALSE;
    guint found = 0;

    for (guint i = 0; lines[i] != NULL; i++) {
        char *line = g_strstrip(lines[i]);

        if (line[0] == '[') {
            is_inside = g_str_has_prefix(line, header);
            if (is_inside && key == NULL)
                found = i + 1;
        } else if (is_inside && key != NULL && g_str_has_prefix(line, key) && g_strstrip(line + strlen(key))[0] == '=') {
            found = i + 1;
        }
    }
    return found;
}

/* Whether it may be the name of a store; one that there is not grants nothing. */
static gboolean
is_store(const char *name)
{
    return name[0] != '\0' && name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")] == '\0';
}

static gboolean
read_key(QdAccess *access, const char *key, const char *list, GError **error)
{
    if (g_str_equal(key, "read"))
        return qd_access_grant(access, QD_ACCESS_READ, list, error);
    if (g_str_equal(key, "write"))
        return qd_access_grant(access, QD_ACCESS_WRITE, list, error);
    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "unknown key '%s': there are 'read' and 'write'", key);
    return FALSE;
}

/* The group's grants; NULL after a mistake. */
static QdAccess *
read_keys(QdConfig *self, const char *path, const char *text, GKeyFile *file, const char *group, const char *application)
{
    g_autoptr(QdAccess) access = qd_access_new(application);
    g_auto(GStrv) keys = g_key_file_get_keys(file, group, NULL, NULL);

    for (char **key = keys; key != NULL && *key != NULL; key++) {
        g_autofree char *list = g_key_file_get_value(file, group, *key, NULL);
        g_autoptr(GError) error = NULL;

        if (list == NULL || read_key(access, *key, g_strstrip(list), &error))
            continue;
        qd_config_warn(self, "%s:%u: [%s] %s: %s; the group grants nothing", path, find_line(text, group, *key), group, *key,
                       error->message);
        return NULL;
    }
    return g_steal_pointer(&access);
}

void
qd_config_read_access(QdConfig *self, const char *path, const char *text, GKeyFile *file, const char *group)
{
    g_auto(GStrv) words = g_strsplit(group, " ", -1);
    guint n_words = g_strv_length(words);
    const char *store = n_words == 3 ? words[2] : DEFAULT_STORE;
    QdAccess *access;

    if (n_words < 2 || n_words > 3 || !qd_access_is_application(words[1]) || !is_store(store)) {
        qd_config_warn(self,
                       "%s:%u: group [%s] is not [" GROUP_NAME " APPLICATION] or [" GROUP_NAME
                       " APPLICATION STORE], with the id of an application as org.example.Music; it grants nothing",
                       path, find_line(text, group, NULL), group);
        return;
    }

    access = read_keys(self, path, text, file, group, words[1]);
    if (access == NULL)
        access = qd_access_new(words[1]);
    g_hash_table_replace(self->access, g_strdup_printf("%s %s", words[1], store), access);
}

QdAccess *
qd_config_get_access(const QdConfig *self, const char *application, const char *store)
{
    g_autofree char *key = g_strdup_printf("%s %s", application, store);
    QdAccess *access = g_hash_table_lookup(self->access, key);

    return access != NULL ? qd_access_ref(access) : qd_access_new(application);
}
