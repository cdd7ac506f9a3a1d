/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Facts of RDF that were altered in one of the places where they stand: the file itself is whole, so that only the others tell.
 */
#include <glib/gstdio.h>
#include <string.h>

#include "daemon/quads/fts.h"
#include "daemon/recover/salvage.h"
#include "daemon/sqlite/schema.h"
#include "tests/unit/quads/bulk-fixture.h"

#define N_QUADS 600
#define COUNT "SELECT count(*) FROM queryd_quad"

typedef struct Fixture {
    StoreFixture store;
    QdSalvageReport *report;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    store_fixture_set_up(&self->store, NULL);
    g_assert_cmpuint(bulk_load_range(&self->store, 0, N_QUADS), ==, N_QUADS);
    store_fixture_close(&self->store);
    self->report = qd_salvage_report_new();
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    qd_salvage_report_free(self->report);
    store_fixture_tear_down(&self->store, NULL);
}

/* On a connection of its own: what the schema says is read again each time. */
static void
alter(Fixture *self, const char *sql)
{
    g_autofree char *path = g_build_filename(self->store.dir, "queryd.db", NULL);
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    (void) sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        g_error("%s: %s", sql, sqlite3_errmsg(db));
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
}

/* Statements that write to the table of quads and leave its indexes as they are. */
static void
alter_table_only(Fixture *self, const char *sql)
{
    alter(self, "CREATE TABLE saved AS SELECT * FROM sqlite_schema WHERE name GLOB 'queryd_quad_*'; PRAGMA writable_schema=ON;"
                "DELETE FROM sqlite_schema WHERE name GLOB 'queryd_quad_*'");
    alter(self, sql);
    alter(self, "PRAGMA writable_schema=ON; INSERT INTO sqlite_schema SELECT * FROM saved");
    alter(self, "DROP TABLE saved");
}

/* The salvaged store takes the place, is opened as ever, and is sound; its writer is asked then. */
static void
salvage(Fixture *self)
{
    g_autofree char *path = g_build_filename(self->store.dir, "queryd.db", NULL);
    g_autofree char *target = g_build_filename(self->store.dir, "salvaged", NULL);
    const QdSalvageOptions options = { .source = path, .target = target, .limits = &self->store.limits, .start_counter = 9 };
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;

    (void) qd_salvage_run(&options, self->report, &error);
    g_assert_no_error(error);
    text = qd_salvage_report_format(self->report, path);
    g_test_message("%s", text);
    g_assert_cmpint(g_rename(target, path), ==, 0);
    store_fixture_open(&self->store);
    (void) qd_connection_set_policy(self->store.writer, QD_POLICY_INTERNAL);
    bulk_assert_sound(&self->store);
}

static gint64
ask(Fixture *self, const char *sql)
{
    return store_get_int64(self->store.writer, sql);
}

static void
assert_reported(const Fixture *self, const char *words)
{
    g_autofree char *text = qd_salvage_report_format(self->report, "s");

    if (strstr(text, words) == NULL)
        g_error("not reported: %s: %s", words, text);
}

static void
change_index(Fixture *self, const QdFtsChange *change)
{
    g_autoptr(GError) error = NULL;

    store_execute(self->store.writer, "BEGIN IMMEDIATE");
    (void) qd_fts_change(self->store.writer, change, &error);
    g_assert_no_error(error);
    store_execute(self->store.writer, "COMMIT");
}

/* The same quads loaded again are all known: the keys still find each term. */
static void
assert_found_again(Fixture *self)
{
    gint64 n_terms = ask(self, "SELECT count(*) FROM queryd_term");
    gint64 n_quads = ask(self, COUNT " WHERE s>0");

    (void) bulk_load_range(&self->store, 0, N_QUADS);
    g_assert_cmpint(ask(self, "SELECT count(*) FROM queryd_term"), ==, n_terms);
    g_assert_cmpint(ask(self, COUNT " WHERE s>0"), ==, n_quads);
}

static void
test_altered_term(Fixture *self, gconstpointer data)
{
    gint64 n_left;

    alter(self, "UPDATE queryd_term SET lexical='forged' WHERE lexical='" BULK_EX "s7'");
    salvage(self);
    assert_reported(self, "1 terms of the dictionary were altered, and are dropped");
    g_assert_cmpint(ask(self, "SELECT count(*) FROM queryd_term WHERE lexical='forged'"), ==, 0);
    n_left = ask(self, COUNT);
    g_assert_cmpint(n_left, <, N_QUADS);
    g_assert_cmpint(n_left, >=, N_QUADS - 6);
    assert_reported(self, "quads are dropped, since they name terms that are lost");
}

/* What every key was made with: then the keys say nothing, and are computed again. */
static void
test_altered_secret(Fixture *self, gconstpointer data)
{
    static const char *const alterations[] = {
        "DELETE FROM queryd_term_key; INSERT INTO queryd_meta VALUES('term_secret', randomblob(16));" QD_TERM_KEY_MOVE,
        "UPDATE queryd_term_key SET rowid=rowid+1",
        "UPDATE queryd_term_key SET tag='x'",
        "DELETE FROM queryd_term_key WHERE tag&1",
    };

    alter(self, alterations[GPOINTER_TO_UINT(data)]);
    salvage(self);
    g_assert_cmpint(ask(self, COUNT), ==, N_QUADS);
    if (GPOINTER_TO_UINT(data) == 0)
        assert_reported(self, "the secret of the dictionary's keys was altered: its terms cannot be checked");
    g_assert_cmpint(ask(self, "SELECT " QD_TERM_KEY_HALF("0") "<>" QD_TERM_KEY_HALF("1")), ==, 1);
    assert_found_again(self);
}

/* Two of three trees decide: what was forged in one goes, what was taken from one comes back. */
static void
test_vote(Fixture *self, gconstpointer data)
{
    const QdSalvageTable *table;

    alter_table_only(self, "INSERT INTO queryd_quad SELECT s, p, s, g FROM queryd_quad WHERE s>0 LIMIT 1;"
                           "DELETE FROM queryd_quad WHERE s IN (SELECT s FROM queryd_quad WHERE s>0 ORDER BY s DESC LIMIT 1)");
    salvage(self);
    table = qd_salvage_report_get_table(self->report, "queryd_quad");
    g_assert_cmpuint(table->n_refused_rows, ==, 1);
    g_assert_cmpint(ask(self, COUNT), ==, N_QUADS);
    g_assert_cmpint(ask(self, COUNT " WHERE s=o"), ==, ask(self, COUNT " NOT INDEXED WHERE s=o"));
}

static void
test_dangling(Fixture *self, gconstpointer data)
{
    g_autofree char *lost = NULL;
    gint64 n_left;

    alter(self, "CREATE TABLE gone AS SELECT id FROM queryd_term WHERE lexical='" BULK_EX "p3';"
                "DELETE FROM queryd_term WHERE id IN (SELECT id FROM gone); DELETE FROM queryd_term_hash WHERE id IN"
                " (SELECT id FROM gone); DROP TABLE gone");
    salvage(self);
    n_left = ask(self, COUNT);
    g_assert_cmpint(n_left, ==, N_QUADS - (N_QUADS - 3 + 6) / 7);
    lost = g_strdup_printf("%d known to be lost", (int) (N_QUADS - n_left));
    assert_reported(self, lost);
    assert_reported(self, "quads are dropped, since they name terms that are lost");
    g_assert_cmpint(ask(self, "SELECT sum(n_quads) FROM queryd_predicate"), ==, n_left);
}

/* Counters that are too low would give numbers twice. */
static void
test_counters(Fixture *self, gconstpointer data)
{
    alter(self, "UPDATE queryd_meta SET value=1 WHERE key IN ('term_sequence', 'bnode_serial');"
                "UPDATE queryd_meta SET value='many' WHERE key='start_counter';"
                "UPDATE queryd_predicate SET n_quads=n_quads+1000, n_subjects=1; DELETE FROM queryd_graph WHERE id<>0");
    salvage(self);
    g_assert_cmpint(ask(self, "SELECT value FROM queryd_meta WHERE key='start_counter'"), >=, 9);
    g_assert_cmpint(ask(self, "SELECT sum(n_quads) FROM queryd_predicate"), ==, N_QUADS);
    g_assert_cmpint(ask(self, "SELECT sum(n_quads) FROM queryd_graph WHERE id<>0"), ==, ask(self, COUNT " WHERE g<>0"));
    /* blank nodes of a load are new ones */
    g_assert_cmpuint(bulk_load_range(&self->store, 0, 11), ==, 1);
    g_assert_cmpint(ask(self, COUNT), ==, N_QUADS + 1);
    bulk_assert_sound(&self->store);
}

static void
test_lost_table(Fixture *self, gconstpointer data)
{
    alter(self, "DROP TABLE queryd_prefix; DELETE FROM queryd_meta WHERE key='bnode_serial'");
    salvage(self);
    assert_reported(self, "'queryd_prefix' was lost and is rebuilt");
    g_assert_cmpint(ask(self, "SELECT count(*) FROM queryd_prefix"), >=, 0);
    g_assert_cmpint(ask(self, COUNT), ==, N_QUADS);
    assert_found_again(self);
}

/* No key at all: then nothing can be checked, and all of it is believed. */
static void
test_lost_keys(Fixture *self, gconstpointer data)
{
    alter(self, "DELETE FROM queryd_term_hash");
    salvage(self);
    g_assert_cmpint(ask(self, COUNT), ==, N_QUADS);
    assert_found_again(self);
}

/* The index is made again with the tokenizer that was chosen, then and later. What is no tokenizer is lost. */
static void
test_tokenizer(Fixture *self, gconstpointer data)
{
    static const QdFtsChange rebuild = { .rebuild = TRUE };
    static const QdFtsChange choose = { .tokenizer = "trigram", .has_all = TRUE, .all = TRUE };

    store_fixture_open(&self->store);
    (void) qd_connection_set_policy(self->store.writer, QD_POLICY_INTERNAL);
    change_index(self, &choose);
    store_execute(self->store.writer, "INSERT INTO queryd_meta VALUES('incarnation', -5)");
    store_fixture_close(&self->store);
    alter(self, "INSERT INTO queryd_meta VALUES('other', 'text')");

    salvage(self);
    g_assert_cmpint(ask(self, "SELECT value='trigram' FROM queryd_meta WHERE key='fulltext_tokenizer'"), ==, 1);
    g_assert_cmpint(ask(self, "SELECT value FROM queryd_meta WHERE key='incarnation'"), ==, -5);
    g_assert_cmpint(ask(self, "SELECT count(*) FROM queryd_meta WHERE key='other'"), ==, 0);
    g_assert_cmpint(ask(self, "SELECT instr(sql, 'trigram')>0 FROM sqlite_schema WHERE name='queryd_fts'"), ==, 1);
    change_index(self, &rebuild);
    g_assert_cmpint(ask(self, "SELECT instr(sql, 'trigram')>0 FROM sqlite_schema WHERE name='queryd_fts'"), ==, 1);

    store_fixture_close(&self->store);
    alter(self, "UPDATE queryd_meta SET value=7 WHERE key='fulltext_tokenizer'");
    salvage(self);
    g_assert_cmpint(ask(self, "SELECT count(*) FROM queryd_meta WHERE key='fulltext_tokenizer'"), ==, 0);
}

/* Its content is a view, which is not to be dropped as a table of the index. */
static void
test_harmed_index(Fixture *self, gconstpointer data)
{
    static const QdFtsChange choose = { .tokenizer = "trigram", .has_all = TRUE, .all = TRUE };
    gint64 n_texts;

    store_fixture_open(&self->store);
    (void) qd_connection_set_policy(self->store.writer, QD_POLICY_INTERNAL);
    change_index(self, &choose);
    n_texts = ask(self, "SELECT count(*) FROM queryd_fts_docsize");
    g_assert_cmpint(n_texts, >, 0);
    store_fixture_close(&self->store);
    alter(self, "DELETE FROM queryd_fts_config");

    salvage(self);
    assert_reported(self, "full-text index 'queryd_fts' was damaged; it is rebuilt from its texts");
    g_assert_cmpint(ask(self, "SELECT count(*) FROM queryd_fts_docsize"), ==, n_texts);
    g_assert_cmpint(ask(self, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'queryd_fts%' AND type='view'"), ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func, data) g_test_add("/recover/salvage-rdf/" path, Fixture, GUINT_TO_POINTER(data), set_up, func, tear_down)
    ADD("altered-term", test_altered_term, 0);
    ADD("altered-secret/other", test_altered_secret, 0);
    ADD("altered-secret/text", test_altered_secret, 1);
    ADD("altered-secret/short", test_altered_secret, 2);
    ADD("altered-secret/gone", test_altered_secret, 3);
    ADD("vote", test_vote, 0);
    ADD("dangling", test_dangling, 0);
    ADD("counters", test_counters, 0);
    ADD("lost-table", test_lost_table, 0);
    ADD("lost-keys", test_lost_keys, 0);
    ADD("tokenizer", test_tokenizer, 0);
    ADD("harmed-index", test_harmed_index, 0);
    return g_test_run();
}
