/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader of N-Triples and N-Quads: line by line in one buffer, a table of character classes, no copy but of escapes.
 *
 * The buffer itself is never changed, so that an error can count its column.
 */
#include "daemon/rdfio/ntriples-reader.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/rdf/code-point.h"
#include "daemon/rdf/iri.h"
#include "daemon/rdfio/lexer.h"

#define BUFFER_BYTES (256 * 1024)
#define N_TERMS 4

enum {
    CLASS_IRI_STOP = 1,    /* what IRIREF excludes, and the backslash */
    CLASS_STRING_STOP = 2, /* " \ LF CR */
    CLASS_NAME = 4,        /* ASCII of PN_CHARS */
    CLASS_ALNUM = 8,
    CLASS_HIGH = 16, /* beyond ASCII */
};

static const guchar classes[256] = {
    [0 ... 9] = CLASS_IRI_STOP,
    [10] = CLASS_IRI_STOP | CLASS_STRING_STOP,
    [11 ... 12] = CLASS_IRI_STOP,
    [13] = CLASS_IRI_STOP | CLASS_STRING_STOP,
    [14 ... 32] = CLASS_IRI_STOP,
    ['"'] = CLASS_IRI_STOP | CLASS_STRING_STOP,
    ['\\'] = CLASS_IRI_STOP | CLASS_STRING_STOP,
    ['<'] = CLASS_IRI_STOP,
    ['>'] = CLASS_IRI_STOP,
    ['{'] = CLASS_IRI_STOP,
    ['}'] = CLASS_IRI_STOP,
    ['|'] = CLASS_IRI_STOP,
    ['^'] = CLASS_IRI_STOP,
    ['`'] = CLASS_IRI_STOP,
    ['-'] = CLASS_NAME,
    ['_'] = CLASS_NAME,
    ['0' ... '9'] = CLASS_NAME | CLASS_ALNUM,
    ['A' ... 'Z'] = CLASS_NAME | CLASS_ALNUM,
    ['a' ... 'z'] = CLASS_NAME | CLASS_ALNUM,
    [128 ... 255] = CLASS_HIGH,
};

typedef struct Reader {
    const QdRdfReading *reading;
    gboolean quads;
    char *buffer;
    gsize capacity;
    gsize n;     /* bytes in the buffer */
    gsize start; /* of the line that is read */
    gboolean at_end;

    guint64 line;
    const char *line_start;
    const char *p;
    const char *end;               /* of the line, without its LF */
    GString *decoded[2 * N_TERMS]; /* of each term: lexical form, qualifier; made at first use */
} Reader;

static gboolean fail_at(Reader *self, const char *place, GError **error, const char *format, ...) G_GNUC_PRINTF(4, 5);

/* Column in code points: bytes that continue none. */
static gboolean
fail_at(Reader *self, const char *place, GError **error, const char *format, ...)
{
    g_autofree char *message = NULL;
    guint column = 1;
    va_list args;

    for (const char *p = self->line_start; p < place; p++)
        column += ((guchar) *p & 0xc0) != 0x80 ? 1 : 0;
    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    qd_error_set(error, QW_ERROR_SYNTAX, "%" G_GUINT64_FORMAT ":%u: %s", self->line, column, message);
    return FALSE;
}

static gboolean
fail_expected(Reader *self, const char *expected, GError **error)
{
    gunichar c;
    char text[8] = { 0 };

    if (self->p >= self->end || *self->p == '\r')
        return fail_at(self, self->p, error, "unexpected end of the line, expected %s", expected);
    if (qd_code_point_decode(self->p, (gsize) (self->end - self->p), &c) == 0)
        return fail_at(self, self->p, error, "bytes that are not UTF-8");
    if (g_unichar_isprint(c))
        (void) g_unichar_to_utf8(c, text);
    else
        return fail_at(self, self->p, error, "unexpected U+%04X, expected %s", c, expected);
    return fail_at(self, self->p, error, "unexpected '%s', expected %s", text, expected);
}

static inline void
skip_space(Reader *self)
{
    while (self->p < self->end && (*self->p == ' ' || *self->p == '\t'))
        self->p++;
}

/* Terms ----------------------------------------------------------------------------------------------------------------- */

/* Decodes the escape at @p (a backslash); returns the byte after it, or NULL. @in_string: more than \u and \U */
static const char *
decode_escape(Reader *self, const char *p, gboolean in_string, GString *out, GError **error)
{
    static const char letters[] = "tbnrf\"'\\";
    static const char values[] = "\t\b\n\r\f\"'\\";
    gsize left = (gsize) (self->end - p);
    guint n_digits = left < 2 ? 0 : p[1] == 'u' ? 4 : p[1] == 'U' ? 8 : 0;
    const char *letter = left >= 2 && p[1] != '\0' ? strchr(letters, p[1]) : NULL;
    gunichar c;

    if (in_string && letter != NULL) {
        g_string_append_c(out, values[letter - letters]);
        return p + 2;
    }
    if (n_digits == 0 || left < 2 + n_digits || !qd_code_point_parse_hex(p + 2, n_digits, &c)) {
        (void) fail_at(self, p, error, "bad escape%s",
                       in_string ? ": \\t \\b \\n \\r \\f \\\" \\' \\\\, \\uXXXX and \\UXXXXXXXX are known"
                                 : " in an IRI: \\uXXXX and \\UXXXXXXXX are known");
        return NULL;
    }
    if (!in_string && c < 128 && (classes[c] & CLASS_IRI_STOP) != 0) {
        (void) fail_at(self, p, error, "an IRI cannot contain U+%04X", c);
        return NULL;
    }
    g_string_append_unichar(out, c);
    return p + 2 + n_digits;
}

/* Sixteen bytes at a time, by what the compiler makes of it on any machine; a comparison gives bytes of 0 or 255. */
typedef guint8 Bytes __attribute__((vector_size(16)));
typedef gint8 SignedBytes __attribute__((vector_size(16)));
typedef guint64 Words __attribute__((vector_size(16)));

/* Up to the first byte of class @stop or beyond ASCII, which may be up to 15 bytes further. */
static const char *
skip_plain(const char *p, const char *end, guint stop)
{
    for (; end - p >= (gssize) sizeof(Bytes); p += sizeof(Bytes)) {
        Bytes bytes;
        Bytes found;
        Words words;

        memcpy(&bytes, p, sizeof bytes);
        if (stop == CLASS_STRING_STOP)
            found = (Bytes) ((SignedBytes) bytes < 0) | (Bytes) (bytes == '"') | (Bytes) (bytes == '\\') | (Bytes) (bytes == '\n') |
                    (Bytes) (bytes == '\r');
        else /* two pairs differ in one bit: < and >, \ and ^ */
            found = (Bytes) ((SignedBytes) bytes <= ' ') | (Bytes) ((bytes & 0xfd) == '<') | (Bytes) ((bytes & 0xfd) == '\\') |
                    (Bytes) (bytes == '"') | (Bytes) (bytes == '`') | (Bytes) (bytes - '{' <= '}' - '{');
        words = (Words) found;
        if ((words[0] | words[1]) != 0)
            break;
    }
    return p;
}

/* Reads on to an unescaped character of class @stop; the text without escapes goes to @ret_text. self->p stays on the stop. */
static gboolean
read_until(Reader *self, guint stop, guint slot, const char **ret_text, gsize *ret_n, GError **error)
{
    const char *start = self->p;
    const char *p = start;
    GString *out = NULL;
    guint seen = 0;
    gsize bad;

    for (;;) {
        if (seen < CLASS_HIGH)
            p = skip_plain(p, self->end, stop);
        while (p < self->end && (classes[(guchar) *p] & stop) == 0)
            seen |= classes[(guchar) *p++];
        if (p >= self->end || *p != '\\')
            break;
        if (out == NULL) {
            if (self->decoded[slot] == NULL)
                self->decoded[slot] = g_string_new(NULL);
            out = g_string_truncate(self->decoded[slot], 0);
        }
        g_string_append_len(out, start, p - start);
        p = decode_escape(self, p, stop == CLASS_STRING_STOP, out, error);
        if (p == NULL)
            return FALSE;
        start = p;
    }
    if ((seen & CLASS_HIGH) != 0 && !qd_code_point_check(self->p, (gsize) (p - self->p), &bad))
        return fail_at(self, self->p + bad, error, "bytes that are not UTF-8");
    self->p = p;
    if (out != NULL)
        g_string_append_len(out, start, p - start);
    *ret_text = out != NULL ? out->str : start;
    *ret_n = out != NULL ? out->len : (gsize) (p - start);
    return TRUE;
}

static gboolean
read_iri(Reader *self, guint slot, const char **ret_text, gsize *ret_n, GError **error)
{
    const char *start = self->p++;

    if (self->p < self->end && *self->p == '<')
        return fail_at(self, start, error, "triple terms ('<<')" QD_RDF12);
    if (!read_until(self, CLASS_IRI_STOP, slot, ret_text, ret_n, error))
        return FALSE;
    if (self->p >= self->end || *self->p != '>')
        return fail_expected(self, "'>' at the end of the IRI", error);
    if (!qd_iri_is_absolute(*ret_text, *ret_n))
        return fail_at(self, start, error, "IRI '%.*s' is not absolute", (int) MIN(*ret_n, 100), *ret_text);

    self->p++;
    return TRUE;
}

/* After "_:". A label's last character is no dot. */
static gboolean
read_label(Reader *self, QdTerm *ret_term, GError **error)
{
    const char *start = self->p += 2;
    const char *p = start;
    gunichar c;
    guint n;

    n = qd_code_point_decode(p, (gsize) (self->end - p), &c);
    if (n == 0 || !qd_code_point_is_name_start(c))
        return fail_expected(self, "the label of a blank node", error);
    for (p += n; p < self->end; p += n) {
        if ((classes[(guchar) *p] & CLASS_NAME) != 0 || *p == '.') {
            n = 1;
            continue;
        }
        n = (guchar) *p < 128 ? 0 : qd_code_point_decode(p, (gsize) (self->end - p), &c);
        if (n == 0 || !qd_code_point_is_pn(c))
            break;
    }
    while (p[-1] == '.')
        p--;
    self->p = p;
    *ret_term = (QdTerm){ .kind = QD_TERM_BNODE, .lexical = start, .n_lexical = (gsize) (p - start) };
    return TRUE;
}

static gboolean
read_language(Reader *self, QdTerm *term, GError **error)
{
    const char *start = ++self->p;
    const char *p = start;

    while (p < self->end && g_ascii_isalpha(*p))
        p++;
    while (p > start && p + 1 < self->end && *p == '-' && (classes[(guchar) p[1]] & CLASS_ALNUM) != 0)
        for (p++; p < self->end && (classes[(guchar) *p] & CLASS_ALNUM) != 0;)
            p++;
    if (p == start)
        return fail_expected(self, "a language tag", error);

    if (self->end - p > 2 && p[0] == '-' && p[1] == '-' && g_ascii_isalpha(p[2]))
        return fail_at(self, p, error, "base directions ('--ltr' and '--rtl')" QD_RDF12);

    self->p = p;
    term->kind = QD_TERM_LANG_STRING;
    term->qualifier = start;
    term->n_qualifier = (gsize) (p - start);
    return TRUE;
}

static gboolean
read_literal(Reader *self, guint slot, QdTerm *ret_term, GError **error)
{
    const char *datatype;
    gsize n_datatype;

    self->p++;
    *ret_term = (QdTerm){ .kind = QD_TERM_STRING };
    if (!read_until(self, CLASS_STRING_STOP, slot, &ret_term->lexical, &ret_term->n_lexical, error))
        return FALSE;
    if (self->p >= self->end || *self->p != '"')
        return fail_expected(self, "'\"' at the end of the string", error);
    self->p++;
    skip_space(self);
    if (self->p < self->end && *self->p == '@')
        return read_language(self, ret_term, error);
    if (self->end - self->p < 2 || self->p[0] != '^' || self->p[1] != '^')
        return TRUE;

    self->p += 2;
    skip_space(self);
    if (self->p >= self->end || *self->p != '<')
        return fail_expected(self, "the IRI of a datatype", error);
    if (!read_iri(self, slot + 1, &datatype, &n_datatype, error))
        return FALSE;
    qd_term_init_literal(ret_term, ret_term->lexical, ret_term->n_lexical, datatype, n_datatype);
    return TRUE;
}

enum {
    ALLOW_IRI = 1,
    ALLOW_BNODE = 2,
    ALLOW_LITERAL = 4,
};

/* The @index-th term of a statement. */
static gboolean
read_term(Reader *self, guint index, guint allowed, const char *expected, QdTerm *ret_term, GError **error)
{
    char c;

    skip_space(self);
    c = self->p < self->end ? *self->p : '\0';
    if (c == '<' && (allowed & ALLOW_IRI) != 0) {
        *ret_term = (QdTerm){ .kind = QD_TERM_IRI };
        return read_iri(self, 2 * index, &ret_term->lexical, &ret_term->n_lexical, error);
    }
    if (c == '"' && (allowed & ALLOW_LITERAL) != 0)
        return read_literal(self, 2 * index, ret_term, error);
    if (c == '_' && (allowed & ALLOW_BNODE) != 0 && self->end - self->p > 2 && self->p[1] == ':')
        return read_label(self, ret_term, error);
    return fail_expected(self, expected, error);
}

/* Statements ------------------------------------------------------------------------------------------------------------ */

static gboolean
read_statement(Reader *self, GError **error)
{
    QdTerm terms[N_TERMS];
    const QdTerm *graph = NULL;

    if (self->end - self->p > 7 && memcmp(self->p, "VERSION", 7) == 0)
        return fail_at(self, self->p, error, "version directives" QD_RDF12);
    if (!read_term(self, 0, ALLOW_IRI | ALLOW_BNODE, "a subject (an IRI or a blank node)", &terms[0], error) ||
        !read_term(self, 1, ALLOW_IRI, "a predicate (an IRI)", &terms[1], error) ||
        !read_term(self, 2, ALLOW_IRI | ALLOW_BNODE | ALLOW_LITERAL, "an object", &terms[2], error))
        return FALSE;

    skip_space(self);
    if (self->quads && self->p < self->end && *self->p != '.') {
        if (!read_term(self, 3, ALLOW_IRI | ALLOW_BNODE, "a graph's name or '.'", &terms[3], error))
            return FALSE;
        graph = &terms[3];
        skip_space(self);
    }
    if (self->p >= self->end || *self->p != '.')
        return fail_expected(self, "'.'", error);
    self->p++;
    return self->reading->quad_func(&terms[0], &terms[1], &terms[2], graph, self->reading->data, error);
}

static void
skip_comment(Reader *self)
{
    while (self->p < self->end && *self->p != '\r')
        self->p++;
}

/* All between two LFs; a CR alone ends a line, too. */
static gboolean
read_line(Reader *self, GError **error)
{
    gsize bad;

    for (;;) {
        const char *comment;

        skip_space(self);
        if (self->p < self->end && *self->p != '\r' && *self->p != '#' && !read_statement(self, error))
            return FALSE;
        skip_space(self);
        comment = self->p;
        if (self->p < self->end && *self->p == '#')
            skip_comment(self);
        if (!qd_code_point_check(comment, (gsize) (self->p - comment), &bad))
            return fail_at(self, comment + bad, error, "bytes that are not UTF-8");
        if (self->p >= self->end)
            return TRUE;
        if (*self->p != '\r')
            return fail_expected(self, "the end of the line", error);
        self->p++;
        if (self->p >= self->end)
            return TRUE; /* CR LF is one end */
        self->line++;
        self->line_start = self->p;
    }
}

/* Input ----------------------------------------------------------------------------------------------------------------- */

/* Moves the incomplete line to the front, and reads after it. */
static gboolean
refill(Reader *self, GError **error)
{
    const QdLimits *limits = self->reading->limits;
    gssize n;

    if (self->start > 0) {
        memmove(self->buffer, self->buffer + self->start, self->n - self->start);
        self->n -= self->start;
        self->start = 0;
    }
    if (self->n == self->capacity) {
        if (self->capacity >= qd_limits_get(limits, QD_LIMIT_VALUE_BYTES)) {
            qd_limit_set_error(error, limits, QD_LIMIT_VALUE_BYTES, "%" G_GUINT64_FORMAT ":1: line is too long", self->line + 1);
            return FALSE;
        }
        self->capacity *= 2;
        self->buffer = g_realloc(self->buffer, self->capacity);
    }
    n = self->reading->read_func(self->buffer + self->n, self->capacity - self->n, self->reading->read_data, error);
    if (n < 0)
        return FALSE;
    self->at_end = n == 0;
    self->n += (gsize) n;
    return TRUE;
}

static gboolean
read_document(Reader *self, GError **error)
{
    gsize searched = 0; /* bytes of the line known to have no LF */

    for (;;) {
        const char *start = self->buffer + self->start;
        const char *newline = memchr(start + searched, '\n', self->n - self->start - searched);

        if (newline == NULL && !self->at_end) {
            searched = self->n - self->start;
            if (!refill(self, error))
                return FALSE;
            continue;
        }
        self->line++;
        self->line_start = self->p = start;
        self->end = newline != NULL ? newline : self->buffer + self->n;
        if (self->line == 1 && self->end - self->p >= 3 && memcmp(self->p, "\xef\xbb\xbf", 3) == 0)
            self->line_start = self->p = start + 3;
        if (!read_line(self, error))
            return FALSE;
        if (newline == NULL)
            return TRUE;
        self->start = (gsize) (newline - self->buffer) + 1;
        searched = 0;
    }
}

gboolean
qd_ntriples_read(const QdRdfReading *reading, GError **error)
{
    Reader reader = { .reading = reading, .quads = reading->format == QD_RDF_NQUADS, .capacity = BUFFER_BYTES };
    gboolean ok;

    reader.buffer = g_malloc(reader.capacity);
    ok = read_document(&reader, error);
    g_free(reader.buffer);
    for (guint i = 0; i < G_N_ELEMENTS(reader.decoded); i++)
        if (reader.decoded[i] != NULL)
            (void) g_string_free(reader.decoded[i], TRUE);
    return ok;
}
