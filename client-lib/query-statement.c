/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryStatement: prepared once, executed often, each time with one message to the daemon.
 *
 * Place: public object. It has a channel only while it runs or a cursor is open. Between executions the connection's pool has
 * the channel; the statement finds it there again unless another one has needed it.
 * Invariant: at most one cursor refers to a statement; the cursor holds the reference, `cursor` here is a plain pointer
 * that take_back() clears.
 */
#include <string.h>

#include "client-lib/core/query-error.h"
#include "client-lib/core/query-pipeline.h"
#include "client-lib/query-connection-private.h"
#include "client-lib/query-cursor-private.h"
#include "client-lib/query-statement-private.h"

/* What the daemon takes in one request, with room for the text of none. */
#define ROWS_MAX_BYTES (64u * 1024u * 1024u)

/* An async update that is not on its way yet. */
typedef struct Waiting {
    GTask *task;
    GBytes *row;
    guint n_rows;
} Waiting;

struct _QueryStatement {
    GObject parent_instance;
    QueryConnection *connection;
    QueryCommand *command;
    QuerySchema *schema;
    QueryParameters *parameters;
    QueryCursor *cursor;     /* borrowed */
    QueryPipeline *pipeline; /* (nullable) has the channel while async updates are under way */
    GQueue waiting;          /* of Waiting: async updates, until the one that opens a channel is done */
    gboolean is_opening;
    GByteArray *rows; /* (nullable) that were added */
    guint n_rows;
    gint64 last_insert_rowid;
    guint64 generation;
};

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
query_statement_class_init(QueryStatementClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = query_statement_finalize;
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

static gboolean
check_made(const QueryStatement *self, GError **error)
{
    return query_connection_check_made(self->connection, "query_connection_prepare", error);
}

/* Bindings ------------------------------------------------------------------------------------------------------------- */

/* Consumes @owner, also on failure. */
static gboolean
bind(QueryStatement *self, const char *name, const QwValue *value, gpointer owner, GDestroyNotify destroy, GError **error)
{
    guint index;

    if (!check_made(self, error) || !query_schema_find_parameter(self->schema, name, &index, error)) {
        if (destroy != NULL)
            destroy(owner);
        return FALSE;
    }

    query_parameters_set(self->parameters, index, value, owner, destroy);
    return TRUE;
}

/* FALSE for what a row cannot carry; TOO_BIG then. */
static gboolean
check_size(const char *name, gsize n_bytes, GError **error)
{
    if (n_bytes <= QW_ROWS_SIZE_MAX)
        return TRUE;

    g_set_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG, "parameter '%s' takes %" G_GSIZE_FORMAT " bytes, the limit is %u", name,
                n_bytes, QW_ROWS_SIZE_MAX);
    return FALSE;
}

gboolean
query_statement_bind_null(QueryStatement *self, const char *name, GError **error)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);

    return bind(self, name, &(QwValue){ .type = QW_TYPE_NULL }, NULL, NULL, error);
}

gboolean
query_statement_bind_int64(QueryStatement *self, const char *name, gint64 value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);

    return bind(self, name, &(QwValue){ .type = QW_TYPE_INTEGER, .integer = value }, NULL, NULL, error);
}

gboolean
query_statement_bind_double(QueryStatement *self, const char *name, double value, GError **error)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);

    return bind(self, name, &(QwValue){ .type = QW_TYPE_FLOAT, .real = value }, NULL, NULL, error);
}

/* Binds copies of a string and, for literals, of its tag. */
static gboolean
bind_term(QueryStatement *self, const char *name, QwType type, const char *data, gsize n_bytes, const char *tag, GError **error)
{
    gsize n_tag_bytes = tag != NULL ? strlen(tag) : 0;
    QwValue value = { .type = type };
    char *copy;

    if (!check_size(name, n_bytes, error) || !check_size(name, n_tag_bytes, error))
        return FALSE;

    copy = g_malloc(n_bytes + 1 + n_tag_bytes + 1);
    memcpy(copy, data, n_bytes);
    copy[n_bytes] = '\0';
    memcpy(copy + n_bytes + 1, tag != NULL ? tag : "", n_tag_bytes + 1);
    value.data = copy;
    value.n_bytes = (uint32_t) n_bytes;
    value.tag = tag != NULL ? copy + n_bytes + 1 : NULL;
    value.n_tag_bytes = (uint32_t) n_tag_bytes;
    return bind(self, name, &value, copy, g_free, error);
}

gboolean
query_statement_bind_string(QueryStatement *self, const char *name, const char *value, gssize n_bytes, GError **error)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);
    g_return_val_if_fail(value != NULL, FALSE);

    return bind_term(self, name, QW_TYPE_TEXT, value, n_bytes < 0 ? strlen(value) : (gsize) n_bytes, NULL, error);
}

gboolean
query_statement_bind_bytes(QueryStatement *self, const char *name, GBytes *value, GError **error)
{
    QwValue blob = { .type = QW_TYPE_BLOB };
    gsize n_bytes;

    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);
    g_return_val_if_fail(value != NULL, FALSE);

    blob.data = g_bytes_get_data(value, &n_bytes);
    blob.n_bytes = (uint32_t) n_bytes;
    if (!check_size(name, n_bytes, error))
        return FALSE;

    return bind(self, name, &blob, g_bytes_ref(value), (GDestroyNotify) g_bytes_unref, error);
}

gboolean
query_statement_bind_iri(QueryStatement *self, const char *name, const char *iri, GError **error)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);
    g_return_val_if_fail(iri != NULL, FALSE);

    return bind_term(self, name, QW_TYPE_IRI, iri, strlen(iri), NULL, error);
}

gboolean
query_statement_bind_literal(QueryStatement *self, const char *name, const char *lexical, const char *datatype,
                             const char *language, GError **error)
{
    QwType type = QW_TYPE_TEXT;

    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);
    g_return_val_if_fail(name != NULL, FALSE);
    g_return_val_if_fail(lexical != NULL, FALSE);
    g_return_val_if_fail(datatype == NULL || language == NULL, FALSE);

    if (datatype != NULL)
        type = QW_TYPE_LITERAL_TYPED;
    else if (language != NULL)
        type = QW_TYPE_LITERAL_LANG;

    return bind_term(self, name, type, lexical, strlen(lexical), datatype != NULL ? datatype : language, error);
}

void
query_statement_clear_bindings(QueryStatement *self)
{
    g_return_if_fail(QUERY_IS_STATEMENT(self));

    query_parameters_clear(self->parameters);
}

gboolean
query_statement_add_row(QueryStatement *self, GError **error)
{
    g_return_val_if_fail(QUERY_IS_STATEMENT(self), FALSE);

    if (!check_made(self, error))
        return FALSE;
    if (self->schema->n_parameters == 0) {
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER,
                            "the statement has no parameters: it has no rows of them");
        return FALSE;
    }
    if (self->rows == NULL)
        self->rows = g_byte_array_set_size(g_byte_array_new(), QW_HEADER_SIZE);
    if (!query_parameters_append(self->parameters, self->schema, self->rows, ROWS_MAX_BYTES, error))
        return FALSE;
    self->n_rows++;
    return TRUE;
}

/* Executing ------------------------------------------------------------------------------------------------------------ */

/* (transfer full) (nullable): the values of the next execution, of all rows that were added or of those bound. */
static GBytes *
take_rows(QueryStatement *self, guint *ret_n_rows, GError **error)
{
    g_autoptr(GBytes) page = NULL;
    GBytes *rows;

    if (!check_made(self, error))
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
    self->cursor = query_cursor_new(self->connection, request,
                                    &(QueryCursorOpener){ .object = G_OBJECT(self), .take_back = take_back });
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

/* One that may be cancelled alone has a channel of its own, which cancelling closes. */
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
