/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * poll() on the mailbox is the main loop.
 */
#include "tests/unit/engine/engine-fixture.h"

#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/access.h"
#include "daemon/base/fd.h"
#include "daemon/call/call-classes.h"
#include "daemon/sqlite/memory.h"
#include "daemon/sqlite/vfs/index-locks.h"

#define DEADLINE_USEC (60 * G_USEC_PER_SEC)

void
engine_fixture_init(int *argc, char ***argv)
{
    g_autoptr(GError) error = NULL;

    g_test_init(argc, argv, NULL);
    g_assert_true(qd_memory_init(&error)); /* before SQLite is used */
    g_assert_true(qd_index_locks_init(&error));
}

static void
on_activity(void *user_data)
{
}

void
engine_fixture_begin(EngineFixture *self)
{
    const QdEngineConfig config = { .directory = self->store.dir, .limits = self->store.limits, .activity = on_activity };
    g_autoptr(GError) error = NULL;

    self->mailbox = qd_mailbox_new(&error);
    g_assert_no_error(error);
    self->engine = qd_engine_new(&config, self->mailbox, &error);
    g_assert_no_error(error);
    self->client = qd_client_new("test");
}

void
engine_fixture_start(EngineFixture *self)
{
    gint64 deadline = g_get_monotonic_time() + DEADLINE_USEC;

    engine_fixture_begin(self);
    while (self->engine->state != QD_ENGINE_OPEN && g_get_monotonic_time() < deadline)
        engine_fixture_iterate(self, 100);
    g_assert_cmpint(self->engine->state, ==, QD_ENGINE_OPEN);
}

void
engine_fixture_stop(EngineFixture *self)
{
    g_clear_pointer(&self->client, qd_client_unref);
    self->engine = qd_engine_free(self->engine);
    g_clear_pointer(&self->mailbox, qd_mailbox_free);
}

void
engine_fixture_restart(EngineFixture *self)
{
    engine_fixture_stop(self);
    engine_fixture_start(self);
}

void
engine_fixture_set_up(EngineFixture *self, gconstpointer data)
{
    store_fixture_set_up(&self->store, NULL);
    store_execute(self->store.writer, "CREATE TABLE t(a, b)");
    store_fixture_close(&self->store);
    self->ended = g_ptr_array_new();
    engine_fixture_start(self);
}

void
engine_fixture_tear_down(EngineFixture *self, gconstpointer data)
{
    engine_fixture_stop(self);
    g_assert_cmpuint(self->ended->len, ==, 0);
    g_ptr_array_unref(self->ended);
    store_fixture_tear_down(&self->store, NULL);
}

/* Calls ----------------------------------------------------------------------------------------------------------------- */

void
engine_fixture_iterate(EngineFixture *self, int timeout_msec)
{
    struct pollfd pfd = { .fd = qd_mailbox_get_fd(self->mailbox), .events = POLLIN };

    (void) poll(&pfd, 1, timeout_msec);
    qd_mailbox_dispatch(self->mailbox);
}

static void
on_done(QdCall *call, void *user_data)
{
    g_ptr_array_add(((EngineFixture *) user_data)->ended, call);
}

void
engine_fixture_submit(EngineFixture *self, QdCall *call)
{
    call->done = on_done;
    call->user_data = self;
    qd_engine_submit(self->engine, call);
}

void
engine_fixture_await(EngineFixture *self, QdCall *call)
{
    gint64 deadline = g_get_monotonic_time() + DEADLINE_USEC;

    while (!g_ptr_array_remove(self->ended, call)) {
        g_assert_cmpint(g_get_monotonic_time(), <, deadline);
        engine_fixture_iterate(self, 1000);
    }
}

gboolean
engine_fixture_run(EngineFixture *self, QdCall *call)
{
    engine_fixture_submit(self, call);
    engine_fixture_await(self, call);
    return call->result.error == NULL;
}

void
engine_fixture_fail(EngineFixture *self, QdCall *call, QwError code, const char *words)
{
    g_autoptr(QdCall) owned = call;

    g_assert_false(engine_fixture_run(self, owned));
    store_assert_error(owned->result.error, code, words);
}

QdCall *
engine_fixture_make_call(const EngineFixture *self, const QdCallClass *class, const char *format, const char *text)
{
    QdCall *call = qd_call_new(class, self->client);

    call->format = g_strdup(format);
    call->fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    g_assert_true(qd_fd_write_all(call->fd, text, strlen(text)));
    g_assert_cmpint(lseek(call->fd, 0, SEEK_SET), ==, 0);
    return call;
}

void
engine_fixture_execute(EngineFixture *self, const char *sql)
{
    g_autoptr(QdCall) call = qd_call_new(&qd_update_call, self->client);

    qd_call_add_statement(call, QD_LANGUAGE_SQL, sql, NULL);
    (void) engine_fixture_run(self, call);
    g_assert_no_error(call->result.error);
}

char *
engine_fixture_query(EngineFixture *self, const char *sql)
{
    g_autoptr(QdCall) call = qd_call_new(&qd_query_text_call, self->client);
    const char *end;

    call->format = g_strdup("csv");
    qd_call_add_statement(call, QD_LANGUAGE_SQL, sql, NULL);
    (void) engine_fixture_run(self, call);
    g_assert_no_error(call->result.error);
    end = strchr(call->result.text->str, '\n');
    g_assert_nonnull(end);
    return g_strdup(end + 1);
}

void
engine_fixture_assert_query(EngineFixture *self, const char *sql, const char *expected)
{
    g_autofree char *found = engine_fixture_query(self, sql);

    g_assert_cmpstr(found, ==, expected);
}

void
engine_fixture_sandbox(QdClient *client)
{
    QdAccess *access = qd_access_new("org.example.Test");

    g_assert_true(qd_access_grant(access, QD_ACCESS_READ, "*", NULL));
    qd_client_set_access(client, access);
}
