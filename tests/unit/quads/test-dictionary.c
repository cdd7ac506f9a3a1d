/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Terms into ids and back; what is rolled back is forgotten.
 */
#include "daemon/quads/dictionary.h"

#include <string.h>

#include "daemon/rdf/term-id.h"
#include "daemon/sqlite/memory.h"
#include "tests/unit/store/store-fixture.h"

#define XSD QD_XSD_NAMESPACE

static QdTerm
make(QdTermKind kind, const char *lexical, const char *qualifier)
{
    return (QdTerm){ .kind = kind,
                     .lexical = lexical,
                     .n_lexical = strlen(lexical),
                     .qualifier = qualifier,
                     .n_qualifier = qualifier != NULL ? strlen(qualifier) : 0 };
}

static QdDictionary *
begin(StoreFixture *fixture)
{
    g_autoptr(GError) error = NULL;
    QdDictionary *dictionary = qd_dictionary_get(fixture->writer, &error);

    g_assert_no_error(error);
    store_execute(fixture->writer, "BEGIN IMMEDIATE");
    (void) qd_connection_set_policy(fixture->writer, QD_POLICY_INTERNAL);
    (void) qd_dictionary_begin(dictionary, &error);
    g_assert_no_error(error);
    return dictionary;
}

static void
finish(StoreFixture *fixture)
{
    g_autoptr(GError) error = NULL;

    (void) qd_dictionary_finish(qd_dictionary_get(fixture->writer, &error), &error);
    g_assert_no_error(error);
    store_execute(fixture->writer, "COMMIT");
}

static gint64
intern(QdDictionary *dictionary, QdTerm term)
{
    g_autoptr(GError) error = NULL;
    gint64 id = 0;

    (void) qd_dictionary_intern(dictionary, &term, &id, &error);
    g_assert_no_error(error);
    g_assert_cmpint(id, !=, 0);
    return id;
}

/* 0: not stored */
static gint64
find(QdDictionary *dictionary, QdTerm term)
{
    g_autoptr(GError) error = NULL;
    gint64 id = 0;
    gboolean found = qd_dictionary_find_id(dictionary, &term, &id, &error);

    g_assert_no_error(error);
    return found ? id : 0;
}

static void
assert_term(QdDictionary *dictionary, gint64 id, QdTerm expected)
{
    g_autoptr(GError) error = NULL;
    QdTerm term;

    (void) qd_dictionary_get_term(dictionary, id, &term, &error);
    g_assert_no_error(error);
    g_assert_cmpint(term.kind, ==, expected.kind);
    g_assert_cmpmem(term.lexical, term.n_lexical, expected.lexical, expected.n_lexical);
    g_assert_cmpmem(term.qualifier, term.n_qualifier, expected.qualifier, expected.n_qualifier);
}

static void
test_intern(StoreFixture *fixture, gconstpointer data)
{
    const QdTerm terms[] = {
        make(QD_TERM_IRI, "http://example.org/", NULL),
        make(QD_TERM_STRING, "http://example.org/", NULL),
        make(QD_TERM_STRING, "", NULL),
        make(QD_TERM_LANG_STRING, "chat", "fr"),
        make(QD_TERM_LANG_STRING, "chat", "en-GB"),
        make(QD_TERM_TYPED, "1.5", XSD "double"),
        make(QD_TERM_TYPED, "1.5", XSD "float"),
        make(QD_TERM_TYPED, "01", XSD "integer"),
        make(QD_TERM_TYPED, "1", XSD "integer"),
        make(QD_TERM_TYPED, "true", XSD "boolean"),
        make(QD_TERM_TYPED, "x", "http://example.org/"),
    };
    QdDictionary *dictionary = begin(fixture);
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    g_autoptr(GError) error = NULL;
    gint64 ids[G_N_ELEMENTS(terms)];
    QdDictionary *other;

    for (guint i = 0; i < G_N_ELEMENTS(terms); i++) {
        ids[i] = intern(dictionary, terms[i]);
        for (guint k = 0; k < i; k++)
            g_assert_cmpint(ids[i], !=, ids[k]);
    }
    finish(fixture);

    other = qd_dictionary_get(reader, &error);
    g_assert_no_error(error);
    for (guint pass = 0; pass < 2; pass++)
        for (guint i = 0; i < G_N_ELEMENTS(terms); i++) {
            assert_term(dictionary, ids[i], terms[i]);
            assert_term(other, ids[i], terms[i]);
            g_assert_cmpint(find(other, terms[i]), ==, ids[i]);
        }
    g_assert_cmpint(ids[8], <, 0); /* 1 is in line, 01 is not */
    g_assert_cmpint(ids[7], >, 0);
    g_assert_cmpint(find(other, make(QD_TERM_IRI, "http://example.org/x", NULL)), ==, 0);
    g_assert_cmpint(find(other, make(QD_TERM_TYPED, "1.5", "http://example.org/unknown")), ==, 0);
    g_assert_cmpint(store_get_int64(reader, "SELECT count(*) FROM queryd_term WHERE num=1.5"), ==, 2);
    g_assert_cmpint(store_get_int64(reader, "SELECT count(*) FROM queryd_term WHERE num=1"), ==, 1);
}

static void
test_language_case(StoreFixture *fixture, gconstpointer data)
{
    QdDictionary *dictionary = begin(fixture);
    gint64 id = intern(dictionary, make(QD_TERM_LANG_STRING, "x", "de-AT"));

    g_assert_cmpint(intern(dictionary, make(QD_TERM_LANG_STRING, "x", "DE-at")), ==, id);
    finish(fixture);
    g_assert_cmpint(find(dictionary, make(QD_TERM_LANG_STRING, "x", "de-at")), ==, id);
    assert_term(dictionary, id, make(QD_TERM_LANG_STRING, "x", "de-AT"));
}

static void
test_rollback(StoreFixture *fixture, gconstpointer data)
{
    QdDictionary *dictionary = begin(fixture);
    gint64 kept = intern(dictionary, make(QD_TERM_IRI, "a:kept", NULL));
    gint64 lost;
    gint64 later;

    finish(fixture);
    for (guint pass = 0; pass < 2; pass++) {
        (void) begin(fixture);
        lost = intern(dictionary, make(QD_TERM_IRI, "a:lost", NULL));
        assert_term(dictionary, lost, make(QD_TERM_IRI, "a:lost", NULL));
        if (pass == 1)
            (void) qd_dictionary_finish(dictionary, NULL);
        store_execute(fixture->writer, "ROLLBACK");
    }

    (void) begin(fixture);
    later = intern(dictionary, make(QD_TERM_IRI, "a:later", NULL));
    g_assert_cmpint(later, ==, lost);
    assert_term(dictionary, later, make(QD_TERM_IRI, "a:later", NULL));
    g_assert_cmpint(find(dictionary, make(QD_TERM_IRI, "a:lost", NULL)), ==, 0);
    g_assert_cmpint(find(dictionary, make(QD_TERM_IRI, "a:kept", NULL)), ==, kept);
    finish(fixture);
}

static void
test_bnodes(StoreFixture *fixture, gconstpointer data)
{
    QdDictionary *dictionary = begin(fixture);
    gint64 first = qd_dictionary_make_bnode(dictionary);
    g_autoptr(GError) error = NULL;
    QdTerm unknown = make(QD_TERM_BNODE, "b2", NULL);
    gint64 id;

    g_assert_cmpint(intern(dictionary, make(QD_TERM_BNODE, "b1", NULL)), ==, first);
    g_assert_false(qd_dictionary_intern(dictionary, &unknown, &id, &error));
    store_assert_error(error, QW_ERROR_BAD_PARAMETER, "no blank node has the label 'b2'");
    finish(fixture);

    assert_term(dictionary, first, make(QD_TERM_BNODE, "b1", NULL));
    g_assert_cmpint(find(dictionary, make(QD_TERM_BNODE, "b1", NULL)), ==, first);
    g_assert_cmpint(find(dictionary, make(QD_TERM_BNODE, "b01", NULL)), ==, 0);
    g_assert_cmpint(find(dictionary, make(QD_TERM_BNODE, "x1", NULL)), ==, 0);
    store_fixture_close(fixture);
    store_fixture_open(fixture);
    dictionary = begin(fixture);
    g_assert_cmpint(qd_dictionary_make_bnode(dictionary), ==, qd_term_id_from_bnode(2));
    finish(fixture);
}

/* More terms than there are slots, and long ones: a term outlives as many calls as it has to. */
static void
test_borrowed(StoreFixture *fixture, gconstpointer data)
{
    QdDictionary *dictionary = begin(fixture);
    g_autofree char *long_text = g_strnfill(100000, 'x');
    gint64 ids[3000];
    QdTerm terms[QD_DICTIONARY_N_BORROWED];
    char expected[32];

    for (guint i = 0; i < G_N_ELEMENTS(ids); i++) {
        (void) g_snprintf(expected, sizeof expected, "text %u", i);
        if (i % 7 == 0)
            (void) memcpy(long_text, expected, strlen(expected));
        ids[i] = intern(dictionary, make(QD_TERM_STRING, i % 7 == 0 ? long_text : expected, NULL));
    }
    finish(fixture);
    for (guint start = 0; start + 1024 * 2 < G_N_ELEMENTS(ids); start += 5)
        for (guint i = 0; i < G_N_ELEMENTS(terms); i++) {
            /* two that share a slot follow each other */
            guint which = start + (i % 2) * 1024 + i / 2;

            g_assert_true(qd_dictionary_get_term(dictionary, ids[which], &terms[i], NULL));
            if (i + 1 < G_N_ELEMENTS(terms))
                continue;
            for (guint k = 0; k <= i; k++) {
                int n = g_snprintf(expected, sizeof expected, "text %u", start + (k % 2) * 1024 + k / 2);

                g_assert_cmpmem(terms[k].lexical, (gsize) n, expected, (gsize) n);
            }
        }
}

static void
test_unknown_id(StoreFixture *fixture, gconstpointer data)
{
    const gint64 ids[] = { 0, 4, 1 << 20, qd_term_id_make(31, 0) };
    QdDictionary *dictionary = qd_dictionary_get(fixture->writer, NULL);

    for (guint i = 0; i < G_N_ELEMENTS(ids); i++) {
        g_autoptr(GError) error = NULL;
        QdTerm term;

        g_assert_false(qd_dictionary_get_term(dictionary, ids[i], &term, &error));
        store_assert_error(error, QW_ERROR_CORRUPT, "no term has the id ");
    }
}

/* What is noted is found without reading the store: here it has no such term. */
static void
test_noted(StoreFixture *fixture, gconstpointer data)
{
    const QdTerm iri = make(QD_TERM_IRI, "http://example.org/noted", NULL);
    const QdTerm label = make(QD_TERM_BNODE, "b77", NULL);
    QdDictionary *dictionary = qd_dictionary_get(fixture->writer, NULL);
    gint64 id = qd_term_id_from_sequence(77, QD_TERM_IRI);

    g_assert_cmpint(find(dictionary, iri), ==, 0);
    qd_dictionary_note_id(dictionary, &iri, id);
    g_assert_cmpint(find(dictionary, iri), ==, id);
    g_assert_cmpint(find(dictionary, make(QD_TERM_STRING, "http://example.org/noted", NULL)), ==, 0);
    qd_dictionary_note_id(dictionary, &label, id);
    g_assert_cmpint(find(dictionary, label), !=, id);
}

/* What is lent counts as SQLite's memory, and a large text is gone when no term is borrowed any more. */
static void
test_release(StoreFixture *fixture, gconstpointer data)
{
    g_autofree char *text = g_strnfill(1000000, 'a');
    QdDictionary *dictionary = begin(fixture);
    gint64 large = intern(dictionary, make(QD_TERM_STRING, text, NULL));
    gint64 small = intern(dictionary, make(QD_TERM_STRING, "a", NULL));
    int64_t before;

    assert_term(dictionary, small, make(QD_TERM_STRING, "a", NULL));
    qd_dictionary_release(dictionary);
    before = qd_memory_get_thread_balance();
    for (guint i = 0; i < 3; i++)
        assert_term(dictionary, large, make(QD_TERM_STRING, text, NULL));
    g_assert_cmpint(qd_memory_get_thread_balance() - before, >=, 1000000);
    qd_dictionary_release(dictionary);
    g_assert_cmpint(qd_memory_get_thread_balance() - before, <, 100000);
    assert_term(dictionary, small, make(QD_TERM_STRING, "a", NULL));
    finish(fixture);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_assert_true(qd_memory_init(NULL));
    g_test_add("/quads/dictionary/intern", StoreFixture, NULL, store_fixture_set_up, test_intern, store_fixture_tear_down);
    g_test_add("/quads/dictionary/language-case", StoreFixture, NULL, store_fixture_set_up, test_language_case,
               store_fixture_tear_down);
    g_test_add("/quads/dictionary/release", StoreFixture, NULL, store_fixture_set_up, test_release, store_fixture_tear_down);
    g_test_add("/quads/dictionary/rollback", StoreFixture, NULL, store_fixture_set_up, test_rollback, store_fixture_tear_down);
    g_test_add("/quads/dictionary/bnodes", StoreFixture, NULL, store_fixture_set_up, test_bnodes, store_fixture_tear_down);
    g_test_add("/quads/dictionary/borrowed", StoreFixture, NULL, store_fixture_set_up, test_borrowed, store_fixture_tear_down);
    g_test_add("/quads/dictionary/noted", StoreFixture, NULL, store_fixture_set_up, test_noted, store_fixture_tear_down);
    g_test_add("/quads/dictionary/unknown-id", StoreFixture, NULL, store_fixture_set_up, test_unknown_id, store_fixture_tear_down);
    return g_test_run();
}
