/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Update requests: a sequence of operations, each with what it deletes, inserts and matches.
 */

#include "daemon/sparql/parser-private.h"

/* { Quads }: triples, and GRAPH blocks of triples. */
static gboolean
parse_quads(QdParser *self, GArray *quads)
{
    if (!qd_parser_expect(self, '{', "'{'"))
        return FALSE;
    while (!qd_parser_is(self, '}')) {
        QdNode graph = { 0 };
        guint n_before = quads->len;

        if (qd_parser_accept_word(self, "GRAPH")) {
            if (self->only_terms && qd_parser_is(self, QD_TOKEN_VAR))
                return qd_parser_fail_expected(self, "an IRI");
            if (!qd_parser_parse_variable_or_iri(self, &graph) || !qd_parser_parse_template(self, quads))
                return FALSE;
            if (qd_parser_is(self, '.') && !qd_parser_advance(self))
                return FALSE;
        } else if (!qd_parser_starts_triples(self)) {
            return qd_parser_fail_expected(self, "triples, GRAPH or '}'");
        } else if (!qd_parser_parse_triples(self, quads, FALSE)) {
            return FALSE;
        } else if (!qd_parser_is(self, '}') && !qd_parser_is_word(self, "GRAPH")) {
            return qd_parser_fail_expected(self, "'.', GRAPH or '}'");
        }
        for (guint i = n_before; i < quads->len; i++)
            g_array_index(quads, QdTriple, i).g = graph;
    }
    return qd_parser_advance(self);
}

static gboolean
parse_deletes(QdParser *self, QdUpdate *update, gboolean only_terms)
{
    g_autoptr(GArray) quads = g_array_new(FALSE, TRUE, sizeof(QdTriple));

    self->blank_nodes = QD_BLANK_NODES_FORBIDDEN;
    self->only_terms = only_terms;
    if (!parse_quads(self, quads))
        return FALSE;
    self->blank_nodes = QD_BLANK_NODES_VARIABLES;
    self->only_terms = FALSE;
    update->deletes = qd_parser_take_array(self, quads);
    update->n_deletes = quads->len;
    return TRUE;
}

static gboolean
parse_inserts(QdParser *self, QdUpdate *update, gboolean only_terms)
{
    g_autoptr(GArray) quads = g_array_new(FALSE, TRUE, sizeof(QdTriple));

    self->blank_nodes = QD_BLANK_NODES_FRESH;
    self->only_terms = only_terms;
    if (!parse_quads(self, quads))
        return FALSE;
    self->blank_nodes = QD_BLANK_NODES_VARIABLES;
    self->only_terms = FALSE;
    update->inserts = qd_parser_take_array(self, quads);
    update->n_inserts = quads->len;
    return TRUE;
}

/* DELETE WHERE: what is deleted is also the pattern. */
static void
make_pattern_of_deletes(QdParser *self, QdUpdate *update)
{
    QdPattern *group = qd_parser_new_pattern(self, QD_PATTERN_GROUP);

    group->children = qd_arena_array0(self->arena, QdPattern *, update->n_deletes);
    group->n_children = update->n_deletes;
    for (guint i = 0; i < update->n_deletes; i++) {
        QdPattern *triples = qd_parser_new_pattern(self, QD_PATTERN_TRIPLES);

        triples->triples = &update->deletes[i];
        triples->n_triples = 1;
        qd_parser_add_triple_variables(self, triples->triples, 1, &triples->visible);
        qd_variable_set_add_all(&group->visible, self->arena, &triples->visible);
        group->children[i] = triples;
        if (update->deletes[i].g.kind != QD_NODE_NONE) {
            QdPattern *graph = qd_parser_new_pattern(self, QD_PATTERN_GRAPH);

            graph->node = update->deletes[i].g;
            graph->children = &group->children[i];
            graph->children = qd_arena_new0(self->arena, QdPattern *);
            graph->children[0] = triples;
            graph->n_children = 1;
            graph->visible = triples->visible;
            group->children[i] = graph;
        }
    }
    update->where = group;
}

/* After WITH and its IRI, or at DELETE or INSERT. */
static gboolean
parse_modify(QdParser *self, QdUpdate *update)
{
    gboolean any = FALSE;

    update->kind = QD_UPDATE_MODIFY;
    if (qd_parser_accept_word(self, "DELETE")) {
        any = TRUE;
        if (!parse_deletes(self, update, FALSE))
            return FALSE;
    }
    if (qd_parser_accept_word(self, "INSERT")) {
        any = TRUE;
        if (!parse_inserts(self, update, FALSE))
            return FALSE;
    }
    if (!any)
        return qd_parser_fail_expected(self, "DELETE or INSERT");
    update->dataset = qd_parser_parse_dataset(self, "USING");
    if (update->dataset == NULL || !qd_parser_expect_word(self, "WHERE"))
        return FALSE;
    if (update->dataset->n_graphs + update->dataset->n_named == 0)
        update->dataset = NULL;
    update->where = qd_parser_parse_group(self);
    return update->where != NULL;
}

static gboolean
parse_insert_or_delete(QdParser *self, QdUpdate *update)
{
    gboolean is_insert = qd_parser_is_word(self, "INSERT");

    if (qd_parser_next_is_word(self, "DATA")) {
        update->kind = is_insert ? QD_UPDATE_INSERT_DATA : QD_UPDATE_DELETE_DATA;
        if (!qd_parser_advance(self) || !qd_parser_advance(self))
            return FALSE;
        return is_insert ? parse_inserts(self, update, TRUE) : parse_deletes(self, update, TRUE);
    }
    if (!is_insert && qd_parser_next_is_word(self, "WHERE")) {
        update->kind = QD_UPDATE_MODIFY;
        if (!qd_parser_advance(self) || !qd_parser_advance(self) || !parse_deletes(self, update, FALSE) ||
            !qd_parser_count_parts(self, update->n_deletes))
            return FALSE;
        make_pattern_of_deletes(self, update);
        return TRUE;
    }
    return parse_modify(self, update);
}

static gboolean
parse_load(QdParser *self, QdUpdate *update)
{
    update->kind = QD_UPDATE_LOAD;
    update->silent = qd_parser_accept_word(self, "SILENT");
    if (self->error != NULL || !qd_parser_parse_iri(self, &update->source))
        return FALSE;
    if (!qd_parser_accept_word(self, "INTO"))
        return self->error == NULL;
    return qd_parser_expect_word(self, "GRAPH") && qd_parser_parse_iri(self, &update->graph);
}

/* CLEAR, DROP: GRAPH <iri>, DEFAULT, NAMED or ALL. */
static gboolean
parse_clear(QdParser *self, QdUpdate *update, QdUpdateKind kind)
{
    update->kind = kind;
    update->silent = qd_parser_accept_word(self, "SILENT");
    if (qd_parser_accept_word(self, "DEFAULT"))
        update->target = QD_TARGET_DEFAULT;
    else if (qd_parser_accept_word(self, "NAMED"))
        update->target = QD_TARGET_NAMED;
    else if (qd_parser_accept_word(self, "ALL"))
        update->target = QD_TARGET_ALL;
    else if (!qd_parser_accept_word(self, "GRAPH"))
        return qd_parser_fail_expected(self, "GRAPH, DEFAULT, NAMED or ALL");
    else
        return qd_parser_parse_iri(self, &update->graph);
    return self->error == NULL;
}

static gboolean
parse_create(QdParser *self, QdUpdate *update)
{
    update->kind = QD_UPDATE_CREATE;
    update->silent = qd_parser_accept_word(self, "SILENT");
    return self->error == NULL && qd_parser_expect_word(self, "GRAPH") && qd_parser_parse_iri(self, &update->graph);
}

static gboolean
parse_graph_or_default(QdParser *self, const QdTerm **ret_graph)
{
    *ret_graph = NULL;
    if (qd_parser_accept_word(self, "DEFAULT"))
        return TRUE;
    if (!qd_parser_accept_word(self, "GRAPH") && self->error != NULL)
        return FALSE;
    if (!qd_parser_starts_iri(self))
        return qd_parser_fail_expected(self, "DEFAULT, GRAPH or an IRI");
    return qd_parser_parse_iri(self, ret_graph);
}

/* ADD, MOVE, COPY. */
static gboolean
parse_transfer(QdParser *self, QdUpdate *update, QdUpdateKind kind)
{
    update->kind = kind;
    update->silent = qd_parser_accept_word(self, "SILENT");
    return self->error == NULL && parse_graph_or_default(self, &update->source) && qd_parser_expect_word(self, "TO") &&
           parse_graph_or_default(self, &update->graph);
}

static gboolean
parse_operation(QdParser *self, QdUpdate *update)
{
    update->offset = self->token.offset;
    self->counts.n_parts = 0;
    g_hash_table_remove_all(self->names.labels);
    if (qd_parser_is_word(self, "INSERT") || qd_parser_is_word(self, "DELETE"))
        return parse_insert_or_delete(self, update);
    if (qd_parser_accept_word(self, "WITH"))
        return self->error == NULL && qd_parser_parse_iri(self, &update->with) && parse_modify(self, update);
    if (qd_parser_accept_word(self, "LOAD"))
        return parse_load(self, update);
    if (qd_parser_accept_word(self, "CLEAR"))
        return parse_clear(self, update, QD_UPDATE_CLEAR);
    if (qd_parser_accept_word(self, "DROP"))
        return parse_clear(self, update, QD_UPDATE_DROP);
    if (qd_parser_accept_word(self, "CREATE"))
        return parse_create(self, update);
    if (qd_parser_accept_word(self, "ADD"))
        return parse_transfer(self, update, QD_UPDATE_ADD);
    if (qd_parser_accept_word(self, "MOVE"))
        return parse_transfer(self, update, QD_UPDATE_MOVE);
    if (qd_parser_accept_word(self, "COPY"))
        return parse_transfer(self, update, QD_UPDATE_COPY);
    return qd_parser_fail_expected(self, self->counts.n_operations == 0 ? QD_PARSER_FIRST_WORDS
                                                                        : "BASE, PREFIX, " QD_PARSER_UPDATE_WORDS);
}

gboolean
qd_parser_parse_update(QdParser *self)
{
    g_autoptr(GArray) updates = g_array_new(FALSE, TRUE, sizeof(QdUpdate));

    do {
        QdUpdate update = { 0 };

        if (!qd_parser_parse_prologue(self))
            return FALSE;
        if (qd_parser_is(self, QD_TOKEN_END))
            break;
        if (!parse_operation(self, &update))
            return FALSE;
        g_array_append_val(updates, update);
        self->counts.n_operations++;
    } while (qd_parser_accept(self, ';'));
    if (self->error != NULL)
        return FALSE;
    self->ast->updates = qd_parser_take_array(self, updates);
    self->ast->n_updates = updates->len;
    return qd_parser_is(self, QD_TOKEN_END) || qd_parser_fail_expected(self, "';' or the end of the request");
}
