/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Quads and their statistics, against what SQL counts.
 */
#include "daemon/quads/quads.h"

#include "daemon/rdf/term-id.h"
#include "tests/unit/store/store-fixture.h"

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
finish(StoreFixture *fixture, QdQuads *quads)
{
    g_autoptr(GError) error = NULL;

    (void) qd_quads_finish(quads, &error);
    g_assert_no_error(error);
    store_execute(fixture->writer, "COMMIT");
}

static gboolean
insert(QdQuads *quads, gint64 s, gint64 p, gint64 o, gint64 g)
{
    g_autoptr(GError) error = NULL;
    gboolean changed = FALSE;

    (void) qd_quads_insert(quads, s, p, o, g, &changed, &error);
    g_assert_no_error(error);
    return changed;
}

static gboolean delete (QdQuads *quads, gint64 s, gint64 p, gint64 o, gint64 g)
{
    g_autoptr(GError) error = NULL;
    gboolean changed = FALSE;

    (void) qd_quads_delete(quads, s, p, o, g, &changed, &error);
    g_assert_no_error(error);
    return changed;
}

/* Rows that one of the two has and the other has not. */
static void
assert_statistics(StoreFixture *fixture)
{
    static const char
        predicates[] = "WITH counted AS (SELECT p, count(*), count(DISTINCT s), count(DISTINCT o) FROM queryd_quad GROUP BY p),"
                       " kept AS (SELECT id, n_quads, n_subjects, n_objects FROM queryd_predicate)"
                       " SELECT count(*) FROM (SELECT * FROM (SELECT * FROM counted EXCEPT SELECT * FROM kept)"
                       " UNION ALL SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM counted))";
    static const char graphs[] = "WITH counted AS (SELECT g, count(*) FROM queryd_quad WHERE g<>0 GROUP BY g),"
                                 " kept AS (SELECT id, n_quads FROM queryd_graph WHERE n_quads>0 OR NOT explicit)"
                                 " SELECT count(*) FROM (SELECT * FROM (SELECT * FROM counted EXCEPT SELECT * FROM kept)"
                                 " UNION ALL SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM counted))";

    g_assert_cmpint(store_get_int64(fixture->writer, predicates), ==, 0);
    g_assert_cmpint(store_get_int64(fixture->writer, graphs), ==, 0);
}

static void
test_insert(StoreFixture *fixture, gconstpointer data)
{
    QdQuads *quads = begin(fixture);

    g_assert_true(insert(quads, 4, 8, 12, 0));
    g_assert_false(insert(quads, 4, 8, 12, 0));
    g_assert_true(insert(quads, 4, 8, 12, 16));
    g_assert_true(insert(quads, 4, 8, 13, 16));
    finish(fixture, quads);
    assert_statistics(fixture);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT n_quads FROM queryd_graph WHERE id=16"), ==, 2);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT tags FROM queryd_predicate WHERE id=8"), ==,
                    G_GINT64_CONSTANT(3) << 32);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT sum(n_quads) FROM queryd_predicate"), ==, 3);
}

static void
test_tag_bits(void)
{
    gint64 integer = 0;

    g_assert_true(qd_term_id_from_integer(-5, &integer));
    g_assert_cmphex(qd_quads_get_tag_bit(integer), ==, G_GUINT64_CONSTANT(1) << QD_TAG_INTEGER);
    g_assert_cmphex(qd_quads_get_tag_bit(qd_term_id_from_sequence(9, QD_TERM_TYPED)), ==, G_GUINT64_CONSTANT(1) << 35);
}

static void
test_delete(StoreFixture *fixture, gconstpointer data)
{
    QdQuads *quads = begin(fixture);

    (void) insert(quads, 4, 8, 12, 16);
    (void) insert(quads, 4, 8, 12, 0);
    finish(fixture, quads);
    (void) begin(fixture);
    g_assert_true(delete (quads, 4, 8, 12, 16));
    g_assert_false(delete (quads, 4, 8, 12, 16));
    finish(fixture, quads);
    assert_statistics(fixture);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_graph"), ==, 0);
    (void) begin(fixture);
    g_assert_true(delete (quads, 4, 8, 12, 0));
    finish(fixture, quads);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_predicate"), ==, 0);
}

/* Many changes, in several transactions, some of them rolled back. */
static void
test_random(StoreFixture *fixture, gconstpointer data)
{
    for (guint round = 0; round < 20; round++) {
        QdQuads *quads = begin(fixture);

        for (guint i = 0; i < 300; i++) {
            gint64 s = 4 * g_test_rand_int_range(1, 12);
            gint64 p = 4 * g_test_rand_int_range(1, 5);
            gint64 o = 4 * g_test_rand_int_range(1, 12);
            gint64 g = 4 * g_test_rand_int_range(0, 3);

            if (g_test_rand_int_range(0, 2) == 0)
                (void) insert(quads, s, p, o, g);
            else
                (void) delete (quads, s, p, o, g);
        }
        if (round % 4 == 3)
            store_execute(fixture->writer, "ROLLBACK");
        else
            finish(fixture, quads);
        assert_statistics(fixture);
    }
}

static void
test_graphs(StoreFixture *fixture, gconstpointer data)
{
    QdQuads *quads = begin(fixture);
    g_autoptr(GError) error = NULL;
    gboolean exists = TRUE;
    guint64 n = 0;

    g_assert_true(qd_quads_has_graph(quads, 40, &exists, NULL) && !exists);
    g_assert_true(qd_quads_create_graph(quads, 40, NULL));
    g_assert_true(qd_quads_has_graph(quads, 40, &exists, NULL) && exists);
    for (gint64 i = 1; i <= 5000; i++) {
        (void) insert(quads, 4 * i, 8, 12, 40);
        (void) insert(quads, 4 * i, 8, 12, 44);
    }
    g_assert_true(qd_quads_has_graph(quads, 44, &exists, NULL) && exists);
    (void) insert(quads, 4, 8, 12, 0);
    finish(fixture, quads);

    (void) begin(fixture);
    g_assert_true(qd_quads_delete_graph(quads, 44, FALSE, &n, &error));
    g_assert_cmpuint(n, ==, 5000);
    g_assert_true(qd_quads_has_graph(quads, 44, &exists, NULL) && !exists);
    g_assert_true(qd_quads_delete_graph(quads, 40, FALSE, &n, &error));
    g_assert_true(qd_quads_has_graph(quads, 40, &exists, NULL) && exists);
    finish(fixture, quads);
    assert_statistics(fixture);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT id FROM queryd_graph"), ==, 40);

    (void) begin(fixture);
    g_assert_true(qd_quads_delete_graph(quads, 40, TRUE, &n, &error));
    g_assert_cmpuint(n, ==, 0);
    finish(fixture, quads);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_graph"), ==, 0);

    (void) begin(fixture);
    g_assert_true(qd_quads_delete_all(quads, &n, &error));
    g_assert_cmpuint(n, ==, 1);
    finish(fixture, quads);
    assert_statistics(fixture);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/quads/quads/insert", StoreFixture, NULL, store_fixture_set_up, test_insert, store_fixture_tear_down);
    g_test_add_func("/quads/quads/tag-bits", test_tag_bits);
    g_test_add("/quads/quads/delete", StoreFixture, NULL, store_fixture_set_up, test_delete, store_fixture_tear_down);
    g_test_add("/quads/quads/random", StoreFixture, NULL, store_fixture_set_up, test_random, store_fixture_tear_down);
    g_test_add("/quads/quads/graphs", StoreFixture, NULL, store_fixture_set_up, test_graphs, store_fixture_tear_down);
    return g_test_run();
}
