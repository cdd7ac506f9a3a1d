/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryTransaction: a channel between BEGIN and COMMIT.
 *
 * Place: public object. The channel is its own between calls, with the request while one runs, and lent to the cursor while one is
 * open.
 * Invariant: what is meant for the transaction is sent on its channel or not at all.
 */
#include "client-lib/core/query-error.h"
#include "client-lib/query-connection-private.h"
#include "client-lib/query-cursor-private.h"
#include "client-lib/query-statement-private.h"
#include "client-lib/transaction/query-transaction-private.h"

enum { PROP_CONNECTION = 1, PROP_IS_OPEN, PROP_GENERATION, N_PROPS };

static GParamSpec *properties[N_PROPS];

G_DEFINE_TYPE(QueryTransaction, query_transaction, G_TYPE_OBJECT)

static void
query_transaction_finalize(GObject *object)
{
    QueryTransaction *self = QUERY_TRANSACTION(object);

    g_clear_pointer(&self->channel, query_channel_free);
    g_clear_pointer(&self->command, query_command_unref);
    g_clear_object(&self->connection);
    G_OBJECT_CLASS(query_transaction_parent_class)->finalize(object);
}

static void
query_transaction_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    QueryTransaction *self = QUERY_TRANSACTION(object);

    if (id == PROP_CONNECTION)
        g_value_set_object(value, self->connection);
    else if (id == PROP_IS_OPEN)
        g_value_set_boolean(value, query_transaction_is_open(self));
    else if (id == PROP_GENERATION)
        g_value_set_uint64(value, query_transaction_get_generation(self));
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void
query_transaction_class_init(QueryTransactionClass *klass)
{
    const GParamFlags flags = G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;
    GObjectClass *object_class = G_OBJECT_CLASS(klass);

    object_class->finalize = query_transaction_finalize;
    object_class->get_property = query_transaction_get_property;

    /**
     * QueryTransaction:connection:
     *
     * The connection that it belongs to.
     */
    properties[PROP_CONNECTION] = g_param_spec_object("connection", NULL, NULL, QUERY_TYPE_CONNECTION, flags);
    /**
     * QueryTransaction:is-open:
     *
     * Whether the transaction is open, see query_transaction_is_open().
     */
    properties[PROP_IS_OPEN] = g_param_spec_boolean("is-open", NULL, NULL, FALSE, flags);
    /**
     * QueryTransaction:generation:
     *
     * The generation of the database that the commit has made; before that, the one that it began from.
     */
    properties[PROP_GENERATION] = g_param_spec_uint64("generation", NULL, NULL, 0, G_MAXUINT64, 0, flags);
    g_object_class_install_properties(object_class, N_PROPS, properties);
}

static void
query_transaction_init(QueryTransaction *self)
{
}

/* A call has failed, and the channel is back if it was not lost. */
static void
follow_failure(QueryTransaction *self)
{
    if (self->is_over || (self->channel != NULL && !query_channel_has_ended_transaction(self->channel)))
        return;
    self->is_over = TRUE;
    g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_IS_OPEN]);
}

/* @channel: (nullable): NULL: it was closed, and with it the transaction */
static void
take_back(GObject *object, QueryCursor *cursor, QueryChannel *channel)
{
    QueryTransaction *self = QUERY_TRANSACTION(object);

    if (self->cursor == cursor && cursor->opener.is_update && cursor->state == QUERY_CURSOR_ENDED)
        self->last_insert_rowid = cursor->end.last_insert_rowid;
    if (self->cursor == cursor)
        self->cursor = NULL;
    if (channel != NULL)
        self->channel = channel;
    if (cursor->state != QUERY_CURSOR_ENDED)
        follow_failure(self);
}

/* Borrowed by a call or a cursor, the channel is there as well. */
gboolean
query_transaction_is_open(QueryTransaction *self)
{
    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), FALSE);

    return !self->is_over && (self->channel != NULL || self->is_busy || self->cursor != NULL);
}

gint64
query_transaction_get_last_insert_rowid(QueryTransaction *self)
{
    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), 0);

    return self->last_insert_rowid;
}

guint64
query_transaction_get_generation(QueryTransaction *self)
{
    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), 0);

    return self->generation;
}

/* Calls ---------------------------------------------------------------------------------------------------------------- */

/* Its cursor gives the channel back. */
static gboolean
free_channel(QueryTransaction *self, GCancellable *cancellable, GError **error)
{
    if (self->keeps_cursors && self->cursor->is_busy) {
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_PENDING, "the transaction is busy with a call of its cursor");
        return FALSE;
    }
    if (self->keeps_cursors)
        return query_cursor_leave_transaction(self->cursor, &self->last_insert_rowid, cancellable, error);
    query_cursor_close(self->cursor);
    return TRUE;
}

static gboolean
check_open(QueryTransaction *self, GCancellable *cancellable, GError **error)
{
    if (!query_connection_check_made(self->connection, "query_connection_begin", error))
        return FALSE;
    if (self->is_busy) {
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_PENDING, "the transaction is busy with another call");
        return FALSE;
    }
    if (self->cursor != NULL && !free_channel(self, cancellable, error))
        return FALSE;
    if (self->channel == NULL)
        g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_CLOSED, "the transaction is over");
    return self->channel != NULL;
}

/* @text: (nullable): COMMIT and ROLLBACK have none */
static QueryRequest *
create_request(QueryTransaction *self, QueryRequestKind kind, gboolean writes, QueryLanguage language, const char *text,
               GVariant *parameters, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant) owned = parameters != NULL ? g_variant_ref_sink(parameters) : NULL;
    g_autoptr(QueryParameters) values = query_parameters_new_from_variant(owned, language == QUERY_LANGUAGE_SPARQL, error);
    g_autoptr(QueryCommand) command = NULL;
    QueryRequest *request;

    if (values == NULL || !check_open(self, cancellable, error))
        return NULL;
    if (text == NULL)
        command = query_command_ref(self->command);
    else
        command = query_connection_create_command(self->connection, language, text, writes, error);
    if (command == NULL)
        return NULL;

    request = query_request_new(query_connection_get_endpoint(self->connection), kind, command, g_steal_pointer(&values), NULL,
                                g_steal_pointer(&self->channel));
    query_request_bind_to_channel(request);
    self->is_busy = TRUE;
    return request;
}

/* A request has ended, with or without success. */
static void
settle(QueryTransaction *self, QueryRequest *request, gboolean ok)
{
    const QwEnd *end = query_request_get_end(request);

    self->is_busy = FALSE;
    switch (query_request_get_kind(request)) {
    case QUERY_REQUEST_ROWS:
        if (!ok)
            self->channel = query_request_steal_idle_channel(request);
        break;
    case QUERY_REQUEST_PREPARE:
        self->channel = query_request_steal_idle_channel(request);
        break;
    case QUERY_REQUEST_UPDATE:
        self->channel = query_request_steal_idle_channel(request);
        if (ok)
            self->last_insert_rowid = end->last_insert_rowid;
        break;
    case QUERY_REQUEST_COMMIT:
    case QUERY_REQUEST_ROLLBACK: {
        QueryChannel *channel = query_request_steal_idle_channel(request);

        if (channel != NULL)
            query_pool_give(query_connection_get_pool(self->connection), channel);
        if (ok)
            self->generation = end->generation;
        g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_GENERATION]);
        if (!self->is_over)
            g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_IS_OPEN]);
        return;
    }
    case QUERY_REQUEST_BATCH:
    case QUERY_REQUEST_BEGIN:
        g_assert_not_reached();
    }
    if (!ok)
        follow_failure(self);
}

static gboolean
run(QueryTransaction *self, QueryRequest *request, GCancellable *cancellable, GError **error)
{
    gboolean ok = request != NULL && query_request_run(request, cancellable, error);

    if (request != NULL)
        settle(self, request, ok);
    return ok;
}

static QueryCursor *
take_cursor(QueryTransaction *self, QueryRequest *request)
{
    const QueryCursorOpener opener = { .object = G_OBJECT(self),
                                       .take_back = take_back,
                                       .is_transaction = TRUE,
                                       .is_update = query_request_get_command(request)->writes };

    self->cursor = query_cursor_new(self->connection, request, &opener);
    return self->cursor;
}

QueryCursor *
query_transaction_query(QueryTransaction *self, QueryLanguage language, const char *text, GVariant *parameters,
                        GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryRequest) request = NULL;

    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), NULL);
    g_return_val_if_fail(text != NULL, NULL);

    request = create_request(self, QUERY_REQUEST_ROWS, FALSE, language, text, parameters, cancellable, error);
    return run(self, request, cancellable, error) ? take_cursor(self, request) : NULL;
}

gint64
query_transaction_update(QueryTransaction *self, QueryLanguage language, const char *text, GVariant *parameters,
                         GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryRequest) request = NULL;

    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), -1);
    g_return_val_if_fail(text != NULL, -1);

    request = create_request(self, QUERY_REQUEST_UPDATE, TRUE, language, text, parameters, cancellable, error);
    return run(self, request, cancellable, error) ? query_request_get_end(request)->changes : -1;
}

QueryCursor *
query_transaction_update_returning(QueryTransaction *self, QueryLanguage language, const char *text, GVariant *parameters,
                                   GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryRequest) request = NULL;

    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), NULL);
    g_return_val_if_fail(text != NULL, NULL);

    request = create_request(self, QUERY_REQUEST_ROWS, TRUE, language, text, parameters, cancellable, error);
    return run(self, request, cancellable, error) ? take_cursor(self, request) : NULL;
}

static QueryStatement *
prepare(QueryTransaction *self, gboolean writes, QueryLanguage language, const char *text, GCancellable *cancellable,
        GError **error)
{
    g_autoptr(QueryRequest) request = create_request(self, QUERY_REQUEST_PREPARE, writes, language, text, NULL, cancellable, error);

    return run(self, request, cancellable, error) ? query_statement_new_prepared(self->connection, request) : NULL;
}

QueryStatement *
query_transaction_prepare(QueryTransaction *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                          GError **error)
{
    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), NULL);
    g_return_val_if_fail(text != NULL, NULL);

    return prepare(self, FALSE, language, text, cancellable, error);
}

QueryStatement *
query_transaction_prepare_update(QueryTransaction *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                                 GError **error)
{
    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), NULL);
    g_return_val_if_fail(text != NULL, NULL);

    return prepare(self, TRUE, language, text, cancellable, error);
}

static QueryRequest *
create_request_of_statement(QueryTransaction *self, QueryStatement *statement, GCancellable *cancellable, GError **error)
{
    QueryRequest *request;

    if (!check_open(self, cancellable, error))
        return NULL;
    request = query_statement_create_request_on(statement, self->connection, &self->channel, error);
    if (request == NULL)
        return NULL;
    query_request_bind_to_channel(request);
    self->is_busy = TRUE;
    return request;
}

QueryCursor *
query_transaction_execute(QueryTransaction *self, QueryStatement *statement, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryRequest) request = NULL;

    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), NULL);
    g_return_val_if_fail(QUERY_IS_STATEMENT(statement), NULL);

    request = create_request_of_statement(self, statement, cancellable, error);
    return run(self, request, cancellable, error) ? take_cursor(self, request) : NULL;
}

static gboolean
end(QueryTransaction *self, QueryRequestKind kind, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryRequest) request = create_request(self, kind, TRUE, QUERY_LANGUAGE_SQL, NULL, NULL, cancellable, error);

    return run(self, request, cancellable, error);
}

gboolean
query_transaction_commit(QueryTransaction *self, GCancellable *cancellable, GError **error)
{
    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), FALSE);

    return end(self, QUERY_REQUEST_COMMIT, cancellable, error);
}

gboolean
query_transaction_rollback(QueryTransaction *self, GCancellable *cancellable, GError **error)
{
    g_return_val_if_fail(QUERY_IS_TRANSACTION(self), FALSE);

    return end(self, QUERY_REQUEST_ROLLBACK, cancellable, error);
}

/* Async ---------------------------------------------------------------------------------------------------------------- */

/* Ends the task of a call that has succeeded. */
static void
return_result(QueryTransaction *self, GTask *task, QueryRequest *request)
{
    QueryRequestKind kind = query_request_get_kind(request);

    if (kind == QUERY_REQUEST_ROWS)
        g_task_return_pointer(task, take_cursor(self, request), g_object_unref);
    else if (kind == QUERY_REQUEST_PREPARE)
        g_task_return_pointer(task, query_statement_new_prepared(self->connection, request), g_object_unref);
    else if (kind == QUERY_REQUEST_UPDATE)
        g_task_return_int(task, query_request_get_end(request)->changes);
    else
        g_task_return_boolean(task, TRUE);
}

static void
on_run(GObject *object, GAsyncResult *result, gpointer user_data)
{
    QueryTransaction *self = QUERY_TRANSACTION(object);
    g_autoptr(GTask) task = G_TASK(user_data);
    QueryRequest *request = g_task_get_task_data(G_TASK(result));
    GError *error = NULL;
    gboolean ok = g_task_propagate_boolean(G_TASK(result), &error);

    settle(self, request, ok);
    if (ok)
        return_result(self, task, request);
    else
        g_task_return_error(task, error);
}

static void
on_request_done(GTask *inner, QueryRequest *request)
{
    g_task_return_boolean(inner, TRUE);
}

/* @request: (transfer full) (nullable): *error is set, and consumed. @tag: the address of the async function */
static void
run_async(QueryTransaction *self, QueryRequest *request, GError **error, gpointer tag, GCancellable *cancellable,
          GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = g_task_new(self, cancellable, callback, user_data);
    g_autoptr(GTask) inner = NULL;

    g_task_set_source_tag(task, tag);
    g_task_set_check_cancellable(task, FALSE); /* the task inside does */
    if (request == NULL) {
        g_task_return_error(task, g_steal_pointer(error));
        return;
    }
    inner = g_task_new(self, cancellable, on_run, g_steal_pointer(&task));
    query_request_run_async(request, inner, on_request_done, error);
}

void
query_transaction_query_async(QueryTransaction *self, QueryLanguage language, const char *text, GVariant *parameters,
                              GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    GError *error = NULL;

    g_return_if_fail(QUERY_IS_TRANSACTION(self));
    g_return_if_fail(text != NULL);

    run_async(self, create_request(self, QUERY_REQUEST_ROWS, FALSE, language, text, parameters, cancellable, &error), &error,
              query_transaction_query_async, cancellable, callback, user_data);
}

QueryCursor *
query_transaction_query_finish(QueryTransaction *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}

void
query_transaction_update_async(QueryTransaction *self, QueryLanguage language, const char *text, GVariant *parameters,
                               GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    GError *error = NULL;

    g_return_if_fail(QUERY_IS_TRANSACTION(self));
    g_return_if_fail(text != NULL);

    run_async(self, create_request(self, QUERY_REQUEST_UPDATE, TRUE, language, text, parameters, cancellable, &error), &error,
              query_transaction_update_async, cancellable, callback, user_data);
}

gint64
query_transaction_update_finish(QueryTransaction *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), -1);

    return g_task_propagate_int(G_TASK(result), error);
}

void
query_transaction_update_returning_async(QueryTransaction *self, QueryLanguage language, const char *text, GVariant *parameters,
                                         GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    GError *error = NULL;

    g_return_if_fail(QUERY_IS_TRANSACTION(self));
    g_return_if_fail(text != NULL);

    run_async(self, create_request(self, QUERY_REQUEST_ROWS, TRUE, language, text, parameters, cancellable, &error), &error,
              query_transaction_update_returning_async, cancellable, callback, user_data);
}

QueryCursor *
query_transaction_update_returning_finish(QueryTransaction *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}

void
query_transaction_prepare_async(QueryTransaction *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                                GAsyncReadyCallback callback, gpointer user_data)
{
    GError *error = NULL;

    g_return_if_fail(QUERY_IS_TRANSACTION(self));
    g_return_if_fail(text != NULL);

    run_async(self, create_request(self, QUERY_REQUEST_PREPARE, FALSE, language, text, NULL, cancellable, &error), &error,
              query_transaction_prepare_async, cancellable, callback, user_data);
}

QueryStatement *
query_transaction_prepare_finish(QueryTransaction *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}

void
query_transaction_prepare_update_async(QueryTransaction *self, QueryLanguage language, const char *text, GCancellable *cancellable,
                                       GAsyncReadyCallback callback, gpointer user_data)
{
    GError *error = NULL;

    g_return_if_fail(QUERY_IS_TRANSACTION(self));
    g_return_if_fail(text != NULL);

    run_async(self, create_request(self, QUERY_REQUEST_PREPARE, TRUE, language, text, NULL, cancellable, &error), &error,
              query_transaction_prepare_update_async, cancellable, callback, user_data);
}

QueryStatement *
query_transaction_prepare_update_finish(QueryTransaction *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}

void
query_transaction_execute_async(QueryTransaction *self, QueryStatement *statement, GCancellable *cancellable,
                                GAsyncReadyCallback callback, gpointer user_data)
{
    GError *error = NULL;

    g_return_if_fail(QUERY_IS_TRANSACTION(self));
    g_return_if_fail(QUERY_IS_STATEMENT(statement));

    run_async(self, create_request_of_statement(self, statement, cancellable, &error), &error, query_transaction_execute_async,
              cancellable, callback, user_data);
}

QueryCursor *
query_transaction_execute_finish(QueryTransaction *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}

void
query_transaction_commit_async(QueryTransaction *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    GError *error = NULL;

    g_return_if_fail(QUERY_IS_TRANSACTION(self));

    run_async(self, create_request(self, QUERY_REQUEST_COMMIT, TRUE, QUERY_LANGUAGE_SQL, NULL, NULL, cancellable, &error), &error,
              query_transaction_commit_async, cancellable, callback, user_data);
}

gboolean
query_transaction_commit_finish(QueryTransaction *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), FALSE);

    return g_task_propagate_boolean(G_TASK(result), error);
}

void
query_transaction_rollback_async(QueryTransaction *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                                 gpointer user_data)
{
    GError *error = NULL;

    g_return_if_fail(QUERY_IS_TRANSACTION(self));

    run_async(self, create_request(self, QUERY_REQUEST_ROLLBACK, TRUE, QUERY_LANGUAGE_SQL, NULL, NULL, cancellable, &error), &error,
              query_transaction_rollback_async, cancellable, callback, user_data);
}

gboolean
query_transaction_rollback_finish(QueryTransaction *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), FALSE);

    return g_task_propagate_boolean(G_TASK(result), error);
}
