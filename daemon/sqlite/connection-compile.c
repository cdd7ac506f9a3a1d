/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Statements of a connection: compiled under a policy and within a budget, kept in a cache.
 */
#include <string.h>

#include "daemon/base/access.h"
#include "daemon/sqlite/builtin/builtin.h"
#include "daemon/sqlite/connection-private.h"
#include "daemon/sqlite/guard/compile-seat.h"
#include "daemon/sqlite/guard/grants.h"
#include "daemon/sqlite/guard/opened-tables.h"
#include "daemon/sqlite/memory.h"
#include "daemon/sqlite/operation.h"
#include "daemon/sqlite/parameter-names.h"
#include "daemon/sqlite/sqlite-error.h"

#define NO_STATEMENT "1:1: the text has no statement: it is empty, or has only comments"
#define GENERATED_DEPTH_MAX 1000 /* of an expression in what we write; SQLite is compiled for so much */
#define HASHED_BYTES 64          /* at each end of a text */
/* Of statements kept by a connection that is not used. An INSERT of 60,000 rows of VALUES has 8 MB, and a client can send many. */
#define KEPT_BYTES (4u << 20)

void
qd_compiled_drop_wrapped(QdCompiled *compiled)
{
    (void) sqlite3_finalize(g_steal_pointer(&compiled->wrapped.stmt));
    (void) sqlite3_finalize(g_steal_pointer(&compiled->wrapped.ranged.stmt));
    g_clear_pointer(&compiled->wrapped.scan, g_free);
}

static void
compiled_free(QdCompiled *compiled)
{
    if (compiled == NULL)
        return;

    qd_compiled_drop_wrapped(compiled);
    (void) sqlite3_finalize(compiled->stmt);
    g_strfreev(compiled->write_tables);
    sqlite3_free(compiled->text);
    g_free(compiled);
}

/* FNV-1a over names and declared types, and whether it is volatile. */
static uint64_t
compute_signature(const QdCompiled *compiled)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) + (compiled->effects.is_volatile ? 1 : 0);
    sqlite3_stmt *stmt = compiled->stmt;
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
    compiled->schema_signature = compute_signature(compiled);
    return TRUE;
}

/* Texts of one length often begin alike, and differ in a constant near their end. */
static guint32
hash_ends(const char *text, gsize n_bytes)
{
    gsize n = MIN(n_bytes, HASHED_BYTES);
    guint32 hash = (guint32) n_bytes;

    for (gsize i = 0; i < n; i++)
        hash = hash * 31 + (guchar) text[i];
    for (gsize i = n_bytes - MIN(n_bytes - n, HASHED_BYTES); i < n_bytes; i++)
        hash = hash * 31 + (guchar) text[i];
    return hash;
}

static gboolean
is_compiled_from(const QdCompiled *self, const char *text, gsize n_bytes, QdPolicy policy, gboolean is_generated, guint64 grants_id)
{
    return self->n_text_bytes == n_bytes && self->policy == policy && self->is_generated == is_generated &&
           self->grants_id == grants_id && memcmp(self->text, text, n_bytes) == 0;
}

/* Its index, or as many as there are. What was used last is often asked for again: it is compared before anything is hashed. */
static guint
cache_find(const QdConnection *self, const char *text, gsize n_bytes, QdPolicy policy, gboolean is_generated)
{
    guint n = self->statements.n;
    guint32 hash;

    if (n > 0 && is_compiled_from(self->statements.items[n - 1], text, n_bytes, policy, is_generated, self->guard.grants.id))
        return n - 1;
    hash = hash_ends(text, n_bytes);
    for (guint i = n; i > 0; i--) {
        const QdCompiled *compiled = self->statements.items[i - 1];

        if (compiled->text_hash == hash && is_compiled_from(compiled, text, n_bytes, policy, is_generated, self->guard.grants.id))
            return i - 1;
    }
    return n;
}

gboolean
qd_connection_has_compiled(const QdConnection *self, const char *text, gsize n_bytes, QdPolicy policy)
{
    return cache_find(self, text, n_bytes, policy, FALSE) < self->statements.n;
}

/* @compiled: (transfer full) (nullable): it is out of the cache */
static void
forget(QdConnection *self, QdCompiled *compiled)
{
    if (compiled != NULL)
        self->n_statement_bytes -= compiled->n_bytes;
    compiled_free(compiled);
}

void
qd_connection_bound_statements(QdConnection *self)
{
    for (guint i = self->statements.n; i > 0 && self->n_statement_bytes > KEPT_BYTES; i--)
        if (((const QdCompiled *) self->statements.items[i - 1])->n_bytes > KEPT_BYTES / 4)
            forget(self, qw_recent_remove(&self->statements, i - 1));
    while (self->n_statement_bytes > KEPT_BYTES)
        forget(self, qw_recent_pop(&self->statements));
}

void
qd_connection_drop_statements(QdConnection *self)
{
    while (self->statements.n > 0)
        forget(self, qw_recent_pop(&self->statements));
}

const char *
qd_connection_skip_empty(const char *text, const char *end)
{
    while (text < end) {
        if (g_ascii_isspace(*text) || *text == ';') {
            text++;
        } else if (end - text >= 2 && text[0] == '-' && text[1] == '-') {
            while (text < end && *text != '\n')
                text++;
        } else if (end - text >= 2 && text[0] == '/' && text[1] == '*') {
            const char *close = memmem(text + 2, (size_t) (end - text - 2), "*/", 2);

            text = close != NULL ? close + 2 : end;
        } else {
            return text;
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
    if (qd_connection_skip_empty(text, text + n_bytes) == text + n_bytes) {
        qd_error_set(error, QW_ERROR_SYNTAX, NO_STATEMENT);
        return FALSE;
    }
    return TRUE;
}

static gboolean
check_compiled(const QdCompiled *compiled, const char *tail, GError **error)
{
    const char *end = compiled->text + compiled->n_text_bytes;

    if (qd_connection_skip_empty(tail, end) != end) {
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
prepare_within_budget(QdConnection *self, const char *text, gsize n_bytes, QdPolicy policy, int depth, gboolean is_generated,
                      const QdLimits *limits, sqlite3_stmt **ret_stmt, const char **ret_tail, GError **error)
{
    g_autofree char *simpler = NULL;
    QdBudgetVerdict verdict;
    QdCompileSeat seat;
    int r;

    if (!qd_parameter_names_drop_numbers(text, n_bytes, &simpler, error))
        return SQLITE_ERROR;
    qd_connection_take_compile_seat(self, &seat);
    (void) sqlite3_limit(self->db, SQLITE_LIMIT_EXPR_DEPTH, depth);
    qd_guard_begin(&self->guard, policy, limits);
    qd_memory_begin_budget(qd_limits_get(limits, QD_LIMIT_QUERY_MEMORY_BYTES), self->guard.compile_deadline_usec);
    self->runs_generated = is_generated;
    qd_connection_choose_optimizations(self);
    r = sqlite3_prepare_v3(self->db, simpler != NULL ? simpler : text, (int) n_bytes + 1, SQLITE_PREPARE_PERSISTENT, ret_stmt,
                           ret_tail);
    if (simpler != NULL && r == SQLITE_OK)
        *ret_tail = text + (*ret_tail - simpler);
    verdict = qd_memory_end_budget();
    qd_guard_end(&self->guard);
    qd_compile_seat_give(&seat);
    (void) sqlite3_limit(self->db, SQLITE_LIMIT_EXPR_DEPTH, GENERATED_DEPTH_MAX); /* to compile it again within a step */
    if (r != SQLITE_OK && verdict == QD_BUDGET_MEMORY_EXCEEDED)
        qd_limit_set_error(error, limits, QD_LIMIT_QUERY_MEMORY_BYTES,
                           "statement is too complex: it needs too much memory to compile");
    else if (r != SQLITE_OK && verdict == QD_BUDGET_TIME_EXCEEDED)
        qd_guard_set_time_error(&self->guard, error);
    else if ((r & 0xff) == SQLITE_NOMEM && verdict == QD_BUDGET_KEPT) /* so SQLite says it, though no allocation has failed */
        qd_limit_set_error(error, limits, QD_LIMIT_VDBE_OPS, "statement is too complex: its program is too long");
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
    compiled->effects = self->guard.effects;
    compiled->counts_rows = self->guard.rows_written != NULL && !self->guard.effects.defines;
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
    qd_limit_set_error(
        error, limits, limit,
        "the query nests too deep for the SQL that it becomes: write chains of BIND as one expression, or ask in parts");
    return TRUE;
}

/*
 * Whether the program is that of VACUUM, which the authorizer is not asked about. SQLite shows a program only by EXPLAIN of its
 * text. What cannot be shown, since the text is as long as it may be, runs within a transaction, where VACUUM fails.
 */
static gboolean
vacuums(QdConnection *self, const QdCompiled *compiled)
{
    const char *statement = qd_connection_skip_empty(compiled->text, compiled->text + compiled->n_text_bytes);
    g_autofree char *text = g_strconcat("EXPLAIN ", statement, NULL);
    QdPolicy policy = qd_connection_set_policy(self, QD_POLICY_INTERNAL);
    sqlite3_stmt *stmt = NULL;
    gboolean found = FALSE;
    QdOperation op;

    if (sqlite3_prepare_v2(self->db, text, -1, &stmt, NULL) == SQLITE_OK)
        while (!found && qd_operation_next(&op, stmt) == SQLITE_ROW)
            found = qd_operation_is(&op, "Vacuum");
    (void) sqlite3_finalize(stmt);
    (void) qd_connection_set_policy(self, policy);
    return found;
}

static gboolean
is_pragma(const char *statement)
{
    return g_ascii_strncasecmp(statement, "PRAGMA", strlen("PRAGMA")) == 0;
}

/* For a client to which single tables are granted. */
static gboolean
check_grants(QdConnection *self, const QdCompiled *compiled, GError **error)
{
    const char *statement = qd_connection_skip_empty(compiled->text, compiled->text + compiled->n_text_bytes);
    QdPolicy policy;
    gboolean ok;

    if (self->guard.grants.access == NULL)
        return TRUE;
    if (sqlite3_stmt_isexplain(compiled->stmt) && !qd_access_has_all(self->guard.grants.access, QD_ACCESS_READ))
        return qd_access_deny(self->guard.grants.access, error, "ask for plans: they show estimates of all data");
    /* a pragma by itself is a matter of names; EXPLAIN of one may do what it says */
    if (sqlite3_stmt_isexplain(compiled->stmt) || compiled->control != QD_CONTROL_NONE || is_pragma(statement))
        return TRUE;
    policy = qd_connection_set_policy(self, QD_POLICY_INTERNAL);
    ok = qd_grants_check_program(&self->guard.grants, self->db, statement, error);
    (void) qd_connection_set_policy(self, policy);
    return ok;
}

static gboolean
compile_text(QdConnection *self, QdCompiled *compiled, const QdLimits *limits, GError **error)
{
    int depth = compiled->is_generated ? GENERATED_DEPTH_MAX : (int) qd_limits_get(limits, QD_LIMIT_SQL_DEPTH);
    const char *tail = NULL;
    g_autoptr(GError) limit_error = NULL;
    int r = prepare_within_budget(self, compiled->text, compiled->n_text_bytes, compiled->policy, depth, compiled->is_generated,
                                  limits, &compiled->stmt, &tail, &limit_error);

    if (limit_error != NULL) {
        g_propagate_error(error, g_steal_pointer(&limit_error));
        return FALSE;
    }
    if (r == SQLITE_OK)
        (void) qd_guard_check_rows(&self->guard, compiled->stmt);
    if (qd_guard_get_denial(&self->guard, error))
        return FALSE;
    if (r != SQLITE_OK && compiled->is_generated && set_generated_error(self->db, limits, error))
        return FALSE;
    if (r != SQLITE_OK) {
        qd_sqlite_set_compile_error(error, self->db, r, compiled->text, compiled->n_text_bytes, limits);
        return FALSE;
    }
    if (compiled->stmt == NULL) {
        qd_error_set(error, QW_ERROR_SYNTAX, NO_STATEMENT);
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
    take_writes(self, compiled);
    compiled->schema_signature = compute_signature(compiled);
    compiled->runs_alone = compiled->writes && !compiled->asks && compiled->control == QD_CONTROL_NONE &&
                           compiled->write_tables[0] == NULL && vacuums(self, compiled);
    return check_compiled(compiled, tail, error) && check_grants(self, compiled, error);
}

static QdCompiled *
compile_anew(QdConnection *self, const char *text, gsize n_bytes, QdPolicy policy, gboolean is_generated, const QdLimits *limits,
             GError **error)
{
    gint64 balance = qd_memory_get_thread_balance();
    QdPolicy policy_before;
    QdCompiled *compiled;

    if (!check_text(text, n_bytes, error))
        return NULL;

    policy_before = qd_connection_set_policy(self, QD_POLICY_INTERNAL);
    qd_builtin_learn(self->db);
    (void) qd_connection_set_policy(self, policy_before);
    compiled = g_new0(QdCompiled, 1);
    compiled->policy = policy;
    compiled->grants_id = self->guard.grants.id;
    compiled->is_generated = is_generated;
    compiled->n_text_bytes = n_bytes;
    compiled->text_hash = hash_ends(text, n_bytes);
    compiled->text = sqlite3_malloc64(n_bytes + 1); /* it is kept as long as SQLite's own copy, within one limit */
    if (compiled->text == NULL) {
        qd_sqlite_set_error(error, NULL, SQLITE_NOMEM, NULL, 0, limits);
        compiled_free(compiled);
        return NULL;
    }
    memcpy(compiled->text, text, n_bytes);
    compiled->text[n_bytes] = '\0';
    if (!compile_text(self, compiled, limits, error)) {
        compiled_free(compiled);
        return NULL;
    }
    balance = qd_memory_get_thread_balance() - balance;
    compiled->n_bytes = (gsize) MAX(balance, 0);
    return compiled;
}

/* What the authorizer has not heard of. */
static gboolean
add_program_reads(QdConnection *self, const QdCompiled *compiled, GPtrArray *tables, GError **error)
{
    const char *statement = qd_connection_skip_empty(compiled->text, compiled->text + compiled->n_text_bytes);
    QdPolicy policy;
    int r;

    if (sqlite3_stmt_isexplain(compiled->stmt) || compiled->control != QD_CONTROL_NONE || is_pragma(statement))
        return TRUE;
    policy = qd_connection_set_policy(self, QD_POLICY_INTERNAL);
    r = qd_opened_tables_add(self->db, statement, tables);
    (void) qd_connection_set_policy(self, policy);
    if (r != SQLITE_OK)
        qd_sqlite_set_error(error, self->db, r, NULL, 0, NULL);
    return r == SQLITE_OK;
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
    compiled = compile_anew(self, text, n_bytes, QD_POLICY_READ, FALSE, limits, error);
    if (compiled == NULL)
        return NULL;
    compiled_free(compiled);

    self->guard.read_tables = tables;
    compiled = compile_anew(self, text, n_bytes, QD_POLICY_READ, FALSE, limits, error);
    self->guard.read_tables = NULL;
    if (compiled == NULL)
        return NULL;

    if (self->guard.tells)
        g_ptr_array_add(tables, g_strdup("pragma_")); /* as its function would be called */
    else if (!add_program_reads(self, compiled, tables, error))
        g_clear_pointer(&tables, g_ptr_array_unref);
    compiled_free(compiled);
    return g_steal_pointer(&tables);
}

/* Whether the schema could not be read in time. */
static gboolean
is_late(const QdConnection *self)
{
    return self->guard.caller_end_usec > 0 && qd_schema_watch_is_behind(&self->schema) &&
           (uint64_t) g_get_monotonic_time() > self->guard.caller_end_usec;
}

static QdCompiled *
find_or_compile(QdConnection *self, const char *text, gsize n_bytes, QdPolicy policy, gboolean is_generated, const QdLimits *limits,
                GError **error)
{
    g_autoptr(GError) failure = NULL;
    QdCompiled *compiled;
    guint index;

    qd_schema_watch_follow(&self->schema, FALSE);
    if (is_late(self)) {
        self->guard.compile_deadline_usec = self->guard.caller_end_usec;
        qd_guard_set_time_error(&self->guard, error);
        return NULL;
    }
    index = cache_find(self, text, n_bytes, policy, is_generated);
    compiled = index < self->statements.n ? self->statements.items[index] : NULL;
    /* SQLite compiles a statement again when it runs, but shows the program that it has */
    if (compiled != NULL && sqlite3_stmt_isexplain(compiled->stmt))
        qd_schema_watch_follow(&self->schema, TRUE);
    if (compiled != NULL && compiled->schema_clock == self->schema.clock) {
        qw_recent_use(&self->statements, index);
        self->runs_generated = is_generated;
        (void) qd_connection_set_policy(self, policy);
        qd_guard_forget_denial(&self->guard);
        return compiled;
    }
    if (compiled != NULL)
        forget(self, qw_recent_remove(&self->statements, index));
    qd_connection_bound_statements(self);
    compiled = compile_anew(self, text, n_bytes, policy, is_generated, limits, &failure);
    if (compiled == NULL && qd_schema_watch_was_old(&self->schema)) {
        g_clear_error(&failure);
        compiled = compile_anew(self, text, n_bytes, policy, is_generated, limits, &failure);
    }
    if (compiled == NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return NULL;
    }
    compiled->schema_clock = self->schema.clock;
    self->n_statement_bytes += compiled->n_bytes;
    forget(self, qw_recent_add(&self->statements, compiled));
    return compiled;
}

/*
 * A look at the schema that gets no memory ends the transaction of the connection. The statement would run outside of it, and
 * stay there when its batch fails.
 */
static QdCompiled *
compile(QdConnection *self, const char *text, gsize n_bytes, QdPolicy policy, gboolean is_generated, const QdLimits *limits,
        GError **error)
{
    gboolean outside = sqlite3_get_autocommit(self->db);
    QdCompiled *compiled = find_or_compile(self, text, n_bytes, policy, is_generated, limits, error);

    if (compiled == NULL || outside || !sqlite3_get_autocommit(self->db))
        return compiled;
    qd_sqlite_set_error(error, NULL, SQLITE_NOMEM, NULL, 0, limits);
    return NULL;
}

void
qd_connection_set_compile_end(QdConnection *self, uint64_t end_usec, uint64_t timeout_msec)
{
    self->guard.caller_end_usec = end_usec;
    self->guard.caller_msec = timeout_msec;
}

void
qd_connection_set_compile_owner(QdConnection *self, const void *owner)
{
    self->compile_owner = owner;
}

void
qd_connection_take_compile_seat(const QdConnection *self, QdCompileSeat *ret_seat)
{
    uint64_t end_usec = self->guard.caller_end_usec;

    qd_compile_seat_take(ret_seat, self->compile_owner, end_usec > 0 ? end_usec : UINT64_MAX);
}

QdCompiled *
qd_connection_compile(QdConnection *self, const char *text, gsize n_bytes, QdPolicy policy, const QdLimits *limits, GError **error)
{
    if (!check_size("statement", n_bytes, QD_LIMIT_STATEMENT_TEXT_BYTES, limits, error))
        return NULL;
    return compile(self, text, n_bytes, policy, FALSE, limits, error);
}

QdCompiled *
qd_connection_compile_generated(QdConnection *self, const char *text, const QdLimits *limits, GError **error)
{
    if (!check_size("SQL for the query (fewer variables or patterns make it shorter)", strlen(text), QD_LIMIT_SPARQL_SQL_BYTES,
                    limits, error))
        return NULL;
    return compile(self, text, strlen(text), QD_POLICY_READ, TRUE, limits, error);
}

sqlite3_stmt *
qd_connection_prepare(QdConnection *self, const char *text, QdPolicy policy, gboolean is_generated, const QdLimits *limits)
{
    gboolean runs_generated = self->runs_generated;
    sqlite3_stmt *stmt = NULL;
    const char *tail;
    int r = prepare_within_budget(self, text, strlen(text), policy, GENERATED_DEPTH_MAX, is_generated, limits, &stmt, &tail, NULL);

    self->runs_generated = runs_generated;
    qd_connection_choose_optimizations(self);
    return r == SQLITE_OK ? stmt : NULL;
}
