/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Group commit.
 *
 * A member that ends the whole transaction (OR ROLLBACK, an interrupted INSERT, a full disk) takes the others' work with it.
 * After each member sqlite3_get_autocommit() tells; then nothing is acknowledged. The members before it are run again without
 * it, it runs alone, and the members after it follow. So it is with a VACUUM, which can be in no transaction.
 */
#include "daemon/write/write-group.h"

#include "client-lib/wire/wire-spin.h"
#include "daemon/base/error.h"
#include "daemon/read/session-counts.h"
#include "daemon/sqlite/connection.h"
#include "daemon/sqlite/schema-watch.h"
#include "daemon/write/write-item.h"
#include "daemon/write/write-queue.h"
#include "daemon/write/write-transaction.h"
#include "daemon/write/write-watch.h"
#include "daemon/write/writer-private.h"

/* A group grows for so long: a later member would make those in it wait. */
#define GROUP_USEC 5000
/* A group waits for those of the last one as long as its commit took, but between these. */
#define LINGER_MIN_USEC QW_SPIN_USEC_MIN
#define LINGER_MAX_USEC 500u

/* What has run for less than this has not written much. */
#define LARGE_USEC 4000

/* The members that run in one transaction, in the order in which they came. */
typedef struct Group {
    QdWriteItem **items;
    guint n;
    gboolean grows; /* from the queue, while it runs */
    gboolean relaxed;
    uint64_t end_usec; /* it grows no more */
} Group;

void
qd_write_begin_linger(QdWriter *self)
{
    uint64_t usec = CLAMP(self->group.commit_usec, LINGER_MIN_USEC, LINGER_MAX_USEC);

    if (self->config.linger == NULL || self->config.linger->n == 0)
        return;

    if (self->config.linger_usec > 0)
        usec = self->config.linger_usec;
    self->group.linger_end_usec = (uint64_t) g_get_monotonic_time() + usec;
}

gboolean
qd_write_is_lingering(const QdWriter *self)
{
    return self->group.linger_end_usec > 0;
}

void
qd_write_end_linger(QdWriter *self)
{
    if (self->group.linger_end_usec > 0)
        self->config.linger->leave(self->config.linger);
    self->group.linger_end_usec = 0;
}

gboolean
qd_write_linger(QdWriter *self)
{
    QdWriterLinger *linger = self->config.linger;

    if (self->group.linger_end_usec == 0)
        return FALSE;
    qd_write_take_items(self, linger->look(linger));
    if (linger->n == 0 || (uint64_t) g_get_monotonic_time() >= self->group.linger_end_usec)
        qd_write_end_linger(self);
    return TRUE; /* at what the last look has brought */
}

static void
fail_item(QdWriteItem *item, const GError *error)
{
    if (item->outcome.error == NULL)
        item->outcome.error = g_error_copy(error);
}

/* An item whose client has heard of its end has failed, also where it comes to a good end later. It does not run again. */
static gboolean
run_item(QdWriter *self, QdWriteItem *item, GError **error)
{
    gboolean ok = FALSE;

    if (item->told == NULL) {
        qd_write_watch_begin(self, item, FALSE);
        ok = !qd_write_watch_get_stop(&self->watch, TRUE, error) && /* its time was over before its turn came */
             qd_write_item_execute(item, self->connection, self->config.limits, error) && qd_write_watch_check(self, error);
        qd_write_watch_end(self);
        if (qd_connection_is_spoilt(self->connection))
            qd_write_rollback(self);
    }
    if (item->told == NULL)
        return ok;
    if (ok && item->counts.session != NULL)
        qd_session_set_counts(item->counts.session, &item->counts.before);
    item->keeps = FALSE;
    g_clear_error(error);
    g_propagate_error(error, g_error_copy(item->told));
    return FALSE;
}

/* SQLite may write all of a large transaction's frames once more, which takes long. */
static gboolean
end_in_time(QdWriter *self, QdWriteItem *item, GError **error)
{
    g_autoptr(GError) failure = NULL;
    gboolean ok;

    if (item == NULL || (uint64_t) g_get_monotonic_time() < item->times.begun_usec + LARGE_USEC)
        return qd_connection_end(self->connection, error);
    qd_write_watch_begin_commit(self, item);
    ok = qd_connection_end(self->connection, &failure);
    if (!ok && !qd_write_watch_get_stop(&self->watch, g_error_matches(failure, QD_ERROR, QW_ERROR_CANCELLED), error))
        g_propagate_error(error, g_steal_pointer(&failure));
    qd_write_watch_end(self);
    return ok;
}

gboolean
qd_write_commit(QdWriter *self, QdWriteItem *item, GError **error)
{
    return qd_write_before_commit(self, error) && end_in_time(self, item, error) && qd_write_after_commit(self, error);
}

/* One item without a group: in a transaction of its own, or in none when it is a VACUUM. */
static void
execute_alone(QdWriter *self, QdWriteItem *item, gboolean in_transaction)
{
    g_autoptr(GError) error = NULL;
    gboolean ok;

    qd_write_end_linger(self);
    if (!qd_write_ensure_connection(self, &item->outcome.error))
        return;
    ok = qd_write_set_durability(self, item->relaxed, &error);
    if (ok && in_transaction)
        ok = qd_write_begin(self, item, &error);
    ok = ok && run_item(self, item, &error);
    if (!ok && item->keeps && qd_write_in_transaction(self)) {
        item->outcome.error = g_steal_pointer(&error);
        ok = TRUE;
    }
    if (ok && in_transaction)
        ok = qd_write_commit(self, item, item->outcome.error == NULL ? &error : NULL);
    if (!ok) {
        qd_write_rollback(self);
        item->keeps = FALSE;
        if (error != NULL)
            item->outcome.error = g_steal_pointer(&error);
        return;
    }
    if (!in_transaction) {
        qd_write_note_own_version(self);
        qd_write_copy_schema(self, qd_connection_get_schema_version(self->connection));
    }
    item->outcome.generation = qd_write_publish(self);
    qd_write_tell(self, item->outcome.generation, &item, 1);
}

QdMemberResult
qd_write_execute_in_savepoint(QdWriter *self, QdWriteItem *item)
{
    gboolean ok;

    if (!qd_connection_begin_savepoint(self->connection, &item->outcome.error))
        return qd_write_in_transaction(self) ? QD_MEMBER_FAILED : QD_MEMBER_ENDED_TRANSACTION;

    ok = run_item(self, item, &item->outcome.error);
    if ((ok || item->keeps) && qd_write_in_transaction(self) &&
        qd_connection_end_savepoint(self->connection, ok ? &item->outcome.error : NULL))
        return ok ? QD_MEMBER_OK : QD_MEMBER_FAILED;
    if (!qd_write_in_transaction(self) || !qd_connection_execute(self->connection, "ROLLBACK TO member; RELEASE member", NULL))
        return QD_MEMBER_ENDED_TRANSACTION;
    qd_schema_watch_forget(qd_connection_get_schema(self->connection));
    return QD_MEMBER_FAILED;
}

/*
 * A statement that runs once is all or nothing by itself, but for OR FAIL, deferred keys and what goes wrong below it. Then the
 * transaction ends, and it runs alone.
 */
static QdMemberResult
execute_without_savepoint(QdWriter *self, QdWriteItem *item)
{
    sqlite3 *db = qd_connection_get_db(self->connection);
    gint64 before = sqlite3_total_changes64(db);
    gboolean ok;

    ok = run_item(self, item, &item->outcome.error);
    if (!qd_write_in_transaction(self))
        return QD_MEMBER_ENDED_TRANSACTION;
    if (ok)
        return QD_MEMBER_OK;
    return sqlite3_total_changes64(db) == before && qd_write_item_failed_cleanly(item, self->connection)
               ? QD_MEMBER_FAILED
               : QD_MEMBER_ENDED_TRANSACTION;
}

static QdMemberResult
execute_member(QdWriter *self, QdWriteItem *item)
{
    g_clear_error(&item->outcome.error);
    if (qd_write_item_is_atomic(item))
        return execute_without_savepoint(self, item);
    qd_write_end_linger(self);
    return qd_write_execute_in_savepoint(self, item);
}

/* FALSE: its turn comes when the group is over. */
static gboolean
can_be_member(const Group *group, const QdWriteItem *item)
{
    return !item->takes_role && (!group->relaxed || item->relaxed);
}

/* The next member, from the queue. NULL: there is none, or *@ret_full, none until the group is over. */
static QdWriteItem *
pop_member(QdWriter *self, const Group *group, gboolean *ret_full)
{
    QdWriteItem *item;

    pthread_mutex_lock(&self->mutex);
    item = qd_write_queue_peek(&self->queue);
    *ret_full = item != NULL && !can_be_member(group, item);
    if (item != NULL && !*ret_full)
        (void) qd_write_queue_pop(&self->queue);
    else
        item = NULL;
    pthread_mutex_unlock(&self->mutex);
    return item;
}

/* The next member, which may have to be waited for. NULL: the group is complete. */
static QdWriteItem *
await_member(QdWriter *self, const Group *group)
{
    QdWriteItem *item = NULL;
    gboolean full = FALSE;

    while (item == NULL && !full && group->n < QD_WRITE_GROUP_MAX && (uint64_t) g_get_monotonic_time() <= group->end_usec) {
        item = pop_member(self, group, &full);
        if (item == NULL && !full && !qd_write_linger(self))
            break;
    }
    return item;
}

static void
fail_group(const Group *group, const GError *error)
{
    for (guint i = 0; i < group->n; i++)
        fail_item(group->items[i], error);
}

static gboolean
begin_group(QdWriter *self, Group *group)
{
    g_autoptr(GError) error = NULL;

    if (qd_write_ensure_connection(self, &error) && qd_write_set_durability(self, group->relaxed, &error) &&
        qd_write_check_space(self, &error) && qd_write_begin(self, group->n == 1 ? group->items[0] : NULL, &error))
        return TRUE;

    fail_group(group, error);
    return FALSE;
}

static void
commit_group(QdWriter *self, const Group *group)
{
    uint64_t start_usec = (uint64_t) g_get_monotonic_time();
    g_autoptr(GError) error = NULL;
    uint64_t generation;

    if (!qd_write_commit(self, group->n == 1 ? group->items[0] : NULL, &error)) {
        qd_write_rollback(self);
        fail_group(group, error);
        return;
    }

    self->group.commit_usec = (uint64_t) self->commit_time_usec - start_usec;
    generation = qd_write_publish(self);
    for (guint i = 0; i < group->n; i++)
        group->items[i]->outcome.generation = generation;
    qd_write_tell(self, generation, group->items, group->n);
}

/* What sessions have counted for the first @n members, which are run again. */
static void
forget_counts(const Group *group, guint n)
{
    for (guint i = n; i > 0; i--)
        if (group->items[i - 1]->counts.session != NULL)
            qd_session_set_counts(group->items[i - 1]->counts.session, &group->items[i - 1]->counts.before);
}

/* Runs items in one transaction. Returns: n when it was committed or failed as a whole; else the index of the offender. */
static guint
execute_together(QdWriter *self, Group *group)
{
    guint n_ok = 0;

    if (!begin_group(self, group))
        return group->n;

    for (guint i = 0; i < group->n; i++) {
        QdMemberResult result;
        QdWriteItem *next;

        self->group.n_ahead = group->grows ? i : 0;
        result = execute_member(self, group->items[i]);
        self->group.n_ahead = 0; /* what is executed outside of a group keeps no member waiting */
        if (result == QD_MEMBER_ENDED_TRANSACTION || group->items[i]->runs_alone || self->group.put_off != NULL) {
            qd_write_rollback(self);
            forget_counts(group, i + 1);
            return i;
        }
        n_ok += result == QD_MEMBER_OK ? 1 : 0;
        if (group->grows && i + 1 == group->n && (next = await_member(self, group)) != NULL)
            group->items[group->n++] = next;
    }
    qd_write_end_linger(self);
    if (n_ok > 0)
        commit_group(self, group);
    else
        qd_write_rollback(self);
    return group->n;
}

/* By its deadline or its caller: it would be stopped again, after as long again. */
static gboolean
was_stopped(const QdWriteItem *item)
{
    return item->told != NULL || g_error_matches(item->outcome.error, QD_ERROR, QW_ERROR_TIMEOUT) ||
           g_error_matches(item->outcome.error, QD_ERROR, QW_ERROR_CANCELLED);
}

/* Its result is not used: it goes back to the head of its lane, and is the first of its next group. */
static void
put_off(QdWriter *self, QdWriteItem *item)
{
    g_clear_error(&item->outcome.error);
    item->times.begun_usec = 0;
    pthread_mutex_lock(&self->mutex);
    qd_write_queue_push_back(&self->queue, item);
    pthread_mutex_unlock(&self->mutex);
}

/* One whose caller has heard of its end does not come again. */
static gboolean
has_made_way(QdWriter *self, const QdWriteItem *item)
{
    const QdWriteItem *slow = g_steal_pointer(&self->group.put_off);

    return slow == item && item->told == NULL;
}

/* Without the offender the members before it cannot fail in the same way; each round is shorter. */
static void
execute_group(QdWriter *self, Group *group)
{
    guint offender = execute_together(self, group);

    if (offender == group->n)
        return;
    if (has_made_way(self, group->items[offender])) { /* the last one */
        g_assert(offender + 1 == group->n);
        put_off(self, group->items[--group->n]);
    }
    if (offender > 0) {
        Group before = { .items = group->items, .n = offender, .relaxed = group->relaxed };

        execute_group(self, &before);
    }
    if (offender == group->n)
        return;
    if (!was_stopped(group->items[offender])) {
        g_clear_error(&group->items[offender]->outcome.error);
        execute_alone(self, group->items[offender], !group->items[offender]->runs_alone);
    }
    if (offender + 1 < group->n) {
        Group behind = { .items = group->items + offender + 1, .n = group->n - offender - 1, .relaxed = group->relaxed };

        execute_group(self, &behind);
    }
}

guint
qd_write_group_run(QdWriter *self, QdWriteItem *first, QdWriteItem **items, gboolean relaxed)
{
    uint64_t group_usec = self->config.group_usec > 0 ? self->config.group_usec : GROUP_USEC;
    Group group = {
        .items = items, .n = 1, .grows = TRUE, .relaxed = relaxed, .end_usec = (uint64_t) g_get_monotonic_time() + group_usec
    };

    items[0] = first;
    execute_group(self, &group);
    return group.n;
}
