/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PRAGMA quick_check and integrity_check, each of one table.
 */
#include "daemon/recover/integrity.h"

#include <string.h>

#include "daemon/sqlite/sqlite-error.h"

#define PROGRESS_OPS 10000
#define MAX_MESSAGES 50u

typedef struct Stop {
    gboolean (*func)(gpointer data);
    gpointer data;
} Stop;

void
qd_integrity_init(QdIntegrity *self)
{
    self->done = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    self->messages = g_ptr_array_new_with_free_func(g_free);
    self->finished = FALSE;
}

void
qd_integrity_clear(QdIntegrity *self)
{
    g_clear_pointer(&self->done, g_hash_table_unref);
    g_clear_pointer(&self->messages, g_ptr_array_unref);
}

gboolean
qd_integrity_is_damage(const char *message)
{
    /* of SQLite's own words */
    static const char *const harmless[] = { "ok",   "NULL value in ",    "CHECK constraint failed in ",
                                            "non-", "NUMERIC value in ", "TEXT value in " };

    for (guint i = 0; i < G_N_ELEMENTS(harmless); i++)
        if (g_str_has_prefix(message, harmless[i]))
            return g_str_has_prefix(message, "non-unique entry");
    return TRUE;
}

static gboolean
is_corrupt(int r)
{
    return (r & 0xff) == SQLITE_CORRUPT || qd_sqlite_get_code(r) == QW_ERROR_CORRUPT;
}

static int
get_failure(const char *message)
{
    static const char words[] = "unable to get the page. error code=";
    const char *at = message;

    while ((at = strstr(at, words)) != NULL) {
        int code = (int) g_ascii_strtoll(at + strlen(words), NULL, 10);

        if (!is_corrupt(code))
            return code;
        at += strlen(words);
    }
    return 0;
}

/* What a row of a check says of the check itself. 0, or SQLite's code when a page could not be read, but not for damage. Then
 * it is not worth anything: pages that it has not seen "are never used". */
static int
judge_row(sqlite3 *db, const char *message)
{
    int failure = message != NULL ? get_failure(message) : SQLITE_NOMEM;
    int meant = SQLITE_CORRUPT;

    if (failure == 0 && qd_integrity_is_damage(message))
        meant = qd_sqlite_get_result(db, SQLITE_CORRUPT);
    return failure != 0 || is_corrupt(meant) ? failure : meant;
}

static int
compare_bytes(void *data, int n_left, const void *left, int n_right, const void *right)
{
    int r = memcmp(left, right, (size_t) MIN(n_left, n_right));

    return r != 0 ? r : n_left - n_right;
}

/* Any order will do: SQLite opens no index without one. */
static void
define_collation(void *data, sqlite3 *db, int encoding, const char *name)
{
    if (sqlite3_create_collation(db, name, encoding, NULL, compare_bytes) == SQLITE_OK)
        g_ptr_array_add(data, g_strdup(name));
}

static int
run_check(sqlite3 *db, const char *sql, QdIntegrityFunc func, gpointer data)
{
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_exec(db, "PRAGMA mmap_size=0; PRAGMA ignore_check_constraints=1", NULL, NULL, NULL);

    if (r == SQLITE_OK)
        r = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    while (r == SQLITE_OK || r == SQLITE_ROW) {
        const char *message;
        int failure = 0;

        r = sqlite3_step(stmt);
        if (r != SQLITE_ROW)
            break;
        message = (const char *) sqlite3_column_text(stmt, 0);
        failure = judge_row(db, message);
        if (failure == 0)
            func(message, data);
        else
            r = failure;
    }
    (void) sqlite3_finalize(stmt);
    return qd_sqlite_get_result(db, r);
}

/* SQLite's own bound for messages counts rows that break a constraint, too. */
static char *
write_check(const char *table, gboolean quick)
{
    const char *name = quick ? "quick_check" : "integrity_check";

    return table != NULL ? sqlite3_mprintf("PRAGMA %s(%Q)", name, table) : sqlite3_mprintf("PRAGMA %s(%d)", name, G_MAXINT32);
}

int
qd_integrity_query(sqlite3 *db, const char *table, gboolean quick, QdIntegrityFunc func, gpointer data)
{
    g_autoptr(GPtrArray) collations = g_ptr_array_new_with_free_func(g_free);
    char *sql = write_check(table, quick);
    int r;

    if (quick)
        (void) sqlite3_collation_needed(db, collations, define_collation);
    r = sql != NULL ? run_check(db, sql, func, data) : SQLITE_NOMEM;
    (void) sqlite3_collation_needed(db, NULL, NULL);
    for (guint i = 0; i < collations->len; i++)
        for (int encoding = SQLITE_UTF8; encoding <= SQLITE_UTF16BE; encoding++)
            (void) sqlite3_create_collation(db, collations->pdata[i], encoding, NULL, NULL);
    sqlite3_free(sql);
    return r;
}

static int
on_progress(void *data)
{
    const Stop *stop = data;

    return stop->func != NULL && stop->func(stop->data);
}

/* The next table that is not done: NULL at the end, or with an error. */
static char *
find_table(QdIntegrity *self, sqlite3 *db, int *ret_result)
{
    sqlite3_stmt *stmt = NULL;
    char *table = NULL;
    int r = sqlite3_prepare_v2(
        db, "SELECT 'sqlite_schema' UNION ALL SELECT name FROM sqlite_schema WHERE type='table' AND rootpage>0", -1, &stmt, NULL);

    while ((r == SQLITE_OK || r == SQLITE_ROW) && table == NULL) {
        r = sqlite3_step(stmt);
        if (r == SQLITE_ROW && !g_hash_table_contains(self->done, sqlite3_column_text(stmt, 0)))
            table = g_strdup((const char *) sqlite3_column_text(stmt, 0));
    }
    (void) sqlite3_finalize(stmt);
    *ret_result = qd_sqlite_get_result(db, r);
    return table;
}

typedef struct Finding {
    QdIntegrity *integrity;
    const char *table;
} Finding;

static void
note_damage(const char *message, gpointer data)
{
    const Finding *self = data;
    GPtrArray *messages = self->integrity->messages;

    if (messages->len < MAX_MESSAGES && qd_integrity_is_damage(message))
        g_ptr_array_add(messages, g_strdup_printf("%s: %s", self->table, message));
}

static int
check_table(QdIntegrity *self, sqlite3 *db, const char *table, gboolean quick)
{
    Finding finding = { self, table };

    return qd_integrity_query(db, table, quick, note_damage, &finding);
}

gboolean
qd_integrity_run(QdIntegrity *self, QdConnection *connection, gboolean quick, gboolean (*stop)(gpointer data), gpointer data,
                 GError **error)
{
    sqlite3 *db = qd_connection_get_db(connection);
    Stop watch = { stop, data };
    char *table;
    int r = SQLITE_OK;

    sqlite3_progress_handler(db, PROGRESS_OPS, on_progress, &watch);
    while (r != SQLITE_INTERRUPT && (table = find_table(self, db, &r)) != NULL) {
        r = on_progress(&watch) ? SQLITE_INTERRUPT : check_table(self, db, table, quick);
        if ((r & 0xff) == SQLITE_ERROR && !quick) /* an index calls what is not ours: the quick check does not compute its keys */
            r = check_table(self, db, table, TRUE);
        if ((r & 0xff) == SQLITE_ERROR) /* a column that must not be NULL does */
            r = SQLITE_DONE;
        if (r == SQLITE_DONE || is_corrupt(r)) {
            if (is_corrupt(r))
                g_ptr_array_add(self->messages, g_strdup_printf("%s: %s", table, sqlite3_errstr(r)));
            g_hash_table_add(self->done, table);
            continue;
        }
        g_free(table);
        break;
    }
    sqlite3_progress_handler(db, 0, NULL, NULL);
    if (is_corrupt(r) && self->messages->len == 0)
        g_ptr_array_add(self->messages, g_strdup(sqlite3_errstr(r)));
    self->finished = r == SQLITE_DONE || is_corrupt(r);
    if (self->finished || (r & 0xff) == SQLITE_INTERRUPT)
        return TRUE;
    qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
    return FALSE;
}
