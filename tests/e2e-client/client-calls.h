/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls of the library that have to succeed, for tests of something else.
 *
 * Place: end-to-end tests of libquery-client, on a private bus.
 */
#pragma once

#include "client-lib/query-client.h"

/* (transfer full): to the store of the private bus */
QueryConnection *client_open(void);
/* SQL */
void client_execute(QueryConnection *connection, const char *text);
/* The one value of an SQL query. */
gint64 client_query_number(QueryConnection *connection, const char *text);
