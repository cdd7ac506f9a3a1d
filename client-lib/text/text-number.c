/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers are written without the C locale in the way. Short decimals, which is what tables hold, never reach printf.
 */
#include "client-lib/text/text-number.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static char *
put_uint64(char *p, uint64_t value)
{
    char digits[20];
    guint n = 0;

    do {
        digits[n++] = (char) ('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (n > 0)
        *p++ = digits[--n];
    return p;
}

char *
qw_text_put_int64(char *p, int64_t value)
{
    if (value < 0) {
        *p++ = '-';
        return put_uint64(p, -(uint64_t) value);
    }

    return put_uint64(p, (uint64_t) value);
}

/*
 * n / 10^k with n < 10^15 and both exact in a double is correctly rounded; so is reading the decimal back (Clinger's fast
 * path). So when the quotient is the value, these digits are the shortest. %.15g would give the same ones.
 */
static char *
put_short_decimal(char *p, double value)
{
    static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8 };
    double magnitude = fabs(value);

    if (magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e15))
        return NULL;

    for (guint k = 0; k < G_N_ELEMENTS(powers); k++) {
        double scaled = nearbyint(magnitude * powers[k]);
        uint64_t n = 0;
        uint64_t power = (uint64_t) powers[k];

        if (scaled >= 1e15)
            return NULL;
        if (scaled / powers[k] != magnitude)
            continue;
        n = (uint64_t) scaled;
        if (signbit(value))
            *p++ = '-';
        p = put_uint64(p, n / power);
        *p++ = '.';
        if (k == 0)
            *p++ = '0';
        for (power /= 10; power > 0; power /= 10)
            *p++ = (char) ('0' + n / power % 10);
        return p;
    }

    return NULL;
}

char *
qw_text_put_double(char *p, double value)
{
    char buffer[QW_TEXT_NUMBER_BYTES];
    char *end = put_short_decimal(p, value);
    size_t n = 0;

    if (end != NULL)
        return end;
    if (isinf(value))
        return value > 0 ? (char *) memcpy(p, "9e999", 5) + 5 : (char *) memcpy(p, "-9e999", 6) + 6;

    for (guint digits = fabs(value) < 0x1p-1022 ? 1 : 15; digits <= 17; digits++) {
        const char formats[] = { '%', '.', (char) (digits / 10 + '0'), (char) (digits % 10 + '0'), 'g', 0 };

        g_ascii_formatd(buffer, sizeof buffer, formats, value);
        if (g_ascii_strtod(buffer, NULL) == value)
            break;
    }
    n = strlen(buffer);
    memcpy(p, buffer, n);
    p += n;
    if (strpbrk(buffer, ".e") == NULL) {
        memcpy(p, ".0", 2);
        p += 2;
    }
    return p;
}

static size_t
span_digits(const char *text, size_t n_bytes, size_t i)
{
    while (i < n_bytes && g_ascii_isdigit(text[i]))
        i++;
    return i;
}

/* -?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]+)?   and whether it is an integer */
static bool
is_number(const char *text, size_t n_bytes, bool *ret_integer)
{
    size_t start = n_bytes > 0 && text[0] == '-' ? 1 : 0;
    size_t i = span_digits(text, n_bytes, start);
    size_t next = 0;

    if (i == start || (text[start] == '0' && i > start + 1))
        return false;
    *ret_integer = i == n_bytes;
    if (i < n_bytes && text[i] == '.') {
        next = span_digits(text, n_bytes, i + 1);
        if (next == i + 1)
            return false;
        i = next;
    }
    if (i < n_bytes && text[i] == 'e') {
        i++;
        if (i < n_bytes && (text[i] == '+' || text[i] == '-'))
            i++;
        next = span_digits(text, n_bytes, i);
        if (next == i)
            return false;
        i = next;
    }
    return i == n_bytes;
}

bool
qw_text_parse_number(const char *text, size_t n_bytes, QwValue *ret)
{
    char buffer[QW_TEXT_NUMBER_BYTES + 1];
    char canonical[QW_TEXT_NUMBER_BYTES];
    bool integer = false;
    char *end = NULL;
    QwValue value = { 0 };

    if (n_bytes >= QW_TEXT_NUMBER_BYTES || !is_number(text, n_bytes, &integer))
        return false;

    if (integer && n_bytes <= 18) { /* cannot overflow; only "-0" is not canonical */
        bool negative = text[0] == '-';

        if (negative && text[1] == '0')
            return false;
        value.type = QW_TYPE_INTEGER;
        for (size_t i = negative ? 1 : 0; i < n_bytes; i++)
            value.integer = value.integer * 10 + (text[i] - '0');
        value.integer = negative ? -value.integer : value.integer;
        *ret = value;
        return true;
    }

    memcpy(buffer, text, n_bytes);
    buffer[n_bytes] = 0;
    if (integer) {
        value.type = QW_TYPE_INTEGER;
        value.integer = g_ascii_strtoll(buffer, NULL, 10);
        end = qw_text_put_int64(canonical, value.integer);
    } else {
        value.type = QW_TYPE_FLOAT;
        value.real = g_ascii_strtod(buffer, NULL);
        end = qw_text_put_double(canonical, value.real);
    }
    if ((size_t) (end - canonical) != n_bytes || memcmp(canonical, text, n_bytes) != 0)
        return false;

    *ret = value;
    return true;
}
