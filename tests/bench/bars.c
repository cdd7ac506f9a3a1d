/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A bar compares medians of one run. Those of the demo are in demo.c.
 */
#include "tests/bench/bars.h"

#include <stdio.h>

typedef struct Place {
    const char *case_name;
    const char *metric;
} Place;

typedef struct Bar {
    const char *name;
    const char *group;
    Place value;
    Place reference; /* no case: the value itself counts */
    double limit;
    gboolean is_least; /* the value must not be below */
} Bar;

static const Bar bars[] = {
    { "fetch-default-to-direct", "fetch", { "queryd", "time" }, { "direct", "time" }, 0.55 },
};

static gboolean
place_get_median(Figures *figures, const char *group, Place place, double *ret_median)
{
    Figure *figure = figures_find(figures, group, place.case_name, place.metric);

    if (figure == NULL)
        return FALSE;

    *ret_median = samples_get_quantile(&figure->samples, 0.5);
    return TRUE;
}

gboolean
bars_judge(Figures *figures)
{
    gboolean ok = TRUE;

    for (gsize i = 0; i < G_N_ELEMENTS(bars); i++) {
        const Bar *bar = &bars[i];
        double reference = 1;
        double value;
        gboolean met;

        if (figures_find(figures, bar->group, "machine", "stolen") == NULL)
            continue; /* not asked for */
        if (!place_get_median(figures, bar->group, bar->value, &value) ||
            (bar->reference.case_name != NULL && !place_get_median(figures, bar->group, bar->reference, &reference))) {
            (void) printf("bar %-40s was not measured\n", bar->name);
            continue;
        }
        value /= reference;
        met = bar->is_least ? value >= bar->limit : value <= bar->limit;
        (void) printf("bar %-40s %8.3f %s %8.3f %s\n", bar->name, value, bar->is_least ? "at least" : "at most ", bar->limit,
                      met ? "met" : "MISSED");
        ok = ok && met;
    }
    return ok;
}
