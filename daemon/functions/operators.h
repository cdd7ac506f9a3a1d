/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The operators of SPARQL 1.1 §17.3 on values, with its errors.
 *
 * Place: room functions, internal to functions. Beyond the table of §17.3: dates, times and durations are compared as XPath
 * does, and dateTime and durations are added and subtracted.
 */
#pragma once

#include "daemon/functions/value.h"

/* qd_operator_equal: "=". UNKNOWN for literals that may or may not be the same value. */
QdTruth qd_operator_equal(QdEvaluation *ev, QdValue *a, QdValue *b);

/* qd_operator_same_term: sameTerm(); UNKNOWN only when one is an error. */
QdTruth qd_operator_same_term(QdEvaluation *ev, QdValue *a, QdValue *b);

typedef enum QdOrder {
    QD_ORDER_LESS,
    QD_ORDER_LESS_OR_EQUAL,
    QD_ORDER_GREATER,
    QD_ORDER_GREATER_OR_EQUAL,
} QdOrder;

QdTruth qd_operator_order(QdEvaluation *ev, QdOrder order, QdValue *a, QdValue *b);

QdValue qd_operator_compute(QdNumberOp op, const QdValue *a, const QdValue *b);
QdValue qd_operator_negate(const QdValue *a);
