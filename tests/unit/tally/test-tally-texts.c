/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts that are kept with a column: when they are, for which statements, and as much as there is room for.
 */
#include "daemon/tally/tally.h"

#include <string.h>

#include "daemon/tally/tally-changes.h"
#include "tests/unit/tally/tally-store.h"

#define CACHE_BYTES 1048576
#define N_TEXTS 2000

static QdTallyTerms *terms; /* of the store opened last */

/* Looks up the term of each row but every @n_left_out-th one, as functions do. Returns: how many texts were kept. */
static guint
look_up_terms(sqlite3 *db, const char *program, guint n_left_out)
{
    g_autofree char *text = g_strdup_printf("SELECT value FROM queryd_tally('%s', queryd_tally_ids(100, 200))", program);
    sqlite3_stmt *stmt = NULL;
    guint n_kept = 0;

    g_assert_cmpint(sqlite3_prepare_v2(db, text, -1, &stmt, NULL), ==, SQLITE_OK);
    for (guint i = 1; sqlite3_step(stmt) == SQLITE_ROW; i++) {
        gint64 id = sqlite3_column_int64(stmt, 0);
        g_autofree char *expected = g_strdup_printf("text %" G_GINT64_FORMAT, id);
        const char *const tag = id % 3 == 0 ? "en" : NULL;
        QdTerm term = { .kind = QD_TERM_STRING,
                        .lexical = expected,
                        .n_lexical = strlen(expected),
                        .qualifier = tag,
                        .n_qualifier = tag != NULL ? 2 : 0 };
        QdTerm found;

        if (id < 0 || i % n_left_out == 0)
            continue;
        g_assert_false(qd_tally_terms_find(terms, id + 1, &found));
        if (!qd_tally_terms_find(terms, id, &found)) {
            qd_tally_terms_record(terms, id, &term);
            qd_tally_terms_record(terms, id, &term); /* a second function of the row */
            continue;
        }
        n_kept++;
        g_assert_cmpmem(found.lexical, found.n_lexical, term.lexical, term.n_lexical);
        g_assert_cmpmem(found.qualifier, found.n_qualifier, term.qualifier, term.n_qualifier);
    }
    g_assert_cmpint(sqlite3_finalize(stmt), ==, SQLITE_OK);
    return n_kept;
}

static void
test_texts(void)
{
    const QdTallyPairChange pairs[] = { { 8, 6000, FALSE }, { 12, 12, TRUE } };
    sqlite3 *db = tally_store_open(CACHE_BYTES, &terms);
    QdTerm found;
    gint64 stamp;

    tally_store_change(
        db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) INSERT INTO queryd_quad "
            "SELECT i*4, 100, CASE WHEN i%2 THEN i*4 ELSE -i*4 END, 0 FROM n UNION ALL SELECT i*4, 200, i*4, 0 FROM n WHERE i%7=0");
    g_assert_false(qd_tally_terms_find(terms, 4, &found));
    g_assert_cmpuint(look_up_terms(db, "=o00", 100), ==, 0); /* some were not looked up */
    g_assert_cmpuint(look_up_terms(db, "=o00", G_MAXUINT), ==, 0);
    g_assert_cmpuint(look_up_terms(db, "=o00", G_MAXUINT), ==, N_TEXTS / 2);
    g_assert_cmpuint(look_up_terms(db, "=o00", 3), >, N_TEXTS / 4);
    g_assert_cmpuint(look_up_terms(db, "=O00s01", G_MAXUINT), ==, 143); /* of some of its keys */
    g_assert_cmpuint(look_up_terms(db, "=s00", G_MAXUINT), ==, 0);      /* the other column */
    g_assert_cmpuint(look_up_terms(db, "=*s00s01", G_MAXUINT), ==, 0);  /* no column */
    tally_store_change(db, "INSERT INTO queryd_quad VALUES (4,100,9000,0)");
    g_assert_cmpuint(look_up_terms(db, "=o00", G_MAXUINT), ==, 0);
    g_assert_cmpuint(look_up_terms(db, "=o00", G_MAXUINT), ==, N_TEXTS / 2 + 1);
    /* a column that is made of this one has its texts */
    stamp = tally_store_get_number(db, "SELECT stamp FROM queryd_predicate WHERE id=100");
    tally_store_change(db, "INSERT INTO queryd_quad VALUES (8,100,6000,0); DELETE FROM queryd_quad WHERE p=100 AND o=12");
    qd_tally_changes_note(stamp, tally_store_get_number(db, "SELECT stamp FROM queryd_predicate WHERE id=100"), pairs,
                          G_N_ELEMENTS(pairs));
    g_assert_cmpuint(look_up_terms(db, "=o00", G_MAXUINT), ==, N_TEXTS / 2);
    g_assert_cmpuint(look_up_terms(db, "=o00", G_MAXUINT), ==, N_TEXTS / 2);
    (void) sqlite3_close(db);

    for (guint i = 0; i < 2; i++) { /* texts may take half of it, and take 16 bytes each and their letters */
        db = tally_store_open(i == 0 ? 90000 : 140000, &terms);
        tally_store_change(db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) INSERT INTO queryd_quad "
                               "SELECT i*4, 100, i*4, 0 FROM n");
        g_assert_cmpuint(look_up_terms(db, "=o00", G_MAXUINT), ==, 0);
        g_assert_cmpuint(look_up_terms(db, "=o00", G_MAXUINT), ==, i == 0 ? 0 : N_TEXTS);
        g_assert_cmpint(tally_store_get_number(db, "SELECT n FROM queryd_tally('#o00', queryd_tally_ids(100)) WHERE value=0"), ==,
                        2000);
        (void) sqlite3_close(db);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tally/tally-texts/kept", test_texts);
    return g_test_run();
}
