/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compiling, binding and stepping: what gives the rows is in row-source.c, what may end them in run-end.c.
 */
#include "daemon/read/run.h"

#include <errno.h>

#include "daemon/base/error.h"
#include "daemon/plan/compile.h"
#include "daemon/read/bind.h"
#include "daemon/read/counting.h"
#include "daemon/read/evaluation.h"
#include "daemon/read/plans.h"
#include "daemon/read/pool.h"
#include "daemon/read/rdf-encoder.h"
#include "daemon/read/row-source.h"
#include "daemon/read/run-end.h"
#include "daemon/sqlite/sqlite-error.h"

struct QdRun {
    QdPool *pool; /* (nullable): gets the reader back */
    QdReader *reader;
    QdRowSource rows;
    char *text; /* SPARQL (owned): for a plan with parameters */
    gsize n_text_bytes;
    char *base;             /* (nullable) (owned) */
    char *dataset;          /* (nullable) (owned) */
    const QdAccess *access; /* (nullable): what its client was granted */
    gboolean in_transaction;
    const QdLimits *limits;
    QdRunOptions options;

    QdRunEnd end;

    GHashTable *terms; /* (nullable) (owned): the values of a plan */
    guint n_tries;     /* of the plans of its text */

    uint64_t plan_usec;
    uint64_t prepare_usec;
    gboolean new_schema;
    gboolean truncated;
    uint64_t n_rows;
    uint64_t n_bytes;
    size_t step_start; /* bytes of the page before the present step: those of rows that belong to the result */
};

QdRun *
qd_run_free(QdRun *self)
{
    if (self == NULL)
        return NULL;

    qd_row_source_end(&self->rows, self->n_rows, self->n_bytes, qd_run_get_own_usec(self));
    qd_run_end_clear(&self->end); /* while it has its client */
    if (self->reader != NULL) {
        if (self->in_transaction)
            (void) qd_connection_end(self->reader->connection, NULL);
        qd_connection_set_access(self->reader->connection, NULL);
        qd_evaluation_set_client(self->reader->connection, NULL);
        if (self->pool != NULL)
            qd_pool_release(self->pool, self->reader);
    }
    g_clear_pointer(&self->terms, g_hash_table_unref);
    g_free(self->text);
    g_free(self->base);
    g_free(self->dataset);
    g_free(self);
    return NULL;
}

void
qd_run_discharge(QdRun *self)
{
    if (self->pool != NULL)
        qd_pool_discharge(self->reader);
}

static gboolean
compile_sql(QdRun *self, const QdRunText *what, QdPolicy policy, GError **error)
{
    uint64_t start_usec = (uint64_t) g_get_monotonic_time();
    gboolean ok = qd_row_source_compile(&self->rows, what, policy, error);

    self->prepare_usec = (uint64_t) g_get_monotonic_time() - start_usec;
    return ok;
}

static gboolean
compile_plan(QdRun *self, GHashTable *parameters, gboolean is_update, GError **error)
{
    const QdPlanText what = {
        self->text, self->n_text_bytes, self->base, self->dataset, is_update, self->n_tries == 1, self->access
    };
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
    self->dataset = g_strdup(what->dataset);
    self->rows.encoder = qd_connection_get_attachment(connection, QD_ATTACHMENT_ENCODER);
    if (self->rows.encoder == NULL) {
        const QdResolver resolver = qd_evaluation_get_resolver(connection);

        self->rows.encoder = qd_rdf_encoder_new(&resolver);
        qd_connection_set_attachment(connection, QD_ATTACHMENT_ENCODER, self->rows.encoder, encoder_free);
    }
    return compile_plan(self, NULL, is_update, error);
}

/* Plan and rows of one snapshot: a second one costs two locks of the log, and as much of SQLite as finding the plan. */
static gboolean
begins_at_once(const QdRunText *what)
{
    return what->is_executed && what->language == QD_LANGUAGE_SPARQL;
}

/* With caches of the database that is there: after a Restore they are of another one. */
static QdReader *
lease_reader(QdPool *pool, QdClient *client, const QdReader *preferred, const QdRunText *what, GError **error)
{
    for (;;) {
        QdReader *reader = qd_pool_lease(pool, client, preferred, error);

        if (reader == NULL || what->language != QD_LANGUAGE_SPARQL)
            return reader;
        if (begins_at_once(what) && !qd_connection_begin(reader->connection, error)) {
            qd_pool_release(pool, reader);
            return NULL;
        }
        if (qd_connection_is_current(reader->connection))
            return reader;
        if (begins_at_once(what))
            (void) qd_connection_end(reader->connection, NULL);
        reader->is_stale = TRUE;
        qd_pool_release(pool, reader);
    }
}

/* Compiling has an end of its own; it is watched for the thread that it holds. A statement from the cache holds none, but for a
 * schema that has to be read again. */
static gboolean
compile(QdRun *self, const QdRunText *what, QdPolicy policy, GError **error)
{
    QdMemoryUse memory = { .account = self->end.memory.account };
    QdWatch watch = { .memory = &memory };
    uint64_t begun_usec = what->begun_usec > 0 ? what->begun_usec : (uint64_t) g_get_monotonic_time();
    gboolean ok;

    if (what->language == QD_LANGUAGE_SQL && !qd_schema_watch_is_behind(qd_connection_get_schema(self->reader->connection)) &&
        qd_connection_has_compiled(self->reader->connection, what->text, what->n_bytes, policy))
        return compile_sql(self, what, policy, error);

    qd_evaluation_begin_watch(self->reader->connection, &watch);
    if (what->timeout_msec > 0)
        qd_connection_set_compile_end(self->reader->connection, begun_usec + 1000 * what->timeout_msec, what->timeout_msec);
    ok = (what->language == QD_LANGUAGE_SPARQL ? compile_sparql : compile_sql)(self, what, policy, error);
    qd_connection_set_compile_end(self->reader->connection, 0, 0);
    qd_evaluation_end_watch(self->reader->connection, &watch);
    qd_memory_release_use(&memory);
    if (self->pool != NULL)
        qd_pool_charge_memory(self->reader);
    return ok;
}

/* @reader: (nullable): an error is set then. */
static QdRun *
run_new(QdPool *pool, QdReader *reader, const QdRunText *what, QdPolicy compile_policy, const QdLimits *limits, GError **error)
{
    g_autoptr(QdRun) self = g_new(QdRun, 1); /* glibc's malloc() takes it without a lock, calloc() does not */

    *self = (QdRun){ .pool = pool, .limits = limits };
    qd_run_end_init(&self->end, &self->options, limits);
    self->reader = reader;
    self->rows = (QdRowSource){ .reader = reader, .limits = limits, .pool = pool };
    if (self->reader == NULL)
        return NULL;
    self->in_transaction = pool != NULL && begins_at_once(what);
    qd_run_end_set_client(&self->end, reader->client);
    self->access = reader->client != NULL ? qd_client_get_access(reader->client) : NULL;
    qd_connection_set_access(reader->connection, what->language == QD_LANGUAGE_SQL ? self->access : NULL);
    qd_counting_show(self->reader->connection, NULL);
    qd_evaluation_set_client(self->reader->connection, pool != NULL ? reader->client : NULL);
    qd_settings_begin(self->reader->connection, what->settings);
    return compile(self, what, compile_policy, error) ? g_steal_pointer(&self) : NULL;
}

QdRun *
qd_run_new(QdPool *pool, QdClient *client, const QdReader *preferred, const QdRunText *what, QdPolicy compile_policy,
           const QdLimits *limits, GError **error)
{
    return run_new(pool, lease_reader(pool, client, preferred, what, error), what, compile_policy, limits, error);
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
    if (self->pool != NULL && options->max_rows == 0 && options->max_bytes == 0)
        self->rows.help = (QdScanHelp){ options->help_func, options->func_data };
    qd_counting_show(self->reader->connection, options->session);
    qd_run_end_begin(&self->end, options->begun_usec);
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

static uint64_t
get_trial_usec(const QdRun *self)
{
    return 1000 * qd_limits_get(self->limits, QD_LIMIT_PLAN_TRIAL_MSEC);
}

static gboolean
begin(QdRun *self, GError **error)
{
    if (self->in_transaction || self->pool == NULL)
        return TRUE;
    if (!qd_connection_begin(self->reader->connection, error))
        return FALSE;
    self->in_transaction = TRUE;
    if (qd_connection_is_current(self->reader->connection))
        return TRUE;

    self->reader->is_stale = TRUE;
    qd_error_set(error, QW_ERROR_BUSY, "the database was restored just now: try again");
    return FALSE;
}

/* Constants are looked up in the snapshot that is read: the transaction begins with them, at the latest. */
static gboolean
bind_terms(QdRun *self, GHashTable *parameters, GError **error)
{
    QdConnection *connection = self->reader->connection;

    if (g_hash_table_size(parameters) > 0 && !compile_plan(self, parameters, FALSE, error))
        return FALSE;
    if (!begin(self, error))
        return FALSE;
    qd_evaluation_start(connection);
    self->terms = g_hash_table_ref(parameters);
    self->end.trial_usec = self->rows.plan->has_second ? get_trial_usec(self) : 0;
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

static QdRunStatus
fail_step(QdRun *self, int r, GError **error)
{
    sqlite3 *db = qd_connection_get_db(self->reader->connection);

    if ((r & 0xff) == SQLITE_INTERRUPT)
        qd_run_end_find(&self->end);
    if (self->end.deferred) {
        self->end.deferred = FALSE;
        return QD_RUN_DEFERRED;
    }
    if (self->end.stop != NULL) {
        g_propagate_error(error, g_steal_pointer(&self->end.stop));
    } else if (qd_evaluation_take_failure(self->reader->connection, error)) {
        return QD_RUN_FAILED;
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
    int r = qd_row_source_step_first(&self->rows);

    if (self->end.stop == NULL && !self->end.deferred && !self->end.trial_over &&
        qd_row_source_give_up_packing(&self->rows, r, writer, self->step_start))
        r = qd_row_source_step(&self->rows);
    qd_row_source_begin_scan(&self->rows, r);
    self->new_schema = qd_row_source_has_new_columns(&self->rows) || self->new_schema;
    return r;
}

/* TRUE when the statement stands on a row; otherwise *ret_status says why not. */
static gboolean
step_to_row(QdRun *self, QwPageWriter *writer, QdRunStatus *ret_status, GError **error)
{
    int r = self->rows.stepped ? qd_row_source_step(&self->rows) : step_first(self, writer);

    if (self->end.trial_over) { /* also a row: a function that was interrupted may have left others out */
        if (r == SQLITE_ROW)
            qd_row_source_drop_row(&self->rows, writer, self->step_start);
        *ret_status = QD_RUN_FAILED;
        return FALSE;
    }
    if (r == SQLITE_DONE) {
        *ret_status = QD_RUN_DONE;
        return FALSE;
    }
    if (r != SQLITE_ROW) {
        *ret_status = fail_step(self, r, error);
        return FALSE;
    }
    self->end.trial_usec = 0;
    if (self->options.max_rows > 0 && self->n_rows >= self->options.max_rows) {
        qd_row_source_drop_row(&self->rows, writer, self->step_start);
        self->truncated = TRUE;
        *ret_status = QD_RUN_DONE;
        return FALSE;
    }
    self->end.row_waits = TRUE;
    return TRUE;
}

/* A look-up of a term failed, or the caller knows of the end. If the run was to end, the error is the reason for its end. */
static QdRunStatus
fail_row(QdRun *self, GError **error)
{
    qd_run_end_find(&self->end);
    if (self->end.stop != NULL) {
        g_clear_error(error);
        g_propagate_error(error, g_steal_pointer(&self->end.stop));
    } else if (error != NULL && *error == NULL) {
        qd_error_set(error, QW_ERROR_CANCELLED, "query was cancelled");
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
        int r;

        self->step_start = writer->used;
        if (!self->end.row_waits && !step_to_row(self, writer, &status, error))
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
        self->end.row_waits = FALSE;
        if (exceeds_max_bytes(self, writer->used - self->step_start)) {
            qd_row_source_drop_row(&self->rows, writer, self->step_start);
            self->truncated = TRUE;
            return QD_RUN_DONE;
        }
        self->n_rows++;
        self->n_bytes += writer->used - self->step_start;
        if (writer->used >= target_bytes) {
            if (!qd_row_source_start_packing(&self->rows, writer, self->n_rows))
                return QD_RUN_PAGE;
            self->n_rows = self->n_bytes = 0;
        }
        if (self->end.slice_over)
            return QD_RUN_SLICE;
    }
}

/*
 * The plan has given no row for a while. The text's second one is tried, and then the first to its end, in the same snapshot. What
 * a plan will cost is estimated from few solutions.
 */
static gboolean
begin_again(QdRun *self, GError **error)
{
    QdConnection *connection = self->reader->connection;
    QdMemoryUse memory = { .account = self->end.memory.account };
    QdWatch watch = { .memory = &memory };
    gboolean ok;

    qd_row_source_end(&self->rows, 0, 0, 0);
    self->rows.stepped = FALSE;
    self->n_tries++;
    qd_evaluation_begin_watch(connection, &watch);
    ok = compile_plan(self, self->terms, FALSE, error) &&
         qd_evaluation_bind(connection, self->rows.compiled->stmt, &self->rows.plan->query, self->terms, error);
    qd_evaluation_end_watch(connection, &watch);
    qd_memory_release_use(&memory);
    qd_run_end_begin_again(&self->end, self->n_tries == 1 ? 2 * get_trial_usec(self) : 0);
    return ok;
}

QdRunStatus
qd_run_fill(QdRun *self, QwPageWriter *writer, size_t target_bytes, uint64_t slice_usec, GError **error)
{
    QdRunStatus status;

    if (!qd_run_end_begin_fill(&self->end, slice_usec, self->rows.stepped, self->n_rows > 0, error))
        return QD_RUN_FAILED;

    do {
        qd_row_source_begin_fill(&self->rows, writer);
        qd_run_end_begin_watch(&self->end, self->reader->connection);
        status = fill_rows(self, writer, target_bytes, error);
        qd_run_end_end_watch(&self->end, self->reader->connection);
        /* also when it was done just then; what a call has given that was made to return is no row */
        if (self->end.is_told || qd_connection_is_spoilt(self->reader->connection))
            return fail_row(self, error);
        if (self->end.trial_over)
            continue;
        /* what asked may have gone on, as the begin of a scan does: the rows of a run that is put off would come twice */
        return self->end.watch.interrupt.ends && status != QD_RUN_FAILED && status != QD_RUN_DEFERRED
                   ? fail_step(self, SQLITE_INTERRUPT, error)
                   : status;
    } while (begin_again(self, error));
    return QD_RUN_FAILED;
}

gboolean
qd_run_can_send_early(const QdRun *self, const QwPageWriter *page)
{
    return page->n_rows > 0 && page->used == self->step_start;
}

void
qd_run_note_emptied(QdRun *self, const QwPageWriter *page)
{
    self->step_start = page->used;
    qd_row_source_note_emptied(&self->rows, page);
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
    return self->end.start_usec;
}

void
qd_run_add_wait(QdRun *self, uint64_t usec)
{
    self->end.produced_usec += usec;
}

uint64_t
qd_run_get_produced_usec(const QdRun *self)
{
    return self->end.produced_usec;
}

uint64_t
qd_run_get_own_usec(const QdRun *self)
{
    return self->end.produced_usec - self->end.spent_usec;
}
