/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names are taken in a narrower form than the grammars allow: what is not recognized is written in full.
 */
#include "client-lib/rdf/query-term.h"

#include <string.h>

/* The first execution of a text may go over D-Bus, where sd-bus refuses these. */
static gboolean
is_noncharacter(gunichar c)
{
    return (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
}

gboolean
query_term_is_iri(const char *text)
{
    const char *p = text;

    if (!g_ascii_isalpha(*p) || !g_utf8_validate(text, -1, NULL))
        return FALSE;
    while (g_ascii_isalnum(*p) || (*p != '\0' && strchr("+-.", *p) != NULL))
        p++;
    if (*p != ':')
        return FALSE;
    for (; *p != '\0'; p = g_utf8_next_char(p))
        if ((guchar) *p <= ' ' || strchr("<>\"{}|^`\\", *p) != NULL || is_noncharacter(g_utf8_get_char(p)))
            return FALSE;
    return TRUE;
}

/* SPARQL 1.1 §19.8, LANGTAG */
gboolean
query_term_is_language(const char *text)
{
    const char *p = text;

    if (!g_ascii_isalpha(*p))
        return FALSE;
    while (g_ascii_isalpha(*p))
        p++;
    while (*p == '-' && g_ascii_isalnum(p[1]))
        for (p++; g_ascii_isalnum(*p);)
            p++;
    return *p == '\0';
}

static gboolean
is_name(const char *text)
{
    for (const char *p = text; *p != '\0'; p++)
        if (!g_ascii_isalnum(*p) && *p != '_' && *p != '-')
            return FALSE;
    return TRUE;
}

gboolean
query_term_is_prefix(const char *text)
{
    return text[0] == '\0' || (g_ascii_isalpha(text[0]) && is_name(text));
}

gboolean
query_term_is_local(const char *text)
{
    return text[0] != '-' && is_name(text);
}

/* Not \u for control characters: SPARQL 1.1 §19.2 takes these for the characters themselves, which cannot stand in a string. */
void
query_term_append_string(GString *out, const char *text)
{
    static const char escapes[] = "\"\\\n\r\t\b\f";
    static const char letters[] = "\"\\nrtbf";

    g_string_append_c(out, '"');
    for (const char *p = text; *p != '\0'; p = g_utf8_next_char(p)) {
        const char *escaped = strchr(escapes, *p);
        gunichar c = g_utf8_get_char(p);

        if (escaped != NULL)
            g_string_append_printf(out, "\\%c", letters[escaped - escapes]);
        else if (is_noncharacter(c))
            g_string_append_printf(out, "\\U%08X", c);
        else
            g_string_append_len(out, p, g_utf8_next_char(p) - p);
    }
    g_string_append_c(out, '"');
}
