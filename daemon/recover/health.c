/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A key file, rewritten and not synced, at each start and end. A torn one reads as that of a store that was not closed.
 */
#include "daemon/recover/health.h"

#include <errno.h>

#include "daemon/base/small-file.h"

#define GROUP "Health"
#define MAX_BYTES (1024 * 1024)

void
qd_health_init(QdHealth *self, const char *directory)
{
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autofree char *text = NULL;
    gsize n_bytes = 0;

    *self = (QdHealth){ .path = g_build_filename(directory, QD_HEALTH_NAME, NULL) };
    text = qd_small_file_read(self->path, MAX_BYTES, &n_bytes);
    if (text == NULL && errno == ENOENT)
        return;
    if (text == NULL || !g_key_file_load_from_data(file, text, n_bytes, G_KEY_FILE_NONE, NULL) ||
        !g_key_file_has_group(file, GROUP)) {
        self->unclean = TRUE;
        return;
    }
    self->checked_sec = g_key_file_get_int64(file, GROUP, "checked", NULL);
    self->salvaged_sec = g_key_file_get_int64(file, GROUP, "salvaged", NULL);
    self->unclean = g_key_file_get_boolean(file, GROUP, "open", NULL);
    self->damage = g_key_file_get_string(file, GROUP, "damage", NULL);
    self->report = g_key_file_get_string(file, GROUP, "report", NULL);
}

void
qd_health_clear(QdHealth *self)
{
    g_free(self->path);
    g_free(self->damage);
    g_free(self->report);
    *self = (QdHealth){ 0 };
}

void
qd_health_save(const QdHealth *self)
{
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autofree char *text = NULL;
    gsize n_bytes = 0;

    g_key_file_set_int64(file, GROUP, "checked", self->checked_sec);
    g_key_file_set_int64(file, GROUP, "salvaged", self->salvaged_sec);
    g_key_file_set_boolean(file, GROUP, "open", self->unclean);
    if (self->damage != NULL)
        g_key_file_set_string(file, GROUP, "damage", self->damage);
    if (self->report != NULL)
        g_key_file_set_string(file, GROUP, "report", self->report);
    text = g_key_file_to_data(file, &n_bytes, NULL);
    (void) qd_small_file_replace(self->path, text, n_bytes);
}

void
qd_health_set_text(char **field, const char *text)
{
    g_free(*field);
    *field = g_strdup(text);
}

const char *
qd_health_get_word(const QdHealth *self)
{
    if (self->damage != NULL)
        return "damaged";
    return self->checked_sec != 0 ? "ok" : "unchecked";
}
