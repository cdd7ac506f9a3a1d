/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Triples with their abbreviations (property lists, collections, blank nodes), in patterns and in templates, and paths.
 */
#include <string.h>

#include "daemon/sparql/parser-private.h"

static gboolean parse_object(QdParser *self, GArray *triples, gboolean with_paths, QdNode *ret_node);
static QdPath *parse_alternative(QdParser *self);

/* --- paths ------------------------------------------------------------------------------------------------------------ */

static QdPath *
new_path(QdParser *self, QdPathKind kind, QdPath **children, guint n_children)
{
    QdPath *path = qd_arena_new0(self->arena, QdPath);

    path->kind = kind;
    path->n_children = n_children;
    path->children = qd_arena_array0(self->arena, QdPath *, n_children);
    if (n_children > 0)
        memcpy(path->children, children, n_children * sizeof(QdPath *));
    return path;
}

static gboolean
parse_link(QdParser *self, QdPath **ret_path)
{
    QdPath *path = new_path(self, QD_PATH_LINK, NULL, 0);

    /* "a" is the one keyword with a case */
    if (qd_parser_is(self, QD_TOKEN_WORD) && self->token.n_text == 1 && self->token.text[0] == 'a') {
        path->iri = qd_parser_make_term(self, QD_TERM_IRI, QD_RDF_NAMESPACE "type", strlen(QD_RDF_NAMESPACE "type"));
        *ret_path = path;
        return qd_parser_advance(self);
    }
    *ret_path = path;
    return qd_parser_starts_iri(self) ? qd_parser_parse_iri(self, &path->iri)
                                      : qd_parser_fail_expected(self, "a predicate or a path");
}

static gboolean
parse_negated_member(QdParser *self, GArray *members)
{
    gboolean inverse = qd_parser_accept(self, '^');
    QdPath *path;

    if (!parse_link(self, &path))
        return FALSE;
    if (inverse)
        path = new_path(self, QD_PATH_INVERSE, &path, 1);
    g_array_append_val(members, path);
    return TRUE;
}

static QdPath *
parse_negated(QdParser *self)
{
    g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(QdPath *));

    if (!qd_parser_accept(self, '(')) {
        if (!parse_negated_member(self, members))
            return NULL;
    } else if (!qd_parser_accept(self, ')')) {
        do {
            if (!qd_parser_count_parts(self, 1) || !parse_negated_member(self, members))
                return NULL;
        } while (qd_parser_accept(self, '|'));
        if (!qd_parser_expect(self, ')', "'|' or ')'"))
            return NULL;
    }
    if (self->error != NULL)
        return NULL;
    return new_path(self, QD_PATH_NEGATED, (QdPath **) (gpointer) members->data, members->len);
}

static QdPath *
parse_primary(QdParser *self)
{
    QdPath *path = NULL;

    if (qd_parser_accept(self, '!'))
        return parse_negated(self);
    if (qd_parser_accept(self, '(')) {
        path = parse_alternative(self);
        return path != NULL && qd_parser_expect(self, ')', "')'") ? path : NULL;
    }
    return parse_link(self, &path) ? path : NULL;
}

static QdPath *
parse_element(QdParser *self)
{
    gboolean inverse = qd_parser_accept(self, '^');
    QdPath *path = parse_primary(self);

    if (path == NULL)
        return NULL;
    if (qd_parser_accept(self, '?'))
        path = new_path(self, QD_PATH_ZERO_OR_ONE, &path, 1);
    else if (qd_parser_accept(self, '*'))
        path = new_path(self, QD_PATH_ZERO_OR_MORE, &path, 1);
    else if (qd_parser_accept(self, '+'))
        path = new_path(self, QD_PATH_ONE_OR_MORE, &path, 1);
    if (inverse)
        path = new_path(self, QD_PATH_INVERSE, &path, 1);
    return self->error == NULL ? path : NULL;
}

/* Members between @separator; one alone is itself. */
static QdPath *
parse_members(QdParser *self, QdPathKind kind, guint separator, QdPath *(*parse_member)(QdParser *) )
{
    g_autoptr(GArray) members = NULL;
    QdPath *member = parse_member(self);

    if (member == NULL || !qd_parser_is(self, separator))
        return member;
    members = g_array_new(FALSE, FALSE, sizeof(QdPath *));
    g_array_append_val(members, member);
    while (qd_parser_accept(self, separator)) {
        member = qd_parser_count_parts(self, 1) ? parse_member(self) : NULL;
        if (member == NULL)
            return NULL;
        g_array_append_val(members, member);
    }
    if (self->error != NULL)
        return NULL;
    return new_path(self, kind, (QdPath **) (gpointer) members->data, members->len);
}

static QdPath *
parse_sequence(QdParser *self)
{
    return parse_members(self, QD_PATH_SEQUENCE, '/', parse_element);
}

static QdPath *
parse_alternative(QdParser *self)
{
    QdPath *path;

    if (!qd_parser_enter(self))
        return NULL;
    path = parse_members(self, QD_PATH_ALTERNATIVE, '|', parse_sequence);
    qd_parser_leave(self);
    return path;
}

static QdPath *
parse_path(QdParser *self)
{
    return parse_alternative(self);
}

/* --- triples ---------------------------------------------------------------------------------------------------------- */

static gboolean
parse_verb(QdParser *self, gboolean with_paths, QdTriple *triple)
{
    QdPath *path = NULL;

    if (qd_parser_is(self, QD_TOKEN_VAR)) {
        if (self->only_terms)
            return qd_parser_fail_expected(self, "an IRI");
        triple->p.kind = QD_NODE_VARIABLE;
        return qd_parser_parse_variable(self, &triple->p.variable);
    }
    if (with_paths) {
        path = parse_path(self);
        if (path == NULL)
            return FALSE;
    } else if (!parse_link(self, &path)) {
        return FALSE;
    }
    if (path->kind == QD_PATH_LINK) {
        triple->p.kind = QD_NODE_TERM;
        triple->p.term = path->iri;
    } else {
        triple->path = path;
    }
    return TRUE;
}

static gboolean
starts_verb(const QdParser *self)
{
    return qd_parser_is(self, QD_TOKEN_VAR) || qd_parser_starts_iri(self) || qd_parser_is_word(self, "a") ||
           qd_parser_is(self, '^') || qd_parser_is(self, '!') || qd_parser_is(self, '(');
}

static gboolean
parse_property_list(QdParser *self, GArray *triples, gboolean with_paths, const QdNode *subject)
{
    do {
        QdTriple triple = { .s = *subject };

        if (!parse_verb(self, with_paths, &triple))
            return FALSE;
        do {
            if (!parse_object(self, triples, with_paths, &triple.o))
                return FALSE;
            g_array_append_val(triples, triple);
        } while (qd_parser_accept(self, ','));
        while (qd_parser_is(self, ';') && (qd_parser_next_is(self, ';') || self->error != NULL))
            if (!qd_parser_advance(self))
                return FALSE;
        if (!qd_parser_accept(self, ';'))
            break;
    } while (starts_verb(self));
    return self->error == NULL;
}

static const QdTerm *
rdf_term(QdParser *self, const char *name)
{
    const char *iri = qd_arena_printf(self->arena, QD_RDF_NAMESPACE "%s", name);

    return qd_parser_make_term(self, QD_TERM_IRI, iri, strlen(iri));
}

/* After '(' of a collection that is not empty, up to its ')'. */
static gboolean
parse_collection(QdParser *self, GArray *triples, gboolean with_paths, QdNode *ret_node)
{
    const QdNode rest = { .kind = QD_NODE_TERM, .term = rdf_term(self, "rest") };
    const QdNode first = { .kind = QD_NODE_TERM, .term = rdf_term(self, "first") };
    QdTriple triple = { 0 };

    if (!qd_parser_make_blank_node(self, ret_node))
        return FALSE;
    triple.s = *ret_node;
    for (;;) {
        triple.p = first;
        if (!parse_object(self, triples, with_paths, &triple.o))
            return FALSE;
        g_array_append_val(triples, triple);
        triple.p = rest;
        if (qd_parser_is(self, ')'))
            break;
        if (!qd_parser_make_blank_node(self, &triple.o))
            return FALSE;
        g_array_append_val(triples, triple);
        triple.s = triple.o;
    }
    triple.o = (QdNode){ .kind = QD_NODE_TERM, .term = rdf_term(self, "nil") };
    g_array_append_val(triples, triple);
    return qd_parser_advance(self);
}

/* '(' or '[': @ret_complete tells whether it may stand without a property list. */
static gboolean
parse_compound(QdParser *self, GArray *triples, gboolean with_paths, QdNode *ret_node, gboolean *ret_complete)
{
    gboolean done;

    if (!qd_parser_enter(self))
        return FALSE;
    *ret_complete = FALSE;
    if (qd_parser_accept(self, '[')) {
        done = qd_parser_make_blank_node(self, ret_node);
        if (done && !qd_parser_accept(self, ']')) {
            *ret_complete = TRUE;
            done = self->error == NULL && parse_property_list(self, triples, with_paths, ret_node) &&
                   qd_parser_expect(self, ']', "';', ',' or ']'");
        }
    } else {
        done = qd_parser_expect(self, '(', "'('");
        if (done && qd_parser_accept(self, ')')) {
            *ret_node = (QdNode){ .kind = QD_NODE_TERM, .term = rdf_term(self, "nil") };
        } else if (done && self->error == NULL) {
            *ret_complete = TRUE;
            done = parse_collection(self, triples, with_paths, ret_node);
        }
    }
    qd_parser_leave(self);
    return done && self->error == NULL;
}

/* A variable, a term or a compound; literals as subjects are the grammar's, and match nothing. */
static gboolean
parse_node(QdParser *self, GArray *triples, gboolean with_paths, QdNode *ret_node, gboolean *ret_complete)
{
    *ret_complete = FALSE;
    *ret_node = (QdNode){ 0 };
    if (qd_parser_is(self, '(') || qd_parser_is(self, '['))
        return parse_compound(self, triples, with_paths, ret_node, ret_complete);
    if (qd_parser_is(self, QD_TOKEN_BLANK_NODE_LABEL))
        return qd_parser_parse_blank_node(self, ret_node);
    if (qd_parser_is(self, QD_TOKEN_VAR) && !self->only_terms) {
        ret_node->kind = QD_NODE_VARIABLE;
        return qd_parser_parse_variable(self, &ret_node->variable);
    }
    ret_node->kind = QD_NODE_TERM;
    if (!qd_parser_starts_iri(self) && !qd_parser_starts_literal(self))
        return qd_parser_fail_expected(self, self->only_terms ? "a term" : "a variable or a term");
    if (qd_parser_starts_iri(self) ? !qd_parser_parse_iri(self, &ret_node->term) : !qd_parser_parse_literal(self, &ret_node->term))
        return FALSE;
    qd_parser_lift_term(self, ret_node->term);
    return TRUE;
}

static gboolean
parse_object(QdParser *self, GArray *triples, gboolean with_paths, QdNode *ret_node)
{
    gboolean complete;

    return parse_node(self, triples, with_paths, ret_node, &complete);
}

gboolean
qd_parser_starts_triples(const QdParser *self)
{
    return qd_parser_is(self, QD_TOKEN_VAR) || qd_parser_is(self, QD_TOKEN_BLANK_NODE_LABEL) || qd_parser_is(self, '(') ||
           qd_parser_is(self, '[') || qd_parser_starts_iri(self) || qd_parser_starts_literal(self);
}

static gboolean
parse_same_subject(QdParser *self, GArray *triples, gboolean with_paths)
{
    gboolean complete;
    QdNode subject;

    if (!parse_node(self, triples, with_paths, &subject, &complete))
        return FALSE;
    if (complete && !starts_verb(self))
        return TRUE;
    return parse_property_list(self, triples, with_paths, &subject);
}

gboolean
qd_parser_parse_triples(QdParser *self, GArray *triples, gboolean with_paths)
{
    do {
        if (!parse_same_subject(self, triples, with_paths))
            return FALSE;
    } while (qd_parser_accept(self, '.') && qd_parser_starts_triples(self));
    return self->error == NULL;
}

gboolean
qd_parser_parse_template(QdParser *self, GArray *triples)
{
    if (!qd_parser_expect(self, '{', "'{'"))
        return FALSE;
    if (qd_parser_starts_triples(self) && !qd_parser_parse_triples(self, triples, FALSE))
        return FALSE;
    return qd_parser_expect(self, '}', "'.' or '}'");
}
