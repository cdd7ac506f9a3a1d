/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks that are cancelled are no result; to warm the store reads all of it.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/job/job-classes.h"
#include "tests/unit/engine/engine-fixture.h"

#define N_BYTES 20000000

static void
fill(EngineFixture *self)
{
    engine_fixture_execute(self, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20000) "
                                 "INSERT INTO t SELECT i, zeroblob(1000) FROM n");
}

static void
test_check_cancelled(EngineFixture *self, gconstpointer data)
{
    fill(self);
    for (guint quick = 0; quick < 2; quick++) {
        g_autoptr(QdCall) call = qd_call_new(&qd_check_call, self->client);

        call->options.quick = quick == 1;
        g_atomic_int_set(&call->cancelled, TRUE); /* by qd_engine_cancel(), as soon as it runs */
        g_assert_false(engine_fixture_run(self, call));
        store_assert_error(call->result.error, QW_ERROR_CANCELLED, "");
        g_assert_false(call->result.ok);
        g_assert_cmpuint(call->result.messages->len, ==, 0);
    }
    g_assert_cmpstr(qd_engine_get_health(self->engine), !=, "damaged");
}

/* What this process has read so far, from files or from memory. */
static guint64
get_n_read(void)
{
    g_autofree char *text = NULL;
    guint64 n_read = 0;

    g_assert_true(g_file_get_contents("/proc/self/io", &text, NULL, NULL));
    g_assert_cmpint(sscanf(text, "rchar: %" G_GUINT64_FORMAT, &n_read), ==, 1);
    return n_read;
}

static void
test_warm(EngineFixture *self, gconstpointer data)
{
    g_autoptr(QdCall) flushed = qd_call_new(&qd_optimize_call, self->client);
    g_autoptr(QdCall) call = qd_call_new(&qd_optimize_call, self->client);
    guint64 n_before;

    fill(self);
    g_assert_true(engine_fixture_run(self, flushed)); /* from the log into the database */
    call->options.warm = TRUE;
    n_before = get_n_read();
    (void) engine_fixture_run(self, call);
    g_assert_no_error(call->result.error);
    g_assert_cmpuint(get_n_read() - n_before, >=, N_BYTES);
}

static void
test_warm_cancelled(EngineFixture *self, gconstpointer data)
{
    QdCall *call = qd_call_new(&qd_optimize_call, self->client);

    call->options.warm = TRUE;
    g_atomic_int_set(&call->cancelled, TRUE);
    engine_fixture_fail(self, call, QW_ERROR_CANCELLED, "job was cancelled");
}

int
main(int argc, char **argv)
{
    engine_fixture_init(&argc, &argv);
#define ADD(path, func) \
    g_test_add("/job/job-maintain/" path, EngineFixture, NULL, engine_fixture_set_up, func, engine_fixture_tear_down)
    ADD("check-cancelled", test_check_cancelled);
    ADD("warm", test_warm);
    ADD("warm-cancelled", test_warm_cancelled);
    return g_test_run();
}
