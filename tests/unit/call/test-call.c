/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls on their way: waiting for the store and for a slot, deadlines, cancelling, being put off, and the end.
 */
#include "tests/unit/channel/channel-fixture.h"

#include <string.h>

#include "daemon/call/call-classes.h"
#include "daemon/call/call-private.h"
#include "daemon/runtime/workers.h"

/* Waiting --------------------------------------------------------------------------------------------------------------- */

static QdCall *
make_query(EngineFixture *self, const char *sql, uint32_t timeout_msec)
{
    QdCall *call = qd_call_new(&qd_query_text_call, self->client);

    call->format = g_strdup("csv");
    call->options.execution.has_timeout = timeout_msec > 0;
    call->options.execution.timeout_msec = timeout_msec;
    qd_call_add_statement(call, QD_LANGUAGE_SQL, sql, NULL);
    return call;
}

/* While the store is opened no clock runs: how long that takes is not the caller's fault. */
static void
test_opening_costs_nothing(EngineFixture *self, gconstpointer data)
{
    QdCall *call;

    engine_fixture_stop(self);
    engine_fixture_begin(self);
    g_assert_cmpint(self->engine->state, ==, QD_ENGINE_OPENING);

    call = make_query(self, "SELECT 1 AS a", 600000);
    engine_fixture_submit(self, call);
    g_assert_cmpuint(call->private->task.queued_usec, ==, 0);
    g_assert_cmpuint(call->private->task.due_usec, ==, 0);
    engine_fixture_await(self, call);
    g_assert_no_error(call->result.error);
    g_assert_cmpstr(call->result.text->str, ==, "a\n1\n");
    qd_call_free(call);
}

/* Its deadline has passed since the caller was asked, unless that is no time at which it can have been. */
static void
test_under_way(ChannelFixture *self, gconstpointer data)
{
    static const uint64_t SECOND = G_USEC_PER_SEC;
    const struct {
        uint64_t requested_usec;
        uint64_t way_usec;
    } cases[] = {
        { 998 * SECOND, 2 * SECOND },
        { 940 * SECOND, 60 * SECOND },
        { 1000 * SECOND, 0 },
        { 0, 0 },
        { 940 * SECOND - 1, 0 },
        { 1000 * SECOND + 1, 0 },
        { 1, 0 },
        { UINT64_MAX, 0 },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(QdCall) call = make_query(&self->engine, "SELECT 1 AS a", 600000);
        uint64_t now = (uint64_t) g_get_monotonic_time();

        call->private->context = &self->engine.engine->context;
        call->private->received_usec = 1000 * SECOND;
        call->options.channel.requested_usec = cases[i].requested_usec;
        qd_call_init_task(call);
        qd_call_begin_wait(call);
        g_assert_cmpuint(call->private->begun_usec + cases[i].way_usec, >=, now);
        g_assert_cmpuint(call->private->begun_usec + cases[i].way_usec, <=, (uint64_t) g_get_monotonic_time());
        g_assert_cmpuint(call->private->task.due_usec, ==, call->private->begun_usec + 1000 * call->private->task.timeout_msec);
    }
}

/* Turns, with all threads held --------------------------------------------------------------------------------------------- */

/* Longer than a short query, before its only row. */
#define COUNT "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 3000000) SELECT count(*) AS n FROM c"
#define MANY 1000

static QdCall *
submit(ChannelFixture *self, const char *sql, uint32_t timeout_msec)
{
    QdCall *call = make_query(&self->engine, sql, timeout_msec);

    engine_fixture_submit(&self->engine, call);
    return call;
}

static void
finish(ChannelFixture *self, QdCall *call)
{
    engine_fixture_await(&self->engine, call);
    qd_call_free(call);
}

/* In the order in which they came, each when there is a slot. */
static void
test_turns(ChannelFixture *self, gconstpointer data)
{
    QdCall *calls[3];

    channel_fixture_use_up_slots(self);
    for (guint i = 0; i < G_N_ELEMENTS(calls); i++)
        calls[i] = submit(self, "SELECT 1 AS a", 0);
    g_assert_false(channel_fixture_serve_task(self));
    channel_fixture_give_slots(self);
    for (guint i = 0; i < G_N_ELEMENTS(calls); i++) {
        g_assert_true(channel_fixture_serve_task(self));
        engine_fixture_iterate(&self->engine, 1000);
        g_assert_cmpuint(self->engine.ended->len, ==, 1);
        g_assert_no_error(calls[i]->result.error);
        finish(self, calls[i]);
    }
}

/* Its time comes in the queue: it ends without a slot, and others wait on. */
static void
test_late(ChannelFixture *self, gconstpointer data)
{
    QdCall *late;
    QdCall *other;

    channel_fixture_use_up_slots(self);
    other = submit(self, "SELECT 1 AS a", 600000);
    late = submit(self, "SELECT 1 AS a", 1);
    while ((uint64_t) g_get_monotonic_time() < late->private->task.due_usec)
        ;
    qd_workers_look(self->workers, 0);
    g_assert_true(channel_fixture_serve_task(self));
    g_assert_false(channel_fixture_serve_task(self));
    engine_fixture_await(&self->engine, late);
    store_assert_error(late->result.error, QW_ERROR_TIMEOUT, "request waited for a free thread until its 1 ms were over");
    qd_call_free(late);
    channel_fixture_give_slots(self);
    g_assert_true(channel_fixture_serve_task(self));
    finish(self, other);
}

/* The limit of long calls is reached: a call without rows goes back and waits for a long slot; the time spent counts. */
static void
test_put_off(ChannelFixture *self, gconstpointer data)
{
    QdCall *call;

    g_assert_true(qd_client_charge_many(self->engine.client, QD_CHARGE_LONG, MANY, G_MAXINT32));
    call = submit(self, COUNT, 600000);
    g_assert_true(channel_fixture_serve_task(self));
    g_assert_true(call->private->task.sliced);
    g_assert_cmpuint(call->private->task.queued_usec, >, call->private->begun_usec + 3000);
    g_assert_cmpuint(call->private->task.due_usec, ==, call->private->begun_usec + 1000 * call->private->task.timeout_msec);
    g_assert_false(channel_fixture_serve_task(self));
    g_assert_cmpuint(qd_workers_get_n_running(self->workers), ==, 0);

    qd_client_discharge_many(self->engine.client, QD_CHARGE_LONG, MANY);
    g_assert_true(channel_fixture_serve_task(self));
    engine_fixture_await(&self->engine, call);
    g_assert_no_error(call->result.error);
    g_assert_cmpstr(call->result.text->str, ==, "n\n3000000\n");
    qd_call_free(call);
}

/* Cancelled while it waits, it is not run when its turn comes. */
static void
test_cancelled_in_queue(ChannelFixture *self, gconstpointer data)
{
    QdCall *call;

    channel_fixture_use_up_slots(self);
    call = submit(self, COUNT, 0);
    qd_engine_cancel(self->engine.engine, call);
    channel_fixture_give_slots(self);
    g_assert_true(channel_fixture_serve_task(self));
    engine_fixture_await(&self->engine, call);
    store_assert_error(call->result.error, QW_ERROR_CANCELLED, "query was cancelled");
    qd_call_free(call);
}

/* A failure is the call's own: its slot comes back, and the next one runs. */
static void
test_failure_gives_slot_back(ChannelFixture *self, gconstpointer data)
{
    QdCall *bad = submit(self, "SELECT nosuch", 0);
    QdCall *good = submit(self, "SELECT 1 AS a", 0);

    channel_fixture_settle(self);
    g_assert_cmpuint(qd_workers_get_n_running(self->workers), ==, 0);
    engine_fixture_await(&self->engine, bad);
    store_assert_error(bad->result.error, QW_ERROR_SYNTAX, "no such column: nosuch");
    qd_call_free(bad);
    engine_fixture_await(&self->engine, good);
    g_assert_no_error(good->result.error);
    qd_call_free(good);
}

int
main(int argc, char **argv)
{
    engine_fixture_init(&argc, &argv);
#define ADD(path, func) g_test_add("/call/call/" path, EngineFixture, NULL, engine_fixture_set_up, func, engine_fixture_tear_down)
    ADD("wait/opening-costs-nothing", test_opening_costs_nothing);
#define ADD_TURNS(path, func) \
    g_test_add("/call/call/turns/" path, ChannelFixture, NULL, channel_fixture_set_up, func, channel_fixture_tear_down)
    ADD_TURNS("under-way", test_under_way);
    ADD_TURNS("order", test_turns);
    ADD_TURNS("late", test_late);
    ADD_TURNS("put-off", test_put_off);
    ADD_TURNS("cancelled-in-queue", test_cancelled_in_queue);
    ADD_TURNS("failure", test_failure_gives_slot_back);
    return g_test_run();
}
