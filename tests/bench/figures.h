/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What has been measured: samples by group, case and metric, in the order in which they came.
 *
 * Place: the first process of the laboratory. Names that are handed in must outlive the table, but metrics and units are copied.
 */
#pragma once

#include <glib.h>

#include "tests/demo/measure.h"

typedef struct Figure {
    const char *group;
    const char *case_name;
    const char *reference; /* case; NULL: none */
    char *metric;
    char *unit;
    Samples samples;
} Figure;

typedef struct Figures Figures;

Figures *figures_new(void);
void figures_free(Figures *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Figures, figures_free)

void figures_add(Figures *self, const char *group, const char *case_name, const char *reference, const char *metric,
                 const char *unit, double value);

/* NULL when there is no such figure. */
Figure *figures_find(Figures *self, const char *group, const char *case_name, const char *metric);

/* Of the cases whose names begin with @prefix, the one with the least median; NULL when there is none. */
Figure *figures_find_least(Figures *self, const char *group, const char *prefix, const char *metric);

/* Median by the reference's median; FALSE when there is no reference, or it was not measured. */
gboolean figures_get_ratio(Figures *self, Figure *figure, double *ret_ratio);

/* A table on standard output. */
void figures_print(Figures *self, const char *group);

/* The text of all figures as a JSON array; (transfer full). */
char *figures_to_json(Figures *self);
