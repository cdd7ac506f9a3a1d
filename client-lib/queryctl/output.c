/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The formats: each is a small branch here, but for tables (table.c).
 */
#include "client-lib/queryctl/output.h"

#include <string.h>

#include "client-lib/queryctl/table.h"
#include "client-lib/text/text-utf8.h"
#include "client-lib/text/text-value.h"

struct QctlOutput {
    QctlSink *sink;
    QctlStyle style;
    char **names;
    char **keys; /* json, jsonl: unique */
    guint n_columns;
    guint64 n_rows;
    bool begun;
    QctlTable *table; /* (nullable): TABLE only */
};

QctlOutput *
qctl_output_new(QctlSink *sink, const QctlStyle *style, const char *const *names, guint n_columns)
{
    QctlOutput *self = g_new0(QctlOutput, 1);

    self->sink = sink;
    self->style = *style;
    self->n_columns = n_columns;
    self->names = g_new0(char *, n_columns + 1);
    for (guint i = 0; i < n_columns; i++)
        self->names[i] = g_strdup(names[i]);
    self->keys = qw_text_unique_names(names, n_columns);
    if (style->format == QCTL_FORMAT_TABLE)
        self->table = qctl_table_new(sink, style, names, n_columns);
    return self;
}

QctlOutput *
qctl_output_free(QctlOutput *self)
{
    if (self == NULL)
        return NULL;

    qctl_table_free(self->table);
    g_strfreev(self->names);
    g_strfreev(self->keys);
    g_free(self);
    return NULL;
}

static void
put_markdown(const QwValue *cell, const char *null_text, GString *out)
{
    g_autoptr(GString) text = g_string_new(NULL);

    if (cell->type == QW_TYPE_NULL)
        g_string_append(text, null_text != NULL ? null_text : "");
    else
        qctl_cell_put_plain(cell, QCTL_TABLE_MAX_CHARACTERS, text);
    for (const char *p = text->str; *p != 0; p++) {
        if (strchr("\\|`*_<>", *p) != NULL)
            g_string_append_c(out, '\\');
        g_string_append_c(out, *p);
    }
}

static void
put_markdown_header(QctlOutput *self, GString *out)
{
    for (guint i = 0; i < self->n_columns; i++) {
        QwValue cell;

        qctl_cell_init_text(&cell, self->names[i]);
        g_string_append(out, i > 0 ? " | " : "| ");
        put_markdown(&cell, NULL, out);
    }
    g_string_append(out, " |\n");
    for (guint i = 0; i < self->n_columns; i++)
        g_string_append(out, i > 0 ? " --- |" : "| --- |");
    g_string_append_c(out, '\n');
}

/* NAME = VALUE, the names of all columns in one column. Rows are an empty line apart. */
static void
put_lines(QctlOutput *self, const QwValue *cells, GString *out)
{
    const char *null_text = self->style.null_text != NULL ? self->style.null_text : "NULL";
    glong width = 0;

    for (guint i = 0; i < self->n_columns; i++)
        width = MAX(width, g_utf8_strlen(self->keys[i], -1));
    g_string_append(out, self->n_rows > 0 ? "\n" : "");
    for (guint i = 0; i < self->n_columns; i++) {
        g_string_append_printf(out, "%*s%s = ", (int) (width - g_utf8_strlen(self->keys[i], -1)), "", self->keys[i]);
        if (cells[i].type == QW_TYPE_NULL)
            g_string_append(out, null_text);
        else
            qctl_cell_put_plain(&cells[i], G_MAXUINT32, out);
        g_string_append_c(out, '\n');
    }
}

static void
begin(QctlOutput *self)
{
    GString *out = qctl_sink_get_buffer(self->sink);
    bool header = self->style.header && self->n_columns > 0;

    self->begun = true;
    switch (self->style.format) {
    case QCTL_FORMAT_CSV:
        for (guint i = 0; header && i < self->n_columns; i++) {
            g_string_append(out, i > 0 ? "," : "");
            qw_text_put_csv_name(out, self->names[i]);
        }
        g_string_append(out, header ? "\n" : "");
        break;
    case QCTL_FORMAT_TSV:
        for (guint i = 0; header && i < self->n_columns; i++) {
            g_string_append(out, i > 0 ? "\t" : "");
            qw_text_put_tsv_name(out, self->names[i]);
        }
        g_string_append(out, header ? "\n" : "");
        break;
    case QCTL_FORMAT_JSON:
        g_string_append_c(out, '[');
        break;
    case QCTL_FORMAT_MARKDOWN:
        if (self->n_columns > 0)
            put_markdown_header(self, out);
        break;
    case QCTL_FORMAT_AUTO:
    case QCTL_FORMAT_TABLE:
    case QCTL_FORMAT_JSONL:
    case QCTL_FORMAT_LINE:
    case QCTL_FORMAT_REMOTE:
        break;
    }
}

static void
put_fields(QctlOutput *self, const QwValue *cells, GString *out)
{
    const char *null_text = self->style.null_text;

    for (guint i = 0; i < self->n_columns; i++) {
        bool replaced = null_text != NULL && cells[i].type == QW_TYPE_NULL;

        if (self->style.format == QCTL_FORMAT_MARKDOWN) {
            g_string_append(out, i > 0 ? " | " : "| ");
            put_markdown(&cells[i], null_text, out);
            continue;
        }
        if (i > 0)
            g_string_append_c(out, self->style.format == QCTL_FORMAT_CSV ? ',' : '\t');
        if (replaced)
            g_string_append(out, null_text);
        else if (self->style.format == QCTL_FORMAT_CSV)
            qw_text_put_csv(out, &cells[i]);
        else
            qw_text_put_tsv(out, &cells[i]);
    }
    g_string_append(out, self->style.format == QCTL_FORMAT_MARKDOWN ? " |\n" : "\n");
}

static void
put_object(QctlOutput *self, const QwValue *cells, GString *out)
{
    bool json = self->style.format == QCTL_FORMAT_JSON;

    g_string_append(out, !json ? "{" : self->n_rows > 0 ? ",\n{" : "\n{");
    for (guint i = 0; i < self->n_columns; i++) {
        g_string_append(out, i > 0 ? "," : "");
        qw_text_put_json_text(out, self->keys[i], strlen(self->keys[i]));
        g_string_append_c(out, ':');
        qw_text_put_json(out, &cells[i]);
    }
    g_string_append(out, json ? "}" : "}\n");
}

bool
qctl_output_put(QctlOutput *self, const QwValue *cells, GError **error)
{
    GString *out = qctl_sink_get_buffer(self->sink);

    if (!self->begun)
        begin(self);
    if (self->table != NULL) {
        self->n_rows++;
        return qctl_table_put(self->table, cells, error);
    }

    if (self->style.format == QCTL_FORMAT_JSON || self->style.format == QCTL_FORMAT_JSONL)
        put_object(self, cells, out);
    else if (self->style.format == QCTL_FORMAT_LINE)
        put_lines(self, cells, out);
    else
        put_fields(self, cells, out);
    self->n_rows++;
    return qctl_sink_end_row(self->sink, error);
}

bool
qctl_output_finish(QctlOutput *self, bool complete, GError **error)
{
    if (self->table != NULL)
        return qctl_table_finish(self->table, complete, error) && qctl_sink_flush(self->sink, error);

    if (!self->begun && complete)
        begin(self);
    if (complete && self->style.format == QCTL_FORMAT_JSON)
        g_string_append(qctl_sink_get_buffer(self->sink), self->n_rows > 0 ? "\n]\n" : "]\n");
    else if (self->begun && self->style.format == QCTL_FORMAT_JSON)
        g_string_append_c(qctl_sink_get_buffer(self->sink), '\n');
    return qctl_sink_flush(self->sink, error);
}
