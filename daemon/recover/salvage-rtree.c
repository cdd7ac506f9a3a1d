/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * R-trees of users (rtree, rtree_i32), filled again from the cells of their leaves.
 *
 * Such a table is a name over three ordinary ones. NAME_node has the nodes with their cells, NAME_rowid the node and the auxiliary
 * columns of each id. NAME_parent has the node above each node. Their rows have come through apart from each other. A node's
 * number, its level and the number of its cells are not trusted: each node is looked at once, and no pointer is followed. A cell is
 * taken if its node is a leaf by most of what the other tables say. SQLite builds the tree in a temporary database, whose tables
 * replace the old ones.
 */
#include <math.h>
#include <string.h>

#include "daemon/recover/salvage-private.h"
#include "daemon/sqlite/sqlite-error.h"

#define MAX_COORDINATES 10u /* the module's bound, with the next three */
#define ROOT_NODE 1
#define NODE_HEADER_BYTES 4u /* depth (of the root only) and number of cells */
#define ID_BYTES 8u
#define COORDINATE_BYTES 4u

typedef struct Rtree {
    QdSalvage *salvage;
    const QdSalvageEntry *entry;
    sqlite3 *db;    /* of the new file */
    sqlite3 *model; /* (owned) the tree that is being built */
    gboolean is_of_integers;
    gboolean ids_are_known; /* NAME_rowid has lost nothing: it says which ids there are */
    guint n_coordinates;
    guint n_columns; /* id, coordinates and auxiliary columns */
    sqlite3_stmt *find_row;
    sqlite3_stmt *find_parent;
    sqlite3_stmt *find_node;
    sqlite3_stmt *put;
    guint64 n_rows;
    guint64 n_rows_known; /* of them: with a row in NAME_rowid */
    guint64 n_bad;        /* cells that are no rows, of ids that NAME_rowid does not know */
} Rtree;

typedef struct Node {
    gint64 number;
    const guint8 *cells; /* (borrowed) of the statement */
    guint n_cells;
    guint depth; /* of the root */
} Node;

static void
close_statements(Rtree *self)
{
    sqlite3_stmt **const stmts[] = { &self->find_row, &self->find_parent, &self->find_node, &self->put };

    for (guint i = 0; i < G_N_ELEMENTS(stmts); i++) {
        (void) sqlite3_finalize(*stmts[i]);
        *stmts[i] = NULL;
    }
}

static void
rtree_clear(Rtree *self)
{
    close_statements(self);
    (void) sqlite3_close(self->model);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Rtree, rtree_clear)

/* @format: of one statement, with the table's name once, as %w */
static gboolean
prepare(Rtree *self, sqlite3 *db, const char *format, sqlite3_stmt **ret_stmt, GError **error)
{
    char *sql = sqlite3_mprintf(format, self->entry->name);
    int r = sql != NULL ? sqlite3_prepare_v2(db, sql, -1, ret_stmt, NULL) : SQLITE_NOMEM;

    sqlite3_free(sql);
    if (r != SQLITE_OK)
        qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
    return r == SQLITE_OK;
}

static gboolean
execute(sqlite3 *db, const char *sql, GError **error)
{
    int r = sqlite3_exec(db, sql, NULL, NULL, NULL);

    if (r != SQLITE_OK)
        qd_sqlite_set_error(error, db, r, NULL, 0, NULL);
    return r == SQLITE_OK;
}

/* One number; @format as for prepare() */
static gboolean
get_number(Rtree *self, sqlite3 *db, const char *format, gint64 *ret_number, GError **error)
{
    sqlite3_stmt *stmt = NULL;
    gboolean ok = prepare(self, db, format, &stmt, error);

    if (ok && sqlite3_step(stmt) == SQLITE_ROW)
        *ret_number = sqlite3_column_int64(stmt, 0);
    (void) sqlite3_finalize(stmt);
    return ok;
}

static gboolean
is_found(sqlite3_stmt *stmt, gint64 id)
{
    (void) sqlite3_reset(stmt);
    (void) sqlite3_bind_int64(stmt, 1, id);
    return sqlite3_step(stmt) == SQLITE_ROW;
}

/* Nodes ---------------------------------------------------------------------------------------------------------------- */

/* @stmt gives number and bytes. FALSE: there are no cells */
static gboolean
get_node(const Rtree *self, sqlite3_stmt *stmt, Node *ret_node)
{
    const guint8 *data = sqlite3_column_blob(stmt, 1);
    guint n_bytes = (guint) sqlite3_column_bytes(stmt, 1);
    guint cell_bytes = ID_BYTES + self->n_coordinates * COORDINATE_BYTES;

    if (data == NULL || sqlite3_column_type(stmt, 1) != SQLITE_BLOB || n_bytes < NODE_HEADER_BYTES)
        return FALSE;
    *ret_node = (Node){ sqlite3_column_int64(stmt, 0), data + NODE_HEADER_BYTES, qd_page_get_u16(data + 2), qd_page_get_u16(data) };
    ret_node->n_cells = MIN(ret_node->n_cells, (n_bytes - NODE_HEADER_BYTES) / cell_bytes);
    return TRUE;
}

static const guint8 *
get_cell(const Rtree *self, const Node *node, guint index)
{
    return node->cells + (gsize) index * (ID_BYTES + self->n_coordinates * COORDINATE_BYTES);
}

static gint64
get_id(const guint8 *cell)
{
    return qd_page_get_int64(cell, ID_BYTES);
}

static double
get_coordinate(const Rtree *self, const guint8 *cell, guint index)
{
    guint32 bits = qd_page_get_u32(cell + ID_BYTES + index * COORDINATE_BYTES);
    float value;

    if (self->is_of_integers)
        return (gint32) bits;
    memcpy(&value, &bits, sizeof value);
    return (double) value;
}

static gboolean
contains(const Rtree *self, const guint8 *outer, const guint8 *inner)
{
    for (guint i = 0; i + 1 < self->n_coordinates; i += 2) {
        if (!(get_coordinate(self, outer, i) <= get_coordinate(self, inner, i) &&
              get_coordinate(self, inner, i + 1) <= get_coordinate(self, outer, i + 1)))
            return FALSE;
    }
    return TRUE;
}

/* Whether the cell's id is a node whose cells are within this one. */
static gboolean
is_above_node(const Rtree *self, const Node *node, const guint8 *cell)
{
    Node child;

    if (get_id(cell) == node->number || !is_found(self->find_node, get_id(cell)) || !get_node(self, self->find_node, &child))
        return FALSE;
    for (guint i = 0; i < child.n_cells; i++) {
        if (!contains(self, cell, get_cell(self, &child, i)))
            return FALSE;
    }
    return child.n_cells > 0;
}

/* Where NAME_rowid and NAME_parent say nothing of the node. */
static gboolean
looks_like_leaf(const Rtree *self, const Node *node)
{
    guint n_inner = 0;

    if (self->ids_are_known)
        return FALSE;
    if (node->number == ROOT_NODE && node->depth > 0)
        return FALSE;
    for (guint i = 0; i < node->n_cells; i++)
        n_inner += is_above_node(self, node, get_cell(self, node, i));
    return 2 * n_inner <= node->n_cells;
}

static gboolean
is_leaf(const Rtree *self, const Node *node)
{
    guint n_rows = 0;
    guint n_children = 0;

    for (guint i = 0; i < node->n_cells; i++) {
        gint64 id = get_id(get_cell(self, node, i));

        n_rows += is_found(self->find_row, id) && sqlite3_column_int64(self->find_row, 1) == node->number;
        n_children += is_found(self->find_parent, id) && sqlite3_column_int64(self->find_parent, 1) == node->number;
    }
    return n_rows != n_children ? n_rows > n_children : looks_like_leaf(self, node);
}

/* Filling -------------------------------------------------------------------------------------------------------------- */

static gboolean
bind_coordinates(const Rtree *self, const guint8 *cell)
{
    for (guint i = 0; i < self->n_coordinates; i++) {
        double value = get_coordinate(self, cell, i);

        if (isnan(value))
            return FALSE;
        (void) sqlite3_bind_double(self->put, (int) i + 2, value);
    }
    return TRUE;
}

/* @is_known: find_row stands on its row */
static void
bind_others(const Rtree *self, gboolean is_known)
{
    for (guint i = self->n_coordinates + 1; i < self->n_columns; i++) {
        int column = (int) (i - self->n_coordinates) + 1;

        if (is_known && column < sqlite3_column_count(self->find_row))
            (void) sqlite3_bind_value(self->put, (int) i + 1, sqlite3_column_value(self->find_row, column));
    }
}

/* A cell whose node NAME_rowid confirms goes before others of the same id. */
static gboolean
put_cell(Rtree *self, const Node *node, const guint8 *cell, gboolean confirmed, GError **error)
{
    gboolean is_known = is_found(self->find_row, get_id(cell));
    int r = SQLITE_CONSTRAINT;

    if (confirmed != (is_known && sqlite3_column_int64(self->find_row, 1) == node->number))
        return TRUE;
    (void) sqlite3_clear_bindings(self->put);
    (void) sqlite3_bind_int64(self->put, 1, get_id(cell));
    bind_others(self, is_known);
    if ((is_known || !self->ids_are_known) && bind_coordinates(self, cell)) {
        r = sqlite3_step(self->put);
        (void) sqlite3_reset(self->put);
    }
    if (r == SQLITE_DONE && sqlite3_changes(self->model) > 0) {
        self->n_rows++;
        self->n_rows_known += is_known;
    } else if (r == SQLITE_DONE || (r & 0xff) == SQLITE_CONSTRAINT) {
        self->n_bad += !is_known;
    } else {
        qd_sqlite_set_error(error, self->model, r, NULL, 0, NULL);
        return FALSE;
    }
    return TRUE;
}

static gboolean
put_leaves(Rtree *self, gboolean confirmed, GError **error)
{
    sqlite3_stmt *stmt = NULL;
    gboolean ok = prepare(self, self->db, "SELECT nodeno, data FROM \"%w_node\"", &stmt, error);
    Node node;

    while (ok && sqlite3_step(stmt) == SQLITE_ROW) {
        ok = !qd_salvage_is_cancelled(self->salvage, error);
        if (!ok || !get_node(self, stmt, &node) || !is_leaf(self, &node))
            continue;
        for (guint i = 0; i < node.n_cells && ok; i++)
            ok = put_cell(self, &node, get_cell(self, &node, i), confirmed, error);
    }
    (void) sqlite3_finalize(stmt);
    return ok;
}

static gboolean
prepare_put(Rtree *self, GError **error)
{
    g_autoptr(GString) format = g_string_new("INSERT OR IGNORE INTO \"%w\" VALUES(?");

    for (guint i = 1; i < self->n_columns; i++)
        g_string_append(format, ", ?");
    g_string_append_c(format, ')');
    return prepare(self, self->model, format->str, &self->put, error);
}

/* The tree ------------------------------------------------------------------------------------------------------------- */

static gboolean
open_model(Rtree *self, GError **error)
{
    static const char *const encodings[] = { "UTF-8", "UTF-8", "UTF-16le", "UTF-16be" };
    g_autofree char *settings = g_strdup_printf("PRAGMA encoding='%s'; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN",
                                                encodings[self->salvage->encoding]);
    gint64 n_columns = 0;
    gint64 n_others = 0;

    if (!qd_salvage_is_one_create(self->salvage, self->entry->sql)) {
        qd_error_set(error, QW_ERROR_CORRUPT, "its text is not one plain CREATE statement");
        return FALSE;
    }
    if (sqlite3_open("", &self->model) != SQLITE_OK) {
        qd_sqlite_set_error(error, self->model, SQLITE_NOMEM, NULL, 0, NULL);
        return FALSE;
    }
    if (!execute(self->model, settings, error) || !execute(self->model, self->entry->sql, error) ||
        !get_number(self, self->model, "SELECT count(*) FROM pragma_table_xinfo('%q')", &n_columns, error) ||
        !get_number(self, self->model, "SELECT count(*)-2 FROM pragma_table_xinfo('%q_rowid')", &n_others, error))
        return FALSE;
    self->n_columns = (guint) n_columns;
    self->n_coordinates = (guint) (n_columns - n_others - 1);
    if (n_others >= 0 && n_columns > n_others + 2 && self->n_coordinates <= MAX_COORDINATES)
        return prepare_put(self, error);
    qd_error_set(error, QW_ERROR_CORRUPT, "its text makes another table");
    return FALSE;
}

static gboolean
is_whole(const Rtree *self, const char *suffix)
{
    g_autofree char *name = g_strconcat(self->entry->name, suffix, NULL);
    const QdSalvageEntry *entry = qd_salvage_find_entry(self->salvage, "table", name);
    const QdSalvageTable *table = qd_salvage_report_get_table(self->salvage->report, name);

    return entry != NULL && entry->made && table->n_lost_rows == 0 && table->n_refused_rows == 0 && table->losses->len == 0;
}

/* By the definition that SQLite has given it just now. */
static gboolean
make_table(Rtree *self, const char *name, GError **error)
{
    sqlite3_stmt *stmt = NULL;
    gboolean ok = sqlite3_prepare_v2(self->model, "SELECT sql FROM sqlite_schema WHERE name=?", -1, &stmt, NULL) == SQLITE_OK;

    (void) sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
    if (ok && sqlite3_step(stmt) == SQLITE_ROW)
        ok = execute(self->db, (const char *) sqlite3_column_text(stmt, 0), error);
    (void) sqlite3_finalize(stmt);
    return ok;
}

static const char *const suffixes[] = { "_node", "_rowid", "_parent" };

/* The salvage has filled these tables; one that is missing is made, and is empty. */
static gboolean
open_tables(Rtree *self, GError **error)
{
    self->ids_are_known = is_whole(self, "_rowid");
    for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *name = g_strconcat(self->entry->name, suffixes[i], NULL);

        if (sqlite3_table_column_metadata(self->db, "main", name, NULL, NULL, NULL, NULL, NULL, NULL) != SQLITE_OK &&
            !make_table(self, name, error))
            return FALSE;
    }
    return prepare(self, self->db, "SELECT * FROM \"%w_rowid\" WHERE rowid=?", &self->find_row, error) &&
           prepare(self, self->db, "SELECT * FROM \"%w_parent\" WHERE rowid=?", &self->find_parent, error) &&
           prepare(self, self->db, "SELECT nodeno, data FROM \"%w_node\" WHERE rowid=?", &self->find_node, error);
}

/* (transfer full) (nullable): NULL: the table in the new file has other columns than @n_columns */
static sqlite3_stmt *
prepare_copy(const Rtree *self, const char *name, int n_columns)
{
    g_autoptr(GString) values = g_string_new("?");
    sqlite3_stmt *stmt = NULL;
    char *sql;

    for (int i = 1; i < n_columns; i++)
        g_string_append(values, ", ?");
    sql = sqlite3_mprintf("INSERT INTO \"%w\" VALUES(%s)", name, values->str);
    if (sql != NULL)
        (void) sqlite3_prepare_v2(self->db, sql, -1, &stmt, NULL);
    sqlite3_free(sql);
    return stmt;
}

static gboolean
empty_table(Rtree *self, const char *name, int n_columns, sqlite3_stmt **ret_put, GError **error)
{
    char *sql;
    gboolean ok;

    *ret_put = prepare_copy(self, name, n_columns);
    sql = sqlite3_mprintf(*ret_put != NULL ? "DELETE FROM \"%w\"" : "DROP TABLE \"%w\"", name);
    ok = sql != NULL && execute(self->db, sql, error);
    sqlite3_free(sql);
    if (!ok || *ret_put != NULL)
        return ok;
    if (!make_table(self, name, error))
        return FALSE;
    *ret_put = prepare_copy(self, name, n_columns);
    return TRUE;
}

/* One of the three, whose columns stand in their order in the table that SQLite has built. */
static gboolean
replace_table(Rtree *self, const char *suffix, GError **error)
{
    g_autofree char *name = g_strconcat(self->entry->name, suffix, NULL);
    g_autofree char *format = g_strconcat("SELECT * FROM \"%w", suffix, "\"", NULL);
    sqlite3_stmt *from = NULL;
    sqlite3_stmt *to = NULL;
    gboolean ok = prepare(self, self->model, format, &from, error) &&
                  empty_table(self, name, sqlite3_column_count(from), &to, error);

    while (ok && sqlite3_step(from) == SQLITE_ROW) {
        int r;

        for (int i = 0; i < sqlite3_column_count(from); i++)
            (void) sqlite3_bind_value(to, i + 1, sqlite3_column_value(from, i));
        r = to != NULL ? sqlite3_step(to) : SQLITE_ERROR;
        (void) sqlite3_reset(to);
        ok = r == SQLITE_DONE && !qd_salvage_is_cancelled(self->salvage, error);
        if (r != SQLITE_DONE)
            qd_sqlite_set_error(error, self->db, r, NULL, 0, NULL);
    }
    (void) sqlite3_finalize(from);
    (void) sqlite3_finalize(to);
    return ok;
}

static void
report(Rtree *self, gint64 n_known)
{
    QdSalvageTable *table = qd_salvage_report_get_table(self->salvage->report, self->entry->name);
    gboolean is_damaged = FALSE;

    table->n_rows += self->n_rows;
    table->n_lost_rows += (guint64) n_known - self->n_rows_known + self->n_bad;
    for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++)
        is_damaged = is_damaged || !is_whole(self, suffixes[i]);
    if (is_damaged || table->n_lost_rows > 0)
        qd_salvage_report_note(self->salvage->report, "R-tree '%s' was damaged; it is filled again from the cells that were found",
                               self->entry->name);
    if (self->n_columns > self->n_coordinates + 1 && self->n_rows > self->n_rows_known)
        qd_salvage_report_note(self->salvage->report, "%" G_GUINT64_FORMAT " rows of R-tree '%s' have lost their auxiliary columns",
                               self->n_rows - self->n_rows_known, self->entry->name);
}

static gboolean
mend(Rtree *self, GError **error)
{
    gint64 n_known = 0;

    if (!open_model(self, error) || !open_tables(self, error) ||
        !get_number(self, self->db, "SELECT count(*) FROM \"%w_rowid\"", &n_known, error) || !put_leaves(self, TRUE, error) ||
        !put_leaves(self, FALSE, error))
        return FALSE;
    close_statements(self); /* they would keep the tables from being replaced */
    for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        if (!replace_table(self, suffixes[i], error))
            return FALSE;
    }
    report(self, n_known);
    return TRUE;
}

gboolean
qd_salvage_mend_rtree(QdSalvage *self, const QdSalvageEntry *entry, gboolean is_of_integers, GError **error)
{
    g_auto(Rtree) tree = { .salvage = self, .entry = entry, .db = qd_connection_get_db(self->connection) };
    g_autoptr(GError) failure = NULL;

    tree.is_of_integers = is_of_integers;
    if (!qd_salvage_execute(self, error, "BEGIN"))
        return FALSE;
    if (!mend(&tree, &failure)) {
        if (qd_salvage_is_cancelled(self, error) || !qd_salvage_can_go_on(&failure, error))
            return FALSE;
        qd_salvage_report_note(self->report, "R-tree '%s' cannot be filled again, its tables may not fit each other: %s",
                               entry->name, failure->message);
        self->report->n_left_out++;
    }
    return qd_salvage_execute(self, error, "COMMIT");
}
