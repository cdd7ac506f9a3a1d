/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The machine under the measurements: its clock, its processors, and who else uses them.
 *
 * Place: tests/bench.
 */
#pragma once

#include <glib.h>

/* Nanoseconds of the monotonic clock. */
guint64 machine_get_now_nsec(void);

guint machine_get_n_cpus(void);

/* Binds all threads of @pid (0: this process) to one processor; -1 gives back all. */
void machine_pin(GPid pid, int cpu);

/* Processor time that @pid (0: this process) has used; 0 when it is gone. */
guint64 machine_get_cpu_nsec(GPid pid);

/* Processes that compute and do nothing else, one bound to each processor, until machine_stop_load(). */
typedef struct MachineLoad MachineLoad;
MachineLoad *machine_start_load(void);
void machine_stop_load(MachineLoad *self);

/* Where the processors' time went, in ticks since the machine's start. */
typedef struct MachineTime {
    guint64 total;
    guint64 stolen; /* the hypervisor gave it to others */
    guint64 busy;
    guint64 ours;
} MachineTime;

/* @pids: what of it is ours: @n processes, with the children that they have waited for. */
MachineTime machine_get_time(const GPid *pids, gsize n);

guint64 machine_get_ticks(double msec);

/* A part of all time that went by between two calls. */
static inline double
machine_get_percent(guint64 part, const MachineTime *from, const MachineTime *to)
{
    return to->total > from->total ? 100.0 * (double) part / (double) (to->total - from->total) : 0;
}
