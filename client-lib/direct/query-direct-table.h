/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions by which libquery-client and its modules know each other: the one for direct connections, and the one for remote
 * connections.
 *
 * Place: internal to libquery-client. Module and library are of one build: the table begins with its version.
 */
#pragma once

#include <gio/gio.h>

#include "client-lib/core/query-command.h"
#include "client-lib/core/query-parameters.h"
#include "client-lib/wire/wire-page-reader.h"

/* Each begins with a QueryDirectHead: its module's own table. */
typedef struct QueryDirect QueryDirect;
typedef struct QueryDirectRun QueryDirectRun;
typedef struct QueryDirectTable QueryDirectTable;

typedef struct QueryDirectHead {
    const QueryDirectTable *table;
} QueryDirectHead;

typedef enum QueryDirectResult {
    QUERY_DIRECT_WORK, /* nothing is here: query_direct_run_work() */
    QUERY_DIRECT_ROWS,
    QUERY_DIRECT_END,
    QUERY_DIRECT_FAILED,
} QueryDirectResult;

/* Each member does the work of the function query_direct_MEMBER() (query-direct.h). */
struct QueryDirectTable {
    const char *version; /* of the project */
    QueryDirect *(*open)(const char *place, GVariant *options, GError **error);
    void (*unref)(QueryDirect *self);
    const char *(*get_path)(const QueryDirect *self); /* NULL: it reads no file */
    void (*set_times)(QueryDirect *self, guint64 snapshot_age_msec, guint64 file_check_msec);
    QuerySchema *(*describe)(QueryDirect *self, const QueryCommand *command, GError **error);
    gboolean (*update)(QueryDirect *self, const QueryCommand *command, const QueryParameters *parameters, GBytes *row,
                       GCancellable *cancellable, GError **error); /* NULL: it cannot write */
    QueryDirectRun *(*start)(QueryDirect *self, const QueryCommand *command, QuerySchema *known, const QueryParameters *parameters,
                             GBytes *row, GCancellable *cancellable, GError **error);
    QueryDirectRun *(*run_ref)(QueryDirectRun *self);
    void (*run_unref)(QueryDirectRun *self);
    QuerySchema *(*run_get_schema)(const QueryDirectRun *self);
    void (*run_cancel)(QueryDirectRun *self);
    void (*run_work)(QueryDirectRun *self, GCancellable *cancellable);
    gpointer (*run_detach_page)(QueryDirectRun *self);
    gboolean (*run_is_open)(QueryDirectRun *self);
    QueryDirectResult (*run_take)(QueryDirectRun *self, QwPageReader *ret_reader, QwEnd *ret_end, GError **error);
};

/* The only symbol of each module. */
#define QUERY_DIRECT_TABLE_SYMBOL "query_direct_table"
#define QUERY_REMOTE_TABLE_SYMBOL "query_remote_table"
