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
static const char *first_unknown; /* (nullable): an older daemon knows neither this option nor the later ones */
static gint n_prepares;
static gint n_prepares_fetch; /* with the option */
static gint n_prepares_time;  /* with requested_usec */
static gint64 asked_usec;     /* no request was made before */

typedef struct Messages {
    QueryConnection *connection;
    GDBusConnection *bus;
    guint filter;
} Messages;

/* Under a name that no daemon knows. */
static GDBusMessage *
rename_option(GDBusMessage *message, GVariant *body, const char *name)
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
    g_assert_true(g_variant_dict_remove(&dict, name));
    g_variant_dict_insert(&dict, "option_of_later", "b", TRUE);
    g_dbus_message_set_body(copy, g_variant_new("(@s@s@a{sv}@a{sv})", language, text, values, g_variant_dict_end(&dict)));
    g_object_unref(message);
    return copy;
}

/* In the thread of GDBus. */
static GDBusMessage *
on_message(GDBusConnection *bus, GDBusMessage *message, gboolean is_incoming, gpointer user_data)
{
    static const char *const names[] = { "fetch", "requested_usec", "session", NULL }; /* in the order in which they came to be */
    g_autoptr(GVariant) options = NULL;
    GVariant *body = g_dbus_message_get_body(message);
    const char *unknown = g_atomic_pointer_get(&first_unknown);
    guint64 requested_usec;
    gboolean is_unknown = FALSE;

    if (is_incoming || g_strcmp0(g_dbus_message_get_member(message), "Prepare") != 0)
        return message;
    g_atomic_int_inc(&n_prepares);
    options = g_variant_get_child_value(body, 3);
    if (g_variant_lookup(options, "fetch", "b", NULL))
        g_atomic_int_inc(&n_prepares_fetch);
    if (g_variant_lookup(options, "requested_usec", "t", &requested_usec)) {
        g_atomic_int_inc(&n_prepares_time);
        g_assert_cmpint((gint64) requested_usec, >=, __atomic_load_n(&asked_usec, __ATOMIC_RELAXED));
        g_assert_cmpint((gint64) requested_usec, <=, g_get_monotonic_time());
    }
    for (guint i = 0; names[i] != NULL; i++) {
        g_autoptr(GVariant) value = g_variant_lookup_value(options, names[i], NULL);

        is_unknown = is_unknown || g_strcmp0(names[i], unknown) == 0;
        if (is_unknown && value != NULL)
            return rename_option(message, body, names[i]);
    }
    return message;
}

static void
messages_watch(Messages *self, const char *unknown)
{
    g_autoptr(GError) error = NULL;

    g_atomic_pointer_set(&first_unknown, unknown);
    g_atomic_int_set(&n_prepares, 0);
    g_atomic_int_set(&n_prepares_fetch, 0);
    g_atomic_int_set(&n_prepares_time, 0);
    __atomic_store_n(&asked_usec, g_get_monotonic_time(), __ATOMIC_RELAXED);
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

    messages_watch(&messages, NULL);
    read_joined(messages.connection, "x7");
    read_joined(messages.connection, "x7"); /* on the channel */
    g_assert_cmpint(client_query_number(messages.connection, "SELECT 5"), ==, 5);
    g_assert_cmpint(g_atomic_int_get(&n_prepares), ==, 1);
    g_assert_cmpint(g_atomic_int_get(&n_prepares_fetch), ==, 1);
    g_assert_cmpint(g_atomic_int_get(&n_prepares_time), ==, 1);
    messages_end(&messages);
}

/* @n, @n_fetch, @n_time: how often Prepare is called, with the option `fetch`, and with `requested_usec` */
static void
run_with_older_daemon(const char *unknown, gint n, gint n_fetch, gint n_time)
{
    Messages messages;

    messages_watch(&messages, unknown);
    read_joined(messages.connection, "x7");
    read_joined(messages.connection, "x7");
    g_assert_cmpint(g_atomic_int_get(&n_prepares), ==, n);
    g_assert_cmpint(g_atomic_int_get(&n_prepares_fetch), ==, n_fetch);
    g_assert_cmpint(g_atomic_int_get(&n_prepares_time), ==, n_time);
    messages_end(&messages);
}

static void
test_older_daemon(void)
{
    run_with_older_daemon("session", 2, 2, 2);
    run_with_older_daemon("requested_usec", 3, 3, 2);
    run_with_older_daemon("fetch", 4, 3, 2);
}

/* What cannot run yet, or must not run twice. */
static void
test_only_queries(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryStatement) statement = NULL;
    g_autoptr(QueryCursor) cursor = NULL;
    Messages messages;

    messages_watch(&messages, NULL);
    client_execute(messages.connection, "CREATE TABLE once(x)");
    messages_end(&messages);
    g_assert_cmpint(g_atomic_int_get(&n_prepares_fetch), ==, 0);

    messages_watch(&messages, NULL);
    statement = query_connection_prepare(messages.connection, QUERY_LANGUAGE_SQL, TEXT, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(g_atomic_int_get(&n_prepares_fetch), ==, 0);
    g_assert_cmpint(g_atomic_int_get(&n_prepares_time), ==, 0); /* it may be executed much later */
    g_clear_object(&statement);
    messages_end(&messages);

    messages_watch(&messages, NULL);
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

    messages_watch(&messages, NULL);
    g_assert_null(query_connection_query(messages.connection, QUERY_LANGUAGE_SQL, "SELECT abs(:i)",
                                         g_variant_new_parsed("{'i': <%x>}", G_MININT64), NULL, &error));
    g_assert_nonnull(error);
    g_assert_nonnull(strstr(error->message, "overflow"));
    read_joined(messages.connection, "x7");
    g_assert_cmpint(g_atomic_int_get(&n_prepares), ==, 1);
    messages_end(&messages);
}

/* (transfer full) (nullable): the values of the only column, or NULL with @error. */
static char *
read_sparql(QueryConnection *connection, const char *text, const char *values, GError **error)
{
    g_autoptr(QueryCursor)
        cursor = query_connection_query(connection, QUERY_LANGUAGE_SPARQL, text, g_variant_new_parsed(values), NULL, error);
    g_autoptr(GString) all = g_string_new(NULL);

    while (cursor != NULL && query_cursor_next(cursor, NULL, error))
        g_string_append(all, query_cursor_get_string(cursor, 0, NULL));
    return *error == NULL ? g_string_free(g_steal_pointer(&all), FALSE) : NULL;
}

/* In SPARQL a variable without '$' takes no value, and one that has none is a variable: for the first query as for each later one.
 */
static void
test_variables(void)
{
    Messages messages;

    messages_watch(&messages, NULL);
    for (guint i = 0; i < 3; i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GError) refused = NULL;
        g_autofree char *open = read_sparql(messages.connection, "SELECT $o { VALUES $o { 'a' 'b' } }", "@a{sv} {}", &error);
        g_autofree char *given = NULL;

        g_assert_no_error(error);
        g_assert_cmpstr(open, ==, "ab");
        given = read_sparql(messages.connection, "SELECT $o { VALUES $o { 'a' 'b' } }", "{'o': <'b'>}", &error);
        g_assert_no_error(error);
        g_assert_cmpstr(given, ==, "b");
        g_assert_null(read_sparql(messages.connection, "SELECT ?o { VALUES ?o { 'a' 'b' } }", "{'o': <'b'>}", &refused));
        g_assert_error(refused, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
        g_assert_nonnull(strstr(refused->message, "is written with '$'"));
    }
    messages_end(&messages);
    messages_watch(&messages, NULL);
    for (guint i = 0; i < 2; i++) {
        g_autoptr(GError) refused = NULL;

        g_assert_null(read_sparql(messages.connection, "SELECT ?o { VALUES ?o { 'a' 'b' } }", "{'o': <'b'>}", &refused));
        g_assert_nonnull(strstr(refused->message, "is written with '$'"));
    }
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
    g_test_add_func("/client-e2e/first-query/variables", test_variables);
    status = g_test_run();
    private_bus_free(bus);
    return status;
}
