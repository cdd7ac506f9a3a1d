/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQL and quads by number.
 */
#include "tests/unit/recover/filled-store.h"

#include <string.h>

#include "daemon/quads/quads.h"
#include "daemon/rdf/term-id.h"
#include "daemon/recover/schema-copy.h"

static void
fill_tables(QdConnection *writer)
{
    store_execute(writer,
                  "PRAGMA user_version=7; PRAGMA application_id=99;"
                  "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT NOT NULL, size REAL, data BLOB, twice AS (id*2) VIRTUAL,"
                  " thrice INT AS (id*3) STORED);"
                  "CREATE TABLE pair(b INT, a INT, c TEXT, PRIMARY KEY(a, b)) WITHOUT ROWID;"
                  "CREATE TABLE plain(x, y DEFAULT 'old');"
                  "CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT, v);"
                  "CREATE TABLE \"odd \"\" name\"(\"rowid\" TEXT, \"a\"\"b\" INT UNIQUE);"
                  "CREATE INDEX item_name ON item(name);"
                  "CREATE VIEW names AS SELECT name FROM item;"
                  "CREATE TABLE noted(n); CREATE TRIGGER note AFTER INSERT ON plain BEGIN INSERT INTO noted VALUES(new.x); END;"
                  "CREATE VIRTUAL TABLE words USING fts5(body);");
    store_execute(
        writer,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<" G_STRINGIFY(
            FILLED_N_ROWS) ") "
                           "INSERT INTO item(id, name, size, data) SELECT i, 'name of ' || i, i/4.0, zeroblob(i%100) FROM n");
    store_execute(writer, "INSERT INTO item(id, name, size, data) VALUES(1000000, 'large', NULL, randomblob(20000));"
                          "INSERT INTO pair SELECT id, id%7, 'c' || id FROM item WHERE id<=" G_STRINGIFY(
                              FILLED_N_ROWS) ";"
                                             "INSERT INTO plain(x) SELECT id FROM item WHERE id<=500;"
                                             "ALTER TABLE plain ADD COLUMN z DEFAULT 'z';"
                                             "INSERT INTO plain VALUES(501, 'y', NULL);"
                                             "INSERT INTO counted(v) SELECT id FROM item LIMIT 50; DELETE FROM counted WHERE id>40;"
                                             "INSERT INTO \"odd \"\" name\" SELECT name, id FROM item LIMIT 20;"
                                             "INSERT INTO words SELECT 'some words with ' || id FROM item LIMIT 200");
}

/* <s i> <p i%5> "text i", and every third one a blank node and an integer. */
static void
fill_quads(QdConnection *writer)
{
    g_autoptr(GError) error = NULL;
    QdQuads *quads = qd_quads_get(writer, &error);
    QdDictionary *dictionary = qd_quads_get_dictionary(quads);

    store_execute(writer, "BEGIN");
    g_assert_true(qd_quads_begin(quads, &error));
    for (guint i = 0; i < FILLED_N_QUADS; i++) {
        g_autofree char *s = g_strdup_printf("http://example.org/subject/%u", i);
        g_autofree char *p = g_strdup_printf("http://example.org/predicate/%u", i % 5);
        g_autofree char *o = g_strdup_printf("text %u", i);
        gint64 ids[4] = { 0 };

        g_assert_true(qd_dictionary_intern(dictionary, &(QdTerm){ .kind = QD_TERM_IRI, .lexical = s, .n_lexical = strlen(s) },
                                           &ids[0], &error));
        g_assert_true(qd_dictionary_intern(dictionary, &(QdTerm){ .kind = QD_TERM_IRI, .lexical = p, .n_lexical = strlen(p) },
                                           &ids[1], &error));
        g_assert_true(qd_dictionary_intern(
            dictionary,
            &(QdTerm){ .kind = QD_TERM_LANG_STRING, .lexical = o, .n_lexical = strlen(o), .qualifier = "en", .n_qualifier = 2 },
            &ids[2], &error));
        if (i % 3 == 0) {
            ids[0] = qd_dictionary_make_bnode(dictionary);
            g_assert_true(qd_term_id_from_integer(i, &ids[2]));
            ids[3] = ids[1];
        }
        g_assert_true(qd_quads_insert(quads, ids[0], ids[1], ids[2], ids[3], NULL, &error));
    }
    g_assert_true(qd_quads_finish(quads, &error));
    store_execute(writer, "COMMIT");
}

void
filled_store_set_up(FilledStore *self, gconstpointer data)
{
    char *content = NULL;
    gsize n_bytes = 0;

    store_fixture_set_up(&self->store, NULL);
    fill_tables(self->store.writer);
    fill_quads(self->store.writer);
    qd_schema_copy_refresh(self->store.writer, QD_SCHEMA_COPY_QUICK_BYTES);
    self->source = g_build_filename(self->store.dir, "queryd.db", NULL);
    self->target = g_build_filename(self->store.dir, "salvaged", NULL);
    store_fixture_close(&self->store);
    g_assert_true(g_file_get_contents(self->source, &content, &n_bytes, NULL));
    self->whole = g_bytes_new_take(content, n_bytes);
}

void
filled_store_tear_down(FilledStore *self, gconstpointer data)
{
    g_bytes_unref(self->whole);
    g_free(self->source);
    g_free(self->target);
    store_remove_folder(self->store.dir);
    g_free(self->store.dir);
}

gboolean
filled_store_salvage(FilledStore *self, QdSalvageReport *report, GError **error)
{
    const QdSalvageOptions options = {
        .source = self->source, .target = self->target, .limits = &self->store.limits, .start_counter = 5
    };

    return qd_salvage_run(&options, report, error);
}

sqlite3 *
filled_store_open(const char *path)
{
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), ==, SQLITE_OK);
    return db;
}

gint64
filled_store_ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    gint64 value = -1;

    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
        value = sqlite3_column_int64(stmt, 0);
    (void) sqlite3_finalize(stmt);
    return value;
}
