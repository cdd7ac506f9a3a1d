/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Canonical JSON. Recursion is as deep as the value, which the parser has bounded.
 */
#include "daemon/jsonld/json-canonical.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/rdf/code-point.h"

void
qd_json_append_string(GString *out, const char *text, gsize n_bytes)
{
    static const char short_escapes[32] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r' };
    gsize start = 0;

    g_string_append_c(out, '"');
    for (gsize i = 0; i < n_bytes; i++) {
        guchar c = (guchar) text[i];

        if (c >= ' ' && c != '"' && c != '\\')
            continue;
        g_string_append_len(out, text + start, (gssize) (i - start));
        start = i + 1;
        if (c >= ' ')
            g_string_append_printf(out, "\\%c", c);
        else if (short_escapes[c] != '\0')
            g_string_append_printf(out, "\\%c", short_escapes[c]);
        else
            g_string_append_printf(out, "\\u%04x", c);
    }
    g_string_append_len(out, text + start, (gssize) (n_bytes - start));
    g_string_append_c(out, '"');
}

/* The digits of @value without a point, and the place of the point after the first of them. @value is finite and above 0. */
static void
get_digits(double value, char digits[32], int *ret_point)
{
    char buffer[40] = "";
    gsize n = 0;
    const char *exponent;

    for (int precision = 14; precision <= 16; precision++) {
        char format[8];

        (void) g_snprintf(format, sizeof format, "%%.%de", precision);
        (void) g_ascii_formatd(buffer, sizeof buffer, format, value);
        if (g_ascii_strtod(buffer, NULL) == value) /* NOLINT: the same number, to the bit */
            break;
    }
    exponent = strchr(buffer, 'e');
    for (const char *p = buffer; p < exponent; p++)
        if (*p != '.')
            digits[n++] = *p;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    digits[n] = '\0';
    *ret_point = (int) strtol(exponent + 1, NULL, 10) + 1;
}

/* ECMAScript's Number::toString. What no double can hold stays as it is written. */
static void
append_number(GString *out, const QdJson *number)
{
    double value = g_ascii_strtod(number->text, NULL);
    char digits[32];
    int n;
    int point;

    if (!(value - value == 0)) {
        g_string_append(out, number->text);
        return;
    }
    if (value == 0) {
        g_string_append_c(out, '0');
        return;
    }
    if (value < 0)
        g_string_append_c(out, '-');
    get_digits(value < 0 ? -value : value, digits, &point);
    n = (int) strlen(digits);
    if (n <= point && point <= 21) {
        g_string_append_printf(out, "%s%.*s", digits, point - n, "000000000000000000000");
    } else if (point > 0 && point <= 21) {
        g_string_append_printf(out, "%.*s.%s", point, digits, digits + point);
    } else if (point > -6 && point <= 0) {
        g_string_append_printf(out, "0.%.*s%s", -point, "000000", digits);
    } else {
        g_string_append_printf(out, "%c%s%se%+d", digits[0], n > 1 ? "." : "", digits + 1, point - 1);
    }
}

/* A character's first unit in UTF-16. */
static gunichar
get_unit(gunichar c)
{
    return c < 0x10000 ? c : 0xd800 + ((c - 0x10000) >> 10);
}

static int
compare_members(gconstpointer a, gconstpointer b)
{
    const char *left = (*(QdJson *const *) a)->name;
    const char *right = (*(QdJson *const *) b)->name;
    gunichar x = 0;
    gunichar y = 0;

    while (*left != '\0' && *right != '\0') {
        left += qd_code_point_decode(left, strlen(left), &x);
        right += qd_code_point_decode(right, strlen(right), &y);
        if (x != y)
            return get_unit(x) != get_unit(y) ? (get_unit(x) < get_unit(y) ? -1 : 1) : (x < y ? -1 : 1);
    }
    return *left != '\0' ? 1 : *right != '\0' ? -1 : 0;
}

static void
append_object(GString *out, const QdJson *object)
{
    g_autoptr(GPtrArray) members = g_ptr_array_new();

    for (QdJson *member = object->first; member != NULL; member = member->next)
        g_ptr_array_add(members, member);
    g_ptr_array_sort(members, compare_members);
    g_string_append_c(out, '{');
    for (guint i = 0; i < members->len; i++) {
        const QdJson *member = members->pdata[i];

        if (i > 0)
            g_string_append_c(out, ',');
        qd_json_append_string(out, member->name, strlen(member->name));
        g_string_append_c(out, ':');
        qd_json_append_canonical(out, member);
    }
    g_string_append_c(out, '}');
}

void
qd_json_append_canonical(GString *out, const QdJson *value)
{
    switch (value->kind) {
    case QD_JSON_NULL:
        g_string_append(out, "null");
        return;
    case QD_JSON_FALSE:
        g_string_append(out, "false");
        return;
    case QD_JSON_TRUE:
        g_string_append(out, "true");
        return;
    case QD_JSON_NUMBER:
        append_number(out, value);
        return;
    case QD_JSON_STRING:
        qd_json_append_string(out, value->text, value->n_text);
        return;
    case QD_JSON_ARRAY:
        g_string_append_c(out, '[');
        for (const QdJson *item = value->first; item != NULL; item = item->next) {
            if (item != value->first)
                g_string_append_c(out, ',');
            qd_json_append_canonical(out, item);
        }
        g_string_append_c(out, ']');
        return;
    case QD_JSON_OBJECT:
        append_object(out, value);
        return;
    }
    g_assert_not_reached();
}
