/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parsing, arithmetic and canonical forms of numbers. XPath and XQuery Functions and Operators 3.1, §4 and §19.
 */
#include "daemon/rdf/xsd-number.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "daemon/rdf/term-id.h"

/* Bounds of the derived integer types. Those of 64 bits are decimals too. */
static const struct {
    const char *min;
    const char *max;
} facets[QD_N_XSD_TYPES] = {
    [QD_XSD_NON_POSITIVE_INTEGER] = { NULL, "0" },
    [QD_XSD_NEGATIVE_INTEGER] = { NULL, "-1" },
    [QD_XSD_LONG] = { "-9223372036854775808", "9223372036854775807" },
    [QD_XSD_INT] = { "-2147483648", "2147483647" },
    [QD_XSD_SHORT] = { "-32768", "32767" },
    [QD_XSD_BYTE] = { "-128", "127" },
    [QD_XSD_NON_NEGATIVE_INTEGER] = { "0", NULL },
    [QD_XSD_UNSIGNED_LONG] = { "0", "18446744073709551615" },
    [QD_XSD_UNSIGNED_INT] = { "0", "4294967295" },
    [QD_XSD_UNSIGNED_SHORT] = { "0", "65535" },
    [QD_XSD_UNSIGNED_BYTE] = { "0", "255" },
    [QD_XSD_POSITIVE_INTEGER] = { "1", NULL },
};

static gboolean
is_within(const QdDecimal *value, const char *min, const char *max)
{
    QdDecimal bound;

    if (min != NULL && qd_decimal_parse(min, strlen(min), &bound) && qd_decimal_compare(value, &bound) < 0)
        return FALSE;
    return max == NULL || !qd_decimal_parse(max, strlen(max), &bound) || qd_decimal_compare(value, &bound) <= 0;
}

static gboolean
parse_integer(QdXsdType type, const char *text, gsize n_bytes, QdNumber *ret)
{
    QdDecimal value;

    if (n_bytes > 0 && memchr(text, '.', n_bytes) != NULL)
        return FALSE;
    if (!qd_decimal_parse(text, n_bytes, &value) || !is_within(&value, facets[type].min, facets[type].max))
        return FALSE;

    *ret = (QdNumber){ .type = QD_XSD_INTEGER, .decimal = value };
    return TRUE;
}

/* The grammar; g_ascii_strtod() takes more ("0x1", "infinity", " 1"). */
static gboolean
is_double(const char *p, const char *end)
{
    gboolean seen_digit = FALSE;

    if (p < end && (*p == '+' || *p == '-'))
        p++;
    for (; p < end && g_ascii_isdigit(*p); p++)
        seen_digit = TRUE;
    if (p < end && *p == '.')
        for (p++; p < end && g_ascii_isdigit(*p); p++)
            seen_digit = TRUE;
    if (!seen_digit)
        return FALSE;
    if (p == end)
        return TRUE;
    if (*p != 'e' && *p != 'E')
        return FALSE;
    p++;
    if (p < end && (*p == '+' || *p == '-'))
        p++;
    if (p == end)
        return FALSE;
    for (; p < end; p++)
        if (!g_ascii_isdigit(*p))
            return FALSE;
    return TRUE;
}

static gboolean
text_is(const char *text, gsize n_bytes, const char *expected)
{
    return n_bytes == strlen(expected) && memcmp(text, expected, n_bytes) == 0;
}

#define EXACT_DIGITS (G_GUINT64_CONSTANT(1) << 53) /* a double has all integers up to here */
#define EXACT_POWER 22                             /* and 10 to this */

/* "[-+]digits[.digits]" of few digits: one division of two exact numbers, which rounds as strtod() does where a double is computed
 * as one. */
static gboolean
parse_short(const char *p, const char *end, double *ret)
{
    static const double powers[EXACT_POWER + 1] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    gboolean negative = p < end && *p == '-';
    guint64 digits = 0;
    guint n_digits = 0;
    guint scale = 0;
    gboolean fraction = FALSE;

    for (p += p < end && (*p == '-' || *p == '+') ? 1 : 0; p < end; p++) {
        if (*p == '.' && !fraction) {
            fraction = TRUE;
            continue;
        }
        if (!g_ascii_isdigit(*p) || digits >= EXACT_DIGITS / 10 || (fraction && scale == EXACT_POWER))
            return FALSE;
        digits = digits * 10 + (guint64) (*p - '0');
        scale += fraction ? 1 : 0;
        n_digits++;
    }
    if (n_digits == 0 || FLT_EVAL_METHOD != 0)
        return FALSE;
    *ret = (double) digits / powers[scale];
    if (negative)
        *ret = -*ret;
    return TRUE;
}

static gboolean
parse_real(QdXsdType type, const char *text, gsize n_bytes, QdNumber *ret)
{
    char small[64];
    g_autofree char *large = NULL;
    double value;

    if (parse_short(text, text + n_bytes, &value)) {
        /* as most are */
    } else if (text_is(text, n_bytes, "INF") || text_is(text, n_bytes, "+INF")) {
        value = HUGE_VAL;
    } else if (text_is(text, n_bytes, "-INF")) {
        value = -HUGE_VAL;
    } else if (text_is(text, n_bytes, "NaN")) {
        value = NAN;
    } else {
        if (!is_double(text, text + n_bytes))
            return FALSE;
        if (n_bytes >= sizeof small) {
            large = g_strndup(text, n_bytes);
        } else {
            memcpy(small, text, n_bytes);
            small[n_bytes] = '\0';
        }
        value = g_ascii_strtod(large != NULL ? large : small, NULL);
    }

    *ret = (QdNumber){ .type = type, .real = type == QD_XSD_FLOAT ? (double) (float) value : value };
    return TRUE;
}

gboolean
qd_number_parse(QdXsdType type, const char *text, gsize n_bytes, QdNumber *ret)
{
    if (qd_xsd_type_is_integer(type))
        return parse_integer(type, text, n_bytes, ret);
    if (type == QD_XSD_FLOAT || type == QD_XSD_DOUBLE)
        return parse_real(type, text, n_bytes, ret);
    if (type != QD_XSD_DECIMAL)
        return FALSE;

    ret->type = QD_XSD_DECIMAL;
    return qd_decimal_parse(text, n_bytes, &ret->decimal);
}

gboolean
qd_number_from_id(gint64 id, QdNumber *ret)
{
    guint tag = qd_term_id_get_tag(id);

    if (id >= 0)
        return FALSE;
    if (tag >= QD_TAG_INTEGER && tag <= QD_TAG_POSITIVE_INTEGER) {
        *ret = qd_number_from_int64(qd_term_id_get_payload(id));
        return TRUE;
    }
    if (tag == QD_TAG_DECIMAL) {
        *ret = (QdNumber){ .type = QD_XSD_DECIMAL,
                           .decimal = { .digits = qd_term_id_get_payload(id) >> 3, .scale = QD_TERM_ID_DECIMAL_DIGITS } };
        return TRUE;
    }
    return FALSE;
}

/* --- canonical forms ---------------------------------------------------------------------------------------------------- */

/* The fewest digits that read back: "d.ddde±xx". */
static void
put_shortest(double value, gboolean single, char *text, gint n_bytes)
{
    char format[] = "%.00e";
    gint n_max = single ? 8 : 16;

    for (gint n = single ? 5 : 14; n <= n_max; n++) {
        format[2] = (char) ('0' + n / 10);
        format[3] = (char) ('0' + n % 10);
        (void) g_ascii_formatd(text, n_bytes, format, value);
        if (single ? (float) g_ascii_strtod(text, NULL) == (float) value : g_ascii_strtod(text, NULL) == value)
            return;
    }
}

/* 1.25E-7 */
static gsize
format_real(double value, gboolean single, char *buffer)
{
    char text[QD_NUMBER_TEXT_BYTES];
    char *exponent;
    char *end;

    if (!isfinite(value))
        return (gsize) (stpcpy(buffer, isnan(value) ? "NaN" : value > 0 ? "INF" : "-INF") - buffer);

    put_shortest(value, single, text, sizeof text);
    exponent = strchr(text, 'e');
    end = exponent;
    while (end[-1] == '0' && end[-2] != '.')
        end--;
    memcpy(buffer, text, (gsize) (end - text));
    buffer += end - text;
    return (gsize) (end - text) + (gsize) g_snprintf(buffer, 8, "E%" G_GINT64_FORMAT, g_ascii_strtoll(exponent + 1, NULL, 10));
}

gsize
qd_number_format(const QdNumber *self, char buffer[QD_NUMBER_TEXT_BYTES])
{
    if (self->type == QD_XSD_FLOAT || self->type == QD_XSD_DOUBLE)
        return format_real(self->real, self->type == QD_XSD_FLOAT, buffer);
    return qd_decimal_format(&self->decimal, self->type == QD_XSD_DECIMAL, buffer);
}

gsize
qd_number_format_plain(const QdNumber *self, char buffer[QD_NUMBER_TEXT_BYTES])
{
    QdDecimal decimal = { .digits = 0 };

    if (self->type == QD_XSD_INTEGER || self->type == QD_XSD_DECIMAL)
        return qd_decimal_format(&self->decimal, FALSE, buffer);
    if (self->real == 0)
        return (gsize) (stpcpy(buffer, signbit(self->real) ? "-0" : "0") - buffer);
    if (fabs(self->real) < 1e-6 || fabs(self->real) >= 1e6 || !isfinite(self->real))
        return qd_number_format(self, buffer);
    if (self->type == QD_XSD_FLOAT) {
        (void) format_real(self->real, TRUE, buffer);
        (void) qd_decimal_from_double(g_ascii_strtod(buffer, NULL), &decimal);
    } else {
        (void) qd_decimal_from_double(self->real, &decimal);
    }
    return qd_decimal_format(&decimal, FALSE, buffer);
}

/* --- arithmetic -------------------------------------------------------------------------------------------------------- */

double
qd_number_to_double(const QdNumber *self)
{
    return self->type == QD_XSD_FLOAT || self->type == QD_XSD_DOUBLE ? self->real : qd_decimal_to_double(&self->decimal);
}

/* As the wider type of the two: the enum has them in the order of promotion but for the integers between. */
static QdXsdType
promote(const QdNumber *a, const QdNumber *b)
{
    if (a->type == QD_XSD_DOUBLE || b->type == QD_XSD_DOUBLE)
        return QD_XSD_DOUBLE;
    if (a->type == QD_XSD_FLOAT || b->type == QD_XSD_FLOAT)
        return QD_XSD_FLOAT;
    return a->type == QD_XSD_DECIMAL || b->type == QD_XSD_DECIMAL ? QD_XSD_DECIMAL : QD_XSD_INTEGER;
}

static double
to_real(const QdNumber *value, QdXsdType type)
{
    double real = qd_number_to_double(value);

    return type == QD_XSD_FLOAT ? (double) (float) real : real;
}

static double
compute_real(QdNumberOp op, double a, double b)
{
    switch (op) {
    case QD_NUMBER_ADD:
        return a + b;
    case QD_NUMBER_SUBTRACT:
        return a - b;
    case QD_NUMBER_MULTIPLY:
        return a * b;
    case QD_NUMBER_DIVIDE:
        return a / b;
    }
    g_assert_not_reached();
}

static gboolean
compute_decimal(QdNumberOp op, const QdDecimal *a, const QdDecimal *b, QdDecimal *ret)
{
    switch (op) {
    case QD_NUMBER_ADD:
        return qd_decimal_add(a, b, ret);
    case QD_NUMBER_SUBTRACT:
        return qd_decimal_subtract(a, b, ret);
    case QD_NUMBER_MULTIPLY:
        return qd_decimal_multiply(a, b, ret);
    case QD_NUMBER_DIVIDE:
        return qd_decimal_divide(a, b, ret);
    }
    g_assert_not_reached();
}

gboolean
qd_number_compute(QdNumberOp op, const QdNumber *a, const QdNumber *b, QdNumber *ret)
{
    QdXsdType type = promote(a, b);
    QdNumber result = { .type = type };

    if (type == QD_XSD_FLOAT || type == QD_XSD_DOUBLE) {
        result.real = compute_real(op, to_real(a, type), to_real(b, type));
        if (type == QD_XSD_FLOAT)
            result.real = (double) (float) result.real;
    } else {
        if (!compute_decimal(op, &a->decimal, &b->decimal, &result.decimal))
            return FALSE;
        if (op == QD_NUMBER_DIVIDE) /* of integers too: SPARQL 1.1 §17.3.1, op:numeric-divide */
            result.type = QD_XSD_DECIMAL;
    }
    *ret = result;
    return TRUE;
}

QdNumberRelation
qd_number_compare(const QdNumber *a, const QdNumber *b)
{
    QdXsdType type = promote(a, b);
    double x;
    double y;

    if (type == QD_XSD_INTEGER || type == QD_XSD_DECIMAL)
        return (QdNumberRelation) qd_decimal_compare(&a->decimal, &b->decimal);

    x = to_real(a, type);
    y = to_real(b, type);
    if (isnan(x) || isnan(y))
        return QD_NUMBER_UNORDERED;
    return (QdNumberRelation) ((x > y) - (x < y));
}

QdNumber
qd_number_negate(const QdNumber *self)
{
    QdNumber result = *self;

    if (self->type == QD_XSD_FLOAT || self->type == QD_XSD_DOUBLE)
        result.real = -self->real;
    else
        result.decimal.digits = -self->decimal.digits;
    return result;
}

static double
round_real(double value, QdNumberRounding rounding)
{
    switch (rounding) {
    case QD_NUMBER_ABS:
        return fabs(value);
    case QD_NUMBER_CEIL:
        return ceil(value);
    case QD_NUMBER_FLOOR:
        return floor(value);
    case QD_NUMBER_ROUND:
        /* floor(value + 0.5) would be 1 for 0.49999999999999994, and lose the sign of -0.2 */
        return value - floor(value) < 0.5 ? copysign(floor(value), value) : copysign(ceil(value), value);
    }
    g_assert_not_reached();
}

QdNumber
qd_number_round(const QdNumber *self, QdNumberRounding rounding)
{
    static const QdDecimalRounding modes[] = {
        [QD_NUMBER_ROUND] = QD_DECIMAL_ROUND_HALF_UP,
        [QD_NUMBER_CEIL] = QD_DECIMAL_CEIL,
        [QD_NUMBER_FLOOR] = QD_DECIMAL_FLOOR,
    };
    QdNumber result = *self;

    if (self->type == QD_XSD_FLOAT || self->type == QD_XSD_DOUBLE)
        result.real = round_real(self->real, rounding);
    else if (rounding != QD_NUMBER_ABS)
        result.decimal = qd_decimal_round(&self->decimal, modes[rounding]);
    else if (self->decimal.digits < 0)
        result.decimal.digits = -self->decimal.digits;
    return result;
}

gboolean
qd_number_cast(const QdNumber *self, QdXsdType type, QdNumber *ret)
{
    QdNumber result = { .type = type };

    if (type == QD_XSD_FLOAT || type == QD_XSD_DOUBLE) {
        result.real = to_real(self, type);
    } else {
        if (self->type == QD_XSD_FLOAT || self->type == QD_XSD_DOUBLE) {
            /* the whole part first: it is exact */
            if (!qd_decimal_from_double(type == QD_XSD_INTEGER ? trunc(self->real) : self->real, &result.decimal))
                return FALSE;
        } else {
            result.decimal = self->decimal;
        }
        if (type == QD_XSD_INTEGER)
            result.decimal = qd_decimal_round(&result.decimal, QD_DECIMAL_TRUNCATE);
    }
    *ret = result;
    return TRUE;
}

gboolean
qd_number_is_true(const QdNumber *self)
{
    if (self->type == QD_XSD_FLOAT || self->type == QD_XSD_DOUBLE)
        return self->real != 0 && !isnan(self->real);
    return self->decimal.digits != 0;
}

gboolean
qd_number_from_term(const QdTerm *term, double *ret_number)
{
    QdXsdType type = term->kind == QD_TERM_TYPED ? qd_xsd_type_from_iri(term->qualifier, term->n_qualifier) : QD_XSD_OTHER;
    QdNumber number;

    if (!qd_xsd_type_is_numeric(type) || !qd_number_parse(type, term->lexical, term->n_lexical, &number))
        return FALSE;

    *ret_number = qd_number_to_double(&number);
    return *ret_number == *ret_number;
}
