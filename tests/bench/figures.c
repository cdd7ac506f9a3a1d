/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Some hundred figures at most: a plain array is searched.
 */
#include "tests/bench/figures.h"

#include <math.h>
#include <stdio.h>

struct Figures {
    GPtrArray *figures; /* of Figure */
};

static void
figure_free(gpointer data)
{
    Figure *figure = data;

    g_free(figure->metric);
    g_free(figure->unit);
    samples_clear(&figure->samples);
    g_free(figure);
}

Figures *
figures_new(void)
{
    Figures *self = g_new0(Figures, 1);

    self->figures = g_ptr_array_new_with_free_func(figure_free);
    return self;
}

void
figures_free(Figures *self)
{
    if (self == NULL)
        return;

    g_ptr_array_unref(self->figures);
    g_free(self);
}

Figure *
figures_find(Figures *self, const char *group, const char *case_name, const char *metric)
{
    for (guint i = 0; i < self->figures->len; i++) {
        Figure *figure = self->figures->pdata[i];

        if (g_str_equal(figure->group, group) && g_str_equal(figure->case_name, case_name) && g_str_equal(figure->metric, metric))
            return figure;
    }
    return NULL;
}

Figure *
figures_find_least(Figures *self, const char *group, const char *prefix, const char *metric)
{
    Figure *least = NULL;

    for (guint i = 0; i < self->figures->len; i++) {
        Figure *figure = self->figures->pdata[i];

        if (!g_str_equal(figure->group, group) || !g_str_has_prefix(figure->case_name, prefix) ||
            !g_str_equal(figure->metric, metric))
            continue;
        if (least == NULL || samples_get_quantile(&figure->samples, 0.5) < samples_get_quantile(&least->samples, 0.5))
            least = figure;
    }
    return least;
}

void
figures_add(Figures *self, const char *group, const char *case_name, const char *reference, const char *metric, const char *unit,
            double value)
{
    Figure *figure = figures_find(self, group, case_name, metric);

    if (figure == NULL) {
        figure = g_new0(Figure, 1);
        figure->group = group;
        figure->case_name = case_name;
        figure->reference = reference;
        figure->metric = g_strdup(metric);
        figure->unit = g_strdup(unit);
        samples_init(&figure->samples);
        g_ptr_array_add(self->figures, figure);
    }
    samples_add(&figure->samples, value);
}

gboolean
figures_get_ratio(Figures *self, Figure *figure, double *ret_ratio)
{
    Figure *reference = figure->reference != NULL ? figures_find(self, figure->group, figure->reference, figure->metric) : NULL;
    double median = reference != NULL ? samples_get_quantile(&reference->samples, 0.5) : 0;

    if (median == 0)
        return FALSE;

    *ret_ratio = samples_get_quantile(&figure->samples, 0.5) / median;
    return TRUE;
}

static void
print_case(Figures *self, const char *group, const char *case_name)
{
    const char *label = case_name;

    for (guint i = 0; i < self->figures->len; i++) {
        Figure *figure = self->figures->pdata[i];
        double ratio;

        if (!g_str_equal(figure->group, group) || !g_str_equal(figure->case_name, case_name))
            continue;
        (void) printf("  %-40s %-24s %-8s %11.2f %11.2f %11.2f", label, figure->metric, figure->unit,
                      samples_get_quantile(&figure->samples, 0.5), samples_get_quantile(&figure->samples, 0),
                      samples_get_quantile(&figure->samples, 1));
        if (figures_get_ratio(self, figure, &ratio))
            (void) printf(" %8.3f", ratio);
        (void) printf("\n");
        label = "";
    }
}

void
figures_print(Figures *self, const char *group)
{
    g_autoptr(GHashTable) printed = g_hash_table_new(g_str_hash, g_str_equal);

    (void) printf("  %-40s %-24s %-8s %11s %11s %11s %8s\n", "case", "metric", "unit", "median", "min", "max", "ratio");
    for (guint i = 0; i < self->figures->len; i++) {
        Figure *figure = self->figures->pdata[i];

        if (g_str_equal(figure->group, group) && g_hash_table_add(printed, (gpointer) figure->case_name))
            print_case(self, group, figure->case_name);
    }
    (void) fflush(stdout);
}

/* Names are our own, without anything that JSON would want escaped; numbers are written without regard to the locale. */
static void
append_number(GString *json, const char *key, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    g_string_append_printf(json, ", \"%s\": %s", key, isfinite(value) ? g_ascii_formatd(text, sizeof text, "%.6g", value) : "null");
}

char *
figures_to_json(Figures *self)
{
    GString *json = g_string_new("[");

    for (guint i = 0; i < self->figures->len; i++) {
        Figure *figure = self->figures->pdata[i];
        double ratio = NAN;

        (void) figures_get_ratio(self, figure, &ratio);
        g_string_append_printf(json, "%s\n  {\"group\": \"%s\", \"case\": \"%s\", \"metric\": \"%s\", \"unit\": \"%s\"",
                               i > 0 ? "," : "", figure->group, figure->case_name, figure->metric, figure->unit);
        append_number(json, "median", samples_get_quantile(&figure->samples, 0.5));
        append_number(json, "min", samples_get_quantile(&figure->samples, 0));
        append_number(json, "max", samples_get_quantile(&figure->samples, 1));
        append_number(json, "ratio", ratio);
        g_string_append_c(json, '}');
    }
    g_string_append(json, "\n]\n");
    return g_string_free(json, FALSE);
}
