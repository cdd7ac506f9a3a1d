/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Expressions: conditions stay SQL where SQL means the same (AND, OR, NOT over 1, 0, NULL; equality with IRIs; EXISTS).
 * Everything else is one call of queryd_eval() with a program of ours.
 */
#include <string.h>

#include "daemon/plan/sqlgen-private.h"

#define ARGUMENTS_MAX 126     /* of queryd_eval after its program; SQLite takes 127 */
#define CONDITION_DEPTH_MAX 8 /* of parentheses in SQL text */

/* --- EXISTS ----------------------------------------------------------------------------------------------------------- */

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
            *qd_relation_add(self, shared, column->variable, NULL) = *column;
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
 * is correlated stands in a WITH inside the EXISTS, where it sees the outer columns. Returns that WITH, or "".
 */
static const char *
generate_inside(QdGenerator *self, const QdExpression *expression, const QdOuter *outer, QdRelation **ret_inner)
{
    QdVariableSet bound = { 0 };
    GString *around = self->with;
    g_autoptr(GString) with = g_string_new(NULL);
    gboolean correlated;

    if (is_alone(expression->algebra, outer)) {
        *ret_inner = generate_alone(self, expression->algebra);
        return "";
    }
    for (guint i = 0; i < outer->relation->n_columns; i++)
        qd_variable_set_add(&bound, self->arena, outer->relation->columns[i].variable);
    self->with = with;
    *ret_inner = qd_generator_generate(self, expression->algebra, &bound);
    self->with = around;
    correlated = self->outermost <= outer->level;
    if (correlated)
        return with->len > 0 ? qd_arena_printf(self->arena, "WITH RECURSIVE %s ", with->str) : "";
    if (with->len > 0)
        g_string_append_printf(around, "%s%s", around->len > 0 ? ",\n" : "", with->str);
    if (outer->next == NULL)
        *ret_inner = qd_relation_copy(self, qd_relation_keep_apart(self, outer->relation, *ret_inner));
    if (qd_relation_get_depth(*ret_inner) > QD_DEPTH_FLAT)
        *ret_inner = qd_relation_seal(self, *ret_inner, QD_SEAL_PLAIN);
    return "";
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
                *qd_relation_add(self, taken, column->variable, NULL) = *column;
        }
        if (joins || taken->n_columns > n_taken)
            rows = qd_relation_merge(self, rows, outer->relation);
    }
    qd_relation_take_rows(self, taken, rows);
    return qd_relation_seal_text(self, taken, qd_relation_write(self, taken, "SELECT DISTINCT", NULL), QD_SEAL_MATERIALIZED);
}

/* The columns of @sealed as a key: with a value that is no term for what is not bound. */
static const char *
write_key(QdGenerator *self, const QdRelation *sealed, const QdOuter *outer)
{
    g_autoptr(GString) key = g_string_new(NULL);

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
        g_string_append_printf(key, sealed->columns[i].certain ? "%s%s" : "%sifnull(%s,'')", i > 0 ? "," : "", column->sql);
    }
    return qd_arena_strndup(self->arena, key->str, key->len);
}

/*
 * An EXISTS whose text would nest too deep, apart from what is around it. The pattern inside is joined with all that it sees
 * from outside, and each solution around is looked for among what remains. NULL: it names outer variables in a group of its
 * own.
 */
static const char *
write_exists_apart(QdGenerator *self, const QdExpression *expression, const QdOuter *outer)
{
    const QdAlgebra *algebra = expression->algebra;
    gboolean has_filter = algebra->kind == QD_ALGEBRA_FILTER;
    GString *around = self->with;
    QdVariableSet bound = { 0 };
    QdRelation *sealed;
    QdRelation *inner;
    const char *found;
    const char *key;

    self->with = self->outer_with;
    self->outermost = G_MAXUINT;
    sealed = seal_outer(self, expression, outer);
    for (guint i = 0; i < sealed->n_columns; i++)
        qd_variable_set_add(&bound, self->arena, sealed->columns[i].variable);
    inner = qd_generator_generate(self, has_filter ? algebra->children[0] : algebra, &bound);
    if (self->outermost != G_MAXUINT || sealed->n_columns == 0) {
        self->with = around;
        return NULL;
    }
    self->outer = NULL; /* it is all in the relation now */
    if (inner->n_tables >= QD_TABLES_MAX || qd_relation_get_n_arms(inner) > QD_MERGED_ARMS_MAX)
        inner = qd_relation_seal(self, inner, QD_SEAL_MATERIALIZED);
    inner = qd_relation_merge(self, sealed, inner);
    if (has_filter)
        qd_relation_filter(self, inner, algebra->expressions, algebra->n_expressions);
    found = qd_relation_write_list(self, inner, "SELECT", write_key(self, sealed, NULL), NULL);
    self->outer = outer;
    self->with = around;
    self->outermost = G_MAXUINT;
    key = write_key(self, sealed, outer);
    g_string_append_printf(self->outer_with, ",\nx%u AS MATERIALIZED (%s)", qd_generator_make_name(self), found);
    return qd_arena_printf(self->arena, "(%s) IN x%u", key, self->n_names - 1);
}

static const char *
write_exists(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    QdExpression *cached = (QdExpression *) expression;
    QdOuter outer = { relation, self->outer != NULL ? self->outer->level + 1 : 1, self->outer };
    guint outermost = self->outermost;
    QdRelation *inner;
    const char *with;
    const char *text;

    if (cached->algebra == NULL)
        cached->algebra = qd_algebra_from_pattern(self->ast, expression->pattern);
    self->outer = &outer;
    self->outermost = G_MAXUINT;
    with = generate_inside(self, expression, &outer, &inner);
    inner = qd_relation_copy(self, inner);
    qd_expression_match_outer(self, &outer, inner, inner);
    text = qd_arena_printf(self->arena, "EXISTS(%s%s)", with, qd_relation_write_probe(self, inner));
    if (qd_sql_get_depth(text) > QD_DEPTH_PARSED && self->error == NULL)
        text = write_exists_apart(self, expression, &outer);
    self->outer = outer.next;
    self->outermost = MIN(outermost, self->outermost < outer.level ? self->outermost : G_MAXUINT);
    if (text != NULL)
        return text;
    if (self->error == NULL)
        qd_limit_set_error(&self->error, self->limits, QD_LIMIT_SQL_PARSER_DEPTH,
                           "EXISTS that names variables of the patterns around it is nested too deep");
    return "0";
}

/* --- values ----------------------------------------------------------------------------------------------------------- */

static const QdColumn *
find_variable(QdGenerator *self, const QdRelation *relation, guint variable)
{
    const QdColumn *column = qd_relation_find(relation, variable);

    for (const QdOuter *outer = self->outer; column == NULL && outer != NULL; outer = outer->next) {
        column = qd_relation_find(outer->relation, variable);
        if (column != NULL)
            self->outermost = MIN(self->outermost, outer->level);
    }
    return column;
}

static QdColumn
make_variable(QdGenerator *self, guint variable, const QdRelation *relation)
{
    const QdColumn *column = find_variable(self, relation, variable);
    const char *parameter;

    if (column != NULL)
        return *column;
    parameter = qd_generator_find_parameter(self, variable);
    if (parameter != NULL)
        return (QdColumn){ .variable = variable, .sql = parameter, .certain = TRUE, .interned = TRUE };
    return (QdColumn){ .variable = variable, .sql = "NULL", .interned = TRUE };
}

typedef struct Program {
    QdGenerator *generator;
    const QdRelation *relation;
    const QdExpression *root;
    GHashTable *cut; /* QdExpression: parts that are programs of their own, whose value is an argument here */
    GByteArray *bytes;
    GArray *holes;        /* QdProgramHole */
    GPtrArray *arguments; /* SQL */
} Program;

static void
put_argument(Program *self, const char *sql)
{
    guint index = 0;

    while (index < self->arguments->len && strcmp(self->arguments->pdata[index], sql) != 0)
        index++;
    if (index == self->arguments->len)
        g_ptr_array_add(self->arguments, (gpointer) sql);
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
static const char *write_program(QdGenerator *self, const QdExpression *expression, const QdRelation *relation, GHashTable *cut);

static void
put_call(Program *self, const QdExpression *expression)
{
    QdGenerator *generator = self->generator;
    const char *base = generator->ast->base;
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

        put_argument(self, qd_arena_printf(generator->arena, "queryd_integer(%s)", serial != NULL ? serial->sql : "0"));
    }
}

/* A long IN is IN of a part or IN of the rest; the value is computed once. */
static void
put_membership(Program *self, const QdExpression *expression)
{
    guint n_list = expression->n_children - 1;
    guint n_parts = MAX(1, (n_list + QD_EXPRESSION_CHILDREN_MAX - 2) / (QD_EXPRESSION_CHILDREN_MAX - 1));
    gboolean is_fickle = n_parts > 1 && qd_expression_is_volatile(expression->children[0]);
    const char *value = is_fickle ? write_program(self->generator, expression->children[0], self->relation, self->cut) : NULL;
    guint done = 0;

    for (guint part = 0; part < n_parts; part++) {
        guint n = MIN(QD_EXPRESSION_CHILDREN_MAX - 1, n_list - done);

        if (part + 1 < n_parts)
            qd_expression_put_node(self->bytes, expression->op == QD_EXPRESSION_IN ? QD_EXPRESSION_OR : QD_EXPRESSION_AND, 2);
        qd_expression_put_node(self->bytes, expression->op, n + 1);
        if (value != NULL)
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
    const char *exists;

    switch (expression->kind) {
    case QD_EXPRESSION_KIND_TERM:
        put_term(self, expression->term);
        return;
    case QD_EXPRESSION_KIND_VARIABLE:
        put_argument(self, make_variable(generator, expression->variable, self->relation).sql);
        return;
    case QD_EXPRESSION_KIND_CALL:
        if (expression != self->root && g_hash_table_contains(self->cut, expression))
            put_argument(self, write_program(generator, expression, self->relation, self->cut));
        else if (expression->op == QD_EXPRESSION_IN || expression->op == QD_EXPRESSION_NOT_IN)
            put_membership(self, expression);
        else
            put_call(self, expression);
        return;
    case QD_EXPRESSION_KIND_EXISTS:
        exists = write_exists(generator, expression, self->relation);
        put_argument(self, qd_arena_printf(generator->arena, "queryd_boolean(%s%s)", expression->negated ? "NOT " : "", exists));
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

static const char *
write_program(QdGenerator *self, const QdExpression *expression, const QdRelation *relation, GHashTable *cut)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GArray) holes = g_array_new(FALSE, FALSE, sizeof(QdProgramHole));
    g_autoptr(GPtrArray) arguments = g_ptr_array_new();
    g_autoptr(GString) call = g_string_new(NULL);
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
    g_string_append_printf(call, "queryd_eval%s(%s", qd_expression_is_volatile(expression) ? "_volatile" : "",
                           qd_generator_put_program(self, &constant));
    for (guint i = 0; i < arguments->len; i++)
        g_string_append_printf(call, ",%s", (const char *) arguments->pdata[i]);
    g_string_append_c(call, ')');
    return qd_arena_strndup(self->arena, call->str, call->len);
}

static const char *
write_eval(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    g_autoptr(GHashTable) cut = g_hash_table_new(NULL, NULL);

    (void) cut_expression(expression, cut);
    return write_program(self, expression, relation, cut);
}

QdColumn
qd_expression_make_value(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    if (expression->kind == QD_EXPRESSION_KIND_VARIABLE)
        return make_variable(self, expression->variable, relation);
    if (expression->kind == QD_EXPRESSION_KIND_TERM)
        return (QdColumn){ .sql = qd_generator_put_term(self, expression->term), .certain = TRUE, .interned = TRUE };
    if (expression->kind == QD_EXPRESSION_KIND_UNKNOWN)
        return (QdColumn){ .sql = "NULL", .interned = TRUE };
    return (QdColumn){ .sql = write_eval(self, expression, relation) };
}

/* --- conditions ------------------------------------------------------------------------------------------------------- */

static const char *make_condition(QdGenerator *self, const QdExpression *expression, const QdRelation *relation, guint depth);

static gboolean
is_iri(const QdExpression *expression)
{
    return expression->kind == QD_EXPRESSION_KIND_TERM && expression->term->kind == QD_TERM_IRI;
}

/* An IRI equals nothing but itself, so its id does. */
static const char *
make_comparison(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    static const char *const names[] = {
        [QD_EXPRESSION_EQ] = "eq", [QD_EXPRESSION_NE] = "ne", [QD_EXPRESSION_LT] = "lt",
        [QD_EXPRESSION_LE] = "le", [QD_EXPRESSION_GT] = "gt", [QD_EXPRESSION_GE] = "ge",
    };
    QdColumn a = qd_expression_make_value(self, expression->children[0], relation);
    QdColumn b = qd_expression_make_value(self, expression->children[1], relation);
    gboolean by_id = (expression->op == QD_EXPRESSION_EQ || expression->op == QD_EXPRESSION_NE) && a.interned && b.interned &&
                     (is_iri(expression->children[0]) || is_iri(expression->children[1]));

    if (by_id)
        return qd_arena_printf(self->arena, "%s%s%s", a.sql, expression->op == QD_EXPRESSION_EQ ? "=" : "<>", b.sql);
    return qd_arena_printf(self->arena, "queryd_%s(%s,%s)", names[expression->op], a.sql, b.sql);
}

/* NULL: not all of the list are IRIs, or the value may be a blob. */
static const char *
make_membership(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    QdColumn value = qd_expression_make_value(self, expression->children[0], relation);
    g_autoptr(GString) list = g_string_new(NULL);

    if (!value.interned || expression->n_children == 1)
        return NULL;
    for (guint i = 1; i < expression->n_children; i++) {
        if (!is_iri(expression->children[i]))
            return NULL;
        g_string_append_printf(list, "%s%s", i > 1 ? "," : "", qd_generator_put_term(self, expression->children[i]->term));
    }
    return qd_arena_printf(self->arena, "%s %s (%s)", value.sql, expression->op == QD_EXPRESSION_IN ? "IN" : "NOT IN", list->str);
}

static const char *
make_same_term(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    QdColumn a = qd_expression_make_value(self, expression->children[0], relation);
    QdColumn b = qd_expression_make_value(self, expression->children[1], relation);

    return qd_arena_printf(self->arena, "%s=%s", qd_column_intern(self, &a), qd_column_intern(self, &b));
}

static const char *
make_call(QdGenerator *self, const QdExpression *expression, const QdRelation *relation, guint depth)
{
    const char *condition = NULL;

    switch (expression->op) {
    case QD_EXPRESSION_AND:
    case QD_EXPRESSION_OR:
        if (depth >= CONDITION_DEPTH_MAX)
            return NULL;
        return qd_arena_printf(self->arena, "(%s %s %s)", make_condition(self, expression->children[0], relation, depth + 1),
                               expression->op == QD_EXPRESSION_AND ? "AND" : "OR",
                               make_condition(self, expression->children[1], relation, depth + 1));
    case QD_EXPRESSION_NOT:
        if (depth >= CONDITION_DEPTH_MAX)
            return NULL;
        return qd_arena_printf(self->arena, "(NOT %s)", make_condition(self, expression->children[0], relation, depth + 1));
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
        condition = qd_arena_printf(self->arena, "%s IS NOT NULL",
                                    qd_expression_make_value(self, expression->children[0], relation).sql);
        break;
    default: /* the evaluator knows the others */
        break;
    }
    return condition != NULL ? qd_arena_printf(self->arena, "(%s)", condition) : NULL;
}

static const char *
make_condition(QdGenerator *self, const QdExpression *expression, const QdRelation *relation, guint depth)
{
    const char *condition = NULL;

    if (expression->kind == QD_EXPRESSION_KIND_EXISTS)
        return qd_arena_printf(self->arena, "(%s%s)", expression->negated ? "NOT " : "", write_exists(self, expression, relation));
    if (expression->kind == QD_EXPRESSION_KIND_CALL)
        condition = make_call(self, expression, relation, depth);
    if (condition == NULL)
        condition = qd_arena_printf(self->arena, "queryd_ebv(%s)", qd_expression_make_value(self, expression, relation).sql);
    return condition;
}

const char *
qd_expression_make_condition(QdGenerator *self, const QdExpression *expression, const QdRelation *relation)
{
    return make_condition(self, expression, relation, 0);
}

/* a && b holds when both do, even with errors: SQLite may test each where it first can. */
static void
filter(QdGenerator *self, QdRelation *relation, const QdRelation *seen, const QdExpression *expression)
{
    if (expression->kind == QD_EXPRESSION_KIND_CALL && expression->op == QD_EXPRESSION_AND) {
        filter(self, relation, seen, expression->children[0]);
        filter(self, relation, seen, expression->children[1]);
    } else {
        qd_relation_add_where(self, relation, qd_expression_make_condition(self, expression, seen));
    }
}

void
qd_relation_filter(QdGenerator *self, QdRelation *relation, QdExpression *const *expressions, guint n_expressions)
{
    const QdRelation *seen = qd_relation_copy(self, relation); /* EXISTS remembers it while the other changes */

    for (guint i = 0; i < n_expressions; i++)
        filter(self, relation, seen, expressions[i]);
}

/* --- volatile functions ----------------------------------------------------------------------------------------------- */

static gboolean pattern_is_volatile(const QdPattern *pattern);

static gboolean
bindings_are_volatile(const QdBinding *bindings, guint n_bindings)
{
    for (guint i = 0; i < n_bindings; i++) {
        if (bindings[i].expression != NULL && qd_expression_is_volatile(bindings[i].expression))
            return TRUE;
    }
    return FALSE;
}

static gboolean
select_is_volatile(const QdSelect *select)
{
    if (bindings_are_volatile(select->items, select->n_items) || bindings_are_volatile(select->groups, select->n_groups))
        return TRUE;
    for (guint i = 0; i < select->n_having; i++) {
        if (qd_expression_is_volatile(select->having[i]))
            return TRUE;
    }
    for (guint i = 0; i < select->n_orders; i++) {
        if (qd_expression_is_volatile(select->orders[i].expression))
            return TRUE;
    }
    return pattern_is_volatile(select->where);
}

static gboolean
pattern_is_volatile(const QdPattern *pattern)
{
    if ((pattern->expression != NULL && qd_expression_is_volatile(pattern->expression)) ||
        (pattern->select != NULL && select_is_volatile(pattern->select)))
        return TRUE;
    for (guint i = 0; i < pattern->n_children; i++) {
        if (pattern_is_volatile(pattern->children[i]))
            return TRUE;
    }
    return FALSE;
}

gboolean
qd_expression_is_volatile(const QdExpression *expression)
{
    if (expression->kind == QD_EXPRESSION_KIND_CALL && qd_expression_op_get_info(expression->op)->volatile_)
        return TRUE;
    if (expression->kind == QD_EXPRESSION_KIND_EXISTS)
        return pattern_is_volatile(expression->pattern);
    for (guint i = 0; i < expression->n_children; i++) {
        if (qd_expression_is_volatile(expression->children[i]))
            return TRUE;
    }
    return FALSE;
}

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
    serial = qd_relation_add(self, relation, qd_ast_add_variable(self->ast, NULL), "row_number() OVER ()");
    serial->certain = serial->interned = serial->serial = TRUE;
    return qd_relation_seal(self, relation, QD_SEAL_MATERIALIZED);
}
