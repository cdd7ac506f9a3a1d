/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of datatypes.
 */
#include "daemon/rdf/xsd-type.h"

#include <string.h>

#include "daemon/rdf/term.h"

#define NAMESPACE_BYTES (sizeof QD_XSD_NAMESPACE - 1)

#define NAME(id, name) [QD_XSD_##id] = QD_XSD_NAMESPACE name

static const char *const iris[QD_N_XSD_TYPES] = {
    NAME(STRING, "string"),
    NAME(BOOLEAN, "boolean"),
    NAME(DECIMAL, "decimal"),
    NAME(INTEGER, "integer"),
    NAME(NON_POSITIVE_INTEGER, "nonPositiveInteger"),
    NAME(NEGATIVE_INTEGER, "negativeInteger"),
    NAME(LONG, "long"),
    NAME(INT, "int"),
    NAME(SHORT, "short"),
    NAME(BYTE, "byte"),
    NAME(NON_NEGATIVE_INTEGER, "nonNegativeInteger"),
    NAME(UNSIGNED_LONG, "unsignedLong"),
    NAME(UNSIGNED_INT, "unsignedInt"),
    NAME(UNSIGNED_SHORT, "unsignedShort"),
    NAME(UNSIGNED_BYTE, "unsignedByte"),
    NAME(POSITIVE_INTEGER, "positiveInteger"),
    NAME(FLOAT, "float"),
    NAME(DOUBLE, "double"),
    NAME(DATE_TIME, "dateTime"),
    NAME(DATE_TIME_STAMP, "dateTimeStamp"),
    NAME(DATE, "date"),
    NAME(TIME, "time"),
    NAME(G_YEAR, "gYear"),
    NAME(G_YEAR_MONTH, "gYearMonth"),
    NAME(G_MONTH, "gMonth"),
    NAME(G_MONTH_DAY, "gMonthDay"),
    NAME(G_DAY, "gDay"),
    NAME(DURATION, "duration"),
    NAME(DAY_TIME_DURATION, "dayTimeDuration"),
    NAME(YEAR_MONTH_DURATION, "yearMonthDuration"),
};

QdXsdType
qd_xsd_type_from_iri(const char *iri, gsize n_bytes)
{
    if (n_bytes <= NAMESPACE_BYTES || memcmp(iri, QD_XSD_NAMESPACE, NAMESPACE_BYTES) != 0)
        return QD_XSD_OTHER;

    for (guint i = QD_XSD_STRING; i < QD_N_XSD_TYPES; i++)
        if (iris[i][NAMESPACE_BYTES] == iri[NAMESPACE_BYTES] && strlen(iris[i]) == n_bytes && memcmp(iris[i], iri, n_bytes) == 0)
            return (QdXsdType) i;
    return QD_XSD_OTHER;
}

const char *
qd_xsd_type_get_iri(QdXsdType type)
{
    return iris[type];
}
