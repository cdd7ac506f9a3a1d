/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Durations: xsd-date-time.h declares them. XML Schema 1.1 part 2 §3.3.6, §3.4.26, §3.4.27.
 */
#include <string.h>

#include "daemon/rdf/xsd-calendar.h"
#include "daemon/rdf/xsd-date-time.h"
#include "daemon/rdf/xsd-scan.h"

#define DIGITS_MAX 12 /* of each part */

typedef struct Parts {
    guint64 months;
    __int128 picos;
} Parts;

/* The unit's letter after the digits decides; units come in order, each at most once. */
static gboolean
scan_parts(QdXsdScan *scan, const char *letters, const gint64 *seconds, const guint *months, Parts *parts, guint *n_found)
{
    guint next = 0;

    while (scan->p < scan->end && g_ascii_isdigit(*scan->p)) {
        guint64 value;
        guint64 fraction = 0;
        gboolean has_fraction = FALSE;

        (void) qd_xsd_scan_digits(scan, DIGITS_MAX, &value);
        if (qd_xsd_scan_char(scan, '.')) {
            has_fraction = TRUE;
            if (!qd_xsd_scan_fraction(scan, &fraction))
                return FALSE;
        }
        while (letters[next] != '\0' && !(scan->p < scan->end && *scan->p == letters[next]))
            next++;
        if (letters[next] == '\0' || (has_fraction && letters[next] != 'S'))
            return FALSE;
        scan->p++;
        parts->months += value * months[next];
        parts->picos += (__int128) value * seconds[next] * QD_PICOS_PER_SECOND + fraction;
        next++;
        (*n_found)++;
    }
    return TRUE;
}

static gboolean
has_letter(const char *p, const char *end, const char *letters)
{
    for (; p < end; p++)
        if (strchr(letters, *p) != NULL)
            return TRUE;
    return FALSE;
}

gboolean
qd_duration_parse(QdXsdType type, const char *text, gsize n_bytes, QdDuration *ret)
{
    static const gint64 day_seconds[] = { 0, 0, QD_SECONDS_PER_DAY };
    static const guint day_months[] = { 12, 1, 0 };
    static const gint64 time_seconds[] = { 3600, 60, 1 };
    static const guint time_months[] = { 0, 0, 0 };
    QdXsdScan scan = { text, text + n_bytes };
    gboolean negative = qd_xsd_scan_char(&scan, '-');
    Parts parts = { 0 };
    guint n_days = 0;
    guint n_times = 0;

    if (!qd_xsd_scan_char(&scan, 'P') || !scan_parts(&scan, "YMD", day_seconds, day_months, &parts, &n_days))
        return FALSE;
    if ((type == QD_XSD_DAY_TIME_DURATION && has_letter(text, scan.p, "YM")) ||
        (type == QD_XSD_YEAR_MONTH_DURATION && has_letter(text, scan.p, "D")))
        return FALSE;
    if (qd_xsd_scan_char(&scan, 'T')) {
        if (type == QD_XSD_YEAR_MONTH_DURATION || !scan_parts(&scan, "HMS", time_seconds, time_months, &parts, &n_times) ||
            n_times == 0)
            return FALSE;
    }
    if (scan.p != scan.end || n_days + n_times == 0)
        return FALSE;

    *ret = (QdDuration){ .type = type,
                         .months = negative ? -(gint64) parts.months : (gint64) parts.months,
                         .picos = negative ? -parts.picos : parts.picos };
    return TRUE;
}

static char *
put_part(char *p, guint64 value, char unit)
{
    if (value == 0)
        return p;

    p = qd_xsd_put_digits(p, value, 1);
    *p++ = unit;
    return p;
}

gsize
qd_duration_format(const QdDuration *self, char buffer[QD_DATE_TIME_TEXT_BYTES])
{
    guint64 months = (guint64) ABS(self->months);
    unsigned __int128 picos = (unsigned __int128) (self->picos < 0 ? -self->picos : self->picos);
    guint64 seconds = (guint64) (picos / QD_PICOS_PER_SECOND);
    guint64 rest = (guint64) (picos % (60 * (unsigned __int128) QD_PICOS_PER_SECOND));
    char *p = buffer;

    if (self->months < 0 || self->picos < 0)
        *p++ = '-';
    *p++ = 'P';
    p = put_part(p, months / 12, 'Y');
    p = put_part(p, months % 12, 'M');
    p = put_part(p, seconds / QD_SECONDS_PER_DAY, 'D');
    if (seconds % QD_SECONDS_PER_DAY != 0 || rest != 0)
        *p++ = 'T';
    p = put_part(p, seconds / 3600 % 24, 'H');
    p = put_part(p, seconds / 60 % 60, 'M');
    if (rest != 0) {
        p = qd_xsd_put_seconds(p, rest, 1);
        *p++ = 'S';
    }
    if (p[-1] == 'P') {
        const char *zero = self->type == QD_XSD_YEAR_MONTH_DURATION ? "0M" : "T0S";

        while (*zero != '\0')
            *p++ = *zero++;
    }
    *p = '\0';
    return (gsize) (p - buffer);
}

QdTimeRelation
qd_duration_compare(const QdDuration *a, const QdDuration *b)
{
    if (a->months == b->months && a->picos == b->picos)
        return QD_TIME_EQUAL;
    if (a->months == b->months)
        return a->picos < b->picos ? QD_TIME_LESS : QD_TIME_GREATER;
    if (a->picos == b->picos)
        return a->months < b->months ? QD_TIME_LESS : QD_TIME_GREATER;
    return QD_TIME_UNEQUAL;
}
