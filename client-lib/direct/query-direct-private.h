/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of direct connections, for the files query-direct*.c, the only ones of the library that know SQLite.
 *
 * Place: internal to libquery-client.
 */
#pragma once

#include "client-lib/direct/query-direct-snapshots.h"
#include "client-lib/direct/query-direct.h"
#include "daemon/read/run.h"

/* One incarnation of the file: another one may be renamed to its path. */
typedef struct QueryDirectFile {
    gint ref_count; /* atomic; one for each run */
    QdPool *pool;
    guint64 device;
    guint64 inode;
} QueryDirectFile;

struct QueryDirect {
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

/* The file as it is now, opened anew when it was replaced. (transfer full) (nullable) */
QueryDirectFile *query_direct_get_file(QueryDirect *self, GError **error);
void query_direct_file_unref(QueryDirectFile *file);

/* Compiles for reading. An error of the engine; NULL then. @file outlives the run. (transfer full) (nullable) */
QdRun *query_direct_compile(QueryDirect *self, QueryDirectFile *file, const QueryPlan *plan, gboolean is_described, GError **error);

/* What @compiled looks like. (transfer full) */
QuerySchema *query_direct_create_schema(const QdShape *shape);

/* Consumes @failure, an error of the engine: the same code and words as QUERY_ERROR. */
void query_direct_propagate(GError **error, GError *failure);
