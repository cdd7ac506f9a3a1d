/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Figures: time, order statistics, memory of a process.
 *
 * Place: shared by the demo and the benchmarks.
 */
#pragma once

#include <glib.h>

/* Samples of one quantity; sorted by the first question asked. */
typedef struct Samples {
    GArray *values; /* of double */
} Samples;

void samples_init(Samples *self);
void samples_clear(Samples *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Samples, samples_clear)
void samples_add(Samples *self, double value);

/* @fraction: 0.5 is the median, 0 the least, 1 the greatest. 0 when there are no samples. */
double samples_get_quantile(Samples *self, double fraction);

/* 0 when there are no samples. */
double samples_get_mean(const Samples *self);

double get_now_msec(void);

/* A field of /proc/PID/status in KiB, such as "RssAnon"; 0 when there is no such process. */
guint64 get_status_kib(GPid pid, const char *field);

/* Processor time that a process has used, in ms; 0 when there is no such process. */
double get_cpu_msec(GPid pid);

/* Makes VmHWM of @pid start again from what it holds now. */
void reset_peak(GPid pid);

/*
 * Looks at RssAnon of a process every few milliseconds in a thread of its own, from _start to _stop. _stop returns the most
 * that was seen, in KiB.
 */
typedef struct AnonSampler AnonSampler;
AnonSampler *anon_sampler_start(GPid pid);
guint64 anon_sampler_stop(AnonSampler *self);
