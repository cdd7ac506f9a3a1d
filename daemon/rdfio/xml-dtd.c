/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The document type declaration: its internal subset with entities. What else may stand there is passed over; nothing outside of
 * the document is read.
 */
#include <string.h>

#include "daemon/rdfio/xml-entities-private.h"

static gboolean
is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

gboolean
qd_xml_is_name_byte(int c)
{
    return c >= 128 || (c > 0 && (g_ascii_isalnum(c) || strchr("-._:", c) != NULL));
}

static int
take_blank(QdXmlEntities *self)
{
    int c = qd_xml_source_take(self);

    if (c != QD_XML_END)
        qd_xml_source_blank(self, c);
    return c;
}

static gboolean
skip_space(QdXmlEntities *self)
{
    gboolean some = FALSE;

    for (; is_space(qd_xml_source_peek(self)); some = TRUE)
        (void) take_blank(self);
    return some;
}

static gboolean
fail_expected(QdXmlEntities *self, const char *what)
{
    return qd_xml_source_peek(self) == QD_XML_END
               ? qd_xml_source_fail(self, "unexpected end of the document in its DOCTYPE, expected %s", what)
               : qd_xml_source_fail(self, "in the DOCTYPE, expected %s", what);
}

static gboolean
expect(QdXmlEntities *self, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        if (qd_xml_source_peek(self) != *p)
            return fail_expected(self, text);
        (void) take_blank(self);
    }
    return TRUE;
}

/* @word: emptied; the keyword or the name that comes. */
static gboolean
read_word(QdXmlEntities *self, GString *word, const char *what)
{
    g_string_truncate(word, 0);
    while (qd_xml_is_name_byte(qd_xml_source_peek(self)) && word->len < QD_XML_NAME_BYTES_MAX)
        g_string_append_c(word, (char) take_blank(self));
    return word->len > 0 || fail_expected(self, what);
}

/* After its beginning, to @end, of two or three characters. */
static gboolean
skip_to(QdXmlEntities *self, const char *end)
{
    char window[3] = { 0 };
    gsize n = strlen(end);

    while (qd_xml_source_peek(self) != QD_XML_END) {
        memmove(window, window + 1, n - 1);
        window[n - 1] = (char) take_blank(self);
        if (memcmp(window, end, n) == 0)
            return TRUE;
    }
    return fail_expected(self, end);
}

/* A declaration that changes nothing for us: to its '>', past quoted texts. */
static gboolean
skip_declaration(QdXmlEntities *self)
{
    int quote = 0;

    for (int c = qd_xml_source_peek(self); c != QD_XML_END; c = qd_xml_source_peek(self)) {
        (void) take_blank(self);
        if (quote == 0 && c == '>')
            return TRUE;
        if (quote == 0 ? c == '"' || c == '\'' : c == quote)
            quote = quote == 0 ? c : 0;
    }
    return fail_expected(self, ">");
}

/* After "&#": one of ASCII is decoded, others stay. */
static gboolean
read_character(QdXmlEntities *self, GString *text)
{
    g_autoptr(GString) digits = g_string_new(NULL);
    guint64 value = 0;
    gboolean is_hex;

    while (g_ascii_isalnum(qd_xml_source_peek(self)) && digits->len < 12)
        g_string_append_c(digits, (char) take_blank(self));
    is_hex = digits->str[0] == 'x';
    if (qd_xml_source_peek(self) != ';' ||
        !g_ascii_string_to_unsigned(digits->str + is_hex, is_hex ? 16 : 10, 1, 0x10ffff, &value, NULL))
        return qd_xml_source_fail(self, "'&#%s' is no character", digits->str);
    (void) take_blank(self);
    if (value < 128)
        g_string_append_c(text, (char) value);
    else
        g_string_append_printf(text, "&#%s;", digits->str);
    return TRUE;
}

static gboolean
read_entity_value(QdXmlEntities *self, GString *text)
{
    int quote = qd_xml_source_peek(self);
    guint64 limit = qd_limits_get(self->reading->limits, QD_LIMIT_VALUE_BYTES);

    if (quote != '"' && quote != '\'')
        return fail_expected(self, "the text of the entity in quotes");
    (void) take_blank(self);
    for (int c = qd_xml_source_peek(self); c != quote; c = qd_xml_source_peek(self)) {
        if (c == QD_XML_END)
            return fail_expected(self, "the end of the text of the entity");
        if (c == '%')
            return qd_xml_source_fail(self, "a parameter entity in the text of an entity is not allowed");
        if (text->len >= limit)
            return qd_xml_source_fail_limit(self, QD_LIMIT_VALUE_BYTES, "the text of an entity is too long", "");
        (void) take_blank(self);
        if (c != '&' || qd_xml_source_peek(self) != '#') {
            g_string_append_c(text, (char) c);
            continue;
        }
        (void) take_blank(self);
        if (!read_character(self, text))
            return FALSE;
    }
    (void) take_blank(self);
    return TRUE;
}

static void
entity_free(gpointer data)
{
    QdXmlEntity *entity = data;

    g_free(entity->text);
    g_free(entity);
}

/* The first declaration of a name counts; XML's own five need none. */
static gboolean
add_entity(QdXmlEntities *self, const char *name, const GString *text)
{
    static const char *const predefined[] = { "amp", "lt", "gt", "apos", "quot", NULL };
    QdXmlEntity *entity;

    if (!qd_xml_source_charge(self, strlen(name) + text->len, name))
        return FALSE;
    if (g_strv_contains(predefined, name) || g_hash_table_contains(self->entities, name))
        return TRUE;
    if (g_hash_table_size(self->entities) >= qd_limits_get(self->reading->limits, QD_LIMIT_XML_ENTITIES))
        return qd_xml_source_fail_limit(self, QD_LIMIT_XML_ENTITIES, "too many entities, here ", name);
    entity = g_new0(QdXmlEntity, 1);
    entity->text = g_memdup2(text->str, text->len);
    entity->n_text = text->len;
    g_hash_table_insert(self->entities, g_strdup(name), entity);
    return TRUE;
}

/* After "<!ENTITY". */
static gboolean
read_entity(QdXmlEntities *self)
{
    g_autoptr(GString) name = g_string_new(NULL);
    g_autoptr(GString) text = g_string_new(NULL);

    if (!skip_space(self))
        return fail_expected(self, "a space");
    if (qd_xml_source_peek(self) == '%')
        return qd_xml_source_fail(self, "a parameter entity is not allowed");
    if (!read_word(self, name, "the name of an entity"))
        return FALSE;
    if (!skip_space(self))
        return fail_expected(self, "a space");
    if (qd_xml_source_peek(self) == 'S' || qd_xml_source_peek(self) == 'P')
        return qd_xml_source_fail(self, "the external entity '%.100s' is not allowed: nothing outside of the document is read",
                                  name->str);
    if (!read_entity_value(self, text))
        return FALSE;
    (void) skip_space(self);
    return expect(self, ">") && add_entity(self, name->str, text);
}

/* After "<". */
static gboolean
read_declaration(QdXmlEntities *self)
{
    g_autoptr(GString) keyword = g_string_new(NULL);

    if (qd_xml_source_peek(self) == '?')
        return expect(self, "?") && skip_to(self, "?>");
    if (!expect(self, "!"))
        return FALSE;
    if (qd_xml_source_peek(self) == '-')
        return expect(self, "--") && skip_to(self, "-->");
    if (!read_word(self, keyword, "a declaration"))
        return FALSE;
    if (g_str_equal(keyword->str, "ENTITY"))
        return read_entity(self);
    if (g_str_equal(keyword->str, "ELEMENT") || g_str_equal(keyword->str, "NOTATION"))
        return skip_declaration(self);
    return qd_xml_source_fail(self, "'<!%.20s' in the DOCTYPE is not allowed: only entities are", keyword->str);
}

/* After "[", to "]". */
static gboolean
read_subset(QdXmlEntities *self)
{
    for (;;) {
        (void) skip_space(self);
        if (qd_xml_source_peek(self) == ']')
            return expect(self, "]");
        if (qd_xml_source_peek(self) == '%')
            return qd_xml_source_fail(self, "a parameter entity is not allowed");
        if (qd_xml_source_peek(self) != '<')
            return fail_expected(self, "a declaration or ']'");
        if (!expect(self, "<") || !read_declaration(self))
            return FALSE;
    }
}

gboolean
qd_xml_dtd_read(QdXmlEntities *self)
{
    g_autoptr(GString) word = g_string_new("  ");

    g_string_append(self->out, word->str);
    self->entities = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, entity_free);
    if (!read_word(self, word, "DOCTYPE"))
        return FALSE;
    if (!g_str_equal(word->str, "DOCTYPE"))
        return qd_xml_source_fail(self, "'<!%.20s' before the first element", word->str);
    (void) skip_space(self);
    if (!read_word(self, word, "the name of an element"))
        return FALSE;
    (void) skip_space(self);
    if (qd_xml_source_peek(self) == 'S' || qd_xml_source_peek(self) == 'P')
        return qd_xml_source_fail(self, "an external DTD is not allowed: nothing outside of the document is read");
    if (qd_xml_source_peek(self) == '[' && (!expect(self, "[") || !read_subset(self)))
        return FALSE;
    (void) skip_space(self);
    return expect(self, ">");
}
