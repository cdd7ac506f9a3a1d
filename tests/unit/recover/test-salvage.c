/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Salvage: every kind of table comes through whole; damage at random takes what was on the damaged pages and nothing else.
 *
 * The content is known: each row's values follow from its number, so that a wrong row shows.
 */
#include "daemon/recover/salvage.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/quads/quads.h"
#include "daemon/rdf/term-id.h"
#include "daemon/recover/page-cells.h"
#include "daemon/recover/page-file.h"
#include "daemon/recover/schema-copy.h"
#include "tests/unit/store/store-fixture.h"

#define N_ROWS 2000
#define N_QUADS 600
#define N_DAMAGES 500

typedef struct Fixture {
    StoreFixture store;
    char *source;
    char *target;
    GBytes *whole; /* the undamaged file */
} Fixture;

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
    store_execute(writer,
                  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<" G_STRINGIFY(
                      N_ROWS) ") "
                              "INSERT INTO item(id, name, size, data) SELECT i, 'name of ' || i, i/4.0, zeroblob(i%100) FROM n");
    store_execute(writer, "INSERT INTO item(id, name, size, data) VALUES(1000000, 'large', NULL, randomblob(20000));"
                          "INSERT INTO pair SELECT id, id%7, 'c' || id FROM item WHERE id<=" G_STRINGIFY(
                              N_ROWS) ";"
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
    for (guint i = 0; i < N_QUADS; i++) {
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

static void
set_up(Fixture *self, gconstpointer data)
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

static void
tear_down(Fixture *self, gconstpointer data)
{
    g_bytes_unref(self->whole);
    g_free(self->source);
    g_free(self->target);
    store_remove_folder(self->store.dir);
    g_free(self->store.dir);
}

static gboolean
salvage(Fixture *self, QdSalvageReport *report, GError **error)
{
    const QdSalvageOptions options = {
        .source = self->source, .target = self->target, .limits = &self->store.limits, .start_counter = 5
    };

    return qd_salvage_run(&options, report, error);
}

static sqlite3 *
open_plain(const char *path)
{
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), ==, SQLITE_OK);
    return db;
}

static gint64
ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    gint64 value = -1;

    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
        value = sqlite3_column_int64(stmt, 0);
    (void) sqlite3_finalize(stmt);
    return value;
}

static char *
ask_text(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    GString *text = g_string_new(NULL);

    g_assert_cmpint(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), ==, SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        g_string_append_printf(text, "%s\n", (const char *) sqlite3_column_text(stmt, 0));
    (void) sqlite3_finalize(stmt);
    return g_string_free(text, FALSE);
}

/* Whether both files answer alike. */
static void
assert_same(sqlite3 *a, sqlite3 *b, const char *sql)
{
    g_autofree char *left = ask_text(a, sql);
    g_autofree char *right = ask_text(b, sql);

    g_assert_cmpstr(left, ==, right);
}

static const char *const whole_questions[] = {
    "SELECT quote(id)||quote(name)||quote(size)||quote(data)||quote(twice)||quote(thrice) FROM item ORDER BY id",
    "SELECT quote(a)||quote(b)||quote(c) FROM pair ORDER BY a, b",
    "SELECT quote(_rowid_)||quote(x)||quote(y)||quote(z) FROM plain ORDER BY _rowid_",
    "SELECT quote(name)||quote(seq) FROM sqlite_sequence",
    "SELECT quote(_rowid_)||quote(\"rowid\")||quote(\"a\"\"b\") FROM \"odd \"\" name\" ORDER BY _rowid_",
    "SELECT n FROM noted ORDER BY n",
    "SELECT count(*) FROM names",
    "SELECT rowid||body FROM words WHERE words MATCH 'words' ORDER BY rowid",
    "SELECT type||name||tbl_name||ifnull(sql, '') FROM sqlite_schema ORDER BY type, name",
    "SELECT quote(s)||quote(p)||quote(o)||quote(g) FROM queryd_quad ORDER BY s, p, o, g",
    "SELECT quote(id)||quote(datatype)||quote(lexical)||quote(num) FROM queryd_term ORDER BY id",
    "SELECT quote(h)||quote(id) FROM queryd_term_hash ORDER BY h, id",
    "SELECT quote(id)||quote(n_quads)||quote(n_subjects)||quote(n_objects)||quote(tags) FROM queryd_predicate ORDER BY id",
    "SELECT quote(id)||quote(n_quads)||quote(explicit) FROM queryd_graph ORDER BY id",
    "SELECT quote(key)||quote(value) FROM queryd_meta WHERE key<>'start_counter' ORDER BY key",
    "SELECT quote(rowid)||quote(tag) FROM queryd_term_key ORDER BY tag",
    "SELECT quote(prefix)||quote(iri) FROM queryd_prefix ORDER BY prefix",
    "PRAGMA user_version",
    "PRAGMA application_id",
    "PRAGMA page_size",
    "PRAGMA integrity_check",
};

static void
test_whole(Fixture *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    sqlite3 *before;
    sqlite3 *after;

    (void) salvage(self, report, &error);
    g_assert_no_error(error);
    text = qd_salvage_report_format(report, self->source);
    g_test_message("%s", text);
    g_assert_cmpuint(report->n_lost_pages, ==, 0);
    g_assert_cmpuint(report->n_lost_rows, ==, 0);
    before = open_plain(self->source);
    after = open_plain(self->target);
    for (guint i = 0; i < G_N_ELEMENTS(whole_questions); i++)
        assert_same(before, after, whole_questions[i]);
    g_assert_cmpint(ask(after, "SELECT value FROM queryd_meta WHERE key='start_counter'"), ==, 5);
    (void) sqlite3_close(before);
    (void) sqlite3_close(after);
}

/* Damage at known places --------------------------------------------------------------------------------------------- */

static void
overwrite(const Fixture *self, gsize offset, const void *data, gsize n_bytes)
{
    int fd = open(self->source, O_WRONLY | O_CLOEXEC);

    g_assert_cmpint(pwrite(fd, data, n_bytes, (off_t) offset), ==, n_bytes);
    (void) close(fd);
}

static sqlite3 *
salvage_and_open(Fixture *self, QdSalvageReport *report)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;

    (void) salvage(self, report, &error);
    g_assert_no_error(error);
    text = qd_salvage_report_format(report, self->source);
    g_test_message("%s", text);
    return open_plain(self->target);
}

/* Page size, encoding and list of free pages are not known: the pages themselves tell. */
static void
test_header(Fixture *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    const guint8 zeros[100] = { 0 };
    sqlite3 *after;

    overwrite(self, 0, zeros, sizeof zeros);
    after = salvage_and_open(self, report);
    g_assert_cmpint(ask(after, "SELECT count(*) FROM item"), ==, N_ROWS + 1);
    g_assert_cmpint(ask(after, "SELECT count(*) FROM queryd_quad"), ==, N_QUADS);
    (void) sqlite3_close(after);
}

static guint32
get_root(const Fixture *self, const char *name)
{
    sqlite3 *db = open_plain(self->source);
    g_autofree char *sql = g_strdup_printf("SELECT rootpage FROM sqlite_schema WHERE name='%s'", name);
    guint32 root = (guint32) ask(db, sql);

    (void) sqlite3_close(db);
    return root;
}

/* The page above all others of a table: the rows are on pages that nothing refers to any more. */
static void
test_root(Fixture *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autofree guint8 *zeros = g_malloc0(4096);
    sqlite3 *after;

    overwrite(self, (gsize) (get_root(self, "item") - 1) * 4096, zeros, 4096);
    after = salvage_and_open(self, report);
    g_assert_cmpint(ask(after, "SELECT count(*) FROM item WHERE name='name of ' || id AND thrice=3*id"), ==, N_ROWS);
    g_assert_cmpint(ask(after, "SELECT count(*) FROM pair"), ==, N_ROWS);
    (void) sqlite3_close(after);
}

/* Rows that were deleted stand on free pages: they stay deleted. */
static void
test_deleted(Fixture *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autofree guint8 *zeros = g_malloc0(4096);
    sqlite3 *db = open_plain(self->source);

    g_assert_cmpint(sqlite3_exec(db, "DELETE FROM item WHERE id BETWEEN 100 AND 900", NULL, NULL, NULL), ==, SQLITE_OK);
    (void) sqlite3_close(db);
    overwrite(self, (gsize) (get_root(self, "item") - 1) * 4096, zeros, 4096);
    db = salvage_and_open(self, report);
    g_assert_cmpint(ask(db, "SELECT count(*) FROM item"), ==, N_ROWS + 1 - 801);
    g_assert_cmpint(ask(db, "SELECT count(*) FROM item WHERE id BETWEEN 100 AND 900"), ==, 0);
    (void) sqlite3_close(db);
}

/* What was committed is in the log only; the file is older, and damaged. A transaction that was not committed does not count. */
static void
test_log(Fixture *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autofree char *log = g_strconcat(self->source, "-wal", NULL);
    g_autofree char *bytes = NULL;
    g_autofree char *file = NULL;
    gsize n_bytes = 0;
    gsize n_file = 0;
    sqlite3 *db = open_plain(self->source);

    g_assert_cmpint(sqlite3_exec(db,
                                 "PRAGMA journal_mode=WAL; UPDATE item SET name='new ' || id WHERE id<=1000;"
                                 "PRAGMA cache_size=2; BEGIN; UPDATE item SET name='not committed'",
                                 NULL, NULL, NULL),
                    ==, SQLITE_OK);
    g_assert_true(g_file_get_contents(log, &bytes, &n_bytes, NULL));
    g_assert_true(g_file_get_contents(self->source, &file, &n_file, NULL));
    (void) sqlite3_close(db);
    memset(file, 0, 100);
    g_assert_true(g_file_set_contents(self->source, file, (gssize) n_file, NULL));
    g_assert_true(g_file_set_contents(log, bytes, (gssize) n_bytes, NULL));

    db = salvage_and_open(self, report);
    g_assert_cmpint(ask(db, "SELECT count(*) FROM item WHERE name='new ' || id"), ==, 1000);
    g_assert_cmpint(ask(db, "SELECT count(*) FROM item WHERE name='name of ' || id"), ==, N_ROWS - 1000);
    (void) sqlite3_close(db);
}

/* Texts that do more than make what they are stored for, or never end. */
static void
test_hostile_schema(Fixture *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autofree char *copy = g_strconcat(self->source, QD_SCHEMA_COPY_SUFFIX, NULL);
    sqlite3 *db = open_plain(self->source);

    g_assert_cmpint(g_unlink(copy), ==, 0);
    g_assert_cmpint(sqlite3_exec(db,
                                 "PRAGMA writable_schema=ON;"
                                 "INSERT INTO sqlite_schema VALUES"
                                 "('table', 'two', 'two', 0, 'CREATE TABLE two(a); DELETE FROM pair'),"
                                 "('view', 'other', 'other', 0, 'ATTACH ''/nowhere/file'' AS other'),"
                                 "('table', 'endless', 'endless', 0, 'CREATE TABLE endless AS"
                                 " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT max(i) FROM n')",
                                 NULL, NULL, NULL),
                    ==, SQLITE_OK);
    (void) sqlite3_close(db);
    db = salvage_and_open(self, report);
    g_assert_cmpint(ask(db, "SELECT count(*) FROM pair"), ==, N_ROWS);
    g_assert_cmpint(ask(db, "SELECT count(*) FROM sqlite_schema WHERE name IN ('two', 'other', 'endless')"), ==, 0);
    g_assert_cmpuint(report->notes->len, ==, 1 + 3); /* the first one is of the file */
    (void) sqlite3_close(db);
}

static void
test_cancelled(Fixture *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autoptr(GError) error = NULL;
    const gint cancelled = 1;
    const QdSalvageOptions options = {
        .source = self->source, .target = self->target, .limits = &self->store.limits, .cancelled = &cancelled
    };

    g_assert_false(qd_salvage_run(&options, report, &error));
    g_assert_error(error, QD_ERROR, (gint) QW_ERROR_CANCELLED);
    g_assert_false(g_file_test(self->target, G_FILE_TEST_EXISTS));
}

/* Damage at random ------------------------------------------------------------------------------------------------------- */

typedef struct Damage {
    guint32 first_page;
    guint32 last_page;
    const char *what;
} Damage;

typedef struct Known {
    GHashTable *item_pages; /* id → page */
    GHashTable *facts;      /* what questions about our own tables may answer */
    gboolean has_copy;      /* of the schema */
    guint64 schema_pages;   /* bits, of the first 64 */
    guint32 page_size;
    guint64 n_rows; /* away from the damage, in all cases where the schema was whole */
    guint64 n_survived;
    guint n_failed;
    guint n_cases;
    double worst;
} Known;

/* Single flips, torn sectors, lost pages, a file cut short. */
static Damage
damage_file(const Fixture *self, GRand *random, guint32 page_size)
{
    gsize n_bytes = 0;
    const guint8 *whole = g_bytes_get_data(self->whole, &n_bytes);
    g_autofree guint8 *bytes = g_memdup2(whole, n_bytes);
    gsize at = (gsize) g_rand_double_range(random, 0, (double) n_bytes);
    gsize start = at - at % page_size;
    Damage damage = { (guint32) (at / page_size) + 1, (guint32) (at / page_size) + 1, NULL };

    switch (g_rand_int_range(random, 0, 5)) {
    case 0:
        damage.what = "a bit";
        bytes[at] ^= (guint8) (1u << g_rand_int_range(random, 0, 8));
        break;
    case 1:
        damage.what = "some bytes";
        for (gsize i = at; i < MIN(at + 20, start + page_size); i++)
            bytes[i] = (guint8) g_rand_int(random);
        break;
    case 2:
        damage.what = "a sector of zeros";
        memset(bytes + at - at % 512, 0, 512);
        break;
    case 3:
        damage.what = "a page of noise";
        for (gsize i = start; i < start + page_size; i++)
            bytes[i] = (guint8) g_rand_int(random);
        break;
    default:
        damage.what = "an end";
        n_bytes = MAX(at, n_bytes / 2);
        damage.first_page = (guint32) (n_bytes / page_size) + 1;
        damage.last_page = G_MAXUINT32;
        break;
    }
    g_assert_true(g_file_set_contents(self->source, (const char *) bytes, (gssize) n_bytes, NULL));
    return damage;
}

static gboolean
is_hit(const Damage *damage, gpointer page)
{
    return GPOINTER_TO_UINT(page) >= damage->first_page && GPOINTER_TO_UINT(page) <= damage->last_page;
}

static const char *const own_questions[] = {
    "SELECT 'q' || s || ' ' || p || ' ' || o || ' ' || g FROM queryd_quad",
    "SELECT 't' || id || ' ' || ifnull(datatype, '') || ' ' || lexical FROM queryd_term",
    "SELECT 'p' || prefix || ' ' || iri FROM queryd_prefix",
};

static void
learn_facts(Known *known, sqlite3 *db)
{
    for (guint i = 0; i < G_N_ELEMENTS(own_questions); i++) {
        sqlite3_stmt *stmt = NULL;

        g_assert_cmpint(sqlite3_prepare_v2(db, own_questions[i], -1, &stmt, NULL), ==, SQLITE_OK);
        while (sqlite3_step(stmt) == SQLITE_ROW)
            g_hash_table_add(known->facts, g_strdup((const char *) sqlite3_column_text(stmt, 0)));
        (void) sqlite3_finalize(stmt);
    }
}

/* Which page holds which row: SQLite tells the pages, our reader the rows. */
static void
learn(Known *known, Fixture *self)
{
    sqlite3 *db = open_plain(self->source);
    g_autoptr(QdPageFile) file = qd_page_file_open(self->source, NULL);
    g_autofree guint8 *buffer = NULL;
    sqlite3_stmt *stmt = NULL;

    known->page_size = qd_page_file_get_info(file)->page_size;
    known->item_pages = g_hash_table_new(NULL, NULL);
    known->facts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    known->worst = 1;
    buffer = g_malloc(known->page_size);
    g_assert_cmpint(sqlite3_prepare_v2(db, "SELECT pageno, name, pagetype FROM dbstat", -1, &stmt, NULL), ==, SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        guint32 page = (guint32) sqlite3_column_int(stmt, 0);
        const char *name = (const char *) sqlite3_column_text(stmt, 1);
        QdPageCells cells;

        if (g_str_equal(name, "sqlite_schema")) {
            g_assert_cmpuint(page, <, 64);
            known->schema_pages |= G_GUINT64_CONSTANT(1) << page;
        }
        if (!g_str_equal(name, "item") || !g_str_equal((const char *) sqlite3_column_text(stmt, 2), "leaf"))
            continue;
        g_assert_true(qd_page_file_read(file, page, buffer) && qd_page_cells_init(&cells, buffer, page, known->page_size));
        for (guint32 i = 0; i < cells.n_cells; i++) {
            QdPageCell cell;

            g_assert_true(qd_page_cells_get(&cells, i, &cell));
            if (cell.rowid <= N_ROWS)
                g_hash_table_insert(known->item_pages, GINT_TO_POINTER(cell.rowid), GUINT_TO_POINTER(page));
        }
    }
    (void) sqlite3_finalize(stmt);
    g_assert_cmpuint(g_hash_table_size(known->item_pages), ==, N_ROWS);
    learn_facts(known, db);
    (void) sqlite3_close(db);
}

/* Rows of a user's table: right, unless the damage was on their page. Returns: how many of them, away from it */
static guint
check_items(const Known *known, const Damage *damage, sqlite3 *db)
{
    sqlite3_stmt *stmt = NULL;
    guint n_right = 0;

    if (sqlite3_prepare_v2(db,
                           "SELECT id, name='name of ' || id AND size=id/4.0 AND data=zeroblob(id%100) FROM item WHERE id<>1000000",
                           -1, &stmt, NULL) != SQLITE_OK)
        return 0;
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        gpointer id = GINT_TO_POINTER(sqlite3_column_int64(stmt, 0));
        gpointer page = g_hash_table_lookup(known->item_pages, id);
        gboolean right = page != NULL && sqlite3_column_int(stmt, 1) == 1;

        if (page != NULL && is_hit(damage, page))
            continue;
        n_right += right ? 1 : 0;
        /* a rowid that was altered stands on a page that was hit */
        if (!right && page != NULL)
            g_error("%s at page %u: row %d is wrong", damage->what, damage->first_page, GPOINTER_TO_INT(id));
    }
    (void) sqlite3_finalize(stmt);
    return n_right;
}

/* Our own tables say nothing that is not so, after any damage. */
static void
check_facts(const Known *known, const Damage *damage, sqlite3 *db)
{
    for (guint i = 0; i < 2; i++) {
        sqlite3_stmt *stmt = NULL;

        if (sqlite3_prepare_v2(db, own_questions[i], -1, &stmt, NULL) != SQLITE_OK)
            continue;
        while (sqlite3_step(stmt) == SQLITE_ROW) {
            const char *fact = (const char *) sqlite3_column_text(stmt, 0);

            if (!g_hash_table_contains(known->facts, fact))
                g_error("%s at page %u: '%s' is wrong", damage->what, damage->first_page, fact);
        }
        (void) sqlite3_finalize(stmt);
    }
}

static guint
count_away(const Known *known, const Damage *damage)
{
    GHashTableIter iter;
    gpointer page;
    guint n = 0;

    g_hash_table_iter_init(&iter, known->item_pages);
    while (g_hash_table_iter_next(&iter, NULL, &page))
        n += is_hit(damage, page) ? 0 : 1;
    return n;
}

static void
run_case(Fixture *self, Known *known, GRand *random)
{
    const Damage damage = damage_file(self, random, known->page_size);
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autoptr(GError) error = NULL;
    gboolean schema_lost = !known->has_copy && damage.first_page < 64 && (known->schema_pages >> damage.first_page & 1) != 0;
    guint n_away = count_away(known, &damage);
    guint n_right = 0;

    known->n_cases++;
    if (salvage(self, report, &error)) {
        sqlite3 *db = open_plain(self->target);

        n_right = check_items(known, &damage, db);
        check_facts(known, &damage, db);
        (void) sqlite3_close(db);
    } else {
        g_assert_error(error, QD_ERROR, (gint) QW_ERROR_CORRUPT);
        g_assert_false(g_file_test(self->target, G_FILE_TEST_EXISTS));
        known->n_failed++;
        if (!schema_lost)
            g_error("%s at page %u: %s", damage.what, damage.first_page, error->message);
    }
    known->n_rows += n_away;
    known->n_survived += n_right;
    if (schema_lost)
        return;
    known->worst = MIN(known->worst, (double) n_right / n_away);
    if (10 * n_right < 9 * n_away)
        g_error("%s at page %u: of %u rows elsewhere only %u survived", damage.what, damage.first_page, n_away, n_right);
}

static void
damage_at_random(Fixture *self, gboolean has_copy, guint n_cases)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(20);
    Known known = { .has_copy = has_copy };

    learn(&known, self);
    for (guint i = 0; i < n_cases; i++)
        run_case(self, &known, random);
    g_test_message("%u cases: %.3f %% of the rows away from the damage survived, in the worst %.1f %%; %u files without a schema",
                   known.n_cases, 100.0 * (double) known.n_survived / (double) known.n_rows, 100 * known.worst, known.n_failed);
    g_assert_cmpuint(100 * known.n_survived, >, 90 * known.n_rows);
    g_hash_table_unref(known.item_pages);
    g_hash_table_unref(known.facts);
}

static void
test_random(Fixture *self, gconstpointer data)
{
    damage_at_random(self, TRUE, N_DAMAGES);
}

static void
test_random_without_copy(Fixture *self, gconstpointer data)
{
    g_autofree char *copy = g_strconcat(self->source, QD_SCHEMA_COPY_SUFFIX, NULL);

    g_assert_cmpint(g_unlink(copy), ==, 0);
    damage_at_random(self, FALSE, N_DAMAGES / 2);
}

/* All of its pages are zeros: with the copy only its rows are missed, which are there. */
static void
test_no_schema(Fixture *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autofree char *copy = g_strconcat(self->source, QD_SCHEMA_COPY_SUFFIX, NULL);
    g_autoptr(GError) error = NULL;
    Known known = { 0 };
    sqlite3 *db;
    int fd;

    learn(&known, self);
    fd = g_open(self->source, O_WRONLY | O_CLOEXEC, 0);
    for (guint page = 1; page < 64; page++) {
        g_autofree guint8 *zeros = g_malloc0(known.page_size);

        if ((known.schema_pages >> page & 1) != 0)
            g_assert_cmpint(pwrite(fd, zeros, known.page_size, (off_t) (page - 1) * known.page_size), ==, known.page_size);
    }
    (void) close(fd);

    g_assert_true(salvage(self, report, &error));
    g_assert_no_error(error);
    db = open_plain(self->target);
    g_assert_cmpint(ask(db, "SELECT count(*) FROM item"), ==, N_ROWS + 1);
    g_assert_cmpint(ask(db, "SELECT count(*) FROM plain WHERE z='z'"), ==, 500);
    g_assert_cmpint(ask(db, "SELECT count(*) FROM words WHERE words MATCH 'some'"), ==, 200);
    g_assert_cmpint(ask(db, "SELECT user_version FROM pragma_user_version"), ==, 7);
    (void) sqlite3_close(db);

    g_assert_cmpint(g_unlink(copy), ==, 0);
    g_assert_false(salvage(self, report, &error));
    g_assert_error(error, QD_ERROR, (gint) QW_ERROR_CORRUPT);
    g_hash_table_unref(known.item_pages);
    g_hash_table_unref(known.facts);
}

/* Of another schema, or of another file: the pages are believed. */
static void
test_old_copy(Fixture *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autofree char *copy = g_strconcat(self->source, QD_SCHEMA_COPY_SUFFIX, NULL);
    g_autofree char *content = NULL;
    g_autoptr(GError) error = NULL;
    gsize n_bytes = 0;
    sqlite3 *db;

    g_assert_true(g_file_get_contents(copy, &content, &n_bytes, NULL));
    store_fixture_open(&self->store);
    store_execute(self->store.writer, "ALTER TABLE item RENAME TO renamed");
    store_fixture_close(&self->store);
    g_assert_true(g_file_set_contents(copy, content, (gssize) n_bytes, NULL));
    g_assert_true(salvage(self, report, &error));
    g_assert_no_error(error);
    db = open_plain(self->target);
    g_assert_cmpint(ask(db, "SELECT count(*) FROM renamed"), ==, N_ROWS + 1);
    (void) sqlite3_close(db);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/recover/salvage/" path, Fixture, NULL, set_up, func, tear_down)
    ADD("whole", test_whole);
    ADD("header", test_header);
    ADD("root", test_root);
    ADD("deleted", test_deleted);
    ADD("log", test_log);
    ADD("hostile-schema", test_hostile_schema);
    ADD("cancelled", test_cancelled);
    ADD("no-schema", test_no_schema);
    ADD("old-copy", test_old_copy);
    ADD("random", test_random);
    ADD("random-without-copy", test_random_without_copy);
    return g_test_run();
}
