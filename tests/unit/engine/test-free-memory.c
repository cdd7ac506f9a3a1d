/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What was freed between blocks in use goes back to the kernel when the process has grown by it, and not before.
 */
#include "daemon/engine/free-memory.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_BYTES 1000
#define KEPT_EACH 1000
#define UNLIKE_MALLOC "the sanitizer keeps what was freed"

static gint64
get_private_kib(void)
{
    g_autofree char *text = NULL;
    long n_pages, n_shared;

    g_assert_true(g_file_get_contents("/proc/self/statm", &text, NULL, NULL));
    g_assert_cmpint(sscanf(text, "%*d %ld %ld", &n_pages, &n_shared), ==, 2);
    return (n_pages - n_shared) * 4;
}

/* (transfer full): blocks in use, each after a million bytes that were freed. */
static GPtrArray *
leave_holes(guint n_mib)
{
    GPtrArray *kept = g_ptr_array_new_with_free_func(g_free);
    GPtrArray *freed = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; i < n_mib * (1 << 20) / BLOCK_BYTES; i++) {
        char *block = g_malloc(BLOCK_BYTES);

        memset(block, 1, BLOCK_BYTES);
        g_ptr_array_add(i % KEPT_EACH == 0 ? kept : freed, block);
    }
    g_ptr_array_add(kept, g_malloc(BLOCK_BYTES)); /* the heap's top is in use */
    g_ptr_array_unref(freed);
    return kept;
}

static void
test_gives_back(void)
{
    GPtrArray *kept, *more;
    gint64 before, after;

    if (g_getenv("QUERYD_SANITIZER") != NULL) {
        g_test_skip(UNLIKE_MALLOC);
        return;
    }
    qd_free_memory_give_back();
    kept = leave_holes(20);
    before = get_private_kib();
    qd_free_memory_look();
    g_assert_cmpint(get_private_kib(), >, before - 10 * 1024); /* little */
    more = leave_holes(80);
    before = get_private_kib();
    qd_free_memory_look();
    after = get_private_kib();
    g_assert_cmpint(after, <, before - 70 * 1024);
    g_ptr_array_unref(kept);
    g_ptr_array_unref(more);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/engine/free-memory/gives-back", test_gives_back);
    return g_test_run();
}
