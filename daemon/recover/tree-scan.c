/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Downwards from the root, one buffer for each level.
 *
 * What a damaged number does: a wrong child is a page that two claim, or of another kind. A wrong key in an interior page puts
 * rows of a good page out of its bounds. Then the page is believed if it fits between those beside it. A wrong rowid is out of
 * bounds or out of order alone.
 */
#include "daemon/recover/tree-scan.h"

#include "daemon/recover/tree-claims.h"
#include "daemon/recover/tree-survey.h"
#include "daemon/sqlite/page-cells.h"

#define MAX_DEPTH QD_TREE_MAX_DEPTH

#define PAGE_USED 0x80u /* given out, part of a payload, or free */

struct QdTreeScan {
    QdPageFile *file;
    const QdPageFileInfo *info;
    guint64 max_row_bytes;
    QdTreeClaims claims; /* and which pages are given out */
    GArray *used;        /* (nullable) of guint32: what qd_tree_scan_forget() will forget */
    guint8 *buffers[MAX_DEPTH + 1];
    GByteArray *payload;
    guint8 *overflow; /* a page */

    /* of the tree that is being scanned */
    gboolean is_table;
    gint height;          /* -1: it is not known */
    gboolean is_doubtful; /* the page whose rows are given */
    QdTreePlace place;
    QdTreeResult *result;
    QdTreeRowFunc func;
    gpointer data;
};

/* Rowids above @low up to @high. */
typedef struct Bounds {
    gint64 low;
    gint64 high;
    gboolean from_start; /* @low itself, too */
} Bounds;

static const Bounds unbounded = { G_MININT64, G_MAXINT64, TRUE };

void
qd_tree_result_init(QdTreeResult *self)
{
    *self = (QdTreeResult){ .losses = g_array_new(FALSE, FALSE, sizeof(QdTreeLoss)) };
}

void
qd_tree_result_clear(QdTreeResult *self)
{
    g_clear_pointer(&self->losses, g_array_unref);
}

QdTreeScan *
qd_tree_scan_new(QdPageFile *file, guint64 max_row_bytes)
{
    QdTreeScan *self = g_new0(QdTreeScan, 1);

    self->file = file;
    self->place.file = file;
    self->info = qd_page_file_get_info(file);
    self->max_row_bytes = max_row_bytes;
    qd_tree_claims_init(&self->claims, file);
    self->payload = g_byte_array_new();
    self->overflow = g_malloc(self->info->page_size);
    return self;
}

QdTreeScan *
qd_tree_scan_free(QdTreeScan *self)
{
    if (self == NULL)
        return NULL;

    for (guint i = 0; i < G_N_ELEMENTS(self->buffers); i++)
        g_free(self->buffers[i]);
    g_clear_pointer(&self->used, g_array_unref);
    qd_tree_place_clear(&self->place);
    qd_tree_claims_clear(&self->claims);
    g_byte_array_unref(self->payload);
    g_free(self->overflow);
    g_free(self);
    return NULL;
}

static gboolean
load_page(QdTreeScan *self, guint32 page, guint depth, QdPageCells *ret_cells)
{
    if (self->buffers[depth] == NULL)
        self->buffers[depth] = g_malloc(self->info->page_size);
    return qd_tree_claims_load(&self->claims, page, self->buffers[depth], ret_cells);
}

static void
use_page(QdTreeScan *self, guint32 page)
{
    self->claims.pages[page] |= PAGE_USED;
    if (self->used != NULL)
        g_array_append_val(self->used, page);
}

void
qd_tree_scan_forget(QdTreeScan *self)
{
    if (self->used == NULL) {
        self->used = g_array_new(FALSE, FALSE, sizeof(guint32));
        for (guint32 page = 1; page <= self->info->n_pages; page++)
            self->claims.pages[page] &= QD_TREE_REFERENCES;
    }
    for (guint i = 0; i < self->used->len; i++)
        self->claims.pages[g_array_index(self->used, guint32, i)] &= QD_TREE_REFERENCES;
    g_array_set_size(self->used, 0);
}

/* References ----------------------------------------------------------------------------------------------------------- */

void
qd_tree_scan_count(QdTreeScan *self, guint32 root)
{
    qd_tree_claims_count(&self->claims, root);
}

/* Rows ------------------------------------------------------------------------------------------------------------------ */

/* Takes a page for a payload or a list: false when it has another owner. A doubtful row leaves it to another. */
static gboolean
take_page(QdTreeScan *self, guint32 page, guint8 *buffer)
{
    if (page == 0 || page > self->info->n_pages || self->claims.pages[page] != 0)
        return FALSE;
    if (!self->is_doubtful)
        use_page(self, page);
    return qd_page_file_read(self->file, page, buffer);
}

static gboolean
gather_payload(QdTreeScan *self, const QdPageCell *cell)
{
    guint32 next = cell->overflow;

    g_byte_array_set_size(self->payload, 0);
    g_byte_array_append(self->payload, cell->local, cell->n_local);
    while (self->payload->len < cell->n_bytes) {
        if (!take_page(self, next, self->overflow))
            return FALSE;
        g_byte_array_append(self->payload, self->overflow + 4,
                            (guint) MIN(cell->n_bytes - self->payload->len, self->info->usable_size - 4));
        next = qd_page_get_u32(self->overflow);
    }
    return next == 0;
}

static gboolean
give_row(QdTreeScan *self, const QdPageCell *cell, GError **error)
{
    QdTreeRow row = { .rowid = cell->rowid, .data = cell->local, .n_bytes = cell->n_bytes };
    gboolean is_local = cell->n_local == cell->n_bytes;
    gboolean good = FALSE;

    if (cell->n_bytes <= self->max_row_bytes && (is_local || gather_payload(self, cell))) {
        if (!is_local)
            row.data = self->payload->data;
        if (!self->func(&row, &good, self->data, error))
            return FALSE;
    }
    if (good) {
        self->result->n_rows++;
        self->result->n_doubtful_rows += self->is_doubtful;
    } else {
        self->result->n_lost_rows++;
    }
    return TRUE;
}

static gboolean
is_within(gint64 rowid, const Bounds *bounds)
{
    return (rowid > bounds->low || (bounds->from_start && rowid == bounds->low)) && rowid <= bounds->high;
}

/* The next cell of a leaf whose rowid is within the bounds; n_cells when there is none. */
static guint32
find_within(const QdPageCells *cells, guint32 index, const Bounds *bounds, QdPageCell *ret_cell)
{
    while (index < cells->n_cells && (!qd_page_cells_get(cells, index, ret_cell) || !is_within(ret_cell->rowid, bounds)))
        index++;
    return index;
}

static guint32
count_within(const QdPageCells *cells, const Bounds *bounds)
{
    guint32 n_inside = 0;
    QdPageCell cell;

    for (guint32 i = find_within(cells, 0, bounds, &cell); i < cells->n_cells; i = find_within(cells, i + 1, bounds, &cell))
        n_inside++;
    return n_inside;
}

static gboolean
most_are_outside(const QdPageCells *cells, const Bounds *bounds)
{
    return 2 * count_within(cells, bounds) < cells->n_cells;
}

/* Rows in ascending order; of two in the wrong order the one goes that does not fit what was before. */
static gboolean
give_ordered_rows(QdTreeScan *self, const QdPageCells *cells, Bounds bounds, GError **error)
{
    guint32 n_before = cells->n_cells;
    QdPageCell cell;
    QdPageCell after;
    guint32 n_given = 0;

    for (guint32 i = find_within(cells, 0, &bounds, &cell); i < n_before;) {
        guint32 next = find_within(cells, i + 1, &bounds, &after);

        if (next < n_before && after.rowid <= cell.rowid) {
            i = next;
            cell = after;
            continue;
        }
        if (!give_row(self, &cell, error))
            return FALSE;
        n_given++;
        bounds = (Bounds){ cell.rowid, bounds.high, FALSE };
        i = find_within(cells, i + 1, &bounds, &cell);
    }
    self->result->n_lost_rows += n_before - n_given;
    return TRUE;
}

static gboolean
give_all_rows(QdTreeScan *self, const QdPageCells *cells, GError **error)
{
    for (guint32 i = 0; i < cells->n_cells; i++) {
        QdPageCell cell;

        if (!qd_page_cells_get(cells, i, &cell))
            self->result->n_lost_rows++;
        else if (!give_row(self, &cell, error))
            return FALSE;
    }
    return TRUE;
}

/* The tree -------------------------------------------------------------------------------------------------------------- */

static void
note_loss(QdTreeScan *self, guint32 page, const Bounds *bounds)
{
    const QdTreeLoss loss = { page, bounds->from_start ? bounds->low : bounds->low + 1, bounds->high };

    g_array_append_val(self->result->losses, loss);
}

static gboolean
scan_leaf(QdTreeScan *self, guint32 page, const QdPageCells *cells, guint depth, const Bounds *bounds, const Bounds *outer,
          GError **error)
{
    gboolean is_foreign;
    guint32 n_outside;

    if (!self->is_table)
        return give_all_rows(self, cells, error);
    n_outside = cells->n_cells - count_within(cells, bounds);
    is_foreign = 2 * n_outside > cells->n_cells;
    if (!qd_tree_claims_is_disputed(&self->claims, page) && (is_foreign || n_outside > 1) && qd_page_cells_are_whole(cells)) {
        if (qd_tree_place_is_among_others(&self->place, depth, cells))
            return give_ordered_rows(self, cells, *outer, error);
        if (is_foreign) {
            note_loss(self, page, bounds);
            return TRUE;
        }
    }
    return give_ordered_rows(self, cells, *bounds, error);
}

static gboolean scan_page(QdTreeScan *self, guint32 page, guint depth, const Bounds *bounds, const Bounds *outer, GError **error);

/* What a foreign page refers to: its own claims were taken back. */
static gboolean
is_of_others(const QdTreeScan *self, guint32 page)
{
    return page <= self->info->n_pages && (self->claims.pages[page] & QD_TREE_REFERENCES) > 0;
}

/* Its cells are rows in an index, only keys in a table. */
static gboolean
scan_interior(QdTreeScan *self, const QdPageCells *cells, guint depth, const Bounds *bounds, gboolean is_foreign, GError **error)
{
    const gboolean is_doubtful = self->is_doubtful;
    Bounds below = *bounds;

    qd_tree_place_enter(&self->place, depth, cells);
    if (is_foreign)
        qd_tree_place_distrust(&self->place, depth);
    for (guint32 i = 0; i <= cells->n_cells; i++) {
        QdPageCell cell = { .child = cells->last_child, .rowid = bounds->high };
        gboolean is_cell = i < cells->n_cells;

        if (is_cell && !qd_page_cells_get(cells, i, &cell)) {
            note_loss(self, 0, &below);
            continue;
        }
        if (is_foreign && is_of_others(self, cell.child))
            continue;
        qd_tree_place_go(&self->place, depth, i);
        below.high = self->is_table && is_within(cell.rowid, &below) ? cell.rowid : bounds->high;
        if (!scan_page(self, cell.child, depth + 1, &below, bounds, error))
            return FALSE;
        self->is_doubtful = is_doubtful;
        if (is_cell && !self->is_table && !is_foreign && !give_row(self, &cell, error))
            return FALSE;
        if (below.high < bounds->high)
            below = (Bounds){ below.high, bounds->high, FALSE };
    }
    return TRUE;
}

/* Nothing says that the page is of another tree, but its place does not fit, or it is there twice. */
static gboolean
is_doubtful(QdTreeScan *self, const QdPageCells *cells, gboolean is_disordered)
{
    return is_disordered || qd_tree_claims_has_twin(&self->claims, cells);
}

/* A leaf above the other leaves, or a page with children beside them. */
static gboolean
is_at_wrong_depth(const QdTreeScan *self, guint depth, const QdPageCells *cells)
{
    return self->height >= 0 && qd_page_cells_is_interior(cells) != (depth < (guint) self->height);
}

static gboolean
scan_page(QdTreeScan *self, guint32 page, guint depth, const Bounds *bounds, const Bounds *outer, GError **error)
{
    gboolean is_disordered = FALSE;
    gboolean is_foreign;
    QdPageCells cells;

    if (depth > MAX_DEPTH || !load_page(self, page, depth, &cells) || qd_page_cells_is_of_table(&cells) != self->is_table ||
        is_at_wrong_depth(self, depth, &cells) || (self->claims.pages[page] & PAGE_USED) != 0 ||
        (!self->is_table && qd_tree_claims_is_disputed(&self->claims, page))) {
        note_loss(self, page, bounds);
        return TRUE;
    }
    if (!qd_page_cells_is_interior(&cells) && qd_tree_claims_is_disputed(&self->claims, page) && most_are_outside(&cells, bounds)) {
        note_loss(self, page, bounds); /* of the other one that claims it */
        return TRUE;
    }
    is_foreign = (!self->is_table || qd_page_cells_is_interior(&cells)) &&
                 qd_tree_place_is_foreign(&self->place, depth, &cells, &is_disordered);
    self->is_doubtful = !self->is_table && is_doubtful(self, &cells, is_disordered);
    if (is_foreign)
        note_loss(self, page, bounds);
    if (is_foreign && !qd_page_cells_is_interior(&cells))
        return TRUE;
    use_page(self, page);
    return qd_page_cells_is_interior(&cells) ? scan_interior(self, &cells, depth, bounds, is_foreign, error)
                                             : scan_leaf(self, page, &cells, depth, bounds, outer, error);
}

static gboolean
compare_rowids(const QdPageCell *a, const QdPageCell *b, int *ret_order, gpointer data)
{
    *ret_order = (a->rowid > b->rowid) - (a->rowid < b->rowid);
    return TRUE;
}

void
qd_tree_scan_compare_by(QdTreeScan *self, QdTreeCompareFunc func, gpointer data)
{
    self->place.compare = func;
    self->place.data = data;
}

/* What it says of the tree that follows. */
static void
survey_tree(QdTreeScan *self, guint32 root, gboolean is_table)
{
    QdTreeSurvey survey;

    self->is_table = is_table;
    if (is_table)
        qd_tree_scan_compare_by(self, compare_rowids, NULL);
    qd_tree_survey_run(&survey, &self->place, &self->claims, root, is_table);
    self->height = survey.height;
    self->place.is_known_order = qd_tree_survey_is_ordered(&survey);
}

static void
settle_page(QdTreeScan *self, guint32 page, guint depth)
{
    gboolean is_disordered;
    QdPageCells cells;

    if (depth > MAX_DEPTH || !load_page(self, page, depth, &cells) || !qd_page_cells_is_interior(&cells))
        return;
    if (qd_page_cells_is_of_table(&cells) != self->is_table || is_at_wrong_depth(self, depth, &cells) ||
        qd_tree_place_is_foreign(&self->place, depth, &cells, &is_disordered)) {
        qd_tree_claims_take_back(&self->claims, &cells);
        return;
    }
    qd_tree_place_enter(&self->place, depth, &cells);
    for (guint32 i = 0; i <= cells.n_cells; i++) {
        qd_tree_place_go(&self->place, depth, i);
        settle_page(self, qd_page_cells_get_child(&cells, i), depth + 1);
    }
}

gboolean
qd_tree_scan_is_disputed(const QdTreeScan *self)
{
    return self->claims.are_disputed;
}

void
qd_tree_scan_settle(QdTreeScan *self, guint32 root, gboolean is_table)
{
    survey_tree(self, root, is_table);
    settle_page(self, root, 0);
    qd_tree_scan_compare_by(self, NULL, NULL);
}

gboolean
qd_tree_scan_is_in_order(QdTreeScan *self, guint32 root)
{
    QdTreeSurvey survey;

    qd_tree_survey_run(&survey, &self->place, &self->claims, root, FALSE);
    return qd_tree_survey_is_ordered(&survey);
}

gboolean
qd_tree_scan_run(QdTreeScan *self, guint32 root, gboolean is_table, QdTreeResult *result, QdTreeRowFunc func, gpointer data,
                 GError **error)
{
    gboolean ok;

    self->result = result;
    self->func = func;
    self->data = data;
    survey_tree(self, root, is_table);
    ok = scan_page(self, root, 0, &unbounded, &unbounded, error);
    qd_tree_scan_compare_by(self, NULL, NULL);
    return ok;
}

/* Orphans --------------------------------------------------------------------------------------------------------------- */

/* false when the list is not as long as the header says. */
static gboolean
take_free_pages(QdTreeScan *self)
{
    g_autofree guint8 *trunk = g_malloc(self->info->page_size);
    guint64 n_free = 0;
    guint32 next = self->info->first_free;

    while (next != 0) {
        guint32 n_leaves;

        if (!take_page(self, next, trunk))
            return FALSE;
        n_leaves = qd_page_get_u32(trunk + 4);
        if (n_leaves > self->info->usable_size / 4 - 2)
            return FALSE;
        for (guint32 i = 0; i < n_leaves; i++) {
            guint32 leaf = qd_page_get_u32(trunk + 8 + 4 * i);

            if (leaf == 0 || leaf > self->info->n_pages || self->claims.pages[leaf] != 0)
                return FALSE;
            use_page(self, leaf);
        }
        n_free += 1 + n_leaves;
        next = qd_page_get_u32(trunk);
    }
    return n_free == self->info->n_free;
}

static gboolean
load_leaf(QdTreeScan *self, guint32 page, QdPageCells *ret_cells)
{
    return (self->claims.pages[page] & PAGE_USED) == 0 && load_page(self, page, 0, ret_cells) &&
           ret_cells->kind == QD_PAGE_TABLE_LEAF && ret_cells->n_cells > 0 && qd_page_cells_are_whole(ret_cells);
}

gboolean
qd_tree_scan_is_leaf(QdTreeScan *self, guint32 page)
{
    QdPageCells cells;

    return load_leaf(self, page, &cells);
}

static QdOrphan
describe_orphan(guint32 page, const QdPageCells *cells)
{
    g_autoptr(GArray) fields = g_array_new(FALSE, FALSE, sizeof(QdField));
    QdOrphan orphan = { .page = page };
    QdPageCell cell;

    if (qd_page_cells_get(cells, cells->n_cells - 1, &cell))
        orphan.last_rowid = cell.rowid;
    if (qd_page_cells_get(cells, 0, &cell)) {
        orphan.first_rowid = cell.rowid;
        if (cell.n_local == cell.n_bytes && qd_record_parse(cell.local, cell.n_local, fields))
            orphan.n_fields = fields->len;
    }
    return orphan;
}

/* A page of an index, or of a table WITHOUT ROWID. */
static gboolean
is_of_keys(QdTreeScan *self, guint32 page)
{
    QdPageCells cells;

    return load_page(self, page, 0, &cells) && cells.kind == QD_PAGE_INDEX_LEAF && cells.n_cells > 0 &&
           qd_page_cells_are_whole(&cells);
}

GArray *
qd_tree_scan_find_orphans(QdTreeScan *self, guint *ret_n_keyed)
{
    GArray *orphans = g_array_new(FALSE, FALSE, sizeof(QdOrphan));
    guint32 n_pages = self->info->n_known_pages > 0 ? MIN(self->info->n_known_pages, self->info->n_pages) : self->info->n_pages;

    *ret_n_keyed = 0;
    self->is_doubtful = FALSE;
    if (self->info->header_damaged || !take_free_pages(self))
        return orphans;
    for (guint32 page = 2; page <= n_pages; page++) {
        QdPageCells cells;
        QdOrphan orphan;

        if (self->claims.pages[page] != 0)
            continue;
        if (!load_leaf(self, page, &cells)) {
            *ret_n_keyed += is_of_keys(self, page);
            continue;
        }
        orphan = describe_orphan(page, &cells);
        g_array_append_val(orphans, orphan);
    }
    return orphans;
}

gboolean
qd_tree_scan_run_orphan(QdTreeScan *self, const QdOrphan *orphan, QdTreeResult *result, QdTreeRowFunc func, gpointer data,
                        GError **error)
{
    QdPageCells cells;

    self->is_table = TRUE;
    self->is_doubtful = FALSE;
    self->result = result;
    self->func = func;
    self->data = data;
    if (!load_page(self, orphan->page, 0, &cells))
        return TRUE;
    use_page(self, orphan->page);
    return give_ordered_rows(self, &cells, unbounded, error);
}
