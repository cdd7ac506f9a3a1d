/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chooses the reader of a format.
 */
#include "daemon/rdf/rdf-reader.h"

#include "daemon/rdf/ntriples-reader.h"
#include "daemon/rdf/turtle-reader.h"

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
        break;
    }
    g_assert_not_reached();
}
