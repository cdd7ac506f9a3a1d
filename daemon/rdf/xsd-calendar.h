/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The proleptic Gregorian calendar: dates as days since 1970-01-01, and back.
 *
 * Place: room rdf, pure. Years are astronomical: there is a year 0 (XSD 1.1), which is 1 BC.
 */
#pragma once

#include <glib.h>

#define QD_SECONDS_PER_DAY 86400
#define QD_USEC_PER_SECOND G_GINT64_CONSTANT(1000000)
#define QD_USEC_PER_DAY (QD_SECONDS_PER_DAY * QD_USEC_PER_SECOND)
#define QD_ZONE_MINUTES_MAX (14 * 60)

static inline gboolean
qd_calendar_is_leap_year(gint64 year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static inline guint
qd_calendar_get_month_days(gint64 year, guint month)
{
    static const guint8 days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    return days[month - 1] + (month == 2 && qd_calendar_is_leap_year(year) ? 1u : 0u);
}

/* qd_calendar_to_days: of a date that exists; |@year| is at most 10^12. The year is taken to begin in March. */
static inline gint64
qd_calendar_to_days(gint64 year, guint month, guint day)
{
    gint64 y = month <= 2 ? year - 1 : year;
    gint64 era = (y >= 0 ? y : y - 399) / 400;
    gint64 year_of_era = y - era * 400;
    gint64 day_of_year = (153 * ((gint64) month + (month > 2 ? -3 : 9)) + 2) / 5 + (gint64) day - 1;

    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

/* qd_calendar_from_days: the inverse. */
static inline void
qd_calendar_from_days(gint64 days, gint64 *ret_year, guint *ret_month, guint *ret_day)
{
    gint64 z = days + 719468;
    gint64 era = (z >= 0 ? z : z - 146096) / 146097;
    gint64 day_of_era = z - era * 146097;
    gint64 year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    gint64 day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    gint64 month = (5 * day_of_year + 2) / 153;

    *ret_day = (guint) (day_of_year - (153 * month + 2) / 5 + 1);
    *ret_month = (guint) (month < 10 ? month + 3 : month - 9);
    *ret_year = year_of_era + era * 400 + (*ret_month <= 2 ? 1 : 0);
}
