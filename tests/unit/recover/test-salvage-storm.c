/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Damage at random to R-trees, full-text indexes and tables WITHOUT ROWID. The result is whole, R-trees fit, and rows of pages that
 * were not hit are there. With -m slow: ten times as often.
 */
#include <string.h>

#include "tests/unit/recover/salvage-fixture.h"

#define N_CASES 40u
#define PAGE_BYTES 1024
#define N_ROWS 1500
#define NUMBERS "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<" G_STRINGIFY(N_ROWS) ") "

static const char *const fill[] = {
    "PRAGMA page_size=" G_STRINGIFY(PAGE_BYTES) "; CREATE TABLE keyed(a, b, c, PRIMARY KEY(a, b DESC)) WITHOUT ROWID",
    "CREATE TABLE words(a COLLATE NOCASE, b, c, PRIMARY KEY(a)) WITHOUT ROWID; CREATE TABLE rows(a INTEGER PRIMARY KEY, b, c)",
    "CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1, y0, y1, +name); CREATE VIRTUAL TABLE spans USING rtree_i32(id, x0, x1)",
    "CREATE VIRTUAL TABLE doc USING fts5(body)",
    NUMBERS "INSERT INTO keyed SELECT i/5, i, 'keyed ' || i FROM n",
    NUMBERS "INSERT INTO words SELECT printf('%s %05d', iif(i%2, 'WORD', 'word'), i), zeroblob(i%11*40), 'words ' || i FROM n",
    NUMBERS "INSERT INTO rows SELECT i, zeroblob(i%7*30), 'rows ' || i FROM n",
    NUMBERS "INSERT INTO boxes SELECT i, i%40, i%40+1, i/40, i/40+1, 'box ' || i FROM n",
    NUMBERS "INSERT INTO spans SELECT i, i, i+10 FROM n",
    NUMBERS "INSERT INTO doc(rowid, body) SELECT i, 'text number' || i FROM n WHERE i<=200",
};

typedef struct Storm {
    GArray *leaves;   /* of guint32: pages, among them those where rows go on */
    GArray *interior; /* the same; not the first page */
    guint64 n_foreign;
} Storm;

static void
list_pages(SalvageFixture *self, Storm *storm)
{
    sqlite3_stmt *stmt = NULL;
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(self->source, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_prepare_v2(db,
                                       "SELECT pageno, pagetype<>'internal' FROM dbstat WHERE pageno>1 AND name<>'sqlite_schema'",
                                       -1, &stmt, NULL),
                    ==, SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        guint32 page = (guint32) sqlite3_column_int(stmt, 0);

        g_array_append_val(sqlite3_column_int(stmt, 1) != 0 ? storm->leaves : storm->interior, page);
    }
    (void) sqlite3_finalize(stmt);
    (void) sqlite3_close(db);
}

static guint8 *
pick(const GArray *pages, GRand *random, char *bytes)
{
    guint32 page = g_array_index(pages, guint32, (guint) g_rand_int_range(random, 0, (gint32) pages->len));

    return (guint8 *) bytes + (gsize) (page - 1) * PAGE_BYTES;
}

static void
damage(const Storm *storm, const GArray *pages, GRand *random, char *bytes)
{
    guint8 *page = pick(pages, random, bytes);
    gsize at = (gsize) g_rand_int_range(random, 0, PAGE_BYTES);

    switch (g_rand_int_range(random, 0, 6)) {
    case 0:
        page[at] ^= (guint8) (1u << g_rand_int_range(random, 0, 8));
        break;
    case 1:
        for (gsize i = at; i < MIN(at + 30, PAGE_BYTES); i++)
            page[i] = (guint8) g_rand_int(random);
        break;
    case 2:
        memset(page + at - at % 512, 0, 512);
        break;
    case 3:
        for (gsize i = 0; i < PAGE_BYTES; i++)
            page[i] = (guint8) g_rand_int(random);
        break;
    case 4:
        for (guint i = 0; i < 20; i++)
            page[g_rand_int_range(random, 0, PAGE_BYTES)] = (guint8) g_rand_int(random);
        break;
    default:
        memmove(page, pick(storm->leaves, random, bytes), PAGE_BYTES);
        break;
    }
}

/* A cell takes some 12 bytes at least: so many rows at most are lost with a page, and as many by a foreign one. */
static void
assert_rows(SalvageFixture *self, Storm *storm, guint n_hits)
{
    static const char *const tables[] = { "keyed", "words", "rows" };

    for (guint i = 0; i < G_N_ELEMENTS(tables); i++) {
        g_autofree char *own = g_strdup_printf("SELECT count(*) FROM %s WHERE c LIKE '%s %%'", tables[i], tables[i]);
        g_autofree char *foreign = g_strdup_printf("SELECT count(*) FROM %s WHERE c LIKE 'words %%' OR c LIKE 'rows %%' OR"
                                                   " c LIKE 'keyed %%'",
                                                   tables[i]);
        gint64 n_own = salvage_fixture_ask(self, own);

        g_assert_cmpint(n_own, >=, N_ROWS - (gint64) n_hits * (gint64) PAGE_BYTES / 12);
        storm->n_foreign += (guint64) (salvage_fixture_ask(self, foreign) - n_own);
    }
}

static void
assert_trees(SalvageFixture *self)
{
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT rtreecheck('main', 'boxes')='ok' AND rtreecheck('main', 'spans')='ok'"), ==,
                    1);
    g_assert_cmpint(
        salvage_fixture_ask(self, "SELECT count(*) FROM boxes a WHERE NOT EXISTS (SELECT 1 FROM boxes b WHERE b.id=+a.id)"), ==, 0);
    g_assert_cmpint(
        sqlite3_exec(self->after,
                     "INSERT INTO boxes VALUES(-7, 1, 2, 3, 4, 'new'); DELETE FROM boxes WHERE id=-7;"
                     "INSERT INTO doc(rowid, body) VALUES(5000, 'later'); INSERT INTO doc(doc) VALUES('integrity-check')",
                     NULL, NULL, NULL),
        ==, SQLITE_OK);
}

static void
test_storm(SalvageFixture *self, gconstpointer data)
{
    const gboolean above = data != NULL;
    GRand *random = g_rand_new_with_seed(above ? 7 : 5);
    Storm storm = { g_array_new(FALSE, FALSE, sizeof(guint32)), g_array_new(FALSE, FALSE, sizeof(guint32)), 0 };
    g_autofree char *whole = NULL;
    gsize n_bytes = 0;

    for (guint i = 0; i < G_N_ELEMENTS(fill); i++)
        salvage_fixture_execute(self, fill[i]);
    list_pages(self, &storm);
    g_assert_true(g_file_get_contents(self->source, &whole, &n_bytes, NULL));
    for (guint i = 0; i < N_CASES * (g_test_slow() ? 10 : 1); i++) {
        guint n_hits = (guint) g_rand_int_range(random, 1, 4);
        g_autofree char *bytes = g_memdup2(whole, n_bytes);

        for (guint k = 0; k < n_hits; k++)
            damage(&storm, above ? storm.interior : storm.leaves, random, bytes);
        g_assert_true(g_file_set_contents(self->source, bytes, (gssize) n_bytes, NULL));
        salvage_fixture_run(self);
        assert_trees(self);
        if (!above)
            assert_rows(self, &storm, n_hits);
    }
    g_test_message("%" G_GUINT64_FORMAT " foreign rows", storm.n_foreign);
    g_array_unref(storm.leaves);
    g_array_unref(storm.interior);
    g_rand_free(random);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, data) \
    g_test_add("/recover/salvage-storm/" path, SalvageFixture, data, salvage_fixture_set_up, test_storm, salvage_fixture_tear_down)
    ADD("leaves", NULL);
    ADD("above", "above");
    return g_test_run();
}
