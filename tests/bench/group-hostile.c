/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What others get while two processes keep 64 channels busy with what costs most (tests/e2e/hostile_client.py). A look-up, an
 * update, statements that only their deadline ends, the latest of which is named; the daemon's memory then, and how long SIGTERM
 * takes.
 */
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/machine.h"
#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define TRANSACTION_MSEC 3000
#define HOSTILE_TIMEOUT_MSEC "2000"
#define N_HOSTILE 2
#define CHANNELS_OF_EACH "32"
#define HOSTILE_TO_COME 12u
#define USEC 20000000
#define USEC_SMOKE 300000
#define PAUSE_USEC 2000
#define DEADLINE_MSEC 1000u
#define DEADLINE_MSEC_SMOKE 50u
#define END_MAX_MSEC 30000
#define END_LOOK_MSEC 50
#define ROWS "1000"
#define NUMBERS(n) "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT " n ") "

/* What only a deadline ends: each in its turn. */
static const struct {
    const char *name;
    const char *text;
    gboolean writes;
} endless_statements[] = {
    { "large values", NUMBERS("1e9") "SELECT max(length(hex(randomblob(1000000 + i % 7)))) FROM n", FALSE },
    { "a join", "SELECT max(a.x || b.x || c.y) FROM t a, t b, t c", FALSE },
    { "rows, then none", "SELECT id, x FROM t UNION ALL SELECT max(length(randomblob(2000000 + a.id))), 0 FROM t a, t b", FALSE },
    { "a sort", "SELECT a.x || b.x FROM t a, t b, t c ORDER BY b.y, 1 LIMIT 1 OFFSET 100000000", FALSE },
    { "an update", "UPDATE u SET x = (SELECT max(length(randomblob(500000 + a.id))) FROM t a, t b)", TRUE },
};

typedef struct Victim Victim;
struct Victim {
    const Bench *bench;
    void (*call)(QueryConnection *connection, Victim *self);
    guint timeout_msec; /* what is beyond it counts; 0: everything */
    gint64 pause_usec;
    GThread *thread;
    Samples msec;
    double most_msec; /* of the call most_call */
    guint most_call;
    guint n_calls;
};

static gint stop; /* atomic */

static guint
get_deadline_msec(const Bench *bench)
{
    return bench_is_smoke(bench) ? DEADLINE_MSEC_SMOKE : DEADLINE_MSEC;
}

/* The store ---------------------------------------------------------------------------------------------------------------- */

static char *
build_config_path(void)
{
    return g_build_filename(g_get_user_config_dir(), "queryd", "queryd.conf", NULL);
}

static void
write_config(void)
{
    g_autofree char *path = build_config_path();
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *text = g_strdup_printf("[Limits]\ntransaction_ms=%d\n", TRANSACTION_MSEC);
    g_autoptr(GError) error = NULL;

    (void) g_mkdir_with_parents(folder, 0700);
    (void) g_file_set_contents(path, text, -1, &error);
    die_on_error(error, "configuration");
}

/* The tables that hostile_client.py names. */
static void
fill_store(QueryConnection *connection)
{
    static const char *const statements[] = {
        "CREATE TABLE t AS " NUMBERS(ROWS) "SELECT i AS id, hex(zeroblob(50)) AS x, i % 1000 AS y FROM n",
        "CREATE UNIQUE INDEX t_id ON t (id)",
        "CREATE TABLE u(x)",
        "INSERT INTO u VALUES(1)",
        "CREATE TABLE v(x)",
    };
    g_autoptr(GString) triples = g_string_new("INSERT DATA { ");
    g_autoptr(GError) error = NULL;

    for (gsize i = 0; i < G_N_ELEMENTS(statements); i++)
        execute(connection, statements[i]);
    for (guint i = 0; i < 300; i++)
        g_string_append_printf(triples, "<urn:a%u> <urn:p> <urn:a%u> . ", i, i * 7 % 300);
    g_string_append_c(triples, '}');
    (void) query_connection_update(connection, QUERY_LANGUAGE_SPARQL, triples->str, NULL, NULL, &error);
    die_on_error(error, "triples");
}

/* Victims ------------------------------------------------------------------------------------------------------------------ */

static void
look_up(QueryConnection *connection, Victim *self)
{
    if (query_number(connection, "SELECT y FROM t WHERE id = 5") != 5)
        bench_fail(self->bench, "the look-up has found another row");
}

static void
update(QueryConnection *connection, Victim *self)
{
    execute(connection, "INSERT INTO v VALUES(1)");
}

/* The daemon has no place for one more statement, or its deadline has come: anything else is a failure. An update that others
 * wait for, a sort that needs too much, and the like, may end before. */
static gboolean
is_expected(const GError *error)
{
    return error != NULL && error->domain == QUERY_ERROR &&
           (error->code == QUERY_ERROR_TIMEOUT || error->code == QUERY_ERROR_BUSY || error->code == QUERY_ERROR_NO_MEMORY ||
            error->code == QUERY_ERROR_DISK_FULL);
}

static void
run_until_deadline(QueryConnection *connection, Victim *self)
{
    guint which = self->n_calls % G_N_ELEMENTS(endless_statements);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;

    if (endless_statements[which].writes)
        (void) query_connection_update(connection, QUERY_LANGUAGE_SQL, endless_statements[which].text, NULL, NULL, &error);
    else
        cursor = query_connection_query(connection, QUERY_LANGUAGE_SQL, endless_statements[which].text, NULL, NULL, &error);
    while (cursor != NULL && query_cursor_next(cursor, NULL, &error))
        ;
    if (!is_expected(error))
        bench_fail(self->bench, "a statement without an end (%s): %s", endless_statements[which].name,
                   error != NULL ? error->message : "has ended");
}

static gpointer
victim_main(gpointer data)
{
    Victim *self = data;
    g_autoptr(QueryConnection) connection = open_connection();

    query_connection_set_timeout_msec(connection, self->timeout_msec > 0 ? self->timeout_msec : QUERY_TIMEOUT_NONE);
    do {
        double start_msec = get_now_msec();
        double msec;

        self->call(connection, self);
        msec = get_now_msec() - start_msec - self->timeout_msec;
        samples_add(&self->msec, msec);
        if (msec > self->most_msec) {
            self->most_msec = msec;
            self->most_call = self->n_calls;
        }
        self->n_calls++;
        g_usleep((gulong) self->pause_usec);
    } while (!g_atomic_int_get(&stop));
    return NULL;
}

static void
victim_start(Victim *self)
{
    samples_init(&self->msec);
    self->thread = g_thread_new("victim", victim_main, self);
}

static void
victim_record(Victim *self, const char *name)
{
    static const struct {
        const char *name;
        double fraction;
    } quantiles[] = { { "p50", 0.5 }, { "p99", 0.99 }, { "max", 1 } };

    g_thread_join(self->thread);
    for (gsize i = 0; i < G_N_ELEMENTS(quantiles); i++) {
        g_autofree char *metric = g_strdup_printf("%s.%s", name, quantiles[i].name);

        bench_record(self->bench, metric, "ms", samples_get_quantile(&self->msec, quantiles[i].fraction));
    }
    samples_clear(&self->msec);
}

/* Hostile processes -------------------------------------------------------------------------------------------------------- */

/* Each in a session of its own, as a desktop starts its applications. Else the kernel, which shares the processors out by sessions
 * (autogroups), counts what they use against the process that is measured. */
static GPtrArray *
start_hostile(const Bench *bench, const char *mode)
{
    const char *root = g_getenv("QUERYD_SOURCE_ROOT");
    g_autofree char *program = g_build_filename(root != NULL ? root : ".", "tests", "e2e", "hostile_client.py", NULL);
    GPtrArray *processes = g_ptr_array_new_with_free_func(g_object_unref);

    for (guint i = 0; i < N_HOSTILE; i++) {
        g_autoptr(GError) error = NULL;
        GSubprocess *process = g_subprocess_new(
            G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, &error,
            "/usr/bin/setsid", "/usr/bin/python3", program, g_getenv("DBUS_SESSION_BUS_ADDRESS"), CHANNELS_OF_EACH,
            HOSTILE_TIMEOUT_MSEC, mode, NULL);

        if (process == NULL)
            bench_skip(bench, "the hostile client does not start: %s", error->message);
        g_ptr_array_add(processes, process);
    }
    return processes;
}

static void
end_hostile(GPtrArray *processes)
{
    for (guint i = 0; i < processes->len; i++) {
        g_subprocess_force_exit(processes->pdata[i]);
        (void) g_subprocess_wait(processes->pdata[i], NULL, NULL);
    }
    g_ptr_array_unref(processes);
}

/* While they go on. */
static void
measure_end(const Bench *bench, GPid daemon)
{
    struct pollfd end = { .fd = (int) syscall(SYS_pidfd_open, daemon, 0), .events = POLLIN };
    double start_msec = get_now_msec();
    double cpu_msec = 0;

    (void) kill(daemon, SIGTERM);
    do
        cpu_msec = MAX(cpu_msec, get_cpu_msec(daemon)); /* not known any more once it has ended */
    while (poll(&end, 1, END_LOOK_MSEC) == 0 && get_now_msec() < start_msec + END_MAX_MSEC);
    if (end.revents == 0)
        bench_fail(bench, "the daemon does not end within %d ms", END_MAX_MSEC);
    bench_record(bench, "sigterm", "ms", get_now_msec() - start_msec);
    bench_retire_daemon(bench, cpu_msec);
    (void) close(end.fd);
}

typedef struct Siege {
    const Bench *bench;
    GPid daemon;
    QueryConnection *connection;
    AnonSampler *sampler;
    GPtrArray *processes;
} Siege;

/* @mode: (nullable): of hostile_client.py */
static void
siege_begin(Siege *self, const Bench *bench, const char *mode)
{
    g_atomic_int_set(&stop, FALSE); /* it may not be the first round */
    write_config();
    self->bench = bench;
    self->daemon = restart_daemon_anew();
    self->connection = open_connection();
    fill_store(self->connection);
    self->sampler = anon_sampler_start(self->daemon);
    self->processes = start_hostile(bench, mode);
}

/* Then the victims can be joined. */
static void
siege_wait(const Siege *self)
{
    g_usleep(bench_is_smoke(self->bench) ? USEC_SMOKE : USEC);
    g_atomic_int_set(&stop, TRUE);
}

static void
siege_end(Siege *self)
{
    bench_record(self->bench, "memory", "MiB", (double) anon_sampler_stop(self->sampler) / 1024);
    measure_end(self->bench, self->daemon);
    end_hostile(self->processes);
    g_object_unref(self->connection);
}

static void
run_hostile(Bench *bench, gconstpointer argument)
{
    Victim reader = { .bench = bench, .call = look_up, .pause_usec = PAUSE_USEC };
    Victim writer = { .bench = bench, .call = update, .pause_usec = 50 * PAUSE_USEC };
    Victim endless = { .bench = bench, .call = run_until_deadline, .timeout_msec = get_deadline_msec(bench) };
    Siege siege;

    if (bench_is_warm_up(bench)) /* nothing is to be warm */
        return;
    siege_begin(&siege, bench, NULL);
    wait_until_running(siege.connection, bench_is_smoke(bench) ? 1 : HOSTILE_TO_COME);
    victim_start(&reader);
    victim_start(&writer);
    victim_start(&endless);
    siege_wait(&siege);
    victim_record(&reader, "look-up");
    victim_record(&writer, "update");
    victim_record(&endless, "beyond-deadline");
    g_printerr("latest statement of this round: %s, %.0f ms beyond its deadline\n",
               endless_statements[endless.most_call % G_N_ELEMENTS(endless_statements)].name, endless.most_msec);
    siege_end(&siege);
}

/* Prepare executes nothing, so no list shows when they have begun: the first of the twenty seconds has less to wait for. */
static void
run_compiles(Bench *bench, gconstpointer argument)
{
    Victim reader = { .bench = bench, .call = look_up, .pause_usec = PAUSE_USEC };
    Siege siege;

    if (bench_is_warm_up(bench))
        return;
    siege_begin(&siege, bench, "compiles");
    victim_start(&reader);
    siege_wait(&siege);
    victim_record(&reader, "look-up");
    siege_end(&siege);
}

static const BenchCase cases[] = {
    { "beside 64 hostile channels", run_hostile, .n_rounds_max = 3 },
    { "beside 64 threads that compile", run_compiles, .n_rounds_max = 3 },
};

const BenchGroup bench_hostile = {
    .name = "hostile",
    .title = "what others get while two processes keep 64 channels busy with what costs most",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
