/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SPARQL 1.1 Query Results XML, by GLib's parser of simple XML: it knows no documents beside this one.
 *
 * Place: internal to the module. Invariant: a result is whole only when its outermost element has ended.
 */
#include <string.h>

#include "client-lib/remote-module/remote-private.h"
#include "client-lib/remote-module/remote-rows.h"

/* A value that is there; its texts are copies, as the parser's own do not last. */
typedef struct Cell {
    QwType type;
    gsize text; /* offsets in the texts of the row */
    gsize n_text;
    gsize tag;
    gsize n_tag;
} Cell;

typedef struct XmlReader {
    RemoteReader base;
    RemoteRows *rows;
    GMarkupParseContext *context;
    GPtrArray *names;
    GString *texts; /* of the row */
    Cell *cells;    /* (nullable): of n_columns, from the first row on */
    QwValue *values;
    guint column; /* of the binding; G_MAXUINT: none */
    gboolean takes_text;
    gboolean has_ended;
    gsize n_bytes; /* since the last row */
    guint depth;   /* of elements */
} XmlReader;

static gboolean
is_element(const char *name, const char *wanted)
{
    const char *colon = strchr(name, ':'); /* any prefix of the namespace */

    return g_str_equal(colon != NULL ? colon + 1 : name, wanted);
}

static const char *
find_attribute(const char *const *names, const char *const *values, const char *wanted)
{
    for (; *names != NULL; names++, values++)
        if (g_str_equal(*names, wanted))
            return *values;
    return NULL;
}

static void
set_bad(XmlReader *self, GError **error, const char *what)
{
    if (*error == NULL)
        (void) remote_rows_set_malformed(self->rows, error, "%s", what);
}

/* The parser has to end when no more rows are wanted. */
static void
set_stopped(GError **error)
{
    if (*error == NULL)
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_CLOSED, "");
}

static void
begin_rows(XmlReader *self, GError **error)
{
    guint n = self->names->len;

    g_ptr_array_add(self->names, NULL);
    self->cells = g_new0(Cell, n + 1);
    self->values = g_new0(QwValue, n + 1);
    (void) remote_rows_begin(self->rows, (const char *const *) self->names->pdata, NULL, n, error);
}

static void
begin_binding(XmlReader *self, const char *name, GError **error)
{
    self->column = G_MAXUINT;
    for (guint i = 0; name != NULL && self->cells != NULL && i < self->rows->n_columns; i++)
        if (g_str_equal(self->names->pdata[i], name))
            self->column = i;
    if (self->column == G_MAXUINT)
        set_bad(self, error, "a binding is of no variable of the head");
}

static void
begin_term(XmlReader *self, QwType type, const char *tag, GError **error)
{
    Cell *cell = self->column != G_MAXUINT ? &self->cells[self->column] : NULL;

    if (cell == NULL) {
        set_bad(self, error, "a term is outside of a binding");
        return;
    }
    *cell = (Cell){ .type = type, .tag = self->texts->len, .n_tag = tag != NULL ? strlen(tag) : 0 };
    if (tag != NULL)
        g_string_append(self->texts, tag);
    cell->text = self->texts->len;
    self->takes_text = TRUE;
}

static void
begin_literal(XmlReader *self, const char *const *names, const char *const *values, GError **error)
{
    const char *language = find_attribute(names, values, "xml:lang");
    const char *datatype = find_attribute(names, values, "datatype");

    if (language != NULL && language[0] != '\0' && !remote_is_language(language, strlen(language)))
        set_bad(self, error, "xml:lang has no language tag");
    else if (language != NULL && language[0] != '\0')
        begin_term(self, QW_TYPE_LITERAL_LANG, language, error);
    else
        begin_term(self, QW_TYPE_LITERAL_TYPED, datatype, error);
}

static void
begin_row(XmlReader *self, GError **error)
{
    g_string_truncate(self->texts, 0);
    if (self->cells == NULL)
        set_bad(self, error, "a result comes before the head");
    else
        memset(self->cells, 0, self->rows->n_columns * sizeof *self->cells);
}

static void
on_start(GMarkupParseContext *context, const char *element, const char **names, const char **values, gpointer data, GError **error)
{
    XmlReader *self = data;
    const char *const *attributes = (const char *const *) names;
    const char *const *texts = (const char *const *) values;
    const char *name;

    self->takes_text = FALSE;
    if (++self->depth > REMOTE_DEPTH)
        set_bad(self, error, "its elements are nested too deeply");
    else if (is_element(element, "variable")) {
        name = find_attribute(attributes, texts, "name");
        if (name == NULL || self->cells != NULL)
            set_bad(self, error, "a variable has no name, or is outside of the head");
        else
            g_ptr_array_add(self->names, g_strdup(name));
    } else if (is_element(element, "results")) {
        if (self->cells != NULL)
            set_bad(self, error, "it has results twice");
        else
            begin_rows(self, error);
    } else if (is_element(element, "result")) {
        begin_row(self, error);
    } else if (is_element(element, "binding")) {
        begin_binding(self, find_attribute(attributes, texts, "name"), error);
    } else if (is_element(element, "uri")) {
        begin_term(self, QW_TYPE_IRI, NULL, error);
    } else if (is_element(element, "bnode")) {
        begin_term(self, QW_TYPE_BNODE, NULL, error);
    } else if (is_element(element, "literal")) {
        begin_literal(self, attributes, texts, error);
    } else if (is_element(element, "boolean")) {
        g_string_truncate(self->texts, 0);
        self->takes_text = TRUE;
    }
}

static void
set_value(const XmlReader *self, const Cell *cell, QwValue *value)
{
    *value = (QwValue){ .type = cell->type };
    if (cell->type == QW_TYPE_NULL)
        return;
    value->data = self->texts->str + cell->text;
    value->n_bytes = (uint32_t) cell->n_text;
    if (cell->type == QW_TYPE_LITERAL_TYPED && cell->n_tag == 0) {
        value->type = QW_TYPE_TEXT;
    } else if (cell->type == QW_TYPE_LITERAL_TYPED) {
        remote_value_set_typed(value, self->texts->str + cell->tag, cell->n_tag);
    } else if (cell->type == QW_TYPE_LITERAL_LANG) {
        value->tag = self->texts->str + cell->tag;
        value->n_tag_bytes = (uint32_t) cell->n_tag;
    }
}

static void
end_row(XmlReader *self, GError **error)
{
    for (guint i = 0; i < self->rows->n_columns; i++) {
        set_value(self, &self->cells[i], &self->values[i]);
        if (self->values[i].type == QW_TYPE_BNODE && !remote_is_label(self->values[i].data, self->values[i].n_bytes)) {
            set_bad(self, error, "a blank node has no label, or one with spaces");
            return;
        }
    }
    self->n_bytes = 0;
    if (!remote_rows_put(self->rows, self->values, error))
        set_stopped(error);
}

static void
end_boolean(XmlReader *self, GError **error)
{
    const char *word = g_strstrip(self->texts->str);
    gboolean value = g_str_equal(word, "true") || g_str_equal(word, "1");

    if (self->rows->has_begun || (!value && !g_str_equal(word, "false") && !g_str_equal(word, "0")))
        set_bad(self, error, "it has no truth value where one is expected");
    else if (!remote_rows_put_boolean(self->rows, value, error))
        set_stopped(error);
}

static void
on_end(GMarkupParseContext *context, const char *element, gpointer data, GError **error)
{
    XmlReader *self = data;

    self->depth--;
    if (self->takes_text && self->column != G_MAXUINT)
        self->cells[self->column].n_text = self->texts->len - self->cells[self->column].text;
    self->takes_text = FALSE;
    if (is_element(element, "result"))
        end_row(self, error);
    else if (is_element(element, "binding"))
        self->column = G_MAXUINT;
    else if (is_element(element, "boolean"))
        end_boolean(self, error);
    else if (is_element(element, "sparql"))
        self->has_ended = TRUE;
}

static void
on_text(GMarkupParseContext *context, const char *text, gsize n_bytes, gpointer data, GError **error)
{
    XmlReader *self = data;

    if (self->takes_text)
        g_string_append_len(self->texts, text, (gssize) n_bytes);
}

static RemoteReader *
xml_create(RemoteRows *rows)
{
    static const GMarkupParser parser = { .start_element = on_start, .end_element = on_end, .text = on_text };
    XmlReader *self = g_new0(XmlReader, 1);

    self->base.klass = &remote_xml_class;
    self->rows = rows;
    self->names = g_ptr_array_new_with_free_func(g_free);
    self->texts = g_string_new(NULL);
    self->column = G_MAXUINT;
    self->context = g_markup_parse_context_new(&parser, G_MARKUP_TREAT_CDATA_AS_TEXT, self, NULL);
    return &self->base;
}

static void
xml_free(RemoteReader *reader)
{
    XmlReader *self = (XmlReader *) reader;

    g_markup_parse_context_free(self->context);
    g_ptr_array_unref(self->names);
    g_string_free(self->texts, TRUE);
    g_free(self->cells);
    g_free(self->values);
    g_free(self);
}

static gboolean
xml_read(RemoteReader *reader, const char *data, gsize n_bytes, gboolean is_end, gsize *ret_used, GError **error)
{
    XmlReader *self = (XmlReader *) reader;
    g_autoptr(GError) failure = NULL;

    *ret_used = n_bytes;
    self->n_bytes += n_bytes;
    if ((n_bytes == 0 || g_markup_parse_context_parse(self->context, data, (gssize) n_bytes, &failure)) &&
        (!is_end || g_markup_parse_context_end_parse(self->context, &failure))) {
        if (self->n_bytes > self->rows->row_bytes) {
            g_set_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG,
                        "a row of the result has more than row_bytes, which is %" G_GSIZE_FORMAT, self->rows->row_bytes);
            return FALSE;
        }
        return !is_end || (self->has_ended && self->rows->has_begun) ||
               remote_rows_set_malformed(self->rows, error, "it ends before its end");
    }
    if (self->rows->is_full)
        return FALSE;
    if (failure->domain == QUERY_ERROR) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return FALSE;
    }
    return remote_rows_set_malformed(self->rows, error, "%s", failure->message);
}

const RemoteReaderClass remote_xml_class = { xml_create, xml_free, xml_read };
