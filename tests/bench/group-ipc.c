/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The founding reports' suite of ways between two processes. A request and an answer of 1 KiB each, with and without a
 * millisecond of work in the server. One at a time and up to sixteen under way; on one processor and across two.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/ipc.h"
#include "tests/bench/machine.h"
#include "tests/demo/measure.h"

#define SERVER_CPU 1
#define CLIENT_CPU 0
#define WORK_NSEC 1000000
#define N_CALLS 6000
#define N_CALLS_WORK 150
#define N_CALLS_SMOKE 20
#define N_WARM 100
#define LAST_SEQUENCE G_MAXUINT64

typedef struct IpcCase {
    const IpcWay *way;
    guint64 work_nsec;
    guint depth;
} IpcCase;

static void
work(guint64 nsec)
{
    guint64 end_nsec = machine_get_now_nsec() + nsec;

    while (machine_get_now_nsec() < end_nsec)
        ;
}

/* Every byte of the answer depends on the request: a message that was not copied whole is found. */
static void
answer(IpcMessage *message)
{
    for (gsize i = 0; i < sizeof message->payload; i++)
        message->payload[i] ^= 0xff;
}

static G_GNUC_NORETURN void
serve(IpcEnd *end, guint64 work_nsec)
{
    IpcMessage message;

    end->side = IPC_SERVER;
    if (end->way->enter != NULL)
        end->way->enter(end);
    for (;;) {
        end->way->receive(end, &message);
        if (message.sequence == LAST_SEQUENCE)
            _exit(0);
        if (work_nsec > 0)
            work(work_nsec);
        answer(&message);
        end->way->send(end, &message);
    }
}

static void
send_request(IpcEnd *end, guint64 sequence, double *sent_usec)
{
    IpcMessage message = { .sequence = sequence };

    memset(message.payload, (int) (sequence & 0x7f), sizeof message.payload);
    sent_usec[sequence % IPC_DEPTH_MAX] = (double) machine_get_now_nsec() / 1e3;
    end->way->send(end, &message);
}

static void
receive_answer(IpcEnd *end, guint64 sequence)
{
    const guint8 expected = (guint8) ((sequence & 0x7f) ^ 0xff);
    IpcMessage message;

    end->way->receive(end, &message);
    if (message.sequence != sequence || message.payload[0] != expected || message.payload[sizeof message.payload - 1] != expected)
        bench_fail(end->bench, "answer %" G_GUINT64_FORMAT " is not that of the request", message.sequence);
}

static void
exchange(IpcEnd *end, guint64 n_calls, guint depth, Samples *usec)
{
    double sent_usec[IPC_DEPTH_MAX];
    guint64 n_sent = 0;

    for (guint64 i = 0; i < n_calls; i++) {
        while (n_sent < n_calls && n_sent < i + depth)
            send_request(end, n_sent++, sent_usec);
        receive_answer(end, i);
        samples_add(usec, (double) machine_get_now_nsec() / 1e3 - sent_usec[i % IPC_DEPTH_MAX]);
    }
}

static void
record(const Bench *bench, const char *prefix, const char *metric, const char *unit, double value)
{
    g_autofree char *full = g_strdup_printf("%s.%s", prefix, metric);

    bench_record(bench, full, unit, value);
}

static void
measure(IpcEnd *end, GPid server, const IpcCase *one, const char *prefix)
{
    guint n_calls = bench_is_smoke(end->bench) ? N_CALLS_SMOKE : one->work_nsec > 0 ? N_CALLS_WORK : N_CALLS;
    g_auto(Samples) warm = { 0 };
    g_auto(Samples) usec = { 0 };
    double cpu_msec;
    double msec;

    samples_init(&warm);
    samples_init(&usec);
    exchange(end, one->work_nsec > 0 ? one->depth : N_WARM, one->depth, &warm);
    cpu_msec = get_cpu_msec(getpid()) + get_cpu_msec(server);
    msec = get_now_msec();
    exchange(end, n_calls, one->depth, &usec);
    msec = get_now_msec() - msec;
    cpu_msec = get_cpu_msec(getpid()) + get_cpu_msec(server) - cpu_msec;
    record(end->bench, prefix, "operations", "1/s", n_calls * 1000 / msec);
    record(end->bench, prefix, "throughput", "MB/s", n_calls * 2.0 * IPC_MESSAGE_BYTES / msec / 1e3);
    record(end->bench, prefix, "cpu", "us", cpu_msec * 1000 / n_calls);
    record(end->bench, prefix, "mean", "us", samples_get_mean(&usec));
    record(end->bench, prefix, "p99", "us", samples_get_quantile(&usec, 0.99));
}

static GPid
start_server(IpcEnd *end, guint64 work_nsec)
{
    GPid pid;

    end->way->open(end);
    pid = fork();
    if (pid < 0)
        bench_fail(end->bench, "fork: %s", g_strerror(errno));
    if (pid == 0)
        serve(end, work_nsec);
    end->side = IPC_CLIENT;
    if (end->way->enter != NULL)
        end->way->enter(end);
    return pid;
}

static void
run_ipc(Bench *bench, gconstpointer argument)
{
    const IpcCase *one = argument;
    IpcEnd end = { .way = one->way, .bench = bench };
    GPid server;

    if (machine_get_n_cpus() < 2)
        bench_skip(bench, "there is only one processor");
    machine_pin(0, SERVER_CPU);
    server = start_server(&end, one->work_nsec);
    measure(&end, server, one, "same");
    machine_pin(0, CLIENT_CPU);
    measure(&end, server, one, "cross");
    end.way->send(&end, &(IpcMessage){ .sequence = LAST_SEQUENCE });
    (void) waitpid(server, NULL, 0);
}

#define CALLS(way)                               \
    .run = run_ipc, .argument = &(const IpcCase) \
    {                                            \
        &way, 0, 1                               \
    }
#define WORK(way) .run = run_ipc, .argument = &(const IpcCase){ &way, WORK_NSEC, 1 }, .reference = "socket, blocking, 1 ms of work"
#define MANY(way) \
    .run = run_ipc, .argument = &(const IpcCase){ &way, 0, IPC_DEPTH_MAX }, .reference = "socket, blocking, 16 under way"

static const BenchCase cases[] = {
    { "socket, blocking", CALLS(ipc_socket_blocking) },
    { "socket, epoll", CALLS(ipc_socket_polling) },
    { "shared memory, condition", CALLS(ipc_shared_condition) },
    { "shared memory, eventfd", CALLS(ipc_shared_polling) },
    { "lock-free ring, futex", CALLS(ipc_lock_free_futex) },
    { "lock-free ring, io_uring", CALLS(ipc_lock_free_uring) },
    { "lock-free ring, eventfd", CALLS(ipc_lock_free_polling) },
    { "socket, blocking, 1 ms of work", WORK(ipc_socket_blocking) },
    { "socket, epoll, 1 ms of work", WORK(ipc_socket_polling) },
    { "shared memory, condition, 1 ms of work", WORK(ipc_shared_condition) },
    { "shared memory, eventfd, 1 ms of work", WORK(ipc_shared_polling) },
    { "lock-free ring, futex, 1 ms of work", WORK(ipc_lock_free_futex) },
    { "lock-free ring, io_uring, 1 ms of work", WORK(ipc_lock_free_uring) },
    { "lock-free ring, eventfd, 1 ms of work", WORK(ipc_lock_free_polling) },
    { "socket, blocking, 16 under way", MANY(ipc_socket_blocking) },
    { "socket, epoll, 16 under way", MANY(ipc_socket_polling) },
    { "shared memory, condition, 16 under way", MANY(ipc_shared_condition) },
    { "shared memory, eventfd, 16 under way", MANY(ipc_shared_polling) },
    { "lock-free ring, futex, 16 under way", MANY(ipc_lock_free_futex) },
    { "lock-free ring, io_uring, 16 under way", MANY(ipc_lock_free_uring) },
    { "lock-free ring, eventfd, 16 under way", MANY(ipc_lock_free_polling) },
};

const BenchGroup bench_ipc = {
    .name = "ipc",
    .title = "requests and answers of 1 KiB between two processes",
    .reference = "socket, blocking",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
