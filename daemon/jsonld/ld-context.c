/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Context Processing (§4.1).
 */
#include "daemon/jsonld/ld-context.h"

#include <string.h>

#include "daemon/jsonld/json-parser.h"
#include "daemon/rdf/iri.h"

#define MAX_LAYERS 8 /* then they become one */

static gboolean process(QdLd *ld, const QdLdContext *active, const QdJson *local, const char *base, GPtrArray *remote, guint flags,
                        QdJsonArena *arena, const QdLdContext **ret_context, GError **error);

/* Layers ---------------------------------------------------------------------------------------------------------------- */

static QdLdContext *
context_alloc(QdJsonArena *arena)
{
    QdLdContext *self = qd_json_arena_alloc(arena, sizeof *self);

    self->arena = arena;
    self->n_layers = 1;
    return self;
}

gboolean
qd_ld_check(const QdLd *ld, const QdJsonArena *arena, GError **error)
{
    return qd_rdf_reading_check(ld->reading, error) && qd_json_arena_check(arena, error);
}

QdLdContext *
qd_ld_context_new(QdLd *ld, const char *base)
{
    QdLdContext *self = context_alloc(ld->document);

    self->base = self->original_base = base;
    return self;
}

const QdLdTerm *
qd_ld_context_find(const QdLdContext *self, const char *name)
{
    for (; self != NULL; self = self->parent) {
        const QdLdTerm *term = self->terms != NULL ? g_hash_table_lookup(self->terms, name) : NULL;

        if (term != NULL)
            return term->is_removed ? NULL : term;
    }
    return NULL;
}

/* All terms of @self, those of upper layers over those of lower ones. */
static GHashTable *
collect_terms(const QdLdContext *self)
{
    GHashTable *terms = g_hash_table_new(g_str_hash, g_str_equal);

    for (; self != NULL; self = self->parent) {
        GHashTableIter iter;
        gpointer name;
        gpointer term;

        if (self->terms == NULL)
            continue;
        g_hash_table_iter_init(&iter, self->terms);
        while (g_hash_table_iter_next(&iter, &name, &term))
            if (!g_hash_table_contains(terms, name))
                (void) g_hash_table_insert(terms, name, term);
    }
    return terms;
}

static gboolean
has_protected(const QdLdContext *self)
{
    g_autoptr(GHashTable) terms = collect_terms(self);
    GHashTableIter iter;
    gpointer term;

    g_hash_table_iter_init(&iter, terms);
    while (g_hash_table_iter_next(&iter, NULL, &term))
        if (!((const QdLdTerm *) term)->is_removed && ((const QdLdTerm *) term)->is_protected)
            return TRUE;
    return FALSE;
}

/* A layer over @active. */
static QdLdContext *
derive(QdLd *ld, const QdLdContext *active, QdJsonArena *arena)
{
    QdLdContext *self = context_alloc(arena);

    *self = *active;
    self->arena = arena;
    self->terms = self->scoped = NULL;
    self->parent = active;
    self->n_layers = active->n_layers + 1;
    if (self->n_layers > MAX_LAYERS) {
        self->terms = collect_terms(active);
        qd_json_arena_own(arena, self->terms, (GDestroyNotify) g_hash_table_unref);
        (void) qd_json_arena_alloc(arena, g_hash_table_size(self->terms) * sizeof(gpointer[3])); /* what the table takes */
        ld->n_terms += g_hash_table_size(self->terms);
        self->parent = NULL;
        self->n_layers = 1;
    }
    return self;
}

/* Remote contexts ------------------------------------------------------------------------------------------------------- */

static const char *
resolve(QdLd *ld, QdJsonArena *arena, const char *base, const QdJson *reference)
{
    g_string_truncate(ld->scratch, 0);
    (void) qd_iri_resolve(base, base != NULL ? strlen(base) : 0, reference->text, reference->n_text, ld->scratch);
    return qd_json_arena_copy(arena, ld->scratch->str, ld->scratch->len);
}

/* The value of @context in the document @iri. */
static gboolean
load(QdLd *ld, QdJsonArena *arena, const char *iri, const QdJson *place, const QdJson **ret_context, GError **error)
{
    g_autoptr(GBytes) bytes = NULL;
    g_autoptr(GError) local_error = NULL;
    QdJson *document = NULL;
    gconstpointer text;
    gsize n;

    if (ld->options->context_func == NULL)
        return qd_ld_fail(error, place, "loading remote context failed",
                          "'%.200s' is not part of the document, and nothing is fetched; write the context into the document", iri);
    bytes = ld->options->context_func(iri, ld->options->context_data, &local_error);
    if (bytes == NULL)
        return qd_ld_fail(error, place, "loading remote context failed", "%s", local_error->message);
    text = g_bytes_get_data(bytes, &n);
    if (!qd_json_parse(text, n, arena, ld->limits, &document, &local_error))
        return qd_ld_fail(error, place, "loading remote context failed", "'%.200s': %s", iri, local_error->message);
    *ret_context = qd_json_get(document, "@context");
    return *ret_context != NULL || qd_ld_fail(error, place, "invalid remote context", "'%.200s' has no @context", iri);
}

static gboolean
include(QdLd *ld, QdLdContext *result, const QdJson *reference, const char *base, GPtrArray *remote, guint flags,
        const QdLdContext **ret_context, GError **error)
{
    const char *iri = resolve(ld, result->arena, base, reference);
    g_autoptr(GPtrArray) here = g_ptr_array_new();
    const QdJson *local;

    for (guint i = 0; remote != NULL && i < remote->len; i++) {
        if (g_str_equal(remote->pdata[i], iri) && (flags & QD_LD_NO_VALIDATE) != 0) {
            *ret_context = result;
            return TRUE;
        }
        if (g_str_equal(remote->pdata[i], iri))
            return qd_ld_fail(error, reference, "recursive context inclusion", "'%.200s'", iri);
        g_ptr_array_add(here, remote->pdata[i]);
    }
    g_ptr_array_add(here, (gpointer) iri);
    return load(ld, result->arena, iri, reference, &local, error) &&
           process(ld, result, local, iri, here, flags & QD_LD_NO_VALIDATE, result->arena, ret_context, error);
}

/* @context with what its @import has besides. */
static gboolean
import(QdLd *ld, QdJsonArena *arena, const QdJson *context, const QdJson *reference, const char *base, const QdJson **ret_context,
       GError **error)
{
    QdJson *merged = qd_json_arena_alloc(arena, sizeof *merged);
    QdJson **end = &merged->first;
    const QdJson *imported;

    if (ld->options->is_1_0)
        return qd_ld_fail(error, reference, "invalid context entry", "@import is not known to JSON-LD 1.0");
    if (reference->kind != QD_JSON_STRING)
        return qd_ld_fail(error, reference, "invalid @import value", "it is no string");
    if (!load(ld, arena, resolve(ld, arena, base, reference), reference, &imported, error))
        return FALSE;
    if (imported->kind != QD_JSON_OBJECT)
        return qd_ld_fail(error, reference, "invalid remote context", "what is imported is one context, not several");
    if (qd_json_get(imported, "@import") != NULL)
        return qd_ld_fail(error, reference, "invalid context entry", "what is imported may not import in its turn");
    *merged = *context;
    for (guint i = 0; i < 2; i++)
        for (const QdJson *member = i == 0 ? context->first : imported->first; member != NULL; member = member->next) {
            QdJson *copy;

            if (i == 0 ? member == reference : qd_json_get(context, member->name) != NULL)
                continue;
            copy = qd_json_arena_alloc(arena, sizeof *copy);
            *copy = *member;
            *end = copy;
            end = &copy->next;
        }
    *end = NULL;
    *ret_context = merged;
    return TRUE;
}

/* Entries --------------------------------------------------------------------------------------------------------------- */

static gboolean
set_base(QdLd *ld, QdLdContext *result, const QdJson *value, GError **error)
{
    if (value->kind == QD_JSON_NULL) {
        result->base = NULL;
        return TRUE;
    }
    if (value->kind != QD_JSON_STRING || (!qd_iri_is_absolute(value->text, value->n_text) && result->base == NULL))
        return qd_ld_fail(error, value, "invalid base IRI", "it is no IRI, and there is none that it could be relative to");
    result->base = resolve(ld, result->arena, result->base, value);
    return qd_iri_check_base(strlen(result->base), error);
}

static gboolean
set_vocab(QdLd *ld, QdLdContext *result, const QdJson *value, GError **error)
{
    const char *iri;

    if (value->kind == QD_JSON_NULL) {
        result->vocab = NULL;
        return TRUE;
    }
    if (value->kind != QD_JSON_STRING || (ld->options->is_1_0 && !qd_ld_is_iri(value->text) && !qd_ld_is_bnode(value->text)))
        return qd_ld_fail(error, value, "invalid vocab mapping", "it is no IRI");
    if (!qd_ld_expand_iri(ld, result, value->text, QD_LD_VOCAB | QD_LD_DOCUMENT, NULL, &iri, error))
        return FALSE;
    if (iri == NULL || qd_ld_is_keyword(iri))
        return qd_ld_fail(error, value, "invalid vocab mapping", "it is no IRI");
    result->vocab = qd_json_arena_copy(result->arena, iri, strlen(iri));
    return TRUE;
}

static gboolean
set_version(const QdLd *ld, const QdJson *value, GError **error)
{
    if (value->kind != QD_JSON_NUMBER || g_ascii_strtod(value->text, NULL) != 1.1) /* NOLINT: the very number */
        return qd_ld_fail(error, value, "invalid @version value", "it is the number 1.1");
    if (ld->options->is_1_0)
        return qd_ld_fail(error, value, "processing mode conflict", "the document is of JSON-LD 1.1");
    return TRUE;
}

static gboolean
set_text(QdLd *ld, QdLdContext *result, const QdJson *context, GError **error)
{
    const QdJson *language = qd_json_get(context, "@language");
    const QdJson *direction = qd_json_get(context, "@direction");
    const QdJson *propagate = qd_json_get(context, "@propagate");

    if (language != NULL) {
        if (language->kind != QD_JSON_NULL && language->kind != QD_JSON_STRING)
            return qd_ld_fail(error, language, "invalid default language", "it is a string or null");
        result->language = language->text;
    }
    if (direction != NULL) {
        if (ld->options->is_1_0)
            return qd_ld_fail(error, direction, "invalid context entry", "@direction is not known to JSON-LD 1.0");
        if (direction->kind != QD_JSON_NULL && !qd_json_is_string(direction, "ltr") && !qd_json_is_string(direction, "rtl"))
            return qd_ld_fail(error, direction, "invalid base direction", "it is ltr, rtl or null");
        result->direction = direction->text;
    }
    if (propagate != NULL && ld->options->is_1_0)
        return qd_ld_fail(error, propagate, "invalid context entry", "@propagate is not known to JSON-LD 1.0");
    if (propagate != NULL && propagate->kind != QD_JSON_TRUE && propagate->kind != QD_JSON_FALSE)
        return qd_ld_fail(error, propagate, "invalid @propagate value", "it is true or false");
    return TRUE;
}

static gboolean
add_object(QdLd *ld, QdLdContext *result, const QdJson *context, const char *base, GPtrArray *remote, guint flags, GError **error)
{
    const QdJson *version = qd_json_get(context, "@version");
    const QdJson *reference = qd_json_get(context, "@import");
    const QdJson *own_base;
    const QdJson *vocab;

    if (version != NULL && !set_version(ld, version, error))
        return FALSE;
    if (reference != NULL && !import(ld, result->arena, context, reference, base, &context, error))
        return FALSE;
    own_base = remote == NULL || remote->len == 0 ? qd_json_get(context, "@base") : NULL;
    vocab = qd_json_get(context, "@vocab");
    return (own_base == NULL || set_base(ld, result, own_base, error)) && (vocab == NULL || set_vocab(ld, result, vocab, error)) &&
           set_text(ld, result, context, error) && qd_ld_define_terms(ld, result, context, base, remote, flags, error);
}

/* Contexts -------------------------------------------------------------------------------------------------------------- */

static gboolean
add_context(QdLd *ld, const QdLdContext *active, QdLdContext **result, const QdJson *context, const char *base, GPtrArray *remote,
            guint flags, GError **error)
{
    const QdLdContext *included;
    QdLdContext *fresh;

    switch (context->kind) {
    case QD_JSON_NULL:
        if ((flags & QD_LD_OVERRIDE) == 0 && has_protected(active))
            return qd_ld_fail(error, context, "invalid context nullification", "there are protected terms");
        fresh = context_alloc((*result)->arena);
        fresh->base = fresh->original_base = active->original_base;
        if ((flags & QD_LD_NO_PROPAGATE) != 0)
            fresh->previous = (*result)->previous;
        *result = fresh;
        return TRUE;
    case QD_JSON_STRING:
        if (!include(ld, *result, context, base, remote, flags, &included, error))
            return FALSE;
        if (included != *result)
            *result = derive(ld, included, (*result)->arena);
        return TRUE;
    case QD_JSON_OBJECT:
        return add_object(ld, *result, context, base, remote, flags, error);
    case QD_JSON_FALSE:
    case QD_JSON_TRUE:
    case QD_JSON_NUMBER:
    case QD_JSON_ARRAY:
        return qd_ld_fail(error, context, "invalid local context", "it is an object, an IRI or null");
    }
    g_assert_not_reached();
}

static gboolean
process(QdLd *ld, const QdLdContext *active, const QdJson *local, const char *base, GPtrArray *remote, guint flags,
        QdJsonArena *arena, const QdLdContext **ret_context, GError **error)
{
    const QdJson *propagate = qd_json_get(local, "@propagate");
    QdLdContext *result = derive(ld, active, arena);
    const QdJson *context = local->kind == QD_JSON_ARRAY ? local->first : local;
    gboolean ok = TRUE;

    if (propagate != NULL && (propagate->kind == QD_JSON_TRUE || propagate->kind == QD_JSON_FALSE))
        flags = (flags & ~QD_LD_NO_PROPAGATE) | (propagate->kind == QD_JSON_FALSE ? QD_LD_NO_PROPAGATE : 0);
    if ((flags & QD_LD_NO_PROPAGATE) != 0 && result->previous == NULL)
        result->previous = active;
    if (++ld->depth > qd_limits_get(ld->limits, QD_LIMIT_RDF_DEPTH)) {
        qd_limit_set_error(error, ld->limits, QD_LIMIT_RDF_DEPTH, "%u:%u: contexts are nested too deep", local->line,
                           local->column);
        ok = FALSE;
    }
    for (; ok && context != NULL; context = local->kind == QD_JSON_ARRAY ? context->next : NULL)
        ok = add_context(ld, active, &result, context, base, remote, flags, error) && qd_ld_check(ld, arena, error);
    ld->depth--;
    *ret_context = result;
    return ok;
}

gboolean
qd_ld_context_process(QdLd *ld, const QdLdContext *active, const QdJson *local, const char *base, GPtrArray *remote, guint flags,
                      const QdLdContext **ret_context, GError **error)
{
    return process(ld, active, local, base, remote, flags, ld->record, ret_context, error);
}

/* The key of a context in the table of those made of another. */
static gpointer
make_key(const QdLdTerm *term, guint flags)
{
    return GSIZE_TO_POINTER(GPOINTER_TO_SIZE(term) | flags);
}

gboolean
qd_ld_context_scope(QdLd *ld, const QdLdContext *active, const QdLdTerm *term, guint flags, const QdLdContext **ret_context,
                    GError **error)
{
    QdLdContext *self = (QdLdContext *) active;
    gpointer key = make_key(term, flags);
    QdJsonArena *arena = ld->record;
    gboolean keep = active->arena == ld->record;

    G_STATIC_ASSERT(G_ALIGNOF(QdLdTerm) >= 4);
    *ret_context = active->scoped != NULL ? g_hash_table_lookup(active->scoped, key) : NULL;
    if (*ret_context != NULL)
        return TRUE;
    /* what belongs to the document's own context is kept for all records, while there is room */
    if (!keep && qd_json_arena_get_bytes(ld->document) < qd_limits_get(ld->limits, QD_LIMIT_JSONLD_RECORD_BYTES) / 2) {
        arena = ld->document;
        keep = TRUE;
    }
    if (!process(ld, active, term->context, term->base, NULL, flags, arena, ret_context, error))
        return FALSE;
    if (keep && self->scoped == NULL) {
        self->scoped = g_hash_table_new(NULL, NULL);
        qd_json_arena_own(self->arena, self->scoped, (GDestroyNotify) g_hash_table_unref);
    }
    if (keep)
        (void) g_hash_table_insert(self->scoped, key, (gpointer) *ret_context);
    return TRUE;
}
