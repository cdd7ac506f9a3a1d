/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Updates of libquery-client with the real daemon: many under way, rows added, batches.
 */
#include <signal.h>
#include <string.h>

#include "client-lib/core/query-bus.h"
#include "client-lib/query-client.h"
#include "client-lib/query-connection-private.h"
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

#define N_UPDATES 200

static PrivateBus *bus;

/* Many updates ---------------------------------------------------------------------------------------------------------- */

static QueryStatement *
prepare_insert(QueryConnection *connection)
{
    g_autoptr(GError) error = NULL;
    QueryStatement *statement = query_connection_prepare_update(connection, QUERY_LANGUAGE_SQL, "INSERT INTO t VALUES(?)", NULL,
                                                                &error);

    g_assert_no_error(error);
    return statement;
}

static void
start_updates(QueryStatement *statement, GAsyncResult **results)
{
    for (gint64 i = 0; i < N_UPDATES; i++) {
        g_assert_true(query_statement_bind_int64(statement, "1", i % 50 == 49 ? 0 : i, NULL));
        query_statement_update_async(statement, NULL, client_keep_result, &results[i]);
    }
}

/* All on one channel, in order; those that fail do so alone. */
static void
test_pipelined(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryStatement) statement = prepare_insert(connection);
    GAsyncResult *results[N_UPDATES] = { NULL };
    guint n_failed = 0;

    start_updates(statement, results);
    for (guint i = 0; i < N_UPDATES; i++) {
        g_autoptr(GAsyncResult) result = client_wait_for(&results[i]);
        g_autoptr(GError) error = NULL;

        if (query_statement_update_finish(statement, result, &error) == 1) {
            g_assert_cmpint(i % 50, !=, 49);
            continue;
        }
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_CONSTRAINT);
        n_failed++;
    }
    g_assert_cmpuint(n_failed, ==, 4);
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM t"), ==, N_UPDATES - 4);
    client_execute(connection, "DELETE FROM t");
    g_assert_cmpint(query_statement_update(statement, NULL, NULL), ==, 1); /* the channel is back */
}

/* Each of them hears of the daemon's end; the next ones find the new daemon. */
static void
test_pipelined_disconnected(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryStatement) statement = prepare_insert(connection);
    GAsyncResult *results[N_UPDATES] = { NULL };
    guint n_failed = 0;

    private_bus_stop(private_bus_get_owner_pid(bus, "org.queryd.Query1"));
    start_updates(statement, results);
    (void) g_main_context_iteration(NULL, FALSE);
    private_bus_kill_daemon(bus, SIGKILL);
    for (guint i = 0; i < N_UPDATES; i++) {
        g_autoptr(GAsyncResult) result = client_wait_for(&results[i]);
        g_autoptr(GError) error = NULL;

        if (query_statement_update_finish(statement, result, &error) == 1)
            continue;
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED);
        g_assert_nonnull(strstr(error->message, "it is not known whether the update was executed"));
        n_failed++;
    }
    g_assert_cmpuint(n_failed, >, 0);
    client_execute(connection, "DELETE FROM t");
    for (guint i = 0; i < N_UPDATES; i++)
        results[i] = NULL;
    start_updates(statement, results);
    for (guint i = 0; i < N_UPDATES; i++) {
        g_autoptr(GAsyncResult) result = client_wait_for(&results[i]);

        (void) query_statement_update_finish(statement, result, NULL);
    }
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM t"), ==, N_UPDATES - 4);
}

static void
test_rows(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryStatement) statement = prepare_insert(connection);
    g_autoptr(GError) error = NULL;

    g_assert_false(query_statement_add_row(statement, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
    g_clear_error(&error);
    for (gint64 i = 0; i < 5000; i++) {
        g_assert_true(query_statement_bind_int64(statement, "1", i, NULL));
        g_assert_true(query_statement_add_row(statement, &error));
    }
    g_assert_cmpint(query_statement_update(statement, NULL, &error), ==, 5000);
    g_assert_no_error(error);
    for (gint64 i = 6000; i >= 4999; i--) { /* the last one is there already: none is kept */
        g_assert_true(query_statement_bind_int64(statement, "1", i, NULL));
        g_assert_true(query_statement_add_row(statement, &error));
    }
    g_assert_cmpint(query_statement_update(statement, NULL, &error), ==, -1);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_CONSTRAINT);
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM t"), ==, 5000);
}

/* Batches ----------------------------------------------------------------------------------------------------------------- */

static void
test_batch(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryBatch) batch = query_connection_create_batch(connection);
    g_autoptr(QueryBatch) bad = query_connection_create_batch(connection);
    g_autoptr(QueryBatch) nothing = query_connection_create_batch(connection);
    g_autoptr(GError) error = NULL;
    guint n_calls;

    query_batch_add(batch, QUERY_LANGUAGE_SQL, "INSERT INTO t VALUES(:a), (2)", g_variant_new_parsed("{'a': <1>}"));
    query_batch_add(batch, QUERY_LANGUAGE_SQL, "DELETE FROM t WHERE a = 1", NULL);
    n_calls = query_bus_get_n_calls(query_connection_get_bus(connection));
    g_assert_true(query_batch_execute(batch, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(query_batch_get_changes(batch, 0), ==, 2);
    g_assert_cmpuint(query_batch_get_changes(batch, 1), ==, 1);
    g_assert_cmpuint(query_bus_get_n_calls(query_connection_get_bus(connection)), ==, n_calls);
    g_assert_true(query_batch_execute(nothing, NULL, &error));
    g_assert_no_error(error);

    query_batch_add(bad, QUERY_LANGUAGE_SQL, "DELETE FROM t", NULL);
    query_batch_add(bad, QUERY_LANGUAGE_SQL, "INSERT INTO nowhere VALUES(1)", NULL);
    g_assert_false(query_batch_execute(bad, NULL, &error));
    g_assert_nonnull(error);
    g_assert_true(g_str_has_prefix(error->message, "statement 2 of the batch: "));
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM t"), ==, 1);
}

static void
on_batch_executed(GObject *object, GAsyncResult *result, gpointer user_data)
{
    GError *error = NULL;

    g_assert_true(query_batch_execute_finish(QUERY_BATCH(object), result, &error));
    g_assert_no_error(error);
    *(gboolean *) user_data = TRUE;
}

/* More statements than a page has room for, in both directions, and every type of parameter. */
static void
test_large_batch(void)
{
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autoptr(QueryBatch) batch = query_connection_create_batch(connection);
    gboolean done = FALSE;

    client_execute(connection, "DROP TABLE IF EXISTS many");
    client_execute(connection, "CREATE TABLE many(a, b, c, d)");
    for (guint i = 0; i < 9000; i++)
        query_batch_add(batch, QUERY_LANGUAGE_SQL, "INSERT INTO many VALUES(?1, :b, ?3, ?4), (0, 0, 0, 0)",
                        g_variant_new_parsed("{'1': <%u>, 'b': <'text'>, '3': <b'blob'>, '4': <0.5>}", i));
    query_batch_add(batch, QUERY_LANGUAGE_SPARQL, "INSERT DATA { <urn:s> <urn:p> 1, 2, 3 }", NULL);
    query_batch_execute_async(batch, NULL, on_batch_executed, &done);
    while (!done)
        g_main_context_iteration(NULL, TRUE);
    for (guint i = 0; i < 9000; i++)
        g_assert_cmpuint(query_batch_get_changes(batch, i), ==, 2);
    g_assert_cmpuint(query_batch_get_changes(batch, 9000), ==, 3);
    g_assert_cmpint(client_query_number(connection, "SELECT sum(a) FROM many WHERE b = 'text' AND typeof(c) = 'blob' AND d = 0.5"),
                    ==, 9000 * 8999 / 2);
}

/* A value that the daemon takes in no record is refused, and not a lost connection. The next call has another channel. */
static void
test_too_large_value(void)
{
    const gsize n_bytes = 70 * 1000 * 1000;
    g_autoptr(QueryConnection) connection = client_open_with_table();
    g_autofree char *text = g_malloc(n_bytes + 1);
    g_autoptr(GVariant) parameters = NULL;
    g_autoptr(GError) error = NULL;

    memset(text, 'a', n_bytes);
    text[n_bytes] = '\0';
    parameters = g_variant_ref_sink(g_variant_new_parsed("{'1': <%s>}", text));
    g_assert_cmpint(
        query_connection_update(connection, QUERY_LANGUAGE_SQL, "INSERT INTO t VALUES(length(?))", parameters, NULL, &error), ==,
        -1);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG);
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM t"), ==, 0);
}

/* Refused where they are bound: the daemon would not say which. */
static void
test_bad_literals(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryStatement)
        ask = query_connection_prepare(connection, QUERY_LANGUAGE_SPARQL, "SELECT ($v AS ?x) {}", NULL, &error);

    g_assert_no_error(error);
    g_assert_false(query_statement_bind_literal(ask, "v", "a", NULL, "", &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
    g_clear_error(&error);
    g_assert_false(query_statement_bind_literal(ask, "v", "a\xff", NULL, "en", &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
    g_clear_error(&error);
    g_assert_true(query_statement_bind_literal(ask, "v", "a", NULL, "en", &error));
    g_assert_no_error(error);
}

int
main(int argc, char *argv[])
{
    int r;

    bus = private_bus_new();
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/updates/pipelined", test_pipelined);
    g_test_add_func("/updates/pipelined-disconnected", test_pipelined_disconnected);
    g_test_add_func("/updates/rows", test_rows);
    g_test_add_func("/updates/batch", test_batch);
    g_test_add_func("/updates/large-batch", test_large_batch);
    g_test_add_func("/updates/bad-literals", test_bad_literals);
    g_test_add_func("/updates/too-large-value", test_too_large_value);
    r = g_test_run();
    private_bus_free(bus);
    return r;
}
