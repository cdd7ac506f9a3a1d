/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of operators and functions, and the bytes of a program.
 */
#include "daemon/rdf/expression-code.h"

#include <string.h>

#include "daemon/rdf/term-blob.h"
#include "daemon/rdf/term-id.h"

#define MANY QD_EXPRESSION_CHILDREN_MAX
#define OP(id, min, max) [QD_EXPRESSION_##id] = { NULL, min, max, FALSE, FALSE }
#define CALL(id, name, min, max) [QD_EXPRESSION_##id] = { name, min, max, FALSE, FALSE }
#define VOLATILE(id, name, max) [QD_EXPRESSION_##id] = { name, 0, max, FALSE, TRUE }
#define CAST(id, name) [QD_EXPRESSION_CAST_##id] = { name, 1, 1, TRUE, FALSE }

static const QdExpressionOpInfo ops[QD_N_EXPRESSION_OPS] = {
    OP(ARG, 0, 0),
    OP(CONST, 0, 0),
    OP(ID, 0, 0),
    OP(UNBOUND, 0, 0),
    OP(OR, 2, MANY),
    OP(AND, 2, MANY),
    OP(NOT, 1, 1),
    OP(EQ, 2, 2),
    OP(NE, 2, 2),
    OP(LT, 2, 2),
    OP(LE, 2, 2),
    OP(GT, 2, 2),
    OP(GE, 2, 2),
    OP(IN, 1, MANY),
    OP(NOT_IN, 1, MANY),
    OP(ADD, 2, 2),
    OP(SUB, 2, 2),
    OP(MUL, 2, 2),
    OP(DIV, 2, 2),
    OP(NEG, 1, 1),
    OP(PLUS, 1, 1),
    CALL(IF, "IF", 3, 3),
    CALL(COALESCE, "COALESCE", 0, MANY),
    CALL(BOUND, "BOUND", 1, 1),
    CALL(SAME_TERM, "SAMETERM", 2, 2),
    CALL(IS_IRI, "ISIRI", 1, 1),
    CALL(IS_BLANK, "ISBLANK", 1, 1),
    CALL(IS_LITERAL, "ISLITERAL", 1, 1),
    CALL(IS_NUMERIC, "ISNUMERIC", 1, 1),
    CALL(STR, "STR", 1, 1),
    CALL(LANG, "LANG", 1, 1),
    CALL(DATATYPE, "DATATYPE", 1, 1),
    CALL(IRI, "IRI", 1, 2),
    VOLATILE(BNODE, "BNODE", 2),
    CALL(STRDT, "STRDT", 2, 2),
    CALL(STRLANG, "STRLANG", 2, 2),
    VOLATILE(UUID, "UUID", 0),
    VOLATILE(STRUUID, "STRUUID", 0),
    CALL(STRLEN, "STRLEN", 1, 1),
    CALL(SUBSTR, "SUBSTR", 2, 3),
    CALL(UCASE, "UCASE", 1, 1),
    CALL(LCASE, "LCASE", 1, 1),
    CALL(STRSTARTS, "STRSTARTS", 2, 2),
    CALL(STRENDS, "STRENDS", 2, 2),
    CALL(CONTAINS, "CONTAINS", 2, 2),
    CALL(STRBEFORE, "STRBEFORE", 2, 2),
    CALL(STRAFTER, "STRAFTER", 2, 2),
    CALL(ENCODE_FOR_URI, "ENCODE_FOR_URI", 1, 1),
    CALL(CONCAT, "CONCAT", 0, MANY),
    CALL(LANG_MATCHES, "LANGMATCHES", 2, 2),
    CALL(REGEX, "REGEX", 2, 3),
    CALL(REPLACE, "REPLACE", 3, 4),
    CALL(ABS, "ABS", 1, 1),
    CALL(ROUND, "ROUND", 1, 1),
    CALL(CEIL, "CEIL", 1, 1),
    CALL(FLOOR, "FLOOR", 1, 1),
    VOLATILE(RAND, "RAND", 0),
    CALL(NOW, "NOW", 0, 0),
    CALL(YEAR, "YEAR", 1, 1),
    CALL(MONTH, "MONTH", 1, 1),
    CALL(DAY, "DAY", 1, 1),
    CALL(HOURS, "HOURS", 1, 1),
    CALL(MINUTES, "MINUTES", 1, 1),
    CALL(SECONDS, "SECONDS", 1, 1),
    CALL(TIMEZONE, "TIMEZONE", 1, 1),
    CALL(TZ, "TZ", 1, 1),
    CALL(MD5, "MD5", 1, 1),
    CALL(SHA1, "SHA1", 1, 1),
    CALL(SHA256, "SHA256", 1, 1),
    CALL(SHA384, "SHA384", 1, 1),
    CALL(SHA512, "SHA512", 1, 1),
    CAST(BOOLEAN, "boolean"),
    CAST(INTEGER, "integer"),
    CAST(DECIMAL, "decimal"),
    CAST(FLOAT, "float"),
    CAST(DOUBLE, "double"),
    CAST(STRING, "string"),
    CAST(DATE_TIME, "dateTime"),
    CAST(DATE, "date"),
    CAST(TIME, "time"),
    CAST(DURATION, "duration"),
    CAST(DAY_TIME_DURATION, "dayTimeDuration"),
    CAST(YEAR_MONTH_DURATION, "yearMonthDuration"),
    OP(EBV, 1, 1),
    OP(RESOURCE, 1, 1),
    OP(RESOURCE_ID, 1, 1),
};

const QdExpressionOpInfo *
qd_expression_op_get_info(QdExpressionOp op)
{
    g_assert(op >= QD_EXPRESSION_ARG && op < QD_N_EXPRESSION_OPS);

    return &ops[op];
}

/* NOW() is one value within an execution. */
gboolean
qd_expression_op_is_stable(QdExpressionOp op)
{
    return !qd_expression_op_get_info(op)->volatile_ && op != QD_EXPRESSION_NOW;
}

QdExpressionOp
qd_expression_op_from_keyword(const char *name, gsize n_bytes)
{
    if (n_bytes == 3 && g_ascii_strncasecmp(name, "URI", 3) == 0)
        return QD_EXPRESSION_IRI;
    if (n_bytes == 5 && g_ascii_strncasecmp(name, "ISURI", 5) == 0)
        return QD_EXPRESSION_IS_IRI;
    for (guint op = QD_EXPRESSION_ARG; op < QD_N_EXPRESSION_OPS; op++)
        if (ops[op].name != NULL && !ops[op].cast && strlen(ops[op].name) == n_bytes &&
            g_ascii_strncasecmp(ops[op].name, name, n_bytes) == 0)
            return (QdExpressionOp) op;
    return (QdExpressionOp) 0;
}

static gboolean
is_iri(const char *iri, gsize n_bytes, const char *function)
{
    return strlen(function) == n_bytes && memcmp(iri, function, n_bytes) == 0;
}

QdExpressionOp
qd_expression_op_from_iri(const char *iri, gsize n_bytes)
{
    static const gsize n_namespace = sizeof QD_XSD_NAMESPACE - 1;

    if (is_iri(iri, n_bytes, QD_RESOURCE_FUNCTION))
        return QD_EXPRESSION_RESOURCE;
    if (is_iri(iri, n_bytes, QD_RESOURCE_ID_FUNCTION))
        return QD_EXPRESSION_RESOURCE_ID;
    if (n_bytes <= n_namespace || memcmp(iri, QD_XSD_NAMESPACE, n_namespace) != 0)
        return (QdExpressionOp) 0;
    for (guint op = QD_EXPRESSION_ARG; op < QD_N_EXPRESSION_OPS; op++)
        if (ops[op].cast && strlen(ops[op].name) == n_bytes - n_namespace &&
            memcmp(ops[op].name, iri + n_namespace, n_bytes - n_namespace) == 0)
            return (QdExpressionOp) op;
    return (QdExpressionOp) 0;
}

static void
put_u8(GByteArray *program, guint value)
{
    guint8 byte = (guint8) value;

    g_byte_array_append(program, &byte, 1);
}

void
qd_expression_put_node(GByteArray *program, QdExpressionOp op, guint n_children)
{
    g_assert(n_children <= QD_EXPRESSION_CHILDREN_MAX);

    put_u8(program, op);
    put_u8(program, n_children);
}

void
qd_expression_put_arg(GByteArray *program, guint index)
{
    guint16 word = GUINT16_TO_LE((guint16) index);

    g_assert(index <= G_MAXUINT16);
    put_u8(program, QD_EXPRESSION_ARG);
    g_byte_array_append(program, (const guint8 *) &word, sizeof word);
}

void
qd_expression_put_id(GByteArray *program, gint64 id)
{
    gint64 word = GINT64_TO_LE(id);

    put_u8(program, QD_EXPRESSION_ID);
    g_byte_array_append(program, (const guint8 *) &word, sizeof word);
}

void
qd_expression_put_const(GByteArray *program, const QdTerm *term)
{
    guint32 size = 0;
    guint start;

    put_u8(program, QD_EXPRESSION_CONST);
    start = program->len;
    g_byte_array_append(program, (const guint8 *) &size, sizeof size);
    qd_term_blob_append(program, term);
    size = GUINT32_TO_LE(program->len - start - (guint32) sizeof size);
    memcpy(program->data + start, &size, sizeof size);
}

void
qd_expression_put_term(GByteArray *program, const QdTerm *term)
{
    gint64 id;

    if (qd_term_id_from_term(term, &id))
        qd_expression_put_id(program, id);
    else
        qd_expression_put_const(program, term);
}
