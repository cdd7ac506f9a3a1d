/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Queries and updates of a connection that are given as a text.
 *
 * Place: public object QueryConnection. Each is a QueryRequest, and a cursor when it reads.
 */
#include "client-lib/query-connection-private.h"
#include "client-lib/query-cursor-private.h"
#include "client-lib/request/query-try.h"

const char *
query_language_get_name(QueryLanguage language)
{
    return language == QUERY_LANGUAGE_SPARQL ? "sparql" : "sql";
}

gboolean
query_connection_check_text(const char *text, GError **error)
{
    if (g_utf8_validate(text, -1, NULL))
        return TRUE;

    g_set_error_literal(error, QUERY_ERROR, QUERY_ERROR_SYNTAX, "the text of the statement is not valid UTF-8");
    return FALSE;
}

static QueryRequest *
create_request(QueryConnection *self, QueryRequestKind kind, QueryLanguage language, const char *text, GVariant *parameters,
               GError **error)
{
    g_autoptr(GVariant) owned = parameters != NULL ? g_variant_ref_sink(parameters) : NULL;
    g_autoptr(QueryParameters) values = NULL;
    g_autoptr(QueryCommand) command = NULL;

    command = query_connection_create_command(self, language, text, kind == QUERY_REQUEST_UPDATE, error);
    if (command == NULL)
        return NULL;
    values = query_parameters_new_from_variant(owned, language == QUERY_LANGUAGE_SPARQL, error);
    if (values == NULL)
        return NULL;

    return query_request_new(query_connection_get_endpoint(self), kind, command, g_steal_pointer(&values), NULL, NULL);
}

/* Ends an update: the channel is idle again. */
static gint64
finish_update(QueryConnection *self, QueryRequest *request)
{
    query_pool_give(query_connection_get_pool(self), query_request_steal_channel(request));
    return query_request_get_end(request)->changes;
}

QueryCursor *
query_connection_query(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                       GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryRequest) request = NULL;

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), NULL);
    g_return_val_if_fail(text != NULL, NULL);

    request = create_request(self, QUERY_REQUEST_ROWS, language, text, parameters, error);
    if (request == NULL || !query_request_run(request, cancellable, error))
        return NULL;

    return query_cursor_new(self, request, NULL);
}

gint64
query_connection_update(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                        GCancellable *cancellable, GError **error)
{
    g_autoptr(QueryRequest) request = NULL;

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), -1);
    g_return_val_if_fail(text != NULL, -1);

    request = create_request(self, QUERY_REQUEST_UPDATE, language, text, parameters, error);
    if (request == NULL || !query_request_run(request, cancellable, error))
        return -1;

    return finish_update(self, request);
}

static void
on_query_done(GTask *task, QueryRequest *request)
{
    g_task_return_pointer(task, query_cursor_new(g_task_get_source_object(task), request, NULL), g_object_unref);
}

static void
on_update_done(GTask *task, QueryRequest *request)
{
    g_task_return_int(task, finish_update(g_task_get_source_object(task), request));
}

void
query_connection_query_async(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                             GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = NULL;
    GError *error = NULL;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(text != NULL);

    task = g_task_new(self, cancellable, callback, user_data);
    g_task_set_source_tag(task, query_connection_query_async);
    query_request_run_async(create_request(self, QUERY_REQUEST_ROWS, language, text, parameters, &error), task, on_query_done,
                            &error);
}

QueryCursor *
query_connection_try_query(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                           GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data,
                           void (*meanwhile)(gpointer user_data), GError **error)
{
    g_autoptr(QueryRequest) request = NULL;
    g_autoptr(GTask) task = NULL;
    gboolean is_done;

    g_return_val_if_fail(QUERY_IS_CONNECTION(self), NULL);
    g_return_val_if_fail(text != NULL, NULL);

    request = create_request(self, QUERY_REQUEST_ROWS, language, text, parameters, error);
    if (request == NULL || !query_request_try(request, meanwhile, user_data, &is_done, error))
        return NULL;
    if (is_done)
        return query_cursor_new(self, request, NULL);

    task = g_task_new(self, cancellable, callback, user_data);
    g_task_set_source_tag(task, query_connection_query_async);
    query_request_run_async(g_steal_pointer(&request), task, on_query_done, NULL);
    return NULL;
}

QueryCursor *
query_connection_query_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), NULL);

    return g_task_propagate_pointer(G_TASK(result), error);
}

void
query_connection_update_async(QueryConnection *self, QueryLanguage language, const char *text, GVariant *parameters,
                              GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = NULL;
    GError *error = NULL;

    g_return_if_fail(QUERY_IS_CONNECTION(self));
    g_return_if_fail(text != NULL);

    task = g_task_new(self, cancellable, callback, user_data);
    g_task_set_source_tag(task, query_connection_update_async);
    query_request_run_async(create_request(self, QUERY_REQUEST_UPDATE, language, text, parameters, &error), task, on_update_done,
                            &error);
}

gint64
query_connection_update_finish(QueryConnection *self, GAsyncResult *result, GError **error)
{
    g_return_val_if_fail(g_task_is_valid(result, self), -1);

    return g_task_propagate_int(G_TASK(result), error);
}
