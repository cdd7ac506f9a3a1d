/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compiling and stepping, with everything that may have to end it: deadline, cancel, hang-up, memory, snapshot age.
 *
 * sqlite3_step() returns only at rows, so all checks sit in look(), which the interrupter makes due every few milliseconds. What
 * must end even if a single operation takes long it ends by itself: run_is_over().
 */
#include "daemon/read/run.h"

#include <errno.h>
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/read/bind.h"
#include "daemon/read/evaluation.h"
#include "daemon/read/plans.h"
#include "daemon/read/rdf-encoder.h"
#include "daemon/read/row-source.h"
#include "daemon/sqlite/memory.h"
#include "daemon/sqlite/sqlite-error.h"
#include "daemon/sqlite/temp-files.h"

#define PEER_CHECK_USEC 10000
/* The first look is made after one or two ticks. */
#define LONG_USEC (QD_INTERRUPTER_TICK_USEC - 500)

struct QdRun {
    QdPool *pool; /* (nullable): gets the reader back */
    QdReader *reader;
    QdRowSource rows;
    char *text; /* SPARQL (owned): for a plan with parameters */
    gsize n_text_bytes;
    char *base; /* (nullable) (owned) */
    gboolean in_transaction;
    const QdLimits *limits;
    QdRunOptions options;

    uint64_t start_usec;
    uint64_t plan_usec;
    uint64_t prepare_usec;
    uint64_t produced_usec; /* by earlier fills, and waiting for a slot: time that the reader keeps us waiting does not count */
    uint64_t fill_start_usec;
    uint64_t slice_end_usec;
    uint64_t peer_check_usec;
    uint64_t temp_check_usec;
    gboolean slice_over;
    gboolean noted_long;
    uint64_t n_rows_before; /* of earlier fills: they have gone out */
    gboolean deferred;
    gboolean row_waits; /* the statement stands on a row that is in no page yet */
    gboolean new_schema;
    gboolean truncated;
    uint64_t n_rows;
    uint64_t n_bytes;
    int64_t memory_bytes; /* charged by earlier slices */
    int64_t balance_before;
    QdWatch watch;
    uint64_t end_usec;        /* of this fill, by its deadline or its age */
    uint64_t gone_check_usec; /* the interrupter's */
    GError *stop;             /* why it was interrupted */
};

QdRun *
qd_run_free(QdRun *self)
{
    if (self == NULL)
        return NULL;

    qd_row_source_end(&self->rows, self->n_bytes);
    if (self->reader != NULL) {
        if (self->in_transaction)
            (void) qd_connection_end(self->reader->connection, NULL);
        if (self->pool != NULL)
            qd_pool_release(self->pool, self->reader);
    }
    g_clear_error(&self->stop);
    g_free(self->text);
    g_free(self->base);
    g_free(self);
    return NULL;
}

static gboolean
compile_sql(QdRun *self, const QdRunText *what, QdPolicy policy, GError **error)
{
    QdConnection *connection = self->reader->connection;
    uint64_t start_usec = (uint64_t) g_get_monotonic_time();
    QdCompiled *compiled;

    if (what->is_described)
        qd_schema_watch_follow(qd_connection_get_schema(connection), TRUE);
    compiled = what->is_generated ? qd_connection_compile_generated(connection, what->text, self->limits, error)
                                  : qd_connection_compile(connection, what->text, what->n_bytes, policy, self->limits, error);
    self->prepare_usec = (uint64_t) g_get_monotonic_time() - start_usec;
    return qd_row_source_set_compiled(&self->rows, compiled);
}

static gboolean
compile_plan(QdRun *self, GHashTable *parameters, gboolean is_update, GError **error)
{
    const QdPlanText what = { self->text, self->n_text_bytes, self->base, is_update };
    QdRunText sql = { .is_generated = TRUE };
    uint64_t start_usec = (uint64_t) g_get_monotonic_time();

    self->rows.plan = qd_plans_get(self->reader->connection, &what, parameters, self->limits, error);
    self->plan_usec = (uint64_t) g_get_monotonic_time() - start_usec;
    if (self->rows.plan == NULL)
        return FALSE;
    if (is_update)
        return TRUE;
    sql.text = self->rows.plan->query.sql;
    return compile_sql(self, &sql, QD_POLICY_READ, error);
}

static void
encoder_free(gpointer data)
{
    (void) qd_rdf_encoder_free(data);
}

static gboolean
compile_sparql(QdRun *self, const QdRunText *what, QdPolicy policy, GError **error)
{
    QdConnection *connection = self->reader->connection;
    gboolean is_update = qd_sparql_is_update(what->text, what->n_bytes, policy == QD_POLICY_WRITE);

    if (is_update && policy == QD_POLICY_READ) {
        qd_error_set(error, QW_ERROR_READ_ONLY, "an update in a query that was opened for reading");
        return FALSE;
    }
    self->text = g_strndup(what->text, what->n_bytes);
    self->n_text_bytes = what->n_bytes;
    self->base = g_strdup(what->base);
    self->rows.encoder = qd_connection_get_attachment(connection, QD_ATTACHMENT_ENCODER);
    if (self->rows.encoder == NULL) {
        const QdResolver resolver = qd_evaluation_get_resolver(connection);

        self->rows.encoder = qd_rdf_encoder_new(&resolver);
        qd_connection_set_attachment(connection, QD_ATTACHMENT_ENCODER, self->rows.encoder, encoder_free);
    }
    return compile_plan(self, NULL, is_update, error);
}

/* With caches of the database that is there: after a Restore they are of another one. */
static QdReader *
lease_reader(QdPool *pool, QdClient *client, const QdReader *preferred, QdLanguage language, GError **error)
{
    for (;;) {
        QdReader *reader = qd_pool_lease(pool, client, preferred, error);

        if (reader == NULL || language != QD_LANGUAGE_SPARQL || qd_connection_is_current(reader->connection))
            return reader;
        reader->is_stale = TRUE;
        qd_pool_release(pool, reader);
    }
}

/* Compiling has an end of its own; it is watched for the thread that it holds. A statement from the cache holds none. */
static gboolean
compile(QdRun *self, const QdRunText *what, QdPolicy policy, GError **error)
{
    QdWatch watch = { 0 };
    gboolean ok;

    if (what->language == QD_LANGUAGE_SQL &&
        qd_connection_has_compiled(self->reader->connection, what->text, what->n_bytes, policy))
        return compile_sql(self, what, policy, error);

    qd_evaluation_begin_watch(self->reader->connection, &watch);
    ok = (what->language == QD_LANGUAGE_SPARQL ? compile_sparql : compile_sql)(self, what, policy, error);
    qd_evaluation_end_watch(self->reader->connection, &watch);
    return ok;
}

/* @reader: (nullable): an error is set then. */
static QdRun *
run_new(QdPool *pool, QdReader *reader, const QdRunText *what, QdPolicy compile_policy, const QdLimits *limits, GError **error)
{
    g_autoptr(QdRun) self = g_new0(QdRun, 1);

    self->pool = pool;
    self->limits = limits;
    self->start_usec = (uint64_t) g_get_monotonic_time();
    self->reader = reader;
    self->rows = (QdRowSource){ .reader = reader, .limits = limits };
    if (self->reader == NULL)
        return NULL;
    qd_counting_show(self->reader->connection, NULL);
    qd_settings_begin(self->reader->connection, what->settings);
    return compile(self, what, compile_policy, error) ? g_steal_pointer(&self) : NULL;
}

QdRun *
qd_run_new(QdPool *pool, QdClient *client, const QdReader *preferred, const QdRunText *what, QdPolicy compile_policy,
           const QdLimits *limits, GError **error)
{
    return run_new(pool, lease_reader(pool, client, preferred, what->language, error), what, compile_policy, limits, error);
}

QdRun *
qd_run_new_on(QdReader *reader, const QdRunText *what, QdPolicy compile_policy, const QdLimits *limits, GError **error)
{
    return run_new(NULL, reader, what, compile_policy, limits, error);
}

void
qd_run_set_options(QdRun *self, const QdRunOptions *options)
{
    self->options = *options;
    self->rows.may_pack = options->may_pack;
    qd_counting_show(self->reader->connection, options->counters);
    self->produced_usec = options->spent_usec;
}

QdCompiled *
qd_run_get_compiled(QdRun *self)
{
    return self->rows.compiled;
}

void
qd_run_get_compile_times(const QdRun *self, uint64_t *ret_plan_usec, uint64_t *ret_prepare_usec)
{
    *ret_plan_usec = self->plan_usec;
    *ret_prepare_usec = self->prepare_usec;
}

QdShape
qd_run_get_shape(QdRun *self)
{
    return self->rows.plan != NULL ? qd_shape_from_plan(self->rows.plan) : qd_shape_from_compiled(self->rows.compiled);
}

/* Constants are looked up in the snapshot that is read: the transaction begins with them. */
static gboolean
bind_terms(QdRun *self, GHashTable *parameters, GError **error)
{
    QdConnection *connection = self->reader->connection;

    if (g_hash_table_size(parameters) > 0 && !compile_plan(self, parameters, FALSE, error))
        return FALSE;
    if (self->pool != NULL && !qd_connection_begin(connection, error))
        return FALSE;
    self->in_transaction = self->pool != NULL;
    if (self->in_transaction && !qd_connection_is_current(connection)) {
        self->reader->is_stale = TRUE;
        qd_error_set(error, QW_ERROR_BUSY, "the database was restored just now: try again");
        return FALSE;
    }
    qd_evaluation_start(connection);
    return qd_evaluation_bind(connection, self->rows.compiled->stmt, &self->rows.plan->query, parameters, error);
}

gboolean
qd_run_bind_row(QdRun *self, const QwPageReader *row, GError **error)
{
    const QdShape shape = qd_run_get_shape(self);
    g_autoptr(GHashTable) parameters = NULL;

    if (self->rows.plan == NULL)
        return qd_row_source_bind_row(&self->rows, row, error);
    parameters = qd_plans_new_parameters();
    for (uint32_t i = 0; row != NULL && i < row->n_columns; i++) {
        QwValue value;

        qw_page_reader_get(row, i, &value);
        if (!qd_plans_add_parameter(parameters, qd_shape_get_parameter_name(&shape, i), &value, error))
            return FALSE;
    }
    return bind_terms(self, parameters, error);
}

gboolean
qd_run_bind_parameters(QdRun *self, const QdParameters *parameters, GError **error)
{
    const QdShape shape = qd_run_get_shape(self);
    g_autoptr(GHashTable) terms = NULL;
    g_autofree const QwValue **values = NULL;

    if (self->rows.plan == NULL)
        return qd_row_source_bind_parameters(&self->rows, parameters, error);
    values = qd_bind_resolve(&shape, parameters, error);
    if (values == NULL)
        return FALSE;
    terms = qd_plans_new_parameters();
    for (guint i = 0; i < qd_shape_get_n_names(&shape); i++) {
        if (values[i] != NULL && !qd_plans_add_parameter(terms, qd_shape_get_parameter_name(&shape, i), values[i], error))
            return FALSE;
    }
    return bind_terms(self, terms, error);
}

const QdReader *
qd_run_get_reader(const QdRun *self)
{
    return self->reader;
}

static uint64_t
get_transaction_end(const QdRun *self)
{
    const uint64_t *end_usec = self->options.transaction_end_usec;

    return end_usec != NULL ? __atomic_load_n(end_usec, __ATOMIC_RELAXED) : UINT64_MAX;
}

static gboolean
check_times(QdRun *self, uint64_t now, GError **error)
{
    uint64_t age_msec = qd_limits_get(self->limits, QD_LIMIT_SNAPSHOT_AGE_MSEC);

    if (self->options.timeout_msec > 0 && self->produced_usec + now - self->fill_start_usec > 1000 * self->options.timeout_msec) {
        qd_error_set(error, QW_ERROR_TIMEOUT,
                     "query took longer than its %" G_GUINT64_FORMAT " ms ('query_timeout_ms' or the caller's 'timeout_ms')",
                     self->options.timeout_msec);
        return FALSE;
    }
    if (now > get_transaction_end(self)) {
        qd_limit_set_error(error, self->limits, QD_LIMIT_TRANSACTION_MSEC, "query took longer than its transaction may");
        return FALSE;
    }
    if (now > self->start_usec + 1000 * age_msec) {
        qd_limit_set_error(error, self->limits, QD_LIMIT_SNAPSHOT_AGE_MSEC, "result is too old");
        return FALSE;
    }
    return TRUE;
}

static gboolean
check_peer(QdRun *self, uint64_t now, GError **error)
{
    gboolean gone = FALSE;
    gint cancelled = self->options.cancelled != NULL ? g_atomic_int_get(self->options.cancelled) : 0;

    if (self->options.peer_func != NULL && now >= self->peer_check_usec) {
        self->peer_check_usec = now + PEER_CHECK_USEC;
        gone = !self->options.peer_func(self->options.func_data);
    }
    if (cancelled == QD_CANCEL_EVICT) {
        qd_limit_set_error(error, self->limits, QD_LIMIT_WAL_BYTES,
                           "result ended, since it was the oldest and the write-ahead log is too big");
        return FALSE;
    }
    if (gone || cancelled != 0) {
        qd_error_set(error, QW_ERROR_CANCELLED, "query was cancelled");
        return FALSE;
    }
    return TRUE;
}

static gboolean
check_memory(QdRun *self, GError **error)
{
    int64_t used = self->memory_bytes + qd_memory_get_thread_balance() - self->balance_before;

    if (used <= (int64_t) qd_limits_get(self->limits, QD_LIMIT_QUERY_MEMORY_BYTES))
        return TRUE;

    qd_limit_set_error(error, self->limits, QD_LIMIT_QUERY_MEMORY_BYTES, "query needs %" G_GINT64_FORMAT " bytes of memory", used);
    return FALSE;
}

/* TRUE: it may not go on, @self->deferred or @self->stop says how it ends. */
static gboolean
is_refused_to_be_long(QdRun *self)
{
    gboolean can_defer = self->n_rows_before == 0;

    self->noted_long = TRUE;
    switch (self->options.long_func(self->options.func_data, can_defer)) {
    case QD_LONG_GRANTED:
        return FALSE;
    case QD_LONG_DENIED:
        self->deferred = can_defer;
        return can_defer;
    case QD_LONG_REFUSED:
        self->deferred = can_defer;
        if (!can_defer)
            qd_limit_set_error(&self->stop, self->limits, QD_LIMIT_RUNNING_BESIDE,
                               "too many queries run long that have given rows already");
        return TRUE;
    }
    g_assert_not_reached();
}

static gboolean
look(void *data)
{
    QdRun *self = data;
    uint64_t now = (uint64_t) g_get_monotonic_time();

    if (self->stop != NULL || self->deferred)
        return TRUE;
    if (!check_times(self, now, &self->stop) || !check_peer(self, now, &self->stop) || !check_memory(self, &self->stop) ||
        !qd_temp_files_check(self->limits, now, &self->temp_check_usec, &self->stop))
        return TRUE;

    if (now >= self->slice_end_usec)
        self->slice_over = TRUE;
    /* the statements that look terms up come here, too, amid a row, when the page must stay where it is */
    return self->options.long_func != NULL && !self->row_waits && !self->noted_long && now > self->fill_start_usec + LONG_USEC &&
           is_refused_to_be_long(self);
}

/* On the interrupter's thread. What is said here look() finds, too, when the step has come back. */
static gboolean
run_is_over(void *data, uint64_t now)
{
    QdRun *self = data;

    if (now > self->end_usec || now > get_transaction_end(self) ||
        (self->options.cancelled != NULL && g_atomic_int_get(self->options.cancelled) != 0))
        return TRUE;
    if (self->options.gone_func == NULL || now < self->gone_check_usec)
        return FALSE;

    self->gone_check_usec = now + PEER_CHECK_USEC;
    return self->options.gone_func(self->options.func_data);
}

/* When this fill has to be over, but for the transaction. */
static uint64_t
get_end_usec(const QdRun *self)
{
    uint64_t end = self->start_usec + 1000 * qd_limits_get(self->limits, QD_LIMIT_SNAPSHOT_AGE_MSEC);

    if (self->options.timeout_msec > 0)
        end = MIN(end, self->fill_start_usec + 1000 * self->options.timeout_msec - self->produced_usec);
    return end;
}

/* A step has failed: was it the interrupter that has ended it? */
static void
find_stop(QdRun *self)
{
    uint64_t now = (uint64_t) g_get_monotonic_time();

    self->peer_check_usec = 0;
    if (self->stop == NULL && !self->deferred && check_times(self, now, &self->stop))
        (void) check_peer(self, now, &self->stop);
}

static QdRunStatus
fail_step(QdRun *self, int r, GError **error)
{
    sqlite3 *db = qd_connection_get_db(self->reader->connection);

    if ((r & 0xff) == SQLITE_INTERRUPT)
        find_stop(self);
    if (self->deferred) {
        self->deferred = FALSE;
        return QD_RUN_DEFERRED;
    }
    if (self->stop != NULL) {
        g_propagate_error(error, g_steal_pointer(&self->stop));
    } else if (qd_guard_get_denial(qd_connection_get_guard(self->reader->connection), error)) {
        return QD_RUN_FAILED;
    } else {
        qd_sqlite_set_error(error, db, r, self->rows.compiled->text, self->rows.compiled->n_text_bytes, self->limits);
    }
    return QD_RUN_FAILED;
}

/* Stepping ------------------------------------------------------------------------------------------------------------------ */

static int
step_first(QdRun *self, QwPageWriter *writer)
{
    size_t used = writer->used;
    int r = qd_row_source_step(&self->rows);

    if (self->stop == NULL && !self->deferred && qd_row_source_give_up_packing(&self->rows, r, writer, used))
        r = qd_row_source_step(&self->rows);
    self->new_schema = qd_row_source_has_new_columns(&self->rows) || self->new_schema;
    return r;
}

/* TRUE when the statement stands on a row; otherwise *ret_status says why not. */
static gboolean
step_to_row(QdRun *self, QwPageWriter *writer, QdRunStatus *ret_status, GError **error)
{
    size_t used = writer->used;
    int r = self->rows.stepped ? qd_row_source_step(&self->rows) : step_first(self, writer);

    if (r == SQLITE_DONE) {
        *ret_status = QD_RUN_DONE;
        return FALSE;
    }
    if (r != SQLITE_ROW) {
        *ret_status = fail_step(self, r, error);
        return FALSE;
    }
    if (self->options.max_rows > 0 && self->n_rows >= self->options.max_rows) {
        qd_row_source_drop_row(&self->rows, writer, used);
        self->truncated = TRUE;
        *ret_status = QD_RUN_DONE;
        return FALSE;
    }
    self->row_waits = TRUE;
    return TRUE;
}

/* A look-up of a term failed. When that was because the run shall end, it is the reason for that which counts. */
static QdRunStatus
fail_row(QdRun *self, GError **error)
{
    find_stop(self);
    if (self->stop != NULL) {
        g_clear_error(error);
        g_propagate_error(error, g_steal_pointer(&self->stop));
    }
    return QD_RUN_FAILED;
}

/* The first row always goes out, so that a result is never empty for want of room. */
static gboolean
exceeds_max_bytes(const QdRun *self, size_t row_bytes)
{
    return self->options.max_bytes > 0 && self->n_rows > 0 && self->n_bytes + row_bytes > self->options.max_bytes;
}

static QdRunStatus
fill_rows(QdRun *self, QwPageWriter *writer, size_t target_bytes, GError **error)
{
    QdRunStatus status = QD_RUN_DONE;

    for (;;) {
        size_t used = writer->used;
        int r;

        if (!self->row_waits && !step_to_row(self, writer, &status, error))
            return status;

        r = qd_row_source_put_row(&self->rows, writer, error);
        if (r == -ENOBUFS)
            return writer->n_rows > 0 ? QD_RUN_PAGE : QD_RUN_LARGE;
        if (r == -EIO)
            return fail_row(self, error);
        if (r < 0) {
            qd_limit_set_error(error, self->limits, QD_LIMIT_HEAP_HARD_BYTES, "out of memory");
            return QD_RUN_FAILED;
        }
        self->row_waits = FALSE;
        if (exceeds_max_bytes(self, writer->used - used)) {
            qd_row_source_drop_row(&self->rows, writer, used);
            self->truncated = TRUE;
            return QD_RUN_DONE;
        }
        self->n_rows++;
        self->n_bytes += writer->used - used;
        if (writer->used >= target_bytes) {
            if (!qd_row_source_start_packing(&self->rows, writer, self->n_rows))
                return QD_RUN_PAGE;
            self->n_rows = self->n_bytes = 0;
        }
        if (self->slice_over)
            return QD_RUN_SLICE;
    }
}

QdRunStatus
qd_run_fill(QdRun *self, QwPageWriter *writer, size_t target_bytes, uint64_t slice_usec, GError **error)
{
    QdRunStatus status;

    self->fill_start_usec = (uint64_t) g_get_monotonic_time();
    self->slice_end_usec = self->fill_start_usec + slice_usec;
    self->slice_over = FALSE;
    self->noted_long = FALSE;
    self->n_rows_before = self->n_rows;
    self->balance_before = qd_memory_get_thread_balance();
    /* many short fills for a reader that takes all at once: the interrupter would see none of them */
    if (!check_times(self, self->fill_start_usec, error) || (self->rows.stepped && !check_peer(self, self->fill_start_usec, error)))
        return QD_RUN_FAILED;

    qd_row_source_begin_fill(&self->rows, writer);
    self->end_usec = get_end_usec(self);
    self->watch = (QdWatch){ .interrupt = { .look = look, .data = self }, .is_over = run_is_over };
    qd_evaluation_begin_watch(self->reader->connection, &self->watch);
    status = fill_rows(self, writer, target_bytes, error);
    qd_evaluation_end_watch(self->reader->connection, &self->watch);
    self->memory_bytes += qd_memory_get_thread_balance() - self->balance_before;
    self->produced_usec += (uint64_t) g_get_monotonic_time() - self->fill_start_usec;
    return status;
}

gboolean
qd_run_get_row_size(QdRun *self, size_t page_size, size_t *ret_size, GError **error)
{
    size_t size = qd_row_source_get_row_size(&self->rows);

    if (size > MIN(qd_limits_get(self->limits, QD_LIMIT_VALUE_BYTES) + page_size, QW_ROWS_SIZE_MAX)) {
        qd_limit_set_error(error, self->limits, QD_LIMIT_VALUE_BYTES, "row of %zu bytes is too big", size);
        return FALSE;
    }
    *ret_size = size;
    return TRUE;
}

gboolean
qd_run_has_new_schema(const QdRun *self)
{
    return self->new_schema;
}

gboolean
qd_run_is_truncated(const QdRun *self)
{
    return self->truncated;
}

uint64_t
qd_run_get_n_rows(const QdRun *self)
{
    return self->n_rows;
}

uint64_t
qd_run_get_n_bytes(const QdRun *self)
{
    return self->n_bytes;
}

uint64_t
qd_run_get_generation(const QdRun *self)
{
    return self->options.generation;
}

uint64_t
qd_run_get_start_usec(const QdRun *self)
{
    return self->start_usec;
}

void
qd_run_add_wait(QdRun *self, uint64_t usec)
{
    self->produced_usec += usec;
}

uint64_t
qd_run_get_produced_usec(const QdRun *self)
{
    return self->produced_usec;
}
