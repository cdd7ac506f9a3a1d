/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SPARQL 1.1 Protocol: queries by GET and POST, updates by POST, each in all its forms.
 */

#include "client-lib/http/http-result.h"
#include "client-lib/http/http-routes.h"
#include "client-lib/http/http-service.h"

#define FORM_TYPE "application/x-www-form-urlencoded"
#define QUERY_TYPE "application/sparql-query"
#define UPDATE_TYPE "application/sparql-update"

/* What a request asks for. */
typedef struct Request {
    const char *query;  /* (nullable) */
    const char *update; /* (nullable) */
} Request;

static bool
check_once(QhttpExchange *exchange, const char *name)
{
    if (qhttp_form_count(exchange->form, name) <= 1)
        return true;

    qhttp_exchange_fail(exchange, 400, "the parameter '%s' is given more than once", name);
    return false;
}

/* The whole body as a text, NUL-terminated; false: answered. */
static bool
take_text(QhttpExchange *exchange, const char *charset)
{
    GByteArray *body = exchange->body;

    if (charset != NULL && g_ascii_strcasecmp(charset, "utf-8") != 0 && g_ascii_strcasecmp(charset, "us-ascii") != 0) {
        qhttp_exchange_fail(exchange, 415, "the charset '%.40s' is not taken: utf-8 is", charset);
        return false;
    }
    if (!g_utf8_validate_len((const char *) body->data, body->len, NULL)) {
        qhttp_exchange_fail(exchange, 400, "the body is not UTF-8 without NUL");
        return false;
    }
    g_byte_array_append(body, (const guint8 *) "", 1);
    return true;
}

static bool
read_post(QhttpExchange *exchange, Request *ret_request)
{
    g_autofree char *charset = NULL;
    g_autofree char *type = qhttp_exchange_get_content_type(exchange, &charset);

    if (g_strcmp0(type, FORM_TYPE) == 0) {
        if (!qhttp_form_parse(exchange->form, (const char *) exchange->body->data, exchange->body->len)) {
            qhttp_exchange_fail(exchange, 400, "the body is not encoded as a form");
            return false;
        }
        ret_request->update = qhttp_form_get(exchange->form, "update");
    } else if (g_strcmp0(type, QUERY_TYPE) == 0 || g_strcmp0(type, UPDATE_TYPE) == 0) {
        if (!take_text(exchange, charset))
            return false;
        if (qhttp_form_count(exchange->form, "query") + qhttp_form_count(exchange->form, "update") > 0) {
            qhttp_exchange_fail(exchange, 400, "the text is given twice: in the URL and in the body");
            return false;
        }
        if (g_str_equal(type, QUERY_TYPE))
            ret_request->query = (const char *) exchange->body->data;
        else
            ret_request->update = (const char *) exchange->body->data;
        return true;
    } else {
        qhttp_exchange_set_header(exchange, "Accept-Post", FORM_TYPE ", " QUERY_TYPE ", " UPDATE_TYPE);
        qhttp_exchange_fail(exchange, 415, "the Content-Type is not taken: " FORM_TYPE ", " QUERY_TYPE " and " UPDATE_TYPE " are");
        return false;
    }
    ret_request->query = qhttp_form_get(exchange->form, "query");
    return check_once(exchange, "query") && check_once(exchange, "update");
}

static void
run_query(QhttpExchange *exchange, const char *text)
{
    g_autofree const char **default_graphs = qhttp_form_list(exchange->form, "default-graph-uri");
    g_autofree const char **named_graphs = qhttp_form_list(exchange->form, "named-graph-uri");

    qhttp_result_run(exchange, &(QhttpQuery){ .language = QUERY_LANGUAGE_SPARQL,
                                              .text = text,
                                              .default_graphs = default_graphs,
                                              .named_graphs = named_graphs,
                                              .encoder_func = qhttp_encode_accepted,
                                              .is_tagged = !qhttp_exchange_has_method(exchange, "POST") });
}

static void
on_updated(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(QhttpExchange) exchange = user_data;
    g_autoptr(GError) error = NULL;

    if (!query_batch_execute_finish(QUERY_BATCH(source), result, &error)) {
        if (!qhttp_exchange_is_gone(exchange))
            qhttp_exchange_fail_with(exchange, error);
        return;
    }
    qhttp_service_note_generation(exchange->service, query_batch_get_generation(QUERY_BATCH(source)));
    qhttp_set_timing(exchange, (guint64) (g_get_monotonic_time() - exchange->start_usec));
    qhttp_exchange_respond(exchange, 204, NULL, NULL);
}

/* A batch of one: unlike query_connection_update() it takes no query. */
static void
run_update(QhttpExchange *exchange, const char *text)
{
    g_autofree const char **default_graphs = qhttp_form_list(exchange->form, "using-graph-uri");
    g_autofree const char **named_graphs = qhttp_form_list(exchange->form, "using-named-graph-uri");
    g_autoptr(QueryBatch) batch = NULL;
    QueryConnection *connection;

    connection = qhttp_service_connect_for_update(exchange);
    if (connection == NULL || !qhttp_set_scope(exchange, connection, default_graphs, named_graphs))
        return;
    batch = query_connection_create_batch(connection);
    query_batch_add(batch, QUERY_LANGUAGE_SPARQL, text, NULL);
    query_batch_execute_async(batch, exchange->cancellable, on_updated, qhttp_exchange_ref(exchange));
}

static void
handle_get(QhttpExchange *exchange)
{
    const char *query = qhttp_form_get(exchange->form, "query");

    if (qhttp_form_count(exchange->form, "update") > 0)
        qhttp_exchange_fail(exchange, 400, "an update is sent by POST");
    else if (query == NULL && qhttp_exchange_has_method(exchange, "GET"))
        qhttp_describe_service(exchange);
    else if (query == NULL)
        qhttp_exchange_respond(exchange, 200, "text/turtle; charset=utf-8", NULL);
    else if (check_once(exchange, "query"))
        run_query(exchange, query);
}

void
qhttp_handle_sparql(QhttpExchange *exchange)
{
    Request request = { 0 };

    if (qhttp_exchange_has_method(exchange, "GET") || qhttp_exchange_has_method(exchange, "HEAD")) {
        handle_get(exchange);
        return;
    }
    if (!qhttp_exchange_has_method(exchange, "POST")) {
        qhttp_exchange_fail_method(exchange);
        return;
    }
    if (!read_post(exchange, &request))
        return;
    if ((request.query != NULL) == (request.update != NULL))
        qhttp_exchange_fail(exchange, 400, "one parameter is needed: either 'query' or 'update'");
    else if (request.query != NULL)
        run_query(exchange, request.query);
    else
        run_update(exchange, request.update);
}
