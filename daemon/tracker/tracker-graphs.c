/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets of graphs. The default graph is the name "".
 */
#include "daemon/tracker/tracker-graphs.h"

#define NO_GRAPH "FROM NAMED <urn:queryd:no-graph>" /* a dataset of graphs that are empty */

struct QdTrackerGraphs {
    GPtrArray *from;     /* of char * */
    GPtrArray *named;    /* of char * */
    GHashTable *allowed; /* (nullable): a set of char *; NULL: all */
    GHashTable *clause;  /* (nullable): of the clause that is being read; NULL: all */
};

QdTrackerGraphs *
qd_tracker_graphs_new(void)
{
    QdTrackerGraphs *self = g_new0(QdTrackerGraphs, 1);

    self->from = g_ptr_array_new_with_free_func(g_free);
    self->named = g_ptr_array_new_with_free_func(g_free);
    return self;
}

QdTrackerGraphs *
qd_tracker_graphs_free(QdTrackerGraphs *self)
{
    if (self == NULL)
        return NULL;

    g_ptr_array_unref(self->from);
    g_ptr_array_unref(self->named);
    g_clear_pointer(&self->allowed, g_hash_table_unref);
    g_clear_pointer(&self->clause, g_hash_table_unref);
    g_free(self);
    return NULL;
}

void
qd_tracker_graphs_add_from(QdTrackerGraphs *self, gboolean is_named, const char *iri)
{
    g_ptr_array_add(is_named ? self->named : self->from, g_strdup(iri));
}

void
qd_tracker_graphs_begin_constraint(QdTrackerGraphs *self)
{
    g_clear_pointer(&self->clause, g_hash_table_unref);
    self->clause = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void
qd_tracker_graphs_allow(QdTrackerGraphs *self, const char *iri)
{
    if (iri == NULL)
        g_clear_pointer(&self->clause, g_hash_table_unref);
    else if (self->clause != NULL)
        (void) g_hash_table_add(self->clause, g_strdup(iri));
}

void
qd_tracker_graphs_end_constraint(QdTrackerGraphs *self)
{
    GHashTableIter iter;
    gpointer iri;

    if (self->clause == NULL)
        return;
    if (self->allowed == NULL) {
        self->allowed = g_steal_pointer(&self->clause);
        return;
    }
    g_hash_table_iter_init(&iter, self->allowed);
    while (g_hash_table_iter_next(&iter, &iri, NULL))
        if (!g_hash_table_contains(self->clause, iri))
            g_hash_table_iter_remove(&iter);
    g_clear_pointer(&self->clause, g_hash_table_unref);
}

gboolean
qd_tracker_graphs_is_constrained(const QdTrackerGraphs *self)
{
    return self->allowed != NULL;
}

static void
put_graph(GString *out, gboolean is_named, const char *iri)
{
    if (iri[0] != '\0')
        g_string_append_printf(out, "FROM %s<%s> ", is_named ? "NAMED " : "", iri);
    else if (!is_named)
        g_string_append(out, "FROM DEFAULT ");
}

/* Those of the text that are allowed. */
static void
put_own(const QdTrackerGraphs *self, GString *out, const GPtrArray *graphs, gboolean is_named)
{
    for (guint i = 0; i < graphs->len; i++)
        if (g_hash_table_contains(self->allowed, graphs->pdata[i]))
            put_graph(out, is_named, graphs->pdata[i]);
}

char *
qd_tracker_graphs_make_dataset(const QdTrackerGraphs *self, gboolean union_default_graph)
{
    g_autoptr(GString) out = g_string_new(NULL);
    gboolean has_own = self->from->len + self->named->len > 0;
    GHashTableIter iter;
    gpointer iri;

    if (self->allowed == NULL)
        return union_default_graph && !has_own ? g_strdup("FROM ALL FROM NAMED ALL") : NULL;

    put_own(self, out, self->from, FALSE);
    put_own(self, out, self->named, TRUE);
    g_hash_table_iter_init(&iter, self->allowed);
    while (!has_own && g_hash_table_iter_next(&iter, &iri, NULL)) {
        if (union_default_graph || *(const char *) iri == '\0')
            put_graph(out, FALSE, iri);
        put_graph(out, TRUE, iri);
    }
    if (out->len == 0)
        g_string_append(out, NO_GRAPH);
    return g_string_free(g_steal_pointer(&out), FALSE);
}
