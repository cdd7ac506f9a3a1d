/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PREFIX, FROM and CONSTRAINT: what a text declares before its patterns.
 */
#include "daemon/tracker/tracker-text-private.h"

static gboolean
next_is_word(const QdTranslator *self, const char *word)
{
    return qd_token_is_word(&self->next, word);
}

gboolean
qd_translator_put_prefix(QdTranslator *self)
{
    g_autofree char *prefix = NULL;

    if (!qd_translator_put(self))
        return FALSE;
    prefix = self->token.kind == QD_TOKEN_PNAME_NS ? g_strndup(self->token.text, self->token.n_text) : NULL;
    if (prefix == NULL)
        return qd_translator_fail(self, QW_ERROR_SYNTAX, "expected a prefix with ':'");
    qd_translator_put_gap(self);
    qd_translator_put_source(self);
    if (!qd_translator_advance(self))
        return FALSE;
    if (self->token.kind == QD_TOKEN_IRIREF)
        g_hash_table_insert(self->prefixes, g_steal_pointer(&prefix), g_strndup(self->token.text, self->token.n_text));
    return qd_translator_put(self);
}

static gboolean
skip_graph_of_constraint(QdTranslator *self)
{
    g_autofree char *iri = NULL;

    if (qd_translator_is_word(self, "DEFAULT")) {
        qd_tracker_graphs_allow(self->graphs, "");
    } else if (qd_translator_is_word(self, "ALL")) {
        qd_tracker_graphs_allow(self->graphs, NULL);
    } else {
        iri = qd_translator_expand_iri(self, &self->token);
        if (iri == NULL)
            return qd_translator_fail(self, QW_ERROR_SYNTAX, "expected an IRI with a known prefix, DEFAULT or ALL in CONSTRAINT");
        qd_tracker_graphs_allow(self->graphs, iri);
    }
    return qd_translator_skip(self);
}

static gboolean
is_graph_of_constraint(const QdTranslator *self)
{
    return qd_translator_is_iri(self) || qd_translator_is_word(self, "DEFAULT") || qd_translator_is_word(self, "ALL");
}

/* CONSTRAINT GRAPH a, b and CONSTRAINT SERVICE a, b, in which the list may be empty. There is no SERVICE in these texts in any
 * case. */
gboolean
qd_translator_skip_constraint(QdTranslator *self)
{
    gboolean is_graph = next_is_word(self, "GRAPH");

    if (self->profile->is_update)
        return qd_translator_fail(self, QW_ERROR_UNSUPPORTED, "CONSTRAINT in an update");
    if (!is_graph && !next_is_word(self, "SERVICE"))
        return qd_translator_fail(self, QW_ERROR_SYNTAX, "expected GRAPH or SERVICE after CONSTRAINT");
    if (!qd_translator_skip(self) || !qd_translator_skip(self))
        return FALSE;
    if (is_graph)
        qd_tracker_graphs_begin_constraint(self->graphs);
    while (is_graph_of_constraint(self)) {
        if (!(is_graph ? skip_graph_of_constraint(self) : qd_translator_skip(self)))
            return FALSE;
        if (self->token.kind == ',' && !qd_translator_skip(self))
            return FALSE;
    }
    if (is_graph)
        qd_tracker_graphs_end_constraint(self->graphs);
    return TRUE;
}

/* FROM a, FROM NAMED a: where there is a CONSTRAINT, they are a part of the dataset. */
gboolean
qd_translator_put_from(QdTranslator *self)
{
    gboolean is_named = next_is_word(self, "NAMED");
    g_autofree char *iri = NULL;

    if (!qd_translator_put(self) || (is_named && !qd_translator_put(self)))
        return FALSE;
    iri = qd_translator_expand_iri(self, &self->token);
    if (iri != NULL)
        qd_tracker_graphs_add_from(self->graphs, is_named, iri);
    else if (qd_tracker_graphs_is_constrained(self->graphs))
        return qd_translator_fail(self, QW_ERROR_UNSUPPORTED,
                                  "FROM without an IRI, or with a prefix of the store, beside CONSTRAINT");
    return qd_translator_put(self);
}
