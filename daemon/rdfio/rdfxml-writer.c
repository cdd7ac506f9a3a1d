/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RDF/XML: a description for each run of triples with one subject. A blank node's label gets an "n" in front: with it every
 * label is an XML name.
 */
#include "daemon/rdfio/rdfxml-writer.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/rdfio/xml-name.h"

struct QdRdfXmlWriter {
    const QdPrefixMap *prefixes; /* (nullable) */
    GString *out;
    gboolean begun;
    gboolean has_subject;
    QdTermKind subject_kind;
    GString *subject;
};

/* Names of the namespace rdf: that cannot be a property's element. */
static const char *const syntax_names[] = {
    "RDF",      "ID",          "about", "parseType", "resource",        "nodeID",
    "datatype", "Description", "li",    "aboutEach", "aboutEachPrefix", "bagID",
};

/* Text ------------------------------------------------------------------------------------------------------------------ */

static const char *
get_reference(char c, gboolean in_attribute)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '\r':
        return "&#13;";
    case '"':
        return in_attribute ? "&quot;" : NULL;
    case '\n':
        return in_attribute ? "&#10;" : NULL;
    case '\t':
        return in_attribute ? "&#9;" : NULL;
    default: /* any other byte */
        return NULL;
    }
}

static gboolean
append_text(GString *out, const char *text, gsize n, gboolean in_attribute, GError **error)
{
    gsize start = 0;

    for (gsize i = 0; i < n; i++) {
        const char *reference = get_reference(text[i], in_attribute);
        gboolean is_ffff = (guchar) text[i] == 0xef && i + 2 < n && (guchar) text[i + 1] == 0xbf && (guchar) text[i + 2] >= 0xbe;

        if (((guchar) text[i] < 0x20 && strchr("\t\n\r", text[i]) == NULL) || text[i] == '\0' || is_ffff) {
            qd_error_set(error, QW_ERROR_UNSUPPORTED, "RDF/XML cannot hold the character U+%04X",
                         is_ffff ? 0xff00u + (guchar) text[i + 2] + 0x40u : (guint) (guchar) text[i]);
            return FALSE;
        }
        if (reference == NULL)
            continue;
        g_string_append_len(out, text + start, (gssize) (i - start));
        g_string_append(out, reference);
        start = i + 1;
    }
    g_string_append_len(out, text + start, (gssize) (n - start));
    return TRUE;
}

static gboolean
append_attribute(GString *out, const char *name, const char *text, gsize n, GError **error)
{
    g_string_append_printf(out, " %s=\"", name);
    if (!append_text(out, text, n, TRUE, error))
        return FALSE;
    g_string_append_c(out, '"');
    return TRUE;
}

/* rdf:about or rdf:resource, or rdf:nodeID. */
static gboolean
append_resource(GString *out, const char *iri_name, const QdTerm *term, GError **error)
{
    if (term->kind == QD_TERM_IRI)
        return append_attribute(out, iri_name, term->lexical, term->n_lexical, error);

    g_string_append(out, " rdf:nodeID=\"n");
    g_string_append_len(out, term->lexical, (gssize) term->n_lexical);
    g_string_append_c(out, '"');
    return TRUE;
}

/* Document -------------------------------------------------------------------------------------------------------------- */

/* A prefix that XML does not keep for itself; the empty one would be no help for attributes, and is left out. */
static gboolean
is_usable(const char *prefix, const char *iri)
{
    return prefix[0] != '\0' && g_ascii_strncasecmp(prefix, "xml", 3) != 0 && !g_str_equal(prefix, "rdf") &&
           !g_str_equal(iri, QD_RDF_NAMESPACE) && qd_xml_name_check(prefix, strlen(prefix));
}

static gboolean
begin(QdRdfXmlWriter *self, GError **error)
{
    if (self->begun)
        return TRUE;

    self->begun = TRUE;
    g_string_append(self->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rdf:RDF xmlns:rdf=\"" QD_RDF_NAMESPACE "\"");
    for (guint i = 0; self->prefixes != NULL && i < qd_prefix_map_get_n(self->prefixes); i++) {
        const char *prefix;
        const char *iri;
        g_autofree char *name = NULL;

        qd_prefix_map_get(self->prefixes, i, &prefix, &iri);
        if (!is_usable(prefix, iri))
            continue;
        name = g_strconcat("xmlns:", prefix, NULL);
        g_string_append(self->out, "\n  ");
        if (!append_attribute(self->out, name, iri, strlen(iri), error))
            return FALSE;
    }
    g_string_append(self->out, ">\n");
    return TRUE;
}

static void
end_description(QdRdfXmlWriter *self)
{
    if (self->has_subject)
        g_string_append(self->out, "  </rdf:Description>\n");
    self->has_subject = FALSE;
}

static gboolean
begin_description(QdRdfXmlWriter *self, const QdTerm *s, GError **error)
{
    if (self->has_subject && self->subject_kind == s->kind && self->subject->len == s->n_lexical &&
        memcmp(self->subject->str, s->lexical, s->n_lexical) == 0)
        return TRUE;

    end_description(self);
    self->has_subject = TRUE;
    self->subject_kind = s->kind;
    g_string_truncate(self->subject, 0);
    g_string_append_len(self->subject, s->lexical, (gssize) s->n_lexical);
    g_string_append(self->out, "  <rdf:Description");
    if (!append_resource(self->out, "rdf:about", s, error))
        return FALSE;
    g_string_append(self->out, ">\n");
    return TRUE;
}

static gboolean
fail_predicate(const QdTerm *p, GError **error)
{
    qd_error_set(error, QW_ERROR_UNSUPPORTED, "RDF/XML cannot name the predicate '%.*s'", (int) MIN(p->n_lexical, 200), p->lexical);
    return FALSE;
}

/* The element's name for @p: to @name; a declaration that has to go with it to @declaration. */
static gboolean
make_name(QdRdfXmlWriter *self, const QdTerm *p, GString *name, GString *declaration, GError **error)
{
    gsize start = qd_xml_name_find_last(p->lexical, p->n_lexical);
    const char *local = p->lexical + start;
    gsize n_local = p->n_lexical - start;
    const char *prefix;
    guint state = 0;
    gsize n_iri;

    if (n_local == 0 || start == 0)
        return fail_predicate(p, error);
    if (start == strlen(QD_RDF_NAMESPACE) && memcmp(p->lexical, QD_RDF_NAMESPACE, start) == 0) {
        for (guint i = 0; i < G_N_ELEMENTS(syntax_names); i++)
            if (strlen(syntax_names[i]) == n_local && memcmp(syntax_names[i], local, n_local) == 0)
                return fail_predicate(p, error);
        g_string_append_printf(name, "rdf:%.*s", (int) n_local, local);
        return TRUE;
    }
    while (self->prefixes != NULL &&
           (prefix = qd_prefix_map_find(self->prefixes, p->lexical, p->n_lexical, &state, &n_iri)) != NULL) {
        g_autofree char *iri = g_strndup(p->lexical, n_iri);

        if (!is_usable(prefix, iri) || !qd_xml_name_check(p->lexical + n_iri, p->n_lexical - n_iri))
            continue;
        g_string_append_printf(name, "%s:%.*s", prefix, (int) (p->n_lexical - n_iri), p->lexical + n_iri);
        return TRUE;
    }
    g_string_append_printf(name, "p:%.*s", (int) n_local, local);
    return append_attribute(declaration, "xmlns:p", p->lexical, start, error);
}

QdRdfXmlWriter *
qd_rdfxml_writer_new(const QdPrefixMap *prefixes, GString *out)
{
    QdRdfXmlWriter *self = g_new0(QdRdfXmlWriter, 1);

    self->prefixes = prefixes;
    self->out = out;
    self->subject = g_string_new(NULL);
    return self;
}

QdRdfXmlWriter *
qd_rdfxml_writer_free(QdRdfXmlWriter *self)
{
    if (self == NULL)
        return NULL;

    (void) g_string_free(self->subject, TRUE);
    g_free(self);
    return NULL;
}

static gboolean
append_object(GString *out, const QdTerm *o, const char *name, GError **error)
{
    if (o->kind == QD_TERM_IRI || o->kind == QD_TERM_BNODE) {
        if (!append_resource(out, "rdf:resource", o, error))
            return FALSE;
        g_string_append(out, "/>\n");
        return TRUE;
    }
    if (o->kind == QD_TERM_LANG_STRING && !append_attribute(out, "xml:lang", o->qualifier, o->n_qualifier, error))
        return FALSE;
    if (o->kind == QD_TERM_TYPED && !append_attribute(out, "rdf:datatype", o->qualifier, o->n_qualifier, error))
        return FALSE;
    g_string_append_c(out, '>');
    if (!append_text(out, o->lexical, o->n_lexical, FALSE, error))
        return FALSE;
    g_string_append_printf(out, "</%s>\n", name);
    return TRUE;
}

gboolean
qd_rdfxml_writer_put(QdRdfXmlWriter *self, const QdTerm *s, const QdTerm *p, const QdTerm *o, GError **error)
{
    g_autoptr(GString) name = g_string_new(NULL);
    g_autoptr(GString) declaration = g_string_new(NULL);

    if (!make_name(self, p, name, declaration, error) || !begin(self, error) || !begin_description(self, s, error))
        return FALSE;

    g_string_append_printf(self->out, "    <%s%s", name->str, declaration->str);
    return append_object(self->out, o, name->str, error);
}

void
qd_rdfxml_writer_finish(QdRdfXmlWriter *self)
{
    (void) begin(self, NULL);
    end_description(self);
    g_string_append(self->out, "</rdf:RDF>\n");
}
