/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Trees that were filled one by one are what inserting into the table makes of them, to SQLite's own check of the file.
 */
#include "daemon/quads/quad-trees.h"

#include "tests/unit/store/store-fixture.h"

#define N_SUBJECTS 300
#define N_OBJECTS 40

/* Quads (s, p, o, g) counted up in the order of a tree; g is 0 or 1, by s. */
typedef struct Grid {
    QdQuadTree tree;
    gint64 index;
    gint64 quad[4];
} Grid;

static gboolean
next(gpointer data, gboolean *ret_more, GError **error)
{
    static const gint64 sizes[] = { N_SUBJECTS, 3, N_OBJECTS, 2 };
    Grid *self = data;
    gint64 rest;

    do {
        rest = self->index++;
        for (guint i = 4; i-- > 0;) {
            guint column = qd_quad_tree_orders[self->tree].columns[i];

            self->quad[column] = rest % sizes[column];
            rest /= sizes[column];
        }
    } while (rest == 0 && (self->quad[3] != self->quad[0] % 2 || (self->tree == QD_QUAD_TREE_GSPO && self->quad[3] == 0)));
    *ret_more = rest == 0;
    return TRUE;
}

static void
get(gpointer data, sqlite3_context *context, int column)
{
    const Grid *self = data;

    sqlite3_result_int64(context, self->quad[qd_quad_tree_orders[self->tree].columns[column]]);
}

static guint64
fill_all(StoreFixture *fixture)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QdQuadTrees) trees = qd_quad_trees_open(fixture->writer, &error);
    guint64 n_inserted = 0;

    g_assert_no_error(error);
    for (guint tree = 0; tree < QD_QUAD_N_TREES; tree++) {
        Grid grid = { .tree = (QdQuadTree) tree };
        const QdInsertSource feed = { next, get, &grid };

        (void) qd_quad_trees_fill(trees, grid.tree, &feed, tree == QD_QUAD_TREE_SPOG ? &n_inserted : NULL, &error);
        g_assert_no_error(error);
    }
    return n_inserted;
}

static void
assert_sound(StoreFixture *fixture)
{
    static const char *const indexes[] = { "queryd_quad_posg", "queryd_quad_ospg" };

    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT integrity_check='ok' FROM pragma_integrity_check"), ==, 1);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad NOT INDEXED"), ==,
                    N_SUBJECTS * 3 * N_OBJECTS);
    for (guint i = 0; i < G_N_ELEMENTS(indexes); i++) {
        g_autofree char *sql = g_strdup_printf("SELECT count(*) FROM (SELECT s, p, o, g FROM queryd_quad NOT INDEXED EXCEPT"
                                               " SELECT s, p, o, g FROM queryd_quad INDEXED BY %s)",
                                               indexes[i]);

        g_assert_cmpint(store_get_int64(fixture->writer, sql), ==, 0);
    }
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad INDEXED BY queryd_quad_gspo WHERE g<>0"), ==,
                    N_SUBJECTS / 2 * 3 * N_OBJECTS);
}

static void
test_fill(StoreFixture *fixture, gconstpointer data)
{
    g_assert_true(qd_quad_trees_are_usable()); /* by Debian's SQLite */
    store_execute(fixture->writer, "BEGIN IMMEDIATE");
    g_assert_cmpuint(fill_all(fixture), ==, N_SUBJECTS * 3 * N_OBJECTS);
    store_execute(fixture->writer, "COMMIT");
    assert_sound(fixture);
    /* what is there is ignored, what is missing comes */
    store_execute(fixture->writer, "DELETE FROM queryd_quad WHERE s=7");
    store_execute(fixture->writer, "BEGIN IMMEDIATE");
    g_assert_cmpuint(fill_all(fixture), ==, 3 * N_OBJECTS);
    store_execute(fixture->writer, "COMMIT");
    assert_sound(fixture);
    /* another writer, who knows nothing of it, keeps on; a store that has quads and no terms would not open */
    store_execute(fixture->writer, "INSERT INTO queryd_term VALUES(0, NULL, 'x', NULL); INSERT INTO queryd_term_hash VALUES(0, 0);"
                                   "INSERT INTO queryd_predicate VALUES(0, 0, 0, 0, 0, 0)");
    store_fixture_close(fixture);
    store_fixture_open(fixture);
    store_execute(fixture->writer,
                  "DELETE FROM queryd_quad WHERE s=8; INSERT OR IGNORE INTO queryd_quad"
                  " WITH RECURSIVE o(v) AS (SELECT 0 UNION ALL SELECT v+1 FROM o WHERE v<39), p(v) AS (VALUES(0),(1),(2))"
                  " SELECT 8, p.v, o.v, 0 FROM p, o");
    assert_sound(fixture);
}

/* The tables over the trees are nowhere but between open and close, also when the transaction ends badly. */
static void
test_gone(StoreFixture *fixture, gconstpointer data)
{
    g_autoptr(QdConnection) reader = store_fixture_open_reader(fixture);

    store_execute(fixture->writer, "BEGIN IMMEDIATE");
    (void) fill_all(fixture);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM pragma_table_list WHERE name GLOB 'queryd_tree*'"), ==,
                    0);
    store_execute(fixture->writer, "ROLLBACK");
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM queryd_quad"), ==, 0);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'queryd_tree*'"), ==, 0);
    g_assert_cmpint(store_get_int64(fixture->writer, "SELECT integrity_check='ok' FROM pragma_integrity_check"), ==, 1);
    {
        g_autoptr(GError) error = NULL;
        g_autoptr(QdQuadTrees) trees = qd_quad_trees_open(fixture->writer, &error);

        g_assert_no_error(error);
        g_assert_nonnull(trees);
        g_assert_cmpint(store_get_int64(reader, "SELECT count(*) FROM pragma_table_list WHERE name GLOB 'queryd_tree*'"), ==, 0);
    }
    store_execute(fixture->writer, "INSERT INTO queryd_quad VALUES(1, 2, 3, 0)");
    g_assert_cmpint(store_get_int64(reader, "SELECT count(*) FROM queryd_quad"), ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/quads/quad-trees/fill", StoreFixture, NULL, store_fixture_set_up, test_fill, store_fixture_tear_down);
    g_test_add("/quads/quad-trees/gone", StoreFixture, NULL, store_fixture_set_up, test_gone, store_fixture_tear_down);
    return g_test_run();
}
