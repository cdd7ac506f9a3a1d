/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts of statements: their form, their parameters, and values in them. No value can change what else the text says.
 */
#include <string.h>

#include "client-lib/core/query-error.h"
#include "client-lib/core/query-parameters.h"
#include "client-lib/remote-module/remote-text.h"
#include "daemon/rdfio/lexer.h"

static void
test_forms(void)
{
    static const struct {
        const char *text;
        RemoteForm form;
    } cases[] = {
        { "SELECT * {}", REMOTE_FORM_SELECT },
        { "# ask\nPREFIX ask: <x:> BASE <http://select/> aSk {}", REMOTE_FORM_ASK },
        { "PREFIX construct: <x:construct> CONSTRUCT WHERE {}", REMOTE_FORM_GRAPH },
        { "DESCRIBE <x:y>", REMOTE_FORM_GRAPH },
        { "INSERT DATA {}", REMOTE_FORM_UNKNOWN },
        { "`", REMOTE_FORM_UNKNOWN },
        { "", REMOTE_FORM_UNKNOWN },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_cmpint(remote_text_get_form(cases[i].text), ==, cases[i].form);
}

/* (transfer full) (nullable): the text with @values, an a{sv} as text */
static char *
build(const char *text, const char *values, GError **error)
{
    g_autoptr(QueryCommand) command = query_command_new("sparql", text, QUERY_COMMAND_READS, -1, 0, NULL, NULL);
    g_autoptr(QuerySchema) schema = remote_text_describe(text, FALSE);
    g_autoptr(GVariant) dictionary = g_variant_ref_sink(g_variant_new_parsed(values));
    g_autoptr(QueryParameters) parameters = query_parameters_new_from_variant(dictionary, TRUE, NULL);
    g_autoptr(GBytes) row = query_parameters_encode(parameters, schema, error);
    QwPageReader reader = { .n_columns = schema->n_parameters, .n_rows_left = 1 };

    if (row == NULL)
        return NULL;
    reader.data = g_bytes_get_data(row, &reader.n_bytes);
    (void) qw_page_reader_next(&reader);
    return remote_text_build(command, schema, &reader, error);
}

static void
test_values(void)
{
    static const struct {
        const char *text, *values, *expected;
    } cases[] = {
        { "SELECT ?a { ?a ?b $x }", "{'x': <5>}", "SELECT ?a { ?a ?b  \"5\"^^<http://www.w3.org/2001/XMLSchema#integer>  }" },
        { "SELECT $x ?y { $x ?y ?x }", "{'x': <('http://e/', '@id', '')>}",
          "SELECT (<http://e/> AS ?x) ?y {  <http://e/>  ?y  <http://e/>  }" },
        { "SELECT (COUNT($x) AS ?n) {}", "{'x': <'t'>}", "SELECT (COUNT( \"t\" ) AS ?n) {}" },
        { "SELECT ?a { FILTER(BOUND($x)) }", "{'x': <'t'>}", "SELECT ?a { FILTER((true)) }" },
        { "SELECT ?a {} GROUP BY $x HAVING($x) ORDER BY DESC($x) $x LIMIT 1", "{'x': <'t'>}",
          "SELECT ?a {} GROUP BY (\"t\") HAVING( \"t\" ) ORDER BY DESC( \"t\" ) (\"t\") LIMIT 1" },
        { "SELECT ?a { ?a ?b $x, '$x', <$x>, \"\"\"$x\"\"\" # $x\n }", "{'x': <('ja', '', 'ja-JP')>}",
          "SELECT ?a { ?a ?b  \"ja\"@ja-JP , '$x', <$x>, \"\"\"$x\"\"\" # $x\n }" },
        { "SELECT ?a { ?a ?b $x, $y }", "{'x': <signature ''>, 'y': <'a\\n\"b\\\\'>}",
          "SELECT ?a { ?a ?b $x,  \"a\\n\\\"b\\\\\"  }" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *found = build(cases[i].text, cases[i].values, &error);

        g_assert_no_error(error);
        g_assert_cmpstr(found, ==, cases[i].expected);
    }
}

static void
test_refused(void)
{
    static const struct {
        const char *text, *values;
    } cases[] = {
        { "SELECT ?a { $x }", "{'x': <('http://e/> } ; DROP ALL #', '@id', '')>}" },
        { "SELECT ?a { $x }", "{'x': <('relative', '@id', '')>}" },
        { "SELECT ?a { $x }", "{'x': <('b0', '@bnode', '')>}" },
        { "SELECT ?a { $x }", "{'x': <('a', 'x:t> }', '')>}" },
        { "SELECT ?a { $x }", "{'x': <('a', '', 'en . } DROP')>}" },
        { "SELECT ?a { $x }", "{'x': <('a', '', '-')>}" },
        { "SELECT ?a { $x }", "{'x': <b'bytes'>}" },
        { "SELECT ?a { BIND(1 AS $x) }", "{'x': <1>}" },
        { "SELECT ?a { VALUES $x { 1 } }", "{'x': <1>}" },
        { "SELECT ?a { VALUES ($x ?a) { (1 2) } }", "{'x': <1>}" },
        { "SELECT ?a { $x }", "{'y': <1>}" },
        { "SELECT ?a { ?x }", "{'x': <1>}" },
        { "SELECT ?a { $x }", "{'x': <1>, 'y': <1>}" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *found = build(cases[i].text, cases[i].values, &error);

        g_assert_null(found);
        g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
    }
}

/* What cannot be read could hide a parameter. */
static void
test_unreadable(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *found = build("SELECT ?a { $x ` $x }", "{'x': <1>}", &error);

    g_assert_null(found);
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_SYNTAX);
}

static guint
count_tokens(QdLexerMode mode, const char *text)
{
    g_autoptr(QdLexer) lexer = qd_lexer_new_for_text(mode, text, strlen(text));
    g_autoptr(GError) error = NULL;
    QdToken token;
    guint n = 0;

    while (qd_lexer_next(lexer, &token, &error) && token.kind != QD_TOKEN_END)
        n++;
    g_assert_no_error(error);
    return n;
}

/* A text of any characters is one token, for a server that decodes \u before it reads tokens, and for one that does not. */
static void
test_injection(void)
{
    static const char *const bits[] = {
        "\"", "'",     "\\",   "\\u0022", "\\u005C",  "\\U00000022",  "\n",   "\r",  " . } ; DROP ALL #", "\"\"\"", ">", "<", "^^",
        "@",  "u0022", "005C", "\t",      "\xc3\xa4", "\xef\xbf\xbf", "\x01", "\x7f"
    };

    for (guint i = 0; i < 3000; i++) {
        g_autoptr(GString) value = g_string_new(NULL);
        g_autoptr(GVariant) values = NULL;
        g_autofree char *printed = NULL;
        g_autofree char *found = NULL;
        g_autoptr(GError) error = NULL;

        for (guint k = (guint) g_test_rand_int_range(0, 8); k > 0; k--)
            g_string_append(value, bits[g_test_rand_int_range(0, G_N_ELEMENTS(bits))]);
        values = g_variant_ref_sink(g_variant_new_parsed("{'x': <%s>}", value->str));
        printed = g_variant_print(values, TRUE);
        found = build("ASK { ?s ?p $x }", printed, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(count_tokens(QD_LEXER_TRACKER, found), ==, 6);
        g_assert_cmpuint(count_tokens(QD_LEXER_SPARQL, found), ==, 6);
    }
}

static void
test_base(void)
{
    g_autoptr(QueryCommand) command = query_command_new("sparql", "ASK {}", QUERY_COMMAND_READS, -1, 0, "http://e/", NULL);
    g_autoptr(QueryCommand) bad = query_command_new("sparql", "ASK {}", QUERY_COMMAND_READS, -1, 0, "http://e/> {", NULL);
    g_autofree char *text = remote_text_build(command, NULL, NULL, NULL);
    g_autoptr(GError) error = NULL;

    g_assert_cmpstr(text, ==, "BASE <http://e/> ASK {}");
    g_assert_cmpuint(remote_text_get_n_before(command), ==, strlen("BASE <http://e/> "));
    g_assert_null(remote_text_build(bad, NULL, NULL, &error));
    g_assert_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/client/remote-text/forms", test_forms);
    g_test_add_func("/client/remote-text/values", test_values);
    g_test_add_func("/client/remote-text/refused", test_refused);
    g_test_add_func("/client/remote-text/unreadable", test_unreadable);
    g_test_add_func("/client/remote-text/injection", test_injection);
    g_test_add_func("/client/remote-text/base", test_base);
    return g_test_run();
}
