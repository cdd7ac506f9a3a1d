/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Nested arrays: a node for each column and part of one, with buffers that grow.
 */
#include "client-lib/adbc/adbc-build.h"

#include <string.h>

struct QadNode {
    const QadField *field;
    gint64 length;
    gint64 n_nulls;
    GByteArray *validity; /* bits */
    GByteArray *offsets;  /* of texts, lists and unions, as gint32 */
    GByteArray *data;     /* values; of a union its types */
    guint n_children;
    QadNode **children;
    const void *buffers[3];
};

static gboolean
is_text(const QadNode *self)
{
    return self->field->format[0] == 'u';
}

static gboolean
is_list(const QadNode *self)
{
    return g_str_equal(self->field->format, "+l") || g_str_equal(self->field->format, "+m");
}

static gboolean
is_struct(const QadNode *self)
{
    return g_str_equal(self->field->format, "+s");
}

static gboolean
is_union(const QadNode *self)
{
    return g_str_has_prefix(self->field->format, "+u");
}

static void
add_offset(QadNode *self, gint64 value)
{
    gint32 offset = (gint32) value;

    g_byte_array_append(self->offsets, (const guint8 *) &offset, sizeof offset);
}

static guint
count(const QadField *fields)
{
    guint n = 0;

    while (fields != NULL && fields[n].format != NULL)
        n++;
    return n;
}

QadNode *
qad_node_new(const QadField *field)
{
    QadNode *self = g_new0(QadNode, 1);

    self->field = field;
    self->validity = g_byte_array_new();
    self->offsets = g_byte_array_new();
    self->data = g_byte_array_new();
    if (is_text(self) || is_list(self))
        add_offset(self, 0);
    self->n_children = count(field->children);
    self->children = g_new0(QadNode *, self->n_children + 1);
    for (guint i = 0; i < self->n_children; i++)
        self->children[i] = qad_node_new(&field->children[i]);
    return self;
}

void
qad_node_free(QadNode *self)
{
    if (self == NULL)
        return;
    for (guint i = 0; i < self->n_children; i++)
        qad_node_free(self->children[i]);
    g_free(self->children);
    g_byte_array_unref(self->validity);
    g_byte_array_unref(self->offsets);
    g_byte_array_unref(self->data);
    g_free(self);
}

QadNode *
qad_node_get_child(QadNode *self, guint index)
{
    g_assert(index < self->n_children);

    return self->children[index];
}

/* Values --------------------------------------------------------------------------------------------------------------- */

static void
set_bit(GByteArray *bits, gint64 index, gboolean value)
{
    static const guint8 zero = 0;

    if (index % 8 == 0)
        g_byte_array_append(bits, &zero, 1);
    if (value)
        bits->data[index / 8] |= (guint8) (1u << (index % 8));
}

/* The next value is there, or NULL. */
static void
end_value(QadNode *self, gboolean is_value)
{
    set_bit(self->validity, self->length, is_value);
    self->n_nulls += !is_value;
    self->length++;
}

void
qad_node_add_int(QadNode *self, gint64 value)
{
    guint16 two = (guint16) value;
    guint32 four = (guint32) value;

    switch (self->field->format[0]) {
    case 'b':
        set_bit(self->data, self->length, value != 0);
        break;
    case 's':
        g_byte_array_append(self->data, (const guint8 *) &two, sizeof two);
        break;
    case 'i':
    case 'I':
        g_byte_array_append(self->data, (const guint8 *) &four, sizeof four);
        break;
    default:
        g_assert(self->field->format[0] == 'l');
        g_byte_array_append(self->data, (const guint8 *) &value, sizeof value);
        break;
    }
    end_value(self, TRUE);
}

void
qad_node_add_null(QadNode *self)
{
    if (is_text(self)) {
        add_offset(self, self->data->len);
    } else if (is_list(self)) {
        add_offset(self, self->children[0]->length);
    } else if (is_struct(self)) {
        for (guint i = 0; i < self->n_children; i++)
            qad_node_add_null(self->children[i]);
    } else {
        qad_node_add_int(self, 0);
        self->validity->data[(self->length - 1) / 8] &= (guint8) ~(1u << ((self->length - 1) % 8));
        self->n_nulls++;
        return;
    }
    end_value(self, FALSE);
}

void
qad_node_add_text(QadNode *self, const char *text)
{
    g_assert(is_text(self));

    if (text == NULL) {
        qad_node_add_null(self);
        return;
    }
    g_byte_array_append(self->data, (const guint8 *) text, (guint) strlen(text));
    add_offset(self, self->data->len);
    end_value(self, TRUE);
}

void
qad_node_end(QadNode *self)
{
    if (is_list(self))
        add_offset(self, self->children[0]->length);
    end_value(self, TRUE);
}

void
qad_node_add_member(QadNode *self, guint index)
{
    guint8 type = (guint8) index;

    g_byte_array_append(self->data, &type, 1);
    add_offset(self, self->children[index]->length - 1);
    self->length++;
}

/* Giving --------------------------------------------------------------------------------------------------------------- */

static void
release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release != NULL)
            schema->children[i]->release(schema->children[i]);
        g_free(schema->children[i]);
    }
    g_free(schema->children);
    if (schema->dictionary != NULL && schema->dictionary->release != NULL)
        schema->dictionary->release(schema->dictionary);
    g_free(schema->dictionary);
    g_free((char *) schema->format);
    g_free((char *) schema->name);
    schema->release = NULL;
}

void
qad_schema_init(struct ArrowSchema *schema, const char *format, const char *name, gsize n_children)
{
    *schema = (struct ArrowSchema){ .format = g_strdup(format), .name = g_strdup(name), .flags = ARROW_FLAG_NULLABLE };
    schema->n_children = (int64_t) n_children;
    schema->children = g_new0(struct ArrowSchema *, n_children + 1);
    for (gsize i = 0; i < n_children; i++)
        schema->children[i] = g_new0(struct ArrowSchema, 1);
    schema->release = release_schema;
}

/* The schema of @field alone. */
static void
give_field(const QadField *field, struct ArrowSchema *ret_schema)
{
    guint n = count(field->children);

    qad_schema_init(ret_schema, field->format, field->name, n);
    if (field->required)
        ret_schema->flags = 0;
    for (guint i = 0; i < n; i++)
        give_field(&field->children[i], ret_schema->children[i]);
}

void
qad_schema_copy(const struct ArrowSchema *schema, struct ArrowSchema *ret_copy)
{
    qad_schema_init(ret_copy, schema->format, schema->name, (gsize) schema->n_children);
    ret_copy->flags = schema->flags;
    for (int64_t i = 0; i < schema->n_children; i++)
        qad_schema_copy(schema->children[i], ret_copy->children[i]);
    if (schema->dictionary == NULL)
        return;
    ret_copy->dictionary = g_new0(struct ArrowSchema, 1);
    qad_schema_copy(schema->dictionary, ret_copy->dictionary);
}

static void
release_array(struct ArrowArray *array)
{
    QadNode *node = array->private_data;

    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
        g_free(array->children[i]);
    }
    g_free(array->children);
    qad_node_free(node);
    array->release = NULL;
}

/* @self: (transfer full) */
static void
give_array(QadNode *self, struct ArrowArray *array)
{
    static const guint8 nothing[8] = { 0 };
    guint n = 0;

    if (!is_union(self))
        self->buffers[n++] = self->n_nulls > 0 ? self->validity->data : NULL;
    if (is_union(self))
        self->buffers[n++] = self->data->data != NULL ? self->data->data : nothing;
    if (is_text(self) || is_list(self) || is_union(self))
        self->buffers[n++] = self->offsets->data != NULL ? self->offsets->data : nothing;
    if (!is_list(self) && !is_struct(self) && !is_union(self))
        self->buffers[n++] = self->data->data != NULL ? self->data->data : nothing;

    *array = (struct ArrowArray){ .length = self->length, .null_count = self->n_nulls, .n_buffers = n };
    array->buffers = self->buffers;
    array->n_children = self->n_children;
    array->children = g_new0(struct ArrowArray *, self->n_children + 1);
    for (guint i = 0; i < self->n_children; i++) {
        array->children[i] = g_new0(struct ArrowArray, 1);
        give_array(self->children[i], array->children[i]);
    }
    self->n_children = 0; /* they own themselves now */
    array->private_data = self;
    array->release = release_array;
}

void
qad_node_give(QadNode *self, struct ArrowSchema *ret_schema, struct ArrowArray *ret_batch)
{
    give_field(self->field, ret_schema);
    give_array(self, ret_batch);
}
