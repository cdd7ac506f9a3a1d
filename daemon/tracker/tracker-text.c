/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The walk over the tokens: each is copied as it stands, unless this profile writes it in another way.
 */
#include "daemon/tracker/tracker-text.h"

#include <string.h>

#include "daemon/rdf/term.h"
#include "daemon/tracker/tracker-names.h"
#include "daemon/tracker/tracker-text-private.h"

#define OUR_FTS "http://queryd.org/fts#" /* docs/full-text.md */
#define RDFS_RESOURCE "http://www.w3.org/2000/01/rdf-schema#Resource"
#define NESTING_MAX 1000 /* of scopes; the parser's own bounds are lower */

gboolean
qd_translator_fail(QdTranslator *self, QwError code, const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list args;

    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    if (self->error == NULL)
        qd_lexer_set_error(self->lexer, &self->error, code, self->token.offset, "%s", message);
    return FALSE;
}

gboolean
qd_translator_is_word(const QdTranslator *self, const char *word)
{
    return qd_token_is_word(&self->token, word);
}

gboolean
qd_translator_advance(QdTranslator *self)
{
    self->copied = self->token.offset + self->token.n_source;
    self->token = self->next;
    return self->token.kind == QD_TOKEN_END || qd_lexer_next(self->lexer, &self->next, &self->error);
}

void
qd_translator_put_gap(QdTranslator *self)
{
    if (self->copied < self->token.offset)
        g_string_append_len(self->out, self->text + self->copied, (gssize) (self->token.offset - self->copied));
    self->copied = self->token.offset;
}

/* Leaves the token out. */
gboolean
qd_translator_skip(QdTranslator *self)
{
    qd_translator_put_gap(self);
    return qd_translator_advance(self);
}

static void
note(QdTranslator *self, gsize start)
{
    self->before[1] = self->before[0];
    self->start[1] = self->start[0];
    self->before[0] = self->token;
    self->start[0] = start;
}

/* --- IRIs ------------------------------------------------------------------------------------------------------------- */

static gboolean
is_iri(const QdToken *token)
{
    return token->kind == QD_TOKEN_IRIREF || token->kind == QD_TOKEN_PNAME_LN || token->kind == QD_TOKEN_PNAME_NS;
}

gboolean
qd_translator_is_iri(const QdTranslator *self)
{
    return is_iri(&self->token);
}

char *
qd_translator_expand_iri(const QdTranslator *self, const QdToken *token)
{
    g_autofree char *name = NULL;
    const char *iri;

    if (!is_iri(token))
        return NULL;
    if (token->kind == QD_TOKEN_IRIREF)
        return g_strndup(token->text, token->n_text);
    name = g_strndup(token->text, token->n_text);
    iri = g_hash_table_lookup(self->prefixes, name);
    if (iri == NULL)
        iri = qd_tracker_find_prefix(token->text, token->n_text);
    return iri != NULL ? g_strdup_printf("%s%.*s", iri, (int) token->n_local, token->local != NULL ? token->local : "") : NULL;
}

void
qd_translator_put_source(QdTranslator *self)
{
    g_string_append_len(self->out, self->text + self->token.offset, (gssize) self->token.n_source);
}

static const QdTrackerScope *
get_scope(const QdTranslator *self)
{
    return self->scopes->len > 0 ? &g_array_index(self->scopes, QdTrackerScope, self->scopes->len - 1) : NULL;
}

/* The '(' that follows is one of arguments: of a pattern it could be that of a list. */
static gboolean
is_called(const QdTranslator *self)
{
    const QdTrackerScope *scope = get_scope(self);

    return self->next.kind == '(' &&
           (scope == NULL || scope->kind == QD_TRACKER_PARENTHESES || self->before[0].kind == QD_TOKEN_WORD);
}

/* SPARQL would make any other function an error at each call, and so a result that lacks rows. */
static gboolean
put_function(QdTranslator *self, const char *iri, int n_bytes)
{
    const char *name = qd_tracker_find_function(iri);

    if (name == NULL)
        return qd_translator_fail(self, QW_ERROR_UNSUPPORTED,
                                  "the function '%.*s' is not supported; a property is no function here, but stands in a pattern",
                                  n_bytes, iri);
    g_string_append(self->out, name);
    return TRUE;
}

/* Casts, and those on full-text patterns. */
static gboolean
is_parsers_function(const char *iri)
{
    return g_str_has_prefix(iri, QD_XSD_NAMESPACE) || g_str_has_prefix(iri, QD_TRACKER_FTS) || g_str_has_prefix(iri, OUR_FTS);
}

static gboolean
put_iri(QdTranslator *self)
{
    g_autofree char *iri = qd_translator_expand_iri(self, &self->token);
    gboolean is_declared = self->token.kind == QD_TOKEN_IRIREF;

    if (iri == NULL && is_called(self))
        return put_function(self, self->token.text, (int) self->token.n_source);
    if (iri == NULL) {
        qd_translator_put_source(self);
        return TRUE;
    }
    if (!is_declared) {
        g_autofree char *prefix = g_strndup(self->token.text, self->token.n_text);

        is_declared = g_hash_table_contains(self->prefixes, prefix);
    }
    if (is_called(self) && !is_parsers_function(iri))
        return put_function(self, iri, (int) strlen(iri));
    if (g_str_has_prefix(iri, QD_TRACKER_FTS))
        g_string_append_printf(self->out, "<" OUR_FTS "%s>", iri + strlen(QD_TRACKER_FTS));
    else if (is_declared)
        qd_translator_put_source(self);
    else
        g_string_append_printf(self->out, "<%s>", iri);
    return TRUE;
}

/* --- terms ------------------------------------------------------------------------------------------------------------ */

/* Of the token in a '{' or '[' of triples; what is not known to be a subject or a predicate is an object. */
static QdTrackerPlace
find_place(const QdTranslator *self)
{
    const QdTrackerScope *scope = get_scope(self);
    guint last = self->before[0].kind;
    guint second = self->before[1].kind;

    if (qd_token_is_word(&self->before[0], "GRAPH") || qd_token_is_word(&self->before[0], "FROM") ||
        qd_token_is_word(&self->before[0], "NAMED") || qd_token_is_word(&self->before[0], "WITH") ||
        qd_token_is_word(&self->before[0], "USING") || qd_token_is_word(&self->before[0], "INTO"))
        return QD_TRACKER_RESOURCE;
    if (scope == NULL || scope->kind == QD_TRACKER_DATA || scope->kind == QD_TRACKER_PARENTHESES)
        return QD_TRACKER_LITERAL;
    if (last == '{' || last == '.' || last == '}' || last == '[' || last == ';')
        return QD_TRACKER_RESOURCE;
    if (last != ',' && (second == '{' || second == '.' || second == '}'))
        return QD_TRACKER_RESOURCE;
    return scope->kind == QD_TRACKER_TEMPLATE ? QD_TRACKER_LITERAL : QD_TRACKER_OBJECT;
}

static gboolean
is_in_template(const QdTranslator *self)
{
    for (guint i = self->scopes->len; i-- > 0;)
        if (g_array_index(self->scopes, QdTrackerScope, i).kind == QD_TRACKER_TEMPLATE)
            return TRUE;
    return FALSE;
}

/* One resource for each label of the request. */
static void
put_blank_node(QdTranslator *self)
{
    g_autofree char *label = g_strndup(self->token.text, self->token.n_text);
    const char *iri = g_hash_table_lookup(self->labels, label);

    if (!self->profile->names_blank_nodes || !is_in_template(self)) {
        qd_translator_put_source(self);
        return;
    }
    if (iri == NULL) {
        g_autofree char *uuid = g_uuid_string_random();
        char *made = g_strdup_printf("urn:uuid:%s", uuid);

        g_ptr_array_add(self->result->blank_nodes, g_strdup(label));
        g_ptr_array_add(self->result->blank_nodes, made);
        g_hash_table_insert(self->labels, g_steal_pointer(&label), made);
        iri = made;
    }
    g_string_append_printf(self->out, "<%s>", iri);
}

/* ?name nrl:prefix ?prefix: prefixes are no triples here. The subject is put, the token is the predicate. */
static gboolean
put_prefixes(QdTranslator *self)
{
    const QdToken subject = self->before[0];

    g_string_truncate(self->out, self->start[0]);
    g_string_append_printf(self->out, "VALUES (?%.*s ?%.*s) {", (int) subject.n_text, subject.text, (int) self->next.n_text,
                           self->next.text);
    if (self->profile->list_prefixes != NULL && !self->profile->list_prefixes(self->out, self->profile->data, &self->error))
        return FALSE;
    g_string_append_c(self->out, '}');
    self->before[0] = (QdToken){ .kind = '}' };
    return qd_translator_skip(self) && qd_translator_skip(self);
}

static gboolean
is_prefix_triple(const QdTranslator *self)
{
    const QdTrackerScope *scope = get_scope(self);
    g_autofree char *iri = NULL;

    if (scope == NULL || scope->kind != QD_TRACKER_PATTERN || self->before[0].kind != QD_TOKEN_VAR ||
        self->next.kind != QD_TOKEN_VAR)
        return FALSE;
    iri = qd_translator_expand_iri(self, &self->token);
    return g_strcmp0(iri, QD_TRACKER_NRL "prefix") == 0;
}

/* Whether the token is the predicate of a triple ?u a rdfs:Resource. */
static gboolean
is_resource_triple(const QdTranslator *self)
{
    const QdTrackerScope *scope = get_scope(self);
    g_autofree char *predicate = NULL;
    g_autofree char *object = NULL;

    if (scope == NULL || scope->kind != QD_TRACKER_PATTERN || self->before[0].kind != QD_TOKEN_VAR ||
        (self->before[1].kind != '{' && self->before[1].kind != '.' && self->before[1].kind != '}'))
        return FALSE;
    predicate = qd_translator_expand_iri(self, &self->token);
    object = qd_translator_expand_iri(self, &self->next);
    return (qd_translator_is_word(self, "a") || g_strcmp0(predicate, QD_RDF_NAMESPACE "type") == 0) &&
           g_strcmp0(object, RDFS_RESOURCE) == 0;
}

/* All that has a triple is a resource; where another triple with the subject follows, that says so. */
static gboolean
put_resource_triple(QdTranslator *self)
{
    const QdToken subject = self->before[0];
    gsize start = self->start[0];

    if (!qd_translator_skip(self) || !qd_translator_skip(self))
        return FALSE;
    if (self->token.kind == ';')
        return qd_translator_skip(self);

    g_string_truncate(self->out, start);
    g_string_append_printf(self->out, "{SELECT DISTINCT ?%.*s {?%.*s ?queryd_%u ?queryd_%u}}", (int) subject.n_text, subject.text,
                           (int) subject.n_text, subject.text, self->n_made, self->n_made + 1);
    self->n_made += 2;
    self->before[0] = (QdToken){ .kind = '}' };
    return TRUE;
}

/* --- scopes ----------------------------------------------------------------------------------------------------------- */

static void
scope_clear(gpointer data)
{
    QdTrackerScope *scope = data;

    if (scope->values != NULL)
        g_string_free(scope->values, TRUE);
}

static const char *
find_template_word(const QdTranslator *self)
{
    static const char *const words[] = { "INSERT", "DELETE", "DATA", "CONSTRUCT" };

    for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
        if (qd_token_is_word(&self->before[0], words[i]))
            return words[i];
    }
    return NULL;
}

/* VALUES ?a { or VALUES (?a ?b) { */
static gboolean
is_data(const QdTranslator *self)
{
    return qd_token_is_word(&self->before[1], "VALUES") || (self->before[0].kind == ')' && self->before[1].kind == QD_TOKEN_VAR);
}

static gboolean
open_scope(QdTranslator *self)
{
    const QdTrackerScope *outer = get_scope(self);
    QdTrackerScope scope = { .kind = self->token.kind == '(' ? QD_TRACKER_PARENTHESES : QD_TRACKER_BRACKETS };

    if (self->scopes->len >= NESTING_MAX)
        return qd_translator_fail(self, QW_ERROR_TOO_COMPLEX, "the text nests more than %d deep", NESTING_MAX);
    scope.is_statement = self->before[0].kind == QD_TOKEN_WORD && outer != NULL && outer->kind == QD_TRACKER_PATTERN &&
                         !qd_token_is_word(&self->before[0], "VALUES");
    if (self->token.kind == '{') {
        scope.word = outer == NULL ? find_template_word(self) : NULL;
        if (scope.word != NULL || (outer != NULL && outer->kind == QD_TRACKER_TEMPLATE))
            scope.kind = QD_TRACKER_TEMPLATE;
        else
            scope.kind = is_data(self) ? QD_TRACKER_DATA : QD_TRACKER_PATTERN;
    }
    g_array_append_val(self->scopes, scope);
    return TRUE;
}

static gboolean
is_update_word(const QdToken *token)
{
    static const char *const words[] = { "INSERT", "DELETE", "WITH", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY" };

    for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
        if (qd_token_is_word(token, words[i]))
            return TRUE;
    }
    return FALSE;
}

/* After the '}' that ends a part of an update: what SPARQL 1.1 wants to see there. The token is the one after it. */
static void
end_operation_part(QdTranslator *self, const char *word)
{
    gboolean is_modify = g_strcmp0(word, "INSERT") == 0 || g_strcmp0(word, "DELETE") == 0;

    if (is_modify && (qd_translator_is_word(self, "WHERE") || qd_translator_is_word(self, "USING")))
        return;
    if (g_strcmp0(word, "DELETE") == 0 && qd_translator_is_word(self, "INSERT") && self->next.kind == '{')
        return;
    if (is_modify)
        g_string_append(self->out, " WHERE {}");
    if (is_update_word(&self->token))
        g_string_append(self->out, " ;");
}

static gboolean
close_scope(QdTranslator *self)
{
    QdTrackerScope scope;

    if (self->scopes->len == 0)
        return qd_translator_fail(self, QW_ERROR_SYNTAX, "unexpected '%c'", (char) self->token.kind);
    scope = g_array_index(self->scopes, QdTrackerScope, self->scopes->len - 1);
    if (scope.values != NULL) {
        g_string_append_len(self->out, scope.values->str, (gssize) scope.values->len);
        scope_clear(&scope);
    }
    g_array_index(self->scopes, QdTrackerScope, self->scopes->len - 1).values = NULL;
    g_array_set_size(self->scopes, self->scopes->len - 1);

    qd_translator_put_source(self);
    note(self, self->out->len - 1);
    if (scope.is_statement)
        self->before[0] = (QdToken){ .kind = '.' };
    if (!qd_translator_advance(self))
        return FALSE;
    if (self->profile->is_update && self->scopes->len == 0 && self->before[0].kind == '}')
        end_operation_part(self, scope.word);
    return TRUE;
}

/* --- clauses ---------------------------------------------------------------------------------------------------------- */

static gboolean
put_word(QdTranslator *self)
{
    if (self->scopes->len == 0 && qd_translator_is_word(self, "CONSTRAINT"))
        return qd_translator_skip_constraint(self);
    if (qd_translator_is_word(self, "SERVICE")) /* the portal hands texts of sandboxed applications on as its own */
        return qd_translator_fail(self, QW_ERROR_UNSUPPORTED,
                                  "SERVICE by TinySPARQL's interface, whose callers may be in a sandbox: use that of queryd");
    if (self->scopes->len == 0 && (qd_translator_is_word(self, "WITH") || qd_translator_is_word(self, "USING")))
        self->names_graphs = TRUE;
    qd_translator_put_source(self);
    note(self, self->out->len - self->token.n_source);
    return qd_translator_advance(self);
}

static gboolean
put_other(QdTranslator *self)
{
    gsize start = self->out->len;

    switch (self->token.kind) {
    case QD_TOKEN_IRIREF:
    case QD_TOKEN_PNAME_LN:
    case QD_TOKEN_PNAME_NS:
        if (!put_iri(self))
            return FALSE;
        break;
    case QD_TOKEN_PARAMETER:
        if (!qd_translator_put_parameter(self, find_place(self)))
            return FALSE;
        break;
    case QD_TOKEN_BLANK_NODE_LABEL:
        put_blank_node(self);
        break;
    default: /* tokens that are the same in both */
        qd_translator_put_source(self);
        break;
    }
    note(self, start);
    return qd_translator_advance(self);
}

gboolean
qd_translator_put(QdTranslator *self)
{
    qd_translator_put_gap(self);
    if (is_prefix_triple(self))
        return put_prefixes(self);
    if (is_resource_triple(self))
        return put_resource_triple(self);

    switch (self->token.kind) {
    case '{':
    case '(':
    case '[':
        return open_scope(self) && put_other(self);
    case '}':
    case ')':
    case ']':
        return close_scope(self);
    case QD_TOKEN_WORD:
        return put_word(self);
    default: /* tokens, which are no enum of ours alone */
        return put_other(self);
    }
}

/* Words that begin a clause, wherever they stand; their clauses need more than one token. */
static gboolean
put_clause(QdTranslator *self)
{
    if (qd_translator_is_word(self, "SELECT"))
        return qd_translator_put_select(self);
    if (self->scopes->len == 0 && qd_translator_is_word(self, "PREFIX"))
        return qd_translator_put_prefix(self);
    if (self->scopes->len == 0 && qd_translator_is_word(self, "FROM"))
        return qd_translator_put_from(self);
    return qd_translator_put(self);
}

gboolean
qd_translator_put_scope(QdTranslator *self, gboolean *ret_names)
{
    guint depth = self->scopes->len;

    do {
        if (ret_names != NULL && self->scopes->len == depth + 1 && qd_translator_is_word(self, "AS"))
            *ret_names = TRUE;
        if (self->token.kind == QD_TOKEN_END)
            return qd_translator_fail(self, QW_ERROR_SYNTAX, "unexpected end of the text");
        if (!put_clause(self))
            return FALSE;
    } while (self->scopes->len > depth);
    return TRUE;
}

static gboolean
translate(QdTranslator *self)
{
    if (!qd_lexer_next(self->lexer, &self->token, &self->error))
        return FALSE;
    self->next = self->token;
    if (self->token.kind != QD_TOKEN_END && !qd_lexer_next(self->lexer, &self->next, &self->error))
        return FALSE;
    while (self->token.kind != QD_TOKEN_END)
        if (!put_clause(self))
            return FALSE;
    qd_translator_put_gap(self);
    return TRUE;
}

void
qd_tracker_text_clear(QdTrackerText *self)
{
    if (self->text != NULL)
        g_string_free(self->text, TRUE);
    g_free(self->dataset);
    g_clear_pointer(&self->blank_nodes, g_ptr_array_unref);
    *self = (QdTrackerText){ 0 };
}

gboolean
qd_tracker_text_init(QdTrackerText *self, const char *text, const QdTrackerProfile *profile, GError **error)
{
    const char *start = g_str_has_prefix(text, "\xef\xbb\xbf") ? text + 3 : text;
    g_auto(QdTrackerText) result = { .text = g_string_new(NULL), .blank_nodes = g_ptr_array_new_with_free_func(g_free) };
    g_autoptr(QdLexer) lexer = qd_lexer_new_for_text(QD_LEXER_TRACKER, start, strlen(start));
    g_autoptr(GArray) scopes = g_array_new(FALSE, TRUE, sizeof(QdTrackerScope));
    g_autoptr(GHashTable) prefixes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GHashTable) labels = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(QdTrackerGraphs) graphs = qd_tracker_graphs_new();
    QdTranslator translator = {
        .profile = profile,
        .result = &result,
        .text = start,
        .lexer = lexer,
        .out = result.text,
        .scopes = scopes,
        .prefixes = prefixes,
        .labels = labels,
        .graphs = graphs,
    };

    g_array_set_clear_func(scopes, scope_clear);
    if (!translate(&translator)) {
        g_propagate_error(error, translator.error);
        return FALSE;
    }
    if (!translator.names_graphs)
        result.dataset = qd_tracker_graphs_make_dataset(graphs, profile->union_default_graph);
    *self = result;
    result = (QdTrackerText){ 0 };
    return TRUE;
}
