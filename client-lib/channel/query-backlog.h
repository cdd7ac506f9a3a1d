/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rest of a result that was read before its rows were asked for: pages in memory, and in a file when there are many.
 *
 * Place: internal to libquery-client; between a channel, or a direct run, and the cursor.
 * Invariant: records come out in the order in which they went in; nothing follows the last one. Rows are not looked at. Bounds:
 * QUERY_BACKLOG_MEMORY_BYTES for all backlogs of the process, from there on a file without a name; QUERY_BACKLOG_FILE_BYTES of
 * these. Not for several threads at once.
 */
#pragma once

#include "client-lib/channel/query-channel.h"

#define QUERY_BACKLOG_MEMORY_BYTES (16u * 1024u * 1024u)
#define QUERY_BACKLOG_FILE_BYTES (2048u * UINT64_C(1048576))

typedef struct QueryBacklog QueryBacklog;

typedef enum QueryBacklogResult {
    QUERY_BACKLOG_RECORD,
    QUERY_BACKLOG_EMPTY, /* the rest is still where it was */
    QUERY_BACKLOG_FAILED,
} QueryBacklogResult;

QueryBacklog *query_backlog_new(void);
void query_backlog_free(QueryBacklog *self);

/**
 * query_backlog_put:
 * @record: (transfer none): ROWS, or what ends the result; its body is copied
 * @error: (nullable): location for an error
 *
 * Errors: LIMIT_EXCEEDED at QUERY_BACKLOG_FILE_BYTES; DISK_FULL and INTERNAL of the temporary file. @self is as before then.
 *
 * Returns: FALSE on error
 */
gboolean query_backlog_put(QueryBacklog *self, const QueryRecord *record, GError **error);

/* @failure: (transfer full): ends the result after what is in here. */
void query_backlog_put_failure(QueryBacklog *self, GError *failure);

/**
 * query_backlog_take:
 * @ret_record: (out caller-allocates): set with RECORD; its body is good until the next call
 * @error: (nullable): set with FAILED
 *
 * Takes the next record. Errors: what query_backlog_put_failure() was given, INTERNAL when the file cannot be read.
 */
QueryBacklogResult query_backlog_take(QueryBacklog *self, QueryRecord *ret_record, GError **error);
