/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pages, cells and records. The format: https://www.sqlite.org/fileformat2.html, "B-tree Pages" and "Record Format".
 */
#include "daemon/sqlite/page-cells.h"

#define FILE_HEADER_BYTES 100u
#define LEAF_HEADER_BYTES 8u
#define INTERIOR_HEADER_BYTES 12u

gboolean
qd_page_cells_is_interior(const QdPageCells *self)
{
    return self->kind == QD_PAGE_INDEX_INTERIOR || self->kind == QD_PAGE_TABLE_INTERIOR;
}

gboolean
qd_page_cells_is_of_table(const QdPageCells *self)
{
    return self->kind == QD_PAGE_TABLE_LEAF || self->kind == QD_PAGE_TABLE_INTERIOR;
}

gboolean
qd_page_cells_init(QdPageCells *self, const guint8 *data, guint32 number, guint32 usable_size)
{
    guint32 offset = number == 1 ? FILE_HEADER_BYTES : 0;
    guint8 kind = data[offset];

    if (kind != QD_PAGE_INDEX_INTERIOR && kind != QD_PAGE_TABLE_INTERIOR && kind != QD_PAGE_INDEX_LEAF &&
        kind != QD_PAGE_TABLE_LEAF)
        return FALSE;

    *self = (QdPageCells){ .data = data, .usable_size = usable_size, .kind = (QdPageKind) kind };
    self->start = offset + (qd_page_cells_is_interior(self) ? INTERIOR_HEADER_BYTES : LEAF_HEADER_BYTES);
    self->n_cells = qd_page_get_u16(data + offset + 3);
    self->last_child = qd_page_cells_is_interior(self) ? qd_page_get_u32(data + offset + 8) : 0;
    return self->start + 2 * self->n_cells <= usable_size;
}

const guint8 *
qd_page_get_long_varint(const guint8 *p, const guint8 *end, guint64 *ret_value)
{
    guint64 value = 0;

    for (guint i = 0; i < 8 && p < end; i++) {
        value = value << 7 | (*p & 0x7f);
        if ((*p++ & 0x80) == 0) {
            *ret_value = value;
            return p;
        }
    }
    if (p >= end)
        return NULL;
    *ret_value = value << 8 | *p;
    return p + 1;
}

/* How much of a payload stands in the page itself. */
static guint32
get_local_size(const QdPageCells *self, guint64 n_bytes)
{
    guint32 usable = self->usable_size;
    guint32 max = self->kind == QD_PAGE_TABLE_LEAF ? usable - 35 : (usable - 12) * 64 / 255 - 23;
    guint32 min = (usable - 12) * 32 / 255 - 23;
    guint64 size;

    if (n_bytes <= max)
        return (guint32) n_bytes;
    size = min + (n_bytes - min) % (usable - 4);
    return size <= max ? (guint32) size : min;
}

/* @ret_end: (nullable): the first byte after the cell */
static gboolean
get_cell(const QdPageCells *self, guint32 index, QdPageCell *ret_cell, guint32 *ret_end)
{
    guint32 offset = qd_page_get_u16(self->data + self->start + 2 * index);
    const guint8 *p = self->data + offset;
    const guint8 *end = self->data + self->usable_size;
    QdPageCell cell = { 0 };
    guint64 rowid = 0;

    if (offset < self->start + 2 * self->n_cells || offset + 4 > self->usable_size)
        return FALSE;
    if (qd_page_cells_is_interior(self)) {
        cell.child = qd_page_get_u32(p);
        p += 4;
    }
    if (self->kind != QD_PAGE_TABLE_INTERIOR) {
        p = qd_page_get_varint(p, end, &cell.n_bytes);
        if (p == NULL || cell.n_bytes > G_MAXINT32)
            return FALSE;
    }
    if (qd_page_cells_is_of_table(self)) {
        p = qd_page_get_varint(p, end, &rowid);
        if (p == NULL)
            return FALSE;
    }
    cell.rowid = (gint64) rowid;
    cell.local = p;
    cell.n_local = get_local_size(self, cell.n_bytes);
    if (cell.n_local > (guint64) (end - p))
        return FALSE;
    p += cell.n_local;
    if (cell.n_local < cell.n_bytes) {
        if (end - p < 4)
            return FALSE;
        cell.overflow = qd_page_get_u32(p);
        p += 4;
    }
    *ret_cell = cell;
    if (ret_end != NULL)
        *ret_end = (guint32) (p - self->data);
    return TRUE;
}

gboolean
qd_page_cells_get(const QdPageCells *self, guint32 index, QdPageCell *ret_cell)
{
    return get_cell(self, index, ret_cell, NULL);
}

guint32
qd_page_cells_get_child(const QdPageCells *self, guint32 index)
{
    QdPageCell cell;

    if (index == self->n_cells)
        return self->last_child;
    return qd_page_cells_get(self, index, &cell) ? cell.child : 0;
}

static gint
compare_spans(gconstpointer a, gconstpointer b)
{
    guint64 x = *(const guint64 *) a;
    guint64 y = *(const guint64 *) b;

    return (x > y) - (x < y);
}

gboolean
qd_page_cells_are_whole(const QdPageCells *self)
{
    g_autofree guint64 *spans = g_new(guint64, MAX(self->n_cells, 1)); /* start << 32 | end */
    gint64 last = 0;

    for (guint32 i = 0; i < self->n_cells; i++) {
        QdPageCell cell;
        guint32 end;

        if (!get_cell(self, i, &cell, &end))
            return FALSE;
        if (qd_page_cells_is_of_table(self) && i > 0 && cell.rowid <= last)
            return FALSE;
        last = cell.rowid;
        spans[i] = (guint64) qd_page_get_u16(self->data + self->start + 2 * i) << 32 | end;
    }
    qsort(spans, self->n_cells, sizeof *spans, compare_spans);
    for (guint32 i = 1; i < self->n_cells; i++) {
        if ((spans[i] >> 32) < (spans[i - 1] & G_MAXUINT32))
            return FALSE;
    }
    return TRUE;
}

guint32
qd_page_cells_get_end(const QdPageCells *self)
{
    guint32 last = 0;

    for (guint32 i = 0; i < self->n_cells; i++) {
        QdPageCell cell;
        guint32 end;

        if (get_cell(self, i, &cell, &end))
            last = MAX(last, end);
    }
    return last;
}

/* Records ------------------------------------------------------------------------------------------------------------------ */

gboolean
qd_record_parse(const guint8 *data, guint64 n_bytes, GArray *fields)
{
    guint64 n_header = 0;
    const guint8 *head = qd_page_get_varint(data, data + n_bytes, &n_header);
    guint64 body = n_header;

    if (head == NULL || n_header > n_bytes || data + n_header < head)
        return FALSE;
    while (head < data + n_header) {
        QdField field = { 0 };

        head = qd_page_get_varint(head, data + n_header, &field.type);
        field.n_bytes = qd_record_get_field_size(field.type);
        if (head == NULL || field.type == QD_RECORD_RESERVED || field.type == QD_RECORD_RESERVED + 1 ||
            field.n_bytes > n_bytes - body)
            return FALSE;
        field.data = data + body;
        body += field.n_bytes;
        g_array_append_val(fields, field);
    }
    return body == n_bytes;
}

gboolean
qd_field_is_integer(const QdField *field)
{
    return (field->type >= 1 && field->type <= 6) || field->type == 8 || field->type == 9;
}

gint64
qd_field_get_int64(const QdField *field)
{
    if (field->type == 8 || field->type == 9)
        return (gint64) field->type - 8;
    return field->n_bytes == 0 || field->n_bytes > 8 ? 0 : qd_page_get_int64(field->data, field->n_bytes);
}

gboolean
qd_field_is_text(const QdField *field)
{
    return field->type >= 13 && (field->type & 1) != 0;
}
