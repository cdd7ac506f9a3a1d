/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions on terms.
 */
#include "tests/unit/functions/expression-fixture.h"

static void
test_kinds(void)
{
    static const char *const cases[][2] = {
        { "(ISIRI <a:b>)", "true" },
        { "(ISURI \"a\")", "false" },
        { "(ISBLANK _:x)", "true" },
        { "(ISLITERAL \"a\"@en)", "true" },
        { "(ISLITERAL <a:b>)", "false" },
        { "(ISNUMERIC 1)", "true" },
        { "(ISNUMERIC \"1\")", "false" },
        { "(ISNUMERIC \"1200\"^^xsd:byte)", "false" },
        { "(ISNUMERIC \"x\"^^xsd:integer)", "false" },
        { "(ISNUMERIC unbound)", "unbound" },
        { "(BOUND unbound)", "false" },
        { "(BOUND 1)", "true" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_parts(void)
{
    static const char *const cases[][2] = {
        { "(STR <a:b>)", "\"a:b\"" },
        { "(STR \"x\"@en)", "\"x\"" },
        { "(STR 01)", "\"01\"" },
        { "(STR 1.50)", "\"1.50\"" },
        { "(STR _:x)", "unbound" },
        { "(LANG \"x\"@en-GB)", "\"en-gb\"" },
        { "(LANG \"x\")", "\"\"" },
        { "(LANG 1)", "\"\"" },
        { "(LANG <a:b>)", "unbound" },
        { "(LANG _:x)", "unbound" },
        { "(DATATYPE \"x\")", "<http://www.w3.org/2001/XMLSchema#string>" },
        { "(DATATYPE \"x\"@en)", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>" },
        { "(DATATYPE 1)", "<http://www.w3.org/2001/XMLSchema#integer>" },
        { "(DATATYPE \"1\"^^xsd:byte)", "<http://www.w3.org/2001/XMLSchema#byte>" },
        { "(DATATYPE (+ \"1\"^^xsd:byte 1))", "<http://www.w3.org/2001/XMLSchema#integer>" },
        { "(DATATYPE \"x\"^^<a:t>)", "<a:t>" },
        { "(DATATYPE <a:b>)", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_iri(void)
{
    static const char *const cases[][2] = {
        { "(IRI <a:b>)", "<a:b>" },
        { "(IRI \"http://x/y\")", "<http://x/y>" },
        { "(IRI \"y\" <http://x/z>)", "<http://x/y>" },
        { "(IRI \"../y\" <http://x/a/b/c>)", "<http://x/a/y>" },
        { "(IRI \"y\")", "unbound" },
        { "(IRI \"a b\" <http://x/>)", "unbound" },
        { "(IRI \"x\"@en <http://x/>)", "unbound" },
        { "(IRI 1 <http://x/>)", "unbound" },
        { "(URI \"eXAMPLE://a/./b\" <http://x/>)", "<eXAMPLE://a/./b>" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_literals(void)
{
    static const char *const cases[][2] = {
        { "(STRDT \"123\" <http://www.w3.org/2001/XMLSchema#integer>)", "123" },
        { "(STRDT \"x\" <a:t>)", "\"x\"^^<a:t>" },
        { "(STRDT \"x\" <http://www.w3.org/2001/XMLSchema#string>)", "\"x\"" },
        { "(STRDT \"x\"@en <a:t>)", "unbound" },
        { "(STRDT 1 <a:t>)", "unbound" },
        { "(STRDT \"x\" \"t\")", "unbound" },
        { "(STRDT \"x\" <http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>)", "unbound" },
        { "(STRLANG \"chat\" \"fr-CA\")", "\"chat\"@fr-ca" },
        { "(LANG (STRLANG \"chat\" \"fr-CA\"))", "\"fr-ca\"" },
        { "(STRLANG \"x\"@en \"fr\")", "unbound" },
        { "(STRLANG 1 \"fr\")", "unbound" },
        { "(STRLANG \"x\" \"\")", "unbound" },
        { "(STRLANG \"x\" \"a b\")", "unbound" },
        { "(STRLANG \"x\" \"en-\")", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_bnode(void)
{
    static const char *const cases[][2] = {
        { "(= (BNODE \"a\" 1) (BNODE \"a\" 1))", "true" },
        { "(= (BNODE \"a\" 1) (BNODE \"a\" 2))", "false" },
        { "(= (BNODE \"a\" 1) (BNODE \"b\" 1))", "false" },
        { "(ISBLANK (BNODE))", "true" },
        { "(= (BNODE) (BNODE))", "false" },
        { "(BNODE 1 1)", "unbound" },
        { "(BNODE \"a\")", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_uuid(void)
{
    static const char *const cases[][2] = {
        { "(STRLEN (STRUUID))", "36" },
        { "(REGEX (STR (UUID)) \"^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$\")", "true" },
        { "(= (UUID) (UUID))", "false" },
        { "(ISIRI (UUID))", "true" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/term-calls/kinds", test_kinds);
    g_test_add_func("/functions/term-calls/parts", test_parts);
    g_test_add_func("/functions/term-calls/iri", test_iri);
    g_test_add_func("/functions/term-calls/literals", test_literals);
    g_test_add_func("/functions/term-calls/bnode", test_bnode);
    g_test_add_func("/functions/term-calls/uuid", test_uuid);
    return g_test_run();
}
