/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RDF/XML, RDF 1.1.
 *
 * Place: room rdfio, an implementation of rdf-reader.h; libxml2's push parser reads the XML. Entities of the document's own DTD
 * are known (xml-entities.h).
 */
#pragma once

#include "daemon/rdfio/rdf-reader.h"

/* qd_rdfxml_read: as qd_rdf_read(), for its format. An error in an element has the place where its tag ends. */
gboolean qd_rdfxml_read(const QdRdfReading *reading, GError **error);
