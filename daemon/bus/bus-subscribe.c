/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Subscription objects, found through a fallback vtable like jobs.
 *
 * What a query reads follows from the schema (a view may be redefined), in SPARQL from the stored prefixes. When these change
 * the query is looked at again by a worker, one at a time; until that is done any change touches it. A client that may not see
 * everything hears of none until then, and of one in any case after it.
 */
#include "daemon/bus/bus-subscribe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/access.h"
#include "daemon/base/error.h"
#include "daemon/bus/bus-error.h"
#include "daemon/bus/bus-peer.h"
#include "daemon/bus/bus-private.h"
#include "daemon/bus/bus-rows.h"
#include "daemon/call/call-classes.h"
#include "daemon/notify/subscription-index.h"

#define SUBSCRIPTION_PREFIX QD_BUS_PATH "/subscription"

/* A bus name with subscriptions. */
typedef struct Owner {
    char *name;         /* "" on a connection without a bus */
    GPtrArray *touched; /* of Subscription: to be reported */
    guint n_subscriptions;
} Owner;

typedef struct Subscription {
    QdBusSubscriptions *all;
    char *path;
    Owner *owner;
    QdClient *client; /* (owned reference) is charged */
    QdLanguage language;
    char *text;
    char *base; /* (nullable) */
    QdWatch *watch;
    gboolean wants_keys;
    QdKeySource *source; /* (owned) (nullable) by the schema as it is */
    uint64_t generation;
    gboolean touched;
    gboolean outdated;   /* to be looked at again */
    gboolean is_silent;  /* of a client that may not see everything, while it is not known what the query reads */
    gboolean has_failed; /* since then, for another reason than a grant */
    guint n_revocations; /* of its client's grants, when it was made or looked at */
} Subscription;

struct QdBusSubscriptions {
    QdBusService *service;
    GHashTable *subscriptions; /* path → Subscription, owned */
    GHashTable *owners;        /* name → Owner, owned */
    QdSubscriptionIndex *index;
    guint n_wanting; /* subscriptions that asked for keys */
    gboolean is_ending;
    GQueue outdated;            /* of Subscription */
    QdCall *look;               /* (nullable) under way */
    Subscription *looked_at;    /* (nullable) by @look; NULL also when it has been closed */
    uint64_t schema_generation; /* of the last reported commit that changed schema or prefixes */
    guint64 last_id;
    sd_bus_slot *vtable_slot;
    sd_bus_slot *enumerator_slot;
};

static void
owner_free(gpointer data)
{
    Owner *self = data;

    g_ptr_array_unref(self->touched);
    g_free(self->name);
    g_free(self);
}

static Owner *
get_owner(QdBusSubscriptions *self, const char *name)
{
    Owner *owner = g_hash_table_lookup(self->owners, name);

    if (owner == NULL) {
        owner = g_new0(Owner, 1);
        owner->name = g_strdup(name);
        owner->touched = g_ptr_array_new();
        g_hash_table_insert(self->owners, owner->name, owner);
    }
    return owner;
}

/* Rows are looked at while a subscription asks for keys. The engine ends before the subscriptions. */
static void
count_wanting(QdBusSubscriptions *self, int change)
{
    self->n_wanting += (guint) change;
    if (!self->is_ending)
        qd_engine_set_wants_keys(self->service->engine, self->n_wanting > 0);
}

static void
subscription_free(gpointer data)
{
    Subscription *self = data;
    QdBusSubscriptions *all = self->all;

    if (self->wants_keys)
        count_wanting(all, -1);
    (void) qd_key_source_free(self->source);
    qd_subscription_index_remove(all->index, self->watch);
    if (self->touched)
        (void) g_ptr_array_remove_fast(self->owner->touched, self);
    if (self->outdated)
        (void) g_queue_remove(&all->outdated, self);
    if (all->looked_at == self)
        all->looked_at = NULL;
    self->owner->n_subscriptions--;
    if (self->owner->n_subscriptions == 0)
        (void) g_hash_table_remove(all->owners, self->owner->name);
    qd_client_give_subscription(self->client, strlen(self->text));
    qd_client_unref(self->client);
    g_free(self->path);
    g_free(self->text);
    g_free(self->base);
    g_free(self);
}

/* Looking again ---------------------------------------------------------------------------------------------------------- */

static void look_at_next(QdBusSubscriptions *self);

static void
queue_outdated(Subscription *subscription)
{
    if (subscription->outdated)
        return;

    subscription->outdated = TRUE;
    g_queue_push_tail(&subscription->all->outdated, subscription);
}

static void
take_reads(Subscription *subscription, QdCall *call)
{
    qd_subscription_index_set_reads(subscription->all->index, subscription->watch, g_steal_pointer(&call->result.reads));
    (void) qd_key_source_free(subscription->source);
    subscription->source = g_steal_pointer(&call->result.source);
}

static void
send_stale(Subscription *subscription)
{
    QdBusSubscriptions *all = subscription->all;
    const char *owner = subscription->owner->name;
    sd_bus_message *signal = NULL;
    int r;

    subscription->generation = qd_engine_get_generation(all->service->engine);
    r = sd_bus_message_new_signal(all->service->bus, &signal, QD_BUS_PATH, QD_BUS_INTERFACE, "Stale");
    if (r >= 0 && owner[0] != '\0')
        r = sd_bus_message_set_destination(signal, owner);
    if (r >= 0)
        r = sd_bus_message_append(signal, "tao", subscription->generation, 1, subscription->path);
    /* Fails when the connection is gone, and the owner with it. */
    if (r >= 0)
        (void) sd_bus_send(all->service->bus, signal, NULL);
    sd_bus_message_unref(signal);
}

static void
end_silence(Subscription *subscription)
{
    if (!subscription->is_silent)
        return;
    send_stale(subscription);
    subscription->is_silent = subscription->has_failed = FALSE;
    qd_subscription_index_rearm(subscription->all->index); /* a commit of the silence may have touched it */
}

/* Its client learns why when it asks again. Another failure is reported once.
 */
static void
fail_look(Subscription *subscription, gboolean is_denied)
{
    QdBusSubscriptions *all = subscription->all;

    if (!subscription->is_silent)
        return;
    if (is_denied || !subscription->has_failed)
        send_stale(subscription);
    subscription->has_failed = TRUE;
    if (is_denied)
        (void) g_hash_table_remove(all->subscriptions, subscription->path);
}

/* A query that does not compile any more stays touched by all, up to the next change of the schema. */
static void
on_looked(QdCall *call, void *user_data)
{
    QdBusSubscriptions *self = user_data;
    Subscription *subscription = g_steal_pointer(&self->looked_at);
    const QdAccess *access = qd_client_get_access(call->client);
    gboolean is_denied = access != NULL && !qd_access_has_any(access, QD_ACCESS_READ);

    if (call->result.error != NULL)
        is_denied = is_denied || qd_error_get_code(call->result.error) == QW_ERROR_ACCESS_DENIED;
    if (subscription != NULL && (is_denied || call->result.error != NULL)) {
        fail_look(subscription, is_denied);
    } else if (subscription != NULL && call->result.generation < self->schema_generation) {
        queue_outdated(subscription);
    } else if (subscription != NULL) {
        take_reads(subscription, call);
        end_silence(subscription);
    }
    self->look = qd_call_free(self->look);
    look_at_next(self);
}

static void
look_at_next(QdBusSubscriptions *self)
{
    Subscription *subscription = self->look == NULL ? g_queue_pop_head(&self->outdated) : NULL;

    if (subscription == NULL)
        return;

    subscription->outdated = FALSE;
    self->looked_at = subscription;
    self->look = qd_call_new(&qd_subscribe_call, subscription->client);
    self->look->options.base = g_strdup(subscription->base);
    self->look->options.keys = subscription->wants_keys;
    self->look->done = on_looked;
    self->look->user_data = self;
    qd_call_add_statement(self->look, subscription->language, subscription->text, NULL);
    qd_engine_submit(self->service->engine, self->look);
}

static void
make_outdated(Subscription *subscription)
{
    qd_subscription_index_set_reads(subscription->all->index, subscription->watch,
                                    qd_read_set_new_all(subscription->language == QD_LANGUAGE_SPARQL));
    subscription->source = qd_key_source_free(subscription->source);
    subscription->is_silent = subscription->is_silent || qd_client_get_access(subscription->client) != NULL;
    queue_outdated(subscription);
}

void
qd_bus_subscriptions_check_access(QdBusSubscriptions *self)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, self->subscriptions);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        Subscription *subscription = value;
        guint n = qd_client_get_n_revocations(subscription->client);

        if (n == subscription->n_revocations)
            continue;
        subscription->n_revocations = n;
        if (self->looked_at == subscription) /* by what was granted before */
            self->looked_at = NULL;
        make_outdated(subscription);
    }
    look_at_next(self);
}

/* Commits ---------------------------------------------------------------------------------------------------------------- */

typedef struct Commit {
    uint64_t generation;
    GPtrArray *outdated; /* of Subscription */
} Commit;

static void
on_touched(gpointer data, const QdChanges *changes, gpointer user_data)
{
    Subscription *subscription = data;
    Commit *commit = user_data;

    if (!subscription->is_silent) {
        subscription->generation = commit->generation;
        if (!subscription->touched)
            g_ptr_array_add(subscription->owner->touched, subscription);
        subscription->touched = TRUE;
    }
    if (subscription->language == QD_LANGUAGE_SPARQL ? changes->prefixes : changes->schema)
        g_ptr_array_add(commit->outdated, subscription);
}

void
qd_bus_subscriptions_touch(QdBusSubscriptions *self, uint64_t generation, const QdChanges *changes)
{
    g_autoptr(GPtrArray) outdated = NULL;
    Commit commit = { .generation = generation };

    if (changes->schema || changes->prefixes)
        self->schema_generation = MAX(self->schema_generation, generation);
    if (g_hash_table_size(self->subscriptions) == 0)
        return;

    outdated = commit.outdated = g_ptr_array_new();
    if (changes->schema || changes->prefixes)
        qd_subscription_index_rearm(self->index); /* a subscription that was touched already has to be looked at all the same */
    qd_subscription_index_touch(self->index, changes, on_touched, &commit);
    for (guint i = 0; i < outdated->len; i++)
        make_outdated(outdated->pdata[i]);
    look_at_next(self);
}

static int
append_paths(sd_bus_message *signal, const GPtrArray *subscriptions)
{
    int r;

    r = sd_bus_message_open_container(signal, 'a', "o");
    for (guint i = 0; r >= 0 && i < subscriptions->len; i++)
        r = sd_bus_message_append_basic(signal, 'o', ((const Subscription *) subscriptions->pdata[i])->path);
    if (r < 0)
        return r;

    return sd_bus_message_close_container(signal);
}

/* Before Stale, so that a client has the keys when it looks. */
static void
tell_rows(QdBusSubscriptions *self, const Owner *owner, uint64_t generation, const QdChanges *changes)
{
    sd_bus_message *signal = NULL;
    guint n = 0;
    int r;

    r = sd_bus_message_new_signal(self->service->bus, &signal, QD_BUS_PATH, QD_BUS_INTERFACE, "RowsChanged");
    if (r >= 0 && owner->name[0] != '\0')
        r = sd_bus_message_set_destination(signal, owner->name);
    if (r >= 0)
        r = sd_bus_message_append(signal, "t", generation);
    if (r >= 0)
        r = sd_bus_message_open_container(signal, 'a', "(oa(sbasasa(sav)))");
    for (guint i = 0; r >= 0 && i < owner->touched->len; i++) {
        const Subscription *subscription = owner->touched->pdata[i];

        if (!subscription->wants_keys)
            continue;
        r = sd_bus_message_open_container(signal, 'r', "oa(sbasasa(sav))");
        if (r >= 0)
            r = sd_bus_message_append_basic(signal, 'o', subscription->path);
        if (r >= 0)
            r = qd_bus_rows_append(signal, qd_watch_get_reads(subscription->watch), subscription->source, changes);
        if (r >= 0)
            r = sd_bus_message_close_container(signal);
        n++;
    }
    if (r >= 0)
        r = sd_bus_message_close_container(signal);
    if (r >= 0 && n > 0)
        (void) sd_bus_send(self->service->bus, signal, NULL);
    sd_bus_message_unref(signal);
}

static void
tell_owner(QdBusSubscriptions *self, Owner *owner, uint64_t generation, const QdChanges *changes)
{
    sd_bus_message *signal = NULL;
    int r;

    if (self->n_wanting > 0)
        tell_rows(self, owner, generation, changes);
    r = sd_bus_message_new_signal(self->service->bus, &signal, QD_BUS_PATH, QD_BUS_INTERFACE, "Stale");
    if (r >= 0 && owner->name[0] != '\0')
        r = sd_bus_message_set_destination(signal, owner->name);
    if (r >= 0)
        r = sd_bus_message_append(signal, "t", generation);
    if (r >= 0)
        r = append_paths(signal, owner->touched);
    /* Fails when the connection is gone, and the owner with it. */
    if (r >= 0)
        (void) sd_bus_send(self->service->bus, signal, NULL);
    sd_bus_message_unref(signal);

    for (guint i = 0; i < owner->touched->len; i++)
        ((Subscription *) owner->touched->pdata[i])->touched = FALSE;
    g_ptr_array_set_size(owner->touched, 0);
}

void
qd_bus_subscriptions_tell(QdBusSubscriptions *self, uint64_t generation, const QdChanges *changes)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, self->owners);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        if (((Owner *) value)->touched->len > 0)
            tell_owner(self, value, generation, changes);
    qd_subscription_index_rearm(self->index);
}

/* Life ------------------------------------------------------------------------------------------------------------------- */

static gboolean
check_room(const QdBusSubscriptions *self, GError **error)
{
    const QdLimits *limits = qd_engine_get_limits(self->service->engine);

    if (g_hash_table_size(self->subscriptions) < qd_limits_get(limits, QD_LIMIT_SUBSCRIPTIONS))
        return TRUE;
    qd_limit_set_error(error, limits, QD_LIMIT_SUBSCRIPTIONS, "too many subscriptions");
    return FALSE;
}

static gsize
count_text(const QdCall *call)
{
    return strlen(g_array_index(call->statements, QdCallStatement, 0).text);
}

gboolean
qd_bus_subscriptions_reserve(QdBusService *service, QdCall *call, GError **error)
{
    return check_room(service->subscriptions, error) &&
           qd_client_take_subscription(call->client, count_text(call), qd_engine_get_limits(service->engine), error);
}

void
qd_bus_subscriptions_release(QdCall *call)
{
    qd_client_give_subscription(call->client, count_text(call));
}

const char *
qd_bus_subscriptions_add(QdBusService *service, const char *sender, QdCall *call, GError **error)
{
    QdBusSubscriptions *self = service->subscriptions;
    const QdCallStatement *statement = &g_array_index(call->statements, QdCallStatement, 0);
    Subscription *subscription;

    if (!qd_peers_has(service->peers, sender)) {
        qd_error_set(error, QW_ERROR_CLOSED, "the caller has left the bus");
        return NULL;
    }
    if (!check_room(self, error))
        return NULL;

    qd_engine_tell_changes(service->engine); /* what was before is no news for this one */
    subscription = g_new0(Subscription, 1);
    subscription->all = self;
    subscription->path = g_strdup_printf(SUBSCRIPTION_PREFIX "/%" G_GUINT64_FORMAT, ++self->last_id);
    subscription->owner = get_owner(self, sender != NULL ? sender : "");
    subscription->owner->n_subscriptions++;
    subscription->client = qd_client_ref(call->client);
    subscription->n_revocations = qd_client_get_n_revocations(call->client);
    subscription->language = statement->language;
    subscription->text = g_strdup(statement->text);
    subscription->base = g_strdup(call->options.base);
    subscription->wants_keys = call->options.keys;
    subscription->source = g_steal_pointer(&call->result.source);
    if (subscription->wants_keys)
        count_wanting(self, 1);
    subscription->generation = qd_engine_get_generation(service->engine);
    subscription->watch = qd_subscription_index_add(self->index, g_steal_pointer(&call->result.reads), subscription);
    g_hash_table_insert(self->subscriptions, subscription->path, subscription);
    if (call->result.generation < self->schema_generation) {
        make_outdated(subscription);
        look_at_next(self);
    }
    return subscription->path;
}

static gboolean
belongs_to(gpointer path, gpointer value, gpointer user_data)
{
    return g_str_equal(((const Subscription *) value)->owner->name, user_data);
}

void
qd_bus_subscriptions_drop(QdBusSubscriptions *self, const char *owner)
{
    if (g_hash_table_contains(self->owners, owner))
        (void) g_hash_table_foreach_remove(self->subscriptions, belongs_to, (gpointer) owner);
}

guint
qd_bus_subscriptions_get_n(const QdBusSubscriptions *self)
{
    return g_hash_table_size(self->subscriptions);
}

QdBusSubscriptions *
qd_bus_subscriptions_free(QdBusSubscriptions *self)
{
    if (self == NULL)
        return NULL;

    g_assert(self->look == NULL);
    self->is_ending = TRUE;
    sd_bus_slot_unref(self->vtable_slot);
    sd_bus_slot_unref(self->enumerator_slot);
    g_hash_table_unref(self->subscriptions);
    g_hash_table_unref(self->owners);
    (void) qd_subscription_index_free(self->index);
    g_free(self);
    return NULL;
}

/* Objects ---------------------------------------------------------------------------------------------------------------- */

static int
handle_close(sd_bus_message *message, void *userdata, sd_bus_error *ret_error)
{
    Subscription *self = userdata;

    (void) g_hash_table_remove(self->all->subscriptions, self->path);
    return qd_bus_note_sent(message, sd_bus_reply_method_return(message, NULL));
}

static int
get_generation(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply, void *userdata,
               sd_bus_error *ret_error)
{
    return sd_bus_message_append(reply, "t", ((const Subscription *) userdata)->generation);
}

static gboolean
is_owner(const Subscription *self, sd_bus *bus)
{
    sd_bus_message *message = sd_bus_get_current_message(bus);
    const char *sender = message != NULL ? sd_bus_message_get_sender(message) : NULL;

    return g_str_equal(self->owner->name, sender != NULL ? sender : "");
}

static int
find_subscription(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found, sd_bus_error *ret_error)
{
    const QdBusSubscriptions *self = userdata;
    Subscription *subscription = g_hash_table_lookup(self->subscriptions, path);

    if (subscription == NULL || !is_owner(subscription, bus))
        return 0;

    *ret_found = subscription;
    return 1;
}

/* For introspection: a caller sees its own. sd-bus frees the strings with free(). */
static int
enumerate_subscriptions(sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes, sd_bus_error *ret_error)
{
    const QdBusSubscriptions *self = userdata;
    char **nodes = calloc(g_hash_table_size(self->subscriptions) + 1, sizeof *nodes);
    GHashTableIter iter;
    gpointer value;
    guint n = 0;

    if (nodes == NULL)
        return -ENOMEM;

    g_hash_table_iter_init(&iter, self->subscriptions);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        if (is_owner(value, bus))
            nodes[n++] = strdup(((const Subscription *) value)->path);

    *ret_nodes = nodes;
    return 0;
}

QdBusSubscriptions *
qd_bus_subscriptions_new(QdBusService *service, GError **error)
{
    QdBusSubscriptions *self = g_new0(QdBusSubscriptions, 1);
    int r;

    self->service = service;
    self->subscriptions = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, subscription_free);
    self->owners = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, owner_free);
    self->index = qd_subscription_index_new();
    r = sd_bus_add_fallback_vtable(service->bus, &self->vtable_slot, SUBSCRIPTION_PREFIX, QD_BUS_SUBSCRIPTION_INTERFACE,
                                   qd_bus_subscription_vtable, find_subscription, self);
    if (r >= 0)
        r = sd_bus_add_node_enumerator(service->bus, &self->enumerator_slot, SUBSCRIPTION_PREFIX, enumerate_subscriptions, self);
    if (r < 0) {
        qd_error_set_errno(error, -r, "cannot put subscriptions on the bus");
        return qd_bus_subscriptions_free(self);
    }

    return self;
}

const sd_bus_vtable qd_bus_subscription_vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD_WITH_ARGS("Close", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, handle_close, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_PROPERTY("Generation", "t", get_generation, 0, 0),
    SD_BUS_VTABLE_END,
};
