/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryResource: a node with its properties and their values.
 *
 * Place: public object. Invariant: see query-resource-private.h.
 */
#include "client-lib/rdf/query-resource-private.h"

#include <math.h>

#include "client-lib/rdf/query-term.h"

#define XSD "http://www.w3.org/2001/XMLSchema#"

enum { PROP_IDENTIFIER = 1, PROP_NAMESPACES, N_PROPS };

static GParamSpec *properties[N_PROPS];

G_DEFINE_TYPE(QueryResource, query_resource, G_TYPE_OBJECT)

static void
value_free(gpointer data)
{
    QueryResourceValue *value = data;

    g_free(value->lexical);
    g_free(value->datatype);
    g_free(value->language);
    g_clear_object(&value->resource);
    g_free(value);
}

static void
property_free(gpointer data)
{
    QueryResourceProperty *property = data;

    g_free(property->iri);
    g_ptr_array_unref(property->values);
    g_free(property);
}

/* Resources that lead to one another are a circle of references, which ends here. */
static void
query_resource_dispose(GObject *object)
{
    g_ptr_array_set_size(QUERY_RESOURCE(object)->properties, 0);
    G_OBJECT_CLASS(query_resource_parent_class)->dispose(object);
}

static void
query_resource_finalize(GObject *object)
{
    QueryResource *self = QUERY_RESOURCE(object);

    g_free(self->identifier);
    g_clear_object(&self->namespaces);
    g_ptr_array_unref(self->properties);
    G_OBJECT_CLASS(query_resource_parent_class)->finalize(object);
}

/* Of this process and this run, as a store keeps no names of blank nodes. */
static char *
make_name(void)
{
    static gint last; /* atomic */

    return g_strdup_printf("_:r%d", g_atomic_int_add(&last, 1) + 1);
}

static void
query_resource_constructed(GObject *object)
{
    QueryResource *self = QUERY_RESOURCE(object);
    char *iri;

    if (self->namespaces == NULL)
        self->namespaces = query_namespaces_new();
    self->is_blank = self->identifier == NULL;
    iri = self->is_blank ? make_name() : query_namespaces_expand(self->namespaces, self->identifier, NULL);
    if (iri != NULL) {
        g_free(self->identifier);
        self->identifier = iri;
    }
    G_OBJECT_CLASS(query_resource_parent_class)->constructed(object);
}

static void
query_resource_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    if (id == PROP_IDENTIFIER)
        g_value_set_string(value, QUERY_RESOURCE(object)->identifier);
    else if (id == PROP_NAMESPACES)
        g_value_set_object(value, QUERY_RESOURCE(object)->namespaces);
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void
query_resource_set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    if (id == PROP_IDENTIFIER)
        QUERY_RESOURCE(object)->identifier = g_value_dup_string(value);
    else if (id == PROP_NAMESPACES)
        QUERY_RESOURCE(object)->namespaces = g_value_dup_object(value);
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void
query_resource_class_init(QueryResourceClass *klass)
{
    const GParamFlags once = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;
    GObjectClass *object_class = G_OBJECT_CLASS(klass);

    object_class->constructed = query_resource_constructed;
    object_class->dispose = query_resource_dispose;
    object_class->finalize = query_resource_finalize;
    object_class->get_property = query_resource_get_property;
    object_class->set_property = query_resource_set_property;

    /**
     * QueryResource:identifier: (getter get_identifier)
     *
     * Its IRI, or the name of a blank node.
     */
    properties[PROP_IDENTIFIER] = g_param_spec_string("identifier", NULL, NULL, NULL, once);
    /**
     * QueryResource:namespaces:
     *
     * For names with prefixes.
     */
    properties[PROP_NAMESPACES] = g_param_spec_object("namespaces", NULL, NULL, QUERY_TYPE_NAMESPACES, once);
    g_object_class_install_properties(object_class, N_PROPS, properties);
}

static void
query_resource_init(QueryResource *self)
{
    self->properties = g_ptr_array_new_with_free_func(property_free);
}

QueryResource *
query_resource_new(const char *identifier, QueryNamespaces *namespaces)
{
    g_return_val_if_fail(namespaces == NULL || QUERY_IS_NAMESPACES(namespaces), NULL);

    return g_object_new(QUERY_TYPE_RESOURCE, "identifier", identifier, "namespaces", namespaces, NULL);
}

QueryResource *
query_resource_new_read(const char *identifier, gboolean is_blank, QueryNamespaces *namespaces)
{
    QueryResource *self = query_resource_new(is_blank ? NULL : identifier, namespaces);

    self->is_read = TRUE;
    return self;
}

gboolean
query_resource_check_identifier(QueryResource *self, GError **error)
{
    if (self->is_blank || query_term_is_iri(self->identifier))
        return TRUE;

    g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "'%s' is neither an absolute IRI nor a name with a known prefix",
                self->identifier);
    return FALSE;
}

const char *
query_resource_get_identifier(QueryResource *self)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), NULL);

    return self->identifier;
}

gboolean
query_resource_is_blank(QueryResource *self)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);

    return self->is_blank;
}

/* Values ------------------------------------------------------------------------------------------------------------------ */

/* (nullable): @iri is one */
static QueryResourceProperty *
find_property(QueryResource *self, const char *iri)
{
    for (guint i = 0; i < self->properties->len; i++)
        if (g_str_equal(((QueryResourceProperty *) self->properties->pdata[i])->iri, iri))
            return self->properties->pdata[i];
    return NULL;
}

static QueryResourceProperty *
get_property(QueryResource *self, const char *iri)
{
    QueryResourceProperty *property = find_property(self, iri);

    if (property == NULL) {
        property = g_new0(QueryResourceProperty, 1);
        property->iri = g_strdup(iri);
        property->values = g_ptr_array_new_with_free_func(value_free);
        g_ptr_array_add(self->properties, property);
    }
    return property;
}

void
query_resource_keep(QueryResource *self, const char *property, const QueryResourceValue *value)
{
    QueryResourceValue *kept = g_new(QueryResourceValue, 1);

    *kept = (QueryResourceValue){ .lexical = g_strdup(value->lexical),
                                  .datatype = g_strdup(value->datatype),
                                  .language = g_strdup(value->language),
                                  .resource = value->resource != NULL ? g_object_ref(value->resource) : NULL,
                                  .is_stored = value->is_stored };
    g_ptr_array_add(get_property(self, property)->values, kept);
}

gboolean
query_resource_clear(QueryResource *self, const char *property, GError **error)
{
    g_autofree char *iri = NULL;
    QueryResourceProperty *found;

    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);

    iri = query_namespaces_expand(self->namespaces, property, error);
    if (iri == NULL)
        return FALSE;
    found = get_property(self, iri);
    g_ptr_array_set_size(found->values, 0);
    found->is_cleared = TRUE;
    return TRUE;
}

/* @is_only: the others go. */
static gboolean
put(QueryResource *self, const char *property, gboolean is_only, const QueryResourceValue *value, GError **error)
{
    g_autofree char *iri = query_namespaces_expand(self->namespaces, property, error);
    g_autoptr(QueryResource) held = value->resource != NULL ? g_object_ref(value->resource) : NULL; /* it may be among those */

    if (iri == NULL || (is_only && !query_resource_clear(self, iri, error)))
        return FALSE;
    query_resource_keep(self, iri, value);
    return TRUE;
}

static gboolean
put_literal(QueryResource *self, const char *property, gboolean is_only, const char *lexical, const char *datatype,
            const char *language, GError **error)
{
    g_autofree char *iri = datatype != NULL ? query_namespaces_expand(self->namespaces, datatype, error) : NULL;
    const QueryResourceValue value = { .lexical = (char *) lexical, .datatype = iri, .language = (char *) language };

    if (datatype != NULL && iri == NULL)
        return FALSE;
    if (datatype != NULL && language != NULL)
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "a literal has a datatype or a language, not both");
    else if (language != NULL && !query_term_is_language(language))
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "'%s' is no language tag", language);
    else if (!g_utf8_validate(lexical, -1, NULL))
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "a literal is not UTF-8");
    else
        return put(self, property, is_only, &value, error);
    return FALSE;
}

static gboolean
put_string(QueryResource *self, const char *property, gboolean is_only, const char *value, GError **error)
{
    g_return_val_if_fail(value != NULL, FALSE);

    return put_literal(self, property, is_only, value, NULL, NULL, error);
}

static gboolean
put_int64(QueryResource *self, const char *property, gboolean is_only, gint64 value, GError **error)
{
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, value);

    return put_literal(self, property, is_only, text, XSD "integer", NULL, error);
}

static gboolean
put_double(QueryResource *self, const char *property, gboolean is_only, double value, GError **error)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    const char *text = isnan(value)   ? "NaN"
                       : isinf(value) ? value > 0 ? "INF" : "-INF"
                                      : g_ascii_dtostr(number, sizeof number, value);

    return put_literal(self, property, is_only, text, XSD "double", NULL, error);
}

static gboolean
put_boolean(QueryResource *self, const char *property, gboolean is_only, gboolean value, GError **error)
{
    return put_literal(self, property, is_only, value ? "true" : "false", XSD "boolean", NULL, error);
}

static gboolean
put_date_time(QueryResource *self, const char *property, gboolean is_only, GDateTime *value, GError **error)
{
    g_autofree char *text = NULL;

    g_return_val_if_fail(value != NULL, FALSE);

    text = g_date_time_format_iso8601(value);
    return put_literal(self, property, is_only, text, XSD "dateTime", NULL, error);
}

static gboolean
put_iri(QueryResource *self, const char *property, gboolean is_only, const char *value, GError **error)
{
    g_autofree char *iri = NULL;

    g_return_val_if_fail(value != NULL, FALSE);

    iri = query_namespaces_expand(self->namespaces, value, error);
    return iri != NULL && put(self, property, is_only, &(QueryResourceValue){ .lexical = iri, .datatype = (char *) "@id" }, error);
}

static gboolean
put_resource(QueryResource *self, const char *property, gboolean is_only, QueryResource *value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(value), FALSE);

    return query_resource_check_identifier(value, error) &&
           put(self, property, is_only,
               &(QueryResourceValue){
                   .lexical = value->identifier, .datatype = (char *) (value->is_blank ? "@bnode" : "@id"), .resource = value },
               error);
}

gboolean
query_resource_add_string(QueryResource *self, const char *property, const char *value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);

    return put_string(self, property, FALSE, value, error);
}

gboolean
query_resource_add_int64(QueryResource *self, const char *property, gint64 value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);

    return put_int64(self, property, FALSE, value, error);
}

gboolean
query_resource_add_double(QueryResource *self, const char *property, double value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);

    return put_double(self, property, FALSE, value, error);
}

gboolean
query_resource_add_boolean(QueryResource *self, const char *property, gboolean value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);

    return put_boolean(self, property, FALSE, value, error);
}

gboolean
query_resource_add_date_time(QueryResource *self, const char *property, GDateTime *value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);

    return put_date_time(self, property, FALSE, value, error);
}

gboolean
query_resource_add_iri(QueryResource *self, const char *property, const char *iri, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);

    return put_iri(self, property, FALSE, iri, error);
}

gboolean
query_resource_add_resource(QueryResource *self, const char *property, QueryResource *value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);

    return put_resource(self, property, FALSE, value, error);
}

gboolean
query_resource_add_literal(QueryResource *self, const char *property, const char *lexical, const char *datatype,
                           const char *language, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);
    g_return_val_if_fail(lexical != NULL, FALSE);

    return put_literal(self, property, FALSE, lexical, datatype, language, error);
}

gboolean
query_resource_set_string(QueryResource *self, const char *property, const char *value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);

    return put_string(self, property, TRUE, value, error);
}

gboolean
query_resource_set_int64(QueryResource *self, const char *property, gint64 value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);

    return put_int64(self, property, TRUE, value, error);
}

gboolean
query_resource_set_double(QueryResource *self, const char *property, double value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);

    return put_double(self, property, TRUE, value, error);
}

gboolean
query_resource_set_boolean(QueryResource *self, const char *property, gboolean value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);

    return put_boolean(self, property, TRUE, value, error);
}

gboolean
query_resource_set_date_time(QueryResource *self, const char *property, GDateTime *value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);

    return put_date_time(self, property, TRUE, value, error);
}

gboolean
query_resource_set_iri(QueryResource *self, const char *property, const char *iri, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);

    return put_iri(self, property, TRUE, iri, error);
}

gboolean
query_resource_set_resource(QueryResource *self, const char *property, QueryResource *value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);

    return put_resource(self, property, TRUE, value, error);
}

gboolean
query_resource_set_literal(QueryResource *self, const char *property, const char *lexical, const char *datatype,
                           const char *language, GError **error)
{
    g_return_val_if_fail(QUERY_IS_RESOURCE(self), FALSE);
    g_return_val_if_fail(property != NULL, FALSE);
    g_return_val_if_fail(lexical != NULL, FALSE);

    return put_literal(self, property, TRUE, lexical, datatype, language, error);
}

/* Getters ----------------------------------------------------------------------------------------------------------------- */

char **
query_resource_list_properties(QueryResource *self)
{
    g_autoptr(GPtrArray) iris = g_ptr_array_new();

    g_return_val_if_fail(QUERY_IS_RESOURCE(self), NULL);

    for (guint i = 0; i < self->properties->len; i++) {
        const QueryResourceProperty *property = self->properties->pdata[i];

        if (property->values->len > 0)
            g_ptr_array_add(iris, g_strdup(property->iri));
    }
    g_ptr_array_add(iris, NULL);
    return (char **) g_ptr_array_free(g_steal_pointer(&iris), FALSE);
}

/* (nullable) */
static GPtrArray *
get_values(QueryResource *self, const char *name)
{
    g_autofree char *iri = query_namespaces_expand(self->namespaces, name, NULL);
    QueryResourceProperty *property = iri != NULL ? find_property(self, iri) : NULL;

    return property != NULL ? property->values : NULL;
}

static const QueryResourceValue *
get_value(QueryResource *self, const char *name, guint index)
{
    const GPtrArray *values = get_values(self, name);

    return values != NULL && index < values->len ? values->pdata[index] : NULL;
}

guint
query_resource_get_n_values(QueryResource *self, const char *property)
{
    const GPtrArray *values;

    g_return_val_if_fail(QUERY_IS_RESOURCE(self), 0);
    g_return_val_if_fail(property != NULL, 0);

    values = get_values(self, property);
    return values != NULL ? values->len : 0;
}

const char *
query_resource_get_string(QueryResource *self, const char *property, guint index)
{
    const QueryResourceValue *value;

    g_return_val_if_fail(QUERY_IS_RESOURCE(self), NULL);
    g_return_val_if_fail(property != NULL, NULL);

    value = get_value(self, property, index);
    return value != NULL ? value->lexical : NULL;
}

GVariant *
query_resource_get_value(QueryResource *self, const char *property, guint index)
{
    const QueryResourceValue *value;

    g_return_val_if_fail(QUERY_IS_RESOURCE(self), NULL);
    g_return_val_if_fail(property != NULL, NULL);

    value = get_value(self, property, index);
    if (value == NULL)
        return NULL;
    return g_variant_ref_sink(g_variant_new("(sss)", value->lexical, value->datatype != NULL ? value->datatype : "",
                                            value->language != NULL ? value->language : ""));
}

QueryResource *
query_resource_get_resource(QueryResource *self, const char *property, guint index)
{
    const QueryResourceValue *value;

    g_return_val_if_fail(QUERY_IS_RESOURCE(self), NULL);
    g_return_val_if_fail(property != NULL, NULL);

    value = get_value(self, property, index);
    return value != NULL ? value->resource : NULL;
}
