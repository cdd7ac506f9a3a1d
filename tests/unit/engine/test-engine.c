/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine: calls before the store is open, when it cannot be opened, while they run, and at the end; its reports of commits.
 */
#include "daemon/engine/engine.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/name-set.h"
#include "daemon/call/call-classes.h"
#include "daemon/notify/changes.h"
#include "tests/unit/engine/engine-fixture.h"

#define ENDLESS "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
#define ENDLESS_INSERT "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) INSERT INTO t(a) SELECT count(*) FROM c"

static QdCall *
make_sql(const EngineFixture *self, const QdCallClass *class, const char *sql)
{
    QdCall *call = qd_call_new(class, self->client);

    call->format = g_strdup("csv");
    qd_call_add_statement(call, QD_LANGUAGE_SQL, sql, NULL);
    return call;
}

/* Opening --------------------------------------------------------------------------------------------------------------- */

/* What comes before the store is open waits for it, and is answered; none is answered from within its submission. */
static void
test_calls_wait_for_store(EngineFixture *self, gconstpointer data)
{
    QdCall *calls[5];

    engine_fixture_stop(self);
    engine_fixture_begin(self);
    for (guint i = 0; i < G_N_ELEMENTS(calls); i++) {
        calls[i] = make_sql(self, &qd_update_call, "INSERT INTO t(a) VALUES (1)");
        engine_fixture_submit(self, calls[i]);
    }
    g_assert_cmpint(self->engine->state, ==, QD_ENGINE_OPENING);
    g_assert_cmpuint(self->ended->len, ==, 0);
    g_assert_false(qd_engine_is_idle(self->engine));
    for (guint i = 0; i < G_N_ELEMENTS(calls); i++) {
        engine_fixture_await(self, calls[i]);
        g_assert_no_error(calls[i]->result.error);
        qd_call_free(calls[i]);
    }
    engine_fixture_assert_query(self, "SELECT count(*) FROM t", "5\n");
    g_assert_cmpuint(self->engine->context.n_calls, ==, 0);
}

/* A store that is none: each call hears why. When it is there again, the first call after a while finds it. */
static void
test_broken_store(EngineFixture *self, gconstpointer data)
{
    g_autofree char *path = g_build_filename(self->store.dir, "queryd.db", NULL);
    g_autofree char *away = g_strconcat(path, "-away", NULL);

    engine_fixture_stop(self);
    g_assert_cmpint(rename(path, away), ==, 0);
    g_assert_cmpint(mkdir(path, 0700), ==, 0);
    engine_fixture_begin(self);
    while (self->engine->state != QD_ENGINE_BROKEN)
        engine_fixture_iterate(self, 1000);
    for (guint i = 0; i < 2; i++) {
        g_autoptr(QdCall) call = make_sql(self, &qd_query_text_call, "SELECT 1");

        g_assert_false(engine_fixture_run(self, call));
        g_assert_nonnull(strstr(call->result.error->message, "queryd.db"));
    }

    g_assert_cmpint(rmdir(path), ==, 0);
    g_assert_cmpint(rename(away, path), ==, 0);
    self->engine->context.hooks.reopen(self->engine->context.hooks.user_data);
    g_assert_cmpint(self->engine->state, ==, QD_ENGINE_OPENING);
    engine_fixture_assert_query(self, "SELECT count(*) FROM t", "0\n");
    g_assert_cmpint(self->engine->state, ==, QD_ENGINE_OPEN);
}

/* Running --------------------------------------------------------------------------------------------------------------- */

static void
test_deadline(EngineFixture *self, gconstpointer data)
{
    const char *const texts[] = { ENDLESS, ENDLESS_INSERT };

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        QdCall *call = make_sql(self, i == 0 ? &qd_query_text_call : &qd_update_call, texts[i]);

        call->options.execution.has_timeout = TRUE;
        call->options.execution.timeout_msec = 20;
        engine_fixture_fail(self, call, QW_ERROR_TIMEOUT, "its 20 ms");
    }
    engine_fixture_assert_query(self, "SELECT count(*) FROM t", "0\n");
}

typedef struct Found {
    const char *text;
    const char *state;
    uint64_t id;
} Found;

static void
on_query(const QdQueryInfo *info, void *user_data)
{
    Found *found = user_data;

    if (info->text == NULL || !g_str_equal(info->text, found->text))
        return;
    found->id = info->id;
    found->state = info->state;
}

static uint64_t
await_state(EngineFixture *self, const char *text, const char *state)
{
    Found found = { .text = text };

    while (found.state == NULL || !g_str_equal(found.state, state)) {
        qd_engine_foreach_query(self->engine, on_query, &found);
        g_thread_yield();
    }
    return found.id;
}

/* CancelQuery by the number that ListQueries tells; the number is used once. */
static void
test_cancel_query(EngineFixture *self, gconstpointer data)
{
    g_autoptr(QdCall) query = make_sql(self, &qd_query_text_call, ENDLESS);
    g_autoptr(QdCall) update = make_sql(self, &qd_update_call, ENDLESS_INSERT);
    uint64_t id;

    engine_fixture_submit(self, query);
    id = await_state(self, ENDLESS, "running");
    g_assert_true(qd_engine_cancel_query(self->engine, id));
    engine_fixture_await(self, query);
    store_assert_error(query->result.error, QW_ERROR_CANCELLED, "query was cancelled");
    g_assert_false(qd_engine_cancel_query(self->engine, id));

    engine_fixture_submit(self, update);
    id = await_state(self, ENDLESS_INSERT, "writing");
    g_assert_true(qd_engine_cancel_query(self->engine, id));
    engine_fixture_await(self, update);
    store_assert_error(update->result.error, QW_ERROR_CANCELLED, "update was cancelled");
    engine_fixture_assert_query(self, "SELECT count(*) FROM t", "0\n");
}

/* The caller has left the bus. */
static void
test_cancel_call(EngineFixture *self, gconstpointer data)
{
    g_autoptr(QdCall) call = make_sql(self, &qd_query_text_call, ENDLESS);

    engine_fixture_submit(self, call);
    (void) await_state(self, ENDLESS, "running");
    qd_engine_cancel(self->engine, call);
    engine_fixture_await(self, call);
    store_assert_error(call->result.error, QW_ERROR_CANCELLED, "query was cancelled");
}

static void
test_full_queue(EngineFixture *self, gconstpointer data)
{
    self->store.limits.values[QD_LIMIT_RUN_QUEUE] = 0;
    qd_engine_set_limits(self->engine, &self->store.limits);
    engine_fixture_fail(self, make_sql(self, &qd_query_text_call, "SELECT 1"), QW_ERROR_BUSY, "too many requests wait");
    self->store.limits.values[QD_LIMIT_RUN_QUEUE] = 10;
    qd_engine_set_limits(self->engine, &self->store.limits);
    engine_fixture_assert_query(self, "SELECT 1", "1\n");
}

/* Commits --------------------------------------------------------------------------------------------------------------- */

typedef struct Told {
    guint n;
    uint64_t generation;
    char *tables;
} Told;

static void
on_changed(uint64_t generation, const QdChanges *changes, void *user_data)
{
    Told *told = user_data;
    g_autoptr(GPtrArray) tables = qd_name_set_list(changes->tables);

    g_ptr_array_add(tables, NULL);
    told->n++;
    told->generation = generation;
    g_free(told->tables);
    told->tables = g_strjoinv(" ", (char **) tables->pdata);
}

/* One telling for what has been committed until the main thread looked; none while it is held, and nothing is lost by that. */
static void
test_changes(EngineFixture *self, gconstpointer data)
{
    Told told = { 0 };

    self->engine->config.changed = on_changed;
    self->engine->config.user_data = &told;
    engine_fixture_execute(self, "CREATE TABLE u(a)");
    qd_engine_tell_changes(self->engine);
    g_assert_cmpuint(told.n, ==, 1);
    qd_engine_tell_changes(self->engine);
    g_assert_cmpuint(told.n, ==, 1);

    qd_engine_hold_changes(self->engine, TRUE);
    engine_fixture_execute(self, "INSERT INTO u VALUES (1)");
    engine_fixture_execute(self, "INSERT INTO t(a) VALUES (1)");
    engine_fixture_assert_query(self, "SELECT count(*) FROM u", "1\n");
    g_assert_cmpuint(told.n, ==, 1);
    qd_engine_tell_changes(self->engine);
    g_assert_cmpuint(told.n, ==, 2);
    g_assert_cmpstr(told.tables, ==, "t u");
    g_assert_cmpuint(told.generation, ==, qd_engine_get_generation(self->engine));
    qd_engine_hold_changes(self->engine, FALSE);
    self->engine->config.changed = NULL;
    g_free(told.tables);
}

/* The end --------------------------------------------------------------------------------------------------------------- */

/* Every call is answered before the engine is gone: those that run, wait for the writer, and wait for the store. */
static void
test_end_answers_all(EngineFixture *self, gconstpointer data)
{
    QdCall *calls[] = {
        make_sql(self, &qd_query_text_call, ENDLESS),
        make_sql(self, &qd_update_call, ENDLESS_INSERT),
        make_sql(self, &qd_update_call, "INSERT INTO t(a) VALUES (5)"),
    };

    for (guint i = 0; i < G_N_ELEMENTS(calls); i++) {
        engine_fixture_submit(self, calls[i]);
        if (i < 2)
            (void) await_state(self, i == 0 ? ENDLESS : ENDLESS_INSERT, i == 0 ? "running" : "writing");
    }
    g_assert_false(qd_engine_is_idle(self->engine));
    qd_engine_drain(self->engine);
    g_assert_false(qd_engine_is_drained(self->engine));
    engine_fixture_stop(self);
    g_assert_cmpuint(self->ended->len, ==, G_N_ELEMENTS(calls));
    for (guint i = 0; i < G_N_ELEMENTS(calls); i++) {
        g_assert_true(g_ptr_array_remove(self->ended, calls[i]));
        if (i < 2)
            g_assert_error(calls[i]->result.error, QD_ERROR, (gint) QW_ERROR_CANCELLED);
        qd_call_free(calls[i]);
    }
    engine_fixture_start(self);
    engine_fixture_assert_query(self, "SELECT count(*) FROM t WHERE a IS NOT 5", "0\n");
}

/* While the store is being opened. */
static void
test_end_while_opening(EngineFixture *self, gconstpointer data)
{
    QdCall *call = make_sql(self, &qd_query_text_call, "SELECT 1");

    engine_fixture_stop(self);
    engine_fixture_begin(self);
    engine_fixture_submit(self, call);
    engine_fixture_stop(self);
    g_assert_true(g_ptr_array_remove(self->ended, call));
    qd_call_free(call);
    engine_fixture_start(self);
}

int
main(int argc, char **argv)
{
    engine_fixture_init(&argc, &argv);
#define ADD(path, func) \
    g_test_add("/engine/engine/" path, EngineFixture, NULL, engine_fixture_set_up, func, engine_fixture_tear_down)
    ADD("opening/calls-wait", test_calls_wait_for_store);
    ADD("opening/broken", test_broken_store);
    ADD("running/deadline", test_deadline);
    ADD("running/cancel-query", test_cancel_query);
    ADD("running/cancel-call", test_cancel_call);
    ADD("running/full-queue", test_full_queue);
    ADD("changes", test_changes);
    ADD("end/answers-all", test_end_answers_all);
    ADD("end/while-opening", test_end_while_opening);
    return g_test_run();
}
