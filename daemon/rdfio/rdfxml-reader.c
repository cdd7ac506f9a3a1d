/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * XML for the reader of RDF/XML: libxml2's push parser calls the grammar. An XML literal becomes a small document of its own,
 * whose exclusive canonical form is the literal's text.
 *
 * libxml2 sees no DOCTYPE: QdXmlEntities takes it away and writes the entities out, within limits. So there are none for libxml2 to
 * expand and no files to fetch; a DOCTYPE that comes through, in UTF-16, ends the reading. libxml2's own bounds (no XML_PARSE_HUGE)
 * hold beside ours.
 */
#include "daemon/rdfio/rdfxml-reader.h"

#include <libxml/c14n.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/rdfio/rdfxml-grammar.h"
#include "daemon/rdfio/xml-entities.h"
#include "daemon/rdfio/xml-open-tag.h"

/* Around a literal's content while it is canonical text: it has no namespace, so that it adds none. */
#define WRAPPER "x"
#define N_WRAPPER_START (sizeof "<" WRAPPER ">" - 1)
#define N_WRAPPER_END (sizeof "</" WRAPPER ">" - 1)
/* What a node of libxml2 takes, at least. */
#define NODE_BYTES 120
/* libxml2 gets so much at a time: it compares the attributes of a tag that ends within it with each other. */
#define FEED_BYTES 8192

typedef struct Reader {
    const QdRdfReading *reading;
    QdRdfXmlGrammar *grammar;
    xmlParserCtxtPtr parser;
    GError *error;
    GArray *attributes; /* of QdXmlAttribute */
    QdXmlOpenTag open_tag;
    GArray *n_declared; /* of guint: the namespaces that each open element declares */
    guint n_namespaces; /* of all of them */

    /* while in an XML literal */
    xmlDocPtr literal;
    xmlNodePtr parent;
    guint depth; /* of elements within it */
    gsize n_literal_bytes;
} Reader;

/* Errors ---------------------------------------------------------------------------------------------------------------- */

/* Takes @error over. */
static void
stop(Reader *self, GError *error)
{
    self->error = error;
    xmlStopParser(self->parser);
}

static void
stop_here(Reader *self, GError *error)
{
    /* what the caller's function said of its own, say the store, has no place */
    QwError code = qd_error_get_code(error);

    if (code == QW_ERROR_SYNTAX || code == QW_ERROR_TOO_COMPLEX || code == QW_ERROR_TOO_BIG)
        g_prefix_error(&error, "%d:%d: ", xmlSAX2GetLineNumber(self->parser), MAX(xmlSAX2GetColumnNumber(self->parser), 1));
    stop(self, error);
}

/* libxml2's bound that it is, or 0. Its message for the first names none, and has the code of every error within it. */
static int
get_bound(const Reader *self, xmlErrorPtr xml_error, const char **ret_what)
{
    const xmlParserInput *input = self->parser->input;

    if (xml_error->code == XML_ERR_INTERNAL_ERROR && input != NULL &&
        (input->end - input->cur > XML_MAX_LOOKUP_LIMIT || input->cur - input->base > XML_MAX_LOOKUP_LIMIT)) {
        *ret_what = "a tag, with what its entities stand for, a comment or a processing instruction";
        return XML_MAX_LOOKUP_LIMIT;
    }
    if (xml_error->code == XML_ERR_NAME_TOO_LONG) {
        *ret_what = "a name";
        return XML_MAX_NAME_LENGTH;
    }
    return 0;
}

static void
on_error(void *data, xmlErrorPtr xml_error)
{
    Reader *self = data;
    g_autofree char *message = NULL;
    GError *error = NULL;
    const char *what;
    int bound;

    if (self->error != NULL || xml_error->level < XML_ERR_ERROR)
        return;

    bound = get_bound(self, xml_error, &what);
    if (bound > 0) {
        qd_error_set(&error, QW_ERROR_TOO_COMPLEX, "%s is too long: libxml2 reads at most %d bytes", what, bound);
        stop_here(self, error);
        return;
    }
    message = g_strstrip(g_strdelimit(g_utf8_make_valid(xml_error->message != NULL ? xml_error->message : "", -1), "\n", ' '));
    qd_error_set(&error, xml_error->code == XML_ERR_NO_MEMORY ? QW_ERROR_NO_MEMORY : QW_ERROR_SYNTAX,
                 "%d:%d: no well-formed XML: %s", xml_error->line, MAX(xml_error->int2, 1), message);
    stop(self, error);
}

static void
on_internal_subset(void *data, const xmlChar *name, const xmlChar *public_id, const xmlChar *system_id)
{
    Reader *self = data;
    GError *error = NULL;

    if (self->error != NULL)
        return;
    qd_error_set(&error, QW_ERROR_SYNTAX,
                 "a DOCTYPE is allowed once, before the first element, in UTF-8 or another encoding that contains ASCII");
    stop_here(self, error);
}

static xmlEntityPtr
on_get_entity(void *data, const xmlChar *name)
{
    return xmlGetPredefinedEntity(name);
}

/* An attribute's value. Without XML_PARSE_NOENT libxml2 leaves each "&", however it is written, as "&#38;" and nothing else. */
static char *
copy_value(const xmlChar *start, const xmlChar *end)
{
    static const char escaped[] = "&#38;";
    char *value = g_strndup((const char *) start, (gsize) (end - start));
    char *out = strstr(value, escaped);

    for (const char *p = out; p != NULL && *p != '\0';) {
        *out++ = *p;
        p += g_str_has_prefix(p, escaped) ? strlen(escaped) : 1;
    }
    if (out != NULL)
        *out = '\0';
    return value;
}

/* XML literals ---------------------------------------------------------------------------------------------------------- */

static gboolean
charge_literal(Reader *self, gsize n_bytes)
{
    const QdLimits *limits = self->reading->limits;
    GError *error = NULL;

    self->n_literal_bytes += n_bytes;
    if (self->n_literal_bytes <= qd_limits_get(limits, QD_LIMIT_VALUE_BYTES))
        return TRUE;

    qd_limit_set_error(&error, limits, QD_LIMIT_VALUE_BYTES, "XML literal is too long");
    stop_here(self, error);
    return FALSE;
}

static void
begin_literal(Reader *self)
{
    self->literal = xmlNewDoc(BAD_CAST "1.0");
    self->parent = xmlNewDocNode(self->literal, NULL, BAD_CAST WRAPPER, NULL);
    (void) xmlDocSetRootElement(self->literal, self->parent);
    self->depth = 0;
    self->n_literal_bytes = 0;
}

static xmlNsPtr
find_namespace(Reader *self, xmlNodePtr node, const xmlChar *prefix, const xmlChar *uri)
{
    xmlNsPtr found = xmlSearchNs(self->literal, node, prefix);

    return found != NULL && xmlStrEqual(found->href, uri) ? found : xmlNewNs(node, uri, prefix);
}

/* @attributes: five pointers each, as SAX2 gives them: name, prefix, namespace, value, its end */
static void
add_literal_element(Reader *self, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri, int n_attributes,
                    const xmlChar **attributes)
{
    const QdLimits *limits = self->reading->limits;
    GError *error = NULL;
    xmlNodePtr node;

    if (++self->depth > qd_limits_get(limits, QD_LIMIT_RDF_DEPTH)) {
        qd_limit_set_error(&error, limits, QD_LIMIT_RDF_DEPTH, "nested too deep");
        stop_here(self, error);
        return;
    }
    if (!charge_literal(self, NODE_BYTES + strlen((const char *) local)))
        return;
    node = xmlAddChild(self->parent, xmlNewDocNode(self->literal, NULL, local, NULL));
    if (uri != NULL)
        xmlSetNs(node, find_namespace(self, node, prefix, uri));
    for (int i = 0; i < n_attributes; i++, attributes += 5) {
        g_autofree char *value = copy_value(attributes[3], attributes[4]);

        if (!charge_literal(self, NODE_BYTES + strlen(value)))
            return;
        (void) xmlNewNsProp(node, attributes[2] != NULL ? find_namespace(self, node, attributes[1], attributes[2]) : NULL,
                            attributes[0], BAD_CAST value);
    }
    self->parent = node;
}

static void
add_literal_node(Reader *self, xmlNodePtr node, gsize n_bytes)
{
    (void) xmlAddChild(self->parent, node);
    (void) charge_literal(self, NODE_BYTES + n_bytes);
}

static gboolean
finish_literal(Reader *self, GError **error)
{
    xmlChar *text = NULL;
    int n = xmlC14NDocDumpMemory(self->literal, NULL, XML_C14N_EXCLUSIVE_1_0, NULL, 1, &text);
    gboolean ok = FALSE;

    if (n < (int) (N_WRAPPER_START + N_WRAPPER_END))
        qd_error_set(error, QW_ERROR_SYNTAX, "XML literal has no canonical form");
    else if (n == (int) sizeof "<" WRAPPER "></" WRAPPER ">" - 1)
        ok = TRUE;
    else
        ok = qd_rdfxml_grammar_text(self->grammar, (const char *) text + N_WRAPPER_START,
                                    (gsize) n - N_WRAPPER_START - N_WRAPPER_END, error);
    xmlFree(text);
    g_clear_pointer(&self->literal, xmlFreeDoc);
    return ok;
}

/* Attributes ------------------------------------------------------------------------------------------------------------ */

/* libxml2 compares them with each other, and looks each prefix up in all namespaces that are declared. */
static gboolean
check_attributes(Reader *self, guint64 n)
{
    const QdLimits *limits = self->reading->limits;
    GError *error = NULL;

    if (n + self->n_namespaces <= qd_limits_get(limits, QD_LIMIT_XML_ATTRIBUTES))
        return TRUE;

    qd_limit_set_error(&error, limits, QD_LIMIT_XML_ATTRIBUTES,
                       "a tag has too many attributes and namespaces, or the elements around it have: use elements for attributes");
    stop_here(self, error);
    return FALSE;
}

static void
declare_namespaces(Reader *self, guint n)
{
    g_array_append_val(self->n_declared, n);
    self->n_namespaces += n;
}

static void
forget_namespaces(Reader *self)
{
    self->n_namespaces -= g_array_index(self->n_declared, guint, self->n_declared->len - 1);
    g_array_set_size(self->n_declared, self->n_declared->len - 1);
}

/* SAX ------------------------------------------------------------------------------------------------------------------- */

static void
on_start_element(void *data, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri, int n_namespaces,
                 const xmlChar **namespaces, int n_attributes, int n_defaulted, const xmlChar **attributes)
{
    Reader *self = data;
    gboolean is_literal = FALSE;
    GError *error = NULL;
    gboolean ok;

    if (self->error != NULL || !check_attributes(self, (guint64) n_attributes + (guint64) n_namespaces))
        return;
    declare_namespaces(self, (guint) n_namespaces);
    if (self->literal != NULL) {
        add_literal_element(self, local, prefix, uri, n_attributes, attributes);
        return;
    }
    for (int i = 0; i < n_attributes; i++, attributes += 5) {
        QdXmlAttribute attribute = {
            .uri = (const char *) attributes[2],
            .local = (const char *) attributes[0],
            .value = copy_value(attributes[3], attributes[4]),
        };

        g_array_append_val(self->attributes, attribute);
    }
    ok = qd_rdfxml_grammar_start(self->grammar, (const char *) uri, (const char *) local,
                                 (const QdXmlAttribute *) (void *) self->attributes->data, self->attributes->len, &is_literal,
                                 &error);
    g_array_set_size(self->attributes, 0);
    if (!ok)
        stop_here(self, error);
    else if (is_literal)
        begin_literal(self);
}

static void
on_end_element(void *data, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri)
{
    Reader *self = data;
    GError *error = NULL;

    if (self->error != NULL)
        return;
    forget_namespaces(self);
    if (self->literal != NULL && self->depth > 0) {
        self->depth--;
        self->parent = self->parent->parent;
        return;
    }
    if ((self->literal != NULL && !finish_literal(self, &error)) || !qd_rdfxml_grammar_end(self->grammar, &error))
        stop_here(self, error);
}

static void
on_text(void *data, const xmlChar *text, int n_bytes)
{
    Reader *self = data;
    GError *error = NULL;

    if (self->error != NULL)
        return;
    if (self->literal != NULL)
        add_literal_node(self, xmlNewDocTextLen(self->literal, text, n_bytes), (gsize) n_bytes);
    else if (!qd_rdfxml_grammar_text(self->grammar, (const char *) text, (gsize) n_bytes, &error))
        stop_here(self, error);
}

static void
on_comment(void *data, const xmlChar *text)
{
    Reader *self = data;

    if (self->error == NULL && self->literal != NULL)
        add_literal_node(self, xmlNewDocComment(self->literal, text), (gsize) xmlStrlen(text));
}

static void
on_instruction(void *data, const xmlChar *target, const xmlChar *text)
{
    Reader *self = data;

    if (self->error == NULL && self->literal != NULL)
        add_literal_node(self, xmlNewDocPI(self->literal, target, text), (gsize) xmlStrlen(text));
}

static const xmlSAXHandler handler = {
    .initialized = XML_SAX2_MAGIC,
    .internalSubset = on_internal_subset,
    .getEntity = on_get_entity,
    .startElementNs = on_start_element,
    .endElementNs = on_end_element,
    .characters = on_text,
    .ignorableWhitespace = on_text,
    .cdataBlock = on_text,
    .comment = on_comment,
    .processingInstruction = on_instruction,
    .serror = on_error,
};

/* ----------------------------------------------------------------------------------------------------------------------- */

static void
attribute_clear(gpointer data)
{
    g_free(((QdXmlAttribute *) data)->value);
}

/* The attributes of the tag that libxml2 keeps for its next call. */
static guint
count_open_tag(Reader *self)
{
    const xmlParserInput *input = self->parser->input;

    if (input == NULL || self->parser->instate == XML_PARSER_CDATA_SECTION)
        return 0;
    return qd_xml_open_tag_count(&self->open_tag, input->consumed + (guint64) (input->cur - input->base), (const char *) input->cur,
                                 (gsize) (input->end - input->cur));
}

/* A tag that never ends is counted while it comes; any other when it is read. */
static gboolean
feed(Reader *self, const char *text, gsize n_bytes, GError **error)
{
    while (n_bytes > 0 && self->error == NULL) {
        gsize n = MIN(n_bytes, FEED_BYTES);

        if (!qd_rdf_reading_check(self->reading, error))
            return FALSE;
        (void) xmlParseChunk(self->parser, text, (int) n, 0);
        if (self->error == NULL)
            (void) check_attributes(self, count_open_tag(self));
        text += n;
        n_bytes -= n;
    }
    return TRUE;
}

static gboolean
read_document(Reader *self, GError **error)
{
    g_autoptr(QdXmlEntities) entities = qd_xml_entities_new(self->reading);
    const char *text;
    gssize n = 0;

    while (self->error == NULL) {
        n = qd_xml_entities_read(entities, &text, error);
        if (n < 0 || !feed(self, text, (gsize) n, error))
            return FALSE;
        if (n == 0)
            break;
    }
    if (self->error == NULL)
        (void) xmlParseChunk(self->parser, NULL, 0, 1);
    if (self->error == NULL && !self->parser->wellFormed)
        qd_error_set(&self->error, QW_ERROR_SYNTAX, "1:1: no well-formed XML");
    if (self->error != NULL)
        g_propagate_error(error, g_steal_pointer(&self->error));
    return n == 0 && (error == NULL || *error == NULL);
}

static gpointer
init_libxml(gpointer data)
{
    xmlInitParser();
    return NULL;
}

gboolean
qd_rdfxml_read(const QdRdfReading *reading, GError **error)
{
    static GOnce once = G_ONCE_INIT;
    g_autoptr(QdRdfXmlGrammar) grammar = qd_rdfxml_grammar_new(reading);
    g_autoptr(GError) local_error = NULL;
    xmlSAXHandler sax = handler;
    Reader reader = { .reading = reading, .grammar = grammar };
    gboolean ok;

    (void) g_once(&once, init_libxml, NULL);
    reader.parser = xmlCreatePushParserCtxt(&sax, &reader, NULL, 0, NULL);
    if (reader.parser == NULL) {
        qd_error_set(error, QW_ERROR_NO_MEMORY, "out of memory for the XML parser");
        return FALSE;
    }
    (void) xmlCtxtUseOptions(reader.parser, XML_PARSE_NONET);
    reader.attributes = g_array_new(FALSE, FALSE, sizeof(QdXmlAttribute));
    g_array_set_clear_func(reader.attributes, attribute_clear);
    reader.n_declared = g_array_new(FALSE, FALSE, sizeof(guint));

    ok = read_document(&reader, &local_error);
    g_array_unref(reader.attributes);
    g_array_unref(reader.n_declared);
    g_clear_pointer(&reader.literal, xmlFreeDoc);
    xmlFreeParserCtxt(reader.parser);
    if (local_error != NULL)
        g_propagate_error(error, g_steal_pointer(&local_error));
    return ok;
}
