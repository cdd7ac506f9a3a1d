/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The full-text index after all that can happen to quads, against the literals it should have.
 */
#include "daemon/quads/fts.h"

#include <string.h>

#include "daemon/quads/bulk-load.h"
#include "daemon/quads/quads.h"
#include "tests/unit/store/store-fixture.h"

#define EX "http://example.org/"
#define N_LITERALS 40

static gint64
intern(QdDictionary *dictionary, QdTermKind kind, const char *text, const char *language)
{
    QdTerm term = { kind, text, strlen(text), language, language != NULL ? strlen(language) : 0 };
    g_autoptr(GError) error = NULL;
    gint64 id = 0;

    (void) qd_dictionary_intern(dictionary, &term, &id, &error);
    g_assert_no_error(error);
    return id;
}

static QdQuads *
begin(StoreFixture *fixture)
{
    g_autoptr(GError) error = NULL;
    QdQuads *quads = qd_quads_get(fixture->writer, &error);

    g_assert_no_error(error);
    store_execute(fixture->writer, "BEGIN IMMEDIATE");
    (void) qd_quads_begin(quads, &error);
    g_assert_no_error(error);
    return quads;
}

static void
end(StoreFixture *fixture, QdQuads *quads, const char *how)
{
    g_autoptr(GError) error = NULL;

    (void) qd_quads_finish(quads, &error);
    g_assert_no_error(error);
    store_execute(fixture->writer, how);
}

static gboolean
change(StoreFixture *fixture, const QdFtsChange *what, GError **error)
{
    gboolean ok;

    store_execute(fixture->writer, "BEGIN IMMEDIATE");
    ok = qd_fts_change(fixture->writer, what, error);
    store_execute(fixture->writer, ok ? "COMMIT" : "ROLLBACK");
    return ok;
}

static void
change_ok(StoreFixture *fixture, const QdFtsChange *what)
{
    g_autoptr(GError) error = NULL;

    (void) change(fixture, what, &error);
    g_assert_no_error(error);
}

static void
index_predicate(StoreFixture *fixture, const char *iri)
{
    char *add[] = { (char *) iri, NULL };

    change_ok(fixture, &(QdFtsChange){ .add = add });
}

static gint64
count_matches(StoreFixture *fixture, const char *query)
{
    g_autofree char *sql = g_strdup_printf("SELECT count(*) FROM queryd_fts WHERE queryd_fts MATCH '%s'", query);

    return store_get_int64(fixture->writer, sql);
}

/* Both ways of asking: ours by sets, FTS5's by reading every literal again. */
static void
assert_consistent(StoreFixture *fixture)
{
    g_autoptr(GPtrArray) messages = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;

    g_assert_true(qd_fts_check(fixture->writer, messages, &error));
    g_assert_cmpuint(messages->len, ==, 0);
    change_ok(fixture, &(QdFtsChange){ .compare = TRUE });
}

/* Quad number @i of a small set: four predicates, literals in common. */
static void
change_quad(QdQuads *quads, guint i, gboolean insert)
{
    QdDictionary *dictionary = qd_quads_get_dictionary(quads);
    g_autofree char *predicate = g_strdup_printf(EX "p%u", i % 4);
    g_autofree char *text = g_strdup_printf("word%u common", i / 4 % N_LITERALS);
    g_autofree char *subject = g_strdup_printf(EX "s%u", i / 7 % 5);
    g_autoptr(GError) error = NULL;
    gint64 s = intern(dictionary, QD_TERM_IRI, subject, NULL);
    gint64 p = intern(dictionary, QD_TERM_IRI, predicate, NULL);
    gint64 o = i % 3 == 0 ? intern(dictionary, QD_TERM_IRI, text, NULL)
                          : intern(dictionary, i % 3 == 1 ? QD_TERM_STRING : QD_TERM_LANG_STRING, text, i % 3 == 1 ? NULL : "en");
    gint64 g = i % 5 == 0 ? s : 0;

    (void) (insert ? qd_quads_insert : qd_quads_delete)(quads, s, p, o, g, NULL, &error);
    g_assert_no_error(error);
}

static void
test_random(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(7);

    index_predicate(fixture, EX "p1");
    for (guint round = 0; round < 60; round++) {
        QdQuads *quads = begin(fixture);

        for (guint i = 0; i < 30; i++)
            change_quad(quads, g_rand_int_range(random, 0, 2000), g_rand_boolean(random));
        end(fixture, quads, round % 5 == 4 ? "ROLLBACK" : "COMMIT");
        if (round == 20)
            index_predicate(fixture, EX "p2");
        if (round == 40)
            change_ok(fixture, &(QdFtsChange){ .has_all = TRUE, .all = TRUE });
        assert_consistent(fixture);
    }
    g_assert_cmpint(count_matches(fixture, "common"), >, 20);
}

static void
test_settings(StoreFixture *fixture, gconstpointer data)
{
    char *remove[] = { (char *) EX "p1", NULL };
    QdQuads *quads = begin(fixture);

    for (guint i = 0; i < 200; i++)
        change_quad(quads, i, TRUE);
    end(fixture, quads, "COMMIT");
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM sqlite_schema WHERE name='queryd_fts'"), ==, 0);

    index_predicate(fixture, EX "p1");
    assert_consistent(fixture);
    g_assert_cmpint(count_matches(fixture, "common"), >, 0);
    g_assert_cmpint(count_matches(fixture, "COMMÖN"), ==, count_matches(fixture, "common"));
    g_assert_cmpint(count_matches(fixture, "ommo"), ==, 0);
    change_ok(fixture, &(QdFtsChange){ .tokenizer = "trigram" });
    g_assert_cmpint(count_matches(fixture, "ommo"), >, 0);
    assert_consistent(fixture);
    change_ok(fixture, &(QdFtsChange){ .rebuild = TRUE });
    g_assert_cmpint(count_matches(fixture, "ommo"), >, 0);
    change_ok(fixture, &(QdFtsChange){ .remove = remove });
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM sqlite_schema WHERE name='queryd_fts'"), ==, 0);
    assert_consistent(fixture);
}

static void
test_bad_settings(StoreFixture *fixture, gconstpointer data)
{
    char *relative[] = { (char *) "label", NULL };
    char *spaced[] = { (char *) EX "a b", NULL };
    char *unknown[] = { (char *) EX "p1", NULL };
    const struct {
        QdFtsChange change;
        const char *words;
    } cases[] = {
        { { .tokenizer = "icu" }, "unicode61, porter and trigram are known" },
        { { .add = relative }, "no absolute IRI" },
        { { .add = spaced }, "no absolute IRI" },
        { { .remove = unknown }, "is not in the full-text index" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_false(change(fixture, &cases[i].change, &error));
        store_assert_error(error, QW_ERROR_BAD_PARAMETER, cases[i].words);
    }
}

/* Quads first, then what the index should not have and lacks. */
static void
test_damage(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(GPtrArray) messages = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    QdQuads *quads;

    index_predicate(fixture, EX "p1");
    quads = begin(fixture);
    for (guint i = 0; i < 200; i++)
        change_quad(quads, i, TRUE);
    end(fixture, quads, "COMMIT");
    store_execute(fixture->writer, "INSERT INTO queryd_fts(queryd_fts, rowid, lexical) SELECT 'delete', id, lexical"
                                   " FROM queryd_fts_content LIMIT 2;"
                                   "INSERT INTO queryd_fts(rowid, lexical) VALUES(1, 'nothing')");
    g_assert_true(qd_fts_check(fixture->writer, messages, &error));
    g_assert_cmpuint(messages->len, ==, 2);
    g_assert_cmpstr(messages->pdata[0], ==, "the full-text index lacks 2 literals: rebuild it");
    g_assert_cmpstr(messages->pdata[1], ==, "the full-text index has too many of 1 literals: rebuild it");
    g_assert_false(change(fixture, &(QdFtsChange){ .compare = TRUE }, &error));
    store_assert_error(error, QW_ERROR_CORRUPT, "rebuild it");
    change_ok(fixture, &(QdFtsChange){ .rebuild = TRUE });
    assert_consistent(fixture);
}

static void
load(StoreFixture *fixture, guint start, guint end, QdBulkReplace replace)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    g_autoptr(QdBulkLoad) bulk = qd_bulk_load_new(reader, fixture->dir, NULL, &fixture->limits, &error);
    guint64 n_inserted = 0;

    g_assert_no_error(error);
    for (guint i = start; i < end; i++) {
        g_autofree char *subject = g_strdup_printf(EX "s%u", i);
        g_autofree char *text = g_strdup_printf("text number%u", i % 5000);
        QdTerm s = { .kind = QD_TERM_IRI, .lexical = subject, .n_lexical = strlen(subject) };
        QdTerm p = { .kind = QD_TERM_IRI, .lexical = EX "p1", .n_lexical = strlen(EX "p1") };
        QdTerm o = { .kind = QD_TERM_STRING, .lexical = text, .n_lexical = strlen(text) };

        (void) qd_bulk_load_add(&s, &p, &o, NULL, bulk, &error);
        g_assert_no_error(error);
    }
    store_execute(fixture->writer, "BEGIN IMMEDIATE");
    (void) qd_bulk_load_commit(bulk, fixture->writer, replace, &n_inserted, &error);
    g_assert_no_error(error);
    store_execute(fixture->writer, "COMMIT");
}

/* Loads that rebuild the indexes, and those that do not. */
static void
test_bulk_load(StoreFixture *fixture, gconstpointer data)
{
    index_predicate(fixture, EX "p1");
    load(fixture, 0, 25000, QD_BULK_REPLACE_NOTHING);
    g_assert_cmpint(count_matches(fixture, "text"), ==, 5000);
    assert_consistent(fixture);
    load(fixture, 25000, 26000, QD_BULK_REPLACE_NOTHING);
    assert_consistent(fixture);
    load(fixture, 0, 10, QD_BULK_REPLACE_ALL);
    g_assert_cmpint(count_matches(fixture, "text"), ==, 10);
    assert_consistent(fixture);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *path;
        void (*test)(StoreFixture *fixture, gconstpointer data);
    } tests[] = {
        { "/quads/fts/random", test_random },
        { "/quads/fts/settings", test_settings },
        { "/quads/fts/bad-settings", test_bad_settings },
        { "/quads/fts/damage", test_damage },
        { "/quads/fts/bulk-load", test_bulk_load },
    };

    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add(tests[i].path, StoreFixture, NULL, store_fixture_set_up, tests[i].test, store_fixture_tear_down);
    return g_test_run();
}
