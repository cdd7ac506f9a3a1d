/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Results of direct connections: values, pages, errors, cancelling, async calls, tables that change.
 */
#include <string.h>

#include "tests/unit/client/direct-module/direct-fixture.h"

#define ENDLESS "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
/* The first row fills a page; after the second one the next step never ends. */
#define TWO_ROWS_THEN_ENDLESS ENDLESS "SELECT zeroblob(5000) FROM n WHERE i <= 2"
#define COUNT_TO(n) "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " n ") "

static void
test_values(DirectFixture *self, gconstpointer data)
{
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) blob = NULL;
    g_autoptr(GBytes) empty = NULL;
    gsize n;

    cursor = direct_query(self->connection, "SELECT -9223372036854775808, 0.1, 'a' || char(0) || 'b', x'ff00', x'', NULL, id AS "
                                            "number, v FROM t WHERE id = 7");
    g_assert_cmpuint(query_cursor_get_n_columns(cursor), ==, 8);
    g_assert_cmpstr(query_cursor_get_column_name(cursor, 6), ==, "number");
    g_assert_cmpstr(query_cursor_get_column_type(cursor, 6), ==, "INTEGER");
    g_assert_cmpstr(query_cursor_get_column_type(cursor, 0), ==, "");
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, G_MININT64);
    g_assert_cmpfloat(query_cursor_get_double(cursor, 1), ==, 0.1);
    g_assert_cmpmem(query_cursor_get_string(cursor, 2, &n), 3, "a\0b", 3);
    g_assert_cmpuint(n, ==, 3);
    blob = query_cursor_get_bytes(cursor, 3);
    g_assert_cmpmem(g_bytes_get_data(blob, NULL), g_bytes_get_size(blob), "\xff\0", 2);
    g_assert_cmpint((int) query_cursor_get_value_type(cursor, 4), ==, (int) QUERY_VALUE_TYPE_BLOB);
    empty = query_cursor_get_bytes(cursor, 4);
    g_assert_cmpuint(g_bytes_get_size(empty), ==, 0);
    g_assert_true(query_cursor_is_null(cursor, 5));
    g_assert_cmpint(query_cursor_get_int64(cursor, 7), ==, 7);
    g_assert_false(query_cursor_next(cursor, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(query_cursor_get_n_rows(cursor), ==, 1);
    g_assert_cmpuint(query_cursor_get_generation(cursor), ==, 0);
    g_assert_cmpint(query_cursor_steal_fd(cursor), ==, -1);
}

static void
test_pages(DirectFixture *self, gconstpointer data)
{
    g_autoptr(QueryCursor) cursor = direct_query(self->connection, "SELECT id, v FROM t ORDER BY id");
    g_autoptr(GError) error = NULL;
    gint64 expected = 0;

    while (query_cursor_next(cursor, NULL, &error)) {
        gsize n;

        g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, ++expected);
        g_assert_cmpint(g_ascii_strtoll(query_cursor_get_string(cursor, 1, &n), NULL, 10), ==, expected);
        g_assert_cmpuint(n, ==, 100);
    }
    g_assert_no_error(error);
    g_assert_cmpint(expected, ==, 20000);
    g_assert_cmpuint(query_cursor_get_n_rows(cursor), ==, 20000);
}

/* Rows that fit into no page, first, last and between others. */
static void
test_large_rows(DirectFixture *self, gconstpointer data)
{
    g_autoptr(QueryCursor) cursor = direct_query(
        self->connection, COUNT_TO("9") "SELECT zeroblob(CASE WHEN i % 4 = 1 THEN 5000000 ELSE 40000 END) FROM n");
    g_autoptr(QueryCursor) too_large = NULL;
    g_autoptr(GError) error = NULL;
    guint n_rows = 0;

    while (query_cursor_next(cursor, NULL, &error)) {
        g_autoptr(GBytes) bytes = query_cursor_get_bytes(cursor, 0);

        g_assert_cmpuint(g_bytes_get_size(bytes), ==, ++n_rows % 4 == 1 ? 5000000 : 40000);
    }
    g_assert_no_error(error);
    g_assert_cmpuint(n_rows, ==, 9);

    too_large = query_connection_query(self->connection, DIRECT_SQL, "SELECT zeroblob(60000000), zeroblob(60000000)", NULL, NULL,
                                       &error);
    direct_assert_error(error, QUERY_ERROR_TOO_BIG, "the limit 'value_bytes' is 67108864 bytes");
}

static void
test_json(DirectFixture *self, gconstpointer data)
{
    g_autoptr(QueryCursor) cursor = direct_query(self->connection, "SELECT id AS a, 'x' AS b FROM t WHERE id < 3 ORDER BY id");
    g_autoptr(GBytes) text = query_cursor_read_json(cursor, 0, NULL, NULL);
    static const char expected[] = "[{\"a\":1,\"b\":\"x\"},\n{\"a\":2,\"b\":\"x\"}]\n";

    g_assert_cmpmem(g_bytes_get_data(text, NULL), g_bytes_get_size(text), expected, strlen(expected));
}

static void
test_parameters(DirectFixture *self, gconstpointer data)
{
    g_autoptr(QueryStatement) statement = NULL;
    g_autoptr(QueryCursor) by_name = NULL;
    g_autoptr(GError) error = NULL;

    by_name = query_connection_query(self->connection, DIRECT_SQL, "SELECT id FROM t WHERE id IN (:a, $b) ORDER BY id",
                                     g_variant_new_parsed("{'$b': <int64 5>, 'a': <int64 3>}"), NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(direct_count_rows(by_name, &error), ==, 2);
    g_assert_null(query_connection_query(self->connection, DIRECT_SQL, "SELECT :a", NULL, NULL, &error));
    direct_assert_error(error, QUERY_ERROR_BAD_PARAMETER, "parameter 1 (':a') has no value");
    g_clear_error(&error);

    statement = query_connection_prepare(self->connection, DIRECT_SQL, "SELECT v FROM t WHERE id = ?", NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(query_statement_get_n_parameters(statement), ==, 1);
    for (gint64 id = 1; id <= 100; id++) {
        g_autoptr(QueryCursor) cursor = NULL;

        g_assert_true(query_statement_bind_int64(statement, "1", id, &error));
        cursor = query_statement_execute(statement, NULL, &error);
        g_assert_no_error(error);
        g_assert_true(query_cursor_next(cursor, NULL, &error));
        g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, id);
    }
    g_assert_true(query_statement_bind_iri(statement, "1", "urn:x", &error));
    g_assert_null(query_statement_execute(statement, NULL, &error));
    direct_assert_error(error, QUERY_ERROR_BAD_PARAMETER, "parameter 1 is an RDF term");
}

static void
test_errors(DirectFixture *self, gconstpointer data)
{
    static const struct {
        const char *text;
        QueryError code;
        const char *words;
    } cases[] = {
        { "SELECT *\nFORM t", QUERY_ERROR_SYNTAX, "2:1: near \"FORM\"" },
        { "", QUERY_ERROR_SYNTAX, "1:1: the text has no statement" },
        { "/* nothing */ ; -- at all", QUERY_ERROR_SYNTAX, "it is empty, or has only comments" },
        { "SELECT 1; SELECT 2", QUERY_ERROR_SYNTAX, "1:11: more than one statement" },
        { "DELETE FROM t", QUERY_ERROR_READ_ONLY, "opened for reading" },
        { "PRAGMA mmap_size = 1", QUERY_ERROR_ACCESS_DENIED, "PRAGMA mmap_size" },
        { "ATTACH 'x' AS x", QUERY_ERROR_ACCESS_DENIED, "ATTACH is not allowed" },
        { "CREATE TEMP TABLE x(a)", QUERY_ERROR_ACCESS_DENIED, "temporary objects" },
        { "SELECT load_extension('x')", QUERY_ERROR_ACCESS_DENIED, "load_extension" },
        { "SELECT abs(-9223372036854775808)", QUERY_ERROR_SYNTAX, "integer overflow" },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_null(query_connection_query(self->connection, DIRECT_SQL, cases[i].text, NULL, NULL, &error));
        direct_assert_error(error, cases[i].code, cases[i].words);
    }
}

/* What needs a daemon is refused and says so; nothing looks for one. */
static void
test_refused(DirectFixture *self, gconstpointer data)
{
    g_autoptr(QueryBatch) batch = query_connection_create_batch(self->connection);
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(query_connection_update(self->connection, DIRECT_SQL, "DELETE FROM t", NULL, NULL, &error), ==, -1);
    direct_assert_error(error, QUERY_ERROR_READ_ONLY, "a direct connection only reads");
    g_clear_error(&error);
    g_assert_null(query_connection_prepare_update(self->connection, DIRECT_SQL, "DELETE FROM t", NULL, &error));
    direct_assert_error(error, QUERY_ERROR_READ_ONLY, "a direct connection only reads");
    g_clear_error(&error);
    g_assert_null(
        query_connection_query(self->connection, QUERY_LANGUAGE_SPARQL, "INSERT DATA { <a:a> <a:b> 1 }", NULL, NULL, &error));
    direct_assert_error(error, QUERY_ERROR_READ_ONLY, "an update in a query");
    g_clear_error(&error);
    query_batch_add(batch, DIRECT_SQL, "DELETE FROM t", NULL);
    g_assert_false(query_batch_execute(batch, NULL, &error));
    direct_assert_error(error, QUERY_ERROR_READ_ONLY, "a direct connection only reads");
    g_clear_error(&error);
    g_assert_null(query_connection_get_stats(self->connection, NULL, &error));
    direct_assert_error(error, QUERY_ERROR_UNSUPPORTED, "has no daemon to ask");
    g_clear_error(&error);
    g_assert_null(query_connection_create_notifier(self->connection, NULL, NULL, NULL, &error));
    direct_assert_error(error, QUERY_ERROR_UNSUPPORTED, "has no daemon to ask");
    g_clear_error(&error);
    g_assert_null(query_connection_subscribe(self->connection, DIRECT_SQL, "SELECT 1", NULL, &error));
    direct_assert_error(error, QUERY_ERROR_UNSUPPORTED, "has no daemon to ask");
    g_clear_error(&error);
    g_assert_false(query_connection_backup(self->connection, 0, NULL, NULL, NULL, &error));
    direct_assert_error(error, QUERY_ERROR_UNSUPPORTED, "has no daemon to ask");
    g_assert_cmpint(direct_query_int64(self->connection, "SELECT count(*) FROM t"), ==, 20000);
}

/* The rows before the error are good; the error stays. */
static void
test_error_in_mid_result(DirectFixture *self, gconstpointer data)
{
    g_autoptr(QueryCursor) cursor = direct_query(
        self->connection, "SELECT CASE WHEN id = 15000 THEN abs(-9223372036854775808) ELSE v END FROM t ORDER BY id");
    g_autoptr(GError) error = NULL;
    g_autoptr(GError) again = NULL;

    g_assert_cmpuint(direct_count_rows(cursor, &error), ==, 14999);
    direct_assert_error(error, QUERY_ERROR_SYNTAX, "integer overflow");
    g_assert_false(query_cursor_next(cursor, NULL, &again));
    g_assert_cmpstr(again->message, ==, error->message);
}

static void
test_limits_of_the_connection(DirectFixture *self, gconstpointer data)
{
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;

    query_connection_set_max_rows(self->connection, 3);
    cursor = direct_query(self->connection, "SELECT id FROM t");
    g_assert_cmpuint(direct_count_rows(cursor, &error), ==, 3);
    g_assert_no_error(error);
    query_connection_set_timeout_msec(self->connection, 20);
    g_assert_null(query_connection_query(self->connection, DIRECT_SQL, ENDLESS "SELECT count(*) FROM n", NULL, NULL, &error));
    direct_assert_error(error, QUERY_ERROR_TIMEOUT, "query took longer than its 20 ms");
}

static gpointer
cancel_when_running(gpointer data)
{
    g_usleep(20000); /* a head start for the query, not a condition: cancelled before it starts it ends the same way */
    g_cancellable_cancel(data);
    return NULL;
}

static void
test_cancel(DirectFixture *self, gconstpointer data)
{
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    GThread *thread = g_thread_new("cancel", cancel_when_running, cancellable);

    cursor = query_connection_query(self->connection, DIRECT_SQL, ENDLESS "SELECT count(*) FROM n", NULL, cancellable, &error);
    g_assert_null(cursor);
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    g_clear_error(&error);
    g_thread_join(thread);

    /* in mid-result */
    cursor = direct_query(self->connection, TWO_ROWS_THEN_ENDLESS);
    g_cancellable_reset(cancellable);
    thread = g_thread_new("cancel", cancel_when_running, cancellable);
    while (query_cursor_next(cursor, cancellable, &error))
        continue;
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    g_thread_join(thread);
    g_assert_cmpint(direct_query_int64(self->connection, "SELECT count(*) FROM t"), ==, 20000);
}

/* Async ----------------------------------------------------------------------------------------------------------------- */

static void
on_done(GObject *source, GAsyncResult *result, gpointer user_data)
{
    *(GAsyncResult **) user_data = g_object_ref(result);
}

static GAsyncResult *
wait_for(GAsyncResult **result)
{
    while (*result == NULL)
        g_main_context_iteration(NULL, TRUE);
    return *result;
}

static QueryCursor *
query_async(QueryConnection *connection, const char *text, GError **error)
{
    g_autoptr(GAsyncResult) result = NULL;

    query_connection_query_async(connection, DIRECT_SQL, text, NULL, NULL, on_done, &result);
    return query_connection_query_finish(connection, wait_for(&result), error);
}

static void
test_async(DirectFixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QueryCursor) cursor = query_async(self->connection, "SELECT id FROM t ORDER BY id", &error);
    gboolean has_row = TRUE;
    gint64 expected = 0;

    g_assert_no_error(error);
    while (has_row) {
        g_autoptr(GAsyncResult) result = NULL;

        query_cursor_next_async(cursor, NULL, on_done, &result);
        has_row = query_cursor_next_finish(cursor, wait_for(&result), &error);
        if (has_row)
            g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, ++expected);
    }
    g_assert_no_error(error);
    g_assert_cmpint(expected, ==, 20000);
    g_assert_null(query_async(self->connection, "SELECT", &error));
    direct_assert_error(error, QUERY_ERROR_SYNTAX, "incomplete input");
}

/* A cursor that is closed, or cancelled, while a thread works for it. */
static void
test_async_ends_early(DirectFixture *self, gconstpointer data)
{
    for (guint round = 0; round < 2; round++) {
        g_autoptr(GCancellable) cancellable = g_cancellable_new();
        g_autoptr(GAsyncResult) result = NULL;
        g_autoptr(GAsyncResult) refused = NULL;
        g_autoptr(GError) error = NULL;
        g_autoptr(GError) pending = NULL;
        g_autoptr(QueryCursor) cursor = direct_query(self->connection, TWO_ROWS_THEN_ENDLESS);

        g_assert_true(query_cursor_next(cursor, NULL, &error));
        query_cursor_next_async(cursor, cancellable, on_done, &result);
        query_cursor_next_async(cursor, NULL, on_done, &refused);
        g_assert_false(query_cursor_next_finish(cursor, wait_for(&refused), &pending));
        g_assert_error(pending, G_IO_ERROR, G_IO_ERROR_PENDING);
        g_assert_null(result);
        if (round == 0)
            query_cursor_close(cursor);
        else
            g_cancellable_cancel(cancellable);
        g_assert_false(query_cursor_next_finish(cursor, wait_for(&result), &error));
        if (round == 0)
            direct_assert_error(error, QUERY_ERROR_CLOSED, "the cursor is closed");
        else
            g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    }
    g_assert_cmpint(direct_query_int64(self->connection, "SELECT count(*) FROM t"), ==, 20000);
}

/* What others write ------------------------------------------------------------------------------------------------------ */

static void
test_sees_commits(DirectFixture *self, gconstpointer data)
{
    g_autoptr(QueryCursor) open = direct_query(self->connection, "SELECT id FROM t");
    g_autoptr(GError) error = NULL;

    g_assert_true(query_cursor_next(open, NULL, &error));
    store_execute(self->store.writer, "DELETE FROM t WHERE id > 100");
    g_assert_cmpint(direct_query_int64(self->connection, "SELECT count(*) FROM t"), ==, 100);
    g_assert_cmpuint(direct_count_rows(open, &error), ==, 19999); /* its snapshot */
    g_assert_no_error(error);
}

static void
test_schema_changes(DirectFixture *self, gconstpointer data)
{
    g_autoptr(QueryStatement) statement = NULL;
    g_autoptr(GError) error = NULL;

    statement = query_connection_prepare(self->connection, DIRECT_SQL, "SELECT * FROM t WHERE id = 1", NULL, &error);
    g_assert_no_error(error);
    for (guint n = 2; n < 5; n++) {
        g_autoptr(QueryCursor) cursor = query_statement_execute(statement, NULL, &error);
        g_autofree char *alter = g_strdup_printf("ALTER TABLE t ADD COLUMN c%u DEFAULT %u", n, n);

        g_assert_no_error(error);
        g_assert_cmpuint(query_cursor_get_n_columns(cursor), ==, n);
        g_assert_true(query_cursor_next(cursor, NULL, &error));
        if (n > 2)
            g_assert_cmpint(query_cursor_get_int64(cursor, n - 1), ==, n - 1);
        store_execute(self->store.writer, alter);
    }
    store_execute(self->store.writer, "DROP TABLE t");
    g_assert_null(query_statement_execute(statement, NULL, &error));
    direct_assert_error(error, QUERY_ERROR_SYNTAX, "no such table: t");
}

/* Threads --------------------------------------------------------------------------------------------------------------- */

#define N_THREADS 4
#define N_ROUNDS 50

static gpointer
run_queries(gpointer data)
{
    QueryConnection *connection = data;

    for (guint i = 0; i < N_ROUNDS; i++) {
        g_autoptr(QueryCursor) cursor = direct_query(connection, "SELECT id FROM t WHERE id <= 1000 ORDER BY id");
        g_autoptr(GError) error = NULL;

        g_assert_cmpuint(direct_count_rows(cursor, &error), ==, 1000);
        g_assert_no_error(error);
    }
    return NULL;
}

static void
test_threads(DirectFixture *self, gconstpointer data)
{
    GThread *threads[N_THREADS];

    for (guint i = 0; i < N_THREADS; i++)
        threads[i] = g_thread_new("reader", run_queries, self->connection);
    for (guint i = 0; i < N_ROUNDS; i++)
        store_execute(self->store.writer, "UPDATE t SET v = 'new' WHERE id % 100 = 0");
    for (guint i = 0; i < N_THREADS; i++)
        (void) g_thread_join(threads[i]);
}

#define ADD(path, func) \
    g_test_add("/client/direct-run/" path, DirectFixture, NULL, direct_fixture_set_up, func, direct_fixture_tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("values", test_values);
    ADD("pages", test_pages);
    ADD("large-rows", test_large_rows);
    ADD("json", test_json);
    ADD("parameters", test_parameters);
    ADD("errors", test_errors);
    ADD("refused", test_refused);
    ADD("error-in-mid-result", test_error_in_mid_result);
    ADD("limits-of-the-connection", test_limits_of_the_connection);
    ADD("cancel", test_cancel);
    ADD("async", test_async);
    ADD("async-ends-early", test_async_ends_early);
    ADD("sees-commits", test_sees_commits);
    ADD("schema-changes", test_schema_changes);
    ADD("threads", test_threads);
    return g_test_run();
}
