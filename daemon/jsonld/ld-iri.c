/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keywords, and IRI Expansion.
 */
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/jsonld/ld-context.h"
#include "daemon/rdf/iri.h"

static const char *const keywords[] = {
    "@base",      "@container", "@context",  "@direction", "@graph", "@id",      "@import", "@included",
    "@index",     "@json",      "@language", "@list",      "@nest",  "@none",    "@prefix", "@propagate",
    "@protected", "@reverse",   "@set",      "@type",      "@value", "@version", "@vocab",
};

gboolean
qd_ld_fail(GError **error, const QdJson *place, const char *code, const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list args;

    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    if (place != NULL && place->line > 0)
        qd_error_set(error, QW_ERROR_SYNTAX, "%u:%u: %s: %s", place->line, place->column, code, message);
    else
        qd_error_set(error, QW_ERROR_SYNTAX, "%s: %s", code, message);
    return FALSE;
}

gboolean
qd_ld_is_keyword(const char *text)
{
    if (text == NULL || text[0] != '@')
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(keywords); i++)
        if (g_str_equal(keywords[i], text))
            return TRUE;
    return FALSE;
}

gboolean
qd_ld_has_keyword_form(const char *text)
{
    const char *p = text + 1;

    if (text[0] != '@' || *p == '\0')
        return FALSE;
    while (g_ascii_isalpha(*p))
        p++;
    return *p == '\0';
}

gboolean
qd_ld_is_bnode(const char *text)
{
    return text[0] == '_' && text[1] == ':';
}

gboolean
qd_ld_is_iri(const char *text)
{
    gsize n = strlen(text);
    const char *fragment = strchr(text, '#');

    return qd_iri_is_absolute(text, n) && qd_iri_check(text, n) && (fragment == NULL || strchr(fragment + 1, '#') == NULL);
}

static const char *
concatenate(const QdLdContext *context, const char *a, const char *b)
{
    gsize n_a = strlen(a);
    gsize n_b = strlen(b);
    char *result = qd_json_arena_alloc(context->arena, n_a + n_b + 1);

    memcpy(result, a, n_a);
    memcpy(result + n_a, b, n_b);
    return result;
}

/* PREFIX:SUFFIX. @ret_iri is not set where the text is no IRI. */
static gboolean
expand_compact(QdLd *ld, const QdLdContext *context, const char *text, const char *colon, QdLdMaking *making, const char **ret_iri,
               GError **error)
{
    g_autofree char *prefix = g_strndup(text, (gsize) (colon - text));
    const QdLdTerm *term;

    if (g_str_equal(prefix, "_") || g_str_has_prefix(colon + 1, "//")) {
        *ret_iri = text;
        return TRUE;
    }
    if (making != NULL && !qd_ld_define_term(making, prefix, error))
        return FALSE;
    term = qd_ld_context_find(context, prefix);
    if (term != NULL && term->iri != NULL && term->is_prefix)
        *ret_iri = concatenate(making != NULL ? context : &(QdLdContext){ .arena = ld->record }, term->iri, colon + 1);
    else if (qd_iri_is_absolute(text, strlen(text)))
        *ret_iri = text;
    return TRUE;
}

gboolean
qd_ld_expand_iri(QdLd *ld, const QdLdContext *context, const char *text, guint flags, QdLdMaking *making, const char **ret_iri,
                 GError **error)
{
    QdLdContext place = { .arena = making != NULL ? context->arena : ld->record };
    const QdLdTerm *term;
    const char *iri = NULL;
    const char *colon;

    *ret_iri = NULL;
    if (text == NULL || qd_ld_has_keyword_form(text)) {
        *ret_iri = qd_ld_is_keyword(text) ? text : NULL;
        return TRUE;
    }
    if (making != NULL && !qd_ld_define_term(making, text, error))
        return FALSE;
    term = qd_ld_context_find(context, text);
    if (term != NULL && ((flags & QD_LD_VOCAB) != 0 || qd_ld_is_keyword(term->iri))) {
        *ret_iri = term->iri;
        return TRUE;
    }
    colon = text[0] != '\0' ? strchr(text + 1, ':') : NULL;
    if (colon != NULL && !expand_compact(ld, context, text, colon, making, &iri, error))
        return FALSE;
    if (iri != NULL) {
        *ret_iri = iri;
    } else if ((flags & QD_LD_VOCAB) != 0 && context->vocab != NULL) {
        *ret_iri = concatenate(&place, context->vocab, text);
    } else if ((flags & QD_LD_DOCUMENT) != 0 && context->base != NULL) {
        g_string_truncate(ld->scratch, 0);
        (void) qd_iri_resolve(context->base, strlen(context->base), text, strlen(text), ld->scratch);
        *ret_iri = qd_json_arena_copy(place.arena, ld->scratch->str, ld->scratch->len);
    } else {
        *ret_iri = text;
    }
    return TRUE;
}
