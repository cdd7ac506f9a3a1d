/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryListModel: the result of a query as a list.
 *
 * Place: public object; what it reads is decided in query-list-load.c.
 * Invariant: no function waits. Signals follow when what is missing has come.
 */
#include "client-lib/list/query-list-private.h"

enum { PROP_CONNECTION = 1, PROP_IS_LOADING, PROP_ERROR, PROP_GENERATION, PROP_N_ITEMS, PROP_SECTION_COLUMN, N_PROPS };

static GParamSpec *properties[N_PROPS];

static void list_model_init(GListModelInterface *interface);

G_DEFINE_TYPE_WITH_CODE(QueryListModel, query_list_model, G_TYPE_OBJECT, G_IMPLEMENT_INTERFACE(G_TYPE_LIST_MODEL, list_model_init))

static void
forget_held(QueryListModel *self)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, self->held);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        query_row_detach(value);
    g_hash_table_remove_all(self->held);
}

static void
query_list_model_dispose(GObject *object)
{
    QueryListModel *self = QUERY_LIST_MODEL(object);

    query_list_stop(self);
    self->state = QUERY_LIST_EMPTY;
    forget_held(self);
    g_clear_object(&self->subscription);
    G_OBJECT_CLASS(query_list_model_parent_class)->dispose(object);
}

static void
clear_query(QueryListModel *self)
{
    g_clear_pointer(&self->query.statement, g_free);
    g_clear_pointer(&self->query.parameters, g_variant_unref);
}

static void
clear_order(QueryListModel *self)
{
    g_clear_pointer(&self->query.order, g_strfreev);
    g_clear_pointer(&self->query.key, g_free);
}

static void
query_list_model_finalize(GObject *object)
{
    QueryListModel *self = QUERY_LIST_MODEL(object);

    clear_query(self);
    clear_order(self);
    query_list_text_free(self->query.text);
    query_list_sections_clear(self);
    query_list_news_clear(self);
    g_free(self->sections.column);
    query_list_windows_free(&self->windows);
    g_hash_table_unref(self->held);
    g_clear_error(&self->error);
    g_clear_object(&self->connection);
    G_OBJECT_CLASS(query_list_model_parent_class)->finalize(object);
}

static void
query_list_model_set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    QueryListModel *self = QUERY_LIST_MODEL(object);

    if (id == PROP_CONNECTION)
        self->connection = g_value_dup_object(value);
    else if (id == PROP_SECTION_COLUMN)
        query_list_model_set_section_column(self, g_value_get_string(value));
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void
query_list_model_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    QueryListModel *self = QUERY_LIST_MODEL(object);

    if (id == PROP_CONNECTION)
        g_value_set_object(value, self->connection);
    else if (id == PROP_IS_LOADING)
        g_value_set_boolean(value, self->is_loading);
    else if (id == PROP_ERROR)
        g_value_set_boxed(value, self->error);
    else if (id == PROP_GENERATION)
        g_value_set_uint64(value, self->generation);
    else if (id == PROP_N_ITEMS)
        g_value_set_uint(value, self->n_items);
    else if (id == PROP_SECTION_COLUMN)
        g_value_set_string(value, self->sections.column);
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void
query_list_model_class_init(QueryListModelClass *klass)
{
    GObjectClass *object_class = G_OBJECT_CLASS(klass);
    const GParamFlags flags = G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;

    object_class->dispose = query_list_model_dispose;
    object_class->finalize = query_list_model_finalize;
    object_class->set_property = query_list_model_set_property;
    object_class->get_property = query_list_model_get_property;

    /**
     * QueryListModel:connection: (getter get_connection)
     *
     * Where the queries run.
     */
    properties[PROP_CONNECTION] = g_param_spec_object("connection", NULL, NULL, QUERY_TYPE_CONNECTION,
                                                      G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);
    /**
     * QueryListModel:is-loading: (getter is_loading)
     *
     * Whether rows that the application holds, or the number of rows, are still to come.
     */
    properties[PROP_IS_LOADING] = g_param_spec_boolean("is-loading", NULL, NULL, FALSE, flags);
    /**
     * QueryListModel:error: (getter get_error)
     *
     * Why the last query failed, %NULL when it did not.
     */
    properties[PROP_ERROR] = g_param_spec_boxed("error", NULL, NULL, G_TYPE_ERROR, flags);
    /**
     * QueryListModel:generation: (getter get_generation)
     *
     * The generation of the database of which number and order of rows are known.
     */
    properties[PROP_GENERATION] = g_param_spec_uint64("generation", NULL, NULL, 0, G_MAXUINT64, 0, flags);
    /**
     * QueryListModel:n-items:
     *
     * The number of rows. It notifies after each #GListModel::items-changed that changes it.
     */
    properties[PROP_N_ITEMS] = g_param_spec_uint("n-items", NULL, NULL, 0, G_MAXUINT, 0, flags);
    /**
     * QueryListModel:section-column: (setter set_section_column)
     *
     * The column that makes sections, %NULL: none.
     */
    properties[PROP_SECTION_COLUMN] = g_param_spec_string("section-column", NULL, NULL, NULL, flags | G_PARAM_WRITABLE);
    g_object_class_install_properties(object_class, N_PROPS, properties);

    /**
     * QueryListModel::sections-changed:
     * @self: the list
     * @position: of the first row whose section may be another one
     * @n_items: number of such rows
     *
     * Sections are others than before: query_list_model_get_section().
     */
    (void) g_signal_new("sections-changed", QUERY_TYPE_LIST_MODEL, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2,
                        G_TYPE_UINT, G_TYPE_UINT);
}

static void
query_list_model_init(QueryListModel *self)
{
    query_list_windows_init(&self->windows);
    self->held = g_hash_table_new(NULL, NULL);
}

/* GListModel -------------------------------------------------------------------------------------------------------------- */

static GType
get_item_type(GListModel *model)
{
    return QUERY_TYPE_ROW;
}

static guint
get_n_items(GListModel *model)
{
    return QUERY_LIST_MODEL(model)->n_items;
}

static gpointer
get_item(GListModel *model, guint position)
{
    QueryListModel *self = QUERY_LIST_MODEL(model);

    if (position >= self->n_items)
        return NULL;

    if (position != self->work.last_asked) {
        self->work.is_moving_up = position < self->work.last_asked;
        self->work.last_asked = position;
        self->work.wants_rows = TRUE;
        query_list_plan(self);
    }
    return query_list_hold(self, position);
}

static void
list_model_init(GListModelInterface *interface)
{
    interface->get_item_type = get_item_type;
    interface->get_n_items = get_n_items;
    interface->get_item = get_item;
}

/* Public functions -------------------------------------------------------------------------------------------------------- */

QueryListModel *
query_list_model_new(QueryConnection *connection)
{
    g_return_val_if_fail(connection == NULL || QUERY_IS_CONNECTION(connection), NULL);

    return g_object_new(QUERY_TYPE_LIST_MODEL, "connection", connection, NULL);
}

void
query_list_model_set_query(QueryListModel *self, QueryLanguage language, const char *text, GVariant *parameters)
{
    g_autoptr(GVariant) owned = parameters != NULL ? g_variant_ref_sink(parameters) : NULL;
    gboolean is_other;

    g_return_if_fail(QUERY_IS_LIST_MODEL(self));
    g_return_if_fail(owned == NULL || g_variant_is_of_type(owned, G_VARIANT_TYPE_VARDICT));

    is_other = g_strcmp0(self->query.statement, text) != 0 || self->query.language != language;
    if (is_other)
        g_clear_object(&self->subscription); /* it is of the other tables */
    clear_query(self);
    self->query.language = language;
    self->query.statement = g_strdup(text);
    self->query.parameters = g_steal_pointer(&owned);
    query_list_open(self);
}

void
query_list_model_set_order(QueryListModel *self, const char *const *columns, const char *key)
{
    g_return_if_fail(QUERY_IS_LIST_MODEL(self));

    clear_order(self);
    self->query.order = g_strdupv((char **) columns);
    self->query.key = g_strdup(key);
    if (self->query.statement != NULL)
        query_list_open(self);
}

void
query_list_model_refresh(QueryListModel *self)
{
    g_return_if_fail(QUERY_IS_LIST_MODEL(self));

    if (self->state == QUERY_LIST_READY)
        query_list_want_refresh(self);
    else if (self->state == QUERY_LIST_EMPTY && self->query.statement != NULL)
        query_list_open(self);
}

QueryConnection *
query_list_model_get_connection(QueryListModel *self)
{
    g_return_val_if_fail(QUERY_IS_LIST_MODEL(self), NULL);

    return self->connection;
}

gboolean
query_list_model_is_loading(QueryListModel *self)
{
    g_return_val_if_fail(QUERY_IS_LIST_MODEL(self), FALSE);

    return self->is_loading;
}

const GError *
query_list_model_get_error(QueryListModel *self)
{
    g_return_val_if_fail(QUERY_IS_LIST_MODEL(self), NULL);

    return self->error;
}

guint64
query_list_model_get_generation(QueryListModel *self)
{
    g_return_val_if_fail(QUERY_IS_LIST_MODEL(self), 0);

    return self->generation;
}

void
query_list_model_set_section_column(QueryListModel *self, const char *column)
{
    g_return_if_fail(QUERY_IS_LIST_MODEL(self));

    if (g_strcmp0(self->sections.column, column) == 0)
        return;
    g_free(self->sections.column);
    self->sections.column = g_strdup(column);
    query_list_sections_clear(self);
    g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_SECTION_COLUMN]);
}
