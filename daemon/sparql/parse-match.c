/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Full-text patterns. They are written as triples, and the parser has read them as such. Here those with the predicate
 * fts:match, and the lists that are their subject and object, are taken out of a block again. Calls of fts:rank(?s) and its kin
 * become variables that the matches of ?s bind: known only when the whole text was read.
 */
#include <string.h>

#include "daemon/sparql/parser-private.h"

#define LIST_MAX 100  /* elements of a list: predicates, the text, a number */
#define TOKENS_MAX 64 /* of a snippet: FTS5 */

static gboolean
is_iri(const QdNode *node, const char *iri)
{
    return node->kind == QD_NODE_TERM && node->term->kind == QD_TERM_IRI && node->term->n_lexical == strlen(iri) &&
           memcmp(node->term->lexical, iri, node->term->n_lexical) == 0;
}

/* --- lists ------------------------------------------------------------------------------------------------------------ */

typedef struct Block {
    QdParser *parser;
    GArray *triples;    /* of QdTriple; what is taken out has neither predicate nor path */
    GHashTable *firsts; /* variable + 1 → index of its rdf:first + 1 */
    guint64 offset;
} Block;

static void
find_lists(Block *self)
{
    for (guint i = 0; i < self->triples->len; i++) {
        const QdTriple *triple = &g_array_index(self->triples, QdTriple, i);

        if (triple->s.kind == QD_NODE_VARIABLE && is_iri(&triple->p, QD_RDF_NAMESPACE "first"))
            g_hash_table_insert(self->firsts, GUINT_TO_POINTER(triple->s.variable + 1), GUINT_TO_POINTER(i + 1));
    }
}

/* The elements of @head, which is a list written in parentheses, or the only one. A list's triples stand one after the
 * other. */
static gboolean
take_list(Block *self, const QdNode *head, GArray *elements)
{
    QdNode node = *head;

    for (;;) {
        guint index = node.kind == QD_NODE_VARIABLE && qd_ast_get_variable_name(self->parser->ast, node.variable) == NULL
                          ? GPOINTER_TO_UINT(g_hash_table_lookup(self->firsts, GUINT_TO_POINTER(node.variable + 1)))
                          : 0;
        QdTriple *first = index > 0 ? &g_array_index(self->triples, QdTriple, index - 1) : NULL;
        QdTriple *rest = index > 0 && index < self->triples->len ? first + 1 : NULL;

        if (first == NULL && elements->len == 0) {
            g_array_append_val(elements, node);
            return TRUE;
        }
        if (rest == NULL || first->p.kind == QD_NODE_NONE || elements->len >= LIST_MAX ||
            !is_iri(&rest->p, QD_RDF_NAMESPACE "rest"))
            return qd_parser_fail(self->parser, self->offset, "fts:match has a list that is none, or of more than %d elements",
                                  LIST_MAX);
        g_array_append_val(elements, first->o);
        node = rest->o;
        first->p.kind = rest->p.kind = QD_NODE_NONE;
        if (is_iri(&node, QD_RDF_NAMESPACE "nil"))
            return TRUE;
    }
}

/* --- a match ---------------------------------------------------------------------------------------------------------- */

static gboolean
is_string(const QdNode *node)
{
    return node->kind == QD_NODE_TERM && (node->term->kind == QD_TERM_STRING || node->term->kind == QD_TERM_LANG_STRING);
}

static gboolean
read_subject(Block *self, const GArray *elements, QdMatch *match)
{
    QdNode *const nodes[] = { &match->subject, &match->rank, &match->literal, &match->predicate };

    if (elements->len > G_N_ELEMENTS(nodes))
        return qd_parser_fail(self->parser, self->offset,
                              "the subject of fts:match is (?s ?rank ?literal ?predicate), not %u terms", elements->len);
    for (guint i = 0; i < elements->len; i++)
        *nodes[i] = g_array_index(elements, QdNode, i);
    if (match->rank.kind == QD_NODE_TERM)
        return qd_parser_fail(self->parser, self->offset, "the rank of fts:match is a variable");
    return TRUE;
}

/* Predicates, the text, how many. */
static gboolean
read_object(Block *self, const GArray *elements, QdMatch *match)
{
    g_autoptr(GArray) predicates = g_array_new(FALSE, FALSE, sizeof(const QdTerm *));
    guint i = 0;

    for (; i < elements->len; i++) {
        const QdNode *node = &g_array_index(elements, QdNode, i);

        if (node->kind != QD_NODE_TERM || node->term->kind != QD_TERM_IRI)
            break;
        qd_ast_pin_term(self->parser->ast, node->term);
        g_array_append_val(predicates, node->term);
    }
    if (i < elements->len)
        match->text = g_array_index(elements, QdNode, i++);
    if (match->text.kind != QD_NODE_VARIABLE && !is_string(&match->text))
        return qd_parser_fail(self->parser, self->offset, "the object of fts:match has no query text: a string or a variable");
    if (i < elements->len) {
        const QdNode *node = &g_array_index(elements, QdNode, i++);
        const char *digits = node->kind == QD_NODE_TERM && node->term->kind == QD_TERM_TYPED ? node->term->lexical : "";

        if (node->kind == QD_NODE_TERM)
            qd_ast_pin_term(self->parser->ast, node->term);
        if (!g_ascii_string_to_unsigned(digits, 10, 1, G_MAXINT32, &match->limit, NULL))
            return qd_parser_fail(self->parser, self->offset,
                                  "the query text of fts:match is followed by the number of matches, from 1 on");
    }
    if (i < elements->len)
        return qd_parser_fail(self->parser, self->offset, "the object of fts:match is (predicates… text limit), and no more");
    match->predicates = qd_parser_take_array(self->parser, predicates);
    match->n_predicates = predicates->len;
    return TRUE;
}

static QdMatch *
take_match(Block *self, QdTriple *triple)
{
    g_autoptr(GArray) subject = g_array_new(FALSE, TRUE, sizeof(QdNode));
    g_autoptr(GArray) object = g_array_new(FALSE, TRUE, sizeof(QdNode));
    QdMatch *match = qd_arena_new0(self->parser->arena, QdMatch);

    match->limit = QD_NO_LIMIT;
    triple->p.kind = QD_NODE_NONE;
    if (!take_list(self, &triple->s, subject) || !take_list(self, &triple->o, object) || !read_subject(self, subject, match) ||
        !read_object(self, object, match))
        return NULL;
    match->per_literal = subject->len > 1;
    g_ptr_array_add(self->parser->matches, match);
    return match;
}

static gboolean
mentions_match(const QdPath *path)
{
    const QdNode node = { .kind = QD_NODE_TERM, .term = path->iri };

    if (path->kind == QD_PATH_LINK)
        return is_iri(&node, QD_FTS_NAMESPACE "match");
    for (guint i = 0; i < path->n_children; i++)
        if (mentions_match(path->children[i]))
            return TRUE;
    return FALSE;
}

/* Within SERVICE the endpoint may know it. */
static void
warn_of_unknown(QdParser *self, const QdPattern *pattern, const QdNode *predicate)
{
    guint line, column;

    if (self->service.depth > 0 || predicate->kind != QD_NODE_TERM || predicate->term->kind != QD_TERM_IRI ||
        !g_str_has_prefix(predicate->term->lexical, QD_FTS_NAMESPACE))
        return;
    qd_lexer_get_place(self->lexer, pattern->offset, &line, &column);
    g_ptr_array_add(self->ast->warnings,
                    qd_arena_printf(self->arena, "%u:%u: the predicate <%s> is not fts:match: it finds stored triples only", line,
                                    column, predicate->term->lexical));
}

gboolean
qd_parser_take_matches(QdParser *self, GArray *triples, QdPattern *pattern)
{
    g_autoptr(GHashTable) firsts = g_hash_table_new(NULL, NULL);
    g_autoptr(GArray) matches = g_array_new(FALSE, FALSE, sizeof(QdMatch *));
    Block block = { self, triples, firsts, pattern->offset };
    guint n_left = 0;

    for (guint i = 0; i < triples->len; i++) {
        QdTriple *triple = &g_array_index(triples, QdTriple, i);
        QdMatch *match;

        if (triple->path != NULL && mentions_match(triple->path))
            return qd_parser_fail(self, pattern->offset, "fts:match stands in no path");
        if (!is_iri(&triple->p, QD_FTS_NAMESPACE "match")) {
            warn_of_unknown(self, pattern, &triple->p);
            continue;
        }
        if (matches->len == 0)
            find_lists(&block);
        match = take_match(&block, triple);
        if (match == NULL)
            return FALSE;
        g_array_append_val(matches, match);
    }
    if (matches->len == 0)
        return TRUE;

    for (guint i = 0; i < triples->len; i++) {
        const QdTriple *triple = &g_array_index(triples, QdTriple, i);

        if (triple->p.kind != QD_NODE_NONE || triple->path != NULL)
            g_array_index(triples, QdTriple, n_left++) = *triple;
    }
    g_array_set_size(triples, n_left);
    pattern->matches = qd_parser_take_array(self, matches);
    pattern->n_matches = matches->len;
    return TRUE;
}

/* --- functions -------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    QdMatchColumnKind kind;
    guint max; /* arguments after the variable */
} functions[] = {
    { QD_FTS_NAMESPACE "rank", QD_MATCH_RANK, 0 },
    { QD_FTS_NAMESPACE "snippet", QD_MATCH_SNIPPET, 4 },
    { QD_FTS_NAMESPACE "offsets", QD_MATCH_OFFSETS, 0 },
};

/* A call, until the whole text was read. */
typedef struct Call {
    QdExpression *expression;
    guint64 offset;
    guint subject;
    QdMatchColumn column; /* without its variable */
} Call;

/* (?s [, start, end [, ellipsis [, tokens]]]) */
static gboolean
read_arguments(QdParser *self, Call *call, const GArray *arguments)
{
    guint n = arguments->len - 1;

    for (guint i = 0; i < n; i++) {
        const QdExpression *argument = g_array_index(arguments, QdExpression *, i + 1);
        const QdTerm *term = argument->kind == QD_EXPRESSION_KIND_TERM ? argument->term : NULL;
        guint64 n_tokens = 0;

        if (term != NULL)
            qd_ast_pin_term(self->ast, term);
        if (i < G_N_ELEMENTS(call->column.texts)) {
            if (term == NULL || term->kind != QD_TERM_STRING)
                return qd_parser_fail(self, call->offset, "fts:snippet takes strings: start, end and ellipsis");
            call->column.texts[i] = term;
        } else {
            if (term == NULL || !g_ascii_string_to_unsigned(term->lexical, 10, 1, TOKENS_MAX, &n_tokens, NULL))
                return qd_parser_fail(self, call->offset, "fts:snippet takes a number of tokens from 1 to %d", TOKENS_MAX);
            call->column.n_tokens = (guint) n_tokens;
        }
    }
    return n != 1 || qd_parser_fail(self, call->offset, "fts:snippet takes start and end");
}

QdExpression *
qd_parser_make_match_call(QdParser *self, guint64 offset, const QdTerm *iri, const GArray *arguments, QdExpression *expression)
{
    Call *call = qd_arena_new0(self->arena, Call);
    guint i = 0;

    while (i < G_N_ELEMENTS(functions) && strcmp(functions[i].name, iri->lexical) != 0)
        i++;
    if (i == G_N_ELEMENTS(functions)) {
        (void) qd_parser_fail(self, offset, "no function <%s>: fts:rank, fts:snippet and fts:offsets are known", iri->lexical);
        return NULL;
    }
    if (arguments->len == 0 || arguments->len > 1 + functions[i].max ||
        g_array_index(arguments, QdExpression *, 0)->kind != QD_EXPRESSION_KIND_VARIABLE) {
        (void) qd_parser_fail(self, offset, "<%s> takes the variable of a match, and up to %u arguments more", iri->lexical,
                              functions[i].max);
        return NULL;
    }
    *call = (Call){ expression, offset, g_array_index(arguments, QdExpression *, 0)->variable, { .kind = functions[i].kind } };
    if (!read_arguments(self, call, arguments))
        return NULL;
    g_ptr_array_add(self->match_calls, call);
    return expression;
}

static gboolean
is_same_column(const QdMatchColumn *a, const QdMatchColumn *b)
{
    for (guint i = 0; i < G_N_ELEMENTS(a->texts); i++)
        if (a->texts[i] != b->texts[i] && (a->texts[i] == NULL || b->texts[i] == NULL || !qd_term_equal(a->texts[i], b->texts[i])))
            return FALSE;
    return a->kind == b->kind && a->n_tokens == b->n_tokens;
}

/* The variable of @match that stands for @column. */
static guint
add_column(QdParser *self, QdMatch *match, const QdMatchColumn *column)
{
    QdMatchColumn **place = &match->columns;

    while (*place != NULL && !is_same_column(*place, column))
        place = &(*place)->next;
    if (*place == NULL) {
        *place = qd_arena_new0(self->arena, QdMatchColumn);
        **place = *column;
        (*place)->variable = qd_ast_add_variable(self->ast, NULL);
    }
    return (*place)->variable;
}

/* A call is what the first match of its variable that is bound has found: COALESCE of one variable for each match. */
static gboolean
finish_call(QdParser *self, const Call *call)
{
    g_autoptr(GArray) children = g_array_new(FALSE, FALSE, sizeof(QdExpression *));

    for (guint i = 0; i < self->matches->len; i++) {
        QdMatch *match = self->matches->pdata[i];
        QdExpression *child;

        if (match->subject.kind != QD_NODE_VARIABLE || match->subject.variable != call->subject)
            continue;
        child = qd_arena_new0(self->arena, QdExpression);
        child->kind = QD_EXPRESSION_KIND_VARIABLE;
        child->variable = add_column(self, match, &call->column);
        g_array_append_val(children, child);
    }
    if (children->len == 0)
        return qd_parser_fail(self, call->offset, "no fts:match has the subject ?%s",
                              qd_ast_get_variable_name(self->ast, call->subject));
    if (children->len == 1) {
        *call->expression = *g_array_index(children, QdExpression *, 0);
        return TRUE;
    }
    call->expression->kind = QD_EXPRESSION_KIND_CALL;
    call->expression->op = QD_EXPRESSION_COALESCE;
    call->expression->children = qd_parser_take_array(self, children);
    call->expression->n_children = children->len;
    return TRUE;
}

gboolean
qd_parser_finish_matches(QdParser *self)
{
    for (guint i = 0; i < self->match_calls->len; i++)
        if (!finish_call(self, self->match_calls->pdata[i]))
            return FALSE;
    return TRUE;
}
