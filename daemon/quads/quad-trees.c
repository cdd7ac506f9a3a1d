/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Imposter tables: the name and columns of a table in memory, over the root page of a tree that is in the file. SQLite makes them
 * for its own extension RBU, which fills indexes the same way. The tree of an index of a table WITHOUT ROWID has the same format as
 * such a table with the index's columns as its key.
 */
#include "daemon/quads/quad-trees.h"

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

/* On a database in memory. A row that goes into both trees of a table has to be in the table, and the schema must be
 * unchanged. */
static gboolean
probe_imposters(sqlite3 *db)
{
    static const char make[] = "CREATE TABLE t(a, b, PRIMARY KEY(a, b)) WITHOUT ROWID; CREATE INDEX i ON t(b, a)";
    static const char *const fill[] = { "CREATE TABLE x(a, b, PRIMARY KEY(a, b)) WITHOUT ROWID; INSERT INTO x VALUES(1, 2)",
                                        "CREATE TABLE y(b, a, PRIMARY KEY(b, a)) WITHOUT ROWID; INSERT INTO y VALUES(2, 1)" };
    static const char check[] = "SELECT (SELECT a FROM t INDEXED BY i WHERE b=2)=1 AND (SELECT b FROM t NOT INDEXED WHERE a=1)=2"
                                " AND (SELECT integrity_check FROM pragma_integrity_check)='ok'"
                                " AND (SELECT group_concat(name, '') FROM sqlite_schema)='ti'";
    sqlite3_stmt *stmt = NULL;
    gboolean ok = sqlite3_exec(db, make, NULL, NULL, NULL) == SQLITE_OK;

    for (guint i = 0; ok && i < G_N_ELEMENTS(fill); i++) {
        (void) sqlite3_test_control(SQLITE_TESTCTRL_IMPOSTER, db, "main", 1, 2 + (int) i); /* after the schema's page */
        ok = sqlite3_exec(db, fill[i], NULL, NULL, NULL) == SQLITE_OK;
    }
    (void) sqlite3_test_control(SQLITE_TESTCTRL_IMPOSTER, db, "main", 0, 1);
    ok = ok && sqlite3_prepare_v2(db, check, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW &&
         sqlite3_column_int(stmt, 0) == 1;
    (void) sqlite3_finalize(stmt);
    return ok;
}

gboolean
qd_quad_trees_are_usable(void)
{
    static gsize state; /* 1: no, 2: yes */

    if (g_once_init_enter(&state)) {
        sqlite3 *db = NULL;
        gboolean ok = sqlite3_open(":memory:", &db) == SQLITE_OK && probe_imposters(db);

        (void) sqlite3_close(db);
        g_once_init_leave(&state, ok ? 2 : 1);
    }
    return state == 2;
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

    /* no imposter any more, and a page number: the whole schema is read again */
    (void) sqlite3_test_control(SQLITE_TESTCTRL_IMPOSTER, self->db, "main", 0, 1);
    g_free(self);
    return NULL;
}

gboolean
qd_quad_trees_fill(QdQuadTrees *self, QdQuadTree tree, const QdInsertSource *insert_source, guint64 *ret_n_inserted, GError **error)
{
    g_autofree char *sql = g_strdup_printf("INSERT OR IGNORE INTO queryd_tree_%u SELECT a, b, c, d FROM queryd_source",
                                           (guint) tree);

    return qd_insert_source_run(self->connection, sql, insert_source, ret_n_inserted, error);
}
