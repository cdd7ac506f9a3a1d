/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The handlers of the routes, a file for each.
 *
 * Place: room http. A handler is called in the main loop; it answers at once, or keeps a reference and answers later.
 */
#pragma once

#include <query-client.h>

#include "client-lib/http/http-exchange.h"

#define QHTTP_SPARQL_PATH "/sparql"
#define QHTTP_GRAPHS_PATH "/graphs"
#define QHTTP_PAGE_PATH "/workbench"

/* SPARQL 1.1 Protocol */
void qhttp_handle_sparql(QhttpExchange *exchange);
/* SPARQL 1.1 Graph Store HTTP Protocol */
void qhttp_handle_graphs(QhttpExchange *exchange);
/* SPARQL 1.1 Service Description */
void qhttp_describe_service(QhttpExchange *exchange);
/* SQL, with JSON in and out */
void qhttp_handle_sql(QhttpExchange *exchange);
void qhttp_handle_explain(QhttpExchange *exchange);
/* Changes of a result, as events */
void qhttp_handle_watch(QhttpExchange *exchange);
/* The files of the workbench; what server this is */
void qhttp_handle_page(QhttpExchange *exchange);
void qhttp_handle_status(QhttpExchange *exchange);
/* A ticket for a browser; the ticket's exchange for a cookie */
void qhttp_handle_ticket(QhttpExchange *exchange);
void qhttp_handle_login(QhttpExchange *exchange);
/* The workbench for a browser, what there is for others */
void qhttp_handle_index(QhttpExchange *exchange);

/* (nullable): the statement of Explain or of a watched result; NULL: answered */
const char *qhttp_get_statement(QhttpExchange *exchange, QueryLanguage *ret_language);

/* Answers with a file of the workbench, or that there is none. */
void qhttp_send_page(QhttpExchange *exchange, const char *name);
