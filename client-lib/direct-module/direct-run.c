/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One execution on a direct connection: the daemon's run, pulled page by page into a buffer of the application.
 *
 * Why pages and not sqlite3_value in place: rows in a page stay good after the statement has gone on or ended. So the snapshot
 * of a small result ends before its first row is handed out, and another thread may end one that is too old. The cursor's
 * getters are those for the daemon's pages.
 */
#include "client-lib/direct-module/direct-private.h"

#include "client-lib/core/query-mutex.h"
#include "client-lib/wire/wire-page-writer.h"
#include "daemon/base/error.h"
#include "daemon/read/run.h"

/* The first page is small, so that the first row is there early; a look-up by key fits into it. */
#define FIRST_PAGE_BYTES 4096u
#define FIRST_BUFFER_BYTES 8192u
#define PAGE_BYTES QW_PAGE_SIZE_DEFAULT
/* Rows that came after a step of this length do not wait for a page to become full. */
#define SLICE_USEC 2000

struct QueryDirectRun {
    QueryDirectHead head;
    gint ref_count; /* atomic */
    QueryDirect *direct;
    QueryDirectFile *file;
    QuerySchema *schema;
    GBytes *row;               /* (nullable): the values that are bound as views */
    gint cancelled;            /* atomic: QD_CANCEL_… */
    GCancellable *cancellable; /* (nullable) (borrowed): of the work under way */

    pthread_mutex_t mutex; /* guards what follows; held while it works */
    QdRun *run;            /* NULL when it has ended */
    gboolean is_listed;    /* among the snapshots */
    uint8_t *buffer;
    gsize buffer_bytes;
    QwPageWriter page; /* its rows are not taken yet */
    QwEnd end;
    GError *failure; /* (nullable): reported after the rows of the page */
};

QueryDirectRun *
direct_run_ref(QueryDirectRun *self)
{
    g_atomic_int_inc(&self->ref_count);
    return self;
}

/* The snapshot ends here: the connection is free for the next run. */
static void
end_run(QueryDirectRun *self)
{
    g_clear_pointer(&self->run, qd_run_free);
    if (self->is_listed)
        direct_snapshots_remove(self->direct->snapshots, self);
    self->is_listed = FALSE;
}

/* malloc() for each look-up would cost more than it looks: freeing blocks of this size makes it tidy up. */
static void
drop_buffer(QueryDirectRun *self)
{
    if (self->buffer_bytes == FIRST_BUFFER_BYTES)
        self->buffer = __atomic_exchange_n(&self->direct->spare_page, self->buffer, __ATOMIC_ACQ_REL);
    g_clear_pointer(&self->buffer, g_free);
    self->buffer_bytes = 0;
}

static void
take_spare_buffer(QueryDirectRun *self)
{
    self->buffer = __atomic_exchange_n(&self->direct->spare_page, NULL, __ATOMIC_ACQ_REL);
    self->buffer_bytes = self->buffer != NULL ? FIRST_BUFFER_BYTES : 0;
}

void
direct_run_unref(QueryDirectRun *self)
{
    if (self == NULL || !g_atomic_int_dec_and_test(&self->ref_count))
        return;

    (void) pthread_mutex_lock(&self->mutex); /* the thread that watches its age may be looking at it */
    end_run(self);
    (void) pthread_mutex_unlock(&self->mutex);
    drop_buffer(self);
    g_clear_error(&self->failure);
    g_clear_pointer(&self->row, g_bytes_unref);
    g_clear_pointer(&self->schema, query_schema_unref);
    direct_file_unref(self->file);
    direct_unref(self->direct);
    (void) pthread_mutex_destroy(&self->mutex);
    g_free(self);
}

QuerySchema *
direct_run_get_schema(const QueryDirectRun *self)
{
    return self->schema;
}

void
direct_run_cancel(QueryDirectRun *self)
{
    g_atomic_int_set(&self->cancelled, QD_CANCEL_BY_CLIENT);
}

/* Work ------------------------------------------------------------------------------------------------------------------ */

/* From within a step. */
static gboolean
is_wanted(void *data)
{
    const QueryDirectRun *self = data;

    return !g_cancellable_is_cancelled(self->cancellable);
}

static gboolean
reserve(QueryDirectRun *self, gsize n_bytes, GError **error)
{
    if (self->buffer_bytes < n_bytes) {
        drop_buffer(self);
        self->buffer = g_try_malloc(n_bytes);
        if (self->buffer == NULL) {
            qd_error_set(error, QW_ERROR_NO_MEMORY, "no memory for a row of %zu bytes", n_bytes);
            return FALSE;
        }
        self->buffer_bytes = n_bytes;
    }
    qw_page_writer_init(&self->page, self->buffer, self->buffer_bytes, 0);
    return TRUE;
}

static QdRunStatus
fill(QueryDirectRun *self, gboolean first, GError **error)
{
    QdRunStatus status;
    gsize size;

    if (first)
        take_spare_buffer(self);
    if (!reserve(self, first ? FIRST_BUFFER_BYTES : PAGE_BYTES, error))
        return QD_RUN_FAILED;

    do {
        status = qd_run_fill(self->run, &self->page, first ? FIRST_PAGE_BYTES : SIZE_MAX, SLICE_USEC, error);
    } while (status == QD_RUN_SLICE && self->page.n_rows == 0);
    if (status != QD_RUN_LARGE)
        return status;

    if (!qd_run_get_row_size(self->run, PAGE_BYTES, &size, error) || !reserve(self, size, error))
        return QD_RUN_FAILED;
    return qd_run_fill(self->run, &self->page, 0, SLICE_USEC, error);
}

/* SQLite may have compiled the statement again inside its first step. */
static void
follow_schema(QueryDirectRun *self)
{
    g_autoptr(QuerySchema) old G_GNUC_UNUSED = NULL;
    QdShape shape;

    if (!qd_run_has_new_schema(self->run))
        return;
    old = self->schema;
    shape = qd_run_get_shape(self->run);
    self->schema = direct_create_schema(&shape);
}

/* Under the mutex. */
static void
work(QueryDirectRun *self)
{
    gboolean first = self->buffer == NULL;
    QdRunStatus status = fill(self, first, &self->failure);

    if (first)
        follow_schema(self);
    switch (status) {
    case QD_RUN_PAGE:
    case QD_RUN_SLICE:
        if (!self->is_listed)
            direct_snapshots_add(self->direct->snapshots, self, qd_limits_get(&self->direct->limits, QD_LIMIT_SNAPSHOT_AGE_MSEC));
        self->is_listed = TRUE;
        break;
    case QD_RUN_DONE:
        self->end.n_rows = qd_run_get_n_rows(self->run);
        self->end.elapsed_usec = qd_run_get_produced_usec(self->run);
        end_run(self);
        break;
    case QD_RUN_FAILED:
        end_run(self);
        break;
    case QD_RUN_LARGE:    /* fill() made room */
    case QD_RUN_DEFERRED: /* there is no long_func */
        g_assert_not_reached();
    }
}

void
direct_run_work(QueryDirectRun *self, GCancellable *cancellable)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);

    if (self->run == NULL)
        return;

    self->cancellable = cancellable;
    work(self);
    self->cancellable = NULL;
}

gpointer
direct_run_detach_page(QueryDirectRun *self)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);

    if (self->page.n_rows > 0) /* the next one is in its place */
        return NULL;
    self->buffer_bytes = 0;
    return g_steal_pointer(&self->buffer);
}

gboolean
direct_run_is_open(QueryDirectRun *self)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);

    return self->run != NULL;
}

gboolean
direct_run_expire(QueryDirectRun *self)
{
    if (pthread_mutex_trylock(&self->mutex) != 0)
        return FALSE;

    self->is_listed = FALSE; /* the caller does it */
    if (self->run != NULL) {
        qd_limit_set_error(&self->failure, &self->direct->limits, QD_LIMIT_SNAPSHOT_AGE_MSEC, "result is too old");
        end_run(self);
    }
    (void) pthread_mutex_unlock(&self->mutex);
    return TRUE;
}

QueryDirectResult
direct_run_take(QueryDirectRun *self, QwPageReader *ret_reader, QwEnd *ret_end, GError **error)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);

    if (self->page.n_rows > 0) {
        /* not qw_page_reader_init(): there is no stranger whose page would have to be validated */
        *ret_reader = (QwPageReader){ .data = self->page.data + QW_HEADER_SIZE,
                                      .n_bytes = self->page.used - QW_HEADER_SIZE,
                                      .n_columns = self->page.n_columns,
                                      .n_rows_left = self->page.n_rows };
        self->page.n_rows = 0;
        return QUERY_DIRECT_ROWS;
    }
    if (self->failure != NULL) {
        direct_propagate(error, g_error_copy(self->failure));
        return QUERY_DIRECT_FAILED;
    }
    if (self->run != NULL)
        return QUERY_DIRECT_WORK;

    *ret_end = self->end;
    return QUERY_DIRECT_END;
}

/* Start ----------------------------------------------------------------------------------------------------------------- */

static gboolean
bind(QueryDirectRun *self, const QueryParameters *parameters, GBytes *row, GError **error)
{
    g_autoptr(GError) failure = NULL;
    QwPageReader reader;
    const void *data;
    gsize n_bytes;

    self->row = row != NULL ? g_bytes_ref(row) : query_parameters_encode(parameters, self->schema, error);
    if (self->row == NULL)
        return FALSE;

    data = g_bytes_get_data(self->row, &n_bytes);
    if (n_bytes == 0) { /* the statement has no parameters */
        if (qd_run_bind_row(self->run, NULL, &failure))
            return TRUE;
        direct_propagate(error, g_steal_pointer(&failure));
        return FALSE;
    }
    reader = (QwPageReader){ .data = data, .n_bytes = n_bytes, .n_columns = self->schema->n_parameters, .n_rows_left = 1 };
    (void) qw_page_reader_next(&reader);
    if (qd_run_bind_row(self->run, &reader, &failure))
        return TRUE;

    direct_propagate(error, g_steal_pointer(&failure));
    return FALSE;
}

/* FALSE when the first page brought nothing but an error: then it is the statement's. */
static gboolean
work_first(QueryDirectRun *self, GCancellable *cancellable, GError **error)
{
    g_auto(QueryMutexHold) hold G_GNUC_UNUSED = query_mutex_hold(&self->mutex);

    self->cancellable = cancellable;
    work(self);
    self->cancellable = NULL;
    if (self->failure == NULL || self->page.n_rows > 0)
        return TRUE;

    if (!g_cancellable_set_error_if_cancelled(cancellable, error))
        direct_propagate(error, g_error_copy(self->failure));
    return FALSE;
}

static QueryDirectRun *
run_new(QueryDirect *direct, QueryDirectFile *file)
{
    QueryDirectRun *self = g_new0(QueryDirectRun, 1);

    self->head.table = &query_direct_table;
    self->ref_count = 1;
    self->direct = direct_ref(direct);
    self->file = file;
    (void) pthread_mutex_init(&self->mutex, NULL);
    return self;
}

QueryDirectRun *
direct_start(QueryDirect *direct, const QueryCommand *command, QuerySchema *known, const QueryParameters *parameters, GBytes *row,
             GCancellable *cancellable, GError **error)
{
    QueryDirectFile *file = direct_get_file(direct, error);
    g_autoptr(QueryDirectRun) self = file != NULL ? run_new(direct, file) : NULL;
    g_autoptr(GError) failure = NULL;
    QdRunOptions options = {
        .timeout_msec = command->timeout_msec >= 0 ? (uint64_t) command->timeout_msec
                                                   : qd_limits_get(&direct->limits, QD_LIMIT_QUERY_TIMEOUT_MSEC),
        .max_rows = command->max_rows,
        .peer_func = is_wanted,
        .func_data = self,
    };
    QdShape shape;

    if (self == NULL)
        return NULL;
    self->run = direct_compile(direct, file, command, FALSE, &failure);
    if (self->run == NULL) {
        direct_propagate(error, g_steal_pointer(&failure));
        return NULL;
    }

    shape = qd_run_get_shape(self->run);
    self->schema = known != NULL && known->signature == shape.signature ? query_schema_ref(known) : direct_create_schema(&shape);
    if (!bind(self, parameters, row, error))
        return NULL;

    options.cancelled = &self->cancelled;
    qd_run_set_options(self->run, &options);
    if (!work_first(self, cancellable, error))
        return NULL;

    return g_steal_pointer(&self);
}
