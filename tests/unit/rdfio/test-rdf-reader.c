/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All readers by the same cases: documents in tests/data/rdf, each with the quads it holds or the error it has.
 *
 * good/NAME.FORMAT goes with good/NAME.FORMAT.nq, the quads in the order of the document; bad/NAME.FORMAT with
 * bad/NAME.FORMAT.error, the whole message. Each is read in pieces of several sizes: where the input is cut changes nothing.
 */
#include "daemon/rdfio/rdf-reader.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/rdfio/rdf-writer.h"
#include "tests/unit/rdfio/text-input.h"

#define BASE "http://example.org/dir/doc"

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
    TextInput input = { .text = text, .n = n, .piece = piece };
    QdRdfReading reading = {
        .format = format,
        .base = BASE,
        .read_func = text_input_read,
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
    TextInput input = { .text = quads, .n = strlen(quads), .piece = 4096 };
    QdLimits limits;
    QdRdfReading reading = {
        .format = QD_RDF_NQUADS,
        .read_func = text_input_read,
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

static void
check_bomb(const char *document, const char *message)
{
    QdLimits limits;
    g_autoptr(GError) error = NULL;
    g_autofree char *quads = NULL;

    qd_limits_init(&limits);
    quads = read_text(QD_RDF_XML, document, strlen(document), 4096, &limits, &error);
    g_assert_null(quads);
    g_assert_error(error, QD_ERROR, QW_ERROR_TOO_COMPLEX);
    if (strstr(error->message, message) == NULL)
        g_error("'%s' in '%s'", message, error->message);
}

/* A small document ends with an error, early, regardless of the size that its entities would have. */
static void
test_entity_bombs(void)
{
    const char *end = "]>\n<d xmlns='http://a/' xmlns:r='" QD_RDF_NAMESPACE "'><p>";
    g_autoptr(GString) laughs = g_string_new("<!DOCTYPE d [<!ENTITY e0 'ha'>");
    g_autoptr(GString) nothings = g_string_new("<!DOCTYPE d [<!ENTITY e0 ''>");
    g_autoptr(GString) quadratic = g_string_new("<!DOCTYPE d [<!ENTITY e '");
    g_autoptr(GString) many = g_string_new("<!DOCTYPE d [");
    g_autoptr(GString) deep = g_string_new("<!DOCTYPE d [<!ENTITY e0 'ha'>");

    for (guint i = 1; i < 40; i++) {
        g_string_append_printf(laughs, "<!ENTITY e%u '&e%u;&e%u;'>", i, i - 1, i - 1);
        g_string_append_printf(nothings, "<!ENTITY e%u '&e%u;&e%u;'>", i, i - 1, i - 1);
    }
    g_string_append_printf(laughs, "%s&e39;", end);
    check_bomb(laughs->str, "2:84: the entities make too much text, here e");
    g_string_append_printf(nothings, "%s</p></d><!-- &e39; --><p x='&e39;'/>", end);
    check_bomb(nothings->str, "the entities make too much text, here e");

    for (guint i = 0; i < 100000; i++)
        g_string_append_c(quadratic, 'x');
    g_string_append_printf(quadratic, "'>%s", end);
    for (guint i = 0; i < 100000; i++)
        g_string_append(quadratic, "&e;");
    check_bomb(quadratic->str, "the entities make too much text, here e: ");

    for (guint i = 0; i < 20000; i++)
        g_string_append_printf(many, "<!ENTITY e%u ''>", i);
    check_bomb(many->str, ": too many entities, here e10000: the limit 'xml_entities' is 10000");
    for (guint i = 1; i < 200; i++)
        g_string_append_printf(deep, "<!ENTITY e%u '&e%u;'>", i, i - 1);
    g_string_append_printf(deep, "%s&e199;", end);
    check_bomb(deep->str, "entities are nested too deep, here e71: the limit 'rdf_depth' is 128");
}

/* What libxml2 does not read names its bound, with entities and without. */
static void
test_bounds_of_xml(void)
{
    const char *start = "<d xmlns='http://a/' xmlns:r='" QD_RDF_NAMESPACE "'><p x='";
    g_autoptr(GString) laughs = g_string_new("<!DOCTYPE d [<!ENTITY e '");
    g_autoptr(GString) value = g_string_new(start);
    g_autoptr(GString) name = g_string_new("<d xmlns='http://a/'><");

    g_string_append_printf(laughs, "%0100000u'>]>%s", 0, start);
    for (guint i = 0; i < 105; i++)
        g_string_append(laughs, "&e;");
    g_string_append(laughs, "'/></d>");
    check_bomb(laughs->str, "a tag, with what its entities stand for, a comment or a processing instruction is too long: "
                            "libxml2 reads at most 10000000 bytes");

    for (guint i = 0; i < 11000; i++)
        g_string_append_printf(value, "%01000u", 0);
    g_string_append(value, "'/></d>");
    check_bomb(value->str, "libxml2 reads at most 10000000 bytes");

    for (guint i = 0; i < 60; i++)
        g_string_append_printf(name, "a%0999u", 0);
    g_string_append(name, "/></d>");
    check_bomb(name->str, ": a name is too long: libxml2 reads at most 50000 bytes");
}

/* Short entities in a long document are not too much, however often they stand there. */
static void
test_many_references(void)
{
    const guint n = 300000;
    g_autoptr(GString) text = g_string_new("<!DOCTYPE d [<!ENTITY owl 'http://www.w3.org/2002/07/owl#'>]>"
                                           "<r:RDF xmlns='http://a/' xmlns:r='" QD_RDF_NAMESPACE "'>\n");
    QdLimits limits;
    g_autoptr(GError) error = NULL;
    g_autofree char *quads = NULL;

    qd_limits_init(&limits);
    qd_limits_set(&limits, "xml_entity_bytes", 65536, NULL);
    for (guint i = 0; i < n; i++)
        g_string_append(text, "<d><p r:resource='&owl;C'/></d>\n");
    g_string_append(text, "</r:RDF>");
    quads = read_text(QD_RDF_XML, text->str, text->len, 4096, &limits, &error);
    g_assert_no_error(error);
    g_assert_true(g_str_has_suffix(quads, "<http://a/p> <http://www.w3.org/2002/07/owl#C> .\n"));
}

/* Code points --------------------------------------------------------------------------------------------------------- */

typedef struct Expectation {
    const char *lexical;
    gsize n_lexical;
    guint n_quads;
} Expectation;

static gboolean
check_object(const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, gpointer data, GError **error)
{
    Expectation *expectation = data;

    g_assert_cmpmem(o->lexical, o->n_lexical, expectation->lexical, expectation->n_lexical);
    expectation->n_quads++;
    return TRUE;
}

static gboolean
is_xml_character(gunichar c)
{
    return (c >= ' ' || c == '\t' || c == '\n' || c == '\r') && c != 0xfffe && c != 0xffff;
}

/* A literal with @lexical is written, is read again as it was, and is ASCII but for what may stand for itself. */
static void
check_literal(QdRdfFormat format, const GString *lexical, gboolean is_xml)
{
    const QdTerm s = { .kind = QD_TERM_IRI, .lexical = "a:s", .n_lexical = 3 };
    const QdTerm p = { .kind = QD_TERM_IRI, .lexical = "a:p", .n_lexical = 3 };
    const QdTerm o = { .kind = QD_TERM_STRING, .lexical = lexical->str, .n_lexical = lexical->len };
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(QdRdfWriter) writer = qd_rdf_writer_new(format, NULL, out);
    g_autoptr(GError) error = NULL;
    Expectation expectation = { lexical->str, lexical->len, 0 };
    QdLimits limits;
    TextInput input = { .piece = 4096 };
    QdRdfReading reading = {
        .format = format,
        .read_func = text_input_read,
        .read_data = &input,
        .quad_func = check_object,
        .data = &expectation,
        .limits = &limits,
    };

    qd_limits_init(&limits);
    if (!qd_rdf_writer_put(writer, &s, &p, &o, NULL, &error)) {
        g_assert_true(format == QD_RDF_XML && !is_xml);
        g_assert_error(error, QD_ERROR, QW_ERROR_UNSUPPORTED);
        return;
    }
    g_assert_true(format != QD_RDF_XML || is_xml);
    qd_rdf_writer_finish(writer);
    for (gsize i = 0; i < out->len && format != QD_RDF_XML && format != QD_RDF_JSONLD; i++)
        g_assert_true((guchar) out->str[i] >= ' ' ? out->str[i] != 0x7f : strchr("\t\n", out->str[i]) != NULL);
    input.text = out->str;
    input.n = out->len;
    (void) qd_rdf_read(&reading, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(expectation.n_quads, ==, 1);
}

/* Every code point comes back from every format that can hold it; alone, and in company. */
static void
test_code_points(void)
{
    gunichar end;

    for (gunichar first = 0; first < 0x110000; first = end) {
        g_autoptr(GString) lexical = g_string_new(NULL);
        gboolean is_xml = TRUE;

        end = first < 256 ? first + 1 : first + 256;
        for (gunichar c = first; c < end; c++) {
            if (c >= 0xd800 && c <= 0xdfff)
                continue;
            is_xml = is_xml && is_xml_character(c);
            g_string_append_unichar(lexical, c);
        }
        for (guint format = 0; format < QD_N_RDF_FORMATS; format++)
            check_literal((QdRdfFormat) format, lexical, is_xml);
        g_string_append_c(lexical, '\n');
        for (guint format = 0; format < QD_N_RDF_FORMATS; format++)
            check_literal((QdRdfFormat) format, lexical, is_xml);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/rdfio/rdf-reader/good", "good", test_folder);
    g_test_add_data_func("/rdfio/rdf-reader/bad", "bad", test_folder);
    g_test_add_data_func("/rdfio/rdf-reader/round-trip/turtle", "turtle", test_round_trip);
    g_test_add_data_func("/rdfio/rdf-reader/round-trip/graphs", "graphs", test_round_trip);
    g_test_add_func("/rdfio/rdf-reader/line-too-long", test_line_too_long);
    g_test_add_func("/rdfio/rdf-reader/no-xml", test_no_xml);
    g_test_add_func("/rdfio/rdf-reader/literal-too-long", test_literal_too_long);
    g_test_add_func("/rdfio/rdf-reader/depth", test_depth);
    g_test_add_func("/rdfio/rdf-reader/entity-bombs", test_entity_bombs);
    g_test_add_func("/rdfio/rdf-reader/bounds-of-xml", test_bounds_of_xml);
    g_test_add_func("/rdfio/rdf-reader/many-references", test_many_references);
    g_test_add_func("/rdfio/rdf-reader/code-points", test_code_points);
    return g_test_run();
}
