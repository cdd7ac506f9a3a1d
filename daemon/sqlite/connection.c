/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening and hardening of connections; transactions.
 */
#include "daemon/sqlite/builtin/builtin.h"
#include "daemon/sqlite/connection-private.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/hot.h"
#include "daemon/base/interrupt.h"
#include "daemon/sqlite/file-lengths.h"
#include "daemon/sqlite/file-trouble.h"
#include "daemon/sqlite/guard/grants.h"
#include "daemon/sqlite/memory.h"
#include "daemon/sqlite/sqlite-error.h"
#include "daemon/sqlite/vfs/database-file.h"
#include "daemon/sqlite/vfs/log-file.h"
#include "daemon/sqlite/vfs/temp-files.h"

/* A call that was made to return loses at least as much: what is seen of it is a difference. */
#define LOST_MIN_BYTES (128 * 1024)

/* These are measured: docs/decisions/sqlite-settings.md. */
/* Readers see the file through mmap, so that all share the kernel's page cache; what is left is read from the write-ahead log. */
#define MAPPED_READER_CACHE_BYTES 131072
#define WRITER_CACHE_BYTES 4194304
#define LOG_MAP_MAX_BYTES ((sizeof(void *) > 4 ? 64 : 4) * UINT64_C(1048576)) /* address space of each connection */
#define LOCK_WAIT_MAX_USEC 5000000u
#define LOCK_LOOK_MAX_MSEC 20 /* between two tries */
/*
 * Of SQLITE_TESTCTRL_OPTIMIZATIONS. A scan of a whole table fills a Bloom filter. In what is made from SPARQL that takes long for
 * the few rows of a look-up. A client's SQL has them, as in SQLite.
 */
#define BLOOM_FILTERS 0x80000

static const char *const command_texts[QD_N_COMMANDS] = {
    [BEGIN_READ] = "BEGIN",           [BEGIN_WRITE] = "BEGIN IMMEDIATE", [COMMIT] = "COMMIT",
    [SAVEPOINT] = "SAVEPOINT member", [RELEASE] = "RELEASE member",
};

/* What the statement has left, when it and its pages are gone. Another thread cannot know. */
static void
note_lost(QdConnection *self)
{
    int64_t n_bytes = 0;

    (void) sqlite3_db_release_memory(self->db);
    if (self->spoilt_thread == qd_thread_get_self())
        n_bytes = qd_memory_get_thread_balance() - self->spoilt_balance;
    qd_memory_note_lost((uint64_t) MAX(n_bytes, LOST_MIN_BYTES));
}

QdConnection *
qd_connection_free(QdConnection *self)
{
    if (self == NULL)
        return NULL;

    for (guint i = 0; i < QD_N_ATTACHMENTS; i++)
        if (self->attachments[i].object != NULL && self->attachments[i].destroy != NULL)
            self->attachments[i].destroy(self->attachments[i].object);
    qd_connection_drop_statements(self);
    for (guint i = 0; i < G_N_ELEMENTS(self->transaction); i++)
        (void) sqlite3_finalize(self->transaction[i]);
    qd_schema_watch_clear(&self->schema);
    if (self->has_lost)
        note_lost(self);
    (void) sqlite3_close_v2(self->db);
    qd_guard_clear(&self->guard);
    g_free(self);
    return NULL;
}

/* As sqlite3_busy_timeout(), but what the statement's end is for ends the wait, too. */
static int
wait_for_lock(void *data, int n_tries)
{
    QdConnection *self = data;
    uint64_t now_usec = (uint64_t) g_get_monotonic_time();
    uint64_t caller_end_usec = self->guard.caller_end_usec; /* of what is compiled */

    if (n_tries == 0)
        self->lock_wait.since_usec = now_usec;
    if (now_usec > self->lock_wait.since_usec + LOCK_WAIT_MAX_USEC || (caller_end_usec > 0 && now_usec > caller_end_usec) ||
        qd_interrupt_poll() || (self->lock_wait.ends != NULL && self->lock_wait.ends(self->lock_wait.data)))
        return 0;
    g_usleep(1000 * (gulong) MIN(n_tries + 1, LOCK_LOOK_MAX_MSEC));
    return 1;
}

void
qd_connection_set_lock_wait(QdConnection *self, gboolean (*ends)(void *data), void *data)
{
    self->lock_wait.ends = ends;
    self->lock_wait.data = data;
    qd_connection_restore_lock_wait(self);
}

void
qd_connection_restore_lock_wait(QdConnection *self)
{
    (void) sqlite3_busy_handler(self->db, wait_for_lock, self);
}

static gboolean
connection_harden(QdConnection *self, gboolean foreign, const QdLimits *limits, GError **error)
{
    const struct {
        int option;
        int value;
    } options[] = {
        { SQLITE_DBCONFIG_DEFENSIVE, 1 },
        /* else no trigger could fill an FTS5 table; what schemas may call is marked, and the guard looks into them as well */
        { SQLITE_DBCONFIG_TRUSTED_SCHEMA, !foreign },
        { SQLITE_DBCONFIG_ENABLE_TRIGGER, !foreign },
        { SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
        { SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
        { SQLITE_DBCONFIG_ENABLE_FKEY, 1 },
    };
    const struct {
        int id;
        QdLimit limit;
    } sqlite_limits[] = {
        { SQLITE_LIMIT_LENGTH, QD_LIMIT_VALUE_BYTES },
        { SQLITE_LIMIT_COLUMN, QD_LIMIT_COLUMNS },
        { SQLITE_LIMIT_COMPOUND_SELECT, QD_LIMIT_COMPOUND_SELECTS },
        { SQLITE_LIMIT_VDBE_OP, QD_LIMIT_VDBE_OPS },
        { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, QD_LIMIT_LIKE_PATTERN_BYTES },
        { SQLITE_LIMIT_VARIABLE_NUMBER, QD_LIMIT_VARIABLES },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(options); i++) {
        int r = sqlite3_db_config(self->db, options[i].option, options[i].value, NULL);
        if (r != SQLITE_OK) {
            qd_sqlite_set_own_error(error, self->db, r);
            return FALSE;
        }
    }
    if (foreign)
        qd_builtin_trust_json(self->db);
    for (gsize i = 0; i < G_N_ELEMENTS(sqlite_limits); i++)
        (void) sqlite3_limit(self->db, sqlite_limits[i].id, (int) qd_limits_get(limits, sqlite_limits[i].limit));
    (void) sqlite3_limit(self->db, SQLITE_LIMIT_ATTACHED, 1); /* VACUUM needs one */
    (void) sqlite3_limit(self->db, SQLITE_LIMIT_WORKER_THREADS, 0);
    qd_connection_set_lock_wait(self, NULL, NULL);
    qd_connection_choose_optimizations(self);
    (void) sqlite3_extended_result_codes(self->db, 1);
    return TRUE;
}

/*
 * A mapping that memory cannot hold would make each row fetch what the kernel reads around it, again and again. So half of the
 * memory is mapped; the rest of the file is read page by page.
 */
static uint64_t
get_mmap_bytes(const QdConnectionInfo *info, const QdLimits *limits)
{
    uint64_t memory_bytes = (uint64_t) sysconf(_SC_PHYS_PAGES) * (uint64_t) sysconf(_SC_PAGESIZE);

    return info->in_application ? 0 : MIN(qd_limits_get(limits, QD_LIMIT_MAP_BYTES), memory_bytes / 2);
}

static uint64_t
get_cache_bytes(const QdConnectionInfo *info, QdConnectionRole role, const QdLimits *limits, uint64_t mmap_bytes)
{
    uint64_t n_bytes = qd_limits_get(limits, QD_LIMIT_READER_CACHE_BYTES);
    struct stat st;

    if (role == QD_CONNECTION_WRITER)
        return WRITER_CACHE_BYTES;
    return stat(info->path, &st) == 0 && (uint64_t) st.st_size <= mmap_bytes ? MIN(n_bytes, MAPPED_READER_CACHE_BYTES) : n_bytes;
}

/*
 * The writer checks the cells of each page that it loads, lest damage spreads. Readers do not: a look-up by key took 4.6 µs
 * with it and 3.4 without, and SQLite bounds what it reads from a cell anyway. Its temporary tables give the disk back what they
 * held, else their file stays as large as it once was.
 */
static gboolean
connection_configure(QdConnection *self, const QdConnectionInfo *info, QdConnectionRole role, const QdLimits *limits,
                     GError **error)
{
    static const char *const modes[] = { "OFF", "FAST", "ON" };
    uint64_t mmap_bytes = get_mmap_bytes(info, limits);
    uint64_t cache_bytes = get_cache_bytes(info, role, limits, mmap_bytes);
    g_autofree char *sql = g_strdup_printf(
        "PRAGMA mmap_size=%" G_GUINT64_FORMAT "; PRAGMA cache_size=-%" G_GUINT64_FORMAT
        "; PRAGMA temp_store=FILE; PRAGMA secure_delete=%s; "
        "PRAGMA synchronous=FULL; %s",
        mmap_bytes, cache_bytes / 1024, modes[qd_limits_get(limits, QD_LIMIT_SECURE_DELETE)],
        role == QD_CONNECTION_READER ? "PRAGMA query_only=1;" : "PRAGMA cell_size_check=1; PRAGMA temp.auto_vacuum=FULL;");

    self->cache_bytes = cache_bytes;
    return qd_connection_execute(self, sql, error);
}

/* The system's own error says more: too many open files, for one. */
static void
set_open_error(sqlite3 *db, const char *path, int result, GError **error)
{
    int errno_value = db != NULL && (result & 0xff) == SQLITE_CANTOPEN ? sqlite3_system_errno(db) : 0;

    if (errno_value != 0 && !qd_file_lengths_check_kinds(path, error))
        return;
    if (errno_value != 0)
        qd_file_trouble_set(error, errno_value, "cannot open database '%s'", path);
    else
        qd_sqlite_set_call_error(error, db, result, "cannot open database '%s'", path);
}

/* When it cannot open a file for writing, SQLite opens it for reading and says so at the first write, for any reason. */
static void
explain_read_only(const char *what, const char *path, GError **error)
{
    g_clear_error(error);
    if (!qd_file_lengths_check_kinds(path, error) || qd_file_trouble_explain_read_only(path, error))
        return;
    qd_error_set(error, QW_ERROR_LIMIT_EXCEEDED,
                 "could not open %s '%s' for writing, and now it can be: too many open files, or no memory; the next try opens it"
                 " again",
                 what, path);
}

static gboolean
check_writable(sqlite3 *db, const char *path, int access_flags, GError **error)
{
    if ((access_flags & SQLITE_OPEN_READWRITE) == 0 || sqlite3_db_readonly(db, "main") != 1)
        return TRUE;
    explain_read_only("database", path, error);
    return FALSE;
}

gboolean
qd_connection_correct_read_only(const char *path, GError **error)
{
    if (error == NULL || !g_error_matches(*error, QD_ERROR, (gint) QW_ERROR_READ_ONLY) || access(path, F_OK) != 0)
        return FALSE;
    explain_read_only("the write-ahead log of", path, error);
    return TRUE;
}

static char *
build_uri(const QdConnectionInfo *info, const QdLimits *limits)
{
    g_autofree char *escaped = g_uri_escape_string(info->path, "/", FALSE);
    uint64_t n_map_bytes = MIN(get_mmap_bytes(info, limits), LOG_MAP_MAX_BYTES);

    if (info->immutable)
        return g_strdup_printf("file:%s?immutable=1", escaped);
    return g_strdup_printf("file:%s?" QD_LOG_FILE_MAP_BYTES "=%" G_GUINT64_FORMAT "&" QD_DATABASE_FILE_HAS_CONTENT "=%d", escaped,
                           n_map_bytes, info->has_content);
}

QdConnection *
qd_connection_open(const QdConnectionInfo *info, QdConnectionRole role, const QdLimits *limits, GError **error)
{
    g_autoptr(QdConnection) self = g_new0(QdConnection, 1);
    g_autofree char *uri = build_uri(info, limits);
    int access = info->immutable || role == QD_CONNECTION_READER ? SQLITE_OPEN_READONLY
                                                                 : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    int r;

    self->schema_version = -1;
    self->statements = (QwRecent){ .items = self->statement_items, .max = QD_CONNECTION_MAX_STATEMENTS };
    r = sqlite3_open_v2(uri, &self->db, access | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
                        info->in_application ? qd_temp_files_get_vfs() : qd_log_file_get_vfs());
    if (r != SQLITE_OK) {
        set_open_error(self->db, info->path, r, error);
        return NULL;
    }
    if (!check_writable(self->db, info->path, access, error))
        return NULL;

    qd_guard_install(&self->guard, self->db);
    qd_schema_watch_init(&self->schema, self->db, &self->guard, info->schema_generation);
    if (!connection_harden(self, info->foreign, limits, error) || !connection_configure(self, info, role, limits, error))
        return NULL;
    if (info->setup != NULL && !info->setup(self, limits, error))
        return NULL;

    return g_steal_pointer(&self);
}

void
qd_connection_note_content(QdConnection *self)
{
    sqlite3_file *file = NULL;

    if (sqlite3_file_control(self->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK)
        qd_database_file_note_content(file);
}

void
qd_connection_keep_log(QdConnection *self)
{
    int persist = 1;

    (void) sqlite3_file_control(self->db, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
}

QD_HOT sqlite3 *
qd_connection_get_db(QdConnection *self)
{
    return self->db;
}

QdGuard *
qd_connection_get_guard(QdConnection *self)
{
    return &self->guard;
}

QdSettings *
qd_connection_get_settings(QdConnection *self)
{
    return &self->settings;
}

void
qd_connection_set_access(QdConnection *self, const QdAccess *access)
{
    qd_grants_set(&self->guard.grants, access);
}

QdPolicy
qd_connection_set_policy(QdConnection *self, QdPolicy policy)
{
    QdPolicy before = self->guard.policy;

    self->guard.policy = policy;
    qd_connection_choose_optimizations(self);
    return before;
}

void
qd_connection_choose_optimizations(QdConnection *self)
{
    int off = self->guard.policy == QD_POLICY_INTERNAL || self->runs_generated ? BLOOM_FILTERS : 0;

    if (off == self->optimizations_off)
        return;
    self->optimizations_off = off;
    (void) sqlite3_test_control(SQLITE_TESTCTRL_OPTIMIZATIONS, self->db, off);
}

gpointer
qd_connection_get_attachment(QdConnection *self, QdAttachment which)
{
    return self->attachments[which].object;
}

void
qd_connection_set_attachment(QdConnection *self, QdAttachment which, gpointer object, GDestroyNotify destroy)
{
    g_assert(object == NULL || self->attachments[which].object == NULL);

    self->attachments[which].object = object;
    self->attachments[which].destroy = destroy;
}

gboolean
qd_connection_execute(QdConnection *self, const char *sql, GError **error)
{
    QdPolicy policy = qd_connection_set_policy(self, QD_POLICY_INTERNAL);
    int r = sqlite3_exec(self->db, sql, NULL, NULL, NULL);

    (void) qd_connection_set_policy(self, policy);
    if (r != SQLITE_OK) {
        qd_sqlite_set_error(error, self->db, r, NULL, 0, NULL);
        return FALSE;
    }
    return TRUE;
}

static gboolean
run_command(QdConnection *self, QdCommand command, GError **error)
{
    QdPolicy policy = self->guard.policy;
    sqlite3_stmt **stmt = &self->transaction[command];
    int r = SQLITE_OK;

    self->guard.policy = QD_POLICY_INTERNAL;
    if (*stmt == NULL)
        r = sqlite3_prepare_v3(self->db, command_texts[command], -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    if (r == SQLITE_OK) {
        /* SQLite adds the steps of all executions up. The progress handler would be asked after a COMMIT, which would say then that
         * it was interrupted. */
        (void) sqlite3_stmt_status(*stmt, SQLITE_STMTSTATUS_VM_STEP, TRUE);
        (void) sqlite3_step(*stmt);
        r = sqlite3_reset(*stmt);
    }
    self->guard.policy = policy;
    if (r != SQLITE_OK) {
        qd_sqlite_set_own_error(error, self->db, r);
        return FALSE;
    }
    return TRUE;
}

/* The end of the last one may have lacked memory. */
static gboolean
end_last(QdConnection *self, GError **error)
{
    return sqlite3_get_autocommit(self->db) || qd_connection_execute(self, "ROLLBACK", error);
}

gboolean
qd_connection_begin(QdConnection *self, GError **error)
{
    return end_last(self, error) && run_command(self, BEGIN_READ, error);
}

gboolean
qd_connection_begin_write(QdConnection *self, GError **error)
{
    return end_last(self, error) && run_command(self, BEGIN_WRITE, error);
}

gboolean
qd_connection_end(QdConnection *self, GError **error)
{
    return run_command(self, COMMIT, error);
}

gboolean
qd_connection_begin_savepoint(QdConnection *self, GError **error)
{
    return run_command(self, SAVEPOINT, error);
}

gboolean
qd_connection_end_savepoint(QdConnection *self, GError **error)
{
    return run_command(self, RELEASE, error);
}

/* 0 for a file that was never restored. */
static gint64
read_incarnation(QdConnection *self)
{
    gint64 incarnation = 0;

    (void) qd_connection_get_int64(self, "SELECT value FROM queryd_meta WHERE key='incarnation'", &incarnation, NULL);
    return incarnation;
}

gint64
qd_connection_get_schema_version(QdConnection *self)
{
    return qd_schema_watch_get_version(&self->schema);
}

/* DEFENSIVE keeps this pragma from clients, and from us. */
gboolean
qd_connection_spread_statistics(QdConnection *self, GError **error)
{
    char text[64];
    gboolean ok;

    g_snprintf(text, sizeof(text), "PRAGMA schema_version=%" G_GINT64_FORMAT,
               (qd_connection_get_schema_version(self) + 1) & G_MAXINT32);
    (void) sqlite3_db_config(self->db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    ok = qd_connection_execute(self, text, error);
    (void) sqlite3_db_config(self->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return ok;
}

QdSchemaWatch *
qd_connection_get_schema(QdConnection *self)
{
    return &self->schema;
}

/* Asking for the version of the schema takes 0.2 µs within a transaction; only when that has changed there is more to ask. */
gboolean
qd_connection_is_current(QdConnection *self)
{
    gboolean first = self->schema_version < 0;
    gint64 before = self->incarnation;
    gint64 version = qd_connection_get_schema_version(self);

    if (version == self->schema_version || version < 0)
        return TRUE;

    self->schema_version = version;
    self->incarnation = read_incarnation(self);
    return first || self->incarnation == before;
}

gboolean
qd_connection_get_int64(QdConnection *self, const char *sql, gint64 *ret_value, GError **error)
{
    QdPolicy policy = qd_connection_set_policy(self, QD_POLICY_INTERNAL);
    sqlite3_stmt *stmt = NULL;
    int r;

    r = sqlite3_prepare_v2(self->db, sql, -1, &stmt, NULL);
    if (r == SQLITE_OK)
        r = sqlite3_step(stmt);
    if (r == SQLITE_ROW)
        *ret_value = sqlite3_column_int64(stmt, 0);
    else if (r == SQLITE_DONE)
        *ret_value = 0;
    else
        qd_sqlite_set_error(error, self->db, r, NULL, 0, NULL);
    (void) sqlite3_finalize(stmt);
    (void) qd_connection_set_policy(self, policy);
    return r == SQLITE_ROW || r == SQLITE_DONE;
}

void
qd_connection_set_cache_size(QdConnection *self, uint64_t cache_bytes)
{
    g_autofree char *sql = g_strdup_printf("PRAGMA cache_size=-%" G_GUINT64_FORMAT,
                                           (cache_bytes > 0 ? cache_bytes : self->cache_bytes) / 1024);

    (void) qd_connection_execute(self, sql, NULL);
}

void
qd_connection_trim(QdConnection *self)
{
    qd_connection_drop_statements(self);
    qd_schema_watch_clear(&self->schema);
    (void) sqlite3_db_release_memory(self->db);
}

void
qd_connection_spoil(QdConnection *self, gboolean loses, int64_t balance)
{
    self->is_spoilt = TRUE;
    self->has_lost = self->has_lost || loses;
    self->spoilt_thread = qd_thread_get_self();
    self->spoilt_balance = balance;
}

gboolean
qd_connection_is_spoilt(const QdConnection *self)
{
    return self->is_spoilt;
}
