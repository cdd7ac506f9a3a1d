/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of operators, and the bytes of a program.
 */
#include "daemon/rdf/expression-code.h"

#include <string.h>

static void
test_names(void)
{
    for (guint op = QD_EXPRESSION_ARG; op < QD_N_EXPRESSION_OPS; op++) {
        const QdExpressionOpInfo *info = qd_expression_op_get_info((QdExpressionOp) op);

        g_assert_cmpuint(info->min, <=, info->max);
        if (info->name == NULL)
            continue;
        if (info->cast) {
            g_autofree char *iri = g_strconcat(QD_XSD_NAMESPACE, info->name, NULL);

            g_assert_cmpuint(qd_expression_op_from_iri(iri, strlen(iri)), ==, op);
        } else {
            g_autofree char *lower = g_ascii_strdown(info->name, -1);

            g_assert_cmpuint(qd_expression_op_from_keyword(lower, strlen(lower)), ==, op);
        }
    }
    g_assert_cmpuint(qd_expression_op_from_keyword("uri", 3), ==, QD_EXPRESSION_IRI);
    g_assert_cmpuint(qd_expression_op_from_keyword("STRLE", 5), ==, 0);
    g_assert_cmpuint(qd_expression_op_from_iri("http://example.org/f", 20), ==, 0);
    g_assert_true(qd_expression_op_get_info(QD_EXPRESSION_RAND)->volatile_);
}

static void
test_bytes(void)
{
    static const guint8 expected[] = {
        QD_EXPRESSION_EQ, 2, QD_EXPRESSION_ARG, 1, 1, QD_EXPRESSION_CONST, 6, 0, 0, 0, 1, 0, 0, 0, 0, 'x'
    };
    g_autoptr(GByteArray) program = g_byte_array_new();
    QdTerm term = { QD_TERM_STRING, "x", 1, NULL, 0 };

    qd_expression_put_node(program, QD_EXPRESSION_EQ, 2);
    qd_expression_put_arg(program, 257);
    qd_expression_put_const(program, &term);
    g_assert_cmpmem(program->data, program->len, expected, sizeof expected);
    g_byte_array_set_size(program, 0);
    qd_expression_put_id(program, -2);
    g_assert_cmpmem(program->data, program->len, "\3\376\377\377\377\377\377\377\377", 9);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rdf/expression-code/names", test_names);
    g_test_add_func("/rdf/expression-code/bytes", test_bytes);
    return g_test_run();
}
