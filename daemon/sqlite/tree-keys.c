/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The walk along the lowest pages that are no leaves. All leaves are at the same depth.
 */
#include "daemon/sqlite/tree-keys.h"

#include <string.h>

#include "daemon/sqlite/page-cells.h"
#include "daemon/sqlite/snapshot.h"

#define MAX_DEPTH 20 /* SQLite's own */

typedef struct Level {
    guint8 *page; /* (owned): a copy */
    QdPageCells cells;
    guint32 next; /* child: of the lowest level the leaf to be passed, else the one that is walked */
} Level;

struct QdTreeKeys {
    const QdSnapshot *snapshot;
    guint depth; /* without the leaves */
    gboolean ended;
    gint64 last; /* that was given */
    Level levels[MAX_DEPTH];
};

static gboolean
read_page(QdTreeKeys *self, Level *level, guint32 number)
{
    const guint8 *page;

    if (level->page == NULL)
        level->page = g_malloc(self->snapshot->page_size);
    if (qd_snapshot_get_page(self->snapshot, number, level->page, &page) != SQLITE_OK)
        return FALSE;
    if (page != level->page)
        memcpy(level->page, page, self->snapshot->page_size);
    qd_snapshot_release_page(self->snapshot, number, level->page, page);
    level->next = 0;
    return qd_page_cells_init(&level->cells, level->page, number, self->snapshot->usable_size) &&
           qd_page_cells_is_of_table(&level->cells);
}

/* FALSE: there is none with this index. */
static gboolean
get_child(const Level *level, guint32 index, QdPageCell *ret_cell)
{
    *ret_cell = (QdPageCell){ .child = level->cells.last_child, .rowid = G_MAXINT64 };
    return index == level->cells.n_cells || qd_page_cells_get(&level->cells, index, ret_cell);
}

QdTreeKeys *
qd_tree_keys_new(const QdSnapshot *snapshot, guint32 root)
{
    g_autoptr(QdTreeKeys) self = g_new0(QdTreeKeys, 1);
    guint32 number = root;

    self->snapshot = snapshot;
    self->last = G_MININT64;
    for (; self->depth < MAX_DEPTH; self->depth++) {
        Level *level = &self->levels[self->depth];
        QdPageCell cell;

        if (!read_page(self, level, number))
            return NULL;
        if (!qd_page_cells_is_interior(&level->cells))
            break;
        if (!get_child(level, 0, &cell))
            return NULL;
        number = cell.child;
    }
    return self->depth > 0 && self->depth < MAX_DEPTH ? g_steal_pointer(&self) : NULL;
}

QdTreeKeys *
qd_tree_keys_free(QdTreeKeys *self)
{
    for (guint i = 0; self != NULL && i < MAX_DEPTH; i++)
        g_free(self->levels[i].page);
    g_free(self);
    return NULL;
}

guint64
qd_tree_keys_guess_bytes(const QdTreeKeys *self)
{
    guint64 n_bytes = self->snapshot->page_size;

    for (guint i = 0; i < self->depth; i++)
        n_bytes *= self->levels[i].cells.n_cells + 1;
    return n_bytes;
}

/* From the page of @depth down to the next leaf, along first children. */
static gboolean
descend(QdTreeKeys *self, guint depth)
{
    for (; depth + 1 < self->depth; depth++) {
        const Level *level = &self->levels[depth];
        QdPageCell cell;

        if (!get_child(level, level->next, &cell) || !read_page(self, &self->levels[depth + 1], cell.child) ||
            !qd_page_cells_is_interior(&self->levels[depth + 1].cells))
            return FALSE;
    }
    return TRUE;
}

/* Passes a leaf. FALSE: it is the last one, or what is above the next is damaged. */
static gboolean
pass_leaf(QdTreeKeys *self, gint64 *ret_last)
{
    guint depth = self->depth - 1;
    QdPageCell cell;

    while (self->levels[depth].next == self->levels[depth].cells.n_cells)
        if (depth-- == 0)
            return FALSE;
    if (!get_child(&self->levels[depth], self->levels[depth].next, &cell))
        return FALSE;
    self->levels[depth].next++;
    *ret_last = cell.rowid;
    return descend(self, depth);
}

gboolean
qd_tree_keys_next(QdTreeKeys *self, guint64 n_bytes, gint64 *ret_last)
{
    gint64 last = G_MAXINT64;

    if (self->ended)
        return FALSE;
    for (guint64 passed = 0; passed < n_bytes && !self->ended; passed += self->snapshot->page_size)
        self->ended = !pass_leaf(self, &last);
    *ret_last = self->last = self->ended ? G_MAXINT64 : MAX(last, self->last); /* of a damaged tree keys may fall */
    return TRUE;
}
