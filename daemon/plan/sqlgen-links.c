/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Paths of one link that are sets: !(…), and p|q of plain links.
 */
#include "daemon/plan/sqlgen-private.h"

static QdSql
list_links(QdGenerator *self, const QdPath *path, QdPathKind kind)
{
    g_auto(QdSqlBuilder) list = qd_sql_builder_new(self->arena);

    for (guint i = 0; i < path->n_children; i++) {
        const QdPath *child = path->children[i];

        if (child->kind != kind)
            continue;
        if (child->kind == QD_PATH_INVERSE)
            child = child->children[0];
        qd_sql_append_after(&list, ",", qd_generator_put_term(self, child->iri));
    }
    return qd_sql_finish(&list);
}

/* Any predicate of @list (may be none: all), or any other: a triple with a predicate of our own. */
static QdRelation *
generate_scan(QdGenerator *self, const QdNode *s, const QdNode *o, gboolean is_other, QdSql list)
{
    guint predicate = qd_ast_add_variable(self->ast, NULL);
    QdTriple triple = { .s = *s, .p = { .kind = QD_NODE_VARIABLE, .variable = predicate }, .o = *o };
    QdRelation *relation = qd_generate_triple(self, &triple);

    if (list.text != NULL && is_other)
        qd_relation_add_where(self, relation,
                              qd_sql_make(self->arena, "@ NOT IN (@)", qd_relation_find(relation, predicate)->sql, list));
    else if (list.text != NULL)
        qd_relation_add_where(
            self, relation,
            qd_sql_equate(self->arena, qd_relation_find(relation, predicate)->sql, " IN ", qd_sql_make(self->arena, "(@)", list)));
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
generate_negated(QdGenerator *self, const QdTriple *triple)
{
    QdSql forward = list_links(self, triple->path, QD_PATH_LINK);
    QdSql backward = list_links(self, triple->path, QD_PATH_INVERSE);
    QdRelation *scan;

    if (backward.text == NULL)
        return generate_scan(self, &triple->s, &triple->o, TRUE, forward);
    scan = generate_scan(self, &triple->o, &triple->s, TRUE, backward);
    if (forward.text == NULL)
        return scan;
    return unite(self, generate_scan(self, &triple->s, &triple->o, TRUE, forward), scan);
}

QdRelation *
qd_generate_links(QdGenerator *self, const QdTriple *triple)
{
    if (triple->path->kind == QD_PATH_NEGATED)
        return generate_negated(self, triple);
    return generate_scan(self, &triple->s, &triple->o, FALSE, list_links(self, triple->path, QD_PATH_LINK));
}
