/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * More statements and open cursors in one process than the daemon allows channels (64) and unfinished results (32). Every one
 * works, and updates between them, too.
 */
#include <pthread.h>
#include <string.h>

#include "tests/e2e-client/client-calls.h"
#include "tests/e2e-client/private-bus.h"

#define SQL QUERY_LANGUAGE_SQL
#define N_STATEMENTS 500
#define N_CURSORS 200
#define N_THREADS 4
#define N_BUSY 80
#define N_CONNECTIONS 12
#define N_STATEMENTS_EACH 20

static PrivateBus *bus;

/* Results of three sizes: in one page, in several, and larger than any buffer on the way. */
static guint
get_n_rows(guint i)
{
    static const guint sizes[] = { 10, 1000, 100000 };

    return sizes[i % G_N_ELEMENTS(sizes)];
}

static char *
get_query(guint i)
{
    return g_strdup_printf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
                           " SELECT i, 'row ' || i || ' of %u' FROM n",
                           get_n_rows(i), i);
}

static void
make_table(QueryConnection *connection)
{
    client_execute(connection, "CREATE TABLE IF NOT EXISTS many(a INTEGER PRIMARY KEY, b)");
    client_execute(connection, "DELETE FROM many");
}

static void
insert(QueryConnection *connection)
{
    client_execute(connection, "INSERT INTO many(b) VALUES('x')");
}

static void
test_statements(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GPtrArray) queries = g_ptr_array_new_with_free_func(g_object_unref);
    g_autoptr(GPtrArray) updates = g_ptr_array_new_with_free_func(g_object_unref);
    g_autoptr(GError) error = NULL;

    make_table(connection);
    for (guint i = 0; i < N_STATEMENTS; i++) {
        g_autofree char *query = g_strdup_printf("SELECT %u + :a", i);
        g_autofree char *update = g_strdup_printf("INSERT INTO many(a, b) VALUES(:a, %u)", i);

        g_ptr_array_add(queries, query_connection_prepare(connection, SQL, query, NULL, &error));
        g_assert_no_error(error);
        g_ptr_array_add(updates, query_connection_prepare_update(connection, SQL, update, NULL, &error));
        g_assert_no_error(error);
    }
    for (guint round = 0; round < 3; round++) {
        for (guint i = 0; i < N_STATEMENTS; i++) {
            g_autoptr(QueryCursor) cursor = NULL;

            g_assert_true(query_statement_bind_int64(updates->pdata[i], "a", (gint64) round * N_STATEMENTS + i, &error));
            g_assert_cmpint(query_statement_update(updates->pdata[i], NULL, &error), ==, 1);
            g_assert_no_error(error);
            g_assert_true(query_statement_bind_int64(queries->pdata[i], "a", round, &error));
            cursor = query_statement_execute(queries->pdata[i], NULL, &error);
            g_assert_no_error(error);
            g_assert_true(query_cursor_next(cursor, NULL, &error));
            g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, i + round);
        }
    }
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM many"), ==, 3 * N_STATEMENTS);
}

typedef struct Reader {
    QueryCursor *cursor; /* (owned) */
    guint index;
    guint n_read;
    const char *text; /* of the current row */
} Reader;

/* The current row is still there; then the next one. FALSE at the end. */
static gboolean
read_one(Reader *self)
{
    g_autofree char *expected = NULL;
    g_autoptr(GError) error = NULL;

    if (self->n_read > 0) {
        expected = g_strdup_printf("row %u of %u", self->n_read, self->index);
        g_assert_cmpstr(self->text, ==, expected);
        g_assert_cmpint(query_cursor_get_int64(self->cursor, 0), ==, self->n_read);
    }
    if (!query_cursor_next(self->cursor, NULL, &error)) {
        g_assert_no_error(error);
        g_assert_cmpuint(self->n_read, ==, get_n_rows(self->index));
        g_assert_cmpuint(query_cursor_get_n_rows(self->cursor), ==, self->n_read);
        return FALSE;
    }
    self->n_read++;
    self->text = query_cursor_get_string(self->cursor, 1, NULL);
    return TRUE;
}

/* So many rows of each cursor in turn, more in each round. */
static void
read_interleaved(Reader *readers, guint n, QueryConnection *writer)
{
    guint n_open = n;

    for (guint step = 1; n_open > 0; step *= 4) {
        for (guint i = 0; i < n; i++) {
            guint n_left = step;

            while (readers[i].cursor != NULL && n_left-- > 0) {
                if (read_one(&readers[i]))
                    continue;
                g_clear_object(&readers[i].cursor);
                n_open--;
            }
        }
        if (writer != NULL)
            insert(writer);
    }
}

static void
read_many(QueryConnection *connection, guint n, guint first, QueryConnection *writer)
{
    g_autofree Reader *readers = g_new0(Reader, n);

    for (guint i = 0; i < n; i++) {
        g_autofree char *query = get_query(first + i);
        g_autoptr(GError) error = NULL;

        readers[i] = (Reader){ .index = first + i };
        readers[i].cursor = query_connection_query(connection, SQL, query, NULL, NULL, &error);
        g_assert_no_error(error);
        (void) read_one(&readers[i]);
        if (writer != NULL)
            insert(writer);
    }
    read_interleaved(readers, n, writer);
}

static void
test_cursors(void)
{
    g_autoptr(QueryConnection) connection = client_open();

    make_table(connection);
    read_many(connection, N_CURSORS, 0, connection);
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM many"), >, N_CURSORS);
}

static void
test_cursors_of_statements(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GPtrArray) statements = g_ptr_array_new_with_free_func(g_object_unref);
    g_autofree Reader *readers = g_new0(Reader, N_CURSORS);
    g_autoptr(GError) error = NULL;

    make_table(connection);
    for (guint i = 0; i < N_CURSORS; i++) {
        g_autofree char *query = get_query(i);

        g_ptr_array_add(statements, query_connection_prepare(connection, SQL, query, NULL, &error));
        g_assert_no_error(error);
        readers[i] = (Reader){ .index = i, .cursor = query_statement_execute(statements->pdata[i], NULL, &error) };
        g_assert_no_error(error);
    }
    read_interleaved(readers, N_CURSORS, connection);
}

/* Cursors that are set aside and closed, in the middle of their results. */
static void
test_closed(void)
{
    g_autoptr(QueryConnection) connection = client_open();

    for (guint round = 0; round < 3; round++) {
        g_autoptr(GPtrArray) cursors = g_ptr_array_new_with_free_func(g_object_unref);

        for (guint i = 0; i < N_CURSORS; i++) {
            g_autofree char *query = get_query(i);
            g_autoptr(GError) error = NULL;

            g_ptr_array_add(cursors, query_connection_query(connection, SQL, query, NULL, NULL, &error));
            g_assert_no_error(error);
            if (i % 7 == 0)
                query_cursor_close(cursors->pdata[i / 2]);
        }
    }
    g_assert_cmpint(client_query_number(connection, "SELECT 42"), ==, 42);
}

/* A result that fails in its middle does so after the rows before, also when it was set aside. */
static void
test_failure(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = NULL;
    guint n = 0;

    cursor = query_connection_query(connection, SQL,
                                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
                                    " SELECT i, CASE WHEN i = 15000 THEN json('no') ELSE i END FROM n",
                                    NULL, NULL, &error);
    g_assert_no_error(error);
    read_many(connection, 80, 0, NULL);
    while (query_cursor_next(cursor, NULL, &error))
        n++;
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_SYNTAX);
    g_assert_cmpuint(n, <, 15000);
}

static void
test_direct(void)
{
    g_autoptr(QueryConnection) writer = client_open();
    g_autoptr(QueryConnection) connection = NULL;
    g_autofree char *path = g_build_filename(private_bus_get_folder(bus), "data", "queryd", "queryd.db", NULL);
    g_autoptr(GError) error = NULL;

    make_table(writer);
    connection = query_connection_new_direct(path, NULL, &error);
    g_assert_no_error(error);
    read_many(connection, N_CURSORS, 0, writer);
}

/* Async ------------------------------------------------------------------------------------------------------------------- */

typedef struct AsyncReader {
    QueryCursor *cursor; /* (owned) */
    guint index;
    guint n_read;
    guint *n_open;
} AsyncReader;

static void
on_next(GObject *object, GAsyncResult *result, gpointer user_data)
{
    AsyncReader *self = user_data;
    g_autoptr(GError) error = NULL;

    if (!query_cursor_next_finish(self->cursor, result, &error)) {
        g_assert_no_error(error);
        g_assert_cmpuint(self->n_read, ==, get_n_rows(self->index) / 10);
        g_clear_object(&self->cursor);
        (*self->n_open)--;
        return;
    }
    self->n_read++;
    g_assert_cmpint(query_cursor_get_int64(self->cursor, 0), ==, self->n_read);
    query_cursor_next_async(self->cursor, NULL, on_next, self);
}

static void
on_query(GObject *object, GAsyncResult *result, gpointer user_data)
{
    AsyncReader *self = user_data;
    g_autoptr(GError) error = NULL;

    self->cursor = query_connection_query_finish(QUERY_CONNECTION(object), result, &error);
    g_assert_no_error(error);
    query_cursor_next_async(self->cursor, NULL, on_next, self);
}

static void
on_update(GObject *object, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(query_connection_update_finish(QUERY_CONNECTION(object), result, &error), ==, 1);
    g_assert_no_error(error);
    (*(guint *) user_data)--;
}

/* All at once. */
static void
test_async(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    g_autofree AsyncReader *readers = g_new0(AsyncReader, N_CURSORS);
    guint n_open = 2 * N_CURSORS;

    make_table(connection);
    for (guint i = 0; i < N_CURSORS; i++) {
        g_autofree char *query = g_strdup_printf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
                                                 " SELECT i, 'row ' || i FROM n",
                                                 get_n_rows(i) / 10);

        readers[i] = (AsyncReader){ .index = i, .n_open = &n_open };
        query_connection_query_async(connection, SQL, query, NULL, NULL, on_query, &readers[i]);
        query_connection_update_async(connection, SQL, "INSERT INTO many(b) VALUES('x')", NULL, NULL, on_update, &n_open);
    }
    while (n_open > 0)
        g_main_context_iteration(NULL, TRUE);
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM many"), ==, N_CURSORS);
}

/* Threads ----------------------------------------------------------------------------------------------------------------- */

static void *
run_thread(void *data)
{
    QueryConnection *connection = data;

    for (guint round = 0; round < 3; round++)
        read_many(connection, 30, round, connection);
    return NULL;
}

/* One connection, each with its own cursors, which set those of the others aside. */
static void
test_threads(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    pthread_t threads[N_THREADS];

    make_table(connection);
    for (guint i = 0; i < N_THREADS; i++)
        g_assert_cmpint(pthread_create(&threads[i], NULL, run_thread, connection), ==, 0);
    for (guint i = 0; i < N_THREADS; i++)
        g_assert_cmpint(pthread_join(threads[i], NULL), ==, 0);
}

/* What takes long gives no row that could be set aside: it is waited for. */
static void *
run_long(void *data)
{
    QueryConnection *connection = data;

    g_assert_cmpint(client_query_number(connection,
                                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)"
                                        " SELECT count(*) FROM n"),
                    ==, 200000);
    client_execute(connection, "INSERT INTO many(b) VALUES('x')");
    return NULL;
}

/* More than 'channels_per_client' allows, all at once. */
static void
test_busy_threads(void)
{
    g_autoptr(QueryConnection) connection = client_open();
    pthread_t threads[N_BUSY];

    make_table(connection);
    for (guint i = 0; i < N_BUSY; i++)
        g_assert_cmpint(pthread_create(&threads[i], NULL, run_long, connection), ==, 0);
    for (guint i = 0; i < N_BUSY; i++)
        g_assert_cmpint(pthread_join(threads[i], NULL), ==, 0);
    g_assert_cmpint(client_query_number(connection, "SELECT count(*) FROM many"), ==, N_BUSY);
}

/* Each keeps some channels for what it has prepared; all together are more than 'channels_per_client' allows. */
static void
test_idle_connections(void)
{
    QueryConnection *connections[N_CONNECTIONS];
    g_autoptr(GPtrArray) statements = g_ptr_array_new_with_free_func(g_object_unref);

    for (guint i = 0; i < N_CONNECTIONS; i++) {
        connections[i] = client_open();
        for (guint k = 0; k < N_STATEMENTS_EACH; k++) {
            g_autoptr(GError) error = NULL;
            g_autofree char *text = g_strdup_printf("SELECT %u", k);
            QueryStatement *statement = query_connection_prepare(connections[i], SQL, text, NULL, &error);
            g_autoptr(QueryCursor) cursor = statement != NULL ? query_statement_execute(statement, NULL, &error) : NULL;

            g_assert_no_error(error);
            g_assert_true(query_cursor_next(cursor, NULL, &error));
            g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, k);
            g_ptr_array_add(statements, statement);
        }
    }
    for (guint i = 0; i < N_CONNECTIONS; i++)
        g_object_unref(connections[i]);
}

int
main(int argc, char **argv)
{
    int r;

    g_test_init(&argc, &argv, NULL);
    bus = private_bus_new();
    g_test_add_func("/many/statements", test_statements);
    g_test_add_func("/many/cursors", test_cursors);
    g_test_add_func("/many/cursors-of-statements", test_cursors_of_statements);
    g_test_add_func("/many/closed", test_closed);
    g_test_add_func("/many/failure", test_failure);
    g_test_add_func("/many/direct", test_direct);
    g_test_add_func("/many/async", test_async);
    g_test_add_func("/many/threads", test_threads);
    g_test_add_func("/many/busy-threads", test_busy_threads);
    g_test_add_func("/many/idle-connections", test_idle_connections);
    r = g_test_run();
    private_bus_free(bus);
    return r;
}
