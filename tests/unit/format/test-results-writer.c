/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The W3C formats of one small result, byte for byte; truth values; graphs.
 */
#include "daemon/format/results-writer.h"

#include <string.h>

#include "client-lib/wire/wire-page-writer.h"

typedef struct Page {
    _Alignas(8) uint8_t data[8192];
    QwPageWriter writer;
    uint32_t n_columns;
} Page;

static void
add_row(Page *self, const QwValue *values)
{
    g_assert_cmpint(qw_row_begin(&self->writer), ==, 0);
    for (uint32_t i = 0; i < self->n_columns; i++)
        g_assert_cmpint(qw_row_put_value(&self->writer, &values[i]), ==, 0);
    g_assert_cmpint(qw_row_end(&self->writer), ==, 0);
}

static void
begin_page(Page *self, uint32_t n_columns)
{
    self->n_columns = n_columns;
    qw_page_writer_init(&self->writer, self->data, sizeof self->data, n_columns);
}

static QwValue
text(QwType type, const char *data, const char *tag)
{
    QwValue value = { .type = type };

    value.data = data;
    value.n_bytes = (uint32_t) strlen(data);
    value.tag = tag;
    value.n_tag_bytes = tag != NULL ? (uint32_t) strlen(tag) : 0;
    return value;
}

static void
write_page(Page *self, QdResultsWriter *writer, GString *out)
{
    QwPageReader reader;
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(qw_page_reader_init(&reader, self->data + QW_HEADER_SIZE, self->writer.used - QW_HEADER_SIZE,
                                        self->writer.n_rows, self->n_columns),
                    ==, 0);
    qd_results_writer_begin(writer, out);
    while (qw_page_reader_next(&reader))
        g_assert_true(qd_results_writer_put_row(writer, &reader, out, &error));
    g_assert_no_error(error);
    qd_results_writer_end(writer, out);
}

static void
test_solutions(void)
{
    static const char *const names[] = { "x", "lit", NULL };
    static const char *const expected[] = {
        [QD_RESULTS_JSON] =
            "{\"head\":{\"vars\":[\"x\",\"lit\"]},\"results\":{\"bindings\":[\n"
            "{\"x\":{\"type\":\"uri\",\"value\":\"http://e/a\"},\"lit\":{\"type\":\"literal\",\"value\":\"a, \\\"b\\\"\\n\"}},\n"
            "{\"x\":{\"type\":\"bnode\",\"value\":\"b1\"},\"lit\":{\"type\":\"literal\",\"value\":\"t\\tx\",\"xml:lang\":\"en\"}},"
            "\n"
            "{\"lit\":{\"type\":\"literal\",\"value\":\"01\",\"datatype\":\"http://www.w3.org/2001/XMLSchema#integer\"}},\n"
            "{}\n]}}\n",
        [QD_RESULTS_XML] =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sparql xmlns=\"http://www.w3.org/2005/sparql-results#\">"
            "<head><variable name=\"x\"/><variable name=\"lit\"/></head><results>\n"
            "<result><binding name=\"x\"><uri>http://e/a</uri></binding><binding name=\"lit\"><literal>a, "
            "&quot;b&quot;\n</literal></binding>"
            "</result>\n"
            "<result><binding name=\"x\"><bnode>b1</bnode></binding><binding name=\"lit\"><literal xml:lang=\"en\">t\tx</literal>"
            "</binding></result>\n"
            "<result><binding name=\"lit\"><literal datatype=\"http://www.w3.org/2001/XMLSchema#integer\">01</literal></binding>"
            "</result>\n"
            "<result/></results></sparql>\n",
        [QD_RESULTS_CSV] = "x,lit\r\nhttp://e/a,\"a, \"\"b\"\"\n\"\r\n_:b1,t\tx\r\n,01\r\n,\r\n",
        [QD_RESULTS_TSV] = "?x\t?lit\n<http://e/a>\t\"a, \\\"b\\\"\\n\"\n_:b1\t\"t\\tx\"@en\n\t01\n\t\n",
    };
    QwValue rows[][2] = {
        { text(QW_TYPE_IRI, "http://e/a", NULL), text(QW_TYPE_TEXT, "a, \"b\"\n", NULL) },
        { text(QW_TYPE_BNODE, "b1", NULL), text(QW_TYPE_LITERAL_LANG, "t\tx", "en") },
        { { .type = QW_TYPE_NULL }, text(QW_TYPE_LITERAL_TYPED, "01", "http://www.w3.org/2001/XMLSchema#integer") },
        { { .type = QW_TYPE_NULL }, { .type = QW_TYPE_NULL } },
    };
    Page page;

    begin_page(&page, 2);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        add_row(&page, rows[i]);
    for (guint format = QD_RESULTS_JSON; format <= QD_RESULTS_TSV; format++) {
        g_autoptr(QdResultsWriter) writer = qd_results_writer_new((QdResultsFormat) format, QD_RESULTS_SOLUTIONS, names, 2);
        g_autoptr(GString) out = g_string_new(NULL);

        write_page(&page, writer, out);
        g_assert_cmpstr(out->str, ==, expected[format]);
    }
}

static void
test_boolean(void)
{
    static const char *const names[] = { "result", NULL };
    static const char boolean[] = "http://www.w3.org/2001/XMLSchema#boolean";
    static const char *const expected[] = {
        "{\"head\":{},\"boolean\":false}\n",
        ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sparql xmlns=\"http://www.w3.org/2005/sparql-results#\"><head/>"
         "<boolean>false</boolean></sparql>\n"),
        "result\r\nfalse\r\n",
        "?result\nfalse\n",
    };
    QwValue row[] = { text(QW_TYPE_LITERAL_TYPED, "false", boolean) };
    Page page;

    begin_page(&page, 1);
    add_row(&page, row);
    for (guint format = QD_RESULTS_JSON; format <= QD_RESULTS_TSV; format++) {
        g_autoptr(QdResultsWriter) writer = qd_results_writer_new((QdResultsFormat) format, QD_RESULTS_BOOLEAN, names, 1);
        g_autoptr(GString) out = g_string_new(NULL);

        write_page(&page, writer, out);
        g_assert_cmpstr(out->str, ==, expected[format]);
    }
}

/* A row that is no triple is left out. */
static void
test_graph(void)
{
    QwValue rows[][3] = {
        { text(QW_TYPE_IRI, "http://e/a", NULL), text(QW_TYPE_IRI, "http://e/p", NULL), text(QW_TYPE_TEXT, "x", NULL) },
        { text(QW_TYPE_TEXT, "no", NULL), text(QW_TYPE_IRI, "http://e/p", NULL), text(QW_TYPE_TEXT, "x", NULL) },
        { text(QW_TYPE_BNODE, "b1", NULL), text(QW_TYPE_IRI, "http://e/p", NULL), { .type = QW_TYPE_NULL } },
        { text(QW_TYPE_BNODE, "b1", NULL), text(QW_TYPE_IRI, "http://e/p", NULL), text(QW_TYPE_LITERAL_LANG, "x", "en") },
    };
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(QdResultsWriter) writer = qd_results_writer_new_graph(QD_RDF_NTRIPLES, NULL, 3, out);
    Page page;

    begin_page(&page, 3);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        add_row(&page, rows[i]);
    write_page(&page, writer, out);
    g_assert_cmpstr(out->str, ==, "<http://e/a> <http://e/p> \"x\" .\n_:b1 <http://e/p> \"x\"@en .\n");
}

static void
test_names(void)
{
    for (guint i = QD_RESULTS_JSON; i <= QD_RESULTS_TSV; i++) {
        QdResultsFormat format = QD_RESULTS_JSON;

        g_assert_true(qd_results_format_from_name(qd_results_format_get_name((QdResultsFormat) i), &format));
        g_assert_cmpuint(format, ==, i);
        g_assert_true(qd_results_format_from_name(qd_results_format_get_media_type((QdResultsFormat) i), &format));
        g_assert_cmpuint(format, ==, i);
    }
    g_assert_false(qd_results_format_from_name("json", NULL));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/format/results-writer/solutions", test_solutions);
    g_test_add_func("/format/results-writer/boolean", test_boolean);
    g_test_add_func("/format/results-writer/graph", test_graph);
    g_test_add_func("/format/results-writer/names", test_names);
    return g_test_run();
}
