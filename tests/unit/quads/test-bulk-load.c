/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loads of all sizes against what qd_quads_insert() makes of the same quads.
 */
#include "daemon/quads/bulk-load.h"

#include <string.h>

#include "daemon/quads/fts.h"
#include "daemon/quads/store-catalog.h"
#include "tests/unit/quads/bulk-fixture.h"

static void
test_small(StoreFixture *fixture, gconstpointer data)
{
    g_assert_cmpuint(bulk_load_range(fixture, 0, 500), ==, 500);
    bulk_assert_sound(fixture);
    /* blank nodes are fresh each time, all else is there already */
    g_assert_cmpuint(bulk_load_range(fixture, 0, 500), ==, (500 + 10) / 11);
    bulk_assert_sound(fixture);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT n_quads FROM queryd_graph"), ==,
                    store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad WHERE g<>0"));
}

/* Enough for indexes to be rebuilt; the same data in two loads is the same store. */
static void
test_large(StoreFixture *fixture, gconstpointer data)
{
    g_assert_cmpuint(bulk_load_range(fixture, 0, 30000), ==, 30000);
    bulk_assert_sound(fixture);
    g_assert_cmpuint(bulk_load_range(fixture, 30000, 60000), ==, 30000);
    bulk_assert_sound(fixture);
    g_assert_cmpuint(bulk_load_range(fixture, 60000, 60100), ==, 100);
    bulk_assert_sound(fixture);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad"), ==, 60100);
}

/* The writer interns the same terms between the passes: they are found, and no term is there twice. */
static void
test_meanwhile(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    g_autoptr(QdBulkLoad) load = bulk_new_load(fixture, reader, NULL);

    for (guint i = 0; i < 25000; i++)
        bulk_add_quad(load, i);
    (void) bulk_load_range(fixture, 100, 700);
    g_assert_cmpuint(bulk_commit(fixture, load, QD_BULK_REPLACE_NOTHING), >=, 25000 - 600);
    bulk_assert_sound(fixture);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad WHERE s>0"), ==, 25000 - (25000 + 10) / 11);
}

/* A table of terms that is too small is forgotten now and then. */
static void
test_little_memory(StoreFixture *fixture, gconstpointer data)
{
    fixture->limits.values[QD_LIMIT_IMPORT_MEMORY_BYTES] = 800000;
    g_assert_cmpuint(bulk_load_range(fixture, 0, 60000), ==, 60000);
    bulk_assert_sound(fixture);
}

static void
test_too_many_labels(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    g_autoptr(GError) error = NULL;
    g_autoptr(QdBulkLoad) load = NULL;
    QdTerm p = bulk_make_iri(BULK_EX "p");

    fixture->limits.values[QD_LIMIT_IMPORT_MEMORY_BYTES] = 800000;
    load = bulk_new_load(fixture, reader, NULL);
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
    g_autoptr(QdBulkLoad) load = bulk_new_load(fixture, reader, NULL);
    static const char *const labels[] = { "genid1", "genid2", "genid1", "genidx1", "genid01", "1", "genid", "genid1a" };
    QdTerm p = bulk_make_iri(BULK_EX "p");

    for (guint i = 0; i < G_N_ELEMENTS(labels); i++) {
        QdTerm s = { .kind = QD_TERM_BNODE, .lexical = labels[i], .n_lexical = strlen(labels[i]) };

        g_assert_true(qd_bulk_load_add(&s, &p, &p, NULL, load, NULL));
    }
    g_assert_cmpuint(bulk_commit(fixture, load, QD_BULK_REPLACE_NOTHING), ==, G_N_ELEMENTS(labels) - 1);
    bulk_assert_sound(fixture);
}

static void
test_graph_and_replace(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    QdTerm p = bulk_make_iri(BULK_EX "p");

    for (guint i = 0; i < 3; i++) {
        g_autoptr(QdBulkLoad) load = bulk_new_load(fixture, reader, BULK_EX "graph");
        g_autofree char *iri = g_strdup_printf(BULK_EX "%u", i);
        QdTerm s = bulk_make_iri(iri);

        g_assert_true(qd_bulk_load_add(&s, &p, &s, NULL, load, NULL));
        (void) bulk_commit(fixture, load, i == 1 ? QD_BULK_REPLACE_GRAPH : QD_BULK_REPLACE_NOTHING);
    }
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad JOIN queryd_term t ON t.id=g"
                                                     " WHERE t.lexical='" BULK_EX "graph'"),
                    ==, 2);
    (void) bulk_load_range(fixture, 0, 10);
    bulk_assert_sound(fixture);
    {
        g_autoptr(QdBulkLoad) load = bulk_new_load(fixture, reader, NULL);

        bulk_add_quad(load, 5);
        (void) bulk_commit(fixture, load, QD_BULK_REPLACE_ALL);
    }
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad"), ==, 1);
    bulk_assert_sound(fixture);
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
        g_autoptr(QdBulkLoad) load = bulk_new_load(fixture, reader, NULL);
        g_autoptr(GPtrArray) messages = g_ptr_array_new_with_free_func(g_free);

        for (guint k = 0; k < 25000; k++)
            bulk_add_quad(load, i * 10000 + k);
        (void) bulk_commit(fixture, load, replaces[i]);
        bulk_assert_sound(fixture);
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
    g_autoptr(QdBulkLoad) load = bulk_new_load(fixture, reader, NULL);
    static const char *const prefixes[][2] = {
        { "ex", BULK_EX }, { "ex2", BULK_EX }, { "rdf", BULK_EX "other#" }, { "it's", BULK_EX "x'#" }, { "", BULK_EX "empty#" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(prefixes); i++)
        g_assert_true(
            qd_bulk_load_add_prefix(prefixes[i][0], strlen(prefixes[i][0]), prefixes[i][1], strlen(prefixes[i][1]), load, NULL));
    (void) bulk_commit(fixture, load, QD_BULK_REPLACE_NOTHING);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_prefix WHERE iri GLOB '" BULK_EX "*'"), ==, 3);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_prefix WHERE prefix='ex'"), ==, 1);
}

static void
test_rolled_back(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    g_autoptr(QdBulkLoad) load = bulk_new_load(fixture, reader, NULL);
    guint64 n;

    for (guint i = 0; i < 25000; i++)
        bulk_add_quad(load, i);
    store_execute(fixture->writer, "BEGIN IMMEDIATE");
    g_assert_true(qd_bulk_load_commit(load, fixture->writer, QD_BULK_REPLACE_NOTHING, &n, NULL));
    store_execute(fixture->writer, "ROLLBACK");
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad, queryd_term"), ==, 0);
    bulk_assert_sound(fixture);
    g_assert_cmpuint(bulk_load_range(fixture, 0, 200), ==, 200);
    bulk_assert_sound(fixture);
}

static void
test_catalog(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    QdPredicateStatistics statistics = { 0 };
    QdTerm p = bulk_make_iri(BULK_EX "p3");
    QdTerm s = bulk_make_iri(BULK_EX "s1");
    QdTerm unknown = bulk_make_iri(BULK_EX "unknown");
    QdCatalog catalog;

    (void) bulk_load_range(fixture, 0, 700);
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
        { "/quads/bulk-load/small", test_small },
        { "/quads/bulk-load/large", test_large },
        { "/quads/bulk-load/meanwhile", test_meanwhile },
        { "/quads/bulk-load/little-memory", test_little_memory },
        { "/quads/bulk-load/too-many-labels", test_too_many_labels },
        { "/quads/bulk-load/anonymous", test_anonymous },
        { "/quads/bulk-load/graph-and-replace", test_graph_and_replace },
        { "/quads/bulk-load/full-text", test_full_text },
        { "/quads/bulk-load/prefixes", test_prefixes },
        { "/quads/bulk-load/rolled-back", test_rolled_back },
        { "/quads/store-catalog/all", test_catalog },
    };

    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add(tests[i].path, StoreFixture, NULL, store_fixture_set_up, tests[i].func, store_fixture_tear_down);
    return g_test_run();
}
