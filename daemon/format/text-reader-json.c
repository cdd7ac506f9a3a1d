/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * json and jsonl: the extent of a row is found here, what is in it by text-json.c.
 */
#include "daemon/format/text-reader-private.h"

#include "daemon/format/text-json.h"

static QdTextReadResult
end_json_row(QdTextReader *self, GError **error)
{
    guint max_depth = (guint) qd_limits_get(&self->limits, QD_LIMIT_SQL_DEPTH);
    guint max_columns = (guint) qd_limits_get(&self->limits, QD_LIMIT_COLUMNS);
    bool may_add = self->grows || (self->n_columns == 0 && self->names->len == 0);
    QdTextJsonRow source = { self->pending->str, self->pending->len, max_depth, max_columns, may_add };
    bool object = source.n_bytes > 0 && source.text[0] == '{';
    QdTextJsonError wrong = { 0 };
    QdTextPlace place = self->row_place;

    qd_text_row_reset(&self->row);
    if (self->have_names)
        g_ptr_array_set_size(self->names, (gint) self->names->len - 1);
    if (!qd_text_json_parse_row(&source, self->names, &self->row, &wrong)) {
        g_autofree char *message = wrong.message;

        self->have_names = FALSE;
        qd_text_place_advance(&place, self->pending->str, wrong.offset);
        return qd_text_reader_fail(self, place, error, wrong.code, message);
    }
    if (self->have_names || (object && self->names->len > 0)) {
        g_ptr_array_add(self->names, NULL);
        self->have_names = TRUE;
    }
    self->state = self->format == QD_TEXT_FORMAT_JSON ? QD_TEXT_STATE_COMMA_OR_CLOSE : QD_TEXT_STATE_LINE_END;
    if (self->row.bytes->len > qd_limits_get(&self->limits, QD_LIMIT_VALUE_BYTES) + QD_TEXT_SLACK_BYTES)
        return qd_text_reader_fail_limit(self, self->row_place, error, QD_LIMIT_VALUE_BYTES, "one row");
    return qd_text_reader_finish_row(self, error);
}

/* Between rows: one character of punctuation or space. */
QdTextReadResult
qd_text_reader_step_between(QdTextReader *self, GError **error)
{
    char c = self->input[self->pos];
    bool row = c == '{' || c == '[';

    if (c == '\n' && self->state == QD_TEXT_STATE_LINE_END)
        self->state = QD_TEXT_STATE_ROW;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        qd_text_reader_consume(self, 1);
        return QD_TEXT_READ_MORE;
    }

    if (row && (self->state == QD_TEXT_STATE_ROW || self->state == QD_TEXT_STATE_ROW_OR_CLOSE)) {
        if (self->pending->allocated_len > QD_TEXT_SLACK_BYTES) {
            g_string_free(self->pending, TRUE);
            self->pending = g_string_new(NULL);
        }
        g_string_truncate(self->pending, 0);
        self->row_place = self->place;
        self->depth = 0;
        self->state = QD_TEXT_STATE_IN_ROW;
        return QD_TEXT_READ_MORE;
    }
    if (c == '[' && self->state == QD_TEXT_STATE_OPEN)
        self->state = QD_TEXT_STATE_ROW_OR_CLOSE;
    else if (c == ']' && (self->state == QD_TEXT_STATE_ROW_OR_CLOSE || self->state == QD_TEXT_STATE_COMMA_OR_CLOSE))
        self->state = QD_TEXT_STATE_CLOSED;
    else if (c == ',' && self->state == QD_TEXT_STATE_COMMA_OR_CLOSE)
        self->state = QD_TEXT_STATE_ROW;
    else if (self->state == QD_TEXT_STATE_OPEN)
        return qd_text_reader_fail(self, self->place, error, QW_ERROR_SYNTAX, "expected '['");
    else if (self->state == QD_TEXT_STATE_COMMA_OR_CLOSE)
        return qd_text_reader_fail(self, self->place, error, QW_ERROR_SYNTAX, "expected ',' or ']'");
    else if (self->state == QD_TEXT_STATE_LINE_END || self->state == QD_TEXT_STATE_CLOSED)
        return qd_text_reader_fail(self, self->place, error, QW_ERROR_SYNTAX, "text after the end");
    else
        return qd_text_reader_fail(self, self->place, error, QW_ERROR_SYNTAX, "expected an object or an array");
    qd_text_reader_consume(self, 1);
    return QD_TEXT_READ_MORE;
}

/* One byte within a row. True when the row ends with it. */
static inline bool
scan_byte(QdTextReader *self, char c)
{
    if (self->state == QD_TEXT_STATE_IN_ESCAPE) {
        self->state = QD_TEXT_STATE_IN_STRING;
    } else if (self->state == QD_TEXT_STATE_IN_STRING) {
        if (c == '"')
            self->state = QD_TEXT_STATE_IN_ROW;
        else if (c == '\\')
            self->state = QD_TEXT_STATE_IN_ESCAPE;
    } else if (c == '"') {
        self->state = QD_TEXT_STATE_IN_STRING;
    } else if (c == '{' || c == '[') {
        self->depth++;
    } else if (c == '}' || c == ']') {
        self->depth--;
        return self->depth == 0;
    }

    /* Within a line nothing but the row's end may break it: the parser says what is missing. */
    return c == '\n' && self->format == QD_TEXT_FORMAT_JSONL;
}

QdTextReadResult
qd_text_reader_step_in_row(QdTextReader *self, GError **error)
{
    const char *p = self->input + self->pos;
    size_t left = self->n_input - self->pos;
    guint64 limit = qd_limits_get(&self->limits, QD_LIMIT_VALUE_BYTES);
    size_t n = 0;
    bool ends = false;

    while (n < left && !ends)
        ends = scan_byte(self, p[n++]);
    if (self->pending->len + n > 2 * limit + QD_TEXT_SLACK_BYTES)
        return qd_text_reader_fail_limit(self, self->row_place, error, QD_LIMIT_VALUE_BYTES, "text of a row");

    g_string_append_len(self->pending, p, (gssize) (ends && p[n - 1] == '\n' ? n - 1 : n));
    qd_text_reader_consume(self, n);
    return ends ? end_json_row(self, error) : QD_TEXT_READ_MORE;
}

QdTextReadResult
qd_text_reader_finish_json(QdTextReader *self, GError **error)
{
    if (self->state >= QD_TEXT_STATE_IN_ROW)
        return end_json_row(self, error);
    if (self->format == QD_TEXT_FORMAT_JSONL || self->state == QD_TEXT_STATE_CLOSED)
        return QD_TEXT_READ_END;

    return qd_text_reader_fail(self, self->place, error, QW_ERROR_SYNTAX, "unexpected end of the input: the array is not closed");
}
