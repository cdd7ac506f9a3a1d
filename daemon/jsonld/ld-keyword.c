/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Step 13.4 of expansion: members whose names stand for keywords.
 */

#include "daemon/jsonld/ld-expand.h"

static gboolean
expand_id(QdLdObject *self, const QdJson *member, GError **error)
{
    if (member->kind != QD_JSON_STRING)
        return qd_ld_fail(error, member, "invalid @id value", "it is no string");
    return qd_ld_expand_iri(self->ld, self->context, member->text, QD_LD_DOCUMENT, NULL, &self->item->id, error);
}

static gboolean
expand_type(QdLdObject *self, const QdJson *member, GError **error)
{
    const QdJson *type = member->kind == QD_JSON_ARRAY ? member->first : member;

    for (; type != NULL; type = member->kind == QD_JSON_ARRAY ? type->next : NULL) {
        const char *iri;

        if (type->kind != QD_JSON_STRING)
            return qd_ld_fail(error, type, "invalid type value", "it is no string");
        if (!qd_ld_expand_iri(self->ld, self->type_context, type->text, QD_LD_VOCAB | QD_LD_DOCUMENT, NULL, &iri, error))
            return FALSE;
        qd_ld_item_add_type(self->ld, self->item, iri);
    }
    self->item->types_array = self->item->types_array || member->kind == QD_JSON_ARRAY;
    return TRUE;
}

static gboolean
expand_included(QdLdObject *self, const QdJson *member, GError **error)
{
    QdLdList list = { 0 };

    if (self->ld->options->is_1_0)
        return TRUE;
    if (member->kind != QD_JSON_OBJECT && member->kind != QD_JSON_ARRAY)
        return qd_ld_fail(error, member, "invalid @included value", "it is no node");
    if (!qd_ld_expand_in(self->ld, self->context, "@included", member, 0, &list, error))
        return FALSE;
    for (QdLdItem *item = list.first, *next; item != NULL; item = next) {
        next = item->next;
        if ((item->has & (QD_LD_HAS_VALUE | QD_LD_HAS_LIST | QD_LD_HAS_SET)) != 0)
            return qd_ld_fail(error, member, "invalid @included value", "it is no node");
        qd_ld_list_add(&self->item->included, item);
    }
    return TRUE;
}

static gboolean
expand_value(QdLdObject *self, const QdJson *member, GError **error)
{
    gboolean is_json = g_strcmp0(self->input_type, "@json") == 0;

    if (is_json && self->ld->options->is_1_0)
        return qd_ld_fail(error, member, "invalid value object value", "@json is not known to JSON-LD 1.0");
    if (!is_json && (member->kind == QD_JSON_ARRAY || member->kind == QD_JSON_OBJECT))
        return qd_ld_fail(error, member, "invalid value object value", "it is an array or object");
    self->item->value = member;
    return TRUE;
}

static gboolean
expand_text(QdLdObject *self, const QdJson *member, const char *keyword, GError **error)
{
    if (g_str_equal(keyword, "@language")) {
        if (member->kind != QD_JSON_STRING)
            return qd_ld_fail(error, member, "invalid language-tagged string", "@language is no string");
        self->item->language = member->text;
        self->item->has |= QD_LD_HAS_LANGUAGE;
    } else if (g_str_equal(keyword, "@index")) {
        if (member->kind != QD_JSON_STRING)
            return qd_ld_fail(error, member, "invalid @index value", "it is no string");
        self->item->index = member->text;
        self->item->has |= QD_LD_HAS_INDEX;
    } else if (!self->ld->options->is_1_0) {
        if (!qd_json_is_string(member, "ltr") && !qd_json_is_string(member, "rtl"))
            return qd_ld_fail(error, member, "invalid base direction", "it is ltr or rtl");
        self->item->direction = member->text;
        self->item->has |= QD_LD_HAS_DIRECTION;
    }
    return TRUE;
}

static gboolean
expand_list(QdLdObject *self, const QdJson *member, gboolean is_list, GError **error)
{
    if (is_list && (self->property == NULL || g_str_equal(self->property, "@graph")))
        return TRUE;
    if (!qd_ld_expand_in(self->ld, self->context, self->property, member, 0, &self->item->content, error))
        return FALSE;
    self->item->content.is_array = TRUE;
    self->item->has |= is_list ? QD_LD_HAS_LIST : QD_LD_HAS_SET;
    return TRUE;
}

static gboolean
expand_reverse(QdLdObject *self, const QdJson *member, GError **error)
{
    QdLdList list = { 0 };

    if (member->kind != QD_JSON_OBJECT)
        return qd_ld_fail(error, member, "invalid @reverse value", "it is no object");
    if (!qd_ld_expand_in(self->ld, self->context, "@reverse", member, 0, &list, error))
        return FALSE;
    for (QdLdItem *item = list.first; item != NULL; item = item->next) {
        for (QdLdProperty *property = item->reverse; property != NULL; property = property->next)
            qd_ld_item_add_property(self->ld, self->item, property->iri, &property->values);
        for (QdLdProperty *property = item->properties; property != NULL; property = property->next)
            for (QdLdItem *value = property->values.first, *next; value != NULL; value = next) {
                next = value->next;
                if ((value->has & (QD_LD_HAS_VALUE | QD_LD_HAS_LIST)) != 0)
                    return qd_ld_fail(error, member, "invalid reverse property value", "it is no node");
                qd_ld_item_add_reverse(self->ld, self->item, property->iri, value);
            }
    }
    return TRUE;
}

static void
note_nest(QdLdObject *self, const QdJson *member)
{
    if (self->nests == NULL)
        self->nests = g_ptr_array_new();
    g_ptr_array_add(self->nests, (gpointer) member);
}

static guint
get_flag(const char *keyword)
{
    static const struct {
        const char *keyword;
        guint flag;
    } flags[] = {
        { "@id", QD_LD_HAS_ID },
        { "@type", QD_LD_HAS_TYPE },
        { "@value", QD_LD_HAS_VALUE },
        { "@language", QD_LD_HAS_LANGUAGE },
        { "@index", QD_LD_HAS_INDEX },
        { "@list", QD_LD_HAS_LIST },
        { "@set", QD_LD_HAS_SET },
        { "@graph", QD_LD_HAS_GRAPH },
        { "@direction", QD_LD_HAS_DIRECTION },
        { "@included", QD_LD_HAS_INCLUDED },
    };

    for (guint i = 0; i < G_N_ELEMENTS(flags); i++)
        if (g_str_equal(flags[i].keyword, keyword))
            return flags[i].flag;
    return 0;
}

gboolean
qd_ld_expand_keyword(QdLdObject *self, const QdJson *member, const char *keyword, GError **error)
{
    guint flag = get_flag(keyword);

    if (g_strcmp0(self->property, "@reverse") == 0)
        return qd_ld_fail(error, member, "invalid reverse property map", "it has the keyword '%s'", keyword);
    if ((self->item->has & flag) != 0 && ((flag & (QD_LD_HAS_TYPE | QD_LD_HAS_INCLUDED)) == 0 || self->ld->options->is_1_0))
        return qd_ld_fail(error, member, "colliding keywords", "'%s' stands in the object twice", keyword);

    if ((flag & (QD_LD_HAS_LANGUAGE | QD_LD_HAS_INDEX | QD_LD_HAS_DIRECTION)) != 0)
        return expand_text(self, member, keyword, error);
    if ((flag & (QD_LD_HAS_LIST | QD_LD_HAS_SET)) != 0)
        return expand_list(self, member, flag == QD_LD_HAS_LIST, error);
    self->item->has |= flag;
    if (flag == QD_LD_HAS_ID)
        return expand_id(self, member, error);
    if (flag == QD_LD_HAS_TYPE)
        return expand_type(self, member, error);
    if (flag == QD_LD_HAS_VALUE)
        return expand_value(self, member, error);
    if (flag == QD_LD_HAS_INCLUDED)
        return expand_included(self, member, error);
    if (flag == QD_LD_HAS_GRAPH)
        return qd_ld_expand_in(self->ld, self->context, "@graph", member, 0, &self->item->graph, error);
    if (g_str_equal(keyword, "@reverse"))
        return expand_reverse(self, member, error);
    if (g_str_equal(keyword, "@nest"))
        note_nest(self, member);
    return TRUE;
}
