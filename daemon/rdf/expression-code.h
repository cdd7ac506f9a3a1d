/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SPARQL expressions as bytes: what the compiler writes and queryd_eval(program, v1…vn) runs.
 *
 *     node  := u8 op · u8 n_children · node…
 *     ARG   := u8 op · u16 index             the argument vN of queryd_eval, from 0; NULL is unbound or an error
 *     CONST := u8 op · u32 size · term blob  (daemon/rdf/term-blob.h)
 *     ID    := u8 op · i64 id
 *
 * All numbers little-endian. Place: room rdf, between sparql (writes) and functions (runs).
 * Invariant: a program may come from outside; a reader checks sizes, depth and numbers of children.
 */
#pragma once

#include "daemon/rdf/term.h"

/* Bounds of the format. */
#define QD_EXPRESSION_DEPTH_MAX 1000
#define QD_EXPRESSION_NODES_MAX 100000
#define QD_EXPRESSION_CHILDREN_MAX 255

/* Functions of ours. */
#define QD_RESOURCE_FUNCTION "http://queryd.org/function#resource"
#define QD_RESOURCE_ID_FUNCTION "http://queryd.org/function#resource-id"

typedef enum QdExpressionOp {
    QD_EXPRESSION_ARG = 1,
    QD_EXPRESSION_CONST,
    QD_EXPRESSION_ID,
    QD_EXPRESSION_UNBOUND, /* no children: unbound, an error */

    QD_EXPRESSION_OR, /* two or more children, as AND, ADD … DIV are binary */
    QD_EXPRESSION_AND,
    QD_EXPRESSION_NOT,
    QD_EXPRESSION_EQ,
    QD_EXPRESSION_NE,
    QD_EXPRESSION_LT,
    QD_EXPRESSION_LE,
    QD_EXPRESSION_GT,
    QD_EXPRESSION_GE,
    QD_EXPRESSION_IN, /* the value, then the list */
    QD_EXPRESSION_NOT_IN,
    QD_EXPRESSION_ADD,
    QD_EXPRESSION_SUB,
    QD_EXPRESSION_MUL,
    QD_EXPRESSION_DIV,
    QD_EXPRESSION_NEG,
    QD_EXPRESSION_PLUS,

    QD_EXPRESSION_IF,
    QD_EXPRESSION_COALESCE,
    QD_EXPRESSION_BOUND,
    QD_EXPRESSION_SAME_TERM,

    QD_EXPRESSION_IS_IRI,
    QD_EXPRESSION_IS_BLANK,
    QD_EXPRESSION_IS_LITERAL,
    QD_EXPRESSION_IS_NUMERIC,
    QD_EXPRESSION_STR,
    QD_EXPRESSION_LANG,
    QD_EXPRESSION_DATATYPE,
    QD_EXPRESSION_IRI,   /* the value and, when the query has one, its base IRI */
    QD_EXPRESSION_BNODE, /* none; or a string and a serial of the solution (an xsd:integer) */
    QD_EXPRESSION_STRDT,
    QD_EXPRESSION_STRLANG,
    QD_EXPRESSION_UUID,
    QD_EXPRESSION_STRUUID,

    QD_EXPRESSION_STRLEN,
    QD_EXPRESSION_SUBSTR,
    QD_EXPRESSION_UCASE,
    QD_EXPRESSION_LCASE,
    QD_EXPRESSION_STRSTARTS,
    QD_EXPRESSION_STRENDS,
    QD_EXPRESSION_CONTAINS,
    QD_EXPRESSION_STRBEFORE,
    QD_EXPRESSION_STRAFTER,
    QD_EXPRESSION_ENCODE_FOR_URI,
    QD_EXPRESSION_CONCAT,
    QD_EXPRESSION_LANG_MATCHES,
    QD_EXPRESSION_REGEX,
    QD_EXPRESSION_REPLACE,

    QD_EXPRESSION_ABS,
    QD_EXPRESSION_ROUND,
    QD_EXPRESSION_CEIL,
    QD_EXPRESSION_FLOOR,
    QD_EXPRESSION_RAND,

    QD_EXPRESSION_NOW,
    QD_EXPRESSION_YEAR,
    QD_EXPRESSION_MONTH,
    QD_EXPRESSION_DAY,
    QD_EXPRESSION_HOURS,
    QD_EXPRESSION_MINUTES,
    QD_EXPRESSION_SECONDS,
    QD_EXPRESSION_TIMEZONE,
    QD_EXPRESSION_TZ,

    QD_EXPRESSION_MD5,
    QD_EXPRESSION_SHA1,
    QD_EXPRESSION_SHA256,
    QD_EXPRESSION_SHA384,
    QD_EXPRESSION_SHA512,

    QD_EXPRESSION_CAST_BOOLEAN,
    QD_EXPRESSION_CAST_INTEGER,
    QD_EXPRESSION_CAST_DECIMAL,
    QD_EXPRESSION_CAST_FLOAT,
    QD_EXPRESSION_CAST_DOUBLE,
    QD_EXPRESSION_CAST_STRING,
    QD_EXPRESSION_CAST_DATE_TIME,
    QD_EXPRESSION_CAST_DATE,
    QD_EXPRESSION_CAST_TIME,
    QD_EXPRESSION_CAST_DURATION,
    QD_EXPRESSION_CAST_DAY_TIME_DURATION,
    QD_EXPRESSION_CAST_YEAR_MONTH_DURATION,

    QD_EXPRESSION_EBV,         /* the effective boolean value as xsd:boolean */
    QD_EXPRESSION_RESOURCE,    /* the IRI with a number; for GraphUpdated: docs/tinysparql.md */
    QD_EXPRESSION_RESOURCE_ID, /* the number of an IRI that the store has met */
    QD_N_EXPRESSION_OPS,
} QdExpressionOp;

typedef struct QdExpressionOpInfo {
    const char *name; /* SPARQL's keyword in upper case, or the local name of an XSD cast; NULL: an operator or ours */
    guint8 min;       /* children in a program */
    guint8 max;
    gboolean cast;      /* @name is a type in QD_XSD_NAMESPACE */
    gboolean volatile_; /* another value at each call: RAND, UUID, STRUUID, BNODE without children */
} QdExpressionOpInfo;

/* qd_expression_op_get_info: of @op, which is ARG … below QD_N_EXPRESSION_OPS. */
const QdExpressionOpInfo *qd_expression_op_get_info(QdExpressionOp op);

/* qd_expression_op_is_stable: whether another execution on the same data gives the same. */
gboolean qd_expression_op_is_stable(QdExpressionOp op);

/* qd_expression_op_from_keyword: the built-in call of this name, without regard to case; 0: none. URI is IRI. */
QdExpressionOp qd_expression_op_from_keyword(const char *name, gsize n_bytes);

/* qd_expression_op_from_iri: the cast that a function IRI means; 0: none. */
QdExpressionOp qd_expression_op_from_iri(const char *iri, gsize n_bytes);

/* Writing a program. qd_expression_put_node() is followed by @n_children nodes. */
void qd_expression_put_node(GByteArray *program, QdExpressionOp op, guint n_children);
void qd_expression_put_arg(GByteArray *program, guint index);
void qd_expression_put_id(GByteArray *program, gint64 id);
void qd_expression_put_const(GByteArray *program, const QdTerm *term);
/* ID where the term lives in line, else CONST. */
void qd_expression_put_term(GByteArray *program, const QdTerm *term);
