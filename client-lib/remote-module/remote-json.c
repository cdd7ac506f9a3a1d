/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SPARQL 1.1 Query Results JSON, read while it arrives.
 *
 * Place: internal to the module. The text is read in units: a bracket, a member's name, a whole value, a row. A unit that is not
 * whole is read again when it is. n_scanned and its neighbours remember how far its end was looked for: each byte is looked at a
 * fixed number of times. Invariant: a result is whole only when the outermost object has ended.
 */
#include <string.h>

#include "client-lib/remote-module/remote-private.h"
#include "client-lib/remote-module/remote-rows.h"

#define MEMBER_BYTES (64 * 1024) /* a name, and spaces on both sides of ":" */

typedef enum JsonState {
    JSON_BEGIN,    /* before '{' of the document */
    JSON_MEMBERS,  /* in the document, before a name, ',' or '}' */
    JSON_RESULTS,  /* in "results", the same */
    JSON_BINDINGS, /* in "bindings", before a row, ',' or ']' */
    JSON_END,      /* after the document */
} JsonState;

/* What comes next in an object or array. */
typedef enum JsonTurn {
    JSON_FIRST, /* an item, or the end */
    JSON_ITEM,  /* an item: there was a comma */
    JSON_COMMA, /* a comma, or the end */
} JsonTurn;

typedef struct JsonReader {
    RemoteReader base;
    RemoteRows *rows;
    JsonState state;
    JsonTurn turn;
    gboolean has_result;
    char **names; /* (nullable): of the columns */
    QwValue *values;
    GString *scratch;
    /* the search for the end of the unit: up to where, how deep, in a string */
    gsize n_scanned;
    guint depth;
    gboolean is_in_string;
    const char *p; /* during a call */
    const char *end;
} JsonReader;

typedef struct Text {
    const char *data;
    gsize n_bytes;
} Text;

static RemoteReader *
json_create(RemoteRows *rows)
{
    JsonReader *self = g_new0(JsonReader, 1);

    self->base.klass = &remote_json_class;
    self->rows = rows;
    self->scratch = g_string_new(NULL);
    return &self->base;
}

static void
json_free(RemoteReader *reader)
{
    JsonReader *self = (JsonReader *) reader;

    g_strfreev(self->names);
    g_free(self->values);
    g_string_free(self->scratch, TRUE);
    g_free(self);
}

/* Within a unit that is whole: FALSE says that it is malformed. --------------------------------------------------------- */

static void
skip_space(JsonReader *self)
{
    while (self->p < self->end && (*self->p == ' ' || *self->p == '\n' || *self->p == '\r' || *self->p == '\t'))
        self->p++;
}

static gboolean
take_char(JsonReader *self, char c)
{
    skip_space(self);
    if (self->p >= self->end || *self->p != c)
        return FALSE;
    self->p++;
    return TRUE;
}

/* The rest of a string from @start on, whose first backslash is at the reader's place. */
static gboolean
take_escaped(JsonReader *self, const char *start, Text *ret)
{
    gsize scratch_start = self->scratch->len;

    g_string_append_len(self->scratch, start, self->p - start);
    while (self->p < self->end && *self->p != '"') {
        const char *from = self->p;

        if (*from == '\\') {
            self->p = remote_append_escape(self->scratch, from + 1, self->end, TRUE);
            if (self->p == NULL) {
                self->p = from;
                return FALSE;
            }
            continue;
        }
        while (self->p < self->end && *self->p != '"' && *self->p != '\\')
            self->p++;
        g_string_append_len(self->scratch, from, self->p - from);
    }
    if (self->p >= self->end)
        return FALSE;
    *ret = (Text){ self->scratch->str + scratch_start, self->scratch->len - scratch_start };
    self->p++;
    return TRUE;
}

static gboolean
take_string(JsonReader *self, Text *ret)
{
    const char *start;
    const char *close;
    const char *escape;

    if (!take_char(self, '"'))
        return FALSE;
    start = self->p;
    close = memchr(start, '"', (gsize) (self->end - start));
    if (close == NULL)
        return FALSE;
    escape = memchr(start, '\\', (gsize) (close - start));
    if (G_LIKELY(escape == NULL)) {
        *ret = (Text){ start, (gsize) (close - start) };
        self->p = close + 1;
        return TRUE;
    }
    self->p = escape;
    return take_escaped(self, start, ret);
}

static gboolean
text_is(const Text *text, const char *word)
{
    return text->n_bytes == strlen(word) && memcmp(text->data, word, text->n_bytes) == 0;
}

static gboolean
take_word(JsonReader *self)
{
    const char *start = self->p;

    while (self->p < self->end && (g_ascii_isalnum(*self->p) || strchr("+-.", *self->p) != NULL))
        self->p++;
    return self->p > start;
}

/* Any value. @depth bounds the nesting. */
static gboolean
skip_value(JsonReader *self, guint depth)
{
    Text ignored;
    char close;

    skip_space(self);
    if (self->p >= self->end || depth == 0)
        return FALSE;
    if (*self->p == '"')
        return take_string(self, &ignored);
    if (*self->p != '{' && *self->p != '[')
        return take_word(self);
    close = *self->p == '{' ? '}' : ']';
    self->p++;
    if (take_char(self, close))
        return TRUE;
    do {
        if (close == '}' && (!take_string(self, &ignored) || !take_char(self, ':')))
            return FALSE;
        if (!skip_value(self, depth - 1))
            return FALSE;
    } while (take_char(self, ','));
    return take_char(self, close);
}

/* Terms and rows -------------------------------------------------------------------------------------------------------- */

typedef struct Term {
    Text type, value, language, datatype;
} Term;

static Text *
find_member(Term *term, const Text *name)
{
    if (text_is(name, "type"))
        return &term->type;
    if (text_is(name, "value"))
        return &term->value;
    if (text_is(name, "xml:lang"))
        return &term->language;
    return text_is(name, "datatype") ? &term->datatype : NULL;
}

static gboolean
take_members(JsonReader *self, Term *term)
{
    if (!take_char(self, '{'))
        return FALSE;
    do {
        Text name;
        Text *place;

        if (!take_string(self, &name) || !take_char(self, ':'))
            return FALSE;
        place = find_member(term, &name);
        if (place != NULL ? !take_string(self, place) : !skip_value(self, REMOTE_DEPTH))
            return FALSE;
    } while (take_char(self, ','));
    return take_char(self, '}');
}

static gboolean
has_nul(const Text *text)
{
    return text->n_bytes > 0 && memchr(text->data, '\0', text->n_bytes) != NULL;
}

/* Types and tags end with a NUL in the page, so they have none. */
static gboolean
take_term(JsonReader *self, QwValue *value)
{
    Term term = { 0 };

    if (!take_members(self, &term) || term.value.data == NULL || term.type.data == NULL || has_nul(&term.datatype))
        return FALSE;
    *value = (QwValue){ .type = QW_TYPE_TEXT };
    value->data = term.value.data;
    value->n_bytes = (uint32_t) term.value.n_bytes;
    if (text_is(&term.type, "uri")) {
        value->type = QW_TYPE_IRI;
        return !has_nul(&term.value);
    }
    if (text_is(&term.type, "bnode")) {
        value->type = QW_TYPE_BNODE;
        return remote_is_label(term.value.data, term.value.n_bytes);
    }
    if (!text_is(&term.type, "literal") && !text_is(&term.type, "typed-literal"))
        return FALSE;
    if (term.language.n_bytes > 0) {
        if (!remote_is_language(term.language.data, term.language.n_bytes))
            return FALSE;
        value->type = QW_TYPE_LITERAL_LANG;
        value->tag = term.language.data;
        value->n_tag_bytes = (uint32_t) term.language.n_bytes;
    } else if (term.datatype.n_bytes > 0) {
        remote_value_set_typed(value, term.datatype.data, term.datatype.n_bytes);
    }
    return TRUE;
}

/* Members come in the order of the columns, as a rule. */
static guint
find_column(const JsonReader *self, const Text *name, guint likely)
{
    for (guint i = 0; i < self->rows->n_columns; i++) {
        guint k = (likely + i) % self->rows->n_columns;

        if (text_is(name, self->names[k]))
            return k;
    }
    return G_MAXUINT;
}

static gboolean
take_row(JsonReader *self)
{
    guint next = 0;

    g_string_truncate(self->scratch, 0);
    for (guint i = 0; i < self->rows->n_columns; i++)
        self->values[i].type = QW_TYPE_NULL;
    if (!take_char(self, '{'))
        return FALSE;
    if (take_char(self, '}'))
        return TRUE;
    do {
        guint column;
        Text name;

        if (!take_string(self, &name) || !take_char(self, ':'))
            return FALSE;
        column = self->rows->n_columns > 0 ? find_column(self, &name, next) : G_MAXUINT;
        if (column == G_MAXUINT || !take_term(self, &self->values[column]))
            return FALSE;
        next = column + 1;
    } while (take_char(self, ','));
    return take_char(self, '}');
}

static gboolean
take_vars(JsonReader *self, GPtrArray *names)
{
    if (!take_char(self, '['))
        return FALSE;
    if (take_char(self, ']'))
        return TRUE;
    do {
        Text name;

        if (!take_string(self, &name) || has_nul(&name))
            return FALSE;
        g_ptr_array_add(names, g_strndup(name.data, name.n_bytes));
    } while (take_char(self, ','));
    return take_char(self, ']');
}

/* The value of "head". That of a truth value has no "vars". */
static gboolean
take_head(JsonReader *self, GPtrArray *names, gboolean *ret_has_vars)
{
    if (!take_char(self, '{'))
        return FALSE;
    if (take_char(self, '}'))
        return TRUE;
    do {
        Text name;

        if (!take_string(self, &name) || !take_char(self, ':'))
            return FALSE;
        if (text_is(&name, "vars")) {
            *ret_has_vars = TRUE;
            if (!take_vars(self, names))
                return FALSE;
        } else if (!skip_value(self, REMOTE_DEPTH)) {
            return FALSE;
        }
    } while (take_char(self, ','));
    return take_char(self, '}');
}

/* Units ----------------------------------------------------------------------------------------------------------------- */

typedef enum Unit {
    UNIT_DONE,
    UNIT_PARTIAL, /* it is not whole */
    UNIT_BAD,
    UNIT_STOP, /* with an error set, or since no more rows are wanted */
} Unit;

/* Looks for the end of the value at the reader's place. */
static gboolean
value_is_whole(JsonReader *self)
{
    const char *p = self->p + self->n_scanned;

    for (; p < self->end; p++) {
        if (self->is_in_string) {
            if (*p == '\\') {
                if (p + 1 >= self->end) /* the next character belongs to it */
                    break;
                p++;
            } else if (*p == '"') {
                self->is_in_string = FALSE;
                if (self->depth == 0)
                    return TRUE;
            }
        } else if (*p == '"') {
            self->is_in_string = TRUE;
        } else if (*p == '{' || *p == '[') {
            self->depth++;
        } else if (*p == '}' || *p == ']') {
            if (self->depth <= 1) /* of a word: what encloses it ends */
                return TRUE;
            self->depth--;
        } else if (self->depth == 0 && *p == ',') {
            return TRUE;
        }
    }
    self->n_scanned = (gsize) (p - self->p);
    return FALSE;
}

/* @p: within a string */
static gboolean
string_is_whole(const char *p, const char *end)
{
    for (; p < end && *p != '"'; p++)
        p += *p == '\\' ? 1 : 0;
    return p < end;
}

static void
forget_scan(JsonReader *self)
{
    self->n_scanned = 0;
    self->depth = 0;
    self->is_in_string = FALSE;
}

/* Room for all escapes of a unit of @n_bytes, so that the texts in it stay where they are. */
static void
reserve_scratch(JsonReader *self, gsize n_bytes)
{
    if (self->scratch->allocated_len <= n_bytes)
        g_string_set_size(self->scratch, n_bytes);
    g_string_truncate(self->scratch, 0);
}

static gboolean
begin_rows(JsonReader *self, GPtrArray *names, GError **error)
{
    guint n = names->len;

    g_ptr_array_add(names, NULL);
    self->names = (char **) g_ptr_array_steal(names, NULL);
    self->values = g_new0(QwValue, n + 1);
    return remote_rows_begin(self->rows, (const char *const *) self->names, NULL, n, error);
}

static Unit
read_head(JsonReader *self, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    gboolean has_vars = FALSE;

    if (!take_head(self, names, &has_vars) || self->names != NULL)
        return UNIT_BAD;
    return !has_vars || begin_rows(self, names, error) ? UNIT_DONE : UNIT_STOP;
}

static Unit
read_boolean(JsonReader *self, GError **error)
{
    const char *start;
    Text word;

    skip_space(self);
    start = self->p;
    if (!take_word(self))
        return UNIT_BAD;
    word = (Text){ start, (gsize) (self->p - start) };
    if (self->has_result || (!text_is(&word, "true") && !text_is(&word, "false")))
        return UNIT_BAD;
    self->has_result = TRUE;
    /* Some servers give an empty "vars", too. */
    if (self->names != NULL && self->rows->n_columns == 0)
        self->rows->has_begun = FALSE;
    return remote_rows_put_boolean(self->rows, text_is(&word, "true"), error) ? UNIT_DONE : UNIT_STOP;
}

/* After the name of a member, in the document or in "results". */
static Unit
read_member(JsonReader *self, GError **error)
{
    gboolean is_outer = self->state == JSON_MEMBERS;
    const Unit partial = self->end - self->p > MEMBER_BYTES ? UNIT_BAD
                                                            : UNIT_PARTIAL; /* up to the value it is read from its start */
    Unit result = UNIT_DONE;
    Text name;

    if (*self->p == '"' && !string_is_whole(self->p + 1, self->end))
        return partial;
    if (!take_string(self, &name))
        return UNIT_BAD;
    skip_space(self);
    if (self->p >= self->end)
        return partial;
    if (!take_char(self, ':'))
        return UNIT_BAD;
    skip_space(self);
    if (self->p >= self->end)
        return partial;
    if ((is_outer && text_is(&name, "results") && *self->p == '{') ||
        (!is_outer && text_is(&name, "bindings") && *self->p == '[')) {
        if (self->has_result && is_outer)
            return UNIT_BAD;
        self->has_result = TRUE;
        self->p++;
        self->state = is_outer ? JSON_RESULTS : JSON_BINDINGS;
        self->turn = JSON_FIRST;
        return !is_outer && self->names == NULL ? UNIT_BAD : UNIT_DONE;
    }
    if (!value_is_whole(self))
        return UNIT_PARTIAL;
    if (is_outer && text_is(&name, "head"))
        result = read_head(self, error);
    else if (is_outer && text_is(&name, "boolean"))
        result = read_boolean(self, error);
    else if (!skip_value(self, REMOTE_DEPTH))
        result = UNIT_BAD;
    self->turn = JSON_COMMA;
    return result;
}

static Unit
read_row(JsonReader *self, GError **error)
{
    const char *start = self->p;
    gboolean is_whole = self->n_scanned > 0; /* it was not the last time: it is looked through before it is read again */

    if (is_whole && !value_is_whole(self))
        return UNIT_PARTIAL;
    if (!take_row(self)) {
        self->p = start;
        return is_whole || value_is_whole(self) ? UNIT_BAD : UNIT_PARTIAL;
    }
    self->turn = JSON_COMMA;
    return remote_rows_put(self->rows, self->values, error) ? UNIT_DONE : UNIT_STOP;
}

static Unit
leave(JsonReader *self)
{
    self->p++;
    self->turn = JSON_COMMA;
    self->state = self->state == JSON_BINDINGS ? JSON_RESULTS : self->state == JSON_RESULTS ? JSON_MEMBERS : JSON_END;
    return UNIT_DONE;
}

static Unit
read_unit(JsonReader *self, GError **error)
{
    const char close = self->state == JSON_BINDINGS ? ']' : '}';

    if (self->state == JSON_END)
        return UNIT_BAD; /* something follows */
    if (self->state == JSON_BEGIN) {
        self->state = JSON_MEMBERS;
        return *self->p++ == '{' ? UNIT_DONE : UNIT_BAD;
    }
    if (*self->p == close && self->turn != JSON_ITEM)
        return leave(self);
    if (self->turn == JSON_COMMA) {
        self->turn = JSON_ITEM;
        return *self->p++ == ',' ? UNIT_DONE : UNIT_BAD;
    }
    return self->state == JSON_BINDINGS ? read_row(self, error) : read_member(self, error);
}

static gboolean
json_read(RemoteReader *reader, const char *data, gsize n_bytes, gboolean is_end, gsize *ret_used, GError **error)
{
    JsonReader *self = (JsonReader *) reader;
    Unit unit = UNIT_DONE;

    self->p = data;
    self->end = data + n_bytes;
    *ret_used = 0;
    reserve_scratch(self, n_bytes);
    while (unit == UNIT_DONE) {
        skip_space(self);
        *ret_used = (gsize) (self->p - data);
        if (self->p >= self->end)
            break;
        unit = read_unit(self, error);
        if (unit == UNIT_DONE)
            forget_scan(self);
    }
    if (unit == UNIT_STOP)
        return FALSE;
    if (unit == UNIT_BAD) {
        const char *place = data + *ret_used;

        return remote_rows_set_malformed(self->rows, error, "it is no JSON of SPARQL results at '%.*s'",
                                         (int) MIN(self->end - place, 60), place);
    }
    if (is_end && (self->state != JSON_END || unit == UNIT_PARTIAL || !self->has_result))
        return remote_rows_set_malformed(self->rows, error, "it ends before its end");
    return TRUE;
}

const RemoteReaderClass remote_json_class = { json_create, json_free, json_read };
