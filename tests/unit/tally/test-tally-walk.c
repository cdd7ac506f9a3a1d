/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walks by columns and by SQL, and how long any program works without a look at the clock.
 */
#include <string.h>
#include <time.h>

#include "daemon/base/interrupt.h"
#include "daemon/tally/tally.h"
#include "tests/unit/tally/tally-store.h"

#define CACHE_BYTES 1048576
#define PAIRS_DEFAULT "300000" /* of the predicate that is watched */
/* A look comes after 1 to 7 ms. Other programs that take the caches made it 13.8 ms of processor time in three tries; what does not
 * look at all takes hundreds. */
#define GAP_MSEC 50
#define GAP_TRIES 3
#define N_LOOKS_MIN 40u /* of 300,000 pairs; the least was 74 */

static QdTallyTerms *terms; /* of the store opened last */

/* "value/other/third:n …", sorted as text; "-" for what is unbound. */
static void
check_walk(sqlite3 *db, const char *program, const char *expected)
{
    g_autofree char *result = tally_store_read_rows(db,
                                                    "SELECT value||'/'||ifnull(other,'-')||'/'||ifnull(third,'-')||':'||n FROM "
                                                    "queryd_tally(?1, queryd_tally_ids(100, 200, 300, NULL, 4, 8))",
                                                    program);

    g_test_message("%s", program);
    g_assert_cmpstr(result, ==, expected);
}

/* Sets: as they come, and by SQL. */
static void
test_sets(gconstpointer cache_bytes)
{
    static const char *const sql[] = {
        "SELECT value||':'||n FROM queryd_tally('=&v00f01', queryd_tally_ids(100, (SELECT queryd_tally_set(x) FROM (SELECT 12 AS x "
        "UNION ALL SELECT 8 UNION ALL SELECT 12 UNION ALL SELECT 'a' UNION ALL SELECT 7))))",
        "SELECT ifnull(group_concat(value),'-')||':'||count(*) FROM queryd_tally('=&v00f01', queryd_tally_ids(100, (SELECT "
        "queryd_tally_set(1) FROM queryd_quad WHERE 0)))",
        "SELECT count(*)||':' FROM queryd_tally('=f00', queryd_tally_ids((SELECT queryd_tally_set(o) FROM queryd_quad)))",
    };
    static const char *const expected[] = { "8:1", "-:0", "3:" };
    sqlite3 *db = tally_store_open(GPOINTER_TO_SIZE(cache_bytes), &terms);

    tally_store_change(db, "INSERT INTO queryd_quad VALUES (4,100,8,0),(8,100,12,0),(4,100,12,0),(12,100,4,0)");
    for (guint i = 0; i < G_N_ELEMENTS(sql); i++) {
        sqlite3_stmt *stmt = NULL;

        g_assert_cmpint(sqlite3_prepare_v2(db, sql[i], -1, &stmt, NULL), ==, SQLITE_OK);
        g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_ROW);
        g_assert_cmpstr((const char *) sqlite3_column_text(stmt, 0), ==, expected[i]);
        (void) sqlite3_finalize(stmt);
    }
    (void) sqlite3_close(db);
}

/* By columns, and by SQL where these do not fit. */
static void
test_walks(gconstpointer cache_bytes)
{
    gboolean is_small = GPOINTER_TO_SIZE(cache_bytes) < CACHE_BYTES;
    sqlite3 *db = tally_store_open(GPOINTER_TO_SIZE(cache_bytes), &terms);

    tally_store_change(
        db, "INSERT INTO queryd_quad VALUES (4,100,8,0),(8,100,12,0),(4,100,12,0),(12,100,4,0),(8,200,16,0),(8,200,20,0),"
            "(12,200,16,0),(4,300,8,0),(8,300,4,0),(4,100,4,9)");
    if (is_small) /* rows of SQL are not summed up */
        check_walk(db, "@u00sA00.=B", "12/4/-:1 4/12/-:1 4/8/-:1 8/12/-:1");
    else
        check_walk(db, "@u00sA00.sB01.=B", "4/12/-:1 4/8/-:2 8/12/-:1");
    check_walk(db, "@u00sA00.~sB01.=BC", "12/4/-:1 4/12/16:1 4/8/16:1 4/8/20:1 8/12/16:1");
    check_walk(db, "@u00sA00sA02.=B", "4/8/-:1");
    check_walk(db, "@u00sA00oA02.=B", "4/8/-:1");
    check_walk(db, "@u00sA00s01=B", "4/12/-:1 4/8/-:2 8/12/-:1");
    check_walk(db, "@*u00s01sA00.sA02.=CB", "8/4/12:2");
    check_walk(db, "@v03sA00.=B", "");
    /* a circle of three from each of its ends, and their number */
    check_walk(db, "@u00sA00.sB00oA00.=", "12/-/-:1 4/-/-:1 8/-/-:1");
    check_walk(db, "%u00sA00.sB00oA00.=", "0/-/-:3");
    check_walk(db, "%v03sA00.=", "0/-/-:0");
    (void) sqlite3_close(db);
}

/* --- deadlines ---------------------------------------------------------------------------------------------------------- */

static gint64
get_cpu_usec(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (gint64) now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
}

typedef struct Gaps {
    gint64 last_usec;
    gint64 longest_usec;
    guint n;
} Gaps;

static gboolean
note_gap(void *data)
{
    Gaps *self = data;
    gint64 now_usec = get_cpu_usec();

    self->longest_usec = MAX(self->longest_usec, now_usec - self->last_usec);
    self->last_usec = now_usec;
    self->n++;
    return FALSE;
}

static int
on_progress(void *data)
{
    (void) note_gap(data);
    return 0;
}

static guint
count_rows(sqlite3 *db, const char *program)
{
    sqlite3_stmt *stmt = NULL;
    guint n = 0;

    g_assert_cmpint(
        sqlite3_prepare_v2(db, "SELECT value, n, other FROM queryd_tally(?1, queryd_tally_ids(100, 200))", -1, &stmt, NULL), ==,
        SQLITE_OK);
    (void) sqlite3_bind_text(stmt, 1, program, -1, SQLITE_STATIC);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        n++;
    g_assert_cmpint(sqlite3_finalize(stmt), ==, SQLITE_OK);
    return n;
}

/* Returns: the longest time of all programs in a fresh store, in microseconds */
static gint64
measure_gaps(const char *n_pairs)
{
    static const char *const programs[] = {
        "#S00o00", "#O00s00",    "#*s00s00",         "#+O00s00S00o00",      "#n00",
        "#O01s00", ":.o00.s00.", "@u00sA00.oB00.=B", "%u00sA00.oB00sA00.=", "@v00oA00.~oA01.=BC"
    };
    sqlite3 *db = tally_store_open(256 * CACHE_BYTES, &terms);
    gint64 longest_usec = 0;
    Gaps gaps = { 0 };
    QdInterrupt interrupt = { .is_always_due = TRUE, .look = note_gap, .data = &gaps };
    g_autofree char *sql = g_strdup_printf(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<%s) INSERT OR IGNORE INTO queryd_quad "
        "SELECT i*4, 100, (i*7919%%200000)*4, 0 FROM n UNION ALL SELECT i*4000, 200, (i*104729%%1000000)*4, 0 FROM n",
        n_pairs);

    tally_store_change(db, sql);
    sqlite3_progress_handler(db, 1000, on_progress, &gaps);
    qd_interrupt_begin(&interrupt);
    for (guint i = 0; i < G_N_ELEMENTS(programs); i++) {
        gaps = (Gaps){ .last_usec = get_cpu_usec() };
        (void) count_rows(db, programs[i]);
        (void) note_gap(&gaps);
        g_test_message("%s: %u looks, the longest time between two %" G_GINT64_FORMAT " µs", programs[i], gaps.n,
                       gaps.longest_usec);
        g_assert_cmpuint(gaps.n, >, N_LOOKS_MIN);
        longest_usec = MAX(longest_usec, gaps.longest_usec);
    }
    qd_interrupt_end(&interrupt);
    (void) sqlite3_close(db);
    return longest_usec;
}

/* While a column is made and while it is used, the time between two looks at the clock is short. */
static void
test_gaps(void)
{
    const char *n_pairs = g_getenv("TALLY_PAIRS") != NULL ? g_getenv("TALLY_PAIRS") : PAIRS_DEFAULT;
    gint64 least_usec = G_MAXINT64;

    for (guint i = 0; i < GAP_TRIES && least_usec >= GAP_MSEC * 1000; i++)
        least_usec = MIN(least_usec, measure_gaps(n_pairs));
    if (g_getenv("QUERYD_SANITIZER") == NULL)
        g_assert_cmpint(least_usec, <, GAP_MSEC * 1000);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/tally/tally-walk/by-columns", GSIZE_TO_POINTER(CACHE_BYTES), test_walks);
    g_test_add_data_func("/tally/tally-walk/by-sql", GSIZE_TO_POINTER(1), test_walks);
    g_test_add_data_func("/tally/tally-walk/sets", GSIZE_TO_POINTER(CACHE_BYTES), test_sets);
    g_test_add_data_func("/tally/tally-walk/sets-by-sql", GSIZE_TO_POINTER(1), test_sets);
    g_test_add_func("/tally/tally-walk/gaps", test_gaps);
    return g_test_run();
}
