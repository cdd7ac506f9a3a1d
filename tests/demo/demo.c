/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The founding report's measurement: a table of 300,000 rows × 31 columns, read whole through queryd and directly.
 *
 * Place: "tests/run demo", in the environment of demo.sh: a private bus that activates queryd on an empty store.
 * The rounds of both readers alternate, so that what the machine does meanwhile meets both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/demo/founding-table.h"
#include "tests/demo/helper.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define TABLE "founding"
#define ROUNDS 7
#define HELD_STREAMS 16

#define RATIO_MAX 0.80
#define FIRST_ROW_MSEC_MAX 3.0
#define DAEMON_KIB_MAX (16 * 1024)
#define STREAM_KIB_MAX 320

typedef struct Figures {
    guint n_rows;
    Samples through;
    Samples direct;
    Samples first_row;
    Samples first_row_after;
    double cold_first_row_msec;
    guint64 daemon_anon_kib;
    guint64 daemon_peak_kib;
    guint64 client_peak_kib;
    guint64 direct_peak_kib;
    double stream_kib;
    double daemon_cpu_msec; /* of all rounds */
    double client_cpu_msec;
    double direct_cpu_msec;
} Figures;

static void
check_equal(const ReadResult *a, const ReadResult *b, guint n_rows)
{
    if (a->n_rows == n_rows && b->n_rows == n_rows && a->n_bytes == b->n_bytes && a->checksum == b->checksum)
        return;

    (void) fprintf(stderr, "the two results differ\n");
    exit(1);
}

/* The untimed round: every byte is compared by checksum, and both are warm afterwards. */
static void
compare_contents(Figures *self, const char *path)
{
    g_autoptr(QueryConnection) connection = open_connection();
    ReadResult through = founding_table_read(connection, TABLE, READ_CHECKSUM);
    ReadResult direct = founding_table_read_directly(path, TABLE, READ_CHECKSUM);

    check_equal(&through, &direct, self->n_rows);
    self->cold_first_row_msec = through.first_row_msec;
    (void) printf("Both results: %" G_GUINT64_FORMAT " rows, %.1f MB, checksum %016" G_GINT64_MODIFIER "x.\n", through.n_rows,
                  (double) through.n_bytes / 1e6, through.checksum);
}

static void
run_rounds(Figures *self, QueryConnection *connection, const char *path)
{
    GPid daemon = get_daemon_pid();
    double daemon_cpu_msec = get_cpu_msec(daemon);

    for (guint i = 0; i < ROUNDS; i++) {
        double start_cpu_msec = get_cpu_msec(getpid());
        ReadResult through = founding_table_read(connection, TABLE, READ_COPY);
        double middle_cpu_msec = get_cpu_msec(getpid());
        ReadResult direct = founding_table_read_directly(path, TABLE, READ_COPY);

        check_equal(&through, &direct, self->n_rows);
        self->client_cpu_msec += middle_cpu_msec - start_cpu_msec;
        self->direct_cpu_msec += get_cpu_msec(getpid()) - middle_cpu_msec;
        samples_add(&self->through, through.msec);
        samples_add(&self->direct, direct.msec);
        samples_add(&self->first_row, through.first_row_msec);
        samples_add(&self->first_row_after, through.first_row_after_msec);
    }
    self->daemon_cpu_msec = get_cpu_msec(daemon) - daemon_cpu_msec;
}

/* Rounds of their own: a thread that looks at memory every few milliseconds takes time from the others. */
static void
measure_memory(Figures *self, QueryConnection *connection, const char *path)
{
    GPid daemon = get_daemon_pid();
    AnonSampler *sampler;

    reset_peak(getpid());
    reset_peak(daemon);
    sampler = anon_sampler_start(daemon);
    (void) founding_table_read(connection, TABLE, READ_COPY);
    self->daemon_anon_kib = anon_sampler_stop(sampler);
    self->daemon_peak_kib = get_status_kib(daemon, "VmHWM");
    self->client_peak_kib = get_status_kib(getpid(), "VmHWM");

    reset_peak(getpid());
    (void) founding_table_read_directly(path, TABLE, READ_COPY);
    self->direct_peak_kib = get_status_kib(getpid(), "VmHWM");
}

/* What the daemon holds for one more result that is open and read to its middle. */
static void
measure_streams(Figures *self)
{
    GPid daemon = get_daemon_pid();
    g_autofree char *middle = g_strdup_printf("%u", self->n_rows / 2);
    g_autofree char *n_streams = g_strdup_printf("%d", HELD_STREAMS);
    GPtrArray *one = helpers_start(1, (const char *[]){ "hold", TABLE, "1", middle, NULL });
    guint64 before_kib = get_status_kib(daemon, "RssAnon");
    GPtrArray *many = helpers_start(1, (const char *[]){ "hold", TABLE, n_streams, middle, NULL });

    self->stream_kib = ((double) get_status_kib(daemon, "RssAnon") - (double) before_kib) / HELD_STREAMS;
    helpers_stop(many);
    helpers_stop(one);
}

static double
to_mib(guint64 kib)
{
    return (double) kib / 1024.0;
}

static const char *
judge(gboolean met)
{
    return met ? "met" : "MISSED";
}

static gboolean
report(Figures *self)
{
    double through = samples_get_quantile(&self->through, 0.5);
    double direct = samples_get_quantile(&self->direct, 0.5);
    double first_row = samples_get_quantile(&self->first_row, 0.5);
    gboolean met[] = { through / direct <= RATIO_MAX, first_row <= FIRST_ROW_MSEC_MAX, self->daemon_anon_kib < DAEMON_KIB_MAX,
                       self->stream_kib <= STREAM_KIB_MAX };

    (void) printf("\nReading it whole, every value copied; medians of %d alternating rounds:\n", ROUNDS);
    (void) printf("  through queryd     %6.0f ms  %9.0f rows/s\n", through, self->n_rows / through * 1000);
    (void) printf("  SQLite directly    %6.0f ms  %9.0f rows/s\n", direct, self->n_rows / direct * 1000);
    (void) printf("  ratio              %6.2f                        bar: at most %.2f, %s\n", through / direct, RATIO_MAX,
                  judge(met[0]));
    (void) printf("  processor time of a read: daemon %.0f ms beside client %.0f ms; directly %.0f ms\n",
                  self->daemon_cpu_msec / ROUNDS, self->client_cpu_msec / ROUNDS, self->direct_cpu_msec / ROUNDS);
    (void) printf("First row through queryd:\n");
    (void) printf("  from the call      %6.2f ms  (%.3f ms of it after the call returned)   bar: at most %.0f, %s\n", first_row,
                  samples_get_quantile(&self->first_row_after, 0.5), FIRST_ROW_MSEC_MAX, judge(met[1]));
    (void) printf("  on a new connection %5.2f ms  (the only query that goes over D-Bus)\n", self->cold_first_row_msec);
    (void) printf("Memory while it streams:\n");
    (void) printf("  daemon, its own    %6.1f MiB (RssAnon, at most)           bar: below %d, %s\n", to_mib(self->daemon_anon_kib),
                  DAEMON_KIB_MAX / 1024, judge(met[2]));
    (void) printf("  daemon, all        %6.1f MiB (VmHWM: also the database's pages, mapped from the kernel's cache)\n",
                  to_mib(self->daemon_peak_kib));
    (void) printf("  client             %6.1f MiB (VmHWM)\n", to_mib(self->client_peak_kib));
    (void) printf("  direct reader      %6.1f MiB (VmHWM, of the same process)\n", to_mib(self->direct_peak_kib));
    (void) printf("  one more open, half-read result in the daemon: %.0f KiB (RssAnon, %d of them)  bar: at most %d, %s\n",
                  self->stream_kib, HELD_STREAMS, STREAM_KIB_MAX, judge(met[3]));
    return met[0] && met[1] && met[2] && met[3];
}

static void
print_last_line(Figures *self)
{
    (void) printf("demo: rows=%u ratio=%.2f first_row_ms=%.2f daemon_mib=%.1f client_mib=%.1f\n", self->n_rows,
                  samples_get_quantile(&self->through, 0.5) / samples_get_quantile(&self->direct, 0.5),
                  samples_get_quantile(&self->first_row, 0.5), to_mib(self->daemon_anon_kib), to_mib(self->client_peak_kib));
}

/* Runs the commands that demo.sh wants to be shown before the last line. */
static gboolean
run_commands(const char *script)
{
    g_autoptr(GError) error = NULL;
    const char *const argv[] = { "/bin/bash", script, "show", NULL };
    int status = 0;

    (void) fflush(stdout);
    (void) g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, &error);
    die_on_error(error, script);
    return status == 0;
}

/* Two processes work at once here, and a row waits for the one that has the core. Other processes that want it are in all
 * figures. */
static void
note_load(void)
{
    double load[1];

    if (getloadavg(load, 1) == 1 && load[0] > 1.0)
        (void) printf("The machine is busy with something else (load %.1f): all times suffer from it.\n", load[0]);
}

static gboolean
run_demo(guint n_rows, const char *script)
{
    g_autoptr(QueryConnection) connection = open_connection();
    g_autofree char *path = get_database_path();
    Figures figures = { .n_rows = n_rows };
    gboolean ok;

    note_load();
    samples_init(&figures.through);
    samples_init(&figures.direct);
    samples_init(&figures.first_row);
    samples_init(&figures.first_row_after);
    (void) printf("queryd has been activated by the bus as process %d, on %s.\n", (int) get_daemon_pid(), path);
    (void) printf("Creating the table through it: %u rows, id + %d texts of 20 letters ...", n_rows, FOUNDING_TEXTS);
    (void) fflush(stdout);
    (void) printf(" %.1f s, committed.\n", founding_table_create(connection, TABLE, n_rows) / 1000);
    compare_contents(&figures, path);
    run_rounds(&figures, connection, path);
    measure_memory(&figures, connection, path);
    measure_streams(&figures);
    ok = report(&figures);
    ok = run_commands(script) && ok;
    print_last_line(&figures);
    samples_clear(&figures.through);
    samples_clear(&figures.direct);
    samples_clear(&figures.first_row);
    samples_clear(&figures.first_row_after);
    return ok;
}

int
main(int argc, char **argv)
{
    int n_rows = 300000;
    const char *script = NULL;
    const GOptionEntry entries[] = {
        { "rows", 'n', 0, G_OPTION_ARG_INT, &n_rows, "Rows of the table (300000)", "N" },
        { "show", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &script, "Script that shows other tools", "SCRIPT" },
        { 0 },
    };
    g_autoptr(GOptionContext) context = NULL;
    g_autoptr(GError) error = NULL;

    if (argc > 1 && argv[1][0] != '-')
        return helper_main(argc, argv);

    context = g_option_context_new("- the founding measurement of queryd");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error) || n_rows < 10 || script == NULL) {
        (void) fprintf(stderr, "%s\n", error != NULL ? error->message : "--rows is at least 10; run by demo.sh");
        return 2;
    }
    return run_demo((guint) n_rows, script) ? 0 : 1;
}
