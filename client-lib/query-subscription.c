/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A subscription object of the daemon, its signal, and another one when the daemon was restarted.
 *
 * Place: public object. Signals come by the hub of the main context in which it was made. Making it waits for two calls:
 * Subscribe, and then the object's Generation, which holds the commits that were reported before the path was known here.
 * Invariant: between a commit that may have changed the result and the next result of that generation there is a "stale".
 */
#include "client-lib/query-subscription.h"

#include "client-lib/core/query-hub.h"
#include "client-lib/core/query-mutex.h"
#include "client-lib/query-connection-private.h"

/* The daemon could not take the subscription again: full, or the statement is none of its schema's now. */
#define RETRY_SECONDS 5
/* Of Subscribe, while the daemon ends. */
#define TRIES 3

struct _QuerySubscription {
    GObject parent_instance;
    QueryConnection *connection;
    QueryLanguage language;
    char *text;
    gboolean has_keys;
    QueryHub *hub;        /* the connection's; until dispose */
    QueryHubEntry *entry; /* (nullable) before it is made */
    pthread_mutex_t mutex;
    guint64 generation; /* of the result that the application holds; guarded by mutex */
    guint64 changed;    /* of the last reported change; guarded by mutex */
};

enum { PROP_CONNECTION = 1, PROP_LANGUAGE, PROP_STATEMENT, PROP_GENERATION, N_PROPS };

static GParamSpec *properties[N_PROPS];
static guint stale_signal;
static guint rows_signal;

G_DEFINE_TYPE(QuerySubscription, query_subscription, G_TYPE_OBJECT)

static void
close_path(GDBusConnection *bus, const char *name, const char *path)
{
    g_dbus_connection_call(bus, name, path, QUERY_BUS_SUBSCRIPTION_INTERFACE, "Close", NULL, NULL, G_DBUS_CALL_FLAGS_NO_AUTO_START,
                           -1, NULL, NULL, NULL);
}

static const char *
get_bus_name(QuerySubscription *self)
{
    return query_bus_get_name(query_connection_get_bus(self->connection));
}

static void
query_subscription_dispose(GObject *object)
{
    QuerySubscription *self = QUERY_SUBSCRIPTION(object);
    g_autofree char *path = self->entry != NULL ? query_hub_remove(self->hub, g_steal_pointer(&self->entry)) : NULL;

    if (path != NULL) {
        g_autoptr(GDBusConnection) bus = query_hub_get_bus(self->hub);

        close_path(bus, get_bus_name(self), path);
    }
    if (self->hub != NULL)
        query_connection_drop_hub(self->connection, g_steal_pointer(&self->hub));
    g_clear_object(&self->connection);
    G_OBJECT_CLASS(query_subscription_parent_class)->dispose(object);
}

static void
query_subscription_finalize(GObject *object)
{
    QuerySubscription *self = QUERY_SUBSCRIPTION(object);

    g_free(self->text);
    (void) pthread_mutex_destroy(&self->mutex);
    G_OBJECT_CLASS(query_subscription_parent_class)->finalize(object);
}

static void
query_subscription_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    QuerySubscription *self = QUERY_SUBSCRIPTION(object);

    if (id == PROP_CONNECTION)
        g_value_set_object(value, self->connection);
    else if (id == PROP_LANGUAGE)
        g_value_set_uint(value, self->language);
    else if (id == PROP_STATEMENT)
        g_value_set_string(value, self->text);
    else if (id == PROP_GENERATION)
        g_value_set_uint64(value, query_subscription_get_generation(self));
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void
query_subscription_set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    if (id == PROP_GENERATION)
        query_subscription_set_generation(QUERY_SUBSCRIPTION(object), g_value_get_uint64(value));
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void
make_signals(void)
{
    /**
     * QuerySubscription::stale:
     * @self: the subscription
     * @generation: of the last commit that is reported
     *
     * The result may have changed: run the query again. It has not changed before this generation was committed.
     */
    stale_signal = g_signal_new("stale", QUERY_TYPE_SUBSCRIPTION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                                G_TYPE_UINT64);
    /**
     * QuerySubscription::rows-changed:
     * @self: the subscription
     * @generation: that of the #QuerySubscription::stale which follows at once
     * @tables: a `a(sbasasa(sav))`: the changed tables that the query reads
     *
     * Emitted by subscriptions of query_connection_subscribe_with_keys(). An entry of @tables has the name of the table, and
     * whether any row may have changed. Then come the columns of its key, the columns of the result that have this key, and the
     * changed rows. A row is "insert", "update" or "delete", and the values of the key.
     *
     * The key is the primary key, or else the rowid. If any row may have changed, no row is named: there were too many, or the
     * daemon did not see them. A table "*" means all tables. The columns of the result are named if each row of it is one row of
     * that table; else there are none. A "stale" without this signal of the same generation says that anything may have changed.
     */
    rows_signal = g_signal_new("rows-changed", QUERY_TYPE_SUBSCRIPTION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2,
                               G_TYPE_UINT64, G_TYPE_VARIANT);
}

static void
query_subscription_class_init(QuerySubscriptionClass *klass)
{
    GObjectClass *object_class = G_OBJECT_CLASS(klass);
    const GParamFlags read_only = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

    object_class->dispose = query_subscription_dispose;
    object_class->finalize = query_subscription_finalize;
    object_class->get_property = query_subscription_get_property;
    object_class->set_property = query_subscription_set_property;

    /**
     * QuerySubscription:connection:
     *
     * Whose store it watches.
     */
    properties[PROP_CONNECTION] = g_param_spec_object("connection", NULL, NULL, QUERY_TYPE_CONNECTION, read_only);
    /**
     * QuerySubscription:language:
     *
     * The language of the statement, a #QueryLanguage.
     */
    properties[PROP_LANGUAGE] = g_param_spec_uint("language", NULL, NULL, 0, G_MAXUINT, 0, read_only);
    /**
     * QuerySubscription:statement:
     *
     * The text of the query.
     */
    properties[PROP_STATEMENT] = g_param_spec_string("statement", NULL, NULL, NULL, read_only);
    /**
     * QuerySubscription:generation:
     *
     * Changes up to it are not reported: query_subscription_set_generation().
     */
    properties[PROP_GENERATION] = g_param_spec_uint64("generation", NULL, NULL, 0, G_MAXUINT64, 0,
                                                      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY);
    g_object_class_install_properties(object_class, N_PROPS, properties);
    make_signals();
}

static void
query_subscription_init(QuerySubscription *self)
{
    (void) pthread_mutex_init(&self->mutex, NULL);
}

/* Signals -------------------------------------------------------------------------------------------------------------- */

static void
tell(GObject *object, guint64 generation)
{
    QuerySubscription *self = QUERY_SUBSCRIPTION(object);
    gboolean is_new;

    (void) pthread_mutex_lock(&self->mutex);
    self->changed = MAX(self->changed, generation);
    is_new = generation > self->generation;
    (void) pthread_mutex_unlock(&self->mutex);
    if (is_new)
        g_signal_emit(self, stale_signal, 0, generation);
}

static void
tell_rows(GObject *object, guint64 generation, GVariant *tables)
{
    QuerySubscription *self = QUERY_SUBSCRIPTION(object);
    gboolean is_new;

    (void) pthread_mutex_lock(&self->mutex);
    is_new = generation > self->generation;
    (void) pthread_mutex_unlock(&self->mutex);
    if (is_new)
        g_signal_emit(self, rows_signal, 0, generation, tables);
}

/* A new daemon ---------------------------------------------------------------------------------------------------------- */

static void renew(GObject *object);

static gboolean
on_retry(gpointer user_data)
{
    g_autoptr(GObject) object = g_weak_ref_get(user_data);

    if (object != NULL)
        renew(object);
    return G_SOURCE_REMOVE;
}

static void
weak_ref_free(gpointer data)
{
    g_weak_ref_clear(data);
    g_free(data);
}

static GWeakRef *
weak_ref_new(gpointer object)
{
    GWeakRef *ref = g_new0(GWeakRef, 1);

    g_weak_ref_init(ref, object);
    return ref;
}

/* The result may be an error now, which the application should see. */
static void
retry_later(QuerySubscription *self)
{
    g_autoptr(GSource) source = g_timeout_source_new_seconds(RETRY_SECONDS);
    g_autoptr(GMainContext) context = g_main_context_ref_thread_default();
    guint64 changed;

    g_source_set_callback(source, on_retry, weak_ref_new(self), weak_ref_free);
    g_source_attach(source, context);
    (void) pthread_mutex_lock(&self->mutex);
    changed = MAX(self->changed, self->generation) + 1;
    (void) pthread_mutex_unlock(&self->mutex);
    tell(G_OBJECT(self), changed);
}

static GVariant *
unpack_generation(GVariant *reply, guint64 *ret_generation)
{
    g_autoptr(GVariant) value = NULL;

    if (reply == NULL)
        return NULL;
    g_variant_get(reply, "(v)", &value);
    *ret_generation = g_variant_is_of_type(value, G_VARIANT_TYPE_UINT64) ? g_variant_get_uint64(value) : 0;
    return reply;
}

static void
on_generation(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GVariant) reply = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, NULL);
    g_autoptr(GObject) object = g_weak_ref_get(user_data);
    guint64 generation = 0;

    if (object != NULL && unpack_generation(reply, &generation) != NULL)
        tell(object, generation);
    weak_ref_free(user_data);
}

static GVariant *
make_get_generation(void)
{
    return g_variant_new("(ss)", QUERY_BUS_SUBSCRIPTION_INTERFACE, "Generation");
}

static GVariant *
make_subscribe(QuerySubscription *self)
{
    GVariantBuilder options;

    g_variant_builder_init(&options, G_VARIANT_TYPE_VARDICT);
    if (self->has_keys)
        g_variant_builder_add(&options, "{sv}", "keys", g_variant_new_boolean(TRUE));
    return g_variant_new("(ssa{sv})", query_language_get_name(self->language), self->text, &options);
}

typedef struct Renewal {
    GWeakRef subscription;
    char *name; /* of the daemon */
} Renewal;

static void
on_renewed(GObject *source, GAsyncResult *result, gpointer user_data)
{
    Renewal *renewal = user_data;
    g_autoptr(GError) error = NULL;
    g_autoptr(GVariant) reply = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, &error);
    g_autoptr(QuerySubscription) self = g_weak_ref_get(&renewal->subscription);
    const char *path = NULL;

    if (reply != NULL)
        g_variant_get(reply, "(&o)", &path);
    if (self == NULL && path != NULL) {
        close_path(G_DBUS_CONNECTION(source), renewal->name, path);
    } else if (self != NULL && path != NULL) {
        query_hub_set_path(self->hub, self->entry, path);
        g_dbus_connection_call(G_DBUS_CONNECTION(source), renewal->name, path, QUERY_BUS_PROPERTIES_INTERFACE, "Get",
                               make_get_generation(), G_VARIANT_TYPE("(v)"), G_DBUS_CALL_FLAGS_NO_AUTO_START, -1, NULL,
                               on_generation, weak_ref_new(self));
    } else if (self != NULL && !g_dbus_connection_is_closed(G_DBUS_CONNECTION(source))) {
        retry_later(self);
    }
    g_weak_ref_clear(&renewal->subscription);
    g_free(renewal->name);
    g_free(renewal);
}

static void
renew(GObject *object)
{
    QuerySubscription *self = QUERY_SUBSCRIPTION(object);
    g_autoptr(GDBusConnection) bus = query_hub_get_bus(self->hub);
    Renewal *renewal = g_new0(Renewal, 1);

    g_weak_ref_init(&renewal->subscription, self);
    renewal->name = g_strdup(get_bus_name(self));
    g_dbus_connection_call(bus, renewal->name, QUERY_BUS_OBJECT_PATH, QUERY_BUS_INTERFACE, "Subscribe", make_subscribe(self),
                           G_VARIANT_TYPE("(o)"), G_DBUS_CALL_FLAGS_NO_AUTO_START,
                           G_MAXINT /* a late answer makes a subscription, too */, NULL, on_renewed, renewal);
}

static const QueryHubFuncs hub_funcs = { .tell = tell, .tell_rows = tell_rows, .renew = renew };

/* Construction --------------------------------------------------------------------------------------------------------- */

/* In the thread of the caller: its main context is where signals come. */
static QuerySubscription *
subscription_new(QueryConnection *connection, QueryLanguage language, const char *text, gboolean has_keys,
                 GCancellable *cancellable, GError **error)
{
    QueryHub *hub = query_connection_check_text(text, error) ? query_connection_get_hub(connection, &hub_funcs, cancellable, error)
                                                             : NULL;
    QuerySubscription *self;

    if (hub == NULL)
        return NULL;

    self = g_object_new(QUERY_TYPE_SUBSCRIPTION, NULL);
    self->connection = g_object_ref(connection);
    self->hub = hub;
    self->language = language;
    self->text = g_strdup(text);
    self->has_keys = has_keys;
    return self;
}

static GVariant *
call(QuerySubscription *self, const char *path, const char *interface, const char *method, GVariant *arguments, const char *type,
     QueryBusEnd end, GCancellable *cancellable, GError **error)
{
    return query_bus_call(query_connection_get_bus(self->connection),
                          &(QueryBusCall){ .path = path,
                                           .interface = interface,
                                           .method = method,
                                           .arguments = arguments,
                                           .reply_type = type,
                                           .timeout_msec = QUERY_BUS_CALL_TIMEOUT_MSEC,
                                           .fd = -1,
                                           .end = end },
                          NULL, cancellable, error);
}

/* Waits; any thread. After a failure, what the daemon has is closed with @self. CLOSED: the daemon has ended meanwhile. */
static gboolean
subscribe_once(QuerySubscription *self, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant) made = call(self, NULL, QUERY_BUS_INTERFACE, "Subscribe", make_subscribe(self), "(o)", QUERY_BUS_END_OBJECT,
                                    cancellable, error);
    g_autoptr(GVariant) reply = NULL;
    const char *path;
    guint64 generation = 0;

    if (made == NULL)
        return FALSE;

    g_variant_get(made, "(&o)", &path);
    if (self->entry == NULL)
        self->entry = query_hub_add(self->hub, G_OBJECT(self), path);
    else
        query_hub_set_path(self->hub, self->entry, path);
    reply = call(self, path, QUERY_BUS_PROPERTIES_INTERFACE, "Get", make_get_generation(), "(v)", QUERY_BUS_END_FORGET, cancellable,
                 error);
    if (unpack_generation(reply, &generation) == NULL)
        return FALSE;

    (void) pthread_mutex_lock(&self->mutex);
    self->generation = generation;
    self->changed = MAX(self->changed, generation);
    (void) pthread_mutex_unlock(&self->mutex);
    return TRUE;
}

/* A daemon that ends between the two calls is started again by the next one. */
static gboolean
subscribe(QuerySubscription *self, GCancellable *cancellable, GError **error)
{
    GError *failure = NULL;

    for (guint i = 0; i < TRIES; i++) {
        g_clear_error(&failure);
        if (subscribe_once(self, cancellable, &failure))
            return TRUE;
        if (!g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_CLOSED))
            break;
    }
    if (g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_CLOSED)) {
        g_clear_error(&failure);
        g_set_error_literal(&failure, QUERY_ERROR, QUERY_ERROR_DISCONNECTED, "the daemon ended while it was asked to subscribe");
    }
    g_propagate_error(error, failure);
    return FALSE;
}

static QuerySubscription *
subscribe_now(QueryConnection *connection, QueryLanguage language, const char *text, gboolean has_keys, GCancellable *cancellable,
              GError **error)
{
    g_autoptr(QuerySubscription) self = subscription_new(connection, language, text, has_keys, cancellable, error);

    return self != NULL && subscribe(self, cancellable, error) ? g_steal_pointer(&self) : NULL;
}

QuerySubscription *
query_connection_subscribe(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                           GError **error)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), NULL);
    g_return_val_if_fail(text != NULL, NULL);

    return subscribe_now(self, language, text, FALSE, cancellable, error);
}

QuerySubscription *
query_connection_subscribe_with_keys(QueryConnection *self, const char *text, GCancellable *cancellable, GError **error)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), NULL);
    g_return_val_if_fail(text != NULL, NULL);

    return subscribe_now(self, QUERY_LANGUAGE_SQL, text, TRUE, cancellable, error);
}

static void
subscribe_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    GError *error = NULL;

    if (subscribe(task_data, cancellable, &error))
        g_task_return_pointer(task, g_object_ref(task_data), g_object_unref);
    else
        g_task_return_error(task, error);
}

/* @task: (transfer full) */
static void
begin_subscribe(GTask *task, QueryLanguage language, const char *text, gboolean has_keys)
{
    g_autoptr(GTask) owned = task;
    GError *error = NULL;
    QuerySubscription *subscription = subscription_new(g_task_get_source_object(task), language, text, has_keys,
                                                       g_task_get_cancellable(task), &error);

    if (subscription == NULL) {
        g_task_return_error(task, error);
        return;
    }
    g_task_set_task_data(task, subscription, g_object_unref);
    g_task_run_in_thread(task, subscribe_in_thread);
}

void
query_connection_subscribe_async(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                                 GAsyncReadyCallback callback, gpointer user_data)
{
    GTask *task;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(text != NULL);

    task = g_task_new(self, cancellable, callback, user_data);
    g_task_set_source_tag(task, query_connection_subscribe_async);
    begin_subscribe(task, language, text, FALSE);
}

QuerySubscription *
query_connection_subscribe_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}

void
query_connection_subscribe_with_keys_async(QueryConnection *self, const char *text, GCancellable *cancellable,
                                           GAsyncReadyCallback callback, gpointer user_data)
{
    GTask *task;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(text != NULL);

    task = g_task_new(self, cancellable, callback, user_data);
    g_task_set_source_tag(task, query_connection_subscribe_with_keys_async);
    begin_subscribe(task, QUERY_LANGUAGE_SQL, text, TRUE);
}

QuerySubscription *
query_connection_subscribe_with_keys_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}

guint64
query_subscription_get_generation(QuerySubscription *self)
{
    guint64 generation;

    g_return_val_if_fail(QUERY_IS_SUBSCRIPTION(self), 0);

    (void) pthread_mutex_lock(&self->mutex);
    generation = self->generation;
    (void) pthread_mutex_unlock(&self->mutex);
    return generation;
}

void
query_subscription_set_generation(QuerySubscription *self, guint64 generation)
{
    g_return_if_fail(QUERY_IS_SUBSCRIPTION(self));

    (void) pthread_mutex_lock(&self->mutex);
    self->generation = generation;
    (void) pthread_mutex_unlock(&self->mutex);
    g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_GENERATION]);
}

gboolean
query_subscription_is_stale(QuerySubscription *self)
{
    gboolean is_stale;

    g_return_val_if_fail(QUERY_IS_SUBSCRIPTION(self), FALSE);

    (void) pthread_mutex_lock(&self->mutex);
    is_stale = self->changed > self->generation;
    (void) pthread_mutex_unlock(&self->mutex);
    return is_stale;
}
