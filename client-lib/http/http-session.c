/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cookies for browsers, and the page at the root.
 *
 * A program that has the token makes a ticket and opens /login?ticket=… in a browser. The ticket works once. The token itself
 * never stands in a URL, as histories and logs keep these.
 */
#include "client-lib/http/http-routes.h"
#include "client-lib/http/http-service.h"

void
qhttp_handle_ticket(QhttpExchange *exchange)
{
    const char *url = qhttp_service_get_url(exchange->service);
    g_autofree char *ticket = NULL;
    GString *body = g_string_new(NULL);

    if (!qhttp_exchange_has_method(exchange, "POST")) {
        g_string_free(body, TRUE);
        qhttp_exchange_fail_method(exchange);
        return;
    }

    ticket = qhttp_access_create_ticket(qhttp_service_get_access(exchange->service));
    g_string_append_printf(body, "{\"path\":\"/login?ticket=%s\"", ticket);
    if (url != NULL)
        g_string_append_printf(body, ",\"url\":\"%s/login?ticket=%s\"", url, ticket);
    g_string_append(body, "}\n");
    qhttp_exchange_respond(exchange, 200, "application/json", body);
}

void
qhttp_handle_login(QhttpExchange *exchange)
{
    const char *ticket = qhttp_form_get(exchange->form, "ticket");
    g_autofree char *cookie = NULL;

    if (!qhttp_exchange_has_method(exchange, "GET")) {
        qhttp_exchange_fail_method(exchange);
        return;
    }
    if (ticket != NULL)
        cookie = qhttp_access_redeem_ticket(qhttp_service_get_access(exchange->service), ticket);
    if (cookie == NULL) {
        qhttp_exchange_fail(exchange, 403, "the ticket is unknown, was used already, or is older than a minute");
        return;
    }
    qhttp_exchange_set_header(exchange, "Set-Cookie", cookie);
    qhttp_exchange_set_header(exchange, "Location", "/");
    qhttp_exchange_respond(exchange, 303, NULL, NULL);
}

static const char contents[] = "queryd: SQL and SPARQL for the applications of a session\n\n"
                               "  /         the workbench, in a browser\n"
                               "  /sparql   SPARQL 1.1 Protocol; without a query the description of the service\n"
                               "  /graphs   SPARQL 1.1 Graph Store HTTP Protocol\n"
                               "  /sql      SQL: a GET with ?sql=, or a POST of {\"sql\": \"…\", \"parameters\": […]}\n"
                               "  /explain  how a query would run\n"
                               "  /watch    changes of a result, as events\n"
                               "  /status   what server this is\n";

void
qhttp_handle_index(QhttpExchange *exchange)
{
    const QhttpFormat *format = qhttp_accept_choose(qhttp_exchange_get_header(exchange, "Accept"), QHTTP_KIND_PAGE);

    if (!qhttp_exchange_has_method(exchange, "GET") && !qhttp_exchange_has_method(exchange, "HEAD"))
        qhttp_exchange_fail_method(exchange);
    else if (format != NULL && g_str_equal(format->media_type, "text/html"))
        qhttp_send_page(exchange, "index.html");
    else
        qhttp_exchange_respond(exchange, 200, "text/plain; charset=utf-8", g_string_new(contents));
}
