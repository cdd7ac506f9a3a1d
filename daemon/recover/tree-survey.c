/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Some children of each page, the same number at each level: a tree of a million pages costs some hundred.
 */
#include "daemon/recover/tree-survey.h"

#define UNKNOWN (-1)
#define MAX_CHILDREN 5u /* of a page */

typedef struct Walk {
    QdTreeSurvey *survey;
    const QdTreePlace *place;
    const QdTreeClaims *claims;
    gboolean is_table;
} Walk;

static gint look_at_page(const Walk *self, guint32 page, guint depth);

static void
note_order(const Walk *self, const QdPageCells *cells)
{
    guint n_pairs = 0;
    guint n_wrong = self->place->compare != NULL ? qd_tree_place_count_wrong_pairs(self->place, cells, &n_pairs) : 0;

    if (n_pairs > 0)
        *(2 * n_wrong < n_pairs ? &self->survey->n_ordered : &self->survey->n_disordered) += 1;
}

/* What most children say. Of two that contradict each other the one with children of its own is believed: they are in no other
 * tree. */
static gint
find_height(const Walk *self, const QdPageCells *cells, guint depth)
{
    guint n_votes[QD_TREE_MAX_DEPTH + 1] = { 0 };
    guint n_children = MIN(cells->n_cells + 1, MAX_CHILDREN);
    gint best = UNKNOWN;

    for (guint i = 0; i < n_children; i++) {
        guint32 index = n_children > 1 ? (guint32) ((guint64) i * cells->n_cells / (n_children - 1)) : 0;
        guint32 child = qd_page_cells_get_child(cells, index);
        gint height = qd_tree_claims_is_disputed(self->claims, child) ? UNKNOWN : look_at_page(self, child, depth + 1);

        if (height != UNKNOWN && height < (gint) QD_TREE_MAX_DEPTH)
            n_votes[height]++;
    }
    for (gint i = 0; i < (gint) G_N_ELEMENTS(n_votes); i++)
        if (n_votes[i] > 0 && (best == UNKNOWN || n_votes[i] >= n_votes[best]))
            best = i;
    return best == UNKNOWN ? UNKNOWN : best + 1;
}

static gint
look_at_page(const Walk *self, guint32 page, guint depth)
{
    g_autofree guint8 *buffer = g_malloc(qd_page_file_get_info(self->place->file)->page_size);
    QdPageCells cells;

    if (depth > QD_TREE_MAX_DEPTH || !qd_tree_claims_load(self->claims, page, buffer, &cells) ||
        qd_page_cells_is_of_table(&cells) != self->is_table)
        return UNKNOWN;
    if (!self->is_table)
        note_order(self, &cells);
    return qd_page_cells_is_interior(&cells) ? find_height(self, &cells, depth) : 0;
}

void
qd_tree_survey_run(QdTreeSurvey *self, const QdTreePlace *place, const QdTreeClaims *claims, guint32 root, gboolean is_table)
{
    const Walk walk = { self, place, claims, is_table };

    *self = (QdTreeSurvey){ .height = UNKNOWN };
    self->height = look_at_page(&walk, root, 0);
}

gboolean
qd_tree_survey_is_ordered(const QdTreeSurvey *self)
{
    return self->n_ordered > 0 && self->n_ordered >= self->n_disordered;
}
