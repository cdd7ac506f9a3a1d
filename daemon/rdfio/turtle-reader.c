/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader of Turtle and TriG: recursive descent over one token of look-ahead.
 *
 * A token's text is gone with the next token. So terms that wait for others are kept in an arena: nesting pushes and pops
 * there, and a triple is made of views into it.
 */
#include "daemon/rdfio/turtle-reader.h"

#include <string.h>

#include "daemon/rdf/iri.h"
#include "daemon/rdfio/lexer.h"

/* A term whose texts are offsets in the arena. */
typedef struct Node {
    QdTermKind kind;
    gsize lexical;
    gsize n_lexical;
    gsize qualifier;
    gsize n_qualifier;
} Node;

typedef struct Reader {
    const QdRdfReading *reading;
    gboolean trig;
    QdLexer *lexer;
    QdToken token; /* the next one, not yet used */
    GString *base; /* empty: none */
    GHashTable *prefixes;
    GString *arena;
    gboolean has_graph;
    Node graph;
    guint depth;
    guint64 n_anonymous;
} Reader;

static gboolean read_object(Reader *self, const Node *s, const Node *p, GError **error);
static gboolean read_predicate_objects(Reader *self, const Node *s, GError **error);

static inline gboolean
next_token(Reader *self, GError **error)
{
    return qd_lexer_next(self->lexer, &self->token, error);
}

static gboolean
fail_expected(Reader *self, const char *expected, GError **error)
{
    g_autofree char *found = qd_token_describe(&self->token);

    qd_lexer_set_error(self->lexer, error, QW_ERROR_SYNTAX, self->token.offset, "unexpected %s, expected %s", found, expected);
    return FALSE;
}

static gboolean
expect(Reader *self, guint kind, const char *expected, GError **error)
{
    return self->token.kind == kind ? next_token(self, error) : fail_expected(self, expected, error);
}

static gboolean
token_is(const Reader *self, guint kind, const char *text)
{
    return self->token.kind == kind && self->token.n_text == strlen(text) &&
           memcmp(self->token.text, text, self->token.n_text) == 0;
}

static gboolean
enter(Reader *self, GError **error)
{
    guint line;
    guint column;

    if (self->depth++ < qd_limits_get(self->reading->limits, QD_LIMIT_RDF_DEPTH))
        return TRUE;

    qd_lexer_get_place(self->lexer, self->token.offset, &line, &column);
    qd_limit_set_error(error, self->reading->limits, QD_LIMIT_RDF_DEPTH, "%u:%u: nested too deep", line, column);
    return FALSE;
}

/* Terms in the arena ---------------------------------------------------------------------------------------------------- */

static QdTerm
view_node(const Reader *self, const Node *node)
{
    return (QdTerm){
        .kind = node->kind,
        .lexical = self->arena->str + node->lexical,
        .n_lexical = node->n_lexical,
        .qualifier = node->n_qualifier > 0 ? self->arena->str + node->qualifier : NULL,
        .n_qualifier = node->n_qualifier,
    };
}

static Node
push_text(Reader *self, QdTermKind kind, const char *text, gsize n)
{
    Node node = { .kind = kind, .lexical = self->arena->len, .n_lexical = n };

    g_string_append_len(self->arena, text, (gssize) n);
    return node;
}

static Node
push_constant(Reader *self, const char *iri)
{
    return push_text(self, QD_TERM_IRI, iri, strlen(iri));
}

static Node
push_anonymous(Reader *self)
{
    Node node = { .kind = QD_TERM_BNODE, .lexical = self->arena->len };

    g_string_append_printf(self->arena, QD_RDF_ANONYMOUS_PREFIX "%" G_GUINT64_FORMAT, ++self->n_anonymous);
    node.n_lexical = self->arena->len - node.lexical;
    return node;
}

static Node
push_label(Reader *self, const char *label, gsize n)
{
    Node node = { .kind = QD_TERM_BNODE, .lexical = self->arena->len };

    qd_rdf_append_label(self->arena, label, n);
    node.n_lexical = self->arena->len - node.lexical;
    return node;
}

static gboolean
emit(Reader *self, const Node *s, const Node *p, const Node *o, GError **error)
{
    QdTerm subject = view_node(self, s);
    QdTerm predicate = view_node(self, p);
    QdTerm object = view_node(self, o);
    QdTerm graph = self->has_graph ? view_node(self, &self->graph) : (QdTerm){ 0 };

    return self->reading->quad_func(&subject, &predicate, &object, self->has_graph ? &graph : NULL, self->reading->data, error);
}

/* IRIs ------------------------------------------------------------------------------------------------------------------ */

static gboolean
is_iri_token(const Reader *self)
{
    return self->token.kind == QD_TOKEN_IRIREF || self->token.kind == QD_TOKEN_PNAME_NS || self->token.kind == QD_TOKEN_PNAME_LN;
}

/* Appends what the token, an IRIREF, stands for. */
static gboolean
resolve(Reader *self, GString *out, GError **error)
{
    if (qd_iri_resolve(self->base->len > 0 ? self->base->str : NULL, self->base->len, self->token.text, self->token.n_text, out))
        return TRUE;

    qd_lexer_set_error(self->lexer, error, QW_ERROR_SYNTAX, self->token.offset, "IRI '%.*s' is relative, and there is no base",
                       (int) MIN(self->token.n_text, 100), self->token.text);
    return FALSE;
}

/* The token is an IRI; goes on to the next. */
static gboolean
push_iri(Reader *self, Node *ret_node, GError **error)
{
    Node node = { .kind = QD_TERM_IRI, .lexical = self->arena->len };

    if (self->token.kind == QD_TOKEN_IRIREF) {
        if (!resolve(self, self->arena, error))
            return FALSE;
    } else {
        g_autofree char *prefix = g_strndup(self->token.text, self->token.n_text);
        const GString *iri = g_hash_table_lookup(self->prefixes, prefix);

        if (iri == NULL) {
            qd_lexer_set_error(self->lexer, error, QW_ERROR_SYNTAX, self->token.offset, "prefix '%.100s:' is not declared", prefix);
            return FALSE;
        }
        g_string_append_len(self->arena, iri->str, (gssize) iri->len);
        if (self->token.kind == QD_TOKEN_PNAME_LN)
            g_string_append_len(self->arena, self->token.local, (gssize) self->token.n_local);
    }
    node.n_lexical = self->arena->len - node.lexical;
    *ret_node = node;
    return next_token(self, error);
}

/* Literals -------------------------------------------------------------------------------------------------------------- */

static gboolean
push_typed(Reader *self, const char *datatype, Node *ret_node, GError **error)
{
    Node node = push_text(self, QD_TERM_TYPED, self->token.text, self->token.n_text);

    node.qualifier = self->arena->len;
    node.n_qualifier = strlen(datatype);
    g_string_append(self->arena, datatype);
    *ret_node = node;
    return next_token(self, error);
}

static gboolean
push_string(Reader *self, Node *ret_node, GError **error)
{
    Node node = push_text(self, QD_TERM_STRING, self->token.text, self->token.n_text);

    if (!next_token(self, error))
        return FALSE;
    if (self->token.kind == QD_TOKEN_LANGTAG) {
        node.kind = QD_TERM_LANG_STRING;
        node.qualifier = self->arena->len;
        node.n_qualifier = self->token.n_text;
        g_string_append_len(self->arena, self->token.text, (gssize) self->token.n_text);
        *ret_node = node;
        return next_token(self, error);
    }
    if (self->token.kind == QD_TOKEN_DATATYPE) {
        Node datatype;
        QdTerm term;

        if (!next_token(self, error))
            return FALSE;
        if (!is_iri_token(self))
            return fail_expected(self, "the IRI of a datatype", error);
        if (!push_iri(self, &datatype, error))
            return FALSE;
        qd_term_init_literal(&term, self->arena->str + node.lexical, node.n_lexical, self->arena->str + datatype.lexical,
                             datatype.n_lexical);
        node.kind = term.kind;
        node.qualifier = datatype.lexical;
        node.n_qualifier = term.n_qualifier;
    }
    *ret_node = node;
    return TRUE;
}

/* Nested things --------------------------------------------------------------------------------------------------------- */

/* After "(". */
static gboolean
read_collection(Reader *self, Node *ret_node, GError **error)
{
    Node first;
    Node rest;
    Node nil;
    Node cell;
    gsize mark;

    if (self->token.kind == ')') {
        *ret_node = push_constant(self, QD_RDF_NAMESPACE "nil");
        return next_token(self, error);
    }
    if (!enter(self, error))
        return FALSE;

    *ret_node = cell = push_anonymous(self);
    first = push_constant(self, QD_RDF_NAMESPACE "first");
    rest = push_constant(self, QD_RDF_NAMESPACE "rest");
    nil = push_constant(self, QD_RDF_NAMESPACE "nil");
    mark = self->arena->len;
    for (;;) {
        Node next;

        if (!read_object(self, &cell, &first, error))
            return FALSE;
        if (self->token.kind == ')')
            break;
        next = push_anonymous(self);
        if (!emit(self, &cell, &rest, &next, error))
            return FALSE;
        /* the cell before is not needed any more */
        if (cell.lexical >= mark) {
            memmove(self->arena->str + mark, self->arena->str + next.lexical, next.n_lexical);
            g_string_truncate(self->arena, mark + next.n_lexical);
            next.lexical = mark;
        }
        cell = next;
    }
    self->depth--;
    return emit(self, &cell, &rest, &nil, error) && next_token(self, error);
}

/* After "[", and not before "]". */
static gboolean
read_property_list(Reader *self, Node *ret_node, GError **error)
{
    if (!enter(self, error))
        return FALSE;

    *ret_node = push_anonymous(self);
    if (!read_predicate_objects(self, ret_node, error))
        return FALSE;
    self->depth--;
    return expect(self, ']', "';', ',' or ']'", error);
}

/* After "[". */
static gboolean
read_brackets(Reader *self, Node *ret_node, gboolean *ret_empty, GError **error)
{
    *ret_empty = self->token.kind == ']';
    if (!*ret_empty)
        return read_property_list(self, ret_node, error);

    *ret_node = push_anonymous(self);
    return next_token(self, error);
}

static gboolean
push_object(Reader *self, Node *ret_node, GError **error)
{
    gboolean empty;

    switch (self->token.kind) {
    case QD_TOKEN_BLANK_NODE_LABEL:
        *ret_node = push_label(self, self->token.text, self->token.n_text);
        return next_token(self, error);
    case QD_TOKEN_INTEGER:
        return push_typed(self, QD_XSD_NAMESPACE "integer", ret_node, error);
    case QD_TOKEN_DECIMAL:
        return push_typed(self, QD_XSD_NAMESPACE "decimal", ret_node, error);
    case QD_TOKEN_DOUBLE:
        return push_typed(self, QD_XSD_NAMESPACE "double", ret_node, error);
    case QD_TOKEN_STRING:
        return push_string(self, ret_node, error);
    case '[':
        return next_token(self, error) && read_brackets(self, ret_node, &empty, error);
    case '(':
        return next_token(self, error) && read_collection(self, ret_node, error);
    default: /* other tokens */
        break;
    }
    if (is_iri_token(self))
        return push_iri(self, ret_node, error);
    if (token_is(self, QD_TOKEN_WORD, "true") || token_is(self, QD_TOKEN_WORD, "false"))
        return push_typed(self, QD_XSD_NAMESPACE "boolean", ret_node, error);
    return fail_expected(self, "an object", error);
}

static gboolean
read_object(Reader *self, const Node *s, const Node *p, GError **error)
{
    gsize mark = self->arena->len;
    Node object;

    if (!push_object(self, &object, error) || !emit(self, s, p, &object, error))
        return FALSE;

    g_string_truncate(self->arena, mark);
    return TRUE;
}

static gboolean
read_verb(Reader *self, Node *ret_node, GError **error)
{
    if (token_is(self, QD_TOKEN_WORD, "a")) {
        *ret_node = push_constant(self, QD_RDF_NAMESPACE "type");
        return next_token(self, error);
    }
    return is_iri_token(self) ? push_iri(self, ret_node, error) : fail_expected(self, "a predicate (an IRI or 'a')", error);
}

static gboolean
read_predicate_objects(Reader *self, const Node *s, GError **error)
{
    gsize mark = self->arena->len;

    for (;;) {
        Node predicate;

        if (!read_verb(self, &predicate, error) || !read_object(self, s, &predicate, error))
            return FALSE;
        while (self->token.kind == ',')
            if (!next_token(self, error) || !read_object(self, s, &predicate, error))
                return FALSE;
        g_string_truncate(self->arena, mark);
        if (self->token.kind != ';')
            return TRUE;
        while (self->token.kind == ';')
            if (!next_token(self, error))
                return FALSE;
        if (!is_iri_token(self) && !token_is(self, QD_TOKEN_WORD, "a"))
            return TRUE;
    }
}

/* Statements ------------------------------------------------------------------------------------------------------------ */

/* @ret_alone: whether the subject is a statement by itself: a bracket with something in it.
 * @ret_is_name: whether it may name a graph. */
static gboolean
read_subject(Reader *self, Node *ret_node, gboolean *ret_alone, gboolean *ret_is_name, GError **error)
{
    gboolean empty;

    *ret_alone = FALSE;
    *ret_is_name = TRUE;
    if (is_iri_token(self))
        return push_iri(self, ret_node, error);

    switch (self->token.kind) {
    case QD_TOKEN_BLANK_NODE_LABEL:
        *ret_node = push_label(self, self->token.text, self->token.n_text);
        return next_token(self, error);
    case '[':
        if (!next_token(self, error) || !read_brackets(self, ret_node, &empty, error))
            return FALSE;
        *ret_alone = !empty;
        *ret_is_name = empty;
        return TRUE;
    case '(':
        *ret_is_name = FALSE;
        return next_token(self, error) && read_collection(self, ret_node, error);
    default: /* other tokens */
        return fail_expected(self, "a subject (an IRI, a blank node or a collection)", error);
    }
}

/* After "{", up to and including "}". */
static gboolean
read_graph_block(Reader *self, GError **error)
{
    gsize mark = self->arena->len;

    while (self->token.kind != '}') {
        Node subject;
        gboolean alone;
        gboolean is_name;

        if (!read_subject(self, &subject, &alone, &is_name, error))
            return FALSE;
        if (!(alone && (self->token.kind == '.' || self->token.kind == '}')) && !read_predicate_objects(self, &subject, error))
            return FALSE;
        g_string_truncate(self->arena, mark);
        if (self->token.kind == '}')
            break;
        if (!expect(self, '.', "';', ',', '.' or '}'", error))
            return FALSE;
    }
    self->has_graph = FALSE;
    return next_token(self, error);
}

static gboolean
read_named_graph(Reader *self, const Node *name, GError **error)
{
    self->graph = *name;
    self->has_graph = TRUE;
    return expect(self, '{', "'{'", error) && read_graph_block(self, error);
}

static gboolean
read_triples(Reader *self, GError **error)
{
    Node subject;
    gboolean alone;
    gboolean is_name;

    if (!read_subject(self, &subject, &alone, &is_name, error))
        return FALSE;
    if (self->trig && is_name && self->token.kind == '{')
        return read_named_graph(self, &subject, error);
    if (!(alone && self->token.kind == '.') && !read_predicate_objects(self, &subject, error))
        return FALSE;
    return expect(self, '.', "';', ',' or '.'", error);
}

/* After "GRAPH". */
static gboolean
read_graph_keyword(Reader *self, GError **error)
{
    Node name;
    gboolean alone;
    gboolean is_name;

    if (!is_iri_token(self) && self->token.kind != QD_TOKEN_BLANK_NODE_LABEL && self->token.kind != '[')
        return fail_expected(self, "the name of a graph", error);
    if (!read_subject(self, &name, &alone, &is_name, error))
        return FALSE;
    return is_name ? read_named_graph(self, &name, error)
                   : fail_expected(self, "a name of the graph that is no list of properties", error);
}

static void
free_text(gpointer data)
{
    (void) g_string_free(data, TRUE);
}

static gboolean
read_prefix(Reader *self, GError **error)
{
    g_autofree char *prefix = NULL;
    GString *iri;

    if (!next_token(self, error))
        return FALSE;
    if (self->token.kind != QD_TOKEN_PNAME_NS)
        return fail_expected(self, "a prefix and ':'", error);
    prefix = g_strndup(self->token.text, self->token.n_text);
    if (!next_token(self, error))
        return FALSE;
    if (self->token.kind != QD_TOKEN_IRIREF)
        return fail_expected(self, "the IRI of a namespace", error);
    iri = g_string_new(NULL);
    if (!resolve(self, iri, error)) {
        (void) g_string_free(iri, TRUE);
        return FALSE;
    }
    if (self->reading->prefix_func != NULL &&
        !self->reading->prefix_func(prefix, strlen(prefix), iri->str, iri->len, self->reading->data, error)) {
        (void) g_string_free(iri, TRUE);
        return FALSE;
    }
    g_hash_table_replace(self->prefixes, g_steal_pointer(&prefix), iri);
    return next_token(self, error);
}

static gboolean
read_base(Reader *self, GError **error)
{
    g_autoptr(GString) iri = g_string_new(NULL);

    if (!next_token(self, error))
        return FALSE;
    if (self->token.kind != QD_TOKEN_IRIREF)
        return fail_expected(self, "the IRI of the base", error);
    if (!resolve(self, iri, error))
        return FALSE;
    if (!qd_iri_check_base(iri->len, error)) {
        guint line, column;

        qd_lexer_get_place(self->lexer, self->token.offset, &line, &column);
        g_prefix_error(error, "%u:%u: ", line, column);
        return FALSE;
    }
    g_string_assign(self->base, iri->str);
    return next_token(self, error);
}

static gboolean
is_version(const Reader *self)
{
    return token_is(self, QD_TOKEN_LANGTAG, "version") || qd_token_is_word(&self->token, "version");
}

static gboolean
read_statement(Reader *self, GError **error)
{
    if (is_version(self)) {
        qd_lexer_set_error(self->lexer, error, QW_ERROR_SYNTAX, self->token.offset, "version directives" QD_RDF12);
        return FALSE;
    }
    if (token_is(self, QD_TOKEN_LANGTAG, "prefix"))
        return read_prefix(self, error) && expect(self, '.', "'.'", error);
    if (token_is(self, QD_TOKEN_LANGTAG, "base"))
        return read_base(self, error) && expect(self, '.', "'.'", error);
    if (qd_token_is_word(&self->token, "prefix"))
        return read_prefix(self, error);
    if (qd_token_is_word(&self->token, "base"))
        return read_base(self, error);
    if (self->trig && qd_token_is_word(&self->token, "graph"))
        return next_token(self, error) && read_graph_keyword(self, error);
    if (self->trig && self->token.kind == '{')
        return next_token(self, error) && read_graph_block(self, error);
    return read_triples(self, error);
}

static gboolean
read_document(Reader *self, GError **error)
{
    if (!next_token(self, error))
        return FALSE;
    while (self->token.kind != QD_TOKEN_END) {
        if (!qd_rdf_reading_check(self->reading, error) || !read_statement(self, error))
            return FALSE;
        g_string_truncate(self->arena, 0);
    }
    return TRUE;
}

gboolean
qd_turtle_read(const QdRdfReading *reading, GError **error)
{
    g_autoptr(QdLexer) lexer = qd_lexer_new_for_stream(QD_LEXER_TURTLE, reading->read_func, reading->read_data, reading->limits);
    g_autoptr(GHashTable) prefixes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_text);
    g_autoptr(GString) arena = g_string_new(NULL);
    g_autoptr(GString) base = g_string_new(reading->base);
    Reader reader = {
        .reading = reading,
        .trig = reading->format == QD_RDF_TRIG,
        .lexer = lexer,
        .base = base,
        .prefixes = prefixes,
        .arena = arena,
    };

    return read_document(&reader, error);
}
