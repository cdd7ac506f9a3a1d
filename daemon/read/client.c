/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reference-counted accounts.
 */
#include "daemon/read/client.h"

#include "daemon/base/access.h"
#include "daemon/base/error.h"
#include "daemon/base/limits.h"
#include "daemon/sqlite/memory.h"

QdClient *
qd_client_new(const char *label)
{
    QdClient *self = g_new0(QdClient, 1);

    self->ref_count = 1;
    self->label = g_strdup(label);
    self->memory = g_new0(QdMemoryAccount, 1);
    return self;
}

QdClient *
qd_client_ref(QdClient *client)
{
    g_atomic_int_inc(&client->ref_count);
    return client;
}

void
qd_client_unref(QdClient *client)
{
    if (client == NULL || !g_atomic_int_dec_and_test(&client->ref_count))
        return;

    if (client->application != NULL && g_atomic_int_dec_and_test(&client->application->ref_count)) {
        g_free(client->application->memory);
        g_free(client->application);
    }
    g_free(client->memory);
    g_clear_pointer(&client->accesses, g_ptr_array_unref);
    g_free(client->label);
    g_free(client);
}

void
qd_client_join(QdClient *self, QdClient *other)
{
    if (other == NULL) {
        self->application = g_new0(QdApplication, 1);
        self->application->memory = g_new0(QdMemoryAccount, 1);
    } else {
        self->application = other->application;
    }
    g_atomic_int_inc(&self->application->ref_count);
}

QdMemoryAccount *
qd_client_get_memory(QdClient *self)
{
    if (self == NULL)
        return NULL;
    return self->application != NULL ? self->application->memory : self->memory;
}

guint
qd_client_count_channels(const QdClient *self)
{
    const gint *count = self->application != NULL ? &self->application->n_channels : &self->charges[QD_CHARGE_CHANNEL];

    return (guint) g_atomic_int_get(count);
}

const char *
qd_client_get_label(const QdClient *client)
{
    return client->label;
}

void
qd_client_set_access(QdClient *client, QdAccess *access)
{
    const QdAccess *before = client->access;
    gboolean is_first = !client->is_sandboxed;

    client->is_sandboxed = TRUE;
    if (client->accesses == NULL)
        client->accesses = g_ptr_array_new_with_free_func((GDestroyNotify) qd_access_unref);
    if (access != NULL && before != NULL && qd_access_is_equal(before, access)) {
        qd_access_unref(access);
        return;
    }
    if (access != NULL)
        g_ptr_array_add(client->accesses, access);
    __atomic_store_n(&client->access, access, __ATOMIC_RELEASE);
    if (!is_first && access != NULL && (before == NULL || !qd_access_covers(access, before)))
        __atomic_add_fetch(&client->n_revocations, 1, __ATOMIC_RELEASE);
}

guint
qd_client_get_n_revocations(const QdClient *client)
{
    return __atomic_load_n(&client->n_revocations, __ATOMIC_ACQUIRE);
}

gboolean
qd_client_check_kept(const QdClient *client, guint n_revocations, GError **error)
{
    const QdAccess *access = qd_client_get_access(client);

    return access == NULL || qd_client_get_n_revocations(client) == n_revocations ||
           qd_access_deny(access, error, "go on with what it began before a grant was taken back: ask again");
}

const QdAccess *
qd_client_get_access(const QdClient *client)
{
    return __atomic_load_n(&client->access, __ATOMIC_ACQUIRE);
}

gboolean
qd_client_is_sandboxed(const QdClient *client)
{
    return client->is_sandboxed;
}

gboolean
qd_client_shares_results(const QdClient *client)
{
    return qd_client_get_access(client) == NULL;
}

gboolean
qd_client_check_write(const QdClient *client, GError **error)
{
    const QdAccess *access = qd_client_get_access(client);

    return access == NULL || qd_access_has_any(access, QD_ACCESS_WRITE) || qd_access_deny(access, error, "write in this store");
}

gboolean
qd_client_check_write_all(const QdClient *client, GError **error)
{
    const QdAccess *access = qd_client_get_access(client);

    return access == NULL || qd_access_has_all(access, QD_ACCESS_WRITE) || qd_access_deny(access, error, "write in this store");
}

gboolean
qd_client_check_service(const QdClient *client, GError **error)
{
    if (!qd_client_is_sandboxed(client))
        return TRUE;
    qd_error_set(error, QW_ERROR_ACCESS_DENIED,
                 "client '%s' is in a sandbox, and SERVICE would ask by a network that is not its own: ask the endpoint from there",
                 qd_client_get_label(client));
    return FALSE;
}

gboolean
qd_client_is_charged(const QdClient *client)
{
    return g_atomic_int_get(&client->ref_count) > 1;
}

static void
count_channels(QdClient *self, QdCharge charge, gint n)
{
    if (charge == QD_CHARGE_CHANNEL && self->application != NULL)
        g_atomic_int_add(&self->application->n_channels, n);
}

gboolean
qd_client_charge_many(QdClient *self, QdCharge charge, guint n, uint64_t limit)
{
    gint before = g_atomic_int_add(&self->charges[charge], (gint) n);

    if ((uint64_t) before + n <= limit) {
        count_channels(self, charge, (gint) n);
        return TRUE;
    }

    g_atomic_int_add(&self->charges[charge], -(gint) n);
    return FALSE;
}

void
qd_client_discharge_many(QdClient *self, QdCharge charge, guint n)
{
    g_atomic_int_add(&self->charges[charge], -(gint) n);
    count_channels(self, charge, -(gint) n);
}

gboolean
qd_client_charge(QdClient *self, QdCharge charge, uint64_t limit)
{
    return qd_client_charge_many(self, charge, 1, limit);
}

void
qd_client_discharge(QdClient *self, QdCharge charge)
{
    qd_client_discharge_many(self, charge, 1);
}

guint
qd_client_get_n_charged(const QdClient *self, QdCharge charge)
{
    return (guint) g_atomic_int_get(&self->charges[charge]);
}

gboolean
qd_client_take_subscription(QdClient *client, gsize n_text_bytes, const QdLimits *limits, GError **error)
{
    if (!qd_client_charge(client, QD_CHARGE_SUBSCRIPTION, qd_limits_get(limits, QD_LIMIT_SUBSCRIPTIONS_PER_CLIENT))) {
        qd_limit_set_error(error, limits, QD_LIMIT_SUBSCRIPTIONS_PER_CLIENT, "too many subscriptions of client '%s'",
                           client->label);
        return FALSE;
    }
    if (!qd_client_charge_many(client, QD_CHARGE_SUBSCRIPTION_BYTES, (guint) n_text_bytes,
                               qd_limits_get(limits, QD_LIMIT_SUBSCRIPTION_BYTES))) {
        qd_client_discharge(client, QD_CHARGE_SUBSCRIPTION);
        qd_limit_set_error(error, limits, QD_LIMIT_SUBSCRIPTION_BYTES, "texts of the subscriptions of client '%s' are too long",
                           client->label);
        return FALSE;
    }
    return TRUE;
}

void
qd_client_give_subscription(QdClient *client, gsize n_text_bytes)
{
    qd_client_discharge(client, QD_CHARGE_SUBSCRIPTION);
    qd_client_discharge_many(client, QD_CHARGE_SUBSCRIPTION_BYTES, (guint) n_text_bytes);
}
