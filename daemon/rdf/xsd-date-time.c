/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading, writing, comparing and casting points in time. XML Schema 1.1 part 2 §3.3.7–3.3.14 and appendix E.
 */
#include "daemon/rdf/xsd-date-time.h"

#include "daemon/rdf/term-id.h"
#include "daemon/rdf/xsd-calendar.h"
#include "daemon/rdf/xsd-scan.h"

#define PICOS_PER_MINUTE (60 * (__int128) QD_PICOS_PER_SECOND)
#define PICOS_PER_DAY (1440 * PICOS_PER_MINUTE)
#define YEAR_MAX 999999999

enum { HAS_YEAR = 1, HAS_MONTH = 2, HAS_DAY = 4, HAS_TIME = 8 };

static const guint8 parts[QD_N_XSD_TYPES] = {
    [QD_XSD_DATE_TIME] = HAS_YEAR | HAS_MONTH | HAS_DAY | HAS_TIME,
    [QD_XSD_DATE_TIME_STAMP] = HAS_YEAR | HAS_MONTH | HAS_DAY | HAS_TIME,
    [QD_XSD_DATE] = HAS_YEAR | HAS_MONTH | HAS_DAY,
    [QD_XSD_TIME] = HAS_TIME,
    [QD_XSD_G_YEAR] = HAS_YEAR,
    [QD_XSD_G_YEAR_MONTH] = HAS_YEAR | HAS_MONTH,
    [QD_XSD_G_MONTH] = HAS_MONTH,
    [QD_XSD_G_MONTH_DAY] = HAS_MONTH | HAS_DAY,
    [QD_XSD_G_DAY] = HAS_DAY,
};

/* --- reading ------------------------------------------------------------------------------------------------------------ */

/* -?[1-9][0-9]{4,8} or [0-9]{4} */
static gboolean
scan_year(QdXsdScan *scan, gint64 *ret_year)
{
    gboolean negative = qd_xsd_scan_char(scan, '-');
    const char *start = scan->p;
    guint64 value;
    guint n = qd_xsd_scan_digits(scan, 9, &value);

    if (n < 4 || (n > 4 && *start == '0'))
        return FALSE;

    *ret_year = negative ? -(gint64) value : (gint64) value;
    return TRUE;
}

static gboolean
scan_two(QdXsdScan *scan, guint *ret_value)
{
    guint64 value;

    if (qd_xsd_scan_digits(scan, 2, &value) != 2)
        return FALSE;

    *ret_value = (guint) value;
    return TRUE;
}

/* hh:mm:ss(.s+)?, 24:00:00 too: the day after is the caller's sum. */
static gboolean
scan_time(QdXsdScan *scan, __int128 *ret_picos)
{
    guint hours;
    guint minutes;
    guint seconds;
    guint64 fraction = 0;

    if (!scan_two(scan, &hours) || !qd_xsd_scan_char(scan, ':') || !scan_two(scan, &minutes) || !qd_xsd_scan_char(scan, ':') ||
        !scan_two(scan, &seconds))
        return FALSE;
    if (qd_xsd_scan_char(scan, '.') && !qd_xsd_scan_fraction(scan, &fraction))
        return FALSE;
    if (minutes > 59 || seconds > 59 || hours > 24 || (hours == 24 && (minutes > 0 || seconds > 0 || fraction > 0)))
        return FALSE;

    *ret_picos = (__int128) (hours * 3600 + minutes * 60 + seconds) * QD_PICOS_PER_SECOND + fraction;
    return TRUE;
}

static gboolean
scan_zone(QdXsdScan *scan, gint *ret_minutes)
{
    gboolean negative;
    guint hours;
    guint minutes;

    *ret_minutes = QD_DATE_TIME_NO_ZONE;
    if (scan->p == scan->end)
        return TRUE;
    if (qd_xsd_scan_char(scan, 'Z')) {
        *ret_minutes = 0;
        return scan->p == scan->end;
    }
    negative = qd_xsd_scan_char(scan, '-');
    if (!negative && !qd_xsd_scan_char(scan, '+'))
        return FALSE;
    if (!scan_two(scan, &hours) || !qd_xsd_scan_char(scan, ':') || !scan_two(scan, &minutes) || minutes > 59 ||
        hours * 60 + minutes > QD_ZONE_MINUTES_MAX)
        return FALSE;

    *ret_minutes = (negative ? -1 : 1) * (gint) (hours * 60 + minutes);
    return scan->p == scan->end;
}

/* YYYY-MM-DD, or what the type has of it: a missing year or month leaves its dash. */
static gboolean
scan_date(QdXsdScan *scan, guint has, gint64 *ret_days)
{
    gint64 year = 1972;
    guint month = 12;
    guint day = 31;

    if ((has & HAS_YEAR) ? !scan_year(scan, &year) : !qd_xsd_scan_char(scan, '-'))
        return FALSE;
    if ((has & HAS_MONTH) && !(qd_xsd_scan_char(scan, '-') && scan_two(scan, &month)))
        return FALSE;
    if (!(has & HAS_MONTH) && (has & HAS_DAY) && !qd_xsd_scan_char(scan, '-'))
        return FALSE;
    if ((has & HAS_DAY) && !(qd_xsd_scan_char(scan, '-') && scan_two(scan, &day)))
        return FALSE;
    if (month < 1 || month > 12)
        return FALSE;
    if (!(has & HAS_DAY))
        day = (has & HAS_MONTH) ? qd_calendar_get_month_days(year, month) : 31;
    if (day < 1 || day > qd_calendar_get_month_days(year, month))
        return FALSE;

    *ret_days = qd_calendar_to_days(year, month, day);
    return TRUE;
}

gboolean
qd_date_time_parse(QdXsdType type, const char *text, gsize n_bytes, QdDateTime *ret)
{
    QdXsdScan scan = { text, text + n_bytes };
    guint has = parts[type];
    gint64 days = qd_calendar_to_days(1972, 12, 31);
    __int128 picos = 0;
    gint zone;

    if ((has & (HAS_YEAR | HAS_MONTH | HAS_DAY)) && !scan_date(&scan, has, &days))
        return FALSE;
    if ((has & HAS_TIME) && (has & HAS_DAY) && !qd_xsd_scan_char(&scan, 'T'))
        return FALSE;
    if ((has & HAS_TIME) && !scan_time(&scan, &picos))
        return FALSE;
    if (!scan_zone(&scan, &zone) || (type == QD_XSD_DATE_TIME_STAMP && zone == QD_DATE_TIME_NO_ZONE))
        return FALSE;
    if (type == QD_XSD_TIME)
        picos %= PICOS_PER_DAY;

    *ret = (QdDateTime){ .type = type, .local_picos = days * PICOS_PER_DAY + picos, .zone_minutes = zone };
    return TRUE;
}

gboolean
qd_date_time_from_id(gint64 id, QdDateTime *ret)
{
    gint64 payload = qd_term_id_get_payload(id);
    guint tag = qd_term_id_get_tag(id);
    gint zone;

    if (id >= 0 || tag < QD_TAG_DATE || tag > QD_TAG_DATE_TIME_ZONE)
        return FALSE;

    if (tag == QD_TAG_DATE_TIME_ZONE) {
        zone = (gint) (payload & 2047) - 1024;
        *ret = (QdDateTime){ .type = QD_XSD_DATE_TIME,
                             .local_picos = (__int128) (payload >> 12) * (QD_PICOS_PER_SECOND / 1000) + zone * PICOS_PER_MINUTE,
                             .zone_minutes = zone };
        return TRUE;
    }
    zone = tag == QD_TAG_DATE_Z || tag == QD_TAG_DATE_TIME_Z ? 0 : QD_DATE_TIME_NO_ZONE;
    *ret = (QdDateTime){ .type = tag == QD_TAG_DATE || tag == QD_TAG_DATE_Z ? QD_XSD_DATE : QD_XSD_DATE_TIME,
                         .local_picos = (__int128) (payload >> 3) * QD_PICOS_PER_USEC,
                         .zone_minutes = zone };
    return TRUE;
}

/* --- writing ------------------------------------------------------------------------------------------------------------ */

void
qd_date_time_get_fields(const QdDateTime *self, QdDateTimeFields *ret)
{
    __int128 days = self->local_picos / PICOS_PER_DAY - (self->local_picos % PICOS_PER_DAY < 0 ? 1 : 0);
    __int128 rest = self->local_picos - days * PICOS_PER_DAY;

    qd_calendar_from_days((gint64) days, &ret->year, &ret->month, &ret->day);
    ret->hour = (guint) (rest / (60 * PICOS_PER_MINUTE));
    ret->minute = (guint) (rest / PICOS_PER_MINUTE % 60);
    ret->picos = (guint64) (rest % PICOS_PER_MINUTE);
}

gsize
qd_date_time_format(const QdDateTime *self, char buffer[QD_DATE_TIME_TEXT_BYTES])
{
    guint has = parts[self->type];
    QdDateTimeFields fields;
    char *p = buffer;

    qd_date_time_get_fields(self, &fields);
    if (has & HAS_YEAR) {
        if (fields.year < 0)
            *p++ = '-';
        p = qd_xsd_put_digits(p, (guint64) ABS(fields.year), 4);
    } else if (has & (HAS_MONTH | HAS_DAY)) {
        *p++ = '-';
    }
    if (has & HAS_MONTH) {
        *p++ = '-';
        p = qd_xsd_put_digits(p, fields.month, 2);
    }
    if (has & HAS_DAY) {
        if (!(has & HAS_MONTH))
            *p++ = '-';
        *p++ = '-';
        p = qd_xsd_put_digits(p, fields.day, 2);
    }
    if ((has & HAS_DAY) && (has & HAS_TIME))
        *p++ = 'T';
    if (has & HAS_TIME) {
        p = qd_xsd_put_digits(p, fields.hour, 2);
        *p++ = ':';
        p = qd_xsd_put_digits(p, fields.minute, 2);
        *p++ = ':';
        p = qd_xsd_put_seconds(p, fields.picos, 2);
    }
    if (self->zone_minutes == 0) {
        *p++ = 'Z';
    } else if (self->zone_minutes != QD_DATE_TIME_NO_ZONE) {
        *p++ = self->zone_minutes < 0 ? '-' : '+';
        p = qd_xsd_put_digits(p, (guint64) ABS(self->zone_minutes) / 60, 2);
        *p++ = ':';
        p = qd_xsd_put_digits(p, (guint64) ABS(self->zone_minutes) % 60, 2);
    }
    *p = '\0';
    return (gsize) (p - buffer);
}

/* --- comparing and casting ----------------------------------------------------------------------------------------------- */

__int128
qd_date_time_get_utc(const QdDateTime *self)
{
    return self->zone_minutes == QD_DATE_TIME_NO_ZONE ? self->local_picos
                                                      : self->local_picos - self->zone_minutes * PICOS_PER_MINUTE;
}

QdTimeRelation
qd_date_time_compare(const QdDateTime *a, const QdDateTime *b)
{
    __int128 x = qd_date_time_get_utc(a);
    __int128 y = qd_date_time_get_utc(b);
    __int128 doubt = QD_ZONE_MINUTES_MAX * PICOS_PER_MINUTE;

    if ((a->zone_minutes == QD_DATE_TIME_NO_ZONE) != (b->zone_minutes == QD_DATE_TIME_NO_ZONE)) {
        /* the one without could be in any zone */
        if (x + doubt < y)
            return QD_TIME_LESS;
        return x > y + doubt ? QD_TIME_GREATER : QD_TIME_INDETERMINATE;
    }
    return x < y ? QD_TIME_LESS : x > y ? QD_TIME_GREATER : QD_TIME_EQUAL;
}

static __int128
start_of_day(__int128 picos)
{
    __int128 rest = picos % PICOS_PER_DAY;

    return picos - (rest < 0 ? rest + PICOS_PER_DAY : rest);
}

gboolean
qd_date_time_cast(const QdDateTime *self, QdXsdType type, QdDateTime *ret)
{
    gboolean stamp = self->type == QD_XSD_DATE_TIME || self->type == QD_XSD_DATE_TIME_STAMP;
    QdDateTime result = *self;

    result.type = type;
    if (self->type == type || (type == QD_XSD_DATE_TIME && (stamp || self->type == QD_XSD_DATE))) {
        *ret = result;
        return TRUE;
    }
    if (!stamp || (type != QD_XSD_DATE && type != QD_XSD_TIME))
        return FALSE;

    result.local_picos = start_of_day(self->local_picos);
    if (type == QD_XSD_TIME)
        result.local_picos = self->local_picos - result.local_picos + qd_calendar_to_days(1972, 12, 31) * PICOS_PER_DAY;
    *ret = result;
    return TRUE;
}

/* XML Schema appendix E: months first, the day pinned to the month's last, then the rest. Months are added to no time of day (XPath
 * and XQuery Functions and Operators 3.1, 9.7). */
gboolean
qd_date_time_add(const QdDateTime *self, const QdDuration *duration, gint sign, QdDateTime *ret)
{
    QdDateTime result = *self;
    QdDateTimeFields fields;
    gint64 months;

    qd_date_time_get_fields(self, &fields);
    if (ABS(duration->months) > 12 * (gint64) YEAR_MAX)
        return FALSE;
    if (self->type == QD_XSD_TIME && (duration->months != 0 || duration->type == QD_XSD_YEAR_MONTH_DURATION))
        return FALSE;
    if (duration->months != 0) {
        gint64 day = fields.day;
        __int128 time = self->local_picos - start_of_day(self->local_picos);

        months = fields.year * 12 + (gint64) fields.month - 1 + sign * duration->months;
        fields.year = months >= 0 ? months / 12 : -((11 - months) / 12);
        fields.month = (guint) (months - fields.year * 12) + 1;
        fields.day = (guint) MIN(day, (gint64) qd_calendar_get_month_days(fields.year, fields.month));
        result.local_picos = qd_calendar_to_days(fields.year, fields.month, fields.day) * PICOS_PER_DAY + time;
    }
    result.local_picos += sign * duration->picos;
    if (self->type == QD_XSD_DATE)
        result.local_picos = start_of_day(result.local_picos);
    if (self->type == QD_XSD_TIME)
        result.local_picos += qd_calendar_to_days(1972, 12, 31) * PICOS_PER_DAY - start_of_day(result.local_picos);
    if (result.local_picos / PICOS_PER_DAY > YEAR_MAX * (__int128) 365 ||
        result.local_picos / PICOS_PER_DAY < -YEAR_MAX * (__int128) 365)
        return FALSE;

    *ret = result;
    return TRUE;
}

gboolean
qd_date_time_subtract(const QdDateTime *a, const QdDateTime *b, QdDuration *ret)
{
    if ((a->zone_minutes == QD_DATE_TIME_NO_ZONE) != (b->zone_minutes == QD_DATE_TIME_NO_ZONE))
        return FALSE;

    *ret = (QdDuration){ .type = QD_XSD_DAY_TIME_DURATION, .picos = qd_date_time_get_utc(a) - qd_date_time_get_utc(b) };
    return TRUE;
}
