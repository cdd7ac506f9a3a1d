/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Beginning, ending and telling of transactions.
 */
#include "daemon/write/write-transaction.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/base/log.h"
#include "daemon/notify/changes.h"
#include "daemon/notify/row-watch.h"
#include "daemon/payload/payload-sweep.h"
#include "daemon/payload/payload.h"
#include "daemon/read/pool.h"
#include "daemon/recover/schema-copy.h"
#include "daemon/results/result-memory.h"
#include "daemon/sqlite/file-lengths.h"
#include "daemon/sqlite/schema-size.h"
#include "daemon/store/database.h"
#include "daemon/write/checkpointer.h"
#include "daemon/write/writer-private.h"
#include "daemon/write/writer.h"

/* That there was plenty of room holds for so long. */
#define ROOMY_USEC 2000
/* Above the floor: more than is written in that time. */
#define ROOMY_BYTES (256 * INT64_C(1048576))

static void
set_read_only_error(const QdWriter *self, GError **error)
{
    const QdDatabase *database = self->config.database;

    qd_error_set(error, QW_ERROR_READ_ONLY, "store '%s' cannot be written%s", qd_database_get_directory(database),
                 qd_database_get_read_only_hint(database));
}

/* Others ------------------------------------------------------------------------------------------------------------------- */

/* Frames that are about to be written are compared with the log's end by the VFS. */
static gboolean
check_lengths(QdWriter *self, QdWriteLook look, GError **error)
{
    sqlite3 *db = self->connection != NULL ? qd_connection_get_db(self->connection) : NULL;

    if (db == NULL)
        return TRUE;
    return (look == QD_WRITE_LOOK_AFTER || qd_file_lengths_check_database(db, error)) &&
           ((look == QD_WRITE_LOOK_BEFORE && !self->files.are_harmed) || qd_file_lengths_check_log(db, TRUE, error));
}

gboolean
qd_write_check_files(QdWriter *self, QdWriteLook look, GError **error)
{
    g_autoptr(GError) failure = NULL;
    gboolean ok = qd_database_check_files(self->config.database, look == QD_WRITE_LOOK_THOROUGH, &failure) &&
                  check_lengths(self, look, &failure);

    if (!ok && !self->files.are_harmed)
        qd_log(LOG_ERR, &(QdLogFields){ .message_id = QD_LOG_ID_STORE }, "%s", failure->message);
    self->files.are_harmed = !ok;
    if (!ok)
        g_propagate_error(error, g_steal_pointer(&failure));
    return ok;
}

static void
tell_of_others(QdWriter *self)
{
    g_autoptr(QdChanges) changes = qd_changes_new();

    qd_changes_make_all(changes);
    self->config.commit_func(qd_write_publish(self), changes, self->config.user_data);
}

/* SQLite's own number, as the last transaction of this connection has seen or made it: each commit of any connection changes it. */
static gboolean
get_version(QdWriter *self, guint *ret_version)
{
    return sqlite3_file_control(qd_connection_get_db(self->connection), NULL, SQLITE_FCNTL_DATA_VERSION, ret_version) == SQLITE_OK;
}

/* At the begin of a transaction that has read. */
static void
compare_version(QdWriter *self)
{
    QdForeign *foreign = &self->foreign;
    guint version = 0;

    if (!get_version(self, &version))
        return;
    if (foreign->is_known && foreign->data_version != version)
        tell_of_others(self);
    foreign->is_known = TRUE;
    foreign->data_version = version;
}

void
qd_write_note_own_version(QdWriter *self)
{
    self->foreign.is_known = self->connection != NULL && get_version(self, &self->foreign.data_version);
}

/* Without a connection. */
static void
compare_mark(QdWriter *self)
{
    QdLogMark mark = qd_log_mark_read(qd_database_get_path(self->config.database));
    QdLogMark *before = &self->foreign.mark;

    if (before->is_known && mark.is_known && memcmp(before->bytes, mark.bytes, sizeof mark.bytes) != 0)
        tell_of_others(self);
    *before = mark;
}

void
qd_write_look_for_others(QdWriter *self)
{
    if (self->connection == NULL) {
        compare_mark(self);
    } else if (!qd_write_in_transaction(self) && qd_connection_begin(self->connection, NULL)) {
        /* a transaction sees nothing before it has read */
        if (qd_connection_get_schema_version(self->connection) >= 0)
            compare_version(self);
        (void) qd_connection_end(self->connection, NULL);
    }
}

void
qd_write_close_connection(QdWriter *self)
{
    if (self->connection == NULL)
        return;
    self->connection = qd_connection_free(self->connection);
    self->foreign = (QdForeign){ .mark = qd_log_mark_read(qd_database_get_path(self->config.database)) };
    qd_database_note_log(self->config.database, FALSE);
}

/* Transactions -------------------------------------------------------------------------------------------------------------- */

static gboolean
lock_wait_ends(void *data)
{
    QdWriter *self = data;

    return self->begins != NULL && self->begin_ends(self, NULL);
}

/* Another program may have it. */
static gboolean
take_lock(QdWriter *self, QdWriteItem *item, GError **error)
{
    g_autoptr(GError) failure = NULL;
    gboolean taken;

    self->begins = item;
    taken = qd_connection_begin_write(self->connection, &failure);
    if (!taken && (item == NULL || !g_error_matches(failure, QD_ERROR, QW_ERROR_BUSY) || !self->begin_ends(self, error)))
        g_propagate_error(error, g_steal_pointer(&failure));
    self->begins = NULL;
    return taken;
}

gboolean
qd_write_begin(QdWriter *self, QdWriteItem *item, GError **error)
{
    const QdConnectionInfo info = qd_database_get_info(self->config.database);
    g_autoptr(GError) failure = NULL;

    if (!qd_write_check_files(self, QD_WRITE_LOOK_BEFORE, error) ||
        !qd_database_prepare_update(self->config.database, self->connection, self->config.limits, error))
        return FALSE;
    (void) qd_row_watch_set(self->connection,
                            self->config.wants_keys != NULL && __atomic_load_n(self->config.wants_keys, __ATOMIC_RELAXED) != 0);
    if (take_lock(self, item, &failure)) {
        compare_version(self);
        qd_database_note_log(self->config.database, TRUE);
        self->has_logged = FALSE;
        if (self->config.results != NULL)
            qd_result_memory_begin_write(self->config.results);
        return TRUE;
    }

    self->is_spoilt = qd_connection_correct_read_only(info.path, &failure);
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

gboolean
qd_write_in_transaction(QdWriter *self)
{
    return !sqlite3_get_autocommit(qd_connection_get_db(self->connection));
}

void
qd_write_note_results(QdWriter *self, const QdChanges *changes)
{
    if (self->config.results != NULL)
        qd_result_memory_end_write(self->config.results, changes, self->has_logged);
}

void
qd_write_rollback(QdWriter *self)
{
    int r = sqlite3_errcode(qd_connection_get_db(self->connection)) & 0xff;

    if (r == SQLITE_IOERR || r == SQLITE_FULL)
        self->log_is_full = TRUE;
    qd_write_note_results(self, NULL);
    if (!qd_write_in_transaction(self))
        return;
    (void) qd_connection_execute(self->connection, "ROLLBACK", NULL);
    qd_schema_watch_forget(qd_connection_get_schema(self->connection));
}

static int
on_wal(void *data, sqlite3 *db, const char *name, int n_pages)
{
    QdWriter *self = data;

    self->wal_pages = n_pages;
    self->has_logged = TRUE;
    return SQLITE_OK;
}

/* A file that was adopted, restored, or written while the limit was higher. */
static void
tell_schema_size(QdWriter *self)
{
    uint64_t max_bytes = qd_limits_get(self->config.limits, QD_LIMIT_SCHEMA_BYTES);
    uint64_t size_bytes = qd_schema_size_measure(self->connection);

    if (size_bytes > max_bytes && !self->has_told_size)
        qd_log(LOG_WARNING, &(QdLogFields){ .message_id = QD_LOG_ID_STORE },
               "the schema of store '%s' has %" G_GUINT64_FORMAT " bytes, and the limit 'schema_bytes' is %" G_GUINT64_FORMAT
               ": going on, without CREATE, ALTER and ANALYZE. Each connection needs that memory, and reads it after a change",
               qd_database_get_directory(self->config.database), size_bytes, max_bytes);
    self->has_told_size = size_bytes > max_bytes;
}

void
qd_write_watch_log(QdWriter *self)
{
    self->synchronous_normal = FALSE;
    (void) sqlite3_wal_hook(qd_connection_get_db(self->connection), on_wal, self);
    qd_connection_set_lock_wait(self->connection, lock_wait_ends, self);
    qd_checkpointer_bound_log(self->checkpointer, self->connection);
    self->foreign.is_known = FALSE;
    if (self->config.payloads != NULL)
        qd_payloads_attach(self->config.payloads, self->connection);
    tell_schema_size(self);
}

gboolean
qd_write_ensure_connection(QdWriter *self, GError **error)
{
    if (self->is_spoilt || (self->connection != NULL && qd_connection_is_spoilt(self->connection)))
        qd_write_close_connection(self);
    self->is_spoilt = FALSE;
    if (self->connection != NULL) {
        qd_write_rollback(self); /* the last time there may have been no memory for it */
        return TRUE;
    }
    if (qd_database_is_read_only(self->config.database)) {
        set_read_only_error(self, error);
        return FALSE;
    }

    /* another file in the database's place must not be opened */
    if (!qd_write_check_files(self, QD_WRITE_LOOK_THOROUGH, error))
        return FALSE;
    compare_mark(self);
    self->connection = qd_pool_open_connection(self->config.pool, QD_CONNECTION_WRITER, error);
    if (self->connection == NULL)
        return FALSE;

    qd_write_watch_log(self);
    return TRUE;
}

gboolean
qd_write_set_durability(QdWriter *self, gboolean relaxed, GError **error)
{
    if (self->synchronous_normal == relaxed)
        return TRUE;

    if (relaxed)
        self->synchronous_normal = qd_connection_execute(self->connection, "PRAGMA synchronous=NORMAL", NULL);
    else
        self->synchronous_normal = !qd_connection_execute(self->connection, "PRAGMA synchronous=FULL", error);
    return relaxed || !self->synchronous_normal;
}

void
qd_write_copy_schema(QdWriter *self, gint64 version)
{
    if (version == self->copied_schema)
        return;

    qd_pool_note_schema(self->config.pool);
    qd_schema_copy_refresh(self->connection, QD_SCHEMA_COPY_QUICK_BYTES);
    self->copied_schema = version;
    self->has_copied_schema = TRUE;
}

gboolean
qd_write_before_commit(QdWriter *self, GError **error)
{
    QdPayloads *payloads = self->config.payloads;

    if (payloads != NULL && !qd_payloads_before_commit(payloads, self->connection, !self->synchronous_normal, error))
        return FALSE;
    /* and after it: a query that begins meanwhile reads the schema in a snapshot */
    if (qd_connection_get_schema_version(self->connection) != self->copied_schema)
        qd_pool_note_schema(self->config.pool);
    return TRUE;
}

gboolean
qd_write_after_commit(QdWriter *self, GError **error)
{
    QdPayloads *payloads = self->config.payloads;
    QdPayloadSweep sweep = QD_PAYLOAD_SWEEP_NONE;

    self->commit_time_usec = g_get_monotonic_time();
    qd_write_note_own_version(self);
    if (!qd_write_check_files(self, QD_WRITE_LOOK_AFTER, error)) /* it is in no file that will be found */
        return FALSE;
    if (payloads != NULL)
        sweep = qd_payloads_after_commit(payloads, !self->synchronous_normal);
    self->has_copied_schema = FALSE;
    qd_write_copy_schema(self, qd_connection_get_schema_version(self->connection));
    if (sweep != QD_PAYLOAD_SWEEP_NONE)
        self->config.sweep_func(sweep, self->config.user_data);
    return TRUE;
}

uint64_t
qd_write_publish(QdWriter *self)
{
    __atomic_add_fetch(&self->n_commits, 1, __ATOMIC_RELAXED);
    return __atomic_add_fetch(&self->generation, 1, __ATOMIC_SEQ_CST);
}

static gboolean
has_changed(const QdWriteItem *item)
{
    return item->outcome.error == NULL || item->keeps;
}

/* PRAGMA user_version=7 changes what the copy holds, and not the version of the schema. A large schema keeps its copy. */
static void
copy_numbers(QdWriter *self, const QdChanges *changes)
{
    if (changes->schema && !self->has_copied_schema)
        qd_schema_copy_refresh(self->connection, QD_SCHEMA_COPY_MAX_BYTES);
}

void
qd_write_tell(QdWriter *self, uint64_t generation, QdWriteItem *const *items, guint n)
{
    g_autoptr(QdChanges) changes = NULL;

    if (n == 1 && has_changed(items[0])) {
        copy_numbers(self, items[0]->outcome.changed);
        qd_write_note_results(self, items[0]->outcome.changed);
        self->config.commit_func(generation, items[0]->outcome.changed, self->config.user_data);
        return;
    }
    changes = qd_changes_new();
    for (guint i = 0; i < n; i++)
        if (has_changed(items[i]))
            qd_changes_add_all(changes, items[i]->outcome.changed);
    copy_numbers(self, changes);
    qd_write_note_results(self, changes);
    self->config.commit_func(generation, changes, self->config.user_data);
}

/* A look takes 1.1 us, and a short update without a disk's time some 30. */
static gboolean
has_room(QdWriter *self)
{
    gint64 now = g_get_monotonic_time();
    gint64 spare_bytes;

    if (now < self->files.roomy_usec + ROOMY_USEC)
        return TRUE;
    spare_bytes = qd_database_get_spare_bytes(self->config.database, self->config.limits);
    self->files.roomy_usec = spare_bytes >= ROOMY_BYTES ? now : 0;
    return spare_bytes >= 0;
}

gboolean
qd_write_check_space(QdWriter *self, GError **error)
{
    if (!self->log_is_full && has_room(self))
        return TRUE;

    self->log_is_full = FALSE;
    qd_checkpointer_wait(self->checkpointer);
    (void) sqlite3_wal_checkpoint_v2(qd_connection_get_db(self->connection), NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return qd_database_check_free_space(self->config.database, self->config.limits, error);
}
