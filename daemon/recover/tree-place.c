/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bounds are looked for upwards, at the nearest page that has a cell on that side and whose cells are in order. A page beside is
 * read only when the bounds contradict.
 */
#include "daemon/recover/tree-place.h"

/* The key before all of a page, and the one after. */
typedef struct Keys {
    QdPageCell cells[2];
    gboolean has[2];
} Keys;

enum { BEFORE, AFTER };

void
qd_tree_place_clear(QdTreePlace *self)
{
    for (guint i = 0; i < G_N_ELEMENTS(self->neighbour); i++)
        g_free(self->neighbour[i]);
}

/* Whether it is known that they are not in this order. */
static gboolean
is_wrong_order(const QdTreePlace *self, const QdPageCell *a, const QdPageCell *b)
{
    int order = 0;

    return self->compare(a, b, &order, self->data) && order >= 0;
}

guint
qd_tree_place_count_wrong_pairs(const QdTreePlace *self, const QdPageCells *cells, guint *ret_n_pairs)
{
    guint n_wrong = 0;

    *ret_n_pairs = 0;
    for (guint32 i = 1; i < cells->n_cells; i++) {
        QdPageCell before;
        QdPageCell cell;
        int order = 0;

        if (!qd_page_cells_get(cells, i - 1, &before) || !qd_page_cells_get(cells, i, &cell) ||
            !self->compare(&before, &cell, &order, self->data))
            continue;
        *ret_n_pairs += 1;
        n_wrong += order >= 0;
    }
    return n_wrong;
}

void
qd_tree_place_enter(QdTreePlace *self, guint depth, const QdPageCells *cells)
{
    guint n_pairs;

    self->frames[depth] = (QdTreeFrame){ .cells = cells };
    self->frames[depth].is_ordered = self->compare != NULL && qd_page_cells_are_whole(cells) &&
                                     qd_tree_place_count_wrong_pairs(self, cells, &n_pairs) == 0;
}

void
qd_tree_place_go(QdTreePlace *self, guint depth, guint32 index)
{
    self->frames[depth].index = index;
}

void
qd_tree_place_distrust(QdTreePlace *self, guint depth)
{
    self->frames[depth].is_ordered = FALSE;
}

/* (nullable): the nearest page above a page at @depth that has a cell on that side of it */
static const QdTreeFrame *
find_frame(const QdTreePlace *self, guint depth, guint side)
{
    while (depth-- > 0) {
        const QdTreeFrame *frame = &self->frames[depth];

        if (frame->is_ordered && (side == BEFORE ? frame->index > 0 : frame->index < frame->cells->n_cells))
            return frame;
    }
    return NULL;
}

static void
get_bounds(const QdTreePlace *self, guint depth, Keys *ret_keys)
{
    for (guint side = BEFORE; side <= AFTER; side++) {
        const QdTreeFrame *frame = find_frame(self, depth, side);

        ret_keys->has[side] = frame != NULL &&
                              qd_page_cells_get(frame->cells, frame->index - (side == BEFORE), &ret_keys->cells[side]);
    }
}

/* The nearest key of the page on that side; of a page that cannot be read the bound that is next. */
static gboolean
get_neighbour_key(QdTreePlace *self, const QdTreeFrame *frame, guint side, QdPageCell *ret_cell)
{
    const QdPageFileInfo *info = qd_page_file_get_info(self->file);
    guint32 page = qd_page_cells_get_child(frame->cells, side == BEFORE ? frame->index - 1 : frame->index + 1);
    QdPageCells cells;

    if (self->neighbour[side] == NULL)
        self->neighbour[side] = g_malloc(info->page_size);
    if (page > 0 && page <= info->n_pages && qd_page_file_read(self->file, page, self->neighbour[side]) &&
        qd_page_cells_init(&cells, self->neighbour[side], page, info->usable_size) &&
        qd_page_cells_is_of_table(&cells) == qd_page_cells_is_of_table(frame->cells) && cells.n_cells > 0 &&
        qd_page_cells_get(&cells, side == BEFORE ? cells.n_cells - 1 : 0, ret_cell))
        return TRUE;
    if (side == BEFORE)
        return frame->index >= 2 && qd_page_cells_get(frame->cells, frame->index - 2, ret_cell);
    return frame->index + 1 < frame->cells->n_cells && qd_page_cells_get(frame->cells, frame->index + 1, ret_cell);
}

static gboolean
are_most_outside(const QdTreePlace *self, const QdPageCells *cells, const Keys *keys)
{
    guint n_outside = 0;
    QdPageCell cell;

    for (guint32 i = 0; i < cells->n_cells; i++)
        n_outside += qd_page_cells_get(cells, i, &cell) &&
                     ((keys->has[BEFORE] && is_wrong_order(self, &keys->cells[BEFORE], &cell)) ||
                      (keys->has[AFTER] && is_wrong_order(self, &cell, &keys->cells[AFTER])));
    return 2 * n_outside > cells->n_cells;
}

gboolean
qd_tree_place_is_among_others(QdTreePlace *self, guint depth, const QdPageCells *cells)
{
    Keys keys;

    if (self->compare == NULL)
        return TRUE;
    for (guint side = BEFORE; side <= AFTER; side++) {
        const QdTreeFrame *frame = find_frame(self, depth, side);

        keys.has[side] = frame != NULL && get_neighbour_key(self, frame, side, &keys.cells[side]);
    }
    return !are_most_outside(self, cells, &keys);
}

/* Whether the ends of a page are within the bounds: then all of it is, if it is in order. */
static gboolean
are_ends_inside(const QdTreePlace *self, const QdPageCells *cells, const Keys *keys)
{
    QdPageCell first;
    QdPageCell last;

    return qd_page_cells_get(cells, 0, &first) && qd_page_cells_get(cells, cells->n_cells - 1, &last) &&
           !(keys->has[BEFORE] && is_wrong_order(self, &keys->cells[BEFORE], &first)) &&
           !(keys->has[AFTER] && is_wrong_order(self, &last, &keys->cells[AFTER]));
}

/* What is damaged itself is no foreign page: its good rows stay. A page in disorder is believed where the order is not known to be
 * the expected one. So is a page of one cell, which cannot say so. One wrong key is in one pair, or in two. */
gboolean
qd_tree_place_is_foreign(QdTreePlace *self, guint depth, const QdPageCells *cells, gboolean *ret_is_disordered)
{
    guint n_pairs = 0;
    guint n_wrong = self->compare != NULL ? qd_tree_place_count_wrong_pairs(self, cells, &n_pairs) : 0;
    gboolean is_disordered = n_wrong > 0 && 2 * n_wrong >= n_pairs;
    Keys keys;

    *ret_is_disordered = is_disordered;
    if (self->compare == NULL || cells->n_cells < 2 || !qd_page_cells_are_whole(cells))
        return FALSE;
    if (self->is_known_order && 2 * n_wrong > MAX(n_pairs, 2))
        return TRUE;
    get_bounds(self, depth, &keys);
    return !are_ends_inside(self, cells, &keys) && are_most_outside(self, cells, &keys) &&
           (self->is_known_order || !is_disordered) && !qd_tree_place_is_among_others(self, depth, cells);
}
