/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The side of the process that takes a sample: what it says goes to rounds.c as lines with tabs.
 */
#include "tests/bench/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void
say(const char *metric, const char *unit, double value)
{
    (void) printf("record\t%s\t%s\t%.17g\n", metric, unit, value);
}

void
bench_record(const Bench *self, const char *metric, const char *unit, double value)
{
    if (!bench_is_warm_up(self))
        say(metric, unit, value);
}

void
bench_record_at(const Bench *self, const char *metric, guint64 x, const char *unit, double value)
{
    g_autofree char *full = g_strdup_printf("%s@%" G_GUINT64_FORMAT, metric, x);

    bench_record(self, full, unit, value);
}

void
bench_record_once(const Bench *self, const char *metric, const char *unit, double value)
{
    if (bench_is_warm_up(self))
        say(metric, unit, value);
}

void
bench_check(const Bench *self, const char *what, guint64 checksum)
{
    (void) printf("check\t%s\t%016" G_GINT64_MODIFIER "x\n", what, checksum);
}

void
bench_retire_daemon(const Bench *self, double cpu_msec)
{
    (void) printf("retired\t%.0f\n", cpu_msec);
}

void
bench_skip(const Bench *self, const char *format, ...)
{
    g_autofree char *reason = NULL;
    va_list arguments;

    va_start(arguments, format);
    reason = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    (void) printf("skip\t%s\n", reason);
    exit(0);
}

void
bench_fail(const Bench *self, const char *format, ...)
{
    g_autofree char *reason = NULL;
    va_list arguments;

    va_start(arguments, format);
    reason = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    (void) fprintf(stderr, "bench: %s, %s: %s\n", self->group, self->case_name, reason);
    exit(1);
}
