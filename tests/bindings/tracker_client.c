/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program for TinySPARQL in C, written against libtracker-sparql only; queryd answers it.
 *
 * check: a few calls, and "all as expected". read N: N rows of 31 columns, and the seconds from the call to the last row.
 * count TEXT: rows of a query, then "end" or the error.
 */
#include <libtracker-sparql/tracker-sparql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
stop(const char *what, GError *error)
{
    fprintf(stderr, "%s: %s\n", what, error != NULL ? error->message : "not as expected");
    exit(EXIT_FAILURE);
}

static void
on_updated(GObject *source, GAsyncResult *result, gpointer loop)
{
    GError *error = NULL;

    if (!tracker_sparql_connection_update_array_finish(TRACKER_SPARQL_CONNECTION(source), result, &error))
        stop("update_array", error);
    g_main_loop_quit(loop);
}

static void
update_array(TrackerSparqlConnection *connection)
{
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    char *updates[] = { "INSERT DATA { <urn:c:1> <urn:c:n> 1 }", "INSERT DATA { <urn:c:2> <urn:c:n> 2 }",
                        "DELETE DATA { <urn:c:1> <urn:c:n> 1 }" };

    tracker_sparql_connection_update_array_async(connection, updates, G_N_ELEMENTS(updates), NULL, on_updated, loop);
    g_main_loop_run(loop);
    g_main_loop_unref(loop);
}

static void
check(TrackerSparqlConnection *connection)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TrackerSparqlStatement) statement = NULL;
    g_autoptr(TrackerSparqlCursor) cursor = NULL;

    update_array(connection);
    statement = tracker_sparql_connection_query_statement(connection, "SELECT ?s ?n { ?s <urn:c:n> ?n . FILTER (?n >= ~low) }",
                                                          NULL, &error);
    if (statement == NULL)
        stop("query_statement", error);
    tracker_sparql_statement_bind_int(statement, "low", 1);
    cursor = tracker_sparql_statement_execute(statement, NULL, &error);
    if (cursor == NULL || !tracker_sparql_cursor_next(cursor, NULL, &error))
        stop("execute", error);
    if (g_strcmp0(tracker_sparql_cursor_get_string(cursor, 0, NULL), "urn:c:2") != 0 ||
        tracker_sparql_cursor_get_integer(cursor, 1) != 2 || tracker_sparql_cursor_next(cursor, NULL, &error))
        stop("rows", error);
    puts("all as expected");
}

static void
read_rows(TrackerSparqlConnection *connection, const char *text)
{
    g_autoptr(GError) error = NULL;
    gint64 start = g_get_monotonic_time();
    g_autoptr(TrackerSparqlCursor) cursor = tracker_sparql_connection_query(connection, text, NULL, &error);
    guint64 n_bytes = 0;
    guint n_rows = 0;

    if (cursor == NULL)
        stop("query", error);
    while (tracker_sparql_cursor_next(cursor, NULL, &error)) {
        n_rows++;
        for (int i = 0; i < tracker_sparql_cursor_get_n_columns(cursor); i++) {
            glong length = 0;

            (void) tracker_sparql_cursor_get_string(cursor, i, &length);
            n_bytes += (guint64) length;
        }
    }
    printf("%u %" G_GUINT64_FORMAT " %.3f %s\n", n_rows, n_bytes, (double) (g_get_monotonic_time() - start) / 1e6,
           error != NULL ? error->message : "end");
}

int
main(int argc, char **argv)
{
    const char *service = g_getenv("TRACKER_TEST_SERVICE") != NULL ? g_getenv("TRACKER_TEST_SERVICE") : "org.queryd.Query1";
    g_autoptr(GError) error = NULL;
    g_autoptr(TrackerSparqlConnection) connection = tracker_sparql_connection_bus_new(service, NULL, NULL, &error);

    if (connection == NULL)
        stop("connection", error);
    if (argc > 2 && strcmp(argv[1], "count") == 0)
        read_rows(connection, argv[2]);
    else
        check(connection);
    return EXIT_SUCCESS;
}
