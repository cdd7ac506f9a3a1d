/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parameter values: from GVariant or bindings to one row in wire format.
 *
 * Place: internal to libquery-client.
 * Invariant: a row is encoded only when every parameter has exactly one value.
 */
#include "client-lib/core/query-parameters.h"

#include <string.h>

#include "client-lib/core/query-error.h"
#include "client-lib/wire/wire-page-writer.h"

#define XSD_BOOLEAN "http://www.w3.org/2001/XMLSchema#boolean"

/* What a value takes at most beyond its bytes: slot, alignment, length, two NULs. */
#define VALUE_OVERHEAD_BYTES 32u

typedef struct Entry {
    char *key; /* NULL: the entry's position is its index */
    gboolean is_set;
    QwValue value;
    gpointer owner; /* with a key: a GVariant */
    GDestroyNotify destroy;
} Entry;

struct QueryParameters {
    GArray *entries; /* of Entry */
};

static void
entry_clear(gpointer data)
{
    Entry *entry = data;

    if (entry->destroy != NULL)
        entry->destroy(entry->owner);
    g_free(entry->key);
    *entry = (Entry){ 0 };
}

QueryParameters *
query_parameters_new(void)
{
    QueryParameters *self = g_new0(QueryParameters, 1);

    self->entries = g_array_new(FALSE, TRUE, sizeof(Entry));
    g_array_set_clear_func(self->entries, entry_clear);
    return self;
}

void
query_parameters_free(QueryParameters *self)
{
    if (self == NULL)
        return;

    g_array_unref(self->entries);
    g_free(self);
}

void
query_parameters_clear(QueryParameters *self)
{
    g_array_set_size(self->entries, 0);
}

void
query_parameters_set(QueryParameters *self, guint index, const QwValue *value, gpointer owner, GDestroyNotify destroy)
{
    Entry *entry;

    if (index >= self->entries->len)
        g_array_set_size(self->entries, index + 1);

    entry = &g_array_index(self->entries, Entry, index);
    entry_clear(entry);
    *entry = (Entry){ .is_set = TRUE, .value = *value, .owner = owner, .destroy = destroy };
}

guint
query_parameters_get_n(const QueryParameters *self)
{
    guint n = 0;

    for (guint i = 0; i < self->entries->len; i++)
        n += g_array_index(self->entries, Entry, i).is_set ? 1 : 0;

    return n;
}

static void
value_set_string(QwValue *value, QwType type, const char *data, gsize n_bytes)
{
    *value = (QwValue){ .type = type, .data = data, .n_bytes = (uint32_t) n_bytes };
}

/* (sss): lexical form, datatype IRI or "@id" or "@bnode", language tag. */
static gboolean
value_from_term(GVariant *variant, const char *key, QwValue *ret_value, GError **error)
{
    const char *lexical;
    const char *datatype;
    const char *language;
    QwType type = QW_TYPE_TEXT;

    g_variant_get(variant, "(&s&s&s)", &lexical, &datatype, &language);
    if (datatype[0] != '\0' && language[0] != '\0') {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "parameter '%s': a term has a datatype or a language, not both",
                    key);
        return FALSE;
    }

    if (g_str_equal(datatype, "@id"))
        type = QW_TYPE_IRI;
    else if (g_str_equal(datatype, "@bnode"))
        type = QW_TYPE_BNODE;
    else if (datatype[0] != '\0')
        type = QW_TYPE_LITERAL_TYPED;
    else if (language[0] != '\0')
        type = QW_TYPE_LITERAL_LANG;

    value_set_string(ret_value, type, lexical, strlen(lexical));
    if (type >= QW_TYPE_LITERAL_LANG) {
        ret_value->tag = type == QW_TYPE_LITERAL_LANG ? language : datatype;
        ret_value->n_tag_bytes = (uint32_t) strlen(ret_value->tag);
    }
    return TRUE;
}

static gboolean
value_from_uint64(guint64 number, const char *key, QwValue *ret_value, GError **error)
{
    if (number > G_MAXINT64) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER,
                    "parameter '%s': %" G_GUINT64_FORMAT " does not fit into a signed 64-bit integer", key, number);
        return FALSE;
    }

    *ret_value = (QwValue){ .type = QW_TYPE_INTEGER, .integer = (int64_t) number };
    return TRUE;
}

/* SQL has none: 1 and 0. */
static void
value_from_boolean(gboolean is_true, gboolean is_sparql, QwValue *ret_value)
{
    const char *text = is_true ? "true" : "false";

    *ret_value = (QwValue){ .type = QW_TYPE_INTEGER, .integer = is_true ? 1 : 0 };
    if (!is_sparql)
        return;
    value_set_string(ret_value, QW_TYPE_LITERAL_TYPED, text, strlen(text));
    ret_value->tag = XSD_BOOLEAN;
    ret_value->n_tag_bytes = (uint32_t) strlen(XSD_BOOLEAN);
}

static gboolean
value_from_scalar(GVariant *variant, const char *key, QwValue *ret_value, GError **error)
{
    QwValue value = { .type = QW_TYPE_INTEGER };

    switch (g_variant_classify(variant)) {
    case G_VARIANT_CLASS_BYTE:
        value.integer = g_variant_get_byte(variant);
        break;
    case G_VARIANT_CLASS_INT16:
        value.integer = g_variant_get_int16(variant);
        break;
    case G_VARIANT_CLASS_UINT16:
        value.integer = g_variant_get_uint16(variant);
        break;
    case G_VARIANT_CLASS_INT32:
        value.integer = g_variant_get_int32(variant);
        break;
    case G_VARIANT_CLASS_UINT32:
        value.integer = g_variant_get_uint32(variant);
        break;
    case G_VARIANT_CLASS_INT64:
        value.integer = g_variant_get_int64(variant);
        break;
    case G_VARIANT_CLASS_UINT64:
        return value_from_uint64(g_variant_get_uint64(variant), key, ret_value, error);
    case G_VARIANT_CLASS_DOUBLE:
        value = (QwValue){ .type = QW_TYPE_FLOAT, .real = g_variant_get_double(variant) };
        break;
    default: /* GLib's enum, and a caller's choice */
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "parameter '%s': values of type '%s' are not supported", key,
                    g_variant_get_type_string(variant));
        return FALSE;
    }

    *ret_value = value;
    return TRUE;
}

static gboolean
value_from_variant(GVariant *variant, gboolean is_sparql, const char *key, QwValue *ret_value, GError **error)
{
    const char *string;
    gsize n_bytes;

    if (g_variant_is_of_type(variant, G_VARIANT_TYPE_STRING)) {
        string = g_variant_get_string(variant, &n_bytes);
        value_set_string(ret_value, QW_TYPE_TEXT, string, n_bytes);
        return TRUE;
    }
    if (g_variant_is_of_type(variant, G_VARIANT_TYPE_BYTESTRING)) {
        string = g_variant_get_fixed_array(variant, &n_bytes, 1);
        value_set_string(ret_value, QW_TYPE_BLOB, string, n_bytes);
        return TRUE;
    }
    if (g_variant_is_of_type(variant, G_VARIANT_TYPE("(sss)")))
        return value_from_term(variant, key, ret_value, error);
    if (g_variant_is_of_type(variant, G_VARIANT_TYPE_SIGNATURE) && g_variant_get_string(variant, NULL)[0] == '\0') {
        *ret_value = (QwValue){ .type = QW_TYPE_NULL };
        return TRUE;
    }
    if (g_variant_is_of_type(variant, G_VARIANT_TYPE_BOOLEAN)) {
        value_from_boolean(g_variant_get_boolean(variant), is_sparql, ret_value);
        return TRUE;
    }

    return value_from_scalar(variant, key, ret_value, error);
}

QueryParameters *
query_parameters_new_from_variant(GVariant *dictionary, gboolean is_sparql, GError **error)
{
    g_autoptr(QueryParameters) self = query_parameters_new();
    GVariantIter iter;
    const char *key;
    GVariant *child;

    if (dictionary == NULL)
        return g_steal_pointer(&self);
    if (!g_variant_is_of_type(dictionary, G_VARIANT_TYPE_VARDICT)) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "parameters are an a{sv}, not '%s'",
                    g_variant_get_type_string(dictionary));
        return NULL;
    }

    g_variant_iter_init(&iter, dictionary);
    while (g_variant_iter_next(&iter, "{&sv}", &key, &child)) {
        g_autoptr(GVariant) owned = child;
        Entry entry = { .is_set = TRUE };

        if (!value_from_variant(owned, is_sparql, key, &entry.value, error))
            return NULL;
        entry.key = g_strdup(key);
        entry.owner = g_steal_pointer(&owned);
        entry.destroy = (GDestroyNotify) g_variant_unref;
        g_array_append_val(self->entries, entry);
    }

    return g_steal_pointer(&self);
}

GVariant *
query_parameters_to_variant(const QueryParameters *self, gsize max_bytes)
{
    g_auto(GVariantBuilder) builder = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);
    gsize n_bytes = 0;

    for (guint i = 0; i < self->entries->len; i++) {
        const Entry *entry = &g_array_index(self->entries, Entry, i);

        if (entry->key == NULL)
            return NULL;
        n_bytes += strlen(entry->key) + g_variant_get_size(entry->owner);
        if (n_bytes > max_bytes)
            return NULL;
        g_variant_builder_add(&builder, "{sv}", entry->key, entry->owner);
    }
    return g_variant_builder_end(&builder);
}

gboolean
query_parameters_set_variant(QueryParameters *self, const QuerySchema *schema, GVariant *dictionary, GError **error)
{
    GVariantIter iter;
    const char *key;
    GVariant *child;

    g_variant_iter_init(&iter, dictionary);
    while (g_variant_iter_next(&iter, "{&sv}", &key, &child)) {
        g_autoptr(GVariant) owned = child;
        QwValue value;
        guint index;

        if (!query_schema_find_parameter(schema, key, &index, error) ||
            !value_from_variant(owned, schema->is_sparql, key, &value, error))
            return FALSE;
        query_parameters_set(self, index, &value, g_steal_pointer(&owned), (GDestroyNotify) g_variant_unref);
    }
    return TRUE;
}

/* Bound by index, each: they are where the columns of a row want them. */
static gboolean
is_in_order(const QueryParameters *self, guint n)
{
    for (guint i = 0; i < self->entries->len; i++) {
        const Entry *entry = &g_array_index(self->entries, Entry, i);

        if (!entry->is_set || entry->key != NULL)
            return FALSE;
    }
    return self->entries->len == n;
}

/* Sorts the values into the columns of a row. */
static gboolean
resolve(const QueryParameters *self, const QuerySchema *schema, const Entry **slots, GError **error)
{
    for (guint i = 0; i < self->entries->len; i++) {
        const Entry *entry = &g_array_index(self->entries, Entry, i);
        guint index = i;

        if (!entry->is_set)
            continue;
        if (entry->key != NULL && !query_schema_find_parameter(schema, entry->key, &index, error))
            return FALSE;
        if (slots[index] != NULL) {
            g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "parameter %u is given twice, the second time as '%s'",
                        index + 1, entry->key);
            return FALSE;
        }
        slots[index] = entry;
    }

    for (guint i = 0; i < schema->n_parameters; i++) {
        const char *name = schema->parameter_names[i];

        if (slots[i] != NULL || schema->is_sparql)
            continue;
        if (name != NULL)
            g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "parameter %u ('%s') has no value", i + 1, name);
        else
            g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "parameter %u has no value", i + 1);
        return FALSE;
    }
    return TRUE;
}

/* Encoding ------------------------------------------------------------------------------------------------------------- */

/* What becomes a row. */
typedef struct Columns {
    const QueryParameters *parameters;
    const Entry **slots; /* (owned) (nullable): an entry (nullable) for each column; NULL: as they stand in @parameters */
    guint n;
} Columns;

static void
columns_clear(Columns *self)
{
    g_clear_pointer(&self->slots, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Columns, columns_clear)

static gboolean
columns_init(Columns *self, const QueryParameters *parameters, const QuerySchema *schema, GError **error)
{
    *self = (Columns){ .parameters = parameters, .n = schema != NULL ? schema->n_parameters : 0 };
    g_assert(schema != NULL || query_parameters_get_n(parameters) == 0);
    if (schema == NULL || is_in_order(parameters, self->n))
        return TRUE;

    self->slots = g_new0(const Entry *, self->n);
    return resolve(parameters, schema, self->slots, error);
}

static const QwValue *
get_value(const Columns *self, guint index)
{
    static const QwValue none = { .type = QW_TYPE_NULL };
    const Entry *entry = self->slots != NULL ? self->slots[index] : &g_array_index(self->parameters->entries, Entry, index);

    return entry != NULL ? &entry->value : &none;
}

/* The bytes that a row takes at most, its head included. */
static gboolean
measure(const Columns *self, gsize *ret_n_bytes, GError **error)
{
    gsize n_bytes = QW_HEADER_SIZE + VALUE_OVERHEAD_BYTES;

    for (guint i = 0; i < self->n; i++) {
        const QwValue *value = get_value(self, i);

        n_bytes += VALUE_OVERHEAD_BYTES;
        if (qw_type_has_nul(value->type) || value->type == QW_TYPE_BLOB)
            n_bytes += (gsize) value->n_bytes + value->n_tag_bytes;
    }
    *ret_n_bytes = n_bytes;
    if (n_bytes > QW_ROWS_SIZE_MAX)
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG, "the parameters take %" G_GSIZE_FORMAT " bytes, the limit is %u",
                    n_bytes, QW_ROWS_SIZE_MAX);
    return n_bytes <= QW_ROWS_SIZE_MAX;
}

/* After the first @used bytes of @data, which has room for what measure() said. Returns: the bytes used then */
static gsize
put_row(const Columns *self, uint8_t *data, gsize used, gsize capacity)
{
    QwPageWriter writer;

    qw_page_writer_init(&writer, data, capacity, self->n);
    writer.used = used;
    (void) qw_row_begin(&writer);
    for (guint i = 0; i < self->n; i++)
        if (qw_row_put_value(&writer, get_value(self, i)) < 0)
            g_assert_not_reached();
    if (qw_row_end(&writer) < 0)
        g_assert_not_reached();
    return writer.used;
}

static GBytes *
encode_row(const Columns *columns, GError **error)
{
    g_autofree uint8_t *buffer = NULL;
    const uint8_t *row;
    gsize capacity;
    gsize used;

    if (columns->n == 0)
        return g_bytes_new_static("", 0);
    if (!measure(columns, &capacity, error))
        return NULL;
    buffer = g_try_malloc(capacity);
    if (buffer == NULL) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_NO_MEMORY, "no memory for %" G_GSIZE_FORMAT " bytes of parameters", capacity);
        return NULL;
    }

    used = put_row(columns, buffer, QW_HEADER_SIZE, capacity);
    row = buffer + QW_HEADER_SIZE;
    return g_bytes_new_with_free_func(row, used - QW_HEADER_SIZE, g_free, g_steal_pointer(&buffer));
}

const char *
query_parameters_get_key(const QueryParameters *self, guint index)
{
    return g_array_index(self->entries, Entry, index).key;
}

GBytes *
query_parameters_encode_given(const QueryParameters *self, GError **error)
{
    return encode_row(&(Columns){ .parameters = self, .n = self->entries->len }, error);
}

GBytes *
query_parameters_encode(const QueryParameters *self, const QuerySchema *schema, GError **error)
{
    g_auto(Columns) columns = { 0 };

    return columns_init(&columns, self, schema, error) ? encode_row(&columns, error) : NULL;
}

gboolean
query_parameters_append(const QueryParameters *self, const QuerySchema *schema, GByteArray *rows, gsize n_max_bytes, GError **error)
{
    g_auto(Columns) columns = { 0 };
    guint used = rows->len;
    gsize capacity;

    if (!columns_init(&columns, self, schema, error) || !measure(&columns, &capacity, error))
        return FALSE;
    if (capacity > n_max_bytes - MIN(used, n_max_bytes)) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG,
                    "the rows of one message take more than the limit of %" G_GSIZE_FORMAT " bytes", n_max_bytes);
        return FALSE;
    }
    g_byte_array_set_size(rows, used + (guint) capacity);
    g_byte_array_set_size(rows, (guint) put_row(&columns, rows->data, used, rows->len));
    return TRUE;
}
