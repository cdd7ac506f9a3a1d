/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Breadth first from one seed at a time. What nodes lead to is read once for all seeds (closure-graph.h); searches that found many
 * nodes are kept for when their seeds come again.
 */
#include "daemon/functions/closure/closure-search.h"

#include <string.h>

#include "daemon/base/interrupt.h"
#include "daemon/functions/closure/closure-circles.h"
#include "daemon/functions/closure/closure-graph.h"

/* Searches are kept up to so many bytes. Those of fewer nodes are made again, and those that found few of the nodes that are known.
 */
#define KEPT_BYTES_MAX (8 << 20)
#define KEPT_NODES_MIN 32
#define KEPT_PART 256
/* Vertices between two questions whether the statement shall end. */
#define POLL_VERTICES 1024

/* From one seed, as far as it was asked for. */
typedef struct Search {
    gint64 seed;
    guint32 vertex; /* of @seed */
    gboolean is_begun;
    guint32 *found; /* vertices in order; those between steps are rows */
    gsize n_found;
    gsize found_capacity;
    gsize n_expanded; /* of @found */
    guint64 *seen;    /* a bit for each vertex */
    gsize n_words;
} Search;

struct QdClosure {
    QdClosureGraph graph;
    QdClosureCircles circles;
    guint32 target; /* the one vertex that is asked for; 0: all */
    gsize n_tested; /* vertices that searches for one have met */
    gsize n_polled;
    Search *search;       /* (nullable): under way */
    GHashTable *searches; /* Search by its seed: those that are kept beside it */
    gsize n_kept_bytes;   /* of these */
    gsize position;       /* in @found */
};

/* --- the search ------------------------------------------------------------------------------------------------------- */

static gboolean
has_seen(const Search *self, guint32 vertex)
{
    return vertex / 64 < self->n_words && (self->seen[vertex / 64] >> vertex % 64 & 1) != 0;
}

/* Room for a bit of each vertex, and for all of them among those found. */
static int
make_room(QdClosure *self, Search *search)
{
    gsize old = search->n_words;
    int r = SQLITE_OK;

    if (self->graph.n_vertices > 64 * old) {
        r = qd_closure_reserve(&search->seen, &search->n_words, self->graph.n_vertices / 64 + 1, sizeof *search->seen);
        if (r == SQLITE_OK)
            memset(search->seen + old, 0, (search->n_words - old) * sizeof *search->seen);
    }
    return r;
}

/* One link from @vertex. */
static int
expand(QdClosure *self, guint32 vertex)
{
    Search *search = self->search;
    const guint32 *links;
    int r = qd_closure_graph_get_links(&self->graph, vertex, &links);

    if (r == SQLITE_OK)
        r = make_room(self, search);
    if (r == SQLITE_OK && ++self->n_polled % POLL_VERTICES == 0 && qd_interrupt_poll())
        r = SQLITE_INTERRUPT;
    if (r != SQLITE_OK)
        return r;
    for (; *links != 0; links++) {
        guint64 bit = G_GUINT64_CONSTANT(1) << *links % 64;
        guint64 *word = &search->seen[*links / 64];

        if ((*word & bit) != 0)
            continue;
        r = qd_closure_reserve(&search->found, &search->found_capacity, search->n_found + 1, sizeof *search->found);
        if (r != SQLITE_OK)
            return r;
        *word |= bit;
        search->found[search->n_found++] = *links;
    }
    return SQLITE_OK;
}

/* Expands the next vertex that was found. FALSE: there is none. What '?' finds between steps is at its end. */
static gboolean
go_on(QdClosure *self, int *r)
{
    Search *search = self->search;
    guint32 vertex;

    if (*r != SQLITE_OK || search->n_expanded >= search->n_found)
        return FALSE;
    vertex = search->found[search->n_expanded++];
    if (self->graph.steps[0] != '?' || self->graph.vertices[vertex].state != 0)
        *r = expand(self, vertex);
    return *r == SQLITE_OK;
}

/* Until there is a row at the position, or nothing is left. */
static int
find_row(QdClosure *self)
{
    const Search *search = self->search;
    gboolean is_row = FALSE;
    int r = SQLITE_OK;

    do {
        while (r == SQLITE_OK && self->position < search->n_found) {
            r = qd_closure_graph_is_row(&self->graph, search->found[self->position], &is_row);
            if (r != SQLITE_OK || is_row)
                return r;
            self->position++;
        }
    } while (go_on(self, &r));
    return r;
}

/* Whether circles tell without a search. */
static int
ask_circles(QdClosure *self, QdClosureAnswer *ret_answer)
{
    *ret_answer = QD_CLOSURE_UNKNOWN;
    if (self->graph.steps[0] == '?' || has_seen(self->search, self->target))
        return SQLITE_OK;
    return qd_closure_circles_ask(&self->circles, &self->graph, self->search->vertex, self->target, self->n_tested, ret_answer);
}

/* @ret_found: whether the path leads to the target */
static int
find_target(QdClosure *self, gboolean *ret_found)
{
    gsize n_before = self->search->n_expanded;
    QdClosureAnswer answer;
    int r = ask_circles(self, &answer);

    while (r == SQLITE_OK && answer == QD_CLOSURE_UNKNOWN && !has_seen(self->search, self->target) && go_on(self, &r))
        continue;
    self->n_tested += self->search->n_expanded - n_before;
    *ret_found = answer == QD_CLOSURE_YES || has_seen(self->search, self->target);
    return r;
}

/* --- searches that are kept ------------------------------------------------------------------------------------------- */

static void
search_free(Search *self)
{
    if (self == NULL)
        return;
    sqlite3_free(self->seen);
    sqlite3_free(self->found);
    g_free(self);
}

static gsize
count_bytes(const Search *self)
{
    return sizeof *self + self->found_capacity * sizeof *self->found + self->n_words * sizeof *self->seen;
}

static void
forget_searches(QdClosure *self)
{
    g_hash_table_remove_all(self->searches);
    self->n_kept_bytes = 0;
}

/* For the next seed: what was large is given back. */
static void
search_reset(Search *self)
{
    if (self->n_found < self->n_words) {
        for (gsize i = 0; i < self->n_found; i++)
            self->seen[self->found[i] / 64] = 0;
    } else if (self->n_words > 0) {
        memset(self->seen, 0, self->n_words * sizeof *self->seen);
    }
    self->n_found = self->n_expanded = 0;
    self->is_begun = FALSE;
}

/* Another seed: a search that found many nodes is kept for when its seed comes again. */
static void
leave_search(QdClosure *self)
{
    Search *search = self->search;
    gsize n_bytes;

    if (search == NULL)
        return;
    n_bytes = count_bytes(search);
    if (search->n_found < KEPT_NODES_MIN || search->n_found < self->graph.n_vertices / KEPT_PART || n_bytes > KEPT_BYTES_MAX) {
        search_reset(search);
        return;
    }
    if (self->n_kept_bytes + n_bytes > KEPT_BYTES_MAX)
        forget_searches(self);
    self->n_kept_bytes += n_bytes;
    g_hash_table_add(self->searches, g_steal_pointer(&self->search));
}

/* What was read, and so all numbers of vertices. */
static void
forget_all(QdClosure *self)
{
    g_clear_pointer(&self->search, search_free);
    forget_searches(self);
    qd_closure_circles_clear(&self->circles);
    qd_closure_graph_clear(&self->graph);
}

/* The search from @seed is under way, or a new one. */
static void
enter_search(QdClosure *self, gint64 seed)
{
    gpointer kept = NULL;

    if (self->search != NULL && self->search->is_begun && self->search->seed == seed)
        return;
    if (self->graph.n_vertices > QD_CLOSURE_VERTICES_MAX)
        forget_all(self);
    leave_search(self);
    if (g_hash_table_steal_extended(self->searches, &seed, &kept, NULL)) {
        search_free(self->search);
        self->search = kept;
        self->n_kept_bytes -= count_bytes(self->search);
    }
    if (self->search == NULL)
        self->search = g_new0(Search, 1);
    self->search->seed = seed;
}

/* --- paths ------------------------------------------------------------------------------------------------------------ */

QdClosure *
qd_closure_new(QdClosureStatements *statements)
{
    QdClosure *self = g_new0(QdClosure, 1);

    self->graph.statements = statements;
    self->searches = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, (GDestroyNotify) search_free);
    return self;
}

QdClosure *
qd_closure_free(QdClosure *self)
{
    if (self == NULL)
        return NULL;

    forget_all(self);
    g_hash_table_unref(self->searches);
    g_free(self);
    return NULL;
}

gboolean
qd_closure_has_path(const QdClosure *self, const guint8 *steps, gsize n_steps, gint64 graph)
{
    return n_steps > 0 && n_steps == self->graph.n_steps && graph == self->graph.graph &&
           memcmp(steps, self->graph.steps, n_steps) == 0;
}

gboolean
qd_closure_set_path(QdClosure *self, const guint8 *steps, gsize n_steps, gint64 graph)
{
    guint n_links;

    if (!qd_closure_is_path(steps, n_steps, &n_links))
        return FALSE;
    if (qd_closure_has_path(self, steps, n_steps, graph))
        return TRUE;

    forget_all(self);
    memcpy(self->graph.steps, steps, n_steps);
    self->graph.n_steps = n_steps;
    self->graph.n_path_links = n_links;
    self->graph.graph = graph;
    return TRUE;
}

gboolean
qd_closure_has_seeds(const QdClosure *self)
{
    return self->graph.steps[0] != '+';
}

/* The seed itself where the path may have no length, then its first step where it may not go on. */
static int
begin_search(QdClosure *self)
{
    Search *search = self->search;
    int r = qd_closure_graph_add(&self->graph, search->seed, 0, &search->vertex);

    if (r == SQLITE_OK)
        r = make_room(self, search);
    if (r == SQLITE_OK && self->graph.steps[0] != '+') {
        r = qd_closure_reserve(&search->found, &search->found_capacity, 1, sizeof *search->found);
        if (r != SQLITE_OK)
            return r;
        search->found[search->n_found++] = search->vertex;
        search->seen[search->vertex / 64] |= G_GUINT64_CONSTANT(1) << search->vertex % 64;
    }
    if (r == SQLITE_OK && self->graph.steps[0] != '*')
        r = expand(self, search->vertex);
    return r;
}

int
qd_closure_start(QdClosure *self, gint64 seed, gint64 target)
{
    int r = SQLITE_OK;

    self->position = 0;
    enter_search(self, seed);
    self->target = 0;
    if (!self->search->is_begun) {
        self->search->is_begun = TRUE;
        r = begin_search(self);
    }
    if (r == SQLITE_OK && target != 0)
        r = qd_closure_graph_add(&self->graph, target, 0, &self->target);
    if (r != SQLITE_OK)
        g_clear_pointer(&self->search, search_free); /* it lacks nodes */
    return r;
}

/* Another one than the target is never asked for: the position is that of an answer. */
static int
take_target(QdClosure *self, gint64 *ret_node)
{
    gboolean found = FALSE;
    int r = self->position == 0 ? find_target(self, &found) : SQLITE_OK;

    if (found)
        *ret_node = self->graph.vertices[self->target].node;
    return r;
}

int
qd_closure_next(QdClosure *self, gint64 *ret_node)
{
    int r;

    *ret_node = 0;
    r = self->target != 0 ? take_target(self, ret_node) : find_row(self);
    if (r != SQLITE_OK)
        g_clear_pointer(&self->search, search_free); /* it lacks nodes */
    else if (self->target == 0 && self->position < self->search->n_found)
        *ret_node = self->graph.vertices[self->search->found[self->position]].node;
    self->position++;
    return r;
}

int
qd_closure_count(QdClosure *self, guint64 *ret_n)
{
    int r = SQLITE_OK;

    *ret_n = 0;
    while (go_on(self, &r))
        continue;
    for (gsize i = 0; r == SQLITE_OK && i < self->search->n_found; i++) {
        gboolean is_row = FALSE;

        r = qd_closure_graph_is_row(&self->graph, self->search->found[i], &is_row);
        *ret_n += is_row ? 1 : 0;
    }
    if (r != SQLITE_OK)
        g_clear_pointer(&self->search, search_free);
    return r;
}
