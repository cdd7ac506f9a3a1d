/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory and texts that live as long as the arena, also where a block ends.
 */
#include "daemon/sparql/arena.h"

#include <string.h>

static void
test_printf(void)
{
    g_autoptr(QdArena) arena = qd_arena_new();

    g_assert_cmpstr(qd_arena_printf(arena, "no conversion"), ==, "no conversion");
    g_assert_cmpstr(qd_arena_printf(arena, "%s", ""), ==, "");
    g_assert_cmpstr(qd_arena_printf(arena, "q%u.%s=%c%.*s", G_MAXUINT, "s", '+', 2, "abc"), ==, "q4294967295.s=+ab");
    g_assert_cmpstr(qd_arena_printf(arena, "%d %d", G_MININT, 0), ==, "-2147483648 0");
    g_assert_cmpstr(qd_arena_printf(arena, "%" G_GINT64_FORMAT " %" G_GUINT64_FORMAT, G_MININT64, G_MAXUINT64), ==,
                    "-9223372036854775808 18446744073709551615");
}

/* Texts of all lengths, so that some end where a block does and some are longer than one. */
static void
test_blocks(void)
{
    g_autoptr(QdArena) arena = qd_arena_new();
    g_autofree char *letters = g_strnfill(40000, 'x');
    const char *texts[400];

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        texts[i] = qd_arena_printf(arena, "%.*s|%s", (int) i * 97, letters, "end");
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_assert_cmpuint(strlen(texts[i]), ==, i * 97 + 4);
        g_assert_true(g_str_has_suffix(texts[i], "|end"));
    }
}

static void
test_alloc(void)
{
    g_autoptr(QdArena) arena = qd_arena_new();

    g_assert_nonnull(qd_arena_alloc(arena, 0)); /* the first call of all: there is no block yet */
    for (guint n = 1; n < 300; n++) {
        char *bytes = qd_arena_alloc(arena, n);

        g_assert_cmpuint(GPOINTER_TO_SIZE(bytes) % 16, ==, 0);
        for (guint i = 0; i < n; i++)
            g_assert_cmpint(bytes[i], ==, 0);
        memset(bytes, 1, n);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sparql/arena/printf", test_printf);
    g_test_add_func("/sparql/arena/blocks", test_blocks);
    g_test_add_func("/sparql/arena/alloc", test_alloc);
    return g_test_run();
}
