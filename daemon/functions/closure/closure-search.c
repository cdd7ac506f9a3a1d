/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Breadth first from one seed at a time. What nodes lead to is read once for all seeds; searches that found many nodes are kept for
 * when their seeds come again.
 */
#include "daemon/functions/closure/closure-search.h"

#include <string.h>

#define FIRST_CAPACITY 64
/* What nodes lead to is kept up to so many links: 8 MiB. */
#define KEPT_LINKS_MAX (1 << 20)
/* Searches are kept up to so many nodes, 8 MiB at most, and searches of fewer are made again: their tables are larger. */
#define KEPT_NODES_MAX (1 << 17)
#define KEPT_NODES_MIN 32

/* A growing array of ids. */
typedef struct Ids {
    gint64 *values;
    gsize n;
    gsize capacity;
} Ids;

/* Open addressing from an id, which is never 0, to a number; a set where the numbers are of no interest. */
typedef struct Table {
    gint64 *keys;
    guint32 *numbers;
    gsize n;
    gsize capacity; /* a power of two, or 0 */
} Table;

/* Where a search is between two links: state 0 between steps, state i before link i of the path where that goes on from another. */

/* From one seed, as far as it was asked for. */
typedef struct Search {
    gint64 seed;
    gboolean is_begun;
    Ids found;        /* in order; its elements are rows */
    gsize n_expanded; /* of @found */
    Table *seen;      /* of each state: nodes */
    guint n_states;
} Search;

struct QdClosure {
    QdClosureStatements *statements; /* not owned */
    guint8 steps[QD_CLOSURE_PATH_BYTES];
    gsize n_steps; /* bytes of @steps */
    gint64 graph;
    gint64 target;        /* the one node that is asked for; 0: all */
    Search *search;       /* (nullable): under way */
    GHashTable *searches; /* Search by its seed: those that are kept beside it */
    gsize n_kept;         /* nodes of these */
    gsize position;
    Ids waiting;                       /* pairs of node and state, inside a step */
    Ids links;                         /* of the nodes that are known, a run ended by 0 for each link that may follow */
    Table known[QD_CLOSURE_LINKS_MAX]; /* of each state: node → its place in @links */
};

/* --- containers ------------------------------------------------------------------------------------------------------- */

static gboolean
ids_add(Ids *self, gint64 id)
{
    if (self->n == self->capacity) {
        gsize capacity = MAX(FIRST_CAPACITY, 2 * self->capacity);
        gint64 *values = sqlite3_realloc64(self->values, capacity * sizeof *values);

        if (values == NULL)
            return FALSE;
        self->values = values;
        self->capacity = capacity;
    }
    self->values[self->n++] = id;
    return TRUE;
}

static gsize
table_find(const Table *self, gint64 id)
{
    gsize slot = (gsize) (((guint64) id * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)) >> 20) & (self->capacity - 1);

    while (self->keys[slot] != 0 && self->keys[slot] != id)
        slot = (slot + 1) & (self->capacity - 1);
    return slot;
}

static gboolean
table_grow(Table *self)
{
    Table larger = { .capacity = MAX(FIRST_CAPACITY, 2 * self->capacity), .n = self->n };

    larger.keys = sqlite3_malloc64(larger.capacity * (sizeof *larger.keys + sizeof *larger.numbers));
    if (larger.keys == NULL)
        return FALSE;
    memset(larger.keys, 0, larger.capacity * sizeof *larger.keys);
    larger.numbers = (guint32 *) (larger.keys + larger.capacity);
    for (gsize i = 0; i < self->capacity; i++)
        if (self->keys[i] != 0) {
            gsize slot = table_find(&larger, self->keys[i]);

            larger.keys[slot] = self->keys[i];
            larger.numbers[slot] = self->numbers[i];
        }
    sqlite3_free(self->keys);
    *self = larger;
    return TRUE;
}

/* *@ret_added is FALSE when @id is there already. Returns: FALSE without memory. */
static gboolean
table_add(Table *self, gint64 id, guint32 number, gboolean *ret_added)
{
    gsize slot;

    if (2 * self->n >= self->capacity && !table_grow(self))
        return FALSE;

    slot = table_find(self, id);
    *ret_added = self->keys[slot] == 0;
    if (*ret_added) {
        self->keys[slot] = id;
        self->numbers[slot] = number;
        self->n++;
    }
    return TRUE;
}

/* For the next seed: what was large is given back. */
static void
table_reset(Table *self)
{
    if (self->capacity > 1024 && self->n * 8 < self->capacity) {
        sqlite3_free(self->keys);
        *self = (Table){ .n = 0 };
    } else if (self->n > 0) {
        memset(self->keys, 0, self->capacity * sizeof *self->keys);
        self->n = 0;
    }
}

/* --- links ------------------------------------------------------------------------------------------------------------ */

void
qd_closure_statements_clear(QdClosureStatements *self)
{
    (void) sqlite3_finalize(self->forward);
    (void) sqlite3_finalize(self->backward);
    self->forward = self->backward = NULL;
}

static int
prepare(QdClosureStatements *self, sqlite3_stmt **stmt, const char *sql)
{
    if (*stmt != NULL)
        return SQLITE_OK;
    return sqlite3_prepare_v3(self->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
}

/* Appends what one link leads to from @node. */
static int
read_link(QdClosure *self, gint64 node, gboolean backward, gint64 predicate)
{
    sqlite3_stmt **stmt = backward ? &self->statements->backward : &self->statements->forward;
    int r = prepare(self->statements, stmt,
                    backward ? "SELECT s FROM queryd_quad WHERE o=?1 AND p=?2 AND g=?3"
                             : "SELECT o FROM queryd_quad WHERE s=?1 AND p=?2 AND g=?3");

    if (r != SQLITE_OK)
        return r;
    sqlite3_bind_int64(*stmt, 1, node);
    sqlite3_bind_int64(*stmt, 2, predicate);
    sqlite3_bind_int64(*stmt, 3, self->graph);
    while ((r = sqlite3_step(*stmt)) == SQLITE_ROW)
        if (sqlite3_column_int64(*stmt, 0) != 0 && !ids_add(&self->links, sqlite3_column_int64(*stmt, 0))) {
            (void) sqlite3_reset(*stmt);
            return SQLITE_NOMEM;
        }
    return sqlite3_reset(*stmt);
}

static guint
get_n_links(const QdClosure *self)
{
    return (guint) (self->n_steps / QD_CLOSURE_STEP_BYTES);
}

static gint8
get_direction(const guint8 *steps, guint link)
{
    return (gint8) steps[1 + link * QD_CLOSURE_STEP_BYTES];
}

static gboolean
goes_on(const guint8 *steps, guint link)
{
    gint8 direction = get_direction(steps, link);

    return direction == QD_CLOSURE_FORWARD_ON || direction == QD_CLOSURE_BACKWARD_ON;
}

/* Whether @link may follow in @state. */
static gboolean
follows(const QdClosure *self, guint link, guint state)
{
    return link == 0 || !goes_on(self->steps, link - 1) ? state == 0 : state == link;
}

static guint
get_next_state(const QdClosure *self, guint link)
{
    return goes_on(self->steps, link) ? link + 1 : 0;
}

static void
forget_links(QdClosure *self)
{
    self->links.n = 0;
    for (guint i = 0; i < QD_CLOSURE_LINKS_MAX; i++)
        table_reset(&self->known[i]);
}

/* The place in @links of what @node leads to. */
static int
get_links(QdClosure *self, gint64 node, guint state, gsize *ret_place)
{
    Table *known = &self->known[state];
    gsize slot = known->capacity > 0 ? table_find(known, node) : 0;
    gboolean added;

    if (known->capacity > 0 && known->keys[slot] == node) {
        *ret_place = known->numbers[slot];
        return SQLITE_OK;
    }
    if (self->links.n > KEPT_LINKS_MAX)
        forget_links(self);
    *ret_place = self->links.n;
    for (guint i = 0; i < get_n_links(self); i++) {
        gint64 predicate;
        int r;

        if (!follows(self, i, state))
            continue;
        memcpy(&predicate, self->steps + 1 + i * QD_CLOSURE_STEP_BYTES + 1, sizeof predicate);
        r = read_link(self, node, get_direction(self->steps, i) < 0, predicate);
        if (r != SQLITE_OK)
            return r;
        if (!ids_add(&self->links, 0))
            return SQLITE_NOMEM;
    }
    return table_add(known, node, (guint32) *ret_place, &added) ? SQLITE_OK : SQLITE_NOMEM;
}

/* --- the search ------------------------------------------------------------------------------------------------------- */

/* Between steps a node is a row; else it waits for the next link. */
static int
find(QdClosure *self, gint64 node, guint state)
{
    gboolean added;

    if (!table_add(&self->search->seen[state], node, 0, &added))
        return SQLITE_NOMEM;
    if (!added)
        return SQLITE_OK;
    if (state == 0)
        return ids_add(&self->search->found, node) ? SQLITE_OK : SQLITE_NOMEM;
    return ids_add(&self->waiting, node) && ids_add(&self->waiting, state) ? SQLITE_OK : SQLITE_NOMEM;
}

/* One link from @node. */
static int
follow(QdClosure *self, gint64 node, guint state)
{
    gsize place;
    int r = get_links(self, node, state, &place);

    for (guint i = 0; r == SQLITE_OK && i < get_n_links(self); i++) {
        if (!follows(self, i, state))
            continue;
        for (; r == SQLITE_OK && self->links.values[place] != 0; place++)
            r = find(self, self->links.values[place], get_next_state(self, i));
        place++;
    }
    return r;
}

/* One step from @node. What lies inside one is looked at once for each seed: what it leads to was found then. */
static int
expand(QdClosure *self, gint64 node)
{
    int r = follow(self, node, 0);

    while (r == SQLITE_OK && self->waiting.n > 0) {
        self->waiting.n -= 2;
        r = follow(self, self->waiting.values[self->waiting.n], (guint) self->waiting.values[self->waiting.n + 1]);
    }
    return r;
}

/* Expands the next node that was found. FALSE: there is none, or '?' has gone its one step. */
static gboolean
go_on(QdClosure *self, int *r)
{
    Search *search = self->search;

    if (*r != SQLITE_OK || search->n_expanded >= search->found.n || self->steps[0] == '?')
        return FALSE;
    *r = expand(self, search->found.values[search->n_expanded++]);
    return *r == SQLITE_OK;
}

static gboolean
has_found(const QdClosure *self, gint64 node)
{
    const Table *seen = &self->search->seen[0];

    return seen->capacity > 0 && seen->keys[table_find(seen, node)] == node;
}

/* Until there is a row at the position, or the target is found, or nothing is left. */
static int
search(QdClosure *self)
{
    int r = SQLITE_OK;

    while ((self->target != 0 ? !has_found(self, self->target) : self->position >= self->search->found.n) && go_on(self, &r))
        continue;
    return r;
}

/* --- searches that are kept ------------------------------------------------------------------------------------------- */

static Search *
search_new(guint n_states)
{
    Search *self = g_new0(Search, 1);

    self->seen = g_new0(Table, n_states);
    self->n_states = n_states;
    return self;
}

static void
search_free(Search *self)
{
    if (self == NULL)
        return;
    for (guint i = 0; i < self->n_states; i++)
        sqlite3_free(self->seen[i].keys);
    g_free(self->seen);
    sqlite3_free(self->found.values);
    g_free(self);
}

static void
forget_searches(QdClosure *self)
{
    g_hash_table_remove_all(self->searches);
    self->n_kept = 0;
}

/* Another seed: a search that found many nodes is kept for when its seed comes again. */
static void
leave_search(QdClosure *self)
{
    Search *search = self->search;

    if (search == NULL)
        return;
    if (search->found.n >= KEPT_NODES_MIN && search->found.n <= KEPT_NODES_MAX) {
        if (self->n_kept + search->found.n > KEPT_NODES_MAX)
            forget_searches(self);
        self->n_kept += search->found.n;
        g_hash_table_add(self->searches, g_steal_pointer(&self->search));
        return;
    }
    for (guint i = 0; i < search->n_states; i++)
        table_reset(&search->seen[i]);
    search->found.n = search->n_expanded = 0;
    search->is_begun = FALSE;
}

/* The search from @seed is under way, or a new one. */
static void
enter_search(QdClosure *self, gint64 seed)
{
    gpointer kept = NULL;

    if (self->search != NULL && self->search->is_begun && self->search->seed == seed)
        return;
    leave_search(self);
    if (g_hash_table_steal_extended(self->searches, &seed, &kept, NULL)) {
        search_free(self->search);
        self->search = kept;
        self->n_kept -= self->search->found.n;
    }
    if (self->search == NULL)
        self->search = search_new(MAX(1, get_n_links(self)));
    self->search->seed = seed;
}

QdClosure *
qd_closure_new(QdClosureStatements *statements)
{
    QdClosure *self = g_new0(QdClosure, 1);

    self->statements = statements;
    self->searches = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, (GDestroyNotify) search_free);
    return self;
}

QdClosure *
qd_closure_free(QdClosure *self)
{
    if (self == NULL)
        return NULL;

    sqlite3_free(self->waiting.values);
    sqlite3_free(self->links.values);
    for (guint i = 0; i < QD_CLOSURE_LINKS_MAX; i++)
        sqlite3_free(self->known[i].keys);
    search_free(self->search);
    g_hash_table_unref(self->searches);
    g_free(self);
    return NULL;
}

/* A kind, then links, the last of which nothing goes on from. */
static gboolean
is_path(const guint8 *steps, gsize n_steps)
{
    guint n_links = (guint) (n_steps / QD_CLOSURE_STEP_BYTES);

    if (n_steps == 0 || n_steps % QD_CLOSURE_STEP_BYTES != 1 || n_links > QD_CLOSURE_LINKS_MAX || steps[0] == '\0' ||
        strchr("*+?", steps[0]) == NULL)
        return FALSE;
    return n_links == 0 || !goes_on(steps, n_links - 1);
}

gboolean
qd_closure_set_path(QdClosure *self, const guint8 *steps, gsize n_steps, gint64 graph)
{
    if (!is_path(steps, n_steps))
        return FALSE;
    if (n_steps == self->n_steps && graph == self->graph && memcmp(steps, self->steps, n_steps) == 0)
        return TRUE;

    memcpy(self->steps, steps, n_steps);
    self->n_steps = n_steps;
    self->graph = graph;
    forget_links(self);
    g_clear_pointer(&self->search, search_free);
    forget_searches(self);
    return TRUE;
}

gboolean
qd_closure_has_seeds(const QdClosure *self)
{
    return self->steps[0] != '+';
}

int
qd_closure_start(QdClosure *self, gint64 seed, gint64 target)
{
    int r = SQLITE_OK;

    self->position = 0;
    self->waiting.n = 0;
    self->target = target;
    enter_search(self, seed);
    if (self->search->is_begun)
        return SQLITE_OK;

    self->search->is_begun = TRUE;
    if (self->steps[0] != '+')
        r = find(self, seed, 0);
    if (r == SQLITE_OK && self->steps[0] != '*')
        r = expand(self, seed);
    if (r != SQLITE_OK)
        g_clear_pointer(&self->search, search_free); /* it lacks nodes */
    return r;
}

int
qd_closure_next(QdClosure *self, gint64 *ret_node)
{
    int r = search(self);

    *ret_node = 0;
    if (r != SQLITE_OK)
        g_clear_pointer(&self->search, search_free); /* it lacks nodes */
    else if (self->target != 0)
        *ret_node = self->position == 0 && has_found(self, self->target) ? self->target : 0;
    else if (self->position < self->search->found.n)
        *ret_node = self->search->found.values[self->position];
    self->position++;
    return r;
}
