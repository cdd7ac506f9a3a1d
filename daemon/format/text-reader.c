/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The incremental reader: finds fields and rows in an input that comes in pieces of any size.
 *
 * csv and tsv are read by one state machine; a tsv field keeps its escapes until it ends. Of json only the extent of a row
 * is found here. State lives in the struct, so that a cut may fall anywhere, also within a character or an escape.
 */
#include "daemon/format/text-reader.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/format/text-json.h"
#include "daemon/format/text-row.h"

/* An escaped form may be longer than its value: a row's text may have twice the limit, and this. */
#define RAW_SLACK_BYTES (64u * 1024u)

typedef enum State {
    STATE_FIELD_START,
    STATE_PLAIN,
    STATE_QUOTED,
    STATE_QUOTE, /* after a quote within a quoted field */
    STATE_AFTER_CR,
    /* json and jsonl, between rows */
    STATE_OPEN,         /* json: expects the outer array */
    STATE_ROW_OR_CLOSE, /* json */
    STATE_ROW,
    STATE_COMMA_OR_CLOSE, /* json */
    STATE_LINE_END,       /* jsonl */
    STATE_CLOSED,         /* json */
    STATE_IN_ROW,
    STATE_IN_STRING,
    STATE_IN_ESCAPE,
} State;

typedef struct Place {
    guint64 line;
    guint64 column;
} Place;

struct QdTextReader {
    QdTextFormat format;
    gboolean header;
    QdLimits limits;
    GPtrArray *names; /* NULL-terminated only when have_names */
    gboolean have_names;
    guint n_columns; /* of every row; 0: not known yet */

    const char *input; /* borrowed */
    size_t n_input;
    size_t pos;
    gboolean finished;
    gboolean failed;

    State state;
    guint n_bom; /* bytes of a byte order mark seen; 3: past it */
    Place place; /* of input[pos] */
    Place field_place;
    Place row_place;
    gboolean row_begun;
    gboolean quoted;
    guint depth;
    GString *pending; /* json: the bytes of the row */
    QdTextRow row;
};

QdTextReader *
qd_text_reader_new(QdTextFormat format, gboolean header, const char *const *column_names, const QdLimits *limits)
{
    QdTextReader *self = g_new0(QdTextReader, 1);

    self->format = format;
    self->header = header;
    self->limits = *limits;
    self->names = g_ptr_array_new_with_free_func(g_free);
    self->place = self->row_place = self->field_place = (Place){ 1, 1 };
    self->pending = g_string_new(NULL);
    qd_text_row_init(&self->row);

    switch (format) {
    case QD_TEXT_FORMAT_CSV:
    case QD_TEXT_FORMAT_TSV:
        self->state = STATE_FIELD_START;
        return self;
    case QD_TEXT_FORMAT_JSON:
        self->state = STATE_OPEN;
        break;
    case QD_TEXT_FORMAT_JSONL:
        self->state = STATE_ROW;
        break;
    }
    for (guint i = 0; column_names != NULL && column_names[i] != NULL; i++)
        g_ptr_array_add(self->names, g_strdup(column_names[i]));
    return self;
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

static inline void
advance(Place *place, const char *data, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        if (data[i] == '\n') {
            place->line++;
            place->column = 1;
        } else if (((uint8_t) data[i] & 0xc0) != 0x80) {
            place->column++;
        }
    }
}

static inline void
consume(QdTextReader *self, size_t n_bytes)
{
    advance(&self->place, self->input + self->pos, n_bytes);
    self->pos += n_bytes;
}

static QdTextReadResult
fail(QdTextReader *self, Place place, GError **error, QwError code, const char *message)
{
    self->failed = TRUE;
    qd_error_set(error, code, "%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT ": %s", place.line, place.column, message);
    return QD_TEXT_READ_ERROR;
}

static QdTextReadResult
fail_limit(QdTextReader *self, Place place, GError **error, QdLimit limit, const char *what)
{
    self->failed = TRUE;
    qd_limit_set_error(error, &self->limits, limit, "%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT ": %s", place.line, place.column,
                       what);
    return QD_TEXT_READ_ERROR;
}

/* Results of the steps below: MORE means "go on". */
#define GO_ON QD_TEXT_READ_MORE

static QdTextReadResult
finish_row(QdTextReader *self, GError **error)
{
    guint n_values = self->row.values->len;
    g_autofree char *message = NULL;

    if (n_values > qd_limits_get(&self->limits, QD_LIMIT_COLUMNS))
        return fail_limit(self, self->row_place, error, QD_LIMIT_COLUMNS, "columns of a row");
    if (self->n_columns == 0)
        self->n_columns = n_values;
    if (n_values != self->n_columns) {
        message = g_strdup_printf("the row has %u fields, the first row %u", n_values, self->n_columns);
        return fail(self, self->row_place, error, QW_ERROR_SYNTAX, message);
    }

    qd_text_row_seal(&self->row);
    return QD_TEXT_READ_ROW;
}

/* csv and tsv --------------------------------------------------------------------------------------------------------- */

static QdTextReadResult
append(QdTextReader *self, const char *data, size_t n_bytes, GError **error)
{
    guint64 limit = qd_limits_get(&self->limits, QD_LIMIT_VALUE_BYTES);

    if (self->row.bytes->len + n_bytes > 2 * limit + RAW_SLACK_BYTES)
        return fail_limit(self, self->field_place, error, QD_LIMIT_VALUE_BYTES, "text of a row");

    g_string_append_len(self->row.bytes, data, (gssize) n_bytes);
    return GO_ON;
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

/* Place of byte @offset of the field; within quotes each quote was written twice. */
static Place
find_place_in_field(QdTextReader *self, size_t offset)
{
    const char *field = self->row.bytes->str + self->row.field_start;
    Place place = self->field_place;

    if (self->quoted)
        place.column++;
    advance(&place, field, offset);
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
        return fail(self, find_place_in_field(self, offset), error, QW_ERROR_SYNTAX, message);

    if (self->row.values->len > qd_limits_get(&self->limits, QD_LIMIT_COLUMNS))
        return fail_limit(self, self->field_place, error, QD_LIMIT_COLUMNS, "columns of a row");
    if (self->row.bytes->len > qd_limits_get(&self->limits, QD_LIMIT_VALUE_BYTES) + RAW_SLACK_BYTES)
        return fail_limit(self, self->field_place, error, QD_LIMIT_VALUE_BYTES, "one row");
    self->state = STATE_FIELD_START;
    return GO_ON;
}

static QdTextReadResult
take_header(QdTextReader *self, GError **error)
{
    qd_text_row_seal(&self->row);
    for (guint i = 0; i < self->row.values->len; i++) {
        const QwValue *value = &g_array_index(self->row.values, QwValue, i);

        if (memchr(value->data, 0, value->n_bytes) != NULL)
            return fail(self, self->row_place, error, QW_ERROR_SYNTAX, "NUL in a column's name");
        g_ptr_array_add(self->names, g_strdup(value->data));
    }
    self->n_columns = self->names->len;
    g_ptr_array_add(self->names, NULL);
    self->have_names = TRUE;
    return GO_ON;
}

/* At the line's end, which has been consumed. */
static QdTextReadResult
end_line(QdTextReader *self, GError **error)
{
    bool empty = self->row.values->len == 0 && !self->quoted && self->row.bytes->len == self->row.field_start;
    QdTextReadResult result = GO_ON;

    self->row_begun = FALSE;
    self->state = STATE_FIELD_START;
    /* An empty line is a row of one column; where there are more, or names are expected, it is only an empty line. */
    if (empty && (self->n_columns > 1 || (self->header && !self->have_names)))
        return GO_ON;

    result = end_field(self, error);
    if (result != GO_ON)
        return result;
    if (self->header && !self->have_names)
        return take_header(self, error);
    return finish_row(self, error);
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
    char delimiter = csv ? ',' : '\t';
    size_t n = 0;
    QdTextReadResult result = GO_ON;

    while (n < left && p[n] != delimiter && p[n] != '\n' && !(csv && p[n] == '\r'))
        n++;
    result = append(self, p, n, error);
    if (result != GO_ON)
        return result;
    consume(self, n);
    if (n == left)
        return GO_ON;

    consume(self, 1);
    if (p[n] == delimiter)
        return end_field(self, error);
    if (p[n] == '\n')
        return csv ? end_line(self, error) : end_line_tsv(self, error);
    self->state = STATE_AFTER_CR;
    return GO_ON;
}

static QdTextReadResult
step_quoted(QdTextReader *self, GError **error)
{
    const char *p = self->input + self->pos;
    size_t left = self->n_input - self->pos;
    const char *quote = memchr(p, '"', left);
    size_t n = quote != NULL ? (size_t) (quote - p) : left;
    QdTextReadResult result = append(self, p, n, error);

    if (result != GO_ON)
        return result;

    consume(self, n);
    if (quote != NULL) {
        consume(self, 1);
        self->state = STATE_QUOTE;
    }
    return GO_ON;
}

static QdTextReadResult
step_after_quote(QdTextReader *self, GError **error)
{
    char c = self->input[self->pos];

    if (c != '"' && c != ',' && c != '\n' && c != '\r')
        return fail(self, self->place, error, QW_ERROR_SYNTAX, "text after the closing quote");

    consume(self, 1);
    if (c == '"') {
        self->state = STATE_QUOTED;
        return append(self, "\"", 1, error);
    }
    if (c == ',')
        return end_field(self, error);
    if (c == '\n')
        return end_line(self, error);
    self->state = STATE_AFTER_CR;
    return GO_ON;
}

static QdTextReadResult
step_field(QdTextReader *self, GError **error)
{
    if (self->state == STATE_FIELD_START) {
        begin_field(self);
        self->state = STATE_PLAIN;
        if (self->format == QD_TEXT_FORMAT_CSV && self->input[self->pos] == '"') {
            consume(self, 1);
            self->quoted = TRUE;
            self->state = STATE_QUOTED;
        }
        return GO_ON;
    }
    if (self->state == STATE_PLAIN)
        return step_plain(self, error);
    if (self->state == STATE_QUOTED)
        return step_quoted(self, error);
    if (self->state == STATE_QUOTE)
        return step_after_quote(self, error);

    if (self->input[self->pos] != '\n')
        return fail(self, self->place, error, QW_ERROR_SYNTAX, "carriage return without a line feed, outside of quotes");
    consume(self, 1);
    return end_line(self, error);
}

/* Nothing more will come. */
static QdTextReadResult
finish_delimited(QdTextReader *self, GError **error)
{
    if (!self->row_begun)
        return QD_TEXT_READ_END;
    if (self->state == STATE_QUOTED)
        return fail(self, self->field_place, error, QW_ERROR_SYNTAX, "quoted field is not closed");

    if (self->state == STATE_FIELD_START)
        begin_field(self);
    return self->format == QD_TEXT_FORMAT_CSV ? end_line(self, error) : end_line_tsv(self, error);
}

/* json and jsonl ------------------------------------------------------------------------------------------------------ */

static QdTextReadResult
end_json_row(QdTextReader *self, GError **error)
{
    guint max_depth = (guint) qd_limits_get(&self->limits, QD_LIMIT_SQL_DEPTH);
    guint max_columns = (guint) qd_limits_get(&self->limits, QD_LIMIT_COLUMNS);
    bool may_add = self->n_columns == 0 && self->names->len == 0;
    QdTextJsonRow source = { self->pending->str, self->pending->len, max_depth, max_columns, may_add };
    bool object = source.n_bytes > 0 && source.text[0] == '{';
    QdTextJsonError wrong = { 0 };
    Place place = self->row_place;

    qd_text_row_reset(&self->row);
    if (self->have_names)
        g_ptr_array_set_size(self->names, (gint) self->names->len - 1);
    if (!qd_text_json_parse_row(&source, self->names, &self->row, &wrong)) {
        g_autofree char *message = wrong.message;

        self->have_names = FALSE;
        advance(&place, self->pending->str, wrong.offset);
        return fail(self, place, error, wrong.code, message);
    }
    if (self->have_names || (object && self->names->len > 0)) {
        g_ptr_array_add(self->names, NULL);
        self->have_names = TRUE;
    }
    self->state = self->format == QD_TEXT_FORMAT_JSON ? STATE_COMMA_OR_CLOSE : STATE_LINE_END;
    if (self->row.bytes->len > qd_limits_get(&self->limits, QD_LIMIT_VALUE_BYTES) + RAW_SLACK_BYTES)
        return fail_limit(self, self->row_place, error, QD_LIMIT_VALUE_BYTES, "one row");
    return finish_row(self, error);
}

/* Between rows: one character of punctuation or space. */
static QdTextReadResult
step_between(QdTextReader *self, GError **error)
{
    char c = self->input[self->pos];
    bool row = c == '{' || c == '[';

    if (c == '\n' && self->state == STATE_LINE_END)
        self->state = STATE_ROW;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        consume(self, 1);
        return GO_ON;
    }

    if (row && (self->state == STATE_ROW || self->state == STATE_ROW_OR_CLOSE)) {
        if (self->pending->allocated_len > RAW_SLACK_BYTES) {
            g_string_free(self->pending, TRUE);
            self->pending = g_string_new(NULL);
        }
        g_string_truncate(self->pending, 0);
        self->row_place = self->place;
        self->depth = 0;
        self->state = STATE_IN_ROW;
        return GO_ON;
    }
    if (c == '[' && self->state == STATE_OPEN)
        self->state = STATE_ROW_OR_CLOSE;
    else if (c == ']' && (self->state == STATE_ROW_OR_CLOSE || self->state == STATE_COMMA_OR_CLOSE))
        self->state = STATE_CLOSED;
    else if (c == ',' && self->state == STATE_COMMA_OR_CLOSE)
        self->state = STATE_ROW;
    else if (self->state == STATE_OPEN)
        return fail(self, self->place, error, QW_ERROR_SYNTAX, "expected '['");
    else if (self->state == STATE_COMMA_OR_CLOSE)
        return fail(self, self->place, error, QW_ERROR_SYNTAX, "expected ',' or ']'");
    else if (self->state == STATE_LINE_END || self->state == STATE_CLOSED)
        return fail(self, self->place, error, QW_ERROR_SYNTAX, "text after the end");
    else
        return fail(self, self->place, error, QW_ERROR_SYNTAX, "expected an object or an array");
    consume(self, 1);
    return GO_ON;
}

/* One byte within a row. True when the row ends with it. */
static inline bool
scan_byte(QdTextReader *self, char c)
{
    if (self->state == STATE_IN_ESCAPE) {
        self->state = STATE_IN_STRING;
    } else if (self->state == STATE_IN_STRING) {
        if (c == '"')
            self->state = STATE_IN_ROW;
        else if (c == '\\')
            self->state = STATE_IN_ESCAPE;
    } else if (c == '"') {
        self->state = STATE_IN_STRING;
    } else if (c == '{' || c == '[') {
        self->depth++;
    } else if (c == '}' || c == ']') {
        self->depth--;
        return self->depth == 0;
    }

    /* Within a line nothing but the row's end may break it: the parser says what is missing. */
    return c == '\n' && self->format == QD_TEXT_FORMAT_JSONL;
}

static QdTextReadResult
step_in_row(QdTextReader *self, GError **error)
{
    const char *p = self->input + self->pos;
    size_t left = self->n_input - self->pos;
    guint64 limit = qd_limits_get(&self->limits, QD_LIMIT_VALUE_BYTES);
    size_t n = 0;
    bool ends = false;

    while (n < left && !ends)
        ends = scan_byte(self, p[n++]);
    if (self->pending->len + n > 2 * limit + RAW_SLACK_BYTES)
        return fail_limit(self, self->row_place, error, QD_LIMIT_VALUE_BYTES, "text of a row");

    g_string_append_len(self->pending, p, (gssize) (ends && p[n - 1] == '\n' ? n - 1 : n));
    consume(self, n);
    return ends ? end_json_row(self, error) : GO_ON;
}

static QdTextReadResult
finish_json(QdTextReader *self, GError **error)
{
    if (self->state >= STATE_IN_ROW)
        return end_json_row(self, error);
    if (self->format == QD_TEXT_FORMAT_JSONL || self->state == STATE_CLOSED)
        return QD_TEXT_READ_END;

    return fail(self, self->place, error, QW_ERROR_SYNTAX, "unexpected end of the input: the array is not closed");
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
        return GO_ON;
    }

    self->n_bom = 3;
    if (n == 0)
        return GO_ON;
    if (self->state != STATE_FIELD_START)
        return fail(self, self->place, error, QW_ERROR_SYNTAX, "expected an object or an array");
    begin_field(self);
    self->state = STATE_PLAIN;
    self->place.column++;
    return append(self, bom, n, error);
}

QdTextReadResult
qd_text_reader_next(QdTextReader *self, const QwValue **ret_values, guint *ret_n_values, GError **error)
{
    bool delimited = self->format == QD_TEXT_FORMAT_CSV || self->format == QD_TEXT_FORMAT_TSV;
    QdTextReadResult result = GO_ON;

    if (self->failed)
        return QD_TEXT_READ_ERROR;

    while (result == GO_ON && self->pos < self->n_input) {
        if (self->n_bom < 3)
            result = step_bom(self, error);
        else if (delimited)
            result = step_field(self, error);
        else
            result = self->state >= STATE_IN_ROW ? step_in_row(self, error) : step_between(self, error);
    }
    while (result == GO_ON && self->finished) {
        if (self->n_bom < 3)
            result = step_bom(self, error);
        else
            result = delimited ? finish_delimited(self, error) : finish_json(self, error);
    }

    if (result == QD_TEXT_READ_ROW) {
        *ret_values = (const QwValue *) (void *) self->row.values->data;
        *ret_n_values = self->row.values->len;
    }
    return result;
}
