/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions on strings, in code points.
 */
#include "tests/unit/functions/expression-fixture.h"

static void
test_length(void)
{
    static const char *const cases[][2] = {
        { "(STRLEN \"\")", "0" },      { "(STRLEN \"chat\"@en)", "4" }, { "(STRLEN \"hé😀\")", "3" },
        { "(STRLEN \"a\\0b\")", "3" }, { "(STRLEN 1)", "unbound" },     { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_substr(void)
{
    static const char *const cases[][2] = {
        { "(SUBSTR \"foobar\" 4)", "\"bar\"" },
        { "(SUBSTR \"foobar\"@en 4)", "\"bar\"@en" },
        { "(SUBSTR \"foobar\" 4 1)", "\"b\"" },
        { "(SUBSTR \"foobar\" 0 3)", "\"fo\"" },
        { "(SUBSTR \"foobar\" -1 3)", "\"f\"" },
        { "(SUBSTR \"foobar\" 1.5 2.6)", "\"oob\"" },
        { "(SUBSTR \"foobar\" 7)", "\"\"" },
        { "(SUBSTR \"foobar\" 1 0)", "\"\"" },
        { "(SUBSTR \"foobar\" 1 -1)", "\"\"" },
        { "(SUBSTR \"hé😀x\" 2 2)", "\"é😀\"" },
        { "(SUBSTR \"abc\" \"NaN\"^^xsd:double)", "\"\"" },
        { "(SUBSTR \"abc\" 1 \"NaN\"^^xsd:double)", "\"\"" },
        { "(SUBSTR \"abc\" \"-INF\"^^xsd:double)", "\"abc\"" },
        { "(SUBSTR \"abc\" \"-INF\"^^xsd:double \"INF\"^^xsd:double)", "\"\"" },
        { "(SUBSTR \"abc\" 1 99999999999999999999999)", "\"abc\"" },
        { "(SUBSTR \"abc\" \"1\")", "unbound" },
        { "(SUBSTR 1 1)", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_case(void)
{
    static const char *const cases[][2] = {
        { "(UCASE \"foo\"@en)", "\"FOO\"@en" },
        { "(LCASE \"BAR\")", "\"bar\"" },
        { "(UCASE \"straße\")", "\"STRASSE\"" },
        { "(LCASE \"İx\")", "\"i̇x\"" },
        { "(UCASE \"a\\0b\")", "\"A\\0B\"" },
        { "(UCASE \"\")", "\"\"" },
        { "(UCASE 1)", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

/* Texts are changed in pieces: it makes no difference where those end. */
static void
test_case_of_long_texts(void)
{
    static const char *const units[] = { "Σ", "aΣ", "Σ ", "ΐ", "İ", "ᾳ", "a\xcd\x85\xcc\x81", "ς", "ß", "ab" };
    g_autoptr(Expressions) self = expressions_new();

    for (gsize i = 0; i < 2 * G_N_ELEMENTS(units); i++) {
        g_autoptr(GString) text = g_string_new("x");
        g_autofree char *changed = NULL;
        g_autofree char *expected = NULL;
        g_autofree char *expression = NULL;
        g_autofree char *result = NULL;

        while (text->len < 200000)
            g_string_append(text, units[i / 2]);
        changed = i % 2 == 0 ? g_utf8_strup(text->str, -1) : g_utf8_strdown(text->str, -1);
        expected = g_strdup_printf("\"%s\"", changed);
        expression = g_strdup_printf("(%s \"%s\")", i % 2 == 0 ? "UCASE" : "LCASE", text->str);
        result = expressions_run(self, expression);
        g_test_message("%s", units[i / 2]);
        g_assert_true(g_str_equal(result, expected));
    }
}

static void
test_find(void)
{
    static const char *const cases[][2] = {
        { "(STRSTARTS \"foobar\" \"foo\")", "true" },
        { "(STRSTARTS \"foobar\" \"bar\")", "false" },
        { "(STRSTARTS \"a\" \"ab\")", "false" },
        { "(STRENDS \"foobar\"@en \"bar\"@EN)", "true" },
        { "(STRENDS \"foobar\"@en \"bar\")", "true" },
        { "(CONTAINS \"foobar\" \"\")", "true" },
        { "(CONTAINS \"foobar\" \"oba\")", "true" },
        { "(CONTAINS \"foobar\" \"OBA\")", "false" },
        { "(CONTAINS \"\" \"a\")", "false" },
        { "(CONTAINS \"foobar\" \"bar\"@en)", "unbound" },
        { "(CONTAINS \"foobar\"@en \"bar\"@fr)", "unbound" },
        { "(CONTAINS 123 \"2\")", "unbound" },
        { "(STRSTARTS <a:b> \"a\")", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_cut(void)
{
    static const char *const cases[][2] = {
        { "(STRBEFORE \"abc\" \"b\")", "\"a\"" },     { "(STRBEFORE \"abc\"@en \"bc\")", "\"a\"@en" },
        { "(STRBEFORE \"abc\" \"xyz\")", "\"\"" },    { "(STRBEFORE \"abc\"@en \"z\"@en)", "\"\"" },
        { "(STRBEFORE \"abc\"@en \"\")", "\"\"@en" }, { "(STRBEFORE \"abc\"@en \"b\"@cy)", "unbound" },
        { "(STRAFTER \"abc\" \"b\")", "\"c\"" },      { "(STRAFTER \"abc\"@en \"ab\")", "\"c\"@en" },
        { "(STRAFTER \"abc\"@en \"z\")", "\"\"" },    { "(STRAFTER \"abc\"@en \"\")", "\"abc\"@en" },
        { "(STRAFTER \"abc\" \"b\"@cy)", "unbound" }, { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_encode(void)
{
    static const char *const cases[][2] = {
        { "(ENCODE_FOR_URI \"Los Angeles\")", "\"Los%20Angeles\"" },
        { "(ENCODE_FOR_URI \"é~-_.!*\"@fr)", "\"%C3%A9~-_.%21%2A\"" },
        { "(ENCODE_FOR_URI \"a\\0\")", "\"a%00\"" },
        { "(ENCODE_FOR_URI 1)", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_concat(void)
{
    static const char *const cases[][2] = {
        { "(CONCAT)", "\"\"" },
        { "(CONCAT \"foo\" \"bar\")", "\"foobar\"" },
        { "(CONCAT \"foo\"@en \"bar\"@EN)", "\"foobar\"@en" },
        { "(CONCAT \"foo\"@en \"bar\")", "\"foobar\"" },
        { "(CONCAT \"foo\"@en \"bar\"@fr)", "\"foobar\"" },
        { "(CONCAT \"1\" \"2\" \"3\" \"4\" \"5\" \"6\")", "\"123456\"" },
        { "(CONCAT \"a\"@en)", "\"a\"@en" },
        { "(CONCAT \"foo\" 1)", "unbound" },
        { "(CONCAT \"foo\" unbound)", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_lang_matches(void)
{
    static const char *const cases[][2] = {
        { "(LANGMATCHES \"en-GB\" \"en\")", "true" },
        { "(LANGMATCHES \"en\" \"EN\")", "true" },
        { "(LANGMATCHES \"eng\" \"en\")", "false" },
        { "(LANGMATCHES \"en\" \"en-GB\")", "false" },
        { "(LANGMATCHES \"en\" \"*\")", "true" },
        { "(LANGMATCHES \"\" \"*\")", "false" },
        { "(LANGMATCHES \"\" \"\")", "false" },
        { "(LANGMATCHES 1 \"en\")", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

static void
test_hash(void)
{
    static const char *const cases[][2] = {
        { "(MD5 \"abc\")", "\"900150983cd24fb0d6963f7d28e17f72\"" },
        { "(SHA1 \"abc\")", "\"a9993e364706816aba3e25717850c26c9cd0d89d\"" },
        { "(SHA256 \"abc\")", "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"" },
        { "(SHA384 \"abc\")",
          "\"cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7\"" },
        { "(SHA512 \"abc\")", "\"ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd45"
                              "4d4423643ce80e2a9ac94fa54ca49f\"" },
        { "(MD5 \"\")", "\"d41d8cd98f00b204e9800998ecf8427e\"" },
        { "(MD5 \"a\"@en)", "unbound" },
        { "(MD5 1)", "unbound" },
        { NULL, NULL },
    };

    expressions_check(cases);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/functions/string-calls/length", test_length);
    g_test_add_func("/functions/string-calls/substr", test_substr);
    g_test_add_func("/functions/string-calls/case", test_case);
    g_test_add_func("/functions/string-calls/case-of-long-texts", test_case_of_long_texts);
    g_test_add_func("/functions/string-calls/find", test_find);
    g_test_add_func("/functions/string-calls/cut", test_cut);
    g_test_add_func("/functions/string-calls/encode", test_encode);
    g_test_add_func("/functions/string-calls/concat", test_concat);
    g_test_add_func("/functions/string-calls/lang-matches", test_lang_matches);
    g_test_add_func("/functions/string-calls/hash", test_hash);
    return g_test_run();
}
