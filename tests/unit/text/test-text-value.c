/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The exact bytes of single values and of columns' names.
 */
#include "client-lib/text/text-value.h"

#include <math.h>

#define INTEGER(i)                              \
    {                                           \
        .type = QW_TYPE_INTEGER, .integer = (i) \
    }
#define FLOAT(r)                           \
    {                                      \
        .type = QW_TYPE_FLOAT, .real = (r) \
    }
#define BYTES(t, s)                                        \
    {                                                      \
        .type = (t), .data = (s), .n_bytes = sizeof(s) - 1 \
    }
#define TEXT(s) BYTES(QW_TYPE_TEXT, s)
#define BLOB(s) BYTES(QW_TYPE_BLOB, s)
#define TERM(t, s, g)                                                                                \
    {                                                                                                \
        .type = (t), .data = (s), .n_bytes = sizeof(s) - 1, .tag = (g), .n_tag_bytes = sizeof(g) - 1 \
    }

static const QwValue null_value = { .type = QW_TYPE_NULL };

static void
assert_value(const QwValue *value, const char *csv, const char *tsv, const char *json)
{
    void (*const puts[])(GString * out, const QwValue *value) = { qw_text_put_csv, qw_text_put_tsv, qw_text_put_json };
    const char *const expected[] = { csv, tsv, json };

    for (guint i = 0; i < G_N_ELEMENTS(puts); i++) {
        g_autoptr(GString) out = g_string_new("x");

        puts[i](out, value);
        g_assert_cmpmem(out->str + 1, out->len - 1, expected[i], strlen(expected[i]));
    }
}

static void
test_values(void)
{
    assert_value(&null_value, "", "\\N", "null");
    assert_value(&(QwValue) INTEGER(INT64_MIN), "-9223372036854775808", "-9223372036854775808", "-9223372036854775808");
    assert_value(&(QwValue) FLOAT(1), "1.0", "1.0", "1.0");
    assert_value(&(QwValue) FLOAT(-INFINITY), "-9e999", "-9e999", "-9e999");
    assert_value(&(QwValue) FLOAT(-0.0), "-0.0", "-0.0", "-0.0");
    assert_value(&(QwValue) FLOAT(1e300), "1e+300", "1e+300", "1e+300");
    assert_value(&(QwValue) FLOAT(5e-324), "5e-324", "5e-324", "5e-324");
    assert_value(&(QwValue) BLOB(""), "X''", "\\x", "{\"base64\":\"\"}");
    assert_value(&(QwValue) BLOB("\0\xff"), "X'00ff'", "\\x00ff", "{\"base64\":\"AP8=\"}");
}

static void
test_texts(void)
{
    assert_value(&(QwValue) TEXT(""), "\"\"", "", "\"\"");
    assert_value(&(QwValue) TEXT("plain"), "plain", "plain", "\"plain\"");
    assert_value(&(QwValue) TEXT("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"");
    assert_value(&(QwValue) TEXT("a,b"), "\"a,b\"", "a,b", "\"a,b\"");
    assert_value(&(QwValue) TEXT("say \"x\""), "\"say \"\"x\"\"\"", "say \"x\"", "\"say \\\"x\\\"\"");
    assert_value(&(QwValue) TEXT("\"x"), "\"\"\"x\"", "\"\"\"x\"", "\"\\\"x\"");
    assert_value(&(QwValue) TEXT("1\r\n\t\\"), "\"1\r\n\t\\\"", "1\\r\\n\\t\\\\", "\"1\\r\\n\\t\\\\\"");
    assert_value(&(QwValue) TEXT("\v\x1f"), "\v\x1f", "\v\x1f", "\"\\u000b\\u001f\"");
    /* They would be read as something else. */
    assert_value(&(QwValue) TEXT("7"), "\"7\"", "\"7\"", "\"7\"");
    assert_value(&(QwValue) TEXT("-1.5"), "\"-1.5\"", "\"-1.5\"", "\"-1.5\"");
    assert_value(&(QwValue) TEXT("1e+300"), "\"1e+300\"", "\"1e+300\"", "\"1e+300\"");
    assert_value(&(QwValue) TEXT("007"), "007", "007", "\"007\"");
    assert_value(&(QwValue) TEXT("\\N"), "\\N", "\\\\N", "\"\\\\N\"");
    assert_value(&(QwValue) TEXT("X'00'"), "\"X'00'\"", "X'00'", "\"X'00'\"");
    assert_value(&(QwValue) TEXT(" x"), "\" x\"", " x", "\" x\"");
    assert_value(&(QwValue) TEXT("\xef\xbb\xbfx"), "\"\xef\xbb\xbfx\"", "\"\xef\xbb\xbfx\"", "\"\xef\xbb\xbfx\"");
    /* Not UTF-8, or with a NUL. */
    assert_value(&(QwValue) TEXT("a\0b"), "CAST(X'610062' AS TEXT)", "a\\000b", "\"a\\u0000b\"");
    assert_value(&(QwValue) TEXT("a\xff"), "CAST(X'61ff' AS TEXT)", "a\\377", "{\"text_base64\":\"Yf8=\"}");
}

static void
test_terms(void)
{
    assert_value(&(QwValue) BYTES(QW_TYPE_IRI, "http://x/"), "http://x/", "http://x/", "\"http://x/\"");
    assert_value(&(QwValue) BYTES(QW_TYPE_BNODE, "b0"), "_:b0", "_:b0", "\"_:b0\"");
    assert_value(&(QwValue) TERM(QW_TYPE_LITERAL_LANG, "hi", "en"), "hi", "hi", "{\"value\":\"hi\",\"language\":\"en\"}");
    assert_value(&(QwValue) TERM(QW_TYPE_LITERAL_TYPED, "x", "http://t"), "x", "x", "{\"value\":\"x\",\"datatype\":\"http://t\"}");
}

static void
assert_name(const char *name, const char *csv, const char *tsv)
{
    g_autoptr(GString) out = g_string_new(NULL);

    qw_text_put_csv_name(out, name);
    g_assert_cmpmem(out->str, out->len, csv, strlen(csv));
    out->len = 0;
    qw_text_put_tsv_name(out, name);
    g_assert_cmpmem(out->str, out->len, tsv, strlen(tsv));
}

static void
test_names(void)
{
    assert_name("id", "id", "id");
    assert_name("", "\"\"", "\"\"");
    assert_name("a,b\tc", "\"a,b\tc\"", "a,b\\tc");
    assert_name("1", "\"1\"", "\"1\"");
    assert_name("a\xff", "a\xef\xbf\xbd", "a\xef\xbf\xbd");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/text/text-value/values", test_values);
    g_test_add_func("/text/text-value/texts", test_texts);
    g_test_add_func("/text/text-value/terms", test_terms);
    g_test_add_func("/text/text-value/names", test_names);
    return g_test_run();
}
