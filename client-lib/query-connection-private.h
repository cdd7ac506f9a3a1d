/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the other objects of the library need from a connection.
 *
 * Place: internal to libquery-client.
 */
#pragma once

#include "client-lib/core/query-hub.h"
#include "client-lib/request/query-request.h"

/* Not connected to anything; the first call will. */
QueryConnection *query_connection_new_offline(const char *store);

/**
 * query_connection_check_made:
 * @self: (nullable): of an object of the library; NULL when g_object_new() has made it
 * @maker: name of the function that makes such objects
 * @error: (nullable): location for an error
 *
 * Errors: CLOSED.
 *
 * Returns: whether there is a connection
 */
gboolean query_connection_check_made(QueryConnection *self, const char *maker, GError **error);

QueryEndpoint query_connection_get_endpoint(QueryConnection *self);
/* (nullable): NULL on a direct connection */
QueryBus *query_connection_get_bus(QueryConnection *self);
QueryPool *query_connection_get_pool(QueryConnection *self);
/* (nullable): the file that is read instead of asking a daemon. */
QueryDirect *query_connection_get_direct(QueryConnection *self);

/**
 * query_connection_create_command:
 * @error: (nullable): location for an error
 *
 * With the options that are set on the connection now.
 *
 * Errors: SYNTAX for a @text that is not UTF-8.
 *
 * Returns: (transfer full) (nullable): what to run
 */
QueryCommand *query_connection_create_command(QueryConnection *self, QueryLanguage language, const char *text, gboolean writes,
                                              GError **error);

/* SYNTAX for a @text that is not UTF-8. */
gboolean query_connection_check_text(const char *text, GError **error);

/* (nullable): of the caller's main context, until query_connection_drop_hub(). UNAVAILABLE; UNSUPPORTED when it is direct. */
QueryHub *query_connection_get_hub(QueryConnection *self, const QueryHubFuncs *funcs, GCancellable *cancellable, GError **error);
/* Once for each get. Any thread. */
void query_connection_drop_hub(QueryConnection *self, QueryHub *hub);

/* The name of a language on the bus. */
const char *query_language_get_name(QueryLanguage language);
