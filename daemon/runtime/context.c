/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the parts of the engine tell it, and ask of it.
 */
#include "daemon/runtime/context.h"

#include "daemon/base/error.h"
#include "daemon/read/client.h"

#define ACTIVITY_USEC 1000000

uint64_t
qd_context_get_timeout_msec(const QdContext *self, QdLimit limit, gboolean has_timeout, uint64_t timeout_msec)
{
    uint64_t cap = qd_limits_get(&self->limits, limit);

    if (!has_timeout)
        return cap;
    if (cap == 0)
        return timeout_msec;
    return timeout_msec == 0 ? cap : MIN(timeout_msec, cap);
}

gboolean
qd_context_charge_request(QdContext *self, QdClient *client, gsize n_bytes, GError **error)
{
    const QdLimits *limits = &self->limits;
    gint64 n_free;

    if (client != NULL && !qd_client_charge_many(client, QD_CHARGE_REQUEST_BYTES, (guint) n_bytes,
                                                 qd_limits_get(limits, QD_LIMIT_REQUEST_BYTES_PER_CLIENT))) {
        qd_limit_set_error(error, limits, QD_LIMIT_REQUEST_BYTES_PER_CLIENT,
                           "requests of client '%s' that have no answer yet are too many", qd_client_get_label(client));
        return FALSE;
    }
    n_free = (gint64) qd_limits_get(limits, QD_LIMIT_REQUEST_BYTES) - (gint64) n_bytes -
             g_atomic_int_add(&self->n_request_bytes, (gint) n_bytes);
    if (n_free >= 0 && (client == NULL || qd_client_get_n_charged(client, QD_CHARGE_REQUEST_BYTES) <= QD_LIMIT_SHARE * n_free))
        return TRUE;

    qd_context_discharge_request(self, client, n_bytes);
    qd_limit_set_error(error, limits, QD_LIMIT_REQUEST_BYTES, "requests of all clients that have no answer yet are too many");
    return FALSE;
}

void
qd_context_discharge_request(QdContext *self, QdClient *client, gsize n_bytes)
{
    g_atomic_int_add(&self->n_request_bytes, -(gint) n_bytes);
    if (client != NULL)
        qd_client_discharge_many(client, QD_CHARGE_REQUEST_BYTES, (guint) n_bytes);
}

void
qd_context_note_activity(QdContext *self)
{
    uint64_t now = (uint64_t) g_get_monotonic_time();
    uint64_t told = __atomic_load_n(&self->activity_usec, __ATOMIC_RELAXED);

    if (now > told + ACTIVITY_USEC &&
        __atomic_compare_exchange_n(&self->activity_usec, &told, now, FALSE, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        qd_mailbox_post(self->mailbox, self->hooks.activity, self->hooks.user_data);
}

void
qd_context_note_error(QdContext *self, const GError *error)
{
    __atomic_add_fetch(&self->counters.n_errors, 1, __ATOMIC_RELAXED);
    if (qd_error_get_code(error) == QW_ERROR_CORRUPT)
        self->hooks.suspect(self->hooks.user_data);
}
