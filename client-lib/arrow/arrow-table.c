/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Batches: a page is appended column by column.
 */
#include "client-lib/arrow/arrow-table.h"

QwArrowTable *
qw_arrow_table_new(size_t n_columns)
{
    QwArrowTable *self = g_new0(QwArrowTable, 1);

    self->n_columns = n_columns;
    self->columns = g_new0(QwArrowColumn, n_columns);
    self->rows = g_array_new(FALSE, FALSE, sizeof(guint32));
    return self;
}

void
qw_arrow_table_free(QwArrowTable *self)
{
    if (self == NULL)
        return;
    for (size_t i = 0; i < self->n_columns; i++)
        qw_arrow_column_clear(&self->columns[i]);
    g_free(self->columns);
    g_array_unref(self->rows);
    g_free(self);
}

bool
qw_arrow_table_is_full(const QwArrowTable *self)
{
    return self->n_bytes >= QW_ARROW_BATCH_BYTES || self->n_rows >= QW_ARROW_BATCH_ROWS;
}

static void
set_problem(const QwArrowTable *self, size_t column, size_t row, QwType type, QwArrowProblem *ret_problem)
{
    *ret_problem = (QwArrowProblem){ .column = column, .row = self->n_rows + row, .type = type };
}

bool
qw_arrow_table_append(QwArrowTable *self, QwPageReader *reader, QwArrowProblem *ret_problem)
{
    QwPageReader view = *reader;
    const uint32_t *rows;

    g_array_set_size(self->rows, 0);
    do {
        guint32 row = (guint32) reader->row;

        g_array_append_val(self->rows, row);
    } while (qw_page_reader_next(reader));

    rows = (const uint32_t *) (gpointer) self->rows->data;
    for (size_t i = 0; i < self->n_columns; i++) {
        size_t n = qw_arrow_column_append(&self->columns[i], &view, (uint32_t) i, rows, self->rows->len);
        QwValue value;

        if (n == self->rows->len)
            continue;
        view.row = rows[n];
        qw_page_reader_get(&view, (uint32_t) i, &value);
        set_problem(self, i, n, value.type, ret_problem);
        return false;
    }
    self->n_rows += self->rows->len;
    self->n_bytes += reader->next - rows[0];
    return true;
}

bool
qw_arrow_table_finish(QwArrowTable *self, QwArrowProblem *ret_problem)
{
    for (size_t i = 0; i < self->n_columns; i++) {
        QwArrowColumn *column = &self->columns[i];
        size_t n;

        qw_arrow_column_fix(column);
        n = qw_arrow_column_span_utf8(column);
        if (n == self->n_rows)
            continue;
        *ret_problem = (QwArrowProblem){ .column = i, .row = n, .type = QW_TYPE_TEXT, .is_not_utf8 = true };
        return false;
    }
    return true;
}

void
qw_arrow_table_drop_rows(QwArrowTable *self)
{
    for (size_t i = 0; i < self->n_columns; i++) {
        QwArrowColumn rows;

        qw_arrow_column_take(&self->columns[i], &rows);
        qw_arrow_column_clear(&rows);
    }
    self->n_rows = self->n_bytes = 0;
}

char *
qw_arrow_problem_describe(const QwArrowProblem *self, const QwArrowTable *table, const char *name, guint64 n_rows_before)
{
    static const char *const values[] = { "NULL", "INTEGER", "FLOAT", "TEXT", "BLOB", "IRI", "blank node", "literal", "literal" };
    guint64 row = n_rows_before + self->row + 1;

    if (self->is_not_utf8)
        return g_strdup_printf("the TEXT in column '%s' of row %" G_GUINT64_FORMAT " is not UTF-8; CAST(… AS BLOB) gives its bytes",
                               name, row);
    return g_strdup_printf(
        "the %s in column '%s' of row %" G_GUINT64_FORMAT
        " does not fit the type %s, which the rows before gave the column; CAST(… AS %s) gives all rows one type",
        values[self->type], name, row, qw_arrow_type_get_name(table->columns[self->column].type),
        self->type == QW_TYPE_BLOB ? "BLOB" : "TEXT");
}
