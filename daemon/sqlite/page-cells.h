/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One page of a b-tree and its cells; records and their fields.
 *
 * Place: room sqlite, for scans of tables and for salvage. Pure: bytes in, numbers and borrowed bytes out.
 * Invariant: nothing outside of the given bytes is read, regardless of their content.
 */
#pragma once

#include <glib.h>

/* Numbers as they stand in the file. */
static inline guint32
qd_page_get_u16(const guint8 *p)
{
    return (guint32) p[0] << 8 | p[1];
}

static inline guint32
qd_page_get_u32(const guint8 *p)
{
    return (guint32) p[0] << 24 | (guint32) p[1] << 16 | (guint32) p[2] << 8 | p[3];
}

/* Signed; @n_bytes: 1 to 8. */
static inline gint64
qd_page_get_int64(const guint8 *p, guint64 n_bytes)
{
    guint64 value = (p[0] & 0x80) != 0 ? G_MAXUINT64 : 0;

    for (guint64 i = 0; i < n_bytes; i++)
        value = value << 8 | p[i];
    return (gint64) value;
}

/* Returns: (nullable): after the number; NULL when it goes beyond @end */
const guint8 *qd_page_get_long_varint(const guint8 *p, const guint8 *end, guint64 *ret_value);

static inline const guint8 *
qd_page_get_varint(const guint8 *p, const guint8 *end, guint64 *ret_value)
{
    if (G_LIKELY(p < end && *p < 0x80)) {
        *ret_value = *p;
        return p + 1;
    }
    return qd_page_get_long_varint(p, end, ret_value);
}

typedef enum QdPageKind {
    QD_PAGE_INDEX_INTERIOR = 2,
    QD_PAGE_TABLE_INTERIOR = 5,
    QD_PAGE_INDEX_LEAF = 10,
    QD_PAGE_TABLE_LEAF = 13,
} QdPageKind;

typedef struct QdPageCells {
    const guint8 *data; /* (not owned) */
    guint32 usable_size;
    QdPageKind kind;
    guint32 start; /* of the list of cells */
    guint32 n_cells;
    guint32 last_child; /* of an interior page: right of all cells */
} QdPageCells;

typedef struct QdPageCell {
    guint32 child;       /* interior: the page left of the cell */
    gint64 rowid;        /* of a table */
    guint64 n_bytes;     /* of the whole payload; 0 in a table's interior page */
    const guint8 *local; /* the payload's first n_local bytes */
    guint32 n_local;     /* n_bytes, when nothing of it stands elsewhere */
    guint32 overflow;    /* else the page where it goes on, which may be any number */
} QdPageCell;

/* @number: of the page, since the first one begins with the file's header. false when it is no page of a b-tree */
gboolean qd_page_cells_init(QdPageCells *self, const guint8 *data, guint32 number, guint32 usable_size);
gboolean qd_page_cells_is_interior(const QdPageCells *self);
gboolean qd_page_cells_is_of_table(const QdPageCells *self);
/* false when the cell lies outside of the page */
gboolean qd_page_cells_get(const QdPageCells *self, guint32 index, QdPageCell *ret_cell);
/* Of an interior page: before the cell, or the last one at n_cells. 0: it is not known */
guint32 qd_page_cells_get_child(const QdPageCells *self, guint32 index);
/* Whether each cell can be had, none lies on another and, in a table, their rowids ascend. */
gboolean qd_page_cells_are_whole(const QdPageCells *self);
/* After the last cell: a page is filled from its end. 0: there is none */
guint32 qd_page_cells_get_end(const QdPageCells *self);

#define QD_RECORD_RESERVED 10 /* a serial type, as the next one */
#define QD_RECORD_BLOB 12     /* if even, so of texts */

/* The bytes of a value by its serial type. 0 for NULL, the numbers 0 and 1, and the two types that are reserved. */
static inline guint64
qd_record_get_field_size(guint64 type)
{
    static const guint8 sizes[QD_RECORD_BLOB] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0 };

    return type >= QD_RECORD_BLOB ? (type - QD_RECORD_BLOB) / 2 : sizes[type];
}

/* A value of a record. */
typedef struct QdField {
    guint64 type; /* SQLite's serial type: 0 NULL, 1–6 integer, 7 float, 8 and 9 the numbers 0 and 1, else blob and text */
    const guint8 *data;
    guint64 n_bytes;
} QdField;

/* Appends the fields of a record to @fields, an array of QdField. false when it is malformed: then @fields may hold some */
gboolean qd_record_parse(const guint8 *data, guint64 n_bytes, GArray *fields);
gboolean qd_field_is_integer(const QdField *field);
gint64 qd_field_get_int64(const QdField *field);
gboolean qd_field_is_text(const QdField *field);
