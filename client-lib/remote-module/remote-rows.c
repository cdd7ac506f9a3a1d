/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows into pages of the library's own format.
 */
#include "client-lib/remote-module/remote-rows.h"

#include "client-lib/core/query-error.h"
#include "client-lib/remote-module/remote-private.h"

/* What a value takes at most beyond its bytes: slot, alignment, length, two NULs. */
#define VALUE_OVERHEAD_BYTES 32u

void
remote_rows_clear(RemoteRows *self)
{
    g_clear_pointer(&self->page.data, g_free);
    self->page.n_rows = 0;
}

gboolean
remote_rows_set_malformed(const RemoteRows *self, GError **error, const char *format, ...)
{
    g_autofree char *problem = NULL;
    va_list arguments;

    va_start(arguments, format);
    problem = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (self->has_begun)
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL,
                    "the result of the endpoint is malformed after row %" G_GUINT64_FORMAT ": %s", self->n_rows, problem);
    else
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "the result of the endpoint is malformed: %s", problem);
    return FALSE;
}

gboolean
remote_rows_begin(RemoteRows *self, const char *const *names, const char *const *types, guint n_columns, GError **error)
{
    if (self->has_begun || n_columns > REMOTE_COLUMNS)
        return remote_rows_set_malformed(
            self, error, self->has_begun ? "it names its variables twice" : "it has more than %u variables", REMOTE_COLUMNS);
    self->has_begun = TRUE;
    self->n_columns = n_columns;
    self->is_ask_by_rows = self->is_ask;
    if (self->is_ask)
        return TRUE;
    self->funcs.begin(self->funcs.data, names, types, n_columns);
    return TRUE;
}

gboolean
remote_rows_flush(RemoteRows *self)
{
    QwPageWriter page = self->page;

    if (self->page.data == NULL || self->page.n_rows == 0)
        return !self->is_full;
    self->page.data = NULL;
    self->n_rows_sent = self->n_rows;
    if (!self->funcs.take_page(self->funcs.data, &page))
        self->is_full = TRUE;
    return !self->is_full;
}

static gboolean
make_page(RemoteRows *self, gsize n_bytes, GError **error)
{
    uint8_t *data = g_try_malloc(n_bytes);

    if (data == NULL) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_NO_MEMORY, "no memory for a row of %" G_GSIZE_FORMAT " bytes", n_bytes);
        return FALSE;
    }
    g_free(self->page.data);
    qw_page_writer_init(&self->page, data, n_bytes, self->n_columns);
    return TRUE;
}

static gsize
measure(const QwValue *values, guint n)
{
    gsize n_bytes = QW_HEADER_SIZE + VALUE_OVERHEAD_BYTES;

    for (guint i = 0; i < n; i++)
        n_bytes += VALUE_OVERHEAD_BYTES + (values[i].type == QW_TYPE_NULL ? 0 : (gsize) values[i].n_bytes + values[i].n_tag_bytes);
    return n_bytes;
}

/* On a copy of the writer: fields that no other code can see stay in registers. */
static int
write_row(QwPageWriter *writer, const QwValue *values, guint n)
{
    QwPageWriter local = *writer;
    int r = qw_row_begin(&local);

    for (guint i = 0; r == 0 && i < n; i++) {
        const QwValue *value = &values[i];

        if (value->type == QW_TYPE_IRI || value->type == QW_TYPE_TEXT || value->type == QW_TYPE_BNODE)
            r = qw_row_put_string(&local, value->type, value->data, value->n_bytes);
        else
            r = qw_row_put_value(&local, value);
    }
    if (r == 0)
        r = qw_row_end(&local);
    if (r == 0)
        *writer = local;
    return r;
}

gboolean
remote_rows_put(RemoteRows *self, const QwValue *values, GError **error)
{
    gsize n_bytes;

    if (G_UNLIKELY(self->is_ask_by_rows)) {
        self->truth = self->truth || (self->n_columns > 0 && values[0].type >= QW_TYPE_LITERAL_LANG &&
                                      (values[0].data[0] == '1' || values[0].data[0] == 't'));
        return TRUE;
    }
    if (self->n_rows_max > 0 && self->n_rows >= self->n_rows_max) {
        self->is_full = TRUE;
        return FALSE;
    }
    self->n_rows++;
    if (G_LIKELY(self->page.data != NULL) && G_LIKELY(write_row(&self->page, values, self->n_columns) == 0))
        return TRUE;

    n_bytes = measure(values, self->n_columns);
    if (n_bytes > self->row_bytes + QW_HEADER_SIZE + (gsize) VALUE_OVERHEAD_BYTES * (self->n_columns + 1)) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG,
                    "row %" G_GUINT64_FORMAT " of the result has more than row_bytes, which is %" G_GSIZE_FORMAT, self->n_rows,
                    self->row_bytes);
        return FALSE;
    }
    self->n_rows--;
    if (!remote_rows_flush(self))
        return FALSE;
    self->n_rows++;
    if (!make_page(self, MAX(n_bytes, QW_PAGE_SIZE_DEFAULT), error))
        return FALSE;
    (void) write_row(&self->page, values, self->n_columns);
    return TRUE;
}

gboolean
remote_rows_put_boolean(RemoteRows *self, gboolean value, GError **error)
{
    static const char *const names[] = { "result" };
    static const char *const types[] = { "xsd:boolean" };
    QwValue cell = { .data = value ? "true" : "false", .n_bytes = value ? 4 : 5 };

    self->is_ask = FALSE;
    remote_value_set_typed(&cell, REMOTE_XSD "boolean", strlen(REMOTE_XSD "boolean"));
    return remote_rows_begin(self, names, types, 1, error) && remote_rows_put(self, &cell, error);
}

gboolean
remote_rows_finish(RemoteRows *self, GError **error)
{
    if (self->is_ask_by_rows) {
        self->is_ask_by_rows = FALSE;
        self->has_begun = FALSE;
        if (!remote_rows_put_boolean(self, self->truth, error))
            return FALSE;
    }
    return remote_rows_flush(self);
}

gboolean
remote_is_language(const char *tag, gsize n_bytes)
{
    if (n_bytes == 0 || !g_ascii_isalpha(tag[0]))
        return FALSE;
    for (gsize i = 0; i < n_bytes; i++)
        if (!g_ascii_isalnum(tag[i]) && tag[i] != '-')
            return FALSE;
    return TRUE;
}

gboolean
remote_is_label(const char *label, gsize n_bytes)
{
    for (gsize i = 0; i < n_bytes; i++)
        if ((guchar) label[i] <= ' ' || label[i] == 0x7f)
            return FALSE;
    return n_bytes > 0;
}

/* @n hexadecimal digits; G_MAXUINT32: they are none. */
static guint32
read_hex(const char *p, const char *end, guint n)
{
    guint32 code = 0;

    if (end - p < (gssize) n)
        return G_MAXUINT32;
    for (guint i = 0; i < n; i++) {
        if (!g_ascii_isxdigit(p[i]))
            return G_MAXUINT32;
        code = code << 4 | (guint32) g_ascii_xdigit_value(p[i]);
    }
    return code;
}

static const char *
append_code_point(GString *out, const char *p, const char *end, guint n_digits, gboolean is_json)
{
    guint32 code = read_hex(p, end, n_digits);
    const char *after = p + n_digits;
    char bytes[6];

    if (is_json && code >= 0xd800 && code < 0xdc00 && end - after >= 6 && after[0] == '\\' && after[1] == 'u') {
        guint32 low = read_hex(after + 2, end, 4);

        if (low < 0xdc00 || low > 0xdfff)
            return NULL;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        after += 6;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return NULL;
    g_string_append_len(out, bytes, g_unichar_to_utf8(code, bytes));
    return after;
}

const char *
remote_append_escape(GString *out, const char *p, const char *end, gboolean is_json)
{
    static const char names[] = "tnrbf\"\\/'";
    static const char values[] = "\t\n\r\b\f\"\\/'";
    const char *name;

    if (p >= end)
        return NULL;
    if (*p == 'u')
        return append_code_point(out, p + 1, end, 4, is_json);
    if (*p == 'U' && !is_json)
        return append_code_point(out, p + 1, end, 8, FALSE);
    name = *p != '\0' ? strchr(names, *p) : NULL;
    if (name == NULL || *p == (is_json ? '\'' : '/'))
        return NULL;
    g_string_append_c(out, values[name - names]);
    return p + 1;
}
