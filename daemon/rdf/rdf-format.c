/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of RDF formats.
 */
#include "daemon/rdf/rdf-format.h"

static const struct {
    const char *name;
    const char *media_type;
    const char *endings[3];
    gboolean has_graphs;
} format_table[QD_N_RDF_FORMATS] = {
    [QD_RDF_NTRIPLES] = { "ntriples", "application/n-triples", { "nt" }, FALSE },
    [QD_RDF_NQUADS] = { "nquads", "application/n-quads", { "nq" }, TRUE },
    [QD_RDF_TURTLE] = { "turtle", "text/turtle", { "ttl" }, FALSE },
    [QD_RDF_TRIG] = { "trig", "application/trig", { "trig" }, TRUE },
    [QD_RDF_XML] = { "rdfxml", "application/rdf+xml", { "rdf", "owl", "xml" }, FALSE },
    [QD_RDF_JSONLD] = { "jsonld", "application/ld+json", { "jsonld" }, TRUE },
};

gboolean
qd_rdf_format_from_name(const char *name, QdRdfFormat *ret_format)
{
    for (guint i = 0; i < QD_N_RDF_FORMATS; i++) {
        gboolean matches = g_ascii_strcasecmp(format_table[i].name, name) == 0 ||
                           g_ascii_strcasecmp(format_table[i].media_type, name) == 0;

        for (guint k = 0; k < G_N_ELEMENTS(format_table[i].endings) && format_table[i].endings[k] != NULL; k++)
            matches = matches || g_ascii_strcasecmp(format_table[i].endings[k], name) == 0;
        if (matches) {
            *ret_format = (QdRdfFormat) i;
            return TRUE;
        }
    }
    return FALSE;
}

const char *
qd_rdf_format_get_name(QdRdfFormat format)
{
    return format_table[format].name;
}

const char *
qd_rdf_format_get_media_type(QdRdfFormat format)
{
    return format_table[format].media_type;
}

gboolean
qd_rdf_format_has_graphs(QdRdfFormat format)
{
    return format_table[format].has_graphs;
}

gboolean
qd_rdf_format_is_for_graphs(QdRdfFormat format)
{
    return format == QD_RDF_NQUADS || format == QD_RDF_TRIG;
}
