/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SPARQL on a store of its own, from the text to the rows, without threads or a bus between.
 *
 * Place: tests of daemon/sparql and the rooms that run it. The prefix ":" stands for SPARQL_EX in every text.
 */
#pragma once

#include "daemon/notify/changes.h"
#include "tests/unit/store/store-fixture.h"

#define SPARQL_EX "http://example.org/"

typedef struct SparqlFixture {
    StoreFixture store;
    QdChanges *changed;     /* by the last update */
    GHashTable *parameters; /* (nullable): name → QdTerm, of the texts that follow */
} SparqlFixture;

/* A transaction is open in between. For g_test_add(). */
void sparql_fixture_set_up(SparqlFixture *self, gconstpointer data);
void sparql_fixture_tear_down(SparqlFixture *self, gconstpointer data);

/* The number of changed quads. The second must succeed. */
gboolean sparql_try_update(SparqlFixture *self, const char *text, guint64 *ret_changes, GError **error);
guint64 sparql_update(SparqlFixture *self, const char *text);

/*
 * (transfer full): a line for each row, cells with a tab between. A cell is ":a" for an IRI of SPARQL_EX, a lexical form,
 * "x@en", "_:" for a blank node or "-" for unbound. NULL with an error.
 */
char *sparql_try_query(SparqlFixture *self, const char *text, GError **error);
void sparql_assert_rows(SparqlFixture *self, const char *text, const char *expected);

/* (transfer full): the SQL of a SELECT over a large store. :few has 10 triples, and is the object of 5; any other predicate has
 * 100,000 from 50,000 nodes to 50,000. */
char *sparql_get_sql(const char *text);

/* (transfer full): the SQL of a SELECT over the fixture's store. */
char *sparql_get_sql_of(SparqlFixture *self, const char *text);

/* The one number that @text, which is freed, gives. */
gint64 sparql_take_number(SparqlFixture *self, char *text);

/* (transfer full): @text so often, with @separator between; "{i}" in it is the count from @first, "{j}" the one after that. */
char *sparql_repeat(const char *text, const char *separator, guint first, guint n);

/* Seven nodes :n0 … :n6 in a circle of :p, so that paths of any length have an end. */
#define SPARQL_N_CIRCLE 7
void sparql_fixture_set_up_circle(SparqlFixture *self, gconstpointer data);
