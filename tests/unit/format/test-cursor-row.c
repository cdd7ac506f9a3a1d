/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A row of every kind of value, as a cursor takes it apart.
 */
#include "daemon/format/cursor-row.h"

#include <string.h>

#include "client-lib/wire/wire-page-writer.h"

#define XSD "http://www.w3.org/2001/XMLSchema#"

/* (transfer full): "type:value " for each column of a page with one row */
static char *
write_row(const QwValue *values, guint n_values)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree guint8 *page = g_malloc(65536);
    g_autofree guint8 *out = NULL;
    QwPageWriter writer;
    QwPageReader reader;
    guint32 n_columns = qd_cursor_row_get_n_columns(n_values);
    gsize size;
    gint32 start = 0;

    qw_page_writer_init(&writer, page, 65536, n_values);
    g_assert_cmpint(qw_row_begin(&writer), ==, 0);
    for (guint i = 0; i < n_values; i++)
        g_assert_cmpint(qw_row_put_value(&writer, &values[i]), ==, 0);
    g_assert_cmpint(qw_row_end(&writer), ==, 0);
    size = qw_page_writer_finish(&writer, QW_KIND_ROWS, 0);
    g_assert_cmpint(qw_page_reader_init(&reader, page + QW_HEADER_SIZE, size - QW_HEADER_SIZE, 1, n_values), ==, 0);
    g_assert_true(qw_page_reader_next(&reader));

    out = g_malloc(qd_cursor_row_get_bound(&reader));
    size = qd_cursor_row_write(&reader, out);
    g_assert_cmpuint(size, <=, qd_cursor_row_get_bound(&reader));
    for (guint i = 0; i < n_columns; i++) {
        gint32 type;
        gint32 end;

        memcpy(&type, out + 4 * i, sizeof type);
        memcpy(&end, out + 4 * (n_columns + i), sizeof end);
        g_assert_cmpint(out[8 * n_columns + (guint) end], ==, '\0');
        g_string_append_printf(text, "%d:", type);
        for (gint32 at = start; at < end; at++)
            g_string_append_c(text, out[8 * n_columns + (guint) at] != '\0' ? (char) out[8 * n_columns + (guint) at] : '@');
        g_string_append_c(text, ' ');
        start = end + 1;
    }
    g_assert_cmpuint(8 * n_columns + (guint) start, ==, size);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static QwValue
make(QwType type, const char *text, const char *tag)
{
    QwValue value = { .type = type, .data = text, .n_bytes = (uint32_t) strlen(text), .tag = tag };

    value.n_tag_bytes = tag != NULL ? (uint32_t) strlen(tag) : 0;
    return value;
}

static void
test_values(void)
{
    const QwValue values[] = {
        { .type = QW_TYPE_NULL },
        { .type = QW_TYPE_INTEGER, .integer = G_MININT64 },
        { .type = QW_TYPE_FLOAT, .real = -0.5 },
        make(QW_TYPE_TEXT, "text", NULL),
        make(QW_TYPE_BLOB, "\xff", NULL),
        make(QW_TYPE_IRI, "a:b", NULL),
        make(QW_TYPE_BNODE, "b1", NULL),
        make(QW_TYPE_LITERAL_LANG, "chat", "fr"),
        make(QW_TYPE_LITERAL_TYPED, "7", XSD "unsignedByte"),
        make(QW_TYPE_LITERAL_TYPED, "7.5", XSD "decimal"),
        make(QW_TYPE_LITERAL_TYPED, "2020-01-01", XSD "date"),
        make(QW_TYPE_LITERAL_TYPED, "0", XSD "boolean"),
        make(QW_TYPE_LITERAL_TYPED, "true", XSD "boolean"),
        make(QW_TYPE_LITERAL_TYPED, "P1D", XSD "duration"),
        make(QW_TYPE_LITERAL_TYPED, "x", "a:b"),
    };
    g_autofree char *text = write_row(values, G_N_ELEMENTS(values));

    g_assert_cmpstr(text, ==,
                    "0: 3:-9223372036854775808 4:-0.5 2:text 2:/w== 1:a:b 6:b1 2:chat@fr 3:7 4:7.5 5:2020-01-01 7:false "
                    "7:true 2:P1D 2:x ");
}

static void
test_one_column(void)
{
    const QwValue value = { .type = QW_TYPE_TEXT, .data = "a\0b", .n_bytes = 3 };
    g_autofree char *text = write_row(&value, 1);

    g_assert_cmpstr(text, ==,
                    "2:a\x1a"
                    "b 0: ");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/format/cursor-row/values", test_values);
    g_test_add_func("/format/cursor-row/one-column", test_one_column);
    return g_test_run();
}
