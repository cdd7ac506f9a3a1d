/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The readers of results, given their bytes in pieces of any size, and mutated bytes.
 *
 * REMOTE_MUTATIONS is how many mutated documents each format gets (default 2,000).
 */
#include <stdlib.h>
#include <string.h>

#include "client-lib/core/query-error.h"
#include "client-lib/remote-module/remote-graph.h"
#include "client-lib/remote-module/remote-rows.h"
#include "client-lib/text/text-utf8.h"
#include "client-lib/wire/wire-page-reader.h"

#define MUTATIONS 2000

/* What came of a document: columns and rows as text. */
typedef struct Outcome {
    GString *text;
    guint n_columns;
    RemoteRows rows;
} Outcome;

static void
on_begin(gpointer data, const char *const *names, const char *const *types, guint n_columns)
{
    Outcome *self = data;

    self->n_columns = n_columns;
    for (guint i = 0; i < n_columns; i++)
        g_string_append_printf(self->text, "%s%s%s;", names[i], types != NULL ? ":" : "", types != NULL ? types[i] : "");
    g_string_append_c(self->text, '\n');
}

static void
append_value(GString *out, const QwValue *value)
{
    static const char *const names[] = {
        [QW_TYPE_NULL] = "-",       [QW_TYPE_TEXT] = "text ",         [QW_TYPE_IRI] = "iri ",
        [QW_TYPE_BNODE] = "bnode ", [QW_TYPE_LITERAL_LANG] = "lang ", [QW_TYPE_LITERAL_TYPED] = "typed "
    };

    g_string_append(out, names[value->type]);
    if (value->type == QW_TYPE_NULL)
        return;
    g_assert_cmpuint(qw_text_span_utf8(value->data, value->n_bytes), ==, value->n_bytes);
    g_string_append_len(out, value->data, value->n_bytes);
    if (value->type >= QW_TYPE_LITERAL_LANG) {
        g_assert_cmpuint(strlen(value->tag), ==, value->n_tag_bytes);
        g_string_append_printf(out, " [%s]", value->tag);
    }
}

/* Validates the page as the library validates those of a daemon. */
static gboolean
on_page(gpointer data, const QwPageWriter *page)
{
    Outcome *self = data;
    QwPageReader reader;

    g_assert_cmpint(
        qw_page_reader_init(&reader, page->data + QW_HEADER_SIZE, page->used - QW_HEADER_SIZE, page->n_rows, self->n_columns), ==,
        0);
    while (qw_page_reader_next(&reader)) {
        for (guint i = 0; i < self->n_columns; i++) {
            QwValue value = { .type = QW_TYPE_NULL };

            qw_page_reader_get(&reader, i, &value);
            append_value(self->text, &value);
            g_string_append_c(self->text, ';');
        }
        g_string_append_c(self->text, '\n');
    }
    g_free(page->data);
    return TRUE;
}

static void
outcome_init(Outcome *self)
{
    *self = (Outcome){ .text = g_string_new(NULL) };
    self->rows = (RemoteRows){ .funcs = { on_begin, on_page, self }, .row_bytes = 1 << 20 };
}

/* As remote-input.c gives bytes, but in pieces of up to @n_piece, each in memory of its own, so that none is read beyond its end.
 * (transfer full): the outcome; "!" and a message after an error */
static char *
read_in_pieces(const RemoteReaderClass *klass, const char *document, gsize n_bytes, gsize n_piece)
{
    Outcome outcome;
    RemoteReader *reader;
    gsize start = 0;
    gsize end = 0;
    gboolean is_end = FALSE;
    g_autoptr(GError) failure = NULL;

    outcome_init(&outcome);
    reader = klass->create(&outcome.rows);
    while (!is_end && failure == NULL) {
        g_autofree char *piece = NULL;
        gsize used = 0;

        is_end = end == n_bytes;
        end = MIN(end + n_piece, n_bytes);
        piece = g_memdup2(document + start, end - start);
        if (!klass->read(reader, piece, end - start, is_end, &used, &failure)) {
            g_assert_nonnull(failure);
            break;
        }
        g_assert_cmpuint(used, <=, end - start);
        start += used;
    }
    klass->free(reader);
    (void) (failure == NULL ? remote_rows_finish(&outcome.rows, NULL) : remote_rows_flush(&outcome.rows));
    remote_rows_clear(&outcome.rows);
    if (failure != NULL)
        g_string_append_printf(outcome.text, "!%s", failure->message);
    return g_string_free(outcome.text, FALSE);
}

static void
expect(const RemoteReaderClass *klass, const char *document, const char *expected)
{
    gsize n = strlen(document);

    for (gsize piece = 1; piece <= n + 1; piece++) {
        g_autofree char *found = read_in_pieces(klass, document, n, piece);

        g_assert_cmpstr(found, ==, expected);
    }
}

static void
expect_bad(const RemoteReaderClass *klass, const char *document)
{
    gsize n = strlen(document);

    for (gsize piece = 1; piece <= n + 1; piece += 1 + n / 7) {
        g_autofree char *found = read_in_pieces(klass, document, n, piece);

        if (strstr(found, "!the result of the endpoint is malformed") == NULL)
            g_error("'%s' was read as '%s'", document, found);
    }
}

#define XSD "http://www.w3.org/2001/XMLSchema#"

static const char
    json[] = "{ \"head\": { \"link\": [], \"vars\": [\"a\", \"b\"] },\n \"results\": { \"distinct\": false, \"bindings\": [\n"
             "{\"a\":{\"type\":\"uri\",\"value\":\"http:\\/\\/e\\/x\"},\"b\":{\"type\":\"literal\",\"value\":\"\\\"q\\\" "
             "\\u00e4\\uD83D\\uDE00\\n\"}},\n"
             "{\"b\":{\"xml:lang\":\"en-GB\",\"type\":\"literal\",\"value\":\"hi\"}} , {},\n"
             "{\"b\":{\"type\":\"typed-literal\",\"value\":\"5\",\"datatype\":\"" XSD
             "integer\"},\"a\":{\"type\":\"bnode\",\"value\":\"b0\"}},"
             "{\"a\":{\"type\":\"literal\",\"value\":\"s\",\"datatype\":\"" XSD "string\"}}"
             "], \"ordered\": {\"x\": [1, {\"y\": null}, \"]}\"]} }, \"more\": [] }\n";
static const char tsv[] = "?a\t?b\n<http://e/x>\t\"\\\"q\\\" \\u00e4\\U0001F600\\n\"\n\t\"hi\"@en-GB\n\t\n_:b0\t5\r\n\"s\"\t\n";
static const char
    xml[] = "<?xml version=\"1.0\"?>\n<sparql xmlns=\"http://www.w3.org/2005/sparql-results#\">\n<head><variable "
            "name=\"a\"/><variable name='b'/>"
            "<link href=\"x\"/></head>\n<results>\n"
            "<result><binding name=\"a\"><uri>http://e/x</uri></binding><binding name=\"b\"><literal>&quot;q&quot; "
            "\xc3\xa4&#x1F600;\n</literal></binding></result>"
            "<result> <binding name=\"b\"><literal xml:lang=\"en-GB\">h<![CDATA[i]]></literal></binding> </result><result/>"
            "<result><binding name=\"b\"><literal datatype=\"" XSD
            "integer\">5</literal></binding><binding name=\"a\"><bnode>b0</bnode></binding></result>"
            "<result><binding name=\"a\"><literal datatype=\"" XSD "string\">s</literal></binding></result>"
            "</results></sparql>\n";
static const char rows[] = "a;b;\niri http://e/x;text \"q\" \xc3\xa4\xf0\x9f\x98\x80\n;\n-;lang hi [en-GB];\n-;-;\n"
                           "bnode b0;typed 5 [" XSD "integer];\ntext s;-;\n";

static void
test_rows(void)
{
    expect(&remote_json_class, json, rows);
    expect(&remote_tsv_class, tsv, rows);
    expect(&remote_xml_class, xml, rows);
}

static void
test_boolean(void)
{
    const char *expected = "result:xsd:boolean;\ntyped true [" XSD "boolean];\n";

    expect(&remote_json_class, "{\"head\":{},\"boolean\":true}", expected);
    expect(&remote_json_class, "{\"boolean\" : true , \"head\":{\"link\":[]}}", expected);
    expect(&remote_xml_class, "<sparql><head/><boolean> true </boolean></sparql>", expected);
}

static void
test_edges(void)
{
    expect(&remote_tsv_class, "?a\n\n<x:y>\n", "a;\n-;\niri x:y;\n");
    expect(&remote_tsv_class, "$a\n", "a;\n");
    expect(&remote_tsv_class, "?a\t?b\n-1.50\t+2e-3\ntrue\tfalse\n'it''\t'\\''@de",
           "a;b;\ntyped -1.50 [" XSD "decimal];typed +2e-3 [" XSD "double];\ntyped true [" XSD "boolean];typed false [" XSD
           "boolean];\n!the result of the endpoint is malformed after row 2: "
           "''it''' is no term of TSV");
    expect(&remote_json_class, "{\"head\":{\"vars\":[]},\"results\":{\"bindings\":[{},{}]}}", "\n\n\n");
    expect(&remote_json_class, "{\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[]}}", "a;\n");
    expect(&remote_xml_class, "<s:sparql xmlns:s='x'><s:head/><s:results/></s:sparql>", "\n");
}

static void
test_malformed(void)
{
    static const char *const bad_json[] = {
        "",
        "{",
        "{}",
        "[]",
        "{\"head\":{\"vars\":[\"a\"]}}",
        "{\"results\":{\"bindings\":[]}}",
        "{\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[{\"z\":{\"type\":\"uri\",\"value\":\"x\"}}]}}",
        "{\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[{\"a\":{\"type\":\"uri\"}}]}}",
        "{\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[{},]}}",
        "{\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[{}]}",
        "{\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[{}]}} x",
        "{\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[{\"a\":{\"type\":\"literal\",\"value\":\"\\ud800\"}}]}}",
        "{\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[{\"a\":{\"type\":\"uri\",\"value\":\"\\u0000\"}}]}}",
        "{\"head\":{},\"boolean\":maybe}",
        "{\"head\":{},\"boolean\":true",
        "{\"x\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],\"boolean\":true}",
    };
    static const char *const bad_tsv[] = { "",
                                           "a\n",
                                           "?a\n\"x\n",
                                           "?a\n<x\n",
                                           "?a\tb\n",
                                           "?a\t?b\n<x:y>\n",
                                           "?a\n<x:y>\t1\n",
                                           "?a\n\"x\"^^y\n",
                                           "?a\n\"x\"@\n",
                                           "?a\n\"\\x\"\n",
                                           "?a\n1e\n",
                                           "?a\n+\n",
                                           "?a\nword\n",
                                           "?a\n<\\u0000>\n" };
    static const char *const bad_xml[] = { "",
                                           "<sparql>",
                                           "<sparql/>",
                                           "<sparql><head/></sparql>",
                                           "<a></b>",
                                           "<sparql><results><result/></results>",
                                           "<sparql><head><variable/></head><results/></sparql>",
                                           "<sparql><head/><results><result><binding name='x'/></result></results></sparql>",
                                           "<sparql><head/><results><result><uri>x</uri></result></results></sparql>",
                                           "<sparql><result/></sparql>",
                                           "<sparql><head/><boolean>perhaps</boolean></sparql>",
                                           "<sparql><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>"
                                           "<a><a><a><a><a><a><a><a><a><a>",
                                           "<sparql><head/><results/><results/></sparql>" };

    for (guint i = 0; i < G_N_ELEMENTS(bad_json); i++)
        expect_bad(&remote_json_class, bad_json[i]);
    for (guint i = 0; i < G_N_ELEMENTS(bad_tsv); i++)
        expect_bad(&remote_tsv_class, bad_tsv[i]);
    for (guint i = 0; i < G_N_ELEMENTS(bad_xml); i++)
        expect_bad(&remote_xml_class, bad_xml[i]);
}

/* Every document that is cut is an error, but for TSV, where the transport has to say so. */
static void
test_cut(void)
{
    for (gsize n = 0; n + 2 < sizeof json; n++) {
        g_autofree char *found = read_in_pieces(&remote_json_class, json, n, 13);

        g_assert_nonnull(strchr(found, '!'));
    }
    for (gsize n = 0; n + 2 < sizeof xml; n++) {
        g_autofree char *found = read_in_pieces(&remote_xml_class, xml, n, 13);

        g_assert_nonnull(strchr(found, '!'));
    }
}

/* Flips, cuts, doubles and inserts bytes. The result is UTF-8 without NUL, as the readers may expect. (transfer full) */
static char *
mutate(const char *document)
{
    static const char *const bits[] = { "{", "}", "[",  "]",  "\"", "\\", "\\u", ":",  ",",
                                        "<", ">", "\t", "\n", "&",  "'",  "@",   "^^", "_:" };
    g_autoptr(GString) text = g_string_new(document);

    for (guint n = (guint) g_test_rand_int_range(1, 6); n > 0; n--) {
        gsize at = (gsize) g_test_rand_int_range(0, (gint32) text->len + 1);
        gsize wanted = (gsize) g_test_rand_int_range(0, 20);
        gsize len = MIN(wanted, text->len - at);

        switch (g_test_rand_int_range(0, 4)) {
        case 0:
            if (at < text->len)
                text->str[at] = (char) g_test_rand_int_range(1, 128);
            break;
        case 1:
            g_string_erase(text, (gssize) at, (gssize) len);
            break;
        case 2: {
            g_autofree char *copy = g_strndup(text->str + at, len);

            g_string_insert(text, (gssize) at, copy);
            break;
        }
        default:
            g_string_insert(text, (gssize) at, bits[g_test_rand_int_range(0, G_N_ELEMENTS(bits))]);
            break;
        }
    }
    return g_utf8_make_valid(text->str, (gssize) text->len);
}

/* No crash, no page that is not valid, and the same outcome in whole and in pieces. */
static void
test_mutated(void)
{
    static const struct {
        const RemoteReaderClass *klass;
        const char *document;
    } formats[] = { { &remote_json_class, json }, { &remote_tsv_class, tsv }, { &remote_xml_class, xml } };
    const char *given = g_getenv("REMOTE_MUTATIONS");
    guint n = given != NULL ? (guint) atoi(given) : MUTATIONS;

    for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
        for (guint k = 0; k < n; k++) {
            g_autofree char *document = mutate(formats[i].document);
            gsize n_bytes = strlen(document);
            g_autofree char *whole = read_in_pieces(formats[i].klass, document, n_bytes, n_bytes + 1);
            g_autofree char *pieces = read_in_pieces(formats[i].klass, document, n_bytes, (gsize) g_test_rand_int_range(1, 40));

            g_assert_cmpint(strchr(whole, '!') != NULL, ==, strchr(pieces, '!') != NULL);
            if (strchr(whole, '!') == NULL)
                g_assert_cmpstr(whole, ==, pieces);
        }
    }
}

static void
test_limits(void)
{
    Outcome outcome;
    g_autofree char *large = g_strnfill(200000, 'x');
    QwValue value = { .type = QW_TYPE_TEXT, .n_bytes = 0 };
    g_autoptr(GError) error = NULL;
    const char *name = "a";

    value.data = large;
    value.n_bytes = 200000;
    outcome_init(&outcome);
    outcome.rows.row_bytes = 200000;
    outcome.rows.n_rows_max = 2;
    g_assert_true(remote_rows_begin(&outcome.rows, &name, NULL, 1, NULL));
    g_assert_true(remote_rows_put(&outcome.rows, &value, NULL));
    g_assert_true(remote_rows_put(&outcome.rows, &value, NULL));
    g_assert_false(remote_rows_put(&outcome.rows, &value, &error));
    g_assert_no_error(error);
    g_assert_true(outcome.rows.is_full);
    g_assert_cmpuint(outcome.rows.n_rows, ==, 2);
    remote_rows_clear(&outcome.rows);
    g_string_free(outcome.text, TRUE);

    outcome_init(&outcome);
    outcome.rows.row_bytes = 100000;
    g_assert_true(remote_rows_begin(&outcome.rows, &name, NULL, 1, NULL));
    g_assert_false(remote_rows_put(&outcome.rows, &value, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG);
    remote_rows_clear(&outcome.rows);
    g_string_free(outcome.text, TRUE);
}

/* A tag that would end the literal where it is written. */
static void
test_languages(void)
{
    static const char *const tags[] = { "de> .", "1", "-", "d e", "de\\n" };

    for (guint i = 0; i < G_N_ELEMENTS(tags); i++) {
        g_autofree char *in_json = g_strdup_printf("{\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[{\"a\":"
                                                   "{\"type\":\"literal\",\"xml:lang\":\"%s\",\"value\":\"x\"}}]}}",
                                                   tags[i]);
        g_autofree char *in_xml = g_markup_printf_escaped("<sparql><head><variable name='a'/></head><results><result>"
                                                          "<binding name='a'><literal xml:lang='%s'>x</literal></binding>"
                                                          "</result></results></sparql>",
                                                          tags[i]);

        expect_bad(&remote_json_class, in_json);
        expect_bad(&remote_xml_class, in_xml);
    }
}

/* A label that would end where it is written, and one that a server has. */
static void
test_labels(void)
{
    static const char *const bad[] = { "", "x y", "x\\ty", "\\u001b[2J", "x\\n_:y", "\x7f" };

    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *in_json = g_strdup_printf("{\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[{\"a\":"
                                                   "{\"type\":\"bnode\",\"value\":\"%s\"}}]}}",
                                                   bad[i]);

        expect_bad(&remote_json_class, in_json);
    }
    expect_bad(&remote_tsv_class, "?a\n_:x y\n");
    expect_bad(&remote_xml_class, "<sparql><head><variable name='a'/></head><results><result><binding name='a'><bnode>x\n</bnode>"
                                  "</binding></result></results></sparql>");
    expect_bad(&remote_xml_class, "<sparql><head><variable name='a'/></head><results><result><binding name='a'><bnode/>"
                                  "</binding></result></results></sparql>");
    expect(&remote_json_class,
           "{\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[{\"a\":{\"type\":\"bnode\",\"value\":\"nodeID://b1\"}}]}}",
           "a;\nbnode nodeID://b1;\n");
}

/* A name is read from its start each time that more of it has come: a long one is refused before that takes long. */
static void
test_long_name(void)
{
    g_autofree char *name = g_strnfill(200000, 'x');
    g_autofree char *document = g_strdup_printf("{\"%s\":1,\"head\":{\"vars\":[\"a\"]},\"results\":{\"bindings\":[]}}", name);
    g_autofree char *found = read_in_pieces(&remote_json_class, document, strlen(document), 1000);
    g_autofree char *whole = read_in_pieces(&remote_json_class, document, strlen(document), strlen(document));

    g_assert_nonnull(strstr(found, "!the result of the endpoint is malformed"));
    g_assert_cmpstr(whole, ==, "a;\n");
}

/* A server that answers ASK with a table. */
static void
test_ask_by_rows(void)
{
    static const char *const documents[] = {
        "{\"head\":{\"vars\":[\"r\"]},\"results\":{\"bindings\":[]}}",
        "{\"head\":{\"vars\":[\"r\"]},\"results\":{\"bindings\":[{\"r\":{\"type\":\"typed-literal\","
        "\"datatype\":\"" XSD "integer\",\"value\":\"1\"}}]}}"
    };
    static const char *const expected[] = { "result:xsd:boolean;\ntyped false [" XSD "boolean];\n",
                                            "result:xsd:boolean;\ntyped true [" XSD "boolean];\n" };

    for (guint i = 0; i < G_N_ELEMENTS(documents); i++) {
        Outcome outcome;
        RemoteReader *reader;
        gsize used;

        outcome_init(&outcome);
        outcome.rows.is_ask = TRUE;
        reader = remote_json_class.create(&outcome.rows);
        g_assert_true(remote_json_class.read(reader, documents[i], strlen(documents[i]), TRUE, &used, NULL));
        g_assert_true(remote_rows_finish(&outcome.rows, NULL));
        g_assert_cmpstr(outcome.text->str, ==, expected[i]);
        remote_json_class.free(reader);
        remote_rows_clear(&outcome.rows);
        g_string_free(outcome.text, TRUE);
    }
}

static gssize
read_text(char *buffer, gsize n_bytes, gpointer data, GError **error)
{
    const char **text = data;
    gsize n = MIN(strlen(*text), MIN(n_bytes, 5));

    memcpy(buffer, *text, n);
    *text += n;
    return (gssize) n;
}

static void
test_graph(void)
{
    const char *turtle = "@prefix e: <http://e/> . e:s a e:C ; e:p 5, \"x\"@de, [ e:q <rel> ] .";
    const char *bad = "<x:s> <x:p> <x:o> .\n<x:s> oops";
    Outcome outcome;
    g_autoptr(GError) error = NULL;
    QdRdfFormat format;

    g_assert_true(remote_graph_find_format("text/turtle", &format));
    g_assert_cmpint(format, ==, QD_RDF_TURTLE);
    g_assert_true(remote_graph_find_format("text/plain", &format));
    g_assert_cmpint(format, ==, QD_RDF_NTRIPLES);
    g_assert_false(remote_graph_find_format("text/html", &format));

    outcome_init(&outcome);
    g_assert_true(remote_graph_read(&outcome.rows, QD_RDF_TURTLE, "http://e/base", read_text, &turtle, &error));
    g_assert_true(remote_rows_finish(&outcome.rows, NULL));
    g_assert_true(
        g_str_has_prefix(outcome.text->str, "subject:rdf:subject;predicate:rdf:predicate;object:rdf:object;\niri http://e/s;"));
    g_assert_nonnull(strstr(outcome.text->str, "typed 5 [" XSD "integer]"));
    g_assert_nonnull(strstr(outcome.text->str, "iri http://e/rel"));
    remote_rows_clear(&outcome.rows);
    g_string_free(outcome.text, TRUE);

    outcome_init(&outcome);
    g_assert_false(remote_graph_read(&outcome.rows, QD_RDF_NTRIPLES, "http://e/base", read_text, &bad, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL);
    remote_rows_clear(&outcome.rows);
    g_string_free(outcome.text, TRUE);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client/remote-readers/rows", test_rows);
    g_test_add_func("/client/remote-readers/boolean", test_boolean);
    g_test_add_func("/client/remote-readers/edges", test_edges);
    g_test_add_func("/client/remote-readers/malformed", test_malformed);
    g_test_add_func("/client/remote-readers/cut", test_cut);
    g_test_add_func("/client/remote-readers/mutated", test_mutated);
    g_test_add_func("/client/remote-readers/limits", test_limits);
    g_test_add_func("/client/remote-readers/languages", test_languages);
    g_test_add_func("/client/remote-readers/labels", test_labels);
    g_test_add_func("/client/remote-readers/long-name", test_long_name);
    g_test_add_func("/client/remote-readers/ask-by-rows", test_ask_by_rows);
    g_test_add_func("/client/remote-readers/graph", test_graph);
    return g_test_run();
}
