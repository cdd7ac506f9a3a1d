/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Backup: the database of one moment to a descriptor of the caller.
 *
 * SQLite copies pages of one snapshot to a file of ours, while the writer goes on. That file then goes to the caller, whose
 * descriptor may stall.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/call/call-descriptor.h"
#include "daemon/call/call-private.h"
#include "daemon/job/job-classes.h"
#include "daemon/job/jobs.h"
#include "daemon/read/pool.h"
#include "daemon/read/run.h"
#include "daemon/runtime/context.h"
#include "daemon/sqlite/sqlite-error.h"
#include "daemon/store/database.h"

#define COPY_BYTES (1024 * 1024)
#define STEP_PAGES 1024

static void
note_progress(QdCall *call, sqlite3_backup *backup, gint64 page_size)
{
    gint64 n_pages = sqlite3_backup_pagecount(backup);

    __atomic_store_n(&call->progress.bytes_total, (uint64_t) (2 * page_size * n_pages), __ATOMIC_RELAXED);
    __atomic_store_n(&call->progress.bytes_done, (uint64_t) (page_size * (n_pages - sqlite3_backup_remaining(backup))),
                     __ATOMIC_RELAXED);
}

/* A snapshot: the copy is of one moment, and the writer goes on. */
static gboolean
copy_database(QdCall *call, sqlite3 *source, gint64 page_size, const char *path, GError **error)
{
    sqlite3 *target = NULL;
    sqlite3_backup *backup;
    int r = sqlite3_open_v2(path, &target, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);

    backup = r == SQLITE_OK ? sqlite3_backup_init(target, "main", source, "main") : NULL;
    while (backup != NULL && !qd_call_is_cancelled(call, error)) {
        r = sqlite3_backup_step(backup, STEP_PAGES);
        note_progress(call, backup, page_size);
        if (r != SQLITE_OK)
            break;
    }
    if (backup != NULL)
        (void) sqlite3_backup_finish(backup);
    if (r != SQLITE_DONE && *error == NULL)
        qd_sqlite_set_error(error, target, r, NULL, 0, NULL);
    (void) sqlite3_close(target);
    return r == SQLITE_DONE;
}

/* A file is emptied first, regardless of its offset; anything else gets the bytes as they come. */
static gboolean
begin_target(QdCall *call, gboolean *ret_is_file, GError **error)
{
    struct stat st;

    if (!qd_call_check_descriptor(call, error))
        return FALSE;
    if ((fcntl(call->fd, F_GETFL) & O_ACCMODE) == O_RDONLY) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "the descriptor is not open for writing");
        return FALSE;
    }
    *ret_is_file = fstat(call->fd, &st) == 0 && S_ISREG(st.st_mode);
    return TRUE;
}

static gboolean
send_file(QdCall *call, const char *path, gboolean is_file, GError **error)
{
    g_autofree char *buffer = g_malloc(COPY_BYTES);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    off_t offset = 0;
    ssize_t n = -1;

    if (fd < 0 || (is_file && (ftruncate(call->fd, 0) < 0 || lseek(call->fd, 0, SEEK_SET) < 0))) {
        qd_error_set_errno(error, errno, "cannot begin to write the backup");
    } else {
        while ((n = pread(fd, buffer, COPY_BYTES, offset)) > 0 && qd_call_write_descriptor(call, buffer, (gsize) n, error))
            offset += n;
        call->result.n_bytes = (uint64_t) offset;
        if (*error == NULL && (n < 0 || (is_file && fsync(call->fd) < 0)))
            qd_error_set_errno(error, errno, "cannot write the backup");
    }
    if (fd >= 0)
        (void) close(fd);
    return *error == NULL;
}

/* By ourselves: SQLite does not say why it cannot. */
static gboolean
create_copy(const char *path, GError **error)
{
    g_auto(QdFd) fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        qd_error_set_errno(error, errno, "cannot create '%s'", path);
    return fd >= 0;
}

/* SQLite keeps the journal of a copy that failed for a next opening, which will not be. */
static void
remove_copy(const char *path)
{
    g_autofree char *journal = g_strconcat(path, "-journal", NULL);

    (void) unlink(path);
    (void) unlink(journal);
}

static void
run_backup(QdCall *call, GError **error)
{
    QdContext *context = call->private->context;
    g_autofree char *path = NULL;
    g_autoptr(QdConnection) connection = NULL;
    gboolean is_file = FALSE;
    gint64 page_size = 0;

    if (!begin_target(call, &is_file, error))
        return;
    connection = qd_pool_open_connection(context->pool, QD_CONNECTION_READER, error);
    if (connection == NULL ||
        !qd_connection_execute(connection, "PRAGMA query_only=0; BEGIN; SELECT count(*) FROM sqlite_schema", error) ||
        !qd_connection_get_int64(connection, "PRAGMA page_size", &page_size, error))
        return;

    path = g_strdup_printf("%s/backup-%" G_GUINT64_FORMAT ".tmp", qd_database_get_directory(context->database),
                           call->private->entry.id);
    remove_copy(path);
    if (create_copy(path, error) && copy_database(call, qd_connection_get_db(connection), page_size, path, error))
        (void) send_file(call, path, is_file, error);
    else if (!qd_call_is_cancelled(call, NULL))
        g_prefix_error(error, "cannot make a copy in '%s': ", qd_database_get_directory(context->database));
    remove_copy(path);
}

const QdCallClass qd_backup_call = {
    .name = "Backup",
    .place = QD_CALL_ON_JOB,
    .run = run_backup,
};
