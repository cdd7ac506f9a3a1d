/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryBatch: several updates as one transaction.
 *
 * Place: public object. One call of the D-Bus method Batch; all statements are executed or none.
 * Invariant: after a successful execute there is one count of changes for each statement.
 */
#include "client-lib/query-connection-private.h"
#include "client-lib/query-error.h"

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
query_batch_class_init(QueryBatchClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = query_batch_finalize;
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
}

guint
query_batch_get_n_statements(QueryBatch *self)
{
    g_return_val_if_fail(QUERY_IS_BATCH(self), 0);

    return self->statements->len;
}

/* (transfer floating) (nullable): the arguments of Batch. */
static GVariant *
build_arguments(QueryBatch *self, GError **error)
{
    g_auto(GVariantBuilder) statements = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE("a(ssa{sv})"));

    for (guint i = 0; i < self->statements->len; i++) {
        BatchStatement *statement = &g_array_index(self->statements, BatchStatement, i);
        GVariant *parameters = statement->parameters;

        if (!g_utf8_validate(statement->text, -1, NULL)) {
            g_set_error(error, QUERY_ERROR, QUERY_ERROR_SYNTAX, "the text of statement %u is not valid UTF-8", i + 1);
            return NULL;
        }
        if (parameters == NULL)
            parameters = g_variant_new("a{sv}", NULL);
        g_variant_builder_add(&statements, "(ss@a{sv})", query_language_get_name(statement->language), statement->text, parameters);
    }
    return g_variant_new("(a(ssa{sv})@a{sv})", &statements, query_connection_build_update_options(self->connection));
}

static gboolean
execute(QueryBatch *self, GVariant *arguments, GCancellable *cancellable, GError **error)
{
    g_autoptr(GVariant) changes = NULL;
    g_autoptr(GVariant) reply = NULL;
    const guint64 *counts;
    gsize n_counts;

    reply = query_bus_call(query_connection_get_bus(self->connection),
                           &(QueryBusCall){ .interface = QUERY_BUS_INTERFACE,
                                            .method = "Batch",
                                            .arguments = arguments,
                                            .reply_type = "(att)",
                                            .timeout_msec = G_MAXINT,
                                            .fd = -1 },
                           NULL, cancellable, error);
    if (reply == NULL)
        return FALSE;

    g_variant_get(reply, "(@att)", &changes, &self->generation);
    counts = g_variant_get_fixed_array(changes, &n_counts, sizeof *counts);
    if (n_counts != self->statements->len) {
        g_set_error(error, QUERY_ERROR, QUERY_ERROR_PROTOCOL, "the daemon counted %" G_GSIZE_FORMAT " statements of %u", n_counts,
                    self->statements->len);
        return FALSE;
    }

    g_array_set_size(self->changes, 0);
    g_array_append_vals(self->changes, counts, (guint) n_counts);
    return TRUE;
}

gboolean
query_batch_execute(QueryBatch *self, GCancellable *cancellable, GError **error)
{
    GVariant *arguments;

    g_return_val_if_fail(QUERY_IS_BATCH(self), FALSE);

    arguments = build_arguments(self, error);
    return arguments != NULL && execute(self, arguments, cancellable, error);
}

static void
execute_in_thread(GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
    GError *error = NULL;

    if (execute(source_object, task_data, cancellable, &error))
        g_task_return_boolean(task, TRUE);
    else
        g_task_return_error(task, error);
}

/**
 * query_batch_execute_async:
 * @self: a batch, which is left alone until @callback is called
 * @cancellable: (nullable): a #GCancellable
 * @callback: (scope async) (nullable): called when it is done
 * @user_data: for @callback
 *
 * Async form of query_batch_execute().
 */
void
query_batch_execute_async(QueryBatch *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = NULL;
    GError *error = NULL;
    GVariant *arguments;

    g_return_if_fail(QUERY_IS_BATCH(self));

    task = g_task_new(self, cancellable, callback, user_data);
    g_task_set_source_tag(task, query_batch_execute_async);
    arguments = build_arguments(self, &error);
    if (arguments == NULL) {
        g_task_return_error(task, error);
        return;
    }
    g_task_set_task_data(task, g_variant_ref_sink(arguments), (GDestroyNotify) g_variant_unref);
    g_task_run_in_thread(task, execute_in_thread);
}

/**
 * query_batch_execute_finish:
 * @self: a batch
 * @result: what the callback was given
 * @error: (nullable): location for an error
 *
 * Returns: %FALSE on error
 */
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
