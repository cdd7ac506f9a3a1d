/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryBatch: several updates as one transaction.
 *
 * Place: public object. One BATCH record on a channel; all statements are executed or none.
 * Invariant: after a successful execute there is one count of changes for each statement.
 */
#include <string.h>

#include "client-lib/core/query-error.h"
#include "client-lib/query-connection-private.h"
#include "client-lib/request/query-request.h"

typedef struct BatchStatement {
    QueryLanguage language;
    char *text;
    GVariant *parameters; /* (nullable) */
} BatchStatement;

struct _QueryBatch {
    GObject parent_instance;
    QueryConnection *connection;
    GArray *statements; /* of BatchStatement */
    GArray *changes;    /* of guint64 */
    guint64 generation;
};

enum { PROP_CONNECTION = 1, PROP_N_STATEMENTS, PROP_GENERATION, N_PROPS };

static GParamSpec *properties[N_PROPS];

G_DEFINE_TYPE(QueryBatch, query_batch, G_TYPE_OBJECT)

static void
statement_clear(gpointer data)
{
    BatchStatement *statement = data;

    g_free(statement->text);
    g_clear_pointer(&statement->parameters, g_variant_unref);
}

static void
query_batch_finalize(GObject *object)
{
    QueryBatch *self = QUERY_BATCH(object);

    g_array_unref(self->statements);
    g_array_unref(self->changes);
    g_clear_object(&self->connection);
    G_OBJECT_CLASS(query_batch_parent_class)->finalize(object);
}

static void
query_batch_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    QueryBatch *self = QUERY_BATCH(object);

    if (id == PROP_CONNECTION)
        g_value_set_object(value, self->connection);
    else if (id == PROP_N_STATEMENTS)
        g_value_set_uint(value, query_batch_get_n_statements(self));
    else if (id == PROP_GENERATION)
        g_value_set_uint64(value, query_batch_get_generation(self));
    else
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void
query_batch_class_init(QueryBatchClass *klass)
{
    const GParamFlags flags = G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;
    GObjectClass *object_class = G_OBJECT_CLASS(klass);

    object_class->finalize = query_batch_finalize;
    object_class->get_property = query_batch_get_property;

    /**
     * QueryBatch:connection:
     *
     * The connection that it belongs to.
     */
    properties[PROP_CONNECTION] = g_param_spec_object("connection", NULL, NULL, QUERY_TYPE_CONNECTION, flags);
    /**
     * QueryBatch:n-statements:
     *
     * The number of statements; query_batch_add() notifies.
     */
    properties[PROP_N_STATEMENTS] = g_param_spec_uint("n-statements", NULL, NULL, 0, G_MAXUINT, 0, flags);
    /**
     * QueryBatch:generation:
     *
     * The generation of the database that the last execution has made, 0 before; an execution notifies.
     */
    properties[PROP_GENERATION] = g_param_spec_uint64("generation", NULL, NULL, 0, G_MAXUINT64, 0, flags);
    g_object_class_install_properties(object_class, N_PROPS, properties);
}

static void
query_batch_init(QueryBatch *self)
{
    self->statements = g_array_new(FALSE, TRUE, sizeof(BatchStatement));
    g_array_set_clear_func(self->statements, statement_clear);
    self->changes = g_array_new(FALSE, TRUE, sizeof(guint64));
}

QueryBatch *
query_connection_create_batch(QueryConnection *self)
{
    QueryBatch *batch;

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), NULL);

    batch = g_object_new(QUERY_TYPE_BATCH, NULL);
    batch->connection = g_object_ref(self);
    return batch;
}

void
query_batch_add(QueryBatch *self, QueryLanguage language, const char *text, GVariant *parameters)
{
    BatchStatement statement = { .language = language };

    g_return_if_fail(QUERY_IS_BATCH(self));
    g_return_if_fail(text != NULL);
    g_return_if_fail(parameters == NULL || g_variant_is_of_type(parameters, G_VARIANT_TYPE_VARDICT));

    statement.text = g_strdup(text);
    statement.parameters = parameters != NULL ? g_variant_ref_sink(parameters) : NULL;
    g_array_append_val(self->statements, statement);
    g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_N_STATEMENTS]);
}

guint
query_batch_get_n_statements(QueryBatch *self)
{
    g_return_val_if_fail(QUERY_IS_BATCH(self), 0);

    return self->statements->len;
}

/* The record -------------------------------------------------------------------------------------------------------------- */

/* The parameters of a statement, ready to be written. */
typedef struct Values {
    QueryParameters *parameters;
    GBytes *row;
} Values;

static void
values_clear(gpointer data)
{
    Values *self = data;

    g_clear_pointer(&self->parameters, query_parameters_free);
    g_clear_pointer(&self->row, g_bytes_unref);
}

static gboolean
values_init(Values *self, const BatchStatement *statement, guint number, GError **error)
{
    if (!g_utf8_validate(statement->text, -1, NULL)) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_SYNTAX, "the text of statement %u is not valid UTF-8", number);
        return FALSE;
    }
    self->parameters = query_parameters_new_from_variant(statement->parameters, statement->language == QUERY_LANGUAGE_SPARQL,
                                                         error);
    if (self->parameters != NULL)
        self->row = query_parameters_encode_given(self->parameters, error);
    if (self->row == NULL)
        g_prefix_error(error, "statement %u of the batch: ", number);
    return self->row != NULL;
}

static void
put_string(QwBodyWriter *writer, const char *string)
{
    qw_body_put_string(writer, string, strlen(string));
}

static void
put_statement(QwBodyWriter *writer, const BatchStatement *statement, const Values *values)
{
    guint n = query_parameters_get_n(values->parameters);

    put_string(writer, query_language_get_name(statement->language));
    put_string(writer, statement->text);
    qw_body_put_u32(writer, n);
    for (guint i = 0; i < n; i++)
        put_string(writer, query_parameters_get_key(values->parameters, i));
    qw_body_put_string(writer, g_bytes_get_data(values->row, NULL), g_bytes_get_size(values->row));
}

static void
put_body(QwBodyWriter *writer, const QueryBatch *self, const GArray *values, const QueryCommand *command)
{
    qw_body_put_u32(writer, command->n_options);
    (void) query_command_put_options(command, writer);
    for (guint i = 0; i < self->statements->len; i++)
        put_statement(writer, &g_array_index(self->statements, BatchStatement, i), &g_array_index(values, Values, i));
}

/* (transfer full) (nullable): it is measured before it is written. */
static GBytes *
build_body(const QueryBatch *self, const QueryCommand *command, GError **error)
{
    g_autoptr(GArray) values = g_array_new(FALSE, TRUE, sizeof(Values));
    QwBodyWriter writer = { 0 };
    uint8_t *body;

    g_array_set_clear_func(values, values_clear);
    g_array_set_size(values, self->statements->len);
    for (guint i = 0; i < self->statements->len; i++)
        if (!values_init(&g_array_index(values, Values, i), &g_array_index(self->statements, BatchStatement, i), i + 1, error))
            return NULL;

    put_body(&writer, self, values, command);
    body = writer.used <= QW_ROWS_SIZE_MAX ? g_try_malloc(writer.used) : NULL;
    if (body == NULL) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_TOO_BIG, "the batch takes %" G_GSIZE_FORMAT " bytes, the limit is %u",
                    writer.used, QW_ROWS_SIZE_MAX);
        return NULL;
    }
    writer = (QwBodyWriter){ .data = body, .capacity = writer.used };
    put_body(&writer, self, values, command);
    return g_bytes_new_take(body, writer.used);
}

/* Execution --------------------------------------------------------------------------------------------------------------- */

static QueryRequest *
create_request(QueryBatch *self, GError **error)
{
    g_autoptr(QueryCommand) command = NULL;
    g_autoptr(GBytes) body = NULL;
    QueryRequest *request;

    if (!query_connection_check_made(self->connection, "query_connection_create_batch", error))
        return NULL;
    command = query_connection_create_command(self->connection, QUERY_LANGUAGE_SQL, QUERY_COMMAND_ANY_TEXT, TRUE, error);
    body = command != NULL ? build_body(self, command, error) : NULL;
    if (body == NULL)
        return NULL;

    request = query_request_new(query_connection_get_endpoint(self->connection), QUERY_REQUEST_BATCH, command, NULL, body, NULL);
    query_request_set_n_rows(request, self->statements->len);
    return request;
}

static void
take_result(QueryBatch *self, QueryRequest *request)
{
    const GArray *counts = query_request_get_counts(request);

    query_pool_give(query_connection_get_pool(self->connection), query_request_steal_channel(request));
    self->generation = query_request_get_end(request)->generation;
    g_array_set_size(self->changes, 0);
    g_array_append_vals(self->changes, counts->data, counts->len);
    g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_GENERATION]);
}

gboolean
query_batch_execute(QueryBatch *self, GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryRequest) request = NULL;

    g_return_val_if_fail(QUERY_IS_BATCH(self), FALSE);

    request = create_request(self, error);
    if (request == NULL || !query_request_run(request, cancellable, error))
        return FALSE;

    take_result(self, request);
    return TRUE;
}

static void
on_executed(GTask *task, QueryRequest *request)
{
    take_result(g_task_get_source_object(task), request);
    g_task_return_boolean(task, TRUE);
}

void
query_batch_execute_async(QueryBatch *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = NULL;
    GError *error = NULL;

    g_return_if_fail(QUERY_IS_BATCH(self));

    task = g_task_new(self, cancellable, callback, user_data);
    g_task_set_source_tag(task, query_batch_execute_async);
    query_request_run_async(create_request(self, &error), task, on_executed, &error);
}

gboolean
query_batch_execute_finish(QueryBatch *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), FALSE);

    return g_task_propagate_boolean(G_TASK(result), error);
}

guint64
query_batch_get_changes(QueryBatch *self, guint index)
{
    g_return_val_if_fail(QUERY_IS_BATCH(self), 0);
    g_return_val_if_fail(index < self->changes->len, 0);

    return g_array_index(self->changes, guint64, index);
}

guint64
query_batch_get_generation(QueryBatch *self)
{
    g_return_val_if_fail(QUERY_IS_BATCH(self), 0);

    return self->generation;
}
