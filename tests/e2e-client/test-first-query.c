/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first query of a connection: it runs while Prepare is answered, or after it where the daemon is an older one.
 *
 * Linked with the static form of the library, whose connection to the bus shows each message.
 */
#include <string.h>

#include "client-lib/core/query-bus.h"
#include "client-lib/query-connection-private.h"
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

#define TEXT "SELECT :a || ?2"

/* Atomics, for the thread of GDBus. */
static gint is_older_daemon;
static gint n_prepares;
static gint n_prepares_fetch; /* with the option */

typedef struct Messages {
    QueryConnection *connection;
    GDBusConnection *bus;
    guint filter;
} Messages;

/* Under a name that no daemon knows. */
static GDBusMessage *
rename_fetch(GDBusMessage *message, GVariant *body)
{
    g_autoptr(GVariant) language = g_variant_get_child_value(body, 0);
    g_autoptr(GVariant) text = g_variant_get_child_value(body, 1);
    g_autoptr(GVariant) values = g_variant_get_child_value(body, 2);
    g_autoptr(GVariant) options = g_variant_get_child_value(body, 3);
    g_autoptr(GError) error = NULL;
    GDBusMessage *copy = g_dbus_message_copy(message, &error);
    GVariantDict dict;

    g_assert_no_error(error);
    g_variant_dict_init(&dict, options);
    g_assert_true(g_variant_dict_remove(&dict, "fetch"));
    g_variant_dict_insert(&dict, "fetch_of_later", "b", TRUE);
    g_dbus_message_set_body(copy, g_variant_new("(@s@s@a{sv}@a{sv})", language, text, values, g_variant_dict_end(&dict)));
    g_object_unref(message);
    return copy;
}

/* In the thread of GDBus. */
static GDBusMessage *
on_message(GDBusConnection *bus, GDBusMessage *message, gboolean is_incoming, gpointer user_data)
{
    g_autoptr(GVariant) options = NULL;
    GVariant *body = g_dbus_message_get_body(message);

    if (is_incoming || g_strcmp0(g_dbus_message_get_member(message), "Prepare") != 0)
        return message;
    g_atomic_int_inc(&n_prepares);
    options = g_variant_get_child_value(body, 3);
    if (!g_variant_lookup(options, "fetch", "b", NULL))
        return message;
    g_atomic_int_inc(&n_prepares_fetch);
    return g_atomic_int_get(&is_older_daemon) ? rename_fetch(message, body) : message;
}

static void
messages_watch(Messages *self, gboolean is_older)
{
    g_autoptr(GError) error = NULL;

    g_atomic_int_set(&is_older_daemon, is_older);
    g_atomic_int_set(&n_prepares, 0);
    g_atomic_int_set(&n_prepares_fetch, 0);
    self->connection = client_open();
    self->bus = query_bus_get_connection(query_connection_get_bus(self->connection), NULL, &error);
    g_assert_no_error(error);
    self->filter = g_dbus_connection_add_filter(self->bus, on_message, NULL, NULL);
}

static void
messages_end(Messages *self)
{
    g_dbus_connection_remove_filter(self->bus, self->filter);
    g_object_unref(self->bus);
    g_object_unref(self->connection);
}

static void
read_joined(QueryConnection *connection, const char *expected)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, QUERY_LANGUAGE_SQL, TEXT,
                                                           g_variant_new_parsed("{'a': <'x'>, '2': <7>}"), NULL, &error);

    g_assert_no_error(error);
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    g_assert_cmpstr(query_cursor_get_string(cursor, 0, NULL), ==, expected);
    g_assert_false(query_cursor_next(cursor, NULL, &error));
    g_assert_no_error(error);
}

static void
test_runs_with_prepare(void)
{
    Messages messages;

    messages_watch(&messages, FALSE);
    read_joined(messages.connection, "x7");
    read_joined(messages.connection, "x7"); /* on the channel */
    g_assert_cmpint(client_query_number(messages.connection, "SELECT 5"), ==, 5);
    g_assert_cmpint(g_atomic_int_get(&n_prepares), ==, 1);
    g_assert_cmpint(g_atomic_int_get(&n_prepares_fetch), ==, 1);
    messages_end(&messages);
}

static void
test_older_daemon(void)
{
    Messages messages;

    messages_watch(&messages, TRUE);
    read_joined(messages.connection, "x7");
    read_joined(messages.connection, "x7");
    g_assert_cmpint(g_atomic_int_get(&n_prepares), ==, 2);
    g_assert_cmpint(g_atomic_int_get(&n_prepares_fetch), ==, 1);
    messages_end(&messages);
}

/* What cannot run yet, or must not run twice. */
static void
test_only_queries(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryStatement) statement = NULL;
    g_autoptr(QueryCursor) cursor = NULL;
    Messages messages;

    messages_watch(&messages, FALSE);
    client_execute(messages.connection, "CREATE TABLE once(x)");
    messages_end(&messages);
    g_assert_cmpint(g_atomic_int_get(&n_prepares_fetch), ==, 0);

    messages_watch(&messages, FALSE);
    statement = query_connection_prepare(messages.connection, QUERY_LANGUAGE_SQL, TEXT, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(g_atomic_int_get(&n_prepares_fetch), ==, 0);
    g_clear_object(&statement);
    messages_end(&messages);

    messages_watch(&messages, FALSE);
    cursor = query_connection_query(messages.connection, QUERY_LANGUAGE_SQL, TEXT, g_variant_new_parsed("{'a': <'x'>}"), NULL,
                                    &error);
    g_assert_null(cursor);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
    g_assert_nonnull(strstr(error->message, "parameter 2"));
    read_joined(messages.connection, "x7");
    messages_end(&messages);
}

/* A failure of the query is one of the request, and the channel goes on. */
static void
test_fails(void)
{
    g_autoptr(GError) error = NULL;
    Messages messages;

    messages_watch(&messages, FALSE);
    g_assert_null(query_connection_query(messages.connection, QUERY_LANGUAGE_SQL, "SELECT abs(:i)",
                                         g_variant_new_parsed("{'i': <%x>}", G_MININT64), NULL, &error));
    g_assert_nonnull(error);
    g_assert_nonnull(strstr(error->message, "overflow"));
    read_joined(messages.connection, "x7");
    g_assert_cmpint(g_atomic_int_get(&n_prepares), ==, 1);
    messages_end(&messages);
}

int
main(int argc, char **argv)
{
    PrivateBus *bus = private_bus_new();
    int status;

    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client-e2e/first-query/runs-with-prepare", test_runs_with_prepare);
    g_test_add_func("/client-e2e/first-query/older-daemon", test_older_daemon);
    g_test_add_func("/client-e2e/first-query/only-queries", test_only_queries);
    g_test_add_func("/client-e2e/first-query/fails", test_fails);
    status = g_test_run();
    private_bus_free(bus);
    return status;
}
