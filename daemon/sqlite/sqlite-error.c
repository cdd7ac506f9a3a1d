/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The translation of SQLite's errors, in one place.
 */
#include "daemon/sqlite/sqlite-error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/sqlite/file-lengths.h"
#include "daemon/sqlite/file-trouble.h"
#include "daemon/sqlite/memory.h"

/*
 * The error of the last read or write of @file that the disk refused. A read beyond its end, which needs no disk, makes SQLite
 * forget it.
 */
static int
take_disk_error(sqlite3_file *file)
{
    int number = 0;
    sqlite3_int64 n_bytes;
    char byte;

    if (file == NULL || file->pMethods == NULL ||
        file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number) != SQLITE_OK || (number != EIO && number != ENXIO))
        return 0;
    if (file->pMethods->xFileSize(file, &n_bytes) == SQLITE_OK)
        (void) file->pMethods->xRead(file, &byte, 1, n_bytes);
    return number;
}

int
qd_sqlite_get_result(sqlite3 *db, int result)
{
    sqlite3_file *file = NULL;
    sqlite3_file *log = NULL;
    gboolean refused;

    if (db == NULL || (result & 0xff) != SQLITE_CORRUPT)
        return result;
    (void) sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    (void) sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    refused = take_disk_error(file) != 0;
    refused = take_disk_error(log) != 0 || refused;
    return refused ? SQLITE_IOERR_READ : result;
}

int
qd_sqlite_from_code(QwError code)
{
    switch (code) {
    case QW_ERROR_BAD_PARAMETER:
        return SQLITE_RANGE;
    case QW_ERROR_CONSTRAINT:
        return SQLITE_CONSTRAINT;
    case QW_ERROR_READ_ONLY:
        return SQLITE_READONLY;
    case QW_ERROR_BUSY:
        return SQLITE_BUSY;
    case QW_ERROR_TOO_BIG:
        return SQLITE_TOOBIG;
    case QW_ERROR_TIMEOUT:
    case QW_ERROR_CANCELLED:
        return SQLITE_INTERRUPT;
    case QW_ERROR_DISK_FULL:
        return SQLITE_FULL;
    case QW_ERROR_NO_MEMORY:
        return SQLITE_NOMEM;
    case QW_ERROR_CORRUPT:
        return SQLITE_CORRUPT;
    case QW_ERROR_SYNTAX:
    case QW_ERROR_UNSUPPORTED:
    case QW_ERROR_TOO_COMPLEX: /* known by its words: refine_error() */
    case QW_ERROR_RECOVERING:
    case QW_ERROR_ACCESS_DENIED:
    case QW_ERROR_LIMIT_EXCEEDED:
    case QW_ERROR_CLOSED:
    case QW_ERROR_INTERNAL:
        return SQLITE_ERROR;
    }
    return SQLITE_ERROR;
}

QwError
qd_sqlite_get_code(int result)
{
    /* An index of FTS or an R-tree that does not fit its content, which statements of its owner can bring about. */
    if (result == SQLITE_CORRUPT_VTAB)
        return QW_ERROR_CONSTRAINT;

    switch (result & 0xff) {
    case SQLITE_ERROR:
    case SQLITE_SCHEMA: /* what compiling gives for a syntax error on a connection that has not seen the latest schema */
        return QW_ERROR_SYNTAX;
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return QW_ERROR_ACCESS_DENIED;
    case SQLITE_ABORT:
    case SQLITE_INTERRUPT:
        return QW_ERROR_CANCELLED;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return QW_ERROR_BUSY;
    case SQLITE_NOMEM:
        return QW_ERROR_NO_MEMORY;
    case SQLITE_READONLY:
        return QW_ERROR_READ_ONLY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return QW_ERROR_CORRUPT;
    case SQLITE_FULL:
        return QW_ERROR_DISK_FULL;
    case SQLITE_TOOBIG:
        return QW_ERROR_TOO_BIG;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
        return QW_ERROR_CONSTRAINT;
    case SQLITE_RANGE:
        return QW_ERROR_BAD_PARAMETER;
    default: /* SQLite's numbers, not our enum */
        return QW_ERROR_INTERNAL;
    }
}

#define NO_COLUMN "no such column: "

/* SQLite's generic error covers limits of its compiler too; those are known by their words only. */
static const struct {
    const char *words;
    QdLimit limit; /* QD_N_LIMITS: a limit of SQLite itself */
} complex_words[] = {
    { "parser stack overflow", QD_LIMIT_SQL_PARSER_DEPTH },
    { "Expression tree is too large", QD_LIMIT_SQL_DEPTH },
    { "too many terms in compound SELECT", QD_LIMIT_COMPOUND_SELECTS },
    { "too many columns", QD_LIMIT_COLUMNS },
    { "too many terms in", QD_LIMIT_COLUMNS },
    { "too many SQL variables", QD_LIMIT_VARIABLES },
    { "variable number must be", QD_LIMIT_VARIABLES },
    { "LIKE or GLOB pattern too complex", QD_LIMIT_LIKE_PATTERN_BYTES },
    { "json_patch() ", QD_N_LIMITS },
    { "regular expression ", QD_N_LIMITS }, /* and the next two: of our functions, which name the limit */
    { "expression has more than ", QD_N_LIMITS },
    { "expression is nested ", QD_N_LIMITS },
    { "full-text query is too long", QD_N_LIMITS },
    { "too many FROM clause terms", QD_N_LIMITS },
    { "at most 64 tables", QD_N_LIMITS },
    { "too many arguments", QD_N_LIMITS },
    { "too many levels of trigger recursion", QD_N_LIMITS },
    { "too many references to", QD_N_LIMITS },
};

/*
 * Errors of full-text queries, which FTS5 finds when they run, and words as if they were SQL's. @in_text: it is about SQL, since it
 * was found by the compiler, or at a place in the text.
 */
static gboolean
refine_full_text(GString *message, gboolean in_text, QwError *ret_code)
{
    static const char own[] = "fts5: ";

    if (strcmp(message->str, "no such table: queryd_fts") == 0) {
        g_string_assign(message,
                        "full-text search is not enabled in this store: 'queryctl fulltext add PREDICATE' (or --all) does it");
        *ret_code = QW_ERROR_UNSUPPORTED;
        return TRUE;
    }
    if (in_text)
        return FALSE;
    if (g_str_has_prefix(message->str, own)) {
        g_string_erase(message, 0, (gssize) strlen(own));
        (void) g_string_replace(message, "near \"\"", "at its end", 1);
    } else if (g_str_has_prefix(message->str, NO_COLUMN)) {
        g_string_append(message, " (a word before ':' or after '-' names a column; put it in double quotes)");
    } else if (strcmp(message->str, "unterminated string") != 0) {
        return FALSE;
    }
    g_string_prepend(message, "full-text query: ");
    *ret_code = QW_ERROR_SYNTAX;
    return TRUE;
}

/* The code of a generic error, and, appended to @message, the limit that it is about. */
static QwError
refine_error(GString *message, const QdLimits *limits)
{
    for (guint i = 0; i < G_N_ELEMENTS(complex_words); i++) {
        if (strstr(message->str, complex_words[i].words) == NULL)
            continue;
        if (limits != NULL && complex_words[i].limit != QD_N_LIMITS)
            g_string_append_printf(message, ": the limit '%s' is %" G_GUINT64_FORMAT,
                                   qd_limit_get_info(complex_words[i].limit)->name, qd_limits_get(limits, complex_words[i].limit));
        return QW_ERROR_TOO_COMPLEX;
    }
    return QW_ERROR_SYNTAX;
}

/* Limits that SQLite tells by its result code. Their values in force are known here, also where the caller has none. */
static gboolean
set_limit_error(GError **error, sqlite3 *db, int result)
{
    uint64_t heap_bytes = qd_memory_get_hard_limit();

    if ((result & 0xff) == SQLITE_NOMEM && qd_memory_take_system_failure())
        qd_error_set(error, QW_ERROR_NO_MEMORY, "out of memory: the system has no more for the daemon");
    else if ((result & 0xff) == SQLITE_NOMEM && heap_bytes > 0)
        qd_limit_set_value_error(error, QD_LIMIT_HEAP_HARD_BYTES, heap_bytes,
                                 "out of memory, of which a client gets three times what stays free");
    else if ((result & 0xff) == SQLITE_TOOBIG && db != NULL)
        qd_limit_set_value_error(error, QD_LIMIT_VALUE_BYTES, (uint64_t) sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1),
                                 "value is too big");
    else
        return FALSE;
    return TRUE;
}

/* What is compiled once more has none of the limits of the first time. */
#define MAX_EXPLAINED_BYTES 16384

/* (nullable) (transfer full): gives the program of the statement; NULL: it is too long */
static sqlite3_stmt *
explain(sqlite3 *db, const char *text, size_t n_bytes)
{
    g_autofree char *explained = n_bytes <= MAX_EXPLAINED_BYTES ? g_strdup_printf("EXPLAIN %.*s", (int) n_bytes, text) : NULL;
    sqlite3_stmt *stmt = NULL;

    if (explained != NULL)
        (void) sqlite3_prepare_v2(db, explained, -1, &stmt, NULL);
    return stmt;
}

/*
 * Whether the statement asks a virtual table something. FTS5 says of its queries what SQLite says of SQL. SQLite, too, says it in
 * a step: when the schema has changed, or of VACUUM.
 */
static gboolean
asks_virtual_table(sqlite3 *db, const char *text, size_t n_bytes)
{
    sqlite3_stmt *stmt = explain(db, text, n_bytes);
    gboolean found = FALSE;

    while (!found && stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW)
        found = g_strcmp0((const char *) sqlite3_column_text(stmt, 1), "VFilter") == 0;
    (void) sqlite3_finalize(stmt);
    return found;
}

#define KEY_FAILED "FOREIGN KEY constraint failed"

/*
 * Whether ON DELETE RESTRICT or ON UPDATE RESTRICT has failed, which SQLite compiles as a trigger without a name. A trigger of the
 * user's that may raise the same words leaves it open, and is no.
 */
static gboolean
is_restrict(sqlite3 *db, const char *text, size_t n_bytes)
{
    sqlite3_stmt *stmt = explain(db, text, n_bytes);
    gboolean is_named = TRUE;
    guint n_named = 0;
    guint n_nameless = 0;
    gboolean is_main = TRUE; /* the program of the statement comes first */

    while (stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *operation = (const char *) sqlite3_column_text(stmt, 1);

        if (g_strcmp0(operation, "Init") == 0) {
            is_named = is_main || sqlite3_column_type(stmt, 5) != SQLITE_NULL;
            is_main = FALSE;
        } else if (g_strcmp0(operation, "Halt") == 0 && sqlite3_column_int(stmt, 2) == SQLITE_CONSTRAINT_TRIGGER) {
            const char *words = (const char *) sqlite3_column_text(stmt, 5); /* NULL: computed when it runs */

            n_named += is_named && (words == NULL || g_str_equal(words, KEY_FAILED));
            n_nameless += !is_named;
        }
    }
    (void) sqlite3_finalize(stmt);
    return n_nameless > 0 && n_named == 0;
}

/* SQLite tries again without writing, so that its errno is only that there is no file. */
static int
find_folder_errno(const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_auto(QdFd) fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    return fd >= 0 || errno == EOPNOTSUPP || errno == EISDIR ? 0 : errno;
}

/* "unable to open database file" may be of a file beside it, and has no reason. */
static gboolean
set_open_error(GError **error, sqlite3 *db)
{
    static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
    const char *path = sqlite3_db_filename(db, "main");
    int number;

    if (path == NULL || path[0] == '\0')
        return FALSE;
    if (!qd_file_lengths_check_kinds(path, error))
        return TRUE;
    for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *name = g_strconcat(path, suffixes[i], NULL);

        if (access(name, R_OK) == 0 || errno == ENOENT)
            continue;
        qd_error_set_errno(error, errno, "cannot open '%s'", name);
        return TRUE;
    }
    number = sqlite3_system_errno(db);
    if (number != ENOSPC && number != EDQUOT)
        number = find_folder_errno(path);
    if (number != 0)
        qd_error_set_errno(error, number, "cannot make a file beside '%s'", path);
    return number != 0;
}

/* The system's last error of the database or of its log, if it @is_wanted; else 0. */
static int
find_errno(sqlite3 *db, gboolean (*is_wanted)(int errno_value))
{
    static const int places[] = { SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER };
    int number = sqlite3_system_errno(db);

    for (guint i = 0; i < G_N_ELEMENTS(places) && !is_wanted(number); i++) {
        sqlite3_file *file = NULL;

        (void) sqlite3_file_control(db, "main", places[i], &file);
        if (file != NULL && file->pMethods != NULL)
            (void) file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
    }
    return is_wanted(number) ? number : 0;
}

static gboolean
is_of_growth(int errno_value)
{
    return errno_value == EFBIG || errno_value == EDQUOT;
}

/* Files that may not grow: a quota, RLIMIT_FSIZE, or what the file system can. To SQLite only ENOSPC is a full disk. */
static gboolean
set_growth_error(GError **error, sqlite3 *db)
{
    int number = find_errno(db, is_of_growth);

    if (number == 0)
        return FALSE;
    qd_error_set_errno(error, number, "cannot write '%s', or a file beside it", sqlite3_db_filename(db, "main"));
    return TRUE;
}

/* "disk I/O error" names neither the file nor the reason. */
static gboolean
set_disk_error(GError **error, sqlite3 *db, int meant)
{
    const char *path = sqlite3_db_filename(db, "main");
    gboolean reads = meant == SQLITE_IOERR_READ || sqlite3_extended_errcode(db) == SQLITE_IOERR_READ;
    int number = find_errno(db, qd_file_trouble_is_of_disk);

    if (number == 0 && reads) /* what SQLite has called damage is forgotten by now */
        number = EIO;
    if (number == 0 || path == NULL || path[0] == '\0')
        return FALSE;
    qd_file_trouble_set(error, number, "cannot %s '%s', or a file beside it", reads ? "read" : "write", path);
    return TRUE;
}

/* What SQLite calls an error of the disk, damage or no database may be what another program has cut off or replaced. */
static gboolean
set_file_error(GError **error, sqlite3 *db, int meant)
{
    int class = meant & 0xff;

    if (db == NULL)
        return FALSE;
    if (class == SQLITE_CANTOPEN)
        return set_open_error(error, db);
    if (class != SQLITE_IOERR && class != SQLITE_CORRUPT && class != SQLITE_NOTADB)
        return FALSE;
    return !qd_file_lengths_check_log(db, FALSE, error) || !qd_file_lengths_check_database(db, error) ||
           (class == SQLITE_IOERR && (set_growth_error(error, db) || set_disk_error(error, db, meant)));
}

/*
 * The code of a constraint that SQLite reports by another one. ALTER TABLE ADD COLUMN checks the rows in SQL of its own, whose
 * RAISE is a plain error: a text of the user never is. Virtual tables have no words of SQLite's, or its words without the extended
 * code.
 */
static int
find_constraint(int result, const char *message)
{
    static const struct {
        int result;
        const char *words;
        int meant;
    } constraints[] = {
        { SQLITE_ERROR, "CHECK constraint failed", SQLITE_CONSTRAINT_CHECK },
        { SQLITE_ERROR, "NOT NULL constraint failed", SQLITE_CONSTRAINT_NOTNULL },
        { SQLITE_ERROR, "type mismatch on DEFAULT", SQLITE_CONSTRAINT_DATATYPE },
        { SQLITE_CONSTRAINT_PRIMARYKEY, "constraint failed", SQLITE_CONSTRAINT_VTAB },
        { SQLITE_CONSTRAINT, "UNIQUE constraint failed: *", SQLITE_CONSTRAINT_VTAB },
        { SQLITE_CONSTRAINT, "rtree constraint failed: *", SQLITE_CONSTRAINT_VTAB },
    };

    for (guint i = 0; i < G_N_ELEMENTS(constraints); i++)
        if (constraints[i].result == result && g_pattern_match_simple(constraints[i].words, message))
            return constraints[i].meant;
    return result;
}

int
qd_sqlite_get_constraint(sqlite3 *db)
{
    return find_constraint(sqlite3_extended_errcode(db), sqlite3_errmsg(db));
}

/* SQLite's words. RAISE may give none: then those of the code. */
static const char *
get_words(sqlite3 *db, int meant, gboolean is_last)
{
    const char *words = is_last ? sqlite3_errmsg(db) : "";

    return words[0] != '\0' ? words : sqlite3_errstr(meant);
}

static void
set_error(GError **error, sqlite3 *db, int result, gboolean compiles, const char *text, size_t n_bytes, const QdLimits *limits)
{
    int meant = qd_sqlite_get_result(db, result);
    QwError code = qd_sqlite_get_code(meant);
    gboolean is_last = db != NULL && (sqlite3_errcode(db) & 0xff) == (meant & 0xff);
    g_autoptr(GString) message = g_string_new(get_words(db, meant, is_last));
    int offset = db != NULL ? sqlite3_error_offset(db) : -1;
    int constraint = is_last ? qd_sqlite_get_constraint(db) : meant;
    const char *kind;
    gboolean in_text;

    if (set_limit_error(error, db, result) || set_file_error(error, db, meant))
        return;
    if (meant == SQLITE_CORRUPT_VTAB)
        g_string_assign(message, "the index of a virtual table does not fit its content: rebuild it");
    in_text = compiles || offset >= 0;
    if (g_str_has_prefix(message->str, NO_COLUMN) && !in_text)
        in_text = text == NULL || !asks_virtual_table(db, text, n_bytes);
    if (is_last && !in_text && qd_sqlite_get_constraint_kind(constraint) != NULL)
        code = QW_ERROR_CONSTRAINT;
    if (code == QW_ERROR_SYNTAX && !refine_full_text(message, in_text, &code))
        code = refine_error(message, limits);

    if (text != NULL && offset >= 0 && (size_t) offset <= n_bytes)
        qd_error_set_at(error, code, text, n_bytes, (size_t) offset, "%s", message->str);
    else
        qd_error_set(error, code, "%s", message->str);
    if (code != QW_ERROR_CONSTRAINT || error == NULL)
        return;
    if (constraint == SQLITE_CONSTRAINT_TRIGGER && text != NULL && g_str_equal(message->str, KEY_FAILED) &&
        is_restrict(db, text, n_bytes))
        constraint = SQLITE_CONSTRAINT_FOREIGNKEY;
    kind = qd_sqlite_get_constraint_kind(constraint);
    if (kind != NULL) /* the index of a virtual table has none */
        qd_error_add_detail(*error, QD_CONSTRAINT_KIND, kind);
}

void
qd_sqlite_set_error(GError **error, sqlite3 *db, int result, const char *text, size_t n_bytes, const QdLimits *limits)
{
    set_error(error, db, result, FALSE, text, n_bytes, limits);
}

void
qd_sqlite_set_compile_error(GError **error, sqlite3 *db, int result, const char *text, size_t n_bytes, const QdLimits *limits)
{
    set_error(error, db, result, TRUE, text, n_bytes, limits);
}

/* SQLite's generic error, where the client has written nothing. Without memory some calls give it, too. */
static GError *
make_own_error(sqlite3 *db, int result)
{
    GError *failure = NULL;

    set_error(&failure, db, result, FALSE, NULL, 0, NULL);
    if (qd_error_get_code(failure) == QW_ERROR_SYNTAX)
        failure->code = (gint) (qd_memory_take_system_failure() ? QW_ERROR_NO_MEMORY : QW_ERROR_INTERNAL);
    return failure;
}

void
qd_sqlite_set_own_error(GError **error, sqlite3 *db, int result)
{
    g_propagate_error(error, make_own_error(db, result));
}

void
qd_sqlite_set_call_error(GError **error, sqlite3 *db, int result, const char *format, ...)
{
    g_autofree char *call = NULL;
    va_list args;

    va_start(args, format);
    call = g_strdup_vprintf(format, args);
    va_end(args);
    g_propagate_prefixed_error(error, make_own_error(db, result), "%s: ", call);
}

const char *
qd_sqlite_get_constraint_kind(int result)
{
    switch (result) {
    case SQLITE_CONSTRAINT_UNIQUE:
        return "unique";
    case SQLITE_CONSTRAINT_PRIMARYKEY:
        return "primary-key";
    case SQLITE_CONSTRAINT_ROWID:
        return "rowid";
    case SQLITE_CONSTRAINT_NOTNULL:
        return "not-null";
    case SQLITE_CONSTRAINT_CHECK:
        return "check";
    case SQLITE_CONSTRAINT_FOREIGNKEY:
        return "foreign-key";
    case SQLITE_CONSTRAINT_TRIGGER:
        return "trigger";
    case SQLITE_CONSTRAINT_DATATYPE:
    case SQLITE_MISMATCH: /* of a rowid, and of LIMIT */
        return "datatype";
    case SQLITE_CONSTRAINT_VTAB:
        return "virtual-table";
    default: /* SQLite's numbers, not our enum */
        return (result & 0xff) == SQLITE_CONSTRAINT ? "other" : NULL;
    }
}
