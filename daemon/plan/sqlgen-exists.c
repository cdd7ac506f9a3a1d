/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * EXISTS: a pattern that is asked about for each solution of what is around it.
 */
#include "daemon/plan/sqlgen-private.h"

#define OPEN_MAX 2 /* variables that may be unbound outside, and have their values inside where they are not */
/* Of an EXISTS that has values from outside, and is made a common table expression; and of what stands in that alone. */
#define DEPTH_BY_VALUE 65
#define DEPTH_ALONE 90

const QdColumn *
qd_outer_find(QdGenerator *self, const QdOuter *outer, guint variable)
{
    for (; outer != NULL; outer = outer->next) {
        const QdColumn *column = qd_relation_find(outer->relation, variable);

        if (column == NULL)
            continue;
        self->outermost = MIN(self->outermost, outer->level);
        return column;
    }
    return NULL;
}

/* @is_open: the outer column of an open variable, else of a replaced one. NULL: it is none, or a group between binds it. */
static const QdColumn *
find_marked(QdGenerator *self, guint variable, gboolean is_open)
{
    const QdOuter *outer = self->outer;

    while (outer != NULL && !qd_variable_set_has(is_open ? &outer->open : &outer->replaced, variable)) {
        if (qd_relation_find(outer->relation, variable) != NULL)
            return NULL;
        outer = outer->next;
    }
    return qd_outer_find(self, outer, variable);
}

const QdColumn *
qd_outer_find_replaced(QdGenerator *self, guint variable)
{
    return find_marked(self, variable, FALSE);
}

void
qd_outer_close(QdGenerator *self, QdRelation *relation)
{
    for (guint i = 0; self->outer != NULL && i < relation->n_columns; i++) {
        QdColumn *column = &relation->columns[i];
        const QdColumn *outside = find_marked(self, column->variable, TRUE);

        if (outside == NULL)
            continue;
        qd_relation_add_where(self, relation,
                              qd_sql_make(self->arena, "(@ IS NULL OR @=@)", outside->sql, qd_column_intern(self, column),
                                          qd_column_intern(self, outside)));
        column->sql = qd_sql_make(self->arena, "CASE WHEN @ IS NULL THEN @ END", outside->sql, column->sql);
        column->certain = column->plain = FALSE;
    }
}

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

/* Whether @rows name columns of @outer's tables, for which these have to be on their left. */
static gboolean
names_tables(const QdRelation *rows, const QdRelation *outer)
{
    for (guint i = 0; i < rows->n_conditions; i++) {
        if (qd_relation_find_last_table(outer, &rows->conditions[i]) >= 0)
            return TRUE;
    }
    for (guint i = 0; i < rows->n_tables; i++) {
        if (qd_relation_find_last_table(outer, &rows->tables[i].on) >= 0 ||
            qd_relation_find_last_table(outer, &rows->tables[i].from) >= 0)
            return TRUE;
    }
    return FALSE;
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
        if (names_tables(rows, outer->relation))
            rows = qd_relation_merge(self, outer->relation, rows);
        else if (joins || taken->n_columns > n_taken)
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
        const QdColumn *named = qd_outer_find(self, outer, sealed->columns[i].variable);
        const QdColumn *column = named != NULL ? named : &sealed->columns[i];

        qd_sql_append_after(&key, ",",
                            sealed->columns[i].certain ? column->sql : qd_sql_make(self->arena, "ifnull(@,'')", column->sql));
    }
    return qd_sql_finish(&key);
}

/* EXISTS, with the pattern as a part of the text. */
static QdSql
write_exists_here(QdGenerator *self, const QdExpression *expression, const QdOuter *outer)
{
    QdRelation *inner;
    QdSql with = generate_inside(self, expression, outer, &inner);

    inner = qd_relation_copy(self, inner);
    qd_expression_match_outer(self, outer, inner, inner);
    return qd_sql_exists(self->arena, with, qd_relation_write_probe(self, inner));
}

/* The rows of @sealed, outer values, each with the pattern looked for by itself, since some of them stand in it. None: too deep. */
static QdSql
write_found_by_value(QdGenerator *self, const QdExpression *expression, const QdOuter *outer, QdRelation *sealed)
{
    const QdOuter alone = { .relation = sealed, .level = 1, .replaced = outer->replaced, .open = outer->open };
    QdRelation *rows = qd_relation_copy(self, sealed);
    QdSql text;

    self->outer = &alone;
    text = write_exists_here(self, expression, &alone);
    self->outer = NULL;
    if (text.depth > DEPTH_ALONE)
        return QD_SQL_NONE;
    qd_relation_add_where(self, rows, text);
    return qd_relation_write_list(self, rows, "SELECT", write_key(self, sealed, NULL), QD_SQL_NONE);
}

/* The rows of @sealed, outer values, that the pattern is compatible with. None: it names outer variables in a group of its own. */
static QdSql
write_found(QdGenerator *self, const QdExpression *expression, QdRelation *sealed)
{
    const QdAlgebra *algebra = expression->algebra;
    gboolean has_filter = algebra->kind == QD_ALGEBRA_FILTER;
    QdVariableSet bound = { 0 };
    QdRelation *inner;

    for (guint i = 0; i < sealed->n_columns; i++)
        qd_variable_set_add(&bound, self->arena, sealed->columns[i].variable);
    inner = qd_generator_generate(self, has_filter ? algebra->children[0] : algebra, &bound);
    if (self->outermost != G_MAXUINT)
        return QD_SQL_NONE;
    self->outer = NULL; /* it is all in the relation now */
    if (inner->n_tables >= QD_TABLES_MAX || qd_relation_get_n_arms(inner) > QD_MERGED_ARMS_MAX)
        inner = qd_relation_seal(self, inner, QD_SEAL_MATERIALIZED);
    inner = qd_relation_merge(self, sealed, inner);
    if (has_filter)
        qd_relation_filter(self, inner, algebra->expressions, algebra->n_expressions);
    return qd_relation_write_list(self, inner, "SELECT", write_key(self, sealed, NULL), QD_SQL_NONE);
}

/*
 * An EXISTS whose text would nest too deep, apart from what is around it. The pattern inside is joined with all that it sees
 * from outside, and each solution around is looked for among what remains. None: that would name outer variables, or is too deep.
 */
static QdSql
write_exists_apart(QdGenerator *self, const QdExpression *expression, const QdOuter *outer)
{
    QdSqlBuilder *around = self->with;
    QdRelation *sealed;
    QdSql found, key;
    QdTable table;

    if (outer->next != NULL && !qd_variable_set_is_empty(&outer->next->replaced) && around->text->len > 0)
        return QD_SQL_NONE; /* the tables around stand inside an EXISTS, for its values alone */
    self->with = &self->outer_with;
    self->outermost = G_MAXUINT;
    sealed = seal_outer(self, expression, outer);
    if (sealed->n_columns == 0)
        found = QD_SQL_NONE;
    else if (qd_variable_set_is_empty(&outer->replaced) && qd_variable_set_is_empty(&outer->open))
        found = write_found(self, expression, sealed);
    else
        found = write_found_by_value(self, expression, outer, sealed);
    self->outer = outer;
    if (found.text != NULL) {
        self->outermost = G_MAXUINT;
        key = write_key(self, sealed, outer);
        table = qd_generator_make_table(self, 'x');
        qd_generator_define(self, qd_sql_make(self->arena, "@ AS MATERIALIZED", table.from), found);
        found = qd_sql_make(self->arena, "(@) IN @", key, table.from);
    }
    self->with = around;
    return found;
}

static QdSql
write_exists(QdGenerator *self, const QdExpression *expression, const QdOuter *outer)
{
    QdSql text = write_exists_here(self, expression, outer);
    guint depth_max = qd_variable_set_is_empty(&outer->replaced) ? QD_DEPTH_PARSED : DEPTH_BY_VALUE;

    return text.depth > depth_max && self->error == NULL ? write_exists_apart(self, expression, outer) : text;
}

/* --- values in the place of variables, §18.6 -------------------------------------------------------------------------- */

static gboolean
has_optional(const QdAlgebra *node)
{
    if (node->kind == QD_ALGEBRA_LEFT_JOIN || node->kind == QD_ALGEBRA_MINUS)
        return TRUE;
    for (guint i = 0; i < node->n_children; i++) {
        if (has_optional(node->children[i]))
            return TRUE;
    }
    return FALSE;
}

/*
 * Adds the variables of @visible that have to have their values before an OPTIONAL or MINUS in @node is evaluated. For others it is
 * enough that the solutions are compared in the end: the left of the OPTIONAL binds them.
 */
static void
add_replaced(QdGenerator *self, const QdAlgebra *node, const QdVariableSet *visible, QdVariableSet *replaced)
{
    gboolean is_minus = node->kind == QD_ALGEBRA_MINUS;
    QdVariableSet projected = { 0 };

    if (node->kind == QD_ALGEBRA_LEFT_JOIN || is_minus) {
        QD_VARIABLE_SET_FOREACH(&node->children[1]->possible, variable)
        {
            if (qd_variable_set_has(visible, variable) && (is_minus || !qd_algebra_binds(node->children[0], variable)))
                qd_variable_set_add(replaced, self->arena, variable);
        }
    }
    for (guint i = 0; node->kind == QD_ALGEBRA_PROJECT && i < node->n_variables; i++) {
        if (qd_variable_set_has(visible, node->variables[i]))
            qd_variable_set_add(&projected, self->arena, node->variables[i]);
    }
    for (guint i = 0; i < node->n_children; i++)
        add_replaced(self, node->children[i], node->kind == QD_ALGEBRA_PROJECT ? &projected : visible, replaced);
}

static QdVariableSet
list_replaced(QdGenerator *self, const QdAlgebra *pattern, const QdOuter *outer)
{
    QdVariableSet visible = { 0 };
    QdVariableSet replaced = { 0 };

    if (!has_optional(pattern))
        return replaced;
    for (; outer != NULL; outer = outer->next) {
        for (guint i = 0; i < outer->relation->n_columns; i++)
            qd_variable_set_add(&visible, self->arena, outer->relation->columns[i].variable);
    }
    add_replaced(self, pattern, &visible, &replaced);
    return replaced;
}

gboolean
qd_exists_needs_values(QdGenerator *self, const QdAlgebra *pattern, const QdVariableSet *outside)
{
    QdVariableSet replaced = { 0 };

    if (has_optional(pattern))
        add_replaced(self, pattern, outside, &replaced);
    return !qd_variable_set_is_empty(&replaced);
}

/* The columns of @open, of @n, are bound that have their bits in @bound, and no others; and the EXISTS of that case. */
static QdSql
write_case(QdGenerator *self, const QdExpression *expression, QdOuter *outer, const QdColumn *const *open, guint n, guint bound)
{
    g_auto(QdSqlBuilder) text = qd_sql_builder_new(self->arena);
    const QdVariableSet sure = outer->replaced;
    QdSql exists;

    outer->replaced = (QdVariableSet){ 0 };
    qd_variable_set_add_all(&outer->replaced, self->arena, &sure);
    for (guint i = 0; i < n; i++) {
        gboolean is_bound = (bound >> i & 1) != 0;

        if (is_bound)
            qd_variable_set_add(&outer->replaced, self->arena, open[i]->variable);
        qd_sql_append(&text, is_bound ? qd_sql_is_bound(self->arena, open[i]->sql) : qd_sql_is_null(self->arena, open[i]->sql));
        qd_sql_append_text(&text, " AND ");
    }
    exists = write_exists(self, expression, outer);
    qd_sql_append(&text, exists);
    outer->replaced = sure;
    return exists.text != NULL ? qd_sql_finish(&text) : QD_SQL_NONE;
}

/*
 * The EXISTS with outer values in the place of variables in its pattern, where that matters. Of a variable that may be unbound
 * there are two cases: in one it has a value, in the other it stays a variable. Of many each triple tells the cases apart by
 * itself, which no index serves.
 */
static QdSql
write_cases(QdGenerator *self, const QdExpression *expression, QdOuter *outer)
{
    QdVariableSet replaced = list_replaced(self, expression->algebra, outer);
    const QdColumn *open[OPEN_MAX];
    g_auto(QdSqlBuilder) cases = qd_sql_builder_new(self->arena);
    guint n = 0;

    QD_VARIABLE_SET_FOREACH(&replaced, variable)
    {
        const QdColumn *column = qd_outer_find(self, outer, variable);

        if (column->certain) {
            qd_variable_set_add(&outer->replaced, self->arena, variable);
        } else if (n == OPEN_MAX || outer->level > 1) {
            qd_variable_set_add(&outer->open, self->arena, variable);
        } else {
            open[n++] = column;
        }
    }
    if (n == 0)
        return write_exists(self, expression, outer);
    for (guint bound = 0; bound < 1U << n; bound++) {
        QdSql found = write_case(self, expression, outer, open, n, bound);

        if (found.text == NULL)
            return found;
        qd_sql_append_after(&cases, " OR ", found);
    }
    return qd_sql_make(self->arena, "(@)", qd_sql_finish(&cases));
}

/* @relation as an EXISTS on it sees it: what is unbound there has the value that it has further outside. */
static const QdRelation *
look_through(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    QdVariableSet named = { 0 };
    QdRelation *seen = NULL;

    if (self->outer == NULL)
        return relation;
    qd_pattern_add_variables(expression->pattern, self->arena, &named);
    for (guint i = 0; i < relation->n_columns; i++) {
        const QdColumn *column = &relation->columns[i];
        const QdColumn *outside = !column->certain && qd_variable_set_has(&named, column->variable)
                                      ? qd_outer_find(self, self->outer, column->variable)
                                      : NULL;

        if (outside == NULL)
            continue;
        seen = seen != NULL ? seen : qd_relation_copy(self, relation);
        qd_column_coalesce(self, &seen->columns[i], outside);
        seen->columns[i].certain = outside->certain;
    }
    return seen != NULL ? seen : relation;
}

QdSql
qd_expression_make_exists(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    QdExpression *cached = (QdExpression *) expression;
    QdOuter outer = { .level = self->outer != NULL ? self->outer->level + 1 : 1, .next = self->outer };
    guint outermost = self->outermost;
    const QdRelation *given = self->service.given;
    QdSql text;

    if (cached->algebra == NULL)
        cached->algebra = qd_algebra_from_pattern(self->ast, expression->pattern);
    self->outermost = G_MAXUINT;
    outer.relation = look_through(self, expression, relation);
    self->outer = &outer;
    self->service.given = NULL;
    text = write_cases(self, expression, &outer);
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
