/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Casts: SPARQL 1.1 §17.5 by the rules of XPath and XQuery Functions and Operators, §19. Durations, dates and times are cast too.
 */

#include "daemon/functions/calls.h"

static const QdXsdType targets[QD_N_EXPRESSION_OPS] = {
    [QD_EXPRESSION_CAST_BOOLEAN] = QD_XSD_BOOLEAN,
    [QD_EXPRESSION_CAST_INTEGER] = QD_XSD_INTEGER,
    [QD_EXPRESSION_CAST_DECIMAL] = QD_XSD_DECIMAL,
    [QD_EXPRESSION_CAST_FLOAT] = QD_XSD_FLOAT,
    [QD_EXPRESSION_CAST_DOUBLE] = QD_XSD_DOUBLE,
    [QD_EXPRESSION_CAST_STRING] = QD_XSD_STRING,
    [QD_EXPRESSION_CAST_DATE_TIME] = QD_XSD_DATE_TIME,
    [QD_EXPRESSION_CAST_DATE] = QD_XSD_DATE,
    [QD_EXPRESSION_CAST_TIME] = QD_XSD_TIME,
    [QD_EXPRESSION_CAST_DURATION] = QD_XSD_DURATION,
    [QD_EXPRESSION_CAST_DAY_TIME_DURATION] = QD_XSD_DAY_TIME_DURATION,
    [QD_EXPRESSION_CAST_YEAR_MONTH_DURATION] = QD_XSD_YEAR_MONTH_DURATION,
};

static gboolean
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static QdValue
cast_string(QdXsdType type, const QdTerm *term)
{
    const char *p = term->lexical;
    const char *end = p + term->n_lexical;
    QdValue value;

    while (p < end && is_space(*p))
        p++;
    while (end > p && is_space(end[-1]))
        end--;
    value = qd_value_parse_literal(type, p, (gsize) (end - p));
    return value.kind == QD_VALUE_OTHER ? qd_value_error() : value;
}

static QdValue
cast_to_string(QdEvaluation *ev, QdValue *value)
{
    char *text;

    switch (value->kind) {
    case QD_VALUE_STRING:
        return *value;
    case QD_VALUE_IRI:
    case QD_VALUE_OTHER: /* of a type that we know nothing of: its lexical form */
        if (!qd_value_get_term(ev, value))
            return qd_value_error();
        return qd_value_from_string(value->term.lexical, value->term.n_lexical);
    case QD_VALUE_BOOLEAN:
        return value->boolean ? qd_value_from_string("true", 4) : qd_value_from_string("false", 5);
    case QD_VALUE_NUMBER:
        text = qd_evaluation_alloc(ev, QD_NUMBER_TEXT_BYTES);
        return text == NULL ? qd_value_error() : qd_value_from_string(text, qd_number_format_plain(&value->number, text));
    case QD_VALUE_DATE_TIME:
        text = qd_evaluation_alloc(ev, QD_DATE_TIME_TEXT_BYTES);
        return text == NULL ? qd_value_error() : qd_value_from_string(text, qd_date_time_format(&value->date_time, text));
    case QD_VALUE_DURATION:
        text = qd_evaluation_alloc(ev, QD_DATE_TIME_TEXT_BYTES);
        return text == NULL ? qd_value_error() : qd_value_from_string(text, qd_duration_format(&value->duration, text));
    case QD_VALUE_ERROR:
    case QD_VALUE_BNODE:
    case QD_VALUE_LANG_STRING:
        return qd_value_error();
    }
    g_assert_not_reached();
}

static QdValue
cast_number(QdXsdType type, const QdNumber *number)
{
    QdValue result = { .kind = QD_VALUE_NUMBER };

    if (type == QD_XSD_BOOLEAN)
        return qd_value_from_boolean(qd_number_is_true(number));
    if (!qd_xsd_type_is_numeric(type) || !qd_number_cast(number, type, &result.number))
        return qd_value_error();
    return result;
}

/* F&O §19.1.4: a duration keeps the part that the target has. */
static QdValue
cast_duration(QdXsdType type, const QdDuration *duration)
{
    QdValue result = { .kind = QD_VALUE_DURATION, .duration = *duration };

    if (!qd_xsd_type_is_duration(type))
        return qd_value_error();

    result.duration.type = type;
    if (type == QD_XSD_DAY_TIME_DURATION)
        result.duration.months = 0;
    if (type == QD_XSD_YEAR_MONTH_DURATION)
        result.duration.picos = 0;
    return result;
}

QdValue
qd_call_cast(QdEvaluation *ev, QdExpressionOp op, QdValue *args, guint n_args)
{
    QdXsdType type = targets[op];
    QdValue result = { .kind = QD_VALUE_ERROR };
    QdNumber number;

    if (type == QD_XSD_STRING)
        return cast_to_string(ev, &args[0]);

    switch (args[0].kind) {
    case QD_VALUE_STRING:
        return qd_value_get_term(ev, &args[0]) ? cast_string(type, &args[0].term) : result;
    case QD_VALUE_NUMBER:
        return cast_number(type, &args[0].number);
    case QD_VALUE_BOOLEAN:
        number = qd_number_from_int64(args[0].boolean ? 1 : 0);
        return type == QD_XSD_BOOLEAN ? args[0] : cast_number(type, &number);
    case QD_VALUE_DATE_TIME:
        if (qd_xsd_type_is_date_time(type) && qd_date_time_cast(&args[0].date_time, type, &result.date_time))
            result.kind = QD_VALUE_DATE_TIME;
        return result;
    case QD_VALUE_DURATION:
        return cast_duration(type, &args[0].duration);
    case QD_VALUE_ERROR:
    case QD_VALUE_IRI:
    case QD_VALUE_BNODE:
    case QD_VALUE_LANG_STRING:
    case QD_VALUE_OTHER:
        return result;
    }
    g_assert_not_reached();
}
