/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Restore: a database from a descriptor of the caller in the place of the store's.
 *
 * Everything is done to a private copy first: checks, the schema's steps, the store's own counters. Then one transaction of the
 * writer puts all its pages in the place of the old ones. Readers go on in their snapshots, and a failure or a crash leaves the
 * old database. A database that cannot be opened is set aside instead, and the copy gets its name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/disk.h"
#include "daemon/base/fd.h"
#include "daemon/base/log.h"
#include "daemon/base/mailbox.h"
#include "daemon/call/call-descriptor.h"
#include "daemon/call/call-private.h"
#include "daemon/job/job-classes.h"
#include "daemon/job/jobs.h"
#include "daemon/job/page-size.h"
#include "daemon/payload/payload.h"
#include "daemon/read/evaluation.h"
#include "daemon/read/pool.h"
#include "daemon/read/run.h"
#include "daemon/recover/integrity.h"
#include "daemon/recover/page-file.h"
#include "daemon/recover/replace.h"
#include "daemon/runtime/context.h"
#include "daemon/sqlite/file-check.h"
#include "daemon/sqlite/schema.h"
#include "daemon/sqlite/sqlite-error.h"
#include "daemon/store/database.h"
#include "daemon/write/writer.h"

#define COPY_BYTES (1024 * 1024)
#define STEP_PAGES 1024
#define MAX_MESSAGES 100u
/* Above what any store has counted, for a generation that grows (recovery.c). */
#define USEC_PER_START G_GUINT64_CONSTANT(3600000000)

typedef struct Restore {
    QdCall *call;
    QdContext *context;
    char *path;           /* of the copy */
    QdConnection *source; /* on it */
    guint n_faults;       /* payloads without their files */
} Restore;

/* The copy ------------------------------------------------------------------------------------------------------------- */

static gboolean
check_space(const Restore *self, guint64 n_bytes, GError **error)
{
    uint64_t n_free;

    if (!qd_disk_find_free_bytes(self->context->directory, &n_free, NULL) || n_free >= n_bytes)
        return TRUE;
    qd_error_set(error, QW_ERROR_DISK_FULL,
                 "to restore takes %" G_GUINT64_FORMAT " bytes more, and the file system of '%s' has only %" G_GUINT64_FORMAT,
                 n_bytes, self->context->directory, n_free);
    return FALSE;
}

static gboolean
copy_source(Restore *self, int fd, GError **error)
{
    g_autofree char *buffer = g_malloc(COPY_BYTES);
    gssize n;

    while ((n = qd_call_read_descriptor(self->call, buffer, COPY_BYTES, error)) > 0) {
        if (!check_space(self, (guint64) n, error))
            return FALSE;
        if (!qd_fd_write_all(fd, buffer, (gsize) n)) {
            qd_error_set_errno(error, errno, "cannot write a copy in '%s'", self->context->directory);
            return FALSE;
        }
        self->call->result.n_bytes += (uint64_t) n;
        __atomic_store_n(&self->call->progress.bytes_done, self->call->result.n_bytes, __ATOMIC_RELAXED);
    }
    return n == 0;
}

/*
 * SQLite takes nothing at all for a database without tables, and fills up a last page that is cut. But that is what a pipe leaves
 * whose writer has failed. https://www.sqlite.org/fileformat2.html#the_database_header
 */
static gboolean
check_header(const Restore *self, const guint8 *header, GError **error)
{
    guint64 n_bytes = self->call->result.n_bytes;
    guint64 n_known_bytes;
    guint32 page_size;
    guint32 n_pages;

    if (n_bytes == 0) {
        qd_error_set(error, QW_ERROR_CORRUPT, "the source is empty");
        return FALSE;
    }
    if (!qd_page_header_parse(header, &page_size, &n_pages)) {
        qd_error_set(error, QW_ERROR_CORRUPT, "the source is no database: it does not begin as one of SQLite");
        return FALSE;
    }
    n_known_bytes = (guint64) page_size * MAX(n_pages, 1);
    if (n_bytes < n_known_bytes) {
        qd_error_set(error, QW_ERROR_CORRUPT, "the source is cut off: it has %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " bytes",
                     n_bytes, n_known_bytes);
        return FALSE;
    }
    return TRUE;
}

static gboolean
make_copy(Restore *self, GError **error)
{
    guint8 header[QD_PAGE_HEADER_BYTES] = { 0 };
    struct stat st;
    gboolean ok;
    int fd;

    if (!qd_call_check_descriptor(self->call, error))
        return FALSE;
    if (fstat(self->call->fd, &st) == 0 && S_ISREG(st.st_mode)) {
        guint64 n_bytes = 2 * qd_fd_count_rest(self->call->fd); /* this copy, and the log */

        __atomic_store_n(&self->call->progress.bytes_total, n_bytes, __ATOMIC_RELAXED);
        if (!check_space(self, n_bytes, error))
            return FALSE;
    }
    fd = open(self->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        qd_error_set_errno(error, errno, "cannot make '%s'", self->path);
        return FALSE;
    }
    ok = copy_source(self, fd, error);
    if (ok && pread(fd, header, sizeof header, 0) < 0) {
        qd_error_set_errno(error, errno, "cannot read '%s'", self->path);
        ok = FALSE;
    }
    (void) close(fd);
    return ok && check_header(self, header, error);
}

/* Its state ------------------------------------------------------------------------------------------------------------ */

static gboolean
is_cancelled(gpointer data)
{
    return qd_call_is_cancelled(data, NULL);
}

/* FALSE: what SQLite says of a file does not name it. A version that is too new does. */
static gboolean
blame_source(GError **error)
{
    if (!g_error_matches(*error, QD_ERROR, (gint) QW_ERROR_UNSUPPORTED))
        g_prefix_error(error, "the source cannot be read: ");
    return FALSE;
}

static gboolean
check_whole(Restore *self, GError **error)
{
    QdIntegrity integrity;
    gboolean ok;

    qd_integrity_init(&integrity);
    ok = qd_integrity_run(&integrity, self->source, TRUE, is_cancelled, self->call, error) || blame_source(error);
    if (ok && integrity.messages->len > 0) {
        qd_error_set(error, QW_ERROR_CORRUPT, "the source is damaged: %s", (char *) integrity.messages->pdata[0]);
        ok = FALSE;
    }
    ok = ok && !qd_call_is_cancelled(self->call, error);
    qd_integrity_clear(&integrity);
    return ok;
}

/* Both have to agree in what cannot be changed under open connections. */
static gboolean
fit_to_store(Restore *self, QdConnection *live, GError **error)
{
    gint64 old_size = 0;
    gint64 new_size = 0;
    gint64 old_encoding = 0;
    gint64 new_encoding = 0;
    const char *encoding = "SELECT instr('UTF-8 UTF-16le UTF-16be', encoding) FROM temp.pragma_encoding";

    if (!qd_connection_get_int64(live, "PRAGMA page_size", &old_size, error) ||
        !qd_connection_get_int64(self->source, "PRAGMA page_size", &new_size, error) ||
        !qd_connection_get_int64(live, encoding, &old_encoding, error) ||
        !qd_connection_get_int64(self->source, encoding, &new_encoding, error))
        return FALSE;
    if (old_encoding != new_encoding) {
        qd_error_set(error, QW_ERROR_UNSUPPORTED, "the source's texts are in another encoding than the store's");
        return FALSE;
    }
    return old_size == new_size || qd_page_size_change(self->source, old_size, error);
}

/* Generations go on growing; caches see by the number `incarnation` that ids mean other terms now. */
static gboolean
set_counters(Restore *self, GError **error)
{
    const QdDatabase *database = self->context->database;
    guint64 start = database != NULL ? qd_database_get_start_counter(database) : (guint64) g_get_real_time() / USEC_PER_START;
    g_autofree char *sql = g_strdup_printf("UPDATE queryd_meta SET value=max(%s, %" G_GUINT64_FORMAT ") WHERE key='start_counter';"
                                           "INSERT OR REPLACE INTO queryd_meta VALUES('incarnation', random() >> 1);"
                                           /* any program may have written them, and quads without another stamp */
                                           "DELETE FROM queryd_column; UPDATE queryd_predicate SET stamp=random()",
                                           database != NULL ? "0" : "value", start);

    return qd_connection_execute(self->source, sql, error);
}

static gboolean
prepare_copy(Restore *self, GError **error)
{
    const QdConnectionInfo info = { .path = self->path, .setup = qd_evaluation_register, .foreign = TRUE };
    g_autoptr(QdConnection) live = NULL;

    self->source = qd_connection_open(&info, QD_CONNECTION_WRITER, &self->context->limits, error);
    if (self->source == NULL || !qd_connection_execute(self->source, "PRAGMA journal_mode=DELETE", error) ||
        !qd_file_check_version(self->source, "the source", error))
        return blame_source(error);
    if (!check_whole(self, error))
        return FALSE;
    if (self->call->options.transfer.check_only)
        return TRUE;
    if (!qd_schema_migrate(self->source, error))
        return FALSE;
    if (!qd_schema_check(self->source, &self->context->limits, error))
        return blame_source(error);
    if (!set_counters(self, error))
        return FALSE;
    if (self->context->pool == NULL)
        return TRUE;
    live = qd_pool_open_connection(self->context->pool, QD_CONNECTION_READER, error);
    return live != NULL && fit_to_store(self, live, error);
}

static gboolean
on_payload_checked(const char *message, void *data)
{
    Restore *self = data;

    if (message != NULL && self->n_faults++ < MAX_MESSAGES)
        g_ptr_array_add(self->call->result.messages, g_strdup(message));
    return !qd_call_is_cancelled(self->call, NULL);
}

/* The copy lies beside the folder of the payload files, which no backup has: what lacks its file can still be brought. */
static void
report_payloads(Restore *self)
{
    g_autoptr(GError) ignored = NULL; /* only looked at, a foreign database has no payloads */

    (void) qd_payloads_check(self->source, FALSE, on_payload_checked, self, &ignored);
    if (self->n_faults == 0)
        return;
    if (self->n_faults > MAX_MESSAGES)
        g_ptr_array_add(self->call->result.messages, g_strdup_printf("and %u more payloads", self->n_faults - MAX_MESSAGES));
    qd_log(LOG_WARNING, &(QdLogFields){ .message_id = QD_LOG_ID_STORE },
           "%u payloads of a database %s restored lack their files: %s", self->n_faults,
           self->call->options.transfer.check_only ? "that could be" : "to be", (char *) self->call->result.messages->pdata[0]);
}

/* In place ------------------------------------------------------------------------------------------------------------- */

static gboolean
copy_pages(QdConnection *connection, QdWriteItem *item, void *user_data, GError **error)
{
    Restore *self = user_data;
    sqlite3 *target = qd_connection_get_db(connection);
    sqlite3_backup *backup = sqlite3_backup_init(target, "main", qd_connection_get_db(self->source), "main");
    uint64_t half = self->call->result.n_bytes;
    int r = backup != NULL ? SQLITE_OK : sqlite3_errcode(target);

    while (r == SQLITE_OK && !qd_call_is_cancelled(self->call, error)) {
        int n;

        r = sqlite3_backup_step(backup, STEP_PAGES);
        n = sqlite3_backup_pagecount(backup);
        if (n > 0)
            __atomic_store_n(&self->call->progress.bytes_done,
                             half + half * (uint64_t) (n - sqlite3_backup_remaining(backup)) / (uint64_t) n, __ATOMIC_RELAXED);
    }
    if (backup != NULL)
        (void) sqlite3_backup_finish(backup);
    if (r == SQLITE_DONE) {
        g_atomic_int_inc(&self->context->n_restores);
        return TRUE;
    }
    if (*error == NULL)
        qd_sqlite_set_error(error, target, r, NULL, 0, NULL);
    return FALSE;
}

static gboolean
restore_in_place(Restore *self, GError **error)
{
    QdWriteItem item;
    gboolean ok;

    qd_write_item_init(&item);
    item.times.timeout_msec = qd_limits_get(&self->context->limits, QD_LIMIT_UPDATE_TIMEOUT_MSEC);
    item.cancelled = &self->call->private->entry.cancelled;
    ok = qd_writer_replace(self->context->writer, &item, copy_pages, self, error);
    self->call->result.generation = item.outcome.generation;
    qd_write_item_clear(&item);
    if (ok)
        qd_pool_rest(self->context->pool);
    return ok;
}

/* For a broken store --------------------------------------------------------------------------------------------------- */

static gboolean
restore_by_name(Restore *self, GError **error)
{
    g_autofree char *next = qd_replace_get_path(self->context->directory);
    g_autofree char *aside = NULL;
    gboolean ok;
    int fd;

    self->source = qd_connection_free(self->source);
    fd = open(self->path, O_RDWR | O_CLOEXEC);
    ok = fd >= 0 && fsync(fd) == 0 && rename(self->path, next) == 0;
    if (!ok)
        qd_error_set_errno(error, errno, "cannot make '%s' durable", self->path);
    if (fd >= 0)
        (void) close(fd);
    if (!ok || !qd_database_replace(self->context->directory, "replaced", &aside, error))
        return FALSE;
    qd_log(LOG_NOTICE, &(QdLogFields){ .message_id = QD_LOG_ID_STORE }, "the database was restored, the broken one is '%s'", aside);
    qd_mailbox_post(self->context->mailbox, self->context->hooks.reopen, self->context->hooks.user_data);
    return TRUE;
}

static void
remove_copy(const Restore *self)
{
    static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };

    for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *path = g_strconcat(self->path, suffixes[i], NULL);

        (void) unlink(path);
    }
}

static void
run_restore(QdCall *call, GError **error)
{
    QdContext *context = call->private->context;
    Restore self = { .call = call, .context = context };

    if (!qd_client_check_write_all(call->client, error))
        return;
    if (context->database != NULL && qd_database_is_read_only(context->database)) {
        qd_error_set(error, QW_ERROR_READ_ONLY, "store '%s' cannot be written%s", context->directory,
                     qd_database_get_read_only_hint(context->database));
        return;
    }
    self.path = g_strdup_printf("%s/restore-%" G_GUINT64_FORMAT ".tmp", context->directory, call->private->entry.id);
    remove_copy(&self);
    if (!make_copy(&self, error) || !prepare_copy(&self, error)) {
        g_prefix_error(error, "nothing was restored: ");
    } else {
        report_payloads(&self);
        if (!call->options.transfer.check_only)
            (void) (context->writer != NULL ? restore_in_place(&self, error) : restore_by_name(&self, error));
    }
    qd_connection_free(self.source);
    remove_copy(&self);
    g_free(self.path);
}

const QdCallClass qd_restore_call = {
    .name = "Restore",
    .place = QD_CALL_ON_JOB,
    .options = QD_TAKES(CHECK_ONLY),
    .is_not_for_sandbox = TRUE, /* a file made by hand, for SQLite to read outside of the sandbox */
    .works_when_broken = TRUE,
    .run = run_restore,
};
