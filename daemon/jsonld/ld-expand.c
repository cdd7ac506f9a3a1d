/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The Expansion Algorithm; the steps in comments are those of §5.1.2.
 */
#include "daemon/jsonld/ld-expand.h"

#include <string.h>

/* Items ----------------------------------------------------------------------------------------------------------------- */

void
qd_ld_list_add(QdLdList *list, QdLdItem *item)
{
    item->next = NULL;
    if (list->first == NULL)
        list->first = item;
    else
        list->last->next = item;
    list->last = item;
}

static void
add_all(QdLdList *list, const QdLdList *others)
{
    for (QdLdItem *item = others->first, *next; item != NULL; item = next) {
        next = item->next;
        qd_ld_list_add(list, item);
    }
}

QdLdItem *
qd_ld_item_new(QdLd *ld, const QdJson *place)
{
    QdLdItem *self = qd_json_arena_alloc(ld->record, sizeof *self);

    self->place = place;
    return self;
}

void
qd_ld_item_add_property(QdLd *ld, QdLdItem *self, const char *iri, const QdLdList *values)
{
    QdLdProperty *property = qd_json_arena_alloc(ld->record, sizeof *property);

    *property = (QdLdProperty){ .iri = iri, .values = *values };
    if (self->properties == NULL)
        self->properties = property;
    else
        self->last_property->next = property;
    self->last_property = property;
    self->has |= QD_LD_HAS_PROPERTY;
}

void
qd_ld_item_add_reverse(QdLd *ld, QdLdItem *self, const char *iri, QdLdItem *value)
{
    QdLdProperty *property = qd_json_arena_alloc(ld->record, sizeof *property);

    property->iri = iri;
    qd_ld_list_add(&property->values, value);
    if (self->reverse == NULL)
        self->reverse = property;
    else
        self->last_reverse->next = property;
    self->last_reverse = property;
    self->has |= QD_LD_HAS_REVERSE;
}

void
qd_ld_item_add_type(QdLd *ld, QdLdItem *self, const char *iri)
{
    QdLdType *type = qd_json_arena_alloc(ld->record, sizeof *type);

    type->iri = iri;
    self->types_array = self->types_array || self->types != NULL;
    if (self->types == NULL)
        self->types = type;
    else
        self->last_type->next = type;
    self->last_type = type;
    self->has |= QD_LD_HAS_TYPE;
}

/* Contexts -------------------------------------------------------------------------------------------------------------- */

static gboolean
stands_for(QdLd *ld, const QdLdContext *context, const char *name, const char *keyword, gboolean *ret, GError **error)
{
    const char *iri;

    if (!qd_ld_expand_iri(ld, context, name, QD_LD_VOCAB, NULL, &iri, error))
        return FALSE;
    *ret = g_strcmp0(iri, keyword) == 0;
    return TRUE;
}

/* Step 7: whether a context that does not propagate holds in this object, which is a value or only refers to a node. */
static gboolean
keeps_context(QdLd *ld, const QdLdContext *context, const QdJson *element, gboolean *ret, GError **error)
{
    gboolean found = FALSE;

    for (const QdJson *member = element->first; member != NULL && !found; member = member->next)
        if (!stands_for(ld, context, member->name, "@value", &found, error))
            return FALSE;
    if (!found && element->first != NULL && element->first->next == NULL &&
        !stands_for(ld, context, element->first->name, "@id", &found, error))
        return FALSE;
    *ret = found;
    return TRUE;
}

static int
compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp((*(const QdJson *const *) a)->name, (*(const QdJson *const *) b)->name);
}

/* Step 11.2: contexts of the types that @member names. */
static gboolean
apply_types(QdLdObject *self, const QdJson *member, GError **error)
{
    g_autoptr(GPtrArray) types = g_ptr_array_new();
    const QdJson *type = member->kind == QD_JSON_ARRAY ? member->first : member;

    for (; type != NULL; type = member->kind == QD_JSON_ARRAY ? type->next : NULL)
        if (type->kind == QD_JSON_STRING)
            g_ptr_array_add(types, (gpointer) type->text);
    g_ptr_array_sort(types, compare_texts);
    for (guint i = 0; i < types->len; i++) {
        const QdLdTerm *term = qd_ld_context_find(self->type_context, types->pdata[i]);

        if (term != NULL && term->context != NULL &&
            !qd_ld_context_scope(self->ld, self->context, term, QD_LD_NO_PROPAGATE, &self->context, error))
            return FALSE;
    }
    return TRUE;
}

/* Steps 11 and 12. */
static gboolean
find_types(QdLdObject *self, const QdJson *element, GError **error)
{
    g_autoptr(GPtrArray) members = g_ptr_array_new();
    const QdJson *last;

    for (const QdJson *member = element->first; member != NULL; member = member->next) {
        gboolean found;

        if (!stands_for(self->ld, self->type_context, member->name, "@type", &found, error))
            return FALSE;
        if (found)
            g_ptr_array_add(members, (gpointer) member);
    }
    if (members->len == 0)
        return TRUE;
    g_ptr_array_sort(members, compare_names);
    for (guint i = 0; i < members->len; i++)
        if (!apply_types(self, members->pdata[i], error))
            return FALSE;
    last = members->pdata[0];
    if (last->kind == QD_JSON_ARRAY)
        for (last = last->first; last != NULL && last->next != NULL;)
            last = last->next;
    return last == NULL || last->kind != QD_JSON_STRING ||
           qd_ld_expand_iri(self->ld, self->context, last->text, QD_LD_VOCAB, NULL, &self->input_type, error);
}

/* Members --------------------------------------------------------------------------------------------------------------- */

/* Step 13.6: JSON as it is. */
static void
take_json(QdLd *ld, const QdJson *value, QdLdList *ret_list)
{
    QdLdItem *item = qd_ld_item_new(ld, value);

    item->value = value;
    item->has = QD_LD_HAS_VALUE;
    qd_ld_item_add_type(ld, item, "@json");
    qd_ld_list_add(ret_list, item);
}

/* Step 13.12: each in a graph of its own. */
static void
wrap_graphs(QdLd *ld, QdLdList *list)
{
    QdLdList graphs = { .is_array = TRUE };

    for (QdLdItem *item = list->first, *next; item != NULL; item = next) {
        QdLdItem *graph = qd_ld_item_new(ld, item->place);

        next = item->next;
        qd_ld_list_add(&graph->graph, item);
        graph->has = QD_LD_HAS_GRAPH;
        qd_ld_list_add(&graphs, graph);
    }
    *list = graphs;
}

static gboolean
add_reverses(QdLdObject *self, const char *iri, const QdLdList *values, const QdJson *place, GError **error)
{
    for (QdLdItem *item = values->first, *next; item != NULL; item = next) {
        next = item->next;
        if ((item->has & (QD_LD_HAS_VALUE | QD_LD_HAS_LIST)) != 0)
            return qd_ld_fail(error, place, "invalid reverse property value", "it is no node");
        qd_ld_item_add_reverse(self->ld, self->item, iri, item);
    }
    return TRUE;
}

static gboolean
expand_values(QdLdObject *self, const QdJson *member, const QdLdTerm *term, QdLdList *ret_list, GError **error)
{
    guint container = term != NULL ? term->container : 0;

    if (term != NULL && g_strcmp0(term->type, "@json") == 0) {
        take_json(self->ld, member, ret_list);
        return TRUE;
    }
    if ((container & QD_LD_LANGUAGE) != 0 && member->kind == QD_JSON_OBJECT)
        return qd_ld_expand_language_map(self, member, term, ret_list, error);
    if ((container & (QD_LD_INDEX | QD_LD_TYPE | QD_LD_ID)) != 0 && member->kind == QD_JSON_OBJECT)
        return qd_ld_expand_index_map(self, member, member->name, term, ret_list, error);
    return qd_ld_expand_in(self->ld, self->context, member->name, member, 0, ret_list, error);
}

/* Step 13 for one member. */
static gboolean
expand_member(QdLdObject *self, const QdJson *member, GError **error)
{
    const QdLdTerm *term = qd_ld_context_find(self->context, member->name);
    guint container = term != NULL ? term->container : 0;
    QdLdList values = { 0 };
    const char *iri;

    if (g_str_equal(member->name, "@context"))
        return TRUE;
    if (!qd_ld_expand_iri(self->ld, self->context, member->name, QD_LD_VOCAB, NULL, &iri, error))
        return FALSE;
    if (qd_ld_is_keyword(iri))
        return qd_ld_expand_keyword(self, member, iri, error);
    if (iri == NULL || strchr(iri, ':') == NULL)
        return TRUE;
    if (!expand_values(self, member, term, &values, error))
        return FALSE;
    if (values.first == NULL && !values.is_array)
        return TRUE;
    if ((container & QD_LD_LIST) != 0 && (values.is_array || (values.first->has & QD_LD_HAS_LIST) == 0)) {
        QdLdItem *list = qd_ld_item_new(self->ld, member);

        list->content = values;
        list->has = QD_LD_HAS_LIST;
        values = (QdLdList){ 0 };
        qd_ld_list_add(&values, list);
    }
    if ((container & QD_LD_GRAPH) != 0 && (container & (QD_LD_ID | QD_LD_INDEX)) == 0)
        wrap_graphs(self->ld, &values);
    if (term != NULL && term->is_reverse)
        return add_reverses(self, iri, &values, member, error);
    qd_ld_item_add_property(self->ld, self->item, iri, &values);
    return TRUE;
}

static gboolean expand_members(QdLdObject *self, const QdJson *element, GError **error);

static gboolean
check_nested(QdLdObject *self, const QdJson *nested, GError **error)
{
    gboolean is_value = FALSE;

    for (const QdJson *member = nested->first; nested->kind == QD_JSON_OBJECT && member != NULL && !is_value; member = member->next)
        if (!stands_for(self->ld, self->context, member->name, "@value", &is_value, error))
            return FALSE;
    return (nested->kind == QD_JSON_OBJECT && !is_value) ||
           qd_ld_fail(error, nested, "invalid @nest value", "it is an object that is no value, or an array of such");
}

/* Step 14. */
static gboolean
expand_nest(QdLdObject *self, const QdJson *nest, GError **error)
{
    const QdLdTerm *term = qd_ld_context_find(self->context, nest->name);
    const QdJson *nested = nest->kind == QD_JSON_ARRAY ? nest->first : nest;
    const QdLdContext *outer = self->context;
    gboolean ok = TRUE;

    if (term != NULL && term->context != NULL &&
        !qd_ld_context_scope(self->ld, self->context, term, QD_LD_OVERRIDE, &self->context, error))
        return FALSE;
    for (; ok && nested != NULL; nested = nest->kind == QD_JSON_ARRAY ? nested->next : NULL)
        ok = check_nested(self, nested, error) && expand_members(self, nested, error);
    self->context = outer;
    return ok;
}

static gboolean
expand_members(QdLdObject *self, const QdJson *element, GError **error)
{
    GPtrArray *outer = g_steal_pointer(&self->nests);
    g_autoptr(GPtrArray) nests = NULL;
    gboolean ok = TRUE;

    for (const QdJson *member = element->first; ok && member != NULL; member = member->next)
        ok = expand_member(self, member, error);
    nests = g_steal_pointer(&self->nests);
    self->nests = outer;
    for (guint i = 0; ok && nests != NULL && i < nests->len; i++)
        ok = expand_nest(self, nests->pdata[i], error);
    return ok;
}

/* Results --------------------------------------------------------------------------------------------------------------- */

/* Step 15. */
static gboolean
check_value(const QdLdItem *item, gboolean *ret_is_null, GError **error)
{
    const guint allowed = QD_LD_HAS_VALUE | QD_LD_HAS_TYPE | QD_LD_HAS_LANGUAGE | QD_LD_HAS_DIRECTION | QD_LD_HAS_INDEX;
    const char *type = item->types != NULL ? item->types->iri : NULL;
    gboolean is_json = !item->types_array && g_strcmp0(type, "@json") == 0;

    if ((item->has & ~allowed) != 0)
        return qd_ld_fail(error, item->place, "invalid value object", "it has members that a value does not have");
    if ((item->has & QD_LD_HAS_TYPE) != 0 && (item->has & (QD_LD_HAS_LANGUAGE | QD_LD_HAS_DIRECTION)) != 0)
        return qd_ld_fail(error, item->place, "invalid value object", "@type does not go with @language or @direction");
    *ret_is_null = !is_json && item->value->kind == QD_JSON_NULL;
    if (is_json || *ret_is_null)
        return TRUE;
    if ((item->has & QD_LD_HAS_LANGUAGE) != 0 && item->value->kind != QD_JSON_STRING)
        return qd_ld_fail(error, item->place, "invalid language-tagged value", "it is no string");
    if ((item->has & QD_LD_HAS_TYPE) != 0 && (item->types_array || type == NULL || !qd_ld_is_iri(type)))
        return qd_ld_fail(error, item->place, "invalid typed value", "its type is no IRI");
    return TRUE;
}

/* Steps 15 to 19: what the object stands for. */
static gboolean
finish(QdLdObject *self, QdLdList *ret_list, GError **error)
{
    QdLdItem *item = self->item;
    gboolean is_null = FALSE;

    if ((item->has & QD_LD_HAS_VALUE) != 0) {
        if (!check_value(item, &is_null, error))
            return FALSE;
    } else if ((item->has & (QD_LD_HAS_SET | QD_LD_HAS_LIST)) != 0) {
        guint one = item->has & (QD_LD_HAS_SET | QD_LD_HAS_LIST);

        if ((item->has & ~(guint) QD_LD_HAS_INDEX) != QD_LD_HAS_SET && (item->has & ~(guint) QD_LD_HAS_INDEX) != QD_LD_HAS_LIST)
            return qd_ld_fail(error, item->place, "invalid set or list object", "it has members besides @%s and @index",
                              one == QD_LD_HAS_SET ? "set" : "list");
        if (one == QD_LD_HAS_SET) {
            *ret_list = item->content;
            return TRUE;
        }
    }
    if (item->has == QD_LD_HAS_LANGUAGE)
        is_null = TRUE;
    if (self->property == NULL || g_str_equal(self->property, "@graph"))
        is_null = is_null || item->has == 0 || (item->has & (QD_LD_HAS_VALUE | QD_LD_HAS_LIST)) != 0 || item->has == QD_LD_HAS_ID;
    if (!is_null)
        qd_ld_list_add(ret_list, item);
    return TRUE;
}

/* Elements -------------------------------------------------------------------------------------------------------------- */

static gboolean
expand_array(QdLd *ld, const QdLdContext *context, const char *property, const QdJson *element, guint flags, QdLdList *ret_list,
             GError **error)
{
    const QdLdTerm *term = property != NULL ? qd_ld_context_find(context, property) : NULL;

    ret_list->is_array = TRUE;
    for (const QdJson *item = element->first; item != NULL; item = item->next) {
        QdLdList expanded = { 0 };

        if (!qd_ld_expand_in(ld, context, property, item, flags, &expanded, error))
            return FALSE;
        if (ld->options->is_1_0 && term != NULL && (term->container & QD_LD_LIST) != 0 && expanded.first != NULL &&
            (expanded.is_array || (expanded.first->has & QD_LD_HAS_LIST) != 0))
            return qd_ld_fail(error, item, "list of lists", "JSON-LD 1.0 has none");
        if (term != NULL && (term->container & QD_LD_LIST) != 0 && expanded.is_array) {
            QdLdItem *list = qd_ld_item_new(ld, item);

            list->content = expanded;
            list->has = QD_LD_HAS_LIST;
            expanded = (QdLdList){ 0 };
            qd_ld_list_add(&expanded, list);
        }
        add_all(ret_list, &expanded);
    }
    return TRUE;
}

static gboolean
expand_object(QdLd *ld, const QdLdContext *context, const QdLdTerm *term, const char *property, const QdJson *element, guint flags,
              QdLdList *ret_list, GError **error)
{
    QdLdObject self = { .ld = ld, .context = context, .property = property };
    const QdJson *local = qd_json_get(element, "@context");
    gboolean keeps;
    gboolean ok;

    if (context->previous != NULL && (flags & QD_LD_FROM_MAP) == 0) {
        if (!keeps_context(ld, context, element, &keeps, error))
            return FALSE;
        if (!keeps)
            self.context = context->previous;
    }
    if (term != NULL && term->context != NULL && !qd_ld_context_scope(ld, self.context, term, QD_LD_OVERRIDE, &self.context, error))
        return FALSE;
    if (local != NULL &&
        !qd_ld_context_process(ld, self.context, local, self.context->original_base, NULL, 0, &self.context, error))
        return FALSE;
    self.type_context = self.context;
    self.item = qd_ld_item_new(ld, element);
    ok = find_types(&self, element, error) && expand_members(&self, element, error) && finish(&self, ret_list, error);
    if (self.nests != NULL)
        g_ptr_array_unref(self.nests);
    return ok;
}

gboolean
qd_ld_expand_in(QdLd *ld, const QdLdContext *context, const char *property, const QdJson *element, guint flags, QdLdList *ret_list,
                GError **error)
{
    const QdLdTerm *term = property != NULL ? qd_ld_context_find(context, property) : NULL;

    if (!qd_ld_check(ld, ld->record, error))
        return FALSE;
    switch (element->kind) {
    case QD_JSON_NULL:
        return TRUE;
    case QD_JSON_ARRAY:
        return expand_array(ld, context, property, element, flags, ret_list, error);
    case QD_JSON_OBJECT:
        return expand_object(ld, context, term, property, element, flags, ret_list, error);
    case QD_JSON_FALSE:
    case QD_JSON_TRUE:
    case QD_JSON_NUMBER:
    case QD_JSON_STRING:
        if (property == NULL || g_str_equal(property, "@graph"))
            return TRUE;
        if (term != NULL && term->context != NULL && !qd_ld_context_scope(ld, context, term, 0, &context, error))
            return FALSE;
        return qd_ld_expand_value(ld, context, property, element, ret_list, error);
    }
    g_assert_not_reached();
}

gboolean
qd_ld_expand(QdLd *ld, const QdLdContext *context, const char *property, const QdJson *element, QdLdList *ret_list, GError **error)
{
    *ret_list = (QdLdList){ 0 };
    return qd_ld_expand_in(ld, context, property, element, 0, ret_list, error);
}
