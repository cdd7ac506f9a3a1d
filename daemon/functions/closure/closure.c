/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The virtual table of repeated paths, and the function that packs a path's steps.
 *
 * Measured against a recursive common table expression over pairs: docs/decisions/paths.md.
 */
#include "daemon/functions/closure/closure.h"

#include <string.h>

#include "daemon/functions/closure/closure-search.h"
#include "daemon/functions/sql-call.h"
#include "daemon/sqlite/virtual-table.h"

#define STATED_ROWS (1 << 20) /* so that SQLite makes an index of the result, where it joins it (docs/decisions/joins.md) */

enum { COLUMN_NODE, COLUMN_SEED, COLUMN_STEPS, COLUMN_GRAPH, COLUMN_COUNT };

/* How a plan reads the table. */
enum { READS_NODES, READS_COUNT };

#define IDLE_MAX 8 /* closures that are kept for the next cursor */

/*
 * An EXISTS is evaluated with a new cursor for each row, which is opened before the last one is closed. What was read stays for it
 * until no cursor is open: then the statement has ended. It goes, too, when a row of the database changes.
 */
typedef struct Table {
    QdVirtualTable base;
    QdClosureStatements statements;
    guint n_cursors;
    GPtrArray *idle;  /* QdClosure */
    gint64 n_changes; /* of the connection, when the first of these was put there */
} Table;

typedef struct Cursor {
    QdVirtualCursor base;
    QdClosure *closure; /* (nullable): no path yet */
    gint64 node;        /* or how many there are */
    int index;
    sqlite3_value *other; /* (nullable): a seed that is no id, and the one row */
} Cursor;

static void
free_closure(gpointer closure)
{
    (void) qd_closure_free(closure);
}

static int
connect_table(sqlite3 *db, void *data, int n_args, const char *const *args, sqlite3_vtab **ret_table, char **ret_message)
{
    int r = sqlite3_declare_vtab(db, "CREATE TABLE x(node, seed HIDDEN, steps HIDDEN, graph HIDDEN, n_nodes HIDDEN)");
    Table *self;

    if (r != SQLITE_OK)
        return r;
    self = g_new0(Table, 1);
    self->statements.db = db;
    self->idle = g_ptr_array_new_with_free_func(free_closure);
    *ret_table = &self->base.base;
    return SQLITE_OK;
}

static int
disconnect_table(sqlite3_vtab *table)
{
    Table *self = (Table *) table;

    g_ptr_array_unref(self->idle);
    qd_closure_statements_clear(&self->statements);
    g_free(self);
    return SQLITE_OK;
}

/* Only the count is read: one row for a seed that leads to any node. */
static gboolean
reads_count(const sqlite3_index_info *info)
{
    return (info->colUsed & (1u << COLUMN_COUNT | 1u << COLUMN_NODE)) == 1u << COLUMN_COUNT;
}

/* Nothing without its three arguments; a node that is known is the fourth. So are the ends of a range, which is one node or all. */
static int
plan_table(sqlite3_vtab *table, sqlite3_index_info *info)
{
    static const guint8 range[] = { SQLITE_INDEX_CONSTRAINT_GE, SQLITE_INDEX_CONSTRAINT_LE };
    int ends[G_N_ELEMENTS(range)] = { -1, -1 };
    guint found = 0;

    for (int i = 0; i < info->nConstraint; i++) {
        int column = info->aConstraint[i].iColumn;

        for (guint j = 0; j < G_N_ELEMENTS(range) && column == COLUMN_NODE && info->aConstraint[i].usable; j++)
            ends[j] = info->aConstraint[i].op == range[j] ? i : ends[j];
        if (!info->aConstraint[i].usable || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ || column < COLUMN_NODE ||
            column > COLUMN_GRAPH || (found & (1u << column)) != 0)
            continue;
        info->aConstraintUsage[i].argvIndex = column != COLUMN_NODE ? column : 4;
        info->aConstraintUsage[i].omit = column != COLUMN_NODE;
        found |= 1u << column;
    }
    info->estimatedCost = 100;
    info->estimatedRows = reads_count(info) || (found & (1u << COLUMN_NODE)) != 0 ? 1 : STATED_ROWS;
    if ((found & (1u << COLUMN_NODE)) == 0 && ends[0] >= 0 && ends[1] >= 0) {
        info->aConstraintUsage[ends[0]].argvIndex = 4;
        info->aConstraintUsage[ends[1]].argvIndex = 5;
    }
    info->idxNum = reads_count(info) ? READS_COUNT : READS_NODES;
    found |= 1u << COLUMN_NODE;
    return found == (1u << COLUMN_NODE | 1u << COLUMN_SEED | 1u << COLUMN_STEPS | 1u << COLUMN_GRAPH) ? SQLITE_OK
                                                                                                      : SQLITE_CONSTRAINT;
}

static int
open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor)
{
    Cursor *self = g_new0(Cursor, 1);

    ((Table *) table)->n_cursors++;
    *ret_cursor = &self->base.base;
    return SQLITE_OK;
}

/* Forgets those that may be out of date. */
static void
check_idle(Table *self)
{
    gint64 n_changes = sqlite3_total_changes64(self->statements.db);

    if (self->n_cursors == 0 || n_changes != self->n_changes)
        g_ptr_array_set_size(self->idle, 0);
    self->n_changes = n_changes;
}

static int
close_cursor(sqlite3_vtab_cursor *cursor)
{
    Cursor *self = (Cursor *) cursor;
    Table *table = (Table *) cursor->pVtab;

    table->n_cursors--;
    if (self->closure != NULL && table->idle->len < IDLE_MAX)
        g_ptr_array_add(table->idle, g_steal_pointer(&self->closure));
    check_idle(table);
    sqlite3_value_free(self->other);
    (void) qd_closure_free(self->closure);
    g_free(self);
    return SQLITE_OK;
}

/* A closure of this path: the cursor's own, one that is idle, or a new one. FALSE: it is no path. */
static gboolean
take_closure(Cursor *self, const guint8 *steps, gsize n_steps, gint64 graph)
{
    Table *table = (Table *) self->base.base.pVtab;

    if (self->closure != NULL)
        return qd_closure_set_path(self->closure, steps, n_steps, graph);
    check_idle(table);
    for (guint i = table->idle->len; i-- > 0 && self->closure == NULL;) {
        if (qd_closure_has_path(table->idle->pdata[i], steps, n_steps, graph))
            self->closure = g_ptr_array_steal_index_fast(table->idle, i);
    }
    if (self->closure == NULL)
        self->closure = qd_closure_new(&table->statements);
    return qd_closure_set_path(self->closure, steps, n_steps, graph);
}

static int
fail(Cursor *self, int r)
{
    sqlite3_vtab *table = self->base.base.pVtab;

    sqlite3_free(table->zErrMsg);
    table->zErrMsg = r == SQLITE_NOMEM || r == SQLITE_INTERRUPT
                         ? NULL
                         : sqlite3_mprintf("%s", sqlite3_errmsg(((Table *) table)->statements.db));
    return r;
}

/* @r: a result code, OK too */
static int
take_node(Cursor *self, int r)
{
    if (r == SQLITE_OK)
        r = qd_closure_next(self->closure, &self->node);
    self->base.is_at_end = r != SQLITE_OK || self->node == 0;
    return r == SQLITE_OK ? r : fail(self, r);
}

/* The one row of a seed, with how many nodes it leads to. */
static int
count_nodes(Cursor *self, gint64 seed)
{
    guint64 n = 0;
    int r = qd_closure_start(self->closure, seed, 0);

    if (r == SQLITE_OK)
        r = qd_closure_count(self->closure, &n);
    self->node = (gint64) n;
    self->base.is_at_end = n == 0;
    return r == SQLITE_OK ? r : fail(self, r);
}

/* The node that is asked for, which stands at both ends where it is given as a range; 0: it may be any. */
static gint64
get_target(int n_args, sqlite3_value **args)
{
    for (int i = 0; i < n_args; i++) {
        if (sqlite3_value_type(args[i]) != SQLITE_INTEGER || sqlite3_value_int64(args[i]) != sqlite3_value_int64(args[0]))
            return 0;
    }
    return n_args > 0 ? sqlite3_value_int64(args[0]) : 0;
}

static int
filter(sqlite3_vtab_cursor *cursor, int index, const char *index_text, int n_args, sqlite3_value **args)
{
    Cursor *self = (Cursor *) cursor;
    /* a graph that is not stored has no links */
    gint64 graph = sqlite3_value_type(args[2]) == SQLITE_INTEGER ? sqlite3_value_int64(args[2]) : G_MININT64;

    self->base.row = 0;
    g_clear_pointer(&self->other, sqlite3_value_free);
    if (!take_closure(self, sqlite3_value_blob(args[1]), (gsize) sqlite3_value_bytes(args[1]), graph)) {
        cursor->pVtab->zErrMsg = sqlite3_mprintf("queryd_closure: not the steps of a path");
        return SQLITE_RANGE;
    }
    self->index = index;
    if (sqlite3_value_type(args[0]) == SQLITE_INTEGER && sqlite3_value_int64(args[0]) != 0 && index == READS_COUNT)
        return count_nodes(self, sqlite3_value_int64(args[0]));
    if (sqlite3_value_type(args[0]) == SQLITE_INTEGER && sqlite3_value_int64(args[0]) != 0)
        return take_node(self, qd_closure_start(self->closure, sqlite3_value_int64(args[0]), get_target(n_args - 3, args + 3)));

    if (sqlite3_value_type(args[0]) == SQLITE_BLOB && qd_closure_has_seeds(self->closure))
        self->other = sqlite3_value_dup(args[0]); /* stored or not */
    self->base.is_at_end = self->other == NULL;
    return SQLITE_OK;
}

static int
next(sqlite3_vtab_cursor *cursor)
{
    Cursor *self = (Cursor *) cursor;

    self->base.row++;
    if (self->other == NULL && self->index == READS_NODES)
        return take_node(self, SQLITE_OK);
    self->base.is_at_end = TRUE;
    return SQLITE_OK;
}

static int
get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    const Cursor *self = (const Cursor *) cursor;

    if (column == COLUMN_COUNT && self->index == READS_COUNT)
        sqlite3_result_int64(context, self->other != NULL ? 1 : self->node);
    else if (column == COLUMN_NODE && self->other != NULL)
        sqlite3_result_value(context, self->other);
    else if (column == COLUMN_NODE)
        sqlite3_result_int64(context, self->node);
    return SQLITE_OK;
}

/* queryd_steps(kind, direction, predicate, …): a step with a predicate that is not stored leads nowhere. */
static void
function_steps(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    guint8 steps[QD_CLOSURE_PATH_BYTES];
    const guchar *kind = n_args > 0 ? sqlite3_value_text(args[0]) : NULL;
    gsize n = 1;
    gsize begin = 1; /* of the links that go on from each other */
    gboolean stored = TRUE;

    if (kind == NULL || n_args % 2 == 0 || n_args > 1 + 2 * (QD_CLOSURE_LINKS_MAX + QD_CLOSURE_CONDITIONS_MAX)) {
        qd_sql_fail_argument(context, "queryd_steps: a kind, then pairs of direction and predicate");
        return;
    }
    steps[0] = kind[0];
    for (int i = 1; i < n_args; i += 2) {
        int direction = sqlite3_value_int(args[i]);
        gint64 predicate = sqlite3_value_int64(args[i + 1]);

        stored = stored && sqlite3_value_type(args[i + 1]) == SQLITE_INTEGER;
        steps[n] = (guint8) (gint8) CLAMP(direction, -QD_CLOSURE_OTHER_END, QD_CLOSURE_OTHER_END);
        memcpy(steps + n + 1, &predicate, sizeof predicate);
        n += QD_CLOSURE_STEP_BYTES;
        if (ABS(direction) >= QD_CLOSURE_HAS) { /* a condition: no link has an id that is not stored */
            predicate = sqlite3_value_type(args[i + 1]) == SQLITE_INTEGER && predicate != 0 ? predicate : G_MININT64;
            memcpy(steps + n - QD_CLOSURE_STEP_BYTES + 1, &predicate, sizeof predicate);
            begin = n;
            stored = TRUE;
        } else if (direction == QD_CLOSURE_FORWARD || direction == QD_CLOSURE_BACKWARD) {
            n = stored ? n : begin;
            begin = n;
            stored = TRUE;
        }
    }
    sqlite3_result_blob64(context, steps, n, SQLITE_TRANSIENT);
}

gboolean
qd_closure_register(sqlite3 *db, GError **error)
{
    static const sqlite3_module module = {
        .xConnect = connect_table,
        .xDisconnect = disconnect_table,
        .xBestIndex = plan_table,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = filter,
        .xNext = next,
        .xEof = qd_virtual_cursor_is_at_end,
        .xColumn = get_column,
        .xRowid = qd_virtual_cursor_get_rowid,
    };
    int r = sqlite3_create_module_v2(db, "queryd_closure", &module, NULL, NULL);

    if (r == SQLITE_OK)
        r = sqlite3_create_function_v2(db, "queryd_steps", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                       function_steps, NULL, NULL, NULL);
    if (r != SQLITE_OK)
        qd_sql_create_error(error, "queryd_closure", r);
    return r == SQLITE_OK;
}
