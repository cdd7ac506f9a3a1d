/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the parts of the engine tell it, and ask of it.
 */
#include "daemon/runtime/context.h"

#include "daemon/base/error.h"

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

void
qd_context_note_activity(QdContext *self)
{
    uint64_t now = (uint64_t) g_get_monotonic_time();
    uint64_t told = __atomic_load_n(&self->activity_usec, __ATOMIC_RELAXED);

    if (now - told > ACTIVITY_USEC &&
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
