/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tokens of Turtle and SPARQL, whole and fed byte by byte; errors with their places.
 */
#include "daemon/rdfio/lexer.h"

#include <string.h>

#include "daemon/base/error.h"

typedef struct Feed {
    const char *text;
    gsize n_bytes;
    gsize step;
} Feed;

static gssize
feed(char *buffer, gsize n_bytes, gpointer data, GError **error)
{
    Feed *self = data;
    gsize n = MIN(MIN(n_bytes, self->step), self->n_bytes);

    memcpy(buffer, self->text, n);
    self->text += n;
    self->n_bytes -= n;
    return (gssize) n;
}

/* "kind:text[:local] …"; punctuation as itself; an error as "!message". */
static char *
list_tokens(QdLexer *lexer)
{
    static const char *const names[] = { "iri", "ns",   "ln", "bnode", "lang", "var", "int", "dec", "dbl",
                                         "str", "word", "^^", "!=",    "<=",   ">=",  "&&",  "||" };
    g_autoptr(GString) out = g_string_new(NULL);

    for (;;) {
        g_autoptr(GError) error = NULL;
        QdToken token;

        if (out->len > 0)
            g_string_append_c(out, ' ');
        if (!qd_lexer_next(lexer, &token, &error)) {
            g_string_append_printf(out, "!%s", error->message);
            break;
        }
        if (token.kind == QD_TOKEN_END) {
            g_string_truncate(out, out->len > 0 ? out->len - 1 : 0);
            break;
        }
        if (token.kind < 256) {
            g_string_append_c(out, (char) token.kind);
            continue;
        }
        g_string_append(out, names[token.kind - 256]);
        if (token.kind < QD_TOKEN_DATATYPE)
            g_string_append_printf(out, ":%.*s", (int) token.n_text, token.text);
        if (token.n_local > 0)
            g_string_append_printf(out, ":%.*s", (int) token.n_local, token.local);
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

static void
check(QdLexerMode mode, const char *text, const char *expected)
{
    g_autoptr(QdLexer) whole = qd_lexer_new_for_text(mode, text, strlen(text));
    g_autofree char *got = list_tokens(whole);

    g_assert_cmpstr(got, ==, expected);
    for (gsize step = 1; mode == QD_LEXER_TURTLE && step < 6; step++) {
        g_autofree char *streamed = NULL;
        g_autoptr(QdLexer) stream = NULL;
        Feed source = { text, strlen(text), step };
        QdLimits limits;

        qd_limits_init(&limits);
        stream = qd_lexer_new_for_stream(mode, feed, &source, &limits);
        streamed = list_tokens(stream);
        g_assert_cmpstr(streamed, ==, expected);
    }
}

static void
test_turtle(void)
{
    check(QD_LEXER_TURTLE, "@prefix : <http://e/> .# c\n:a a _:b.c. , x:y.z;",
          "lang:prefix ns: iri:http://e/ . ln::a word:a bnode:b.c . , ln:x:y.z ;");
    check(QD_LEXER_TURTLE, "1 -1.5 +.5e3 1. 1.e2 2E-1 .", "int:1 dec:-1.5 dbl:+.5e3 int:1 . dbl:1.e2 dbl:2E-1 .");
    check(QD_LEXER_TURTLE, "\"a\\n\\u00e9\" 'b' \"\"\"c\"\"d\"\"\" '' ''''''", "str:a\n\xc3\xa9 str:b str:c\"\"d str: str:");
    check(QD_LEXER_TURTLE, "\"x\"@en-GB \"y\"^^x:i", "str:x lang:en-GB str:y ^^ ln:x:i");
    check(QD_LEXER_TURTLE, "x:a\\-b%20c\\. p:1:2 a.b:c \xc3\xa9:\xc3\xa8", "ln:x:a-b%20c. ln:p:1:2 ln:a.b:c ln:\xc3\xa9:\xc3\xa8");
    check(QD_LEXER_TURTLE, "true.false.GRAPH{}", "word:true . word:false . word:GRAPH { }");
    check(QD_LEXER_TURTLE, "<a\\u00E9b> [ ] ( )",
          "iri:a\xc3\xa9"
          "b [ ] ( )");
}

static void
test_turtle_errors(void)
{
    check(QD_LEXER_TURTLE, "\n\xc3\xa9: <a b>", "ns:\xc3\xa9 !2:6: unexpected character U+0020");
    check(QD_LEXER_TURTLE, "<a\\u0020b>", "!1:3: an escape for a character that an IRI must not have");
    check(QD_LEXER_TURTLE, "<a\\u003Cb>", "!1:3: an escape for a character that an IRI must not have");
    check(QD_LEXER_TURTLE, "<abc", "!1:1: an IRI without its '>'");
    check(QD_LEXER_TURTLE, "\"a\nb\"", "!1:1: a string without its closing quote");
    check(QD_LEXER_TURTLE, "\"\"\"a\"\"", "!1:1: a string without its closing quote");
    check(QD_LEXER_TURTLE, "\"a\\", "!1:1: a string without its closing quote");
    check(QD_LEXER_TURTLE, "\"a\\q\"", "!1:3: a backslash that begins no escape");
    check(QD_LEXER_TURTLE, "\"\\ud800\"", "!1:2: an escape without the hexadecimal digits of a character");
    check(QD_LEXER_TURTLE, "\"\\u12\"", "!1:2: an escape without the hexadecimal digits of a character");
    check(QD_LEXER_TURTLE, "x:%2", "!1:3: a '%' in a name without two hexadecimal digits");
    check(QD_LEXER_TURTLE, "\"\xc3\"", "!1:2: the text is no UTF-8");
    check(QD_LEXER_TURTLE, "@1", "!1:2: unexpected character '1'");
    check(QD_LEXER_TURTLE, "_:-a", "!1:3: unexpected character '-'");
}

static void
test_sparql(void)
{
    check(QD_LEXER_SPARQL, "SELECT?x $y{?x<1&&?y<=2}", "word:SELECT var:x var:y { var:x < int:1 && var:y <= int:2 }");
    check(QD_LEXER_SPARQL, "?x<?a&&?b>?y", "var:x iri:?a&&?b var:y");
    check(QD_LEXER_SPARQL, ":p?/^:q*|!a+", "ln::p ? / ^ ln::q * | ! word:a +");
    check(QD_LEXER_SPARQL, "?x+1 -?y != ! || >= ^^", "var:x int:+1 - var:y != ! || >= ^^");
    check(QD_LEXER_SPARQL, "a-a-a true-false", "word:a - word:a - word:a word:true - word:false");
    check(QD_LEXER_SPARQL, "\\u0053ELECT \"\\u0041\\n\\\\u0041\"", "word:SELECT str:A\n\\u0041");
    check(QD_LEXER_SPARQL, "?x-?y ?x\xc2\xb7", "var:x - var:y var:x\xc2\xb7");
}

static void
test_sparql_errors(void)
{
    check(QD_LEXER_SPARQL, "a \\u00zz", "!1:3: '\\u' without the hexadecimal digits of a character");
    check(QD_LEXER_SPARQL, "\\u0061 \\u0062 &", "word:a word:b !1:15: unexpected character '&'");
    check(QD_LEXER_SPARQL, "a\n \xff", "!2:2: the text is no UTF-8");
    check(QD_LEXER_SPARQL, "<a b>", "< word:a word:b >");
    check(QD_LEXER_SPARQL, "\"\\ud800\"", "!1:2: '\\u' without the hexadecimal digits of a character");
}

static void
test_limit(void)
{
    g_autofree char *text = g_strnfill(3 << 20, 'a');
    Feed source = { text, 3 << 20, 65536 };
    g_autoptr(QdLexer) lexer = NULL;
    g_autoptr(GError) error = NULL;
    QdLimits limits;
    QdToken token;

    qd_limits_init(&limits);
    limits.values[QD_LIMIT_VALUE_BYTES] = 1 << 20;
    text[0] = '"';
    lexer = qd_lexer_new_for_stream(QD_LEXER_TURTLE, feed, &source, &limits);
    g_assert_false(qd_lexer_next(lexer, &token, &error));
    g_assert_error(error, QD_ERROR, QW_ERROR_TOO_BIG);
    g_assert_cmpstr(error->message, ==, "1:1: a token is too long: the limit 'value_bytes' is 1048576 bytes");
}

static void
test_long_stream(void)
{
    g_autoptr(GString) text = g_string_new("\xef\xbb\xbf");
    g_autoptr(QdLexer) lexer = NULL;
    g_autoptr(GError) error = NULL;
    guint line, column;
    QdLimits limits;
    QdToken token;
    Feed source;

    for (guint i = 0; i < 100000; i++)
        g_string_append_printf(text, "<http://example.org/%u> # comment\n", i);
    source = (Feed){ text->str, text->len, 40000 };
    qd_limits_init(&limits);
    lexer = qd_lexer_new_for_stream(QD_LEXER_TURTLE, feed, &source, &limits);
    for (guint i = 0; i < 100000; i++) {
        g_autofree char *expected = g_strdup_printf("http://example.org/%u", i);

        g_assert_true(qd_lexer_next(lexer, &token, &error));
        g_assert_cmpmem(token.text, token.n_text, expected, strlen(expected));
    }
    qd_lexer_get_place(lexer, token.offset, &line, &column);
    g_assert_cmpuint(line, ==, 100000);
    g_assert_cmpuint(column, ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rdfio/lexer/turtle", test_turtle);
    g_test_add_func("/rdfio/lexer/turtle-errors", test_turtle_errors);
    g_test_add_func("/rdfio/lexer/sparql", test_sparql);
    g_test_add_func("/rdfio/lexer/sparql-errors", test_sparql_errors);
    g_test_add_func("/rdfio/lexer/limit", test_limit);
    g_test_add_func("/rdfio/lexer/long-stream", test_long_stream);
    return g_test_run();
}
