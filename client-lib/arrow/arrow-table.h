/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The columns of one batch of rows, of which a result has one after the other.
 *
 * Place: room arrow. Invariant: all columns have n_rows rows while no call has failed.
 */
#pragma once

#include "client-lib/arrow/arrow-column.h"

/* A batch is full with so many bytes of pages; the record with which it becomes full is in it as a whole. */
#define QW_ARROW_BATCH_BYTES ((size_t) 16 * 1024 * 1024)

/* Or with so many rows: a row of NULLs takes few bytes. */
#define QW_ARROW_BATCH_ROWS ((size_t) 1024 * 1024)

typedef struct QwArrowTable {
    size_t n_columns;
    QwArrowColumn *columns;
    size_t n_rows;
    size_t n_bytes; /* of the pages that were appended */
    GArray *rows;   /* offsets of the rows of a page, as guint32 */
} QwArrowTable;

/* A value that cannot be in the batch. */
typedef struct QwArrowProblem {
    size_t column;
    size_t row;  /* of the batch */
    QwType type; /* of the value */
    bool is_not_utf8;
} QwArrowProblem;

/* The columns are to be set up with qw_arrow_column_init(). */
QwArrowTable *qw_arrow_table_new(size_t n_columns);
void qw_arrow_table_free(QwArrowTable *self);

bool qw_arrow_table_is_full(const QwArrowTable *self);

/**
 * qw_arrow_table_append:
 * @reader: on a row: it and those after it are appended; it is on the last one then
 * @ret_problem: (out): on failure
 *
 * Returns: false when a value does not fit; the table cannot be used any more
 */
bool qw_arrow_table_append(QwArrowTable *self, QwPageReader *reader, QwArrowProblem *ret_problem);

/**
 * qw_arrow_table_finish:
 * @ret_problem: (out): on failure
 *
 * The batch is whole: its types are fixed, and its texts are checked.
 *
 * Returns: false when a text is not UTF-8
 */
bool qw_arrow_table_finish(QwArrowTable *self, QwArrowProblem *ret_problem);

/* The table is empty again, of the same types. */
void qw_arrow_table_drop_rows(QwArrowTable *self);

/**
 * qw_arrow_problem_describe:
 * @name: of the column
 * @n_rows_before: in batches before this one
 *
 * Returns: (transfer full): a message for the user
 */
char *qw_arrow_problem_describe(const QwArrowProblem *self, const QwArrowTable *table, const char *name, guint64 n_rows_before);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QwArrowTable, qw_arrow_table_free)
