/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values, and members that are maps by language, index, id or type (steps 13.7 and 13.8 of expansion).
 */
#include <string.h>

#include "daemon/jsonld/ld-expand.h"

static void
set_language(QdLdItem *item, const char *language)
{
    item->language = language;
    item->has |= language != NULL ? QD_LD_HAS_LANGUAGE : 0;
}

static void
set_direction(QdLdItem *item, const char *direction)
{
    item->direction = direction;
    item->has |= direction != NULL ? QD_LD_HAS_DIRECTION : 0;
}

gboolean
qd_ld_expand_value(QdLd *ld, const QdLdContext *context, const char *property, const QdJson *value, QdLdList *ret_list,
                   GError **error)
{
    const QdLdTerm *term = qd_ld_context_find(context, property);
    QdLdItem *item = qd_ld_item_new(ld, value);
    const char *type = term != NULL ? term->type : NULL;
    gboolean by_vocab = g_strcmp0(type, "@vocab") == 0;

    qd_ld_list_add(ret_list, item);
    if (value->kind == QD_JSON_STRING && (by_vocab || g_strcmp0(type, "@id") == 0)) {
        item->has = QD_LD_HAS_ID;
        return qd_ld_expand_iri(ld, context, value->text, QD_LD_DOCUMENT | (by_vocab ? QD_LD_VOCAB : 0), NULL, &item->id, error);
    }
    item->value = value;
    item->has = QD_LD_HAS_VALUE;
    if (type != NULL && !by_vocab && !g_str_equal(type, "@id") && !g_str_equal(type, "@none")) {
        qd_ld_item_add_type(ld, item, type);
    } else if (value->kind == QD_JSON_STRING) {
        set_language(item, term != NULL && term->has_language ? term->language : context->language);
        set_direction(item, term != NULL && term->has_direction ? term->direction : context->direction);
    }
    return TRUE;
}

gboolean
qd_ld_expand_language_map(QdLdObject *self, const QdJson *map, const QdLdTerm *term, QdLdList *ret_list, GError **error)
{
    ret_list->is_array = TRUE;
    for (const QdJson *member = map->first; member != NULL; member = member->next) {
        const QdJson *value = member->kind == QD_JSON_ARRAY ? member->first : member;
        const char *language;

        if (!qd_ld_expand_iri(self->ld, self->context, member->name, QD_LD_VOCAB, NULL, &language, error))
            return FALSE;
        for (; value != NULL; value = member->kind == QD_JSON_ARRAY ? value->next : NULL) {
            QdLdItem *item;

            if (value->kind == QD_JSON_NULL)
                continue;
            if (value->kind != QD_JSON_STRING)
                return qd_ld_fail(error, value, "invalid language map value", "it is no string");
            item = qd_ld_item_new(self->ld, value);
            item->value = value;
            item->has = QD_LD_HAS_VALUE;
            set_language(item, g_strcmp0(language, "@none") == 0 ? NULL : member->name);
            set_direction(item, term->has_direction ? term->direction : self->context->direction);
            qd_ld_list_add(ret_list, item);
        }
    }
    return TRUE;
}

/* Step 13.8.3.7.2: the key of the map is a value of the property that @index of the term names. */
static gboolean
add_index_property(QdLdObject *self, QdLdItem *item, const QdLdTerm *term, const QdJson *member, GError **error)
{
    QdJson *text = qd_json_arena_alloc(self->ld->record, sizeof *text);
    QdLdList values = { .is_array = TRUE };
    const char *property;

    *text = (QdJson){
        .kind = QD_JSON_STRING,
        .line = member->line,
        .column = member->column,
        .text = member->name,
        .n_text = strlen(member->name),
    };
    if (!qd_ld_expand_value(self->ld, self->context, term->index, text, &values, error) ||
        !qd_ld_expand_iri(self->ld, self->context, term->index, QD_LD_VOCAB, NULL, &property, error))
        return FALSE;
    if ((item->has & QD_LD_HAS_VALUE) != 0)
        return qd_ld_fail(error, member, "invalid value object", "a value has no property, such as the term's @index");
    qd_ld_item_add_property(self->ld, item, property, &values);
    return TRUE;
}

/* Step 13.8.3.7: what the key of the map says of @item. */
static gboolean
add_key(QdLdObject *self, QdLdItem *item, const QdLdTerm *term, const QdJson *member, const char *key, GError **error)
{
    if (g_strcmp0(key, "@none") == 0)
        return TRUE;
    if ((term->container & QD_LD_INDEX) != 0 && term->index != NULL)
        return add_index_property(self, item, term, member, error);
    if ((term->container & QD_LD_INDEX) != 0) {
        if ((item->has & QD_LD_HAS_INDEX) == 0)
            item->index = member->name;
        item->has |= QD_LD_HAS_INDEX;
    } else if ((term->container & QD_LD_ID) != 0) {
        if ((item->has & QD_LD_HAS_ID) == 0 &&
            !qd_ld_expand_iri(self->ld, self->context, member->name, QD_LD_DOCUMENT, NULL, &item->id, error))
            return FALSE;
        item->has |= QD_LD_HAS_ID;
    } else {
        qd_ld_item_add_type(self->ld, item, key);
        item->types_array = TRUE;
    }
    return TRUE;
}

static gboolean
expand_entry(QdLdObject *self, const QdJson *member, const char *name, const QdLdTerm *term, QdLdList *ret_list, GError **error)
{
    const QdLdContext *context = self->context;
    const QdLdTerm *type;
    QdLdList values = { 0 };
    const char *key;

    if ((term->container & (QD_LD_ID | QD_LD_TYPE)) != 0 && context->previous != NULL)
        context = context->previous;
    type = (term->container & QD_LD_TYPE) != 0 ? qd_ld_context_find(context, member->name) : NULL;
    if (type != NULL && type->context != NULL && !qd_ld_context_scope(self->ld, context, type, QD_LD_NO_PROPAGATE, &context, error))
        return FALSE;
    if (!qd_ld_expand_iri(self->ld, self->context, member->name, QD_LD_VOCAB, NULL, &key, error) ||
        !qd_ld_expand_in(self->ld, context, name, member, QD_LD_FROM_MAP, &values, error))
        return FALSE;
    for (QdLdItem *item = values.first, *next; item != NULL; item = next) {
        next = item->next;
        if ((term->container & QD_LD_GRAPH) != 0 && (item->has & ~(guint) (QD_LD_HAS_ID | QD_LD_HAS_INDEX)) != QD_LD_HAS_GRAPH) {
            QdLdItem *graph = qd_ld_item_new(self->ld, item->place);

            qd_ld_list_add(&graph->graph, item);
            graph->has = QD_LD_HAS_GRAPH;
            item = graph;
        }
        if ((term->container & QD_LD_TYPE) != 0 && (item->has & QD_LD_HAS_VALUE) != 0)
            return qd_ld_fail(error, member, "invalid type mapping", "a value in a map by type is no node");
        if (!add_key(self, item, term, member, key, error))
            return FALSE;
        qd_ld_list_add(ret_list, item);
    }
    return TRUE;
}

gboolean
qd_ld_expand_index_map(QdLdObject *self, const QdJson *map, const char *name, const QdLdTerm *term, QdLdList *ret_list,
                       GError **error)
{
    ret_list->is_array = TRUE;
    for (const QdJson *member = map->first; member != NULL; member = member->next)
        if (!expand_entry(self, member, name, term, ret_list, error))
            return FALSE;
    return TRUE;
}
