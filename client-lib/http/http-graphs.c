/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SPARQL 1.1 Graph Store HTTP Protocol. Each change is one import or one update, and so one transaction.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "client-lib/http/http-multipart.h"
#include "client-lib/http/http-result.h"
#include "client-lib/http/http-routes.h"
#include "client-lib/http/http-service.h"

#define ALL_TRIPLES "SELECT ?s ?p ?o { ?s ?p ?o }"
#define NO_GRAPH "there is no such graph"
#define IS_THERE "ASK { GRAPH $graph {} }"

/* A document on its way into a graph. */
typedef struct Upload {
    QhttpExchange *exchange;
    char *graph; /* (nullable): NULL: the default graph */
    char *base;
    const char *format;
    bool replaces;
    bool is_named_here; /* the graph's name is the server's choice */
    bool was_there;
} Upload;

static void
upload_free(gpointer data)
{
    Upload *self = data;

    qhttp_exchange_unref(self->exchange);
    g_free(self->graph);
    g_free(self->base);
    g_free(self);
}

/* The graph that the URL means; false: answered. */
static bool
find_graph(QhttpExchange *exchange, char **ret_graph)
{
    guint n_default = qhttp_form_count(exchange->form, "default");
    guint n_graphs = qhttp_form_count(exchange->form, "graph");
    g_autofree char *url = qhttp_exchange_get_url(exchange);
    const char *path = exchange->path;

    *ret_graph = NULL;
    if (strlen(path) > strlen(QHTTP_GRAPHS_PATH "/")) {
        *ret_graph = g_steal_pointer(&url);
    } else if (n_default + n_graphs != 1) {
        qhttp_exchange_fail(exchange, 400, "one graph is needed: ?default, ?graph=IRI, or a URL below " QHTTP_GRAPHS_PATH "/");
        return false;
    } else if (n_graphs == 1) {
        const char *graph = qhttp_form_get(exchange->form, "graph");

        if (g_uri_peek_scheme(graph) == NULL) {
            qhttp_exchange_fail(exchange, 400, "the graph's name is no absolute IRI");
            return false;
        }
        *ret_graph = g_strdup(graph);
    }
    return true;
}

static bool
check_writing(QhttpExchange *exchange)
{
    if (qhttp_service_get_options(exchange->service)->may_write)
        return qhttp_service_begin_update(exchange);

    qhttp_exchange_fail(exchange, 403, "this server is read-only: it changes graphs with the option --read-write");
    return false;
}

static void
get_graph(QhttpExchange *exchange)
{
    g_autofree char *graph = NULL;
    const char *graphs[2] = { NULL, NULL };

    if (!find_graph(exchange, &graph))
        return;

    graphs[0] = graph;
    qhttp_result_run(exchange, &(QhttpQuery){ .language = QUERY_LANGUAGE_SPARQL,
                                              .text = ALL_TRIPLES,
                                              .default_graphs = graphs,
                                              .encoder_func = qhttp_encode_graph,
                                              .empty_problem = graph != NULL ? NO_GRAPH : NULL,
                                              .is_tagged = true });
}

/* --- DELETE ------------------------------------------------------------------------------------------------------------- */

static void
on_dropped(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(QhttpExchange) exchange = user_data;
    g_autoptr(GError) error = NULL;

    (void) query_connection_update_finish(QUERY_CONNECTION(source), result, &error);
    if (g_error_matches(error, QUERY_ERROR, QUERY_ERROR_CONSTRAINT))
        qhttp_exchange_fail(exchange, 404, NO_GRAPH);
    else if (error != NULL && !qhttp_exchange_is_gone(exchange))
        qhttp_exchange_fail_with(exchange, error);
    else
        qhttp_exchange_respond(exchange, 204, NULL, NULL);
}

static void
drop_graph(QhttpExchange *exchange)
{
    g_autofree char *graph = NULL;
    g_autofree char *text = NULL;
    QueryConnection *connection;
    const char *graphs[2] = { NULL, NULL };

    if (!check_writing(exchange) || !find_graph(exchange, &graph))
        return;
    connection = qhttp_service_connect(exchange);
    if (connection == NULL)
        return;
    graphs[0] = graph;
    if (!qhttp_set_scope(exchange, connection, graphs, NULL)) /* says whether it can stand between '<' and '>' */
        return;

    (void) query_connection_set_dataset(connection, NULL, NULL, NULL);
    text = graph != NULL ? g_strdup_printf("DROP GRAPH <%s>", graph) : g_strdup("DROP DEFAULT");
    query_connection_update_async(connection, QUERY_LANGUAGE_SPARQL, text, NULL, exchange->cancellable, on_dropped,
                                  qhttp_exchange_ref(exchange));
}

/* --- PUT and POST ------------------------------------------------------------------------------------------------------- */

static void
import_in_thread(GTask *task, gpointer source, gpointer task_data, GCancellable *cancellable)
{
    const Upload *upload = task_data;
    GVariantBuilder options = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);
    GError *error = NULL;

    if (upload->graph != NULL)
        g_variant_builder_add(&options, "{sv}", "graph", g_variant_new_string(upload->graph));
    if (upload->base != NULL)
        g_variant_builder_add(&options, "{sv}", "base", g_variant_new_string(upload->base));
    g_variant_builder_add(&options, "{sv}", "replace", g_variant_new_boolean(upload->replaces));
    g_variant_builder_add(&options, "{sv}", "one_graph", g_variant_new_boolean(TRUE));
    if (query_connection_import(source, upload->exchange->body_fd, upload->format, g_variant_builder_end(&options), NULL, NULL,
                                NULL, cancellable, &error))
        g_task_return_boolean(task, TRUE);
    else
        g_task_return_error(task, error);
}

static void
on_imported(GObject *source, GAsyncResult *result, gpointer user_data)
{
    Upload *upload = user_data;
    QhttpExchange *exchange = upload->exchange;
    g_autoptr(GError) error = NULL;

    if (!g_task_propagate_boolean(G_TASK(result), &error)) {
        if (!qhttp_exchange_is_gone(exchange))
            qhttp_exchange_fail_with(exchange, error);
    } else {
        if (upload->is_named_here)
            qhttp_exchange_set_header(exchange, "Location", upload->graph);
        qhttp_set_timing(exchange, (guint64) (g_get_monotonic_time() - exchange->start_usec));
        qhttp_exchange_respond(exchange, upload->was_there ? 204 : 201, NULL, NULL);
    }
    qhttp_service_end_import(exchange->service);
    upload_free(upload);
}

/*
 * One at a time: the daemon takes one job of a client. The task does not own the upload, since its thread may drop its last
 * reference: exchanges are counted in the main thread only.
 */
static void
start_import(QhttpExchange *exchange)
{
    Upload *upload = g_steal_pointer(&exchange->handler_data);
    g_autoptr(GTask) task = NULL;
    g_autoptr(GError) error = NULL;
    QueryConnection *connection = qhttp_service_get_connection(exchange->service, &error);

    task = g_task_new(connection, exchange->cancellable, on_imported, upload);
    g_task_set_task_data(task, upload, NULL);
    if (connection == NULL)
        g_task_return_error(task, g_steal_pointer(&error));
    else
        g_task_run_in_thread(task, import_in_thread);
}

static void
enqueue(Upload *upload)
{
    QhttpExchange *exchange = upload->exchange;

    exchange->handler_data = upload;
    if (!qhttp_service_begin_import(exchange->service, exchange, start_import))
        upload_free(g_steal_pointer(&exchange->handler_data));
}

static void
on_asked_row(GObject *source, GAsyncResult *result, gpointer user_data)
{
    Upload *upload = user_data;
    g_autoptr(QueryCursor) cursor = QUERY_CURSOR(source);
    g_autoptr(GError) error = NULL;

    if (!query_cursor_next_finish(cursor, result, &error)) {
        if (!qhttp_exchange_is_gone(upload->exchange) && error != NULL)
            qhttp_exchange_fail_with(upload->exchange, error);
        upload_free(upload);
        return;
    }
    upload->was_there = query_cursor_get_boolean(cursor, 0);
    enqueue(upload);
}

static void
on_asked(GObject *source, GAsyncResult *result, gpointer user_data)
{
    Upload *upload = user_data;
    g_autoptr(GError) error = NULL;
    QueryCursor *cursor = query_connection_query_finish(QUERY_CONNECTION(source), result, &error);

    if (cursor != NULL) {
        query_cursor_next_async(cursor, upload->exchange->cancellable, on_asked_row, upload);
        return;
    }
    if (!qhttp_exchange_is_gone(upload->exchange))
        qhttp_exchange_fail_with(upload->exchange, error);
    upload_free(upload);
}

/* Whether the graph is there decides between 201 and 204 only. */
static void
ask_for_graph(Upload *upload)
{
    QueryConnection *connection = qhttp_service_connect(upload->exchange);
    GVariantBuilder parameters = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);

    if (connection == NULL || !qhttp_set_scope(upload->exchange, connection, NULL, NULL)) {
        upload_free(upload);
        return;
    }
    g_variant_builder_add(&parameters, "{sv}", "$graph", g_variant_new("(sss)", upload->graph, "@id", ""));
    query_connection_query_async(connection, QUERY_LANGUAGE_SPARQL, IS_THERE, g_variant_builder_end(&parameters),
                                 upload->exchange->cancellable, on_asked, upload);
}

/* The document as the daemon reads it, at its begin; NULL: answered. */
static const char *
prepare_document(QhttpExchange *exchange)
{
    g_autofree char *charset = NULL;
    g_autofree char *type = qhttp_exchange_get_content_type(exchange, &charset);
    const QhttpFormat *format = type != NULL ? qhttp_accept_find_rdf(type) : NULL;

    if (exchange->body_fd < 0)
        exchange->body_fd = open(g_get_tmp_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (g_strcmp0(type, "multipart/form-data") == 0)
        return qhttp_multipart_merge(exchange) ? "ntriples" : NULL;
    if (charset != NULL && g_ascii_strcasecmp(charset, "utf-8") != 0) {
        qhttp_exchange_fail(exchange, 415, "the charset '%.40s' is not taken: utf-8 is", charset);
        return NULL;
    }
    if (format == NULL || qd_rdf_format_is_for_graphs(format->rdf)) {
        qhttp_exchange_fail(exchange, 415,
                            "the Content-Type is not taken: text/turtle, application/n-triples, application/rdf+xml and "
                            "application/ld+json are");
        return NULL;
    }
    if (exchange->body_fd < 0 || lseek(exchange->body_fd, 0, SEEK_SET) != 0) {
        qhttp_exchange_fail(exchange, 507, "cannot keep the document in '%s': %s", g_get_tmp_dir(), g_strerror(errno));
        return NULL;
    }
    return qd_rdf_format_get_name(format->rdf);
}

static void
put_graph(QhttpExchange *exchange, bool replaces)
{
    const char *path = exchange->path;
    bool is_new = !replaces && strlen(path) <= strlen(QHTTP_GRAPHS_PATH "/") && qhttp_form_count(exchange->form, "default") == 0 &&
                  qhttp_form_count(exchange->form, "graph") == 0;
    g_autofree char *url = qhttp_exchange_get_url(exchange);
    g_autofree char *uuid = g_uuid_string_random();
    g_autofree char *graph = NULL;
    const char *format;
    Upload *upload;

    if (!check_writing(exchange) || (!is_new && !find_graph(exchange, &graph)))
        return;
    format = prepare_document(exchange);
    if (format == NULL)
        return;

    upload = g_new0(Upload, 1);
    upload->exchange = qhttp_exchange_ref(exchange);
    upload->graph = is_new ? g_strconcat(url, g_str_has_suffix(url, "/") ? "" : "/", uuid, NULL) : g_steal_pointer(&graph);
    upload->base = g_strdup(upload->graph != NULL ? upload->graph : url);
    upload->format = format;
    upload->replaces = replaces;
    upload->is_named_here = is_new;
    upload->was_there = upload->graph == NULL;
    if (upload->graph == NULL || is_new)
        enqueue(upload);
    else
        ask_for_graph(upload);
}

void
qhttp_handle_graphs(QhttpExchange *exchange)
{
    if (qhttp_exchange_has_method(exchange, "GET") || qhttp_exchange_has_method(exchange, "HEAD"))
        get_graph(exchange);
    else if (qhttp_exchange_has_method(exchange, "PUT"))
        put_graph(exchange, true);
    else if (qhttp_exchange_has_method(exchange, "POST"))
        put_graph(exchange, false);
    else if (qhttp_exchange_has_method(exchange, "DELETE"))
        drop_graph(exchange);
    else
        qhttp_exchange_fail_method(exchange);
}
