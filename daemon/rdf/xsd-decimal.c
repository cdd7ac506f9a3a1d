/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decimals on 128-bit integers.
 */
#include "daemon/rdf/xsd-decimal.h"

#include <math.h>
#include <string.h>

typedef unsigned __int128 Wide;

#define TEN_TO_19 ((Wide) G_GUINT64_CONSTANT(10000000000000000000))
#define BOUND (TEN_TO_19 * TEN_TO_19) /* 10^38 */

static Wide
power_of_ten(guint exponent)
{
    Wide power = 1;

    while (exponent-- > 0)
        power *= 10;
    return power;
}

static inline Wide
size_of(__int128 value)
{
    return value < 0 ? -(Wide) value : (Wide) value;
}

static gboolean
set(QdDecimal *ret, gboolean negative, Wide size, guint scale)
{
    if (size >= BOUND)
        return FALSE;

    ret->digits = negative ? -(__int128) size : (__int128) size;
    ret->scale = scale;
    return TRUE;
}

/* Without zeros at the end of the fraction. */
static QdDecimal
trim(QdDecimal value)
{
    while (value.scale > 0 && value.digits % 10 == 0) {
        value.digits /= 10;
        value.scale--;
    }
    return value;
}

gboolean
qd_decimal_parse(const char *text, gsize n_bytes, QdDecimal *ret)
{
    const char *p = text;
    const char *end = text + n_bytes;
    gboolean negative = p < end && *p == '-';
    gboolean seen_digit = FALSE;
    gboolean fraction = FALSE;
    Wide size = 0;
    guint scale = 0;
    guint n_zeros = 0; /* of the fraction, which count only when another digit follows */

    if (p < end && (*p == '-' || *p == '+'))
        p++;
    for (; p < end; p++) {
        if (*p == '.' && !fraction) {
            fraction = TRUE;
            continue;
        }
        if (!g_ascii_isdigit(*p))
            return FALSE;
        seen_digit = TRUE;
        if (fraction && *p == '0') {
            n_zeros++;
            continue;
        }
        for (; n_zeros > 0 && size < BOUND && scale <= QD_DECIMAL_DIGITS_MAX; n_zeros--, scale++)
            size *= 10;
        if (size >= BOUND || n_zeros > 0)
            return FALSE;
        size = size * 10 + (Wide) (*p - '0');
        scale += fraction ? 1 : 0;
        if (size >= BOUND || scale > QD_DECIMAL_DIGITS_MAX)
            return FALSE;
    }

    return seen_digit && set(ret, negative, size, scale);
}

gsize
qd_decimal_format(const QdDecimal *self, gboolean point, char buffer[QD_DECIMAL_TEXT_BYTES])
{
    QdDecimal value = trim(*self);
    Wide size = size_of(value.digits);
    char digits[QD_DECIMAL_TEXT_BYTES];
    guint n = 0;
    char *p = buffer;

    while (size > 0 || n <= value.scale) {
        digits[n++] = (char) ('0' + (guint) (size % 10));
        size /= 10;
    }
    if (value.digits < 0)
        *p++ = '-';
    while (n > value.scale)
        *p++ = digits[--n];
    if (value.scale > 0 || point)
        *p++ = '.';
    if (value.scale == 0 && point)
        *p++ = '0';
    while (n > 0)
        *p++ = digits[--n];
    *p = '\0';
    return (gsize) (p - buffer);
}

/* Both to one scale; when that has no room, the longer fraction is cut. */
static void
align(QdDecimal *a, QdDecimal *b)
{
    QdDecimal *low = a->scale < b->scale ? a : b;
    QdDecimal *high = a->scale < b->scale ? b : a;

    while (low->scale < high->scale) {
        if (size_of(low->digits) < BOUND / 10) {
            low->digits *= 10;
            low->scale++;
        } else {
            high->digits /= 10;
            high->scale--;
        }
    }
}

/* Without the last digit, rounded half away from zero. */
static __int128
drop_digit(__int128 digits)
{
    int last = (int) (digits % 10);

    return digits / 10 + (last >= 5) - (last <= -5);
}

/* Rounds fractions away until what has 128 bits has 38 digits. */
static gboolean
fit(__int128 digits, guint scale, QdDecimal *ret)
{
    while (size_of(digits) >= BOUND && scale > 0) {
        digits = drop_digit(digits);
        scale--;
    }
    return set(ret, digits < 0, size_of(digits), scale);
}

gboolean
qd_decimal_add(const QdDecimal *a, const QdDecimal *b, QdDecimal *ret)
{
    QdDecimal x = *a;
    QdDecimal y = *b;
    __int128 sum;

    align(&x, &y);
    if (!__builtin_add_overflow(x.digits, y.digits, &sum)) /* 2 · 10^38 does not fit in 127 bits */
        return fit(sum, x.scale, ret);
    if (x.scale == 0)
        return FALSE;
    return fit(drop_digit(x.digits) + drop_digit(y.digits), x.scale - 1, ret);
}

gboolean
qd_decimal_subtract(const QdDecimal *a, const QdDecimal *b, QdDecimal *ret)
{
    QdDecimal y = { .digits = -b->digits, .scale = b->scale };

    return qd_decimal_add(a, &y, ret);
}

gboolean
qd_decimal_multiply(const QdDecimal *a, const QdDecimal *b, QdDecimal *ret)
{
    QdDecimal x = *a;
    QdDecimal y = *b;
    __int128 product;

    if (__builtin_mul_overflow(x.digits, y.digits, &product) || x.scale + y.scale > QD_DECIMAL_DIGITS_MAX) {
        x = trim(x);
        y = trim(y);
    }
    while (__builtin_mul_overflow(x.digits, y.digits, &product) || x.scale + y.scale > QD_DECIMAL_DIGITS_MAX) {
        QdDecimal *longer = size_of(x.digits) > size_of(y.digits) ? &x : &y;

        if (longer->scale == 0)
            longer = longer == &x ? &y : &x;
        if (longer->scale == 0)
            return FALSE;
        longer->digits /= 10;
        longer->scale--;
    }
    return fit(product, x.scale + y.scale, ret);
}

/* The next digit of rest / divisor, without leaving 128 bits: ten times by addition. */
static guint
next_digit(Wide *rest, Wide divisor)
{
    Wide sum = 0;
    guint digit = 0;

    for (guint i = 0; i < 10; i++) {
        sum += *rest;
        if (sum >= divisor) {
            sum -= divisor;
            digit++;
        }
    }
    *rest = sum;
    return digit;
}

gboolean
qd_decimal_divide(const QdDecimal *a, const QdDecimal *b, QdDecimal *ret)
{
    QdDecimal x = *a;
    QdDecimal y = *b;
    Wide divisor;
    Wide rest;
    Wide quotient;
    guint scale = 0;

    if (y.digits == 0)
        return FALSE;
    align(&x, &y);
    divisor = size_of(y.digits);
    if (divisor == 0)
        return FALSE;
    quotient = size_of(x.digits) / divisor;
    rest = size_of(x.digits) % divisor;
    while (rest > 0 && scale < QD_DECIMAL_QUOTIENT_DIGITS && quotient < BOUND / 10) {
        quotient = quotient * 10 + next_digit(&rest, divisor);
        scale++;
    }
    if (rest > 0 && rest >= divisor - rest)
        quotient++;
    return set(ret, (x.digits < 0) != (y.digits < 0), quotient, scale);
}

gint
qd_decimal_compare(const QdDecimal *a, const QdDecimal *b)
{
    __int128 x = a->digits;
    __int128 y = b->digits;
    Wide unit_x;
    Wide unit_y;

    if (a->scale == b->scale)
        return (x > y) - (x < y);
    if ((x < 0) != (y < 0))
        return x < 0 ? -1 : 1;

    /* whole parts first, then the fractions at one scale, each below 10^38 */
    unit_x = power_of_ten(a->scale);
    unit_y = power_of_ten(b->scale);
    if (x / (__int128) unit_x != y / (__int128) unit_y)
        return x / (__int128) unit_x < y / (__int128) unit_y ? -1 : 1;
    x = x % (__int128) unit_x * (__int128) power_of_ten(a->scale < b->scale ? b->scale - a->scale : 0);
    y = y % (__int128) unit_y * (__int128) power_of_ten(b->scale < a->scale ? a->scale - b->scale : 0);
    return (x > y) - (x < y);
}

QdDecimal
qd_decimal_round(const QdDecimal *self, QdDecimalRounding rounding)
{
    __int128 unit = (__int128) power_of_ten(self->scale);
    __int128 whole = self->digits / unit;
    __int128 rest = self->digits % unit;

    if (rest < 0) {
        rest += unit;
        whole--;
    }
    switch (rounding) {
    case QD_DECIMAL_FLOOR:
        break;
    case QD_DECIMAL_CEIL:
        whole += rest > 0 ? 1 : 0;
        break;
    case QD_DECIMAL_ROUND_HALF_UP:
        whole += rest >= unit - rest ? 1 : 0;
        break;
    case QD_DECIMAL_TRUNCATE:
        whole += rest > 0 && self->digits < 0 ? 1 : 0;
        break;
    }
    return (QdDecimal){ .digits = whole };
}

double
qd_decimal_to_double(const QdDecimal *self)
{
    char text[QD_DECIMAL_TEXT_BYTES];

    /* exact below 2^53 and 10^22: one correctly rounded operation */
    if (size_of(self->digits) < (Wide) 1 << 53 && self->scale <= 22)
        return (double) self->digits / (double) power_of_ten(self->scale);

    (void) qd_decimal_format(self, FALSE, text);
    return g_ascii_strtod(text, NULL);
}

gboolean
qd_decimal_from_double(double value, QdDecimal *ret)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    char *exponent = NULL;
    Wide size = 0;
    gint64 scale = 0;
    gboolean fraction = FALSE;

    if (!isfinite(value))
        return FALSE;
    for (gint n = 14; n <= 16; n++) {
        const char *formats[] = { "%.14e", "%.15e", "%.16e" };

        (void) g_ascii_formatd(text, sizeof text, formats[n - 14], value);
        if (g_ascii_strtod(text, NULL) == value)
            break;
    }
    exponent = strchr(text, 'e');
    for (const char *p = text; p < exponent; p++) {
        if (*p == '.')
            fraction = TRUE;
        if (!g_ascii_isdigit(*p))
            continue;
        size = size * 10 + (Wide) (*p - '0');
        scale += fraction ? 1 : 0;
    }
    scale -= g_ascii_strtoll(exponent + 1, NULL, 10);
    for (; size > 0 && size % 10 == 0; scale--)
        size /= 10;
    for (; scale > QD_DECIMAL_DIGITS_MAX && size > 0; scale--)
        size /= 10;
    for (; scale < 0 && size > 0; scale++) {
        if (size >= BOUND / 10)
            return FALSE;
        size *= 10;
    }
    return set(ret, value < 0, size, size == 0 ? 0 : (guint) scale);
}

gboolean
qd_decimal_to_int64(const QdDecimal *self, gint64 *ret)
{
    QdDecimal value = trim(*self);

    if (value.scale > 0 || value.digits < G_MININT64 || value.digits > G_MAXINT64)
        return FALSE;

    *ret = (gint64) value.digits;
    return TRUE;
}
