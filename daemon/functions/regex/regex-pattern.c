/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * XML Schema part 2, appendix G, with the additions of XPath F&O 3.1 §5.6.1: ^ $, reluctant quantifiers, (?: ), \1.
 *
 * A recursive descent over the grammar; each piece is written again, single characters as \x{…} unless they are letters or
 * digits.
 */
#include "daemon/functions/regex/regex-pattern.h"

#include <string.h>

#include "daemon/rdf/code-point.h"

#define DEPTH_MAX 100
#define REPEAT_MAX 65535
#define GROUPS_MAX 99

typedef struct Translator {
    const char *p;
    const char *end;
    gboolean skip_space;
    GString *out;
    guint depth;
    guint n_groups;
    gboolean closed[GROUPS_MAX + 1]; /* a reference is to a group that has ended */
} Translator;

static gboolean translate_alternatives(Translator *t);

/* Multi-character escapes as the inside of a class; Unicode's categories are L M N P Z S C. */
static const struct {
    char letter;
    const char *set;
} classes[] = {
    { 's', "\\x20\\t\\n\\r" },
    { 'S', "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x21-\\x{10ffff}" },
    { 'd', "\\p{Nd}" },
    { 'D', "\\P{Nd}" },
    { 'w', "\\p{L}\\p{M}\\p{N}\\p{S}" },
    { 'W', "\\p{P}\\p{Z}\\p{C}" },
    { 'i', "A-Z_a-z:\\x{c0}-\\x{d6}\\x{d8}-\\x{f6}\\x{f8}-\\x{2ff}\\x{370}-\\x{37d}\\x{37f}-\\x{1fff}\\x{200c}\\x{200d}\\x{2070}-"
           "\\x{218f}\\x{2c00}-\\x{2fef}\\x{3001}-\\x{d7ff}\\x{f900}-\\x{fdcf}\\x{fdf0}-\\x{fffd}\\x{10000}-\\x{effff}" },
    { 'I',
      "\\x00-9;-@\\[-\\^`{-\\x{bf}\\x{d7}\\x{f7}\\x{300}-\\x{36f}\\x{37e}\\x{2000}-\\x{200b}\\x{200e}-\\x{206f}\\x{2190}-\\x{2bff}"
      "\\x{2ff0}-\\x{3000}\\x{e000}-\\x{f8ff}\\x{fdd0}-\\x{fdef}\\x{fffe}\\x{ffff}\\x{f0000}-\\x{10ffff}" },
    { 'c',
      "\\-.0-:A-Z_a-z\\x{b7}\\x{c0}-\\x{d6}\\x{d8}-\\x{f6}\\x{f8}-\\x{37d}\\x{37f}-\\x{1fff}\\x{200c}\\x{200d}\\x{203f}\\x{2040}"
      "\\x{2070}-\\x{218f}\\x{2c00}-\\x{2fef}\\x{3001}-\\x{d7ff}\\x{f900}-\\x{fdcf}\\x{fdf0}-\\x{fffd}\\x{10000}-\\x{effff}" },
    { 'C',
      "\\x00-,\\/;-@\\[-\\^`{-\\x{b6}\\x{b8}-\\x{bf}\\x{d7}\\x{f7}\\x{37e}\\x{2000}-\\x{200b}\\x{200e}-\\x{203e}\\x{2041}-\\x{206f}"
      "\\x{2190}-\\x{2bff}\\x{2ff0}-\\x{3000}\\x{e000}-\\x{f8ff}\\x{fdd0}-\\x{fdef}\\x{fffe}\\x{ffff}\\x{f0000}-\\x{10ffff}" },
};

/* The blocks of Unicode that people use; the name stands without its "Is". */
static const struct {
    const char *name;
    guint32 first;
    guint32 last;
} blocks[] = {
    { "BasicLatin", 0, 0x7f },
    { "Latin-1Supplement", 0x80, 0xff },
    { "LatinExtended-A", 0x100, 0x17f },
    { "LatinExtended-B", 0x180, 0x24f },
    { "IPAExtensions", 0x250, 0x2af },
    { "SpacingModifierLetters", 0x2b0, 0x2ff },
    { "CombiningDiacriticalMarks", 0x300, 0x36f },
    { "Greek", 0x370, 0x3ff },
    { "GreekandCoptic", 0x370, 0x3ff },
    { "Cyrillic", 0x400, 0x4ff },
    { "Armenian", 0x530, 0x58f },
    { "Hebrew", 0x590, 0x5ff },
    { "Arabic", 0x600, 0x6ff },
    { "Syriac", 0x700, 0x74f },
    { "Devanagari", 0x900, 0x97f },
    { "Bengali", 0x980, 0x9ff },
    { "Tamil", 0xb80, 0xbff },
    { "Thai", 0xe00, 0xe7f },
    { "Tibetan", 0xf00, 0xfff },
    { "Georgian", 0x10a0, 0x10ff },
    { "HangulJamo", 0x1100, 0x11ff },
    { "Ethiopic", 0x1200, 0x137f },
    { "Cherokee", 0x13a0, 0x13ff },
    { "Khmer", 0x1780, 0x17ff },
    { "Mongolian", 0x1800, 0x18af },
    { "LatinExtendedAdditional", 0x1e00, 0x1eff },
    { "GreekExtended", 0x1f00, 0x1fff },
    { "GeneralPunctuation", 0x2000, 0x206f },
    { "SuperscriptsandSubscripts", 0x2070, 0x209f },
    { "CurrencySymbols", 0x20a0, 0x20cf },
    { "LetterlikeSymbols", 0x2100, 0x214f },
    { "NumberForms", 0x2150, 0x218f },
    { "Arrows", 0x2190, 0x21ff },
    { "MathematicalOperators", 0x2200, 0x22ff },
    { "BoxDrawing", 0x2500, 0x257f },
    { "CJKSymbolsandPunctuation", 0x3000, 0x303f },
    { "Hiragana", 0x3040, 0x309f },
    { "Katakana", 0x30a0, 0x30ff },
    { "Bopomofo", 0x3100, 0x312f },
    { "CJKUnifiedIdeographs", 0x4e00, 0x9fff },
    { "HangulSyllables", 0xac00, 0xd7af },
    { "PrivateUse", 0xe000, 0xf8ff },
    { "HalfwidthandFullwidthForms", 0xff00, 0xffef },
};

static gboolean
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The next byte outside a class; 0 at the end. (A NUL in the pattern is an ordinary character and read by take_char.) */
static char
peek(Translator *t)
{
    while (t->skip_space && t->p < t->end && is_space(*t->p))
        t->p++;
    return t->p < t->end ? *t->p : '\0';
}

static gboolean
take(Translator *t, char c)
{
    if (peek(t) != c || t->p >= t->end)
        return FALSE;

    t->p++;
    return TRUE;
}

static gboolean
take_char(Translator *t, gunichar *ret_char)
{
    guint n = qd_code_point_decode(t->p, (gsize) (t->end - t->p), ret_char);

    t->p += n;
    return n > 0;
}

static void
put_char(GString *out, gunichar c)
{
    if (c < 128 && g_ascii_isalnum((char) c))
        g_string_append_c(out, (char) c);
    else
        g_string_append_printf(out, "\\x{%x}", c);
}

/* --- escapes --------------------------------------------------------------------------------------------------------------- */

/* The single characters that may be escaped. */
static gboolean
unescape_char(char c, gunichar *ret_char)
{
    if (c == 'n' || c == 'r' || c == 't') {
        *ret_char = c == 'n' ? '\n' : c == 'r' ? '\r' : '\t';
        return TRUE;
    }
    *ret_char = (gunichar) (guchar) c;
    return c != '\0' && strchr("\\|.?*+(){}-[]^$", c) != NULL;
}

static gboolean
put_block(GString *out, const char *name, gsize n, gboolean negated)
{
    for (gsize i = 0; i < G_N_ELEMENTS(blocks); i++) {
        if (strlen(blocks[i].name) != n || memcmp(blocks[i].name, name, n) != 0)
            continue;
        if (!negated)
            g_string_append_printf(out, "\\x{%x}-\\x{%x}", blocks[i].first, blocks[i].last);
        if (negated && blocks[i].first > 0)
            g_string_append_printf(out, "\\x{0}-\\x{%x}", blocks[i].first == 0xe000 ? 0xd7ff : blocks[i].first - 1);
        if (negated)
            g_string_append_printf(out, "\\x{%x}-\\x{10ffff}", blocks[i].last + 1);
        return TRUE;
    }
    return FALSE;
}

static gboolean
is_category(const char *name, gsize n)
{
    static const char *const categories[] = { "Lultmo", "Mnce", "Ndlo", "Pcdseifo", "Zslp", "Smcko", "Ccfon" };

    for (gsize i = 0; i < G_N_ELEMENTS(categories); i++)
        if (n >= 1 && n <= 2 && name[0] == categories[i][0])
            return n == 1 || (name[1] != '\0' && strchr(categories[i] + 1, name[1]) != NULL);
    return FALSE;
}

/* {Lu} or {IsGreek}, after \p or \P, as the inside of a class. */
static gboolean
translate_property(Translator *t, gboolean negated)
{
    const char *start = t->p + 1;
    const char *close = t->p < t->end && *t->p == '{' ? memchr(start, '}', (gsize) (t->end - start)) : NULL;
    gsize n;

    if (close == NULL)
        return FALSE;
    n = (gsize) (close - start);
    t->p = close + 1;
    if (n > 2 && memcmp(start, "Is", 2) == 0)
        return put_block(t->out, start + 2, n - 2, negated);
    if (!is_category(start, n))
        return FALSE;

    g_string_append_printf(t->out, "\\%c{%.*s}", negated ? 'P' : 'p', (int) n, start);
    return TRUE;
}

/* What follows a backslash, if it is a set of characters; *ret_found says whether it is. */
static gboolean
translate_set_escape(Translator *t, gboolean *ret_found)
{
    char c = t->p < t->end ? *t->p : '\0';

    *ret_found = TRUE;
    for (gsize i = 0; i < G_N_ELEMENTS(classes); i++)
        if (c == classes[i].letter) {
            t->p++;
            g_string_append(t->out, classes[i].set);
            return TRUE;
        }
    if (c == 'p' || c == 'P') {
        t->p++;
        return translate_property(t, c == 'P');
    }
    *ret_found = FALSE;
    return TRUE;
}

/* --- classes ------------------------------------------------------------------------------------------------------------ */

/* A character of a class, escaped or not. */
static gboolean
take_class_char(Translator *t, gunichar *ret_char)
{
    if (t->p < t->end && *t->p == '\\') {
        t->p++;
        if (t->p >= t->end || !unescape_char(*t->p, ret_char))
            return FALSE;
        t->p++;
        return TRUE;
    }
    if (t->p >= t->end || *t->p == '[' || *t->p == ']')
        return FALSE;
    return take_char(t, ret_char);
}

static gboolean
begins_range(const Translator *t)
{
    return t->p + 1 < t->end && t->p[0] == '-' && t->p[1] != ']' && t->p[1] != '[';
}

static gboolean
translate_class_part(Translator *t)
{
    gunichar first;
    gunichar last;
    gboolean found = FALSE;

    if (*t->p == '\\') {
        t->p++;
        if (!translate_set_escape(t, &found))
            return FALSE;
        if (found)
            return TRUE;
        t->p--;
    }
    if (!take_class_char(t, &first))
        return FALSE;
    put_char(t->out, first);
    if (!begins_range(t))
        return TRUE;
    t->p++;
    if (!take_class_char(t, &last) || last < first)
        return FALSE;
    g_string_append_c(t->out, '-');
    put_char(t->out, last);
    return TRUE;
}

/* [a-z-[aeiou]] is written (?:(?![aeiou])[a-z]): PCRE2 has no subtraction. The "[" has been taken. */
static gboolean
translate_class(Translator *t)
{
    gsize start = t->out->len;
    gboolean empty = TRUE;
    g_autofree char *set = NULL;

    if (++t->depth > DEPTH_MAX)
        return FALSE;
    g_string_append_c(t->out, '[');
    if (t->p < t->end && *t->p == '^') {
        t->p++;
        g_string_append_c(t->out, '^');
    }
    while (t->p < t->end && *t->p != ']' && !(t->p + 1 < t->end && t->p[0] == '-' && t->p[1] == '[')) {
        if (!translate_class_part(t))
            return FALSE;
        empty = FALSE;
    }
    if (empty || t->p >= t->end)
        return FALSE;
    g_string_append_c(t->out, ']');
    if (*t->p == '-') {
        t->p += 2;
        set = g_strdup(t->out->str + start);
        g_string_truncate(t->out, start);
        g_string_append(t->out, "(?:(?!");
        if (!translate_class(t))
            return FALSE;
        g_string_append_printf(t->out, ")%s)", set);
    }
    t->depth--;
    if (t->p >= t->end || *t->p != ']')
        return FALSE;
    t->p++;
    return TRUE;
}

/* --- pieces --------------------------------------------------------------------------------------------------------------- */

/* \1 … \99: the longest number that is a group. */
static gboolean
translate_reference(Translator *t)
{
    guint group = (guint) (*t->p++ - '0');

    while (t->p < t->end && g_ascii_isdigit(*t->p) && group * 10 + (guint) (*t->p - '0') <= t->n_groups)
        group = group * 10 + (guint) (*t->p++ - '0');
    if (group == 0 || group > t->n_groups || !t->closed[group])
        return FALSE;

    g_string_append_printf(t->out, "\\g{%u}", group);
    return TRUE;
}

/* Flag i leaves sets as they are (XPath F&O 3.1 §5.6.1.1). PCRE2 folds ranges, which some of these have for letters. */
static gboolean
is_folded(char letter)
{
    return letter != '\0' && strchr("iIcCpP", letter) != NULL;
}

/* The "\" has been taken. */
static gboolean
translate_escape(Translator *t)
{
    gboolean found = FALSE;
    gboolean folded;
    gsize start = t->out->len;
    gunichar c;

    if (t->p >= t->end)
        return FALSE;
    if (g_ascii_isdigit(*t->p))
        return translate_reference(t);

    folded = is_folded(*t->p);
    if (!translate_set_escape(t, &found))
        return FALSE;
    if (found) {
        g_string_insert(t->out, (gssize) start, folded ? "(?-i:[" : "[");
        g_string_append(t->out, folded ? "])" : "]");
        return TRUE;
    }
    if (!unescape_char(*t->p, &c))
        return FALSE;
    t->p++;
    put_char(t->out, c);
    return TRUE;
}

/* The "(" has been taken. */
static gboolean
translate_group(Translator *t)
{
    guint group = 0;

    if (t->p + 1 < t->end && t->p[0] == '?' && t->p[1] == ':') {
        t->p += 2;
        g_string_append(t->out, "(?:");
    } else {
        if (++t->n_groups > GROUPS_MAX)
            return FALSE;
        group = t->n_groups;
        g_string_append_c(t->out, '(');
    }
    if (++t->depth > DEPTH_MAX || !translate_alternatives(t) || !take(t, ')'))
        return FALSE;

    t->depth--;
    t->closed[group] = TRUE;
    g_string_append_c(t->out, ')');
    return TRUE;
}

static gboolean
take_number(Translator *t, guint *ret_number)
{
    gboolean found = FALSE;

    *ret_number = 0;
    while (g_ascii_isdigit(peek(t))) {
        *ret_number = *ret_number * 10 + (guint) (*t->p++ - '0');
        found = TRUE;
        if (*ret_number > REPEAT_MAX)
            return FALSE;
    }
    return found;
}

/* {n}, {n,}, {n,m}; the "{" has been taken. */
static gboolean
translate_count(Translator *t)
{
    guint min;
    guint max;

    if (!take_number(t, &min))
        return FALSE;
    g_string_append_printf(t->out, "{%u", min);
    if (take(t, ',')) {
        g_string_append_c(t->out, ',');
        if (peek(t) != '}') {
            if (!take_number(t, &max) || max < min)
                return FALSE;
            g_string_append_printf(t->out, "%u", max);
        }
    }
    g_string_append_c(t->out, '}');
    return take(t, '}');
}

static gboolean
translate_quantifier(Translator *t)
{
    char c = peek(t);

    if (c == '\0' || strchr("?*+{", c) == NULL)
        return TRUE;
    t->p++;
    if (c == '{') {
        if (!translate_count(t))
            return FALSE;
    } else {
        g_string_append_c(t->out, c);
    }
    if (take(t, '?'))
        g_string_append_c(t->out, '?');
    c = peek(t);
    return c == '\0' || strchr("?*+{", c) == NULL; /* a++ is PCRE2's own */
}

/* One atom; its quantifier follows. */
static gboolean
translate_atom(Translator *t)
{
    gunichar c;

    switch (peek(t)) {
    case '(':
        t->p++;
        return translate_group(t);
    case '[':
        t->p++;
        return translate_class(t);
    case '\\':
        t->p++;
        return translate_escape(t);
    case '.':
    case '^':
    case '$':
        g_string_append_c(t->out, *t->p++);
        return TRUE;
    case '?':
    case '*':
    case '+':
    case '{':
    case '}':
    case ']':
        return FALSE;
    default: /* any other character */
        if (!take_char(t, &c))
            return FALSE;
        put_char(t->out, c);
        return TRUE;
    }
}

static gboolean
translate_alternatives(Translator *t)
{
    for (;;) {
        char c = peek(t);

        if (t->p >= t->end || c == ')')
            return TRUE;
        if (c == '|') {
            t->p++;
            g_string_append_c(t->out, '|');
            continue;
        }
        if (!translate_atom(t) || !translate_quantifier(t))
            return FALSE;
    }
}

gboolean
qd_regex_translate(const char *pattern, gsize n_bytes, gboolean skip_space, GString *out)
{
    Translator t = { .p = pattern, .end = pattern + n_bytes, .skip_space = skip_space, .out = out };

    return translate_alternatives(&t) && t.p == t.end;
}
