/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Columns and parameters of a statement, decoded once.
 *
 * Place: internal to libquery-client.
 * Invariant: counts that a peer announces are checked against the bytes that are there before anything is allocated.
 */
#include "client-lib/core/query-schema.h"

#include <string.h>

#include "client-lib/core/query-error.h"

#define PARAMETERS_MAX 65536u
/* A column takes two strings of at least eight bytes each on the wire, a parameter its index and a string. */
#define COLUMN_MIN_BYTES 16u
#define PARAMETER_MIN_BYTES 12u

QuerySchema *
query_schema_new(guint n_columns, guint n_parameters)
{
    QuerySchema *self = g_new0(QuerySchema, 1);

    self->ref_count = 1;
    self->n_columns = n_columns;
    self->n_parameters = n_parameters;
    self->columns = g_new0(QuerySchemaColumn, n_columns);
    self->parameter_names = g_new0(const char *, n_parameters);
    self->strings = g_string_chunk_new(512);
    return self;
}

QuerySchema *
query_schema_ref(QuerySchema *self)
{
    g_atomic_int_inc(&self->ref_count);
    return self;
}

void
query_schema_unref(QuerySchema *self)
{
    if (!g_atomic_int_dec_and_test(&self->ref_count))
        return;

    g_string_chunk_free(self->strings);
    g_free(self->parameter_names);
    g_free(self->columns);
    g_free(self);
}

/* A name is text of a stranger's database: what is not UTF-8 is replaced, since callers print it. */
static const char *
keep_string(QuerySchema *self, const char *data, gsize n_bytes)
{
    g_autofree char *valid = NULL;

    if (g_utf8_validate_len(data, n_bytes, NULL))
        return g_string_chunk_insert_len(self->strings, data, (gssize) n_bytes);

    valid = g_utf8_make_valid(data, (gssize) n_bytes);
    return g_string_chunk_insert(self->strings, valid);
}

void
query_schema_set_column(QuerySchema *self, guint index, const char *name, const char *type)
{
    self->columns[index].name = name != NULL ? keep_string(self, name, strlen(name)) : "";
    self->columns[index].type = type != NULL ? keep_string(self, type, strlen(type)) : "";
}

void
query_schema_set_parameter(QuerySchema *self, guint index, const char *name)
{
    self->parameter_names[index] = name != NULL ? keep_string(self, name, strlen(name)) : NULL;
}

static gboolean
read_columns(QuerySchema *self, QwBodyReader *reader)
{
    for (guint i = 0; i < self->n_columns; i++) {
        const char *name;
        const char *type;
        uint32_t n_name_bytes;
        uint32_t n_type_bytes;

        if (qw_body_get_string(reader, &name, &n_name_bytes) < 0 || qw_body_get_string(reader, &type, &n_type_bytes) < 0)
            return FALSE;
        self->columns[i].name = keep_string(self, name, n_name_bytes);
        self->columns[i].type = keep_string(self, type, n_type_bytes);
    }
    return TRUE;
}

static gboolean
set_parameter(QuerySchema *self, guint32 index, const char *name, gsize n_bytes)
{
    if (index < 1 || index > self->n_parameters)
        return FALSE;

    self->parameter_names[index - 1] = n_bytes > 0 ? keep_string(self, name, n_bytes) : NULL;
    return TRUE;
}

static gboolean
read_parameters(QuerySchema *self, QwBodyReader *reader)
{
    for (guint i = 0; i < self->n_parameters; i++) {
        const char *name;
        uint32_t index;
        uint32_t n_bytes;

        if (qw_body_get_u32(reader, &index) < 0 || qw_body_get_string(reader, &name, &n_bytes) < 0)
            return FALSE;
        if (!set_parameter(self, index, name, n_bytes))
            return FALSE;
    }
    return TRUE;
}

QuerySchema *
query_schema_new_from_wire(const uint8_t *body, gsize n_bytes, guint32 n_columns, GError **error)
{
    g_autoptr(QuerySchema) self = NULL;
    QwBodyReader reader = { .data = body, .n_bytes = n_bytes };
    QwSchemaHead head;

    if (qw_schema_get_head(&reader, &head) < 0 || n_columns > n_bytes / COLUMN_MIN_BYTES ||
        head.n_parameters > MIN(PARAMETERS_MAX, n_bytes / PARAMETER_MIN_BYTES)) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "the daemon sent a SCHEMA with an impossible head");
        return NULL;
    }

    self = query_schema_new(n_columns, head.n_parameters);
    self->writes = (head.flags & QW_SCHEMA_WRITES) != 0;
    self->is_stable = (head.flags & QW_SCHEMA_STABLE) != 0;
    if (!read_columns(self, &reader) || !read_parameters(self, &reader) || qw_body_finish(&reader) < 0) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "the daemon sent a SCHEMA that is cut short or too long");
        return NULL;
    }

    return g_steal_pointer(&self);
}

QuerySchema *
query_schema_new_from_dbus(GVariant *columns, GVariant *info, GError **error)
{
    g_autoptr(GVariant) parameters = g_variant_lookup_value(info, "parameters", G_VARIANT_TYPE("a(us)"));
    g_autoptr(QuerySchema) self = NULL;
    guint n_parameters = parameters != NULL ? (guint) g_variant_n_children(parameters) : 0;
    guint n_columns = (guint) g_variant_n_children(columns);

    self = query_schema_new(n_columns, n_parameters);
    g_variant_lookup(info, "writes", "b", &self->writes);
    g_variant_lookup(info, "stable", "b", &self->is_stable);
    for (guint i = 0; i < n_columns; i++) {
        const char *name;
        const char *type;

        g_variant_get_child(columns, i, "(&s&s)", &name, &type);
        self->columns[i].name = g_string_chunk_insert(self->strings, name);
        self->columns[i].type = g_string_chunk_insert(self->strings, type);
    }
    for (guint i = 0; i < n_parameters; i++) {
        const char *name;
        guint32 index;

        g_variant_get_child(parameters, i, "(u&s)", &index, &name);
        if (!set_parameter(self, index, name, strlen(name))) {
            g_set_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "the daemon named parameter %u of %u", index, n_parameters);
            return NULL;
        }
    }

    return g_steal_pointer(&self);
}

static gboolean
parse_index(const char *key, guint64 *ret_index)
{
    guint64 index = 0;
    const char *p = key;

    for (; g_ascii_isdigit(*p) && index <= G_MAXUINT; p++)
        index = 10 * index + (guint64) g_ascii_digit_value(*p);
    *ret_index = index;
    return p > key && *p == '\0' && index <= G_MAXUINT;
}

gboolean
query_schema_find_parameter(const QuerySchema *self, const char *key, guint *ret_index, GError **error)
{
    guint64 number;
    guint n_bare = 0;
    guint bare = 0;

    if (parse_index(key, &number)) {
        if (number >= 1 && number <= self->n_parameters) {
            *ret_index = (guint) number - 1;
            return TRUE;
        }
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "there is no parameter %s: the statement has %u", key,
                    self->n_parameters);
        return FALSE;
    }

    for (guint i = 0; i < self->n_parameters; i++) {
        const char *name = self->parameter_names[i];

        if (name == NULL)
            continue;
        if (g_str_equal(name, key)) {
            *ret_index = i;
            return TRUE;
        }
        if (g_str_equal(name + 1, key)) {
            bare = i;
            n_bare++;
        }
    }
    if (n_bare == 1) {
        *ret_index = bare;
        return TRUE;
    }

    g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER,
                n_bare > 0        ? "parameter '%s' is ambiguous: give its sigil too"
                : self->is_sparql ? "there is no parameter '%s': a variable that is one is written with '$'"
                                  : "there is no parameter '%s'",
                key);
    return FALSE;
}
