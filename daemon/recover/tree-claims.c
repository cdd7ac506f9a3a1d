/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Down from each root, to what was not reached before.
 */
#include "daemon/recover/tree-claims.h"

void
qd_tree_claims_init(QdTreeClaims *self, QdPageFile *file)
{
    *self = (QdTreeClaims){ .file = file };
    self->pages = g_malloc0((gsize) qd_page_file_get_info(file)->n_pages + 1);
}

void
qd_tree_claims_clear(QdTreeClaims *self)
{
    qd_page_twins_clear(&self->twins);
    g_clear_pointer(&self->pages, g_free);
}

gboolean
qd_tree_claims_load(const QdTreeClaims *self, guint32 page, guint8 *buffer, QdPageCells *ret_cells)
{
    const QdPageFileInfo *info = qd_page_file_get_info(self->file);

    return page > 0 && page <= info->n_pages && qd_page_file_read(self->file, page, buffer) &&
           qd_page_cells_init(ret_cells, buffer, page, info->usable_size);
}

static guint
get_n_references(const QdTreeClaims *self, guint32 page)
{
    return self->pages[page] & QD_TREE_REFERENCES;
}

static gboolean
is_page(const QdTreeClaims *self, guint32 page)
{
    return page > 0 && page <= qd_page_file_get_info(self->file)->n_pages;
}

/* Tables with the same few rows are common, those of two full-text indexes are. */
static gboolean
can_have_twin(const QdPageCells *cells)
{
    return !qd_page_cells_is_of_table(cells) && cells->n_cells > 1;
}

gboolean
qd_tree_claims_has_twin(QdTreeClaims *self, const QdPageCells *cells)
{
    return can_have_twin(cells) && qd_page_twins_has(&self->twins, cells->data, cells->usable_size);
}

gboolean
qd_tree_claims_is_disputed(const QdTreeClaims *self, guint32 page)
{
    return is_page(self, page) && get_n_references(self, page) > 1;
}

static void
claim(QdTreeClaims *self, guint32 page, guint depth)
{
    g_autofree guint8 *buffer = NULL;
    QdPageCells cells;

    if (!is_page(self, page))
        return;
    if (get_n_references(self, page) < QD_TREE_REFERENCES)
        self->pages[page]++;
    if (get_n_references(self, page) > 1)
        self->are_disputed = TRUE;
    if (get_n_references(self, page) > 1 || depth >= QD_TREE_MAX_DEPTH)
        return;
    buffer = g_malloc(qd_page_file_get_info(self->file)->page_size);
    if (!qd_tree_claims_load(self, page, buffer, &cells))
        return;
    if (can_have_twin(&cells))
        qd_page_twins_add(&self->twins, buffer, cells.usable_size);
    for (guint32 i = 0; qd_page_cells_is_interior(&cells) && i <= cells.n_cells; i++)
        claim(self, qd_page_cells_get_child(&cells, i), depth + 1);
}

void
qd_tree_claims_count(QdTreeClaims *self, guint32 root)
{
    claim(self, root, 0);
}

static void
disclaim(QdTreeClaims *self, guint32 page, guint depth)
{
    g_autofree guint8 *buffer = NULL;
    QdPageCells cells;

    if (!is_page(self, page) || get_n_references(self, page) == 0 || get_n_references(self, page) == QD_TREE_REFERENCES)
        return;
    self->pages[page]--;
    if (get_n_references(self, page) > 0 || depth >= QD_TREE_MAX_DEPTH)
        return;
    buffer = g_malloc(qd_page_file_get_info(self->file)->page_size);
    if (!qd_tree_claims_load(self, page, buffer, &cells))
        return;
    for (guint32 i = 0; qd_page_cells_is_interior(&cells) && i <= cells.n_cells; i++)
        disclaim(self, qd_page_cells_get_child(&cells, i), depth + 1);
}

void
qd_tree_claims_take_back(QdTreeClaims *self, const QdPageCells *cells)
{
    for (guint32 i = 0; qd_page_cells_is_interior(cells) && i <= cells->n_cells; i++)
        disclaim(self, qd_page_cells_get_child(cells, i), 1);
}
