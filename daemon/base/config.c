/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads GKeyFiles into the table of limits. A bad line costs a warning and nothing else; config-access.c is stricter.
 */
#include "daemon/base/config.h"

#include <errno.h>
#include <string.h>

#include "daemon/base/access.h"
#include "daemon/base/log.h"
#include "daemon/base/small-file.h"

#define FILE_BYTES_MAX (1 << 20)

static const char group_limits[] = "Limits";
static const char group_daemon[] = "Daemon";
static const char group_service[] = "Service";

void
qd_config_warn(QdConfig *self, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g_ptr_array_add(self->warnings, g_strdup_vprintf(format, args));
    va_end(args);
}

static guint64
suffix_factor(char suffix)
{
    switch (suffix) {
    case 'K':
        return G_GUINT64_CONSTANT(1) << 10;
    case 'M':
        return G_GUINT64_CONSTANT(1) << 20;
    case 'G':
        return G_GUINT64_CONSTANT(1) << 30;
    default: /* a character, not our enum */
        return 0;
    }
}

int
qd_config_parse_size(const char *text, guint64 *ret_value)
{
    guint64 factor = 1;
    guint64 value;
    char *end;

    /* strtoull takes signs and white space; a limit is digits. */
    if (!g_ascii_isdigit(text[0]))
        return -EINVAL;

    errno = 0;
    value = g_ascii_strtoull(text, &end, 10);
    if (errno == ERANGE)
        return -ERANGE;
    if (end[0] != '\0') {
        factor = suffix_factor(end[0]);
        if (factor == 0 || end[1] != '\0')
            return -EINVAL;
    }
    if (!g_uint64_checked_mul(&value, value, factor))
        return -ERANGE;

    *ret_value = value;
    return 0;
}

static void
set_limit(QdConfig *self, const char *path, const char *key, const char *text)
{
    g_autoptr(GError) error = NULL;
    guint64 value;

    if (qd_config_parse_size(text, &value) < 0) {
        qd_config_warn(self, "%s: limit '%s': '%s' is no number (digits, then K, M or G if you like), ignoring", path, key, text);
        return;
    }
    if (!qd_limits_set(&self->limits, key, value, &error))
        qd_config_warn(self, "%s: %s, ignoring", path, error->message);
}

static void
set_tracker(QdConfig *self, const char *path, const char *text)
{
    static const char *const names[] = { [QD_TRACKER_OFF] = "off", [QD_TRACKER_ON] = "on", [QD_TRACKER_UNION] = "union" };

    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        if (g_str_equal(names[i], text)) {
            self->tracker = (QdTrackerMode) i;
            return;
        }
    }
    qd_config_warn(self, "%s: tinysparql '%s' is none of off, on, union; ignoring", path, text);
}

static void
set_log_level(QdConfig *self, const char *path, const char *text)
{
    int level = qd_log_parse_level(text);

    if (level < 0) {
        qd_config_warn(self, "%s: log_level '%s' is none of error, warning, notice, info, debug; ignoring", path, text);
        return;
    }
    self->log_level = level;
}

static void
set_daemon_key(QdConfig *self, const char *path, const char *key, const char *text)
{
    if (g_str_equal(key, "log_level"))
        set_log_level(self, path, text);
    else if (g_str_equal(key, "tinysparql"))
        set_tracker(self, path, text);
    else
        qd_config_warn(self, "%s: unknown key '%s' in [%s], ignoring", path, key, group_daemon);
}

/* The words of @text after those of @list. */
static void
append_words(char ***list, const char *text)
{
    g_autoptr(GStrvBuilder) words = g_strv_builder_new();
    g_auto(GStrv) more = g_strsplit_set(text, " \t", -1);
    g_auto(GStrv) before = *list;

    if (before != NULL)
        g_strv_builder_addv(words, (const char **) before);
    for (char **word = more; *word != NULL; word++)
        if (**word != '\0')
            g_strv_builder_add(words, *word);
    *list = g_strv_builder_end(words);
}

static void
set_service_key(QdConfig *self, const char *path, const char *key, const char *text)
{
    if (g_str_equal(key, "allow"))
        append_words(&self->service_allow, text);
    else if (g_str_equal(key, "private"))
        append_words(&self->service_private, text);
    else
        qd_config_warn(self, "%s: unknown key '%s' in [%s], ignoring", path, key, group_service);
}

static void
read_group(QdConfig *self, const char *path, GKeyFile *file, const char *group,
           void (*set)(QdConfig *self, const char *path, const char *key, const char *text))
{
    g_auto(GStrv) keys = g_key_file_get_keys(file, group, NULL, NULL);

    for (char **key = keys; key != NULL && *key != NULL; key++) {
        g_autofree char *text = g_key_file_get_value(file, group, *key, NULL);

        if (text != NULL)
            set(self, path, *key, g_strstrip(text));
    }
}

static void
read_file(QdConfig *self, const char *path)
{
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autoptr(GError) error = NULL;
    g_autofree char *text = qd_small_file_read(path, FILE_BYTES_MAX, NULL);
    g_auto(GStrv) groups = NULL;

    if (text == NULL && errno == ENOENT)
        return;
    if (text == NULL || !g_key_file_load_from_data(file, text, (gsize) -1, G_KEY_FILE_NONE, &error)) {
        qd_config_warn(self, "%s: %s, ignoring the file", path, text != NULL ? error->message : g_strerror(errno));
        return;
    }

    groups = g_key_file_get_groups(file, NULL);
    for (char **group = groups; *group != NULL; group++) {
        if (g_str_equal(*group, group_limits))
            read_group(self, path, file, group_limits, set_limit);
        else if (g_str_equal(*group, group_daemon))
            read_group(self, path, file, group_daemon, set_daemon_key);
        else if (qd_config_is_access_group(*group))
            qd_config_read_access(self, path, text, file, *group);
        else if (g_str_equal(*group, group_service))
            read_group(self, path, file, group_service, set_service_key);
        else
            qd_config_warn(self, "%s: unknown group [%s], ignoring", path, *group);
    }
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static void
read_drop_ins(QdConfig *self, const char *path)
{
    g_autofree char *dir_path = g_strconcat(path, ".d", NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) dir = g_dir_open(dir_path, 0, NULL);
    const char *name;

    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL)
        if (g_str_has_suffix(name, ".conf"))
            g_ptr_array_add(names, g_strdup(name));
    g_ptr_array_sort(names, compare_names);

    for (guint i = 0; i < names->len; i++) {
        g_autofree char *file_path = g_build_filename(dir_path, names->pdata[i], NULL);

        read_file(self, file_path);
    }
}

QdConfig *
qd_config_load(const char *path)
{
    g_autofree char *default_path = g_build_filename(g_get_user_config_dir(), "queryd", "queryd.conf", NULL);
    QdConfig *self = g_new0(QdConfig, 1);

    qd_limits_init(&self->limits);
    self->log_level = LOG_INFO;
    self->warnings = g_ptr_array_new_with_free_func(g_free);
    self->access = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) qd_access_unref);

    read_file(self, path != NULL ? path : default_path);
    read_drop_ins(self, path != NULL ? path : default_path);
    return self;
}

QdConfig *
qd_config_free(QdConfig *self)
{
    if (self == NULL)
        return NULL;

    g_ptr_array_unref(self->warnings);
    g_hash_table_unref(self->access);
    g_strfreev(self->service_allow);
    g_strfreev(self->service_private);
    g_free(self);
    return NULL;
}
