/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryStatement: prepared once, executed often, each time with one message to the daemon.
 *
 * Place: public object. It has a channel only while it runs or a cursor is open. Between executions the connection's pool has
 * the channel; the statement finds it there again unless another one has needed it.
 * Invariant: at most one cursor refers to a statement; the cursor holds the reference, `cursor` here is a plain pointer
 * that take_back() clears.
 */

#include "client-lib/channel/query-pipeline.h"
#include "client-lib/core/query-error.h"
#include "client-lib/query-connection-private.h"
#include "client-lib/query-cursor-private.h"
#include "client-lib/query-statement-private.h"

/* An async update that is not on its way yet. */
typedef struct Waiting {
    GTask *task;
    GBytes *row;
    guint n_rows;
} Waiting;

enum { PROP_CONNECTION = 1, PROP_LANGUAGE, PROP_TEXT, PROP_N_PARAMETERS, N_PROPS };

static GParamSpec *properties[N_PROPS];

G_DEFINE_TYPE(QueryStatement, query_statement, G_TYPE_OBJECT)

static void
query_statement_finalize(GObject *object)
{
    QueryStatement *self = QUERY_STATEMENT(object);

    if (self->connection != NULL)
        query_pool_unwant(query_connection_get_pool(self->connection), self->command->key);
    query_parameters_free(self->parameters);
    if (self->rows != NULL)
        g_byte_array_unref(self->rows);
    g_clear_pointer(&self->schema, query_schema_unref);
    g_clear_pointer(&self->command, query_command_unref);
    g_clear_object(&self->connection);
    G_OBJECT_CLASS(query_statement_parent_class)->finalize(object);
}

static void
query_statement_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    QueryStatement *self = QUERY_STATEMENT(object);

    if (id == PROP_CONNECTION)
        g_value_set_object(value, self->connection);
    else if (id == PROP_LANGUAGE)
        g_value_set_enum(value, (gint) query_statement_get_language(self));
    else if (id == PROP_TEXT)
        g_value_set_string(value, self->command != NULL ? self->command->text : NULL);
    else if (id == PROP_N_PARAMETERS)
        g_value_set_uint(value, query_statement_get_n_parameters(self));
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void
query_statement_class_init(QueryStatementClass *klass)
{
    const GParamFlags flags = G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;
    GObjectClass *object_class = G_OBJECT_CLASS(klass);

    object_class->finalize = query_statement_finalize;
    object_class->get_property = query_statement_get_property;

    /**
     * QueryStatement:connection:
     *
     * The connection that it belongs to.
     */
    properties[PROP_CONNECTION] = g_param_spec_object("connection", NULL, NULL, QUERY_TYPE_CONNECTION, flags);
    /**
     * QueryStatement:language:
     *
     * The language of the text.
     */
    properties[PROP_LANGUAGE] = g_param_spec_enum("language", NULL, NULL, QUERY_TYPE_LANGUAGE, QUERY_LANGUAGE_SQL, flags);
    /**
     * QueryStatement:text:
     *
     * The text of the statement.
     */
    properties[PROP_TEXT] = g_param_spec_string("text", NULL, NULL, NULL, flags);
    /**
     * QueryStatement:n-parameters:
     *
     * The number of parameters.
     */
    properties[PROP_N_PARAMETERS] = g_param_spec_uint("n-parameters", NULL, NULL, 0, G_MAXUINT, 0, flags);
    g_object_class_install_properties(object_class, N_PROPS, properties);
}

static void
query_statement_init(QueryStatement *self)
{
    self->parameters = query_parameters_new();
    g_queue_init(&self->waiting);
}

/* @channel: (transfer full) (nullable): idle. It serves the next execution. */
static void
keep_channel(QueryStatement *self, QueryChannel *channel)
{
    if (channel != NULL)
        query_pool_give_wanted(query_connection_get_pool(self->connection), channel);
}

static void
take_back(GObject *object, QueryCursor *cursor, QueryChannel *channel)
{
    QueryStatement *self = QUERY_STATEMENT(object);

    if (self->cursor == cursor)
        self->cursor = NULL;
    keep_channel(self, channel);
}

/* Preparing ------------------------------------------------------------------------------------------------------------ */

QueryStatement *
query_statement_new_prepared(QueryConnection *connection, QueryRequest *request)
{
    QueryStatement *self = g_object_new(QUERY_TYPE_STATEMENT, NULL);

    self->connection = g_object_ref(connection);
    self->command = query_command_ref(query_request_get_command(request));
    self->schema = query_schema_ref(query_request_get_schema(request));
    return self;
}

static QueryStatement *
prepare(QueryConnection *connection, QueryLanguage language, const char *text, gboolean writes, GCancellable *cancellable,
        GError **error)
{
    g_autoptr(QueryCommand) command = query_connection_create_command(connection, language, text, writes, error);
    g_autoptr(QueryRequest) request = NULL;
    QueryStatement *self;

    if (command == NULL)
        return NULL;

    request = query_request_new(query_connection_get_endpoint(connection), QUERY_REQUEST_PREPARE, command, NULL, NULL, NULL);
    if (!query_request_run(request, cancellable, error))
        return NULL;

    self = query_statement_new_prepared(connection, request);
    keep_channel(self, query_request_steal_channel(request));
    return self;
}

QueryStatement *
query_connection_prepare(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable, GError **error)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), NULL);
    g_return_val_if_fail(text != NULL, NULL);

    return prepare(self, language, text, FALSE, cancellable, error);
}

QueryStatement *
query_connection_prepare_update(QueryConnection *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                                GError **error)
{
    g_return_val_if_fail(QUERY_IS_CONNECTION(self), NULL);
    g_return_val_if_fail(text != NULL, NULL);

    return prepare(self, language, text, TRUE, cancellable, error);
}

QueryLanguage
query_statement_get_language(QueryStatement *self)
{
    const char *sparql = query_language_get_name(QUERY_LANGUAGE_SPARQL);

    g_return_val_if_fail(QUERY_IS_STATEMENT(self), QUERY_LANGUAGE_SQL);

    return self->command != NULL && g_str_equal(self->command->language, sparql) ? QUERY_LANGUAGE_SPARQL : QUERY_LANGUAGE_SQL;
}

guint
query_statement_get_n_parameters(QueryStatement *self)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), 0);

    return self->schema != NULL ? self->schema->n_parameters : 0;
}

const char *
query_statement_get_parameter_name(QueryStatement *self, guint index)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), NULL);
    g_return_val_if_fail(index < query_statement_get_n_parameters(self), NULL);

    return self->schema->parameter_names[index];
}

/* Executing ------------------------------------------------------------------------------------------------------------ */

/* (transfer full) (nullable): the values of the next execution, of all rows that were added or of those bound. */
static GBytes *
take_rows(QueryStatement *self, guint *ret_n_rows, GError **error)
{
    g_autoptr(GBytes) page = NULL;
    GBytes *rows;

    if (!query_statement_check_made(self, error))
        return NULL;
    if (self->n_rows == 0) {
        rows = query_parameters_encode(self->parameters, self->schema, error);
        *ret_n_rows = rows != NULL && g_bytes_get_size(rows) > 0 ? 1 : 0;
        return rows;
    }
    *ret_n_rows = self->n_rows;
    self->n_rows = 0;
    page = g_byte_array_free_to_bytes(g_steal_pointer(&self->rows));
    return g_bytes_new_from_bytes(page, QW_HEADER_SIZE, g_bytes_get_size(page) - QW_HEADER_SIZE);
}

static QueryRequest *
create_request_of_rows(QueryStatement *self, QueryRequestKind kind, GBytes *rows, guint n_rows)
{
    QueryPool *pool = query_connection_get_pool(self->connection);
    QueryRequest *request;

    if (self->cursor != NULL)
        query_cursor_close(self->cursor); /* gives the channel back if its result is whole */
    request = query_request_new(query_connection_get_endpoint(self->connection), kind, self->command, NULL, rows,
                                query_pool_take_prepared(pool, self->command->key));
    query_request_set_n_rows(request, n_rows);
    query_request_set_schema(request, self->schema);
    return request;
}

static QueryRequest *
create_request(QueryStatement *self, QueryRequestKind kind, GError **error)
{
    guint n_rows = 0;
    g_autoptr(GBytes) rows = take_rows(self, &n_rows, error);

    return rows != NULL ? create_request_of_rows(self, kind, rows, n_rows) : NULL;
}

QueryRequest *
query_statement_create_request_on(QueryStatement *self, QueryConnection *connection, QueryChannel **channel, GError **error)
{
    guint n_rows = 0;
    g_autoptr(GBytes) rows = NULL;
    QueryRequest *request;

    if (self->connection != connection) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "the statement belongs to another connection");
        return NULL;
    }
    rows = take_rows(self, &n_rows, error);
    if (rows == NULL)
        return NULL;
    request = query_request_new(query_connection_get_endpoint(self->connection), QUERY_REQUEST_ROWS, self->command, NULL, rows,
                                g_steal_pointer(channel));
    query_request_set_n_rows(request, n_rows);
    query_request_set_schema(request, self->schema);
    return request;
}

static QueryCursor *
finish_execute(QueryStatement *self, QueryRequest *request)
{
    QueryCursor *old = self->cursor;

    if (old != NULL)
        query_cursor_close(old); /* two executions were under way */
    self->cursor = query_cursor_new(
        self->connection, request,
        &(QueryCursorOpener){ .object = &self->parent_instance, .take_back = take_back, .is_update = self->command->writes });
    return self->cursor;
}

static gint64
finish_update(QueryStatement *self, QueryRequest *request)
{
    const QwEnd *end = query_request_get_end(request);

    self->last_insert_rowid = end->last_insert_rowid;
    self->generation = end->generation;
    keep_channel(self, query_request_steal_channel(request));
    return end->changes;
}

QueryCursor *
query_statement_execute(QueryStatement *self, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryRequest) request = NULL;

    g_return_val_if_fail(QUERY_IS_STATEMENT(self), NULL);

    request = create_request(self, QUERY_REQUEST_ROWS, error);
    if (request == NULL || !query_request_run(request, cancellable, error))
        return NULL;

    return finish_execute(self, request);
}

gint64
query_statement_update(QueryStatement *self, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryRequest) request = NULL;

    g_return_val_if_fail(QUERY_IS_STATEMENT(self), -1);

    request = create_request(self, QUERY_REQUEST_UPDATE, error);
    if (request == NULL || !query_request_run(request, cancellable, error))
        return -1;

    return finish_update(self, request);
}

static void
on_execute_done(GTask *task, QueryRequest *request)
{
    g_task_return_pointer(task, finish_execute(g_task_get_source_object(task), request), g_object_unref);
}

static void
on_update_done(GTask *task, QueryRequest *request)
{
    g_task_return_int(task, finish_update(g_task_get_source_object(task), request));
}

void
query_statement_execute_async(QueryStatement *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = NULL;
    GError *error = NULL;

    g_return_if_fail(QUERY_IS_STATEMENT(self));

    task = g_task_new(self, cancellable, callback, user_data);
    g_task_set_source_tag(task, query_statement_execute_async);
    query_request_run_async(create_request(self, QUERY_REQUEST_ROWS, &error), task, on_execute_done, &error);
}

QueryCursor *
query_statement_execute_finish(QueryStatement *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}

/* Many async updates ----------------------------------------------------------------------------------------------------- */

static void start_update(QueryStatement *self, GTask *task, GBytes *row, guint n_rows);

static void
on_pushed_done(GTask *task, const QwEnd *end)
{
    QueryStatement *self = g_task_get_source_object(task);

    self->last_insert_rowid = end->last_insert_rowid;
    self->generation = end->generation;
    g_task_return_int(task, end->changes);
}

static void
on_pipeline_ended(gpointer user_data, QueryChannel *channel)
{
    g_autoptr(QueryStatement) self = user_data;

    self->pipeline = NULL;
    keep_channel(self, channel);
}

/* The channel is there: no update needs to wait for the one before. Returns: FALSE when it is not, or not of use. */
static gboolean
ensure_pipeline(QueryStatement *self)
{
    QueryPipelineFuncs funcs = { .done = on_pushed_done, .ended = on_pipeline_ended };
    g_autoptr(QueryChannel) channel = NULL;

    if (self->pipeline != NULL)
        return TRUE;
    channel = query_pool_take_prepared(query_connection_get_pool(self->connection), self->command->key);
    if (channel == NULL || !query_channel_is_quiet(channel))
        return FALSE;

    funcs.user_data = g_object_ref(self);
    self->pipeline = query_pipeline_new(g_steal_pointer(&channel), &funcs);
    return TRUE;
}

/* The update that was to open a channel is over; the updates that waited for it go on. */
static void
stop_opening(QueryStatement *self)
{
    GQueue waiting = self->waiting;

    self->is_opening = FALSE;
    g_queue_init(&self->waiting);
    while (!g_queue_is_empty(&waiting)) {
        Waiting *next = g_queue_pop_head(&waiting);
        g_autoptr(GTask) task = next->task;

        start_update(self, task, next->row, next->n_rows);
        g_bytes_unref(next->row);
        g_free(next);
    }
}

static void
on_opened(GObject *object, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GTask) task = G_TASK(user_data);
    GError *error = NULL;
    gint64 changes = g_task_propagate_int(G_TASK(result), &error);

    stop_opening(QUERY_STATEMENT(object));
    if (error != NULL)
        g_task_return_error(task, error);
    else
        g_task_return_int(task, changes);
}

static void
wait_for_channel(QueryStatement *self, GTask *task, GBytes *row, guint n_rows)
{
    Waiting *waiting = g_new0(Waiting, 1);

    *waiting = (Waiting){ .task = g_object_ref(task), .row = g_bytes_ref(row), .n_rows = n_rows };
    g_queue_push_tail(&self->waiting, waiting);
}

/* One that may be cancelled alone has a channel of its own. */
static void
start_update(QueryStatement *self, GTask *task, GBytes *row, guint n_rows)
{
    g_autoptr(GTask) opener = NULL;

    if (g_task_get_cancellable(task) != NULL || query_connection_get_direct(self->connection) != NULL) {
        query_request_run_async(create_request_of_rows(self, QUERY_REQUEST_UPDATE, row, n_rows), task, on_update_done, NULL);
        return;
    }
    if (self->is_opening) {
        wait_for_channel(self, task, row, n_rows);
        return;
    }
    if (ensure_pipeline(self) && query_pipeline_fits(self->pipeline, task)) {
        query_pipeline_push(self->pipeline, row, n_rows, g_object_ref(task));
        return;
    }
    self->is_opening = self->pipeline == NULL;
    opener = g_task_new(self, NULL, on_opened, g_object_ref(task));
    query_request_run_async(create_request_of_rows(self, QUERY_REQUEST_UPDATE, row, n_rows), opener, on_update_done, NULL);
}

void
query_statement_update_async(QueryStatement *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = NULL;
    g_autoptr(GBytes) rows = NULL;
    GError *error = NULL;
    guint n_rows;

    g_return_if_fail(QUERY_IS_STATEMENT(self));

    task = g_task_new(self, cancellable, callback, user_data);
    g_task_set_source_tag(task, query_statement_update_async);
    rows = take_rows(self, &n_rows, &error);
    if (rows != NULL)
        start_update(self, task, rows, n_rows);
    else
        g_task_return_error(task, error);
}

gint64
query_statement_update_finish(QueryStatement *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), -1);

    return g_task_propagate_int(G_TASK(result), error);
}

gint64
query_statement_get_last_insert_rowid(QueryStatement *self)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), 0);

    return self->last_insert_rowid;
}

guint64
query_statement_get_generation(QueryStatement *self)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), 0);

    return self->generation;
}
