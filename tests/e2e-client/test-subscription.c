/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QuerySubscription and QueryNotifier with the real daemon on a private bus: nothing is missed, not even over its restart.
 */
#include <signal.h>

#include "client-lib/query-client.h"
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

#define SQL QUERY_LANGUAGE_SQL
#define N_MANY 1000

static PrivateBus *bus;

typedef struct Told {
    guint n;
    guint64 generation;
    char *names; /* of a notifier: tables, then graphs */
    guint n_all; /* of these: "*|*" */
} Told;

static void
execute(QueryConnection *connection, QueryLanguage language, const char *text)
{
    g_autoptr(GError) error = NULL;

    (void) query_connection_update(connection, language, text, NULL, NULL, &error);
    g_assert_no_error(error);
}

/* The generation of a result read now. */
static guint64
read_generation(QueryConnection *connection, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, SQL, text, NULL, NULL, &error);

    g_assert_no_error(error);
    while (query_cursor_next(cursor, NULL, &error))
        continue;
    g_assert_no_error(error);
    return query_cursor_get_generation(cursor);
}

static QuerySubscription *
subscribe(QueryConnection *connection, const char *text)
{
    g_autoptr(GError) error = NULL;
    QuerySubscription *subscription = query_connection_subscribe(connection, SQL, text, NULL, &error);

    g_assert_no_error(error);
    return subscription;
}

static void
on_stale(QuerySubscription *subscription, guint64 generation, Told *told)
{
    told->n++;
    told->generation = generation;
}

static void
on_changed(QueryNotifier *notifier, guint64 generation, GStrv tables, GStrv graphs, Told *told)
{
    g_autofree char *table_names = g_strjoinv(" ", tables);
    g_autofree char *graph_names = g_strjoinv(" ", graphs);

    told->n++;
    told->generation = generation;
    g_free(told->names);
    told->names = g_strdup_printf("%s|%s", table_names, graph_names);
    if (g_str_equal(told->names, "*|*"))
        told->n_all++;
}

static gboolean
give_up(gpointer user_data)
{
    g_error("nothing came for 20 s");
    return G_SOURCE_REMOVE;
}

static void
wait_for(const Told *told, guint n)
{
    guint timer = g_timeout_add_seconds(20, give_up, NULL);

    while (told->n < n)
        g_main_context_iteration(NULL, TRUE);
    (void) g_source_remove(timer);
}

static gboolean
note_time(gpointer user_data)
{
    *(gboolean *) user_data = TRUE;
    return G_SOURCE_REMOVE;
}

/* Repeats a statement that changes nothing. The daemon of a bus that has ended may still answer the first on a kept channel.
 * Only the next one starts a daemon on the new bus. */
static void
execute_until_told(QueryConnection *connection, const char *text, const Told *told, guint n)
{
    guint timer = g_timeout_add_seconds(20, give_up, NULL);

    while (told->n < n) {
        gboolean is_time = FALSE;
        guint again = g_timeout_add(100, note_time, &is_time);

        execute(connection, SQL, text);
        while (told->n < n && !is_time)
            g_main_context_iteration(NULL, TRUE);
        if (!is_time)
            (void) g_source_remove(again);
    }
    (void) g_source_remove(timer);
}

static void
test_stale(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QuerySubscription) subscription = NULL;
    g_autoptr(QuerySubscription) other = NULL;
    Told told = { 0 };
    Told other_told = { 0 };

    execute(connection, SQL, "CREATE TABLE t(a)");
    execute(connection, SQL, "CREATE TABLE u(a)");
    subscription = subscribe(connection, "SELECT * FROM t");
    other = subscribe(connection, "SELECT * FROM u");
    (void) g_signal_connect(subscription, "stale", G_CALLBACK(on_stale), &told);
    (void) g_signal_connect(other, "stale", G_CALLBACK(on_stale), &other_told);
    g_assert_false(query_subscription_is_stale(subscription));

    execute(connection, SQL, "INSERT INTO t VALUES(1)");
    wait_for(&told, 1);
    g_assert_true(query_subscription_is_stale(subscription));
    g_assert_cmpuint(other_told.n, ==, 0);
    query_subscription_set_generation(subscription, read_generation(connection, "SELECT * FROM t"));
    g_assert_false(query_subscription_is_stale(subscription));
}

/* A result that was read before the signal came holds the change already. */
static void
test_older_than_the_result(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QuerySubscription) swallows = subscribe(connection, "SELECT * FROM t");
    g_autoptr(QuerySubscription) tells = subscribe(connection, "SELECT * FROM t");
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryNotifier) notifier = query_connection_create_notifier(connection, NULL, NULL, NULL, &error);
    Told swallowed = { 0 };
    Told told = { 0 };
    Told changed = { 0 };
    guint64 generation;

    g_assert_no_error(error);
    (void) g_signal_connect(swallows, "stale", G_CALLBACK(on_stale), &swallowed);
    (void) g_signal_connect(tells, "stale", G_CALLBACK(on_stale), &told);
    (void) g_signal_connect(notifier, "changed", G_CALLBACK(on_changed), &changed);
    execute(connection, SQL, "INSERT INTO t VALUES(1)");
    generation = read_generation(connection, "SELECT * FROM t"); /* the main context has not run yet */
    query_subscription_set_generation(swallows, generation);
    query_notifier_set_generation(notifier, generation);
    wait_for(&told, 1);
    g_assert_cmpuint(told.generation, <=, generation);
    g_assert_cmpuint(swallowed.n, ==, 0);
    g_assert_cmpuint(changed.n, ==, 0);
    g_assert_false(query_subscription_is_stale(swallows));
    g_free(changed.names);
}

static void
test_restart(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QuerySubscription) subscription = subscribe(connection, "SELECT * FROM t");
    g_autoptr(GError) error = NULL;
    static const char *const tables[] = { "nosuch", NULL };
    g_autoptr(QueryNotifier) notifier = query_connection_create_notifier(connection, tables, NULL, NULL, &error);
    Told told = { 0 };
    Told changed = { 0 };

    g_assert_no_error(error);
    (void) g_signal_connect(subscription, "stale", G_CALLBACK(on_stale), &told);
    (void) g_signal_connect(notifier, "changed", G_CALLBACK(on_changed), &changed);
    private_bus_kill_daemon(bus, SIGKILL);
    execute(connection, SQL, "CREATE TABLE IF NOT EXISTS t(a)"); /* starts the next one, and changes nothing */
    wait_for(&told, 1);
    wait_for(&changed, 1);
    g_assert_cmpstr(changed.names, ==, "*|*");
    g_assert_true(query_subscription_is_stale(subscription));
    query_subscription_set_generation(subscription, read_generation(connection, "SELECT * FROM t"));
    execute(connection, SQL, "INSERT INTO t VALUES(2)");
    wait_for(&told, 2);
    g_free(changed.names);
}

/* The session bus ends, and with it the daemon; on the next one nothing is missed. */
static void
test_bus_restart(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QuerySubscription) subscription = subscribe(connection, "SELECT * FROM t");
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryNotifier) notifier = query_connection_create_notifier(connection, NULL, NULL, NULL, &error);
    Told told = { 0 };
    Told changed = { 0 };

    g_assert_no_error(error);
    (void) g_signal_connect(subscription, "stale", G_CALLBACK(on_stale), &told);
    (void) g_signal_connect(notifier, "changed", G_CALLBACK(on_changed), &changed);
    for (guint i = 0; i < 2; i++) {
        guint n_told = told.n;
        guint n_changed = changed.n;

        private_bus_restart(bus);
        execute_until_told(connection, "CREATE TABLE IF NOT EXISTS t(a)", &told, n_told + 1);
        while (changed.n_all <= i) /* that of the statement may come before it */
            wait_for(&changed, ++n_changed);
        query_subscription_set_generation(subscription, read_generation(connection, "SELECT * FROM t"));
        n_told = told.n;
        n_changed = changed.n;
        execute(connection, SQL, "INSERT INTO t VALUES(2)");
        wait_for(&told, n_told + 1);
        wait_for(&changed, n_changed + 1);
        g_assert_true(query_subscription_is_stale(subscription));
    }
    g_free(changed.names);
}

static void
test_many(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GPtrArray) subscriptions = g_ptr_array_new_with_free_func(g_object_unref);
    g_autoptr(QuerySubscription) again = NULL;
    g_autoptr(GError) error = NULL;
    Told told = { 0 };

    for (guint i = 0; i < N_MANY; i++) {
        g_autofree char *text = g_strdup_printf("SELECT %u FROM t", i);
        QuerySubscription *subscription = subscribe(connection, text);

        (void) g_signal_connect(subscription, "stale", G_CALLBACK(on_stale), &told);
        g_ptr_array_add(subscriptions, subscription);
    }
    g_assert_null(query_connection_subscribe(connection, SQL, "SELECT 0", NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_LIMIT_EXCEEDED);
    execute(connection, SQL, "INSERT INTO t VALUES(3)");
    wait_for(&told, N_MANY);

    /* dropped here is closed there */
    g_ptr_array_set_size(subscriptions, N_MANY - 1);
    again = subscribe(connection, "SELECT 0 FROM t");
}

static void
test_notifier(void)
{
    static const char *const tables[] = { "T", NULL };
    static const char *const graphs[] = { "x:g", NULL };
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryNotifier) notifier = query_connection_create_notifier(connection, tables, graphs, NULL, &error);
    Told told = { 0 };

    g_assert_no_error(error);
    (void) g_signal_connect(notifier, "changed", G_CALLBACK(on_changed), &told);
    execute(connection, SQL, "INSERT INTO t VALUES(4)");
    wait_for(&told, 1);
    g_assert_cmpstr(told.names, ==, "t|");
    execute(connection, SQL, "INSERT INTO u VALUES(1)");
    execute(connection, QUERY_LANGUAGE_SPARQL, "INSERT DATA { <x:a> <x:p> 1 }");
    query_notifier_set_generation(notifier, read_generation(connection, "SELECT 1"));
    execute(connection, QUERY_LANGUAGE_SPARQL, "INSERT DATA { GRAPH <x:g> { <x:a> <x:p> 1 } }");
    wait_for(&told, 2);
    g_assert_true(g_str_has_suffix(told.names, "x:g"));
    g_free(told.names);
}

/* Dropped from another thread, with signals under way. */
static gpointer
drop(gpointer data)
{
    g_object_unref(data);
    return NULL;
}

static void
test_threads(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QuerySubscription) last = subscribe(connection, "SELECT * FROM t");
    Told told = { 0 };

    (void) g_signal_connect(last, "stale", G_CALLBACK(on_stale), &told);
    for (guint i = 0; i < 20; i++) {
        GThread *thread = g_thread_new("drop", drop, subscribe(connection, "SELECT * FROM t"));

        execute(connection, SQL, "INSERT INTO t VALUES(5)");
        while (g_main_context_iteration(NULL, FALSE))
            continue;
        (void) g_thread_join(thread);
    }
    wait_for(&told, 1);
}

static guint
count_descriptors(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, &error);
    guint n = 0;

    g_assert_no_error(error);
    while (g_dir_read_name(dir) != NULL)
        n++;
    return n;
}

/* In a main context of its own, which is not iterated afterwards. */
static gpointer
subscribe_once(gpointer connection)
{
    g_autoptr(GMainContext) context = g_main_context_new();

    g_main_context_push_thread_default(context);
    g_object_unref(subscribe(connection, "SELECT * FROM t"));
    g_main_context_pop_thread_default(context);
    return NULL;
}

/* A main context that has had a subscription leaves no descriptor. */
static void
test_descriptors(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    guint n_before;

    (void) g_thread_join(g_thread_new("once", subscribe_once, connection));
    n_before = count_descriptors();
    for (guint i = 0; i < 50; i++)
        (void) g_thread_join(g_thread_new("once", subscribe_once, connection));
    g_assert_cmpuint(count_descriptors(), ==, n_before);
}

static gboolean is_over; /* atomic */

static gpointer
subscribe_on(gpointer connection)
{
    while (!g_atomic_int_get(&is_over))
        (void) subscribe_once(connection);
    return NULL;
}

/* A daemon that ends between Subscribe and what follows it is no error. */
static void
test_ending_daemon(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    GThread *threads[4];

    for (gsize i = 0; i < G_N_ELEMENTS(threads); i++)
        threads[i] = g_thread_new("subscribe", subscribe_on, connection);
    for (guint i = 0; i < 10; i++) {
        g_usleep(100000);
        private_bus_kill_daemon(bus, SIGTERM);
        (void) client_query_number(connection, "SELECT 1"); /* another one runs */
    }
    g_atomic_int_set(&is_over, TRUE);
    for (gsize i = 0; i < G_N_ELEMENTS(threads); i++)
        (void) g_thread_join(threads[i]);
}

int
main(int argc, char **argv)
{
    int r;

    bus = private_bus_new();
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client/subscription/stale", test_stale);
    g_test_add_func("/client/subscription/older-than-the-result", test_older_than_the_result);
    g_test_add_func("/client/subscription/restart", test_restart);
    g_test_add_func("/client/subscription/bus-restart", test_bus_restart);
    g_test_add_func("/client/subscription/many", test_many);
    g_test_add_func("/client/subscription/notifier", test_notifier);
    g_test_add_func("/client/subscription/threads", test_threads);
    g_test_add_func("/client/subscription/descriptors", test_descriptors);
    g_test_add_func("/client/subscription/ending-daemon", test_ending_daemon);
    r = g_test_run();
    private_bus_free(bus);
    return r;
}
