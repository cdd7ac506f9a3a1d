/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbered steps: a new file gets all, an older one the rest, and what it held stays.
 */
#include "daemon/sqlite/schema.h"

#include "tests/unit/store/store-fixture.h"

#define N_STORED_QUADS 8

static void
test_new(StoreFixture *fixture, gconstpointer data)
{
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT value FROM queryd_meta WHERE key='schema_version'"), ==,
                    QD_SCHEMA_VERSION);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad, queryd_term"), ==, 0);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_meta WHERE key='term_secret'"), ==, 0);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT " QD_TERM_KEY_HALF("0") "<>" QD_TERM_KEY_HALF("1")), ==, 1);
}

/* A file of the newest step has nothing that has to be compared one by one; another program's change is named. */
static void
test_check(StoreFixture *fixture, gconstpointer data)
{
    static const struct {
        const char *harm;
        const char *words;
    } rows[] = {
        { "DROP INDEX queryd_quad_ospg", "queryd_quad_ospg is missing, or is not defined as queryd defines it" },
        { "DROP VIEW queryd_fts_content", "queryd_fts_content is missing" },
        { "ALTER TABLE queryd_prefix RENAME COLUMN iri TO uri", "queryd_prefix is missing, or is not defined" },
        { "DELETE FROM queryd_meta WHERE key='bnode_serial'", "queryd_meta lacks the row bnode_serial" },
        { "DELETE FROM queryd_term_key WHERE tag&1", "queryd_term_key lacks a row, or has lost its rowids" },
        { "UPDATE queryd_term_key SET rowid=rowid+1 WHERE tag&1", "queryd_term_key lacks a row" },
        { "INSERT INTO queryd_term_key VALUES(1)", "queryd_term_key lacks a row" },
        { "DROP INDEX queryd_term_key_tag", "queryd_term_key_tag is missing" },
        { "INSERT INTO queryd_term VALUES(4001, NULL, 'x', NULL)", "term_sequence in queryd_meta is below the ids of terms" },
        { "INSERT INTO queryd_quad VALUES(1, 1, 1, 0)", "queryd_term is empty, and there are quads" },
    };
    g_autoptr(GError) error = NULL;

    g_assert_true(qd_schema_check(fixture->writer, &fixture->limits, &error));
    g_assert_no_error(error);
    g_assert_cmphex(qd_schema_get_fingerprint(fixture->writer), ==, QD_SCHEMA_FINGERPRINT);
    store_execute(fixture->writer, "CREATE TABLE queryd_of_others(a)");
    g_assert_true(qd_schema_check(fixture->writer, &fixture->limits, &error));
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) failure = NULL;

        store_execute(fixture->writer, "BEGIN");
        store_execute(fixture->writer, rows[i].harm);
        g_assert_false(qd_schema_check(fixture->writer, &fixture->limits, &failure));
        store_assert_error(failure, QW_ERROR_SYNTAX, rows[i].words);
        store_execute(fixture->writer, "ROLLBACK");
    }
}

/* As version 1 left it: without the tables of RDF. */
static void
test_older(StoreFixture *fixture, gconstpointer data)
{
    gint64 start = store_get_int64(fixture->writer, "SELECT value FROM queryd_meta WHERE key='start_counter'");

    store_execute(fixture->writer, "DROP TABLE queryd_term; DROP TABLE queryd_term_hash; DROP TABLE queryd_quad;"
                                   "DROP TABLE queryd_graph; DROP TABLE queryd_predicate; DROP TABLE queryd_prefix;"
                                   "DROP TABLE queryd_payload;"
                                   "DROP TABLE queryd_fulltext; DROP VIEW queryd_fts_content; DROP TABLE queryd_term_key;"
                                   "DROP TABLE queryd_column;"
                                   "DELETE FROM queryd_meta WHERE key NOT IN ('schema_version', 'start_counter');"
                                   "UPDATE queryd_meta SET value=1 WHERE key='schema_version';"
                                   "CREATE TABLE mine(x); INSERT INTO mine VALUES(7)");
    store_fixture_close(fixture);
    store_fixture_open(fixture);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT value FROM queryd_meta WHERE key='schema_version'"), ==,
                    QD_SCHEMA_VERSION);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT value FROM queryd_meta WHERE key='start_counter'"), ==, start + 1);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad"), ==, 0);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT x FROM mine"), ==, 7);
}

/* A step that fails leaves the file at the step before. */
static void
test_failed(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    store_execute(fixture->writer, "DROP TABLE queryd_term; DROP TABLE queryd_term_hash; DROP TABLE queryd_quad;"
                                   "UPDATE queryd_meta SET value=1 WHERE key='schema_version'");
    g_assert_false(qd_schema_migrate(fixture->writer, &error));
    store_assert_error(error, QW_ERROR_SYNTAX, "cannot bring the schema to version 2: ");
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT value FROM queryd_meta WHERE key='schema_version'"), ==, 1);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM sqlite_schema WHERE name='queryd_term'"), ==, 0);
    g_assert_true(sqlite3_get_autocommit(qd_connection_get_db(fixture->writer)));
}

/* tests/data/old-stores/README.md */
static void
take_stored(StoreFixture *fixture, guint version)
{
    g_autofree char *name = g_strdup_printf("version-%u.db", version);
    g_autofree char *from = g_test_build_filename(G_TEST_DIST, "..", "data", "old-stores", name, NULL);
    g_autofree char *to = g_build_filename(fixture->dir, "queryd.db", NULL);
    g_autofree char *bytes = NULL;
    gsize n_bytes = 0;

    store_fixture_close(fixture);
    g_assert_true(g_file_get_contents(from, &bytes, &n_bytes, NULL));
    g_assert_true(g_file_set_contents(to, bytes, (gssize) n_bytes, NULL));
}

static void
assert_stored(QdConnection *writer, gboolean has_quads)
{
    g_assert_cmpint(store_get_int64(writer, "SELECT value FROM queryd_meta WHERE key='schema_version'"), ==, QD_SCHEMA_VERSION);
    g_assert_cmpint(
        store_get_int64(writer, "SELECT count(*) FROM item WHERE name='name of ' || id AND size=id/4.0 AND length(data)=id"), ==,
        20);
    g_assert_cmpint(store_get_int64(writer, "SELECT count(*) FROM pair WHERE b=a*a"), ==, 20);
    g_assert_cmpint(store_get_int64(writer, "SELECT count(*) FROM queryd_quad"), ==, has_quads ? N_STORED_QUADS : 0);
    g_assert_cmpint(store_get_int64(writer, "SELECT count(*) FROM queryd_term WHERE lexical='in a graph'"), ==, has_quads ? 1 : 0);
    g_assert_cmpint(store_get_int64(writer, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check<>'ok'"), ==, 0);
}

static void
test_stored(StoreFixture *fixture, gconstpointer data)
{
    static const guint versions[] = { 1, 2, 4, 5, 6, 7 };

    for (gsize i = 0; i < G_N_ELEMENTS(versions); i++) {
        take_stored(fixture, versions[i]);
        store_fixture_open(fixture);
        assert_stored(fixture->writer, versions[i] >= 2);
        g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_payload"), ==, versions[i] >= 4 ? 2 : 0);
    }
    /* the index of files finds both: what is in the row still has its hash, and the look at the content decides */
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_payload INDEXED BY queryd_payload_file"
                                                     " WHERE hash<>x'' AND length(hash)=32"),
                    ==, 2);
}

/* The blob of an older store: its halves, the first bytes highest. */
static void
test_key_moves(StoreFixture *fixture, gconstpointer data)
{
    g_autofree char *path = g_build_filename(fixture->dir, "queryd.db", NULL);
    sqlite3 *db = NULL;

    take_stored(fixture, 5);
    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, "UPDATE queryd_meta SET value=x'0123456789ABCDEFFEDCBA9876543210' WHERE key='term_secret'",
                                 NULL, NULL, NULL),
                    ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
    store_fixture_open(fixture);
    g_assert_cmphex(store_get_int64(fixture->writer, "SELECT " QD_TERM_KEY_HALF("0")), ==, INT64_C(0x0123456789abcdef));
    g_assert_cmphex(store_get_int64(fixture->writer, "SELECT " QD_TERM_KEY_HALF("1")), ==, (gint64) UINT64_C(0xfedcba9876543210));
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_meta WHERE key='term_secret'"), ==, 0);

    store_execute(fixture->writer, "CREATE TABLE filler(a); DROP TABLE filler; VACUUM");
    g_assert_cmphex(store_get_int64(fixture->writer, "SELECT " QD_TERM_KEY_HALF("0")), ==, INT64_C(0x0123456789abcdef));
    g_assert_cmphex(store_get_int64(fixture->writer, "SELECT " QD_TERM_KEY_HALF("1")), ==, (gint64) UINT64_C(0xfedcba9876543210));
    g_assert_true(qd_schema_check(fixture->writer, &fixture->limits, NULL));
}

/* Each step is taken or not: what stands in the way of one leaves the file at the one before. Later it goes on from there. */
static void
test_stored_fails(StoreFixture *fixture, gconstpointer data)
{
    g_autofree char *path = g_build_filename(fixture->dir, "queryd.db", NULL);
    g_autoptr(GError) error = NULL;
    sqlite3 *db = NULL;

    take_stored(fixture, 1);
    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, "CREATE TABLE queryd_predicate(mine)", NULL, NULL, NULL), ==, SQLITE_OK);
    g_assert_null(qd_database_open(fixture->dir, &fixture->limits, &error));
    store_assert_error(error, QW_ERROR_CORRUPT, "cannot bring the schema to version 2: ");
    g_assert_cmpint(sqlite3_exec(db,
                                 "SELECT abs(-9223372036854775808) WHERE (SELECT value FROM queryd_meta WHERE key='schema_version')"
                                 "<>1 OR EXISTS (SELECT 1 FROM sqlite_schema WHERE name='queryd_term');"
                                 "DROP TABLE queryd_predicate",
                                 NULL, NULL, NULL),
                    ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_close(db), ==, SQLITE_OK);
    store_fixture_open(fixture);
    assert_stored(fixture->writer, FALSE);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/sqlite/schema/new", StoreFixture, NULL, store_fixture_set_up, test_new, store_fixture_tear_down);
    g_test_add("/sqlite/schema/older", StoreFixture, NULL, store_fixture_set_up, test_older, store_fixture_tear_down);
    g_test_add("/sqlite/schema/check", StoreFixture, NULL, store_fixture_set_up, test_check, store_fixture_tear_down);
    g_test_add("/sqlite/schema/failed", StoreFixture, NULL, store_fixture_set_up, test_failed, store_fixture_tear_down);
    g_test_add("/sqlite/schema/key-moves", StoreFixture, NULL, store_fixture_set_up, test_key_moves, store_fixture_tear_down);
    g_test_add("/sqlite/schema/stored", StoreFixture, NULL, store_fixture_set_up, test_stored, store_fixture_tear_down);
    g_test_add("/sqlite/schema/stored-fails", StoreFixture, NULL, store_fixture_set_up, test_stored_fails, store_fixture_tear_down);
    return g_test_run();
}
