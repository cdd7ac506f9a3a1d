/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numeric values: integer, decimal, float and double, with XPath's promotion from left to right.
 *
 * Place: room rdf, pure. A derived integer type is its value: results of arithmetic are integers.
 */
#pragma once

#include "daemon/rdf/term.h"
#include "daemon/rdf/xsd-decimal.h"
#include "daemon/rdf/xsd-type.h"

/* Room for any number's lexical form and a NUL. */
#define QD_NUMBER_TEXT_BYTES 64

typedef struct QdNumber {
    QdXsdType type; /* INTEGER, DECIMAL, FLOAT or DOUBLE */
    union {
        QdDecimal decimal; /* INTEGER, DECIMAL */
        double real;       /* FLOAT (rounded to it), DOUBLE */
    };
} QdNumber;

typedef enum QdNumberRelation {
    QD_NUMBER_LESS = -1,
    QD_NUMBER_EQUAL = 0,
    QD_NUMBER_GREATER = 1,
    QD_NUMBER_UNORDERED = 2, /* a NaN */
} QdNumberRelation;

/* What a sum or a quotient came to. */
typedef enum QdNumberOp {
    QD_NUMBER_ADD,
    QD_NUMBER_SUBTRACT,
    QD_NUMBER_MULTIPLY,
    QD_NUMBER_DIVIDE,
} QdNumberOp;

typedef enum QdNumberRounding {
    QD_NUMBER_ABS,
    QD_NUMBER_ROUND,
    QD_NUMBER_CEIL,
    QD_NUMBER_FLOOR,
} QdNumberRounding;

/**
 * qd_number_parse:
 * @type: any numeric type
 * @text: a lexical form
 * @ret: (out): its value
 *
 * Returns: FALSE when @text is not in the type's lexical space, breaks its facets or has more than 38 digits
 */
gboolean qd_number_parse(QdXsdType type, const char *text, gsize n_bytes, QdNumber *ret);

/* qd_number_from_id: of an id in line that is a number; FALSE for all others. */
gboolean qd_number_from_id(gint64 id, QdNumber *ret);

static inline QdNumber
qd_number_from_int64(gint64 value)
{
    return (QdNumber){ .type = QD_XSD_INTEGER, .decimal = qd_decimal_from_int64(value) };
}

static inline QdNumber
qd_number_from_double(double value)
{
    return (QdNumber){ .type = QD_XSD_DOUBLE, .real = value };
}

/* qd_number_format: the canonical form; returns the number of bytes, without the NUL. */
gsize qd_number_format(const QdNumber *self, char buffer[QD_NUMBER_TEXT_BYTES]);

/* qd_number_format_plain: as XPath casts to xsd:string: "1" of 1.0 and 1e0. */
gsize qd_number_format_plain(const QdNumber *self, char buffer[QD_NUMBER_TEXT_BYTES]);

double qd_number_to_double(const QdNumber *self);

/* qd_number_compute: FALSE: division of decimals by zero, or more digits than a decimal has. */
gboolean qd_number_compute(QdNumberOp op, const QdNumber *a, const QdNumber *b, QdNumber *ret);

QdNumberRelation qd_number_compare(const QdNumber *a, const QdNumber *b);

QdNumber qd_number_negate(const QdNumber *self);
QdNumber qd_number_round(const QdNumber *self, QdNumberRounding rounding);

/* qd_number_cast: to INTEGER, DECIMAL, FLOAT or DOUBLE; FALSE when @type has no such value. */
gboolean qd_number_cast(const QdNumber *self, QdXsdType type, QdNumber *ret);

/* The effective boolean value: neither zero nor NaN. */
gboolean qd_number_is_true(const QdNumber *self);

/* The value of a term, as the column num of the dictionary has it. FALSE: it is no number, or NaN. */
gboolean qd_number_from_term(const QdTerm *term, double *ret_number);
