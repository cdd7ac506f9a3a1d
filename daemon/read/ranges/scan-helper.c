/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A helper: a connection with the run's snapshot, whose statement is compiled, proven and bound as the run's is.
 *
 * It never fails: what it cannot do is left to the run.
 */
#include "daemon/base/limits.h"
#include "daemon/read/counting.h"
#include "daemon/read/evaluation.h"
#include "daemon/read/packing.h"
#include "daemon/read/pool.h"
#include "daemon/read/ranges/range-statement.h"
#include "daemon/read/ranges/scan-private.h"
#include "daemon/sqlite/interrupter.h"
#include "daemon/sqlite/memory.h"

/* So often it waits for a range before it goes, and so long each time. */
#define N_WAITS 8
#define WAIT_USEC 2000
/* Of the memory that a query may have; a row that needs more is the run's. */
#define MEMORY_SHARE 8

typedef struct Helper {
    QdScanShare *share;
    QdScanLeaveFunc leave;
    void *data;
    QdWatch watch;
    QdRangeWorker worker;
    QdSnapshot snapshot;
    QdMemoryUse memory;
    gboolean ends;
} Helper;

static gboolean
look(void *data)
{
    Helper *self = data;
    gint64 max_bytes = (gint64) (qd_limits_get(self->share->limits, QD_LIMIT_QUERY_MEMORY_BYTES) / MEMORY_SHARE);

    self->ends = self->ends || qd_range_ring_has_ended(self->share->ring) || self->leave(self->data) ||
                 qd_memory_get_use(&self->memory) > max_bytes;
    return self->ends;
}

/* On the thread that ticks. */
static gboolean
is_over(void *data, uint64_t now_usec)
{
    return qd_range_ring_has_ended(((const Helper *) data)->share->ring);
}

/* Whether the transaction that begins here is of the run's snapshot. */
static gboolean
begin(Helper *self, const QdRanged *ranged)
{
    QdConnection *connection = self->worker.reader->connection;

    return qd_snapshot_prepare(&self->snapshot, qd_connection_get_db(connection)) && qd_connection_begin(connection, NULL) &&
           qd_connection_get_schema_version(connection) == (gint64) ranged->schema_version && qd_snapshot_begin(&self->snapshot) &&
           qd_snapshot_is_same(&self->snapshot, &self->share->snapshot);
}

static gboolean
prepare(Helper *self)
{
    const QdScanShare *share = self->share;
    QdConnection *connection = self->worker.reader->connection;
    QdCompiled *compiled = qd_connection_compile(connection, share->text, share->n_text_bytes, QD_POLICY_READ, share->limits, NULL);
    const QdRanged *ranged;

    if (compiled == NULL || !qd_packing_find(connection, compiled, share->limits))
        return FALSE;
    ranged = qd_range_statement_find(connection, compiled, share->limits);
    if (ranged == NULL)
        return FALSE;
    return begin(self, ranged) &&
           qd_range_worker_init(&self->worker, self->worker.reader, compiled, share->limits, &share->parameters);
}

static QdRange *
take_range(Helper *self)
{
    QdRange *range = NULL;

    for (guint i = 0; range == NULL && i < N_WAITS && !qd_interrupt_poll(); i++) {
        range = qd_range_ring_take(self->share->ring);
        if (range == NULL)
            (void) qd_range_ring_wait(self->share->ring, WAIT_USEC);
    }
    return range;
}

static guint
execute_ranges(Helper *self)
{
    QdRange *range;
    guint n_done = 0;

    while (!self->ends && (range = take_range(self)) != NULL) {
        int r = qd_range_worker_run(&self->worker, range);

        if (r == SQLITE_DONE) {
            qd_range_ring_give(self->share->ring, range, QD_RANGE_DONE, FALSE);
            n_done++;
            continue;
        }
        self->ends = self->ends || r != SQLITE_FULL;
        qd_range_ring_give(self->share->ring, range, QD_RANGE_FREE, (r & 0xff) != SQLITE_INTERRUPT);
    }
    return n_done;
}

static guint
work(Helper *self)
{
    QdConnection *connection = self->worker.reader->connection;
    guint n_done = 0;

    qd_pool_discharge(self->worker.reader); /* it never keeps its client from another result */
    qd_connection_set_access(connection, self->share->access);
    qd_counting_show(connection, NULL);
    if (prepare(self)) { /* whose proof is kept with the statement: the run's end does not interrupt it */
        qd_evaluation_begin_watch(connection, &self->watch);
        qd_connection_get_guard(connection)->packing = TRUE;
        n_done = execute_ranges(self);
        qd_connection_get_guard(connection)->packing = FALSE;
        qd_evaluation_end_watch(connection, &self->watch);
        qd_memory_release_use(&self->memory);
    } else {
        qd_range_ring_stop_asking(self->share->ring);
    }
    if (self->worker.stmt != NULL)
        (void) sqlite3_clear_bindings(self->worker.stmt);
    if (!sqlite3_get_autocommit(qd_connection_get_db(connection)))
        (void) qd_connection_end(connection, NULL);
    qd_guard_forget_denial(qd_connection_get_guard(connection));
    qd_connection_set_access(connection, NULL);
    return n_done;
}

guint
qd_scan_share_help(QdScanShare *share, QdScanLeaveFunc leave, void *data)
{
    Helper self = { .share = share, .leave = leave, .data = data, .memory = { .account = qd_client_get_memory(share->client) } };
    guint n_done = 0;

    self.watch = (QdWatch){ .interrupt = { .look = look, .data = &self }, .is_over = is_over, .memory = &self.memory };
    if (qd_range_ring_join(share->ring)) {
        self.worker.reader = qd_pool_lease(share->pool, share->client, NULL, NULL);
        if (self.worker.reader != NULL) {
            n_done = work(&self);
            qd_pool_release(share->pool, self.worker.reader);
        }
        qd_range_ring_leave(share->ring);
    }
    qd_scan_share_refuse(share);
    return n_done;
}

void
qd_scan_share_refuse(QdScanShare *share)
{
    qd_range_ring_forget(share->ring);
    qd_scan_share_unref(share);
}
