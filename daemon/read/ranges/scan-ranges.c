/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The run's side: it executes the first range itself, straight into the page of the wire, or gives the rows that another thread has
 * left. When another has the first range, it executes a later one meanwhile.
 */
#include "daemon/read/ranges/scan-ranges.h"

#include "daemon/base/interrupt.h"
#include "daemon/base/limits.h"
#include "daemon/read/bind.h"
#include "daemon/read/packing.h"
#include "daemon/read/pool.h"
#include "daemon/read/ranges/range-statement.h"
#include "daemon/read/ranges/scan-private.h"
#include "daemon/sqlite/memory.h"
#include "daemon/sqlite/tree-keys.h"

/* A smaller table takes one thread some milliseconds. */
#define MIN_TABLE_BYTES (G_GUINT64_CONSTANT(4) << 20)
/* Of the memory that a query may have, for the pages of the ring. */
#define RING_SHARE 8
/* Of the table, in a range: some hundred microseconds, or a few milliseconds with expressions. */
#define FIRST_RANGE_BYTES (G_GUINT64_CONSTANT(64) << 10)
#define MIN_RANGE_BYTES (G_GUINT64_CONSTANT(16) << 10)
#define MAX_RANGE_BYTES (G_GUINT64_CONSTANT(512) << 10)
/* For the first range, when there is nothing else to do. A helper that takes longer has no core, mostly. */
#define WAIT_USEC 1000
/* From this one on SQLite takes all for one: the bounds, too, would make it compile the statement again for each range. */
#define MAX_PARAMETERS 32

struct QdScanRanges {
    QdScanShare *share; /* (owned reference) */
    QdScanHelp help;
    QdRangeWorker worker;
    QdSnapshot snapshot;
    QdTreeKeys *keys; /* (owned) (nullable): all ranges were made */
    GBytes *bytes;    /* (owned) (nullable): of parameters */
    gint64 next_rowid;
    guint64 range_bytes;
    guint64 max_range_bytes;

    QwPageWriter *writer; /* (not owned) of the fill */
    size_t max_row_bytes;
    const QdRange *range; /* (nullable): the first, whose rows are given */
    gboolean is_direct;   /* by SQLite's steps; else from its page: */
    gboolean is_dropped;  /* another thread still has it, too */
    gsize row_start;
    gsize row_bytes;
    QdRange own; /* beside the ring: it is empty, and the place for the next range is that of a thread without a core */
};

/* The worker ---------------------------------------------------------------------------------------------------------------- */

gboolean
qd_range_worker_begin(const QdRangeWorker *self, const QdRange *range)
{
    return sqlite3_bind_int64(self->stmt, self->compiled->n_parameters + 1, range->first) == SQLITE_OK &&
           sqlite3_bind_int64(self->stmt, self->compiled->n_parameters + 2, range->last) == SQLITE_OK;
}

/* SQLite compiles it again at its first step where a value decides on an index. No row is in the range of that step. */
static gboolean
is_proven_with_values(const QdRangeWorker *self)
{
    const QdRange nothing = { .first = 1, .last = 0 };
    int r = qd_range_worker_begin(self, &nothing) ? sqlite3_step(self->stmt) : SQLITE_ERROR;

    (void) sqlite3_reset(self->stmt);
    if (r != SQLITE_DONE)
        return FALSE;
    if (sqlite3_stmt_status(self->stmt, SQLITE_STMTSTATUS_REPREPARE, 1) == 0)
        return TRUE;
    return self->compiled->n_parameters + QD_RANGE_N_PARAMETERS < MAX_PARAMETERS &&
           qd_range_statement_holds(self->reader->connection, self->compiled, self->limits, self->values);
}

gboolean
qd_range_worker_init(QdRangeWorker *self, QdReader *reader, const QdCompiled *compiled, const QdLimits *limits,
                     const QwPageReader *values)
{
    QdGuard *guard = qd_connection_get_guard(reader->connection);
    gboolean was_packing = guard->packing;
    gboolean is_proven;

    *self = (QdRangeWorker){ reader, compiled, limits, values, compiled->wrapped.ranged.stmt };
    if (values->data == NULL)
        return TRUE;
    guard->packing = TRUE;
    is_proven = qd_bind_first(self->stmt, values, NULL) && is_proven_with_values(self);
    guard->packing = was_packing;
    return is_proven;
}

int
qd_range_worker_run(const QdRangeWorker *self, QdRange *range)
{
    QdPacker *packer = self->reader->packer;
    QwPageWriter writer;
    int r;

    if (!qd_range_worker_begin(self, range))
        return SQLITE_ERROR;
    qw_page_writer_init(&writer, range->rows, QD_RANGE_BYTES, (uint32_t) self->compiled->n_columns);
    qd_packer_begin(packer, &writer, 0);
    do
        r = sqlite3_step(self->stmt);
    while (r == SQLITE_ROW && qd_packer_get_row_size(packer) == 0);
    if (r == SQLITE_ROW)
        r = SQLITE_FULL;
    if (r == SQLITE_DONE && sqlite3_stmt_status(self->stmt, SQLITE_STMTSTATUS_REPREPARE, 0) != 0)
        r = SQLITE_SCHEMA; /* this program is not proven */
    (void) sqlite3_reset(self->stmt);
    qd_packer_end(packer);
    range->n_bytes = writer.used;
    return r;
}

/* Begin and end ------------------------------------------------------------------------------------------------------------- */

void
qd_scan_share_unref(QdScanShare *self)
{
    if (!g_atomic_int_dec_and_test(&self->ref_count))
        return;
    qd_range_ring_free(self->ring);
    qd_client_unref(self->client);
    g_free(self->text);
    g_free(self);
}

static QdScanShare *
share_new(const QdScanSetup *setup, const QdSnapshot *snapshot)
{
    QdRangeRing *ring = qd_range_ring_new();
    QdScanShare *self;

    if (ring == NULL)
        return NULL;
    self = g_new0(QdScanShare, 1);
    self->ref_count = 1;
    self->ring = ring;
    self->pool = setup->pool;
    self->client = qd_client_ref(setup->reader->client);
    self->access = qd_client_get_access(self->client);
    self->limits = setup->limits;
    self->text = g_strndup(setup->compiled->text, setup->compiled->n_text_bytes);
    self->n_text_bytes = setup->compiled->n_text_bytes;
    self->snapshot = *snapshot;
    self->parameters = setup->parameters;
    return self;
}

/* The transaction has begun. */
static gboolean
begin_ranges(QdScanRanges *self, const QdScanSetup *setup, const QdRanged *ranged)
{
    QdConnection *connection = setup->reader->connection;

    if (qd_connection_get_schema_version(connection) != (gint64) ranged->schema_version || !qd_snapshot_begin(&self->snapshot))
        return FALSE;
    self->keys = qd_tree_keys_new(&self->snapshot, ranged->root);
    if (self->keys == NULL || qd_tree_keys_guess_bytes(self->keys) < MIN_TABLE_BYTES)
        return FALSE;
    self->share = share_new(setup, &self->snapshot);
    return self->share != NULL &&
           qd_range_worker_init(&self->worker, setup->reader, setup->compiled, setup->limits, &self->share->parameters);
}

static gboolean
has_memory(const QdLimits *limits)
{
    return qd_limits_get(limits, QD_LIMIT_QUERY_MEMORY_BYTES) >= (uint64_t) RING_SHARE * QD_RANGE_RING_N * QD_RANGE_BYTES &&
           !qd_memory_is_above_soft_limit();
}

QdScanRanges *
qd_scan_ranges_new(const QdScanSetup *setup)
{
    QdConnection *connection = setup->reader->connection;
    const QdRanged *ranged = qd_range_statement_find(connection, setup->compiled, setup->limits);
    sqlite3 *db = qd_connection_get_db(connection);
    QdScanRanges *self;

    if (ranged == NULL || !sqlite3_get_autocommit(db) || !has_memory(setup->limits))
        return NULL;
    self = g_new0(QdScanRanges, 1);
    self->help = setup->help;
    self->bytes = setup->bytes != NULL ? g_bytes_ref(setup->bytes) : NULL;
    self->next_rowid = G_MININT64;
    self->range_bytes = FIRST_RANGE_BYTES;
    self->max_range_bytes = MAX_RANGE_BYTES;
    if (!qd_snapshot_prepare(&self->snapshot, db) || !qd_connection_begin(connection, NULL))
        return qd_scan_ranges_free(self);
    if (begin_ranges(self, setup, ranged))
        return self;
    (void) qd_connection_end(connection, NULL);
    return qd_scan_ranges_free(self);
}

QdScanRanges *
qd_scan_ranges_free(QdScanRanges *self)
{
    if (self == NULL)
        return NULL;

    if (self->worker.stmt != NULL) {
        (void) sqlite3_reset(self->worker.stmt);
        (void) sqlite3_clear_bindings(self->worker.stmt);
    }
    if (self->share != NULL) {
        qd_range_ring_end(self->share->ring);
        qd_scan_share_unref(self->share);
    }
    qd_tree_keys_free(self->keys);
    g_clear_pointer(&self->bytes, g_bytes_unref);
    g_free(self);
    return NULL;
}

/* Ranges -------------------------------------------------------------------------------------------------------------------- */

/* FALSE: there is none. */
static gboolean
make_range(QdScanRanges *self, QdRange *ret)
{
    gint64 last;

    if (self->keys == NULL)
        return FALSE;
    if (!qd_tree_keys_next(self->keys, self->range_bytes, &last)) {
        self->keys = qd_tree_keys_free(self->keys);
        return FALSE;
    }
    *ret = (QdRange){ .first = self->next_rowid, .last = last };
    self->next_rowid = last < G_MAXINT64 ? last + 1 : last;
    return TRUE;
}

static void
add_ranges(QdScanRanges *self)
{
    QdRange range;

    while (qd_range_ring_has_room(self->share->ring) && make_range(self, &range))
        qd_range_ring_add(self->share->ring, range.first, range.last);
}

/* Too many rows for a page, or few: the next ranges are smaller or larger. */
static void
note_size(QdScanRanges *self, const QdRange *range)
{
    if (self->is_dropped)
        return;
    if (range->is_for_runner)
        self->max_range_bytes = MAX(self->max_range_bytes / 2, MIN_RANGE_BYTES);
    else if (range->n_bytes < QD_RANGE_BYTES / 4)
        self->range_bytes *= 2;
    self->range_bytes = MIN(self->range_bytes, self->max_range_bytes);
}

static void
ask_for_help(QdScanRanges *self)
{
    if (self->keys == NULL || !qd_range_ring_ask(self->share->ring))
        return;
    g_atomic_int_inc(&self->share->ref_count);
    if (!self->help.func(self->help.data, self->share))
        qd_scan_share_refuse(self->share);
}

/* Another thread has the first range. Returns: OK; INTERRUPT; ROW: the run executes the first range itself */
static int
work_ahead(QdScanRanges *self)
{
    QdRange *range = qd_range_ring_take(self->share->ring);
    int r;

    if (range == NULL) {
        if (!qd_range_ring_wait(self->share->ring, WAIT_USEC))
            self->range = qd_range_ring_drop_first(self->share->ring);
        if (qd_interrupt_poll())
            return SQLITE_INTERRUPT;
        return self->range != NULL ? SQLITE_ROW : SQLITE_OK;
    }
    r = qd_range_worker_run(&self->worker, range);
    qd_packer_begin(self->worker.reader->packer, self->writer, self->max_row_bytes);
    if (r == SQLITE_DONE)
        qd_range_ring_give(self->share->ring, range, QD_RANGE_DONE, FALSE);
    else
        qd_range_ring_give(self->share->ring, range, QD_RANGE_FREE, TRUE);
    return (r & 0xff) == SQLITE_INTERRUPT ? r : SQLITE_OK;
}

/* Returns: ROW: there is a range; DONE; an error */
static int
find_range(QdScanRanges *self)
{
    gboolean is_busy;
    int r = SQLITE_OK;

    do {
        add_ranges(self);
        ask_for_help(self);
        self->range = qd_range_ring_get_first(self->share->ring, &is_busy);
        if (is_busy)
            r = work_ahead(self);
        else if (self->range == NULL && make_range(self, &self->own))
            self->range = &self->own;
    } while (is_busy && r == SQLITE_OK);
    if (self->range == NULL || (r & 0xff) == SQLITE_INTERRUPT)
        return r != SQLITE_OK ? r : SQLITE_DONE;
    self->is_dropped = is_busy;
    self->is_direct = is_busy || self->range->state != QD_RANGE_DONE;
    self->row_start = QW_HEADER_SIZE;
    self->row_bytes = 0;
    return !self->is_direct || qd_range_worker_begin(&self->worker, self->range) ? SQLITE_ROW : SQLITE_ERROR;
}

static gboolean
step_kept(QdScanRanges *self)
{
    self->row_start += self->row_bytes;
    if (self->row_start >= self->range->n_bytes)
        return FALSE;
    self->row_bytes = qw_align8(qw_load_u32(self->range->rows + self->row_start));
    return TRUE;
}

int
qd_scan_ranges_step(QdScanRanges *self)
{
    for (;;) {
        int r;

        if (self->range != NULL) {
            r = self->is_direct ? sqlite3_step(self->worker.stmt) : step_kept(self) ? SQLITE_ROW : SQLITE_DONE;
            if (r != SQLITE_DONE)
                return r;
            if (self->is_direct)
                (void) sqlite3_reset(self->worker.stmt);
            note_size(self, self->range);
            if (self->range != &self->own)
                qd_range_ring_pop(self->share->ring);
            self->range = NULL;
        }
        r = find_range(self);
        if (r != SQLITE_ROW)
            return r;
        if (qd_interrupt_poll())
            return SQLITE_INTERRUPT;
    }
}

/* Rows ---------------------------------------------------------------------------------------------------------------------- */

void
qd_scan_ranges_begin_fill(QdScanRanges *self, QwPageWriter *writer, size_t max_row_bytes)
{
    self->writer = writer;
    self->max_row_bytes = max_row_bytes;
}

int
qd_scan_ranges_put_row(QdScanRanges *self, QwPageWriter *writer)
{
    if (self->is_direct)
        return qd_packer_take_row(self->worker.reader->packer, writer);
    return qw_page_put_row(writer, self->range->rows + self->row_start, self->row_bytes);
}

size_t
qd_scan_ranges_get_row_size(const QdScanRanges *self)
{
    return self->is_direct ? qd_packer_get_row_size(self->worker.reader->packer) : QW_HEADER_SIZE + self->row_bytes;
}
