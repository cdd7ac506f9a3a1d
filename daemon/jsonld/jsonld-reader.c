/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A document is read record by record: an object of an array at the top, of a large '@graph', or the whole.
 *
 * Whether '@graph' is the default graph is known at the end of its object, since a member after it may name it. So it is kept while
 * it is not large; then nothing may follow it.
 */
#include "daemon/jsonld/jsonld-reader.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/jsonld/json-parser.h"
#include "daemon/jsonld/ld-emit.h"
#include "daemon/rdf/code-point.h"

/* The part of jsonld_record_bytes up to which '@graph' is kept as a whole. */
#define KEEP_FRACTION 4

typedef struct Reader {
    const QdRdfReading *reading;
    QdJsonParser *parser;
    QdLd ld;
    QdLdEmitter emitter;
    const QdLdContext *context;
} Reader;

/* Records --------------------------------------------------------------------------------------------------------------- */

/* Errors of limits get the place of the record. */
static gboolean
place_error(const QdJson *record, GError **error)
{
    QwError code = error != NULL && *error != NULL ? qd_error_get_code(*error) : QW_ERROR_INTERNAL;

    if ((code == QW_ERROR_TOO_BIG || code == QW_ERROR_TOO_COMPLEX) && !g_ascii_isdigit((*error)->message[0]))
        g_prefix_error(error, "%u:%u: ", record->line, record->column);
    return FALSE;
}

/* @property: "@graph", or NULL at the top */
static gboolean
take_record(Reader *self, const char *property, const QdJson *record, GError **error)
{
    QdLdList items;
    g_autoptr(GError) local_error = NULL;
    gboolean ok = qd_ld_expand(&self->ld, self->context, property, record, &items, &local_error) ||
                  place_error(record, &local_error);

    if (ok && property == NULL && record->kind == QD_JSON_OBJECT && items.first != NULL && items.first->next == NULL &&
        items.first->has == QD_LD_HAS_GRAPH)
        items = items.first->graph;
    ok = ok && qd_ld_emit(&self->emitter, &items, &local_error);
    if (local_error != NULL)
        g_propagate_error(error, g_steal_pointer(&local_error));
    return ok;
}

/* The items of an array up to its end, each a record of its own. */
static gboolean
read_records(Reader *self, const char *property, GError **error)
{
    gboolean is_end = FALSE;

    while (!is_end) {
        QdJson *record;

        if (!qd_json_parser_value(self->parser, self->ld.record, NULL, &record, error) ||
            !qd_json_parser_next(self->parser, ']', &is_end, error) || !take_record(self, property, record, error))
            return FALSE;
        qd_json_arena_clear(self->ld.record);
    }
    return TRUE;
}

static gboolean
read_array(Reader *self, GError **error)
{
    int c;

    if (!qd_json_parser_expect(self->parser, '[', error) || !qd_json_parser_peek(self->parser, &c, error))
        return FALSE;
    return c == ']' ? qd_json_parser_expect(self->parser, ']', error) : read_records(self, NULL, error);
}

/* Context --------------------------------------------------------------------------------------------------------------- */

static gboolean
is_prefix_name(const char *text)
{
    gsize n = strlen(text);
    gsize i = 0;

    while (i < n) {
        gunichar c;
        guint size = qd_code_point_decode(text + i, n - i, &c);

        if (size == 0 || !(i == 0 ? qd_code_point_is_pn_base(c) : qd_code_point_is_pn(c) || (c == '.' && i + 1 < n)))
            return FALSE;
        i += size;
    }
    return n > 0;
}

/* The prefixes that @local declares, for the store. */
static gboolean
tell_prefixes(const Reader *self, const QdLdContext *context, const QdJson *local, GError **error)
{
    const QdJson *part = local->kind == QD_JSON_ARRAY ? local->first : local;

    for (; self->reading->prefix_func != NULL && part != NULL; part = local->kind == QD_JSON_ARRAY ? part->next : NULL)
        for (const QdJson *member = part->first; part->kind == QD_JSON_OBJECT && member != NULL; member = member->next) {
            const QdLdTerm *term = qd_ld_context_find(context, member->name);

            if (term != NULL && term->is_prefix && term->iri != NULL && qd_ld_is_iri(term->iri) && is_prefix_name(member->name) &&
                !self->reading->prefix_func(member->name, strlen(member->name), term->iri, strlen(term->iri), self->reading->data,
                                            error))
                return FALSE;
        }
    return TRUE;
}

/* With memory that stays for all records. */
static gboolean
process_context(Reader *self, const QdLdContext *active, const QdJson *local, const QdLdContext **ret_context, GError **error)
{
    QdJsonArena *record = self->ld.record;
    gboolean ok;

    self->ld.record = self->ld.document;
    ok = qd_ld_context_process(&self->ld, active, local, self->reading->base, NULL, 0, ret_context, error) ||
         place_error(local, error);
    self->ld.record = record;
    return ok;
}

static gboolean
begin_context(Reader *self, GError **error)
{
    const char *text = self->ld.options->expand_context;
    const QdLdContext *active = qd_ld_context_new(&self->ld, self->reading->base);
    const QdJson *local;
    QdJson *document;

    self->context = active;
    if (text == NULL)
        return TRUE;
    if (!qd_json_parse(text, strlen(text), self->ld.document, self->ld.limits, &document, error))
        return FALSE;
    local = qd_json_get(document, "@context");
    return process_context(self, active, local != NULL ? local : document, &self->context, error);
}

/* An object at the top -------------------------------------------------------------------------------------------------- */

typedef struct Top {
    QdJson object;
    QdJson **end;               /* where its next member goes */
    const QdLdContext *context; /* (nullable) of its first member, when that is the only one */
    gboolean is_taken;          /* '@graph' was read record by record */
} Top;

static void
add_member(Top *self, QdJson *member)
{
    *self->end = member;
    self->end = &member->next;
}

/* The first member is the context: it is kept for records that come one by one. */
static gboolean
read_context(Reader *self, Top *top, const char *name, GError **error)
{
    QdJson *local;
    QdJson *member;

    if (!qd_json_parser_value(self->parser, self->ld.document, name, &local, error) ||
        !process_context(self, self->context, local, &top->context, error) || !tell_prefixes(self, top->context, local, error))
        return FALSE;
    member = qd_json_arena_alloc(self->ld.record, sizeof *member);
    *member = *local;
    add_member(top, member);
    return TRUE;
}

static gboolean
take_records(Reader *self, Top *top, const QdJson *graph, GError **error)
{
    self->context = top->context;
    for (const QdJson *item = graph->first; item != NULL; item = item->next)
        if (!take_record(self, "@graph", item, error))
            return FALSE;
    qd_json_arena_clear(self->ld.record);
    return read_records(self, "@graph", error);
}

/* @name stands for '@graph', whose array begins. */
static gboolean
read_graph(Reader *self, Top *top, const char *name, GError **error)
{
    const gsize limit = qd_limits_get(self->ld.limits, QD_LIMIT_JSONLD_RECORD_BYTES) / KEEP_FRACTION;
    QdJson *graph = qd_json_arena_alloc(self->ld.record, sizeof *graph);
    QdJson **end = &graph->first;
    gboolean is_end;
    int c;

    graph->kind = QD_JSON_ARRAY;
    graph->name = name;
    qd_json_parser_get_place(self->parser, &graph->line, &graph->column);
    if (!qd_json_parser_expect(self->parser, '[', error) || !qd_json_parser_peek(self->parser, &c, error))
        return FALSE;
    is_end = c == ']';
    if (is_end && !qd_json_parser_expect(self->parser, ']', error))
        return FALSE;
    while (!is_end) {
        if (!qd_json_parser_value(self->parser, self->ld.record, NULL, end, error) ||
            !qd_json_parser_next(self->parser, ']', &is_end, error))
            return FALSE;
        end = &(*end)->next;
        if (!is_end && qd_json_arena_get_bytes(self->ld.record) > limit) {
            top->is_taken = TRUE;
            return take_records(self, top, graph, error);
        }
    }
    add_member(top, graph);
    return TRUE;
}

static gboolean
read_member(Reader *self, Top *top, GError **error)
{
    gboolean is_first = top->end == &top->object.first;
    gboolean is_second = top->context != NULL && top->end == &top->object.first->next;
    const char *iri = NULL;
    const char *name;
    QdJson *member;
    int c;

    if (!qd_json_parser_name(self->parser, is_first ? self->ld.document : self->ld.record, &name, error) ||
        !qd_json_parser_peek(self->parser, &c, error))
        return FALSE;
    if (is_first && g_str_equal(name, "@context"))
        return read_context(self, top, name, error);
    if (is_first)
        top->context = self->context;
    if ((is_first || is_second) && c == '[' && !qd_ld_expand_iri(&self->ld, top->context, name, QD_LD_VOCAB, NULL, &iri, error))
        return FALSE;
    if (g_strcmp0(iri, "@graph") == 0)
        return read_graph(self, top, name, error);
    if (!qd_json_parser_value(self->parser, self->ld.record, name, &member, error))
        return FALSE;
    add_member(top, member);
    return TRUE;
}

static gboolean
check_names(const QdJson *object, GError **error)
{
    g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);

    for (const QdJson *member = object->first; member != NULL; member = member->next)
        if (!g_hash_table_add(names, (gpointer) member->name)) {
            qd_error_set(error, QW_ERROR_SYNTAX, "%u:%u: the member '%.100s' stands in its object twice", member->line,
                         member->column, member->name);
            return FALSE;
        }
    return TRUE;
}

static gboolean
read_object(Reader *self, GError **error)
{
    Top top = { .object = { .kind = QD_JSON_OBJECT } };
    gboolean is_end;
    int c;

    qd_json_parser_get_place(self->parser, &top.object.line, &top.object.column);
    top.end = &top.object.first;
    if (!qd_json_parser_expect(self->parser, '{', error) || !qd_json_parser_peek(self->parser, &c, error))
        return FALSE;
    is_end = c == '}';
    if (is_end && !qd_json_parser_expect(self->parser, '}', error))
        return FALSE;
    while (!is_end) {
        if (!read_member(self, &top, error) || !qd_json_parser_next(self->parser, '}', &is_end, error))
            return FALSE;
        if (top.is_taken && !is_end) {
            guint line;
            guint column;

            qd_json_parser_get_place(self->parser, &line, &column);
            qd_limit_set_error(error, self->ld.limits, QD_LIMIT_JSONLD_RECORD_BYTES,
                               "%u:%u: a member follows '@graph', which is larger than a quarter of a record: put it before", line,
                               column);
            return FALSE;
        }
    }
    return top.is_taken || (check_names(&top.object, error) && take_record(self, NULL, &top.object, error));
}

/* ----------------------------------------------------------------------------------------------------------------------- */

static gboolean
read_document(Reader *self, GError **error)
{
    gboolean ok;
    int c;

    if (!begin_context(self, error) || !qd_json_parser_peek(self->parser, &c, error))
        return FALSE;
    if (c == '[')
        ok = read_array(self, error);
    else
        ok = read_object(self, error);
    return ok && qd_json_parser_end(self->parser, error);
}

gboolean
qd_jsonld_read(const QdRdfReading *reading, GError **error)
{
    static const QdJsonLdReading defaults = { 0 };
    g_autoptr(QdJsonArena) document = qd_json_arena_new(reading->limits);
    g_autoptr(QdJsonArena) record = qd_json_arena_new(reading->limits);
    g_autoptr(QdJsonParser) parser = qd_json_parser_new(reading->read_func, reading->read_data, reading->limits);
    g_autoptr(GString) resolved = g_string_new(NULL);
    g_autoptr(GString) scratch = g_string_new(NULL);
    g_autoptr(GError) local_error = NULL;
    Reader self = { .reading = reading, .parser = parser };
    gboolean ok;

    self.ld = (QdLd){
        .limits = reading->limits,
        .reading = reading,
        .options = reading->jsonld != NULL ? reading->jsonld : &defaults,
        .document = document,
        .record = record,
        .scratch = resolved,
    };
    self.emitter = (QdLdEmitter){ .ld = &self.ld, .reading = reading, .scratch = scratch };
    ok = read_document(&self, &local_error);
    if (local_error != NULL)
        g_propagate_error(error, g_steal_pointer(&local_error));
    return ok;
}
