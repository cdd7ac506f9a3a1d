/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chooses the reader of a format.
 */
#include "daemon/rdfio/rdf-reader.h"

#include "daemon/jsonld/jsonld-reader.h"
#include "daemon/rdfio/ntriples-reader.h"
#include "daemon/rdfio/rdfxml-reader.h"
#include "daemon/rdfio/turtle-reader.h"

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
    case QD_RDF_JSONLD:
        return qd_jsonld_read(reading, error);
    }
    g_assert_not_reached();
}
