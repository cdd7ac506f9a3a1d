/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A store and a direct connection to its file, in one process, for the tests of client-lib/direct.
 */
#pragma once

#include "client-lib/direct/query-direct.h"
#include "client-lib/query-connection-private.h"
#include "tests/unit/store/store-fixture.h"

#define DIRECT_SQL QUERY_LANGUAGE_SQL

typedef struct DirectFixture {
    StoreFixture store;
    char *path;
    QueryConnection *connection;
} DirectFixture;

/* The table t(id, v) has 20,000 rows of about 100 bytes: many pages. */
void direct_fixture_set_up(DirectFixture *self, gconstpointer data);
void direct_fixture_tear_down(DirectFixture *self, gconstpointer data);

/* NULL when it could not be opened. */
QueryConnection *direct_fixture_open(DirectFixture *self, GError **error);

/* Fails the test when the query does. */
QueryCursor *direct_query(QueryConnection *connection, const char *text);
gint64 direct_query_int64(QueryConnection *connection, const char *text);

/* The rows that are left, up to the end or @error. */
guint direct_count_rows(QueryCursor *cursor, GError **error);

/* An error of QUERY_ERROR with this code, whose message contains @words. */
void direct_assert_error(const GError *error, QueryError code, const char *words);
