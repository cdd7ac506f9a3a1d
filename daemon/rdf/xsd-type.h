/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The datatypes of XML Schema that have values here.
 *
 * Place: room rdf. Any other datatype is OTHER: its literals are terms, but no values.
 */
#pragma once

#include <glib.h>

typedef enum QdXsdType {
    QD_XSD_OTHER,
    QD_XSD_STRING,
    QD_XSD_BOOLEAN,
    QD_XSD_DECIMAL,
    QD_XSD_INTEGER, /* this and those to POSITIVE_INTEGER are integers */
    QD_XSD_NON_POSITIVE_INTEGER,
    QD_XSD_NEGATIVE_INTEGER,
    QD_XSD_LONG,
    QD_XSD_INT,
    QD_XSD_SHORT,
    QD_XSD_BYTE,
    QD_XSD_NON_NEGATIVE_INTEGER,
    QD_XSD_UNSIGNED_LONG,
    QD_XSD_UNSIGNED_INT,
    QD_XSD_UNSIGNED_SHORT,
    QD_XSD_UNSIGNED_BYTE,
    QD_XSD_POSITIVE_INTEGER,
    QD_XSD_FLOAT,
    QD_XSD_DOUBLE,
    QD_XSD_DATE_TIME, /* this and those to G_DAY are points in time */
    QD_XSD_DATE_TIME_STAMP,
    QD_XSD_DATE,
    QD_XSD_TIME,
    QD_XSD_G_YEAR,
    QD_XSD_G_YEAR_MONTH,
    QD_XSD_G_MONTH,
    QD_XSD_G_MONTH_DAY,
    QD_XSD_G_DAY,
    QD_XSD_DURATION, /* this and the next two are durations */
    QD_XSD_DAY_TIME_DURATION,
    QD_XSD_YEAR_MONTH_DURATION,
    QD_N_XSD_TYPES,
} QdXsdType;

/* qd_xsd_type_from_iri: OTHER when @iri is none of them. */
QdXsdType qd_xsd_type_from_iri(const char *iri, gsize n_bytes);

/* qd_xsd_type_get_iri: (transfer none): NULL for OTHER. */
const char *qd_xsd_type_get_iri(QdXsdType type);

static inline gboolean
qd_xsd_type_is_integer(QdXsdType type)
{
    return type >= QD_XSD_INTEGER && type <= QD_XSD_POSITIVE_INTEGER;
}

static inline gboolean
qd_xsd_type_is_numeric(QdXsdType type)
{
    return type >= QD_XSD_DECIMAL && type <= QD_XSD_DOUBLE;
}

static inline gboolean
qd_xsd_type_is_date_time(QdXsdType type)
{
    return type >= QD_XSD_DATE_TIME && type <= QD_XSD_G_DAY;
}

static inline gboolean
qd_xsd_type_is_duration(QdXsdType type)
{
    return type >= QD_XSD_DURATION && type <= QD_XSD_YEAR_MONTH_DURATION;
}
