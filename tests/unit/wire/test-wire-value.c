/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Properties of the value types that reader and writer both build on.
 */
#include "client-lib/wire/wire-value.h"

#include <glib.h>

static void
test_shape(void)
{
    static const struct {
        QwType type;
        bool has_nul;
        bool is_word;
    } table[] = {
        { QW_TYPE_NULL, false, false }, { QW_TYPE_INTEGER, false, true },      { QW_TYPE_FLOAT, false, true },
        { QW_TYPE_TEXT, true, false },  { QW_TYPE_BLOB, false, false },        { QW_TYPE_IRI, true, false },
        { QW_TYPE_BNODE, true, false }, { QW_TYPE_LITERAL_LANG, true, false }, { QW_TYPE_LITERAL_TYPED, true, false },
    };

    g_assert_cmpuint(G_N_ELEMENTS(table), ==, QW_TYPE_LAST + 1);
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
        g_assert_cmpint(table[i].type, ==, i);
        g_assert_cmpint(qw_type_has_nul(table[i].type), ==, table[i].has_nul);
        g_assert_cmpint(qw_type_is_word(table[i].type), ==, table[i].is_word);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/wire/value/shape", test_shape);
    return g_test_run();
}
