/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The small pieces of lexical forms of dates, times and durations: digits, signs, fractions of seconds.
 *
 * Place: room rdf, pure; used by xsd-date-time.c and xsd-duration.c.
 */
#pragma once

#include <glib.h>

#define QD_XSD_FRACTION_DIGITS 12

typedef struct QdXsdScan {
    const char *p;
    const char *end;
} QdXsdScan;

static inline gboolean
qd_xsd_scan_char(QdXsdScan *scan, char c)
{
    if (scan->p >= scan->end || *scan->p != c)
        return FALSE;

    scan->p++;
    return TRUE;
}

/* Up to @n_max digits; their number. More digits after them stay. */
static inline guint
qd_xsd_scan_digits(QdXsdScan *scan, guint n_max, guint64 *ret_value)
{
    guint64 value = 0;
    guint n = 0;

    while (n < n_max && scan->p < scan->end && g_ascii_isdigit(*scan->p)) {
        value = value * 10 + (guint64) (*scan->p++ - '0');
        n++;
    }
    *ret_value = value;
    return n;
}

/* One digit or more, in picoseconds; what is finer is dropped. */
static inline gboolean
qd_xsd_scan_fraction(QdXsdScan *scan, guint64 *ret_picos)
{
    guint64 value;
    guint64 rest;
    guint n = qd_xsd_scan_digits(scan, QD_XSD_FRACTION_DIGITS, &value);

    if (n == 0)
        return FALSE;
    for (; n < QD_XSD_FRACTION_DIGITS; n++)
        value *= 10;
    while (qd_xsd_scan_digits(scan, QD_XSD_FRACTION_DIGITS, &rest) > 0)
        ;
    *ret_picos = value;
    return TRUE;
}

/* At least @min_digits digits. */
static inline char *
qd_xsd_put_digits(char *p, guint64 value, guint min_digits)
{
    char digits[20];
    guint n = 0;

    while (value > 0 || n < min_digits) {
        digits[n++] = (char) ('0' + value % 10);
        value /= 10;
    }
    while (n > 0)
        *p++ = digits[--n];
    return p;
}

/* Seconds with their fraction, without zeros at its end. */
static inline char *
qd_xsd_put_seconds(char *p, guint64 picos, guint min_digits)
{
    guint64 fraction = picos % G_GUINT64_CONSTANT(1000000000000);

    p = qd_xsd_put_digits(p, picos / G_GUINT64_CONSTANT(1000000000000), min_digits);
    if (fraction == 0)
        return p;
    *p++ = '.';
    p = qd_xsd_put_digits(p, fraction, QD_XSD_FRACTION_DIGITS);
    while (p[-1] == '0')
        p--;
    return p;
}
