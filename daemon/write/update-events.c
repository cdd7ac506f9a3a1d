/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts of each resource's quads while the update runs; what they mean is found at its end.
 */
#include "daemon/write/update-events.h"

#include <string.h>

#include "daemon/rdf/term-id.h"
#include "daemon/sqlite/sqlite-error.h"

#define COUNT_QUADS "SELECT count(*) FROM (SELECT 1 FROM queryd_quad WHERE s=? AND g=? LIMIT ?)"

/* Of a resource in a graph. */
typedef struct Count {
    gint64 graph, resource;
    gint64 n_inserted, n_deleted; /* quads */
} Count;

struct QdUpdateEvents {
    const QdLimits *limits;
    GHashTable *counts; /* of Count */
};

static guint
hash_count(gconstpointer data)
{
    const Count *count = data;

    return g_int64_hash(&count->resource) ^ g_int64_hash(&count->graph);
}

static gboolean
is_same_resource(gconstpointer a, gconstpointer b)
{
    const Count *x = a;
    const Count *y = b;

    return x->resource == y->resource && x->graph == y->graph;
}

QdUpdateEvents *
qd_update_events_new(const QdLimits *limits)
{
    QdUpdateEvents *self;

    if (qd_limits_get(limits, QD_LIMIT_RESOURCE_EVENTS) == 0)
        return NULL;

    self = g_new0(QdUpdateEvents, 1);
    self->limits = limits;
    self->counts = g_hash_table_new_full(hash_count, is_same_resource, g_free, NULL);
    return self;
}

QdUpdateEvents *
qd_update_events_free(QdUpdateEvents *self)
{
    if (self != NULL)
        g_hash_table_unref(self->counts);
    g_free(self);
    return NULL;
}

void
qd_update_events_count(QdUpdateEvents *self, gint64 graph, gint64 resource, gboolean insert)
{
    const Count key = { .graph = graph, .resource = resource };
    Count *count = g_hash_table_lookup(self->counts, &key);

    if (count == NULL) {
        if (resource <= 0 || g_hash_table_size(self->counts) >= qd_limits_get(self->limits, QD_LIMIT_RESOURCE_EVENTS))
            return;
        count = g_memdup2(&key, sizeof key);
        (void) g_hash_table_add(self->counts, count);
    }
    *(insert ? &count->n_inserted : &count->n_deleted) += 1;
}

/* Made, if all that it has now was inserted; deleted, if it has nothing. Returns: a result code of SQLite */
static int
find_event(const Count *count, sqlite3_stmt *stmt, QdResourceEvent *ret_event)
{
    gint64 n_quads;

    (void) sqlite3_bind_int64(stmt, 1, count->resource);
    (void) sqlite3_bind_int64(stmt, 2, count->graph);
    (void) sqlite3_bind_int64(stmt, 3, count->n_inserted + 1);
    if (sqlite3_step(stmt) != SQLITE_ROW)
        return sqlite3_reset(stmt);
    n_quads = sqlite3_column_int64(stmt, 0);
    *ret_event = n_quads == 0                                            ? QD_RESOURCE_DELETED
                 : count->n_deleted == 0 && n_quads == count->n_inserted ? QD_RESOURCE_CREATED
                                                                         : QD_RESOURCE_UPDATED;
    return sqlite3_reset(stmt);
}

static gboolean
tell_resource(const Count *count, QdResourceEvent event, QdDictionary *dictionary, QdResourceEvents *events, GError **error)
{
    guint64 number = qd_term_id_get_sequence(count->resource);
    QdTerm graph = { .lexical = "" };
    g_autofree char *iri = NULL;

    if (number > G_MAXINT32)
        return TRUE;
    if (count->graph != 0 && !qd_dictionary_get_term(dictionary, count->graph, &graph, error))
        return FALSE;
    iri = g_strndup(graph.lexical, graph.n_lexical);
    qd_resource_events_add(events, iri, (gint32) number, event);
    return TRUE;
}

gboolean
qd_update_events_tell(QdUpdateEvents *self, sqlite3 *db, QdDictionary *dictionary, QdResourceEvents *events, GError **error)
{
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_prepare_v2(db, COUNT_QUADS, -1, &stmt, NULL);
    gboolean is_known = TRUE; /* each graph's name */
    QdResourceEvent event = QD_RESOURCE_UPDATED;
    GHashTableIter iter;
    gpointer count;

    g_hash_table_iter_init(&iter, self->counts);
    while (r == SQLITE_OK && is_known && g_hash_table_iter_next(&iter, &count, NULL)) {
        r = find_event(count, stmt, &event);
        is_known = r != SQLITE_OK || tell_resource(count, event, dictionary, events, error);
    }
    if (r != SQLITE_OK)
        qd_sqlite_set_error(error, db, r, COUNT_QUADS, strlen(COUNT_QUADS), self->limits);
    (void) sqlite3_finalize(stmt);
    return r == SQLITE_OK && is_known;
}
