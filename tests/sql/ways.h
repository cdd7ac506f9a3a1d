/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ways to queryd: each executes one statement and tells what came of it.
 *
 * Place: tests/sql. A query or update has a number, which is reduced to one of the ways that it can take.
 */
#pragma once

#include "client-lib/query-client.h"
#include "tests/sql/outcome.h"
#include "tests/sql/script.h"

typedef struct Ways Ways;

/* The daemon is that of the session bus; the database is @path. */
Ways *ways_new(void);
Ways *ways_free(Ways *self);
const char *ways_get_path(const Ways *self);
/* A channel of its own, which has executed nothing yet, for a script that asks for counts. */
void ways_renew_channel(Ways *self);

guint ways_get_n_query_ways(void);
guint ways_get_n_update_ways(void);
const char *ways_get_query_name(guint32 way);
const char *ways_get_update_name(guint32 way);

/* (transfer full). @counts: by the one channel of the script. */
Outcome *ways_query(Ways *self, guint32 way, gboolean counts, const Step *step);
/* Whether ways_update() begins and ends a transaction around the step. */
gboolean ways_is_transaction(guint32 way, gboolean counts);
Outcome *ways_update(Ways *self, guint32 way, gboolean counts, const Step *step);

/* NULL with a message in @ret_error. */
QueryTransaction *ways_begin(Ways *self);
Outcome *ways_query_in(QueryTransaction *transaction, const Step *step);
Outcome *ways_update_in(QueryTransaction *transaction, const Step *step);
/* (transfer full): without an error, or that of COMMIT */
Outcome *ways_end(QueryTransaction *transaction, gboolean commit);
/* @steps: of Step. (transfer full): the error; rows are the counts of each */
Outcome *ways_batch(Ways *self, const GPtrArray *steps);
