/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Full-text indexes after damage to any of the tables that they lie in: they answer, or are empty, and can always be dropped.
 */
#include <unistd.h>

#include "tests/unit/recover/salvage-fixture.h"

static void
fill(SalvageFixture *self, const char *create)
{
    salvage_fixture_execute(self, create);
    salvage_fixture_execute(self, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<1000)"
                                  " INSERT INTO doc(rowid, body) SELECT i, 'text number' || i FROM n");
}

static void
assert_works(SalvageFixture *self)
{
    g_assert_cmpint(
        sqlite3_exec(self->after,
                     "INSERT INTO doc(rowid, body) VALUES(5000, 'later'); INSERT INTO doc(doc) VALUES('integrity-check')", NULL,
                     NULL, NULL),
        ==, SQLITE_OK);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM doc WHERE doc MATCH 'later'"), ==, 1);
    g_assert_cmpint(sqlite3_exec(self->after, "DROP TABLE doc", NULL, NULL, NULL), ==, SQLITE_OK);
}

/* Whichever of its tables is lost, the texts are not, unless it is the one with the texts. */
static void
test_lost_tables(SalvageFixture *self, gconstpointer data)
{
    const char *create = data;
    static const char *const suffixes[] = { "data", "idx", "docsize", "config", "content", "segments", "segdir", "stat" };

    for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *exists = g_strdup_printf("SELECT rootpage FROM sqlite_schema WHERE name='doc_%s'", suffixes[i]);
        sqlite3_stmt *stmt = NULL;
        sqlite3 *db = NULL;
        gboolean found;

        fill(self, create);
        g_assert_cmpint(sqlite3_open(self->source, &db), ==, SQLITE_OK);
        g_assert_cmpint(sqlite3_prepare_v2(db, exists, -1, &stmt, NULL), ==, SQLITE_OK);
        found = sqlite3_step(stmt) == SQLITE_ROW;
        (void) sqlite3_finalize(stmt);
        (void) sqlite3_close(db);
        if (found) {
            gint64 n_texts;

            salvage_fixture_lose_page(self, exists);
            salvage_fixture_run(self);
            n_texts = salvage_fixture_ask(self, "SELECT count(*) FROM doc WHERE doc MATCH 'text'");
            g_test_message("without doc_%s: %" G_GINT64_FORMAT " texts", suffixes[i], n_texts);
            g_assert_cmpint(n_texts, ==, 1000); /* the root of the texts is lost, and its pages are found again */
            assert_works(self);
        }
        g_assert_cmpint(unlink(self->source), ==, 0);
    }
}

/* Rows of the module's own tables that it cannot do without. */
static void
test_lost_rows(SalvageFixture *self, gconstpointer data)
{
    const char *damage = data;

    fill(self, "CREATE VIRTUAL TABLE doc USING fts5(body)");
    salvage_fixture_execute(self, damage);
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM doc WHERE doc MATCH 'text'"), ==, 1000);
    g_assert_true(salvage_fixture_is_reported(self, "it is rebuilt from its texts"));
    assert_works(self);
}

/* It has no texts: as long as it is whole it stays as it is. */
static void
test_without_content(SalvageFixture *self, gconstpointer data)
{
    fill(self, "CREATE VIRTUAL TABLE doc USING fts5(body, content='')");
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM doc WHERE doc MATCH 'text'"), ==, 1000);
    g_assert_true(salvage_fixture_is_reported(self, "keeps what could be read"));

    salvage_fixture_execute(self, "DELETE FROM doc_data");
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM doc WHERE doc MATCH 'text'"), ==, 0);
    g_assert_true(salvage_fixture_is_reported(self, "is rebuilt and is empty"));
    assert_works(self);
}

static void
test_content_elsewhere(SalvageFixture *self, gconstpointer data)
{
    salvage_fixture_execute(self, "CREATE TABLE source(id INTEGER PRIMARY KEY, body TEXT)");
    fill(self, "CREATE VIRTUAL TABLE doc USING fts5(body, content='source', content_rowid='id')");
    salvage_fixture_execute(self, "INSERT INTO source SELECT id, 'text ' || id FROM doc_docsize");
    salvage_fixture_execute(self, "DELETE FROM doc_config; DELETE FROM doc_idx");
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM doc WHERE doc MATCH 'text'"), ==, 1000);
}

/* Texts that do not fit into the table that its schema names stay beside it. */
static void
test_other_columns(SalvageFixture *self, gconstpointer data)
{
    fill(self, "CREATE VIRTUAL TABLE doc USING fts5(body)");
    salvage_fixture_execute(self, "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET"
                                  " sql='CREATE VIRTUAL TABLE doc USING fts5(body, more)' WHERE name='doc'");
    salvage_fixture_run(self);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM doc"), ==, 0);
    g_assert_cmpint(salvage_fixture_ask(self, "SELECT count(*) FROM doc_content_salvaged WHERE c0 LIKE 'text%'"), ==, 1000);
    assert_works(self);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, data, func) \
    g_test_add("/recover/salvage-text/" path, SalvageFixture, data, salvage_fixture_set_up, func, salvage_fixture_tear_down)
    ADD("lost-tables/fts5", "CREATE VIRTUAL TABLE doc USING fts5(body)", test_lost_tables);
    ADD("lost-tables/fts4", "CREATE VIRTUAL TABLE doc USING fts4(body)", test_lost_tables);
    ADD("lost-rows/version", "DELETE FROM doc_config", test_lost_rows);
    ADD("lost-rows/structure", "DELETE FROM doc_data WHERE id=10", test_lost_rows);
    ADD("lost-rows/texts-table", "UPDATE doc_data SET block=x'ffffffffffffffffffffffff' WHERE id=10", test_lost_rows);
    ADD("without-content", NULL, test_without_content);
    ADD("content-elsewhere", NULL, test_content_elsewhere);
    ADD("other-columns", NULL, test_other_columns);
    return g_test_run();
}
