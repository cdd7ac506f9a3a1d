/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QdXmlEntities: an XML document without its DOCTYPE, and with the entities that it declares written out.
 *
 * Place: room rdfio, between the bytes of an RDF/XML document and libxml2, which so never sees a DTD. Untrusted input. Only
 * entities of the internal subset that have a text of their own are known: nothing outside of the document is ever read.
 * Invariant: what is written out stays within the limits xml_entities, xml_entity_bytes and rdf_depth. A document without a
 * DOCTYPE passes as it is. Lines keep their numbers.
 */
#pragma once

#include "daemon/rdfio/rdf-reader.h"

typedef struct QdXmlEntities QdXmlEntities;

/**
 * qd_xml_entities_new:
 * @reading: (transfer none): its read_func gives the document; must outlive the object
 *
 * Returns: (transfer full): never NULL
 */
QdXmlEntities *qd_xml_entities_new(const QdRdfReading *reading);

/* Returns NULL; takes NULL. */
QdXmlEntities *qd_xml_entities_free(QdXmlEntities *self);

/**
 * qd_xml_entities_read:
 * @ret_text: (transfer none): valid until the next call
 * @error: (nullable): location for an error
 *
 * The next piece of the document.
 *
 * Thread: any, one at a time.
 * Errors: SYNTAX with a place, TOO_COMPLEX, and what read_func says
 *
 * Returns: bytes of @ret_text, 0 at the end, -1 with @error set
 */
gssize qd_xml_entities_read(QdXmlEntities *self, const char **ret_text, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdXmlEntities, qd_xml_entities_free)
