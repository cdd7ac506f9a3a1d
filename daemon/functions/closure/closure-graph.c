/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The links of a path, read once for all seeds of a statement.
 */
#include "daemon/functions/closure/closure-graph.h"

#include <string.h>

#define FIRST_CAPACITY 64

int
qd_closure_reserve(void *array, gsize *capacity, gsize n, gsize size)
{
    gsize larger = MAX(FIRST_CAPACITY, 2 * *capacity);
    void *values;

    if (n <= *capacity)
        return SQLITE_OK;
    larger = MAX(larger, n);
    values = sqlite3_realloc64(*(void **) array, larger * size);
    if (values == NULL)
        return SQLITE_NOMEM;
    *(void **) array = values;
    *capacity = larger;
    return SQLITE_OK;
}

/* --- vertices --------------------------------------------------------------------------------------------------------- */

static gsize
table_find(const QdClosureTable *self, gint64 id)
{
    gsize slot = (gsize) (((guint64) id * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)) >> 20) & (self->capacity - 1);

    while (self->keys[slot] != 0 && self->keys[slot] != id)
        slot = (slot + 1) & (self->capacity - 1);
    return slot;
}

static int
table_grow(QdClosureTable *self)
{
    QdClosureTable larger = { .capacity = MAX(FIRST_CAPACITY, 2 * self->capacity), .n = self->n };

    larger.keys = sqlite3_malloc64(larger.capacity * (sizeof *larger.keys + sizeof *larger.numbers));
    if (larger.keys == NULL)
        return SQLITE_NOMEM;
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
    return SQLITE_OK;
}

int
qd_closure_graph_add(QdClosureGraph *self, gint64 node, guint state, guint32 *ret_vertex)
{
    QdClosureTable *numbers = &self->numbers[state];
    gsize n = MAX(1, self->n_vertices); /* the first one is none */
    gsize slot;
    int r;

    if (2 * numbers->n >= numbers->capacity && (r = table_grow(numbers)) != SQLITE_OK)
        return r;
    slot = table_find(numbers, node);
    if (numbers->keys[slot] == node) {
        *ret_vertex = numbers->numbers[slot];
        return SQLITE_OK;
    }
    if (n >= G_MAXINT32)
        return SQLITE_NOMEM;
    r = qd_closure_reserve(&self->vertices, &self->vertices_capacity, n + 1, sizeof *self->vertices);
    if (r != SQLITE_OK)
        return r;
    numbers->keys[slot] = node;
    numbers->numbers[slot] = (guint32) n;
    numbers->n++;
    self->vertices[n] = (QdClosureVertex){ .node = node, .state = (guint16) state };
    self->n_vertices = n + 1;
    *ret_vertex = (guint32) n;
    return SQLITE_OK;
}

void
qd_closure_graph_clear(QdClosureGraph *self)
{
    for (guint i = 0; i < QD_CLOSURE_LINKS_MAX; i++) {
        sqlite3_free(self->numbers[i].keys);
        self->numbers[i] = (QdClosureTable){ .n = 0 };
    }
    g_clear_pointer(&self->vertices, sqlite3_free);
    g_clear_pointer(&self->links, sqlite3_free);
    self->n_vertices = self->vertices_capacity = self->n_links = self->links_capacity = 0;
}

/* --- links ------------------------------------------------------------------------------------------------------------ */

void
qd_closure_statements_clear(QdClosureStatements *self)
{
    (void) sqlite3_finalize(self->forward);
    (void) sqlite3_finalize(self->forward_named);
    (void) sqlite3_finalize(self->backward);
    (void) sqlite3_finalize(self->exact);
    self->forward = self->forward_named = self->backward = self->exact = NULL;
}

static int
prepare(QdClosureStatements *self, sqlite3_stmt **stmt, const char *sql)
{
    if (*stmt != NULL)
        return SQLITE_OK;
    return sqlite3_prepare_v3(self->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
}

static int
add_link(QdClosureGraph *self, guint32 vertex)
{
    int r = qd_closure_reserve(&self->links, &self->links_capacity, self->n_links + 1, sizeof *self->links);

    if (r == SQLITE_OK)
        self->links[self->n_links++] = vertex;
    return r;
}

/* The links of @predicate that begin, or end, at @node; with the other end where it is not 0. */
static int
ask_links(QdClosureGraph *self, gint64 node, gboolean backward, gint64 predicate, gint64 other, sqlite3_stmt **ret_stmt)
{
    QdClosureStatements *all = self->statements;
    sqlite3_stmt **stmt = &all->forward;
    const char *sql = "SELECT o FROM queryd_quad WHERE s=?1 AND p=?2 AND g=?3";
    int r;

    if (other != 0) {
        stmt = &all->exact;
        sql = "SELECT 1 FROM queryd_quad WHERE s=?1 AND p=?2 AND g=?3 AND o=?4";
    } else if (backward) {
        stmt = &all->backward;
        sql = "SELECT s FROM queryd_quad WHERE o=?1 AND p=?2 AND g=?3";
    } else if (self->graph != 0) { /* its own index: the subject may have links in many graphs */
        stmt = &all->forward_named;
        sql = "SELECT o FROM queryd_quad WHERE s=?1 AND p=?2 AND g=?3 AND g<>0";
    }
    r = prepare(all, stmt, sql);
    if (r != SQLITE_OK)
        return r;
    sqlite3_bind_int64(*stmt, 1, other != 0 && backward ? other : node);
    sqlite3_bind_int64(*stmt, 2, predicate);
    sqlite3_bind_int64(*stmt, 3, self->graph);
    if (other != 0)
        sqlite3_bind_int64(*stmt, 4, backward ? node : other);
    *ret_stmt = *stmt;
    return SQLITE_OK;
}

/* Appends what one link leads to from @node. */
static int
read_link(QdClosureGraph *self, gint64 node, gboolean backward, gint64 predicate, guint next_state)
{
    sqlite3_stmt *stmt;
    int r = ask_links(self, node, backward, predicate, 0, &stmt);

    if (r != SQLITE_OK)
        return r;
    while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
        gint64 other = sqlite3_column_int64(stmt, 0);
        guint32 vertex = 0;

        if (other == 0)
            continue;
        r = qd_closure_graph_add(self, other, next_state, &vertex);
        if (r == SQLITE_OK)
            r = add_link(self, vertex);
        if (r != SQLITE_OK) {
            (void) sqlite3_reset(stmt);
            return r;
        }
    }
    return sqlite3_reset(stmt);
}

static gboolean
goes_on(const guint8 *steps, guint link)
{
    gint8 direction = (gint8) steps[1 + link * QD_CLOSURE_STEP_BYTES];

    return direction == QD_CLOSURE_FORWARD_ON || direction == QD_CLOSURE_BACKWARD_ON;
}

/* Whether @link may follow in @state. */
static gboolean
follows(const QdClosureGraph *self, guint link, guint state)
{
    return link == 0 || !goes_on(self->steps, link - 1) ? state == 0 : state == link;
}

int
qd_closure_graph_read(QdClosureGraph *self, guint32 vertex)
{
    const QdClosureVertex from = self->vertices[vertex];
    gsize begin;
    int r = SQLITE_OK;

    if (self->n_links > QD_CLOSURE_LINKS_KEPT_MAX) {
        for (gsize i = 0; i < self->n_vertices; i++)
            self->vertices[i].place = 0;
        self->n_links = 0;
    }
    if (self->n_links == 0)
        r = add_link(self, 0); /* no list begins there */
    begin = self->n_links;
    for (guint i = 0; r == SQLITE_OK && i < self->n_path_links; i++) {
        const guint8 *link = self->steps + 1 + i * QD_CLOSURE_STEP_BYTES;
        gint64 predicate;

        if (!follows(self, i, from.state))
            continue;
        memcpy(&predicate, link + 1, sizeof predicate);
        r = read_link(self, from.node, (gint8) link[0] < 0, predicate, goes_on(self->steps, i) ? i + 1 : 0);
    }
    if (r == SQLITE_OK)
        r = add_link(self, 0);
    if (r == SQLITE_OK)
        self->vertices[vertex].place = (guint32) begin;
    else
        self->n_links = begin;
    return r;
}

/* --- conditions ------------------------------------------------------------------------------------------------------- */

static gint64
get_id(const guint8 *step)
{
    gint64 id;

    memcpy(&id, step + 1, sizeof id);
    return id;
}

int
qd_closure_graph_test(QdClosureGraph *self, guint32 vertex)
{
    gint64 node = self->vertices[vertex].node;
    const guint8 *end = self->steps + self->n_steps;
    gboolean holds = TRUE;

    for (const guint8 *step = self->steps + 1 + self->n_path_links * QD_CLOSURE_STEP_BYTES; holds && step < end;) {
        gint8 kind = (gint8) step[0];
        gint64 predicate = get_id(step);
        gint64 other = 0;
        sqlite3_stmt *stmt;
        int r;

        step += QD_CLOSURE_STEP_BYTES;
        if (step < end && (gint8) step[0] == QD_CLOSURE_OTHER_END) {
            other = get_id(step);
            step += QD_CLOSURE_STEP_BYTES;
        }
        r = ask_links(self, node, kind < 0, predicate, other, &stmt);
        if (r != SQLITE_OK)
            return r;
        holds = (sqlite3_step(stmt) == SQLITE_ROW) == (ABS(kind) == QD_CLOSURE_HAS);
        r = sqlite3_reset(stmt);
        if (r != SQLITE_OK)
            return r;
    }
    self->vertices[vertex].is_tested = TRUE;
    self->vertices[vertex].is_row = holds;
    return SQLITE_OK;
}

/* A kind, then links, the last of which nothing goes on from, and conditions. */
gboolean
qd_closure_is_path(const guint8 *steps, gsize n_steps, guint *ret_n_links)
{
    guint n = (guint) (n_steps / QD_CLOSURE_STEP_BYTES);
    guint n_links = 0;

    if (n_steps == 0 || n_steps % QD_CLOSURE_STEP_BYTES != 1 || n_steps > QD_CLOSURE_PATH_BYTES || steps[0] == '\0' ||
        strchr("*+?", steps[0]) == NULL)
        return FALSE;
    while (n_links < n && ABS((gint8) steps[1 + n_links * QD_CLOSURE_STEP_BYTES]) <= QD_CLOSURE_FORWARD_ON)
        n_links++;
    for (guint i = n_links; i < n; i++) {
        int kind = (gint8) steps[1 + i * QD_CLOSURE_STEP_BYTES];

        /* which the other end is stands after one that there is to be, or not to be */
        if (ABS(kind) != QD_CLOSURE_HAS && ABS(kind) != QD_CLOSURE_HAS_NOT && (kind != QD_CLOSURE_OTHER_END || i == n_links))
            return FALSE;
    }
    *ret_n_links = n_links;
    return n_links <= QD_CLOSURE_LINKS_MAX && n - n_links <= QD_CLOSURE_CONDITIONS_MAX &&
           (n_links == 0 || !goes_on(steps, n_links - 1));
}
