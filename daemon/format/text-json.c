/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recursive-descent parser of one row.
 *
 * Objects of one of four shapes stand for values that JSON has no word for (docs/formats.md). Any other object or array is
 * taken as its JSON text, as SQLite's JSON functions expect it.
 */
#include "daemon/format/text-json.h"

#include <string.h>

#include "client-lib/text/text-utf8.h"

typedef struct Parser {
    const char *start;
    const char *p;
    const char *end;
    guint depth_left;
    guint max_columns;
    GPtrArray *names;
    bool may_add;
    QdTextRow *row;
    QdTextJsonError *error;
} Parser;

static bool fail(Parser *parser, const char *at, QwError code, const char *format, ...) G_GNUC_PRINTF(4, 5);

static bool
fail(Parser *parser, const char *at, QwError code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    *parser->error = (QdTextJsonError){ code, (size_t) (at - parser->start), g_strdup_vprintf(format, args) };
    va_end(args);
    return false;
}

static bool
fail_expected(Parser *parser, const char *what)
{
    if (parser->p >= parser->end)
        return fail(parser, parser->end, QW_ERROR_SYNTAX, "unexpected end of the row, expected %s", what);

    return fail(parser, parser->p, QW_ERROR_SYNTAX, "expected %s", what);
}

static void
skip_space(Parser *parser)
{
    while (parser->p < parser->end && strchr(" \t\n\r", *parser->p) != NULL && *parser->p != 0)
        parser->p++;
}

static bool
take(Parser *parser, char c)
{
    skip_space(parser);
    if (parser->p >= parser->end || *parser->p != c)
        return false;

    parser->p++;
    return true;
}

/* Strings ------------------------------------------------------------------------------------------------------------- */

static bool
parse_hex4(Parser *parser, gunichar *ret_code)
{
    gunichar code = 0;

    for (guint i = 0; i < 4; i++) {
        if (parser->p >= parser->end || !g_ascii_isxdigit(*parser->p))
            return fail_expected(parser, "four hex digits");
        code = code << 4 | (gunichar) g_ascii_xdigit_value(*parser->p++);
    }

    *ret_code = code;
    return true;
}

/* After the backslash and "u". */
static bool
parse_unicode_escape(Parser *parser, GString *out)
{
    const char *at = parser->p - 2;
    gunichar code = 0;
    gunichar low = 0;

    if (!parse_hex4(parser, &code))
        return false;
    if (code >= 0xd800 && code <= 0xdbff && parser->end - parser->p >= 2 && parser->p[0] == '\\' && parser->p[1] == 'u') {
        parser->p += 2;
        if (!parse_hex4(parser, &low))
            return false;
        if (low < 0xdc00 || low > 0xdfff)
            return fail(parser, at, QW_ERROR_SYNTAX, "half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (code >= 0xd800 && code <= 0xdfff)
        return fail(parser, at, QW_ERROR_SYNTAX, "half of a surrogate pair");

    if (code == 0)
        g_string_append_c(out, '\0');
    else
        g_string_append_unichar(out, code);
    return true;
}

static bool
parse_escape(Parser *parser, GString *out)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    const char *letter = NULL;

    parser->p++;
    if (parser->p >= parser->end)
        return fail_expected(parser, "an escape");
    if (*parser->p == 'u') {
        parser->p++;
        return parse_unicode_escape(parser, out);
    }
    letter = memchr(letters, *parser->p, sizeof letters - 1);
    if (letter == NULL)
        return fail(parser, parser->p - 1, QW_ERROR_SYNTAX, "unknown escape");
    g_string_append_c(out, meanings[letter - letters]);
    parser->p++;
    return true;
}

/* Appends the decoded string to @out. */
static bool
parse_string(Parser *parser, GString *out)
{
    const char *opening = NULL;
    const char *start = NULL;

    skip_space(parser);
    opening = parser->p;
    if (parser->p >= parser->end || *parser->p != '"')
        return fail_expected(parser, "a string");

    parser->p++;
    for (;;) {
        start = parser->p;
        while (parser->p < parser->end && *parser->p != '"' && *parser->p != '\\' && (unsigned char) *parser->p >= 0x20)
            parser->p++;
        g_string_append_len(out, start, parser->p - start);
        if (parser->p >= parser->end)
            return fail(parser, opening, QW_ERROR_SYNTAX, "string is not closed");
        if (*parser->p == '"') {
            parser->p++;
            return true;
        }
        if (*parser->p != '\\' && *parser->p == '\n')
            return fail(parser, opening, QW_ERROR_SYNTAX, "string is not closed");
        if (*parser->p != '\\')
            return fail(parser, parser->p, QW_ERROR_SYNTAX, "control character in a string");
        if (!parse_escape(parser, out))
            return false;
    }
}

/* Values -------------------------------------------------------------------------------------------------------------- */

static bool
parse_number(Parser *parser, QwValue *ret)
{
    const char *start = parser->p;
    const char *p = start;
    char *end = NULL;
    bool integer = true;

    if (*p == '-')
        p++;
    if (!g_ascii_isdigit(*p) || (*p == '0' && g_ascii_isdigit(p[1])))
        return fail_expected(parser, "a number");
    while (g_ascii_isdigit(*p))
        p++;
    if (*p == '.') {
        integer = false;
        if (!g_ascii_isdigit(*++p))
            return fail(parser, p, QW_ERROR_SYNTAX, "expected a digit");
        while (g_ascii_isdigit(*p))
            p++;
    }
    if (*p == 'e' || *p == 'E') {
        integer = false;
        p++;
        if (*p == '+' || *p == '-')
            p++;
        if (!g_ascii_isdigit(*p))
            return fail(parser, p, QW_ERROR_SYNTAX, "expected a digit");
        while (g_ascii_isdigit(*p))
            p++;
    }
    parser->p = p;

    if (integer && !(start[0] == '-' && start[1] == '0')) {
        errno = 0;
        *ret = (QwValue){ .type = QW_TYPE_INTEGER, .integer = g_ascii_strtoll(start, &end, 10) };
        if (errno == 0)
            return true;
    }
    *ret = (QwValue){ .type = QW_TYPE_FLOAT, .real = g_ascii_strtod(start, &end) };
    return true;
}

static bool
parse_word(Parser *parser, QwValue *ret)
{
    static const struct {
        const char *word;
        QwValue value;
    } words[] = {
        { "null", { .type = QW_TYPE_NULL } },
        { "true", { .type = QW_TYPE_INTEGER, .integer = 1 } },
        { "false", { .type = QW_TYPE_INTEGER, .integer = 0 } },
    };

    for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
        size_t n = strlen(words[i].word);

        if ((size_t) (parser->end - parser->p) >= n && memcmp(parser->p, words[i].word, n) == 0) {
            parser->p += n;
            *ret = words[i].value;
            return true;
        }
    }

    return fail_expected(parser, "a value");
}

/* Passes over any value, checking it. The scratch bytes of strings are dropped at once. */
static bool
skip_value(Parser *parser)
{
    size_t mark = parser->row->bytes->len;
    QwValue ignored;
    char closing = 0;
    bool ok = true;

    skip_space(parser);
    if (parser->p >= parser->end)
        return fail_expected(parser, "a value");
    if (*parser->p == '"') {
        ok = parse_string(parser, parser->row->bytes);
        g_string_truncate(parser->row->bytes, mark);
        return ok;
    }
    if (*parser->p == '-' || g_ascii_isdigit(*parser->p))
        return parse_number(parser, &ignored);
    if (*parser->p != '{' && *parser->p != '[')
        return parse_word(parser, &ignored);

    if (parser->depth_left == 0)
        return fail(parser, parser->p, QW_ERROR_TOO_COMPLEX, "too many levels of objects and arrays");
    parser->depth_left--;
    closing = *parser->p++ == '{' ? '}' : ']';
    if (!take(parser, closing)) {
        do {
            ok = closing == ']' || parse_string(parser, parser->row->bytes);
            g_string_truncate(parser->row->bytes, mark);
            if (ok && closing == '}' && !take(parser, ':'))
                ok = fail_expected(parser, "':'");
            if (!ok || !skip_value(parser))
                return false;
        } while (take(parser, ','));
        if (!take(parser, closing))
            return fail_expected(parser, closing == '}' ? "',' or '}'" : "',' or ']'");
    }
    parser->depth_left++;
    return true;
}

/* Strict, unlike g_base64_decode(): nothing is skipped. In place. */
static bool
decode_base64(GString *bytes, size_t start)
{
    char *text = bytes->str + start;
    size_t n = bytes->len - start;
    size_t n_data = n;
    gint state = 0;
    guint save = 0;

    while (n_data > 0 && n - n_data < 2 && text[n_data - 1] == '=')
        n_data--;
    if (n % 4 != 0 || (n > 0 && n_data % 4 == 1))
        return false;
    for (size_t i = 0; i < n_data; i++) {
        if (!g_ascii_isalnum(text[i]) && text[i] != '+' && text[i] != '/')
            return false;
    }

    if (n > 0)
        n = g_base64_decode_step(text, n, (guchar *) text, &state, &save);
    g_string_truncate(bytes, start + n);
    return true;
}

/* {"value": "…", "datatype"|"language": "…"}, after the first string. */
static bool
parse_literal_rest(Parser *parser, QwValue *value, size_t start)
{
    GString *bytes = parser->row->bytes;
    size_t tag_start = 0;
    QwType type = QW_TYPE_LITERAL_TYPED;

    qd_text_row_set_bytes(parser->row, value, QW_TYPE_TEXT, start);
    tag_start = bytes->len;
    if (!take(parser, ',') || !parse_string(parser, bytes))
        return false;
    if (g_str_equal(bytes->str + tag_start, "language"))
        type = QW_TYPE_LITERAL_LANG;
    else if (!g_str_equal(bytes->str + tag_start, "datatype"))
        return false;
    g_string_truncate(bytes, tag_start);
    if (!take(parser, ':') || !parse_string(parser, bytes) || !take(parser, '}'))
        return false;
    if (memchr(bytes->str + tag_start, 0, bytes->len - tag_start) != NULL)
        return false;

    value->type = type;
    value->tag = (const char *) (uintptr_t) tag_start;
    value->n_tag_bytes = (uint32_t) (bytes->len - tag_start);
    g_string_append_c(bytes, '\0');
    return true;
}

/* An object that stands for a value. False: it is another object, and @parser's place is undefined. */
static bool
parse_marked(Parser *parser, QwValue *value)
{
    GString *bytes = parser->row->bytes;
    size_t start = bytes->len;
    bool blob = false;
    bool text = false;
    bool literal = false;

    parser->p++;
    if (!parse_string(parser, bytes))
        return false;
    blob = g_str_equal(bytes->str + start, "base64");
    text = g_str_equal(bytes->str + start, "text_base64");
    literal = g_str_equal(bytes->str + start, "value");
    g_string_truncate(bytes, start);
    if ((!blob && !text && !literal) || !take(parser, ':') || !parse_string(parser, bytes))
        return false;
    if (literal)
        return parse_literal_rest(parser, value, start);
    if (!take(parser, '}') || !decode_base64(bytes, start))
        return false;

    qd_text_row_set_bytes(parser->row, value, blob ? QW_TYPE_BLOB : QW_TYPE_TEXT, start);
    return true;
}

static bool
parse_nested(Parser *parser, QwValue *value)
{
    const char *start = parser->p;
    size_t mark = parser->row->bytes->len;
    bool marked = *start == '{' && parse_marked(parser, value);

    if (marked)
        return true;

    g_clear_pointer(&parser->error->message, g_free);
    g_string_truncate(parser->row->bytes, mark);
    parser->p = start;
    if (!skip_value(parser))
        return false;
    g_string_append_len(parser->row->bytes, start, parser->p - start);
    qd_text_row_set_bytes(parser->row, value, QW_TYPE_TEXT, mark);
    return true;
}

static bool
parse_value(Parser *parser, QwValue *value)
{
    size_t start = parser->row->bytes->len;

    skip_space(parser);
    if (parser->p >= parser->end)
        return fail_expected(parser, "a value");
    if (*parser->p == '{' || *parser->p == '[')
        return parse_nested(parser, value);
    if (*parser->p == '-' || g_ascii_isdigit(*parser->p))
        return parse_number(parser, value);
    if (*parser->p != '"')
        return parse_word(parser, value);
    if (!parse_string(parser, parser->row->bytes))
        return false;

    qd_text_row_set_bytes(parser->row, value, QW_TYPE_TEXT, start);
    return true;
}

/* Rows ---------------------------------------------------------------------------------------------------------------- */

/* Objects mostly have their keys in one order: @guess is looked at first. */
static bool
find_column(Parser *parser, const char *at, const char *key, guint guess, guint *ret_column)
{
    GPtrArray *names = parser->names;

    if (guess < names->len && g_str_equal(names->pdata[guess], key)) {
        *ret_column = guess;
        return true;
    }
    if (g_ptr_array_find_with_equal_func(names, key, g_str_equal, ret_column))
        return true;
    if (!parser->may_add)
        return fail(parser, at, QW_ERROR_SYNTAX, "there is no column \"%s\"", key);
    if (names->len >= parser->max_columns)
        return fail(parser, at, QW_ERROR_TOO_COMPLEX, "more than %u columns", parser->max_columns);

    g_ptr_array_add(names, g_strdup(key));
    g_array_set_size(parser->row->values, names->len);
    *ret_column = names->len - 1;
    return true;
}

static bool
parse_member(Parser *parser, GArray *seen, guint *guess)
{
    GString *bytes = parser->row->bytes;
    size_t mark = bytes->len;
    const char *at = NULL;
    QwValue value = { .type = QW_TYPE_NULL };
    guint column = 0;

    skip_space(parser);
    at = parser->p;
    if (!parse_string(parser, bytes))
        return false;
    if (memchr(bytes->str + mark, 0, bytes->len - mark) != NULL)
        return fail(parser, at, QW_ERROR_SYNTAX, "NUL in a name");
    if (!find_column(parser, at, bytes->str + mark, *guess, &column))
        return false;
    g_string_truncate(bytes, mark);
    if (seen->len < parser->names->len)
        g_array_set_size(seen, parser->names->len);
    if (g_array_index(seen, guint8, column))
        return fail(parser, at, QW_ERROR_SYNTAX, "a second \"%s\" in one object", (const char *) parser->names->pdata[column]);
    g_array_index(seen, guint8, column) = 1;
    if (!take(parser, ':'))
        return fail_expected(parser, "':'");
    if (!parse_value(parser, &value))
        return false;

    g_array_index(parser->row->values, QwValue, column) = value;
    *guess = column + 1;
    return true;
}

static bool
parse_object(Parser *parser)
{
    g_autoptr(GArray) seen = g_array_new(FALSE, TRUE, 1);
    guint guess = 0;

    g_array_set_size(parser->row->values, parser->names->len);
    if (take(parser, '}'))
        return true;
    do {
        if (!parse_member(parser, seen, &guess))
            return false;
    } while (take(parser, ','));
    if (!take(parser, '}'))
        return fail_expected(parser, "',' or '}'");
    return true;
}

static bool
parse_array(Parser *parser)
{
    QwValue value = { .type = QW_TYPE_NULL };

    if (take(parser, ']'))
        return true;
    do {
        if (parser->row->values->len >= parser->max_columns)
            return fail(parser, parser->p, QW_ERROR_TOO_COMPLEX, "more than %u columns", parser->max_columns);
        if (!parse_value(parser, &value))
            return false;
        g_array_append_val(parser->row->values, value);
    } while (take(parser, ','));
    if (!take(parser, ']'))
        return fail_expected(parser, "',' or ']'");
    return true;
}

bool
qd_text_json_parse_row(const QdTextJsonRow *source, GPtrArray *names, QdTextRow *row, QdTextJsonError *ret_error)
{
    Parser parser = { .start = source->text,
                      .p = source->text,
                      .end = source->text + source->n_bytes,
                      .depth_left = source->max_depth - 1,
                      .max_columns = source->max_columns,
                      .names = names,
                      .may_add = source->may_add,
                      .row = row,
                      .error = ret_error };
    size_t good = qw_text_span_utf8(source->text, source->n_bytes);
    bool ok = true;

    ret_error->message = NULL;
    if (good < source->n_bytes)
        return fail(&parser, source->text + good, QW_ERROR_SYNTAX, "the text is not UTF-8");

    ok = take(&parser, '{') ? parse_object(&parser) : take(&parser, '[') && parse_array(&parser);
    if (!ok)
        return ret_error->message != NULL ? false : fail_expected(&parser, "an object or an array");
    skip_space(&parser);
    if (parser.p < parser.end)
        return fail_expected(&parser, "the end of the row");
    return true;
}
