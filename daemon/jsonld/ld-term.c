/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Create Term Definition (§4.2). A term is made when the context comes to it, or before that when another needs it.
 */
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/jsonld/ld-context.h"

typedef enum State { STATE_WAITS, STATE_BEGUN, STATE_MADE } State;

typedef struct Member {
    const QdJson *value;
    State state;
} Member;

struct QdLdMaking {
    QdLd *ld;
    QdLdContext *context;
    const QdJson *local;
    GHashTable *members; /* name to Member */
    const char *base;
    GPtrArray *remote;
    guint flags;
    gboolean is_protected;
};

/* A definition while it is made. */
typedef struct Draft {
    QdLdMaking *making;
    const char *name;
    const QdJson *value; /* what the context says of it, for errors too */
    const QdJson *id;    /* (nullable) a string or null */
    gboolean is_simple;
    gboolean is_ignored; /* there will be no such term */
    QdLdTerm *term;
} Draft;

static gboolean
fail_1_0(const Draft *draft, const char *code, const char *what, GError **error)
{
    return qd_ld_fail(error, draft->value, code, "'%s' of the term '%.100s' is not known to JSON-LD 1.0", what, draft->name);
}

static gboolean
expand(const Draft *draft, const char *text, const char **ret_iri, GError **error)
{
    return qd_ld_expand_iri(draft->making->ld, draft->making->context, text, QD_LD_VOCAB, draft->making, ret_iri, error);
}

static gboolean
is_keyword_or(const char *iri, gboolean allow_bnode)
{
    return iri != NULL && (qd_ld_is_keyword(iri) || strchr(iri, ':') != NULL) && (allow_bnode || !qd_ld_is_bnode(iri));
}

/* Parts of a definition ------------------------------------------------------------------------------------------------- */

static gboolean
set_protected(Draft *draft, const QdJson *value, GError **error)
{
    if (draft->making->ld->options->is_1_0)
        return fail_1_0(draft, "invalid term definition", "@protected", error);
    if (value->kind != QD_JSON_TRUE && value->kind != QD_JSON_FALSE)
        return qd_ld_fail(error, value, "invalid @protected value", "it is true or false");
    draft->term->is_protected = value->kind == QD_JSON_TRUE;
    return TRUE;
}

static gboolean
set_type(Draft *draft, const QdJson *value, GError **error)
{
    const char *type;

    if (value->kind != QD_JSON_STRING)
        return qd_ld_fail(error, value, "invalid type mapping", "@type of the term '%.100s' is no string", draft->name);
    if (!expand(draft, value->text, &type, error))
        return FALSE;
    if (type == NULL || (!g_str_equal(type, "@id") && !g_str_equal(type, "@vocab") &&
                         ((!g_str_equal(type, "@json") && !g_str_equal(type, "@none")) || draft->making->ld->options->is_1_0) &&
                         !qd_ld_is_iri(type)))
        return qd_ld_fail(error, value, "invalid type mapping", "'%.100s' is no IRI, @id, @vocab, @json or @none", value->text);
    draft->term->type = type;
    return TRUE;
}

static gboolean
parse_container(const QdJson *value, guint *ret, GError **error)
{
    static const char *const names[] = { "@graph", "@id", "@index", "@language", "@list", "@set", "@type" };
    const guint map = QD_LD_ID | QD_LD_INDEX;
    const QdJson *item = value->kind == QD_JSON_ARRAY ? value->first : value;
    guint set = 0;
    guint rest;

    for (; item != NULL; item = value->kind == QD_JSON_ARRAY ? item->next : NULL) {
        guint i = 0;

        while (i < G_N_ELEMENTS(names) && !qd_json_is_string(item, names[i]))
            i++;
        if (i == G_N_ELEMENTS(names) || (set & 1u << i) != 0)
            return qd_ld_fail(error, item, "invalid container mapping", "no container, or one that stands there twice");
        set |= 1u << i;
    }
    rest = set & ~(guint) QD_LD_SET;
    if (set == 0 || ((set & QD_LD_LIST) != 0 && set != QD_LD_LIST) ||
        ((rest & QD_LD_GRAPH) != 0 && (rest & ~(QD_LD_GRAPH | map)) != 0) ||
        ((rest & ~(guint) QD_LD_GRAPH) & ((rest & ~(guint) QD_LD_GRAPH) - 1)) != 0)
        return qd_ld_fail(error, value, "invalid container mapping", "these containers do not go together");
    *ret = set;
    return TRUE;
}

static gboolean
set_container(Draft *draft, const QdJson *value, GError **error)
{
    QdLdTerm *term = draft->term;

    if (!parse_container(value, &term->container, error))
        return FALSE;
    if (draft->making->ld->options->is_1_0 &&
        (value->kind != QD_JSON_STRING || (term->container & (QD_LD_GRAPH | QD_LD_ID | QD_LD_TYPE)) != 0))
        return fail_1_0(draft, "invalid container mapping", "@container", error);
    if ((term->container & QD_LD_TYPE) == 0)
        return TRUE;
    if (term->type == NULL)
        term->type = "@id";
    if (!g_str_equal(term->type, "@id") && !g_str_equal(term->type, "@vocab"))
        return qd_ld_fail(error, value, "invalid type mapping", "with the container @type it is @id or @vocab");
    return TRUE;
}

static gboolean
set_reverse(Draft *draft, const QdJson *value, GError **error)
{
    const QdJson *container = qd_json_get(draft->value, "@container");
    QdLdTerm *term = draft->term;

    if (qd_json_get(draft->value, "@id") != NULL || qd_json_get(draft->value, "@nest") != NULL)
        return qd_ld_fail(error, value, "invalid reverse property", "@reverse does not go with @id or @nest");
    if (value->kind != QD_JSON_STRING)
        return qd_ld_fail(error, value, "invalid IRI mapping", "@reverse of the term '%.100s' is no string", draft->name);
    if (qd_ld_has_keyword_form(value->text)) {
        draft->is_ignored = TRUE;
        return TRUE;
    }
    if (!expand(draft, value->text, &term->iri, error))
        return FALSE;
    if (term->iri == NULL || strchr(term->iri, ':') == NULL)
        return qd_ld_fail(error, value, "invalid IRI mapping", "'%.100s' is no IRI", value->text);
    if (container != NULL && container->kind != QD_JSON_NULL) {
        if (!parse_container(container, &term->container, error))
            return FALSE;
        if ((term->container & ~(guint) (QD_LD_SET | QD_LD_INDEX)) != 0)
            return qd_ld_fail(error, container, "invalid reverse property", "a reverse property's container is @set or @index");
    }
    term->is_reverse = TRUE;
    return TRUE;
}

/* The IRI that "@id" says. */
static gboolean
set_id(Draft *draft, GError **error)
{
    QdLdTerm *term = draft->term;
    const char *name = draft->name;
    gsize n_name = strlen(name);
    const char *colon = n_name > 2 ? memchr(name + 1, ':', n_name - 2) : NULL;
    const char *own;
    gsize n;

    if (draft->id->kind == QD_JSON_NULL)
        return TRUE;
    if (draft->id->kind != QD_JSON_STRING)
        return qd_ld_fail(error, draft->id, "invalid IRI mapping", "@id of the term '%.100s' is no string", name);
    if (qd_ld_has_keyword_form(draft->id->text) && !qd_ld_is_keyword(draft->id->text)) {
        draft->is_ignored = TRUE;
        return TRUE;
    }
    if (!expand(draft, draft->id->text, &term->iri, error))
        return FALSE;
    if (!is_keyword_or(term->iri, TRUE))
        return qd_ld_fail(error, draft->id, "invalid IRI mapping", "'%.100s' is no IRI", draft->id->text);
    if (g_str_equal(term->iri, "@context"))
        return qd_ld_fail(error, draft->id, "invalid keyword alias", "@context has no other names");
    if ((colon != NULL || strchr(name, '/') != NULL) && !draft->making->ld->options->is_1_0) {
        Member *member = g_hash_table_lookup(draft->making->members, name);

        member->state = STATE_MADE;
        if (!expand(draft, name, &own, error))
            return FALSE;
        if (g_strcmp0(own, term->iri) != 0)
            return qd_ld_fail(error, draft->id, "invalid IRI mapping", "'%.100s' looks like another IRI than it is given", name);
    }
    n = strlen(term->iri);
    if (draft->making->ld->options->is_1_0)
        term->is_prefix = TRUE;
    else if (strpbrk(name, ":/") == NULL && draft->is_simple &&
             ((n > 0 && strchr(":/?#[]@", term->iri[n - 1]) != NULL) || qd_ld_is_bnode(term->iri)))
        term->is_prefix = TRUE;
    return TRUE;
}

/* NAME is PREFIX:SUFFIX; whether the term PREFIX may be one does not matter here. */
static gboolean
set_compact(Draft *draft, const char *colon, GError **error)
{
    QdJsonArena *arena = draft->making->context->arena;
    g_autofree char *prefix = g_strndup(draft->name, (gsize) (colon - draft->name));
    const QdLdTerm *term;

    if (!qd_ld_define_term(draft->making, prefix, error))
        return FALSE;
    term = qd_ld_context_find(draft->making->context, prefix);
    if (term != NULL && term->iri != NULL) {
        g_autofree char *iri = g_strconcat(term->iri, colon + 1, NULL);

        draft->term->iri = qd_json_arena_copy(arena, iri, strlen(iri));
    } else {
        draft->term->iri = draft->name;
    }
    return TRUE;
}

/* Without "@id": what the name itself says. */
static gboolean
set_own(Draft *draft, GError **error)
{
    Member *member = g_hash_table_lookup(draft->making->members, draft->name);
    const char *name = draft->name;
    const char *colon = strchr(name + 1, ':');
    gboolean ok;

    if (g_str_equal(name, "@type")) {
        draft->term->iri = name;
        return TRUE;
    }
    if (colon != NULL)
        return set_compact(draft, colon, error);
    if (strchr(name, '/') == NULL && draft->making->context->vocab == NULL)
        return qd_ld_fail(error, draft->value, "invalid IRI mapping", "the term '%.100s' has no @id, and there is no @vocab", name);

    member->state = STATE_MADE; /* it is not asked for itself */
    ok = expand(draft, name, &draft->term->iri, error);
    member->state = STATE_BEGUN;
    if (!ok)
        return FALSE;
    if (draft->term->iri == NULL || (strchr(name, '/') != NULL && !qd_ld_is_iri(draft->term->iri)))
        return qd_ld_fail(error, draft->value, "invalid IRI mapping", "the term '%.100s' stands for no IRI", name);
    return TRUE;
}

static gboolean
set_index(Draft *draft, const QdJson *value, GError **error)
{
    const char *iri;

    if (draft->making->ld->options->is_1_0 || (draft->term->container & QD_LD_INDEX) == 0)
        return qd_ld_fail(error, value, "invalid term definition", "@index goes with the container @index");
    if (value->kind != QD_JSON_STRING)
        return qd_ld_fail(error, value, "invalid term definition", "@index is no string");
    if (!expand(draft, value->text, &iri, error))
        return FALSE;
    if (iri == NULL || !qd_ld_is_iri(iri))
        return qd_ld_fail(error, value, "invalid term definition", "@index is no IRI");
    draft->term->index = value->text;
    return TRUE;
}

static gboolean
set_context(Draft *draft, const QdJson *value, GError **error)
{
    QdLdMaking *making = draft->making;
    const QdLdContext *unused;
    GError *local_error = NULL;

    if (making->ld->options->is_1_0)
        return fail_1_0(draft, "invalid term definition", "@context", error);
    if (!qd_ld_context_process(making->ld, making->context, value, making->base, making->remote, QD_LD_OVERRIDE | QD_LD_NO_VALIDATE,
                               &unused, &local_error)) {
        if (qd_error_get_code(local_error) == QW_ERROR_SYNTAX)
            g_prefix_error(&local_error, "%u:%u: invalid scoped context: ", value->line, value->column);
        g_propagate_error(error, local_error);
        return FALSE;
    }
    draft->term->context = value;
    draft->term->base = making->base;
    return TRUE;
}

static gboolean
set_language(Draft *draft, const QdJson *value, GError **error)
{
    if (value->kind != QD_JSON_NULL && value->kind != QD_JSON_STRING)
        return qd_ld_fail(error, value, "invalid language mapping", "it is a string or null");
    draft->term->language = value->text;
    draft->term->has_language = TRUE;
    return TRUE;
}

static gboolean
set_direction(Draft *draft, const QdJson *value, GError **error)
{
    if (value->kind != QD_JSON_NULL && !qd_json_is_string(value, "ltr") && !qd_json_is_string(value, "rtl"))
        return qd_ld_fail(error, value, "invalid base direction", "it is ltr, rtl or null");
    draft->term->direction = value->text;
    draft->term->has_direction = TRUE;
    return TRUE;
}

static gboolean
set_nest(Draft *draft, const QdJson *value, GError **error)
{
    if (draft->making->ld->options->is_1_0)
        return fail_1_0(draft, "invalid term definition", "@nest", error);
    if (value->kind != QD_JSON_STRING || (qd_ld_is_keyword(value->text) && !g_str_equal(value->text, "@nest")))
        return qd_ld_fail(error, value, "invalid @nest value", "it is the name of a term, or @nest");
    draft->term->nest = value->text;
    return TRUE;
}

static gboolean
set_prefix(Draft *draft, const QdJson *value, GError **error)
{
    if (draft->making->ld->options->is_1_0 || strpbrk(draft->name, ":/") != NULL)
        return qd_ld_fail(error, value, "invalid term definition", "'%.100s' cannot be a prefix", draft->name);
    if (value->kind != QD_JSON_TRUE && value->kind != QD_JSON_FALSE)
        return qd_ld_fail(error, value, "invalid @prefix value", "it is true or false");
    draft->term->is_prefix = value->kind == QD_JSON_TRUE;
    if (draft->term->is_prefix && qd_ld_is_keyword(draft->term->iri))
        return qd_ld_fail(error, value, "invalid term definition", "a keyword is no prefix");
    return TRUE;
}

/* In the order in which they depend on each other; @reverse ends it. */
static const struct {
    const char *name;
    gboolean (*set)(Draft *draft, const QdJson *value, GError **error); /* (nullable) */
} parts[] = {
    { "@protected", set_protected }, { "@type", set_type },   { "@reverse", set_reverse }, { "@id", NULL },
    { "@container", set_container }, { "@index", set_index }, { "@context", set_context }, { "@language", set_language },
    { "@direction", set_direction }, { "@nest", set_nest },   { "@prefix", set_prefix },
};

#define PART_ID 3

static gboolean
set_parts(Draft *draft, GError **error)
{
    for (guint i = 0; i < G_N_ELEMENTS(parts) && !draft->is_ignored; i++) {
        const QdJson *value = qd_json_get(draft->value, parts[i].name);

        if (i == PART_ID) {
            if (draft->term->is_reverse)
                return TRUE;
            if (draft->id != NULL && !qd_json_is_string(draft->id, draft->name) ? !set_id(draft, error) : !set_own(draft, error))
                return FALSE;
        } else if (value != NULL && !parts[i].set(draft, value, error)) {
            return FALSE;
        }
    }
    for (const QdJson *member = draft->value->first; member != NULL && draft->value->kind == QD_JSON_OBJECT;
         member = member->next) {
        guint i = 0;

        while (i < G_N_ELEMENTS(parts) && !g_str_equal(parts[i].name, member->name))
            i++;
        if (i == G_N_ELEMENTS(parts))
            return qd_ld_fail(error, member, "invalid term definition", "'%.100s' is not known", member->name);
    }
    return TRUE;
}

/* Definitions ----------------------------------------------------------------------------------------------------------- */

static gboolean
check_name(const Draft *draft, gboolean *ret_is_ignored, GError **error)
{
    const QdJson *container = qd_json_get(draft->value, "@container");
    guint n_known = (container != NULL) + (qd_json_get(draft->value, "@protected") != NULL);
    guint n = 0;

    *ret_is_ignored = FALSE;
    if (draft->name[0] == '\0')
        return qd_ld_fail(error, draft->value, "invalid term definition", "the empty term");
    if (g_str_equal(draft->name, "@type") && !draft->making->ld->options->is_1_0 && draft->value->kind == QD_JSON_OBJECT) {
        for (const QdJson *member = draft->value->first; member != NULL; member = member->next)
            n++;
        if (n > 0 && n == n_known && (container == NULL || qd_json_is_string(container, "@set")))
            return TRUE;
    }
    if (qd_ld_is_keyword(draft->name))
        return qd_ld_fail(error, draft->value, "keyword redefinition", "'%s'", draft->name);
    *ret_is_ignored = qd_ld_has_keyword_form(draft->name);
    return TRUE;
}

static gboolean
terms_equal(const QdLdTerm *a, const QdLdTerm *b)
{
    return g_strcmp0(a->iri, b->iri) == 0 && g_strcmp0(a->type, b->type) == 0 && g_strcmp0(a->language, b->language) == 0 &&
           g_strcmp0(a->direction, b->direction) == 0 && g_strcmp0(a->index, b->index) == 0 && g_strcmp0(a->nest, b->nest) == 0 &&
           a->container == b->container && a->is_prefix == b->is_prefix && a->is_reverse == b->is_reverse &&
           a->has_language == b->has_language && a->has_direction == b->has_direction && qd_json_equal(a->context, b->context);
}

static void
put_term(QdLdContext *context, const char *name, QdLdTerm *term)
{
    if (context->terms == NULL) {
        context->terms = g_hash_table_new(g_str_hash, g_str_equal);
        qd_json_arena_own(context->arena, context->terms, (GDestroyNotify) g_hash_table_unref);
    }
    (void) g_hash_table_insert(context->terms, (gpointer) name, term);
}

static gboolean
check_work(QdLd *ld, const Draft *draft, GError **error)
{
    if (++ld->n_terms > qd_limits_get(ld->limits, QD_LIMIT_JSONLD_TERMS)) {
        qd_limit_set_error(error, ld->limits, QD_LIMIT_JSONLD_TERMS, "%u:%u: too many terms in contexts, as often as they are used",
                           draft->value->line, draft->value->column);
        return FALSE;
    }
    if (ld->depth > qd_limits_get(ld->limits, QD_LIMIT_RDF_DEPTH)) {
        qd_limit_set_error(error, ld->limits, QD_LIMIT_RDF_DEPTH, "%u:%u: terms depend on each other too deep", draft->value->line,
                           draft->value->column);
        return FALSE;
    }
    return qd_ld_check(ld, draft->making->context->arena, error);
}

static gboolean
begin_draft(Draft *draft, GError **error)
{
    const QdJson *value = draft->value;

    if (value->kind == QD_JSON_NULL || value->kind == QD_JSON_STRING) {
        draft->id = value;
        draft->is_simple = value->kind == QD_JSON_STRING;
        return TRUE;
    }
    if (value->kind != QD_JSON_OBJECT)
        return qd_ld_fail(error, value, "invalid term definition", "'%.100s' is no string, object or null", draft->name);
    draft->id = qd_json_get(value, "@id");
    return TRUE;
}

static gboolean
make_term(QdLdMaking *making, const char *name, Member *member, GError **error)
{
    QdLdContext *context = making->context;
    const QdLdTerm *before = qd_ld_context_find(context, name);
    QdLdTerm *term = qd_json_arena_alloc(context->arena, sizeof *term + sizeof(gpointer[4])); /* and the table's share */
    QdLdTerm *gone = qd_json_arena_alloc(context->arena, sizeof *gone);
    Draft draft = { .making = making, .name = name, .value = member->value, .term = term };
    gboolean is_ignored;

    if (!check_work(making->ld, &draft, error) || !check_name(&draft, &is_ignored, error))
        return FALSE;
    if (is_ignored)
        return TRUE;
    gone->is_removed = TRUE;
    if (before != NULL)
        put_term(context, name, gone);
    term->is_protected = making->is_protected;
    if (!begin_draft(&draft, error) || !set_parts(&draft, error))
        return FALSE;
    if (draft.is_ignored)
        return TRUE;
    if ((making->flags & QD_LD_OVERRIDE) == 0 && before != NULL && before->is_protected) {
        if (!terms_equal(before, term))
            return qd_ld_fail(error, member->value, "protected term redefinition", "'%.100s'", name);
        term->is_protected = TRUE;
    }
    put_term(context, name, term);
    return TRUE;
}

gboolean
qd_ld_define_term(QdLdMaking *making, const char *name, GError **error)
{
    Member *member = g_hash_table_lookup(making->members, name);
    gboolean ok;

    if (member == NULL || member->state == STATE_MADE)
        return TRUE;
    if (member->state == STATE_BEGUN)
        return qd_ld_fail(error, member->value, "cyclic IRI mapping", "the term '%.100s' depends on itself", name);
    member->state = STATE_BEGUN;
    making->ld->depth++;
    ok = make_term(making, member->value->name, member, error);
    making->ld->depth--;
    member->state = STATE_MADE;
    return ok;
}

static gboolean
is_of_context(const char *name)
{
    static const char *const names[] = { "@base",      "@direction", "@import", "@language", "@propagate",
                                         "@protected", "@version",   "@vocab",  NULL };

    return g_strv_contains(names, name);
}

gboolean
qd_ld_define_terms(QdLd *ld, QdLdContext *context, const QdJson *local, const char *base, GPtrArray *remote, guint flags,
                   GError **error)
{
    g_autoptr(GHashTable) members = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    const QdJson *protect = qd_json_get(local, "@protected");
    QdLdMaking making = {
        .ld = ld,
        .context = context,
        .local = local,
        .members = members,
        .base = base,
        .remote = remote,
        .flags = flags,
    };

    if (protect != NULL && protect->kind != QD_JSON_TRUE && protect->kind != QD_JSON_FALSE)
        return qd_ld_fail(error, protect, "invalid @protected value", "it is true or false");
    making.is_protected = protect != NULL && protect->kind == QD_JSON_TRUE;
    for (const QdJson *member = local->first; member != NULL; member = member->next)
        if (!is_of_context(member->name)) {
            Member *entry = g_new0(Member, 1);

            entry->value = member;
            (void) g_hash_table_insert(members, (gpointer) member->name, entry);
        }
    for (const QdJson *member = local->first; member != NULL; member = member->next)
        if (!qd_ld_define_term(&making, member->name, error))
            return FALSE;
    return TRUE;
}
