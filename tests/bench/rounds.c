/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each sample is a process of its own: its memory and processor time are the case's alone. Nothing of one case is warm for the
 * next but what the kernel keeps. The warm-up round makes that equal, too, and its times are dropped.
 */
#include "tests/bench/rounds.h"

#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/machine.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

/* More, and the figures are worth little. */
#define STOLEN_PERCENT_MAX 2.0
#define OTHERS_PERCENT_MAX 10.0

typedef struct GroupRun {
    const BenchGroup *group;
    const RoundsOptions *options;
    Figures *figures;
    GHashTable *checks;    /* what → value */
    gboolean *is_left_out; /* per case: skipped or failed */
    GPid daemon;
    GPid bus;
    double retired_msec; /* processor time of daemons that were ended */
    gboolean ok;
} GroupRun;

static void
compare(GroupRun *self, const BenchCase *one, const char *what, const char *value)
{
    const char *first = g_hash_table_lookup(self->checks, what);

    if (first == NULL) {
        g_hash_table_insert(self->checks, g_strdup(what), g_strdup(value));
    } else if (!g_str_equal(first, value)) {
        (void) fprintf(stderr, "bench: %s, %s: %s is %s, others have %s\n", self->group->name, one->name, what, value, first);
        self->ok = FALSE;
    }
}

static void
take_line(GroupRun *self, gsize index, const char *line)
{
    const BenchCase *one = &self->group->cases[index];
    const char *reference = one->reference != NULL ? one->reference : self->group->reference;
    g_auto(GStrv) fields = g_strsplit(line, "\t", -1);
    guint n = g_strv_length(fields);

    if (n == 4 && g_str_equal(fields[0], "record")) {
        figures_add(self->figures, self->group->name, one->name, reference, fields[1], fields[2], g_ascii_strtod(fields[3], NULL));
    } else if (n == 3 && g_str_equal(fields[0], "check")) {
        compare(self, one, fields[1], fields[2]);
    } else if (n == 2 && g_str_equal(fields[0], "retired")) {
        self->retired_msec += g_ascii_strtod(fields[1], NULL);
    } else if (n == 2 && g_str_equal(fields[0], "skip")) {
        (void) printf("  skipped: %s: %s\n", one->name, fields[1]);
        self->is_left_out[index] = TRUE;
    } else if (n > 0) {
        (void) fprintf(stderr, "bench: %s, %s: says '%s'\n", self->group->name, one->name, line);
        self->ok = FALSE;
    }
}

/* What was orphaned by a sample is a child of this process, which is their subreaper. */
static void
reap(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

static void
take_sample(GroupRun *self, gsize index, guint round)
{
    const BenchCase *one = &self->group->cases[index];
    g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *numbers = NULL;
    const char *argv[] = { program, "--case", self->group->name, one->name, NULL, NULL };
    g_autofree char *output = NULL;
    g_auto(GStrv) lines = NULL;
    g_autoptr(GError) error = NULL;
    int status = 0;

    if (self->group->wants_fresh_daemon) {
        self->retired_msec += get_cpu_msec(self->daemon);
        (void) restart_daemon();
    }
    self->daemon = get_daemon_pid(); /* a case may have restarted it, too */
    numbers = g_strdup_printf("%u %u %d %d", round, self->options->n_rows, (int) self->daemon, (int) self->bus);
    argv[4] = numbers;
    (void) g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_CHILD_INHERITS_STDIN, NULL, NULL, &output, NULL, &status, &error);
    die_on_error(error, program);
    lines = g_strsplit(g_strchomp(output), "\n", -1);
    for (guint i = 0; lines[i] != NULL && lines[i][0] != '\0'; i++)
        take_line(self, index, lines[i]);
    if (status != 0) {
        (void) fprintf(stderr, "bench: %s, %s: failed, and is left out\n", self->group->name, one->name);
        self->is_left_out[index] = TRUE;
        self->ok = FALSE;
    }
    machine_pin(self->daemon, -1);
    machine_pin(self->bus, -1);
    reap();
}

static MachineTime
get_time(const GroupRun *self)
{
    const GPid ours[] = { getpid(), self->bus, self->daemon };

    return machine_get_time(ours, G_N_ELEMENTS(ours));
}

static void
record_disturbance(GroupRun *self, const MachineTime *start)
{
    MachineTime end = get_time(self);
    double stolen_percent = machine_get_percent(end.stolen - start->stolen, start, &end);
    guint64 busy = end.busy - start->busy;
    guint64 ours = MIN(end.ours - start->ours + machine_get_ticks(self->retired_msec), busy);
    double others_percent = machine_get_percent(busy - ours, start, &end);

    figures_add(self->figures, self->group->name, "machine", NULL, "stolen", "%", stolen_percent);
    figures_add(self->figures, self->group->name, "machine", NULL, "others", "%", others_percent);
    (void) printf("; of the processors' time %.2f %% was stolen, and %.1f %% went to other programs%s\n", stolen_percent,
                  others_percent,
                  stolen_percent > STOLEN_PERCENT_MAX || others_percent > OTHERS_PERCENT_MAX
                      ? ": THE RUN WAS DISTURBED, its figures are worth little"
                      : "");
    (void) fflush(stdout);
}

gboolean
rounds_run(const BenchGroup *group, const RoundsOptions *options, Figures *figures)
{
    g_autoptr(GHashTable) checks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autofree gboolean *is_left_out = g_new0(gboolean, group->n_cases);
    GroupRun self = {
        .group = group, .options = options, .figures = figures, .checks = checks, .is_left_out = is_left_out, .ok = TRUE
    };
    guint64 start_nsec = machine_get_now_nsec();
    MachineTime start;

    (void) printf("\n%s: %s; %u rounds\n", group->name, group->title, options->n_rounds);
    (void) fflush(stdout);
    self.daemon = restart_daemon();
    self.bus = get_owner_pid("org.freedesktop.DBus");
    start = get_time(&self);
    for (guint round = 0; round <= options->n_rounds; round++)
        for (gsize i = 0; i < group->n_cases; i++)
            if (!is_left_out[i] && (group->cases[i].n_rounds_max == 0 || round <= group->cases[i].n_rounds_max))
                take_sample(&self, i, round);

    figures_print(figures, group->name);
    (void) printf("  %.0f s", (double) (machine_get_now_nsec() - start_nsec) / 1e9);
    record_disturbance(&self, &start);
    return self.ok;
}

static const BenchCase *
find_case(const BenchGroup *const *groups, const char *group_name, const char *case_name)
{
    for (; *groups != NULL; groups++)
        for (gsize i = 0; i < (*groups)->n_cases; i++)
            if (g_str_equal((*groups)->name, group_name) && g_str_equal((*groups)->cases[i].name, case_name))
                return &(*groups)->cases[i];
    return NULL;
}

int
rounds_sample_main(const BenchGroup *const *groups, int argc, char **argv)
{
    Bench bench = { .group = argc == 5 ? argv[2] : "", .case_name = argc == 5 ? argv[3] : "" };
    const BenchCase *one = find_case(groups, bench.group, bench.case_name);

    if (one == NULL || sscanf(argv[4], "%u %u %d %d", &bench.round, &bench.n_rows, &bench.daemon, &bench.bus) != 4) {
        (void) fprintf(stderr, "bench: --case GROUP CASE \"ROUND ROWS DAEMON BUS\"\n");
        return 2;
    }
    one->run(&bench, one->argument);
    return fflush(stdout) == 0 ? 0 : 1;
}
