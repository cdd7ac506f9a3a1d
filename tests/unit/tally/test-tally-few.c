/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that begin with few values of large columns, and what they use: look-ups that are searched until they are filled, and
 * sums that grow.
 */
#include <string.h>

#include "daemon/tally/tally-lookup.h"
#include "daemon/tally/tally-sums.h"
#include "tests/unit/tally/tally-store.h"

#define CACHE_BYTES 16777216
#define CACHE_BYTES_TOO_FEW 200 /* SQLite joins instead */
#define N_KEYS 20000
#define N_VALUES 5000
#define IDS "queryd_tally_ids(100, 200, 300, 1, 8)"

/* The number of @keys[i] is 3 * i + 1; between them there are none. */
static void
check_numbers(QdTallyLookup *lookup, const gint64 *keys, gsize begin, gsize end)
{
    for (gsize i = begin; i < end; i++) {
        g_assert_cmpuint(qd_tally_lookup_get(lookup, keys[i]), ==, 3 * i + 1);
        g_assert_cmpuint(qd_tally_lookup_get(lookup, keys[i] + 1), ==, 0);
    }
}

static void
test_lookup(gconstpointer distance)
{
    g_autofree gint64 *keys = g_new(gint64, N_KEYS);
    g_autofree guint64 *counts = g_new(guint64, N_KEYS);
    const QdTallyVector vector = { .keys = keys, .n = N_KEYS, .counts = counts };
    g_auto(QdTallyLookup) lookup = { 0 };
    g_auto(QdTallyLookup) filled = { 0 };
    g_auto(QdTallyLookup) places = { 0 };
    g_auto(QdTallyLookup) none = { 0 };

    for (gsize i = 0; i < N_KEYS; i++) {
        keys[i] = ((gint64) i - N_KEYS / 2) * GPOINTER_TO_INT(distance);
        counts[i] = 3 * i + 1;
    }
    g_assert_cmpint(qd_tally_lookup_init(&lookup, &vector, 10), ==, SQLITE_OK);
    g_assert_true(lookup.is_searched);
    check_numbers(&lookup, keys, 10, 20);
    g_assert_true(lookup.is_searched);
    check_numbers(&lookup, keys, 0, N_KEYS);
    g_assert_false(lookup.is_searched);
    check_numbers(&lookup, keys, 0, N_KEYS);
    g_assert_cmpuint(qd_tally_lookup_get(&lookup, G_MAXINT64), ==, 0);
    g_assert_cmpuint(qd_tally_lookup_get(&lookup, G_MININT64), ==, 0);

    g_assert_cmpint(qd_tally_lookup_init(&filled, &vector, N_KEYS), ==, SQLITE_OK);
    g_assert_false(filled.is_searched);
    check_numbers(&filled, keys, 0, N_KEYS);

    g_assert_cmpint(qd_tally_lookup_init_places(&places, keys, N_KEYS, 1), ==, SQLITE_OK);
    for (gsize i = 0; i < N_KEYS; i++)
        g_assert_cmpuint(qd_tally_lookup_get(&places, keys[i]), ==, i + 1);
    g_assert_cmpint(qd_tally_lookup_init_places(&none, keys, 0, 1), ==, SQLITE_OK);
    g_assert_cmpuint(qd_tally_lookup_get(&none, keys[0]), ==, 0);
}

static void
test_sums(void)
{
    QdTallySums sums = { 0 };

    g_assert_cmpint(qd_tally_sums_init(&sums, N_VALUES), ==, SQLITE_OK);
    for (guint round = 0; round < 2; round++) {
        for (gint64 i = 0; i < 2 * N_VALUES; i++)
            g_assert_cmpint(qd_tally_sums_add(&sums, (i % N_VALUES) * 4 - 8, (guint64) i), ==, SQLITE_OK);
        g_assert_cmpuint(sums.n, ==, N_VALUES);
        for (gsize i = 0; i < N_VALUES; i++) {
            g_assert_cmpint(sums.entries[i].value, ==, (gint64) i * 4 - 8);
            g_assert_cmpuint(sums.entries[i].count, ==, 2 * i + N_VALUES);
        }
        g_assert_cmpint(qd_tally_sums_add(&sums, -4000, 1), ==, SQLITE_CORRUPT);
        qd_tally_sums_forget(&sums);
    }
    for (gint64 i = 0; i < 3; i++) /* fewer than are cleared at once */
        g_assert_cmpint(qd_tally_sums_add(&sums, i, 1), ==, SQLITE_OK);
    qd_tally_sums_forget(&sums);
    g_assert_cmpint(qd_tally_sums_add(&sums, 1, G_MAXUINT64), ==, SQLITE_OK);
    g_assert_cmpuint(sums.n, ==, 1);
    g_assert_cmpint(qd_tally_sums_add(&sums, 1, 1), ==, SQLITE_TOOBIG);
    qd_tally_sums_clear(&sums);
}

static char *
run(sqlite3 *db, const char *program)
{
    return tally_store_read_rows(db,
                                 program[0] == '@' ? "SELECT value||'/'||ifnull(other,'-')||'/'||ifnull(third,'-')||':'||sum(n)"
                                                     " FROM queryd_tally(?1, " IDS ") GROUP BY value, other, third"
                                                   : "SELECT value||'/'||ifnull(other,'-')||':'||sum(n)"
                                                     " FROM queryd_tally(?1, " IDS ") GROUP BY value, other",
                                 program);
}

/* Thousands of subjects and objects; 300 leads from few subjects to 1. */
static sqlite3 *
open_store(guint64 cache_bytes, QdTallyTerms **terms)
{
    sqlite3 *db = tally_store_open(cache_bytes, terms);

    tally_store_change(db,
                       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20000) INSERT OR IGNORE INTO "
                       "queryd_quad SELECT i*7919%4001*4+4, 100, i*104729%3001*4+4, 0 FROM n UNION ALL "
                       "SELECT i*31%3001*4+4, 200, i*17%2003*4+4, 0 FROM n UNION ALL SELECT i*400+4, 300, 1, 0 FROM n WHERE i<12");
    return db;
}

/* The same rows as by SQL. */
static void
test_programs(void)
{
    static const char *const programs[] = {
        ":c0203s00.",
        ":c0203s00.s01.",
        ":c0203s00.s01s00",
        ":c0203s00s01s01.",
        ":c0203s00.o00.s00.",
        ":c0203s00.o01u00",
        ":c0203s00.s01.o01.s01.",
        ":*c0203s01s00.o00c0203",
        ":c0203s00s01s01*o01o00",
        ":.s00.s01.",
        "@c0203sA00.=B",
        "@c0203sA00.sB01.=BC",
        "@c0203sA00.sB01.oC01.=BD",
        "@c0203sA00s01sB01v01=C",
        "@c0203sA00.sA01.=BC",
        "%c0203sA00.sB01.oC01.=",
        "@c0203sA00.oB00c0203=C",
        "@c0203sA00.~sB01.=BC",
    };
    QdTallyTerms *terms;
    sqlite3 *db = open_store(CACHE_BYTES, &terms);
    sqlite3 *joined = open_store(CACHE_BYTES_TOO_FEW, &terms);

    for (guint i = 0; i < G_N_ELEMENTS(programs); i++) {
        const char *program = programs[i];
        g_autofree char *rows = run(db, program);
        g_autofree char *expected = run(joined, program);

        g_test_message("%s", program);
        g_assert_cmpstr(rows, !=, "");
        g_assert_cmpstr(rows, ==, expected);
    }
    (void) sqlite3_close(db);
    (void) sqlite3_close(joined);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/tally/few/lookup/dense", GINT_TO_POINTER(2), test_lookup);
    g_test_add_data_func("/tally/few/lookup/apart", GINT_TO_POINTER(100000), test_lookup);
    g_test_add_func("/tally/few/sums", test_sums);
    g_test_add_func("/tally/few/programs", test_programs);
    return g_test_run();
}
