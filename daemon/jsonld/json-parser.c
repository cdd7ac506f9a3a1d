/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One buffer, refilled when it is used up; what is read of a string is copied from it in runs.
 */
#include "daemon/jsonld/json-parser.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/rdf/code-point.h"

#define BUFFER_BYTES (64 * 1024)
#define FEW_MEMBERS 16 /* compared in pairs */

struct QdJsonParser {
    QdRdfReadFunc read_func;
    gpointer data;
    const QdLimits *limits;
    char *buffer;
    gsize n;
    gsize pos;
    gboolean at_end;
    guint line;
    gint64 line_start; /* the position of the line's first byte; less than 0 when the buffer has moved on; in code points */
    guint depth;
    GString *text;
};

static gboolean fail(const QdJsonParser *self, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

static gboolean
fail(const QdJsonParser *self, GError **error, const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list args;
    guint line;
    guint column;

    qd_json_parser_get_place(self, &line, &column);
    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    qd_error_set(error, QW_ERROR_SYNTAX, "%u:%u: %s", line, column, message);
    return FALSE;
}

static gboolean
fail_limit(const QdJsonParser *self, QdLimit limit, const char *what, GError **error)
{
    guint line;
    guint column;

    qd_json_parser_get_place(self, &line, &column);
    qd_limit_set_error(error, self->limits, limit, "%u:%u: %s", line, column, what);
    return FALSE;
}

/* Input ----------------------------------------------------------------------------------------------------------------- */

/* FALSE with an error, or without one at the end. */
static gboolean
refill(QdJsonParser *self, GError **error)
{
    gssize n;

    if (self->at_end)
        return FALSE;
    self->line_start -= (gint64) self->pos;
    self->pos = 0;
    self->n = 0;
    n = self->read_func(self->buffer, BUFFER_BYTES, self->data, error);
    self->at_end = n <= 0;
    self->n = n > 0 ? (gsize) n : 0;
    return n > 0;
}

/* The next byte, which is not taken; -1 at the end, -2 with an error. */
static int
peek_byte(QdJsonParser *self, GError **error)
{
    GError *local_error = NULL;

    if (self->pos == self->n && !refill(self, &local_error)) {
        if (local_error == NULL)
            return -1;
        g_propagate_error(error, local_error);
        return -2;
    }
    return (guchar) self->buffer[self->pos];
}

static gboolean
skip_byte_order_mark(QdJsonParser *self, GError **error)
{
    static const guchar mark[] = { 0xef, 0xbb, 0xbf };
    int c = peek_byte(self, error);

    for (guint i = 0; i < G_N_ELEMENTS(mark) && (i > 0 || c == mark[0]); i++, c = peek_byte(self, error)) {
        if (c == -2)
            return FALSE;
        if (c != mark[i])
            return fail(self, error, "no JSON");
        self->pos++;
        self->line_start++;
    }
    return c != -2;
}

gboolean
qd_json_parser_peek(QdJsonParser *self, int *ret_character, GError **error)
{
    for (;;) {
        int c;

        if (self->line == 0) {
            self->line = 1;
            if (!skip_byte_order_mark(self, error))
                return FALSE;
        }
        c = peek_byte(self, error);
        if (c == -2)
            return FALSE;
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
            *ret_character = c;
            return TRUE;
        }
        self->pos++;
        if (c == '\n') {
            self->line++;
            self->line_start = (gint64) self->pos;
        }
    }
}

void
qd_json_parser_get_place(const QdJsonParser *self, guint *ret_line, guint *ret_column)
{
    *ret_line = MAX(self->line, 1);
    *ret_column = (guint) CLAMP((gint64) self->pos - self->line_start + 1, 1, G_MAXUINT);
}

gboolean
qd_json_parser_expect(QdJsonParser *self, char character, GError **error)
{
    int c;

    if (!qd_json_parser_peek(self, &c, error))
        return FALSE;
    if (c == (guchar) character) {
        self->pos++;
        return TRUE;
    }
    if (c < 0)
        return fail(self, error, "unexpected end of the document, expected '%c'", character);
    if (c < ' ' || c > '~')
        return fail(self, error, "unexpected byte 0x%02x, expected '%c'", (guint) c, character);
    return fail(self, error, "unexpected '%c', expected '%c'", c, character);
}

gboolean
qd_json_parser_next(QdJsonParser *self, char close, gboolean *ret_is_end, GError **error)
{
    int c;

    if (!qd_json_parser_peek(self, &c, error))
        return FALSE;
    *ret_is_end = c != ',';
    return qd_json_parser_expect(self, c == ',' ? ',' : close, error);
}

gboolean
qd_json_parser_end(QdJsonParser *self, GError **error)
{
    int c;

    return qd_json_parser_peek(self, &c, error) && (c == -1 || fail(self, error, "something follows the document's one value"));
}

/* Texts ----------------------------------------------------------------------------------------------------------------- */

static gboolean
read_hex(QdJsonParser *self, gunichar *ret, GError **error)
{
    gunichar value = 0;

    for (guint i = 0; i < 4; i++) {
        int c = peek_byte(self, error);

        if (c == -2)
            return FALSE;
        if (c < 0 || !g_ascii_isxdigit(c))
            return fail(self, error, "\\u takes four hexadecimal digits");
        value = value * 16 + (guint) g_ascii_xdigit_value((char) c);
        self->pos++;
    }
    *ret = value;
    return TRUE;
}

static gboolean
read_unicode(QdJsonParser *self, GError **error)
{
    gunichar high;
    gunichar low;

    if (!read_hex(self, &high, error))
        return FALSE;
    if (high >= 0xd800 && high < 0xdc00) {
        int c = peek_byte(self, error);

        if (c == -2)
            return FALSE;
        self->pos += c == '\\' ? 1 : 0;
        if (c != '\\' || (c = peek_byte(self, error)) != 'u')
            return c != -2 && fail(self, error, "half of a surrogate pair");
        self->pos++;
        if (!read_hex(self, &low, error))
            return FALSE;
        if (low < 0xdc00 || low > 0xdfff)
            return fail(self, error, "half of a surrogate pair");
        high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    } else if (high >= 0xdc00 && high <= 0xdfff) {
        return fail(self, error, "half of a surrogate pair");
    }
    if (high == 0)
        g_string_append_c(self->text, '\0');
    else
        g_string_append_unichar(self->text, high);
    return TRUE;
}

static gboolean
read_escape(QdJsonParser *self, GError **error)
{
    static const char names[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    int c;
    const char *name;

    self->pos++;
    c = peek_byte(self, error);
    if (c == -2)
        return FALSE;
    if (c == 'u') {
        self->pos++;
        return read_unicode(self, error);
    }
    name = c > 0 ? strchr(names, c) : NULL;
    if (name == NULL)
        return fail(self, error, "no escape of JSON");
    g_string_append_c(self->text, values[name - names]);
    self->pos++;
    return TRUE;
}

/* Bytes up to a quote, a backslash, a control character or the end of the buffer. */
static void
read_plain(QdJsonParser *self)
{
    gsize start = self->pos;
    gsize i = start;
    gint64 n_more = 0;

    for (; i < self->n; i++) {
        guchar c = (guchar) self->buffer[i];

        if (c == '"' || c == '\\' || c < ' ')
            break;
        n_more += (c & 0xc0) == 0x80 ? 1 : 0;
    }
    g_string_append_len(self->text, self->buffer + start, (gssize) (i - start));
    self->pos = i;
    self->line_start += n_more;
}

/* To @text, which is overwritten by the next one. */
static gboolean
read_string(QdJsonParser *self, GError **error)
{
    guint line;
    guint column;

    if (!qd_json_parser_expect(self, '"', error))
        return FALSE;
    qd_json_parser_get_place(self, &line, &column);
    g_string_truncate(self->text, 0);
    for (;;) {
        int c = peek_byte(self, error);

        if (c == -2)
            return FALSE;
        if (c == '"')
            break;
        if (c < 0)
            return fail(self, error, "unexpected end of the document in a string");
        if (c < ' ')
            return fail(self, error, "the control character U+%04X in a string", (guint) c);
        if (c == '\\' && !read_escape(self, error))
            return FALSE;
        if (c != '\\')
            read_plain(self);
        if (self->text->len > qd_limits_get(self->limits, QD_LIMIT_VALUE_BYTES))
            return fail_limit(self, QD_LIMIT_VALUE_BYTES, "string is too long", error);
    }
    self->pos++;
    if (qd_code_point_check(self->text->str, self->text->len, NULL))
        return TRUE;
    qd_error_set(error, QW_ERROR_SYNTAX, "%u:%u: bytes in the string that are not UTF-8", line, column);
    return FALSE;
}

gboolean
qd_json_parser_name(QdJsonParser *self, QdJsonArena *arena, const char **ret_name, GError **error)
{
    if (!read_string(self, error))
        return FALSE;
    if (memchr(self->text->str, '\0', self->text->len) != NULL)
        return fail(self, error, "the name of a member has the character U+0000");
    *ret_name = qd_json_arena_copy(arena, self->text->str, self->text->len);
    return qd_json_parser_expect(self, ':', error);
}

/* Values ---------------------------------------------------------------------------------------------------------------- */

static gboolean
is_number(const char *text)
{
    const char *p = text + (text[0] == '-' ? 1 : 0);
    gsize n_whole = strspn(p, "0123456789");

    if (n_whole == 0 || (p[0] == '0' && n_whole > 1))
        return FALSE;
    p += n_whole;
    if (*p == '.') {
        gsize n = strspn(p + 1, "0123456789");

        if (n == 0)
            return FALSE;
        p += 1 + n;
    }
    if (*p == 'e' || *p == 'E') {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        if (*p == '\0')
            return FALSE;
        p += strspn(p, "0123456789");
    }
    return *p == '\0';
}

/* A number, true, false or null. */
static gboolean
read_word(QdJsonParser *self, QdJsonArena *arena, QdJson *value, GError **error)
{
    QdJsonParser place = *self;
    int c;

    g_string_truncate(self->text, 0);
    while ((c = peek_byte(self, error)) >= 0 && (g_ascii_isalnum(c) || strchr("+-.", c) != NULL) && c != '\0') {
        g_string_append_c(self->text, (char) c);
        self->pos++;
        if (self->text->len > qd_limits_get(self->limits, QD_LIMIT_VALUE_BYTES))
            return fail_limit(self, QD_LIMIT_VALUE_BYTES, "number is too long", error);
    }
    if (c == -2)
        return FALSE;
    if (g_str_equal(self->text->str, "null")) {
        value->kind = QD_JSON_NULL;
    } else if (g_str_equal(self->text->str, "true")) {
        value->kind = QD_JSON_TRUE;
    } else if (g_str_equal(self->text->str, "false")) {
        value->kind = QD_JSON_FALSE;
    } else if (is_number(self->text->str)) {
        value->kind = QD_JSON_NUMBER;
        value->text = qd_json_arena_copy(arena, self->text->str, self->text->len);
        value->n_text = self->text->len;
    } else if (self->text->len > 0) {
        return fail(&place, error, "'%.40s' is no value of JSON", self->text->str);
    } else {
        return fail(self, error, c < 0 ? "unexpected end of the document, expected a value" : "expected a value");
    }
    return TRUE;
}

static gboolean
check_names(const QdJsonParser *self, const QdJson *object, guint n, GError **error)
{
    g_autoptr(GHashTable) names = n > FEW_MEMBERS ? g_hash_table_new(g_str_hash, g_str_equal) : NULL;

    for (const QdJson *member = object->first; member != NULL; member = member->next) {
        const QdJson *other = object->first;

        if (names != NULL) {
            if (!g_hash_table_add(names, (gpointer) member->name))
                other = NULL;
        } else {
            while (other != member && !g_str_equal(other->name, member->name))
                other = other->next;
            if (other == member)
                continue;
            other = NULL;
        }
        if (other == NULL) {
            qd_error_set(error, QW_ERROR_SYNTAX, "%u:%u: the member '%.100s' stands in its object twice", member->line,
                         member->column, member->name);
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
read_items(QdJsonParser *self, QdJsonArena *arena, QdJson *value, GError **error)
{
    gboolean is_object = value->kind == QD_JSON_OBJECT;
    char close = is_object ? '}' : ']';
    QdJson **end = &value->first;
    gboolean is_end;
    guint n = 0;
    int c;

    self->pos++;
    if (!qd_json_parser_peek(self, &c, error))
        return FALSE;
    is_end = c == close;
    self->pos += is_end ? 1 : 0;
    while (!is_end) {
        const char *name = NULL;

        if ((is_object && !qd_json_parser_name(self, arena, &name, error)) ||
            !qd_json_parser_value(self, arena, name, end, error) || !qd_json_parser_next(self, close, &is_end, error))
            return FALSE;
        end = &(*end)->next;
        n++;
    }
    return !is_object || check_names(self, value, n, error);
}

gboolean
qd_json_parser_value(QdJsonParser *self, QdJsonArena *arena, const char *name, QdJson **ret_value, GError **error)
{
    QdJson *value;
    gboolean ok;
    int c;

    if (!qd_json_parser_peek(self, &c, error))
        return FALSE;
    value = qd_json_arena_alloc(arena, sizeof *value);
    value->name = name;
    qd_json_parser_get_place(self, &value->line, &value->column);
    if (c == '{' || c == '[') {
        if (++self->depth > qd_limits_get(self->limits, QD_LIMIT_RDF_DEPTH))
            return fail_limit(self, QD_LIMIT_RDF_DEPTH, "nested too deep", error);
        value->kind = c == '{' ? QD_JSON_OBJECT : QD_JSON_ARRAY;
        ok = read_items(self, arena, value, error);
        self->depth--;
    } else if (c == '"') {
        value->kind = QD_JSON_STRING;
        ok = read_string(self, error);
        if (ok) {
            value->text = qd_json_arena_copy(arena, self->text->str, self->text->len);
            value->n_text = self->text->len;
        }
    } else {
        ok = read_word(self, arena, value, error);
    }
    if (!ok)
        return FALSE;
    *ret_value = value;
    if (qd_json_arena_check(arena, error))
        return TRUE;
    g_prefix_error(error, "%u:%u: ", value->line, value->column);
    return FALSE;
}

/* ----------------------------------------------------------------------------------------------------------------------- */

QdJsonParser *
qd_json_parser_new(QdRdfReadFunc read_func, gpointer data, const QdLimits *limits)
{
    QdJsonParser *self = g_new0(QdJsonParser, 1);

    self->read_func = read_func;
    self->data = data;
    self->limits = limits;
    self->buffer = g_malloc(BUFFER_BYTES);
    self->text = g_string_new(NULL);
    return self;
}

QdJsonParser *
qd_json_parser_free(QdJsonParser *self)
{
    if (self == NULL)
        return NULL;

    (void) g_string_free(self->text, TRUE);
    g_free(self->buffer);
    g_free(self);
    return NULL;
}

typedef struct Memory {
    const char *text;
    gsize n;
} Memory;

static gssize
read_memory(char *buffer, gsize n_bytes, gpointer data, GError **error)
{
    Memory *memory = data;
    gsize n = MIN(n_bytes, memory->n);

    if (n > 0)
        memcpy(buffer, memory->text, n);
    memory->text += n;
    memory->n -= n;
    return (gssize) n;
}

gboolean
qd_json_parse(const char *text, gsize n_bytes, QdJsonArena *arena, const QdLimits *limits, QdJson **ret_value, GError **error)
{
    Memory memory = { text, n_bytes };
    g_autoptr(QdJsonParser) parser = qd_json_parser_new(read_memory, &memory, limits);

    return qd_json_parser_value(parser, arena, NULL, ret_value, error) && qd_json_parser_end(parser, error);
}
