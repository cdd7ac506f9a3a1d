/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening and hardening of connections; the statement cache.
 */
#include "daemon/store/connection.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/store/log-file.h"
#include "daemon/store/memory.h"
#include "daemon/store/sqlite-error.h"

/* These are measured: docs/decisions/sqlite-settings.md. */
#define CACHE_MAX_STATEMENTS 128
/* Readers see the file through mmap, so that all share the kernel's page cache; what is left is read from the write-ahead log. */
#define MAPPED_READER_CACHE_BYTES 131072
#define WRITER_CACHE_BYTES 4194304
#define LOG_MAP_MAX_BYTES ((sizeof(void *) > 4 ? 64 : 4) * UINT64_C(1048576)) /* address space of each connection */
#define BUSY_TIMEOUT_MSEC 5000
/* A bit of SQLite's mask of optimizations: filters that are filled by a scan of a whole table, which for few rows take long. */
#define BLOOM_FILTERS 0x80000
#define EXPLAIN_OPCODE 1         /* the column that names it */
#define GENERATED_DEPTH_MAX 1000 /* of an expression in what we write; SQLite is compiled for so much */

typedef enum Command {
    BEGIN_READ,
    BEGIN_WRITE,
    COMMIT,
    SAVEPOINT,
    RELEASE,
    N_COMMANDS,
} Command;

static const char *const command_texts[N_COMMANDS] = {
    [BEGIN_READ] = "BEGIN",           [BEGIN_WRITE] = "BEGIN IMMEDIATE", [COMMIT] = "COMMIT",
    [SAVEPOINT] = "SAVEPOINT member", [RELEASE] = "RELEASE member",
};

struct QdConnection {
    sqlite3 *db;
    uint64_t cache_bytes;
    QdGuard guard;
    QdSettings settings;
    GPtrArray *statements; /* of QdCompiled, few: searched from the newest */
    guint64 clock;
    sqlite3_stmt *transaction[N_COMMANDS]; /* from the first use on */
    QdSchemaWatch schema;
    gint64 schema_version; /* of the file, when the next was read; -1: it was not */
    gint64 incarnation;
    struct {
        gpointer object;
        GDestroyNotify destroy;
    } attachments[QD_N_ATTACHMENTS];
};

void
qd_compiled_drop_wrapped(QdCompiled *compiled)
{
    (void) sqlite3_finalize(g_steal_pointer(&compiled->wrapped));
}

static void
compiled_free(gpointer data)
{
    QdCompiled *compiled = data;

    qd_compiled_drop_wrapped(compiled);
    (void) sqlite3_finalize(compiled->stmt);
    g_strfreev(compiled->write_tables);
    g_free(compiled->text);
    g_free(compiled);
}

QdConnection *
qd_connection_free(QdConnection *self)
{
    if (self == NULL)
        return NULL;

    for (guint i = 0; i < QD_N_ATTACHMENTS; i++)
        if (self->attachments[i].object != NULL && self->attachments[i].destroy != NULL)
            self->attachments[i].destroy(self->attachments[i].object);
    g_clear_pointer(&self->statements, g_ptr_array_unref);
    for (guint i = 0; i < G_N_ELEMENTS(self->transaction); i++)
        (void) sqlite3_finalize(self->transaction[i]);
    qd_schema_watch_clear(&self->schema);
    (void) sqlite3_close_v2(self->db);
    qd_guard_clear(&self->guard);
    g_free(self);
    return NULL;
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
        { SQLITE_DBCONFIG_DQS_DML, 0 },
        { SQLITE_DBCONFIG_DQS_DDL, 0 },
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
            qd_sqlite_set_error(error, self->db, r, NULL, 0, NULL);
            return FALSE;
        }
    }
    for (gsize i = 0; i < G_N_ELEMENTS(sqlite_limits); i++)
        (void) sqlite3_limit(self->db, sqlite_limits[i].id, (int) qd_limits_get(limits, sqlite_limits[i].limit));
    (void) sqlite3_limit(self->db, SQLITE_LIMIT_ATTACHED, 1); /* VACUUM needs one */
    (void) sqlite3_limit(self->db, SQLITE_LIMIT_WORKER_THREADS, 0);
    (void) sqlite3_busy_timeout(self->db, BUSY_TIMEOUT_MSEC);
    (void) sqlite3_test_control(SQLITE_TESTCTRL_OPTIMIZATIONS, self->db, BLOOM_FILTERS);
    (void) sqlite3_extended_result_codes(self->db, 1);
    return TRUE;
}

/*
 * A mapping that memory cannot hold would make each row fetch what the kernel reads around it, again and again: half of the memory,
 * the rest of the file is read page by page.
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

    if (errno_value != 0)
        qd_error_set_errno(error, errno_value, "cannot open database '%s'", path);
    else
        qd_error_set(error, qd_sqlite_get_code(result), "cannot open database '%s': %s", path,
                     db != NULL ? sqlite3_errmsg(db) : sqlite3_errstr(result));
}

/* When it cannot open a file for writing, for whatever reason, SQLite opens it for reading and says so at the first write.
 * FALSE: the permissions of @path forbid it. */
static gboolean
blame_limits(const char *what, const char *path, GError **error)
{
    if (access(path, W_OK) != 0)
        return FALSE;

    g_clear_error(error);
    qd_error_set(error, QW_ERROR_LIMIT_EXCEEDED,
                 "cannot open %s '%s' for writing, though its permissions allow it: too many open files, no memory or no space;"
                 " the next try opens it again",
                 what, path);
    return TRUE;
}

static gboolean
check_writable(sqlite3 *db, const char *path, int access_flags, GError **error)
{
    return (access_flags & SQLITE_OPEN_READWRITE) == 0 || sqlite3_db_readonly(db, "main") != 1 ||
           !blame_limits("database", path, error);
}

gboolean
qd_connection_correct_read_only(const char *path, GError **error)
{
    return error != NULL && g_error_matches(*error, QD_ERROR, (gint) QW_ERROR_READ_ONLY) &&
           blame_limits("the write-ahead log of", path, error);
}

static char *
build_uri(const QdConnectionInfo *info, const QdLimits *limits)
{
    g_autofree char *escaped = g_uri_escape_string(info->path, "/", FALSE);
    uint64_t n_map_bytes = MIN(get_mmap_bytes(info, limits), LOG_MAP_MAX_BYTES);

    if (info->immutable)
        return g_strdup_printf("file:%s?immutable=1", escaped);
    return g_strdup_printf("file:%s?" QD_LOG_FILE_MAP_BYTES "=%" G_GUINT64_FORMAT, escaped, n_map_bytes);
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
    self->statements = g_ptr_array_new_with_free_func(compiled_free);
    r = sqlite3_open_v2(uri, &self->db, access | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
                        info->in_application ? NULL : qd_log_file_get_vfs());
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

sqlite3 *
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

QdPolicy
qd_connection_set_policy(QdConnection *self, QdPolicy policy)
{
    QdPolicy before = self->guard.policy;

    self->guard.policy = policy;
    return before;
}

gpointer
qd_connection_get_attachment(QdConnection *self, QdAttachment which)
{
    return self->attachments[which].object;
}

void
qd_connection_set_attachment(QdConnection *self, QdAttachment which, gpointer object, GDestroyNotify destroy)
{
    g_assert(self->attachments[which].object == NULL);

    self->attachments[which].object = object;
    self->attachments[which].destroy = destroy;
}

gboolean
qd_connection_execute(QdConnection *self, const char *sql, GError **error)
{
    QdPolicy policy = self->guard.policy;
    int r;

    self->guard.policy = QD_POLICY_INTERNAL;
    r = sqlite3_exec(self->db, sql, NULL, NULL, NULL);
    self->guard.policy = policy;
    if (r != SQLITE_OK) {
        qd_sqlite_set_error(error, self->db, r, NULL, 0, NULL);
        return FALSE;
    }
    return TRUE;
}

static gboolean
run_command(QdConnection *self, Command command, GError **error)
{
    QdPolicy policy = self->guard.policy;
    sqlite3_stmt **stmt = &self->transaction[command];
    int r = SQLITE_OK;

    self->guard.policy = QD_POLICY_INTERNAL;
    if (*stmt == NULL)
        r = sqlite3_prepare_v3(self->db, command_texts[command], -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    if (r == SQLITE_OK) {
        (void) sqlite3_step(*stmt);
        r = sqlite3_reset(*stmt);
    }
    self->guard.policy = policy;
    if (r != SQLITE_OK) {
        qd_sqlite_set_error(error, self->db, r, NULL, 0, NULL);
        return FALSE;
    }
    return TRUE;
}

gboolean
qd_connection_begin(QdConnection *self, GError **error)
{
    /* the end of the last one may have lacked memory */
    if (!sqlite3_get_autocommit(self->db) && !qd_connection_execute(self, "ROLLBACK", error))
        return FALSE;
    return run_command(self, BEGIN_READ, error);
}

gboolean
qd_connection_begin_write(QdConnection *self, GError **error)
{
    return run_command(self, BEGIN_WRITE, error);
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
    QdPolicy policy = self->guard.policy;
    sqlite3_stmt *stmt = NULL;
    int r;

    self->guard.policy = QD_POLICY_INTERNAL;
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
    self->guard.policy = policy;
    return r == SQLITE_ROW || r == SQLITE_DONE;
}

/* FNV-1a over names and declared types. */
static uint64_t
compute_signature(sqlite3_stmt *stmt)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    int n = sqlite3_column_count(stmt);

    for (int i = 0; i < n; i++) {
        const char *parts[2] = { sqlite3_column_name(stmt, i), sqlite3_column_decltype(stmt, i) };

        for (int k = 0; k < 2; k++) {
            for (const char *p = parts[k] != NULL ? parts[k] : ""; *p != '\0'; p++)
                hash = (hash ^ (unsigned char) *p) * UINT64_C(0x100000001b3);
            hash = (hash ^ 0x1ff) * UINT64_C(0x100000001b3);
        }
    }
    return hash;
}

gboolean
qd_compiled_refresh(QdCompiled *compiled)
{
    int n_reprepares = sqlite3_stmt_status(compiled->stmt, SQLITE_STMTSTATUS_REPREPARE, 0);

    if (n_reprepares == compiled->n_reprepares)
        return FALSE;

    compiled->n_reprepares = n_reprepares;
    compiled->n_columns = sqlite3_column_count(compiled->stmt);
    compiled->schema_signature = compute_signature(compiled->stmt);
    return TRUE;
}

static QdCompiled *
cache_find(QdConnection *self, const char *text, gsize n_bytes, QdPolicy policy)
{
    for (guint i = self->statements->len; i > 0; i--) {
        QdCompiled *compiled = self->statements->pdata[i - 1];

        if (compiled->policy == policy && compiled->n_text_bytes == n_bytes && memcmp(compiled->text, text, n_bytes) == 0) {
            compiled->last_use = ++self->clock;
            return compiled;
        }
    }
    return NULL;
}

static void
cache_add(QdConnection *self, QdCompiled *compiled)
{
    if (self->statements->len >= CACHE_MAX_STATEMENTS) {
        guint oldest = 0;

        for (guint i = 1; i < self->statements->len; i++)
            if (((QdCompiled *) self->statements->pdata[i])->last_use < ((QdCompiled *) self->statements->pdata[oldest])->last_use)
                oldest = i;
        g_ptr_array_remove_index_fast(self->statements, oldest);
    }
    compiled->last_use = ++self->clock;
    g_ptr_array_add(self->statements, compiled);
}

/* Where something else than white space, comments and semicolons begins, or @end. */
static const char *
skip_empty(const char *tail, const char *end)
{
    while (tail < end) {
        if (g_ascii_isspace(*tail) || *tail == ';') {
            tail++;
        } else if (end - tail >= 2 && tail[0] == '-' && tail[1] == '-') {
            while (tail < end && *tail != '\n')
                tail++;
        } else if (end - tail >= 2 && tail[0] == '/' && tail[1] == '*') {
            const char *close = memmem(tail + 2, (size_t) (end - tail - 2), "*/", 2);

            tail = close != NULL ? close + 2 : end;
        } else {
            return tail;
        }
    }
    return end;
}

static gboolean
check_size(const char *what, gsize n_bytes, QdLimit limit, const QdLimits *limits, GError **error)
{
    if (n_bytes > qd_limits_get(limits, limit))
        qd_limit_set_error(error, limits, limit, "%s of %zu bytes is too long", what, n_bytes);
    return n_bytes <= qd_limits_get(limits, limit);
}

static gboolean
check_text(const char *text, gsize n_bytes, GError **error)
{
    const char *nul = memchr(text, 0, n_bytes);
    const char *invalid;

    if (nul != NULL) {
        qd_error_set_at(error, QW_ERROR_SYNTAX, text, n_bytes, (size_t) (nul - text), "statement contains a NUL");
        return FALSE;
    }
    if (!g_utf8_validate_len(text, n_bytes, &invalid)) {
        qd_error_set_at(error, QW_ERROR_SYNTAX, text, n_bytes, (size_t) (invalid - text), "statement is not UTF-8");
        return FALSE;
    }
    if (skip_empty(text, text + n_bytes) == text + n_bytes) {
        qd_error_set(error, QW_ERROR_SYNTAX, "1:1: statement is empty");
        return FALSE;
    }
    return TRUE;
}

static gboolean
check_compiled(const QdCompiled *compiled, const char *tail, GError **error)
{
    const char *end = compiled->text + compiled->n_text_bytes;

    if (skip_empty(tail, end) != end) {
        while (g_ascii_isspace(*tail) || *tail == ';')
            tail++;
        qd_error_set_at(error, QW_ERROR_SYNTAX, compiled->text, compiled->n_text_bytes, (size_t) (tail - compiled->text),
                        "more than one statement in a call");
        return FALSE;
    }
    if (compiled->writes && compiled->policy == QD_POLICY_READ) {
        qd_error_set(error, QW_ERROR_READ_ONLY, "statement writes, but was opened for reading");
        return FALSE;
    }
    return TRUE;
}

static int
prepare_within_budget(QdConnection *self, const char *text, gsize n_bytes, QdPolicy policy, int depth, const QdLimits *limits,
                      sqlite3_stmt **ret_stmt, const char **ret_tail, GError **error)
{
    QdBudgetVerdict verdict;
    int r;

    (void) sqlite3_limit(self->db, SQLITE_LIMIT_EXPR_DEPTH, depth);
    qd_guard_begin(&self->guard, policy, limits);
    qd_memory_begin_budget(qd_limits_get(limits, QD_LIMIT_QUERY_MEMORY_BYTES), self->guard.compile_deadline_usec);
    r = sqlite3_prepare_v3(self->db, text, (int) n_bytes + 1, SQLITE_PREPARE_PERSISTENT, ret_stmt, ret_tail);
    verdict = qd_memory_end_budget();
    qd_guard_end(&self->guard);
    (void) sqlite3_limit(self->db, SQLITE_LIMIT_EXPR_DEPTH, GENERATED_DEPTH_MAX); /* to compile it again within a step */
    if (r != SQLITE_OK && verdict == QD_BUDGET_MEMORY_EXCEEDED)
        qd_limit_set_error(error, limits, QD_LIMIT_QUERY_MEMORY_BYTES,
                           "statement is too complex: it needs too much memory to compile");
    else if (r != SQLITE_OK && verdict == QD_BUDGET_TIME_EXCEEDED)
        qd_limit_set_error(error, limits, QD_LIMIT_COMPILE_MSEC, "statement is too complex: it takes too long to compile");
    return r;
}

/* What the guard has recorded. */
static void
take_writes(QdConnection *self, QdCompiled *compiled)
{
    const GPtrArray *tables = self->guard.write_tables;

    g_strfreev(compiled->write_tables);
    compiled->write_tables = g_new0(char *, tables->len + 1);
    for (guint i = 0; i < tables->len; i++)
        compiled->write_tables[i] = g_strdup(tables->pdata[i]);
    compiled->changes_schema = self->guard.changes_schema;
    compiled->alters = self->guard.alters;
    compiled->defines = self->guard.defines;
    compiled->counts_rows = self->guard.rows_written != NULL && !self->guard.defines;
    compiled->calls_changes = self->guard.calls_changes;
    compiled->deletes_payloads = self->guard.deletes_payloads;
    compiled->calls_delete = self->guard.calls_delete;
}

void
qd_connection_refresh_writes(QdConnection *self, QdCompiled *compiled)
{
    int n_reprepares = sqlite3_stmt_status(compiled->stmt, SQLITE_STMTSTATUS_REPREPARE, 0);

    if (n_reprepares == compiled->n_write_reprepares)
        return;

    compiled->n_write_reprepares = n_reprepares;
    take_writes(self, compiled);
}

/* What is written by us may nest deeper than a user's SQL; the errors of that name its own bounds. FALSE: it is another error. */
static gboolean
set_generated_error(sqlite3 *db, const QdLimits *limits, GError **error)
{
    const char *message = sqlite3_errmsg(db);
    QdLimit limit = strstr(message, "parser stack overflow") != NULL ? QD_LIMIT_SQL_PARSER_DEPTH : QD_LIMIT_SPARQL_SQL_DEPTH;

    if (limit == QD_LIMIT_SPARQL_SQL_DEPTH && strstr(message, "Expression tree is too large") == NULL)
        return FALSE;
    qd_limit_set_error(error, limits, limit, "the query nests too deep for the SQL that it becomes");
    return TRUE;
}

/*
 * Whether the program is that of VACUUM, which the authorizer is not asked about. SQLite shows a program only by EXPLAIN of its
 * text. What cannot be shown, since the text is as long as it may be, runs within a transaction, where VACUUM fails.
 */
static gboolean
vacuums(QdConnection *self, const QdCompiled *compiled)
{
    const char *statement = skip_empty(compiled->text, compiled->text + compiled->n_text_bytes);
    g_autofree char *text = g_strconcat("EXPLAIN ", statement, NULL);
    QdPolicy policy = qd_connection_set_policy(self, QD_POLICY_INTERNAL);
    sqlite3_stmt *stmt = NULL;
    gboolean found = FALSE;

    if (sqlite3_prepare_v2(self->db, text, -1, &stmt, NULL) == SQLITE_OK)
        while (!found && sqlite3_step(stmt) == SQLITE_ROW)
            found = g_strcmp0((const char *) sqlite3_column_text(stmt, EXPLAIN_OPCODE), "Vacuum") == 0;
    (void) sqlite3_finalize(stmt);
    self->guard.policy = policy;
    return found;
}

static gboolean
compile_text(QdConnection *self, QdCompiled *compiled, int depth, const QdLimits *limits, GError **error)
{
    const char *tail = NULL;
    g_autoptr(GError) limit_error = NULL;
    int r = prepare_within_budget(self, compiled->text, compiled->n_text_bytes, compiled->policy, depth, limits, &compiled->stmt,
                                  &tail, &limit_error);

    if (limit_error != NULL) {
        g_propagate_error(error, g_steal_pointer(&limit_error));
        return FALSE;
    }
    if (r == SQLITE_OK)
        (void) qd_guard_check_rows(&self->guard, compiled->stmt);
    if (qd_guard_get_denial(&self->guard, error))
        return FALSE;
    if (r != SQLITE_OK && depth > (int) qd_limits_get(limits, QD_LIMIT_SQL_DEPTH) && set_generated_error(self->db, limits, error))
        return FALSE;
    if (r != SQLITE_OK) {
        qd_sqlite_set_compile_error(error, self->db, r, compiled->text, compiled->n_text_bytes, limits);
        return FALSE;
    }
    if (compiled->stmt == NULL) {
        qd_error_set(error, QW_ERROR_SYNTAX, "1:1: statement is empty");
        return FALSE;
    }

    compiled->n_columns = sqlite3_column_count(compiled->stmt);
    compiled->n_parameters = sqlite3_bind_parameter_count(compiled->stmt);
    compiled->writes = !sqlite3_stmt_isexplain(compiled->stmt) &&
                       (self->guard.writes || (!self->guard.tells && !sqlite3_stmt_readonly(compiled->stmt)));
    compiled->control = sqlite3_stmt_isexplain(compiled->stmt) ? QD_CONTROL_NONE : self->guard.control;
    compiled->asks = self->guard.asks && !sqlite3_stmt_isexplain(compiled->stmt);
    compiled->setting = compiled->asks ? self->guard.setting : QD_SETTING_NONE;
    compiled->setting_on = self->guard.setting_on;
    compiled->schema_signature = compute_signature(compiled->stmt);
    take_writes(self, compiled);
    compiled->runs_alone = compiled->writes && !compiled->asks && compiled->control == QD_CONTROL_NONE &&
                           compiled->write_tables[0] == NULL && vacuums(self, compiled);
    return check_compiled(compiled, tail, error);
}

static QdCompiled *
compile_anew(QdConnection *self, const char *text, gsize n_bytes, QdPolicy policy, int depth, const QdLimits *limits,
             GError **error)
{
    QdCompiled *compiled;

    if (!check_text(text, n_bytes, error))
        return NULL;

    compiled = g_new0(QdCompiled, 1);
    compiled->policy = policy;
    compiled->n_text_bytes = n_bytes;
    compiled->text = g_malloc(n_bytes + 1);
    memcpy(compiled->text, text, n_bytes);
    compiled->text[n_bytes] = '\0';
    if (compile_text(self, compiled, depth, limits, error))
        return compiled;

    compiled_free(compiled);
    return NULL;
}

GPtrArray *
qd_connection_list_reads(QdConnection *self, const char *text, gsize n_bytes, const QdLimits *limits, GError **error)
{
    g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func(g_free);
    QdCompiled *compiled;

    if (!check_size("statement", n_bytes, QD_LIMIT_STATEMENT_TEXT_BYTES, limits, error))
        return NULL;

    qd_schema_watch_follow(&self->schema, TRUE);
    /* the first time virtual tables are connected, which reads tables that the statement does not */
    compiled = compile_anew(self, text, n_bytes, QD_POLICY_READ, (int) qd_limits_get(limits, QD_LIMIT_SQL_DEPTH), limits, error);
    if (compiled == NULL)
        return NULL;
    compiled_free(compiled);

    self->guard.read_tables = tables;
    compiled = compile_anew(self, text, n_bytes, QD_POLICY_READ, (int) qd_limits_get(limits, QD_LIMIT_SQL_DEPTH), limits, error);
    self->guard.read_tables = NULL;
    if (compiled == NULL)
        return NULL;

    if (self->guard.tells)
        g_ptr_array_add(tables, g_strdup("pragma_")); /* as its function would be called */
    compiled_free(compiled);
    return g_steal_pointer(&tables);
}

static QdCompiled *
compile(QdConnection *self, const char *text, gsize n_bytes, QdPolicy policy, int depth, const QdLimits *limits, GError **error)
{
    QdCompiled *compiled;

    qd_schema_watch_follow(&self->schema, FALSE);
    compiled = cache_find(self, text, n_bytes, policy);
    if (compiled != NULL && compiled->schema_clock != self->schema.clock) {
        (void) g_ptr_array_remove_fast(self->statements, compiled);
        compiled = NULL;
    }
    if (compiled != NULL) {
        self->guard.policy = policy;
        qd_guard_forget_denial(&self->guard);
        return compiled;
    }
    qd_schema_watch_follow(&self->schema, TRUE);
    compiled = compile_anew(self, text, n_bytes, policy, depth, limits, error);
    if (compiled != NULL) {
        compiled->schema_clock = self->schema.clock;
        cache_add(self, compiled);
    }
    return compiled;
}

QdCompiled *
qd_connection_compile(QdConnection *self, const char *text, gsize n_bytes, QdPolicy policy, const QdLimits *limits, GError **error)
{
    if (!check_size("statement", n_bytes, QD_LIMIT_STATEMENT_TEXT_BYTES, limits, error))
        return NULL;
    return compile(self, text, n_bytes, policy, (int) qd_limits_get(limits, QD_LIMIT_SQL_DEPTH), limits, error);
}

QdCompiled *
qd_connection_compile_generated(QdConnection *self, const char *text, const QdLimits *limits, GError **error)
{
    if (!check_size("SQL for the query (fewer variables or patterns make it shorter)", strlen(text), QD_LIMIT_SPARQL_SQL_BYTES,
                    limits, error))
        return NULL;
    return compile(self, text, strlen(text), QD_POLICY_READ, GENERATED_DEPTH_MAX, limits, error);
}

sqlite3_stmt *
qd_connection_prepare(QdConnection *self, const char *text, QdPolicy policy, const QdLimits *limits)
{
    sqlite3_stmt *stmt = NULL;
    const char *tail;

    if (prepare_within_budget(self, text, strlen(text), policy, GENERATED_DEPTH_MAX, limits, &stmt, &tail, NULL) != SQLITE_OK)
        return NULL;
    return stmt;
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
    g_ptr_array_set_size(self->statements, 0);
    qd_schema_watch_clear(&self->schema);
    (void) sqlite3_db_release_memory(self->db);
}
