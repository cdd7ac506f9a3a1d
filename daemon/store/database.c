/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening a store: directory, file system, lock, file, internal schema, in this order; the first that fails says why.
 *
 * The internal tables carry the reserved prefix queryd_; user_version and application_id stay the user's, since an existing
 * SQLite file may become a store.
 */
#include "daemon/store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/disk.h"
#include "daemon/base/error.h"
#include "daemon/payload/payload.h"
#include "daemon/recover/health.h"
#include "daemon/recover/replace.h"
#include "daemon/recover/schema-copy.h"
#include "daemon/sqlite/file-check.h"
#include "daemon/sqlite/file-trouble.h"
#include "daemon/sqlite/file-watch.h"
#include "daemon/sqlite/schema.h"
#include "daemon/store/foreign-log.h"
#include "daemon/store/harm.h"
#include "daemon/store/lost-content.h"
#include "daemon/store/read-only.h"

#define DATABASE_NAME "queryd.db"
#define LOCK_NAME "lock"
/* The range that each connection of SQLite locks for reading: sqlite3's PENDING_BYTE + 2, SHARED_SIZE. */
#define SHARED_START 0x40000002
#define SHARED_BYTES 510
/* 2 s: as long as a daemon that has nothing to do may take to end. */
#define LOCK_TRIES 200
#define LOCK_PAUSE_USEC 10000
/* A file that is only there to be deleted: on a full disk it gives the room that opening after a crash needs. */
#define BALLAST_NAME "ballast"
#define BALLAST_BYTES (1024 * 1024)
/* Below it the log's two files are kept. */
#define MIN_FREE_FILES 16

struct QdDatabase {
    char *directory;
    char *path;
    int lock_fd;          /* -1 in a read-only store */
    int guard_fd;         /* -1: none */
    QdFileWatch *watch;   /* (nullable): from the guard on */
    int refusal;          /* 0, or why the store is read-only, the error of its lock: EROFS, EACCES */
    gboolean reads_log;   /* of a read-only store that was not closed in order */
    gboolean is_open;     /* so its file is not empty */
    gboolean harmed;      /* the file is whole, its internal tables are not */
    char *read_only_hint; /* the end of messages of a read-only store: the reason, and what to do */
    guint64 start_counter;
    gboolean is_counted;     /* the file has this start; else the first update writes it */
    gboolean wants_ballast;  /* there is none, and there was no room for one */
    QdConnectionSetup setup; /* (nullable) */
    QdConnection *writer;
};

QdDatabase *
qd_database_free(QdDatabase *self)
{
    if (self == NULL)
        return NULL;

    g_clear_pointer(&self->writer, qd_connection_free);
    if (self->lock_fd >= 0)
        (void) close(self->lock_fd);
    if (self->guard_fd >= 0)
        (void) close(self->guard_fd);
    qd_file_watch_free(self->watch);
    g_free(self->read_only_hint);
    g_free(self->path);
    g_free(self->directory);
    g_free(self);
    return NULL;
}

static void
note_read_only(QdDatabase *self, int errno_value)
{
    g_free(self->read_only_hint);
    self->read_only_hint = qd_read_only_make_hint(self->directory, errno_value);
}

static gboolean
make_directory(QdDatabase *self, GError **error)
{
    struct stat st;
    int saved_errno;

    if (g_mkdir_with_parents(self->directory, 0700) == 0)
        return TRUE;

    /* GLib calls all that it cannot look at "Not a directory" */
    saved_errno = errno;
    if (saved_errno == ENOTDIR && stat(self->directory, &st) < 0 && errno != ENOENT)
        saved_errno = errno;
    note_read_only(self, saved_errno);
    if (saved_errno == EROFS)
        qd_error_set(error, QW_ERROR_READ_ONLY, "cannot create directory '%s'%s", self->directory, self->read_only_hint);
    else if (qd_file_trouble_is_of_disk(saved_errno))
        qd_file_trouble_set(error, saved_errno, "cannot look at directory '%s'", self->directory);
    else
        qd_error_set_errno(error, saved_errno, "cannot create directory '%s'", self->directory);
    return FALSE;
}

/* The daemon before this one may have given up its name, but not yet the store. */
static int
lock_patiently(int fd, const struct flock *lock)
{
    int r;

    for (int i = 0; i < LOCK_TRIES; i++) {
        r = fcntl(fd, F_OFD_SETLK, lock);
        if (r == 0 || (errno != EAGAIN && errno != EACCES))
            return r;
        g_usleep(LOCK_PAUSE_USEC);
    }
    return fcntl(fd, F_OFD_SETLK, lock);
}

/* For the message of the loser. In place: what a file that is cut gives back cannot be had again on a full disk. Without room the
 * store opens all the same. */
static gboolean
write_holder(const QdDatabase *self, const char *path, GError **error)
{
    char holder[32];
    int n = snprintf(holder, sizeof holder, "%ld\n", (long) getpid());
    gboolean is_full = FALSE;

    if (TEMP_FAILURE_RETRY(pwrite(self->lock_fd, holder, (size_t) n, 0)) < 0) {
        is_full = errno == ENOSPC || errno == EDQUOT;
        if (!is_full) {
            qd_error_set_errno(error, errno, "cannot write '%s'", path);
            return FALSE;
        }
    }
    if (TEMP_FAILURE_RETRY(ftruncate(self->lock_fd, is_full ? 0 : n)) == 0 || (is_full && (errno == ENOSPC || errno == EDQUOT)))
        return TRUE;

    qd_error_set_errno(error, errno, "cannot write '%s'", path);
    return FALSE;
}

static gboolean
take_lock(QdDatabase *self, GError **error)
{
    g_autofree char *path = g_build_filename(self->directory, LOCK_NAME, NULL);
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    char holder[32] = { 0 };

    self->lock_fd = TEMP_FAILURE_RETRY(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (self->lock_fd < 0) {
        if (errno == EROFS || errno == EACCES) {
            self->refusal = errno;
            note_read_only(self, errno);
            return TRUE;
        }
        qd_file_trouble_set(error, errno, "cannot open '%s'", path);
        return FALSE;
    }
    if (lock_patiently(self->lock_fd, &lock) < 0) {
        if (errno != EAGAIN && errno != EACCES) {
            qd_error_set_errno(error, errno, "cannot lock '%s'", path);
            return FALSE;
        }
        if (pread(self->lock_fd, holder, sizeof holder - 1, 0) <= 0)
            g_strlcpy(holder, "unknown", sizeof holder);
        qd_error_set(error, QW_ERROR_BUSY, "store '%s' is in use by another queryd, process %s", self->directory,
                     g_strstrip(holder));
        return FALSE;
    }

    return write_holder(self, path, error);
}

static gboolean
count_start(QdDatabase *self, QdConnection *writer, GError **error)
{
    gint64 start = 0;

    if (!qd_connection_execute(writer, "UPDATE queryd_meta SET value=value+1 WHERE key='start_counter'", error) ||
        !qd_connection_get_int64(writer, "SELECT value FROM queryd_meta WHERE key='start_counter'", &start, error))
        return FALSE;

    self->start_counter = (guint64) start & 0xffffff;
    self->is_counted = TRUE;
    return TRUE;
}

/* On a full disk the start of a store that has counted others is counted by its first update. Until then nothing has changed since
 * the last start, so that a generation twice is the same content. */
static gboolean
count_start_or_wait(QdDatabase *self, GError **error)
{
    g_autoptr(GError) failure = NULL;
    gint64 start = 0;

    if (count_start(self, self->writer, &failure))
        return TRUE;
    if (qd_error_get_code(failure) == QW_ERROR_DISK_FULL &&
        qd_connection_get_int64(self->writer, "SELECT value FROM queryd_meta WHERE key='start_counter'", &start, NULL) &&
        start > 0) {
        self->start_counter = (guint64) (start + 1) & 0xffffff;
        return TRUE;
    }
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

/* Nothing is salvaged unasked where another program has changed a whole file: the user may want to undo that change. */
static gboolean
explain_harm(QdDatabase *self, GError *failure, GError **error)
{
    self->harmed = qd_harm_explain(self->writer, self->directory, failure, error);
    return FALSE;
}

static gboolean
check_version(QdDatabase *self, QdConnection *connection, GError **error)
{
    GError *failure = NULL;

    return qd_file_check_version(connection, self->path, &failure) || explain_harm(self, failure, error);
}

static gboolean
migrate(QdDatabase *self, const QdLimits *limits, GError **error)
{
    GError *failure = NULL;

    return (qd_schema_migrate(self->writer, &failure) && qd_schema_check(self->writer, limits, &failure)) ||
           explain_harm(self, failure, error);
}

static gboolean
open_writer(QdDatabase *self, const QdLimits *limits, GError **error)
{
    QdConnectionInfo info = qd_database_get_info(self);

    self->writer = qd_connection_open(&info, QD_CONNECTION_WRITER, limits, error);
    if (self->writer == NULL)
        return FALSE;

    if (!check_version(self, self->writer, error) || !qd_connection_execute(self->writer, "PRAGMA journal_mode=WAL", error) ||
        !migrate(self, limits, error) || !count_start_or_wait(self, error))
        return FALSE;
    qd_schema_copy_refresh(self->writer, QD_SCHEMA_COPY_MAX_BYTES);
    return TRUE;
}

static gboolean
release_ballast(QdDatabase *self)
{
    g_autofree char *path = g_build_filename(self->directory, BALLAST_NAME, NULL);

    return unlink(path) == 0;
}

static void
make_ballast(const QdDatabase *self)
{
    g_autofree char *path = g_build_filename(self->directory, BALLAST_NAME, NULL);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return;
    if (posix_fallocate(fd, 0, BALLAST_BYTES) != 0)
        (void) unlink(path);
    (void) close(fd);
}

/* With the floor's room and its own, it is tried once. */
static void
keep_ballast(QdDatabase *self, const QdLimits *limits)
{
    self->wants_ballast = qd_database_get_spare_bytes(self, limits) < BALLAST_BYTES;
    if (!self->wants_ballast)
        make_ballast(self);
}

static gboolean
open_with_ballast(QdDatabase *self, const QdLimits *limits, GError **error)
{
    g_autoptr(GError) first = NULL;

    if (open_writer(self, limits, &first)) {
        keep_ballast(self, limits);
        return TRUE;
    }
    qd_harm_correct_unknown_format(&first);
    /* closed first: its checkpoint would eat the room */
    self->writer = qd_connection_free(self->writer);
    if (qd_error_get_code(first) == QW_ERROR_DISK_FULL && release_ballast(self)) {
        gboolean ok = open_writer(self, limits, error);

        make_ballast(self); /* of what is left, also below the floor */
        self->wants_ballast = TRUE;
        return ok;
    }
    g_propagate_error(error, g_steal_pointer(&first));
    return FALSE;
}

static gboolean
salvage(QdDatabase *self, const QdLimits *limits, QdDatabaseRepair *repair, GError **error)
{
    const QdRecoveryOptions options = {
        .directory = self->directory, .limits = limits, .setup = self->setup, .cancelled = repair->cancelled
    };

    if (repair->begins != NULL)
        repair->begins(repair->data);
    return qd_recovery_run(&options, &repair->result, error) && open_with_ballast(self, limits, error);
}

/* The files of a database that has gone are no rubbish: the user who finds its last copy needs them. */
static gboolean
keep_payloads_of_lost_database(QdDatabase *self, const QdLimits *limits, QdDatabaseRepair *repair, GError **error)
{
    const QdConnectionInfo info = qd_database_get_info(self);
    g_autoptr(QdConnection) reader = NULL;
    g_autoptr(GPtrArray) hashes = NULL;

    if (self->start_counter != 1)
        return TRUE;
    reader = qd_connection_open(&info, QD_CONNECTION_READER, limits, error);
    if (reader == NULL || !qd_payloads_set_aside(reader, &hashes, &repair->kept_folder, error))
        return FALSE;
    repair->n_kept_payloads = hashes->len;
    return TRUE;
}

/* When even the salvage fails, the first error says more. */
static gboolean
open_for_writing(QdDatabase *self, const QdLimits *limits, QdDatabaseRepair *repair, GError **error)
{
    g_autoptr(GError) first = NULL;
    g_autoptr(GError) second = NULL;
    g_auto(GStrv) foreign = NULL;
    gboolean has_log = TRUE;

    if (!qd_replace_finish(self->directory, error) || !qd_foreign_log_set_aside(self->path, &foreign, error))
        return FALSE;
    if (repair != NULL)
        repair->foreign = g_steal_pointer(&foreign);
    if (qd_lost_content_check(self->path, &has_log, &first)) {
        if (repair != NULL && repair->damaged && g_file_test(self->path, G_FILE_TEST_EXISTS))
            return salvage(self, limits, repair, error);
        if (open_with_ballast(self, limits, &first))
            return repair == NULL || keep_payloads_of_lost_database(self, limits, repair, error);
    }
    if (repair != NULL && has_log && !self->harmed && qd_error_get_code(first) == QW_ERROR_CORRUPT) {
        if (salvage(self, limits, repair, &second))
            return TRUE;
        if (qd_error_get_code(second) != QW_ERROR_CORRUPT)
            g_propagate_error(error, g_steal_pointer(&second));
        else
            qd_error_set(error, QW_ERROR_CORRUPT, "%s; it cannot be salvaged: %s", first->message, second->message);
        return FALSE;
    }
    g_propagate_error(error, g_steal_pointer(&first));
    return FALSE;
}

static gboolean
open_for_reading(QdDatabase *self, const QdLimits *limits, GError **error)
{
    g_autoptr(QdConnection) probe = NULL;
    QdConnectionInfo info;
    struct stat st;
    gint64 ignored;

    if (stat(self->path, &st) < 0 && errno != ENOENT) {
        qd_error_set_errno(error, errno, "cannot look at it");
        return FALSE;
    }
    if (stat(self->path, &st) < 0) {
        qd_error_set(error, QW_ERROR_READ_ONLY, "store '%s' cannot be written and holds no database%s", self->directory,
                     self->read_only_hint);
        return FALSE;
    }
    if (!qd_read_only_check_log(self->path, self->refusal, self->read_only_hint, &self->reads_log, error))
        return FALSE;
    info = qd_database_get_info(self);
    probe = qd_connection_open(&info, QD_CONNECTION_READER, limits, error);
    return probe != NULL && qd_connection_get_int64(probe, "SELECT count(*) FROM sqlite_schema", &ignored, error);
}

QdDatabase *
qd_database_open(const char *directory, const QdLimits *limits, GError **error)
{
    return qd_database_open_repaired(directory, limits, NULL, NULL, error);
}

gboolean
qd_database_replace(const char *directory, const char *word, char **ret_aside, GError **error)
{
    g_autoptr(QdDatabase) self = g_new0(QdDatabase, 1);

    self->lock_fd = self->guard_fd = -1;
    self->directory = g_strdup(directory);
    if (!take_lock(self, error))
        return FALSE;
    if (qd_database_is_read_only(self)) {
        qd_error_set(error, QW_ERROR_READ_ONLY, "store '%s' cannot be written", directory);
        return FALSE;
    }
    return qd_replace_begin(directory, word, ret_aside, error) && qd_replace_finish(directory, error);
}

QdDatabase *
qd_database_open_repaired(const char *directory, const QdLimits *limits, QdConnectionSetup setup, QdDatabaseRepair *repair,
                          GError **error)
{
    g_autoptr(QdDatabase) self = g_new0(QdDatabase, 1);
    gboolean opened;

    self->lock_fd = self->guard_fd = -1;
    self->read_only_hint = g_strdup("");
    self->setup = setup;
    self->directory = g_strdup(directory);
    self->path = g_build_filename(directory, DATABASE_NAME, NULL);
    if (!make_directory(self, error) || !qd_file_check_system(directory, error) || !take_lock(self, error))
        return NULL;

    opened = qd_database_is_read_only(self) ? open_for_reading(self, limits, error) : open_for_writing(self, limits, repair, error);
    if (!opened) {
        if (!qd_database_is_read_only(self))
            (void) qd_connection_correct_read_only(self->path, error);
        g_prefix_error(error, "database '%s': ", self->path);
        return NULL;
    }
    self->is_open = TRUE;
    if (self->writer != NULL)
        qd_connection_note_content(self->writer);
    return g_steal_pointer(&self);
}

/* Without it, for want of a descriptor, the store is as safe as SQLite makes it. */
void
qd_database_guard(QdDatabase *self)
{
    struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = SHARED_START, .l_len = SHARED_BYTES };

    if (self->lock_fd < 0 || self->guard_fd >= 0)
        return;
    self->guard_fd = open(self->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (self->guard_fd >= 0)
        (void) fcntl(self->guard_fd, F_OFD_SETLK, &lock);
    self->watch = qd_file_watch_new(self->directory);
}

/* Not closed yet: that, too, would drop the locks of the connections. */
void
qd_database_lift_guard(QdDatabase *self)
{
    struct flock lock = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

    if (self->guard_fd >= 0)
        (void) fcntl(self->guard_fd, F_OFD_SETLK, &lock);
}

gboolean
qd_database_check_files(const QdDatabase *self, gboolean thoroughly, GError **error)
{
    return self->watch == NULL || qd_file_watch_check(self->watch, thoroughly, error);
}

void
qd_database_note_log(const QdDatabase *self, gboolean is_open)
{
    if (self->watch == NULL)
        return;
    if (is_open)
        qd_file_watch_note_log(self->watch);
    else
        qd_file_watch_forget_log(self->watch);
}

char *
qd_database_find_own_file(const QdDatabase *self, const struct stat *st)
{
    static const char *const names[] = {
        DATABASE_NAME, DATABASE_NAME "-wal", DATABASE_NAME "-shm", DATABASE_NAME QD_SCHEMA_COPY_SUFFIX,
        LOCK_NAME,     BALLAST_NAME,         QD_HEALTH_NAME
    };

    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(self->directory, names[i], NULL);
        struct stat own;

        if (stat(path, &own) == 0 && own.st_dev == st->st_dev && own.st_ino == st->st_ino)
            return g_steal_pointer(&path);
    }
    return NULL;
}

const char *
qd_database_get_path(const QdDatabase *self)
{
    return self->path;
}

const char *
qd_database_get_directory(const QdDatabase *self)
{
    return self->directory;
}

QdConnectionInfo
qd_database_get_info(const QdDatabase *self)
{
    return (QdConnectionInfo){ .path = self->path,
                               .setup = self->setup,
                               .immutable = qd_database_is_read_only(self) && !self->reads_log,
                               .has_content = self->is_open };
}

gboolean
qd_database_is_read_only(const QdDatabase *self)
{
    return self->refusal != 0;
}

gboolean
qd_database_can_be_written(const QdDatabase *self)
{
    g_autofree char *lock = g_build_filename(self->directory, LOCK_NAME, NULL);

    return !qd_database_is_read_only(self) || qd_read_only_is_over(self->path, lock);
}

const char *
qd_database_get_read_only_hint(const QdDatabase *self)
{
    return self->read_only_hint;
}

gboolean
qd_database_prepare_update(QdDatabase *self, QdConnection *writer, const QdLimits *limits, GError **error)
{
    if (self->wants_ballast)
        keep_ballast(self, limits);
    return self->is_counted || count_start(self, writer, error);
}

guint64
qd_database_get_start_counter(const QdDatabase *self)
{
    return self->start_counter;
}

QdConnection *
qd_database_steal_writer(QdDatabase *self)
{
    return g_steal_pointer(&self->writer);
}

gint64
qd_database_get_spare_bytes(const QdDatabase *self, const QdLimits *limits)
{
    uint64_t free_bytes;
    uint64_t total_bytes;

    if (!qd_disk_find_free_bytes(self->directory, &free_bytes, &total_bytes))
        return INT64_MAX;

    return (gint64) (free_bytes - MIN(qd_limits_get(limits, QD_LIMIT_FREE_DISK_BYTES), total_bytes / 100));
}

gboolean
qd_database_check_free_space(const QdDatabase *self, const QdLimits *limits, GError **error)
{
    gint64 spare_bytes = qd_database_get_spare_bytes(self, limits);

    if (spare_bytes >= 0)
        return TRUE;

    qd_limit_set_error(error, limits, QD_LIMIT_FREE_DISK_BYTES,
                       "update refused, the file system of '%s' has %" G_GINT64_FORMAT " bytes less than have to stay free",
                       self->directory, -spare_bytes);
    return FALSE;
}

gboolean
qd_database_can_make_log(const QdDatabase *self, const QdLimits *limits)
{
    return qd_database_get_spare_bytes(self, limits) >= 0 && qd_disk_has_free_files(self->directory, MIN_FREE_FILES);
}
