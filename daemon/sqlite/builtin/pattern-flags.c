/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LIKE: PRAGMA case_sensitive_like registers SQLite's own like() and then flags what goes by that name. While a statement runs
 * nothing can be registered, so that the flags go to ours.
 *
 * GLOB: nothing flags a function of that name. The flags are set where SQLite keeps them, and only when all that is known of the
 * place is found there. Which bits they are is seen from what the pragma does to like().
 */
#include "daemon/sqlite/builtin/pattern-flags.h"

#include "daemon/sqlite/sqlite-error.h"

#define POINTER_TYPE "queryd-pattern-flags"
#define ENCODINGS 3u

/* The begin of sqlite3_context. */
typedef struct Context {
    void *result;
    QdDefinition *definition;
} Context;

/* What a call is to find out and to do. */
typedef struct Visit {
    const QdPatternFunction *function;
    guint32 bits; /* to set */
    gboolean is_done;
    guint32 flags; /* after it */
} Visit;

/* Of the process. */
typedef struct Support {
    gboolean like;
    guint32 glob_bits; /* 0: glob() stays SQLite's */
} Support;

/* What is registered. */
typedef struct Functions {
    const QdPatternFunction *like;
    const QdPatternFunction *glob;
} Functions;

void
qd_pattern_flags_visit(sqlite3_context *context, sqlite3_value *first_arg)
{
    Visit *visit = sqlite3_value_pointer(first_arg, POINTER_TYPE);
    QdDefinition *definition;

    if (visit == NULL || !qd_builtin_is_known())
        return;

    definition = ((Context *) (void *) context)->definition;
    if (definition->user_data != sqlite3_user_data(context) || definition->call != visit->function->call ||
        (definition->flags & ENCODINGS) != SQLITE_UTF8 || (definition->flags & SQLITE_DETERMINISTIC) == 0)
        return;
    definition->flags |= visit->bits;
    visit->flags = definition->flags;
    visit->is_done = TRUE;
}

/* FALSE: @name is not ours, or SQLite keeps its functions in a way that is not known. */
static gboolean
visit_function(sqlite3 *db, const char *sql, const QdPatternFunction *function, guint32 bits, guint32 *ret_flags)
{
    Visit visit = { .function = function, .bits = bits };
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_bind_pointer(stmt, 1, &visit, POINTER_TYPE, NULL) == SQLITE_OK)
        (void) sqlite3_step(stmt);
    (void) sqlite3_finalize(stmt);
    if (visit.is_done && ret_flags != NULL)
        *ret_flags = visit.flags;
    return visit.is_done;
}

/* @function: (nullable): NULL: SQLite's own is to be called again */
static int
create_function(sqlite3 *db, const char *name, int n_args, const QdPatternFunction *function)
{
    return sqlite3_create_function_v2(db, name, n_args, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                      function != NULL ? (void *) function->data : NULL, function != NULL ? function->call : NULL,
                                      NULL, NULL, NULL);
}

/* Flags both forms of like(), as long as it is registered. */
static gboolean
flag_like(sqlite3 *db, const char *pragma)
{
    sqlite3_stmt *running = NULL;
    gboolean ok = sqlite3_prepare_v2(db, "SELECT 1 UNION ALL SELECT 2", -1, &running, NULL) == SQLITE_OK &&
                  sqlite3_step(running) == SQLITE_ROW && sqlite3_exec(db, pragma, NULL, NULL, NULL) == SQLITE_OK;

    (void) sqlite3_finalize(running);
    return ok;
}

static int
create_like(sqlite3 *db, const QdPatternFunction *like)
{
    int r = create_function(db, "like", 2, like);

    return r == SQLITE_OK ? create_function(db, "like", 3, like) : r;
}

/* Whether the only row is found without a scan. */
static gboolean
uses_index(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    gboolean ok = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW &&
                  sqlite3_step(stmt) == SQLITE_DONE && sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_FULLSCAN_STEP, FALSE) == 0;

    (void) sqlite3_finalize(stmt);
    return ok;
}

#define VISIT_LIKE "SELECT like(?1, '')"
#define VISIT_GLOB "SELECT glob(?1, '')"

/* The bits that make a function one like GLOB, which minds case: those that the pragma sets. 0: not known. */
static guint32
find_glob_bits(sqlite3 *db, const QdPatternFunction *like)
{
    guint32 before;
    guint32 after;

    if (create_like(db, like) != SQLITE_OK || !visit_function(db, VISIT_LIKE, like, 0, &before) ||
        !flag_like(db, "PRAGMA case_sensitive_like=1") || !visit_function(db, VISIT_LIKE, like, 0, &after))
        return 0;
    return (after & before) == before ? after ^ before : 0;
}

static void
try_functions(sqlite3 *db, const Functions *self, Support *ret)
{
    guint32 bits = find_glob_bits(db, self->like);

    if (sqlite3_exec(db,
                     "CREATE TABLE t (a TEXT COLLATE NOCASE, b TEXT); CREATE INDEX i ON t (a); CREATE INDEX j ON t (b); "
                     "INSERT INTO t VALUES ('abc1', 'abc1'), ('b', 'b'), ('c', 'c')",
                     NULL, NULL, NULL) != SQLITE_OK)
        return;
    ret->like = create_like(db, self->like) == SQLITE_OK && flag_like(db, "PRAGMA case_sensitive_like=0") &&
                uses_index(db, "SELECT a FROM t WHERE a LIKE 'ab%1'") &&
                uses_index(db, "SELECT a FROM t WHERE a LIKE 'ab%1' ESCAPE 'x'");
    if (bits != 0 && create_function(db, "glob", 2, self->glob) == SQLITE_OK &&
        visit_function(db, VISIT_GLOB, self->glob, bits, NULL) && uses_index(db, "SELECT b FROM t WHERE b GLOB 'ab*1'"))
        ret->glob_bits = bits;
}

static gpointer
find_support(gpointer data)
{
    static Support support;
    sqlite3 *db = NULL;

    if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, NULL) == SQLITE_OK)
        try_functions(db, data, &support);
    (void) sqlite3_close(db);
    return &support;
}

gboolean
qd_pattern_flags_register(sqlite3 *db, const QdPatternFunction *like, const QdPatternFunction *glob, GError **error)
{
    static GOnce once = G_ONCE_INIT;
    Functions self = { like, glob };
    const Support *support = g_once(&once, find_support, &self);
    int r = SQLITE_OK;

    if (support->like) {
        r = create_like(db, like);
        if (r == SQLITE_OK && !flag_like(db, "PRAGMA case_sensitive_like=0"))
            r = SQLITE_ERROR;
    }
    if (r == SQLITE_OK && support->glob_bits != 0) {
        r = create_function(db, "glob", 2, glob);
        if (r == SQLITE_OK && !visit_function(db, VISIT_GLOB, glob, support->glob_bits, NULL))
            r = create_function(db, "glob", 2, NULL);
    }
    if (r == SQLITE_OK)
        return TRUE;

    qd_sqlite_set_call_error(error, db, r, "cannot register functions 'like' and 'glob'");
    return FALSE;
}
