/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What goes out on a channel and when: pipelining, named parameters, errors, resending, updates, statements.
 */
#include <string.h>

#include "client-lib/wire/wire-page-reader.h"
#include "tests/unit/client/fake-daemon.h"

static QueryCursor *
query(QueryConnection *connection, const char *text, GVariant *parameters, GError **error)
{
    return query_connection_query(connection, QUERY_LANGUAGE_SQL, text, parameters, NULL, error);
}

static guint
drain(QueryCursor *cursor)
{
    g_autoptr(QueryCursor) owned = cursor;
    g_autoptr(GError) error = NULL;
    guint n = 0;

    while (query_cursor_next(owned, NULL, &error))
        n++;
    g_assert_no_error(error);
    return n;
}

/* A first text: PREPARE and FETCH in one go. The same again: FETCH alone. Another one: both again. */
static void
test_reuse(void)
{
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(GError) error = NULL;

    fake_daemon_serve(fake, 2, answer_new_integers(1, 2, 3), FAKE_STAYS);
    g_assert_cmpuint(drain(query(connection, "SELECT a", NULL, &error)), ==, 3);
    fake_daemon_serve(fake, 1, answer_new_integers(0, 3, 2), FAKE_STAYS);
    g_assert_cmpuint(drain(query(connection, "SELECT a", NULL, &error)), ==, 2);
    fake_daemon_serve(fake, 2, answer_new_integers(4, 5, 1), FAKE_STAYS);
    g_assert_cmpuint(drain(query(connection, "SELECT b", NULL, &error)), ==, 1);
    g_assert_cmpstr(fake_daemon_get_kinds(fake), ==, "PFFPF");
    g_assert_cmpuint(query_bus_get_n_calls(query_connection_get_bus(connection)), ==, 0);
}

static GByteArray *
answer_with_parameters(guint32 serial, const char *const *parameters)
{
    GByteArray *answer = g_byte_array_new();

    answer_put_schema(answer, serial, (const char *const[]){ "a", NULL }, parameters);
    return answer;
}

/* Names need the schema: PREPARE, then FETCH. The next time they are known. */
static void
test_named_parameters(void)
{
    const char *const names[] = { ":b", ":a", NULL };
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GBytes) row = NULL;
    g_autoptr(GError) error = NULL;
    GByteArray *answer;
    QwPageReader reader;
    QwValue value;

    /* The fake daemon answers PREPARE at once: it may, since FETCH's serial is known. */
    answer = answer_with_parameters(1, names);
    answer_put_end(answer, 2, &(QwEnd){ 0 });
    fake_daemon_serve(fake, 1, answer, FAKE_STAYS);
    cursor = query(connection, "SELECT :b, :a", g_variant_new_parsed("{'a': <int64 1>, ':b': <'x'>}"), &error);
    g_assert_no_error(error);
    g_assert_cmpuint(drain(g_steal_pointer(&cursor)), ==, 0);

    fake_daemon_serve(fake, 1, NULL, FAKE_STAYS);
    row = fake_daemon_get_last_row(fake);
    g_assert_cmpint(qw_page_reader_init(&reader, g_bytes_get_data(row, NULL), g_bytes_get_size(row), 1, 2), ==, 0);
    g_assert_true(qw_page_reader_next(&reader));
    qw_page_reader_get(&reader, 0, &value);
    g_assert_cmpstr(value.data, ==, "x");
    qw_page_reader_get(&reader, 1, &value);
    g_assert_cmpint(value.integer, ==, 1);

    /* Another statement in between, then the first one again: its names are remembered. */
    fake_daemon_serve(fake, 2, answer_new_integers(3, 4, 0), FAKE_STAYS);
    g_assert_cmpuint(drain(query(connection, "SELECT b", NULL, &error)), ==, 0);
    answer = answer_with_parameters(5, names);
    answer_put_end(answer, 6, &(QwEnd){ 0 });
    fake_daemon_serve(fake, 2, answer, FAKE_STAYS);
    cursor = query(connection, "SELECT :b, :a", g_variant_new_parsed("{'2': <int64 1>, '1': <'x'>}"), &error);
    g_assert_no_error(error);
    g_assert_cmpstr(fake_daemon_get_kinds(fake), ==, "PFPFPF");
}

static void
test_bad_parameters(void)
{
    const char *const names[] = { ":a", "", NULL };
    static const struct {
        const char *parameters;
        const char *message;
    } cases[] = {
        { "{'a': <1>}", "parameter 2 has no value" },
        { "{'2': <1>}", "parameter 1 (':a') has no value" },
        { "{'a': <1>, '2': <2>, 'c': <3>}", "there is no parameter 'c'" },
        { "{'a': <1>, '2': <2>, '3': <3>}", "there is no parameter 3: the statement has 2" },
        { "{'a': <1>, '2': <2>, '1': <3>}", "parameter 1 is given twice, the second time as '1'" },
        { "{'a': <1>, '2': <[1, 2]>}", "parameter '2': values of type 'ai' are not supported" },
        { "{'a': <1>, '2': <uint64 9223372036854775808>}",
          "parameter '2': 9223372036854775808 does not fit into a signed 64-bit integer" },
    };
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);

    fake_daemon_serve(fake, 1, answer_with_parameters(1, names), FAKE_STAYS);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GVariant) parameters = g_variant_ref_sink(g_variant_new_parsed(cases[i].parameters));
        g_autoptr(GError) error = NULL;

        g_assert_null(query(connection, "SELECT :a, ?", parameters, &error));
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
        g_assert_cmpstr(error->message, ==, cases[i].message);
    }
    g_assert_cmpstr(fake_daemon_get_kinds(fake), ==, "P"); /* nothing of it went out */
}

/* PREPARE fails, FETCH is answered by Closed: the first one counts, and the channel is as good as before. */
static void
test_syntax_error(void)
{
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(GError) error = NULL;
    GByteArray *answer = g_byte_array_new();
    guint line = 0;
    guint column = 0;

    answer_put_error(answer, 1, QW_ERROR_SYNTAX, 1, 8, "1:8: near \"FORM\": syntax error");
    answer_put_error(answer, 2, QW_ERROR_CLOSED, 0, 0, "no statement is prepared");
    fake_daemon_serve(fake, 2, answer, FAKE_STAYS);
    g_assert_null(query(connection, "SELECT FORM", NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_SYNTAX);
    g_assert_true(query_error_get_place(error, &line, &column));
    g_assert_cmpuint(line, ==, 1);
    g_assert_cmpuint(column, ==, 8);

    fake_daemon_serve(fake, 2, answer_new_integers(3, 4, 1), FAKE_STAYS);
    g_assert_cmpuint(drain(query(connection, "SELECT a", NULL, NULL)), ==, 1);
}

static void
test_not_utf8(void)
{
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(GError) error = NULL;

    g_assert_null(query(connection, "SELECT '\xff'", NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_SYNTAX);
}

/* An idle channel whose daemon has gone is dropped without a word; then the bus is asked, and there is none. */
static void
test_dead_channel(void)
{
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(GError) error = NULL;

    fake_daemon_hang_up(fake);
    g_assert_null(query(connection, "SELECT a", NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_UNAVAILABLE);
}

/* The daemon dies after it took the request: never sent again, the outcome is not known. */
static void
test_eof_after_request(gconstpointer data)
{
    gboolean writes = GPOINTER_TO_INT(data);
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(GError) error = NULL;

    fake_daemon_serve(fake, 2, NULL, FAKE_HANGS_UP);
    if (writes)
        g_assert_cmpint(query_connection_update(connection, QUERY_LANGUAGE_SQL, "DELETE FROM t", NULL, NULL, &error), ==, -1);
    else
        g_assert_null(query(connection, "SELECT a", NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_DISCONNECTED);
    g_assert_cmpstr(fake_daemon_get_kinds(fake), ==, "PF");
}

static void
test_update(void)
{
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(GError) error = NULL;
    GByteArray *answer = g_byte_array_new();

    answer_put_schema(answer, 1, (const char *const[]){ "a", NULL }, NULL);
    answer_put_rows(answer, 2, 1, 1, &(QwValue) INTEGER_VALUE(1)); /* of RETURNING */
    answer_put_end(answer, 2, &(QwEnd){ .n_rows = 1, .changes = 12, .last_insert_rowid = 5, .generation = 3 });
    fake_daemon_serve(fake, 2, answer, FAKE_STAYS);
    g_assert_cmpint(query_connection_update(connection, QUERY_LANGUAGE_SQL, "DELETE FROM t RETURNING a", NULL, NULL, &error), ==,
                    12);
    g_assert_no_error(error);
}

/* A text and a parameter of more than a page each go out as CHUNKs. */
static void
test_large_request(void)
{
    const char *const names[] = { "?1", NULL };
    g_autofree char *spaces = g_strnfill(100000, ' ');
    g_autofree char *text = g_strconcat("SELECT ?1", spaces, NULL);
    g_autofree char *value = g_strnfill(5000000, 'v');
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryStatement) statement = NULL;
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GBytes) row = NULL;
    g_autoptr(GError) error = NULL;
    GByteArray *answer = g_byte_array_new();
    QwPageReader reader;
    QwValue view = { 0 };

    fake_daemon_serve(fake, 1, answer_with_parameters(1, names), FAKE_STAYS);
    statement = query_connection_prepare(connection, QUERY_LANGUAGE_SQL, text, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(query_statement_bind_string(statement, "1", value, -1, &error));
    answer_put_end(answer, 2, &(QwEnd){ 0 });
    fake_daemon_serve(fake, 1, answer, FAKE_STAYS);
    cursor = query_statement_execute(statement, NULL, &error);
    g_assert_no_error(error);

    row = fake_daemon_get_last_row(fake);
    g_assert_cmpint(qw_page_reader_init(&reader, g_bytes_get_data(row, NULL), g_bytes_get_size(row), 1, 1), ==, 0);
    g_assert_true(qw_page_reader_next(&reader));
    qw_page_reader_get(&reader, 0, &view);
    g_assert_cmpmem(view.data, view.n_bytes, value, 5000000);
    g_assert_cmpstr(fake_daemon_get_kinds(fake), ==, "PF");
}

static void
test_statement(void)
{
    const char *const names[] = { ":a", "$b", "", NULL };
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryStatement) statement = NULL;
    g_autoptr(QueryCursor) first = NULL;
    g_autoptr(QueryCursor) second = NULL;
    g_autoptr(GBytes) blob = g_bytes_new_static("\0\1", 2);
    g_autoptr(GError) error = NULL;

    fake_daemon_serve(fake, 1, answer_with_parameters(1, names), FAKE_STAYS);
    statement = query_connection_prepare(connection, QUERY_LANGUAGE_SQL, "SELECT :a, $b, ?", NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(query_statement_get_n_parameters(statement), ==, 3);
    g_assert_cmpstr(query_statement_get_parameter_name(statement, 1), ==, "$b");
    g_assert_null(query_statement_get_parameter_name(statement, 2));
    g_assert_true(query_statement_bind_int64(statement, "a", 4, &error));
    g_assert_true(query_statement_bind_bytes(statement, "$b", blob, &error));
    g_assert_false(query_statement_bind_null(statement, "4", &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
    g_clear_error(&error);
    g_assert_null(query_statement_execute(statement, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
    g_clear_error(&error);
    g_assert_true(query_statement_bind_literal(statement, "3", "chat", NULL, "fr", &error));

    fake_daemon_serve(fake, 1, answer_new_integers(0, 2, 2), FAKE_STAYS);
    first = query_statement_execute(statement, NULL, &error);
    g_assert_no_error(error);
    fake_daemon_join(fake);
    g_assert_true(query_cursor_next(first, NULL, &error));

    /* Executing again closes the first cursor; its result was whole, so its channel is used. */
    fake_daemon_serve(fake, 1, answer_new_integers(0, 3, 1), FAKE_STAYS);
    second = query_statement_execute(statement, NULL, &error);
    g_assert_no_error(error);
    g_assert_false(query_cursor_next(first, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_CLOSED);
    g_assert_true(query_cursor_next(second, NULL, NULL));
    g_assert_cmpstr(fake_daemon_get_kinds(fake), ==, "PFF");
}

static void
test_statement_update(void)
{
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryStatement) statement = NULL;
    g_autoptr(GError) error = NULL;

    fake_daemon_serve(fake, 1, answer_with_parameters(1, (const char *const[]){ NULL }), FAKE_STAYS);
    statement = query_connection_prepare_update(connection, QUERY_LANGUAGE_SQL, "INSERT INTO t VALUES(1)", NULL, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < 3; i++) {
        GByteArray *answer = g_byte_array_new();

        answer_put_end(answer, 2 + i, &(QwEnd){ .changes = 1, .last_insert_rowid = 10 + i, .generation = 20 + i });
        fake_daemon_serve(fake, 1, answer, FAKE_STAYS);
        g_assert_cmpint(query_statement_update(statement, NULL, &error), ==, 1);
        g_assert_no_error(error);
        g_assert_cmpint(query_statement_get_last_insert_rowid(statement), ==, 10 + i);
        g_assert_cmpuint(query_statement_get_generation(statement), ==, 20 + i);
    }
    g_assert_cmpstr(fake_daemon_get_kinds(fake), ==, "PFFF");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client/request/reuse", test_reuse);
    g_test_add_func("/client/request/named-parameters", test_named_parameters);
    g_test_add_func("/client/request/bad-parameters", test_bad_parameters);
    g_test_add_func("/client/request/syntax-error", test_syntax_error);
    g_test_add_func("/client/request/not-utf8", test_not_utf8);
    g_test_add_func("/client/request/dead-channel", test_dead_channel);
    g_test_add_data_func("/client/request/eof/query", GINT_TO_POINTER(FALSE), test_eof_after_request);
    g_test_add_data_func("/client/request/eof/update", GINT_TO_POINTER(TRUE), test_eof_after_request);
    g_test_add_func("/client/request/update", test_update);
    g_test_add_func("/client/request/large-request", test_large_request);
    g_test_add_func("/client/request/statement", test_statement);
    g_test_add_func("/client/request/statement-update", test_statement_update);
    return g_test_run();
}
