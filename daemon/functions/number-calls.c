/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions on numbers, dates and times: SPARQL 1.1 §17.4.4, §17.4.5. Dates and times have the parts that they have.
 */
#include <string.h>

#include "daemon/functions/calls.h"

QdValue
qd_call_round(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    QdNumberRounding rounding = op == QD_EXPRESSION_ABS     ? QD_NUMBER_ABS
                                : op == QD_EXPRESSION_ROUND ? QD_NUMBER_ROUND
                                : op == QD_EXPRESSION_CEIL  ? QD_NUMBER_CEIL
                                                            : QD_NUMBER_FLOOR;
    QdNumber number;

    if (args[0].kind != QD_VALUE_NUMBER)
        return qd_value_error();

    number = qd_number_round(&args[0].number, rounding);
    return qd_value_from_number(&number);
}

QdValue
qd_call_rand(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    QdNumber number = qd_number_from_double(g_random_double());

    return qd_value_from_number(&number);
}

QdValue
qd_call_now(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    return (QdValue){ .kind = QD_VALUE_DATE_TIME,
                      .date_time = { .type = QD_XSD_DATE_TIME,
                                     .local_picos = (__int128) ev->context->now_usec * QD_PICOS_PER_USEC,
                                     .zone_minutes = 0 } };
}

static gboolean
has_date(QdXsdType type)
{
    return type == QD_XSD_DATE_TIME || type == QD_XSD_DATE_TIME_STAMP || type == QD_XSD_DATE;
}

static gboolean
has_time(QdXsdType type)
{
    return type == QD_XSD_DATE_TIME || type == QD_XSD_DATE_TIME_STAMP || type == QD_XSD_TIME;
}

QdValue
qd_call_date_time_part(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    gboolean of_date = op == QD_EXPRESSION_YEAR || op == QD_EXPRESSION_MONTH || op == QD_EXPRESSION_DAY;
    QdDateTimeFields fields;
    QdNumber seconds = { .type = QD_XSD_DECIMAL };

    if (args[0].kind != QD_VALUE_DATE_TIME || !(of_date ? has_date(args[0].date_time.type) : has_time(args[0].date_time.type)))
        return qd_value_error();

    qd_date_time_get_fields(&args[0].date_time, &fields);
    if (op == QD_EXPRESSION_SECONDS) {
        seconds.decimal = (QdDecimal){ .digits = fields.picos, .scale = 12 };
        return qd_value_from_number(&seconds);
    }
    return qd_value_from_int64(op == QD_EXPRESSION_YEAR    ? fields.year
                               : op == QD_EXPRESSION_MONTH ? fields.month
                               : op == QD_EXPRESSION_DAY   ? fields.day
                               : op == QD_EXPRESSION_HOURS ? fields.hour
                                                           : fields.minute);
}

QdValue
qd_call_timezone(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    if (args[0].kind != QD_VALUE_DATE_TIME || args[0].date_time.zone_minutes == QD_DATE_TIME_NO_ZONE)
        return qd_value_error();

    return (QdValue){ .kind = QD_VALUE_DURATION,
                      .duration = { .type = QD_XSD_DAY_TIME_DURATION,
                                    .picos = (__int128) args[0].date_time.zone_minutes * 60 * QD_PICOS_PER_SECOND } };
}

/* As it is written: "+00:00" is not "Z". */
QdValue
qd_call_tz(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    const gsize n_zone = strlen("+hh:mm");
    gsize n = 0;
    const QdTerm *term = &args[0].term;

    if (args[0].kind != QD_VALUE_DATE_TIME || !qd_value_get_term(ev, &args[0]))
        return qd_value_error();
    if (args[0].date_time.zone_minutes != QD_DATE_TIME_NO_ZONE)
        n = term->lexical[term->n_lexical - 1] == 'Z' ? 1 : n_zone;
    return qd_value_from_string(term->lexical + term->n_lexical - n, n);
}
