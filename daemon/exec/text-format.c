/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names, numbers and UTF-8 of the text formats.
 *
 * Numbers are written without the C locale in the way. Short decimals, which is what tables hold, never reach printf.
 */
#include "daemon/exec/text-format.h"

#include <math.h>
#include <string.h>

typedef struct FormatInfo {
    const char *name;
    const char *content_type;
} FormatInfo;

static const FormatInfo format_table[QD_N_TEXT_FORMATS] = {
    [QD_TEXT_FORMAT_CSV] = { "csv", "text/csv; charset=utf-8" },
    [QD_TEXT_FORMAT_TSV] = { "tsv", "text/tab-separated-values; charset=utf-8" },
    [QD_TEXT_FORMAT_JSON] = { "json", "application/json" },
    [QD_TEXT_FORMAT_JSONL] = { "jsonl", "application/jsonl" },
};

bool
qd_text_format_from_name(const char *name, QdTextFormat *ret_format)
{
    for (guint i = 0; i < QD_N_TEXT_FORMATS; i++) {
        if (g_str_equal(format_table[i].name, name)) {
            *ret_format = (QdTextFormat) i;
            return true;
        }
    }

    return false;
}

const char *
qd_text_format_get_name(QdTextFormat format)
{
    g_assert(format < QD_N_TEXT_FORMATS);

    return format_table[format].name;
}

const char *
qd_text_format_get_content_type(QdTextFormat format)
{
    g_assert(format < QD_N_TEXT_FORMATS);

    return format_table[format].content_type;
}

/* Numbers ------------------------------------------------------------------------------------------------------------- */

static char *
put_uint64(char *p, uint64_t value)
{
    char digits[20];
    guint n = 0;

    do {
        digits[n++] = (char) ('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (n > 0)
        *p++ = digits[--n];
    return p;
}

char *
qd_text_put_int64(char *p, int64_t value)
{
    if (value < 0) {
        *p++ = '-';
        return put_uint64(p, -(uint64_t) value);
    }

    return put_uint64(p, (uint64_t) value);
}

/*
 * n / 10^k with n < 10^15 and both exact in a double is correctly rounded, and so is what reads the decimal back (Clinger's
 * fast path): when the quotient is the value, these digits are the shortest. %.15g would give the same ones.
 */
static char *
put_short_decimal(char *p, double value)
{
    static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8 };
    double magnitude = fabs(value);

    if (magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e15))
        return NULL;

    for (guint k = 0; k < G_N_ELEMENTS(powers); k++) {
        double scaled = nearbyint(magnitude * powers[k]);
        uint64_t n = 0;
        uint64_t power = (uint64_t) powers[k];

        if (scaled >= 1e15)
            return NULL;
        if (scaled / powers[k] != magnitude)
            continue;
        n = (uint64_t) scaled;
        if (signbit(value))
            *p++ = '-';
        p = put_uint64(p, n / power);
        *p++ = '.';
        if (k == 0)
            *p++ = '0';
        for (power /= 10; power > 0; power /= 10)
            *p++ = (char) ('0' + n / power % 10);
        return p;
    }

    return NULL;
}

char *
qd_text_put_double(char *p, double value)
{
    char buffer[QD_TEXT_NUMBER_BYTES];
    char *end = put_short_decimal(p, value);
    size_t n = 0;

    if (end != NULL)
        return end;
    if (isinf(value))
        return value > 0 ? (char *) memcpy(p, "9e999", 5) + 5 : (char *) memcpy(p, "-9e999", 6) + 6;

    for (guint digits = fabs(value) < 0x1p-1022 ? 1 : 15; digits <= 17; digits++) {
        const char formats[] = { '%', '.', (char) (digits / 10 + '0'), (char) (digits % 10 + '0'), 'g', 0 };

        g_ascii_formatd(buffer, sizeof buffer, formats, value);
        if (g_ascii_strtod(buffer, NULL) == value)
            break;
    }
    n = strlen(buffer);
    memcpy(p, buffer, n);
    p += n;
    if (strpbrk(buffer, ".e") == NULL) {
        memcpy(p, ".0", 2);
        p += 2;
    }
    return p;
}

static size_t
span_digits(const char *text, size_t n_bytes, size_t i)
{
    while (i < n_bytes && g_ascii_isdigit(text[i]))
        i++;
    return i;
}

/* -?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]+)?   and whether it is an integer */
static bool
is_number(const char *text, size_t n_bytes, bool *ret_integer)
{
    size_t start = n_bytes > 0 && text[0] == '-' ? 1 : 0;
    size_t i = span_digits(text, n_bytes, start);
    size_t next = 0;

    if (i == start || (text[start] == '0' && i > start + 1))
        return false;
    *ret_integer = i == n_bytes;
    if (i < n_bytes && text[i] == '.') {
        next = span_digits(text, n_bytes, i + 1);
        if (next == i + 1)
            return false;
        i = next;
    }
    if (i < n_bytes && text[i] == 'e') {
        i++;
        if (i < n_bytes && (text[i] == '+' || text[i] == '-'))
            i++;
        next = span_digits(text, n_bytes, i);
        if (next == i)
            return false;
        i = next;
    }
    return i == n_bytes;
}

bool
qd_text_parse_number(const char *text, size_t n_bytes, QwValue *ret)
{
    char buffer[QD_TEXT_NUMBER_BYTES + 1];
    char canonical[QD_TEXT_NUMBER_BYTES];
    bool integer = false;
    char *end = NULL;
    QwValue value = { 0 };

    if (n_bytes >= QD_TEXT_NUMBER_BYTES || !is_number(text, n_bytes, &integer))
        return false;

    if (integer && n_bytes <= 18) { /* cannot overflow; only "-0" is not canonical */
        bool negative = text[0] == '-';

        if (negative && text[1] == '0')
            return false;
        value.type = QW_TYPE_INTEGER;
        for (size_t i = negative ? 1 : 0; i < n_bytes; i++)
            value.integer = value.integer * 10 + (text[i] - '0');
        value.integer = negative ? -value.integer : value.integer;
        *ret = value;
        return true;
    }

    memcpy(buffer, text, n_bytes);
    buffer[n_bytes] = 0;
    if (integer) {
        value.type = QW_TYPE_INTEGER;
        value.integer = g_ascii_strtoll(buffer, NULL, 10);
        end = qd_text_put_int64(canonical, value.integer);
    } else {
        value.type = QW_TYPE_FLOAT;
        value.real = g_ascii_strtod(buffer, NULL);
        end = qd_text_put_double(canonical, value.real);
    }
    if ((size_t) (end - canonical) != n_bytes || memcmp(canonical, text, n_bytes) != 0)
        return false;

    *ret = value;
    return true;
}

/* UTF-8 --------------------------------------------------------------------------------------------------------------- */

/* The size of the character at @p and its code point; 0 when it is none (too long, surrogate, beyond U+10FFFF, cut off). */
static size_t
decode_character(const uint8_t *p, size_t n_bytes, uint32_t *ret_code)
{
    static const uint32_t minimum[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t size = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    uint32_t code = 0;

    if (size == 0 || size > n_bytes)
        return 0;

    code = size == 1 ? p[0] : p[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    if (code < minimum[size] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;

    *ret_code = code;
    return size;
}

size_t
qd_text_span_utf8(const char *text, size_t n_bytes)
{
    const uint8_t *p = (const uint8_t *) text;
    size_t i = 0;
    size_t size = 0;
    uint32_t code = 0;

    while (i < n_bytes) {
        if (p[i] < 0x80) {
            i++;
            continue;
        }
        size = decode_character(p + i, n_bytes - i, &code);
        if (size == 0)
            return i;
        i += size;
    }

    return n_bytes;
}

/* How many bytes at the start sd-bus takes. */
static size_t
span_dbus(const uint8_t *p, size_t n_bytes)
{
    size_t i = 0;
    size_t size = 0;
    uint32_t code = 0;

    while (i < n_bytes) {
        if (p[i] < 0x80 && p[i] != 0) {
            i++;
            continue;
        }
        size = decode_character(p + i, n_bytes - i, &code);
        if (size == 0 || code == 0 || (code >= 0xfdd0 && code <= 0xfdef) || (code & 0xfffe) == 0xfffe)
            return i;
        i += size;
    }

    return n_bytes;
}

bool
qd_text_is_dbus_string(const char *text, size_t n_bytes)
{
    return span_dbus((const uint8_t *) text, n_bytes) == n_bytes;
}

bool
qd_text_append_lossy(GString *out, const char *text, size_t n_bytes)
{
    size_t good = 0;
    size_t size = 0;
    uint32_t code = 0;
    bool replaced = false;

    for (;;) {
        good = span_dbus((const uint8_t *) text, n_bytes);
        g_string_append_len(out, text, (gssize) good);
        if (good == n_bytes)
            return replaced;
        g_string_append(out, "\xef\xbf\xbd");
        replaced = true;
        size = decode_character((const uint8_t *) text + good, n_bytes - good, &code);
        text += good + MAX(size, 1);
        n_bytes -= good + MAX(size, 1);
    }
}

char **
qd_text_unique_names(const char *const *names, guint n_names)
{
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    char **unique = g_new0(char *, n_names + 1);

    /* Names that stand for themselves are taken first: in "a", "a", "a_2" the second becomes "a_3". */
    for (guint i = 0; i < n_names; i++) {
        GString *name = g_string_new(NULL);

        qd_text_append_lossy(name, names[i], strlen(names[i]));
        unique[i] = g_string_free(name, FALSE);
        g_hash_table_add(taken, g_strdup(unique[i]));
    }
    for (guint i = 0; i < n_names; i++) {
        g_autofree char *base = g_strdup(unique[i]);
        guint count = GPOINTER_TO_UINT(g_hash_table_lookup(counts, base));

        while (count > 0 && g_hash_table_contains(taken, unique[i])) {
            g_free(unique[i]);
            unique[i] = g_strdup_printf("%s_%u", base, ++count);
        }
        g_hash_table_add(taken, g_strdup(unique[i]));
        g_hash_table_insert(counts, g_steal_pointer(&base), GUINT_TO_POINTER(MAX(count, 1)));
    }

    return unique;
}
