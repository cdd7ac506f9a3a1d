/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Links of paths. Sets of them, !(…) and p|q of plain links, are one scan. Those of a step, as a search takes them, are chains: one
 * for each way through alternatives and sequences.
 */
#include "daemon/plan/sqlgen-private.h"

/* --- sets of links ---------------------------------------------------------------------------------------------------- */

/* Predicates. */
typedef struct Links {
    QdSql *list;
    guint n;
} Links;

static Links
list_links(QdGenerator *self, const QdPath *path, QdPathKind kind)
{
    Links links = { .list = qd_arena_array0(self->arena, QdSql, path->n_children) };

    for (guint i = 0; i < path->n_children; i++) {
        const QdPath *child = path->children[i];

        if (child->kind != kind)
            continue;
        if (child->kind == QD_PATH_INVERSE)
            child = child->children[0];
        links.list[links.n++] = qd_generator_put_term(self, child->iri);
    }
    return links;
}

/* Any predicate of @links (may be none: all), or any other: a triple with a predicate of our own. */
static QdRelation *
generate_scan(QdGenerator *self, const QdNode *s, const QdNode *o, gboolean is_other, Links links, const QdVariableSet *bound)
{
    guint predicate = qd_ast_add_variable(self->ast, NULL);
    QdTriple triple = { .s = *s, .p = { .kind = QD_NODE_VARIABLE, .variable = predicate }, .o = *o };
    QdRelation *relation = qd_generate_triple(self, &triple, bound);
    QdSql column = qd_relation_find(relation, predicate)->sql;

    if (links.n > 0 && is_other)
        qd_relation_add_where(self, relation,
                              qd_sql_make(self->arena, "@ NOT IN (@)", column, qd_sql_list(self->arena, links.list, links.n)));
    else if (links.n > 0)
        qd_relation_add_where(self, relation, qd_sql_is_among(self->arena, column, links.list, links.n));
    return qd_relation_drop_column(self, relation, predicate);
}

/* Columns of @shape, from @arms whose columns may stand in another order. */
static QdRelation *
unite(QdGenerator *self, QdRelation *shape, const QdRelation *other)
{
    g_auto(QdSqlBuilder) list = qd_sql_builder_new(self->arena);

    for (guint i = 0; i < shape->n_columns; i++)
        qd_sql_append_after(&list, ",", qd_relation_find(other, shape->columns[i].variable)->sql);
    return qd_relation_seal_text(self, shape,
                                 qd_sql_make(self->arena, "@ UNION ALL @", qd_relation_write(self, shape, "SELECT", QD_SQL_NONE),
                                             qd_relation_write_list(self, other, "SELECT", qd_sql_finish(&list), QD_SQL_NONE)),
                                 QD_SEAL_PLAIN);
}

static QdRelation *
generate_negated(QdGenerator *self, const QdTriple *triple, const QdVariableSet *bound)
{
    Links forward = list_links(self, triple->path, QD_PATH_LINK);
    Links backward = list_links(self, triple->path, QD_PATH_INVERSE);
    QdRelation *scan;

    if (backward.n == 0)
        return generate_scan(self, &triple->s, &triple->o, TRUE, forward, bound);
    scan = generate_scan(self, &triple->o, &triple->s, TRUE, backward, bound);
    if (forward.n == 0)
        return scan;
    return unite(self, generate_scan(self, &triple->s, &triple->o, TRUE, forward, bound), scan);
}

QdRelation *
qd_generate_links(QdGenerator *self, const QdTriple *triple, const QdVariableSet *bound)
{
    if (triple->path->kind == QD_PATH_NEGATED)
        return generate_negated(self, triple, bound);
    return generate_scan(self, &triple->s, &triple->o, FALSE, list_links(self, triple->path, QD_PATH_LINK), bound);
}

/* --- chains of links --------------------------------------------------------------------------------------------------- */

/* Links of a step that queryd_steps() takes. */
#define LINKS_MAX 60

/* A link of a step, and those that go on from it: arms of the step share their ends. */
typedef struct Chain {
    const QdTerm *iri;
    gboolean backward;
    guint n; /* links */
    const struct Chain *next;
} Chain;

static gboolean list_chains(QdGenerator *self, const QdPath *path, gboolean backward, const Chain *next, GPtrArray *out);

/* From the last member that is walked to the first. */
static gboolean
list_sequence(QdGenerator *self, const QdPath *path, gboolean backward, const Chain *next, GPtrArray *out)
{
    g_autoptr(GPtrArray) ends = g_ptr_array_new();

    g_ptr_array_add(ends, (gpointer) next);
    for (guint i = path->n_children; i-- > 0;) {
        const QdPath *member = path->children[backward ? path->n_children - 1 - i : i];
        g_autoptr(GPtrArray) longer = g_ptr_array_new();

        for (guint j = 0; j < ends->len; j++) {
            if (!list_chains(self, member, backward, ends->pdata[j], longer))
                return FALSE;
        }
        g_ptr_array_unref(ends);
        ends = g_steal_pointer(&longer);
    }
    g_ptr_array_extend(out, ends, NULL, NULL);
    return out->len <= LINKS_MAX;
}

/* The ways that @path may take, each followed by @next, are added to @out. FALSE: they are too many, or more than links. */
static gboolean
list_chains(QdGenerator *self, const QdPath *path, gboolean backward, const Chain *next, GPtrArray *out)
{
    Chain *chain;

    switch (path->kind) {
    case QD_PATH_LINK:
        chain = qd_arena_new0(self->arena, Chain);
        *chain = (Chain){ path->iri, backward, next != NULL ? next->n + 1 : 1, next };
        g_ptr_array_add(out, chain);
        return out->len <= LINKS_MAX && chain->n <= LINKS_MAX;
    case QD_PATH_INVERSE:
        return list_chains(self, path->children[0], !backward, next, out);
    case QD_PATH_ALTERNATIVE:
        for (guint i = 0; i < path->n_children; i++)
            if (!list_chains(self, path->children[i], backward, next, out))
                return FALSE;
        return TRUE;
    case QD_PATH_SEQUENCE:
        return list_sequence(self, path, backward, next, out);
    case QD_PATH_ZERO_OR_MORE:
    case QD_PATH_ONE_OR_MORE:
    case QD_PATH_ZERO_OR_ONE:
    case QD_PATH_NEGATED:
        return FALSE;
    }
    g_assert_not_reached();
}

gboolean
qd_path_append_links(QdGenerator *self, const QdPath *path, gboolean backward, QdSqlBuilder *out)
{
    g_autoptr(GPtrArray) chains = g_ptr_array_new();
    guint n_links = 0;

    if (!list_chains(self, path, backward, NULL, chains))
        return FALSE;
    for (guint i = 0; i < chains->len; i++)
        n_links += ((const Chain *) chains->pdata[i])->n;
    if (n_links > LINKS_MAX)
        return FALSE;
    for (guint i = 0; i < chains->len; i++) {
        for (const Chain *chain = chains->pdata[i]; chain != NULL; chain = chain->next)
            qd_sql_append(out, qd_sql_make(self->arena, ",@,@",
                                           qd_sql_text(qd_arena_printf(self->arena, "%d",
                                                                       (chain->next != NULL ? 2 : 1) * (chain->backward ? -1 : 1))),
                                           qd_generator_put_term(self, chain->iri)));
    }
    return TRUE;
}
