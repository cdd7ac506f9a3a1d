/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One column of values in Arrow's memory layout, filled from pages without a call per value.
 *
 * Place: room arrow. Knows no ABI of Arrow's: the owner of a column gives its buffers to others.
 * Invariant: types are in one order, in which each holds the values of those before it: INT64, DOUBLE, UTF8 or TERM, BINARY. Until
 * its type is fixed a column takes each value: it becomes of a later type, and its values with it, without a loss.
 */
#pragma once

#include <glib.h>

#include "client-lib/wire/wire-page-reader.h"

typedef enum QwArrowType {
    QW_ARROW_NONE, /* NULLs only so far */
    QW_ARROW_INT64,
    QW_ARROW_DOUBLE,
    QW_ARROW_UTF8,
    QW_ARROW_TERM, /* a struct of three UTF8: QwArrowPart */
    QW_ARROW_BINARY,
} QwArrowType;

/* The columns of a TERM; the first has a value in each row that is not NULL. */
typedef enum QwArrowPart {
    QW_ARROW_PART_VALUE,
    QW_ARROW_PART_DATATYPE, /* an IRI; "@id" of an IRI, "@bnode" of a blank node; NULL of plain strings and those with a language */
    QW_ARROW_PART_LANGUAGE,
    QW_ARROW_N_PARTS,
} QwArrowPart;

typedef struct QwArrowColumn QwArrowColumn;

struct QwArrowColumn {
    QwArrowType type;
    QwArrowType fallback; /* its type when all values that were read ahead are NULL */
    bool is_fixed;        /* the type is known to others */
    bool has_terms;       /* RDF terms and TEXT are TERM, not UTF8 */
    size_t n_rows;
    size_t n_rows_max; /* for which the buffers have room */
    size_t n_nulls;
    uint8_t *validity; /* a bit for each row: 1 for a value; 1 beyond n_rows */
    uint8_t *integers; /* (nullable): of a DOUBLE that is not fixed, the rows that came as INTEGER */
    union {
        void *values;
        int64_t *int64;
        double *real;
        int32_t *offsets; /* UTF8, BINARY: into data, n_rows + 1 */
    };
    char *data;
    size_t n_data;
    size_t n_data_max;
    QwArrowColumn *parts; /* TERM: of QW_ARROW_N_PARTS */
};

/* Sets @self up for the declared type of a column ("": none). @terms: RDF terms are TERM where no type is declared. */
void qw_arrow_column_init(QwArrowColumn *self, const char *declared_type, bool terms);
void qw_arrow_column_clear(QwArrowColumn *self);

/**
 * qw_arrow_column_take:
 * @ret: (out caller-allocates): gets the rows and their buffers; qw_arrow_column_clear() frees them
 *
 * @self is empty then, of the same type.
 */
void qw_arrow_column_take(QwArrowColumn *self, QwArrowColumn *ret);

/* The type does not change from here on. */
void qw_arrow_column_fix(QwArrowColumn *self);

/**
 * qw_arrow_column_append:
 * @view: a reader of the page; its row is changed
 * @column: index of the column in the page
 * @rows: offsets in the page of @n_rows rows
 *
 * Appends the column's value of each row.
 *
 * Returns: @n_rows; less: the index of the row whose value does not fit, or with which the data is more than 2 GiB
 */
size_t qw_arrow_column_append(QwArrowColumn *self, QwPageReader *view, uint32_t column, const uint32_t *rows, size_t n_rows);

/* The first row whose text is not UTF-8; n_rows when all are. */
size_t qw_arrow_column_span_utf8(const QwArrowColumn *self);

/* "int64", "double", … for messages; of a TERM the name of its extension type */
const char *qw_arrow_type_get_name(QwArrowType type);
/* "value", …: the fields of a TERM */
const char *qw_arrow_part_get_name(QwArrowPart part);
