/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Transactions over several requests: from BEGIN to COMMIT the channel has the writer's role.
 *
 * Place: beside channel-serve.c. No other client writes meanwhile, so a transaction has little time: `transaction_idle_ms`
 * between two requests, `transaction_ms` in all. What runs in it runs on the writer's connection, and sees what it has written.
 * Invariant: a transaction that has ended before COMMIT or ROLLBACK stays with the channel as one that has failed. What the
 * client has sent for it is never executed outside.
 */
#include "client-lib/wire/wire-message.h"
#include "daemon/base/error.h"
#include "daemon/channel/channel-private.h"
#include "daemon/notify/changes.h"
#include "daemon/read/client.h"
#include "daemon/read/pool.h"
#include "daemon/runtime/context.h"
#include "daemon/runtime/workers.h"
#include "daemon/write/writer.h"

/* Each follows the one before it; OVER may follow all but the first. */
typedef enum TransactionState {
    TAKING, /* BEGIN is with the writer, which has the channel */
    BEGUN,  /* the writer has given the role, or an error: BEGIN is to be answered */
    OPEN,
    OVER, /* the role is given back: at its end, or before its time */
} TransactionState;

static const uint16_t following[] = { [TAKING] = 1u << BEGUN, [BEGUN] = 1u << OPEN | 1u << OVER, [OPEN] = 1u << OVER, [OVER] = 0 };
static const char *const names[] = { "taking", "begun", "open", "over" };
static const QdStates states = { "transaction", names, following };

struct QdChannelTransaction {
    QdChannel *channel;
    TransactionState state;
    QdWriteItem item; /* takes the role, and gathers what was changed */
    QdReader reader;
    uint64_t start_usec;
    uint64_t end_usec; /* atomic: it has to be over */
    uint64_t n_changes;
    guint n_revocations; /* of the client's grants, when it began */
    GError *end;         /* (nullable): why it is over */
};

static void
set_state(QdChannelTransaction *self, TransactionState state)
{
    qd_channel_check_state(&states, state, self->state);
    self->state = state;
}

static gboolean
has_role(const QdChannelTransaction *self)
{
    return self->state == OPEN || (self->state == BEGUN && self->item.outcome.error == NULL);
}

/* It is over before its time. @error: (transfer full) */
static void
take_end(QdChannelTransaction *self, GError *error)
{
    qd_error_add_detail(error, QW_DETAIL_TRANSACTION, QW_TRANSACTION_ENDED);
    self->end = error;
}

GError *
qd_channel_explain_end(const GError *error)
{
    GError *explained = g_error_copy(error);

    g_prefix_error(&explained, "the transaction was rolled back: ");
    qd_error_add_detail(explained, QW_DETAIL_TRANSACTION, QW_TRANSACTION_ENDED);
    return explained;
}

static void
give_role_back(QdChannelTransaction *self, gboolean keep, GError **error)
{
    QdWriter *writer = self->channel->context->writer;

    set_state(self, OVER);
    self->reader.connection = NULL;
    (void) qd_writer_end_transaction(writer, &self->item, keep, error);
    qd_settings_note_end(&self->channel->settings);
    __atomic_store_n(&self->channel->transaction_due_usec, 0, __ATOMIC_RELAXED);
}

void
qd_channel_drop_transaction(QdChannel *self)
{
    QdChannelTransaction *transaction = g_steal_pointer(&self->transaction);

    if (transaction == NULL)
        return;

    if (has_role(transaction))
        give_role_back(transaction, FALSE, NULL);
    qd_write_item_clear(&transaction->item);
    g_clear_error(&transaction->end);
    g_free(transaction);
}

/* BEGIN ------------------------------------------------------------------------------------------------------------------- */

static void
on_begun(QdWriteItem *item, QdWriterLinger *linger)
{
    QdChannelTransaction *self = item->data;

    set_state(self, BEGUN);
    qd_channel_push_answer(self->channel);
}

/* BEGIN and COMMIT have a deadline each. */
static void
set_times(QdChannelTransaction *self)
{
    const QdChannel *channel = self->channel;
    const QdExecutionOptions *options = &channel->statement.execution;

    self->item.times = (QdWriteTimes){
        .waited_usec = qd_channel_get_spent_usec(channel),
        .timeout_msec = qd_context_get_timeout_msec(channel->context, QD_LIMIT_UPDATE_TIMEOUT_MSEC, options->has_timeout,
                                                    options->timeout_msec),
    };
}

static QdChannelTransaction *
transaction_new(QdChannel *channel)
{
    QdChannelTransaction *self = g_new0(QdChannelTransaction, 1);

    self->channel = channel;
    qd_write_item_init(&self->item);
    self->n_revocations = qd_client_get_n_revocations(channel->client);
    self->item.client = channel->client;
    self->item.takes_role = TRUE;
    set_times(self);
    self->item.cancelled = &channel->entry.cancelled;
    self->item.done = on_begun;
    self->item.data = self;
    return self;
}

gboolean
qd_channel_begin_transaction(QdChannel *self, gboolean *ret_leads)
{
    g_autoptr(GError) error = NULL;

    if (self->transaction != NULL)
        qd_error_set(&error, QW_ERROR_BAD_PARAMETER, "a transaction is open already");
    else
        (void) qd_client_check_write(self->client, &error);
    if (error != NULL) {
        qd_channel_fail_request(self, error);
        return TRUE;
    }

    self->transaction = transaction_new(self);
    qd_channel_set_state(self, QD_CHANNEL_WRITING);
    if (qd_writer_enqueue(self->context->writer, &self->transaction->item, ret_leads) > 0)
        return FALSE;

    set_state(self->transaction, BEGUN);
    qd_channel_set_state(self, QD_CHANNEL_SERVED);
    return TRUE;
}

gboolean
qd_channel_answer_begin(QdChannel *self)
{
    QdChannelTransaction *transaction = self->transaction;
    QwEnd end = { 0 };

    if (transaction == NULL || transaction->state != BEGUN)
        return FALSE;

    if (transaction->item.outcome.error != NULL) {
        qd_channel_fail_request(self, transaction->item.outcome.error);
        qd_channel_drop_transaction(self);
        return TRUE;
    }
    set_state(transaction, OPEN);
    transaction->reader = (QdReader){ .connection = qd_writer_get_connection(self->context->writer), .client = self->client };
    qd_settings_begin(transaction->reader.connection, self->settings);
    transaction->start_usec = (uint64_t) g_get_monotonic_time();
    transaction->end_usec = transaction->start_usec + 1000 * qd_limits_get(&self->context->limits, QD_LIMIT_TRANSACTION_MSEC);
    end.generation = qd_writer_get_generation(self->context->writer);
    end.elapsed_usec = transaction->start_usec - self->work.request->received_usec;
    qd_channel_put_end(self, &end, self->work.request->serial);
    qd_channel_end_request(self);
    return TRUE;
}

/* Its time ---------------------------------------------------------------------------------------------------------------- */

const uint64_t *
qd_channel_get_transaction_end(const QdChannel *self)
{
    return self->transaction != NULL ? &self->transaction->end_usec : NULL;
}

void
qd_channel_yield_transaction(QdChannel *self)
{
    uint64_t now;

    if (self->transaction == NULL || self->transaction->state != OPEN || !qd_writer_is_awaited(self->context->writer))
        return;

    now = (uint64_t) g_get_monotonic_time();
    if (now < self->transaction->end_usec)
        __atomic_store_n(&self->transaction->end_usec, now, __ATOMIC_RELAXED);
    __atomic_store_n(&self->transaction_due_usec, self->transaction->end_usec, __ATOMIC_RELAXED);
}

gboolean
qd_channel_has_spoilt_transaction(const QdChannel *self)
{
    return self->transaction != NULL && self->transaction->state == OPEN &&
           qd_connection_is_spoilt(self->transaction->reader.connection);
}

void
qd_channel_touch_transaction(QdChannel *self)
{
    const QdLimits *limits = &self->context->limits;
    GError *error = NULL;
    uint64_t now;

    if (self->transaction == NULL || self->transaction->state != OPEN)
        return;
    if (qd_channel_has_spoilt_transaction(self)) {
        qd_error_set(&error, QW_ERROR_CANCELLED,
                     "transaction was rolled back, since a query in it had to be ended amid a call of full text");
        take_end(self->transaction, error);
        give_role_back(self->transaction, FALSE, NULL);
        return;
    }

    now = (uint64_t) g_get_monotonic_time();
    __atomic_store_n(&self->transaction_due_usec,
                     MIN(now + 1000 * qd_limits_get(limits, QD_LIMIT_TRANSACTION_IDLE_MSEC), self->transaction->end_usec),
                     __ATOMIC_RELAXED);
    qd_workers_request_sweep(self->context->workers);
}

void
qd_channel_watch_transaction(QdChannel *self)
{
    QdChannelTransaction *transaction = self->transaction;
    const QdLimits *limits = &self->context->limits;
    GError *error = NULL;
    uint64_t now;
    uint64_t due;

    qd_channel_yield_transaction(self);
    due = __atomic_load_n(&self->transaction_due_usec, __ATOMIC_RELAXED);
    if (due == 0)
        return;
    now = (uint64_t) g_get_monotonic_time();
    if (now < due)
        return;

    if (now >= transaction->start_usec + 1000 * qd_limits_get(limits, QD_LIMIT_TRANSACTION_MSEC))
        qd_limit_set_error(&error, limits, QD_LIMIT_TRANSACTION_MSEC, "transaction was rolled back, since it took too long");
    else if (now >= transaction->end_usec)
        qd_limit_set_error(&error, limits, QD_LIMIT_TRANSACTION_MSEC,
                           "transaction was rolled back, since others have waited for too long to write");
    else
        qd_limit_set_error(&error, limits, QD_LIMIT_TRANSACTION_IDLE_MSEC, "transaction was rolled back, since it was idle");
    take_end(transaction, error);
    if (self->work.run != NULL) /* it is on the connection that goes back */
        qd_channel_fail_request(self, transaction->end);
    give_role_back(transaction, FALSE, NULL);
}

/* In it ------------------------------------------------------------------------------------------------------------------- */

QdReader *
qd_channel_get_transaction_reader(const QdChannel *self)
{
    return self->transaction != NULL && self->transaction->state == OPEN ? &self->transaction->reader : NULL;
}

gboolean
qd_channel_check_transaction(const QdChannel *self, GError **error)
{
    if (self->transaction == NULL || self->transaction->end == NULL)
        return TRUE;

    g_propagate_error(error, g_error_copy(self->transaction->end));
    return FALSE;
}

void
qd_channel_transaction_execute(QdChannel *self, QdWriteItem *item)
{
    QdChannelTransaction *transaction = self->transaction;
    QdWriter *writer = self->context->writer;

    if (!qd_channel_check_transaction(self, &item->outcome.error))
        return;

    item->transaction_end_usec = qd_channel_get_transaction_end(self);
    qd_writer_execute_part(writer, item);
    item->outcome.generation = qd_writer_get_generation(writer);
    if (item->outcome.error == NULL || item->keeps) {
        qd_changes_add_all(transaction->item.outcome.changed, item->outcome.changed);
        transaction->n_changes += item->outcome.changes;
        return;
    }
    if (item->told != NULL) {
        transaction->end = qd_channel_explain_end(item->told);
    } else if (qd_writer_in_transaction(writer)) {
        return;
    } else {
        transaction->end = qd_channel_explain_end(item->outcome.error);
        g_clear_error(&item->outcome.error);
        item->outcome.error = g_error_copy(transaction->end);
    }
    give_role_back(transaction, FALSE, NULL);
}

/* Its end ----------------------------------------------------------------------------------------------------------------- */

void
qd_channel_end_transaction(QdChannel *self)
{
    QdChannelTransaction *transaction = self->transaction;
    gboolean keep = self->work.request->kind == QW_KIND_COMMIT;
    g_autoptr(GError) failure = NULL;
    g_autoptr(GError) error = NULL;
    QwEnd end = { 0 };

    if (transaction == NULL) {
        qd_error_set(&error, QW_ERROR_BAD_PARAMETER, "no transaction is open");
        qd_channel_fail_request(self, error);
        return;
    }
    set_times(transaction);
    if (transaction->state == OPEN && keep && !qd_client_check_kept(self->client, transaction->n_revocations, &failure))
        give_role_back(transaction, FALSE, NULL);
    else if (transaction->state == OPEN)
        give_role_back(transaction, keep, &failure);
    else if (keep)
        error = g_error_copy(transaction->end);
    if (failure != NULL)
        error = qd_channel_explain_end(failure);
    if (error != NULL) {
        qd_channel_fail_request(self, error);
    } else {
        end.changes = keep ? (int64_t) transaction->n_changes : 0;
        end.generation = transaction->item.outcome.generation != 0 ? transaction->item.outcome.generation
                                                                   : qd_writer_get_generation(self->context->writer);
        end.elapsed_usec = (uint64_t) g_get_monotonic_time() - self->work.request->received_usec;
        qd_channel_put_end(self, &end, self->work.request->serial);
        qd_channel_end_request(self);
    }
    qd_channel_drop_transaction(self);
}

void
qd_channel_refuse_request(QdChannel *self, const GError *error)
{
    QwKind kind = qd_channel_get_kind(self, self->work.request);
    g_autoptr(GError) explained = NULL;

    if (self->transaction == NULL || (kind != QW_KIND_COMMIT && kind != QW_KIND_ROLLBACK)) {
        qd_channel_fail_request(self, error);
    } else if (kind == QW_KIND_ROLLBACK) {
        self->work.request->kind = QW_KIND_ROLLBACK;
        qd_channel_end_transaction(self);
    } else {
        explained = qd_channel_explain_end(error);
        qd_channel_drop_transaction(self);
        qd_channel_fail_request(self, explained);
    }
}
