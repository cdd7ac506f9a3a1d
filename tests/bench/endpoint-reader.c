/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One query on a remote endpoint, each value read as text: endpoint-reader URL FORMAT QUERY. Prints milliseconds, rows and bytes.
 *
 * Place: tests/bench, for remote_rates.py.
 */
#include <query-client.h>
#include <stdio.h>

static gboolean
read_rows(QueryCursor *cursor, guint64 *ret_n_bytes, GError **error)
{
    guint n = query_cursor_get_n_columns(cursor);
    g_autoptr(GError) failure = NULL;

    while (query_cursor_next(cursor, NULL, &failure)) {
        for (guint i = 0; i < n; i++) {
            gsize n_bytes = 0;

            (void) query_cursor_get_string(cursor, i, &n_bytes);
            *ret_n_bytes += n_bytes;
        }
    }
    if (failure == NULL)
        return TRUE;
    g_propagate_error(error, g_steal_pointer(&failure));
    return FALSE;
}

int
main(int argc, char **argv)
{
    gint64 start_usec = g_get_monotonic_time();
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryConnection) connection = NULL;
    g_autoptr(QueryCursor) cursor = NULL;
    guint64 n_bytes = 0;

    if (argc != 4) {
        (void) fprintf(stderr, "usage: endpoint-reader URL FORMAT QUERY\n");
        return 2;
    }
    connection = query_connection_new_remote(argv[1], g_variant_new_parsed("{'format': <%s>}", argv[2]), NULL, &error);
    if (connection != NULL)
        cursor = query_connection_query(connection, QUERY_LANGUAGE_SPARQL, argv[3], NULL, NULL, &error);
    if (cursor == NULL || !read_rows(cursor, &n_bytes, &error)) {
        (void) fprintf(stderr, "endpoint-reader: %s\n", error->message);
        return 1;
    }
    (void) printf("%.3f %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "\n", (double) (g_get_monotonic_time() - start_usec) / 1000.0,
                  query_cursor_get_n_rows(cursor), n_bytes);
    return 0;
}
