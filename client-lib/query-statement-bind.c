/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values of a statement's parameters, and rows of them.
 *
 * Place: part of QueryStatement. What is bound is kept until it is replaced; nothing is sent.
 */
#include <string.h>

#include "client-lib/core/query-error.h"
#include "client-lib/query-connection-private.h"
#include "client-lib/query-statement-private.h"

#define XSD "http://www.w3.org/2001/XMLSchema#"

/* What the daemon takes in one request, with room for the text of none. */
#define ROWS_MAX_BYTES (64u * 1024u * 1024u)

gboolean
query_statement_check_made(QueryStatement *self, GError **error)
{
    return query_connection_check_made(self->connection, "query_connection_prepare", error);
}

/* Consumes @owner, also on failure. */
static gboolean
bind(QueryStatement *self, const char *name, const QwValue *value, gpointer owner, GDestroyNotify destroy, GError **error)
{
    guint index;

    if (!query_statement_check_made(self, error) || !query_schema_find_parameter(self->schema, name, &index, error)) {
        if (destroy != NULL)
            destroy(owner);
        return FALSE;
    }

    query_parameters_set(self->parameters, index, value, owner, destroy);
    return TRUE;
}

/* FALSE for what a row cannot carry; TOO_BIG then. */
static gboolean
check_size(const char *name, gsize n_bytes, GError **error)
{
    if (n_bytes <= QW_ROWS_SIZE_MAX)
        return TRUE;

    g_set_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG, "parameter '%s' takes %" G_GSIZE_FORMAT " bytes, the limit is %u", name,
                n_bytes, QW_ROWS_SIZE_MAX);
    return FALSE;
}

gboolean
query_statement_bind_null(QueryStatement *self, const char *name, GError **error)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);

    return bind(self, name, &(QwValue){ .type = QW_TYPE_NULL }, NULL, NULL, error);
}

gboolean
query_statement_bind_int64(QueryStatement *self, const char *name, gint64 value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);

    return bind(self, name, &(QwValue){ .type = QW_TYPE_INTEGER, .integer = value }, NULL, NULL, error);
}

gboolean
query_statement_bind_double(QueryStatement *self, const char *name, double value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);

    return bind(self, name, &(QwValue){ .type = QW_TYPE_FLOAT, .real = value }, NULL, NULL, error);
}

/* Binds copies of a string and, for literals, of its tag. */
static gboolean
bind_term(QueryStatement *self, const char *name, QwType type, const char *data, gsize n_bytes, const char *tag, GError **error)
{
    gsize n_tag_bytes = tag != NULL ? strlen(tag) : 0;
    QwValue value = { .type = type };
    char *copy;

    if (!check_size(name, n_bytes, error) || !check_size(name, n_tag_bytes, error))
        return FALSE;

    copy = g_malloc(n_bytes + 1 + n_tag_bytes + 1);
    memcpy(copy, data, n_bytes);
    copy[n_bytes] = '\0';
    memcpy(copy + n_bytes + 1, tag != NULL ? tag : "", n_tag_bytes + 1);
    value.data = copy;
    value.n_bytes = (uint32_t) n_bytes;
    value.tag = tag != NULL ? copy + n_bytes + 1 : NULL;
    value.n_tag_bytes = (uint32_t) n_tag_bytes;
    return bind(self, name, &value, copy, g_free, error);
}

gboolean
query_statement_bind_string(QueryStatement *self, const char *name, const char *value, gssize n_bytes, GError **error)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);
    g_return_val_if_fail(value != NULL, FALSE);

    return bind_term(self, name, QW_TYPE_TEXT, value, n_bytes < 0 ? strlen(value) : (gsize) n_bytes, NULL, error);
}

gboolean
query_statement_bind_bytes(QueryStatement *self, const char *name, GBytes *value, GError **error)
{
    QwValue blob = { .type = QW_TYPE_BLOB };
    gsize n_bytes;

    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);
    g_return_val_if_fail(value != NULL, FALSE);

    blob.data = g_bytes_get_data(value, &n_bytes);
    blob.n_bytes = (uint32_t) n_bytes;
    if (!check_size(name, n_bytes, error))
        return FALSE;

    return bind(self, name, &blob, g_bytes_ref(value), (GDestroyNotify) g_bytes_unref, error);
}

gboolean
query_statement_bind_iri(QueryStatement *self, const char *name, const char *iri, GError **error)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);
    g_return_val_if_fail(iri != NULL, FALSE);

    return bind_term(self, name, QW_TYPE_IRI, iri, strlen(iri), NULL, error);
}

gboolean
query_statement_bind_literal(QueryStatement *self, const char *name, const char *lexical, const char *datatype,
                             const char *language, GError **error)
{
    QwType type = QW_TYPE_TEXT;

    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);
    g_return_val_if_fail(lexical != NULL, FALSE);
    g_return_val_if_fail(datatype == NULL || language == NULL, FALSE);

    if (!g_utf8_validate(lexical, -1, NULL) || (datatype != NULL && !g_utf8_validate(datatype, -1, NULL)) ||
        (language != NULL && (language[0] == '\0' || !g_utf8_validate(language, -1, NULL)))) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER,
                    "parameter '%s': a literal is UTF-8, and its language is not empty: pass NULL for none", name);
        return FALSE;
    }
    if (datatype != NULL)
        type = QW_TYPE_LITERAL_TYPED;
    else if (language != NULL)
        type = QW_TYPE_LITERAL_LANG;

    return bind_term(self, name, type, lexical, strlen(lexical), datatype != NULL ? datatype : language, error);
}

gboolean
query_statement_bind_boolean(QueryStatement *self, const char *name, gboolean value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);

    if (query_statement_get_language(self) == QUERY_LANGUAGE_SPARQL)
        return query_statement_bind_literal(self, name, value ? "true" : "false", XSD "boolean", NULL, error);
    return query_statement_bind_int64(self, name, value ? 1 : 0, error);
}

gboolean
query_statement_bind_date_time(QueryStatement *self, const char *name, GDateTime *value, GError **error)
{
    g_autofree char *text = NULL;

    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(value != NULL, FALSE);

    text = g_date_time_format_iso8601(value);
    if (query_statement_get_language(self) == QUERY_LANGUAGE_SPARQL)
        return query_statement_bind_literal(self, name, text, XSD "dateTime", NULL, error);
    return query_statement_bind_string(self, name, text, -1, error);
}

static gboolean
bind_uint64(QueryStatement *self, const char *name, guint64 value, GError **error)
{
    if (value <= G_MAXINT64)
        return query_statement_bind_int64(self, name, (gint64) value, error);

    g_set_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG,
                "parameter '%s': %" G_GUINT64_FORMAT " is more than an INTEGER holds, %" G_GINT64_FORMAT "; bind it as a string",
                name, value, G_MAXINT64);
    return FALSE;
}

static gboolean
bind_number(QueryStatement *self, const char *name, const GValue *value, GError **error)
{
    g_auto(GValue) number = G_VALUE_INIT;

    if (G_VALUE_HOLDS_UINT64(value))
        return bind_uint64(self, name, g_value_get_uint64(value), error);
    if (G_VALUE_HOLDS_ULONG(value))
        return bind_uint64(self, name, g_value_get_ulong(value), error);
    if (G_VALUE_HOLDS_DOUBLE(value) || G_VALUE_HOLDS_FLOAT(value)) {
        (void) g_value_init(&number, G_TYPE_DOUBLE);
        (void) g_value_transform(value, &number);
        return query_statement_bind_double(self, name, g_value_get_double(&number), error);
    }
    (void) g_value_init(&number, G_TYPE_INT64);
    if (g_value_type_transformable(G_VALUE_TYPE(value), G_TYPE_INT64) && g_value_transform(value, &number))
        return query_statement_bind_int64(self, name, g_value_get_int64(&number), error);

    g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "parameter '%s': a %s cannot be bound", name,
                G_VALUE_TYPE_NAME(value));
    return FALSE;
}

static gboolean
bind_variant(QueryStatement *self, const char *name, GVariant *value, GError **error)
{
    GVariantDict dictionary = G_VARIANT_DICT_INIT(NULL);

    g_variant_dict_insert_value(&dictionary, name, value);
    return query_statement_bind_parameters(self, g_variant_dict_end(&dictionary), error);
}

gboolean
query_statement_bind_value(QueryStatement *self, const char *name, const GValue *value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);

    if (value == NULL || !G_IS_VALUE(value))
        return query_statement_bind_null(self, name, error);
    if (G_VALUE_HOLDS_BOOLEAN(value))
        return query_statement_bind_boolean(self, name, g_value_get_boolean(value), error);
    if (G_VALUE_HOLDS_STRING(value) && g_value_get_string(value) != NULL)
        return query_statement_bind_string(self, name, g_value_get_string(value), -1, error);
    if (G_VALUE_HOLDS(value, G_TYPE_BYTES) && g_value_get_boxed(value) != NULL)
        return query_statement_bind_bytes(self, name, g_value_get_boxed(value), error);
    if (G_VALUE_HOLDS_VARIANT(value) && g_value_get_variant(value) != NULL)
        return bind_variant(self, name, g_value_get_variant(value), error);
    if (G_VALUE_HOLDS(value, G_TYPE_DATE_TIME) && g_value_get_boxed(value) != NULL)
        return query_statement_bind_date_time(self, name, g_value_get_boxed(value), error);
    if (g_value_fits_pointer(value) && g_value_peek_pointer(value) == NULL)
        return query_statement_bind_null(self, name, error);
    return bind_number(self, name, value, error);
}

gboolean
query_statement_bind_parameters(QueryStatement *self, GVariant *parameters, GError **error)
{
    g_autoptr(GVariant) owned = NULL;

    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(parameters != NULL, FALSE);

    owned = g_variant_ref_sink(parameters);
    g_return_val_if_fail(g_variant_is_of_type(owned, G_VARIANT_TYPE_VARDICT), FALSE);
    return query_statement_check_made(self, error) && query_parameters_set_variant(self->parameters, self->schema, owned, error);
}

void
query_statement_clear_bindings(QueryStatement *self)
{
    g_return_if_fail(QUERY_IS_STATEMENT(self));

    query_parameters_clear(self->parameters);
}

gboolean
query_statement_add_row(QueryStatement *self, GError **error)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);

    if (!query_statement_check_made(self, error))
        return FALSE;
    if (self->schema->n_parameters == 0) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER,
                            "the statement has no parameters: it has no rows of them");
        return FALSE;
    }
    if (self->rows == NULL)
        self->rows = g_byte_array_set_size(g_byte_array_new(), QW_HEADER_SIZE);
    if (!query_parameters_append(self->parameters, self->schema, self->rows, ROWS_MAX_BYTES, error))
        return FALSE;
    self->n_rows++;
    return TRUE;
}
