/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Documents that would keep a reader busy for long: each is refused by a limit, or the caller is asked often whether to go on.
 */
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/rdf/term.h"
#include "daemon/rdfio/rdf-reader.h"
#include "tests/unit/rdfio/text-input.h"

#define RDF_START "<r:RDF xmlns:r='" QD_RDF_NAMESPACE "' xmlns:e='http://e/'>"
#define RDF_END "</r:RDF>"

typedef struct Input {
    TextInput text;
    guint n_quads;
    guint n_checks;
} Input;

static gboolean
count_quad(const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, gpointer data, GError **error)
{
    ((Input *) data)->n_quads++;
    return TRUE;
}

static gboolean
count_check(gpointer data, GError **error)
{
    ((Input *) data)->n_checks++;
    return TRUE;
}

static gboolean
read_text(QdRdfFormat format, const char *text, gsize n, gsize piece, Input *ret_input, GError **error)
{
    QdLimits limits;
    QdRdfReading reading = {
        .format = format,
        .read_func = text_input_read,
        .read_data = ret_input,
        .check_func = count_check,
        .quad_func = count_quad,
        .data = ret_input,
        .limits = &limits,
    };

    qd_limits_init(&limits);
    *ret_input = (Input){ .text = { .text = text, .n = n, .piece = piece } };
    return qd_rdf_read(&reading, error);
}

static void
check_read(QdRdfFormat format, const GString *text, guint n_quads)
{
    static const gsize pieces[] = { 1000, 1 << 20 };

    for (guint i = 0; i < G_N_ELEMENTS(pieces); i++) {
        g_autoptr(GError) error = NULL;
        Input input;

        (void) read_text(format, text->str, text->len, pieces[i], &input, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(input.n_quads, ==, n_quads);
    }
}

static void
check_refused(QdRdfFormat format, const char *text, gsize n, gint code, const char *message)
{
    static const gsize pieces[] = { 1000, 1 << 20 };

    for (guint i = 0; i < G_N_ELEMENTS(pieces); i++) {
        g_autoptr(GError) error = NULL;
        Input input;

        g_assert_false(read_text(format, text, n, pieces[i], &input, &error));
        g_assert_error(error, QD_ERROR, code);
        if (strstr(error->message, message) == NULL)
            g_error("'%s' in '%s'", message, error->message);
    }
}

/* @format: of one attribute; gets its number */
static GString *
make_tag(const char *format, guint n)
{
    GString *text = g_string_new(RDF_START "\n<r:Description");

    for (guint i = 0; i < n; i++) {
        g_autofree char *number = g_strdup_printf("%u", i);
        g_auto(GStrv) parts = g_strsplit(format, "#", -1);
        g_autofree char *attribute = g_strjoinv(number, parts);

        g_string_append_printf(text, " %s", attribute);
    }
    g_string_append(text, "/>" RDF_END);
    return text;
}

#define TOO_MANY "a tag has too many attributes and namespaces, or the elements around it have: use elements for attributes"
#define ITS_LIMIT ": the limit 'xml_attributes' is 1000"

/* Two namespaces are declared around the tag. */
static void
test_attributes(void)
{
    static const char *const formats[] = { "e:a#='x'", "xmlns:a#='http://e/#'" };

    for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
        g_autoptr(GString) most = make_tag(formats[i], 998);
        g_autoptr(GString) more = make_tag(formats[i], 999);
        g_autoptr(GString) many = make_tag(formats[i], 20000);
        g_autofree char *wide = NULL;
        gsize n_wide;

        check_read(QD_RDF_XML, most, i == 0 ? 998 : 0);
        check_refused(QD_RDF_XML, more->str, more->len, QW_ERROR_TOO_COMPLEX, "2:");
        check_refused(QD_RDF_XML, more->str, more->len, QW_ERROR_TOO_COMPLEX, ": " TOO_MANY ITS_LIMIT);
        check_refused(QD_RDF_XML, many->str, many->len, QW_ERROR_TOO_COMPLEX, "2:1: " TOO_MANY ITS_LIMIT);
        wide = g_convert(many->str, (gssize) many->len, "UTF-16", "UTF-8", NULL, &n_wide, NULL);
        check_refused(QD_RDF_XML, wide, n_wide, QW_ERROR_TOO_COMPLEX, "2:1: " TOO_MANY ITS_LIMIT);
    }
}

/* Those of the elements around count as well, and no longer once these end. */
static void
test_namespaces_around(void)
{
    g_autoptr(GString) beside = g_string_new(RDF_START);
    g_autoptr(GString) within = g_string_new(RDF_START);

    for (guint i = 0; i < 20; i++) {
        for (guint k = 0; k < 2; k++) {
            GString *text = k == 0 ? beside : within;

            g_string_append(text, i % 2 == 0 ? "<r:Description" : "<e:p");
            for (guint n = 0; n < 90; n++)
                g_string_append_printf(text, " xmlns:a%u='http://e/'", n);
            g_string_append(text, k == 1 ? ">" : i % 2 == 0 ? ">" : "/></r:Description>");
        }
    }
    g_string_append(beside, RDF_END);
    check_read(QD_RDF_XML, beside, 10);
    check_refused(QD_RDF_XML, within->str, within->len, QW_ERROR_TOO_COMPLEX, ": " TOO_MANY ITS_LIMIT);
}

/* What only looks like attributes, in texts and values that are long. */
static void
test_no_attributes(void)
{
    static const char *const cases[][2] = {
        { "<!DOCTYPE r [<!ENTITY e '", "'>]>" RDF_START "<r:Description e:p='&e;'/>" RDF_END },
        { "<?xml version='1.0' encoding='ISO-8859-1'?><!-- <r ", "-->" RDF_START "<r:Description e:p=''/>" RDF_END },
        { RDF_START "<?p ", "?><r:Description e:p=''/>" RDF_END },
        { RDF_START "<r:Description e:p='", "'/>" RDF_END },
        { RDF_START "<r:Description><e:p>", "</e:p></r:Description>" RDF_END },
        { RDF_START "<r:Description><e:p><![CDATA[<r <r <r ", "]]></e:p></r:Description>" RDF_END },
        { RDF_START "<r:Description><e:p r:parseType='Literal'><![CDATA[<r ", "]]></e:p></r:Description>" RDF_END },
        { RDF_START "<r:Description><e:p r:parseType='Literal'><a b='", "'/></e:p></r:Description>" RDF_END },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) text = g_string_new(cases[i][0]);

        for (guint n = 0; n < 400000; n++)
            g_string_append(text, "= > ");
        g_string_append(text, cases[i][1]);
        check_read(QD_RDF_XML, text, 1);
    }
}

/* Tags that make no quad. */
static void
test_xml_checks(void)
{
    g_autoptr(GString) text = g_string_new(RDF_START "<r:Description><e:p r:parseType='Literal'>");
    g_autoptr(GError) error = NULL;
    Input input;

    for (guint n = 0; n < 10000; n++)
        g_string_append(text, "<b a='x'/>");
    g_string_append(text, "</e:p></r:Description>" RDF_END);
    g_assert_true(read_text(QD_RDF_XML, text->str, text->len, 1 << 20, &input, &error));
    g_assert_cmpuint(input.n_checks, >=, (guint) text->len / 8192);
}

/* Each base is relative to the one before: a chain of them is quadratic without a bound. */
static void
test_base(void)
{
    g_autoptr(GString) chain = g_string_new("@base <http://e/> .\n");
    g_autoptr(GString) most = g_string_new("@base <http://e/");
    g_autoptr(GString) xml = g_string_new(RDF_START "<r:Description xml:base='http://e/");
    g_autoptr(GString) json = g_string_new("{\"@context\": {\"@base\": \"http://e/");

    for (guint i = 0; i < 40000; i++) {
        g_string_append(chain, "@base <a/> .\n");
        g_string_append(xml, "a/");
        g_string_append(json, "a/");
    }
    check_refused(QD_RDF_TURTLE, chain->str, chain->len, QW_ERROR_TOO_BIG,
                  "32765:7: the base IRI has 65537 bytes, at most 65536 are allowed");
    g_string_append(xml, "'/>" RDF_END);
    check_refused(QD_RDF_XML, xml->str, xml->len, QW_ERROR_TOO_BIG, ": the base IRI has 80009 bytes, at most 65536 are allowed");
    g_string_append(json, "\"}}");
    check_refused(QD_RDF_JSONLD, json->str, json->len, QW_ERROR_TOO_BIG,
                  "1:14: the base IRI has 80009 bytes, at most 65536 are allowed");

    while (most->len < 65536 + strlen("@base <"))
        g_string_append_c(most, 'a');
    g_string_append(most, "> . <> <x> <y> .");
    check_read(QD_RDF_TURTLE, most, 1);
}

/* Statements that make no quad. */
static void
test_turtle_checks(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    Input input;

    for (guint i = 0; i < 1000; i++)
        g_string_append(text, "@base <http://e/> .\n");
    g_assert_true(read_text(QD_RDF_TURTLE, text->str, text->len, 1 << 20, &input, &error));
    g_assert_cmpuint(input.n_checks, ==, 1000);
}

/* Contexts that make no quad; each keeps its base. */
static void
test_contexts(void)
{
    g_autoptr(GString) text = g_string_new("{\"@context\": [{\"@base\": \"http://e/\"}");
    g_autoptr(GString) chain = g_string_new(text->str);
    g_autoptr(GError) error = NULL;
    Input input;

    for (guint i = 0; i < 1000; i++)
        g_string_append(text, ", {\"@base\": \"http://e/\"}");
    g_string_append(text, "]}");
    g_assert_true(read_text(QD_RDF_JSONLD, text->str, text->len, 1 << 20, &input, &error));
    g_assert_cmpuint(input.n_checks, >=, 1000);

    for (guint i = 0; i < 20000; i++)
        g_string_append(chain, ", {\"@base\": \"a/\"}");
    g_string_append(chain, "]}");
    check_refused(QD_RDF_JSONLD, chain->str, chain->len, QW_ERROR_TOO_BIG, "the limit 'jsonld_record_bytes' is 33554432");
    (void) read_text(QD_RDF_JSONLD, chain->str, chain->len, 1 << 20, &input, NULL);
    g_assert_cmpuint(input.n_checks, <, 10000);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rdfio/rdf-bounds/attributes", test_attributes);
    g_test_add_func("/rdfio/rdf-bounds/namespaces-around", test_namespaces_around);
    g_test_add_func("/rdfio/rdf-bounds/no-attributes", test_no_attributes);
    g_test_add_func("/rdfio/rdf-bounds/xml-checks", test_xml_checks);
    g_test_add_func("/rdfio/rdf-bounds/base", test_base);
    g_test_add_func("/rdfio/rdf-bounds/turtle-checks", test_turtle_checks);
    g_test_add_func("/rdfio/rdf-bounds/contexts", test_contexts);
    return g_test_run();
}
