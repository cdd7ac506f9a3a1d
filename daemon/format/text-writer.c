/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows in the four text formats: what stands around the values that text-value.c writes.
 */
#include "daemon/format/text-writer.h"

#include <math.h>
#include <string.h>

#include "client-lib/text/text-utf8.h"
#include "client-lib/text/text-value.h"

struct QdTextWriter {
    QdTextFormat format;
    guint n_columns;
    gboolean header;
    gboolean has_rows;
    char **names;
    GString **keys; /* json, jsonl: "name": with its colon */
};

QdTextWriter *
qd_text_writer_new(QdTextFormat format, const char *const *column_names, guint n_columns, gboolean header)
{
    g_autoptr(QdTextWriter) self = g_new0(QdTextWriter, 1);
    g_auto(GStrv) unique = qw_text_unique_names(column_names, n_columns);

    self->format = format;
    self->n_columns = n_columns;
    self->header = header;
    self->names = g_new0(char *, n_columns + 1);
    self->keys = g_new0(GString *, n_columns + 1);
    for (guint i = 0; i < n_columns; i++) {
        self->names[i] = g_strdup(column_names[i]);
        self->keys[i] = g_string_new(NULL);
        qw_text_put_json_text(self->keys[i], unique[i], strlen(unique[i]));
        qw_text_put_char(self->keys[i], ':');
    }

    return g_steal_pointer(&self);
}

QdTextWriter *
qd_text_writer_free(QdTextWriter *self)
{
    if (self == NULL)
        return NULL;

    for (guint i = 0; i < self->n_columns; i++)
        g_string_free(self->keys[i], TRUE);
    g_free(self->keys);
    g_strfreev(self->names);
    g_free(self);
    return NULL;
}

static void
put_header(QdTextWriter *self, GString *out)
{
    bool csv = self->format == QD_TEXT_FORMAT_CSV;

    for (guint i = 0; i < self->n_columns; i++) {
        if (i > 0)
            qw_text_put_char(out, csv ? ',' : '\t');
        if (csv)
            qw_text_put_csv_name(out, self->names[i]);
        else
            qw_text_put_tsv_name(out, self->names[i]);
    }
    qw_text_put_char(out, '\n');
}

void
qd_text_writer_begin(QdTextWriter *self, GString *out)
{
    switch (self->format) {
    case QD_TEXT_FORMAT_CSV:
    case QD_TEXT_FORMAT_TSV:
        if (self->header && self->n_columns > 0)
            put_header(self, out);
        break;
    case QD_TEXT_FORMAT_JSON:
        qw_text_put_char(out, '[');
        break;
    case QD_TEXT_FORMAT_JSONL:
        break;
    }
    *qw_text_room(out, 0) = 0;
}

static inline void
begin_row(QdTextWriter *self, GString *out)
{
    if (self->format == QD_TEXT_FORMAT_JSON)
        qw_text_put_bytes(out, self->has_rows ? ",\n" : "\n", self->has_rows ? 2 : 1);
    if (self->format == QD_TEXT_FORMAT_JSON || self->format == QD_TEXT_FORMAT_JSONL)
        qw_text_put_char(out, '{');
    self->has_rows = TRUE;
}

static inline void
put_value(QdTextWriter *self, guint column, const QwValue *value, GString *out)
{
    static const QwValue null_value = { .type = QW_TYPE_NULL };

    if (value->type == QW_TYPE_FLOAT && isnan(value->real))
        value = &null_value;

    switch (self->format) {
    case QD_TEXT_FORMAT_CSV:
        if (column > 0)
            qw_text_put_char(out, ',');
        qw_text_put_csv(out, value);
        break;
    case QD_TEXT_FORMAT_TSV:
        if (column > 0)
            qw_text_put_char(out, '\t');
        qw_text_put_tsv(out, value);
        break;
    case QD_TEXT_FORMAT_JSON:
    case QD_TEXT_FORMAT_JSONL:
        if (column > 0)
            qw_text_put_char(out, ',');
        qw_text_put_bytes(out, self->keys[column]->str, self->keys[column]->len);
        qw_text_put_json(out, value);
        break;
    }
}

static inline void
end_row(QdTextWriter *self, GString *out)
{
    if (self->format == QD_TEXT_FORMAT_JSON || self->format == QD_TEXT_FORMAT_JSONL)
        qw_text_put_char(out, '}');
    if (self->format != QD_TEXT_FORMAT_JSON)
        qw_text_put_char(out, '\n');
    *qw_text_room(out, 0) = 0;
}

void
qd_text_writer_put_row(QdTextWriter *self, const QwPageReader *row, GString *out)
{
    QwValue value;

    g_assert(row->n_columns == self->n_columns);

    begin_row(self, out);
    for (guint i = 0; i < self->n_columns; i++) {
        qw_page_reader_get(row, i, &value);
        put_value(self, i, &value, out);
    }
    end_row(self, out);
}

void
qd_text_writer_put_values(QdTextWriter *self, const QwValue *values, GString *out)
{
    begin_row(self, out);
    for (guint i = 0; i < self->n_columns; i++)
        put_value(self, i, &values[i], out);
    end_row(self, out);
}

void
qd_text_writer_end(QdTextWriter *self, GString *out)
{
    if (self->format == QD_TEXT_FORMAT_JSON)
        qw_text_put_bytes(out, self->has_rows ? "\n]\n" : "]\n", self->has_rows ? 3 : 2);
    *qw_text_room(out, 0) = 0;
}
