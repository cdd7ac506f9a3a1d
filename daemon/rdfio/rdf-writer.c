/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The writers of N-Triples, N-Quads, Turtle and TriG, and the way to those of RDF/XML and JSON-LD.
 */
#include "daemon/rdfio/rdf-writer.h"

#include <string.h>

#include "daemon/jsonld/jsonld-writer.h"
#include "daemon/rdf/code-point.h"
#include "daemon/rdfio/rdfxml-writer.h"

/* The term before, to see whether the next is the same. */
typedef struct Last {
    gboolean is_set;
    QdTermKind kind;
    GString *lexical;
} Last;

struct QdRdfWriter {
    QdRdfFormat format;
    const QdPrefixMap *prefixes;
    GString *out;
    QdRdfXmlWriter *xml;    /* (nullable) */
    QdJsonLdWriter *jsonld; /* (nullable) */
    gboolean begun;
    Last graph;
    Last subject;
    Last predicate;
};

/* Terms ----------------------------------------------------------------------------------------------------------------- */

static void
append_iri(GString *out, const char *iri, gsize n)
{
    gsize start = 0;

    g_string_append_c(out, '<');
    for (gsize i = 0; i < n; i++) {
        guchar c = (guchar) iri[i];

        if (c > ' ' && c != 0x7f && strchr("<>\"{}|^`\\", c) == NULL)
            continue;
        g_string_append_len(out, iri + start, (gssize) (i - start));
        g_string_append_printf(out, "\\u%04X", c);
        start = i + 1;
    }
    g_string_append_len(out, iri + start, (gssize) (n - start));
    g_string_append_c(out, '>');
}

/* What canonical N-Triples of RDF 1.2 writes for the ASCII characters that it escapes; that of 1.1 is a part of it. */
static const char *const escapes[128] = {
    [0x00] = "\\u0000", "\\u0001",       "\\u0002",
    "\\u0003",          "\\u0004",       "\\u0005",
    "\\u0006",          "\\u0007", /* */
    [0x08] = "\\b",     "\\t",           "\\n",
    "\\u000B",          "\\f",           "\\r",
    "\\u000E",          "\\u000F", /* */
    [0x10] = "\\u0010", "\\u0011",       "\\u0012",
    "\\u0013",          "\\u0014",       "\\u0015",
    "\\u0016",          "\\u0017", /* */
    [0x18] = "\\u0018", "\\u0019",       "\\u001A",
    "\\u001B",          "\\u001C",       "\\u001D",
    "\\u001E",          "\\u001F", /* */
    ['"'] = "\\\"",     ['\\'] = "\\\\", [0x7f] = "\\u007F",
};

/* For the character at @text, of @n bytes; NULL: it stands for itself. U+FFFE and U+FFFF are no characters to XML. */
static const char *
get_escape(const char *text, gsize n, gsize *ret_n_bytes)
{
    guchar c = (guchar) text[0];

    *ret_n_bytes = 1;
    if (c < 128)
        return escapes[c];
    if (c != 0xef || n < 3 || (guchar) text[1] != 0xbf || (guchar) text[2] < 0xbe)
        return NULL;
    *ret_n_bytes = 3;
    return (guchar) text[2] == 0xbe ? "\\uFFFE" : "\\uFFFF";
}

/* @keep_lines: line feeds and tabs stay as they are, for a string in three quotes */
static void
append_escaped(GString *out, const char *text, gsize n, gboolean keep_lines)
{
    gsize start = 0;
    gsize n_bytes;

    for (gsize i = 0; i < n; i++) {
        const char *escape = get_escape(text + i, n - i, &n_bytes);

        if (escape == NULL || (keep_lines && (text[i] == '\n' || text[i] == '\t')))
            continue;
        g_string_append_len(out, text + start, (gssize) (i - start));
        g_string_append(out, escape);
        i += n_bytes - 1;
        start = i + 1;
    }
    g_string_append_len(out, text + start, (gssize) (n - start));
}

static void
append_qualifier(GString *out, const QdPrefixMap *prefixes, const QdTerm *term)
{
    if (term->kind == QD_TERM_LANG_STRING) {
        g_string_append_c(out, '@');
        g_string_append_len(out, term->qualifier, (gssize) term->n_qualifier);
    } else if (term->kind == QD_TERM_TYPED) {
        QdTerm datatype = { .kind = QD_TERM_IRI, .lexical = term->qualifier, .n_lexical = term->n_qualifier };

        g_string_append(out, "^^");
        qd_rdf_append_turtle_term(out, prefixes, &datatype);
    }
}

void
qd_rdf_append_term(GString *out, const QdTerm *term)
{
    switch (term->kind) {
    case QD_TERM_IRI:
        append_iri(out, term->lexical, term->n_lexical);
        return;
    case QD_TERM_BNODE:
        g_string_append(out, "_:");
        g_string_append_len(out, term->lexical, (gssize) term->n_lexical);
        return;
    case QD_TERM_STRING:
    case QD_TERM_LANG_STRING:
    case QD_TERM_TYPED:
        g_string_append_c(out, '"');
        append_escaped(out, term->lexical, term->n_lexical, FALSE);
        g_string_append_c(out, '"');
        append_qualifier(out, NULL, term);
        return;
    }
    g_assert_not_reached();
}

/* PN_LOCAL without escapes. */
static gboolean
is_local_name(const char *text, gsize n)
{
    gsize i = 0;

    while (i < n) {
        gunichar c;
        guint size = qd_code_point_decode(text + i, n - i, &c);
        gboolean inner = i > 0 && (c == '-' || (c == '.' && i + 1 < n));

        if (size == 0 || !(inner || c == ':' || (i == 0 ? qd_code_point_is_name_start(c) : c != '-' && qd_code_point_is_pn(c))))
            return FALSE;
        i += size;
    }
    return TRUE;
}

static gboolean
append_prefixed(GString *out, const QdPrefixMap *prefixes, const QdTerm *term)
{
    guint state = 0;
    gsize n_iri;
    const char *prefix;

    while (prefixes != NULL && (prefix = qd_prefix_map_find(prefixes, term->lexical, term->n_lexical, &state, &n_iri)) != NULL) {
        if (!is_local_name(term->lexical + n_iri, term->n_lexical - n_iri))
            continue;
        g_string_append(out, prefix);
        g_string_append_c(out, ':');
        g_string_append_len(out, term->lexical + n_iri, (gssize) (term->n_lexical - n_iri));
        return TRUE;
    }
    return FALSE;
}

static gsize
count_digits(const char *text, gsize n)
{
    gsize i = 0;

    while (i < n && g_ascii_isdigit(text[i]))
        i++;
    return i;
}

/* The datatype that Turtle gives to a bare number, or NULL when the text is none. */
static const char *
get_bare_type(const char *text, gsize n)
{
    gsize sign = n > 0 && (text[0] == '+' || text[0] == '-') ? 1 : 0;
    gsize whole = count_digits(text + sign, n - sign);
    gsize i = sign + whole;
    gsize fraction = 0;
    gboolean dot = i < n && text[i] == '.';

    if (i == n)
        return whole > 0 ? "integer" : NULL;
    if (dot) {
        fraction = count_digits(text + i + 1, n - i - 1);
        i += 1 + fraction;
    }
    if (i == n)
        return fraction > 0 ? "decimal" : NULL;
    if ((text[i] != 'e' && text[i] != 'E') || whole + fraction == 0)
        return NULL;
    i++;
    if (i < n && (text[i] == '+' || text[i] == '-'))
        i++;
    return i < n && i + count_digits(text + i, n - i) == n ? "double" : NULL;
}

static gboolean
is_bare(const QdTerm *term)
{
    const gsize n_namespace = strlen(QD_XSD_NAMESPACE);
    const char *type;

    if (term->kind != QD_TERM_TYPED || term->n_qualifier <= n_namespace ||
        memcmp(term->qualifier, QD_XSD_NAMESPACE, n_namespace) != 0)
        return FALSE;

    type = get_bare_type(term->lexical, term->n_lexical);
    if ((term->n_lexical == 4 && memcmp(term->lexical, "true", 4) == 0) ||
        (term->n_lexical == 5 && memcmp(term->lexical, "false", 5) == 0))
        type = "boolean";
    return type != NULL && strlen(type) == term->n_qualifier - n_namespace &&
           memcmp(type, term->qualifier + n_namespace, strlen(type)) == 0;
}

void
qd_rdf_append_turtle_term(GString *out, const QdPrefixMap *prefixes, const QdTerm *term)
{
    if (term->kind == QD_TERM_IRI && append_prefixed(out, prefixes, term))
        return;
    if (is_bare(term)) {
        g_string_append_len(out, term->lexical, (gssize) term->n_lexical);
        return;
    }
    if (term->kind == QD_TERM_IRI || term->kind == QD_TERM_BNODE || memchr(term->lexical, '\n', term->n_lexical) == NULL) {
        QdTerm plain = { .kind = QD_TERM_STRING, .lexical = term->lexical, .n_lexical = term->n_lexical };
        gboolean is_literal = term->kind != QD_TERM_IRI && term->kind != QD_TERM_BNODE;

        qd_rdf_append_term(out, is_literal ? &plain : term);
    } else {
        g_string_append(out, "\"\"\"");
        append_escaped(out, term->lexical, term->n_lexical, TRUE);
        g_string_append(out, "\"\"\"");
    }
    append_qualifier(out, prefixes, term);
}

/* Lines ----------------------------------------------------------------------------------------------------------------- */

static void
put_line(QdRdfWriter *self, const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g)
{
    qd_rdf_append_term(self->out, s);
    g_string_append_c(self->out, ' ');
    qd_rdf_append_term(self->out, p);
    g_string_append_c(self->out, ' ');
    qd_rdf_append_term(self->out, o);
    g_string_append_c(self->out, ' ');
    if (g != NULL && self->format == QD_RDF_NQUADS) {
        qd_rdf_append_term(self->out, g);
        g_string_append_c(self->out, ' ');
    }
    g_string_append(self->out, ".\n");
}

/* Turtle, TriG ---------------------------------------------------------------------------------------------------------- */

/* Whether @term (NULL: the default graph) is the one before; keeps it. */
static gboolean
last_is(Last *last, const QdTerm *term)
{
    gboolean same;

    if (term == NULL) {
        same = !last->is_set;
        last->is_set = FALSE;
        return same;
    }
    same = last->is_set && last->kind == term->kind && last->lexical->len == term->n_lexical &&
           memcmp(last->lexical->str, term->lexical, term->n_lexical) == 0;
    if (!same) {
        last->is_set = TRUE;
        last->kind = term->kind;
        g_string_truncate(last->lexical, 0);
        g_string_append_len(last->lexical, term->lexical, (gssize) term->n_lexical);
    }
    return same;
}

static void
begin_turtle(QdRdfWriter *self)
{
    if (self->begun)
        return;

    self->begun = TRUE;
    for (guint i = 0; self->prefixes != NULL && i < qd_prefix_map_get_n(self->prefixes); i++) {
        const char *prefix;
        const char *iri;

        qd_prefix_map_get(self->prefixes, i, &prefix, &iri);
        g_string_append_printf(self->out, "@prefix %s: ", prefix);
        append_iri(self->out, iri, strlen(iri));
        g_string_append(self->out, " .\n");
    }
}

static void
end_subject(QdRdfWriter *self)
{
    if (self->subject.is_set)
        g_string_append(self->out, " .\n");
    self->subject.is_set = FALSE;
    self->predicate.is_set = FALSE;
}

static void
change_graph(QdRdfWriter *self, const QdTerm *g)
{
    gboolean was_named = self->graph.is_set;

    if (last_is(&self->graph, g))
        return;

    end_subject(self);
    if (was_named)
        g_string_append(self->out, "}\n");
    if (g != NULL) {
        g_string_append_c(self->out, '\n');
        qd_rdf_append_turtle_term(self->out, self->prefixes, g);
        g_string_append(self->out, " {\n");
    }
}

static void
append_predicate(QdRdfWriter *self, const QdTerm *p)
{
    if (p->n_lexical == strlen(QD_RDF_NAMESPACE "type") && memcmp(p->lexical, QD_RDF_NAMESPACE "type", p->n_lexical) == 0)
        g_string_append_c(self->out, 'a');
    else
        qd_rdf_append_turtle_term(self->out, self->prefixes, p);
}

static void
put_turtle(QdRdfWriter *self, const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g)
{
    gboolean same_subject;

    begin_turtle(self);
    if (self->format == QD_RDF_TRIG)
        change_graph(self, g);

    same_subject = self->subject.is_set && self->subject.kind == s->kind && self->subject.lexical->len == s->n_lexical &&
                   memcmp(self->subject.lexical->str, s->lexical, s->n_lexical) == 0;
    if (!same_subject) {
        end_subject(self);
        (void) last_is(&self->subject, s);
        g_string_append_c(self->out, '\n');
        qd_rdf_append_turtle_term(self->out, self->prefixes, s);
        g_string_append_c(self->out, ' ');
    }
    if (same_subject && last_is(&self->predicate, p)) {
        g_string_append(self->out, " , ");
    } else {
        (void) last_is(&self->predicate, p);
        if (same_subject)
            g_string_append(self->out, " ;\n    ");
        append_predicate(self, p);
        g_string_append_c(self->out, ' ');
    }
    qd_rdf_append_turtle_term(self->out, self->prefixes, o);
}

/* ----------------------------------------------------------------------------------------------------------------------- */

QdRdfWriter *
qd_rdf_writer_new(QdRdfFormat format, const QdPrefixMap *prefixes, GString *out)
{
    QdRdfWriter *self = g_new0(QdRdfWriter, 1);

    self->format = format;
    self->prefixes = prefixes;
    self->out = out;
    self->graph.lexical = g_string_new(NULL);
    self->subject.lexical = g_string_new(NULL);
    self->predicate.lexical = g_string_new(NULL);
    if (format == QD_RDF_XML)
        self->xml = qd_rdfxml_writer_new(prefixes, out);
    if (format == QD_RDF_JSONLD)
        self->jsonld = qd_jsonld_writer_new(NULL, prefixes, out);
    return self;
}

QdRdfWriter *
qd_rdf_writer_free(QdRdfWriter *self)
{
    if (self == NULL)
        return NULL;

    (void) g_string_free(self->graph.lexical, TRUE);
    (void) g_string_free(self->subject.lexical, TRUE);
    (void) g_string_free(self->predicate.lexical, TRUE);
    qd_rdfxml_writer_free(self->xml);
    qd_jsonld_writer_free(self->jsonld);
    g_free(self);
    return NULL;
}

gboolean
qd_rdf_writer_put(QdRdfWriter *self, const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, GError **error)
{
    switch (self->format) {
    case QD_RDF_NTRIPLES:
    case QD_RDF_NQUADS:
        put_line(self, s, p, o, g);
        return TRUE;
    case QD_RDF_TURTLE:
    case QD_RDF_TRIG:
        put_turtle(self, s, p, o, g);
        return TRUE;
    case QD_RDF_XML:
        return qd_rdfxml_writer_put(self->xml, s, p, o, error);
    case QD_RDF_JSONLD:
        return qd_jsonld_writer_put(self->jsonld, s, p, o, g, error);
    }
    g_assert_not_reached();
}

void
qd_rdf_writer_finish(QdRdfWriter *self)
{
    switch (self->format) {
    case QD_RDF_NTRIPLES:
    case QD_RDF_NQUADS:
        return;
    case QD_RDF_TURTLE:
    case QD_RDF_TRIG:
        begin_turtle(self);
        change_graph(self, NULL);
        end_subject(self);
        return;
    case QD_RDF_XML:
        qd_rdfxml_writer_finish(self->xml);
        return;
    case QD_RDF_JSONLD:
        (void) qd_jsonld_writer_finish(self->jsonld, NULL); /* fails in the expanded form only */
        return;
    }
    g_assert_not_reached();
}
