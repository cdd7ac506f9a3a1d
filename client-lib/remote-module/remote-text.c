/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values as terms in the text of a statement.
 */
#include "client-lib/remote-module/remote-text.h"

#include <math.h>
#include <string.h>

#include "client-lib/core/query-error.h"
#include "client-lib/text/text-number.h"
#include "daemon/base/error.h"
#include "daemon/rdf/iri.h"
#include "daemon/rdfio/lexer.h"
#include "daemon/rdfio/rdf-writer.h"

/* Terms ----------------------------------------------------------------------------------------------------------------- */

static gboolean
set_bad_value(GError **error, const char *name, const char *problem)
{
    g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "parameter '$%s': %s", name, problem);
    return FALSE;
}

static gboolean
is_iri(const char *text, gsize n_bytes)
{
    return g_utf8_validate_len(text, n_bytes, NULL) && qd_iri_check(text, n_bytes) && qd_iri_is_absolute(text, n_bytes);
}

/* BCP 47 as SPARQL has it: letters, then parts of letters and digits. */
static gboolean
is_language(const char *tag, gsize n_bytes)
{
    gsize n = 0;

    for (gsize i = 0; i < n_bytes; i++) {
        if (tag[i] == '-' ? n == 0 : !g_ascii_isalnum(tag[i]) || (g_ascii_isdigit(tag[i]) && memchr(tag, '-', i) == NULL))
            return FALSE;
        n = tag[i] == '-' ? 0 : n + 1;
    }
    return n > 0;
}

static void
set_number(QdTerm *term, char *buffer, const QwValue *value)
{
    const char *type = value->type == QW_TYPE_INTEGER ? QD_XSD_NAMESPACE "integer" : QD_XSD_NAMESPACE "double";
    const char *lexical = buffer;
    char *end = buffer;

    if (value->type == QW_TYPE_INTEGER)
        end = qw_text_put_int64(buffer, value->integer);
    else if (isnan(value->real))
        lexical = "NaN";
    else if (isinf(value->real))
        lexical = value->real > 0 ? "INF" : "-INF";
    else
        end = qw_text_put_double(buffer, value->real);
    qd_term_init_literal(term, lexical, lexical == buffer ? (gsize) (end - buffer) : strlen(lexical), type, strlen(type));
}

/* The literals of texts. */
static gboolean
set_literal(QdTerm *term, const QwValue *value, const char *name, GError **error)
{
    if (!g_utf8_validate_len(value->data, value->n_bytes, NULL))
        return set_bad_value(error, name, "its text is not UTF-8 without NUL");
    *term = (QdTerm){ .kind = QD_TERM_STRING, .lexical = value->data, .n_lexical = value->n_bytes };
    if (value->type == QW_TYPE_LITERAL_TYPED) {
        if (!is_iri(value->tag, value->n_tag_bytes))
            return set_bad_value(error, name, "its datatype is no absolute IRI");
        qd_term_init_literal(term, value->data, value->n_bytes, value->tag, value->n_tag_bytes);
    } else if (value->type == QW_TYPE_LITERAL_LANG) {
        if (!is_language(value->tag, value->n_tag_bytes))
            return set_bad_value(error, name, "its language is no language tag");
        term->kind = QD_TERM_LANG_STRING;
        term->qualifier = value->tag;
        term->n_qualifier = value->n_tag_bytes;
    }
    return TRUE;
}

/* (transfer full) (nullable): @value as SPARQL writes it. */
static char *
write_term(const QwValue *value, const char *name, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    char buffer[QW_TEXT_NUMBER_BYTES + 1];
    gboolean ok = TRUE;
    QdTerm term;

    switch (value->type) {
    case QW_TYPE_INTEGER:
    case QW_TYPE_FLOAT:
        set_number(&term, buffer, value);
        break;
    case QW_TYPE_TEXT:
    case QW_TYPE_LITERAL_LANG:
    case QW_TYPE_LITERAL_TYPED:
        ok = set_literal(&term, value, name, error);
        break;
    case QW_TYPE_IRI:
        term = (QdTerm){ .kind = QD_TERM_IRI, .lexical = value->data, .n_lexical = value->n_bytes };
        ok = is_iri(value->data, value->n_bytes) || set_bad_value(error, name, "it is no absolute IRI");
        break;
    case QW_TYPE_BLOB:
        ok = set_bad_value(error, name, "bytes are no RDF term");
        break;
    case QW_TYPE_BNODE:
        ok = set_bad_value(error, name, "a blank node has no name that another store knows");
        break;
    case QW_TYPE_NULL:
        g_assert_not_reached();
    }
    if (!ok)
        return NULL;
    qd_rdf_append_term(out, &term);
    return g_string_free(g_steal_pointer(&out), FALSE);
}

/* Reading --------------------------------------------------------------------------------------------------------------- */

RemoteForm
remote_text_get_form(const char *text)
{
    static const struct {
        const char *word;
        RemoteForm form;
    } words[] = {
        { "select", REMOTE_FORM_SELECT },
        { "ask", REMOTE_FORM_ASK },
        { "construct", REMOTE_FORM_GRAPH },
        { "describe", REMOTE_FORM_GRAPH },
    };
    g_autoptr(QdLexer) lexer = qd_lexer_new_for_text(QD_LEXER_TRACKER, text, strlen(text));
    QdToken token;

    while (qd_lexer_next(lexer, &token, NULL) && token.kind != QD_TOKEN_END && token.kind != '{')
        for (guint i = 0; i < G_N_ELEMENTS(words); i++)
            if (qd_token_is_word(&token, words[i].word))
                return words[i].form;
    return REMOTE_FORM_UNKNOWN;
}

static gboolean
has_name(const GPtrArray *names, const QdToken *token)
{
    for (guint i = 0; i < names->len; i++)
        if (strlen(names->pdata[i]) == token->n_text && memcmp(names->pdata[i], token->text, token->n_text) == 0)
            return TRUE;
    return FALSE;
}

/* A text that the lexer does not know has the parameters up to there; the endpoint says what is wrong, if anything is. */
QuerySchema *
remote_text_describe(const char *text, gboolean writes)
{
    g_autoptr(QdLexer) lexer = qd_lexer_new_for_text(QD_LEXER_TRACKER, text, strlen(text));
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    QuerySchema *schema;
    QdToken token;

    while (qd_lexer_next(lexer, &token, NULL) && token.kind != QD_TOKEN_END)
        if (token.kind == QD_TOKEN_VAR && text[token.offset] == '$' && !has_name(names, &token))
            g_ptr_array_add(names, g_strndup(token.text, token.n_text));

    schema = query_schema_new(0, names->len);
    schema->writes = writes;
    schema->is_sparql = TRUE;
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *name = g_strconcat("$", names->pdata[i], NULL);

        query_schema_set_parameter(schema, i, name);
    }
    return schema;
}

/* Writing --------------------------------------------------------------------------------------------------------------- */

/* Where variables are named that are no expression. */
typedef enum Clause {
    CLAUSE_NONE,
    CLAUSE_SELECT,
    CLAUSE_GROUP_OR_ORDER,
    CLAUSE_VALUES,
} Clause;

typedef struct Builder {
    const char *text;
    const QuerySchema *schema;
    char **terms; /* of the parameters; NULL: it is a variable */
    GString *out;
    gsize n_copied; /* of the text */
    Clause clause;
    guint depth; /* of brackets and braces */
    guint clause_depth;
    gsize bound_start; /* in @out: of "BOUND" */
    QdToken before[2]; /* the last token, and the one before it */
} Builder;

/* (nullable): the term for a variable that is a parameter with a value */
static const char *
find_term(const Builder *self, const QdToken *token)
{
    for (guint i = 0; i < self->schema->n_parameters; i++) {
        const char *name = self->schema->parameter_names[i] + 1;

        if (strlen(name) == token->n_text && memcmp(name, token->text, token->n_text) == 0)
            return self->terms[i];
    }
    return NULL;
}

static void
copy_until(Builder *self, gsize offset)
{
    g_string_append_len(self->out, self->text + self->n_copied, (gssize) (offset - self->n_copied));
    self->n_copied = offset;
}

static void
follow_clause(Builder *self, const QdToken *token)
{
    static const char *const ends[] = { "where", "from", "having", "limit", "offset", "order", "group" };

    if (token->kind == '{' || token->kind == '}')
        self->clause = CLAUSE_NONE;
    for (guint i = 0; i < G_N_ELEMENTS(ends); i++)
        if (qd_token_is_word(token, ends[i]))
            self->clause = CLAUSE_NONE;
    if (qd_token_is_word(token, "select"))
        self->clause = CLAUSE_SELECT;
    else if (qd_token_is_word(token, "by"))
        self->clause = CLAUSE_GROUP_OR_ORDER;
    else if (qd_token_is_word(token, "values"))
        self->clause = CLAUSE_VALUES;
    else
        return;
    self->clause_depth = self->depth;
}

/* The variable at @token is replaced by @term. */
static gboolean
put_term(Builder *self, const QdToken *token, const char *term, GError **error)
{
    g_autofree char *name = g_strndup(token->text, token->n_text);
    gboolean is_listed = self->clause != CLAUSE_NONE && self->depth == self->clause_depth;

    if (self->clause == CLAUSE_VALUES || qd_token_is_word(&self->before[0], "as"))
        return set_bad_value(error, name, "the text itself gives this variable a value");

    copy_until(self, token->offset);
    self->n_copied = token->offset + token->n_source;
    if (self->before[0].kind == '(' && qd_token_is_word(&self->before[1], "bound")) {
        g_string_truncate(self->out, self->bound_start);
        g_string_append(self->out, "(true");
    } else if (is_listed && self->clause == CLAUSE_SELECT) {
        g_string_append_printf(self->out, "(%s AS ?%s)", term, name);
    } else if (is_listed) {
        g_string_append_printf(self->out, "(%s)", term);
    } else {
        g_string_append_printf(self->out, " %s ", term);
    }
    return TRUE;
}

static gboolean
build_with_terms(Builder *self, GError **error)
{
    g_autoptr(QdLexer) lexer = qd_lexer_new_for_text(QD_LEXER_TRACKER, self->text, strlen(self->text));
    g_autoptr(GError) failure = NULL;
    QdToken token;

    for (;;) {
        const char *term;

        /* what cannot be read could hide a parameter: the text is not sent */
        if (!qd_lexer_next(lexer, &token, &failure)) {
            g_set_error_literal(error, QUERY_ERROR, (int) qd_error_get_code(failure), failure->message);
            return FALSE;
        }
        if (token.kind == QD_TOKEN_END)
            break;
        self->depth += token.kind == '(' || token.kind == '{' ? 1 : 0;
        self->depth -= (token.kind == ')' || token.kind == '}') && self->depth > 0 ? 1 : 0;
        follow_clause(self, &token);
        if (qd_token_is_word(&token, "bound")) {
            copy_until(self, token.offset);
            self->bound_start = self->out->len;
        }
        term = token.kind == QD_TOKEN_VAR ? find_term(self, &token) : NULL;
        if (term != NULL && !put_term(self, &token, term, error))
            return FALSE;
        self->before[1] = self->before[0];
        self->before[0] = token;
    }
    copy_until(self, strlen(self->text));
    return TRUE;
}

static gboolean
write_terms(Builder *self, const QwPageReader *row, GError **error)
{
    self->terms = g_new0(char *, self->schema->n_parameters + 1);
    for (guint i = 0; i < self->schema->n_parameters; i++) {
        QwValue value;

        qw_page_reader_get(row, i, &value);
        if (value.type == QW_TYPE_NULL)
            continue;
        self->terms[i] = write_term(&value, self->schema->parameter_names[i] + 1, error);
        if (self->terms[i] == NULL)
            return FALSE;
    }
    return TRUE;
}

static gboolean
put_base(GString *out, const char *base, GError **error)
{
    if (base == NULL)
        return TRUE;
    if (!is_iri(base, strlen(base))) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "the base '%.200s' is no absolute IRI", base);
        return FALSE;
    }
    g_string_append_printf(out, "BASE <%s> ", base);
    return TRUE;
}

gsize
remote_text_get_n_before(const QueryCommand *command)
{
    return command->base != NULL ? strlen("BASE <> ") + strlen(command->base) : 0;
}

char *
remote_text_build(const QueryCommand *command, const QuerySchema *schema, const QwPageReader *row, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    Builder builder = { .text = command->text, .schema = schema, .out = out };
    gboolean ok;

    if (!put_base(out, command->base, error))
        return NULL;
    if (row == NULL) {
        g_string_append(out, command->text);
        return g_string_free(g_steal_pointer(&out), FALSE);
    }
    ok = write_terms(&builder, row, error) && build_with_terms(&builder, error);
    for (guint i = 0; builder.terms != NULL && i < schema->n_parameters; i++)
        g_free(builder.terms[i]);
    g_free(builder.terms);
    return ok ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}
