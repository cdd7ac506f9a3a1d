/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * XML results. libxml2 writes into a buffer of its own, which is emptied into the caller's string after each row.
 */
#include "daemon/format/results-xml.h"

#include <libxml/xmlwriter.h>
#include <string.h>

#define NAMESPACE "http://www.w3.org/2005/sparql-results#"

struct QdResultsXml {
    xmlBuffer *buffer;
    xmlTextWriter *writer;
    GString *scratch;
};

QdResultsXml *
qd_results_xml_new(void)
{
    QdResultsXml *self = g_new0(QdResultsXml, 1);

    self->buffer = xmlBufferCreate();
    self->writer = xmlNewTextWriterMemory(self->buffer, 0);
    self->scratch = g_string_new(NULL);
    return self;
}

QdResultsXml *
qd_results_xml_free(QdResultsXml *self)
{
    if (self == NULL)
        return NULL;

    xmlFreeTextWriter(self->writer);
    xmlBufferFree(self->buffer);
    g_string_free(self->scratch, TRUE);
    g_free(self);
    return NULL;
}

/* XML 1.0 §2.2, production 2 */
static gboolean
is_xml_char(gunichar c)
{
    return c >= 0x20 ? c < 0xd800 || (c >= 0xe000 && c != 0xfffe && c != 0xffff) : c == '\t' || c == '\n' || c == '\r';
}

/* A text of valid UTF-8 without what XML has not. It is NUL-terminated, and may hold more. */
static const char *
clean(QdResultsXml *self, const char *text, gsize n_bytes)
{
    const char *end = text + n_bytes;
    const char *p = text;

    while (p < end && is_xml_char(g_utf8_get_char(p)))
        p = g_utf8_next_char(p);
    if (p == end)
        return text;

    g_string_truncate(self->scratch, 0);
    for (p = text; p < end; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);

        g_string_append_unichar(self->scratch, is_xml_char(c) ? c : 0xfffd);
    }
    return self->scratch->str;
}

static void
start(QdResultsXml *self, const char *element)
{
    (void) xmlTextWriterStartElement(self->writer, (const xmlChar *) element);
}

static void
end_element(QdResultsXml *self)
{
    (void) xmlTextWriterEndElement(self->writer);
}

static void
attribute(QdResultsXml *self, const char *name, const char *text, gsize n_bytes)
{
    (void) xmlTextWriterWriteAttribute(self->writer, (const xmlChar *) name, (const xmlChar *) clean(self, text, n_bytes));
}

static void
flush(QdResultsXml *self, GString *out)
{
    (void) xmlTextWriterFlush(self->writer);
    g_string_append_len(out, (const char *) xmlBufferContent(self->buffer), xmlBufferLength(self->buffer));
    xmlBufferEmpty(self->buffer);
}

static void
line(QdResultsXml *self)
{
    (void) xmlTextWriterWriteRaw(self->writer, (const xmlChar *) "\n");
}

void
qd_results_xml_begin(QdResultsXml *self, char *const *names, GString *out)
{
    (void) xmlTextWriterStartDocument(self->writer, NULL, "UTF-8", NULL);
    start(self, "sparql");
    attribute(self, "xmlns", NAMESPACE, strlen(NAMESPACE));
    start(self, "head");
    for (; names != NULL && *names != NULL; names++) {
        start(self, "variable");
        attribute(self, "name", *names, strlen(*names));
        end_element(self);
    }
    end_element(self);
    if (names != NULL)
        start(self, "results");
    flush(self, out);
}

static void
put_term(QdResultsXml *self, const QdTerm *term)
{
    static const char *const elements[] = { "uri", "literal", "literal", "literal", "bnode" };

    start(self, elements[term->kind]);
    if (term->qualifier != NULL)
        attribute(self, term->kind == QD_TERM_LANG_STRING ? "xml:lang" : "datatype", term->qualifier, term->n_qualifier);
    (void) xmlTextWriterWriteString(self->writer, (const xmlChar *) clean(self, term->lexical, term->n_lexical));
    end_element(self);
}

void
qd_results_xml_put_row(QdResultsXml *self, char *const *names, const QdResultsCell *cells, guint n_cells, GString *out)
{
    line(self);
    start(self, "result");
    for (guint i = 0; i < n_cells; i++) {
        if (!cells[i].bound)
            continue;
        start(self, "binding");
        attribute(self, "name", names[i], strlen(names[i]));
        put_term(self, &cells[i].term);
        end_element(self);
    }
    end_element(self);
    flush(self, out);
}

void
qd_results_xml_put_boolean(QdResultsXml *self, gboolean value, GString *out)
{
    (void) xmlTextWriterWriteElement(self->writer, (const xmlChar *) "boolean", (const xmlChar *) (value ? "true" : "false"));
    flush(self, out);
}

void
qd_results_xml_end(QdResultsXml *self, gboolean boolean, GString *out)
{
    if (!boolean)
        end_element(self);
    end_element(self);
    (void) xmlTextWriterEndDocument(self->writer);
    flush(self, out);
}
