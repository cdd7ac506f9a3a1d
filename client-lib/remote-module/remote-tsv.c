/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SPARQL 1.1 Query Results TSV: a line for each row, terms as Turtle writes them.
 *
 * Place: internal to the module. It is the fastest format to read, but has no end mark: the transport has to say that the body
 * is whole.
 */
#include <string.h>

#include "client-lib/remote-module/remote-rows.h"

typedef struct TsvReader {
    RemoteReader base;
    RemoteRows *rows;
    QwValue *values; /* of n_columns */
    GString *scratch;
    gsize n_scanned; /* of the line that is not whole yet */
} TsvReader;

static RemoteReader *
tsv_create(RemoteRows *rows)
{
    TsvReader *self = g_new0(TsvReader, 1);

    self->base.klass = &remote_tsv_class;
    self->rows = rows;
    self->scratch = g_string_new(NULL);
    return &self->base;
}

static void
tsv_free(RemoteReader *reader)
{
    TsvReader *self = (TsvReader *) reader;

    g_free(self->values);
    g_string_free(self->scratch, TRUE);
    g_free(self);
}

/* What stands between @p and @end, with escapes. The scratch never grows while values point into it. */
static gboolean
set_text(TsvReader *self, QwValue *value, const char *p, const char *end)
{
    const char *escape = memchr(p, '\\', (gsize) (end - p));
    gsize start = self->scratch->len;

    value->data = p;
    value->n_bytes = (uint32_t) (end - p);
    if (G_LIKELY(escape == NULL))
        return TRUE;

    for (; escape != NULL; escape = memchr(p, '\\', (gsize) (end - p))) {
        g_string_append_len(self->scratch, p, escape - p);
        p = remote_append_escape(self->scratch, escape + 1, end, FALSE);
        if (p == NULL)
            return FALSE;
    }
    g_string_append_len(self->scratch, p, end - p);
    value->data = self->scratch->str + start;
    value->n_bytes = (uint32_t) (self->scratch->len - start);
    return TRUE;
}

/* "<…>" and nothing after it. */
static gboolean
set_iri(TsvReader *self, QwValue *value, const char *p, const char *end)
{
    if (end - p < 2 || p[0] != '<' || memchr(p, '>', (gsize) (end - p)) != end - 1)
        return FALSE;
    value->type = QW_TYPE_IRI;
    return set_text(self, value, p + 1, end - 1) && memchr(value->data, '\0', value->n_bytes) == NULL;
}

static gboolean
set_literal(TsvReader *self, QwValue *value, const char *p, const char *end)
{
    const char quote = *p;
    const char *close = p + 1;
    QwValue datatype;

    for (;;) {
        const char *back = close;

        close = memchr(close, quote, (gsize) (end - close));
        if (close == NULL)
            return FALSE;
        for (back = close; back > p + 1 && back[-1] == '\\'; back--)
            continue;
        if ((close - back) % 2 == 0)
            break;
        close++;
    }
    value->type = QW_TYPE_TEXT;
    if (!set_text(self, value, p + 1, close))
        return FALSE;
    close++;
    if (close == end)
        return TRUE;
    if (*close == '@' && remote_is_language(close + 1, (gsize) (end - close - 1))) {
        value->type = QW_TYPE_LITERAL_LANG;
        value->tag = close + 1;
        value->n_tag_bytes = (uint32_t) (end - close - 1);
        return TRUE;
    }
    if (end - close < 4 || close[0] != '^' || close[1] != '^' || !set_iri(self, &datatype, close + 2, end))
        return FALSE;
    remote_value_set_typed(value, datatype.data, datatype.n_bytes);
    return TRUE;
}

static const char *
skip_digits(const char *p, const char *end)
{
    while (p < end && g_ascii_isdigit(*p))
        p++;
    return p;
}

/* A number as Turtle abbreviates it: its form is its type. */
static gboolean
set_number(QwValue *value, const char *p, const char *end)
{
    const char *type = REMOTE_XSD "integer";
    const char *start = p;
    const char *digits;
    gsize n_digits;

    p += *p == '+' || *p == '-' ? 1 : 0;
    digits = p;
    p = skip_digits(p, end);
    n_digits = (gsize) (p - digits);
    if (p < end && *p == '.') {
        type = REMOTE_XSD "decimal";
        digits = ++p;
        p = skip_digits(p, end);
        n_digits += (gsize) (p - digits);
    }
    if (p < end && (*p == 'e' || *p == 'E') && n_digits > 0) {
        type = REMOTE_XSD "double";
        p++;
        p += p < end && (*p == '+' || *p == '-') ? 1 : 0;
        digits = p;
        p = skip_digits(p, end);
        n_digits = (gsize) (p - digits);
    }
    if (p != end || n_digits == 0)
        return FALSE;
    value->data = start;
    value->n_bytes = (uint32_t) (end - start);
    remote_value_set_typed(value, type, strlen(type));
    return TRUE;
}

static gboolean
set_other(QwValue *value, const char *p, const char *end)
{
    gsize n = (gsize) (end - p);

    if (n > 2 && p[0] == '_' && p[1] == ':') {
        *value = (QwValue){ .type = QW_TYPE_BNODE };
        value->data = p + 2;
        value->n_bytes = (uint32_t) (n - 2);
        return remote_is_label(p + 2, n - 2);
    }
    if ((n == 4 && memcmp(p, "true", 4) == 0) || (n == 5 && memcmp(p, "false", 5) == 0)) {
        value->data = p;
        value->n_bytes = (uint32_t) n;
        remote_value_set_typed(value, REMOTE_XSD "boolean", strlen(REMOTE_XSD "boolean"));
        return TRUE;
    }
    return (g_ascii_isdigit(*p) || strchr("+-.", *p) != NULL) && set_number(value, p, end);
}

static gboolean
set_cell(TsvReader *self, QwValue *value, const char *p, const char *end)
{
    *value = (QwValue){ .type = QW_TYPE_NULL };
    if (p == end)
        return TRUE;
    if (*p == '<')
        return set_iri(self, value, p, end);
    return *p == '"' || *p == '\'' ? set_literal(self, value, p, end) : set_other(value, p, end);
}

static gboolean
read_row(TsvReader *self, const char *line, const char *end, GError **error)
{
    guint n = self->rows->n_columns;
    const char *p = line;

    g_string_truncate(self->scratch, 0);
    if (self->scratch->allocated_len <= (gsize) (end - line) && memchr(line, '\\', (gsize) (end - line)) != NULL) {
        g_string_set_size(self->scratch, (gsize) (end - line));
        g_string_truncate(self->scratch, 0);
    }
    for (guint i = 0; i < n; i++) {
        const char *tab = i + 1 < n ? memchr(p, '\t', (gsize) (end - p)) : end;

        if (tab == NULL)
            return remote_rows_set_malformed(self->rows, error, "a line of TSV has %u columns, not %u", i + 1, n);
        if (!set_cell(self, &self->values[i], p, tab))
            return remote_rows_set_malformed(self->rows, error, "'%.*s' is no term of TSV", (int) MIN(tab - p, 60), p);
        p = tab + 1;
    }
    return remote_rows_put(self->rows, self->values, error);
}

static gboolean
read_header(TsvReader *self, const char *line, const char *end, GError **error)
{
    g_autofree char *text = g_strndup(line, (gsize) (end - line));
    g_auto(GStrv) names = g_strsplit(text, "\t", -1);
    guint n = g_strv_length(names);

    for (guint i = 0; i < n; i++)
        if ((names[i][0] != '?' && names[i][0] != '$') || names[i][1] == '\0')
            return remote_rows_set_malformed(self->rows, error, "'%.60s' is no variable in the first line of TSV", names[i]);
    for (guint i = 0; i < n; i++)
        memmove(names[i], names[i] + 1, strlen(names[i]));
    if (!remote_rows_begin(self->rows, (const char *const *) names, NULL, n, error))
        return FALSE;
    self->values = g_new0(QwValue, n + 1);
    return TRUE;
}

static gboolean
read_line(TsvReader *self, const char *line, const char *end, GError **error)
{
    if (end > line && end[-1] == '\r')
        end--;
    return self->rows->has_begun ? read_row(self, line, end, error) : read_header(self, line, end, error);
}

static gboolean
tsv_read(RemoteReader *reader, const char *data, gsize n_bytes, gboolean is_end, gsize *ret_used, GError **error)
{
    TsvReader *self = (TsvReader *) reader;
    const char *end = data + n_bytes;
    const char *line = data;
    const char *from = data + self->n_scanned;
    const char *feed;

    while (from < end && (feed = memchr(from, '\n', (gsize) (end - from))) != NULL) {
        if (!read_line(self, line, feed, error))
            return FALSE;
        line = from = feed + 1;
    }
    if (is_end && line < end) {
        if (!read_line(self, line, end, error))
            return FALSE;
        line = end;
    }
    self->n_scanned = (gsize) (end - line);
    *ret_used = (gsize) (line - data);
    if (is_end && !self->rows->has_begun)
        return remote_rows_set_malformed(self->rows, error, "it is empty");
    return TRUE;
}

const RemoteReaderClass remote_tsv_class = { tsv_create, tsv_free, tsv_read };
