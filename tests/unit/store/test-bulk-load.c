/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loads of all sizes against what qd_quads_insert() makes of the same quads.
 */
#include "daemon/store/bulk-load.h"

#include <string.h>

#include "daemon/store/fts.h"
#include "daemon/store/quads.h"
#include "daemon/store/store-catalog.h"
#include "tests/unit/store/store-fixture.h"

#define EX "http://example.org/"

static QdTerm
make_iri(const char *iri)
{
    return (QdTerm){ .kind = QD_TERM_IRI, .lexical = iri, .n_lexical = strlen(iri) };
}

/* Quad number @i of a set with all kinds of terms, some in common. */
static void
add_quad(QdBulkLoad *load, guint i)
{
    g_autofree char *subject = g_strdup_printf(EX "s%u", i / 3);
    g_autofree char *predicate = g_strdup_printf(EX "p%u", i % 7);
    g_autofree char *text = g_strdup_printf("%u", i % 1000);
    QdTerm s = i % 11 == 0 ? (QdTerm){ .kind = QD_TERM_BNODE, .lexical = text, .n_lexical = strlen(text) } : make_iri(subject);
    QdTerm p = make_iri(predicate);
    QdTerm o = { .kind = (QdTermKind) (i % 5 < 4 ? i % 5 : 1), .lexical = text, .n_lexical = strlen(text) };
    QdTerm g = make_iri(EX "g");
    g_autoptr(GError) error = NULL;

    if (o.kind == QD_TERM_IRI)
        o = make_iri(subject);
    if (o.kind == QD_TERM_LANG_STRING)
        o.qualifier = i % 2 == 0 ? "en" : "EN";
    if (o.kind == QD_TERM_TYPED)
        o.qualifier = i % 4 == 0 ? QD_XSD_NAMESPACE "integer" : QD_XSD_NAMESPACE "double";
    o.n_qualifier = o.qualifier != NULL ? strlen(o.qualifier) : 0;
    (void) qd_bulk_load_add(&s, &p, &o, i % 13 == 0 ? &g : NULL, load, &error);
    g_assert_no_error(error);
}

static QdBulkLoad *
new_load(StoreFixture *fixture, QdConnection *reader, const char *graph)
{
    g_autoptr(GError) error = NULL;
    QdBulkLoad *load = qd_bulk_load_new(reader, fixture->dir, graph, &fixture->limits, &error);

    g_assert_no_error(error);
    return load;
}

static guint64
commit(StoreFixture *fixture, QdBulkLoad *load, QdBulkReplace replace)
{
    g_autoptr(GError) error = NULL;
    guint64 n_inserted = 0;

    store_execute(fixture->writer, "BEGIN IMMEDIATE");
    (void) qd_bulk_load_commit(load, fixture->writer, replace, &n_inserted, &error);
    g_assert_no_error(error);
    store_execute(fixture->writer, "COMMIT");
    return n_inserted;
}

/* The whole load in one step; from @start to before @end. */
static guint64
load_range(StoreFixture *fixture, guint start, guint end)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    g_autoptr(QdBulkLoad) load = new_load(fixture, reader, NULL);

    for (guint i = start; i < end; i++)
        add_quad(load, i);
    g_assert_cmpuint(qd_bulk_load_get_n_quads(load), ==, end - start);
    return commit(fixture, load, QD_BULK_REPLACE_NOTHING);
}

#define NOT_STORED(column) column ">0 AND " column " NOT IN (SELECT id FROM queryd_term)"

/* All that has to hold of a store, whatever was loaded. */
static void
assert_sound(StoreFixture *fixture)
{
    g_autoptr(GError) error = NULL;
    QdQuads *quads = qd_quads_get(fixture->writer, &error);
    static const char *const none[] = {
        "SELECT count(*) FROM queryd_quad WHERE " NOT_STORED("s") " OR " NOT_STORED("p") " OR " NOT_STORED("o") " OR " NOT_STORED(
            "g"),
        "SELECT count(*) FROM queryd_term WHERE id NOT IN (SELECT id FROM queryd_term_hash)",
        "SELECT count(*)-count(DISTINCT id) FROM queryd_term_hash",
        "SELECT count(*) FROM (SELECT 1 FROM queryd_term GROUP BY id&3, lexical, lower(datatype) HAVING count(*)>1)",
        "SELECT max(id>>2)>(SELECT value FROM queryd_meta WHERE key='term_sequence') FROM queryd_term",
        "SELECT 3-count(*) FROM sqlite_schema WHERE type='index' AND name GLOB 'queryd_quad_*'",
    };

    for (guint i = 0; i < G_N_ELEMENTS(none); i++)
        g_assert_cmpint(store_get_int64(fixture->writer, none[i]), ==, 0);
    store_execute(fixture->writer, "CREATE TEMP TABLE IF NOT EXISTS before AS SELECT * FROM queryd_predicate LIMIT 0;"
                                   "DELETE FROM before; INSERT INTO before SELECT * FROM queryd_predicate; BEGIN");
    (void) qd_quads_begin(quads, &error);
    (void) qd_quads_recount(quads, &error);
    (void) qd_quads_finish(quads, &error);
    g_assert_no_error(error);
    g_assert_cmpint(
        store_get_int64(fixture->writer, "SELECT count(*) FROM (SELECT * FROM before EXCEPT SELECT * FROM queryd_predicate)"), ==,
        0);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*)-(SELECT count(*) FROM before) FROM queryd_predicate"), ==, 0);
    store_execute(fixture->writer, "ROLLBACK");
}

static void
test_small(StoreFixture *fixture, gconstpointer data)
{
    g_assert_cmpuint(load_range(fixture, 0, 500), ==, 500);
    assert_sound(fixture);
    /* blank nodes are fresh each time, all else is there already */
    g_assert_cmpuint(load_range(fixture, 0, 500), ==, (500 + 10) / 11);
    assert_sound(fixture);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT n_quads FROM queryd_graph"), ==,
                    store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad WHERE g<>0"));
}

/* Enough for indexes to be made anew; the same data in two loads is the same store. */
static void
test_large(StoreFixture *fixture, gconstpointer data)
{
    g_assert_cmpuint(load_range(fixture, 0, 30000), ==, 30000);
    assert_sound(fixture);
    g_assert_cmpuint(load_range(fixture, 30000, 60000), ==, 30000);
    assert_sound(fixture);
    g_assert_cmpuint(load_range(fixture, 60000, 60100), ==, 100);
    assert_sound(fixture);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad"), ==, 60100);
}

/* The writer interns the same terms between the passes: they are found, and no term is there twice. */
static void
test_meanwhile(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    g_autoptr(QdBulkLoad) load = new_load(fixture, reader, NULL);

    for (guint i = 0; i < 25000; i++)
        add_quad(load, i);
    (void) load_range(fixture, 100, 700);
    g_assert_cmpuint(commit(fixture, load, QD_BULK_REPLACE_NOTHING), >=, 25000 - 600);
    assert_sound(fixture);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad WHERE s>0"), ==, 25000 - (25000 + 10) / 11);
}

/* A table of terms that is too small is forgotten now and then. */
static void
test_little_memory(StoreFixture *fixture, gconstpointer data)
{
    fixture->limits.values[QD_LIMIT_IMPORT_MEMORY_BYTES] = 800000;
    g_assert_cmpuint(load_range(fixture, 0, 60000), ==, 60000);
    assert_sound(fixture);
}

static void
test_too_many_labels(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    g_autoptr(GError) error = NULL;
    g_autoptr(QdBulkLoad) load = NULL;
    QdTerm p = make_iri(EX "p");

    fixture->limits.values[QD_LIMIT_IMPORT_MEMORY_BYTES] = 800000;
    load = new_load(fixture, reader, NULL);
    for (guint i = 0; i < 100000 && error == NULL; i++) {
        g_autofree char *label = g_strdup_printf("x%u", i);
        QdTerm s = { .kind = QD_TERM_BNODE, .lexical = label, .n_lexical = strlen(label) };

        (void) qd_bulk_load_add(&s, &p, &p, NULL, load, &error);
    }
    store_assert_error(error, QW_ERROR_TOO_BIG, "too many labels of blank nodes: the limit 'import_memory_bytes' is 800000 bytes");
}

/* Labels that a reader made up need no memory; they are other nodes than those of other labels. */
static void
test_anonymous(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    g_autoptr(QdBulkLoad) load = new_load(fixture, reader, NULL);
    static const char *const labels[] = { "genid1", "genid2", "genid1", "genidx1", "genid01", "1", "genid", "genid1a" };
    QdTerm p = make_iri(EX "p");

    for (guint i = 0; i < G_N_ELEMENTS(labels); i++) {
        QdTerm s = { .kind = QD_TERM_BNODE, .lexical = labels[i], .n_lexical = strlen(labels[i]) };

        g_assert_true(qd_bulk_load_add(&s, &p, &p, NULL, load, NULL));
    }
    g_assert_cmpuint(commit(fixture, load, QD_BULK_REPLACE_NOTHING), ==, G_N_ELEMENTS(labels) - 1);
    assert_sound(fixture);
}

static void
test_graph_and_replace(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    QdTerm p = make_iri(EX "p");

    for (guint i = 0; i < 3; i++) {
        g_autoptr(QdBulkLoad) load = new_load(fixture, reader, EX "graph");
        g_autofree char *iri = g_strdup_printf(EX "%u", i);
        QdTerm s = make_iri(iri);

        g_assert_true(qd_bulk_load_add(&s, &p, &s, NULL, load, NULL));
        (void) commit(fixture, load, i == 1 ? QD_BULK_REPLACE_GRAPH : QD_BULK_REPLACE_NOTHING);
    }
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad JOIN queryd_term t ON t.id=g"
                                                     " WHERE t.lexical='" EX "graph'"),
                    ==, 2);
    (void) load_range(fixture, 0, 10);
    assert_sound(fixture);
    {
        g_autoptr(QdBulkLoad) load = new_load(fixture, reader, NULL);

        add_quad(load, 5);
        (void) commit(fixture, load, QD_BULK_REPLACE_ALL);
    }
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad"), ==, 1);
    assert_sound(fixture);
}

/* The full-text index changes twice in one transaction: by what goes, and by what comes in trees that are filled. */
static void
test_full_text(StoreFixture *fixture, gconstpointer data)
{
    const QdFtsChange all = { .has_all = TRUE, .all = TRUE };
    static const QdBulkReplace replaces[] = { QD_BULK_REPLACE_NOTHING, QD_BULK_REPLACE_GRAPH, QD_BULK_REPLACE_ALL };
    g_autoptr(GError) error = NULL;

    store_execute(fixture->writer, "BEGIN IMMEDIATE");
    g_assert_true(qd_fts_change(fixture->writer, &all, &error));
    store_execute(fixture->writer, "COMMIT");
    for (guint i = 0; i < G_N_ELEMENTS(replaces); i++) {
        g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
        g_autoptr(QdBulkLoad) load = new_load(fixture, reader, NULL);
        g_autoptr(GPtrArray) messages = g_ptr_array_new_with_free_func(g_free);

        for (guint k = 0; k < 25000; k++)
            add_quad(load, i * 10000 + k);
        (void) commit(fixture, load, replaces[i]);
        assert_sound(fixture);
        g_assert_true(qd_fts_check(fixture->writer, messages, &error));
        g_assert_cmpuint(messages->len, ==, 0);
        g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_fts WHERE queryd_fts MATCH '77'"), >, 0);
        store_execute(fixture->writer, "INSERT INTO queryd_fts(queryd_fts) VALUES('integrity-check')");
    }
}

static void
test_prefixes(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    g_autoptr(QdBulkLoad) load = new_load(fixture, reader, NULL);
    static const char *const prefixes[][2] = {
        { "ex", EX }, { "ex2", EX }, { "rdf", EX "other#" }, { "it's", EX "x'#" }, { "", EX "empty#" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(prefixes); i++)
        g_assert_true(
            qd_bulk_load_add_prefix(prefixes[i][0], strlen(prefixes[i][0]), prefixes[i][1], strlen(prefixes[i][1]), load, NULL));
    (void) commit(fixture, load, QD_BULK_REPLACE_NOTHING);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_prefix WHERE iri GLOB '" EX "*'"), ==, 3);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_prefix WHERE prefix='ex'"), ==, 1);
}

static void
test_rolled_back(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    g_autoptr(QdBulkLoad) load = new_load(fixture, reader, NULL);
    guint64 n;

    for (guint i = 0; i < 25000; i++)
        add_quad(load, i);
    store_execute(fixture->writer, "BEGIN IMMEDIATE");
    g_assert_true(qd_bulk_load_commit(load, fixture->writer, QD_BULK_REPLACE_NOTHING, &n, NULL));
    store_execute(fixture->writer, "ROLLBACK");
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad, queryd_term"), ==, 0);
    assert_sound(fixture);
    g_assert_cmpuint(load_range(fixture, 0, 200), ==, 200);
    assert_sound(fixture);
}

static void
test_catalog(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    QdPredicateStatistics statistics = { 0 };
    QdTerm p = make_iri(EX "p3");
    QdTerm s = make_iri(EX "s1");
    QdTerm unknown = make_iri(EX "unknown");
    QdCatalog catalog;

    (void) load_range(fixture, 0, 700);
    (void) qd_store_catalog_load(fixture->writer, &catalog, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(catalog.n_quads, ==, 700);
    g_assert_cmpuint(catalog.n_predicates, ==, 7);
    g_assert_true(catalog.get_predicate(catalog.data, &p, &statistics));
    g_assert_cmpuint(statistics.n_quads, ==, 100);
    g_assert_false(catalog.get_predicate(catalog.data, &unknown, &statistics));
    g_assert_cmpuint(catalog.count_quads(catalog.data, NULL, &p, NULL, 1024), ==, 100);
    g_assert_cmpuint(catalog.count_quads(catalog.data, NULL, &p, NULL, 10), ==, 10);
    g_assert_cmpuint(catalog.count_quads(catalog.data, NULL, NULL, NULL, 1024), ==, 700);
    g_assert_cmpuint(catalog.count_quads(catalog.data, &s, NULL, NULL, 1024), ==, 3);
    g_assert_cmpuint(catalog.count_quads(catalog.data, &s, &p, NULL, 1024), ==, 1);
    g_assert_cmpuint(catalog.count_quads(catalog.data, &s, &p, &unknown, 1024), ==, 0);
    g_assert_cmpuint(catalog.count_quads(catalog.data, NULL, NULL, &s, 1024), ==, 1);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *path;
        void (*func)(StoreFixture *, gconstpointer);
    } tests[] = {
        { "/store/bulk-load/small", test_small },
        { "/store/bulk-load/large", test_large },
        { "/store/bulk-load/meanwhile", test_meanwhile },
        { "/store/bulk-load/little-memory", test_little_memory },
        { "/store/bulk-load/too-many-labels", test_too_many_labels },
        { "/store/bulk-load/anonymous", test_anonymous },
        { "/store/bulk-load/graph-and-replace", test_graph_and_replace },
        { "/store/bulk-load/full-text", test_full_text },
        { "/store/bulk-load/prefixes", test_prefixes },
        { "/store/bulk-load/rolled-back", test_rolled_back },
        { "/store/store-catalog/all", test_catalog },
    };

    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add(tests[i].path, StoreFixture, NULL, store_fixture_set_up, tests[i].func, store_fixture_tear_down);
    return g_test_run();
}
