/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The virtual table of repeated paths, and the function that packs a path's steps.
 *
 * Measured against a recursive common table expression over pairs: docs/decisions/paths.md.
 */
#include "daemon/functions/closure.h"

#include <string.h>

#include "daemon/functions/sql-call.h"

#define STEP_BYTES 9 /* of the packed form: direction, predicate */
#define STEPS_MAX 60
/* Directions; of a link that the next one goes on from. */
#define FORWARD 1
#define BACKWARD (-1)
#define FORWARD_ON 2
#define BACKWARD_ON (-2)
#define FIRST_CAPACITY 64
#define STATED_ROWS (1 << 20) /* so that SQLite makes an index of the result, where it joins it (docs/decisions/joins.md) */
/* What nodes lead to is kept up to so many links: 8 MiB. */
#define KEPT_LINKS_MAX (1 << 20)
/* Searches are kept up to so many nodes, 8 MiB at most, and searches of fewer are made again: their tables are larger. */
#define KEPT_NODES_MAX (1 << 17)
#define KEPT_NODES_MIN 32

enum { COLUMN_NODE, COLUMN_SEED, COLUMN_STEPS, COLUMN_GRAPH };

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

/* Its statements are in use only within one call, so all cursors share them. */
typedef struct ClosureTable {
    sqlite3_vtab base;
    sqlite3 *db;
    sqlite3_stmt *forward;
    sqlite3_stmt *backward;
} ClosureTable;

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

typedef struct Cursor {
    sqlite3_vtab_cursor base;
    ClosureTable *table;
    guint8 steps[1 + STEPS_MAX * STEP_BYTES];
    gsize n_steps; /* bytes of @steps */
    gint64 graph;
    sqlite3_value *other; /* (nullable): a seed that is no id */
    gint64 target;        /* the one row that is asked for; 0: all */
    Search *search;       /* (nullable): under way */
    GHashTable *searches; /* Search by its seed: those that are kept beside it */
    gsize n_kept;         /* nodes of these */
    gboolean is_empty;    /* there is no seed */
    gsize position;
    Ids waiting;            /* pairs of node and state, inside a step */
    Ids links;              /* of the nodes that are known, a run ended by 0 for each link that may follow */
    Table known[STEPS_MAX]; /* of each state: node → its place in @links */
} Cursor;

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

/* --- the search ------------------------------------------------------------------------------------------------------- */

static int
prepare(ClosureTable *self, sqlite3_stmt **stmt, const char *sql)
{
    if (*stmt != NULL)
        return SQLITE_OK;
    return sqlite3_prepare_v3(self->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
}

/* Appends what one link leads to from @node. */
static int
read_link(Cursor *self, gint64 node, gboolean backward, gint64 predicate)
{
    sqlite3_stmt **stmt = backward ? &self->table->backward : &self->table->forward;
    int r = prepare(self->table, stmt,
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
get_n_links(const Cursor *self)
{
    return (guint) (self->n_steps / STEP_BYTES);
}

static gint8
get_direction(const guint8 *steps, guint link)
{
    return (gint8) steps[1 + link * STEP_BYTES];
}

static gboolean
goes_on(const guint8 *steps, guint link)
{
    gint8 direction = get_direction(steps, link);

    return direction == FORWARD_ON || direction == BACKWARD_ON;
}

/* Whether @link may follow in @state. */
static gboolean
follows(const Cursor *self, guint link, guint state)
{
    return link == 0 || !goes_on(self->steps, link - 1) ? state == 0 : state == link;
}

static guint
get_next_state(const Cursor *self, guint link)
{
    return goes_on(self->steps, link) ? link + 1 : 0;
}

static void
forget_links(Cursor *self)
{
    self->links.n = 0;
    for (guint i = 0; i < STEPS_MAX; i++)
        table_reset(&self->known[i]);
}

/* The place in @links of what @node leads to. */
static int
get_links(Cursor *self, gint64 node, guint state, gsize *ret_place)
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
        memcpy(&predicate, self->steps + 1 + i * STEP_BYTES + 1, sizeof predicate);
        r = read_link(self, node, get_direction(self->steps, i) < 0, predicate);
        if (r != SQLITE_OK)
            return r;
        if (!ids_add(&self->links, 0))
            return SQLITE_NOMEM;
    }
    return table_add(known, node, (guint32) *ret_place, &added) ? SQLITE_OK : SQLITE_NOMEM;
}

/* Between steps a node is a row; else it waits for the next link. */
static int
find(Cursor *self, gint64 node, guint state)
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
follow(Cursor *self, gint64 node, guint state)
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
expand(Cursor *self, gint64 node)
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
go_on(Cursor *self, int *r)
{
    Search *search = self->search;

    if (*r != SQLITE_OK || search->n_expanded >= search->found.n || self->steps[0] == '?')
        return FALSE;
    *r = expand(self, search->found.values[search->n_expanded++]);
    return *r == SQLITE_OK;
}

static gboolean
has_found(const Cursor *self, gint64 node)
{
    const Table *seen = &self->search->seen[0];

    return seen->capacity > 0 && seen->keys[table_find(seen, node)] == node;
}

/* Until there is a row at the position, or the target is found, or nothing is left. */
static int
search(Cursor *self)
{
    int r = SQLITE_OK;

    while ((self->target != 0 ? !has_found(self, self->target) : self->position >= self->search->found.n) && go_on(self, &r))
        continue;
    return r;
}

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
forget_searches(Cursor *self)
{
    g_hash_table_remove_all(self->searches);
    self->n_kept = 0;
}

/* Another seed: a search that found many nodes is kept for when its seed comes again. */
static void
leave_search(Cursor *self)
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
enter_search(Cursor *self, gint64 seed)
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

static int
start(Cursor *self, gint64 seed)
{
    int r = SQLITE_OK;

    enter_search(self, seed);
    if (!self->search->is_begun) {
        self->search->is_begun = TRUE;
        if (self->steps[0] != '+')
            r = find(self, seed, 0);
        if (r == SQLITE_OK && self->steps[0] != '*')
            r = expand(self, seed);
    }
    return r == SQLITE_OK ? search(self) : r;
}

/* --- the virtual table -------------------------------------------------------------------------------------------------- */

static int
connect_table(sqlite3 *db, void *data, int n_args, const char *const *args, sqlite3_vtab **ret_table, char **ret_message)
{
    int r = sqlite3_declare_vtab(db, "CREATE TABLE x(node, seed HIDDEN, steps HIDDEN, graph HIDDEN)");
    ClosureTable *self;

    if (r != SQLITE_OK)
        return r;
    self = g_new0(ClosureTable, 1);
    self->db = db;
    *ret_table = &self->base;
    return SQLITE_OK;
}

static int
disconnect_table(sqlite3_vtab *table)
{
    ClosureTable *self = (ClosureTable *) table;

    (void) sqlite3_finalize(self->forward);
    (void) sqlite3_finalize(self->backward);
    g_free(self);
    return SQLITE_OK;
}

/* Nothing without its three arguments; a node that is known is the fourth. So are the ends of a range, which is one node or all. */
static int
plan_table(sqlite3_vtab *table, sqlite3_index_info *info)
{
    static const guint8 range[] = { SQLITE_INDEX_CONSTRAINT_GE, SQLITE_INDEX_CONSTRAINT_LE };
    int ends[G_N_ELEMENTS(range)] = { -1, -1 };
    guint found = 0;

    for (int i = 0; i < info->nConstraint; i++) {
        int column = info->aConstraint[i].iColumn;

        for (guint j = 0; j < G_N_ELEMENTS(range) && column == COLUMN_NODE && info->aConstraint[i].usable; j++)
            ends[j] = info->aConstraint[i].op == range[j] ? i : ends[j];
        if (!info->aConstraint[i].usable || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ || column < COLUMN_NODE ||
            (found & (1u << column)) != 0)
            continue;
        info->aConstraintUsage[i].argvIndex = column != COLUMN_NODE ? column : 4;
        info->aConstraintUsage[i].omit = column != COLUMN_NODE;
        found |= 1u << column;
    }
    info->estimatedCost = 100;
    info->estimatedRows = (found & (1u << COLUMN_NODE)) != 0 ? 1 : STATED_ROWS;
    if ((found & (1u << COLUMN_NODE)) == 0 && ends[0] >= 0 && ends[1] >= 0) {
        info->aConstraintUsage[ends[0]].argvIndex = 4;
        info->aConstraintUsage[ends[1]].argvIndex = 5;
    }
    found |= 1u << COLUMN_NODE;
    return found == (1u << COLUMN_NODE | 1u << COLUMN_SEED | 1u << COLUMN_STEPS | 1u << COLUMN_GRAPH) ? SQLITE_OK
                                                                                                      : SQLITE_CONSTRAINT;
}

static int
open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor)
{
    Cursor *self = g_new0(Cursor, 1);

    self->table = (ClosureTable *) table;
    self->searches = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, (GDestroyNotify) search_free);
    *ret_cursor = &self->base;
    return SQLITE_OK;
}

static int
close_cursor(sqlite3_vtab_cursor *cursor)
{
    Cursor *self = (Cursor *) cursor;

    sqlite3_value_free(self->other);
    sqlite3_free(self->waiting.values);
    sqlite3_free(self->links.values);
    for (guint i = 0; i < STEPS_MAX; i++)
        sqlite3_free(self->known[i].keys);
    search_free(self->search);
    g_hash_table_unref(self->searches);
    g_free(self);
    return SQLITE_OK;
}

/* A kind, then links, the last of which nothing goes on from. */
static gboolean
is_path(const guint8 *steps, gsize n_steps)
{
    guint n_links = (guint) (n_steps / STEP_BYTES);

    if (n_steps == 0 || n_steps % STEP_BYTES != 1 || n_links > STEPS_MAX || steps[0] == '\0' || strchr("*+?", steps[0]) == NULL)
        return FALSE;
    return n_links == 0 || !goes_on(steps, n_links - 1);
}

/* Another path or graph: what is known of links and searches is of no use. */
static gboolean
set_path(Cursor *self, const guint8 *steps, gsize n_steps, gint64 graph)
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

static int
fail(Cursor *self, int r)
{
    g_clear_pointer(&self->search, search_free); /* it lacks nodes */
    sqlite3_free(self->base.pVtab->zErrMsg);
    self->base.pVtab->zErrMsg = r == SQLITE_NOMEM ? NULL : sqlite3_mprintf("%s", sqlite3_errmsg(self->table->db));
    return r;
}

/* The node that is asked for, which stands at both ends where it is given as a range; 0: it may be any. */
static gint64
get_target(int n_args, sqlite3_value **args)
{
    for (int i = 0; i < n_args; i++) {
        if (sqlite3_value_type(args[i]) != SQLITE_INTEGER || sqlite3_value_int64(args[i]) != sqlite3_value_int64(args[0]))
            return 0;
    }
    return n_args > 0 ? sqlite3_value_int64(args[0]) : 0;
}

static int
filter(sqlite3_vtab_cursor *cursor, int index, const char *index_text, int n_args, sqlite3_value **args)
{
    Cursor *self = (Cursor *) cursor;
    gint64 graph;
    int r;

    self->position = 0;
    self->waiting.n = 0;
    self->target = get_target(n_args - 3, args + 3);
    sqlite3_value_free(self->other);
    self->other = NULL;
    self->is_empty = FALSE;
    /* a graph that is not stored has no links */
    graph = sqlite3_value_type(args[2]) == SQLITE_INTEGER ? sqlite3_value_int64(args[2]) : G_MININT64;
    if (!set_path(self, sqlite3_value_blob(args[1]), (gsize) sqlite3_value_bytes(args[1]), graph)) {
        self->base.pVtab->zErrMsg = sqlite3_mprintf("queryd_closure: not the steps of a path");
        return SQLITE_RANGE;
    }
    if (sqlite3_value_type(args[0]) == SQLITE_INTEGER && sqlite3_value_int64(args[0]) != 0) {
        r = start(self, sqlite3_value_int64(args[0]));
        return r == SQLITE_OK ? r : fail(self, r);
    }
    if (sqlite3_value_type(args[0]) == SQLITE_BLOB && self->steps[0] != '+')
        self->other = sqlite3_value_dup(args[0]); /* a path of no length has it, stored or not */
    self->is_empty = self->other == NULL;
    return SQLITE_OK;
}

static int
next(sqlite3_vtab_cursor *cursor)
{
    Cursor *self = (Cursor *) cursor;
    int r;

    self->position++;
    r = self->search != NULL && self->other == NULL && self->target == 0 ? search(self) : SQLITE_OK;
    return r == SQLITE_OK ? r : fail(self, r);
}

static int
is_at_end(sqlite3_vtab_cursor *cursor)
{
    const Cursor *self = (const Cursor *) cursor;

    if (self->other != NULL)
        return self->position > 0;
    if (self->is_empty || self->search == NULL)
        return TRUE;
    return self->target != 0 ? self->position > 0 || !has_found(self, self->target) : self->position >= self->search->found.n;
}

static int
get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    const Cursor *self = (const Cursor *) cursor;

    if (column == COLUMN_NODE && self->other != NULL)
        sqlite3_result_value(context, self->other);
    else if (column == COLUMN_NODE)
        sqlite3_result_int64(context, self->target != 0 ? self->target : self->search->found.values[self->position]);
    return SQLITE_OK;
}

static int
get_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_rowid)
{
    *ret_rowid = (sqlite3_int64) ((const Cursor *) cursor)->position;
    return SQLITE_OK;
}

/* queryd_steps(kind, direction, predicate, …): a step with a predicate that is not stored leads nowhere. */
static void
function_steps(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    guint8 steps[1 + STEPS_MAX * STEP_BYTES];
    const guchar *kind = n_args > 0 ? sqlite3_value_text(args[0]) : NULL;
    gsize n = 1;
    gsize begin = 1; /* of the links that go on from each other */
    gboolean stored = TRUE;

    if (kind == NULL || n_args % 2 == 0 || n_args > 1 + 2 * STEPS_MAX) {
        qd_sql_fail_argument(context, "queryd_steps: a kind, then pairs of direction and predicate");
        return;
    }
    steps[0] = kind[0];
    for (int i = 1; i < n_args; i += 2) {
        int direction = sqlite3_value_int(args[i]);
        gint64 predicate = sqlite3_value_int64(args[i + 1]);

        stored = stored && sqlite3_value_type(args[i + 1]) == SQLITE_INTEGER;
        steps[n] = (guint8) (gint8) CLAMP(direction, BACKWARD_ON, FORWARD_ON);
        memcpy(steps + n + 1, &predicate, sizeof predicate);
        n += STEP_BYTES;
        if (direction == FORWARD || direction == BACKWARD) {
            n = stored ? n : begin;
            begin = n;
            stored = TRUE;
        }
    }
    sqlite3_result_blob64(context, steps, n, SQLITE_TRANSIENT);
}

gboolean
qd_closure_register(sqlite3 *db, GError **error)
{
    static const sqlite3_module module = {
        .xConnect = connect_table,
        .xDisconnect = disconnect_table,
        .xBestIndex = plan_table,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = filter,
        .xNext = next,
        .xEof = is_at_end,
        .xColumn = get_column,
        .xRowid = get_rowid,
    };
    int r = sqlite3_create_module_v2(db, "queryd_closure", &module, NULL, NULL);

    if (r == SQLITE_OK)
        r = sqlite3_create_function_v2(db, "queryd_steps", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                       function_steps, NULL, NULL, NULL);
    if (r != SQLITE_OK)
        qd_sql_create_error(error, "queryd_closure", r);
    return r == SQLITE_OK;
}
