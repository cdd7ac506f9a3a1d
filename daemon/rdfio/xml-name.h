/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of XML without a colon (NCName), as RDF/XML needs them.
 *
 * Place: room rdfio, pure.
 */
#pragma once

#include <glib.h>

/* Where the longest name at the end of @text begins; @n_bytes when it ends in none. */
gsize qd_xml_name_find_last(const char *text, gsize n_bytes);

gboolean qd_xml_name_check(const char *text, gsize n_bytes);
