/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file of the tests of direct connections.
 */
#include "tests/unit/client/direct-module/direct-fixture.h"

#include <string.h>

void
direct_fixture_set_up(DirectFixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    store_fixture_set_up(&self->store, NULL);
    self->path = g_build_filename(self->store.dir, "queryd.db", NULL);
    store_execute(self->store.writer, "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT);"
                                      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
                                      "INSERT INTO t SELECT i, printf('%0100d', i) FROM n");
    self->connection = direct_fixture_open(self, &error);
    g_assert_no_error(error);
}

void
direct_fixture_tear_down(DirectFixture *self, gconstpointer data)
{
    g_clear_object(&self->connection);
    store_fixture_tear_down(&self->store, NULL);
    g_free(self->path);
}

QueryConnection *
direct_fixture_open(DirectFixture *self, GError **error)
{
    return query_connection_new_direct(self->path, NULL, error);
}

QueryCursor *
direct_query(QueryConnection *connection, const char *text)
{
    g_autoptr(GError) error = NULL;
    QueryCursor *cursor = query_connection_query(connection, DIRECT_SQL, text, NULL, NULL, &error);

    g_assert_no_error(error);
    return cursor;
}

gint64
direct_query_int64(QueryConnection *connection, const char *text)
{
    g_autoptr(QueryCursor) cursor = direct_query(connection, text);

    g_assert_true(query_cursor_next(cursor, NULL, NULL));
    return query_cursor_get_int64(cursor, 0);
}

guint
direct_count_rows(QueryCursor *cursor, GError **error)
{
    guint n = 0;

    while (query_cursor_next(cursor, NULL, error))
        n++;
    return n;
}

void
direct_assert_error(const GError *error, QueryError code, const char *words)
{
    g_assert_error(error, QUERY_ERROR, (gint) code);
    if (strstr(error->message, words) == NULL)
        g_error("'%s' does not say '%s'", error->message, words);
}
