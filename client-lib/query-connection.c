/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryConnection: the way to one store, and the options of what is run there.
 *
 * Place: public object. It owns the bus side and the pool; everything that runs is a QueryRequest.
 * Invariant: shared by threads: `bus` and `pool` are thread-safe themselves, the options are guarded by `mutex`.
 */
#include "client-lib/query-connection-private.h"

#include "client-lib/core/query-error.h"
#include "client-lib/core/query-mutex.h"
#include "client-lib/direct/query-direct.h"

struct _QueryConnection {
    GObject parent_instance;
    QueryBus *bus;
    QueryPool *pool;
    QueryDirect *direct; /* (nullable): then there is no bus */
    pthread_mutex_t mutex;
    gint64 timeout_msec; /* -1: the daemon's default; 0: none */
    guint64 max_rows;    /* 0: the daemon's default */
    QueryDurability durability;
    GPtrArray *hubs; /* of QueryHub, one for each main context; guarded by mutex */
};

G_DEFINE_TYPE(QueryConnection, query_connection, G_TYPE_OBJECT)

static void
query_connection_finalize(GObject *object)
{
    QueryConnection *self = QUERY_CONNECTION(object);

    g_ptr_array_unref(self->hubs);
    query_pool_free(self->pool);
    query_bus_free(self->bus);
    query_direct_unref(self->direct);
    (void) pthread_mutex_destroy(&self->mutex);
    G_OBJECT_CLASS(query_connection_parent_class)->finalize(object);
}

static void
query_connection_class_init(QueryConnectionClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = query_connection_finalize;
}

static void
query_connection_init(QueryConnection *self)
{
    (void) pthread_mutex_init(&self->mutex, NULL);
    self->timeout_msec = -1;
    self->pool = query_pool_new();
    self->hubs = g_ptr_array_new_with_free_func((GDestroyNotify) query_hub_free);
}

QueryConnection *
query_connection_new_offline(const char *store)
{
    QueryConnection *self = g_object_new(QUERY_TYPE_CONNECTION, NULL);

    self->bus = query_bus_new(store);
    return self;
}

QueryEndpoint
query_connection_get_endpoint(QueryConnection *self)
{
    return (QueryEndpoint){ .owner = G_OBJECT(self), .bus = self->bus, .pool = self->pool, .direct = self->direct };
}

QueryBus *
query_connection_get_bus(QueryConnection *self)
{
    return self->bus;
}

QueryPool *
query_connection_get_pool(QueryConnection *self)
{
    return self->pool;
}

QueryDirect *
query_connection_get_direct(QueryConnection *self)
{
    return self->direct;
}

GVariant *
query_connection_get_daemon_property(QueryConnection *self, const char *name, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant) reply = NULL;
    GVariant *value;

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), NULL);
    g_return_val_if_fail(name != NULL, NULL);

    reply = query_bus_call(query_connection_get_bus(self),
                           &(QueryBusCall){ .interface = QUERY_BUS_PROPERTIES_INTERFACE,
                                            .method = "Get",
                                            .arguments = g_variant_new("(ss)", QUERY_BUS_INTERFACE, name),
                                            .reply_type = "(v)",
                                            .timeout_msec = QUERY_BUS_CALL_TIMEOUT_MSEC,
                                            .fd = -1 },
                           NULL, cancellable, error);
    if (reply == NULL)
        return NULL;

    g_variant_get(reply, "(v)", &value);
    return value;
}

/* Subscriptions -------------------------------------------------------------------------------------------------------- */

static QueryHub *
find_hub(QueryConnection *self, GDBusConnection *bus)
{
    for (guint i = 0; i < self->hubs->len; i++)
        if (query_hub_is_here(self->hubs->pdata[i], bus))
            return self->hubs->pdata[i];
    return NULL;
}

QueryHub *
query_connection_get_hub(QueryConnection *self, const QueryHubFuncs *funcs, GCancellable *cancellable, GError **error)
{
    g_autoptr(GDBusConnection) dbus = query_bus_get_connection(self->bus, cancellable, error);
    QueryHub *hub;

    if (dbus == NULL)
        return NULL;

    (void) pthread_mutex_lock(&self->mutex);
    hub = find_hub(self, dbus);
    if (hub == NULL) {
        hub = query_hub_new(G_OBJECT(self), self->bus, dbus, funcs);
        g_ptr_array_add(self->hubs, hub);
    }
    (void) pthread_mutex_unlock(&self->mutex);
    return hub;
}

/* Construction --------------------------------------------------------------------------------------------------------- */

static gboolean
check_store_name(const char *store, GError **error)
{
    gboolean is_good = store == NULL || (store[0] != '\0' && !g_ascii_isdigit(store[0]));

    for (const char *p = store; is_good && p != NULL && *p != '\0'; p++)
        is_good = g_ascii_isalnum(*p) || *p == '_';
    if (!is_good)
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER,
                    "'%s' cannot name a store: letters, digits and '_' only, no digit first", store);

    return is_good;
}

QueryConnection *
query_connection_new_for_store(const char *store, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryConnection) self = NULL;
    g_autoptr(GVariant) version = NULL;

    if (!check_store_name(store, error))
        return NULL;

    self = query_connection_new_offline(store);
    version = query_connection_get_daemon_property(self, "ProtocolVersion", cancellable, error);
    if (version == NULL)
        return NULL;
    if (!g_variant_is_of_type(version, G_VARIANT_TYPE_UINT32) || g_variant_get_uint32(version) != QW_PROTOCOL_VERSION) {
        g_autofree char *text = g_variant_print(version, FALSE);

        g_set_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "'%s' speaks protocol version %s, this library speaks %u",
                    query_bus_get_name(self->bus), text, QW_PROTOCOL_VERSION);
        return NULL;
    }

    return g_steal_pointer(&self);
}

QueryConnection *
query_connection_new(GCancellable *cancellable, GError **error)
{
    return query_connection_new_for_store(NULL, cancellable, error);
}

static void
new_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    GError *error = NULL;
    QueryConnection *self = query_connection_new_for_store(task_data, cancellable, &error);

    if (self != NULL)
        g_task_return_pointer(task, self, g_object_unref);
    else
        g_task_return_error(task, error);
}

void
query_connection_new_for_store_async(const char *store, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = g_task_new(NULL, cancellable, callback, user_data);

    g_task_set_source_tag(task, query_connection_new_for_store_async);
    g_task_set_task_data(task, g_strdup(store), g_free);
    g_task_run_in_thread(task, new_in_thread);
}

QueryConnection *
query_connection_new_for_store_finish(GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, NULL), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}

void
query_connection_new_async(GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    query_connection_new_for_store_async(NULL, cancellable, callback, user_data);
}

QueryConnection *
query_connection_new_finish(GAsyncResult *result, GError **error)
{
    return query_connection_new_for_store_finish(result, error);
}

/* Direct --------------------------------------------------------------------------------------------------------------- */

QueryConnection *
query_connection_new_direct(const char *path, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryConnection) self = NULL;

    if (g_cancellable_set_error_if_cancelled(cancellable, error))
        return NULL;

    self = g_object_new(QUERY_TYPE_CONNECTION, NULL);
    self->direct = query_direct_open(path, error);
    return self->direct != NULL ? g_steal_pointer(&self) : NULL;
}

static void
new_direct_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    GError *error = NULL;
    QueryConnection *self = query_connection_new_direct(task_data, cancellable, &error);

    if (self != NULL)
        g_task_return_pointer(task, self, g_object_unref);
    else
        g_task_return_error(task, error);
}

void
query_connection_new_direct_async(const char *path, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = g_task_new(NULL, cancellable, callback, user_data);

    g_task_set_source_tag(task, query_connection_new_direct_async);
    g_task_set_task_data(task, g_strdup(path), g_free);
    g_task_run_in_thread(task, new_direct_in_thread);
}

QueryConnection *
query_connection_new_direct_finish(GAsyncResult *result, GError **error)
{
    return query_connection_new_for_store_finish(result, error);
}

/* Options -------------------------------------------------------------------------------------------------------------- */

void
query_connection_set_timeout_msec(QueryConnection *self, guint timeout_msec)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    (void) pthread_mutex_lock(&self->mutex);
    if (timeout_msec == 0)
        self->timeout_msec = -1;
    else
        self->timeout_msec = timeout_msec == QUERY_TIMEOUT_NONE ? 0 : (gint64) timeout_msec;
    (void) pthread_mutex_unlock(&self->mutex);
}

void
query_connection_set_max_rows(QueryConnection *self, guint64 max_rows)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    (void) pthread_mutex_lock(&self->mutex);
    self->max_rows = max_rows;
    (void) pthread_mutex_unlock(&self->mutex);
}

void
query_connection_set_durability(QueryConnection *self, QueryDurability durability)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    (void) pthread_mutex_lock(&self->mutex);
    self->durability = durability;
    (void) pthread_mutex_unlock(&self->mutex);
}

QueryDurability
query_connection_get_durability(QueryConnection *self)
{
    QueryDurability durability;

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), QUERY_DURABILITY_FULL);

    (void) pthread_mutex_lock(&self->mutex);
    durability = self->durability;
    (void) pthread_mutex_unlock(&self->mutex);
    return durability;
}

void
query_connection_set_transport(QueryConnection *self, QueryTransport transport)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    query_pool_set_transport(self->pool, transport);
}

QueryTransport
query_connection_get_transport(QueryConnection *self)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), QUERY_TRANSPORT_AUTO);

    return query_pool_get_transport(self->pool);
}

const char *
query_language_get_name(QueryLanguage language)
{
    return language == QUERY_LANGUAGE_SPARQL ? "sparql" : "sql";
}

gboolean
query_connection_check_text(const char *text, GError **error)
{
    if (g_utf8_validate(text, -1, NULL))
        return TRUE;

    g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_SYNTAX, "the text of the statement is not valid UTF-8");
    return FALSE;
}

QueryCommand *
query_connection_create_command(QueryConnection *self, QueryLanguage language, const char *text, gboolean writes, GError **error)
{
    QueryCommandAccess access = QUERY_COMMAND_READS;
    gint64 timeout_msec;
    guint64 max_rows;

    if (!query_connection_check_text(text, error))
        return NULL;

    (void) pthread_mutex_lock(&self->mutex);
    timeout_msec = self->timeout_msec;
    max_rows = self->max_rows;
    if (writes)
        access = self->durability == QUERY_DURABILITY_RELAXED ? QUERY_COMMAND_WRITES_RELAXED : QUERY_COMMAND_WRITES;
    (void) pthread_mutex_unlock(&self->mutex);
    return query_command_new(query_language_get_name(language), text, access, timeout_msec, writes ? 0 : max_rows);
}
