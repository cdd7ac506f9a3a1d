/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Datasets: FROM and USING clauses of a text, and the option that takes their place.
 *
 * Place: room sparql, part of the parser. Invariant: the text of the option is parsed by itself. Nothing in it can become a part
 * of the query.
 */
#include "daemon/sparql/parser-private.h"

#include <string.h>

#include "daemon/base/error.h"

/* FROM ALL, FROM DEFAULT, FROM NAMED ALL */
static gboolean
accept_many(QdParser *self, QdDatasetClause *clause, gboolean is_named)
{
    if (!self->takes_all)
        return FALSE;
    if (qd_parser_accept_word(self, "ALL"))
        *(is_named ? &clause->names_all : &clause->is_union) = TRUE;
    else if (!is_named && qd_parser_accept_word(self, "DEFAULT"))
        clause->has_default = TRUE;
    else
        return FALSE;
    return TRUE;
}

QdDatasetClause *
qd_parser_parse_dataset(QdParser *self, const char *keyword)
{
    g_autoptr(GArray) graphs = g_array_new(FALSE, FALSE, sizeof(const QdTerm *));
    g_autoptr(GArray) named = g_array_new(FALSE, FALSE, sizeof(const QdTerm *));
    QdDatasetClause *clause = qd_arena_new0(self->arena, QdDatasetClause);

    while (qd_parser_accept_word(self, keyword)) {
        gboolean is_named = qd_parser_accept_word(self, "NAMED");
        const QdTerm *iri;

        if (self->error == NULL && accept_many(self, clause, is_named))
            continue;
        if (self->error != NULL || !qd_parser_parse_iri(self, &iri))
            return NULL;
        g_array_append_val(is_named ? named : graphs, iri);
    }
    if (self->error != NULL)
        return NULL;
    clause->graphs = qd_parser_take_array(self, graphs);
    clause->n_graphs = graphs->len;
    clause->named = qd_parser_take_array(self, named);
    clause->n_named = named->len;
    return clause;
}

static gboolean
refuse_option(GError **error, const char *message)
{
    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option 'dataset': %s", message);
    return FALSE;
}

static gboolean
is_empty(const QdDatasetClause *clause)
{
    return clause->n_graphs + clause->n_named == 0 && !clause->has_default && !clause->is_union && !clause->names_all;
}

QdDatasetClause *
qd_parser_parse_dataset_option(QdAst *ast, const QdParseOptions *options, GError **error)
{
    const char *text = options->dataset;
    const QdParseOptions own = { .base = options->base, .catalog = options->catalog, .limits = options->limits };
    g_autoptr(QdLexer) lexer = qd_lexer_new_for_text(QD_LEXER_SPARQL, text, strlen(text));
    g_autoptr(GHashTable) prefixes = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GError) failure = NULL;
    QdDatasetClause *clause = NULL;
    QdParser self = {
        .ast = ast,
        .arena = ast->arena,
        .own_lexer = lexer,
        .lexer = lexer,
        .read_value = QD_FINGERPRINT_NO_VALUE,
        .options = &own,
        .names = { .prefixes = prefixes },
        .takes_all = TRUE,
    };

    if (qd_parser_advance(&self))
        clause = qd_parser_parse_dataset(&self, "FROM");
    if (clause != NULL && (is_empty(clause) || !qd_parser_is(&self, QD_TOKEN_END)))
        (void) qd_parser_fail_expected(&self, "FROM <IRI>, FROM DEFAULT, FROM ALL, FROM NAMED <IRI> or FROM NAMED ALL");
    if (self.error == NULL)
        return clause;

    failure = self.error;
    (void) refuse_option(error, failure->message);
    return NULL;
}

gboolean
qd_parser_replace_dataset(QdAst *ast, QdDatasetClause *clause, GError **error)
{
    if (!ast->is_update) {
        ast->dataset = clause;
        return TRUE;
    }

    for (guint i = 0; i < ast->n_updates; i++) {
        QdUpdate *update = &ast->updates[i];

        if (update->kind != QD_UPDATE_MODIFY)
            continue;
        /* SPARQL 1.1 Protocol, 2.2.3 */
        if (update->dataset != NULL || update->with != NULL)
            return refuse_option(error, "the update has USING or WITH; give its graphs in one place only");
        update->dataset = clause;
    }
    return TRUE;
}
