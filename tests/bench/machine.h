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

/* What /proc/stat counts, in ticks: all of it, and what the hypervisor gave to others. */
typedef struct MachineTime {
    guint64 total;
    guint64 stolen;
} MachineTime;

MachineTime machine_get_time(void);

/* Per cent of the processors' time that was stolen since @since. */
double machine_get_stolen_percent(const MachineTime *since);
