/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The exact bytes of each text format.
 */
#include <math.h>
#include <string.h>

#include "client-lib/wire/wire-page-writer.h"
#include "daemon/format/text-writer.h"

#define INTEGER(i)                              \
    {                                           \
        .type = QW_TYPE_INTEGER, .integer = (i) \
    }
#define FLOAT(r)                           \
    {                                      \
        .type = QW_TYPE_FLOAT, .real = (r) \
    }
#define BYTES(t, s)                                        \
    {                                                      \
        .type = (t), .data = (s), .n_bytes = sizeof(s) - 1 \
    }
#define TEXT(s) BYTES(QW_TYPE_TEXT, s)

static char *
write_table(QdTextFormat format, const char *const *names, guint n_columns, guint n_rows, gboolean header)
{
    g_autoptr(QdTextWriter) writer = qd_text_writer_new(format, names, n_columns, header);
    GString *out = g_string_new(NULL);
    QwValue values[4] = { INTEGER(1), TEXT("x"), FLOAT(NAN), FLOAT(0.5) }; /* a NaN is NULL */

    qd_text_writer_begin(writer, out);
    for (guint i = 0; i < n_rows; i++)
        qd_text_writer_put_values(writer, values, out);
    qd_text_writer_end(writer, out);
    return g_string_free(out, FALSE);
}

static void
assert_table(QdTextFormat format, guint n_rows, gboolean header, const char *expected)
{
    static const char *const names[] = { "id", "id", "a,b\tc", "1" };
    g_autofree char *text = write_table(format, names, 4, n_rows, header);

    g_assert_cmpstr(text, ==, expected);
}

static void
test_tables(void)
{
    assert_table(QD_TEXT_FORMAT_CSV, 1, TRUE, "id,id,\"a,b\tc\",\"1\"\n1,x,,0.5\n");
    assert_table(QD_TEXT_FORMAT_CSV, 0, FALSE, "");
    assert_table(QD_TEXT_FORMAT_TSV, 2, TRUE, "id\tid\ta,b\\tc\t\"1\"\n1\tx\t\\N\t0.5\n1\tx\t\\N\t0.5\n");
    assert_table(QD_TEXT_FORMAT_JSON, 0, TRUE, "[]\n");
    assert_table(QD_TEXT_FORMAT_JSON, 2, TRUE,
                 "[\n{\"id\":1,\"id_2\":\"x\",\"a,b\\tc\":null,\"1\":0.5},\n"
                 "{\"id\":1,\"id_2\":\"x\",\"a,b\\tc\":null,\"1\":0.5}\n]\n");
    assert_table(QD_TEXT_FORMAT_JSONL, 1, TRUE, "{\"id\":1,\"id_2\":\"x\",\"a,b\\tc\":null,\"1\":0.5}\n");
    assert_table(QD_TEXT_FORMAT_JSONL, 0, TRUE, "");
}

static void
test_no_columns(void)
{
    static const char *const expected[QD_N_TEXT_FORMATS] = { "", "", "[]\n", "" };
    static const char *const names[] = { NULL };

    for (guint i = 0; i < QD_N_TEXT_FORMATS; i++) {
        g_autofree char *text = write_table((QdTextFormat) i, names, 0, 0, TRUE);

        g_assert_cmpstr(text, ==, expected[i]);
    }
}

/* The other entrance: rows from a page. And how fast it is. */
static void
test_page(void)
{
    static const char *const names[] = { "id", "text", "real" };
    const guint n_rows = 1000;
    const guint n_rounds = g_test_perf() ? 400 : 2;
    g_autofree uint64_t *buffer = g_new0(uint64_t, 8192);
    QwPageWriter page;
    guint64 n_bytes = 0;
    gint64 start = 0;

    qw_page_writer_init(&page, (uint8_t *) buffer, 65536, 3);
    for (guint i = 0; i < n_rows; i++) {
        g_assert_cmpint(qw_row_begin(&page), ==, 0);
        g_assert_cmpint(qw_row_put_int64(&page, i), ==, 0);
        g_assert_cmpint(qw_row_put_string(&page, QW_TYPE_TEXT, "some ordinary text", 18), ==, 0);
        g_assert_cmpint(qw_row_put_double(&page, i / 100.0), ==, 0);
        g_assert_cmpint(qw_row_end(&page), ==, 0);
    }
    for (guint format = 0; format < QD_N_TEXT_FORMATS; format++) {
        g_autoptr(QdTextWriter) writer = qd_text_writer_new((QdTextFormat) format, names, 3, TRUE);
        g_autoptr(GString) out = g_string_new(NULL);

        n_bytes = 0;
        start = g_get_monotonic_time();
        for (guint round = 0; round < n_rounds; round++) {
            QwPageReader row;

            g_string_truncate(out, 0);
            g_assert_cmpint(qw_page_reader_init(&row, (uint8_t *) buffer + QW_HEADER_SIZE, page.used - QW_HEADER_SIZE, n_rows, 3),
                            ==, 0);
            while (qw_page_reader_next(&row))
                qd_text_writer_put_row(writer, &row, out);
            n_bytes += out->len;
        }
        g_test_message("%s: %.0f MB/s", qd_text_format_get_name((QdTextFormat) format),
                       (double) n_bytes / (double) MAX(g_get_monotonic_time() - start, 1));
        if (format == QD_TEXT_FORMAT_CSV)
            g_assert_true(g_str_has_prefix(out->str, "0,some ordinary text,0.0\n1,some ordinary text,0.01\n"));
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/format/text-writer/tables", test_tables);
    g_test_add_func("/format/text-writer/no-columns", test_no_columns);
    g_test_add_func("/format/text-writer/page", test_page);
    return g_test_run();
}
