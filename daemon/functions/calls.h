/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions of SPARQL 1.1 §17.4 that need all their arguments: one C function each, called by eval.c.
 *
 * Place: room functions, internal to functions. No argument is an error, and there are as many as the table of operators says.
 * An argument of the wrong type gives an error. Work is linear in the arguments.
 */
#pragma once

#include "daemon/functions/value.h"
#include "daemon/rdf/expression-code.h"

typedef QdValue (*QdCall)(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);

/* term-calls.c */
QdValue qd_call_is_kind(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_str(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_lang(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_datatype(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_iri(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_bnode(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_strdt(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_strlang(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_resource(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_resource_id(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_uuid(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);

/* string-calls.c */
QdValue qd_call_strlen(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_substr(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_change_case(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_find(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_cut(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_encode_for_uri(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_concat(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_lang_matches(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_hash(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);

/* regex-calls.c */
QdValue qd_call_regex(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_replace(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);

/* number-calls.c */
QdValue qd_call_round(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_rand(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_now(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_date_time_part(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_timezone(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
QdValue qd_call_tz(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);

/* cast-calls.c */
QdValue qd_call_cast(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args);
