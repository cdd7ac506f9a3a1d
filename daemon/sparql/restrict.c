/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GRAPH <iri> in a pattern is not looked at. A graph that is not in the dataset has no solutions, whether it is there or not.
 */
#include "daemon/sparql/restrict.h"

#include <string.h>

#include "daemon/base/access.h"
#include "daemon/sparql/ast.h"

typedef struct Restriction {
    QdArena *arena;
    const QdAccess *access;
    GError **error;
} Restriction;

static const char *
get_verb(QdAccessKind kind)
{
    return kind == QD_ACCESS_READ ? "read" : "write into";
}

/* @graph: (nullable): the default graph */
static gboolean
check_graph(const Restriction *self, const QdTerm *graph, QdAccessKind kind)
{
    g_autofree char *iri = graph != NULL ? g_strndup(graph->lexical, graph->n_lexical) : g_strdup(QD_ACCESS_DEFAULT_GRAPH);

    if (qd_access_has_graph(self->access, kind, iri))
        return TRUE;
    if (graph == NULL)
        return qd_access_deny(self->access, self->error, "%s the default graph", get_verb(kind));
    return qd_access_deny(self->access, self->error, "%s the graph <%s>", get_verb(kind), iri);
}

/* Reading ---------------------------------------------------------------------------------------------------------------- */

static const QdTerm **
make_granted(const Restriction *self, guint *ret_n)
{
    g_autoptr(GPtrArray) graphs = qd_access_list_graphs(self->access, QD_ACCESS_READ);
    const QdTerm **terms = qd_arena_array0(self->arena, const QdTerm *, graphs->len);

    for (guint i = 0; i < graphs->len; i++) {
        QdTerm *term = qd_arena_new0(self->arena, QdTerm);
        gsize n_bytes = strlen(graphs->pdata[i]);

        *term = (QdTerm){ QD_TERM_IRI, qd_arena_strndup(self->arena, graphs->pdata[i], n_bytes), n_bytes, NULL, 0 };
        terms[i] = term;
    }
    *ret_n = graphs->len;
    return terms;
}

static gboolean
has_default(const Restriction *self)
{
    return qd_access_has_graph(self->access, QD_ACCESS_READ, QD_ACCESS_DEFAULT_GRAPH);
}

/* The dataset of a text that names none: @with (nullable) is its default graph. */
static QdDatasetClause *
make_dataset(const Restriction *self, const QdTerm *with)
{
    QdDatasetClause *clause = qd_arena_new0(self->arena, QdDatasetClause);

    clause->named = make_granted(self, &clause->n_named);
    if (with == NULL) {
        clause->has_default = has_default(self);
    } else {
        clause->graphs = qd_arena_array0(self->arena, const QdTerm *, 1);
        clause->graphs[0] = with;
        clause->n_graphs = 1;
    }
    return clause;
}

static gboolean
check_graphs(const Restriction *self, const QdTerm **graphs, guint n_graphs)
{
    for (guint i = 0; i < n_graphs; i++)
        if (!check_graph(self, graphs[i], QD_ACCESS_READ))
            return FALSE;
    return TRUE;
}

/* @clause: (nullable); @with: (nullable) */
static QdDatasetClause *
restrict_dataset(const Restriction *self, QdDatasetClause *clause, const QdTerm *with)
{
    if (qd_access_has_all(self->access, QD_ACCESS_READ))
        return clause;
    if (clause == NULL)
        return with == NULL || check_graph(self, with, QD_ACCESS_READ) ? make_dataset(self, with) : NULL;
    if (!check_graphs(self, clause->graphs, clause->n_graphs) || !check_graphs(self, clause->named, clause->n_named) ||
        (clause->has_default && !check_graph(self, NULL, QD_ACCESS_READ)))
        return NULL;
    if (clause->names_all)
        clause->named = make_granted(self, &clause->n_named);
    if (clause->is_union) {
        clause->graphs = make_granted(self, &clause->n_graphs);
        clause->has_default = has_default(self);
    }
    clause->names_all = clause->is_union = FALSE;
    return clause;
}

/* Writing ---------------------------------------------------------------------------------------------------------------- */

static gboolean
check_template(const Restriction *self, const QdTriple *quads, guint n_quads, const QdTerm *with)
{
    for (guint i = 0; i < n_quads; i++) {
        const QdNode *graph = &quads[i].g;

        if (graph->kind == QD_NODE_VARIABLE)
            return qd_access_deny(self->access, self->error,
                                  "write into a graph that is a variable: name each graph that is written");
        if (!check_graph(self, graph->kind == QD_NODE_TERM ? graph->term : with, QD_ACCESS_WRITE))
            return FALSE;
    }
    return TRUE;
}

static gboolean
check_target(const Restriction *self, const QdUpdate *update)
{
    switch (update->target) {
    case QD_TARGET_GRAPH:
        return check_graph(self, update->graph, QD_ACCESS_WRITE);
    case QD_TARGET_DEFAULT:
        return check_graph(self, NULL, QD_ACCESS_WRITE);
    case QD_TARGET_NAMED:
    case QD_TARGET_ALL:
        break;
    }
    return qd_access_deny(self->access, self->error, "clear or drop all graphs: name each of them");
}

static gboolean
check_modify(const Restriction *self, QdUpdate *update)
{
    QdDatasetClause *before = update->dataset;

    if (!check_template(self, update->deletes, update->n_deletes, update->with) ||
        !check_template(self, update->inserts, update->n_inserts, update->with))
        return FALSE;
    if (qd_access_has_all(self->access, QD_ACCESS_READ))
        return TRUE;
    update->dataset = restrict_dataset(self, before, update->with);
    return update->dataset != NULL;
}

static gboolean
check_update(const Restriction *self, QdUpdate *update)
{
    switch (update->kind) {
    case QD_UPDATE_INSERT_DATA:
    case QD_UPDATE_DELETE_DATA:
        return check_template(self, update->deletes, update->n_deletes, NULL) &&
               check_template(self, update->inserts, update->n_inserts, NULL);
    case QD_UPDATE_MODIFY:
        return check_modify(self, update);
    case QD_UPDATE_CLEAR:
    case QD_UPDATE_DROP:
        return check_target(self, update);
    case QD_UPDATE_CREATE:
        return check_graph(self, update->graph, QD_ACCESS_WRITE);
    case QD_UPDATE_MOVE: /* its source is dropped */
        return check_graph(self, update->source, QD_ACCESS_WRITE) && check_graph(self, update->graph, QD_ACCESS_WRITE);
    case QD_UPDATE_ADD:
    case QD_UPDATE_COPY:
        return check_graph(self, update->source, QD_ACCESS_READ) && check_graph(self, update->graph, QD_ACCESS_WRITE);
    case QD_UPDATE_LOAD:
        break;
    }
    return qd_access_deny(self->access, self->error, "load documents");
}

gboolean
qd_sparql_restrict(QdAst *ast, const QdAccess *access, gboolean has_matches, GError **error)
{
    const Restriction self = { ast->arena, access, error };
    gboolean reads_all = qd_access_has_all(access, QD_ACCESS_READ);

    if (qd_access_has_all(access, QD_ACCESS_WRITE))
        return TRUE;
    if (has_matches && !reads_all)
        return qd_access_deny(access, error, "search the full-text index, which is of all graphs");
    for (guint i = 0; i < ast->n_updates; i++)
        if (!check_update(&self, &ast->updates[i]))
            return FALSE;
    if (ast->is_update || reads_all)
        return TRUE;
    ast->dataset = restrict_dataset(&self, ast->dataset, NULL);
    return ast->dataset != NULL;
}
