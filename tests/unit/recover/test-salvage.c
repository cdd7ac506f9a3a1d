/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Salvage: every kind of table comes through whole, and what is lost by damage at known places.
 */
#include "daemon/recover/salvage.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/recover/schema-copy.h"
#include "tests/unit/recover/filled-store.h"

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
test_whole(FilledStore *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    sqlite3 *before;
    sqlite3 *after;

    (void) filled_store_salvage(self, report, &error);
    g_assert_no_error(error);
    text = qd_salvage_report_format(report, self->source);
    g_test_message("%s", text);
    g_assert_cmpuint(report->n_lost_pages, ==, 0);
    g_assert_cmpuint(report->n_lost_rows, ==, 0);
    before = filled_store_open(self->source);
    after = filled_store_open(self->target);
    for (guint i = 0; i < G_N_ELEMENTS(whole_questions); i++)
        assert_same(before, after, whole_questions[i]);
    g_assert_cmpint(filled_store_ask(after, "SELECT value FROM queryd_meta WHERE key='start_counter'"), ==, 5);
    (void) sqlite3_close(before);
    (void) sqlite3_close(after);
}

/* Damage at known places --------------------------------------------------------------------------------------------- */

static void
overwrite(const FilledStore *self, gsize offset, const void *data, gsize n_bytes)
{
    int fd = open(self->source, O_WRONLY | O_CLOEXEC);

    g_assert_cmpint(pwrite(fd, data, n_bytes, (off_t) offset), ==, n_bytes);
    (void) close(fd);
}

static sqlite3 *
salvage_and_open(FilledStore *self, QdSalvageReport *report)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;

    (void) filled_store_salvage(self, report, &error);
    g_assert_no_error(error);
    text = qd_salvage_report_format(report, self->source);
    g_test_message("%s", text);
    return filled_store_open(self->target);
}

/* Page size, encoding and list of free pages are not known: the pages themselves tell. */
static void
test_header(FilledStore *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    const guint8 zeros[100] = { 0 };
    sqlite3 *after;

    overwrite(self, 0, zeros, sizeof zeros);
    after = salvage_and_open(self, report);
    g_assert_cmpint(filled_store_ask(after, "SELECT count(*) FROM item"), ==, FILLED_N_ROWS + 1);
    g_assert_cmpint(filled_store_ask(after, "SELECT count(*) FROM queryd_quad"), ==, FILLED_N_QUADS);
    (void) sqlite3_close(after);
}

static void
assert_numbers(FilledStore *self, gint64 user_version, gint64 application_id, const char *words)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    sqlite3 *after = salvage_and_open(self, report);
    g_autofree char *text = qd_salvage_report_format(report, self->source);

    g_assert_cmpint(filled_store_ask(after, "PRAGMA user_version"), ==, user_version);
    g_assert_cmpint(filled_store_ask(after, "PRAGMA application_id"), ==, application_id);
    g_assert_true(words != NULL ? strstr(text, words) != NULL : strstr(text, "user_version") == NULL);
    (void) sqlite3_close(after);
}

/* What only the first page has: from the copy of the schema, or lost, and said. */
static void
test_numbers(FilledStore *self, gconstpointer data)
{
    g_autofree char *copy = g_strconcat(self->source, QD_SCHEMA_COPY_SUFFIX, NULL);
    g_autofree char *noise = g_strnfill(100, 'x');

    assert_numbers(self, 7, 99, NULL);
    overwrite(self, 60, "\0\0\0\5", 4);
    assert_numbers(self, 5, 99,
                   "user_version 5 and application_id 99 are kept as the file has them, its copy of the schema has 7 and 99");
    overwrite(self, 0, noise, 100);
    assert_numbers(self, 7, 99, "user_version 7 and application_id 99 are taken from the copy of the schema");
    g_assert_cmpint(g_unlink(copy), ==, 0);
    assert_numbers(self, 0, 0, "user_version and application_id are lost with the file's header, and are 0");
}

/* The rest of the header is right: so are they. */
static void
test_numbers_after_a_flip(FilledStore *self, gconstpointer data)
{
    g_autofree char *copy = g_strconcat(self->source, QD_SCHEMA_COPY_SUFFIX, NULL);

    g_assert_cmpint(g_unlink(copy), ==, 0);
    overwrite(self, 3, "x", 1);
    assert_numbers(self, 7, 99, NULL);
}

static guint32
get_root(const FilledStore *self, const char *name)
{
    sqlite3 *db = filled_store_open(self->source);
    g_autofree char *sql = g_strdup_printf("SELECT rootpage FROM sqlite_schema WHERE name='%s'", name);
    guint32 root = (guint32) filled_store_ask(db, sql);

    (void) sqlite3_close(db);
    return root;
}

/* The page above all others of a table: the rows are on pages that nothing refers to any more. */
static void
test_root(FilledStore *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autofree guint8 *zeros = g_malloc0(4096);
    sqlite3 *after;

    overwrite(self, (gsize) (get_root(self, "item") - 1) * 4096, zeros, 4096);
    after = salvage_and_open(self, report);
    g_assert_cmpint(filled_store_ask(after, "SELECT count(*) FROM item WHERE name='name of ' || id AND thrice=3*id"), ==,
                    FILLED_N_ROWS);
    g_assert_cmpint(filled_store_ask(after, "SELECT count(*) FROM pair"), ==, FILLED_N_ROWS);
    (void) sqlite3_close(after);
}

/* Rows that were deleted stand on free pages: they stay deleted. */
static void
test_deleted(FilledStore *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autofree guint8 *zeros = g_malloc0(4096);
    sqlite3 *db = filled_store_open(self->source);

    g_assert_cmpint(sqlite3_exec(db, "DELETE FROM item WHERE id BETWEEN 100 AND 900", NULL, NULL, NULL), ==, SQLITE_OK);
    (void) sqlite3_close(db);
    overwrite(self, (gsize) (get_root(self, "item") - 1) * 4096, zeros, 4096);
    db = salvage_and_open(self, report);
    g_assert_cmpint(filled_store_ask(db, "SELECT count(*) FROM item"), ==, FILLED_N_ROWS + 1 - 801);
    g_assert_cmpint(filled_store_ask(db, "SELECT count(*) FROM item WHERE id BETWEEN 100 AND 900"), ==, 0);
    (void) sqlite3_close(db);
}

/* What was committed is in the log only; the file is older, and damaged. A transaction that was not committed does not count. */
static void
test_log(FilledStore *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autofree char *log = g_strconcat(self->source, "-wal", NULL);
    g_autofree char *bytes = NULL;
    g_autofree char *file = NULL;
    gsize n_bytes = 0;
    gsize n_file = 0;
    sqlite3 *db = filled_store_open(self->source);

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
    g_assert_cmpint(filled_store_ask(db, "SELECT count(*) FROM item WHERE name='new ' || id"), ==, 1000);
    g_assert_cmpint(filled_store_ask(db, "SELECT count(*) FROM item WHERE name='name of ' || id"), ==, FILLED_N_ROWS - 1000);
    (void) sqlite3_close(db);
}

/* Texts that do more than make what they are stored for, or never end. */
static void
test_hostile_schema(FilledStore *self, gconstpointer data)
{
    g_autoptr(QdSalvageReport) report = qd_salvage_report_new();
    g_autofree char *copy = g_strconcat(self->source, QD_SCHEMA_COPY_SUFFIX, NULL);
    sqlite3 *db = filled_store_open(self->source);

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
    g_assert_cmpint(filled_store_ask(db, "SELECT count(*) FROM pair"), ==, FILLED_N_ROWS);
    g_assert_cmpint(filled_store_ask(db, "SELECT count(*) FROM sqlite_schema WHERE name IN ('two', 'other', 'endless')"), ==, 0);
    g_assert_cmpuint(report->notes->len, ==, 1 + 3); /* the first one is of the file */
    (void) sqlite3_close(db);
}

static void
test_cancelled(FilledStore *self, gconstpointer data)
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

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) g_test_add("/recover/salvage/" path, FilledStore, NULL, filled_store_set_up, func, filled_store_tear_down)
    ADD("whole", test_whole);
    ADD("header", test_header);
    ADD("numbers", test_numbers);
    ADD("numbers-after-a-flip", test_numbers_after_a_flip);
    ADD("root", test_root);
    ADD("deleted", test_deleted);
    ADD("log", test_log);
    ADD("hostile-schema", test_hostile_schema);
    ADD("cancelled", test_cancelled);
    return g_test_run();
}
