/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryRow: what the application holds of a list.
 *
 * Place: public object. It knows its list by a plain pointer, since the list knows all its rows and detaches them.
 * Invariant: in a list there is at most one row for a position, so that equal rows are the same object.
 */
#include "client-lib/core/query-value.h"
#include "client-lib/list/query-row-private.h"
#include "client-lib/text/text-number.h"

struct _QueryRow {
    GObject parent_instance;
    gpointer list; /* (nullable) (not owned) */
    QueryRowGone gone;
    guint position;
    QueryListRow *data; /* (nullable) */
};

enum { PROP_IS_LOADED = 1, PROP_POSITION, PROP_VALUES, N_PROPS };

static GParamSpec *properties[N_PROPS];

G_DEFINE_TYPE(QueryRow, query_row, G_TYPE_OBJECT)

static void
query_row_dispose(GObject *object)
{
    QueryRow *self = QUERY_ROW(object);

    if (self->list != NULL)
        self->gone(self->list, self);
    self->list = NULL;
    G_OBJECT_CLASS(query_row_parent_class)->dispose(object);
}

static void
query_row_finalize(GObject *object)
{
    query_list_row_unref(QUERY_ROW(object)->data);
    G_OBJECT_CLASS(query_row_parent_class)->finalize(object);
}

/* (transfer floating): a{sv} by name; of columns with one name the first. */
static GVariant *
make_values(QueryRow *self)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
    for (guint i = 0; i < query_row_get_n_columns(self); i++) {
        g_autoptr(GVariant) value = query_row_get_variant(self, i);
        const char *name = query_row_get_column_name(self, i);

        if (query_row_find_column(self, name) == (int) i)
            g_variant_builder_add(&builder, "{sv}", name, value);
    }
    return g_variant_builder_end(&builder);
}

static void
query_row_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    QueryRow *self = QUERY_ROW(object);

    if (id == PROP_IS_LOADED)
        g_value_set_boolean(value, query_row_is_loaded(self));
    else if (id == PROP_POSITION)
        g_value_set_uint(value, self->position);
    else if (id == PROP_VALUES)
        g_value_set_variant(value, make_values(self));
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void
query_row_class_init(QueryRowClass *klass)
{
    GObjectClass *object_class = G_OBJECT_CLASS(klass);
    const GParamFlags flags = G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;

    object_class->dispose = query_row_dispose;
    object_class->finalize = query_row_finalize;
    object_class->get_property = query_row_get_property;

    /**
     * QueryRow:is-loaded: (getter is_loaded)
     *
     * Whether the values have arrived.
     */
    properties[PROP_IS_LOADED] = g_param_spec_boolean("is-loaded", NULL, NULL, FALSE, flags);
    /**
     * QueryRow:position: (getter get_position)
     *
     * The position in the list, %G_MAXUINT for a row that is in none. It does not notify.
     */
    properties[PROP_POSITION] = g_param_spec_uint("position", NULL, NULL, 0, G_MAXUINT, G_MAXUINT, flags);
    /**
     * QueryRow:values:
     *
     * The values by the names of the columns (a{sv}), as query_row_get_variant() gives them. Notifies when the row is loaded, and
     * when it has changed.
     */
    properties[PROP_VALUES] = g_param_spec_variant("values", NULL, NULL, G_VARIANT_TYPE_VARDICT, NULL, flags);
    g_object_class_install_properties(object_class, N_PROPS, properties);
}

static void
query_row_init(QueryRow *self)
{
    self->position = G_MAXUINT;
}

/* For the list ------------------------------------------------------------------------------------------------------------ */

QueryRow *
query_row_new(gpointer list, QueryRowGone gone, guint position, QueryListRow *data)
{
    QueryRow *self = g_object_new(QUERY_TYPE_ROW, NULL);

    self->list = list;
    self->gone = gone;
    self->position = position;
    self->data = data != NULL ? query_list_row_ref(data) : NULL;
    return self;
}

void
query_row_detach(QueryRow *self)
{
    self->list = NULL;
    self->position = G_MAXUINT;
}

void
query_row_set_position(QueryRow *self, guint position)
{
    self->position = position;
}

QueryListRow *
query_row_get_data(QueryRow *self)
{
    return self->data;
}

void
query_row_set_data(QueryRow *self, QueryListRow *data)
{
    QueryListRow *old = self->data;
    gboolean is_other = old == NULL || !query_list_row_is_same(old, data, NULL);

    self->data = query_list_row_ref(data);
    if (is_other) {
        g_object_freeze_notify(G_OBJECT(self));
        if (old == NULL)
            g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_IS_LOADED]);
        g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_VALUES]);
        g_object_thaw_notify(G_OBJECT(self));
    }
    query_list_row_unref(old);
}

/* For the application ----------------------------------------------------------------------------------------------------- */

/* @ret_value: NULL when there is no such value. */
static void
get(QueryRow *self, guint column, QwValue *ret_value)
{
    *ret_value = (QwValue){ .type = QW_TYPE_NULL };
    if (self->data != NULL && column < query_list_row_get_n_columns(self->data))
        query_list_row_get(self->data, column, ret_value);
}

gboolean
query_row_is_loaded(QueryRow *self)
{
    g_return_val_if_fail(QUERY_IS_ROW(self), FALSE);

    return self->data != NULL;
}

guint
query_row_get_position(QueryRow *self)
{
    g_return_val_if_fail(QUERY_IS_ROW(self), G_MAXUINT);

    return self->position;
}

guint
query_row_get_n_columns(QueryRow *self)
{
    g_return_val_if_fail(QUERY_IS_ROW(self), 0);

    return self->data != NULL ? query_list_row_get_n_columns(self->data) : 0;
}

const char *
query_row_get_column_name(QueryRow *self, guint column)
{
    g_return_val_if_fail(QUERY_IS_ROW(self), NULL);

    return column < query_row_get_n_columns(self) ? query_list_row_get_column_name(self->data, column) : NULL;
}

int
query_row_find_column(QueryRow *self, const char *name)
{
    g_return_val_if_fail(QUERY_IS_ROW(self), -1);
    g_return_val_if_fail(name != NULL, -1);

    return self->data != NULL ? query_list_row_find_column(self->data, name) : -1;
}

QueryValueType
query_row_get_value_type(QueryRow *self, guint column)
{
    QwValue value;

    g_return_val_if_fail(QUERY_IS_ROW(self), QUERY_VALUE_TYPE_NULL);

    get(self, column, &value);
    return (QueryValueType) value.type;
}

gint64
query_row_get_int64(QueryRow *self, guint column)
{
    QwValue value;

    g_return_val_if_fail(QUERY_IS_ROW(self), 0);

    get(self, column, &value);
    return query_value_to_int64(&value);
}

double
query_row_get_double(QueryRow *self, guint column)
{
    QwValue value;

    g_return_val_if_fail(QUERY_IS_ROW(self), 0);

    get(self, column, &value);
    return query_value_to_double(&value);
}

gboolean
query_row_get_boolean(QueryRow *self, guint column)
{
    QwValue value;

    g_return_val_if_fail(QUERY_IS_ROW(self), FALSE);

    get(self, column, &value);
    return query_value_to_boolean(&value);
}

char *
query_row_dup_string(QueryRow *self, guint column)
{
    char number[QW_TEXT_NUMBER_BYTES + 1];
    QwValue value;

    g_return_val_if_fail(QUERY_IS_ROW(self), NULL);

    get(self, column, &value);
    if (qw_type_has_nul(value.type))
        return g_utf8_make_valid(value.data, (gssize) value.n_bytes);
    if (!qw_type_is_word(value.type))
        return NULL;

    query_value_write_number(&value, number);
    return g_strdup(number);
}

char *
query_row_dup_text(QueryRow *self, const char *name)
{
    char *text;
    int column;

    g_return_val_if_fail(QUERY_IS_ROW(self), g_strdup(""));
    g_return_val_if_fail(name != NULL, g_strdup(""));

    column = query_row_find_column(self, name);
    text = column >= 0 ? query_row_dup_string(self, (guint) column) : NULL;
    return text != NULL ? text : g_strdup("");
}

GDateTime *
query_row_get_date_time(QueryRow *self, guint column)
{
    QwValue value;

    g_return_val_if_fail(QUERY_IS_ROW(self), NULL);

    get(self, column, &value);
    return query_value_to_date_time(&value);
}

void
query_row_get_value(QueryRow *self, guint column, GValue *value)
{
    QwValue found;

    g_return_if_fail(QUERY_IS_ROW(self));
    g_return_if_fail(value != NULL && !G_IS_VALUE(value));

    get(self, column, &found);
    query_value_to_gvalue(&found, value);
}

GVariant *
query_row_get_variant(QueryRow *self, guint column)
{
    QwValue value;

    g_return_val_if_fail(QUERY_IS_ROW(self), NULL);

    get(self, column, &value);
    return query_value_to_variant(&value);
}
