/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values of parameters: by key or by index they become the same row; what is missing, doubled or too large is said.
 */
#include "client-lib/core/query-parameters.h"

#include <string.h>

#include "client-lib/core/query-error.h"
#include "client-lib/wire/wire-page-reader.h"

static QuerySchema *
make_schema(void)
{
    QuerySchema *schema = query_schema_new(0, 3);

    query_schema_set_parameter(schema, 0, ":name");
    query_schema_set_parameter(schema, 1, NULL);
    query_schema_set_parameter(schema, 2, "@tag");
    return schema;
}

static void
set_text(QueryParameters *parameters, guint index, const char *text)
{
    const QwValue value = { .type = QW_TYPE_TEXT, .data = text, .n_bytes = (uint32_t) strlen(text) };

    query_parameters_set(parameters, index, &value, NULL, NULL);
}

static QueryParameters *
make_bound(const char *first)
{
    QueryParameters *parameters = query_parameters_new();

    query_parameters_set(parameters, 2, &(QwValue){ .type = QW_TYPE_NULL }, NULL, NULL);
    query_parameters_set(parameters, 1, &(QwValue){ .type = QW_TYPE_INTEGER, .integer = -7 }, NULL, NULL);
    set_text(parameters, 0, first);
    return parameters;
}

static void
test_by_key_and_by_index(void)
{
    static const char *const dictionaries[] = {
        "{'2': <int64 -7>, ':name': <'x'>, '@tag': <signature ''>}",
        "{'tag': <signature ''>, '1': <'x'>, '2': <byte 0>}",
    };
    QuerySchema *schema = make_schema();
    g_autoptr(QueryParameters) bound = make_bound("x");
    g_autoptr(GBytes) row = query_parameters_encode(bound, schema, NULL);

    for (gsize i = 0; i < G_N_ELEMENTS(dictionaries); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GVariant) dictionary = g_variant_new_parsed(dictionaries[i]);
        g_autoptr(QueryParameters) keyed = query_parameters_new_from_variant(dictionary, FALSE, &error);
        g_autoptr(GBytes) same = query_parameters_encode(keyed, schema, &error);

        g_assert_no_error(error);
        g_assert_cmpint(g_bytes_equal(row, same), ==, i == 0);
    }
    query_schema_unref(schema);
}

static void
test_append(void)
{
    static const char *const texts[] = { "", "a", "of eight", "a text that takes more than one word" };
    QuerySchema *schema = make_schema();
    g_autoptr(GByteArray) rows = g_byte_array_set_size(g_byte_array_new(), QW_HEADER_SIZE);
    QwPageReader reader;

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(QueryParameters) bound = make_bound(texts[i]);
        g_autoptr(GBytes) row = query_parameters_encode(bound, schema, NULL);
        guint before = rows->len;

        g_assert_true(query_parameters_append(bound, schema, rows, 1000, NULL));
        g_assert_cmpmem(rows->data + before, rows->len - before, g_bytes_get_data(row, NULL), g_bytes_get_size(row));
    }
    g_assert_cmpint(qw_page_reader_init(&reader, rows->data + QW_HEADER_SIZE, rows->len - QW_HEADER_SIZE, 4, 3), ==, 0);
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        QwValue value = { 0 };

        g_assert_true(qw_page_reader_next(&reader));
        qw_page_reader_get(&reader, 0, &value);
        g_assert_cmpmem(value.data, value.n_bytes, texts[i], strlen(texts[i]));
        qw_page_reader_get(&reader, 1, &value);
        g_assert_cmpint(value.integer, ==, -7);
    }
    query_schema_unref(schema);
}

/* A row that is refused leaves those before it as they were. */
static void
test_append_fails(void)
{
    QuerySchema *schema = make_schema();
    g_autoptr(QueryParameters) bound = make_bound("x");
    g_autoptr(QueryParameters) incomplete = query_parameters_new();
    g_autoptr(GByteArray) rows = g_byte_array_set_size(g_byte_array_new(), QW_HEADER_SIZE);
    g_autoptr(GError) error = NULL;
    guint n_bytes;

    g_assert_true(query_parameters_append(bound, schema, rows, 1000, NULL));
    n_bytes = rows->len;
    set_text(incomplete, 1, "x");
    g_assert_false(query_parameters_append(incomplete, schema, rows, 1000, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
    g_assert_cmpstr(error->message, ==, "parameter 1 (':name') has no value");
    g_clear_error(&error);

    g_assert_false(query_parameters_append(bound, schema, rows, n_bytes, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG);
    g_clear_error(&error);
    g_assert_cmpuint(rows->len, ==, n_bytes);

    query_parameters_set(bound, 0, &(QwValue){ .type = QW_TYPE_BLOB, .n_bytes = QW_ROWS_SIZE_MAX, .data = NULL }, NULL, NULL);
    g_assert_false(query_parameters_append(bound, schema, rows, G_MAXUINT32, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG);
    g_assert_cmpuint(rows->len, ==, n_bytes);
    query_schema_unref(schema);
}

static void
test_refused(void)
{
    static const struct {
        const char *dictionary;
        const char *message;
    } cases[] = {
        { "{'1': <'x'>, '2': <1>}", "parameter 3 ('@tag') has no value" },
        { "{'1': <'x'>, 'tag': <1>}", "parameter 2 has no value" },
        { "{'1': <'x'>, ':name': <'x'>, '2': <1>, '3': <1>}", "parameter 1 is given twice, the second time as ':name'" },
        { "{'0': <'x'>}", "there is no parameter 0: the statement has 3" },
        { "{'4': <'x'>}", "there is no parameter 4: the statement has 3" },
        { "{'4294967295': <'x'>}", "there is no parameter 4294967295: the statement has 3" },
        { "{'4294967297': <'x'>}", "there is no parameter '4294967297'" },
        { "{'99999999999999999999999': <'x'>}", "there is no parameter '99999999999999999999999'" },
        { "{'': <'x'>}", "there is no parameter ''" },
        { "{'1x': <'x'>}", "there is no parameter '1x'" },
    };
    QuerySchema *schema = make_schema();

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GVariant) dictionary = g_variant_new_parsed(cases[i].dictionary);
        g_autoptr(QueryParameters) parameters = query_parameters_new_from_variant(dictionary, FALSE, &error);

        g_assert_no_error(error);
        g_assert_null(query_parameters_encode(parameters, schema, &error));
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
        g_assert_cmpstr(error->message, ==, cases[i].message);
    }
    query_schema_unref(schema);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client/parameters/by-key-and-by-index", test_by_key_and_by_index);
    g_test_add_func("/client/parameters/append", test_append);
    g_test_add_func("/client/parameters/append-fails", test_append_fails);
    g_test_add_func("/client/parameters/refused", test_refused);
    return g_test_run();
}
