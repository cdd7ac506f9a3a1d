/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Running a program: what is lazy (SPARQL 1.1 §17.2, §17.4.1) here, all else by a table of functions.
 *
 * An error is a value; where the query has ended (ev->error) everything is an error, and soon done.
 */
#include "daemon/functions/calls.h"
#include "daemon/functions/operators.h"
#include "daemon/functions/program.h"

/* Arguments that live on the stack. */
#define FEW 4

typedef struct Run {
    const QdProgramNode *nodes;
    QdEvaluation *ev;
    sqlite3_value **sql_args;
    QdValue *args; /* as far as they have been asked for */
    gboolean *loaded;
} Run;

static QdValue run_node(Run *run, guint index);

static const QdCall calls[QD_N_EXPRESSION_OPS] = {
    [QD_EXPRESSION_IS_IRI] = qd_call_is_kind,
    [QD_EXPRESSION_IS_BLANK] = qd_call_is_kind,
    [QD_EXPRESSION_IS_LITERAL] = qd_call_is_kind,
    [QD_EXPRESSION_IS_NUMERIC] = qd_call_is_kind,
    [QD_EXPRESSION_STR] = qd_call_str,
    [QD_EXPRESSION_LANG] = qd_call_lang,
    [QD_EXPRESSION_DATATYPE] = qd_call_datatype,
    [QD_EXPRESSION_IRI] = qd_call_iri,
    [QD_EXPRESSION_BNODE] = qd_call_bnode,
    [QD_EXPRESSION_STRDT] = qd_call_strdt,
    [QD_EXPRESSION_STRLANG] = qd_call_strlang,
    [QD_EXPRESSION_UUID] = qd_call_uuid,
    [QD_EXPRESSION_STRUUID] = qd_call_uuid,
    [QD_EXPRESSION_STRLEN] = qd_call_strlen,
    [QD_EXPRESSION_SUBSTR] = qd_call_substr,
    [QD_EXPRESSION_UCASE] = qd_call_change_case,
    [QD_EXPRESSION_LCASE] = qd_call_change_case,
    [QD_EXPRESSION_STRSTARTS] = qd_call_find,
    [QD_EXPRESSION_STRENDS] = qd_call_find,
    [QD_EXPRESSION_CONTAINS] = qd_call_find,
    [QD_EXPRESSION_STRBEFORE] = qd_call_cut,
    [QD_EXPRESSION_STRAFTER] = qd_call_cut,
    [QD_EXPRESSION_ENCODE_FOR_URI] = qd_call_encode_for_uri,
    [QD_EXPRESSION_CONCAT] = qd_call_concat,
    [QD_EXPRESSION_LANG_MATCHES] = qd_call_lang_matches,
    [QD_EXPRESSION_REGEX] = qd_call_regex,
    [QD_EXPRESSION_REPLACE] = qd_call_replace,
    [QD_EXPRESSION_ABS] = qd_call_round,
    [QD_EXPRESSION_ROUND] = qd_call_round,
    [QD_EXPRESSION_CEIL] = qd_call_round,
    [QD_EXPRESSION_FLOOR] = qd_call_round,
    [QD_EXPRESSION_RAND] = qd_call_rand,
    [QD_EXPRESSION_NOW] = qd_call_now,
    [QD_EXPRESSION_YEAR] = qd_call_date_time_part,
    [QD_EXPRESSION_MONTH] = qd_call_date_time_part,
    [QD_EXPRESSION_DAY] = qd_call_date_time_part,
    [QD_EXPRESSION_HOURS] = qd_call_date_time_part,
    [QD_EXPRESSION_MINUTES] = qd_call_date_time_part,
    [QD_EXPRESSION_SECONDS] = qd_call_date_time_part,
    [QD_EXPRESSION_TIMEZONE] = qd_call_timezone,
    [QD_EXPRESSION_TZ] = qd_call_tz,
    [QD_EXPRESSION_MD5] = qd_call_hash,
    [QD_EXPRESSION_SHA1] = qd_call_hash,
    [QD_EXPRESSION_SHA256] = qd_call_hash,
    [QD_EXPRESSION_SHA384] = qd_call_hash,
    [QD_EXPRESSION_SHA512] = qd_call_hash,
    [QD_EXPRESSION_CAST_BOOLEAN] = qd_call_cast,
    [QD_EXPRESSION_CAST_INTEGER] = qd_call_cast,
    [QD_EXPRESSION_CAST_DECIMAL] = qd_call_cast,
    [QD_EXPRESSION_CAST_FLOAT] = qd_call_cast,
    [QD_EXPRESSION_CAST_DOUBLE] = qd_call_cast,
    [QD_EXPRESSION_CAST_STRING] = qd_call_cast,
    [QD_EXPRESSION_CAST_DATE_TIME] = qd_call_cast,
    [QD_EXPRESSION_CAST_DATE] = qd_call_cast,
    [QD_EXPRESSION_CAST_TIME] = qd_call_cast,
    [QD_EXPRESSION_CAST_DURATION] = qd_call_cast,
    [QD_EXPRESSION_CAST_DAY_TIME_DURATION] = qd_call_cast,
    [QD_EXPRESSION_CAST_YEAR_MONTH_DURATION] = qd_call_cast,
    [QD_EXPRESSION_RESOURCE] = qd_call_resource,
    [QD_EXPRESSION_RESOURCE_ID] = qd_call_resource_id,
};

static guint
next_child(const Run *run, guint child)
{
    return run->nodes[child].end;
}

static QdTruth
run_truth(Run *run, guint index)
{
    QdValue value = run_node(run, index);

    return qd_value_get_truth(run->ev, &value);
}

static QdTruth
negate(QdTruth truth)
{
    return truth == QD_UNKNOWN ? QD_UNKNOWN : truth == QD_TRUE ? QD_FALSE : QD_TRUE;
}

/* OR when @decisive is TRUE, AND when it is FALSE: one decisive child decides, errors or not. */
static QdTruth
run_logic(Run *run, guint index, QdTruth decisive)
{
    QdTruth result = negate(decisive);
    guint child = index + 1;

    for (guint i = 0; i < run->nodes[index].n_children; i++, child = next_child(run, child)) {
        QdTruth truth = run_truth(run, child);

        if (truth == decisive)
            return decisive;
        if (truth == QD_UNKNOWN)
            result = QD_UNKNOWN;
    }
    return result;
}

/* §17.4.1.9: (value = e1) || (value = e2) … */
static QdTruth
run_in(Run *run, guint index)
{
    QdValue value = run_node(run, index + 1);
    QdTruth result = QD_FALSE;
    guint child = next_child(run, index + 1);

    for (guint i = 1; i < run->nodes[index].n_children; i++, child = next_child(run, child)) {
        QdValue member = run_node(run, child);
        QdTruth truth = qd_operator_equal(run->ev, &value, &member);

        if (truth == QD_TRUE)
            return QD_TRUE;
        if (truth == QD_UNKNOWN)
            result = QD_UNKNOWN;
    }
    return value.kind == QD_VALUE_ERROR ? QD_UNKNOWN : result;
}

static QdValue
run_if(Run *run, guint index)
{
    guint then = next_child(run, index + 1);

    switch (run_truth(run, index + 1)) {
    case QD_TRUE:
        return run_node(run, then);
    case QD_FALSE:
        return run_node(run, next_child(run, then));
    case QD_UNKNOWN:
        return qd_value_error();
    }
    g_assert_not_reached();
}

static QdValue
run_coalesce(Run *run, guint index)
{
    guint child = index + 1;

    for (guint i = 0; i < run->nodes[index].n_children; i++, child = next_child(run, child)) {
        QdValue value = run_node(run, child);

        if (value.kind != QD_VALUE_ERROR)
            return value;
    }
    return qd_value_error();
}

static QdTruth
run_order(Run *run, guint index, QdOrder order)
{
    QdValue a = run_node(run, index + 1);
    QdValue b = run_node(run, next_child(run, index + 1));

    return qd_operator_order(run->ev, order, &a, &b);
}

static QdTruth
run_equal(Run *run, guint index, gboolean term)
{
    QdValue a = run_node(run, index + 1);
    QdValue b = run_node(run, next_child(run, index + 1));

    return term ? qd_operator_same_term(run->ev, &a, &b) : qd_operator_equal(run->ev, &a, &b);
}

static QdValue
run_compute(Run *run, guint index, QdNumberOp op)
{
    QdValue a = run_node(run, index + 1);
    QdValue b = run_node(run, next_child(run, index + 1));

    return qd_operator_compute(op, &a, &b);
}

static QdValue
run_sign(Run *run, guint index)
{
    QdValue a = run_node(run, index + 1);

    if (run->nodes[index].op == QD_EXPRESSION_NEG)
        return qd_operator_negate(&a);
    if (a.kind != QD_VALUE_NUMBER)
        return qd_value_error();
    /* what a derived type restricts is an integer to every operator */
    if (!qd_value_get_term(run->ev, &a))
        return qd_value_error();
    return qd_xsd_type_from_iri(a.term.qualifier, a.term.n_qualifier) == a.number.type ? a : qd_value_from_number(&a.number);
}

static QdValue
run_arg(Run *run, guint arg)
{
    if (!run->loaded[arg]) {
        run->args[arg] = qd_value_from_sql(run->ev, run->sql_args[arg]);
        run->loaded[arg] = TRUE;
    }
    return run->args[arg];
}

static QdValue
run_call(Run *run, guint index)
{
    const QdProgramNode *node = &run->nodes[index];
    QdValue few[FEW];
    QdValue *args = few;
    guint child = index + 1;

    if (calls[node->op] == NULL)
        return qd_value_error();
    if (node->n_children > FEW)
        args = qd_evaluation_alloc(run->ev, node->n_children * sizeof *args);
    if (args == NULL)
        return qd_value_error();
    for (guint i = 0; i < node->n_children; i++, child = next_child(run, child)) {
        args[i] = run_node(run, child);
        if (args[i].kind == QD_VALUE_ERROR)
            return args[i];
    }
    return calls[node->op](run->ev, node->op, args, node->n_children);
}

/* What yields a truth value; UNKNOWN and *ret_found FALSE for all else. */
static QdTruth
run_predicate(Run *run, guint index, gboolean *ret_found)
{
    *ret_found = TRUE;
    switch (run->nodes[index].op) {
    case QD_EXPRESSION_OR:
        return run_logic(run, index, QD_TRUE);
    case QD_EXPRESSION_AND:
        return run_logic(run, index, QD_FALSE);
    case QD_EXPRESSION_NOT:
        return negate(run_truth(run, index + 1));
    case QD_EXPRESSION_EBV:
        return run_truth(run, index + 1);
    case QD_EXPRESSION_EQ:
        return run_equal(run, index, FALSE);
    case QD_EXPRESSION_NE:
        return negate(run_equal(run, index, FALSE));
    case QD_EXPRESSION_SAME_TERM:
        return run_equal(run, index, TRUE);
    case QD_EXPRESSION_LT:
        return run_order(run, index, QD_ORDER_LESS);
    case QD_EXPRESSION_LE:
        return run_order(run, index, QD_ORDER_LESS_OR_EQUAL);
    case QD_EXPRESSION_GT:
        return run_order(run, index, QD_ORDER_GREATER);
    case QD_EXPRESSION_GE:
        return run_order(run, index, QD_ORDER_GREATER_OR_EQUAL);
    case QD_EXPRESSION_IN:
        return run_in(run, index);
    case QD_EXPRESSION_NOT_IN:
        return negate(run_in(run, index));
    case QD_EXPRESSION_BOUND:
        return run_node(run, index + 1).kind != QD_VALUE_ERROR ? QD_TRUE : QD_FALSE;
    default: /* the operators of run_node() */
        *ret_found = FALSE;
        return QD_UNKNOWN;
    }
}

static QdValue
run_node(Run *run, guint index)
{
    const QdProgramNode *node = &run->nodes[index];
    gboolean found;
    QdTruth truth;

    if (run->ev->error != NULL)
        return qd_value_error();

    switch (node->op) {
    case QD_EXPRESSION_ARG:
        return run_arg(run, node->arg);
    case QD_EXPRESSION_CONST:
        return node->value;
    case QD_EXPRESSION_ID:
        return qd_value_from_id(run->ev, node->id);
    case QD_EXPRESSION_UNBOUND:
        return qd_value_error();
    case QD_EXPRESSION_IF:
        return run_if(run, index);
    case QD_EXPRESSION_COALESCE:
        return run_coalesce(run, index);
    case QD_EXPRESSION_ADD:
        return run_compute(run, index, QD_NUMBER_ADD);
    case QD_EXPRESSION_SUB:
        return run_compute(run, index, QD_NUMBER_SUBTRACT);
    case QD_EXPRESSION_MUL:
        return run_compute(run, index, QD_NUMBER_MULTIPLY);
    case QD_EXPRESSION_DIV:
        return run_compute(run, index, QD_NUMBER_DIVIDE);
    case QD_EXPRESSION_NEG:
    case QD_EXPRESSION_PLUS:
        return run_sign(run, index);
    default: /* a predicate or a call */
        truth = run_predicate(run, index, &found);
        return found ? qd_value_from_truth(truth) : run_call(run, index);
    }
}

QdValue
qd_program_run(const QdProgram *self, QdEvaluation *ev, sqlite3_value **args, guint n_args)
{
    Run run = { .nodes = (const QdProgramNode *) (gpointer) self->nodes->data, .ev = ev, .sql_args = args };

    g_assert(n_args >= self->n_args);
    run.args = qd_evaluation_alloc(ev, MAX(self->n_args, 1) * sizeof *run.args);
    run.loaded = qd_evaluation_alloc(ev, MAX(self->n_args, 1) * sizeof *run.loaded);
    if (run.args == NULL || run.loaded == NULL)
        return qd_value_error();

    for (guint i = 0; i < self->n_args; i++)
        run.loaded[i] = FALSE;
    return run_node(&run, 0);
}
