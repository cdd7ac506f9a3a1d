/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QdXmlOpenTag: how many attributes a start tag has so far whose end libxml2 waits for.
 *
 * Place: room rdfio, beside the reader of RDF/XML. libxml2 reads a tag in one call, and compares its attributes with each other:
 * 150,000 take 22 s. That call cannot be cancelled, so the tag is looked at before it is complete.
 * Invariant: a byte of a tag is looked at once, in the text as libxml2 has decoded it.
 */
#pragma once

#include <glib.h>

/* All zero: no tag yet. */
typedef struct QdXmlOpenTag {
    guint64 start; /* where it begins in the decoded document */
    gsize n_seen;
    guint n_attributes;
    char quote; /* of the value that is open, or 0 */
} QdXmlOpenTag;

/**
 * qd_xml_open_tag_count:
 * @self: the state of the calls before
 * @start: where @text begins in the document
 * @text: markup without its end, as far as it has come
 *
 * Counts the attributes, with the declarations of namespaces, if @text is of a start tag.
 *
 * Returns: how many, 0 where there is no such tag
 */
guint qd_xml_open_tag_count(QdXmlOpenTag *self, guint64 start, const char *text, gsize n_bytes);
