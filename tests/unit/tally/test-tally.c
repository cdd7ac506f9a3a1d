/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs of tallies on a small store, what is no program, and columns that change or do not fit. Patterns of SPARQL are compared
 * with joins in test-sqlgen-tally.c.
 */
#include "daemon/tally/tally.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/interrupt.h"
#include "daemon/tally/tally-changes.h"
#include "tests/unit/tally/tally-store.h"

#define N_GARBAGE 20000
#define CACHE_BYTES 1048576

static QdTallyTerms *terms; /* of the store opened last */

/* "value:n …", of pairs "value/other:n …", or the error. The ids are 100, 200, 300, 0, 4, 8. */
static char *
run(sqlite3 *db, const char *program)
{
    g_autoptr(GString) out = g_string_new(NULL);
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_prepare_v2(db, "SELECT value, n, other FROM queryd_tally(?1, queryd_tally_ids(100, 200, 300, NULL, 4, 8))", -1,
                               &stmt, NULL);

    g_assert_cmpint(r, ==, SQLITE_OK);
    (void) sqlite3_bind_text(stmt, 1, program, -1, SQLITE_STATIC);
    while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
        g_string_append_printf(out, "%s%lld", out->len > 0 ? " " : "", sqlite3_column_int64(stmt, 0));
        if (program[0] == ':')
            g_string_append_printf(out, "/%lld", sqlite3_column_int64(stmt, 2));
        g_string_append_printf(out, ":%lld", sqlite3_column_int64(stmt, 1));
    }
    if (r != SQLITE_DONE)
        g_string_assign(out, sqlite3_errmsg(db));
    (void) sqlite3_finalize(stmt);
    return g_string_free(g_steal_pointer(&out), FALSE);
}

static void
check(sqlite3 *db, const char *program, const char *expected)
{
    g_autofree char *result = run(db, program);

    g_test_message("%.20s", program);
    g_assert_cmpstr(result, ==, expected);
}

static void
test_programs(void)
{
    sqlite3 *db = tally_store_open(CACHE_BYTES, &terms);

    tally_store_change(
        db, "INSERT INTO queryd_quad VALUES (4,100,8,0),(4,100,12,0),(8,100,8,0),(-9,100,12,0),(8,200,16,0),(8,200,20,0),"
            "(12,200,16,0),(20,300,4,0)");
    check(db, "=s00", "-9:1 4:2 8:1");
    check(db, "=o00", "8:2 12:2");
    check(db, "=u00", "-9:1 4:1 8:1");
    check(db, "=v00", "8:1 12:1");
    check(db, "=S00s01", "-9:1 4:3 8:2");
    check(db, "=O01s00", "16:1 20:1");
    check(db, "=c0005", "4:1 8:1");
    check(db, "=d0004", "8:1 12:1");
    check(db, "=c0003", "");
    check(db, "=e00", "8:1");
    check(db, "=n00", "-9:1 4:2");
    check(db, "=*s00s01", "8:2");
    check(db, "=+s00s01", "-9:1 4:2 8:3 12:1");
    check(db, "=?s00s01", "-9:1 4:2 8:2");
    check(db, "=-s00s01", "-9:1 4:2");
    check(db, "=&s00s01", "8:1");
    check(db, "=s03", "");
    check(db, "=S00s03", "");
    check(db, "=p0", "100:4 200:3 300:1");
    check(db, "#s00", "0:4");
    check(db, "$o00", "0:2");
    check(db, "#S00s01", "0:6");
    check(db, "#s03", "0:0");
    /* another graph's quads are not counted */
    tally_store_change(db, "INSERT INTO queryd_quad VALUES (4,100,8,7),(16,100,8,7)");
    check(db, "#s00", "0:4");
    check(db, "$s00", "0:3");
    check(db, "=p0", "100:4 200:3 300:1");
    tally_store_change(db, "DELETE FROM queryd_quad WHERE s=4 AND g=0");
    check(db, "=s00", "-9:1 8:1");
    check(db, "=p0", "100:2 200:3 300:1");
    tally_store_change(db, "DELETE FROM queryd_quad");
    check(db, "=s00", "");
    check(db, "=p0", "");
    (void) sqlite3_close(db);
}

static void
test_pairs(void)
{
    sqlite3 *db = tally_store_open(CACHE_BYTES, &terms);

    tally_store_change(
        db, "INSERT INTO queryd_quad VALUES (4,100,8,0),(4,100,12,0),(8,100,8,0),(-9,100,12,0),(8,200,16,0),(8,200,20,0),"
            "(12,200,16,0),(20,300,4,0)");
    check(db, ":.s00.", "-9/12:1 4/8:1 4/12:1 8/8:1");
    check(db, ":.o00.", "8/4:1 8/8:1 12/-9:1 12/4:1");
    check(db, ":.s00.s01.", "-9/16:1 4/16:2 4/20:1 8/16:1 8/20:1");
    check(db, ":.o01.o00.", "16/4:2 16/8:1 16/-9:1 20/4:1 20/8:1");
    check(db, ":.o00.s00.", "8/8:2 8/12:1 12/12:2 12/8:1");
    check(db, ":c0005s00.", "4/8:1 4/12:1 8/8:1");
    check(db, ":.s00c0104s01.", "");
    check(db, ":.s00.s01o02", "");
    check(db, ":.s00s01s01.", "-9/16:1 4/16:3 4/20:2 8/16:2 8/20:2");
    check(db, ":s00o02.s00.", "");
    check(db, ":.s00.s01o01", "-9/16:2 4/16:4 4/20:1 8/16:2 8/20:1");
    check(db, ":.s03.s01.", "");
    check(db, ":.s00.s03.", "");
    check(db, ":.o02.o02.", "");
    tally_store_change(db, "DELETE FROM queryd_quad");
    check(db, ":.s00.s01.", "");
    (void) sqlite3_close(db);
}

static const char *const wrong[] = { "",
                                     "=",
                                     "s00",
                                     "=s",
                                     "=s0",
                                     "=s06",
                                     "=*s00",
                                     "=s00s00",
                                     "=p",
                                     "=p9",
                                     "=c00",
                                     "%s00",
                                     ":",
                                     ":.",
                                     ":.s00",
                                     "@",
                                     "@=",
                                     "@u00",
                                     "@u00.=",
                                     "@u00sA00=",
                                     "@u00sB00.=",
                                     "@u00sA00.=C",
                                     "@u00~sA00s00=B",
                                     "@u00~sA00.sB00.=",
                                     "%u00sA00.=B",
                                     "@u00sA00.=BBBBBB",
                                     "=f0",
                                     "=f00",
                                     "=f05",
                                     ":.u00.",
                                     ":.s00.=",
                                     ":s00",
                                     ":.s06.",
                                     ":.s00.s00.s00.s00.s00.s00.s00.s00.s00." };

static void
test_garbage(void)
{
    static const char letters[] = "souvSOenpfcd*+?-&=#$:.~AB@%012345";
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    g_autoptr(GString) deep = g_string_new("=");
    sqlite3 *db = tally_store_open(CACHE_BYTES, &terms);

    tally_store_change(db, "INSERT INTO queryd_quad VALUES (4,100,8,0),(8,200,4,0)");
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++)
        check(db, wrong[i], "queryd_tally: not a program and its ids");
    for (guint i = 0; i < 10000; i++)
        g_string_append(deep, "S00");
    check(db, deep->str, "queryd_tally: not a program and its ids");
    for (guint i = 0; i < N_GARBAGE; i++) {
        char program[24] = "=";
        gsize n = (gsize) g_rand_int_range(rand, 1, 22);
        g_autofree char *result = NULL;

        for (gsize j = 1; j < n; j++)
            program[j] = letters[g_rand_int_range(rand, 0, sizeof letters - 1)];
        if (i % 2 == 0)
            memcpy(program, ":.s00", 5);
        if (i % 3 == 0)
            memcpy(program, "@u00sA00", 8);
        result = run(db, program);
    }
    g_assert_cmpint(sqlite3_exec(db, "SELECT * FROM queryd_tally('=s00', NULL)", NULL, NULL, NULL), ==, SQLITE_RANGE);
    g_assert_cmpint(sqlite3_exec(db, "SELECT * FROM queryd_tally", NULL, NULL, NULL), ==, SQLITE_ERROR);
    (void) sqlite3_close(db);
}

/* A file that was not stepped up: columns are read, and none is kept. */
static void
test_unstamped(void)
{
    sqlite3 *db = tally_store_open(CACHE_BYTES, &terms);

    tally_store_change(db, "INSERT INTO queryd_quad VALUES (4,100,8,0),(8,200,4,0)");
    g_assert_cmpint(sqlite3_exec(db, "ALTER TABLE queryd_predicate DROP COLUMN stamp", NULL, NULL, NULL), ==, SQLITE_OK);
    check(db, "=S00s01", "4:1");
    check(db, "=S01s00", "8:1");
    g_assert_cmpint(sqlite3_exec(db,
                                 "INSERT INTO queryd_quad VALUES (12,200,4,0); UPDATE queryd_predicate SET n_quads=3, "
                                 "n_subjects=3",
                                 NULL, NULL, NULL),
                    ==, SQLITE_OK);
    check(db, "=S01s00", "8:1 12:1");
    (void) sqlite3_close(db);
}

static gboolean
end_at_once(void *data)
{
    return TRUE;
}

/* Ids of all kinds in any order: by subject and by object the same pairs. */
static void
test_large(void)
{
    sqlite3 *db = tally_store_open(CACHE_BYTES, &terms);
    QdInterrupt interrupt = { .is_always_due = TRUE, .look = end_at_once };
    g_autofree char *sums = NULL;

    tally_store_change(
        db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20000) INSERT OR IGNORE INTO queryd_quad "
            "SELECT (i*7919%5000)*4-(i%7=0)*9000000000000000000, 100, (i*104729%3000)*4-(i%5=0)*9000000000000000000, 0 FROM n");
    sums = run(db, "#S00o00");
    g_assert_cmpstr(sums, !=, "0:0");
    g_assert_cmpint(
        sqlite3_exec(db,
                     "CREATE TABLE result AS SELECT value, n FROM queryd_tally('=s00', queryd_tally_ids(100));"
                     "CREATE TABLE joined AS SELECT s, count(*) AS n FROM queryd_quad GROUP BY s;"
                     "INSERT INTO result SELECT value, n FROM queryd_tally('=O00s00', queryd_tally_ids(100));"
                     "INSERT INTO joined SELECT b.o, count(*) FROM queryd_quad AS a JOIN queryd_quad AS b ON a.s=b.s GROUP BY b.o",
                     NULL, NULL, NULL),
        ==, SQLITE_OK);
    g_clear_pointer(&sums, g_free);
    g_assert_cmpint(sqlite3_exec(db,
                                 "CREATE TABLE same AS SELECT * FROM result EXCEPT SELECT * FROM joined;"
                                 "INSERT INTO same SELECT * FROM joined EXCEPT SELECT * FROM result",
                                 NULL, NULL, NULL),
                    ==, SQLITE_OK);
    tally_store_change(db, "INSERT INTO queryd_quad SELECT 4, 200, count(*), 0 FROM same");
    check(db, "=d0104", "0:1"); /* how many rows differ */

    qd_interrupt_begin(&interrupt);
    sums = run(db, "#S00o00");
    qd_interrupt_end(&interrupt);
    g_assert_cmpstr(sums, ==, "interrupted");
    (void) sqlite3_close(db);

    /* what does not fit is joined by SQLite, and the rest does not depend on the cache */
    db = tally_store_open(200, &terms);
    tally_store_change(db, "INSERT INTO queryd_quad VALUES (4,100,8,0),(8,200,4,0)");
    check(db, "=S00s01", "4:1");
    tally_store_change(
        db,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20) INSERT INTO queryd_quad SELECT i,100,i,0 FROM n");
    check(db, "#s00", "0:21");
    check(db, "#S00*s00u00", "0:22");
    (void) sqlite3_close(db);
}

/* --- what does not fit -------------------------------------------------------------------------------------------------- */

static void
write_random(GRand *rand, GString *program, guint depth)
{
    static const char leaves[] = "souvencd";
    static const char combinations[] = "*+?-&";
    guint choice = depth < 4 ? (guint) g_rand_int_range(rand, 0, 3) : 0;

    if (choice == 0) {
        char leaf = leaves[g_rand_int_range(rand, 0, sizeof leaves - 1)];

        g_string_append_printf(program, "%c0%d", leaf, g_rand_int_range(rand, 0, 4));
        if (leaf == 'c' || leaf == 'd')
            g_string_append_printf(program, "0%d", g_rand_int_range(rand, 3, 6));
        return;
    }
    if (choice == 1) {
        g_string_append_printf(program, "%c0%d", g_rand_boolean(rand) ? 'S' : 'O', g_rand_int_range(rand, 0, 3));
        write_random(rand, program, depth + 1);
        return;
    }
    g_string_append_c(program, combinations[g_rand_int_range(rand, 0, sizeof combinations - 1)]);
    write_random(rand, program, depth + 1);
    write_random(rand, program, depth + 1);
}

static void
write_random_way(GRand *rand, GString *program)
{
    guint n_steps = (guint) g_rand_int_range(rand, 1, 4);

    g_string_assign(program, ":");
    for (guint i = 0; i <= n_steps; i++) {
        if (i > 0)
            g_string_append_printf(program, "%c0%d", g_rand_boolean(rand) ? 's' : 'o', g_rand_int_range(rand, 0, 4));
        if (g_rand_boolean(rand))
            g_string_append_c(program, '.');
        else
            write_random(rand, program, 3);
    }
}

static int
compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static char *
sort_rows(const char *rows)
{
    g_auto(GStrv) parts = g_strsplit(rows, " ", -1);

    qsort(parts, g_strv_length(parts), sizeof *parts, compare_texts);
    return g_strjoinv(" ", parts);
}

/* Programs by columns and, where no column fits, by SQL. */
static void
test_without_room(void)
{
    const char *sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<300) INSERT OR IGNORE INTO queryd_quad "
                      "SELECT (i*7919%31)*4, 100+100*(i%3), (i*104729%23)*4, i%11=0 FROM n";
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    sqlite3 *db = tally_store_open(CACHE_BYTES, &terms);
    sqlite3 *small = tally_store_open(8, &terms);

    tally_store_change(db, sql);
    tally_store_change(small, sql);
    for (guint i = 0; i < N_GARBAGE / 10; i++) {
        g_autoptr(GString) program = g_string_new(i % 5 == 0 ? "#" : i % 5 == 1 ? "$" : "=");
        g_autofree char *by_columns = NULL;
        g_autofree char *by_sql = NULL;
        g_autofree char *sorted_by_columns = NULL;
        g_autofree char *sorted_by_sql = NULL;

        if (i % 3 == 0)
            write_random_way(rand, program);
        else
            write_random(rand, program, 0);
        by_columns = run(db, program->str);
        by_sql = run(small, program->str);
        sorted_by_columns = sort_rows(by_columns);
        sorted_by_sql = sort_rows(by_sql);
        g_test_message("%s", program->str);
        g_assert_cmpstr(sorted_by_sql, ==, sorted_by_columns);
    }
    (void) sqlite3_close(db);
    (void) sqlite3_close(small);
}

/* A number beyond 64 bits is an error there, too. */
static void
test_too_many(void)
{
    const guint64 caches[] = { CACHE_BYTES, 8 };

    for (guint i = 0; i < G_N_ELEMENTS(caches); i++) {
        sqlite3 *db = tally_store_open(caches[i], &terms);
        g_autoptr(GString) program = g_string_new("#");

        tally_store_change(db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<40) INSERT INTO queryd_quad "
                               "SELECT 4,100,i*4,0 FROM n UNION ALL SELECT i*4,200,4,0 FROM n");
        for (guint k = 0; k < 12; k++)
            g_string_append(program, "S00S01");
        g_string_append(program, "s00");
        check(db, program->str, "a pattern has more than 9223372036854775807 solutions: count fewer, or distinct values");
        g_string_assign(program, "#");
        for (guint k = 0; k < 12; k++)
            g_string_append(program, "*s00");
        g_string_append(program, "s00");
        check(db, program->str, "a pattern has more than 9223372036854775807 solutions: count fewer, or distinct values");
        program->str[0] = ':';
        g_string_append(program, "s00.");
        check(db, program->str, "a pattern has more than 9223372036854775807 solutions: count fewer, or distinct values");
        (void) sqlite3_close(db);
    }
}

/* What all connections use at once is bounded, too: the columns of a statement that has not ended. */
static void
test_many_in_use(void)
{
    const guint n = 8;
    sqlite3 *stores[8];
    sqlite3_stmt *statements[8];
    for (guint i = 0; i < n; i++) {
        int r;

        stores[i] = tally_store_open(100000, &terms); /* a column takes 40,080 */
        tally_store_change(stores[i], "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) "
                                      "INSERT INTO queryd_quad SELECT i,100,i,0 FROM n");
        g_assert_cmpint(sqlite3_prepare_v2(stores[i], "SELECT value, n FROM queryd_tally('=o00', queryd_tally_ids(100))", -1,
                                           &statements[i], NULL),
                        ==, SQLITE_OK);
        r = sqlite3_step(statements[i]);
        g_assert_cmpint(r, ==, SQLITE_ROW); /* four columns fit into twice the cache */
    }
    for (guint i = 0; i < n; i++) {
        gint64 n_rows = 1;

        while (sqlite3_step(statements[i]) == SQLITE_ROW)
            n_rows++;
        g_assert_cmpint(n_rows, ==, 2000);
    }
    for (guint i = 0; i < n; i++)
        (void) sqlite3_finalize(statements[i]);
    check(stores[n - 1], "#o00", "0:2000");
    check(stores[n - 1], "#S00o00", "0:2000");
    for (guint i = 0; i < n; i++)
        (void) sqlite3_close(stores[i]);
}

/* --- changes ------------------------------------------------------------------------------------------------------------ */

/* What the writer does: quads, statistics with another stamp, and what came and went. */
static void
change_few(sqlite3 *db, GRand *rand, guint n)
{
    gint64 before = tally_store_get_number(db, "SELECT stamp FROM queryd_predicate WHERE id=100");
    g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(QdTallyPairChange));

    for (guint i = 0; i < n; i++) {
        QdTallyPairChange pair = { g_rand_int_range(rand, 1, 60) * 4, g_rand_int_range(rand, -20, 20) * 4 + 1,
                                   g_rand_boolean(rand) };
        g_autofree char *sql = pair.is_gone ? g_strdup_printf("DELETE FROM queryd_quad WHERE p=100 AND s=%" G_GINT64_FORMAT
                                                              " AND o=%" G_GINT64_FORMAT,
                                                              pair.s, pair.o)
                                            : g_strdup_printf("INSERT OR IGNORE INTO queryd_quad VALUES(%" G_GINT64_FORMAT
                                                              ",100,%" G_GINT64_FORMAT ",0)",
                                                              pair.s, pair.o);

        g_assert_cmpint(sqlite3_exec(db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
        if (sqlite3_changes(db) > 0)
            g_array_append_val(pairs, pair);
    }
    tally_store_change(db, "SELECT 1");
    qd_tally_changes_note(before, tally_store_get_number(db, "SELECT stamp FROM queryd_predicate WHERE id=100"),
                          (const QdTallyPairChange *) pairs->data, pairs->len);
}

/* A statement's rows, "value:n …" as run() gives them. */
static char *
list(sqlite3 *db, const char *sql)
{
    g_autoptr(GString) out = g_string_new(NULL);
    sqlite3_stmt *stmt = NULL;

    g_assert_cmpint(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), ==, SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        g_string_append_printf(out, "%s%lld:%lld", out->len > 0 ? " " : "", sqlite3_column_int64(stmt, 0),
                               sqlite3_column_int64(stmt, 1));
    (void) sqlite3_finalize(stmt);
    return g_string_free(g_steal_pointer(&out), FALSE);
}

static void
test_changes(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(3);
    sqlite3 *db = tally_store_open(CACHE_BYTES, &terms);
    const QdTallyPairChange false_pair = { 4, 99001, FALSE };
    gint64 stamp;

    g_assert_false(qd_tally_changes_are_wanted());
    tally_store_change(db, "INSERT INTO queryd_quad VALUES (4,100,9,0),(8,100,9,0),(8,100,13,0)");
    check(db, "#s00", "0:3");
    for (guint i = 0; i < 400; i++) {
        g_autofree char *by_subject = NULL;
        g_autofree char *by_object = NULL;

        change_few(db, rand, (guint) g_rand_int_range(rand, 0, 12));
        if (i % 3 == 0) /* several changes at once */
            continue;
        by_subject = list(db, "SELECT s,count(*) FROM queryd_quad WHERE p=100 GROUP BY 1 ORDER BY 1");
        by_object = list(db, "SELECT o,count(*) FROM queryd_quad WHERE p=100 GROUP BY 1 ORDER BY 1");
        check(db, "=s00", by_subject);
        if (i % 2 == 0)
            check(db, "=o00", by_object);
    }
    g_assert_true(qd_tally_changes_are_wanted());

    /* that they are used: a pair that the file does not have */
    tally_store_change(db, "DELETE FROM queryd_quad; INSERT INTO queryd_quad VALUES (4,100,9,0),(8,100,9,0),(12,100,13,7)");
    check(db, "=s00", "4:1 8:1");
    stamp = tally_store_get_number(db, "SELECT stamp FROM queryd_predicate WHERE id=100");
    tally_store_change(db, "SELECT 1");
    qd_tally_changes_note(stamp, tally_store_get_number(db, "SELECT stamp FROM queryd_predicate WHERE id=100"), &false_pair, 1);
    check(db, "=s00", "4:2 8:1");
    /* what would be more than there is room for is read from the file */
    stamp = tally_store_get_number(db, "SELECT stamp FROM queryd_predicate WHERE id=100");
    tally_store_change(db, "DELETE FROM queryd_quad WHERE g=7");
    qd_tally_changes_note(stamp, tally_store_get_number(db, "SELECT stamp FROM queryd_predicate WHERE id=100"), NULL, 0);
    check(db, "=s00", "4:1 8:1");
    (void) sqlite3_close(db);
    g_assert_false(qd_tally_changes_are_wanted());
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tally/tally/programs", test_programs);
    g_test_add_func("/tally/tally/pairs", test_pairs);
    g_test_add_func("/tally/tally/garbage", test_garbage);
    g_test_add_func("/tally/tally/unstamped", test_unstamped);
    g_test_add_func("/tally/tally/large", test_large);
    g_test_add_func("/tally/tally/many-in-use", test_many_in_use);
    g_test_add_func("/tally/tally/without-room", test_without_room);
    g_test_add_func("/tally/tally/too-many", test_too_many);
    g_test_add_func("/tally/tally/changes", test_changes);
    return g_test_run();
}
