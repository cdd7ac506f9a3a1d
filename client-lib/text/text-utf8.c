/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * UTF-8 by a decoder of its own: NULs are characters, and bytes that belong to none are counted one by one.
 */
#include "client-lib/text/text-utf8.h"

#include <stdint.h>
#include <string.h>

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
qw_text_span_utf8(const char *text, size_t n_bytes)
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
qw_text_append_lossy(GString *out, const char *text, size_t n_bytes)
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
qw_text_unique_names(const char *const *names, guint n_names)
{
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    char **unique = g_new0(char *, n_names + 1);

    /* Names that stand for themselves are taken first: in "a", "a", "a_2" the second becomes "a_3". */
    for (guint i = 0; i < n_names; i++) {
        GString *name = g_string_new(NULL);

        qw_text_append_lossy(name, names[i], strlen(names[i]));
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
