/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * "tests/run bench [GROUP]": runs the groups, says at the end whether a bar was missed.
 */
#include "tests/demo/bench.h"

#include <stdio.h>

#include "tests/demo/helper.h"

static const struct {
    const char *name;
    gboolean (*run)(void);
} groups[] = {
    { "fetch", bench_fetch },
    { "latency", bench_latency },
    { "memory", bench_memory },
};

gboolean
bench_judge(gboolean met)
{
    (void) printf("%s\n", met ? "met" : "MISSED");
    (void) fflush(stdout);
    return met;
}

int
main(int argc, char **argv)
{
    const char *only = argc == 2 ? argv[1] : NULL;
    gboolean ok = TRUE;
    guint n_run = 0;

    if (argc > 2)
        return helper_main(argc, argv);

    for (gsize i = 0; i < G_N_ELEMENTS(groups); i++) {
        if (only != NULL && !g_str_equal(only, groups[i].name))
            continue;
        ok = groups[i].run() && ok;
        n_run++;
    }
    if (n_run == 0) {
        (void) fprintf(stderr, "bench: the groups are fetch, latency and memory\n");
        return 2;
    }
    (void) printf("bench: %s\n", ok ? "all bars met" : "bars MISSED");
    return ok ? 0 : 1;
}
