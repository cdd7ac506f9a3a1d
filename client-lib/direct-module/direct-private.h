/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of direct connections, for the files direct-*.c.
 *
 * Place: the module of libquery-client that contains the daemon's reader, and SQLite with it. direct-table.c gives its functions,
 * which query-direct.h describes, to the library.
 */
#pragma once

#include "client-lib/direct-module/direct-snapshots.h"
#include "client-lib/direct/query-direct-table.h"
#include "daemon/base/limits.h"

typedef struct QdClient QdClient;
typedef struct QdPool QdPool;
typedef struct QdRun QdRun;
typedef struct QdShape QdShape;

/* One incarnation of the file: another one may be renamed to its path. */
typedef struct QueryDirectFile {
    gint ref_count; /* atomic; one for each run */
    QdPool *pool;
    guint64 device;
    guint64 inode;
} QueryDirectFile;

struct QueryDirect {
    QueryDirectHead head;
    gint ref_count; /* atomic; one for each run */
    char *path;
    QdLimits limits;
    QdClient *client;
    QueryDirectSnapshots *snapshots;
    guint64 file_check_usec;
    uint8_t *spare_page; /* (nullable) atomic: a first page's buffer for the next run */
    pthread_mutex_t mutex;
    QueryDirectFile *file;   /* guarded by mutex */
    guint64 next_check_usec; /* guarded by mutex */
};

extern const QueryDirectTable query_direct_table;

/* What query-direct.h describes, under the same names after "query_". */
QueryDirect *direct_open(const char *path, GVariant *options, GError **error);
QueryDirect *direct_ref(QueryDirect *self);
void direct_unref(QueryDirect *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryDirect, direct_unref)
const char *direct_get_path(const QueryDirect *self);
void direct_set_times(QueryDirect *self, guint64 snapshot_age_msec, guint64 file_check_msec);
QuerySchema *direct_describe(QueryDirect *self, const QueryCommand *command, GError **error);
QueryDirectRun *direct_start(QueryDirect *self, const QueryCommand *command, QuerySchema *known, const QueryParameters *parameters,
                             GBytes *row, GCancellable *cancellable, GError **error);
QueryDirectRun *direct_run_ref(QueryDirectRun *self);
void direct_run_unref(QueryDirectRun *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QueryDirectRun, direct_run_unref)
QuerySchema *direct_run_get_schema(const QueryDirectRun *self);
void direct_run_cancel(QueryDirectRun *self);
void direct_run_work(QueryDirectRun *self, GCancellable *cancellable);
gpointer direct_run_detach_page(QueryDirectRun *self);
gboolean direct_run_is_open(QueryDirectRun *self);
QueryDirectResult direct_run_take(QueryDirectRun *self, QwPageReader *ret_reader, QwEnd *ret_end, GError **error);

/* The file as it is now, opened again if it was replaced. (transfer full) (nullable) */
QueryDirectFile *direct_get_file(QueryDirect *self, GError **error);
void direct_file_unref(QueryDirectFile *file);

/* Compiles for reading. An error of the engine; NULL then. @file outlives the run. (transfer full) (nullable) */
QdRun *direct_compile(QueryDirect *self, QueryDirectFile *file, const QueryCommand *command, gboolean is_described, GError **error);

/* What @compiled looks like. (transfer full) */
QuerySchema *direct_create_schema(const QdShape *shape);

/* Consumes @failure, an error of the engine: the same code and words as QUERY_ERROR. */
void direct_propagate(GError **error, GError *failure);
