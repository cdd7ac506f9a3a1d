/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables.
 */
#include "daemon/tracker/tracker-names.h"

#include <string.h>

#include "daemon/rdf/expression-code.h"

#define ONTOLOGY "http://tracker.api.gnome.org/ontology/v3/"
#define FN "http://www.w3.org/2005/xpath-functions#"

static const struct {
    const char *prefix;
    const char *iri;
} prefixes[] = {
    { "rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#" },
    { "rdfs", "http://www.w3.org/2000/01/rdf-schema#" },
    { "xsd", "http://www.w3.org/2001/XMLSchema#" },
    { "fn", FN },
    { "dc", "http://purl.org/dc/elements/1.1/" },
    { "nrl", QD_TRACKER_NRL },
    { "fts", QD_TRACKER_FTS },
    { "tracker", QD_TRACKER_TRACKER },
    { "nie", ONTOLOGY "nie#" },
    { "nfo", ONTOLOGY "nfo#" },
    { "nco", ONTOLOGY "nco#" },
    { "nao", ONTOLOGY "nao#" },
    { "nmm", ONTOLOGY "nmm#" },
    { "slo", ONTOLOGY "slo#" },
    { "mfo", ONTOLOGY "mfo#" },
    { "osinfo", ONTOLOGY "osinfo#" },
};

static const struct {
    const char *iri;
    const char *name;
} functions[] = {
    { FN "lower-case", "LCASE" },
    { FN "upper-case", "UCASE" },
    { FN "contains", "CONTAINS" },
    { FN "starts-with", "STRSTARTS" },
    { FN "ends-with", "STRENDS" },
    { FN "substring", "SUBSTR" },
    { FN "substring-before", "STRBEFORE" },
    { FN "substring-after", "STRAFTER" },
    { FN "string-length", "STRLEN" },
    { FN "concat", "CONCAT" },
    { FN "replace", "REPLACE" },
    { FN "matches", "REGEX" },
    { FN "encode-for-uri", "ENCODE_FOR_URI" },
    { FN "year-from-dateTime", "YEAR" },
    { FN "month-from-dateTime", "MONTH" },
    { FN "day-from-dateTime", "DAY" },
    { FN "hours-from-dateTime", "HOURS" },
    { FN "minutes-from-dateTime", "MINUTES" },
    { FN "seconds-from-dateTime", "SECONDS" },
    { FN "timezone-from-dateTime", "TIMEZONE" },
    { FN "numeric-abs", "ABS" },
    { FN "numeric-ceil", "CEIL" },
    { FN "numeric-floor", "FLOOR" },
    { FN "numeric-round", "ROUND" },
    { QD_TRACKER_TRACKER "coalesce", "COALESCE" },
    { QD_TRACKER_TRACKER "uri", "<" QD_RESOURCE_FUNCTION ">" },
    { QD_TRACKER_TRACKER "id", "<" QD_RESOURCE_ID_FUNCTION ">" },
    { QD_TRACKER_TRACKER "case-fold", "LCASE" },
    { QD_TRACKER_TRACKER "ascii-lower-case", "LCASE" },
};

const char *
qd_tracker_find_prefix(const char *prefix, gsize n_bytes)
{
    for (gsize i = 0; i < G_N_ELEMENTS(prefixes); i++) {
        if (strlen(prefixes[i].prefix) == n_bytes && memcmp(prefixes[i].prefix, prefix, n_bytes) == 0)
            return prefixes[i].iri;
    }
    return NULL;
}

const char *
qd_tracker_find_function(const char *iri)
{
    for (gsize i = 0; i < G_N_ELEMENTS(functions); i++) {
        if (g_str_equal(functions[i].iri, iri))
            return functions[i].name;
    }
    return NULL;
}
