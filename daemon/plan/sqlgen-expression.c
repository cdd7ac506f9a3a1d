/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Expressions: conditions stay SQL where SQL means the same (AND, OR, NOT over 1, 0, NULL; equality with IRIs; EXISTS).
 * Everything else is one call of queryd_eval() with a program of ours.
 */
#include <string.h>

#include "daemon/plan/sqlgen-private.h"
#include "daemon/rdf/term-id.h"

#define ARGUMENTS_MAX 126     /* of queryd_eval after its program; SQLite takes 127 */
#define CONDITION_DEPTH_MAX 8 /* of parentheses in SQL text */

#define CALL_EVAL "queryd_eval(@)"
#define CALL_NUMBER "queryd_number(@)"
#define CALL_TEST "queryd_test(@)"

/* --- values ----------------------------------------------------------------------------------------------------------- */

const QdColumn *
qd_expression_find_variable(QdGenerator *self, const QdRelation *relation, guint variable)
{
    const QdColumn *column = qd_relation_find(relation, variable);
    const QdColumn *outside = column == NULL || !column->certain ? qd_outer_find(self, self->outer, variable) : NULL;
    QdColumn *bound;

    if (column == NULL || outside == NULL)
        return column != NULL ? column : outside;
    bound = qd_arena_new0(self->arena, QdColumn); /* what is unbound inside has its value from outside */
    *bound = *column;
    qd_column_coalesce(self, bound, outside);
    bound->certain = outside->certain;
    return bound;
}

static QdColumn
make_variable(QdGenerator *self, guint variable, const QdRelation *relation)
{
    const QdColumn *column = qd_expression_find_variable(self, relation, variable);
    QdSql parameter;

    if (column != NULL)
        return *column;
    parameter = qd_generator_find_parameter(self, variable);
    if (parameter.text != NULL)
        return (QdColumn){ .variable = variable, .sql = parameter, .certain = TRUE, .interned = TRUE };
    return (QdColumn){ .variable = variable, .sql = qd_sql_text("NULL"), .interned = TRUE };
}

typedef struct Program {
    QdGenerator *generator;
    const QdRelation *relation;
    const QdExpression *root;
    GHashTable *cut; /* QdExpression: parts that are programs of their own, whose value is an argument here */
    GByteArray *bytes;
    GArray *holes;     /* QdProgramHole */
    GArray *arguments; /* QdSql */
} Program;

static void
put_argument(Program *self, QdSql sql)
{
    guint index = 0;

    while (index < self->arguments->len && !qd_sql_equal(&g_array_index(self->arguments, QdSql, index), &sql))
        index++;
    if (index == self->arguments->len)
        g_array_append_val(self->arguments, sql);
    qd_expression_put_arg(self->bytes, index);
}

static void
put_term(Program *self, const QdTerm *term)
{
    const QdProgramHole hole = { self->bytes->len, term };

    if (qd_ast_find_hole(self->generator->ast, term) != NULL)
        g_array_append_val(self->holes, hole);
    else
        qd_expression_put_term(self->bytes, term);
}

static void put_expression(Program *self, const QdExpression *expression);
static QdSql write_program(QdGenerator *self, const char *call, const QdExpression *expression, const QdRelation *relation,
                           GHashTable *cut);

static void
put_call(Program *self, const QdExpression *expression)
{
    QdGenerator *generator = self->generator;
    const char *base = qd_ast_get_base(generator->ast);
    gboolean with_base = expression->op == QD_EXPRESSION_IRI && base != NULL;
    gboolean with_serial = expression->op == QD_EXPRESSION_BNODE && expression->n_children == 1;

    qd_expression_put_node(self->bytes, expression->op, expression->n_children + (with_base || with_serial ? 1 : 0));
    for (guint i = 0; i < expression->n_children; i++)
        put_expression(self, expression->children[i]);
    if (with_base) {
        QdTerm term = { .kind = QD_TERM_IRI, .lexical = base, .n_lexical = strlen(base) };

        qd_expression_put_const(self->bytes, &term);
    }
    if (with_serial) {
        const QdColumn *serial = qd_relation_find_serial(self->relation);

        put_argument(self, qd_sql_make(generator->arena, "queryd_integer(@)", serial != NULL ? serial->sql : qd_sql_text("0")));
    }
}

/* A long IN is IN of a part or IN of the rest; the value is computed once. */
static void
put_membership(Program *self, const QdExpression *expression)
{
    guint n_list = expression->n_children - 1;
    guint n_parts = MAX(1, (n_list + QD_EXPRESSION_CHILDREN_MAX - 2) / (QD_EXPRESSION_CHILDREN_MAX - 1));
    gboolean is_fickle = n_parts > 1 && qd_expression_is_volatile(expression->children[0]);
    QdSql value = is_fickle ? write_program(self->generator, CALL_EVAL, expression->children[0], self->relation, self->cut)
                            : QD_SQL_NONE;
    guint done = 0;

    for (guint part = 0; part < n_parts; part++) {
        guint n = MIN(QD_EXPRESSION_CHILDREN_MAX - 1, n_list - done);

        if (part + 1 < n_parts)
            qd_expression_put_node(self->bytes, expression->op == QD_EXPRESSION_IN ? QD_EXPRESSION_OR : QD_EXPRESSION_AND, 2);
        qd_expression_put_node(self->bytes, expression->op, n + 1);
        if (value.text != NULL)
            put_argument(self, value);
        else
            put_expression(self, expression->children[0]);
        for (guint i = 0; i < n; i++)
            put_expression(self, expression->children[1 + done + i]);
        done += n;
    }
}

static void
put_expression(Program *self, const QdExpression *expression)
{
    QdGenerator *generator = self->generator;
    QdSql exists;

    switch (expression->kind) {
    case QD_EXPRESSION_KIND_TERM:
        put_term(self, expression->term);
        return;
    case QD_EXPRESSION_KIND_VARIABLE:
        put_argument(self, make_variable(generator, expression->variable, self->relation).sql);
        return;
    case QD_EXPRESSION_KIND_CALL:
        if (expression != self->root && g_hash_table_contains(self->cut, expression))
            put_argument(self, write_program(generator, CALL_EVAL, expression, self->relation, self->cut));
        else if (expression->op == QD_EXPRESSION_IN || expression->op == QD_EXPRESSION_NOT_IN)
            put_membership(self, expression);
        else
            put_call(self, expression);
        return;
    case QD_EXPRESSION_KIND_EXISTS:
        exists = qd_expression_make_exists(generator, expression, self->relation);
        put_argument(self,
                     qd_sql_make(generator->arena, expression->negated ? "queryd_boolean(NOT @)" : "queryd_boolean(@)", exists));
        return;
    case QD_EXPRESSION_KIND_AGGREGATE: /* became a variable in the algebra */
    case QD_EXPRESSION_KIND_UNKNOWN:
        qd_expression_put_node(self->bytes, QD_EXPRESSION_UNBOUND, 0);
        return;
    }
}

/*
 * Adds parts of @expression to @cut until what is left names few enough variables for one call: the largest parts first. Returns
 * how many are left, the same counted as often as it is named.
 */
static guint
cut_expression(const QdExpression *expression, GHashTable *cut)
{
    g_autofree guint *weights = g_new0(guint, MAX(1, expression->n_children));
    guint n = expression->kind == QD_EXPRESSION_KIND_VARIABLE || expression->kind == QD_EXPRESSION_KIND_EXISTS ? 1 : 0;

    for (guint i = 0; i < expression->n_children; i++)
        n += weights[i] = cut_expression(expression->children[i], cut);
    while (n >= ARGUMENTS_MAX) {
        guint largest = 0;

        for (guint i = 1; i < expression->n_children; i++)
            largest = weights[i] > weights[largest] ? i : largest;
        if (weights[largest] <= 1)
            break;
        g_hash_table_add(cut, expression->children[largest]);
        n -= weights[largest] - 1;
        weights[largest] = 1;
    }
    return n;
}

/* @call: what is done with the program of an expression that is not volatile */
static QdSql
write_program(QdGenerator *self, const char *call, const QdExpression *expression, const QdRelation *relation, GHashTable *cut)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GArray) holes = g_array_new(FALSE, FALSE, sizeof(QdProgramHole));
    g_autoptr(GArray) arguments = g_array_new(FALSE, FALSE, sizeof(QdSql));
    g_auto(QdSqlBuilder) list = qd_sql_builder_new(self->arena);
    Program program = { self, relation, expression, cut, bytes, holes, arguments };
    QdSqlConstant constant = { 0 };

    put_expression(&program, expression);
    constant.program = bytes->data != NULL ? bytes->data : (const guint8 *) "";
    constant.n_program = bytes->len;
    constant.holes = (const QdProgramHole *) (gpointer) holes->data;
    constant.n_holes = holes->len;
    if (arguments->len > ARGUMENTS_MAX)
        qd_generator_fail(self, QW_ERROR_TOO_COMPLEX, "a function with more than %d different variables as arguments",
                          ARGUMENTS_MAX);
    qd_sql_append(&list, qd_generator_put_program(self, &constant));
    for (guint i = 0; i < arguments->len; i++)
        qd_sql_append_after(&list, ",", g_array_index(arguments, QdSql, i));
    return qd_sql_make(self->arena, qd_expression_is_volatile(expression) ? "queryd_eval_volatile(@)" : call, qd_sql_finish(&list));
}

static QdSql
write_call(QdGenerator *self, const char *call, const QdExpression *expression, const QdRelation *relation)
{
    g_autoptr(GHashTable) cut = g_hash_table_new(NULL, NULL);

    (void) cut_expression(expression, cut);
    return write_program(self, call, expression, relation, cut);
}

QdColumn
qd_expression_make_value(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    if (expression->kind == QD_EXPRESSION_KIND_VARIABLE)
        return make_variable(self, expression->variable, relation);
    if (expression->kind == QD_EXPRESSION_KIND_TERM)
        return (QdColumn){ .sql = qd_generator_put_term(self, expression->term), .certain = TRUE, .interned = TRUE };
    if (expression->kind == QD_EXPRESSION_KIND_UNKNOWN)
        return (QdColumn){ .sql = qd_sql_text("NULL"), .interned = TRUE };
    return (QdColumn){ .sql = write_call(self, CALL_EVAL, expression, relation) };
}

QdSql
qd_expression_make_summand(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    if (expression->kind != QD_EXPRESSION_KIND_CALL)
        return qd_expression_make_value(self, expression, relation).sql;
    return write_call(self, CALL_NUMBER, expression, relation);
}

/* --- conditions ------------------------------------------------------------------------------------------------------- */

static QdSql make_condition(QdGenerator *self, const QdExpression *expression, const QdRelation *relation, guint depth);

static gboolean
is_iri(const QdExpression *expression)
{
    return expression->kind == QD_EXPRESSION_KIND_TERM && expression->term->kind == QD_TERM_IRI;
}

/* Whether a comparison is better computed with its sides. A side without variables is one value, which SQLite computes once. */
static gboolean
is_of_computed(QdGenerator *self, const QdExpression *comparison)
{
    gboolean found = FALSE;

    for (guint i = 0; i < comparison->n_children; i++) {
        QdVariableSet named = { 0 };

        if (comparison->children[i]->kind != QD_EXPRESSION_KIND_CALL)
            continue;
        qd_expression_add_all_variables(comparison->children[i], self->arena, &named);
        if (qd_variable_set_is_empty(&named))
            return FALSE;
        found = TRUE;
    }
    return found && !qd_expression_is_volatile(comparison);
}

/* An IRI equals nothing but itself, so its id does. What is computed is compared where it is computed: no term is made of it. */
static QdSql
make_comparison(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    static const char *const calls[] = {
        [QD_EXPRESSION_EQ] = "queryd_eq(@,@)", [QD_EXPRESSION_NE] = "queryd_ne(@,@)", [QD_EXPRESSION_LT] = "queryd_lt(@,@)",
        [QD_EXPRESSION_LE] = "queryd_le(@,@)", [QD_EXPRESSION_GT] = "queryd_gt(@,@)", [QD_EXPRESSION_GE] = "queryd_ge(@,@)",
    };
    QdColumn a, b;
    gboolean by_id;

    if (is_of_computed(self, expression))
        return write_call(self, CALL_TEST, expression, relation);
    a = qd_expression_make_value(self, expression->children[0], relation);
    b = qd_expression_make_value(self, expression->children[1], relation);
    by_id = (expression->op == QD_EXPRESSION_EQ || expression->op == QD_EXPRESSION_NE) && a.interned && b.interned &&
            (is_iri(expression->children[0]) || is_iri(expression->children[1]));
    if (by_id)
        return expression->op == QD_EXPRESSION_EQ ? qd_sql_equate(self->arena, a.sql, "=", b.sql)
                                                  : qd_sql_make(self->arena, "@<>@", a.sql, b.sql);
    return qd_sql_make(self->arena, calls[expression->op], a.sql, b.sql);
}

/* None: not all of the list are IRIs, or the value may be a blob. */
static QdSql
make_membership(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    QdColumn value = qd_expression_make_value(self, expression->children[0], relation);
    guint n = expression->n_children - 1;
    QdSql *list = qd_arena_array0(self->arena, QdSql, n);

    if (!value.interned || n == 0)
        return QD_SQL_NONE;
    for (guint i = 0; i < n; i++) {
        if (!is_iri(expression->children[i + 1]))
            return QD_SQL_NONE;
        list[i] = qd_generator_put_term(self, expression->children[i + 1]->term);
    }
    return expression->op == QD_EXPRESSION_IN
               ? qd_sql_is_among(self->arena, value.sql, list, n)
               : qd_sql_make(self->arena, "@ NOT IN (@)", value.sql, qd_sql_list(self->arena, list, n));
}

static QdSql
make_same_term(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    QdColumn a = qd_expression_make_value(self, expression->children[0], relation);
    QdColumn b = qd_expression_make_value(self, expression->children[1], relation);

    return qd_sql_equate(self->arena, qd_column_intern(self, &a), "=", qd_column_intern(self, &b));
}

/* Of what is stored the id tells its class. None: it may be a blob. */
static QdSql
make_class(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    QdSql value = qd_expression_make_value(self, expression->children[0], relation).sql;
    QdSql least = qd_sql_text(qd_arena_printf(self->arena, "%" G_GINT64_FORMAT, qd_term_id_get_tag_min(QD_TAG_BOOLEAN)));

    if (!qd_sql_is_node(&value))
        return QD_SQL_NONE;
    if (expression->op == QD_EXPRESSION_IS_BLANK)
        return qd_sql_make(self->arena, "@<@", value, least);
    if (expression->op == QD_EXPRESSION_IS_IRI)
        return qd_sql_make(self->arena, "@>0 AND @&3=0", value, value);
    return qd_sql_make(self->arena, "@>=@ AND (@<0 OR @&3<>0)", value, least, value, value);
}

static QdSql
make_call(QdGenerator *self, const QdExpression *expression, const QdRelation *relation, guint depth)
{
    QdSql condition = QD_SQL_NONE;
    QdSql other;

    switch (expression->op) {
    case QD_EXPRESSION_AND:
    case QD_EXPRESSION_OR:
        if (depth >= CONDITION_DEPTH_MAX)
            return QD_SQL_NONE;
        other = make_condition(self, expression->children[1], relation, depth + 1);
        condition = make_condition(self, expression->children[0], relation, depth + 1);
        return qd_sql_make(self->arena, expression->op == QD_EXPRESSION_AND ? "(@ AND @)" : "(@ OR @)", condition, other);
    case QD_EXPRESSION_NOT:
        if (depth >= CONDITION_DEPTH_MAX)
            return QD_SQL_NONE;
        return qd_sql_make(self->arena, "(NOT @)", make_condition(self, expression->children[0], relation, depth + 1));
    case QD_EXPRESSION_EQ:
    case QD_EXPRESSION_NE:
    case QD_EXPRESSION_LT:
    case QD_EXPRESSION_LE:
    case QD_EXPRESSION_GT:
    case QD_EXPRESSION_GE:
        condition = make_comparison(self, expression, relation);
        break;
    case QD_EXPRESSION_IN:
    case QD_EXPRESSION_NOT_IN:
        condition = make_membership(self, expression, relation);
        break;
    case QD_EXPRESSION_SAME_TERM:
        condition = make_same_term(self, expression, relation);
        break;
    case QD_EXPRESSION_BOUND:
        condition = qd_sql_is_bound(self->arena, qd_expression_make_value(self, expression->children[0], relation).sql);
        break;
    case QD_EXPRESSION_IS_BLANK:
    case QD_EXPRESSION_IS_IRI:
    case QD_EXPRESSION_IS_LITERAL:
        condition = make_class(self, expression, relation);
        break;
    default: /* the evaluator knows the others */
        break;
    }
    return condition.text != NULL ? qd_sql_make(self->arena, "(@)", condition) : QD_SQL_NONE;
}

static QdSql
make_condition(QdGenerator *self, const QdExpression *expression, const QdRelation *relation, guint depth)
{
    QdSql condition = QD_SQL_NONE;

    if (expression->kind == QD_EXPRESSION_KIND_EXISTS)
        return qd_sql_make(self->arena, expression->negated ? "(NOT @)" : "(@)",
                           qd_expression_make_exists(self, expression, relation));
    if (expression->kind == QD_EXPRESSION_KIND_CALL)
        condition = make_call(self, expression, relation, depth);
    if (condition.text == NULL)
        condition = qd_sql_make(self->arena, "queryd_ebv(@)", qd_expression_make_value(self, expression, relation).sql);
    return condition;
}

/*
 * What ?a = ?b says of the node that comes later in the join, for an index to look it up. A node and a string are equal to
 * themselves alone, so the least and the greatest id are their own. Any number or time may be equal to others.
 */
static QdSql
make_range(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    QdSql a, b, own;
    int table_a, table_b;

    if (expression->op != QD_EXPRESSION_EQ || expression->children[0]->kind != QD_EXPRESSION_KIND_VARIABLE ||
        expression->children[1]->kind != QD_EXPRESSION_KIND_VARIABLE)
        return QD_SQL_NONE;
    a = qd_expression_make_value(self, expression->children[0], relation).sql;
    b = qd_expression_make_value(self, expression->children[1], relation).sql;
    table_a = qd_relation_find_last_table(relation, &a);
    table_b = qd_relation_find_last_table(relation, &b);
    if (!qd_sql_is_node(&a) || !qd_sql_is_node(&b) || table_a < 0 || table_b < 0 || table_a == table_b)
        return QD_SQL_NONE;
    if (table_a > table_b) {
        QdSql later = a;

        a = b;
        b = later;
    }
    own = qd_sql_make(self->arena, "(@>0 AND @&3<>3 OR @<@)", a, a, a,
                      qd_sql_text(qd_arena_printf(self->arena, "%" G_GINT64_FORMAT, qd_term_id_get_tag_min(QD_TAG_BOOLEAN))));
    return qd_sql_make(self->arena, "@ BETWEEN iif(@,@,-9223372036854775807) AND iif(@,@,9223372036854775807)", b, own, a, own, a);
}

static void
split(QdExpression *expression, GPtrArray *conditions)
{
    if (expression->kind == QD_EXPRESSION_KIND_CALL && expression->op == QD_EXPRESSION_AND) {
        split(expression->children[0], conditions);
        split(expression->children[1], conditions);
    } else {
        g_ptr_array_add(conditions, expression);
    }
}

GPtrArray *
qd_expressions_split(QdExpression *const *expressions, guint n_expressions)
{
    GPtrArray *conditions = g_ptr_array_new();

    for (guint i = 0; i < n_expressions; i++)
        split(expressions[i], conditions);
    return conditions;
}

/* SQLite may test each condition where it first can. */
void
qd_relation_filter(QdGenerator *self, QdRelation *relation, QdExpression *const *expressions, guint n_expressions)
{
    const QdRelation *seen = qd_relation_copy(self, relation); /* EXISTS remembers it while the other changes */
    g_autoptr(GPtrArray) conditions = qd_expressions_split(expressions, n_expressions);

    for (guint i = 0; i < conditions->len; i++) {
        const QdExpression *condition = conditions->pdata[i];

        if (condition->kind == QD_EXPRESSION_KIND_CALL)
            qd_relation_add_where(self, relation, make_range(self, condition, seen));
        qd_relation_add_where(self, relation, make_condition(self, condition, seen, 0));
    }
}

/* --- serial numbers --------------------------------------------------------------------------------------------------- */

gboolean
qd_expression_needs_serial(const QdExpression *expression)
{
    if (expression->kind == QD_EXPRESSION_KIND_CALL && expression->op == QD_EXPRESSION_BNODE && expression->n_children == 1)
        return TRUE;
    for (guint i = 0; i < expression->n_children; i++) {
        if (qd_expression_needs_serial(expression->children[i]))
            return TRUE;
    }
    return FALSE;
}

QdColumn *
qd_relation_find_serial(const QdRelation *relation)
{
    for (guint i = 0; i < relation->n_columns; i++) {
        if (relation->columns[i].serial)
            return &relation->columns[i];
    }
    return NULL;
}

QdRelation *
qd_relation_add_serial(QdGenerator *self, QdRelation *relation)
{
    QdColumn *serial;

    if (qd_relation_find_serial(relation) != NULL)
        return relation;
    relation = qd_relation_copy(self, relation);
    serial = qd_relation_add(self, relation, qd_ast_add_variable(self->ast, NULL),
                             qd_sql_fill(self->arena, "row_number() OVER ()", NULL, 0));
    serial->certain = serial->interned = serial->serial = TRUE;
    return qd_relation_seal(self, relation, QD_SEAL_MATERIALIZED);
}
