/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * EXISTS: a pattern that is asked about for each solution of what is around it.
 */
#include "daemon/plan/sqlgen-private.h"

/* A condition for each variable that the pattern shares with what is around the EXISTS: the innermost that has it gives the value.
 */
void
qd_expression_match_outer(QdGenerator *self, const QdOuter *outer, const QdRelation *inner, QdRelation *target)
{
    QdVariableSet matched = { 0 };

    for (; outer != NULL; outer = outer->next) {
        QdRelation *shared = qd_relation_new(self);

        for (guint i = 0; i < outer->relation->n_columns; i++) {
            const QdColumn *column = &outer->relation->columns[i];

            if (qd_variable_set_has(&matched, column->variable) || qd_relation_find(inner, column->variable) == NULL)
                continue;
            qd_variable_set_add(&matched, self->arena, column->variable);
            (void) qd_relation_add_column(self, shared, column);
        }
        if (shared->n_columns == 0)
            continue;
        (void) qd_relation_match(self, shared, inner, target);
        self->outermost = MIN(self->outermost, outer->level);
    }
}

/* Whether @pattern takes nothing from outside: one run tells it for all solutions there. */
static gboolean
is_alone(const QdAlgebra *pattern, const QdOuter *outer)
{
    if (!qd_algebra_consists_of_links(pattern))
        return FALSE;
    for (; outer != NULL; outer = outer->next) {
        for (guint i = 0; i < outer->relation->n_columns; i++) {
            if (qd_variable_set_has(&pattern->possible, outer->relation->columns[i].variable))
                return FALSE;
        }
    }
    return TRUE;
}

/* A relation that is read up to its first row. */
static QdRelation *
generate_alone(QdGenerator *self, const QdAlgebra *pattern)
{
    const QdOuter *outer = self->outer;
    gboolean is_beside = self->is_beside;
    QdRelation *relation;

    self->outer = NULL;
    self->is_beside = FALSE;
    relation = qd_relation_seal(self, qd_generator_generate(self, pattern, NULL), QD_SEAL_PLAIN);
    self->outer = outer;
    self->is_beside = is_beside;
    return relation;
}

/*
 * The pattern inside. What is not correlated goes to the common table expressions of the query, so that texts do not nest. What
 * is correlated stands in a WITH inside the EXISTS, where it sees the outer columns. Returns that WITH; none: there is none.
 */
static QdSql
generate_inside(QdGenerator *self, const QdExpression *expression, const QdOuter *outer, QdRelation **ret_inner)
{
    QdVariableSet bound = { 0 };
    QdSqlBuilder *around = self->with;
    g_auto(QdSqlBuilder) with = qd_sql_builder_new(self->arena);
    gboolean correlated;

    if (is_alone(expression->algebra, outer)) {
        *ret_inner = generate_alone(self, expression->algebra);
        return QD_SQL_NONE;
    }
    for (guint i = 0; i < outer->relation->n_columns; i++)
        qd_variable_set_add(&bound, self->arena, outer->relation->columns[i].variable);
    self->with = &with;
    *ret_inner = qd_generator_generate(self, expression->algebra, &bound);
    self->with = around;
    correlated = self->outermost <= outer->level;
    if (correlated)
        return qd_sql_finish(&with);
    if (with.text->len > 0)
        qd_generator_add_definitions(self, qd_sql_finish(&with));
    if (outer->next == NULL)
        *ret_inner = qd_relation_copy(self, qd_relation_keep_apart(self, outer->relation, *ret_inner));
    if (qd_relation_get_depth(*ret_inner) > QD_DEPTH_FLAT)
        *ret_inner = qd_relation_seal(self, *ret_inner, QD_SEAL_PLAIN);
    return QD_SQL_NONE;
}

/*
 * What the pattern inside takes from outside: each variable from the innermost relation that has it, as one table of the whole
 * text. It may have more rows than there are solutions: relations that have nothing to do with these are left out.
 */
static QdRelation *
seal_outer(QdGenerator *self, const QdExpression *expression, const QdOuter *outer)
{
    QdVariableSet wanted = { 0 };
    QdRelation *rows = qd_relation_new(self);
    QdRelation *taken = qd_relation_new(self);

    qd_pattern_add_variables(expression->pattern, self->arena, &wanted);
    for (; outer != NULL; outer = outer->next) {
        gboolean joins = FALSE;
        guint n_taken = taken->n_columns;

        for (guint i = 0; i < outer->relation->n_columns; i++) {
            const QdColumn *column = &outer->relation->columns[i];

            joins = joins || qd_relation_find(rows, column->variable) != NULL;
            if (qd_variable_set_has(&wanted, column->variable) && qd_relation_find(taken, column->variable) == NULL)
                (void) qd_relation_add_column(self, taken, column);
        }
        if (joins || taken->n_columns > n_taken)
            rows = qd_relation_merge(self, rows, outer->relation);
    }
    qd_relation_take_rows(self, taken, rows);
    return qd_relation_seal_text(self, taken, qd_relation_write(self, taken, "SELECT DISTINCT", QD_SQL_NONE), QD_SEAL_MATERIALIZED);
}

/* The columns of @sealed as a key: with a value that is no term for what is not bound. */
static QdSql
write_key(QdGenerator *self, const QdRelation *sealed, const QdOuter *outer)
{
    g_auto(QdSqlBuilder) key = qd_sql_builder_new(self->arena);

    for (guint i = 0; i < sealed->n_columns; i++) {
        const QdColumn *column = &sealed->columns[i];

        for (const QdOuter *next = outer; next != NULL; next = next->next) {
            const QdColumn *named = qd_relation_find(next->relation, sealed->columns[i].variable);

            if (named == NULL)
                continue;
            column = named;
            self->outermost = MIN(self->outermost, next->level);
            break;
        }
        qd_sql_append_after(&key, ",",
                            sealed->columns[i].certain ? column->sql : qd_sql_make(self->arena, "ifnull(@,'')", column->sql));
    }
    return qd_sql_finish(&key);
}

/*
 * An EXISTS whose text would nest too deep, apart from what is around it. The pattern inside is joined with all that it sees
 * from outside, and each solution around is looked for among what remains. None: it names outer variables in a group of its
 * own.
 */
static QdSql
write_exists_apart(QdGenerator *self, const QdExpression *expression, const QdOuter *outer)
{
    const QdAlgebra *algebra = expression->algebra;
    gboolean has_filter = algebra->kind == QD_ALGEBRA_FILTER;
    QdSqlBuilder *around = self->with;
    QdVariableSet bound = { 0 };
    QdRelation *sealed;
    QdRelation *inner;
    QdSql found, key;
    QdTable table;

    self->with = &self->outer_with;
    self->outermost = G_MAXUINT;
    sealed = seal_outer(self, expression, outer);
    for (guint i = 0; i < sealed->n_columns; i++)
        qd_variable_set_add(&bound, self->arena, sealed->columns[i].variable);
    inner = qd_generator_generate(self, has_filter ? algebra->children[0] : algebra, &bound);
    if (self->outermost != G_MAXUINT || sealed->n_columns == 0) {
        self->with = around;
        return QD_SQL_NONE;
    }
    self->outer = NULL; /* it is all in the relation now */
    if (inner->n_tables >= QD_TABLES_MAX || qd_relation_get_n_arms(inner) > QD_MERGED_ARMS_MAX)
        inner = qd_relation_seal(self, inner, QD_SEAL_MATERIALIZED);
    inner = qd_relation_merge(self, sealed, inner);
    if (has_filter)
        qd_relation_filter(self, inner, algebra->expressions, algebra->n_expressions);
    found = qd_relation_write_list(self, inner, "SELECT", write_key(self, sealed, NULL), QD_SQL_NONE);
    self->outer = outer;
    self->outermost = G_MAXUINT;
    key = write_key(self, sealed, outer);
    table = qd_generator_make_table(self, 'x');
    qd_generator_define(self, qd_sql_make(self->arena, "@ AS MATERIALIZED", table.from), found);
    self->with = around;
    return qd_sql_make(self->arena, "(@) IN @", key, table.from);
}

QdSql
qd_expression_make_exists(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    QdExpression *cached = (QdExpression *) expression;
    QdOuter outer = { relation, self->outer != NULL ? self->outer->level + 1 : 1, self->outer };
    guint outermost = self->outermost;
    const QdRelation *given = self->service.given;
    QdRelation *inner;
    QdSql with, text;

    if (cached->algebra == NULL)
        cached->algebra = qd_algebra_from_pattern(self->ast, expression->pattern);
    self->outer = &outer;
    self->service.given = NULL;
    self->outermost = G_MAXUINT;
    with = generate_inside(self, expression, &outer, &inner);
    inner = qd_relation_copy(self, inner);
    qd_expression_match_outer(self, &outer, inner, inner);
    text = qd_sql_exists(self->arena, with, qd_relation_write_probe(self, inner));
    if (text.depth > QD_DEPTH_PARSED && self->error == NULL)
        text = write_exists_apart(self, expression, &outer);
    self->outer = outer.next;
    self->service.given = given;
    self->outermost = MIN(outermost, self->outermost < outer.level ? self->outermost : G_MAXUINT);
    if (text.text != NULL)
        return text;
    if (self->error == NULL)
        qd_limit_set_error(&self->error, self->limits, QD_LIMIT_SQL_PARSER_DEPTH,
                           "EXISTS that names variables of the patterns around it is nested too deep");
    return qd_sql_text("0");
}
