/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One frame for each open element. What may come inside is the frame's state; node elements and property elements alternate.
 *
 * Paragraphs (§) are those of "RDF 1.1 XML Syntax".
 */
#include "daemon/rdfio/rdfxml-grammar.h"

#include <string.h>

#include "daemon/rdf/iri.h"
#include "daemon/rdfio/xml-name.h"

typedef enum State {
    STATE_RDF,        /* rdf:RDF: node elements */
    STATE_NODE,       /* a node, or parseType="Resource": property elements */
    STATE_PROPERTY,   /* text, or one node element */
    STATE_EMPTY,      /* a property that its attributes complete */
    STATE_COLLECTION, /* parseType="Collection": node elements */
    STATE_LITERAL,    /* parseType="Literal": one text */
} State;

typedef struct Frame {
    State state;
    GString *base;
    GString *language; /* empty: none */
    QdTermKind subject_kind;
    GString *subject;   /* NODE; for a property the node that it is of */
    GString *property;  /* PROPERTY and later: its IRI */
    GString *statement; /* PROPERTY and later: the IRI that reifies it, or empty */
    GString *datatype;  /* PROPERTY: or empty */
    GString *text;      /* PROPERTY, LITERAL */
    GString *cell;      /* COLLECTION: the label of the last cell, or empty */
    gboolean has_child; /* PROPERTY */
    guint64 n_items;    /* NODE: rdf:li so far */
} Frame;

struct QdRdfXmlGrammar {
    const QdRdfReading *reading;
    GPtrArray *frames; /* of Frame; those beyond n_frames are kept for reuse */
    guint n_frames;
    GHashTable *identifiers; /* the IRIs that rdf:ID made: each may once */
    gsize n_identifier_bytes;
    guint64 n_anonymous;
};

static gboolean
is_space(const char *text, gsize n)
{
    for (gsize i = 0; i < n; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\n' && text[i] != '\r')
            return FALSE;
    return TRUE;
}

/* Frames ---------------------------------------------------------------------------------------------------------------- */

static void
frame_free(gpointer data)
{
    Frame *frame = data;
    GString *texts[] = { frame->base,      frame->language, frame->subject, frame->property,
                         frame->statement, frame->datatype, frame->text,    frame->cell };

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        (void) g_string_free(texts[i], TRUE);
    g_free(frame);
}

static Frame *
frame_new(void)
{
    Frame *frame = g_new0(Frame, 1);
    GString **texts[] = { &frame->base,      &frame->language, &frame->subject, &frame->property,
                          &frame->statement, &frame->datatype, &frame->text,    &frame->cell };

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        *texts[i] = g_string_new(NULL);
    return frame;
}

static Frame *
get_top(const QdRdfXmlGrammar *self)
{
    return self->n_frames > 0 ? self->frames->pdata[self->n_frames - 1] : NULL;
}

/* A frame with base and language of the one below. */
static Frame *
push_frame(QdRdfXmlGrammar *self, GError **error)
{
    const Frame *outer = get_top(self);
    Frame *frame;

    if (self->n_frames >= qd_limits_get(self->reading->limits, QD_LIMIT_RDF_DEPTH)) {
        qd_limit_set_error(error, self->reading->limits, QD_LIMIT_RDF_DEPTH, "nested too deep");
        return NULL;
    }
    if (self->n_frames == self->frames->len)
        g_ptr_array_add(self->frames, frame_new());
    frame = self->frames->pdata[self->n_frames++];
    g_string_assign(frame->base, outer != NULL ? outer->base->str : self->reading->base != NULL ? self->reading->base : "");
    g_string_assign(frame->language, outer != NULL ? outer->language->str : "");
    g_string_truncate(frame->statement, 0);
    g_string_truncate(frame->datatype, 0);
    g_string_truncate(frame->text, 0);
    g_string_truncate(frame->cell, 0);
    frame->has_child = FALSE;
    frame->n_items = 0;
    return frame;
}

/* Triples --------------------------------------------------------------------------------------------------------------- */

static QdTerm
view(QdTermKind kind, const GString *text)
{
    return (QdTerm){ .kind = kind, .lexical = text->str, .n_lexical = text->len };
}

static QdTerm
view_iri(const char *iri)
{
    return (QdTerm){ .kind = QD_TERM_IRI, .lexical = iri, .n_lexical = strlen(iri) };
}

static gboolean
emit(QdRdfXmlGrammar *self, const QdTerm *s, const char *p, const QdTerm *o, GError **error)
{
    QdTerm predicate = view_iri(p);

    return self->reading->quad_func(s, &predicate, o, NULL, self->reading->data, error);
}

/* The triple of a property, and what rdf:ID says of it (§7.3). */
static gboolean
emit_property(QdRdfXmlGrammar *self, const Frame *frame, const QdTerm *o, GError **error)
{
    QdTerm s = view(frame->subject_kind, frame->subject);
    QdTerm p = view(QD_TERM_IRI, frame->property);
    QdTerm statement = view(QD_TERM_IRI, frame->statement);
    QdTerm type = view_iri(QD_RDF_NAMESPACE "Statement");

    if (!emit(self, &s, frame->property->str, o, error))
        return FALSE;
    return frame->statement->len == 0 || (emit(self, &statement, QD_RDF_NAMESPACE "type", &type, error) &&
                                          emit(self, &statement, QD_RDF_NAMESPACE "subject", &s, error) &&
                                          emit(self, &statement, QD_RDF_NAMESPACE "predicate", &p, error) &&
                                          emit(self, &statement, QD_RDF_NAMESPACE "object", o, error));
}

static void
make_anonymous(QdRdfXmlGrammar *self, GString *out)
{
    g_string_printf(out, QD_RDF_ANONYMOUS_PREFIX "%" G_GUINT64_FORMAT, ++self->n_anonymous);
}

static gboolean
resolve(const GString *base, const char *reference, GString *out, GError **error)
{
    gsize n = strlen(reference);

    g_string_truncate(out, 0);
    if (!qd_iri_check(reference, n))
        return qd_rdfxml_fail(error, "'%.100s' is no IRI: it has characters that IRIs exclude", reference);
    if (!qd_iri_resolve(base->len > 0 ? base->str : NULL, base->len, reference, n, out))
        return qd_rdfxml_fail(error, "IRI '%.100s' is relative, and there is no base", reference);
    return TRUE;
}

/* rdf:ID: the IRI of a fragment, which no other element with the same base may have. */
static gboolean
make_identifier(QdRdfXmlGrammar *self, const Frame *frame, const char *id, GString *out, GError **error)
{
    g_autofree char *reference = g_strconcat("#", id, NULL);

    if (!qd_xml_name_check(id, strlen(id)))
        return qd_rdfxml_fail(error, "rdf:ID '%.100s' is no XML name", id);
    if (!resolve(frame->base, reference, out, error))
        return FALSE;
    if (!g_hash_table_add(self->identifiers, g_strdup(out->str)))
        return qd_rdfxml_fail(error, "rdf:ID '%.100s' is there twice", id);
    self->n_identifier_bytes += out->len;
    if (self->n_identifier_bytes > qd_limits_get(self->reading->limits, QD_LIMIT_IMPORT_MEMORY_BYTES)) {
        qd_limit_set_error(error, self->reading->limits, QD_LIMIT_IMPORT_MEMORY_BYTES, "too many rdf:ID in one document");
        return FALSE;
    }
    return TRUE;
}

static gboolean
make_label(const char *id, GString *out, GError **error)
{
    if (!qd_xml_name_check(id, strlen(id)))
        return qd_rdfxml_fail(error, "rdf:nodeID '%.100s' is no XML name", id);

    g_string_truncate(out, 0);
    qd_rdf_append_label(out, id, strlen(id));
    return TRUE;
}

/* Attributes ------------------------------------------------------------------------------------------------------------ */

static gboolean
take_xml_attributes(Frame *frame, const QdXmlAttribute *attributes, guint n, GError **error)
{
    g_autoptr(GString) base = g_string_new(NULL);

    for (guint i = 0; i < n; i++) {
        if (attributes[i].uri == NULL || !g_str_equal(attributes[i].uri, QD_XML_NAMESPACE))
            continue;
        if (g_str_equal(attributes[i].local, "lang")) {
            if (attributes[i].value[0] != '\0' && !qd_rdfxml_is_language_tag(attributes[i].value))
                return qd_rdfxml_fail(error, "xml:lang '%.100s' is no language tag", attributes[i].value);
            g_string_assign(frame->language, attributes[i].value);
        }
        if (!g_str_equal(attributes[i].local, "base"))
            continue;
        if (!resolve(frame->base, attributes[i].value, base, error) || !qd_iri_check_base(base->len, error))
            return FALSE;
        g_string_assign(frame->base, base->str);
    }
    return TRUE;
}

/* Attributes that are properties of @s: a literal each, but rdf:type (§7.2.11, §7.2.21). */
static gboolean
emit_property_attributes(QdRdfXmlGrammar *self, const Frame *frame, const QdTerm *s, const QdXmlAttribute *attributes, guint n,
                         GError **error)
{
    g_autoptr(GString) type = g_string_new(NULL);

    for (guint i = 0; i < n; i++) {
        const char *uri = attributes[i].uri != NULL ? attributes[i].uri : QD_RDF_NAMESPACE;
        g_autofree char *property = NULL;
        QdTerm object = { .kind = QD_TERM_STRING, .lexical = attributes[i].value, .n_lexical = strlen(attributes[i].value) };

        if (!qd_rdfxml_is_property(&attributes[i]))
            continue;
        property = g_strconcat(uri, attributes[i].local, NULL);
        if (g_str_equal(property, QD_RDF_NAMESPACE "type")) {
            if (!resolve(frame->base, attributes[i].value, type, error))
                return FALSE;
            object = view(QD_TERM_IRI, type);
        } else if (frame->language->len > 0) {
            object.kind = QD_TERM_LANG_STRING;
            object.qualifier = frame->language->str;
            object.n_qualifier = frame->language->len;
        }
        if (!emit(self, s, property, &object, error))
            return FALSE;
    }
    return TRUE;
}

/* Node elements (§7.2.11) ----------------------------------------------------------------------------------------------- */

static gboolean
make_subject(QdRdfXmlGrammar *self, Frame *frame, const QdRdfXmlMeaning *meaning, GError **error)
{
    guint n_names = (meaning->id != NULL) + (meaning->about != NULL) + (meaning->node_id != NULL);

    if (n_names > 1)
        return qd_rdfxml_fail(error, "only one of rdf:ID, rdf:about and rdf:nodeID can name a node");
    if (meaning->resource != NULL || meaning->parse_type != NULL || meaning->datatype != NULL)
        return qd_rdfxml_fail(error, "rdf:%s is an attribute of properties, not of nodes",
                              meaning->resource != NULL     ? "resource"
                              : meaning->parse_type != NULL ? "parseType"
                                                            : "datatype");

    frame->subject_kind = meaning->id != NULL || meaning->about != NULL ? QD_TERM_IRI : QD_TERM_BNODE;
    if (meaning->id != NULL)
        return make_identifier(self, frame, meaning->id, frame->subject, error);
    if (meaning->about != NULL)
        return resolve(frame->base, meaning->about, frame->subject, error);
    if (meaning->node_id != NULL)
        return make_label(meaning->node_id, frame->subject, error);
    make_anonymous(self, frame->subject);
    return TRUE;
}

/* The node is the object of the property that it stands in, or a member of its collection. */
static gboolean
connect_node(QdRdfXmlGrammar *self, Frame *outer, const QdTerm *node, GError **error)
{
    g_autofree char *last = NULL;
    QdTerm before;
    QdTerm cell;

    if (outer->state == STATE_PROPERTY) {
        outer->has_child = TRUE;
        return emit_property(self, outer, node, error);
    }
    if (outer->state != STATE_COLLECTION)
        return TRUE;

    last = g_strdup(outer->cell->str);
    before = (QdTerm){ .kind = QD_TERM_BNODE, .lexical = last, .n_lexical = strlen(last) };
    make_anonymous(self, outer->cell);
    cell = view(QD_TERM_BNODE, outer->cell);
    if (last[0] == '\0' ? !emit_property(self, outer, &cell, error) : !emit(self, &before, QD_RDF_NAMESPACE "rest", &cell, error))
        return FALSE;
    return emit(self, &cell, QD_RDF_NAMESPACE "first", node, error);
}

static gboolean
start_node(QdRdfXmlGrammar *self, const char *uri, const char *local, const QdXmlAttribute *attributes, guint n, GError **error)
{
    Frame *outer = get_top(self);
    g_autofree char *type_iri = g_strconcat(uri, local, NULL);
    QdRdfXmlMeaning meaning;
    Frame *frame;
    QdTerm subject;
    QdTerm type = view_iri(type_iri);

    if (qd_rdfxml_is_reserved(uri, local, "li"))
        return qd_rdfxml_fail(error, "rdf:%s is not allowed as a node", local);
    if (outer != NULL && outer->state == STATE_PROPERTY) {
        if (outer->has_child)
            return qd_rdfxml_fail(error, "a second node in one property");
        if (outer->datatype->len > 0 || !is_space(outer->text->str, outer->text->len))
            return qd_rdfxml_fail(error, "a node beside text, or in a property with a datatype");
    }
    frame = push_frame(self, error);
    if (frame == NULL || !take_xml_attributes(frame, attributes, n, error) ||
        !qd_rdfxml_read_meaning(attributes, n, &meaning, error) || !make_subject(self, frame, &meaning, error))
        return FALSE;

    frame->state = STATE_NODE;
    subject = view(frame->subject_kind, frame->subject);
    if (outer != NULL && !connect_node(self, outer, &subject, error))
        return FALSE;
    if (!(qd_rdfxml_is_rdf(uri) && g_str_equal(local, "Description")) &&
        !emit(self, &subject, QD_RDF_NAMESPACE "type", &type, error))
        return FALSE;
    return emit_property_attributes(self, frame, &subject, attributes, n, error);
}

/* Property elements (§7.2.14) ------------------------------------------------------------------------------------------- */

/* parseType (§7.2.17 to §7.2.20): anything unknown is as "Literal". */
static gboolean
start_parse_type(QdRdfXmlGrammar *self, Frame *frame, const QdRdfXmlMeaning *meaning, gboolean *ret_is_literal, GError **error)
{
    if (meaning->resource != NULL || meaning->node_id != NULL || meaning->datatype != NULL || meaning->n_properties > 0)
        return qd_rdfxml_fail(error, "beside rdf:parseType only rdf:ID is allowed");

    if (g_str_equal(meaning->parse_type, "Resource")) {
        g_autoptr(GString) node = g_string_new(NULL);
        QdTerm object;

        make_anonymous(self, node);
        object = view(QD_TERM_BNODE, node);
        if (!emit_property(self, frame, &object, error))
            return FALSE;
        frame->state = STATE_NODE;
        frame->subject_kind = QD_TERM_BNODE;
        g_string_assign(frame->subject, node->str);
        return TRUE;
    }
    frame->state = g_str_equal(meaning->parse_type, "Collection") ? STATE_COLLECTION : STATE_LITERAL;
    *ret_is_literal = frame->state == STATE_LITERAL;
    return TRUE;
}

/* The object is in the attributes (§7.2.21). */
static gboolean
start_empty(QdRdfXmlGrammar *self, Frame *frame, const QdRdfXmlMeaning *meaning, const QdXmlAttribute *attributes, guint n,
            GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    QdTerm object;

    if (meaning->datatype != NULL)
        return qd_rdfxml_fail(error, "rdf:datatype in a property whose object is a node");
    if (meaning->resource != NULL && meaning->node_id != NULL)
        return qd_rdfxml_fail(error, "only one of rdf:resource and rdf:nodeID can name an object");

    if (meaning->resource != NULL) {
        if (!resolve(frame->base, meaning->resource, text, error))
            return FALSE;
    } else if (meaning->node_id != NULL) {
        if (!make_label(meaning->node_id, text, error))
            return FALSE;
    } else {
        make_anonymous(self, text);
    }
    frame->state = STATE_EMPTY;
    object = view(meaning->resource != NULL ? QD_TERM_IRI : QD_TERM_BNODE, text);
    return emit_property(self, frame, &object, error) && emit_property_attributes(self, frame, &object, attributes, n, error);
}

static gboolean
start_property(QdRdfXmlGrammar *self, const char *uri, const char *local, const QdXmlAttribute *attributes, guint n,
               gboolean *ret_is_literal, GError **error)
{
    Frame *outer = get_top(self);
    QdRdfXmlMeaning meaning;
    Frame *frame;

    if (qd_rdfxml_is_reserved(uri, local, "Description"))
        return qd_rdfxml_fail(error, "rdf:%s is not allowed as a property", local);
    frame = push_frame(self, error);
    if (frame == NULL || !take_xml_attributes(frame, attributes, n, error) ||
        !qd_rdfxml_read_meaning(attributes, n, &meaning, error))
        return FALSE;
    if (meaning.about != NULL)
        return qd_rdfxml_fail(error, "rdf:about is an attribute of nodes, not of properties");

    frame->subject_kind = outer->subject_kind;
    g_string_assign(frame->subject, outer->subject->str);
    if (qd_rdfxml_is_rdf(uri) && g_str_equal(local, "li"))
        g_string_printf(frame->property, QD_RDF_NAMESPACE "_%" G_GUINT64_FORMAT, ++outer->n_items);
    else
        g_string_printf(frame->property, "%s%s", uri, local);
    if (meaning.id != NULL && !make_identifier(self, frame, meaning.id, frame->statement, error))
        return FALSE;

    if (meaning.parse_type != NULL)
        return start_parse_type(self, frame, &meaning, ret_is_literal, error);
    if (meaning.resource != NULL || meaning.node_id != NULL || meaning.n_properties > 0)
        return start_empty(self, frame, &meaning, attributes, n, error);
    frame->state = STATE_PROPERTY;
    return meaning.datatype == NULL || resolve(frame->base, meaning.datatype, frame->datatype, error);
}

/* ----------------------------------------------------------------------------------------------------------------------- */

static gboolean
start_rdf(QdRdfXmlGrammar *self, const QdXmlAttribute *attributes, guint n, GError **error)
{
    Frame *frame = push_frame(self, error);

    if (frame == NULL || !take_xml_attributes(frame, attributes, n, error))
        return FALSE;
    for (guint i = 0; i < n; i++)
        if (!qd_rdfxml_is_of_xml(&attributes[i]))
            return qd_rdfxml_fail(error, "attribute '%.100s' is not allowed in rdf:RDF", attributes[i].local);

    frame->state = STATE_RDF;
    return TRUE;
}

gboolean
qd_rdfxml_grammar_start(QdRdfXmlGrammar *self, const char *uri, const char *local, const QdXmlAttribute *attributes,
                        guint n_attributes, gboolean *ret_is_literal, GError **error)
{
    const Frame *outer = get_top(self);

    *ret_is_literal = FALSE;
    if (outer == NULL && qd_rdfxml_is_rdf(uri) && g_str_equal(local, "RDF"))
        return start_rdf(self, attributes, n_attributes, error);
    if (uri == NULL || !qd_iri_is_absolute(uri, strlen(uri)) || !qd_iri_check(uri, strlen(uri)))
        return qd_rdfxml_fail(error, "element '%.100s' has no namespace that is an absolute IRI", local);
    if (outer == NULL)
        return start_node(self, uri, local, attributes, n_attributes, error);

    switch (outer->state) {
    case STATE_RDF:
    case STATE_PROPERTY:
    case STATE_COLLECTION:
        return start_node(self, uri, local, attributes, n_attributes, error);
    case STATE_NODE:
        return start_property(self, uri, local, attributes, n_attributes, ret_is_literal, error);
    case STATE_EMPTY:
        return qd_rdfxml_fail(error, "an element in a property whose object is in its attributes");
    case STATE_LITERAL:
        break;
    }
    g_assert_not_reached();
}

gboolean
qd_rdfxml_grammar_text(QdRdfXmlGrammar *self, const char *text, gsize n_bytes, GError **error)
{
    Frame *frame = get_top(self);

    if (frame->state == STATE_LITERAL || (frame->state == STATE_PROPERTY && !frame->has_child)) {
        g_string_append_len(frame->text, text, (gssize) n_bytes);
        if (frame->text->len <= qd_limits_get(self->reading->limits, QD_LIMIT_VALUE_BYTES))
            return TRUE;
        qd_limit_set_error(error, self->reading->limits, QD_LIMIT_VALUE_BYTES, "literal is too long");
        return FALSE;
    }
    return is_space(text, n_bytes) || qd_rdfxml_fail(error, "text where only elements are allowed");
}

static gboolean
end_property(QdRdfXmlGrammar *self, const Frame *frame, GError **error)
{
    QdTerm object = view(QD_TERM_STRING, frame->text);

    if (frame->datatype->len > 0) {
        qd_term_init_literal(&object, frame->text->str, frame->text->len, frame->datatype->str, frame->datatype->len);
    } else if (frame->language->len > 0) {
        object.kind = QD_TERM_LANG_STRING;
        object.qualifier = frame->language->str;
        object.n_qualifier = frame->language->len;
    }
    return emit_property(self, frame, &object, error);
}

static gboolean
end_collection(QdRdfXmlGrammar *self, const Frame *frame, GError **error)
{
    QdTerm nil = view_iri(QD_RDF_NAMESPACE "nil");
    QdTerm cell = view(QD_TERM_BNODE, frame->cell);

    if (frame->cell->len == 0)
        return emit_property(self, frame, &nil, error);
    return emit(self, &cell, QD_RDF_NAMESPACE "rest", &nil, error);
}

gboolean
qd_rdfxml_grammar_end(QdRdfXmlGrammar *self, GError **error)
{
    const Frame *frame = get_top(self);
    QdTerm literal = { 0 };

    self->n_frames--;
    switch (frame->state) {
    case STATE_RDF:
    case STATE_NODE:
    case STATE_EMPTY:
        return TRUE;
    case STATE_PROPERTY:
        return frame->has_child || end_property(self, frame, error);
    case STATE_COLLECTION:
        return end_collection(self, frame, error);
    case STATE_LITERAL:
        qd_term_init_literal(&literal, frame->text->str, frame->text->len, QD_RDF_NAMESPACE "XMLLiteral",
                             strlen(QD_RDF_NAMESPACE "XMLLiteral"));
        return emit_property(self, frame, &literal, error);
    }
    g_assert_not_reached();
}

QdRdfXmlGrammar *
qd_rdfxml_grammar_new(const QdRdfReading *reading)
{
    QdRdfXmlGrammar *self = g_new0(QdRdfXmlGrammar, 1);

    self->reading = reading;
    self->frames = g_ptr_array_new_with_free_func(frame_free);
    self->identifiers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return self;
}

QdRdfXmlGrammar *
qd_rdfxml_grammar_free(QdRdfXmlGrammar *self)
{
    if (self == NULL)
        return NULL;

    g_ptr_array_unref(self->frames);
    g_hash_table_unref(self->identifiers);
    g_free(self);
    return NULL;
}
