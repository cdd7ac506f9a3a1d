/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The second pass where the first one was wrong about what is new, and at the sizes where it changes its way.
 */
#include <string.h>

#include "daemon/quads/bulk-load.h"
#include "tests/unit/quads/bulk-fixture.h"

#define COUNT "SELECT count(*) FROM queryd_quad"

/* <s i> <p i % 3> "value i"^^<type i % 5> */
static void
add_plain(QdBulkLoad *load, guint i)
{
    g_autofree char *subject = g_strdup_printf(BULK_EX "s%u", i);
    g_autofree char *predicate = g_strdup_printf(BULK_EX "p%u", i % 3);
    g_autofree char *type = g_strdup_printf(BULK_EX "type%u", i % 5);
    g_autofree char *text = g_strdup_printf("value %u", i);
    const QdTerm s = bulk_make_iri(subject);
    const QdTerm p = bulk_make_iri(predicate);
    const QdTerm o = {
        .kind = QD_TERM_TYPED, .lexical = text, .n_lexical = strlen(text), .qualifier = type, .n_qualifier = strlen(type)
    };
    g_autoptr(GError) error = NULL;

    (void) qd_bulk_load_add(&s, &p, &o, NULL, load, &error);
    g_assert_no_error(error);
}

static guint64
load_plain(StoreFixture *fixture, guint start, guint end, guint n_times)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    g_autoptr(QdBulkLoad) load = bulk_new_load(fixture, reader, NULL);

    for (guint time = 0; time < n_times; time++)
        for (guint i = start; i < end; i++)
            add_plain(load, i);
    return bulk_commit(fixture, load, QD_BULK_REPLACE_NOTHING);
}

/* One below what fills trees, at it, and one alone. */
static void
test_thresholds(StoreFixture *fixture, gconstpointer data)
{
    static const guint ends[] = { 19999, 39999, 40000 };
    guint start = 0;

    for (guint i = 0; i < G_N_ELEMENTS(ends); i++) {
        g_assert_cmpuint(load_plain(fixture, start, ends[i], 1), ==, ends[i] - start);
        g_assert_cmpint(store_get_int64(fixture->writer, COUNT), ==, ends[i]);
        bulk_assert_sound(fixture);
        start = ends[i];
    }
    g_assert_cmpuint(load_plain(fixture, 0, 1, 1), ==, 0);
}

/* The same quads again, when their terms are forgotten meanwhile: other provisional ids, which turn out to be the same. */
static void
test_forgotten(StoreFixture *fixture, gconstpointer data)
{
    static const guint sizes[] = { 5000, 21000 };
    guint start = 0;

    fixture->limits.values[QD_LIMIT_IMPORT_MEMORY_BYTES] = 3000000;
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_assert_cmpuint(load_plain(fixture, start, start + sizes[i], 2), ==, sizes[i]);
        bulk_assert_sound(fixture);
        start += sizes[i];
        g_assert_cmpint(store_get_int64(fixture->writer, COUNT), ==, start);
        g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_term t WHERE lexical GLOB 'value *' AND"
                                                         " NOT EXISTS (SELECT 1 FROM queryd_term d WHERE d.id=t.datatype)"),
                        ==, 0);
    }
}

/* All terms were stored between the passes, also types and the graph; and the graph is to be replaced. */
static void
test_meanwhile(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    g_autoptr(QdBulkLoad) late = bulk_new_load(fixture, reader, BULK_EX "graph");
    g_autoptr(QdBulkLoad) early = bulk_new_load(fixture, reader, BULK_EX "graph");

    for (guint i = 0; i < 300; i++)
        add_plain(late, i);
    for (guint i = 0; i < 400; i++)
        add_plain(early, i);
    g_assert_cmpuint(bulk_commit(fixture, early, QD_BULK_REPLACE_NOTHING), ==, 400);
    g_assert_cmpuint(bulk_commit(fixture, late, QD_BULK_REPLACE_GRAPH), ==, 300);
    bulk_assert_sound(fixture);
    g_assert_cmpint(store_get_int64(fixture->writer, COUNT " WHERE g<>0"), ==, 300);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_graph WHERE id<>0"), ==, 1);
}

/* What turned out to be known has to be remembered, in bounded memory: an error, and nothing has changed. */
static void
test_too_many_aliases(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
    g_autoptr(QdBulkLoad) late = bulk_new_load(fixture, reader, NULL);
    g_autoptr(GError) error = NULL;
    guint64 n = 77;

    for (guint i = 0; i < 1000; i++)
        add_plain(late, i);
    g_assert_cmpuint(load_plain(fixture, 0, 1000, 1), ==, 1000);
    fixture->limits.values[QD_LIMIT_IMPORT_MEMORY_BYTES] = 64000;
    g_assert_false(bulk_try_commit(fixture, late, QD_BULK_REPLACE_ALL, &n, &error));
    store_assert_error(error, QW_ERROR_TOO_BIG, "too many terms: the limit 'import_memory_bytes' is 64000 bytes");
    g_assert_cmpuint(n, ==, 77);
    g_assert_cmpint(store_get_int64(fixture->writer, COUNT), ==, 1000);
    bulk_assert_sound(fixture);
}

/* Nothing at all, in each way of replacing; and a store that is emptied by what comes. */
static void
test_empty(StoreFixture *fixture, gconstpointer data)
{
    static const QdBulkReplace replaces[] = { QD_BULK_REPLACE_NOTHING, QD_BULK_REPLACE_GRAPH, QD_BULK_REPLACE_ALL };
    static const gint64 n_left[] = { 100, 0, 0 };

    for (guint i = 0; i < G_N_ELEMENTS(replaces); i++) {
        g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);
        g_autoptr(QdBulkLoad) load = bulk_new_load(fixture, reader, NULL);

        (void) load_plain(fixture, 0, 100, 1);
        g_assert_cmpuint(bulk_commit(fixture, load, replaces[i]), ==, 0);
        g_assert_cmpint(store_get_int64(fixture->writer, COUNT), ==, n_left[i]);
        bulk_assert_sound(fixture);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define ADD(path, func) \
    g_test_add("/quads/bulk-commit/" path, StoreFixture, NULL, store_fixture_set_up, func, store_fixture_tear_down)
    ADD("thresholds", test_thresholds);
    ADD("forgotten", test_forgotten);
    ADD("meanwhile", test_meanwhile);
    ADD("too-many-aliases", test_too_many_aliases);
    ADD("empty", test_empty);
    return g_test_run();
}
