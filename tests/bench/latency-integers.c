/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The founding reports' second measurement: a method that gives n integers, by two buses and by none, and what its time consists
 * of.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/dbus-broker.h"
#include "tests/bench/latency.h"
#include "tests/bench/machine.h"
#include "tests/bench/reference-sd-bus.h"
#include "tests/demo/helper.h"
#include "tests/demo/store-control.h"

#define N_INTEGERS_MAX 4096u
#define N_INTEGERS_FACTOR 4u
#define N_CALLS 400
#define N_CALLS_SMOKE 20
/* Header, signature and names of such a message, about. */
#define MESSAGE_HEAD_BYTES 96

typedef struct IntegersRun {
    Bench *bench;
    sd_bus *bus;
    const char *destination;
    GPtrArray *broker; /* helper */
} IntegersRun;

static void
check(const Bench *bench, int r, const char *what)
{
    if (r < 0)
        bench_fail(bench, "%s: %s", what, g_strerror(-r));
}

static guint64
sum_integers(sd_bus_message *reply)
{
    guint64 sum = 0;
    gint32 number;

    (void) sd_bus_message_enter_container(reply, 'a', "i");
    while (sd_bus_message_read_basic(reply, 'i', &number) > 0)
        sum += (guint64) number;
    return sum;
}

static void
call_get_integer(IntegersRun *run, guint n)
{
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    int r = sd_bus_call_method(run->bus, run->destination, REFERENCE_PATH, REFERENCE_INTERFACE, "GetInteger", &error, &reply, "u",
                               n);

    check(run->bench, r, "GetInteger");
    if (sum_integers(reply) != (guint64) n * (n - 1) / 2)
        bench_fail(run->bench, "the integers are not those that were sent");
    sd_bus_message_unref(reply);
}

static void
measure_calls(IntegersRun *run, const char *prefix)
{
    guint n_calls = bench_is_smoke(run->bench) ? N_CALLS_SMOKE : N_CALLS;

    for (guint n = 1; n <= N_INTEGERS_MAX; n *= N_INTEGERS_FACTOR) {
        g_autofree char *metric = g_strdup_printf("%s.p50", prefix);
        g_auto(Samples) usec = { 0 };

        samples_init(&usec);
        for (guint i = 0; i < n_calls; i++) {
            guint64 start_nsec = machine_get_now_nsec();

            call_get_integer(run, n);
            samples_add(&usec, (double) (machine_get_now_nsec() - start_nsec) / 1e3);
        }
        bench_record_at(run->bench, metric, n, "us", samples_get_quantile(&usec, 0.5));
        if (n == 1)
            latency_record(run->bench, prefix, &usec);
    }
}

static void
open_route(IntegersRun *run, LatencyRoute route, const char *path)
{
    g_autofree char *address = NULL;
    GPid pid;

    if (route == LATENCY_ROUTE_PEER) {
        run->bus = reference_sd_bus_start_peer(run->bench, path, &pid);
        return;
    }
    if (route == LATENCY_ROUTE_DBUS_BROKER) {
        run->broker = dbus_broker_start(&address);
        if (run->broker == NULL)
            bench_skip(run->bench, "there is no dbus-broker (QUERYD_DBUS_BROKER may name one)");
    }
    (void) reference_sd_bus_start(path, address, &pid);
    if (address != NULL)
        g_setenv("DBUS_SESSION_BUS_ADDRESS", address, TRUE);
    check(run->bench, sd_bus_open_user(&run->bus), "bus");
    run->destination = REFERENCE_SD_BUS_NAME;
}

void
latency_run_integers(Bench *bench, gconstpointer argument)
{
    g_autofree char *path = get_database_path();
    IntegersRun run = { .bench = bench };

    if (machine_get_n_cpus() < 2)
        bench_skip(bench, "there is only one processor");
    machine_pin(0, LATENCY_SERVER_CPU);
    machine_pin(bench->bus, LATENCY_SERVER_CPU);
    open_route(&run, (LatencyRoute) GPOINTER_TO_INT(argument), path);
    measure_calls(&run, "same");
    machine_pin(0, LATENCY_CLIENT_CPU);
    measure_calls(&run, "cross");
    if (run.broker != NULL)
        helpers_stop(run.broker);
}

/* What a call consists of ------------------------------------------------------------------------------------------------ */

typedef struct Parts {
    Bench *bench;
    sd_bus *bus;    /* to make messages with */
    int loop[2];    /* both ends here: no wake-up */
    int remote;     /* a process at the other end echoes as many bytes as were requested */
    guint8 *buffer; /* of a message's size */
    GBytes *blob;   /* a message as it is on the wire */
} Parts;

/* A message with n integers, written and read back. */
static void
marshal(Parts *self, guint n)
{
    sd_bus_message *message = NULL;

    check(self->bench, sd_bus_message_new_signal(self->bus, &message, REFERENCE_PATH, REFERENCE_INTERFACE, "GetInteger"),
          "message");
    check(self->bench, reference_sd_bus_append_integers(message, n), "message");
    check(self->bench, sd_bus_message_seal(message, 1, 0), "message");
    check(self->bench, sd_bus_message_rewind(message, 1), "message");
    (void) sum_integers(message);
    sd_bus_message_unref(message);
}

static void
make_blob(Parts *self, guint n)
{
    g_autoptr(GDBusMessage) message = g_dbus_message_new_signal(REFERENCE_PATH, REFERENCE_INTERFACE, "GetInteger");
    g_autoptr(GError) error = NULL;
    g_autofree gint32 *numbers = g_new0(gint32, n);
    gsize n_bytes = 0;
    guchar *data;

    g_dbus_message_set_body(message,
                            g_variant_new("(@ai)", g_variant_new_fixed_array(G_VARIANT_TYPE_INT32, numbers, n, sizeof *numbers)));
    data = g_dbus_message_to_blob(message, &n_bytes, G_DBUS_CAPABILITY_FLAGS_NONE, &error);
    die_on_error(error, "message");
    g_clear_pointer(&self->blob, g_bytes_unref);
    self->blob = g_bytes_new_take(data, n_bytes);
}

/* What every receiver, and the bus between, does with the bytes of a message before it believes them. */
static void
validate(Parts *self, guint n)
{
    g_autoptr(GError) error = NULL;
    gsize n_bytes;
    const void *data = g_bytes_get_data(self->blob, &n_bytes);
    g_autoptr(GDBusMessage) message = g_dbus_message_new_from_blob((guchar *) data, n_bytes, G_DBUS_CAPABILITY_FLAGS_NONE, &error);

    die_on_error(error, "message");
}

static void
read_fully(Parts *self, int fd, gsize n_bytes)
{
    while (n_bytes > 0) {
        gssize n = read(fd, self->buffer, n_bytes);

        if (n <= 0)
            bench_fail(self->bench, "the other end has gone");
        n_bytes -= (gsize) n;
    }
}

static void
write_fully(Parts *self, int fd, gsize n_bytes)
{
    if (write(fd, self->buffer, n_bytes) != (gssize) n_bytes)
        bench_fail(self->bench, "write: %s", g_strerror(errno));
}

/* The system calls and copies of a call and its answer, by one process, which never waits. */
static void
transport(Parts *self, guint n)
{
    gsize n_bytes = MESSAGE_HEAD_BYTES + 4 * (gsize) n;

    write_fully(self, self->loop[0], MESSAGE_HEAD_BYTES);
    read_fully(self, self->loop[1], MESSAGE_HEAD_BYTES);
    write_fully(self, self->loop[1], n_bytes);
    read_fully(self, self->loop[0], n_bytes);
}

/* The same with a process at the other end, which has to be woken, and then this one. */
static void
transport_with_wake_up(Parts *self, guint n)
{
    guint32 n_bytes = MESSAGE_HEAD_BYTES + 4 * n;

    memcpy(self->buffer, &n_bytes, sizeof n_bytes);
    write_fully(self, self->remote, MESSAGE_HEAD_BYTES);
    read_fully(self, self->remote, n_bytes);
}

static void
start_remote(Parts *self)
{
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, self->loop) != 0)
        bench_fail(self->bench, "socketpair: %s", g_strerror(errno));
    if (fork() == 0) {
        guint32 n_bytes;

        (void) close(fds[0]);
        while (read(fds[1], self->buffer, MESSAGE_HEAD_BYTES) == MESSAGE_HEAD_BYTES) {
            memcpy(&n_bytes, self->buffer, sizeof n_bytes);
            if (write(fds[1], self->buffer, n_bytes) != (gssize) n_bytes)
                break;
        }
        _exit(0);
    }
    (void) close(fds[1]);
    self->remote = fds[0];
}

static double
measure_part(Parts *self, void (*part)(Parts *self, guint n), guint n)
{
    guint n_calls = bench_is_smoke(self->bench) ? N_CALLS_SMOKE : N_CALLS;
    g_auto(Samples) usec = { 0 };

    samples_init(&usec);
    for (guint i = 0; i < n_calls; i++) {
        guint64 start_nsec = machine_get_now_nsec();

        part(self, n);
        samples_add(&usec, (double) (machine_get_now_nsec() - start_nsec) / 1e3);
    }
    return samples_get_quantile(&usec, 0.5);
}

void
latency_run_parts(Bench *bench, gconstpointer argument)
{
    g_autofree char *path = get_database_path();
    g_autofree guint8 *buffer = g_malloc0(MESSAGE_HEAD_BYTES + 4 * (gsize) N_INTEGERS_MAX);
    Parts self = { .bench = bench, .buffer = buffer };
    GPid pid;

    if (machine_get_n_cpus() < 2)
        bench_skip(bench, "there is only one processor");
    machine_pin(0, LATENCY_SERVER_CPU);
    self.bus = reference_sd_bus_start_peer(bench, path, &pid);
    start_remote(&self);
    machine_pin(0, LATENCY_CLIENT_CPU);
    for (guint n = 1; n <= N_INTEGERS_MAX; n *= N_INTEGERS_FACTOR) {
        double transport_usec = measure_part(&self, transport, n);

        make_blob(&self, n);
        bench_record_at(bench, "marshalling", n, "us", measure_part(&self, marshal, n));
        bench_record_at(bench, "validation", n, "us", measure_part(&self, validate, n));
        bench_record_at(bench, "transport", n, "us", transport_usec);
        bench_record_at(bench, "wake-up", n, "us", measure_part(&self, transport_with_wake_up, n) - transport_usec);
    }
    g_bytes_unref(self.blob);
}
