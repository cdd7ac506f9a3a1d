/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Points in time (dateTime, date, time and the g… types) and durations, exact to 10^-12 s.
 *
 * Place: room rdf, pure. A value of a type with fewer parts has those of 1972-12-31T00:00:00 (XPath F&O 3.1 §9.4).
 * Years have at most nine digits.
 */
#pragma once

#include "daemon/rdf/xsd-decimal.h"
#include "daemon/rdf/xsd-type.h"

#define QD_DATE_TIME_NO_ZONE G_MININT
#define QD_PICOS_PER_SECOND G_GINT64_CONSTANT(1000000000000)
#define QD_PICOS_PER_USEC 1000000
/* Room for any canonical form and a NUL. */
#define QD_DATE_TIME_TEXT_BYTES 80

typedef struct QdDateTime {
    QdXsdType type;
    __int128 local_picos; /* since 1970-01-01T00:00:00 on its own clock */
    gint zone_minutes;    /* east of UTC, or QD_DATE_TIME_NO_ZONE */
} QdDateTime;

/* Both parts have the same sign, as durations are written. */
typedef struct QdDuration {
    QdXsdType type;
    gint64 months;
    __int128 picos;
} QdDuration;

typedef enum QdTimeRelation {
    QD_TIME_LESS = -1,
    QD_TIME_EQUAL = 0,
    QD_TIME_GREATER = 1,
    QD_TIME_UNEQUAL,       /* not equal, in no order */
    QD_TIME_INDETERMINATE, /* undetermined: one has a zone, the other has none, and they are within 14 hours */
} QdTimeRelation;

typedef struct QdDateTimeFields {
    gint64 year;
    guint month;
    guint day;
    guint hour;
    guint minute;
    guint64 picos; /* seconds and their fraction */
} QdDateTimeFields;

/* qd_date_time_parse: FALSE when @text is not in the lexical space of @type, which is one of the date-time types. */
gboolean qd_date_time_parse(QdXsdType type, const char *text, gsize n_bytes, QdDateTime *ret);

/* qd_date_time_from_id: of an id in line that is a date or dateTime; FALSE for all others. */
gboolean qd_date_time_from_id(gint64 id, QdDateTime *ret);

/* qd_date_time_format: the canonical form, in its own zone; returns the number of bytes, without the NUL. */
gsize qd_date_time_format(const QdDateTime *self, char buffer[QD_DATE_TIME_TEXT_BYTES]);

void qd_date_time_get_fields(const QdDateTime *self, QdDateTimeFields *ret);

/* qd_date_time_get_utc: picoseconds since 1970; without a zone as if it were UTC. */
__int128 qd_date_time_get_utc(const QdDateTime *self);

/* qd_date_time_compare: of the same type (dateTimeStamp is dateTime). */
QdTimeRelation qd_date_time_compare(const QdDateTime *a, const QdDateTime *b);

/* qd_date_time_cast: dateTime to date and time, date to dateTime; FALSE for others. */
gboolean qd_date_time_cast(const QdDateTime *self, QdXsdType type, QdDateTime *ret);

/* qd_date_time_add: of dateTime, date or time; @sign is 1 or -1. FALSE when the year has too many digits, or months are added to a
 * time. */
gboolean qd_date_time_add(const QdDateTime *self, const QdDuration *duration, gint sign, QdDateTime *ret);

/* qd_date_time_subtract: FALSE when only one has a zone. */
gboolean qd_date_time_subtract(const QdDateTime *a, const QdDateTime *b, QdDuration *ret);

gboolean qd_duration_parse(QdXsdType type, const char *text, gsize n_bytes, QdDuration *ret);
gsize qd_duration_format(const QdDuration *self, char buffer[QD_DATE_TIME_TEXT_BYTES]);

/* qd_duration_compare: EQUAL or UNEQUAL when months and seconds have to be weighed against each other. */
QdTimeRelation qd_duration_compare(const QdDuration *a, const QdDuration *b);
