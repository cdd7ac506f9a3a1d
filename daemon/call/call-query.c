/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls that read: Prepare, Query, Explain (QueryText: call-text.c). They run to their end on one worker; results are small by
 * limit.
 */
#include <string.h>

#include "daemon/base/error.h"
#include "daemon/call/call-classes.h"
#include "daemon/call/call-private.h"
#include "daemon/channel/channel.h"
#include "daemon/plan/compile.h"
#include "daemon/read/bind.h"
#include "daemon/read/run.h"
#include "daemon/runtime/context.h"
#include "daemon/runtime/registry.h"
#include "daemon/runtime/workers.h"
#include "daemon/sqlite/connection.h"

#define SLICE_USEC 10000

/* Of rows; D-Bus takes messages of 128 MiB, in which a small value takes several times as much room. */
#define MESSAGE_ROWS_MAX (UINT64_C(32) * 1024 * 1024)

/* SQL text that shows what SQLite does; a prefix keeps it one statement. */
#define EXPLAIN_PREFIX "EXPLAIN QUERY PLAN "

static QdLongVerdict
may_be_long(void *data, gboolean can_defer)
{
    QdCall *call = data;
    QdLongVerdict verdict = qd_workers_become_long(call->private->context->workers, call->client);

    return call->class->runs_to_its_end ? QD_LONG_GRANTED : verdict;
}

static uint64_t
get_rest(void *data)
{
    return qd_workers_get_rest_usec(((QdCall *) data)->private->context->workers);
}

/* That a caller may ask for, and that one row may have. The bus disconnects the sender of a message that is too large. */
static uint64_t
get_most_by_value(const QdLimits *limits)
{
    return MIN(16 * qd_limits_get(limits, QD_LIMIT_VALUE_RESULT_BYTES), MESSAGE_ROWS_MAX);
}

static QdRun *
start_run_of(QdCall *call, const QdRunText *what, QdPolicy policy, GError **error)
{
    QdContext *context = call->private->context;
    g_autoptr(QdRun) run = NULL;
    QdRunText timed = *what;
    QdRunOptions options = {
        .timeout_msec = qd_context_get_timeout_msec(context, QD_LIMIT_QUERY_TIMEOUT_MSEC, call->options.execution.has_timeout,
                                                    call->options.execution.timeout_msec),
        .begun_usec = call->private->begun_usec,
        .max_rows = call->options.execution.max_rows,
        .max_bytes = call->options.execution.max_bytes,
        .generation = qd_writer_get_generation(context->writer),
        .cancelled = &call->private->entry.cancelled,
        .long_func = may_be_long,
        .rest_func = get_rest,
        .tell_func = qd_call_tell,
        .func_data = call,
    };

    timed.timeout_msec = options.timeout_msec;
    timed.begun_usec = options.begun_usec;
    timed.is_executed = policy == QD_POLICY_READ;
    run = qd_run_new(context->pool, call->client, NULL, &timed, policy, &context->limits, error);
    if (run == NULL)
        return NULL;

    if (call->class->is_by_value) {
        uint64_t max_rows = qd_limits_get(&context->limits, QD_LIMIT_VALUE_ROWS);
        uint64_t max_bytes = qd_limits_get(&context->limits, QD_LIMIT_VALUE_RESULT_BYTES);

        options.max_rows = options.max_rows > 0 ? options.max_rows : max_rows;
        options.max_bytes = MIN(options.max_bytes > 0 ? options.max_bytes : max_bytes, get_most_by_value(&context->limits));
    }
    qd_run_set_options(run, &options);
    return g_steal_pointer(&run);
}

static QdRun *
start_run(QdCall *call, QdLanguage language, const char *text, QdPolicy policy, GError **error)
{
    const QdRunText what = {
        .language = language, .text = text, .n_bytes = strlen(text), .base = call->options.base, .dataset = call->options.dataset
    };

    return start_run_of(call, &what, policy, error);
}

void
qd_call_describe_columns(QdCall *call, const QdShape *shape)
{
    g_array_set_size(call->result.columns, 0);
    for (guint i = 0; i < shape->n_columns; i++) {
        QdCallColumn column = { .name = g_strdup(qd_shape_get_column_name(shape, i)) };

        if (!call->class->is_by_value) /* rows by value come with the names alone */
            column.decl_type = g_strdup(qd_shape_get_column_type(shape, i));

        g_array_append_val(call->result.columns, column);
    }
}

static void
describe_parameters(QdCall *call, const QdShape *shape)
{
    for (guint i = 0; i < shape->n_parameters; i++) {
        QdCallParameter parameter = { .index = i + 1, .name = g_strdup(qd_shape_get_parameter_name(shape, i)) };

        g_array_append_val(call->result.parameters, parameter);
    }
}

static gboolean
check_row_size(const QdCall *call, gsize size, GError **error)
{
    const QdLimits *limits = &call->private->context->limits;

    if (!call->class->is_by_value || size <= get_most_by_value(limits))
        return TRUE;

    qd_limit_set_error(error, limits, QD_LIMIT_VALUE_RESULT_BYTES,
                       "a row of %zu bytes is too big for a message of the bus, take it by Prepare or Export", size);
    return FALSE;
}

/* @buffer: of QW_PAGE_SIZE_DEFAULT bytes. A row that is larger gets a page of its own, @ret_large. */
static QdRunStatus
fill_page(const QdCall *call, QdRun *run, uint8_t *buffer, uint8_t **ret_large, QwPageWriter *page, GError **error)
{
    QdRunStatus status;

    qw_page_writer_init(page, buffer, QW_PAGE_SIZE_DEFAULT, 0);
    status = qd_run_fill(run, page, SIZE_MAX, SLICE_USEC, error);
    if (status == QD_RUN_LARGE) {
        gsize size;

        if (!qd_run_get_row_size(run, QW_PAGE_SIZE_DEFAULT, &size, error) || !check_row_size(call, size, error))
            return QD_RUN_FAILED;
        *ret_large = g_malloc(size);
        qw_page_writer_init(page, *ret_large, size, 0);
        status = qd_run_fill(run, page, 0, SLICE_USEC, error);
    }
    return status;
}

/* A caller who waits for the result's text waits for its making, too: that counts, but for the time in which its reader takes
 * nothing. */
static gboolean
give_page(QdCall *call, QdRun *run, const uint8_t *body, const QwPageWriter *page, QdPageFunc func, void *data, GError **error)
{
    uint64_t start = (uint64_t) g_get_monotonic_time() - call->private->waited_usec;
    gboolean ok = func(call, body, page->used - QW_HEADER_SIZE, page->n_rows, page->n_columns, data, error);

    qd_run_add_wait(run, (uint64_t) g_get_monotonic_time() - call->private->waited_usec - start);
    return ok;
}

/* The page is on the stack: each free() of a block of this size makes glibc sort all small blocks of the thread's arena. */
gboolean
qd_call_pull_pages(QdCall *call, QdRun *run, QdPageFunc func, void *data, GError **error)
{
    uint8_t buffer[QW_PAGE_SIZE_DEFAULT];

    for (;;) {
        g_autofree uint8_t *large = NULL;
        QwPageWriter page;
        QdRunStatus status = fill_page(call, run, buffer, &large, &page, error);
        const uint8_t *body = (large != NULL ? large : buffer) + QW_HEADER_SIZE;

        call->private->deferred = status == QD_RUN_DEFERRED;
        if (status == QD_RUN_FAILED || status == QD_RUN_DEFERRED)
            return FALSE;
        if (page.n_rows > 0 && !give_page(call, run, body, &page, func, data, error))
            return FALSE;
        __atomic_store_n(&call->progress.rows_done, qd_run_get_n_rows(run), __ATOMIC_RELAXED);
        if (status == QD_RUN_DONE)
            break;
    }
    call->result.truncated = qd_run_is_truncated(run);
    call->result.n_rows = qd_run_get_n_rows(run);
    call->result.generation = qd_run_get_generation(run);
    __atomic_add_fetch(&call->private->context->counters.n_rows, call->result.n_rows, __ATOMIC_RELAXED);
    return TRUE;
}

static gboolean
keep_page(QdCall *call, const uint8_t *body, gsize n_bytes, uint32_t n_rows, uint32_t n_columns, void *data, GError **error)
{
    if (!qd_call_charge_result(call, n_bytes, error))
        return FALSE;
    g_ptr_array_add(call->result.pages, g_bytes_new(body, n_bytes));
    g_array_append_val(call->result.page_rows, n_rows);
    return TRUE;
}

QdRun *
qd_call_start_bound_run(QdCall *call, GError **error)
{
    const QdCallStatement *statement = &g_array_index(call->statements, QdCallStatement, 0);
    g_autoptr(QdRun) run = start_run(call, statement->language, statement->text, QD_POLICY_READ, error);

    if (run == NULL || !qd_run_bind_parameters(run, statement->parameters, error))
        return NULL;

    qd_registry_set_state(call->private->context->registry, &call->private->entry, "running", TRUE);
    return g_steal_pointer(&run);
}

static void
run_query(QdCall *call, GError **error)
{
    g_autoptr(QdRun) run = qd_call_start_bound_run(call, error);

    if (run != NULL && qd_call_pull_pages(call, run, keep_page, NULL, error)) {
        const QdShape shape = qd_run_get_shape(run);

        qd_call_describe_columns(call, &shape);
    }
}

const QdCallClass qd_query_call = {
    .name = "Query",
    .options = QD_TAKES(TIMEOUT) | QD_TAKES(MAX_ROWS) | QD_TAKES(MAX_BYTES) | QD_TAKES(BASE) | QD_TAKES(DATASET),
    .reads = TRUE,
    .is_by_value = TRUE,
    .obeys_access = TRUE,
    .run = run_query,
};

/* Prepare ------------------------------------------------------------------------------------------------------------- */

/* @ret_row: (out) (nullable): of the FETCH with which it begins, for a pipe or with the option. */
static gboolean
encode_parameters(const QdCall *call, QdShape *shape, GBytes **ret_row, GError **error)
{
    const QdCallStatement *statement = &g_array_index(call->statements, QdCallStatement, 0);
    gboolean is_pipe = qd_transport_is_pipe(call->options.channel.transport);

    if (call->options.channel.fetches && call->options.execution.access_write) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option 'fetch' is for queries: an update is asked for by FETCH");
        return FALSE;
    }
    if (!is_pipe && !call->options.channel.fetches) {
        if (statement->parameters == NULL || qd_parameters_get_n(statement->parameters) == 0)
            return TRUE;
        qd_error_set(error, QW_ERROR_BAD_PARAMETER,
                     "parameters of a two-way channel come with FETCH, or with Prepare and its option 'fetch'");
        return FALSE;
    }
    if (is_pipe)
        shape->n_parameters = qd_shape_get_n_names(shape); /* by name any is one */
    *ret_row = qd_bind_encode_row(shape, statement->parameters, error);
    return *ret_row != NULL;
}

/* What counts for the deadline of the channel's first request. */
static uint64_t
get_first_spent_usec(const QdCall *call)
{
    const QdChannelOptions *options = &call->options.channel;
    gboolean runs_at_once = options->fetches || qd_transport_is_pipe(options->transport);

    return runs_at_once || options->requested_usec > 0 ? qd_call_get_spent_usec(call) : 0;
}

static void
run_prepare(QdCall *call, GError **error)
{
    QdContext *context = call->private->context;
    const QdCallStatement *statement = &g_array_index(call->statements, QdCallStatement, 0);
    QdPolicy policy = call->options.execution.access_write ? QD_POLICY_WRITE : QD_POLICY_READ;
    const QdRunText what = { .language = statement->language,
                             .text = statement->text,
                             .n_bytes = strlen(statement->text),
                             .base = call->options.base,
                             .dataset = call->options.dataset,
                             .is_described = TRUE };
    g_autoptr(GBytes) row = NULL;
    g_autoptr(QdRun) run = NULL;
    QdShape shape;
    QdChannelSetup setup = { .channel = call->options.channel,
                             .execution = call->options.execution,
                             .base = call->options.base,
                             .dataset = call->options.dataset,
                             .shape = &shape,
                             .error_details = call->options.error_details };

    if (call->options.execution.access_write && !qd_client_check_write(call->client, error))
        return;
    run = start_run_of(call, &what, policy, error);
    if (run == NULL)
        return;
    setup.language = statement->language;
    shape = qd_run_get_shape(run);
    if (call->options.channel.refuses_control && !qd_shape_check_control(&shape, error))
        return;

    if (!encode_parameters(call, &shape, &row, error))
        return;

    call->result.page_size = call->options.channel.page_size > 0 ? call->options.channel.page_size : QW_PAGE_SIZE_DEFAULT;
    call->result.writes = shape.writes;
    call->result.is_stable = shape.is_stable;
    qd_call_describe_columns(call, &shape);
    describe_parameters(call, &shape);
    setup.channel.page_size = call->result.page_size;
    setup.spent_usec = get_first_spent_usec(call);
    setup.text = statement->text;
    setup.n_text_bytes = strlen(statement->text);
    setup.parameters = row;
    qd_call_discharge(call); /* text and parameters are the channel's now */
    (void) qd_channels_open(context->channels, call->client, &setup, &call->result.channel_fd, error);
}

const QdCallClass qd_prepare_call = {
    .name = "Prepare",
    .options = QD_TAKES(TRANSPORT) | QD_TAKES(PAGE_SIZE) | QD_TAKES(ACCESS) | QD_TAKES(TIMEOUT) | QD_TAKES(MAX_ROWS) |
               QD_TAKES(MAX_BYTES) | QD_TAKES(RESULTS) | QD_TAKES(DURABILITY) | QD_TAKES(ERROR_DETAILS) | QD_TAKES(SCHEMA_DETAILS) |
               QD_TAKES(WHOLE_RESULTS) | QD_TAKES(TEXT_TRANSACTIONS) | QD_TAKES(FETCH) | QD_TAKES(REQUESTED) | QD_TAKES(SESSION) |
               QD_TAKES(BASE) | QD_TAKES(DATASET),
    .reads = TRUE,
    .obeys_access = TRUE,
    .run = run_prepare,
};

/* Explain ------------------------------------------------------------------------------------------------------------- */

static gboolean
put_plan(QdCall *call, const uint8_t *body, gsize n_bytes, uint32_t n_rows, uint32_t n_columns, void *data, GError **error)
{
    QwPageReader reader;
    GHashTable *depths = data;

    if (n_columns < 4 || qw_page_reader_init(&reader, body, n_bytes, n_rows, n_columns) < 0)
        return TRUE;
    while (qw_page_reader_next(&reader)) {
        QwValue id;
        QwValue parent;
        QwValue detail;
        gint depth;

        qw_page_reader_get(&reader, 0, &id);
        qw_page_reader_get(&reader, 1, &parent);
        qw_page_reader_get(&reader, 3, &detail);
        depth = GPOINTER_TO_INT(g_hash_table_lookup(depths, GINT_TO_POINTER((gint) parent.integer)));
        g_hash_table_insert(depths, GINT_TO_POINTER((gint) id.integer), GINT_TO_POINTER(depth + 1));
        g_string_append_printf(call->result.text, "%*s%s\n", 2 * depth, "", detail.data);
    }
    return TRUE;
}

static gboolean
count_page(QdCall *call, const uint8_t *body, gsize n_bytes, uint32_t n_rows, uint32_t n_columns, void *data, GError **error)
{
    return TRUE;
}

/* @probe: compiled the statement first, and so may have filled the caches that others find it in. */
static void
put_compile_times(QdCall *call, const QdRun *probe, gboolean is_sparql)
{
    uint64_t plan_usec;
    uint64_t prepare_usec;

    qd_run_get_compile_times(probe, &plan_usec, &prepare_usec);
    if (is_sparql)
        g_string_append_printf(call->result.text, "parse and plan: %.3f ms, ", (double) plan_usec / 1000.0);
    g_string_append_printf(call->result.text, "prepare: %.3f ms\n", (double) prepare_usec / 1000.0);
}

static void
analyze_query(QdCall *call, const QdCallStatement *statement, GError **error)
{
    g_autoptr(QdRun) run = start_run(call, statement->language, statement->text, QD_POLICY_READ, error);
    gint64 start = g_get_monotonic_time();

    if (run == NULL || (statement->language == QD_LANGUAGE_SPARQL && !qd_run_bind_row(run, NULL, error)))
        return;
    if (qd_call_pull_pages(call, run, count_page, NULL, error))
        g_string_append_printf(call->result.text, "rows: %" G_GUINT64_FORMAT ", time: %.3f ms\n", call->result.n_rows,
                               (double) (g_get_monotonic_time() - start) / 1000.0);
}

/* SQLite's plan of the call's SQL goes to its text. */
static gboolean
explain_sql(QdCall *call, gboolean is_generated, GError **error)
{
    const char *sql = call->result.sql;
    g_autofree char *text = g_strconcat(EXPLAIN_PREFIX, qd_connection_skip_empty(sql, sql + strlen(sql)), NULL);
    const QdRunText what = { .language = QD_LANGUAGE_SQL, .text = text, .n_bytes = strlen(text), .is_generated = is_generated };
    g_autoptr(GHashTable) depths = g_hash_table_new(NULL, NULL);
    g_autoptr(QdRun) run = start_run_of(call, &what, QD_POLICY_WRITE, error);

    return run != NULL && qd_call_pull_pages(call, run, put_plan, depths, error);
}

/* Algebra and join orders before SQLite's plan; an update has them for each WHERE. */
static void
describe_plan(QdCall *call, const QdSparqlPlan *plan)
{
    g_autoptr(GString) sql = g_string_new(plan->is_update ? NULL : plan->query.sql);
    g_autofree char *description = qd_sparql_plan_print(plan);

    for (guint i = 0; i < plan->n_operations; i++) {
        if (plan->operations[i].where.sql != NULL)
            g_string_append_printf(sql, "%s%s", sql->len > 0 ? ";\n" : "", plan->operations[i].where.sql);
    }
    call->result.sql = g_string_free(g_steal_pointer(&sql), FALSE);
    call->result.text = g_string_new(description);
}

static void
run_explain(QdCall *call, GError **error)
{
    const QdCallStatement *statement = &g_array_index(call->statements, QdCallStatement, 0);
    gboolean is_sparql = statement->language == QD_LANGUAGE_SPARQL;

    /* the statement by itself first: its errors name the place in the caller's text */
    {
        g_autoptr(QdRun) probe = start_run(call, statement->language, statement->text, QD_POLICY_WRITE, error);
        QdShape shape;

        if (probe == NULL)
            return;
        shape = qd_run_get_shape(probe);
        if (shape.plan != NULL) {
            describe_plan(call, shape.plan);
        } else {
            call->result.sql = g_strdup(statement->text);
            call->result.text = g_string_new(NULL);
        }
        if (shape.plan != NULL && shape.plan->is_update)
            return;
        if (call->options.analyze)
            put_compile_times(call, probe, is_sparql);
    }
    if (explain_sql(call, is_sparql, error) && call->options.analyze)
        analyze_query(call, statement, error);
}

const QdCallClass qd_explain_call = {
    .name = "Explain",
    .options = QD_TAKES(TIMEOUT) | QD_TAKES(ANALYZE) | QD_TAKES(BASE) | QD_TAKES(DATASET),
    .reads = TRUE,
    .runs_to_its_end = TRUE,
    .run = run_explain,
};
