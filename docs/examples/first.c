/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <query-client.h>

static const char *const create = "CREATE TABLE IF NOT EXISTS album(title TEXT PRIMARY KEY, year INTEGER)";
static const char *const insert = "INSERT OR REPLACE INTO album VALUES (?, ?)";
static const char *const older = "SELECT title, year FROM album WHERE year < :before ORDER BY year";

static gboolean
add_album(QueryConnection *connection, const char *title, gint64 year, GError **error)
{
    GVariant *values = g_variant_new_parsed("{'1': <%s>, '2': <%x>}", title, year);

    return query_connection_update(connection, QUERY_LANGUAGE_SQL, insert, values, NULL, error) >= 0;
}

int
main(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryConnection) connection = query_connection_new(NULL, &error);
    g_autoptr(QueryCursor) cursor = NULL;

    if (connection != NULL && query_connection_update(connection, QUERY_LANGUAGE_SQL, create, NULL, NULL, &error) >= 0 &&
        add_album(connection, "Kind of Blue", 1959, &error) && add_album(connection, "Revolver", 1966, &error) &&
        add_album(connection, "Dummy", 1994, &error))
        cursor = query_connection_query(connection, QUERY_LANGUAGE_SQL, older, g_variant_new_parsed("{'before': <1990>}"), NULL,
                                        &error);
    while (cursor != NULL && query_cursor_next(cursor, NULL, &error))
        g_print("%s (%" G_GINT64_FORMAT ")\n", query_cursor_get_string(cursor, 0, NULL), query_cursor_get_int64(cursor, 1));
    if (error != NULL)
        g_printerr("%s\n", error->message);

    return error != NULL;
}
