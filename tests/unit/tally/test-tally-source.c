/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts for rows of several variables: when those of all keys are read, and who finds them.
 */
#include "daemon/tally/tally-source.h"

#include <string.h>

#include "tests/unit/tally/tally-store.h"

#define CACHE_BYTES 1048576

static QdTallyTerms *terms; /* of the store */

/* What the dictionary of this test has for @id. */
static QdTerm
make_term(gint64 id, char text[32])
{
    (void) g_snprintf(text, 32, "text %" G_GINT64_FORMAT, id);
    return (QdTerm){ .kind = QD_TERM_STRING, .lexical = text, .n_lexical = strlen(text) };
}

/* The term of column @number of every @step-th row, as a resolver finds it. *ret_n_read: how many were read for
 * later statements. Returns: how many were kept */
static guint
look_up_values(sqlite3 *db, const char *program, int number, guint step, guint *ret_n_read)
{
    g_autofree char *text = g_strdup_printf("SELECT value, other FROM queryd_tally('%s', queryd_tally_ids(100, 200))", program);
    sqlite3_stmt *stmt = NULL;
    guint n_kept = 0;

    *ret_n_read = 0;
    g_assert_cmpint(sqlite3_prepare_v2(db, text, -1, &stmt, NULL), ==, SQLITE_OK);
    for (guint i = 1; sqlite3_step(stmt) == SQLITE_ROW; i++) {
        gint64 id = sqlite3_column_int64(stmt, number);
        char expected[32], other[32];
        QdTerm term = make_term(id, expected);
        QdTerm found;
        gint64 missing;

        g_assert_false(qd_tally_terms_find(terms, id + 1, &found));
        if (id < 0 || i % step != 0)
            continue;
        if (qd_tally_terms_find(terms, id, &found)) {
            g_assert_cmpmem(found.lexical, found.n_lexical, term.lexical, term.n_lexical);
            n_kept++;
        }
        for (; qd_tally_terms_get_missing(terms, &missing); (*ret_n_read)++) {
            QdTerm more = make_term(missing, other);

            qd_tally_terms_record_missing(terms, &more);
        }
    }
    g_assert_cmpint(sqlite3_finalize(stmt), ==, SQLITE_OK);
    return n_kept;
}

/* Rows of several variables: what the values of each are keys of has their texts. */
static void
test_sources(void)
{
    sqlite3 *db = tally_store_open(CACHE_BYTES, &terms);
    guint n_read;

    tally_store_change(
        db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) INSERT INTO queryd_quad "
            "SELECT i*4, 100, CASE WHEN i%2 THEN 20000-i*4 ELSE -i*4 END, 0 FROM n UNION ALL SELECT i*4, 200, i*4, 0 FROM n");
    /* few of them */
    g_assert_cmpuint(look_up_values(db, ":.s00.", 1, 3, &n_read), ==, 0);
    g_assert_cmpuint(n_read, ==, 0);
    g_assert_cmpuint(look_up_values(db, ":.s00.", 1, 3, &n_read), ==, 0);
    /* half of them, and then the rest */
    g_assert_cmpuint(look_up_values(db, ":.s00.", 1, 1, &n_read), ==, 0);
    g_assert_cmpuint(n_read, ==, 1000);
    g_assert_cmpuint(look_up_values(db, ":.s00.", 1, 1, &n_read), ==, 1000);
    g_assert_cmpuint(n_read, ==, 0);
    g_assert_cmpuint(look_up_values(db, "@u00sA00.sA01.=BC", 1, 1, &n_read), ==, 1000);
    g_assert_cmpuint(look_up_values(db, "=o00", 0, 1, &n_read), ==, 1000);
    /* the first value, which another column has */
    g_assert_cmpuint(look_up_values(db, ":.s00.", 0, 1, &n_read), ==, 1000);
    g_assert_cmpuint(n_read, ==, 2000);
    g_assert_cmpuint(look_up_values(db, ":.s00.", 0, 1, &n_read), ==, 2000);
    /* another column */
    tally_store_change(db, "INSERT INTO queryd_quad VALUES (4,100,9000,0)");
    g_assert_cmpuint(look_up_values(db, ":.s00.", 1, 1, &n_read), ==, 1);
    g_assert_cmpuint(n_read, ==, 1001);
    (void) sqlite3_close(db);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tally/tally-source/sources", test_sources);
    return g_test_run();
}
