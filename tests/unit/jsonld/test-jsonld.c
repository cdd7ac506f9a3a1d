/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What tests/data/rdf does not show of JSON-LD: the text that is written, and that it is read as the same quads. Large documents,
 * options and limits.
 */
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/jsonld/jsonld-writer.h"
#include "daemon/rdfio/rdf-reader.h"
#include "daemon/rdfio/rdf-writer.h"

typedef struct Input {
    const char *text;
    gsize n;
} Input;

static gssize
read_input(char *buffer, gsize n_bytes, gpointer data, GError **error)
{
    Input *input = data;
    gsize n = MIN(n_bytes, input->n);

    memcpy(buffer, input->text, n);
    input->text += n;
    input->n -= n;
    return (gssize) n;
}

static gboolean
put(const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, gpointer data, GError **error)
{
    return qd_rdf_writer_put(data, s, p, o, g, error);
}

static gboolean
put_expanded(const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, gpointer data, GError **error)
{
    return qd_jsonld_writer_put(data, s, p, o, g, error);
}

static char *
convert(QdRdfFormat from, const char *text, QdRdfFormat to, const QdPrefixMap *prefixes, const QdJsonLdReading *options,
        const QdLimits *limits, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(QdRdfWriter) writer = qd_rdf_writer_new(to, prefixes, out);
    Input input = { text, strlen(text) };
    QdLimits defaults;
    QdRdfReading reading = {
        .format = from,
        .read_func = read_input,
        .read_data = &input,
        .quad_func = put,
        .data = writer,
        .limits = limits != NULL ? limits : &defaults,
        .jsonld = options,
    };

    qd_limits_init(&defaults);
    if (!qd_rdf_read(&reading, error))
        return NULL;
    qd_rdf_writer_finish(writer);
    return g_string_free(g_steal_pointer(&out), FALSE);
}

/* @quads as JSON-LD, and this as @quads again: as a set of lines. */
static char *
check_round_trip(const char *quads, const QdPrefixMap *prefixes)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = convert(QD_RDF_NQUADS, quads, QD_RDF_JSONLD, prefixes, NULL, NULL, &error);
    g_autofree char *again = NULL;
    g_autoptr(GHashTable) expected = g_hash_table_new(g_str_hash, g_str_equal);
    g_auto(GStrv) lines = g_strsplit(quads, "\n", -1);
    g_auto(GStrv) got = NULL;

    g_assert_no_error(error);
    again = convert(QD_RDF_JSONLD, text, QD_RDF_NQUADS, NULL, NULL, NULL, &error);
    g_assert_no_error(error);
    got = g_strsplit(again, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++)
        (void) g_hash_table_add(expected, lines[i]);
    for (guint i = 0; got[i] != NULL; i++)
        if (!g_hash_table_remove(expected, got[i]))
            g_error("not expected: %s", got[i]);
    g_assert_cmpuint(g_hash_table_size(expected), ==, 0);
    return g_steal_pointer(&text);
}

static QdPrefixMap *
make_prefixes(void)
{
    QdPrefixMap *prefixes = qd_prefix_map_new();

    (void) qd_prefix_map_add(prefixes, "ex", "http://e/");
    (void) qd_prefix_map_add(prefixes, "urn", "http://u");
    (void) qd_prefix_map_add(prefixes, "", "http://empty/");
    return prefixes;
}

#define INTEGER "^^<" QD_XSD_NAMESPACE "integer>"

static void
test_write(void)
{
    static const char quads[] = "<http://e/a> <" QD_RDF_NAMESPACE "type> <http://e/T> .\n"
                                "<http://e/a> <http://e/p> \"text\" .\n"
                                "<http://e/a> <http://e/p> \"7\"" INTEGER " .\n"
                                "<http://e/a> <http://e/p> \"07\"" INTEGER " .\n"
                                "<http://e/a> <http://e/q> \"x\"@en .\n"
                                "<http://empty/b> <http://e/p> _:c .\n"
                                "<http://e/a> <http://e/r> <http://ux> <http://e/a> .\n"
                                "<urn:x> <http://e/p> <http://e/a> .\n"
                                "<http://e/j> <http://e/p> \"{\\\"a\\\":1}\"^^<" QD_RDF_NAMESPACE "JSON> .\n"
                                "<http://e/j> <http://e/p> \"{ }\"^^<" QD_RDF_NAMESPACE "JSON> .";
    static const char expected[] =
        "{\"@context\": {\n\"ex\": \"http://e/\",\n\"urn\": {\"@id\": \"http://u\", \"@prefix\": true}\n},\n\"@graph\": [\n"
        "{\"@id\": \"ex:a\", \"@type\": \"ex:T\", \"ex:p\": [\"text\", 7, {\"@value\": \"07\", \"@type\": \"" QD_XSD_NAMESPACE
        "integer\"}], "
        "\"ex:q\": {\"@value\": \"x\", \"@language\": \"en\"}, \"@graph\": [{\"@id\": \"ex:a\", \"ex:r\": {\"@id\": "
        "\"urn:x\"}}]},\n"
        "{\"@id\": \"http://empty/b\", \"ex:p\": {\"@id\": \"_:c\"}},\n"
        "{\"@context\": null, \"@id\": \"urn:x\", \"http://e/p\": {\"@id\": \"http://e/a\"}},\n"
        "{\"@id\": \"ex:j\", \"ex:p\": [{\"@value\": {\"a\":1}, \"@type\": \"@json\"}, "
        "{\"@value\": \"{ }\", \"@type\": \"" QD_RDF_NAMESPACE "JSON\"}]}\n]}\n";
    g_autoptr(QdPrefixMap) prefixes = make_prefixes();
    g_autofree char *with_end = g_strconcat(quads, "\n", NULL);
    g_autofree char *text = check_round_trip(with_end, prefixes);
    g_autofree char *plain = check_round_trip(with_end, NULL);
    g_autofree char *empty = check_round_trip("", NULL);

    g_assert_cmpstr(text, ==, expected);
    g_assert_true(g_str_has_prefix(plain, "[\n{\"@id\": \"http://e/a\""));
    g_assert_cmpstr(empty, ==, "[\n]\n");
}

#define FIRST "<" QD_RDF_NAMESPACE "first>"
#define REST "<" QD_RDF_NAMESPACE "rest>"
#define NIL "<" QD_RDF_NAMESPACE "nil>"

static char *
write_lists(const char *quads)
{
    g_autoptr(GError) error = NULL;
    char *text = convert(QD_RDF_NQUADS, quads, QD_RDF_JSONLD, NULL, NULL, NULL, &error);

    g_assert_no_error(error);
    return text;
}

static void
test_lists(void)
{
    g_autofree char *good = write_lists("<a:s> <a:p> _:1 .\n_:1 " FIRST " \"x\" .\n_:1 " REST " _:2 .\n_:2 " FIRST " <a:y> .\n"
                                        "_:2 " REST " " NIL " .\n<a:s> <a:q> " NIL " .\n");
    g_autofree char *shared = write_lists("<a:s> <a:p> _:1 .\n<a:t> <a:p> _:1 .\n_:1 " FIRST " \"x\" .\n_:1 " REST " " NIL " .\n");
    g_autofree char *two_graphs = write_lists("<a:s> <a:p> _:1 .\n_:1 " FIRST " \"x\" .\n_:1 " REST " " NIL " .\n"
                                              "_:1 <a:p> <a:o> <a:g> .\n");
    g_autofree char *named = write_lists("<a:s> <a:p> _:1 .\n_:1 " FIRST " \"x\" .\n_:1 " REST " " NIL
                                         " .\n<a:s> <a:p> <a:o> _:1 .\n");

    g_assert_cmpstr(good, ==,
                    "[\n{\"@id\": \"a:s\", \"a:p\": {\"@list\": [\"x\", {\"@id\": \"a:y\"}]}, \"a:q\": {\"@list\": []}}\n]\n");
    g_assert_nonnull(strstr(shared, "\"@id\": \"_:1\", \"" QD_RDF_NAMESPACE "first\": \"x\""));
    g_assert_nonnull(strstr(two_graphs, "\"@id\": \"_:1\", \"" QD_RDF_NAMESPACE "first\": \"x\""));
    g_assert_nonnull(strstr(named, "\"@id\": \"_:1\", \"" QD_RDF_NAMESPACE "first\": \"x\""));
}

/* More than is kept: in parts, read with the least memory that a record may have. */
static void
test_large(void)
{
    g_autoptr(GString) quads = g_string_new(NULL);
    g_autoptr(QdPrefixMap) prefixes = make_prefixes();
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    g_autofree char *again = NULL;
    g_autofree char *moved = NULL;
    QdLimits limits;

    for (guint i = 0; i < 60000; i++)
        g_string_append_printf(quads, "<http://e/%u> <http://e/p%u> \"%u\"%s .\n", i / 3, i % 3, i, i < 30000 ? "" : " <urn:g>");
    text = check_round_trip(quads->str, prefixes);
    g_assert_cmpuint(strlen(text), >, 1024 * 1024);
    qd_limits_init(&limits);
    g_assert_true(qd_limits_set(&limits, "jsonld_record_bytes", 1024 * 1024, NULL));
    again = convert(QD_RDF_JSONLD, text, QD_RDF_NQUADS, NULL, NULL, &limits, &error);
    g_assert_no_error(error);

    text[strlen(text) - strlen("}\n")] = '\0';
    moved = g_strconcat(text, ", \"@id\": \"a:b\"}", NULL);
    g_free(g_steal_pointer(&again));
    again = convert(QD_RDF_JSONLD, moved, QD_RDF_NQUADS, NULL, NULL, &limits, &error);
    g_assert_error(error, QD_ERROR, QW_ERROR_TOO_BIG);
    g_assert_nonnull(strstr(error->message, "a member follows '@graph'"));
    g_assert_null(again);
}

static void
check_limit(const char *name, guint64 value, const char *text, QwError code)
{
    g_autoptr(GError) error = NULL;
    QdLimits limits;

    qd_limits_init(&limits);
    g_assert_true(qd_limits_set(&limits, name, value, NULL));
    g_assert_null(convert(QD_RDF_JSONLD, text, QD_RDF_NQUADS, NULL, NULL, &limits, &error));
    g_assert_error(error, QD_ERROR, (gint) code);
    g_assert_nonnull(strstr(error->message, name));
    g_assert_true(g_ascii_isdigit(error->message[0]));
}

static void
test_limits(void)
{
    g_autoptr(GString) deep = g_string_new(NULL);
    g_autoptr(GString) chain = g_string_new("{\"@context\": {\"t0\": \"a:b#\"");
    g_autoptr(GString) wide = g_string_new("[{\"a:p\": [1");

    for (guint i = 0; i < 200; i++)
        g_string_append(deep, "{\"a:p\": [");
    check_limit("rdf_depth", 128, deep->str, QW_ERROR_TOO_COMPLEX);
    for (guint i = 300; i > 0; i--)
        g_string_append_printf(chain, ", \"t%u\": \"t%u:x#\"", i, i - 1);
    g_string_append(chain, "}}");
    check_limit("rdf_depth", 128, chain->str, QW_ERROR_TOO_COMPLEX);
    for (guint i = 0; i < 100000; i++)
        g_string_append(wide, ",1");
    g_string_append(wide, "]}]");
    check_limit("jsonld_record_bytes", 1024 * 1024, wide->str, QW_ERROR_TOO_BIG);

    /* a context of a property that is used in many places */
    g_string_assign(wide, "[");
    for (guint i = 0; i < 600; i++)
        g_string_append_printf(wide,
                               "%s{\"@context\": {\"p\": {\"@id\": \"a:p\", \"@context\": {\"q\": \"a:q\"}}}, \"p\": {\"q\": 1}}",
                               i > 0 ? ", " : "");
    g_string_append(wide, "]");
    check_limit("jsonld_terms", 1000, wide->str, QW_ERROR_TOO_COMPLEX);
}

static GBytes *
give_context(const char *iri, gpointer data, GError **error)
{
    g_assert_cmpstr(iri, ==, "http://c/x");
    return g_bytes_new_static(data, strlen(data));
}

static void
test_options(void)
{
    const char
        *document = "{\"@context\": [\"http://c/x\", {\"@import\": \"http://c/x\", \"q\": \"a:q\"}], \"p\": "
                    "{\"@value\": \"v\", \"@language\": \"EN\", \"@direction\": \"rtl\"}, \"q\": 1, \"@id\": \"a:s\", \"e\": 2}";
    QdJsonLdReading options = {
        .direction = QD_LD_DIRECTION_I18N,
        .context_func = give_context,
        .context_data = "{\"@context\": {\"p\": \"a:p\"}}",
        .expand_context = "{\"@context\": {\"e\": \"a:e\"}}",
    };
    g_autoptr(GError) error = NULL;
    g_autofree char *text = convert(QD_RDF_JSONLD, document, QD_RDF_NQUADS, NULL, &options, NULL, &error);

    g_assert_no_error(error);
    g_assert_cmpstr(text, ==,
                    "<a:s> <a:p> \"v\"^^<https://www.w3.org/ns/i18n#en_rtl> .\n<a:s> <a:q> \"1\"" INTEGER " .\n"
                    "<a:s> <a:e> \"2\"" INTEGER " .\n");
}

static void
test_expanded(void)
{
    const QdJsonLdWriting writing = { .is_expanded = TRUE, .native_types = TRUE, .direction = QD_LD_DIRECTION_COMPOUND };
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(QdJsonLdWriter) writer = qd_jsonld_writer_new(&writing, NULL, out);
    g_autoptr(GError) error = NULL;
    const char *quads = "<a:s> <a:p> \"2.5E0\"^^<" QD_XSD_NAMESPACE "double> .\n<a:s> <a:q> _:c .\n"
                        "_:c <" QD_RDF_NAMESPACE "value> \"v\" .\n_:c <" QD_RDF_NAMESPACE "direction> \"rtl\" .\n";
    Input input = { quads, strlen(quads) };
    QdLimits limits;
    QdRdfReading reading = {
        .format = QD_RDF_NQUADS,
        .read_func = read_input,
        .read_data = &input,
        .quad_func = put_expanded,
        .data = writer,
        .limits = &limits,
    };

    qd_limits_init(&limits);
    g_assert_true(qd_rdf_read(&reading, &error));
    g_assert_true(qd_jsonld_writer_finish(writer, &error));
    g_assert_cmpstr(
        out->str, ==,
        "[\n{\"@id\": \"a:s\", \"a:p\": [{\"@value\": 2.5}], \"a:q\": [{\"@value\": \"v\", \"@direction\": \"rtl\"}]}\n]\n");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/jsonld/jsonld/write", test_write);
    g_test_add_func("/jsonld/jsonld/lists", test_lists);
    g_test_add_func("/jsonld/jsonld/large", test_large);
    g_test_add_func("/jsonld/jsonld/limits", test_limits);
    g_test_add_func("/jsonld/jsonld/options", test_options);
    g_test_add_func("/jsonld/jsonld/expanded", test_expanded);
    return g_test_run();
}
