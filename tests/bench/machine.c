/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A virtual machine says itself how much time its host gave to others; a run that lost some is no measurement.
 */
#include "tests/bench/machine.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The line "cpu" of /proc/stat: user nice system idle iowait irq softirq steal */
#define STAT_IDLE 3
#define STAT_IOWAIT 4
#define STAT_STOLEN 7
/* Fields of /proc/PID/stat, counted from 1: user and system time, and those of children. */
#define PID_STAT_FIRST 14
#define PID_STAT_LAST 17

guint64
machine_get_now_nsec(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (guint64) now.tv_sec * 1000000000u + (guint64) now.tv_nsec;
}

guint
machine_get_n_cpus(void)
{
    return (guint) sysconf(_SC_NPROCESSORS_ONLN);
}

void
machine_pin(GPid pid, int cpu)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/task", pid != 0 ? (int) pid : (int) getpid());
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    cpu_set_t set;

    CPU_ZERO(&set);
    for (guint i = 0; i < machine_get_n_cpus(); i++)
        if (cpu < 0 || i == (guint) cpu)
            CPU_SET(i, &set);
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL)
        (void) sched_setaffinity((pid_t) atoi(name), sizeof set, &set);
}

/* With the children that it has waited for. */
guint64
machine_get_cpu_nsec(GPid pid)
{
    struct timespec used = { 0 };
    clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;

    if (pid == 0 || clock_getcpuclockid(pid, &clock) == 0)
        (void) clock_gettime(clock, &used);
    return (guint64) used.tv_sec * 1000000000u + (guint64) used.tv_nsec;
}

struct MachineLoad {
    guint n;
    pid_t pids[];
};

MachineLoad *
machine_start_load(void)
{
    guint n = machine_get_n_cpus();
    MachineLoad *self = g_malloc0(sizeof *self + n * sizeof self->pids[0]);

    for (; self->n < n; self->n++) {
        self->pids[self->n] = fork();
        if (self->pids[self->n] < 0)
            g_error("fork: %s", g_strerror(errno));
        if (self->pids[self->n] > 0)
            continue;
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        machine_pin(0, (int) self->n);
        for (volatile guint i = 0;; i++)
            ;
    }
    return self;
}

void
machine_stop_load(MachineLoad *self)
{
    for (guint i = 0; i < self->n; i++) {
        (void) kill(self->pids[i], SIGKILL);
        (void) waitpid(self->pids[i], NULL, 0);
    }
    g_free(self);
}

static guint64
get_ticks(GPid pid)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/stat", (int) pid);
    g_autofree char *text = NULL;
    guint64 ticks = 0;
    char *place;

    if (!g_file_get_contents(path, &text, NULL, NULL) || (place = strrchr(text, ')')) == NULL)
        return 0;

    place = strtok(place, " ");
    for (guint i = 2; place != NULL && i <= PID_STAT_LAST; i++, place = strtok(NULL, " "))
        if (i >= PID_STAT_FIRST)
            ticks += g_ascii_strtoull(place, NULL, 10);
    return ticks;
}

guint64
machine_get_ticks(double msec)
{
    return (guint64) (msec * (double) sysconf(_SC_CLK_TCK) / 1000);
}

MachineTime
machine_get_time(const GPid *pids, gsize n)
{
    g_autofree char *text = NULL;
    g_auto(GStrv) fields = NULL;
    MachineTime time = { 0 };

    if (!g_file_get_contents("/proc/stat", &text, NULL, NULL))
        return time;

    *strchrnul(text, '\n') = '\0';
    fields = g_strsplit(text + strlen("cpu  "), " ", -1);
    for (guint i = 0; i <= STAT_STOLEN && fields[i] != NULL; i++) {
        guint64 ticks = g_ascii_strtoull(fields[i], NULL, 10);

        time.total += ticks;
        time.stolen += i == STAT_STOLEN ? ticks : 0;
        time.busy += i == STAT_IDLE || i == STAT_IOWAIT || i == STAT_STOLEN ? 0 : ticks;
    }
    for (gsize i = 0; i < n; i++)
        time.ours += get_ticks(pids[i]);
    return time;
}
