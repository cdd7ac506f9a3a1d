/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One value in csv, tsv or json.
 *
 * Most texts need nothing but a copy: one pass over a table of 256 classes finds the others. No printf for a value but
 * for doubles with many digits, no allocation but the buffer's growth.
 */
#include "client-lib/text/text-value.h"

#include "client-lib/text/text-number.h"
#include "client-lib/text/text-utf8.h"

#define XSD_NAMESPACE "http://www.w3.org/2001/XMLSchema#"

/* Bits of a byte's class: the formats in which a text that has it needs a closer look. */
enum {
    IN_CSV = 1,
    IN_TSV = 2,
    IN_JSON = 4,
};

static const uint8_t class_table[256] = {
    [0] = IN_CSV | IN_TSV | IN_JSON,
    [1 ... 0x08] = IN_JSON,
    ['\t'] = IN_TSV | IN_JSON,
    ['\n'] = IN_CSV | IN_TSV | IN_JSON,
    [0x0b ... 0x0c] = IN_JSON,
    ['\r'] = IN_CSV | IN_TSV | IN_JSON,
    [0x0e ... 0x1f] = IN_JSON,
    ['"'] = IN_CSV | IN_JSON,
    [','] = IN_CSV,
    ['\\'] = IN_TSV | IN_JSON,
    [0x80 ... 0xff] = IN_CSV | IN_TSV | IN_JSON,
};

static void
put_hex(GString *out, const char *data, size_t n_bytes)
{
    static const char digits[] = "0123456789abcdef";
    char *p = qw_text_room(out, 2 * n_bytes);

    for (size_t i = 0; i < n_bytes; i++) {
        *p++ = digits[(uint8_t) data[i] >> 4];
        *p++ = digits[(uint8_t) data[i] & 15];
    }
    qw_text_commit(out, p);
}

static void
put_base64(GString *out, const char *data, size_t n_bytes)
{
    char *p = qw_text_room(out, (n_bytes / 3 + 1) * 4 + 8);
    gint state = 0;
    gint save = 0;

    if (n_bytes > 0)
        p += g_base64_encode_step((const guchar *) data, n_bytes, FALSE, p, &state, &save);
    p += g_base64_encode_close(FALSE, p, &state, &save);
    qw_text_commit(out, p);
}

static void
put_number(GString *out, const QwValue *value)
{
    char *p = qw_text_room(out, QW_TEXT_NUMBER_BYTES);

    qw_text_commit(out, value->type == QW_TYPE_INTEGER ? qw_text_put_int64(p, value->integer) : qw_text_put_double(p, value->real));
}

static inline size_t
span_plain(const char *data, size_t n_bytes, uint8_t class)
{
    size_t i = 0;

    while (i < n_bytes && (class_table[(uint8_t) data[i]] & class) == 0)
        i++;
    return i;
}

static inline bool
is_like_number(const char *data, size_t n_bytes)
{
    QwValue value;

    if (!g_ascii_isdigit(data[0]) && data[0] != '-')
        return false;
    return qw_text_parse_number(data, n_bytes, &value);
}

/* What csv and tsv do differently. */
typedef struct Dialect {
    const char *null_text;
    const char *blob_open;
    const char *blob_close;
    void (*put_text)(GString *out, const char *data, size_t n_bytes);
} Dialect;

/* A number of one of XML Schema's types is no text that only looks like a number: it needs no quotes. */
static bool
is_bare_number(const QwValue *value)
{
    return value->type == QW_TYPE_LITERAL_TYPED && value->n_bytes > 0 &&
           strncmp(value->tag, XSD_NAMESPACE, sizeof XSD_NAMESPACE - 1) == 0 &&
           strspn(value->data, "0123456789+-.eE") == value->n_bytes;
}

static void
put_in_dialect(GString *out, const QwValue *value, const Dialect *dialect)
{
    switch (value->type) {
    case QW_TYPE_NULL:
        qw_text_put_bytes(out, dialect->null_text, strlen(dialect->null_text));
        break;
    case QW_TYPE_INTEGER:
    case QW_TYPE_FLOAT:
        put_number(out, value);
        break;
    case QW_TYPE_BLOB:
        qw_text_put_bytes(out, dialect->blob_open, strlen(dialect->blob_open));
        put_hex(out, value->data, value->n_bytes);
        qw_text_put_bytes(out, dialect->blob_close, strlen(dialect->blob_close));
        break;
    case QW_TYPE_BNODE:
        qw_text_put_bytes(out, "_:", 2);
        qw_text_put_bytes(out, value->data, value->n_bytes);
        break;
    case QW_TYPE_TEXT:
    case QW_TYPE_IRI:
    case QW_TYPE_LITERAL_LANG:
    case QW_TYPE_LITERAL_TYPED:
        if (is_bare_number(value))
            qw_text_put_bytes(out, value->data, value->n_bytes);
        else
            dialect->put_text(out, value->data, value->n_bytes);
        break;
    }
}

/* An empty line would be no header. */
static void
put_name(GString *out, const char *name, void (*put_text)(GString *out, const char *data, size_t n_bytes))
{
    g_autoptr(GString) valid = g_string_new(NULL);

    (void) qw_text_append_lossy(valid, name, strlen(name));
    if (valid->len == 0)
        qw_text_put_bytes(out, "\"\"", 2);
    else
        put_text(out, valid->str, valid->len);
}

/* CSV ------------------------------------------------------------------------------------------------------------------ */

static void
put_csv_quoted(GString *out, const char *data, size_t n_bytes)
{
    char *p = qw_text_room(out, 2 * n_bytes + 2);

    *p++ = '"';
    for (size_t i = 0; i < n_bytes; i++) {
        if (data[i] == '"')
            *p++ = '"';
        *p++ = data[i];
    }
    *p++ = '"';
    qw_text_commit(out, p);
}

/* At the start of a text a byte order mark would be taken for one of the whole file. */
static inline bool
starts_with_bom(const char *data, size_t n_bytes)
{
    return n_bytes >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0;
}

/* Unquoted it would be read as something else than text, or be trimmed by careless readers. */
static inline bool
csv_needs_quotes(const char *data, size_t n_bytes)
{
    return n_bytes == 0 || data[0] == ' ' || data[n_bytes - 1] == ' ' || is_like_number(data, n_bytes) ||
           (data[0] == 'X' && n_bytes > 1 && data[1] == '\'') || starts_with_bom(data, n_bytes) ||
           g_str_has_prefix(data, QW_TEXT_CAST_PREFIX);
}

static void
put_csv_text(GString *out, const char *data, size_t n_bytes)
{
    size_t plain = span_plain(data, n_bytes, IN_CSV);

    if (plain < n_bytes) {
        if (memchr(data + plain, 0, n_bytes - plain) != NULL || qw_text_span_utf8(data, n_bytes) < n_bytes) {
            qw_text_put_bytes(out, QW_TEXT_CAST_PREFIX, strlen(QW_TEXT_CAST_PREFIX));
            put_hex(out, data, n_bytes);
            qw_text_put_bytes(out, QW_TEXT_CAST_SUFFIX, strlen(QW_TEXT_CAST_SUFFIX));
            return;
        }
        for (size_t i = plain; i < n_bytes; i++) {
            if (class_table[(uint8_t) data[i]] & IN_CSV && (uint8_t) data[i] < 0x80) {
                put_csv_quoted(out, data, n_bytes);
                return;
            }
        }
    }
    if (csv_needs_quotes(data, n_bytes))
        put_csv_quoted(out, data, n_bytes);
    else
        qw_text_put_bytes(out, data, n_bytes);
}

static const Dialect csv_dialect = { "", "X'", "'", put_csv_text };

void
qw_text_put_csv(GString *out, const QwValue *value)
{
    put_in_dialect(out, value, &csv_dialect);
}

void
qw_text_put_csv_name(GString *out, const char *name)
{
    put_name(out, name, put_csv_text);
}

/* TSV ------------------------------------------------------------------------------------------------------------------ */

/* Escapes what would end the field, and as \ooo every byte that is NUL or no UTF-8. */
static void
put_tsv_escaped(GString *out, const char *data, size_t n_bytes, bool quoted)
{
    size_t i = 0;

    while (i < n_bytes) {
        size_t good = qw_text_span_utf8(data + i, n_bytes - i);
        char *p = qw_text_room(out, 4 * good + 4);

        for (size_t end = i + good; i < end; i++) {
            const char *escape = data[i] == '\t' ? "\\t" : data[i] == '\n' ? "\\n" : data[i] == '\r' ? "\\r" : "\\\\";

            if (data[i] == 0)
                p = (char *) memcpy(p, "\\000", 4) + 4;
            else if (class_table[(uint8_t) data[i]] & IN_TSV && (uint8_t) data[i] < 0x80)
                p = (char *) memcpy(p, escape, 2) + 2;
            else if (quoted && data[i] == '"')
                p = (char *) memcpy(p, "\"\"", 2) + 2;
            else
                *p++ = data[i];
        }
        if (i < n_bytes) {
            uint8_t byte = (uint8_t) data[i++];

            *p++ = '\\';
            *p++ = (char) ('0' + (byte >> 6));
            *p++ = (char) ('0' + (byte >> 3 & 7));
            *p++ = (char) ('0' + (byte & 7));
        }
        qw_text_commit(out, p);
    }
}

static void
put_tsv_text(GString *out, const char *data, size_t n_bytes)
{
    bool quoted = n_bytes > 0 && (data[0] == '"' || is_like_number(data, n_bytes) || starts_with_bom(data, n_bytes));

    if (!quoted && span_plain(data, n_bytes, IN_TSV) == n_bytes) {
        qw_text_put_bytes(out, data, n_bytes);
        return;
    }

    if (quoted)
        qw_text_put_char(out, '"');
    put_tsv_escaped(out, data, n_bytes, quoted);
    if (quoted)
        qw_text_put_char(out, '"');
}

static const Dialect tsv_dialect = { "\\N", "\\x", "", put_tsv_text };

void
qw_text_put_tsv(GString *out, const QwValue *value)
{
    put_in_dialect(out, value, &tsv_dialect);
}

void
qw_text_put_tsv_name(GString *out, const char *name)
{
    put_name(out, name, put_tsv_text);
}

/* JSON ----------------------------------------------------------------------------------------------------------------- */

static void
put_json_escaped(GString *out, const char *data, size_t n_bytes)
{
    static const char short_escapes[] = "btn\0fr"; /* 0x08 … 0x0d; \v has none */
    size_t i = 0;

    while (i < n_bytes) {
        size_t plain = i;
        char *p = NULL;
        char c = 0;

        while (plain < n_bytes && ((uint8_t) data[plain] >= 0x80 || (class_table[(uint8_t) data[plain]] & IN_JSON) == 0))
            plain++;
        qw_text_put_bytes(out, data + i, plain - i);
        i = plain + 1;
        if (plain == n_bytes)
            return;

        c = data[plain];
        p = qw_text_room(out, 6);
        *p++ = '\\';
        if (c == '"' || c == '\\') {
            *p++ = c;
        } else if (c >= 8 && c <= 13 && c != 11) {
            *p++ = short_escapes[c - 8];
        } else {
            p = (char *) memcpy(p, "u00", 3) + 3;
            *p++ = (char) ('0' + (c >> 4));
            *p++ = "0123456789abcdef"[c & 15];
        }
        qw_text_commit(out, p);
    }
}

void
qw_text_put_json_text(GString *out, const char *data, size_t n_bytes)
{
    size_t plain = span_plain(data, n_bytes, IN_JSON);
    char *p = NULL;

    if (plain == n_bytes) {
        p = qw_text_room(out, n_bytes + 2);
        *p = '"';
        if (n_bytes > 0)
            memcpy(p + 1, data, n_bytes);
        p[n_bytes + 1] = '"';
        out->len += n_bytes + 2;
        return;
    }
    if (qw_text_span_utf8(data, n_bytes) < n_bytes) {
        qw_text_put_bytes(out, "{\"text_base64\":\"", 16);
        put_base64(out, data, n_bytes);
        qw_text_put_bytes(out, "\"}", 2);
        return;
    }
    qw_text_put_char(out, '"');
    put_json_escaped(out, data, n_bytes);
    qw_text_put_char(out, '"');
}

static void
put_json_literal(GString *out, const QwValue *value, const char *kind)
{
    qw_text_put_bytes(out, "{\"value\":", 9);
    qw_text_put_json_text(out, value->data, value->n_bytes);
    qw_text_put_bytes(out, kind, strlen(kind));
    qw_text_put_json_text(out, value->tag, value->n_tag_bytes);
    qw_text_put_char(out, '}');
}

void
qw_text_put_json(GString *out, const QwValue *value)
{
    switch (value->type) {
    case QW_TYPE_NULL:
        qw_text_put_bytes(out, "null", 4);
        break;
    case QW_TYPE_INTEGER:
    case QW_TYPE_FLOAT:
        put_number(out, value);
        break;
    case QW_TYPE_BLOB:
        qw_text_put_bytes(out, "{\"base64\":\"", 11);
        put_base64(out, value->data, value->n_bytes);
        qw_text_put_bytes(out, "\"}", 2);
        break;
    case QW_TYPE_BNODE:
        qw_text_put_bytes(out, "\"_:", 3);
        put_json_escaped(out, value->data, value->n_bytes);
        qw_text_put_char(out, '"');
        break;
    case QW_TYPE_TEXT:
    case QW_TYPE_IRI:
        qw_text_put_json_text(out, value->data, value->n_bytes);
        break;
    case QW_TYPE_LITERAL_LANG:
        put_json_literal(out, value, ",\"language\":");
        break;
    case QW_TYPE_LITERAL_TYPED:
        put_json_literal(out, value, ",\"datatype\":");
        break;
    }
}
