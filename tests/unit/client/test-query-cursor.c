/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryCursor against a daemon that is played byte by byte: values, ends, lies, cancellation.
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/client/fake-daemon.h"

static QueryCursor *
query(QueryConnection *connection, GError **error)
{
    return query_connection_query(connection, QUERY_LANGUAGE_SQL, "SELECT a FROM t", NULL, NULL, error);
}

static guint
count_rows(QueryCursor *cursor, GError **error)
{
    guint n = 0;

    while (query_cursor_next(cursor, NULL, error))
        n++;
    return n;
}

/* The row of test_values(), by the getters of each type. */
static void
check_values(QueryCursor *cursor)
{
    g_autoptr(GBytes) bytes = query_cursor_get_bytes(cursor, 5);
    g_autoptr(GBytes) empty = query_cursor_get_bytes(cursor, 6);
    g_autoptr(GDateTime) date = query_cursor_get_date_time(cursor, 10);
    gsize n;

    g_assert_true(query_cursor_is_null(cursor, 0));
    g_assert_null(query_cursor_get_string(cursor, 0, &n));
    g_assert_cmpuint(n, ==, 0);
    g_assert_null(query_cursor_get_bytes(cursor, 0));
    g_assert_cmpint(query_cursor_get_int64(cursor, 1), ==, G_MININT64);
    g_assert_cmpstr(query_cursor_get_string(cursor, 1, NULL), ==, "-9223372036854775808");
    g_assert_cmpfloat(query_cursor_get_double(cursor, 2), ==, 0.1);
    g_assert_cmpstr(query_cursor_get_string(cursor, 2, NULL), ==, "0.1");
    g_assert_cmpmem(query_cursor_get_string(cursor, 3, &n), 3, "a\0b", 3);
    g_assert_cmpuint(n, ==, 3);
    g_assert_cmpstr(query_cursor_get_string(cursor, 4, &n), ==, "");
    g_assert_null(query_cursor_get_string(cursor, 5, NULL));
    g_assert_cmpmem(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes), "\xff\x00", 2);
    g_assert_cmpuint(g_bytes_get_size(empty), ==, 0);
    g_assert_false(query_cursor_is_null(cursor, 6));
    g_assert_cmpstr(query_cursor_get_string(cursor, 7, NULL), ==, "urn:x");
    g_assert_cmpstr(query_cursor_get_string(cursor, 8, NULL), ==, "b1");
    g_assert_cmpstr(query_cursor_get_language(cursor, 9), ==, "fr");
    g_assert_null(query_cursor_get_datatype(cursor, 9));
    g_assert_cmpstr(query_cursor_get_datatype(cursor, 10), ==, "urn:date");
    g_assert_cmpint(g_date_time_to_unix(date), ==, 946771200);
}

static void
test_values(void)
{
    static const QwValue values[] = {
        { .type = QW_TYPE_NULL },
        INTEGER_VALUE(G_MININT64),
        { .type = QW_TYPE_FLOAT, .real = 0.1 },
        TEXT_VALUE("a\0b"),
        TEXT_VALUE(""),
        { .type = QW_TYPE_BLOB, .data = "\xff\x00", .n_bytes = 2 },
        { .type = QW_TYPE_BLOB, .data = "", .n_bytes = 0 },
        { .type = QW_TYPE_IRI, .data = "urn:x", .n_bytes = 5 },
        { .type = QW_TYPE_BNODE, .data = "b1", .n_bytes = 2 },
        { .type = QW_TYPE_LITERAL_LANG, .data = "chat", .n_bytes = 4, .tag = "fr", .n_tag_bytes = 2 },
        { .type = QW_TYPE_LITERAL_TYPED, .data = "2000-01-02", .n_bytes = 10, .tag = "urn:date", .n_tag_bytes = 8 },
    };
    const char *const names[] = { "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", NULL };
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    GByteArray *answer = g_byte_array_new();

    answer_put_schema(answer, 1, names, NULL);
    answer_put_rows(answer, 2, G_N_ELEMENTS(values), 1, values);
    answer_put_end(answer, 2, &(QwEnd){ .n_rows = 1, .generation = 5, .elapsed_usec = 6 });
    fake_daemon_serve(fake, 2, answer, FAKE_STAYS);

    cursor = query(connection, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(query_cursor_get_n_columns(cursor), ==, G_N_ELEMENTS(values));
    g_assert_cmpstr(query_cursor_get_column_name(cursor, 10), ==, "10");
    g_assert_cmpstr(query_cursor_get_column_type(cursor, 10), ==, "TEXT");
    g_assert_true(query_cursor_next(cursor, NULL, &error));

    for (guint i = 0; i < G_N_ELEMENTS(values); i++)
        g_assert_cmpint(query_cursor_get_value_type(cursor, i), ==, (int) values[i].type);
    check_values(cursor);

    g_assert_false(query_cursor_next(cursor, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(query_cursor_get_n_rows(cursor), ==, 1);
    g_assert_cmpuint(query_cursor_get_generation(cursor), ==, 5);
    g_assert_cmpuint(query_cursor_get_elapsed_usec(cursor), ==, 6);
    g_assert_false(query_cursor_next(cursor, NULL, &error));
    g_assert_no_error(error);
}

static void
test_conversions(void)
{
    static const QwValue values[] = {
        TEXT_VALUE("12abc"),
        TEXT_VALUE("true"),
        { .type = QW_TYPE_FLOAT, .real = 1e300 },
        { .type = QW_TYPE_FLOAT, .real = -3 },
        { .type = QW_TYPE_FLOAT, .real = 1 / 3.0 },
        TEXT_VALUE("2000-01-02 03:04:05"),
        INTEGER_VALUE(86400),
        TEXT_VALUE("no date"),
        { .type = QW_TYPE_LITERAL_TYPED, .data = "1.5E3", .n_bytes = 5, .tag = "urn:double", .n_tag_bytes = 10 },
        { .type = QW_TYPE_LITERAL_TYPED, .data = "2000-01-02+01:00", .n_bytes = 16, .tag = "urn:date", .n_tag_bytes = 8 },
    };
    const char *const names[] = { "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", NULL };
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(GDateTime) date = NULL;
    g_autoptr(GDateTime) epoch_day = NULL;
    g_autoptr(GDateTime) zoned = NULL;
    GByteArray *answer = g_byte_array_new();

    answer_put_schema(answer, 1, names, NULL);
    answer_put_rows(answer, 2, G_N_ELEMENTS(values), 1, values);
    answer_put_end(answer, 2, &(QwEnd){ .n_rows = 1 });
    fake_daemon_serve(fake, 2, answer, FAKE_STAYS);

    cursor = query(connection, &error);
    g_assert_no_error(error);
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, 12);
    g_assert_cmpfloat(query_cursor_get_double(cursor, 0), ==, 12);
    g_assert_true(query_cursor_get_boolean(cursor, 1));
    g_assert_false(query_cursor_get_boolean(cursor, 7));
    g_assert_cmpint(query_cursor_get_int64(cursor, 2), ==, G_MAXINT64);
    g_assert_cmpstr(query_cursor_get_string(cursor, 2, NULL), ==, "1e+300");
    g_assert_cmpstr(query_cursor_get_string(cursor, 3, NULL), ==, "-3.0");
    g_assert_cmpstr(query_cursor_get_string(cursor, 4, NULL), ==, "0.3333333333333333");
    date = query_cursor_get_date_time(cursor, 5);
    g_assert_cmpint(g_date_time_to_unix(date), ==, 946782245);
    epoch_day = query_cursor_get_date_time(cursor, 6);
    g_assert_cmpint(g_date_time_get_day_of_month(epoch_day), ==, 2);
    g_assert_null(query_cursor_get_date_time(cursor, 7));
    g_assert_cmpint(query_cursor_get_int64(cursor, 8), ==, 1500);
    zoned = query_cursor_get_date_time(cursor, 9);
    g_assert_cmpint(g_date_time_to_unix(zoned), ==, 946767600);
}

/* Getters without a row, or beyond the columns, complain and give nothing. */
static void
test_misuse(void)
{
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryCursor) cursor = NULL;

    fake_daemon_serve(fake, 2, answer_new_integers(1, 2, 1), FAKE_STAYS);
    cursor = query(connection, NULL);
    g_test_expect_message("QueryClient", G_LOG_LEVEL_CRITICAL, "*on a row*");
    g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, 0);
    g_assert_true(query_cursor_next(cursor, NULL, NULL));
    g_test_expect_message("QueryClient", G_LOG_LEVEL_CRITICAL, "*on a row*");
    g_assert_null(query_cursor_get_string(cursor, 1, NULL));
    g_assert_false(query_cursor_next(cursor, NULL, NULL));
    g_test_expect_message("QueryClient", G_LOG_LEVEL_CRITICAL, "*on a row*");
    g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, 0);
    g_test_assert_expected_messages();
}

static void
test_large_row(void)
{
    const gsize n_bytes = 10 * 1024 * 1024;
    g_autofree char *text = g_malloc(n_bytes + 1);
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    GByteArray *answer = g_byte_array_new();
    QwValue value = { .type = QW_TYPE_TEXT, .data = text, .n_bytes = (guint32) n_bytes };
    gsize n;

    for (gsize i = 0; i < n_bytes; i++)
        text[i] = (char) ('a' + i % 23);
    answer_put_schema(answer, 1, (const char *const[]){ "a", NULL }, NULL);
    answer_put_rows(answer, 2, 1, 1, &value);
    answer_put_rows(answer, 2, 1, 1, &(QwValue) INTEGER_VALUE(1));
    answer_put_end(answer, 2, &(QwEnd){ .n_rows = 2 });
    fake_daemon_serve(fake, 2, answer, FAKE_STAYS);

    cursor = query(connection, &error);
    g_assert_no_error(error);
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    g_assert_cmpmem(query_cursor_get_string(cursor, 0, &n), n_bytes, text, n_bytes);
    g_assert_cmpuint(n, ==, n_bytes);
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, 1);
    g_assert_false(query_cursor_next(cursor, NULL, &error));
    g_assert_no_error(error);
}

/* A schema of more than a page: 2,000 columns with long names. */
static void
test_wide_schema(void)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autofree QwValue *values = g_new0(QwValue, 2000);
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    GByteArray *answer = g_byte_array_new();

    for (guint i = 0; i < 2000; i++) {
        g_ptr_array_add(names, g_strdup_printf("a_column_with_a_rather_long_name_%u", i));
        values[i] = (QwValue) INTEGER_VALUE(i);
    }
    g_ptr_array_add(names, NULL);
    answer_put_schema(answer, 1, (const char *const *) names->pdata, NULL);
    answer_put_schema(answer, 2, (const char *const *) names->pdata, NULL);
    answer_put_rows(answer, 2, 2000, 1, values);
    answer_put_end(answer, 2, &(QwEnd){ .n_rows = 1 });
    fake_daemon_serve(fake, 2, answer, FAKE_STAYS);

    cursor = query(connection, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(query_cursor_get_n_columns(cursor), ==, 2000);
    g_assert_cmpstr(query_cursor_get_column_name(cursor, 1999), ==, "a_column_with_a_rather_long_name_1999");
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    g_assert_cmpint(query_cursor_get_int64(cursor, 1999), ==, 1999);
}

static void
test_zero_columns(void)
{
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    GByteArray *answer = g_byte_array_new();

    answer_put_schema(answer, 1, (const char *const[]){ NULL }, NULL);
    answer_put_rows(answer, 2, 0, 3, NULL);
    answer_put_end(answer, 2, &(QwEnd){ .n_rows = 3 });
    fake_daemon_serve(fake, 2, answer, FAKE_STAYS);

    cursor = query(connection, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(query_cursor_get_n_columns(cursor), ==, 0);
    g_assert_cmpuint(count_rows(cursor, &error), ==, 3);
    g_assert_no_error(error);
}

static void
test_zero_rows(void)
{
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;

    fake_daemon_serve(fake, 2, answer_new_integers(1, 2, 0), FAKE_STAYS);
    cursor = query(connection, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(query_cursor_get_column_name(cursor, 0), ==, "a");
    g_assert_cmpuint(count_rows(cursor, &error), ==, 0);
    g_assert_no_error(error);
}

/* The tables changed between PREPARE and FETCH: the cursor has the new columns from the start. */
static void
test_schema_change(void)
{
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    GByteArray *answer = g_byte_array_new();
    const QwValue values[] = { INTEGER_VALUE(1), INTEGER_VALUE(2) };

    answer_put_schema(answer, 1, (const char *const[]){ "a", NULL }, NULL);
    answer_put_schema(answer, 2, (const char *const[]){ "a", "b", NULL }, NULL);
    answer_put_rows(answer, 2, 2, 1, values);
    answer_put_end(answer, 2, &(QwEnd){ .n_rows = 1 });
    fake_daemon_serve(fake, 2, answer, FAKE_STAYS);

    cursor = query(connection, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(query_cursor_get_n_columns(cursor), ==, 2);
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    g_assert_cmpint(query_cursor_get_int64(cursor, 1), ==, 2);
}

/* Cancelled before the call, and while it waits for a row that never comes. */
static void
test_cancel(void)
{
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(GError) again = NULL;
    GByteArray *answer = g_byte_array_new();

    answer_put_schema(answer, 1, (const char *const[]){ "a", NULL }, NULL);
    answer_put_rows(answer, 2, 1, 1, &(QwValue) INTEGER_VALUE(1));
    fake_daemon_serve(fake, 2, answer, FAKE_STAYS);
    cursor = query(connection, &error);
    g_assert_no_error(error);
    g_assert_true(query_cursor_next(cursor, cancellable, &error));
    g_cancellable_cancel(cancellable);
    g_assert_false(query_cursor_next(cursor, cancellable, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    g_assert_false(query_cursor_next(cursor, NULL, &again));
    g_assert_error(again, G_IO_ERROR, G_IO_ERROR_CANCELLED);

    /* The descriptor is closed: the fake daemon reads EOF instead of a request. */
    fake_daemon_serve(fake, 1, NULL, FAKE_STAYS);
    g_assert_cmpstr(fake_daemon_get_kinds(fake), ==, "PF");
}

static gpointer
cancel_when_fetched(gpointer data)
{
    gpointer *fake_and_cancellable = data;

    fake_daemon_join(fake_and_cancellable[0]); /* both requests have arrived, no answer will come */
    g_cancellable_cancel(fake_and_cancellable[1]);
    return NULL;
}

static void
test_cancel_waiting(void)
{
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    gpointer fake_and_cancellable[2] = { fake, cancellable };
    GThread *thread;

    fake_daemon_serve(fake, 2, NULL, FAKE_STAYS);
    thread = g_thread_new("canceller", cancel_when_fetched, fake_and_cancellable);
    cursor = query_connection_query(connection, QUERY_LANGUAGE_SQL, "SELECT 1", NULL, cancellable, &error);
    g_thread_join(thread);
    g_assert_null(cursor);
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* A closed cursor whose END had come gives its channel back; the next query goes out on it. */
static void
test_close_early(void)
{
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;

    fake_daemon_serve(fake, 2, answer_new_integers(1, 2, 2), FAKE_STAYS);
    cursor = query(connection, &error);
    g_assert_no_error(error);
    fake_daemon_join(fake);
    g_assert_true(query_cursor_next(cursor, NULL, &error));
    query_cursor_close(cursor);
    g_assert_false(query_cursor_next(cursor, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_CLOSED);
    g_clear_error(&error);
    g_clear_object(&cursor);

    fake_daemon_serve(fake, 1, answer_new_integers(0, 3, 1), FAKE_STAYS);
    cursor = query(connection, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(count_rows(cursor, &error), ==, 1);
    g_assert_cmpstr(fake_daemon_get_kinds(fake), ==, "PFF");
}

static void
test_steal_fd(void)
{
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryCursor) cursor = NULL;
    guint8 bytes[QW_HEADER_SIZE];
    QwHeader header;
    int fd;

    fake_daemon_serve(fake, 2, answer_new_integers(1, 2, 1), FAKE_STAYS);
    cursor = query(connection, NULL);
    fd = query_cursor_steal_fd(cursor);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(recv(fd, bytes, sizeof bytes, MSG_WAITALL), ==, sizeof bytes);
    g_assert_cmpint(qw_header_decode(bytes, QW_PAGE_SIZE_DEFAULT, QW_TO_CLIENT, &header), ==, 0);
    g_assert_cmpint(header.kind, ==, QW_KIND_ROWS);
    g_assert_cmpint(query_cursor_steal_fd(cursor), ==, -1);
    (void) close(fd);
}

static void
keep_result(GObject *object, GAsyncResult *result, gpointer user_data)
{
    *(GAsyncResult **) user_data = g_object_ref(result);
}

static GAsyncResult *
wait_for(GAsyncResult **result)
{
    while (*result == NULL)
        g_main_context_iteration(g_main_context_get_thread_default(), TRUE);

    return g_steal_pointer(result);
}

/* All of it async, in a context of the test's own. */
static void
test_async(void)
{
    g_autoptr(GMainContext) context = g_main_context_new();
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(GError) error = NULL;
    GAsyncResult *result = NULL;
    guint n = 0;

    g_main_context_push_thread_default(context);
    fake_daemon_serve(fake, 2, answer_new_integers(1, 2, 3), FAKE_STAYS);
    query_connection_query_async(connection, QUERY_LANGUAGE_SQL, "SELECT a FROM t", NULL, NULL, keep_result, &result);
    {
        g_autoptr(GAsyncResult) queried = wait_for(&result);
        g_autoptr(QueryCursor) cursor = query_connection_query_finish(connection, queried, &error);
        gboolean has_row = TRUE;

        g_assert_no_error(error);
        while (has_row) {
            g_autoptr(GAsyncResult) moved = NULL;

            query_cursor_next_async(cursor, NULL, keep_result, &result);
            g_assert_null(result); /* never from within the call */
            moved = wait_for(&result);
            has_row = query_cursor_next_finish(cursor, moved, &error);
            g_assert_no_error(error);
            if (has_row)
                g_assert_cmpint(query_cursor_get_int64(cursor, 0), ==, n++);
        }
    }
    g_assert_cmpuint(n, ==, 3);
    g_main_context_pop_thread_default(context);
}

static void
test_async_cancel(void)
{
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(GCancellable) cancellable = g_cancellable_new();
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GAsyncResult) moved = NULL;
    g_autoptr(GAsyncResult) refused = NULL;
    g_autoptr(GError) error = NULL;
    GByteArray *answer = g_byte_array_new();
    GAsyncResult *result = NULL;
    GAsyncResult *second = NULL;

    answer_put_schema(answer, 1, (const char *const[]){ "a", NULL }, NULL);
    answer_put_rows(answer, 2, 1, 1, &(QwValue) INTEGER_VALUE(1));
    fake_daemon_serve(fake, 2, answer, FAKE_STAYS);
    cursor = query(connection, &error);
    g_assert_no_error(error);
    g_assert_true(query_cursor_next(cursor, NULL, &error));

    query_cursor_next_async(cursor, cancellable, keep_result, &result);
    query_cursor_next_async(cursor, NULL, keep_result, &second);
    refused = wait_for(&second);
    g_assert_false(query_cursor_next_finish(cursor, refused, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_PENDING);
    g_clear_error(&error);
    g_assert_null(result);

    g_cancellable_cancel(cancellable);
    moved = wait_for(&result);
    g_assert_false(query_cursor_next_finish(cursor, moved, &error));
    g_assert_error(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_json(void)
{
    static const QwValue values[] = {
        { .type = QW_TYPE_NULL },
        INTEGER_VALUE(-5),
        { .type = QW_TYPE_FLOAT, .real = 2.5 },
        TEXT_VALUE("a\"\\\n\x01\0\xff"),
        { .type = QW_TYPE_BLOB, .data = "ab", .n_bytes = 2 },
        { .type = QW_TYPE_FLOAT, .real = G_MAXDOUBLE * 2 },
    };
    const char *const names[] = { "n", "i", "f", "t\"", "b", "inf", NULL };
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GBytes) first = NULL;
    g_autoptr(GBytes) second = NULL;
    g_autoptr(GError) error = NULL;
    GByteArray *answer = g_byte_array_new();
    const char
        *expected = "[{\"n\":null,\"i\":-5,\"f\":2.5,\"t\\\"\":\"a\\\"\\\\\\n\\u0001\357\277\275\357\277\275\",\"b\":\"YWI=\","
                    "\"inf\":9e999}]\n";

    answer_put_schema(answer, 1, names, NULL);
    answer_put_rows(answer, 2, G_N_ELEMENTS(values), 1, values);
    answer_put_rows(answer, 2, G_N_ELEMENTS(values), 1, values);
    answer_put_end(answer, 2, &(QwEnd){ .n_rows = 2 });
    fake_daemon_serve(fake, 2, answer, FAKE_STAYS);
    cursor = query(connection, &error);
    g_assert_no_error(error);

    first = query_cursor_read_json(cursor, 1, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpmem(g_bytes_get_data(first, NULL), g_bytes_get_size(first), expected, strlen(expected));
    second = query_cursor_read_json(cursor, 0, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpmem(g_bytes_get_data(second, NULL), g_bytes_get_size(second), expected, strlen(expected));
    g_assert_null(query_cursor_read_json(cursor, 0, NULL, &error));
    g_assert_no_error(error);
}

static void
test_json_async(void)
{
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GAsyncResult) read = NULL;
    g_autoptr(GBytes) json = NULL;
    g_autoptr(GError) error = NULL;
    GAsyncResult *result = NULL;
    const char *expected = "[{\"a\":0},\n{\"a\":1},\n{\"a\":2}]\n";

    fake_daemon_serve(fake, 2, answer_new_integers(1, 2, 3), FAKE_STAYS);
    cursor = query(connection, &error);
    query_cursor_read_json_async(cursor, 0, NULL, keep_result, &result);
    read = wait_for(&result);
    json = query_cursor_read_json_finish(cursor, read, &error);
    g_assert_no_error(error);
    g_assert_cmpmem(g_bytes_get_data(json, NULL), g_bytes_get_size(json), expected, strlen(expected));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client/cursor/values", test_values);
    g_test_add_func("/client/cursor/conversions", test_conversions);
    g_test_add_func("/client/cursor/misuse", test_misuse);
    g_test_add_func("/client/cursor/large-row", test_large_row);
    g_test_add_func("/client/cursor/wide-schema", test_wide_schema);
    g_test_add_func("/client/cursor/zero-columns", test_zero_columns);
    g_test_add_func("/client/cursor/zero-rows", test_zero_rows);
    g_test_add_func("/client/cursor/schema-change", test_schema_change);
    g_test_add_func("/client/cursor/cancel", test_cancel);
    g_test_add_func("/client/cursor/cancel-waiting", test_cancel_waiting);
    g_test_add_func("/client/cursor/close-early", test_close_early);
    g_test_add_func("/client/cursor/steal-fd", test_steal_fd);
    g_test_add_func("/client/cursor/async", test_async);
    g_test_add_func("/client/cursor/async-cancel", test_async_cancel);
    g_test_add_func("/client/cursor/json", test_json);
    g_test_add_func("/client/cursor/json-async", test_json_async);
    return g_test_run();
}
