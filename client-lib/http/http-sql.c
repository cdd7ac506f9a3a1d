/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQL, and how statements would run: JSON in, JSON out.
 *
 * A request is a GET with "sql", or an object: "sql", "parameters" (an array, or an object of names), "update" (true: a statement
 * that writes).
 */
#include <string.h>

#include "client-lib/http/http-result.h"
#include "client-lib/http/http-routes.h"
#include "client-lib/http/http-service.h"
#include "client-lib/text/text-value.h"
#include "daemon/format/text-json.h"

#define JSON_DEPTH_MAX 32
#define PARAMETERS_MAX 1000

typedef struct Fields {
    GPtrArray *names;
    QdTextRow row;
} Fields;

static void
fields_init(Fields *self)
{
    self->names = g_ptr_array_new_with_free_func(g_free);
    qd_text_row_init(&self->row);
}

static void
fields_clear(Fields *self)
{
    g_ptr_array_unref(self->names);
    qd_text_row_clear(&self->row);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Fields, fields_clear)

/* An object, or an array, which has no names; false: answered. */
static bool
parse_json(QhttpExchange *exchange, Fields *fields, const char *what, const char *text, gsize n_bytes)
{
    const QdTextJsonRow source = {
        .text = text, .n_bytes = n_bytes, .max_depth = JSON_DEPTH_MAX, .max_columns = PARAMETERS_MAX, .may_add = true
    };
    QdTextJsonError error = { 0 };

    if (qd_text_json_parse_row(&source, fields->names, &fields->row, &error)) {
        qd_text_row_seal(&fields->row);
        return true;
    }
    qhttp_exchange_fail(exchange, 400, "%s: byte %zu: %s", what, error.offset + 1, error.message);
    g_free(error.message);
    return false;
}

static const QwValue *
find_field(const Fields *fields, const char *name)
{
    for (guint i = 0; i < fields->names->len && i < fields->row.values->len; i++)
        if (g_str_equal(fields->names->pdata[i], name))
            return &g_array_index(fields->row.values, QwValue, i);
    return NULL;
}

static GVariant *
make_variant(const QwValue *value)
{
    switch (value->type) {
    case QW_TYPE_INTEGER:
        return g_variant_new_int64(value->integer);
    case QW_TYPE_FLOAT:
        return g_variant_new_double(value->real);
    case QW_TYPE_BLOB:
        return g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, value->data, value->n_bytes, 1);
    case QW_TYPE_NULL:
        return g_variant_new_signature("");
    case QW_TYPE_TEXT:
    case QW_TYPE_IRI:
    case QW_TYPE_BNODE:
    case QW_TYPE_LITERAL_LANG:
    case QW_TYPE_LITERAL_TYPED:
        return g_variant_new_string(value->data);
    }
    g_assert_not_reached();
}

/* (transfer full) (floating) (nullable): NULL: answered, or there are none */
static bool
make_parameters(QhttpExchange *exchange, const QwValue *value, GVariant **ret_parameters)
{
    GVariantBuilder builder = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE_VARDICT);
    g_auto(Fields) fields = { 0 };

    *ret_parameters = NULL;
    fields_init(&fields);
    if (value == NULL || value->type == QW_TYPE_NULL)
        return true;
    if (value->type != QW_TYPE_TEXT) {
        qhttp_exchange_fail(exchange, 400, "'parameters' is neither an array nor an object");
        return false;
    }
    if (!parse_json(exchange, &fields, "'parameters'", value->data, value->n_bytes))
        return false;
    for (guint i = 0; i < fields.row.values->len; i++) {
        g_autofree char *index = g_strdup_printf("%u", i + 1);
        const char *name = i < fields.names->len ? fields.names->pdata[i] : index;

        g_variant_builder_add(&builder, "{sv}", name, make_variant(&g_array_index(fields.row.values, QwValue, i)));
    }
    *ret_parameters = g_variant_builder_end(&builder);
    return true;
}

static void
on_updated(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(QhttpExchange) exchange = user_data;
    g_autoptr(GError) error = NULL;
    gint64 n_changes = query_connection_update_finish(QUERY_CONNECTION(source), result, &error);
    GString *body;

    if (error != NULL) {
        if (!qhttp_exchange_is_gone(exchange))
            qhttp_exchange_fail_with(exchange, error);
        return;
    }
    body = g_string_new(NULL);
    g_string_append_printf(body, "{\"changes\":%" G_GINT64_FORMAT "}\n", n_changes);
    qhttp_set_timing(exchange, (guint64) (g_get_monotonic_time() - exchange->start_usec));
    qhttp_exchange_respond(exchange, 200, "application/json", body);
}

static void
run_update(QhttpExchange *exchange, const char *text, GVariant *parameters)
{
    g_autoptr(GVariant) owned = parameters != NULL ? g_variant_ref_sink(parameters) : NULL;
    QueryConnection *connection = qhttp_service_connect_for_update(exchange);

    if (connection != NULL)
        query_connection_update_async(connection, QUERY_LANGUAGE_SQL, text, owned, exchange->cancellable, on_updated,
                                      qhttp_exchange_ref(exchange));
}

static void
run_query(QhttpExchange *exchange, const char *text, GVariant *parameters)
{
    qhttp_result_run(exchange, &(QhttpQuery){ .language = QUERY_LANGUAGE_SQL,
                                              .text = text,
                                              .parameters = parameters,
                                              .encoder_func = qhttp_encode_rows,
                                              .is_tagged = !qhttp_exchange_has_method(exchange, "POST") });
}

/* "sql", and "parameters" as JSON */
static void
handle_get(QhttpExchange *exchange)
{
    const char *sql = qhttp_form_get(exchange->form, "sql");
    const char *text = qhttp_form_get(exchange->form, "parameters");
    const QwValue value = { .type = text != NULL ? QW_TYPE_TEXT : QW_TYPE_NULL,
                            .data = text,
                            .n_bytes = text != NULL ? (uint32_t) strlen(text) : 0 };
    GVariant *parameters;

    if (sql == NULL)
        qhttp_exchange_fail(exchange, 400, "the parameter 'sql' is needed");
    else if (make_parameters(exchange, &value, &parameters))
        run_query(exchange, sql, parameters);
}

static void
handle_post(QhttpExchange *exchange)
{
    g_autofree char *type = qhttp_exchange_get_content_type(exchange, NULL);
    g_auto(Fields) fields = { 0 };
    const QwValue *sql, *update;
    GVariant *parameters;

    fields_init(&fields);
    if (g_strcmp0(type, "application/json") != 0) {
        qhttp_exchange_fail(exchange, 415, "the Content-Type is not taken: application/json is");
        return;
    }
    if (!parse_json(exchange, &fields, "the body", (const char *) exchange->body->data, exchange->body->len))
        return;
    sql = find_field(&fields, "sql");
    update = find_field(&fields, "update");
    if (sql == NULL || sql->type != QW_TYPE_TEXT || strlen(sql->data) != sql->n_bytes) {
        qhttp_exchange_fail(exchange, 400, "the body is an object with the text 'sql', and perhaps 'parameters' and 'update'");
        return;
    }
    if (!make_parameters(exchange, find_field(&fields, "parameters"), &parameters))
        return;
    if (update != NULL && update->type == QW_TYPE_INTEGER && update->integer != 0)
        run_update(exchange, sql->data, parameters);
    else
        run_query(exchange, sql->data, parameters);
}

void
qhttp_handle_sql(QhttpExchange *exchange)
{
    if (qhttp_exchange_has_method(exchange, "GET") || qhttp_exchange_has_method(exchange, "HEAD"))
        handle_get(exchange);
    else if (qhttp_exchange_has_method(exchange, "POST"))
        handle_post(exchange);
    else
        qhttp_exchange_fail_method(exchange);
}

/* --- Explain ---------------------------------------------------------------------------------------------------------------- */

const char *
qhttp_get_statement(QhttpExchange *exchange, QueryLanguage *ret_language)
{
    const char *query = qhttp_form_get(exchange->form, "query");
    const char *sql = qhttp_form_get(exchange->form, "sql");

    if ((query != NULL) == (sql != NULL)) {
        qhttp_exchange_fail(exchange, 400, "one parameter is needed: 'query' in SPARQL, or 'sql'");
        return NULL;
    }
    *ret_language = query != NULL ? QUERY_LANGUAGE_SPARQL : QUERY_LANGUAGE_SQL;
    return query != NULL ? query : sql;
}

static void
on_explained(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(QhttpExchange) exchange = user_data;
    QueryConnection *connection = QUERY_CONNECTION(source);
    g_autofree char *sql = NULL;
    g_autofree char *plan = NULL;
    g_autoptr(GError) error = NULL;
    GString *body;

    if (!(g_async_result_is_tagged(result, query_connection_analyze_async)
              ? query_connection_analyze_finish(connection, result, &sql, &plan, &error)
              : query_connection_explain_finish(connection, result, &sql, &plan, &error))) {
        if (!qhttp_exchange_is_gone(exchange))
            qhttp_exchange_fail_with(exchange, error);
        return;
    }
    body = g_string_new("{\"sql\":");
    qw_text_put_json_text(body, sql, strlen(sql));
    g_string_append(body, ",\"plan\":");
    qw_text_put_json_text(body, plan, strlen(plan));
    qhttp_exchange_respond(exchange, 200, "application/json", g_string_append(body, "}\n"));
}

void
qhttp_handle_explain(QhttpExchange *exchange)
{
    g_autofree char *type = qhttp_exchange_get_content_type(exchange, NULL);
    bool is_form = g_strcmp0(type, "application/x-www-form-urlencoded") == 0;
    QueryConnection *connection;
    QueryLanguage language;
    const char *text;

    if (!qhttp_exchange_has_method(exchange, "GET") && !qhttp_exchange_has_method(exchange, "POST")) {
        qhttp_exchange_fail_method(exchange);
        return;
    }
    if (is_form && !qhttp_form_parse(exchange->form, (const char *) exchange->body->data, exchange->body->len)) {
        qhttp_exchange_fail(exchange, 400, "the body is not encoded as a form");
        return;
    }
    text = qhttp_get_statement(exchange, &language);
    if (text == NULL)
        return;
    connection = qhttp_service_connect(exchange);
    if (connection == NULL)
        return;
    if (g_strcmp0(qhttp_form_get(exchange->form, "analyze"), "true") == 0)
        query_connection_analyze_async(connection, language, text, exchange->cancellable, on_explained,
                                       qhttp_exchange_ref(exchange));
    else
        query_connection_explain_async(connection, language, text, exchange->cancellable, on_explained,
                                       qhttp_exchange_ref(exchange));
}
