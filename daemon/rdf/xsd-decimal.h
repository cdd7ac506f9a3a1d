/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decimal numbers of up to 38 digits; integers are those without a fraction.
 *
 * Place: room rdf, pure. What does not fit is refused, never wrapped; only fractions are ever rounded, half away from zero.
 */
#pragma once

#include <glib.h>

#define QD_DECIMAL_DIGITS_MAX 38
/* Of a quotient, unless fewer are exact. */
#define QD_DECIMAL_QUOTIENT_DIGITS 18
/* Room for a sign, 39 digits, a point, leading zeros of a fraction and a NUL. */
#define QD_DECIMAL_TEXT_BYTES 48

/* digits · 10^-scale, |digits| < 10^38, scale ≤ 38 */
typedef struct QdDecimal {
    __int128 digits;
    guint scale;
} QdDecimal;

typedef enum QdDecimalRounding {
    QD_DECIMAL_ROUND_HALF_UP, /* towards positive infinity, as fn:round() */
    QD_DECIMAL_CEIL,
    QD_DECIMAL_FLOOR,
    QD_DECIMAL_TRUNCATE,
} QdDecimalRounding;

static inline QdDecimal
qd_decimal_from_int64(gint64 value)
{
    return (QdDecimal){ .digits = value };
}

/* qd_decimal_parse: xsd:decimal's lexical forms: sign, digits, point; FALSE for others and for more than 38 digits. */
gboolean qd_decimal_parse(const char *text, gsize n_bytes, QdDecimal *ret);

/* qd_decimal_format: shortest form; with @point integers end in ".0". Returns the number of bytes, without the NUL. */
gsize qd_decimal_format(const QdDecimal *self, gboolean point, char buffer[QD_DECIMAL_TEXT_BYTES]);

/* FALSE when the result has too many digits; for the quotient also when @b is 0. */
gboolean qd_decimal_add(const QdDecimal *a, const QdDecimal *b, QdDecimal *ret);
gboolean qd_decimal_subtract(const QdDecimal *a, const QdDecimal *b, QdDecimal *ret);
gboolean qd_decimal_multiply(const QdDecimal *a, const QdDecimal *b, QdDecimal *ret);
gboolean qd_decimal_divide(const QdDecimal *a, const QdDecimal *b, QdDecimal *ret);

/* -1, 0 or 1 */
gint qd_decimal_compare(const QdDecimal *a, const QdDecimal *b);

/* qd_decimal_round: to an integer. */
QdDecimal qd_decimal_round(const QdDecimal *self, QdDecimalRounding rounding);

double qd_decimal_to_double(const QdDecimal *self);

/* qd_decimal_from_double: the shortest decimal that reads back as @value; FALSE for INF, NaN and what is too large. */
gboolean qd_decimal_from_double(double value, QdDecimal *ret);

/* qd_decimal_to_int64: FALSE when it is no integer of 64 bits. */
gboolean qd_decimal_to_int64(const QdDecimal *self, gint64 *ret);
