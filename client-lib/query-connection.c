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
#include "client-lib/core/query-store-name.h"
#include "client-lib/direct/query-direct.h"

struct _QueryConnection {
    GObject parent_instance;
    QueryBus *bus;
    QueryPool *pool;
    QueryDirect *direct; /* (nullable): then there is no bus */
    char *store;         /* (nullable): construct-only, as the next four */
    char *path;
    char *url;
    GVariant *remote_options;
    gboolean is_direct;
    pthread_mutex_t mutex;
    guint64 timeout_msec; /* 0: the daemon's default; QUERY_TIMEOUT_NONE: none */
    guint64 max_rows;     /* 0: the daemon's default */
    guint64 durability;   /* QueryDurability */
    guint64 is_fresh;     /* a gboolean */
    char *base;           /* (nullable) */
    char *dataset;        /* (nullable): FROM clauses */
    GPtrArray *hubs;      /* of QueryHub, one for each main context with subscriptions; guarded by mutex */
};

enum {
    PROP_STORE = 1,
    PROP_PATH,
    PROP_IS_DIRECT,
    PROP_URL,
    PROP_REMOTE_OPTIONS,
    PROP_TIMEOUT_MSEC,
    PROP_MAX_ROWS,
    PROP_TRANSPORT,
    PROP_DURABILITY,
    PROP_FRESH,
    N_PROPS
};

static GParamSpec *properties[N_PROPS];

static void initable_init(GInitableIface *interface);

/* GAsyncInitable's own functions run those of GInitable in a thread. */
G_DEFINE_TYPE_WITH_CODE(QueryConnection, query_connection, G_TYPE_OBJECT,
                        G_IMPLEMENT_INTERFACE(G_TYPE_INITABLE, initable_init) G_IMPLEMENT_INTERFACE(G_TYPE_ASYNC_INITABLE, NULL))

static void
query_connection_finalize(GObject *object)
{
    QueryConnection *self = QUERY_CONNECTION(object);

    g_ptr_array_unref(self->hubs);
    query_pool_free(self->pool);
    query_bus_free(self->bus);
    query_direct_unref(self->direct);
    g_free(self->store);
    g_free(self->path);
    g_free(self->url);
    g_clear_pointer(&self->remote_options, g_variant_unref);
    g_free(self->base);
    g_free(self->dataset);
    (void) pthread_mutex_destroy(&self->mutex);
    G_OBJECT_CLASS(query_connection_parent_class)->finalize(object);
}

static void
query_connection_constructed(GObject *object)
{
    QueryConnection *self = QUERY_CONNECTION(object);

    G_OBJECT_CLASS(query_connection_parent_class)->constructed(object);
    if (!self->is_direct && self->url == NULL && (self->store == NULL || query_store_name_is_valid(self->store)))
        self->bus = query_bus_new(self->store);
}

static void
query_connection_set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    QueryConnection *self = QUERY_CONNECTION(object);

    if (id == PROP_STORE)
        self->store = g_value_dup_string(value);
    else if (id == PROP_PATH)
        self->path = g_value_dup_string(value);
    else if (id == PROP_IS_DIRECT)
        self->is_direct = g_value_get_boolean(value);
    else if (id == PROP_URL)
        self->url = g_value_dup_string(value);
    else if (id == PROP_REMOTE_OPTIONS)
        self->remote_options = g_value_dup_variant(value);
    else if (id == PROP_TIMEOUT_MSEC)
        query_connection_set_timeout_msec(self, g_value_get_uint(value));
    else if (id == PROP_MAX_ROWS)
        query_connection_set_max_rows(self, g_value_get_uint64(value));
    else if (id == PROP_TRANSPORT)
        query_connection_set_transport(self, g_value_get_enum(value));
    else if (id == PROP_DURABILITY)
        query_connection_set_durability(self, g_value_get_enum(value));
    else if (id == PROP_FRESH)
        query_connection_set_fresh(self, g_value_get_boolean(value));
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void
query_connection_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    QueryConnection *self = QUERY_CONNECTION(object);

    if (id == PROP_STORE)
        g_value_set_string(value, self->store);
    else if (id == PROP_PATH)
        g_value_set_string(value, self->path);
    else if (id == PROP_IS_DIRECT)
        g_value_set_boolean(value, self->is_direct);
    else if (id == PROP_URL)
        g_value_set_string(value, self->url);
    else if (id == PROP_TIMEOUT_MSEC)
        g_value_set_uint(value, query_connection_get_timeout_msec(self));
    else if (id == PROP_MAX_ROWS)
        g_value_set_uint64(value, query_connection_get_max_rows(self));
    else if (id == PROP_TRANSPORT)
        g_value_set_enum(value, (gint) query_connection_get_transport(self));
    else if (id == PROP_DURABILITY)
        g_value_set_enum(value, (gint) query_connection_get_durability(self));
    else if (id == PROP_FRESH)
        g_value_set_boolean(value, query_connection_get_fresh(self));
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

/* What a connection is made with. */
static void
make_construct_properties(void)
{
    const GParamFlags once = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;

    /**
     * QueryConnection:store:
     *
     * The name of the store, %NULL for the default one.
     */
    properties[PROP_STORE] = g_param_spec_string("store", NULL, NULL, NULL, once);
    /**
     * QueryConnection:path:
     *
     * Of a direct connection: the database file, %NULL for that of the default store.
     */
    properties[PROP_PATH] = g_param_spec_string("path", NULL, NULL, NULL, once);
    /**
     * QueryConnection:is-direct:
     *
     * Whether the connection reads the database file itself, see query_connection_new_direct().
     */
    properties[PROP_IS_DIRECT] = g_param_spec_boolean("is-direct", NULL, NULL, FALSE, once);
    /**
     * QueryConnection:url:
     *
     * Of a remote connection: the URL of its endpoint, else %NULL; see query_connection_new_remote().
     */
    properties[PROP_URL] = g_param_spec_string("url", NULL, NULL, NULL, once);
    /**
     * QueryConnection:remote-options:
     *
     * Of a remote connection: the options of query_connection_new_remote(). They can hold secrets and are not readable.
     */
    properties[PROP_REMOTE_OPTIONS] = g_param_spec_variant("remote-options", NULL, NULL, G_VARIANT_TYPE_VARDICT, NULL,
                                                           G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);
}

static void
make_options(void)
{
    const GParamFlags settable = G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;

    /**
     * QueryConnection:timeout-msec: (getter get_timeout_msec) (setter set_timeout_msec)
     *
     * Deadline of the statements that follow, in milliseconds: see query_connection_set_timeout_msec(). 0 is the daemon's default,
     * %QUERY_TIMEOUT_NONE is none.
     */
    properties[PROP_TIMEOUT_MSEC] = g_param_spec_uint("timeout-msec", NULL, NULL, 0, G_MAXUINT, 0, settable);
    /**
     * QueryConnection:max-rows: (getter get_max_rows) (setter set_max_rows)
     *
     * Rows after which results of the queries that follow end. 0 is the daemon's default, which is no limit.
     */
    properties[PROP_MAX_ROWS] = g_param_spec_uint64("max-rows", NULL, NULL, 0, G_MAXUINT64, 0, settable);
    /**
     * QueryConnection:transport: (getter get_transport) (setter set_transport)
     *
     * How results come from the daemon.
     */
    properties[PROP_TRANSPORT] = g_param_spec_enum("transport", NULL, NULL, QUERY_TYPE_TRANSPORT, QUERY_TRANSPORT_AUTO, settable);
    /**
     * QueryConnection:durability: (getter get_durability) (setter set_durability)
     *
     * What the updates that follow survive.
     */
    properties[PROP_DURABILITY] = g_param_spec_enum("durability", NULL, NULL, QUERY_TYPE_DURABILITY, QUERY_DURABILITY_FULL,
                                                    settable);
    /**
     * QueryConnection:fresh: (getter get_fresh) (setter set_fresh)
     *
     * Whether the queries that follow are executed, also where the daemon remembers their results.
     */
    properties[PROP_FRESH] = g_param_spec_boolean("fresh", NULL, NULL, FALSE, settable);
}

static void
query_connection_class_init(QueryConnectionClass *klass)
{
    GObjectClass *object_class = G_OBJECT_CLASS(klass);

    object_class->constructed = query_connection_constructed;
    object_class->finalize = query_connection_finalize;
    object_class->set_property = query_connection_set_property;
    object_class->get_property = query_connection_get_property;
    make_construct_properties();
    make_options();
    g_object_class_install_properties(object_class, N_PROPS, properties);
}

static void
query_connection_init(QueryConnection *self)
{
    (void) pthread_mutex_init(&self->mutex, NULL);
    self->pool = query_pool_new();
    self->hubs = g_ptr_array_new_with_free_func((GDestroyNotify) query_hub_free);
}

QueryConnection *
query_connection_new_offline(const char *store)
{
    return g_object_new(QUERY_TYPE_CONNECTION, "store", store, NULL);
}

gboolean
query_connection_check_made(QueryConnection *self, const char *maker, GError **error)
{
    if (self != NULL)
        return TRUE;

    g_set_error(error, QUERY_ERROR, QUERY_ERROR_CLOSED, "this object belongs to no connection: %s() makes one that does", maker);
    return FALSE;
}

QueryEndpoint
query_connection_get_endpoint(QueryConnection *self)
{
    return (QueryEndpoint){ .owner = &self->parent_instance, .bus = self->bus, .pool = self->pool, .direct = self->direct };
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
    query_hub_use(hub);
    (void) pthread_mutex_unlock(&self->mutex);
    return hub;
}

void
query_connection_drop_hub(QueryConnection *self, QueryHub *hub)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);

    if (query_hub_release(hub))
        (void) g_ptr_array_remove_fast(self->hubs, hub);
}

/* Construction --------------------------------------------------------------------------------------------------------- */

static gboolean
check_version(QueryConnection *self, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant) version = query_connection_get_daemon_property(self, "ProtocolVersion", cancellable, error);
    g_autofree char *text = NULL;

    if (version == NULL)
        return FALSE;
    if (g_variant_is_of_type(version, G_VARIANT_TYPE_UINT32) && g_variant_get_uint32(version) == QW_PROTOCOL_VERSION)
        return TRUE;

    text = g_variant_print(version, FALSE);
    g_set_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "'%s' speaks protocol version %s, this library speaks %u",
                query_bus_get_name(self->bus), text, QW_PROTOCOL_VERSION);
    return FALSE;
}

static gboolean
open_direct(QueryConnection *self, GCancellable *cancellable, GError **error)
{
    if (self->direct == NULL && !g_cancellable_set_error_if_cancelled(cancellable, error))
        self->direct = self->url != NULL ? query_direct_open_remote(self->url, self->remote_options, error)
                                         : query_direct_open(self->path, error);
    if (self->direct != NULL)
        g_clear_pointer(&self->remote_options, g_variant_unref); /* the module has what it needs of them */
    return self->direct != NULL;
}

static gboolean
init_sync(GInitable *initable, GCancellable *cancellable, GError **error)
{
    QueryConnection *self = QUERY_CONNECTION(initable);

    if (self->is_direct || self->url != NULL)
        return open_direct(self, cancellable, error);
    if (self->bus != NULL)
        return check_version(self, cancellable, error);

    g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER,
                "'%s' cannot name a store: letters, digits and '_' only, no digit first", self->store);
    return FALSE;
}

static void
initable_init(GInitableIface *interface)
{
    interface->init = init_sync;
}

QueryConnection *
query_connection_new_for_store(const char *store, GCancellable *cancellable, GError **error)
{
    return g_initable_new(QUERY_TYPE_CONNECTION, cancellable, error, "store", store, NULL);
}

QueryConnection *
query_connection_new(GCancellable *cancellable, GError **error)
{
    return query_connection_new_for_store(NULL, cancellable, error);
}

QueryConnection *
query_connection_new_direct(const char *path, GCancellable *cancellable, GError **error)
{
    return g_initable_new(QUERY_TYPE_CONNECTION, cancellable, error, "is-direct", TRUE, "path", path, NULL);
}

QueryConnection *
query_connection_new_remote(const char *url, GVariant *options, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant) owned = options != NULL ? g_variant_ref_sink(options) : NULL;

    g_return_val_if_fail(url != NULL, NULL);
    g_return_val_if_fail(owned == NULL || g_variant_is_of_type(owned, G_VARIANT_TYPE_VARDICT), NULL);

    return g_initable_new(QUERY_TYPE_CONNECTION, cancellable, error, "url", url, "remote-options", owned, NULL);
}

/* Options -------------------------------------------------------------------------------------------------------------- */

/* @place: one of @self. */
static void
set_number(QueryConnection *self, guint64 *place, guint64 value, guint property)
{
    gboolean is_other;

    (void) pthread_mutex_lock(&self->mutex);
    is_other = *place != value;
    *place = value;
    (void) pthread_mutex_unlock(&self->mutex);
    if (is_other)
        g_object_notify_by_pspec(G_OBJECT(self), properties[property]);
}

static guint64
get_number(QueryConnection *self, const guint64 *place)
{
    guint64 value;

    (void) pthread_mutex_lock(&self->mutex);
    value = *place;
    (void) pthread_mutex_unlock(&self->mutex);
    return value;
}

void
query_connection_set_timeout_msec(QueryConnection *self, guint timeout_msec)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    set_number(self, &self->timeout_msec, timeout_msec, PROP_TIMEOUT_MSEC);
}

guint
query_connection_get_timeout_msec(QueryConnection *self)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), 0);

    return (guint) get_number(self, &self->timeout_msec);
}

void
query_connection_set_max_rows(QueryConnection *self, guint64 max_rows)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    set_number(self, &self->max_rows, max_rows, PROP_MAX_ROWS);
}

guint64
query_connection_get_max_rows(QueryConnection *self)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), 0);

    return get_number(self, &self->max_rows);
}

void
query_connection_set_durability(QueryConnection *self, QueryDurability durability)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    set_number(self, &self->durability, durability, PROP_DURABILITY);
}

QueryDurability
query_connection_get_durability(QueryConnection *self)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), QUERY_DURABILITY_FULL);

    return (QueryDurability) get_number(self, &self->durability);
}

void
query_connection_set_fresh(QueryConnection *self, gboolean fresh)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    set_number(self, &self->is_fresh, fresh ? 1 : 0, PROP_FRESH);
}

gboolean
query_connection_get_fresh(QueryConnection *self)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);

    return get_number(self, &self->is_fresh) != 0;
}

void
query_connection_set_base(QueryConnection *self, const char *base)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    (void) pthread_mutex_lock(&self->mutex);
    g_free(self->base);
    self->base = g_strdup(base);
    (void) pthread_mutex_unlock(&self->mutex);
}

gboolean
query_connection_set_dataset(QueryConnection *self, const char *const *default_graphs, const char *const *named_graphs,
                             GError **error)
{
    g_autofree char *dataset = NULL;

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), FALSE);

    dataset = query_command_make_dataset(default_graphs, named_graphs, error);
    if (dataset == NULL)
        return FALSE;

    (void) pthread_mutex_lock(&self->mutex);
    g_free(self->dataset);
    self->dataset = dataset[0] != '\0' ? g_steal_pointer(&dataset) : NULL;
    (void) pthread_mutex_unlock(&self->mutex);
    return TRUE;
}

void
query_connection_set_transport(QueryConnection *self, QueryTransport transport)
{
    g_return_if_fail(QUERY_IS_CONNECTION(self));

    if (query_pool_get_transport(self->pool) == transport)
        return;
    query_pool_set_transport(self->pool, transport);
    g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_TRANSPORT]);
}

QueryTransport
query_connection_get_transport(QueryConnection *self)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), QUERY_TRANSPORT_AUTO);

    return query_pool_get_transport(self->pool);
}

QueryCommand *
query_connection_create_command(QueryConnection *self, QueryLanguage language, const char *text, gboolean writes, GError **error)
{
    g_autofree char *base = NULL;
    g_autofree char *dataset = NULL;
    QueryCommandAccess access = QUERY_COMMAND_READS;
    gint64 timeout_msec;
    guint64 max_rows;

    if (!query_connection_check_text(text, error))
        return NULL;
    if (self->bus == NULL && self->direct == NULL) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_CLOSED, "the connection was not opened: g_initable_init() opens it");
        return NULL;
    }

    (void) pthread_mutex_lock(&self->mutex);
    timeout_msec = query_command_get_timeout((guint) self->timeout_msec);
    max_rows = self->max_rows;
    base = g_strdup(self->base);
    dataset = g_strdup(self->dataset);
    if (self->is_fresh != 0)
        access = QUERY_COMMAND_READS_FRESH;
    if (writes)
        access = self->durability == QUERY_DURABILITY_RELAXED ? QUERY_COMMAND_WRITES_RELAXED : QUERY_COMMAND_WRITES;
    (void) pthread_mutex_unlock(&self->mutex);
    return query_command_new(query_language_get_name(language), text, access, timeout_msec, writes ? 0 : max_rows, base, dataset);
}
