/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page of the workbench: its files, which are in the program, and what the page asks about the server.
 *
 * The files are those of the folder web/, as they are: no step makes others of them.
 */
#include <query-client.h>
#include <string.h>

#include "client-lib/http/http-routes.h"
#include "client-lib/http/http-service.h"
#include "client-lib/text/text-value.h"

#define FOLDER "/org/queryd/workbench/"

/* Of the code that glib-compile-resources makes of web.gresource.xml. */
void qhttp_web_register_resource(void);

static const struct {
    const char *suffix;
    const char *content_type;
} types[] = {
    { ".html", "text/html; charset=utf-8" },
    { ".js", "text/javascript; charset=utf-8" },
    { ".css", "text/css; charset=utf-8" },
    { ".svg", "image/svg+xml" },
};

static const char *
find_type(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(types); i++)
        if (g_str_has_suffix(name, types[i].suffix))
            return types[i].content_type;
    return NULL;
}

/* Registered here, as the linker leaves out constructors of a static library that nothing calls. */
static GBytes *
load_file(const char *name)
{
    static gsize is_registered = 0;
    g_autofree char *path = g_strconcat(FOLDER, name, NULL);

    if (g_once_init_enter(&is_registered)) {
        qhttp_web_register_resource();
        g_once_init_leave(&is_registered, 1);
    }
    return g_resources_lookup_data(path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
}

/* An unchanged file is not sent again. */
static void
respond(QhttpExchange *exchange, GBytes *file, const char *content_type)
{
    g_autofree char *checksum = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, file);
    g_autofree char *etag = g_strdup_printf("\"%.32s\"", checksum);
    const char *known = qhttp_exchange_get_header(exchange, "If-None-Match");
    gsize n_bytes = 0;
    const char *data = g_bytes_get_data(file, &n_bytes);

    qhttp_exchange_set_header(exchange, "ETag", etag);
    if (known != NULL && strstr(known, etag) != NULL)
        qhttp_exchange_respond(exchange, 304, NULL, NULL);
    else
        qhttp_exchange_respond(exchange, 200, content_type, g_string_new_len(data, (gssize) n_bytes));
}

void
qhttp_send_page(QhttpExchange *exchange, const char *name)
{
    const char *content_type = find_type(name);
    g_autoptr(GBytes) file = content_type != NULL ? load_file(name) : NULL;

    if (file != NULL)
        respond(exchange, file, content_type);
    else
        qhttp_exchange_fail(exchange, 404, "there is nothing at this path");
}

void
qhttp_handle_page(QhttpExchange *exchange)
{
    const char *path = exchange->path;

    if (!qhttp_exchange_has_method(exchange, "GET") && !qhttp_exchange_has_method(exchange, "HEAD"))
        qhttp_exchange_fail_method(exchange);
    else
        qhttp_send_page(exchange, g_str_has_prefix(path, QHTTP_PAGE_PATH "/") ? path + strlen(QHTTP_PAGE_PATH "/") : "");
}

void
qhttp_handle_status(QhttpExchange *exchange)
{
    const QhttpServiceOptions *options = qhttp_service_get_options(exchange->service);
    const char *store = options->store != NULL ? options->store : "default";
    GString *body;

    if (!qhttp_exchange_has_method(exchange, "GET") && !qhttp_exchange_has_method(exchange, "HEAD")) {
        qhttp_exchange_fail_method(exchange);
        return;
    }
    body = g_string_new("{\"version\":\"" QUERYD_VERSION "\",\"store\":");
    qw_text_put_json_text(body, store, strlen(store));
    g_string_append_printf(body, ",\"may_write\":%s}\n", options->may_write ? "true" : "false");
    qhttp_exchange_respond(exchange, 200, "application/json", body);
}
