/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A lexer with as few tokens as the question needs.
 *
 * SQL: a trigger's body holds semicolons: CREATE [TEMP] TRIGGER … ends with "; END ;", as sqlite3_complete() has it.
 */
#include "client-lib/queryctl/splitter.h"

#include <string.h>

typedef enum Token {
    TOKEN_END_OF_TEXT,
    TOKEN_SPACE, /* and comments */
    TOKEN_SEMICOLON,
    TOKEN_WORD,
    TOKEN_OTHER,
    TOKEN_OPEN, /* the text ends within it */
} Token;

bool
qctl_is_of_word(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '$' || (c & 0x80) != 0;
}

/* After the closing quote. A doubled one needs no code: a new string begins at once. */
static Token
skip_quoted(const char *text, gsize *offset, char quote)
{
    const char *end = strchr(text + *offset + 1, quote);

    if (end == NULL) {
        *offset += strlen(text + *offset);
        return TOKEN_OPEN;
    }

    *offset = (gsize) (end - text) + 1;
    return TOKEN_OTHER;
}

static Token
skip_comment(const char *text, gsize *offset, const char *closing)
{
    const char *end = strstr(text + *offset + 2, closing);

    if (end == NULL) {
        *offset += strlen(text + *offset);
        return closing[0] == '\n' ? TOKEN_SPACE : TOKEN_OPEN;
    }

    *offset = (gsize) (end - text) + strlen(closing);
    return TOKEN_SPACE;
}

static Token
next_token(const char *text, gsize *offset)
{
    char c = text[*offset];

    if (c == 0)
        return TOKEN_END_OF_TEXT;
    if (c == '-' && text[*offset + 1] == '-')
        return skip_comment(text, offset, "\n");
    if (c == '/' && text[*offset + 1] == '*')
        return skip_comment(text, offset, "*/");
    if (c == '\'' || c == '"' || c == '`')
        return skip_quoted(text, offset, c);
    if (c == '[')
        return skip_quoted(text, offset, ']');

    if (qctl_is_of_word(c)) {
        while (qctl_is_of_word(text[*offset]))
            (*offset)++;
        return TOKEN_WORD;
    }
    (*offset)++;
    return c == ';' ? TOKEN_SEMICOLON : g_ascii_isspace(c) ? TOKEN_SPACE : TOKEN_OTHER;
}

const char *
qctl_token_skip(const char *text)
{
    gsize offset = 0;

    (void) next_token(text, &offset);
    return text + offset;
}

static bool
word_is(const char *text, gsize start, gsize end, const char *word)
{
    return end - start == strlen(word) && g_ascii_strncasecmp(text + start, word, end - start) == 0;
}

/* What is known after some words: does a trigger's body come? */
typedef enum Head {
    HEAD_START,
    HEAD_EXPLAIN,
    HEAD_CREATE,
    HEAD_TRIGGER,
    HEAD_OTHER,
} Head;

static Head
next_head(Head head, Token token, const char *text, gsize start, gsize end)
{
    if (head == HEAD_TRIGGER || head == HEAD_OTHER)
        return head;
    if (token != TOKEN_WORD)
        return HEAD_OTHER;

    if (head == HEAD_START && word_is(text, start, end, "explain"))
        return HEAD_EXPLAIN;
    if (head == HEAD_EXPLAIN && (word_is(text, start, end, "query") || word_is(text, start, end, "plan")))
        return HEAD_EXPLAIN;
    if (head != HEAD_CREATE && word_is(text, start, end, "create"))
        return HEAD_CREATE;
    if (head == HEAD_CREATE && (word_is(text, start, end, "temp") || word_is(text, start, end, "temporary")))
        return HEAD_CREATE;
    return head == HEAD_CREATE && word_is(text, start, end, "trigger") ? HEAD_TRIGGER : HEAD_OTHER;
}

bool
qctl_span_find(const char *text, gsize offset, QctlSpan *ret_span)
{
    QctlSpan span = { 0 };
    Head head = HEAD_START;
    bool begun = false;
    bool after_semicolon = false; /* in a trigger */
    bool after_end = false;

    for (;;) {
        gsize start = offset;
        Token token = next_token(text, &offset);

        span.is_open = span.is_open || token == TOKEN_OPEN;
        if (token == TOKEN_END_OF_TEXT || (token == TOKEN_OPEN && !begun && text[start] == '/')) {
            span.next = offset;
            *ret_span = span;
            return begun || span.is_open;
        }
        if (token == TOKEN_SPACE)
            continue;
        if (!begun) {
            begun = true;
            span.start = span.end = start;
        }
        if (token == TOKEN_SEMICOLON && (head != HEAD_TRIGGER || after_end)) {
            span.complete = true;
            span.next = offset;
            *ret_span = span;
            return true;
        }

        after_end = token == TOKEN_WORD && after_semicolon && word_is(text, start, offset, "end");
        after_semicolon = token == TOKEN_SEMICOLON;
        head = next_head(head, token, text, start, offset);
        span.end = offset;
    }
}

/* SPARQL -------------------------------------------------------------------------------------------------------------- */

/* An IRI has none of these (SPARQL 1.1, IRIREF); else '<' is an operator. */
static Token
skip_iri(const char *text, gsize *offset)
{
    gsize n = strcspn(text + *offset + 1, "<>\"{}|^`\\\t\n\r ");

    *offset += text[*offset + 1 + n] == '>' ? n + 2 : 1;
    return TOKEN_OTHER;
}

/* Strings of one line end with it at the latest: the daemon says what is wrong. */
static Token
skip_sparql_string(const char *text, gsize *offset)
{
    char quote = text[*offset];
    bool is_long = text[*offset + 1] == quote && text[*offset + 2] == quote;
    bool is_closed;
    gsize i = *offset + (is_long ? 3 : 1);

    for (; text[i] != 0 && (is_long || text[i] != '\n'); i++) {
        if (text[i] == '\\' && text[i + 1] != 0)
            i++;
        else if (text[i] == quote && (!is_long || (text[i + 1] == quote && text[i + 2] == quote)))
            break;
    }
    is_closed = text[i] == quote;
    *offset = i + (!is_closed ? 0 : is_long ? 3 : 1);
    return is_closed || !is_long ? TOKEN_OTHER : TOKEN_OPEN;
}

static Token
next_sparql_token(const char *text, gsize *offset)
{
    char c = text[*offset];

    if (c == 0)
        return TOKEN_END_OF_TEXT;
    if (c == '#')
        return skip_comment(text, offset, "\n");
    if (c == '<')
        return skip_iri(text, offset);
    if (c == '\'' || c == '"')
        return skip_sparql_string(text, offset);
    if (qctl_is_of_word(c)) {
        while (qctl_is_of_word(text[*offset]))
            (*offset)++;
        return TOKEN_WORD;
    }
    *offset += c == '\\' && text[*offset + 1] != 0 ? 2 : 1; /* of a local name: \; is a character of it */
    return c == ';' ? TOKEN_SEMICOLON : g_ascii_isspace(c) ? TOKEN_SPACE : TOKEN_OTHER;
}

/* After a semicolon: nothing but white space and a comment is left of the line. */
static bool
ends_line(const char *text, gsize offset)
{
    offset += strspn(text + offset, " \t\r");
    return text[offset] == 0 || text[offset] == '\n' || text[offset] == '#';
}

bool
qctl_span_find_sparql(const char *text, gsize offset, QctlSpan *ret_span)
{
    QctlSpan span = { 0 };
    bool begun = false;
    guint depth = 0;

    for (;;) {
        gsize start = offset;
        Token token = next_sparql_token(text, &offset);

        span.is_open = span.is_open || token == TOKEN_OPEN;
        span.next = offset;
        span.complete = token == TOKEN_SEMICOLON && depth == 0 && ends_line(text, offset);
        if (token != TOKEN_SPACE && token != TOKEN_END_OF_TEXT && !begun) {
            begun = true;
            span.start = span.end = start;
        }
        if (token == TOKEN_END_OF_TEXT || span.complete) {
            *ret_span = span;
            return begun;
        }
        if (token == TOKEN_OTHER && strchr("{([", text[start]) != NULL)
            depth++;
        else if (token == TOKEN_OTHER && strchr("})]", text[start]) != NULL && depth > 0)
            depth--;
        if (token != TOKEN_SPACE)
            span.end = offset;
    }
}

/* Parameters ---------------------------------------------------------------------------------------------------------- */

/* What stands at @start is a parameter: its name without the mark; NULL: it is none. */
static const char *
find_name(const char *text, gsize start, Token token, bool is_sparql)
{
    if (token == TOKEN_WORD)
        return text[start] == '$' ? text + start + 1 : NULL;
    return token == TOKEN_OTHER && !is_sparql && strchr(":@?", text[start]) != NULL ? text + start + 1 : NULL;
}

bool
qctl_text_has_parameter(const char *text, bool is_sparql, const char *name)
{
    gsize offset = 0;
    const char *plain = name + (name[0] != 0 && strchr(":@$?", name[0]) != NULL ? 1 : 0);
    gsize n = strlen(plain);
    guint n_unnamed = 0;

    for (;;) {
        gsize start = offset;
        Token token = is_sparql ? next_sparql_token(text, &offset) : next_token(text, &offset);
        const char *found = find_name(text, start, token, is_sparql);
        g_autofree char *number = NULL;

        if (token == TOKEN_END_OF_TEXT)
            return false;
        if (found == NULL)
            continue;
        if (strncmp(found, plain, n) == 0 && !qctl_is_of_word(found[n]) && n > 0)
            return true;
        if (token == TOKEN_OTHER && text[start] == '?' && !qctl_is_of_word(found[0])) {
            number = g_strdup_printf("%u", ++n_unnamed);
            if (g_str_equal(number, plain))
                return true;
        }
    }
}

/* Control ------------------------------------------------------------------------------------------------------------- */

#define CONTROL_MAX_WORDS 8u

typedef struct Words {
    const char *text;
    gsize starts[CONTROL_MAX_WORDS];
    gsize ends[CONTROL_MAX_WORDS];
    guint n;
    guint next;
} Words;

/* The first tokens of a statement. */
static void
read_words(Words *self, const char *text)
{
    gsize offset = 0;

    *self = (Words){ .text = text };
    while (self->n < CONTROL_MAX_WORDS) {
        gsize start = offset;
        Token token = next_token(text, &offset);

        if (token == TOKEN_END_OF_TEXT)
            return;
        if (token == TOKEN_SPACE || (token == TOKEN_OPEN && text[start] == '/'))
            continue;
        self->starts[self->n] = start;
        self->ends[self->n++] = offset;
    }
}

static bool
take_word(Words *self, const char *word)
{
    if (self->next >= self->n || !word_is(self->text, self->starts[self->next], self->ends[self->next], word))
        return false;
    self->next++;
    return true;
}

/* A name may stand in quotes. */
static void
leave_quotes(const char *text, gsize *start, gsize *end)
{
    if (*end - *start < 2 || strchr("'\"`[", text[*start]) == NULL)
        return;
    (*start)++;
    (*end)--;
}

static bool
take_name(Words *self, const char *name)
{
    gsize start;
    gsize end;

    if (self->next >= self->n)
        return false;
    start = self->starts[self->next];
    end = self->ends[self->next];
    leave_quotes(self->text, &start, &end);
    if (!word_is(self->text, start, end, name))
        return false;
    self->next++;
    return true;
}

static const char deferring[] = "defer_foreign_keys";
static const char *const settings[] = { "foreign_keys", "legacy_alter_table", "recursive_triggers", deferring };

/* PRAGMA was taken. */
static QctlControl
find_setting(Words *words)
{
    const char *found = NULL;

    if ((take_name(words, "main") || take_name(words, "temp")) && !take_word(words, "."))
        return QCTL_CONTROL_NONE;
    for (gsize i = 0; i < G_N_ELEMENTS(settings) && found == NULL; i++)
        found = take_name(words, settings[i]) ? settings[i] : NULL;
    if (found == NULL)
        return QCTL_CONTROL_NONE;
    if (words->next == words->n)
        return QCTL_CONTROL_ASKING;
    return found == deferring ? QCTL_CONTROL_DEFERRING : QCTL_CONTROL_SETTING;
}

/* Whether it reads one as a table: SELECT * FROM pragma_foreign_keys. */
static bool
has_setting_table(const char *text)
{
    static const char prefix[] = "pragma_";
    gsize offset = 0;

    for (;;) {
        gsize start = offset;
        gsize end;

        if (next_token(text, &offset) == TOKEN_END_OF_TEXT)
            return false;
        end = offset;
        leave_quotes(text, &start, &end);
        if (g_ascii_strncasecmp(text + start, prefix, strlen(prefix)) != 0)
            continue;
        for (gsize i = 0; i < G_N_ELEMENTS(settings); i++)
            if (word_is(text, start + strlen(prefix), end, settings[i]))
                return true;
    }
}

QctlControl
qctl_control_find(const char *statement)
{
    QctlControl control = QCTL_CONTROL_NONE;
    Words words;

    read_words(&words, statement);
    if (take_word(&words, "savepoint") || take_word(&words, "release"))
        return QCTL_CONTROL_SAVEPOINT;
    if (take_word(&words, "pragma"))
        return find_setting(&words);
    if (take_word(&words, "begin")) {
        control = QCTL_CONTROL_BEGIN;
        (void) (take_word(&words, "deferred") || take_word(&words, "immediate") || take_word(&words, "exclusive"));
    } else if (take_word(&words, "commit") || take_word(&words, "end")) {
        control = QCTL_CONTROL_COMMIT;
    } else if (take_word(&words, "rollback")) {
        control = QCTL_CONTROL_ROLLBACK;
    } else {
        return has_setting_table(statement) ? QCTL_CONTROL_ASKING : QCTL_CONTROL_NONE;
    }

    (void) take_word(&words, "transaction");
    if (control == QCTL_CONTROL_ROLLBACK && take_word(&words, "to"))
        return QCTL_CONTROL_SAVEPOINT;
    return words.next == words.n ? control : QCTL_CONTROL_NONE;
}
