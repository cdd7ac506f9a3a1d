/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Imposter tables: the name and columns of a table in memory, over the root page of a tree that is in the file. SQLite makes them
 * for its own extension RBU, which fills indexes the same way. The tree of an index of a table WITHOUT ROWID has the same format as
 * such a table with the index's columns as its key.
 */
#include "daemon/store/quad-trees.h"

#include "daemon/store/sqlite-error.h"

const QdSorterOrder qd_quad_tree_orders[QD_QUAD_N_TREES] = {
    [QD_QUAD_TREE_OSPG] = { { 2, 0, 1, 3 } },
    [QD_QUAD_TREE_POSG] = { { 1, 2, 0, 3 } },
    [QD_QUAD_TREE_SPOG] = { { 0, 1, 2, 3 } },
    [QD_QUAD_TREE_GSPO] = { { 3, 0, 1, 2 } },
};

/* In the schema. */
static const char *const names[QD_QUAD_N_TREES] = {
    [QD_QUAD_TREE_OSPG] = "queryd_quad_ospg",
    [QD_QUAD_TREE_POSG] = "queryd_quad_posg",
    [QD_QUAD_TREE_SPOG] = "queryd_quad",
    [QD_QUAD_TREE_GSPO] = "queryd_quad_gspo",
};

struct QdQuadTrees {
    QdConnection *connection;
    sqlite3 *db;
};

static gboolean
open_tree(QdQuadTrees *self, QdQuadTree tree, GError **error)
{
    g_autofree char *find = g_strdup_printf("SELECT rootpage FROM sqlite_schema WHERE name='%s'", names[tree]);
    g_autofree char *create = g_strdup_printf("CREATE TABLE queryd_tree_%u(a, b, c, d, PRIMARY KEY(a, b, c, d)) WITHOUT ROWID",
                                              (guint) tree);
    gint64 root = 0;
    gboolean ok;

    if (!qd_connection_get_int64(self->connection, find, &root, error))
        return FALSE;
    if (root < 2 || root > G_MAXINT) {
        qd_error_set(error, QW_ERROR_CORRUPT, "'%s' is not in the store", names[tree]);
        return FALSE;
    }
    (void) sqlite3_test_control(SQLITE_TESTCTRL_IMPOSTER, self->db, "main", 1, (int) root);
    ok = qd_connection_execute(self->connection, create, error);
    (void) sqlite3_test_control(SQLITE_TESTCTRL_IMPOSTER, self->db, "main", 0, 0);
    return ok;
}

gboolean
qd_quad_trees_are_usable(void)
{
    return !sqlite3_compileoption_used("UNTESTABLE");
}

QdQuadTrees *
qd_quad_trees_open(QdConnection *connection, GError **error)
{
    g_autoptr(QdQuadTrees) self = g_new0(QdQuadTrees, 1);

    self->connection = connection;
    self->db = qd_connection_get_db(connection);
    for (guint tree = 0; tree < QD_QUAD_N_TREES; tree++)
        if (!open_tree(self, (QdQuadTree) tree, error))
            return NULL;
    return g_steal_pointer(&self);
}

QdQuadTrees *
qd_quad_trees_close(QdQuadTrees *self)
{
    if (self == NULL)
        return NULL;

    /* no imposter any more, and a page number: all that is known of the schema is read anew */
    (void) sqlite3_test_control(SQLITE_TESTCTRL_IMPOSTER, self->db, "main", 0, 1);
    g_free(self);
    return NULL;
}

gboolean
qd_quad_trees_fill(QdQuadTrees *self, QdQuadTree tree, const QdFeed *feed, guint64 *ret_n_inserted, GError **error)
{
    g_autofree char *sql = g_strdup_printf("INSERT OR IGNORE INTO queryd_tree_%u SELECT a, b, c, d FROM queryd_feed", (guint) tree);

    return qd_feed_insert(self->connection, sql, feed, ret_n_inserted, error);
}
