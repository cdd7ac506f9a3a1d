/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoding: good programs, and bytes that are none.
 */
#include "daemon/functions/program.h"

#include "tests/unit/functions/expression-fixture.h"

static void
test_nodes(void)
{
    g_autoptr(GByteArray) bytes = expressions_assemble("(IF (= $3 1) <a:b> (COALESCE))", NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(QdProgram) program = qd_program_new(bytes->data, bytes->len, &error);
    const QdProgramNode *nodes;

    g_assert_no_error(error);
    g_assert_cmpuint(program->nodes->len, ==, 6);
    g_assert_cmpuint(program->n_args, ==, 4);
    nodes = (const QdProgramNode *) (gpointer) program->nodes->data;
    g_assert_cmpuint(nodes[0].end, ==, 6);
    g_assert_cmpuint(nodes[1].end, ==, 4);
    g_assert_cmpuint(nodes[2].arg, ==, 3);
    g_assert_cmpint(nodes[3].value.kind, ==, QD_VALUE_NUMBER);
    g_assert_cmpint(nodes[4].value.kind, ==, QD_VALUE_IRI);
}

static void
test_hostile(void)
{
    g_autoptr(GByteArray) bytes = expressions_assemble("(IF (= $3 1) <a:b> (COALESCE \"x\"@en))", NULL);
    static const guint8 bad[][6] = {
        { 0 },
        { 255, 0 },
        { QD_N_EXPRESSION_OPS, 0 },
        { QD_EXPRESSION_NOT, 0 },
        { QD_EXPRESSION_STRLEN, 2, QD_EXPRESSION_UNBOUND, 0, QD_EXPRESSION_UNBOUND, 0 },
        { QD_EXPRESSION_CONST, 255, 255, 255, 255 },
        { QD_EXPRESSION_UNBOUND, 0, 0 },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_null(qd_program_new(bad[i], sizeof bad[i], &error));
        g_assert_nonnull(error);
    }
    for (guint n = 0; n < bytes->len; n++)
        g_assert_null(qd_program_new(bytes->data, n, NULL));
}

static void
test_too_many(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GError) error = NULL;

    for (guint i = 0; i < 500; i++)
        qd_expression_put_node(bytes, QD_EXPRESSION_CONCAT, i < 499 ? 255 : 0);
    g_assert_null(qd_program_new(bytes->data, bytes->len, &error));
    g_assert_cmpint(error->code, ==, QW_ERROR_BAD_PARAMETER);
    g_clear_error(&error);

    g_byte_array_set_size(bytes, 0);
    for (guint i = 0; i < 3; i++) /* 255 · 255 · 255 leaves */
        qd_expression_put_node(bytes, QD_EXPRESSION_CONCAT, 255);
    for (guint i = 0; i < QD_EXPRESSION_NODES_MAX; i++)
        qd_expression_put_node(bytes, QD_EXPRESSION_CONCAT, i % 255 == 254 ? 255 : 0);
    g_assert_null(qd_program_new(bytes->data, bytes->len, &error));
    g_assert_nonnull(error);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/program/nodes", test_nodes);
    g_test_add_func("/functions/program/hostile", test_hostile);
    g_test_add_func("/functions/program/too-many", test_too_many);
    return g_test_run();
}
