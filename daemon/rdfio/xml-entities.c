/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stack of sources: the document, and the entities that are being written out. A state: just enough of XML to know where a
 * reference is one. All else is left to libxml2: what is not understood here passes as it is.
 *
 * Only bytes of ASCII mean something, so any encoding that contains it will do. UTF-16 passes, and libxml2's callback refuses its
 * DOCTYPE.
 */
#include "daemon/rdfio/xml-entities.h"

#include <stdarg.h>
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/rdf/code-point.h"

#define PIECE_BYTES (64 * 1024)
#define NAME_BYTES_MAX 1000
/* Entities may give so many times the bytes that were read, also within the limit. */
#define ENTITY_FACTOR 8
#define END (-1)

typedef enum State {
    STATE_PROLOG, /* before the DOCTYPE or the first element */
    STATE_PLAIN,  /* no DOCTYPE: the rest passes */
    STATE_CONTENT,
    STATE_TAG,
    STATE_QUOTED, /* in an attribute's value */
    STATE_COMMENT,
    STATE_CDATA,
    STATE_INSTRUCTION,
} State;

typedef struct Entity {
    char *text; /* character references of ASCII are decoded, all others are not */
    gsize n_text;
    gboolean open; /* being written out */
} Entity;

/* An entity being written out. */
typedef struct Frame {
    Entity *entity;
    gsize pos;
    State state; /* that it began in */
} Frame;

struct QdXmlEntities {
    const QdRdfReading *reading;
    char *input;
    gsize n_input;
    gsize pos;
    gboolean at_end;
    guint64 n_read;
    guint line; /* of the next byte of the document */
    guint column;
    GError *error;

    GHashTable *entities; /* name → Entity; NULL before a DOCTYPE */
    GArray *frames;       /* of Frame */
    guint64 n_entity_bytes;

    State state;
    char quote;   /* of STATE_QUOTED */
    char last[2]; /* the bytes before, in what ends with three characters */
    GString *out;
};

static gboolean fail(QdXmlEntities *self, const char *format, ...) G_GNUC_PRINTF(2, 3);

static gboolean
fail(QdXmlEntities *self, const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list args;

    if (self->error != NULL)
        return FALSE;
    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    qd_error_set(&self->error, QW_ERROR_SYNTAX, "%u:%u: %s", self->line, self->column, message);
    return FALSE;
}

static gboolean
fail_limit(QdXmlEntities *self, QdLimit limit, const char *what, const char *name)
{
    if (self->error == NULL)
        qd_limit_set_error(&self->error, self->reading->limits, limit, "%u:%u: %s%.100s", self->line, self->column, what, name);
    return FALSE;
}

static gboolean
charge(QdXmlEntities *self, gsize n_bytes, const char *name)
{
    guint64 limit = qd_limits_get(self->reading->limits, QD_LIMIT_XML_ENTITY_BYTES);

    self->n_entity_bytes += n_bytes;
    if (self->n_entity_bytes <= MAX(limit, ENTITY_FACTOR * self->n_read))
        return TRUE;
    return fail_limit(self, QD_LIMIT_XML_ENTITY_BYTES, "the entities make too much text, here ", name);
}

/* Sources --------------------------------------------------------------------------------------------------------------- */

/* FALSE: at the end, or an error. */
static gboolean
refill(QdXmlEntities *self)
{
    gssize n;

    if (self->at_end || self->error != NULL)
        return FALSE;
    n = self->reading->read_func(self->input, PIECE_BYTES, self->reading->read_data, &self->error);
    self->pos = 0;
    self->n_input = n > 0 ? (gsize) n : 0;
    self->n_read += self->n_input;
    self->at_end = n <= 0;
    return n > 0;
}

static Frame *
get_frame(QdXmlEntities *self)
{
    return self->frames->len > 0 ? &g_array_index(self->frames, Frame, self->frames->len - 1) : NULL;
}

/* The next byte of the uppermost source; END: it has no more. */
static int
peek(QdXmlEntities *self)
{
    Frame *frame = get_frame(self);

    if (frame != NULL)
        return frame->pos < frame->entity->n_text ? (guchar) frame->entity->text[frame->pos] : END;
    return self->pos < self->n_input || refill(self) ? (guchar) self->input[self->pos] : END;
}

static int
take(QdXmlEntities *self)
{
    Frame *frame = get_frame(self);
    int c = peek(self);

    if (c == END)
        return END;
    if (frame != NULL) {
        frame->pos++;
        return c;
    }
    self->pos++;
    if (c == '\n') {
        self->line++;
        self->column = 1;
    } else if ((c & 0xc0) != 0x80) {
        self->column++;
    }
    return c;
}

/* For what was read and is not to be seen: places stay. */
static void
blank(QdXmlEntities *self, int c)
{
    if (self->out->len > qd_limits_get(self->reading->limits, QD_LIMIT_VALUE_BYTES))
        (void) fail_limit(self, QD_LIMIT_VALUE_BYTES, "the DOCTYPE is too long", "");
    g_string_append_c(self->out, c == '\n' || c == '\r' ? (char) c : ' ');
}

/* The DTD --------------------------------------------------------------------------------------------------------------- */

static gboolean
is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A byte of a name; what is beyond ASCII is not looked at. */
static gboolean
is_name_byte(int c)
{
    return c >= 128 || (c > 0 && (g_ascii_isalnum(c) || strchr("-._:", c) != NULL));
}

static int
take_blank(QdXmlEntities *self)
{
    int c = take(self);

    if (c != END)
        blank(self, c);
    return c;
}

static gboolean
skip_space(QdXmlEntities *self)
{
    gboolean some = FALSE;

    for (; is_space(peek(self)); some = TRUE)
        (void) take_blank(self);
    return some;
}

static gboolean
fail_expected(QdXmlEntities *self, const char *what)
{
    return peek(self) == END ? fail(self, "unexpected end of the document in its DOCTYPE, expected %s", what)
                             : fail(self, "in the DOCTYPE, expected %s", what);
}

static gboolean
expect(QdXmlEntities *self, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        if (peek(self) != *p)
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
    while (is_name_byte(peek(self)) && word->len < NAME_BYTES_MAX)
        g_string_append_c(word, (char) take_blank(self));
    return word->len > 0 || fail_expected(self, what);
}

/* After its beginning, to @end, of two or three characters. */
static gboolean
skip_to(QdXmlEntities *self, const char *end)
{
    char window[3] = { 0 };
    gsize n = strlen(end);

    while (peek(self) != END) {
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

    for (int c = peek(self); c != END; c = peek(self)) {
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

    while (g_ascii_isalnum(peek(self)) && digits->len < 12)
        g_string_append_c(digits, (char) take_blank(self));
    is_hex = digits->str[0] == 'x';
    if (peek(self) != ';' || !g_ascii_string_to_unsigned(digits->str + is_hex, is_hex ? 16 : 10, 1, 0x10ffff, &value, NULL))
        return fail(self, "'&#%s' is no character", digits->str);
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
    int quote = peek(self);
    guint64 limit = qd_limits_get(self->reading->limits, QD_LIMIT_VALUE_BYTES);

    if (quote != '"' && quote != '\'')
        return fail_expected(self, "the text of the entity in quotes");
    (void) take_blank(self);
    for (int c = peek(self); c != quote; c = peek(self)) {
        if (c == END)
            return fail_expected(self, "the end of the text of the entity");
        if (c == '%')
            return fail(self, "a parameter entity in the text of an entity is not allowed");
        if (text->len >= limit)
            return fail_limit(self, QD_LIMIT_VALUE_BYTES, "the text of an entity is too long", "");
        (void) take_blank(self);
        if (c != '&' || peek(self) != '#') {
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
    Entity *entity = data;

    g_free(entity->text);
    g_free(entity);
}

/* The first declaration of a name counts; XML's own five need none. */
static gboolean
add_entity(QdXmlEntities *self, const char *name, const GString *text)
{
    static const char *const predefined[] = { "amp", "lt", "gt", "apos", "quot", NULL };
    Entity *entity;

    if (!charge(self, strlen(name) + text->len, name))
        return FALSE;
    if (g_strv_contains(predefined, name) || g_hash_table_contains(self->entities, name))
        return TRUE;
    if (g_hash_table_size(self->entities) >= qd_limits_get(self->reading->limits, QD_LIMIT_XML_ENTITIES))
        return fail_limit(self, QD_LIMIT_XML_ENTITIES, "too many entities, here ", name);
    entity = g_new0(Entity, 1);
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
    if (peek(self) == '%')
        return fail(self, "a parameter entity is not allowed");
    if (!read_word(self, name, "the name of an entity"))
        return FALSE;
    if (!skip_space(self))
        return fail_expected(self, "a space");
    if (peek(self) == 'S' || peek(self) == 'P')
        return fail(self, "the external entity '%.100s' is not allowed: nothing outside of the document is read", name->str);
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

    if (peek(self) == '?')
        return expect(self, "?") && skip_to(self, "?>");
    if (!expect(self, "!"))
        return FALSE;
    if (peek(self) == '-')
        return expect(self, "--") && skip_to(self, "-->");
    if (!read_word(self, keyword, "a declaration"))
        return FALSE;
    if (g_str_equal(keyword->str, "ENTITY"))
        return read_entity(self);
    if (g_str_equal(keyword->str, "ELEMENT") || g_str_equal(keyword->str, "NOTATION"))
        return skip_declaration(self);
    return fail(self, "'<!%.20s' in the DOCTYPE is not allowed: only entities are", keyword->str);
}

/* After "[", to "]". */
static gboolean
read_subset(QdXmlEntities *self)
{
    for (;;) {
        (void) skip_space(self);
        if (peek(self) == ']')
            return expect(self, "]");
        if (peek(self) == '%')
            return fail(self, "a parameter entity is not allowed");
        if (peek(self) != '<')
            return fail_expected(self, "a declaration or ']'");
        if (!expect(self, "<") || !read_declaration(self))
            return FALSE;
    }
}

/* After "<!", which is not in self->out yet. */
static gboolean
read_doctype(QdXmlEntities *self)
{
    g_autoptr(GString) word = g_string_new("  ");

    g_string_append(self->out, word->str);
    self->entities = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, entity_free);
    if (!read_word(self, word, "DOCTYPE"))
        return FALSE;
    if (!g_str_equal(word->str, "DOCTYPE"))
        return fail(self, "'<!%.20s' before the first element", word->str);
    (void) skip_space(self);
    if (!read_word(self, word, "the name of an element"))
        return FALSE;
    (void) skip_space(self);
    if (peek(self) == 'S' || peek(self) == 'P')
        return fail(self, "an external DTD is not allowed: nothing outside of the document is read");
    if (peek(self) == '[' && (!expect(self, "[") || !read_subset(self)))
        return FALSE;
    (void) skip_space(self);
    return expect(self, ">");
}

/* The document ---------------------------------------------------------------------------------------------------------- */

/* Begins to write @name's text out. */
static gboolean
push_entity(QdXmlEntities *self, Entity *entity, const char *name)
{
    const Frame frame = { .entity = entity, .state = self->state };

    if (entity->open)
        return fail(self, "the entity '%.100s' contains itself", name);
    if (self->frames->len >= qd_limits_get(self->reading->limits, QD_LIMIT_RDF_DEPTH))
        return fail_limit(self, QD_LIMIT_RDF_DEPTH, "entities are nested too deep, here ", name);
    if (!charge(self, entity->n_text + 1, name))
        return FALSE;
    entity->open = TRUE;
    g_array_append_val(self->frames, frame);
    return TRUE;
}

static gboolean
pop_entity(QdXmlEntities *self)
{
    const Frame *frame = get_frame(self);

    if (frame->state != self->state)
        return fail(self, "an entity begins something that it does not end");
    frame->entity->open = FALSE;
    g_array_set_size(self->frames, self->frames->len - 1);
    return TRUE;
}

/* After "&": what is no reference to one of ours passes. */
static gboolean
put_reference(QdXmlEntities *self)
{
    char name[NAME_BYTES_MAX + 1];
    gsize n = 0;
    Entity *entity;

    while (is_name_byte(peek(self)) && n < NAME_BYTES_MAX)
        name[n++] = (char) take(self);
    name[n] = '\0';
    entity = peek(self) == ';' ? g_hash_table_lookup(self->entities, name) : NULL;
    if (entity != NULL) {
        (void) take(self);
        return push_entity(self, entity, name);
    }
    g_string_append_c(self->out, '&');
    g_string_append_len(self->out, name, (gssize) n);
    return TRUE;
}

/* After "<" in the document's content: what it begins. */
static void
begin_markup(QdXmlEntities *self)
{
    static const char cdata[] = "[CDATA[";

    self->last[0] = self->last[1] = '\0';
    self->state = peek(self) == '?' ? STATE_INSTRUCTION : STATE_TAG;
    if (peek(self) != '!')
        return;
    g_string_append_c(self->out, (char) take(self));
    if (peek(self) == '-') {
        g_string_append_c(self->out, (char) take(self));
        if (peek(self) == '-')
            g_string_append_c(self->out, (char) take(self));
        self->state = STATE_COMMENT;
        return;
    }
    for (const char *p = cdata; *p != '\0' && peek(self) == *p; p++) {
        g_string_append_c(self->out, (char) take(self));
        self->state = STATE_CDATA;
    }
}

/* A byte in an attribute's value. An entity's own quotes do not end it. */
static gboolean
put_quoted(QdXmlEntities *self, int c)
{
    const Frame *frame = get_frame(self);

    if (c == '&')
        return put_reference(self);
    if (c == self->quote && frame != NULL && frame->state == STATE_QUOTED) {
        g_string_append_printf(self->out, "&#%d;", c);
        return TRUE;
    }
    g_string_append_c(self->out, (char) c);
    self->state = c == self->quote ? STATE_TAG : STATE_QUOTED;
    return TRUE;
}

/* A byte in what ends with @end before '>'. */
static void
put_until(QdXmlEntities *self, int c, char first, char second)
{
    g_string_append_c(self->out, (char) c);
    if (c == '>' && self->last[1] == second && (first == '\0' || self->last[0] == first))
        self->state = self->entities != NULL ? STATE_CONTENT : STATE_PROLOG;
    self->last[0] = self->last[1];
    self->last[1] = (char) c;
}

/* A '<' before the DOCTYPE. */
static gboolean
put_prolog_markup(QdXmlEntities *self)
{
    int c = peek(self);

    self->last[0] = self->last[1] = '\0';
    if (c == '?') {
        self->state = STATE_INSTRUCTION;
    } else if (c == '!') {
        (void) take(self);
        if (peek(self) != '-') {
            self->state = STATE_CONTENT;
            return read_doctype(self);
        }
        g_string_append(self->out, "<!-");
        (void) take(self);
        if (peek(self) == '-')
            g_string_append_c(self->out, (char) take(self));
        self->state = STATE_COMMENT;
        return TRUE;
    } else {
        self->state = STATE_PLAIN;
    }
    g_string_append_c(self->out, '<');
    return TRUE;
}

static gboolean
put_byte(QdXmlEntities *self, int c)
{
    switch (self->state) {
    case STATE_PROLOG:
        if (c == '<')
            return put_prolog_markup(self);
        g_string_append_c(self->out, (char) c);
        if (c == '\0' || c == 0xfe || c == 0xff) /* UTF-16 or worse */
            self->state = STATE_PLAIN;
        return TRUE;
    case STATE_CONTENT:
        if (c == '&')
            return put_reference(self);
        g_string_append_c(self->out, (char) c);
        if (c == '<')
            begin_markup(self);
        return TRUE;
    case STATE_TAG:
        g_string_append_c(self->out, (char) c);
        if (c == '"' || c == '\'') {
            self->quote = (char) c;
            self->state = STATE_QUOTED;
        } else if (c == '>') {
            self->state = STATE_CONTENT;
        }
        return TRUE;
    case STATE_QUOTED:
        return put_quoted(self, c);
    case STATE_COMMENT:
        put_until(self, c, '-', '-');
        return TRUE;
    case STATE_CDATA:
        put_until(self, c, ']', ']');
        return TRUE;
    case STATE_INSTRUCTION:
        put_until(self, c, '\0', '?');
        return TRUE;
    case STATE_PLAIN:
        break;
    }
    g_assert_not_reached();
}

/* Fills self->out. */
static gboolean
convert(QdXmlEntities *self)
{
    while (self->out->len < PIECE_BYTES && self->state != STATE_PLAIN && self->error == NULL) {
        int c = take(self);

        if (c != END ? !put_byte(self, c) : self->frames->len > 0 && !pop_entity(self))
            return FALSE;
        if (c == END && self->frames->len == 0 && self->at_end)
            break;
    }
    return self->error == NULL;
}

QdXmlEntities *
qd_xml_entities_new(const QdRdfReading *reading)
{
    QdXmlEntities *self = g_new0(QdXmlEntities, 1);

    self->reading = reading;
    self->input = g_malloc(PIECE_BYTES);
    self->line = self->column = 1;
    self->frames = g_array_new(FALSE, FALSE, sizeof(Frame));
    self->out = g_string_new(NULL);
    return self;
}

QdXmlEntities *
qd_xml_entities_free(QdXmlEntities *self)
{
    if (self == NULL)
        return NULL;

    g_clear_pointer(&self->entities, g_hash_table_unref);
    g_array_unref(self->frames);
    (void) g_string_free(self->out, TRUE);
    g_clear_error(&self->error);
    g_free(self->input);
    g_free(self);
    return NULL;
}

gssize
qd_xml_entities_read(QdXmlEntities *self, const char **ret_text, GError **error)
{
    gsize n = 0;

    g_string_truncate(self->out, 0);
    if (self->state != STATE_PLAIN && !convert(self)) {
        g_propagate_error(error, g_steal_pointer(&self->error));
        return -1;
    }
    *ret_text = self->out->str;
    if (self->out->len > 0 || self->state != STATE_PLAIN)
        return (gssize) self->out->len;
    if (self->pos < self->n_input || refill(self)) {
        *ret_text = self->input + self->pos;
        n = self->n_input - self->pos;
        self->pos = self->n_input;
    }
    if (self->error != NULL) {
        g_propagate_error(error, g_steal_pointer(&self->error));
        return -1;
    }
    return (gssize) n;
}
