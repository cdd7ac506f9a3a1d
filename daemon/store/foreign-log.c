/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file alone is an older state of the same database, or a part of a newer one where a checkpoint was cut off. So three findings
 * name another database:
 *
 * - The count of the schema's changes is smaller with the log than without.
 * - The keys of the terms differ. A store's key is made at random when the store is created, and never changes.
 * - Only one of the two is a store, and no table of both has the same definition. The internal tables stay in a store: see
 *   qd_foreign_log_begin().
 */
#include "daemon/store/foreign-log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/base/fd.h"
#include "daemon/sqlite/schema.h"

#define LOG_HEADER_BYTES 32

/* What a state of the file holds. */
typedef struct State {
    gint64 schema_version; /* as SQLite counts the changes */
    gint64 has_key;
    gint64 key[2];
    gint64 is_store;
    GHashTable *tables; /* of definitions */
} State;

static void
state_clear(State *self)
{
    g_clear_pointer(&self->tables, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(State, state_clear)

static gboolean
read_tables(QdConnection *connection, State *self)
{
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_prepare_v2(qd_connection_get_db(connection),
                               "SELECT sql FROM sqlite_schema WHERE type='table' AND sql IS NOT NULL", -1, &stmt, NULL);

    while (r == SQLITE_OK || r == SQLITE_ROW) {
        const char *sql = (r = sqlite3_step(stmt)) == SQLITE_ROW ? (const char *) sqlite3_column_text(stmt, 0) : NULL;

        if (sql != NULL)
            g_hash_table_add(self->tables, g_strdup(sql));
    }
    (void) sqlite3_finalize(stmt);
    (void) qd_connection_set_policy(connection, policy);
    return r == SQLITE_DONE;
}

/* FALSE: it cannot be read. */
static gboolean
read_state(const QdConnectionInfo *info, const QdLimits *limits, State *ret_state)
{
    g_autoptr(QdConnection) connection = qd_connection_open(info, QD_CONNECTION_READER, limits, NULL);

    ret_state->tables = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (connection == NULL || !qd_connection_get_int64(connection, "PRAGMA schema_version", &ret_state->schema_version, NULL) ||
        !qd_connection_get_int64(connection, "SELECT count(*) FROM sqlite_schema WHERE name='queryd_term_key'",
                                 &ret_state->is_store, NULL) ||
        !read_tables(connection, ret_state))
        return FALSE;

    (void) qd_connection_get_int64(connection, "SELECT " QD_TERM_KEY_HALF("0") " + " QD_TERM_KEY_HALF("1") " IS NOT NULL",
                                   &ret_state->has_key, NULL);
    return !ret_state->has_key || (qd_connection_get_int64(connection, "SELECT " QD_TERM_KEY_HALF("0"), &ret_state->key[0], NULL) &&
                                   qd_connection_get_int64(connection, "SELECT " QD_TERM_KEY_HALF("1"), &ret_state->key[1], NULL));
}

static gboolean
share_a_table(const State *a, const State *b)
{
    GHashTableIter iter;
    gpointer sql;

    g_hash_table_iter_init(&iter, a->tables);
    while (g_hash_table_iter_next(&iter, &sql, NULL))
        if (g_hash_table_contains(b->tables, sql))
            return TRUE;
    return FALSE;
}

static gboolean
is_one_database(const State *file, const State *whole)
{
    if (whole->schema_version < file->schema_version)
        return FALSE;
    if (file->has_key && whole->has_key)
        return file->key[0] == whole->key[0] && file->key[1] == whole->key[1];
    if (file->is_store == whole->is_store)
        return TRUE;
    return g_hash_table_size(whole->tables) == 0 || share_a_table(file, whole);
}

static gboolean
is_foreign(const QdConnectionInfo *info, const QdLimits *limits)
{
    g_autofree char *log = g_strconcat(info->path, "-wal", NULL);
    QdConnectionInfo file_info = *info;
    g_auto(State) file = { 0 };
    g_auto(State) whole = { 0 };
    struct stat st;

    if (stat(log, &st) < 0 || st.st_size <= LOG_HEADER_BYTES)
        return FALSE;
    file_info.immutable = TRUE;
    /* SQLite deletes the log of an empty file */
    if (!read_state(&file_info, limits, &file) || g_hash_table_size(file.tables) == 0)
        return FALSE;
    return read_state(info, limits, &whole) && !is_one_database(&file, &whole);
}

gboolean
qd_foreign_log_check(const QdConnectionInfo *info, const QdLimits *limits, GError **error)
{
    if (!is_foreign(info, limits))
        return TRUE;
    qd_error_set(error, QW_ERROR_CORRUPT, "the log beside it, '%s-wal', is of another database, and has to be moved away",
                 info->path);
    return FALSE;
}

static gboolean
sync_directory_of(const char *path)
{
    g_autofree char *directory = g_path_get_dirname(path);
    g_auto(QdFd) fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd >= 0 && fsync(fd) == 0;
}

/* (transfer full): a name that is not taken */
static char *
find_name(const char *log)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *time = g_date_time_format(now, "%Y%m%dT%H%M%SZ");
    char *name = g_strdup_printf("%s.foreign-%s", log, time);

    for (guint i = 2; access(name, F_OK) == 0; i++) {
        g_free(name);
        name = g_strdup_printf("%s.foreign-%s-%u", log, time, i);
    }
    return name;
}

gboolean
qd_foreign_log_set_aside(const char *path, const QdLimits *limits, char **ret_aside, GError **error)
{
    const QdConnectionInfo info = { .path = path };
    g_autofree char *log = g_strconcat(path, "-wal", NULL);
    g_autofree char *index = g_strconcat(path, "-shm", NULL);
    g_autofree char *aside = NULL;

    if (!is_foreign(&info, limits))
        return TRUE;
    aside = find_name(log);
    if (rename(log, aside) < 0 || !sync_directory_of(path)) {
        qd_error_set_errno(error, errno, "cannot set the log of another database aside, '%s'", log);
        return FALSE;
    }
    (void) unlink(index);
    if (ret_aside != NULL)
        *ret_aside = g_steal_pointer(&aside);
    return TRUE;
}

void
qd_foreign_log_begin(QdConnection *writer)
{
    gint64 n_tables = 0;

    if (qd_connection_get_int64(
            writer,
            "SELECT count(*) FROM sqlite_schema WHERE type='table' AND name NOT GLOB 'queryd_*' AND name NOT GLOB 'sqlite_*'",
            &n_tables, NULL) &&
        n_tables > 0)
        (void) qd_connection_execute(writer, "PRAGMA wal_checkpoint(PASSIVE)", NULL);
}
