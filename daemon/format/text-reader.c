/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The incremental reader: finds fields and rows in an input that comes in pieces of any size.
 *
 * csv and tsv are read by one state machine; a tsv field keeps its escapes until it ends. State lives in the struct, so that a cut
 * may fall anywhere, also within a character or an escape.
 */
#include "daemon/format/text-reader.h"

#include <string.h>

#include "daemon/format/text-reader-private.h"

QdTextReader *
qd_text_reader_new(QdTextFormat format, gboolean header, const char *const *column_names, const QdLimits *limits)
{
    QdTextReader *self = g_new0(QdTextReader, 1);

    self->format = format;
    self->delimiter = format == QD_TEXT_FORMAT_CSV ? ',' : '\t';
    self->header = header;
    self->limits = *limits;
    self->names = g_ptr_array_new_with_free_func(g_free);
    self->place = self->row_place = self->field_place = (QdTextPlace){ 1, 1 };
    self->pending = g_string_new(NULL);
    qd_text_row_init(&self->row);

    switch (format) {
    case QD_TEXT_FORMAT_CSV:
    case QD_TEXT_FORMAT_TSV:
        self->state = QD_TEXT_STATE_FIELD_START;
        return self;
    case QD_TEXT_FORMAT_JSON:
        self->state = QD_TEXT_STATE_OPEN;
        break;
    case QD_TEXT_FORMAT_JSONL:
        self->state = QD_TEXT_STATE_ROW;
        break;
    }
    for (guint i = 0; column_names != NULL && column_names[i] != NULL; i++)
        g_ptr_array_add(self->names, g_strdup(column_names[i]));
    return self;
}

void
qd_text_reader_set_growing(QdTextReader *self)
{
    self->grows = TRUE;
}

void
qd_text_reader_set_delimiter(QdTextReader *self, char delimiter)
{
    self->delimiter = delimiter;
}

QdTextReader *
qd_text_reader_free(QdTextReader *self)
{
    if (self == NULL)
        return NULL;

    g_ptr_array_unref(self->names);
    g_string_free(self->pending, TRUE);
    qd_text_row_clear(&self->row);
    g_free(self);
    return NULL;
}

void
qd_text_reader_feed(QdTextReader *self, const char *data, size_t n_bytes)
{
    g_assert(self->pos == self->n_input || self->failed);

    self->input = data;
    self->n_input = n_bytes;
    self->pos = 0;
    if (n_bytes == 0)
        self->finished = TRUE;
}

const char *const *
qd_text_reader_get_column_names(const QdTextReader *self)
{
    return self->have_names ? (const char *const *) self->names->pdata : NULL;
}

guint64
qd_text_reader_get_line(const QdTextReader *self)
{
    return self->row_place.line;
}

/* Places and errors --------------------------------------------------------------------------------------------------- */

QdTextReadResult
qd_text_reader_fail(QdTextReader *self, QdTextPlace place, GError **error, QwError code, const char *message)
{
    self->failed = TRUE;
    qd_error_set(error, code, "%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT ": %s", place.line, place.column, message);
    return QD_TEXT_READ_ERROR;
}

QdTextReadResult
qd_text_reader_fail_limit(QdTextReader *self, QdTextPlace place, GError **error, QdLimit limit, const char *what)
{
    self->failed = TRUE;
    qd_limit_set_error(error, &self->limits, limit, "%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT ": %s", place.line, place.column,
                       what);
    return QD_TEXT_READ_ERROR;
}

QdTextReadResult
qd_text_reader_finish_row(QdTextReader *self, GError **error)
{
    guint n_values = self->row.values->len;
    bool grows = self->grows && self->have_names && n_values > self->n_columns && n_values == self->names->len - 1;
    g_autofree char *message = NULL;

    if (n_values > qd_limits_get(&self->limits, QD_LIMIT_COLUMNS))
        return qd_text_reader_fail_limit(self, self->row_place, error, QD_LIMIT_COLUMNS, "columns of a row");
    if (self->n_columns == 0 || grows)
        self->n_columns = n_values;
    if (n_values != self->n_columns) {
        message = g_strdup_printf("the row has %u fields, the first row %u", n_values, self->n_columns);
        return qd_text_reader_fail(self, self->row_place, error, QW_ERROR_SYNTAX, message);
    }

    qd_text_row_seal(&self->row);
    return QD_TEXT_READ_ROW;
}

/* csv and tsv --------------------------------------------------------------------------------------------------------- */

static QdTextReadResult
append(QdTextReader *self, const char *data, size_t n_bytes, GError **error)
{
    guint64 limit = qd_limits_get(&self->limits, QD_LIMIT_VALUE_BYTES);

    if (self->row.bytes->len + n_bytes > 2 * limit + QD_TEXT_SLACK_BYTES)
        return qd_text_reader_fail_limit(self, self->field_place, error, QD_LIMIT_VALUE_BYTES, "text of a row");

    g_string_append_len(self->row.bytes, data, (gssize) n_bytes);
    return QD_TEXT_READ_MORE;
}

static void
begin_field(QdTextReader *self)
{
    if (!self->row_begun) {
        qd_text_row_reset(&self->row);
        self->row_place = self->place;
        self->row_begun = TRUE;
    }
    self->quoted = FALSE;
    self->field_place = self->place;
    self->row.field_start = self->row.bytes->len;
}

/* QdTextPlace of byte @offset of the field; within quotes each quote was written twice. */
static QdTextPlace
find_place_in_field(QdTextReader *self, size_t offset)
{
    const char *field = self->row.bytes->str + self->row.field_start;
    QdTextPlace place = self->field_place;

    if (self->quoted)
        place.column++;
    qd_text_place_advance(&place, field, offset);
    for (size_t i = 0; self->quoted && i < offset; i++)
        place.column += field[i] == '"' ? 1 : 0;
    return place;
}

static QdTextReadResult
end_field(QdTextReader *self, GError **error)
{
    bool name = self->header && !self->have_names;
    const char *message = NULL;
    size_t offset = 0;

    if (self->format == QD_TEXT_FORMAT_CSV)
        message = qd_text_row_end_csv(&self->row, self->quoted, name, &offset);
    else
        message = qd_text_row_end_tsv(&self->row, name, &offset);
    if (message != NULL)
        return qd_text_reader_fail(self, find_place_in_field(self, offset), error, QW_ERROR_SYNTAX, message);

    if (self->row.values->len > qd_limits_get(&self->limits, QD_LIMIT_COLUMNS))
        return qd_text_reader_fail_limit(self, self->field_place, error, QD_LIMIT_COLUMNS, "columns of a row");
    if (self->row.bytes->len > qd_limits_get(&self->limits, QD_LIMIT_VALUE_BYTES) + QD_TEXT_SLACK_BYTES)
        return qd_text_reader_fail_limit(self, self->field_place, error, QD_LIMIT_VALUE_BYTES, "one row");
    self->state = QD_TEXT_STATE_FIELD_START;
    return QD_TEXT_READ_MORE;
}

static QdTextReadResult
take_header(QdTextReader *self, GError **error)
{
    qd_text_row_seal(&self->row);
    for (guint i = 0; i < self->row.values->len; i++) {
        const QwValue *value = &g_array_index(self->row.values, QwValue, i);

        if (memchr(value->data, 0, value->n_bytes) != NULL)
            return qd_text_reader_fail(self, self->row_place, error, QW_ERROR_SYNTAX, "NUL in a column's name");
        g_ptr_array_add(self->names, g_strdup(value->data));
    }
    self->n_columns = self->names->len;
    g_ptr_array_add(self->names, NULL);
    self->have_names = TRUE;
    return QD_TEXT_READ_MORE;
}

/* At the line's end, which has been consumed. */
static QdTextReadResult
end_line(QdTextReader *self, GError **error)
{
    bool empty = self->row.values->len == 0 && !self->quoted && self->row.bytes->len == self->row.field_start;
    QdTextReadResult result = QD_TEXT_READ_MORE;

    self->row_begun = FALSE;
    self->state = QD_TEXT_STATE_FIELD_START;
    /* An empty line is a row of one column; where there are more, or names are expected, it is only an empty line. */
    if (empty && (self->n_columns > 1 || (self->header && !self->have_names)))
        return QD_TEXT_READ_MORE;

    result = end_field(self, error);
    if (result != QD_TEXT_READ_MORE)
        return result;
    if (self->header && !self->have_names)
        return take_header(self, error);
    return qd_text_reader_finish_row(self, error);
}

static QdTextReadResult
end_line_tsv(QdTextReader *self, GError **error)
{
    GString *bytes = self->row.bytes;

    /* A carriage return of the value's own is written \r. */
    if (bytes->len > self->row.field_start && bytes->str[bytes->len - 1] == '\r')
        g_string_truncate(bytes, bytes->len - 1);
    return end_line(self, error);
}

static QdTextReadResult
step_plain(QdTextReader *self, GError **error)
{
    const char *p = self->input + self->pos;
    size_t left = self->n_input - self->pos;
    bool csv = self->format == QD_TEXT_FORMAT_CSV;
    char delimiter = self->delimiter;
    size_t n = 0;
    QdTextReadResult result = QD_TEXT_READ_MORE;

    while (n < left && p[n] != delimiter && p[n] != '\n' && !(csv && p[n] == '\r'))
        n++;
    result = append(self, p, n, error);
    if (result != QD_TEXT_READ_MORE)
        return result;
    qd_text_reader_consume(self, n);
    if (n == left)
        return QD_TEXT_READ_MORE;

    qd_text_reader_consume(self, 1);
    if (p[n] == delimiter)
        return end_field(self, error);
    if (p[n] == '\n')
        return csv ? end_line(self, error) : end_line_tsv(self, error);
    self->state = QD_TEXT_STATE_AFTER_CR;
    return QD_TEXT_READ_MORE;
}

static QdTextReadResult
step_quoted(QdTextReader *self, GError **error)
{
    const char *p = self->input + self->pos;
    size_t left = self->n_input - self->pos;
    const char *quote = memchr(p, '"', left);
    size_t n = quote != NULL ? (size_t) (quote - p) : left;
    QdTextReadResult result = append(self, p, n, error);

    if (result != QD_TEXT_READ_MORE)
        return result;

    qd_text_reader_consume(self, n);
    if (quote != NULL) {
        qd_text_reader_consume(self, 1);
        self->state = QD_TEXT_STATE_QUOTE;
    }
    return QD_TEXT_READ_MORE;
}

static QdTextReadResult
step_after_quote(QdTextReader *self, GError **error)
{
    char c = self->input[self->pos];

    if (c != '"' && c != self->delimiter && c != '\n' && c != '\r')
        return qd_text_reader_fail(self, self->place, error, QW_ERROR_SYNTAX, "text after the closing quote");

    qd_text_reader_consume(self, 1);
    if (c == '"') {
        self->state = QD_TEXT_STATE_QUOTED;
        return append(self, "\"", 1, error);
    }
    if (c == self->delimiter)
        return end_field(self, error);
    if (c == '\n')
        return end_line(self, error);
    self->state = QD_TEXT_STATE_AFTER_CR;
    return QD_TEXT_READ_MORE;
}

static QdTextReadResult
step_field(QdTextReader *self, GError **error)
{
    if (self->state == QD_TEXT_STATE_FIELD_START) {
        begin_field(self);
        self->state = QD_TEXT_STATE_PLAIN;
        if (self->format == QD_TEXT_FORMAT_CSV && self->input[self->pos] == '"') {
            qd_text_reader_consume(self, 1);
            self->quoted = TRUE;
            self->state = QD_TEXT_STATE_QUOTED;
        }
        return QD_TEXT_READ_MORE;
    }
    if (self->state == QD_TEXT_STATE_PLAIN)
        return step_plain(self, error);
    if (self->state == QD_TEXT_STATE_QUOTED)
        return step_quoted(self, error);
    if (self->state == QD_TEXT_STATE_QUOTE)
        return step_after_quote(self, error);

    if (self->input[self->pos] != '\n')
        return qd_text_reader_fail(self, self->place, error, QW_ERROR_SYNTAX,
                                   "carriage return without a line feed, outside of quotes");
    qd_text_reader_consume(self, 1);
    return end_line(self, error);
}

/* Nothing more will come. */
static QdTextReadResult
finish_delimited(QdTextReader *self, GError **error)
{
    if (!self->row_begun)
        return QD_TEXT_READ_END;
    if (self->state == QD_TEXT_STATE_QUOTED)
        return qd_text_reader_fail(self, self->field_place, error, QW_ERROR_SYNTAX, "quoted field is not closed");

    if (self->state == QD_TEXT_STATE_FIELD_START)
        begin_field(self);
    return self->format == QD_TEXT_FORMAT_CSV ? end_line(self, error) : end_line_tsv(self, error);
}

/* The reader ---------------------------------------------------------------------------------------------------------- */

/* Passes over a byte order mark. What only looked like the start of one is given to the row. */
static QdTextReadResult
step_bom(QdTextReader *self, GError **error)
{
    static const char bom[3] = { '\xef', '\xbb', '\xbf' };
    guint n = self->n_bom;

    if (!self->finished && self->input[self->pos] == bom[n]) {
        self->pos++;
        self->n_bom++;
        return QD_TEXT_READ_MORE;
    }

    self->n_bom = 3;
    if (n == 0)
        return QD_TEXT_READ_MORE;
    if (self->state != QD_TEXT_STATE_FIELD_START)
        return qd_text_reader_fail(self, self->place, error, QW_ERROR_SYNTAX, "expected an object or an array");
    begin_field(self);
    self->state = QD_TEXT_STATE_PLAIN;
    self->place.column++;
    return append(self, bom, n, error);
}

QdTextReadResult
qd_text_reader_next(QdTextReader *self, const QwValue **ret_values, guint *ret_n_values, GError **error)
{
    bool delimited = self->format == QD_TEXT_FORMAT_CSV || self->format == QD_TEXT_FORMAT_TSV;
    QdTextReadResult result = QD_TEXT_READ_MORE;

    if (self->failed)
        return QD_TEXT_READ_ERROR;

    while (result == QD_TEXT_READ_MORE && self->pos < self->n_input) {
        if (self->n_bom < 3)
            result = step_bom(self, error);
        else if (delimited)
            result = step_field(self, error);
        else
            result = self->state >= QD_TEXT_STATE_IN_ROW ? qd_text_reader_step_in_row(self, error)
                                                         : qd_text_reader_step_between(self, error);
    }
    while (result == QD_TEXT_READ_MORE && self->finished) {
        if (self->n_bom < 3)
            result = step_bom(self, error);
        else
            result = delimited ? finish_delimited(self, error) : qd_text_reader_finish_json(self, error);
    }

    if (result == QD_TEXT_READ_ROW) {
        *ret_values = (const QwValue *) (void *) self->row.values->data;
        *ret_n_values = self->row.values->len;
    }
    return result;
}
