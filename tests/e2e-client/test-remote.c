/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Remote connections with a server of the test, whose answers are right, slow, cut, endless or nonsense.
 */
#include <glib/gstdio.h>
#include <string.h>

#include "client-lib/query-client.h"
#include "tests/e2e-client/answering-server.h"
#include "tests/e2e-client/client-calls.h"

#define SPARQL QUERY_LANGUAGE_SPARQL

static guint16 port; /* of the server */

/* Connections ----------------------------------------------------------------------------------------------------------- */

static QueryConnection *
open_at(const char *path, const char *options)
{
    g_autofree char *url = g_strdup_printf("http://127.0.0.1:%u%s", port, path);
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = query_connection_new_remote(url, options != NULL ? g_variant_new_parsed(options) : NULL, NULL,
                                                              &error);

    g_assert_no_error(error);
    return connection;
}

/* The error of a query, also one that comes after rows. */
static GError *
fail_at(const char *path, const char *options, guint *ret_n_rows)
{
    g_autoptr(QueryConnection) connection = open_at(path, options);
    g_autoptr(QueryCursor) cursor = NULL;
    GError *error = NULL;

    *ret_n_rows = 0;
    cursor = query_connection_query(connection, SPARQL, "SELECT * { ?s ?p ?o }", NULL, NULL, &error);
    while (cursor != NULL && query_cursor_next(cursor, NULL, &error))
        (*ret_n_rows)++;
    return error;
}

static void
expect_failure(const char *path, QueryError code, const char *message)
{
    guint n_rows;
    g_autoptr(GError) error = fail_at(path, NULL, &n_rows);

    g_assert_error(error, QUERY_ERROR, (int) code);
    if (strstr(error->message, message) == NULL)
        g_error("%s: '%s' is not in '%s'", path, message, error->message);
}

static void
expect_one_row(QueryConnection *connection, GVariant *parameters)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, SPARQL, "SELECT * { ?s ?p $o }", parameters, NULL, &error);

    g_assert_no_error(error);
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    g_assert_cmpstr(query_cursor_get_string(cursor, 0, NULL), ==, "x");
    g_assert_cmpstr(query_cursor_get_column_name(cursor, 0), ==, "a");
    g_assert_false(query_cursor_next(cursor, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(query_cursor_get_n_rows(cursor), ==, 1);
}

static void
test_request(void)
{
    g_autoptr(QueryConnection) connection = open_at("/one", "{'token': <'secret'>}");
    const char *graphs[] = { "http://e/g", NULL };
    guint before;

    expect_one_row(connection, NULL);
    before = answering_server_count_connections();
    g_assert_true(answering_server_was_asked("Authorization: Bearer secret"));
    g_assert_true(answering_server_was_asked("application/x-www-form-urlencoded"));
    g_assert_true(answering_server_was_asked("query=SELECT%20%2A%20%7B%20%3Fs%20%3Fp%20%24o%20%7D"));
    g_assert_true(query_connection_set_dataset(connection, graphs, graphs, NULL));
    query_connection_set_base(connection, "http://e/");
    expect_one_row(connection, g_variant_new_parsed("{'o': <'&\"'>}"));
    g_assert_true(answering_server_was_asked("query=BASE%20%3Chttp%3A%2F%2Fe%2F%3E%20SELECT"));
    g_assert_true(answering_server_was_asked("%22%26%5C%22%22"));
    g_assert_true(answering_server_was_asked("&default-graph-uri=http%3A%2F%2Fe%2Fg&named-graph-uri=http%3A%2F%2Fe%2Fg"));
    g_assert_cmpuint(answering_server_count_connections(), ==, before); /* it was kept */
}

static void
test_update(void)
{
    g_autofree char *options = g_strdup_printf("{'update_url': <'http://127.0.0.1:%u/done'>}", port);
    g_autoptr(QueryConnection) connection = open_at("/one", options);
    const char *graphs[] = { "http://e/g", NULL };
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryStatement) statement = NULL;

    g_assert_true(query_connection_set_dataset(connection, graphs, NULL, NULL));
    g_assert_cmpint(query_connection_update(connection, SPARQL, "INSERT { <x:a> <x:b> $v } WHERE {}",
                                            g_variant_new_parsed("{'v': <5>}"), NULL, &error),
                    ==, 0);
    g_assert_no_error(error);
    g_assert_true(answering_server_was_asked("POST /done"));
    g_assert_true(answering_server_was_asked("update=INSERT"));
    g_assert_true(answering_server_was_asked("&using-graph-uri=http%3A%2F%2Fe%2Fg"));

    statement = query_connection_prepare_update(connection, SPARQL, "INSERT { <x:a> <x:b> $v } WHERE {}", NULL, &error);
    g_assert_no_error(error);
    g_assert_true(query_statement_bind_int64(statement, "v", 77, &error));
    g_assert_cmpint(query_statement_update(statement, NULL, &error), ==, 0);
    g_assert_no_error(error);
    g_assert_true(answering_server_was_asked("%2277%22%5E%5E%3Chttp"));
    expect_one_row(connection, NULL);
}

static void
test_statement(void)
{
    g_autoptr(QueryConnection) connection = open_at("/one", NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryStatement) statement = query_connection_prepare(connection, SPARQL, "SELECT $a { $a ?p $b }", NULL, &error);

    g_assert_no_error(error);
    g_assert_cmpuint(query_statement_get_n_parameters(statement), ==, 2);
    g_assert_cmpstr(query_statement_get_parameter_name(statement, 1), ==, "$b");
    for (guint i = 0; i < 3; i++) {
        g_autofree char *expected = g_strdup_printf("%%20%%22%u%%22%%5E%%5E", i);
        g_autoptr(QueryCursor) cursor = NULL;

        g_assert_true(
            query_statement_bind_parameters(statement, g_variant_new_parsed("{'a': <('x:y', '@id', '')>, 'b': <%u>}", i), &error));
        cursor = query_statement_execute(statement, NULL, &error);
        g_assert_no_error(error);
        g_assert_true(query_cursor_next(cursor, NULL, &error));
        g_assert_true(answering_server_was_asked(expected));
        g_assert_true(answering_server_was_asked("SELECT%20%28%3Cx%3Ay%3E%20AS%20%3Fa%29"));
    }
}

static void
test_bad_answers(void)
{
    expect_failure("/html", QUERY_ERROR_UNSUPPORTED, "'text/html', which is no format of SPARQL results");
    expect_failure("/no-type", QUERY_ERROR_UNSUPPORTED, "is it a SPARQL endpoint?");
    expect_failure("/not-json", QUERY_ERROR_PROTOCOL, "it is no JSON of SPARQL results at '");
    expect_failure("/not-utf8", QUERY_ERROR_PROTOCOL, "not UTF-8");
    expect_failure("/gzip", QUERY_ERROR_PROTOCOL, "compressed");
    expect_failure("/not-http", QUERY_ERROR_DISCONNECTED, "was lost");
    expect_failure("/endless-headers", QUERY_ERROR_DISCONNECTED, "was lost");
}

static void
test_problems(void)
{
    guint n_rows;
    guint line = 0;
    guint column = 0;
    g_autoptr(GError) wrong = fail_at("/wrong", NULL, &n_rows);
    g_autoptr(GError) problem = fail_at("/problem", NULL, &n_rows);

    g_assert_error(wrong, QUERY_ERROR, QUERY_ERROR_SYNTAX);
    g_assert_cmpstr(wrong->message, ==, "3:17: the endpoint says (400): error at 3:17: expected  one of  \xef\xbf\xbd \"a\"");
    g_assert_true(query_error_get_place(wrong, &line, &column));
    g_assert_error(problem, QUERY_ERROR, QUERY_ERROR_TOO_BIG);
    g_assert_cmpstr(problem->message, ==, "2:5: the endpoint says (503): too \"large\"");
    expect_failure("/denied", QUERY_ERROR_ACCESS_DENIED, "(401): Unauthorized");
    expect_failure("/busy", QUERY_ERROR_BUSY, "(503): Service Unavailable");
}

/* No cut result looks whole. */
static void
test_cut(void)
{
    static const char *const paths[] = { "/cut-length", "/cut-chunk", "/cut-between", "/cut-headers", "/nothing" };
    guint n_rows;
    g_autoptr(GError) json = fail_at("/cut-json", NULL, &n_rows);
    g_autoptr(GError) tsv = NULL;

    g_assert_error(json, QUERY_ERROR, QUERY_ERROR_PROTOCOL);
    for (guint i = 0; i < G_N_ELEMENTS(paths); i++) {
        g_autoptr(GError) error = fail_at(paths[i], NULL, &n_rows);

        if (!g_error_matches(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED))
            g_error("%s: %s", paths[i], error != NULL ? error->message : "it looked whole");
    }
    g_assert_null(fail_at("/closes", NULL, &n_rows));
    g_assert_cmpuint(n_rows, ==, 3);
    tsv = fail_at("/closes-said", NULL, &n_rows);
    g_assert_error(tsv, QUERY_ERROR, QUERY_ERROR_PROTOCOL);
    g_clear_error(&tsv);
    tsv = fail_at("/eof-tsv", NULL, &n_rows);
    g_assert_error(tsv, QUERY_ERROR, QUERY_ERROR_PROTOCOL);
    g_assert_nonnull(strstr(tsv->message, "neither length nor chunks"));
    {
        g_autoptr(QueryConnection) connection = open_at("/eof-json", NULL);

        expect_one_row(connection, NULL);
    }
}

static void
test_redirects(void)
{
    g_autoptr(QueryConnection) same = open_at("/same-origin", "{'user': <'me'>, 'password': <'pass'>}");
    g_autoptr(QueryConnection) other = open_at("/other-origin", NULL);
    guint n_rows;
    g_autoptr(GError) refused = NULL;
    g_autoptr(GError) update = NULL;

    expect_one_row(same, NULL);
    g_assert_true(answering_server_was_asked("POST /one"));
    g_assert_true(answering_server_was_asked("Authorization: Basic bWU6cGFzcw=="));
    expect_one_row(other, NULL);
    g_assert_false(answering_server_was_asked("Authorization"));

    refused = fail_at("/other-origin", "{'token': <'secret'>}", &n_rows);
    g_assert_error(refused, QUERY_ERROR, QUERY_ERROR_ACCESS_DENIED);
    g_assert_true(answering_server_was_asked("POST /other-origin"));
    g_assert_cmpint(query_connection_update(other, SPARQL, "DROP ALL", NULL, NULL, &update), ==, -1);
    g_assert_error(update, QUERY_ERROR, QUERY_ERROR_ACCESS_DENIED);
    expect_failure("/see-other", QUERY_ERROR_PROTOCOL, "status 302");
    expect_failure("/to-file", QUERY_ERROR_PROTOCOL, "no URL of http");
    expect_failure("/loop", QUERY_ERROR_PROTOCOL, "more than 5 times");
}

static void
test_deadline(void)
{
    static const char *const paths[] = { "/hangs", "/hangs-later" };

    for (guint i = 0; i < G_N_ELEMENTS(paths); i++) {
        g_autoptr(QueryConnection) connection = open_at(paths[i], NULL);
        gint64 start_usec = g_get_monotonic_time();
        g_autoptr(GError) error = NULL;
        g_autoptr(QueryCursor) cursor = NULL;

        query_connection_set_timeout_msec(connection, 50);
        cursor = query_connection_query(connection, SPARQL, "SELECT * {}", NULL, NULL, &error);
        while (cursor != NULL && query_cursor_next(cursor, NULL, &error))
            continue;
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_TIMEOUT);
        g_assert_cmpint(g_get_monotonic_time() - start_usec, >=, 50000);
    }
    {
        g_autoptr(QueryConnection) connection = open_at("/hangs", NULL);
        g_autoptr(GError) error = NULL;

        query_connection_set_timeout_msec(connection, 50);
        g_assert_cmpint(query_connection_update(connection, SPARQL, "DROP ALL", NULL, NULL, &error), ==, -1);
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_TIMEOUT);
        g_assert_nonnull(strstr(error->message, "may be executed"));
    }
}

static gpointer
cancel_later(gpointer data)
{
    while (!answering_server_was_asked("POST /hangs"))
        g_usleep(1000); /* until the request is there: no time is waited for */
    g_cancellable_cancel(data);
    return NULL;
}

static void
test_cancel(void)
{
    g_autoptr(QueryConnection) connection = open_at("/hangs", NULL);
    g_autoptr(QueryConnection) endless = open_at("/endless", NULL);
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = NULL;
    GThread *thread;

    answering_server_forget();
    thread = g_thread_new("cancel", cancel_later, cancellable);
    g_assert_null(query_connection_query(connection, SPARQL, "SELECT * {}", NULL, cancellable, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    (void) g_thread_join(thread);

    /* a result that never ends: closed by the application, and cut by max_rows */
    g_clear_error(&error);
    cursor = query_connection_query(endless, SPARQL, "SELECT * {}", NULL, NULL, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < 100000; i++)
        g_assert_true(query_cursor_next(cursor, NULL, &error));
    query_cursor_close(cursor);
    g_clear_object(&cursor);
    query_connection_set_max_rows(endless, 1000);
    cursor = query_connection_query(endless, SPARQL, "SELECT * {}", NULL, NULL, &error);
    g_assert_no_error(error);
    while (query_cursor_next(cursor, NULL, &error))
        continue;
    g_assert_no_error(error);
    g_assert_cmpuint(query_cursor_get_n_rows(cursor), ==, 1000);
}

/* Any number of results are open at once: each has a connection. */
static void
test_many_cursors(void)
{
    g_autoptr(QueryConnection) connection = open_at("/endless", NULL);
    QueryCursor *cursors[20];
    g_autoptr(GError) error = NULL;

    for (guint i = 0; i < G_N_ELEMENTS(cursors); i++) {
        cursors[i] = query_connection_query(connection, SPARQL, "SELECT * {}", NULL, NULL, &error);
        g_assert_no_error(error);
    }
    for (guint i = 0; i < G_N_ELEMENTS(cursors); i++) {
        g_assert_true(query_cursor_next(cursors[i], NULL, &error));
        g_object_unref(cursors[i]);
    }
}

static void
test_async(void)
{
    g_autoptr(QueryConnection) connection = NULL;
    g_autofree char *url = g_strdup_printf("http://127.0.0.1:%u/one", port);
    g_autoptr(GAsyncResult) opened = NULL;
    g_autoptr(GAsyncResult) queried = NULL;
    g_autoptr(GAsyncResult) stepped = NULL;
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;

    query_connection_new_remote_async(url, NULL, NULL, client_keep_result, &opened);
    (void) client_wait_for(&opened);
    connection = query_connection_new_remote_finish(opened, &error);
    g_assert_no_error(error);
    query_connection_query_async(connection, SPARQL, "SELECT * {}", NULL, NULL, client_keep_result, &queried);
    (void) client_wait_for(&queried);
    cursor = query_connection_query_finish(connection, queried, &error);
    g_assert_no_error(error);
    query_cursor_next_async(cursor, NULL, client_keep_result, &stepped);
    (void) client_wait_for(&stepped);
    g_assert_true(query_cursor_next_finish(cursor, stepped, &error));
    g_assert_cmpstr(query_cursor_get_string(cursor, 0, NULL), ==, "x");
}

static void
expect_unsupported(GError *error, const char *message)
{
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_UNSUPPORTED);
    if (strstr(error->message, message) == NULL)
        g_error("'%s' is not in '%s'", message, error->message);
    g_error_free(error);
}

static void
test_unsupported(void)
{
    g_autoptr(QueryConnection) connection = open_at("/one", NULL);
    g_autoptr(QueryBatch) batch = query_connection_create_batch(connection);
    g_autofree char *url = NULL;
    GError *error = NULL;

    g_object_get(connection, "url", &url, NULL);
    g_assert_true(g_str_has_prefix(url, "http://127.0.0.1:"));
    g_assert_null(query_connection_query(connection, QUERY_LANGUAGE_SQL, "SELECT 1", NULL, NULL, &error));
    expect_unsupported(g_steal_pointer(&error), "takes SPARQL, not SQL");
    g_assert_null(query_connection_begin(connection, NULL, &error));
    expect_unsupported(g_steal_pointer(&error), "no transactions");
    query_batch_add(batch, SPARQL, "DROP ALL", NULL);
    g_assert_false(query_batch_execute(batch, NULL, &error));
    expect_unsupported(g_steal_pointer(&error), "no batches");
    g_assert_null(query_connection_get_stats(connection, NULL, &error));
    expect_unsupported(g_steal_pointer(&error), "no daemon to ask");
    g_assert_null(query_namespaces_new_from_store(connection, NULL, &error));
    expect_unsupported(g_steal_pointer(&error), "remote connection cannot read the prefixes");
    g_assert_false(query_connection_explain(connection, SPARQL, "ASK {}", NULL, NULL, NULL, &error));
    expect_unsupported(g_steal_pointer(&error), "no daemon to ask");
    g_assert_cmpint(query_connection_open_payload(connection, 1, NULL, &error), <, 0);
    expect_unsupported(g_steal_pointer(&error), "no daemon to ask");
}

static void
refuse(const char *url, const char *options, QueryError code, const char *message)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(query_connection_new_remote(url, options != NULL ? g_variant_new_parsed(options) : NULL, NULL, &error));
    g_assert_error(error, QUERY_ERROR, (int) code);
    if (strstr(error->message, message) == NULL)
        g_error("'%s' is not in '%s'", message, error->message);
    g_assert_null(strstr(error->message, "secret"));
}

static void
test_refused_options(void)
{
    const char *url = "http://127.0.0.1:1/";

    refuse("ftp://e/", NULL, QUERY_ERROR_BAD_PARAMETER, "neither http://");
    refuse("http://me:secret@e/", NULL, QUERY_ERROR_BAD_PARAMETER, "no place for user and password");
    refuse("sparql", NULL, QUERY_ERROR_BAD_PARAMETER, "cannot be used");
    refuse("http://e/#x", NULL, QUERY_ERROR_BAD_PARAMETER, "fragment");
    refuse(url, "{'nosuch': <1>}", QUERY_ERROR_BAD_PARAMETER, "no option 'nosuch'");
    refuse(url, "{'token': <1>}", QUERY_ERROR_BAD_PARAMETER, "has the type 's', not 'i'");
    refuse(url, "{'token': <'secret\\r\\nX: y'>}", QUERY_ERROR_BAD_PARAMETER, "control characters");
    refuse(url, "{'format': <'csv'>}", QUERY_ERROR_BAD_PARAMETER, "json, tsv and xml");
    refuse(url, "{'row_bytes': <uint64 1>}", QUERY_ERROR_BAD_PARAMETER, "row_bytes is from");
    refuse(url, "{'update_url': <'x'>}", QUERY_ERROR_BAD_PARAMETER, "cannot be used");
    refuse("http://example.org/", "{'token': <'secret'>}", QUERY_ERROR_ACCESS_DENIED, "would travel unencrypted");
    refuse(url, "{'netrc': <'/nonexistent'>}", QUERY_ERROR_BAD_PARAMETER, "No such file");
    refuse(url, "{'token_file': <'/dev/null'>}", QUERY_ERROR_BAD_PARAMETER, "no regular file");
    refuse(url, "{'ca_file': <'/nonexistent'>}", QUERY_ERROR_BAD_PARAMETER, "certificates");
}

static void
test_netrc(void)
{
    g_autofree char *folder = g_dir_make_tmp("remote-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "netrc", NULL);
    g_autofree char *options = g_strdup_printf("{'netrc': <'%s'>}", path);
    g_autofree char *token = g_strdup_printf("{'token_file': <'%s'>}", path);

    g_assert_true(g_file_set_contents(
        path, "machine other login a password b\nmachine 127.0.0.1\n\tlogin me password pass\ndefault login x password y\n", -1,
        NULL));
    g_assert_cmpint(g_chmod(path, 0640), ==, 0);
    refuse("http://127.0.0.1:1/", options, QUERY_ERROR_ACCESS_DENIED, "0600");
    g_assert_cmpint(g_chmod(path, 0600), ==, 0);
    {
        g_autoptr(QueryConnection) connection = open_at("/one", options);

        expect_one_row(connection, NULL);
        g_assert_true(answering_server_was_asked("Authorization: Basic bWU6cGFzcw=="));
    }
    g_assert_true(g_file_set_contents(path, "word\n", -1, NULL));
    g_assert_cmpint(g_chmod(path, 0600), ==, 0);
    {
        g_autoptr(QueryConnection) connection = open_at("/one", token);

        expect_one_row(connection, NULL);
        g_assert_true(answering_server_was_asked("Authorization: Bearer word"));
    }
    (void) g_remove(path);
    (void) g_rmdir(folder);
}

static void
test_unreachable(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryConnection) connection = query_connection_new_remote("http://127.0.0.1:1/", NULL, NULL, &error);
    g_autoptr(QueryConnection) nowhere = query_connection_new_remote("http://host.invalid/", NULL, NULL, &error);

    g_assert_no_error(error);
    g_assert_null(query_connection_query(connection, SPARQL, "ASK {}", NULL, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_UNAVAILABLE);
    g_clear_error(&error);
    g_assert_null(query_connection_query(nowhere, SPARQL, "ASK {}", NULL, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_UNAVAILABLE);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    port = answering_server_start();
    g_test_add_func("/remote/request", test_request);
    g_test_add_func("/remote/update", test_update);
    g_test_add_func("/remote/statement", test_statement);
    g_test_add_func("/remote/bad-answers", test_bad_answers);
    g_test_add_func("/remote/problems", test_problems);
    g_test_add_func("/remote/cut", test_cut);
    g_test_add_func("/remote/redirects", test_redirects);
    g_test_add_func("/remote/deadline", test_deadline);
    g_test_add_func("/remote/cancel", test_cancel);
    g_test_add_func("/remote/many-cursors", test_many_cursors);
    g_test_add_func("/remote/async", test_async);
    g_test_add_func("/remote/unsupported", test_unsupported);
    g_test_add_func("/remote/refused-options", test_refused_options);
    g_test_add_func("/remote/netrc", test_netrc);
    g_test_add_func("/remote/unreachable", test_unreachable);
    return g_test_run();
}
