/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stack of sources: the document, and the entities that are being written out. A state: just enough of XML to know where a
 * reference is one. All else is left to libxml2: what is not understood here passes as it is.
 *
 * Only bytes of ASCII mean something, so any encoding that contains it will do. UTF-16 passes, and libxml2's callback refuses its
 * DOCTYPE.
 */
#include "daemon/rdfio/xml-entities-private.h"

#include <stdarg.h>

#include "daemon/base/error.h"

#define PIECE_BYTES (64 * 1024)
/* Entities may give so many times the bytes that were read, also within the limit. */
#define ENTITY_FACTOR 8

gboolean
qd_xml_source_fail(QdXmlEntities *self, const char *format, ...)
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

gboolean
qd_xml_source_fail_limit(QdXmlEntities *self, QdLimit limit, const char *what, const char *name)
{
    if (self->error == NULL)
        qd_limit_set_error(&self->error, self->reading->limits, limit, "%u:%u: %s%.100s", self->line, self->column, what, name);
    return FALSE;
}

gboolean
qd_xml_source_charge(QdXmlEntities *self, gsize n_bytes, const char *name)
{
    guint64 limit = qd_limits_get(self->reading->limits, QD_LIMIT_XML_ENTITY_BYTES);

    self->n_entity_bytes += n_bytes;
    if (self->n_entity_bytes <= MAX(limit, ENTITY_FACTOR * self->n_read))
        return TRUE;
    return qd_xml_source_fail_limit(self, QD_LIMIT_XML_ENTITY_BYTES, "the entities make too much text, here ", name);
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

static QdXmlFrame *
get_frame(QdXmlEntities *self)
{
    return self->frames->len > 0 ? &g_array_index(self->frames, QdXmlFrame, self->frames->len - 1) : NULL;
}

/* The next byte of the uppermost source; QD_XML_END: it has no more. */
int
qd_xml_source_peek(QdXmlEntities *self)
{
    QdXmlFrame *frame = get_frame(self);

    if (frame != NULL)
        return frame->pos < frame->entity->n_text ? (guchar) frame->entity->text[frame->pos] : QD_XML_END;
    return self->pos < self->n_input || refill(self) ? (guchar) self->input[self->pos] : QD_XML_END;
}

int
qd_xml_source_take(QdXmlEntities *self)
{
    QdXmlFrame *frame = get_frame(self);
    int c = qd_xml_source_peek(self);

    if (c == QD_XML_END)
        return QD_XML_END;
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
void
qd_xml_source_blank(QdXmlEntities *self, int c)
{
    if (self->out->len > qd_limits_get(self->reading->limits, QD_LIMIT_VALUE_BYTES))
        (void) qd_xml_source_fail_limit(self, QD_LIMIT_VALUE_BYTES, "the DOCTYPE is too long", "");
    g_string_append_c(self->out, c == '\n' || c == '\r' ? (char) c : ' ');
}

/* The document ---------------------------------------------------------------------------------------------------------- */

/* Begins to write @name's text out. */
static gboolean
push_entity(QdXmlEntities *self, QdXmlEntity *entity, const char *name)
{
    const QdXmlFrame frame = { .entity = entity, .state = self->state };

    if (entity->open)
        return qd_xml_source_fail(self, "the entity '%.100s' contains itself", name);
    if (self->frames->len >= qd_limits_get(self->reading->limits, QD_LIMIT_RDF_DEPTH))
        return qd_xml_source_fail_limit(self, QD_LIMIT_RDF_DEPTH, "entities are nested too deep, here ", name);
    if (!qd_xml_source_charge(self, entity->n_text + 1, name) || !qd_rdf_reading_check(self->reading, &self->error))
        return FALSE;
    entity->open = TRUE;
    g_array_append_val(self->frames, frame);
    return TRUE;
}

static gboolean
pop_entity(QdXmlEntities *self)
{
    const QdXmlFrame *frame = get_frame(self);

    if (frame->state != self->state)
        return qd_xml_source_fail(self, "an entity begins something that it does not end");
    frame->entity->open = FALSE;
    g_array_set_size(self->frames, self->frames->len - 1);
    return TRUE;
}

/* After "&": what is no reference to one of ours passes. */
static gboolean
put_reference(QdXmlEntities *self)
{
    char name[QD_XML_NAME_BYTES_MAX + 1];
    gsize n = 0;
    QdXmlEntity *entity;

    while (qd_xml_is_name_byte(qd_xml_source_peek(self)) && n < QD_XML_NAME_BYTES_MAX)
        name[n++] = (char) qd_xml_source_take(self);
    name[n] = '\0';
    entity = qd_xml_source_peek(self) == ';' ? g_hash_table_lookup(self->entities, name) : NULL;
    if (entity != NULL) {
        (void) qd_xml_source_take(self);
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
    self->state = qd_xml_source_peek(self) == '?' ? QD_XML_STATE_INSTRUCTION : QD_XML_STATE_TAG;
    if (qd_xml_source_peek(self) != '!')
        return;
    g_string_append_c(self->out, (char) qd_xml_source_take(self));
    if (qd_xml_source_peek(self) == '-') {
        g_string_append_c(self->out, (char) qd_xml_source_take(self));
        if (qd_xml_source_peek(self) == '-')
            g_string_append_c(self->out, (char) qd_xml_source_take(self));
        self->state = QD_XML_STATE_COMMENT;
        return;
    }
    for (const char *p = cdata; *p != '\0' && qd_xml_source_peek(self) == *p; p++) {
        g_string_append_c(self->out, (char) qd_xml_source_take(self));
        self->state = QD_XML_STATE_CDATA;
    }
}

/* A byte in an attribute's value. An entity's own quotes do not end it. */
static gboolean
put_quoted(QdXmlEntities *self, int c)
{
    const QdXmlFrame *frame = get_frame(self);

    if (c == '&')
        return put_reference(self);
    if (c == self->quote && frame != NULL && frame->state == QD_XML_STATE_QUOTED) {
        g_string_append_printf(self->out, "&#%d;", c);
        return TRUE;
    }
    g_string_append_c(self->out, (char) c);
    self->state = c == self->quote ? QD_XML_STATE_TAG : QD_XML_STATE_QUOTED;
    return TRUE;
}

/* A byte in what ends with @end before '>'. */
static void
put_until(QdXmlEntities *self, int c, char first, char second)
{
    g_string_append_c(self->out, (char) c);
    if (c == '>' && self->last[1] == second && (first == '\0' || self->last[0] == first))
        self->state = self->entities != NULL ? QD_XML_STATE_CONTENT : QD_XML_STATE_PROLOG;
    self->last[0] = self->last[1];
    self->last[1] = (char) c;
}

/* A '<' before the DOCTYPE. */
static gboolean
put_prolog_markup(QdXmlEntities *self)
{
    int c = qd_xml_source_peek(self);

    self->last[0] = self->last[1] = '\0';
    if (c == '?') {
        self->state = QD_XML_STATE_INSTRUCTION;
    } else if (c == '!') {
        (void) qd_xml_source_take(self);
        if (qd_xml_source_peek(self) != '-') {
            self->state = QD_XML_STATE_CONTENT;
            return qd_xml_dtd_read(self);
        }
        g_string_append(self->out, "<!-");
        (void) qd_xml_source_take(self);
        if (qd_xml_source_peek(self) == '-')
            g_string_append_c(self->out, (char) qd_xml_source_take(self));
        self->state = QD_XML_STATE_COMMENT;
        return TRUE;
    } else {
        self->state = QD_XML_STATE_PLAIN;
    }
    g_string_append_c(self->out, '<');
    return TRUE;
}

static gboolean
put_byte(QdXmlEntities *self, int c)
{
    switch (self->state) {
    case QD_XML_STATE_PROLOG:
        if (c == '<')
            return put_prolog_markup(self);
        g_string_append_c(self->out, (char) c);
        if (c == '\0' || c == 0xfe || c == 0xff) /* UTF-16 or worse */
            self->state = QD_XML_STATE_PLAIN;
        return TRUE;
    case QD_XML_STATE_CONTENT:
        if (c == '&')
            return put_reference(self);
        g_string_append_c(self->out, (char) c);
        if (c == '<')
            begin_markup(self);
        return TRUE;
    case QD_XML_STATE_TAG:
        g_string_append_c(self->out, (char) c);
        if (c == '"' || c == '\'') {
            self->quote = (char) c;
            self->state = QD_XML_STATE_QUOTED;
        } else if (c == '>') {
            self->state = QD_XML_STATE_CONTENT;
        }
        return TRUE;
    case QD_XML_STATE_QUOTED:
        return put_quoted(self, c);
    case QD_XML_STATE_COMMENT:
        put_until(self, c, '-', '-');
        return TRUE;
    case QD_XML_STATE_CDATA:
        put_until(self, c, ']', ']');
        return TRUE;
    case QD_XML_STATE_INSTRUCTION:
        put_until(self, c, '\0', '?');
        return TRUE;
    case QD_XML_STATE_PLAIN:
        break;
    }
    g_assert_not_reached();
}

/* Fills self->out. */
static gboolean
convert(QdXmlEntities *self)
{
    while (self->out->len < PIECE_BYTES && self->state != QD_XML_STATE_PLAIN && self->error == NULL) {
        int c = qd_xml_source_take(self);

        if (c != QD_XML_END ? !put_byte(self, c) : self->frames->len > 0 && !pop_entity(self))
            return FALSE;
        if (c == QD_XML_END && self->frames->len == 0 && self->at_end)
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
    self->frames = g_array_new(FALSE, FALSE, sizeof(QdXmlFrame));
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
    if (self->state != QD_XML_STATE_PLAIN && !convert(self)) {
        g_propagate_error(error, g_steal_pointer(&self->error));
        return -1;
    }
    *ret_text = self->out->str;
    if (self->out->len > 0 || self->state != QD_XML_STATE_PLAIN)
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
