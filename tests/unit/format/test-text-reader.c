/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The readers: every value comes back through every format wherever the input is cut, and errors name their place.
 */
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/format/text-reader.h"
#include "daemon/format/text-writer.h"

#define N_COLUMNS 5

/* A readable form of rows: types and values, one row a line. */
static void
print_values(GString *out, const QwValue *values, guint n_values)
{
    for (guint i = 0; i < n_values; i++) {
        const QwValue *value = &values[i];

        g_string_append(out, i > 0 ? " " : "");
        if (value->type == QW_TYPE_NULL) {
            g_string_append(out, "null");
        } else if (value->type == QW_TYPE_INTEGER) {
            g_string_append_printf(out, "i%" G_GINT64_FORMAT, value->integer);
        } else if (value->type == QW_TYPE_FLOAT) {
            g_string_append_printf(out, "f%a", value->real);
        } else {
            g_string_append_printf(out, "%c", value->type == QW_TYPE_BLOB ? 'b' : value->type == QW_TYPE_TEXT ? 't' : 'l');
            for (guint j = 0; j < value->n_bytes; j++) {
                if (g_ascii_isgraph(value->data[j]))
                    g_string_append_c(out, value->data[j]);
                else
                    g_string_append_printf(out, "<%02x>", (guchar) value->data[j]);
            }
            if (value->type != QW_TYPE_BLOB)
                g_assert_cmpint(value->data[value->n_bytes], ==, 0);
            if (value->tag != NULL)
                g_string_append_printf(out, "@%s", value->tag);
        }
    }
    g_string_append_c(out, '\n');
}

/* Reads @text in pieces of @piece bytes; rows as text, then the error if there was one. */
static char *
read_pieces(QdTextReader *reader, const char *text, size_t n_bytes, size_t piece)
{
    GString *out = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    const QwValue *values = NULL;
    guint n_values = 0;
    size_t fed = 0;

    for (;;) {
        QdTextReadResult result = qd_text_reader_next(reader, &values, &n_values, &error);

        if (result == QD_TEXT_READ_ROW) {
            print_values(out, values, n_values);
        } else if (result == QD_TEXT_READ_MORE) {
            /* A copy of the very size, so that a sanitizer sees a read beyond it. */
            size_t n = MIN(piece, n_bytes - fed);
            g_autofree char *copy = g_memdup2(text + fed, n);

            qd_text_reader_feed(reader, copy, n);
            fed += n;
            for (;;) {
                result = qd_text_reader_next(reader, &values, &n_values, &error);
                if (result != QD_TEXT_READ_ROW)
                    break;
                print_values(out, values, n_values);
            }
        }
        if (result == QD_TEXT_READ_END)
            return g_string_free(out, FALSE);
        if (result == QD_TEXT_READ_ERROR) {
            g_string_append_printf(out, "%s: %s", qw_error_get_name((uint32_t) error->code), error->message);
            g_assert_cmpint(qd_text_reader_next(reader, &values, &n_values, NULL), ==, QD_TEXT_READ_ERROR);
            return g_string_free(out, FALSE);
        }
    }
}

static void
assert_read_full(QdTextFormat format, gboolean header, const char *const *names, const char *text, size_t n_bytes,
                 const char *expected)
{
    const size_t pieces[] = { 1, 2, 3, 7, n_bytes + 1 };
    QdLimits limits;

    qd_limits_init(&limits);
    limits.values[QD_LIMIT_COLUMNS] = 100;
    limits.values[QD_LIMIT_SQL_DEPTH] = 10;
    for (guint i = 0; i < G_N_ELEMENTS(pieces); i++) {
        g_autoptr(QdTextReader) reader = qd_text_reader_new(format, header, names, &limits);
        g_autofree char *rows = read_pieces(reader, text, n_bytes, pieces[i]);

        g_assert_cmpstr(rows, ==, expected);
    }
}

static void
assert_read(QdTextFormat format, gboolean header, const char *text, const char *expected)
{
    assert_read_full(format, header, NULL, text, strlen(text), expected);
}

/* Values ------------------------------------------------------------------------------------------------------------- */

static QwValue
random_bytes(QwType type, GString *store)
{
    static const char *const pieces[] = { "",
                                          "\"",
                                          "'",
                                          ",",
                                          "\t",
                                          "\n",
                                          "\r",
                                          "\\",
                                          "\\N",
                                          "\\x",
                                          "X'",
                                          "CAST(X'",
                                          "' AS TEXT)",
                                          "0",
                                          "7",
                                          "-1",
                                          "1.5",
                                          "e+",
                                          "\xc3\xbc",
                                          "\xff",
                                          "\xc3",
                                          "\xef\xbb\xbf",
                                          "x",
                                          " ",
                                          "null",
                                          "\x01",
                                          "\xed\xa0\x80",
                                          "{\"base64\":\"\"}",
                                          "[",
                                          "}",
                                          ":",
                                          "\xf0\x9f\x98\x80" };
    size_t start = store->len;
    guint n = (guint) g_test_rand_int_range(0, 4);

    for (guint i = 0; i < n; i++) {
        if (g_test_rand_int_range(0, 12) == 0)
            g_string_append_c(store, '\0');
        else
            g_string_append(store, pieces[g_test_rand_int_range(0, G_N_ELEMENTS(pieces))]);
    }
    g_string_append_c(store, '\0');
    return (QwValue){ .type = type, .data = (const char *) (uintptr_t) start, .n_bytes = (uint32_t) (store->len - 1 - start) };
}

static QwValue
random_value(GString *store)
{
    static const double reals[] = { 0.0,
                                    -0.0,
                                    1.0,
                                    -1.0,
                                    0.1,
                                    1e15,
                                    1e16,
                                    1e300,
                                    5e-324,
                                    -1.7976931348623157e308,
                                    1.0 / 3,
                                    1e-5,
                                    123456.789,
                                    9007199254740993.0,
                                    G_MAXDOUBLE * 2 };
    static const int64_t integers[] = { 0, 1, -1, INT64_MAX, INT64_MIN, 9007199254740993 };

    switch (g_test_rand_int_range(0, 6)) {
    case 0:
        return (QwValue){ .type = QW_TYPE_NULL };
    case 1:
        return (QwValue){ .type = QW_TYPE_INTEGER, .integer = integers[g_test_rand_int_range(0, G_N_ELEMENTS(integers))] };
    case 2:
        return (QwValue){ .type = QW_TYPE_FLOAT, .real = reals[g_test_rand_int_range(0, G_N_ELEMENTS(reals))] };
    case 3:
        return random_bytes(QW_TYPE_BLOB, store);
    default: /* texts are the difficult ones */
        return random_bytes(QW_TYPE_TEXT, store);
    }
}

/* What is written is read back value for value, for any cut; and it is UTF-8 without NUL. */
static void
test_round_trip(gconstpointer data)
{
    static const char *const names[] = { "a", "b c", "X'00'", "7", "\xc3\xbc" };
    QdTextFormat format = (QdTextFormat) GPOINTER_TO_UINT(data);
    QdLimits limits;

    qd_limits_init(&limits);
    for (guint round = 0; round < 4000; round++) {
        guint n_columns = (guint) g_test_rand_int_range(1, N_COLUMNS + 1);
        gboolean header = round % 2 == 0;
        g_autoptr(QdTextWriter) writer = qd_text_writer_new(format, names, n_columns, header);
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(GString) expected = g_string_new(NULL);

        qd_text_writer_begin(writer, text);
        for (guint row = (guint) g_test_rand_int_range(0, 4); row > 0; row--) {
            g_autoptr(GString) store = g_string_new(NULL);
            QwValue values[N_COLUMNS];

            for (guint i = 0; i < n_columns; i++)
                values[i] = random_value(store);
            for (guint i = 0; i < n_columns; i++) {
                if (values[i].type == QW_TYPE_TEXT || values[i].type == QW_TYPE_BLOB)
                    values[i].data = store->str + (uintptr_t) values[i].data;
            }
            qd_text_writer_put_values(writer, values, text);
            print_values(expected, values, n_columns);
        }
        qd_text_writer_end(writer, text);
        g_assert_true(g_utf8_validate_len(text->str, text->len, NULL));

        for (guint i = 0; i < 3; i++) {
            size_t piece = i == 0 ? 1 : i == 1 ? text->len + 1 : (size_t) g_test_rand_int_range(2, 20);
            g_autoptr(QdTextReader) reader = qd_text_reader_new(format, header, NULL, &limits);
            g_autofree char *rows = read_pieces(reader, text->str, text->len, piece);

            g_assert_cmpstr(rows, ==, expected->str);
            if (header && format <= QD_TEXT_FORMAT_TSV) {
                const char *const *read_names = qd_text_reader_get_column_names(reader);

                for (guint j = 0; j < n_columns; j++)
                    g_assert_cmpstr(read_names[j], ==, names[j]);
                g_assert_null(read_names[n_columns]);
            }
        }
    }
}

/* Formats ------------------------------------------------------------------------------------------------------------ */

static void
test_csv(void)
{
    assert_read(QD_TEXT_FORMAT_CSV, FALSE, "", "");
    assert_read(QD_TEXT_FORMAT_CSV, TRUE, "a,b\n", "");
    assert_read(QD_TEXT_FORMAT_CSV, TRUE, "a,b\r\n1,x\r\n,\"\"\r\n", "i1 tx\nnull t\n");
    assert_read(QD_TEXT_FORMAT_CSV, FALSE, "007,1.50,1.5,9223372036854775808,-3",
                "t007 t1.50 f0x1.8p+0 t9223372036854775808 i-3\n");
    assert_read(QD_TEXT_FORMAT_CSV, FALSE, "\"a\"\"b\",\"c\r\nd\"\n", "ta\"b tc<0d><0a>d\n");
    assert_read(QD_TEXT_FORMAT_CSV, FALSE, "X'00FF',\"X'00'\",X'0',x'00'\n", "b<00><ff> tX'00' tX'0' tx'00'\n");
    assert_read(QD_TEXT_FORMAT_CSV, FALSE, "CAST(X'610062' AS TEXT),1\n", "ta<00>b i1\n");
    assert_read(QD_TEXT_FORMAT_CSV, FALSE,
                "\xef\xbb\xbf"
                "a,b",
                "ta tb\n");
    assert_read(QD_TEXT_FORMAT_CSV, FALSE,
                "\xef\xbb\xb0"
                "a,b",
                "t<ef><bb><b0>a tb\n");
    assert_read(QD_TEXT_FORMAT_CSV, FALSE, "say \"hi\",x\n", "tsay<20>\"hi\" tx\n");
    /* An empty line is a row of one column, and nothing where there are more. */
    assert_read(QD_TEXT_FORMAT_CSV, TRUE, "a\n\n1\n", "null\ni1\n");
    assert_read(QD_TEXT_FORMAT_CSV, TRUE, "\na,b\n1,2\n\n\r\n3,4\n\n", "i1 i2\ni3 i4\n");
}

static void
test_csv_errors(void)
{
    assert_read(QD_TEXT_FORMAT_CSV, TRUE, "a,b\n1,2\n1\n", "i1 i2\nSyntax: 3:1: the row has 1 fields, the first row 2");
    assert_read(QD_TEXT_FORMAT_CSV, TRUE, "a,b\n\"x\ny\",2,3\n", "Syntax: 2:1: the row has 3 fields, the first row 2");
    assert_read(QD_TEXT_FORMAT_CSV, FALSE, "1,\"\xc3\xbc\"x,2\n", "Syntax: 1:6: text after the closing quote");
    assert_read(QD_TEXT_FORMAT_CSV, FALSE, "1,2\n3,\"abc\n\n", "i1 i2\nSyntax: 2:3: quoted field is not closed");
    assert_read(QD_TEXT_FORMAT_CSV, FALSE, "1,\xc3\xbc\xff\n", "Syntax: 1:4: the text is not UTF-8");
    assert_read(QD_TEXT_FORMAT_CSV, FALSE, "1,\"\"\"\xc3\xbc\xff\"\n", "Syntax: 1:7: the text is not UTF-8");
    assert_read(QD_TEXT_FORMAT_CSV, FALSE, "a\rb\n", "Syntax: 1:3: carriage return without a line feed, outside of quotes");
    assert_read_full(QD_TEXT_FORMAT_CSV, FALSE, NULL, "a\0b", 3, "Syntax: 1:2: NUL byte in the text (is it UTF-16?)");
}

static void
test_tsv(void)
{
    assert_read(QD_TEXT_FORMAT_TSV, TRUE, "a\tb\n1\t\\N\n\tx\n", "i1 null\nt tx\n");
    assert_read(QD_TEXT_FORMAT_TSV, FALSE, "a\\tb\\n\\r\\\\\\000\\377\t\"7\"\t\\x00fF\r\n",
                "ta<09>b<0a><0d>\\<00><ff> t7 b<00><ff>\n");
    assert_read(QD_TEXT_FORMAT_TSV, FALSE, "\"a\"\"b\"\t\"a\"b\"\t\"\t\"a\n", "ta\"b t\"a\"b\" t\" t\"a\n");
    assert_read(QD_TEXT_FORMAT_TSV, FALSE, "a\tb\\q\n", "Syntax: 1:4: unknown escape; a backslash is written as \\\\");
    assert_read(QD_TEXT_FORMAT_TSV, FALSE, "a\t\\x0\n", "Syntax: 1:3: a blob needs an even number of hex digits");
    assert_read(QD_TEXT_FORMAT_TSV, FALSE, "a\t\\\n", "Syntax: 1:3: unknown escape; a backslash is written as \\\\");
    assert_read(QD_TEXT_FORMAT_TSV, TRUE, "a\tb\n1\n", "Syntax: 2:1: the row has 1 fields, the first row 2");
}

static void
test_jsonl(void)
{
    static const char *const names[] = { "a", "b", "c", NULL };

    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "{\"a\":1,\"b\":\"x\"}\n\n {\"b\": null , \"a\":true}\r\n{}\n",
                "i1 tx\ni1 null\nnull null\n");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "[1,1.0,\"\\u00fc\\ud83d\\ude00\\u0000\\/\"]\n[-0,12345678901234567890,1e2]",
                "i1 f0x1p+0 t<c3><bc><f0><9f><98><80><00>/\nf-0x0p+0 f0x1.56a95319d63e1p+63 f0x1.9p+6\n");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "[{\"base64\":\"AP8=\"},{\"text_base64\":\"/w==\"},{\"x\":[1, {}]},[\"]\"]]",
                "b<00><ff> t<ff> t{\"x\":[1,<20>{}]} t[\"]\"]\n");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "[{\"base64\":\"A\"},{\"base64\":1},{\"base64\":\"\",\"b\":2}]",
                "t{\"base64\":\"A\"} t{\"base64\":1} t{\"base64\":\"\",\"b\":2}\n");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "[{\"value\":\"x\",\"language\":\"en\"},{\"value\":\"1\", \"datatype\" : \"t:i\" }]",
                "lx@en l1@t:i\n");
    assert_read_full(QD_TEXT_FORMAT_JSONL, FALSE, names, "{\"b\":1}\n", 8, "null i1 null\n");
    assert_read_full(QD_TEXT_FORMAT_JSONL, FALSE, names, "{\"d\":1}\n", 8, "Syntax: 1:2: there is no column \"d\"");
}

static void
test_json(void)
{
    assert_read(QD_TEXT_FORMAT_JSON, FALSE, "[]", "");
    assert_read(QD_TEXT_FORMAT_JSON, FALSE, " [ {\"a\":1},\n{\n\"a\"\n:\n2} ] \n", "i1\ni2\n");
    assert_read(QD_TEXT_FORMAT_JSON, FALSE, "", "Syntax: 1:1: unexpected end of the input: the array is not closed");
    assert_read(QD_TEXT_FORMAT_JSON, FALSE, "[{\"a\":1},",
                "i1\nSyntax: 1:10: unexpected end of the input: the array is not closed");
    assert_read(QD_TEXT_FORMAT_JSON, FALSE, "[{\"a\":1}", "i1\nSyntax: 1:9: unexpected end of the input: the array is not closed");
    assert_read(QD_TEXT_FORMAT_JSON, FALSE, "[{\"a\":1},]", "i1\nSyntax: 1:10: expected an object or an array");
    assert_read(QD_TEXT_FORMAT_JSON, FALSE, "[{\"a\":1} {\"a\":2}]", "i1\nSyntax: 1:10: expected ',' or ']'");
    assert_read(QD_TEXT_FORMAT_JSON, FALSE, "[] x", "Syntax: 1:4: text after the end");
    assert_read(QD_TEXT_FORMAT_JSON, FALSE, "{\"a\":1}", "Syntax: 1:1: expected '['");
}

/* Rows of jsonl whose keys may come later. */
static void
assert_growing(const char *text, const char *expected, guint n_names)
{
    QdLimits limits;
    g_autoptr(QdTextReader) reader = NULL;
    g_autofree char *rows = NULL;

    qd_limits_init(&limits);
    reader = qd_text_reader_new(QD_TEXT_FORMAT_JSONL, FALSE, NULL, &limits);
    qd_text_reader_set_growing(reader);
    rows = read_pieces(reader, text, strlen(text), 5);
    g_assert_cmpstr(rows, ==, expected);
    if (n_names > 0)
        g_assert_cmpuint(g_strv_length((char **) qd_text_reader_get_column_names(reader)), ==, n_names);
}

static void
test_json_growing(void)
{
    assert_growing("{\"a\":1}\n{\"b\":2,\"a\":3}\n{\"a\":4}\n[5,6]\n", "i1\ni3 i2\ni4 null\ni5 i6\n", 2);
    assert_growing("{\"a\":1}\n[1,2]\n", "i1\nSyntax: 2:1: the row has 2 fields, the first row 1", 1);
    assert_growing("[1,2]\n{\"a\":1}\n", "i1 i2\nSyntax: 2:1: the row has 1 fields, the first row 2", 0);
    assert_growing("[1]\n{\"a\":1,\"b\":2}\n", "i1\ni1 i2\n", 2);
}

static void
test_json_errors(void)
{
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "{\"a\":1}\n{\"\xc3\xbc\":1}\n", "i1\nSyntax: 2:2: there is no column \"\xc3\xbc\"");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "{\"a\":1,\"a\":2}", "Syntax: 1:8: a second \"a\" in one object");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "{\"\xc3\xbc\":x}", "Syntax: 1:6: expected a value");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "{\"a\":\"x\n\"}", "Syntax: 1:6: string is not closed");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "{\"a\":1\n}\n", "Syntax: 1:7: unexpected end of the row, expected ',' or '}'");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "{\"a\":\"\x01\"}", "Syntax: 1:7: control character in a string");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "{\"a\":\"\\ud800\"}", "Syntax: 1:7: half of a surrogate pair");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "{\"a\":\"\\q\"}", "Syntax: 1:7: unknown escape");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "{\"a\":01}", "Syntax: 1:6: expected a number");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "{\"a\":1} {\"a\":2}", "i1\nSyntax: 1:9: text after the end");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "{\"a\":\"\xff\"}", "Syntax: 1:7: the text is not UTF-8");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "{]\n", "Syntax: 1:2: expected a string");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "[[[[[[[[[[[[1]]]]]]]]]]]]",
                "TooComplex: 1:11: too many levels of objects and arrays");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "[1]\n[1,2]\n", "i1\nSyntax: 2:1: the row has 2 fields, the first row 1");
    assert_read(QD_TEXT_FORMAT_JSONL, FALSE, "x", "Syntax: 1:1: expected an object or an array");
}

/* Limits ------------------------------------------------------------------------------------------------------------- */

static char *
read_repeated(QdTextFormat format, const char *head, const char *repeated, guint n_times)
{
    g_autoptr(GString) text = g_string_new(head);
    g_autoptr(QdTextReader) reader = NULL;
    QdLimits limits;

    for (guint i = 0; i < n_times; i++)
        g_string_append(text, repeated);
    qd_limits_init(&limits);
    limits.values[QD_LIMIT_VALUE_BYTES] = 1024 * 1024;
    limits.values[QD_LIMIT_COLUMNS] = 100;
    reader = qd_text_reader_new(format, FALSE, NULL, &limits);
    return read_pieces(reader, text->str, text->len, 65536);
}

static void
test_limits(void)
{
    for (guint i = 0; i < QD_N_TEXT_FORMATS; i++) {
        QdTextFormat format = (QdTextFormat) i;
        const char *row = format == QD_TEXT_FORMAT_CSV ? "\"" : format == QD_TEXT_FORMAT_JSON ? "[[\"" : "[\"";
        const char *fields = format == QD_TEXT_FORMAT_TSV ? "1\t" : "1,";
        g_autofree char *too_big = read_repeated(format, row, "0123456789abcdef", 200000);
        g_autofree char *too_wide = NULL;

        g_assert_nonnull(strstr(too_big, "TooBig: 1:"));
        g_assert_nonnull(strstr(too_big, "the limit 'value_bytes' is 1048576 bytes"));
        if (format <= QD_TEXT_FORMAT_TSV) {
            too_wide = read_repeated(format, "", fields, 101);
            g_assert_cmpstr(too_wide, ==, "TooComplex: 1:201: columns of a row: the limit 'columns' is 100");
        } else {
            g_autoptr(GString) text = g_string_new(format == QD_TEXT_FORMAT_JSON ? "[[1" : "[1");

            too_wide = read_repeated(format, text->str, ",1", 101);
            g_assert_nonnull(strstr(too_wide, "TooComplex: 1:"));
        }
    }
}

/* A megabyte in one field, in pieces; and how fast rows are read. */
static void
test_large(void)
{
    g_autoptr(GString) text = g_string_new("a\tb\n");
    g_autoptr(QdTextReader) reader = NULL;
    const QwValue *values = NULL;
    guint n_values = 0;
    guint n_rows = 0;
    gint64 start = 0;
    QdLimits limits;

    qd_limits_init(&limits);
    for (guint i = 0; i < (g_test_perf() ? 2000000u : 20000u); i++)
        g_string_append(text, "12345\tsome ordinary text\n");
    reader = qd_text_reader_new(QD_TEXT_FORMAT_TSV, TRUE, NULL, &limits);
    start = g_get_monotonic_time();
    qd_text_reader_feed(reader, text->str, text->len);
    while (qd_text_reader_next(reader, &values, &n_values, NULL) == QD_TEXT_READ_ROW)
        n_rows++;
    g_test_message("tsv: %u rows, %.0f MB/s", n_rows, (double) text->len / (double) MAX(g_get_monotonic_time() - start, 1));
    g_assert_cmpuint(qd_text_reader_get_line(reader), ==, n_rows + 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    for (guint i = 0; i < QD_N_TEXT_FORMATS; i++) {
        g_autofree char *path = g_strdup_printf("/format/text-reader/round-trip/%s", qd_text_format_get_name((QdTextFormat) i));

        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_round_trip);
    }
    g_test_add_func("/format/text-reader/csv", test_csv);
    g_test_add_func("/format/text-reader/csv-errors", test_csv_errors);
    g_test_add_func("/format/text-reader/tsv", test_tsv);
    g_test_add_func("/format/text-reader/jsonl", test_jsonl);
    g_test_add_func("/format/text-reader/json", test_json);
    g_test_add_func("/format/text-reader/json-growing", test_json_growing);
    g_test_add_func("/format/text-reader/json-errors", test_json_errors);
    g_test_add_func("/format/text-reader/limits", test_limits);
    g_test_add_func("/format/text-reader/large", test_large);
    return g_test_run();
}
