/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * UTF-8 and character classes, by hand: GLib's functions stop at U+0000 and know no PN_CHARS.
 */
#include "daemon/rdf/code-point.h"

#include <string.h>

#define NOT_ASCII G_GUINT64_CONSTANT(0x8080808080808080)

static guint
decode_tail(const guchar *p, gsize n_bytes, guint n_tail, gunichar c, gunichar min, gunichar *ret_code_point)
{
    if (n_bytes <= n_tail)
        return 0;
    for (guint i = 1; i <= n_tail; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < min || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;

    *ret_code_point = c;
    return n_tail + 1;
}

guint
qd_code_point_decode(const char *text, gsize n_bytes, gunichar *ret_code_point)
{
    const guchar *p = (const guchar *) text;

    if (n_bytes == 0)
        return 0;
    if (p[0] < 0x80) {
        *ret_code_point = p[0];
        return 1;
    }
    if ((p[0] & 0xe0) == 0xc0)
        return decode_tail(p, n_bytes, 1, p[0] & 0x1f, 0x80, ret_code_point);
    if ((p[0] & 0xf0) == 0xe0)
        return decode_tail(p, n_bytes, 2, p[0] & 0x0f, 0x800, ret_code_point);
    if ((p[0] & 0xf8) == 0xf0)
        return decode_tail(p, n_bytes, 3, p[0] & 0x07, 0x10000, ret_code_point);
    return 0;
}

gboolean
qd_code_point_check(const char *text, gsize n_bytes, gsize *ret_offset)
{
    gsize i = 0;

    while (i < n_bytes) {
        guint64 word;
        gunichar c;
        guint n = 1;

        while (n_bytes - i >= sizeof word && (memcpy(&word, text + i, sizeof word), (word & NOT_ASCII) == 0))
            i += sizeof word;
        if (i == n_bytes)
            break;

        if ((guchar) text[i] >= 0x80)
            n = qd_code_point_decode(text + i, n_bytes - i, &c);
        if (n == 0) {
            if (ret_offset != NULL)
                *ret_offset = i;
            return FALSE;
        }
        i += n;
    }
    return TRUE;
}

gboolean
qd_code_point_is_pn_base(gunichar c)
{
    if (c < 0x80)
        return g_ascii_isalpha((char) c);

    return (c >= 0xc0 && c <= 0x2ff && c != 0xd7 && c != 0xf7) || (c >= 0x370 && c <= 0x1fff && c != 0x37e) ||
           (c >= 0x200c && c <= 0x200d) || (c >= 0x2070 && c <= 0x218f) || (c >= 0x2c00 && c <= 0x2fef) ||
           (c >= 0x3001 && c <= 0xd7ff) || (c >= 0xf900 && c <= 0xfdcf) || (c >= 0xfdf0 && c <= 0xfffd) ||
           (c >= 0x10000 && c <= 0xeffff);
}

gboolean
qd_code_point_is_name_start(gunichar c)
{
    return c == '_' || (c >= '0' && c <= '9') || qd_code_point_is_pn_base(c);
}

gboolean
qd_code_point_is_pn(gunichar c)
{
    return qd_code_point_is_name_start(c) || c == '-' || c == 0xb7 || (c >= 0x300 && c <= 0x36f) || (c >= 0x203f && c <= 0x2040);
}

gboolean
qd_code_point_parse_hex(const char *text, guint n_digits, gunichar *ret_code_point)
{
    gunichar c = 0;

    for (guint i = 0; i < n_digits; i++) {
        int digit = g_ascii_xdigit_value(text[i]);

        if (digit < 0)
            return FALSE;
        c = c << 4 | (gunichar) digit;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return FALSE;

    *ret_code_point = c;
    return TRUE;
}
