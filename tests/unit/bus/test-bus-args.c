/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Statements, batches and descriptors out of messages.
 */
#include "daemon/bus/bus-args.h"

#include <fcntl.h>

#include "daemon/base/error.h"
#include "daemon/call/call-classes.h"
#include "daemon/job/job-classes.h"
#include "tests/unit/bus/bus-fixture.h"

typedef struct Fixture {
    sd_bus *bus;
    sd_bus_message *message;
    QdLimits limits;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    self->bus = bus_fixture_new_message_bus();
    self->message = bus_fixture_new_message(self->bus);
    qd_limits_init(&self->limits);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    sd_bus_message_unref(self->message);
    sd_bus_close_unref(self->bus);
}

static void
test_statement(Fixture *self, gconstpointer data)
{
    g_autoptr(QdCall) call = qd_call_new(&qd_query_call, NULL);
    g_autoptr(GError) error = NULL;
    const QdCallStatement *statement;

    g_assert_cmpint(sd_bus_message_append(self->message, "ssa{sv}", "sparql", "ASK {}", 1, "a", "i", 1), >=, 0);
    bus_fixture_seal(self->message);
    g_assert_true(qd_bus_read_query(self->message, call, &error));
    g_assert_cmpuint(call->statements->len, ==, 1);
    statement = &g_array_index(call->statements, QdCallStatement, 0);
    g_assert_cmpint(statement->language, ==, QD_LANGUAGE_SPARQL);
    g_assert_cmpstr(statement->text, ==, "ASK {}");
    g_assert_cmpuint(qd_parameters_get_n(statement->parameters), ==, 1);
}

static void
test_batch_errors(Fixture *self, gconstpointer data)
{
    g_autoptr(QdCall) call = qd_call_new(&qd_batch_call, NULL);
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(sd_bus_message_append(self->message, "a(ssa{sv})", 2, "sql", "a", 0, "sql", "b", 1, ":x", "t", UINT64_MAX), >=,
                    0);
    bus_fixture_seal(self->message);
    g_assert_false(qd_bus_read_statements(self->message, call, &self->limits, &error));
    g_assert_error(error, QD_ERROR, QW_ERROR_BAD_PARAMETER);
    g_assert_true(g_str_has_prefix(error->message, "statement 2: parameter ':x':"));
}

static void
test_batch_limit(Fixture *self, gconstpointer data)
{
    g_autoptr(QdCall) call = qd_call_new(&qd_batch_call, NULL);
    g_autoptr(GError) error = NULL;

    g_assert_true(qd_limits_set(&self->limits, "batch_statements", 1, NULL));
    g_assert_cmpint(sd_bus_message_append(self->message, "a(ssa{sv})", 2, "sql", "a", 0, "sql", "b", 0), >=, 0);
    bus_fixture_seal(self->message);
    g_assert_false(qd_bus_read_statements(self->message, call, &self->limits, &error));
    g_assert_error(error, QD_ERROR, QW_ERROR_TOO_BIG);
    g_assert_nonnull(strstr(error->message, "'batch_statements' is 1"));
}

static void
test_fd(Fixture *self, gconstpointer data)
{
    guint n_fds = bus_fixture_count_fds();
    QdCall *call = qd_call_new(&qd_export_call, NULL);
    g_autoptr(GError) error = NULL;

    /* The handshake has not said yet whether descriptors may pass: a message of ours may hold one all the same. */
    if (sd_bus_message_append(self->message, "h", 1) < 0) {
        g_test_skip("sd-bus takes no descriptor before the handshake");
        (void) qd_call_free(call);
        return;
    }
    bus_fixture_seal(self->message);
    g_assert_true(qd_bus_read_fd(self->message, call, &error));
    g_assert_cmpint(call->fd, >, 2);
    g_assert_cmpint(fcntl(call->fd, F_GETFD), ==, FD_CLOEXEC);
    (void) qd_call_free(call);
    self->message = sd_bus_message_unref(self->message);
    g_assert_cmpuint(bus_fixture_count_fds(), ==, n_fds);
}

#define ADD(path, func) g_test_add("/bus/args/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("statement", test_statement);
    ADD("batch-errors", test_batch_errors);
    ADD("batch-limit", test_batch_limit);
    ADD("fd", test_fd);
    return g_test_run();
}
