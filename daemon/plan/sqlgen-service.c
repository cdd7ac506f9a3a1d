/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SERVICE: rows of an endpoint, from the table queryd_service(). What is before it is evaluated once and kept. The values that it
 * gives to the pattern go to the endpoint, and its solutions come back. They are read first, as they come.
 */

#include "daemon/plan/sqlgen-private.h"
#include "daemon/service/service-columns.h"

/* The columns of a SERVICE. */
typedef struct Remote {
    GString *names;
    guint variables[QD_SERVICE_COLUMNS_MAX];
    QdSqlBuilder keys;
    guint n_names, n_keys;
    gboolean names_endpoint; /* the first key */
} Remote;

gboolean
qd_algebra_has_service(const QdGenerator *self, const QdAlgebra *node)
{
    guint n = node->kind == QD_ALGEBRA_MINUS ? 1 : node->n_children;

    if (!self->service.is_used)
        return FALSE;
    switch (node->kind) {
    case QD_ALGEBRA_SERVICE:
        return TRUE;
    case QD_ALGEBRA_JOIN:
    case QD_ALGEBRA_LEFT_JOIN:
    case QD_ALGEBRA_MINUS:
    case QD_ALGEBRA_UNION:
    case QD_ALGEBRA_FILTER:
    case QD_ALGEBRA_EXTEND:
    case QD_ALGEBRA_GRAPH:
        break;
    default: /* a subselect, of which nothing outside is known; and what has no children */
        return FALSE;
    }
    for (guint i = 0; i < n; i++) {
        if (qd_algebra_has_service(self, node->children[i]))
            return TRUE;
    }
    return FALSE;
}

/* --- the table -------------------------------------------------------------------------------------------------------- */

static QdSql
write_number(QdGenerator *self, guint number)
{
    return qd_sql_text(qd_arena_printf(self->arena, "%u", number));
}

static void
add_name(QdGenerator *self, Remote *remote, guint variable)
{
    g_string_append_printf(remote->names, "%s%s", remote->n_names > 0 ? " " : "", qd_ast_get_variable_name(self->ast, variable));
    if (remote->n_names < QD_SERVICE_COLUMNS_MAX)
        remote->variables[remote->n_names] = variable;
    remote->n_names++;
}

static void
add_key(QdGenerator *self, Remote *remote, guint variable, QdSql sql)
{
    add_name(self, remote, variable);
    qd_sql_append_after(&remote->keys, ",", sql);
    remote->n_keys++;
}

/* The value that each solution of the pattern has for @variable, and that is known before; none: it is not known. */
static QdSql
find_key(QdGenerator *self, const QdAlgebra *node, guint variable)
{
    QdSql parameter = qd_generator_find_parameter(self, variable);
    const QdColumn *column = self->service.given != NULL ? qd_relation_find(self->service.given, variable) : NULL;

    if (parameter.text != NULL || column == NULL || !column->certain)
        return parameter;
    if (!qd_algebra_binds(node->children[0], variable) && !(node->node.kind == QD_NODE_VARIABLE && node->node.variable == variable))
        return QD_SQL_NONE;
    return qd_column_intern(self, column);
}

/* The endpoint as an argument: a term, or NULL where it is a key. */
static QdSql
write_endpoint(QdGenerator *self, const QdAlgebra *node, Remote *remote)
{
    const QdColumn *column;
    QdSql parameter;

    if (node->node.kind == QD_NODE_TERM)
        return qd_generator_put_term(self, node->node.term);
    parameter = qd_generator_find_parameter(self, node->node.variable);
    if (parameter.text != NULL)
        return parameter;
    column = self->service.given != NULL ? qd_relation_find(self->service.given, node->node.variable) : NULL;
    if (column == NULL) {
        qd_generator_fail(self, QW_ERROR_UNSUPPORTED, "SERVICE ?%s: nothing beside it in its group binds ?%s to an endpoint",
                          qd_ast_get_variable_name(self->ast, node->node.variable),
                          qd_ast_get_variable_name(self->ast, node->node.variable));
        return qd_sql_text("NULL");
    }
    remote->names_endpoint = TRUE;
    add_key(self, remote, node->node.variable, qd_column_intern(self, column));
    return qd_sql_text("NULL");
}

/* A list of all combinations of keys, each once, those of an endpoint one after the other. */
static QdSql
write_keys(QdGenerator *self, const Remote *remote)
{
    g_auto(QdSqlBuilder) names = qd_sql_builder_new(self->arena);
    QdSql from = self->service.given != NULL && self->service.given->n_tables > 0
                     ? qd_relation_write_from(self, self->service.given)
                     : qd_sql_text("(SELECT 1)");
    guint number;
    QdSql head;

    if (remote->n_keys == 0)
        return qd_sql_text("NULL");
    for (guint i = 0; i < remote->n_keys; i++)
        qd_sql_append_after(&names, ",", qd_sql_text(qd_arena_printf(self->arena, "k%u", i)));
    number = qd_generator_make_name(self);
    head = qd_sql_make(self->arena, "@(@) AS MATERIALIZED", qd_sql_text(qd_arena_printf(self->arena, "k%u", number)),
                       qd_sql_finish(&names));
    qd_generator_define(self, head,
                        qd_sql_make(self->arena, "SELECT DISTINCT @ FROM @@", qd_sql_finish(&remote->keys), from,
                                    qd_sql_text(remote->names_endpoint && remote->n_keys > 1 ? " ORDER BY 1,2" : " ORDER BY 1")));
    return qd_sql_make(self->arena, "(SELECT queryd_service_keys(@) FROM @)", qd_sql_finish(&names),
                       qd_sql_text(qd_arena_printf(self->arena, "k%u", number)));
}

static void
check_parameters(QdGenerator *self, const QdAlgebra *node)
{
    for (guint i = 0; i < node->n_variables; i++) {
        guint variable = node->variables[i];

        if (!qd_variable_set_has(&node->children[0]->possible, variable) &&
            qd_generator_find_parameter(self, variable).text != NULL)
            qd_generator_fail(self, QW_ERROR_UNSUPPORTED,
                              "the parameter $%s is named in SERVICE by expressions alone: "
                              "bind another variable to it there, by VALUES",
                              qd_ast_get_variable_name(self->ast, variable));
    }
}

static QdRelation *
make_columns(QdGenerator *self, const QdAlgebra *node, const Remote *remote, const QdTable *table)
{
    QdRelation *relation = qd_relation_new(self);
    guint n_names = MIN(remote->n_names, QD_SERVICE_COLUMNS_MAX);

    qd_relation_add_table(self, relation, table);
    QD_VARIABLE_SET_FOREACH(&node->possible, variable)
    {
        const char *name = qd_ast_get_variable_name(self->ast, variable);
        guint index = 0;
        QdColumn *column;

        while (name != NULL && index < n_names && remote->variables[index] != variable)
            index++;
        if (name == NULL || index == n_names || qd_generator_find_parameter(self, variable).text != NULL)
            continue;
        column = qd_relation_add(
            self, relation, variable,
            qd_sql_column(self->arena, &table->name, qd_arena_printf(self->arena, "v%u", index), QD_SQL_COLUMN));
        column->interned = TRUE;
        column->certain = index < remote->n_keys || (!node->silent && qd_algebra_binds(node->children[0], variable));
    }
    return relation;
}

/* The names of all columns, keys first. */
static void
add_columns(QdGenerator *self, const QdAlgebra *node, Remote *remote)
{
    const QdVariableSet *possible = &node->children[0]->possible;

    for (guint pass = 0; pass < 2; pass++) {
        QD_VARIABLE_SET_FOREACH(possible, variable)
        {
            const char *name = qd_ast_get_variable_name(self->ast, variable);
            QdSql key = name != NULL ? find_key(self, node, variable) : QD_SQL_NONE;

            if (name != NULL && pass == 0 && key.text != NULL)
                add_key(self, remote, variable, key);
            else if (name != NULL && pass == 1 && key.text == NULL)
                add_name(self, remote, variable);
        }
    }
}

static QdRelation *
make_remote(QdGenerator *self, const QdAlgebra *node)
{
    Remote remote = { .names = g_string_new(NULL), .keys = qd_sql_builder_new(self->arena) };
    QdTable table = qd_generator_make_table(self, 's');
    QdSql endpoint = write_endpoint(self, node, &remote);
    QdRelation *relation;
    guint flags = (node->silent ? QD_SERVICE_SILENT : 0) | (remote.names_endpoint ? QD_SERVICE_BY_VARIABLE : 0);

    check_parameters(self, node);
    add_columns(self, node, &remote);
    if (remote.n_names > QD_SERVICE_COLUMNS_MAX)
        qd_generator_fail(self, QW_ERROR_TOO_COMPLEX, "SERVICE with more than %u variables: name fewer in a subselect there",
                          QD_SERVICE_COLUMNS_MAX);
    table.from = qd_sql_fill(self->arena, "queryd_service(@,@,@,@,@,@) AS @",
                             (const QdSql[]){ endpoint, qd_sql_string(self->arena, node->remote),
                                              qd_sql_string(self->arena, remote.names->str), write_number(self, remote.n_keys),
                                              write_number(self, flags), write_keys(self, &remote), qd_sql_text(table.name.text) },
                             7);
    table.is_sealed = TRUE;
    relation = make_columns(self, node, &remote, &table);
    qd_sql_builder_clear(&remote.keys);
    (void) g_string_free(g_steal_pointer(&remote.names), TRUE);
    return relation;
}

/* Asked once: first in a join its rows come as the endpoint sends them. */
static QdSeal
choose_seal(const QdGenerator *self)
{
    return self->outer == NULL && !self->is_beside ? QD_SEAL_STREAM : QD_SEAL_MATERIALIZED;
}

QdRelation *
qd_generate_service(QdGenerator *self, const QdAlgebra *node)
{
    if (!self->service.is_allowed) {
        if (!node->silent)
            qd_generator_fail(
                self, QW_ERROR_UNSUPPORTED,
                "SERVICE in an update, which would hold up all others while it waits: ask with SELECT or CONSTRUCT, then "
                "insert what came, by INSERT DATA or an import");
        return qd_generate_unit(self);
    }
    return qd_generate_in_graph(self, qd_relation_seal(self, make_remote(self, node), choose_seal(self)));
}

/* --- joins ------------------------------------------------------------------------------------------------------------ */

const QdRelation *
qd_service_keep(QdGenerator *self, const QdRelation *left)
{
    if (left->n_tables == 0 || (left->n_tables == 1 && left->tables[0].is_kept && left->n_conditions == 0))
        return left;
    return qd_relation_seal(self, left, QD_SEAL_MATERIALIZED);
}

/* Whether each endpoint that @node names by a variable is known from @left. */
static gboolean
is_ready(const QdAlgebra *node, const QdRelation *left)
{
    if (node->kind == QD_ALGEBRA_SERVICE && node->node.kind == QD_NODE_VARIABLE)
        return left != NULL && qd_relation_find(left, node->node.variable) != NULL;
    return TRUE;
}

static gboolean
shares(const QdAlgebra *node, const QdRelation *left)
{
    for (guint i = 0; i < left->n_columns; i++) {
        if (qd_variable_set_has(&node->possible, left->columns[i].variable))
            return TRUE;
    }
    return FALSE;
}

/* @left (nullable) joined with @child, of which an endpoint has a part. */
static QdRelation *
join_service(QdGenerator *self, QdRelation *left, const QdAlgebra *child, const QdVariableSet *bound)
{
    const QdRelation *given = self->service.given;
    const QdRelation *kept = left != NULL ? qd_service_keep(self, left) : NULL;
    QdRelation *right;

    if (kept != NULL && shares(child, kept))
        self->service.given = kept;
    right = qd_generator_generate(self, child, bound);
    self->service.given = given;
    if (kept == NULL || self->error != NULL)
        return right;
    if (right->n_tables != 1 || right->n_conditions > 0)
        right = qd_relation_seal(self, right, choose_seal(self));
    return qd_relation_join(self, right, kept);
}

QdRelation *
qd_generate_service_join(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *bound)
{
    const QdRelation *given = self->service.given;
    g_autoptr(GPtrArray) own = g_ptr_array_new();
    g_autoptr(GPtrArray) remote = g_ptr_array_new();
    QdRelation *left = NULL;

    for (guint i = 0; i < node->n_children; i++)
        g_ptr_array_add(qd_algebra_has_service(self, node->children[i]) ? remote : own, node->children[i]);
    self->service.given = NULL;
    if (own->len > 0)
        left = qd_generate_children(self, NULL, (QdAlgebra **) own->pdata, own->len, bound);
    self->service.given = given;
    while (remote->len > 0 && self->error == NULL) {
        guint next = 0;

        while (next < remote->len && !is_ready(remote->pdata[next], left))
            next++;
        left = join_service(self, left, g_ptr_array_remove_index(remote, next < remote->len ? next : 0), bound);
    }
    return left;
}
