/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * power-cut [--records N] [--images N] [--ops N] [--seed S]: power cuts of a store under load.
 *
 * A memory disk records what the real store, writer and jobs do to it while a workload runs. Then the power fails at each point
 * of the record, many times with different luck. The real store opens what is left, and the workload looks at what it finds.
 * Controls, which must lose: a disk that lies about syncing; relaxed durability, which must lose whole units only (but its
 * payload files, docs/payloads.md). And payload files that are not synced before their rows: those that the store writes, those
 * that it takes over, and their names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/sqlite/memory.h"
#include "tests/crash/payload-recorder.h"
#include "tests/crash/power-cut.h"
#include "tests/crash/store-probe.h"
#include "tests/unit/store/store-fixture.h"

#define SYNC_USEC 300
/* Operations that a lying disk holds back. */
#define N_LIES 40
#define IMPORT_N_QUADS 40
/* Every so many images the power fails again while the store is opened and closed. */
#define AGAIN 8

static gint arg_records = 4;
static gint arg_images = 20000;
static gint arg_seed = 0;
static gint arg_ops = 6000;
static gint arg_processes = 0;
static gboolean arg_verbose = FALSE;

typedef struct Counts {
    guint n_images;
    guint n_again; /* of these: cuts of a recovery */
    guint n_corrupt;
    guint n_lost;         /* images that lack what was acknowledged */
    guint n_lost_relaxed; /* images */
    guint n_half;
    guint n_payload_faults;         /* images */
    guint n_payload_faults_relaxed; /* images */
    guint n_wrong_checks;           /* images */
    guint n_orphans;
    guint n_columns;
    guint n_units;
    guint n_acknowledged;
} Counts;

/* What is recorded, and what is expected of the images (find_problems()). */
typedef enum Trial {
    TRIAL_DURABLE,
    TRIAL_LYING, /* the record before it, on another disk */
    TRIAL_RELAXED,
    TRIAL_MIXED,
    TRIAL_CREATED_UNSYNCED,
    TRIAL_ADOPTED_UNSYNCED,
    TRIAL_NAMES_UNSYNCED,
    N_TRIALS,
} Trial;

typedef struct TrialPlan {
    const char *prefix; /* of its figures */
    WorkloadDurability durability;
    PayloadRecorderOmit omit;
    guint n_lies;
} TrialPlan;

static const TrialPlan plans[N_TRIALS] = {
    [TRIAL_DURABLE] = { "", WORKLOAD_DURABLE, PAYLOAD_RECORDER_OMIT_NOTHING, 0 },
    [TRIAL_LYING] = { "lying_", WORKLOAD_DURABLE, PAYLOAD_RECORDER_OMIT_NOTHING, N_LIES },
    [TRIAL_RELAXED] = { "relaxed_", WORKLOAD_RELAXED, PAYLOAD_RECORDER_OMIT_NOTHING, 0 },
    [TRIAL_MIXED] = { "mixed_", WORKLOAD_MIXED, PAYLOAD_RECORDER_OMIT_NOTHING, 0 },
    [TRIAL_CREATED_UNSYNCED] = { "unsynced_", WORKLOAD_DURABLE, PAYLOAD_RECORDER_OMIT_CREATED, 0 },
    [TRIAL_ADOPTED_UNSYNCED] = { "adopted_unsynced_", WORKLOAD_DURABLE, PAYLOAD_RECORDER_OMIT_ADOPTED, 0 },
    [TRIAL_NAMES_UNSYNCED] = { "names_unsynced_", WORKLOAD_DURABLE, PAYLOAD_RECORDER_OMIT_NAMES, 0 },
};

typedef struct Record {
    guint32 seed;
    MemoryDisk *disk;
    Workload *workload;
    guint n_ops;
} Record;

static char *
make_directory(void)
{
    g_autoptr(GError) error = NULL;
    char *directory = g_dir_make_tmp("queryd-crash-XXXXXX", &error);

    g_assert_no_error(error);
    return directory;
}

static void
record_clear(Record *self)
{
    g_clear_pointer(&self->workload, workload_free);
    g_clear_pointer(&self->disk, memory_disk_free);
}

static void
make_record(Record *self, guint32 seed, const TrialPlan *plan)
{
    g_autofree char *directory = make_directory();
    WorkloadConfig config = {
        .directory = directory, .seed = seed, .durability = plan->durability, .n_import_quads = IMPORT_N_QUADS
    };
    EngineDriver *driver;

    *self = (Record){ .seed = seed, .disk = config.disk = memory_disk_new() };
    memory_disk_start_log(self->disk, SYNC_USEC);
    memory_vfs_insert(self->disk);
    payload_recorder_set_disk(self->disk, plan->omit);
    self->workload = workload_new(&config);
    driver = engine_driver_new(directory);
    workload_connect(self->workload, driver);
    (void) workload_set_up(self->workload);
    workload_run(self->workload, (guint) arg_ops);
    workload_connect(self->workload, NULL);
    engine_driver_free(driver);
    payload_recorder_set_disk(NULL, PAYLOAD_RECORDER_OMIT_NOTHING);
    self->n_ops = memory_disk_get_n_ops(self->disk);
    store_remove_folder(directory);
}

static void
count(Counts *counts, const ProbeResult *result, guint position, const char *what)
{
    counts->n_images++;
    counts->n_corrupt += result->corrupt ? 1 : 0;
    counts->n_lost += result->report.n_lost > 0 ? 1 : 0;
    counts->n_lost_relaxed += result->report.n_lost_relaxed > 0 ? 1 : 0;
    counts->n_half += result->report.n_half > 0 ? 1 : 0;
    counts->n_payload_faults += result->report.n_payload_faults > 0 ? 1 : 0;
    counts->n_payload_faults_relaxed += result->report.n_payload_faults_relaxed > 0 ? 1 : 0;
    counts->n_wrong_checks += result->check_is_wrong ? 1 : 0;
    counts->n_orphans += result->n_orphans;
    counts->n_columns += (guint) result->n_columns;
    counts->n_units += result->report.n_found;
    if (arg_verbose && result->report.first_problem != NULL)
        fprintf(stderr, "%s, cut before operation %u: %s\n", what, position, result->report.first_problem);
}

/* The power fails again while @image is opened, looked at and closed. */
static void
probe_again(const Record *record, MemoryDisk *image, MemoryDisk *before, const char *directory, guint position, GRand *rand,
            Counts *counts)
{
    guint n_ops = memory_disk_get_n_ops(image);
    g_autoptr(PowerCut) cut = power_cut_new(image, n_ops, before, 0);
    g_autoptr(MemoryDisk) second = NULL;
    ProbeResult result;

    power_cut_advance(cut, (guint) g_rand_int_range(rand, 0, (gint32) n_ops + 1));
    second = power_cut_make_image(cut, rand);
    memory_vfs_insert(second);
    payload_recorder_restore(second, directory);
    store_probe_run(directory, record->workload, position, &result);
    count(counts, &result, position, "second cut");
    counts->n_again++;
    store_probe_clear(&result);
}

static void
probe_image(const Record *record, PowerCut *cut, const char *directory, guint position, guint number, GRand *rand, Counts *counts)
{
    g_autoptr(MemoryDisk) image = power_cut_make_image(cut, rand);
    g_autoptr(MemoryDisk) before = NULL;
    ProbeResult result;

    if (number % AGAIN == 0) {
        before = memory_disk_copy(image);
        memory_disk_start_log(image, 0);
    }
    memory_vfs_insert(image);
    payload_recorder_restore(image, directory);
    payload_recorder_set_disk(image, PAYLOAD_RECORDER_OMIT_NOTHING);
    store_probe_run(directory, record->workload, position, &result);
    payload_recorder_set_disk(NULL, PAYLOAD_RECORDER_OMIT_NOTHING);
    count(counts, &result, position, "cut");
    if (before != NULL && !result.corrupt && result.report.n_lost == 0)
        probe_again(record, image, before, directory, position, rand, counts);
    store_probe_clear(&result);
}

/* Every @n_processes-th image, spread over the record. */
static void
probe_share(const Record *record, guint n_images, guint n_lies, guint process, guint n_processes, Counts *counts)
{
    g_autofree char *directory = make_directory();
    g_autoptr(PowerCut) cut = power_cut_new(record->disk, record->n_ops, NULL, n_lies);
    GRand *rand = g_rand_new_with_seed(record->seed + 1000 * (process + 1));

    for (guint i = process; i < n_images; i += n_processes) {
        guint position = (guint) ((guint64) i * record->n_ops / n_images);

        power_cut_advance(cut, position);
        probe_image(record, cut, directory, position, i / n_processes, rand, counts);
    }
    g_rand_free(rand);
    store_remove_folder(directory);
}

static void
add_counts(Counts *total, const Counts *counts)
{
    total->n_images += counts->n_images;
    total->n_again += counts->n_again;
    total->n_corrupt += counts->n_corrupt;
    total->n_lost += counts->n_lost;
    total->n_lost_relaxed += counts->n_lost_relaxed;
    total->n_half += counts->n_half;
    total->n_payload_faults += counts->n_payload_faults;
    total->n_payload_faults_relaxed += counts->n_payload_faults_relaxed;
    total->n_wrong_checks += counts->n_wrong_checks;
    total->n_orphans += counts->n_orphans;
    total->n_columns += counts->n_columns;
    total->n_units += counts->n_units;
    total->n_acknowledged += counts->n_acknowledged;
}

/* In processes of their own: no thread is left from the record. */
static void
probe(const Record *record, guint n_images, guint n_lies, Counts *total)
{
    guint n_processes = arg_processes > 0 ? (guint) arg_processes : MIN(g_get_num_processors(), 8);
    int fds[2];

    g_assert_cmpint(pipe(fds), ==, 0);
    for (guint i = 0; i < n_processes; i++) {
        pid_t pid = fork();

        g_assert_cmpint(pid, >=, 0);
        if (pid == 0) {
            Counts counts = { 0 };

            probe_share(record, n_images, n_lies, i, n_processes, &counts);
            _exit(write(fds[1], &counts, sizeof counts) == sizeof counts ? 0 : 1);
        }
    }
    (void) close(fds[1]);
    for (guint i = 0; i < n_processes; i++) {
        Counts counts;
        int status;

        if (read(fds[0], &counts, sizeof counts) != sizeof counts)
            g_error("a process that looked at images has died");
        add_counts(total, &counts);
        (void) wait(&status);
        g_assert_cmpint(status, ==, 0);
    }
    (void) close(fds[0]);
    total->n_acknowledged += workload_get_n_acknowledged(record->workload);
}

static void
print_counts(const char *prefix, const Counts *counts)
{
    const struct {
        const char *name;
        guint n;
    } figures[] = {
        { "images", counts->n_images },
        { "second_cuts", counts->n_again },
        { "acknowledged", counts->n_acknowledged },
        { "corrupt", counts->n_corrupt },
        { "lost", counts->n_lost },
        { "lost_relaxed", counts->n_lost_relaxed },
        { "in_part", counts->n_half },
        { "payloads_missing", counts->n_payload_faults },
        { "payloads_missing_relaxed", counts->n_payload_faults_relaxed },
        { "orphans", counts->n_orphans },
        { "columns", counts->n_columns },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(figures); i++)
        printf("\"%s%s\": %u, ", prefix, figures[i].name, figures[i].n);
}

/* One line of JSON. @can_adopt: or else the store cannot take files over here, and their controls have nothing to lose. */
static gboolean
report(const Counts counts[N_TRIALS], gboolean can_adopt)
{
    const Counts *honest = &counts[TRIAL_DURABLE];
    const Counts *lying = &counts[TRIAL_LYING];
    const Counts *relaxed = &counts[TRIAL_RELAXED];
    const Counts *mixed = &counts[TRIAL_MIXED];
    const struct {
        gboolean bad;
        const char *text;
    } problems[] = {
        { honest->n_corrupt > 0, "corrupt images" },
        { honest->n_lost > 0, "acknowledged updates are lost" },
        { honest->n_half > 0, "updates are there in part" },
        { honest->n_payload_faults > 0, "payloads without their content" },
        { honest->n_orphans > 0, "payload files without a row are left" },
        { honest->n_columns == 0, "no image has a stored column" },
        { honest->n_wrong_checks > 0 || mixed->n_wrong_checks > 0, "the check of payloads has not found what is missing" },
        { honest->n_units == 0, "nothing was found in any image" },
        { lying->n_corrupt == 0 || lying->n_lost == 0, "the control, a disk that lies, has not failed" },
        { relaxed->n_lost_relaxed == 0 || relaxed->n_payload_faults_relaxed == 0,
          "the control, relaxed durability, has not failed" },
        { relaxed->n_corrupt > 0, "relaxed durability: corrupt images" },
        { relaxed->n_half > 0, "relaxed durability: updates are there in part" },
        { mixed->n_corrupt > 0, "durable and relaxed: corrupt images" },
        { mixed->n_lost > 0, "durable and relaxed: acknowledged durable updates are lost" },
        { mixed->n_half > 0, "durable and relaxed: updates are there in part, or without those before them" },
        { mixed->n_payload_faults > 0, "durable and relaxed: durable payloads without their content" },
        { mixed->n_orphans > 0, "durable and relaxed: payload files without a row are left" },
        { mixed->n_lost_relaxed == 0, "durable and relaxed: nothing relaxed was lost, which shows nothing" },
        { counts[TRIAL_CREATED_UNSYNCED].n_payload_faults == 0, "the control, payload files that are not synced, has not failed" },
        { can_adopt && payload_recorder_get_n_adopted() == 0, "no payload file was taken over" },
        { can_adopt && counts[TRIAL_ADOPTED_UNSYNCED].n_payload_faults == 0,
          "the control, payload files that are taken over and not synced, has not failed" },
        { can_adopt && counts[TRIAL_NAMES_UNSYNCED].n_payload_faults == 0,
          "the control, payload files that are taken over and whose names are not synced, has not failed" },
    };
    gboolean ok = TRUE;

    printf("{");
    for (gsize i = 0; i < N_TRIALS; i++)
        print_counts(plans[i].prefix, &counts[i]);
    printf("\"taken_over\": %u, \"problems\": [", payload_recorder_get_n_adopted());
    for (gsize i = 0; i < G_N_ELEMENTS(problems); i++) {
        if (!problems[i].bad)
            continue;
        printf("%s\"%s\"", ok ? "" : ", ", problems[i].text);
        ok = FALSE;
    }
    printf("]}\n");
    return ok;
}

static gboolean
run(void)
{
    Counts counts[N_TRIALS] = { 0 };
    guint n_images = (guint) (arg_images / arg_records);
    g_autofree char *directory = make_directory();
    gboolean can_adopt = store_can_adopt(directory);
    Record record = { 0 };

    store_remove_folder(directory);
    for (gint i = 0; i < arg_records; i++) {
        for (guint trial = 0; trial < N_TRIALS; trial++) {
            if (trial != TRIAL_LYING) {
                record_clear(&record);
                make_record(&record, (guint32) (arg_seed + i), &plans[trial]);
            }
            probe(&record, trial == TRIAL_DURABLE ? n_images : MAX(n_images / 20, 50), plans[trial].n_lies, &counts[trial]);
        }
    }
    record_clear(&record);
    return report(counts, can_adopt);
}

int
main(int argc, char **argv)
{
    const GOptionEntry entries[] = {
        { "records", 0, 0, G_OPTION_ARG_INT, &arg_records, "Records", "N" },
        { "images", 0, 0, G_OPTION_ARG_INT, &arg_images, "Images of all records", "N" },
        { "ops", 0, 0, G_OPTION_ARG_INT, &arg_ops, "Disk operations of a record", "N" },
        { "seed", 0, 0, G_OPTION_ARG_INT, &arg_seed, "Start of the random numbers", "N" },
        { "processes", 0, 0, G_OPTION_ARG_INT, &arg_processes, "Processes that look at images", "N" },
        { "verbose", 'v', 0, G_OPTION_ARG_NONE, &arg_verbose, "Say what each bad image has", NULL },
        { NULL },
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) error = NULL;

    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error))
        g_error("%s", error->message);
    if (!qd_memory_init(&error))
        g_error("%s", error->message);
    return run() ? EXIT_SUCCESS : EXIT_FAILURE;
}
