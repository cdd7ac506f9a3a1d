/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One value of a result, and how it is written in csv, tsv and json: byte for byte what the daemon writes
 * (docs/formats.md; a test compares them).
 *
 * Place: layer B. Invariant: a cell from a cursor is valid until the cursor's next row, and has to be cleared before.
 */
#pragma once

#include <query-client.h>
#include <stdbool.h>

typedef struct QctlCell {
    QueryValueType type;
    gint64 integer;
    double real;
    const char *data; /* texts, blobs and terms */
    gsize n_bytes;
    const char *tag; /* language or datatype of a literal */
    GBytes *bytes;   /* (owned) (nullable): what @data of a blob points into */
} QctlCell;

/* The current row's value in @column. */
void qctl_cell_init(QctlCell *self, QueryCursor *cursor, guint column);
void qctl_cell_init_int64(QctlCell *self, gint64 value);
/* @text: (nullable): borrowed; NULL is NULL */
void qctl_cell_init_text(QctlCell *self, const char *text);
void qctl_cell_clear(QctlCell *self);

/* Appends the value as one field. */
void qctl_cell_put_csv(const QctlCell *self, GString *out);
void qctl_cell_put_tsv(const QctlCell *self, GString *out);
void qctl_cell_put_json(const QctlCell *self, GString *out);

/* A column's name, as header field or as an object's key. */
void qctl_cell_put_csv_name(const char *name, GString *out);
void qctl_cell_put_tsv_name(const char *name, GString *out);
void qctl_cell_put_json_name(const char *name, GString *out);

/**
 * qctl_cell_put_plain:
 * @max_characters: texts are cut after so many, blobs after half as many bytes
 *
 * Appends the value for eyes: one line, no control characters, valid UTF-8. NULL is nothing.
 */
void qctl_cell_put_plain(const QctlCell *self, guint max_characters, GString *out);

/**
 * qctl_number_parse:
 * @text: as given on a command line
 *
 * Returns: INTEGER or FLOAT with @ret_integer or @ret_real set when all of @text is such a number, else TEXT
 */
QueryValueType qctl_number_parse(const char *text, gint64 *ret_integer, double *ret_real);
