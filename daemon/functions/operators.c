/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Equality, order and arithmetic.
 */
#include "daemon/functions/operators.h"

#include <string.h>

/* Stored terms are equal exactly when their ids are. */
static gboolean
are_interned(const QdValue *a, const QdValue *b)
{
    return a->id != 0 && b->id != 0;
}

QdTruth
qd_operator_same_term(QdEvaluation *ev, QdValue *a, QdValue *b)
{
    if (a->kind == QD_VALUE_ERROR || b->kind == QD_VALUE_ERROR)
        return QD_UNKNOWN;
    if (are_interned(a, b))
        return a->id == b->id ? QD_TRUE : QD_FALSE;
    if (a->kind != b->kind)
        return QD_FALSE;
    if (!qd_value_get_term(ev, a) || !qd_value_get_term(ev, b))
        return QD_UNKNOWN;
    return qd_term_equal(&a->term, &b->term) ? QD_TRUE : QD_FALSE;
}

static QdTruth
equal_times(QdTimeRelation relation)
{
    switch (relation) {
    case QD_TIME_EQUAL:
        return QD_TRUE;
    case QD_TIME_LESS:
    case QD_TIME_GREATER:
    case QD_TIME_UNEQUAL:
        return QD_FALSE;
    case QD_TIME_INDETERMINATE:
        return QD_UNKNOWN;
    }
    g_assert_not_reached();
}

static QdXsdType
time_family(const QdValue *value)
{
    return value->date_time.type == QD_XSD_DATE_TIME_STAMP ? QD_XSD_DATE_TIME : value->date_time.type;
}

/*
 * RDFterm-equal on two terms that are not the same (§17.4.1.7): an error for literals, except where both are known to be
 * different values. A language string is no value of any datatype, and the value spaces of XSD's primitive types are disjoint.
 */
static QdTruth
differ(const QdValue *a, const QdValue *b)
{
    if (!qd_value_is_literal(a) || !qd_value_is_literal(b))
        return QD_FALSE;
    if (a->kind == QD_VALUE_LANG_STRING || b->kind == QD_VALUE_LANG_STRING)
        return QD_FALSE;
    return a->kind == QD_VALUE_OTHER || b->kind == QD_VALUE_OTHER ? QD_UNKNOWN : QD_FALSE;
}

QdTruth
qd_operator_equal(QdEvaluation *ev, QdValue *a, QdValue *b)
{
    QdTruth same;

    if (a->kind == QD_VALUE_ERROR || b->kind == QD_VALUE_ERROR)
        return QD_UNKNOWN;
    if (a->kind == QD_VALUE_NUMBER && b->kind == QD_VALUE_NUMBER)
        return qd_number_compare(&a->number, &b->number) == QD_NUMBER_EQUAL ? QD_TRUE : QD_FALSE;
    if (a->kind == QD_VALUE_BOOLEAN && b->kind == QD_VALUE_BOOLEAN)
        return a->boolean == b->boolean ? QD_TRUE : QD_FALSE;
    if (a->kind == QD_VALUE_DATE_TIME && b->kind == QD_VALUE_DATE_TIME && time_family(a) == time_family(b))
        return equal_times(qd_date_time_compare(&a->date_time, &b->date_time));
    if (a->kind == QD_VALUE_DURATION && b->kind == QD_VALUE_DURATION)
        return equal_times(qd_duration_compare(&a->duration, &b->duration));

    same = qd_operator_same_term(ev, a, b);
    return same == QD_FALSE ? differ(a, b) : same;
}

/* By code points, which is the order of UTF-8's bytes. */
static gint
compare_texts(const QdTerm *a, const QdTerm *b)
{
    gsize n = MIN(a->n_lexical, b->n_lexical);
    gint order = n > 0 ? memcmp(a->lexical, b->lexical, n) : 0;

    return order != 0 ? order : (a->n_lexical > b->n_lexical) - (a->n_lexical < b->n_lexical);
}

static QdTruth
satisfies(QdOrder order, gint relation)
{
    switch (order) {
    case QD_ORDER_LESS:
        return relation < 0 ? QD_TRUE : QD_FALSE;
    case QD_ORDER_LESS_OR_EQUAL:
        return relation <= 0 ? QD_TRUE : QD_FALSE;
    case QD_ORDER_GREATER:
        return relation > 0 ? QD_TRUE : QD_FALSE;
    case QD_ORDER_GREATER_OR_EQUAL:
        return relation >= 0 ? QD_TRUE : QD_FALSE;
    }
    g_assert_not_reached();
}

QdTruth
qd_operator_order(QdEvaluation *ev, QdOrder order, QdValue *a, QdValue *b)
{
    QdNumberRelation numbers;
    QdTimeRelation times;

    if (a->kind != b->kind)
        return QD_UNKNOWN;

    switch (a->kind) {
    case QD_VALUE_NUMBER:
        numbers = qd_number_compare(&a->number, &b->number);
        return numbers == QD_NUMBER_UNORDERED ? QD_FALSE : satisfies(order, numbers);
    case QD_VALUE_STRING:
        if (!qd_value_get_term(ev, a) || !qd_value_get_term(ev, b))
            return QD_UNKNOWN;
        return satisfies(order, compare_texts(&a->term, &b->term));
    case QD_VALUE_BOOLEAN:
        return satisfies(order, a->boolean - b->boolean);
    case QD_VALUE_DATE_TIME:
        if (time_family(a) != time_family(b))
            return QD_UNKNOWN;
        times = qd_date_time_compare(&a->date_time, &b->date_time);
        return times == QD_TIME_INDETERMINATE ? QD_UNKNOWN : satisfies(order, times);
    case QD_VALUE_DURATION:
        times = qd_duration_compare(&a->duration, &b->duration);
        return times == QD_TIME_UNEQUAL ? QD_UNKNOWN : satisfies(order, times);
    case QD_VALUE_ERROR:
    case QD_VALUE_IRI:
    case QD_VALUE_BNODE:
    case QD_VALUE_LANG_STRING:
    case QD_VALUE_OTHER:
        return QD_UNKNOWN;
    }
    g_assert_not_reached();
}

static QdValue
compute_time(QdNumberOp op, const QdValue *a, const QdValue *b)
{
    QdValue result = { .kind = QD_VALUE_ERROR };

    if (op != QD_NUMBER_ADD && op != QD_NUMBER_SUBTRACT)
        return result;
    if (b->kind == QD_VALUE_DURATION && time_family(a) >= QD_XSD_DATE_TIME && time_family(a) <= QD_XSD_TIME) {
        if (qd_date_time_add(&a->date_time, &b->duration, op == QD_NUMBER_ADD ? 1 : -1, &result.date_time))
            result.kind = QD_VALUE_DATE_TIME;
    } else if (op == QD_NUMBER_SUBTRACT && b->kind == QD_VALUE_DATE_TIME && time_family(a) == time_family(b) &&
               time_family(a) <= QD_XSD_TIME) {
        if (qd_date_time_subtract(&a->date_time, &b->date_time, &result.duration))
            result.kind = QD_VALUE_DURATION;
    }
    return result;
}

QdValue
qd_operator_compute(QdNumberOp op, const QdValue *a, const QdValue *b)
{
    QdValue result = { .kind = QD_VALUE_ERROR };

    if (a->kind == QD_VALUE_DATE_TIME)
        return compute_time(op, a, b);
    if (a->kind == QD_VALUE_NUMBER && b->kind == QD_VALUE_NUMBER && qd_number_compute(op, &a->number, &b->number, &result.number))
        result.kind = QD_VALUE_NUMBER;
    return result;
}

QdValue
qd_operator_negate(const QdValue *a)
{
    QdNumber number;

    if (a->kind != QD_VALUE_NUMBER)
        return qd_value_error();

    number = qd_number_negate(&a->number);
    return qd_value_from_number(&number);
}
