/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Statements in one call of full text that nothing else ends.
 */
#include "daemon/sqlite/builtin/forced-return.h"

#include <malloc.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/base/thread.h"
#include "daemon/sqlite/interrupter.h"
#include "daemon/sqlite/memory.h"

#define N_WORDS 150000
#define OVER_USEC 250000 /* of the processor: by then the statement is in its call */
/* Alone most of them take longer. Those that do not still have to be forced. */
#define END_USEC 8000000
#define N_ROUNDS 2
/* Small lists of what was searched are lost. */
#define LOST_BYTES 65536

typedef struct Case {
    const char *name;
    const char *module;
    const char *before; /* the words of the search */
    guint n_words;
    const char *after;
    gboolean grows; /* it allocates, which fails at its end: nothing has to be forced */
} Case;

static const Case cases[] = {
    { "near", "fts5", "SELECT count(*) FROM t WHERE t MATCH 'NEAR(", 200, ")'" },
    { "near-in-update", "fts5", "DELETE FROM t WHERE t MATCH 'NEAR(", 200, ")'" },
    { "matchinfo", "fts4", "SELECT hex(matchinfo(t, 's')) FROM t WHERE t MATCH '", 200, "'" },
    { "offsets", "fts4", "SELECT length(offsets(t)) FROM t WHERE t MATCH '", 200, "'", TRUE },
    { "snippet", "fts4", "SELECT length(snippet(t, '', '', '', -1, 64)) FROM t WHERE t MATCH '", 60, "'" },
    { "matchinfo-of-fts3", "fts3", "SELECT hex(matchinfo(t, 's')) FROM t WHERE t MATCH '", 200, "'" },
};

typedef struct Statement {
    QdWatch watch;
    uint64_t end_cpu_usec;
} Statement;

static QdInterrupter *
new_interrupter(void)
{
    QdInterrupter *interrupter = qd_interrupter_new(NULL, NULL, NULL);

    qd_interrupter_set_force(interrupter, qd_forced_return_request);
    return interrupter;
}

static gboolean
is_over(void *data, uint64_t now_usec)
{
    const Statement *self = data;

    return qd_thread_get_cpu_usec(self->watch.thread) >= self->end_cpu_usec;
}

static gboolean
look(void *data)
{
    return is_over(data, (uint64_t) g_get_monotonic_time());
}

static void
execute(sqlite3 *db, const char *sql)
{
    g_assert_cmpint(sqlite3_exec(db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
}

static char *
repeat_word(guint n)
{
    GString *words = g_string_new(NULL);

    for (guint i = 0; i < n; i++)
        g_string_append(words, "a ");
    return g_string_free(words, FALSE);
}

static sqlite3 *
open_table(const char *module)
{
    g_autofree char *create = g_strdup_printf("CREATE VIRTUAL TABLE t USING %s(body)", module);
    g_autofree char *document = repeat_word(N_WORDS);
    sqlite3_stmt *stmt = NULL;
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    execute(db, create);
    g_assert_cmpint(sqlite3_prepare_v2(db, "INSERT INTO t VALUES(?1)", -1, &stmt, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_bind_text(stmt, 1, document, -1, SQLITE_STATIC), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_DONE);
    (void) sqlite3_finalize(stmt);
    return db;
}

/* A function that was made to return has given NULL. Returns: the last step's */
static int
run(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    int r;

    g_assert_cmpint(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), ==, SQLITE_OK);
    while ((r = sqlite3_step(stmt)) == SQLITE_ROW)
        ;
    (void) sqlite3_finalize(stmt);
    return r;
}

static void
test_ends(gconstpointer data)
{
    const Case *self = data;
    g_autofree char *words = repeat_word(self->n_words);
    g_autofree char *sql = g_strconcat(self->before, words, self->after, NULL);
    int64_t before = qd_memory_get_thread_balance();
    QdInterrupter *interrupter;
    sqlite3 *db;

    if (!qd_forced_return_is_possible()) {
        g_test_skip("no call is made to return here");
        return;
    }
    interrupter = new_interrupter();
    db = open_table(self->module);
    for (guint i = 0; i < N_ROUNDS; i++) {
        uint64_t start = qd_thread_get_cpu_usec(qd_thread_get_self());
        uint64_t used;
        int r;
        Statement statement = { .watch = { .interrupt = { .look = look, .data = &statement }, .db = db, .is_over = is_over },
                                .end_cpu_usec = start + OVER_USEC };

        qd_interrupter_begin(interrupter, &statement.watch);
        r = run(db, sql);
        qd_interrupter_end(interrupter, &statement.watch);
        used = qd_thread_get_cpu_usec(qd_thread_get_self()) - start;
        g_test_message("%s: %d after %" G_GUINT64_FORMAT " us", self->name, r, used);
        g_assert_true(r == SQLITE_INTERRUPT || (self->grows && r == SQLITE_NOMEM));
        g_assert_true(self->grows || (statement.watch.interrupt.was_forced && statement.watch.interrupt.has_lost));
        g_assert_cmpuint(used, <, END_USEC);
    }
    execute(db, "DELETE FROM t WHERE t MATCH 'b'"); /* only for the test: its structures are as they should be */
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
    g_assert_cmpint(qd_memory_get_thread_balance() - before, <, N_ROUNDS * LOST_BYTES);
    (void) qd_interrupter_free(interrupter);
}

/* Thousands of calculations with one value, and no jump between them. */
static void
test_program(gconstpointer data)
{
    const char *calculation = data;
    g_autoptr(GString) sql = g_string_new("SELECT 1");
    QdInterrupter *interrupter;
    Statement statement = { .watch = { .interrupt = { .look = look, .data = &statement }, .is_over = is_over } };
    uint64_t start;
    uint64_t used;
    sqlite3 *db = NULL;
    int r;

    if (!qd_forced_return_is_possible()) {
        g_test_skip("no program is ended here");
        return;
    }
    interrupter = new_interrupter();
    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    execute(db, "CREATE TABLE t(x); INSERT INTO t VALUES(printf('%020000000d', 1)); CREATE TABLE log(y)");
    execute(db, "CREATE TRIGGER r AFTER INSERT ON log BEGIN UPDATE log SET y = y + 1; END");
    for (guint i = 0; i < 1900; i++)
        g_string_append_printf(sql, ", %s + %u", calculation, i);
    g_string_append(sql, " FROM t");
    statement.watch.db = db;
    start = qd_thread_get_cpu_usec(qd_thread_get_self());
    statement.end_cpu_usec = start + OVER_USEC;
    qd_interrupter_begin(interrupter, &statement.watch);
    r = run(db, sql->str);
    qd_interrupter_end(interrupter, &statement.watch);
    used = qd_thread_get_cpu_usec(qd_thread_get_self()) - start;
    g_test_message("%s: %d after %" G_GUINT64_FORMAT " us", calculation, r, used);
    g_assert_cmpint(r, ==, SQLITE_INTERRUPT);
    g_assert_true(statement.watch.interrupt.was_forced);
    g_assert_false(statement.watch.interrupt.has_lost);
    g_assert_cmpuint(used, <, END_USEC);
    execute(db, "INSERT INTO log VALUES(1)"); /* other statements are as they were */
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
    (void) qd_interrupter_free(interrupter);
}

/* No statement is in a call of full text: the requests do nothing. */
static void
test_touches_nothing_else(void)
{
    static const char sql[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000000) "
                              "SELECT count(DISTINCT i % 1000), max(hex(i)) FROM n ORDER BY 1";
    sqlite3_stmt *stmt = NULL;
    Statement statement = { .watch = { .interrupt = { .look = look, .data = &statement }, .is_over = is_over } };
    QdInterrupter *interrupter = new_interrupter();
    sqlite3 *other = NULL;
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_open(":memory:", &other), ==, SQLITE_OK);
    statement.watch.db = other; /* which is interrupted */
    g_assert_cmpint(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), ==, SQLITE_OK);
    qd_interrupter_begin(interrupter, &statement.watch);
    g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_ROW);
    qd_interrupter_end(interrupter, &statement.watch);
    g_assert_false(statement.watch.interrupt.was_forced);
    g_assert_cmpint(sqlite3_column_int(stmt, 0), ==, 1000);
    (void) sqlite3_finalize(stmt);
    (void) sqlite3_close(db);
    (void) sqlite3_close(other);
    (void) qd_interrupter_free(interrupter);
}

int
main(int argc, char **argv)
{
    int r;

    g_test_init(&argc, &argv, NULL);
    (void) mallopt(M_PERTURB, 0); /* else each realloc() that grows fills all that is free after it */
    g_assert_true(qd_memory_init(NULL));
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strconcat("/sqlite/forced-return/", cases[i].name, NULL);

        g_test_add_data_func(path, &cases[i], test_ends);
    }
    g_test_add_data_func("/sqlite/forced-return/program-of-sums", "x", test_program);
    g_test_add_data_func("/sqlite/forced-return/program-of-casts", "CAST(x AS REAL)", test_program);
    g_test_add_data_func("/sqlite/forced-return/program-of-calls", "abs(x)", test_program);
    g_test_add_func("/sqlite/forced-return/touches-nothing-else", test_touches_nothing_else);
    r = g_test_run();
    (void) fflush(NULL);
    _Exit(r); /* LeakSanitizer would report what the calls have lost */
}
