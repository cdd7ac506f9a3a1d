/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All readers by the same cases: documents in tests/data/rdf, each with the quads it holds or the error it has.
 *
 * good/NAME.FORMAT goes with good/NAME.FORMAT.nq, the quads in the order of the document; bad/NAME.FORMAT with
 * bad/NAME.FORMAT.error, the whole message. Each is read in pieces of several sizes: where the input is cut changes nothing.
 */
#include "daemon/rdf/rdf-reader.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/rdf/rdf-writer.h"

#define BASE "http://example.org/dir/doc"

typedef struct Input {
    const char *text;
    gsize n;
    gsize pos;
    gsize piece; /* bytes a call */
} Input;

static gssize
read_input(char *buffer, gsize n_bytes, gpointer data, GError **error)
{
    Input *input = data;
    gsize n = MIN(MIN(n_bytes, input->piece), input->n - input->pos);

    memcpy(buffer, input->text + input->pos, n);
    input->pos += n;
    return (gssize) n;
}

static gboolean
append_quad(const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, gpointer data, GError **error)
{
    QdRdfWriter *writer = data;

    return qd_rdf_writer_put(writer, s, p, o, g, error);
}

/* As N-Quads. */
static char *
read_text(QdRdfFormat format, const char *text, gsize n, gsize piece, const QdLimits *limits, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(QdRdfWriter) writer = qd_rdf_writer_new(QD_RDF_NQUADS, NULL, out);
    Input input = { .text = text, .n = n, .piece = piece };
    QdRdfReading reading = {
        .format = format,
        .base = BASE,
        .read_func = read_input,
        .read_data = &input,
        .quad_func = append_quad,
        .data = writer,
        .limits = limits,
    };

    if (!qd_rdf_read(&reading, error))
        return NULL;
    return g_string_free(g_steal_pointer(&out), FALSE);
}

static QdRdfFormat
get_format(const char *name)
{
    const char *dot = strrchr(name, '.');
    QdRdfFormat format = QD_RDF_NTRIPLES;

    g_assert_true(dot != NULL && qd_rdf_format_from_name(dot + 1, &format));
    return format;
}

static void
check_file(const char *path, gboolean good)
{
    static const gsize pieces[] = { 1, 7, 4096, 1 << 20 };
    g_autofree char *expected_path = g_strconcat(path, good ? ".nq" : ".error", NULL);
    g_autofree char *text = NULL;
    g_autofree char *expected = NULL;
    QdLimits limits;
    gsize n;

    qd_limits_init(&limits);
    g_assert_true(g_file_get_contents(path, &text, &n, NULL));
    g_assert_true(g_file_get_contents(expected_path, &expected, NULL, NULL));
    for (guint i = 0; i < G_N_ELEMENTS(pieces); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *quads = read_text(get_format(path), text, n, pieces[i], &limits, &error);

        if (good) {
            g_assert_no_error(error);
            g_assert_cmpstr(quads, ==, expected);
        } else {
            g_assert_error(error, QD_ERROR, QW_ERROR_SYNTAX);
            g_assert_cmpstr(error->message, ==, g_strchomp(expected));
        }
    }
}

static void
test_folder(gconstpointer data)
{
    gboolean good = g_str_equal(data, "good");
    g_autofree char *folder = g_build_filename(g_getenv("QUERYD_SOURCE_ROOT"), "tests", "data", "rdf", data, NULL);
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;
    guint n_files = 0;

    g_assert_nonnull(dir);
    while ((name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_autofree char *pair = g_strconcat(path, good ? ".nq" : ".error", NULL);

        if (!g_file_test(pair, G_FILE_TEST_EXISTS))
            continue;
        g_test_message("%s", name);
        check_file(path, good);
        n_files++;
    }
    g_dir_close(dir);
    g_assert_cmpuint(n_files, >, 0);
}

/* What is written is read back as the same quads. */
static void
check_again(const char *quads, QdRdfFormat format)
{
    g_autoptr(QdPrefixMap) prefixes = qd_prefix_map_new();
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(QdRdfWriter) writer = qd_rdf_writer_new(format, prefixes, out);
    g_autoptr(GError) error = NULL;
    g_autofree char *again = NULL;
    Input input = { .text = quads, .n = strlen(quads), .piece = 4096 };
    QdLimits limits;
    QdRdfReading reading = {
        .format = QD_RDF_NQUADS,
        .read_func = read_input,
        .read_data = &input,
        .quad_func = append_quad,
        .data = writer,
        .limits = &limits,
    };

    qd_limits_init(&limits);
    g_assert_true(qd_prefix_map_add(prefixes, "ex", "http://example.org/"));
    g_assert_true(qd_prefix_map_add(prefixes, "exd", "http://example.org/dir/"));
    g_assert_true(qd_prefix_map_add(prefixes, "xsd", "http://www.w3.org/2001/XMLSchema#"));
    g_assert_true(qd_rdf_read(&reading, &error));
    g_assert_no_error(error);
    qd_rdf_writer_finish(writer);
    again = read_text(format, out->str, out->len, 4096, &limits, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(again, ==, quads);
}

static void
test_round_trip(gconstpointer data)
{
    const char *name = data;
    g_autofree char *file = g_strconcat("round-trip-", name, ".nq", NULL);
    g_autofree char *path = g_build_filename(g_getenv("QUERYD_SOURCE_ROOT"), "tests", "data", "rdf", file, NULL);
    g_autofree char *quads = NULL;
    QdRdfFormat format = QD_RDF_NTRIPLES;

    g_assert_true(g_file_get_contents(path, &quads, NULL, NULL));
    if (g_str_equal(name, "graphs")) {
        check_again(quads, QD_RDF_NQUADS);
        check_again(quads, QD_RDF_TRIG);
        return;
    }
    g_assert_true(qd_rdf_format_from_name(name, &format));
    check_again(quads, format);
    if (format != QD_RDF_XML)
        check_again(quads, QD_RDF_NTRIPLES);
}

static void
test_line_too_long(void)
{
    g_autofree char *text = g_strnfill(3 << 20, ' ');
    g_autofree char *quads = NULL;
    g_autoptr(GError) error = NULL;
    QdLimits limits;

    qd_limits_init(&limits);
    limits.values[QD_LIMIT_VALUE_BYTES] = 1 << 20;
    quads = read_text(QD_RDF_NTRIPLES, text, strlen(text), 4096, &limits, &error);
    g_assert_null(quads);
    g_assert_error(error, QD_ERROR, QW_ERROR_TOO_BIG);
    g_assert_cmpstr(error->message, ==, "1:1: line is too long: the limit 'value_bytes' is 1048576 bytes");
}

/* What libxml2 says is its own; where, and that it is the XML, is ours. */
static void
test_no_xml(void)
{
    static const char *const documents[] = { "<r:RDF xmlns:r='" QD_RDF_NAMESPACE "'>\n</r:Rdf>", "\n", "<x:a/>",
                                             "<r:RDF xmlns:r='" QD_RDF_NAMESPACE "'>\n\xff</r:RDF>" };
    static const char *const starts[] = { "2:", "", "1:", "2:1: " };
    QdLimits limits;

    qd_limits_init(&limits);
    for (guint i = 0; i < G_N_ELEMENTS(documents); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *quads = read_text(QD_RDF_XML, documents[i], strlen(documents[i]), 4096, &limits, &error);

        g_assert_null(quads);
        g_assert_error(error, QD_ERROR, QW_ERROR_SYNTAX);
        g_assert_true(g_str_has_prefix(error->message, starts[i]));
        g_assert_nonnull(strstr(error->message, "no well-formed XML"));
    }
}

/* A literal of many small nodes costs more memory than its text. */
static void
test_literal_too_long(void)
{
    g_autoptr(GString) text = g_string_new("<d xmlns='a:' xmlns:r='" QD_RDF_NAMESPACE "'><p r:parseType='Literal'>");
    g_autoptr(GError) error = NULL;
    g_autofree char *quads = NULL;
    QdLimits limits;

    for (guint i = 0; i < 20000; i++)
        g_string_append(text, "<b/>");
    qd_limits_init(&limits);
    limits.values[QD_LIMIT_VALUE_BYTES] = 1 << 20;
    quads = read_text(QD_RDF_XML, text->str, text->len, 4096, &limits, &error);
    g_assert_null(quads);
    g_assert_error(error, QD_ERROR, QW_ERROR_TOO_BIG);
    g_assert_nonnull(strstr(error->message, "XML literal is too long: the limit 'value_bytes' is 1048576 bytes"));
}

static void
test_depth(void)
{
    static const struct {
        QdRdfFormat format;
        const char *start;
        const char *repeated;
    } cases[] = {
        { QD_RDF_TURTLE, "<a:s> <a:p> ", "[ <a:p> " },
        { QD_RDF_TURTLE, "<a:s> <a:p> ", "( " },
        { QD_RDF_XML, "<d xmlns='a:' xmlns:r='" QD_RDF_NAMESPACE "'>", "<p r:parseType='Resource'>" },
        { QD_RDF_XML, "<d xmlns='a:' xmlns:r='" QD_RDF_NAMESPACE "'><p r:parseType='Literal'>", "<b>" },
    };
    QdLimits limits;

    qd_limits_init(&limits);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) text = g_string_new(cases[i].start);
        g_autoptr(GError) error = NULL;
        g_autofree char *quads = NULL;

        for (guint k = 0; k < 200; k++)
            g_string_append(text, cases[i].repeated);
        quads = read_text(cases[i].format, text->str, text->len, 4096, &limits, &error);
        g_assert_null(quads);
        g_assert_error(error, QD_ERROR, QW_ERROR_TOO_COMPLEX);
        g_assert_nonnull(strstr(error->message, ": nested too deep: the limit 'rdf_depth' is 128"));
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/rdf/rdf-reader/good", "good", test_folder);
    g_test_add_data_func("/rdf/rdf-reader/bad", "bad", test_folder);
    g_test_add_data_func("/rdf/rdf-reader/round-trip/turtle", "turtle", test_round_trip);
    g_test_add_data_func("/rdf/rdf-reader/round-trip/graphs", "graphs", test_round_trip);
    g_test_add_func("/rdf/rdf-reader/line-too-long", test_line_too_long);
    g_test_add_func("/rdf/rdf-reader/no-xml", test_no_xml);
    g_test_add_func("/rdf/rdf-reader/literal-too-long", test_literal_too_long);
    g_test_add_func("/rdf/rdf-reader/depth", test_depth);
    return g_test_run();
}
