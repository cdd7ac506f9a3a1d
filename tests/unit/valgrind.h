/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests that valgrind falsifies are skipped there, aloud.
 *
 * Place: tests of all rooms. "tests/run valgrind" sets the variable.
 */
#pragma once

#include <glib.h>

static inline gboolean
is_under_valgrind(void)
{
    return g_strcmp0(g_getenv("QUERYD_SANITIZER"), "valgrind") == 0;
}

/* Returns: TRUE when the test is to return at once */
static inline gboolean
skips_under_valgrind(const char *reason)
{
    if (is_under_valgrind())
        g_test_skip(reason);
    return is_under_valgrind();
}
