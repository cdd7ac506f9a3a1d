/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Columns: loops over the rows of a page for each type, and what happens at a value that the loop does not know.
 */
#include "client-lib/arrow/arrow-column.h"

#include <math.h>

#include "client-lib/arrow/arrow-number.h"
#include "client-lib/text/text-number.h"
#include "client-lib/text/text-utf8.h"

#define ROWS_MIN 1024u
#define DATA_MIN 4096u
#define XSD "http://www.w3.org/2001/XMLSchema#"

/* Of types and of values: a column holds a value of the same or a lower rank. */
enum { RANK_NULL, RANK_INTEGER, RANK_FLOAT, RANK_TEXT, RANK_BLOB };

static int
rank_of_type(QwArrowType type)
{
    switch (type) {
    case QW_ARROW_NONE:
        return RANK_NULL;
    case QW_ARROW_INT64:
        return RANK_INTEGER;
    case QW_ARROW_DOUBLE:
        return RANK_FLOAT;
    case QW_ARROW_UTF8:
    case QW_ARROW_TERM:
        return RANK_TEXT;
    case QW_ARROW_BINARY:
        return RANK_BLOB;
    }
    g_assert_not_reached();
}

static int
rank_of_value(QwType type)
{
    switch (type) {
    case QW_TYPE_NULL:
        return RANK_NULL;
    case QW_TYPE_INTEGER:
        return RANK_INTEGER;
    case QW_TYPE_FLOAT:
        return RANK_FLOAT;
    case QW_TYPE_BLOB:
        return RANK_BLOB;
    case QW_TYPE_TEXT:
    case QW_TYPE_IRI:
    case QW_TYPE_BNODE:
    case QW_TYPE_LITERAL_LANG:
    case QW_TYPE_LITERAL_TYPED:
        return RANK_TEXT;
    }
    g_assert_not_reached();
}

static QwArrowType
type_of_rank(const QwArrowColumn *self, int rank)
{
    static const QwArrowType types[] = { QW_ARROW_NONE, QW_ARROW_INT64, QW_ARROW_DOUBLE, QW_ARROW_UTF8, QW_ARROW_BINARY };

    return rank == RANK_TEXT && self->has_terms ? QW_ARROW_TERM : types[rank];
}

const char *
qw_arrow_type_get_name(QwArrowType type)
{
    static const char *const names[] = { "null", "int64", "double", "utf8", "queryd.rdf_term", "binary" };

    return names[type];
}

const char *
qw_arrow_part_get_name(QwArrowPart part)
{
    static const char *const names[] = { "value", "datatype", "language" };

    return names[part];
}

/* Memory --------------------------------------------------------------------------------------------------------------- */

static bool
has_data(const QwArrowColumn *self)
{
    return self->type == QW_ARROW_UTF8 || self->type == QW_ARROW_BINARY;
}

static bool
has_words(const QwArrowColumn *self)
{
    return self->type == QW_ARROW_INT64 || self->type == QW_ARROW_DOUBLE;
}

static uint8_t *
grow_bits(uint8_t *bits, size_t n_before, size_t n_after, int byte)
{
    bits = g_realloc(bits, n_after / 8);
    memset(bits + n_before / 8, byte, n_after / 8 - n_before / 8);
    return bits;
}

static void
grow_data(QwArrowColumn *self, size_t n_more)
{
    self->n_data_max = MIN(MAX(self->n_data + n_more, 2 * self->n_data_max), INT32_MAX);
    self->data = g_realloc(self->data, self->n_data_max);
}

/* Buffers of the column's type for its n_rows_max rows. */
static void
grow_values(QwArrowColumn *self)
{
    if (has_words(self))
        self->values = g_realloc_n(self->values, self->n_rows_max, 8);
    if (!has_data(self))
        return;
    self->values = g_realloc_n(self->values, self->n_rows_max + 1, 4);
    if (self->n_rows == 0)
        self->offsets[0] = 0;
    if (self->data == NULL)
        grow_data(self, DATA_MIN);
}

static void reserve_rows(QwArrowColumn *self, size_t n_more);

/* Makes room for as many rows as the column has room for. */
static void
reserve_parts(QwArrowColumn *self)
{
    if (self->parts == NULL) {
        self->parts = g_new0(QwArrowColumn, QW_ARROW_N_PARTS);
        for (size_t i = 0; i < QW_ARROW_N_PARTS; i++)
            self->parts[i] = (QwArrowColumn){ .type = QW_ARROW_UTF8, .fallback = QW_ARROW_UTF8, .is_fixed = true };
    }
    for (size_t i = 0; i < QW_ARROW_N_PARTS; i++)
        reserve_rows(&self->parts[i], self->n_rows_max - self->parts[i].n_rows);
}

static void
reserve_rows(QwArrowColumn *self, size_t n_more)
{
    size_t before = self->n_rows_max;
    size_t needed = self->n_rows + n_more;

    if (needed <= before)
        return;
    self->n_rows_max = (MAX(MAX(needed, 2 * before), ROWS_MIN) + 63) & ~(size_t) 63;
    self->validity = grow_bits(self->validity, before, self->n_rows_max, 0xff);
    if (self->integers != NULL)
        self->integers = grow_bits(self->integers, before, self->n_rows_max, 0);
    grow_values(self);
    if (self->type == QW_ARROW_TERM)
        reserve_parts(self);
}

void
qw_arrow_column_clear(QwArrowColumn *self)
{
    for (size_t i = 0; self->parts != NULL && i < QW_ARROW_N_PARTS; i++)
        qw_arrow_column_clear(&self->parts[i]);
    g_clear_pointer(&self->parts, g_free);
    g_clear_pointer(&self->validity, g_free);
    g_clear_pointer(&self->integers, g_free);
    g_clear_pointer(&self->values, g_free);
    g_clear_pointer(&self->data, g_free);
    self->n_rows = self->n_rows_max = self->n_nulls = self->n_data = self->n_data_max = 0;
}

void
qw_arrow_column_take(QwArrowColumn *self, QwArrowColumn *ret)
{
    *ret = *self;
    self->parts = NULL;
    self->validity = self->integers = NULL;
    self->values = NULL;
    self->data = NULL;
    self->n_rows = self->n_rows_max = self->n_nulls = self->n_data = self->n_data_max = 0;
}

/* Types ---------------------------------------------------------------------------------------------------------------- */

static bool
contains(const char *text, const char *word)
{
    size_t n_bytes = strlen(word);

    for (; *text != '\0'; text++)
        if (g_ascii_strncasecmp(text, word, n_bytes) == 0)
            return true;
    return false;
}

/* SQLite's rules of affinity, in their order. NONE: the values decide. */
static QwArrowType
type_of_affinity(const char *declared_type)
{
    static const struct {
        const char *word;
        QwArrowType type;
    } rules[] = {
        { "INT", QW_ARROW_INT64 },   { "CHAR", QW_ARROW_UTF8 },   { "CLOB", QW_ARROW_UTF8 },   { "TEXT", QW_ARROW_UTF8 },
        { "BLOB", QW_ARROW_BINARY }, { "REAL", QW_ARROW_DOUBLE }, { "FLOA", QW_ARROW_DOUBLE }, { "DOUB", QW_ARROW_DOUBLE },
    };

    for (size_t i = 0; i < G_N_ELEMENTS(rules); i++)
        if (contains(declared_type, rules[i].word))
            return rules[i].type;
    return QW_ARROW_NONE;
}

void
qw_arrow_column_init(QwArrowColumn *self, const char *declared_type, bool terms)
{
    *self = (QwArrowColumn){ .type = type_of_affinity(declared_type), .has_terms = terms && *declared_type == '\0' };
    self->fallback = self->has_terms ? QW_ARROW_TERM : QW_ARROW_UTF8;
}

/* Values one by one ---------------------------------------------------------------------------------------------------- */

static inline bool
is_set(const uint8_t *bits, size_t index)
{
    return bits[index / 8] >> (index % 8) & 1;
}

static void
put_null(QwArrowColumn *self)
{
    self->validity[self->n_rows / 8] &= (uint8_t) ~(1u << (self->n_rows % 8));
    self->n_nulls++;
    if (has_words(self))
        self->int64[self->n_rows] = 0;
    if (has_data(self))
        self->offsets[self->n_rows + 1] = (int32_t) self->n_data;
    if (self->type == QW_ARROW_TERM)
        for (size_t i = 0; i < QW_ARROW_N_PARTS; i++)
            put_null(&self->parts[i]);
    self->n_rows++;
}

/* Returns: false when an offset cannot be that large */
static inline bool
put_bytes(QwArrowColumn *self, const char *bytes, size_t n_bytes)
{
    if (G_UNLIKELY(n_bytes > self->n_data_max - self->n_data)) {
        if (self->n_data + n_bytes > INT32_MAX)
            return false;
        grow_data(self, n_bytes);
    }
    memcpy(self->data + self->n_data, bytes, n_bytes);
    self->n_data += n_bytes;
    self->offsets[++self->n_rows] = (int32_t) self->n_data;
    return true;
}

/* @datatype, @language: (nullable) */
static bool
put_term(QwArrowColumn *self, const char *lexical, size_t n_bytes, const char *datatype, const char *language)
{
    const char *tags[] = { [QW_ARROW_PART_DATATYPE] = datatype, [QW_ARROW_PART_LANGUAGE] = language };

    if (!put_bytes(&self->parts[QW_ARROW_PART_VALUE], lexical, n_bytes))
        return false;
    for (size_t i = QW_ARROW_PART_DATATYPE; i < QW_ARROW_N_PARTS; i++) {
        if (tags[i] == NULL)
            put_null(&self->parts[i]);
        else if (!put_bytes(&self->parts[i], tags[i], strlen(tags[i])))
            return false;
    }
    self->n_rows++;
    return true;
}

static bool
put_number_term(QwArrowColumn *self, const QwValue *value)
{
    char text[QW_TEXT_NUMBER_BYTES];
    char *end;

    if (value->type == QW_TYPE_INTEGER) {
        end = qw_text_put_int64(text, value->integer);
        return put_term(self, text, (size_t) (end - text), XSD "integer", NULL);
    }
    if (isnan(value->real))
        return put_term(self, "NaN", 3, XSD "double", NULL);
    if (isinf(value->real))
        return put_term(self, value->real > 0 ? "INF" : "-INF", value->real > 0 ? 3 : 4, XSD "double", NULL);
    end = qw_text_put_double(text, value->real);
    return put_term(self, text, (size_t) (end - text), XSD "double", NULL);
}

static bool
put_number_text(QwArrowColumn *self, const QwValue *value)
{
    char text[QW_TEXT_NUMBER_BYTES];
    char *end;

    if (value->type == QW_TYPE_FLOAT && isnan(value->real))
        return put_bytes(self, "NaN", 3);
    end = value->type == QW_TYPE_INTEGER ? qw_text_put_int64(text, value->integer) : qw_text_put_double(text, value->real);
    return put_bytes(self, text, (size_t) (end - text));
}

/* From -2^53 to 2^53, and those beyond that are multiples of a power of two. */
static bool
integer_is_exact(int64_t integer)
{
    double real = (double) integer;

    return real < 9223372036854775808.0 && (int64_t) real == integer;
}

static bool
real_is_integer(double real)
{
    return real >= -9223372036854775808.0 && real < 9223372036854775808.0 && (double) (int64_t) real == real;
}

/* A number in a column of numbers. */
static bool
put_number(QwArrowColumn *self, const QwValue *value)
{
    if (self->type == QW_ARROW_INT64) {
        if (value->type == QW_TYPE_FLOAT && !real_is_integer(value->real))
            return false;
        self->int64[self->n_rows++] = value->type == QW_TYPE_FLOAT ? (int64_t) value->real : value->integer;
        return true;
    }
    if (value->type == QW_TYPE_INTEGER && !integer_is_exact(value->integer))
        return false;
    if (value->type == QW_TYPE_INTEGER && !self->is_fixed) {
        if (self->integers == NULL)
            self->integers = grow_bits(NULL, 0, self->n_rows_max, 0);
        self->integers[self->n_rows / 8] |= (uint8_t) (1u << (self->n_rows % 8));
    }
    self->real[self->n_rows++] = value->type == QW_TYPE_INTEGER ? (double) value->integer : value->real;
    return true;
}

/* @value: not a NULL, of no higher rank than the column. Returns: false when something would be lost */
static bool
put_value(QwArrowColumn *self, const QwValue *value)
{
    static const char *const kinds[] = { [QW_TYPE_IRI] = "@id", [QW_TYPE_BNODE] = "@bnode", [QW_TYPE_LITERAL_TYPED] = NULL };
    bool is_number = qw_type_is_word(value->type);

    switch (self->type) {
    case QW_ARROW_NONE:
        return false;
    case QW_ARROW_INT64:
    case QW_ARROW_DOUBLE:
        return put_number(self, value);
    case QW_ARROW_UTF8:
    case QW_ARROW_BINARY:
        return is_number ? put_number_text(self, value) : put_bytes(self, value->data, value->n_bytes);
    case QW_ARROW_TERM:
        if (is_number)
            return put_number_term(self, value);
        return put_term(self, value->data, value->n_bytes, value->type == QW_TYPE_LITERAL_TYPED ? value->tag : kinds[value->type],
                        value->type == QW_TYPE_LITERAL_LANG ? value->tag : NULL);
    }
    g_assert_not_reached();
}

/* Another type --------------------------------------------------------------------------------------------------------- */

/* A value of a column of numbers, as it was read. */
static void
get_number(const QwArrowColumn *self, size_t row, QwValue *ret)
{
    if (!is_set(self->validity, row)) {
        ret->type = QW_TYPE_NULL;
    } else if (self->type == QW_ARROW_INT64) {
        *ret = (QwValue){ .type = QW_TYPE_INTEGER, .integer = self->int64[row] };
    } else if (self->integers != NULL && is_set(self->integers, row)) {
        *ret = (QwValue){ .type = QW_TYPE_INTEGER, .integer = (int64_t) self->real[row] };
    } else {
        *ret = (QwValue){ .type = QW_TYPE_FLOAT, .real = self->real[row] };
    }
}

/* Returns: false when one of the values has no place in it; @self is as before then */
static bool
convert(QwArrowColumn *self, QwArrowType type)
{
    QwArrowColumn next = { .type = type, .fallback = self->fallback, .has_terms = self->has_terms };

    if (has_data(self) && type == QW_ARROW_BINARY) { /* the bytes stay as they are */
        self->type = type;
        return true;
    }
    if (self->type == QW_ARROW_TERM)
        return false;

    reserve_rows(&next, self->n_rows_max);
    for (size_t i = 0; i < self->n_rows; i++) {
        QwValue value = { .type = QW_TYPE_NULL };

        if (self->type != QW_ARROW_NONE)
            get_number(self, i, &value);
        if (value.type == QW_TYPE_NULL) {
            put_null(&next);
        } else if (!put_value(&next, &value)) {
            qw_arrow_column_clear(&next);
            return false;
        }
    }
    qw_arrow_column_clear(self);
    *self = next;
    return true;
}

void
qw_arrow_column_fix(QwArrowColumn *self)
{
    if (self->type == QW_ARROW_NONE)
        (void) convert(self, self->fallback);
    g_clear_pointer(&self->integers, g_free);
    self->is_fixed = true;
}

/* A value that the loop of the column's type does not know. */
static G_GNUC_NO_INLINE bool
append_other(QwArrowColumn *self, const QwValue *value)
{
    QwValue number;
    int rank;

    if (qw_arrow_number_of_literal(value, self->has_terms, &number) && self->type != QW_ARROW_TERM)
        value = &number;
    rank = MAX(rank_of_type(self->type), rank_of_value(value->type));

    if (self->is_fixed) {
        bool is_maybe_integer = self->type == QW_ARROW_INT64 && value->type == QW_TYPE_FLOAT;

        return (rank == rank_of_type(self->type) || is_maybe_integer) && put_value(self, value);
    }
    for (; rank <= RANK_BLOB; rank++) {
        QwArrowType type = type_of_rank(self, rank);

        if ((type == self->type || convert(self, type)) && put_value(self, value))
            return true;
    }
    return false;
}

/* Rows of a page ------------------------------------------------------------------------------------------------------- */

/* Each goes on until a value that is neither of its type nor NULL, and returns its index. */
typedef size_t (*Loop)(QwArrowColumn *self, QwPageReader *view, uint32_t column, const uint32_t *rows, size_t i, size_t n_rows);

static inline void
get_value(QwPageReader *view, uint32_t column, uint32_t row, QwValue *ret)
{
    view->row = row;
    qw_page_reader_get(view, column, ret);
}

static size_t
loop_null(QwArrowColumn *self, QwPageReader *view, uint32_t column, const uint32_t *rows, size_t i, size_t n_rows)
{
    QwValue value;

    for (; i < n_rows; i++) {
        get_value(view, column, rows[i], &value);
        if (value.type != QW_TYPE_NULL)
            break;
        put_null(self);
    }
    return i;
}

static size_t
loop_int64(QwArrowColumn *self, QwPageReader *view, uint32_t column, const uint32_t *rows, size_t i, size_t n_rows)
{
    QwValue value;

    for (; i < n_rows; i++) {
        get_value(view, column, rows[i], &value);
        if (G_LIKELY(value.type == QW_TYPE_INTEGER))
            self->int64[self->n_rows++] = value.integer;
        else if (value.type == QW_TYPE_NULL)
            put_null(self);
        else
            break;
    }
    return i;
}

static size_t
loop_double(QwArrowColumn *self, QwPageReader *view, uint32_t column, const uint32_t *rows, size_t i, size_t n_rows)
{
    QwValue value;

    for (; i < n_rows; i++) {
        get_value(view, column, rows[i], &value);
        if (G_LIKELY(value.type == QW_TYPE_FLOAT))
            self->real[self->n_rows++] = value.real;
        else if (value.type == QW_TYPE_NULL)
            put_null(self);
        else
            break;
    }
    return i;
}

/* @type: what a value has to be besides TEXT */
static inline size_t
loop_bytes(QwArrowColumn *self, QwPageReader *view, uint32_t column, const uint32_t *rows, size_t i, size_t n_rows, QwType type)
{
    QwValue value;

    for (; i < n_rows; i++) {
        get_value(view, column, rows[i], &value);
        if (value.type == QW_TYPE_NULL)
            put_null(self);
        else if ((value.type != QW_TYPE_TEXT && value.type != type) || !put_bytes(self, value.data, value.n_bytes))
            break;
    }
    return i;
}

static size_t
loop_utf8(QwArrowColumn *self, QwPageReader *view, uint32_t column, const uint32_t *rows, size_t i, size_t n_rows)
{
    return loop_bytes(self, view, column, rows, i, n_rows, QW_TYPE_IRI);
}

static size_t
loop_binary(QwArrowColumn *self, QwPageReader *view, uint32_t column, const uint32_t *rows, size_t i, size_t n_rows)
{
    return loop_bytes(self, view, column, rows, i, n_rows, QW_TYPE_BLOB);
}

static const Loop loops[] = {
    [QW_ARROW_NONE] = loop_null, [QW_ARROW_INT64] = loop_int64, [QW_ARROW_DOUBLE] = loop_double,
    [QW_ARROW_UTF8] = loop_utf8, [QW_ARROW_TERM] = loop_null,   [QW_ARROW_BINARY] = loop_binary,
};

size_t
qw_arrow_column_append(QwArrowColumn *self, QwPageReader *view, uint32_t column, const uint32_t *rows, size_t n_rows)
{
    size_t i = 0;

    for (;;) {
        QwValue value;

        reserve_rows(self, n_rows - i);
        i = loops[self->type](self, view, column, rows, i, n_rows);
        if (i == n_rows)
            return i;
        get_value(view, column, rows[i], &value);
        if (!append_other(self, &value))
            return i;
        i++;
    }
}

/* UTF-8 ---------------------------------------------------------------------------------------------------------------- */

static bool
is_ascii(const char *data, size_t n_bytes)
{
    uint64_t all = 0;
    uint64_t word;
    size_t i = 0;

    for (; i + 8 <= n_bytes; i += 8) {
        memcpy(&word, data + i, 8);
        all |= word;
    }
    for (; i < n_bytes; i++)
        all |= (uint8_t) data[i];
    return (all & 0x8080808080808080u) == 0;
}

size_t
qw_arrow_column_span_utf8(const QwArrowColumn *self)
{
    if (self->type == QW_ARROW_TERM)
        return self->n_rows > 0 ? qw_arrow_column_span_utf8(&self->parts[QW_ARROW_PART_VALUE]) : 0;
    if (self->type != QW_ARROW_UTF8 || is_ascii(self->data, self->n_data))
        return self->n_rows;
    for (size_t i = 0; i < self->n_rows; i++) {
        size_t n_bytes = (size_t) (self->offsets[i + 1] - self->offsets[i]);

        if (qw_text_span_utf8(self->data + self->offsets[i], n_bytes) != n_bytes)
            return i;
    }
    return self->n_rows;
}
