/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libquery-client with the real daemon, activated by a private bus.
 *
 * Linked with the static form of the library, whose call counter shows what went without D-Bus.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "client-lib/query-connection-private.h"
#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

#define TRIES_MAX 50
#define SQL QUERY_LANGUAGE_SQL
#define COUNT_TO(n) "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " n ") SELECT i FROM n"

static PrivateBus *bus;

static guint
count_fds(void)
{
    g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);
    guint n = 0;

    while (g_dir_read_name(dir) != NULL)
        n++;
    return n;
}

/* GDBus drops a reply, and the descriptors in it, in its own thread: that may be after the call. */
static void
wait_for_fds(guint n_max)
{
    gint64 deadline_usec = g_get_monotonic_time() + 10 * G_USEC_PER_SEC;

    while (count_fds() > n_max && g_get_monotonic_time() < deadline_usec)
        g_thread_yield();
    g_assert_cmpuint(count_fds(), <=, n_max);
}

static guint
get_n_calls(QueryConnection *connection)
{
    return query_bus_get_n_calls(query_connection_get_bus(connection));
}

static void
test_values(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) blob = NULL;
    g_autofree char *large = g_strnfill(10 * 1024 * 1024, 'z');
    GVariantDict dict;
    gsize n;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, ":integer", "x", G_MININT64);
    g_variant_dict_insert(&dict, "real", "d", 0.1);
    g_variant_dict_insert(&dict, "text", "s", "");
    g_variant_dict_insert(&dict, "large", "s", large);
    g_variant_dict_insert(&dict, "null", "g", "");
    g_variant_dict_insert_value(&dict, "blob", g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, "\0\xff", 2, 1));
    cursor = query_connection_query(connection, SQL,
                                    "SELECT :integer, :real, :text, :null, :blob, :large, x'610062' AS b, 'a' || char(0)",
                                    g_variant_dict_end(&dict), NULL, &error);
    g_assert_no_error(error);
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, G_MININT64);
    g_assert_cmpfloat(query_cursor_get_double(cursor, 1), ==, 0.1);
    g_assert_cmpstr(query_cursor_get_string(cursor, 2, NULL), ==, "");
    g_assert_true(query_cursor_is_null(cursor, 3));
    blob = query_cursor_get_bytes(cursor, 4);
    g_assert_cmpmem(g_bytes_get_data(blob, NULL), g_bytes_get_size(blob), "\0\xff", 2);
    g_assert_cmpmem(query_cursor_get_string(cursor, 5, &n), 10 * 1024 * 1024, large, 10 * 1024 * 1024);
    g_assert_cmpuint(n, ==, 10 * 1024 * 1024);
    g_assert_cmpstr(query_cursor_get_column_name(cursor, 6), ==, "b");
    g_assert_cmpmem(query_cursor_get_string(cursor, 7, &n), 2, "a\0", 2);
    g_assert_cmpuint(n, ==, 2);
    g_assert_false(query_cursor_next(cursor, NULL, &error));
    g_assert_no_error(error);
}

static void
test_errors(void)
{
    static const struct {
        const char *text;
        QueryError code;
    } cases[] = {
        { "SELECT * FORM t", QUERY_ERROR_SYNTAX },
        { "", QUERY_ERROR_SYNTAX },
        { "CREATE TABLE no(a)", QUERY_ERROR_READ_ONLY },
        { "SELECT ?", QUERY_ERROR_BAD_PARAMETER },
    };
    g_autoptr(QueryConnection) connection = client_open();

    /* Once over D-Bus, since there is no channel, and once on a channel. */
    for (guint round = 0; round < 2; round++) {
        for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
            g_autoptr(GError) error = NULL;

            g_assert_null(query_connection_query(connection, SQL, cases[i].text, NULL, NULL, &error));
            g_assert_error(error, QUERY_ERROR, (int) cases[i].code);
        }
        g_assert_cmpint(client_query_number(connection, "SELECT 42"), ==, 42);
    }
}

static void
test_constraint(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GError) error = NULL;

    client_execute(connection, "CREATE TABLE unique_ones(a UNIQUE)");
    client_execute(connection, "INSERT INTO unique_ones VALUES(1)");
    g_assert_cmpint(query_connection_update(connection, SQL, "INSERT INTO unique_ones VALUES(1)", NULL, NULL, &error), ==, -1);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_CONSTRAINT);
}

/* After the first query nothing goes over D-Bus. */
static void
test_reuse(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    guint n_calls;

    g_assert_cmpint(client_query_number(connection, "SELECT 1"), ==, 1);
    n_calls = get_n_calls(connection);
    for (int i = 0; i < 50; i++) {
        g_autofree char *text = g_strdup_printf("SELECT %d", i);

        g_assert_cmpint(client_query_number(connection, text), ==, i);
    }
    client_execute(connection, "CREATE TABLE IF NOT EXISTS reuse(a)");
    client_execute(connection, "INSERT INTO reuse VALUES(1)");
    g_assert_cmpuint(get_n_calls(connection), ==, n_calls);
}

static void
test_statement(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryStatement) insert = NULL;
    g_autoptr(QueryStatement) select = NULL;
    g_autoptr(GError) error = NULL;

    client_execute(connection, "CREATE TABLE kept(id INTEGER PRIMARY KEY, a TEXT)");
    insert = query_connection_prepare_update(connection, SQL, "INSERT INTO kept(a) VALUES(:a) RETURNING id", NULL, &error);
    g_assert_no_error(error);
    for (gint64 i = 1; i <= 10; i++) {
        g_assert_true(query_statement_bind_int64(insert, "a", i, &error));
        g_assert_cmpint(query_statement_update(insert, NULL, &error), ==, 1);
        g_assert_no_error(error);
        g_assert_cmpint(query_statement_get_last_insert_rowid(insert), ==, i);
    }
    {
        g_autoptr(QueryCursor) returned = query_statement_execute(insert, NULL, &error);

        g_assert_no_error(error);
        g_assert_true(query_cursor_next(returned, NULL, &error));
        g_assert_cmpint(query_cursor_get_int64(returned, 0), ==, 11);
        g_assert_false(query_cursor_next(returned, NULL, &error));
        g_assert_cmpint(query_cursor_get_changes(returned), ==, 1);
    }

    /* A column more between two executions: the second cursor has it. */
    select = query_connection_prepare(connection, SQL, "SELECT * FROM kept WHERE id = ?", NULL, &error);
    g_assert_no_error(error);
    for (guint n_columns = 2; n_columns <= 3; n_columns++) {
        g_autoptr(QueryCursor) cursor = NULL;

        g_assert_true(query_statement_bind_int64(select, "1", 3, &error));
        cursor = query_statement_execute(select, NULL, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(query_cursor_get_n_columns(cursor), ==, n_columns);
        g_assert_true(query_cursor_next(cursor, NULL, &error));
        g_assert_cmpstr(query_cursor_get_string(cursor, 1, NULL), ==, "3");
        if (n_columns == 2)
            client_execute(connection, "ALTER TABLE kept ADD COLUMN b");
    }
}

static void
test_close_releases(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    guint n_fds;

    g_assert_cmpint(client_query_number(connection, "SELECT 1"), ==, 1);
    n_fds = count_fds();
    for (guint i = 0; i < 20; i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(QueryCursor) cursor = query_connection_query(connection, SQL, COUNT_TO("1000000"), NULL, NULL, &error);

        g_assert_no_error(error);
        g_assert_true(query_cursor_next(cursor, NULL, &error));
    }
    g_assert_cmpint(client_query_number(connection, "SELECT 1"), ==, 1);
    wait_for_fds(n_fds);
}

static gpointer
cancel_soon(gpointer data)
{
    GCancellable *cancellable = data;
    gint64 end_usec = g_get_monotonic_time() + g_random_int_range(0, 600);

    while (g_get_monotonic_time() < end_usec)
        ;
    g_cancellable_cancel(cancellable);
    return NULL;
}

/* A cancel may come beside the reply. */
static void
test_cancelled_calls_release(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    guint n_fds, n_cancelled = 0;

    g_assert_cmpint(client_query_number(connection, "SELECT 1"), ==, 1);
    n_fds = count_fds();
    for (guint i = 0; i < 400; i++) {
        g_autoptr(GCancellable) cancellable = g_cancellable_new();
        g_autoptr(GError) error = NULL;
        GThread *thread = g_thread_new("cancel", cancel_soon, cancellable);
        g_autoptr(GVariant) version = query_connection_get_daemon_property(connection, "Version", cancellable, &error);

        (void) g_thread_join(thread);
        g_assert_true(version != NULL || g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
        n_cancelled += version == NULL;
    }
    g_assert_cmpuint(n_cancelled, >, 0);
    g_assert_cmpuint(n_cancelled, <, 400);
    g_assert_cmpint(client_query_number(connection, "SELECT 1"), ==, 1);
    wait_for_fds(n_fds);
}

/* A row does not wait for the next one, which here never comes. */
static void
test_rows_before_long_step(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;

    cursor = query_connection_query(connection, SQL,
                                    "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT count(*) FROM (" COUNT_TO("100000000000") ")",
                                    NULL, NULL, &error);
    g_assert_no_error(error);
    for (gint64 i = 1; i <= 2; i++) {
        g_assert_true(query_cursor_next(cursor, NULL, &error));
        g_assert_no_error(error);
        g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, i);
    }
    query_cursor_close(cursor);
    g_assert_cmpint(client_query_number(connection, "SELECT 3"), ==, 3);
}

/* A daemon that dies in the middle of a result: an error, never a short result. Then the next call brings a new one. */
static void
test_kill_in_stream(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    guint n_rows = 0;

    cursor = query_connection_query(connection, SQL, COUNT_TO("3000000"), NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    private_bus_kill_daemon(bus, SIGKILL);
    while (query_cursor_next(cursor, NULL, &error))
        n_rows++;
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED);
    g_assert_cmpuint(n_rows, <, 3000000);
    g_assert_cmpint(client_query_number(connection, "SELECT 5"), ==, 5);
}

/* Idle channels and statements of a daemon that has left are replaced without a word. */
static void
test_restart_when_idle(gconstpointer data)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryStatement) statement = NULL;
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(client_query_number(connection, "SELECT 1"), ==, 1);
    statement = query_connection_prepare(connection, SQL, "SELECT 2", NULL, &error);
    g_assert_no_error(error);
    private_bus_kill_daemon(bus, GPOINTER_TO_INT(data));
    g_assert_cmpint(client_query_number(connection, "SELECT 1"), ==, 1);
    cursor = query_statement_execute(statement, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, 2);
}

static void
test_unavailable(void)
{
    static const char *const stores[] = { "nowhere", "exits", "hangs" };

    for (gsize i = 0; i < G_N_ELEMENTS(stores); i++) {
        g_autoptr(GError) error = NULL;
        gint64 start_usec = g_get_monotonic_time();

        g_assert_null(query_connection_new_for_store(stores[i], NULL, &error));
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_UNAVAILABLE);
        g_assert_cmpint(g_get_monotonic_time() - start_usec, <, 6 * G_USEC_PER_SEC);
    }
    {
        g_autoptr(GError) error = NULL;

        g_assert_null(query_connection_new_for_store("no/name", NULL, &error));
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
    }
}

static gpointer
query_in_thread(gpointer data)
{
    for (int i = 0; i < 100; i++) {
        g_autofree char *text = g_strdup_printf("SELECT %d", i);

        g_assert_cmpint(client_query_number(data, text), ==, i);
    }
    return NULL;
}

static void
test_threads(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    GThread *threads[4];

    for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
        threads[i] = g_thread_new("query", query_in_thread, connection);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
        (void) g_thread_join(threads[i]);
}

static gboolean
ring_is_mapped(void)
{
    g_autofree char *maps = NULL;

    g_assert_true(g_file_get_contents("/proc/self/maps", &maps, NULL, NULL));
    return strstr(maps, "memfd:queryd-slots") != NULL;
}

/* Reads a large result. Returns: whether a part of it came by shared memory. */
static gboolean
read_large(QueryConnection *connection)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, SQL, COUNT_TO("300000"), NULL, NULL, &error);
    gboolean mapped = FALSE;
    gint64 n = 0;

    g_assert_no_error(error);
    while (query_cursor_next(cursor, NULL, &error)) {
        g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, ++n);
        if (n == 250000)
            mapped = ring_is_mapped();
    }
    g_assert_no_error(error);
    g_assert_cmpint(n, ==, 300000);
    g_assert_false(ring_is_mapped());
    return mapped;
}

/*
 * The same rows whichever way they come; the ring goes with its result, and a choice holds for the next query. If a result's
 * reader is slow when the ring is offered, the result goes by the socket (on a busy machine, or under a sanitizer). Then the
 * next one is read.
 */
static void
test_transports(void)
{
    static const QueryTransport transports[] = { QUERY_TRANSPORT_AUTO, QUERY_TRANSPORT_SOCKETPAIR, QUERY_TRANSPORT_RING };
    g_autoptr(QueryConnection) connection = client_open();

    query_connection_set_fresh(connection, TRUE); /* a result that is remembered needs no ring */
    g_assert_cmpint(query_connection_get_transport(connection), ==, QUERY_TRANSPORT_AUTO);
    for (gsize i = 0; i < 2 * G_N_ELEMENTS(transports); i++) {
        QueryTransport transport = transports[i % G_N_ELEMENTS(transports)];
        gboolean mapped;
        guint n_tries = 0;

        query_connection_set_transport(connection, transport);
        g_assert_cmpint(query_connection_get_transport(connection), ==, transport);
        do
            mapped = read_large(connection);
        while (!mapped && transport != QUERY_TRANSPORT_SOCKETPAIR && ++n_tries < TRIES_MAX);
        g_assert_cmpint(mapped, ==, transport != QUERY_TRANSPORT_SOCKETPAIR);
    }
}

static void
test_timeout(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;

    query_connection_set_timeout_msec(connection, 100);
    cursor = query_connection_query(connection, SQL, "SELECT count(*) FROM (" COUNT_TO("1000000000") ")", NULL, NULL, &error);
    g_assert_null(cursor);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_TIMEOUT);
    g_clear_error(&error);
    g_assert_false(
        query_connection_analyze(connection, SQL, "SELECT count(*) FROM (" COUNT_TO("1000000000") ")", NULL, NULL, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_TIMEOUT);
    g_assert_nonnull(strstr(error->message, "100 ms"));
    query_connection_set_timeout_msec(connection, 0);
    query_connection_set_max_rows(connection, 3);
    {
        g_autoptr(GBytes) json = NULL;
        const char *expected = "[{\"i\":1},\n{\"i\":2},\n{\"i\":3}]\n";

        g_clear_error(&error);
        cursor = query_connection_query(connection, SQL, COUNT_TO("10"), NULL, NULL, &error);
        g_assert_no_error(error);
        json = query_cursor_read_json(cursor, 0, NULL, &error);
        g_assert_no_error(error);
        g_assert_cmpmem(g_bytes_get_data(json, NULL), g_bytes_get_size(json), expected, strlen(expected));
    }
}

static void
test_management(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GVariant) stats = NULL;
    g_autoptr(GVariant) limits = NULL;
    g_autoptr(GVariant) queries = NULL;
    g_autoptr(GVariant) languages = NULL;
    g_auto(GStrv) messages = NULL;
    g_autofree char *sql = NULL;
    g_autofree char *plan = NULL;
    g_autoptr(GError) error = NULL;

    stats = query_connection_get_stats(connection, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(g_variant_get_type_string(stats), ==, "a{sv}");
    limits = query_connection_get_limits(connection, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(g_variant_n_children(limits), >, 10);
    queries = query_connection_list_queries(connection, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(g_variant_get_type_string(queries), ==, "aa{sv}");
    languages = query_connection_get_daemon_property(connection, "Languages", NULL, &error);
    g_assert_no_error(error);
    g_assert_true(g_variant_is_of_type(languages, G_VARIANT_TYPE_STRING_ARRAY));
    g_assert_true(query_connection_explain(connection, SQL, "SELECT 1", &sql, &plan, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpstr(plan, !=, "");
    g_assert_null(strstr(plan, "time: "));
    g_clear_pointer(&sql, g_free);
    g_clear_pointer(&plan, g_free);
    g_assert_true(query_connection_analyze(connection, SQL, "SELECT 1 UNION SELECT 2", &sql, &plan, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpstr(sql, ==, "SELECT 1 UNION SELECT 2");
    g_assert_nonnull(strstr(plan, "rows: 2, time: "));
    g_clear_pointer(&plan, g_free);
    g_clear_pointer(&sql, g_free);
    query_connection_set_base(connection, "http://example.org/"); /* as a query has it */
    g_assert_true(
        query_connection_explain(connection, QUERY_LANGUAGE_SPARQL, "SELECT ?s { ?s <relative> ?o }", &sql, &plan, NULL, &error));
    g_assert_no_error(error);
    g_assert_true(query_connection_check(connection, TRUE, &messages, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(g_strv_length(messages), ==, 0);
    g_assert_true(query_connection_optimize(connection, FALSE, NULL, &error));
    g_assert_no_error(error);
    g_assert_true(query_connection_reload(connection, NULL, &error));
    g_assert_no_error(error);
    g_assert_false(query_connection_cancel_query(connection, 999999999, NULL, &error));
    g_assert_nonnull(error);
}

/*
 * matchinfo() of FTS4 takes some two seconds, and nothing ends it. The daemon closes the channel half a second after the deadline,
 * with what was asked there next: that query failed, since "the daemon went away".
 */
static void
test_query_after_stuck_call(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GString) text = g_string_new("SELECT length(matchinfo(stuck, 's')) FROM stuck WHERE stuck MATCH 'a");
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;

    client_execute(connection, "CREATE VIRTUAL TABLE stuck USING fts4(text)");
    client_execute(connection, "INSERT INTO stuck VALUES (replace(hex(zeroblob(500)), '0', 'a '))");
    for (guint i = 1; i < 900; i++)
        g_string_append(text, " OR a");
    g_string_append_c(text, '\'');
    query_connection_set_timeout_msec(connection, 300);
    cursor = query_connection_query(connection, SQL, text->str, NULL, NULL, &error);
    g_assert_null(cursor);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_TIMEOUT);
    query_connection_set_timeout_msec(connection, QUERY_TIMEOUT_NONE);
    g_assert_cmpint(client_query_number(connection, "SELECT 7"), ==, 7);
    client_execute(connection, "DROP TABLE stuck");
}

int
main(int argc, char **argv)
{
    int status;

    bus = private_bus_new();
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client-e2e/values", test_values);
    g_test_add_func("/client-e2e/errors", test_errors);
    g_test_add_func("/client-e2e/constraint", test_constraint);
    g_test_add_func("/client-e2e/reuse", test_reuse);
    g_test_add_func("/client-e2e/statement", test_statement);
    g_test_add_func("/client-e2e/close-releases", test_close_releases);
    g_test_add_func("/client-e2e/cancelled-calls-release", test_cancelled_calls_release);
    g_test_add_func("/client-e2e/rows-before-long-step", test_rows_before_long_step);
    g_test_add_func("/client-e2e/kill-in-stream", test_kill_in_stream);
    g_test_add_data_func("/client-e2e/restart-when-idle/killed", GINT_TO_POINTER(SIGKILL), test_restart_when_idle);
    g_test_add_data_func("/client-e2e/restart-when-idle/stopped", GINT_TO_POINTER(SIGTERM), test_restart_when_idle);
    g_test_add_func("/client-e2e/unavailable", test_unavailable);
    g_test_add_func("/client-e2e/threads", test_threads);
    g_test_add_func("/client-e2e/transports", test_transports);
    g_test_add_func("/client-e2e/timeout", test_timeout);
    g_test_add_func("/client-e2e/query-after-stuck-call", test_query_after_stuck_call);
    g_test_add_func("/client-e2e/management", test_management);
    status = g_test_run();
    private_bus_free(bus);
    return status;
}
