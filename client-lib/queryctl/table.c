/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measuring, padding, printing. Widths are columns of a terminal, not bytes or characters.
 */
#include "client-lib/queryctl/table.h"

#include <string.h>

#define BOLD "\033[1m"
#define FAINT "\033[2m"
#define PLAIN "\033[0m"

typedef struct Field {
    char *text;
    guint width;
    bool number;
    bool null;
} Field;

struct QctlTable {
    QctlSink *sink;
    const char *null_text;
    bool colour;
    bool header;
    guint n_columns;
    char **names;
    guint *widths;
    bool *numbers; /* right-aligned: all measured values are numbers or NULL */
    GArray *held;  /* of Field: rows before the widths are fixed */
    gsize n_held_bytes;
    bool fixed;
    guint64 n_rows;
};

static void
field_clear(gpointer data)
{
    g_free(((Field *) data)->text);
}

static guint
measure(const char *text)
{
    guint width = 0;

    for (const char *p = text; *p != 0; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);

        if (!g_unichar_iszerowidth(c))
            width += g_unichar_iswide(c) ? 2 : 1;
    }
    return width;
}

static Field
make_field(const QctlTable *self, const QwValue *cell)
{
    GString *text = g_string_new(NULL);
    Field field = { 0 };

    field.null = cell->type == QW_TYPE_NULL;
    field.number = cell->type == QW_TYPE_INTEGER || cell->type == QW_TYPE_FLOAT;
    if (field.null)
        g_string_append(text, self->null_text);
    else
        qctl_cell_put_plain(cell, QCTL_TABLE_MAX_CHARACTERS, text);
    field.text = g_string_free(text, FALSE);
    field.width = measure(field.text);
    return field;
}

QctlTable *
qctl_table_new(QctlSink *sink, const QctlStyle *style, const char *const *names, guint n_columns)
{
    QctlTable *self = g_new0(QctlTable, 1);

    self->sink = sink;
    self->null_text = style->null_text != NULL ? style->null_text : "NULL";
    self->colour = style->colour;
    self->header = style->header;
    self->n_columns = n_columns;
    self->names = g_new0(char *, n_columns + 1);
    self->widths = g_new0(guint, n_columns + 1);
    self->numbers = g_new0(bool, n_columns + 1);
    self->held = g_array_new(FALSE, FALSE, sizeof(Field));
    g_array_set_clear_func(self->held, field_clear);
    for (guint i = 0; i < n_columns; i++) {
        GString *name = g_string_new(NULL);
        QwValue cell;

        qctl_cell_init_text(&cell, names[i]);
        qctl_cell_put_plain(&cell, QCTL_TABLE_MAX_CHARACTERS, name);
        self->names[i] = g_string_free(name, FALSE);
        self->widths[i] = self->header ? measure(self->names[i]) : 0;
    }
    return self;
}

QctlTable *
qctl_table_free(QctlTable *self)
{
    if (self == NULL)
        return NULL;

    g_array_unref(self->held);
    g_strfreev(self->names);
    g_free(self->widths);
    g_free(self->numbers);
    g_free(self);
    return NULL;
}

static void
put_padding(GString *out, guint n)
{
    while (n-- > 0)
        g_string_append_c(out, ' ');
}

static void
put_field(QctlTable *self, guint column, const Field *field, const char *colour)
{
    GString *out = qctl_sink_get_buffer(self->sink);
    guint padding = field->width < self->widths[column] ? self->widths[column] - field->width : 0;
    bool right = self->numbers[column];

    g_string_append(out, column > 0 ? "  " : "");
    if (right)
        put_padding(out, padding);
    g_string_append(out, self->colour ? colour : "");
    g_string_append(out, field->text);
    g_string_append(out, self->colour && colour[0] != 0 ? PLAIN : "");
    if (!right && column + 1 < self->n_columns)
        put_padding(out, padding);
}

static bool
print_row(QctlTable *self, const Field *fields, GError **error)
{
    for (guint i = 0; i < self->n_columns; i++)
        put_field(self, i, &fields[i], fields[i].null ? FAINT : "");
    g_string_append_c(qctl_sink_get_buffer(self->sink), '\n');
    return qctl_sink_end_row(self->sink, error);
}

static void
print_header(QctlTable *self)
{
    GString *out = qctl_sink_get_buffer(self->sink);

    for (guint i = 0; i < self->n_columns; i++) {
        Field field = { .text = self->names[i], .width = measure(self->names[i]) };

        put_field(self, i, &field, BOLD);
    }
    g_string_append_c(out, '\n');
    for (guint i = 0; i < self->n_columns; i++) {
        g_string_append(out, i > 0 ? "  " : "");
        for (guint j = 0; j < self->widths[i]; j++)
            g_string_append(out, "─");
    }
    g_string_append_c(out, '\n');
}

/* The widths are known: prints what was held. */
static bool
fix_widths(QctlTable *self, GError **error)
{
    const Field *fields = (const Field *) (void *) self->held->data;
    bool ok = true;

    self->fixed = true;
    for (guint i = 0; i < self->n_columns; i++) {
        bool any = false;
        bool all = true;

        for (guint j = i; j < self->held->len; j += self->n_columns) {
            self->widths[i] = MAX(self->widths[i], fields[j].width);
            any = any || fields[j].number;
            all = all && (fields[j].number || fields[j].null);
        }
        self->numbers[i] = any && all;
    }
    if (self->header && self->n_columns > 0)
        print_header(self);
    for (guint j = 0; ok && j + self->n_columns <= self->held->len && self->n_columns > 0; j += self->n_columns)
        ok = print_row(self, fields + j, error);
    g_array_set_size(self->held, 0);
    return ok;
}

bool
qctl_table_put(QctlTable *self, const QwValue *cells, GError **error)
{
    guint start = self->held->len;
    bool ok = true;

    self->n_rows++;
    for (guint i = 0; i < self->n_columns; i++) {
        Field field = make_field(self, &cells[i]);

        self->n_held_bytes += strlen(field.text) + sizeof field;
        g_array_append_val(self->held, field);
    }
    if (self->fixed) {
        ok = print_row(self, &g_array_index(self->held, Field, start), error);
        g_array_set_size(self->held, 0);
        return ok;
    }

    return (self->n_rows < QCTL_TABLE_MEASURED_ROWS && self->n_held_bytes < QCTL_TABLE_MEASURED_BYTES) || fix_widths(self, error);
}

bool
qctl_table_finish(QctlTable *self, bool complete, GError **error)
{
    if (!self->fixed && (complete || self->n_rows > 0) && !fix_widths(self, error))
        return false;

    if (complete)
        g_string_append_printf(qctl_sink_get_buffer(self->sink), "(%" G_GUINT64_FORMAT " row%s)\n", self->n_rows,
                               self->n_rows == 1 ? "" : "s");
    return true;
}
