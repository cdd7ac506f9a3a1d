/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parser's position, its errors, and the leaves of the grammar: IRIs, literals, variables, blank nodes, the prologue.
 */
#include "daemon/sparql/parser.h"

#include <stdarg.h>
#include <string.h>

#include "daemon/rdf/iri.h"
#include "daemon/sparql/parser-private.h"
#include "daemon/sparql/restrict.h"

typedef struct Label {
    guint variable;
    guint pattern;
} Label;

/* From the fingerprint, which has cut the text already, or from the lexer. */
static gboolean
read_token(QdParser *self, QdToken *ret_token, GError **error)
{
    if (self->options->fingerprint == NULL)
        return qd_lexer_next(self->own_lexer, ret_token, error);
    self->read_value = qd_fingerprint_get_token(self->options->fingerprint, self->n_read++, ret_token);
    return TRUE;
}

gboolean
qd_parser_advance(QdParser *self)
{
    if (!self->has_next && !read_token(self, &self->token, &self->error))
        return FALSE;
    if (self->has_next)
        self->token = self->next;
    self->token_value = self->read_value;
    self->has_next = FALSE;
    return TRUE;
}

static gboolean
look_ahead(QdParser *self)
{
    if (!self->has_next)
        self->has_next = read_token(self, &self->next, NULL); /* a bad token is reported when it is reached */
    return self->has_next;
}

gboolean
qd_parser_is(const QdParser *self, guint kind)
{
    return self->token.kind == kind;
}

gboolean
qd_parser_is_word(const QdParser *self, const char *keyword)
{
    return qd_token_is_word(&self->token, keyword);
}

gboolean
qd_parser_next_is(QdParser *self, guint kind)
{
    return look_ahead(self) && self->next.kind == kind;
}

gboolean
qd_parser_next_is_word(QdParser *self, const char *keyword)
{
    return look_ahead(self) && qd_token_is_word(&self->next, keyword);
}

gboolean
qd_parser_accept(QdParser *self, guint kind)
{
    return self->error == NULL && qd_parser_is(self, kind) && qd_parser_advance(self);
}

gboolean
qd_parser_accept_word(QdParser *self, const char *keyword)
{
    return self->error == NULL && qd_parser_is_word(self, keyword) && qd_parser_advance(self);
}

gboolean
qd_parser_expect(QdParser *self, guint kind, const char *what)
{
    return qd_parser_is(self, kind) ? qd_parser_advance(self) : qd_parser_fail_expected(self, what);
}

gboolean
qd_parser_expect_word(QdParser *self, const char *keyword)
{
    return qd_parser_is_word(self, keyword) ? qd_parser_advance(self) : qd_parser_fail_expected(self, keyword);
}

gboolean
qd_parser_fail(QdParser *self, guint64 offset, const char *format, ...)
{
    g_autofree char *what = NULL;
    va_list args;

    if (self->error != NULL)
        return FALSE;
    va_start(args, format);
    what = g_strdup_vprintf(format, args);
    va_end(args);
    qd_lexer_set_error(self->lexer, &self->error, QW_ERROR_SYNTAX, offset, "%s", what);
    return FALSE;
}

gboolean
qd_parser_fail_limit(QdParser *self, QdLimit limit, const char *what)
{
    guint line, column;

    if (self->error != NULL)
        return FALSE;
    qd_lexer_get_place(self->lexer, self->token.offset, &line, &column);
    qd_limit_set_error(&self->error, self->options->limits, limit, "%u:%u: %s", line, column, what);
    return FALSE;
}

gboolean
qd_parser_enter(QdParser *self)
{
    if (self->depth >= qd_limits_get(self->options->limits, QD_LIMIT_SPARQL_DEPTH))
        return qd_parser_fail_limit(self, QD_LIMIT_SPARQL_DEPTH, "nested too deep");
    self->depth++;
    return TRUE;
}

void
qd_parser_leave(QdParser *self)
{
    self->depth--;
}

gboolean
qd_parser_count_parts(QdParser *self, guint n)
{
    self->counts.n_parts += n;
    return self->counts.n_parts <= qd_limits_get(self->options->limits, QD_LIMIT_SPARQL_PARTS) ||
           qd_parser_fail_limit(self, QD_LIMIT_SPARQL_PARTS, "too many triple patterns and other parts");
}

gpointer
qd_parser_take_array(QdParser *self, GArray *array)
{
    gsize n_bytes = (gsize) array->len * g_array_get_element_size(array);
    gpointer copy = qd_arena_alloc(self->arena, n_bytes);

    if (n_bytes > 0)
        memcpy(copy, array->data, n_bytes);
    return copy;
}

QdTerm *
qd_parser_make_term(QdParser *self, QdTermKind kind, const char *lexical, gsize n_bytes)
{
    QdTerm *term = qd_arena_new0(self->arena, QdTerm);

    term->kind = kind;
    term->lexical = qd_arena_strndup(self->arena, lexical, n_bytes);
    term->n_lexical = n_bytes;
    return term;
}

/* Of the token at the position. */
static void
note_hole(QdParser *self, QdTerm *term, const char *head)
{
    self->hole.term = NULL;
    if (self->token_value != QD_FINGERPRINT_NO_VALUE)
        self->hole = (QdFingerprintHole){
            .term = term,
            .value = self->token_value,
            .head = head,
            .base = self->ast->base,
        };
}

void
qd_parser_lift_term(QdParser *self, const QdTerm *term)
{
    if (self->hole.term == term && term != NULL && self->service.depth == 0)
        qd_ast_add_hole(self->ast, &self->hole);
    self->hole.term = NULL;
}

static gboolean
resolve(QdParser *self, const char *iri, gsize n_bytes, QdTerm **ret_iri)
{
    g_autoptr(GString) out = g_string_new(NULL);
    const char *base = self->ast->base;

    if (!qd_iri_resolve(base, base != NULL ? strlen(base) : 0, iri, n_bytes, out))
        return qd_parser_fail(self, self->token.offset, "the relative IRI <%.*s> without a base", (int) MIN(n_bytes, 200), iri);
    *ret_iri = qd_parser_make_term(self, QD_TERM_IRI, out->str, out->len);
    note_hole(self, *ret_iri, NULL);
    return TRUE;
}

/* The namespace of a prefix that the store keeps, known from now on as if it were declared here. NULL: it keeps none. */
static const char *
find_stored_prefix(QdParser *self, const char *prefix)
{
    const QdCatalog *catalog = self->options->catalog;
    g_autoptr(GString) iri = g_string_new(NULL);
    QdStoredPrefix stored;

    if (catalog == NULL || !catalog->find_prefix(catalog->data, prefix, iri))
        return NULL;
    stored.prefix = qd_arena_strndup(self->arena, prefix, strlen(prefix));
    stored.iri = qd_arena_strndup(self->arena, iri->str, iri->len);
    g_array_append_val(self->ast->stored_prefixes, stored);
    g_hash_table_insert(self->names.prefixes, (gpointer) stored.prefix, (gpointer) stored.iri);
    return stored.iri;
}

static gboolean
expand_prefix(QdParser *self, QdTerm **ret_iri)
{
    const char *prefix = qd_arena_strndup(self->arena, self->token.text, self->token.n_text);
    const char *iri = g_hash_table_lookup(self->names.prefixes, prefix);
    gsize n_iri;
    QdTerm *term;
    char *text;

    if (iri == NULL)
        iri = find_stored_prefix(self, prefix);
    if (iri == NULL)
        return qd_parser_fail(self, self->token.offset, "the prefix '%s:' is not declared", prefix);
    n_iri = strlen(iri);
    text = qd_arena_alloc(self->arena, n_iri + self->token.n_local + 1);
    memcpy(text, iri, n_iri);
    memcpy(text + n_iri, self->token.local, self->token.n_local);
    term = qd_arena_new0(self->arena, QdTerm);
    *term = (QdTerm){ .kind = QD_TERM_IRI, .lexical = text, .n_lexical = n_iri + self->token.n_local };
    *ret_iri = term;
    note_hole(self, term, iri);
    return TRUE;
}

gboolean
qd_parser_starts_iri(const QdParser *self)
{
    return qd_parser_is(self, QD_TOKEN_IRIREF) || qd_parser_is(self, QD_TOKEN_PNAME_LN) || qd_parser_is(self, QD_TOKEN_PNAME_NS);
}

gboolean
qd_parser_parse_iri(QdParser *self, const QdTerm **ret_iri)
{
    QdTerm *iri = NULL;

    if (!qd_parser_starts_iri(self))
        return qd_parser_fail_expected(self, "an IRI");
    if (qd_parser_is(self, QD_TOKEN_IRIREF) ? !resolve(self, self->token.text, self->token.n_text, &iri)
                                            : !expand_prefix(self, &iri))
        return FALSE;
    *ret_iri = iri;
    return qd_parser_advance(self);
}

gboolean
qd_parser_starts_literal(const QdParser *self)
{
    return qd_parser_is(self, QD_TOKEN_STRING) || qd_parser_is(self, QD_TOKEN_INTEGER) || qd_parser_is(self, QD_TOKEN_DECIMAL) ||
           qd_parser_is(self, QD_TOKEN_DOUBLE) || qd_parser_is_word(self, "true") || qd_parser_is_word(self, "false");
}

static void
set_datatype(QdParser *self, QdTerm *term, const char *datatype, gsize n_datatype)
{
    qd_term_init_literal(term, term->lexical, term->n_lexical, qd_arena_strndup(self->arena, datatype, n_datatype), n_datatype);
}

static gboolean
parse_string(QdParser *self, QdTerm **ret_literal)
{
    QdTerm *term = qd_parser_make_term(self, QD_TERM_STRING, self->token.text, self->token.n_text);
    QdFingerprintHole hole;

    note_hole(self, term, NULL);
    hole = self->hole;
    if (!qd_parser_advance(self))
        return FALSE;
    if (qd_parser_is(self, QD_TOKEN_LANGTAG)) {
        term->kind = QD_TERM_LANG_STRING;
        term->qualifier = qd_arena_strndup(self->arena, self->token.text, self->token.n_text);
        term->n_qualifier = self->token.n_text;
        if (!qd_parser_advance(self))
            return FALSE;
    } else if (qd_parser_accept(self, QD_TOKEN_DATATYPE)) {
        const QdTerm *datatype;

        if (!qd_parser_parse_iri(self, &datatype))
            return FALSE;
        set_datatype(self, term, datatype->lexical, datatype->n_lexical);
    }
    self->hole = hole; /* not the datatype's */
    *ret_literal = term;
    return self->error == NULL;
}

gboolean
qd_parser_parse_literal(QdParser *self, const QdTerm **ret_literal)
{
    QdTerm *term = NULL;
    const char *datatype;

    if (qd_parser_is(self, QD_TOKEN_STRING)) {
        if (!parse_string(self, &term))
            return FALSE;
        *ret_literal = term;
        return TRUE;
    }
    if (!qd_parser_starts_literal(self))
        return qd_parser_fail_expected(self, "a literal");

    term = qd_parser_make_term(self, QD_TERM_TYPED, self->token.text, self->token.n_text);
    if (qd_parser_is(self, QD_TOKEN_WORD)) {
        term->lexical = qd_parser_is_word(self, "true") ? "true" : "false"; /* the grammar's words have no case, the value has */
        datatype = QD_XSD_NAMESPACE "boolean";
    } else if (qd_parser_is(self, QD_TOKEN_INTEGER)) {
        datatype = QD_XSD_NAMESPACE "integer";
    } else {
        datatype = qd_parser_is(self, QD_TOKEN_DECIMAL) ? QD_XSD_NAMESPACE "decimal" : QD_XSD_NAMESPACE "double";
    }
    set_datatype(self, term, datatype, strlen(datatype));
    note_hole(self, term, NULL);
    *ret_literal = term;
    return qd_parser_advance(self);
}

gboolean
qd_parser_parse_integer(QdParser *self, guint64 *ret_value)
{
    g_autofree char *text = g_strndup(self->token.text, self->token.n_text);

    if (!qd_parser_is(self, QD_TOKEN_INTEGER) || !g_ascii_isdigit(text[0]))
        return qd_parser_fail_expected(self, "a number");
    if (!g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT64, ret_value, NULL))
        *ret_value = G_MAXINT64; /* more rows than there can be */
    return qd_parser_advance(self);
}

gboolean
qd_parser_parse_variable(QdParser *self, guint *ret_variable)
{
    const char *name;
    guint number;

    if (!qd_parser_is(self, QD_TOKEN_VAR))
        return qd_parser_fail_expected(self, "a variable");
    name = qd_arena_strndup(self->arena, self->token.text, self->token.n_text);
    number = GPOINTER_TO_UINT(g_hash_table_lookup(self->names.variables, name));
    if (number == 0) {
        if (self->ast->variables->len >= qd_limits_get(self->options->limits, QD_LIMIT_SPARQL_VARIABLES))
            return qd_parser_fail_limit(self, QD_LIMIT_SPARQL_VARIABLES, "too many variables");
        number = qd_ast_add_variable(self->ast, name) + 1;
        g_hash_table_insert(self->names.variables, (gpointer) name, GUINT_TO_POINTER(number));
    }
    if (self->token.text[-1] == '$')
        g_array_index(self->ast->variables, QdVariable, number - 1).is_parameter = TRUE;
    *ret_variable = number - 1;
    return qd_parser_advance(self);
}

gboolean
qd_parser_parse_variable_or_iri(QdParser *self, QdNode *ret_node)
{
    if (qd_parser_is(self, QD_TOKEN_VAR)) {
        ret_node->kind = QD_NODE_VARIABLE;
        return qd_parser_parse_variable(self, &ret_node->variable);
    }
    if (!qd_parser_starts_iri(self))
        return qd_parser_fail_expected(self, "a variable or an IRI");
    ret_node->kind = QD_NODE_TERM;
    return qd_parser_parse_iri(self, &ret_node->term);
}

gboolean
qd_parser_make_blank_node(QdParser *self, QdNode *ret_node)
{
    switch (self->blank_nodes) {
    case QD_BLANK_NODES_VARIABLES:
        if (self->ast->variables->len >= qd_limits_get(self->options->limits, QD_LIMIT_SPARQL_VARIABLES))
            return qd_parser_fail_limit(self, QD_LIMIT_SPARQL_VARIABLES, "too many variables and blank nodes");
        ret_node->kind = QD_NODE_VARIABLE;
        ret_node->variable = qd_ast_add_variable(self->ast, NULL);
        return TRUE;
    case QD_BLANK_NODES_FRESH: {
        g_autofree char *label = g_strdup_printf(" %u", self->counts.n_fresh++); /* no label of a text has a space */

        ret_node->kind = QD_NODE_TERM;
        ret_node->term = qd_parser_make_term(self, QD_TERM_BNODE, label, strlen(label));
        return TRUE;
    }
    case QD_BLANK_NODES_FORBIDDEN:
        return qd_parser_fail(self, self->token.offset, "a blank node where something is deleted");
    }
    return FALSE;
}

/* §19.6: a label belongs to one basic graph pattern. */
static gboolean
find_label(QdParser *self, const char *name, QdNode *ret_node)
{
    Label *label = g_hash_table_lookup(self->names.labels, name);

    if (label == NULL) {
        label = qd_arena_new0(self->arena, Label);
        if (!qd_parser_make_blank_node(self, ret_node))
            return FALSE;
        *label = (Label){ ret_node->variable, self->counts.n_patterns };
        g_hash_table_insert(self->names.labels, qd_arena_strndup(self->arena, name, strlen(name)), label);
    } else if (label->pattern != self->counts.n_patterns) {
        return qd_parser_fail(self, self->token.offset, "the blank node '_:%s' stands in two basic graph patterns", name);
    }
    ret_node->kind = QD_NODE_VARIABLE;
    ret_node->variable = label->variable;
    return TRUE;
}

gboolean
qd_parser_parse_blank_node(QdParser *self, QdNode *ret_node)
{
    g_autofree char *name = g_strndup(self->token.text, self->token.n_text);

    if (self->blank_nodes == QD_BLANK_NODES_VARIABLES) {
        if (!find_label(self, name, ret_node))
            return FALSE;
    } else if (self->blank_nodes == QD_BLANK_NODES_FORBIDDEN) {
        return qd_parser_make_blank_node(self, ret_node);
    } else {
        guint operation = GPOINTER_TO_UINT(g_hash_table_lookup(self->names.data_labels, name));

        if (self->only_terms && operation != 0 && operation != self->counts.n_operations + 1)
            return qd_parser_fail(self, self->token.offset, "the blank node '_:%s' stands in two INSERT DATA operations", name);
        ret_node->kind = QD_NODE_TERM;
        ret_node->term = qd_parser_make_term(self, QD_TERM_BNODE, name, strlen(name));
        if (self->only_terms)
            g_hash_table_insert(self->names.data_labels, (gpointer) ret_node->term->lexical,
                                GUINT_TO_POINTER(self->counts.n_operations + 1));
    }
    return qd_parser_advance(self);
}

gboolean
qd_parser_parse_prologue(QdParser *self)
{
    for (;;) {
        QdTerm *iri = NULL;

        if (qd_parser_accept_word(self, "BASE")) {
            if (!qd_parser_is(self, QD_TOKEN_IRIREF))
                return qd_parser_fail_expected(self, "an IRI in <>");
            if (!resolve(self, self->token.text, self->token.n_text, &iri) || !qd_parser_advance(self))
                return FALSE;
            self->ast->base = iri->lexical;
        } else if (qd_parser_accept_word(self, "PREFIX")) {
            const char *prefix = NULL;

            if (!qd_parser_is(self, QD_TOKEN_PNAME_NS))
                return qd_parser_fail_expected(self, "a prefix with ':'");
            prefix = qd_arena_strndup(self->arena, self->token.text, self->token.n_text);
            if (!qd_parser_advance(self))
                return FALSE;
            if (!qd_parser_is(self, QD_TOKEN_IRIREF))
                return qd_parser_fail_expected(self, "an IRI in <>");
            if (!resolve(self, self->token.text, self->token.n_text, &iri) || !qd_parser_advance(self))
                return FALSE;
            g_hash_table_insert(self->names.prefixes, (gpointer) prefix, (gpointer) iri->lexical);
        } else {
            return self->error == NULL;
        }
    }
}

static QdAst *
ast_new(const char *base)
{
    QdAst *ast = g_new0(QdAst, 1);

    ast->arena = qd_arena_new();
    ast->variables = g_array_sized_new(FALSE, TRUE, sizeof(QdVariable), QD_FEW);
    ast->holes = g_array_sized_new(FALSE, FALSE, sizeof(QdFingerprintHole), QD_FEW);
    ast->hole_terms = g_hash_table_new(NULL, NULL);
    ast->stored_prefixes = g_array_new(FALSE, FALSE, sizeof(QdStoredPrefix));
    ast->warnings = g_ptr_array_new();
    ast->base = base != NULL ? qd_arena_strndup(ast->arena, base, strlen(base)) : NULL;
    return ast;
}

QdAst *
qd_parser_parse(const char *text, gsize n_bytes, gboolean is_update, const QdParseOptions *options, GError **error)
{
    g_autoptr(QdAst) ast = ast_new(options->base);
    g_autoptr(QdLexer) lexer = options->fingerprint == NULL ? qd_lexer_new_for_text(QD_LEXER_SPARQL, text, n_bytes) : NULL;
    g_autoptr(GHashTable) prefixes = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) variable_names = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) labels = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) data_labels = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GPtrArray) matches = g_ptr_array_new();
    g_autoptr(GPtrArray) match_calls = g_ptr_array_new();
    QdDatasetClause *dataset = NULL;
    QdParser self = {
        .ast = ast,
        .arena = ast->arena,
        .own_lexer = lexer,
        .lexer = lexer != NULL ? lexer : qd_fingerprint_get_lexer(options->fingerprint),
        .read_value = QD_FINGERPRINT_NO_VALUE,
        .options = options,
        .names = { prefixes, variable_names, labels, data_labels },
        .service = { .text = text, .n_text = n_bytes },
        .matches = matches,
        .match_calls = match_calls,
    };

    ast->is_update = is_update;
    if (options->dataset != NULL) {
        dataset = qd_parser_parse_dataset_option(ast, options, error);
        if (dataset == NULL)
            return NULL;
    }
    if (!qd_parser_advance(&self) || !(is_update ? qd_parser_parse_update(&self) : qd_parser_parse_query(&self)) ||
        !qd_parser_finish_matches(&self)) {
        g_propagate_error(error, self.error);
        return NULL;
    }
    if (dataset != NULL && !qd_parser_replace_dataset(ast, dataset, error))
        return NULL;
    if (options->access != NULL && !qd_sparql_restrict(ast, options->access, matches->len > 0, error))
        return NULL;
    return g_steal_pointer(&ast);
}
