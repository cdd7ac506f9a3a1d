/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls on their way: waiting for the store and for a slot, deadlines, cancelling, being put off, and the end.
 */
#include "tests/unit/engine/engine-fixture.h"

#include <string.h>

#include "daemon/call/call-classes.h"

/* Waiting --------------------------------------------------------------------------------------------------------------- */

static QdCall *
make_query(EngineFixture *self, const char *sql, uint32_t timeout_msec)
{
    QdCall *call = qd_call_new(&qd_query_text_call, self->client);

    call->format = g_strdup("csv");
    call->options.has_timeout = timeout_msec > 0;
    call->options.timeout_msec = timeout_msec;
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
    g_assert_no_error(call->error);
    g_assert_cmpstr(call->text->str, ==, "a\n1\n");
    qd_call_free(call);
}

int
main(int argc, char **argv)
{
    engine_fixture_init(&argc, &argv);
#define ADD(path, func) g_test_add("/call/call/" path, EngineFixture, NULL, engine_fixture_set_up, func, engine_fixture_tear_down)
    ADD("wait/opening-costs-nothing", test_opening_costs_nothing);
    return g_test_run();
}
