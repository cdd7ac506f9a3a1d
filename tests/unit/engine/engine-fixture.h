/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A real engine with a store of its own; the test's thread is its main thread.
 *
 * Place: tests of the rooms call, job and engine, for what runs as a call.
 */
#pragma once

#include "daemon/call/call.h"
#include "daemon/engine/engine-private.h"
#include "tests/unit/store/store-fixture.h"

typedef struct EngineFixture {
    StoreFixture store; /* closed; @limits count from engine_fixture_start() on */
    QdMailbox *mailbox;
    QdEngine *engine;
    QdClient *client;
    GPtrArray *ended; /* of QdCall: calls that were not waited for yet */
} EngineFixture;

/* With table t(a, b), empty. For g_test_add(). The program has called engine_fixture_init() before. */
void engine_fixture_set_up(EngineFixture *self, gconstpointer data);
void engine_fixture_tear_down(EngineFixture *self, gconstpointer data);
void engine_fixture_init(int *argc, char ***argv);

/* The store is open afterwards; or it is still being opened, which ends in engine_fixture_iterate(). */
void engine_fixture_start(EngineFixture *self);
void engine_fixture_begin(EngineFixture *self);
/* Calls that run have ended then, with an error, and are in @ended. */
void engine_fixture_stop(EngineFixture *self);
/* Both: another engine on the same store, such as one with other limits. */
void engine_fixture_restart(EngineFixture *self);

/* One round of the main loop, of at most @timeout_msec. */
void engine_fixture_iterate(EngineFixture *self, int timeout_msec);
void engine_fixture_submit(EngineFixture *self, QdCall *call);
/* Until @call, which is the caller's again, has ended. */
void engine_fixture_await(EngineFixture *self, QdCall *call);
/* Both of them. Returns: whether it has succeeded */
gboolean engine_fixture_run(EngineFixture *self, QdCall *call);
/* Both of them, for a call that must fail so, and free it. */
void engine_fixture_fail(EngineFixture *self, QdCall *call, QwError code, const char *words);

/* (transfer full): a call with a memory file that holds @text, at its start. */
QdCall *engine_fixture_make_call(const EngineFixture *self, const QdCallClass *class, const char *format, const char *text);
/* An SQL update, which must succeed. */
void engine_fixture_execute(EngineFixture *self, const char *sql);
/* (transfer full): the result of an SQL query as CSV without its header. */
char *engine_fixture_query(EngineFixture *self, const char *sql);
void engine_fixture_assert_query(EngineFixture *self, const char *sql, const char *expected);

/* @client becomes that of a sandboxed application, which may read everything and write nothing. */
void engine_fixture_sandbox(QdClient *client);
