/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text is what SQLite has accepted once: it is read for the module and two options, and not checked.
 */
#include "client-lib/queryctl/transfer/virtual.h"

#include <string.h>

#include "client-lib/queryctl/splitter.h"

/* Of SQLite. Names of shadow tables are that of the table, then one of @shadows. */
typedef struct Module {
    const char *name;
    const char *shadows; /* each followed by a blank */
    const char *index;
    const char *settings;
    bool has_rowid;
    bool has_options; /* content and, in FTS4, languageid */
} Module;

static const Module modules[] = {
    { "fts3", "_content _docsize _segdir _segments _stat ", "_segdir", NULL, true, false },
    { "fts4", "_content _docsize _segdir _segments _stat ", "_segdir", NULL, true, true },
    { "fts5", "_config _content _data _docsize _idx ", "_idx", "_config", true, true },
    { "geopoly", "_node _parent _rowid ", NULL, NULL, true, false },
    { "rtree", "_node _parent _rowid ", NULL, NULL, false, false },
    { "rtree_i32", "_node _parent _rowid ", NULL, NULL, false, false },
};

struct QctlVirtual {
    const Module *module; /* (nullable) */
    char *content;        /* (nullable): empty: the texts are not kept */
    char *language;       /* (nullable) */
};

/* (transfer full) */
static char *
unquote(const char *text, gsize n_bytes)
{
    GString *out = g_string_new(NULL);
    char end = '\0';

    if (n_bytes > 0 && strchr("'\"`[", text[0]) != NULL)
        end = text[0] == '[' ? ']' : text[0];
    for (gsize i = end != '\0' ? 1 : 0; i < n_bytes; i++) {
        if (end != '\0' && text[i] == end && (end == ']' || i + 1 >= n_bytes || text[++i] != end))
            break;
        g_string_append_c(out, text[i]);
    }
    return g_string_free(out, FALSE);
}

/* One argument of the module: perhaps an option. FTS5 takes the beginning of an option's name, too. */
static void
read_argument(QctlVirtual *self, const char *text, gsize n_bytes)
{
    g_autofree char *argument = g_strstrip(g_strndup(text, n_bytes));
    const char *value = argument;
    gsize n_key = 0;

    while (qctl_is_of_word(argument[n_key]))
        n_key++;
    for (value += n_key; g_ascii_isspace(*value);)
        value++;
    if (n_key == 0 || *value != '=')
        return;
    for (value++; g_ascii_isspace(*value);)
        value++;
    if (self->content == NULL && g_ascii_strncasecmp("content", argument, n_key) == 0)
        self->content = unquote(value, strlen(value));
    else if (self->language == NULL && g_ascii_strncasecmp("languageid=", argument, n_key + 1) == 0)
        self->language = unquote(value, strlen(value));
}

/* @text: after the opening parenthesis */
static void
read_arguments(QctlVirtual *self, const char *text)
{
    const char *start = text;
    guint depth = 1;

    for (; *text != '\0'; text = qctl_token_skip(text)) {
        if (*text == '(')
            depth++;
        else if (*text == ')')
            depth--;
        if (depth == 0)
            break;
        if (*text == ',' && depth == 1) {
            read_argument(self, start, (gsize) (text - start));
            start = text + 1;
        }
    }
    read_argument(self, start, (gsize) (text - start));
}

/* SQLite writes the beginning of the text so, however it was typed. The module is the last word before the arguments. */
QctlVirtual *
qctl_virtual_new(const char *sql)
{
    static const char start[] = "CREATE VIRTUAL TABLE";
    g_autofree char *name = NULL;
    QctlVirtual *self = NULL;
    const char *end = sql;

    if (g_ascii_strncasecmp(sql, start, sizeof start - 1) != 0)
        return NULL;
    self = g_new0(QctlVirtual, 1);
    for (const char *text = sql; *text != '\0' && *text != '('; text = end) {
        end = qctl_token_skip(text);
        if (!qctl_is_of_word(*text) && strchr("'\"`[", *text) == NULL)
            continue;
        g_free(name);
        name = unquote(text, (gsize) (end - text));
    }
    for (gsize i = 0; i < G_N_ELEMENTS(modules); i++)
        if (name != NULL && g_ascii_strcasecmp(modules[i].name, name) == 0)
            self->module = &modules[i];
    if (self->module != NULL && self->module->has_options && *end == '(')
        read_arguments(self, end + 1);
    return self;
}

void
qctl_virtual_free(QctlVirtual *self)
{
    if (self == NULL)
        return;
    g_free(self->content);
    g_free(self->language);
    g_free(self);
}

QctlVirtualRows
qctl_virtual_get_rows(const QctlVirtual *self)
{
    if (self->module == NULL)
        return QCTL_VIRTUAL_ROWS_NONE;
    if (self->content == NULL)
        return QCTL_VIRTUAL_ROWS_OWN;
    return self->content[0] != '\0' ? QCTL_VIRTUAL_ROWS_OTHER : QCTL_VIRTUAL_ROWS_LOST;
}

const char *
qctl_virtual_get_content(const QctlVirtual *self)
{
    return qctl_virtual_get_rows(self) == QCTL_VIRTUAL_ROWS_OTHER ? self->content : NULL;
}

const char *
qctl_virtual_get_hidden(const QctlVirtual *self)
{
    return self->language;
}

bool
qctl_virtual_has_rowid(const QctlVirtual *self)
{
    return self->module != NULL && self->module->has_rowid;
}

const char *
qctl_virtual_get_settings(const QctlVirtual *self)
{
    return self->module != NULL ? self->module->settings : NULL;
}

const char *
qctl_virtual_get_index(const QctlVirtual *self)
{
    return self->module != NULL ? self->module->index : NULL;
}

/* As SQLite tells them: by their names. */
bool
qctl_virtual_owns(const QctlVirtual *self, const char *name, const char *table)
{
    gsize n_bytes = strlen(name);
    g_autofree char *word = NULL;

    if (self->module == NULL || g_ascii_strncasecmp(table, name, n_bytes) != 0 || table[n_bytes] != '_')
        return false;
    word = g_ascii_strdown(table + n_bytes, -1);
    for (const char *suffix = self->module->shadows; *suffix != '\0'; suffix = strchr(suffix, ' ') + 1)
        if (g_str_has_prefix(suffix, word) && suffix[strlen(word)] == ' ')
            return true;
    return false;
}
