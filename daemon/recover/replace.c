/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * "queryd.db.new" → "queryd.db.next-WORD-TIME" → "queryd.db", which was "queryd.db.WORD-TIME" meanwhile.
 */
#include "daemon/recover/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/recover/schema-copy.h"

#define DATABASE_NAME "queryd.db"
#define LOG_NAME DATABASE_NAME QD_REPLACE_LOG_SUFFIX
#define INDEX_NAME DATABASE_NAME "-shm"
#define NEW_NAME DATABASE_NAME ".new"
#define NEXT_PREFIX DATABASE_NAME ".next-"

char *
qd_replace_get_path(const char *directory)
{
    return g_build_filename(directory, NEW_NAME, NULL);
}

static gboolean
sync_directory(const char *directory, GError **error)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    gboolean ok = fd >= 0 && fsync(fd) == 0;

    if (!ok)
        qd_error_set_errno(error, errno, "cannot make the names in '%s' durable", directory);
    if (fd >= 0)
        (void) close(fd);
    return ok;
}

/* @missing_ok: nothing to rename is as good */
static gboolean
move(const char *directory, const char *from, const char *to, gboolean missing_ok, GError **error)
{
    g_autofree char *old_path = g_build_filename(directory, from, NULL);
    g_autofree char *new_path = g_build_filename(directory, to, NULL);

    if (rename(old_path, new_path) == 0 || (missing_ok && errno == ENOENT))
        return TRUE;
    qd_error_set_errno(error, errno, "cannot rename '%s' to '%s'", old_path, to);
    return FALSE;
}

static gboolean
is_taken(const char *directory, const char *tag)
{
    g_autofree char *aside = g_strconcat(directory, "/" DATABASE_NAME ".", tag, NULL);
    g_autofree char *aside_log = g_strconcat(aside, QD_REPLACE_LOG_SUFFIX, NULL);
    g_autofree char *aside_journal = g_strconcat(aside, QD_REPLACE_JOURNAL_SUFFIX, NULL);
    g_autofree char *next = g_strconcat(directory, "/" NEXT_PREFIX, tag, NULL);

    return access(aside, F_OK) == 0 || access(aside_log, F_OK) == 0 || access(aside_journal, F_OK) == 0 || access(next, F_OK) == 0;
}

/* (transfer full): "WORD-TIME", of which there is no file yet */
static char *
make_tag(const char *directory, const char *word)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *time = g_date_time_format(now, "%Y%m%dT%H%M%SZ");
    char *tag = g_strdup_printf("%s-%s", word, time);

    for (guint i = 2; is_taken(directory, tag); i++) {
        g_free(tag);
        tag = g_strdup_printf("%s-%s-%u", word, time, i);
    }
    return tag;
}

gboolean
qd_replace_begin(const char *directory, const char *word, char **ret_aside, GError **error)
{
    g_autofree char *tag = make_tag(directory, word);
    g_autofree char *next = g_strconcat(NEXT_PREFIX, tag, NULL);

    if (!move(directory, NEW_NAME, next, FALSE, error) || !sync_directory(directory, error))
        return FALSE;

    *ret_aside = g_strconcat(directory, "/" DATABASE_NAME ".", tag, NULL);
    return TRUE;
}

gboolean
qd_replace_set_aside(const char *directory, const char *suffix, char **ret_aside, GError **error)
{
    g_autofree char *tag = make_tag(directory, "foreign");
    g_autofree char *old = g_strconcat(DATABASE_NAME, suffix, NULL);
    g_autofree char *name = g_strconcat(DATABASE_NAME ".", tag, suffix, NULL);
    g_autofree char *index = g_build_filename(directory, INDEX_NAME, NULL);

    if (!move(directory, old, name, FALSE, error) || !sync_directory(directory, error))
        return FALSE;

    if (g_str_equal(suffix, QD_REPLACE_LOG_SUFFIX))
        (void) unlink(index);
    *ret_aside = g_build_filename(directory, name, NULL);
    return TRUE;
}

/* The database only after its log: a database without its log has lost commits. */
static gboolean
swap(const char *directory, const char *next, GError **error)
{
    g_autofree char *aside = g_strconcat(DATABASE_NAME ".", next + strlen(NEXT_PREFIX), NULL);
    g_autofree char *aside_log = g_strconcat(aside, QD_REPLACE_LOG_SUFFIX, NULL);
    g_autofree char *aside_journal = g_strconcat(aside, QD_REPLACE_JOURNAL_SUFFIX, NULL);
    g_autofree char *aside_schema = g_strconcat(aside, QD_SCHEMA_COPY_SUFFIX, NULL);
    g_autofree char *index = g_build_filename(directory, INDEX_NAME, NULL);
    g_autofree char *path = g_build_filename(directory, aside, NULL);

    if (access(path, F_OK) != 0 && !move(directory, DATABASE_NAME, aside, TRUE, error))
        return FALSE;
    if (!move(directory, LOG_NAME, aside_log, TRUE, error) ||
        !move(directory, DATABASE_NAME QD_REPLACE_JOURNAL_SUFFIX, aside_journal, TRUE, error) ||
        !move(directory, DATABASE_NAME QD_SCHEMA_COPY_SUFFIX, aside_schema, TRUE, error))
        return FALSE;
    (void) unlink(index);
    return sync_directory(directory, error) && move(directory, next, DATABASE_NAME, FALSE, error) &&
           sync_directory(directory, error);
}

/* The copy of a job that did not come to its end. */
static gboolean
is_left_over(const char *name)
{
    return strstr(name, ".tmp") != NULL && (g_str_has_prefix(name, "restore-") || g_str_has_prefix(name, "backup-"));
}

gboolean
qd_replace_finish(const char *directory, GError **error)
{
    g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
    g_autofree char *unfinished = qd_replace_get_path(directory);
    g_autofree char *next = NULL;
    const char *name;

    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        if (next == NULL && g_str_has_prefix(name, NEXT_PREFIX))
            next = g_strdup(name);
        if (is_left_over(name)) {
            g_autofree char *path = g_build_filename(directory, name, NULL);

            (void) unlink(path);
        }
    }
    (void) unlink(unfinished);
    return next == NULL || swap(directory, next, error);
}
