/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QdPayloadRows, the drafts of the open transaction, and what is to be swept.
 *
 * Whether a file is needed is never counted: an index of the rows whose content is in files answers it. So a rollback of any
 * kind, or a crash, leaves at most files without a row, and those are found by looking. The mutex decides the race between "no
 * row needs this file" and a transaction that stores the same content. Drafts are announced before their files get names, and
 * stay so until their rows can be seen.
 */
#include "daemon/payload/payload.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/base/fd.h"
#include "daemon/payload/payload-rows.h"
#include "daemon/payload/payload-sync.h"
#include "daemon/sqlite/sqlite-error.h"

/* Beyond so many drafts of one transaction the oldest are synced at once and their descriptors closed. */
#define OPEN_DRAFTS_MAX 64
/* Files that relaxed commits have given up are swept together, since the log is synced first; but no more than these wait. */
#define LATER_FILES_MAX 256
#define LATER_BYTES_MAX (UINT64_C(64) * 1024 * 1024)

#define LARGEST_ID "ifnull((SELECT max(id) FROM " QD_PAYLOAD_TABLE "), 0)"

static const char *const statement_texts[QD_N_PAYLOAD_STATEMENTS] = {
    [QD_PAYLOAD_STATEMENT_FIND] = "SELECT size, hash, " QD_PAYLOAD_IN_FILE " FROM " QD_PAYLOAD_TABLE " WHERE id=?",
    [QD_PAYLOAD_STATEMENT_GET] = "SELECT size, hash, " QD_PAYLOAD_IN_FILE ", content FROM " QD_PAYLOAD_TABLE " WHERE id=?",
    [QD_PAYLOAD_STATEMENT_IS_NEEDED] = "SELECT 1 FROM " QD_PAYLOAD_TABLE " WHERE hash=? AND hash<>x'' AND " QD_PAYLOAD_IN_FILE
                                       " LIMIT 1",
    /* clients may write sqlite_sequence, so it counts for the first number alone, if it may be true */
    [QD_PAYLOAD_STATEMENT_NUMBER] = "INSERT INTO queryd_meta SELECT 'payload_sequence', 1+max(" LARGEST_ID ", ifnull((SELECT seq"
                                    " FROM sqlite_sequence WHERE name='" QD_PAYLOAD_TABLE "' AND typeof(seq)='integer'"
                                    " AND seq<1<<62), 0)) WHERE true"
                                    " ON CONFLICT(key) DO UPDATE SET value=1+max(value, " LARGEST_ID ")",
    [QD_PAYLOAD_STATEMENT_INSERT] = "INSERT INTO " QD_PAYLOAD_TABLE "(id, size, hash, content, media_type, created)"
                                    " SELECT value, ?1, ?2, ?3, ?4, unixepoch() FROM queryd_meta WHERE key='payload_sequence'",
    [QD_PAYLOAD_STATEMENT_UPDATE] = "UPDATE " QD_PAYLOAD_TABLE
                                    " SET size=?1, hash=?2, content=?3, media_type=ifnull(?4, media_type)"
                                    " WHERE id=?5",
    [QD_PAYLOAD_STATEMENT_DELETE] = "DELETE FROM " QD_PAYLOAD_TABLE " WHERE id=?",
};

struct QdPayloads {
    QdPayloadFiles *files;
    const QdLimits *limits;
    char *log_path;

    pthread_mutex_t mutex;
    GHashTable *pending;        /* hash (GBytes) → QdPayloadDraft: of the open transaction, for files only */
    GPtrArray *given_up;        /* of GBytes: hashes that the open transaction took out of rows */
    GHashTable *sweepable;      /* hashes to look at, after a commit */
    uint64_t n_given_up_bytes;  /* of given_up; the writer's thread only */
    uint64_t n_sweepable_bytes; /* of sweepable, at most */
    gboolean sync_log;          /* a relaxed commit has given files up: the log first */
    gboolean has_files;         /* FALSE only when there is certainly none */
    guint n_announced;          /* drafts of files, ever */
    gboolean deleted;           /* the open transaction has deleted rows by a client's DELETE; the writer's thread only */
    guint n_open;               /* drafts with an open descriptor; the writer's thread only */
};

/* Connections ----------------------------------------------------------------------------------------------------------- */

static void
rows_free(gpointer data)
{
    QdPayloadRows *self = data;

    for (guint i = 0; i < QD_N_PAYLOAD_STATEMENTS; i++)
        (void) sqlite3_finalize(self->statements[i]);
    if (self->payloads == NULL)
        (void) qd_payload_files_free(self->files);
    g_free(self);
}

static QdPayloadRows *
rows_new(QdConnection *connection, QdPayloads *payloads)
{
    QdPayloadRows *self = g_new0(QdPayloadRows, 1);
    g_autofree char *directory = g_path_get_dirname(sqlite3_db_filename(qd_connection_get_db(connection), "main"));

    self->connection = connection;
    self->payloads = payloads;
    self->files = payloads != NULL ? payloads->files : qd_payload_files_new(directory);
    qd_connection_set_attachment(connection, QD_ATTACHMENT_PAYLOADS, self, rows_free);
    return self;
}

QdPayloadRows *
qd_payload_rows_get(QdConnection *connection)
{
    QdPayloadRows *self = qd_connection_get_attachment(connection, QD_ATTACHMENT_PAYLOADS);

    return self != NULL ? self : rows_new(connection, NULL);
}

sqlite3_stmt *
qd_payload_rows_get_statement(QdPayloadRows *self, QdPayloadStatement which, GError **error)
{
    sqlite3 *db = qd_connection_get_db(self->connection);
    int r = SQLITE_OK;

    if (self->statements[which] == NULL)
        r = sqlite3_prepare_v3(db, statement_texts[which], -1, SQLITE_PREPARE_PERSISTENT, &self->statements[which], NULL);
    if (r != SQLITE_OK)
        qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
    return self->statements[which];
}

gboolean
qd_payload_rows_fail(QdPayloadRows *self, int r, GError **error)
{
    qd_sqlite_set_error(error, qd_connection_get_db(self->connection), r, NULL, 0, NULL);
    return FALSE;
}

/* Steps a statement that gives no row. */
static gboolean
run(QdPayloadRows *self, sqlite3_stmt *stmt, GError **error)
{
    int r = sqlite3_step(stmt);

    (void) sqlite3_reset(stmt);
    (void) sqlite3_clear_bindings(stmt);
    return r == SQLITE_DONE || qd_payload_rows_fail(self, r, error);
}

/* Life ------------------------------------------------------------------------------------------------------------------ */

QdPayloads *
qd_payloads_new(const char *directory, const QdLimits *limits)
{
    QdPayloads *self = g_new0(QdPayloads, 1);

    self->files = qd_payload_files_new(directory);
    self->limits = limits;
    self->has_files = TRUE;
    self->log_path = g_build_filename(directory, "queryd.db-wal", NULL);
    self->pending = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref,
                                          (GDestroyNotify) qd_payload_draft_unref);
    self->given_up = g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref);
    self->sweepable = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
    pthread_mutex_init(&self->mutex, NULL);
    return self;
}

QdPayloads *
qd_payloads_free(QdPayloads *self)
{
    if (self == NULL)
        return NULL;

    g_hash_table_unref(self->pending);
    g_ptr_array_unref(self->given_up);
    g_hash_table_unref(self->sweepable);
    (void) qd_payload_files_free(self->files);
    pthread_mutex_destroy(&self->mutex);
    g_free(self->log_path);
    g_free(self);
    return NULL;
}

QdPayloadFiles *
qd_payloads_get_files(QdPayloads *self)
{
    return self->files;
}

/* Under the mutex: drafts that have got a name, and perhaps no row, are looked at later. */
static void
forget_pending(QdPayloads *self)
{
    GHashTableIter iter;
    gpointer hash;
    gpointer draft;

    g_hash_table_iter_init(&iter, self->pending);
    while (g_hash_table_iter_next(&iter, &hash, &draft))
        if (((QdPayloadDraft *) draft)->published)
            g_hash_table_add(self->sweepable, g_bytes_ref(hash));
    g_hash_table_remove_all(self->pending);
    self->n_open = 0;
}

static void
on_rollback(void *data)
{
    QdPayloads *self = data;

    pthread_mutex_lock(&self->mutex);
    forget_pending(self);
    self->deleted = FALSE;
    self->n_given_up_bytes = 0;
    g_ptr_array_set_size(self->given_up, 0);
    pthread_mutex_unlock(&self->mutex);
}

void
qd_payloads_attach(QdPayloads *self, QdConnection *connection)
{
    (void) rows_new(connection, self);
    pthread_mutex_lock(&self->mutex);
    self->has_files = TRUE; /* perhaps of another database, with another folder */
    pthread_mutex_unlock(&self->mutex);
    (void) sqlite3_rollback_hook(qd_connection_get_db(connection), on_rollback, self);
}

QdPayloads *
qd_payloads_get(QdConnection *connection)
{
    return qd_payload_rows_get(connection)->payloads;
}

/* Writing --------------------------------------------------------------------------------------------------------------- */

static gboolean
sync_all(QdPayloads *self, GError **error)
{
    g_autoptr(GPtrArray) drafts = g_ptr_array_new();
    GHashTableIter iter;
    gpointer draft;

    g_hash_table_iter_init(&iter, self->pending);
    while (g_hash_table_iter_next(&iter, NULL, &draft))
        if (!((QdPayloadDraft *) draft)->synced)
            g_ptr_array_add(drafts, draft);
    if (!qd_payload_drafts_sync((QdPayloadDraft *const *) drafts->pdata, drafts->len, error))
        return FALSE;
    self->n_open = 0;
    return TRUE;
}

static gboolean
announce(QdPayloads *self, QdPayloadDraft *draft, GError **error)
{
    if (!draft->in_file)
        return TRUE;

    pthread_mutex_lock(&self->mutex);
    g_hash_table_insert(self->pending, g_bytes_new(draft->hash, sizeof draft->hash), qd_payload_draft_ref(draft));
    self->n_announced++;
    self->has_files = TRUE;
    pthread_mutex_unlock(&self->mutex);
    return ++self->n_open <= OPEN_DRAFTS_MAX || sync_all(self, error);
}

static void
give_up(QdPayloads *self, const QdPayloadInfo *info)
{
    if (!info->in_file)
        return;
    g_ptr_array_add(self->given_up, g_bytes_new(info->hash, sizeof info->hash));
    self->n_given_up_bytes += info->size;
}

static gboolean
check_writes(const QdPayloadRows *self, GError **error)
{
    if (self->payloads != NULL)
        return TRUE;

    qd_error_set(error, QW_ERROR_READ_ONLY, "payloads are written by updates only");
    return FALSE;
}

static void
bind_draft(sqlite3_stmt *stmt, const QdPayloadDraft *draft, const char *media_type)
{
    (void) sqlite3_bind_int64(stmt, 1, (sqlite3_int64) draft->size);
    (void) sqlite3_bind_blob(stmt, 2, draft->hash, draft->in_file ? sizeof draft->hash : 0, SQLITE_STATIC);
    if (!draft->in_file)
        (void) sqlite3_bind_blob64(stmt, 3, draft->size > 0 ? draft->data : "", draft->size, SQLITE_STATIC);
    if (media_type != NULL)
        (void) sqlite3_bind_text(stmt, 4, media_type, -1, SQLITE_STATIC);
}

gboolean
qd_payload_store(QdConnection *connection, QdPayloadDraft *draft, const char *media_type, int64_t *ret_id, GError **error)
{
    QdPayloadRows *rows = qd_payload_rows_get(connection);
    sqlite3 *db = qd_connection_get_db(connection);
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    sqlite3_int64 rowid_before = sqlite3_last_insert_rowid(db);
    sqlite3_stmt *number = check_writes(rows, error) ? qd_payload_rows_get_statement(rows, QD_PAYLOAD_STATEMENT_NUMBER, error)
                                                     : NULL;
    sqlite3_stmt *stmt = number != NULL ? qd_payload_rows_get_statement(rows, QD_PAYLOAD_STATEMENT_INSERT, error) : NULL;
    gboolean ok = stmt != NULL && announce(rows->payloads, draft, error) && run(rows, number, error);

    if (ok) {
        bind_draft(stmt, draft, media_type);
        ok = run(rows, stmt, error);
    }
    if (ok)
        *ret_id = sqlite3_last_insert_rowid(db);
    sqlite3_set_last_insert_rowid(db, rowid_before); /* a client hears of its own rows only */
    (void) qd_connection_set_policy(connection, policy);
    return ok;
}

gboolean
qd_payload_replace(QdConnection *connection, int64_t id, QdPayloadDraft *draft, const char *media_type, GError **error)
{
    QdPayloadRows *rows = qd_payload_rows_get(connection);
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    sqlite3_stmt *stmt = check_writes(rows, error) ? qd_payload_rows_get_statement(rows, QD_PAYLOAD_STATEMENT_UPDATE, error) : NULL;
    g_autoptr(GError) failure = NULL;
    QdPayloadInfo before;
    gboolean ok = FALSE;

    if (stmt != NULL && !qd_payload_find(connection, id, &before, &failure)) {
        if (failure != NULL)
            g_propagate_error(error, g_steal_pointer(&failure));
        else
            qd_error_set(error, QW_ERROR_BAD_PARAMETER, "there is no payload %" G_GINT64_FORMAT, id);
    } else if (stmt != NULL && announce(rows->payloads, draft, error)) {
        bind_draft(stmt, draft, media_type);
        (void) sqlite3_bind_int64(stmt, 5, id);
        ok = run(rows, stmt, error);
        if (ok)
            give_up(rows->payloads, &before);
    }
    (void) qd_connection_set_policy(connection, policy);
    return ok;
}

gboolean
qd_payload_delete(QdConnection *connection, int64_t id, gboolean *ret_deleted, GError **error)
{
    QdPayloadRows *rows = qd_payload_rows_get(connection);
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    sqlite3_stmt *stmt = check_writes(rows, error) ? qd_payload_rows_get_statement(rows, QD_PAYLOAD_STATEMENT_DELETE, error) : NULL;
    g_autoptr(GError) failure = NULL;
    QdPayloadInfo info;
    gboolean found = stmt != NULL && qd_payload_find(connection, id, &info, &failure);
    gboolean ok = stmt != NULL && failure == NULL;

    if (found) {
        (void) sqlite3_bind_int64(stmt, 1, id);
        ok = run(rows, stmt, error);
        if (ok)
            give_up(rows->payloads, &info);
    }
    if (failure != NULL)
        g_propagate_error(error, g_steal_pointer(&failure));
    else if (ok)
        *ret_deleted = found;
    (void) qd_connection_set_policy(connection, policy);
    return ok;
}

/* Commits --------------------------------------------------------------------------------------------------------------- */

/* TRUE in doubt. */
static gboolean
is_needed(QdConnection *connection, GBytes *hash)
{
    QdPayloadRows *rows = qd_payload_rows_get(connection);
    sqlite3_stmt *stmt = qd_payload_rows_get_statement(rows, QD_PAYLOAD_STATEMENT_IS_NEEDED, NULL);
    int r;

    if (stmt == NULL)
        return TRUE;
    (void) sqlite3_bind_blob(stmt, 1, g_bytes_get_data(hash, NULL), QD_SHA256_BYTES, SQLITE_STATIC);
    r = sqlite3_step(stmt);
    (void) sqlite3_reset(stmt);
    (void) sqlite3_clear_bindings(stmt);
    return r != SQLITE_DONE;
}

/*
 * A member of the group that failed has taken its rows with it. Nothing is held while SQLite looks: when it finds no memory it ends
 * the whole transaction, and tells on_rollback().
 */
static gboolean
drop_unneeded(QdPayloads *self, QdConnection *connection, GError **error)
{
    sqlite3 *db = qd_connection_get_db(connection);
    g_autofree gpointer *hashes = g_hash_table_get_keys_as_array(self->pending, NULL);

    for (guint i = 0; hashes[i] != NULL; i++)
        (void) g_bytes_ref(hashes[i]);
    for (guint i = 0; hashes[i] != NULL; i++) {
        g_autoptr(GBytes) hash = hashes[i];

        if (sqlite3_get_autocommit(db) || is_needed(connection, hash))
            continue;
        pthread_mutex_lock(&self->mutex);
        (void) g_hash_table_remove(self->pending, hash);
        pthread_mutex_unlock(&self->mutex);
    }
    if (!sqlite3_get_autocommit(db))
        return TRUE;
    qd_sqlite_set_error(error, db, sqlite3_errcode(db), NULL, 0, self->limits);
    return FALSE;
}

gboolean
qd_payloads_before_commit(QdPayloads *self, QdConnection *connection, gboolean durable, GError **error)
{
    QdPolicy policy;
    GHashTableIter iter;
    gpointer draft;
    gboolean ok;

    if (g_hash_table_size(self->pending) == 0)
        return TRUE;

    policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    ok = drop_unneeded(self, connection, error);
    (void) qd_connection_set_policy(connection, policy);
    if (!ok || (durable && !sync_all(self, error)))
        return FALSE;
    g_hash_table_iter_init(&iter, self->pending);
    while (g_hash_table_iter_next(&iter, NULL, &draft))
        if (!qd_payload_draft_publish(draft, error))
            return FALSE;
    return !durable || g_hash_table_size(self->pending) == 0 || qd_payload_files_sync_names(self->files, error);
}

void
qd_payloads_note_deleted(QdConnection *connection)
{
    QdPayloads *self = qd_payloads_get(connection);

    if (self != NULL)
        self->deleted = TRUE;
}

/* Under the mutex. */
static gboolean
can_wait(const QdPayloads *self)
{
    return self->sync_log && g_hash_table_size(self->sweepable) < LATER_FILES_MAX && self->n_sweepable_bytes < LATER_BYTES_MAX;
}

QdPayloadSweep
qd_payloads_after_commit(QdPayloads *self, gboolean durable)
{
    QdPayloadSweep what = QD_PAYLOAD_SWEEP_NONE;

    if (g_hash_table_size(self->pending) == 0 && self->given_up->len == 0 && !self->deleted)
        return QD_PAYLOAD_SWEEP_NONE;

    pthread_mutex_lock(&self->mutex);
    g_hash_table_remove_all(self->pending);
    self->n_open = 0;
    if (self->deleted && self->has_files)
        what = QD_PAYLOAD_SWEEP_ALL;
    self->sync_log = self->sync_log || (!durable && (what == QD_PAYLOAD_SWEEP_ALL || self->given_up->len > 0));
    self->deleted = FALSE;
    for (guint i = 0; i < self->given_up->len; i++)
        g_hash_table_add(self->sweepable, g_bytes_ref(self->given_up->pdata[i]));
    g_ptr_array_set_size(self->given_up, 0);
    self->n_sweepable_bytes += self->n_given_up_bytes;
    self->n_given_up_bytes = 0;
    if (what == QD_PAYLOAD_SWEEP_NONE && g_hash_table_size(self->sweepable) > 0)
        what = can_wait(self) ? QD_PAYLOAD_SWEEP_LATER : QD_PAYLOAD_SWEEP_SOME;
    pthread_mutex_unlock(&self->mutex);
    return what;
}

/* Sweeping -------------------------------------------------------------------------------------------------------------- */

/* What a relaxed commit has deleted must stay deleted: its file would be missing. */
static void
sync_log(QdPayloads *self)
{
    g_auto(QdFd) fd = open(self->log_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd >= 0)
        (void) fdatasync(fd);
}

static GPtrArray *
steal_sweepable(QdPayloads *self)
{
    GPtrArray *hashes = g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref);
    GHashTableIter iter;
    gpointer hash;
    gboolean sync;

    pthread_mutex_lock(&self->mutex);
    g_hash_table_iter_init(&iter, self->sweepable);
    while (g_hash_table_iter_next(&iter, &hash, NULL))
        g_ptr_array_add(hashes, g_bytes_ref(hash));
    g_hash_table_remove_all(self->sweepable);
    self->n_sweepable_bytes = 0;
    sync = self->sync_log;
    self->sync_log = FALSE;
    pthread_mutex_unlock(&self->mutex);
    if (sync)
        sync_log(self);
    return hashes;
}

/* The blocks of a file are freed when its last descriptor is closed: after the mutex, for which the writer may wait.
 * Returns: whether the file stays. */
static gboolean
sweep(QdPayloads *self, QdConnection *reader, GBytes *hash)
{
    g_auto(QdFd) held G_GNUC_UNUSED = qd_payload_files_hold(self->files, g_bytes_get_data(hash, NULL));
    gboolean stays;

    pthread_mutex_lock(&self->mutex);
    stays = g_hash_table_contains(self->pending, hash) || is_needed(reader, hash);
    if (!stays)
        qd_payload_files_remove(self->files, g_bytes_get_data(hash, NULL));
    pthread_mutex_unlock(&self->mutex);
    return stays;
}

/* A later deletion of rows need not look again when nothing stays, and nothing was under way or has come meanwhile. */
static void
sweep_all(QdPayloads *self, QdConnection *reader)
{
    g_autoptr(GPtrArray) found = NULL;
    gboolean is_complete;
    gboolean stay;
    guint n_announced;

    pthread_mutex_lock(&self->mutex);
    n_announced = self->n_announced;
    stay = g_hash_table_size(self->pending) > 0;
    pthread_mutex_unlock(&self->mutex);
    found = qd_payload_files_list(self->files, &is_complete);
    for (guint i = 0; i < found->len; i++)
        stay = sweep(self, reader, found->pdata[i]) || stay;
    pthread_mutex_lock(&self->mutex);
    self->has_files = stay || !is_complete || self->n_announced != n_announced;
    pthread_mutex_unlock(&self->mutex);
}

void
qd_payloads_sweep(QdPayloads *self, QdConnection *reader, QdPayloadSweep what)
{
    QdPolicy policy = qd_connection_set_policy(reader, QD_POLICY_INTERNAL);
    g_autoptr(GPtrArray) hashes = steal_sweepable(self);

    for (guint i = 0; i < hashes->len; i++)
        (void) sweep(self, reader, hashes->pdata[i]);
    if (what == QD_PAYLOAD_SWEEP_ALL)
        sweep_all(self, reader);
    (void) qd_connection_set_policy(reader, policy);
}

gboolean
qd_payloads_set_aside(QdConnection *reader, GPtrArray **ret_hashes, char **ret_folder, GError **error)
{
    QdPayloadRows *rows = qd_payload_rows_get(reader);
    QdPolicy policy = qd_connection_set_policy(reader, QD_POLICY_INTERNAL);
    g_autoptr(GPtrArray) hashes = qd_payload_files_list(rows->files, NULL);

    for (guint i = hashes->len; i > 0; i--)
        if (is_needed(reader, hashes->pdata[i - 1]))
            g_ptr_array_remove_index_fast(hashes, i - 1);
    (void) qd_connection_set_policy(reader, policy);
    if (hashes->len > 0 && !qd_payload_files_set_aside(rows->files, hashes, ret_folder, error))
        return FALSE;
    *ret_hashes = g_steal_pointer(&hashes);
    return TRUE;
}

gboolean
qd_payload_rows_open_pending(QdPayloadRows *self, const QdPayloadInfo *info, int *ret_fd)
{
    g_autoptr(GBytes) hash = g_bytes_new_static(info->hash, sizeof info->hash);
    QdPayloadDraft *draft = self->payloads != NULL ? g_hash_table_lookup(self->payloads->pending, hash) : NULL;

    if (draft == NULL)
        return FALSE;
    *ret_fd = qd_payload_files_open_temp(self->files, &draft->temp);
    return *ret_fd >= 0;
}
