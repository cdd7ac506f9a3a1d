/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chooses the reader of a format.
 */
#include "daemon/rdfio/rdf-reader.h"

#include <string.h>

#include "daemon/rdfio/ntriples-reader.h"
#include "daemon/rdfio/rdfxml-reader.h"
#include "daemon/rdfio/turtle-reader.h"

void
qd_rdf_append_label(GString *out, const char *label, gsize n_bytes)
{
    const gsize n_prefix = strlen(QD_RDF_ANONYMOUS_PREFIX);

    if (n_bytes >= n_prefix && memcmp(label, QD_RDF_ANONYMOUS_PREFIX, n_prefix) == 0) {
        g_string_append(out, QD_RDF_ANONYMOUS_PREFIX "x");
        label += n_prefix;
        n_bytes -= n_prefix;
    } else if (n_bytes > 0 && label[n_bytes - 1] == '.') {
        g_string_append_printf(out, QD_RDF_ANONYMOUS_PREFIX "y%.*se", (int) n_bytes, label);
        return;
    }
    g_string_append_len(out, label, (gssize) n_bytes);
    if (n_bytes > 0 && label[n_bytes - 1] == '.')
        g_string_append_c(out, 'e');
}

gboolean
qd_rdf_read(const QdRdfReading *reading, GError **error)
{
    switch (reading->format) {
    case QD_RDF_NTRIPLES:
    case QD_RDF_NQUADS:
        return qd_ntriples_read(reading, error);
    case QD_RDF_TURTLE:
    case QD_RDF_TRIG:
        return qd_turtle_read(reading, error);
    case QD_RDF_XML:
        return qd_rdfxml_read(reading, error);
    }
    g_assert_not_reached();
}
