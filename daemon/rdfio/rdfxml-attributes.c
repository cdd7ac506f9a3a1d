/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names that RDF keeps for itself, and the attributes of an element by their meaning.
 */
#include "daemon/rdfio/rdfxml-attributes.h"

#include "daemon/base/error.h"
#include "daemon/rdf/term.h"

static const char *const forbidden_everywhere[] = { "aboutEach", "aboutEachPrefix", "bagID" };
static const char *const core_terms[] = { "RDF", "ID", "about", "parseType", "resource", "nodeID", "datatype" };
static const char *const unqualified_terms[] = { "ID", "about", "resource", "parseType", "type" };

gboolean
qd_rdfxml_fail(GError **error, const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list args;

    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    qd_error_set(error, QW_ERROR_SYNTAX, "%s", message);
    return FALSE;
}

static gboolean
list_has(const char *const *list, gsize n, const char *name)
{
    for (gsize i = 0; i < n; i++)
        if (g_str_equal(list[i], name))
            return TRUE;
    return FALSE;
}

gboolean
qd_rdfxml_is_rdf(const char *uri)
{
    return uri != NULL && g_str_equal(uri, QD_RDF_NAMESPACE);
}

gboolean
qd_rdfxml_is_reserved(const char *uri, const char *local, const char *other)
{
    return qd_rdfxml_is_rdf(uri) && (list_has(core_terms, G_N_ELEMENTS(core_terms), local) || g_str_equal(local, other) ||
                                     list_has(forbidden_everywhere, G_N_ELEMENTS(forbidden_everywhere), local));
}

gboolean
qd_rdfxml_is_of_xml(const QdXmlAttribute *attribute)
{
    if (attribute->uri != NULL)
        return g_str_equal(attribute->uri, QD_XML_NAMESPACE);
    return g_ascii_strncasecmp(attribute->local, "xml", 3) == 0;
}

gboolean
qd_rdfxml_is_language_tag(const char *text)
{
    gsize n = 0; /* characters of the part */
    gboolean first = TRUE;

    for (const char *p = text;; p++) {
        if (*p == '-' || *p == '\0') {
            if (n == 0)
                return FALSE;
            if (*p == '\0')
                return TRUE;
            first = FALSE;
            n = 0;
        } else if (first ? !g_ascii_isalpha(*p) : !g_ascii_isalnum(*p)) {
            return FALSE;
        } else {
            n++;
        }
    }
}

static const char **
find_meaning(QdRdfXmlMeaning *meaning, const char *local)
{
    const struct {
        const char *name;
        const char **place;
    } places[] = {
        { "ID", &meaning->id },
        { "about", &meaning->about },
        { "nodeID", &meaning->node_id },
        { "resource", &meaning->resource },
        { "parseType", &meaning->parse_type },
        { "datatype", &meaning->datatype },
    };

    for (guint i = 0; i < G_N_ELEMENTS(places); i++)
        if (g_str_equal(places[i].name, local))
            return places[i].place;
    return NULL;
}

gboolean
qd_rdfxml_read_meaning(const QdXmlAttribute *attributes, guint n, QdRdfXmlMeaning *ret_meaning, GError **error)
{
    QdRdfXmlMeaning meaning = { 0 };

    for (guint i = 0; i < n; i++) {
        const char *local = attributes[i].local;
        const char **place;

        if (qd_rdfxml_is_of_xml(&attributes[i]))
            continue;
        if (attributes[i].uri == NULL && !list_has(unqualified_terms, G_N_ELEMENTS(unqualified_terms), local))
            return qd_rdfxml_fail(error, "attribute '%.100s' has no namespace", local);
        if (attributes[i].uri != NULL && !qd_rdfxml_is_rdf(attributes[i].uri)) {
            meaning.n_properties++;
            continue;
        }
        place = find_meaning(&meaning, local);
        if (place != NULL && *place != NULL)
            return qd_rdfxml_fail(error, "attribute 'rdf:%s' is given twice", local);
        if (place != NULL) {
            *place = attributes[i].value;
            continue;
        }
        if (list_has(forbidden_everywhere, G_N_ELEMENTS(forbidden_everywhere), local) || g_str_equal(local, "RDF") ||
            g_str_equal(local, "Description") || g_str_equal(local, "li"))
            return qd_rdfxml_fail(error, "rdf:%s is not allowed as an attribute", local);
        meaning.n_properties++;
    }
    *ret_meaning = meaning;
    return TRUE;
}

gboolean
qd_rdfxml_is_property(const QdXmlAttribute *attribute)
{
    QdRdfXmlMeaning ignored;

    if (qd_rdfxml_is_of_xml(attribute))
        return FALSE;
    return (attribute->uri != NULL && !qd_rdfxml_is_rdf(attribute->uri)) || find_meaning(&ignored, attribute->local) == NULL;
}
