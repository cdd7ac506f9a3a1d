/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a thousand subscriptions cost a durable write, and how long after its commit a change reaches the subscriber. With a
 * write now and then, and with writes back to back.
 *
 * All subscriptions read the table that is written: each commit concerns all of them. They live in a thread of their own, as in
 * an application that writes and shows.
 */
#include "tests/bench/bench.h"
#include "tests/bench/figures.h"
#include "tests/bench/machine.h"
#include "tests/demo/store-control.h"

#define TABLE "notify"
#define BUSY_USEC 1000000
#define BUSY_SMOKE_USEC 20000
#define N_WARM 50
#define N_QUIET 20
#define N_QUIET_SMOKE 2
#define QUIET_USEC 60000

typedef struct Signal {
    guint64 generation;
    gint64 usec;
} Signal;

typedef struct Subscriber {
    guint n_subscriptions;
    GThread *thread;
    GMainLoop *loop;
    GAsyncQueue *ready;
    GMutex mutex;
    GArray *signals; /* of Signal: of the first subscription; guarded by mutex */
} Subscriber;

typedef struct Write {
    guint64 generation;
    gint64 usec; /* when it was acknowledged */
} Write;

static void
on_stale(QuerySubscription *subscription, guint64 generation, gpointer user_data)
{
    Subscriber *self = user_data;
    const Signal signal = { generation, g_get_monotonic_time() };

    g_mutex_lock(&self->mutex);
    g_array_append_val(self->signals, signal);
    g_mutex_unlock(&self->mutex);
}

static gpointer
subscriber_main(gpointer data)
{
    Subscriber *self = data;
    g_autoptr(GMainContext) context = g_main_context_new();
    g_autoptr(GPtrArray) subscriptions = g_ptr_array_new_with_free_func(g_object_unref);
    g_autoptr(QueryConnection) connection = NULL;

    g_main_context_push_thread_default(context);
    self->loop = g_main_loop_new(context, FALSE);
    connection = open_connection();
    for (guint i = 0; i < self->n_subscriptions; i++) {
        g_autofree char *text = g_strdup_printf("SELECT * FROM " TABLE " WHERE a = %u", i);
        g_autoptr(GError) error = NULL;
        QuerySubscription *subscription = query_connection_subscribe(connection, QUERY_LANGUAGE_SQL, text, NULL, &error);

        die_on_error(error, "subscribe");
        if (i == 0)
            (void) g_signal_connect(subscription, "stale", G_CALLBACK(on_stale), self);
        g_ptr_array_add(subscriptions, subscription);
    }
    g_async_queue_push(self->ready, self);
    g_main_loop_run(self->loop);
    g_ptr_array_set_size(subscriptions, 0);
    g_clear_object(&connection);
    g_main_context_pop_thread_default(context);
    return NULL;
}

static void
subscriber_start(Subscriber *self, guint n_subscriptions)
{
    *self = (Subscriber){ .n_subscriptions = n_subscriptions };
    self->ready = g_async_queue_new();
    self->signals = g_array_new(FALSE, FALSE, sizeof(Signal));
    g_mutex_init(&self->mutex);
    self->thread = g_thread_new("subscriber", subscriber_main, self);
    (void) g_async_queue_pop(self->ready);
}

static gboolean
subscriber_has(Subscriber *self, guint64 generation)
{
    gboolean has;

    g_mutex_lock(&self->mutex);
    has = self->signals->len > 0 && g_array_index(self->signals, Signal, self->signals->len - 1).generation >= generation;
    g_mutex_unlock(&self->mutex);
    return has;
}

static void
subscriber_stop(Subscriber *self)
{
    g_main_loop_quit(self->loop);
    (void) g_thread_join(self->thread);
    g_main_loop_unref(self->loop);
    g_async_queue_unref(self->ready);
    g_array_unref(self->signals);
    g_mutex_clear(&self->mutex);
}

/* @n writes, or as many as @usec have room for; @pause_usec: from one to the next. Returns: microseconds per write */
static double
write_many(QueryStatement *insert, GArray *writes, guint n, gint64 usec, gulong pause_usec)
{
    gint64 end_usec = g_get_monotonic_time() + usec;
    guint64 nsec = 0;

    while (n > 0 ? writes->len < n : g_get_monotonic_time() < end_usec) {
        g_autoptr(GError) error = NULL;
        guint64 start_nsec = machine_get_now_nsec();
        Write write;

        (void) query_statement_update(insert, NULL, &error);
        die_on_error(error, "insert");
        nsec += machine_get_now_nsec() - start_nsec;
        write = (Write){ query_statement_get_generation(insert), g_get_monotonic_time() };
        g_array_append_val(writes, write);
        if (pause_usec > 0)
            g_usleep(pause_usec);
    }
    return (double) nsec / 1e3 / writes->len;
}

/* From a write's acknowledgement to the first signal that covers it; some come before the acknowledgement: 0. */
static void
record_delays(const Bench *bench, Subscriber *subscriber, const GArray *writes, const char *name)
{
    g_autofree char *p50 = g_strconcat(name, ".p50", NULL);
    g_autofree char *p99 = g_strconcat(name, ".p99", NULL);
    g_auto(Samples) msec = { 0 };
    guint k = 0;

    while (!subscriber_has(subscriber, g_array_index(writes, Write, writes->len - 1).generation))
        g_usleep(1000);
    samples_init(&msec);
    for (guint i = 0; i < writes->len; i++) {
        const Write *write = &g_array_index(writes, Write, i);

        while (g_array_index(subscriber->signals, Signal, k).generation < write->generation)
            k++;
        samples_add(&msec, (double) MAX(g_array_index(subscriber->signals, Signal, k).usec - write->usec, 0) / 1e3);
    }
    bench_record(bench, p50, "ms", samples_get_quantile(&msec, 0.5));
    bench_record(bench, p99, "ms", samples_get_quantile(&msec, 0.99));
}

static void
run_notify(Bench *bench, gconstpointer argument)
{
    guint n_subscriptions = GPOINTER_TO_UINT(argument);
    g_autoptr(QueryConnection) connection = open_connection();
    g_autoptr(GArray) writes = g_array_new(FALSE, FALSE, sizeof(Write));
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryStatement) insert = NULL;
    Subscriber subscriber;

    if (bench_is_warm_up(bench))
        execute(connection, "CREATE TABLE IF NOT EXISTS " TABLE "(a)");
    insert = query_connection_prepare_update(connection, QUERY_LANGUAGE_SQL, "INSERT INTO " TABLE " VALUES(1)", NULL, &error);
    die_on_error(error, "prepare");
    subscriber_start(&subscriber, n_subscriptions);
    (void) write_many(insert, writes, N_WARM, 0, 0);
    g_array_set_size(writes, 0);
    bench_record(bench, "write", "us", write_many(insert, writes, 0, bench_is_smoke(bench) ? BUSY_SMOKE_USEC : BUSY_USEC, 0));
    if (n_subscriptions > 0) {
        record_delays(bench, &subscriber, writes, "busy");
        g_array_set_size(writes, 0);
        g_usleep(QUIET_USEC);
        (void) write_many(insert, writes, bench_is_smoke(bench) ? N_QUIET_SMOKE : N_QUIET, 0, QUIET_USEC);
        record_delays(bench, &subscriber, writes, "quiet");
    }
    subscriber_stop(&subscriber);
}

static const BenchCase cases[] = {
    { "no subscription", run_notify, GUINT_TO_POINTER(0) },
    { "1000 subscriptions", run_notify, GUINT_TO_POINTER(1000) },
};

const BenchGroup bench_notify = {
    .name = "notify",
    .title = "a durable write with and without subscriptions, and how soon they are told",
    .reference = "no subscription",
    .cases = cases,
    .n_cases = G_N_ELEMENTS(cases),
};
