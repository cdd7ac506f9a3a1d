/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryCursor, and a daemon that ends badly: each is an error, never an end of data.
 */
#include <string.h>

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

typedef struct BadEnd {
    const char *path;
    guint n_rows_before; /* rows that are good */
    QueryError code;
    void (*spoil)(GByteArray *answer);
    FakeEnd end;
} BadEnd;

static void
spoil_nothing(GByteArray *answer)
{
}

static void
spoil_garbage(GByteArray *answer)
{
    guint8 garbage[64];

    memset(garbage, 0xa5, sizeof garbage);
    g_byte_array_append(answer, garbage, sizeof garbage);
}

static void
spoil_half_record(GByteArray *answer)
{
    answer_put_rows(answer, 2, 1, 1, &(QwValue) INTEGER_VALUE(1));
    g_byte_array_set_size(answer, answer->len - 8);
}

static void
spoil_lying_row(GByteArray *answer)
{
    answer_put_rows(answer, 2, 1, 1, &(QwValue) INTEGER_VALUE(1));
    answer->data[answer->len - 16] = 0xff; /* the row's slot */
}

static void
spoil_other_serial(GByteArray *answer)
{
    answer_put_rows(answer, 3, 1, 1, &(QwValue) INTEGER_VALUE(1));
}

static void
spoil_late_schema(GByteArray *answer)
{
    answer_put_schema(answer, 2, (const char *const[]){ "b", NULL }, NULL);
}

static void
spoil_count(GByteArray *answer)
{
    answer_put_end(answer, 2, &(QwEnd){ .n_rows = 3 });
}

static void
spoil_chunk_total(GByteArray *answer)
{
    guint8 page[QW_HEADER_SIZE + QW_CHUNK_PREFIX_SIZE + 8] = { 0 };

    qw_header_encode(&(QwHeader){ .size = sizeof page, .kind = QW_KIND_CHUNK, .flags = QW_CHUNK_FIRST, .count = 8, .serial = 2 },
                     page);
    page[QW_HEADER_SIZE] = QW_KIND_ROWS;
    qw_store_u32(page + QW_HEADER_SIZE + 4, 1);
    qw_store_u64(page + QW_HEADER_SIZE + 8, UINT64_C(1) << 40);
    g_byte_array_append(answer, page, sizeof page);
}

static void
spoil_interrupted_chunks(GByteArray *answer)
{
    g_autofree char *text = g_strnfill(100000, 'x');
    QwValue value = { .type = QW_TYPE_TEXT, .data = text, .n_bytes = 100000 };
    guint before = answer->len;

    answer_put_rows(answer, 2, 1, 1, &value);
    g_byte_array_set_size(answer, before + QW_PAGE_SIZE_DEFAULT);
    answer_put_end(answer, 2, &(QwEnd){ .n_rows = 2 });
}

static void
spoil_error(GByteArray *answer)
{
    answer_put_error(answer, 2, QW_ERROR_TIMEOUT, 0, 0, "the query took longer than 30000 ms");
}

static const BadEnd bad_ends[] = {
    { "eof", 1, QUERY_ERROR_DISCONNECTED, spoil_nothing, FAKE_HANGS_UP },
    { "half-record", 1, QUERY_ERROR_DISCONNECTED, spoil_half_record, FAKE_HANGS_UP },
    { "garbage", 1, QUERY_ERROR_PROTOCOL, spoil_garbage, FAKE_STAYS },
    { "lying-row", 1, QUERY_ERROR_PROTOCOL, spoil_lying_row, FAKE_STAYS },
    { "other-serial", 1, QUERY_ERROR_PROTOCOL, spoil_other_serial, FAKE_STAYS },
    { "late-schema", 1, QUERY_ERROR_PROTOCOL, spoil_late_schema, FAKE_STAYS },
    { "wrong-count", 1, QUERY_ERROR_PROTOCOL, spoil_count, FAKE_STAYS },
    { "chunk-total", 1, QUERY_ERROR_TOO_BIG, spoil_chunk_total, FAKE_STAYS },
    { "interrupted-chunks", 1, QUERY_ERROR_PROTOCOL, spoil_interrupted_chunks, FAKE_STAYS },
    { "error", 1, QUERY_ERROR_TIMEOUT, spoil_error, FAKE_STAYS },
};

static void
test_bad_end(gconstpointer data)
{
    const BadEnd *bad = data;
    g_autoptr(FakeDaemon) fake = fake_daemon_new();
    g_autoptr(QueryConnection) connection = fake_daemon_connect(fake);
    g_autoptr(QueryCursor) cursor = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(GError) again = NULL;
    GByteArray *answer = g_byte_array_new();

    answer_put_schema(answer, 1, (const char *const[]){ "a", NULL }, NULL);
    answer_put_rows(answer, 2, 1, 1, &(QwValue) INTEGER_VALUE(1));
    bad->spoil(answer);
    fake_daemon_serve(fake, 2, answer, bad->end);

    cursor = query(connection, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(count_rows(cursor, &error), ==, bad->n_rows_before);
    g_assert_error(error, QUERY_ERROR, (int) bad->code);
    g_assert_false(query_cursor_next(cursor, NULL, &again));
    g_assert_error(again, QUERY_ERROR, (int) bad->code);
    g_assert_cmpstr(error->message, ==, again->message);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(bad_ends); i++) {
        g_autofree char *path = g_strconcat("/client/cursor-ends/", bad_ends[i].path, NULL);

        g_test_add_data_func(path, &bad_ends[i], test_bad_end);
    }
    return g_test_run();
}
